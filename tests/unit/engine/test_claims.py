"""Workers claim parts of the grid: every CTA runs once, whatever the parts are."""

from __future__ import annotations

import numpy as np
import pytest

import simt

PTX = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry once(.param .u64 p_out)
{
    .reg .b32 %r<8>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [p_out];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ctaid.y;
    mov.u32 %r3, %nctaid.x;
    mad.lo.u32 %r4, %r2, %r3, %r1;
    mul.wide.u32 %rd2, %r4, 4;
    add.u64 %rd3, %rd1, %rd2;
    atom.global.add.u32 %r5, [%rd3], 1;
    ret;
}
"""
GRIDS = [(1, 1), (2, 1), (7, 1), (31, 3), (100, 1), (257, 5), (4099, 1), (64, 64)]


@pytest.mark.parametrize("workers", [1, 2, 3, 7])
def test_every_cta_runs_once(workers: int) -> None:
    device = simt.Device(engine="jit", workers=workers)
    kernel = device.load(PTX)["once"]
    for grid in GRIDS:
        out = device.zeros(grid[0] * grid[1], "u4")
        for _ in range(20):  # with more help and with less
            kernel(grid, 1, (out,))
        assert np.all(out.numpy() == 20)
