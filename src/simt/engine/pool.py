"""Native threads that take part in launches.

A thread that has helped waits on its *seat* for the next launch, in compiled code, for a short time: launches
often follow each other closely, and asking it there takes a hundredth of the time of waking it. Then it
sleeps.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue

from simt.engine.abi import NATIVE_STACK, Seat, SeatSlot
from simt.engine.blocks import Block
from simt.engine.compile import Compiled, Native

Job = Callable[[], object]
Jobs = SimpleQueue[Job | None]
TURNS = 1500
"""Looks at a seat before the thread sleeps, or at its counter before the caller does: some 60 µs."""


class Pool:
    """Threads with stacks deep enough for recursion in kernels. They are made when first needed, wait for the
    next launch, and end when the pool is collected."""

    def __init__(self, native: Native) -> None:
        self._native = native
        self._forget()

    def _forget(self) -> None:
        """A forked process has none of its parent's threads."""
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._jobs: Jobs = SimpleQueue()
        self._seats: list[Block] = []
        self._tickets = 0
        weakref.finalize(self, _end, self._jobs, self._seats)

    def team(self, compiled: Compiled, launch: int, workers: Sequence[int], at_once: bool) -> Team:
        """Lets threads run a launch, one for each of the `workers` (addresses of blocks).

        `at_once`: those who wait on their seats are asked there."""
        if self._process != os.getpid():
            self._forget()
        with self._lock:
            self._grow(len(workers))
            asked: list[Block] = []
            if at_once:
                waiting = (s for s in self._seats if s.slots[SeatSlot.STATE] == Seat.READY)
                for seat, worker in zip(waiting, workers):
                    if self._ask(seat, compiled.address, launch, worker):
                        asked.append(seat)
                    else:
                        break  # it has just left: the workers' order is kept
            team = Team(self._native, compiled, launch, workers[len(asked) :], asked)
        for _ in workers[len(asked) :]:
            self._jobs.put(team.take_part)
        return team

    @property
    def is_awake(self) -> bool:
        """Whether a thread waits on its seat for the next launch."""
        return any(seat.slots[SeatSlot.STATE] == Seat.READY for seat in self._seats)

    def _ask(self, seat: Block, entry: int, launch: int, worker: int) -> bool:
        seat.slots[SeatSlot.ENTRY] = entry
        seat.slots[SeatSlot.LAUNCH] = launch
        seat.slots[SeatSlot.WORKER] = worker
        self._tickets += 1
        seat.slots[SeatSlot.TICKET] = self._tickets
        return bool(self._native.exchange(seat.address, Seat.READY, Seat.ASKED))

    def _grow(self, count: int) -> None:
        if len(self._seats) >= count:
            return
        old = threading.stack_size(NATIVE_STACK)
        try:
            while len(self._seats) < count:
                seat = Block(len(SeatSlot))
                arguments = (self._jobs, seat, self._native)
                threading.Thread(target=_work, args=arguments, name="simt", daemon=True).start()
                self._seats.append(seat)
        finally:
            threading.stack_size(old)


def _work(jobs: Jobs, seat: Block, native: Native) -> None:
    turns = TURNS if (os.cpu_count() or 1) > 1 else 0
    while (job := jobs.get()) is not None:
        job()
        del job  # what it holds is not kept until the next one
        native.linger(seat.address, turns)


def _end(jobs: Jobs, seats: Sequence[Block]) -> None:
    for _ in seats:
        jobs.put(None)


class Team:
    """The threads of the pool that take part in one launch. Those that come too late do nothing."""

    def __init__(
        self, native: Native, compiled: Compiled, launch: int, workers: Sequence[int], seats: Sequence[Block]
    ) -> None:
        """`seats`: of those that were asked there."""
        self._native = native
        self._entry = compiled.entry
        self._launch = launch
        self._left = list(reversed(workers))
        self._seats = [(seat, seat.slots[SeatSlot.TICKET]) for seat in seats]
        self._lock = threading.Lock()
        self._ends: SimpleQueue[None] = SimpleQueue()
        self.begun = len(self._seats)
        """Threads that take part or did."""
        self._ended = 0

    def take_part(self) -> None:
        """Runs CTAs on this thread until none is left."""
        with self._lock:
            if not self._left:
                return
            worker = self._left.pop()
            self.begun += 1
        try:
            self._entry(self._launch, worker)
        finally:
            self._ends.put(None)

    def close(self) -> None:
        """Nobody takes part from now on who has not begun."""
        with self._lock:
            self._left.clear()
        for pair in list(self._seats):
            if self._native.exchange(pair[0].address, Seat.ASKED, Seat.READY):
                self._seats.remove(pair)
                self.begun -= 1

    def ended(self, timeout: float) -> bool:
        """Waits, for so many seconds at most, until one more that began has ended; whether it has."""
        if self._seats:
            if not self._seat_ended(timeout):
                return False
            self._seats.pop()
        else:
            try:
                self._ends.get(timeout=timeout)
            except Empty:
                return False
        self._ended += 1
        return True

    def _seat_ended(self, timeout: float) -> bool:
        seat, ticket = self._seats[-1]
        start = now = time.monotonic()
        while not self._native.join(seat.address, ticket, TURNS):
            if now - start > timeout:
                return False
            time.sleep(min(timeout, (now - start) / 8))  # at most an eighth late
            now = time.monotonic()
        return True

    @property
    def busy(self) -> bool:
        """Whether some that began have not ended."""
        return self._ended < self.begun
