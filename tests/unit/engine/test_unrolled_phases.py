"""LLVM unrolls the loops over the warps of short phases: else it says so on the user's standard error."""

from __future__ import annotations

import os
import tempfile

import numpy as np
import pytest

from simt.analysis.shape import BlockShape
from simt.driver.source import compile_ptx
from simt.engine.compile import generate
from simt.engine.host import host_cpu
from simt.machine.device import DEVICES
from tests.conftest import shared_device

HEAD = """.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .pred %p; .reg .b32 %t, %v, %w, %c, %i; .reg .b64 %a, %b; .shared .b32 s[256];
    ld.param.u64 %a, [out];
    mov.u32 %t, %tid.x;
    mov.u32 %c, %ctaid.x;
    mad.wide.u32 %b, %t, 4, %a;
    mov.u32 %v, 0;
"""
TAIL = """
    st.global.u32 [%b], %v;
    ret;
}
"""
FILL_AND_PART = """
    ld.global.u32 %i, [%b];
    FILL:
    shl.b32 %w, %i, 2;
    mad.lo.u32 %v, %w, 7, %c;
    st.shared.u32 [%w], %v;
    add.u32 %i, %i, 96;
    setp.lt.u32 %p, %i, 256;
    @%p bra FILL;
    bar.sync 0;
    setp.lt.s32 %p, %c, 255;
    @%p bra END;
    ld.shared.u32 %v, [s];
    bar.sync 0;
    END:
"""
"""Whether the last warp has lanes left tells whether its CTA has come to the barrier or to its end."""


def printed(ptx: str, block: BlockShape) -> bytes:
    """What appears on standard error, file descriptor 2, while a kernel is compiled."""
    program, _ = compile_ptx(ptx, "<test>", DEVICES[90])
    with tempfile.TemporaryFile() as file:
        before = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            generate(program, program.functions["k"], block, host_cpu())
        finally:
            os.dup2(before, 2)
            os.close(before)
        file.seek(0)
        return file.read()


@pytest.mark.parametrize("block", [(96, 1, 1), (24, 4, 1)], ids=str)
def test_nothing_is_printed(block: tuple[int, int, int]) -> None:
    assert printed(HEAD + FILL_AND_PART + TAIL, BlockShape(*block)) == b""


def test_the_results_are_right() -> None:
    device = shared_device("jit")
    out = device.array(np.arange(96, dtype="u4"))
    device.load(HEAD + FILL_AND_PART + TAIL)["k"](1, 96, (out,))
    last = np.arange(96) + 96 * ((255 - np.arange(96)) // 96)
    assert np.array_equal(out.numpy(), last * 28)
