"""Workers that share a native thread, made when CTAs wait for others that have not begun.

A native thread runs one CTA to its end, then the next. On a GPU all CTAs that fit run at once, and programs
make use of it: barriers of the whole grid, a queue whose consumers come before its producers. So a launch
that does not get on gets *fibers*: more workers, each with a stack of its own, that take turns on the threads
that there are (`simt.engine.native_fibers`). It gets no more than the device has room for CTAs.
"""

from __future__ import annotations

import mmap
import threading
from array import array

import numpy as np

from simt.diagnostics import counted
from simt.engine.abi import BEYOND, NATIVE_STACK, LaunchSlot, WorkerSlot
from simt.engine.blocks import Block, Crew, Need, Worker
from simt.engine.made import Compiled, Native
from simt.engine.native_fibers import EAGER
from simt.engine.native_stack import WANTED
from simt.errors import OutOfMemory
from simt.machine.launch import Launch
from simt.pages import LIBC

KEPT_BYTES = 1 << 20
"""Device memory of fibers that is kept for the next launch."""
KEPT_FIBERS = 2048
"""Fibers that are kept for the next launch. Making one takes 50 us; one that has run has some 20 KB of
memory."""
PAGE = mmap.PAGESIZE


class Stack:
    """Native stack of a fiber, as the system gives it: pages that nobody has touched take no memory. A page
    below it cannot be touched. Raises `OSError`."""

    def __init__(self, size: int) -> None:
        self.size = size
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        flags |= getattr(mmap, "MAP_NORESERVE", 0) | getattr(mmap, "MAP_STACK", 0)
        self._memory = mmap.mmap(-1, PAGE + size, flags=flags)
        start = np.frombuffer(self._memory, np.uint8).ctypes.data
        LIBC.mprotect(start, PAGE, 0)
        if hasattr(mmap, "MADV_NOHUGEPAGE"):
            self._memory.madvise(mmap.MADV_NOHUGEPAGE)
        self.end = start + PAGE + size


class Fiber(Worker):
    """A worker without a thread of its own."""

    def __init__(self, number: int, need: Need) -> None:
        super().__init__(number, need, 0, apart=0)
        self._stack: Stack | None = None

    def prepare(self, stack: int, number: int) -> None:
        """For a launch: so many bytes of stack, on a multiprocessor."""
        if self._stack is None or self._stack.size < stack:
            self._stack = Stack(stack)
        slots = self.block.slots
        slots[WorkerSlot.STACK] = self._stack.end
        slots[WorkerSlot.SM] = number
        slots[WorkerSlot.FINISHED] = 0

    @property
    def has_memory(self) -> bool:
        return self.block.slots[WorkerSlot.SHARED] != 0


class Fibers:
    """Those of the launches of one kernel, one launch at a time.

    `members`: in the order in which they begin; the first `used` of them take part in the launch."""

    def __init__(self, launch: Launch, compiled: Compiled, native: Native, crew: Crew, block: Block) -> None:
        """`block`: the launch's."""
        self.members: list[Fiber] = []
        self.used = 0
        self._most = launch.resident
        self._sms = launch.device.sm_count
        self._threads = launch.workers
        self._memory = launch.memory
        self._entry = compiled.address
        self._stack = WANTED if compiled.shallow else NATIVE_STACK
        self._native = native
        self._crew = crew
        self._block = block
        self._lock = threading.Lock()
        self._rings: dict[int, int] = {}  # fibers by root
        self._first = 0  # of each root, at once
        self._problem = ""  # why there are no more
        self._memories: list[int] = []
        self._step = crew.need.device_bytes + BEYOND  # from one fiber's device memory to the next

    def begin(self, threads: int, cooperative: bool) -> None:
        """For a launch on so many native threads. `cooperative`: all CTAs are to run at once. Else as many
        are expected to be needed as the launch before needed."""
        expected = self._block.slots[LaunchSlot.CTAS] - threads if cooperative else self.used
        self._first = max(0, -(-expected // threads))
        self._rings.clear()
        self.used, self._problem = 0, ""
        for worker in self._crew.workers:
            slots = worker.block.slots
            slots[WorkerSlot.SEEN] = slots[WorkerSlot.YIELDS] = EAGER if self._first else 0

    def grow(self, root: int) -> None:
        """Begins more CTAs on a thread whose own wait. Compiled code calls it, on that thread.

        `root`: address of the block of the thread's worker. What cannot be had is not: the launch may still
        get on, and if it does not, it ends by its timeout."""
        try:
            with self._lock:
                self._grow(root)
        except (OutOfMemory, OSError, MemoryError) as problem:
            self._first, self._problem = 0, str(problem)

    def _grow(self, root: int) -> None:
        slots, first = self._block.slots, self.used
        have = self._rings.get(root, 0)
        left = slots[LaunchSlot.CTAS] - slots[LaunchSlot.NEXT_CTA]
        wanted = have + 1 if have else max(1, self._first)
        count = min(wanted, left, self._most - self._threads - first)
        if count <= 0:
            return
        fibers = self._ready(first, count)
        slots[LaunchSlot.LIMIT] = self._memory.limit  # their memory may lie above the old one
        self.used += count
        self._rings[root] = have + count
        addresses = array("q", [fiber.block.address for fiber in fibers])
        assert self._native.hire is not None
        self._native.hire(root, self._entry, self._block.address, *addresses.buffer_info())

    def _ready(self, first: int, count: int) -> list[Fiber]:
        """So many fibers, with all that they need."""
        while len(self.members) < first + count:
            self.members.append(Fiber(self._threads + len(self.members), self._crew.need))
        fibers = self.members[first : first + count]
        without = [fiber for fiber in fibers if not fiber.has_memory]
        if without:
            memory = self._crew.allocate(self._step * len(without))
            self._memories.append(memory)
            for number, fiber in enumerate(without):
                fiber.work_in(memory + number * self._step, self._crew.need)
        for number, fiber in enumerate(fibers, self._threads + first):
            fiber.prepare(self._stack, number % self._sms)
        return fibers

    def explain(self) -> str | None:
        """Why CTAs may have waited in vain: some that had not begun when the launch was stopped."""
        slots = self._block.slots
        left = slots[LaunchSlot.CTAS] - slots[LaunchSlot.NEXT_CTA]
        if left <= 0:
            return None
        ran = f"{counted(self.used + self._threads, 'CTA')} ran at once"
        if self._problem:
            return f"{ran}; {left} had not begun, as there is no memory for more: {self._problem}"
        if self.used + self._threads >= self._most:
            return f"{ran}, as many as the device has room for; {left} had not begun"
        return None

    def end(self) -> None:
        """After a launch: what is too much to be kept is not."""
        if len(self.members) * self._step > KEPT_BYTES:
            while self._memories:
                self._crew.free(self._memories.pop())
            for fiber in self.members:
                fiber.work_in(0, Need())
        del self.members[KEPT_FIBERS:]
