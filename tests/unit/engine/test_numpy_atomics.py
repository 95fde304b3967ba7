"""Atomic operations of many lanes at few and at many locations, against a loop over the lanes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simt.engine.atomic_operation import combine
from simt.engine.numpy_algebra import NumpyAlgebra, dtype_of
from simt.engine.numpy_atomics import update
from simt.ptx.types import F16X2, F32, F64, S32, U32, U64, Type

M = NumpyAlgebra()
LANES = 300
LOCATIONS = {"one": 1, "two": 2, "some": 40, "far apart": 10**6}
OPERATIONS = [
    ("add", U32), ("add", U64), ("add", F32), ("add", F64), ("add", F16X2), ("add.far", F32), ("and", U32),
    ("add.far", F64),
    ("xor", U64), ("min", S32), ("max", U32), ("inc", U32), ("dec", U32), ("exch", U32), ("cas", U32),
]  # fmt: skip


def operands(t: Type, rng: np.random.Generator, n: int, small: bool) -> Any:
    if t.is_float:
        scale = 1e-39 if small else 1.0  # subnormal in f32
        return (rng.normal(size=n) * scale).astype(dtype_of(t))
    return rng.integers(0, 3 if small else 2**t.bits, n, dtype=dtype_of(t))


@pytest.mark.parametrize("small", [False, True], ids=["any", "small"])
@pytest.mark.parametrize("where", LOCATIONS)
@pytest.mark.parametrize(("op", "t"), OPERATIONS, ids=lambda x: str(x))
def test_lanes_are_served_in_order(op: str, t: Type, where: str, small: bool) -> None:
    rng = np.random.default_rng(7)
    memory = operands(t, rng, LOCATIONS[where], small)
    index = rng.integers(0, len(memory), LANES)
    b, c = operands(t, rng, LANES, small), operands(t, rng, LANES, small)
    expected, found = memory.copy(), np.empty_like(b)
    with np.errstate(all="ignore"):
        for i, place in enumerate(index):
            found[i] = expected[place]
            expected[place] = combine(M, op, t, found[i : i + 1], b[i : i + 1], c[i : i + 1])[0]
        old = update(M, [(op, np.ones(LANES, np.bool_))], t, memory, index, b, c)
    assert old.tobytes() == found.tobytes()
    assert memory.tobytes() == expected.tobytes()


@pytest.mark.parametrize("where", LOCATIONS)
def test_locations_may_have_different_operations(where: str) -> None:
    rng = np.random.default_rng(8)
    memory = rng.integers(0, 99, LOCATIONS[where], np.uint32)
    index = rng.integers(0, len(memory), LANES)
    b, odd = rng.integers(0, 99, LANES, np.uint32), index % 2 == 1
    expected = memory.copy()
    np.add.at(expected, index[odd], b[odd])
    np.maximum.at(expected, index[~odd], b[~odd])
    update(M, [("add", odd), ("max", ~odd)], U32, memory, index, b, None)
    assert np.array_equal(memory, expected)
