"""Floating-point formats of 8 bits (PTX 7.8 cvt): `.e4m3` and `.e5m2`, always two in 16 bits.

`.e4m3` has no infinity, and one NaN of each sign; `.e5m2` is like the upper half of an `.f16`. Results here
are limited to finite numbers, and NaN is 0x7F.
"""

from __future__ import annotations

from simt.isa.algebra import Algebra, V
from simt.isa.catalogue import instruction
from simt.ptx.types import B16, B32, F16, F32, S32, U16, U32
from simt.records import dataclass

NAN = 0x7F
F32_MANTISSA, F32_BIAS = 23, 127
F16_BIAS, HALF_NAN, HALF_INFINITY = 15, 0x7FFF, 0x7C00


@dataclass(frozen=True, slots=True)
class Small:
    """A format: bits of its mantissa, bias of its exponent, and the largest number's code."""

    mantissa: int
    bias: int
    largest: int


FORMATS = {"e4m3x2": Small(3, 7, 0x7E), "e5m2x2": Small(2, 15, 0x7B)}
WORDS = " ".join(FORMATS)


def encoded(m: Algebra[V], small: Small, a: V, relu: bool) -> V:
    """`.f32` to 8 bits of a `.b32`: to nearest even, at most the largest number, negative ones zero
    (`relu`)."""
    bits = m.to_bits(F32, a)
    magnitude = m.and_(B32, bits, m.const(B32, 0x7FFFFFFF))
    code = m.minimum(U32, _rounded(m, small, magnitude), m.const(U32, small.largest))
    sign = m.and_(B32, m.shift_right(U32, bits, m.const(U32, 24)), m.const(B32, 0x80))
    code = m.or_(B32, code, sign)
    if relu:
        code = m.select(B32, m.compare("lt", S32, bits, m.const(S32, 0)), m.const(B32, 0), code)
    return m.select(B32, m.is_nan(F32, a), m.const(B32, NAN), code)


def _rounded(m: Algebra[V], small: Small, magnitude: V) -> V:
    """The code nearest to a positive `.f32` (its bits), as if exponents had no limit above."""
    dropped = F32_MANTISSA - small.mantissa
    odd = m.and_(U32, m.shift_right(U32, magnitude, m.const(U32, dropped)), m.const(U32, 1))
    up = m.add(U32, m.add(U32, magnitude, m.const(U32, (1 << (dropped - 1)) - 1)), odd)
    rebias = (F32_BIAS - small.bias) << small.mantissa
    normal = m.sub(U32, m.shift_right(U32, up, m.const(U32, dropped)), m.const(U32, rebias))
    # Below the least normal number a sum with this one has the format's steps as its last bit.
    unit = F32_BIAS + 1 - small.bias - small.mantissa + F32_MANTISSA
    anchor = m.const(F32, unit << F32_MANTISSA)
    total = m.to_bits(F32, m.fadd(F32, m.from_bits(F32, magnitude), anchor, "rn"))
    steps = m.sub(U32, total, m.const(U32, unit << F32_MANTISSA))
    least = m.const(U32, (F32_BIAS + 1 - small.bias) << F32_MANTISSA)
    return m.select(U32, m.compare("lt", U32, magnitude, least), steps, normal)


def paired(m: Algebra[V], high: V, low: V) -> V:
    """Two codes as a `.b16`."""
    return m.resize(B32, B16, m.or_(B32, m.shift_left(B32, high, m.const(U32, 8)), low))


@instruction("cvt.rn.satfinite[.relu].to.f32 d:b16, a:f32, b:f32", to=WORDS, since="7.8 sm_89",
             ref="PTX 7.8 cvt")  # fmt: skip
def cvt_to_small(m: Algebra[V], a: V, b: V, to: str, relu: bool) -> V:
    """Converts two values to 8 bits: `a` into the upper half of the result, `b` into the lower.

    Rounds to nearest even; what is larger than the largest number, infinity too, becomes that.
    """
    high, low = (encoded(m, FORMATS[to], x, relu) for x in (a, b))
    return paired(m, high, low)


@instruction(
    "cvt.rn.satfinite[.relu].to.f16x2 d:b16, a:f16x2", to=WORDS, since="7.8 sm_89", ref="PTX 7.8 cvt"
)
def cvt_halves_to_small(m: Algebra[V], a: V, to: str, relu: bool) -> V:
    """Converts two halves to 8 bits, each into its half of the result; rounded and limited as from `.f32`."""
    upper = m.resize(B32, B16, m.shift_right(U32, a, m.const(U32, 16)))
    halves = (upper, m.resize(B32, B16, a))
    high, low = (encoded(m, FORMATS[to], m.float_to_float(F16, F32, x, "rn"), relu) for x in halves)
    return paired(m, high, low)


def decoded(m: Algebra[V], small: Small, code: V, relu: bool) -> V:
    """8 bits of a `.b32` as an `.f16`, in the lower half of a `.b32`."""
    sign = m.shift_left(B32, m.and_(B32, code, m.const(B32, 0x80)), m.const(U32, 8))
    magnitude = m.and_(B32, code, m.const(B32, 0x7F))
    if small.bias == F16_BIAS:
        value = m.shift_left(B32, magnitude, m.const(U32, 8))
        nan = m.compare("gt", U32, value, m.const(U32, HALF_INFINITY))
    else:  # as if it were an `.f16` of another bias; the product with a power of two is exact
        moved = m.resize(B32, B16, m.shift_left(B32, magnitude, m.const(U32, 10 - small.mantissa)))
        scale = m.const(F32, F32_BIAS + F16_BIAS - small.bias << F32_MANTISSA)
        scaled = m.fmul(F32, m.float_to_float(F16, F32, moved, "rn"), scale, "rn")
        value = m.resize(B16, B32, m.float_to_float(F32, F16, scaled, "rn"))
        nan = m.compare("eq", U32, magnitude, m.const(U32, NAN))
    value = m.or_(B32, value, sign)
    if relu:
        value = m.select(B32, m.compare("ne", U32, sign, m.const(U32, 0)), m.const(B32, 0), value)
    return m.select(B32, nan, m.const(B32, HALF_NAN), value)


@instruction("cvt.rn[.relu].f16x2.small d:f16x2, a:b16", small=WORDS, since="7.8 sm_89", ranges={"a": ()},
             ref="PTX 7.8 cvt")  # fmt: skip
def cvt_from_small(m: Algebra[V], a: V, small: str, relu: bool) -> V:
    """Converts two values of 8 bits to halves, which hold them all; NaN is 0x7FFF."""
    both = m.resize(U16, U32, a)
    high, low = m.shift_right(U32, both, m.const(U32, 8)), m.and_(U32, both, m.const(U32, 0xFF))
    upper, lower = (decoded(m, FORMATS[small], x, relu) for x in (high, low))
    return m.or_(B32, m.shift_left(B32, upper, m.const(U32, 16)), lower)
