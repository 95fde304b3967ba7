"""The virtual GPU as users see it."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import cached_property
from threading import RLock, get_ident
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from simt.driver.array import Allocation, DeviceArray, Shape, as_dtype, as_shape
from simt.driver.engines import (
    allowed_drafts,
    approximation,
    cpu_name,
    engine_name,
    make_engine,
    seconds,
    worker_count,
)
from simt.driver.mirrors import Mirrors
from simt.driver.module import Module
from simt.driver.output import print_text
from simt.driver.remembered import load_program
from simt.driver.source import PtxSource, compile_files, read_source, read_sources
from simt.driver.stream import Stream
from simt.errors import LaunchError, OutOfMemory, SimtError
from simt.machine.device import find_device
from simt.machine.grid import STACK_BYTES
from simt.machine.heap import HEAP_BYTES, Heap
from simt.machine.launch import Engine
from simt.machine.memory import Arena, parse_size
from simt.ptx.environment import Approximation

if TYPE_CHECKING:
    from simt.driver.sequence import LaunchSequence
    from simt.machine.launch import Breakpoint

LOW_MEMORY = 512 << 20
"""Bytes of the arena below 4 GiB: several devices of a process must find room there."""


class Device:
    """One virtual GPU with its own memory.

    `arch`: `"sm_90"`, `"compute_90"`, `"9.0"` or 90; None is sm_100. `engine`: `"jit"` or
    `"interpreter"`, else `SIMT_ENGINE`, else the JIT. `memory`: bytes or text such as `"8GiB"`, reserved,
    not used up. `workers`: native threads, else `SIMT_WORKERS`, else one for each CPU; 1 is
    deterministic. `timeout`: seconds that a kernel may run. `cpu`: the CPU that the JIT makes code for, else
    `SIMT_CPU`, else `"host"`, this machine's own; an older one (`"x86-64"`, `"x86-64-v2"`, `"x86-64-v3"`
    without AVX-512, `"x86-64-v4"`) gives the same results with fewer instructions. `approx`: how the
    approximate functions (`rcp.approx`, `sin.approx` ...) are computed, `"hardware"`, with an H200's bits, or
    `"fast"`, within the manual's bounds, else `SIMT_APPROX`. `fmad`: whether products and sums that name no
    rounding are fused where ptxas fuses them, so that results have a GPU's bits; False rounds both, as ptxas
    does with `--fmad=false`. Raises `SimtError`.
    """

    def __init__(
        self,
        arch: str | int | None = None,
        engine: str | None = None,
        memory: int | str = "8GiB",
        workers: int | None = None,
        timeout: float | None = None,
        cpu: str | None = None,
        approx: str | None = None,
        fmad: bool = True,
    ) -> None:
        self.properties = find_device(arch)
        self.engine_name = engine_name(engine)
        self.cpu = cpu_name(cpu)
        self.drafts = allowed_drafts()
        """What code is made quickly at first. It may be set before the first launch."""
        self.approx: Approximation = approximation(approx)
        self.fmad = fmad
        self.changes = array("q", [0])
        """Grows when anything is set that launches depend on."""
        self.workers = worker_count(workers)
        self.timeout = timeout
        self.stack_bytes = STACK_BYTES
        self.memory = Arena(parse_size(memory))
        self.mirrors = Mirrors()
        self._printf: Callable[[str], object] = print_text
        self._on_breakpoint: Callable[[Breakpoint], object] | None = None
        self._heap_bytes = HEAP_BYTES
        self._heaps: dict[int, Heap] = {}
        self._lock = RLock()
        self._grid_ids = array("q", [0])
        self._engine: Engine | None = None
        self._capturing: LaunchSequence | None = None

    @property
    def name(self) -> str:
        """The architecture, as `sm_90`."""
        return self.properties.name

    @property
    def engine(self) -> Engine:
        if self._engine is None:
            made = make_engine(self.engine_name, self.cpu, self.drafts)
            self._engine = self._engine or made  # a handler of signals may have launched meanwhile
        return self._engine

    @engine.setter
    def engine(self, engine: Engine) -> None:
        self._engine = engine
        self.changed()

    # -------------------------------------------------------------- what launches depend on

    @property
    def workers(self) -> int:
        """Native threads that run kernels. May be set; raises `SimtError` for what is no number of them."""
        return self._workers

    @workers.setter
    def workers(self, count: int) -> None:
        self._workers = worker_count(count)
        self.changed()

    @property
    def timeout(self) -> float | None:
        """Seconds that a kernel may run, None without end. May be set; raises `SimtError` for anything but a
        positive number."""
        return self._timeout

    @timeout.setter
    def timeout(self, timeout: float | None) -> None:
        self._timeout = None if timeout is None else seconds(timeout)
        self.changed()

    @property
    def stack_bytes(self) -> int | str:
        """Call stack of one thread of a recursive kernel, bytes or text such as `"64KiB"`; may be set,
        like CUDA's stack size limit. Launches raise `LaunchError` if it is no size."""
        return self._stack_bytes

    @stack_bytes.setter
    def stack_bytes(self, size: int | str) -> None:
        self._stack_bytes = size
        self.changed()

    def changed(self) -> None:
        """Launches look anew at everything that they depend on."""
        self.changes[0] += 1

    @property
    def grid_ids(self) -> array[int]:
        """One number, the last launch's: compiled code counts it on."""
        return self._grid_ids

    @property
    def last_grid_id(self) -> int:
        return self._grid_ids[0]

    @cached_property
    def low_memory(self) -> Arena:
        """The arena below 4 GiB, reserved when the first module with 32-bit addresses needs it."""
        return Arena(min(self.memory.size, LOW_MEMORY), low=True)

    def arena(self, address_bits: int) -> Arena:
        """The memory that modules of this address size work in."""
        return self.memory if address_bits == 64 else self.low_memory

    # -------------------------------------------------------------- the kernels' heap

    @property
    def heap_bytes(self) -> int:
        """Bytes of the heap that kernels take memory from with `malloc`. May be set before a kernel that
        does so is launched, like CUDA's heap size limit; afterwards setting it raises `SimtError`."""
        return self._heap_bytes

    @heap_bytes.setter
    def heap_bytes(self, size: int | str) -> None:
        if self._heaps:
            raise SimtError("heap_bytes: the device's heap is in use and cannot change its size any more")
        self._heap_bytes = parse_size(size)

    def heap(self, memory: Arena) -> Heap:
        """The heap in one of the device's memories, made when it is first needed. Raises `OutOfMemory`."""
        if id(memory) not in self._heaps:
            try:
                self._heaps[id(memory)] = Heap(memory, self._heap_bytes)
            except OutOfMemory as problem:
                raise OutOfMemory(f"no room for the kernels' heap (Device.heap_bytes): {problem}") from None
        return self._heaps[id(memory)]

    # -------------------------------------------------------------- functions of the user's

    @property
    def printf(self) -> Callable[[str], object]:
        """Is given what kernels print, the text of one `printf` at a time, when a launch ends or much is
        waiting. May be set; raises `SimtError` for what cannot be called. It runs in any thread, and must not
        launch kernels."""
        return self._printf

    @printf.setter
    def printf(self, function: Callable[[str], object]) -> None:
        if not callable(function):
            raise SimtError(f"printf: expected a function of a text, {function!r} given")
        self._printf = function

    @property
    def on_breakpoint(self) -> Callable[[Breakpoint], object] | None:
        """Called for every thread that executes `brkpt` (PTX 1.4 table 84), with where it is, its warp's
        active mask and branch synchronisation stack. None, as at first: nothing happens there. May be set;
        raises `SimtError` for what is neither. What it raises ends the launch. Launches of kernels with
        breakpoints are interpreted then; those of captured sequences do not call it."""
        return self._on_breakpoint

    @on_breakpoint.setter
    def on_breakpoint(self, function: Callable[[Breakpoint], object] | None) -> None:
        if function is not None and not callable(function):
            raise SimtError(f"on_breakpoint: expected a function of a breakpoint or None, {function!r} given")
        self._on_breakpoint = function

    # -------------------------------------------------------------- modules and launches

    def load(self, source: PtxSource | list[PtxSource] | tuple[PtxSource, ...]) -> Module:
        """Loads PTX: the path of a file, or PTX text as `str` or `bytes`. Several of them are linked: one
        defines what others declare `.extern`.

        A string is taken as text if it has a line break, a semicolon, a brace or a `.version` directive.
        Raises `PtxError` with every diagnostic, `OutOfMemory` if the variables do not fit.
        """
        if isinstance(source, (list, tuple)):
            return self.load_texts(read_sources(source))
        return self.load_texts([read_source(source)])

    def load_texts(self, files: Sequence[tuple[str | bytes, str]]) -> Module:
        """As `load`, but PTX texts with the names of their files."""
        if len(files) == 1 and self.engine_name == "jit":  # the interpreter needs the whole program
            program, warnings = load_program(*files[0], self.properties, self.fmad, self.approx)
        else:
            program, warnings = compile_files(files, self.properties, fmad=self.fmad, approx=self.approx)
        return Module(self, program, warnings)

    def stream(self) -> Stream:
        return Stream(self)

    def check_stream(self, stream: object) -> None:
        """Raises `LaunchError` for anything but a stream of this device."""
        if not isinstance(stream, Stream):
            raise LaunchError(f"stream: expected a Stream or None, {stream!r} given")
        if stream.device is not self:
            raise LaunchError("the stream belongs to another device")

    def synchronize(self) -> None:
        """Returns when everything launched on the device has finished."""
        self.check_not_captured("synchronize")
        with self._lock:
            pass

    # -------------------------------------------------------------- captured sequences

    @contextmanager
    def capture(self) -> Generator[LaunchSequence]:
        """Records the launches of this thread on the device, instead of running them, as a sequence that can
        be run again and again: see `LaunchSequence`. Raises `SimtError` if one is being captured already."""
        from simt.driver.sequence import LaunchSequence  # only if needed: start-up time

        self.check_not_captured("capture")
        with self._lock:
            self._capturing = sequence = LaunchSequence(self)
            self.changed()
            try:
                yield sequence
                sequence.complete = True
            finally:
                self._capturing = None

    @property
    def is_capturing(self) -> bool:
        """Whether launches of any thread are recorded now."""
        return self._capturing is not None

    @property
    def captured(self) -> LaunchSequence | None:
        """The sequence that this thread's launches are recorded in, if any."""
        found = self._capturing
        return found if found is None or found.thread == get_ident() else None

    def check_not_captured(self, what: str) -> None:
        """Raises `SimtError` while this thread's launches are recorded: `what` would be left out."""
        if self.captured is not None:
            raise SimtError(f"{what}: not possible while launches are captured, which records launches only")

    def launching(self) -> RLock:
        """One launch at a time, in the order of the calls."""
        return self._lock

    def next_grid_id(self, count: int = 1) -> int:
        """The number of the next launch, the first of `count`. The device is held by `launching`."""
        first = self._grid_ids[0] + 1
        self._grid_ids[0] += count
        return first

    # -------------------------------------------------------------- arrays

    def empty(self, shape: Shape, dtype: DTypeLike = np.float64) -> DeviceArray:
        """A new array. (Its contents are zeros: all device memory starts so.) Raises `OutOfMemory`."""
        extents, found = as_shape(shape), as_dtype(dtype)
        nbytes = int(np.prod(extents, dtype=object)) * found.itemsize
        return DeviceArray(self, Allocation(self.memory, nbytes), extents, found)

    def zeros(self, shape: Shape, dtype: DTypeLike = np.float64) -> DeviceArray:
        """A new array of zeros. Raises `OutOfMemory`."""
        return self.empty(shape, dtype)

    def array(self, values: ArrayLike | DeviceArray, dtype: DTypeLike | None = None) -> DeviceArray:
        """A copy of an array (or of what NumPy makes one of) in device memory. Raises `OutOfMemory`."""
        host: NDArray[Any] = np.asarray(values, dtype=dtype)
        found = self.empty(host.shape, host.dtype)
        found.numpy()[...] = host
        return found

    def __repr__(self) -> str:
        return f"<Device {self.name}, {self.engine_name}, {self.memory.used:,} bytes in use>"
