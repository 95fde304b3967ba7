"""Native threads that take part in launches.

A thread that has helped waits on its *seat* for the next launch, in compiled code, for a short time: launches
often follow each other closely, and asking it there takes a hundredth of the time of waking it. Then it
sleeps. A thread that is woken helps on its seat too: it needs Python's lock before, not when it has helped,
and nobody has to wake the caller, who looks at the seat.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from array import array
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue

from simt.engine.abi import NATIVE_STACK, SEAT_BITS, CallSlot, RosterSlot, Seat, SeatSlot
from simt.engine.blocks import Block
from simt.engine.compile import Compiled, Native
from simt.engine.native import c_function, python_functions
from simt.engine.native_seats import TURN, TURNS
from simt.engine.processors import Sleeper, processor

Job = Callable[[Block], object]
"""For the thread of a seat."""
Jobs = SimpleQueue[Job | None]
NOBODY = array("q")
SHORTEST, LONGEST = 250_000, 5_000_000
"""Nanoseconds that a thread waits on its seat for the next launch: as long as it has helped, so that this
takes no more than a program's launches do, and the next one need not wake it. But at least as long as that
may take where a virtual machine's processor sleeps: between the long launches of a program there often are
short ones, which nobody helps with."""
_POOLS = weakref.WeakSet["Pool"]()
_STATE, _READY = int(SeatSlot.STATE), int(Seat.READY)


class Pool:
    """Threads with stacks deep enough for recursion in kernels. They are made when first needed, wait for the
    next launch, and end when the pool is collected."""

    def __init__(self, native: Native) -> None:
        self._native = native
        self._forget()
        _POOLS.add(self)

    def _forget(self) -> None:
        """A forked process has none of its parent's threads."""
        self._lock = threading.Lock()
        self._jobs: Jobs = SimpleQueue()
        self._seats: list[Block] = []
        self._sleepers: list[Sleeper] = []
        self._last_ticket = Block(1)
        self._rosters = list[Block]()  # who is about to ask may have an old one
        self._list_seats()
        weakref.finalize(self, _end, self._jobs, self._seats)

    def team(self, compiled: Compiled, launch: int, workers: array[int], at_once: bool) -> Team:
        """Lets threads run a launch, one for each of the `workers` (addresses of blocks).

        `at_once`: those who wait on their seats are asked there."""
        with self._lock:
            self._grow(len(workers))
            asked, ticket = self._ask(compiled.address, launch, workers) if at_once else (NOBODY, 0)
            left = workers[len(asked) :]
            team = Team(self._native, compiled, launch, left, asked, ticket)
        if left and at_once:
            here = processor()
            for sleeper in self._sleepers:
                sleeper.leave(here)
        for _ in left:
            self._jobs.put(team.take_part)
        return team

    def _ask(self, entry: int, launch: int, workers: array[int]) -> tuple[array[int], int]:
        """Asks those who wait on their seats, each with the next worker; their seats, and the ticket."""
        (address, wanted), ticket = workers.buffer_info(), array("q", [0])
        asked = array("q", bytes(workers.itemsize * wanted))
        count = self._native.ask(
            self.roster, address, wanted, asked.buffer_info()[0], ticket.buffer_info()[0], entry, launch
        )
        return asked[:count], ticket[0]

    @property
    def awake(self) -> int:
        """How many threads wait on their seats for the next launch."""
        count = 0
        for seat in self._seats:
            if seat.slots[_STATE] == _READY:
                count += 1
        return count

    def _grow(self, count: int) -> None:
        if len(self._seats) >= count:
            return
        old = threading.stack_size(NATIVE_STACK)
        try:
            while len(self._seats) < count:
                seat, sleeper = Block(len(SeatSlot)), Sleeper()
                arguments = (self._jobs, seat, sleeper, self._native)
                threading.Thread(target=_work, args=arguments, name="simt", daemon=True).start()
                self._seats.append(seat)
                self._sleepers.append(sleeper)
        finally:
            threading.stack_size(old)
        self._list_seats()

    def _list_seats(self) -> None:
        roster = Block(RosterSlot.SEATS + len(self._seats))
        roster.slots[RosterSlot.TICKET] = self._last_ticket.address
        roster.slots[RosterSlot.COUNT] = len(self._seats)
        for number, seat in enumerate(self._seats, RosterSlot.SEATS):
            roster.slots[number] = seat.address
        self._rosters.append(roster)

    @property
    def roster(self) -> int:
        """Address of the `RosterSlot`s."""
        return self._rosters[-1].address


def _work(jobs: Jobs, seat: Block, sleeper: Sleeper, native: Native) -> None:
    least, most = (SHORTEST // TURN, LONGEST // TURN) if (os.cpu_count() or 1) > 1 else (0, 0)
    make_way, clock = python_functions()[CallSlot.MAKE_WAY], c_function("clock_gettime")
    sleeper.begins()
    while True:
        sleeper.sleeps()
        if (job := jobs.get()) is None:
            return
        sleeper.wakes()
        job(seat)
        del job  # what it holds is not kept until the next one
        native.linger(seat.address, least, most, make_way, clock, time.CLOCK_MONOTONIC)


def _end(jobs: Jobs, seats: Sequence[Block]) -> None:
    for _ in seats:
        jobs.put(None)


class Team:
    """The threads of the pool that take part in one launch. Those that come too late do nothing."""

    def __init__(
        self,
        native: Native,
        compiled: Compiled,
        launch: int,
        workers: Sequence[int],
        seats: array[int],
        ticket: int,
    ) -> None:
        """`seats`: addresses of those that were asked there, with a `ticket`. `workers`: for others."""
        self._native = native
        self._entry, self._address = compiled.entry, compiled.address
        self._launch = launch
        self._left = list(reversed(workers))
        self._seats, self._seated, self._ticket = (
            seats + array("q", bytes(8 * len(workers))),
            len(seats),
            ticket,
        )
        self._lock = threading.Lock()
        self._ends: SimpleQueue[None] = SimpleQueue()
        self.begun = len(seats)
        """Threads that take part or did."""
        self._ended = 0

    def take_part(self, seat: Block) -> None:
        """Runs CTAs on this thread until none is left: when it has sat down, where others look for it."""
        with self._lock:
            if not self._left:
                return
            worker = self._left.pop()
            self.begun += 1
            if self._ticket > seat.slots[SeatSlot.DONE]:  # else it has helped later launches already
                self._sit(seat, worker)
                return
        try:
            self._entry(self._launch, worker)
        finally:
            self._ends.put(None)

    def _sit(self, seat: Block, worker: int) -> None:
        """As if the thread had been asked on its seat."""
        slots = seat.slots
        slots[SeatSlot.ENTRY], slots[SeatSlot.LAUNCH], slots[SeatSlot.WORKER] = (
            self._address,
            self._launch,
            worker,
        )
        slots[SeatSlot.STATE] = self._ticket << SEAT_BITS | Seat.ASKED
        self._seats[self._seated] = seat.address
        self._seated += 1

    def close(self) -> None:
        """Nobody takes part from now on who has not begun."""
        with self._lock:
            self._left.clear()
            if self._seated:
                count = self._native.withdraw(self._seats.buffer_info()[0], self._seated, self._ticket)
                self.begun -= self._seated - count
                self._seated = count

    def ended(self, timeout: float) -> bool:
        """Waits, for so many seconds at most, until one more that began has ended, or all those that were
        asked on their seats have; whether that is so."""
        if self._seated:
            if not self._seats_ended(timeout):
                return False
            self._ended += self._seated
            self._seated = 0
            return True
        try:
            self._ends.get(timeout=timeout)
        except Empty:
            return False
        self._ended += 1
        return True

    def _seats_ended(self, timeout: float) -> bool:
        start = now = time.monotonic()
        while not self._native.join(self._seats.buffer_info()[0], self._seated, self._ticket, TURNS):
            if now - start > timeout:
                return False
            time.sleep(min(timeout, (now - start) / 8))  # at most an eighth late
            now = time.monotonic()
        return True

    @property
    def busy(self) -> bool:
        """Whether some that began have not ended."""
        return self._ended < self.begun


def _forget_threads() -> None:
    for pool in list(_POOLS):
        pool._forget()  # pyright: ignore[reportPrivateUsage]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)
