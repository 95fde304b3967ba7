"""Guards around what the engine allocates for compiled code: words of which none may change.

Behind each block of slots, saved contexts and the table of barriers, between the shared and the local memory
of a worker and behind them, and behind every allocation of device memory, from its last byte on.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from weakref import WeakKeyDictionary, WeakSet

import numpy as np
from numpy.typing import NDArray

from simt.engine import blocks, fibers, prepared
from simt.engine.abi import LINE_SLOTS, WorkerSlot
from simt.engine.blocks import Block, Need, Worker
from simt.engine.llvm_barriers import TABLE_BYTES
from simt.machine.launch import Launch
from simt.machine.memory import ALIGNMENT, Arena, round_up

FILL = 0xA6
ROOM = 512
"""Bytes of a guard."""
EXACT = "GUARDED_EXACT"
"""In the environment: device memory is as large as it is, without guards, for tests that fill it."""
Bytes = NDArray[np.uint8]
Fails = Callable[[str], None]


def put(owner: object, **attributes: object) -> None:
    """Puts something else in the place of methods."""
    for name, attribute in attributes.items():
        setattr(owner, name, attribute)


class Guards:
    """All guards of the process, and who is told what has changed."""

    def __init__(self, fails: Fails) -> None:
        self._fails = fails
        self._of: WeakKeyDictionary[object, list[tuple[str, Bytes]]] = WeakKeyDictionary()
        self._arenas: WeakSet[Arena] = WeakSet()
        self._behind: WeakKeyDictionary[Arena, dict[int, tuple[int, int]]] = WeakKeyDictionary()
        self.looks = 0

    def install(self) -> None:
        self._blocks()
        self._workers()
        self._memory()
        self._launches()

    def add(self, owner: object, what: str, place: Bytes) -> None:
        place[...] = FILL
        self._of.setdefault(owner, []).append((what, place))

    def _forget(self, start: int, end: int) -> None:
        """Memory is given back, guards in it too."""
        for owner, found in list(self._of.items()):
            kept = [(what, place) for what, place in found if not start <= place.ctypes.data < end]
            for what, place in found:
                if start <= place.ctypes.data < end:
                    self._told(what, place)
            self._of[owner] = kept

    def look(self) -> None:
        """Tells of all that has changed."""
        self.looks += 1
        for found in list(self._of.values()):
            for what, place in found:
                self._told(what, place)
        for arena in list(self._arenas):
            for address, (start, size) in list(self._behind[arena].items()):
                self._told(f"device memory of {start - address} bytes", arena.view(start, size))

    def _told(self, what: str, place: Bytes) -> None:
        if np.any(place != FILL):
            at = int(np.argmax(place != FILL))
            self._fails(f"behind {what}: byte {at} was written {os.environ.get('PYTEST_CURRENT_TEST', '')}")
            place[...] = FILL

    def _blocks(self) -> None:
        def made(block: Block, slots: int) -> None:
            align = 8 * LINE_SLOTS
            size = round_up(8 * slots, align)
            memory = np.zeros(size + align + 2 * ROOM, np.uint8)
            start = ROOM + -(memory.ctypes.data + ROOM) % align
            block.address = memory.ctypes.data + start
            block.bytes = memory[start : start + size].data
            block.slots = block.bytes.cast("q")
            self.add(block, f"(before) a block of {slots} slots", memory[:start])
            self.add(block, f"a block of {slots} slots", memory[start + 8 * slots :])

        put(Block, __init__=made)

    def _workers(self) -> None:
        def device_bytes(need: Need) -> int:
            return need.shared + ROOM + need.local

        def made(
            worker: Worker, number: int, need: Need, memory: int, apart: int = blocks.CONTEXTS_APART
        ) -> None:
            worker.block = Block(blocks.WORKER_SLOTS)
            used = need.context + TABLE_BYTES
            contexts: Bytes = np.zeros(used + 64 + max(apart, ROOM), np.uint8)
            start = -contexts.ctypes.data % 64
            worker._contexts = contexts
            self.add(worker, f"contexts of {need.context} bytes", contexts[start + used :][:ROOM])
            slots = worker.block.slots
            worker.work_in(memory, need)
            slots[WorkerSlot.CONTEXT] = contexts.ctypes.data + start
            slots[WorkerSlot.SM] = number
            slots[WorkerSlot.ROOT] = slots[WorkerSlot.NEXT] = slots[WorkerSlot.PREVIOUS] = (
                worker.block.address
            )

        def work_in(worker: Worker, memory: int, need: Need) -> None:
            slots = worker.block.slots
            slots[WorkerSlot.SHARED] = memory
            slots[WorkerSlot.LOCAL] = memory + need.shared + ROOM if memory else 0
            if memory:
                arena = next(a for a in self._arenas if a.base <= memory < a.limit)
                self.add(worker, "shared memory", arena.view(memory + need.shared, ROOM))
                end = memory + need.device_bytes
                self.add(worker, "local memory", arena.view(end, blocks.BEYOND))

        put(Need, device_bytes=property(device_bytes))
        put(Worker, __init__=made, work_in=work_in)

    def _memory(self) -> None:
        before, free, begin = Arena.allocate, Arena.free, Arena.__init__

        def begun(arena: Arena, size: int, *, low: bool = False) -> None:
            begin(arena, size, low=low)
            self._arenas.add(arena)
            self._behind[arena] = {}

        def allocate(arena: Arena, nbytes: int, align: int = ALIGNMENT) -> int:
            used = max(int(nbytes), 1)
            whole = round_up(used, ALIGNMENT) + ROOM
            address = before(arena, whole, align)
            arena.view(address + used, whole - used)[...] = FILL
            self._behind[arena][address] = address + used, whole - used
            return address

        def freed(arena: Arena, address: int) -> None:
            if (found := self._behind[arena].pop(address, None)) is not None:
                self._told(f"device memory of {found[0] - address} bytes", arena.view(*found))
                self._forget(address, sum(found))
            free(arena, address)

        put(Arena, __init__=begun)
        if EXACT not in os.environ:
            put(Arena, allocate=allocate, free=freed)

    def _launches(self) -> None:
        run, end = prepared.Prepared.run, fibers.Fibers.end

        def ran(made: prepared.Prepared, launch: Launch) -> None:
            try:
                run(made, launch)
            finally:
                self.look()

        def ended(made: fibers.Fibers) -> None:
            self.look()
            for fiber in made.members:  # their memory may be given back
                self._of[fiber] = [f for f in self._of.get(fiber, []) if "contexts" in f[0]]
            end(made)
            for fiber in made.members:
                if fiber.has_memory:
                    fiber.work_in(fiber.block.slots[WorkerSlot.SHARED], made._crew.need)

        put(prepared.Prepared, run=ran)
        put(fibers.Fibers, end=ended)
