"""Sums of floats in global memory that are zero or nearly so: operands and results below the normal numbers
are zeros of their sign, as the hardware has it beside global memory (PTX ISA, `atom`: they are flushed).
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.conftest import shared_device

KERNEL = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 words, .param .u64 places, .param .u64 more, .param .u64 old)
{{
    .reg .b32 %i, %x, %t; .reg .f32 %f, %was; .reg .b64 %words, %places, %more, %old, %w, %at;
    ld.param.u64 %words, [words]; ld.param.u64 %places, [places]; ld.param.u64 %more, [more];
    ld.param.u64 %old, [old];
    mov.u32 %i, %ctaid.x; mov.u32 %x, %ntid.x; mov.u32 %t, %tid.x; mad.lo.u32 %i, %i, %x, %t;
    mul.wide.u32 %w, %i, 4; add.u64 %more, %more, %w; add.u64 %places, %places, %w; add.u64 %old, %old, %w;
    ld.global.f32 %f, [%more]; ld.global.u32 %x, [%places];
    mul.wide.u32 %at, %x, 4; add.u64 %at, %words, %at;
    {add}
    ret;
}}
"""
ADDS = {
    "red": "red.global.add.f32 [%at], %f;",
    "atom": "atom.global.add.f32 %was, [%at], %f; st.global.f32 [%old], %was;",
}
BITS = np.array(
    [0, 1, 0x7FFFFF, 0x400000, 0x800000, 0x800001, 0x1000000, 0x0D800000, 0x3F800000, 0x7F800000], "u4"
)
VALUES = np.concatenate([BITS, BITS | 0x80000000]).view("f4")


def flushed(x: np.ndarray) -> np.ndarray:
    return np.where(np.abs(x) < np.float32(2.0**-126), np.copysign(np.float32(0), x), x).astype("f4")


def total(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return flushed(flushed(a) + flushed(b))


def differing(found: np.ndarray, expected: np.ndarray) -> list[tuple[int, float, float]]:
    """Where numbers have other bits, and what they are; any NaN will do."""
    same = (found.view("u4") == expected.view("u4")) | (np.isnan(found) & np.isnan(expected))
    return [(int(i), float(found[i]), float(expected[i])) for i in np.flatnonzero(~same)]


@pytest.mark.parametrize("way", ADDS)
@pytest.mark.parametrize("times", [1, 2])
def test_every_pair(engine: str, way: str, times: int) -> None:
    """Each word gets a number, or one and then the next."""
    device, n = shared_device(engine), len(VALUES) ** 2
    words = np.repeat(VALUES, len(VALUES))
    more = np.repeat(np.tile(VALUES, len(VALUES)), times)
    more[times - 1 :: times] = np.tile(VALUES, len(VALUES))
    places = np.repeat(np.arange(n, dtype="u4"), times)
    held, old = device.array(words), device.zeros(n * times, "f4")
    arrays = held, device.array(places), device.array(more), old
    device.load(KERNEL.format(add=ADDS[way]))["k"]((n * times // 20,), (20,), arrays)
    found, first = held.numpy(), words.copy()
    for i in range(times):
        if way == "atom":
            assert not differing(old.numpy()[i::times], first), i
        first = total(first, more[i::times])
    assert not differing(found, first)
