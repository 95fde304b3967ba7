"""Devices for every CPU that this machine can stand in for: the tests below `tests/cpus` run on each."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import TypeVar

import pytest

import simt
from simt.engine.host import find_cpu, named_cpus
from tests.shares import share

T = TypeVar("T")

CPUS = tuple(named_cpus())
BETWEEN = ("x86-64-v2", "x86-64-v4")
"""What SSE2 and AVX2 alone lack is what code has to do without: these two, and this machine, which is mostly
one of them, run a share of the tests."""
STEP = 3


@functools.cache
def device_for(cpu: str) -> simt.Device:
    """One device for each CPU, kept for all tests of a process."""
    return simt.Device("sm_90", cpu=cpu, memory="1GiB", timeout=60)


@pytest.fixture(params=CPUS)
def cpu(request: pytest.FixtureRequest) -> str:
    """The name of a CPU whose code this machine runs."""
    name = str(request.param)
    try:
        find_cpu(name)
    except simt.SimtError as reason:
        pytest.skip(str(reason))
    return name


@pytest.fixture
def device(cpu: str) -> simt.Device:
    """In place of the fixture of the engines: a JIT device for each CPU."""
    return device_for(cpu)


def share_on(cpu: str, items: Iterable[T], kind: Callable[[T], Hashable]) -> list[T]:
    """The items that one test takes on a CPU: all, or a share of each kind."""
    return share(items, STEP if cpu in BETWEEN else 1, kind)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A share of each test on the CPUs in between."""
    alike = [item for item in items if _cpu_of(item) in BETWEEN]
    taken = share(alike, STEP, lambda item: (item.path, getattr(item, "originalname", ""), _cpu_of(item)))
    left = {*alike} - {*taken}
    config.hook.pytest_deselected(items=[item for item in items if item in left])
    items[:] = [item for item in items if item not in left]


def _cpu_of(item: pytest.Item) -> str | None:
    """The CPU of a test of this folder."""
    found = getattr(item, "callspec", None)
    return found.params.get("cpu") if found and Path(__file__).parent in item.path.parents else None
