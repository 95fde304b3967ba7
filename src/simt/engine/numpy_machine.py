"""The algebra of the interpreter: pure primitives, and lanes, memory and special registers of a batch."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simt.analysis.outline import EVENTS
from simt.analysis.program import FunctionAddress, SymbolAddress
from simt.engine import numpy_atomics
from simt.engine.batch import WARP, Batch
from simt.engine.integers import lane_masks
from simt.engine.numpy_algebra import NumpyAlgebra, dtype_of
from simt.engine.numpy_memory import ArenaView, Window
from simt.engine.numpy_select import Mask, select, some
from simt.engine.numpy_texels import fetch
from simt.errors import FaultSite, LaunchError, TrapError
from simt.isa.special_registers import lookup
from simt.isa.texture import COMPONENTS
from simt.machine.launch import Launch
from simt.machine.textures import TextureTable
from simt.ptx.types import U32, U64, Type

Array = NDArray[Any]
_LANES = np.arange(WARP, dtype=np.uint32)[None, :]
_ONES = ("nclusterid", "cluster_nctaid", "cluster_nctarank")
_AXES = "xyz"


class NumpyMachine(NumpyAlgebra):
    """Columns have shape (rows, 32), or any that broadcasts to it.

    What executes now: `rows` (indices into the batch, None for all), `mask` (lanes), `line`, `frame`
    (start of the function's local variables). `clocks`: instructions that each row has executed, but for
    the last ones, `executed`, of the rows that run.
    """

    def __init__(self, launch: Launch, arena: ArenaView) -> None:
        self.launch = launch
        self.arena = arena
        self.textures = TextureTable(launch.textures, launch.symbols)
        self.functions = launch.program.function_addresses
        self.locals: dict[str, int] = {}
        self.rows: Array | None = None
        self.line = 0
        self.frame = 0
        self.executed = 0

    def begin(self, batch: Batch) -> None:
        self.batch = batch
        self.clocks = np.zeros(batch.rows, np.uint64)
        self.lanes = Mask(batch.alive)

    @property
    def mask(self) -> Array:
        return self.lanes.lanes

    @mask.setter
    def mask(self, mask: Array) -> None:
        if mask is not self.lanes.lanes:
            self.lanes = Mask(mask)

    def _pick(self, column: Array) -> Array:
        return column if self.rows is None else column.take(self.rows, axis=0)

    def _window(self, space: str) -> Window:
        return Window(self.arena, self.batch, self.rows, self.lanes, self.line, space)

    def site(self, mask: Array | None = None) -> FaultSite:
        """Where the first of the executing lanes (or of `mask`) is."""
        row, lane = divmod(int(np.argmax(self.mask if mask is None else mask)), WARP)
        return self.batch.site(row if self.rows is None else int(self.rows[row]), lane, self.line)

    # ------------------------------------------------------------------ addresses of names

    def symbol(self, symbol: SymbolAddress) -> Array:
        """Its address in its own state space."""
        match symbol.space:
            case "shared":
                start = self.launch.kernel.shared[symbol.name]
            case "local":
                start = self.frame + self.locals[symbol.name]
            case "param":
                start = self.batch.parameters + self._parameter(symbol.name)
            case _:
                start = self.launch.symbols[symbol.name]
        return self.const(symbol.type, (start + symbol.offset) % (1 << symbol.type.bits))

    def _parameter(self, name: str) -> int:
        return next(p.offset for p in self.launch.kernel.kernel_parameters if p.name == name)

    def function(self, function: FunctionAddress) -> Array:
        return self.const(function.type, self.functions.get(function.name, 0))

    # ------------------------------------------------------------------ lanes

    def active(self) -> Array:
        return self.mask

    def lane(self) -> Array:
        return _LANES

    def ballot(self, p: Array) -> Array:
        packed = np.packbits(np.ascontiguousarray(self.mask & p), axis=1, bitorder="little")
        return packed.view(np.uint32)

    def shuffle(self, t: Type, a: Array, lane: Array) -> Array:
        if a.size == 1:
            return a
        values = np.broadcast_to(a, self.mask.shape)
        if lane.size == 1:  # one value for all lanes of a row
            place = int(lane.item()) % WARP
            return values[:, place : place + 1].copy()
        first = np.arange(0, self.mask.size, WARP)[:, None]
        return values.ravel().take(first + np.bitwise_and(lane, np.uint32(WARP - 1)))

    def warp_function(
        self, function: Callable[..., tuple[Array, ...]], results: tuple[Type, ...], *operands: Array
    ) -> tuple[Array, ...]:
        return function(self, *operands)

    def seldom(
        self, p: Array, usual: tuple[Array, ...], function: Callable[..., tuple[Array, ...]], *operands: Array
    ) -> tuple[Array, ...]:
        if not some(p):
            return usual
        return tuple(select(p, a, b) for a, b in zip(function(self, *operands), usual))

    # ------------------------------------------------------------------ special registers

    def special(self, name: str, component: str) -> Array:
        entry = lookup(f"%{name}", component)
        t = entry.type if entry is not None else U32
        value = self._special(name, component)
        if isinstance(value, int):
            return self.const(t, value % (1 << t.bits))
        return value.astype(dtype_of(t), copy=False)

    def _special(self, name: str, component: str) -> Array | int:
        axis = _AXES.find(component) if component else 0
        if axis < 0:
            return 0
        match name:
            case "tid" | "ctaid":
                return self._pick(self.batch.coordinate(name, axis))
            case "ntid":
                return self.launch.block[axis]
            case "nctaid":
                return self.launch.grid[axis]
            case "clusterid":
                return self._pick(self.batch.coordinate("ctaid", axis))
            case "nclusterid":
                return self.launch.grid[axis]
            case "laneid":
                return _LANES
            case "warpid":
                return self._pick(self.batch.warp)[:, None]
            case _:
                return self._rare(name)

    def _rare(self, name: str) -> Array | int:
        launch = self.launch
        match name:
            case "nwarpid":
                return launch.device.max_warps_per_multiprocessor
            case "smid":
                return self._pick(self.batch.cta)[:, None] % launch.device.sm_count
            case "nsmid":
                return launch.device.sm_count
            case "gridid":
                return launch.grid_id
            case "total_smem_size" | "aggr_smem_size":
                return launch.shared_bytes
            case "dynamic_smem_size":
                return launch.shared_bytes - launch.kernel.shared_size
            case "envreg1":
                return launch.workspace_address >> 32
            case "envreg2":
                return launch.workspace_address
            case _ if name.startswith("lanemask_"):
                return np.array([lane_masks(name[-2:])], np.uint32)
            case _:
                return self._counter(name)

    def settle_clock(self, busy: Array | None) -> None:
        """Adds what was executed to the clocks of the rows that run, or of the `busy` ones among them."""
        turns = np.uint64(self.executed) if busy is None else busy * np.uint64(self.executed)
        if self.rows is None:
            self.clocks += turns
        else:
            self.clocks[self.rows] += turns
        self.executed = 0

    def _clock(self) -> Array:
        return self._pick(self.clocks)[:, None] + np.uint64(self.executed)

    def _counter(self, name: str) -> Array | int:
        match name:
            case "clock" | "clock64":
                return self._clock()
            case "clock_hi":
                return self._clock() >> np.uint64(32)
            case "globaltimer" | "globaltimer_lo":
                return time.time_ns()
            case "globaltimer_hi":
                return time.time_ns() >> 32
            case _:
                return int(name in _ONES)

    # ------------------------------------------------------------------ memory

    def load(self, t: Type, space: str, address: Array, count: int, volatile: bool) -> tuple[Array, ...]:
        return self._window(space).load(dtype_of(t), address, count)

    def store(self, t: Type, space: str, address: Array, values: tuple[Array, ...], volatile: bool) -> None:
        self._window(space).store(dtype_of(t), address, values)

    def atomic(self, op: str, t: Type, space: str, address: Array, b: Array, c: Array | None) -> Array:
        """Lanes are served in ascending order, each warp after the one before it."""
        dtype = dtype_of(t)
        window = self._window(space)
        index = window.pick(window.elements(address, t.bytes, 1))
        view = self.arena.typed(dtype)
        operand = window.pick(b).astype(dtype)
        third = None if c is None else window.pick(c).astype(dtype)
        ops = self._operations(op, space, address)
        old = numpy_atomics.update(self, ops, t, view, index, operand, third)
        result = np.zeros(self.mask.size, dtype)
        result[self.lanes.places] = old
        return result.reshape(self.mask.shape)

    def arrivals(self, op: str, space: str, address: Array, b: Array) -> Array:
        return self.atomic(op, U64, space, address, b, None)

    def _operations(self, op: str, space: str, address: Array) -> list[tuple[str, Array]]:
        """The operation of every active lane: `add.far` adds plainly in shared memory."""
        count = self.lanes.count
        if op != "add.far" or space != "":
            return [(op, np.ones(count, np.bool_))]
        shared = np.broadcast_to(self.in_space("shared", address), self.mask.shape)[self.mask]
        return [("add", shared), (op, ~shared)]

    def _start(self, space: str) -> Array | None:
        if space == "shared":
            return self._pick(self.batch.shared)
        return self._pick(self.batch.local) if space == "local" else None

    def to_generic(self, t: Type, space: str, address: Array) -> Array:
        start = self._start(space)
        return address if start is None else address + start.astype(address.dtype)

    def from_generic(self, t: Type, space: str, address: Array) -> Array:
        start = self._start(space)
        return address if start is None else address - start.astype(address.dtype)

    def in_space(self, space: str, address: Array) -> Array:
        wide = address.astype(np.uint64)
        sizes = {"shared": self.launch.shared_bytes, "local": self.launch.local_bytes}
        if space in sizes:
            start = self._start(space)
            assert start is not None
            return wide - start < np.uint64(sizes[space])
        if space == "param":
            return wide - np.uint64(self.batch.parameters) < np.uint64(len(self.launch.parameters))
        if space == "const":
            return self._in_const(wide)
        return ~(self.in_space("shared", address) | self._in_local_of_warp(wide) | self._in_const(wide))

    def _in_local_of_warp(self, address: Array) -> Array:
        """Whether generic addresses lie in the local memory of a lane of the warp; it is in one piece."""
        first, last = (self._pick(self.batch.local[:, lane : lane + 1]) for lane in (0, WARP - 1))
        return address - first < last - first + np.uint64(self.launch.local_bytes)

    def _in_const(self, address: Array) -> Array:
        found = np.zeros(address.shape, np.bool_)
        for variable in self.launch.program.variables.values():
            if variable.space == "const":
                start = self.launch.symbols[variable.name]
                found |= address - np.uint64(start) < np.uint64(variable.size)
        return found

    def texture(
        self, geometry: str, result: Type, coordinate: Type, texture: Array, coordinates: tuple[Array, ...]
    ) -> tuple[Array, Array, Array, Array]:
        shape, mask = self.mask.shape, self.mask
        where = np.broadcast_to(texture, shape)[mask]
        used = [np.broadcast_to(c, shape)[mask] for c in coordinates]
        found = np.zeros((COMPONENTS, *where.shape), np.uint32)
        for address in np.unique(where):
            lanes = where == address
            bound = self.textures.by_address.get(int(address))
            if bound is None:
                unbound = np.zeros(shape, np.bool_)
                unbound[mask] = lanes
                raise LaunchError(f"{self.textures.unbound(int(address))} ({self.site(unbound)})")
            found[:, lanes] = fetch(bound, geometry, coordinate, [c[lanes] for c in used])
        columns = np.zeros((COMPONENTS, *shape), dtype_of(result))
        columns[:, mask] = found.view(columns.dtype)
        return columns[0], columns[1], columns[2], columns[3]

    # ------------------------------------------------------------------ the rest of the machine

    def fence(self, level: str) -> None:
        """Memory is always in order here."""

    def trap(self) -> None:
        raise TrapError("the kernel executed trap", self.site())

    def breakpoint(self) -> None:
        """Tells whoever asked for it; else execution goes on."""
        if self.launch.breakpoint is None:
            return
        for row, lane in np.argwhere(self.mask):
            place = int(row) if self.rows is None else int(self.rows[row])
            self.launch.breakpoint(self.batch.breakpoint(place, int(lane), self.line))

    def event(self, number: Array) -> None:
        self.events(np.left_shift(np.uint32(1), number.astype(np.uint32) % np.uint32(EVENTS)))

    def events(self, mask: Array) -> None:
        """Once for each warp that executes it."""
        if self.launch.events is not None:
            bits = int(mask.flat[0]) >> np.arange(EVENTS) & 1
            self.launch.events += bits.astype(np.uint64) * np.uint64(self.mask.any(axis=1).sum())

    def sleep(self, nanoseconds: Array) -> None:
        """Other lanes run anyway."""
