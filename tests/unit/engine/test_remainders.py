"""Remainders by powers of two of numbers with a sign: `simt.analysis.remainders`."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.analysis.joined import asked
from simt.analysis.lower import lower
from simt.analysis.lower_forms import CUT
from simt.analysis.program import Op
from simt.engine.llvm_kernel import emit
from simt.ptx.parser import parse

CTAS = 5
HEAD = ".version 7.5\n.target sm_75\n.address_size 64\n"


def kernel(number: str, shift: int = 5, difference: str = "sub.s32 %c, %i, %b;") -> str:
    """`out[2 * i + 1 - first] = i % 2^shift / 2 + 100 * (i / 2^shift)`, as nvcc writes it, for what `number`
    puts into %i."""
    return f"""{HEAD}
.visible .entry k(.param .u64 out, .param .u32 first)
{{
    .reg .b32 %i, %t, %n, %c, %b, %s, %f; .reg .b64 %out, %o;
    ld.param.u64 %out, [out]; ld.param.u32 %f, [first];
    mov.u32 %n, %ntid.x; mov.u32 %i, %ctaid.x; mov.u32 %t, %tid.x; mad.lo.s32 %t, %n, %i, %t; {number}
    shr.s32 %s, %i, 31; shr.u32 %s, %s, {32 - shift}; add.s32 %s, %i, %s; and.b32 %b, %s, {-(1 << shift)};
    {difference}
    shr.u32 %b, %c, 31; add.s32 %b, %c, %b; shr.s32 %b, %b, 1; shr.s32 %s, %s, {shift};
    mad.lo.s32 %s, %s, 100, %b; sub.s32 %i, %i, %f; mul.wide.s32 %o, %i, 4; add.u64 %out, %out, %o;
    st.global.u32 [%out], %s; ret;
}}
"""


OF_REMAINDER = """shr.s32 %s, %t, 31; shr.u32 %s, %s, 26; add.s32 %s, %t, %s; and.b32 %b, %s, -64;
    sub.s32 %i, %t, %b;"""
NUMBERS = {
    "threads": ("mov.u32 %i, %t;", lambda t: t),
    "twice a thread": ("shl.b32 %i, %t, 1;", lambda t: 2 * t),
    "with a halo": ("add.s32 %i, %t, -7;", lambda t: t - 7),
    "far below zero": ("add.s32 %i, %t, -100000;", lambda t: t - 100000),
    "rest of 64": (OF_REMAINDER, lambda t: t % 64),
    "odd steps": ("mad.lo.s32 %i, %t, 3, 1;", lambda t: 3 * t + 1),
}


@pytest.mark.share(4)
@pytest.mark.parametrize("engine", ["jit", "interpreter"])
@pytest.mark.parametrize("threads", [256, 96, 20])
@pytest.mark.parametrize("shift", [1, 4, 5, 9])
@pytest.mark.parametrize("name", NUMBERS)
def test_quotients_and_remainders(name: str, shift: int, threads: int, engine: str) -> None:
    text, of = NUMBERS[name]
    i = of(np.arange(CTAS * threads))
    first = int(i.min())
    device = simt.Device("sm_75", engine=engine)
    out = device.zeros(int(i.max()) - first + 1, "i4")
    device.load(kernel(text, shift))["k"](CTAS, threads, (out, np.int32(first)))
    rest = np.fmod(i, 1 << shift)
    expected = np.zeros_like(out.numpy())
    expected[i - first] = 100 * ((i - rest) >> shift) + np.trunc(rest / 2)
    assert np.array_equal(out.numpy(), expected)


def masks(text: str, grid: tuple[int, int, int] = (64, 1, 1)) -> int:
    """Masks in place of differences, in the kernel that code is made of."""
    tree, problems = parse(text, "k.ptx")
    assert tree is not None
    assert not problems.errors
    program = lower(tree)
    function = program.functions["k"]
    _, unit, _ = emit(program, function, asked((256, 1, 1), grid, function), frozenset({"avx2"}), "")
    return sum(isinstance(op, Op) and op.form is CUT for op in unit.kernel.ops())


@pytest.mark.parametrize(
    ("number", "difference", "expected"),
    [
        ("threads", "sub.s32 %c, %i, %b;", 1),
        ("twice a thread", "sub.s32 %c, %i, %b;", 1),
        ("rest of 64", "sub.s32 %c, %i, %b;", 2),
        ("with a halo", "sub.s32 %c, %i, %b;", 0),  # which may be below zero
        ("threads", "sub.s32 %c, %b, %i;", 0),
        ("threads", "sub.s32 %c, %n, %b;", 0),  # of another number
        ("threads", "add.s32 %c, %i, %b;", 0),
        ("threads", "and.b32 %b, %s, -33; sub.s32 %c, %i, %b;", 0),
    ],
)
def test_masks_in_place_of_differences(number: str, difference: str, expected: int) -> None:
    assert masks(kernel(NUMBERS[number][0], difference=difference)) == expected


def test_numbers_of_large_grids_may_have_a_sign() -> None:
    assert masks(kernel(NUMBERS["threads"][0]), (1 << 23, 1, 1)) == 0
