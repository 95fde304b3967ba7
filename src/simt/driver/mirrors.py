"""Arrays as kernels with 32-bit addresses see them.

Arrays lie in the device's main arena, above 4 GiB. One that is passed to a kernel of a 32-bit module gets
a mirror in the low arena, at an address that stays as long as the array lives. Mirrors are brought up to
date before each launch of such a module and copied back after it, whether or not it ended in a fault.
"""

from __future__ import annotations

import weakref
from collections.abc import Generator
from contextlib import contextmanager

from simt.driver.array import Allocation, DeviceArray
from simt.errors import LaunchError
from simt.machine.memory import Arena


class Mirrors:
    """The mirrors of one device's arrays."""

    def __init__(self) -> None:
        self._of: weakref.WeakKeyDictionary[DeviceArray, Allocation] = weakref.WeakKeyDictionary()

    def address(self, array: DeviceArray, memory: Arena) -> int:
        """The array's address in this memory. Raises `LaunchError` if it cannot be there."""
        if array.arena is memory:
            return array.ptr
        if not memory.low:
            raise LaunchError("the array belongs to a module with 32-bit addresses, this one has 64-bit ones")
        if array not in self._of:
            self._of[array] = Allocation(memory, array.nbytes)
        return self._of[array].address

    @contextmanager
    def shared(self, memory: Arena) -> Generator[None]:
        """Keeps arrays and mirrors the same around a launch in this memory."""
        pairs = self._pairs() if memory.low else []
        for array, mirror in pairs:
            mirror.view()[:] = array.bytes()
        try:
            yield
        finally:
            for array, mirror in pairs:
                array.bytes()[:] = mirror.view()

    def _pairs(self) -> list[tuple[DeviceArray, Allocation]]:
        return [(array, mirror) for array, mirror in self._of.items() if not array.is_freed]
