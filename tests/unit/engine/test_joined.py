"""CTAs of one thread along x that are lanes of one warp, where no thread can tell. NumPy expects."""

from __future__ import annotations

import numpy as np
import pytest
from click import unstyle

import simt
from simt.analysis.joined import FEWEST, MANY, asked, joined
from simt.analysis.shape import BlockShape
from simt.cli.explain import as_json, in_full
from simt.engine.abi import LaunchSlot
from simt.engine.prepared import Prepared
from simt.tools.explain import explain
from tests.conftest import shared_device
from tests.unit.engine.coordinates import BAD, BY_COLUMN, BY_ROW, check_fault, expected, kernel, wild


def shape_of(text: str, block: tuple[int, int, int], grid_x: int = 1000) -> BlockShape:
    program = shared_device("jit").load(text).program
    kernel = program.functions["k"]
    return explain(program, kernel, asked(block, (grid_x, 1, 1), kernel), "x86-64-v4").block


def together(block: tuple[int, int, int], grid_x: int) -> BlockShape | None:
    """Of a kernel of which no thread can tell."""
    return joined(asked(block, (grid_x, 1, 1), shared_device("jit").load(kernel()).program.functions["k"]))


@pytest.mark.parametrize(
    ("block", "ctas"),
    [((1, 1, 1), 32), ((1, 5, 1), 32), ((1, 32, 1), 32), ((1, 33, 1), 16), ((1, 8, 16), 8), ((1, 1, 64), 16)],
)
def test_as_many_as_make_a_warp(block: tuple[int, int, int], ctas: int) -> None:
    shape = together(block, MANY)
    assert shape is not None
    assert (shape.x, shape.ctas, shape.columns, shape.y, shape.z) == (ctas, ctas, 1, *block[1:])
    assert shape.threads <= 1024


@pytest.mark.parametrize(
    ("block", "grid_x"), [((32, 1, 1), 1000), ((64, 3, 1), 32), ((1, 1, 1), MANY - 1), ((1, 256, 1), 1000)]
)
def test_not_few_nor_others(block: tuple[int, int, int], grid_x: int) -> None:
    assert FEWEST > 4
    assert together(block, grid_x) is None


@pytest.mark.parametrize("index", [BY_ROW, BY_COLUMN])
@pytest.mark.parametrize("shape", [(33, 70), (64, 64), (97, 3), (16, 1), (15, 4), (130, 65)])
@pytest.mark.parametrize("block", [(1, 1), (1, 5), (1, 32), (1, 33), (1, 64), (1, 100)])
def test_threads_find_their_own_coordinates(
    engine: str, block: tuple[int, int], shape: tuple[int, int], index: str
) -> None:
    device, text = shared_device(engine), kernel(index)
    table = np.random.default_rng(5).integers(0, 1 << 32, shape, "u4")
    given = table.T if index is BY_ROW else table
    out, source = device.zeros(given.shape, "u4"), device.array(np.ascontiguousarray(given))
    grid = shape[0], -(-shape[1] // block[1])
    device.load(text)["k"](grid, block, (out, source, *shape))
    found = out.numpy().T if index is BY_ROW else out.numpy()
    np.testing.assert_array_equal(found, expected(table, block, grid))


@pytest.mark.parametrize("block", [(1, 1, 1), (1, 5, 1), (1, 64, 1), (1, 2, 3)])
def test_what_goes_along_ctas_is_joined(block: tuple[int, int, int]) -> None:
    assert shape_of(kernel(BY_ROW), block).joins
    assert not shape_of(kernel(BY_ROW), block, 3).joins


@pytest.mark.parametrize(
    "change",
    [
        "mov.u32 %v, %laneid; add.u32 %s, %s, %v;",
        "vote.sync.ballot.b32 %v, %q, -1; add.u32 %s, %s, %v;",
        "atom.global.add.u32 %v, [%p], 1; add.u32 %s, %s, %v;",
        "ld.volatile.global.u32 %v, [%p]; add.u32 %s, %s, %v;",
        "st.shared.u32 [t], %x;",
        "bar.sync 0;",
        "membar.gl;",
        "trap;",
    ],
)
def test_not_where_threads_may_tell(change: str) -> None:
    variables = ".shared .u32 t[4];" if "shared" in change else ""
    assert not shape_of(kernel(BY_ROW, change, variables), (1, 1, 1)).joins


def test_threads_keep_memory_of_their_own(engine: str) -> None:
    device, shape = shared_device(engine), (50, 41)
    change = "st.local.u32 [own], %y; st.local.u32 [own+4], %x; ld.local.u32 %s, [own]; mul.lo.u32 %s, %s, 9;"
    text = kernel(BY_ROW, change, ".local .u32 own[2];")
    table = np.arange(50 * 41, dtype="u4").reshape(shape)
    for block in ((1, 1), (1, 5), (1, 41)):
        out, given = device.zeros((41, 50), "u4"), device.array(np.ascontiguousarray(table.T))
        grid = shape[0], -(-shape[1] // block[1])
        device.load(text)["k"](grid, block, (out, given, *shape))
        more = np.indices(shape, "u4")[1] * 9
        np.testing.assert_array_equal(out.numpy().T, expected(table, block, grid) + more)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("block", [(1, 1), (1, 5), (1, 33)])
@pytest.mark.parametrize("bad", BAD)
def test_faults_name_the_thread(
    engine: str, bad: tuple[int, int], block: tuple[int, int], workers: int
) -> None:
    device = simt.Device("sm_90", workers=workers, engine=engine)
    check_fault(device, kernel(BY_ROW, wild(bad)), block, bad)


def test_the_lowest_of_several_faults(engine: str) -> None:
    device, shape = simt.Device("sm_75", engine=engine, workers=1), (100, 1)
    out, given = device.zeros(shape, "u4"), device.zeros(shape, "u4")
    wild = "setp.ge.u32 %q, %x, 37; @%q mov.u64 %p, 64;"
    with pytest.raises(simt.KernelFault) as caught:
        device.load(kernel(BY_ROW, wild))["k"]((100, 1), 1, (out, given, *shape))
    assert caught.value.site.cta == (37, 0, 0)


def test_grids_with_few_and_with_many_ctas_take_turns() -> None:
    """They have code of their own, also where compiled code makes launches once more."""
    device = simt.Device("sm_75", engine="jit", workers=1)
    run = device.load(kernel(BY_ROW))["k"]
    made = set[bool]()
    for turn, width in enumerate([100] * 4 + [5] * 4 + [64] * 4 + [1, 100, 2, 99, 15, 16]):
        table = np.random.default_rng(turn).integers(0, 1 << 32, (width, 3), "u4")
        out, given = device.zeros((3, width), "u4"), device.array(np.ascontiguousarray(table.T))
        for _ in range(4):
            out.numpy()[:] = 0
            run((width, 3), (1, 1), (out, given, width, 3))
            np.testing.assert_array_equal(out.numpy().T, expected(table, (1, 1), (width, 3)))
        ((launch,),) = run.module.launches.values()
        assert isinstance(launch.state, Prepared)
        joins = launch.state.compiled.block.joins
        assert joins == (width >= MANY)
        assert launch.state.block.slots[LaunchSlot.GRID_X] == (-(-width // 32) if joins else width)
        made.add(joins)
    assert made == {True, False}


def test_captured_sequences() -> None:
    device = simt.Device("sm_75", engine="jit")
    run = device.load(kernel(BY_ROW))["k"]
    tables = [np.random.default_rng(w).integers(0, 1 << 32, (w, 3), "u4") for w in (5, 100, 16)]
    given = [device.array(np.ascontiguousarray(table.T)) for table in tables]
    outs = [device.zeros(array.shape, "u4") for array in given]
    with device.capture() as sequence:
        for table, source, out in zip(tables, given, outs):
            run((len(table), 3), 1, (out, source, len(table), 3))
    for _ in range(2):
        sequence()
        for table, out in zip(tables, outs):
            np.testing.assert_array_equal(out.numpy().T, expected(table, (1, 1), (len(table), 3)))


def test_progress_counts_the_programs_ctas() -> None:
    device, told = simt.Device("sm_75", engine="jit", workers=1), list[int]()
    run = device.load(kernel(BY_ROW))["k"]
    out, given = device.zeros((3, 70), "u4"), device.zeros((3, 70), "u4")
    run.launch((70, 3), 1, (out, given, 70, 3), progress=told.append)
    assert told[-1] == 210
    assert told == sorted(told)


def test_the_explanation_says_so() -> None:
    program = shared_device("jit").load(kernel(BY_ROW)).program
    function = program.functions["k"]
    notes = explain(program, function, asked((1, 5, 1), (1000, 1, 1), function), "x86-64-v4")
    assert "block 1x5: machine code for 5 warps for 32 CTAs side by side" in unstyle(in_full(notes))
    assert as_json(notes)["block"] == {"x": 1, "y": 5, "z": 1}
    assert as_json(notes)["joined"] == 32


COUNTING = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 counts, .param .u64 out, .param .u32 width, .param .u32 height)
{
    .reg .b32 %x, %y, %w, %h, %n, %v, %c; .reg .b64 %in, %counts, %out, %o; .reg .pred %p;
    ld.param.u64 %in, [in]; ld.param.u64 %counts, [counts]; ld.param.u64 %out, [out];
    ld.param.u32 %w, [width]; ld.param.u32 %h, [height];
    mov.u32 %n, %ntid.x; mov.u32 %c, %ctaid.x; mov.u32 %v, %tid.x; mad.lo.u32 %x, %n, %c, %v;
    mov.u32 %n, %ntid.y; mov.u32 %c, %ctaid.y; mov.u32 %v, %tid.y; mad.lo.u32 %y, %n, %c, %v;
    setp.ge.u32 %p, %x, %w; @%p bra END; setp.ge.u32 %p, %y, %h; @%p bra END;
    mad.lo.u32 %n, %y, %w, %x; mul.wide.u32 %o, %n, 4; add.u64 %in, %in, %o; add.u64 %out, %out, %o;
    ld.global.u32 %v, [%in]; and.b32 %c, %v, 15; mul.wide.u32 %o, %c, 4; add.u64 %o, %counts, %o;
    atom.global.add.u32 %c, [%o], %v; red.global.max.u32 [%o+64], %v; st.global.u32 [%out], %v;
END:
    ret;
}
"""


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("block", [(7, 13), (10, 10), (16, 16), (1, 5), (20, 3), (32, 8), (9, 1)])
def test_threads_may_count(engine: str, block: tuple[int, int], workers: int) -> None:
    width, height = 101, 53
    values = np.random.default_rng(2).integers(0, 1 << 32, (height, width)).astype("u4")
    device = simt.Device("sm_75", engine=engine, workers=workers)
    given, counts, out = device.array(values), device.zeros(32, "u4"), device.zeros((height, width), "u4")
    grid = -(-width // block[0]), -(-height // block[1])
    device.load(COUNTING)["k"](grid, block, (given, counts, out, np.uint32(width), np.uint32(height)))
    sums = [values[values & 15 == i].sum(dtype="u4") for i in range(16)]
    most = [values[values & 15 == i].max() for i in range(16)]
    np.testing.assert_array_equal(counts.numpy(), np.array([*sums, *most], "u4"))
    np.testing.assert_array_equal(out.numpy(), values)
