"""Which values are the same in all lanes of a warp, or grow by a constant from lane to lane.

This is an abstract interpretation: the same meanings that the engines run are evaluated over an
algebra of *shapes*. Control flow adds what data flow cannot see: where a divergent branch brings
different definitions together, and values that leave a loop in different iterations.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Set
from dataclasses import dataclass, field, replace

from simt.analysis.evaluate import Evaluator
from simt.analysis.program import Block, Branch, Call, FunctionAddress, Op, Register, Switch, SymbolAddress
from simt.analysis.schedule import Loop
from simt.analysis.shape import UNIFORM, VARYING, WARP, BlockShape, Shape
from simt.analysis.shape_algebra import ShapeAlgebra, blended, merge
from simt.analysis.ssa import Definition, Ssa, terminator_uses, uses
from simt.isa.algebra import Environment


@dataclass(slots=True)
class Uniformity:
    """The result. `shapes` by definition. `divergent`: indices of blocks whose branch splits warps.
    `joins`: blocks where lanes arrive by different edges at once. `leaving`: headers' indices of loops that
    lanes leave in different iterations. `blends`: definitions that must keep inactive lanes' values."""

    shapes: dict[Definition, Shape] = field(default_factory=dict[Definition, Shape])
    divergent: set[int] = field(default_factory=set[int])
    joins: set[int] = field(default_factory=set[int])
    leaving: set[int] = field(default_factory=set[int])
    blends: set[Definition] = field(default_factory=set[Definition])


class _Analysis:
    """Iterates data flow and control flow to their common fixed point (shapes only grow)."""

    def __init__(
        self, ssa: Ssa, environment: Environment, algebra: ShapeAlgebra, varying_blocks: Set[int]
    ) -> None:
        self.ssa = ssa
        self.result = Uniformity(joins=set(varying_blocks))
        self.current: dict[Register, Definition] = {}
        self.varying_blocks = varying_blocks
        self.evaluator: Evaluator[Shape] = Evaluator(algebra, self, environment)
        self.slot = {id(s): i for i, s in enumerate(ssa.schedule.slots)}
        self.loops = {loop.header.index: loop for loop in ssa.schedule.loops}

    # Reader of the evaluator
    def register(self, register: Register) -> Shape:
        return self.result.shapes.get(self.ssa.lookup(self.current, register), Shape(1, const=0))

    def symbol(self, symbol: SymbolAddress) -> Shape:
        return UNIFORM

    def function(self, function: FunctionAddress) -> Shape:
        return UNIFORM

    def run(self) -> Uniformity:
        for definition in self.ssa.definitions:
            if definition.origin == "argument":
                self.result.shapes[definition] = VARYING
            if definition.block.index in self.varying_blocks:
                self.result.blends.add(definition)
        escapes = _escapes(self.ssa)
        changed = True
        while changed:
            changed = self._flow()
            changed |= self._control()
            changed |= self._temporal(escapes)
        return self.result

    def _flow(self) -> bool:
        """One pass over all blocks; True if any shape grew."""
        grew = False
        for block in self.ssa.schedule.order:
            self.current = self.ssa.reaching(block)
            for phi in self.ssa.phis.get(block.index, ()):
                grew |= self._set(phi, self._phi(phi, block))
            for op in block.ops:
                grew |= self._op(op)
            for definition in self.ssa.of.get(id(block.terminator), ()):
                if definition is not None:
                    grew |= self._set(definition, UNIFORM)
        return grew

    def _phi(self, phi: Definition, block: Block) -> Shape:
        known = [self.result.shapes[d] for d in phi.inputs.values() if d in self.result.shapes]
        if not known:
            return Shape(1, const=0) if not phi.inputs else UNIFORM
        combine = blended if block.index in self.result.joins else merge
        shape = known[0]
        for other in known[1:]:
            shape = combine(shape, other)
        if block.index in self.result.joins:
            shape = blended(shape, shape)
        return replace(shape, const=None) if len(phi.inputs) > 1 else shape

    def _op(self, op: Op | Call) -> bool:
        made = self.ssa.of[id(op)]
        if isinstance(op, Call):
            grew = False
            for definition in made:
                if definition is not None:
                    grew |= self._set(definition, VARYING)
            return self._note(made, grew)
        shapes = self.evaluator.op(op)
        grew = False
        for definition, shape in zip(made, shapes):
            if definition is not None:
                grew |= self._set(definition, self._guarded(op, definition, shape))
        return self._note(made, grew)

    def _guarded(self, op: Op, definition: Definition, shape: Shape) -> Shape:
        if op.guard is None:
            return shape
        old = self.ssa.lookup(self.current, definition.register)
        if old.origin == "undefined":
            return shape
        before = self.result.shapes.get(old, shape)
        guard = self.register(op.guard.register)
        return merge(shape, before) if guard.is_uniform else blended(shape, before)

    def _note(self, made: Iterable[Definition | None], grew: bool) -> bool:
        for definition in made:
            if definition is not None:
                self.current[definition.register] = definition
        return grew

    def _set(self, definition: Definition, shape: Shape) -> bool:
        """Raises a definition's shape to cover `shape` too."""
        old = self.result.shapes.get(definition)
        if definition.block.index in self.varying_blocks:
            shape = VARYING
        if definition in self.result.blends:
            shape = blended(shape, shape)
        new = shape if old is None else _widen(old, shape)
        self.result.shapes[definition] = new
        return new != old

    def _control(self) -> bool:
        """Updates divergent branches, joins and loops left by degrees; True if any was added."""
        before = (len(self.result.divergent), len(self.result.joins), len(self.result.leaving))
        for block in self.ssa.schedule.order:
            if block.index in self.result.divergent or not isinstance(block.terminator, Branch | Switch):
                continue
            self.current = self._leaving_map(block)
            together = len(block.successors()) == 1
            if together or all(self.register(r).is_uniform for r in terminator_uses(block)):
                continue
            self.result.divergent.add(block.index)
            region = self._influence(block)
            loop = self.ssa.schedule.loop_of[block.index]
            while loop is not None:
                if self._leaves_by_degrees(loop, block, region):
                    self.result.leaving.add(loop.header.index)
                loop = loop.parent
        return before != (len(self.result.divergent), len(self.result.joins), len(self.result.leaving))

    def _leaving_map(self, block: Block) -> dict[Register, Definition]:
        current = self.ssa.reaching(block)
        for op in block.ops:
            for definition in self.ssa.of[id(op)]:
                if definition is not None:
                    current[definition.register] = definition
        return current

    def _leaves_by_degrees(self, loop: Loop, branch: Block, region: set[int]) -> bool:
        """Whether lanes that a branch within a loop parts leave it in different iterations."""
        if loop.header.index in self.result.leaving:
            return True
        position = self.ssa.schedule.position
        inside = range(loop.first, loop.last + 1)
        for block in self.ssa.schedule.order[loop.first : loop.last + 1]:
            if (block is branch or block.index in region) and any(
                position[s.index] not in inside for s in block.successors()
            ):
                return True
        return False

    def _influence(self, branch: Block) -> set[int]:
        """Blocks between a divergent branch and the place where its lanes are together again.

        Lanes carry the label of the side they took; a block that is reached by two labels at once is a
        join, and gives a label of its own.
        """
        schedule = self.ssa.schedule
        labels: dict[int, int] = {}
        heap: list[int] = []
        region: set[int] = set()

        def arrive(source: Block, target: Block, label: int) -> None:
            back = schedule.is_back_edge(source, target)
            slot = self.slot[id(self.loops[target.index] if back else target)]
            if slot not in labels:
                labels[slot] = label
                heapq.heappush(heap, slot)
            elif labels[slot] != label:
                self.result.joins.add(target.index)
                labels[slot] = -1 - target.index

        for successor in dict.fromkeys(branch.successors()):
            arrive(branch, successor, successor.index)
        while len(heap) > 1:
            slot = heapq.heappop(heap)
            place = schedule.slots[slot]
            if isinstance(place, Block):
                region.add(place.index)
                for successor in place.successors():
                    arrive(place, successor, labels[slot])
            elif self._inside(place, branch):
                # Some lanes go round again while others wait beyond the loop: what leaves it now leaves
                # at another time than what left before.
                for block in schedule.order[place.first : place.last + 1]:
                    region.add(block.index)
                    for successor in block.successors():
                        if not self._inside(place, successor):
                            arrive(block, successor, -1 - len(schedule.order) - place.header.index)
        return region

    def _inside(self, loop: Loop, block: Block) -> bool:
        return loop.first <= self.ssa.schedule.position[block.index] <= loop.last

    def _temporal(self, escapes: list[tuple[Definition, list[Loop]]]) -> bool:
        """Values used outside a loop that lanes leave in different iterations vary."""
        grew = False
        for definition, loops in escapes:
            if definition not in self.result.blends and any(
                loop.header.index in self.result.leaving for loop in loops
            ):
                self.result.blends.add(definition)
                shape = self.result.shapes.get(definition, UNIFORM)
                grew |= self._set(definition, shape)
                grew = True
        return grew


def _widen(old: Shape, new: Shape) -> Shape:
    """Least shape above both, so that the iteration ends."""
    if old == new:
        return old
    if (old.width, old.stride) == (new.width, new.stride):
        return Shape(old.width, old.stride, max(old.hold, new.hold))
    if old.stride == new.stride and max(old.width, new.width) < WARP:
        return Shape(max(old.width, new.width), old.stride, max(old.hold, new.hold))
    return VARYING


def used_in(ssa: Ssa) -> dict[Definition, set[int]]:
    """Indices of the blocks in which each definition is used; a phi uses its inputs at the end of the
    predecessors they come from."""
    found: dict[Definition, set[int]] = {}
    for block in ssa.schedule.order:
        current = ssa.reaching(block)
        for op in block.ops:
            for register in uses(op):
                found.setdefault(ssa.lookup(current, register), set()).add(block.index)
            for definition in ssa.of[id(op)]:
                if definition is not None:
                    if isinstance(op, Op) and op.guard is not None:
                        found.setdefault(ssa.lookup(current, definition.register), set()).add(block.index)
                    current[definition.register] = definition
        for register in terminator_uses(block):
            found.setdefault(ssa.lookup(current, register), set()).add(block.index)
    for phis in ssa.phis.values():
        for phi in phis:
            for predecessor, definition in phi.inputs.items():
                found.setdefault(definition, set()).add(predecessor if predecessor >= 0 else 0)
    return found


def _escapes(ssa: Ssa) -> list[tuple[Definition, list[Loop]]]:
    """Definitions that are used outside loops in which they are made, with those loops."""
    found: list[tuple[Definition, list[Loop]]] = []
    position = ssa.schedule.position
    for definition, blocks in used_in(ssa).items():
        loop = ssa.schedule.loop_of.get(definition.block.index)
        left: list[Loop] = []
        while loop is not None:
            if any(not loop.first <= position[b] <= loop.last for b in blocks):
                left.append(loop)
            loop = loop.parent
        if left:
            found.append((definition, left))
    return found


def analyse(
    ssa: Ssa, environment: Environment, block: BlockShape, varying_blocks: Set[int] = frozenset()
) -> Uniformity:
    """Uniformity of a function for CTAs of a shape.

    `varying_blocks`: indices of blocks that parts of a warp may run at different times for reasons that
    control flow does not show (see `simt.analysis.waiting`): all that they define varies.
    """
    return _Analysis(ssa, environment, ShapeAlgebra(block), varying_blocks).run()
