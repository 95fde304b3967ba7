"""What `%clock` counts: the instructions that a warp executes, whichever of its lanes run.

Both engines count the same: every instruction of a block, whether its guard holds or not, and the branch or
barrier at its end. An unconditional `bra`, `ret` and `exit` count nothing: lowering drops jumps, and the end
of some lanes is no time of the others. So two readings in straight-line code are as far apart as they stand.
"""

from __future__ import annotations

from simt.analysis.call_graph import reachable
from simt.analysis.program import Barrier, Branch, Call, Op, Operand, Program, Special, Switch, Terminator
from simt.isa.special_registers import CLOCKS


def reads_clock(op: Op | Call) -> bool:
    return isinstance(op, Op) and any(map(_is_clock, op.sources.values()))


def _is_clock(source: Operand) -> bool:
    if isinstance(source, tuple):
        return any(map(_is_clock, source))
    return isinstance(source, Special) and f"%{source.name}" in CLOCKS


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
