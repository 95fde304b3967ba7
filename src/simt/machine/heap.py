"""The heap that kernels take memory from with `malloc`."""

from __future__ import annotations

from simt.machine.launch import Memory
from simt.machine.memory import FreeList, round_up

HEAP_BYTES = 8 << 20
"""Bytes of a device's heap, unless the device says otherwise: CUDA's default."""
ALIGNMENT = 16


class Heap:
    """Blocks within one allocation of device memory. They live until they are freed, over any launches.

    `size`: bytes. Raises `OutOfMemory` if the device has no room for the heap.
    """

    def __init__(self, memory: Memory, size: int) -> None:
        self.size = size
        start = memory.allocate(size)
        self._ranges = FreeList(start, start + size)

    def allocate(self, nbytes: int, align: int = ALIGNMENT) -> int:
        """Address of a new block, 0 if there is no room. A block of no bytes has an address, too."""
        size = round_up(max(nbytes, 1), ALIGNMENT)
        return self._ranges.take(size, max(align, ALIGNMENT)) or 0

    def free(self, address: int) -> bool:
        """Frees a block; False if none begins at the address."""
        if self._ranges.size(address) is None:
            return False
        self._ranges.give(address)
        return True

    @property
    def used(self) -> int:
        """Bytes in use."""
        return self._ranges.used
