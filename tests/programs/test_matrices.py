"""Two-dimensional programs: tiles in shared memory, barriers in a loop, constant memory."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from tests.programs.harness import cover, eighths, load, rng

BUILDS = ("matmul", "matmul.sm_90")


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize(("rows", "inner", "columns"), [(16, 16, 16), (1, 1, 1), (33, 20, 47), (17, 65, 5)])
def test_matmul_of_integers(device: simt.Device, build: str, rows: int, inner: int, columns: int) -> None:
    a = rng(1).integers(-(2**31), 2**31, (rows, inner), dtype="i4")
    b = rng(2).integers(-(2**31), 2**31, (inner, columns), dtype="i4")
    c = device.zeros((rows, columns), "i4")
    grid = (cover(columns, 16), cover(rows, 16))
    arguments = (device.array(a), device.array(b), c, rows, inner, columns)
    load(device, build)["matmul_s32"](grid, (16, 16), arguments)
    np.testing.assert_array_equal(c.numpy(), a @ b)


@pytest.mark.parametrize("build", BUILDS)
def test_matmul_of_floats(device: simt.Device, build: str) -> None:
    """Every product and partial sum is exact, whatever the order: no tolerance is needed."""
    rows, inner, columns = 30, 50, 35
    a, b = (eighths(m * n, s).reshape(m, n) for s, m, n in ((3, rows, inner), (4, inner, columns)))
    c = device.zeros((rows, columns), "f4")
    arguments = (device.array(a.astype("f4")), device.array(b.astype("f4")), c, rows, inner, columns)
    load(device, build)["matmul_f32"]((cover(columns, 16), cover(rows, 16)), (16, 16), arguments)
    np.testing.assert_array_equal(c.numpy(), a @ b)


@pytest.mark.parametrize("shape", [(32, 32), (45, 70), (1, 100), (129, 31)])
def test_transpose(device: simt.Device, shape: tuple[int, int]) -> None:
    rows, columns = shape
    matrix = rng().standard_normal(shape, dtype="f4")
    out = device.zeros((columns, rows), "f4")
    grid = (cover(columns, 32), cover(rows, 32))
    load(device, "transpose")["transpose"](grid, (32, 8), (device.array(matrix), out, rows, columns))
    np.testing.assert_array_equal(out.numpy(), matrix.T)


def stencil_reference(grid: np.ndarray, weights: np.ndarray) -> np.ndarray:
    out = np.full_like(grid, 11)
    inner = (slice(1, -1), slice(1, -1))
    neighbours = (grid[inner], grid[1:-1, :-2], grid[1:-1, 2:], grid[:-2, 1:-1], grid[2:, 1:-1])
    out[inner] = sum(w * part for w, part in zip(weights, neighbours))
    out[:, [0, -1]] = -7
    return out


def test_stencil_with_constant_weights(device: simt.Device) -> None:
    height, width = 37, 53
    weights = np.array([0.5, 0.125, -0.25, 2, 1], "f4")
    grid = eighths(height * width).astype("f4").reshape(height, width)
    module = load(device, "stencil")
    module.symbol("weights").numpy().view("f4")[:] = weights
    out = device.zeros((height, width), "f4")
    kernel, shape = module["stencil"], (cover(width, 16), cover(height, 4))
    kernel(shape, (16, 4), (device.array(grid), out, width, height))
    np.testing.assert_array_equal(out.numpy(), stencil_reference(grid, weights))
    again = device.zeros((height, width), "f4")
    kernel(shape, (16, 4), (out, again, width, height))
    np.testing.assert_array_equal(again.numpy(), stencil_reference(out.numpy(), weights))
    assert module.symbol("steps_done").numpy().view("u4").item() == 2
