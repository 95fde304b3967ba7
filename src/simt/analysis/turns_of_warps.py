"""Loops whose turns warps take together (`simt.analysis.taking_turns`), in kernels whose threads speak with
those of their warp.

`for (i = thread; i < n; i += threads) sum += a[i] * b[i];`, and then sums by shuffles. A lane that has left
the loop must wait there for the others of its warp, so none of these may make way. So what comes up to the
end of such loops stands twice: a warp is in the first copy while all of its lanes go the same way, which is
asked where they may part, and there it makes way after each turn. Once they part it goes on in the code as it
was, in which no warp makes way.
"""

from __future__ import annotations

from simt.analysis.copies import copied
from simt.analysis.lower_forms import ALL, NONE, simple
from simt.analysis.lower_simplify import retarget, simplify
from simt.analysis.pending import Pending
from simt.analysis.program import Barrier, Block, Branch, Constant, Function, Op, Register
from simt.analysis.schedule import Loop
from simt.analysis.taking_turns import Found
from simt.isa.form import Form
from simt.ptx.types import PRED, U32
from simt.records import replace


def speaks(kernel: Function) -> bool:
    """Whether its threads ask anything of those of their warp; questions of our own only decide between
    copies of a loop."""
    asks = (op.form for op in kernel.ops() if isinstance(op, Op) and "warp" in op.form.effects)
    return any(form is not ALL and form is not NONE for form in asks)


def are_whole(pending: Pending) -> bool:
    """Whether there are barriers, and to each of them a warp comes with all its lanes."""
    return bool(pending.barriers) and not any(pending.at[b.index] for b in pending.barriers)


def turns_of_warps(kernel: Function, found: Found, loops: list[Loop]) -> Function:
    """The kernel with all that leads to the loops, and these, twice. As it is if lanes may part within a
    loop: those that go on in the code as it was would come into the middle of its loop."""
    made = copied(kernel)
    made.registers = [*kernel.registers]
    writer = _Writer(made, found, loops)
    if any(_parts_within_loop(found, old.index) for old in writer.copies):
        return kernel
    writer.write()
    simplify(made)
    return made


def _parts_within_loop(found: Found, index: int) -> bool:
    """Whether lanes part at the end of a block, and some of them go on in the outermost loop around it."""
    schedule = found.ssa.schedule
    loop = schedule.loop_of[index]
    if loop is None or index not in found.uniformity.divergent:
        return False
    while loop.parent is not None:
        loop = loop.parent
    inside = schedule.order[loop.first : loop.last + 1]
    block = next(b for b in inside if b.index == index)
    return any(s in inside and s is not loop.header for s in block.successors())


class _Writer:
    """Writes the first copy. `copies`: its blocks, by the block as it was. `turns`: where turns end, by the
    loop's header. `inside`: the header of the loop in which a block is."""

    def __init__(self, made: Function, found: Found, loops: list[Loop]) -> None:
        self.made, self.found = made, found
        blocks = {b.index: b for b in made.blocks}
        self.headers = [blocks[loop.header.index] for loop in loops]
        self.copies = {b: Block(0, [replace(op) for op in b.ops]) for b in self._leading()}
        self.turns = dict[Block, Block]()
        self.inside = dict[Block, Block]()
        for loop, header in zip(loops, self.headers):
            self.turns[header] = Block(0, [], Barrier("sync", Constant(U32, 0), None, self.copies[header]))
            members = found.ssa.schedule.order[loop.first : loop.last + 1]
            self.inside |= {blocks[b.index]: header for b in members}

    def write(self) -> None:
        added = [*self.copies.values(), *self.turns.values()]
        for old, new in self.copies.items():
            targets = {t: self._instead(old, t) for t in old.successors()}
            if old.index not in self.found.uniformity.divergent:
                new.terminator = retarget(old.terminator, targets)
            elif isinstance(old.terminator, Branch):
                added += self._ask(new, old.terminator, targets)
            else:
                new.terminator = old.terminator
        self.made.blocks[:0] = added  # the first block leads to all others
        for index, block in enumerate(self.made.blocks):
            block.index = index

    def _leading(self) -> list[Block]:
        """Blocks from which the loops can be reached, the first one before others."""
        found = {*self.headers}
        size = 0
        while size != len(found):
            size = len(found)
            found |= {b for b in self.made.blocks if not found.isdisjoint(b.successors())}
        return [b for b in self.made.blocks if b in found]

    def _instead(self, source: Block, target: Block) -> Block:
        """Where lanes that are together go in place of a block."""
        if self.inside.get(source) is target and target in self.turns:
            return self.turns[target]
        return self.copies.get(target, target)

    def _ask(self, block: Block, branch: Branch, targets: dict[Block, Block]) -> list[Block]:
        """Ends a block by a branch that lanes take together, if they all go one way."""
        ways = branch.taken, branch.otherwise
        holds, fails = reversed(ways) if branch.negated else ways
        apart = Block(0, [], branch)
        other = Block(0, [])
        self._test(block, ALL, branch, targets[holds], other)
        self._test(other, NONE, branch, targets[fails], apart)
        return [other, apart]

    def _test(self, block: Block, form: Form, branch: Branch, together: Block, apart: Block) -> None:
        told = Register(len(self.made.registers), f"whole{len(self.made.registers)}", PRED)
        self.made.registers.append(told)
        block.ops.append(simple(form, PRED, told, {"a": (branch.predicate, PRED)}, branch.line))
        block.terminator = Branch(told, False, together, apart, line=branch.line)
