"""Words few bytes apart, which AVX2 picks out of registers, and small ones, bytes of registers or parts of
larger integers: up to both ends of memory. Expectations are NumPy's."""

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

KERNEL = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{{
    .reg .b32 %t, %x, %y, %n; .reg .b64 %a, %b; .reg .{held} %v;
    mov.u32 %x, %tid.x; mov.u32 %y, %tid.y; mov.u32 %n, %ntid.x; mad.lo.u32 %t, %y, %n, %x;
    ld.param.u64 %a, [in]; mul.wide.u32 %b, %t, {step}; add.u64 %a, %a, %b; ld.global.{kind} %v, [%a];
    ld.param.u64 %a, [out]; mul.wide.u32 %b, %t, {size}; add.u64 %a, %a, %b; st.global.{kind} [%a], %v;
    ret;
}}
"""
STEPS = [
    ("u8", 2), ("u8", 4), ("u8", 8), ("u8", 3), ("u8", 5), ("u8", 7), ("b16", 4), ("b16", 8), ("b16", 6),
    ("f32", 8), ("u32", 12), ("u32", 16), ("f64", 16), ("u64", 24),
]  # fmt: skip
BLOCKS = [(32, 1), (64, 1), (16, 2), (8, 4), (4, 8), (24, 1)]


def source(kind: str, step: int) -> str:
    bits = int(kind[1:])
    held = kind if kind[0] == "f" else f"b{max(bits, 16)}"
    return KERNEL.format(kind=kind, step=step, size=bits // 8, held=held)


@pytest.mark.parametrize("block", BLOCKS, ids=str)
@pytest.mark.parametrize(("kind", "step"), STEPS)
@pytest.mark.parametrize("cpu", ["host", *CPUS])
def test_up_to_both_ends(cpu: str, kind: str, step: int, block: tuple[int, int]) -> None:
    """Of the memory that there is: two arrays, of which the kernel reads the first bytes or the last ones."""
    device = simt.Device("sm_90", cpu=cpu, memory="64MiB")
    data = np.random.default_rng(step).integers(0, 256, 1 << 20, "u1")
    lower, room, upper = device.array(data), device.array(data), device.array(data)
    begin, end = lower.ptr, upper.ptr + upper.nbytes
    assert (begin, end) == (device.memory.base, device.memory.limit)
    room.free()  # for what launches need
    kernel, size, threads = device.load(source(kind, step))["k"], int(kind[1:]) // 8, block[0] * block[1]
    reach, out = (threads - 1) * step + size, begin + (1 << 19)
    places = np.arange(threads)[:, None] * step + np.arange(size)
    for first, expected in ((begin, data[places]), (end - reach, data[data.size - reach + places])):
        kernel(1, block, (first, out))
        found = lower.numpy()[1 << 19 :][: threads * size].reshape(threads, size)
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(simt.MemoryFault, match=rf"thread \({block[0] - 1}, {block[1] - 1}, 0\)"):
        kernel(1, block, (end - reach + size, out))


def code(kind: str, step: int, threads: int, cpu: str) -> str:
    found, program = named_cpus()[cpu], shared_device("jit").load(source(kind, step)).program
    return emit(
        program, program.functions["k"], BlockShape(threads, 1, 1), found.features, attributes(found)
    )[0]


@pytest.mark.skipif("x86-64" not in named_cpus(), reason="names of x86's CPUs")
def test_who_loads_so() -> None:
    assert code("u8", 4, 32, "x86-64-v3").count("load <8 x i32>") == 4
    assert code("b16", 4, 32, "x86-64-v3").count("load <8 x i32>") == 4
    assert code("f32", 12, 32, "x86-64-v3").count("load <8 x float>") == 4 * 3
    assert code("u8", 3, 32, "x86-64-v3").count("call <32 x i8> @llvm.x86.avx2.pshuf.b") == 3
    assert code("b16", 6, 32, "x86-64-v3").count("call <32 x i8> @llvm.x86.avx2.pshuf.b") == 2 * 3
    for kind, step, cpu in (("u8", 3, "x86-64-v2"), ("f32", 16, "x86-64-v3"), ("f32", 8, "x86-64-v2")):
        assert "load <" not in code(kind, step, 32, cpu).split("@simt.steps")[1].split("}")[0]
