"""CTAs whose rows of threads are filled up to warps, where no thread can tell. NumPy expects."""

from __future__ import annotations

import numpy as np
import pytest
from click import unstyle

import simt
from simt.analysis.padded import padded
from simt.analysis.shape import BlockShape
from simt.cli.explain import as_json, in_full
from tests.conftest import shared_device
from tests.unit.engine.coordinates import (
    BAD,
    BY_COLUMN,
    BY_ROW,
    check_fault,
    expected,
    found,
    kernel,
    wild,
)  # fmt: skip

BLOCKS = [
    (10, 10),
    (20, 20),
    (3, 7),
    (24, 4),
    (33, 3),
    (31, 2),
    (6, 20),
    (12, 12),
    (65, 2),
    (48, 16),
    (7, 2),
    (33, 31),
]

TILES = """.version 7.5
.target sm_75
.address_size 64
.visible .entry product(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)
{{
    .reg .u32 %x, %y, %tx, %ty, %w, %n, %i, %k, %j, %s, %t; .reg .f32 %f, %g, %sum;
    .reg .u64 %a, %b, %c, %d; .reg .pred %q;
    .shared .f32 left[{words}];
    .shared .f32 right[{words}];
    ld.param.u64 %a, [a];
    ld.param.u64 %b, [b];
    ld.param.u64 %c, [c];
    ld.param.u32 %n, [n];
    mov.u32 %tx, %tid.x;
    mov.u32 %ty, %tid.y;
    mov.u32 %w, %ctaid.x;
    mad.lo.u32 %x, %w, {tile}, %tx;
    mov.u32 %w, %ctaid.y;
    mad.lo.u32 %y, %w, {tile}, %ty;
    mov.f32 %sum, 0f00000000;
    mad.lo.u32 %s, %ty, {tile}, %tx;
    shl.b32 %s, %s, 2;
    mov.u32 %k, 0;
TILE:
    add.u32 %i, %k, %tx;
    mad.lo.u32 %i, %y, %n, %i;
    mul.wide.u32 %d, %i, 4;
    add.u64 %d, %d, %a;
    ld.global.f32 %f, [%d];
    mov.u32 %t, left;
    add.u32 %t, %t, %s;
    st.shared.f32 [%t], %f;
    add.u32 %i, %k, %ty;
    mad.lo.u32 %i, %i, %n, %x;
    mul.wide.u32 %d, %i, 4;
    add.u64 %d, %d, %b;
    ld.global.f32 %f, [%d];
    mov.u32 %t, right;
    add.u32 %t, %t, %s;
    st.shared.f32 [%t], %f;
    bar.sync 0;
    mov.u32 %j, 0;
TERM:
    mad.lo.u32 %t, %ty, {tile}, %j;
    shl.b32 %t, %t, 2;
    mov.u32 %i, left;
    add.u32 %t, %t, %i;
    ld.shared.f32 %f, [%t];
    mad.lo.u32 %t, %j, {tile}, %tx;
    shl.b32 %t, %t, 2;
    mov.u32 %i, right;
    add.u32 %t, %t, %i;
    ld.shared.f32 %g, [%t];
    fma.rn.f32 %sum, %f, %g, %sum;
    add.u32 %j, %j, 1;
    setp.lt.u32 %q, %j, {tile};
    @%q bra TERM;
    {change}
    bar.sync 0;
    add.u32 %k, %k, {tile};
    setp.lt.u32 %q, %k, %n;
    @%q bra TILE;
    mad.lo.u32 %i, %y, %n, %x;
    mul.wide.u32 %d, %i, 4;
    add.u64 %d, %d, %c;
    st.global.f32 [%d], %sum;
    ret;
}}
"""

RECURSIVE = """.func other()
{
    .reg .pred %q; .reg .u32 %y; mov.u32 %y, 0; setp.ne.u32 %q, %y, 0; @%q call other, (); ret;
}"""
"""A function whose calls stay calls."""


def is_padded(text: str, block: tuple[int, ...]) -> bool:
    return found(text, block).block.threads_of_row > 0


@pytest.mark.parametrize(
    ("block", "row"),
    [
        ((10, 10, 1), 16), ((3, 7, 1), 4), ((5, 2, 2), 8), ((17, 2, 1), 32), ((31, 1, 2), 32),
        ((33, 2, 1), 64),
        ((40, 16, 1), 64), ((65, 9, 1), 96), ((6, 100, 1), 8),
    ],
)  # fmt: skip
def test_rows_begin_with_warps_or_parts_of_them(block: tuple[int, int, int], row: int) -> None:
    shape = padded(BlockShape(*block))
    assert shape is not None
    assert (shape.x, shape.y, shape.z, shape.columns) == (row, *block[1:], block[0])


@pytest.mark.parametrize(
    "block", [(16, 16, 1), (1, 40, 1), (2, 7, 1), (32, 3, 1), (96, 2, 1), (10, 1, 1), (17, 65, 1), (8, 8, 8)]
)
def test_not_rows_that_do_so_or_grow_too_much(block: tuple[int, int, int]) -> None:
    assert padded(BlockShape(*block)) is None


@pytest.mark.parametrize("shape", [(33, 70), (64, 64), (97, 3)])
@pytest.mark.parametrize("block", BLOCKS)
def test_threads_find_their_own_coordinates(
    engine: str, block: tuple[int, int], shape: tuple[int, int]
) -> None:
    """Rows of the table are columns of threads (`expected` is by x and y)."""
    device, text = shared_device(engine), kernel(BY_ROW)
    table = np.random.default_rng(5).integers(0, 1 << 32, shape, "u4")
    out, given = device.zeros(shape[::-1], "u4"), device.array(np.ascontiguousarray(table.T))
    grid = -(-shape[0] // block[0]), -(-shape[1] // block[1])
    device.load(text)["k"](grid, block, (out, given, *shape))
    np.testing.assert_array_equal(out.numpy().T, expected(table, block, grid))
    assert is_padded(text, block)


@pytest.mark.parametrize("block", [(10, 10), (20, 20), (24, 8), (12, 32), (30, 30), (7, 5)])
def test_what_goes_along_columns_is_turned_and_padded(engine: str, block: tuple[int, int]) -> None:
    """Where rows of threads would be strided: along y, rows of 10, 20, 8, ... threads."""
    shape, text = (45, 61), kernel(BY_COLUMN)
    assert found(text, block).block.turned
    device = shared_device(engine)
    table = np.random.default_rng(6).integers(0, 1 << 32, shape, "u4")
    out, given = device.zeros(shape, "u4"), device.array(table)
    grid = -(-shape[0] // block[0]), -(-shape[1] // block[1])
    device.load(text)["k"](grid, block, (out, given, *shape))
    np.testing.assert_array_equal(out.numpy(), expected(table, block, grid))


def test_three_dimensions(engine: str) -> None:
    device, block, shape = shared_device(engine), (10, 3, 4), (33, 20)
    table = np.arange(33 * 20, dtype="u4").reshape(shape)
    out, given = device.zeros((4, 20, 33), "u4"), device.array(np.stack([table.T] * 4))
    planes = "mov.u32 %v, %tid.z; mul.lo.u32 %v, %v, %m; add.u32 %i, %y, %v; mad.lo.u32 %i, %i, %n, %x"
    grid = (4, 7)
    device.load(kernel(planes))["k"](grid, block, (out, given, *shape))
    plane = expected(table, (10, 3), grid).T
    np.testing.assert_array_equal(out.numpy(), np.stack([plane + np.uint32(17 * z) for z in range(4)]))
    assert is_padded(kernel(planes), block)


@pytest.mark.parametrize("cpu", ["x86-64", "x86-64-v3", "x86-64-v4"])
@pytest.mark.parametrize("tile", [3, 10, 12, 20, 24])
def test_tiles_in_shared_memory(tile: int, cpu: str) -> None:
    """Products of small integers are exact."""
    n = 2 * tile
    text = TILES.format(tile=tile, words=tile * tile, change="")
    device = simt.Device("sm_75", engine="jit", cpu=cpu, workers=1)
    rng = np.random.default_rng(tile)
    a, b = (rng.integers(-9, 10, (n, n)).astype("f4") for _ in range(2))
    c = device.zeros((n, n), "f4")
    kernel = device.load(text)["product"]
    kernel((2, 2), (tile, tile), (device.array(a), device.array(b), c, np.uint32(n)))
    np.testing.assert_array_equal(c.numpy(), a @ b)
    program = kernel.module.program
    from simt.tools.explain import explain

    shape = explain(program, program.functions["product"], BlockShape(tile, tile, 1), cpu).block
    assert shape.threads_of_row == tile


@pytest.mark.parametrize(
    "change",
    [
        "mov.u32 %v, %laneid; add.u32 %s, %s, %v;",
        "mov.u32 %v, %warpid; add.u32 %s, %s, %v;",
        "mov.u32 %v, %clock; and.b32 %v, %v, 0; add.u32 %s, %s, %v;",
        "activemask.b32 %v; add.u32 %s, %s, %v;",
        "vote.sync.ballot.b32 %v, %q, -1; add.u32 %s, %s, %v;",
        "shfl.sync.bfly.b32 %v, %x, 1, 31, -1; add.u32 %s, %s, %v;",
        "ld.volatile.global.u32 %v, [%p]; add.u32 %s, %s, %v;",
        "atom.global.add.u32 %v, [%p], 1; add.u32 %s, %s, %v;",
        "membar.gl;",
        "bar.warp.sync -1;",
        "bar.sync 0, 64;",
        "bar.arrive 0, 64;",
        "bar.red.popc.u32 %v, 0, %q; add.u32 %s, %s, %v;",
        "st.volatile.shared.u32 [t], %x;",
        "trap;",
        "call other, ();",
    ],
)
def test_not_where_threads_may_tell(change: str) -> None:
    before = RECURSIVE if "call" in change else ""
    shared = ".shared .u32 t[4];"
    assert is_padded(kernel(BY_ROW, variables=shared, change="st.shared.u32 [t], %x; bar.sync 0;"), (20, 20))
    assert not is_padded(kernel(BY_ROW, change, shared, before), (20, 20))


@pytest.mark.parametrize("block", [(16, 16), (32, 5), (64, 2), (200,)])
def test_not_where_nothing_is_gained(block: tuple[int, ...]) -> None:
    assert not is_padded(kernel(BY_ROW), block)


def test_not_where_many_warps_go_in_step() -> None:
    """There are 34 of them, of 20 x 51 threads in 51 rows."""
    barrier = kernel(BY_ROW, "st.shared.u32 [t], %x; bar.sync 0;", ".shared .u32 t[4];")
    assert is_padded(kernel(BY_ROW), (20, 51))
    assert not is_padded(barrier, (20, 51))
    assert is_padded(barrier, (20, 32))


def test_not_where_there_is_more_arithmetic_than_access() -> None:
    """20 of 32 lanes would compute."""
    much = "$LOOP: mad.lo.u32 %s, %s, %s, 1; " + "xor.b32 %s, %s, %x; mul.lo.u32 %s, %s, 3; " * 40
    much += "setp.lt.u32 %q, %s, 1000; @%q bra $LOOP;"
    assert not is_padded(kernel(BY_ROW, much), (20, 20))


@pytest.mark.parametrize("block", [(10, 10), (20, 20), (5, 7), (33, 9)])
def test_threads_keep_memory_of_their_own(engine: str, block: tuple[int, int]) -> None:
    device, shape = shared_device(engine), (50, 41)
    change = "st.local.u32 [own], %y; st.local.u32 [own+4], %x; ld.local.u32 %s, [own]; mul.lo.u32 %s, %s, 9;"
    text = kernel(BY_ROW, change, ".local .u32 own[2];")
    table = np.arange(50 * 41, dtype="u4").reshape(shape)
    out, given = device.zeros((41, 50), "u4"), device.array(np.ascontiguousarray(table.T))
    grid = -(-shape[0] // block[0]), -(-shape[1] // block[1])
    device.load(text)["k"](grid, block, (out, given, *shape))
    more = np.indices(shape, "u4")[1] * 9
    np.testing.assert_array_equal(out.numpy().T, expected(table, block, grid) + more)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("index", [BY_ROW, BY_COLUMN])
@pytest.mark.parametrize("block", [(10, 10), (20, 20), (33, 9), (5, 7)])
@pytest.mark.parametrize("bad", BAD)
def test_faults_name_the_thread(
    engine: str, bad: tuple[int, int], block: tuple[int, int], index: str, workers: int
) -> None:
    device = simt.Device("sm_90", workers=workers, engine=engine)
    check_fault(device, kernel(index, change=wild(bad)), block, bad)


def test_idle_lanes_touch_nothing() -> None:
    """Their addresses lie beyond the array, at the very end of what is allocated."""
    device = simt.Device("sm_75", engine="jit", memory="1MiB")
    block, shape = (20, 20), (20, 20)
    text = kernel(BY_ROW)
    assert is_padded(text, block)
    given = device.zeros(shape, "u4")
    out = device.zeros(shape, "u4")
    for _ in range(3):
        device.load(text)["k"]((1, 1), block, (out, given, *shape))
    np.testing.assert_array_equal(out.numpy().T, expected(np.zeros(shape, "u4"), block, (1, 1)))


def test_captured_sequences() -> None:
    device, block, shape = simt.Device("sm_75", engine="jit"), (20, 20), (50, 41)
    table = np.arange(50 * 41, dtype="u4").reshape(shape)
    given = device.array(np.ascontiguousarray(table.T))
    outs = [device.zeros((41, 50), "u4") for _ in range(3)]
    kernel_ = device.load(kernel(BY_ROW, "st.local.u32 [own], %y;", ".local .u32 own[20];"))["k"]
    with device.capture() as sequence:
        for out in outs:
            kernel_((3, 3), block, (out, given, *shape))
    sequence()
    for out in outs:
        np.testing.assert_array_equal(out.numpy().T, expected(table, block, (3, 3)))


def test_the_explanation_says_so() -> None:
    notes = found(kernel(BY_ROW), (20, 10))
    text = unstyle(in_full(notes))
    assert "block 20x10: machine code for 10 warps a CTA, rows of 20 threads filled up to 32 lanes" in text
    assert as_json(notes)["block"] == {"x": 20, "y": 10, "z": 1}
    assert as_json(notes)["padded"] == 32
