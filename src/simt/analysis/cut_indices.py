"""Which integers are made of rows or columns of an index, quotients or remainders of what grows from lane to
lane: lanes of few rows.

All else that they are made of is the same for all lanes, or grows evenly. What comes from memory, or from
other lanes, is elsewhere for each.
"""

from __future__ import annotations

from simt.analysis.evaluate import Evaluator
from simt.analysis.observer import Shapes
from simt.analysis.program import Op, Special
from simt.analysis.shape import BlockShape, Shape
from simt.analysis.shape_algebra import ShapeAlgebra
from simt.analysis.ssa import Definition, Ssa
from simt.analysis.uniformity import Uniformity
from simt.isa.algebra import Environment
from simt.ptx.types import Type

MOST = 64
"""Definitions that one is made of, at most."""


class CutIndices:
    """Those of a function."""

    def __init__(self, ssa: Ssa, uniformity: Uniformity, block: BlockShape, environment: Environment) -> None:
        self.ssa, self.uniformity = ssa, uniformity
        self.reader, self.watcher = Shapes(uniformity.shapes), _Watcher(block)
        self.evaluator: Evaluator[Shape] = Evaluator(self.watcher, self.reader, environment)
        self._known: dict[Definition, bool] = {}

    def has(self, definition: Definition) -> bool:
        if definition not in self._known:
            self._known[definition] = self._is_cut(definition)
        return self._known[definition]

    def _is_cut(self, definition: Definition) -> bool:
        seen, work = {definition}, [definition]
        self.watcher.cuts = False
        while work:
            one = work.pop()
            shape = self.uniformity.shapes.get(one)
            if shape is not None and (shape.is_uniform or shape.is_affine):
                continue
            sources = self._sources(one)
            if sources is None or len(seen) > MOST:
                return False
            work += [source for source in sources if source not in seen]
            seen.update(sources)
        return self.watcher.cuts

    def _sources(self, definition: Definition) -> list[Definition] | None:
        """What an integer is made of; None if that is not all that tells it."""
        op = definition.origin
        if definition.register.type.is_float or self._differs_by_way(definition):
            return None
        if definition.is_phi:
            return [*definition.inputs.values()]
        if not isinstance(op, Op) or op.form.effects:
            return None
        self.reader.inputs = self.ssa.read[id(op)]
        self.evaluator.op(op)
        self.watcher.cuts |= any(isinstance(source, Special) for source in op.sources.values())
        return [*self.reader.inputs.values()]

    def _differs_by_way(self, definition: Definition) -> bool:
        """Whether branches of lanes tell what a value is, too."""
        met = definition.is_phi and definition.block.index in self.uniformity.joins
        return met or definition in self.uniformity.blends


class _Watcher(ShapeAlgebra):
    """Notes operations that cut an index: compilers divide by products and shifts."""

    cuts = False

    def divide(self, t: Type, a: Shape, b: Shape) -> Shape:
        self.cuts = True
        return super().divide(t, a, b)

    def remainder(self, t: Type, a: Shape, b: Shape) -> Shape:
        self.cuts = True
        return super().remainder(t, a, b)

    def mul_high(self, t: Type, a: Shape, b: Shape) -> Shape:
        self.cuts = True
        return super().mul_high(t, a, b)

    def shift_right(self, t: Type, a: Shape, n: Shape) -> Shape:
        self.cuts = True
        return super().shift_right(t, a, n)
