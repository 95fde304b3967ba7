"""Loops in which each thread reads memory of its own: which of them load stretches of it, and which lanes are
kept together for that. `tests.property.test_own_reads` tells whether it is done right."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.host import SLOW_GATHERS, named_cpus
from simt.engine.llvm_alone_vectors import parted
from simt.engine.llvm_builder import OF_TURNS
from simt.engine.llvm_kernel import emit
from tests.conftest import shared_device
from tests.unit.engine.arrays import words_at_the_end

# A thread a part of an array, of which it reads words while a counter is below a number.
CHUNKS = """.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 from, .param .u64 out, .param .u32 length, .param .u32 n)
{{
    .reg .b64 %from, %out, %far; .reg .b32 %t, %i, %n, %w, %v, %kept, %length; .reg .b16 %h;
    .reg .f32 %f, %g; .reg .f64 %d, %e; .reg .pred %p, %q;
    .shared .align 4 .b8 own[256];
    mov.u32 %t, %tid.x; mov.b32 %kept, 0; mov.f32 %g, 0f00000000; mov.f64 %e, 0d0000000000000000;
    ld.param.u32 %length, [length]; mul.lo.s32 %i, %t, %length;
    ld.param.u64 %from, [from]; mul.wide.s32 %far, %i, {size}; add.s64 %from, %from, %far;
    ld.param.u64 %out, [out];
    ld.param.u32 %n, [n]; {limit}
TURN:
    {turn}
    add.s64 %from, %from, {step}; add.s32 %i, %i, 1;
    setp.lt.s32 %p, %i, %n;
    {leaves}
    @%p bra TURN;
    cvt.rn.f32.f64 %f, %e; add.f32 %g, %g, %f; cvt.rzi.u32.f32 %w, %g; add.u32 %kept, %kept, %w;
    mul.wide.u32 %far, %t, 4; add.s64 %out, %out, %far; st.global.u32 [%out], %kept;
    ret;
}}
"""
OWN = "add.u32 %v, %i, %length; min.s32 %n, %n, %v;"
SAME = "sub.s32 %n, %n, %t; add.s32 %n, %n, %t; mov.u32 %i, 0;"
FLOATS = "ld.global.f32 %f, [%from]; add.f32 %g, %g, %f;"
BYTES = "ld.global.u8 %h, [%from]; cvt.u32.u16 %w, %h; mad.lo.u32 %kept, %kept, 31, %w;"
SUMS = "ld.global.u32 %w, [%from]; add.u32 %kept, %kept, %w;"
STORES = f"{FLOATS} st.global.f32 [%out], %g;"
ASIDE = f"{FLOATS} st.shared.f32 [own], %g;"
UPDATES = f"{FLOATS} red.shared.add.u32 [own], 1;"
DOUBLES = "ld.global.f64 %d, [%from]; add.f64 %e, %e, %d;"
IN_PLACE = f"{FLOATS} st.global.f32 [%from], %g;"
DOUBLES_IN_PLACE = f"{DOUBLES} st.global.f64 [%from], %e;"
BYTES_IN_PLACE = f"{BYTES} cvt.u16.u32 %h, %kept; st.global.u8 [%from], %h;"
FENCED = f"{FLOATS} membar.gl;"
VOLATILE = "ld.volatile.global.f32 %f, [%from]; add.f32 %g, %g, %f;"
LOOKED_UP = f"{FLOATS} mul.wide.u32 %far, %i, 256; add.s64 %far, %far, %out; ld.global.f32 %f, [%far];"
ENDS = "setp.ne.u32 %q, %kept, 77; and.pred %p, %p, %q;"


def kernel(turn: str, limit: str = OWN, size: int = 4, step: int = 0, leaves: str = "") -> str:
    return CHUNKS.format(turn=turn, limit=limit, size=size, step=step or size, leaves=leaves)


def code(
    text: str,
    features: frozenset[str] = frozenset({SLOW_GATHERS}),
    cpu: str = "x86-64-v4",
    block: tuple[int, int] = (64, 1),
) -> str:
    program = shared_device(engine="jit").load(text).program
    features |= named_cpus()[cpu].features
    return emit(program, program.functions["k"], BlockShape(*block, 1), features, "nounwind")[0]


def has_stretches(text: str) -> bool:
    return "call i1 @simt.stretches" in text


@pytest.mark.parametrize("limit", [OWN, SAME])
@pytest.mark.parametrize(("turn", "size"), [(FLOATS, 4), (BYTES, 1), (DOUBLES, 8), (ASIDE, 4)])
def test_words_that_follow_one_another_are_loaded_at_once(turn: str, size: int, limit: str) -> None:
    assert has_stretches(code(kernel(turn, limit, size)))


@pytest.mark.parametrize("turn", [STORES, UPDATES, FENCED, VOLATILE])
@pytest.mark.parametrize("limit", [OWN, SAME])
def test_loops_that_may_change_what_they_read_do_not(turn: str, limit: str) -> None:
    assert not has_stretches(code(kernel(turn, limit)))


@pytest.mark.parametrize(
    ("turn", "limit", "cpu", "stored"),
    [
        (IN_PLACE, SAME, "x86-64-v4", True),
        (DOUBLES_IN_PLACE.replace("[%from]", "[%from+4]"), SAME, "x86-64-v4", False),  # goes on by 4 bytes
        (f"{FLOATS} st.global.f32 [%from+-4], %g;", SAME, "x86-64-v4", True),
        (f"{FLOATS} st.global.f32 [%from+4], %g;", SAME, "x86-64-v4", True),  # the next turn's word: kept
        (f"{FLOATS} st.global.f32 [%from+8], %g;", SAME, "x86-64-v4", False),  # that of the turn after
        (f"{FLOATS} st.volatile.global.f32 [%from], %g;", SAME, "x86-64-v4", False),
        (f"{IN_PLACE} membar.cta;", SAME, "x86-64-v4", False),
        (f"{IN_PLACE} @%q st.global.f32 [%from], %g;", SAME, "x86-64-v4", False),
        (IN_PLACE, OWN, "x86-64-v4", False),  # lanes leave by degrees
        (IN_PLACE, SAME, "x86-64-v3", False),
    ],
)
def test_which_loops_store_stretches(turn: str, limit: str, cpu: str, stored: bool) -> None:
    assert ("@simt.stretches.stored" in code(kernel(turn, limit), cpu=cpu)) == stored


@pytest.mark.parametrize(("turn", "size"), [(BYTES_IN_PLACE, 1), (DOUBLES_IN_PLACE, 8)])
def test_words_of_any_size_are_stored_so(turn: str, size: int) -> None:
    assert "@simt.stretches.stored" in code(kernel(turn, SAME, size))


@pytest.mark.parametrize("step", [-4, 16, 128])
def test_words_that_lie_apart_are_not(step: int) -> None:
    assert not has_stretches(code(kernel(FLOATS, step=step)))


@pytest.mark.parametrize("turn", [SUMS, LOOKED_UP])
def test_lanes_that_are_as_fast_alone_stay_alone(turn: str) -> None:
    assert not has_stretches(code(kernel(turn)))


def test_lanes_that_leave_by_what_they_read_are_not_kept_together() -> None:
    assert not has_stretches(code(kernel(BYTES, size=1, leaves=ENDS)))


@pytest.mark.parametrize(("turn", "size", "slow"), [(FLOATS, 4, True), (FLOATS, 4, False), (BYTES, 1, False)])
def test_words_that_rows_may_share(turn: str, size: int, slow: bool) -> None:
    """Where gathers are fast, one of words of four bytes gets those of both rows at once."""
    features = frozenset({SLOW_GATHERS} if slow else set[str]())
    threads = "mov.u32 %t, %tid.x; mov.u32 %v, %tid.y; mul.lo.u32 %w, %v, %v; add.u32 %t, %t, %w;"
    source = kernel(turn, SAME, size).replace("mov.u32 %t, %tid.x;", threads)
    text = code(source, features, block=(16, 16))
    assert has_stretches(text) == (slow or size < 4)


def test_cpus_with_no_registers_for_them_have_no_stretches() -> None:
    assert has_stretches(code(kernel(FLOATS), frozenset()))
    assert not has_stretches(code(kernel(FLOATS), cpu="x86-64-v3"))


def test_turns_that_call_functions_stay_with_these() -> None:
    """Doubles are added in their order, and which NaN it is settled in a function."""
    doubles = "ld.global.f64 %d, [%from]; fma.rn.f64 %e, %d, %d, %e; st.global.f64 [%from], %e;"
    whole = code(kernel(doubles, size=8))
    assert OF_TURNS in whole
    _, turns = parted(whole)
    defined = {line.split("@")[1].split("(")[0] for line in turns.split("\n") if line.startswith("define ")}
    called = {line.split("@")[1].split("(")[0] for line in turns.split("\n") if " call " in line}
    assert {name for name in called if not name.startswith("llvm.")} <= defined


@pytest.mark.parametrize("engine", ["jit", "interpreter"])
def test_lanes_meet_again_wherever_they_leave(engine: str) -> None:
    """The last thread's part is shorter than others."""
    device = shared_device(engine=engine)
    words = np.random.default_rng(5).integers(0, 256, 63 * 100 + 37).astype("u1")
    out = device.zeros(64, "u4")
    device.load(kernel(BYTES, size=1))["k"](
        1, 64, (device.array(words), out, np.uint32(100), np.uint32(6337))
    )
    expected = list[int]()
    for part in np.split(words, range(100, 6337, 100)):
        found = 0
        for word in part:
            found = (31 * found + int(word)) % 2**32
        expected.append(found)
    assert out.numpy().tolist() == expected


def test_what_another_launch_stores_is_seen() -> None:
    device = simt.Device("sm_90", engine="jit", memory="16MiB", workers=1)
    words, out = device.zeros(6400, "u1"), device.zeros(64, "u4")
    loaded = device.load(
        kernel("ld.global.u8 %h, [%from]; cvt.u32.u16 %w, %h; max.u32 %kept, %kept, %w;", size=1)
    )
    for number in (3, 9, 4):
        words.copy_from(np.full(6400, number, "u1"))
        loaded["k"](1, 64, (words, out, np.uint32(100), np.uint32(6400)))
        assert out.numpy().tolist() == [number] * 64


@pytest.mark.parametrize("engine", ["jit", "interpreter"])
def test_what_a_thread_stores_between_two_loops_is_seen(engine: str) -> None:
    """The second loop begins where the first one did."""
    again = """
    st.global.u8 [%from+-50], %kept; add.s64 %from, %from, -50; mov.u32 %i, 0;
    setp.lt.u32 %q, %kept, 0xC0000000; @%q bra AGAIN;"""
    text = kernel(BYTES, SAME, size=1).replace("@%p bra TURN;", f"@%p bra TURN;{again}")
    text = text.replace("TURN:", "AGAIN: mov.u32 %i, 0; TURN:")
    assert has_stretches(code(text))
    device, memory = (
        shared_device(engine=engine),
        np.random.default_rng(6).integers(0, 256, 3200).astype("u1"),
    )
    out = device.zeros(64, "u4")
    device.load(text)["k"](1, 64, (device.array(memory), out, np.uint32(50), np.uint32(50)))
    expected = list[int]()
    for part in memory.reshape(64, 50):
        found = 0
        while found < 0xC0000000:
            for word in part:
                found = (31 * found + int(word)) % 2**32
            part[0] = found % 256
        expected.append(found)
    assert out.numpy().tolist() == expected


@pytest.mark.parametrize("beyond", [0, 1, 2, 3, 17])
@pytest.mark.parametrize("length", [64, 66, 67, 68, 72, 80, 100])
def test_the_first_word_beyond_the_end_is_named(length: int, beyond: int) -> None:
    """Wherever stretches begin."""
    device = simt.Device("sm_90", engine="jit", memory="16MiB")
    words = words_at_the_end(device, np.uint32(0))
    end, out = words.ptr + words.nbytes, device.zeros(64, "u4")
    start = np.uint64(end - 4 * (64 * length - beyond))
    turn = "ld.global.f32 %f, [%from]; fma.rn.f32 %g, %g, %f, %f;"
    line = next(n for n, line in enumerate(kernel(turn).splitlines(), 1) if turn in line)
    loaded = device.load(kernel(turn))["k"]
    arguments = (start, out, np.uint32(length), np.uint32(64 * length))
    if not beyond:
        return loaded(1, 64, arguments)
    with pytest.raises(simt.MemoryFault, match=r"thread \(63, 0, 0\)") as caught:
        loaded(1, 64, arguments)
    assert caught.value.address == end
    assert caught.value.site.line == line
    return None


@pytest.mark.parametrize("beyond", [0, 1, 17])
def test_the_first_word_stored_beyond_the_end_is_named(beyond: int) -> None:
    """What waits by then is stored before, and no more than that."""
    device = simt.Device("sm_90", engine="jit", memory="16MiB")
    words, length = words_at_the_end(device, np.uint32(7)), 70
    end, out = words.ptr + words.nbytes, device.zeros(64, "u4")
    start = np.uint64(end - 4 * (64 * length - beyond))
    loaded = device.load(kernel("add.f32 %g, %g, 0f3F800000; st.global.f32 [%from], %g;", SAME))["k"]
    if beyond:
        with pytest.raises(simt.MemoryFault, match=r"thread \(63, 0, 0\)") as caught:
            loaded(1, 64, (start, out, np.uint32(length), np.uint32(length)))
        assert caught.value.address == end
    else:
        loaded(1, 64, (start, out, np.uint32(length), np.uint32(length)))
    last = words.numpy()[beyond - length :].view("f4")
    assert last.tolist() == [*range(1, length - beyond + 1)]


@pytest.mark.parametrize("engine", ["jit", "interpreter"])
def test_an_index_that_wraps_leads_elsewhere(engine: str) -> None:
    """Of the last thread, in the middle of what would be a stretch."""
    turn = """add.s32 %v, %i, 0x7FFFFFFF; cvt.s64.s32 %far, %v; add.s64 %far, %far, %from;
    ld.global.u8 %h, [%far]; cvt.u32.u16 %w, %h; mad.lo.u32 %kept, %kept, 31, %w;"""
    text = kernel(turn, f"sub.s32 %i, %i, 6301; sub.s64 %from, %from, %far; {OWN}", size=1).replace(
        "add.s64 %from, %from, 1; ", ""
    )
    device = shared_device(engine=engine)
    words, out = device.array(np.ones(6400, "u1")), device.zeros(64, "u4")
    base = words.ptr - (2**31 - 1 - 6301)
    with pytest.raises(simt.MemoryFault, match=r"thread \(63, 0, 0\)") as caught:
        device.load(text)["k"](1, 64, (np.uint64(base), out, np.uint32(100), np.uint32(6400)))
    assert caught.value.address == base - 2**31
