"""Minimum and maximum: every pair of special numbers, from memory and from arithmetic, in columns and as one
number for all lanes. `tests.property.oracle` says what is expected; which NaN it is, `tests/hw`."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from simt.analysis.shape import BlockShape
from simt.engine.host import named_cpus
from simt.engine.llvm_kernel import emit
from simt.ptx.types import F32, F64, Type
from tests.conftest import shared_device
from tests.property import oracle

KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .{t} one) {{
    .reg .u32 %i, %n, %c; .reg .u64 %in, %out, %o; .reg .{t} %a, %b, %d, %e; .reg .pred %p;
    ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.param.{t} %b, [one];
    mov.u32 %i, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %n, %ntid.x; mad.lo.u32 %i, %c, %n, %i;
    mul.wide.u32 %o, %i, {size}; add.u64 %in, %in, %o; add.u64 %out, %out, %o;
    ld.global.{t} %a, [%in];
    {body}
    st.global.{t} [%out], %d; st.global.{t} [%out+{half}], %e;
    ret;
}}
"""
BODIES = {
    "loaded": "min.{t} %d, %a, %b; max.{t} %e, %b, %a;",
    "computed": "add.{t} %a, %a, {zero}; min.{t} %d, %a, %b; max.{t} %e, %b, %a;",
    "both computed": "add.{t} %a, %a, {zero}; sub.{t} %b, %b, {plus};"
    "min.{t} %d, %a, %b; max.{t} %e, %b, %a;",
    "again": "min.{t} %d, %a, %b; max.{t} %d, %b, %d; min.{t} %d, %d, %a; max.{t} %e, %a, %b;"
    "min.{t} %e, %b, %e; max.{t} %e, %a, %e;",
    "limited": "min.{t} %d, %a, {zero}; max.{t} %e, {plus}, %a;",
    "negated": "neg.{t} %a, %a; neg.{t} %b, %b; max.{t} %d, %a, %b; min.{t} %e, %a, %b;"
    "neg.{t} %d, %d; neg.{t} %e, %e;",
    "for all lanes": "ld.param.{t} %a, [one]; min.{t} %d, %b, %a; max.{t} %e, %a, %b;",
    "in a loop for some lanes": "and.b32 %c, %i, 3; mov.{t} %d, %a; mov.{t} %e, %b; "
    "more: setp.eq.u32 %p, %c, 0; @%p bra done;"
    "min.{t} %d, %d, %b; max.{t} %e, %e, %a; sub.u32 %c, %c, 1; bra more; done:"
    "min.{t} %d, %b, %d; max.{t} %e, %a, %e;",
}  # fmt: skip
SUMS = {
    "in a loop for sums": "and.b32 %c, %i, 3; mov.{t} %d, %a; mov.{t} %e, %b; "
    "more: min.{t} %d, %d, %b; max.{t} %e, %a, %e; setp.eq.u32 %p, %c, 0; sub.u32 %c, %c, 1; @!%p bra more;"
    "add.{t} %d, %d, {zero}; add.{t} %e, %e, {zero};",
    "loaded in a loop for sums": "and.b32 %c, %i, 3; mov.{t} %d, %b; mov.{t} %e, %b; setp.eq.u32 %p, %c, 0;"
    "@%p bra done; mul.hi.u32 %n, %i, %i; mul.wide.u32 %o, %n, 4;"
    "more: add.u64 %in, %in, %o; ld.global.{t} %d, [%in]; mov.{t} %e, %d; sub.u32 %c, %c, 1;"
    "setp.ne.u32 %p, %c, 0; @%p bra more; done: min.{t} %d, %d, %b; max.{t} %e, %e, %b;"
    "min.{t} %d, %a, %d; max.{t} %e, %e, %a; add.{t} %d, %d, {zero}; add.{t} %e, %e, {zero};",
}  # fmt: skip
"""Where it is seen of a minimum only that it is a NaN, not which."""
SIGNS = {F32: 1 << 31, F64: 1 << 63}
NUMBERS = {
    F32: (
        0, 1, 0x7FFFFF, 0x800000, 0x3F800000, 0x7F7FFFFF,
        0x7F800000, 0x7F800001, 0x7FBFFFFF, 0x7FC00000, 0x7FFFFFFF,
    ),
    F64: (
        0, 1, 1 << 52, 1023 << 52,
        2047 << 52, (2047 << 52) + 1, (4095 << 51) - 1, 4095 << 51, (1 << 63) - 1,
    ),
}  # fmt: skip
Column = np.ndarray[Any, Any]


def text(body: str, t: Type) -> str:
    zero, plus = ("0f80000000", "0f00000000") if t == F32 else ("0d8000000000000000", "0d0000000000000000")
    size = t.bits // 8
    return KERNEL.format(
        body=(BODIES | SUMS)[body].format(t=t.name, zero=zero, plus=plus), t=t.name, size=2 * size, half=size
    )


def is_nan(t: Type, a: int) -> bool:
    return (a | SIGNS[t]) > NUMBERS[t][6 if t == F32 else 4] | SIGNS[t]


def wanted(body: str, t: Type, a: int, b: int) -> tuple[int | None, int | None]:
    """None: NaN."""
    if body == "for all lanes":
        a = b
    if body == "limited":
        return oracle.fmin(t, a, SIGNS[t]), oracle.fmax(t, 0, a)
    least, most = oracle.fmin(t, a, b), oracle.fmax(t, a, b)
    if body == "again":
        # max(b, min(a, b)) is b unless it is NaN, which then a is not
        numbers = [x for x in (a, b) if not is_nan(t, x)]
        return (least, most) if len(numbers) == 2 else (numbers[0], numbers[0]) if numbers else (None, None)
    return least, most


@pytest.mark.parametrize("t", [F32, F64], ids=lambda t: t.name)
@pytest.mark.parametrize("body", BODIES)
def test_special_numbers(engine: str, body: str, t: Type) -> None:
    check(engine, body, t)


@pytest.mark.parametrize("body", SUMS)
def test_nobody_sees_which_nan_it_is(body: str) -> None:
    check("jit", body, F32)


def check(engine: str, body: str, t: Type) -> None:
    kind, device = f"u{t.bits // 8}", shared_device(engine)
    numbers = [n | sign for n in NUMBERS[t] for sign in (0, SIGNS[t])]
    given = np.repeat(np.array(numbers * 5, kind), 2)
    kernel = device.load(text(body, t))["k"]
    for one in numbers:
        out = device.zeros(len(given), kind)
        scalar = np.array(one, kind).view(f"f{t.bits // 8}")[()]
        kernel(len(numbers), 5, (device.array(given), out, scalar))
        for a, least, most in zip(given[::2], *out.numpy().reshape(-1, 2).T, strict=True):
            for found, expected in zip((least, most), wanted(body, t, int(a), one), strict=True):
                ok = is_nan(t, int(found)) if expected is None else found == expected
                assert ok, f"{body} of {int(a):x} and {one:x}: {int(found):x}"


def code(body: str, t: Type, cpu: str) -> str:
    program = shared_device("jit").load(text(body, t)).program
    return emit(
        program, program.functions["k"], BlockShape(96, 1, 1), named_cpus()[cpu].features, "nounwind"
    )[0]


def counts(body: str, cpu: str = "x86-64-v4") -> tuple[int, ...]:
    """Instructions of the CPU, two for a column, and operations of LLVM (in two copies of the code)."""
    patterns = (r"range\.ps\.512\(", r"imumnum\.v32f32\(")
    return tuple(len(re.findall(f"= call .*{p}", code(body, F32, cpu))) // 2 for p in patterns)


def test_one_instruction_with_avx512dq() -> None:
    assert counts("loaded") == (4 + 4, 0)  # and one that makes either operand quiet
    assert counts("loaded", "x86-64-v3") == (0, 2)


def test_what_is_quiet_stays_so() -> None:
    assert counts("again") == (6 + 4, 0)  # in one copy; %a is made quiet four times, but never %d or %e


def test_what_a_loop_goes_on_from_is_made_quiet_before() -> None:
    assert counts("in a loop for sums") == (3 + 1, 0)  # in one copy; for %a once before, for %b as numbers


def test_with_a_number_it_is_llvm_s_operation() -> None:
    assert counts("limited") == (0, 2)
