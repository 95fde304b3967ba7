"""Registers of 16 bits that hold halves, and instructions that read 8 bits of them.

PTX says that such an instruction reads the lowest bits, whatever the register holds. Where ptxas 13 stores a
register that another instruction has defined as a float, it converts the float.
"""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType

import numpy as np

RECORDED = Path(__file__).parent / "vectors" / "halves_by_bytes.json"
HALVES = np.array(
    [0, 0x3C00, 0x4500, 0x5640, 0x5BF8, 0x5C00, 0x5E13, 0x7743, 0x0505, 0x1234,
     0xBC00, 0xC5B6, 0xD640, 0xDA40, 0x8000, 0x7C00, 0xFC00, 0x7E00, 0x7FFF, 0xFFFF],
    "u2",
)  # fmt: skip
"""1, 5, 100, 255, 256 and more, tiny ones, negative ones, infinities and NaNs, as bits."""

FLOATS = MappingProxyType(
    {
        "add.f16": "add.f16 %h, %h, %zero;",
        "neg.f16": "neg.f16 %h, %h;",
        "max.f16": "max.f16 %h, %h, %least;",
        "fma.rn.bf16": "fma.rn.bf16 %h, %h, %one_b, %zero;",
        "cvt.rn.f16.f32": "cvt.f32.f16 %f, %h; cvt.rn.f16.f32 %h, %f;",
        "cvt.rn.bf16.f32": "cvt.f32.f16 %f, %h; cvt.rn.bf16.f32 %h, %f;",
    }
)
"""Instructions that define a register as a float."""
OTHERS = MappingProxyType(
    {
        "ld.b16": "",
        "mov.b16": "add.f16 %h, %h, %zero; mov.b16 %m, %h; mov.b16 %h, %m;",
        "and.b16": "add.f16 %h, %h, %zero; and.b16 %h, %h, %ones;",
        "unpacked": "add.f16x2 %x, %x, %zeros; mov.b32 {%h, %m}, %x;",
        "used as a float": "add.f16 %m, %h, %zero; st.global.b16 [%to + 8], %m;",
    }
)
"""What leaves it as it was, or defines it by bits."""
DEFINED = MappingProxyType({**FLOATS, **OTHERS})

WHOLE = "st.global.b16"
READ = MappingProxyType(
    {
        **{f"st.global.{t}": f"st.global.{t} [%to], %h;" for t in ("b16", "u8", "s8", "b8")},
        "st.global.v2.u8": "st.global.v2.u8 [%to], {%loaded, %h};",
        "st.shared.u8": "st.shared.u8 [%there], %h; ld.shared.u8 %w, [%there]; st.global.b64 [%to], %w;",
        "cvt.u32.u8": "cvt.u32.u8 %r, %h; cvt.u64.u32 %w, %r; st.global.b64 [%to], %w;",
        "cvt.s32.s8": "cvt.s32.s8 %r, %h; cvt.u64.u32 %w, %r; st.global.b64 [%to], %w;",
    }
)
"""Instructions that read the register, and how what they give comes to memory that holds zeros."""


def kernel(defined: str, read: str) -> str:
    """A thread for each half of an array; 16 bytes for each result."""
    return f"""\
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {{
    .reg .b64 %from, %to, %there, %w; .reg .b32 %t, %r, %x, %zeros; .reg .f32 %f;
    .reg .b16 %h, %loaded, %m, %zero, %least, %one_b, %ones;
    .shared .align 8 .b64 bytes[32];
    mov.u32 %t, %tid.x; mov.b32 %zeros, 0x80008000;
    mov.b16 %zero, 0x8000; mov.b16 %least, 0xfbff; mov.b16 %one_b, 0x3f80; mov.b16 %ones, 0xffff;
    ld.param.u64 %from, [in]; mad.wide.u32 %from, %t, 2, %from; ld.global.b16 %h, [%from];
    ld.global.b16 %loaded, [%from];
    ld.param.u64 %to, [out]; mad.wide.u32 %to, %t, 16, %to;
    mov.u64 %there, bytes; mad.wide.u32 %there, %t, 8, %there;
    mov.b32 %x, {{%h, %h}};
    {DEFINED[defined]}
    {READ[read]}
    ret;
}}
"""
