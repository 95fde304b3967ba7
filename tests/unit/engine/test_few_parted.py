"""Few lanes that have parted by what memory holds go one by one through loops that all leave together.
Expectations are NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.host import host_features
from simt.engine.llvm_kernel import emit
from tests.conftest import shared_device

THREADS, TURNS, BINS = 96, 5, 40
SOURCE = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 flags, .param .u64 bins, .param .u64 out, .param .u32 turns)
{
    .reg .pred %p, %more; .reg .b32 %t, %f, %i, %n, %x, %sum; .reg .b64 %flags, %bins, %out, %a, %m;
    ld.param.u64 %flags, [flags]; ld.param.u64 %bins, [bins]; ld.param.u64 %out, [out];
    ld.param.u32 %n, [turns];
    mov.u32 %t, %tid.x; mul.wide.u32 %m, %t, 4; add.s64 %flags, %flags, %m; add.s64 %out, %out, %m;
    WAY
    mov.u32 %i, 0; mov.u32 %sum, 0; mul.lo.u32 %x, %t, 7;
TURN:
    rem.u32 %f, %x, 40; mul.wide.u32 %a, %f, 4; add.s64 %a, %bins, %a;
    UPDATE
    add.u32 %sum, %sum, %f; add.u32 %x, %x, %t; add.u32 %x, %x, 11;
    add.u32 %i, %i, 1; setp.lt.u32 %more, %i, %n; @%more bra TURN;
    mad.lo.u32 %sum, %i, 1000, %sum; add.u32 %sum, %sum, %t;
    st.global.u32 [%out], %sum;
OUT: ret;
}
"""
BY_MEMORY = "ld.global.u32 %f, [%flags]; setp.eq.u32 %p, %f, 0; @%p bra OUT;"
BY_INDEX = "setp.lt.u32 %p, %t, 30; @%p bra OUT;"
ADD, LOAD = "red.global.add.u32 [%a], 3;", "ld.global.u32 %f, [%a];"


def text_of(way: str, update: str) -> str:
    return SOURCE.replace("WAY", way).replace("UPDATE", update)


@pytest.mark.parametrize(
    ("way", "update", "alone"),
    [(BY_MEMORY, ADD, True), (BY_MEMORY, LOAD, True), (BY_INDEX, ADD, False), (BY_MEMORY, "", False)],
)
def test_which_lanes_go_alone(way: str, update: str, alone: bool) -> None:
    program = shared_device("jit").load(text_of(way, update)).program
    text, *_ = emit(program, program.functions["k"], BlockShape(THREADS, 1, 1), host_features(), "nounwind")
    assert ("alone." in text) == alone


@pytest.mark.parametrize(
    "lanes", [(), (5,), (3, 31, 40, 64, 70, 95), tuple(range(0, 96, 3)), tuple(range(96))]
)
def test_few_and_many(engine: str, lanes: tuple[int, ...]) -> None:
    device, flags = shared_device(engine), np.zeros(THREADS, "u4")
    flags[list(lanes)] = 1
    bins, out = device.zeros(BINS, "u4"), device.zeros(THREADS, "u4")
    device.load(text_of(BY_MEMORY, ADD))["k"]((1,), (THREADS,), (device.array(flags), bins, out, TURNS))
    expected, sums = np.zeros(BINS, "u4"), np.zeros(THREADS, "u4")
    for t in lanes:
        places = [(7 * t + i * (t + 11)) % BINS for i in range(TURNS)]
        np.add.at(expected, places, np.uint32(3))
        sums[t] = 1000 * TURNS + sum(places) + t
    assert bins.numpy().tolist() == expected.tolist()
    assert out.numpy().tolist() == sums.tolist()


def test_faults_name_the_lane(engine: str) -> None:
    """Of two lanes that run, the second one's places are not all in memory."""
    device = simt.Device("sm_90", engine=engine, memory="64MiB")
    kernel, out = device.load(text_of(BY_MEMORY, ADD))["k"], device.zeros(THREADS, "u4")
    flags = device.array(np.isin(np.arange(THREADS), [1, 5]).astype("u4"))
    kernel((1,), (THREADS,), (flags, out, out, TURNS))
    with pytest.raises(simt.MemoryFault) as caught:
        kernel((1,), (THREADS,), (flags, device.memory.limit - 4 * 33, out, TURNS))
    assert caught.value.site.thread == (5, 0, 0)
