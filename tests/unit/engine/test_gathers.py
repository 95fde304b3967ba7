"""Loads of one word or of several for each lane, at addresses of which nothing is known."""

from __future__ import annotations

import re

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.host import host_features
from simt.engine.llvm_kernel import emit
from tests.conftest import shared_device

THREADS, PLACES = 64, 50
KERNEL = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 indices, .param .u64 out, .param .u32 last)
{{
    .reg .pred %p; .reg .b32 %t, %i, %n; .reg .b64 %a, %x, %o; .reg .b{held} {registers};
    .shared .align 16 .b8 box[{bytes}];
    ld.param.u64 %a, [in]; ld.param.u64 %x, [indices]; ld.param.u64 %o, [out]; ld.param.u32 %n, [last];
    mov.u32 %t, %tid.x;
    {copy}
    mul.wide.u32 %x, %t, 4;
    ld.param.u64 %o, [indices]; add.u64 %x, %x, %o; ld.param.u64 %o, [out];
    ld.global.u32 %i, [%x];
    {zeros}
    setp.le.u32 %p, %t, %n;
    {address}
    @%p ld.{space}.{mode} {value}, [%a];
    mul.wide.u32 %x, %t, {size}; add.u64 %o, %o, %x;
    st.global.{mode} [%o], {value};
    ret;
}}
"""
COPY = """mul.wide.u32 %x, %t, {size}; add.u64 %x, %x, %a;
    mov.u64 %o, box; cvt.u32.u64 %i, %o; mad.lo.u32 %i, %t, {size}, %i;
    setp.lt.u32 %p, %t, 50;
    @%p ld.global.{mode} {value}, [%x];
    @%p st.shared.{mode} [%i], {value};
    bar.sync 0;"""
ADDRESS = {
    "global": "mul.wide.u32 %x, %i, {size}; add.u64 %a, %a, %x;",
    "shared": "mov.u64 %a, box; mul.wide.u32 %x, %i, {size}; add.u64 %a, %a, %x;",
}
KINDS = [(8, 1), (8, 2), (8, 4), (16, 1), (16, 2), (16, 4), (32, 1), (32, 2), (32, 4), (64, 1), (64, 2)]


def source(bits: int, count: int, space: str) -> str:
    registers = [f"%v{i}" for i in range(count)]
    size = bits // 8 * count
    mode = f"v{count}.b{bits}" if count > 1 else f"b{bits}"
    value = f"{{{', '.join(registers)}}}" if count > 1 else "%v0"
    return KERNEL.format(
        held=max(bits, 16), registers=", ".join(registers), bytes=64 * size, mode=mode, value=value,
        size=size,
        space=space, address=ADDRESS[space].format(size=size),
        copy=COPY.format(size=size, mode=mode, value=value) if space == "shared" else "",
        zeros=" ".join(f"mov.b{max(bits, 16)} {r}, 0;" for r in registers),
    )  # fmt: skip


@pytest.mark.share(3)
@pytest.mark.parametrize("space", ADDRESS)
@pytest.mark.parametrize(("bits", "count"), KINDS)
def test_words_at_any_places(any_device: simt.Device, bits: int, count: int, space: str) -> None:
    """Lanes that do not run have addresses that nobody may read."""
    random, size = np.random.default_rng(2), bits // 8 * count
    data = random.integers(0, 256, (PLACES, size), "u1")
    kernel = any_device.load(source(bits, count, space))["k"]
    for last in (THREADS - 1, 40, 2):
        indices = random.integers(0, PLACES, THREADS, "u4")
        indices[last + 1 :] = 0xFFFFFFF0
        out = any_device.zeros((THREADS, size), "u1")
        kernel((1,), (THREADS,), (any_device.array(data), any_device.array(indices), out, last))
        expected = np.zeros((THREADS, size), "u1")
        expected[: last + 1] = data[indices[: last + 1]]
        np.testing.assert_array_equal(out.numpy(), expected)


@pytest.mark.share(2)
@pytest.mark.parametrize("space", ADDRESS)
@pytest.mark.parametrize(("bits", "count"), KINDS)
def test_a_wrong_place_faults(any_device: simt.Device, bits: int, count: int, space: str) -> None:
    kernel, size = any_device.load(source(bits, count, space))["k"], bits // 8 * count
    indices = np.arange(THREADS, dtype="u4")[::-1] % PLACES
    indices[[7, 9]] = 0x7FFFFFF0
    arrays = any_device.zeros((PLACES, size), "u1"), any_device.array(indices), any_device.zeros(4096, "u1")
    with pytest.raises(simt.MemoryFault) as fault:
        kernel((1,), (THREADS,), (*arrays, THREADS - 1))
    assert fault.value.site.thread == (7, 0, 0)


@pytest.mark.parametrize(("bits", "count", "gathers", "loads"), [(8, 4, 1, 0), (32, 2, 1, 0), (32, 4, 0, 32)])
def test_several_words_are_got_together(bits: int, count: int, gathers: int, loads: int) -> None:
    """Besides what is done where lanes turn out to be one after the other."""
    program = shared_device("jit").load(source(bits, count, "global")).program
    text, *_ = emit(program, program.functions["k"], BlockShape(THREADS, 1, 1), host_features(), "nounwind")
    assert len(re.findall(r"call <\d+ x \w+> @(?:llvm\.masked|simt)\.gather", text)) == gathers
    assert len(re.findall(r"= load <4 x i32>, ptr %v\d+, align 16", text)) == loads
