"""Looking up constant tables with a load for each lane, where the CPU gathers slowly.

An index of 32 bits leaves its register with a neighbour. The two tables of a special function are asked one
after the other with the same index: their entries lie side by side, so that one load gets both. (Both
together on an AMD Zen 3: 0.50 ns for a lane, 0.77 by two loads as LLVM makes them, 1.2 by two gathers.)
"""

from __future__ import annotations

import zlib

from simt.engine.host import SLOW_GATHERS
from simt.engine.llvm_builder import Value
from simt.engine.llvm_rounding import LlvmRounding
from simt.isa.special_tables import slopes_beside
from simt.records import dataclass

GROUP = 8
"""Lanes whose entries are put together at once: words of a register."""
_IN_ORDER = ((0, 1, 4, 5), (2, 3, 6, 7))
"""Lanes of which two registers hold pairs of words: x86 takes every other word of two registers by halves."""
_FIRSTS = (0, 2, 8, 10, 4, 6, 12, 14)
"""The first words of those pairs, in the order of lanes."""


@dataclass(frozen=True, slots=True)
class Beside:
    """What a lookup found beside what was asked for, in the block that goes on at `label`."""

    table: tuple[int, ...]
    index: str
    label: int
    found: Value

    def is_for(self, table: tuple[int, ...], index: Value, label: int) -> bool:
        return (table, index.ir, label) == (self.table, self.index, self.label)


def has_rows(features: frozenset[str]) -> bool:
    return {"avx2", SLOW_GATHERS} <= features and "avx512bw" not in features


def by_rows(m: LlvmRounding, table: tuple[int, ...], index: Value) -> tuple[Value, Beside | None]:
    """The entries of a table, and those beside them. The number of lanes is a multiple of `GROUP`."""
    beside = slopes_beside(table)
    rows = [table] if beside is None else [table, beside]
    _, rest = m.unify(index, m.binary("and", index, m.number("i32", len(table) - 1)))  # which may be a number
    columns: list[list[Value]] = [[] for _ in rows]
    array = _array(m, rows)
    for piece in m.cut(rest, GROUP):
        places = _places(m, array, len(rows), piece)
        for column, found in zip(columns, _pairs(m, places) if beside else [_words(m, places)], strict=True):
            column.append(found)
    joined = [m.join(column, index.width) for column in columns]
    if beside is None:
        return joined[0], None
    return joined[0], Beside(beside, index.ir, m.builder.last_label, joined[1])


def _array(m: LlvmRounding, rows: list[tuple[int, ...]]) -> str:
    """The constant with the tables' entries in turns."""
    numbers = ", ".join(f"i32 {entry}" for row in zip(*rows, strict=True) for entry in row)
    kind = f"[{len(rows) * len(rows[0])} x i32]"
    name = f"simt.rows.{zlib.crc32(numbers.encode()):08x}"
    return m.module.constant(name, f"private unnamed_addr constant {kind} [{numbers}], align 64")


def _places(m: LlvmRounding, array: str, words: int, index: Value) -> list[str]:
    """Pointers to the rows of some lanes."""
    emit, pairs = m.builder.emit, f"<{GROUP // 2} x i64>"
    wide = emit(f"bitcast {index.typed} to {pairs}")
    places = list[str]()
    for pair in range(GROUP // 2):
        both = emit(f"extractelement {pairs} {wide}, i64 {pair}")
        for number in (emit(f"and i64 {both}, {2**32 - 1}"), emit(f"lshr i64 {both}, 32")):
            places.append(emit(f"getelementptr [{words} x i32], ptr {array}, i64 {number}"))
    return places


def _words(m: LlvmRounding, places: list[str]) -> Value:
    """Of rows of one word."""
    column, kind = "poison", f"<{GROUP} x i32>"
    for lane, place in enumerate(places):
        word = m.builder.emit(f"load i32, ptr {place}, align 4")
        column = m.builder.emit(f"insertelement {kind} {column}, i32 {word}, i64 {lane}")
    return Value(column, "i32", GROUP)


def _pairs(m: LlvmRounding, places: list[str]) -> list[Value]:
    """Of rows of two words: the first words and the second ones. A row is loaded as a number of 64 bits,
    which x86 loads to either half of a register."""
    emit, kind, halves = m.builder.emit, f"<{GROUP // 2} x double>", list[str]()
    for lanes in _IN_ORDER:
        column = "poison"
        for slot, lane in enumerate(lanes):
            row = emit(f"load double, ptr {places[lane]}, align 8")
            column = emit(f"insertelement {kind} {column}, double {row}, i64 {slot}")
        halves.append(emit(f"bitcast {kind} {column} to <{GROUP} x i32>"))
    low, high = halves
    found = list[Value]()
    for word in (0, 1):
        order = ", ".join(f"i32 {first + word}" for first in _FIRSTS)
        text = f"shufflevector <{GROUP} x i32> {low}, <{GROUP} x i32> {high}, <{GROUP} x i32> <{order}>"
        found.append(m.emit(text, "i32", GROUP))
    return found
