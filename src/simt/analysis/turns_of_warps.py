"""Loops whose turns warps take together (`simt.analysis.taking_turns`), in kernels whose threads speak with
those of their warp.

`for (i = thread; i < n; i += threads) sum += a[i] * b[i];`, and then sums by shuffles. A lane that has left
the loop must wait there for the others of its warp, so none of these may make way. So the loop stands a
second time, before itself: a warp is in there while all of its lanes have another turn, and makes way after
each. What is left then is done by the loop as it was, in which no warp makes way.
"""

from __future__ import annotations

from collections.abc import Mapping

from simt.analysis.lower_forms import ALL, NONE, simple
from simt.analysis.pending import Pending
from simt.analysis.program import Barrier, Block, Branch, Constant, Function, Jump, Op, Register
from simt.analysis.schedule import Loop
from simt.analysis.taking_turns import Found
from simt.analysis.unrolling import copied
from simt.ptx.types import PRED, U32
from simt.records import replace


def speaks(kernel: Function) -> bool:
    """Whether its threads ask anything of those of their warp."""
    return any(isinstance(op, Op) and "warp" in op.form.effects for op in kernel.ops())


def are_whole(pending: Pending) -> bool:
    """Whether there are barriers, and to each of them a warp comes with all its lanes."""
    return bool(pending.barriers) and not any(pending.at[b.index] for b in pending.barriers)


def turns_of_warps(kernel: Function, found: Found, loops: list[Loop]) -> Function:
    """The kernel with those of the loops twice that are one block."""
    made = copied(kernel)
    made.registers = [*kernel.registers]
    blocks = {b.index: b for b in made.blocks}
    for loop in loops:
        if loop.first == loop.last:
            _Writer(made, found, blocks, loop).write()
    for index, block in enumerate(made.blocks):
        block.index = index
    return made


class _Writer:
    """Writes one loop a second time. `header`: its only block."""

    def __init__(self, made: Function, found: Found, blocks: Mapping[int, Block], loop: Loop) -> None:
        self.made, self.blocks, self.loop = made, blocks, loop
        self.schedule, self.predecessors = found.ssa.schedule, found.ssa.predecessors
        self.header = blocks[loop.header.index]

    def write(self) -> None:
        """Leaves the loop alone if more than one block leads to it."""
        before = self._before(self.header)
        if before is None or not isinstance(self.header.terminator, Branch):
            return
        guard = self._before(before)
        if isinstance(before.terminator, Branch):
            self._enter(before, self.header, self._copy())
        elif guard is not None and isinstance(guard.terminator, Branch):
            into = Block(0, [replace(op) for op in before.ops], Jump(self._copy()))
            self._add(into)
            self._enter(guard, before, into)
        else:
            before.terminator = Jump(self._copy())

    def _before(self, block: Block) -> Block | None:
        """The one block that leads to another from outside the loop, if it is in no other loop than that and
        still leads there."""
        found = [b for b in self.predecessors[block.index] if b is not self.loop.header]
        if len(found) != 1 or self.schedule.loop_of[found[0].index] is not self.loop.parent:
            return None
        before = self.blocks[found[0].index]
        return before if block in before.successors() else None

    def _enter(self, before: Block, target: Block, instead: Block) -> None:
        """From a block's end all lanes together go to `instead`, if all would go to `target`."""
        apart = Block(0, [], before.terminator)
        self._add(apart)
        self._part(before, target, instead, apart)

    def _copy(self) -> Block:
        apart = Block(0, [], self.header.terminator)
        copy = Block(0, [replace(op) for op in self.header.ops], self.header.terminator)
        turn = Block(0, [], Barrier("sync", Constant(U32, 0), None, copy))
        self._part(copy, self.header, turn, apart)
        for block in (copy, turn, apart):
            self._add(block)
        return copy

    def _part(self, block: Block, target: Block, together: Block, apart: Block) -> None:
        """Ends a block by the question whether all lanes go to a target of its branch."""
        branch = block.terminator
        assert isinstance(branch, Branch)
        all_ = Register(len(self.made.registers), f"whole{len(self.made.registers)}", PRED)
        self.made.registers.append(all_)
        form = ALL if (branch.taken is target) != branch.negated else NONE
        block.ops.append(simple(form, PRED, all_, {"a": (branch.predicate, PRED)}, branch.line))
        block.terminator = Branch(all_, False, together, apart, line=branch.line)

    def _add(self, block: Block) -> None:
        self.made.blocks.append(block)
