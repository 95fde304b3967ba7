"""Loops in which each thread goes through memory of its own, and which lanes may leave in different turns.

`for (i = first; i < min(first + length, n); i++) sum += a[i]`: nothing says that the lanes of a warp take the
same number of turns, though nearly all do. The loop stands a second time in the code, before itself, with
another way out: all lanes leave it together as soon as one of them leaves, and those that are to go on do so
in the loop as it was. So the lanes of the first one stay together, which is worth much where they load
(`simt.engine.llvm_stretches`). It is passed by where some lane has but a few turns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

from simt.analysis.copies import copied, lead
from simt.analysis.lower_forms import ALL, FAR, NONE, simple
from simt.analysis.lower_simplify import retarget
from simt.analysis.program import Block, Branch, Constant, Function, Op, Register, Source, memory_operands
from simt.analysis.ranges import Ranges
from simt.analysis.rolled_lines import is_seldom
from simt.analysis.schedule import Loop
from simt.analysis.shape import WARP, Shape
from simt.analysis.ssa import Definition, Ssa
from simt.analysis.stretches import OWN, STRETCH, Walk, counts_few, walks
from simt.analysis.turns import Turns
from simt.analysis.uniformity import Uniformity
from simt.ptx.types import PRED, Type, unsigned
from simt.records import dataclass, replace

LONGEST = 60
"""Ops of a loop above which it does not stand twice."""


@dataclass(frozen=True, slots=True)
class Limit:
    """What a loop's end depends on: a counter, by how much it is more in the next turn, and what it is
    compared with."""

    counter: Register
    limit: Source
    type: Type
    step: int


@dataclass(frozen=True, slots=True)
class Together:
    """A loop whose lanes can be kept together: where it ends, and by what. `turns`: worth it."""

    loop: Loop
    end: Block
    limits: tuple[Limit, ...]
    turns: int


def loops_together(
    ssa: Ssa, turns: Turns, ranges: Callable[[], Ranges], uniformity: Uniformity, alike: Mapping[int, int]
) -> list[Together]:
    """Such loops of a function. `alike`: by blocks, one that the same lanes run."""
    schedule, result = ssa.schedule, list[Together]()
    parents = {id(loop.parent) for loop in schedule.loops}
    for loop in schedule.loops:
        seldom = is_seldom(schedule.order[loop.first : loop.last + 1])
        if loop.header.index in uniformity.leaving and id(loop) not in parents and not seldom:
            found = _Finder(ssa, turns, uniformity.shapes, loop).find(alike)
            if found is not None and not counts_few(ssa, loop, turns, ranges()):
                result.append(found)
    return result


class _Finder:
    def __init__(self, ssa: Ssa, turns: Turns, shapes: Mapping[Definition, Shape], loop: Loop) -> None:
        self.ssa = ssa
        self.turns = turns
        self.shapes = shapes
        self.loop = loop
        self.blocks = ssa.schedule.order[loop.first : loop.last + 1]
        self.inside = {b.index for b in self.blocks}

    def find(self, alike: Mapping[int, int]) -> Together | None:
        end = self._end()
        if end is None or alike[end.index] != alike[self.loop.header.index] or self._length > LONGEST:
            return None
        found = [walk for walk in walks(self.ssa, self.loop, self.turns) if self._is_apart(walk.address)]
        if not found or self._are_vectors or self._looks_up(found):
            return None
        limits = self._limits(self._predicate(end))
        if not limits:
            return None
        step = max(self.turns.step(walk.address, self.loop) or 0 for walk in found)
        return Together(self.loop, end, tuple(limits), -(-STRETCH // step))

    @property
    def _length(self) -> int:
        return sum(len(b.ops) for b in self.blocks)

    def _is_apart(self, address: Definition) -> bool:
        return self.shapes[address].width == WARP

    @cached_property
    def _carried(self) -> set[Definition]:
        """What is made of what a turn gives to the next one, but for counters."""
        phis = self.ssa.phis.get(self.loop.header.index, ())
        found = {phi for phi in phis if self.turns.growth(phi, self.loop)[1] is None}
        ops = [op for block in self.blocks for op in block.ops if isinstance(op, Op)]
        inner = [phi for b in self.blocks[1:] for phi in self.ssa.phis.get(b.index, ())]
        before = -1
        while len(found) > before:
            before = len(found)
            found |= {phi for phi in inner if not found.isdisjoint(phi.inputs.values())}
            for op in ops:
                if not found.isdisjoint(self.ssa.read[id(op)].values()):
                    found |= {d for d in self.ssa.of[id(op)] if d is not None}
        return found

    def _looks_up(self, found: list[Walk]) -> bool:
        """Whether lanes load something elsewhere that does not depend on the turns before: a lane alone does
        that as fast."""
        known = {op for walk in found for op in walk.offsets}
        ops = [op for b in self.blocks for op in b.ops if isinstance(op, Op) and id(op) not in known]
        ops = [op for op in ops if op.binding.get("space") not in OWN]
        read = (self.ssa.read[id(op)][register] for op in ops for register, _ in memory_operands(op))
        return any(self._is_apart(address) and address not in self._carried for address in read)

    @property
    def _are_vectors(self) -> bool:
        """Whether turns give nothing to the next ones but sums of integers: then LLVM makes vectors of the
        turns of a lane alone (`simt.engine.llvm_alone_free`)."""
        if any(op.binding.get("space") in OWN for b in self.blocks for op in b.ops if isinstance(op, Op)):
            return False
        phis = [phi for phi in self.ssa.phis.get(self.loop.header.index, ()) if phi in self._carried]
        ways = [{t.index for t in b.successors()} & self.inside for b in self.blocks]
        return all(len(way) == 1 for way in ways) and all(map(self._is_sum, phis))

    def _is_sum(self, phi: Definition) -> bool:
        (value,) = (v for b, v in phi.inputs.items() if b in self.inside)
        while value is not phi:
            op = value.origin
            if not isinstance(op, Op):
                return False
            carried = [d for d in self.ssa.read[id(op)].values() if d in self._carried]
            if len(carried) != 1 or not self.turns.adds_to(carried[0], op):
                return False
            (value,) = carried
        return True

    def _end(self) -> Block | None:
        """The one block from which lanes leave the loop, if they go back from there, or leave."""
        ends = [b for b in self.blocks if any(t.index not in self.inside for t in b.successors())]
        if len(ends) != 1 or not isinstance(ends[0].terminator, Branch):
            return None
        return ends[0] if self.loop.header in ends[0].successors() else None

    def _predicate(self, end: Block) -> Definition:
        current = self.ssa.reaching(end)
        for op in end.ops:
            current.update({d.register: d for d in self.ssa.of[id(op)] if d is not None})
        assert isinstance(end.terminator, Branch)
        return self.ssa.lookup(current, end.terminator.predicate)

    # -- by what it ends ---------------------------------------------------------------------------------

    def _limits(self, predicate: Definition) -> list[Limit] | None:
        """What a predicate depends on; None if that are not just counters."""
        op = predicate.origin
        if (
            not isinstance(op, Op)
            or op.form.effects
            or op.guard is not None
            or not self._is_inside(predicate)
        ):
            return None
        found, sides = list[Limit](), list[tuple[Source, Type]]()
        for name, source in op.sources.items():
            if not isinstance(source, Register | Constant):
                return None
            if op.source_types[name] != PRED:
                sides.append((source, op.source_types[name]))
            elif isinstance(source, Register):
                more = self._limits(self.ssa.read[id(op)][source])
                if more is None:
                    return None
                found += more
        limit = self._limit(op, sides) if sides else None
        return None if sides and limit is None else [*found, *([limit] if limit else [])]

    def _limit(self, op: Op, sides: list[tuple[Source, Type]]) -> Limit | None:
        if len(sides) != 2 or any(t.is_float or t.bits not in (32, 64) for _, t in sides):
            return None
        steps = [self._step(op, source) for source, _ in sides]
        if None in steps or steps.count(0) != 1:
            return None
        moving = 1 - steps.index(0)
        (register, t), (limit, _) = sides[moving], sides[1 - moving]
        assert isinstance(register, Register)
        counter = self._counter(self.ssa.read[id(op)][register])
        return None if counter is None else Limit(counter, limit, unsigned(t.bits), steps[moving] or 0)

    def _step(self, op: Op, source: Source) -> int | None:
        if not isinstance(source, Register):
            return 0
        return self.turns.step(self.ssa.read[id(op)][source], self.loop)

    def _counter(self, definition: Definition) -> Register | None:
        """The register of the header's phi from which something goes on."""
        while not definition.is_phi:
            op = definition.origin
            if not isinstance(op, Op):
                return None
            moving = [d for d in self.ssa.read[id(op)].values() if self.turns.step(d, self.loop)]
            if len(moving) != 1:
                return None
            (definition,) = moving
        return definition.register if definition.block is self.loop.header else None

    def _is_inside(self, definition: Definition) -> bool:
        return definition.block.index in self.inside


def put_together(kernel: Function, ssa: Ssa, found: list[Together]) -> Function:
    """The kernel with such loops standing twice."""
    made = copied(kernel)
    made.registers = [*kernel.registers]
    blocks = {b.index: b for b in made.blocks}
    for together in found:
        _Writer(made, blocks, ssa, together).write()
    for index, block in enumerate(made.blocks):
        block.index = index
    return made


class _Writer:
    def __init__(self, made: Function, blocks: Mapping[int, Block], ssa: Ssa, together: Together) -> None:
        loop = together.loop
        self.made, self.together = made, together
        self.members = [blocks[b.index] for b in ssa.schedule.order[loop.first : loop.last + 1]]
        self.header, self.end = blocks[loop.header.index], blocks[together.end.index]
        self.line = self.end.terminator.line

    def write(self) -> None:
        others = [b for b in self.made.blocks if b not in set(self.members)]
        copies = {b: Block(0, [replace(op) for op in b.ops], b.terminator) for b in self.members}
        for old, new in copies.items():
            if old is not self.end:
                new.terminator = retarget(old.terminator, {t: copies.get(t, t) for t in old.successors()})
        apart = self._apart(copies)
        first = self._tests(copies[self.header])
        for block in others:
            lead(block, block.successors(), {self.header: first[0]})
        begin = [first[0]] if self.made.blocks[0] is self.header else []
        at = self.made.blocks.index(self.members[0])
        self.made.blocks[at:at] = [*first, *copies.values(), apart]
        if begin:
            self.made.blocks.remove(first[0])
            self.made.blocks.insert(0, first[0])

    def _apart(self, copies: Mapping[Block, Block]) -> Block:
        """Ends the copy of the loop; where lanes go then each their way."""
        branch, header, end = self.end.terminator, copies[self.header], copies[self.end]
        assert isinstance(branch, Branch)
        apart = Block(0, [], replace(branch))
        stays = (branch.taken is self.header) != branch.negated
        all_ = self._predicate()
        end.ops.append(simple(ALL if stays else NONE, PRED, all_, {"a": (branch.predicate, PRED)}, self.line))
        end.terminator = Branch(all_, False, header, apart, line=self.line)
        return apart

    def _tests(self, header: Block) -> list[Block]:
        """Blocks that lead to the copy where all lanes have enough turns."""
        found, target = list[Block](), header
        for limit in reversed(self.together.limits):
            far, all_ = self._predicate(), self._predicate()
            a, b = (limit.counter, limit.limit) if limit.step > 0 else (limit.limit, limit.counter)
            least = Constant(limit.type, abs(limit.step) * self.together.turns)
            sources = {name: (source, limit.type) for name, source in (("a", a), ("b", b), ("c", least))}
            test = simple(FAR, limit.type, far, sources, self.line)
            test.result_types = (PRED,)
            ops = [test, simple(ALL, PRED, all_, {"a": (far, PRED)}, self.line)]
            found.insert(0, Block(0, [*ops], Branch(all_, False, target, self.header, line=self.line)))
            target = found[0]
        return found

    def _predicate(self) -> Register:
        register = Register(len(self.made.registers), f"together{len(self.made.registers)}", PRED)
        self.made.registers.append(register)
        return register
