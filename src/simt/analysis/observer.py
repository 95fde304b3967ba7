"""Which ops read memory that other threads may change meanwhile: atomics and volatile loads; and which read
what the thread itself may have put aside."""

from __future__ import annotations

from simt.analysis.evaluate import Evaluator
from simt.analysis.program import FunctionAddress, Op, Register, SymbolAddress
from simt.analysis.shape import UNIFORM, BlockShape, Shape
from simt.analysis.shape_algebra import ShapeAlgebra
from simt.isa.algebra import Environment
from simt.ptx.types import Type

OWN = frozenset({"local", ""})
"""State spaces (`""` of generic addresses) in which a thread's own variables may be."""


class _Watcher(ShapeAlgebra):
    """Notes whether an op reads memory that other threads may change meanwhile."""

    def __init__(self) -> None:
        super().__init__(BlockShape(1, 1, 1))
        self.seen = False
        self.own = False

    def load(self, t: Type, space: str, address: Shape, count: int, volatile: bool) -> tuple[Shape, ...]:
        self.seen |= volatile
        self.own |= space in OWN
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

    def fetches(self, op: Op) -> bool:
        """Whether an op loads what may be a variable of the thread's own."""
        if not op.form.effects:
            return False
        self._watcher.own = False
        self._evaluator.op(op)
        return self._watcher.own
