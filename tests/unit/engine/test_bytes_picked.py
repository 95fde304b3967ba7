"""`prmt` with selectors that are known when compiling: bytes in another order, and their signs."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from tests.conftest import kept_for_each_way
from tests.unit.isa.meaning import Array

SELECTORS = (
    0x3210,
    0x0123,
    0x7654,
    0x5410,
    0x7632,
    0x4440,
    0x0004,
    0xBA98,
    0xBB99,
    0x9180,
    0xFEDC,
    0x8888,
    0x73F1,
    0x6666,
)
HEAD = """.version 7.5
.target sm_75
.address_size 64
"""
KERNEL = """.visible .entry k{selector}(.param .u64 a, .param .u64 b, .param .u64 out)
{{
    .reg .b32 %a, %b, %d, %t; .reg .b64 %p, %q, %o, %i;
    ld.param.u64 %p, [a]; ld.param.u64 %q, [b]; ld.param.u64 %o, [out];
    mov.u32 %t, %tid.x; mul.wide.u32 %i, %t, 4; add.u64 %p, %p, %i; add.u64 %q, %q, %i; add.u64 %o, %o, %i;
    ld.global.b32 %a, [%p]; ld.global.b32 %b, [%q];
    prmt.b32 %d, {first}, {second}, {selector}; st.global.b32 [%o], %d; ret;
}}
"""
OPERANDS = {
    "two": ("%a", "%b"),
    "one": ("%a", "0"),
    "the same": ("%b", "%b"),
    "of lanes": ("%t", "%a"),
    "upper": ("305419896", "%b"),
}


@kept_for_each_way
def device_for(cpu: str) -> simt.Device:
    return simt.Device("sm_75", engine="jit", cpu=cpu, memory="4MiB")


def picked(a: Array, b: Array, selector: int) -> Array:
    pairs = np.stack([a, b], -1).view("u1")
    columns = []
    for i in range(4):
        pick = selector >> 4 * i & 15
        byte = pairs[:, pick & 7]
        columns.append(np.where(byte >> 7, 255, 0).astype("u1") if pick & 8 else byte)
    return np.stack(columns, -1).view("u4")[:, 0]


@pytest.mark.parametrize("cpu", ["host", "x86-64-v4", "x86-64-v3", "x86-64"])
@pytest.mark.parametrize("threads", [64, 45])
@pytest.mark.parametrize("operands", OPERANDS)
def test_bytes_and_signs(operands: str, threads: int, cpu: str) -> None:
    try:
        device = device_for(cpu)
    except simt.SimtError as reason:
        pytest.skip(str(reason))
    r = np.random.default_rng(11)
    a, b = (r.integers(0, 1 << 32, threads).astype("u4") for _ in range(2))
    lanes = np.arange(threads, dtype="u4")
    known = {"%a": a, "%b": b, "%t": lanes, "0": 0 * a, "305419896": 0 * a + np.uint32(305419896)}
    first, second = OPERANDS[operands]
    kernels = (KERNEL.format(selector=s, first=first, second=second) for s in SELECTORS)
    module = device.load(HEAD + "".join(kernels))
    arrays, out = [device.array(x) for x in (a, b)], device.zeros(threads, "u4")
    for selector in SELECTORS:
        module[f"k{selector}"](1, threads, (*arrays, out))
        np.testing.assert_array_equal(out.numpy(), picked(known[first], known[second], selector))
