"""Phases in which only the first warps have an effect: others are left out, unless they keep something."""

from __future__ import annotations

import re

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.host import host_cpu
from simt.engine.llvm_kernel import emit
from tests.conftest import shared_device

HEAD = """.version 7.5
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
    .shared .align 64 .b8 s[2048];
    .reg .pred %p, %q; .reg .b32 %t, %w, %a, %b, %v, %c; .reg .b64 %in, %out, %i, %o;
    ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
    mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 4; add.s64 %i, %in, %o; add.s64 %o, %out, %o;
    mov.u32 %w, s; shl.b32 %a, %t, 2; add.u32 %w, %w, %a;
    ld.global.u32 %v, [%i];
    st.shared.u32 [%w], %v;
    bar.sync 0;
"""
STEP = """
    setp.ge.u32 %p, %t, {half}; {more}
    @%p bra L{half};
    ld.shared.u32 %a, [%w]; ld.shared.u32 %b, [%w+{bytes}]; add.u32 %a, %a, %b; st.shared.u32 [%w], %a;
L{half}:
    {red}
    bar.sync 0;
"""
TAIL = """
    ld.shared.u32 %a, [%w]; add.u32 %a, %a, %v; st.global.u32 [%o], %a;
    ret;
}
"""
THREADS = 512
HALVES = [256, 128, 64, 32, 16, 8]


def tree(more: str = "", red: str = "") -> str:
    steps = (STEP.format(half=half, bytes=4 * half, more=more, red=red) for half in HALVES)
    return HEAD + "".join(steps) + TAIL


def summed(data: np.ndarray) -> np.ndarray:
    s = data.copy()
    for half in HALVES:
        s[:half] += s[half : 2 * half]
    return s


def result(text: str) -> np.ndarray:
    device = shared_device("jit")
    out = device.zeros(THREADS, "u4")
    device.load(text)["k"]((1,), (THREADS,), (device.array(DATA), out))
    return out.numpy().copy()


def counts(text: str) -> list[int]:
    """How many warps take part in each phase."""
    module = simt.Device("sm_90").load(text)
    lines, _, _ = emit(
        module.program, module.program.functions["k"], BlockShape(THREADS, 1, 1), host_cpu().features, ""
    )
    return [int(n) for n in re.findall(r"icmp ult i32 %warp\.next\.in\.\d+, (\d+)", lines)]


DATA = np.random.default_rng(1).integers(0, 1 << 20, THREADS).astype("u4")


def test_the_others_are_left_out() -> None:
    """Where a branch parts lanes; whole warps go around an addition as quickly."""
    assert counts(tree()) == [16, 16, 16, 16, 16, 1, 1, 16]
    np.testing.assert_array_equal(result(tree()), summed(DATA) + DATA)


def test_what_they_keep_is_computed() -> None:
    """A value of each thread that goes on from phase to phase."""
    text = tree(more="mad.lo.u32 %v, %v, 3, 1;")
    value = DATA
    for _ in HALVES:
        value = value * np.uint32(3) + np.uint32(1)
    np.testing.assert_array_equal(result(text), summed(DATA) + value)


@pytest.mark.parametrize("op", ["barrier.sync.aligned 0;", "bar.red.popc.u32 %c, 0, %p; add.u32 %v, %v, %c;"])
def test_all_come_to_barriers(op: str) -> None:
    """Threads that add nothing count in reductions."""
    idle = sum(THREADS - half for half in HALVES) if "popc" in op else 0
    np.testing.assert_array_equal(result(tree(red=op)), summed(DATA) + DATA + np.uint32(idle))


def test_they_may_be_at_fault() -> None:
    device = shared_device("jit")
    text = tree(more="setp.lt.u32 %q, %t, 256; selp.b64 %i, %in, 0, %q; ld.global.u32 %c, [%i];")
    kernel, arguments = device.load(text)["k"], (device.array(DATA), device.zeros(THREADS, "u4"))
    with pytest.raises(simt.MemoryFault) as fault:
        kernel((1,), (THREADS,), arguments)
    assert fault.value.site.thread == (256, 0, 0)
