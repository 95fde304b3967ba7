"""PTX versions and targets."""

from __future__ import annotations

import pytest

from simt.isa.targets import (
    NEWEST,
    OPTIONS,
    VERSIONS,
    Platform,
    TargetName,
    parse_platform,
    parse_target,
    version_problem,
)


def test_versions() -> None:
    assert VERSIONS[0] == (1, 0)
    assert NEWEST == (9, 0)
    assert list(VERSIONS) == sorted(set(VERSIONS))
    assert {(1, 4), (2, 3), (3, 2), (4, 3), (5, 1), (6, 5), (7, 8), (8, 8)} <= set(VERSIONS)
    assert version_problem((7, 8)) is None
    assert version_problem((7, 9)) == "unknown PTX version 7.9, expected one of 1.0 to 9.0"
    assert version_problem((9, 4)) == "PTX version 9.4 is newer than 9.0 and read as 9.0"


@pytest.mark.parametrize(
    ("name", "target", "introduced"),
    [
        ("sm_10", TargetName(10), (1, 0)),
        ("sm_13", TargetName(13), (1, 2)),
        ("sm_20", TargetName(20), (2, 0)),
        ("compute_75", TargetName(75, virtual=True), (6, 3)),
        ("sm_90a", TargetName(90, "a"), (8, 0)),
        ("sm_120f", TargetName(120, "f"), (8, 8)),
    ],
)
def test_known_targets(name: str, target: TargetName, introduced: tuple[int, int]) -> None:
    assert parse_target(name) == target
    assert str(target) == name
    assert target.introduced == introduced


@pytest.mark.parametrize(
    "name", ["sm_14", "sm_90f", "sm_9", "sm90", "sm_90b", "map_f64_to_f32", "", "compute_"]
)
def test_unknown_targets(name: str) -> None:
    assert parse_target(name) is None


def test_platforms() -> None:
    assert parse_platform(["sm_10", "map_f64_to_f32"]) == Platform(TargetName(10), map_f64_to_f32=True)
    assert parse_platform(["sm_75", "debug", "texmode_independent"]) == Platform(
        TargetName(75), debug=True, texmode="independent"
    )
    assert all(isinstance(parse_platform(["sm_20", option]), Platform) for option in OPTIONS)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "a target architecture is missing"),
        (["debug"], "a target architecture is missing"),
        (["sm_20", "sm_30"], "more than one target architecture"),
        (["sm_91"], "unknown target `sm_91`, did you mean `sm_90`?"),
        (["sm_20", "warp9"], "unknown target `warp9`"),
        (
            ["sm_20", "texmode_unified", "texmode_independent"],
            "`texmode_unified` and `texmode_independent` exclude each other",
        ),
    ],
)
def test_wrong_platforms(names: list[str], message: str) -> None:
    assert parse_platform(names) == message
