"""Lines that stand once, and what functions get of a frame."""

from __future__ import annotations

from simt.engine.llvm_builder import Builder
from simt.engine.llvm_frame import Frame

SUM = "add i32 %a, %b"


def builder() -> Builder:
    made = Builder()
    made.label("start")
    return made


def test_a_line_stands_once_in_a_block_of_code() -> None:
    code = builder()
    first = code.emit_once(SUM)
    assert code.emit_once(SUM) == first
    assert code.emit_once("add i32 %b, %a") != first
    code.label("next")
    assert code.emit_once(SUM) != first
    assert len(code.lines) == 5


def test_a_line_that_was_thrown_away_does_not_count() -> None:
    code = builder()
    kept, code.lines, label = code.lines, [], code.last_label
    code.emit("add i32 %c, %c")
    thrown = code.emit_once(SUM)
    code.lines, code.last_label = kept, label
    code.emit("add i32 %d, %d")
    assert code.emit_once(SUM) != thrown


def test_registers_may_be_forgotten() -> None:
    code = builder()
    first = code.emit_once(SUM)
    code.forget()
    assert code.emit_once(SUM) != first


def test_functions_get_what_they_need_of_a_frame() -> None:
    lines = ["  %half = lshr i32 %whole, 1", "  %quarter = lshr i32 %half, 1", "  %other = load i32, ptr %p"]
    frame = Frame(("i32 %whole", "ptr %p", "i32 %unused"), lines)
    cut = frame.cut_to(["  %x = add i32 %quarter, %argument"])
    assert cut == Frame(("i32 %whole",), lines[:2])
    assert frame.cut_to(["  %x = load i8, ptr %p.high"]) == Frame((), [])
