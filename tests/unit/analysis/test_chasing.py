"""Loops in which what a turn loads tells where the next one loads."""

from __future__ import annotations

import pytest

import simt
from simt.analysis.chasing import chases
from simt.analysis.schedule import schedule
from simt.analysis.shape import BlockShape
from simt.analysis.ssa import build
from simt.engine.host import SLOW_GATHERS
from simt.engine.llvm_kernel import emit

TURNS = {
    "a list": ("ld.global.u32 %i, [%a]; mul.wide.u32 %o, %i, 4; add.u64 %a, %base, %o;", True),
    "a list of addresses": ("ld.global.u64 %a, [%a]; cvt.u32.u64 %i, %a;", True),
    "a search by halves": (
        "ld.global.u32 %w, [%a]; setp.lt.u32 %q, %w, %n; selp.u64 %o, 8, 64, %q; add.u64 %a, %a, %o;"
        "cvt.u32.u64 %i, %a;",
        True,
    ),
    "a list, of which each word tells of another": (
        "ld.global.u32 %i, [%a]; add.u64 %a, %a, 4; mul.wide.u32 %o, %i, 4; add.u64 %o, %base, %o;"
        "ld.global.u32 %w, [%o]; add.u32 %sum, %sum, %w;",
        False,
    ),
    "a sum": ("ld.global.u32 %i, [%a]; add.u32 %sum, %sum, %i; add.u64 %a, %a, 128;", False),
    "a row of a list": (
        "ld.global.u32 %w, [%a]; add.u32 %i, %i, %w; mul.wide.u32 %o, %i, 4; add.u64 %o, %base, %o;"
        "ld.global.u32 %w, [%o]; add.u64 %a, %a, 4;",
        True,
    ),
}


def kernel(turn: str) -> str:
    return f""".version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 places)
{{
    .reg .pred %p, %q; .reg .b32 %t, %i, %w, %n, %sum; .reg .b64 %base, %a, %o;
    ld.param.u64 %base, [places]; mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 4; add.u64 %a, %base, %o;
    mov.u32 %sum, 0; mov.u32 %n, 0; mov.u32 %i, 0;
L:  {turn}
    add.u32 %n, %n, 1; setp.ne.u32 %p, %i, 0; @%p bra L;
    ld.param.u64 %a, [places]; mad.lo.u32 %sum, %sum, 3, %n; st.global.u32 [%a], %sum;
    ret;
}}
"""


@pytest.mark.parametrize("name", TURNS)
def test_what_turns_load(name: str) -> None:
    turn, expected = TURNS[name]
    function = simt.Device("sm_75", engine="interpreter").load(kernel(turn)).program.functions["k"]
    ssa = build(function, schedule(function))
    (loop,) = ssa.schedule.loops
    blocks = ssa.schedule.order[loop.first : loop.last + 1]
    assert chases(ssa, loop.header, blocks) == expected


@pytest.mark.parametrize(("gathers", "most"), [("slow", 12), ("fast", 24)])
def test_how_many_go_alone(gathers: str, most: int) -> None:
    """Lanes that wait for what they follow are faster together, also where gathers are slow."""
    program = simt.Device("sm_75", engine="interpreter").load(kernel(TURNS["a list"][0])).program
    features = {"avx", "avx2", *({SLOW_GATHERS} if gathers == "slow" else ())}
    text, _, _ = emit(program, program.functions["k"], BlockShape(32, 1, 1), frozenset(features), "")
    assert f", {most}\n" in "".join(f"{x}\n" for x in text.splitlines() if "icmp ule i32" in x)
