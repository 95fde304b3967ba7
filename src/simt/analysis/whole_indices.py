"""Indices of which a loop counts a part, made whole.

For `for (i = first + thread; i < n; i += threads)` compilers may count `j = thread; j += threads`, and make
`first + j` in each turn, and once more behind the loop. Here the sum itself goes on by the step: it begins
before the loop with what the turn's sum would be, and what stood behind the loop is done in each turn, where
nothing reads it. Then the loop is one of those that may be rolled again (`simt.analysis.rolled_again`).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from simt.analysis.copies import copied, renamed
from simt.analysis.lower_forms import copy
from simt.analysis.program import Block, Branch, Function, Jump, Op, Register
from simt.analysis.schedule import schedule
from simt.analysis.ssa import Definition, Ssa, build, destinations, terminator_uses, uses
from simt.analysis.terms import Sum, TermAlgebra, Terms
from simt.imports import Later
from simt.isa.algebra import Environment
from simt.records import replace

if TYPE_CHECKING:
    from simt.analysis import same_turns
else:
    same_turns = Later("simt.analysis.same_turns")


def with_whole_indices(kernel: Function, environment: Environment) -> Function:
    """The kernel, with such loops changed; itself if there are none."""
    if sum(_is_loop(block) for block in kernel.blocks) < 2:
        return kernel
    made = copied(kernel)
    before = Counter(after for block in made.blocks for after in block.successors())
    taken = {block: behind for block in made.blocks if (behind := _take_in(block, before)) is not None}
    if not taken:
        return kernel
    gone, loops = {*taken.values()}, list(taken)
    made.blocks = [block for block in made.blocks if block not in gone]
    for index, block in enumerate(made.blocks):
        block.index = index
    made.registers = [*kernel.registers]
    ssa = build(made, schedule(made))
    found = [_Whole(made, ssa, environment, block).write() for block in loops if block in ssa.schedule.order]
    return made if any(found) else kernel


def _is_loop(block: Block) -> bool:
    """Whether a block is a loop that is left at its end."""
    ways = block.successors()
    return isinstance(block.terminator, Branch) and block in ways and len(ways) == 2


def _take_in(loop: Block, before: Counter[Block]) -> Block | None:
    """Takes what stands behind a loop into its turn, in which nothing reads it: the block that it was, None
    if there is none. `before`: how many blocks lead to each."""
    if not _is_loop(loop):
        return None
    behind = same_turns.other(loop, loop)
    ways = behind.successors()
    if len(ways) != 1 or len(ways[0].successors()) != 2 or before[behind] != 1:
        return None
    plain = all(isinstance(op, Op) and not op.form.effects and op.guard is None for op in behind.ops)
    if not (behind.ops and plain and isinstance(behind.terminator, Jump)):
        return None
    if not _read_first(loop).isdisjoint(r for op in behind.ops for r in destinations(op)):
        return None
    branch, after = loop.terminator, behind.terminator.target
    assert isinstance(branch, Branch)
    ways = tuple(loop if way is loop else after for way in (branch.taken, branch.otherwise))
    loop.ops += behind.ops
    loop.terminator = replace(branch, taken=ways[0], otherwise=ways[1])
    return behind


def _read_first(loop: Block) -> set[Register]:
    """What a turn reads, and what stands behind the loop before it writes it: if that writes none of this, it
    may do so in each turn."""
    read = {r for op in loop.ops for r in uses(op)} | {*terminator_uses(loop)}
    written = set[Register | None]()
    for op in same_turns.other(loop, loop).ops:
        read.update(r for r in uses(op) if r not in written)
        written.update(destinations(op))
    return read


class _Whole:
    """One loop's indices."""

    def __init__(self, function: Function, ssa: Ssa, environment: Environment, loop: Block) -> None:
        self.function, self.ssa, self.loop = function, ssa, loop
        self.before = [b for b in ssa.predecessors[loop.index] if b is not loop]
        self.algebra = TermAlgebra()
        self.terms = Terms(ssa, environment, self.algebra)
        self.phis = ssa.phis.get(loop.index, [])
        for phi in self.phis:
            self.terms.known[phi] = self.algebra.atom(phi.register.type.bits, "begins", phi)
        self.ops = [op for op in loop.ops if isinstance(op, Op)]
        for op in self.ops:
            if not op.form.effects and op.guard is None:
                self.terms.run(op)

    def write(self) -> bool:
        """Makes the indices whole; whether there are any."""
        if len(self.before) != 1 or len(self.ops) != len(self.loop.ops):
            return False
        done = [self._one(phi) for phi in self.phis if not phi.register.type.is_float]
        return any(done)

    def _one(self, counter: Definition) -> bool:
        after = counter.inputs[self.loop.index]
        step = after.origin
        if not isinstance(step, Op) or step not in self.ops or self._gone(after, counter) is None:
            return False
        if not all(d is counter or self._stays(d) for d in self.ssa.read[id(step)].values()):
            return False
        place = self.ops.index(step)
        first = next((op for op in self.ops[:place] if self._is_sum(op, counter)), None)
        if first is None:
            return False
        (made,) = self.ssa.of[id(first)]
        assert made is not None
        more = self._gone(made, counter)
        number = len(self.function.registers)
        whole = Register(number, f"whole{number}", made.register.type)
        self.function.registers.append(whole)
        self._replace(counter, after, step, whole, more)
        self.before[0].ops.append(replace(first, destinations=(whole,)))
        return True

    def _replace(
        self, counter: Definition, after: Definition, step: Op, whole: Register, more: Sum | None
    ) -> None:
        """Sums of the counter, before and after its step, as copies of the whole one."""
        now, ops = counter, list[Op]()
        for op in self.ops:
            if op is not step and self._is_sum(op, now) and self._gone(self._made(op), now) == more:
                (d,) = op.destinations
                assert d is not None
                op = copy(d, whole, whole.type, op.line)
            ops.append(op)
            if op is step:
                ops.append(replace(renamed(op, {counter.register: whole}), destinations=(whole,)))
                now = after
        self.loop.ops[:] = ops

    def _is_sum(self, op: Op, counter: Definition) -> bool:
        """Whether an op adds a register that stays as it is to a counter, and reads nothing else."""
        made = self.ssa.of[id(op)]
        if op.form.effects or op.guard is not None or len(made) != 1 or made[0] is None:
            return False
        read = [d for d in self.ssa.read[id(op)].values() if d is not counter]
        same = made[0].register.type.bits == counter.register.type.bits
        stay = len(read) == 1 and all(self._stays(d) for d in read)
        more = self._gone(made[0], counter) if same and stay and len(op.sources) > 1 else None
        return more is not None and bool(more.parts)

    def _made(self, op: Op) -> Definition:
        made = self.ssa.of[id(op)][0]
        assert made is not None
        return made

    def _stays(self, definition: Definition) -> bool:
        """Whether a register has the same from before the loop on."""
        written = {r for op in self.ops for r in destinations(op)}
        return definition.block is not self.loop and definition.register not in written

    def _gone(self, definition: Definition, counter: Definition) -> Sum | None:
        """By how much something is more than a counter, if that does not change in the loop."""
        if definition.register.type.bits != counter.register.type.bits:
            return None
        more = self.terms.of(definition).added(self.terms.of(counter), -1)
        return more if self.algebra.is_made_of(more, self._is_outside) else None

    def _is_outside(self, definition: Definition) -> bool:
        return definition.block is not self.loop
