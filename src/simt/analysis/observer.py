"""Which ops read memory that other threads may change meanwhile: atomics and volatile loads; and which read
what a thread may have put aside before."""

from __future__ import annotations

from collections.abc import Mapping

from simt.analysis.access import ALIKE
from simt.analysis.evaluate import Evaluator
from simt.analysis.program import FunctionAddress, Op, Register, SymbolAddress
from simt.analysis.shape import UNIFORM, BlockShape, Shape
from simt.analysis.shape_algebra import ShapeAlgebra
from simt.analysis.ssa import Definition
from simt.isa.algebra import Environment
from simt.ptx.types import Type

CARRYING = frozenset({"local", ALIKE, "shared", ""})
"""State spaces (`""` of generic addresses) into which what was read may be put before a thread looks at it: a
variable of its own, or one of the CTA's, for which one thread reads what all of them wait for."""


class _Watcher(ShapeAlgebra):
    """Notes whether an op reads memory that other threads may change meanwhile, and what else it loads."""

    def __init__(self) -> None:
        super().__init__(BlockShape(1, 1, 1))
        self.seen = False
        self.carries = False
        self.loads = False

    def load(self, t: Type, space: str, address: Shape, count: int, volatile: bool) -> tuple[Shape, ...]:
        self.seen |= volatile
        self.carries |= space in CARRYING
        self.loads = True
        return (UNIFORM,) * count

    def atomic(self, op: str, t: Type, space: str, address: Shape, b: Shape, c: Shape | None) -> Shape:
        self.seen = True
        return UNIFORM


class Anything:
    """A reader for which every value is the same."""

    def register(self, register: Register) -> Shape:
        return UNIFORM

    def symbol(self, symbol: SymbolAddress) -> Shape:
        return UNIFORM

    def function(self, function: FunctionAddress) -> Shape:
        return UNIFORM


class Shapes(Anything):
    """A reader of the shapes that an analysis found. `inputs`: the definitions that the present op reads."""

    def __init__(self, shapes: Mapping[Definition, Shape]) -> None:
        self.shapes = shapes
        self.inputs: Mapping[Register, Definition] = {}

    def register(self, register: Register) -> Shape:
        return self.shapes.get(self.inputs[register], UNIFORM)


class Observer:
    """Tells which ops read memory that other threads may change meanwhile."""

    def __init__(self, environment: Environment) -> None:
        self._watcher = _Watcher()
        self._evaluator: Evaluator[Shape] = Evaluator(self._watcher, Anything(), environment)

    def reads(self, op: Op) -> bool:
        if not op.form.effects:
            return False
        self._watcher.seen = False
        self._evaluator.op(op)
        return self._watcher.seen

    def writes(self, op: Op) -> bool:
        """Whether an op may do to memory what others wait for: all but plain loads."""
        if "memory" not in op.form.effects:
            return False
        self._watcher.seen = self._watcher.loads = False
        self._evaluator.op(op)
        return self._watcher.seen or not self._watcher.loads

    def fetches(self, op: Op) -> bool:
        """Whether an op loads what may have been read from such memory before: see `CARRYING`."""
        if not op.form.effects:
            return False
        self._watcher.carries = False
        self._evaluator.op(op)
        return self._watcher.carries
