"""Warps with roles: some fill buffers, others use them, and each buffer has barriers of its own."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.engine.jit import Jit
from tests.unit.engine.coordinates import HEAD

WORDS, BUFFERS, THREADS = 64, 2, 96
"""Of a buffer, filled by the first warp and used by the other two."""
EMPTY = 1 + BUFFERS
"""The first barrier that says that a buffer may be filled; before it are those for full ones."""

KERNEL = (
    HEAD
    + f"""
.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n)
{{
    .shared .align 4 .b8 buffer[{4 * WORDS * BUFFERS}];
    .reg .b32 %t, %n, %k, %b, %i, %at, %v, %s, %sum; .reg .b64 %a, %o, %p; .reg .pred %q;
    ld.param.u64 %o, [out];
    ld.param.u64 %a, [in];
    ld.param.u32 %n, [n];
    mov.u32 %t, %tid.x;
    mov.u32 %k, 0;
    mov.u32 %s, buffer;
    mov.u32 %sum, 0;
    setp.gt.u32 %q, %t, 31;
    @%q bra USE;
FILL:
    and.b32 %b, %k, {BUFFERS - 1};
    setp.lt.u32 %q, %k, {BUFFERS};
    @%q bra FREE;
    add.u32 %i, %b, {EMPTY};
    bar.sync %i, {THREADS};
FREE:
    mov.u32 %i, %t;
WORD:
    mad.lo.u32 %at, %k, {WORDS}, %i;
    mul.wide.u32 %p, %at, 4;
    add.u64 %p, %a, %p;
    ld.global.u32 %v, [%p];
    mad.lo.u32 %at, %b, {WORDS}, %i;
    shl.b32 %at, %at, 2;
    add.u32 %at, %at, %s;
    st.shared.u32 [%at], %v;
    add.u32 %i, %i, {{step}};
    setp.lt.u32 %q, %i, {WORDS};
    @%q bra WORD;
    add.u32 %i, %b, 1;
    bar.arrive %i, {THREADS};
    add.u32 %k, %k, 1;
    setp.lt.u32 %q, %k, %n;
    @%q bra FILL;
    bra STORE;
USE:
    and.b32 %b, %k, {BUFFERS - 1};
    add.u32 %i, %b, 1;
    bar.sync %i, {THREADS};
    mad.lo.u32 %at, %b, {WORDS}, %t;
    sub.u32 %at, %at, 32;
    shl.b32 %at, %at, 2;
    add.u32 %at, %at, %s;
    ld.shared.u32 %v, [%at];
    mad.lo.u32 %sum, %sum, 3, %v;
    add.u32 %k, %k, 1;
    sub.u32 %i, %n, {BUFFERS - 1};
    setp.ge.s32 %q, %k, %i;
    @%q bra NEXT;
    add.u32 %i, %b, {EMPTY};
    bar.arrive %i, {THREADS};
NEXT:
    setp.lt.u32 %q, %k, %n;
    @%q bra USE;
STORE:
    mul.wide.u32 %p, %t, 4;
    add.u64 %p, %o, %p;
    st.global.u32 [%p], %sum;
    ret;
}}
"""
)
STEPS = {"words by turns": "32", "lanes with more words than others": "24"}
"""From a lane's word to its next: with 24, some words are stored twice, and lanes leave the loop apart."""


@pytest.mark.parametrize("turns", [1, 2, 3, 10])
@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_filling_and_using(engine: str, step: str, turns: int) -> None:
    device = simt.Device("sm_75", engine=engine)
    given = np.random.default_rng(turns).integers(0, 1 << 32, (turns, WORDS), "u4")
    out = device.zeros(THREADS, "u4")
    device.load(KERNEL.replace("{step}", step))["k"](1, THREADS, (out, device.array(given), turns))
    expected = np.zeros(THREADS, "u4")
    for row in given:
        expected[32:] = expected[32:] * np.uint32(3) + row
    np.testing.assert_array_equal(out.numpy(), expected)


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_all_lanes_have_the_number_of_their_barrier(step: str) -> None:
    """Lanes that part before a barrier meet there, and go on together if nobody of their warp is elsewhere:
    what counts turns is the same for all, and so is the number of a barrier that it tells."""
    device = simt.Device("sm_75", engine="jit")
    out, source = device.zeros(THREADS, "u4"), device.zeros(WORDS, "u4")
    device.load(KERNEL.replace("{step}", step))["k"](1, THREADS, (out, source, 1))
    assert isinstance(device.engine, Jit)
    assert device.engine.reasons == {}
