"""Registers that hold halves, read by 8 bits: here as PTX says, and what an H200 gives with ptxas 13.

Record again with `python -m tests.hw.record --only halves_by_bytes`.
"""

from __future__ import annotations

import functools
import json

import numpy as np
import pytest

from tests.conftest import shared_device
from tests.hw.halves_by_bytes import DEFINED, FLOATS, HALVES, READ, RECORDED, WHOLE, kernel
from tests.unit.isa.meaning import Array

SIGN = 0x80
"""Of a byte."""


@functools.cache
def recorded() -> dict[str, dict[str, list[int]]]:
    return json.loads(RECORDED.read_text())


def arranged(read: str, low: Array, loaded: Array) -> Array:
    """What an instruction gives of the bytes that it reads, of the register and of one that is `loaded`."""
    if read == "st.global.v2.u8":
        return loaded | low << np.uint64(8)
    if read == "cvt.s32.s8":
        return np.where(low & np.uint64(SIGN), low | np.uint64(0xFFFFFF00), low)
    return low


def lowest(halves: Array) -> Array:
    """As PTX says."""
    return halves & np.uint64(0xFF)


def converted(read: str, halves: Array) -> Array:
    """As `cvt.rzi.u8.f16` and `cvt.rzi.s8.f16`: limited, and zero for NaN."""
    low, high = (-SIGN, SIGN - 1) if ".s8" in read else (0, 2 * SIGN - 1)
    numbers = halves.astype("u2").view("f2").astype("f8")
    whole = np.trunc(np.clip(np.where(np.isnan(numbers), 0, numbers), low, high))
    return whole.astype("i8").astype("u8") & np.uint64(0xFF)


def whole(defined: str) -> Array:
    """What the register holds."""
    return np.array(recorded()[defined][WHOLE], "u8")


@pytest.mark.parametrize("defined", DEFINED)
def test_the_gpu_converts_where_it_stores_what_is_defined_as_a_float(defined: str) -> None:
    """And what is stored beside it."""
    for read in READ:
        low, loaded, converts = (
            whole(defined),
            HALVES.astype("u8"),
            defined in FLOATS and read.startswith("st"),
        )
        if read != WHOLE:
            low, loaded = (converted(read, h) if converts else lowest(h) for h in (low, loaded))
        assert recorded()[defined][read] == arranged(read, low, loaded).tolist(), read


@pytest.mark.parametrize("engine", ["interpreter", "jit"])
@pytest.mark.parametrize("defined", DEFINED)
def test_here_bytes_are_the_lowest_bits(engine: str, defined: str) -> None:
    device = shared_device(engine)
    halves = device.array(HALVES)
    for read in READ:
        out = device.zeros((len(HALVES), 2), "u8")
        device.load(kernel(defined, read))["k"](1, len(HALVES), (halves, out))
        low = whole(defined)
        wanted = low if read == WHOLE else arranged(read, lowest(low), lowest(HALVES.astype("u8")))
        assert out.numpy()[:, 0].tolist() == wanted.tolist(), read
