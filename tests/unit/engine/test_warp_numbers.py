"""A lane's number in its warp and the warp's in its CTA, as compilers make them of a thread's number."""

# ruff: noqa: E501 (PTX reads better unbroken)

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import simt
from simt.analysis.lower import lower
from simt.analysis.schedule import schedule
from simt.analysis.shape import BlockShape
from simt.analysis.ssa import build
from simt.analysis.uniformity import analyse
from simt.isa.algebra import Environment
from simt.ptx.parser import parse
from tests.conftest import shared_device

KERNEL = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out)
{{
    .reg .pred %p;
    .reg .b32 %t, %n, %y, %c, %lane, %warp, %v, %i;
    .reg .b64 %a, %b;
    mov.u32 %t, %tid.x;
    mov.u32 %n, %ntid.x;
    mov.u32 %y, %tid.y;
    mov.u32 %c, %ctaid.x;
    mad.lo.u32 %i, %c, %n, %t;
    {parts}
    mov.u32 %v, 5;
    setp.ne.u32 %p, %warp, 1;
    @%p bra STORE;
    add.u32 %v, %lane, 100;
STORE:
    mov.u32 %n, %nctaid.x;
    shl.b32 %n, %n, 7;
    mul.lo.u32 %y, %y, %n;
    shl.b32 %warp, %warp, 5;
    or.b32 %warp, %warp, %lane;
    add.u32 %y, %y, %warp;
    ld.param.u64 %a, [out];
    mul.wide.u32 %b, %y, 4;
    add.u64 %a, %a, %b;
    st.global.u32 [%a], %v;
    ret;
}}
"""
SIGNED = "as C++ divides numbers that may be negative"
PARTS = {
    "bits": "and.b32 %lane, {0}, 31; shr.u32 %warp, {0}, 5;",
    "signed": "and.b32 %lane, {0}, 31; shr.s32 %warp, {0}, 5;",
    "quotient": "rem.u32 %lane, {0}, 32; div.u32 %warp, {0}, 32;",
    "as an offset": "and.b32 %lane, {0}, 31; shr.u32 %warp, {0}, 3; and.b32 %warp, %warp, 252; shr.u32 %warp, %warp, 2;",
    "as a quotient": "rem.u32 %lane, {0}, 32; div.u32 %warp, {0}, 8; and.b32 %warp, %warp, 252; div.u32 %warp, %warp, 4;",
    "as a signed offset": "and.b32 %lane, {0}, 31; shr.s32 %warp, {0}, 2; and.b32 %warp, -8, %warp; shr.s32 %warp, %warp, 3;",
    "in another block": "and.b32 %lane, {0}, 31; shr.u32 %warp, {0}, 3; setp.eq.u32 %p, %n, 3; @%p bra ON; xor.b32 %v, %n, 1; "
    "ON: and.b32 %warp, %warp, 252; shr.u32 %warp, %warp, 2;",
    SIGNED: "shr.s32 %warp, {0}, 31; shr.u32 %warp, %warp, 27; add.s32 %warp, %warp, {0}; and.b32 %lane, %warp, -32; "
    "sub.s32 %lane, {0}, %lane; shr.s32 %warp, %warp, 5;",
    "remainder by hand": "shr.u32 %warp, {0}, 5; shl.b32 %lane, %warp, 5; sub.u32 %lane, {0}, %lane;",
}
OF = ("%t", "%i")


@pytest.mark.share(3)
@pytest.mark.parametrize("of", OF)
@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("block", [(128, 1), (32, 3), (40, 1), (64, 2), (16, 4), (5, 5)], ids=str)
def test_threads_write_to_their_places(engine: str, block: tuple[int, int], parts: str, of: str) -> None:
    check(shared_device(engine), block, parts, of)


def check(device: simt.Device, block: tuple[int, int], parts: str, of: str) -> None:
    x, y = block
    ctas = 2 if of == "%i" else 1
    out = device.zeros((y, ctas * 128), "u4")
    text = KERNEL.format(parts=PARTS[parts].format(of))
    device.load(text)["k"]((ctas,), block, (out,))
    number = np.arange(ctas * x)
    expected = np.zeros((y, ctas * 128), "u4")
    expected[:, : len(number)] = np.where(number // 32 == 1, number % 32 + 100, 5)
    assert np.array_equal(out.numpy(), expected)


@pytest.mark.usefixtures("all_large")
@pytest.mark.parametrize("parts", PARTS)
def test_in_large_kernels(parts: str) -> None:
    check(simt.Device("sm_90", engine="jit", memory="64MiB"), (128, 1), parts, "%t")


@pytest.mark.parametrize("of", OF)
@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize(
    ("block", "parted"),
    [((128, 1, 1), False), ((40, 1, 1), False), ((64, 2, 1), False), ((5, 5, 1), True)],
    ids=str,
)
def test_warps_do_not_part_where_a_row_begins_with_a_warp(
    block: tuple[int, int, int], parted: bool, parts: str, of: str
) -> None:
    """A CTA of 40 threads: the second one's numbers begin within a warp of 32 if counted over the grid."""
    tree, _ = parse(KERNEL.format(parts=PARTS[parts].format(of)))
    assert tree is not None
    function = lower(tree).functions["k"]
    ssa = build(function, schedule(function))
    found = analyse(ssa, Environment(), BlockShape(*block))
    unknown = of == "%i" and (block[0] == 40 or parts == SIGNED)  # which may be negative, as far as it shows
    assert bool(found.divergent) == (parted or unknown)


SIDES = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out)
{{
    .reg .pred %p; .reg .b32 %t, %v, %n; .reg .b64 %a;
    mov.u32 %t, %tid.x; add.u32 %n, %t, {more}; mov.u32 %v, 1;
    setp.{op}.{type} %p, {operands}; @%p bra ON;
    mov.u32 %v, 2; bar.sync 0;
ON: ld.param.u64 %a, [out]; mad.wide.u32 %a, %t, 4, %a; st.global.u32 [%a], %v;
    ret;
}}
"""
ON_SIDES = {
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
}
LIMITS = (0, 31, 32, 33, 64, 95, 100, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


@pytest.mark.share(5)
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("kind", ["u32", "s32"])
@pytest.mark.parametrize("op", ON_SIDES)
def test_threads_on_either_side_of_a_number(engine: str, op: str, kind: str, turned: bool) -> None:
    """Some of these numbers have whole warps on one side."""
    device, threads = shared_device(engine), 100
    for more, limit in product((0, 32), LIMITS):
        operands = f"{limit}, %n" if turned else f"%n, {limit}"
        out = device.zeros(threads, "u4")
        device.load(SIDES.format(op=op, type=kind, operands=operands, more=more))["k"](
            (1,), (threads,), (out,)
        )
        pair = np.arange(threads, dtype="u4") + np.uint32(more), np.full(threads, limit, "u4")
        one, other = (side.view("i4") if kind == "s32" else side for side in (pair[::-1] if turned else pair))
        np.testing.assert_array_equal(out.numpy(), np.where(ON_SIDES[op](one, other), 1, 2))


@pytest.mark.parametrize(("operands", "parted"), [("%n, 64", False), ("%n, 63", True), ("96, %n", True)])
def test_warps_do_not_part_at_a_multiple_of_their_size(operands: str, parted: bool) -> None:
    for op in ("lt", "ge") if operands[0] == "%" else ("lt", "le"):
        tree, _ = parse(SIDES.format(op=op, type="u32", operands=operands, more=0))
        assert tree is not None
        function = lower(tree).functions["k"]
        found = analyse(build(function, schedule(function)), Environment(), BlockShape(128, 1, 1))
        assert bool(found.divergent) == (parted and (operands[0] == "%" or op == "lt"))


OTHER = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .pred %p, %q, %undefined_p;
    .reg .b32 %t, %n, %i, %v, %undefined;
    .reg .f32 %f, %undefined_f;
    .reg .b64 %a;
    mov.u32 %t, %tid.x;
    mov.u32 %n, %nctaid.x;
    setp.ne.u32 %q, %n, 1;
    {body}
    ld.param.u64 %a, [out];
    mad.wide.u32 %a, %t, 4, %a;
    st.global.u32 [%a], %v;
    ret;
}
"""
TID = np.arange(96, dtype="u4")
BODIES = {
    "a loop that moves the index on by 1": (
        """mov.u32 %i, %tid.x; mov.u32 %v, 0; mov.u32 %n, 3;
        AGAIN: shr.u32 %undefined, %i, 5; shl.b32 %v, %v, 8; or.b32 %v, %v, %undefined;
        add.u32 %i, %i, 1; sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p bra AGAIN;""",
        TID >> 5 << 16 | TID + 1 >> 5 << 8 | TID + 2 >> 5,
    ),
    "a loop that moves the index on by 32": (
        """mov.u32 %i, %tid.x; mov.u32 %v, 0; mov.u32 %n, 3;
        AGAIN: shr.u32 %undefined, %i, 5; shl.b32 %v, %v, 8; or.b32 %v, %v, %undefined;
        add.u32 %i, %i, 32; sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p bra AGAIN;""",
        (TID >> 5) * 0x10101 + 0x102,
    ),
    "some lanes have another index": (
        "mov.u32 %i, %t; setp.lt.u32 %p, %t, 40; @%p bra L; add.u32 %i, %t, 96; L: and.b32 %v, %i, 0xE0;",
        TID + np.where(TID < 40, 0, 96) & 0xE0,
    ),
    "all lanes have another index": (
        "mov.u32 %i, %t; @!%q bra L; add.u32 %i, %t, 1; L: shr.u32 %v, %i, 5;",
        TID >> 5,
    ),
    "by a guard": ("mov.u32 %i, %t; @!%q add.u32 %i, %t, 1; shr.u32 %v, %i, 5;", TID + 1 >> 5),
    "undefined factor": (
        "mul.lo.u32 %i, %t, %undefined; @%q bra L; add.u32 %i, %i, 1; L: mov.u32 %v, %i;",
        TID * 0 + 1,
    ),
    "undefined float": ("mov.f32 %f, %undefined_f; @%q bra L; mov.u32 %i, 1; L: mov.b32 %v, %f;", TID * 0),
    "choice of undefined floats": (
        "selp.f32 %f, %undefined_f, %undefined_f, %q; @%q bra L; mov.u32 %i, 1; L: mov.b32 %v, %f;",
        TID * 0,
    ),
    "address in a window": (
        """.shared .b32 s[96]; st.shared.u32 [s], 0; shl.b32 %i, %t, 2; cvt.u64.u32 %a, %i;
        cvta.shared.u64 %a, %a; @%q bra L; st.u32 [%a], %t; L: ld.shared.u32 %v, [%i];""",
        TID,
    ),
}


@pytest.mark.parametrize("body", BODIES)
def test_shapes_through_control_flow(engine: str, body: str) -> None:
    text, expected = BODIES[body]
    device = shared_device(engine)
    out = device.zeros(96, "u4")
    device.load(OTHER.replace("{body}", text))["k"](1, 96, (out,))
    assert np.array_equal(out.numpy(), expected)


def test_masks_that_keep_a_lanes_bits_do_not_make_numbers_of_warps() -> None:
    """Of `tid >> 3` two bits tell lanes apart."""
    parts = "mov.u32 %lane, 0; shr.u32 %warp, %t, 3; and.b32 %warp, %warp, 2;"
    tree, _ = parse(KERNEL.format(parts=parts))
    assert tree is not None
    function = lower(tree).functions["k"]
    ssa = build(function, schedule(function))
    assert analyse(ssa, Environment(), BlockShape(128, 1, 1)).divergent
