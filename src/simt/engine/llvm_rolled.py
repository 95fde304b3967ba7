"""Faults in loops that were rolled again (`simt.analysis.rolled_again`).

There an op stands for several of the program's, on lines of their own. At which of them a thread was is told
when it has come to a fault, by the turns that it had done and those that were left over: code that stands
beside each such loop, and is not run otherwise.
"""

from __future__ import annotations

from simt.analysis.program import Block, Constant, Register
from simt.analysis.rolled_again import Line
from simt.engine.abi import FaultSlot, WorkerSlot
from simt.engine.llvm_slots import SlotEmitter

ABORT = "abort"


def fault_at(emitter: SlotEmitter, block: Block, first: Line) -> str:
    """Where code of a turn goes after a fault. It is emitted in the block, before the `first` such op."""
    builder, count = emitter.builder, first.count
    fault, go = builder.block_name("fault"), builder.block_name("go")
    builder.void(f"br label %{go}")
    builder.label(fault)
    kept = dict(emitter.cache), dict(emitter.vectors)
    lane = builder.emit(f"load i64, ptr {_slot(emitter, FaultSlot.LANE)}")
    start, now, step, limit = (
        _number(emitter, source, lane, count.type.is_signed)
        for source in (count.start, count.now, count.step, count.limit)
    )
    done = _binary(emitter, "udiv", _binary(emitter, "sub", now, start), step)
    last = _binary(emitter, "sub", _binary(emitter, "sub", limit, "1"), start)
    turns = _binary(emitter, "add", _binary(emitter, "udiv", last, step), "1")
    over = _binary(emitter, "and", turns, str(len(first.lines) - 1))
    later = _binary(emitter, "sub", done, over)
    copy = _binary(emitter, "and", later, str(len(first.lines) - 1))
    after = builder.emit(f"icmp sge i64 {later}, 0")
    place = _slot(emitter, FaultSlot.LINE)
    found = line = builder.emit(f"load i64, ptr {place}")
    for one in {op.line: op.line for op in block.ops if isinstance(op.line, Line)}.values():
        found = _line(emitter, one, (line, found, copy, after))
    builder.void(f"store i64 {found}, ptr {place}")
    builder.void(f"br label %{ABORT}")
    builder.label(go)
    emitter.cache, emitter.vectors = kept
    return fault


def _line(emitter: SlotEmitter, one: Line, known: tuple[str, str, str, str]) -> str:
    """The line of the fault, if `one` was recorded and another one is meant."""
    line, found, copy, after = known
    emit = emitter.builder.emit
    other = str(one.lines[0])
    for n, number in enumerate(one.lines[1:], 1):
        at = emit(f"icmp eq i64 {copy}, {n}")
        other = emit(f"select i1 {at}, i64 {number}, i64 {other}")
    here = emit(f"icmp eq i64 {line}, {int(one)}")
    meant = emit(f"and i1 {here}, {after}")
    return emit(f"select i1 {meant}, i64 {other}, i64 {found}")


def _slot(emitter: SlotEmitter, slot: FaultSlot) -> str:
    worker = emitter.m.worker
    return emitter.builder.emit(f"getelementptr i64, ptr {worker}, i64 {WorkerSlot.FAULT + slot}")


def _number(emitter: SlotEmitter, source: Register | Constant, lane: str, signed: bool) -> str:
    """What a register has in a lane, as an i64."""
    if isinstance(source, Constant):
        return str(source.bits)
    column = emitter.m.vector(emitter.register(source))
    one = emitter.builder.emit(f"extractelement {column.typed}, i64 {lane}")
    if column.type == "i64":
        return one
    return emitter.builder.emit(f"{'sext' if signed else 'zext'} {column.type} {one} to i64")


def _binary(emitter: SlotEmitter, opcode: str, a: str, b: str) -> str:
    return emitter.builder.emit(f"{opcode} i64 {a}, {b}")
