"""Atomic operations, and loops in which threads wait for each other."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from tests.programs.harness import cover, load, rng


@pytest.mark.parametrize("kernel", ["histogram_global", "histogram_shared"])
@pytest.mark.parametrize(("n", "block"), [(1, 32), (5000, 96), (3333, 256)])
def test_histogram(device: simt.Device, kernel: str, n: int, block: int) -> None:
    data = rng().binomial(255, 0.3, n).astype("u1")
    counts = device.zeros(256, "u4")
    grid = cover(n, block) if kernel == "histogram_global" else 4
    load(device, "histogram")[kernel]((grid,), (block,), (device.array(data), counts, n))
    np.testing.assert_array_equal(counts.numpy(), np.bincount(data, minlength=256))


def test_atomic_kinds(device: simt.Device) -> None:
    n = 1000
    values = rng().integers(-(2**31), 2**31, n, dtype="i4")
    values |= 0x00010100  # something to stay set in the bits of `and`
    bits = values.view("u4")
    initial = [
        ("i4", 2**31 - 1),
        ("i4", -(2**31)),
        ("u4", 2**32 - 1),
        ("u4", 0),
        ("u4", 0),
        ("f4", 0),
        ("u8", 0),
    ]
    cells = [device.array(np.array([value], dtype)) for dtype, value in initial]
    kernel = load(device, "atomics")["atomic_kinds"]
    kernel((cover(n, 72),), (72,), (device.array(values), *cells, n))
    expected = [
        values.min(),
        values.max(),
        np.bitwise_and.reduce(bits),
        np.bitwise_or.reduce(bits),
        np.bitwise_xor.reduce(bits),
        np.fmod(values, 16).sum(),
        (bits.astype("u8") << np.uint64(20)).sum(),
    ]
    assert [cell.numpy()[0] for cell in cells] == expected


def test_product_by_compare_and_swap(device: simt.Device) -> None:
    n = 100
    factors = rng().integers(0, 2**31, n, dtype="u4") * np.uint32(2) + np.uint32(1)
    product = device.array(np.ones(1, "u4"))
    load(device, "atomics")["multiply_all"]((3,), (40,), (device.array(factors), product, n))
    assert product.numpy()[0] == np.multiply.reduce(factors, dtype="u4")


def test_tickets_are_all_different(device: simt.Device) -> None:
    n = 777
    counter, tickets = device.array(np.array([5], "u4")), device.zeros(n, "u4")
    load(device, "atomics")["take_tickets"]((cover(n, 128),), (128,), (counter, tickets, n))
    np.testing.assert_array_equal(np.sort(tickets.numpy()), np.arange(5, n + 5))
    assert counter.numpy()[0] == n + 5


def test_lanes_wait_for_a_lock_held_by_a_lane_of_their_warp(device: simt.Device) -> None:
    n = 50
    lock, counter = device.zeros(1, "i4"), device.zeros(1, "i4")
    load(device, "atomics")["locked_counter"]((2,), (33,), (lock, counter, n))
    assert (lock.numpy()[0], counter.numpy()[0]) == (0, n)
