"""Atomic operations on global memory in loops whose lanes go on alone: `simt.engine.llvm_alone`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.host import SLOW_GATHERS, host_features
from simt.engine.llvm_kernel import emit
from tests.conftest import shared_device

# Each thread goes through its row of targets, and changes the place of each by what it has itself.
PUSH = """.version 7.8
.target sm_75
.address_size 64
.visible .entry k(.param .u64 offsets, .param .u64 targets, .param .u64 numbers, .param .u64 places)
{
    .reg .b64 %offsets, %targets, %numbers, %places, %a; .reg .b32 %t, %i, %end; .reg .pred %p;
    .reg .b16 %h; .reg .BITS %b;
    ld.param.u64 %offsets, [offsets]; ld.param.u64 %targets, [targets];
    ld.param.u64 %numbers, [numbers]; ld.param.u64 %places, [places];
    mov.u32 %t, %tid.x;
    mad.wide.u32 %offsets, %t, 4, %offsets; mad.wide.u32 %numbers, %t, SIZE, %numbers;
    ld.global.u32 %i, [%offsets]; ld.global.u32 %end, [%offsets+4]; ld.global.BITS %b, [%numbers];
    setp.ge.u32 %p, %i, %end;
    @%p ret;
TURN:
    mad.wide.u32 %a, %i, 4, %targets; ld.global.u32 %t, [%a];
    mul.wide.u32 %a, %t, SIZE; add.u64 %a, %places, %a;
    OPERATION;
    add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %end;
    @%p bra TURN;
    ret;
}
"""
UPDATE = PUSH.splitlines().index("    OPERATION;") + 1
ROWS, PLACES = 90, 13
RANDOM = np.random.default_rng(8)
LENGTHS = RANDOM.integers(0, 9, ROWS)
OFFSETS = np.concatenate([[0], np.cumsum(LENGTHS)]).astype("u4")
TARGETS = RANDOM.integers(0, PLACES, OFFSETS[-1]).astype("u4")
Combine = Callable[[Any, Any], Any]
CASES: dict[str, tuple[str, Combine]] = {
    "add.u32": ("u4", lambda a, b: a + b),
    "add.u64": ("u8", lambda a, b: a + b),
    "min.s32": ("i4", min),
    "max.u64": ("u8", max),
    "xor.b32": ("u4", lambda a, b: a ^ b),
    "and.b64": ("u8", lambda a, b: a & b),
    "inc.u32": ("u4", lambda a, b: a + 1 if a < b else type(a)(0)),
    "add.f32": ("f4", lambda a, b: a + b),
    "add.f64": ("f8", lambda a, b: a + b),
    "add.noftz.f16": ("f2", lambda a, b: a + b),
}
"""Whose results the order of threads does not change (numbers are small and whole, of `inc` all alike)."""


def program_of(operation: str, dtype: str) -> str:
    size = np.dtype(dtype).itemsize
    text = PUSH.replace("OPERATION", f"red.global.{operation} [%a], %b")
    return text.replace("BITS", f"b{8 * size}").replace("SIZE", str(size))


def numbers_of(operation: str, dtype: str) -> np.ndarray[Any, Any]:
    if operation.startswith("inc"):
        return np.full(ROWS, 5, dtype)
    return np.random.default_rng(9).integers(1, 7, ROWS).astype(dtype)


@pytest.fixture(params=[1, 2])
def device(request: pytest.FixtureRequest, engine: str) -> simt.Device:
    """With one thread, where nothing is locked, and with two."""
    return simt.Device("sm_90", engine=engine, memory="64MiB", workers=request.param, timeout=20)


@pytest.mark.parametrize("operation", CASES)
def test_pushed_along_rows(device: simt.Device, operation: str) -> None:
    dtype, combine = CASES[operation]
    numbers, expected = numbers_of(operation, dtype), np.arange(PLACES).astype(dtype)
    places = device.array(expected)
    for row in range(ROWS):
        for target in TARGETS[OFFSETS[row] : OFFSETS[row + 1]]:
            expected[target] = combine(expected[target], numbers[row])
    arrays = (device.array(a) for a in (OFFSETS, TARGETS, numbers))
    device.load(program_of(operation, dtype))["k"](1, ROWS, (*arrays, places))
    np.testing.assert_array_equal(places.numpy(), expected)


def test_a_target_beyond_memory(device: simt.Device) -> None:
    """The thread with it is told; what it has done before stays."""
    row = int(np.argmax(LENGTHS))
    at = int(OFFSETS[row]) + 2
    targets = TARGETS.copy()
    targets[at] = 0xFFFFFFFF
    numbers, places = np.zeros(ROWS, "u4"), device.zeros(PLACES, "u4")
    numbers[row] = 1
    arrays = (device.array(a) for a in (OFFSETS, targets, numbers))
    with pytest.raises(simt.MemoryFault) as fault:
        device.load(program_of("add.u32", "u4"))["k"](1, ROWS, (*arrays, places))
    assert fault.value.site.thread == (row, 0, 0)
    assert fault.value.site.line == UPDATE
    assert fault.value.address == places.ptr + 4 * 0xFFFFFFFF
    assert places.numpy().sum() == 2


def test_a_lane_alone_calls_no_loop_over_lanes() -> None:
    """What a lane does alone stands behind the kernel's other blocks: an update, locked if need be."""
    program = shared_device("jit").load(program_of("add.f32", "f4")).program
    features = host_features() | {SLOW_GATHERS}
    ir, *_ = emit(program, program.functions["k"], BlockShape(96, 1, 1), features, "nounwind")
    alone = ir[ir.index("\nalone.") :]
    names = set(re.findall(r"@(simt\.(?:update|atomic)[\w.]+)\(", alone))
    assert names == {"simt.update.add.far.f32.private", "simt.update.add.far.f32"}
