"""Comparisons of the larger or the smaller one of two indices become a comparison of each."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from simt.analysis.lower_forms import CUT, EITHER
from simt.analysis.parted_bounds import with_parted_bounds
from simt.analysis.program import Op
from simt.analysis.shape import BlockShape
from simt.engine.host import host_features
from simt.engine.llvm_slots import Unit
from tests.conftest import shared_device

WIDTH, HEIGHT = 16, 7
HEAD = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n)
{{
    .reg .pred %p, %q; .reg .b32 %x, %y, %n, %m, %i, %v, %h; .reg .b64 %o, %w;
    ld.param.u64 %o, [out]; ld.param.u32 %n, [n]; mov.u32 %x, %tid.x; mov.u32 %y, %tid.y;
    mad.lo.u32 %i, %y, {width}, %x; mad.wide.u32 %o, %i, 4, %o; sub.s32 %h, %x, 5; mov.u32 %v, 0;
    {body}
    st.global.u32 [%o], %v;
    ret;
}}
"""
SET = "@!%p bra A{place}; or.b32 %v, %v, {bit}; st.global.u32 [%o], %v; A{place}:"
COMPARED = "{extreme}.{t} %m, {one}, %y; setp.{cmp}.{t} %p, %m, {n};"
WAYS = {"lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}
SIGNED = [(e, c, "s32", c) for e, c in product(("max", "min"), WAYS)]
UNSIGNED = [(e, w, "u32", c) for e, (w, c) in product(("max", "min"), (("lo", "lt"), ("hs", "ge")))]
CASES = SIGNED + UNSIGNED


def parted(text: str) -> int:
    """How many comparisons have become two."""
    program = shared_device("jit").load(text).program
    kernel = program.functions["k"]
    found = Unit(program, kernel, BlockShape(WIDTH, HEIGHT, 1), host_features()).analyse(kernel)
    made = with_parted_bounds(kernel, found.ssa, found.uniformity.shapes)
    return sum(isinstance(op, Op) and op.form in (CUT, EITHER) for op in made.ops())


@pytest.mark.parametrize("n", [3, -2])
def test_each_lane_has_the_outcome(n: int) -> None:
    """`h`, from -5 on, grows along a row, `y` is the same for it."""
    compared = [COMPARED.format(extreme=e, t=t, one="%h", cmp=c, n="%n") for e, c, t, _ in CASES]
    body = "".join(text + SET.format(bit=1 << i, place=i) for i, text in enumerate(compared))
    text = HEAD.format(body=body, width=WIDTH)
    assert parted(text) == len(CASES)
    device = shared_device("jit")
    out = device.zeros((HEIGHT, WIDTH), "u4")
    device.load(text)["k"]((1,), (WIDTH, HEIGHT), (out, np.int32(n)))
    y, h = np.mgrid[:HEIGHT, -5 : WIDTH - 5].astype(np.int32)
    expected = np.zeros((HEIGHT, WIDTH), np.uint32)
    for i, (extreme, _, t, way) in enumerate(CASES):
        kind = np.int32 if t == "s32" else np.uint32
        most = (np.maximum if extreme == "max" else np.minimum)(y.astype(kind), h.astype(kind))
        expected |= WAYS[way](most, np.int32(n).astype(kind)).astype(np.uint32) << np.uint32(i)
    assert np.array_equal(out.numpy(), expected)


@pytest.mark.parametrize(
    "body",
    [
        "max.s32 %m, %h, %y; setp.eq.s32 %p, %m, %n;",
        "max.s32 %m, %h, %y; setp.lt.u32 %p, %m, %n;",
        "max.s32 %m, %h, %x; setp.lt.s32 %p, %m, %n;",
        "max.s32 %m, %n, %y; setp.lt.s32 %p, %m, 4;",
        "max.s32 %m, %h, %y; setp.lt.s32 %p, %m, %x;",
        "max.s32 %m, %h, %y; add.s32 %h, %h, 9; setp.lt.s32 %p, %m, %n;",
        "max.s32 %m, %h, %y; setp.lt.s32 %p|%q, %m, %n;",
    ],
)
def test_others_stay(body: str) -> None:
    assert parted(HEAD.format(body=body + SET.format(bit=1, place=0), width=WIDTH)) == 0
