"""Which kernels' local memory may be woven, and by which words."""

from __future__ import annotations

import pytest

from simt.analysis.lower import lower
from simt.analysis.shape import BlockShape
from simt.engine.llvm_slots import Unit
from simt.ptx.parser import parse

WORD = "st.local.u32 [%l], %v;"
OWN = "mov.u32 %v, %laneid; mad.wide.u32 %l, %v, 8, %l;"
BODIES = {
    "words": (WORD, 4),
    "words of floats and integers": (f"{WORD} ld.local.f32 %f, [%l+4];", 4),
    "several words": ("st.local.v4.u32 [%l], {%v, %v, %v, %v}; ld.local.v2.u32 {%v, %v}, [%l+8];", 4),
    "doubles": ("st.local.f64 [%l], %d; ld.local.v2.u64 {%o, %o}, [%l+16];", 8),
    "words at places of their own": (f"{OWN} {WORD}", 4),
    "under a guard": (f"setp.eq.u32 %p, %v, 0; @%p {WORD}", 4),
    "none": ("st.global.u32 [%a], %v;", 0),
    "words of two sizes": (f"{WORD} st.local.f64 [%l+8], %d;", 4),
    "bytes": ("st.local.u8 [%l], %v;", 1),
    "bytes at places of their own": (f"{OWN} st.local.u8 [%l], %v;", 0),
    "bytes at places of their own, and as many others": (
        f"st.local.u8 [%l], %v; {OWN} st.local.u8 [%l], %v;",
        1,
    ),
    "words at places of their own, and a byte": (
        f"ld.local.u8 %v, [%l]; {OWN} {WORD} ld.local.u32 %v, [%l];",
        0,
    ),
    "halves and words": (f"{WORD} ld.local.u16 %v, [%l];", 4),
    "halves and bytes": ("st.local.u8 [%l], %v; ld.local.u16 %v, [%l];", 2),
    "bytes and doubles": ("st.local.f64 [%l], %d; ld.local.u8 %v, [%l];", 4),
    "a generic address": (f"{WORD} cvta.local.u64 %o, %l; ld.u32 %v, [%o];", 0),
    "from a generic address": (f"{WORD} cvta.to.local.u64 %o, %a;", 0),
    "a question": (f"{WORD} isspacep.local %p, %a;", 0),
    "in a function": (f"{WORD} call (%v), other, (%v);", 4),
    "bytes in a function": ("call (%v), bytes, (%v);", 1),
    "bytes in a function, and words": (f"{WORD} call (%v), bytes, (%v);", 4),
    "otherwise in a function": (f"{WORD} call (%v), generic, (%v);", 0),
    "in one that is called indirectly": (f"{WORD} mov.u64 %o, generic; call (%v), %o, (%v), kind;", 0),
    "with a function of the system": (f"{WORD} call (%v), vprintf, (%a, %a);", 0),
}
"""Code, and the bytes of a word."""


@pytest.mark.parametrize("name", BODIES)
def test_words(name: str) -> None:
    body, expected = BODIES[name]
    text = f"""
.version 7.5
.target sm_75
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 v);
.func (.param .u32 r) other (.param .u32 x)
{{
    .reg .u32 %v; .local .u32 own[2];
    ld.param.u32 %v, [x]; st.local.u32 [own+4], %v; ld.local.u32 %v, [own]; st.param.u32 [r], %v; ret;
}}
.func (.param .u32 r) bytes (.param .u32 x)
{{
    .reg .u32 %v; .local .u8 own[2];
    ld.param.u32 %v, [x]; st.local.u8 [own], %v; ld.local.u8 %v, [own]; st.param.u32 [r], %v; ret;
}}
.func (.param .u32 r) generic (.param .u32 x)
{{
    .reg .u32 %v; .reg .u64 %a; .local .u32 own;
    mov.u64 %a, own; cvta.local.u64 %a, %a; ld.u32 %v, [%a]; st.param.u32 [r], %v; ret;
}}
.visible .entry k(.param .u64 a)
{{
    .reg .pred %p; .reg .b32 %v; .reg .f32 %f; .reg .f64 %d; .reg .b64 %a, %o, %l;
    .local .align 16 .b8 box[64];
    kind: .callprototype (.param .u32 _) _ (.param .u32 _);
    ld.param.u64 %a, [a]; mov.u64 %l, box; ld.global.u32 %v, [%a]; cvt.rn.f64.u32 %d, %v;
    {body}
    st.global.u32 [%a], %v;
    ret;
}}
"""
    tree, problems = parse(text, "k.ptx")
    assert tree is not None
    assert not problems.errors, problems.errors
    program = lower(tree)
    unit = Unit(program, program.functions["k"], BlockShape(32, 1, 1), frozenset())
    assert unit.woven == expected
