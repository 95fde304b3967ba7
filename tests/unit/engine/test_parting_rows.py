"""Rows of a warp that go different ways, each as a whole: what they bring and keep has a base for each row.
Expectations are NumPy's or plain Python's."""

from __future__ import annotations

import random

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.tools.explain import explain
from tests.conftest import shared_device
from tests.unit.engine.random_rows import TABLE, RowControl

CTAS = 3
HEAD = """.version 7.5
.target sm_75
.address_size 64
"""
WALK = (
    HEAD
    + """
.visible .entry k(.param .u64 out, .param .u64 begins, .param .u64 counts)
{
    .reg .u32 %t, %r, %g, %n, %k, %v, %s; .reg .u64 %o, %b, %c, %d, %l; .reg .pred %p;
    ld.param.u64 %o, [out];
    ld.param.u64 %b, [begins];
    ld.param.u64 %c, [counts];
    mov.u32 %t, %tid.x;
    mov.u32 %r, %tid.y;
    mov.u32 %g, %ntid.y;
    mov.u32 %k, %ctaid.x;
    mad.lo.u32 %r, %k, %g, %r;
    mul.wide.u32 %d, %r, 8;
    add.u64 %b, %b, %d;
    ld.global.u64 %b, [%b];
    mul.wide.u32 %d, %r, 4;
    add.u64 %c, %c, %d;
    ld.global.u32 %n, [%c];
    mov.u32 %s, 0;
    mov.u32 %k, 0;
    setp.eq.u32 %p, %n, 0;
    @%p bra $DONE;
$TURN:
    ld.global.u32 %v, [%b];                    // one word for each row
    mad.lo.u32 %s, %s, 31, %v;
    mul.wide.u32 %l, %t, 4;
    add.u64 %l, %l, %b;
    ld.global.u32 %v, [%l+4];                  // words side by side
    mad.lo.u32 %s, %s, 31, %v;
    add.u64 %b, %b, 8;
    add.u32 %k, %k, 1;
    setp.lt.u32 %p, %k, %n;
    @%p bra $TURN;
$DONE:
    mad.lo.u32 %s, %s, 31, %k;                 // what each row left the loop with
    cvt.u32.u64 %v, %b;
    mad.lo.u32 %s, %s, 31, %v;
    mov.u32 %n, %ntid.x;
    mad.lo.u32 %g, %r, %n, %t;
    mul.wide.u32 %d, %g, 4;
    add.u64 %o, %o, %d;
    st.global.u32 [%o], %s;
    ret;
}
"""
)
WILD = 1 << 44


@pytest.mark.share(4)
@pytest.mark.parametrize("seed", range(20))
def test_random_control_flow_of_rows(any_device: simt.Device, seed: int) -> None:
    rng = random.Random(f"rows {seed}")
    program = RowControl.of_rows(rng)
    rows = rng.choice([1, 2, 3, 4, 6, 8])
    threads = rows * program.row
    out = any_device.zeros((CTAS, threads), "u4")
    any_device.load(program.ptx())["k"](CTAS, program.block(rows), (out, any_device.array(TABLE)))
    expected = [program.expected(cta, threads) for cta in range(CTAS)]
    np.testing.assert_array_equal(out.numpy(), np.array(expected, "u4"), err_msg=program.ptx())


def walked(begins: np.ndarray, words: np.ndarray, base: int, counts: np.ndarray, lanes: int) -> np.ndarray:
    """What the threads of `WALK` store."""
    found = np.zeros((len(counts), lanes), "u4")
    for row, (begin, count) in enumerate(zip(begins, counts)):
        first, s = (int(begin) - base) // 4, np.zeros(lanes, "u4")
        for k in range(int(count)):
            s = s * np.uint32(31) + words[first + 2 * k]
            s = s * np.uint32(31) + words[first + 2 * k + 1 : first + 2 * k + 1 + lanes]
        end = np.uint32(int(begin) + 8 * int(count) & 0xFFFFFFFF)
        found[row] = (s * np.uint32(31) + np.uint32(count)) * np.uint32(31) + end
    return found


@pytest.mark.parametrize(("lanes", "rows"), [(16, 4), (8, 8), (4, 8), (16, 3), (2, 16)])
@pytest.mark.parametrize("wild", [False, True])
def test_rows_go_on_for_different_turns(any_device: simt.Device, lanes: int, rows: int, wild: bool) -> None:
    """Rows that have no turn may have any address."""
    device, words = any_device, (np.arange(600, dtype="u8") * 2654435761 % (1 << 32)).astype("u4")
    table, rng = device.array(words), np.random.default_rng(lanes)
    counts = rng.integers(0, 9, rows * CTAS).astype("u4")
    counts[1::3] = 0
    begins = table.ptr + 4 * rng.integers(0, 500, rows * CTAS).astype("u8")
    if wild:
        begins[counts == 0] = WILD + 1
    out = device.zeros((rows * CTAS, lanes), "u4")
    with np.errstate(over="ignore"):
        expected = walked(begins, words, table.ptr, counts, lanes)
    device.load(WALK)["k"](CTAS, (lanes, rows), (out, device.array(begins), device.array(counts)))
    np.testing.assert_array_equal(out.numpy(), expected)


@pytest.mark.parametrize("bad", [0, 1, 5])
@pytest.mark.parametrize("late", [False, True])
def test_the_row_that_gets_at_nothing_is_named(any_device: simt.Device, bad: int, late: bool) -> None:
    """At once, or where it comes to the end of memory, while the other row of the warp is done."""
    device = any_device
    table = device.array(np.arange(256, dtype="u4"))
    counts, begins = np.ones(6, "u4"), np.full(6, table.ptr, "u8")
    counts[bad], begins[bad] = 1 << 30, table.ptr if late else WILD
    out = device.zeros((6, 16), "u4")
    far = WALK.replace("add.u64 %b, %b, 8;", f"add.u64 %b, %b, {1 << 20};")
    with pytest.raises(simt.KernelFault) as caught:
        device.load(far)["k"](3, (16, 2), (out, device.array(begins), device.array(counts)))
    site = caught.value.site
    assert (site.cta, site.thread[1]) == ((bad // 2, 0, 0), bad % 2)
    assert far.split("\n")[(site.line or 0) - 1].split(";")[0].strip() == "ld.global.u32 %v, [%b]"


def test_addresses_of_rows_stay_such() -> None:
    program = shared_device("jit").load(WALK).program
    notes = explain(program, program.functions["k"], BlockShape(16, 16, 1), "x86-64-v4")
    patterns = {a.place.text.split(";")[0]: a.pattern for a in notes.functions[0].accesses}
    assert patterns["ld.global.u32 %v, [%b]"] == "per row"
    assert patterns["ld.global.u32 %v, [%l+4]"] == "contiguous"
