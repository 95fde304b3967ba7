"""Which values are the same in all lanes of a warp, or grow by a constant from lane to lane.

This is an abstract interpretation: the same meanings that the engines run are evaluated over an
algebra of *shapes*. Control flow adds what data flow cannot see: where a divergent branch brings
different definitions together, and values that leave a loop in different iterations.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Set

from simt.analysis.alike import brings_one_value
from simt.analysis.evaluate import Remembering
from simt.analysis.program import (
    Block,
    Branch,
    Call,
    FunctionAddress,
    Guard,
    Op,
    Register,
    Switch,
    SymbolAddress,
)
from simt.analysis.schedule import Loop
from simt.analysis.shape import UNIFORM, VARYING, WARP, BlockShape, Shape
from simt.analysis.shape_algebra import ShapeAlgebra, blended, by_rows, merge
from simt.analysis.ssa import Definition, Ssa
from simt.isa.algebra import Environment
from simt.records import dataclass, field, replace


@dataclass(slots=True)
class Parting:
    """Where lanes part. `divergent`: indices of blocks whose branch splits warps. `joins`: blocks where lanes
    arrive by different edges at once. `leaving`: headers' indices of loops that lanes leave in different
    iterations. `blends`: definitions that must keep inactive lanes' values."""

    divergent: set[int] = field(default_factory=set[int])
    joins: set[int] = field(default_factory=set[int])
    leaving: set[int] = field(default_factory=set[int])
    blends: set[Definition] = field(default_factory=set[Definition])


@dataclass(slots=True)
class Uniformity(Parting):
    """The result. `shapes` by definition. `rows`: of how many lanes rows would be that the code asks for
    (`ShapeAlgebra.asked`). Where rows part from each other, each as a whole, what they bring or keep has a
    base for each row."""

    shapes: dict[Definition, Shape] = field(default_factory=dict[Definition, Shape])
    rows: set[int] = field(default_factory=set[int])

    def stays_whole(self, loop: Loop | None) -> bool:
        """Whether lanes leave a loop, and those around it, together."""
        while loop is not None and loop.header.index not in self.leaving:
            loop = loop.parent
        return loop is None


@dataclass(slots=True)
class _Step:
    """Something to evaluate: a phi, an op or call, a block's branch. `inputs`: what it reads."""

    block: Block
    what: Definition | Op | Call | Branch | Switch
    inputs: dict[Register, Definition]


class _Analysis:
    """Iterates data flow and control flow to their common fixed point (shapes only grow).

    A step is taken again when something that it depends on has grown, the first one in line first; those
    that lie before the present one wait until the end of the line (or a phi with thousands of inputs would
    be looked at again after each of them).
    """

    def __init__(
        self, ssa: Ssa, environment: Environment, algebra: ShapeAlgebra, varying_blocks: Set[int]
    ) -> None:
        self.ssa = ssa
        self.result = Uniformity(joins=set(varying_blocks))
        self.inputs: dict[Register, Definition] = {}
        self.varying_blocks = varying_blocks
        self.algebra = algebra
        self.within = self._within()  # where lanes of one row part
        self.evaluator = Remembering(algebra, self, environment)
        self.convergence = ssa.convergence
        self.steps: list[_Step] = []
        self.users: dict[Definition, list[int]] = {}
        self.phis: dict[int, list[int]] = {}
        self.escapes = _escapes(ssa)
        self.due: list[int] = []
        self.due_later: list[int] = []
        self.is_due: set[int] = set()
        self.here = -1
        self.taken = 0
        self.alike: set[Definition] = set()  # phis at joins to which lanes brought one value, so far
        self.parted = 0

    def _within(self) -> Parting:
        """The same as of all lanes where a warp is one row."""
        return Parting(joins=set(self.varying_blocks)) if self.algebra.block.segments > 1 else self.result

    # Reader of the evaluator
    def register(self, register: Register) -> Shape:
        found = self.result.shapes.get(self.inputs[register])
        return self.algebra.const(register.type, 0) if found is None else found

    def symbol(self, symbol: SymbolAddress) -> Shape:
        return UNIFORM

    def function(self, function: FunctionAddress) -> Shape:
        return UNIFORM

    def run(self) -> Uniformity:
        for definition in self.ssa.definitions:
            if definition.block.index in self.varying_blocks:
                self.result.blends.add(definition)
                self.within.blends.add(definition)
            if definition.origin == "argument":
                self.result.shapes[definition] = VARYING
            elif definition.origin == "barrier":
                self._set(definition, UNIFORM)
        for block in self.ssa.schedule.order:
            self._enter(block)
        self._demand(range(len(self.steps)))
        while self.due:
            while self.due:
                self._take_all()
            self._join(self.result, self.convergence.joins(self.result.divergent))
            if self.within is not self.result:
                self._join(self.within, self.convergence.joins(self.within.divergent))
            self._look_again()
        self.result.rows = self.algebra.asked
        return self.result

    def _take_all(self) -> None:
        """Takes the steps that are due, once down the line."""
        while self.due:
            self.here = heapq.heappop(self.due)
            self.is_due.remove(self.here)
            self.taken += 1
            self._take(self.steps[self.here])
        self.due, self.due_later, self.here = self.due_later, [], -1
        heapq.heapify(self.due)

    def _look_again(self) -> None:
        """More branches may part lanes than when it was found that these bring phis one value."""
        parted = len(self.result.divergent)
        if self.alike and parted != self.parted:
            self.parted = parted
            self._demand(step for phi in self.alike for step in self.phis[phi.block.index])

    # -- steps ---------------------------------------------------------------------------------------
    def _enter(self, block: Block) -> None:
        """Makes the steps of a block."""
        for phi in self.ssa.phis.get(block.index, ()):
            self.phis.setdefault(block.index, []).append(len(self.steps))
            self._add(_Step(block, phi, {}), phi.inputs.values())
        for op in block.ops:
            inputs = self.ssa.read[id(op)]
            self._add(_Step(block, op, inputs), inputs.values())
        if isinstance(block.terminator, Branch | Switch) and len(block.successors()) > 1:
            inputs = self.ssa.read[id(block.terminator)]
            self._add(_Step(block, block.terminator, inputs), inputs.values())

    def _add(self, step: _Step, inputs: Iterable[Definition]) -> None:
        number, users = len(self.steps), self.users
        for definition in inputs:
            known = users.get(definition)
            if known is None:
                users[definition] = [number]
            else:
                known.append(number)
        self.steps.append(step)

    def _demand(self, numbers: Iterable[int]) -> None:
        is_due = self.is_due
        for number in numbers:
            if number in is_due:
                continue
            is_due.add(number)
            if number > self.here:
                heapq.heappush(self.due, number)
            else:
                self.due_later.append(number)

    def _take(self, step: _Step) -> None:
        self.inputs = step.inputs
        match step.what:
            case Op() as op:  # most are
                for definition, shape in zip(self.ssa.of[id(op)], self.evaluator.op(op)):
                    if definition is not None:
                        guarded = shape if op.guard is None else self._guarded(op.guard, definition, shape)
                        self._set(definition, guarded)
            case Definition() as phi:
                self._set(phi, self._phi(phi, step.block))
            case Call() as call:
                for definition in self.ssa.of[id(call)]:
                    if definition is not None:
                        self._set(definition, VARYING)
            case _:
                if step.block.index not in self.within.divergent:
                    self._branch(step)

    # -- data flow -----------------------------------------------------------------------------------
    def _phi(self, phi: Definition, block: Block) -> Shape:
        known = [self.result.shapes[d] for d in phi.inputs.values() if d in self.result.shapes]
        if not known:
            return Shape(1, const=0) if not phi.inputs else UNIFORM
        parted = block.index in self.result.joins and not self._brings_one(phi, block, known)
        in_rows = parted and block.index not in self.within.joins
        combine = blended if parted and not in_rows else merge
        shape = known[0]
        for other in known[1:]:
            shape = combine(shape, other)
        if parted:
            shape = self._by_rows(shape) if in_rows else blended(shape, shape)
        return replace(shape, const=None) if len(phi.inputs) > 1 and shape.const is not None else shape

    def _brings_one(self, phi: Definition, block: Block, shapes: list[Shape]) -> bool:
        """Whether parted lanes bring one value, base and stride that are right for all of them."""
        if not all(shape.is_affine for shape in shapes):
            return False
        one = brings_one_value(self.ssa, phi, block, self.result.divergent)
        if one:
            self.alike.add(phi)
        return one

    def _by_rows(self, shape: Shape) -> Shape:
        return by_rows(shape, self.algebra.block.segments)

    def _guarded(self, guard: Guard, definition: Definition, shape: Shape) -> Shape:
        old = self.inputs[definition.register]
        if old.origin == "undefined":
            return shape
        before = self.result.shapes.get(old, shape)
        uniform = self.register(guard.register).is_uniform
        return merge(shape, before) if uniform else blended(shape, before)

    def _set(self, definition: Definition, shape: Shape) -> None:
        """Raises a definition's shape to cover `shape` too."""
        shapes = self.result.shapes
        old = shapes.get(definition)
        if self.varying_blocks and definition.block.index in self.varying_blocks:
            shape = VARYING
        if definition in self.within.blends:
            shape = blended(shape, shape)
        elif definition in self.result.blends:
            shape = self._by_rows(shape)
        new = shape if old is None else _widen(old, shape)
        shapes[definition] = new
        if new is not old and new != old:
            self._demand(self.users.get(definition, ()))

    # -- control flow --------------------------------------------------------------------------------
    def _branch(self, step: _Step) -> None:
        """Looks whether a branch parts lanes, and what follows from that."""
        shapes = [self.register(register) for register in step.inputs]
        if all(shape.is_uniform for shape in shapes):
            return
        self._part(self.result, step.block)
        if self.within is not self.result and not all(shape.is_same_in_rows for shape in shapes):
            self._part(self.within, step.block)

    def _part(self, parting: Parting, block: Block) -> None:
        if block.index in parting.divergent:
            return
        anywhere = () if parting.divergent else self.convergence.entered_anywhere
        parting.divergent.add(block.index)
        self._join(parting, self.convergence.met(block))
        for loop in (*self.convergence.loops_left(block), *anywhere):
            if loop.header.index not in parting.leaving:
                parting.leaving.add(loop.header.index)
                self._escape(parting, loop)

    def _join(self, parting: Parting, blocks: Iterable[int]) -> None:
        for index in blocks:
            if index not in parting.joins:
                parting.joins.add(index)
                self._demand(self.phis.get(index, ()))

    def _escape(self, parting: Parting, loop: Loop) -> None:
        """Values used outside a loop that lanes leave in different iterations vary, or have a base for each
        row."""
        for definition in self.escapes.get(loop.header.index, ()):
            if definition not in parting.blends:
                parting.blends.add(definition)
                self._set(definition, self.result.shapes.get(definition, UNIFORM))


def _widen(old: Shape, new: Shape) -> Shape:
    """Least shape above both, so that the iteration ends."""
    if old is new or old == new:
        return old
    if old.stride != new.stride or (old.width != new.width and max(old.width, new.width) == WARP):
        return VARYING
    hold, zeros, common = max(old.hold, new.hold), min(old.zeros, new.zeros), max(old.common, new.common)
    by_bit = old.by_bit if old.by_bit == new.by_bit else None
    return Shape(max(old.width, new.width), old.stride, hold, zeros=zeros, common=common, by_bit=by_bit)


def used_in(ssa: Ssa) -> dict[Definition, set[int]]:
    """Indices of the blocks in which each definition is used; a phi uses its inputs at the end of the
    predecessors they come from, a block that returns the function's results."""
    found: dict[Definition, set[int]] = {}
    for block in ssa.schedule.order:
        here = block.index
        for what in (*block.ops, block.terminator):
            for definition in ssa.read[id(what)].values():
                blocks = found.get(definition)
                if blocks is None:
                    found[definition] = {here}
                else:
                    blocks.add(here)
    for phis in ssa.phis.values():
        for phi in phis:
            for predecessor, definition in phi.inputs.items():
                found.setdefault(definition, set()).add(predecessor if predecessor >= 0 else 0)
    return found


def _escapes(ssa: Ssa) -> dict[int, list[Definition]]:
    """Definitions that are used outside loops in which they are made, by those loops' headers."""
    found: dict[int, list[Definition]] = {}
    if not ssa.schedule.loops:
        return found
    position = ssa.schedule.position
    for definition, blocks in used_in(ssa).items():
        loop = ssa.schedule.loop_of.get(definition.block.index)
        if loop is None:
            continue
        places = [position[b] for b in blocks]
        first, last = min(places), max(places)
        while loop is not None and not loop.first <= first <= last <= loop.last:
            found.setdefault(loop.header.index, []).append(definition)
            loop = loop.parent
    return found


def analyse(
    ssa: Ssa, environment: Environment, block: BlockShape, varying_blocks: Set[int] = frozenset()
) -> Uniformity:
    """Uniformity of a function for CTAs of a shape.

    `varying_blocks`: indices of blocks that parts of a warp may run at different times for reasons that
    control flow does not show (see `simt.analysis.waiting`): all that they define varies.
    """
    return analyse_over(ssa, environment, ShapeAlgebra(block), varying_blocks)


def analyse_over(
    ssa: Ssa, environment: Environment, algebra: ShapeAlgebra, varying_blocks: Set[int] = frozenset()
) -> Uniformity:
    """The same with another notion of what the shapes of values are."""
    return _Analysis(ssa, environment, algebra, varying_blocks).run()
