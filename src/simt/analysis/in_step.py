"""Whether all warps of a CTA go from barrier to barrier in the same way.

Uniformity is found once more, for the CTA as a whole: what may differ between warps varies. A branch that
may part the CTA must not lead to a barrier before its ways meet.
"""

from __future__ import annotations

from simt.analysis.dominance import post_dominators
from simt.analysis.pending import Pending, stops
from simt.analysis.program import Block
from simt.analysis.shape import UNIFORM, VARYING, BlockShape, Shape
from simt.analysis.shape_algebra import ShapeAlgebra
from simt.analysis.ssa import Ssa
from simt.analysis.uniformity import analyse_over
from simt.isa.algebra import Environment
from simt.ptx.types import Type

SAME = frozenset({"ctaid", "ntid", "nctaid", "envreg1", "envreg2"})
"""Special registers that are surely the same for all warps of a CTA."""
CONSTANT = frozenset({"const", "param"})
"""State spaces that no thread writes while a kernel runs."""


class CtaShapes(ShapeAlgebra):
    """Shapes of values over a whole CTA, of which only uniform ones matter."""

    def special(self, name: str, component: str) -> Shape:
        return UNIFORM if name in SAME else VARYING

    def lane(self) -> Shape:
        return VARYING

    def ballot(self, p: Shape) -> Shape:
        return VARYING

    def shuffle(self, t: Type, a: Shape, lane: Shape) -> Shape:
        return VARYING

    def load(self, t: Type, space: str, address: Shape, count: int, volatile: bool) -> tuple[Shape, ...]:
        same = address.is_uniform and space in CONSTANT
        return (UNIFORM if same else VARYING,) * count


def in_step(ssa: Ssa, environment: Environment, block: BlockShape, pending: Pending) -> bool:
    """Whether each warp comes to the same barriers in the same order, every time with all of its lanes."""
    if any(pending.at[barrier.index] for barrier in pending.barriers):
        return False
    parting = analyse_over(ssa, environment, CtaShapes(block)).divergent
    after = post_dominators(ssa.schedule)
    return not any(
        _comes_to_barrier(branch, after[branch.index])
        for branch in ssa.schedule.order
        if branch.index in parting
    )


def _comes_to_barrier(branch: Block, meeting: int) -> bool:
    """Whether there is a barrier on a way from a branch to where its ways meet."""
    seen = {meeting}
    work = list(branch.successors())
    while work:
        block = work.pop()
        if block.index in seen:
            continue
        if stops(block):
            return True
        seen.add(block.index)
        work += block.successors()
    return False
