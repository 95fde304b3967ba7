"""Every conversion to half precision, against the hashes of what an H200 gave and against listing 8.3.

The tests take some of the 1024 blocks, all of them with SIMT_HW_ALL=1 in the environment. Record again with
`python -m tests.hw.record --only halves`.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path

import numpy as np

import simt
from tests.hw.halves import BLOCK, BLOCKS, TEXT, THREADS, digest
from tests.shares import ALL
from tests.unit.isa.meaning import Array

VECTORS = Path(__file__).parent / "vectors" / "halves.json"
ENGINE_STEP = {"interpreter": 256, "jit": 24}
TELLING = (0x33000000, 0x38400000, 0x477FE000, 0x7F800000)
"""Bits near which results change: to the least half, to the least normal one, to the greatest, infinity."""


@functools.cache
def recorded() -> list[str]:
    return json.loads(VECTORS.read_text())


def numbers(step: int) -> list[int]:
    """The blocks of a test: some of both signs, and those where most happens."""
    step = 1 if ALL else step
    telling = {(bits | sign) // BLOCK for bits in TELLING for sign in (0, 1 << 31)}
    return sorted({*range(0, BLOCKS, step), *(telling if step < BLOCKS // 8 else ())})


def converted(bits: Array) -> Array:
    """What listing 8.3 says, as whole-number arithmetic on the bits: round to nearest, ties to even.

    A half has 10 digits after the point instead of 23, or fewer below 2^-14; the sum of half a unit less one
    and the last digit that stays carries into them, and on into the exponent."""
    sign, magnitude = bits >> np.uint32(16) & np.uint32(0x8000), bits & np.uint32(0x7FFFFFFF)
    exponent = (magnitude >> np.uint32(23)).astype(np.int64) - 127
    dropped = (13 + np.clip(-14 - exponent, 0, 12)).astype(np.uint64)
    subnormal = exponent < -14
    digits = np.where(subnormal, magnitude & 0x7FFFFF | 0x800000, magnitude - np.uint32(112 << 23))
    digits = digits.astype(np.uint64)
    one = np.uint64(1)
    rounded = digits + (one << dropped - one) - one + (digits >> dropped & one)
    half = np.minimum(rounded >> dropped, np.uint64(0x7C00)).astype(np.uint32)
    half = np.where(magnitude >= 0x47800000, np.uint32(0x7C00), half)
    half = np.where(magnitude <= 0x33000000, np.uint32(0), half) | sign
    return np.where(magnitude > 0x7F800000, np.uint32(0x7FFF), half).astype(np.uint16)


def test_the_listing_is_the_hardware() -> None:
    counted = np.arange(BLOCK, dtype=np.uint32)
    found = {n: digest(converted(counted + np.uint32(n * BLOCK))) for n in numbers(100)}
    assert {n: d for n, d in found.items() if d != recorded()[n]} == {}


def test_engines_are_the_hardware(device: simt.Device, engine: str) -> None:
    kernel = device.load(TEXT)["convert"]
    out = device.zeros(BLOCK, "u2")
    wrong: list[int] = []
    for number in numbers(ENGINE_STEP[engine]):
        kernel((BLOCK // THREADS,), (THREADS,), (number * BLOCK, out))
        wrong += [number] if digest(out.numpy()) != recorded()[number] else []
    assert wrong == []
