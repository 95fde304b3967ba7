"""Kernels: what a module's entries look like to Python."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from simt.analysis.outline import EVENTS, Function, Parameter
from simt.driver.again import Again
from simt.driver.array import Allocation, DeviceArray
from simt.driver.engines import seconds
from simt.driver.stream import Stream
from simt.errors import LaunchError, brief
from simt.machine.arguments import Packer
from simt.machine.grid import (
    Shape,
    active_ctas,
    as_dim3,
    check_cooperative,
    check_grid,
    check_shape,
    shared_bytes,
)
from simt.machine.launch import WORKSPACE, Dim3, Engine, Launch, cells_of
from simt.machine.syscalls import SystemCalls, uses_heap
from simt.machine.unsupported import unsupported
from simt.records import dataclass, replace

if TYPE_CHECKING:
    from simt.driver.module import Module
    from simt.driver.sequence import LaunchSequence
    from simt.engine.interpreter_watcher import Watcher

Call = tuple[Shape, Shape, Sequence[object], int]
"""Grid, block, arguments, bytes of dynamic shared memory."""
Progress = Callable[[int], None]
KEPT = 256
"""Kinds of launches of which a module keeps some for the next one like them, at most."""
ALIKE = 2
"""How many: a second one for a handler of signals that launches while the first one runs."""


@dataclass(frozen=True, slots=True)
class LastLaunch:
    """A launch that has ended. `grid_id`: what `%gridid` was. `pm_events`: how often each of the performance
    monitor events was triggered (`pmevent`, PTX 1.4 table 85), once for every warp that executed it."""

    grid: Dim3
    block: Dim3
    grid_id: int
    pm_events: tuple[int, ...]


class Kernel:
    """A kernel of a loaded module. Call it as CuPy's RawKernel: `k(grid, block, args)`."""

    def __init__(self, module: Module, function: Function) -> None:
        self.module = module
        self._function = function
        self._again: Again | None = None

    @property
    def name(self) -> str:
        return self._function.name

    @property
    def params(self) -> tuple[Parameter, ...]:
        """The declared parameters: name, type, byte offset and size in the parameter block."""
        return self._function.kernel_parameters

    @property
    def shared_bytes(self) -> int:
        """Static shared memory of a CTA, in bytes."""
        return self._function.shared_size

    @property
    def attributes(self) -> dict[str, int | tuple[int, ...]]:
        """Resources, by CuPy's names, and the kernel's performance directives (tables 98-100). `num_regs` are
        the kernel's own registers, at most those that `.maxnreg` or the device grants a thread."""
        program, device = self.module.program, self.module.device.properties
        version, target = program.environment.version, program.environment.target
        return {
            "shared_size_bytes": self._function.shared_size,
            "local_size_bytes": self.module.local_bytes(self._function, self.module.device.stack_bytes),
            "const_size_bytes": sum(v.size for v in program.variables.values() if v.space == "const"),
            "max_dynamic_shared_size_bytes": device.max_shared_memory_per_cta - self._function.dynamic_shared,
            "max_threads_per_block": min(device.max_threads_per_cta, _threads(self._function.limits)),
            "num_regs": self._registers(device.max_registers_per_thread),
            "ptx_version": version[0] * 10 + version[1],
            "binary_version": target,
            **self._function.limits,
        }

    @property
    def unsupported(self) -> tuple[str, ...]:
        """Instructions that the kernel can reach and that simt does not run, as written: a launch raises
        `UnsupportedInstruction` if there are any."""
        return tuple(dict.fromkeys(m.opcode for m in self._function.missing))

    def check_supported(self) -> None:
        """Raises `UnsupportedInstruction` if the kernel cannot be launched: see `unsupported`."""
        if self._function.missing:
            raise unsupported(self.module.program, self._function)

    @property
    def obstacle(self) -> str | None:
        """Why no launch of the kernel can be right, whatever its shape and arguments: an instruction that is
        not run, or a function that nobody defines. None if there is nothing."""
        try:
            self.check_supported()
            self.module.system_calls(self._function)
        except LaunchError as problem:
            return str(problem)
        return None

    def _registers(self, most: int) -> int:
        return min(len(self._function.registers), most, *self._function.limits.get("maxnreg", ()))

    def active_ctas(self, block: Shape, shared_mem: int = 0) -> int:
        """CTAs of this shape that one multiprocessor of the device holds at a time; `.maxnctapersm` counts.
        Raises `LaunchError`."""
        try:
            shape = as_dim3(block, "block")
            return active_ctas(self._function, shape, shared_mem, self.module.device.properties)
        except LaunchError as problem:
            raise self._named(problem) from None

    @property
    def last_launch(self) -> LastLaunch | None:
        """What is known of the kernel's last launch, None if it was never launched. Launches of captured
        sequences do not count."""
        made = self.module.last_launches.get(self.name)
        if made is None:
            return None
        events = (0,) * EVENTS if made.events is None else tuple(made.events.tolist())
        return LastLaunch(made.grid, made.block, made.grid_id, events)

    def __call__(
        self,
        grid: Shape,
        block: Shape,
        args: Sequence[object] = (),
        shared_mem: int = 0,
        stream: Stream | None = None,
    ) -> None:
        """Runs the kernel and returns when it has finished.

        `grid`: CTAs, `block`: threads of a CTA, as an integer or 1 to 3 of them. `shared_mem`: bytes of
        dynamic shared memory. Raises `LaunchError` before anything runs, a `KernelFault` afterwards.
        """
        again = self._again
        if again is None or stream is not None:
            self.launch(grid, block, args, shared_mem, stream)
            return
        quick = again.quick
        if quick is not None:
            ended = quick(grid, block, args, shared_mem)
            if ended:
                return
            if ended is None:
                again.stopped()
                return
        if not again.run(grid, block, args, shared_mem):
            self.launch(grid, block, args, shared_mem, stream)

    def launch(
        self,
        grid: Shape,
        block: Shape,
        args: Sequence[object] = (),
        shared_mem: int = 0,
        stream: Stream | None = None,
        *,
        timeout: float | None = None,
        progress: Progress | None = None,
        cooperative: bool = False,
    ) -> None:
        """As calling the kernel. `timeout`: seconds, in place of the device's. `progress` is called now
        and then with the number of CTAs finished. `cooperative`: all CTAs run at once and may wait for each
        other, at barriers of the whole grid (`grid.sync()` of cooperative groups) too; `LaunchError` if the
        device has not got room for so many (`active_ctas` on each multiprocessor)."""
        module = self.module
        device = module.device
        if stream is not None:
            try:
                device.check_stream(stream)
            except LaunchError as problem:
                raise self._named(problem) from None
        if timeout is not None:
            timeout = seconds(timeout)
        self.check_supported()
        with device.launching():
            if device.captured is not None:
                self._record(device.captured, (grid, block, args, shared_mem), timeout, progress, cooperative)
                return
            changes = device.changes[0] + 1  # `_made` counts as one
            try:
                key, made = self._made(grid, block, args, shared_mem, cooperative)
            except LaunchError as problem:
                raise self._named(problem) from None
            made.progress = progress
            timeout = timeout or device.timeout
            made.deadline = None if timeout is None else time.monotonic() + timeout
            made.busy = True
            self.run(made)
            made.progress = None
            if key is not None:
                self._keep(key, made)
                plain = made.events is None and made.system is None and not self._function.breakpoints
                if plain and not made.provisional and not cooperative:
                    self._again = Again.of(self, grid, block, shared_mem, made, changes)
            made.busy = False

    def _keep(self, key: object, made: Launch) -> None:
        """The next launch like this one uses it again."""
        kept = self.module.launches
        if len(kept) >= KEPT and key not in kept:
            kept.clear()
        alike = kept.setdefault(key, [])
        if not any(known is made for known in alike):
            alike.append(made)
            del alike[:-ALIKE]

    def watched(
        self,
        watcher: Watcher,
        grid: Shape,
        block: Shape,
        args: Sequence[object] = (),
        shared_mem: int = 0,
    ) -> None:
        """As calling the kernel, on an interpreter of its own that tells a tool what all lanes do."""
        from simt.engine.interpreter import Interpreter  # only for tools: start-up time

        module, device = self.module, self.module.device
        device.check_not_captured("tracing")
        self.check_supported()
        with device.launching():
            try:
                made = self._made(grid, block, args, shared_mem)[1]
            except LaunchError as problem:
                raise self._named(problem) from None
            made.busy = False
            program = module.as_written
            made = replace(
                made, program=program, kernel=program.functions[self.name], state=None, cells=made.cells[:]
            )
            made.deadline = None if device.timeout is None else time.monotonic() + device.timeout
            self.run(made, Interpreter(watcher))

    def _made(
        self, grid: Shape, block: Shape, args: Sequence[object], shared_mem: int, cooperative: bool = False
    ) -> tuple[object, Launch]:
        """A launch that nobody else uses: it is `busy`, unless it is new. And under which key it may be kept
        for the next one if at all.

        Raises `LaunchError`."""
        module, function = self.module, self._function
        device = module.device
        grid, block = as_dim3(grid, "grid"), as_dim3(block, "block")
        key = made = None
        hook = device.on_breakpoint if function.breakpoints else None
        if type(shared_mem) is int and not module.memory.low and hook is None:
            key = (function.name, block, shared_mem, device.stack_bytes, device.workers, cooperative)
            for known in module.launches.get(key, ()):
                if not known.cells[0]:
                    known.cells[0] = 1  # `busy`: there was no call in between, where a handler might take it
                    made = known
                    break
        if made is None:
            check_shape(grid, block, function, device.properties)
            made = self._make(grid, block, self._pack(args), shared_mem, cooperative)
        else:
            try:
                check_grid(grid, device.properties)
                if cooperative:
                    check_cooperative(grid, self._active(block, shared_mem), device.properties)
                made.parameters = self._pack(args)
            except BaseException:
                made.busy = False
                raise
            made.grid = grid
        made.grid_id = device.next_grid_id()
        made.breakpoint = hook
        if made.events is not None:
            made.events[:] = 0
        module.last_launches[function.name] = made
        device.changed()  # another launch of the kernel is the last one now
        return key, made

    def _active(self, block: Dim3, shared_mem: int) -> int:
        return active_ctas(self._function, block, shared_mem, self.module.device.properties)

    def _make(self, grid: Dim3, block: Dim3, parameters: bytes, shared_mem: int, cooperative: bool) -> Launch:
        device, module, function = self.module.device, self.module, self._function
        active = self._active(block, shared_mem)
        workspace = None
        if cooperative:
            check_cooperative(grid, active, device.properties)
            workspace = Allocation(module.memory, len(WORKSPACE), align=16).view()
        return Launch(
            program=module.program, kernel=function, cells=cells_of(grid), block=block,
            parameters=parameters, symbols=module.symbols,
            shared_bytes=shared_bytes(function, shared_mem, device.properties),
            local_bytes=module.local_bytes(function, device.stack_bytes),
            device=device.properties, memory=module.memory, workers=device.workers,
            resident=device.properties.sm_count * active, workspace=workspace,
            textures=module.textures, events=np.zeros(EVENTS, np.uint64) if function.events else None,
        )  # fmt: skip

    def _record(
        self,
        sequence: LaunchSequence,
        call: Call,
        timeout: float | None,
        progress: Progress | None,
        cooperative: bool,
    ) -> None:
        """Checks a launch as if it were to run, and adds it to a sequence."""
        grid, block, args, shared_mem = call
        if timeout is not None or progress is not None:
            raise LaunchError(f"kernel {brief(self.name)}: timeout and progress cannot be captured")
        try:
            grid, block = as_dim3(grid, "grid"), as_dim3(block, "block")
            check_shape(grid, block, self._function, self.module.device.properties)
            made = self._make(grid, block, self._pack(args), shared_mem, cooperative)
            self.module.system_calls(self._function)
        except LaunchError as problem:
            raise self._named(problem) from None
        sequence.add(self, made, args)

    @cached_property
    def is_plain(self) -> bool:
        """Whether a launch needs nothing but an engine: no calls of the system, no mirrors of arrays."""
        return not self.module.system_calls(self._function) and not self.module.memory.low

    def run(self, made: Launch, engine: Engine | None = None) -> None:
        """Runs a launch; what the kernel printed is shown even if it ends in a fault."""
        module = self.module
        device = module.device
        engine = engine or device.engine
        if self.is_plain:
            engine.launch(made)
            return
        calls = module.system_calls(made.kernel)
        with device.mirrors.shared(module.memory):
            if calls:
                self._run_with_system(made, calls, engine)
            else:
                engine.launch(made)

    def _run_with_system(self, made: Launch, calls: frozenset[str], engine: Engine) -> None:
        device, module = self.module.device, self.module
        heap = device.heap(module.memory) if uses_heap(calls) else None
        bits = module.program.address_bits
        made.system = system = SystemCalls(module.memory, heap, bits // 8, device.printf)
        try:
            engine.launch(made)
        finally:
            system.flush()

    def _pack(self, args: Sequence[object]) -> bytes:
        if not isinstance(args, (tuple, list)):
            raise LaunchError(f"args: expected a tuple of arguments, {type(args).__name__} given")
        return self.packer.pack(args)

    @cached_property
    def packer(self) -> Packer:
        """Makes the parameter block of the kernel's arguments."""
        function, bits = self._function, self.module.program.address_bits
        return Packer(function.kernel_parameters, function.parameter_size, bits, self._address_of)

    def _address_of(self, argument: object) -> int | None:
        """What a device array means to this kernel: its address in the module's memory."""
        if not isinstance(argument, DeviceArray):
            return None
        allocation, module = argument.allocation, self.module
        if allocation.alive and allocation.arena is module.memory and argument.device is module.device:
            return allocation.address  # almost always
        if argument.device is not self.module.device:
            raise LaunchError(f"the array lies on another device: {argument!r}")
        if argument.is_freed:
            raise LaunchError("the array was freed")
        return self.module.device.mirrors.address(argument, self.module.memory)

    def _named(self, problem: LaunchError) -> LaunchError:
        prefix = f"kernel {brief(self.name)}: "
        text = str(problem)
        return LaunchError(text if text.startswith(prefix) else prefix + text)

    def __repr__(self) -> str:
        return f"<Kernel {self.name}({', '.join(f'{p.type} {p.name}' for p in self.params)})>"


def _threads(limits: Mapping[str, tuple[int, ...]]) -> int:
    """The most threads of a CTA that the directives allow."""
    shapes = [limits[d] for d in ("maxntid", "reqntid") if d in limits]
    return min((math.prod(s) for s in shapes), default=sys.maxsize)
