"""Which branches the size of a CTA decides."""

from __future__ import annotations

import pytest

from simt.analysis.decided import decided
from simt.analysis.lower import lower
from simt.analysis.lower_forms import STEPPED
from simt.analysis.program import Branch, Function, Op
from simt.analysis.shape import BlockShape
from simt.ptx.parser import parse

KERNEL = """.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u32 n)
{{
    .reg .u32 %x, %y, %n, %i, %m<6>; .reg .pred %p, %q, %r; .shared .align 4 .b8 box[4096];
    mov.u32 %x, %tid.x; mov.u32 %y, %tid.y; ld.param.u32 %n, [n]; mov.u32 %i, 0;
    {body}
    @%p bra END;
    st.shared.u32 [box], %n;
END: ret;
}}
"""
DECIDED = {
    "beyond all threads": ("setp.gt.s32 %p, %y, 31;", False),
    "less than what there are": ("setp.lt.u32 %p, %x, 16;", True),
    "no such thread": ("setp.eq.u32 %p, %x, 16;", False),
    "not such a thread": ("setp.ne.u32 %p, %x, 16;", True),
    "how many turns are left over": (
        "max.s32 %m0, %x, 16; add.s32 %m1, %m0, 15; sub.s32 %m2, %m1, %x; shr.u32 %m3, %m2, 4;"
        "add.s32 %m4, %m3, 1; and.b32 %m5, %m4, 3; setp.eq.s32 %p, %m5, 2;",
        True,
    ),
    "one of two": ("setp.lt.u32 %r, %y, 2; setp.lt.u32 %q, %x, 40; or.pred %p, %r, %q;", True),
    "neither of two": ("setp.ge.u32 %r, %x, 16; setp.lt.u32 %q, %y, 4; and.pred %p, %r, %q;", False),
    "the reverse": ("setp.ge.u32 %q, %x, 16; not.pred %p, %q;", True),
    "what is written again later": (
        "add.u32 %m0, %x, 1; setp.lt.u32 %r, %m0, 17; add.u32 %m0, %m0, 5; and.pred %p, %r, %r;",
        True,
    ),
    "a maximum that is always the same one": (
        "add.u32 %m0, %x, 16; max.u32 %m1, %m0, 9; sub.u32 %m2, %m1, %m0; setp.ne.u32 %p, %m2, 0;",
        False,
    ),
    "a choice of numbers": (
        "setp.ge.u32 %q, %x, 16; selp.u32 %m0, 1, 2, %q; setp.eq.u32 %p, %m0, 2;",
        True,
    ),
}  # fmt: skip
KEPT = {
    "some threads": "setp.lt.u32 %p, %x, 15;",
    "one thread": "setp.eq.u32 %p, %x, 3;",
    "a parameter": "setp.lt.u32 %p, %x, %n;",
    "what was stored": "ld.shared.u32 %m0, [box]; and.b32 %m1, %m0, 1; setp.lt.u32 %p, %m1, 16;",
    "without the thread": "setp.lt.u32 %p, %i, 16;",
    "by a guard": (
        "setp.lt.u32 %q, %y, 4; mov.u32 %m0, 99; @%q add.u32 %m0, %x, 0; setp.lt.u32 %p, %m0, 16;"
    ),
    "made in two ways": (
        "mov.u32 %m0, %x; setp.lt.u32 %q, %x, 9; @%q bra M; mov.u32 %m0, %n; M: setp.lt.u32 %p, %m0, 16;"
    ),
    "clocks": "mov.u32 %m0, %clock; setp.lt.u32 %p, %x, 16;",
}


def both(body: str, block: BlockShape) -> tuple[Function, Function]:
    """A kernel, and what is made of it."""
    program = lower(parse(KERNEL.format(body=body).encode(), "<ptx>")[0])
    kernel = program.functions["k"]
    return kernel, decided(program, kernel, block)[0]


def branches(function: Function) -> int:
    return sum(isinstance(b.terminator, Branch) for b in function.blocks)


def stores(function: Function) -> int:
    return sum(op.form.moves_memory and not op.destinations for op in function.ops() if isinstance(op, Op))


@pytest.mark.parametrize("name", DECIDED)
def test_such_branches_are_none(name: str) -> None:
    body, holds = DECIDED[name]
    kernel, found = both(body, BlockShape(16, 16, 1))
    before = branches(kernel)
    assert branches(found) == before - 1
    assert len(found.blocks) < len(kernel.blocks)
    assert stores(found) == int(not holds)
    assert [b.index for b in found.blocks] == list(range(len(found.blocks)))
    assert branches(kernel) == before  # the interpreter runs it as it was


@pytest.mark.parametrize("name", KEPT)
def test_what_is_not_known_stays(name: str) -> None:
    kernel, found = both(KEPT[name], BlockShape(16, 16, 1))
    assert found is kernel


@pytest.mark.parametrize(("threads", "is_decided"), [(16, True), (17, False), (8, True), (32, False)])
def test_it_is_the_size_that_decides(threads: int, is_decided: bool) -> None:
    kernel, found = both("setp.lt.u32 %p, %x, 16;", BlockShape(threads, 4, 1))
    assert (found is not kernel) == is_decided


@pytest.mark.parametrize(("threads", "is_decided"), [(32, True), (40, False), (64, True)])
def test_lanes_beyond_the_last_thread_count(threads: int, is_decided: bool) -> None:
    """They are computed with the others: of 40 threads, the last warp has 24 more."""
    kernel, found = both(f"setp.lt.u32 %p, %x, {threads};", BlockShape(threads, 1, 1))
    assert (found is not kernel) == is_decided


def test_a_loop_without_an_end() -> None:
    """All threads stay in it: it is left as a loop of jumps."""
    kernel, found = both(
        "L: setp.ge.u32 %q, %x, 16; @!%q bra L; setp.eq.u32 %p, %x, 3;", BlockShape(16, 4, 1)
    )
    assert branches(kernel) == 2
    assert branches(found) == 0  # nor does anybody come to the other one


@pytest.mark.parametrize(("left", "is_told"), [(447, True), (446, False), (415, True), (384, False)])
def test_quotients_that_all_threads_of_a_warp_have(left: int, is_told: bool) -> None:
    """By a comparison of the index with a multiple of 32."""
    body = f"sub.u32 %m0, {left}, %x; div.u32 %m1, %m0, 128; setp.eq.u32 %p, %m1, 2;"
    _, found = both(body, BlockShape(128, 1, 1))
    assert any(op.form is STEPPED for op in found.ops() if isinstance(op, Op)) == is_told
