"""What a thread's indices alone tell is a number in phases that are unrolled, where each warp has code of its
own: conditions on rows of a tile are known there. Expectations are NumPy's."""

from __future__ import annotations

import re

import numpy as np
import pytest

from simt.analysis.shape import BlockShape
from simt.driver.source import compile_ptx
from simt.engine.compile import attributes, optimized
from simt.engine.host import named_cpus
from simt.engine.llvm_kernel import emit
from simt.machine.device import DEVICES
from tests.conftest import shared_device

KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{{
    .reg .u32 %x, %y, %c, %n, %g, %a, %v, %w, %z; .reg .u64 %in, %out, %o; .reg .pred %p, %q;
    .shared .align 4 .b8 cells[2048];
    ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
    mov.u32 %x, %tid.x; mov.u32 %y, %tid.y; mov.u32 %n, %ntid.x; mad.lo.u32 %g, %y, %n, %x;
    mov.u32 %c, cells; shl.b32 %a, %g, 2; add.u32 %a, %a, %c; mul.wide.u32 %o, %g, 4;
    add.u64 %in, %in, %o; add.u64 %out, %out, %o;
    setp.eq.u32 %q, %x, 3;
    ld.global.u32 %v, [%in]; st.shared.u32 [%a], %v;
    {more}
    bar.sync 0;
    {tree}
    {column}
    bar.sync 0;
    ld.shared.u32 %v, [%a]; st.global.u32 [%out], %v;
    ret;
}}
"""
STEP = """
    and.b32 %z, %y, {mask}; setp.ne.u32 %p, %z, 0; @%p bra L{step};
    ld.shared.u32 %v, [%a]; ld.shared.u32 %w, [%a+{distance}]; add.u32 %v, %v, %w; st.shared.u32 [%a], %v;
L{step}:
    bar.sync 0;
"""
"""Rows that are multiples of twice the step get the row a step further on as well."""
COLUMN = "@%q st.shared.u32 [%a], %y;"
LONG = "".join(
    f"mad.lo.u32 %v, %v, %v, {n}; st.shared.u32 [%a], %v; ld.shared.u32 %v, [%a];" for n in range(60)
)
"""A phase that is not unrolled."""


def kernel(columns: int, rows: int, more: str = "") -> str:
    steps = [1 << k for k in range(rows.bit_length() - 1)]
    tree = [STEP.format(mask=2 * step - 1, step=step, distance=4 * columns * step) for step in steps]
    return KERNEL.format(tree="".join(tree), column=COLUMN, more=more)


@pytest.mark.parametrize("more", ["", LONG], ids=["short", "long"])
@pytest.mark.parametrize("shape", [(16, 16), (8, 8), (32, 8), (64, 4), (16, 2), (4, 16)], ids=str)
def test_sums_over_rows(engine: str, shape: tuple[int, int], more: str) -> None:
    columns, rows = shape
    device = shared_device(engine)
    data = np.random.default_rng(columns).integers(0, 2**32, (rows, columns), dtype="u4")
    out = device.zeros(data.size, "u4")
    module = device.load(kernel(columns, rows, more))
    module["k"]((1,), shape, (device.array(data.ravel()), out))
    sums = data.copy()
    for n in range(60 if more else 0):
        sums = sums * sums + np.uint32(n)
    step = 1
    while step < rows:
        sums[:: 2 * step] += sums[step :: 2 * step]
        step *= 2
    sums[:, 3] = np.arange(rows)
    np.testing.assert_array_equal(out.numpy().reshape(rows, columns), sums)


@pytest.mark.parametrize("more", ["", LONG], ids=["short", "long"])
def test_rows_are_known(more: str) -> None:
    """Whole rows are stored, so that no store has a mask but those of one lane in each row."""
    cpu = named_cpus()["x86-64-v4"]
    program, _ = compile_ptx(kernel(16, 16, more), "<ptx>", DEVICES[90])
    shape = BlockShape(16, 16, 1, row=16)
    text, _, _ = emit(program, program.functions["k"], shape, cpu.features, attributes(cpu))
    code = str(optimized(text, cpu))
    masks = re.findall(r"masked\.store\S*\(.*<16 x i1> (.*?)\)", code)
    lane = f"<{', '.join(f'i1 {str(i == 3).lower()}' for i in range(16))}>"
    assert [mask for mask in masks if mask != lane] == []
