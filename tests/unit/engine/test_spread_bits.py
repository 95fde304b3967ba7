"""Masks of integers, where the CPU has no registers for masks: they are comparisons of lanes."""

from __future__ import annotations

import re

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.driver.source import compile_ptx
from simt.engine.compile import attributes, optimized, target_machine
from simt.engine.host import find_cpu
from simt.engine.llvm_kernel import emit
from simt.engine.llvm_spread_bits import with_spread_bits
from simt.machine.device import DEVICES
from tests.conftest import kept_for_each_way

# What is kept over a barrier: a predicate of each thread's own, for a choice and for a guard.
KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {
    .reg .b64 %in, %out, %a; .reg .b32 %t, %v, %w, %s; .reg .pred %p, %q;
    .shared .align 4 .b8 words[1024];
    ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
    mov.u32 %t, %tid.x; mul.wide.u32 %a, %t, 4; add.u64 %in, %in, %a; add.u64 %out, %out, %a;
    ld.global.u32 %v, [%in]; shl.b32 %s, %t, 2; mov.u32 %w, words; add.u32 %s, %s, %w;
    setp.gt.s32 %p, %v, 5; st.shared.u32 [%s], %v;
    bar.sync 0;
    xor.b32 %s, %s, 4; ld.shared.u32 %w, [%s]; setp.gt.and.s32 %q, %w, 2, %p;
    @%q add.u32 %w, %w, 100; @!%p add.u32 %w, %w, 1000;
    bar.sync 0;
    @%p st.global.u32 [%out], %w; @!%p st.global.u32 [%out], %v;
    ret;
}
"""
THREADS = 256


@kept_for_each_way
def device_for(cpu: str) -> simt.Device:
    return simt.Device("sm_90", engine="jit", memory="64MiB", cpu=cpu)


@pytest.mark.parametrize("cpu", ["x86-64", "x86-64-v3", "host"])
def test_predicates_over_barriers(cpu: str) -> None:
    device, v = device_for(cpu), np.random.default_rng(3).integers(-9, 20, THREADS, dtype="i4")
    out = device.zeros(THREADS, "i4")
    device.load(KERNEL)["k"](1, THREADS, (device.array(v), out))
    w, p = v[np.arange(THREADS) ^ 1], v > 5
    w = np.where(p & (w > 2), w + 100, w)
    assert out.numpy().tolist() == np.where(p, w, v).tolist()


def test_no_bit_is_taken_out_by_itself() -> None:
    cpu, program = find_cpu("x86-64-v3"), compile_ptx(KERNEL, "<ptx>", DEVICES[90])[0]
    text, _, _ = emit(
        program, program.functions["k"], BlockShape(THREADS, 1, 1), cpu.features, attributes(cpu)
    )
    module = optimized(text, cpu)
    assert re.search(r"load <32 x i1>", str(module)) is None
    assert "%spread." in str(module)
    assert target_machine(cpu).emit_assembly(module).count("vpinsrb") < 32


def test_what_takes_single_bits_keeps_them() -> None:
    """Gathers, which LLVM makes a test of each bit where they are slow, and masks of bytes."""
    text = """define void @f(i32 %bits, <32 x ptr> %p, <32 x i32> %a, <32 x i8> %b) {
  %m = bitcast i32 %bits to <32 x i1>
  %g = call <32 x i32> @llvm.masked.gather.v32i32.v32p0(<32 x ptr> %p, i32 4, <32 x i1> %m, <32 x i32> %a)
  %c = select <32 x i1> %m, <32 x i32> %g, <32 x i32> %a
  %d = select <32 x i1> %m, <32 x i8> %b, <32 x i8> zeroinitializer
  ret void
}
"""
    lines = with_spread_bits(text).splitlines()
    of = {line.split(" = ")[0].strip(): line for line in lines if " = " in line}
    assert "<32 x i1> %m," in of["%g"]
    assert "<32 x i1> %m," in of["%d"]
    assert "<32 x i1> %spread.m," in of["%c"]
    assert with_spread_bits("define void @f() {\n  ret void\n}\n").count("\n") == 3


def test_names_are_those_of_a_function() -> None:
    """The same name means something else in another function."""
    text = """define <32 x i1> @f(i32 %bits, <32 x i1> %n) {
  %m = bitcast i32 %bits to <32 x i1>
  %r = and <32 x i1> %m, %n
  ret <32 x i1> %r
}
define <32 x i1> @g(<32 x i1> %m, <32 x i1> %n) {
  %r = and <32 x i1> %m, %n
  ret <32 x i1> %r
}
"""
    first, second, _ = with_spread_bits(text).split("\n}\n")
    assert "%r = and <32 x i1> %spread.m, %n" in first
    assert "%r = and <32 x i1> %m, %n" in second


@pytest.mark.parametrize("width", [8, 16, 32])
def test_masks_in_memory(width: int) -> None:
    """LLVM loads a mask where an integer is loaded for it."""
    text = (
        f"define void @f(ptr %p) {{\n  %1 = load <{width} x i1>, ptr %p, align 4, !tbaa !3\n  ret void\n}}\n"
    )
    spread = with_spread_bits(text)
    assert f"  %bits.1 = load i{width}, ptr %p, align 4, !tbaa !3" in spread
    assert f"icmp ne <{width} x i32> %spread.1.had, zeroinitializer" in spread
