"""What the driver hands to an engine: the meeting point of `simt.machine` and `simt.engine`."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from simt.errors import FaultSite
from simt.records import dataclass, field

if TYPE_CHECKING:
    from weakref import ref

    import numpy as np
    from numpy.typing import NDArray

    from simt.analysis.program import Function, Program
    from simt.machine.device import DeviceProperties

Dim3 = tuple[int, int, int]
WORKSPACE = b"".join(word.to_bytes(4, "little") for word in (16, 0, 1, 0))
"""What memory for barriers of the grid holds at first, as on an H200. nvcc's code uses the second word: its
upper bit changes whenever all CTAs have come."""


class Memory(Protocol):
    """Device memory: one contiguous arena whose device addresses are host addresses.

    Valid addresses are `base <= a < limit`; `limit` only grows, to the highest byte allocated so far.
    A program may access all of it; nothing outside it, ever.
    """

    @property
    def base(self) -> int: ...
    @property
    def limit(self) -> int: ...

    @property
    def changes(self) -> array[int]:
        """One number, which grows when memory is allocated or freed."""
        ...

    def allocate(self, nbytes: int, align: int = 256) -> int:
        """Address of zero-filled memory. Raises `OutOfMemory`."""
        ...

    def free(self, address: int) -> None: ...

    def view(self, address: int, nbytes: int) -> NDArray[np.uint8]:
        """The bytes at an address, shared, not copied. Raises ValueError outside the arena."""
        ...


class System(Protocol):
    """Functions that a module calls but does not define; the device offers them (`simt.machine.syscalls`)."""

    def call(self, name: str, site: FaultSite, arguments: tuple[int, ...]) -> int:
        """Runs one for the thread at `site`: the bits of its result, 0 if it has none. Any thread may call.

        Raises `KernelFault`, or whatever the user's own code raises that it calls.
        """
        ...


@dataclass(frozen=True, slots=True)
class StackEntry:
    """An entry of a warp's branch synchronisation stack. `kind`: branch, loop or call. `mask`: the lanes that
    are to be together again, bit i for lane i. `line`: in the PTX file, of the instruction that parted them,
    or that the loop begins with, or of the call; 0 if none was written."""

    kind: str
    mask: int
    line: int


@dataclass(frozen=True)
class Breakpoint(FaultSite):
    """A thread that executes `brkpt`. `active`: mask of the lanes of its warp that are at the instruction,
    bit i for lane i, those too that its guard keeps from it. `stack`: the warp's branch synchronisation
    stack, the oldest entry first."""

    active: int = 0
    stack: tuple[StackEntry, ...] = ()


GRID_CELL = 3
"""The first of a launch's `cells` that hold its grid."""


def cells_of(grid: Dim3) -> array[int]:
    """A launch's `cells` before it runs."""
    return array("q", (0, 1, 0, *grid))


@dataclass(slots=True)
class Launch:
    """One launch of a kernel. All shapes are already checked against the device and the kernel.

    The driver uses it again for launches that differ in nothing but `grid`, `parameters`, `grid_id`,
    `deadline`, `progress` and `textures`, one after the other. What an engine keeps from one to the next is
    its `state`.

    `parameters`: the parameter block. `symbols`: addresses of module variables (global, const).
    `shared_bytes`: static plus dynamic shared memory of one CTA. `local_bytes`: local memory of one
    thread, call stack included. `deadline`: `time.monotonic()` value after which the launch is stopped.
    """

    program: Program
    kernel: Function
    cells: array[int]
    """What compiled code reads and writes: `busy`, `grid_id`, a number by which the driver knows who made the
    latest launch, and `grid`. See `cells_of`."""
    block: Dim3
    parameters: bytes
    symbols: Mapping[str, int]
    shared_bytes: int
    local_bytes: int
    device: DeviceProperties
    memory: Memory
    workers: int = 1
    resident: int = 1
    """CTAs that the device has room for at a time."""
    workspace: NDArray[np.uint8] | None = None
    """Device memory for barriers of the whole grid (`%envreg1` and `%envreg2`), if the launch is cooperative:
    all CTAs are to run at once then. Engines `begin_cooperation` first."""
    deadline: float | None = None
    textures: Mapping[str, object] = field(default_factory=dict[str, object])
    progress: object | None = None
    """Callable of the number of CTAs finished so far, or None."""
    system: System | None = None
    """There if the kernel can reach a call of a function without a body."""
    state: object | None = None
    events: NDArray[np.uint64] | None = None
    """Counters of the performance monitor events, one for each of `EVENTS`, if the kernel has such."""
    provisional: bool = False
    """Whether the engine that has run it is to be asked for the next one: it may have better code then."""
    breakpoint: Callable[[Breakpoint], object] | None = None
    """Called for every thread that executes `brkpt`, if the user asked for it. What it raises ends the
    launch."""

    @property
    def busy(self) -> bool:
        """While it runs, and for good if an exception ended it: it is not to be used again then."""
        return self.cells[0] != 0

    @busy.setter
    def busy(self, runs: bool) -> None:
        self.cells[0] = runs

    @property
    def grid_id(self) -> int:
        """What `%gridid` is."""
        return self.cells[1]

    @grid_id.setter
    def grid_id(self, number: int) -> None:
        self.cells[1] = number

    @property
    def grid(self) -> Dim3:
        cells = self.cells
        return cells[GRID_CELL], cells[GRID_CELL + 1], cells[GRID_CELL + 2]

    @grid.setter
    def grid(self, extents: Dim3) -> None:
        cells = self.cells
        cells[GRID_CELL], cells[GRID_CELL + 1], cells[GRID_CELL + 2] = extents

    @property
    def workspace_address(self) -> int:
        """0 if the launch is not cooperative."""
        return 0 if self.workspace is None else self.workspace.ctypes.data

    def begin_cooperation(self) -> None:
        """Gives the workspace the contents that it has when a kernel begins; a launch that was stopped may
        have left anything there."""
        if self.workspace is not None:
            self.workspace.data[:] = WORKSPACE


class Engine(Protocol):
    """Runs launches. Faults are raised as `simt.errors.KernelFault`; memory stays as the kernel left it."""

    name: str

    def launch(self, launch: Launch) -> None: ...


class Lock(Protocol):
    """One of Python's, which the thread that holds it may take again."""

    def acquire(self) -> bool: ...
    def release(self) -> None: ...


ARRAYS = 4
"""How many may take turns as an argument."""


@dataclass(frozen=True, slots=True)
class Arrays:
    """Objects that take turns as an argument, not to be kept alive by that, and their addresses. The first is
    the one that was given."""

    objects: tuple[ref[Any], ...]
    addresses: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a number stands in the parameter block."""

    offset: int
    bits: int
    is_float: bool


@dataclass(frozen=True, slots=True)
class Given:
    """What a launch was given, so that an engine can tell whether the next one is given the same.

    `shape`: the objects for grid, block and bytes of shared memory. `args`: the objects for the kernel's
    arguments. `places`: for each of these, where its parameter is, if others may stand there: numbers of its
    type, or one of some arrays. `device_changes`, `memory_changes`: numbers that grow with
    what a launch depends on besides. `last_grid_id`: the device's count of launches. `timeout`: seconds that
    each launch may take. `parameters`: the parameter block of these arguments."""

    shape: tuple[object, object, object]
    args: tuple[object | Arrays, ...]
    places: tuple[Place | None, ...]
    lock: Lock
    device_changes: array[int]
    memory_changes: array[int]
    last_grid_id: array[int]
    timeout: float | None
    parameters: bytes


class Repeated(Protocol):
    """A launch that an engine can make once more by itself."""

    call: Callable[..., bool | None]
    """Takes grid, block, tuple of arguments and bytes of shared memory. True: launched, and ended well.
    False: not the same, or not `arm`ed any more; nothing was done. None: it was `stopped`. Then, and if a
    handler of signals raised an exception while it ran, it stays `busy`. The lock is free afterwards."""

    def arm(self, device_changes: int, memory_changes: int) -> bool:
        """After a launch of the usual kind with what was given: whether the next may be made by `call`, as
        long as nothing changes. What changed while that launch was made counts: the numbers are those from
        before anything was looked at."""
        ...

    @property
    def is_current(self) -> bool:
        """Whether the engine would still launch it in the same way."""
        ...

    def regrid(self, grid: object, ctas: int, alike: bool) -> bool:
        """The next launch of the usual kind will be given this object for the grid of so many CTAs. `alike`:
        about as many as the last one had. Whether `call` may well make the one after that: it has made some
        with the last grid, or takes others that are alike, or took some of so many CTAs before."""
        ...

    def stopped(self) -> None:
        """To be called after `call` gave None: raises its fault."""
        ...


@runtime_checkable
class Repeating(Protocol):
    """An engine that makes launches once more by itself."""

    def repeat(self, launch: Launch, given: Given) -> Repeated | None: ...


class Replay(Protocol):
    """Launches that run one after the other, any number of times."""

    def run(self, grid_id: int, timeout: float | None) -> None:
        """Runs all. `grid_id`: of the first one; the others count on. `timeout`: seconds for each.

        Raises the first one's fault that has one; those after it do not run. `stopped` tells which.
        """
        ...

    @property
    def stopped(self) -> int:
        """Index of the launch that ended the last run early."""
        ...


@runtime_checkable
class Replaying(Protocol):
    """An engine that runs sequences of launches better than one by one."""

    def sequence(self, launches: Sequence[Launch]) -> Replay: ...
