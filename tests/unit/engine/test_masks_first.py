"""Masks of shifted numbers (`simt.analysis.masks_first`): `i / 16 * 8` as compilers write it."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.analysis.joined import asked
from simt.analysis.lower import lower
from simt.analysis.lower_forms import CUT
from simt.analysis.program import Op
from simt.engine.compile import attributes
from simt.engine.host import HOST, find_cpu
from simt.engine.llvm_kernel import emit
from simt.ptx.parser import parse

THREADS = 160
KERNEL = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 first)
{{
    .reg .b32 %i, %t, %h, %m, %f; .reg .b64 %out, %o; .reg .pred %p;
    ld.param.u64 %out, [out]; ld.param.u32 %f, [first];
    mov.u32 %t, %tid.x; add.s32 %i, %t, %f; {number}
    {code}
    mul.wide.u32 %o, %t, 4; add.u64 %out, %out, %o; st.global.u32 [%out], %m; ret;
}}
"""
NUMBERS = {"threads": "", "three times": "mul.lo.s32 %i, %i, 3;", "times 8": "shl.b32 %i, %i, 3;"}
CODES = {
    "unsigned": ("shr.u32 %h, %i, {n}; and.b32 %m, %h, {mask};", lambda i, n, mask: (i >> n) & mask),
    "signed": (
        "shr.s32 %h, %i, {n}; and.b32 %m, {mask}, %h;",
        lambda i, n, mask: (i.view("i4") >> n).view("u4") & mask,
    ),
    "another number meanwhile": (
        "shr.u32 %h, %i, {n}; add.s32 %i, %i, 77; and.b32 %m, %h, {mask}; add.s32 %m, %m, %i;",
        lambda i, n, mask: ((i >> n) & mask) + i + np.uint32(77),
    ),
    "by one branch": (
        "shr.u32 %h, %i, {n}; setp.gt.u32 %p, %t, 50; @%p shr.u32 %h, %i, 2; and.b32 %m, %h, {mask};",
        lambda i, n, mask: np.where(np.arange(THREADS) > 50, i >> 2, i >> n) & mask,
    ),
}


@pytest.mark.parametrize("engine", ["jit", "interpreter"])
@pytest.mark.parametrize("first", [0, 5, -64])
@pytest.mark.parametrize(
    ("n", "mask"), [(1, -8), (1, 0x7FFFFFF8), (3, 0x1FFFFFFC), (2, 24), (4, 7), (31, 2), (2, 0x80000004)]
)
@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("number", NUMBERS)
def test_what_is_masked(number: str, code: str, n: int, mask: int, first: int, engine: str) -> None:
    text, of = CODES[code]
    device = simt.Device("sm_75", engine=engine)
    out = device.zeros(THREADS, "u4")
    kernel = KERNEL.format(number=NUMBERS[number], code=text.format(n=n, mask=mask))
    device.load(kernel)["k"](1, THREADS, (out, np.int32(first)))
    i = (np.arange(THREADS) + first).astype("i4") * {"threads": 1, "three times": 3, "times 8": 8}[number]
    np.testing.assert_array_equal(out.numpy(), of(i.astype("i4").view("u4"), n, np.uint32(mask % 2**32)))


@pytest.mark.parametrize(("code", "is_cut"), [("unsigned", True), ("by one branch", False)])
def test_rows_follow(code: str, is_cut: bool) -> None:
    """16 lanes have one number: warps are looked at as two rows."""
    text = KERNEL.format(number="", code=CODES[code][0].format(n=1, mask=0x7FFFFFF8))
    tree, problems = parse(text)
    assert tree is not None
    assert not problems.errors
    program = lower(tree)
    cpu, kernel = find_cpu(HOST), program.functions["k"]
    _, unit, _ = emit(
        program, kernel, asked((THREADS, 1, 1), (1, 1, 1), kernel), cpu.features, attributes(cpu)
    )
    ops = [op for block in unit.kernel.blocks for op in block.ops if isinstance(op, Op)]
    assert any(op.form is CUT for op in ops) == is_cut
