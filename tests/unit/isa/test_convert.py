"""Conversions: what is allowed (table 70) and what they give."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from simt.isa.convert import FLOATING, INTEGER, conversion_problem
from simt.isa.select import Mismatch, Selection, select
from simt.ptx.types import TYPES, Type
from tests.unit.isa.meaning import Array, ptx_1, run
from tests.unit.isa.ptxas import needs_ptxas, register, rejected

CONVERTED = [TYPES[n] for n in ("u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f16", "f32", "f64")]
ROUNDINGS = [None, *INTEGER.split(), *FLOATING.split()]

Case = tuple[Type, Type, "str | None", bool, bool]


def opcode(case: Case) -> str:
    d, a, rnd, ftz, sat = case
    words = ["cvt", rnd or "", "ftz" if ftz else "", "sat" if sat else "", d.name, a.name]
    return ".".join(w for w in words if w)


def problem(case: Case, version: tuple[int, int]) -> str | None:
    d, a, rnd, ftz, sat = case
    return conversion_problem({"dtype": d, "atype": a, "rnd": rnd, "ftz": ftz, "sat": sat}, version)


def text_differs(case: Case, version: tuple[int, int]) -> bool:
    """Section 10.1.2 says which conversions of PTX 1.x flush: none from or to 64 bits. ptxas takes .ftz from
    64 bits to .f32 all the same, and refuses it from 8 bits to .f32, where it means nothing."""
    d, a, _, ftz, _ = case
    return version < (2, 0) and ftz and d.name == "f32" and a.bits in (8, 64)


@pytest.mark.ptxas
@needs_ptxas
@pytest.mark.parametrize(("version", "target"), [((9, 0), "sm_90"), ((2, 0), "sm_20"), ((1, 4), "sm_13")])
def test_every_combination_is_allowed_or_refused_as_by_ptxas(version: tuple[int, int], target: str) -> None:
    cases = list(product(CONVERTED, CONVERTED, ROUNDINGS, (False, True), (False, True)))
    lines = [f"{opcode(c)} {register(c[0], 0)}, {register(c[1], 1)}" for c in cases]
    refused = rejected(lines, version, target)
    wrong = [opcode(c) for i, c in enumerate(cases) if (problem(c, version) is None) == (i in refused)
             and not text_differs(c, version)]  # fmt: skip
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("f32.s32", "needs a rounding modifier, one of .rn .rz .rm .rp"),
        ("s32.f32", "needs a rounding modifier, one of .rni .rzi .rmi .rpi"),
        ("rn.s32.f32", "takes one of .rni .rzi .rmi .rpi, not .rn"),
        ("rn.f64.f32", "takes no rounding modifier, so not .rn"),
        ("sat.u32.u16", "does not take .sat: every .u16 value is a .u32 value"),
        ("ftz.f64.f16", "does not take .ftz: neither type is .f32"),
    ],
)
def test_refusals_say_why(text: str, message: str) -> None:
    found = select("cvt", tuple(text.split(".")), 2, (9, 0), 90)
    assert isinstance(found, Mismatch)
    assert found.message == f"`cvt.{text}`: {message}"


def ints(t: str, *values: int) -> Array:
    width = int(t[1:])
    return np.array([v % (1 << width) for v in values], f"u{width // 8}")


def floats(*values: float) -> Array:
    return np.array(values, np.float32)


@pytest.mark.parametrize(
    ("text", "source", "expected"),
    [
        ("s32.s8", ints("s8", -1, 127), ints("s32", -1, 127)),
        ("u32.u8", ints("u8", 255), ints("u32", 255)),
        ("u8.u32", ints("u32", 0x1FF), ints("u8", 0xFF)),
        ("sat.u8.s32", ints("s32", -5, 77, 300), ints("u8", 0, 77, 255)),
        ("sat.s8.s32", ints("s32", -500, -77, 300), ints("s8", -128, -77, 127)),
        ("sat.s32.u32", ints("u32", 0xFFFFFFFF, 3), ints("s32", 0x7FFFFFFF, 3)),
        ("sat.u64.s32", ints("s32", -1, 5), ints("u64", 0, 5)),
        ("sat.u32.s64", ints("s64", -1, 1 << 40, 9), ints("u32", 0, 0xFFFFFFFF, 9)),
        ("rni.s32.f32", floats(2.5, 3.5, -2.5, 1e20, -1e20), ints("s32", 2, 4, -2, 2**31 - 1, -(2**31))),
        ("rzi.u32.f32", floats(-1.5, 7.9), ints("u32", 0, 7)),
        ("rmi.s32.f32", floats(-1.5, 1.5), ints("s32", -2, 1)),
        ("rpi.s32.f32", floats(-1.5, 1.5), ints("s32", -1, 2)),
        ("rzi.u8.f32", floats(300.0, -1.0), ints("u8", 255, 0)),
        ("rn.f32.s32", ints("s32", -3, 0x7FFFFFFF), floats(-3, 2.0**31)),
        ("rz.f32.u32", ints("u32", 0xFFFFFFFF), floats(4294967040.0)),
        ("rn.sat.f32.s32", ints("s32", -3, 0, 9), floats(0, 0, 1)),
        ("sat.f32.f32", floats(-1, 0.25, 7, float("nan")), floats(0, 0.25, 1, 0)),
        ("rni.f32.f32", floats(0.5, 1.5, -0.5), floats(0.0, 2.0, -0.0)),
        ("f32.f16", ints("u16", 0x3C00, 0xC000, 0x0001), floats(1.0, -2.0, 2.0**-24)),
        ("rn.f16.f32", floats(1.0, 65520.0, 2.0**-25), ints("u16", 0x3C00, 0x7C00, 0)),
        ("rn.satfinite.f16.f32", floats(1e9, -1e9, float("nan")), ints("u16", 0x7BFF, 0xFBFF, 0x7FFF)),
        ("rn.relu.bf16.f32", floats(-2.0, 2.0, -0.0), ints("u16", 0, 0x4000, 0)),
        ("rna.tf32.f32", floats(1.0, 1.0 + 2.0**-11), ints("u32", 0x3F800000, 0x3F802000)),
        ("rna.tf32.f32", floats(1.0 + 2.0**-12), ints("u32", 0x3F800000)),
        ("rn.f32.bf16", ints("u16", 0x3F80), floats(1.0)),
    ],
)  # fmt: skip
def test_values(text: str, source: Array, expected: Array) -> None:
    result = run(f"cvt.{text}", source)
    assert np.array_equal(
        np.asarray(result).view(f"u{expected.itemsize}"), expected.view(f"u{expected.itemsize}")
    )


def test_flushing() -> None:
    """PTX 1.x flushes single precision unless 64 bits take part; later versions only with .ftz."""
    tiny = np.array([1], np.uint32).view(np.float32)
    assert run("cvt.rpi.s32.f32", tiny, env=ptx_1())[0] == 0
    assert run("cvt.rpi.s32.f32", tiny)[0] == 1
    assert run("cvt.rpi.ftz.s32.f32", tiny)[0] == 0
    assert run("cvt.rpi.s64.f32", tiny, env=ptx_1())[0] == 1
    assert run("cvt.f64.f32", tiny, env=ptx_1())[0] == 2.0**-149
    assert run("cvt.f64.f32", tiny)[0] == 2.0**-149
    assert run("cvt.ftz.f64.f32", tiny)[0] == 0


def test_pairs_hold_the_first_source_above() -> None:
    assert run("cvt.rn.f16x2.f32", floats(1.0), floats(-2.0))[0] == 0x3C00C000
    assert run("cvt.rn.relu.bf16x2.f32", floats(-1.0), floats(2.0))[0] == 0x00004000


def test_packs() -> None:
    low, high = ints("s32", -70000), ints("s32", 70000)
    assert run("cvt.pack.sat.s16.s32", high, low)[0] == 0x7FFF8000
    assert run("cvt.pack.sat.u8.s32.b32", high, low, ints("u32", 0xAABBCCDD))[0] == 0xCCDDFF00


def test_plain_narrowing_and_relu_are_forms_of_their_own() -> None:
    plain = select("cvt", ("rn", "f16", "f32"), 2, (9, 0), 90)
    relu = select("cvt", ("rn", "relu", "f16", "f32"), 2, (9, 0), 90)
    assert isinstance(plain, Selection)
    assert isinstance(relu, Selection)
    assert plain.form.requirement.version == (1, 0)
    assert relu.form.requirement.version == (7, 0)
