"""Instructions that wait for lanes of their warp by masks known only when they run, beside loops that wait.

PTX: the instruction waits until all lanes that the mask names have executed it. So none of them may be
missing from what it gives, however long it has been in a loop; and nobody may wait for lanes that the mask
does not name, since these may wait for it. Expected values follow from that.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import simt

HEAD = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 words, .param .u64 to, .param .u32 turns)
{
    .reg .u64 %words, %out, %w;
    .reg .u32 %c, %t, %v, %x, %y, %z, %i, %j, %n, %m, %g, %turns, %cell;
    .reg .pred %p, %q, %r;
    .shared .align 4 .b32 cells[128];
    ld.param.u64 %words, [words];
    ld.param.u64 %out, [to];
    ld.param.u32 %turns, [turns];
    mov.u32 %c, %ctaid.x;
    mov.u32 %t, %tid.x;
    mov.u32 %n, %ntid.x;
    mov.u32 %cell, cells;
    mad.lo.u32 %cell, %t, 4, %cell;
    mov.u32 %x, 0;
    st.volatile.shared.u32 [%cell], %x;
    mad.lo.u32 %c, %c, %n, %t;
    mul.wide.u32 %w, %c, 4;
    add.u64 %out, %out, %w;
    shr.u32 %c, %c, 5;
    mul.wide.u32 %w, %c, 16;
    add.u64 %words, %words, %w;
    and.b32 %t, %t, 31;
    mov.u32 %y, 0;
    setp.lt.u32 %p, %t, 16;
    vote.sync.ballot.b32 %m, 1, -1;
"""
"""`%words`: four words of each warp, which begin with zero. `%t`: the lane. `%m`: the whole warp, which no
analysis knows. `%p`: the lower half. What is in `%y` at the end is kept."""
TURNS = """
    mov.u32 %i, 0;
TURN:
    ld.volatile.global.u32 %v, [%words+12];
    add.u32 %v, %v, 1;
    add.u32 %i, %i, %v;
    setp.lt.u32 %q, %i, %turns;
    @%q bra TURN;
"""
"""A loop that ends by itself, but for all that is known might wait for other threads."""
LANES = np.arange(32, dtype=np.uint32)
GRIDS = [(1, 32), (2, 96), (40, 64)]


@pytest.fixture(params=["interpreter", "jit", "large"])
def form(request: pytest.FixtureRequest) -> simt.Device:
    """A device of each engine; `large`: one whose kernels are emitted as large ones are."""
    if request.param == "large":
        request.getfixturevalue("all_large")
    engine = "interpreter" if request.param == "interpreter" else "jit"
    return simt.Device("sm_90", engine=engine, memory="1MiB", timeout=60)


def run(
    form: simt.Device, body: str, grid: int = 1, block: int = 32, turns: int = 100, head: str = HEAD
) -> NDArray[Any]:
    """What lanes leave in `%y`: a row for each warp."""
    words, out = form.zeros(4 * grid * block // 32, "u4"), form.zeros(grid * block, "u4")
    text = f"{head}{body}\nEND:\n    st.global.u32 [%out], %y;\n    exit;\n}}\n"
    form.load(text)["k"](grid, block, (words, out, turns))
    return out.numpy().reshape(-1, 32).copy()


AFTER = {
    "vote": (
        "and.b32 %x, %t, 1; setp.eq.u32 %q, %x, 0; vote.sync.ballot.b32 %y, %q, %m;",
        LANES * 0 + 0x55555555,
    ),
    "shuffle": ("mul.lo.u32 %x, %t, 3; shfl.sync.bfly.b32 %y, %x, 16, 31, %m;", (LANES ^ 16) * 3),
    "match": ("and.b32 %x, %t, 7; match.any.sync.b32 %y, %x, %m;", 0x01010101 << (LANES & 7)),
    "sum": ("redux.sync.add.u32 %y, %t, %m;", LANES * 0 + LANES.sum()),
    "memory": (
        "add.u32 %x, %t, 5; st.volatile.shared.u32 [%cell], %x; bar.warp.sync %m;"
        "xor.b32 %cell, %cell, 64; ld.volatile.shared.u32 %y, [%cell];",
        (LANES ^ 16) + 5,
    ),
}
"""Instructions after a loop, and what they give if no lane is missing."""


@pytest.mark.share(3)
@pytest.mark.parametrize(("grid", "block"), GRIDS)
@pytest.mark.parametrize("name", AFTER)
def test_lanes_in_a_loop_are_waited_for(form: simt.Device, name: str, grid: int, block: int) -> None:
    body, wanted = AFTER[name]
    found = run(form, f"@!%p bra REST; {TURNS} REST: {body}", grid, block)
    np.testing.assert_array_equal(found, np.broadcast_to(wanted, found.shape))


@pytest.mark.parametrize("name", AFTER)
def test_they_are_however_long_it_takes(form: simt.Device, name: str) -> None:
    body, wanted = AFTER[name]
    found = run(form, f"@!%p bra REST; {TURNS} REST: {body}", 1, 64, 5000)
    np.testing.assert_array_equal(found, np.broadcast_to(wanted, found.shape))


def test_each_lane_goes_round_as_often_as_its_number_says(form: simt.Device) -> None:
    body, wanted = AFTER["vote"]
    found = run(form, f"mul.lo.u32 %turns, %turns, %t; {TURNS} {body}", 2, 96, 30)
    np.testing.assert_array_equal(found, np.broadcast_to(wanted, found.shape))


SAME = """
.func (.reg .u32 %given) same (.reg .u32 %value)
{
    mov.u32 %given, %value;
    ret;
}
.visible"""
"""A function that is put in the place of its calls."""


@pytest.mark.parametrize("name", AFTER)
def test_they_are_where_calls_are_put_in_place(form: simt.Device, name: str) -> None:
    """Blocks are joined when that is done."""
    body, wanted = AFTER[name]
    found = run(
        form,
        f"@!%p bra REST; {TURNS} REST: call (%t), same, (%t); {body}",
        head=HEAD.replace(".visible", SAME),
    )
    np.testing.assert_array_equal(found, np.broadcast_to(wanted, found.shape))


CHANGED = {
    "asked again": "setp.lt.u32 %r, %turns, %t; @%r bra ONE; add.u32 %z, %t, 1;"
    "ONE: .reg .pred %o; setp.lt.u32 %o, %turns, %t; @%o bra TWO; add.u32 %z, %z, 1; TWO:",
    "decided": "mov.u32 %g, %tid.x; setp.ge.u32 %r, %g, %n; @%r bra END;",
}
"""Code that is made shorter after blocks have been cut."""


@pytest.mark.parametrize("before", CHANGED)
def test_they_are_where_branches_are_left_out(form: simt.Device, before: str) -> None:
    body, wanted = AFTER["vote"]
    found = run(form, f"{CHANGED[before]} @!%p bra REST; {TURNS} REST: {body}")
    np.testing.assert_array_equal(found, np.broadcast_to(wanted, found.shape))


FLAGS = {"global": "[%words]", "shared": "[%cell]"}
MASKS = {
    "register": "ld.volatile.global.u32 %g, [%words]; sub.u32 %g, %g, 0x10000;",
    "constant": "",
}


@pytest.mark.share(3)
@pytest.mark.parametrize(("grid", "block"), GRIDS)
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("space", FLAGS)
def test_lanes_that_are_not_named_are_not_waited_for(
    form: simt.Device, space: str, mask: str, grid: int, block: int
) -> None:
    """The lower half spins on a flag that the upper half sets after it has met twice."""
    name = "%g" if mask == "register" else "0xffff0000"
    body = f"""
    mov.u32 %cell, %tid.x;
    and.b32 %cell, %cell, 96;
    mov.u32 %i, cells;
    mad.lo.u32 %cell, %cell, 4, %i;
    bar.warp.sync %m;
    @%p bra SPIN;
    {MASKS[mask]}
    bar.warp.sync {name};
    setp.ne.u32 %q, %t, 20;
    vote.sync.ballot.b32 %y, %q, {name};
    st.volatile.{space}.u32 {FLAGS[space]}, %y;
    bra END;
SPIN:
    ld.volatile.{space}.u32 %y, {FLAGS[space]};
    setp.eq.u32 %q, %y, 0;
    @%q bra SPIN;
"""
    assert (run(form, body, grid, block) == 0xFFEF0000).all()


@pytest.mark.parametrize("mask", ["%m", "0xffffffff"])
def test_what_stands_before_the_instruction_is_not_held_up(form: simt.Device, mask: str) -> None:
    """One straight piece of code sets the flag for which lanes spin, and then waits for these."""
    body = f"""
    @!%p bra JOIN;
SPIN:
    ld.volatile.global.u32 %v, [%words];
    setp.eq.u32 %q, %v, 0;
    @%q bra SPIN;
JOIN:
    @!%p st.volatile.global.u32 [%words], 1;
    vote.sync.ballot.b32 %y, %p, {mask};
    ld.volatile.global.u32 %v, [%words];
    add.u32 %y, %y, %v;
"""
    assert (run(form, body, 2, 64) == 0x10000).all()


@pytest.mark.parametrize(("grid", "block"), GRIDS)
def test_two_loops_and_two_votes(form: simt.Device, grid: int, block: int) -> None:
    """Lanes 0 to 7 and 8 to 15 spin on flags that the others set after one vote each; then all vote."""
    body = """
    and.b32 %x, %t, 1;
    setp.eq.u32 %r, %x, 1;
    shr.u32 %x, %t, 3;
    @!%p bra UPPER;
    setp.eq.u32 %q, %x, 0;
    @!%q bra SECOND;
FIRST:
    ld.volatile.global.u32 %v, [%words];
    setp.eq.u32 %q, %v, 0;
    @%q bra FIRST;
    bra ALL;
SECOND:
    ld.volatile.global.u32 %v, [%words+4];
    setp.eq.u32 %q, %v, 0;
    @%q bra SECOND;
    bra ALL;
UPPER:
    sub.u32 %g, %m, 0xffff;
    vote.sync.ballot.b32 %v, %r, %g;
    st.volatile.global.u32 [%words], %v;
    not.pred %q, %r;
    vote.sync.ballot.b32 %v, %q, %g;
    st.volatile.global.u32 [%words+4], %v;
ALL:
    vote.sync.ballot.b32 %y, %r, %m;
    add.u32 %y, %y, %v;
"""
    votes = np.where(LANES < 8, 0xAAAA0000, 0x55550000).astype(np.uint32)
    found = run(form, body, grid, block)
    np.testing.assert_array_equal(found, np.broadcast_to(np.uint32(0xAAAAAAAA) + votes, found.shape))


@pytest.mark.parametrize(("grid", "block"), GRIDS)
@pytest.mark.parametrize("mask", ["%m", "0xffffffff"])
def test_rounds_in_which_half_of_a_warp_is_late(form: simt.Device, mask: str, grid: int, block: int) -> None:
    """In each round the whole warp meets first. The upper half comes there again while the lower half is in a
    loop still, or where it meets after that."""
    body = f"""
    mov.u32 %g, 0xffff;
    @%p bra BEGIN;
    not.b32 %g, %g;
BEGIN:
    mov.u32 %j, 0;
ROUND:
    add.u32 %x, %t, %j;
    and.b32 %x, %x, 3;
    setp.eq.u32 %r, %x, 0;
    vote.sync.ballot.b32 %z, %r, {mask};
    mad.lo.u32 %y, %y, 3, %z;
    @!%p bra GROUP;
    {TURNS}
GROUP:
    vote.sync.ballot.b32 %z, %r, %g;
    mad.lo.u32 %y, %y, 3, %z;
    add.u32 %j, %j, 1;
    setp.lt.u32 %q, %j, 5;
    @%q bra ROUND;
"""
    wanted = np.zeros(32, np.uint32)
    for j in range(5):
        ballot = np.uint32(sum(1 << lane for lane in range(32) if (lane + j) % 4 == 0))
        wanted = wanted * np.uint32(3) + ballot
        wanted = wanted * np.uint32(3) + np.where(LANES < 16, ballot & 0xFFFF, ballot & 0xFFFF0000).astype(
            "u4"
        )
    for turns in (20, 3000):
        found = run(form, body, grid, block, turns) if turns < 100 or grid == 1 else wanted
        np.testing.assert_array_equal(found, np.broadcast_to(wanted, found.shape))


@pytest.mark.parametrize(("grid", "block"), GRIDS)
def test_lanes_that_wait_for_lanes_that_wait(form: simt.Device, grid: int, block: int) -> None:
    """Lanes 8 to 15 vote with those in a loop, then with the upper half, which has come there long before."""
    body = f"""
    and.b32 %x, %t, 1;
    setp.eq.u32 %r, %x, 1;
    @!%p bra UPPER;
    setp.lt.u32 %q, %t, 8;
    @!%q bra LOWER;
    {TURNS}
LOWER:
    and.b32 %g, %m, 0xffff;
    vote.sync.ballot.b32 %y, %r, %g;
    setp.lt.u32 %q, %t, 8;
    @%q bra END;
UPPER:
    sub.u32 %g, %m, 0xff;
    vote.sync.ballot.b32 %x, %r, %g;
    add.u32 %y, %y, %x;
"""
    wanted = np.where(LANES < 16, 0xAAAA, 0) + np.where(LANES >= 8, 0xAAAAAA00, 0)
    found = run(form, body, grid, block)
    np.testing.assert_array_equal(found, np.broadcast_to(wanted, found.shape))


@pytest.mark.parametrize(("grid", "block"), GRIDS)
def test_groups_pass_one_instruction_at_different_times(form: simt.Device, grid: int, block: int) -> None:
    """Eight lanes wait until the eight after them have voted, by one instruction with a mask for each."""
    body = """
    shr.u32 %g, %t, 3;
    mov.u32 %n, %g;
    match.any.sync.b32 %g, %g, %m;
    setp.eq.u32 %q, %n, 3;
    mul.wide.u32 %w, %n, 4;
    add.u64 %words, %words, %w;
    @%q bra VOTE;
WAIT:
    ld.volatile.global.u32 %v, [%words+4];
    setp.eq.u32 %q, %v, 0;
    @%q bra WAIT;
VOTE:
    and.b32 %x, %t, 1;
    setp.eq.u32 %r, %x, 1;
    vote.sync.ballot.b32 %y, %r, %g;
    st.volatile.global.u32 [%words], %y;
"""
    found = run(form, body, grid, block)
    np.testing.assert_array_equal(found, np.broadcast_to(0xAA << (LANES & 24), found.shape))


@pytest.mark.parametrize(("grid", "block"), GRIDS)
@pytest.mark.parametrize("negated", [False, True])
def test_instructions_under_a_guard(form: simt.Device, negated: bool, grid: int, block: int) -> None:
    """Lanes whose guard does not hold go on without a wait, and set the flag."""
    body = f"""
    and.b32 %x, %t, 4;
    setp.{"ne" if negated else "eq"}.u32 %r, %x, 0;
    and.b32 %g, %m, 0x0f0f0f0f;
    mov.u32 %y, 7;
    setp.eq.u32 %q, %t, 8;
    @!%q bra VOTE;
WAIT:
    ld.volatile.global.u32 %v, [%words];
    setp.eq.u32 %q, %v, 0;
    @%q bra WAIT;
VOTE:
    setp.ne.u32 %q, %t, 1;
    @{"!" if negated else ""}%r vote.sync.ballot.b32 %y, %q, %g;
    st.volatile.global.u32 [%words], %y;
"""
    found = run(form, body, grid, block)
    np.testing.assert_array_equal(found, np.broadcast_to(np.where(LANES & 4, 7, 0x0F0F0F0D), found.shape))


def test_instructions_that_do_not_find_each_other(form: simt.Device) -> None:
    """In different loops two of a kind stay two: lanes that wait for each other there go on all the same."""
    body = f"""
    setp.lt.u32 %q, %t, 8;
    @!%q bra HERE;
    {TURNS}
HERE:
    mov.u32 %j, 0;
    @!%p bra THERE;
LOWER:
    bar.warp.sync %m;
    add.u32 %j, %j, 1;
    setp.lt.u32 %q, %j, 3;
    @%q bra LOWER;
    bra END;
THERE:
    bar.warp.sync %m;
    add.u32 %y, %y, %j;
    add.u32 %j, %j, 1;
    setp.lt.u32 %q, %j, 3;
    @%q bra THERE;
"""
    assert (run(form, body, 2, 64) == np.where(LANES < 16, 0, 3)).all()


def test_many_votes_in_a_row(form: simt.Device) -> None:
    """Lanes of several groups stand before different votes while others spin."""
    votes = "".join(
        f"vote.sync.ballot.b32 %z, %r, %g; mad.lo.u32 %y, %y, 5, %z;"
        f"ld.volatile.global.u32 %v, [%words+{4 * (i % 2)}]; add.u32 %y, %y, %v;"
        for i in range(12)
    )
    body = f"""
    and.b32 %g, %t, 3;
    match.any.sync.b32 %g, %g, %m;
    mul.lo.u32 %turns, %turns, %t;
    setp.lt.u32 %r, %t, 20;
    {TURNS}
    {votes}
"""
    ballots = np.array([sum(1 << lane for lane in range(20) if lane % 4 == t % 4) for t in range(32)], "u4")
    wanted = np.zeros(32, "u4")
    for _ in range(12):
        wanted = wanted * np.uint32(5) + ballots
    found = run(form, body, 2, 64, 9)
    np.testing.assert_array_equal(found, np.broadcast_to(wanted, found.shape))
