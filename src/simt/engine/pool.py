"""Native threads that take part in launches.

A thread lives on its *seat*, in compiled code (`simt.engine.native_seats`): there it waits for the next
launch for a short time, as launches often follow each other closely and asking it takes a hundredth of the
time of waking it, and then it sleeps. The caller looks at the seat to see that it has helped.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
import weakref
from array import array
from typing import Any

from simt.engine.abi import NATIVE_STACK, SEAT_SLOTS, RosterSlot, Seat, SeatSlot
from simt.engine.blocks import Block
from simt.engine.made import Native
from simt.engine.native import c_function
from simt.engine.native_seats import TURN, TURNS
from simt.engine.processors import functions
from simt.engine.quota import cpus

NOBODY = array("q")
SHORTEST, LONGEST = 250_000, 5_000_000
"""Nanoseconds that a thread waits on its seat for the next launch: as long as it has helped since it last
slept, so that this takes no more than a program's launches do, and the next one need not wake it. But at
least as long as that may take where a virtual machine's processor sleeps: between the long launches of a
program there often are short ones, which nobody helps with."""
_POOLS = weakref.WeakSet["Pool"]()
_STATE, _READY = int(SeatSlot.STATE), int(Seat.READY)


class Pool:
    """Threads with stacks deep enough for recursion in kernels. They are made when first needed, wait for the
    next launch, and end when the pool is collected."""

    def __init__(self, native: Native) -> None:
        self._native = native
        self._begin()
        _POOLS.add(self)

    def _begin(self) -> None:
        """There are no threads."""
        self._lock = threading.RLock()  # a handler of signals may launch while threads are made
        self._seats: list[Block] = []
        self._last_ticket = Block(1)
        self._rosters = list[Block]()  # who is about to ask may have an old one
        self._list_seats()
        self._finalizer = weakref.finalize(self, _end, self._native, self._seats, self._rosters)

    def forget(self) -> None:
        """A forked process has none of its parent's threads, and leaves these alone."""
        self._finalizer.detach()
        self._begin()

    def team(self, entry: int, launch: int, workers: array[int], needed: bool) -> Team:
        """Asks threads to run a launch, one for each of the `workers` (addresses of blocks), by the code at
        `entry`. `needed`: at least one; else it may be that none is free."""
        self.expect(len(workers))
        team = self._ask(entry, launch, workers)
        while needed and not team.begun:  # all help with other launches
            self.expect(len(self._seats) + 1, needed=True)
            team = self._ask(entry, launch, workers)
        return team

    def _ask(self, entry: int, launch: int, workers: array[int]) -> Team:
        """Asks those who wait on their seats or sleep, each with the next worker."""
        (address, wanted), ticket = workers.buffer_info(), array("q", [0])
        asked = array("q", bytes(workers.itemsize * wanted))
        seats, number = asked.buffer_info()[0], ticket.buffer_info()[0]
        count = self._native.ask(self.roster, address, wanted, seats, number, entry, launch, True)
        return Team(self._native, asked[:count], ticket[0])

    @property
    def awake(self) -> int:
        """How many threads wait on their seats for the next launch."""
        count = 0
        for seat in self._seats:
            if seat.slots[_STATE] == _READY:
                count += 1
        return count

    def expect(self, count: int, needed: bool = False) -> None:
        """So many are to be asked soon. There may be fewer if the system gives no more, or while Python ends;
        if one is `needed`, raises `RuntimeError` then."""
        if len(self._seats) < count:
            with self._lock:
                self._grow(count, needed)

    def _grow(self, count: int, needed: bool) -> None:
        old = threading.stack_size(NATIVE_STACK)
        try:
            while len(self._seats) < count:
                seat = _seat()
                arguments = (seat, self._native)
                try:
                    threading.Thread(target=_work, args=arguments, name="simt", daemon=True).start()
                except RuntimeError:
                    _leave(seat)
                    if needed:
                        raise
                    return
                self._seats.append(seat)
        finally:
            threading.stack_size(old)
            self._list_seats()

    def _list_seats(self) -> None:
        roster = Block(RosterSlot.SEATS + len(self._seats))
        roster.slots[RosterSlot.TICKET] = self._last_ticket.address
        roster.slots[RosterSlot.COUNT] = len(self._seats)
        roster.slots[RosterSlot.RELEASE] = c_function("PyThread_release_lock")
        for slot, address in functions().items():
            roster.slots[slot] = address
        for number, seat in enumerate(self._seats, RosterSlot.SEATS):
            roster.slots[number] = seat.address
        self._rosters.append(roster)

    @property
    def roster(self) -> int:
        """Address of the `RosterSlot`s."""
        return self._rosters[-1].address


def _seat() -> Block:
    """A seat for a thread that has not begun yet."""
    least, most = (SHORTEST // TURN, LONGEST // TURN) if cpus() > 1 else (0, 0)
    lock = _lock_function("PyThread_allocate_lock", ctypes.c_void_p)()
    if not lock:
        raise MemoryError("no memory for the lock of a thread")
    _lock_function("PyThread_acquire_lock", ctypes.c_int, ctypes.c_void_p, ctypes.c_int)(lock, 1)
    seat = Block(SEAT_SLOTS)
    values = {
        SeatSlot.STATE: Seat.READY,
        SeatSlot.LEAST: least,
        SeatSlot.MOST: most,
        SeatSlot.LOCK: lock,
        SeatSlot.ACQUIRE: c_function("PyThread_acquire_lock"),
        SeatSlot.MAKE_WAY: c_function("sched_yield"),
        SeatSlot.CLOCK: c_function("clock_gettime"),
        SeatSlot.CLOCK_ID: time.CLOCK_MONOTONIC,
        SeatSlot.CHOOSE: functions().get(RosterSlot.CHOOSE, 0),
    }
    for slot, value in values.items():
        seat.slots[slot] = value
    return seat


def _lock_function(name: str, result: Any, *arguments: Any) -> Any:
    """A function of Python's for its locks, which threads may use that do not have the interpreter's."""
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))


def _work(seat: Block, native: Native) -> None:
    seat.slots[SeatSlot.THREAD] = threading.get_native_id()
    native.linger(seat.address)
    _leave(seat)


def _leave(seat: Block) -> None:
    """Nobody sits there any more."""
    _lock_function("PyThread_free_lock", None, ctypes.c_void_p)(seat.slots[SeatSlot.LOCK])


def _end(native: Native, seats: list[Block], rosters: list[Block]) -> None:
    """Asks all threads for nothing any more."""
    nothing, asked, ticket = (array("q", bytes(8 * n)) for n in (len(seats), len(seats), 1))
    workers, places, number = (numbers.buffer_info()[0] for numbers in (nothing, asked, ticket))
    native.ask(rosters[-1].address, workers, len(seats), places, number, 0, 0, True)


class Team:
    """The threads of the pool that were asked to take part in a launch, with a `ticket`, on `seats`
    (addresses)."""

    def __init__(self, native: Native, seats: array[int], ticket: int) -> None:
        self._native = native
        self._seats, self._ticket = seats, ticket
        self.begun = len(seats)
        """Threads that take part, did, or may yet."""
        self.busy = self.begun > 0
        """Whether some that began have not ended."""

    def close(self) -> None:
        """Nobody takes part from now on who has not begun."""
        self.begun = self._native.withdraw(self._seats.buffer_info()[0], self.begun, self._ticket)
        self.busy = self.busy and self.begun > 0

    def ended(self, timeout: float, count: int | None = None) -> bool:
        """Waits, for so many seconds at most, until all have ended, or the first `count`. Whether they
        have."""
        start = now = time.monotonic()
        count = self.begun if count is None else count
        while not self._native.join(self._seats.buffer_info()[0], count, self._ticket, TURNS):
            if now - start > timeout:
                return False
            time.sleep(min(timeout, (now - start) / 8))  # at most an eighth late
            now = time.monotonic()
        self.busy = count < self.begun
        return True


def _forget_threads() -> None:
    for pool in list(_POOLS):
        pool.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)
