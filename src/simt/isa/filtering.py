"""Linear filtering of texels over the algebra, bit for bit as an H200 does it: decision 20.

Integer arithmetic throughout. Weights are whole numbers of 1/256. Lists of texels and weights are by corner:
corner 4z + 2y + x is the upper one along the axes that are 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Generic

from simt.isa.algebra import V
from simt.isa.column import Column
from simt.ptx.types import F16, F32, F64, PRED, S32, S64, U32, Type
from simt.records import dataclass

UNIT = 256
"""The weights of a point add up to this."""
_UNIT_BITS = 8
_SLICE = 4
"""Corners with the same z, summed at a time."""
_GUARD_BITS = 4
"""Kept of a texel below the last bit of the largest one."""
_EXPONENTS = 4
"""The exponent of a sum of two slices is a multiple of this."""
_BIAS_OF_F64, _STORED_OF_F64 = 1023, 52
_LARGEST = {False: 65535, True: 32767}
"""Integers that a sum of unsigned or signed ones has for 1."""


def weights(upper: Sequence[Column[V]]) -> list[Column[V]]:
    """By corner, from the weights of the upper texels (`.s32`) along each of 2 or 3 axes, x first.

    z divides the unit, x divides each part, y those again. One part is a product, rounded; the other is what
    it leaves. Along x the product is the upper part; along y it is the upper one where x is upper, else the
    lower one.
    """
    x, y = upper[0], upper[1]
    slices = [x.constant(UNIT)] if len(upper) == 2 else [UNIT - upper[2], upper[2]]
    found: list[Column[V]] = []
    for whole in slices:
        right = _product(whole, x)
        left = whole - right
        lower_left, upper_right = _product(left, UNIT - y), _product(right, y)
        found += [lower_left, right - upper_right, left - lower_left, upper_right]
    return found


def _product(a: Column[V], b: Column[V]) -> Column[V]:
    return (a * b + UNIT // 2) >> _UNIT_BITS


def reached(upper: Sequence[Column[V]]) -> list[Column[V]]:
    """By corner: whether infinities, NaNs and signs of zeros are taken from it: also if its weight is rounded
    to zero."""
    some = [part.gt(0) for part in upper]
    always = Column(some[0].m, PRED, some[0].m.const(PRED, 1))
    return [
        _all([always, *(part for axis, part in enumerate(some) if corner >> axis & 1)])
        for corner in range(1 << len(upper))
    ]


def _all(columns: Sequence[Column[V]]) -> Column[V]:
    return reduce(lambda a, b: a & b, columns)


def _any(columns: Sequence[Column[V]]) -> Column[V]:
    return reduce(lambda a, b: a | b, columns)


def _total(columns: Sequence[Column[V]]) -> Column[V]:
    return reduce(lambda a, b: a + b, columns)


def mean(
    element: Type, texels: Sequence[Column[V]], weight: Sequence[Column[V]], counts: Sequence[Column[V]]
) -> Column[V]:
    """The bits (`.u32`) of the `.f32` that is a weighted mean of 8 or 16-bit integers, read as numbers up to
    1, or of halves or floats. `counts`: what `reached` returns."""
    if element.is_float:
        return _mean_of_floats(_FORMATS[element], texels, weight, counts)
    return _mean_of_integers(element, texels, weight)


def _mean_of_integers(element: Type, texels: Sequence[Column[V]], weight: Sequence[Column[V]]) -> Column[V]:
    """With results of 16 bits: 8-bit sums, which the weights give 8 bits of fraction, are scaled up."""
    total = _total([texel.to(S32) * w for texel, w in zip(texels, weight)])
    if element.bits == 8 and element.is_signed:  # by 129/128 + 16/(128 * 4096), nearly 32767 / (127 * 256)
        words = (total * 129 + (total >> 12) * 16 + 64) >> 7
    else:
        words = (total * (257 if element.bits == 8 else 1) + UNIT // 2) >> _UNIT_BITS
    m, largest = total.m, _LARGEST[element.is_signed]
    real = m.int_to_float(S32, F32, words.maximum(-largest).v, "rn")
    one = m.int_to_float(S32, F32, m.const(S32, largest), "rn")
    return Column(m, U32, m.to_bits(F32, m.fdiv(F32, real, one, "rn")))


@dataclass(frozen=True, slots=True)
class _Format:
    """A binary floating-point format as filters handle it. `sums`: the integers in which they add. `stored`:
    bits of the significand that are written down. `subnormals`: they are read and returned as they are, not
    as zeros. `not_a_number`: what it returns, as float32."""

    sums: Type
    stored: int
    exponents: int
    subnormals: bool
    not_a_number: int

    @property
    def special(self) -> int:
        """The exponent of infinities and NaNs."""
        return (1 << self.exponents) - 1

    @property
    def bias(self) -> int:
        return self.special >> 1


_FORMATS = {
    F16: _Format(S32, 10, 5, True, 0x7FFFE000),
    F32: _Format(S64, 23, 8, False, 0x7FFFFFFF),
}


@dataclass(frozen=True, slots=True)
class _Number(Generic[V]):
    """A floating-point number taken apart. Special ones are zeros here, with a fraction.

    A value is `significand` times two to the power of `exponent - bias - stored`; both are `.s32`.
    """

    negative: Column[V]
    exponent: Column[V]
    significand: Column[V]
    is_special: Column[V]
    fraction: Column[V]


def _mean_of_floats(
    form: _Format, texels: Sequence[Column[V]], weight: Sequence[Column[V]], counts: Sequence[Column[V]]
) -> Column[V]:
    numbers = [_taken_apart(form, texel) for texel in texels]
    found = _rounded(form, _sum(form, numbers, weight))
    minus = found.constant(1 << 31)
    are_negative = _all([(n.negative & n.significand.eq(0)) | ~c for n, c in zip(numbers, counts)])
    found = ((found << 1).eq(0) & are_negative).choose(minus, found)
    infinite = [n.is_special & n.fraction.eq(0) & c for n, c in zip(numbers, counts)]
    above = _any([i & ~n.negative for n, i in zip(numbers, infinite)])
    below = _any([i & n.negative for n, i in zip(numbers, infinite)])
    invalid = _any([n.is_special & n.fraction.ne(0) & c for n, c in zip(numbers, counts)]) | (above & below)
    found = below.choose(found.constant(0xFF800000), found)
    found = above.choose(found.constant(0x7F800000), found)
    return invalid.choose(found.constant(form.not_a_number), found)


def _taken_apart(form: _Format, texel: Column[V]) -> _Number[V]:
    bits = texel.to(U32).like(S32)
    exponent = (bits >> form.stored) & form.special
    fraction = bits & ((1 << form.stored) - 1)
    is_small, is_special = exponent.eq(0), exponent.eq(form.special)
    small = fraction if form.subnormals else fraction.constant(0)
    significand = is_small.choose(small, fraction | 1 << form.stored)
    return _Number(
        ((bits >> form.stored + form.exponents) & 1).ne(0),
        exponent.maximum(1),
        is_special.choose(fraction.constant(0), significand),
        is_special,
        fraction,
    )


@dataclass(frozen=True, slots=True)
class _Sum(Generic[V]):
    """A weighted sum in units of the last bit of a significand with the biased exponent `exponent`, over
    2 ** _GUARD_BITS * UNIT."""

    total: Column[V]
    exponent: Column[V]

    def moved(self, exponent: Column[V]) -> _Sum[V]:
        """With another exponent, less than four below: what lies under its last bit is lost, rounded down."""
        up = self.exponent - exponent
        return _Sum((self.total << up.maximum(0)) >> (0 - up).maximum(0), exponent)


def _sum(form: _Format, numbers: Sequence[_Number[V]], weight: Sequence[Column[V]]) -> _Sum[V]:
    """Each slice is summed on its own. Two sums are added with an exponent that four divides."""
    first, *second = [
        _sum_of_slice(form, numbers[c : c + _SLICE], weight[c : c + _SLICE])
        for c in range(0, len(weight), _SLICE)
    ]
    for other in second:
        exponent = first.exponent.maximum(other.exponent) & -_EXPONENTS
        first = _Sum(first.moved(exponent).total + other.moved(exponent).total, exponent)
    return first


def _sum_of_slice(form: _Format, numbers: Sequence[_Number[V]], weight: Sequence[Column[V]]) -> _Sum[V]:
    """Texels lose, towards zero, what lies under the guard bits of the largest of those that have weight."""
    exponents = [(w.gt(0) & n.significand.gt(0)).choose(n.exponent, 0) for n, w in zip(numbers, weight)]
    largest = reduce(lambda a, b: a.maximum(b), exponents)
    terms: list[Column[V]] = []
    for number, w, exponent in zip(numbers, weight, exponents):
        aligned = (number.significand << _GUARD_BITS) >> (largest - exponent)
        term = number.negative.choose(0 - aligned, aligned)
        terms.append(term.to(form.sums) * w.to(form.sums))
    return _Sum(_total(terms), largest)


def _rounded(form: _Format, found: _Sum[V]) -> Column[V]:
    """To the format, halves away from zero: the bits of the same `.f32`."""
    negative = found.total.lt(0)
    size = negative.choose(0 - found.total, found.total)
    m, length = size.m, form.sums.bits - size.leading_zeros().to(S32)
    last = found.exponent - (form.bias + form.stored + _GUARD_BITS + _UNIT_BITS)
    dropped = length - (form.stored + 1)
    if form.subnormals:
        dropped = dropped.maximum(1 - form.bias - form.stored - last)
    dropped = dropped.maximum(0)
    kept = (size + ((size.constant(1) << dropped) >> 1)) >> dropped
    power = ((last + dropped + _BIAS_OF_F64).to(S64) << _STORED_OF_F64).v
    value = m.fmul(F64, m.int_to_float(S32, F64, kept.to(S32).v, "rn"), m.from_bits(F64, power), "rn")
    if not form.subnormals:
        least = m.const(F64, 1 - form.bias + _BIAS_OF_F64 << _STORED_OF_F64)
        value = m.select(F64, m.compare("lt", F64, value, least), m.const(F64, 0), value)
    bits = Column(m, U32, m.to_bits(F32, m.float_to_float(F64, F32, value, "rn")))
    return negative.choose(bits | 1 << 31, bits)
