"""Loads and stores lane by lane, on CPUs without masks of lanes. Expectations are NumPy's."""

from __future__ import annotations

import re

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.host import SLOW_GATHERS, named_cpus
from simt.engine.llvm_kernel import emit
from tests.conftest import kept_for_each_way, shared_device

KERNEL = """
.version 7.5
.target sm_75
.address_size 64
.entry k(.param .u64 places, .param .u64 words, .param .u64 box, .param .u32 running)
{{
    .reg .u64 %p, %w, %a, %b; .reg .u32 %x, %n; .reg .b{held} %v; .reg .pred %q;
    .shared .align 8 .b8 shared[{room}]; .local .align 8 .b8 local[{room}];
    ld.param.u64 %p, [places]; ld.param.u64 %w, [words]; ld.param.u64 %b, [box]; ld.param.u32 %n, [running];
    mov.u32 %x, %tid.x;
    mul.wide.u32 %a, %x, 8; add.u64 %p, %p, %a;
    mul.wide.u32 %a, %x, {size}; add.u64 %w, %w, %a;
    shr.u32 %x, %n, %x; and.b32 %x, %x, 1; setp.ne.u32 %q, %x, 0;
    ld.global.u64 %a, [%p];
    {way}
    ret;
}}
"""
IN, OUT = "@%q ld.global.b{bits} %v, [%w];", "@%q st.global.b{bits} [%w], %v;"
WAYS = {
    "load": "add.u64 %a, %a, %b; @%q ld.global.b{bits} %v, [%a];" + OUT,
    "store": "add.u64 %a, %a, %b;" + IN + "@%q st.global.b{bits} [%a], %v;",
    "shared": "mov.u64 %b, shared; add.u64 %a, %a, %b;" + IN + "@%q st.shared.b{bits} [%a], %v;"
    "bar.sync 0; @%q ld.shared.b{bits} %v, [%a];" + OUT,
    "local": "mov.u64 %b, local; add.u64 %a, %a, %b;" + IN + "@%q st.local.b{bits} [%a], %v;"
    "@%q ld.local.b{bits} %v, [%a];" + OUT,
}
ALL, ROOM, WILD = 0xFFFFFFFF, 24, 0x7FFF_FFFF_FFF1
MASKS = [ALL, 0x5A5A00F1, 0x80000000, 0x00FF0100, 0xFFFF, 0]


@kept_for_each_way
def device_for(cpu: str) -> simt.Device:
    return simt.Device("sm_90", engine="jit", memory="64MiB", cpu=cpu)


@pytest.fixture(params=["x86-64-v3", "x86-64-v2"])
def device(request: pytest.FixtureRequest) -> simt.Device:
    return device_for(request.param)


def kernel(way: str, bits: int) -> str:
    """Boxes have 24 words: there are no bits that all of the offsets and no other number have."""
    size = bits // 8
    return KERNEL.format(
        way=WAYS[way].format(bits=bits), size=size, held=max(bits, 16), room=ROOM * size
    )  # fmt: skip


def ran(device: simt.Device, way: str, bits: int, mask: int) -> tuple[list[int], ...]:
    """The places, what lay in words and in the box, and what lies there then. Lanes that do not run have
    places that nobody may get at."""
    random, kind = np.random.default_rng(bits), np.dtype(f"u{bits // 8}")
    places = random.integers(0, ROOM, 32).astype("u8")
    runs = np.array([bool(mask >> lane & 1) for lane in range(32)])
    words, box = (random.integers(1, 1 << min(bits, 30), count).astype(kind) for count in (32, ROOM))
    given = device.array(np.where(runs, places * kind.itemsize, WILD).astype("u8"))
    words_there, box_there = device.array(words), device.array(box)
    device.load(kernel(way, bits))["k"](1, 32, (given, words_there, box_there, mask))
    return tuple(x.tolist() for x in (places, words, box, words_there.numpy(), box_there.numpy()))


@pytest.mark.share(2)
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_loads(device: simt.Device, bits: int, mask: int) -> None:
    places, words, box, found, box_then = ran(device, "load", bits, mask)
    assert found == [box[places[n]] if mask >> n & 1 else words[n] for n in range(32)]
    assert box_then == box


@pytest.mark.share(2)
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_at_one_place_the_highest_lane_s_word_stays(device: simt.Device, bits: int, mask: int) -> None:
    places, words, box, _, found = ran(device, "store", bits, mask)
    for lane in range(32):
        if mask >> lane & 1:
            box[places[lane]] = words[lane]
    assert found == box


@pytest.mark.share(2)
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_shared_memory(device: simt.Device, bits: int, mask: int) -> None:
    places, words, _, found, _ = ran(device, "shared", bits, mask)
    last = {places[lane]: words[lane] for lane in range(32) if mask >> lane & 1}
    assert found == [last[places[n]] if mask >> n & 1 else words[n] for n in range(32)]


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("bits", [8, 32, 64])
def test_each_lane_has_its_own_local_memory(device: simt.Device, bits: int, mask: int) -> None:
    _, words, _, found, _ = ran(device, "local", bits, mask)
    assert found == words


@pytest.mark.share(2)
@pytest.mark.parametrize("wrong", [2, 8 * ROOM, WILD - 1])
@pytest.mark.parametrize("way", ["load", "store", "shared", "local"])
def test_the_first_lane_at_fault_is_named(device: simt.Device, way: str, wrong: int) -> None:
    """Misaligned, behind the box where that ends the region, or anywhere."""
    if wrong == 8 * ROOM and way in ("load", "store"):
        wrong = 64 << 20
    places = np.arange(32, dtype="u8")[::-1] % ROOM * 8
    places[[3, 7, 9]] = WILD, wrong, wrong
    box = device.zeros(ROOM, "u8")
    arguments = device.array(places), device.zeros(32, "u8"), box, ALL & ~(1 << 3)
    with pytest.raises(simt.MemoryFault) as fault:
        device.load(kernel(way, 64))["k"](1, 32, arguments)
    assert fault.value.site.thread == (7, 0, 0)


def code(text: str, features: frozenset[str]) -> str:
    program = shared_device("jit").load(text).program
    found, *_ = emit(program, program.functions["k"], BlockShape(32, 1, 1), features, "nounwind")
    return found


@pytest.mark.parametrize("way", WAYS)
def test_no_load_has_a_branch(way: str) -> None:
    """But where the CPU has masks of lanes, or gathers that are fast."""
    old, text = named_cpus()["x86-64-v3"].features, kernel(way, 32)
    for features in (old, old - {"avx2"}):
        found = code(text, features)
        assert "@llvm.masked.gather" not in found
        assert "@llvm.masked.scatter" not in found
        assert re.search(r"define .*@simt\.(gather|scatter)\.some\.\d+\(", found)
    for features in (old - {SLOW_GATHERS}, named_cpus()["x86-64-v4"].features):
        found = code(text, features)
        assert "@simt.gather." not in found
        assert re.search(r"call .*@llvm\.masked\.(gather|scatter)", found)


def test_all_lanes_are_loaded_without_a_mask() -> None:
    text = kernel("load", 32).replace("@%q ", "")
    found = code(text, named_cpus()["x86-64-v3"].features)
    assert re.search(r"call .*@simt\.gather\.all\.", found)
    assert "@simt.gather.some." not in found


@pytest.mark.parametrize(("level", "asked"), [("x86-64-v3", True), ("x86-64-v4", False)])
def test_offsets_are_checked_by_the_bits_of_all_of_them(level: str, asked: bool) -> None:
    """Each lane's is compared where these say nothing, and on CPUs with masks of lanes always."""
    found = code(kernel("load", 32), named_cpus()[level].features)
    assert ("@llvm.vector.reduce.or.v32i64" in found) == asked


def test_eight_lanes_of_which_none_runs_load_nothing() -> None:
    found = code(kernel("load", 32), named_cpus()["x86-64-v3"].features)
    function = next(text for text in found.split("\n}\n") if "@simt.gather.some." in text.partition("{")[0])
    blocks = re.split(r"^[\w.]+:$", function, flags=re.MULTILINE)
    assert sorted(block.count(" = load i32") for block in blocks)[-4:] == [8, 8, 8, 8]
    assert function.count(" = load i32") == 32
