"""Where parts of a warp run the same blocks at different times."""

from __future__ import annotations

import pytest

from simt.analysis.lower import lower
from simt.analysis.program import Barrier, Function
from simt.analysis.schedule import schedule
from simt.analysis.shape import BlockShape
from simt.analysis.ssa import build
from simt.analysis.waiting import settle, waiting_loops
from simt.isa.algebra import Environment
from simt.ptx.parser import parse


def function(body: str) -> Function:
    text = f""".version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 a, .param .u32 n)
{{
    .reg .pred %p;
    .reg .b32 %t, %n, %v, %i;
    .reg .b64 %a;
    ld.param.u64 %a, [a];
    ld.param.u32 %n, [n];
    mov.u32 %t, %tid.x;
    mov.u32 %i, 0;
    {body}
END:
    ret;
}}
"""
    tree, problems = parse(text, "k.ptx")
    assert tree is not None
    assert not problems.errors
    return lower(tree).functions["k"]


LOOPS = {
    "spin on a flag": ("L: ld.volatile.global.u32 %v, [%a]; setp.eq.u32 %p, %v, 0; @%p bra L;", 1),
    "spin on a lock": ("L: atom.global.cas.b32 %v, [%a], 0, 1; setp.ne.u32 %p, %v, 0; @%p bra L;", 1),
    "count": ("L: add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra L;", 0),
    "count atomics": (
        "L: atom.global.add.u32 %v, [%a], 1; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra L;",
        0,
    ),
    "plain load": ("L: ld.global.u32 %v, [%a]; setp.eq.u32 %p, %v, 0; @%p bra L;", 0),
}


@pytest.mark.parametrize("name", LOOPS)
def test_loops_that_wait(name: str) -> None:
    body, count = LOOPS[name]
    found = function(body)
    assert len(waiting_loops(build(found, schedule(found)), Environment())) == count


BARRIERS = {
    "alone": ("bar.sync 0; mov.u32 %v, %n;", False),
    "after lanes left for good": ("setp.lt.u32 %p, %t, %n; @%p bra END; bar.sync 0; mov.u32 %v, %n;", False),
    "after a diamond": (
        "setp.lt.u32 %p, %t, %n; @%p bra L; mov.u32 %i, 1; L: bar.sync 0; mov.u32 %v, %n;",
        False,
    ),
    "in a loop that lanes leave one by one, with another behind it": (
        "L: setp.ge.u32 %p, %i, %t; @%p bra M; bar.sync 0; add.u32 %i, %i, 1; bra L;"
        "M: bar.sync 0; mov.u32 %v, %n;",
        True,
    ),
}


@pytest.mark.parametrize("name", BARRIERS)
def test_values_behind_barriers(name: str) -> None:
    """What is defined behind barriers varies only if parts of a warp come there at different times."""
    body, parted = BARRIERS[name]
    found = function(body)
    assert any(isinstance(b.terminator, Barrier) for b in found.blocks)
    ssa = build(found, schedule(found))
    uniformity, _ = settle(ssa, Environment(), BlockShape(64, 1, 1))
    shapes = [
        uniformity.shapes[d] for d in ssa.definitions if d.register.name == "%v" and d in uniformity.shapes
    ]
    assert shapes
    assert all(s.is_uniform != parted for s in shapes)
