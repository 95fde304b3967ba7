"""Loads of words that lie side by side in each lane, which are done at once. NumPy expects."""

from __future__ import annotations

import numpy as np
import pytest

import simt

TEXT = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in, .param .u64 starts)
{{
    .reg .u32 %t, %i, %n, %v<9>, %s; .reg .u64 %o, %p, %q, %d, %w<5>; .reg .pred %e;
    ld.param.u64 %o, [out];
    ld.param.u64 %p, [in];
    ld.param.u64 %q, [starts];
    mov.u32 %t, %tid.x;
    mov.u32 %i, %ctaid.x;
    mov.u32 %n, %ntid.x;
    mad.lo.u32 %i, %i, %n, %t;
    mul.wide.u32 %d, %i, 4;
    add.u64 %q, %q, %d;
    add.u64 %o, %o, %d;
    ld.global.s32 %s, [%q];
    mul.wide.s32 %d, %s, 1;
    add.u64 %p, %p, %d;
    mov.u32 %s, 0;
    {loads}
    st.global.u32 [%o], %s;
    ret;
}}
"""
SUM = "mad.lo.u32 %s, %s, 31, "
FOUR = "\n".join(f"    ld.global.u32 %v{k}, [%p+{4 * k}];\n    {SUM}%v{k};" for k in range(4))
N = 200


def loaded(starts: np.ndarray, words: np.ndarray, loads: str = FOUR, cpu: str = "host") -> np.ndarray:
    device = simt.Device("sm_75", engine="jit", cpu=cpu, workers=1)
    out = device.zeros(len(starts), "u4")
    given = device.array(words), device.array(starts.astype("i4"))
    grid = -(-len(starts) // 64)
    assert grid * 64 == len(starts)
    device.load(TEXT.format(loads=loads))["k"](grid, 64, (out, *given))
    return np.array(out.numpy())


def expected(starts: np.ndarray, words: np.ndarray) -> np.ndarray:
    found = np.zeros(len(starts), "u4")
    for k in range(4):
        found = found * np.uint32(31) + words[starts // 4 + k]
    return found


@pytest.mark.parametrize("cpu", ["x86-64", "x86-64-v3", "x86-64-v4", "host"])
@pytest.mark.parametrize("stride", [1, 3, 4, 5, 16, 100])
def test_rows_of_words(cpu: str, stride: int) -> None:
    words = np.random.default_rng(1).integers(0, 1 << 32, 128 * stride + 8, "u4")
    for first in range(4):  # 16 bytes need not be aligned
        starts = 4 * (stride * np.arange(128) + first)
        np.testing.assert_array_equal(loaded(starts, words, cpu=cpu), expected(starts, words))


@pytest.mark.parametrize("cpu", ["x86-64", "x86-64-v4"])
def test_scattered_rows(cpu: str) -> None:
    rng = np.random.default_rng(2)
    words = rng.integers(0, 1 << 32, 5000, "u4")
    starts = 4 * rng.integers(0, 4996, 128)
    np.testing.assert_array_equal(loaded(starts, words, cpu=cpu), expected(starts, words))


def test_loops_over_rows() -> None:
    """Turns with and without the rest of a row: lanes leave at different ends."""
    turn = "\n".join(f"    ld.global.u32 %v{k}, [%p+{4 * k}];\n    {SUM}%v{k};" for k in range(4))
    loop = "and.b32 %t, %t, 7; mov.u32 %i, 0;\nL:\n" + turn
    loop += "\nadd.u64 %p, %p, 16; add.u32 %i, %i, 1; setp.le.u32 %e, %i, %t; @%e bra L;"
    words = np.random.default_rng(3).integers(0, 1 << 32, 128 * 40, "u4")
    starts = 4 * 37 * np.arange(128)
    wanted = np.zeros(128, "u4")
    for lane in range(128):
        for k in range(4 * (lane % 64 % 8 + 1)):
            wanted[lane] = np.uint32((int(wanted[lane]) * 31 + int(words[37 * lane + k])) % 2**32)
    np.testing.assert_array_equal(loaded(starts, words, loop), wanted)


def test_doubles() -> None:
    loads = "ld.global.u64 %w0, [%p]; ld.global.u64 %w1, [%p+8]; add.u64 %w0, %w0, %w1; cvt.u32.u64 %s, %w0;"
    words = np.random.default_rng(4).integers(0, 1 << 32, 128 * 10, "u4")
    starts = 40 * np.arange(128)
    np.testing.assert_array_equal(loaded(starts, words, loads), words[starts // 4] + words[starts // 4 + 2])


@pytest.mark.parametrize("lane", [0, 5, 31, 40])
@pytest.mark.parametrize(("shift", "word"), [(0, 0), (-4, 1), (-8, 2), (-12, 3)])
def test_a_fault_is_that_of_its_word(engine: str, lane: int, shift: int, word: int) -> None:
    """One lane's words lie around the end of memory."""
    device = simt.Device("sm_75", engine=engine, memory="1MiB")
    text = TEXT.format(loads=FOUR)
    words, out = device.zeros(5000, "u4"), device.zeros(64, "u4")
    starts = 80 * np.arange(64, dtype="i4")
    given = device.array(starts)
    kernel = device.load(text)["k"]
    kernel(1, 64, (out, words, given))  # it has all memory that it needs now
    given.numpy()[lane] = device.memory.limit - words.ptr + shift
    with pytest.raises(simt.MemoryFault) as caught:
        kernel(1, 64, (out, words, given))
    site = caught.value.site
    assert site.thread == (lane, 0, 0)
    assert caught.value.address == device.memory.limit
    assert text.split("\n")[(site.line or 0) - 1].strip().startswith(f"ld.global.u32 %v{word}, ")


def test_words_before_memory(engine: str) -> None:
    """The last load of the group is the first in the program, and may be made."""
    loads = "\n".join(f"    ld.global.u32 %v{k}, [%p+{4 * k}];" for k in (3, 2, 1, 0))
    device = simt.Device("sm_75", engine=engine, memory="1MiB")
    words, out = device.zeros(5000, "u4"), device.zeros(64, "u4")
    given = device.array(80 * np.arange(64, dtype="i4"))
    given.numpy()[7] = device.memory.base - words.ptr - 8
    text = TEXT.format(loads=loads)
    with pytest.raises(simt.MemoryFault) as caught:
        device.load(text)["k"](1, 64, (out, words, given))
    assert caught.value.address == device.memory.base - 4
    assert caught.value.site.thread == (7, 0, 0)


@pytest.mark.parametrize("beside", [1, 2, 3])
def test_words_that_are_not_aligned(engine: str, beside: int) -> None:
    device = simt.Device("sm_75", engine=engine)
    words, out = device.zeros(5000, "u4"), device.zeros(64, "u4")
    given = device.array(80 * np.arange(64, dtype="i4"))
    given.numpy()[9] += beside
    with pytest.raises(simt.MemoryFault, match="misaligned") as caught:
        device.load(TEXT.format(loads=FOUR))["k"](1, 64, (out, words, given))
    assert caught.value.site.thread == (9, 0, 0)
    assert caught.value.address == words.ptr + 80 * 9 + beside


def test_lanes_that_do_not_run_touch_nothing() -> None:
    """Their addresses are wild."""
    loads = "setp.lt.u32 %e, %t, 20; @%e bra GO;\n bra.uni END;\nGO:\n" + FOUR + "\nEND:"
    words = np.random.default_rng(5).integers(0, 1 << 32, 5000, "u4")
    starts = 4 * 60 * np.arange(64)
    wild = np.where(np.arange(64) < 20, starts, -(1 << 30))
    found = loaded(wild, words, loads)
    np.testing.assert_array_equal(found[:20], expected(starts, words)[:20])
    assert not found[20:].any()
