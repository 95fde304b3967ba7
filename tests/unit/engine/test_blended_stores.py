"""Stores to shared memory by some lanes, where CPUs are slow to store by a mask: what others have stays."""

from __future__ import annotations

import re

import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.compile import attributes
from simt.engine.host import host_features, named_cpus
from simt.engine.llvm_kernel import emit
from tests.conftest import shared_device

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
TYPES = {"u8": ("%h", 1), "u16": ("%h", 2), "u32": ("%x", 4), "u64": ("%w", 8)}
CPUS = [name for name, cpu in named_cpus().items() if cpu.features <= host_features() | {"slow-gathers"}]
BOUNDS = [(0, 64), (0, 5), (3, 40), (31, 33), (9, 9), (0, 63)]


def source(type_: str, shift: int = 0, volatile: str = "") -> str:
    value, size = TYPES[type_]
    return KERNEL.format(type=type_, value=value, size=size, shift=shift, volatile=volatile)


def outcome(device: simt.Device, text: str, first: int, last: int) -> list[int]:
    out = device.zeros(128, "u4")
    device.load(text)["k"](1, 64, (out, first, last))
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
@pytest.mark.parametrize(("shift", "bounds"), [(-16, (4, 60)), (384, (0, 32)), (-260, (65, 66))])
def test_lanes_outside_that_do_not_run(cpu: str, shift: int, bounds: tuple[int, int]) -> None:
    text, device = source("u32", shift), simt.Device("sm_90", cpu=cpu)
    assert outcome(device, text, *bounds) == outcome(shared_device("interpreter"), text, *bounds)


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
    """Stores by a mask, and of words that were loaded again."""
    found, program = named_cpus()[cpu], shared_device("jit").load(text).program
    code = emit(program, program.functions["k"], BlockShape(64, 1, 1), found.features, attributes(found))[0]
    blended = re.findall(r"(%\w+) = select <32 x i1> .*\n  store <32 x i32> \1, ptr", code)
    return code.count("call void @llvm.masked.store.v32i32"), len(blended)


@pytest.mark.skipif("x86-64" not in named_cpus(), reason="names of x86's CPUs")
def test_who_stores_so() -> None:
    assert ways(source("u32"), "x86-64-v4")[1] == 0
    assert ways(source("u32"), "x86-64-v3")[1] == 1
    assert ways(source("u32"), "x86-64-v3")[0] < ways(source("u32"), "x86-64-v4")[0]
    assert ways(source("u32", volatile="volatile."), "x86-64-v3")[1] == 0
