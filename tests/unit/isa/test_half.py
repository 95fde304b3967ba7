"""Meanings of the half-precision chapter against exact arithmetic."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from simt.ptx.types import BF16, F16, TYPES, Type
from tests.property import oracle
from tests.unit.isa.columns import assert_bits, float_bits, flushed
from tests.unit.isa.meaning import Array, run

Exact = Callable[..., "int | None"]
OPERATIONS: list[tuple[str, int, Exact]] = [
    ("add", 2, lambda t, *v: oracle.fadd(t, *v, "rn")),
    ("sub", 2, lambda t, *v: oracle.fsub(t, *v, "rn")),
    ("mul", 2, lambda t, *v: oracle.fmul(t, *v, "rn")),
    ("fma.rn", 3, lambda t, *v: oracle.fma(t, *v, "rn")),
    ("min", 2, oracle.fmin),
    ("max", 2, oracle.fmax),
]
IDS = [o[0] for o in OPERATIONS]


def rows_of(columns: list[Array]) -> list[tuple[int, ...]]:
    return [tuple(int(v) for v in row) for row in zip(*columns)]


@pytest.mark.parametrize("t", [F16, BF16], ids=str)
@pytest.mark.parametrize(("name", "count", "exact"), OPERATIONS, ids=IDS)
def test_one_rounding(name: str, count: int, exact: Exact, t: Type) -> None:
    columns = float_bits(t, count, 3000)
    assert_bits(t, run(f"{name}.{t.name}", *columns), [exact(t, *row) for row in rows_of(columns)])


@pytest.mark.parametrize(("name", "count", "exact"), OPERATIONS, ids=IDS)
def test_flushing(name: str, count: int, exact: Exact) -> None:
    columns = float_bits(F16, count, 500)
    results = [exact(F16, *(flushed(F16, v) for v in row)) for row in rows_of(columns)]
    opcode = f"{name}.ftz.f16"
    assert_bits(F16, run(opcode, *columns), [None if r is None else flushed(F16, r) for r in results])


def pair(low: Array, high: Array) -> Array:
    return low.astype(np.uint32) | high.astype(np.uint32) << np.uint32(16)


@pytest.mark.parametrize("t", [F16, BF16], ids=str)
@pytest.mark.parametrize(("name", "count", "exact"), OPERATIONS, ids=IDS)
def test_pairs_are_two_halves(name: str, count: int, exact: Exact, t: Type) -> None:
    low, high = float_bits(t, count), [c[::-1] for c in float_bits(t, count)]
    both = run(f"{name}.{t.name}x2", *(pair(a, b) for a, b in zip(low, high)))
    wanted = pair(run(f"{name}.{t.name}", *low), run(f"{name}.{t.name}", *high))
    assert np.array_equal(both, wanted)


@pytest.mark.parametrize("name", ["f16", "bf16", "f16x2", "bf16x2"])
def test_signs(name: str) -> None:
    sign = 0x80008000 if name.endswith("x2") else 0x8000
    (a,) = float_bits(F16, 1)
    a = a[a & 0x7FFF <= 0x7C00]  # a NaN loses its sign
    bits = pair(a, a[::-1]) if name.endswith("x2") else a
    assert [int(v) for v in run(f"neg.{name}", bits)] == [int(v) ^ sign for v in bits]
    assert [int(v) for v in run(f"abs.{name}", bits)] == [int(v) & ~sign for v in bits]


def test_saturation_and_relu() -> None:
    a, b = (
        np.array(v, np.float16).view(np.uint16)
        for v in ([1, -2, 0.25, np.inf, 0.5], [3, 1, 0.5, -np.inf, -0.5])
    )
    assert run("add.sat.f16", a, b).view(np.float16).tolist() == [1, 0, 0.75, 0, 0]
    one = np.array([1], np.float16).view(np.uint16)
    result = run("fma.rn.relu.f16", a, one, b).view(np.float16)
    assert result[[0, 1, 2, 4]].tolist() == [4, 0, 0.75, 0]
    assert np.isnan(result[3])


def test_minimum_with_nan_and_signs() -> None:
    a = np.array([1, np.nan, -3, 2], np.float16).view(np.uint16)
    b = np.array([np.nan, np.nan, 2, -5], np.float16).view(np.uint16)
    assert np.array_equal(
        run("min.f16", a, b).view(np.float16), np.array([1, np.nan, -3, -5], np.float16), equal_nan=True
    )
    strict = run("max.NaN.f16", a, b).view(np.float16)
    assert np.array_equal(strict, np.array([np.nan, np.nan, 2, 2], np.float16), equal_nan=True)
    assert run("min.xorsign.abs.f16", a, b).view(np.float16)[2:].tolist() == [-2, -2]


def test_doubly_rounded_sums_would_differ() -> None:
    """Cases where rounding a .f64 sum to nearest first gives another .bf16 result than rounding once."""
    f = oracle.float_format(BF16)
    tiny = 0x0001
    product = [0x3F81, 0x3FC0]  # (1 + 2^-7) * 1.5: a 9-bit product, halfway between two .bf16 numbers
    result = run(
        "fma.rn.bf16",
        *(np.array([v, v], np.uint16) for v in product),
        np.array([tiny, tiny | f.sign], np.uint16),
    )
    wanted = [oracle.fma(TYPES["bf16"], *product, c, "rn") for c in (tiny, tiny | f.sign)]
    assert_bits(BF16, result, wanted)
    assert wanted[0] != wanted[1]
