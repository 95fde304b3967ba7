"""Threads that wait for each other in loops: each of them gets on, on both engines, as on the hardware."""

from __future__ import annotations

import numpy as np
import pytest

import simt

HEADER = ".version 7.8\n.target sm_75\n.address_size 64\n"
POLLS = {
    "ld.volatile": "ld.volatile.SPACE.u32 %v, [%turn];",
    "ld.relaxed": "ld.relaxed.gpu.SPACE.u32 %v, [%turn];",
    "ld.acquire": "ld.acquire.gpu.SPACE.u32 %v, [%turn];",
    "atom.add": "atom.SPACE.add.u32 %v, [%turn], 0;",
    "atom.cas": "atom.SPACE.cas.b32 %v, [%turn], %mine, %mine;",
}
BACK_OFF = {
    "at once": "",
    "nanosleep": "nanosleep.u32 20;",
    "loop": "mov.u32 %k, 0; DELAY: add.u32 %k, %k, 1; setp.lt.u32 %p, %k, 9; @%p bra DELAY;",
}
RING = """
.shared .align 4 .b32 shared_turn;
.visible .entry ring(.param .u64 turn, .param .u64 value, .param .u32 rounds)
{
    .reg .u64 %turn, %value;
    .reg .u32 %i, %n, %x, %t, %v, %mine, %last, %k;
    .reg .pred %p;
    ld.param.u64 %turn, [turn];
    ld.param.u64 %value, [value];
    ld.param.u32 %last, [rounds];
    mov.u32 %x, %tid.x;
    WHO
    mul.lo.u32 %last, %last, %n;
    mov.u32 %mine, %i;
ROUND:
    add.u32 %k, %mine, 0;
WAIT:
    POLL
    setp.eq.u32 %p, %v, %mine;
    @%p bra TURN;
    BACK_OFF
    bra WAIT;
TURN:
    ld.volatile.global.u32 %v, [%value];
    mad.lo.u32 %v, %v, 3, %i;
    st.volatile.global.u32 [%value], %v;
    membar.gl;
    add.u32 %v, %mine, 1;
    st.volatile.SPACE.u32 [%turn], %v;
    add.u32 %mine, %mine, %n;
    setp.lt.u32 %p, %mine, %last;
    @%p bra ROUND;
END:
    ret;
}
"""
"""Number `i` of `n` waits for its turn, again and again."""
SHARED = "mov.u64 %turn, shared_turn; st.volatile.shared.u32 [%turn], 0; bar.sync 0;"
ONE_LANE = "and.b32 %t, %x, 31; setp.ne.u32 %p, %t, 0; @%p bra END;"
LANES = "mov.u32 %i, %x; mov.u32 %n, %ntid.x;"
WARPS = f"{ONE_LANE} shr.u32 %i, %x, 5; mov.u32 %n, %ntid.x; shr.u32 %n, %n, 5;"
CTAS = f"{ONE_LANE} mov.u32 %i, %ctaid.x; mov.u32 %n, %nctaid.x;"
BACKWARDS = "sub.u32 %i, %n, %i; sub.u32 %i, %i, 1;"


@pytest.fixture
def interpreter() -> simt.Device:
    """For what the JIT does not do yet: let lanes of a warp go on behind a second loop that waits."""
    return simt.Device("sm_90", engine="interpreter", memory="1MiB", timeout=60)


def ring(
    device: simt.Device, who: str, grid: int, block: int, number: int, space: str, poll: str, back_off: str
) -> None:
    """`number`: of those that take turns."""
    text = RING.replace("POLL", POLLS[poll]).replace("BACK_OFF", BACK_OFF[back_off]).replace("WHO", who)
    turn, value, rounds = device.zeros(1, "u4"), device.zeros(1, "u4"), 5
    device.load(HEADER + text.replace("SPACE", space))["ring"](grid, block, (turn, value, rounds))
    wanted = 0
    for i in list(range(number)) * rounds:
        wanted = (wanted * 3 + i) % 2**32
    assert value.numpy()[0] == wanted
    assert turn.numpy()[0] == (0 if space == "shared" else number * rounds)


@pytest.mark.share(2)
@pytest.mark.parametrize("poll", POLLS)
@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize("number", [2, 5])
def test_warps_take_turns(device: simt.Device, number: int, space: str, poll: str) -> None:
    who = (SHARED if space == "shared" else "") + WARPS
    ring(device, who + BACKWARDS, 1, 32 * number, number, space, poll, "at once")


@pytest.mark.share(2)
@pytest.mark.parametrize("poll", POLLS)
@pytest.mark.parametrize("number", [2, 32, 40])
def test_lanes_take_turns(device: simt.Device, number: int, poll: str) -> None:
    ring(device, LANES + BACKWARDS, 1, number, number, "global", poll, "at once")


@pytest.mark.parametrize("back_off", ["nanosleep", "loop"])
@pytest.mark.parametrize(("who", "block", "number"), [(LANES, 7, 7), (WARPS, 128, 4)])
def test_they_do_something_else_while_they_wait(
    device: simt.Device, who: str, block: int, number: int, back_off: str
) -> None:
    ring(device, who + BACKWARDS, 1, block, number, "global", "ld.volatile", back_off)


@pytest.mark.parametrize("who", [CTAS, CTAS + BACKWARDS])
def test_ctas_that_run_at_once_take_turns(interpreter: simt.Device, who: str) -> None:
    """The JIT begins a CTA when a thread is free; the interpreter begins many at once."""
    ring(interpreter, who, 3, 64, 3, "global", "ld.acquire", "at once")


CHAIN = """
.visible .entry chain(.param .u64 flags)
{
    .reg .u64 %flags;
    .reg .u32 %i, %v;
    .reg .pred %p;
    ld.param.u64 %flags, [flags];
    WHO
    LOOPS
    ret;
}
"""
LOOP = """
    setp.ne.u32 %p, %i, NUMBER; @%p bra NEXT_NUMBER;
WAIT_NUMBER:
    ld.volatile.global.u32 %v, [%flags+OTHER]; setp.eq.u32 %p, %v, 0; @%p bra WAIT_NUMBER;
    add.u32 %v, %v, 1; st.volatile.global.u32 [%flags+OWN], %v;
NEXT_NUMBER:
"""


@pytest.mark.share(2)
@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (1, 3, 0, 2)])
@pytest.mark.parametrize(
    ("who", "grid", "block"),
    [
        ("mov.u32 %i, %tid.y;", 1, (32, 4)),
        ("mov.u32 %i, %ctaid.x; sub.u32 %i, 3, %i;", 4, (32,)),  # each waits for one that began before it
    ],
)
def test_each_waits_in_a_loop_of_its_own(
    device: simt.Device, who: str, grid: int, block: tuple[int, ...], order: tuple[int, ...]
) -> None:
    """Number 0 waits for what number 1 does after its loop, and so on: wherever these loops lie."""
    chain(device, who, grid, block, order)


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (1, 3, 0, 2)])
def test_each_lane_waits_in_a_loop_of_its_own(interpreter: simt.Device, order: tuple[int, ...]) -> None:
    chain(interpreter, "mov.u32 %i, %tid.x;", 1, (4,), order)


def chain(device: simt.Device, who: str, grid: int, block: tuple[int, ...], order: tuple[int, ...]) -> None:
    loops = [
        LOOP.replace("NUMBER", str(i)).replace("OTHER", str(4 * i + 4)).replace("OWN", str(4 * i))
        for i in order
    ]
    text = CHAIN.replace("WHO", who).replace("LOOPS", "\n".join(loops))
    flags = device.array(np.array([0, 0, 0, 0, 1], "u4"))
    device.load(HEADER + text)["chain"](grid, block, (flags,))
    assert flags.numpy().tolist() == [5, 4, 3, 2, 1]


BOXES = """
.visible .entry boxes(.param .u64 full, .param .u64 values, .param .u64 out, .param .u32 rounds)
{
    .reg .u64 %full, %values, %out, %a;
    .reg .u32 %box, %i, %v, %r, %last, %sum, %made;
    .reg .pred %p, %producer;
    ld.param.u64 %full, [full];
    ld.param.u64 %values, [values];
    ld.param.u64 %out, [out];
    ld.param.u32 %last, [rounds];
    mov.u32 %i, %tid.x;
    and.b32 %box, %i, 15;
    setp.PRODUCER.u32 %producer, %i, 16;
    mul.wide.u32 %a, %box, 4;
    add.u64 %full, %full, %a;
    add.u64 %values, %values, %a;
    add.u64 %out, %out, %a;
    mov.u32 %r, 0;
    mov.u32 %sum, 0;
    @!%producer bra TAKE;
MAKE:
    mad.lo.u32 %made, %r, 100, %box;
PRODUCE:
    ld.acquire.gpu.global.u32 %v, [%full];
    setp.ne.u32 %p, %v, 0;
    @%p bra PRODUCE;
    st.global.u32 [%values], %made;
    bar.warp.sync PRODUCERS;
    st.release.gpu.global.u32 [%full], 1;
    add.u32 %r, %r, 1;
    setp.lt.u32 %p, %r, %last;
    @%p bra MAKE;
    ret;
TAKE:
    mul.lo.u32 %sum, %sum, 3;
CONSUME:
    ld.acquire.gpu.global.u32 %v, [%full];
    setp.eq.u32 %p, %v, 0;
    @%p bra CONSUME;
    bar.warp.sync CONSUMERS;
    ld.global.u32 %v, [%values];
    add.u32 %sum, %sum, %v;
    st.release.gpu.global.u32 [%full], 0;
    add.u32 %r, %r, 1;
    setp.lt.u32 %p, %r, %last;
    @%p bra TAKE;
    st.global.u32 [%out], %sum;
    ret;
}
"""


@pytest.mark.parametrize(
    ("producer", "producers", "consumers"), [("lt", "0xffff", "0xffff0000"), ("ge", "0xffff0000", "0xffff")]
)
def test_half_of_a_warp_makes_what_the_other_half_takes(
    interpreter: simt.Device, producer: str, producers: str, consumers: str
) -> None:
    text = BOXES.replace("PRODUCERS", producers).replace("PRODUCER", producer).replace("CONSUMERS", consumers)
    full, values, out = (interpreter.zeros(16, "u4") for _ in range(3))
    rounds = 4
    interpreter.load(HEADER + text)["boxes"](1, 32, (full, values, out, rounds))
    wanted = np.zeros(16, "u4")
    for r in range(rounds):
        wanted = wanted * np.uint32(3) + np.uint32(100 * r) + np.arange(16, dtype="u4")
    np.testing.assert_array_equal(out.numpy(), wanted)
    assert not full.numpy().any()
