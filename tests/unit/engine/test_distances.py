"""Lanes at known distances from the first: loaded and stored one by one where gathers are slow."""

from __future__ import annotations

import numpy as np
import pytest

import simt

WARP, BYTES = 32, 8192
KERNEL = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 first, .param .u32 runs)
{{
    .reg .pred %p;
    .reg .b32 %t, %s, %n;
    .reg .b64 %a, %b;
    .reg .b{held} {registers};
    .shared .align 16 .b8 box[{bytes}];
    mov.u32 %t, %tid.x;
    ld.param.u32 %n, [runs];
    setp.lt.u32 %p, %t, %n;
    ld.param.u32 %n, [first];
    mul.lo.u32 %s, %t, {step};
    add.u32 %s, %s, %n;
    ld.param.u64 %a, [in];
    mul.wide.u32 %b, %t, {size};
    add.u64 %a, %a, %b;
    ld.global.{mode} {value}, [%a];
    mov.u32 %n, box;
    add.u32 %n, %n, %s;
    {store}
    bar.sync 0;
    {load}
    ld.param.u64 %a, [out];
    add.u64 %a, %a, %b;
    st.global.{mode} [%a], {value};
    ret;
}}
"""


def source(bits: int, vector: int, step: int) -> str:
    """All lanes store the complement of their item; those below `runs` store the item itself; all load."""
    registers = [f"%v{i}" for i in range(vector)]
    mode, value = (f"v{vector}.b{bits}", f"{{{', '.join(registers)}}}") if vector > 1 else (f"b{bits}", "%v0")
    change = " ".join(f"not.b{max(bits, 16)} {r}, {r};" for r in registers)
    store = f"st.shared.{mode} [%n], {value};"
    return KERNEL.format(
        bits=bits, held=max(bits, 16), registers=", ".join(registers), bytes=BYTES, step=step,
        size=bits // 8 * vector, mode=mode, value=value,
        store=f"{change} {store} {change} @%p {store}", load=f"ld.shared.{mode} {value}, [%n];",
    )  # fmt: skip


WIDTHS = [
    (32, 1, 12),
    (32, 1, -4),
    (32, 1, 132),
    (64, 1, 24),
    (64, 1, -8),
    (32, 4, 48),
    (32, 2, -8),
    (64, 2, 80),
    (32, 1, 8),
    (32, 1, 16),
    (32, 2, 16),
    (64, 1, 16),
    (16, 1, 4),
    (16, 1, 6),
    (16, 1, 14),
    (16, 2, 12),
    (16, 4, 24),
    (8, 1, 2),
    (8, 1, 3),
    (8, 1, 31),
    (8, 2, 6),
    (8, 4, 12),
    (32, 4, 64),
    (32, 2, 24),
    (64, 2, -32),
    (16, 1, 36),
    (16, 2, 40),
    (16, 4, -40),
    (8, 1, 33),
    (8, 2, 70),
    (8, 4, 36),
]


@pytest.mark.share(6)
@pytest.mark.parametrize("runs", [32, 31, 7])
@pytest.mark.parametrize(("bits", "vector", "step"), WIDTHS)
def test_words_at_steps(any_device: simt.Device, bits: int, vector: int, step: int, runs: int) -> None:
    size = bits // 8 * vector
    data = np.random.default_rng(1).integers(0, 256, (WARP, size), "u1")
    kernel = any_device.load(source(bits, vector, step))["k"]
    for first in (0, size, 2048) if step > 0 else (31 * -step, BYTES - size):
        out = any_device.zeros((WARP, size), "u1")
        kernel((1,), (WARP,), (any_device.array(data), out, first, runs))
        expected = np.where(np.arange(WARP)[:, None] < runs, data, ~data)
        np.testing.assert_array_equal(out.numpy(), expected, f"from {first}")


@pytest.mark.share(2)
@pytest.mark.parametrize(("step", "first", "lane"), [
    (12, BYTES - 31 * 12, 31), (12, BYTES - 12 * 5, 5), (12, BYTES, 0),
    (-4, 4 * 30, 31), (-4, 4 * 3, 4), (12, 2, 0),
])  # fmt: skip
@pytest.mark.parametrize("runs", [32, 6])
@pytest.mark.parametrize("store", [False, True])
def test_a_step_too_far(
    any_device: simt.Device, store: bool, step: int, first: int, lane: int, runs: int
) -> None:
    """The first running lane beyond an end, or at an odd place, faults; lanes that do not run never do."""
    access = "@%p st.shared.b32 [%n], %v0;" if store else "@%p ld.shared.b32 %v0, [%n];"
    lines = (access if "st.shared" in line else line for line in source(32, 1, step).splitlines())
    kernel = any_device.load("\n".join(line for line in lines if "    ld.shared" not in line))["k"]
    arrays = any_device.zeros(WARP, "u4"), any_device.zeros(WARP, "u4")
    if lane >= runs:
        kernel((1,), (WARP,), (*arrays, first, runs))
        return
    with pytest.raises(simt.MemoryFault) as fault:
        kernel((1,), (WARP,), (*arrays, first, runs))
    assert fault.value.address == (first + lane * step) % 2**32
    assert fault.value.site.thread == (lane, 0, 0)


def test_an_index_that_wraps(any_device: simt.Device) -> None:
    """Steps of an index of 16 bits that is extended to 64: beyond 65535 it begins again at 0."""
    kernel = any_device.load(""".version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u16 shift)
{
    .reg .b16 %n, %h;
    .reg .b32 %t, %v;
    .reg .b64 %a, %b;
    mov.u32 %t, %tid.x;
    cvt.u16.u32 %h, %t;
    ld.param.u16 %n, [shift];
    mad.lo.u16 %n, %h, 3, %n;
    cvt.u64.u16 %b, %n;
    shl.b64 %b, %b, 2;
    ld.param.u64 %a, [in];
    add.u64 %a, %a, %b;
    ld.global.u32 %v, [%a];
    ld.param.u64 %a, [out];
    add.u64 %a, %a, %b;
    st.global.u32 [%a], %v;
    ret;
}
""")["k"]
    data = np.arange(1, (1 << 17) + 1, dtype="u4")
    for shift in (0, 65536 - 9):
        out = any_device.zeros(1 << 17, "u4")
        kernel((1,), (WARP,), (any_device.array(data), out, shift))
        places = (shift + 3 * np.arange(WARP)) % 65536
        expected = np.zeros(1 << 17, "u4")
        expected[places] = data[places]
        np.testing.assert_array_equal(out.numpy(), expected)
