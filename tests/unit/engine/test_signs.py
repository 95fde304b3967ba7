"""Bits of signs that change: for the JIT that is a negation, which must leave the patterns of NaNs alone."""

from __future__ import annotations

import numpy as np
import pytest

import simt

WORDS = (0, 1, 0x7F800000, 0x7F800001, 0x7FC00000, 0x7FFFFFFF, 0x80000000, 0xFF800001, 0xFFC12345, 0x3F800000)
LONGS = tuple(
    word << 32 | low for word in (0, 0x7FF00000, 0x7FF80000, 0xFFF7FFFF, 0x3FF00000) for low in (0, 1, 9)
)


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("way", ["mov.u32 %i, %tid.x;", "mov.u32 %i, %ctaid.x;"])
@pytest.mark.parametrize("engine", ["jit", "interpreter"])
def test_patterns_are_kept(bits: int, way: str, engine: str) -> None:
    """One element for each thread, or the same for a whole warp."""
    values = np.array(WORDS if bits == 32 else LONGS, f"u{bits // 8}")
    source = f""".version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 values)
{{
    .reg .b32 %i;
    .reg .b64 %a, %b;
    .reg .b{bits} %x;
    ld.param.u64 %a, [values];
    {way}
    mul.wide.u32 %b, %i, {bits // 8};
    add.u64 %a, %a, %b;
    ld.global.b{bits} %x, [%a];
    xor.b{bits} %x, %x, {1 << (bits - 1)};
    st.global.b{bits} [%a], %x;
    ret;
}}"""
    device = simt.Device("sm_90", engine=engine, memory="64MiB")
    array, n = device.array(values), len(values)
    device.load(source)["k"](*((1, n) if "tid" in way else (n, 1)), (array,))
    np.testing.assert_array_equal(array.numpy(), values ^ values.dtype.type(1 << (bits - 1)))
