"""Shuffles for CPUs whose registers hold a quarter of a warp, or less: lanes that are known, and others."""

from __future__ import annotations

from itertools import product
from operator import itemgetter

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.compile import attributes
from simt.engine.host import named_cpus
from simt.engine.llvm_kernel import emit
from tests.conftest import shared_device
from tests.shares import share
from tests.unit.engine.conftest import CPUS

KERNEL = """
.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n, .param .u32 c)
{{
    .reg .b32 %v, %w, %t, %n, %c, %k; .reg .f32 %f; .reg .b64 %a, %b, %o; .reg .pred %p, %few;
    ld.param.u64 %a, [in]; ld.param.u64 %b, [out]; ld.param.u32 %n, [n]; ld.param.u32 %c, [c];
    mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 4; add.u64 %a, %a, %o; add.u64 %b, %b, %o;
    setp.lt.u32 %few, %t, 21;
    {value} ld.global.u32 %k, [%a];
    {guard}
    shfl.sync.{mode}.b32 %w|%p, %v, {offset}, {clamp}, -1;
    @%p xor.b32 %w, %w, 0x10000000;
    END: st.global.b32 [%b], %w;
    ret;
}}
"""
INTEGER = "ld.global.u32 %v, [%a]; mov.b32 %w, %v;"
FLOAT = "ld.global.f32 %f, [%a]; add.f32 %f, %f, 0f3F800000; mov.b32 %v, %f; mov.b32 %w, %v;"
WAYS = [
    ("down", 16, 31),
    ("bfly", 3, 31),
    ("up", 2, 0),
    ("idx", 9, 0x181F),
    ("down", 4, 0x1817),
    ("bfly", 24, 31),
]
GUARDS = "", "@!%few bra END;"


def source(mode: str, offset: str, clamp: str, value: str = INTEGER, guard: str = "") -> str:
    return KERNEL.format(mode=mode, offset=offset, clamp=clamp, value=value, guard=guard)


def outcome(device: simt.Device, text: str, n: int, c: int, x: int) -> list[int]:
    words = (np.random.default_rng(7).integers(1, 1 << 30, 64)).astype("u4")
    out = device.zeros(64, "u4")
    device.load(text)["k"](1, (x, 64 // x), (device.array(words), out, n, c))
    return out.numpy().tolist()


@pytest.mark.parametrize("cpu", ["host", *CPUS])
@pytest.mark.parametrize("value", [INTEGER, FLOAT], ids=["integers", "numbers"])
def test_all_ways(cpu: str, value: str) -> None:
    device = simt.Device("sm_90", cpu=cpu)
    for (mode, offset, clamp), guard, number in share(product(WAYS, GUARDS, range(3)), 3, itemgetter(0)):
        names = ((str(offset), str(clamp)), ("%n", "%c"), ("%k", str(clamp)))[number]
        text = source(mode, *names, value, guard)
        for x in (64, 16):
            expected = outcome(shared_device("interpreter"), text, offset, clamp, x)
            assert outcome(device, text, offset, clamp, x) == expected, (mode, offset, names, guard, x)


def code(text: str, cpu: str) -> str:
    found, program = named_cpus()[cpu], shared_device("jit").load(text).program
    return emit(program, program.functions["k"], BlockShape(64, 1, 1), found.features, attributes(found))[0]


@pytest.mark.skipif("x86-64" not in named_cpus(), reason="names of x86's CPUs")
@pytest.mark.parametrize(("mode", "offset", "clamp"), WAYS)
def test_what_is_known_is_no_look_up(mode: str, offset: int, clamp: int) -> None:
    """Known lanes are a shuffle of LLVM's; others are looked up in registers where the CPU can."""
    known, unknown = source(mode, str(offset), str(clamp)), source(mode, "%k", str(clamp))
    for cpu in ("x86-64", "x86-64-v3"):
        assert "alloca <32 x i32>" not in code(known, cpu)
        assert "avx2.permd" not in code(known, cpu)
    assert code(unknown, "x86-64-v3").count("call <8 x i32> @llvm.x86.avx2.permd") == 16
    assert "alloca <32 x i32>" in code(unknown, "x86-64")
