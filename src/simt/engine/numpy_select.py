"""Choosing between columns lane by lane, and lanes of a mask, without a branch for each lane.

`np.where`, `np.copyto(where=)` and boolean indexing branch on every element: on masks without a pattern,
as divergent code makes them, they take ten times as long as arithmetic on all elements."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def select(p: Array, a: Array, b: Array) -> Array:
    """`a` where `p` holds, `b` elsewhere. `a` and `b` have one dtype; the three broadcast against each
    other. Bits stay as they are, those of NaNs too."""
    bits = f"u{b.dtype.itemsize}"
    ones = p.astype(bits)
    np.negative(ones, out=ones)
    y = b.view(bits)
    result = np.bitwise_and(np.bitwise_xor(a.view(bits), y), ones)
    np.bitwise_xor(result, y, out=result)
    return result.view(b.dtype)


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

    __slots__ = ("_every", "_places", "lanes")

    def __init__(self, lanes: Array) -> None:
        self.lanes = lanes
        self._every: bool | None = None
        self._places: Array | None = None

    @property
    def every(self) -> bool:
        """Whether all lanes of all rows execute."""
        if self._every is None:
            self._every = bool(self.lanes.all())
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

    def pick(self, column: Array) -> Array:
        """The values of a column in the lanes that execute, ascending; a column of one value stays."""
        if column.size == 1:
            return column.reshape(1)
        if column.shape != self.lanes.shape:
            column = np.broadcast_to(column, self.lanes.shape)
        flat = column.ravel()
        return flat if self.every else flat.take(self.places)
