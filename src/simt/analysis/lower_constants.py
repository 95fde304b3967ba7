"""Immediates as the bits of the type at their use (section 4.5)."""

from __future__ import annotations

import struct
from fractions import Fraction

import numpy as np

from simt.analysis.program import Constant
from simt.ptx.nodes import Float, Integer
from simt.ptx.types import BF16, F32, Kind, Type


def constant(node: Integer | Float, t: Type) -> Constant:
    """The constant as a value of type `t`: integers wrap, floats round to nearest even.

    A float used as untyped or integer bits gives the bits of the float of that size.
    """
    if isinstance(node, Integer):
        return Constant(t, integer_bits(node.value, t))
    return Constant(t, float_bits(node, t))


def single_bits(node: Integer | Float) -> int:
    """A constant of double precision as devices without it hold one: as .f32, in the lower half."""
    return float_bits(node, F32) if isinstance(node, Float) else integer_bits(node.value, F32)


def integer_bits(value: int, t: Type) -> int:
    """An integer constant; for predicates zero is false and all else true, as in C."""
    if t.is_predicate:
        return int(value != 0)
    if t.kind is Kind.FLOAT:
        return float_bits(Float(struct.unpack("<Q", struct.pack("<d", float(value)))[0]), t)
    return value % (1 << t.bits)


def float_bits(node: Float, t: Type) -> int:
    """A floating-point constant converted to `t`."""
    if t.is_predicate:
        return int(node.bits << 1 & ((1 << node.width) - 1) != 0)
    if node.width == t.bits:
        return node.bits
    if t.bits not in (16, 32, 64):
        return node.bits % (1 << t.bits)
    value = _double(node)
    if t is BF16:
        return _bfloat16(value)
    with np.errstate(all="ignore"):
        narrow = value.astype({16: np.float16, 32: np.float32, 64: np.float64}[t.bits])
    return int.from_bytes(narrow.tobytes(), "little")


def _double(node: Float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    data = node.bits.to_bytes(node.width // 8, "little")
    return np.frombuffer(data, f"<f{node.width // 8}").astype(np.float64)


def _bfloat16(value: np.ndarray[tuple[int], np.dtype[np.float64]]) -> int:
    """Round a double to bfloat16, ties to even, exactly (no double rounding through f32)."""
    number = float(value[0])
    with np.errstate(all="ignore"):
        upper = int.from_bytes(value.astype(np.float32).tobytes(), "little") >> 16
    if not np.isfinite(number) or number == 0:
        return upper | (0x40 if np.isnan(number) else 0)
    candidates = [c for c in (upper - 1, upper, upper + 1) if 0 <= c <= 0xFFFF and c & 0x7FFF <= 0x7F80]
    return min(candidates, key=lambda c: (abs(_bfloat_value(c) - Fraction(number)), c & 1))


def _bfloat_value(bits: int) -> Fraction:
    if bits & 0x7FFF == 0x7F80:  # infinity stands for the first value past the range
        return Fraction(2**128) * (-1 if bits & 0x8000 else 1)
    return Fraction(struct.unpack("<f", struct.pack("<I", bits << 16))[0])
