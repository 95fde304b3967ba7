"""Loads and stores of `.param` variables that live in registers (see `Cells`)."""

from __future__ import annotations

from simt.analysis.lower_builder import Builder
from simt.analysis.lower_context import Cells, Unlowerable
from simt.analysis.lower_forms import INSERT, JOIN, PART, copy, simple
from simt.analysis.program import Constant, Guard, Register, Source
from simt.ptx.nodes import Span
from simt.ptx.types import B32, B64, U32, Type


def load(
    b: Builder, cells: Cells, offset: int, t: Type, d: Register, guard: Guard | None, span: Span
) -> None:
    """`d = *(t*)(cells + offset)`."""
    index = _index(cells, offset, t, span)
    cell = cells.registers[index]
    if t.bytes == cells.width:
        b.emit(copy(d, cell, t, b.line, guard))
    elif t.bytes > cells.width:
        pair = {"a": (cell, B32), "b": (cells.registers[index + 1], B32)}
        b.emit(simple(JOIN, t, d, pair, b.line, guard))
    else:
        shift = Constant(U32, offset % cells.width * 8)
        b.emit(
            simple(PART, t, d, {"a": (cell, cell.type), "n": (shift, U32)}, b.line, guard, atype=cell.type)
        )


def store(
    b: Builder, cells: Cells, offset: int, t: Type, value: Source, guard: Guard | None, span: Span
) -> None:
    """`*(t*)(cells + offset) = value`."""
    index = _index(cells, offset, t, span)
    cell = cells.registers[index]
    if t.bytes == cells.width:
        b.emit(copy(cell, value, t, b.line, guard))
    elif t.bytes > cells.width:
        for i in (0, 1):
            half = {"a": (value, B64), "n": (Constant(U32, 32 * i), U32)}
            b.emit(simple(PART, B32, cells.registers[index + i], half, b.line, guard, atype=B64))
    elif len(cells.registers) == 1 and offset == 0:
        b.emit(copy(cell, value, t, b.line, guard))
    else:
        _insert(b, cell, offset % cells.width * 8, t, value, guard)


def _insert(b: Builder, cell: Register, bit: int, t: Type, value: Source, guard: Guard | None) -> None:
    mask = Constant(cell.type, ((1 << t.bits) - 1) << bit)
    sources = {
        "a": (cell, cell.type), "b": (value, t), "c": (mask, cell.type), "n": (Constant(U32, bit), U32),
    }  # fmt: skip
    b.emit(simple(INSERT, cell.type, cell, sources, b.line, guard, btype=t))


def _index(cells: Cells, offset: int, t: Type, span: Span) -> int:
    """Which cell an access begins in."""
    total = len(cells.registers) * cells.width
    if not 0 <= offset <= total - min(t.bytes, total) or offset % t.bytes or t.bytes > 8:
        raise Unlowerable(f"an access of {t.bytes} bytes at offset {offset} does not fit the parameter", span)
    return offset // cells.width
