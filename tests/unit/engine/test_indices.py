"""Addresses made of one start for all lanes and an index of 32 bits for each: gathers and scatters by index.
Expectations are NumPy's."""

from __future__ import annotations

import re

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.compile import attributes
from simt.engine.host import named_cpus
from simt.engine.llvm_kernel import emit
from tests.conftest import kept_for_each_way, shared_device
from tests.unit.engine.arrays import words_at_the_end

KERNEL = """
.version 7.5
.target sm_75
.address_size 64
.entry k(.param .u64 indices, .param .u64 start, .param .u64 words, .param .u32 running)
{{
    .reg .u64 %i, %s, %w, %a; .reg .u32 %x, %n, %index; .reg .b{held} %v; .reg .pred %p;
    ld.param.u64 %i, [indices]; ld.param.u64 %s, [start]; ld.param.u64 %w, [words];
    ld.param.u32 %n, [running];
    mov.u32 %x, %tid.x;
    mul.wide.u32 %a, %x, 4; add.u64 %i, %i, %a;
    mul.wide.u32 %a, %x, {size}; add.u64 %w, %w, %a;
    ld.global.u32 %index, [%i];
    shr.u32 %x, %n, %x; and.b32 %x, %x, 1; setp.ne.u32 %p, %x, 0;
    {address}
    {access}
    ret;
}}
"""
ADDRESSES = {
    "mul.wide": "mul.wide.{sign}32 %a, %index, {size}; add.u64 %a, %a, %s;",
    "start first": "mul.wide.{sign}32 %a, %index, {size}; add.u64 %a, %s, %a;",
    "shl": "cvt.{sign}64.{sign}32 %a, %index; shl.b64 %a, %a, {shift}; add.u64 %a, %a, %s;",
    "in bytes": """mul.lo.u32 %index, %index, {size}; cvt.{sign}64.{sign}32 %a, %index;
        add.u64 %a, %a, %s;""",
    "cut": """cvt.{sign}64.{sign}32 %a, %index; and.b64 %a, %a, 255; shl.b64 %a, %a, {shift};
        add.u64 %a, %a, %s;""",
    "two starts": """mul.wide.{sign}32 %a, %index, {size}; add.u64 %a, %a, %s;
        add.u64 %a, %a, {size}; sub.u64 %s, %s, %s; add.u64 %a, %s, %a; add.s64 %a, %a, -{size};""",
}
ACCESSES = {
    "load": "@%p ld.global.b{bits} %v, [%a]; @%p st.global.b{bits} [%w], %v;",
    "store": "@%p ld.global.b{bits} %v, [%w]; @%p st.global.b{bits} [%a], %v;",
}
ALL = 0xFFFFFFFF
WORDS = 300


@kept_for_each_way
def device_for(cpu: str) -> simt.Device:
    return simt.Device("sm_90", engine="jit", memory="64MiB", cpu=cpu)


@pytest.fixture(params=["host", "x86-64-v3"])
def device(request: pytest.FixtureRequest) -> simt.Device:
    return device_for(request.param)


def kernel(access: str, address: str = "mul.wide", bits: int = 32, sign: str = "s") -> str:
    numbers = {
        "bits": bits,
        "size": bits // 8,
        "shift": bits.bit_length() - 4,
        "sign": sign,
        "held": max(bits, 16),
    }
    way = ADDRESSES[address].format(**numbers)
    return KERNEL.format(address=way, access=ACCESSES[access].format(**numbers), **numbers)


def words(bits: int, count: int) -> np.ndarray[tuple[int], np.dtype[np.unsignedinteger]]:
    return np.random.default_rng(5).integers(1, 1 << min(bits, 30), count).astype(f"u{bits // 8}")


def indices(below: int) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    """In no order, some of them more than once."""
    return np.random.default_rng(below).integers(0, below, 32).astype(np.int32)


@pytest.mark.share(6)
@pytest.mark.parametrize("running", [ALL, 0x5A5A00F1, 1])
@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("sign", ["s", "u"])
@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_loads(device: simt.Device, bits: int, sign: str, address: str, running: int) -> None:
    """From the array's middle on; indices with a sign lead to the words before as well."""
    middle = WORDS // 2 if sign == "s" and address != "cut" else 0
    places, memory = indices(256 if address == "cut" else WORDS), words(bits, WORDS)
    out, given = device.zeros(32, memory.dtype), device.array(memory)
    start = given.ptr + middle * bits // 8
    module = device.load(kernel("load", address, bits, sign))
    module["k"](1, 32, (device.array(places - middle), start, out, running))
    runs = (running >> np.arange(32)) & 1 == 1
    assert out.numpy().tolist() == np.where(runs, memory[places], 0).tolist()


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("sign", ["s", "u"])
def test_small_indices(device: simt.Device, sign: str, bits: int) -> None:
    """What is extended from less than 32 bits, by its load or by an instruction."""
    places, memory = words(bits, 32).view(f"{'i' if sign == 's' else 'u'}{bits // 8}"), words(32, 1 << 16)
    middle = 1 << 15 if sign == "s" else 0
    given, out = device.array(memory), device.zeros(32, "u4")
    for address in (f"mul.lo.{sign}64 %a, %a, 4;", f"cvt.{sign}64.{sign}{bits} %a, %v; shl.b64 %a, %a, 2;"):
        way = (
            f"ld.global.{sign}{bits} %{'a' if 'mul' in address else 'v'}, [%i]; {address} add.u64 %a, %a, %s;"
        )
        text = KERNEL.format(address=way, access=ACCESSES["load"].format(bits=32), bits=32, size=4, held=32)
        text = text.replace("%x, 4; add.u64 %i", f"%x, {bits // 8}; add.u64 %i")
        text = text.replace("ld.global.u32 %index, [%i];", "")
        device.load(text)["k"](1, 32, (device.array(places), given.ptr + 4 * middle, out, ALL))
        assert out.numpy().tolist() == memory[places.astype(np.int64) + middle].tolist()


@pytest.mark.parametrize("running", [ALL, 0x5A5A00F1])
@pytest.mark.parametrize("sign", ["s", "u"])
@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_stores(device: simt.Device, bits: int, sign: str, running: int) -> None:
    """Where several lanes have the same index, the highest one's word stays."""
    places, given = indices(20), words(bits, 32)
    memory = device.zeros(WORDS, given.dtype)
    module = device.load(kernel("store", bits=bits, sign=sign))
    module["k"](1, 32, (device.array(places), memory, device.array(given), running))
    expected = np.zeros(WORDS, given.dtype)
    for lane in range(32):
        if running >> lane & 1:
            expected[places[lane]] = given[lane]
    assert memory.numpy().tolist() == expected.tolist()


@pytest.mark.parametrize("access", ACCESSES)
@pytest.mark.parametrize(
    ("sign", "index"), [("s", 1 << 28), ("s", -(1 << 28)), ("u", -1), ("u", 1 << 31), ("s", -(1 << 31))]
)
def test_a_wild_index_is_the_lane_s_own_fault(
    device: simt.Device, access: str, sign: str, index: int
) -> None:
    """The message has its address; lanes that do not run may have any index."""
    places, memory = indices(WORDS), device.zeros(WORDS, "u4")
    places[3], places[17] = -(1 << 30), (index + 2**31) % 2**32 - 2**31
    module = device.load(kernel(access, sign=sign))
    arguments = device.array(places), memory, device.zeros(32, "u4")
    with pytest.raises(simt.MemoryFault) as found:
        module["k"](1, 32, (*arguments, ALL ^ 1 << 3))
    assert "thread (17, 0, 0)" in str(found.value)
    number = index if sign == "s" else index % 2**32
    assert f"0x{(memory.ptr + 4 * number) % 2**64:x}" in str(found.value).lower()
    module["k"](1, 32, (*arguments, ALL ^ 1 << 3 ^ 1 << 17))


@pytest.mark.parametrize("access", ACCESSES)
def test_a_start_that_is_not_aligned_is_a_fault(device: simt.Device, access: str) -> None:
    memory = device.zeros(WORDS, "u4")
    arguments = device.array(indices(100)), memory.ptr + 2, device.zeros(32, "u4"), ALL
    with pytest.raises(simt.MemoryFault, match="misaligned"):
        device.load(kernel(access))["k"](1, 32, arguments)


@pytest.mark.parametrize("access", ACCESSES)
@pytest.mark.parametrize("bits", [16, 32, 64])
def test_an_index_in_bytes_that_is_not_aligned_is_a_fault(
    device: simt.Device, access: str, bits: int
) -> None:
    """The lane's own; others are between the elements' starts and do not run."""
    places, memory = indices(100) * (bits // 8), device.zeros(WORDS, f"u{bits // 8}")
    places[9], places[20] = places[9] + bits // 16, 1
    by_bytes = kernel(access, "in bytes", bits).replace(f"mul.lo.u32 %index, %index, {bits // 8};", "")
    arguments = device.array(places), memory, device.zeros(32, memory.dtype)
    module = device.load(by_bytes)
    module["k"](1, 32, (*arguments, ALL ^ 1 << 9 ^ 1 << 20))
    with pytest.raises(simt.MemoryFault, match="misaligned") as found:
        module["k"](1, 32, (*arguments, ALL ^ 1 << 20))
    assert "thread (9, 0, 0)" in str(found.value)


@pytest.mark.parametrize("start", [0, 2**63, 2**64 - 4])
def test_a_wild_start_is_a_fault(device: simt.Device, start: int) -> None:
    arguments = device.array(indices(100)), start, device.zeros(32, "u4"), ALL
    with pytest.raises(simt.MemoryFault, match=r"thread \(0, 0, 0\)"):
        device.load(kernel("load"))["k"](1, 32, arguments)


def test_a_start_far_below_with_indices_that_come_back(device: simt.Device) -> None:
    """Indices without a sign, from 2**31 on, which LLVM would take for negative ones."""
    places, memory = indices(WORDS), words(32, WORDS)
    given, out = device.array(memory), device.zeros(32, "u4")
    far = (places.astype(np.int64) + 2**31 + 7).astype(np.uint32)
    start = (given.ptr - 4 * (2**31 + 7)) % 2**64
    device.load(kernel("load", sign="u"))["k"](1, 32, (device.array(far), start, out, ALL))
    assert out.numpy().tolist() == memory[places].tolist()


@pytest.mark.parametrize("cpu", ["host", "x86-64-v3"])
@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_the_last_elements_that_there_are(cpu: str, bits: int) -> None:
    """Behind which nothing can be read; and the first one beyond them."""
    device = simt.Device("sm_90", engine="jit", memory="64MiB", cpu=cpu)
    last, count = words_at_the_end(device, np.uint32(0)), 64
    given, places = words(bits, count), indices(count)
    places[:4] = range(count - 4, count)
    last.numpy()[-count * bits // 32 :] = given.view("u4")
    indexed, out = device.array(places), device.zeros(32, given.dtype)
    start = device.memory.limit - count * bits // 8
    module = device.load(kernel("load", bits=bits))
    module["k"](1, 32, (indexed, start, out, ALL))
    assert out.numpy().tolist() == given[places].tolist()
    indexed.numpy()[5] = count
    with pytest.raises(simt.MemoryFault, match=r"thread \(5, 0, 0\)"):
        module["k"](1, 32, (indexed, start, out, ALL))


@pytest.mark.parametrize("access", ACCESSES)
def test_no_address_is_made_for_the_usual_way(access: str) -> None:
    """The CPU gets the indices as they are."""
    program, cpu = shared_device("jit").load(kernel(access)).program, named_cpus()["x86-64-v4"]
    text, _, _ = emit(program, program.functions["k"], BlockShape(32, 1, 1), cpu.features, attributes(cpu))
    what = "gather" if access == "load" else "scatter"
    accesses = re.findall(rf"^.*\n.*call .*@llvm\.masked\.{what}\..*$", text, re.MULTILINE)
    assert accesses
    for lines in accesses:
        assert re.search(r"getelementptr i32, ptr %\S+, <32 x i32> %", lines)
