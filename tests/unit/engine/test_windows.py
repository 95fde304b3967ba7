"""Words in shared memory at places that are only known when the kernel runs: close together or far apart, in
the orders of butterflies or in any other; near the ends of the memory; with lanes that do not run."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

import simt
from simt.engine.llvm_windows import NEEDS
from tests.conftest import shared_device

WARP = 32
RUNS = 2**32 - 1
WILD = 0x7FFF_FFF0
"""A byte offset that no shared memory reaches."""
Words = NDArray[np.uint32]

KERNEL = """.version 7.5
.target sm_75
.address_size 64
.extern .shared .align 16 .b8 box[];
.visible .entry exchange(.param .u64 from, .param .u64 to, .param .u64 runs, .param .u64 values,
                         .param .u64 loaded, .param .u64 left, .param .u32 words)
{{
    .reg .pred %p, %q;
    .reg .b32 %t, %g, %i, %n, %box, %word, %run;
    .reg .b64 %a, %b, %o, %far;
    .reg .{type} %v, %w;
    mov.u32 %t, %tid.x;
    mov.u32 %box, box;
    ld.param.u32 %n, [words];
    mov.u32 %i, %ctaid.x;
    mad.lo.u32 %g, %i, 32, %t;
    mul.wide.u32 %o, %g, 4;
    ld.param.u64 %b, [runs];
    add.u64 %a, %b, %o;
    ld.global.u32 %run, [%a];
    setp.ne.u32 %p, %run, 0;
    mov.u32 %i, %t;
FILL:
    mad.lo.u32 %word, %i, 4, %box;
    mul.lo.u32 %g, %i, 0x01010101;
    st.shared.u32 [%word], %g;
    add.u32 %i, %i, 32;
    setp.lt.u32 %q, %i, %n;
    @%q bra FILL;
    bar.sync 0;
    ld.param.u64 %b, [from];
    add.u64 %a, %b, %o;
    ld.global.u32 %word, [%a];
    add.u32 %word, %word, %box;
    cvt.u64.u32 %far, %word;
    mov.{type} %v, {zero};
    @%p ld.shared.{type} %v, [{at}];
    ld.param.u64 %b, [loaded];
    add.u64 %a, %b, %o;
    st.global.{type} [%a], %v;
    bar.sync 0;
    ld.param.u64 %b, [values];
    add.u64 %a, %b, %o;
    ld.global.{type} %w, [%a];
    ld.param.u64 %b, [to];
    add.u64 %a, %b, %o;
    ld.global.u32 %word, [%a];
    add.u32 %word, %word, %box;
    cvt.u64.u32 %far, %word;
    @%p st.shared.{type} [{at}], %w;
    bar.sync 0;
    ld.param.u64 %b, [left];
    mov.u32 %i, %ctaid.x;
    mul.lo.u32 %g, %i, %n;
    mul.wide.u32 %a, %g, 4;
    add.u64 %b, %b, %a;
    mov.u32 %i, %t;
DRAIN:
    mad.lo.u32 %word, %i, 4, %box;
    ld.shared.u32 %g, [%word];
    mul.wide.u32 %a, %i, 4;
    add.u64 %a, %b, %a;
    st.global.u32 [%a], %g;
    add.u32 %i, %i, 32;
    setp.lt.u32 %q, %i, %n;
    @%q bra DRAIN;
    ret;
}}
"""
FORMS = {
    "u32": {"type": "u32", "zero": "0", "at": "%word"},
    "f32": {"type": "f32", "zero": "0f00000000", "at": "%word"},
    "u32 by 64 bits": {"type": "u32", "zero": "0", "at": "%far"},
}


def pairs(distance: int) -> Words:
    """First words of pairs, lane by lane."""
    lane = np.arange(WARP)
    return (2 * lane - lane % distance).astype("u4")


def orders(words: int) -> Iterator[tuple[str, Words]]:
    """Word indices of 32 lanes below `words`, with what they are."""
    lane, random = np.arange(WARP, dtype="u4"), np.random.default_rng(words)
    shapes = {f"pairs {d} apart": pairs(d) for d in (1, 2, 3, 4, 5, 8, 16, 31)}
    shapes |= {f"lane ^ {x}": lane ^ np.uint32(x) for x in (1, 2, 5, 8, 15, 16, 27)}
    shapes |= {"contiguous": lane, "backward": lane[::-1], "all the same": 0 * lane, "step 3": 3 * lane}
    shapes |= {"two and two": lane // 2, "all but one": np.where(lane == 9, 40, lane).astype("u4")}
    shapes |= {f"mixed {i}": random.permutation(64)[:WARP].astype("u4") for i in range(3)}
    shapes |= {f"drawn {i}": random.integers(0, words, WARP, "u4") for i in range(3)}
    for name, shape in shapes.items():
        room = words - int(shape.max()) - 1
        for base in sorted({0, 1, 2, 7, 8, 16, 31, 64, room - 1, room}):
            if 0 <= base <= room:
                yield f"{name}, from {base}", shape + np.uint32(base)


def masks() -> list[Words]:
    lane = np.arange(WARP)
    return [
        np.where(m, RUNS, 0).astype("u4")
        for m in (lane >= 0, lane % 3 != 0, (lane > 4) & (lane < 29), lane < 0)
    ]


def model(start: Words, places: Words, values: Words, runs: Words) -> Words:
    """Memory after a store: of lanes at one place the highest stays."""
    left = start.copy()
    for place, value, run in zip(places, values, runs, strict=True):
        if run:
            left[place] = value
    return left


@pytest.mark.parametrize("words", [40, 63, 64, 65, 100, 512])
@pytest.mark.parametrize("form", FORMS)
def test_every_order_loads_and_stores_words(engine: str, form: str, words: int) -> None:
    device = shared_device(engine)
    kernel = device.load(KERNEL.format(**FORMS[form]))["exchange"]
    cases = [(n, o, m) for n, o in orders(words) for m in masks()]
    places, runs = np.array([o for _, o, _ in cases]), np.array([m for _, _, m in cases])
    sources = places[::-1].copy()  # others than the targets
    values = np.random.default_rng(1).integers(0, 2**32, places.shape, "u4")
    values |= np.uint32(0x0040_0000)  # NaNs are quiet, so that moving them changes nothing
    wild = runs == 0
    given = [np.where(wild, WILD, 4 * p).astype("u4") for p in (sources, places)]
    loaded, left = device.zeros(places.shape, "u4"), device.zeros((len(cases), words), "u4")
    arrays = [device.array(a) for a in (*given, runs, values)]
    kernel((len(cases),), (WARP,), (*arrays, loaded, left, words), shared_mem=4 * words)
    start = (np.arange(words, dtype="u8") * 0x01010101).astype("u4")
    for i, (name, order, mask) in enumerate(cases):
        expected = np.where(mask != 0, start[sources[i]], 0)
        np.testing.assert_array_equal(loaded.numpy()[i], expected, f"load {i}")
        np.testing.assert_array_equal(left.numpy()[i], model(start, order, values[i], mask), name)


@pytest.mark.parametrize("store", [False, True])
@pytest.mark.parametrize(
    ("order", "lane", "wrong"),
    [
        (pairs(1), 31, 4 * 64),  # just beyond the end
        (pairs(4) + np.uint32(4), 17, 4 * 64),
        (np.arange(WARP, dtype="u4"), 0, 4 * 64),
        (pairs(2), 5, 4 * 8 + 2),  # misaligned
        (np.arange(WARP, dtype="u4"), 31, 4 * 31 + 1),
        (pairs(8), 0, 0xFFFF_FFFC),
    ],
)
def test_one_wrong_lane_faults(engine: str, store: bool, order: Words, lane: int, wrong: int) -> None:
    device = shared_device(engine)
    kernel = device.load(KERNEL.format(**FORMS["u32"]))["exchange"]
    good = (4 * order).astype("u4")
    bad = good.copy()
    bad[lane] = wrong
    runs, values = np.full(WARP, RUNS, "u4"), np.arange(WARP, dtype="u4")
    offsets = (good, bad) if store else (bad, good)
    arrays = [device.array(a) for a in (*offsets, runs, values)]
    with pytest.raises(simt.MemoryFault) as fault:
        kernel((1,), (WARP,), (*arrays, device.zeros(WARP, "u4"), device.zeros(64, "u4"), 64), shared_mem=256)
    assert fault.value.address == wrong
    assert fault.value.site.thread == (lane, 0, 0)
    device.synchronize()


@pytest.mark.parametrize("store", [False, True])
@pytest.mark.parametrize("start", [256, 4096, 0xFFFF_FF00, 256 - 64, 0xFFFF_FFC0])
@pytest.mark.parametrize("distance", [1, 16, 32])
def test_lanes_beyond_the_end_fault(engine: str, store: bool, start: int, distance: int) -> None:
    """In the best of orders, at places that begin with a line: all of them, the last, or the first."""
    device = shared_device(engine)
    kernel = device.load(KERNEL.format(**FORMS["u32"]))["exchange"]
    good = np.arange(0, 4 * WARP, 4, dtype="u4")
    bad = (4 * pairs(distance) + np.uint32(start)).astype("u4")
    offsets = (good, bad) if store else (bad, good)
    arrays = [device.array(a) for a in (*offsets, np.full(WARP, RUNS, "u4"), good)]
    with pytest.raises(simt.MemoryFault) as fault:
        kernel((1,), (WARP,), (*arrays, device.zeros(WARP, "u4"), device.zeros(64, "u4"), 64), shared_mem=256)
    assert fault.value.address == next(address for address in bad if address >= 256)


def test_which_cpus_use_windows() -> None:
    """The orders above would test nothing else than gathers if no code had windows."""
    from simt.analysis.shape import BlockShape
    from simt.engine.llvm_kernel import emit

    program = shared_device("jit").load(KERNEL.format(**FORMS["u32"])).program
    for features in (NEEDS, NEEDS - {"bmi2"}, frozenset[str]()):
        text, *_ = emit(program, program.functions["exchange"], BlockShape(WARP, 1, 1), features, "nounwind")
        assert ("simt.window" in text) is (features >= NEEDS)
