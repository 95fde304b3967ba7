"""The pure primitives of the algebra over NumPy arrays: exact and observable.

A value is an array of any shape; the operands of one primitive broadcast against each other.
Predicates are bool, `.f32`/`.f64` are float32/float64, everything else is the unsigned integer of the
type's width. Constants have shape (1,): arrays of no dimension decay to NumPy scalars, which warn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from simt.engine import exact, integers, numpy_fma
from simt.isa.algebra import Comparison, Rounding
from simt.ptx.types import BF16, F16, F32, F64, Type

Array: TypeAlias = NDArray[Any]
quiet = np.errstate(all="ignore")
"""Floating-point conditions (overflow, invalid ...) are results here, never warnings."""

_ROUNDED = {"rn": np.rint, "rz": np.trunc, "rm": np.floor, "rp": np.ceil}
_COMPARED = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal,
    "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip
_HALVES = (F16, BF16)


def dtype_of(t: Type) -> np.dtype[Any]:
    """The dtype of a column of type `t`."""
    if t.is_predicate:
        return np.dtype(np.bool_)
    return np.dtype(f"{'f' if t.is_native_float else 'u'}{t.bytes}")


def _bits_dtype(t: Type) -> np.dtype[Any]:
    return np.dtype(f"u{t.bytes}")


def _signed(a: Array) -> Array:
    return a.view(f"i{a.dtype.itemsize}")


def _by_sign(t: Type, a: Array) -> Array:
    return _signed(a) if t.is_signed else a


def _magnitude(t: Type, a: Array) -> Array:
    return np.where(_signed(a) < 0, np.negative(a), a) if t.is_signed else a


class NumpyAlgebra:
    """Constants, bits, integers and floating point. A subclass adds lanes and machine."""

    # -- constants, choice ---------------------------------------------------------------

    def const(self, t: Type, bits: int) -> Array:
        if t.is_predicate:
            return np.array([bits != 0])
        return np.array([bits], _bits_dtype(t)).view(dtype_of(t))

    def select(self, t: Type, p: Array, a: Array, b: Array) -> Array:
        return np.where(p, a, b)

    def rarely(self, t: Type, p: Array, usual: Array, other: Callable[..., Array], *operands: Array) -> Array:
        if not p.any():
            return usual
        where, result, *columns = np.broadcast_arrays(p, usual, *operands)
        result = result.copy()
        result[where] = other(self, *(c[where] for c in columns))
        return result

    # -- bits ------------------------------------------------------------------------------

    def and_(self, t: Type, a: Array, b: Array) -> Array:
        return np.bitwise_and(a, b)

    def or_(self, t: Type, a: Array, b: Array) -> Array:
        return np.bitwise_or(a, b)

    def xor(self, t: Type, a: Array, b: Array) -> Array:
        return np.bitwise_xor(a, b)

    def invert(self, t: Type, a: Array) -> Array:
        return np.invert(a)

    def shift_left(self, t: Type, a: Array, n: Array) -> Array:
        amount = np.minimum(n, t.bits - 1).astype(a.dtype)
        return np.where(n < t.bits, np.left_shift(a, amount), a.dtype.type(0))

    def shift_right(self, t: Type, a: Array, n: Array) -> Array:
        x = _by_sign(t, a)
        shifted = np.right_shift(x, np.minimum(n, t.bits - 1).astype(x.dtype)).view(a.dtype)
        return shifted if t.is_signed else np.where(n < t.bits, shifted, a.dtype.type(0))

    def popcount(self, t: Type, a: Array) -> Array:
        x = a.astype(np.uint64)
        for shift, mask in _HALVINGS[: t.bits.bit_length() - 1]:
            x = (x & mask) + ((x >> shift) & mask)
        return x.astype(np.uint32)

    @quiet
    def leading_zeros(self, t: Type, a: Array) -> Array:
        # Without the bit below a one, a number cannot round up to the next power of two.
        lone = a & ~(a >> a.dtype.type(1))
        length = np.frexp(lone.astype(np.float64))[1]
        return (t.bits - length).astype(np.uint32)

    def reverse_bits(self, t: Type, a: Array) -> Array:
        x = a.astype(np.uint64)
        for shift, mask in _HALVINGS[: t.bits.bit_length() - 1]:
            x = ((x & mask) << shift) | ((x >> shift) & mask)
        return x.astype(a.dtype)

    # -- integers ----------------------------------------------------------------------------

    def add(self, t: Type, a: Array, b: Array) -> Array:
        return np.add(a, b)

    def sub(self, t: Type, a: Array, b: Array) -> Array:
        return np.subtract(a, b)

    def mul(self, t: Type, a: Array, b: Array) -> Array:
        return np.multiply(a, b)

    def mul_high(self, t: Type, a: Array, b: Array) -> Array:
        if t.bits == 64:
            return integers.mul_high_64(self, t, a, b)
        wide = np.int64 if t.is_signed else np.uint64
        product = _by_sign(t, a).astype(wide) * _by_sign(t, b).astype(wide)
        return (product >> wide(t.bits)).astype(a.dtype)

    def divide(self, t: Type, a: Array, b: Array) -> Array:
        divisor = np.where(b == 0, b.dtype.type(1), _magnitude(t, b))
        quotient = np.floor_divide(_magnitude(t, a), divisor)
        if t.is_signed:
            quotient = np.where(_signed(a ^ b) < 0, np.negative(quotient), quotient)
        return np.where(b == 0, np.invert(b), quotient)

    def remainder(self, t: Type, a: Array, b: Array) -> Array:
        divisor = np.where(b == 0, b.dtype.type(1), _magnitude(t, b))
        rest = np.remainder(_magnitude(t, a), divisor)
        if t.is_signed:
            rest = np.where(_signed(a) < 0, np.negative(rest), rest)
        return np.where(b == 0, a, rest)

    def minimum(self, t: Type, a: Array, b: Array) -> Array:
        return np.minimum(_by_sign(t, a), _by_sign(t, b)).view(a.dtype)

    def maximum(self, t: Type, a: Array, b: Array) -> Array:
        return np.maximum(_by_sign(t, a), _by_sign(t, b)).view(a.dtype)

    def compare(self, op: Comparison, t: Type, a: Array, b: Array) -> Array:
        if t.is_float:
            return _compare_floats(op, self._native(t, a), self._native(t, b))
        return _COMPARED[op](_by_sign(t, a), _by_sign(t, b))

    def resize(self, source: Type, target: Type, a: Array) -> Array:
        return _by_sign(source, a).astype(_bits_dtype(target))

    # -- floating point ------------------------------------------------------------------------

    def to_bits(self, t: Type, a: Array) -> Array:
        return a.view(_bits_dtype(t)) if t.is_native_float else a

    def from_bits(self, t: Type, a: Array) -> Array:
        return a.view(dtype_of(t)) if t.is_native_float else a

    def is_nan(self, t: Type, a: Array) -> Array:
        return np.isnan(self._native(t, a))

    def flush(self, t: Type, a: Array) -> Array:
        f = exact.format_of(t)
        bits = self.to_bits(t, a)
        sign = bits.dtype.type(f.sign)
        subnormal = (bits & ~sign) < bits.dtype.type(1 << f.mantissa)
        return self.from_bits(t, np.where(subnormal, bits & sign, bits))

    @quiet
    def fadd(self, t: Type, a: Array, b: Array, rounding: Rounding) -> Array:
        if rounding == "rn" and t.is_native_float:
            return np.add(a, b)
        return exact.add(self, t, a, b, rounding)

    @quiet
    def fsub(self, t: Type, a: Array, b: Array, rounding: Rounding) -> Array:
        if rounding == "rn" and t.is_native_float:
            return np.subtract(a, b)
        return exact.sub(self, t, a, b, rounding)

    @quiet
    def fmul(self, t: Type, a: Array, b: Array, rounding: Rounding) -> Array:
        if rounding == "rn" and t.is_native_float:
            return np.multiply(a, b)
        return exact.mul(self, t, a, b, rounding)

    @quiet
    def fdiv(self, t: Type, a: Array, b: Array, rounding: Rounding) -> Array:
        if rounding == "rn" and t.is_native_float:
            return np.divide(a, b)
        return exact.div(self, t, a, b, rounding)

    @quiet
    def fma(self, t: Type, a: Array, b: Array, c: Array, rounding: Rounding) -> Array:
        if rounding == "rn" and t.is_native_float:
            return numpy_fma.fma(self, t, a, b, c)
        return exact.fma(self, t, a, b, c, rounding)

    @quiet
    def fsqrt(self, t: Type, a: Array, rounding: Rounding) -> Array:
        if rounding == "rn" and t.is_native_float:
            return np.sqrt(a)
        return exact.sqrt(self, t, a, rounding)

    def fmin(self, t: Type, a: Array, b: Array) -> Array:
        return self._extreme(t, np.fmin, np.bitwise_or, a, b)

    def fmax(self, t: Type, a: Array, b: Array) -> Array:
        return self._extreme(t, np.fmax, np.bitwise_and, a, b)

    @quiet
    def _extreme(self, t: Type, pick: np.ufunc, join_signs: np.ufunc, a: Array, b: Array) -> Array:
        """Equal operands differ at most in the sign of zero."""
        x, y = self._native(t, a), self._native(t, b)
        native = F32 if t in _HALVES else t
        joined = self.from_bits(native, join_signs(self.to_bits(native, x), self.to_bits(native, y)))
        return self.float_to_float(native, t, np.where(x == y, joined, pick(x, y)), "rn")

    @quiet
    def round_integral(self, t: Type, a: Array, rounding: Rounding) -> Array:
        rounded = _ROUNDED[rounding](self._native(t, a))
        return self.float_to_float(F32, t, rounded, "rn") if t in _HALVES else rounded

    @quiet
    def float_to_float(self, source: Type, target: Type, a: Array, rounding: Rounding) -> Array:
        if source == target:
            return a
        if source in _HALVES:
            return self.float_to_float(F32, target, exact.widen_half(self, source, a), rounding)
        if target == F64 or (target == F32 and rounding == "rn"):
            return a.astype(dtype_of(target))
        return exact.narrow(self, source, target, a, rounding)

    @quiet
    def float_to_int(self, source: Type, target: Type, a: Array, rounding: Rounding) -> Array:
        rounded = _ROUNDED[rounding](self._native(source, a))
        low = -(2 ** (target.bits - 1)) if target.is_signed else 0
        high = low + 2**target.bits
        below, above = rounded < float(low), rounded >= float(high)
        safe = np.where(below | above | np.isnan(rounded), rounded.dtype.type(0), rounded)
        integers = safe.astype(np.int64 if target.is_signed else np.uint64).astype(_bits_dtype(target))
        lowest, highest = (integers.dtype.type(x % 2**target.bits) for x in (low, high - 1))
        return np.where(below, lowest, np.where(above, highest, integers))

    @quiet
    def int_to_float(self, source: Type, target: Type, a: Array, rounding: Rounding) -> Array:
        fits = target in (F32, F64) and source.bits <= exact.format_of(target).mantissa
        if fits or (rounding == "rn" and target.is_native_float):
            return _by_sign(source, a).astype(dtype_of(target))
        return exact.from_int(self, source, target, a, rounding)

    def _native(self, t: Type, a: Array) -> Array:
        """A float column of NumPy's own: f16 and bf16 widened to f32."""
        return exact.widen_half(self, t, a) if t in _HALVES else a


_HALVINGS = tuple(
    (np.uint64(shift), np.uint64(mask))
    for shift, mask in (
        (1, 0x5555555555555555),
        (2, 0x3333333333333333),
        (4, 0x0F0F0F0F0F0F0F0F),
        (8, 0x00FF00FF00FF00FF),
        (16, 0x0000FFFF0000FFFF),
        (32, 0x00000000FFFFFFFF),
    )
)
"""Neighbouring groups of bits, ever larger: added to count ones, swapped to reverse."""


@quiet
def _compare_floats(op: Comparison, a: Array, b: Array) -> Array:
    if op == "ne":  # ordered, unlike NumPy's
        return np.less(a, b) | np.greater(a, b)
    return _COMPARED[op](a, b)
