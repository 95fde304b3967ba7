"""Minima and maxima of an index and a limit are kept as base and stride while no lane exceeds the limit.

Compiled kernels are compared with NumPy where lanes reach limits, wrap, stand in several rows, and where
limited values are used in full, in other blocks and as addresses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import simt
from tests.conftest import shared_device

WORDS = NDArray[Any]
TEXT = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 table, .param .u32 start, .param .u32 low, .param .u32 high) {{
    .reg .pred %p; .reg .b32 %s, %l, %h, %x, %y, %z, %t, %n; .reg .b64 %o, %a, %w, %v; .reg .f32 %f;
    ld.param.u64 %o, [out]; ld.param.u64 %a, [table];
    ld.param.u32 %s, [start]; ld.param.u32 %l, [low]; ld.param.u32 %h, [high];
    mov.u32 %t, %tid.x; mov.u32 %x, %tid.y; mov.u32 %n, %ntid.x; mad.lo.u32 %n, %x, %n, %t;
    mad.wide.u32 %o, %n, 8, %o;
    {body}
    st.global.u64 [%o], %w;
    ret;
}}
"""


def limited(t: WORDS, start: int, low: int, high: int, kind: str, step: int = 1) -> WORDS:
    """min(max(start + step * t, low), high) as `kind` (i4 or u4), in 64 bits."""
    x = (np.uint32(start % 2**32) + np.uint32(step % 2**32) * t.astype("u4")).astype("u4").view(kind)
    bounds = [np.array(v % 2**32, "u4").view(kind) for v in (low, high)]
    return np.minimum(np.maximum(x, bounds[0]), bounds[1])


Judge = Callable[[WORDS, int, int, int], WORDS]
CLAMP = "add.u32 %x, %s, %t; max.s32 %y, %x, %l; min.s32 %z, %y, %h; "
BODIES: dict[str, tuple[str, Judge]] = {
    "signed": (CLAMP + "cvt.s64.s32 %w, %z;", lambda t, *given: limited(t, *given, "i4").astype("i8")),
    "unsigned": (
        "add.u32 %x, %s, %t; max.u32 %y, %l, %x; min.u32 %z, %h, %y; cvt.u64.u32 %w, %z;",
        lambda t, *given: limited(t, *given, "u4").astype("i8"),
    ),
    "falling": (
        "mul.lo.s32 %x, %t, -3; add.s32 %x, %x, %s; max.s32 %y, %x, %l; min.s32 %z, %y, %h;"
        "cvt.s64.s32 %w, %z;",
        lambda t, *given: limited(t, *given, "i4", -3).astype("i8"),
    ),
    "steep": (
        "mul.lo.s32 %x, %t, 134217728; add.s32 %x, %x, %s; max.s32 %y, %x, %l; min.s32 %z, %y, %h;"
        "cvt.s64.s32 %w, %z;",
        lambda t, *given: limited(t, *given, "i4", 134217728).astype("i8"),
    ),
    "mixed signs": (
        "add.u32 %x, %s, %t; max.s32 %y, %x, %l; min.u32 %z, %y, %h; cvt.u64.u32 %w, %z;",
        lambda t, start, low, high: np.minimum(
            limited(t, start, low, 2**31 - 1, "i4").view("u4"), np.array(high % 2**32, "u4")
        ).astype("i8"),
    ),
    "in full": (
        CLAMP + "mul.lo.s32 %z, %z, %z; cvt.s64.s32 %w, %z;",
        lambda t, *given: (limited(t, *given, "i4").astype("i8") ** 2).astype("i4").astype("i8"),
    ),
    "in other blocks": (
        CLAMP + "setp.lt.u32 %p, %t, 11; @%p bra A; add.s32 %z, %z, 5; bra B; A: add.s32 %z, %z, 7; B:"
        "cvt.s64.s32 %w, %z;",
        lambda t, *given: (limited(t, *given, "i4") + np.where(t < 11, 7, 5).astype("i4")).astype("i8"),
    ),
    "where some lanes run": (
        "mov.u64 %w, 9; setp.lt.u32 %p, %t, 11; @%p bra B;" + CLAMP + "cvt.s64.s32 %w, %z; B:",
        lambda t, *given: np.where(t < 11, 9, limited(t, *given, "i4").astype("i8")),
    ),
    "wide": (
        "add.u32 %x, %s, %t; cvt.s64.s32 %v, %x; cvt.s64.s32 %w, %h; min.s64 %w, %v, %w;",
        lambda t, start, low, high: limited(t, start, -(2**31), high, "i4").astype("i8"),
    ),
    "address": (
        CLAMP + "and.b32 %z, %z, 255; mul.wide.s32 %v, %z, 4; add.u64 %v, %a, %v; ld.global.u32 %y, [%v];"
        "cvt.u64.u32 %w, %y;",
        lambda t, *given: (limited(t, *given, "i4") & 255).astype("i8") * 3,
    ),
}  # fmt: skip
LIMITS = [
    (0, 0, 1000), (-2, 0, 1000), (-2, 0, 20), (5, 5, 5), (100, 0, 40), (-100, 0, 40),
    (2**31 - 10, 0, 2**31 - 1),
    (2**31 - 10, -5, 3), (2**32 - 7, 3, 2**31 - 1), (-40, -30, -20), (7, -(2**31), 38), (7, -(2**31), 37),
    (16, 16, 2**31 - 1), (90, -3, 90), (0, -(2**31), 2**31 - 1),
]  # fmt: skip


@pytest.mark.parametrize("block", [(64, 1), (16, 4), (8, 8), (48, 2)])
@pytest.mark.parametrize("name", BODIES)
def test_limited_indices(name: str, block: tuple[int, int]) -> None:
    body, judge = BODIES[name]
    device = simt.Device("sm_75", engine="jit", memory="64MiB")
    kernel = device.load(TEXT.format(body=body))["k"]
    threads = block[0] * block[1]
    table = device.array(np.arange(256, dtype="u4") * 3)
    t = np.arange(threads) % block[0]
    for start, low, high in LIMITS:
        out = device.zeros(threads, "i8")
        kernel((1,), block, (out, table, start % 2**32, low % 2**32, high % 2**32))
        assert np.array_equal(out.numpy(), judge(t, start, low, high)), (start, low, high)


def test_clamped_addresses_are_one_load() -> None:
    """The image of a stencil: its neighbours' coordinates are clamped, and loaded as one register."""
    device = simt.Device("sm_75", engine="jit", memory="64MiB")
    body = CLAMP + "mul.wide.s32 %v, %z, 4; add.u64 %v, %a, %v; ld.global.u32 %y, [%v]; cvt.u64.u32 %w, %y;"
    kernel = device.load(TEXT.format(body=body))["k"]
    table = device.array(np.arange(100, dtype="u4") * 3)
    out = device.zeros(64, "i8")
    for start in (-3, 0, 10, 36, 60, 99):
        kernel((1,), (64,), (out, table, start % 2**32, 0, 99))
        assert np.array_equal(out.numpy(), np.clip(np.arange(64) + start, 0, 99) * 3)


@pytest.mark.parametrize("what", ["min", "max"])
@pytest.mark.parametrize("number", [0, 1, 100, 2**32 - 1])
def test_limits_of_what_the_shape_of_the_cta_decides(engine: str, what: str, number: int) -> None:
    """`%tid.y` is 0, and `%ntid.y` is 1, for a CTA of one dimension: two numbers are compared."""
    body = f"""mov.u32 %z, %ntid.y; {what}.u32 %x, %x, {number}; {what}.u32 %z, {number}, %z;
        mad.lo.u32 %z, %z, 7, %x; cvt.u64.u32 %w, %z;"""
    device = shared_device(engine)
    out = device.zeros(64, "u8")
    device.load(TEXT.format(body=body))["k"]((1,), (64,), (out, out, 0, 0, 0))
    choose = min if what == "min" else max
    assert out.numpy().tolist() == [(choose(0, number) + 7 * choose(1, number)) % 2**32] * 64
