"""Threads with rows of their own: turns of which all is known ahead are for vectors, and no others."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.host import SLOW_GATHERS, named_cpus
from simt.engine.llvm_alone_vectors import LOOPS, parted
from simt.engine.llvm_builder import OF_TURNS
from simt.engine.llvm_kernel import emit
from tests.conftest import shared_device
from tests.unit.engine.arrays import words_at_the_end

# A thread a row of `pitch` bytes: `n` turns, each of which reads a word and writes one.
ROWS = """.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 from, .param .u64 to, .param .u32 pitch, .param .u32 n, .param .u64 last)
{{
    .reg .b64 %from, %to, %far, %last; .reg .b32 %t, %i, %n, %w, %kept, %pitch;
    .reg .f32 %f, %g; .reg .pred %p;
    mov.u32 %t, %tid.x; mov.b32 %kept, 0; mov.f32 %g, 0f00000000;
    ld.param.u32 %pitch, [pitch]; mul.lo.s32 %w, %t, %pitch; cvt.s64.s32 %far, %w;
    ld.param.u64 %from, [from]; add.s64 %from, %from, %far;
    ld.param.u64 %to, [to]; add.s64 %to, %to, %far;
    ld.param.u64 %last, [last]; mul.wide.s32 %far, %t, 4; add.s64 %last, %last, %far;
    ld.param.u32 %n, [n]; mov.u32 %i, 0;
TURN:
    {turn}
    add.s64 %from, %from, 4; add.s64 %to, %to, 4; add.s32 %i, %i, 1;
    setp.lt.s32 %p, %i, %n;
    @%p bra TURN;
    st.global.u32 [%last], %kept;
    ret;
}}
"""
PLAIN = "ld.global.u32 %w, [%from]; add.u32 %w, %w, 3; st.global.u32 [%to], %w;"
COUNTING = f"{PLAIN} add.u32 %kept, %kept, %w;"
RUNNING = "ld.global.u32 %w, [%from]; add.u32 %kept, %kept, %w; st.global.u32 [%to], %kept;"
FLOATS = "ld.global.f32 %f, [%from]; add.f32 %g, %g, %f; st.global.f32 [%to], %f; mov.b32 %kept, %g;"
DEPENDENT = "ld.global.u32 %w, [%to]; add.u32 %w, %w, 3; st.global.u32 [%to+4], %w;"
WHILE = f"setp.ge.s32 %p, %i, 77; @%p bra PASS; {PLAIN} PASS:"
EITHER = f"setp.ge.s32 %p, %i, 77; @%p bra ONE; {PLAIN} bra PASS; ONE: st.global.u32 [%to], %i; PASS:"
IF = f"setp.ge.s32 %p, %kept, 77; @%p bra PASS; {COUNTING} PASS:"
AMONG = "ld.global.u32 %w, [%from]; @%p st.global.u32 [%to], %w; setp.lt.s32 %p, %w, %n;"
CPUS = ["x86-64", "x86-64-v3", "x86-64-v4"]


def text_for(turn: str, cpu: str = "x86-64-v4", more: str = "") -> str:
    text = ROWS.format(turn=turn).replace("TURN:", f"{more} TURN:")
    program = shared_device(engine="jit").load(text).program
    features = named_cpus()[cpu].features | {SLOW_GATHERS}
    return emit(program, program.functions["k"], BlockShape(64, 1, 1), features, "nounwind")[0]


def is_for_vectors(text: str) -> bool:
    return any(f"!llvm.loop {loop}\n" in text for loop in LOOPS.values())


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("turn", [PLAIN, COUNTING, WHILE])
def test_words_of_rows_are_for_vectors(turn: str, cpu: str) -> None:
    assert is_for_vectors(text_for(turn, cpu))


@pytest.mark.parametrize("turn", [RUNNING, FLOATS])
def test_sums_that_are_looked_at_or_of_floats_are_not(turn: str) -> None:
    """Lanes that have other numbers of turns go alone all the same; others go together then."""
    text = text_for(turn, more="add.u32 %n, %n, %t;")
    assert OF_TURNS in text
    assert not is_for_vectors(text)
    assert OF_TURNS not in text_for(turn)


@pytest.mark.parametrize("turn", [DEPENDENT, AMONG, EITHER, IF])
def test_turns_that_need_others_or_guards_have_no_such_code(turn: str) -> None:
    assert OF_TURNS not in text_for(turn)


def test_functions_of_turns_are_a_module_of_their_own() -> None:
    whole = text_for(COUNTING)
    rest, turns = parted(whole)
    name = next(line.split("@")[1].split("(")[0] for line in whole.split("\n") if OF_TURNS in line)
    assert f"@{name}" in rest.split("declare { i32 } ")[1]
    assert turns.count("define ") == 1
    assert "define internal" not in turns
    assert not is_for_vectors(rest)
    assert is_for_vectors(turns)


def test_llvm_has_nothing_to_report(capfd: pytest.CaptureFixture[str]) -> None:
    device = simt.Device("sm_90", engine="jit", memory="16MiB")
    for turn in (PLAIN, COUNTING, RUNNING, FLOATS, DEPENDENT):
        data, last = device.zeros(64 * 64, "u4"), device.zeros(64, "u4")
        device.load(ROWS.format(turn=turn) + f"// {id(device)}")["k"](
            1, 64, (data, data, np.uint32(256), np.uint32(32), last)
        )
        device.synchronize()
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("engine", ["jit", "interpreter"])
@pytest.mark.parametrize("n", [1, 3, 4, 5, 6, 17, 40])
@pytest.mark.parametrize("apart", [0, 1, -1, 5, 2000])
def test_rows_may_meet(engine: str, n: int, apart: int) -> None:
    """Each thread reads its row and writes where this begins, a few words on, or elsewhere."""
    device, threads, words = shared_device(engine=engine), 50, 64
    memory = np.random.default_rng(n).integers(0, 1000, threads * words + 4000).astype("u4")
    data, last = device.array(memory), device.zeros(64, "u4")
    start, expected, sums = 10, memory.copy(), np.zeros(64, "u4")
    far = apart if abs(apart) < 100 else threads * words + 100
    for thread in range(threads):
        for turn in range(n):
            at = start + thread * words + turn
            new = expected[at] + 3
            expected[at + far] = new
            sums[thread] += new
    places = (np.uint64(data.ptr + 4 * start), np.uint64(data.ptr + 4 * (start + far)))
    scalars = (np.uint32(4 * words), np.uint32(n))
    device.load(ROWS.format(turn=COUNTING))["k"](1, threads, (*places, *scalars, last))
    assert np.array_equal(data.numpy(), expected)
    assert np.array_equal(last.numpy(), sums)


def test_floats_are_added_in_their_order() -> None:
    device = shared_device(engine="jit")
    rows = np.random.default_rng(3).random((32, 100)).astype("f4") * 2.0 ** np.arange(100)[::-1].astype("f4")
    data, other, last = device.array(rows), device.zeros(3200, "f4"), device.zeros(64, "f4")
    expected = np.zeros(32, "f4")
    for column in rows.T:
        expected = expected + column
    device.load(ROWS.format(turn=FLOATS))["k"](1, 32, (data, other, np.uint32(400), np.uint32(100), last))
    assert np.array_equal(last.numpy()[:32], expected)


class Ended:
    """Rows of 64 words, of which the last ends where memory does, `left` words further on."""

    def __init__(self, left: int) -> None:
        device = simt.Device("sm_90", engine="jit", memory="16MiB")
        self.words = words_at_the_end(device, np.uint32(7))
        self.end = self.words.ptr + self.words.nbytes
        self.other, self.last = device.zeros(64 * 64, "u4"), device.zeros(64, "u4")
        start = np.uint64(self.end - 64 * 256 + 4 * left)
        self.arguments = (start, self.other, np.uint32(256), np.uint32(64), self.last)
        self.kernel = device.load(ROWS.format(turn=PLAIN))["k"]


def test_a_row_may_end_with_memory() -> None:
    ended = Ended(0)
    ended.kernel(1, 64, ended.arguments)
    assert np.array_equal(ended.other.numpy(), np.full(64 * 64, 10, "u4"))


@pytest.mark.parametrize("left", [1, 7, 63])
def test_the_first_word_beyond_the_end_is_named(left: int) -> None:
    ended = Ended(left)
    with pytest.raises(simt.MemoryFault, match=r"thread \(63, 0, 0\)") as caught:
        ended.kernel(1, 64, ended.arguments)
    assert caught.value.address == ended.end
