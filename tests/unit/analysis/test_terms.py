"""What values are made of, as sums."""

from __future__ import annotations

import pytest

from simt.analysis.lower import lower
from simt.analysis.program import Op
from simt.analysis.schedule import schedule
from simt.analysis.ssa import build
from simt.analysis.terms import MOST_PARTS, Sum, TermAlgebra, Terms, acts
from simt.isa.algebra import Environment
from simt.ptx.parser import parse

TEXT = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 a)
{{
    .reg .b64 %a, %b, %c, %x;
    ld.param.u64 %a, [a]; ld.global.u64 %x, [%a]; ld.global.u64 %b, [%a+8]; ld.global.u64 %c, [%a+16];
    {body}
    st.global.u64 [%a], %x;
    ret;
}}
"""


def last(body: str) -> Sum:
    """What the kernel stores."""
    tree, problems = parse(TEXT.format(body=body), "k.ptx")
    assert tree is not None
    assert not problems.errors
    function = lower(tree).functions["k"]
    ssa = build(function, schedule(function))
    stored = {r.name: d for r, d in ssa.read[id(function.blocks[-1].ops[-1])].items()}["%x"]
    terms = Terms(ssa, Environment(), TermAlgebra())
    for op in function.blocks[-1].ops[:-1]:
        if isinstance(op, Op) and not acts(op):
            terms.run(op)
    return terms.of(stored)


@pytest.mark.parametrize(
    ("body", "number", "parts"),
    [
        ("add.u64 %x, %x, %b; add.u64 %x, %x, 5; sub.u64 %x, %x, %b;", 5, 1),
        ("add.u64 %x, %x, %b; mul.lo.u64 %x, %x, 3; add.u64 %x, %x, %c;", 0, 3),
        ("add.u64 %x, %x, %b; add.u64 %c, %c, 2; mul.lo.u64 %x, %x, %c;", 0, 4),
    ],
)
def test_sums(body: str, number: int, parts: int) -> None:
    found = last(body)
    assert (found.number, len(found.parts)) == (number, parts)


@pytest.mark.parametrize("steps", [3, 5, 50])
def test_products_of_long_numbers_are_none(steps: int) -> None:
    """Squares of sums: their parts would be as many as the square of those of what is squared."""
    found = last("add.u64 %x, %x, %b; mul.lo.u64 %x, %x, %x; add.u64 %x, %x, %c; " * steps)
    assert len(found.parts) <= MOST_PARTS
