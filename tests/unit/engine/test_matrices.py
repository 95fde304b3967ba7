"""Small matrices that the lanes of a warp hold together: `ldmatrix`, `stmatrix`, `movmatrix`.

What is expected follows from where the manual says that each lane's elements stand.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import simt

Words = NDArray[np.uint32]
KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 rows, .param .u64 data, .param .u64 out)
{{
    .reg .b64 %in, %from, %to, %at, %wide;
    .reg .b32 %r<4>, %lane, %row, %mine;
    .shared .align 16 .b8 rows16[512];
    ld.param.u64 %in, [rows];
    ld.param.u64 %from, [data];
    ld.param.u64 %to, [out];
    mov.u32 %lane, %tid.x;
    mul.wide.u32 %wide, %lane, 4;
    add.u64 %in, %in, %wide;
    mul.wide.u32 %wide, %lane, 16;
    add.u64 %from, %from, %wide;
    add.u64 %to, %to, %wide;
    mov.u32 %mine, rows16;
    ld.global.u32 %row, [%in];
    add.u32 %row, %row, %mine;
    mad.lo.u32 %mine, %lane, 16, %mine;
    cvt.u64.u32 %at, %row;
    cvta.shared.u64 %at, %at;
    ld.global.v4.u32 {{%r0, %r1, %r2, %r3}}, [%from];
    {body}
    st.global.v4.u32 [%to], {{%r0, %r1, %r2, %r3}};
    ret;
}}
"""
FILL = "st.shared.v4.u32 [%mine], {%r0, %r1, %r2, %r3}; bar.sync 0;"
SEE = "bar.sync 0; ld.shared.v4.u32 {%r0, %r1, %r2, %r3}, [%mine];"


@pytest.fixture
def dev(engine: str) -> simt.Device:
    return simt.Device("sm_90", engine=engine, memory="1MiB")


def run(dev: simt.Device, body: str, rows: Words, data: Words, lanes: int = 32) -> Words:
    """What lanes leave in `%r0` to `%r3`. `rows`: where their rows begin. `data`: four words of each."""
    out = dev.zeros((32, 4), "u4")
    dev.load(KERNEL.format(body=body))["k"](1, lanes, (dev.array(rows), dev.array(data), out))
    return out.numpy().copy()


def given() -> tuple[Words, Words]:
    random = np.random.default_rng(3)
    rows = random.permutation(32).astype("u4") * 16
    return rows, random.integers(0, 1 << 32, (32, 4), dtype=np.uint64).astype("u4")


def halves(words: NDArray[Any]) -> NDArray[np.uint16]:
    return np.ascontiguousarray(words).view("u2")


def of_lanes(matrix: NDArray[np.uint16]) -> Words:
    """What 32 lanes hold of a matrix of 8 x 8."""
    return np.ascontiguousarray(matrix).view("u4").reshape(32)


def registers(count: int) -> str:
    return "{" + ", ".join(f"%r{i}" for i in range(count)) + "}"


PLACES = {".shared": "[%row]", ".shared::cta": "[%row]", "": "[%at]"}


@pytest.mark.parametrize("space", PLACES)
@pytest.mark.parametrize("trans", ["", ".trans"])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_matrices_are_loaded(dev: simt.Device, count: int, trans: str, space: str) -> None:
    rows, data = given()
    load = f"ldmatrix.sync.aligned.m8n8.x{count}{trans}{space}.b16 {registers(count)}, {PLACES[space]};"
    found, memory = run(dev, FILL + load, rows, data), halves(data).ravel()
    for i in range(count):
        matrix = np.stack([memory[row // 2 : row // 2 + 8] for row in rows[8 * i : 8 * i + 8]])
        np.testing.assert_array_equal(found[:, i], of_lanes(matrix.T if trans else matrix))


@pytest.mark.parametrize("space", PLACES)
@pytest.mark.parametrize("trans", ["", ".trans"])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_matrices_are_stored(dev: simt.Device, count: int, trans: str, space: str) -> None:
    rows, data = given()
    store = f"stmatrix.sync.aligned.m8n8.x{count}{trans}{space}.b16 {PLACES[space]}, {registers(count)};"
    found, memory = run(dev, FILL + store + SEE, rows, data), halves(data).ravel().copy()
    for i in range(count):
        matrix = halves(data[:, i]).reshape(8, 8)
        for row, values in zip(rows[8 * i : 8 * i + 8], matrix.T if trans else matrix):
            memory[row // 2 : row // 2 + 8] = values
    np.testing.assert_array_equal(halves(found).ravel(), memory)


def test_a_matrix_is_transposed(dev: simt.Device) -> None:
    rows, data = given()
    found = run(dev, "movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;", rows, data)
    np.testing.assert_array_equal(found[:, 0], of_lanes(halves(data[:, 1]).reshape(8, 8).T))


@pytest.mark.parametrize(
    ("beyond", "text"), [(8, "not a multiple of 16"), (4096, "outside the CTA's shared")]
)
def test_the_lane_of_a_bad_row_is_named(dev: simt.Device, beyond: int, text: str) -> None:
    rows, data = given()
    rows[[5, 20]] += beyond  # lane 20 has no row of two matrices
    with pytest.raises(simt.MemoryFault, match=rf"{text}.*thread \(5, 0, 0\)"):
        run(dev, "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r0, %r1}, [%row];", rows, data)
    rows[5] -= beyond
    run(dev, "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r0, %r1}, [%row];", rows, data)


@pytest.mark.parametrize(
    "body",
    [
        "movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;",
        FILL + "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r0, %r1, %r2, %r3}, [%row];",
        FILL + "ldmatrix.sync.aligned.m8n8.x2.b16 {%r0, %r1}, [%at];",
        FILL + "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%row], {%r2, %r3};" + SEE,
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32"
        " {%r0, %r1, %r2, %r3}, {%r0, %r1, %r2, %r3}, {%r2, %r1}, {%r1, %r0, %r3, %r2};",
    ],
)
def test_lanes_that_do_not_take_part(engine: str, body: str) -> None:
    """Others get zeros of these."""
    rows, data = given()
    rows, data[20:] = np.sort(rows), 0
    found = [run(simt.Device("sm_90", engine=engine, memory="1MiB"), body, rows, data, n) for n in (20, 32)]
    np.testing.assert_array_equal(found[0][:20], found[1][:20])


def test_one_matrix_stands_in_braces_too() -> None:
    text = KERNEL.format(body="ldmatrix.sync.aligned.m8n8.x1.shared.b16 %r0, [%row];")
    with pytest.raises(simt.PtxError, match="expected a vector of 1 element"):
        simt.Device("sm_90").load(text)
