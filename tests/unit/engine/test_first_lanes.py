"""Shared memory by the first 16, 8, 4, 2 lanes and the first one of each warp: sums by halves. With and
without barriers; by the thread's index and by that in the grid. Expectations are sums."""

from __future__ import annotations

import re

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.host import named_cpus
from simt.engine.llvm_kernel import emit
from tests.conftest import shared_device

CTAS = 3
KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n, .param .u32 more)
{{
    .reg .u32 %t, %x, %y, %l, %i, %a, %n, %c, %more; .reg .u64 %in, %out, %o; .reg .pred %p;
    .reg .{type} %v, %w;
    .shared .align 16 .b8 cells[{bytes}];
    ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.param.u32 %n, [n]; ld.param.u32 %more, [more];
    mov.u32 %x, %tid.x; mov.u32 %y, %tid.y; mov.u32 %i, %ntid.x; mad.lo.u32 %t, %y, %i, %x;
    mov.u32 %c, %ctaid.x; mov.u32 %y, %ntid.y; mul.lo.u32 %i, %i, %y; mad.lo.u32 %i, %c, %i, %t;
    {guard}
    mul.wide.u32 %o, %i, {size}; add.u64 %o, %o, %in; ld.global.{type} %v, [%o];
    mov.u32 %a, cells; add.u32 %a, %a, %more; mad.lo.u32 %a, %t, {size}, %a;
    st{how}.shared.{type} [%a], %v;
    and.b32 %l, {lane}, 31;
{steps}
    setp.ne.u32 %p, %l, 0; @%p bra DONE;
    ld{how}.shared.{type} %v, [%a]; shr.u32 %i, %i, 5;
    mul.wide.u32 %o, %i, {size}; add.u64 %o, %o, %out; st.global.{type} [%o], %v;
DONE:
    {wait}
    ret;
}}
"""
GUARD = "setp.ge.u32 %p, %i, %n; @%p bra DONE;"
STEP = """    {wait} setp.ge.u32 %p, %l, {half}; @%p bra AFTER{half};
    ld{how}.shared.{type} %v, [%a]; ld{how}.shared.{type} %w, [%a+{distance}]; add.{type} %v, %v, %w;
    st{how}.shared.{type} [%a], %v;
AFTER{half}:"""
HALVES = (16, 8, 4, 2, 1)
TYPES = {"u32": "u4", "f32": "f4", "u64": "u8", "f64": "f8"}
LANES = {"thread": "%t", "grid": "%i"}
WAITS = {"none": "", "warp": "bar.warp.sync -1;", "CTA": "bar.sync 0;"}
SHAPES = [(32, 1), (64, 1), (256, 1), (32, 4), (16, 4)]


def text(kind: str, lane: str, wait: str, threads: int, how: str = "") -> str:
    size, steps = int(kind[1:]) // 8, list[str]()
    for half in HALVES:
        steps.append(STEP.format(type=kind, how=how, half=half, distance=half * size, wait=WAITS[wait]))
    return KERNEL.format(
        type=kind, guard=GUARD, size=size, bytes=(threads + 16) * size, how=how, lane=LANES[lane],
        steps="\n".join(steps), wait=WAITS[wait] if wait == "CTA" else "",
    )  # fmt: skip


def run(device: simt.Device, source: str, kind: str, shape: tuple[int, int], left: int = 0) -> None:
    """`left`: threads at the grid's end that do nothing."""
    count = CTAS * shape[0] * shape[1]
    data = np.random.default_rng(count).integers(0, 1000, count).astype(TYPES[kind])
    out = device.zeros(count // 32, TYPES[kind])
    device.load(source)["k"](CTAS, shape, (device.array(data), out, count - left, 0))
    sums = data.reshape(-1, 32).sum(axis=1)
    done = (count - left) // 32
    assert out.numpy()[:done].tolist() == sums[:done].tolist()


@pytest.mark.share(9)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("wait", WAITS)
@pytest.mark.parametrize("kind", TYPES)
def test_sums_of_warps(engine: str, kind: str, wait: str, shape: tuple[int, int]) -> None:
    for lane in LANES:
        for how in ("", ".volatile"):
            run(shared_device(engine), text(kind, lane, wait, shape[0] * shape[1], how), kind, shape)


@pytest.mark.parametrize("left", [1, 17, 31, 40])
def test_a_part_of_a_warp(engine: str, left: int) -> None:
    """The last warp has less lanes than steps ask for."""
    for lane in LANES:
        run(shared_device(engine), text("u32", lane, "none", 64), "u32", (64, 1), left)


@pytest.mark.parametrize("lane", [0, 1, 7, 8, 14, 15])
@pytest.mark.parametrize("wait", ["none", "CTA"])
def test_the_first_lane_beyond_the_memory(engine: str, wait: str, lane: int) -> None:
    """Of 80 words, by 64 threads: in the second warp, 16 lanes of which look 16 words ahead."""
    data = shared_device(engine).zeros(64, "u4")
    source = text("u32", "thread", wait, 64)
    source = source.replace("st.shared.u32 [%a], %v;\n    and", "and")  # only the sums get at memory
    with pytest.raises(simt.MemoryFault) as fault:
        shared_device(engine).load(source)["k"](1, 64, (data, data, 64, 4 * (32 - lane)))
    assert (fault.value.site.thread, fault.value.address) == ((32 + lane, 0, 0), 4 * 80)


def code(source: str, threads: int) -> str:
    program = shared_device("jit").load(source).program
    cpu = named_cpus()["x86-64-v4"]
    return emit(program, program.functions["k"], BlockShape(threads, 1, 1), cpu.features, "nounwind")[0]


@pytest.mark.parametrize("wait", WAITS)
@pytest.mark.parametrize("lane", LANES)
def test_shorter_vectors(lane: str, wait: str) -> None:
    source = text("f32", lane, wait, 64)
    if wait == "CTA":  # with a guard before them warps would not come to the barriers in step
        source = source.replace(GUARD, "")
    found = code(source, 64)
    for half in HALVES:
        assert len(re.findall(rf"= load <{half} x float>", found)) >= 2
        assert len(re.findall(rf" store <{half} x float>", found)) >= 1
