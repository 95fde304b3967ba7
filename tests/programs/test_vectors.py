"""Element-wise programs: a guard at the end, a grid-stride loop, 16-byte accesses."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from tests.programs.harness import assert_within, cover, eighths, load, rng


@pytest.mark.parametrize(
    ("n", "block"), [(1, 1), (33, 32), (1000, 128), (4097, 256), (777, 57), (2050, 1024)]
)
def test_vector_add(device: simt.Device, n: int, block: int) -> None:
    a, b = (rng(s).standard_normal(n, dtype="f4") for s in (1, 2))
    total = device.zeros(n + 3, "f4")
    kernel = load(device, "vector_add")["vector_add"]
    kernel((cover(n, block),), (block,), (device.array(a), device.array(b), total, n))
    np.testing.assert_array_equal(total.numpy(), np.append(a + b, [0, 0, 0]))


@pytest.mark.parametrize(("n", "block"), [(1, 32), (1025, 256), (300, 100)])
def test_saxpy_exact(device: simt.Device, n: int, block: int) -> None:
    x, y = (eighths(n, s).astype("f4") for s in (1, 2))
    out = device.array(y)
    load(device, "saxpy")["saxpy"]((cover(n, block),), (block,), (n, 2.5, device.array(x), out))
    np.testing.assert_array_equal(out.numpy(), np.float32(2.5) * x + y)


def test_saxpy_is_fused(device: simt.Device) -> None:
    """One rounding: within half a unit of the last place of the exact result."""
    n, a = 2000, np.float32(0.1)
    x, y = (rng(s).standard_normal(n, dtype="f4") for s in (3, 4))
    out = device.array(y)
    load(device, "saxpy")["saxpy"]((cover(n, 96),), (96,), (n, a, device.array(x), out))
    exact = np.longdouble(a) * x.astype(np.longdouble) + y
    assert_within(out.numpy(), exact, 0.5000001 * np.spacing(np.abs(exact).astype("f4")).astype("f8"))


@pytest.mark.parametrize("n", [1, 500, 5000])
def test_daxpy_with_a_grid_stride(device: simt.Device, n: int) -> None:
    x, y = (eighths(n, s) for s in (5, 6))
    out = device.array(y)
    load(device, "saxpy")["daxpy_strided"]((3,), (70,), (n, -0.75, device.array(x), out))
    np.testing.assert_array_equal(out.numpy(), -0.75 * x + y)


def test_saxpy_of_vectors(device: simt.Device) -> None:
    n = 333
    x, y = (eighths(4 * n, s).astype("f4").reshape(n, 4) for s in (7, 8))
    out = device.array(y)
    load(device, "saxpy")["saxpy_vector"]((cover(n, 64),), (64,), (n, 3.0, device.array(x), out))
    np.testing.assert_array_equal(out.numpy(), 3 * x + y)
