"""Where lanes meet in a turn of a loop, the first to come need not be blended with an earlier turn's values,
if all lanes leave the loop together. Expectations are NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from simt.analysis.shape import BlockShape
from simt.engine.host import host_features
from simt.engine.llvm_kernel import emit
from tests.conftest import shared_device

THREADS, TURNS = 64, 6
SOURCE = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 out, .param .u32 turns)
{
    .reg .pred %p, %more; .reg .b32 %t, %n, %i, %v, %w, %sum; .reg .b64 %a, %out, %m;
    ld.param.u64 %a, [a]; ld.param.u64 %out, [out]; ld.param.u32 %n, [turns];
    mov.u32 %t, %tid.x; mul.wide.u32 %m, %t, 4; add.u64 %a, %a, %m; add.u64 %out, %out, %m;
    ld.global.u32 %v, [%a]; mov.u32 %i, 0; mov.u32 %sum, 0;
    LIMIT
TURN:
    add.u32 %w, %v, %i; and.b32 %w, %w, 3; setp.ne.u32 %p, %w, 0;
    @%p bra MET;
    st.global.u32 [%out], %sum; mad.lo.u32 %sum, %v, 5, %sum;
MET:
    add.u32 %sum, %sum, 1; add.u32 %i, %i, 1; setp.lt.u32 %more, %i, %n; @%more bra TURN;
    st.global.u32 [%out], %sum;
    ret;
}
"""
TOGETHER, APART = "", "and.b32 %n, %v, 7; max.u32 %n, %n, 1;"


def blends(limit: str) -> int:
    program = shared_device("jit").load(SOURCE.replace("LIMIT", limit)).program
    text, *_ = emit(program, program.functions["k"], BlockShape(THREADS, 1, 1), host_features(), "nounwind")
    together = text.split("alone.")[0]
    stored = together.count("load volatile <32 x i32>")  # where some words of memory are stored
    return together.count("select <32 x i1>") - stored


def test_the_first_to_come_are_not_blended() -> None:
    """Those behind the branch are; where lanes leave one by one, all are."""
    assert blends(TOGETHER) == 1
    assert blends(APART) > 2


@pytest.mark.parametrize("limit", [TOGETHER, APART])
def test_sums_by_lanes(engine: str, limit: str) -> None:
    device, a = shared_device(engine), np.random.default_rng(2).integers(0, 1 << 20, THREADS, "u4")
    out = device.zeros(THREADS, "u4")
    device.load(SOURCE.replace("LIMIT", limit))["k"]((1,), (THREADS,), (device.array(a), out, TURNS))
    turns = np.full(THREADS, TURNS) if limit == TOGETHER else np.maximum(a & 7, 1)
    sums = [sum(1 + 5 * v * ((v + i) & 3 == 0) for i in range(n)) for v, n in zip(a.tolist(), turns.tolist())]
    assert out.numpy().tolist() == [s % (1 << 32) for s in sums]
