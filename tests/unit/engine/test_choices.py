"""An index or another number, by a predicate of each lane: kept as base and stride while all lanes choose the
same.

Neighbours of an index are such, but for those at an edge (`x == 0 ? width - 1 : x - 1`). Compiled kernels are
compared with NumPy where no lane, one, some and all choose otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import simt
from simt.analysis.shape import UNIFORM, VARYING, BlockShape, Hold, Shape
from simt.analysis.shape_algebra import ShapeAlgebra
from simt.ptx.types import F32, S32, U64
from simt.tools.explain import explain

Words = NDArray[Any]
TEXT = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 table, .param .u32 start, .param .u32 edge, .param .u32 other)
{{
    .reg .pred %p, %q; .reg .b32 %s, %e, %c, %x, %y, %z, %t, %n; .reg .b64 %o, %a, %w, %v;
    ld.param.u64 %o, [out]; ld.param.u64 %a, [table];
    ld.param.u32 %s, [start]; ld.param.u32 %e, [edge]; ld.param.u32 %c, [other];
    mov.u32 %t, %tid.x; mov.u32 %x, %tid.y; mov.u32 %n, %ntid.x; mad.lo.u32 %n, %x, %n, %t;
    mad.wide.u32 %o, %n, 8, %o;
    mov.u64 %w, 9;
    add.s32 %x, %s, %t;
    {body}
    st.global.u64 [%o], %w;
    ret;
}}
"""
Judge = Callable[[Words, int, int], Words]
"""Of the indices, the edge and the other number."""
LEFT = "setp.{op}.s32 %p, %x, %e; add.s32 %y, %x, -1; selp.b32 %z, %c, %y, %p; "
RIGHT = "setp.{op}.s32 %p, %x, %e; add.s32 %y, %x, 1; selp.b32 %z, %y, %c, %p; "
WIDE = "cvt.s64.s32 %w, %z;"
TESTS: dict[str, Callable[[Words, int], Words]] = {
    "eq": lambda x, edge: x == edge,
    "ne": lambda x, edge: x != edge,
    "lt": lambda x, edge: x < edge,
}
BODIES: dict[str, tuple[str, Judge]] = {}


def body(name: str, text: str, judge: Judge) -> None:
    BODIES[name] = text, judge


for op, holds in TESTS.items():
    body(
        f"left {op}", LEFT.format(op=op) + WIDE, lambda x, e, c, holds=holds: np.where(holds(x, e), c, x - 1)
    )
    body(
        f"right {op}",
        RIGHT.format(op=op) + WIDE,
        lambda x, e, c, holds=holds: np.where(holds(x, e), x + 1, c),
    )
body(
    "both",
    "setp.lt.s32 %p, %x, %e; add.s32 %y, %x, 5; selp.b32 %z, %y, %x, %p;" + WIDE,
    lambda x, e, c: np.where(x < e, x + 5, x),
)
body(
    "both, of several steps",
    "setp.lt.s32 %p, %x, %e; shl.b32 %y, %x, 1; selp.b32 %z, %y, %x, %p;" + WIDE,
    lambda x, e, c: np.where(x < e, x << 1, x),
)
body(
    "backwards",
    "setp.lt.s32 %p, %x, %e; sub.s32 %y, 100, %x; selp.b32 %z, %c, %y, %p;" + WIDE,
    lambda x, e, c: np.where(x < e, c, 100 - x),
)
body(
    "mirrored",
    "setp.lt.s32 %p, %x, %e; sub.s32 %y, 200, %x; selp.b32 %z, %x, %y, %p;" + WIDE,
    lambda x, e, c: np.where(x < e, x, 200 - x),
)
body(
    "mirrored at both ends",
    "setp.lt.s32 %p, %x, 30; sub.s32 %y, 60, %x; setp.ge.s32 %q, %x, %e; sub.s32 %z, 200, %x;"
    "selp.b32 %z, %z, %x, %q; selp.b32 %z, %y, %z, %p;" + WIDE,
    lambda x, e, c: np.where(x < 30, 60 - x, np.where(x >= e, 200 - x, x)),
)
body(
    "in full",
    LEFT.format(op="eq") + "mul.lo.s32 %z, %z, %z;" + WIDE,
    lambda x, e, c: np.where(x == e, c, x - 1) ** 2,
)
body(
    "twice",
    LEFT.format(op="eq") + "setp.gt.s32 %q, %x, %c; add.s32 %z, %z, 1; selp.b32 %z, %s, %z, %q;" + WIDE,
    lambda x, e, c: np.where(x > c, x.min(), np.where(x == e, c, x - 1) + 1),
)
body(
    "limited",
    "max.s32 %y, %x, 3; setp.lt.s32 %p, %x, %e; selp.b32 %z, %c, %y, %p;" + WIDE,
    lambda x, e, c: np.where(x < e, c, np.maximum(x, 3)),
)
body(
    "in other blocks",
    LEFT.format(op="eq")
    + "setp.lt.u32 %q, %t, 11; @%q bra A; add.s32 %z, %z, 5; bra B; A: add.s32 %z, %z, 7; B:"
    + WIDE,
    lambda x, e, c: np.where(x == e, c, x - 1) + np.where(x - x.min() < 11, 7, 5),
)
body(
    "where some lanes run",
    "setp.lt.u32 %q, %t, 11; @%q bra B;" + LEFT.format(op="lt") + WIDE + "B:",
    lambda x, e, c: np.where(x - x.min() < 11, 9, np.where(x < e, c, x - 1)),
)
body(
    "of 64 bits",
    "setp.eq.s32 %p, %x, %e; cvt.s64.s32 %v, %x; cvt.s64.s32 %w, %c; selp.b64 %w, %w, %v, %p;",
    lambda x, e, c: np.where(x == e, c, x),
)
for count in (1, 4):
    body(
        f"address, {count} bytes",
        LEFT.format(op="eq")
        + f"mul.wide.s32 %v, %z, {count}; add.u64 %v, %a, %v; ld.global.u8 %y, [%v+4]; cvt.u64.u32 %w, %y;",
        lambda x, e, c, count=count: (np.where(x == e, c, x - 1) * count + 4) * 7 % 256,
    )
EDGES = [(0, 0), (0, 500), (5, 17), (5, 36), (100, 99), (100, 132), (40, 71), (40, 72)]
"""The first index, and the edge."""


@pytest.mark.parametrize("block", [(64, 1), (16, 4), (8, 8), (48, 2)])
@pytest.mark.parametrize("name", BODIES)
def test_choices(name: str, block: tuple[int, int]) -> None:
    text, judge = BODIES[name]
    device = simt.Device("sm_75", engine="jit", memory="64MiB")
    kernel = device.load(TEXT.format(body=text))["k"]
    threads = block[0] * block[1]
    table = device.array((np.arange(1024) * 7 % 256).astype("u1"))
    t = np.arange(threads) % block[0]
    for start, edge in EDGES:
        out = device.zeros(threads, "i8")
        kernel((1,), block, (out, table, start, edge, 77))
        assert out.numpy().tolist() == judge(start + t, edge, 77).tolist(), (start, edge)


def test_shapes_of_choices() -> None:
    select = ShapeAlgebra(BlockShape(64, 1, 1)).select
    index, guarded = Shape(1, 4), Shape(1, 4, Hold.GUARDED)
    assert select(S32, VARYING, index, UNIFORM) == select(U64, VARYING, UNIFORM, guarded) == guarded
    assert select(S32, VARYING, index, index) == guarded
    assert select(S32, UNIFORM, index, index) == index
    assert select(S32, VARYING, index, Shape(1, -4)) == select(S32, VARYING, Shape(1, -4), index) == guarded
    for a, b in (
        (UNIFORM, UNIFORM),
        (index, Shape(1, 8)),
        (index, VARYING),
        (index, Shape(1, 4, Hold.LIKELY)),
    ):
        assert select(S32, VARYING, a, b) == VARYING
    assert select(F32, VARYING, UNIFORM, UNIFORM) == VARYING


def test_neighbours_are_loaded_as_vectors() -> None:
    program = (
        simt.Device("sm_75", memory="64MiB").load(TEXT.format(body=BODIES["address, 1 bytes"][0])).program
    )
    notes = explain(program, program.functions["k"], BlockShape(64, 1, 1)).functions[0]
    assert [a.pattern for a in notes.accesses if "[%v+4]" in a.place.text] == ["contiguous"]
