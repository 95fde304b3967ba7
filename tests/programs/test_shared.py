"""Dynamic shared memory, and sorting in shared memory."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from tests.programs.harness import load, rng


@pytest.mark.parametrize(("grid", "block"), [(1, 1), (3, 50), (2, 256)])
def test_reverse_in_dynamic_memory(device: simt.Device, grid: int, block: int) -> None:
    values = rng().standard_normal(grid * block)
    out = device.zeros(grid * block, "f8")
    kernel = load(device, "dynamic_shared")["reverse_in_block"]
    kernel((grid,), (block,), (device.array(values), out), shared_mem=8 * block)
    np.testing.assert_array_equal(out.numpy().reshape(grid, block), values.reshape(grid, block)[:, ::-1])


@pytest.mark.parametrize("block", [5, 77, 128])
def test_two_arrays_in_dynamic_memory(device: simt.Device, block: int) -> None:
    values = rng().integers(-1000, 1000, (2, block), dtype="i4")
    out = device.zeros((2, block), "i4")
    kernel = load(device, "dynamic_shared")["carve"]
    kernel((2,), (block,), (device.array(values), out), shared_mem=5 * block)
    t = np.arange(block)
    other = (t + 1) % block
    np.testing.assert_array_equal(out.numpy(), values[:, other] + other * 7 % 256 + 1000 * (t % 4 + 1))


@pytest.mark.parametrize("size", [0, 1000, 40000])
def test_size_of_dynamic_memory(device: simt.Device, size: int) -> None:
    found = device.zeros(1, "u4")
    load(device, "dynamic_shared")["dynamic_size"]((1,), (1,), (found,), shared_mem=size)
    assert found.numpy()[0] == size


@pytest.mark.parametrize(("runs", "block"), [(1, 1), (3, 32), (2, 256), (5, 8)])
def test_bitonic_sort_of_a_block(device: simt.Device, runs: int, block: int) -> None:
    keys = rng().integers(0, 2**32, (runs, 2 * block), dtype="u4")
    out = device.array(keys)
    load(device, "bitonic_sort")["bitonic_block"]((runs,), (block,), (out,))
    np.testing.assert_array_equal(out.numpy(), np.sort(keys, axis=1))


def test_bitonic_sort_by_passes(device: simt.Device) -> None:
    n = 256
    keys = rng().integers(0, 1000, n, dtype="u4")
    out, kernel = device.array(keys), load(device, "bitonic_sort")["bitonic_pass"]
    for size in (2**k for k in range(1, 9)):
        distance = size // 2
        while distance:
            kernel((3,), (100,), (out, n, distance, size))
            distance //= 2
    np.testing.assert_array_equal(out.numpy(), np.sort(keys))
