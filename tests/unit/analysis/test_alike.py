"""Lanes that come by different ways with one value."""

from __future__ import annotations

import pytest

from simt.analysis.lower import lower
from simt.analysis.schedule import schedule
from simt.analysis.shape import BlockShape
from simt.analysis.ssa import build
from simt.analysis.uniformity import analyse
from simt.isa.algebra import Environment
from simt.ptx.parser import parse

PARTS = "setp.lt.u32 %p, %t, %n; "
BODIES = {
    "a number": (PARTS + "@%p bra A; mov.u32 %i, 3; bra M; A: mov.u32 %i, 3; M:", True),
    "two numbers": (PARTS + "@%p bra A; mov.u32 %i, 3; bra M; A: mov.u32 %i, 4; M:", False),
    "a register": (PARTS + "mov.u32 %i, %n; @%p bra M; st.global.u32 [%a], 0; mov.u32 %i, %n; M:", True),
    "a sum": (PARTS + "add.u32 %i, %n, 1; @%p bra M; st.global.u32 [%a], 0; add.u32 %i, %n, 1; M:", True),
    "two sums": (PARTS + "add.u32 %i, %n, 1; @%p bra M; add.u32 %i, %n, 2; M:", False),
    "what is loaded": (
        PARTS + "@%p bra A; ld.global.u32 %i, [%a]; bra M; A: ld.global.u32 %i, [%a]; M:",
        False,
    ),
    "under a guard": (PARTS + "@%p bra A; mov.u32 %i, 3; bra M; A: @%p mov.u32 %i, 3; M:", False),
    "a way out before": (
        "setp.eq.u32 %q, %n, 9; mov.u32 %i, 1; @%q bra M;"
        + PARTS
        + "mov.u32 %i, 2; @%p bra M; st.global.u32 [%a], 0; mov.u32 %i, 2; M:",
        True,
    ),
    "another way out before": (
        PARTS + "mov.u32 %i, 1; @%p bra M; mov.u32 %i, 2; st.global.u32 [%a], 0; mov.u32 %i, 2; M:",
        False,
    ),
    "out of a loop": (
        "mov.u32 %j, 0; L: add.u32 %j, %j, 1; mov.u32 %i, %j; setp.gt.u32 %q, %j, %n; @%q bra M;"
        "setp.lt.u32 %p, %j, %t; @%p bra L; mov.u32 %i, %j; M:",
        False,
    ),
    "around a loop": (
        "setp.eq.u32 %q, %n, 9; mov.u32 %i, 1; @%q bra A;"
        + PARTS
        + "@%p bra M; mov.u32 %j, 0; L: add.u32 %j, %j, 1; setp.lt.u32 %p, %j, %t; @%p bra L; bra M;"
        "A: mov.u32 %i, 2; M:",
        True,
    ),
    "around a loop, and out of it with another number": (
        "setp.eq.u32 %q, %n, 9; mov.u32 %i, 1; @%q bra A;"
        "mov.u32 %j, 0; L: add.u32 %j, %j, 1; setp.lt.u32 %p, %j, %t; @%p bra B;"
        "setp.lt.u32 %p, %j, 7; @%p bra L; bra M; B: mov.u32 %i, 2; bra M; A: mov.u32 %i, 2; M:",
        False,
    ),
    "out of a loop by two ways": (
        "setp.eq.u32 %q, %n, 9; mov.u32 %i, 1; @%q bra A;"
        "mov.u32 %j, 0; L: add.u32 %j, %j, 1; setp.lt.u32 %p, %j, %t; @%p bra M;"
        "setp.lt.u32 %p, %j, 7; @%p bra L; bra M; A: mov.u32 %i, 2; M:",
        True,
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_where_ways_meet(name: str) -> None:
    body, same = BODIES[name]
    text = f"""
.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 a, .param .u32 n)
{{
    .reg .pred %p, %q; .reg .b32 %t, %i, %j, %n; .reg .b64 %a;
    ld.param.u64 %a, [a]; ld.param.u32 %n, [n];
    mov.u32 %t, %tid.x;
    {body}
    st.global.u32 [%a], %i;
    ret;
}}
"""
    tree, problems = parse(text, "k.ptx")
    assert tree is not None
    assert not problems.errors
    function = lower(tree).functions["k"]
    ssa = build(function, schedule(function))
    (phi,) = (d for phis in ssa.phis.values() for d in phis if d.register.name == "%i")
    assert analyse(ssa, Environment(), BlockShape(64, 1, 1)).shapes[phi].is_uniform == same
