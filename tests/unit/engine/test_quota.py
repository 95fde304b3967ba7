"""How many processors a program may use, by files as Linux shows them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from simt.engine import quota


@pytest.fixture
def linux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine of 16 processors, without control groups."""
    monkeypatch.setattr(quota, "GROUPS", tmp_path / "groups")
    monkeypatch.setattr(quota, "OWN", tmp_path / "own")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)), raising=False)
    return tmp_path


def write(linux: Path, own: str, **files: str) -> None:
    (linux / "own").write_text(own)
    for name, text in files.items():
        file = linux / "groups" / name.replace("__", "/").replace("_max", ".max").replace("_cfs", ".cfs")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def test_without_groups_all_count(linux: Path) -> None:
    assert quota.cpus() == 16


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        ("max 100000", 16),
        ("200000 100000\n", 2),
        ("250000 100000", 3),
        ("1000 100000", 1),
        ("9900000 100000", 16),
    ],
)
def test_a_container_with_version_2(linux: Path, limit: str, expected: int) -> None:
    write(linux, "0::/\n", cpu_max=limit)
    assert quota.cpus() == expected


def test_the_least_of_all_groups_counts(linux: Path) -> None:
    limits = {"a__b__cpu_max": "max 100000", "a__cpu_max": "300000 100000", "cpu_max": "800000 100000"}
    write(linux, "0::/a/b\n", **limits)
    assert quota.cpus() == 3


@pytest.mark.parametrize(("microseconds", "expected"), [("-1\n", 16), ("400000\n", 4)])
@pytest.mark.parametrize("folder", ["cpu,cpuacct", "cpu"])
def test_version_1(linux: Path, microseconds: str, expected: int, folder: str) -> None:
    name = f"{folder}__pod__cpu"
    own = "3:memory:/pod\n2:cpu,cpuacct:/pod\n"
    write(linux, own, **{f"{name}_cfs_quota_us": microseconds, f"{name}_cfs_period_us": "100000\n"})
    assert quota.cpus() == expected


@pytest.mark.parametrize("text", ["", "junk", "0::", "1:cpu", "0::/\n0::/gone\n"])
def test_what_makes_no_sense_is_no_limit(linux: Path, text: str) -> None:
    write(linux, text, cpu_max="a lot")
    assert quota.cpus() == 16
