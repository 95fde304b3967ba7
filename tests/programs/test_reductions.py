"""Sums and prefix sums: trees in shared memory, shuffles, several launches, the last CTA."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from tests.programs.harness import cover, load, rng


def tree_sums(values: np.ndarray, block: int) -> np.ndarray:
    """What each CTA's tree adds up, in its own order: the same bits for floats too."""
    padded = np.zeros(cover(len(values), 2 * block) * 2 * block, values.dtype)
    padded[: len(values)] = values
    parts = padded.reshape(-1, 2 * block)
    while parts.shape[1] > 1:
        half = parts.shape[1] // 2
        parts = parts[:, :half] + parts[:, half:]
    return parts[:, 0]


@pytest.mark.parametrize(("n", "block"), [(1, 32), (1000, 64), (2049, 256), (77, 8)])
@pytest.mark.parametrize("dtype", ["u4", "f4"])
def test_block_sums(device: simt.Device, n: int, block: int, dtype: str) -> None:
    values = rng().integers(0, 2**32, n, dtype="u4")
    values = values if dtype == "u4" else (values / 2**20).astype("f4")
    grid = cover(n, 2 * block)
    sums = device.zeros(grid, dtype)
    kernel = load(device, "block_reduce")["block_sum_u32" if dtype == "u4" else "block_sum_f32"]
    kernel((grid,), (block,), (device.array(values), sums, n))
    np.testing.assert_array_equal(sums.numpy(), tree_sums(values, block))


@pytest.mark.parametrize(("n", "block"), [(1024, 128), (1000, 96), (5, 32)])
def test_warp_sums_and_maxima(device: simt.Device, n: int, block: int) -> None:
    values = rng().integers(-(2**20), 2**20, n, dtype="i4")
    grid = cover(n, block)
    sums, largest = (device.zeros(grid * block // 32, "i4") for _ in range(2))
    kernel = load(device, "warp_reduce")["warp_sum_max"]
    kernel((grid,), (block,), (device.array(values), sums, largest, n))
    present = np.arange(grid * block) < n
    padded = np.zeros(grid * block, "i4")
    padded[:n] = values
    np.testing.assert_array_equal(sums.numpy(), padded.reshape(-1, 32).sum(1))
    lowest = np.where(present, padded, np.iinfo("i4").min)
    np.testing.assert_array_equal(largest.numpy(), lowest.reshape(-1, 32).max(1))


def test_warp_gather_of_doubles(device: simt.Device) -> None:
    values = rng().standard_normal(128)
    table = rng(1).integers(-20, 20, 128, dtype="i4")
    result = device.zeros(128, "f8")
    kernel = load(device, "warp_reduce")["warp_gather_f64"]
    kernel((2,), (64,), (device.array(values), device.array(table), result))
    np.testing.assert_array_equal(result.numpy(), values[(np.arange(128) & ~7) | (table & 7)])


def test_warp_compaction(device: simt.Device) -> None:
    n, threads = 300, 384
    values = rng().integers(-5, 6, n, dtype="i4")
    positions, counts = device.array(np.full(threads, -1, "i4")), device.zeros(threads // 32, "i4")
    kernel = load(device, "warp_reduce")["warp_compact"]
    kernel((4,), (96,), (device.array(values), positions, counts, n))
    expected = np.full((threads // 32, 32), -1, "i4")
    for warp, row in enumerate(expected):
        found = 32 * warp + np.flatnonzero(values[32 * warp : 32 * warp + 32] > 0)
        row[: len(found)] = found
    np.testing.assert_array_equal(positions.numpy().reshape(-1, 32), expected)
    np.testing.assert_array_equal(counts.numpy(), (expected >= 0).sum(1))


@pytest.mark.parametrize(("n", "block"), [(256, 64), (90, 45), (70, 50)])
def test_warp_votes(device: simt.Device, n: int, block: int) -> None:
    """Partial warps: absent lanes take no part."""
    values = rng(3).integers(-1, 100, n, dtype="i4")
    values[: n // 2] = np.abs(values[: n // 2]) + 2
    values[n // 3] = 101
    votes = device.array(np.full(n, -1, "i4"))
    kernel = load(device, "warp_reduce")["warp_votes"]
    kernel((cover(n, block),), (block,), (device.array(values), votes, n))
    i = np.arange(n)
    warp = i // block * 1000 + i % block // 32
    expected = [int((values[warp == w] > 0).all()) + 2 * int((values[warp == w] > 100).any()) for w in warp]
    np.testing.assert_array_equal(votes.numpy(), expected)


@pytest.mark.parametrize(("n", "block"), [(1, 32), (1000, 128), (3001, 1024)])
def test_scan_of_any_length(device: simt.Device, n: int, block: int) -> None:
    values = rng().integers(-(2**31), 2**31, n, dtype="i4")
    module, grid = load(device, "scan"), cover(n, block)
    result, totals = device.zeros(n, "i4"), device.zeros(grid, "i4")
    module["scan_blocks"]((grid,), (block,), (device.array(values), result, totals, n))
    module["scan_blocks"]((1,), (32,), (totals, totals, 0, grid))
    module["add_offsets"]((grid,), (block,), (result, totals, n))
    np.testing.assert_array_equal(result.numpy(), np.cumsum(values, dtype="i4"))


@pytest.mark.parametrize("n", [1, 64, 200])
def test_double_buffered_scan(device: simt.Device, n: int) -> None:
    values = rng().standard_normal(n, dtype="f4")
    result = device.zeros(n, "f4")
    load(device, "scan")["scan_ping_pong"]((1,), (256,), (device.array(values), result, n))
    expected, offset = values.copy(), 1
    while offset < n:
        expected[offset:] = expected[offset:] + expected[:-offset]
        offset *= 2
    np.testing.assert_array_equal(result.numpy(), expected)


def test_last_block_adds_up(device: simt.Device) -> None:
    n, grid = 5000, 7
    values = rng().integers(0, 2**32, n, dtype="u4")
    module = load(device, "last_block")
    for _ in range(2):  # the counter wraps to 0 by itself
        total, partial = device.zeros(1, "u4"), device.zeros(grid, "u4")
        module["sum_in_one_launch"]((grid,), (100,), (device.array(values), partial, total, n))
        assert total.numpy()[0] == values.sum(dtype="u4")
        assert module.symbol("finished").numpy().view("u4").item() == 0
