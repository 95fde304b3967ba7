"""Whether warps whose threads lie side by side are better looked at as having rows.

`threadIdx.x % 16` and `threadIdx.x / 16` give a CTA of one dimension, or of rows of whole warps, rows of 16.
In a warp whose values are held as one base and a stride, both vary in a way that is lost. Where they are held
as two rows of 16 lanes, each with a base of its own, the first grows by 1 within each row, and the second is
the same; but what goes on from lane to lane over the whole warp is accessed in two parts then. So both are
tried, and what the kernel's accesses cost is added up.
"""

from __future__ import annotations

from collections.abc import Iterable

from simt.analysis.access import Way, plan_of
from simt.analysis.evaluate import Evaluator
from simt.analysis.joined import joined
from simt.analysis.observer import Shapes
from simt.analysis.padded import padded
from simt.analysis.program import Block, Op
from simt.analysis.schedule import Schedule
from simt.analysis.shape import WARP, BlockShape, Shape
from simt.analysis.shape_algebra import ShapeAlgebra
from simt.analysis.ssa import Ssa
from simt.analysis.uniformity import Uniformity
from simt.isa.algebra import Environment
from simt.ptx.types import Type
from simt.records import replace

LEAST = 4
"""Lanes of the shortest rows."""
REGISTER = 64
"""Bytes that one instruction loads or stores, at most."""
PICKED = 12
"""What it costs to pick lanes that lie close together out of registers. (Words of 4 bytes in
shared memory are looked up in windows, with rows or without.)"""
APART = 40
"""What it costs to serve each lane by itself, where a vector register's load or store costs 1; with the
arithmetic on 32 addresses and their checks."""
PARTING = 20
"""What a branch costs that parts lanes: the masks of what follows."""
WORTH = 0.75
"""Part of the cost without rows that the cost with them must not exceed: it is an estimate."""


def candidates(block: BlockShape, uniformity: Uniformity) -> Iterable[BlockShape]:
    """The CTA with rows that its code asks for, if it has no such rows of its own. One of several dimensions:
    with columns in place of rows, and with either filled up to warps or parts of them. One of one column:
    with others beside it."""
    if (together := joined(block)) is not None:
        yield together
    if block.y > 1 and not block.turned:
        yield block.exchanged
    for given in (block, block.exchanged):
        if (filled := padded(given)) is not None and not block.turned:
            yield filled
    yield from cut(block, uniformity)


def cut(block: BlockShape, uniformity: Uniformity) -> Iterable[BlockShape]:
    """The CTA with the shorter rows that its code asks for."""
    if not (block.linear or block.x % WARP == 0) or block.x <= LEAST or block.joins:
        return
    for row in sorted(uniformity.rows, reverse=True):
        if LEAST <= row < block.row:
            yield replace(block, row=row)


def cost(
    schedule: Schedule,
    ssa: Ssa,
    uniformity: Uniformity,
    environment: Environment,
    block: BlockShape,
    picks: int | None = None,
) -> int:
    """Of a function's accesses and branches, for CTAs of a shape: `uniformity` is that for this shape.
    `picks`: bytes of the smallest words that the CPU picks out of two registers."""
    algebra, reader = _Costs(block, picks), Shapes(uniformity.shapes)
    evaluator: Evaluator[Shape] = Evaluator(algebra, reader, environment)
    total = 0
    for at in schedule.order:
        total += schedule.turns(at) * (
            _of_ops(at, ssa, algebra, reader, evaluator) + PARTING * (at.index in uniformity.divergent)
        )
    return total


def _of_ops(block: Block, ssa: Ssa, algebra: _Costs, reader: Shapes, evaluator: Evaluator[Shape]) -> int:
    algebra.total = 0
    for op in block.ops:
        if isinstance(op, Op) and op.form.effects:
            reader.inputs = ssa.read[id(op)]
            evaluator.op(op)
    return algebra.total


class _Costs(ShapeAlgebra):
    """Adds up what accesses cost, in loads or stores of a vector register."""

    total = 0

    def __init__(self, block: BlockShape, picks: int | None) -> None:
        super().__init__(block)
        self.picks = picks

    def load(self, t: Type, space: str, address: Shape, count: int, volatile: bool) -> tuple[Shape, ...]:
        self._add(t, space, address, count, volatile, stores=False)
        return super().load(t, space, address, count, volatile)

    def store(self, t: Type, space: str, address: Shape, values: tuple[Shape, ...], volatile: bool) -> None:
        self._add(t, space, address, len(values), volatile, stores=True)

    def atomic(self, op: str, t: Type, space: str, address: Shape, b: Shape, c: Shape | None) -> Shape:
        self.total += APART if address.width == WARP else self.block.segments
        return super().atomic(op, t, space, address, b, c)

    def _add(self, t: Type, space: str, address: Shape, count: int, volatile: bool, *, stores: bool) -> None:
        size, rows = t.bytes * count, self.block.segments
        plan = plan_of(
            address, size, count, space, self.block, stores=stores, volatile=volatile, picks=self.picks
        )
        if plan.way is Way.ONE:
            self.total += count * plan.shape.width
        elif plan.way in (Way.NEAR, Way.SPREAD) and (space, size) != ("shared", 4):
            self.total += PICKED * count
        elif plan.way is Way.VECTOR and plan.shape.hold == address.hold:
            self.total += rows * -(-size * (WARP // rows) // REGISTER)
        else:
            self.total += APART * count
