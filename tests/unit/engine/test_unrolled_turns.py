"""Loops with barriers that are written out: sums and scans by trees, with CTAs of many sizes. Expectations
are sums of integers by NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.host import named_cpus
from simt.engine.llvm_kernel import emit
from tests.conftest import shared_device

KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{{
    .reg .u32 %t, %n, %s, %a, %b, %c, %i, %v, %w, %g; .reg .u64 %in, %out, %o; .reg .pred %p, %q;
    .shared .align 4 .b8 cells[{room}];
    ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
    mov.u32 %t, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %c, %ctaid.x; mad.lo.u32 %g, %c, %n, %t;
    mul.wide.u32 %o, %g, 4; add.u64 %in, %in, %o; add.u64 %out, %out, %o;
    ld.global.u32 %v, [%in]; mov.u32 %c, cells; shl.b32 %a, %t, 2; add.u32 %a, %a, %c;
    st.shared.u32 [%a], %v; bar.sync 0;
    {loop}
    bar.sync 0; ld.shared.u32 %v, [%a]; st.global.u32 [%out], %v;
    ret;
}}
"""
MULTIPLES = """
    mov.u32 %s, 1; setp.le.u32 %p, %n, 1; @%p bra END;
L:  shl.b32 %i, %s, 1; rem.u32 %w, %t, %i; add.u32 %b, %t, %s; setp.ne.u32 %q, %w, 0; @%q bra M;
    setp.ge.u32 %q, %b, %n; @%q bra M;
    shl.b32 %b, %b, 2; add.u32 %b, %b, %c;
    ld.shared.u32 %v, [%a]; ld.shared.u32 %w, [%b]; add.u32 %v, %v, %w; st.shared.u32 [%a], %v;
M:  bar.sync 0; mov.u32 %s, %i; setp.lt.u32 %p, %s, %n; @%p bra L;
END:"""
"""Each thread whose number is a multiple of twice the step has the sum of so many words."""
SCAN = """
    mov.u32 %s, 1; bra TEST;
L:  setp.lt.u32 %q, %t, %s; mov.u32 %w, 0; @%q bra M;
    sub.u32 %b, %t, %s; shl.b32 %b, %b, 2; add.u32 %b, %b, %c; ld.shared.u32 %w, [%b];
M:  bar.sync 0; ld.shared.u32 %v, [%a]; add.u32 %v, %v, %w; st.shared.u32 [%a], %v; bar.sync 0;
    shl.b32 %s, %s, 1;
TEST: setp.lt.u32 %p, %s, %n; @%p bra L;"""
PACKED = """
    mov.u32 %s, 1; bra TEST;
L:  shl.b32 %i, %s, 1; mul.lo.u32 %i, %i, %t; add.u32 %b, %i, %s; setp.ge.u32 %q, %b, %n; @%q bra M;
    shl.b32 %i, %i, 2; add.u32 %i, %i, %c; shl.b32 %b, %b, 2; add.u32 %b, %b, %c;
    ld.shared.u32 %v, [%i]; ld.shared.u32 %w, [%b]; add.u32 %v, %v, %w; st.shared.u32 [%i], %v;
M:  bar.sync 0; shl.b32 %s, %s, 1;
TEST: setp.lt.u32 %p, %s, %n; @%p bra L;"""
"""The same sums as by multiples, by the first threads."""
LOOPS = {"multiples": MULTIPLES, "packed": PACKED, "scan": SCAN}
THREADS = (1, 2, 31, 32, 33, 64, 100, 256, 511, 1024)


def expected(name: str, data: np.ndarray) -> np.ndarray:
    """For rows of words, one a CTA."""
    if name == "scan":
        return np.cumsum(data, axis=1, dtype="u4")
    total, step, threads = data.copy(), 1, data.shape[1]
    while step < threads:
        for first in range(0, threads - step, 2 * step):
            total[:, first] += total[:, first + step]
        step *= 2
    return total


@pytest.mark.share(2)
@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("name", LOOPS)
def test_sums(engine: str, name: str, threads: int) -> None:
    device = shared_device(engine)
    data = np.random.default_rng(threads).integers(0, 2**32, (3, threads), dtype="u4")
    out = device.zeros(data.size, "u4")
    module = device.load(KERNEL.format(loop=LOOPS[name], room=4 * threads))
    module["k"]((3,), (threads,), (device.array(data.ravel()), out))
    np.testing.assert_array_equal(out.numpy().reshape(data.shape), expected(name, data))


@pytest.mark.parametrize("name", LOOPS)
def test_steps_are_numbers(name: str) -> None:
    """In the code of a CTA of 256 there is no division by a step."""
    program = shared_device("jit").load(KERNEL.format(loop=LOOPS[name], room=1024)).program
    text = emit(
        program, program.functions["k"], BlockShape(256, 1, 1), named_cpus()["x86-64-v4"].features, ""
    )[0]
    assert "udiv i32 %v" not in text
    assert "fdiv" not in text


@pytest.mark.parametrize("turn", range(8))
def test_a_fault_in_one_turn(engine: str, turn: int) -> None:
    """The word beyond the memory is that of one thread in one turn; the turns before it were right."""
    device = shared_device(engine)
    step = 1 << turn
    # Threads of this turn read a word that far beyond their own.
    loop = SCAN.replace("sub.u32 %b, %t, %s;", f"sub.u32 %b, %t, %s; setp.eq.u32 %q, %s, {step};"
                        "setp.eq.and.u32 %q, %t, 201, %q; @%q add.u32 %b, %b, 4096;")  # fmt: skip
    source = KERNEL.format(loop=loop, room=1024)
    line = 1 + source[: source.index("ld.shared.u32 %w, [%b]")].count("\n")
    data = device.array(np.ones(256, "u4"))
    with pytest.raises(simt.KernelFault) as caught:
        device.load(source)["k"]((1,), (256,), (data, device.zeros(256, "u4")))
    fault = caught.value
    assert (fault.site.thread, fault.site.line) == ((201, 0, 0), line)
    assert f"{4 * (201 - step + 4096):#x}" in str(fault)
