"""Grids whose threads along each axis 30 bits count: indices have no sign, which is not so in larger ones."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.analysis.joined import asked, suits
from simt.analysis.shape import NARROW_BITS, BlockShape
from simt.tools.explain import explain
from tests.conftest import shared_device

QUOTIENTS = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 first)
{{
    .reg .u32 %t, %c, %w, %f, %i, %s, %q, %l, %m; .reg .u64 %o, %d; .reg .pred %p;
    ld.param.u64 %o, [out];
    ld.param.u32 %f, [first];
    mov.u32 %t, %tid.x;
    mov.u32 %c, %ctaid.x;
    mov.u32 %w, %ntid.x;
    setp.lt.u32 %p, %c, %f;
    @%p bra $END;
    mad.lo.u32 %i, %c, %w, %t;
    shr.s32 %s, %i, 31;                        // as compilers divide numbers that have a sign
    shr.u32 %s, %s, {low};
    add.u32 %s, %s, %i;
    shr.s32 %q, %s, {bits};
    and.b32 %s, %s, -{lanes};
    sub.u32 %l, %i, %s;
    sub.u32 %c, %c, %f;
    mad.lo.u32 %i, %c, %w, %t;
    mul.wide.u32 %d, %i, 8;
    add.u64 %o, %o, %d;
    st.global.u32 [%o], %q;
    st.global.u32 [%o+4], %l;
$END:
    ret;
}}
"""
THREADS = 1024


def quotients(lanes: int) -> str:
    bits = lanes.bit_length() - 1
    return QUOTIENTS.format(lanes=lanes, bits=bits, low=32 - bits)


def expected(first: int, ctas: int, lanes: int) -> np.ndarray:
    i = ((np.arange(ctas * THREADS, dtype="i8") + first * THREADS + 2**31) % 2**32 - 2**31).astype("i8")
    q = np.sign(i) * (np.abs(i) // lanes)
    return np.stack([q, i - q * lanes], 1).astype("i4")


@pytest.mark.parametrize("lanes", [4, 16, 32])
def test_indices_with_a_sign(lanes: int) -> None:
    """The same kernel with a few CTAs, and with so many that the last ones' indices are negative."""
    device = shared_device("jit")
    kernel, out = device.load(quotients(lanes))["k"], device.zeros((2 * THREADS, 2), "i4")
    large = (1 << 31) // THREADS
    for grid in (2, 2, 2, large + 2, 2, large + 2, large + 2):
        kernel((grid,), (THREADS,), (out, grid - 2))
        np.testing.assert_array_equal(out.numpy(), expected(grid - 2, 2, lanes))


@pytest.mark.parametrize("block", [(1, 1, 1), (256, 1, 1), (96, 1, 1), (16, 16, 1), (7, 3, 5), (4, 4, 4)])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_what_is_narrow(block: tuple[int, int, int], axis: int) -> None:
    function = shared_device("jit").load(quotients(16)).program.functions["k"]
    most = asked(block, (1, 1, 1), function).largest_grid[axis]
    grids = [tuple(extent if i == axis else 1 for i in range(3)) for extent in (most, most + 1)]
    below, above = (asked(block, (grid[0], grid[1], grid[2]), function) for grid in grids)
    assert (below.narrow, above.narrow) == (True, False)
    assert most * block[axis] <= 1 << NARROW_BITS < 2 * most * (2 * block[axis] - 1)
    assert not suits(below, above)
    assert suits(replace_many(above, below), below)


def replace_many(block: BlockShape, other: BlockShape) -> BlockShape:
    """The shape with the other one's answer to how many CTAs there are."""
    return BlockShape(block.x, block.y, block.z, many=other.many, narrow=block.narrow)


def test_axes_that_are_exchanged() -> None:
    block = BlockShape(8, 64, 1, narrow=True)
    assert block.exchanged.largest_grid == block.largest_grid
    assert block.largest_grid[0] == 8 * block.largest_grid[1]


def lookups(lanes: int) -> str:
    """The same, with words of a table in place of row and column."""
    words = "".join(
        f"mul.wide.s32 %d, {r}, 4; add.u64 %d, %d, %o; ld.global.u32 {r}, [%d]; " for r in ("%q", "%l")
    )
    return quotients(lanes).replace("    sub.u32 %c, %c, %f;", f"    {words}\n    sub.u32 %c, %c, %f;")


@pytest.mark.parametrize("lanes", [4, 8, 16])
def test_rows_of_an_index_with_a_sign(lanes: int) -> None:
    """On a CPU that does not pick lanes out of registers, which may cost as little."""
    program = shared_device("jit").load(lookups(lanes)).program
    function = program.functions["k"]
    rows = [
        explain(program, function, asked((256, 1, 1), (grid, 1, 1), function), "x86-64-v3").block.row
        for grid in (100, 1 << 30)
    ]
    assert rows == [lanes, 32]


NESTED = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .u32 %t, %a, %b, %v, %w; .reg .u64 %o, %d;
    ld.param.u64 %o, [out];
    mov.u32 %t, %tid.x;
    and.b32 %a, %t, 15;
    shr.u32 %b, %a, 2;
    and.b32 %a, %a, 3;
    mul.wide.u32 %d, %a, 4;
    add.u64 %d, %d, %o;
    ld.global.u32 %v, [%d];
    mul.wide.u32 %d, %b, 4;
    add.u64 %d, %d, %o;
    ld.global.u32 %w, [%d+64];
    add.u32 %v, %v, %w;
    mul.wide.u32 %d, %t, 4;
    add.u64 %d, %d, %o;
    st.global.u32 [%d+128], %v;
    ret;
}
"""


def test_rows_within_rows(any_device: simt.Device) -> None:
    words = np.arange(32, dtype="u4") ** 3
    out = any_device.array(np.concatenate([words, np.zeros(256, "u4")]))
    any_device.load(NESTED)["k"](1, 256, (out,))
    t = np.arange(256)
    np.testing.assert_array_equal(out.numpy()[32:], words[t % 4] + words[16 + t % 16 // 4])


def test_such_a_cta_has_the_short_rows() -> None:
    program = shared_device("jit").load(NESTED).program
    notes = explain(program, program.functions["k"], BlockShape(256, 1, 1), "x86-64-v3")
    assert notes.block.row == 4
