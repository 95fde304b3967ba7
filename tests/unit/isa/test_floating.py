"""Meanings of the floating-point chapter against exact arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from simt.ptx.types import F32, F64, TYPES, Type
from tests.property import oracle
from tests.unit.isa.columns import as_column, assert_bits, float_bits, flushed
from tests.unit.isa.meaning import ptx_1, run

ROUNDINGS = ("rn", "rz", "rm", "rp")
ONE = {F32: 0x3F800000, F64: 0x3FF0000000000000}
Exact = Callable[..., "int | None"]

OPERATIONS: list[tuple[str, int, Exact]] = [
    ("add", 2, oracle.fadd),
    ("sub", 2, oracle.fsub),
    ("mul", 2, oracle.fmul),
    ("fma", 3, oracle.fma),
    ("mad", 3, oracle.fma),
    ("div", 2, oracle.fdiv),
    ("rcp", 1, lambda t, a, r: oracle.fdiv(t, ONE[t], a, r)),
    ("sqrt", 1, oracle.fsqrt),
]


@pytest.mark.parametrize("t", [F32, F64], ids=str)
@pytest.mark.parametrize(("name", "count", "exact"), OPERATIONS, ids=[o[0] for o in OPERATIONS])
def test_rounded_operations(name: str, count: int, exact: Exact, t: Type) -> None:
    bits = float_bits(t, count)
    columns = [as_column(t, b) for b in bits]
    rows = [tuple(int(v) for v in row) for row in zip(*bits)]
    for rounding in ROUNDINGS:
        expected = [exact(t, *row, rounding) for row in rows]
        assert_bits(t, run(f"{name}.{rounding}.{t.name}", *columns), expected)


@pytest.mark.parametrize(("name", "count", "exact"), OPERATIONS, ids=[o[0] for o in OPERATIONS])
def test_flushing_of_operands_and_results(name: str, count: int, exact: Exact) -> None:
    bits = float_bits(F32, count)
    results = [exact(F32, *(flushed(F32, int(v)) for v in row), "rn") for row in zip(*bits)]
    expected = [None if r is None else flushed(F32, r) for r in results]
    assert_bits(F32, run(f"{name}.rn.ftz.f32", *(as_column(F32, b) for b in bits)), expected)


@pytest.mark.parametrize("name", ["add", "sub", "mul"])
def test_rounding_defaults_to_nearest(name: str) -> None:
    for t in (F32, F64):
        columns = [as_column(t, b) for b in float_bits(t, 2)]
        assert np.array_equal(
            run(f"{name}.{t.name}", *columns), run(f"{name}.rn.{t.name}", *columns), equal_nan=True
        )


@pytest.mark.parametrize(
    ("opcode", "name", "count"),
    [("add.sat", "add", 2), ("mul.sat", "mul", 2), ("sub.sat", "sub", 2), ("fma.rn.sat", "fma.rn", 3)],
)
def test_saturation(opcode: str, name: str, count: int) -> None:
    columns = [as_column(F32, b) for b in float_bits(F32, count)]
    plain = run(f"{name}.f32", *columns)
    wanted = np.where(np.isnan(plain), 0, np.clip(plain, 0, 1)).astype(np.float32) + np.float32(0)
    assert np.array_equal(run(f"{opcode}.f32", *columns).view(np.uint32), wanted.view(np.uint32))


def truncated_mad(a: int, b: int, c: int) -> int | None:
    """Table 42 for finite operands: flushed, the product cut to 24 bits with any exponent, one rounding."""
    f = oracle.float_format(F32)
    a, b, c = (flushed(F32, v) for v in (a, b, c))
    if f.is_zero(c):
        product = oracle.fmul(F32, a, b, "rn")
        total = None if product is None else oracle.fadd(F32, flushed(F32, product), c, "rn")
        return None if total is None else flushed(F32, total)
    product = f.value(a) * f.value(b)
    scale = product.numerator.bit_length() - product.denominator.bit_length() - 30
    while abs(product) / Fraction(2) ** scale >= 2**24:
        scale += 1
    cut = int(abs(product) / Fraction(2) ** scale) * Fraction(2) ** scale * (-1 if product < 0 else 1)
    return flushed(F32, f.encode(cut + f.value(c), "rn"))


def test_mad_before_compute_capability_2() -> None:
    f = oracle.float_format(F32)
    bits = float_bits(F32, 3)
    rows = [tuple(int(v) for v in row) for row in zip(*bits)]
    finite = [i for i, row in enumerate(rows) if all(v & ~f.sign < f.infinity for v in row)]
    columns = [as_column(F32, b[finite]) for b in bits]
    expected = [truncated_mad(*rows[i]) for i in finite]
    assert_bits(F32, run("mad.f32", *columns, env=ptx_1(machine=13)), expected)


def test_mad_of_ptx_1_is_fused_on_newer_machines() -> None:
    columns = [as_column(F32, b) for b in float_bits(F32, 3)]
    fused = run("fma.rn.ftz.f32", *columns)
    assert np.array_equal(run("mad.f32", *columns, env=ptx_1(machine=20)), fused, equal_nan=True)
    old = run("mad.f32", *columns, env=ptx_1(machine=13))
    assert not np.array_equal(old, fused, equal_nan=True)


# ---------------------------------------------------------------- sign, minimum, maximum


def is_nan(t: Type, bits: int) -> bool:
    f = oracle.float_format(t)
    return bits & ~f.sign > f.sign - (1 << f.mantissa)


def nan_of(t: Type, bits: int) -> int:
    """What an H200 makes of one NaN (`tests/hw`): always the same in f32, made quiet in f64."""
    return 0x7FFFFFFF if t == F32 else bits | 1 << 51


@pytest.mark.parametrize("t", [F32, F64], ids=str)
def test_signs(t: Type) -> None:
    f = oracle.float_format(t)
    a, b = float_bits(t, 2)
    rows = [(int(x), int(y)) for x, y in zip(a, b)]
    x, y = as_column(t, a), as_column(t, b)
    changed = {"neg": lambda v: v ^ f.sign, "abs": lambda v: v & ~f.sign}
    for name, change in changed.items():
        expected = [nan_of(t, v) if is_nan(t, v) else change(v) for v, _ in rows]
        assert [int(v) for v in run(f"{name}.{t.name}", x).view(a.dtype)] == expected
    signed = [w & ~f.sign | v & f.sign for v, w in rows]
    assert [int(v) for v in run(f"copysign.{t.name}", x, y).view(a.dtype)] == signed


@pytest.mark.parametrize("t", [F32, F64], ids=str)
@pytest.mark.parametrize(("name", "exact"), [("min", oracle.fmin), ("max", oracle.fmax)])
def test_minimum_and_maximum(t: Type, name: str, exact: Exact) -> None:
    bits = float_bits(t, 2)
    expected = [exact(t, int(a), int(b)) for a, b in zip(*bits)]
    assert_bits(t, run(f"{name}.{t.name}", *(as_column(t, b) for b in bits)), expected)


@pytest.mark.parametrize(("name", "exact"), [("min", oracle.fmin), ("max", oracle.fmax)])
def test_variants_of_minimum_and_maximum(name: str, exact: Exact) -> None:
    f = oracle.float_format(F32)
    bits = float_bits(F32, 2)
    rows = [(int(a), int(b)) for a, b in zip(*bits)]
    columns = [as_column(F32, b) for b in bits]
    nan = [f.is_nan(a) or f.is_nan(b) for a, b in rows]
    strict = [None if n else exact(F32, a, b) for n, (a, b) in zip(nan, rows)]
    assert_bits(F32, run(f"{name}.NaN.f32", *columns), strict)
    sizes = [exact(F32, a & ~f.sign, b & ~f.sign) for a, b in rows]
    signed = [None if s is None else s | (a ^ b) & f.sign for s, (a, b) in zip(sizes, rows)]
    assert_bits(F32, run(f"{name}.xorsign.abs.f32", *columns), signed)
    assert_bits(
        F32, run(f"{name}.NaN.xorsign.abs.f32", *columns), [None if n else s for n, s in zip(nan, signed)]
    )
    flushing = [exact(F32, flushed(F32, a), flushed(F32, b)) for a, b in rows]
    assert_bits(F32, run(f"{name}.ftz.f32", *columns), flushing)


@pytest.mark.parametrize("t", [F32, F64], ids=str)
def test_classes(t: Type) -> None:
    f = oracle.float_format(t)
    (bits,) = float_bits(t, 1)
    sizes = [int(v) & ~f.sign for v in bits]
    normal = 1 << f.mantissa
    classes: dict[str, Callable[[int], bool]] = {
        "finite": lambda v: v < f.infinity,
        "infinite": lambda v: v == f.infinity,
        "number": lambda v: v <= f.infinity,
        "notanumber": lambda v: v > f.infinity,
        "normal": lambda v: v == 0 or normal <= v < f.infinity,
        "subnormal": lambda v: 0 < v < normal,
    }
    for name, belongs in classes.items():
        result = run(f"testp.{name}.{t.name}", as_column(t, bits))
        assert [bool(v) for v in result] == [belongs(v) for v in sizes], name


# ---------------------------------------------------------------- PTX 1.x


@pytest.mark.parametrize("name", ["add", "sub", "mul", "min", "max"])
def test_single_precision_flushes_in_ptx_1(name: str) -> None:
    columns = [as_column(F32, b) for b in float_bits(F32, 2)]
    assert np.array_equal(
        run(f"{name}.f32", *columns, env=ptx_1()), run(f"{name}.ftz.f32", *columns), equal_nan=True
    )


@pytest.mark.parametrize(
    ("legacy", "modern"),
    [
        ("div.f32", "div.approx.ftz.f32"),
        ("rcp.f32", "rcp.approx.ftz.f32"),
        ("sqrt.f64", "sqrt.rn.f64"),
        ("div.f64", "div.rn.f64"),
        ("ex2.f32", "ex2.approx.ftz.f32"),
    ],
)
def test_legacy_spellings(legacy: str, modern: str) -> None:
    t = TYPES[legacy[-3:]]
    columns = [as_column(t, b) for b in float_bits(t, 2 if legacy.startswith("div") else 1)]
    assert np.array_equal(run(legacy, *columns, env=ptx_1(minor=3)), run(modern, *columns), equal_nan=True)


@pytest.mark.parametrize(("t", "signalling"), [("f32", 0x7FA00000), ("f64", 0x7FF4 << 48)])
@pytest.mark.parametrize("opcode", ["min", "max"])
def test_a_number_wins_over_signalling_nans_in_every_lane(opcode: str, t: str, signalling: int) -> None:
    """37 lanes: more than one of NumPy's vectors, and some left over."""
    size = int(t[1:]) // 8
    nan, one = np.full(37, signalling, f"u{size}").view(f"f{size}"), np.ones(37, f"f{size}")
    assert np.array_equal(run(f"{opcode}.{t}", nan, one), one)
    assert np.array_equal(run(f"{opcode}.{t}", one, nan), one)
