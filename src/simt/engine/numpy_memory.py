"""Memory as the interpreter accesses it: NumPy views of the arena, every lane checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simt.engine.batch import Batch
from simt.engine.numpy_select import Mask, some
from simt.machine.faults import memory_fault
from simt.machine.launch import Launch

Array = NDArray[Any]


class ArenaView:
    """The whole arena of a launch as arrays of every element type. It starts at a multiple of 16."""

    def __init__(self, launch: Launch) -> None:
        memory = launch.memory
        assert memory.base % 16 == 0
        self.base = memory.base
        self.size = memory.limit - memory.base
        self._bytes = memory.view(memory.base, self.size // 16 * 16)
        self._views: dict[str, Array] = {}

    def typed(self, dtype: np.dtype[Any]) -> Array:
        """Elements of a dtype; element i is at byte offset `i * itemsize`."""
        view = self._views.get(dtype.str)
        if view is None:
            view = self._views[dtype.str] = self._bytes.view(dtype)
        return view


class Window:
    """The lanes that access memory in one instruction, and their rows (None: all of the batch)."""

    def __init__(
        self, arena: ArenaView, batch: Batch, rows: Array | None, lanes: Mask, line: int, space: str
    ) -> None:
        self.arena = arena
        self.batch = batch
        self.rows = rows
        self.lanes = lanes
        self.line = line
        self.space = space

    def pick(self, column: Array) -> Array:
        """The values of a column in the lanes that access memory, ascending."""
        return np.broadcast_to(self.lanes.pick(column), self.lanes.count)

    def _of_rows(self, column: Array) -> Array:
        """Rows of a column of the batch."""
        return column if self.rows is None else column.take(self.rows, axis=0)

    def elements(self, address: Array, size: int, count: int) -> Array:
        """Checked addresses of `count` elements of `size` bytes together: the number of the first within
        the arena, of each lane (an inactive one gets some valid number); shape (1,) if all lanes
        access one address. Raises `MemoryFault`."""
        start, room = self._bounds()
        if start is not None:  # of an address in shared or local memory 32 bits count (table 68)
            address = address.astype(np.uint32, copy=False)
        wide = address.astype(np.uint64, copy=False)
        relative = wide - np.uint64(self.arena.base) if start is None else wide
        total = size * count
        # One comparison for both: rotated, an address that is not aligned is a huge number.
        cut = total.bit_length() - 1
        place = rotate_right(relative, cut)
        last = np.uint64(max(room - total, 0) >> cut)
        if room < total or place.max() > last:
            self._check(place > last if room >= total else np.ones(1, np.bool_), relative, room, wide, total)
            place = np.minimum(place, last)  # in inactive lanes only
        if count > 1:
            place = place << np.uint64(count.bit_length() - 1)
        if start is not None:
            place = place + ((start - np.uint64(self.arena.base)) >> np.uint64(size.bit_length() - 1))
        return place.view(np.int64)

    def _bounds(self) -> tuple[Array | None, int]:
        """Where the space starts in each lane (None: it is the arena), and its bytes."""
        launch = self.batch.launch
        if self.space == "shared":
            return self._of_rows(self.batch.shared), launch.shared_bytes
        if self.space == "local":
            return self._of_rows(self.batch.local), launch.local_bytes
        return None, self.arena.size

    def _check(self, wrong: Array, relative: Array, room: int, address: Array, size: int) -> None:
        """Raises the fault of the first active lane whose address is wrong, if there is one."""
        bad = self.lanes.lanes & wrong
        if not some(bad):
            return
        row, lane = divmod(int(np.argmax(bad)), bad.shape[1])
        absolute = row if self.rows is None else int(self.rows[row])
        site = self.batch.site(absolute, lane, self.line)
        where, value = (int(np.broadcast_to(a, bad.shape)[row, lane]) for a in (relative, address))
        raise memory_fault(site, value, size, self.space, misaligned=where + size <= room)

    # ------------------------------------------------------------------ accesses

    def load(self, dtype: np.dtype[Any], address: Array, count: int) -> tuple[Array, ...]:
        index = self.elements(address, dtype.itemsize, count)
        view = self.arena.typed(dtype)
        return tuple(view[i:].take(index) for i in range(count))

    def store(self, dtype: np.dtype[Any], address: Array, values: tuple[Array, ...]) -> None:
        """Lanes store in ascending order, so the highest one wins."""
        index = self.pick(self.elements(address, dtype.itemsize, len(values)))
        view = self.arena.typed(dtype)
        for i, value in enumerate(values):
            view[index + i if i else index] = self.lanes.pick(value)


def rotate_right(a: Array, n: int) -> Array:
    """The bits of a `.u64` column rotated by a constant below 64."""
    if n == 0:
        return a
    high = np.left_shift(a, np.uint64(64 - n))
    return np.bitwise_or(np.right_shift(a, np.uint64(n)), high, out=high)
