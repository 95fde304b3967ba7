"""Definitions of `.f32` whose NaNs are all the machine's one NaN, by their meaning.

Which NaN they hold need not be settled where they are kept, only where their bits are seen.
"""

from __future__ import annotations

from collections.abc import Callable

from simt.analysis.facts import Fact, Observer, holding
from simt.analysis.ssa import Definition, Ssa
from simt.isa.algebra import Environment, Rounding
from simt.isa.derived import infinity, quiet_nan, sign_mask
from simt.ptx.types import F32, Type


class OneNan(Fact):
    """A NaN in the column is the one that arithmetic gives."""

    @staticmethod
    def of_constant(bits: int) -> bool:
        return bits & ~sign_mask(F32) <= infinity(F32) or bits == quiet_nan(F32)

    def nan_result(self, t: Type, a: bool, *operands: bool) -> bool:
        return t == F32

    def int_to_float(self, source: Type, target: Type, a: bool, rounding: Rounding) -> bool:
        return target == F32

    def flush(self, t: Type, a: bool) -> bool:
        return a

    def flush_result(self, t: Type, a: bool, twice: Callable[..., bool], *operands: bool) -> bool:
        return a


def one_nan(ssa: Ssa, environment: Environment) -> set[Definition]:
    """The definitions of which that is true."""
    return holding(ssa, Observer(environment, OneNan))
