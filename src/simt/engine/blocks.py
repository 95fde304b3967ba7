"""Memory that compiled code reads and writes beside the program's own: blocks of slots, and what a native
thread needs to run CTAs."""

from __future__ import annotations

import weakref

import numpy as np

from simt.analysis.shape import WARP
from simt.engine.abi import BEYOND, LINE_SLOTS, WORKER_SLOTS, FaultSlot, WorkerSlot
from simt.engine.llvm_barriers import TABLE_BYTES
from simt.machine.launch import Launch, Memory
from simt.records import dataclass

_ALIGNMENT = 8 * LINE_SLOTS
APART = 1 << 14
"""Bytes between the device memory in which different threads work. A CPU that follows a thread through memory
brings what comes next, some 8 of its steps ahead, and takes it from the cache of the thread whose it is."""
CONTEXTS_APART = 1 << 16
"""The same for saved contexts, where steps go from warp to warp. (Pages that nobody touches cost nothing.)"""


class Block:
    """64-bit slots that share no cache line with anything else."""

    def __init__(self, slots: int) -> None:
        size = -(-slots // LINE_SLOTS) * _ALIGNMENT
        memory = np.zeros(size + _ALIGNMENT, np.uint8)
        start = -memory.ctypes.data % _ALIGNMENT
        self.address: int = memory.ctypes.data + start
        self.bytes: memoryview = memory[start : start + size].data
        self.slots = self.bytes.cast("q")


@dataclass(frozen=True, slots=True)
class Need:
    """Bytes that each native thread needs for a kernel: shared memory, local memory of all threads of a CTA,
    saved contexts of warps."""

    shared: int = 0  # a multiple of 256
    local: int = 0
    context: int = 0

    @staticmethod
    def of(launch: Launch, context: int, warps: int) -> Need:
        """`context`: bytes for each of the `warps` of a CTA."""
        local = local_bytes(launch) * WARP * warps
        return Need(-(-launch.shared_bytes // 256) * 256, local, context * warps)

    @property
    def device_bytes(self) -> int:
        return self.shared + self.local

    def merged(self, other: Need) -> Need:
        """What is enough for both."""
        return Need(
            max(self.shared, other.shared), max(self.local, other.local), max(self.context, other.context)
        )


def local_bytes(launch: Launch) -> int:
    """Local memory of one thread."""
    return (launch.local_bytes + 15) // 16 * 16


class Worker:
    """One native thread's block and memory, or one fiber's."""

    def __init__(self, number: int, need: Need, memory: int, apart: int = CONTEXTS_APART) -> None:
        """`memory`: address of device memory. `apart`: bytes between saved contexts and those of others."""
        self.block = Block(WORKER_SLOTS)
        self._contexts = np.zeros(need.context + TABLE_BYTES + 64 + apart, np.uint8)
        slots = self.block.slots
        self.work_in(memory, need)
        slots[WorkerSlot.CONTEXT] = (self._contexts.ctypes.data + 63) // 64 * 64
        slots[WorkerSlot.SM] = number
        slots[WorkerSlot.ROOT] = slots[WorkerSlot.NEXT] = slots[WorkerSlot.PREVIOUS] = self.block.address

    def work_in(self, memory: int, need: Need) -> None:
        """`memory`: address of device memory for the shared and local memory of a CTA."""
        self.block.slots[WorkerSlot.SHARED] = memory
        self.block.slots[WorkerSlot.LOCAL] = memory + need.shared

    @property
    def fault(self) -> memoryview | None:
        """`FaultSlot`s, None if there is no fault."""
        fault = self.block.slots[WorkerSlot.FAULT :]
        return fault if fault[FaultSlot.KIND] else None


class Crew:
    """Workers, made when they are first asked for, and other device memory of an engine's own. It is freed
    when the crew is collected or closed."""

    def __init__(self, memory: Memory, need: Need) -> None:
        self.need = need
        self.workers: list[Worker] = []
        self._memory = memory
        self._owned: list[int] = []
        self._finalizer = weakref.finalize(self, _free, memory, self._owned)
        self._finalizer.atexit = False

    def allocate(self, nbytes: int) -> int:
        """Address of zero-filled device memory. Raises `OutOfMemory`."""
        address = self._memory.allocate(max(nbytes, 64))
        self._owned.append(address)
        return address

    def free(self, address: int) -> None:
        """Gives memory back that was allocated here."""
        self._owned.remove(address)
        self._memory.free(address)

    @property
    def limit(self) -> int:
        """End of the device memory allocated so far, the workers' own included."""
        return self._memory.limit

    def worker(self, number: int) -> Worker:
        """Raises `OutOfMemory`."""
        while len(self.workers) <= number:
            memory = self.allocate(self.need.device_bytes + max(BEYOND, APART))
            self.workers.append(Worker(len(self.workers), self.need, memory))
        return self.workers[number]

    def close(self) -> None:
        self._finalizer()


def _free(memory: Memory, owned: list[int]) -> None:
    while owned:
        memory.free(owned.pop())
