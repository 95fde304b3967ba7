"""Ranges against exact arithmetic: whatever operands a range stands for, the result's range holds the result.

Compiled code leaves out checks of addresses that ranges prove, so a range that is too narrow would be a hole.
"""

from __future__ import annotations

import random

import pytest

from simt.analysis.range_algebra import UNKNOWN, Range, RangeAlgebra, constant, join, made
from simt.analysis.shape import BlockShape
from simt.ptx.types import TYPES, U32, Type
from tests.property import groups
from tests.property.values import specials

M = RangeAlgebra(BlockShape(64, 1, 1))
TRIALS = 150
SAMPLES = 6
FLOATING = (
    "fadd", "fsub", "fmul", "fdiv", "fma", "fsqrt", "flush", "fmin", "fmax", "float_to_float", "is_nan",
    "round_integral", "int_to_float", "float_to_int", "rarely",
)  # fmt: skip
INTEGER = [g for g in groups.ALL if g.name not in FLOATING]


def holds(found: Range, t: Type, bits: int) -> bool:
    """Whether a range stands for a value."""
    span = 1 << t.bits
    return (
        bits % (1 << min(found.zeros, t.bits)) == 0 and (found.lo - bits) // -span * -span + bits <= found.hi
    )


def some_range(t: Type, source: random.Random) -> Range:
    """A range, as those that the analysis makes: a stretch around an edge, or of any length anywhere."""
    if t.is_float or t.is_predicate or source.random() < 0.1:
        return UNKNOWN
    zeros = source.choice((0, 0, 0, 1, 2, 4, 7))
    start = source.choice(specials(t)) - source.choice((0, 0, 1, 5))
    length = source.choice((0, 1, 3, 40, 255, source.getrandbits(t.bits)))
    return made(t, start >> zeros << zeros, (start + length) >> zeros << zeros, zeros)


def some_value(t: Type, within: Range, source: random.Random) -> int:
    if within == UNKNOWN:
        return source.choice(specials(t)) if source.random() < 0.5 else source.getrandbits(t.bits)
    unit = 1 << min(within.zeros, t.bits)
    lo, hi = -(-within.lo // unit), within.hi // unit
    picked = source.choice((lo, hi, source.randint(lo, hi), (lo + hi) // 2))
    return picked * unit % 2**t.bits


@pytest.mark.parametrize("group", INTEGER, ids=str)
def test_results_are_within(group: groups.Group) -> None:
    source = random.Random(group.name)
    for case in group.cases:
        for _ in range(TRIALS):
            ranges = [some_range(t, source) for t in case.inputs]
            found = case.run(M, *ranges)
            for _ in range(SAMPLES):
                values = [some_value(t, r, source) for t, r in zip(case.inputs, ranges)]
                expected = case.expected(*values)
                if expected is None or case.output.is_predicate:
                    continue
                assert holds(found, case.output, expected), (case.name, ranges, values, expected, found)


def test_unions_hold_both() -> None:
    source = random.Random(1)
    for t in (t for t in TYPES.values() if t.is_integer):
        for _ in range(TRIALS):
            a, b = some_range(t, source), some_range(t, source)
            either = join(a, b)
            assert holds(either, t, some_value(t, a, source))
            assert holds(either, t, some_value(t, b, source))


def test_the_test_can_fail() -> None:
    assert not holds(Range(4, 8), U32, 9)
    assert not holds(Range(4, 8, 2), U32, 5)
    assert not holds(Range(-2, 3), U32, 2**32 - 3)
    assert holds(Range(-2, 3), U32, 2**32 - 2)
    assert holds(constant(0), U32, 0)


@pytest.mark.parametrize("x", [1, 20, 32, 50, 64])
@pytest.mark.parametrize("y", [1, 3, 4])
def test_threads_that_do_not_exist(x: int, y: int) -> None:
    """A warp computes its last lanes even where the CTA has no threads for them."""
    block = BlockShape(x, y, 1)
    algebra = RangeAlgebra(block)
    for linear in range(block.warps * 32):
        computed = (linear, 0) if block.linear else (linear % x, linear // x % y)
        for axis, value in zip("xy", computed):
            found = algebra.special("tid", axis)
            assert found.lo <= value <= found.hi
