"""Ops that see bits of doubles: where they come, and how many tests of NaNs are left."""

from __future__ import annotations

import re

import pytest

from simt.analysis.lower import lower
from simt.analysis.program import Op, Program
from simt.analysis.seen_late import with_bits_seen_late
from simt.analysis.shape import BlockShape
from simt.engine.llvm_kernel import emit
from simt.ptx.parser import parse

KERNEL = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p)
{{
    .reg .pred %p; .reg .b32 %i, %n, %c; .reg .b64 %m, %o; .reg .f64 %d, %e, %f, %g;
    ld.param.u64 %m, [p]; mov.u32 %i, %tid.x; mad.wide.u32 %m, %i, 64, %m;
    ld.global.f64 %d, [%m]; ld.global.f64 %e, [%m+8]; ld.global.f64 %f, [%m+16]; setp.lt.u32 %p, %i, 7;
    {body}
    ret;
}}
"""


def program(body: str) -> Program:
    tree, problems = parse(KERNEL.format(body=body), "k.ptx")
    assert tree is not None
    assert not problems.errors
    return lower(tree)


def order(body: str) -> str:
    """The ops of the body, as the letters of their names' beginnings."""
    found = program(body)
    ops = [op for b in with_bits_seen_late(found, found.functions["k"]).blocks for op in b.ops]
    names = [op.form.mnemonic[0] for op in ops if isinstance(op, Op)]
    return "".join(names[7:])


ADD, SUB, STORE, OTHER = (
    "add.f64 %g, %d, %e;",
    "sub.f64 %d, %e, %f;",
    "st.global.f64 [%m], %g;",
    "st.global.f64 [%m+8], %d;",
)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (ADD + STORE + SUB + OTHER, "asss"),
        (ADD + STORE + SUB, "ass"),  # one alone stays
        (ADD + STORE + "neg.f64 %g, %e;" + OTHER, "asns"),  # another value of the register
        (ADD + STORE + "ld.global.f64 %f, [%m];" + SUB + OTHER, "aslss"),
        (ADD + "@%p " + STORE + SUB + OTHER + "st.global.f64 [%m+16], %e;", "assss"),
        (ADD + STORE + "st.global.u32 [%m], 3;" + SUB + OTHER, "assss"),
        (ADD + "mov.b64 {%n, %c}, %g;" + SUB + "mov.b64 {%c, %i}, %d;", "asmm"),  # both write %c
        (ADD + "mov.b64 {%n, %c}, %g;" + SUB + OTHER, "asms"),
        (ADD + "mov.b64 {%n, %c}, %g; add.u32 %n, %n, 1;" + SUB + OTHER, "amass"),
        (ADD + STORE + "bar.sync 0;" + SUB + OTHER, "asss"),
    ],
)
def test_order(body: str, expected: str) -> None:
    assert order(body) == expected


MANY = "fma.rn.f64 %d, %d, %e, %f; ld.global.f64 %e, [%m];"


@pytest.mark.parametrize(
    ("body", "tests"),
    [
        (ADD + STORE + SUB + OTHER, 1),
        (ADD + STORE + "ld.global.f64 %f, [%m+24];" + SUB + OTHER, 2),
        (ADD + "mov.b64 {%n, %c}, %g;" + SUB + "mov.b64 %o, {%n, %c}; st.global.b64 [%m], %o;" + OTHER, 1),
        (MANY * 60 + OTHER, 1),
        (ADD + "selp.f64 %g, %g, %f, %p; mul.f64 %g, %g, %g;" + STORE, 1),
    ],
)
def test_tests_of_nans(body: str, tests: int) -> None:
    found = program(body)
    code, _, _ = emit(found, found.functions["k"], BlockShape(32, 1, 1), frozenset({"avx512f"}), "")
    assert len(re.findall(r"^define internal .* @simt\.rarely\.", code, re.MULTILINE)) == tests
