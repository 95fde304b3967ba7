"""Floating-point programs. Tolerances are bounds that follow from the operations, never guesses."""

from __future__ import annotations

import math

import numpy as np
import pytest

import simt
from tests.programs.harness import assert_within, cover, load, rng

ULP = 2.0**-24
"""Half a unit in the last place of 1 in single precision: the relative error of one rounding."""


def escape_times(
    width: int, height: int, left: float, top: float, step: float, limit: int, dtype: str
) -> np.ndarray:
    """Step by step what the kernel computes, each operation rounded once to `dtype`."""
    t = np.dtype(dtype).type
    cx = np.broadcast_to(t(left) + np.arange(width).astype(dtype) * t(step), (height, width))
    cy = np.broadcast_to((t(top) - np.arange(height).astype(dtype) * t(step))[:, None], (height, width))
    x, y = np.zeros((height, width), dtype), np.zeros((height, width), dtype)
    times, inside = np.zeros((height, width), "i4"), np.ones((height, width), bool)
    with np.errstate(all="ignore"):
        for _ in range(limit):
            xx, yy = x * x, y * y
            inside &= ~(xx + yy > t(4))
            x, y = xx - yy + cx, t(2) * x * y + cy
            times += inside
    return times


@pytest.mark.parametrize(("kernel", "dtype"), [("mandelbrot", "f4"), ("mandelbrot_f64", "f8")])
@pytest.mark.parametrize(("width", "height", "block"), [(64, 48, (16, 16)), (51, 37, (13, 5))])
def test_mandelbrot(
    device: simt.Device, kernel: str, dtype: str, width: int, height: int, block: tuple[int, int]
) -> None:
    view = (-2.25, 1.25, 2.5 / height, 60)
    times = device.array(np.full((height, width), -1, "i4"))
    grid = (cover(width, block[0]), cover(height, block[1]))
    load(device, "mandelbrot")[kernel](grid, block, (times, width, height, *view))
    np.testing.assert_array_equal(times.numpy(), escape_times(width, height, *view, dtype))


@pytest.mark.parametrize("n", [1, 64, 100])
def test_nbody(device: simt.Device, n: int) -> None:
    bodies = rng().uniform(-1, 1, (n, 4)).astype("f4")
    softening = np.float32(0.01)
    result = device.zeros((n, 3), "f4")
    load(device, "nbody")["accelerations"](
        (cover(n, 64),), (64,), (device.array(bodies), result, n, softening)
    )
    wide = bodies.astype("f8")
    delta = wide[None, :, :3] - wide[:, None, :3]
    weight = wide[None, :, 3] * ((delta**2).sum(2) + float(softening)) ** -1.5
    terms = weight[..., None] * delta
    # rsqrt.approx is within 2^-22.9 and enters three times; about 16 roundings a term, n in the sum.
    bound = (3 * 2**-22.9 + 16 * ULP + n * ULP) * np.abs(terms).sum(1)
    assert_within(result.numpy(), terms.sum(1), bound)


def option_prices(
    s: np.ndarray, k: np.ndarray, t: np.ndarray, rate: float, vol: float
) -> tuple[np.ndarray, np.ndarray]:
    cdf = np.vectorize(lambda x: 0.5 * math.erfc(-x / math.sqrt(2)))
    d1 = (np.log(s / k) + (rate + vol * vol / 2) * t) / (vol * np.sqrt(t))
    d2 = d1 - vol * np.sqrt(t)
    discounted = k * np.exp(-rate * t)
    return s * cdf(d1) - discounted * cdf(d2), discounted * cdf(-d2) - s * cdf(-d1)


@pytest.mark.parametrize(("kernel", "dtype"), [("black_scholes_f32", "f4"), ("black_scholes_f64", "f8")])
def test_black_scholes(device: simt.Device, kernel: str, dtype: str) -> None:
    n = 500
    s, k = (rng(seed).uniform(5, 100, n).astype(dtype) for seed in (1, 2))
    t = rng(3).uniform(0.25, 10, n).astype(dtype)
    rate, vol = (float(np.dtype(dtype).type(v)) for v in (0.02, 0.3))
    call, put = device.zeros(n, dtype), device.zeros(n, dtype)
    arguments = (*(device.array(v) for v in (s, k, t)), call, put, rate, vol, n)
    load(device, "black_scholes")[kernel]((cover(n, 96),), (96,), arguments)
    wide = [v.astype("f8") for v in (s, k, t)]
    # d1 is good to about 8 roundings over vol*sqrt(t) >= 0.15, its density is at most 0.4, and the
    # functions are within 4 units: 32 roundings of the terms' size, s and k, cover it.
    bound = 32 * np.finfo(dtype).eps / 2 * (wide[0] + wide[1])
    for actual, expected in zip((call, put), option_prices(*wide, rate, vol)):
        assert_within(actual.numpy(), expected, bound)


def test_half_axpy(device: simt.Device) -> None:
    n = 1000
    x, y = (rng(s).standard_normal(n).astype("f2") for s in (1, 2))
    out = device.array(y)
    load(device, "half_precision")["half_axpy"]((cover(n, 128),), (128,), (n, 0.3, device.array(x), out))
    np.testing.assert_array_equal(out.numpy(), np.float16(0.3) * x + y)


def test_half_fma_of_pairs(device: simt.Device) -> None:
    """Multiples of 1/256: product and sum are exact in double, so there is one rounding, to half."""
    n = 333
    a, b, c = ((rng(s).integers(-1024, 1024, (n, 2)) / 256).astype("f2") for s in (3, 4, 5))
    out = device.array(c)
    load(device, "half_precision")["half2_fma"](
        (cover(n, 50),), (50,), (n, device.array(a), device.array(b), out)
    )
    np.testing.assert_array_equal(out.numpy(), (a.astype("f8") * b + c).astype("f2"))


def test_every_half_converts(device: simt.Device) -> None:
    halves = np.arange(1 << 16, dtype="u2").view("f2")
    wide, doubled, less = (
        device.zeros(1 << 16, "f4"),
        device.zeros(1 << 16, "f2"),
        device.zeros(1 << 16, "u1"),
    )
    kernel = load(device, "half_precision")["half_to_float"]
    kernel((256,), (256,), (1 << 16, device.array(halves), wide, doubled, less))
    with np.errstate(all="ignore"):
        twice = (2 * halves.astype("f4")).astype("f2")
        np.testing.assert_array_equal(wide.numpy(), halves.astype("f4"))
        np.testing.assert_array_equal(doubled.numpy(), twice)
        np.testing.assert_array_equal(less.numpy(), halves < twice)
    numbers = ~np.isnan(halves)
    np.testing.assert_array_equal(np.signbit(wide.numpy())[numbers], np.signbit(halves)[numbers])
