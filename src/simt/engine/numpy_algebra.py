"""The pure primitives of the algebra over NumPy arrays: exact and observable.

A value is an array of any shape; the operands of one primitive broadcast against each other.
Predicates are bool, `.f32`/`.f64` are float32/float64, everything else is the unsigned integer of the
type's width. Constants have shape (1,): arrays of no dimension decay to NumPy scalars, which warn.

Floating-point conditions (overflow, invalid ...) are results here: whoever calls switches NumPy's warnings
off, by `np.errstate(all="ignore")`, once for many operations.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from simt.engine import exact, integers, numpy_float, numpy_fma, numpy_rounding
from simt.engine.numpy_select import select, some
from simt.isa.algebra import Comparison, Composed, Rounding
from simt.isa.derived import chosen_nan, low_flushed
from simt.ptx.types import BF16, F16, F32, F64, U32, U64, Type

Array: TypeAlias = NDArray[Any]
_ROUNDED = {"rn": np.rint, "rz": np.trunc, "rm": np.floor, "rp": np.ceil}
_COMPARED = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal,
    "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip
_HALVES = (F16, BF16)


_DTYPES: dict[str, np.dtype[Any]] = {}
_CONSTANTS: dict[tuple[str, int], Array] = {}
_MOST_CONSTANTS = 1 << 14
_UNSIGNED = {n: np.dtype(f"u{n}") for n in (1, 2, 4, 8)}
_SIGNED = {n: np.dtype(f"i{n}") for n in (1, 2, 4, 8)}


def dtype_of(t: Type) -> np.dtype[Any]:
    """The dtype of a column of type `t`."""
    found = _DTYPES.get(t.name)
    if found is None:
        name = "bool" if t.is_predicate else f"{'f' if t.is_native_float else 'u'}{t.bytes}"
        found = _DTYPES[t.name] = np.dtype(name)
    return found


def _bits_dtype(t: Type) -> np.dtype[Any]:
    return _UNSIGNED[t.bytes]


def _signed(a: Array) -> Array:
    return a.view(_SIGNED[a.dtype.itemsize])


def _by_sign(t: Type, a: Array) -> Array:
    return _signed(a) if t.is_signed else a


def _magnitude(t: Type, a: Array) -> Array:
    return np.abs(_signed(a)).view(a.dtype) if t.is_signed else a


@functools.cache
def _array(table: tuple[int, ...], bits: int) -> Array:
    return np.array(table, f"u{bits // 8}")


class NumpyAlgebra(Composed[Array]):
    """Constants, bits, integers and floating point. A subclass adds lanes and machine."""

    # -- constants, choice ---------------------------------------------------------------

    def const(self, t: Type, bits: int) -> Array:
        found = _CONSTANTS.get((t.name, bits))
        if found is None:
            if len(_CONSTANTS) >= _MOST_CONSTANTS:
                _CONSTANTS.clear()
            found = np.array([bits], _bits_dtype(t)).view(dtype_of(t))
            found.flags.writeable = False
            _CONSTANTS[t.name, bits] = found
        return found

    def select(self, t: Type, p: Array, a: Array, b: Array) -> Array:
        return select(p, a, b)

    def rarely(self, t: Type, p: Array, usual: Array, other: Callable[..., Array], *operands: Array) -> Array:
        if not some(p):
            return usual
        where, result, *columns = np.broadcast_arrays(p, usual, *operands)
        result = result.copy()
        result[where] = other(self, *(c[where] for c in columns))
        return result

    def lookup(self, t: Type, index: Array, *tables: tuple[int, ...]) -> tuple[Array, ...]:
        rest = index & index.dtype.type(len(tables[0]) - 1)
        return tuple(_array(table, t.bits)[rest] for table in tables)

    def halfwise(self, function: Callable[..., Array], *operands: Array) -> Array:
        columns = [np.ascontiguousarray(c).view(np.uint16) for c in np.broadcast_arrays(*operands)]
        result = np.broadcast_to(function(self, *columns), columns[0].shape)
        return np.ascontiguousarray(result).view(np.uint32)

    def bytewise(self, function: Callable[..., Array], a: Array, b: Array, c: Array) -> Array:
        return function(self, a, b, c)

    def by_halves(self, function: Callable[..., Array], *operands: Array) -> Array:
        halves = [(a.astype(np.uint16), (a >> np.uint32(16)).astype(np.uint16)) for a in operands]
        return function(self, *halves).astype(np.uint32) << np.uint32(16)

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
        return np.left_shift(a, _amount(t, a, n))

    def shift_right(self, t: Type, a: Array, n: Array) -> Array:
        amount = _amount(t, a, n)
        if t.is_signed:
            return np.right_shift(_signed(a), _signed(amount)).view(a.dtype)
        return np.right_shift(a, amount)

    def popcount(self, t: Type, a: Array) -> Array:
        x = a.astype(np.uint64)
        for shift, mask in _HALVINGS[: t.bits.bit_length() - 1]:
            x = (x & mask) + ((x >> shift) & mask)
        return x.astype(np.uint32)

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
        wide = (_SIGNED if t.is_signed else _UNSIGNED)[2 * t.bytes]
        product = _by_sign(t, a).astype(wide) * _by_sign(t, b).astype(wide)
        return (product >> wide.type(t.bits)).astype(a.dtype)

    def dot_of_bytes(self, t: Type, u: Type, a: Array, b: Array) -> Array:
        return integers.dot_of_bytes(self, t, u, a, b)

    def divide(self, t: Type, a: Array, b: Array) -> Array:
        zero = b == 0
        quotient = np.floor_divide(_magnitude(t, a), _magnitude(t, b) | zero)
        if t.is_signed:
            quotient = _negate_if(_signed(a ^ b) < 0, quotient)
        return select(zero, np.invert(b), quotient) if some(zero) else quotient

    def remainder(self, t: Type, a: Array, b: Array) -> Array:
        zero = b == 0
        rest = np.remainder(_magnitude(t, a), _magnitude(t, b) | zero)
        if t.is_signed:
            rest = _negate_if(_signed(a) < 0, rest)
        return select(zero, np.invert(b), rest) if some(zero) else rest

    def divide_short(self, t: Type, a: Array, b: Array) -> Array:
        return self._short(a, b, self.divide(t, a, b))

    def remainder_short(self, t: Type, a: Array, b: Array) -> Array:
        return self._short(a, b, self.remainder(t, a, b))

    def _short(self, a: Array, b: Array, found: Array) -> Array:
        return select((b == 0) & (a >> U32.bits == 0), self.const(U64, 2**U32.bits - 1), found)

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
        if t in _HALVES:
            f = exact.format_of(t)
            return (a & a.dtype.type(f.sign - 1)) > a.dtype.type(f.infinity)
        return np.isnan(a)

    def flush(self, t: Type, a: Array) -> Array:
        f = exact.format_of(t)
        bits = self.to_bits(t, a)
        of = bits.dtype.type
        magnitude = bits << of(1)  # without its sign
        subnormal = (magnitude - of(1)) < of((2 << f.mantissa) - 1)
        if not some(subnormal):
            return a
        return self.from_bits(t, select(subnormal, bits & of(f.sign), bits))

    def flush_result(self, t: Type, a: Array, twice: Callable[..., Array], *operands: Array) -> Array:
        return low_flushed(t, twice, self, a, *operands)

    def nan_result(self, t: Type, a: Array, *operands: Array) -> Array:
        return chosen_nan(self, t, a, *operands) if some(self.is_nan(t, a)) else a

    def any_nan(self, t: Type, a: Array) -> Array:
        return a

    def fadd(self, t: Type, a: Array, b: Array, rounding: Rounding) -> Array:
        if _by_numpy(t, rounding):
            return numpy_rounding.apply(rounding, np.add, a, b)
        return exact.add(self, t, a, b, rounding)

    def fsub(self, t: Type, a: Array, b: Array, rounding: Rounding) -> Array:
        if _by_numpy(t, rounding):
            return numpy_rounding.apply(rounding, np.subtract, a, b)
        return exact.sub(self, t, a, b, rounding)

    def fmul(self, t: Type, a: Array, b: Array, rounding: Rounding) -> Array:
        if _by_numpy(t, rounding):
            return numpy_rounding.apply(rounding, np.multiply, a, b)
        return exact.mul(self, t, a, b, rounding)

    def fdiv(self, t: Type, a: Array, b: Array, rounding: Rounding) -> Array:
        if _by_numpy(t, rounding):
            return numpy_rounding.apply(rounding, np.divide, a, b)
        return exact.div(self, t, a, b, rounding)

    def fma(self, t: Type, a: Array, b: Array, c: Array, rounding: Rounding) -> Array:
        if _by_numpy(t, rounding):
            return numpy_fma.fma(self, t, a, b, c, rounding)
        return exact.fma(self, t, a, b, c, rounding)

    def fsqrt(self, t: Type, a: Array, rounding: Rounding) -> Array:
        if _by_numpy(t, rounding):
            return numpy_rounding.apply(rounding, np.sqrt, a)
        return exact.sqrt(self, t, a, rounding)

    def near_reciprocal_root(self, a: Array) -> Array:
        with np.errstate(all="ignore"):
            return 1 / np.sqrt(a)

    def fmin(self, t: Type, a: Array, b: Array) -> Array:
        return self._extreme(t, np.fmin, np.bitwise_or, a, b)

    def fmax(self, t: Type, a: Array, b: Array) -> Array:
        return self._extreme(t, np.fmax, np.bitwise_and, a, b)

    def _extreme(self, t: Type, pick: np.ufunc, join_signs: np.ufunc, a: Array, b: Array) -> Array:
        """Equal operands differ at most in the sign of zero."""
        x, y = self._native(t, a), self._native(t, b)
        native = F32 if t in _HALVES else t
        result = pick(x, y)
        if some(np.isnan(result)):  # NumPy lets signalling NaNs win in some lanes
            result = select(np.isnan(x), y, select(np.isnan(y), x, result))
        if some(result == 0):
            joined = self.from_bits(native, join_signs(self.to_bits(native, x), self.to_bits(native, y)))
            result = select(x == y, joined, result)
        return self.float_to_float(native, t, result, "rn")

    def round_integral(self, t: Type, a: Array, rounding: Rounding) -> Array:
        rounded = _ROUNDED[rounding](self._native(t, a))
        return self.float_to_float(F32, t, rounded, "rn") if t in _HALVES else rounded

    def float_to_float(self, source: Type, target: Type, a: Array, rounding: Rounding) -> Array:
        if source == target:
            return a
        if source in _HALVES:
            return self.float_to_float(F32, target, numpy_float.widen_half(self, source, a), rounding)
        if target == F64:
            return a.astype(np.float64)
        return numpy_float.narrow(self, source, target, a, rounding)

    def float_to_int(self, source: Type, target: Type, a: Array, rounding: Rounding) -> Array:
        return numpy_float.to_integer(_ROUNDED[rounding](self._native(source, a)), target)

    def whole(self, a: Array) -> Array:
        return a.astype(np.int32).view(np.uint32)

    def int_to_float(self, source: Type, target: Type, a: Array, rounding: Rounding) -> Array:
        if _by_numpy(target, rounding):
            return numpy_rounding.apply(rounding, _by_sign(source, a).astype, dtype_of(target))
        if source.bits <= 32:
            return self.float_to_float(F64, target, _by_sign(source, a).astype(np.float64), rounding)
        return exact.from_int(self, source, target, a, rounding)

    def _native(self, t: Type, a: Array) -> Array:
        """A float column of NumPy's own: f16 and bf16 widened to f32."""
        return numpy_float.widen_half(self, t, a) if t in _HALVES else a


def _by_numpy(t: Type, rounding: Rounding) -> bool:
    """Whether NumPy's own operations have this format and rounding."""
    return t.is_native_float and (rounding == "rn" or numpy_rounding.available())


def _amount(t: Type, a: Array, n: Array) -> Array:
    """A `.u32` column as the amount of a shift of `a`; NumPy's own shifts by the width and more are PTX's."""
    if t.bits < 32:
        n = np.minimum(n, np.uint32(t.bits))
    return n.astype(a.dtype, copy=False)


def _negate_if(p: Array, a: Array) -> Array:
    ones = np.negative(p.astype(a.dtype))
    return (a ^ ones) - ones


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


def _compare_floats(op: Comparison, a: Array, b: Array) -> Array:
    if op == "ne":  # ordered, unlike NumPy's
        return np.less(a, b) | np.greater(a, b)
    return _COMPARED[op](a, b)
