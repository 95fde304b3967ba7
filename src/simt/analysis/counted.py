"""Ways out of loops that are taken whatever other threads do: a counter comes to what is read from memory.

`for (i = first; i < *count; i += step)`: other threads may change where it ends, but it need not wait for
them to. So it is no loop that waits, though its end depends on memory that others change.
"""

from __future__ import annotations

from collections.abc import Collection

from simt.analysis.evaluate import Evaluator
from simt.analysis.program import Block, Branch, FunctionAddress, Op, Register, SymbolAddress
from simt.analysis.range_algebra import UNKNOWN, Range, RangeAlgebra, constant, signed_bounds
from simt.analysis.schedule import Loop
from simt.analysis.shape import BlockShape, Shape
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
        one of some definitions."""
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
        if len(op.sources) != 2 or len(read) != 2 or len(counters) != 1 or not read.intersection(observed):
            return False
        return self._compared(op, counters[0]) in (STAYS if stays else LEAVES)

    def _compared(self, op: Op, counter: Definition) -> tuple[Comparison, int, int] | None:
        """How an op compares a counter with something else."""
        algebra = _Compared()
        reader = shapes_of(self.ssa.read[id(op)], {counter: COUNTER})
        Evaluator[Shape](algebra, reader, self.environment).op(op)
        return algebra.found

    def _counts_up(self, value: Definition, loop: Loop, latch: Block) -> bool:
        """Whether a value is what a turn leaves for a counter, or begins with."""
        for phi in self.ssa.phis.get(loop.header.index, ()):
            after = phi.inputs[latch.index]
            if value in (phi, after) and self.turns.growth(phi, loop)[0]:
                grown = _Grown(self, phi, loop).of(after, DEPTH)
                return signed_bounds(after.register.type, grown)[0] > 0
        return False


class _Grown:
    """What definitions of a loop can be in a turn that a counter begins with 0."""

    def __init__(self, ends: CountedEnds, phi: Definition, loop: Loop) -> None:
        self.ends, self.phi, self.loop = ends, phi, loop
        self.read: dict[Register, Definition] = {}
        self.left = DEPTH

    def of(self, definition: Definition, left: int) -> Range:
        op = definition.origin
        if definition is self.phi:
            return constant(0)
        if not isinstance(op, Op) or op.guard is not None or op.form.effects or not left:
            return UNKNOWN
        inner = _Grown(self.ends, self.phi, self.loop)
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


class _Compared(ShapeAlgebra):
    """Notes the comparison of integers that an op makes, with by how much its sides grow."""

    found: tuple[Comparison, int, int] | None = None

    def __init__(self) -> None:
        super().__init__(BlockShape(1, 1, 1), uniform_loads=False)

    def compare(self, op: Comparison, t: Type, a: Shape, b: Shape) -> Shape:
        self.found = None if t.is_float else (op, a.stride, b.stride)
        return super().compare(op, t, a, b)
