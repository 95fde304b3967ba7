"""What bounds of a thread's indices tell of integers that are made of one of them.

As compilers count the turns of `for (i = threadIdx.x; i < n; i += blockDim.x)`, that is a maximum of two
numbers of which one is always the greater, a difference of numbers that are made of the same index, and a
quotient of what is left. Bounds alone do not tell that `max(i + 128, 48) - (i + 128)` is nothing, nor that
`(447 - i) / 128` is 3 up to the index 63, and 2 from there on.
"""

from __future__ import annotations

from simt.analysis.range_algebra import Range, RangeAlgebra, bounds, constant, unsigned_bounds
from simt.analysis.ssa import Definition
from simt.ptx.types import Type
from simt.records import dataclass


@dataclass(frozen=True, slots=True)
class Linear:
    """`more` than a definition, or than its negative (`sign`), modulo the type. `bounds`: those of the
    definition."""

    base: Definition
    bounds: Range
    sign: int
    more: int


@dataclass(frozen=True, slots=True)
class Falling:
    """The greater of two numbers, one apart, where a definition is below a limit, without a sign."""

    base: Definition
    limit: int


@dataclass(frozen=True, slots=True)
class Told(Range):
    """A value of which more is told than its bounds."""

    by: Linear | Falling | None = None


def named(definition: Definition, value: Range) -> Range:
    """A value as its own definition, if nothing tells it by another one."""
    t = definition.register.type
    known = isinstance(value, Told) or value.lo == value.hi or t.is_native_float or t.is_predicate
    if known or value.lo < 0 or value.hi >= 1 << t.bits:
        return value
    return Told(value.lo, value.hi, value.zeros, Linear(definition, value, 1, 0))


class ToldAlgebra(RangeAlgebra):
    """Bounds, and what is told by a definition."""

    def add(self, t: Type, a: Range, b: Range) -> Range:
        return _sum(t, super().add(t, a, b), a, b, 1)

    def sub(self, t: Type, a: Range, b: Range) -> Range:
        return _sum(t, super().sub(t, a, b), a, b, -1)

    def minimum(self, t: Type, a: Range, b: Range) -> Range:
        (al, ah), (bl, bh) = bounds(t, a), bounds(t, b)
        return a if ah <= bl else b if bh <= al else super().minimum(t, a, b)

    def maximum(self, t: Type, a: Range, b: Range) -> Range:
        (al, ah), (bl, bh) = bounds(t, a), bounds(t, b)
        return a if al >= bh else b if bl >= ah else super().maximum(t, a, b)

    def divide(self, t: Type, a: Range, b: Range) -> Range:
        quotient = super().divide(t, a, b)
        return _quotient(t, a, b.lo, quotient) if b.lo == b.hi else quotient

    def shift_right(self, t: Type, a: Range, n: Range) -> Range:
        quotient = super().shift_right(t, a, n)
        return _quotient(t, a, 1 << n.lo, quotient) if 0 <= n.lo == n.hi < t.bits else quotient


def _linear(a: Range) -> Linear | None:
    return a.by if isinstance(a, Told) and isinstance(a.by, Linear) else None


def _sum(t: Type, sum_: Range, a: Range, b: Range, sign: int) -> Range:
    """`a`, and `b` by a sign: `sum_`, and what more is told of it."""
    one, other = _linear(a), _linear(b)
    more = ((one.more if one else a.lo) + sign * (other.more if other else b.lo)) % (1 << t.bits)
    if one and other:
        same = one.base is other.base and one.sign + sign * other.sign == 0
        return constant(more) if same else sum_
    found, number, by = (one, b, 1) if one else (other, a, sign)
    if found is None or number.lo != number.hi:
        return sum_
    return Told(sum_.lo, sum_.hi, sum_.zeros, Linear(found.base, found.bounds, by * found.sign, more))


def _quotient(t: Type, a: Range, divisor: int, quotient: Range) -> Range:
    """A quotient that is one of two numbers: the greater one up to some value of what `a` falls with."""
    linear, (low, high) = _linear(a), unsigned_bounds(t, a)
    if linear is None or linear.sign > 0 or quotient.hi != quotient.lo + 1:
        return quotient
    if (low, high) != (a.lo, a.hi) or high >> t.bits - t.is_signed:
        return quotient
    limit = high + linear.bounds.lo - quotient.hi * divisor + 1
    return Told(quotient.lo, quotient.hi, quotient.zeros, Falling(linear.base, limit))
