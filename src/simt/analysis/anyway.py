"""Blocks that a warp runs whether or not it has lanes there.

`if (found < best[i]) best[i] = found;` is a branch around a store. Which lanes store is told by a mask either
way; whether any do, a CPU must guess, and where values decide it is wrong every second time: that takes it
longer than the store. Where the warp has just loaded from where it stores, the line is in the first cache,
and a store by no lane costs next to nothing."""

from __future__ import annotations

from collections.abc import Iterator

from simt.analysis.access import Pattern, pattern_of
from simt.analysis.evaluate import Evaluator
from simt.analysis.observer import Shapes
from simt.analysis.program import Block, Branch, Jump, Op, memory_operands
from simt.analysis.shape import BlockShape, Shape
from simt.analysis.shape_algebra import ShapeAlgebra
from simt.analysis.ssa import Definition, Ssa
from simt.analysis.uniformity import Uniformity
from simt.isa.algebra import Environment
from simt.ptx.types import Type

SHORT = 3
"""Instructions of such a block, at most."""
Place = tuple[Definition, int]
"""The address that a register holds, and what is added to it."""


def run_anyway(ssa: Ssa, uniformity: Uniformity, environment: Environment, block: BlockShape) -> set[int]:
    """Indices of short blocks that are all that a branch leads around, and do nothing but arithmetic and
    stores to consecutive words from which the block with the branch has loaded."""
    look = _Look(ssa, uniformity, environment, block)
    return {inner.index for outer, inner in _detours(ssa, uniformity) if look.is_quiet(outer, inner)}


def _detours(ssa: Ssa, uniformity: Uniformity) -> Iterator[tuple[Block, Block]]:
    """Blocks whose branch parts lanes, each with a short one through which some of these come to where the
    others go at once."""
    loop_of = ssa.schedule.loop_of
    for outer in ssa.schedule.order:
        branch = outer.terminator
        if outer.index not in uniformity.divergent or not isinstance(branch, Branch):
            continue
        for inner, end in ((branch.taken, branch.otherwise), (branch.otherwise, branch.taken)):
            joins = isinstance(inner.terminator, Jump) and inner.terminator.target is end
            alone = len(ssa.predecessors[inner.index]) == 1 and len(inner.ops) <= SHORT
            if joins and alone and loop_of[inner.index] is loop_of[outer.index]:
                yield outer, inner


class _Look:
    """Looks at blocks' accesses to memory."""

    def __init__(self, ssa: Ssa, uniformity: Uniformity, environment: Environment, block: BlockShape) -> None:
        self.ssa = ssa
        self.watcher, self.reader = _Watcher(block), Shapes(uniformity.shapes)
        self.evaluator: Evaluator[Shape] = Evaluator(self.watcher, self.reader, environment)

    def is_quiet(self, outer: Block, inner: Block) -> bool:
        stored = set[Place]()
        for op in inner.ops:
            if not isinstance(op, Op) or op.guard is not None:
                return False
            if op.form.effects:
                if not self._accesses(op, "stores") or not self._goes_on(op, inner):
                    return False
                stored |= self._places(op)
        return bool(stored) and stored <= self._loaded(outer)

    def _loaded(self, block: Block) -> set[Place]:
        plain = (op for op in block.ops if isinstance(op, Op) and op.form.effects and op.guard is None)
        return {place for op in plain if self._accesses(op, "loads") for place in self._places(op)}

    def _places(self, op: Op) -> set[Place]:
        return {(self.ssa.read[id(op)][register], offset) for register, offset in memory_operands(op)}

    def _goes_on(self, op: Op, block: Block) -> bool:
        """Whether a loop goes on in memory with each turn: what is loaded where it was just stored by a mask
        would have to wait for that."""
        loop_of = self.ssa.schedule.loop_of
        loop = loop_of[block.index]
        return all(loop_of[place.block.index] is loop for place, _ in self._places(op))

    def _accesses(self, op: Op, way: str) -> bool:
        """Whether all that an op does to memory are plain `loads` or `stores` of consecutive words."""
        if op.form.effects != frozenset({"memory"}):
            return False
        self.reader.inputs, self.watcher.found = self.ssa.read[id(op)], []
        self.evaluator.op(op)
        return set(self.watcher.found) == {way}


class _Watcher(ShapeAlgebra):
    """Notes an op's accesses: `loads` and `stores` of consecutive words, and `others`."""

    def __init__(self, block: BlockShape) -> None:
        super().__init__(block)
        self.found: list[str] = []

    def load(self, t: Type, space: str, address: Shape, count: int, volatile: bool) -> tuple[Shape, ...]:
        self._note("loads", t, space, address, count, volatile)
        return super().load(t, space, address, count, volatile)

    def store(self, t: Type, space: str, address: Shape, values: tuple[Shape, ...], volatile: bool) -> None:
        self._note("stores", t, space, address, len(values), volatile)

    def atomic(self, op: str, t: Type, space: str, address: Shape, b: Shape, c: Shape | None) -> Shape:
        self.found.append("others")
        return super().atomic(op, t, space, address, b, c)

    def fence(self, level: str) -> None:
        self.found.append("others")

    def _note(self, way: str, t: Type, space: str, address: Shape, count: int, volatile: bool) -> None:
        plain = space == "global" and count == 1 and not volatile
        near = pattern_of(address, t.bytes, space) is Pattern.CONTIGUOUS
        self.found.append(way if plain and near else "others")
