"""The LLVM algebra against exact arithmetic: vectors and scalars, with and without AVX-512."""

from __future__ import annotations

import platform

import pytest

from tests.property import groups
from tests.property.check import check
from tests.property.jit import Compiled, Setup

VECTORS = Setup("vectors")
SCALARS = Setup("scalars", width=1)

AVX2 = Setup("avx2", cpu="x86-64-v3", features=frozenset({"avx", "avx2", "fma", "f16c", "sse4.1"}))
SSE2 = Setup("sse2", cpu="x86-64", features=frozenset())
FLOATING = [g for g in groups.ALL if g.name.startswith(("f", "int_to", "round")) and g.name != "from_bits"]
X86 = platform.machine().lower() in ("x86_64", "amd64")


@pytest.mark.parametrize("setup", [VECTORS, SCALARS], ids=str)
@pytest.mark.parametrize("group", groups.ALL, ids=str)
def test_llvm(group: groups.Group, setup: Setup) -> None:
    compiled = Compiled(group.cases, setup)
    for case in group.cases:
        check(case, compiled.run)


@pytest.mark.skipif(not X86, reason="compiles for older x86 processors, and runs the code")
@pytest.mark.parametrize("setup", [AVX2, SSE2], ids=str)
@pytest.mark.parametrize("group", FLOATING, ids=str)
def test_older_processors(group: groups.Group, setup: Setup) -> None:
    """Without AVX-512 (its embedded rounding), and without fused multiply-add."""
    if setup.missing:
        pytest.skip(f"this processor has no {', '.join(sorted(setup.missing))}")
    compiled = Compiled(group.cases, setup)
    for case in group.cases:
        check(case, compiled.run)
