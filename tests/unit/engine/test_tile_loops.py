"""Loops over a tile, some rows and columns a turn, as compilers write them: they ask for first turns and for
turns that are left over, which a CTA's size answers. Expectations are NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from simt.analysis.shape import BlockShape
from simt.tools.explain import explain
from tests.conftest import shared_device

STEP = 16
KERNEL = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out)
{{
    .reg .pred %p<6>;
    .reg .b32 %x, %y, %i, %j, %m<5>, %n, %t, %v;
    .reg .b64 %a, %b;
    mov.u32 %x, %tid.x; mov.u32 %y, %tid.y; mov.u32 %i, %y;
    ld.param.u64 %a, [out];
    setp.ge.s32 %p0, %y, {rows};
    @%p0 bra END;
    max.s32 %m0, %x, {last}; add.s32 %m1, %m0, 15; sub.s32 %m2, %m1, %x; shr.u32 %m3, %m2, 4;
    add.s32 %m4, %m3, 1;
    and.b32 %n, %m4, 1;                       // turns of the inner loop that are left over of pairs
ROW:
    setp.ge.s32 %p1, %x, {columns};
    @%p1 bra NEXT;
    mov.u32 %j, %x;
    mul.lo.s32 %t, %i, {columns};
    setp.eq.s32 %p2, %n, 0;
    @%p2 bra PAIRS;
    {cell}
    setp.lt.u32 %p3, %m4, 2;
    @%p3 bra NEXT;
PAIRS:
    {cell}
    {cell}
    setp.lt.s32 %p4, %j, {columns};
    @%p4 bra PAIRS;
NEXT:
    add.s32 %i, %i, 16;
    setp.lt.s32 %p5, %i, {rows};
    @%p5 bra ROW;
END:
    ret;
}}
"""
CELL = """
    add.s32 %v, %t, %j; mul.wide.s32 %b, %v, 4; add.s64 %b, %b, %a;
    ld.global.u32 %v, [%b]; mad.lo.u32 %v, %y, 64, %v; add.u32 %v, %v, %x; add.u32 %v, %v, 1;
    st.global.u32 [%b], %v; add.s32 %j, %j, 16;
"""
"""Adds to a cell which thread came there, so that no two turns are the same."""
TILES = [(32, 32), (16, 48), (36, 20), (18, 18), (7, 64), (33, 16), (64, 3)]


def source(rows: int, columns: int) -> str:
    return KERNEL.format(rows=rows, columns=columns, last=columns - 16, cell=CELL)


def expected(rows: int, columns: int, block: tuple[int, int]) -> np.ndarray:
    cells = np.zeros((rows, columns), "u4")
    for y in range(block[1]):
        for x in range(block[0]):
            cells[y::STEP, x::STEP] += np.uint32(64 * y + x + 1)
    return cells


@pytest.mark.share(2)
@pytest.mark.parametrize("tile", TILES, ids=str)
@pytest.mark.parametrize("block", [(16, 16), (16, 5), (8, 16), (8, 4), (16, 2), (4, 16)], ids=str)
def test_all_turns_are_taken(engine: str, block: tuple[int, int], tile: tuple[int, int]) -> None:
    device = shared_device(engine)
    out = device.zeros(tile[0] * tile[1], "u4")
    device.load(source(*tile))["k"]((1,), block, (out,))
    np.testing.assert_array_equal(out.numpy().reshape(tile), expected(*tile, block))


@pytest.mark.parametrize(
    ("tile", "together", "leaving"),
    [((32, 32), 2, 0), ((36, 32), 2, 0), ((33, 32), 1, 1), ((32, 36), 1, 1), ((19, 18), 0, 2)],
)
def test_loops_that_lanes_leave_together(tile: tuple[int, int], together: int, leaving: int) -> None:
    """In CTAs of 16 x 16, of which a warp has two rows, unless a part of these is left over at the end."""
    program = shared_device("jit").load(source(*tile)).program
    found = explain(program, program.functions["k"], BlockShape(16, 16, 1), "x86-64-v4").functions[0]
    assert sum(not loop.by_degrees for loop in found.loops) == together, found.loops
    assert sum(loop.by_degrees for loop in found.loops) == leaving
    assert [place.text for place in found.decided][:1] == ["@%p0 bra END"]  # no thread has no first row
    even = tile[1] % 32 == 0  # no turn of the inner loop is left over of pairs
    assert ["st.global.u32 [%b], %v" in place.text for place in found.unreached].count(True) == even
