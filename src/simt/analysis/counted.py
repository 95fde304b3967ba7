"""Ways out of loops that are taken whatever other threads do, though memory that these change decides.

`for (i = first; i < *count; i += step)`: a counter comes to what is read. `while (atomicAdd(next, 1) < n)`:
what is read grows by the loop itself, as each turn takes a ticket. Others may change when such a loop ends,
but it need not wait for them to.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from simt.analysis.evaluate import Evaluator
from simt.analysis.program import Block, Branch, FunctionAddress, Op, Register, SymbolAddress
from simt.analysis.range_algebra import UNKNOWN, Range, RangeAlgebra, constant, signed_bounds
from simt.analysis.schedule import Loop
from simt.analysis.shape import UNIFORM, VARYING, BlockShape, Shape
from simt.analysis.shape_algebra import ShapeAlgebra
from simt.analysis.ssa import Definition, Ssa
from simt.analysis.turns import COUNTER, Turns, shapes_of
from simt.isa.algebra import Comparison, Environment
from simt.ptx.types import Type

SIZES = ("ntid", "nctaid")
"""Special registers that are never zero."""
LARGEST = 1 << 10
"""What they are taken to be at most, so that products of some of them do not wrap."""
STAYS = frozenset({("lt", 1, 0), ("le", 1, 0), ("gt", 0, 1), ("ge", 0, 1)})
LEAVES = frozenset({("ge", 1, 0), ("gt", 1, 0), ("le", 0, 1), ("lt", 0, 1)})
"""Comparisons of what grows (1) and what does not (0) that hold while it is below, and from there on."""
DEPTH = 4
"""Ops behind each other that are looked through for what a counter grows by."""


class CountedEnds:
    """Tells which ways out of a function's loops are such."""

    def __init__(self, ssa: Ssa, environment: Environment) -> None:
        self.ssa = ssa
        self.environment = environment
        self.turns = Turns(ssa, environment)

    def is_counted(self, loop: Loop, block: Block, observed: Collection[Definition]) -> bool:
        """Whether the branch by which a loop goes round, in that block alone, stays while a counter is below
        one of some definitions, or what is left of one that an earlier turn has made."""
        branch, schedule = block.terminator, self.ssa.schedule
        inside = schedule.order[loop.first : loop.last + 1]
        if [b for b in inside if loop.header in b.successors()] != [block] or not isinstance(branch, Branch):
            return False
        predicate = self.ssa.read[id(branch)][branch.predicate]
        op, stays = predicate.origin, (branch.taken is loop.header) != branch.negated
        if not isinstance(op, Op) or predicate.place or op.guard is not None or op.form.effects:
            return False
        read = set(self.ssa.read[id(op)].values())
        counters = [d for d in read if self._counts_up(d, loop, block)]
        if len(op.sources) != 2 or len(read) != 2 or len(counters) != 1:
            return False
        (limit,) = read.difference(counters)
        if not self._is_kept(limit, loop, observed):
            return False
        return self._compared(op, {counters[0]: COUNTER}) in (STAYS if stays else LEAVES)

    def _is_kept(self, definition: Definition, loop: Loop, observed: Collection[Definition]) -> bool:
        """Whether it is one of some definitions, maybe of an earlier turn, or what the loop began with."""
        left, seen = [definition], set[Definition]()
        while left:
            one = left.pop()
            inside = loop.first <= self.ssa.schedule.position[one.block.index] <= loop.last
            if one in seen or one in observed or not inside:
                seen.add(one)
            elif one.is_phi:
                seen.add(one)
                left += one.inputs.values()
            else:
                return False
        return not seen.isdisjoint(observed)

    def _compared(self, op: Op, known: Mapping[Definition, Shape]) -> tuple[Comparison, int, int] | None:
        """How an op compares a counter with something else."""
        algebra = _Compared()
        reader = shapes_of(self.ssa.read[id(op)], known)
        Evaluator[Shape](algebra, reader, self.environment).op(op)
        return algebra.found

    def is_ticket(self, definition: Definition) -> bool:
        """Whether it is what an atomic operation found that adds something positive."""
        op = definition.origin
        if not isinstance(op, Op) or op.guard is not None:
            return False
        taken, reader = _Taken(), _Grown(self, None)
        reader.read, reader.left = self.ssa.read[id(op)], DEPTH
        Evaluator[Range](taken, reader, self.environment).op(op)
        return taken.found

    def is_by_tickets(self, loop: Loop, block: Block, tickets: Collection[Definition]) -> bool:
        """Whether the branch by which a loop is left stays while a ticket is below something else. `tickets`:
        what may be one."""
        branch, position = block.terminator, self.ssa.schedule.position
        if not isinstance(branch, Branch):
            return False
        predicate = self.ssa.read[id(branch)][branch.predicate]
        op = predicate.origin
        if not isinstance(op, Op) or predicate.place or op.guard is not None or op.form.effects:
            return False
        read = self.ssa.read[id(op)].values()
        shapes = {d: self._as_ticket(d, loop, tickets, DEPTH) for d in read}
        stays = (loop.first <= position[branch.taken.index] <= loop.last) != branch.negated
        return len(op.sources) == 2 and self._compared(op, shapes) in (STAYS if stays else LEAVES)

    def _as_ticket(
        self, definition: Definition, loop: Loop, tickets: Collection[Definition], left: int
    ) -> Shape:
        """`COUNTER` for a ticket, which one lane may have taken for others."""
        position, op = self.ssa.schedule.position[definition.block.index], definition.origin
        if definition in tickets:
            return COUNTER
        if not loop.first <= position <= loop.last:
            return UNIFORM
        if definition.is_phi and definition.block is not loop.header and left:
            found = [self._as_ticket(d, loop, tickets, left - 1) for d in definition.inputs.values()]
            is_ticket = COUNTER in found and all(s == COUNTER or s.const is not None for s in found)
            return COUNTER if is_ticket else VARYING
        if not isinstance(op, Op) or op.guard is not None or "memory" in op.form.effects or not left:
            return VARYING
        read = self.ssa.read[id(op)]
        shapes = {d: self._as_ticket(d, loop, tickets, left - 1) for d in read.values()}
        return Evaluator[Shape](_Compared(), shapes_of(read, shapes), self.environment).op(op)[
            definition.place
        ]

    def _counts_up(self, value: Definition, loop: Loop, latch: Block) -> bool:
        """Whether a value is what a turn leaves for a counter, or begins with."""
        for phi in self.ssa.phis.get(loop.header.index, ()):
            after = phi.inputs[latch.index]
            if value in (phi, after) and self.turns.growth(phi, loop)[0]:
                grown = _Grown(self, phi).of(after, DEPTH)
                return signed_bounds(after.register.type, grown)[0] > 0
        return False


class _Grown:
    """What definitions can be in a turn of a loop that a counter (`phi`) begins with 0."""

    def __init__(self, ends: CountedEnds, phi: Definition | None) -> None:
        self.ends, self.phi = ends, phi
        self.read: dict[Register, Definition] = {}
        self.left = DEPTH

    def of(self, definition: Definition, left: int) -> Range:
        op = definition.origin
        if definition is self.phi:
            return constant(0)
        if not isinstance(op, Op) or op.guard is not None or op.form.effects or not left:
            return UNKNOWN
        inner = _Grown(self.ends, self.phi)
        inner.read, inner.left = self.ends.ssa.read[id(op)], left - 1
        return Evaluator[Range](_Sizes(), inner, self.ends.environment).op(op)[definition.place]

    def register(self, register: Register) -> Range:
        return self.of(self.read[register], self.left)

    def symbol(self, symbol: SymbolAddress) -> Range:
        return UNKNOWN

    def function(self, function: FunctionAddress) -> Range:
        return UNKNOWN


class _Sizes(RangeAlgebra):
    """Of which nothing is known but that there are CTAs and threads in them."""

    def __init__(self) -> None:
        super().__init__(BlockShape(1, 1, 1))

    def special(self, name: str, component: str) -> Range:
        return Range(1, LARGEST) if name in SIZES else UNKNOWN


class _Taken(_Sizes):
    """Notes whether an op adds something positive to memory."""

    found = False

    def atomic(self, op: str, t: Type, space: str, address: Range, b: Range, c: Range | None) -> Range:
        self.found = op == "add" and not t.is_float and signed_bounds(t, b)[0] > 0
        return UNKNOWN


class _Compared(ShapeAlgebra):
    """Notes the comparison of integers that an op makes, with by how much its sides grow. What a lane gives
    others grows as its own."""

    found: tuple[Comparison, int, int] | None = None

    def __init__(self) -> None:
        super().__init__(BlockShape(1, 1, 1), uniform_loads=False)

    def compare(self, op: Comparison, t: Type, a: Shape, b: Shape) -> Shape:
        known = not t.is_float and max(a.width, b.width) == 1
        self.found = (op, a.stride, b.stride) if known else None
        return super().compare(op, t, a, b)

    def shuffle(self, t: Type, a: Shape, lane: Shape) -> Shape:
        return a
