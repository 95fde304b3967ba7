"""Divisions that are shifts where the divisor is a power of two, by a branch. Expectations are Python's, by
the way that the program goes."""

from __future__ import annotations

import numpy as np
import pytest

from simt.analysis.lower_forms import QUOTIENT_OR_NONE
from simt.analysis.power_divisions import with_power_divisions
from simt.analysis.program import Op
from simt.analysis.short_divisions import with_short_divisions
from tests.conftest import shared_device

SOURCE = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out, .param .u{bits} divisor,
    .param .u{bits} first, .param .u{bits} step, .param .u32 n)
{{
    .reg .pred %p, %o; .reg .b32 %t, %i, %n, %x, %by, %s<5>; .reg .b64 %out, %at, %u, %v;
    .reg .b16 %half, %other;
    .reg .b{bits} %a, %d, %q, %r, %less, %zero, %first, %step;
    ld.param.u64 %out, [out]; ld.param.u{bits} %d, [divisor]; ld.param.u32 %n, [n];
    ld.param.u{bits} %first, [first]; ld.param.u{bits} %step, [step];
    mov.u32 %t, %tid.x; mov.u32 %i, %ctaid.x; mov.u32 %x, %ntid.x; mad.lo.u32 %i, %i, %x, %t;
    mov.u32 %t, %nctaid.x; mul.lo.u32 %x, %x, %t;
    sub.u{bits} %less, %d, {one}; and.b{bits} %zero, %less, %d; popc.b{bits} %by, %less;
    setp.ge.u32 %o, %i, %n;
    @%o bra END;
LOOP:
    {index}
    setp.{equal}.u{bits} %p, %zero, 0;
    @%p bra {taken};
{fall}:
    {not_taken}
    bra DONE;
{taken}:
    {if_taken}
DONE:
    mul.wide.u32 %at, %i, 16;
    add.u64 %at, %out, %at;
    {store}
    add.u32 %i, %i, %x;
    setp.lt.u32 %o, %i, %n;
    @%o bra LOOP;
END:
    ret;
}}
"""
INDEX = {
    32: "mad.lo.u32 %a, %i, %step, %first;",
    64: "cvt.u64.u32 %a, %i; mad.lo.u64 %a, %a, %step, %first;",
}
STORE = {
    32: "cvt.u64.u32 %u, %q; cvt.u64.u32 %v, %r; st.global.v2.u64 [%at], {%u, %v};",
    64: "st.global.v2.u64 [%at], {%q, %r};",
}
SHIFT = "and.b{bits} %r, %less, %a; {shift} %q, %a, %by;"
DIVIDE = "div.u{bits} %q, %a, %d; mul.lo.s{bits} %r, %q, %d; sub.s{bits} %r, %a, %r;"
IN_64 = """
    or.b64 %u, %a, %d; and.b64 %u, %u, -4294967296; setp.eq.s64 %p, %u, 0;
    @%p bra SHORT;
    div.u64 %q, %a, %d; mul.lo.s64 %v, %q, %d; sub.s64 %r, %a, %v;
    bra JOIN;
SHORT:
    cvt.u32.u64 %s0, %a; cvt.u32.u64 %s1, %d; div.u32 %s2, %s0, %s1; cvt.u64.u32 %q, %s2;
    mul.lo.s32 %s3, %s2, %s1; sub.s32 %s4, %s0, %s3; cvt.u64.u32 %r, %s4;
JOIN:
"""
"""As compilers divide by 64 bits."""
OF_16_BITS = """
    cvt.u16.u{bits} %half, %a; cvt.u16.u{bits} %other, %d;
    div.u16 %half, %half, %other; cvt.u{bits}.u16 %q, %half;
    mul.lo.s{bits} %r, %q, %d; sub.s{bits} %r, %a, %r;
"""


def source(
    bits: int, swapped: bool = False, one: str = "1", shift: str = "shr.u{bits}", divide: str = DIVIDE
) -> str:
    ways = [SHIFT.format(bits=bits, shift=shift.format(bits=bits)), divide.format(bits=bits)]
    if_taken, not_taken = reversed(ways) if swapped else ways
    return SOURCE.format(
        bits=bits, one=one, equal="ne" if swapped else "eq", if_taken=if_taken, not_taken=not_taken,
        taken="POWER" if not swapped else "OTHER", fall="OTHER" if not swapped else "POWER",
        index=INDEX[bits], store=STORE[bits],
    )  # fmt: skip


def expected(a: int, d: int, bits: int) -> list[int]:
    """Quotient and rest. 0 has no bit set: its shift is by all bits, its mask is all ones."""
    return [a // d, a % d] if d else [0, a % 2**bits]


DIVISORS = [0, 1, 2, 3, 5, 16, 31, 32, 33, 48, 64, 100, 128, 1000, 4096, 2**31, 2**31 + 1, 2**32 - 1]


@pytest.mark.parametrize("divisor", DIVISORS)
@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize(("bits", "divide"), [(32, DIVIDE), (64, DIVIDE), (64, IN_64)])
def test_rows_and_columns(engine: str, bits: int, divide: str, swapped: bool, divisor: int) -> None:
    device, n = shared_device(engine), 700
    kernel = device.load(source(bits, swapped, divide=divide))["k"]
    for first, step in ((0, 1), (2**bits - 3, 1), (77, 13), (2**bits - 2**30, 2**21 + 1)):
        out = device.zeros((n, 2), "u8")
        kernel((3,), (96,), (out, divisor, first, step, n))
        indices = [(first + i * step) % 2**bits for i in range(n)]
        assert out.numpy().tolist() == [expected(a, divisor, bits) for a in indices]


@pytest.mark.parametrize("divisor", [2**32, 2**32 + 1, 2**40, 2**63, 2**63 + 2**20, 2**64 - 1])
@pytest.mark.parametrize("divide", [DIVIDE, IN_64])
def test_long_divisors(engine: str, divide: str, divisor: int) -> None:
    device, n = shared_device(engine), 300
    out = device.zeros((n, 2), "u8")
    step = 2**56 + 12345
    device.load(source(64, divide=divide))["k"]((2,), (64,), (out, np.uint64(divisor), 5, step, n))
    assert out.numpy().tolist() == [expected((5 + i * step) % 2**64, divisor, 64) for i in range(n)]


def one_op(text: str) -> int:
    """How many such ops stand in place of branches."""
    module = shared_device("jit").load(text)
    kernel, ssa = with_short_divisions(module.program, module.program.functions["k"], None)
    kernel, _ = with_power_divisions(module.program, kernel, ssa)
    return sum(isinstance(op, Op) and op.form is QUOTIENT_OR_NONE for op in kernel.ops())


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize(("bits", "divide"), [(32, DIVIDE), (64, DIVIDE), (64, IN_64)])
def test_they_are_one_op(bits: int, divide: str, swapped: bool) -> None:
    assert one_op(source(bits, swapped, divide=divide)) == 1


def test_other_branches_stay(engine: str) -> None:
    """A wrong mask, a shift with a sign, a sum in place of the quotient."""
    wrong = [
        source(32, one="2"),
        source(32, shift="shr.s{bits}"),
        source(32, divide="div.s{bits} %q, %a, %d; mul.lo.s{bits} %r, %q, %d; sub.s{bits} %r, %a, %r;"),
        source(32, divide="div.u{bits} %q, %a, %d; add.u{bits} %q, %q, 1; mov.b{bits} %r, 7;"),
        source(32, divide="div.u{bits} %q, %d, %a; mul.lo.s{bits} %r, %q, %d; sub.s{bits} %r, %a, %r;"),
        source(32, divide=OF_16_BITS),
    ]
    assert [one_op(text) for text in wrong] == [0] * len(wrong)
    device = shared_device(engine)
    out = device.zeros((64, 2), "u8")
    device.load(wrong[3])["k"]((1,), (64,), (out, 12, 1000, 1, 64))
    assert out.numpy().tolist() == [[(1000 + i) // 12 + 1, 7] for i in range(64)]
