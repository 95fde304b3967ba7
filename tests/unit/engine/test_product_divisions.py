"""Divisions by products with a factor that stands for a size: right ones, and others, of which nothing may be
guessed. Expectations are Python's, by what is written."""

from __future__ import annotations

import numpy as np
import pytest

from simt.analysis.lower_forms import QUOTIENT_BY_LONG_PRODUCT, QUOTIENT_BY_PRODUCT
from simt.analysis.product_divisions import with_product_divisions
from simt.analysis.program import Op
from tests.conftest import shared_device

SOURCE = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 table, .param .u64 out, .param .u32 divisor, .param .u32 factor,
    .param .u32 shift, .param .u32 first, .param .u32 step, .param .u32 n)
{{
    .reg .pred %o; .reg .b32 %t, %i, %n, %x, %a, %q, %r, %d, %m, %s, %first, %step, %h, %v, %w;
    .reg .b64 %out, %table, %at;
    ld.param.u64 %out, [out]; ld.param.u64 %table, [table]; ld.param.u32 %d, [divisor];
    ld.param.u32 %m, [factor]; ld.param.u32 %s, [shift]; ld.param.u32 %n, [n];
    ld.param.u32 %first, [first]; ld.param.u32 %step, [step];
    mov.u32 %t, %tid.x; mov.u32 %i, %ctaid.x; mov.u32 %x, %ntid.x; mad.lo.u32 %i, %i, %x, %t;
    mov.u32 %t, %nctaid.x; mul.lo.u32 %x, %x, %t;
    setp.ge.u32 %o, %i, %n;
    @%o bra END;
LOOP:
    mad.lo.u32 %a, %i, %step, %first;
    {divide}
    mul.lo.s32 %h, %q, %d; sub.s32 %r, %a, %h;
    and.b32 %h, %r, 1023; mul.wide.u32 %at, %h, 4; add.u64 %at, %table, %at; ld.global.u32 %v, [%at];
    and.b32 %h, %q, 1023; mul.wide.u32 %at, %h, 4; add.u64 %at, %table, %at; ld.global.u32 %w, [%at];
    mul.wide.u32 %at, %i, 16; add.u64 %at, %out, %at;
    st.global.v4.u32 [%at], {{%q, %r, %v, %w}};
    add.u32 %i, %i, %x;
    setp.lt.u32 %o, %i, %n;
    @%o bra LOOP;
END:
    ret;
}}
"""
LONG = "mul.hi.u32 %h, %a, %m; add.s32 %h, %h, %a; shr.u32 %q, %h, %s;"
SHORT = "mul.hi.u32 %h, %m, %a; shr.u32 %q, %h, %s;"
CONSTANT = "mul.hi.u32 %h, %a, -1431655765; shr.u32 %q, %h, 6; mov.u32 %d, 96;"
SIZES = [1, 2, 3, 5, 7, 31, 32, 33, 60, 64, 96, 100, 127, 1000, 1023, 65535, 65537, 2**29 + 7]
STARTS = [(0, 1), (1000, 1), (2**31 - 200, 1), (2**32 - 100, 1), (5, 3), (2**30, 2**20 + 1)]


def long_factor(d: int) -> tuple[int, int]:
    """A factor and a shift, for 33 bits (PyTorch's way)."""
    shift = (d - 1).bit_length()
    return (2**32 * (2**shift - d) // d + 1) % 2**32, shift


def short_factor(d: int) -> tuple[int, int]:
    """For 32 bits and dividends of 31 (CUTLASS's way); of 1 there is none."""
    bits = max(1, (d - 1).bit_length())
    return min(-(-(2 ** (31 + bits)) // d), 2**32 - 1), bits - 1


def quotients(a: list[int], m: int, s: int, plus: bool) -> list[int]:
    return [(((x * m >> 32) + x * plus) % 2**32) >> s if s < 32 else 0 for x in a]


def check(engine: str, divide: str, d: int, m: int, s: int) -> None:
    device, n = shared_device(engine), 450
    table = np.random.default_rng(3).integers(0, 2**32, 1024, "u4")
    kernel, given = device.load(SOURCE.format(divide=divide))["k"], device.array(table)
    for first, step in STARTS:
        out = device.zeros((n, 4), "u4")
        kernel((2,), (128,), (given, out, d, m, s, first, step, n))
        a = [(first + i * step) % 2**32 for i in range(n)]
        q = np.array(quotients(a, m, s, "add" in divide), "u8")
        r = (np.array(a, "u8") - q * np.uint64(d)) % np.uint64(2**32)
        expected = np.stack([q, r, table[r % 1024], table[q % 1024]], 1)
        np.testing.assert_array_equal(out.numpy(), expected, f"{d} from {first} by {step}")


@pytest.mark.parametrize("d", SIZES)
@pytest.mark.parametrize("plus", [False, True])
def test_right_factors(engine: str, plus: bool, d: int) -> None:
    m, s = long_factor(d) if plus else short_factor(d)
    if plus or d > 1:
        a = [0, 1, d - 1, d, 12345678, 2**31 - 1]
        assert quotients(a, m, s, plus) == [x // d for x in a], "the test's factor"
    check(engine, LONG if plus else SHORT, d, m, s)


@pytest.mark.parametrize("plus", [False, True])
@pytest.mark.parametrize(
    ("d", "factor", "shift"),
    [
        (60, 1, 0),
        (60, -1, 0),
        (100, 0, 1),
        (64, 2**31, -1),
        (1000, 0, 31),
        (96, 5, 32),
        (33, 0, -1),
        (0, 0, 0),
    ],
)
def test_other_factors(engine: str, plus: bool, d: int, factor: int, shift: int) -> None:
    """Factor or shift is another one than the size's. Of 0 there is no right one."""
    m, s = (long_factor if plus else short_factor)(max(d, 1))
    check(
        engine, LONG if plus else SHORT, d, (m + factor) % 2**32, shift if shift > 30 else max(0, s + shift)
    )


def test_a_constant(engine: str) -> None:
    check(engine, CONSTANT, 96, 2**32 - 1431655765, 6)


def one_op(divide: str) -> list[str]:
    module = shared_device("jit").load(SOURCE.format(divide=divide))
    kernel, _ = with_product_divisions(module.program, module.program.functions["k"], None)
    names = {QUOTIENT_BY_PRODUCT: "short", QUOTIENT_BY_LONG_PRODUCT: "long"}
    return [names[op.form] for op in kernel.ops() if isinstance(op, Op) and op.form in names]


@pytest.mark.parametrize(
    ("divide", "found"),
    [
        (LONG, ["long"]),
        (SHORT, ["short"]),
        (CONSTANT, []),  # the size comes after the quotient
        ("mul.hi.u32 %h, %a, %m; add.s32 %h, %h, %d; shr.u32 %q, %h, %s;", []),
        ("mul.hi.s32 %h, %a, %m; shr.u32 %q, %h, %s;", []),
        ("mul.hi.u32 %h, %a, %m; shr.s32 %q, %h, %s;", []),
        ("mul.hi.u32 %h, %i, %m; shr.u32 %q, %h, %s;", []),  # another dividend
        ("mul.hi.u32 %h, %a, %m; add.u32 %m, %m, 1; shr.u32 %q, %h, %s;", []),  # another factor by then
    ],
)
def test_which_are_found(divide: str, found: list[str]) -> None:
    assert one_op(divide) == found
