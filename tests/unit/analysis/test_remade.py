"""Which values are made again where they are read, and from what."""

from __future__ import annotations

import pytest

from simt.analysis.lower import lower
from simt.analysis.remade import DEPTH, remade
from simt.analysis.schedule import schedule
from simt.analysis.shape import BlockShape
from simt.analysis.ssa import build
from simt.analysis.waiting import settle
from simt.isa.algebra import Environment
from simt.ptx.parser import parse

VALUES = {
    "an index": ("mov.u32 %x, %tid.x;", {"x"}),
    "what grows with it": ("mov.u32 %y, %tid.x; mad.lo.u32 %x, %y, 12, 5;", {"x", "y"}),
    "an address": ("mov.u32 %y, box; shl.b32 %i, %t, 2; add.u32 %x, %y, %i;", {"x", "y", "i", "t"}),
    "a parameter": ("ld.param.u32 %x, [n];", {"x"}),
    "a quotient": ("mov.u32 %y, %ctaid.x; div.u32 %x, %y, 3;", set[str]()),
    "what varies": ("mul.lo.u32 %x, %t, %t;", set[str]()),
    "loaded": ("ld.global.u32 %x, [%a];", set[str]()),
    "loaded as one": ("ld.shared.u32 %x, [box];", set[str]()),
    "a clock": ("mov.u32 %x, %clock;", set[str]()),
    "guarded": ("setp.eq.u32 %p, %n, 0; mov.u32 %x, 0; @%p mov.u32 %x, %tid.x;", set[str]()),
    "of two ways": ("mov.u32 %x, %tid.x; setp.eq.u32 %p, %n, 0; @%p bra L; mov.u32 %x, 1; L:", set[str]()),
    "by many steps": ("mov.u32 %x, %tid.x;" + "add.u32 %x, %x, 7;" * DEPTH, set[str]()),
}
"""Code that defines %x, and the registers that are made again for it."""


@pytest.mark.parametrize("name", VALUES)
def test_remade(name: str) -> None:
    body, registers = VALUES[name]
    text = f""".version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 a, .param .u32 n)
{{
    .reg .pred %p;
    .reg .b32 %t, %n, %x, %y, %i;
    .reg .b64 %a;
    .shared .u32 box;
    ld.param.u64 %a, [a];
    ld.param.u32 %n, [n];
    mov.u32 %t, %tid.x;
    {body}
    st.global.u32 [%a], %x;
    ret;
}}
"""
    tree, problems = parse(text, "k.ptx")
    assert tree is not None
    assert not problems.errors
    found = lower(tree).functions["k"]
    ssa = build(found, schedule(found))
    uniformity, _ = settle(ssa, Environment(), BlockShape(64, 1, 1), {})
    wanted = [d for d in ssa.definitions if d.register.name == "%x"][-1]
    recipes = remade([wanted], ssa, uniformity)
    assert {d.register.name.strip("%") for d in recipes} == registers
