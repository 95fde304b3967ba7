"""Faults found in reviews: each test fails without its mend."""

from __future__ import annotations

import ctypes
import platform
import sys

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.driver.source import compile_ptx
from simt.engine.host import host_features
from simt.engine.llvm_kernel import emit
from simt.machine.device import find_device

HEAD = ".version 7.0\n.target sm_75\n.address_size 64\n"


def many_way_branch(ways: int) -> str:
    """A kernel whose lanes go `ways` ways at once: lane i adds i to its number."""
    targets = ", ".join(f"L{i}" for i in range(ways))
    cases = "\n".join(f"L{i}: add.u32 %r, %r, {i}; bra.uni END;" for i in range(ways))
    return f"""{HEAD}
.visible .entry k(.param .u64 out)
{{
    .reg .b64 %o; .reg .b32 %r, %i;
    ld.param.u64 %o, [out];
    mov.u32 %r, %tid.x;
    rem.u32 %i, %r, {ways};
    mad.wide.u32 %o, %r, 4, %o;
    TARGETS: .branchtargets {targets};
    brx.idx %i, TARGETS;
    {cases}
    END:
    st.global.u32 [%o], %r;
    ret;
}}
"""


def emitted_lines(ptx: str) -> int:
    """Lines of LLVM IR of a kernel for one warp."""
    program, _ = compile_ptx(ptx, "<test>", find_device("sm_90"))
    text, *_ = emit(program, program.functions["k"], BlockShape(32, 1, 1), host_features(), "nounwind")
    return text.count("\n")


def test_code_of_a_branch_with_many_targets_is_linear_in_them() -> None:
    assert emitted_lines(many_way_branch(400)) < 5 * emitted_lines(many_way_branch(100))


@pytest.mark.parametrize("ways", [3, 17, 18, 40])
def test_branch_with_many_targets(engine: str, ways: int) -> None:
    device = simt.Device("sm_90", engine=engine, memory="64MiB", timeout=20)
    out = device.zeros(64, "u4")
    device.load(many_way_branch(ways))["k"](1, 64, (out,))
    lanes = np.arange(64)
    assert (out.numpy() == lanes + lanes % ways).all()


FE_UPWARD_ON_X86 = 0x800


@pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64") or not sys.platform.startswith("linux"),
    reason="sets the rounding mode through glibc, by its number on x86",
)
def test_kernels_do_not_inherit_the_rounding_mode_of_the_thread_that_launches() -> None:
    ptx = f"""{HEAD}
.visible .entry k(.param .u64 out)
{{
    .reg .b64 %o; .reg .b32 %t; .reg .f32 %a;
    ld.param.u64 %o, [out];
    mov.u32 %t, %tid.x;
    mad.wide.u32 %o, %t, 4, %o;
    ld.global.f32 %a, [%o];
    mul.rn.f32 %a, %a, %a;
    st.global.f32 [%o], %a;
    ret;
}}
"""
    values = np.arange(1, 33, dtype="f4") * np.float32(0.1)
    device = simt.Device("sm_90", engine="jit", memory="64MiB", timeout=20)  # its threads are not yet made
    kernel, array = device.load(ptx)["k"], device.array(values)
    libm = ctypes.CDLL("libm.so.6")
    libm.fesetround(FE_UPWARD_ON_X86)
    try:
        kernel(1, 32, (array,))
        assert libm.fegetround() == FE_UPWARD_ON_X86, "the thread's own mode is as it was"
    finally:
        libm.fesetround(0)
    assert (array.numpy() == values * values).all()


def test_long_arithmetic_on_constants_alone() -> None:
    """Results of f64 whose NaNs are found by doing everything again, without a column to do it with."""
    turns = 60
    body = "fma.rn.f64 %a, %a, 0d3FE0000000000000, %b; " * turns
    ptx = f"""{HEAD}
.visible .entry k(.param .u64 out)
{{
    .reg .b64 %o; .reg .f64 %a, %b;
    ld.param.u64 %o, [out];
    mov.f64 %a, 0d4008000000000000;
    mov.f64 %b, 0d3FB999999999999A;
    {body}
    st.global.f64 [%o], %a;
    ret;
}}
"""
    device = simt.Device("sm_90", engine="jit", memory="64MiB", timeout=20)
    array, expected = device.zeros(1, "f8"), 3.0
    device.load(ptx)["k"](1, 32, (array,))
    for _ in range(turns):
        expected = expected * 0.5 + 0.1  # the product is exact
    assert array.numpy()[0] == expected


@pytest.mark.parametrize(
    "factor",
    [
        "mov.f32 %f, 0f40000000; mov.b32 %x, %f;",
        "mov.b64 %o, 16; cvta.shared.u64 %o, %o; cvt.u32.u64 %x, %o;",
    ],
    ids=["bits of a float", "address in a window"],
)
def test_products_of_an_index_and_a_number_that_is_no_integer_constant(engine: str, factor: str) -> None:
    """The analysis took the number for a known integer, the code did not."""
    ptx = f"""{HEAD}
.visible .entry k(.param .u64 out)
{{
    .reg .pred %p; .reg .b64 %o, %a; .reg .b32 %t, %x, %v, %n; .reg .f32 %f; .shared .b32 s[8];
    mov.u32 %t, %tid.x;
    mov.u32 %n, %nctaid.x;
    {factor}
    mul.lo.u32 %v, %t, %x;
    setp.ne.u32 %p, %n, 1;
    @%p bra END;
    ld.param.u64 %a, [out];
    mad.wide.u32 %a, %t, 8, %a;
    st.global.v2.u32 [%a], {{%x, %v}};
    END:
    ret;
}}
"""
    device = simt.Device("sm_90", engine=engine, memory="64MiB", timeout=20)
    out = device.zeros((64, 2), "u4")
    device.load(ptx)["k"](1, 64, (out,))
    number, product = out.numpy().T
    assert (number == number[0]).all()
    assert number[0]
    assert (product == np.arange(64, dtype="u4") * number).all()


@pytest.mark.parametrize(
    "product",
    [
        "mul24.hi.u32 %x, %v, 0;",
        "mul.wide.u32 %w, %v, 0; cvt.u32.u64 %x, %w;",
        "mad24.hi.u32 %x, %v, 0, 0;",
        "mov.b32 %x, 0; mul.wide.s32 %w, %x, %v; cvt.u32.u64 %x, %w;",
    ],
)
def test_no_times_what_nothing_is_known_of(engine: str, product: str) -> None:
    """The analysis knew the product, and the code asked whether the other factor is an index."""
    ptx = f"""{HEAD}
.visible .entry k(.param .u64 out)
{{
    .reg .pred %p; .reg .b64 %a, %w; .reg .b32 %t, %v, %x;
    mov.u32 %t, %tid.x;
    ld.param.u64 %a, [out];
    mad.wide.u32 %a, %t, 4, %a;
    ld.global.u32 %v, [%a];
    {product}
    setp.lt.u32 %p, %t, 7;
    @%p bra END;
    add.u32 %x, %x, %t;
    END:
    st.global.u32 [%a], %x;
    ret;
}}
"""
    device = simt.Device("sm_90", engine=engine, memory="64MiB", timeout=20)
    array = device.array(np.arange(64, dtype="u4") * 77777777)
    device.load(ptx)["k"](1, 64, (array,))
    threads = np.arange(64)
    assert array.numpy().tolist() == np.where(threads < 7, 0, threads).tolist()


def test_constants_are_compared_before_a_barrier(engine: str) -> None:
    """What is compared after a barrier is made again there, from an instruction that may give two results."""
    ptx = f"""{HEAD}
.visible .entry k(.param .u64 out)
{{
    .reg .pred %p; .reg .b64 %a; .reg .b32 %t, %x;
    ld.param.u64 %a, [out];
    mov.u32 %t, %tid.x;
    mad.wide.u32 %a, %t, 4, %a;
    setp.ne.u32 %p, 2, 32;
    bar.sync 0;
    selp.u32 %x, %t, 7, %p;
    @%p st.global.u32 [%a], %x;
    ret;
}}
"""
    device = simt.Device("sm_90", engine=engine, memory="64MiB", timeout=20)
    out = device.zeros(64, "u4")
    device.load(ptx)["k"](1, 64, (out,))
    assert out.numpy().tolist() == list(range(64))


@pytest.mark.parametrize("running", [[0], [31], [5, 6], [0, 1, 2, 3]])
def test_what_lanes_that_do_not_run_would_load_is_not_loaded(engine: str, running: list[int]) -> None:
    """Of words that one lane loads it can be guessed that the next lane's follow one byte after them."""
    ptx = f"""{HEAD}
.visible .entry k(.param .u64 p_index, .param .u64 p_runs, .param .u64 p_out)
{{
    .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %rd<8>;
    .shared .align 16 .b8 rows[2048];
    ld.param.u64 %rd1, [p_index];
    ld.param.u64 %rd2, [p_runs];
    ld.param.u64 %rd3, [p_out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd4, %r1, 4;
    add.u64 %rd1, %rd1, %rd4;
    add.u64 %rd2, %rd2, %rd4;
    add.u64 %rd3, %rd3, %rd4;
    mov.u64 %rd5, rows;
    mad.wide.u32 %rd5, %r1, 64, %rd5;
    st.shared.u32 [%rd5+32], %r1;
    ld.global.u32 %r2, [%rd2];
    setp.eq.u32 %p, %r2, 0;
    @%p bra END;
    ld.global.u32 %r3, [%rd1];
    and.b32 %r3, %r3, 48;
    cvt.u64.u32 %rd6, %r3;
    add.u64 %rd6, %rd6, %rd5;
    ld.shared.v4.u32 {{%r4, %r5, %r6, %r7}}, [%rd6];
    add.u32 %r4, %r4, 1;
    st.global.u32 [%rd3], %r4;
    END:
    ret;
}}
"""
    device = simt.Device("sm_75", engine=engine, memory="64MiB", timeout=20)
    runs = np.zeros(32, "u4")
    runs[running] = 1
    out = device.zeros(32, "u4")
    device.load(ptx)["k"](1, 32, (device.array(np.full(32, 0xFF20, "u4")), device.array(runs), out))
    assert out.numpy().tolist() == [lane + 1 if lane in running else 0 for lane in range(32)]
