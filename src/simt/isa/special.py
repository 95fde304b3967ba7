"""The special function unit, bit for bit as an H200's: quadratic interpolation from tables.

Each function reduces its operand to a segment and a place of 17 bits in it, X. The unit adds c0, c1 X and
c2 times a square whose partial products below a certain column are left out, keeps 36 bits below the binary
point, and cuts them to 24 significant ones: nothing is rounded. docs/special-functions.md tells how that was
found, and how far it was compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Generic

from simt.isa.algebra import Algebra, V
from simt.isa.derived import float_abs, number, outside, quiet_nan, with_bits
from simt.isa.special_tables import (
    PLACE,
    SLOPE_SHIFT,
    Table,
    exact_table,
    measured,
    rounded_table,
)
from simt.isa.special_words import SQUARED, bits_of, down, nearest, plus, signed_sum, square, up
from simt.ptx.types import F32, F64, PRED, S32, U32
from simt.records import dataclass

MANTISSA = 23
"""Stored bits of a significand of single precision."""


# ---------------------------------------------------------------- interpolation


def c0_and_rest(m: Algebra[V], table: Table, segment: V, x: V) -> tuple[V, V]:
    """c0, and what is added to it, as a 32-bit integer: (bias +- |c1| X +- |c2| P) / 2^`table.fraction`,
    rounded down."""
    c0, slopes = m.lookup(U32, segment, table.c0, table.slopes)
    c1, c2 = down(m, slopes, SLOPE_SHIFT), bits_of(m, slopes, (1 << SLOPE_SHIFT) - 1)
    low = m.mul(U32, c1, bits_of(m, x, (1 << table.split) - 1))
    low = signed_sum(m, m.const(U32, table.bias), table.c1_sign, low)
    low = signed_sum(m, low, table.c2_sign, m.mul(U32, c2, square(m, x)))
    high = m.mul(U32, c1, down(m, x, table.split))
    total = signed_sum(m, down(m, low, table.split, S32), table.c1_sign, high)
    return c0, down(m, total, table.fraction - table.split, S32)


def significand(m: Algebra[V], name: str, segment: V, x: V) -> V:
    """A result of 24 bits at a fixed place: 2^23 to 2^24."""
    return down(m, m.add(U32, *c0_and_rest(m, rounded_table(name), segment, x)), 2)


@dataclass(frozen=True, slots=True)
class Sum(Generic[V]):
    """An integer in pieces: all but its lowest 6 bits, and its lowest 32 bits."""

    upper: V
    lower: V


DROPPED = 6
"""Bits that the upper piece of a sum lacks."""


def exact_sum(m: Algebra[V], name: str, fraction: int, segment: V, x: V) -> Sum[V]:
    """A sum below 2 in units of 2^-`fraction`."""
    c0, rest = c0_and_rest(m, exact_table(name, fraction), segment, x)
    shift = fraction - 26
    upper = m.add(U32, up(m, c0, shift - DROPPED), down(m, rest, DROPPED))
    return Sum(upper, m.add(U32, up(m, c0, shift), rest))


def cut(m: Algebra[V], total: Sum[V], fraction: int) -> V:
    """The bits of a sum as `.f32`, cut to 24 significant ones."""
    return normalized(m, *_fitting(m, total, fraction))


def _fitting(m: Algebra[V], total: Sum[V], fraction: int) -> tuple[V, V]:
    """A sum's significant bits as an integer of 32 bits, and the exponent of its unit."""
    fits = m.compare("lt", U32, total.upper, m.const(U32, 1 << (32 - DROPPED)))
    whole = m.select(U32, fits, total.lower, total.upper)
    low, high = (m.const(U32, n % 2**32) for n in (-fraction, DROPPED - fraction))
    return whole, m.select(U32, fits, low, high)


def normalized(m: Algebra[V], whole: V, exponent: V) -> V:
    """The bits of `.f32` of an integer times 2^`exponent`, cut."""
    zeros = m.leading_zeros(U32, whole)
    significant = down(m, m.shift_left(U32, whole, zeros), 32 - MANTISSA - 1)
    exponent = plus(m, m.sub(U32, exponent, zeros), 127 + 31 - 1)
    value = m.add(U32, up(m, exponent, MANTISSA), significant)
    return m.select(U32, m.compare("eq", U32, whole, m.const(U32, 0)), m.const(U32, 0), value)


def segment_and_place(m: Algebra[V], a: V) -> tuple[V, V]:
    """The upper bits of a number, and its lower 17."""
    return down(m, a, PLACE), bits_of(m, a, (1 << PLACE) - 1)


# ---------------------------------------------------------------- numbers by their bits


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a floating-point number's fields lie in 32 bits."""

    mantissa: int
    bias: int

    @property
    def least_normal(self) -> int:
        return 1 << self.mantissa

    @property
    def infinity(self) -> int:
        return 2 * self.bias + 1 << self.mantissa

    @property
    def largest_divisor(self) -> int:
        """The greatest power of two whose reciprocal is a normal number."""
        return 2 * self.bias - 1 << self.mantissa


SINGLE = Layout(MANTISSA, 127)
UPPER = Layout(20, 1023)
"""The upper half of a double."""

SIGN = 1 << 31
NAN = quiet_nan(F32)
"""The NaN that the unit makes of every NaN, as the upper half of a double too."""


def magnitude(m: Algebra[V], bits: V) -> V:
    return bits_of(m, bits, SIGN - 1)


def chosen(m: Algebra[V], value: V, *cases: tuple[V, int | V]) -> V:
    """The bits of the first case that holds, else `value`."""
    for holds, bits in reversed(cases):
        value = m.select(U32, holds, m.const(U32, bits) if isinstance(bits, int) else bits, value)
    return value


def signed_as(m: Algebra[V], bits: V, a: V) -> V:
    """Some bits with the sign bit of `a` inverted into them; NaN stays as it is."""
    signed = m.xor(U32, bits, bits_of(m, a, SIGN))
    return m.select(U32, m.compare("eq", U32, bits, m.const(U32, NAN)), bits, signed)


Edges = Callable[[Algebra[V], V], V]
"""What becomes of the bits of an operand for which the table does not serve."""


# ---------------------------------------------------------------- reciprocals and roots
#
# These take and give bits. Subnormal operands are zeros to the unit, and it makes subnormal results zeros.


def reciprocal(m: Algebra[V], a: V, edges: Edges[V] | None = None, layout: Layout = SINGLE) -> V:
    """1/a."""
    size = magnitude(m, a)
    mantissa = bits_of(m, size, layout.least_normal - 1)
    place = up(m, mantissa, PLACE + 7 - layout.mantissa)  # 128 segments: a place of 16 bits
    segment, x = segment_and_place(m, place)
    value = down(m, significand(m, "reciprocal", segment, x), MANTISSA - layout.mantissa)
    value = plus(m, value, 2 * layout.bias - 2 << layout.mantissa)
    value = m.sub(U32, value, m.sub(U32, size, mantissa))
    value = m.or_(U32, value, bits_of(m, a, SIGN))
    rare = outside(m, U32, size, layout.least_normal, layout.largest_divisor)
    return m.rarely(U32, rare, value, edges or partial(reciprocal_edges, layout), a)


def reciprocal_edges(layout: Layout, m: Algebra[V], a: V) -> V:
    """Of zeros and subnormals, of the largest divisor and what is above, infinities and NaN."""
    size = magnitude(m, a)
    result = chosen(
        m,
        m.const(U32, NAN),
        (m.compare("lt", U32, size, m.const(U32, layout.least_normal)), layout.infinity),
        (m.compare("eq", U32, size, m.const(U32, layout.largest_divisor)), layout.least_normal),
        (m.compare("le", U32, size, m.const(U32, layout.infinity)), 0),
    )
    return signed_as(m, result, a)


def reciprocal_root(m: Algebra[V], a: V, edges: Edges[V] | None = None) -> V:
    """1/sqrt(a)."""
    rare = outside(m, U32, a, SINGLE.least_normal, SINGLE.infinity)
    value = _normal_reciprocal_root(m, a)
    return m.rarely(U32, rare, value, edges or partial(reciprocal_root_edges, SINGLE), a)


def _normal_reciprocal_root(m: Algebra[V], a: V) -> V:
    """The same of positive normal numbers."""
    near = m.to_bits(F32, m.near_reciprocal_root(m.from_bits(F32, a)))
    return nearest(m, "reciprocal_root", a, near)


UNIT_EXPONENT = SINGLE.bias - 1
"""The even one of the biased exponents of numbers from 1/2 to 2."""


def upper_reciprocal_root(m: Algebra[V], a: V) -> V:
    """1/sqrt(a) of the upper half of a double: that of a number from 1/2 to 2, its exponent as even."""
    fields = up(m, bits_of(m, a, 2 * UPPER.least_normal - 1), MANTISSA - UPPER.mantissa)
    single = m.or_(U32, fields, m.const(U32, UNIT_EXPONENT << MANTISSA))
    value = down(m, _normal_reciprocal_root(m, single), MANTISSA - UPPER.mantissa)
    halved = up(m, down(m, a, UPPER.mantissa + 1), UPPER.mantissa)  # the exponent's half
    rebias = UPPER.bias - SINGLE.bias
    value = m.sub(U32, plus(m, value, rebias + (UNIT_EXPONENT + rebias) // 2 << UPPER.mantissa), halved)
    rare = outside(m, U32, a, UPPER.least_normal, UPPER.infinity)
    return m.rarely(U32, rare, value, partial(reciprocal_root_edges, UPPER), a)


def reciprocal_root_edges(layout: Layout, m: Algebra[V], a: V) -> V:
    """Of zeros and subnormals, infinity, negative numbers and NaN."""
    signed_infinity = m.or_(U32, bits_of(m, a, SIGN), m.const(U32, layout.infinity))
    return chosen(
        m,
        m.const(U32, NAN),
        (m.compare("lt", U32, magnitude(m, a), m.const(U32, layout.least_normal)), signed_infinity),
        (m.compare("eq", U32, a, m.const(U32, layout.infinity)), 0),
    )


def root(m: Algebra[V], a: V, edges: Edges[V] | None = None) -> V:
    """sqrt(a)."""
    x = m.from_bits(F32, a)
    near = m.fmul(F32, x, m.near_reciprocal_root(x), "rn")
    value = nearest(m, "root", a, m.to_bits(F32, near))
    rare = outside(m, U32, a, SINGLE.least_normal, SINGLE.infinity)
    return m.rarely(U32, rare, value, edges or root_edges, a)


def root_edges(m: Algebra[V], a: V) -> V:
    """As those of the reciprocal root."""
    return chosen(
        m,
        m.const(U32, NAN),
        (m.compare("lt", U32, magnitude(m, a), m.const(U32, SINGLE.least_normal)), bits_of(m, a, SIGN)),
        (m.compare("eq", U32, a, m.const(U32, SINGLE.infinity)), SINGLE.infinity),
    )


# ---------------------------------------------------------------- logarithm and exponential

ONE = SINGLE.bias << MANTISSA
"""The bits of 1."""

LOGARITHM_FRACTION = 36
"""Bits below the point of a logarithm's sum; what is below them is cut."""


def logarithm(m: Algebra[V], a: V, edges: Edges[V] | None = None) -> V:
    """log2(a), of bits and in bits. Of a negative sum the ones' complement is cut."""
    exponent = m.sub(U32, down(m, a, MANTISSA), m.const(U32, SINGLE.bias))
    places = segment_and_place(m, bits_of(m, a, SINGLE.least_normal - 1))
    value = _with_whole(m, exponent, exact_sum(m, "logarithm", LOGARITHM_FRACTION, *places))
    rare = outside(m, U32, a, SINGLE.least_normal, SINGLE.infinity)
    rare = m.or_(PRED, rare, m.compare("eq", U32, a, m.const(U32, ONE)))
    return m.rarely(U32, rare, value, edges or logarithm_edges, a)


def _with_whole(m: Algebra[V], whole: V, total: Sum[V]) -> V:
    """The bits of a signed integer plus a sum, cut."""
    sign = down(m, whole, 31, S32)
    kept = LOGARITHM_FRACTION - MANTISSA
    high = m.add(U32, up(m, whole, MANTISSA), down(m, total.upper, kept - DROPPED))
    high = m.xor(U32, high, sign)
    mask = (1 << (LOGARITHM_FRACTION - DROPPED)) - 1
    total = Sum(bits_of(m, m.xor(U32, total.upper, sign), mask), m.xor(U32, total.lower, sign))
    small = m.compare("lt", U32, high, m.const(U32, 1 << MANTISSA))
    integer, unit = _fitting(m, total, LOGARITHM_FRACTION)
    integer = m.select(U32, small, integer, high)
    unit = m.select(U32, small, unit, m.const(U32, -MANTISSA % 2**32))
    return m.or_(U32, normalized(m, integer, unit), bits_of(m, sign, SIGN))


def logarithm_edges(m: Algebra[V], a: V) -> V:
    """Of zeros and subnormals, 1, infinity, negative numbers and NaN. The sum of 1 would not be 0."""
    return chosen(
        m,
        m.const(U32, NAN),
        (m.compare("lt", U32, magnitude(m, a), m.const(U32, SINGLE.least_normal)), SIGN | SINGLE.infinity),
        (m.compare("eq", U32, a, m.const(U32, ONE)), 0),
        (m.compare("eq", U32, a, m.const(U32, SINGLE.infinity)), SINGLE.infinity),
    )


def significant(m: Algebra[V], size: V) -> V:
    """The 24 significant bits of a normal number."""
    return m.or_(U32, bits_of(m, size, SINGLE.least_normal - 1), m.const(U32, SINGLE.least_normal))


LARGEST_EXPONENT = 126
"""Below it powers of two and their reciprocals are normal numbers, whatever the fraction."""


def exponential(m: Algebra[V], a: V, edges: Edges[V] | None = None) -> V:
    """2^a, of bits and in bits. The magnitude is cut to 23 bits below the point, and of a negative fraction
    the ones' complement is taken."""
    limit = m.const(U32, SINGLE.bias + 6 << MANTISSA | (LARGEST_EXPONENT - 64) << (MANTISSA - 6))
    rare = m.compare("ge", U32, magnitude(m, a), limit)
    return m.rarely(U32, rare, _power(m, a), edges or exponential_edges, a)


def _power(m: Algebra[V], a: V) -> V:
    """The same, for magnitudes below 256 and for results that are normal."""
    size = magnitude(m, a)
    shift = m.sub(U32, m.const(U32, SINGLE.bias + 7), down(m, size, MANTISSA))
    whole = m.shift_right(U32, up(m, significant(m, size), 7), shift)
    integral = m.compare("eq", U32, bits_of(m, whole, SINGLE.least_normal - 1), m.const(U32, 0))
    sign = down(m, a, 31, S32)
    fixed = m.xor(U32, whole, sign)
    fixed = m.select(U32, integral, m.sub(U32, fixed, sign), fixed)
    fraction = bits_of(m, fixed, SINGLE.least_normal - 1)
    value = significand(m, "exponential", *segment_and_place(m, fraction))
    return m.add(U32, plus(m, value, SINGLE.bias - 1 << MANTISSA), m.sub(U32, fixed, fraction))


def exponential_edges(m: Algebra[V], a: V) -> V:
    """Of operands of 126 and more in magnitude. Subnormal results become zeros."""
    x = m.from_bits(F32, a)
    high = m.compare("ge", F32, x, number(m, F32, 128.0))
    low = m.compare("lt", F32, x, number(m, F32, -126.0))
    return chosen(m, _power(m, a), (m.is_nan(F32, x), NAN), (high, SINGLE.infinity), (low, 0))


# ---------------------------------------------------------------- sine and cosine

TURN = 0.15915493667125702
"""1/(2 pi) in single precision."""

TURN_BITS = 25
"""Bits of the fraction of a turn that count."""

SINE_FRACTION = 37
"""Bits below the point of a sine's sum: nothing is cut."""


def sine(m: Algebra[V], a: V) -> V:
    """sin(a), of `.f32`."""
    return m.from_bits(F32, signed_as(m, _of_turns(m, float_abs(m, F32, a), 0), m.to_bits(F32, a)))


def cosine(m: Algebra[V], a: V) -> V:
    """cos(a), likewise."""
    return m.from_bits(F32, _of_turns(m, float_abs(m, F32, a), 1))


def _of_turns(m: Algebra[V], a: V, quarters: int) -> V:
    """The bits of sin(a + quarters pi/2) for a >= 0. In odd quarters the ones' complement of the place is
    taken."""
    turns = m.to_bits(F32, m.fmul(F32, a, number(m, F32, TURN), "rz"))
    fixed = plus(m, _fixed(m, turns), quarters << MANTISSA)
    quarter = 1 << MANTISSA
    place = bits_of(m, fixed, quarter - 1)
    odd = m.compare("ne", U32, bits_of(m, fixed, quarter), m.const(U32, 0))
    place = m.select(U32, odd, m.xor(U32, place, m.const(U32, quarter - 1)), place)
    total = exact_sum(m, "sine", SINE_FRACTION, *segment_and_place(m, place))
    sign = up(m, bits_of(m, fixed, 2 * quarter), 30 - MANTISSA)
    value = m.xor(U32, cut(m, total, SINE_FRACTION), sign)
    infinite = m.compare("ge", U32, magnitude(m, turns), m.const(U32, SINGLE.infinity))
    return chosen(m, value, (infinite, NAN))


def _fixed(m: Algebra[V], turns: V) -> V:
    """The lowest 25 bits before the point that 2^-25 turns make, and what is above them of 32. One of the
    shifts leaves zeros, unless both are by nothing."""
    exponent = down(m, turns, MANTISSA)
    left = plus(m, exponent, TURN_BITS - MANTISSA - SINGLE.bias)
    right = m.sub(U32, m.const(U32, 0), left)
    bits = significant(m, turns)
    return m.or_(U32, m.shift_left(U32, bits, left), m.shift_right(U32, bits, right))


# ---------------------------------------------------------------- hyperbolic tangent

TANGENT_FROM, TANGENT_TO = 119, 130
"""Biased exponents between which the table is used: a itself below 2^-8, 1 from 8 on."""

TANGENT_BITS = (0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 3)
"""Bits of the mantissa that choose a segment, by exponent."""


def _tangent_steps() -> tuple[int, ...]:
    """By exponent: the first segment, and below it in 3 bits how far the mantissa is shifted."""
    first, steps = 0, list[int]()
    for bits in TANGENT_BITS:
        steps.append(first << 3 | (MANTISSA - PLACE - bits))
        first += 1 << bits
    return (*steps, *(0 for _ in range(16 - len(steps))))


def hyperbolic_tangent(m: Algebra[V], a: V) -> V:
    """tanh(a), of `.f32`. Subnormals stay as they are."""
    bits = m.to_bits(F32, a)
    size = magnitude(m, bits)
    (step,) = m.lookup(U32, plus(m, down(m, size, MANTISSA), -TANGENT_FROM), _tangent_steps())
    mantissa = bits_of(m, size, SINGLE.least_normal - 1)
    segment, x = segment_and_place(m, m.shift_right(U32, mantissa, bits_of(m, step, 7)))
    value = _cut_double(m, _tangent_sum(m, m.add(U32, segment, down(m, step, 3)), x))
    result = chosen(
        m,
        m.to_bits(F32, value),
        (m.compare("lt", U32, size, m.const(U32, TANGENT_FROM << MANTISSA)), size),
        (m.compare("gt", U32, size, m.const(U32, SINGLE.infinity)), NAN),
        (m.compare("ge", U32, size, m.const(U32, TANGENT_TO << MANTISSA)), ONE),
    )
    return m.from_bits(F32, signed_as(m, result, bits))


def _tangent_sum(m: Algebra[V], segment: V, x: V) -> V:
    """The sum in units of 2^-24; the slopes are too different for the packed table."""
    table = measured()["hyperbolic_tangent"]
    found = m.lookup(U32, segment, *map(_filled_up, (table.c0, table.c1, table.c2)))
    c0, c1, c2 = (m.int_to_float(S32, F64, c, "rn") for c in found)
    place, squared = (m.int_to_float(U32, F64, v, "rn") for v in (x, square(m, x)))
    total = m.fmul(F64, c0, number(m, F64, 0.25), "rn")
    slope = m.fmul(F64, c1, number(m, F64, table.c1_unit * 2.0**-PLACE), "rn")
    curve = m.fmul(F64, c2, number(m, F64, table.c2_unit * 2.0**-SQUARED), "rn")
    return m.fma(F64, curve, squared, m.fma(F64, slope, place, total, "rn"), "rn")


def _cut_double(m: Algebra[V], a: V) -> V:
    """A number of `.f64` in units of 2^-24, cut to 24 significant bits, as `.f32`."""
    dropped = (1 << (53 - 24)) - 1
    kept = with_bits(m, F64, a, lambda u, x: m.and_(u, x, m.const(u, 2**64 - 1 - dropped)))
    return m.fmul(F32, m.float_to_float(F64, F32, kept, "rn"), number(m, F32, 2.0**-24), "rn")


def _filled_up(row: Sequence[int]) -> tuple[int, ...]:
    """The bits of a row, filled up to 64."""
    return (*(c % 2**32 for c in row), *(0 for _ in range(64 - len(row))))
