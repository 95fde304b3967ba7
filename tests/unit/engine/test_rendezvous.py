"""Instructions that wait for the lanes of a mask, on both ways of a branch (from compute capability 7.0 on).

What an H200 gives is among the vectors of `tests/hw`; here are forms of control flow, with values from NumPy.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import simt
from simt.analysis import lower_rendezvous
from simt.analysis.uniformity import analyse_over
from tests.unit.engine.random_rendezvous import Program

HEAD = """
.version 8.0
.target sm_90
.address_size 64
.entry k(.param .u64 data, .param .u64 to)
{
    .reg .u64 %in, %out, %w;
    .reg .u32 %t, %v, %x, %y, %z, %n, %s, %m;
    .reg .pred %p, %q, %r;
    .shared .align 4 .b32 cells[64];
    ld.param.u64 %in, [data];
    ld.param.u64 %out, [to];
    mov.u32 %t, %tid.x;
    mul.wide.u32 %w, %t, 4;
    add.u64 %in, %in, %w;
    add.u64 %out, %out, %w;
    ld.global.u32 %v, [%in];
    mov.u32 %s, cells;
    mad.lo.u32 %s, %t, 4, %s;
    mov.u32 %x, 0;
    mov.u32 %y, 0;
"""
LANES = np.arange(32)
GIVEN = np.random.default_rng(11).integers(0, 2**32, 32, dtype=np.uint32)


def run(device: simt.Device, body: str) -> NDArray[Any]:
    """What a warp with the given words in `%v` leaves in `%y`."""
    out = device.zeros(32, "u4")
    text = HEAD + body + "\n    st.global.u32 [%out], %y;\n    exit;\n}\n"
    device.load(text)["k"](1, 32, (device.array(GIVEN), out))
    return out.numpy().copy()


def swap(distance: int, mask: str = "0xffffffff") -> str:
    """Stores `%v`, waits, reads what another lane stored."""
    return f"""
    st.volatile.shared.u32 [%s], %v;
    bar.warp.sync {mask};
    xor.b32 %n, %t, {distance};
    mov.u32 %y, cells;
    mad.lo.u32 %n, %n, 4, %y;
    ld.volatile.shared.u32 %y, [%n];
"""


def test_exchange_between_the_ways(device: simt.Device) -> None:
    body = f"""
    setp.lt.u32 %p, %t, 12;
    @%p bra FEW;
    add.u32 %v, %v, 1;
    {swap(16)}
    bra END;
FEW:
    add.u32 %v, %v, 2;
    {swap(16)}
    add.u32 %y, %y, 5;
END:
"""
    own = GIVEN + np.where(LANES < 12, 2, 1).astype(np.uint32)
    assert (run(device, body) == own[LANES ^ 16] + np.where(LANES < 12, 5, 0).astype(np.uint32)).all()


def test_several_in_turn_pair_up(device: simt.Device) -> None:
    """Three on each way, each with the value of the one before."""

    def turns(add: int) -> str:
        return "".join(f"{swap(d)}\nbar.warp.sync 0xffffffff;\nadd.u32 %v, %y, {add};\n" for d in (1, 8, 16))

    body = f"""
    and.b32 %z, %t, 3;
    setp.eq.u32 %p, %z, 1;
    @%p bra ONE;
    {turns(10)}
    bra END;
ONE:
    {turns(7)}
END:
    mov.u32 %y, %v;
"""
    value = GIVEN
    for distance in (1, 8, 16):
        value = value[LANES ^ distance] + np.where(LANES & 3 == 1, 7, 10).astype(np.uint32)
    assert (run(device, body) == value).all()


def test_three_ways(device: simt.Device) -> None:
    body = f"""
    rem.u32 %z, %t, 3;
    setp.eq.u32 %p, %z, 0;
    setp.eq.u32 %q, %z, 1;
    @%p bra A;
    @%q bra B;
    add.u32 %v, %v, 1;
    {swap(5)}
    bra END;
A:
    add.u32 %v, %v, 2;
    {swap(5)}
    bra END;
B:
    add.u32 %v, %v, 3;
    {swap(5)}
END:
"""
    own = GIVEN + np.array([2, 3, 1], np.uint32)[LANES % 3]
    assert (run(device, body) == own[LANES ^ 5]).all()


def test_both_ways_in_every_round_of_a_loop(device: simt.Device) -> None:
    body = f"""
    mov.u32 %m, 6;
ROUND:
    add.u32 %z, %t, %m;
    and.b32 %z, %z, 3;
    setp.eq.u32 %p, %z, 0;
    @%p bra A;
    {swap(3)}
    bra NEXT;
A:
    {swap(3)}
    add.u32 %y, %y, 9;
NEXT:
    bar.warp.sync 0xffffffff;
    mov.u32 %v, %y;
    sub.u32 %m, %m, 1;
    setp.ne.u32 %q, %m, 0;
    @%q bra ROUND;
"""
    value = GIVEN
    for m in range(6, 0, -1):
        value = value[LANES ^ 3] + np.where((LANES + m) & 3 == 0, 9, 0).astype(np.uint32)
    assert (run(device, body) == value).all()


def test_each_way_with_a_mask_of_its_own(device: simt.Device) -> None:
    body = f"""
    setp.lt.u32 %p, %t, 16;
    @%p bra LOW;
    {swap(15, "0xffff0000")}
    bra END;
LOW:
    {swap(15, "0x0000ffff")}
END:
"""
    assert (run(device, body) == GIVEN[LANES ^ 15]).all()


@pytest.mark.parametrize("mask", ["0x0fffffff", "%m"])
def test_some_lanes_take_no_part(device: simt.Device, mask: str) -> None:
    """The last four lanes are not named, and are elsewhere. The mask may be in a register."""
    body = f"""
    mov.u32 %m, 0x0fffffff;
    setp.ge.u32 %p, %t, 28;
    @%p bra END;
    setp.lt.u32 %p, %t, 9;
    @%p bra FEW;
    add.u32 %v, %v, 100;
    shfl.sync.bfly.b32 %y, %v, 3, 31, {mask};
    bra END;
FEW:
    shfl.sync.bfly.b32 %y, %v, 3, 31, {mask};
END:
"""
    own = GIVEN + np.where(LANES >= 9, 100, 0).astype(np.uint32)
    assert (run(device, body) == np.where(LANES < 28, own[LANES ^ 3], 0)).all()


def test_every_kind(device: simt.Device) -> None:
    """Results that are predicates, pairs, and not wanted; operands that are negated or other on each way."""

    def way(sign: str, offset: int) -> str:
        return f"""
    vote.sync.ballot.b32 %z, {sign}%q, 0xffffffff;
    add.u32 %y, %y, %z;
    vote.sync.any.pred %r, {sign}%q, 0xffffffff;
    @%r add.u32 %y, %y, 1;
    shfl.sync.idx.b32 %z|%r, %v, {offset}, 31, 0xffffffff;
    xor.b32 %y, %y, %z;
    @%r add.u32 %y, %y, 2;
    redux.sync.max.u32 %z, %v, 0xffffffff;
    add.u32 %y, %y, %z;
    elect.sync _|%r, 0xffffffff;
    @%r add.u32 %y, %y, 4;
"""

    body = f"""
    and.b32 %z, %v, 1;
    setp.ne.u32 %q, %z, 0;
    setp.lt.u32 %p, %t, 20;
    @%p bra MANY;
    {way("", 30)}
    bra END;
MANY:
    {way("!", 3)}
END:
"""
    found = run(device, body)
    votes = np.where(LANES < 20, GIVEN & 1 == 0, GIVEN & 1 == 1)
    ballot = np.uint32((votes.astype(np.uint64) << LANES.astype(np.uint64)).sum())
    value = np.full(32, ballot + np.uint32(1), np.uint32)
    value = (value ^ np.where(LANES < 20, GIVEN[3], GIVEN[30])) + np.uint32(2)
    value = value + GIVEN.max()
    assert (found == value + np.where(LANES == 0, 4, 0).astype(np.uint32)).all()


def merged(condition: str, arch: str = "sm_90") -> bool:
    """Whether the two `bar.warp.sync` of a branch with a condition become one."""
    device = simt.Device(arch, memory="16MiB")
    body = f"""
    setp.eq.u32 %p, {condition};
    @%p bra A;
    {swap(1)}
    bra END;
A:
    {swap(2)}
END:
    exit;
}}
"""
    head = HEAD.replace("8.0", "6.0").replace("sm_90", "sm_30")
    kernel = device.load(head + body).program.functions["k"]
    return any(register.name.startswith("meet") for register in kernel.registers)


def test_code_that_a_warp_runs_together_stays_as_it_is() -> None:
    assert merged("%t, 3")
    assert merged("%v, 3")
    assert not merged("%x, 3")
    assert not merged("%t, 3", "sm_35")


@pytest.mark.parametrize("seed", range(12))
def test_random_ways(device: simt.Device, seed: int) -> None:
    program = Program.random(random.Random(seed))
    out = device.zeros(32, "u4")
    device.load(program.ptx())["k"](1, 32, (out,))
    assert out.numpy().tolist() == program.expected(), program.ptx()


@pytest.mark.parametrize("count", [1, 40])
def test_branches_one_after_the_other_are_looked_at_together(
    device: simt.Device, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    """Two looks at the whole function, however many branches it has: one that finds them, one that finds no
    more. The values are those of NumPy."""
    looks: list[int] = []
    monkeypatch.setattr(lower_rendezvous, "analyse_over", lambda *a: looks.append(1) or analyse_over(*a))
    # All lanes but the even ones add 1 more; then each pair exchanges.
    ways = "\n".join(
        f"""
    and.b32 %n, %t, 1;
    setp.eq.u32 %p, %n, 0;
    @%p bra A{i};
    add.u32 %v, %v, {i + 1};
    shfl.sync.bfly.b32 %v, %v, 1, 31, 0xffffffff;
    bra END{i};
A{i}:
    add.u32 %v, %v, {i};
    shfl.sync.bfly.b32 %v, %v, 1, 31, 0xffffffff;
END{i}:"""
        for i in range(count)
    )
    expected = GIVEN.copy()
    for i in range(count):
        expected += np.where(LANES % 2 == 0, i, i + 1).astype(np.uint32)
        expected = expected[LANES ^ 1]
    assert run(device, ways + "\n    mov.u32 %y, %v;").tolist() == expected.tolist()
    assert len(looks) <= 2
