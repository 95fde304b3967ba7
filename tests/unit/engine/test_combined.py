"""Branches on predicates of which a part is the same for all lanes of a warp."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

import simt
from simt.analysis.shape import BlockShape
from simt.engine.llvm_kernel import emit

KERNEL = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 few, .param .u32 rows)
{{
    .reg .pred %r, %x, %o, %p;
    .reg .b32 %t, %n, %v, %y;
    .reg .b64 %a, %b;
    mov.u32 %t, %tid.x;
    mov.u32 %y, %tid.y;
    ld.param.u32 %n, [few];
    setp.lt.u32 %x, %t, %n;
    ld.param.u32 %n, [rows];
    setp.lt.u32 %r, %y, %n;
    and.b32 %v, %t, 1;
    setp.eq.u32 %o, %v, 1;
    {combine}
    mov.u32 %v, 1;
    @{sign}%p bra TAKEN;
    add.u32 %v, %v, 10;
    bra END;
TAKEN:
    add.u32 %v, %v, 100;
END:
    mad.lo.u32 %t, %y, 32, %t;
    ld.param.u64 %a, [out];
    mul.wide.u32 %b, %t, 4;
    add.u64 %a, %a, %b;
    st.global.u32 [%a], %v;
    ret;
}}
"""
Lanes = NDArray[np.bool_]
LAST = np.arange(8)[:, None] >= 6
COMBINED: dict[str, Callable[[Lanes, Lanes, Lanes], Lanes]] = {
    "or.pred %p, %r, %x;": lambda r, x, o: r | x,
    "and.pred %p, %x, %r;": lambda r, x, o: x & r,
    "xor.pred %p, %x, %r;": lambda r, x, o: x ^ r,
    "or.pred %p, %x, %o; or.pred %p, %p, %r;": lambda r, x, o: x | o | r,
    "or.pred %p, %r, %x; and.pred %p, %p, %o;": lambda r, x, o: (r | x) & o,
    "or.pred %p, %r, %x; setp.ge.or.u32 %p, %y, 6, %p;": lambda r, x, o: r | x | LAST,
    "and.pred %p, %r, %x; setp.ge.or.u32 %p, %y, 6, %p;": lambda r, x, o: r & x | LAST,
    "and.pred %p, %r, %x; not.pred %p, %p;": lambda r, x, o: ~(r & x),
}


@pytest.mark.parametrize("sign", ["", "!"])
@pytest.mark.parametrize("combine", COMBINED)
@pytest.mark.parametrize(("few", "rows"), [(0, 0), (7, 0), (32, 5), (7, 5), (0, 8), (31, 3)])
def test_every_lane_goes_its_way(device: simt.Device, combine: str, sign: str, few: int, rows: int) -> None:
    lane, row = np.arange(32)[None, :], np.arange(8)[:, None]
    whole, part, odd = np.broadcast_arrays(row < rows, lane < few, lane % 2 == 1)
    expected = COMBINED[combine](whole, part, odd) ^ bool(sign)
    out = device.zeros((8, 32), "u4")
    device.load(KERNEL.format(combine=combine, sign=sign))["k"]((1,), (32, 8), (out, few, rows))
    assert np.array_equal(out.numpy(), np.where(expected, 101, 11))


@pytest.mark.parametrize("combine", ["or.pred %p, %r, %x;", "and.pred %p, %r, %x;"])
def test_what_is_the_same_for_all_is_tested_first(combine: str) -> None:
    program = simt.Device("sm_90", memory="64MiB").load(KERNEL.format(combine=combine, sign="")).program
    text, *_ = emit(program, program.functions["k"], BlockShape(32, 8, 1), frozenset(), "nounwind")
    assert re.search(r"br i1 %\w+, label %(together|apart)", text)
