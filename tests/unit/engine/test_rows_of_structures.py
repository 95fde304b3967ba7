"""Members of structures in rows of a CTA: several rows of a warp, each of which begins elsewhere. The
interpreter, which does one instruction after the other, is the measure where rows or arrays overlap."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.compile import attributes
from simt.engine.host import named_cpus
from simt.engine.llvm_kernel import emit
from tests.conftest import shared_device
from tests.unit.engine.conftest import CPUS

KERNEL = """
.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .s32 pitch)
{{
    .reg .b32 %v<4>; .reg .b32 %x, %y, %n; .reg .b64 %a, %b, %o; .reg .b16 %h<4>;
    ld.param.u64 %a, [in]; ld.param.u64 %b, [out]; ld.param.s32 %n, [pitch];
    mov.u32 %x, %tid.x; mov.u32 %y, %tid.y;
    mul.wide.s32 %o, %y, %n; add.u64 %a, %a, %o; add.u64 %b, %b, %o;
    mul.wide.u32 %o, %x, {step}; add.u64 %a, %a, %o; add.u64 %b, %b, %o;
    {body}
    ret;
}}
"""
ROOM = 4096
"""Bytes on each side of where arrays begin."""


def swapped(kind: str, size: int, members: int) -> str:
    """All members are loaded, and stored in another order."""
    loads = "".join(f"ld.global.{kind} %v{i}, [%a+{size * i}]; " for i in range(members))
    stores = "".join(f"st.global.{kind} [%b+{size * (members - 1 - i)}], %v{i}; " for i in range(members))
    return loads + stores


def updated(kind: str, size: int, members: int) -> str:
    """Each member is loaded, changed and stored before the next one."""
    one = "ld.global.{0} %v0, [%a+{1}]; add.u32 %v0, %v0, {1}; st.global.{0} [%b+{1}], %v0; "
    return "".join(one.format(kind, place) for place in range(0, size * members, size))


BODIES = {
    "bytes swapped": (3, swapped("u8", 1, 3)),
    "bytes updated": (3, updated("u8", 1, 3)),
    "four bytes updated": (4, updated("u8", 1, 4)),
    "halves swapped": (6, swapped("u16", 2, 3)),
    "halves updated": (6, updated("u16", 2, 3)),
    "words swapped": (12, swapped("u32", 4, 3)),
    "words updated": (12, updated("u32", 4, 3)),
    "pairs of words updated": (8, updated("u32", 4, 2)),
    "two of three words": (12, updated("u32", 4, 2)),
}
BLOCKS = [(16, 2), (8, 4), (8, 3)]
"""One warp each: what several do to the same bytes has no order."""


def source(name: str) -> str:
    step, body = BODIES[name]
    return KERNEL.format(step=step, body=body)


def ran(device: simt.Device, name: str, block: tuple[int, int], pitch: int, distance: int) -> np.ndarray:
    """One array in which structures are read, and written some bytes behind, or in front."""
    array = device.array((np.arange(2 * ROOM, dtype="u4") * 2654435761 >> 7).astype("u1"))
    start = array.ptr + ROOM
    device.load(source(name))["k"](1, block, (start, start + distance, np.int32(pitch)))
    return array.numpy().copy()


@pytest.mark.share(2)
@pytest.mark.parametrize("block", BLOCKS, ids=str)
@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("cpu", ["host", *CPUS])
def test_wherever_rows_lie(cpu: str, name: str, block: tuple[int, int]) -> None:
    step, _ = BODIES[name]
    row, unit = block[0] * step, max(step & -step, 1)
    device = simt.Device("sm_90", cpu=cpu, memory="16MiB")
    for pitch in (row, row + 64 * unit, row - unit, unit, 0, -row, -row - 4 * unit):
        for distance in (0, unit, row, -unit, 2 * row * block[1] + 64, -2 * row * block[1] - 64):
            found = ran(device, name, block, pitch, distance)
            expected = ran(shared_device("interpreter"), name, block, pitch, distance)
            np.testing.assert_array_equal(found, expected, err_msg=f"pitch {pitch}, distance {distance}")


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize(
    ("cpu", "block"), [("x86-64-v3", (16, 2)), ("x86-64-v4", (16, 2)), ("x86-64-v4", (8, 4))]
)
def test_rows_are_stored_together(cpu: str, name: str, block: tuple[int, int]) -> None:
    if cpu not in named_cpus():
        pytest.skip("names of x86's CPUs")
    program, found = shared_device("jit").load(source(name)).program, named_cpus()[cpu]
    shape = BlockShape(*block, 1)
    text, *_ = emit(program, program.functions["k"], shape, found.features, attributes(found))
    whole = name != "two of three words" or cpu == "x86-64-v4"
    small = cpu == "x86-64-v4" and "bytes" in name  # of which it picks none
    assert ("@simt.members" in text) == (whole and not small)


@pytest.mark.parametrize("cpu", ["host", *CPUS])
@pytest.mark.parametrize("name", ["bytes updated", "halves swapped", "words updated"])
def test_the_first_row_beyond_the_memory_is_at_fault(name: str, cpu: str) -> None:
    """What was stored before is there."""
    step, _ = BODIES[name]
    found = list[object]()
    for device in (
        simt.Device("sm_90", cpu=cpu, memory="16MiB"),
        simt.Device("sm_90", engine="interpreter", memory="16MiB"),
    ):
        kernel, array = device.load(source(name))["k"], device.array(np.arange(256, dtype="u1"))
        kernel(1, (16, 2), (array, array, np.int32(0)))  # which takes memory of its own
        upper = device.memory.limit - 16 * step - 64
        with pytest.raises(simt.MemoryFault) as fault:
            kernel(1, (16, 2), (array, upper, np.int32(64 + step)))
        found.append((fault.value.site.thread, fault.value.address - device.memory.limit))
    assert found[0] == found[1]
