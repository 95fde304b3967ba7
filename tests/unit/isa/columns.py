"""Columns of floating-point bits to try instructions on, and comparisons with the exact oracle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from simt.ptx.types import Type
from tests.property import oracle
from tests.unit.isa.meaning import Array

Expected = Callable[..., "int | None"]


def float_bits(t: Type, count: int, size: int = 150) -> list[Array]:
    """Columns of bits: zeros, subnormals, limits, infinities, NaNs, halfway cases, random ones."""
    f = oracle.float_format(t)
    one = f.encode(oracle.Fraction(1), "rn")
    normal = 1 << f.mantissa
    edges = [0, 1, 2, normal - 1, normal, normal + 1, one - 1, one, one + 1, one | normal >> 1]
    edges += [f.infinity - 1, f.infinity, f.infinity + 1, f.infinity | normal >> 1]
    random = np.random.default_rng(t.bits)
    drawn = [int.from_bytes(random.bytes(8), "little") % (1 << t.bits) for _ in range(size)]
    near = [
        (one + int(random.integers(-40, 40)) * (normal >> 3)) ^ int(random.integers(normal))
        for _ in range(size)
    ]
    values = np.array([*edges, *(e | f.sign for e in edges), *drawn, *near], np.uint64)
    return [random.permutation(values).astype(f"u{t.bytes}") for _ in range(count)]


def as_column(t: Type, bits: Array) -> Array:
    """Bits in the representation of the algebra."""
    return bits.view(f"f{t.bytes}") if t.is_native_float else bits


def flushed(t: Type, bits: int) -> int:
    """Subnormals made zero."""
    f = oracle.float_format(t)
    return bits & f.sign if not bits & f.infinity else bits


def assert_bits(t: Type, result: Any, expected: Sequence[int | None]) -> None:
    """The result's bits are the expected ones; None stands for any NaN."""
    f = oracle.float_format(t)
    bits = [int(v) for v in np.asarray(result).view(f"u{t.bytes}")]
    assert [None if f.is_nan(b) else b for b in bits] == list(expected)
