"""Loops in which each thread goes down a column, whose turns warps take together. NumPy expects."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine import host
from simt.engine.host import FAR_TURNS, host_cpu
from simt.engine.llvm_kernel import emit
from simt.records import replace
from tests.conftest import shared_device
from tests.unit.engine.coordinates import HEAD

KERNEL = """
.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n, .param .u32 rows)
{
    .reg .u32 %x, %j, %i, %s, %u, %v, %n, %rows, %t, %a<4>; .reg .u64 %o, %in, %p, %row;
    .reg .pred %q, %r;
    ld.param.u64 %o, [out]; ld.param.u64 %in, [in]; ld.param.u32 %n, [n]; ld.param.u32 %rows, [rows];
    mov.u32 %u, %ctaid.x; mov.u32 %v, %ntid.x; mov.u32 %x, %tid.x; mad.lo.u32 %x, %u, %v, %x;
    setp.ge.u32 %q, %x, %n;
    @%q bra $END;
    mul.wide.u32 %row, %n, 4; shl.b32 %t, %n, 2; mov.u32 %s, 0; mov.u32 %u, 0;
$AGAIN:
    mov.u32 %j, 0; mov.u32 %i, %x;
$LOOP:
    mad.wide.u32 %p, %i, 4, %in;
    ld.global.u32 %a0, [%p]; add.u64 %p, %p, %row; ld.global.u32 %a1, [%p]; add.u64 %p, %p, %row;
    ld.global.u32 %a2, [%p]; add.u64 %p, %p, %row; ld.global.u32 %a3, [%p];
    BODY
    setp.gt.u32 %r, %a0, 0x80000000;
    @%r bra $ON;
    mad.lo.u32 %s, %s, 3, %a1; mad.lo.u32 %s, %a2, %a3, %s;
$ON:
    add.u32 %i, %i, %t; add.u32 %j, %j, 4;
    setp.lt.u32 %r, %j, %rows;
    @%r bra $LOOP;
    REST
    mad.wide.u32 %p, %x, 4, %o; st.global.u32 [%p], %s;
$END:
    ret;
}
"""
TWICE = "add.u32 %u, %u, 1; setp.lt.u32 %r, %u, 2; @%r bra $AGAIN;"


def kernel(body: str = "", rest: str = "") -> str:
    return HEAD + KERNEL.replace("BODY", body).replace("REST", rest)


OTHERS = {
    "columns twice": kernel(rest=TWICE),
    "what is stored": kernel("st.global.u32 [%p], %a1;"),
    "three loads": kernel().replace("ld.global.u32 %a3, [%p];", "mov.u32 %a3, %a0;"),
    "volatile": kernel().replace("ld.global.u32 %a3", "ld.volatile.global.u32 %a3"),
}


def takes_turns(text: str, block: tuple[int, int, int], *more: str) -> bool:
    program = shared_device("jit").load(text).program
    features = host_cpu().features - {FAR_TURNS} | {*more}
    return emit(program, program.functions["k"], BlockShape(*block), features, "nounwind")[1].takes_turns


def test_where_turns_come_late() -> None:
    assert takes_turns(kernel(), (256, 1, 1), FAR_TURNS)
    assert not takes_turns(kernel(), (256, 1, 1))


@pytest.mark.parametrize("name", OTHERS)
def test_other_loops(name: str) -> None:
    assert not takes_turns(OTHERS[name], (256, 1, 1), FAR_TURNS)


@pytest.mark.parametrize("block", [(32, 4, 1), (32, 1, 1)])
def test_other_ctas(block: tuple[int, int, int]) -> None:
    """Threads along y may go down the same columns; a single warp has the CTA to itself."""
    assert not takes_turns(kernel(), block, FAR_TURNS)


@pytest.mark.parametrize("block", [64, 96, 256])
@pytest.mark.parametrize(("n", "rows"), [(40, 4), (500, 12), (20_000, 8)])
def test_each_column_once(block: int, n: int, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    stale = replace(host_cpu(), features=host_cpu().features | {FAR_TURNS})
    monkeypatch.setattr(host, "host_cpu", lambda: stale)
    device = simt.Device("sm_75", memory="64MiB")
    given = np.random.default_rng(n).integers(0, 1 << 32, (rows, n), "u4")
    sums = np.zeros(n, "u4")
    for a, b, c, d in given.reshape(-1, 4, n):
        sums = np.where(a > 0x80000000, sums, sums * np.uint32(3) + b + c * d)
    out = device.zeros(n, "u4")
    device.load(kernel())["k"](-(-n // block), block, (out, device.array(given), n, rows))
    np.testing.assert_array_equal(out.numpy(), sums)
