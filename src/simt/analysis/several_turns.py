"""Loops of many turns at once, of which fewer are done at once.

`for (k = 0; k < n; k++)` with a variable `n`: LLVM 20 writes 16 turns in a row, 8 and 4, and a loop for those
that are left over (`simt.analysis.left_last`). Of all these accesses a kernel may become a large one, for
which there is poor code. Four turns at once, and a loop for what is left over, are a third of that. The four
stand in the first loop's turn, where its first ones are made; what they begin with is what a turn of the last
loop does.
"""

from __future__ import annotations

from simt.analysis.left_last import LeftLast
from simt.analysis.program import Constant, Op, Register
from simt.analysis.same_turns import Count, DifferentError, Several, Values, require
from simt.analysis.ssa import Definition
from simt.analysis.terms import Sum, acts
from simt.ptx.types import Type, unsigned
from simt.records import replace

AT_ONCE = 4
"""Turns that are done at once."""


class InFours(LeftLast):
    """`count` gives how such a loop counts, if it is one that all lanes begin with one number: with `several`
    turns at once. (Where lanes begin with numbers of their own, one turn at a time is better.)"""

    begins_alike = True

    def _count(self) -> Count:
        count = super()._count()
        if not self._is_uniform(count.begun):
            return count
        return self._counted_in_several(count)

    def _counted_in_several(self, count: Count) -> Count:
        require(self.divisor > AT_ONCE)
        self.reads = [*count.definitions]
        found = self._several(count)
        return replace(count, several=found, definitions=self.reads)

    def _several(self, count: Count) -> Several:
        main, single = self.pair.main, len(self.done) // self.divisor
        doing = [op for op in main.ops if isinstance(op, Op) and acts(op)]
        lines, one = self._lines(main), self._lines(self.pair.rest)
        require(len({*lines}) == len(lines))
        require(all(d in self.carried.values() for d in self._left_behind()))
        steps, left = self._state_after(count)
        needed, phis = self._needed_for(doing[: AT_ONCE * single], [d for _, d in left])
        same, own = dict[Definition, Register](), list[tuple[Definition, Definition, Register | Constant]]()
        for phi in phis:
            alike = self._alike(phi)
            if alike is None:
                own.append((phi, self._brought(phi), self._own_step(phi)))
            else:
                same[phi] = alike.register
        copies = {line: (one[n % single], n // single) for n, line in enumerate(lines) if single}
        return Several(AT_ONCE, needed, copies, same, own, steps, left)

    def _left_behind(self) -> list[Definition]:
        """What a turn of the last loop makes that is read behind it."""
        pair, rest = self.pair, self.pair.rest
        source = self.path[-1].index
        phis = [phi for b in pair.trail for phi in self.ssa.phis.get(b.index, ())]
        read = [d for phi in phis for b, d in phi.inputs.items() if b in {x.index for x in self.path}]
        read += [phi.inputs[source] for phi in self.ssa.phis.get(pair.after.index, ())]
        return [d for d in (*read, *self._read_in(pair.trail, {rest})) if d.block is rest]

    def _state_after(
        self, count: Count
    ) -> tuple[list[tuple[Register, Register | Constant]], list[tuple[Register, Definition]]]:
        """What a turn of the last loop begins with, some turns later: what goes on by so much in one, and
        what the first loop's turn makes."""
        steps, left = dict(count.steps), list[tuple[Register, Definition]]()
        before, after = self.begun_with[0], self.begun_with[AT_ONCE]
        if count.now is not None:
            steps[count.now] = count.step
        for definition, begun in before.items():
            step = self.grows[self.advancing[definition]] if definition in self.advancing else None
            step = self.steps.get(definition, step)
            if step is not None:
                require(after[definition] == begun.added(step, AT_ONCE))
                steps[definition.register] = self._noted(_type(definition), step)
            elif after[definition] != begun:
                left.append((definition.register, self._made(definition, after[definition])))
        return [*steps.items()], left

    def _made(self, definition: Definition, value: Sum) -> Definition:
        """What has a value in the first loop's turn."""
        t, main = definition.register.type, self.pair.main
        for op in main.ops:
            for made in self.ssa.of[id(op)]:
                if made is not None and made.register.type == t and self.ran.of(made) == value:
                    return made
        raise DifferentError

    def _alike(self, phi: Definition) -> Definition | None:
        """What a turn of the last loop begins with that is always the same as what one of the first does."""
        known: Values = self.begun_with[0]
        alike = (d for d in known if d.register.type == phi.register.type and known[d] == self.state[phi])
        return next(alike, None)

    def _own_step(self, phi: Definition) -> Register | Constant:
        require(phi in self.gains)
        self.reads.append(self._brought(phi))
        return self._noted(_type(phi), self._single(self.gains[phi], self.divisor))

    def _noted(self, t: Type, step: Sum) -> Register | Constant:
        found, definition = self._standing(t, step)
        self.reads += [] if definition is None else [definition]
        return found

    def _needed_for(self, doing: list[Op], made: list[Definition]) -> tuple[list[Op], list[Definition]]:
        """The ops of the first loop's turn that some need, these among them, and the phis."""
        main, work, found = self.pair.main, [*made], set[Definition]()
        work += [d for op in doing for d in self.ssa.read[id(op)].values()]
        while work:
            definition = work.pop()
            if definition in found:
                continue
            found.add(definition)
            if definition.block is not main:
                self.reads.append(definition)
            elif not definition.is_phi:
                work += self.ssa.read[id(definition.origin)].values()
        ops = [op for op in main.ops if isinstance(op, Op) and not found.isdisjoint(self.ssa.of[id(op)])]
        first, kept = {id(op) for op in doing}, {id(op) for op in ops}
        require(all(id(op) in first or not acts(op) for op in ops))
        phis = [phi for phi in self.ssa.phis.get(main.index, ()) if phi in found]
        return [op for op in main.ops if isinstance(op, Op) and id(op) in first | kept], phis


class Lists(InFours):
    """The same where lanes have limits of their own, as those that go through lists have, whatever they begin
    with. (What is left over of 16 turns, in rows of 8 and 4, is code for all lanes of a warp, which get at
    memory one by one. Through loops they go alone: `simt.engine.llvm_alone`.)"""

    ends_apart = True

    def _count(self) -> Count:
        return replace(self._counted_in_several(LeftLast._count(self)), ends_apart=True)


def _type(definition: Definition) -> Type:
    return unsigned(definition.register.type.bits)
