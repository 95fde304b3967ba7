"""What `%clock` counts: the instructions that a warp executes, whichever of its lanes run.

Both engines count the same: every instruction of a block, whether its guard holds or not, and the branch or
barrier at its end. An unconditional `bra`, `ret` and `exit` count nothing: lowering drops jumps, and the end
of some lanes is no time of the others. So two readings in straight-line code are as far apart as they stand.
"""

from __future__ import annotations

from collections.abc import Iterable

from simt.analysis.call_graph import reachable
from simt.analysis.program import (
    Address,
    Barrier,
    Branch,
    Call,
    Constant,
    Op,
    Operand,
    Program,
    Register,
    Special,
    Switch,
    Terminator,
)
from simt.isa.special_registers import CLOCKS

_NO_CLOCK = frozenset({Register, Constant, Address})
"""Classes of operands that are none."""


def reads_clock(op: Op | Call) -> bool:
    return isinstance(op, Op) and _has_clock(op.sources.values())


def _has_clock(sources: Iterable[Operand]) -> bool:
    for source in sources:
        if source.__class__ in _NO_CLOCK:  # most are
            continue
        if isinstance(source, Special):
            if f"%{source.name}" in CLOCKS:
                return True
        elif isinstance(source, tuple) and _has_clock(source):
            return True
    return False


def has_clock(kernel: str, program: Program) -> bool:
    """Whether a kernel, or a function that it may call, reads a clock."""
    names = reachable([kernel], program.functions)
    blocks = (block for name in names for block in program.functions[name].blocks)
    return any(reads_clock(op) for block in blocks for op in block.ops)


def counts(what: Op | Call | Terminator) -> bool:
    """Whether the clock goes on by one when a warp executes this."""
    match what:
        case Op() | Call():
            return what.line > 0
        case Branch(around=around):
            return what.line > 0 and not around
        case Switch() | Barrier():
            return True
        case _:
            return False
