"""Accesses of which no lane of a warp's second half runs, at steps or anywhere, on CPUs that take as long for
lanes that a mask leaves out. Expectations are NumPy's."""

from __future__ import annotations

import re

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.compile import attributes
from simt.engine.host import SLOW_GATHERS, Cpu, host_cpu, named_cpus
from simt.engine.llvm_kernel import emit
from simt.records import replace
from tests.conftest import kept_for_each_way, shared_device

ROOM = 16 * 33
"""Words of shared memory: what 16 lanes have that are 33 words apart."""
WAYS = {
    "steps": "mul.lo.u32 %i, %t, 33;",
    "anywhere": "mul.lo.u32 %i, %t, 7919; rem.u32 %i, %i, 528;",
}
CONDITIONS = {
    "of the thread": "setp.lt.u32 %p, %t, 16;",
    "of both": "setp.gt.u32 %p, %t, 15; setp.lt.u32 %q, %t, %k; or.pred %p, %p, %q; not.pred %p, %p;",
    "of data": "ld.global.u32 %v, [%d]; setp.ne.u32 %p, %v, 0;",
}
KERNEL = """
.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 data, .param .u64 out, .param .u32 first, .param .u32 turns)
{{
    .reg .b32 %t, %i, %j, %k, %m, %n, %s, %v, %w; .reg .b64 %d, %o, %x; .reg .pred %p, %q;
    .shared .align 16 .b32 box[528];
    ld.param.u64 %d, [data]; ld.param.u64 %o, [out]; ld.param.u32 %k, [first]; ld.param.u32 %n, [turns];
    mov.u32 %t, %tid.x; mov.u32 %s, box;
    mov.u32 %j, %t;
FILL:
    shl.b32 %i, %j, 2; add.u32 %i, %i, %s; mul.lo.u32 %v, %j, 3; st.shared.u32 [%i], %v;
    add.u32 %j, %j, 32; setp.lt.u32 %p, %j, 528;
    @%p bra FILL;
    bar.sync 0;
    mul.wide.u32 %x, %t, 4; add.u64 %d, %d, %x; add.u64 %o, %o, %x;
    {condition}
    @!%p bra DONE;
    mov.u32 %m, 0;
AGAIN:
    {place}
    shl.b32 %i, %i, 2; add.u32 %i, %i, %s;
    ld.shared.u32 %w, [%i];
    add.u32 %w, %w, 1;
    st.shared.u32 [%i], %w;
    st.global.u32 [%o], %w;
    add.u32 %m, %m, 1; setp.lt.u32 %p, %m, %n;
    @%p bra AGAIN;
DONE:
    bar.sync 0;
    ld.shared.u32 %v, [box+132];
    st.global.u32 [%o+128], %v;
    ret;
}}
"""


def slow(cpu: Cpu) -> Cpu:
    return replace(cpu, features=cpu.features | {SLOW_GATHERS})


def text_of(condition: str, way: str, threads: int = 32) -> str:
    kernel = KERNEL.format(condition=CONDITIONS[condition], place=WAYS[way])
    program, cpu = shared_device("jit").load(kernel).program, slow(named_cpus()["x86-64-v4"])
    return emit(program, program.functions["k"], BlockShape(threads, 1, 1), cpu.features, attributes(cpu))[0]


def widths(text: str, what: str) -> set[str]:
    return set(re.findall(rf"call [^@]*@llvm\.masked\.{what}\.v(\d+)i32", text))


@kept_for_each_way
def slow_device() -> simt.Device:
    cpu = slow(host_cpu())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("simt.engine.host.host_cpu", lambda: cpu)
        return simt.Device("sm_90", engine="jit", memory="16MiB")


@pytest.fixture
def device() -> simt.Device:
    return slow_device()


@pytest.mark.parametrize("running", ["none", "first", "some", "half"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("condition", CONDITIONS)
def test_lanes_of_the_first_half(device: simt.Device, condition: str, way: str, running: str) -> None:
    lanes = np.arange(32)
    runs = {"none": lanes < 0, "first": lanes < 1, "some": lanes % 3 == 1, "half": lanes >= 0}[running]
    runs = runs & (lanes < 16)
    first = 0
    if condition == "of the thread":
        runs = lanes < 16
    elif condition == "of both":
        first = {"none": 16, "first": 15, "some": 5, "half": 0}[running]
        runs = (lanes < 16) & (lanes >= first)
    out = device.zeros(64, "u4")
    kernel = KERNEL.format(condition=CONDITIONS[condition], place=WAYS[way])
    device.load(kernel)["k"](1, 32, (device.array(runs.astype("u4")), out, first, 3))
    places = lanes * 33 if way == "steps" else lanes * 7919 % ROOM
    expected = np.where(runs, places * 3 + 3, 0)
    box = np.arange(ROOM) * 3
    box[places[runs]] += 3
    assert out.numpy().tolist() == [*expected.tolist(), *[int(box[33])] * 32]


@pytest.mark.parametrize(("condition", "lane"), [("of the thread", 15), ("of both", 15), ("of data", 16)])
def test_a_lane_beyond_memory_is_found(device: simt.Device, condition: str, lane: int) -> None:
    """The last of those that run. Not the store finds it, but the load before."""
    kernel = KERNEL.format(condition=CONDITIONS[condition], place="mad.lo.u32 %i, %t, 33, %m;")
    kernel = kernel.replace("mov.u32 %m, 0;", "mov.u32 %m, %n; mov.u32 %n, 0;")
    line = next(n for n, text in enumerate(kernel.splitlines(), 1) if "ld.shared.u32 %w" in text)
    run, first = device.load(kernel)["k"], ROOM - 33 * lane
    for start in (first - 1, first):
        data = device.array((np.arange(32) == lane).astype("u4"))
        if start < first:
            run(1, 32, (data, device.zeros(64, "u4"), 3, start))
            continue
        with pytest.raises(simt.MemoryFault) as found:
            run(1, 32, (data, device.zeros(64, "u4"), 3, start))
        assert found.value.site.thread == (lane, 0, 0)
        assert f"line {line})" in str(found.value)


@pytest.mark.parametrize(("condition", "lanes"), [("of the thread", 16), ("of both", 16), ("of data", 32)])
def test_where_it_is_known_half_a_warp_is_gathered(condition: str, lanes: int) -> None:
    """In a loop, which leads back to lanes that have come to it."""
    for what in ("gather", "scatter"):
        assert widths(text_of(condition, "anywhere"), what) == {str(lanes)}


@pytest.mark.parametrize("threads", [1, 7, 16, 17])
def test_ctas_of_half_a_warp(device: simt.Device, threads: int) -> None:
    """Whatever their threads do."""
    lanes = np.arange(32)
    kernel = KERNEL.format(condition=CONDITIONS["of data"], place=WAYS["anywhere"])
    kernel = kernel.replace("add.u32 %j, %j, 32;", f"add.u32 %j, %j, {threads};")
    runs, out = (lanes < threads) & (lanes % 3 != 1), device.zeros(64, "u4")
    device.load(kernel)["k"](1, threads, (device.array(runs.astype("u4")), out, 0, 2))
    expected = np.where(runs, lanes * 7919 % ROOM * 3 + 2, 0)
    assert out.numpy()[:32].tolist() == expected.tolist()
    for what in ("gather", "scatter"):
        assert widths(text_of("of data", "anywhere", threads), what) == {"16" if threads <= 16 else "32"}


def test_lanes_at_steps_are_loaded_one_by_one_where_memory_ends_behind_them() -> None:
    assert "@simt.half" in text_of("of both", "steps")
    assert "@simt.half" not in text_of("of data", "steps")
