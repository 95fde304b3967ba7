"""Quotients and remainders of all lanes by one divisor. Expectations are Python's, of whole numbers."""

from __future__ import annotations

import random

import numpy as np
import pytest

from simt.analysis.shape import BlockShape
from simt.engine.host import named_cpus
from simt.engine.llvm_kernel import emit
from tests.conftest import shared_device

KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 by) {{
    .reg .u32 %i, %n, %c; .reg .u64 %in, %out, %o, %by; .reg .{t} %a, %b, %d, %e;
    ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.param.u64 %by, [by];
    mov.u32 %i, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %n, %ntid.x; mad.lo.u32 %n, %c, %n, %i;
    mul.wide.u32 %o, {which}, {size}; add.u64 %by, %by, %o;
    mul.wide.u32 %o, %n, {size}; add.u64 %in, %in, %o; add.u64 %out, %out, %o; add.u64 %out, %out, %o;
    ld.global.{t} %a, [%in]; ld.global.{t} %b, [%by];
    div.{t} %d, %a, %b; rem.{t} %e, %a, %b;
    st.global.{t} [%out], %d; st.global.{t} [%out+{size}], %e;
    ret;
}}
"""
BLOCK = BlockShape(16, 6, 1)
ROWS = "%tid.y"
"""A warp has two rows, and so two divisors."""


def text(t: str, rows: bool) -> str:
    source = KERNEL.format(t=t, size=int(t[1:]) // 8, which="%c" if rows else "0")
    if rows:
        source = source.replace("mov.u32 %c, %ctaid.x;", f"mov.u32 %c, {ROWS};")
        source = source.replace("mad.lo.u32 %n, %c, %n, %i;", "mad.lo.u32 %n, %c, 16, %i;")
    return source


def numbers(t: str, count: int, seed: int) -> list[int]:
    """Bits: extremes, and some of every length."""
    bits, draw = int(t[1:]), random.Random(seed)
    extremes = [
        0,
        1,
        2,
        3,
        2**bits - 1,
        2**bits - 2,
        2 ** (bits - 1),
        2 ** (bits - 1) - 1,
        2 ** (bits - 1) + 1,
    ]
    return [draw.choice(extremes) if draw.random() < 0.2 else draw.getrandbits(draw.randint(1, bits))
            for _ in range(count)]  # fmt: skip


def divided(t: str, a: int, b: int) -> tuple[int, int]:
    """Bits of quotient and remainder, as truncation gives them; all ones by zero."""
    bits = int(t[1:])
    if b == 0:
        return 2**bits - 1, 2**bits - 1
    if t[0] == "s":
        a, b = ((x ^ 1 << bits - 1) - (1 << bits - 1) for x in (a, b))
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return quotient % 2**bits, (a - quotient * b) % 2**bits


@pytest.mark.parametrize("rows", [False, True], ids=["one divisor", "one a row"])
@pytest.mark.parametrize("t", ["u16", "s16", "u32", "s32"])
def test_quotients_and_remainders(engine: str, t: str, rows: bool) -> None:
    kind, device = f"u{int(t[1:]) // 8}", shared_device(engine)
    kernel = device.load(text(t, rows))["k"]
    for seed in range(40):
        divisors = numbers(t, 6, seed)
        given = numbers(t, 96, -1 - seed)
        for i in range(0, 96, 3):  # near multiples, where a quotient is an integer or just below one
            by = divisors[i // 16 if rows else 0]
            given[i] = (given[i] // max(by, 1) * by - i % 2) % 2 ** int(t[1:])
        out = device.zeros(2 * len(given), kind)
        kernel(1, (16, 6) if rows else 96, [device.array(np.array(x, kind)) for x in (given,)]
               + [out, device.array(np.array(divisors, kind))])  # fmt: skip
        expected = [divided(t, a, divisors[i // 16 if rows else 0]) for i, a in enumerate(given)]
        assert out.numpy().reshape(-1, 2).tolist() == [list(pair) for pair in expected]


@pytest.mark.parametrize(("rows", "width"), [(False, 1), (True, 2)])
def test_floats_are_divided_once_for_those_that_share_a_divisor(rows: bool, width: int) -> None:
    program = shared_device("jit").load(text("u32", rows)).program
    shape = BLOCK if rows else BlockShape(96, 1, 1)
    code = emit(program, program.functions["k"], shape, named_cpus()["x86-64-v4"].features, "nounwind")[0]
    kind = "double" if width == 1 else f"<{width} x double>"
    assert f"fdiv {kind}" in code
    assert "fdiv <32 x double>" not in code
