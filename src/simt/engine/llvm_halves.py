"""The halves of columns of 32 bits as columns of 16 bits, of which registers hold twice as many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from simt.engine.llvm_builder import Value, spell
from simt.engine.llvm_rounding import LlvmRounding
from simt.engine.llvm_seldom import SeldomAlgebra

LEAST = 8
"""Numbers of 16 bits in a register of any CPU."""
_LOW, _HIGH = 0xFFFF, 0xFFFF0000


def by_halves(m: SeldomAlgebra, run: Callable[..., Value], lanes: int, columns: Sequence[Value]) -> Value:
    """`PureAlgebra.by_halves` on columns of one width. `lanes`: numbers of 16 bits in a register.

    Lane i goes with lane i + n / 2 of the n that fit a register, the one below, the other above in 32 bits: a
    shift and a blend bring two registers to one, and a shift brings the first of them back."""
    width = columns[0].width
    if width % min(lanes, width) or width < LEAST:
        result = run(m, *((_cut(m, column), _cut(m, _lowered(m, column))) for column in columns))
        return _raised(m, m.cast("zext", "i32", result))
    return m.piecewise(min(lanes, width), partial(_of_register, m, run), *columns)


def _of_register(m: SeldomAlgebra, run: Callable[..., Value], *columns: Value) -> Value:
    width = columns[0].width
    inner = m.pure(m.builder, width)
    result = inner.vector(run(inner, *(halves(inner, *inner.cut(column, width // 2)) for column in columns)))
    both = _as(inner, "i32", width // 2, result)
    return inner.join([_raised(inner, both), both], width)


def halves(m: LlvmRounding, one: Value, other: Value) -> tuple[Value, Value]:
    """The low and the high halves of two columns, in turns."""
    low, high = (m.number("i32", mask) for mask in (_LOW, _HIGH))
    lows = m.binary("or", m.binary("and", one, low), _raised(m, other))
    highs = m.binary("or", _lowered(m, one), m.binary("and", other, high))
    return _as(m, "i16", 2 * one.width, lows), _as(m, "i16", 2 * one.width, highs)


def _cut(m: LlvmRounding, column: Value) -> Value:
    return m.cast("trunc", "i16", column)


def _raised(m: LlvmRounding, column: Value) -> Value:
    return m.binary("shl", column, m.number("i32", 16))


def _lowered(m: LlvmRounding, column: Value) -> Value:
    return m.binary("lshr", column, m.number("i32", 16))


def _as(m: LlvmRounding, element: str, width: int, column: Value) -> Value:
    return m.emit(f"bitcast {column.typed} to {spell(element, width)}", element, width)
