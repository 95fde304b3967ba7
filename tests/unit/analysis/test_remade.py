"""Which values are made again where they are read, and from what."""

from __future__ import annotations

import pytest

from simt.analysis.lower import lower
from simt.analysis.remade import DEPTH, of_thread, remade
from simt.analysis.schedule import schedule
from simt.analysis.shape import BlockShape
from simt.analysis.ssa import Definition, Ssa, build
from simt.analysis.uniformity import Uniformity
from simt.analysis.waiting import settle
from simt.isa.algebra import Environment
from simt.ptx.parser import parse

VALUES = {
    "an index": ("mov.u32 %x, %tid.x;", {"x"}),
    "what grows with it": ("mov.u32 %y, %tid.x; mad.lo.u32 %x, %y, 12, 5;", {"x", "y"}),
    "an address": ("mov.u32 %y, box; shl.b32 %i, %t, 2; add.u32 %x, %y, %i;", {"x", "y", "i", "t"}),
    "a parameter": ("ld.param.u32 %x, [n];", {"x"}),
    "a corner": ("mov.u32 %y, %ctaid.x; shl.b32 %i, %y, 5; sub.u32 %x, %i, %n;", {"x", "y", "i", "n"}),
    "the same for a warp": ("shr.u32 %y, %t, 5; mad.lo.u32 %x, %y, %n, 3;", {"x", "y", "n", "t"}),
    "a float": ("cvt.u16.u32 %h, %n; mov.b32 %f, {%h, %h}; add.f32 %f, %f, %f; mov.b32 %x, %f;", set[str]()),
    "an array": ("cvta.to.shared.u64 %b, %a; cvt.u32.u64 %x, %b;", {"x", "b", "a"}),
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
OF_THREAD = {
    "an index": ("mov.u32 %x, %tid.x;", {"x"}),
    "a row": ("mov.u32 %y, %tid.y; and.b32 %x, %y, 3;", {"x", "y"}),
    "what varies": ("mul.lo.u32 %x, %t, %t;", {"x", "t"}),
    "an address": ("mov.u32 %y, box; mul.lo.u32 %i, %t, %t; add.u32 %x, %y, %i;", {"x", "y", "i", "t"}),
    "a comparison": ("set.lt.u32.u32 %x, %t, 5;", {"x", "t"}),
    "a guess": ("setp.lt.u32 %p, %t, 5; selp.u32 %x, 1, %t, %p;", set[str]()),
    "a CTA's index": ("mov.u32 %x, %ctaid.x;", set[str]()),
    "a parameter": ("add.u32 %x, %t, %n;", set[str]()),
    "loaded": ("ld.shared.u32 %x, [box];", set[str]()),
    "a clock": ("mov.u32 %x, %clock;", set[str]()),
    "guarded": ("setp.eq.u32 %p, %t, 0; mov.u32 %x, 0; @%p mov.u32 %x, 1;", set[str]()),
    "of two ways": ("mov.u32 %x, %tid.x; setp.eq.u32 %p, %n, 0; @%p bra L; mov.u32 %x, 1; L:", set[str]()),
    "by many steps": ("mov.u32 %x, %tid.x;" + "mul.lo.u32 %x, %x, 7;" * DEPTH, set[str]()),
}
"""The same, for values that the thread's indices tell."""


@pytest.mark.parametrize("name", VALUES)
def test_remade(name: str) -> None:
    body, registers = VALUES[name]
    recipes = remade(*_defined(body, BlockShape(64, 1, 1)), Environment())
    assert {d.register.name.strip("%") for d in recipes} == registers


@pytest.mark.parametrize("name", OF_THREAD)
@pytest.mark.parametrize("shape", [BlockShape(64, 4, 1), BlockShape(16, 8, 1)], ids=str)
def test_of_thread(name: str, shape: BlockShape) -> None:
    body, registers = OF_THREAD[name]
    found, recipes = of_thread(*_defined(body, shape))
    assert {d.register.name for d in found} == ({"%x"} if registers else set[str]())
    assert {d.register.name.strip("%") for d in recipes} == registers


def _defined(body: str, shape: BlockShape) -> tuple[list[Definition], Ssa, Uniformity]:
    """The last definition of %x in a kernel with some code, and what is known of the kernel."""
    text = f""".version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 a, .param .u32 n)
{{
    .reg .pred %p;
    .reg .b16 %h;
    .reg .b32 %t, %n, %x, %y, %i, %f;
    .reg .b64 %a, %b;
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
    uniformity, _ = settle(ssa, Environment(), shape, {})
    return [d for d in ssa.definitions if d.register.name == "%x"][-1:], ssa, uniformity
