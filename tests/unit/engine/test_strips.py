"""Rows of threads of CTAs side by side, before the CTAs' next rows: the same results, faults and counts."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.driver.source import compile_ptx
from simt.engine.host import PAGES_APART, Cpu, host_cpu
from simt.engine.llvm_kernel import emit
from simt.engine.llvm_strips import STRIP
from simt.machine.device import DEVICES
from simt.records import replace
from tests.conftest import kept_for_each_way, shared_device
from tests.unit.kernel_text import thread_number

KERNEL = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(
    .param .u64 out, .param .u64 count, .param .u32 pitch, .param .u32 width, .param .u32 height
)
{{
    .reg .pred %p, %q;
    .reg .b32 %x, %y, %z, %t, %n, %w;
    .reg .b64 %a, %b;
"""
KERNEL += "\n".join(thread_number(axis, f"%{axis}", threads="%n", thread="%t") for axis in "xyz")
KERNEL += """
    ld.param.u32 %w, [width];
    ld.param.u32 %n, [height];
    setp.ge.u32 %p, %x, %w;
    setp.ge.or.u32 %p, %y, %n, %p;
    @%p bra END;
    {before}
    ld.param.u32 %n, [height];
    mad.lo.u32 %t, %z, %n, %y;
    ld.param.u32 %n, [pitch];
    mad.lo.u32 %t, %t, %n, %x;
    mul.wide.u32 %b, %t, 4;
    ld.param.u64 %a, [out];
    add.u64 %a, %a, %b;
    ld.global.u32 %n, [%a];
    mad.lo.u32 %n, %t, 3, %n;
    st{mode}.global.u32 [%a], %n;
END:
    ret;
}}
"""
PLAIN = KERNEL.format(before="", mode="")
FAULTY = KERNEL.format(
    before="""xor.b32 %t, %x, 1000;
    xor.b32 %n, %y, 13;
    or.b32 %t, %t, %n;
    or.b32 %t, %t, %z;
    setp.eq.u32 %q, %t, 0;
    mov.u64 %a, 64;
    @%q st.global.u32 [%a], %x;""",
    mode="",
)
"""The thread at (1000, 13, 0) stores to address 64."""


@kept_for_each_way
def device(workers: int) -> simt.Device:
    return simt.Device("sm_90", workers=workers, memory="64MiB", timeout=20)


def in_strips(source: str, block: tuple[int, int, int]) -> bool:
    """Whether code for a CTA's shape takes CTAs side by side."""
    program, _ = compile_ptx(source, "<ptx>", DEVICES[90])
    text, _, _ = emit(program, program.functions["k"], BlockShape(*block), frozenset(), "nounwind")
    return "row.head:" in text


@pytest.mark.parametrize(
    "block", [(32, 8, 1), (64, 3, 1), (16, 16, 1), (8, 6, 1), (32, 2, 2), (96, 1, 2), (24, 4, 1)]
)
def test_shapes_with_rows_of_warps(block: tuple[int, int, int]) -> None:
    assert in_strips(PLAIN, block)


@pytest.mark.parametrize("block", [(1, 64, 1), (33, 1, 1), (4, 2, 3)])
def test_shapes_without(block: tuple[int, int, int]) -> None:
    assert not in_strips(PLAIN, block)


LOOP = """mov.u32 %t, %n;
AGAIN:
    sub.u32 %t, %t, 1;
    setp.gt.s32 %q, %t, 0;
    @%q bra AGAIN;"""


@pytest.mark.parametrize("block", [(256, 1, 1), (32, 1, 1)])
def test_one_row_of_warps_if_code_for_sure_warps_is_short(block: tuple[int, int, int]) -> None:
    assert in_strips(PLAIN, block)
    assert not in_strips(KERNEL.format(before="ex2.approx.f32 %n, %n; " * 20, mode=""), block)
    assert not in_strips(KERNEL.format(before=LOOP, mode=""), block)


@pytest.mark.parametrize(
    "source",
    [
        KERNEL.format(before="", mode=".volatile"),
        KERNEL.format(before="membar.gl;", mode=""),
        KERNEL.format(before="bar.sync 0;", mode=""),
        KERNEL.format(before=".shared .b32 s; st.shared.u32 [s], %x; ld.shared.u32 %x, [s];", mode=""),
        KERNEL.format(before="ld.param.u64 %a, [count]; red.global.add.u32 [%a], 1;", mode=""),
    ],
)
def test_kernels_whose_threads_may_speak_run_cta_by_cta(source: str) -> None:
    assert in_strips(PLAIN, (32, 8, 1))
    assert not in_strips(source, (32, 8, 1))


def test_kernels_that_print_run_cta_by_cta() -> None:
    extern = ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n"
    call = """{ .param .b64 f; .param .b64 a; .param .b32 r; .reg .b64 %v; mov.u64 %v, 0;
    st.param.b64 [f], %v; st.param.b64 [a], %v; call.uni (r), vprintf, (f, a); }"""
    source = KERNEL.format(before=call, mode="").replace(".visible .entry", extern + ".visible .entry")
    assert not in_strips(source, (32, 8, 1))


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize(
    "block", [(32, 8, 1), (64, 3, 1), (16, 16, 1), (8, 6, 2), (4, 2, 3), (96, 2, 2), (64, 1, 1)]
)
@pytest.mark.parametrize("extents", [(1, 1, 1), (33, 17, 2), (1500, 40, 1), (70, 9, 5), (2100, 3, 2)])
def test_every_thread_runs_once(
    workers: int, block: tuple[int, int, int], extents: tuple[int, int, int]
) -> None:
    kernel = device(workers).load(PLAIN)["k"]
    grid = tuple(-(-extent // size) for extent, size in zip(extents, block))
    width, height, depth = extents[0], extents[1], grid[2] * block[2]
    before = np.random.default_rng(1).integers(0, 1 << 30, (depth, height, width + 3), "u4")
    out = device(workers).array(before)
    kernel(grid, block, (out, 0, width + 3, width, height))
    expected = before.copy()
    expected[:, :, :width] += 3 * np.arange(before.size, dtype="u4").reshape(before.shape)[:, :, :width]
    assert np.array_equal(out.numpy(), expected)


@pytest.mark.parametrize("engine_name", ["interpreter", "jit"])
def test_a_fault_names_its_thread(engine_name: str) -> None:
    assert in_strips(FAULTY, (32, 8, 1))
    virtual = shared_device(engine_name)
    out = virtual.zeros(1500 * 16, "u4")
    with pytest.raises(simt.MemoryFault) as fault:
        virtual.load(FAULTY)["k"]((47, 2), (32, 8), (out, 0, 1500, 1500, 16))
    assert fault.value.address == 64
    assert (fault.value.site.cta, fault.value.site.thread) == ((31, 1, 0), (8, 5, 0))


@pytest.mark.parametrize("is_apart", [True, False])
def test_ctas_that_take_turns(monkeypatch: pytest.MonkeyPatch, is_apart: bool) -> None:
    """Whole strips, one that is cut off, and a last CTA of which some threads do nothing."""
    added = {PAGES_APART} if is_apart else set[str]()
    cpu = replace(host_cpu(), features=host_cpu().features - {PAGES_APART} | added)

    def find_cpu(_: str) -> Cpu:
        return cpu

    monkeypatch.setattr("simt.engine.jit.find_cpu", find_cpu)
    text, ctas, block = KERNEL.format(before="", mode=""), 17 * STRIP + 5, (64, 1, 1)
    program, _ = compile_ptx(text, "<ptx>", DEVICES[90])
    code, _, _ = emit(program, program.functions["k"], BlockShape(*block), cpu.features, "nounwind")
    assert ("%across.apart" in code) == is_apart
    virtual = simt.Device("sm_90", workers=1, memory="64MiB")
    out, n = virtual.zeros(64 * ctas, "u4"), 64 * ctas - 70
    virtual.load(text)["k"](ctas, block, (out, 0, n, n, 1))
    threads = np.arange(64 * ctas, dtype="u4")
    assert np.array_equal(out.numpy(), np.where(threads < n, 3 * threads, 0))
