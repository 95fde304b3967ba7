"""The entries of the branch synchronisation stacks of many warps, in one array."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
KINDS = ("", "branch", "loop", "call")
BRANCH, LOOP, CALL = 1, 2, 3
FIELDS = 6
KIND, MASK, INSIDE, LEVEL, LINE, LATCH = 0, 1, 2, 3, 4, 5


class Entries:
    """Field `f` of entry `n` (from 1, the oldest) of warp `w` is `cells[f, n, w]`; below the first one lies a
    bottom that nothing takes off. Warps are named by an array of their numbers, (n,), none twice; masks have
    a bit for each lane.

    `KIND`: an index into `KINDS`. `MASK`: lanes that are to be together again. `INSIDE`: of a loop, lanes
    that have not left it. `LEVEL`: calls around the code that the entry is for. `LINE`: of its instruction.
    `LATCH`: of a loop, the slot of its latch, which is never 0.
    """

    def __init__(self, warps: int) -> None:
        self.depth = np.zeros(warps, np.intp)
        self.cells = np.zeros((FIELDS, 4, warps), np.int64)
        self.cells[LEVEL, 0] = -1

    def top(self, warps: Array) -> Array:
        """All fields of the newest entries, (fields, warps)."""
        return self.cells[:, self.depth[warps], warps]

    def push(self, warps: Array, *fields: Array | int) -> None:
        """An entry for each: its fields in order, each one for all or one a warp."""
        depth = self.depth[warps] + 1
        if depth.max() >= self.cells.shape[1]:
            self.cells = np.concatenate((self.cells, np.zeros_like(self.cells)), axis=1)
        for field, value in enumerate(fields):
            self.cells[field, depth, warps] = value
        self.depth[warps] = depth

    def pop(self, warps: Array) -> None:
        """Takes the newest entry off each; what has no entry keeps zeros."""
        self.cells[:, self.depth[warps], warps] = 0
        self.depth[warps] -= 1

    def find(self, level: int, latch: int, warps: Array) -> Array:
        """The number of each warp's newest entry for a loop; 0 if there is none."""
        used = self.cells[:, : self.depth[warps].max() + 1, warps]
        here = (used[LATCH] == latch) & (used[LEVEL] == level)
        newest = len(here) - 1 - np.argmax(here[::-1], axis=0)
        return np.where(here.any(axis=0), newest, 0)

    def lose(self, warps: Array, lanes: Array, chosen: Array) -> None:
        """Entries that do not wait for these lanes any more: `chosen`, (entries, warps) from the bottom
        on."""
        part = self.cells[MASK : INSIDE + 1, : len(chosen), warps]
        self.cells[MASK : INSIDE + 1, : len(chosen), warps] = part & ~np.where(chosen, lanes, 0)
