"""CTAs whose x counts rows of a matrix: warps go along y, where no thread can tell. NumPy expects."""

from __future__ import annotations

import numpy as np
import pytest
from click import unstyle

import simt
from simt.cli.explain import as_json, in_full
from tests.conftest import shared_device
from tests.unit.engine.coordinates import BAD, BY_ROW, check_fault, expected, found, kernel, wild

BLOCKS = [(16, 16), (8, 32), (32, 8), (4, 64), (1, 64), (5, 7), (64, 2), (2, 1), (32, 32), (3, 16)]

RECURSIVE = """.func other()
{
    .reg .pred %q; .reg .u32 %y; mov.u32 %y, 0; setp.ne.u32 %q, %y, 0; @%q call other, (); ret;
}"""
"""A function whose calls stay calls."""


def is_turned(text: str, block: tuple[int, ...] = (16, 16)) -> bool:
    return found(text, block).block.turned


@pytest.mark.parametrize("shape", [(33, 70), (64, 64), (1, 130), (97, 3)])
@pytest.mark.parametrize("block", BLOCKS)
def test_threads_find_their_own_coordinates(
    engine: str, block: tuple[int, int], shape: tuple[int, int]
) -> None:
    device = shared_device(engine)
    table = np.random.default_rng(5).integers(0, 1 << 32, shape, "u4")
    out, given = device.zeros(shape, "u4"), device.array(table)
    grid = -(-shape[0] // block[0]), -(-shape[1] // block[1])
    device.load(kernel())["k"](grid, block, (out, given, *shape))
    np.testing.assert_array_equal(out.numpy(), expected(table, block, grid))


@pytest.mark.parametrize("block", [(16, 16), (32, 8), (8, 32), (32, 32)])
def test_what_goes_along_columns_is_turned(block: tuple[int, int]) -> None:
    assert is_turned(kernel(), block)
    patterns = {a.pattern for a in found(kernel(), block).functions[0].accesses if a.space == "global"}
    assert patterns == {"contiguous"}


@pytest.mark.parametrize("block", [(16, 16), (32, 8), (8, 32), (256,), (1, 1)])
def test_what_goes_along_rows_is_not(block: tuple[int, ...]) -> None:
    assert not is_turned(kernel(BY_ROW), block)


@pytest.mark.parametrize(
    "change",
    [
        "mov.u32 %v, %laneid; add.u32 %s, %s, %v;",
        "mov.u32 %v, %warpid; add.u32 %s, %s, %v;",
        "mov.u32 %v, %lanemask_lt; add.u32 %s, %s, %v;",
        "mov.u32 %v, %clock; and.b32 %v, %v, 0; add.u32 %s, %s, %v;",
        "mov.u32 %v, %smid; and.b32 %v, %v, 0; add.u32 %s, %s, %v;",
        "activemask.b32 %v; add.u32 %s, %s, %v;",
        "vote.sync.ballot.b32 %v, %q, -1; add.u32 %s, %s, %v;",
        "shfl.sync.bfly.b32 %v, %x, 1, 31, -1; add.u32 %s, %s, %v;",
        "ld.volatile.global.u32 %v, [%p]; add.u32 %s, %s, %v;",
        "ld.relaxed.gpu.global.u32 %v, [%p]; add.u32 %s, %s, %v;",
        "atom.global.add.u32 %v, [%p], 1; add.u32 %s, %s, %v;",
        "red.global.add.f32 [%p], 0f3F800000;",
        "red.global.inc.u32 [%p], 7;",
        "red.release.gpu.global.add.u32 [%p], 1;",
        "atom.global.exch.b32 %v, [%p], 1;",
        "membar.gl;",
        "bar.warp.sync -1;",
        "bar.sync 0;",
        "trap;",
        "call other, ();",
    ],
)
def test_not_where_threads_may_tell(change: str) -> None:
    assert not is_turned(kernel(change=change, before=RECURSIVE if "call" in change else ""))


@pytest.mark.parametrize("change", ["red.global.add.u32 [%p], 1;", "atom.global.max.s32 %z, [%p], 7;"])
def test_threads_may_count(change: str) -> None:
    """In any order, if they do not look at what was there."""
    assert is_turned(kernel(change=change, variables=".reg .b32 %z;"))


def test_not_where_a_cta_has_memory_of_its_own() -> None:
    assert not is_turned(kernel(variables=".shared .u32 t[4];", change="st.shared.u32 [t], %x;"))


def test_a_vector_of_special_registers_is_looked_at() -> None:
    both = ".reg .u32 %e, %f;"
    assert is_turned(kernel(variables=both, change="mov.v4.u32 {%e, %f, _, _}, %tid; add.u32 %s, %s, 0;"))


@pytest.mark.parametrize("block", [(16, 16), (32, 8), (5, 7)])
def test_threads_keep_memory_of_their_own(engine: str, block: tuple[int, int]) -> None:
    device, shape = shared_device(engine), (50, 41)
    change = "st.local.u32 [own], %y; st.local.u32 [own+4], %x; ld.local.u32 %s, [own]; mul.lo.u32 %s, %s, 9;"
    text = kernel(change=change, variables=".local .u32 own[2];")
    table = np.arange(50 * 41, dtype="u4").reshape(shape)
    out, given = device.zeros(shape, "u4"), device.array(table)
    grid = -(-shape[0] // block[0]), -(-shape[1] // block[1])
    device.load(text)["k"](grid, block, (out, given, *shape))
    more = np.indices(shape, "u4")[1] * 9
    np.testing.assert_array_equal(out.numpy(), expected(table, block, grid) + more)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("block", [(16, 16), (32, 8), (8, 32), (5, 7)])
@pytest.mark.parametrize("bad", BAD)
def test_faults_name_the_thread(
    engine: str, bad: tuple[int, int], block: tuple[int, int], workers: int
) -> None:
    text = kernel(change=wild(bad))
    assert is_turned(text, block) == (block in ((16, 16), (8, 32)))
    check_fault(simt.Device("sm_90", workers=workers, engine=engine), text, block, bad)


def test_planes_of_threads_stay(engine: str) -> None:
    """Each plane of a CTA's threads adds to what the same place of the matrix gets: the last one stays."""
    device, block, shape = shared_device(engine), (16, 8, 2), (33, 20)
    table = np.arange(33 * 20, dtype="u4").reshape(shape)
    out, given = device.zeros((2, *shape), "u4"), device.array(np.stack([table, table]))
    planes = "mov.u32 %v, %tid.z; mul.lo.u32 %v, %v, %n; add.u32 %i, %x, %v; mad.lo.u32 %i, %i, %m, %y"
    text, grid = kernel(planes), (3, 3)
    assert is_turned(text, block)
    device.load(text)["k"](grid, block, (out, given, *shape))
    plane = expected(table, (16, 8), grid)
    np.testing.assert_array_equal(out.numpy(), np.stack([plane, plane + np.uint32(17)]))


def test_the_explanation_says_so() -> None:
    notes = found(kernel(), (32, 8))
    assert "block 32x8: machine code for 8 warps a CTA, in columns of 8 lanes" in unstyle(in_full(notes))
    assert as_json(notes)["block"] == {"x": 32, "y": 8, "z": 1}
    assert as_json(notes)["turned"] is True
