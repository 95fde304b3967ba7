"""64-bit integer programs, against Python's integers."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from tests.programs.harness import cover, load, rng

BUILDS = ("hash", "hash.sm_90")
MASK = 2**64 - 1


def words(n: int, seed: int) -> np.ndarray:
    """64-bit numbers of every length, the edges first."""
    edges = np.array([0, 1, MASK, 2**63, 2**63 - 1, 2**32, 2**32 - 1], "u8")
    shifts = rng(seed).integers(0, 64, n, dtype="u8")
    return np.concatenate(
        [rng(seed).permutation(edges), rng(seed + 1).integers(0, 2**64, n, dtype="u8") >> shifts]
    )[:n]


def splitmix(seed: int, rounds: int) -> int:
    z = (seed + rounds * 0x9E3779B97F4A7C15) & MASK
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


@pytest.mark.parametrize("build", BUILDS)
def test_random_numbers(device: simt.Device, build: str) -> None:
    seeds, rounds = words(201, 1), 5
    result = device.zeros(len(seeds), "u8")
    kernel = load(device, build)["random_numbers"]
    kernel((cover(len(seeds), 64),), (64,), (device.array(seeds), result, rounds, len(seeds)))
    assert result.numpy().tolist() == [splitmix(int(s), rounds) for s in seeds]


def fnv(row: bytes) -> int:
    value = 0xCBF29CE484222325
    for byte in row:
        value = (value ^ byte) * 0x100000001B3 & MASK
    return value


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("width", [0, 1, 23])
def test_hash_of_rows(device: simt.Device, build: str, width: int) -> None:
    n = 77
    rows = rng().integers(0, 256, (n, max(width, 1)), dtype="u1")
    hashes = device.zeros(n, "u8")
    load(device, build)["hash_rows"]((3,), (32,), (device.array(rows), width, hashes, n))
    assert hashes.numpy().tolist() == [fnv(row.tobytes()[:width]) for row in rows]


def signed(x: int) -> int:
    return x - 2**64 if x >> 63 else x


def facts(x: int, y: int) -> list[int]:
    low = f"{x:064b}"[::-1].find("1") + 1
    pool = x.to_bytes(8, "little")[:4] + y.to_bytes(8, "little")[:4]
    return [
        x * y >> 64,
        (signed(x) * signed(y) >> 64) & MASK,
        x // y if y else 0,
        x % y if y else 0,
        x.bit_count() + 100 * (64 - y.bit_length()) + 10000 * low,
        int(f"{x:064b}"[::-1], 2),
        int.from_bytes(bytes(pool[i] for i in (5, 1, 7, 3)), "little"),
        (x << (y & 31) & MASK) >> 32,
    ]


@pytest.mark.parametrize("build", BUILDS)
def test_integer_facts(device: simt.Device, build: str) -> None:
    a, b = words(120, 3), words(120, 7)
    found = device.zeros((len(a), 8), "u8")
    kernel = load(device, build)["integer_facts"]
    kernel((cover(len(a), 50),), (50,), (device.array(a), device.array(b), found, len(a)))
    assert found.numpy().tolist() == [facts(int(x), int(y)) for x, y in zip(a, b)]
