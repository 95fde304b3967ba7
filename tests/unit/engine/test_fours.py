"""Four words for each lane on CPUs with AVX2: `simt.engine.llvm_fours`."""

from __future__ import annotations

import re

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.compile import attributes
from simt.engine.host import named_cpus
from simt.engine.llvm_kernel import emit
from tests.conftest import kept_for_each_way, shared_device

KERNEL = """
.version 7.0
.target sm_75
.address_size 64
.entry k(.param .u64 in, .param .u64 out)
{{
    .reg .u64 %p, %q, %d; .reg .u32 %x, %y; .reg .{t} %a<4>; .reg .pred %off;
    ld.param.u64 %p, [in]; ld.param.u64 %q, [out];
    mov.u32 %x, %tid.x; setp.ge.u32 %off, %x, 70; @%off bra END;
    {place}
    mul.wide.u32 %d, %y, {bytes}; add.u64 %p, %p, %d;
    mul.wide.u32 %d, %x, {bytes}; add.u64 %q, %q, %d;
    ld.global.v4.{t} {{%a0, %a1, %a2, %a3}}, [%p];
    st.global.v4.{t} [%q], {{%a3, %a1, %a0, %a2}};
END:
    ret;
}}
"""
TYPES = {"u8": "u1", "u16": "u2", "u32": "u4", "f32": "f4"}
ORDER = [3, 1, 0, 2]
PLACES = {"consecutive": "mov.u32 %y, %x;", "apart": "mul.lo.u32 %y, %x, 7;", "back": "sub.u32 %y, 95, %x;"}


def kernel(t: str, place: str) -> str:
    return KERNEL.format(t=t, place=PLACES[place], bytes=4 * np.dtype(TYPES[t]).itemsize)


@kept_for_each_way
def device_for(cpu: str) -> simt.Device:
    return simt.Device("sm_90", engine="jit", memory="64MiB", cpu=cpu)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("t", TYPES)
@pytest.mark.parametrize("cpu", ["host", "x86-64-v3"])
def test_words_of_lanes(cpu: str, t: str, place: str) -> None:
    """The last of three warps runs in part."""
    device, numbers = device_for(cpu), np.arange(96)
    given = np.random.default_rng(5).integers(0, 250, (700, 4)).astype(TYPES[t])
    out = device.zeros((96, 4), TYPES[t])
    device.load(kernel(t, place))["k"](1, 96, (device.array(given), out))
    at = {"consecutive": numbers, "apart": 7 * numbers, "back": 95 - numbers}[place]
    expected = np.where(numbers[:, None] < 70, given[at][:, ORDER], 0)
    assert out.numpy().tolist() == expected.tolist()


@pytest.mark.parametrize("t", TYPES)
def test_no_shuffle_takes_words_of_more_than_two_registers(t: str) -> None:
    """But for bytes, and where CPUs have AVX-512 or no AVX2, whose code is LLVM's matter."""
    wide = re.compile(
        r"shufflevector <128 x (?!i1>)\S+ \S+, <128 x \S+ poison, <(32|128) x i32> <i32 0, i32 (4|32),"
    )
    found = {name for name in named_cpus() if wide.search(code(kernel(t, "consecutive"), name))}
    assert ("x86-64-v3" in found) == (t == "u8")
    assert "x86-64-v2" in found


def code(text: str, name: str) -> str:
    program, cpu = shared_device("jit").load(text).program, named_cpus()[name]
    return emit(program, program.functions["k"], BlockShape(96, 1, 1), cpu.features, attributes(cpu))[0]
