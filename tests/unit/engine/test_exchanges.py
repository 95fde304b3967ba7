"""Pairs of words in shared memory at indices that a mask has cut: loaded, and both stored in turn.

Lanes are in the order of pairs or not, and the two stores are to the same pairs or not, as the mask and the
distance say: known when compiling, or when the kernel runs."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import simt
from simt.analysis.shape import BlockShape
from simt.engine.llvm_exchanges import orders_of
from simt.engine.llvm_kernel import emit
from simt.engine.llvm_windows import NEEDS
from tests.conftest import shared_device
from tests.shares import share
from tests.unit.engine.older import device_of

WORDS = 160
WARP = 32
Words = NDArray[np.uint32]
SHORT = frozenset({"sse2", "avx", "avx2"})
"""A CPU without AVX-512."""

KERNEL = """.version 7.5
.target sm_75
.address_size 64
.visible .entry swap(.param .u64 runs, .param .u64 left, .param .u64 loaded,
                     .param .u32 mask, .param .u32 far, .param .u32 start)
{{
    .shared .align 64 .b8 box[640];
    .reg .pred %p, %q;
    .reg .b32 %t, %i, %n, %m, %far, %low, %high, %a, %b, %run, %box, %y;
    .reg .b64 %r, %o, %l;
    mov.u32 %t, %tid.x; mov.u32 %y, %tid.y; mov.u32 %n, %ntid.x; mov.u32 %box, box;
    mad.lo.u32 %i, %y, %n, %t;
    ld.param.u64 %r, [runs]; mul.wide.u32 %o, %i, 4; add.u64 %r, %r, %o; ld.global.u32 %run, [%r];
    setp.ne.u32 %p, %run, 0;
    ld.param.u32 %m, [mask]; ld.param.u32 %far, [far]; ld.param.u32 %n, [start];
FILL:
    shl.b32 %a, %i, 2; add.u32 %a, %a, %box; mul.lo.u32 %b, %i, 0x01010101;
    st.shared.u32 [%a], %b;
    add.u32 %i, %i, 16;
    setp.lt.u32 %q, %i, 160;
    @%q bra FILL;
    bar.sync 0;
    and.b32 %a, %t, {mask};
    shl.b32 %b, %t, 1;
    sub.u32 %a, %b, %a;
    add.u32 %a, %a, {start};
    shl.b32 %a, %a, 2; add.u32 %low, %box, %a;
    shl.b32 %b, {far}, 2; add.u32 %high, %low, %b;
    @!%p bra NEXT;
    {load} ld.shared.u32 %a, [%low];
    {load} ld.shared.u32 %b, [%high];
    add.u32 %m, %a, 1;
    sub.u32 %n, %b, %t;
    bra STORE;
STORE:
    st.shared.u32 [{one}], %n;
    st.shared.u32 [{other}], %m;
NEXT:
    bar.sync 0;
    mov.u32 %n, %ntid.x;
    mad.lo.u32 %i, %y, %n, %t;
    ld.param.u64 %l, [loaded]; mul.wide.u32 %o, %i, 8; add.u64 %l, %l, %o;
    @%p st.global.v2.u32 [%l], {{%a, %b}};
DRAIN:
    shl.b32 %a, %i, 2; add.u32 %a, %a, %box;
    ld.shared.u32 %b, [%a];
    ld.param.u64 %l, [left]; mul.wide.u32 %o, %i, 4; add.u64 %l, %l, %o;
    st.global.u32 [%l], %b;
    add.u32 %i, %i, 16;
    setp.lt.u32 %q, %i, 160;
    @%q bra DRAIN;
    ret;
}}
"""


def program(
    mask: str = "%m", far: str = "%far", start: str = "%n", swapped: bool = False, loads: bool = True
) -> str:
    one, other = ("%high", "%low") if swapped else ("%low", "%high")
    text = KERNEL.format(mask=mask, far=far, start=start, one=one, other=other, load="" if loads else "//")
    return text.replace("and.b32 %a, %t, 0;", "mov.u32 %a, 0;")  # a known step


def places(threads: tuple[int, int], mask: int, far: int, start: int) -> tuple[Words, Words]:
    """Word indices of the two accesses, thread by thread."""
    t = np.tile(np.arange(threads[0], dtype="u4"), threads[1])
    low = 2 * t - (t & np.uint32(mask)) + np.uint32(start)
    return low, low + np.uint32(far)


def model(
    low: Words, high: Words, runs: Words, threads: tuple[int, int], swapped: bool
) -> tuple[Words, Words]:
    """What is left in memory, and what was loaded. Of lanes at one place the highest stays."""
    box = (np.arange(WORDS, dtype="u8") * 0x01010101).astype("u4")
    t = np.tile(np.arange(threads[0], dtype="u4"), threads[1])
    a, b, left = box[low], box[high], box.copy()
    for where, values in _stores(low, high, a, b, t, swapped):
        for place, value, run in zip(where, values, runs, strict=True):
            if run:
                left[place] = value
    return left, np.where(runs[:, None] != 0, np.stack([a, b], axis=1), 0)


def _stores(
    low: Words, high: Words, a: Words, b: Words, t: Words, swapped: bool
) -> list[tuple[Words, Words]]:
    return [(high, b - t), (low, a + 1)] if swapped else [(low, b - t), (high, a + 1)]


def race(low: Words, high: Words) -> bool:
    """Whether two warps are at the same words."""
    owners = [set(low[i : i + WARP]) | set(high[i : i + WARP]) for i in range(0, len(low), WARP)]
    return sum(map(len, owners)) > len(set().union(*owners))


MASKS = (0, 1, 3, 7, 15, 31, 5, 30, 63, 0xFFFFFFF0)


@pytest.mark.share(4)
@pytest.mark.parametrize("swapped", [False, True], ids=["low first", "high first"])
@pytest.mark.parametrize("known", [False, True], ids=["at run time", "when compiled"])
@pytest.mark.parametrize(
    ("engine", "mask"),
    [("jit", mask) for mask in MASKS]
    + [(engine, mask) for engine in ("interpreter", "without AVX-512") for mask in share(MASKS, 5)],
)
def test_pairs_are_loaded_and_exchanged(engine: str, mask: int, known: bool, swapped: bool) -> None:
    device = device_of(engine)
    done = 0
    for far in (mask % WARP + 1, 3) if known else (1, 2, 4, 8, 16, 32, 3, 0):
        text = program(str(mask), str(far), swapped=swapped) if known else program(swapped=swapped)
        kernel = device.load(text)["swap"]
        for threads in ((32, 1), (40, 1), (16, 2)):
            count = threads[0] * threads[1]
            low, high = places(threads, mask, far, 0)
            room = WORDS - 1 - int(max(low.max(), high.max()))
            for start in (0, 17, room):
                low, high = places(threads, mask, far, start)
                if max(low.max(), high.max()) >= WORDS or race(low, high):
                    continue
                for runs in (np.ones(count, "u4"), np.arange(count, dtype="u4") % 3):
                    left, loaded = device.zeros(WORDS, "u4"), device.zeros((count, 2), "u4")
                    kernel((1,), threads, (device.array(runs), left, loaded, mask, far, start))
                    expected = model(low, high, runs, threads, swapped)
                    what = f"{far} apart, {threads} threads from {start}, {int((runs != 0).sum())} run"
                    np.testing.assert_array_equal(loaded.numpy(), expected[1], what)
                    np.testing.assert_array_equal(left.numpy(), expected[0], what)
                    done += 1
    assert done > 10


@pytest.mark.parametrize("swapped", [False, True], ids=["low first", "high first"])
@pytest.mark.parametrize("far", [1, 2, 4, 8, 16])
def test_bounds_known_before_are_enough(device: simt.Device, far: int, swapped: bool) -> None:
    """Everything is constant but the thread's index: no address is checked, up to the memory's last word."""
    for start in (0, 1, WORDS - 64):
        low, high = places((WARP, 1), far - 1, far, start)
        kernel = device.load(program(str(far - 1), str(far), str(start), swapped))["swap"]
        runs, left, loaded = (
            np.arange(WARP, dtype="u4") % 5,
            device.zeros(WORDS, "u4"),
            device.zeros((WARP, 2), "u4"),
        )
        kernel((1,), (WARP,), (device.array(runs), left, loaded, 0, 0, 0))
        expected = model(low, high, runs, (WARP, 1), swapped)
        np.testing.assert_array_equal(left.numpy(), expected[0], str(start))
        np.testing.assert_array_equal(loaded.numpy(), expected[1], str(start))


@pytest.mark.parametrize("known", [False, True], ids=["at run time", "when compiled"])
@pytest.mark.parametrize("loads", [False, True], ids=["store", "load"])
@pytest.mark.parametrize(
    ("mask", "far", "start"),
    [
        (3, 4, WORDS - 63),
        (0, 1, WORDS - 63),
        (15, 16, WORDS - 8),
        (7, 8, WORDS),
        (3, 4, 2**30 - 8),
        (1, 2, 2**29),
        (3, 100, 1),
    ],
)
def test_lanes_beyond_the_end_fault(
    engine: str, mask: int, far: int, start: int, loads: bool, known: bool
) -> None:
    """The first of them, at the first access that has one; also where the other is known before to be right,
    or to be wrong."""
    device = shared_device(engine)
    text = program(str(mask), str(far), str(start), loads=loads) if known else program(loads=loads)
    kernel = device.load(text)["swap"]
    low, high = places((WARP, 1), mask, far, start)
    addresses = [(4 * place.astype("u8") % 2**32) for place in (low, high)]
    wrong = next(a for a in addresses if (a >= 4 * WORDS).any())
    lane = int(np.argmax(wrong >= 4 * WORDS))
    runs, left, loaded = np.ones(WARP, "u4"), device.zeros(WORDS, "u4"), device.zeros((WARP, 2), "u4")
    with pytest.raises(simt.MemoryFault) as fault:
        kernel((1,), (WARP,), (device.array(runs), left, loaded, mask, far, start))
    assert fault.value.address == wrong[lane]
    assert fault.value.site.thread == (lane, 0, 0)
    device.synchronize()


def test_which_masks_make_orders() -> None:
    """`2 * i - (i & mask)` words are the firsts of pairs where the mask's last bits are ones, and they alone;
    `i + (i & mask)` are where they are zeros."""
    for step, factor, cut in ((8, -4, 0), (4, 4, 31)):
        found = {mask ^ cut: order for mask, order in enumerate(orders_of(step, factor)) if order}
        assert found == {0: 2, 1: 3, 3: 4, 7: 5, 15: 6}
    assert not any(orders_of(0, 4))


@pytest.mark.parametrize(
    "features", [NEEDS, SHORT, NEEDS - {"bmi2"}], ids=["with", "by short registers", "without"]
)
def test_which_cpus_exchange(features: frozenset[str]) -> None:
    """The tests above would test nothing else than gathers if no code had exchanges."""
    loaded = shared_device("jit").load(program()).program
    text, *_ = emit(loaded, loaded.functions["swap"], BlockShape(WARP, 1, 1), features, "nounwind")
    for what in ("pairs.load", "pairs.store", "pairs.exchange"):
        assert (f"@simt.{what}" in text) is (features >= NEEDS or features >= SHORT)


@pytest.mark.parametrize("row", [WARP, WARP // 2])
def test_words_in_twos_are_pairs(row: int) -> None:
    """Stores to `2 * tid` and the word behind it, in warps of one row of threads, are one."""
    loaded = shared_device("jit").load(program("0", "1")).program
    shape = BlockShape(row, WARP // row, 1)
    text, *_ = emit(loaded, loaded.functions["swap"], shape, NEEDS, "nounwind")
    assert ("@simt.pairs.exchange" in text) is (row == WARP)
