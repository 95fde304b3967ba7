"""Indices cut by a mask (`i & (n - 1)`): consecutive in most warps, which code tests, and anything else."""

from __future__ import annotations

import numpy as np
import pytest

import simt

PTX = """
.version 7.5
.target sm_75
.address_size 64
.visible .entry cut(.param .u64 a, .param .u64 out, .param .u64 seen, .param .u32 mask, .param .u32 offset)
{
    .reg .pred %p; .reg .b32 %t, %c, %n, %g, %i, %m, %o, %v, %w; .reg .b64 %a, %b, %s, %x, %y;
    .shared .align 4 .b8 part[2048];
    ld.param.u64 %a, [a]; ld.param.u64 %b, [out]; ld.param.u64 %s, [seen];
    ld.param.u32 %m, [mask]; ld.param.u32 %o, [offset];
    mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %n, %ntid.x;
    mad.lo.u32 %g, %c, %n, %t;
    add.u32 %i, %g, %o;
    and.b32 %i, %i, MASK;
    mul.wide.u32 %x, %i, 4;
    add.u64 %y, %a, %x;
    add.u64 %x, %b, %x;
    ld.global.u32 %v, [%y];
    and.b32 %w, %v, 1;
    setp.eq.u32 %p, %w, 1;
    @!%p bra EVEN;
    mad.lo.u32 %w, %v, 3, %i;
    st.global.u32 [%x], %w;
EVEN:
    ld.global.u32 %v, [%y];
    shl.b32 %w, %t, 2; mov.u32 %c, part; add.u32 %w, %w, %c;
    st.shared.u32 [%w], %v;
    bar.sync 0;
    add.u32 %i, %t, %o; and.b32 %i, %i, MASK; and.b32 %i, %i, 255;
    shl.b32 %i, %i, 2; add.u32 %i, %i, %c;
    ld.shared.u32 %w, [%i];
    setp.gt.u32 %p, %w, %v;
    bar.sync 0;
    @!%p bra REST;
    st.shared.u32 [%i], 7;
REST:
    bar.sync 0;
    ld.shared.u32 %v, [%i];
    mul.wide.u32 %x, %g, 8; add.u64 %x, %s, %x;
    st.global.v2.u32 [%x], {%w, %v};
    ret;
}
"""
CTAS, THREADS = 3, 256
MASKS = [0, 7, 31, 32, 63, 95, 255, 256, 0x3E0, 1023, 0x3FB]


def expected(a: np.ndarray, mask: int, offset: int) -> tuple[np.ndarray, np.ndarray]:
    """What the kernel leaves in `out` and `seen`."""
    g = np.arange(CTAS * THREADS, dtype="u4")
    i = g + np.uint32(offset) & np.uint32(mask)
    v = a[i]
    out = np.zeros_like(a)
    out[i[v % 2 == 1]] = (v * 3 + i)[v % 2 == 1]
    seen = np.zeros((CTAS, THREADS, 2), "u4")
    for cta, part in enumerate(v.reshape(CTAS, THREADS)):
        k = np.arange(THREADS, dtype="u4") + np.uint32(offset) & np.uint32(mask & 255)
        after = part.copy()
        after[k[part[k] > part]] = 7
        seen[cta] = np.stack([part[k], after[k]], axis=1)
    return out, seen


@pytest.mark.parametrize("known", [False, True], ids=["at run time", "when compiled"])
@pytest.mark.parametrize("mask", MASKS)
def test_masked_indices(device: simt.Device, mask: int, known: bool) -> None:
    kernel = device.load(PTX.replace("MASK", str(mask) if known else "%m"))["cut"]
    a = np.random.default_rng(mask).integers(0, 1000, 1024, "u4")
    source = device.array(a)
    for offset in (0, 32, 5):
        out, seen = device.zeros(1024, "u4"), device.zeros((CTAS, THREADS, 2), "u4")
        kernel((CTAS,), (THREADS,), (source, out, seen, mask, offset))
        wanted = expected(a, mask, offset)
        np.testing.assert_array_equal(out.numpy(), wanted[0], str(offset))
        np.testing.assert_array_equal(seen.numpy(), wanted[1], str(offset))
