"""16 bytes of each lane in shared memory, at places that are only known when the kernel runs: within a window
or not, misaligned, near the ends of the memory; with lanes that do not run."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

import simt
from simt.analysis.shape import BlockShape
from simt.engine.llvm_kernel import emit
from simt.engine.llvm_windows import NEEDS
from tests.conftest import shared_device

WARP, SIZE = 32, 16
Places = NDArray[np.uint32]
KERNEL = """.version 7.5
.target sm_75
.address_size 64
.extern .shared .align 16 .b8 box[];
.visible .entry look(.param .u64 from, .param .u64 runs, .param .u64 filled,
                     .param .u64 loaded, .param .u32 words)
{{
    .reg .pred %p, %q; .reg .b32 %t, %g, %i, %n, %box, %word, %run; .reg .b64 %a, %b, %o, %far;
    .reg .{type} %v<4>; .reg .b32 %w;
    mov.u32 %t, %tid.x; mov.u32 %box, box; ld.param.u32 %n, [words];
    mov.u32 %i, %ctaid.x; mad.lo.u32 %g, %i, 32, %t; mul.wide.u32 %o, %g, 4;
    ld.param.u64 %b, [runs]; add.u64 %a, %b, %o; ld.global.u32 %run, [%a]; setp.ne.u32 %p, %run, 0;
    ld.param.u64 %b, [filled];
    mov.u32 %i, %t;
FILL:
    mul.wide.u32 %a, %i, 4; add.u64 %a, %b, %a; ld.global.u32 %w, [%a];
    mad.lo.u32 %word, %i, 4, %box; st.shared.u32 [%word], %w;
    add.u32 %i, %i, 32; setp.lt.u32 %q, %i, %n;
    @%q bra FILL;
    bar.sync 0;
    ld.param.u64 %b, [from]; add.u64 %a, %b, %o; ld.global.u32 %word, [%a]; add.u32 %word, %word, %box;
    cvt.u64.u32 %far, %word;
    {zeros}
    @%p ld.shared.v{count}.{type} {list}, [{at}];
    ld.param.u64 %b, [loaded]; mul.lo.u64 %o, %o, 4; add.u64 %a, %b, %o;
    st.global.v{count}.{type} [%a], {list};
    ret;
}}
"""
TYPES = {"u32": 4, "f32": 4, "f64": 8, "u64": 8}


def source(t: str, at: str = "%word") -> str:
    count = SIZE // TYPES[t]
    registers = [f"%v{i}" for i in range(count)]
    zero = {"u": "0", "f": {4: "0f00000000", 8: "0d0000000000000000"}[TYPES[t]]}[t[0]]
    zeros = " ".join(f"mov.{t} {name}, {zero};" for name in registers)
    return KERNEL.format(type=t, count=count, zeros=zeros, list="{" + ", ".join(registers) + "}", at=at)


def orders(rooms: int) -> Iterator[Places]:
    """Numbers of places of 16 bytes, for 32 lanes, below `rooms`."""
    lane, random = np.arange(WARP, dtype="u4"), np.random.default_rng(rooms)
    shapes = [lane // 4, lane % 8, lane // 8 % 2 * 8 + lane % 8, lane ^ 5, lane % 8 ^ lane // 8, 0 * lane]
    shapes += [7 - lane % 8, np.where(lane == 9, 15, 0), np.where(lane == 20, 16, 0), lane, lane // 2]
    shapes += [random.integers(0, most, WARP) for most in (4, 8, 12, 16, 17)]
    for shape in shapes:
        room = rooms - int(shape.max()) - 1
        for base in sorted({0, 1, 3, 7, 8, 11, room - 1, room}):
            if 0 <= base <= room:
                yield (shape + base).astype("u4")


def masks() -> list[Places]:
    lane = np.arange(WARP)
    return [(m * (2**32 - 1)).astype("u4") for m in (lane >= 0, lane % 3 != 0, lane > 4, lane < 0)]


@pytest.mark.parametrize("rooms", [9, 16, 17, 24, 64])
@pytest.mark.parametrize("at", ["%word", "%far"])
@pytest.mark.parametrize("t", TYPES)
def test_every_lane_has_its_words(engine: str, t: str, at: str, rooms: int) -> None:
    device = shared_device(engine)
    cases = [(order, mask) for order in orders(rooms) for mask in masks()]
    places, runs = (np.array(column) for column in zip(*cases, strict=True))
    filled = np.random.default_rng(7).integers(0, 2**32, 4 * rooms, "u4") | np.uint32(0x0048_0000)
    offsets = np.where(runs == 0, 0x7FFF_FFF0, SIZE * places).astype("u4")
    loaded = device.zeros((len(cases), WARP, 4), "u4")
    arrays = [device.array(a) for a in (offsets, runs, filled)]
    kernel = device.load(source(t, at))["look"]
    kernel((len(cases),), (WARP,), (*arrays, loaded, len(filled)), shared_mem=filled.nbytes)
    expected = np.where((runs != 0)[:, :, None], filled.reshape(-1, 4)[places], 0)
    np.testing.assert_array_equal(loaded.numpy(), expected)


@pytest.mark.parametrize(
    ("lane", "wrong"),
    [(31, SIZE * 16), (17, SIZE * 16), (0, SIZE * 16), (5, 8), (31, SIZE * 7 + 4), (0, 1), (0, 0xFFFF_FFF0)],
)
@pytest.mark.parametrize("t", ["f32", "f64"])
def test_one_wrong_lane_faults(engine: str, t: str, lane: int, wrong: int) -> None:
    device = shared_device(engine)
    offsets = (SIZE * (np.arange(WARP) % 16)).astype("u4")
    offsets[lane] = wrong
    filled = np.arange(64, dtype="u4")
    arrays = [device.array(a) for a in (offsets, np.ones(WARP, "u4"), filled)]
    with pytest.raises(simt.MemoryFault) as fault:
        device.load(source(t))["look"](
            (1,), (WARP,), (*arrays, device.zeros(4 * WARP, "u4"), 64), shared_mem=256
        )
    assert fault.value.address == wrong
    assert fault.value.site.thread == (lane, 0, 0)


@pytest.mark.parametrize("t", TYPES)
def test_which_cpus_use_windows(t: str) -> None:
    """The orders above would test nothing else than loads of each lane if no code had windows."""
    program = shared_device("jit").load(source(t)).program
    for features in (NEEDS, NEEDS - {"bmi2"}, frozenset[str]()):
        text, *_ = emit(program, program.functions["look"], BlockShape(WARP, 1, 1), features, "nounwind")
        assert ("simt.together" in text) is (features >= NEEDS)
