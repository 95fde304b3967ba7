"""Fused multiply-add to nearest over NumPy: a quick way for nearly all lanes, `engine.exact` for the rest."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from simt.engine import exact, numpy_rounding
from simt.engine.numpy_select import every, select, some
from simt.isa.algebra import PureAlgebra, Rounding
from simt.ptx.types import F32, Type

Array: TypeAlias = NDArray[Any]

_SPLITTER = 2.0**27 + 1.0
_BOTH_WAYS: tuple[Rounding, Rounding] = ("rm", "rp")
_LEAST_NORMAL_F32 = 0x38100000
"""2^-126 as the upper half of an f64."""


def fma(m: PureAlgebra[Array], t: Type, a: Array, b: Array, c: Array, rounding: Rounding) -> Array:
    """`a * b + c` for f32 and f64 columns, rounded once. Directed roundings must be available."""
    if t == F32 and rounding != "rn":
        return numpy_rounding.apply(rounding, _fma_by_f64, a, b, c)
    result, doubtful = _fma_f32(a, b, c) if t == F32 else _fma_f64(a, b, c, rounding)
    if doubtful is not None and some(doubtful):
        x, y, z = (v[doubtful] for v in np.broadcast_arrays(a, b, c))
        result[doubtful] = _fma_f32_odd(x, y, z) if t == F32 else exact.fma(m, t, x, y, z, rounding)
    return result


def _fma_by_f64(a: Array, b: Array, c: Array) -> Array:
    """For f32 columns in a directed rounding mode: the product is exact, and what is rounded twice in one
    direction is rounded right."""
    return (a.astype(np.float64) * b + c).astype(np.float32)


def _fma_f32(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
    """By way of f64, where the product is exact: only a sum that lies halfway between two f32 after its
    first rounding can go wrong in the second. Among subnormal results halfway is elsewhere."""
    total = np.ascontiguousarray(a.astype(np.float64) * b + c)
    words = total.view(np.uint32)
    low, high = words[..., 0::2], words[..., 1::2]
    halfway = np.left_shift(low, np.uint32(3)) == np.uint32(1 << 31)
    # The upper half is zero only if the sum is: products of f32 are far from the least f64.
    size = np.left_shift(high, np.uint32(1))
    np.subtract(size, np.uint32(1), out=size)
    subnormal = size < np.uint32(2 * _LEAST_NORMAL_F32 - 1)
    return total.astype(np.float32), np.bitwise_or(halfway, subnormal, out=halfway)


def _fma_f32_odd(a: Array, b: Array, c: Array) -> Array:
    """For finite f32: rounded to odd in f64, which never lies halfway, then to nearest."""
    return _odd_sum(a.astype(np.float64) * b, c.astype(np.float64)).astype(np.float32)


def _fma_f64(a: Array, b: Array, c: Array, rounding: Rounding) -> tuple[Array, Array | None]:
    """Product and sums with their errors; the errors' sum rounded to odd before the last rounding.

    The method is by S. Boldo and G. Melquiond (Emulation of FMA and correctly rounded sums, 2008); it
    needs errors that are representable, so operands must be far from overflow and underflow."""
    product = a * b
    high, high_rest = _two_sum(c, _product_error(a, b, product))
    total, rest = _two_sum(product, high)
    result = numpy_rounding.apply(rounding, np.add, total, _odd_sum(rest, high_rest))
    zero = result == 0
    if some(zero):  # an exact zero has the sign of the plain sum
        result = select(zero, numpy_rounding.apply(rounding, np.add, product, c), result)
    return result, _out_of_range(a, b, product, result)


def _out_of_range(a: Array, b: Array, product: Array, result: Array) -> Array | None:
    """Lanes in which the method may have failed; None if that is plainly none. Whatever overflows on the
    way leaves no finite result; what cancels a product of this size is far from underflow."""
    finite, size = np.isfinite(result), np.abs(product)
    if every(finite) and size.min() > 2.0**-900:
        return None
    return ~(finite & ((size > 2.0**-900) | (a == 0) | (b == 0)))


def _odd_sum(a: Array, b: Array) -> Array:
    """The sum rounded to odd: of an inexact one's two neighbours the one whose last bit is set."""
    if numpy_rounding.available():
        below, above = (numpy_rounding.apply(r, np.add, a, b) for r in _BOTH_WAYS)
        inner = np.minimum(below.view(np.uint64), above.view(np.uint64))
        return np.bitwise_or(inner, below != above).view(np.float64)
    total, error = _two_sum(a, b)
    inexact = error != 0
    bits = total.view(np.uint64)
    too_far = ((bits ^ error.view(np.uint64)) >> np.uint64(63)).astype(np.bool_) & inexact
    return np.bitwise_or(bits - too_far, inexact).view(np.float64)


def _split(x: Array) -> tuple[Array, Array]:
    """A value as the sum of two of 26 bits."""
    scaled = x * _SPLITTER
    high = scaled - (scaled - x)
    return high, x - high


def _product_error(a: Array, b: Array, product: Array) -> Array:
    a_high, a_low = _split(a)
    b_high, b_low = _split(b)
    return a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


def _two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """The rounded sum and its error."""
    total = a + b
    b_part = total - a
    return total, (a - (total - b_part)) + (b - b_part)
