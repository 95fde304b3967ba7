"""`for (i = threadIdx.x; i < 1000; i += blockDim.x)`, as nvcc writes it for sm_100: unrolled, with turns that
are counted by bounds which the size of a CTA tells. The interpreter, which runs it as it is, is the judge."""

from __future__ import annotations

import numpy as np
import pytest

from simt.analysis.program import Op
from simt.analysis.rolled_lines import Line
from simt.analysis.shape import BlockShape
from simt.engine.llvm_rewriting import with_decisions
from simt.engine.llvm_slots import Unit
from tests.conftest import shared_device

ASKED = "setp.gt.u32 %p, %i, {last}; @%p bra END;"
TURN = """mul.wide.u32 %d, {index}, 4; add.u64 %px, %x, %d; ld.global.f32 %f, [%px];
    add.f32 %f, %f, %f; add.u64 %py, %y, %d; st.global.f32 [%py], %f;"""
AHEAD = (
    "neg.s32 %c, %left; add.u32 %k0, %i, %g; mad.lo.s32 %j, %s, %left, %i;",
    TURN.format(index="%k0") + "add.u32 %k0, %k0, %s; add.s32 %c, %c, 1; setp.ne.s32 %p, %c, 0;",
)
COUNTED_UP = (
    "mov.u32 %c, 0;",
    "add.u32 %k0, %j, %g;" + TURN.format(index="%k0") + "add.u32 %j, %j, %s; add.s32 %c, %c, 1;"
    "setp.ne.s32 %p, %c, %left;",
)
KERNEL = """
.version 7.5
.target sm_75
.address_size 64
.entry k(.param .u64 from, .param .u64 to)
{{
    .reg .u64 %x, %y, %px, %py, %d; .reg .f32 %f; .reg .pred %p;
    .reg .u32 %i, %j, %g, %s, %n, %m, %q, %t, %left, %c, %four, %k<4>;
    ld.param.u64 %x, [from]; ld.param.u64 %y, [to];
    mov.u32 %i, %tid.x; mov.u32 %g, %ctaid.x; mul.lo.s32 %g, %g, {limit};
    {asked}
    mov.u32 %s, %ntid.x;
    add.s32 %n, %i, %s; max.u32 %m, %n, {limit}; setp.lt.u32 %p, %n, {limit}; selp.u32 %q, 1, 0, %p;
    add.s32 %t, %n, %q; sub.s32 %t, %m, %t; div.u32 %t, %t, %s; add.s32 %q, %t, %q;
    and.b32 %t, %q, 3; mov.u32 %j, %i; setp.eq.s32 %p, %t, 3;
    @%p bra FOUR;
    add.s32 %t, %q, 1; and.b32 %left, %t, 3;
    {begun}
ONE:
    {one}
    @%p bra ONE;
FOUR:
    setp.lt.u32 %p, %q, 3;
    @%p bra END;
    shl.b32 %four, %s, 2;
    add.u32 %k0, %j, %g; add.u32 %k1, %k0, %s; add.u32 %k2, %k1, %s; mad.lo.s32 %k3, %s, 3, %k0;
MANY:
    {many}
    add.u32 %j, %j, %four; setp.lt.u32 %p, %j, {limit};
    @%p bra MANY;
END: ret;
}}
"""


def kernel(limit: int, turns: tuple[str, str]) -> str:
    many = "".join(TURN.format(index=f"%k{n}") + f"add.u32 %k{n}, %k{n}, %four;" for n in range(4))
    asked = ASKED.format(last=limit - 1) if limit < 1024 else ""
    return KERNEL.format(limit=limit, asked=asked, begun=turns[0], one=turns[1], many=many)


def is_rolled(text: str, threads: int) -> bool:
    program = shared_device("jit").load(text).program
    unit = Unit(program, program.functions["k"], BlockShape(threads, 1, 1, narrow=True), frozenset())
    found, _ = with_decisions(unit)
    return any(isinstance(op.line, Line) for op in found.ops() if isinstance(op, Op))


@pytest.mark.parametrize("turns", [AHEAD, COUNTED_UP])
@pytest.mark.parametrize(
    ("limit", "threads", "rolled"),
    [(1000, 128, True), (1156, 256, True), (324, 100, True), (576, 128, False)],
)
def test_all_turns_are_made(turns: tuple[str, str], limit: int, threads: int, rolled: bool) -> None:
    """Where a warp's lanes all have as many turns, they are told by a comparison, and four stay one."""
    text = kernel(limit, turns)
    assert is_rolled(text, threads) == rolled
    found = list[list[float]]()
    for engine in ("interpreter", "jit"):
        device = shared_device(engine)
        x, y = device.array(np.arange(4096, dtype="f4")), device.zeros(4096, "f4")
        device.load(text)["k"](3, threads, (x, y))
        found.append(y.numpy().tolist())
    assert found[0] == found[1] == [2.0 * i * (i < 3 * limit) for i in range(4096)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("mad.lo.s32 %j, %s, %left, %i;", "mad.lo.s32 %j, %t, %left, %i;"),
        ("setp.ne.s32 %p, %c, 0;", "setp.ne.s32 %p, %c, 1;"),
        ("mul.lo.s32 %g, %g, 1000;", "add.u32 %i, %i, 4000;"),
    ],
)
def test_what_is_different_stays_as_it_was(old: str, new: str) -> None:
    text = kernel(1000, AHEAD)
    assert is_rolled(text, 128)
    assert text.count(old) == 1
    assert not is_rolled(text.replace(old, new), 128)
