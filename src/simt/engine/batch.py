"""The CTAs that the interpreter runs at once: rows of 32 lanes, and their scratch memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simt.errors import FaultSite
from simt.machine.faults import thread_of
from simt.machine.launch import Launch, Memory

Array = NDArray[Any]
WARP = 32
MAX_LANES = 1 << 16
MAX_SCRATCH = 256 << 20


def round_up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple


class Scratch:
    """Shared, local and parameter memory of one batch, in the device's arena."""

    def __init__(self, launch: Launch, ctas: int, warps: int) -> None:
        self._memory: Memory = launch.memory
        self._owned: list[int] = []
        self.shared_stride = round_up(max(launch.shared_bytes, 1), 16)
        self.local_stride = round_up(launch.local_bytes, 16)
        try:
            self.parameters = self._allocate(len(launch.parameters))
            self.shared = self._allocate(self.shared_stride * ctas)
            self.local = self._allocate(self.local_stride * ctas * warps * WARP)
        except BaseException:
            self.free()
            raise
        self._shared_bytes = self.shared_stride * ctas
        if launch.parameters:
            block = launch.memory.view(self.parameters, len(launch.parameters))
            block[:] = np.frombuffer(launch.parameters, np.uint8)

    def _allocate(self, nbytes: int) -> int:
        address = self._memory.allocate(max(nbytes, 64))
        self._owned.append(address)
        return address

    def clear_shared(self) -> None:
        self._memory.view(self.shared, self._shared_bytes)[:] = 0

    def free(self) -> None:
        while self._owned:
            self._memory.free(self._owned.pop())


def batch_size(launch: Launch, recursive: bool) -> int:
    """CTAs to run at once: as many as keep columns long and scratch memory small."""
    x, y, z = launch.block
    lanes = round_up(x * y * z, WARP)
    scratch = round_up(max(launch.shared_bytes, 1), 16) + round_up(launch.local_bytes, 16) * lanes
    most = MAX_LANES // 16 if recursive else MAX_LANES
    grid = launch.grid[0] * launch.grid[1] * launch.grid[2]
    return max(1, min(most // lanes, MAX_SCRATCH // scratch, grid))


class Batch:
    """CTAs `first .. first + count - 1` of the grid. A row is a warp; rows of a CTA are adjacent.

    `alive`: lanes that exist and have not exited, (rows, 32). `cta`: the CTA's number by row.
    `thread`: the thread's number within its CTA, (rows, 32).
    """

    def __init__(self, launch: Launch, first: int, count: int, scratch: Scratch) -> None:
        self.launch = launch
        self.count = count
        x, y, z = launch.block
        self.warps = -(-x * y * z // WARP)
        self.rows = count * self.warps
        row = np.arange(self.rows, dtype=np.int64)
        self.cta = first + row // self.warps
        self.warp = row % self.warps
        self.thread = self.warp[:, None] * WARP + np.arange(WARP)
        self.alive = self.thread < x * y * z
        group = (row // self.warps)[:, None]
        self.shared = (scratch.shared + group * scratch.shared_stride).astype(np.uint64)
        lane = row[:, None] * WARP + np.arange(WARP)
        self.local = (scratch.local + lane * scratch.local_stride).astype(np.uint64)
        self.parameters = scratch.parameters
        self._columns: dict[str, Array] = {}

    def coordinate(self, name: str, axis: int) -> Array:
        """Column of `tid` or `ctaid` along an axis (0: x), as uint32."""
        key = f"{name}{axis}"
        if key not in self._columns:
            shape, linear = (
                (self.launch.block, self.thread) if name == "tid" else (self.launch.grid, self.cta)
            )
            values = linear // (1, shape[0], shape[0] * shape[1])[axis]
            values = values % shape[axis] if axis < 2 else values
            self._columns[key] = values.astype(np.uint32).reshape(self.rows, -1)
        return self._columns[key]

    def site(self, row: int, lane: int, line: int) -> FaultSite:
        """Where a lane is, for a fault."""
        launch = self.launch
        return FaultSite(
            launch.kernel.name, thread_of(int(self.cta[row]), launch.grid),
            thread_of(int(self.thread[row, lane]), launch.block), line or None, launch.program.text.name,
        )  # fmt: skip
