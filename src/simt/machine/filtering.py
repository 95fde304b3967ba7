"""Linear filtering of texels, bit for bit as an H200 does it: decision 20.

Integer arithmetic throughout. Weights are whole numbers of 1/256. Texels come as (corners, lanes,
components), weights as (corners, lanes); corner 4z + 2y + x is the upper one along the axes that are 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Column: TypeAlias = "NDArray[Any]"

UNIT = 256  # the weights of a point add up to this
_UNIT_BITS = 8
_SLICE = 4  # corners with the same z, summed at a time
_GUARD_BITS = 4  # kept of a texel below the last bit of the largest one
_EXPONENTS = 4  # the exponent of a sum of two slices is a multiple of this
_FAR = 60  # places that no bit survives


def weights(upper: Sequence[Column]) -> Column:
    """(corners, lanes), from the weights of the upper texels along each of 2 or 3 axes, x first.

    z divides the unit, x divides each part, y those again. One part is a product, rounded; the other is what
    it leaves. Along x the product is the upper part; along y it is the upper one where x is upper, else the
    lower one.
    """
    x, y = upper[0], upper[1]
    slices: list[Column] = [np.full_like(x, UNIT)] if len(upper) == 2 else [UNIT - upper[2], upper[2]]
    found: list[Column] = []
    for whole in slices:
        right = _product(whole, x)
        left = whole - right
        lower_left, upper_right = _product(left, UNIT - y), _product(right, y)
        found += [lower_left, right - upper_right, left - lower_left, upper_right]
    return np.stack(found)


def _product(a: Column, b: Column) -> Column:
    return (a * b + UNIT // 2) >> _UNIT_BITS


def reached(upper: Sequence[Column]) -> Column:
    """(corners, lanes): which corners infinities, NaNs and signs of zeros are taken from: also those whose
    weight is rounded to zero."""
    found: list[Column] = []
    for corner in range(1 << len(upper)):
        found.append(np.logical_and.reduce([w >= (corner >> axis & 1) for axis, w in enumerate(upper)]))
    return np.stack(found)


def mean(texels: Column, weight: Column, counts: Column) -> Column:
    """(lanes, components) of float32: weighted means of 8 or 16-bit integers, read as numbers up to 1, or of
    float16 or float32. `counts`: what `reached` returns.
    """
    if texels.dtype.kind == "f":
        return _mean_of_floats(texels, weight, counts)
    return _mean_of_integers(texels, weight)


def _mean_of_integers(texels: Column, weight: Column) -> Column:
    """With results of 16 bits: 8-bit sums, which the weights give 8 bits of fraction, are scaled up."""
    dtype = texels.dtype
    total = (texels.astype(np.int64) * weight[:, :, None]).sum(0)
    if dtype == np.int8:  # by 129/128 + 16/(128 * 4096), nearly 32767 / (127 * 256)
        words = (total * 129 + (total >> 12) * 16 + 64) >> 7
    else:
        words = (total * (257 if dtype == np.uint8 else 1) + UNIT // 2) >> _UNIT_BITS
    largest = 65535 if dtype.kind == "u" else 32767
    return (np.maximum(words, -largest) / largest).astype(np.float32)


class _Format(NamedTuple):
    """A binary floating-point format as filters handle it. `not_a_number`: what it returns, as float32."""

    words: type[np.unsignedinteger[Any]]
    stored: int  # bits of the significand that are written down
    exponents: int  # bits of the exponent
    subnormals: bool  # read and returned as they are, not as zeros
    not_a_number: int

    @property
    def special(self) -> int:
        """The exponent of infinities and NaNs."""
        return (1 << self.exponents) - 1

    @property
    def bias(self) -> int:
        return self.special >> 1


_FORMATS = {
    "f2": _Format(np.uint16, 10, 5, True, 0x7FFFE000),
    "f4": _Format(np.uint32, 23, 8, False, 0x7FFFFFFF),
}


class _Numbers(NamedTuple):
    """Floating-point numbers taken apart, each (corners, lanes, components). Special ones are zeros here.

    A value is `significand` times two to the power of `exponent - bias - stored`.
    """

    negative: Column
    exponent: Column
    significand: Column


def _mean_of_floats(texels: Column, weight: Column, counts: Column) -> Column:
    form = _FORMATS[texels.dtype.str[1:]]
    numbers = _taken_apart(form, texels)
    found = _rounded(form, _sum(numbers, weight[:, :, None]))
    counted = counts[:, :, None]
    negative_zero = numbers.negative & (numbers.significand == 0)
    found = np.where((found == 0) & (negative_zero | ~counted).all(0), np.float32(-0.0), found)
    above, below = (((texels == sign * np.inf) & counted).any(0) for sign in (1, -1))
    found = np.where(above, np.float32(np.inf), np.where(below, np.float32(-np.inf), found))
    invalid = (np.isnan(texels) & counted).any(0) | (above & below)
    found.view(np.uint32)[invalid] = form.not_a_number
    return found


def _taken_apart(form: _Format, texels: Column) -> _Numbers:
    bits = np.ascontiguousarray(texels).view(form.words).astype(np.int64)
    exponent = (bits >> form.stored) & form.special
    fraction = bits & ((1 << form.stored) - 1)
    normal = (exponent > 0) & (exponent < form.special)
    small = fraction if form.subnormals else 0
    significand = np.where(normal, fraction | 1 << form.stored, np.where(exponent == 0, small, 0))
    return _Numbers(np.signbit(texels), np.maximum(exponent, 1), significand)


class _Sum(NamedTuple):
    """A weighted sum (lanes, components) in units of the last bit of a significand with the biased exponent
    `exponent`, over 2 ** _GUARD_BITS * UNIT."""

    total: Column
    exponent: Column

    def moved(self, exponent: Column) -> _Sum:
        """With another exponent: what lies under its last bit is lost, rounded down."""
        up = self.exponent - exponent
        return _Sum((self.total << np.maximum(up, 0)) >> np.clip(-up, 0, _FAR), exponent)


def _sum(numbers: _Numbers, weight: Column) -> _Sum:
    """Each slice is summed on its own. Two sums are added with an exponent that four divides."""
    first, *second = [
        _sum_of_slice(_Numbers(*(part[c : c + _SLICE] for part in numbers)), weight[c : c + _SLICE])
        for c in range(0, len(weight), _SLICE)
    ]
    for other in second:
        exponent = np.maximum(first.exponent, other.exponent) & -_EXPONENTS
        first = _Sum(first.moved(exponent).total + other.moved(exponent).total, exponent)
    return first


def _sum_of_slice(numbers: _Numbers, weight: Column) -> _Sum:
    """Texels lose, towards zero, what lies under the guard bits of the largest of those that have weight."""
    exponent = np.where((weight > 0) & (numbers.significand > 0), numbers.exponent, 0)
    largest = exponent.max(0)
    aligned = (numbers.significand << _GUARD_BITS) >> np.minimum(largest - exponent, _FAR)
    sign = 1 - 2 * numbers.negative.astype(np.int64)
    return _Sum((sign * aligned * weight).sum(0), largest)


def _rounded(form: _Format, found: _Sum) -> Column:
    """To the format, halves away from zero, as float32."""
    size = np.abs(found.total)
    last = found.exponent - (form.bias + form.stored + _GUARD_BITS + _UNIT_BITS)
    dropped = np.frexp(size.astype(np.float64))[1] - (form.stored + 1)
    if form.subnormals:
        dropped = np.maximum(dropped, 1 - form.bias - form.stored - last)
    dropped = np.clip(dropped, 0, _FAR)
    kept = (size + ((1 << dropped) >> 1)) >> dropped
    value = np.ldexp(kept.astype(np.float64), last + dropped)
    if not form.subnormals:
        value = np.where(value < np.ldexp(1.0, 1 - form.bias), 0.0, value)
    return np.copysign(value, found.total).astype(np.float32)
