"""Memory as the interpreter accesses it: NumPy views of the arena, every lane checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simt.engine.batch import Batch
from simt.machine.faults import memory_fault
from simt.machine.launch import Launch

Array = NDArray[Any]


class ArenaView:
    """The whole arena of a launch as arrays of every element type."""

    def __init__(self, launch: Launch) -> None:
        memory = launch.memory
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
    """The lanes that access memory in one instruction: their rows (None: all of the batch) and mask."""

    def __init__(
        self, arena: ArenaView, batch: Batch, rows: Array | None, mask: Array, line: int, space: str
    ) -> None:
        self.arena = arena
        self.batch = batch
        self.rows = rows
        self.mask = mask
        self.line = line
        self.space = space

    def pick(self, column: Array) -> Array:
        """Rows of a column of the batch."""
        return column if self.rows is None else column[self.rows]

    def offsets(self, address: Array, size: int) -> Array:
        """Checked byte offsets from the arena's start, of each lane (an inactive one gets some valid
        offset); shape (1,) if all lanes access one address. Raises `MemoryFault`."""
        wide = address.astype(np.uint64)
        start, room = self._bounds()
        if wide.size > 1 or isinstance(start, np.ndarray):
            wide = np.broadcast_to(wide, self.mask.shape)
        relative = wide - np.uint64(self.arena.base) if start is None else wide
        outside = relative > np.uint64(room - size) if room >= size else np.ones(relative.shape, np.bool_)
        wrong = outside | ((wide & np.uint64(size - 1)) != 0)
        if wrong.any():
            self._check(wrong, outside, wide, size)
        offset = relative if start is None else relative + (start - np.uint64(self.arena.base))
        if wrong.any():  # in inactive lanes only
            offset = np.where(wrong, np.uint64(self.batch.parameters - self.arena.base), offset)
        return offset.astype(np.int64)

    def _bounds(self) -> tuple[Array | None, int]:
        """Where the space starts in each lane (None: it is the arena), and its bytes."""
        launch = self.batch.launch
        if self.space == "shared":
            return self.pick(self.batch.shared), launch.shared_bytes
        if self.space == "local":
            return self.pick(self.batch.local), launch.local_bytes
        return None, self.arena.size

    def _check(self, wrong: Array, outside: Array, address: Array, size: int) -> None:
        bad = self.mask & wrong
        if not bad.any():
            return
        place = int(np.argmax(bad))
        row, lane = divmod(place, bad.shape[1])
        absolute = row if self.rows is None else int(self.rows[row])
        site = self.batch.site(absolute, lane, self.line)
        value = int(np.broadcast_to(address, bad.shape)[row, lane])
        illegal = bool(np.broadcast_to(outside, bad.shape)[row, lane])
        raise memory_fault(site, value, size, self.space, not illegal)

    # ------------------------------------------------------------------ accesses

    def load(self, dtype: np.dtype[Any], address: Array, count: int) -> tuple[Array, ...]:
        index = self.offsets(address, dtype.itemsize * count) // dtype.itemsize
        view = self.arena.typed(dtype)
        return tuple(view[index + i] for i in range(count))

    def store(self, dtype: np.dtype[Any], address: Array, values: tuple[Array, ...]) -> None:
        """Lanes store in ascending order, so the highest one wins."""
        offset = self.offsets(address, dtype.itemsize * len(values)) // dtype.itemsize
        index = np.broadcast_to(offset, self.mask.shape)[self.mask]
        view = self.arena.typed(dtype)
        for i, value in enumerate(values):
            view[index + i] = np.broadcast_to(value, self.mask.shape)[self.mask]


def turns(index: Array) -> list[Array]:
    """Positions of `index` in groups without repeated values: each value's first use, its second, ..."""
    order = np.argsort(index, kind="stable")
    ranked = index[order]
    fresh = np.ones(len(ranked), np.bool_)
    fresh[1:] = ranked[1:] != ranked[:-1]
    starts = np.flatnonzero(fresh)
    if len(starts) == len(ranked):
        return [order]
    rank = np.arange(len(ranked)) - np.repeat(starts, np.diff(np.append(starts, len(ranked))))
    by_rank = np.argsort(rank, kind="stable")
    cuts = np.flatnonzero(np.diff(rank[by_rank])) + 1
    return [order[part] for part in np.split(by_rank, cuts)]


def running_sums(index: Array, start: Array, step: Array) -> tuple[Array, Array]:
    """For integer additions in order: what each finds, and what it leaves. `start`: values now there."""
    order = np.argsort(index, kind="stable")
    ranked = index[order]
    fresh = np.ones(len(ranked), np.bool_)
    fresh[1:] = ranked[1:] != ranked[:-1]
    starts = np.flatnonzero(fresh)
    lengths = np.diff(np.append(starts, len(ranked)))
    total = np.cumsum(step[order], dtype=step.dtype)
    before = total - step[order]
    exclusive = before - np.repeat(before[starts], lengths)
    old = np.empty_like(step)
    old[order] = start[order] + exclusive
    return old, old + step
