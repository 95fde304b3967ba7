"""Faults in loops that were rolled again (`simt.analysis.rolled_again`).

There an op stands for several of the program's, on lines of their own. At which of them a thread was is told
when it has come to a fault, by the turns that it had done and those that were left over: code that stands
beside each such loop, and is not run otherwise.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from simt.analysis.program import Block, Register
from simt.analysis.rolled_lines import Line
from simt.engine.abi import FaultSlot, WorkerSlot
from simt.engine.llvm_builder import Value
from simt.engine.llvm_slots import SlotEmitter

if TYPE_CHECKING:
    from simt.analysis.same_turns import Copies

ABORT = "abort"


def fault_at(emitter: SlotEmitter, block: Block, first: Line) -> str:
    """Where code of a turn goes after a fault. It is emitted in the block, before the `first` such op."""
    builder = emitter.builder
    fault, go = builder.block_name("fault"), builder.block_name("go")
    builder.void(f"br label %{go}")
    builder.label(fault)
    kept = dict(emitter.cache), dict(emitter.vectors)
    lane = builder.emit(f"load i64, ptr {_slot(emitter, FaultSlot.LANE)}")
    sources = (first.start, first.now, first.step, first.limit)
    correct(emitter, block, first, [_in_lane(emitter, source, lane) for source in sources])
    builder.label(go)
    emitter.cache, emitter.vectors = kept
    return fault


def correct(emitter: SlotEmitter, block: Block, first: Line, numbers: Sequence[Value]) -> None:
    """Puts the program's line in place of that of an op, and goes on to the end. `numbers`: with what a
    counter began, what it is, its step and its limit."""
    builder, signed = emitter.builder, first.type.is_signed
    start, now, step, limit = (_widened(emitter, number, signed) for number in numbers)
    done = _binary(emitter, "udiv", _binary(emitter, "sub", now, start), step)
    last = _binary(emitter, "sub", _binary(emitter, "sub", limit, "1"), start)
    turns = _binary(emitter, "add", _binary(emitter, "udiv", last, step), "1")
    place = _slot(emitter, FaultSlot.LINE)
    found = line = builder.emit(f"load i64, ptr {place}")
    lines = {op.line: op.line for op in block.ops if isinstance(op.line, Line)}.values()
    aheads = {one.ahead: _binary(emitter, "add", done, str(one.ahead)) for one in lines}
    nth = {ahead: _nth(emitter, first.copies, at, turns) for ahead, at in aheads.items()}
    for one in lines:
        here = builder.emit(f"icmp eq i64 {line}, {int(one)}")
        found = builder.emit(f"select i1 {here}, i64 {_line(emitter, one, nth[one.ahead])}, i64 {found}")
    builder.void(f"store i64 {found}, ptr {place}")
    builder.void(f"br label %{ABORT}")


def _nth(emitter: SlotEmitter, copies: Copies, done: str, turns: str) -> str:
    """The place of a turn among all lines of an op: first those of the second loop, then those of turns that
    are left over, in rows by their number. It is within all lines whatever the numbers are: a counter may
    begin so far below its limit that a signed number does not say how far."""
    emit, all_ = emitter.builder.emit, len(copies.main)
    over = _binary(emitter, "and", turns, str(all_ - 1))
    before = over if copies.left_first else _binary(emitter, "sub", turns, over)
    later = _binary(emitter, "sub", done, before)
    inside = emit(f"icmp {'uge' if copies.left_first else 'ult'} i64 {done}, {before}")
    copy = _binary(emitter, "and", later, str(all_ - 1))
    part = _binary(emitter, "and", done, str(all_ - 1)) if copies.left_first else copy
    row = _binary(emitter, "mul", _binary(emitter, "add", over, "1"), str(all_))
    left = _binary(emitter, "add", row, part)
    return emit(f"select i1 {inside}, i64 {copy}, i64 {left}")


def _line(emitter: SlotEmitter, one: Line, nth: str) -> str:
    """The line that an op has there."""
    copies, emit = one.copies, emitter.builder.emit
    rows = [copies.main, *((*row, *copies.main[len(row) :]) for row in copies.left)]
    numbers = ", ".join(f"i64 {line}" for row in rows for line in row)
    kind = f"[{len(rows) * len(copies.main)} x i64]"
    name = f"simt.lines.{zlib.crc32(numbers.encode()):08x}"
    lines = emitter.unit.module.constant(name, f"private unnamed_addr constant {kind} [{numbers}]")
    return emit(f"load i64, ptr {emit(f'getelementptr {kind}, ptr {lines}, i64 0, i64 {nth}')}")


def _slot(emitter: SlotEmitter, slot: int) -> str:
    worker = emitter.m.worker
    return emitter.builder.emit(f"getelementptr i64, ptr {worker}, i64 {WorkerSlot.FAULT + slot}")


def _in_lane(emitter: SlotEmitter, source: Register, lane: str) -> Value:
    """What a register has in a lane."""
    column = emitter.m.vector(emitter.register(source))
    return Value(emitter.builder.emit(f"extractelement {column.typed}, i64 {lane}"), column.type)


def _widened(emitter: SlotEmitter, number: Value, signed: bool) -> str:
    """A number as an i64."""
    if number.type == "i64":
        return number.ir
    return emitter.builder.emit(f"{'sext' if signed else 'zext'} {number.typed} to i64")


def _binary(emitter: SlotEmitter, opcode: str, a: str, b: str) -> str:
    return emitter.builder.emit(f"{opcode} i64 {a}, {b}")
