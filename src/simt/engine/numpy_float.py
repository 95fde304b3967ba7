"""Conversions of floating-point columns by the quickest exact way that NumPy has."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from simt.engine import exact, numpy_rounding
from simt.engine.numpy_select import select, some
from simt.isa.algebra import PureAlgebra, Rounding
from simt.ptx.types import BF16, F16, F32, Type

Array: TypeAlias = NDArray[Any]


def widen_half(m: PureAlgebra[Array], source: Type, a: Array) -> Array:
    """f16 or bf16 to f32."""
    if source == BF16:
        return np.left_shift(a.astype(np.uint32), np.uint32(16)).view(np.float32)
    return _every_f16(m).take(a)


_TABLES: dict[str, Array] = {}


def _every_f16(m: PureAlgebra[Array]) -> Array:
    """The f32 value of each of the 65,536 f16."""
    if "f16" not in _TABLES:
        _TABLES["f16"] = exact.widen_half(m, F16, np.arange(1 << 16, dtype=np.uint16))
    return _TABLES["f16"]


def narrow(m: PureAlgebra[Array], source: Type, target: Type, a: Array, rounding: Rounding) -> Array:
    """f32 or f64 to a format of less precision."""
    if target == F32 and (rounding == "rn" or numpy_rounding.available()):
        return numpy_rounding.apply(rounding, _to_f32, a)
    if rounding != "rn" or target == F32:
        return exact.narrow(m, source, target, a, rounding)
    if target == F16:
        return _with_its_nan(target, a, a.astype(np.float16).view(np.uint16))
    if source == F32:
        return _with_its_nan(target, a, _to_bf16(a))
    if numpy_rounding.available():
        return _with_its_nan(target, a, _to_bf16(_to_odd_f32(a)))
    return exact.narrow(m, source, target, a, rounding)


def _to_f32(a: Array) -> Array:
    return a.astype(np.float32)


def _to_bf16(a: Array) -> Array:
    """The upper half of each f32, rounded to nearest even. NaNs come out wrong."""
    bits = a.view(np.uint32)
    last = np.bitwise_and(np.right_shift(bits, np.uint32(16)), np.uint32(1))
    rounded = np.add(bits, np.uint32(0x7FFF)) + last
    return np.right_shift(rounded, np.uint32(16)).astype(np.uint16)


def _to_odd_f32(a: Array) -> Array:
    """f64 to f32, the last bit set where something was cut off: may be rounded once more."""
    cut = numpy_rounding.apply("rz", _to_f32, a)
    return np.bitwise_or(cut.view(np.uint32), cut != a).view(np.float32)


def _with_its_nan(target: Type, a: Array, result: Array) -> Array:
    """The format's own NaN, with the sign of `a`, where `a` is NaN."""
    nan = np.isnan(a)
    if not some(nan):
        return result
    f = exact.format_of(target)
    of = result.dtype.type
    return select(nan, select(np.signbit(a), np.array([f.nan | f.sign], of), np.array([f.nan], of)), result)


def to_integer(a: Array, target: Type) -> Array:
    """An integral f32 or f64 as an integer column: clamped, NaN gives 0."""
    low = -(2 ** (target.bits - 1)) if target.is_signed else 0
    high = low + 2**target.bits
    kind = "i" if target.is_signed else "u"
    unsigned = np.dtype(f"u{target.bytes}")
    if bool(a.min() >= low) and bool(a.max() < high):  # false if there is a NaN
        return a.astype(f"{kind}{target.bytes}").view(unsigned)
    below, above = a < float(low), a >= float(high)
    safe = select(below | above | np.isnan(a), np.zeros(1, a.dtype), a)
    inside = safe.astype(f"{kind}8").astype(unsigned)
    lowest, highest = (np.array([x % 2**target.bits], unsigned) for x in (low, high - 1))
    return select(below, lowest, select(above, highest, inside))
