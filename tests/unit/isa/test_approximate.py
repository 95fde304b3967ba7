"""The approximate functions against mpmath: bounds and special cases of PTX 1.4 tables 43 and 48 to 54."""

from __future__ import annotations

from collections.abc import Callable

import mpmath
import numpy as np
import pytest

from tests.unit.isa.meaning import Array, run

F32 = np.float32
TINY = F32(1e-40)
INF, NAN = F32(np.inf), F32(np.nan)
Exact = Callable[[mpmath.mpf], mpmath.mpf]


def samples(low: float, high: float, count: int = 2000) -> Array:
    """Evenly spread and random single-precision numbers from low to high."""
    random = np.random.default_rng(11)
    values = np.concatenate([np.linspace(low, high, count), random.uniform(low, high, count)])
    return values.astype(F32)


def magnitudes(low: int, high: int, count: int = 4000) -> Array:
    """Positive numbers spread evenly over the exponents from 2^low to 2^high."""
    random = np.random.default_rng(12)
    return np.exp2(random.uniform(low, high, count)).astype(F32)


def exact(function: Exact, x: Array) -> Array:
    """The exact values, to the 60 bits of `longdouble` at least where that has them."""
    return np.array([float(function(mpmath.mpf(float(v)))) for v in x])


def worst_absolute(opcode: str, function: Exact, x: Array) -> float:
    return float(np.max(np.abs(run(opcode, x).astype(np.float64) - exact(function, x))))


def worst_relative(opcode: str, function: Exact, x: Array) -> float:
    wanted = exact(function, x)
    return float(np.max(np.abs(run(opcode, x).astype(np.float64) - wanted) / np.abs(wanted)))


def reciprocal_root(x: mpmath.mpf) -> mpmath.mpf:
    return 1 / mpmath.sqrt(x)


def log2(x: mpmath.mpf) -> mpmath.mpf:
    return mpmath.log(x, 2)


def power_of_two(x: mpmath.mpf) -> mpmath.mpf:
    return mpmath.power(2, x)


# ---------------------------------------------------------------- bounds


@pytest.mark.parametrize("ftz", ["", ".ftz"])
def test_bounds_in_the_primary_ranges(ftz: str) -> None:
    assert worst_absolute(f"rcp.approx{ftz}.f32", lambda x: 1 / x, samples(1, 2)) <= 2**-23.0
    assert worst_absolute(f"rsqrt.approx{ftz}.f32", reciprocal_root, samples(1, 4)) <= 2**-22.4
    assert worst_absolute(f"sin.approx{ftz}.f32", mpmath.sin, samples(0, np.pi / 2)) <= 2**-20.9
    assert worst_absolute(f"cos.approx{ftz}.f32", mpmath.cos, samples(0, np.pi / 2)) <= 2**-20.9
    assert worst_absolute(f"lg2.approx{ftz}.f32", log2, samples(1, 2)) <= 2**-22.6
    assert worst_absolute(f"ex2.approx{ftz}.f32", power_of_two, samples(0, 1)) <= 2**-22.5


def test_relative_errors_over_all_exponents() -> None:
    everything = magnitudes(-125, 125)
    assert worst_relative("rcp.approx.f32", lambda x: 1 / x, everything) <= 2**-23
    assert worst_relative("rsqrt.approx.f32", reciprocal_root, everything) <= 2**-23.3
    assert worst_relative("sqrt.approx.f32", mpmath.sqrt, everything) <= 2**-22.4
    assert worst_relative("ex2.approx.f32", power_of_two, samples(-126, 127)) <= 2**-22.5
    far = everything[(everything > 2) | (everything < 0.5)]
    assert worst_relative("lg2.approx.f32", log2, far) <= 2**-22


def test_logarithms_near_one() -> None:
    near = (1 + np.arange(-200, 200) * 2.0**-24).astype(F32)
    assert worst_absolute("lg2.approx.f32", log2, near) <= 2**-22.6


@pytest.mark.parametrize("limit", [np.pi, 100.0, 2.0**15])
def test_large_angles(limit: float) -> None:
    angles = samples(-limit, limit)
    bound = 2**-20.5 + (limit * 2**-22.5 if limit > 8 else 0)  # as the H200 reduces angles
    assert worst_absolute("sin.approx.f32", mpmath.sin, angles) <= bound
    assert worst_absolute("cos.approx.f32", mpmath.cos, angles) <= bound


def test_huge_angles_stay_within_one() -> None:
    huge = magnitudes(15, 127)
    for opcode in ("sin.approx.f32", "cos.approx.f32"):
        assert np.all(np.abs(run(opcode, huge)) <= 1.0001)


def test_hyperbolic_tangent() -> None:
    x = np.concatenate([samples(-12, 12), magnitudes(-140, 3), -magnitudes(-20, 6)])
    assert worst_relative("tanh.approx.f32", mpmath.tanh, x) <= 2**-11
    zeros = np.array([0.0, -0.0], F32)
    assert np.array_equal(run("tanh.approx.f32", zeros).view(np.uint32), zeros.view(np.uint32))


@pytest.mark.parametrize(
    "opcode", ["div.approx.f32", "div.approx.ftz.f32", "div.full.f32", "div.full.ftz.f32"]
)
def test_quotients_within_two_ulp(opcode: str) -> None:
    a, b = magnitudes(-60, 60), magnitudes(-60, 60)[::-1]
    wanted = a.astype(np.float64) / b.astype(np.float64)
    error = np.abs(run(opcode, a, b).astype(np.float64) - wanted) / np.spacing(wanted.astype(F32))
    assert np.max(error) <= 2


def test_coarse_doubles() -> None:
    x = magnitudes(-120, 120).astype(np.float64) * 1.000000123
    for opcode, wanted in (("rcp.approx.ftz.f64", 1 / x), ("rsqrt.approx.ftz.f64", 1 / np.sqrt(x))):
        result = run(opcode, x)
        assert np.max(np.abs(result - wanted) / wanted) <= 2**-19
        assert np.all(result.view(np.uint64) & 0xFFFFFFFF == 0)


def test_reciprocal_roots_of_doubles() -> None:
    x = magnitudes(-120, 120).astype(np.float64) * 1.000000123
    wanted = np.array([float(reciprocal_root(mpmath.mpf(float(v)))) for v in x])
    assert np.max(np.abs(run("rsqrt.approx.f64", x) - wanted) / wanted) <= 2**-51


# ---------------------------------------------------------------- special cases

MINUS_ZERO = F32(-0.0)
SPECIAL = {
    "rcp": ([-INF, -TINY, MINUS_ZERO, 0, TINY, INF, NAN], [MINUS_ZERO, -INF, -INF, INF, INF, 0, NAN]),
    "sqrt": (
        [-INF, -1, -TINY, MINUS_ZERO, 0, TINY, INF, NAN],
        [NAN, NAN, MINUS_ZERO, MINUS_ZERO, 0, 0, INF, NAN],
    ),
    "rsqrt": ([-INF, -1, -TINY, MINUS_ZERO, 0, TINY, INF, NAN], [NAN, NAN, -INF, -INF, INF, INF, 0, NAN]),
    "sin": ([-INF, -TINY, MINUS_ZERO, 0, TINY, INF, NAN], [NAN, MINUS_ZERO, MINUS_ZERO, 0, 0, NAN, NAN]),
    "cos": ([-INF, -TINY, MINUS_ZERO, 0, TINY, INF, NAN], [NAN, 1, 1, 1, 1, NAN, NAN]),
    "lg2": ([-INF, -1, -TINY, MINUS_ZERO, 0, TINY, INF, NAN], [NAN, NAN, -INF, -INF, -INF, -INF, INF, NAN]),
    "ex2": ([-INF, -TINY, MINUS_ZERO, 0, TINY, INF, NAN], [0, 1, 1, 1, 1, INF, NAN]),
}
"""Inputs and results of the tables of special cases, subnormals flushed."""


def same(a: Array, b: Array) -> bool:
    """Equal, with signs of zeros; any NaN is like any other."""
    return bool(
        np.array_equal(a, b, equal_nan=True) and np.all((np.signbit(a) == np.signbit(b)) | np.isnan(a))
    )


@pytest.mark.parametrize("name", SPECIAL)
def test_special_cases(name: str) -> None:
    inputs, wanted = (np.array(v, F32) for v in SPECIAL[name])
    assert same(run(f"{name}.approx.ftz.f32", inputs), wanted)


@pytest.mark.parametrize("name", ["sin", "cos", "sqrt", "lg2", "ex2"])
def test_special_cases_that_do_not_depend_on_flushing(name: str) -> None:
    inputs, wanted = (np.array(v, F32) for v in SPECIAL[name])
    normal = ~((np.abs(inputs) > 0) & (np.abs(inputs) < 1e-38))
    assert same(run(f"{name}.approx.f32", inputs[normal]), wanted[normal])


def test_subnormals_without_flushing() -> None:
    tiny = np.array([1e-40, 1.4e-45, 1.1e-38], F32)
    assert same(run("sin.approx.f32", tiny), tiny)
    assert np.allclose(run("lg2.approx.f32", tiny), np.log2(tiny.astype(np.float64)), rtol=2**-22, atol=0)
    powers = run("ex2.approx.f32", np.array([-127, -140, -149, -151], F32))
    assert np.array_equal(powers, np.array([2.0**-127, 2.0**-140, 2.0**-149, 0], F32))
    assert np.array_equal(
        run("ex2.approx.ftz.f32", np.array([-127, -126], F32)), np.array([0, 2.0**-126], F32)
    )


def test_division_by_zero_and_by_huge_numbers() -> None:
    a, b = np.array([1, -1, 0, 1, 3], F32), np.array([0, 0, 0, -0.0, 1.5e38], F32)
    for opcode in ("div.approx.ftz.f32", "div.approx.f32"):
        assert same(run(opcode, a, b), np.array([INF, -INF, NAN, -INF, 0], F32))
        assert np.isnan(run(opcode, np.array([INF], F32), np.array([1.5e38], F32)))
    assert same(run("div.full.ftz.f32", a[:4], b[:4]), np.array([INF, -INF, NAN, -INF], F32))


def test_halves_of_approximate_functions() -> None:
    x = np.array([0, 0.5, 1, -3, 15], np.float16)
    wanted = np.exp2(x.astype(np.float64)).astype(np.float16)
    assert np.array_equal(run("ex2.approx.f16", x.view(np.uint16)).view(np.float16), wanted)
    wanted = np.tanh(x.astype(np.float64)).astype(np.float16)
    assert np.array_equal(run("tanh.approx.f16", x.view(np.uint16)).view(np.float16), wanted)
