"""Loops with a barrier on every way round."""

from __future__ import annotations

import pytest

from simt.analysis.lower import lower
from simt.analysis.rounds import barrier_loops
from simt.analysis.schedule import schedule
from simt.ptx.parser import parse

INNER = "add.u32 %j, %j, 1; setp.lt.u32 %p, %j, 3; @%p bra M;"
TURN = "add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %n;"
LOOPS = {
    "without": (f"L: {TURN} @%p bra L;", 0),
    "before": (f"bar.sync 0; L: {TURN} @%p bra L;", 0),
    "one": (f"L: bar.sync 0; {TURN} @%p bra L;", 1),
    "on one of two ways": (f"L: setp.eq.u32 %p, %i, 5; @%p bra M; bar.sync 0; M: {TURN} @%p bra L;", 0),
    "on both ways": (
        f"L: setp.eq.u32 %p, %i, 5; @%p bra M; bar.sync 0; bra N; M: bar.sync 0; N: {TURN} @%p bra L;",
        1,
    ),
    "where the loop is left": (f"L: {TURN} @%p bra L; bar.sync 0;", 0),
    "none waited at": (f"L: barrier.arrive 1, 64; {TURN} @%p bra L;", 0),
    "in the inner loop": (f"L: mov.u32 %j, 0; M: bar.sync 0; {INNER} {TURN} @%p bra L;", 2),
    "in the outer loop": (f"L: bar.sync 0; M: {INNER} {TURN} @%p bra L;", 1),
}
"""Code, and how many of its loops cannot go round without a barrier."""


@pytest.mark.parametrize("name", LOOPS)
def test_barrier_loops(name: str) -> None:
    body, count = LOOPS[name]
    text = f""".version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u32 n)
{{
    .reg .pred %p;
    .reg .b32 %i, %j, %n;
    ld.param.u32 %n, [n];
    mov.u32 %i, 0;
    {body}
    ret;
}}
"""
    tree, problems = parse(text, "k.ptx")
    assert tree is not None
    assert not problems.errors
    assert len(barrier_loops(schedule(lower(tree).functions["k"]))) == count
