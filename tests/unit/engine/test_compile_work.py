"""How the work of compiling grows with a kernel: lines of Python that run, and lines of IR, are counted."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from bench.curve_shapes import SHAPES

from simt.analysis import contraction_scan
from simt.analysis.frame_places import FramePlaces
from simt.analysis.kinds import kind_of
from simt.analysis.program import Op
from simt.analysis.shape import BlockShape
from simt.driver.source import compile_ptx
from simt.engine import llvm_calls, llvm_known, llvm_rewriting, llvm_slots
from simt.engine.llvm_kernel import emit
from simt.engine.llvm_outline import Outliner
from simt.machine.device import DEVICES

SMALL, FACTOR = 200, 4
ROOM = 1.1
"""What logarithms and set-up may add to the factor."""
NAMES = [
    "barriers", "compares", "early_exits", "if_memory", "ifs_uniform", "loops_divergent", "nested_ifs",
    "nested_loops", "nested_loops_divergent", "state_machine", "switch", "switch_uniform", "tangle",
]  # fmt: skip


def lines_run(run: Callable[[], Any], file: str = "") -> tuple[int, Any]:
    """Lines of Python that run meanwhile, of files with this in their names; the result."""
    count = 0

    def line(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        count += event == "line"
        return line

    before = sys.gettrace()
    sys.settrace(lambda frame, event, _: line if file in frame.f_code.co_filename else None)
    try:
        result = run()
    finally:
        sys.settrace(before)
    return count, result


def work(name: str, size: int) -> tuple[int, int]:
    """Lines of Python that run while a shape of control flow becomes IR, and the length of that."""
    count, (text, _, _) = lines_run(emission(name, size))
    return count, len(text)


def emission(name: str, size: int) -> Callable[[], Any]:
    program, _ = compile_ptx(SHAPES[name](size), "<ptx>", DEVICES[90])
    kernel, block = program.functions["k"], BlockShape(256, 1, 1)
    return lambda: emit(program, kernel, block, frozenset(), "nounwind")


@pytest.mark.parametrize("name", ["products", "products_in_ifs", "products_over_blocks"])
def test_fusing_grows_no_faster_than_the_kernel(name: str) -> None:
    """The work of `simt.analysis.contraction`."""
    sizes = SMALL, SMALL * FACTOR
    compile_ptx(SHAPES[name](SMALL), "<ptx>", DEVICES[90], True)
    less, more = (
        lines_run(lambda n=n: compile_ptx(SHAPES[name](n), "<ptx>", DEVICES[90], True), "contraction")[0]
        for n in sizes
    )
    assert less > SMALL
    assert more < ROOM * FACTOR * less


@pytest.mark.parametrize("name", NAMES)
def test_work_grows_no_faster_than_the_kernel(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llvm_calls, "OPS", -1)  # large kernels, with little
    emission(name, SMALL)()  # what is done once for all kernels
    (lines, length), (more_lines, more_length) = work(name, SMALL), work(name, SMALL * FACTOR)
    assert more_lines < ROOM * FACTOR * lines
    assert more_length < ROOM * FACTOR * length


def test_what_gets_at_memory_is_looked_at_once() -> None:
    """Before anything of a kernel is emitted, which may turn out to be large."""

    def looked(size: int) -> int:
        program, _ = compile_ptx(SHAPES["memory"](size), "<ptx>", DEVICES[90])
        kernel, block = program.functions["k"], BlockShape(256, 1, 1)
        return lines_run(lambda: emit(program, kernel, block, frozenset(), "nounwind"), "llvm_alone_loops")[0]

    less, more = looked(SMALL // 2), looked(SMALL)
    assert less > SMALL // 2
    assert more < 2 * ROOM * less


def calls_of(owner: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """The arguments of every call of `owner.name` from now on."""
    found, function = list[tuple[Any, ...]](), getattr(owner, name)

    def counted(*arguments: Any) -> Any:
        found.append(arguments)
        return function(*arguments)

    monkeypatch.setattr(owner, name, counted)
    return found


@pytest.mark.parametrize("space", ["global", "shared"])
def test_lanes_are_found_out_where_something_gets_at_shared_memory(
    space: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not in each kernel that has some, and branches on the thread's index."""
    text = SHAPES["chain"](30).replace("DONE:", f"@%p0 bra DONE;\nst.{space}.u32 [%rd4], %r3;\nDONE:")
    program, _ = compile_ptx(text, "<ptx>", DEVICES[90])
    found = calls_of(llvm_known, "branches_of_thread", monkeypatch)
    emit(program, program.functions["k"], BlockShape(256, 1, 1), frozenset(), "nounwind")
    assert bool(found) == (space == "shared")


@pytest.mark.parametrize(("read", "looks"), [("%fd0", False), ("%fd2", True), ("%fd4", True)])
def test_products_are_looked_at_where_a_sum_reads_one(
    read: str, looks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`%fd2` is one, `%fd4` the same negated."""
    found = calls_of(contraction_scan, "Scan", monkeypatch)
    end = f"mov.f64 %fd3, %fd2;\nneg.f64 %fd4, %fd3;\nadd.f64 %fd1, %fd0, {read};\nDONE:"
    compile_ptx(SHAPES["f32"](30).replace("DONE:", end), "<ptx>", DEVICES[90], True)
    assert bool(found) == looks


@pytest.mark.parametrize(("name", "times"), [("ifs_uniform", 1), ("loops", 2)])
def test_frames_are_gone_through_again_for_loops(
    name: str, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = calls_of(FramePlaces, "_visit", monkeypatch)
    emission(name, 30)()
    assert len(found) == times


def test_a_large_kernel_is_analysed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """And once more as it is rewritten, unless it surely is large."""
    monkeypatch.setattr(llvm_calls, "OPS", -1)
    found = calls_of(llvm_slots, "settle", monkeypatch)
    text, _, _ = emission("if_else", 30)()
    assert "simt-large" in text
    assert len(found) == 2
    monkeypatch.setattr(llvm_rewriting, "OPS", -1)
    assert emission("if_else", 30)()[0] == text
    assert len(found) == 3


@pytest.mark.parametrize("name", ["compares", "if_else", "tangle"])
def test_operands_of_a_call_are_asked_for_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """For all instructions that are alike; also where these have so many constants that they are passed."""
    asked: list[Op] = []
    request = Outliner._request

    def counted(self: Outliner, op: Op, few: bool) -> Any:
        asked.append(op)
        return request(self, op, few)

    monkeypatch.setattr(llvm_calls, "OPS", -1)
    monkeypatch.setattr(Outliner, "_request", counted)
    work(name, SMALL)
    kinds = {kind_of(op) for op in asked}
    assert 0 < len(set(asked)) < SMALL // 6
    assert len(asked) - len(set(asked)) <= 2 * len(kinds)


@pytest.mark.parametrize("name", ["memory_guarded", "if_memory", "state_machine", "switch"])
def test_no_two_functions_of_instructions_have_the_same_text(name: str) -> None:
    program, _ = compile_ptx(SHAPES[name](SMALL), "<ptx>", DEVICES[90])
    text, _, _ = emit(program, program.functions["k"], BlockShape(256, 1, 1), frozenset(), "nounwind")
    functions = re.findall(r"^(define [^@]*)@simt\.op\.\d+(\(.*?\n\})", text, re.MULTILINE | re.DOTALL)
    assert len(functions) > 3
    assert len(set(functions)) == len(functions)
