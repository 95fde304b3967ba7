"""Looking up constant tables with a load for each lane, where the CPU gathers slowly.

Indices leave their register by 64 bits. Tables that are asked with the same index, as those of a special
function are, have their entries side by side, so that one load gets them all. (Two tables of 32 bits together
on an AMD Zen 3: 0.50 ns for a lane, 0.77 by two loads as LLVM makes them, 1.2 by two gathers.)
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from types import MappingProxyType

from simt.engine.host import SLOW_GATHERS
from simt.engine.llvm_builder import Value
from simt.engine.llvm_halves import halves
from simt.engine.llvm_rounding import LlvmRounding

TOGETHER = MappingProxyType({"i32": 8, "i16": 16})
"""Lanes whose entries are put together at once, by their type: they fill a register."""
ROW = 64
"""Bits of a row that one load gets."""
GROUP, WORDS = TOGETHER["i32"], 2
"""Words of 32 bits in a register and in a row."""
_IN_ORDER = ((0, 1, 4, 5), (2, 3, 6, 7))
"""Lanes of which two registers hold pairs of words: x86 takes every other word of two registers by halves."""
_FIRSTS = (0, 2, 8, 10, 4, 6, 12, 14)
"""The first words of those pairs, in the order of lanes."""

Table = tuple[int, ...]


def has_rows(features: frozenset[str]) -> bool:
    return {"avx2", SLOW_GATHERS} <= features and "avx512bw" not in features


def by_rows(m: LlvmRounding, index: Value, tables: Sequence[Table]) -> list[Value]:
    """The entries of some tables, which fit one row. The number of lanes is a multiple of those that
    are put `TOGETHER`."""
    bits = int(index.type[1:])
    several = len(tables) > 1
    row = ROW // bits if several else 1
    array = _array(m, index.type, [*tables, *((0,) * len(tables[0]) for _ in range(row - len(tables)))])
    columns: list[list[Value]] = [[] for _ in tables]
    for piece in m.cut(index, TOGETHER[index.type]):
        places = _places(m, array, f"[{row} x {index.type}]", piece)
        found = _entries(m, bits, places) if several else [_single(m, index.type, places)]
        for column, part in zip(columns, found, strict=False):  # the last may be what fills up
            column.append(part)
    return [m.join(column, index.width) for column in columns]


def _array(m: LlvmRounding, element: str, rows: Sequence[Table]) -> str:
    """The constant with the tables' entries in turns."""
    numbers = ", ".join(f"{element} {entry}" for row in zip(*rows, strict=True) for entry in row)
    kind = f"[{len(rows) * len(rows[0])} x {element}]"
    name = f"simt.rows.{zlib.crc32(numbers.encode()):08x}"
    return m.module.constant(name, f"private unnamed_addr constant {kind} [{numbers}], align 64")


def _places(m: LlvmRounding, array: str, row: str, index: Value) -> list[str]:
    """Pointers to the rows of some lanes."""
    emit, bits = m.builder.emit, int(index.type[1:])
    together, count = ROW // bits, index.width * bits // ROW
    wide, places = emit(f"bitcast {index.typed} to <{count} x i64>"), list[str]()
    for register in range(count):
        rest = emit(f"extractelement <{count} x i64> {wide}, i64 {register}")
        for lane in range(together):
            number = rest if lane == together - 1 else emit(f"and i64 {rest}, {(1 << bits) - 1}")
            places.append(emit(f"getelementptr {row}, ptr {array}, i64 {number}"))
            rest = emit(f"lshr i64 {rest}, {bits}") if lane < together - 1 else rest
    return places


def _single(m: LlvmRounding, element: str, places: list[str]) -> Value:
    """Of rows of one entry."""
    column, kind = "poison", f"<{len(places)} x {element}>"
    for lane, place in enumerate(places):
        entry = m.builder.emit(f"load {element}, ptr {place}, align {int(element[1:]) // 8}")
        column = m.builder.emit(f"insertelement {kind} {column}, {element} {entry}, i64 {lane}")
    return Value(column, element, len(places))


def _entries(m: LlvmRounding, bits: int, places: list[str]) -> Sequence[Value]:
    """Of rows of two words, or of four halves of words."""
    if bits > 16:
        return _pairs(m, places)
    even, odd = (_pairs(m, places[start::2]) for start in (0, 1))
    return [half for one, other in zip(even, odd, strict=True) for half in halves(m, one, other)]


def _pairs(m: LlvmRounding, places: list[str]) -> list[Value]:
    """Of rows of two words: the first words and the second ones. A row is loaded as a number of 64 bits,
    which x86 loads to either half of a register."""
    emit, kind, loaded = m.builder.emit, f"<{GROUP // 2} x double>", list[str]()
    for lanes in _IN_ORDER:
        column = "poison"
        for slot, lane in enumerate(lanes):
            row = emit(f"load double, ptr {places[lane]}, align 8")
            column = emit(f"insertelement {kind} {column}, double {row}, i64 {slot}")
        loaded.append(emit(f"bitcast {kind} {column} to <{GROUP} x i32>"))
    low, high = loaded
    found = list[Value]()
    for word in range(WORDS):
        order = ", ".join(f"i32 {first + word}" for first in _FIRSTS)
        text = f"shufflevector <{GROUP} x i32> {low}, <{GROUP} x i32> {high}, <{GROUP} x i32> <{order}>"
        found.append(m.emit(text, "i32", GROUP))
    return found
