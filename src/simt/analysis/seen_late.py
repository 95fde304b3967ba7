"""Ops to which a double is bits come as late as they may: stores, and moves that take it apart.

Which NaN an f64 result is, is settled where its bits are seen (`simt.engine.llvm_loose`), by a test of all
lanes. What is seen at one place is settled by one test, and what is computed between such tests LLVM can
arrange so that it needs few registers. No thread can tell: what such an op lets pass neither gets at memory
nor reads what the op writes.
"""

from __future__ import annotations

from collections.abc import Sequence

from simt.analysis.clock import has_clock
from simt.analysis.copies import copied
from simt.analysis.program import Block, Call, Function, Op, Operand, Program, Register
from simt.analysis.ssa import destinations, uses
from simt.analysis.wide_moves import parts_of
from simt.ptx.types import F64


def with_bits_seen_late(program: Program, kernel: Function) -> Function:
    """The kernel, or another function in which such ops come later."""
    orders = {b: order for b in kernel.blocks if (order := _order(b)) is not None}
    if not orders or has_clock(kernel.name, program):
        return kernel
    made = copied(kernel)
    for old, new in zip(kernel.blocks, made.blocks):
        new.ops = orders.get(old, new.ops)
    return made


def sees_doubles(op: Op | Call) -> bool:
    """Whether an op does nothing but to store doubles, or to take one apart."""
    if isinstance(op, Call) or op.guard is not None:
        return False
    stores = op.form.moves_memory and not op.destinations
    return (stores or parts_of(op) > 0) and any(map(_is_double, op.sources.values()))


def _is_double(operand: Operand | None) -> bool:
    if isinstance(operand, tuple):
        return any(map(_is_double, operand))
    return isinstance(operand, Register) and operand.type == F64


def _order(block: Block) -> list[Op | Call] | None:
    """A block's ops with such ones as late as may be; None if there are no two of them, or none moves."""
    if sum(map(sees_doubles, block.ops)) <= 1:
        return None
    order, waiting = list[Op | Call](), list[Op]()
    for op in block.ops:
        if isinstance(op, Op) and sees_doubles(op) and _may_be_passed(op, waiting):
            waiting.append(op)
            continue
        if not _may_be_passed(op, waiting):
            order += waiting
            waiting.clear()
        order.append(op)
    order += waiting
    return order if order != block.ops else None


def _may_be_passed(op: Op | Call, waiting: Sequence[Op]) -> bool:
    """Whether ops may as well come behind another one."""
    if isinstance(op, Call):
        return not waiting
    if op.form.effects and any(one.form.effects for one in waiting) and not sees_doubles(op):
        return False
    written, read = {*destinations(op)}, {*uses(op)}
    return all(
        written.isdisjoint(uses(one)) and {*destinations(one)}.isdisjoint(read | written) for one in waiting
    )
