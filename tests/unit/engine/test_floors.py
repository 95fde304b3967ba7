"""Products and sums rounded down to whole numbers: the interpreter's bits, without another rounding mode."""

from __future__ import annotations

from fractions import Fraction
from math import floor, isfinite

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.compile import attributes
from simt.engine.host import named_cpus
from simt.engine.llvm_kernel import emit
from tests.conftest import shared_device

KERNEL = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 out)
{{
    .reg .b32 %t; .reg .b64 %p, %d; .reg .f32 %a, %b, %c, %r;
    mov.u32 %t, %tid.x; mul.wide.u32 %d, %t, 4;
    ld.param.u64 %p, [a]; add.u64 %p, %p, %d; ld.global.f32 %a, [%p];
    ld.param.u64 %p, [b]; add.u64 %p, %p, %d; ld.global.f32 %b, [%p];
    mov.f32 %c, 0f{bits:08X};
    fma.{rounding}{ftz}.f32 %r, %a, %b, %c;
    ld.param.u64 %p, [out]; add.u64 %p, %p, %d; st.global.f32 [%p], %r;
    ret;
}}
"""
WHOLE = [0x4B400001, 0x4B400000, 0x4B000000, 0x4B000001, 0x4B7FFFFF]
"""12582913 and 12582912; the first two numbers that have no fractions, and the last one without gaps."""
OTHERS = [0x4B800000, 0x4AFFFFFF, 0xCB400001, 0x3F800000]
N = 1024


def operands(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Of any bits, of products from -2^24 to 2^24, of small ones, and of ones that are nearly whole."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 1 << 32, (2, N), "u4").view("f4")
    part = N // 8
    for i, size in enumerate((1.0, 252.0, 2.0**22, 2.0**24, 2.0**-100, 2.0**-150)):
        rows = slice(i * part, (i + 1) * part)
        a[rows], b[rows] = (
            rng.random(part, "f4"),
            np.float32(size) * (rng.random(part, "f4") - np.float32(0.5)),
        )
    rows = slice(6 * part, 7 * part)
    b[rows] = 1.0 + rng.integers(0, 4, part)
    with np.errstate(all="ignore"):
        a[rows] = np.nextafter(
            (rng.integers(-400, 400, part) / b[rows]).astype("f4"), np.float32(rng.choice([-1e9, 1e9]))
        )
    return a, b


def computed(device: simt.Device, text: str, seed: int) -> list[int]:
    a, b = operands(seed)
    out = device.zeros(N, "u4")
    device.load(text)["k"](1, N, (device.array(a), device.array(b), out))
    return out.numpy().tolist()


@pytest.mark.parametrize("ftz", ["", ".ftz"])
@pytest.mark.parametrize("bits", [*WHOLE, *OTHERS], ids=hex)
def test_every_cpu_has_the_interpreters_bits(any_device: simt.Device, bits: int, ftz: str) -> None:
    text = KERNEL.format(bits=bits, rounding="rm", ftz=ftz)
    for seed in range(3):
        assert computed(any_device, text, seed) == computed(shared_device("interpreter"), text, seed)


@pytest.mark.parametrize("bits", WHOLE, ids=hex)
def test_whole_numbers_are_floors(bits: int) -> None:
    """Of exact sums."""
    text, (a, b) = KERNEL.format(bits=bits, rounding="rm", ftz=""), operands(0)
    found = np.array(computed(shared_device("jit"), text, 0), "u4").view("f4")
    c, looked_at = Fraction(float(np.uint32(bits).view("f4"))), 0
    for x, y, result in zip(a.tolist(), b.tolist(), found.tolist(), strict=True):
        if isfinite(x) and isfinite(y) and 2**23 <= (whole := floor(Fraction(x) * Fraction(y) + c)) < 2**24:
            assert result == whole, (x, y)
            looked_at += 1
    assert looked_at > N // 4


def is_in_mode(bits: int, cpu: str, rounding: str = "rm") -> bool:
    """Whether the kernel itself, and not what seldom runs, sets the mode."""
    text, found = KERNEL.format(bits=bits, rounding=rounding, ftz=""), named_cpus()[cpu]
    program = shared_device("jit").load(text).program
    code = emit(program, program.functions["k"], BlockShape(32, 1, 1), found.features, attributes(found))[0]
    return f"call <32 x float> @simt.fma.{rounding}" in code.split("@simt.body")[1]


@pytest.mark.skipif("x86-64" not in named_cpus(), reason="names of x86's CPUs")
def test_who_needs_the_mode() -> None:
    assert [is_in_mode(bits, "x86-64-v3") for bits in WHOLE] == [False] * len(WHOLE)
    assert [is_in_mode(bits, "x86-64-v3") for bits in OTHERS] == [True] * len(OTHERS)
    assert is_in_mode(WHOLE[0], "x86-64-v3", "rp")
