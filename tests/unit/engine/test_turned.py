"""CTAs whose x counts rows of a matrix: warps go along y, where no thread can tell. NumPy expects."""

from __future__ import annotations

import numpy as np
import pytest
from click import unstyle

import simt
from simt.analysis.shape import BlockShape
from simt.cli.explain import as_json, in_full
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
    mad.lo.u32 %s, %a, 77, %s;
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
BLOCKS = [(16, 16), (8, 32), (32, 8), (4, 64), (1, 64), (5, 7), (64, 2), (2, 1), (32, 32), (3, 16)]


def kernel(index: str = BY_COLUMN, change: str = "", variables: str = "", before: str = "") -> str:
    return KERNEL.format(index=index, change=change, variables=variables, before=before)


def found(text: str, block: tuple[int, ...] = (16, 16)) -> Explanation:
    program = shared_device("jit").load(text).program
    return explain(program, program.functions["k"], BlockShape(*block, *(1,) * (3 - len(block))), "x86-64-v4")


def is_turned(text: str, block: tuple[int, ...] = (16, 16)) -> bool:
    return found(text, block).block.turned


def expected(table: np.ndarray, block: tuple[int, int], grid: tuple[int, int]) -> np.ndarray:
    """By row (x) and column (y)."""
    x, y = np.indices(table.shape, "u4")
    given = table * np.uint32(31) + x * 1000 + y + x // block[0] * 77 + y // block[1] * 7777
    return (given + block[0] * 3 + block[1] * 5 + grid[0] * 11 + grid[1] * 13).astype("u4")


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
        "red.global.add.u32 [%p], 1;",
        "membar.gl;",
        "bar.warp.sync -1;",
        "bar.sync 0;",
        "trap;",
        "call other, ();",
    ],
)
def test_not_where_threads_may_tell(change: str) -> None:
    assert not is_turned(kernel(change=change, before=".func other() { ret; }" if "call" in change else ""))


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
@pytest.mark.parametrize("bad", [(0, 0), (3, 40), (40, 3), (63, 49)])
def test_faults_name_the_thread(
    engine: str, bad: tuple[int, int], block: tuple[int, int], workers: int
) -> None:
    """One thread gets at a wild address."""
    device = simt.Device("sm_90", workers=workers, engine=engine)
    wild = (
        f"setp.eq.u32 %q, %x, {bad[0]}; @!%q bra $GO; setp.eq.u32 %q, %y, {bad[1]}; @%q mov.u64 %p, 64; $GO:"
    )
    shape = (64, 50)
    out, given = device.zeros(shape, "u4"), device.zeros(shape, "u4")
    grid = -(-shape[0] // block[0]), -(-shape[1] // block[1])
    text = kernel(change=wild)
    assert is_turned(text, block) == (block in ((16, 16), (8, 32)))
    with pytest.raises(simt.KernelFault) as caught:
        device.load(text)["k"](grid, block, (out, given, *shape))
    site = caught.value.site
    assert site.cta == (bad[0] // block[0], bad[1] // block[1], 0)
    assert site.thread == (bad[0] % block[0], bad[1] % block[1], 0)
    assert text.split("\n")[(site.line or 0) - 1].strip() == "ld.global.u32 %v, [%p];"


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
