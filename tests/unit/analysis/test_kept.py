"""What has to be saved again at a barrier, and what is kept in the saved context throughout."""

from __future__ import annotations

import pytest

from simt.analysis.kept import changed_before, seldom_touched
from simt.analysis.lower import lower
from simt.analysis.pending import Pending
from simt.analysis.schedule import schedule
from simt.analysis.shape import BlockShape
from simt.analysis.ssa import Ssa, build
from simt.analysis.uniformity import used_in
from simt.analysis.waiting import settle
from simt.isa.algebra import Environment
from simt.ptx.parser import parse

BODIES = {
    "before the first": ("mov.u32 %x, 1; bar.sync 0; mov.u32 %y, 2; bar.sync 0;", [{"x"}, {"y"}]),
    "on one way": (
        "bar.sync 0; @%p bra A; mov.u32 %x, 1; bra B; A: mov.u32 %y, 2; B: bar.sync 0;",
        [set[str](), {"x", "y"}],
    ),
    "behind another barrier": (
        "mov.u32 %x, 1; @%p bra B; bar.sync 0; mov.u32 %y, 2; B: bar.sync 0;",
        [{"x"}, {"x", "y"}],
    ),
    "in a loop": (
        "mov.u32 %x, 1; mov.u32 %i, 0; L: bar.sync 0; add.u32 %i, %i, %x; @%p bra L; bar.sync 0;",
        [{"x", "i"}, {"i"}],
    ),
    "by a phi": (
        "mov.u32 %x, 1; bar.sync 0; @!%p bra A; mov.u32 %x, 2; A: mov.u32 %y, %x; bar.sync 0;"
        "st.global.u32 [%a], %x;",
        [{"x"}, {"x", "y"}],
    ),
}
"""Code, and for each barrier the registers that can have changed since the one before."""


TOUCHED = {
    "between barriers": ("mov.u32 %x, 1; bar.sync 0; add.u32 %y, %x, 1;", {"x"}),
    "in a loop with a barrier": (
        "mov.u32 %x, 1; mov.u32 %i, 0; L: bar.sync 0; add.u32 %i, %i, %x; @%p bra L;",
        {"x", "i"},
    ),
    "in a loop of its own": (
        "mov.u32 %x, 1; mov.u32 %y, 2; bar.sync 0; L: add.u32 %y, %y, %x; setp.lt.u32 %p, %y, %n; @%p bra L;"
        "bar.sync 0; st.global.u32 [%a], %i;",
        {"i"},
    ),
    "after a loop of its own": (
        "mov.u32 %x, 1; mov.u32 %y, 2; L: add.u32 %y, %y, 1; setp.lt.u32 %p, %y, %n; @%p bra L; bar.sync 0;"
        "add.u32 %i, %x, %x; bar.sync 0; st.global.u32 [%a], %i;",
        {"x", "i"},
    ),
    "in an inner loop": (
        "mov.u32 %x, 1; mov.u32 %i, 0; mov.u32 %y, 0; L: bar.sync 0; add.u32 %i, %i, 1;"
        "M: add.u32 %y, %y, %x; setp.lt.u32 %p, %y, %n; @%p bra M; @%p bra L;",
        {"i", "y"},  # the %y of L, which M's own begins with; %x is read in M
    ),
}
"""Code, and of %x, %y and %i those that only code between two barriers gets at, if they live at a barrier."""


@pytest.mark.parametrize("name", BODIES)
def test_changes_since_the_last_barrier(name: str) -> None:
    body, expected = BODIES[name]
    ssa, pending = analysed(body)
    changed = changed_before(ssa, pending)
    first, *others = pending.barriers
    assert {d.register.name for d in changed[first.index]} == {"%a", "%n", "%p"}
    found = [{d.register.name.strip("%") for d in changed[b.index]} for b in others]
    assert found == expected


@pytest.mark.parametrize("name", TOUCHED)
def test_what_no_loop_without_barriers_touches(name: str) -> None:
    body, expected = TOUCHED[name]
    ssa, pending = analysed(body)
    uses = used_in(ssa)
    crossing = [d for d in ssa.definitions if uses.get(d, set()) - {d.block.index} or d.is_phi]
    found = {d.register.name.strip("%") for d in seldom_touched(crossing, ssa, pending, uses)}
    assert found & {"x", "y", "i"} == expected


def analysed(body: str) -> tuple[Ssa, Pending]:
    """A kernel that begins with a barrier."""
    text = f""".version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 a, .param .u32 n)
{{
    .reg .pred %p; .reg .b32 %n, %x, %y, %i; .reg .b64 %a;
    ld.param.u64 %a, [a]; ld.param.u32 %n, [n]; setp.gt.u32 %p, %n, 7;
    bar.sync 0;
    {body}
    ret;
}}
"""
    tree, problems = parse(text, "k.ptx")
    assert tree is not None
    assert not problems.errors
    function = lower(tree).functions["k"]
    ssa = build(function, schedule(function))
    _, pending = settle(ssa, Environment(), BlockShape(64, 1, 1), {})
    return ssa, pending
