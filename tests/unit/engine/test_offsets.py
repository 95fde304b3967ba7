"""Constant offsets of addresses, which the CPU adds as it loads and stores."""

from __future__ import annotations

import re

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.host import host_features
from simt.engine.llvm_kernel import emit
from tests.conftest import shared_device

WORDS = 256
KERNEL = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 shift)
{{
    .reg .b32 %x, %y, %t, %r, %s, %v;
    .reg .b64 %a, %b, %o;
    .shared .align 4 .b8 box[1024];
    mov.u32 %x, %tid.x;
    mov.u32 %y, %tid.y;
    mad.lo.u32 %t, %y, 16, %x;
    mul.wide.u32 %o, %t, 4;
    ld.param.u64 %a, [in];
    add.u64 %b, %a, %o;
    shl.b32 %r, %t, 2;
    mov.u32 %s, box;
    add.u32 %s, %s, %r;
    ld.global.u32 %v, [%b];
    st.shared.u32 [%s], %v;
    bar.sync 0;
    {address}
    ld.shared.u32 %v, [%s+{offset}];
    ld.param.u64 %a, [out];
    add.u64 %b, %a, %o;
    st.global.u32 [%b], %v;
    ret;
}}
"""
ROW = "mov.u32 %s, box; shl.b32 %r, %y, 6; add.u32 %s, %s, %r;"
"""One word for each row of the CTA."""
CASES = {
    "a row": (ROW, 60, lambda x, y: 16 * y + 15),
    "the row before": (ROW + "add.u32 %s, %s, 128;", -68, lambda x, y: 16 * y + 15),
    "each its own": ("add.u32 %s, %s, -8; add.u32 %s, %s, 4;", 4, lambda x, y: 16 * y + x),
    "by steps": (
        ROW + "add.u32 %s, %s, 8; add.u32 %s, %s, -16; add.u32 %s, %s, 12;",
        4,
        lambda x, y: 16 * y + 2,
    ),
    "beyond the end and back": (ROW + "sub.u32 %s, %s, 1024;", 1024, lambda x, y: 16 * y),
    "far beyond and back": (ROW + "add.u32 %s, %s, 0x7FFFFFFC;", -0x7FFFFFFC, lambda x, y: 16 * y),
    "unknown, wraps": (
        "ld.param.u32 %r, [shift]; mov.u32 %s, box; add.u32 %s, %s, %r;"
        "shl.b32 %r, %y, 6; add.u32 %s, %s, %r;",
        256,
        lambda x, y: 16 * y,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_offsets(engine: str, case: str) -> None:
    address, offset, place = CASES[case]
    device = shared_device(engine)
    kernel = device.load(KERNEL.format(address=address, offset=offset))["k"]
    data = np.random.default_rng(1).integers(0, 2**32, WORDS, "u4")
    out = device.zeros(WORDS, "u4")
    kernel((1,), (16, 16), (device.array(data), out, 2**32 - 256))  # the parameter: 256 below zero
    thread = np.arange(WORDS)
    expected = data[place(thread % 16, thread // 16) + 0 * thread]
    np.testing.assert_array_equal(out.numpy(), expected)


@pytest.mark.parametrize(("start", "offset"), [(0, 1024), (0, -4), (4, 1020), (0xFFFF_FFF0, 8)])
def test_offsets_out_of_bounds_fault(engine: str, start: int, offset: int) -> None:
    device = shared_device(engine)
    address = f"mov.u32 %s, box; add.u32 %s, %s, {start};"
    kernel = device.load(KERNEL.format(address=address, offset=offset))["k"]
    arrays = device.zeros(WORDS, "u4"), device.zeros(WORDS, "u4")
    with pytest.raises(simt.MemoryFault) as fault:
        kernel((1,), (16, 16), (*arrays, 0))
    assert fault.value.address == (start + offset) % 2**32


def test_the_constant_is_added_to_the_pointer() -> None:
    """Of rows in shared memory that are proven right: two loads, whose addresses are without the constant."""
    program = shared_device("jit").load(KERNEL.format(address=ROW, offset=60)).program
    text, *_ = emit(program, program.functions["k"], BlockShape(16, 16, 1), host_features(), "nounwind")
    assert len(re.findall(r"getelementptr i8, ptr %\w+, i64 60\n", text)) == 2


LOOP = """mov.u32 %s, box; shl.b32 %r, %y, 6; add.u32 %s, %s, %r; ld.param.u32 %x, [shift];
    NEXT: add.u32 %s, %s, {step}; sub.u32 %x, %x, 1; setp.ne.u32 %p, %x, 0; @%p bra NEXT;"""
"""A place for each row of the CTA, that a loop moves on: aligned, if the step is, but anywhere."""


def moved(step: int) -> str:
    return KERNEL.format(address=".reg .pred %p;" + LOOP.format(step=step), offset=0)


@pytest.mark.parametrize(("step", "rotated"), [(4, False), (2, True)])
def test_what_is_surely_aligned_is_not_rotated(step: int, rotated: bool) -> None:
    program = shared_device("jit").load(moved(step)).program
    text, *_ = emit(program, program.functions["k"], BlockShape(16, 16, 1), host_features(), "nounwind")
    assert bool(re.search(r"call \S+( x i32>)? @llvm\.fshr\.(v2)?i32", text)) == rotated


@pytest.mark.parametrize(("step", "turns", "wrong"), [(4, 15, 0), (4, 16, 1024), (2, 2, 0), (2, 1, 2)])
def test_places_that_a_loop_moves_on(engine: str, step: int, turns: int, wrong: int) -> None:
    device = shared_device(engine)
    data, out = device.array(np.arange(WORDS, dtype="u4")), device.zeros(WORDS, "u4")
    kernel = device.load(moved(step))["k"]
    if not wrong:
        kernel((1,), (16, 16), (data, out, turns))
        np.testing.assert_array_equal(out.numpy(), np.repeat(np.arange(16) * 16, 16) + step * turns // 4)
        return
    with pytest.raises(simt.MemoryFault) as fault:
        kernel((1,), (16, 16), (data, out, turns))
    assert fault.value.address == wrong
