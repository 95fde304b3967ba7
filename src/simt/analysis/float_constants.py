"""Floating-point constants of one size as another."""

from __future__ import annotations

import struct
from fractions import Fraction

import numpy as np

from simt.ptx.nodes import Float
from simt.ptx.types import BF16, Type


def converted(node: Float, t: Type) -> int:
    """The bits of a constant as a float of another size: rounded to nearest, ties to even."""
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
