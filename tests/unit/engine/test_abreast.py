"""Warps of a CTA that run side by side between two barriers (`simt.engine.llvm_abreast`)."""

from __future__ import annotations

import re

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.host import named_cpus
from simt.engine.llvm_kernel import emit
from tests.conftest import shared_device

AVX512, AVX2 = "x86-64-v4", "x86-64-v3"
STEPS, TURNS = 14, 3
KERNEL = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{{
    .reg .pred %p;
    .reg .b32 %x, %y, %t, %r, %s, %n;
    .reg .f32 %sum, %a, %b;
    .reg .f64 %wide;
    .reg .b64 %m, %o;
    .shared .align 4 .b8 left[4096];
    .shared .align 4 .b8 right[4096];
    mov.u32 %x, %tid.x;
    mov.u32 %y, %tid.y;
    mad.lo.u32 %t, %y, 16, %x;
    shl.b32 %r, %y, 6;
    shl.b32 %x, %x, 2;
    mul.wide.u32 %o, %t, 4;
    mov.f32 %sum, 0f3F800000;
    mov.u32 %n, 0;
AGAIN:
    ld.param.u64 %m, [in];
    add.u64 %m, %m, %o;
    ld.global.f32 %a, [%m];
    mov.u32 %s, left;
    add.u32 %s, %s, %r;
    add.u32 %t, %s, %x;
    st.shared.f32 [%t], %a;
    mov.u32 %s, right;
    add.u32 %s, %s, %r;
    add.u32 %t, %s, %x;
    add.f32 %a, %a, 0f3F800000;
    st.shared.f32 [%t], %a;
    bar.sync 0;
    {body}
    bar.sync 0;
    add.u32 %n, %n, 1;
    setp.lt.u32 %p, %n, 3;
    @%p bra AGAIN;
    ld.param.u64 %m, [out];
    add.u64 %m, %m, %o;
    st.global.f32 [%m], %sum;
    ret;
}}
"""
ADDRESSES = "mov.u32 %s, left; add.u32 %s, %s, %r; mov.u32 %t, right; add.u32 %t, %t, %x;"


def body(steps: int = STEPS, more: str = "") -> str:
    lines = [f"ld.shared.f32 %a, [%s+{4 * i}]; ld.shared.f32 %b, [%t+{64 * i}];" for i in range(steps)]
    return ADDRESSES + more.join(f"{line} fma.rn.f32 %sum, %a, %b, %sum;" for line in lines)


def text_of(source: str, rows: int, cpu: str) -> str:
    program = shared_device("jit").load(source).program
    features = named_cpus()[cpu].features
    return emit(program, program.functions["k"], BlockShape(16, rows, 1), features, "nounwind")[0]


def side_by_side(source: str, rows: int = 16, cpu: str = AVX512) -> int:
    """How many warps the most that run together are."""
    return 1 + max(
        (int(n) for n in re.findall(r"%warp\.j(\d+)\.\d+ = ", text_of(source, rows, cpu))), default=0
    )


def expected(data: np.ndarray, steps: int, rows: int) -> np.ndarray:
    left = data.reshape(rows, 16)
    right, total = left + np.float32(1), np.ones((rows, 16), "f4")
    for _ in range(TURNS):
        for i in range(steps):
            # Exact: products of small integers.
            total += left[:, i : i + 1] * right[i]
    return total.ravel()


@pytest.mark.parametrize(("rows", "count"), [(16, 4), (64, 4), (28, 2), (18, 3), (22, 1)])
def test_sums_of_products(engine: str, rows: int, count: int) -> None:
    source = KERNEL.format(body=body())
    assert side_by_side(source, rows) == count
    assert side_by_side(source, rows, AVX2) == (1 if rows in (18, 22) else 2)
    device = shared_device(engine)
    data = np.random.default_rng(rows).integers(-8, 8, 16 * rows).astype("f4")
    out = device.zeros(16 * rows, "f4")
    device.load(source)["k"]((1,), (16, rows), (device.array(data), out))
    np.testing.assert_array_equal(out.numpy(), expected(data, STEPS, rows))


def test_what_all_warps_load_alike_is_loaded_once() -> None:
    """Of each row of the right matrix one load a turn (in two halves, which LLVM joins)."""
    text = text_of(KERNEL.format(body=body()), 16, AVX512)
    places = re.findall(r"getelementptr i8, ptr %shared\.start, i64 (\d+)\n", text)
    rows = [4096 + 64 * i for i in range(STEPS)]
    assert [places.count(str(row)) for row in rows] == [2 * TURNS] * STEPS


LOOP = "mov.u32 %y, 0; NEXT: {steps} add.u32 %y, %y, 1; setp.lt.u32 %p, %y, 1; @%p bra NEXT;"
OTHERS = {
    "short": body(8),
    "a store": body(more="st.shared.f32 [%s], %b;"),
    "an atomic operation": body(more="atom.shared.add.u32 %n, [%t], 0;"),
    "a loop": ADDRESSES + LOOP.format(steps=body()),
    "double precision": body(more="cvt.f64.f32 %wide, %sum; fma.rn.f64 %wide, %wide, %wide, %wide;"
                             "cvt.rn.f32.f64 %sum, %wide;"),
    "a division, seldom of zero": body(more="rsqrt.approx.f32 %a, %b;"),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_others_run_one_by_one(name: str) -> None:
    assert side_by_side(KERNEL.format(body=OTHERS[name])) == 1


def test_faults_name_the_thread(engine: str) -> None:
    """Of a load that is checked, in the phase of a long chain."""
    source = KERNEL.format(body=body() + "mad.lo.u32 %t, %r, 6, %t; ld.shared.f32 %b, [%t];")
    device = shared_device(engine)
    with pytest.raises(simt.MemoryFault, match=r"shared address 0x2080.*thread \(0, 11, 0\)"):
        device.load(source)["k"]((1,), (16, 16), (device.zeros(256, "f4"), device.zeros(256, "f4")))
