"""The survey's kernels give what C gives (at small sizes)."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "bench"))

from suite.measure import Line  # noqa: E402
from suite.versions import LeftOut, Native, Virtual  # noqa: E402
from survey.build_ptx import FOR_SM_100  # noqa: E402
from survey.case import KERNELS, Case  # noqa: E402
from survey.catalogue import CASES  # noqa: E402
from survey.measure import ratios  # noqa: E402

from tests.shares import share  # noqa: E402

OTHERS = {path.stem for path in FOR_SM_100.glob("*.ptx")}
OF_SM_100 = [replace(case, arch=100, folder=FOR_SM_100) for case in CASES.values() if case.source in OTHERS]


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not on this machine")
@pytest.mark.parametrize(
    "case", [*share(CASES.values(), 5), *share(OF_SM_100, 2)], ids=lambda case: f"{case.name}-{case.arch}"
)
def test_virtual_gpu_agrees_with_c(case: Case) -> None:
    problem = case.problem("quick")
    native = Native(problem, compiled(case))
    version = Virtual(case, problem, workers=1, arch=f"sm_{max(case.arch, 90)}")
    native.run()
    answer = {name: native.array(name) for name in problem.native or problem.arrays}
    assert problem.wrong(answer, lambda name: problem.arrays[name]) != "", "C changed nothing"
    version.run()
    assert problem.wrong(answer, version.array) == ""
    assert version.interpreted == {}


def compiled(case: Case) -> Any:
    """The C function; skips the test where C that is written for AVX-512 meets a CPU without it."""
    try:
        return case.compiled()
    except LeftOut as reason:
        if "target specific option mismatch" in str(reason):
            pytest.skip(str(reason))
        raise


MARKS = {"emd_auct": ("assignment_inv",), "hard_voxel": ("to_point", "coor_to_voxel")}
"""Arrays that begin with nothing but -1, for nobody, as another one does that the kernels take for that."""


@pytest.mark.parametrize("case", CASES.values(), ids=lambda case: case.name)
def test_no_input_is_another_again(case: Case) -> None:
    arrays, marks = case.problem("quick").arrays, MARKS.get(case.name, ())
    assert all((arrays[name] == -1).all() for name in marks)
    filled = [array.tobytes() for name, array in arrays.items() if array.any() and name not in marks]
    assert len(set(filled)) == len(filled)


def test_every_file_belongs_to_a_case() -> None:
    assert {path.stem for path in KERNELS.iterdir()} == {case.source for case in CASES.values()}
    for case in CASES.values():
        assert {path.suffix for path in KERNELS.glob(f"{case.source}.*")} == {".c", ".cu", ".ptx"}


def test_ratios_begin_with_the_greatest() -> None:
    lines = [Line(name, {"simt": 2.0, "plain C": c}) for name, c in (("a", 2.0), ("b", 1.0))]
    assert list(ratios([*lines, Line("wrong")]).items()) == [("b", 2.0), ("a", 1.0)]
