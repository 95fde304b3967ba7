"""The approximate instructions as an H200 carries them out: the special function unit and what is around it.

The unit knows no subnormals. Where an instruction does, the hardware's code scales operand and result; these
steps are plain multiplications, rounded to nearest, and part of the result. They were read from what ptxas
makes of each instruction.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from simt.isa import special
from simt.isa.algebra import Algebra, V
from simt.isa.derived import float_abs, flush_if, number, outside, quiet_nan, twice_product
from simt.isa.special import SINGLE, UPPER
from simt.ptx.types import F32, F64, PRED, U32, U64

Unit = Callable[[Algebra[V], V], V]

LARGEST = 2.0**126
"""The greatest divisor whose reciprocal is a normal number."""


def times(m: Algebra[V], a: V, factor: float) -> V:
    return m.fmul(F32, a, number(m, F32, factor), "rn")


def is_subnormal(m: Algebra[V], a: V) -> V:
    """Whether a magnitude of `.f32` is below the least normal number: zeros too."""
    return m.compare("lt", F32, float_abs(m, F32, a), m.const(F32, SINGLE.least_normal))


def scaled(unit: Unit[V], scale: float, back: Unit[V], m: Algebra[V], bits: V) -> V:
    """What the unit gives for an edge, by way of a multiple where the operand is subnormal; all in bits."""
    a = m.from_bits(F32, bits)
    small = is_subnormal(m, a)
    near = m.select(F32, small, times(m, a, scale), a)
    result = m.from_bits(F32, unit(m, m.to_bits(F32, near)))
    return m.to_bits(F32, m.select(F32, small, back(m, result), result))


def multiple(factor: float, m: Algebra[V], a: V) -> V:
    return times(m, a, factor)


def by_bits(m: Algebra[V], unit: Callable[..., V], a: V, edges: Unit[V] | None) -> V:
    """A unit's function of bits, on `.f32`."""
    return m.from_bits(F32, unit(m, m.to_bits(F32, a), edges))


# ---------------------------------------------------------------- single precision


def rcp(m: Algebra[V], a: V, ftz: bool) -> V:
    return by_bits(m, special.reciprocal, a, None if ftz else _any_reciprocal)


def _any_reciprocal(m: Algebra[V], bits: V) -> V:
    """Of divisors for which the unit alone does not serve."""
    a = m.from_bits(F32, bits)
    large = m.compare("gt", F32, float_abs(m, F32, a), number(m, F32, LARGEST))
    scale = m.select(F32, large, number(m, F32, 0.25), number(m, F32, 1.0))
    scale = m.select(F32, is_subnormal(m, a), number(m, F32, 2.0**24), scale)
    near = by_bits(m, special.reciprocal, m.fmul(F32, a, scale, "rn"), None)
    return m.to_bits(F32, m.fmul(F32, near, scale, "rn"))


def rsqrt(m: Algebra[V], a: V, ftz: bool) -> V:
    edges = partial(scaled, special.reciprocal_root, 2.0**24, partial(multiple, 2.0**12))
    return by_bits(m, special.reciprocal_root, a, None if ftz else edges)


def sqrt(m: Algebra[V], a: V, ftz: bool) -> V:
    edges = partial(scaled, special.root, 2.0**24, partial(multiple, 2.0**-12))
    return by_bits(m, special.root, a, None if ftz else edges)


def lg2(m: Algebra[V], a: V, ftz: bool) -> V:
    edges = partial(scaled, special.logarithm, 2.0**24, _less_24)
    return by_bits(m, special.logarithm, a, None if ftz else edges)


def _less_24(m: Algebra[V], a: V) -> V:
    return m.fadd(F32, a, number(m, F32, -24.0), "rn")


def ex2(m: Algebra[V], a: V, ftz: bool) -> V:
    return by_bits(m, special.exponential, a, None if ftz else _any_exponential)


def _any_exponential(m: Algebra[V], bits: V) -> V:
    """Below -126 the square of 2^(a / 2)."""
    a = m.from_bits(F32, bits)
    low = m.compare("lt", F32, a, number(m, F32, -126.0))
    near = m.select(F32, low, times(m, a, 0.5), a)
    result = by_bits(m, special.exponential, near, None)
    return m.to_bits(F32, m.select(F32, low, m.fmul(F32, result, result, "rn"), result))


# ---------------------------------------------------------------- division


def edge_factor(m: Algebra[V], b: V, ftz: bool, full: bool) -> V:
    """By what both sides of a quotient are multiplied: 2^24 if the divisor is subnormal and not flushed, 1/4
    if it is so large that its reciprocal is subnormal and the range is to be `full`, else 1."""
    factor = number(m, F32, 1.0)
    if full:
        large = m.compare("gt", F32, float_abs(m, F32, b), number(m, F32, LARGEST))
        factor = m.select(F32, large, number(m, F32, 0.25), factor)
    return factor if ftz else m.select(F32, is_subnormal(m, b), number(m, F32, 2.0**24), factor)


def divide(m: Algebra[V], a: V, b: V, ftz: bool, full: bool = False) -> V:
    """a times 1/b, which is 0 for |b| above 2^126 if the range is not `full`."""
    if full or not ftz:
        factor = edge_factor(m, b, ftz, full)
        a, b = (_product(m, x, factor, ftz) for x in (a, b))
    return _product(m, a, rcp(m, b, True), ftz)


def _product(m: Algebra[V], a: V, b: V, ftz: bool) -> V:
    a, b = flush_if(m, F32, ftz, a, b)
    product = m.fmul(F32, a, b, "rn")
    return m.flush_result(F32, product, partial(twice_product, F32, "rn"), a, b) if ftz else product


# ---------------------------------------------------------------- double precision


def upper(m: Algebra[V], a: V) -> V:
    """The upper half of a double's bits."""
    return m.resize(U64, U32, m.shift_right(U64, m.to_bits(F64, a), m.const(U32, 32)))


def from_upper(m: Algebra[V], bits: V) -> V:
    """A double with these bits above and zeros below."""
    return m.from_bits(F64, m.shift_left(U64, m.resize(U32, U64, bits), m.const(U32, 32)))


def coarse_rcp(m: Algebra[V], a: V) -> V:
    return from_upper(m, special.reciprocal(m, upper(m, a), None, UPPER))


def coarse_rsqrt(m: Algebra[V], a: V) -> V:
    return from_upper(m, special.upper_reciprocal_root(m, upper(m, a)))


def double_rsqrt(m: Algebra[V], a: V) -> V:
    """1/sqrt(a), by one step from the coarse value."""
    rare = outside(m, U32, upper(m, a), UPPER.least_normal, UPPER.infinity)
    return m.rarely(F64, rare, _refined(m, a), _double_rsqrt_edges, a)


def _refined(m: Algebra[V], a: V) -> V:
    y = coarse_rsqrt(m, a)
    square = m.fmul(F64, y, y, "rn")
    rest = m.fma(F64, m.fsub(F64, m.const(F64, 1 << 63), a, "rn"), square, number(m, F64, 1.0), "rn")
    series = m.fma(F64, rest, number(m, F64, 0.375), number(m, F64, 0.5), "rn")
    return m.fma(F64, series, m.fmul(F64, y, rest, "rn"), y, "rn")


def _double_rsqrt_edges(m: Algebra[V], a: V) -> V:
    """Of subnormals by way of a multiple; zeros, infinity and negative numbers."""
    near = _refined(m, m.fmul(F64, a, number(m, F64, 2.0**54), "rn"))
    near = m.fmul(F64, near, number(m, F64, 2.0**27), "rn")
    zero = m.const(F64, 0)
    near = m.select(F64, m.compare("eq", F64, a, m.const(F64, UPPER.infinity << 32)), zero, near)
    wrong = m.or_(PRED, m.is_nan(F64, a), m.compare("lt", F64, a, zero))
    near = m.select(F64, wrong, m.const(F64, quiet_nan(F64)), near)
    return m.select(F64, m.compare("eq", F64, a, zero), from_upper(m, _zero_edges(m, a)), near)


def _zero_edges(m: Algebra[V], a: V) -> V:
    return special.reciprocal_root_edges(UPPER, m, upper(m, a))
