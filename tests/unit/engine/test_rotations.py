"""Rotations of 64 bits that a program does by halves. Expectations are Python's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from simt.analysis.lower_forms import ROTATED
from simt.analysis.program import Op
from simt.analysis.wide_moves import with_wide_moves
from tests.conftest import shared_device

THREADS = 40
HEAD = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 out)
{
    .reg .b32 %t, %l, %h, %i, %j, %m, %n; .reg .b64 %a, %o, %x, %y, %z, %w;
    ld.param.u64 %a, [a]; ld.param.u64 %o, [out]; mov.u32 %t, %tid.x;
    mad.wide.u32 %a, %t, 16, %a; mad.wide.u32 %o, %t, 8, %o; ld.global.v2.u64 {%x, %y}, [%a]; mov.u32 %n, 7;
    mov.b64 {%l, %h}, %x; mov.b64 {%i, %j}, %y;
"""
SHIFTED = "shf.{way}.b32 %m, {one}, {n}; shf.{way}.b32 %n, {other}, {n}; mov.b64 %z, {{{order}}};"
UP, DOWN = "%l, %h", "%h, %l"
WORDS = 2**64 - 1


def left(x: int, n: int) -> int:
    return (x << n | x >> 64 - n) & WORDS


def shifted(way: str, n: object, order: str = "%n, %m", one: str = UP, other: str = DOWN) -> str:
    return SHIFTED.format(way=way, n=n, order=order, one=one, other=other)


ROTATIONS: list[tuple[str, Callable[[int], int]]] = [
    (shifted("l.wrap", 1), lambda x: left(x, 1)),
    (shifted("l.wrap", 63), lambda x: left(x, 31)),
    (shifted("l.wrap", 8, "%m, %n"), lambda x: left(x, 40)),
    (shifted("r.wrap", 5, "%m, %n"), lambda x: left(x, 59)),
    (shifted("r.clamp", 21), lambda x: left(x, 11)),
    (shifted("l.clamp", 40), lambda x: left(x, 32)),
    ("mov.b64 %z, {%h, %l};", lambda x: left(x, 32)),
    (
        "shf.l.wrap.b32 %m, %l, %h, 3; shf.l.wrap.b32 %n, %h, %l, 3;"
        "shf.l.wrap.b32 %l, %n, %m, 4; shf.l.wrap.b32 %h, %m, %n, 4; mov.b64 %z, {%h, %l};",
        lambda x: left(x, 7),
    ),
]
OTHERS: list[tuple[str, Callable[[int], int]]] = [
    (shifted("l.wrap", 9, one=UP, other="%h, %j"), lambda x: left(x, 9) >> 32 << 32 | x >> 55),
    (shifted("l.wrap", "%n") + "mov.u32 %n, 7;", lambda x: left(x, 7)),
    ("not.b64 %x, %x;" + shifted("l.wrap", 13) + "not.b64 %x, %x;", lambda x: left(x, 13)),
    ("mov.b64 %z, {%h, %i};", lambda x: (x >> 32) * (1 + 2**32)),
]


def test_rotations() -> None:
    random = np.random.default_rng(2)
    words = random.integers(2**64, size=(THREADS, 2), dtype=np.uint64)
    words[:, 1] = words[:, 0] >> np.uint64(32)
    body = "".join(
        f"mov.u32 %n, 7; {text} st.global.u64 [%o+{8 * THREADS * i}], %z; mov.b64 {{%l, %h}}, %x;\n"
        for i, (text, _) in enumerate(ROTATIONS + OTHERS)
    )
    module = shared_device("jit").load(f"{HEAD}{body}ret; }}")
    kernel = with_wide_moves(module.program.functions["k"], shuffles=False)
    assert sum(isinstance(op, Op) and op.form is ROTATED for op in kernel.ops()) == len(ROTATIONS)
    device = shared_device("jit")
    out = device.zeros((len(ROTATIONS + OTHERS), THREADS), "u8")
    module["k"]((1,), (THREADS,), (device.array(words), out))
    for (text, give), found in zip(ROTATIONS + OTHERS, out.numpy(), strict=True):
        assert [*found] == [give(int(x)) for x in words[:, 0]], text
