"""Kernels whose float arithmetic all flushes subnormals: for them the CPU can be told to read these as zeros.

With x86's "denormals are zeros" a value need not be flushed between two operations, only where its bits are
seen. `flushing` tells whether a function may run so, and which definitions never hold a subnormal by their
meaning, and so may be kept unflushed and flushed where they are read. Both follow from the instructions'
meanings, evaluated over `NeverSubnormal`.
"""

from __future__ import annotations

from collections.abc import Callable

from simt.analysis.facts import Fact, Observer, holding
from simt.analysis.program import Op
from simt.analysis.ssa import Definition, Ssa
from simt.isa.algebra import Environment, Rounding
from simt.isa.derived import infinity, sign_mask
from simt.ptx.types import F32, Type


class NeverSubnormal(Fact):
    """A column never holds a subnormal."""

    @staticmethod
    def of_constant(bits: int) -> bool:
        return bits & infinity(F32) != 0 or bits & ~sign_mask(F32) == 0

    def flush(self, t: Type, a: bool) -> bool:
        self.note(t)
        return t == F32

    def flush_result(self, t: Type, a: bool, twice: Callable[..., bool], *operands: bool) -> bool:
        twice(self, *operands)
        return self.flush(t, a)

    def nan_result(self, t: Type, a: bool, *operands: bool) -> bool:
        if not a:
            self.note(t)
        return a

    def round_integral(self, t: Type, a: bool, rounding: Rounding) -> bool:
        """What is subnormal becomes zero, as a zero does, unless it is rounded up or down."""
        if rounding not in ("rn", "rz"):
            self.note(t)
        return t == F32


def _flushes(op: Op) -> bool:
    return bool(op.binding.get("ftz"))


def suits(observer: Observer, op: Op) -> bool:
    """Whether reading subnormals as zeros changes nothing in an op."""
    return observer.traits(op).arithmetic <= ({F32} if _flushes(op) else frozenset())


def flushing(ssa: Ssa, environment: Environment) -> tuple[bool, set[Definition]]:
    """Whether the function may read subnormals as zeros, and if so the definitions that are never subnormal.

    It may if some instruction flushes, all that do arithmetic on floats flush single precision, and no
    function is called."""
    ops = [op for block in ssa.schedule.order for op in block.ops]
    observer = Observer(environment, NeverSubnormal)
    some = any(isinstance(op, Op) and _flushes(op) for op in ops)
    if some and all(isinstance(op, Op) and suits(observer, op) for op in ops):
        return True, holding(ssa, observer)
    return False, set()
