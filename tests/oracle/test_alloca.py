"""`alloca`, `stacksave` and `stackrestore` on both engines."""

from __future__ import annotations

import pytest

import simt

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
REUSED = f"""{HEAD}.entry k(.param .u64 out) {{
    .reg .u64 %r<9>; .reg .u32 %a, %b;
    mov.u32 %a, %tid.x;
    stacksave.u64 %r1;
    alloca.u64 %r2, 64;
    cvta.local.u64 %r3, %r2;
    st.u32 [%r3], %a;
    stackrestore.u64 %r1;
    alloca.u64 %r4, 64, 32;
    ld.local.u32 %b, [%r4];
    ld.param.u64 %r7, [out];
    mad.wide.u32 %r7, %a, 4, %r7;
    st.global.u32 [%r7], %b;
    ret;
}}"""
MUCH = f"{HEAD}.entry k() {{ .reg .u64 a; alloca.u64 a, 9000; st.local.u32 [a], 1; ret; }}"
UNKNOWN = f"""{HEAD}.entry k(.param .u64 size) {{
    .reg .u64 a, n;
    ld.param.u64 n, [size];
    alloca.u64 a, n;
    st.local.u32 [a], 1;
    ret;
}}"""


def test_restored_room_is_used_again(device: simt.Device) -> None:
    out = device.zeros(64, "u4")
    device.load(REUSED)["k"]((1,), (64,), (out,))
    assert out.numpy().tolist() == list(range(64))


def test_a_constant_size_has_its_room(device: simt.Device) -> None:
    device.load(MUCH)["k"]((1,), (1,), ())


def test_too_much_is_a_fault_at_the_access(device: simt.Device) -> None:
    kernel = device.load(UNKNOWN)["k"]
    kernel((1,), (1,), (64,))
    with pytest.raises(simt.MemoryFault, match="local"):
        kernel((1,), (1,), (9000,))
