"""Threads with chunks of an array of their own, side by side: what a warp goes through as one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.host import HOST, find_cpu
from simt.engine.llvm_kernel import emit
from tests.conftest import shared_device
from tests.unit.engine.arrays import words_at_the_end

U4 = npt.NDArray[np.uint32]
# Thread t has words from t * per on, and counts from there until a test fails.
CHUNKS = """.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 from, .param .u64 to, .param .u32 per, .param .u32 length, .param .u32 n,
                  .param .u32 start, .param .u64 last)
{{
    .reg .b64 %from, %to, %far, %last, %begin;
    .reg .b32 %t, %i, %n, %w, %v, %per, %end, %length, %lane, %start;
    .reg .f32 %f, %g; .reg .pred %p, %q;
    ld.param.u32 %per, [per]; ld.param.u32 %length, [length]; ld.param.u32 %n, [n];
    ld.param.u32 %start, [start];
    mov.u32 %t, %tid.x; and.b32 %lane, %t, 31; mul.lo.s32 %i, %t, %per; mul.wide.s32 %far, %i, 4;
    ld.param.u64 %from, [from]; add.s64 %from, %from, %far;
    ld.param.u64 %to, [to]; add.s64 %to, %to, %far; mov.b64 %begin, %to;
    ld.param.u64 %last, [last]; mul.wide.s32 %far, %t, 4; add.s64 %last, %last, %far;
    add.s32 %i, %i, %start; {before} add.s32 %end, %i, %length; min.s32 %end, %end, %n;
    setp.ge.s32 %p, %i, %end;
    @%p bra DONE;
TURN:
    {turn}
    add.s64 %from, %from, 4; add.s64 %to, %to, 4; add.s32 %i, %i, 1;
    setp.{test} %p, %i, %end;
    @%p bra TURN;
DONE:
    sub.s64 %to, %to, %begin; cvt.u32.u64 %w, %to; st.global.u32 [%last], %w;
    ret;
}}
"""
PLAIN = "ld.global.u32 %w, [%from]; add.u32 %w, %w, 3; st.global.u32 [%to], %w;"
SUM = "ld.global.u32 %w, [%from]; ld.global.u32 %v, [%to]; add.u32 %w, %w, %v; st.global.u32 [%to], %w;"
NUMBER = "st.global.u32 [%to], %i;"
THREAD = "ld.global.u32 %w, [%from]; add.u32 %w, %w, %t; st.global.u32 [%to], %w;"
LANE = "mov.u32 %v, %laneid; st.global.u32 [%to], %v;"
RUNNING = "ld.global.u32 %w, [%from]; add.u32 %v, %v, %w; st.global.u32 [%to], %v;"
FLUSHED = "ld.global.f32 %f, [%from]; fma.rn.ftz.f32 %g, %f, %f, %f; st.global.f32 [%to], %g;"
LONGER = "setp.eq.u32 %q, %lane, 17; @%q add.u32 %length, %length, 1;"
"""Of a lane."""
COUNTED = "setp.eq.u32 %q, %lane, 17; @%q add.s32 %i, %i, 3;"
SHIFTED = "setp.eq.u32 %q, %lane, 17; @%q add.s64 %to, %to, 4; @%q add.s64 %begin, %begin, 4;"


def text_for(turn: str, before: str = "", test: str = "lt.s32") -> str:
    return CHUNKS.format(turn=turn, before=before, test=test)


@pytest.mark.parametrize("turn", [PLAIN, SUM, NUMBER, FLUSHED])
def test_chunks_may_be_one(turn: str) -> None:
    assert has_chunks(turn)


@pytest.mark.parametrize("turn", [THREAD, LANE, RUNNING])
def test_what_differs_from_lane_to_lane_keeps_them_apart(turn: str) -> None:
    assert not has_chunks(turn)


def has_chunks(turn: str) -> bool:
    program = shared_device(engine="jit").load(text_for(turn)).program
    features = find_cpu(HOST).features
    return "\nchunks." in emit(program, program.functions["k"], BlockShape(64, 1, 1), features, "nounwind")[0]


class Case:
    """Chunks of `per` words of 100 threads, of which each does `length`, and none those from `n` on."""

    def __init__(self, per: int, length: int, n: int, far: int, start: int = 0) -> None:
        self.per, self.length, self.n, self.far, self.start = per, length, n, far, start
        self.threads = 100
        self.memory = np.random.default_rng(per).integers(0, 1000, 2 * self.threads * per + 300).astype("u4")

    def run(self, engine: str, text: str) -> tuple[U4, U4]:
        device = shared_device(engine=engine)
        data, last = device.array(self.memory), device.zeros(self.threads, "u4")
        places = np.uint64(data.ptr), np.uint64(data.ptr + 4 * self.far)
        numbers = (np.uint32(x % 2**32) for x in (self.per, self.length, self.n, self.start))
        device.load(text)["k"](1, self.threads, (*places, *numbers, last))
        return data.numpy(), last.numpy()

    def expected(self, longer: int = 0, shifted: int = 0) -> tuple[U4, U4]:
        """What `SUM` makes. `longer`, `shifted`: words that lanes 17 have more, or are further on."""
        memory, last = self.memory.copy(), np.zeros(self.threads, "u4")
        for thread in range(self.threads):
            odd = thread % 32 == 17
            first = self.start + thread * self.per
            turns = max(0, min(first + self.length + longer * odd, self.n) - first)
            at = np.arange(turns) + thread * self.per
            memory[at + self.far + shifted * odd] += memory[at]
            last[thread] = 4 * turns
        return memory, last


ENGINES = ["jit", "interpreter"]
LENGTHS = [1, 2, 3, 4, 7, 16, 63, 126, 127, 128, 200]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("more", [0, 1, 5])
def test_chunks(engine: str, length: int, more: int) -> None:
    """Of any length, side by side or not, of one array or two."""
    for far in (0, 100 * (length + more)):
        case = Case(length + more, length, 1 << 30, far)
        for mine, right in zip(case.run(engine, text_for(SUM)), case.expected(), strict=True):
            assert np.array_equal(mine, right)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("n", [0, 5, 32 * 8, 32 * 8 + 3, 64 * 8 - 1, 100 * 8 - 8, 100 * 8])
def test_the_array_may_end_within_a_chunk(engine: str, n: int) -> None:
    case = Case(8, 8, n, 800)
    for mine, right in zip(case.run(engine, text_for(SUM)), case.expected(), strict=True):
        assert np.array_equal(mine, right)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("test", ["lt.s32", "ne.s32", "lt.u32"])
@pytest.mark.parametrize("start", [-2000, 7, 2**31 - 2000])
def test_counters_may_begin_anywhere(engine: str, test: str, start: int) -> None:
    case = Case(8, 8, 2**31 - 1, 800, start)
    memory, last = case.run(engine, text_for(SUM, test=test))
    right, turns = case.expected()
    assert np.array_equal(last, turns)
    assert np.array_equal(memory, right)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("per", [8, 9])
def test_a_lane_may_have_a_turn_more(engine: str, per: int) -> None:
    """Its last word may be the next thread's first one: both store the same."""
    case = Case(per, 8, 1 << 30, 100 * per + 1)
    memory, last = case.run(engine, text_for(PLAIN, LONGER))
    right, turns = case.memory.copy(), case.expected(longer=1)[1]
    for thread, count in enumerate((turns // 4).tolist()):
        at = thread * per + np.arange(count, dtype=np.int64)
        right[at + case.far] = case.memory[at] + 3
    assert np.array_equal(last, turns)
    assert np.array_equal(memory, right)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_lane_may_be_elsewhere(engine: str) -> None:
    case = Case(9, 8, 1 << 30, 900)
    for mine, right in zip(case.run(engine, text_for(SUM, SHIFTED)), case.expected(shifted=1), strict=True):
        assert np.array_equal(mine, right)


@pytest.mark.parametrize("engine", ENGINES)
def test_counters_are_stored_as_they_are(engine: str) -> None:
    case = Case(8, 8, 1 << 30, 800, 5)
    for before, more in (("", 0), (COUNTED, 3)):
        memory, _ = case.run(engine, text_for(NUMBER, before))
        right = np.arange(800) + 5 + more * (np.arange(800) // 8 % 32 == 17)
        assert np.array_equal(memory[800:1600], right)


def test_subnormals_are_flushed() -> None:
    words = np.array([1, 0x00800000, 0x007FFFFF, 0x80000001, 0x20000000, 0x3F800000, 0x7F800001, 0], "u4")
    case = Case(8, 8, 1 << 30, 800)
    case.memory[:800] = np.tile(words, 100)
    one, other = (case.run(engine, text_for(FLUSHED))[0] for engine in ENGINES)
    assert np.array_equal(one, other)
    normal = [0x20000000, 0x40000000, 0x7FFFFFFF]
    assert np.array_equal(one[800:808], [0, 0x00800000, 0, 0, *normal, 0])


@pytest.mark.parametrize("left", [1, 7, 8])
def test_the_first_word_beyond_the_end_is_named(left: int) -> None:
    """Of the last thread, of which all words but the last `left` are valid."""
    device = simt.Device("sm_90", engine="jit", memory="16MiB")
    words = words_at_the_end(device, np.uint32(7))
    other, last, end = device.zeros(64 * 8, "u4"), device.zeros(64, "u4"), words.ptr + words.nbytes
    start = np.uint64(end - 64 * 32 + 4 * left)
    numbers = (np.uint32(x) for x in (8, 8, 1 << 30, 0))
    with pytest.raises(simt.MemoryFault, match=r"thread \(63, 0, 0\)") as caught:
        device.load(text_for(PLAIN))["k"](1, 64, (start, other, *numbers, last))
    assert caught.value.address == end
