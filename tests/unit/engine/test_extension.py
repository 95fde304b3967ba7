"""Indices that grow by 1 from lane to lane, extended to 64 bits: they wrap, or are known not to."""

from __future__ import annotations

import pytest

from simt.analysis.shape import BlockShape
from simt.engine.host import host_features
from simt.engine.llvm_kernel import emit
from tests.conftest import shared_device

THREADS = 256
KERNEL = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out)
{{
    .reg .b32 %x, %i, %s;
    .reg .b64 %a, %o, %v;
    mov.u32 %x, %tid.x;
    mul.lo.u32 %i, %x, {step};
    mov.u32 %s, {start};
    {sum}.u32 %i, %s, %i;
    cvt.{kind} %v, %i;
    ld.param.u64 %a, [out];
    mad.lo.u64 %o, %v, 0, %a;
    cvt.u64.u32 %a, %x;
    shl.b64 %a, %a, 3;
    add.u64 %a, %a, %o;
    st.global.u64 [%a], %v;
    ret;
}}
"""
TOP, HALF = 2**32, 2**31
CASES = [
    # of the type, first index, step, whether it wraps between lanes
    ("u64.u32", 0, 1, False),
    ("u64.u32", TOP - THREADS, 1, False),
    ("u64.u32", TOP - THREADS + 1, 1, True),
    ("u64.u32", TOP - 16, 1, True),
    ("u64.u32", HALF - 16, 1, False),
    ("u64.u32", 0, 1 << 23, False),
    ("u64.u32", 1 << 23, 1 << 24, True),
    ("u64.u32", THREADS, -1, False),
    ("u64.u32", 16, -1, True),
    ("s64.s32", HALF - THREADS, 1, False),
    ("s64.s32", HALF - THREADS + 1, 1, True),
    ("s64.s32", HALF - 16, 1, True),
    ("s64.s32", TOP - 16, 1, False),
    ("s64.s32", HALF, 1 << 23, False),
    ("s64.s32", 16, -1, False),
]


def kernel(kind: str, start: int, step: int) -> str:
    return KERNEL.format(kind=kind, start=start, step=abs(step), sum="add" if step > 0 else "sub")


def extended(kind: str, start: int, step: int) -> list[int]:
    """By arithmetic: each thread's index as 64 bits."""
    low = [(start + step * thread) % TOP for thread in range(THREADS)]
    return low if kind == "u64.u32" else [(i - TOP if i >= HALF else i) % 2**64 for i in low]


@pytest.mark.parametrize(("kind", "start", "step", "wraps"), CASES)
def test_values(engine: str, kind: str, start: int, step: int, wraps: bool) -> None:
    device = shared_device(engine)
    out = device.zeros(THREADS, "u8")
    device.load(kernel(kind, start, step))["k"]((1,), (THREADS,), (out,))
    assert out.numpy().tolist() == extended(kind, start, step)


@pytest.mark.parametrize(("kind", "start", "step", "wraps"), CASES)
def test_only_what_may_wrap_is_tested(kind: str, start: int, step: int, wraps: bool) -> None:
    program = shared_device("jit").load(kernel(kind, start, step)).program
    text, *_ = emit(program, program.functions["k"], BlockShape(THREADS, 1, 1), host_features(), "nounwind")
    tests = text.count("call { i32, i1 } @llvm.")
    assert tests == wraps
