"""The benchmark suite's kernels give NumPy's results (at small sizes), and its arithmetic is right."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "bench"))

from suite.catalogue import ENTRIES  # noqa: E402
from suite.measure import Line, geometric_mean  # noqa: E402
from suite.problem import KERNELS, Entry, Problem  # noqa: E402
from suite.versions import Virtual  # noqa: E402


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_virtual_gpu_agrees_with_numpy(entry: Entry) -> None:
    problem = entry.problem("quick")
    version = Virtual(entry, problem, workers=1)
    version.run()
    assert problem.wrong(problem.expected(), version.array) == ""
    assert version.interpreted == {}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_an_unsolved_problem_is_told_from_a_solved_one(entry: Entry) -> None:
    problem = entry.problem("quick")
    assert problem.wrong(problem.expected(), lambda name: problem.arrays[name]) != ""


def test_every_folder_is_in_the_catalogue_and_complete() -> None:
    folders = {path.name for path in KERNELS.iterdir() if (path / "case.py").exists()}
    assert folders == {entry.folder for entry in ENTRIES}
    for entry in ENTRIES:
        assert entry.ptx.exists()
        for style in ("plain", "spmd"):
            assert (KERNELS / (entry.native or entry.folder) / f"{style}.c").exists()


def test_the_share_of_wrong_elements_is_told() -> None:
    wanted = np.array([1.0, 2.0, 3.0, 4.0])
    problem = Problem(arrays={}, scalars={}, launches=[], expected=dict, tolerance=0.01)
    assert problem.wrong({"x": wanted}, lambda _: wanted + 0.03) == ""
    found = np.array([1.0, np.nan, 3.0, 4.5])
    assert problem.wrong({"x": wanted}, lambda _: found) == "50.00% of x differ by up to 0.5"


@pytest.mark.parametrize(
    ("found", "is_right"),
    [
        ([-np.inf, 1.05, np.inf], True),
        ([-np.inf, 1.2, np.inf], False),
        ([np.inf, 1, np.inf], False),
        ([-9e9, 1, np.inf], False),
        ([-np.inf, 1, np.nan], False),
        ([-np.inf, np.inf, np.inf], False),
    ],
)
def test_infinities_are_equal_to_themselves_alone(found: list[float], is_right: bool) -> None:
    """Nor is anything that is allowed relative to them."""
    problem = Problem({}, {}, [], tolerance=0.1)
    said = problem.wrong({"x": np.array([-np.inf, 1, np.inf])}, lambda _: np.array(found))
    assert (said == "") is is_right


def test_ratios_are_to_the_faster_native_version() -> None:
    line = Line("k", seconds={"simt": 3.0, "plain C": 2.0, "SPMD C": 1.0, "Numba": 6.0})
    assert (line.ratio("native"), line.ratio("Numba"), line.ratio("PoCL")) == (3.0, 0.5, None)
    assert geometric_mean([4.0, None, 1.0]) == pytest.approx(2.0)
    assert geometric_mean([None]) is None
