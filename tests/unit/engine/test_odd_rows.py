"""CTAs whose rows do not fit warps: `simt.engine.llvm_odd_rows`, and `Shape.steps`."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.analysis.shape import VARYING, WARP, BlockShape, Shape, constant
from simt.analysis.shape_algebra import ShapeAlgebra
from simt.engine.host import host_features
from simt.engine.llvm_kernel import emit
from simt.ptx.types import U32

BLOCKS = [(20, 20, 1), (18, 5, 1), (10, 3, 5), (48, 3, 1), (7, 9, 2), (3, 3, 3), (33, 2, 1)]
HEAD = ".version 7.0\n.target sm_75\n.address_size 64\n"


def kernel(row: str, layer: str, body: str) -> str:
    """`%i`: the thread's place in an array with rows and layers of so many words; `%n`: its linear number."""
    return f"""{HEAD}
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 row, .param .u32 layer, .param .u32 most)
{{
    .reg .pred %p; .reg .b32 %x, %y, %z, %i, %n, %v, %a, %row, %layer, %s, %most; .reg .b64 %in, %out, %o;
    .shared .align 4 .b8 tile[8192];
    ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.param.u32 %most, [most];
    ld.param.u32 %row, [row]; ld.param.u32 %layer, [layer];
    mov.u32 %a, %laneid;  // so that rows are not filled up to warps (`simt.analysis.padded`)
    mov.u32 %x, %tid.x; mov.u32 %y, %tid.y; mov.u32 %z, %tid.z;
    mov.u32 %s, %ntid.y; mad.lo.u32 %n, %z, %s, %y; mov.u32 %s, %ntid.x; mad.lo.u32 %n, %n, %s, %x;
    mad.lo.u32 %i, %y, {row}, %x; mad.lo.u32 %i, %z, {layer}, %i;
    setp.ge.u32 %p, %n, %most;
    {body}
    mul.wide.u32 %o, %n, 4; add.u64 %o, %out, %o;
    @!%p st.global.u32 [%o], %v;
    ret;
}}
"""


GLOBAL = "mov.u32 %v, 7; mul.wide.u32 %o, %i, 4; add.u64 %o, %in, %o; @%p bra M; ld.global.u32 %v, [%o+4]; M:"
SHARED = """
    mov.u32 %s, tile; shl.b32 %a, %i, 2; add.u32 %a, %a, %s; mul.lo.u32 %v, %n, 3; st.shared.u32 [%a], %v;
    bar.sync 0; xor.b32 %v, %v, %v; @%p bra M; ld.shared.u32 %v, [%a]; ld.shared.u32 %s, [%a+4];
    add.u32 %v, %v, %s; M:
"""


def numbered(block: tuple[int, int, int]) -> tuple[np.ndarray, ...]:
    """The linear number and the coordinates of all threads."""
    n = np.arange(np.prod(block))
    return n, n % block[0], n // block[0] % block[1], n // (block[0] * block[1])


@pytest.mark.parametrize("block", BLOCKS, ids=str)
@pytest.mark.parametrize("row", [0, 1, 64])
@pytest.mark.parametrize("most", [1000, 45, 3])
def test_loads_of_rows(device: simt.Device, block: tuple[int, int, int], row: int, most: int) -> None:
    """Rows that begin where others end, or are the same, or lie apart."""
    row, (n, x, y, z) = row or block[0], numbered(block)
    data = np.random.default_rng(2).integers(0, 2**32, 4096, "u4")
    out = device.zeros(1024, "u4")
    k = device.load(kernel("%row", "%layer", GLOBAL))["k"]
    k(1, block, (device.array(data), out, np.uint32(row), np.uint32(300), np.uint32(most)))
    expected = np.where(n < most, data[x + row * y + 300 * z + 1], 0)
    assert out.numpy()[: len(n)].tolist() == expected.tolist()


@pytest.mark.parametrize("block", BLOCKS, ids=str)
@pytest.mark.parametrize("more", [0, 1, 5])
def test_tiles_of_shared_memory(device: simt.Device, block: tuple[int, int, int], more: int) -> None:
    """With rows as long as those of threads, where places are consecutive, or longer ones."""
    (n, x, y, z), row = numbered(block), block[0] + more
    layer, most = row * block[1], len(n) - 3
    out = device.zeros(1024, "u4")
    k = device.load(kernel(str(row), str(layer), SHARED))["k"]
    k(1, block, (out, out, np.uint32(0), np.uint32(0), np.uint32(most)))
    tile = np.zeros(2048, "u4")
    tile[x + row * y + layer * z] = 3 * n
    at = x + row * y + layer * z
    expected = np.where(n < most, tile[at] + tile[at + 1], 0)
    assert out.numpy()[: len(n)].tolist() == expected.tolist()


def test_steps_along_the_axes() -> None:
    algebra = ShapeAlgebra(BlockShape(20, 4, 3))
    x, y, z = (algebra.special("tid", axis) for axis in "xyz")
    assert [s.steps for s in (x, y, z)] == [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    rows = algebra.add(U32, algebra.mul(U32, y, constant(80)), algebra.shift_left(U32, x, constant(2)))
    assert rows == Shape(WARP, steps=(4, 80, 0))
    assert algebra.add(U32, rows, algebra.mul(U32, constant(320), z)) == Shape(1, 4)
    assert algebra.sub(U32, rows, algebra.mul(U32, constant(320), z)).steps == (4, 80, -320)
    assert algebra.sub(U32, x, x) == Shape(1, 0)
    assert algebra.add(U32, VARYING, x) == VARYING
    assert algebra.mul(U32, x, y) == VARYING


def test_an_axis_without_threads_does_not_count() -> None:
    algebra = ShapeAlgebra(BlockShape(20, 4, 1))
    x, y = (algebra.special("tid", axis) for axis in "xy")
    assert algebra.add(U32, algebra.mul(U32, y, constant(20)), x) == Shape(1, 1)


def code(text: str) -> str:
    program = simt.Device("sm_90").load(text).program
    features = host_features() | {"avx512f", "avx512bw"}
    return emit(program, program.functions["k"], BlockShape(20, 20, 1), features, "nounwind")[0]


def test_a_tile_with_rows_of_threads_is_consecutive() -> None:
    assert "window" not in code(kernel("20", "400", SHARED))
    assert "window" in code(kernel("21", "400", SHARED))


def test_words_of_several_rows_are_loaded_by_runs() -> None:
    assert "@simt.load.runs" in code(kernel("%row", "%layer", GLOBAL))
