"""Whether all warps of a CTA come to the same barriers in the same order."""

from __future__ import annotations

import pytest

from simt.analysis.in_step import in_step
from simt.analysis.lower import lower
from simt.analysis.schedule import schedule
from simt.analysis.shape import BlockShape
from simt.analysis.ssa import build
from simt.analysis.waiting import settle
from simt.isa.algebra import Environment
from simt.ptx.parser import parse

WARPS = {
    "straight": ("bar.sync 0; bar.sync 0;", True),
    "a loop to a parameter": (
        "L: bar.sync 0; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra L;",
        True,
    ),
    "a loop to a constant in memory": (
        "ld.const.u32 %v, [limit]; L: bar.sync 0; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %v; @%p bra L;",
        True,
    ),
    "on one way of the CTA": ("mov.u32 %v, %ctaid.x; setp.eq.u32 %p, %v, 0; @%p bra END; bar.sync 0;", True),
    "threads part between barriers": (
        "bar.sync 0; setp.lt.u32 %p, %t, %n; @%p bra L; mov.u32 %i, 1; L: bar.sync 0;",
        True,
    ),
    "threads part after the last": (
        "bar.sync 0; setp.lt.u32 %p, %t, %n; @%p bra END; st.global.u32 [%a], %t;",
        True,
    ),
    "threads loop between barriers": (
        "bar.sync 0; L: add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %t; @%p bra L; bar.sync 0;",
        True,
    ),
    "threads leave before": ("setp.lt.u32 %p, %t, %n; @%p bra END; bar.sync 0;", False),
    "warps take two ways": (
        "shr.u32 %v, %t, 5; setp.eq.u32 %p, %v, 0; @%p bra L; bar.sync 0; bra END; L: bar.sync 0;",
        False,
    ),
    "rows of threads take two ways": (
        "mov.u32 %v, %tid.y; setp.eq.u32 %p, %v, 0; @%p bra L; bar.sync 0; bra END; L: bar.sync 0;",
        False,
    ),
    "warps loop": (
        "mov.u32 %v, %tid.y; L: bar.sync 0; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %v; @%p bra L;",
        False,
    ),
    "a loop to what is loaded": (
        "L: bar.sync 0; ld.global.u32 %v, [%a]; setp.ne.u32 %p, %v, 0; @%p bra L;",
        False,
    ),
    "a loop to what is shared": (
        "L: bar.sync 0; ld.shared.u32 %v, [box]; setp.ne.u32 %p, %v, 0; @%p bra L;",
        False,
    ),
    "a vote": (
        "setp.lt.u32 %p, %t, %n; vote.sync.any.pred %p, %p, -1; @%p bra END; bar.sync 0;",
        False,
    ),
    "a word from another lane": (
        "shfl.sync.idx.b32 %v, %t, 0, 31, -1; setp.eq.u32 %p, %v, 0; @%p bra END; bar.sync 0;",
        False,
    ),
    "one warp waits for other CTAs": (
        "bar.sync 0; mov.u32 %v, %tid.y; setp.ne.u32 %p, %v, 0; @%p bra M;"
        "L: ld.volatile.global.u32 %v, [%a]; setp.eq.u32 %p, %v, 0; @%p bra L; M: bar.sync 0;",
        True,
    ),
    "one thread waits for other CTAs": (
        "bar.sync 0; setp.ne.u32 %p, %t, 0; @%p bra M;"
        "L: ld.volatile.global.u32 %v, [%a]; setp.eq.u32 %p, %v, 0; @%p bra L; M: bar.sync 0;",
        False,
    ),
    "a clock": ("mov.u32 %v, %clock; setp.eq.u32 %p, %v, 0; @%p bra END; bar.sync 0;", False),
    "what threads made different": (
        "setp.lt.u32 %p, %t, %n; @%p bra L; mov.u32 %i, 1; L: setp.eq.u32 %p, %i, 0; @%p bra END;bar.sync 0;",
        False,
    ),
    "turns of the threads' own loop": (
        "L: add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %t; @%p bra L; setp.gt.u32 %p, %i, 40; @%p bra END;"
        "bar.sync 0;",
        False,
    ),
}
"""Code, and whether the warps of 32 x 4 threads go in step."""


@pytest.mark.parametrize("name", WARPS)
def test_in_step(name: str) -> None:
    body, together = WARPS[name]
    text = f""".version 7.5
.target sm_75
.address_size 64
.const .u32 limit = 3;
.visible .entry k(.param .u64 a, .param .u32 n)
{{
    .reg .pred %p;
    .reg .b32 %t, %n, %v, %i;
    .reg .b64 %a;
    .shared .u32 box;
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
    found = lower(tree).functions["k"]
    ssa, shape = build(found, schedule(found)), BlockShape(32, 4, 1)
    _, pending = settle(ssa, Environment(), shape, {})
    assert in_step(ssa, Environment(), shape, pending) == together
