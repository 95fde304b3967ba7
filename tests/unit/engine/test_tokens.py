"""Barriers in shared memory whose arrivals give tokens: producers and consumers, and barriers that expect
fewer arrivals than a warp makes at once."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.tools.explain import explain
from tests.conftest import shared_device
from tests.unit.isa.meaning import Array

ENGINES = ["jit", "interpreter"]
HEAD = """.version 7.8
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)
{
    .reg .b64 %in, %out, %o, %token; .reg .b32 %t, %n, %i, %at, %b, %v, %s, %sum; .reg .pred %p, %q;
    .shared .align 8 .b64 bars[4]; .shared .align 4 .b8 box[512];
    ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.param.u32 %n, [n];
    mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 4; mov.u32 %sum, 0; mov.u32 %i, 0;
    mov.u32 %b, bars; mov.u32 %s, box;
"""
# The first warp puts 64 numbers into a box in each turn, the others add them up; `bars` says when it is full,
# and `bars + 8` when it is empty.
ROLES = (
    HEAD
    + """
    setp.ne.u32 %p, %t, 0; @%p bra BEGIN;
    mbarrier.init.shared.b64 [%b], 96; mbarrier.init.shared.b64 [%b+8], 96;
BEGIN:
    bar.sync 0; setp.ge.u32 %q, %t, 32; @%q bra USE;
FILL:
    mbarrier.arrive.shared.b64 %token, [%b+8];
EMPTY:
    mbarrier.test_wait.shared.b64 %p, [%b+8], %token; @!%p bra EMPTY;
    mad.lo.u32 %at, %i, 64, %t; mad.wide.u32 %o, %at, 4, %in; mad.lo.u32 %at, %t, 4, %s;
    ld.global.u32 %v, [%o]; st.shared.u32 [%at], %v; ld.global.u32 %v, [%o+128]; st.shared.u32 [%at+128], %v;
    mbarrier.arrive.shared.b64 _, [%b]; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra FILL;
    ret;
USE:
    mbarrier.arrive.shared.b64 _, [%b+8];
AGAIN:
    mbarrier.arrive.shared.b64 %token, [%b];
FULL:
    mbarrier.test_wait.shared.b64 %p, [%b], %token; @!%p bra FULL;
    mad.lo.u32 %at, %t, 4, %s; ld.shared.u32 %v, [%at+-128]; mad.lo.u32 %sum, %sum, 3, %v;
    mbarrier.arrive.shared.b64 _, [%b+8]; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra AGAIN;
    mul.wide.u32 %o, %t, 4; add.u64 %o, %out, %o; st.global.u32 [%o], %sum;
    ret;
}
"""
)


@pytest.mark.parametrize("engine", ENGINES)
def test_warps_with_roles_hand_boxes_over(engine: str) -> None:
    device, turns = shared_device(engine), 9
    given = np.random.default_rng(7).integers(0, 1 << 32, (turns, 64)).astype("u4")
    there, out = device.array(given), device.zeros(96, "u4")
    device.load(ROLES)["k"](1, 96, (there, out, np.uint32(turns)))
    expected = np.zeros(64, "u4")
    for row in given:
        expected = expected * np.uint32(3) + row
    np.testing.assert_array_equal(out.numpy()[32:], expected)


def test_lanes_leave_together_what_waits_for_a_token() -> None:
    module = shared_device("jit").load(ROLES)
    found = explain(module.program, module.program.functions["k"], BlockShape(96, 1, 1))
    loops = [loop for notes in found.functions for loop in notes.loops]
    assert [(loop.by_degrees, loop.waits) for loop in loops].count((False, True)) == 2
    assert not any(loop.by_degrees for loop in loops)


OVER = (
    HEAD
    + """
    setp.ne.u32 %p, %t, 0; @%p bra BEGIN;
    mbarrier.init.shared.b64 [%b], COUNT;
BEGIN:
    bar.sync 0;
AGAIN:
    mbarrier.arrive.shared.b64 %token, [%b];
TURN:
    mbarrier.test_wait.shared.b64 %p, [%b], %token; @!%p bra TURN;
    add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra AGAIN;
    mad.wide.u32 %o, %t, 4, %out; st.global.u32 [%o], %i;
    ret;
}
"""
)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("count", "threads"), [(32, 32), (64, 64), (48, 48), (20, 20), (160, 160)])
def test_all_threads_arrive_and_wait(engine: str, count: int, threads: int) -> None:
    assert _turns(engine, count, threads) == [5] * threads


def test_a_warp_that_arrives_in_two_phases_waits_for_the_second() -> None:
    """By turns, the first half would see the parity of its phase again when the second one is over, too."""
    assert _turns("jit", 16, 32) == [5] * 32


def _turns(engine: str, count: int, threads: int) -> list[int]:
    device = shared_device(engine)
    out = device.zeros(threads, "u4")
    device.load(OVER.replace("COUNT", str(count)))["k"](1, threads, (out, out, np.uint32(5)))
    return out.numpy().tolist()


PENDING = (
    HEAD
    + """
    setp.ne.u32 %p, %t, 0; @%p bra BEGIN;
    mbarrier.init.shared.b64 [%b], COUNT;
BEGIN:
    bar.sync 0;
    mbarrier.arrive.shared.b64 %token, [%b];
    mbarrier.pending_count.b64 %v, %token;
    mad.wide.u32 %o, %t, 4, %out; st.global.u32 [%o], %v;
    ret;
}
"""
)


@pytest.mark.parametrize("engine", ENGINES)
def test_arrivals_that_were_pending_are_told_lane_by_lane(engine: str) -> None:
    def pending(count: int) -> Array:
        device = shared_device(engine)
        out = device.zeros(32, "u4")
        device.load(PENDING.replace("COUNT", str(count)))["k"](1, 32, (out, out, np.uint32(0)))
        return out.numpy()

    assert sorted(pending(32).tolist()) == list(range(1, 33))
    assert sorted(pending(16).tolist()) == sorted([*range(1, 17)] * 2)


def test_every_other_lane_may_arrive() -> None:
    """Lanes that a branch leaves out do not count."""
    part = OVER.replace(
        "    bar.sync 0;\nAGAIN",
        "    bar.sync 0; and.b32 %v, %t, 1; setp.eq.u32 %q, %v, 1; @%q bra END;\nAGAIN",
    )
    text = part.replace("COUNT", "32").replace("    ret;\n}", "END:\n    ret;\n}")
    device = simt.Device("sm_90")
    out = device.zeros(64, "u4")
    device.load(text)["k"](1, 64, (out, out, np.uint32(3)))
    assert out.numpy().tolist() == [3, 0] * 32
