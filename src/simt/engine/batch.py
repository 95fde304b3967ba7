"""The CTAs that the interpreter runs at once: rows of 32 lanes, and their scratch memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from simt.errors import FaultSite
from simt.machine.faults import thread_of
from simt.machine.launch import Breakpoint, Launch, Memory, StackEntry

if TYPE_CHECKING:
    from simt.engine.branch_stacks import BranchStacks

Array = NDArray[Any]
WARP = 32
MAX_LANES = 1 << 15
"""Columns of this length fit the level-2 cache a few at a time, and make the cost of calling NumPy small."""
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
    """CTAs to run at once, if none waits for another: as many as keep columns long and scratch memory
    small."""
    x, y, z = launch.block
    lanes = round_up(x * y * z, WARP)
    scratch = round_up(max(launch.shared_bytes, 1), 16) + round_up(launch.local_bytes, 16) * lanes
    most = MAX_LANES // 16 if recursive else MAX_LANES
    grid = launch.grid[0] * launch.grid[1] * launch.grid[2]
    return max(1, min(most // lanes, MAX_SCRATCH // scratch, grid))


class Rows:
    """The rows of a batch of `count` CTAs, whichever they are. A row is a warp; rows of a CTA are adjacent.

    `group`: the CTA within the batch by row. `warp`: the warp within its CTA by row. `thread`: the thread's
    number within its CTA, (rows, 32). `exists`: lanes that are threads. `shared`, `local`: where this memory
    of a lane's starts.
    """

    def __init__(self, launch: Launch, count: int, scratch: Scratch) -> None:
        x, y, z = launch.block
        self.count = count
        self.warps = -(-x * y * z // WARP)
        row = np.arange(count * self.warps, dtype=np.int64)
        self.group, self.warp = np.divmod(row, self.warps)
        self.thread = self.warp[:, None] * WARP + np.arange(WARP)
        self.exists = self.thread < x * y * z
        self.shared = (scratch.shared + self.group[:, None] * scratch.shared_stride).astype(np.uint64)
        lane = row[:, None] * WARP + np.arange(WARP)
        self.local = (scratch.local + lane * scratch.local_stride).astype(np.uint64)
        self.parameters = scratch.parameters
        self.columns: dict[str, Array] = {}


class Batch:
    """CTAs `first .. first + count - 1` of the grid, on their rows.

    `alive`: lanes that exist and have not exited, (rows, 32). `cta`: the CTA's number by row. `stacks`: the
    branch synchronisation stacks by row, if they are kept. The rest is that of `Rows`.
    """

    def __init__(self, launch: Launch, first: int, rows: Rows, stacks: BranchStacks | None = None) -> None:
        self.launch = launch
        self.count, self.warps, self.rows = rows.count, rows.warps, len(rows.warp)
        self.group, self.warp, self.thread = rows.group, rows.warp, rows.thread
        self.shared, self.local, self.parameters = rows.shared, rows.local, rows.parameters
        self.alive = rows.exists.copy()
        self.cta = first + rows.group
        self.stacks = stacks
        self._of_rows, self._own = rows.columns, dict[str, Array]()

    def coordinate(self, name: str, axis: int) -> Array:
        """Column of `tid` or `ctaid` along an axis (0: x), as uint32."""
        key = f"{name}{axis}"
        known = self._of_rows if name == "tid" else self._own
        if key not in known:
            shape, linear = (
                (self.launch.block, self.thread) if name == "tid" else (self.launch.grid, self.cta)
            )
            values = linear // (1, shape[0], shape[0] * shape[1])[axis]
            values = values % shape[axis] if axis < 2 else values
            known[key] = values.astype(np.uint32).reshape(self.rows, -1)
        return known[key]

    def site(self, row: int, lane: int, line: int) -> FaultSite:
        """Where a lane is, for a fault."""
        launch = self.launch
        return FaultSite(
            launch.kernel.name, thread_of(int(self.cta[row]), launch.grid),
            thread_of(int(self.thread[row, lane]), launch.block), *launch.program.text.place(line),
        )  # fmt: skip

    def breakpoint(self, row: int, lane: int, line: int) -> Breakpoint:
        """Where a lane is, with the state of its warp."""
        assert self.stacks is not None
        place, active = self.launch.program.text.place, int(self.stacks.active[row])
        stack = tuple(StackEntry(e.kind, e.mask, place(e.line)[0] or 0) for e in self.stacks.of(row))
        site = self.site(row, lane, line)
        return Breakpoint(site.kernel, site.cta, site.thread, site.line, site.file, active, stack)
