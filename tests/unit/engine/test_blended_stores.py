"""Stores by some lanes, where CPUs are slow to store by a mask: what others have stays. They may be blended
with what is there in shared memory, and in any where a launch has one native thread."""

from __future__ import annotations

import re

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.compile import attributes
from simt.engine.host import named_cpus
from simt.engine.llvm_kernel import emit
from tests.conftest import shared_device
from tests.unit.engine.conftest import CPUS

KERNEL = """
.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 first, .param .u32 last)
{{
    .shared .align 16 .b8 box[512];
    .reg .b32 %t, %i, %x, %first, %last, %box; .reg .b64 %o; .reg .pred %p, %q; .reg .b16 %h;
    .reg .b64 %w;
    mov.u32 %t, %tid.x; mov.u32 %box, box; ld.param.u32 %first, [first]; ld.param.u32 %last, [last];
    ld.param.u64 %o, [out];
    mad.lo.u32 %i, %t, 4, %box; mad.lo.u32 %x, %t, 0x01030507, 11;
    st.shared.u32 [%i], %x; st.shared.u32 [%i+256], %x;
    bar.sync 0;
    setp.ge.u32 %p, %t, %first; setp.lt.and.u32 %p, %t, %last, %p;
    mad.lo.u32 %i, %t, {size}, %box;
    mul.lo.u32 %x, %x, 77; cvt.u16.u32 %h, %x; mul.wide.u32 %w, %x, 0x12345;
    @%p st.{volatile}shared.{type} [%i+{shift}], {value};
    bar.sync 0;
    mad.lo.u32 %i, %t, 4, %box; mad.wide.u32 %o, %t, 4, %o;
    ld.shared.u32 %x, [%i]; st.global.u32 [%o], %x;
    ld.shared.u32 %x, [%i+256]; st.global.u32 [%o+256], %x;
    ret;
}}
"""
IN_GLOBAL = """
.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 first, .param .u32 last, .param .u64 flag)
{{
    .reg .b32 %t, %x, %first, %last; .reg .b64 %o, %i, %f; .reg .pred %p, %q; .reg .b16 %h; .reg .b64 %w;
    mov.u32 %t, %tid.x; ld.param.u32 %first, [first]; ld.param.u32 %last, [last];
    ld.param.u64 %o, [out]; ld.param.u64 %f, [flag];
    {wait}
    mad.lo.u32 %x, %t, 0x01030507, 11;
    setp.ge.u32 %p, %t, %first; setp.lt.and.u32 %p, %t, %last, %p;
    mul.wide.u32 %i, %t, {size}; add.u64 %o, %o, %i;
    mul.lo.u32 %x, %x, 77; cvt.u16.u32 %h, %x; mul.wide.u32 %w, %x, 0x12345;
    @%p st.{volatile}global.{type} [%o+{shift}], {value};
    ret;
}}
"""
WAIT = "WAIT: ld.volatile.global.u32 %x, [%f]; setp.eq.u32 %q, %x, 0; @%q bra WAIT;"
"""A kernel that waits for others has company."""
TYPES = {"u8": ("%h", 1), "u16": ("%h", 2), "u32": ("%x", 4), "u64": ("%w", 8)}
BOUNDS = [(0, 64), (0, 5), (3, 40), (31, 33), (9, 9), (0, 63)]


def source(type_: str, shift: int = 0, volatile: str = "") -> str:
    value, size = TYPES[type_]
    return KERNEL.format(type=type_, value=value, size=size, shift=shift, volatile=volatile)


def in_global(type_: str, shift: int = 0, volatile: str = "", wait: str = "") -> str:
    value, size = TYPES[type_]
    return IN_GLOBAL.format(type=type_, value=value, size=size, shift=shift, volatile=volatile, wait=wait)


def outcome(device: simt.Device, text: str, first: int, last: int) -> list[int]:
    out = device.zeros(128, "u4")
    device.load(text)["k"](1, 64, (out, first, last))
    return out.numpy().tolist()


def outcome_in_global(device: simt.Device, text: str, first: int, last: int) -> list[int]:
    out, flag = device.array(np.arange(128, dtype="u4") + 0x55AA), device.array(np.ones(1, "u4"))
    device.load(text)["k"](1, 64, (out, first, last, flag))
    return out.numpy().tolist()


@pytest.mark.parametrize("cpu", ["host", *CPUS])
@pytest.mark.parametrize("type_", TYPES)
def test_what_other_lanes_have_stays(cpu: str, type_: str) -> None:
    device = simt.Device("sm_90", cpu=cpu)
    for first, last in BOUNDS:
        text = source(type_)
        expected = outcome(shared_device("interpreter"), text, first, last)
        assert outcome(device, text, first, last) == expected, (first, last)


@pytest.mark.parametrize("cpu", ["host", *CPUS])
@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize("wait", ["", WAIT], ids=["alone", "in company"])
def test_what_is_in_global_memory_stays(cpu: str, type_: str, wait: str) -> None:
    device, text = simt.Device("sm_90", cpu=cpu), in_global(type_, wait=wait)
    for first, last in BOUNDS:
        expected = outcome_in_global(shared_device("interpreter"), text, first, last)
        assert outcome_in_global(device, text, first, last) == expected, (first, last)


@pytest.mark.parametrize("cpu", ["host", *CPUS])
@pytest.mark.parametrize(("shift", "bounds"), [(-16, (4, 60)), (384, (0, 32)), (-260, (65, 66))])
def test_lanes_beyond_an_array_that_do_not_run(cpu: str, shift: int, bounds: tuple[int, int]) -> None:
    text, device = in_global("u32", shift), simt.Device("sm_90", cpu=cpu)
    expected = outcome_in_global(shared_device("interpreter"), text, *bounds)
    assert outcome_in_global(device, text, *bounds) == expected


@pytest.mark.parametrize("cpu", ["host", *CPUS])
@pytest.mark.parametrize(("shift", "bounds", "thread"), [(-16, (3, 9), 3), (384, (0, 34), 32)])
def test_faults_are_told(cpu: str, shift: int, bounds: tuple[int, int], thread: int) -> None:
    text, device = source("u32", shift), simt.Device("sm_90", cpu=cpu)
    with pytest.raises(simt.MemoryFault) as expected:
        outcome(shared_device("interpreter"), text, *bounds)
    with pytest.raises(simt.MemoryFault) as found:
        outcome(device, text, *bounds)
    assert str(found.value) == str(expected.value)
    assert f"thread ({thread}, 0, 0)" in str(found.value)


def ways(text: str, cpu: str) -> tuple[int, int]:
    """Stores by a mask (calls), and of words that were loaded again."""
    found, program = named_cpus()[cpu], shared_device("jit").load(text).program
    code = emit(program, program.functions["k"], BlockShape(64, 1, 1), found.features, attributes(found))[0]
    blended = re.findall(r"(%\w+) = select <32 x i1> .*\n  store <32 x i32> \1, ptr", code)
    by_mask = re.findall(r"call void @(?:llvm\.masked\.store\.v32i32|simt\.store\.some)", code)
    return len(by_mask), len(blended)


@pytest.mark.skipif("x86-64" not in named_cpus(), reason="names of x86's CPUs")
def test_who_stores_so() -> None:
    assert ways(source("u32"), "x86-64-v4")[1] == 0
    assert ways(source("u32"), "x86-64-v3")[1] == 1
    assert ways(source("u32"), "x86-64-v3")[0] < ways(source("u32"), "x86-64-v4")[0]
    assert ways(source("u32", volatile="volatile."), "x86-64-v3")[1] == 0
    assert ways(in_global("u32"), "x86-64-v4")[1] == 0
    assert ways(in_global("u32"), "x86-64-v3")[1] == 1
    assert ways(in_global("u32"), "x86-64-v3")[0] >= ways(in_global("u32"), "x86-64-v4")[0]
    assert ways(in_global("u32", volatile="volatile."), "x86-64-v3")[1] == 0
