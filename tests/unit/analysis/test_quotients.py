"""Approximate quotients as products with a reciprocal, which sums fuse, where functions have a GPU's bits.

What ptxas makes of each, nvdisasm told (CUDA 13, sm_90).
"""

from __future__ import annotations

import pytest

import simt
from simt.analysis.program import Constant, Op

FTZ = "div.approx.ftz.f32 %x, %a, %b;"
BY_255 = "mov.f32 %c, 0f437F0000; div{} %x, %a, %c;"
INVERSE = 0x3B808081
"""The number next to 1/255."""
LINES = {
    "a sum": (f"{FTZ} add.ftz.f32 %u, %x, %b;", "rcp fma"),
    "taken from something": (f"{FTZ} sub.ftz.f32 %u, %b, %x;", "rcp neg fma"),
    "two sums": (f"{FTZ} add.ftz.f32 %y, %x, %b; add.ftz.f32 %u, %x, %y;", "rcp fma fma"),
    "used as it is, too": (f"{FTZ} add.ftz.f32 %y, %x, %b; mul.rn.f32 %u, %x, %y;", "rcp mul add mul"),
    "a quotient of a quotient": (f"{FTZ} div.approx.ftz.f32 %u, %x, %b;", "rcp mul rcp mul"),
    "a constant": (BY_255.format(".approx.ftz.f32") + "add.ftz.f32 %u, %x, %b;", "mov fma"),
    "a constant, not flushed": (BY_255.format(".approx.f32") + "mov.b32 %u, %x;", "mov mul mov"),
    "a constant, in full": (BY_255.format(".full.f32") + "add.f32 %u, %x, %b;", "mov fma"),
    "rounded": (BY_255.format(".rn.f32") + "add.f32 %u, %x, %b;", "mov div add"),
    "of a register that is written again": (
        "mov.f32 %c, 0f437F0000; mov.f32 %c, %b; div.approx.ftz.f32 %u, %a, %c;",
        "mov mov rcp mul",
    ),
    "by a subnormal number": ("div.approx.f32 %u, %a, 0f00000001;", "edge mul mul rcp mul"),
    "not flushed, and a sum": ("div.approx.f32 %x, %a, %b; add.f32 %u, %x, %b;", "edge mul mul rcp fma"),
    "in full, and a sum": ("div.full.f32 %x, %a, %b; add.f32 %u, %x, %b;", "edges mul mul rcp fma"),
    "in full, flushed": ("div.full.ftz.f32 %x, %a, %b; add.ftz.f32 %u, %x, %b;", "upper mul mul rcp fma"),
}


def ops(lines: str, approx: str, target: str = "sm_75") -> list[Op]:
    text = f""".version 8.0
.target {target}
.address_size 64
.visible .entry k(.param .u64 in)
{{
    .reg .b64 %in; .reg .f32 %a, %b, %c, %u, %x, %y;
    ld.param.u64 %in, [in]; ld.global.f32 %a, [%in]; ld.global.f32 %b, [%in+4];
    {lines}
    st.global.f32 [%in], %u;
    ret;
}}
"""
    program = simt.Device("sm_90", engine="interpreter", approx=approx).load(text).program
    (block,) = program.functions["k"].blocks
    return [op for op in block.ops if isinstance(op, Op) and op.form.mnemonic not in ("ld", "st")]


@pytest.mark.parametrize("name", LINES)
def test_what_quotients_become(name: str) -> None:
    lines, expected = LINES[name]
    assert [op.form.mnemonic for op in ops(lines, "hardware")] == expected.split()


def test_the_reciprocal_of_a_constant() -> None:
    (_, product, *_) = ops(LINES["a constant, not flushed"][0], "hardware")
    assert Constant(product.source_types["b"], INVERSE) in product.sources.values()


@pytest.mark.parametrize(("approx", "target"), [("fast", "sm_75"), ("hardware", "sm_75, debug")])
def test_quotients_that_are_left(approx: str, target: str) -> None:
    assert [op.form.mnemonic for op in ops(LINES["a sum"][0], approx, target)] == ["div", "add"]


def test_behind_a_short_branch() -> None:
    """Both ways of which are weighed by what their instructions take."""
    text = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in)
{
    .reg .b64 %in, %o; .reg .f32 %a; .reg .b32 %t; .reg .pred %p;
    ld.param.u64 %in, [in]; mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 4; add.u64 %in, %in, %o;
    ld.global.f32 %a, [%in]; setp.lt.f32 %p, %a, 0f41200000;
    @%p bra SKIP;
    ex2.approx.f32 %a, %a;
SKIP:
    st.global.f32 [%in], %a;
    ret;
}
"""
    device = simt.Device("sm_90", engine="jit", approx="hardware", memory="64MiB")
    values = device.array([float(i) for i in range(32)], "f4")
    device.load(text)["k"](1, 32, (values,))
    assert values.numpy().tolist() == [float(i) if i < 10 else 2.0**i for i in range(32)]
