"""Which loops with barriers are written out, and as how many turns."""

from __future__ import annotations

import pytest

from simt.analysis.lower import lower
from simt.analysis.nesting import nesting
from simt.analysis.program import Barrier, Function
from simt.analysis.shape import BlockShape
from simt.analysis.unrolling import MOST_BARRIERS, MOST_TURNS, unrolled
from simt.ptx.parser import parse

KERNEL = """.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u32 n)
{{
    .reg .u32 %t, %n, %i, %j, %s, %v; .reg .s32 %d; .reg .pred %p, %q;
    .shared .align 4 .b8 box[4096];
    mov.u32 %t, %tid.x; mov.u32 %s, %ntid.x; ld.param.u32 %n, [n]; mov.u32 %i, 0;
    {body}
END: ret;
}}
"""
UP = "{before} L: bar.sync 0; {step} setp.lt.u32 %p, %i, %s; @%p bra L;"
HALVES = "shr.u32 %i, %s, 1; L: bar.sync 0; setp.lt.u32 %q, %t, %i; @!%q bra M; st.shared.u32 [box], %t; M:"
COUNTED = {
    "doubled": (UP.format(before="mov.u32 %i, 1;", step="shl.b32 %i, %i, 1;"), 8),
    "increased": (UP.format(before="", step="add.u32 %i, %i, 100;"), 3),
    "multiplied": (UP.format(before="mov.u32 %i, 2;", step="mul.lo.u32 %i, %i, 5;"), 4),
    "halved, with a part for some threads": (
        HALVES + "shr.u32 %i, %i, 1; setp.ne.u32 %p, %i, 0; @%p bra L;",
        8,
    ),
    "signed": ("mov.s32 %d, -70; L: bar.sync 0; shr.s32 %d, %d, 3; setp.ne.s32 %p, %d, -1; @%p bra L;", 3),
    "left in the middle": (
        "L: setp.gt.u32 %p, %i, 4; @%p bra END; bar.sync 0; add.u32 %i, %i, 1; bra L;",
        5,
    ),
    "some turns only": (
        "L: setp.lt.u32 %q, %i, 3; @!%q bra M; bar.sync 0; M: add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 9;"
        "@%p bra L;",
        3,
    ),
    "step by a guard that is known": (
        "L: bar.sync 0; setp.lt.u32 %q, %i, 4; @%q mov.u32 %j, 1; @!%q mov.u32 %j, 9; add.u32 %i, %i, %j;"
        "setp.lt.u32 %p, %i, 20; @%p bra L;",
        6,
    ),
    "after another one": (
        UP.format(before="mov.u32 %i, 1;", step="shl.b32 %i, %i, 1;")
        + "N: bar.sync 0; shr.u32 %i, %i, 2; setp.ne.u32 %p, %i, 0; @%p bra N;",
        8 + 5,
    ),
}  # fmt: skip
KEPT = {
    "entered in the middle": (
        "mov.u32 %i, 16; setp.lt.u32 %q, %n, 5; @%q bra M; L: bar.sync 0; M: shr.u32 %i, %i, 1;"
        "setp.ne.u32 %p, %i, 0; @%p bra L;"
    ),
    "to a parameter": "L: bar.sync 0; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra L;",
    "by a parameter": "L: bar.sync 0; add.u32 %i, %i, %n; setp.lt.u32 %p, %i, %s; @%p bra L;",
    "to what threads differ in": "L: bar.sync 0; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %t; @%p bra L;",
    "to what was stored": (
        "L: bar.sync 0; ld.shared.u32 %v, [box]; setp.ne.u32 %p, %v, 0; @%p bra L;"
    ),
    "too many turns": f"L: bar.sync 0; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, {MOST_TURNS + 1}; @%p bra L;",
    "too many barriers": (
        f"L: {'bar.sync 0;' * (MOST_BARRIERS // 8)} add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 9; @%p bra L;"
    ),
    "too long": (
        f"L: bar.sync 0; {'add.u32 %v, %v, %t;' * 60} add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 8; @%p bra L;"
    ),
    "left by some threads": (
        "L: bar.sync 0; setp.eq.u32 %q, %t, %i; @%q bra END; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 3;"
        "@%p bra L;"
    ),
    "ended by some threads": (
        "L: bar.sync 0; setp.eq.u32 %q, %t, %i; @%q ret; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 3; @%p bra L;"
    ),
    "step by a guard": (
        "L: bar.sync 0; setp.lt.u32 %q, %t, 4; @%q add.u32 %i, %i, 1; add.u32 %i, %i, 1;"
        "setp.lt.u32 %p, %i, 3; @%p bra L;"
    ),
    "step by a vote of the CTA": (
        "L: bar.red.popc.u32 %v, 0, %p; add.u32 %i, %i, %v; setp.lt.u32 %p, %i, 3; @%p bra L;"
    ),
    "no barrier": "L: add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 3; @%p bra L; bar.sync 0;",
    "never left": "L: bar.sync 0; add.u32 %i, %i, 1; bra L;",
    "never left by numbers": "L: bar.sync 0; setp.lt.u32 %p, %i, 3; @%p bra L;",
    "clocks": "mov.u32 %v, %clock; L: bar.sync 0; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 3; @%p bra L;",
}  # fmt: skip


def both(body: str, threads: int = 256) -> tuple[Function, Function]:
    """A kernel, and what is made of it."""
    program = lower(parse(KERNEL.format(body=body).encode(), "<ptx>")[0])
    kernel = program.functions["k"]
    return kernel, unrolled(program, kernel, BlockShape(threads, 1, 1))


def barriers(function: Function) -> int:
    return sum(isinstance(b.terminator, Barrier) for b in function.blocks)


@pytest.mark.parametrize("name", COUNTED)
def test_turns_are_written_out(name: str) -> None:
    body, turns = COUNTED[name]
    kernel, found = both(body)
    before = barriers(kernel), [len(b.ops) for b in kernel.blocks]
    assert barriers(found) == turns
    assert not nesting(found.blocks[0]).headers
    assert [b.index for b in found.blocks] == list(range(len(found.blocks)))
    ops = [id(op) for op in found.ops()]
    assert len(set(ops)) == len(ops)  # analyses tell them apart as objects
    # The interpreter runs the kernel as it was.
    assert (barriers(kernel), [len(b.ops) for b in kernel.blocks]) == before
    assert nesting(kernel.blocks[0]).headers


@pytest.mark.parametrize("name", KEPT)
def test_what_is_not_known_stays(name: str) -> None:
    kernel, found = both(KEPT[name])
    assert found is kernel


def test_the_turns_are_those_of_the_shape() -> None:
    body = COUNTED["doubled"][0]
    assert [barriers(both(body, threads)[1]) for threads in (1, 2, 3, 32, 100, 1024)] == [1, 1, 2, 5, 7, 10]


def test_an_inner_loop_in_one_that_goes_on() -> None:
    """Whose turns are the same in each turn of the outer one."""
    body = (
        "N: mov.u32 %j, 1; L: bar.sync 0; shl.b32 %j, %j, 1; setp.lt.u32 %p, %j, %s; @%p bra L;"
        "add.u32 %i, %i, 1; setp.lt.u32 %q, %i, %n; @%q bra N;"
    )
    found = both(body)[1]
    assert barriers(found) == 8
    assert len(nesting(found.blocks[0]).headers) == 1


def test_a_loop_at_the_very_beginning() -> None:
    """The first block of a function is where it begins, wherever it is copied from."""
    source = """.version 7.0
.target sm_70
.address_size 64
.visible .entry k() {
    .reg .u32 %i; .reg .pred %p;
L:  bar.sync 0; mov.u32 %i, 7; setp.lt.u32 %p, %i, 3; @%p bra L;
    bar.sync 1; ret;
}
"""
    program = lower(parse(source.encode(), "<ptx>")[0])
    found = unrolled(program, program.functions["k"], BlockShape(64, 1, 1))
    assert barriers(found) == 2
    first = found.blocks[0].terminator
    assert isinstance(first, Barrier)
    assert getattr(first.barrier, "bits", None) == 0
