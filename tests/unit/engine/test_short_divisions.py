"""Divisions of 64 bits that compilers do in 32 bits where these are enough, by a branch. Expectations are
Python's, by the way that the program goes."""

from __future__ import annotations

import numpy as np
import pytest

from simt.analysis.lower_forms import QUOTIENT, REST
from simt.analysis.program import Op
from simt.analysis.short_divisions import with_short_divisions
from tests.conftest import shared_device

HEAD = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 out, .param .u64 one, .param .u32 n)
{{
    .reg .pred %p, %o; .reg .b32 %t, %i, %n, %x, %y, %z, %w, %step;
    .reg .b64 %a, %b, %c, %d, %e, %q, %r, %u, %v;
    ld.param.u64 %c, [a]; ld.param.u64 %d, [b]; ld.param.u64 %e, [out];
    ld.param.u64 %b, [one]; ld.param.u32 %n, [n];
    mov.u32 %t, %tid.x; mov.u32 %i, %ctaid.x; mov.u32 %x, %ntid.x; mov.u32 %y, %nctaid.x;
    mov.u32 %z, %tid.y; mad.lo.u32 %t, %z, %x, %t; mov.u32 %z, %ntid.y; mul.lo.u32 %x, %x, %z;
    mul.lo.u32 %step, %x, %y;
    mad.lo.u32 %i, %i, %x, %t;
    setp.ge.u32 %o, %i, %n;
    @%o bra END;
LOOP:
    mul.wide.u32 %u, %i, 8;
    add.u64 %v, %c, %u; {dividend}
    add.u64 %v, %d, %u; {divisor}
    {both}
    mul.wide.u32 %u, %i, 16;
    add.u64 %v, %e, %u;
    st.global.v2.u64 [%v], {{%q, %r}};
    add.u32 %i, %i, %step;
    setp.lt.u32 %o, %i, %n;
    @%o bra LOOP;
END:
    ret;
}}
"""
ASKED = """
    or.b64 %u, %a, %b; and.b64 %v, %u, {mask}; setp.eq.s64 %p, %v, 0;
    @{no}%p bra {name}SHORT;
    {long}
    bra {name}DONE;
{name}SHORT:
    cvt.u32.u64 %x, %a; cvt.u32.u64 %y, %b; {short}
{name}DONE:
"""
DIVIDED = "div.{t} %q, %a, %b;", "div.u32 %z, %x, %y; cvt.u64.u32 %q, %z;"
REMAINING = "rem.{t} %r, %a, %b;", "rem.u32 %w, %x, %y; cvt.u64.u32 %r, %w;"
PRODUCT = (
    "mul.lo.s64 %r, %q, %b; sub.s64 %r, %a, %r;",
    "mul.lo.s32 %w, %z, %y; sub.s32 %w, %x, %w; cvt.u64.u32 %r, %w;",
)
LOADS = {"dividend": "ld.global.u64 %a, [%v];", "divisor": "ld.global.u64 %b, [%v];"}
INDEX = {"dividend": "cvt.u64.u32 %a, %i;", "divisor": ""}
UPPER = -(2**32)


def asked(long: str, short: str, t: str, name: str, mask: int = UPPER, no: str = "") -> str:
    return ASKED.format(long=long.format(t=t), short=short, name=name, mask=mask, no=no)


def source(t: str, way: str, values: dict[str, str] = LOADS) -> str:
    if way == "apart":
        both = asked(*DIVIDED, t, "A") + asked(*REMAINING, t, "B")
    else:
        rest = PRODUCT if way == "product" else REMAINING
        both = asked(DIVIDED[0] + rest[0], DIVIDED[1] + rest[1], t, "A")
    return HEAD.format(both=both, **values)


def divided(a: int, b: int, signed: bool, way: str) -> tuple[int, int]:
    """Quotient and remainder, of numbers without a sign. By zero, the hardware gives all ones."""
    bits = 64 if (a | b) >> 32 else 32
    if b == 0:
        return 2**bits - 1, a if way == "product" else 2**bits - 1
    if signed and bits == 64:
        a, b = (n - (n >> 63 << 64) for n in (a, b))
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return quotient % 2**64, (a - quotient * b) % 2**64


NUMBERS = [
    0,
    1,
    2,
    7,
    31,
    2**31,
    2**32 - 1,
    2**32,
    2**32 + 5,
    2**52 + 3,
    2**63 - 1,
    2**63,
    2**64 - 7,
    2**64 - 1,
]
PAIRS = [(a, b) for a in NUMBERS for b in NUMBERS]
"""More than fit in the grid's threads: they have a turn or two."""


@pytest.mark.parametrize("way", ["product", "remainder", "apart"])
@pytest.mark.parametrize("t", ["u64", "s64"])
def test_numbers(engine: str, t: str, way: str) -> None:
    device = shared_device(engine)
    small = [(a, b) for a in NUMBERS[:7] for b in NUMBERS[:7]]
    pairs = [*PAIRS, *small, *small, *small]
    a, b = (device.array(np.array(column, "u8")) for column in zip(*pairs, strict=True))
    out = device.zeros((len(pairs), 2), "u8")
    device.load(source(t, way))["k"]((2,), (64,), (a, b, out, 0, len(pairs)))
    assert out.numpy().tolist() == [[*divided(*pair, t == "s64", way)] for pair in pairs]


@pytest.mark.parametrize("divisor", [0, 1, 5, 16, 20, 32, 33, 100, 1000, 2**31, 2**32 - 1, 2**32, 2**64 - 3])
@pytest.mark.parametrize("t", ["u64", "s64"])
@pytest.mark.parametrize("row", [128, 16])
@pytest.mark.parametrize("way", ["product", "remainder"])
def test_rows(engine: str, way: str, row: int, t: str, divisor: int) -> None:
    """An index by what is the same for all. Rows of threads have a base each."""
    device, n = shared_device(engine), 700
    out = device.zeros((n, 2), "u8")
    kernel, block = device.load(source(t, way, INDEX))["k"], (row, 128 // row)
    kernel((2,), block, (0, 0, out, np.uint64(divisor), n))
    assert out.numpy().tolist() == [[*divided(i, divisor, t == "s64", way)] for i in range(n)]


def forms(text: str) -> list[str]:
    """Which of the two forms are there, in order."""
    module = shared_device("jit").load(text)
    kernel, _ = with_short_divisions(module.program, module.program.functions["k"], None)
    names = {QUOTIENT: "quotient", REST: "rest"}
    return [names[op.form] for op in kernel.ops() if isinstance(op, Op) and op.form in names]


@pytest.mark.parametrize(
    ("way", "found"),
    [("product", ["quotient"]), ("remainder", ["quotient", "rest"]), ("apart", ["quotient", "rest"])],
)
def test_divisions_are_one_op(way: str, found: list[str]) -> None:
    assert forms(source("s64", way)) == found


def test_a_branch_to_the_long_way() -> None:
    """As LLVM 20 writes it."""
    text = source("s64", "product").replace("setp.eq.s64 %p, %v, 0", "setp.ne.s64 %p, %v, 0")
    assert forms(text) == []
    assert forms(text.replace("@%p", "@!%p")) == ["quotient"]


def test_a_short_operand_is_not_asked_for() -> None:
    text = source("u64", "product").replace("or.b64 %u, %a, %b;", "mov.b64 %u, %a;")
    assert forms(text) == []
    short = LOADS | {"divisor": "ld.global.u32 %y, [%v]; cvt.u64.u32 %b, %y;"}
    text = source("u64", "product", short).replace("or.b64 %u, %a, %b;", "mov.b64 %u, %a;")
    assert forms(text) == ["quotient"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (str(UPPER), str(2 * UPPER)),  # half of what fits in 32 bits and one more
        ("@%p", "@!%p"),
        ("or.b64", "xor.b64"),
        ("setp.eq.s64 %p, %v, 0", "setp.eq.s64 %p, %v, 1"),
        ("cvt.u64.u32 %q, %z", "cvt.s64.s32 %q, %z"),
        ("div.u32 %z, %x, %y", "div.s32 %z, %x, %y"),
        ("div.u32 %z, %x, %y", "div.u32 %z, %y, %x"),
        ("sub.s32 %w, %x, %w", "sub.s32 %w, %w, %x"),
        ("cvt.u32.u64 %x, %a;", "cvt.u32.u64 %x, %a; add.u32 %i, %i, 1;"),
        ("cvt.u32.u64 %x, %a;", "cvt.u32.u64 %x, %a; ld.global.u32 %w, [%e];"),
        ("LOOP:", "LOOP: mov.u32 %x, %clock;"),
    ],
)
def test_what_only_looks_like_it(old: str, new: str) -> None:
    """It stays a branch."""
    text = source("s64", "product")
    assert old in text
    assert forms(text) == ["quotient"]
    assert forms(text.replace(old, new)) == []
