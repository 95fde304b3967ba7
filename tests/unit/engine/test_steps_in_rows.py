"""Lanes at known distances from the first of their row, of which a warp has two or more: pictures in CTAs of
16 x 16 threads. Expectations are NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.host import named_cpus
from simt.engine.llvm_kernel import emit
from tests.conftest import shared_device
from tests.unit.engine.arrays import words_at_the_end

BYTES = 16384
KERNEL = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 first, .param .u32 rows, .param .u32 pitch)
{{
    .reg .pred %p;
    .reg .b32 %x, %y, %t, %s, %n;
    .reg .b64 %a, %b;
    .reg .b{held} {registers};
    mov.u32 %x, %tid.x; mov.u32 %y, %tid.y; mov.u32 %n, %ntid.x; mad.lo.u32 %t, %y, %n, %x;
    ld.param.u32 %n, [rows];
    setp.lt.u32 %p, %y, %n;
    ld.param.u32 %n, [pitch];
    mul.lo.u32 %s, %y, %n;
    ld.param.u32 %n, [first];
    add.u32 %s, %s, %n;
    mad.lo.s32 %s, %x, {step}, %s;
    mul.wide.u32 %b, %t, {size};
    {body}
    ret;
}}
"""
NEAR = "ld.param.u64 %a, [{array}]; cvt.s64.s32 %b, %s; add.u64 %a, %a, %b;"
"""The address of a thread's item among others."""
OWN = "ld.param.u64 %a, [{array}]; mul.wide.u32 %b, %t, {size}; add.u64 %a, %a, %b;"
SHARED = ".shared .align 16 .b8 box[16384]; mov.u32 %n, box; add.u32 %n, %n, %s;"
WIDTHS = [
    (8, 1, 3), (8, 1, 2), (8, 1, -1), (8, 1, 40), (8, 4, 12), (16, 1, 6), (16, 1, 4), (16, 2, -4), (32, 1, 8),
    (32, 1, 12), (32, 1, 68), (32, 1, -4), (32, 1, -24), (32, 2, 16), (32, 4, 32), (32, 4, 80), (64, 1, 16),
    (64, 1, 136), (64, 2, -16), (64, 2, 48),
]  # fmt: skip
"""Bits of a word, words of a lane, bytes from lane to lane."""
BLOCKS = [(16, 4), (8, 8), (16, 3), (8, 5)]


def source(bits: int, vector: int, step: int, space: str, stores: bool) -> str:
    """A thread of the first rows loads its item among others and stores it in its own place, or the reverse:
    in shared memory there and back."""
    size, registers = bits // 8 * vector, [f"%v{i}" for i in range(vector)]
    mode, value = (f"v{vector}.b{bits}", f"{{{', '.join(registers)}}}") if vector > 1 else (f"b{bits}", "%v0")
    own_in, own_out = OWN.format(array="in", size=size), OWN.format(array="out", size=size)
    if space == "shared":
        body = f"""{own_in} ld.global.{mode} {value}, [%a]; {SHARED} @%p st.shared.{mode} [%n], {value};
            bar.sync 0; @%p ld.shared.{mode} {value}, [%n]; {own_out} @%p st.global.{mode} [%a], {value};"""
    elif stores:
        there = NEAR.format(array="out")
        body = f"{own_in} ld.global.{mode} {value}, [%a]; {there} @%p st.global.{mode} [%a], {value};"
    else:
        there = NEAR.format(array="in")
        body = f"{there} @%p ld.global.{mode} {value}, [%a]; {own_out} @%p st.global.{mode} [%a], {value};"
    return KERNEL.format(held=max(bits, 16), registers=", ".join(registers), step=step, size=size, body=body)


def places(block: tuple[int, int], first: int, step: int, pitch: int) -> np.ndarray:
    """Where threads' items begin, in their order."""
    y, x = np.divmod(np.arange(block[0] * block[1]), block[0])
    return first + y * pitch + x * step


def start(block: tuple[int, int], step: int, size: int) -> tuple[int, int]:
    """The first lane's place, and bytes from row to row: rows lie apart, the second next to the first."""
    reach = abs(step) * (block[0] - 1) + size
    return (reach - size if step < 0 else 0) + 2 * size, -(-reach // size) * size + size


@pytest.mark.share(20)
@pytest.mark.parametrize("block", BLOCKS, ids=str)
@pytest.mark.parametrize(("bits", "vector", "step"), WIDTHS)
@pytest.mark.parametrize("space", ["load", "store", "shared"])
def test_words_at_steps(
    any_device: simt.Device, space: str, bits: int, vector: int, step: int, block: tuple[int, int]
) -> None:
    size, threads = bits // 8 * vector, block[0] * block[1]
    first, pitch = start(block, step, size)
    at = places(block, first, step, pitch)
    assert at.max() + size <= BYTES
    where = at[:, None] + np.arange(size)
    kernel = any_device.load(source(bits, vector, step, space, space == "store"))["k"]
    data = np.random.default_rng(bits).integers(0, 256, BYTES, "u1")
    own = np.arange(threads * size).reshape(threads, size)
    for rows in (block[1], block[1] - 1, 1):
        runs = (np.arange(threads) // block[0] < rows)[:, None]
        out, expected = any_device.zeros(BYTES, "u1"), np.zeros(BYTES, "u1")
        kernel((1,), block, (any_device.array(data), out, first, rows, pitch))
        source_places, target = (where, own) if space == "load" else (own, where)
        target = own if space == "shared" else target
        expected[target[runs[:, 0]]] = data[source_places[runs[:, 0]]]
        np.testing.assert_array_equal(out.numpy(), expected, f"{rows} rows")


@pytest.mark.parametrize("stores", [False, True])
@pytest.mark.parametrize(("row", "lane"), [(3, 15), (3, 2), (2, 9), (0, 4)])
@pytest.mark.parametrize("step", [12, 68])
@pytest.mark.parametrize("engine", ["interpreter", "jit"])
def test_a_row_too_far(engine: str, step: int, row: int, lane: int, stores: bool) -> None:
    """The first thread that is beyond the memory's end faults, if it runs; rows that do not run never do."""
    device, block, pitch = simt.Device("sm_90", engine=engine, memory="64MiB"), (16, 4), 4
    last = words_at_the_end(device, np.uint32(1))
    own, end = last.ptr, last.ptr + last.nbytes
    first = end - row * pitch - lane * step  # of that thread, of those behind it, and maybe of some before
    thread = int(np.flatnonzero(places(block, first, step, pitch) + 4 > end)[0])
    kernel = device.load(source(32, 1, step, "global", stores))["k"]
    near, far = first - 4096, 4096  # an address, and how far from there threads are
    arrays = (own, near) if stores else (near, own)
    if thread >= block[0]:
        kernel((1,), block, (*arrays, far, thread // block[0], pitch))
    with pytest.raises(simt.MemoryFault) as caught:
        kernel((1,), block, (*arrays, far, block[1], pitch))
    assert f"thread ({thread % block[0]}, {thread // block[0]}, 0)" in str(caught.value)


@pytest.mark.parametrize("stores", [False, True])
def test_such_words_are_picked_out_of_registers(stores: bool) -> None:
    """In CTAs of 16 x 16: every second word."""
    cpu = named_cpus()["x86-64-v4"]
    program = shared_device("jit").load(source(32, 1, 8, "global", stores)).program
    text, _, _ = emit(program, program.functions["k"], BlockShape(16, 16, 1), cpu.features, "nounwind")
    assert any("call" in line and "@simt.steps" in line for line in text.splitlines())
