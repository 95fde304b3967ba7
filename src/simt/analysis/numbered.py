"""Kernels whose threads ask for `%tid.x` and `%ctaid.x` only to count threads in the grid's row.

They compute `ctaid.x * ntid.x + tid.x`, or a multiple of it with something else added, and do nothing else
with either. Such a thread has the same number in a CTA of other width, if the number of its CTA is told as
that of CTAs of `ntid.x` threads: so several CTAs may be taken as one (`simt.analysis.joined`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from simt.analysis.evaluate import Evaluator
from simt.analysis.observer import Shapes
from simt.analysis.program import Function, Op
from simt.analysis.shape import UNIFORM, VARYING, WARP, BlockShape, Shape, constant
from simt.analysis.shape_algebra import ShapeAlgebra
from simt.analysis.ssa import Definition, Ssa
from simt.analysis.turned import may_be_turned
from simt.isa.algebra import Environment
from simt.ptx.types import Type

BITS = {"tid": 13, "ctaid": 31}
"""Of the greatest numbers of threads (in CTAs taken as one) and of CTAs."""


def may_be_joined(kernel: Function, ssa: Ssa, environment: Environment, found: BlockShape) -> bool:
    """Whether no thread can tell. `found`: the shape of several CTAs together."""
    if not may_be_turned(kernel, environment):
        return False
    return found.counts_ctas or is_numbered(ssa, environment, found.columns)


def is_numbered(ssa: Ssa, environment: Environment, columns: int) -> bool:
    """Whether threads of CTAs with so many columns do so, in a kernel without calls."""
    known: dict[Definition, Shape] = {}
    reader, algebra = Shapes(known), _Parts(columns)
    evaluator: Evaluator[Shape] = Evaluator(algebra, reader, environment)
    for block in ssa.schedule.order:
        for op in block.ops:
            reader.inputs = ssa.read[id(op)]
            if not isinstance(op, Op) or not _are_known(reader.inputs.values(), known):
                return False
            results = evaluator.op(op)
            if algebra.tells or any(map(_is_lost, results)):
                return False
            if op.guard is not None and any(map(_is_part, results)):
                return False
            known |= {d: shape for d, shape in zip(ssa.of[id(op)], results) if d is not None}
    return not any(_is_part(known[d]) for d in _carried(ssa) if d in known)


def _are_known(read: Iterable[Definition], known: dict[Definition, Shape]) -> bool:
    """Whether what an op reads has been looked at, if other ops make it."""
    return all(d in known for d in read if isinstance(d.origin, Op))


def _carried(ssa: Ssa) -> Iterable[Definition]:
    """What phis, branches and returns read."""
    for phis in ssa.phis.values():
        for phi in phis:
            yield from phi.inputs.values()
    for block in ssa.schedule.order:
        yield from ssa.read[id(block.terminator)].values()


def _is_part(shape: Shape) -> bool:
    return shape.steps is not None


def _is_lost(shape: Shape) -> bool:
    return shape.width == WARP and not _is_part(shape)


class _Parts(ShapeAlgebra):
    """Sums of multiples of `%tid.x` and `%ctaid.x` that are no multiple of the thread's number: `Shape.steps`
    are the factors, as if `%ctaid.x` were `%tid.y` of a CTA that is all of the grid. All else is uniform
    here, whatever it is. What is made of such sums in any other way is varying. `tells`: one was an address,
    or was stored."""

    def __init__(self, columns: int) -> None:
        super().__init__(BlockShape(columns, 2, 1))
        self.tells = False

    def special(self, name: str, component: str) -> Shape:
        if component == "x" and name in BITS:
            return Shape(WARP, steps=(int(name == "tid"), int(name == "ctaid"), 0), top=BITS[name])
        return constant(self.block.x) if (name, component) == ("ntid", "x") else UNIFORM

    def _with_steps(self, t: Type, steps: Sequence[int]) -> Shape:
        found = super()._with_steps(t, steps)
        return found if _is_part(found) else UNIFORM

    def resize(self, source: Type, target: Type, a: Shape) -> Shape:
        if not _is_part(a):
            return super().resize(source, target, a)
        return a if target.bits <= source.bits or a.top < source.bits else VARYING

    def load(self, t: Type, space: str, address: Shape, count: int, volatile: bool) -> tuple[Shape, ...]:
        self._note(address)
        return (UNIFORM,) * count

    def store(self, t: Type, space: str, address: Shape, values: tuple[Shape, ...], volatile: bool) -> None:
        self._note(address, *values)

    def atomic(self, op: str, t: Type, space: str, address: Shape, b: Shape, c: Shape | None) -> Shape:
        self._note(address, b, *(() if c is None else (c,)))
        return UNIFORM

    def _note(self, *shapes: Shape) -> None:
        self.tells |= any(map(_is_part, shapes))

    def _in_window(self, t: Type, space: str, address: Shape, sign: int) -> Shape:
        return address

    def in_space(self, space: str, address: Shape) -> Shape:
        return self._each(address)
