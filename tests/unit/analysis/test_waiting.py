"""Where parts of a warp run the same blocks at different times."""

from __future__ import annotations

import pytest

from simt.analysis.lower import lower
from simt.analysis.meetings import gates, meeting_blocks
from simt.analysis.program import Barrier, Function, Jump, Program
from simt.analysis.schedule import schedule
from simt.analysis.shape import BlockShape
from simt.analysis.ssa import build
from simt.analysis.waiting import settle, waiting_loops
from simt.isa.algebra import Environment
from simt.ptx.parser import parse


def program(body: str) -> Program:
    """A kernel, and two functions that are not put into it, as they call themselves."""
    text = f""".version 7.5
.target sm_75
.address_size 64
.func (.reg .b32 %v) read(.reg .b64 %a)
{{
    .reg .pred %p;
    ld.volatile.global.u32 %v, [%a];
    setp.eq.u32 %p, %v, 77;
    @%p call (%v), read, (%a);
    ret;
}}
.func (.reg .b32 %v) same(.reg .b32 %x)
{{
    .reg .pred %p;
    setp.eq.u32 %p, %x, 77;
    @%p call (%v), same, (%x);
    mov.b32 %v, %x;
    ret;
}}
.func meet(.reg .b32 %mask)
{{
    .reg .pred %p;
    bar.warp.sync %mask;
    setp.eq.u32 %p, %mask, 0;
    @%p call meet, (%mask);
    ret;
}}
.visible .entry k(.param .u64 a, .param .u32 n)
{{
    .reg .pred %p;
    .reg .b32 %t, %n, %v, %i;
    .reg .b64 %a, %o;
    .local .align 4 .b8 own[4];
    .shared .align 4 .b8 flag[4], other[4];
    ld.param.u64 %a, [a];
    ld.param.u32 %n, [n];
    mov.u32 %t, %tid.x;
    mov.u32 %i, 0;
    {body}
END:
    ret;
}}
"""
    tree, problems = parse(text, "k.ptx")
    assert tree is not None
    assert not problems.errors
    return lower(tree)


def function(body: str) -> Function:
    return program(body).functions["k"]


LOOPS = {
    "spin on a flag": ("L: ld.volatile.global.u32 %v, [%a]; setp.eq.u32 %p, %v, 0; @%p bra L;", 1),
    "spin on a lock": ("L: atom.global.cas.b32 %v, [%a], 0, 1; setp.ne.u32 %p, %v, 0; @%p bra L;", 1),
    "count what a flag lets through": (
        "L: ld.volatile.global.u32 %v, [%a]; setp.eq.u32 %p, %v, 0; @%p bra L;"
        "add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra L;",
        1,
    ),
    "count": ("L: add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra L;", 0),
    "count atomics": (
        "L: atom.global.add.u32 %v, [%a], 1; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra L;",
        0,
    ),
    "spin on a flag put into a variable": (
        "L: ld.volatile.global.u32 %v, [%a]; st.local.u32 [own], %v; ld.local.u32 %i, [own];"
        "setp.eq.u32 %p, %i, 0; @%p bra L;",
        1,
    ),
    "spin on a flag that a function reads": (
        "L: call (%v), read, (%a); setp.eq.u32 %p, %v, 0; @%p bra L;",
        1,
    ),
    "spin on a flag that a function looks at": (
        "L: ld.volatile.global.u32 %v, [%a]; call (%i), same, (%v); setp.eq.u32 %p, %i, 0; @%p bra L;",
        1,
    ),
    "a function that reads nothing": ("L: call (%i), same, (%i); setp.eq.u32 %p, %i, 0; @%p bra L;", 0),
    "a variable": ("L: ld.local.u32 %i, [own]; setp.eq.u32 %p, %i, 0; @%p bra L;", 0),
    "plain load": ("L: ld.global.u32 %v, [%a]; setp.eq.u32 %p, %v, 0; @%p bra L;", 0),
    "count to what others say": (
        "L: ld.volatile.global.u32 %v, [%a]; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %v; @%p bra L;",
        0,
    ),
    "leave by that": (
        "L: ld.volatile.global.u32 %v, [%a]; add.u32 %i, %i, 1; setp.le.u32 %p, %v, %i; @!%p bra L;",
        0,
    ),
    "count by the size of a grid": (
        "mov.u32 %n, %ntid.x; mov.u32 %t, %nctaid.x; mul.lo.u32 %n, %n, %t;"
        "L: ld.volatile.global.u32 %v, [%a]; add.u32 %i, %i, %n; setp.gt.u32 %p, %v, %i; @%p bra L;",
        0,
    ),
    "count by what may be zero": (
        "L: ld.volatile.global.u32 %v, [%a]; add.u32 %i, %i, %n; setp.lt.u32 %p, %i, %v; @%p bra L;",
        1,
    ),
    "count down": (
        "L: ld.volatile.global.s32 %v, [%a]; add.s32 %i, %i, -1; setp.lt.s32 %p, %i, %v; @%p bra L;",
        1,
    ),
    "count on from what others say": (
        "L: ld.volatile.global.u32 %v, [%a]; add.u32 %i, %i, 1; setp.gt.u32 %p, %i, %v; @%p bra L;",
        1,
    ),
    "count until it is what others say": (
        "L: ld.volatile.global.u32 %v, [%a]; add.u32 %i, %i, 1; setp.ne.u32 %p, %i, %v; @%p bra L;",
        1,
    ),
    "count in some turns": (
        "L: ld.volatile.global.u32 %v, [%a]; setp.eq.u32 %p, %v, %t; @%p bra L;"
        "add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %v; @%p bra L;",
        1,
    ),
    "count in some turns, by copies": (
        "L: mov.u32 %v, %i; ld.volatile.global.u32 %n, [%a]; mov.u32 %t, %v;"
        "setp.eq.u32 %p, %n, 0; @%p bra M; add.u32 %t, %v, 1; M: mov.u32 %i, %t;"
        "setp.lt.u32 %p, %i, 9; @%p bra L;",
        1,
    ),
    "a limit that grows as well": (
        "L: ld.volatile.global.u32 %v, [%a]; add.u32 %i, %i, 1; add.u32 %v, %v, %i;"
        "setp.lt.u32 %p, %i, %v; @%p bra L;",
        1,
    ),
    "count to what others said in some turns": (
        "mov.u32 %v, %n; L: setp.eq.u32 %p, %t, %i; @%p bra M; ld.volatile.global.u32 %v, [%a];"
        "M: add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %v; @%p bra L;",
        0,
    ),
    "a limit that grows in other turns": (
        "mov.u32 %v, %n; L: setp.eq.u32 %p, %t, %i; @%p bra M; ld.volatile.global.u32 %v, [%a]; bra O;"
        "M: add.u32 %v, %v, 1; O: add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %v; @%p bra L;",
        1,
    ),
    "tickets": ("L: atom.global.add.u32 %v, [%a], 1; setp.lt.u32 %p, %v, %n; @%p bra L;", 0),
    "tickets that one lane takes": (
        "L: mov.u32 %v, 0; setp.ne.u32 %p, %t, 0; @%p bra M; atom.global.add.u32 %v, [%a], 2;"
        "M: shfl.sync.idx.b32 %v, %v, 0, 31, -1; setp.ge.s32 %p, %v, %n; @%p bra END; bra L;",
        0,
    ),
    "tickets for a CTA": (
        "L: setp.ne.u32 %p, %t, 0; @%p bra M; atom.global.add.u32 %v, [%a], 1; st.shared.u32 [flag], %v;"
        "M: bar.sync 0; ld.shared.u32 %i, [flag]; setp.ge.s32 %p, %i, %n; bar.sync 0; @!%p bra L;",
        0,
    ),
    "no tickets": ("L: atom.global.add.u32 %v, [%a], 0; setp.lt.u32 %p, %v, %n; @%p bra L;", 1),
    "tickets of any size": ("L: atom.global.add.u32 %v, [%a], %t; setp.lt.u32 %p, %v, %n; @%p bra L;", 1),
    "tickets given back": ("L: atom.global.add.s32 %v, [%a], -1; setp.lt.s32 %p, %v, %n; @%p bra L;", 1),
    "tickets above a number": ("L: atom.global.add.u32 %v, [%a], 1; setp.gt.u32 %p, %v, %n; @%p bra L;", 1),
    "a lock by sums": (
        "L: atom.global.add.u32 %v, [%a], 1; setp.ne.u32 %p, %v, 0; @!%p bra END;"
        "red.global.add.u32 [%a], -1; bra L;",
        1,
    ),
    "tickets and what others say": (
        "L: atom.global.add.u32 %v, [%a], 1; ld.volatile.global.u32 %i, [%a+4]; setp.lt.u32 %p, %v, %i;"
        "@%p bra L;",
        1,
    ),
    "a ticket, then a flag": (
        "L: atom.global.add.u32 %v, [%a], 1; setp.ge.u32 %p, %v, %n; @%p bra END;"
        "M: ld.volatile.global.u32 %v, [%a+4]; setp.eq.u32 %p, %v, 0; @%p bra M; bra L;",
        2,
    ),
    "so many tries": (
        "L: atom.global.cas.b32 %v, [%a], 0, 1; setp.eq.u32 %p, %v, 0; @%p bra END;"
        "add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra L;",
        1,
    ),
    "so many tries, one condition after the other": (
        "L: mov.u32 %t, 0; add.u32 %i, %i, 1; atom.global.cas.b32 %v, [%a], 0, 1; setp.eq.u32 %p, %v, 0;"
        "@%p bra M; setp.lt.u32 %p, %i, %n; selp.u32 %t, 1, 0, %p;"
        "M: setp.ne.u32 %p, %t, 0; @%p bra L;",
        1,
    ),
    "other steps by what others say": (
        "L: ld.volatile.global.u32 %v, [%a]; add.u32 %i, %i, 1; mov.u32 %t, %i; setp.eq.u32 %p, %v, 0;"
        "@%p bra M; st.local.u32 [own], %v; M: setp.lt.u32 %p, %t, %n; @%p bra L;",
        0,
    ),
    "a flag of the CTA, a barrier in every turn": (
        "L: ld.volatile.shared.u32 %v, [flag]; bar.sync 0; setp.eq.u32 %p, %v, 0; @%p bra L;",
        0,
    ),
    "a flag of the CTA, a barrier in some turns": (
        "L: ld.volatile.shared.u32 %v, [flag]; setp.eq.u32 %p, %v, %t; @%p bra L;"
        "bar.sync 0; setp.eq.u32 %p, %v, 0; @%p bra L;",
        1,
    ),
    "a flag of the grid, a barrier in every turn": (
        "L: ld.volatile.global.u32 %v, [%a]; bar.sync 0; setp.eq.u32 %p, %v, 0; @%p bra L;",
        1,
    ),
    "a flag that one thread reads for its CTA": (
        "L: atom.global.or.b32 %v, [%a], 0; st.shared.u32 [flag], %v; bar.sync 0; ld.shared.u32 %i, [flag];"
        "setp.eq.u32 %p, %i, 0; @%p bra L;",
        1,
    ),
    "swap for a sum": (
        "ld.global.u32 %v, [%a]; L: add.u32 %i, %v, %n; mov.u32 %t, %v;"
        "atom.global.cas.b32 %v, [%a], %t, %i; setp.ne.u32 %p, %v, %t; @%p bra L;",
        0,
    ),
    "swap for what is greater": (
        "ld.global.u32 %v, [%a]; L: setp.ge.u32 %p, %v, %n; @%p bra END; mov.u32 %t, %v;"
        "atom.global.cas.b32 %v, [%a], %t, %n; setp.ne.u32 %p, %v, %t; @%p bra L;",
        0,
    ),
    "swap until it is great enough": (
        "ld.global.u32 %v, [%a]; L: mov.u32 %t, %v; atom.global.cas.b32 %v, [%a], %t, %n;"
        "setp.lt.u32 %p, %v, %n; @%p bra L;",
        0,
    ),
    "swap until others make it great enough": (
        "ld.global.u32 %v, [%a]; L: mov.u32 %t, %v; atom.global.cas.b32 %v, [%a], %t, %i;"
        "setp.lt.u32 %p, %v, %n; @%p bra L;",
        1,
    ),
    "swap what is read in each turn": (
        "L: ld.global.u32 %v, [%a]; add.u32 %i, %v, 1; atom.global.cas.b32 %t, [%a], %v, %i;"
        "setp.ne.u32 %p, %t, %v; @%p bra L;",
        0,
    ),
    "swap what is read elsewhere": (
        "L: ld.global.u32 %v, [%a+4]; add.u32 %i, %v, 1; atom.global.cas.b32 %t, [%a], %v, %i;"
        "setp.ne.u32 %p, %t, %v; @%p bra L;",
        1,
    ),
    "a semaphore": (
        "ld.global.u32 %v, [%a]; L: mov.u32 %t, %v; add.u32 %i, %t, -1;"
        "atom.global.cas.b32 %v, [%a], %t, %i; setp.ne.u32 %p, %v, %t; @%p bra L;"
        "setp.eq.u32 %p, %t, 0; @%p bra L;",
        1,
    ),
    "until it is new": (
        "mov.u32 %v, 0; L: mov.u32 %t, %v; ld.volatile.global.u32 %v, [%a];"
        "setp.eq.u32 %p, %v, %t; @%p bra L;",
        1,
    ),
    "until it is not new": (
        "mov.u32 %v, 0; L: mov.u32 %t, %v; ld.volatile.global.u32 %v, [%a];"
        "setp.ne.u32 %p, %v, %t; @%p bra L;",
        0,
    ),
    "the root of a set": (
        "L: mul.wide.u32 %o, %t, 4; add.u64 %o, %a, %o; ld.volatile.global.u32 %v, [%o];"
        "setp.eq.u32 %p, %v, %t; @%p bra END; mov.u32 %t, %v; bra L;",
        0,
    ),
    "the roots of two sets, made one": (
        "L: mul.wide.u32 %o, %t, 4; add.u64 %o, %a, %o; ld.volatile.global.u32 %v, [%o];"
        "setp.eq.u32 %p, %v, %t; @%p bra M; mov.u32 %t, %v; bra L;"
        "M: atom.global.min.u32 %v, [%o], %n; setp.eq.u32 %p, %v, %t; @%p bra END; mov.u32 %t, %v; bra L;",
        0,
    ),
    "a list": (
        "mov.u64 %o, %a; L: ld.volatile.global.u64 %o, [%o]; setp.ne.u64 %p, %o, 0; @%p bra L;",
        0,
    ),
    "a ring of flags": (
        "mov.u64 %o, %a; L: ld.volatile.global.u32 %v, [%o+8]; ld.global.u64 %o, [%o];"
        "setp.ne.u32 %p, %v, 77; @%p bra L;",
        1,
    ),
    "a table of keys": (
        "L: and.b32 %t, %t, 63; mul.wide.u32 %o, %t, 4; add.u64 %o, %a, %o; add.u32 %t, %t, 1;"
        "atom.global.cas.b32 %v, [%o], 0, %n; setp.ne.u32 %p, %v, 0; @%p bra L;",
        0,
    ),
    "a table of keys, cleared before": (
        "mul.wide.u32 %o, %t, 4; add.u64 %o, %a, %o; st.global.u32 [%o], 0; bar.sync 0;"
        "L: and.b32 %t, %t, 63; mul.wide.u32 %o, %t, 4; add.u64 %o, %a, %o; add.u32 %t, %t, 1;"
        "atom.global.cas.b32 %v, [%o], 0, %n; setp.ne.u32 %p, %v, 0; @%p bra L;",
        0,
    ),
    "places that are given back": (
        "L: and.b32 %t, %t, 7; mul.wide.u32 %o, %t, 4; add.u64 %o, %a, %o; add.u32 %t, %t, 1;"
        "atom.global.cas.b32 %v, [%o], 0, 1; setp.ne.u32 %p, %v, 0; @%p bra L; st.global.u32 [%o], 0;",
        1,
    ),
    "places that are given back when all lanes have met": (
        "L: and.b32 %t, %t, 63; mul.wide.u32 %o, %t, 4; add.u64 %o, %a, %o; add.u32 %t, %t, 1;"
        "atom.global.cas.b32 %v, [%o], 0, 1; setp.ne.u32 %p, %v, 0; @%p bra L;"
        "bar.warp.sync -1; st.global.u32 [%o], 0;",
        0,
    ),
    "places that others may give back": (
        "setp.ne.u32 %p, %n, 0; @%p bra L; st.global.u32 [%a], 0; bra END;"
        "L: and.b32 %t, %t, 7; mul.wide.u32 %o, %t, 4; add.u64 %o, %a, %o; add.u32 %t, %t, 1;"
        "atom.global.cas.b32 %v, [%o], 0, 1; setp.ne.u32 %p, %v, 0; @%p bra L;",
        1,
    ),
    "places that others may give back after all lanes have met": (
        "bar.warp.sync -1; setp.ne.u32 %p, %n, 0; @%p bra L; st.global.u32 [%a], 0; bra END;"
        "L: and.b32 %t, %t, 7; mul.wide.u32 %o, %t, 4; add.u64 %o, %a, %o; add.u32 %t, %t, 1;"
        "atom.global.cas.b32 %v, [%o], 0, 1; setp.ne.u32 %p, %v, 0; @%p bra L;",
        1,
    ),
    "places that others may give back behind a barrier": (
        "bar.sync 0; setp.ne.u32 %p, %n, 0; @%p bra L; st.global.u32 [%a], 0; bra END;"
        "L: and.b32 %t, %t, 7; mul.wide.u32 %o, %t, 4; add.u64 %o, %a, %o; add.u32 %t, %t, 1;"
        "atom.global.cas.b32 %v, [%o], 0, 1; setp.ne.u32 %p, %v, 0; @%p bra L;",
        1,
    ),
    "swap what is read of the same variable": (
        "L: ld.shared.u32 %v, [flag]; add.u32 %i, %v, 1; atom.shared.cas.b32 %t, [flag], %v, %i;"
        "setp.ne.u32 %p, %t, %v; @%p bra L;",
        0,
    ),
    "swap what is read of another variable": (
        "L: ld.shared.u32 %v, [other]; add.u32 %i, %v, 1; atom.shared.cas.b32 %t, [flag], %v, %i;"
        "setp.ne.u32 %p, %t, %v; @%p bra L;",
        1,
    ),
    "one place": (
        "L: add.u32 %t, %t, 1; atom.global.exch.b32 %v, [%a], 1; setp.ne.u32 %p, %v, 0; @%p bra L;",
        1,
    ),
    "a flag that a function reads, a barrier in every turn": (
        "L: call (%v), read, (%a); bar.sync 0; setp.eq.u32 %p, %v, 0; @%p bra L;",
        1,
    ),
}


@pytest.mark.parametrize("name", LOOPS)
def test_loops_that_wait(name: str) -> None:
    body, count = LOOPS[name]
    functions = program(body).functions
    found = functions["k"]
    assert len(waiting_loops(build(found, schedule(found)), Environment(), functions)) == count


MEETINGS = {
    "all lanes": ("bar.warp.sync 0xffffffff;", True),
    "all lanes by a register": ("mov.u32 %v, -1; shfl.sync.idx.b32 %i, %t, 0, 31, %v;", True),
    "all lanes in a function": ("call meet, (-1);", True),
    "some lanes in a function": ("call meet, (0xffff);", False),
    "some lanes": ("bar.warp.sync 0xffff;", False),
    "a mask from memory": ("ld.global.u32 %v, [%a]; bar.warp.sync %v;", False),
    "a mask of two values": ("setp.eq.u32 %p, %t, 0; @%p mov.u32 %i, -1; bar.warp.sync %i;", False),
    "under a guard": ("setp.eq.u32 %p, %n, 0; @%p bar.warp.sync -1;", False),
}


@pytest.mark.parametrize("name", MEETINGS)
def test_blocks_in_which_a_warp_meets(name: str) -> None:
    body, meets = MEETINGS[name]
    functions = program(body).functions
    blocks = functions["k"].blocks
    assert bool(meeting_blocks(blocks, Environment(), functions)) == meets
    assert not meeting_blocks(blocks, Environment(machine=60), functions)


SPIN = "L: ld.volatile.global.u32 %v, [%a]; setp.eq.u32 %p, %v, %t; @%p bra L;"
COUNT = "L: add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %t; @%p bra L;"
VOTES = "add.u32 %v, %n, 1; vote.sync.ballot.b32 %i, %p, %n; add.u32 %i, %i, 1; bar.warp.sync -1;"
GATES = {
    "a register, then the whole warp": (SPIN + VOTES, [True, False], 2),
    "before the loop": (VOTES + SPIN, [True, False], 0),
    "before the loop, in another one": (
        "M:" + VOTES + SPIN + "setp.lt.u32 %p, %i, %n; @%p bra M;",
        [True, False],
        2,
    ),
    "a loop that reads nothing": (COUNT + VOTES, [], 0),
    "a part of the warp": (SPIN + "bar.warp.sync 0xffff;", [True], 1),
    "under a guard": (SPIN + "@%p bar.warp.sync -1;", [True], 1),
    "the whole warp": (SPIN + "bar.warp.sync -1; shfl.sync.idx.b32 %i, %t, 0, 31, -1;", [], 0),
    "a function": (SPIN + VOTES + "call meet, (%n);", [True, False], 2),
}
"""Code; for each gate whether its instruction's mask decides; before how many of them lanes may be held."""


@pytest.mark.parametrize("name", GATES)
def test_blocks_before_which_lanes_wait(name: str) -> None:
    body, decide, held = GATES[name]
    functions = program(body).functions
    found = functions["k"]
    line = schedule(found)
    at_gates = gates(line.order, Environment(), functions)
    assert [at_gates[b.index] is not None for b in line.order if b.index in at_gates] == decide
    assert not gates(line.order, Environment(machine=60), functions)
    ssa = build(found, line)
    for index in at_gates:
        (before,) = ssa.predecessors[index]
        assert isinstance(before.terminator, Jump)
    _, pending = settle(ssa, Environment(), BlockShape(64, 1, 1), functions)
    assert len(pending.held) == held


def test_blocks_are_cut_where_lanes_may_have_to_wait_only() -> None:
    counts = [len(function(loop + VOTES).blocks) for loop in (COUNT, SPIN)]
    assert counts[1] == counts[0] + 2


@pytest.mark.parametrize(("before", "more"), [("ld.global", 0), ("st.global", 1)])
def test_blocks_are_cut_behind_what_others_may_wait_for(before: str, more: int) -> None:
    operands = "%v, [%a];" if before == "ld.global" else "[%a], %n;"
    whole = f"{before}.u32 {operands} bar.warp.sync -1; add.u32 %i, %i, %n; bar.warp.sync -1;"
    counts = [len(function(loop + whole).blocks) for loop in (COUNT, SPIN)]
    assert counts[1] == counts[0] + more


BARRIERS = {
    "alone": ("bar.sync 0; mov.u32 %v, %n;", False),
    "after lanes left for good": ("setp.lt.u32 %p, %t, %n; @%p bra END; bar.sync 0; mov.u32 %v, %n;", False),
    "after a diamond": (
        "setp.lt.u32 %p, %t, %n; @%p bra L; mov.u32 %i, 1; L: bar.sync 0; mov.u32 %v, %n;",
        False,
    ),
    "in a loop that lanes leave one by one, with another behind it": (
        "L: setp.ge.u32 %p, %i, %t; @%p bra M; bar.sync 0; add.u32 %i, %i, 1; bra L;"
        "M: bar.sync 0; mov.u32 %v, %n;",
        True,
    ),
}


@pytest.mark.parametrize("name", BARRIERS)
def test_values_behind_barriers(name: str) -> None:
    """What is defined behind barriers varies only if parts of a warp come there at different times."""
    body, parted = BARRIERS[name]
    found = function(body)
    assert any(isinstance(b.terminator, Barrier) for b in found.blocks)
    ssa = build(found, schedule(found))
    uniformity, _ = settle(ssa, Environment(), BlockShape(64, 1, 1), {})
    shapes = [
        uniformity.shapes[d] for d in ssa.definitions if d.register.name == "%v" and d in uniformity.shapes
    ]
    assert shapes
    assert all(s.is_uniform != parted for s in shapes)


WAITS = {
    "a warp waits as one": ("L: ld.volatile.global.u32 %i, [%a]; setp.eq.u32 %p, %i, 0; @%p bra L;", False),
    "until a vote": (
        "L: mul.wide.u32 %o, %t, 4; add.u64 %o, %a, %o; ld.volatile.global.u32 %i, [%o];"
        "setp.eq.u32 %p, %i, 0; vote.sync.any.pred %p, %p, -1; @%p bra L;",
        False,
    ),
    "a warp waits twice": (
        "L: ld.volatile.global.u32 %i, [%a]; setp.eq.u32 %p, %i, 0; @%p bra L;"
        "setp.eq.u32 %p, %i, 1; @%p bra L;",
        False,
    ),
    "each lane for its own": (
        "L: mul.wide.u32 %o, %t, 4; add.u64 %o, %a, %o; ld.volatile.global.u32 %i, [%o];"
        "setp.eq.u32 %p, %i, 0; @%p bra L;",
        True,
    ),
    "one lane, while others go on": (
        "setp.ne.u32 %p, %t, 0; @%p bra M;"
        "L: ld.volatile.global.u32 %i, [%a]; setp.eq.u32 %p, %i, 0; @%p bra L;"
        "M:",
        True,
    ),
    "some lanes leave early": (
        "L: setp.eq.u32 %p, %t, 5; @%p bra M;"
        "ld.volatile.global.u32 %i, [%a]; setp.eq.u32 %p, %i, 0; @%p bra L;"
        "M:",
        True,
    ),
    "an exit on one side of a branch": (
        "L: ld.volatile.global.u32 %i, [%a]; setp.gt.u32 %p, %t, 5; @%p bra N;"
        "setp.eq.u32 %p, %i, 0; @%p bra L;"
        "bra M; N: setp.eq.u32 %p, %i, 1; @%p bra L; M:",
        True,
    ),
}
"""Code, and whether lanes go on from its loop at different times."""


@pytest.mark.parametrize("name", WAITS)
def test_values_behind_loops_that_wait(name: str) -> None:
    body, parted = WAITS[name]
    found = function(f"{body} mov.u32 %v, %n;")
    ssa = build(found, schedule(found))
    uniformity, pending = settle(ssa, Environment(), BlockShape(64, 1, 1), {})
    assert pending.waiting
    assert pending.parting == parted
    (last,) = (d for d in ssa.definitions if d.register.name == "%v" and d in uniformity.shapes)
    assert uniformity.shapes[last].is_uniform != parted
