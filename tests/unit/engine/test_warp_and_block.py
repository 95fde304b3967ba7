"""Votes, shuffles, named barriers and register aliasing as modules of PTX 2.0 to 3.1 have them (CUDA Handbook
8.6.1, 8.6.2). Expected values are what the handbook's words come to, in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.conftest import shared_device

Words = NDArray[np.uint32]
LANES = np.arange(32)


def run(engine: str, body: str, given: Words, version: str = "3.1", target: str = "sm_30") -> NDArray[Any]:
    """One CTA with a thread for each word of `given`, which is in `%v`; what threads store at `%out`, eight
    words each."""
    device = shared_device(engine, "sm_35")
    text = f"""
.version {version}
.target {target}
.address_size 64
.entry k(.param .u64 from, .param .u64 to)
{{
    .reg .u64 %in, %out, %w, %l;
    .reg .u32 %t, %v, %x, %y, %c;
    .reg .f32 %f; .reg .f64 %d;
    .reg .pred %p, %q, %r;
    .shared .align 4 .b32 words[1024];
    ld.param.u64 %in, [from];
    ld.param.u64 %out, [to];
    mov.u32 %t, %tid.x;
    mul.wide.u32 %w, %t, 4;
    add.u64 %in, %in, %w;
    mul.wide.u32 %w, %t, 32;
    add.u64 %out, %out, %w;
    ld.global.u32 %v, [%in];
{body}
    exit;
}}
"""
    out = device.zeros((len(given), 8), "u4")
    device.load(text)["k"](1, len(given), (device.array(given), out))
    return out.numpy().copy()


def words(count: int, seed: int = 1) -> Words:
    return np.random.default_rng(seed).integers(0, 2**32, count, dtype=np.uint32)


# ---------------------------------------------------------------- votes

VOTES = """
    and.b32 %x, %v, 1;
    setp.ne.u32 %p, %x, 0;
    vote.ballot.b32 %x, %p;    st.global.u32 [%out], %x;
    vote.ballot.b32 %x, !%p;   st.global.u32 [%out+4], %x;
    vote.all.pred %q, %p;      selp.u32 %x, 1, 0, %q; st.global.u32 [%out+8], %x;
    vote.any.pred %q, %p;      selp.u32 %x, 1, 0, %q; st.global.u32 [%out+12], %x;
    vote.uni.pred %q, %p;      selp.u32 %x, 1, 0, %q; st.global.u32 [%out+16], %x;
    vote.all.pred %q, !%p;     selp.u32 %x, 1, 0, %q; st.global.u32 [%out+20], %x;
"""


@pytest.mark.parametrize("some", [0, 1, 5, 31, 32])
@pytest.mark.parametrize("threads", [32, 7])
def test_votes_of_a_warp(engine: str, some: int, threads: int) -> None:
    given = np.random.default_rng(some).permutation((np.arange(threads) < some).astype(np.uint32))
    found = run(engine, VOTES, given, "2.3" if threads == 7 else "3.1", "sm_20")
    ballot = sum(int(bit) << lane for lane, bit in enumerate(given))
    every = (1 << threads) - 1
    expected = [ballot, every ^ ballot, ballot == every, ballot != 0, ballot in (0, every), ballot == 0]
    assert (found[:, :6] == np.array(expected, np.uint32)).all()


def test_only_active_lanes_vote(engine: str) -> None:
    given = words(64)
    found = run(engine, f"setp.lt.u32 %r, %v, 0x60000000; @%r exit; {VOTES}", given)
    for warp in (slice(0, 32), slice(32, 64)):
        odd, active = given[warp] & 1 != 0, given[warp] >= 0x60000000
        bits = [int((mask << LANES).sum()) for mask in (odd & active, ~odd & active)]
        logic = [
            odd[active].all(),
            odd.any(where=active),
            len({*odd[active]}) == 1,
            not odd.any(where=active),
        ]
        expected = np.array([*bits, *logic], np.uint32)
        assert (found[warp][active, :6] == expected).all()


# ---------------------------------------------------------------- shuffles


def shuffled(mode: str, values: Words, distance: int, width: int) -> tuple[Words, NDArray[np.bool_]]:
    """What `__shfl`, `__shfl_up`, `__shfl_down`, `__shfl_xor` give to each lane, and whether the lane read
    lies in the lane's segment; if it does not, the lane keeps its own value. `__shfl` counts within the
    segment, where numbers from `width` on begin again: so the hardware; the handbook has the lane's
    own value."""
    first = LANES // width * width
    source = {
        "idx": first + distance % width, "up": LANES - distance, "down": LANES + distance,
        "bfly": LANES ^ distance,
    }[mode]  # fmt: skip
    inside = source >= first if mode == "up" else source < first + width
    return values[np.where(inside, source, LANES)], inside


@pytest.mark.share(2)
@pytest.mark.parametrize("mode", ["idx", "up", "down", "bfly"])
@pytest.mark.parametrize("width", [32, 16, 8, 4, 2])
def test_shuffles_of_segments(engine: str, mode: str, width: int) -> None:
    """`c` as CUDA's intrinsics make it: the segments' mask above, the last lane (`up`: the first) below."""
    given = words(32)
    control = (32 - width) << 8 | (0 if mode == "up" else 31)
    for distance in (0, 1, width // 2, width - 1):
        body = f"""
    mov.u32 %c, {control};
    shfl.{mode}.b32 %x|%p, %v, {distance}, %c;
    st.global.u32 [%out], %x;
    selp.u32 %x, 1, 0, %p;
    st.global.u32 [%out+4], %x;
"""
        found = run(engine, body, given)
        values, inside = shuffled(mode, given, distance, width)
        assert (found[:, 0] == values).all(), (mode, width, distance)
        assert (found[:, 1] == inside).all(), (mode, width, distance)


def test_a_scan_by_shuffles(engine: str) -> None:
    """Sums up to each lane within segments of eight: the predicate says who has a neighbour far enough."""
    rounds = "".join(f"shfl.up.b32 %x|%p, %v, {d}, 0x1800;\n@%p add.u32 %v, %v, %x;\n" for d in (1, 2, 4))
    given = words(96)
    found = run(engine, f"{rounds} st.global.u32 [%out], %v;", given)
    assert (found[:, 0].reshape(-1, 8) == np.cumsum(given.reshape(-1, 8), axis=1, dtype=np.uint32)).all()


# ---------------------------------------------------------------- barriers


def test_sixteen_barriers_of_two_warps_each(engine: str) -> None:
    """Warps 2 i and 2 i + 1 exchange at barrier i, apart from all others; later pairs do it more often."""
    body = """
    shr.u32 %c, %t, 6;
    mov.u32 %x, words;
    mad.lo.u32 %x, %t, 4, %x;
    xor.b32 %y, %t, 63;
    mov.u32 %t, words;
    mad.lo.u32 %y, %y, 4, %t;
    add.u32 %t, %c, 1;
ROUND:
    st.shared.u32 [%x], %v;
    bar.sync %c, 64;
    ld.shared.u32 %v, [%y];
    add.u32 %v, %v, 1;
    bar.sync %c, 64;
    sub.u32 %t, %t, 1;
    setp.ne.u32 %p, %t, 0;
    @%p bra ROUND;
    st.global.u32 [%out], %v;
"""
    given = words(1024)
    found = run(engine, body, given)[:, 0]
    thread = np.arange(1024)
    rounds = thread // 64 + 1
    partner = np.where(rounds % 2, thread ^ 63, thread)
    assert (found == given[partner] + rounds.astype(np.uint32)).all()


def test_producers_arrive_and_consumers_wait(engine: str) -> None:
    """Three warps store and go on; one waits for all of them, at each of the barriers 1 to 15 in turn."""

    def turn(n: int) -> str:
        return f"""
    @%q st.shared.u32 [%x+{4 * 32 * n}], %v;
    @%q bar.arrive {n}, 128;
    @!%q bar.sync {n}, 128;
    @!%q ld.shared.u32 %c, [%y+{4 * 32 * n}];
    @!%q add.u32 %v, %v, %c;
"""

    body = f"""
    setp.ge.u32 %q, %t, 32;
    and.b32 %x, %t, 31;
    mov.u32 %c, words;
    mad.lo.u32 %x, %x, 4, %c;
    xor.b32 %y, %t, 31;
    mad.lo.u32 %y, %y, 4, %c;
    {"".join(map(turn, range(1, 16)))}
    st.global.u32 [%out], %v;
"""
    own = words(32)
    given = np.concatenate([own, *[words(32, 2)] * 3])  # producers of one lane store the same
    found = run(engine, body, given)[:32, 0]
    assert (found == own + 15 * given[32:64][::-1]).all()


def test_reductions_of_a_barrier(engine: str) -> None:
    """`__syncthreads_count`, `_and`, `_or`: of all threads, and of the first 64 at a barrier of their own."""
    body = """
    and.b32 %x, %v, 3;
    setp.eq.u32 %p, %x, 0;
    bar.red.popc.u32 %x, 0, %p;        st.global.u32 [%out], %x;
    bar.red.and.pred %q, 1, %p;        selp.u32 %x, 1, 0, %q; st.global.u32 [%out+4], %x;
    bar.red.or.pred %q, 15, !%p;       selp.u32 %x, 1, 0, %q; st.global.u32 [%out+8], %x;
    setp.ge.u32 %q, %t, 64;
    @%q bra DONE;
    bar.red.popc.u32 %x, 7, 64, !%p;   st.global.u32 [%out+12], %x;
DONE:
"""
    given = words(160)
    found = run(engine, body, given)
    fits = given & 3 == 0
    assert (found[:, 0] == fits.sum()).all()
    assert (found[:, 1] == fits.all()).all()
    assert (found[:, 2] == (~fits).any()).all()
    assert (found[:64, 3] == (~fits[:64]).sum()).all()
    given &= ~np.uint32(3)
    assert (run(engine, body, given)[:, :4] == [160, 1, 0, 0]).all(where=(np.arange(160) < 64)[:, None])


# ---------------------------------------------------------------- register aliasing


def test_bits_of_floats_and_halves_of_doubles(engine: str) -> None:
    """`__float_as_int`, `__int_as_float`, `__double2hiint`, `__double2loint`, `__hiloint2double`: `mov`
    between registers of other types, NaNs, infinities and subnormals included."""
    body = """
    mov.b32 %f, %v;
    mov.b32 %x, %f;
    st.global.u32 [%out], %x;
    not.b32 %y, %v;
    mov.b64 %d, {%y, %v};
    st.global.f64 [%out+8], %d;
    mov.b64 {%x, %y}, %d;
    st.global.u32 [%out+16], %x;
    st.global.u32 [%out+20], %y;
    mov.b64 %l, %d;
    mov.b64 %d, %l;
    st.global.f64 [%out+24], %d;
"""
    special = np.array(
        [0x7F800001, 0xFFC00001, 0x7FF00001, 0x7F800000, 0x80000001, 0, 0x80000000, 1], np.uint32
    )
    given = np.concatenate([special, words(56)])
    found = run(engine, body, given)
    low = ~given
    assert (found[:, 0] == given).all()
    assert (found[:, 2:] == np.stack([low, given, low, given, low, given], 1)).all()
