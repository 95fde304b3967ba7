"""Warps that go from barrier to barrier in step, and wait for each other, or for other CTAs, in between."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.host import host_cpu
from simt.engine.llvm_kernel import emit

WARPS = 4
PTX = """
.version 7.0
.target sm_70
.address_size 64
.entry turns(.param .u64 in, .param .u64 out, .param .u64 flags)
{
    .reg .u64 %in, %out, %flags, %w;
    .reg .u32 %x, %y, %i, %a, %up, %down, %old, %v, %c;
    .reg .pred %p;
    .shared .align 4 .b32 words[10];
    ld.param.u64 %in, [in];
    ld.param.u64 %out, [out];
    ld.param.u64 %flags, [flags];
    mov.u32 %x, %tid.x;
    mov.u32 %y, %tid.y;
    mov.u32 %c, %ctaid.x;
    mad.lo.u32 %i, %c, 4, %y;
    mad.lo.u32 %i, %i, 32, %x;
    mul.wide.u32 %w, %i, 4;
    add.u64 %in, %in, %w;
    add.u64 %out, %out, %w;
    ld.global.u32 %v, [%in];
    mov.u32 %a, words;
    mad.lo.u32 %a, %y, 4, %a;
    st.volatile.shared.u32 [%a], 0;
    st.volatile.shared.u32 [%a+20], 0;
    mul.lo.u32 %v, %v, 3;
    bar.sync 0;

    mov.u32 %down, 0;
    setp.eq.u32 %p, %y, 3;
    @%p bra LAST;
DOWN:
    ld.volatile.shared.u32 %down, [%a+4];
    setp.eq.u32 %p, %down, 0;
    @%p bra DOWN;
LAST:
    add.u32 %down, %down, 1;
    st.volatile.shared.u32 [%a], %down;
    add.u32 %v, %v, %x;
    bar.sync 0;

    mov.u32 %up, 0;
    setp.eq.u32 %p, %y, 0;
    @%p bra FIRST;
UP:
    ld.volatile.shared.u32 %up, [%a+16];
    setp.eq.u32 %p, %up, 0;
    @%p bra UP;
    bra SECOND;
FIRST:
    setp.eq.u32 %p, %c, 0;
    @%p bra SECOND;
    mul.wide.u32 %w, %c, 4;
    add.u64 %w, %flags, %w;
OTHER:
    ld.volatile.global.u32 %old, [%w+-4];
    setp.eq.u32 %p, %old, 0;
    @%p bra OTHER;
SECOND:
    add.u32 %up, %up, 1;
    st.volatile.shared.u32 [%a+20], %up;
    setp.ne.u32 %p, %y, 3;
    @%p bra END;
    mul.wide.u32 %w, %c, 4;
    add.u64 %w, %flags, %w;
    st.volatile.global.u32 [%w], 1;
END:
    bar.sync 0;
    mad.lo.u32 %v, %v, 100, %down;
    mad.lo.u32 %v, %v, 100, %up;
    st.global.u32 [%out], %v;
    ret;
}
.entry forever(.param .u64 flags)
{
    .reg .u64 %flags;
    .reg .u32 %y, %v;
    .reg .pred %p;
    ld.param.u64 %flags, [flags];
    mov.u32 %y, %tid.y;
    bar.sync 0;
    setp.ne.u32 %p, %y, 2;
    @%p bra END;
WAIT:
    ld.volatile.global.u32 %v, [%flags];
    setp.eq.u32 %p, %v, 0;
    @%p bra WAIT;
END:
    bar.sync 0;
    ret;
}
"""


LEAVE = "setp.eq.u32 %p, %x, 31; @%p exit;"
"""For the start of `turns`: lanes that end before the barriers, so that warps do not go in step."""


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(("engine", "workers"), [("jit", 1), ("jit", 2), ("interpreter", 1)])
def test_warps_and_ctas_wait_for_each_other(engine: str, workers: int, whole: bool) -> None:
    """Before the second barrier each warp waits for the next one, before the third for the one before it; the
    first of a CTA for the last CTA. What a thread has in registers meanwhile is still there."""
    device = simt.Device("sm_90", engine=engine, memory="1MiB", workers=workers, timeout=20)
    grid = 5
    given = np.random.default_rng(1).integers(0, 2**32, (grid, WARPS, 32), dtype="u4")
    out = device.zeros(given.shape, "u4")
    text = PTX if whole else PTX.replace("mov.u32 %y, %tid.y;", f"{LEAVE} mov.u32 %y, %tid.y;", 1)
    device.load(text)["turns"](grid, (32, WARPS), (device.array(given), out, device.zeros(grid, "u4")))
    lane, warp = np.arange(32, dtype="u4"), np.arange(WARPS, dtype="u4")[:, None]
    wanted = ((given * np.uint32(3) + lane) * np.uint32(100) + (WARPS - warp)) * np.uint32(100) + warp + 1
    assert (out.numpy()[..., :31] == wanted.astype("u4")[..., :31]).all()
    assert (out.numpy()[..., 31] == (wanted.astype("u4")[..., 31] if whole else 0)).all()


def test_they_go_in_step() -> None:
    """Of which the test above would tell nothing."""
    program = simt.Device("sm_90").load(PTX).program
    apart = (
        simt.Device("sm_90")
        .load(PTX.replace("mov.u32 %y, %tid.y;", f"{LEAVE} mov.u32 %y, %tid.y;", 1))
        .program
    )
    shape, features = BlockShape(32, WARPS, 1), host_cpu().features
    for module, name, in_step in (
        (program, "turns", True),
        (program, "forever", True),
        (apart, "turns", False),
    ):
        text, *_ = emit(module, module.functions[name], shape, features, "nounwind")
        assert ("%next.phase = alloca" in text) == in_step
        assert "%spinning = alloca" in text


def test_a_warp_that_waits_in_vain_is_stopped(engine: str) -> None:
    device = simt.Device("sm_90", engine=engine, memory="1MiB", timeout=0.2)
    with pytest.raises(simt.LaunchTimeout):
        device.load(PTX)["forever"](2, (32, WARPS), (device.zeros(1, "u4"),))
