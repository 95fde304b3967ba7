"""Sums, products and fused multiply-adds of f16 over every value of one operand, on each way to do them.

The judge is NumPy: in f64 products of halves are exact, and where the sum of such a product and a half is
not, its error is so far below the last place of a half that rounding once more is right.
"""

from __future__ import annotations

import platform
from typing import Any

import numpy as np
import pytest

from simt.ptx.types import F16
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
    rounded(name, F16, arity, "rn", unused) for name, arity in (("fadd", 2), ("fmul", 2), ("fma", 3))
)


def wanted(name: str, a: Any, b: Any, c: Any) -> Any:
    with np.errstate(all="ignore"):
        x, y, z = (v.view(np.float16).astype(np.float64) for v in (a, b, c))
        result = {"fadd": x + y, "fmul": x * y, "fma": x * y + z}[name]
        return result.astype(np.float16)


def operands(seed: int) -> list[Any]:
    """All halves, beside random ones, and beside ones that give sums around every exponent."""
    random = np.random.default_rng(seed)
    a, b, c = ALL, random.permutation(ALL), random.permutation(ALL)
    near = random.integers(1, 4, len(ALL)).astype(np.uint16) << np.uint16(10)  # a few binades apart
    with np.errstate(all="ignore"):
        product = (a.view(np.float16) * b.view(np.float16)).view(np.uint16)
    return [a, b, c if seed % 2 else (product ^ np.uint16(1 << 15)) + near]


@pytest.mark.parametrize("setup", SETUPS, ids=str)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_half(case: Case, setup: Setup) -> None:
    if setup.cpu and platform.machine().lower() not in ("x86_64", "amd64"):
        pytest.skip("compiles for older x86 processors, and runs the code")
    if setup.features - host_features():
        pytest.skip(f"this processor has no {', '.join(sorted(setup.features - host_features()))}")
    name = case.name.split(".")[0]
    compiled = Compiled((case,), setup)
    for seed in range(REPEATS):
        columns = operands(seed)
        found = compiled.run(case, columns[: len(case.inputs)]).view(np.float16)
        expected = wanted(name, *columns)
        same = (found.view(np.uint16) == expected.view(np.uint16)) | np.isnan(found) & np.isnan(expected)
        bad = np.flatnonzero(~same)
        assert not len(bad), [hex(int(column[bad[0]])) for column in (*columns, found.view(np.uint16))]
