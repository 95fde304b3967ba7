"""Sums, products and fused multiply-adds of f16 and bf16 over every value of one operand, on each way to do
them.

The judge is NumPy: in f64 products of halves are exact. Where the sum of such a product and a half is not, it
becomes the odd one of its neighbours, so that rounding once more is right.
"""

from __future__ import annotations

import platform
from typing import Any

import numpy as np
import pytest

from simt.ptx.types import BF16, F16, Type
from tests.property.cases import Case, rounded
from tests.property.jit import Compiled, Setup, host_features

LEVELS = {
    "x86-64-v4": {"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx", "avx2", "fma", "f16c", "sse4.1"},
    "x86-64-v3": {"avx", "avx2", "fma", "f16c", "sse4.1"},
    "x86-64": set[str](),
}
SETUPS = [Setup("host"), *(Setup(cpu, cpu=cpu, features=frozenset(found)) for cpu, found in LEVELS.items())]
ALL = np.arange(1 << 16, dtype=np.uint16)
REPEATS = 8


def unused(*bits: Any) -> None:
    """The cases are judged by columns here."""
    raise AssertionError


CASES = tuple(
    rounded(name, t, arity, "rn", unused)
    for t in (F16, BF16)
    for name, arity in (("fadd", 2), ("fmul", 2), ("fma", 3))
)


def as_f64(t: Type, bits: Any) -> Any:
    if t == F16:
        return bits.view(np.float16).astype(np.float64)
    return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def odd_sum(a: Any, b: Any) -> Any:
    """The sum; what is not exact becomes the neighbour with an odd last digit."""
    total = a + b
    part = total - a
    error = (a - (total - part)) + (b - part)
    even = total.view(np.uint64) % 2 == 0
    other: Any = np.nextafter(total, np.copysign(np.inf, error))
    return np.where(np.isfinite(total) & (error != 0) & even, other, total)


def narrowed(t: Type, a: Any) -> Any:
    """The bits of the nearest number, or of the even one of two."""
    digits, least = (11, -14) if t == F16 else (8, -126)
    step = np.ldexp(1.0, np.maximum(np.frexp(a)[1] - 1, least) - digits + 1)
    nearest: Any = np.where(np.isfinite(a), np.rint(a / step) * step, a)
    if t == F16:
        return nearest.astype(np.float16).view(np.uint16)
    return (nearest.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def wanted(name: str, t: Type, *columns: Any) -> Any:
    with np.errstate(all="ignore"):
        x, y, z = (as_f64(t, column) for column in columns)
        result = {"fadd": odd_sum(x, y), "fmul": x * y, "fma": odd_sum(x * y, z)}[name]
        return narrowed(
            t, np.where(result == 0, {"fadd": x + y, "fmul": x * y, "fma": x * y + z}[name], result)
        )


def operands(t: Type, seed: int) -> list[Any]:
    """All halves, beside random ones, and beside ones that give sums around every exponent."""
    random = np.random.default_rng(seed)
    a, b, c = ALL, random.permutation(ALL), random.permutation(ALL)
    digits = 10 if t == F16 else 7
    near = random.integers(1, 4, len(ALL)).astype(np.uint16) << np.uint16(digits)  # a few binades apart
    with np.errstate(all="ignore"):
        product = narrowed(t, as_f64(t, a) * as_f64(t, b))
    far = random.integers(0, digits + 6, len(ALL)).astype(np.uint16) << np.uint16(digits)
    signs = random.integers(0, 2, len(ALL)).astype(np.uint16) << np.uint16(15)
    return [a, b, [(product ^ np.uint16(1 << 15)) + near, c, (product ^ signs) - far][seed % 3]]


def is_nan(t: Type, bits: Any) -> Any:
    return (bits & np.uint16(0x7FFF)) > (0x7C00 if t == F16 else 0x7F80)


@pytest.mark.parametrize("setup", SETUPS, ids=str)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_half(case: Case, setup: Setup) -> None:
    if setup.cpu and platform.machine().lower() not in ("x86_64", "amd64"):
        pytest.skip("compiles for older x86 processors, and runs the code")
    if setup.features - host_features():
        pytest.skip(f"this processor has no {', '.join(sorted(setup.features - host_features()))}")
    name, t = case.name.split(".")[0], case.inputs[0]
    compiled = Compiled((case,), setup)
    for seed in range(REPEATS):
        columns = operands(t, seed)
        found = compiled.run(case, columns[: len(case.inputs)]).view(np.uint16)
        expected = wanted(name, t, *columns)
        bad = np.flatnonzero((found != expected) & ~(is_nan(t, found) & is_nan(t, expected)))
        assert not len(bad), [hex(int(column[bad[0]])) for column in (*columns, found, expected)]
