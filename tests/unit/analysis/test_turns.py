"""By how much an address changes from turn to turn of a loop."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from simt.analysis.lower import lower
from simt.analysis.program import Address, Op, Register
from simt.analysis.schedule import schedule
from simt.analysis.ssa import Definition, build
from simt.analysis.turns import Turns
from simt.isa.algebra import Environment
from simt.ptx.parser import parse

LOAD = "ld.global.u32 %v, [%a];"
ON = "add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra L;"
BODIES: dict[str, tuple[str, int | None]] = {
    "a pointer": (f"L: {LOAD} add.u64 %a, %a, 48; {ON}", 48),
    "backwards": (f"L: {LOAD} sub.u64 %a, %a, 48; {ON}", -48),
    "increased before": (f"L: add.u64 %a, %a, 48; {LOAD} {ON}", 48),
    "increased twice": (f"L: add.u64 %a, %a, 48; {LOAD} add.u64 %a, %a, 16; {ON}", 64),
    "not at all": (f"L: {LOAD} {ON}", 0),
    "an index": (f"L: mad.wide.u32 %a, %i, 12, %b; {LOAD} {ON}", 12),
    "an index and thread": (
        f"L: add.s32 %j, %t, %i; mul.wide.s32 %o, %j, 4; add.u64 %a, %b, %o; {LOAD} {ON}",
        4,
    ),
    "an index downwards": (f"L: mad.wide.s32 %a, %i, 8, %b; {LOAD} add.s32 %i, %i, -3; {ON}", -16),
    "a shifted index": (f"L: shl.b32 %j, %i, 5; cvt.u64.u32 %o, %j; add.u64 %a, %b, %o; {LOAD} {ON}", 32),
    "a step that is not known": (f"L: {LOAD} add.u64 %a, %a, %o; {ON}", None),
    "times what is not known": (f"L: mul.lo.u32 %j, %i, %n; mad.wide.u32 %a, %j, 4, %b; {LOAD} {ON}", None),
    "doubled": (f"L: {LOAD} shl.b64 %a, %a, 1; {ON}", None),
    "loaded": (f"L: {LOAD} mad.wide.u32 %a, %v, 4, %b; {ON}", None),
    "by one of two steps": (
        f"L: {LOAD} setp.eq.u32 %p, %v, 0; @%p bra M; add.u64 %a, %a, 4; M: add.u64 %a, %a, 4; {ON}",
        None,
    ),
    "by one step on each of two ways": (
        f"L: {LOAD} add.u32 %i, %i, 1; setp.eq.u32 %p, %v, 0; add.u64 %a, %a, 4; @%p bra L; {ON}",
        4,
    ),
    "under a guard": (f"L: {LOAD} setp.eq.u32 %p, %v, 0; @%p add.u64 %a, %a, 4; {ON}", None),
    "that of the inner loop": (
        f"L: mov.u32 %j, 0; M: {LOAD} add.u64 %a, %a, 8; add.u32 %j, %j, 1; setp.lt.u32 %p, %j, 5; "
        f"@%p bra M; add.u64 %a, %a, 100; {ON}",
        8,
    ),
    "two pointers that change places": (
        f"L: {LOAD} mov.u64 %o, %a; mov.u64 %a, %b; mov.u64 %b, %o; {ON}",
        None,
    ),
}
"""Code with one load, and the step of its address."""


BY_A_SIZE: dict[str, tuple[str, int | None]] = {
    "a pointer by a size": (f"L: {LOAD} add.u64 %a, %a, %o; {ON}", 24),
    "an index by a size": (
        f"L: mad.wide.s32 %a, %i, 8, %b; {LOAD} add.s32 %i, %i, %n; setp.lt.u32 %p, %i, %v; @%p bra L;",
        192,
    ),
    "by what the loop changes": (f"L: {LOAD} add.u64 %a, %a, %o; add.u64 %o, %o, 1; {ON}", None),
}
"""The same, where `%n` and `%o` are known to be 24 when the loop begins."""


@pytest.mark.parametrize("name", BODIES)
def test_steps(name: str) -> None:
    body, expected = BODIES[name]
    assert step_of(body, lambda definition: None) == expected


@pytest.mark.parametrize("name", BY_A_SIZE)
def test_steps_by_a_size(name: str) -> None:
    """Of what the loop does not change some is always the same number."""
    body, expected = BY_A_SIZE[name]
    assert (
        step_of(body, lambda definition: 24 if definition.register.name in ("%n", "%o") else None) == expected
    )
    assert step_of(body, lambda definition: None) is None


def step_of(body: str, number_of: Callable[[Definition], int | None]) -> int | None:
    text = f"""
.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n)
{{
    .reg .pred %p; .reg .b32 %t, %v, %i, %j, %n; .reg .b64 %a, %b, %o;
    ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; ld.param.u32 %n, [n];
    mov.u32 %t, %tid.x; mov.u32 %i, 0; cvt.u64.u32 %o, %n;
    {body}
    ret;
}}
"""
    tree, problems = parse(text, "k.ptx")
    assert tree is not None
    assert not problems.errors
    function = lower(tree).functions["k"]
    ssa = build(function, schedule(function))
    ((op, address, loop),) = (
        (op, source.base, ssa.schedule.loop_of[block.index])
        for block in ssa.schedule.order
        for op in block.ops
        if isinstance(op, Op) and op.form.effects
        for source in op.sources.values()
        if isinstance(source, Address) and isinstance(source.base, Register)
    )
    assert loop is not None
    return Turns(ssa, Environment(), number_of).step(ssa.read[id(op)][address], loop)
