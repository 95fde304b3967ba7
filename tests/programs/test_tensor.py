"""Products of matrices by warps. Every product and partial sum is exact, whatever the order: no tolerance."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from tests.programs.harness import eighths, load, rng


@pytest.mark.parametrize(("warps", "shape"), [(1, (16, 16, 16)), (2, (64, 48, 80))])
def test_scaled(device: simt.Device, warps: int, shape: tuple[int, int, int]) -> None:
    rows, columns, inner = shape
    a, b, c = (
        eighths(m * n, m + n).reshape(m, n) for m, n in ((rows, inner), (columns, inner), (rows, columns))
    )
    d = device.zeros((rows, columns), "f4")
    arrays = (device.array(a.astype("f2")), device.array(b.astype("f2")), device.array(c.astype("f4")), d)
    grid = (columns // 16, rows // 16 // warps)
    load(device, "tensor")["scaled"](grid, (32, warps), (*arrays, columns, inner, 0.5, -2.0))
    np.testing.assert_array_equal(d.numpy(), 0.5 * (a @ b.T) - 2 * c)


def test_of_bytes(device: simt.Device) -> None:
    rows, columns, inner = 64, 96, 48
    a = rng(1).integers(-128, 128, (rows, inner), dtype="i1")
    b = rng(2).integers(-128, 128, (inner, columns), dtype="i1")
    d = device.zeros((columns, rows), "i4")
    arguments = (device.array(a), device.array(b), d, rows, columns, inner)
    load(device, "tensor")["of_bytes"]((columns // 32, rows // 32), 128, arguments)
    np.testing.assert_array_equal(d.numpy().T, a.astype("i4") @ b.astype("i4"))


def test_by_itself(device: simt.Device) -> None:
    """Values of more than 11 bits are rounded to nearest, and away from zero where two are as near."""
    a = rng(3).integers(-2, 3, (16, 16)).astype("f4")
    signs = np.where(a[:, 0] < 0, -1, 1)
    a[:, 0] = signs * 2049 / 256
    d = device.zeros((16, 16), "f4")
    load(device, "tensor")["by_itself"](1, 32, (device.array(a), d, 16))
    a[:, 0] = signs * 2050 / 256
    np.testing.assert_array_equal(d.numpy(), a @ a.T)
