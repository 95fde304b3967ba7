"""Fused multiply-add to nearest over NumPy: a quick way for nearly all lanes, `engine.exact` for the rest."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from simt.engine import exact
from simt.isa.algebra import PureAlgebra
from simt.ptx.types import F32, F64, Type

Array: TypeAlias = NDArray[Any]

_SPLITTER = 2.0**27 + 1.0
_LEAST_NORMAL_F32 = 2.0**-126


def fma(m: PureAlgebra[Array], t: Type, a: Array, b: Array, c: Array) -> Array:
    """`a * b + c` for f32 and f64 columns, rounded once, to nearest."""
    result, doubtful = _fma_f32(a, b, c) if t == F32 else _fma_f64(m, a, b, c)
    if doubtful.any():
        x, y, z = (v[doubtful] for v in np.broadcast_arrays(a, b, c))
        result[doubtful] = exact.fma(m, t, x, y, z, "rn")
    return result


def _fma_f32(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
    """By way of f64, where the product is exact: only a sum that lies halfway between two f32 after its
    first rounding can go wrong in the second. Among subnormal results halfway is elsewhere."""
    total = np.asarray(a.astype(np.float64) * b + c)
    halfway = (total.view(np.uint64) & np.uint64(0x1FFFFFFF)) == np.uint64(0x10000000)
    subnormal = (np.abs(total) < _LEAST_NORMAL_F32) & (total != 0)
    return total.astype(np.float32), halfway | subnormal


def _fma_f64(m: PureAlgebra[Array], a: Array, b: Array, c: Array) -> tuple[Array, Array]:
    """Product and sums with their errors; the errors' sum rounded to odd before the last rounding.

    The method is by S. Boldo and G. Melquiond (Emulation of FMA and correctly rounded sums, 2008); it
    needs errors that are representable, so operands must be far from overflow and underflow."""
    product = a * b
    error = _product_error(a, b, product)
    high, high_rest = _two_sum(c, error)
    total, rest = _two_sum(product, high)
    odd = exact.odd_sum(m, F64, rest, high_rest, "rn")
    result = total + odd
    result = np.where(result == 0, product + c, result)  # an exact zero, with the sign of the plain sum
    small_enough = (np.maximum(np.abs(a), np.abs(b)) < 2.0**500) & (np.abs(c) < 2.0**1000)
    large_enough = (np.abs(product) > 2.0**-900) | (a == 0) | (b == 0)
    return result, ~(small_enough & large_enough)


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
