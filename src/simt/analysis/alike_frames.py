"""Local memory that is the same in all lanes of a warp.

Compilers put what is indexed at run time into local memory: a structure that a kernel gets by value (sizes
and strides of a tensor, by the number of the dimension), pointers that take turns (`buffer[turn % 3]`). Each
thread has its own copy, and nothing that is loaded from there is known to be the same for all lanes. But if
all lanes that ever look store there together, the same at the same place, there is one content. It is kept
once for a warp, in a state space of its own, and a load at one place is one for all lanes, as one of a
parameter is.

That what is stored is the same for all lanes may follow from what was loaded there before. So it is taken to
be so, and holds if it then turns out to be so: each store leaves lanes alike that were so before.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy

from simt.analysis.access import ALIKE
from simt.analysis.clock import has_clock
from simt.analysis.copies import copied
from simt.analysis.pending import Pending, members
from simt.analysis.program import Block, Call, Function, Op, Program
from simt.analysis.shape import VARYING
from simt.analysis.ssa import Ssa
from simt.analysis.uniformity import Uniformity
from simt.analysis.weaving import OTHERWISE, Words

LOCAL = "local"


def with_alike_frame(program: Program, kernel: Function) -> Function | None:
    """The kernel with its local memory taken to be the same in all lanes; None if it has none, or gets at it
    in other ways than by plain loads and stores."""
    if not kernel.local_size or has_clock(kernel.name, program):
        return None
    words, stores = Words(program), False
    for block in kernel.blocks:
        for op in block.ops:
            if isinstance(op, Call):
                return None
            sizes = words.of(op)
            if sizes and (OTHERWISE in sizes or not _moves(op, LOCAL)):
                return None
            stores |= bool(sizes) and not op.destinations
    return _rewritten(kernel) if stores else None


def _moves(op: Op, space: str) -> bool:
    """Whether an op loads from a state space or stores there."""
    return op.form.moves_memory and op.binding.get("space") == space


def _rewritten(kernel: Function) -> Function:
    made = copied(kernel)
    for block in made.blocks:
        block.ops = [_renamed(op) if isinstance(op, Op) and _moves(op, LOCAL) else op for op in block.ops]
    return made


def _renamed(op: Op) -> Op:
    made = copy(op)
    made.binding, made.kind = {**op.binding, "space": ALIKE}, None
    return made


def holds(kernel: Function, ssa: Ssa, uniformity: Uniformity, pending: Pending) -> bool:
    """Whether all lanes that look store the same together, as was taken to be so."""
    looking = _looking(kernel)
    for block in ssa.schedule.order:
        for op in block.ops:
            if not isinstance(op, Op) or not _moves(op, ALIKE) or op.destinations:
                continue
            read = ssa.read[id(op)].values()
            if not all(uniformity.shapes.get(one, VARYING).is_uniform for one in read):
                return False
            if not _are_all_here(block, ssa, pending, looking):
                return False
    return True


def _are_all_here(block: Block, ssa: Ssa, pending: Pending, looking: set[int]) -> bool:
    """Whether no lane waits elsewhere, while a block runs, that will look."""
    slots = ssa.schedule.slots
    for place in members(pending.at.get(block.index, 0)):
        slot = slots[place] if place < len(slots) else None
        if not isinstance(slot, Block) or slot.index in looking:
            return False
    return True


def _looking(kernel: Function) -> set[int]:
    """Indices of the blocks from which lanes may come to a load or store."""
    before: dict[int, list[Block]] = {}
    for block in kernel.blocks:
        for after in block.successors():
            before.setdefault(after.index, []).append(block)
    due = [block for block in kernel.blocks if any(_ops(block))]
    found = {block.index for block in due}
    while due:
        for block in before.get(due.pop().index, ()):
            if block.index not in found:
                found.add(block.index)
                due.append(block)
    return found


def _ops(block: Block) -> Iterator[Op]:
    return (op for op in block.ops if isinstance(op, Op) and _moves(op, ALIKE))
