"""Captured sequences of launches: recorded once, run any number of times at little cost each."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from simt.driver.array import DeviceArray
from simt.driver.engines import seconds
from simt.errors import KernelFault, LaunchError, brief
from simt.machine.launch import Launch, Replay, Replaying
from simt.records import dataclass

if TYPE_CHECKING:
    from simt.driver.device import Device
    from simt.driver.kernel import Kernel
    from simt.driver.stream import Stream


@dataclass(frozen=True, slots=True)
class Recorded:
    """A launch as it was captured. `arrays`: the device arrays among its arguments, by parameter."""

    kernel: Kernel
    launch: Launch
    arrays: tuple[tuple[int, DeviceArray], ...]


class LaunchSequence:
    """Launches that run in the order in which they were captured: what CUDA calls a graph. Made by
    `Device.capture`.

        with device.capture() as sequence:
            step((64,), (256,), (n, x, y))
            step((64,), (256,), (n, y, x))
        for _ in range(1000):
            sequence()

    Nothing runs while launches are captured. Kernels, grids, blocks, arguments and sizes of shared memory
    are those of the capture; arrays keep their addresses and are kept alive by the sequence, and each run
    works on what they hold then. What Python does between the captured calls is not part of the sequence:
    copies to and from arrays raise `SimtError` meanwhile, and launches by other threads wait.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        self.thread = threading.get_ident()
        self.complete = False
        self._launches: list[Recorded] = []
        self._parts: list[Replay] = []
        self._sizes: list[int] = []

    def add(self, kernel: Kernel, launch: Launch, args: Sequence[object]) -> None:
        """Records a launch."""
        arrays = tuple((i, a) for i, a in enumerate(args) if isinstance(a, DeviceArray))
        self._launches.append(Recorded(kernel, launch, arrays))

    def __call__(self, stream: Stream | None = None, *, timeout: float | None = None) -> None:
        """Runs all launches and returns when the last one has finished.

        `timeout`: seconds that each kernel may run, in place of the device's. Raises `LaunchError` before
        anything runs if an array was freed; a `KernelFault` if a kernel is stopped, with a note which launch
        it was: those after it do not run.
        """
        self.launch(stream, timeout=timeout)

    def launch(self, stream: Stream | None = None, *, timeout: float | None = None) -> None:
        """As calling the sequence."""
        device = self.device
        if stream is not None:
            device.check_stream(stream)
        limit = device.timeout if timeout is None else seconds(timeout)
        with device.launching():
            self._check()
            if not self._parts:
                self._form()
            first = device.next_grid_id(len(self._launches))
            for part, size in zip(self._parts, self._sizes):
                try:
                    part.run(first, limit)
                except KernelFault as fault:
                    self._note(fault, part)
                    raise
                first += size

    def _check(self) -> None:
        if not self.complete:
            raise LaunchError("the sequence was not captured to its end")
        if self.device.captured is not None:
            raise LaunchError("a sequence cannot run while launches are captured")
        for number, recorded in enumerate(self._launches):
            for parameter, array in recorded.arrays:
                if array.is_freed:
                    where = f"launch {number} of the sequence, kernel {brief(recorded.kernel.name)}"
                    raise LaunchError(f"{where}: the array for parameter {parameter} was freed")

    def _form(self) -> None:
        """Joins launches that the engine runs better together."""
        engine = self.device.engine
        for plain, group in groupby(self._launches, lambda r: r.kernel.is_plain):
            members = list(group)
            if plain and isinstance(engine, Replaying):
                self._parts.append(engine.sequence([r.launch for r in members]))
            else:
                self._parts.append(OneByOne(members))
            self._sizes.append(len(members))

    def _note(self, fault: KernelFault, part: Replay) -> None:
        index = self._parts.index(part)
        number = sum(self._sizes[:index]) + part.stopped
        fault.add_note(f"launch {number} of a captured sequence of {len(self._launches)}, counted from 0")

    def __len__(self) -> int:
        """The number of launches."""
        return len(self._launches)

    def __repr__(self) -> str:
        return f"<LaunchSequence of {len(self._launches)} launches on {self.device.name}>"


class OneByOne:
    """Launches that run as if they were called."""

    def __init__(self, launches: Sequence[Recorded]) -> None:
        self._launches = launches
        self.stopped = 0

    def run(self, grid_id: int, timeout: float | None) -> None:
        for i, recorded in enumerate(self._launches):
            self.stopped, launch = i, recorded.launch
            launch.grid_id = grid_id + i
            launch.deadline = None if timeout is None else time.monotonic() + timeout
            recorded.kernel.run(launch)
