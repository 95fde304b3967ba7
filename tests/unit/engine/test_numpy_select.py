"""Choices and masks without branches, against NumPy's own."""

from __future__ import annotations

import numpy as np
import pytest

from simt.engine.numpy_select import Mask, assign, lanes_by_row, rows_with_any, select

RNG = np.random.default_rng(4)
MASK = RNG.random((40, 32)) < 0.5
MASK[3], MASK[4] = True, False


@pytest.mark.parametrize("code", ["?", "u1", "u2", "u4", "u8", "f4", "f8"])
@pytest.mark.parametrize("shapes", [((40, 32), (40, 32)), ((1,), (40, 32)), ((40, 1), (1,)), ((1,), (1,))])
def test_select_is_where(code: str, shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    a, b = (
        RNG.integers(0, 2, s).astype(code) if code == "?" else (RNG.random(s) * 200).astype(code)
        for s in shapes
    )
    result = select(MASK, a, b)
    assert result.dtype == a.dtype
    assert np.array_equal(result, np.where(MASK, a, b))


def test_select_keeps_the_bits_of_nans() -> None:
    bits = np.array([0x7F800001, 0xFFC12345], np.uint32)
    p = np.array([True, False])
    found = select(p, bits.view(np.float32), bits[::-1].copy().view(np.float32))
    assert found.view(np.uint32).tolist() == [0x7F800001, 0x7F800001]


@pytest.mark.parametrize("value", [-1, 7, RNG.integers(-9, 9, (40, 32), np.int16)], ids=["-1", "7", "column"])
def test_assign_is_a_masked_store(value: int | np.ndarray) -> None:
    column = RNG.integers(-9, 9, (40, 32), np.int16)
    wanted = np.where(MASK, value, column)
    assign(column, MASK, value)
    assert np.array_equal(column, wanted)


def test_rows_are_counted() -> None:
    assert np.array_equal(rows_with_any(MASK), MASK.any(axis=1))
    assert np.array_equal(lanes_by_row(MASK), MASK.sum(axis=1))


@pytest.mark.parametrize("lanes", [MASK, np.ones((2, 32), np.bool_)], ids=["some", "every"])
@pytest.mark.parametrize("width", [1, 32])
def test_a_mask_picks_its_lanes(lanes: np.ndarray, width: int) -> None:
    mask = Mask(lanes)
    column = RNG.random((len(lanes), width))
    assert np.array_equal(mask.pick(column), np.broadcast_to(column, lanes.shape)[lanes])
    assert mask.pick(np.array([5])).tolist() == [5]
    assert mask.count == lanes.sum()
