"""Choosing between columns lane by lane, and lanes of a mask, without a branch for each lane.

`np.where`, `np.copyto(where=)` and boolean indexing branch on every element: on masks without a pattern,
as divergent code makes them, they take ten times as long as arithmetic on all elements."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
_UNSIGNED = {n: np.dtype(f"u{n}") for n in (1, 2, 4, 8)}


def select(p: Array, a: Array, b: Array) -> Array:
    """`a` where `p` holds, `b` elsewhere. `a` and `b` have one dtype; the three broadcast against each
    other. Bits stay as they are, those of NaNs too."""
    return _blend(_ones(p, b.dtype.itemsize), a, b)


def _ones(p: Array, itemsize: int) -> Array:
    """All bits set where `p` holds, none elsewhere."""
    ones = p.astype(_UNSIGNED[itemsize])
    return np.negative(ones, out=ones)


def _blend(ones: Array, a: Array, b: Array) -> Array:
    x, y = a.view(ones.dtype), b.view(ones.dtype)
    result = np.bitwise_and(np.bitwise_xor(x, y), ones)
    return np.bitwise_xor(result, y, out=result).view(b.dtype)


def some(p: Array) -> bool:
    """`p.any()` of truth values, in a third of the time."""
    return bool(np.count_nonzero(p) > 0)


def every(p: Array) -> bool:
    """`p.all()` of truth values, in half the time."""
    return bool(np.count_nonzero(p) == p.size)


def assign(column: Array, mask: Array, value: Array | int) -> None:
    """`column[mask] = value[mask]` for integers of one shape (or a single value)."""
    ones = mask.astype(column.dtype)
    np.negative(ones, out=ones)
    change = np.bitwise_xor(column, column.dtype.type(value) if isinstance(value, int) else value)
    np.bitwise_and(change, ones, out=change)
    np.bitwise_xor(column, change, out=column)


def rows_with_any(mask: Array) -> Array:
    """By row of a contiguous (rows, 32) mask: whether any lane is set."""
    words = mask.view(np.uint64)
    return (words[:, 0] | words[:, 1] | words[:, 2] | words[:, 3]) != 0


def lanes_by_row(mask: Array) -> Array:
    """By row of a contiguous (rows, 32) mask: how many lanes are set."""
    words = mask.view(np.uint64)
    by_byte = words[:, 0] + words[:, 1] + words[:, 2] + words[:, 3]
    return ((by_byte * np.uint64(0x0101010101010101)) >> np.uint64(56)).astype(np.int64)


class Mask:
    """Lanes that execute, (rows, 32), and what is asked of them again and again."""

    __slots__ = ("_every", "_ones", "_places", "lanes")

    def __init__(self, lanes: Array) -> None:
        self.lanes = lanes
        self._every: bool | None = None
        self._places: Array | None = None
        self._ones: dict[int, Array] = {}

    @property
    def every(self) -> bool:
        """Whether all lanes of all rows execute."""
        if self._every is None:
            self._every = every(self.lanes)
        return self._every

    @property
    def places(self) -> Array:
        """Positions of the lanes that execute, counted along the rows."""
        if self._places is None:
            self._places = np.flatnonzero(self.lanes)
        return self._places

    @property
    def count(self) -> int:
        return self.lanes.size if self.every else len(self.places)

    def select(self, a: Array, b: Array) -> Array:
        """`a` in the lanes that execute, `b` in the others."""
        size = b.dtype.itemsize
        ones = self._ones.get(size)
        if ones is None:
            ones = self._ones[size] = _ones(self.lanes, size)
        return _blend(ones, a, b)

    def pick(self, column: Array) -> Array:
        """The values of a column in the lanes that execute, ascending; a column of one value stays."""
        if column.size == 1:
            return column.reshape(1)
        if column.shape != self.lanes.shape:
            column = np.broadcast_to(column, self.lanes.shape)
        flat = column.ravel()
        return flat if self.every else flat.take(self.places)
