"""Programs written by hand in the dialects of old compilers, PTX 1.0 to 3.1: `dialects/NAME_VERSION.ptx`."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import simt
from tests.programs.harness import cover, eighths, load, rng

LOW = 2**32 - 1


@pytest.mark.parametrize(("n", "grid"), [(1, 1), (1000, 3), (5000, 7)])
def test_reduction_of_1_4(device: simt.Device, n: int, grid: int) -> None:
    """The last warp adds up without barriers, as footnote 7 of section 8.1.6 of the handbook has it."""
    values = eighths(n).astype("f4")
    sums = device.zeros(grid, "f4")
    kernel = load(device, "dialects/reduction_1_4")["_Z6reducePKfPfj"]
    kernel((grid,), (128,), (device.array(values), sums, n))
    padded = np.zeros(cover(n, grid * 128) * grid * 128)
    padded[:n] = values
    np.testing.assert_array_equal(sums.numpy(), padded.reshape(-1, grid, 128).sum((0, 2)))


@pytest.mark.parametrize("threads", [1, 16, 128, 256])
def test_scan_of_1_4(device: simt.Device, threads: int) -> None:
    values = rng().integers(-(2**31), 2**31, 2 * threads, dtype="i4")
    result = device.zeros(2 * threads, "i4")
    kernel = load(device, "dialects/scan_1_4")["_Z4scanPKiPi"]
    kernel((1,), (threads,), (device.array(values), result), shared_mem=8 * threads)
    expected = np.cumsum(values, dtype="i4") - values
    np.testing.assert_array_equal(result.numpy(), expected)


@pytest.mark.parametrize(("words", "grid", "block"), [(1, 1, 64), (3000, 4, 96), (500, 2, 256)])
def test_histogram_of_1_2(device: simt.Device, words: int, grid: int, block: int) -> None:
    data = rng().integers(0, 256, 4 * words, dtype="u1")
    data[: 2 * words] = 17
    bins = device.zeros(64, "u4")
    kernel = load(device, "dialects/histogram_1_2")["_Z9histogramPKjPjj"]
    kernel((grid,), (block,), (device.array(data), bins, words))
    np.testing.assert_array_equal(bins.numpy(), np.bincount(data >> 2, minlength=64))


@pytest.mark.parametrize("n", [16, 64])
def test_matmul_of_1_4(device: simt.Device, n: int) -> None:
    """Small integers: all sums are exact, whatever way `mad.f32` rounds."""
    a, b = (rng(s).integers(-9, 10, (n, n)).astype("f4") for s in (1, 2))
    c = device.zeros((n, n), "f4")
    kernel = load(device, "dialects/matmul_1_4")["_Z6matmulPKfS0_Pfi"]
    kernel((n // 16, n // 16), (16, 16), (device.array(a), device.array(b), c, n))
    np.testing.assert_array_equal(c.numpy(), a @ b)


@pytest.mark.parametrize(("rows", "block"), [(1, 32), (100, 48)])
def test_sort_of_1_0(device: simt.Device, rows: int, block: int) -> None:
    values = rng().integers(0, 2**32, (rows, 8), dtype="u4")
    sorted_rows = device.array(values)
    load(device, "dialects/sort_1_0")["sort"]((cover(rows, block),), (block,), (sorted_rows, rows))
    np.testing.assert_array_equal(sorted_rows.numpy(), np.sort(values, axis=1))


def ackermann(m: int, n: int) -> int:
    """Its closed forms."""
    return {1: n + 2, 2: 2 * n + 3}[m]


def hanoi(disks: int, source: int, target: int) -> tuple[int, int]:
    """The number of moves, and 5 times the sum so far xor each move, in 32 bits. Without recursion: the
    disk of move k is the number of trailing zeros of k; disks go round one way or the other."""
    pegs, total = [source] * disks, 0
    for k in range(1, 2**disks):
        disk = (k & -k).bit_length() - 1
        step = target - source if (disks - disk) % 2 else source - target
        place = (pegs[disk] - 1 + step) % 3 + 1
        total = (total * 5 & LOW) ^ (4 * pegs[disk] + place)
        pegs[disk] = place
    return 2**disks - 1, total


@pytest.mark.parametrize("threads", [1, 40])
def test_recursion_of_2_1(device: simt.Device, threads: int) -> None:
    found = device.zeros((threads, 3), "u4")
    load(device, "dialects/recursion_2_1")["_Z4bothPi"]((1,), (threads,), (found,))
    expected = [(ackermann((t & 1) + 1, t & 3), *hanoi(t & 7, 1, 3)) for t in range(threads)]
    np.testing.assert_array_equal(found.numpy(), expected)


def bit_reversed(value: int) -> int:
    return int(f"{value:032b}"[::-1], 2)


def rotated(value: int, by: int) -> int:
    by &= 31
    return (value << by | value >> (32 - by)) & LOW


OPERATIONS = (
    lambda a, b: (a + b) & LOW, lambda a, b: a * b & LOW, rotated,
    lambda a, b: a.bit_count() ^ bit_reversed(b),
)  # fmt: skip


@pytest.mark.parametrize(("n", "block"), [(1, 1), (100, 64)])
def test_dispatch_of_2_1(device: simt.Device, n: int, block: int) -> None:
    steps = 9
    code = rng().integers(0, 256, (n, steps), dtype="u1")
    values = rng(1).integers(0, 2**32, n, dtype="u4")
    result = device.array(values)
    kernel = load(device, "dialects/dispatch_2_1")["_Z3runPKhPjjj"]
    kernel((cover(n, block),), (block,), (device.array(code), result, steps, n))
    expected = [
        functools.reduce(lambda a, op: OPERATIONS[op & 3](a, op >> 2), map(int, program), int(start))
        for program, start in zip(code, values)
    ]
    np.testing.assert_array_equal(result.numpy(), np.array(expected, "u4"))


@pytest.mark.parametrize(("n", "block"), [(1, 32), (1000, 128), (77, 64)])
def test_compaction_of_2_3(device: simt.Device, n: int, block: int) -> None:
    """Warps come in any order, their numbers together and in order."""
    values = rng().integers(-(2**30), 2**30, n, dtype="i4")
    packed, count = device.zeros(n, "i4"), device.zeros(1, "u4")
    kernel = load(device, "dialects/compaction_2_3")["_Z7compactPKiPiPjj"]
    kernel((cover(n, block),), (block,), (device.array(values), packed, count, n))
    warps = [values[i : i + 32] for i in range(0, n, 32)]
    wanted = {int(w[w > 0][0]): w[w > 0] for w in warps if (w > 0).any()}
    found, at = packed.numpy(), 0
    assert count.numpy()[0] == (values > 0).sum()
    while wanted:
        warp = wanted.pop(int(found[at]))
        np.testing.assert_array_equal(found[at : at + len(warp)], warp)
        at += len(warp)
    assert not found[at:].any()


@pytest.mark.parametrize(("n", "block"), [(1, 32), (1000, 96)])
def test_sums_by_shuffles_of_3_1(device: simt.Device, n: int, block: int) -> None:
    values = rng().integers(-(2**31), 2**31, n, dtype="i4")
    total = device.zeros(1, "i4")
    kernel = load(device, "dialects/shuffles_3_1")["_Z4sumsPKiPii"]
    kernel((cover(n, block),), (block,), (device.array(values), total, n))
    assert total.numpy()[0] == values.sum(dtype="i4")


def mixed(words: list[int], thread: int, steps: int) -> list[int]:
    """`words`: a, the high and low half of the middle, and the last two."""
    a, low, high, b, c = words
    slots, x = [a, b, c, low], high ^ thread
    for k in range(steps):
        at = (k + thread) & 3
        old = slots[at]
        shift = (k + thread) & 31
        new = ((old << 32 | x) << shift >> 32 & LOW) + x & LOW
        slots[at] = new
        field = new >> 7 & 0x7FF
        data = new.to_bytes(4, "little") + old.to_bytes(4, "little")
        bytes_ = int.from_bytes(bytes(data[0x2450 >> 4 * i & 7] for i in range(4)), "little")
        x = ((bytes_ & ~(0x1FF << 3) | (field & 0x1FF) << 3) + x) & LOW
    return [slots[0] ^ x, *slots[1:]]


@pytest.mark.parametrize("steps", [0, 37])
def test_structure_and_frame_of_3_1(device: simt.Device, steps: int) -> None:
    words = rng().integers(0, 2**32, 6, dtype="u4")
    result = device.zeros((48, 4), "u4")
    kernel = load(device, "dialects/shuffles_3_1")["_Z5mixed5StatePji"]
    kernel((1,), (48,), (words.tobytes(), result, steps))
    known = [int(w) for w in words[[0, 2, 3, 4, 5]]]
    np.testing.assert_array_equal(result.numpy(), [mixed(known, t, steps) for t in range(48)])


def test_virtual_functions_of_3_1(device: simt.Device) -> None:
    n, block = 100, 32
    shapes = rng().integers(0, 1000, (n, 3), dtype="i4")
    shapes[:, 0] &= 1
    result = device.zeros((n, 4), "i4")
    kernel = load(device, "dialects/virtual_3_1")["_Z7measurePKiPii"]
    kernel((cover(n, block),), (block,), (device.array(shapes), result, n))
    kind, width, height = shapes.T
    square = kind == 0
    height = np.where(square, width, height)
    x, y = np.arange(n), width * height
    right, top = x + width, y + height
    expected = np.stack([x, y, np.where(square, ~right, right), np.where(square, ~top, top)], 1)
    np.testing.assert_array_equal(result.numpy(), expected)


def test_roots_of_2_0(device: simt.Device) -> None:
    """Every operation of IEEE 754 rounds alike on NumPy."""
    n, block = 96, 48
    found = device.zeros((n, 2), "f8")
    a, c = rng(1).standard_normal((2, n))
    b = rng(2).standard_normal(n) * 3
    c = np.where(b * b < 4 * a * c, -c, c)
    coefficients = device.array(np.stack([a, b, c], 1))
    load(device, "dialects/roots_2_0")["quadratic"]((n // block,), (block,), (coefficients, found))
    q = (b + np.copysign(np.sqrt(b * b - 4 * a * c), b)) * -0.5
    roots = q / a, c / q
    np.testing.assert_array_equal(found.numpy(), np.stack([np.minimum(*roots), np.maximum(*roots)], 1))
