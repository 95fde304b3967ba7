"""Lanes as far apart as the rows of a matrix: `simt.engine.llvm_pitches`, `llvm_following`."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.analysis.shape import PITCHED, UNIFORM, VARYING, BlockShape, constant
from simt.analysis.shape_algebra import ShapeAlgebra
from simt.engine.host import SLOW_GATHERS, named_cpus
from simt.engine.llvm_kernel import emit
from simt.ptx.types import U32, U64
from tests.unit.engine.arrays import words_at_the_end

HEAD = ".version 7.0\n.target sm_75\n.address_size 64\n"
THREADS, TURNS, WORDS = 72, 3, 1 << 14
FOUR = (-8, -4, 0, 4)
PITCHES = (100, 33, 64, 1, 0, -100, 1024)
"""Words from a thread's row to the next one's."""


def kernel(
    offsets: tuple[int, ...] = FOUR, size: int = 4, between: str = "", steps: str = "", store: str = ""
) -> str:
    """Each thread goes through its row by as many words a turn as there are offsets."""
    loads = "".join(
        f"ld.global.b{8 * size} %w{'h' * (size < 4)}, [%p+{offset}]; {widened(size)}"
        f"mul.lo.u64 %sum, %sum, 3; add.u64 %sum, %sum, %v; {between}"
        for offset in offsets
    )
    return f"""{HEAD}
.visible .entry k(.param .u64 in, .param .u64 out, .param .s32 pitch, .param .s32 first, .param .u32 most)
{{
    .reg .pred %e; .reg .b64 %g, %p, %o, %a, %sum, %v; .reg .b32 %t, %n, %pitch, %x, %first;
    .reg .b{8 * size} %w; .reg .b16 %wh;
    ld.param.u64 %g, [in]; ld.param.u64 %o, [out]; ld.param.s32 %pitch, [pitch];
    ld.param.s32 %first, [first]; ld.param.u32 %n, [most];
    mov.u32 %t, %tid.x;
    setp.ge.u32 %e, %t, %n; @%e bra END;
    mad.lo.s32 %x, %t, %pitch, %first; {steps}
    mul.wide.s32 %a, %x, {size}; add.u64 %p, %g, %a;
    mov.u64 %sum, 0; mov.u32 %n, {TURNS};
    L:
    {loads}
    add.u64 %p, %p, {size * len(offsets)};
    add.s32 %n, %n, -1; setp.gt.s32 %e, %n, 0; @%e bra L;
    {store or "mul.wide.u32 %a, %t, 8; add.u64 %o, %o, %a; st.global.u64 [%o], %sum;"}
    END: ret;
}}
"""


def widened(size: int) -> str:
    return {
        1: "cvt.u64.u16 %v, %wh; and.b64 %v, %v, 255;",
        2: "cvt.u64.u16 %v, %wh;",
        4: "cvt.u64.u32 %v, %w;",
        8: "mov.b64 %v, %w;",
    }[size]


def launched(
    device: simt.Device, text: str, data: np.ndarray, pitch: int, first: int, most: int
) -> np.ndarray:
    out = device.zeros(THREADS, "u8")
    array = device.array(data)
    device.load(text)["k"](1, THREADS, (array, out, np.int32(pitch), np.int32(first), np.uint32(most)))
    return out.numpy()


def summed(data: np.ndarray, rows: np.ndarray, words: list[int], turn: int, most: int) -> list[int]:
    """`rows`: where each thread begins; `words`: which it reads in a turn, from where it is."""
    total = np.zeros(THREADS, "u8")
    for k in range(TURNS):
        for word in words:
            total[:most] = total[:most] * np.uint64(3) + data[rows[:most] + word + k * turn].astype("u8")
    return total.tolist()


@pytest.mark.parametrize("pitch", PITCHES)
@pytest.mark.parametrize("most", [THREADS, 40, 33, 3])
def test_rows_by_four_words(device: simt.Device, pitch: int, most: int) -> None:
    data = np.random.default_rng(5).integers(0, 2**32, 1 << 17, "u4")
    first = 1 << 16 if pitch < 0 else 9
    rows = first + pitch * np.arange(THREADS)
    expected = summed(data, rows, [-2, -1, 0, 1], 4, most)
    assert launched(device, kernel(), data, pitch, first, most).tolist() == expected


@pytest.mark.parametrize(
    "offsets", [(0,), (4, 0, -4, -8), (0, 4, 8), (0, 16, 4, 20, 8, 24, 12, 28), (0, 4, 0, 8), (0, 8, 16, 24)]
)
@pytest.mark.parametrize("pitch", [100, 0])
def test_words_in_any_order(device: simt.Device, offsets: tuple[int, ...], pitch: int) -> None:
    data = np.random.default_rng(6).integers(0, 2**32, WORDS, "u4")
    expected = summed(data, 9 + pitch * np.arange(THREADS), [o // 4 for o in offsets], len(offsets), 70)
    assert launched(device, kernel(offsets), data, pitch, 9, 70).tolist() == expected


@pytest.mark.parametrize("size", [1, 2, 4, 8])
@pytest.mark.parametrize("pitch", [100, 7, -3])
def test_words_of_all_sizes(device: simt.Device, size: int, pitch: int) -> None:
    data = np.random.default_rng(7).integers(0, 2 ** (8 * size), WORDS, f"u{size}")
    expected = summed(data, 400 + pitch * np.arange(THREADS), [0, 1, 2, 3], 4, 70)
    offsets = tuple(size * i for i in range(4))
    assert launched(device, kernel(offsets, size), data, pitch, 400, 70).tolist() == expected


def test_a_lane_that_is_elsewhere(device: simt.Device) -> None:
    """The first, second and last lanes are as they should be, but not lane 17; or that does not run."""
    data = np.random.default_rng(8).integers(0, 2**32, WORDS, "u4")
    steps = "setp.eq.u32 %e, %t, 17; @%e add.s32 %x, %x, 5;"
    rows = 9 + 100 * np.arange(THREADS) + 5 * (np.arange(THREADS) == 17)
    for most in (THREADS, 17):
        expected = summed(data, rows, [-2, -1, 0, 1], 4, most)
        assert launched(device, kernel(steps=steps), data, 100, 9, most).tolist() == expected


def test_stores_of_sums_into_what_is_read(device: simt.Device) -> None:
    """Each thread's sum so far is stored: apart from all rows, or into some of them. Threads of a warp are in
    step, as CTAs of one warp show."""
    data = np.random.default_rng(13).integers(0, 2**32, WORDS, "u4")
    between = "mul.wide.u32 %a, %t, 4; add.u64 %a, %o, %a; st.global.u32 [%a], %sum32;"
    text = kernel(between=f"cvt.u32.u64 %sum32, %sum; {between}", store="mov.u32 %x, 0;")
    text = text.replace(".reg .b32 %t,", ".reg .b32 %sum32, %t,")
    k = device.load(text)["k"]
    for start in (4000, 3100, 3118, 0, 7, 1500, 9 - 32 - 2, 9 - 32):
        array, places = device.array(np.concatenate([data[:64], data])), np.arange(32)
        k(1, 32, (array.ptr + 256, array.ptr + 256 + 4 * start, np.int32(100), np.int32(9), np.uint32(32)))
        words, total = np.concatenate([data[:64], data]), np.zeros(32, "u8")
        for turn in range(TURNS):
            for at in (-2, -1, 0, 1):
                total = total * np.uint64(3) + words[64 + 9 + 100 * places + 4 * turn + at]
                words[64 + start : 64 + start + 32] = total.astype("u4")
        assert array.numpy().tolist() == words.tolist(), start


@pytest.mark.parametrize("where", ["%p+4", "%p+-4", "%g+0"])
def test_stores_between_loads(device: simt.Device, where: str) -> None:
    """To a word that was, or is still to be, loaded by the same thread; all threads store to `%g`, a word
    that none of them loads."""
    data = np.random.default_rng(9).integers(0, 2**32, WORDS, "u4")
    between = f"st.global.u32 [{where}], %n;"
    changed, total = data.copy(), np.zeros(THREADS, "u8")
    for t in range(THREADS):
        for k in range(TURNS):
            for offset in (-2, -1, 0, 1):
                at = 9 + 100 * t + 4 * k
                total[t] = total[t] * np.uint64(3) + np.uint64(changed[at + offset])
                changed[at + int(where[3:]) // 4 if where != "%g+0" else 0] = TURNS - k
    found = launched(device, kernel(between=between), data, 100, 9, THREADS)
    assert found.tolist() == total.tolist()


@pytest.mark.parametrize("most", [72, 64, 20])
@pytest.mark.parametrize("pitch", [100, 3, -100, 0])
def test_columns_are_stored(device: simt.Device, most: int, pitch: int) -> None:
    """Where all threads store to one place, the last one's stays."""
    text = kernel(store="mul.wide.s32 %a, %x, 4; add.u64 %o, %o, %a; st.global.u32 [%o], %t;")
    data = np.zeros(WORDS, "u4")
    out = device.zeros(WORDS, "u4")
    first = 8000 if pitch < 0 else 9
    arguments = np.int32(pitch), np.int32(first), np.uint32(most)
    device.load(text)["k"](1, THREADS, (device.array(data), out, *arguments))
    expected = np.zeros(WORDS, "u4")
    for t in range(most):
        expected[first + pitch * t] = t
    assert out.numpy().tolist() == expected.tolist()


@pytest.mark.parametrize("left", [3103, 3105, 3107, 3109, 3000, 1])
def test_the_first_lane_beyond_the_end(engine: str, left: int) -> None:
    """`left`: words from where the first lane begins to the end."""
    device = simt.Device("sm_90", engine=engine, memory="64MiB", timeout=20)
    last = words_at_the_end(device, np.uint32(7))
    words = last.nbytes // 4
    start = words - left
    k = device.load(kernel())["k"]
    turns = (
        (t, start + 100 * t + 4 * turn + at)
        for turn in range(TURNS)
        for at in (-2, -1, 0, 1)
        for t in range(32)
    )
    lane, place = next((t, at) for t, at in turns if at >= words)
    with pytest.raises(simt.MemoryFault) as error:
        k(1, 32, (last, last, np.int32(100), np.int32(start), np.uint32(32)))
    assert error.value.address == last.ptr + 4 * place
    assert error.value.site.thread == (lane, 0, 0)


ANYWHERE = (
    "mul.lo.u32 %x, %t, %t; mul.lo.u32 %x, %x, 37; and.b32 %x, %x, 1023; mad.lo.s32 %x, %x, %pitch, %first;"
)
"""Rows in no order."""
SETS = [(0, 4), (4, 0), (0, 8, 4), FOUR, (0, -4, 4), (0, 4, 100, 104), (0, 8), (-4, 0, 0, 4)]


def anywhere(pitch: int, first: int) -> np.ndarray:
    t = np.arange(THREADS)
    return (t * t * 37 & 1023) * pitch + first


@pytest.mark.parametrize("offsets", SETS, ids=str)
@pytest.mark.parametrize(("pitch", "most"), [(15, THREADS), (15, 33), (1, 50), (-15, THREADS)])
def test_words_of_rows_in_no_order(
    device: simt.Device, offsets: tuple[int, ...], pitch: int, most: int
) -> None:
    data = np.random.default_rng(11).integers(0, 2**32, 1 << 15, "u4")
    first = 9 if pitch > 0 else 1 << 14
    expected = summed(data, anywhere(pitch, first), [o // 4 for o in offsets], len(offsets), most)
    found = launched(device, kernel(offsets, steps=ANYWHERE), data, pitch, first, most)
    assert found.tolist() == expected


@pytest.mark.parametrize("offsets", SETS, ids=str)
@pytest.mark.parametrize("left", [400, 1400, 0])
def test_a_row_in_no_order_beyond_the_end(engine: str, offsets: tuple[int, ...], left: int) -> None:
    """Words that nobody asks for may lie beyond it."""
    device = simt.Device("sm_90", engine=engine, memory="64MiB", timeout=20)
    last = words_at_the_end(device, np.uint32(7))
    words = last.nbytes // 4
    k = device.load(kernel(offsets, steps=ANYWHERE))["k"]
    rows = anywhere(1, words - left)[:32]
    turns = (
        (t, int(rows[t]) + len(offsets) * turn + offset // 4)
        for turn in range(TURNS) for offset in offsets for t in range(32)
    )  # fmt: skip
    wrong = next(((t, at) for t, at in turns if at >= words), None)
    arguments = last, last, np.int32(1), np.int32(words - left), np.uint32(32)
    if wrong is None:
        k(1, 32, arguments)
        return
    with pytest.raises(simt.MemoryFault) as error:
        k(1, 32, arguments)
    assert error.value.address == last.ptr + 4 * wrong[1]
    assert error.value.site.thread == (wrong[0], 0, 0)


@pytest.mark.parametrize("offsets", [(0, 4), FOUR])
def test_lanes_that_do_not_run_are_anywhere(device: simt.Device, offsets: tuple[int, ...]) -> None:
    """Their addresses are of no memory at all."""
    data = np.random.default_rng(12).integers(0, 2**32, WORDS, "u4")
    steps = f"{ANYWHERE} setp.ge.u32 %e, %t, 21; @%e mov.s32 %x, 0x7ffffff0; @%e bra END;"
    expected = summed(data, anywhere(3, 9), [o // 4 for o in offsets], len(offsets), 21)
    found = launched(device, kernel(offsets, steps=steps), data, 3, 9, THREADS)
    assert found.tolist() == expected


BYTES = [
    (3, 2, 1, 0),
    (0, 1),
    (1, 0, 2),
    (-1, 0, 1, 2, 3, 4),
    (0, 2),
    (0, 0, 1),
    (0, 3),
    (5, 0, 4, 1),
    (-2, -1),
]


@pytest.mark.parametrize("offsets", BYTES, ids=str)
@pytest.mark.parametrize("steps", [ANYWHERE, ""], ids=["in no order", "rows"])
@pytest.mark.parametrize(("pitch", "most"), [(15, THREADS), (-15, 33), (0, 50), (1, THREADS)])
def test_bytes(device: simt.Device, offsets: tuple[int, ...], steps: str, pitch: int, most: int) -> None:
    data = np.random.default_rng(13).integers(0, 256, 1 << 15, "u1")
    first = 9 if pitch > 0 else 1 << 14
    rows = anywhere(pitch, first) if steps else first + pitch * np.arange(THREADS)
    expected = summed(data, rows, list(offsets), len(offsets), most)
    found = launched(device, kernel(offsets, 1, steps=steps), data, pitch, first, most)
    assert found.tolist() == expected


@pytest.mark.parametrize("offsets", BYTES, ids=str)
@pytest.mark.parametrize("left", [400, 1400])
def test_bytes_in_no_order_beyond_the_end(engine: str, offsets: tuple[int, ...], left: int) -> None:
    device = simt.Device("sm_90", engine=engine, memory="64MiB", timeout=20)
    last = words_at_the_end(device, np.uint32(7))
    k = device.load(kernel(offsets, 1, steps=ANYWHERE))["k"]
    rows = anywhere(1, last.nbytes - left)[:32]
    turns = (
        (t, int(rows[t]) + len(offsets) * turn + offset)
        for turn in range(TURNS) for offset in offsets for t in range(32)
    )  # fmt: skip
    wrong = next(((t, at) for t, at in turns if at >= last.nbytes), None)
    arguments = last, last, np.int32(1), np.int32(last.nbytes - left), np.uint32(32)
    if wrong is None:
        k(1, 32, arguments)
        return
    with pytest.raises(simt.MemoryFault) as error:
        k(1, 32, arguments)
    assert error.value.address == last.ptr + wrong[1]
    assert error.value.site.thread == (wrong[0], 0, 0)


def test_bytes_side_by_side_are_loaded_together() -> None:
    for more in (frozenset({SLOW_GATHERS}), frozenset[str]()):
        assert code(kernel((3, 2, 1, 0), 1), more).count("call <128 x i8> @simt.words") == 1
        assert code(kernel((0, 1), 1), more).count("call <64 x i8> @simt.words") == 1
        assert "@simt.words" not in code(kernel((0, 2), 1), more)
        stored = kernel((0, 1), 1, between="st.global.u8 [%p+1], %wh;")
        assert "@simt.words" not in code(stored, more)


def test_rows_that_are_not_aligned(device: simt.Device) -> None:
    array = device.array(np.zeros(WORDS, "u4"))
    text = kernel().replace("mul.wide.s32 %a, %x, 4;", "cvt.s64.s32 %a, %x;")
    with pytest.raises(simt.MemoryFault) as error:
        device.load(text)["k"](1, 32, (array, array, np.int32(102), np.int32(8), np.uint32(32)))
    assert error.value.site.thread == (1, 0, 0)


def code(text: str, more: frozenset[str] = frozenset({SLOW_GATHERS}), cpu: str = "x86-64-v4") -> str:
    program = simt.Device("sm_90").load(text).program
    features = named_cpus()[cpu].features - {SLOW_GATHERS} | more
    return emit(program, program.functions["k"], BlockShape(64, 1, 1), features, "nounwind")[0]


def test_four_words_are_loaded_together() -> None:
    assert code(kernel()).count("call <128 x i32> @simt.rows") == 1
    between = "mul.wide.u32 %a, %t, 4; add.u64 %a, %o, %a; st.global.u32 [%a], %n;"
    assert code(kernel(between=between)).count("call <128 x i32> @simt.rows") == 1
    for none in ("st.global.u32 [%p+4], %n;", "st.u32 [%g], %n;", "st.shared.u32 [%n], %n;", "membar.cta;"):
        assert "@simt.rows" not in code(kernel(between=none))
    assert code(kernel()).count("load i1, ptr") == 3
    assert "load i1, ptr %" not in code(kernel(between="ld.volatile.global.u32 %n, [%g];"))
    assert "@simt.rows" not in code(kernel((0, 400, 800, 1200)))
    assert "@simt.pitch" in code(kernel((0,)))
    assert code(kernel()).count("call <128 x i32> @simt.words") == 1
    assert code(kernel((0, 4))).count("call <64 x i32> @simt.words") == 1


def test_four_words_are_loaded_together_with_avx2() -> None:
    text = code(kernel(), cpu="x86-64-v3")
    assert text.count("call <128 x i32> @simt.rows") == 1
    assert text.count("call <128 x i32> @simt.words") == 1
    assert "@simt.words" not in code(kernel((0, 4)), cpu="x86-64-v3")


def test_updates_of_shared_memory_change_nothing_in_global_memory() -> None:
    for update in ("atom.shared.add.u32 %x, [%n], %n;", "red.shared.max.u32 [%n], %n;"):
        assert code(kernel(between=update)).count("call <128 x i32> @simt.rows") == 1
        generic = kernel(between=update).replace("ld.global", "ld")
        assert "@simt.rows" not in code(generic)
    for order in (
        "atom.shared.add.u32 %x, [%n], %n; add.u32 %first, %first, %x;",
        "atom.shared.exch.b32 %x, [%n], %n;",
        "atom.shared.cas.b32 %x, [%n], %n, 1;",
        "atom.acquire.cta.shared.add.u32 %x, [%n], %n;",
        "red.global.add.u32 [%g], %n;",
        "@%e red.shared.max.u32 [%n], %n;",
    ):
        assert "@simt.rows" not in code(kernel(between=order))


def test_four_words_of_rows_are_loaded_together_where_gathers_are_fast() -> None:
    assert code(kernel(), frozenset()).count("call <128 x i32> @simt.rows") == 1
    assert "@simt.words" not in code(kernel(), frozenset())
    for one_by_one in (kernel((0, 4)), kernel((0,))):
        assert "@simt.rows" not in code(one_by_one, frozenset())
        assert "@simt.pitch" not in code(one_by_one, frozenset())


def test_what_may_be_rows() -> None:
    algebra = ShapeAlgebra(BlockShape(64, 2, 1))
    x, y = algebra.special("tid", "x"), algebra.special("tid", "y")
    row = algebra.mul(U32, UNIFORM, algebra.add(U32, x, UNIFORM))
    assert row == PITCHED
    moved = algebra.shift_left(U64, algebra.resize(U32, U64, algebra.add(U32, row, x)), constant(2))
    assert algebra.add(U64, moved, UNIFORM) == PITCHED
    assert algebra.add(U32, row, VARYING) == VARYING
    assert algebra.mul(U32, y, UNIFORM) == UNIFORM
    assert algebra.mul(U32, x, x) == VARYING
    assert algebra.mul(U32, VARYING, UNIFORM) == VARYING


def test_rows_of_less_than_a_warp_are_not_looked_at() -> None:
    algebra = ShapeAlgebra(BlockShape(16, 4, 1))
    assert algebra.mul(U32, algebra.special("tid", "x"), UNIFORM) == VARYING


def test_indices_from_memory_are_no_rows() -> None:
    steps = "mul.wide.u32 %a, %t, 4; add.u64 %a, %g, %a; ld.global.u32 %x, [%a]; and.b32 %x, %x, 1023;"
    assert "@simt.pitch" not in code(kernel((0,), steps=steps))
