"""Which stores write on into arrays that the kernel does not read."""

from __future__ import annotations

import pytest

from simt.analysis.lower import lower
from simt.analysis.schedule import schedule
from simt.analysis.ssa import build
from simt.analysis.streams import streams
from simt.isa.algebra import Environment
from simt.ptx.parser import parse

COPY = "ld.global.u32 %v, [%a]; st.global.u32 [%b], %v;"
BODIES = {
    "a copy": (COPY, 1),
    "in place": ("ld.global.u32 %v, [%a]; st.global.u32 [%a], %v;", 0),
    "what is read elsewhere": ("ld.global.u32 %v, [%b+4]; st.global.u32 [%b], %v;", 0),
    "two arrays": (f"{COPY} st.global.u32 [%b+4], %v;", 2),
    "by a loop that goes on": (
        f"L: add.u64 %b, %b, 4; {COPY} add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 9; @%p bra L;",
        1,
    ),
    "by a loop, over and over": (f"L: {COPY} add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 9; @%p bra L;", 0),
    "an index that was loaded": (
        "ld.global.u32 %i, [%a]; mul.wide.u32 %o, %i, 4; add.u64 %b, %b, %o; st.global.u32 [%b], %i;",
        1,
    ),
    "a pointer that was loaded": ("ld.global.u64 %o, [%a]; st.global.u32 [%o], %i;", 0),
    "volatile": ("ld.global.u32 %v, [%a]; st.volatile.global.u32 [%b], %v;", 0),
    "with an atomic": (f"{COPY} red.global.add.u32 [%a], 1;", 0),
    "with a fence": (f"{COPY} membar.gl;", 0),
    "with a flag": (f"ld.volatile.global.u32 %v, [%a]; {COPY}", 1),
    "with a flag in it": (f"ld.volatile.global.u32 %v, [%b+4]; {COPY}", 0),
    "with a flag set in it": (f"st.volatile.global.u32 [%b+4], %v; {COPY}", 0),
    "with a barrier": (f"st.shared.u32 [box], %v; bar.sync 0; {COPY}", 1),
    "generic": ("ld.global.u32 %v, [%a]; st.u32 [%b], %v;", 0),
    "shared": ("ld.global.u32 %v, [%a]; st.shared.u32 [box], %v;", 0),
    "a variable": ("ld.global.u32 %v, [%a]; st.global.u32 [table], %v;", 0),
    "a variable is read": ("ld.global.u32 %v, [table]; st.global.u32 [%b], %v;", 0),
    "one of two arrays": (
        "setp.eq.u32 %p, %i, %t; @%p mov.u64 %b, %a; ld.global.u32 %v, [%a]; st.global.u32 [%b], %v;",
        0,
    ),
}
"""Code, and how many of its stores may go past the caches."""


@pytest.mark.parametrize("name", BODIES)
def test_streams(name: str) -> None:
    body, count = BODIES[name]
    text = f""".version 7.5
.target sm_75
.address_size 64
.global .u32 table[8];
.visible .entry k(.param .u64 a, .param .u64 b)
{{
    .reg .pred %p;
    .reg .b32 %t, %v, %i;
    .reg .b64 %a, %b, %o;
    .shared .u32 box;
    ld.param.u64 %a, [a];
    ld.param.u64 %b, [b];
    mov.u32 %i, 0;
    mov.u32 %t, %tid.x;
    mul.wide.u32 %o, %t, 4;
    add.u64 %a, %a, %o;
    add.u64 %b, %b, %o;
    {body}
    ret;
}}
"""
    tree, problems = parse(text, "k.ptx")
    assert tree is not None
    assert not problems.errors
    found = lower(tree).functions["k"]
    assert len(streams(build(found, schedule(found)), Environment())) == count
