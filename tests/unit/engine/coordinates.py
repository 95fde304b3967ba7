"""A kernel whose threads say which they are, for tests of CTAs whose threads get other places in warps: axes
exchanged, rows filled up, CTAs joined. NumPy expects."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.tools.explain import Explanation, explain
from tests.conftest import shared_device

HEAD = """.version 7.5
.target sm_75
.address_size 64
"""
KERNEL = (
    HEAD
    + """
{before}
.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n, .param .u32 m)
{{
    .reg .u32 %x, %y, %a, %b, %c, %n, %m, %i, %v, %s, %w; .reg .u64 %o, %p, %d; .reg .pred %q;
    {variables}
    ld.param.u64 %o, [out];
    ld.param.u64 %p, [in];
    ld.param.u32 %n, [n];
    ld.param.u32 %m, [m];
    mov.u32 %x, %tid.x;
    mov.u32 %a, %ctaid.x;
    mov.u32 %b, %ntid.x;
    mad.lo.u32 %x, %a, %b, %x;
    mov.u32 %y, %tid.y;
    mov.u32 %c, %ctaid.y;
    mov.u32 %w, %ntid.y;
    mad.lo.u32 %y, %c, %w, %y;
    mov.u32 %s, 0;
    setp.ge.u32 %q, %x, %n;
    @%q bra $END;
    setp.ge.u32 %q, %y, %m;
    @%q bra $END;
    {index};
    mul.wide.u32 %d, %i, 4;
    add.u64 %p, %p, %d;
    add.u64 %o, %o, %d;
    {change}
    ld.global.u32 %v, [%p];
    mad.lo.u32 %s, %v, 31, %s;
    mad.lo.u32 %s, %x, 1000, %s;
    add.u32 %s, %s, %y;
    {cta}
    mad.lo.u32 %s, %c, 7777, %s;
    mad.lo.u32 %s, %b, 3, %s;
    mad.lo.u32 %s, %w, 5, %s;
    mov.u32 %v, %nctaid.x;
    mad.lo.u32 %s, %v, 11, %s;
    mov.u32 %v, %nctaid.y;
    mad.lo.u32 %s, %v, 13, %s;
    mov.u32 %v, %tid.z;
    mad.lo.u32 %s, %v, 17, %s;
    st.global.u32 [%o], %s;
$END:
    ret;
}}
"""
)
BY_COLUMN, BY_ROW = "mad.lo.u32 %i, %x, %m, %y", "mad.lo.u32 %i, %y, %n, %x"


OF_CTA = "mad.lo.u32 %s, %a, 77, %s;"
"""What else a thread computes of `%ctaid.x`."""


def kernel(
    index: str = BY_COLUMN, change: str = "", variables: str = "", before: str = "", cta: str = OF_CTA
) -> str:
    return KERNEL.format(index=index, change=change, variables=variables, before=before, cta=cta)


def found(text: str, block: tuple[int, ...] = (16, 16)) -> Explanation:
    program = shared_device("jit").load(text).program
    return explain(program, program.functions["k"], BlockShape(*block, *(1,) * (3 - len(block))), "x86-64-v4")


def expected(
    table: np.ndarray, block: tuple[int, int], grid: tuple[int, int], cta: str = OF_CTA
) -> np.ndarray:
    """By row (x) and column (y)."""
    x, y = np.indices(table.shape, "u4")
    given = table * np.uint32(31) + x * 1000 + y + y // block[1] * 7777
    if cta:
        given += x // block[0] * 77
    return (given + block[0] * 3 + block[1] * 5 + grid[0] * 11 + grid[1] * 13).astype("u4")


def check_fault(device: simt.Device, text: str, block: tuple[int, int], bad: tuple[int, int]) -> None:
    """One thread of 64 x 50 gets at a wild address, if `text` is made with `wild(bad)`: it is named."""
    shape = (64, 50)
    out, given = device.zeros(shape, "u4"), device.zeros(shape, "u4")
    grid = -(-shape[0] // block[0]), -(-shape[1] // block[1])
    with pytest.raises(simt.KernelFault) as caught:
        device.load(text)["k"](grid, block, (out, given, *shape))
    site = caught.value.site
    assert site.cta == (bad[0] // block[0], bad[1] // block[1], 0)
    assert site.thread == (bad[0] % block[0], bad[1] % block[1], 0)
    assert text.split("\n")[(site.line or 0) - 1].strip() == "ld.global.u32 %v, [%p];"


BAD = [(0, 0), (3, 40), (40, 3), (63, 49)]


def wild(bad: tuple[int, int]) -> str:
    """A change of the kernel: one thread's address is none."""
    x, y = bad
    return f"setp.eq.u32 %q, %x, {x}; @!%q bra $GO; setp.eq.u32 %q, %y, {y}; @%q mov.u64 %p, 64; $GO:"
