"""Looking up columns in constant tables, as LLVM IR."""

from __future__ import annotations

import zlib
from functools import partial

from simt.engine.llvm_builder import Value, mangled, spell
from simt.engine.llvm_rounding import LlvmRounding

_REGISTER = 16
"""Entries, and lanes, of a register."""
_MOST_PERMUTED = 128
"""Entries up to which permutations of registers are faster than loads."""


def looked_up(m: LlvmRounding, table: tuple[int, ...], index: Value) -> Value:
    """`PureAlgebra.lookup`."""
    if index.width == 1 or "avx512f" not in m.features or len(table) > _MOST_PERMUTED:
        return _loaded(m, table, m.binary("and", index, m.number("i32", len(table) - 1)))
    table *= max(1, 2 * _REGISTER // len(table))
    return m.piecewise(_REGISTER, partial(_permuted, m, table), index)


def _loaded(m: LlvmRounding, table: tuple[int, ...], index: Value) -> Value:
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


def _permuted(m: LlvmRounding, table: tuple[int, ...], index: Value) -> Value:
    """Of 16 lanes: each permutation reads 32 entries by the index's lowest 5 bits; the higher ones choose."""
    row = spell("i32", _REGISTER)
    permute = m.module.declare("llvm.x86.avx512.vpermi2var.d.512", row, (row, row, row))
    registers = [_register(table[i : i + _REGISTER]) for i in range(0, len(table), _REGISTER)]
    found = [
        m.emit(f"call {row} {permute}({row} {low}, {index.typed}, {row} {high})", "i32", _REGISTER)
        for low, high in zip(registers[::2], registers[1::2], strict=True)
    ]
    bit = 2 * _REGISTER
    while len(found) > 1:
        set_ = m.test("icmp ne", m.binary("and", index, m.number("i32", bit)), m.number("i32", 0))
        found = [m.pick(set_, b, a) for a, b in zip(found[::2], found[1::2], strict=True)]
        bit *= 2
    return found[0]


def _register(entries: tuple[int, ...]) -> str:
    return f"<{', '.join(f'i32 {entry}' for entry in entries)}>"
