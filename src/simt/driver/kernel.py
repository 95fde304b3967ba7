"""Kernels: what a module's entries look like to Python."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from simt.analysis.program import Function, Parameter
from simt.driver.array import DeviceArray
from simt.driver.engines import seconds
from simt.driver.stream import Stream
from simt.errors import LaunchError
from simt.machine.arguments import pack
from simt.machine.grid import Shape, as_dim3, check_shape, shared_bytes
from simt.machine.launch import Dim3, Launch
from simt.machine.syscalls import SystemCalls, uses_heap

if TYPE_CHECKING:
    from simt.driver.module import Module

Progress = Callable[[int], None]


class Kernel:
    """A kernel of a loaded module. Call it as CuPy's RawKernel: `k(grid, block, args)`."""

    def __init__(self, module: Module, function: Function) -> None:
        self.module = module
        self._function = function

    @property
    def name(self) -> str:
        return self._function.name

    @property
    def params(self) -> tuple[Parameter, ...]:
        """The declared parameters: name, type, byte offset and size in the parameter block."""
        return self._function.kernel_parameters

    @property
    def attributes(self) -> dict[str, int | tuple[int, ...]]:
        """Resources, by CuPy's names, and the kernel's performance directives (tables 98-100)."""
        program, device = self.module.program, self.module.device.properties
        version, target = program.environment.version, program.environment.target
        return {
            "shared_size_bytes": self._function.shared_size,
            "local_size_bytes": self.module.local_bytes(self._function, self.module.device.stack_bytes),
            "const_size_bytes": sum(v.size for v in program.variables.values() if v.space == "const"),
            "max_dynamic_shared_size_bytes": device.max_shared_memory_per_cta - self._function.dynamic_shared,
            "max_threads_per_block": min(device.max_threads_per_cta, _threads(self._function.limits)),
            "num_regs": len(self._function.registers),
            "ptx_version": version[0] * 10 + version[1],
            "binary_version": target,
            **self._function.limits,
        }

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
    ) -> None:
        """As calling the kernel. `timeout`: seconds, in place of the device's. `progress` is called now
        and then with the number of CTAs finished."""
        device = self.module.device
        if stream is not None:
            self._check_stream(stream)
        with device.launching(), self._named_errors():
            launch = self._prepare(as_dim3(grid, "grid"), as_dim3(block, "block"), args, shared_mem)
            launch.progress = progress
            with device.mirrors.shared(self.module.memory):
                _set_deadline(launch, device.timeout if timeout is None else seconds(timeout))
                self._run(launch)

    def _run(self, launch: Launch) -> None:
        """Runs the launch; what the kernel printed is shown even if it ends in a fault."""
        device, module = self.module.device, self.module
        calls = module.system_calls(launch.kernel)
        if not calls:
            device.engine.launch(launch)
            return
        heap = device.heap(module.memory) if uses_heap(calls) else None
        bits = module.program.address_bits
        launch.system = system = SystemCalls(module.memory, heap, bits // 8, device.printf)
        try:
            device.engine.launch(launch)
        finally:
            system.flush()

    def _check_stream(self, stream: object) -> None:
        if not isinstance(stream, Stream):
            raise LaunchError(f"kernel {self.name}: stream: expected a Stream or None, {stream!r} given")
        if stream.device is not self.module.device:
            raise LaunchError(f"kernel {self.name}: the stream belongs to another device")

    def _prepare(self, grid: Dim3, block: Dim3, args: Sequence[object], shared_mem: int) -> Launch:
        device, module, function = self.module.device, self.module, self._function
        check_shape(grid, block, function, device.properties)
        return Launch(
            program=module.program, kernel=function, grid=grid, block=block,
            parameters=self._pack(args), symbols=module.symbols,
            shared_bytes=shared_bytes(function, shared_mem, device.properties),
            local_bytes=module.local_bytes(function, device.stack_bytes),
            device=device.properties, memory=module.memory, workers=device.workers,
            grid_id=device.next_grid_id(), textures=module.textures,
        )  # fmt: skip

    def _pack(self, args: Sequence[object]) -> bytes:
        if not isinstance(args, (tuple, list)):
            raise LaunchError(f"args: expected a tuple of arguments, {type(args).__name__} given")
        function, bits = self._function, self.module.program.address_bits
        return pack(function.kernel_parameters, function.parameter_size, args, bits, self._address_of)

    def _address_of(self, argument: object) -> int | None:
        """What a device array means to this kernel: its address in the module's memory."""
        if not isinstance(argument, DeviceArray):
            return None
        if argument.device is not self.module.device:
            raise LaunchError(f"the array lies on another device: {argument!r}")
        if argument.is_freed:
            raise LaunchError("the array was freed")
        return self.module.device.mirrors.address(argument, self.module.memory)

    @contextmanager
    def _named_errors(self) -> Generator[None]:
        try:
            yield
        except LaunchError as problem:
            prefix = f"kernel {self.name}: "
            text = str(problem)
            raise LaunchError(text if text.startswith(prefix) else prefix + text) from None

    def __repr__(self) -> str:
        return f"<Kernel {self.name}({', '.join(f'{p.type} {p.name}' for p in self.params)})>"


def _threads(limits: Mapping[str, tuple[int, ...]]) -> int:
    """The most threads of a CTA that the directives allow."""
    shapes = [limits[d] for d in ("maxntid", "reqntid") if d in limits]
    return min((math.prod(s) for s in shapes), default=sys.maxsize)


def _set_deadline(launch: Launch, timeout: float | None) -> None:
    if timeout is not None:
        launch.deadline = time.monotonic() + timeout
