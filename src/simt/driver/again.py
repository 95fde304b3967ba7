"""A kernel's latest launch, to be made once more: what most programs do most of the time.

Where a program works through more memory than caches hold between two launches, each object that a launch
looks at, and each function that it calls, comes from far away: the general way (`Kernel.launch`) takes 100
microseconds then in place of 6. This one is short. It leaves to the other whatever is not as it was, errors
included.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import count
from math import prod
from typing import TYPE_CHECKING, Literal
from weakref import ref

from simt.driver.array import DeviceArray
from simt.errors import LaunchError
from simt.machine.grid import Shape, as_dim3, check_grid
from simt.machine.launch import ARRAYS, Arrays, Given, Launch, Repeated, Repeating

if TYPE_CHECKING:
    from simt.driver.kernel import Kernel


_numbers = count(1)  # of objects of the class below
Quick = Callable[[Shape, Shape, Sequence[object], object], "bool | None"]


class _Latest:
    """Arrays that were given for one parameter, the last one first. They may end, or be freed."""

    __slots__ = ("_arrays",)

    def __init__(self, array: DeviceArray, before: object) -> None:
        """`before`: what is known of the parameter so far."""
        self._arrays = [ref(array)]
        if isinstance(before, _Latest):
            others = [known for known in before._arrays if known() is not array and _has_memory(known)]
            self._arrays += others[: ARRAYS - 1]

    def __contains__(self, array: DeviceArray) -> bool:
        """Whether it was given before, and still has memory."""
        return array.allocation.alive and any(known() is array for known in self._arrays)

    def is_last(self, array: DeviceArray) -> bool:
        return self._arrays[0]() is array

    def prune(self) -> bool:
        """Forgets those but the last one that cannot be given any more; whether there were any."""
        before, self._arrays[1:] = (
            len(self._arrays),
            [known for known in self._arrays[1:] if _has_memory(known)],
        )
        return len(self._arrays) < before

    def living(self) -> Arrays:
        found = [known for known in self._arrays if _has_memory(known)]
        return Arrays(tuple(found), tuple([array.ptr for known in found if (array := known()) is not None]))


def _has_memory(known: ref[DeviceArray]) -> bool:
    array = known()
    return array is not None and array.allocation.alive


class Again:
    """A launch that has ended well, by the grid, block and bytes of shared memory that its caller gave."""

    __slots__ = (
        "_args", "_arrays_seen", "_block", "_cells", "_changes", "_device", "_dim3", "_engine", "_grid",
        "_ids", "_last", "_lasts", "_lock", "_made", "_memory_changes", "_name", "_number", "_packer",
        "_parameters", "_repeated", "_seen", "_shared_mem", "_stack_bytes", "_timeout", "_workers",
        "quick",
    )  # fmt: skip

    def __init__(self, kernel: Kernel, grid: Shape, block: Shape, shared_mem: int, made: Launch) -> None:
        self._grid, self._block, self._shared_mem = grid, block, shared_mem
        self._dim3, self._made, self._cells = as_dim3(grid, "grid"), made, made.cells
        self._device = device = kernel.module.device
        self._number = next(_numbers)
        self._ids, self._changes = device.grid_ids, device.changes
        self._memory_changes = made.memory.changes
        self._stack_bytes, self._workers = device.stack_bytes, device.workers
        self._seen = self._changes[0]  # `of` looks whether it is what it was
        self._timeout, self._engine = device.timeout, device.engine
        self._lock = device.launching()
        self._packer = kernel.packer
        self._lasts = False  # whether the launch after that with a new grid may well be one of `quick`'s
        self._args: tuple[object | _Latest, ...] | None = None  # arrays: the latest ones, last one first
        self._arrays_seen = 0  # what `_memory_changes` was when all of these had memory
        self._parameters = b""
        self._name, self._last = kernel.name, kernel.module.last_launches
        self._repeated: Repeated | Literal[False] | None = None  # for the present arguments; False: never
        self.quick: Quick | None = None
        """Makes the launch once more, if it is ready for that: see `Repeated.call`."""

    @staticmethod
    def of(
        kernel: Kernel, grid: Shape, block: Shape, shared_mem: int, made: Launch, changes: int
    ) -> Again | None:
        """None if callers could change the objects that they gave, or if the device is not any more as it was
        when the launch was made, with so many `changes`."""
        if not (_is_fixed(grid) and _is_fixed(block)):
            return None
        again = Again(kernel, grid, block, shared_mem, made)
        return again if kernel.module.device.changes[0] == changes else None

    def run(self, grid: Shape, block: Shape, args: Sequence[object], shared_mem: object) -> bool:
        """Runs the kernel if nothing is new but the grid and plain arguments. False: nothing was done."""
        if not (block is self._block or _is_same(block, self._block)):
            return False
        if shared_mem is not self._shared_mem or type(args) not in (tuple, list):
            return False
        with self._lock:
            made, cells, ids, timeout = self._made, self._cells, self._ids, self._timeout
            if cells[0]:
                return False
            cells[0] = 1  # `busy`: there was no call in between, where a handler of signals might launch it
            memory_changes = self._memory_changes[0]
            of_grid = grid is self._grid or _is_same(grid, self._grid)
            parameters = self._alike(args)
            alike = parameters is not None
            follows = cells[2] == self._number
            if self._repeated is False and alike and parameters is not self._parameters:
                self._takes(args)  # there may be better code for these integers
            if (self._changes[0] != self._seen and not self._fits()) or not (
                (of_grid or self._takes_grid(grid)) and (alike or self._takes(args))
            ):
                cells[0] = 0
                return False
            cells[2] = self._number
            made.parameters = parameters or self._parameters
            made.grid = self._dim3  # kernels of one name share it
            ids[0] = cells[1] = ids[0] + 1
            made.deadline = None if timeout is None else time.monotonic() + timeout
            if self._last.get(self._name) is not made:
                self._last[self._name] = made
                self._device.changed()
                self._seen += 1  # not what it is now: something else may have changed too
            self._engine.launch(made)
            expected = alike and follows and (of_grid or self._lasts)
            self.quick = self._ready(memory_changes) if expected else None
            cells[0] = 0
        return True

    def _fits(self) -> bool:
        """Whether what has changed is nothing that the launch was made for."""
        device = self._device
        seen = self._changes[0]
        if (
            device.is_capturing
            or device.workers != self._workers
            or device.stack_bytes != self._stack_bytes
            or device.timeout != self._timeout
            or device.engine is not self._engine
        ):
            return False
        self._seen = seen
        return True

    def _ready(self, memory_changes: int) -> Quick | None:
        """What makes the launch that has just ended once more, if the engine can do that. Arrays may have
        been freed, and the device set, while it ran."""
        if memory_changes != self._arrays_seen:
            self._arrays_seen = memory_changes
            for known in self._args or ():
                if isinstance(known, _Latest) and known.prune():
                    self._repeated = None
        if self._repeated is None or (self._repeated and not self._repeated.is_current):
            self._repeated = self._repetition() or False
        repeated = self._repeated
        return repeated.call if repeated and repeated.arm(self._seen, memory_changes) else None

    def _repetition(self) -> Repeated | None:
        engine, device = self._engine, self._device
        if not isinstance(engine, Repeating):
            return None
        shape, args = (self._grid, self._block, self._shared_mem), self._args or ()
        given = tuple([known.living() if isinstance(known, _Latest) else known for known in args])
        numbers = device.changes, self._memory_changes, device.grid_ids
        return engine.repeat(
            self._made,
            Given(shape, given, self._packer.places, self._lock, *numbers, self._timeout, self._parameters),
        )

    def stopped(self) -> None:
        """Ends a launch that `quick` has begun and that was stopped. Raises its `KernelFault`."""
        if self._repeated:
            self._repeated.stopped()

    def _takes_grid(self, grid: Shape) -> bool:
        """Whether another grid is right; it is the one that the next launch is expected to have."""
        if not _is_fixed(grid):
            return False
        try:
            dim3 = as_dim3(grid, "grid")
            check_grid(dim3, self._device.properties)
        except LaunchError:
            return False
        ctas = prod(dim3)
        alike = ctas.bit_length() == prod(self._dim3).bit_length()
        self._grid, self._dim3 = grid, dim3
        self._lasts = self._repeated.regrid(grid, ctas, alike) if self._repeated else alike
        return True

    def _alike(self, args: Sequence[object]) -> bytes | None:
        """The parameters, if the arguments are the objects that they were, and mean what they meant, but for
        other integers of the same types, and arrays that were given before."""
        known_args, same = self._args, True
        if known_args is None or len(args) != len(known_args):
            return None
        for index, (argument, known) in enumerate(zip(args, known_args)):
            if argument is known:
                continue
            if isinstance(known, _Latest):
                if not isinstance(argument, DeviceArray) or argument not in known:
                    return None
                same = same and known.is_last(argument)
            elif type(argument) is type(known) and self._packer.places[index] is not None:
                same = False
            else:
                return None
        return self._parameters if same else self._packer.plain(args)

    def _takes(self, args: Sequence[object]) -> bool:
        """Whether all arguments are numbers and arrays; the next launch is expected to have the same, or
        arrays that were given before."""
        parameters = self._packer.plain(args)
        if parameters is None:
            return False
        before = self._args or (None,) * len(args)
        self._parameters = parameters
        self._repeated = None
        self._args = tuple([_Latest(a, b) if isinstance(a, DeviceArray) else a for a, b in zip(args, before)])
        return True


def _is_same(shape: Shape, known: Shape) -> bool:
    """Whether an integer or a tuple says the same as a known one."""
    return _is_fixed(shape) and shape == known


def _is_fixed(shape: Shape) -> bool:
    """Whether the same object is always the same shape."""
    return type(shape) is int or (isinstance(shape, tuple) and {*map(type, shape)} == {int})
