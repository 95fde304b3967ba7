"""How the work of compiling grows with a kernel: lines of Python that run, and lines of IR, are counted."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import pytest
from bench.curve_shapes import SHAPES

from simt.analysis.shape import BlockShape
from simt.driver.source import compile_ptx
from simt.engine import llvm_calls
from simt.engine.llvm_kernel import emit
from simt.machine.device import DEVICES

SMALL, FACTOR = 400, 4
ROOM = 1.1
"""What logarithms and set-up may add to the factor."""
NAMES = [
    "barriers", "compares", "early_exits", "if_memory", "ifs_uniform", "loops_divergent", "nested_ifs",
    "nested_loops", "nested_loops_divergent", "state_machine", "switch", "switch_uniform", "tangle",
]  # fmt: skip


def work(name: str, size: int) -> tuple[int, int]:
    """Lines of Python that run while a shape of control flow becomes IR, and the length of that."""
    program, _ = compile_ptx(SHAPES[name](size), "<ptx>", DEVICES[90])
    count = 0

    def line(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        count += event == "line"
        return line

    before = sys.gettrace()
    sys.settrace(line)
    try:
        text, _, _ = emit(program, program.functions["k"], BlockShape(256, 1, 1), frozenset(), "nounwind")
    finally:
        sys.settrace(before)
    return count, len(text)


@pytest.mark.parametrize("name", NAMES)
def test_work_grows_no_faster_than_the_kernel(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llvm_calls, "OPS", -1)  # large kernels, with little
    work(name, SMALL)  # what is done once for all kernels
    (lines, length), (more_lines, more_length) = work(name, SMALL), work(name, SMALL * FACTOR)
    assert more_lines < ROOM * FACTOR * lines
    assert more_length < ROOM * FACTOR * length
