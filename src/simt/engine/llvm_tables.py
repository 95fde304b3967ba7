"""Looking up columns in constant tables, as LLVM IR."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import partial

from simt.engine.llvm_builder import Value, mangled, spell
from simt.engine.llvm_rounding import LlvmRounding
from simt.engine.llvm_table_rows import ROW, TOGETHER, Table, by_rows, has_rows

_REGISTER = 32
"""16-bit numbers in a register."""
_MOST_PERMUTED = 128
"""Entries up to which permutations of registers are faster than loads."""
_UNPACKED = [8 * (lane % 16 // 4) + 4 * (lane // 16) + lane % 4 for lane in range(_REGISTER)]
"""Where x86 packs lanes of two registers of 32-bit numbers in one of 16-bit numbers."""
_FEATURES = frozenset({"avx512f", "avx512bw"})


def looked_up(m: LlvmRounding, index: Value, tables: Sequence[Table]) -> tuple[Value, ...]:
    """`PureAlgebra.lookup`."""
    _, rest = m.unify(index, m.binary("and", index, m.number(index.type, len(tables[0]) - 1)))
    if rest.width % _REGISTER == 0 and m.features >= _FEATURES and len(tables[0]) <= _MOST_PERMUTED:
        run = _permuted if index.type == "i16" else _of_warp
        return tuple(m.piecewise(_REGISTER, partial(run, m, _filled_up(table)), rest) for table in tables)
    if rest.width % TOGETHER[index.type] == 0 and has_rows(m.features):
        return tuple(entry for group in _groups(index.type, tables) for entry in by_rows(m, rest, group))
    place = m.cast("zext", "i32", rest)
    return tuple(m.cast("trunc", index.type, _loaded(m, table, place)) for table in tables)


def _groups(element: str, tables: Sequence[Table]) -> list[Sequence[Table]]:
    """Tables whose entries fit one row."""
    count = ROW // int(element[1:])
    return [tables[start : start + count] for start in range(0, len(tables), count)]


def _filled_up(table: Table) -> Table:
    return table * max(1, 2 * _REGISTER // len(table))


def _of_warp(m: LlvmRounding, table: Table, index: Value) -> Value:
    """Halves of 32 entries, joined. Indices of two registers come to one, halves to two, by an instruction
    each, since the lanes in between are in an order of their own: by fours, of both registers in turns."""
    kind, half, column = spell("i16", _REGISTER), _REGISTER // 2, spell("i32", _REGISTER // 2)
    pack = m.module.declare("llvm.x86.avx512.packusdw.512", kind, (column, column))
    few, more = (piece.typed for piece in m.cut(index, half))
    places = m.emit(f"call {kind} {pack}({few}, {more})", "i16", _REGISTER)
    low, high = (_permuted(m, half, places) for half in _halves(table))
    order = ", ".join(f"i32 {place + word}" for place in _UNPACKED for word in (0, _REGISTER))
    text = f"shufflevector {low.typed}, {high.typed}, <{2 * _REGISTER} x i32> <{order}>"
    joined = m.emit(text, "i16", 2 * _REGISTER)
    return m.emit(f"bitcast {joined.typed} to {index.spelled}", "i32", _REGISTER)


def _halves(table: Table) -> tuple[Table, Table]:
    """The low and the high 16 bits of the entries."""
    return tuple(entry & 0xFFFF for entry in table), tuple(entry >> 16 for entry in table)


def _loaded(m: LlvmRounding, table: Table, index: Value) -> Value:
    numbers = ", ".join(f"i32 {entry}" for entry in table)
    name = f"simt.table.{zlib.crc32(numbers.encode()):08x}"
    kind = f"[{len(table)} x i32]"
    array = m.module.constant(name, f"private unnamed_addr constant {kind} [{numbers}], align 64")
    places = m.builder.emit(f"getelementptr i32, ptr {array}, {index.typed}")
    if index.width == 1:
        return m.emit(f"load i32, ptr {places}, align 4", "i32", 1)
    column, pointers, all_lanes = (spell(t, index.width) for t in ("i32", "ptr", "i1"))
    gather = m.module.declare(
        f"llvm.masked.gather.{mangled('i32', index.width)}.v{index.width}p0",
        column, (pointers, "i32 immarg", all_lanes, column),
    )  # fmt: skip
    arguments = f"{pointers} {places}, i32 4, {all_lanes} splat (i1 true), {column} poison"
    return m.emit(f"call {column} {gather}({arguments})", "i32", index.width)


def _permuted(m: LlvmRounding, table: Table, index: Value) -> Value:
    """Of 16-bit entries: each permutation reads 64 by the index's lowest 6 bits; the higher one chooses."""
    row = spell("i16", _REGISTER)
    permute = m.module.declare("llvm.x86.avx512.vpermi2var.hi.512", row, (row, row, row))
    registers = [_register(table[i : i + _REGISTER]) for i in range(0, len(table), _REGISTER)]
    found = [
        m.emit(f"call {row} {permute}({row} {low}, {index.typed}, {row} {high})", "i16", _REGISTER)
        for low, high in zip(registers[::2], registers[1::2], strict=True)
    ]
    if len(found) == 1:
        return found[0]
    upper = m.binary("and", index, m.number("i16", 2 * _REGISTER))
    return m.pick(m.test("icmp ne", upper, m.number("i16", 0)), found[1], found[0])


def _register(entries: Table) -> str:
    return f"<{', '.join(f'i16 {entry}' for entry in entries)}>"
