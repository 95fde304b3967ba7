"""Launches that store more than caches hold, past them: the same results."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.engine.host import host_cpu
from simt.engine.llvm_streams import LARGE, NEEDED

WORDS = (LARGE >> 2) + 1000
PTX = """
.version 7.5
.target sm_75
.address_size 64
.visible .entry scaled(.param .u64 to, .param .u64 from, .param .u32 n)
{
    .reg .pred %p; .reg .b32 %t, %c, %s, %i, %n, %v; .reg .b64 %a, %b, %o;
    ld.param.u64 %b, [to]; ld.param.u64 %a, [from]; ld.param.u32 %n, [n];
    mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %s, %ntid.x; mad.lo.u32 %i, %c, %s, %t;
    setp.ge.u32 %p, %i, %n;
    @%p bra END;
    mul.wide.u32 %o, %i, 4; add.u64 %a, %a, %o; add.u64 %b, %b, %o;
    ld.global.u32 %v, [%a];
    mad.lo.u32 %v, %v, 3, %i;
    st.global.u32 [%b], %v;
    END:
    ret;
}
.visible .entry pairs(.param .u64 to)
{
    .reg .b32 %t, %c, %s, %i, %v; .reg .b64 %b, %o;
    ld.param.u64 %b, [to];
    mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %s, %ntid.x; mad.lo.u32 %i, %c, %s, %t;
    mul.wide.u32 %o, %i, 8; add.u64 %b, %b, %o;
    add.u32 %v, %i, 7;
    st.global.v2.u32 [%b], {%i, %v};
    ret;
}
.visible .entry rows(.param .u64 from, .param .u64 to, .param .u32 n, .param .u32 row)
{
    .reg .pred %p; .reg .b32 %t, %c, %s, %i, %n, %r, %v<4>; .reg .b64 %a, %b, %o;
    ld.param.u64 %a, [from]; ld.param.u64 %b, [to]; ld.param.u32 %n, [n]; ld.param.u32 %r, [row];
    mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %s, %ntid.x; mad.lo.s32 %i, %c, %s, %t;
    setp.ge.s32 %p, %i, %n;
    @%p bra END;
    mul.wide.s32 %o, %i, 4; add.s64 %a, %a, %o;
    ld.global.u32 %v0, [%a]; ld.global.u32 %v1, [%a+4]; ld.global.u32 %v2, [%a+8];
    add.u32 %v0, %v0, %v1; add.u32 %v0, %v0, %v2;
    rem.s32 %i, %i, %r; shl.b32 %i, %i, 1;
    mul.wide.s32 %o, %i, 4; add.s64 %b, %b, %o;
    st.global.u32 [%b], %v0;
    END:
    ret;
}
"""


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("n", [WORDS, WORDS - 77])
def test_lines_that_are_whole_and_others(n: int, first: int, workers: int) -> None:
    """Arrays at multiples of 64 bytes and elsewhere, the last warp whole and in part."""
    device = simt.Device("sm_75", engine="jit", workers=workers)
    source = device.array(np.arange(WORDS, dtype="u4"))
    target = device.zeros(WORDS + 16, "u4")
    device.load(PTX)["scaled"]((-(-WORDS // 256),), (256,), (target.ptr + 4 * first, source, n))
    found = target.numpy()
    assert (found[first : first + n] == np.arange(n, dtype="u4") * 4).all()
    assert not found[:first].any()
    assert not found[first + n :].any()


def test_vectors() -> None:
    device = simt.Device("sm_75", engine="jit")
    grid = -(-WORDS // 2 // 256)
    target = device.zeros(grid * 512, "u4")
    device.load(PTX)["pairs"]((grid,), (256,), (target,))
    index = np.arange(grid * 256, dtype="u4")
    assert (target.numpy() == np.stack([index, index + 7], 1).ravel()).all()


@pytest.mark.skipif(
    not host_cpu().features >= NEEDED, reason="stores past the caches are made for x86 with AVX"
)
def test_large_launches_alone_store_so() -> None:
    """The code holds both kinds of stores, and a fence at its end."""
    from simt.analysis.shape import BlockShape
    from simt.engine.llvm_kernel import emit

    program = simt.Device("sm_75").load(PTX).program
    text, *_ = emit(
        program, program.functions["pairs"], BlockShape(256, 1, 1), host_cpu().features, "nounwind"
    )
    assert text.count("!nontemporal") == 2  # one in the code for warps for which all is well
    assert f"%stream.bytes = mul i64 %ctas, {256 * 8}" in text
    assert text.index("sfence") < text.index("ret void", text.index("sfence"))


@pytest.mark.parametrize("length", [29, 1000])
def test_code_that_only_a_trial_has(length: int) -> None:
    """Every second word of a row, where a row ends within a warp: only code for two rows stores lines."""
    device = simt.Device("sm_75", engine="jit")
    first = np.arange(3, length + 5, dtype="u4")
    source, target = device.array(first), device.zeros(2 * length, "u4")
    device.load(PTX)["rows"]((-(-length // 128),), (128,), (source, target, length, length))
    assert (target.numpy()[::2] == first[:-2] + first[1:-1] + first[2:]).all()
    assert not target.numpy()[1::2].any()
