"""The LLVM algebra against exact arithmetic: vectors and scalars, this processor and older ones."""

from __future__ import annotations

import platform
from dataclasses import replace

import pytest

from simt.engine.host import SLOW_GATHERS
from tests.property import groups
from tests.property.check import check, check_rows
from tests.property.jit import Compiled, Setup
from tests.property.values import tuples

HOST = [Setup("vectors"), Setup("scalars", width=1)]
PORTABLE = Setup("portable", features=frozenset())
AVX2 = Setup("avx2", 16, "x86-64-v3", frozenset({"avx", "avx2", "fma", "f16c", "sse4.1"}))
AVX2_SCALARS = replace(AVX2, name="avx2-scalars", width=1)
SSE2 = Setup("sse2", 8, "x86-64", frozenset())
"""Two registers of 32-bit elements, as in `AVX2`: LLVM needs four times as long for eight, which it makes by
halving, and which `tests.cpus` has."""

X86 = platform.machine().lower() in ("x86_64", "amd64")
ARITHMETIC = ("fadd", "fsub", "fmul", "fdiv", "fma", "fsqrt")
CONVERSIONS = ("float_to_float", "float_to_int", "int_to_float", "round_integral")


def run_all(group: groups.Group, setup: Setup) -> None:
    compiled = Compiled(group.cases, setup)
    for case in group.cases:
        check(case, compiled.run)


@pytest.mark.share(3)
@pytest.mark.parametrize("setup", HOST, ids=str)
@pytest.mark.parametrize("group", groups.ALL, ids=str)
def test_this_processor(group: groups.Group, setup: Setup) -> None:
    run_all(group, setup)


@pytest.mark.parametrize("group", groups.named(*ARITHMETIC, "round_integral"), ids=str)
def test_without_any_feature(group: groups.Group) -> None:
    """What a processor must have by itself is only f64 arithmetic to nearest."""
    run_all(group, PORTABLE)


@pytest.mark.skipif(not X86, reason="compiles for older x86 processors, and runs the code")
@pytest.mark.parametrize("group", groups.named(*ARITHMETIC, *CONVERSIONS, "fmin", "fmax", "flush"), ids=str)
def test_avx2(group: groups.Group) -> None:
    """Directed rounding without AVX-512: by the processor's rounding mode."""
    if AVX2.missing:
        pytest.skip(f"this processor has no {', '.join(sorted(AVX2.missing))}")
    run_all(group, AVX2)


@pytest.mark.skipif(not X86, reason="compiles for older x86 processors, and runs the code")
@pytest.mark.parametrize("group", groups.named(*ARITHMETIC), ids=str)
def test_avx2_scalars(group: groups.Group) -> None:
    if AVX2.missing:
        pytest.skip(f"this processor has no {', '.join(sorted(AVX2.missing))}")
    run_all(group, AVX2_SCALARS)


@pytest.mark.skipif(not X86, reason="compiles for older x86 processors, and runs the code")
@pytest.mark.parametrize(
    "group", groups.named("fma", "float_to_float", "float_to_int", "round_integral", "fmin"), ids=str
)
def test_sse2(group: groups.Group) -> None:
    """The oldest 64-bit x86: no fused multiply-add, no half conversions, no rounding instructions."""
    run_all(group, SSE2)


@pytest.mark.parametrize("width", [2, 8, 64])
@pytest.mark.parametrize("group", groups.named("fadd", "fma", "fsqrt"), ids=str)
def test_other_widths(group: groups.Group, width: int) -> None:
    """Narrower and wider than the pieces that directed rounding cuts vectors into."""
    cases = tuple(c for c in group.cases if ".f32" in c.name or ".f64" in c.name)
    run_all(groups.Group(group.name, cases), Setup(str(width), width=width))


WORDS = ("by_halves", "lookup", "rarely")
TABLES_ON = {
    "host": Setup("host"),
    "avx2": AVX2,
    "slow gathers": replace(AVX2, features=AVX2.features | {SLOW_GATHERS}),
    "sse2": SSE2,
}


@pytest.mark.skipif(not X86, reason="compiles for older x86 processors, and runs the code")
@pytest.mark.parametrize("width", [1, 4, 8, 32, 64])
@pytest.mark.parametrize("cpu", TABLES_ON)
@pytest.mark.parametrize("group", groups.named(*WORDS), ids=str)
def test_words_of_registers(group: groups.Group, cpu: str, width: int) -> None:
    """What is done by registers of words and of their halves, of which columns fill a part or several."""
    setup = TABLES_ON[cpu]
    if setup.missing:
        pytest.skip(f"this processor has no {', '.join(sorted(setup.missing))}")
    run_all(group, replace(setup, width=width))


MIXED = tuple(
    c
    for g in groups.ALL
    for c in g.cases
    if len(c.inputs) > 1 and c.output.bits <= 32 and c.inputs[-1].bits == 32
)


@pytest.mark.parametrize("scalar", [0, -1])
def test_uniform_beside_varying(scalar: int) -> None:
    """One operand is a scalar that stands for all lanes."""
    setup = Setup("mixed", scalar=scalar)
    compiled = Compiled(MIXED, setup)
    for case in MIXED:
        rows = tuples(case.inputs, 64, seed=1)
        spread = [_with_operand(row, rows[i - i % setup.width], scalar) for i, row in enumerate(rows)]
        check_rows(case, spread, compiled.run)


def _with_operand(row: tuple[int, ...], other: tuple[int, ...], index: int) -> tuple[int, ...]:
    """`row` with one operand of `other`."""
    changed = list(row)
    changed[index] = other[index]
    return tuple(changed)
