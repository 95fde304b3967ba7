"""Guesses at how lanes lie whose thread's index is cut: held against the lanes, by NumPy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from simt.analysis.access import SPREAD, Way, plan_of
from simt.analysis.shape import UNIFORM, VARYING, WARP, BlockShape, Shape, constant
from simt.analysis.shape_algebra import ShapeAlgebra, blended, merge
from simt.analysis.spread import distances, spread
from simt.ptx.types import S32, S64, U32

LINE = BlockShape(256, 1, 1)
LANES = np.arange(WARP)
M = ShapeAlgebra(LINE)
TID = M.special("tid", "x")


def cut(bits: int) -> Shape:
    return M.shift_right(U32, TID, constant(bits))


def rest(bits: int) -> Shape:
    return M.and_(U32, TID, constant((1 << bits) - 1))


def times(shape: Shape, factor: int) -> Shape:
    return M.mul(U32, shape, constant(factor))


SUMS: dict[str, tuple[Callable[[], Shape], object]] = {
    "quotient": (lambda: cut(2), LANES // 4),
    "remainder": (lambda: rest(3), LANES % 8),
    "of a multiple": (lambda: M.shift_right(U32, times(TID, 8), constant(5)), LANES // 4),
    "structure": (lambda: M.add(U32, times(cut(2), 34), times(rest(2), 8)), LANES // 4 * 34 + LANES % 4 * 8),
    "difference": (lambda: M.sub(U32, times(cut(1), 18), rest(1)), LANES // 2 * 18 - LANES % 2),
    "shifted": (lambda: M.shift_left(U32, cut(4), constant(6)), LANES // 16 * 64),
    "extended": (lambda: M.resize(S32, S64, times(cut(3), 9)), LANES // 8 * 9),
    "twice cut": (lambda: M.and_(U32, cut(1), constant(3)), LANES // 2 % 4),
    "two parts": (lambda: M.or_(U32, times(cut(2), 8), rest(2)), LANES // 4 * 8 + LANES % 4),
    "with an index": (lambda: M.add(U32, times(cut(3), 5), TID), LANES // 8 * 5 + LANES),
    "with a number": (lambda: M.add(U32, UNIFORM, times(cut(3), 5)), LANES // 8 * 5),
}


@pytest.mark.parametrize("name", SUMS)
def test_sums(name: str) -> None:
    made, lanes = SUMS[name]
    found = made().by_bit
    assert found is not None
    assert distances(found) == tuple(np.asarray(lanes).tolist())


def test_what_is_not_guessed() -> None:
    loaded = VARYING
    assert M.add(U32, loaded, cut(2)).by_bit is None
    assert M.mul(U32, UNIFORM, cut(2)).by_bit is None
    assert M.or_(U32, cut(2), rest(3)).by_bit is None  # some bits of both meet
    assert M.and_(U32, times(cut(2), 3), constant(7)).by_bit is None
    assert M.sub(U32, cut(2), cut(2)).by_bit is None
    rows = ShapeAlgebra(BlockShape(16, 16, 1))
    column = rows.special("tid", "x")
    assert rows.and_(U32, column, constant(3)).by_bit is None


def test_meetings() -> None:
    a, b = times(cut(2), 9), times(cut(2), 7)
    assert merge(a, a).by_bit == blended(a, a).by_bit == a.by_bit
    assert merge(a, b).by_bit is blended(a, b).by_bit is None


def way(shape: Shape, size: int, *, stores: bool = False, picks: int | None = 1) -> Way:
    return plan_of(shape, size, 1, "global", LINE, stores=stores, volatile=False, picks=picks).way


def test_few_registers_hold_the_words() -> None:
    blocks = M.add(U32, times(cut(2), 34), times(rest(2), 8))
    assert way(blocks, 2) is Way.SPREAD
    assert way(blocks, 2, picks=None) is way(blocks, 2, stores=True) is Way.VECTOR
    assert way(blocks, 2, picks=4) is way(blocks, 4) is Way.VECTOR  # halves; words that are not aligned
    assert way(spread((4, 8, 16, 32, 64)), 4) is Way.VECTOR  # which are tested for being consecutive
    assert way(spread((4, 8, SPREAD, 0, 0)), 4) is Way.VECTOR
