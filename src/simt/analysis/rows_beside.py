"""Which accesses of a block get at memory from the same address, each at its own distance from it."""

from __future__ import annotations

from simt.analysis.program import Block, Call, Op, memory_operands
from simt.analysis.ssa import Ssa


def offsets_beside(ssa: Ssa, block: Block, op: Op) -> list[int]:
    """How far from the address of `op` a block's accesses by the same instruction are, it among them, in
    the program's order. Empty if `op` has no address in a register, or several."""
    mine = list(memory_operands(op))
    if len(mine) != 1:
        return []
    base = ssa.read[id(op)][mine[0][0]]
    found = dict[int, None]()
    for other in block.ops:
        if isinstance(other, Call) or other.form is not op.form or other.binding != op.binding:
            continue
        same = (o for register, o in memory_operands(other) if ssa.read[id(other)][register] is base)
        found |= dict.fromkeys(same)
    return list(found)
