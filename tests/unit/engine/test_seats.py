"""How threads that wait on their seats are asked for help: native code, on seats of which no thread knows."""

from __future__ import annotations

import ctypes
import os
import signal
import threading
import time
import warnings
from array import array
from collections.abc import Sequence
from queue import SimpleQueue
from typing import Any, cast

import numpy as np
import pytest

import simt
from simt.engine.abi import (
    PROCESSORS,
    SEAT_BITS,
    SEAT_SLOTS,
    CallSlot,
    LaunchSlot,
    RosterSlot,
    Seat,
    SeatSlot,
    launch_slots,
    slot_count,
)
from simt.engine.blocks import Block
from simt.engine.compiler import Compiler
from simt.engine.made import Native
from simt.engine.native import python_functions
from simt.engine.native_seats import POLITE, TURN, TURNS
from simt.engine.pace import Pace
from simt.engine.pool import Pool, Team

TICKET, ENTRY, LAUNCH = 7, 1000, 2000
ASKED = TICKET << SEAT_BITS | Seat.ASKED
OF_ANOTHER = (TICKET + 1) << SEAT_BITS | Seat.ASKED
WORKERS = array("q", (31, 32, 33, 34))
HERE = 5
"""The processor that callers run on."""
ONLY_HERE, UNKNOWN = 91, 92
"""Threads."""


@pytest.fixture(scope="module")
def native() -> Native:
    return Compiler().native()


def seats(*states: int) -> list[Block]:
    made = [Block(SEAT_SLOTS) for _ in states]
    for seat, state in zip(made, states):
        seat.slots[SeatSlot.STATE] = state
    return made


def addresses(some: Sequence[Block]) -> array[int]:
    return array("q", [seat.address for seat in some])


def states(some: Sequence[Block]) -> list[int]:
    return [seat.slots[SeatSlot.STATE] for seat in some]


def address_of(function: object) -> int:
    return ctypes.cast(cast("Any", function), ctypes.c_void_p).value or 0


class Roster:
    """Of some seats; the next request has `TICKET`."""

    def __init__(self, some: Sequence[Block]) -> None:
        self.last, self.released, self.sent = Block(1), list[int](), list[tuple[int, int]]()
        self.last.slots[0] = TICKET - 1
        places = ctypes.POINTER(ctypes.c_int64)
        self._functions = {
            RosterSlot.RELEASE: ctypes.CFUNCTYPE(None, ctypes.c_int64)(self.released.append),
            RosterSlot.WHERE: ctypes.CFUNCTYPE(ctypes.c_int32)(lambda: HERE),
            RosterSlot.ASK: ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32, ctypes.c_int64, places)(
                self._ask
            ),
            RosterSlot.CHOOSE: ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32, ctypes.c_int64, places)(
                self._choose
            ),
        }
        values = {
            RosterSlot.TICKET: self.last.address,
            RosterSlot.COUNT: len(some),
            **{slot: address_of(function) for slot, function in self._functions.items()},
        }
        self.block = Block(RosterSlot.SEATS + len(some))
        for slot, value in [*values.items(), *enumerate(addresses(some), RosterSlot.SEATS)]:
            self.block.slots[slot] = value

    def _ask(self, thread: int, size: int, processors: Any) -> int:
        """Threads may run on processors 3 and 5, or only on 5, or the system does not know."""
        assert size == 8 * PROCESSORS
        processors[0] = 0b101000 if thread != ONLY_HERE else 1 << HERE
        return -1 if thread == UNKNOWN else 0

    def _choose(self, thread: int, size: int, processors: Any) -> int:
        assert size == 8 * PROCESSORS
        self.sent.append((thread, processors[0]))
        return 0


def ask(native: Native, some: Sequence[Block], wanted: int, *woken: int, sent: int = 0) -> list[int]:
    """Which are asked, by their number. `woken`: locks that are given back, if those who sleep are asked.
    `sent`: how many are kept from this processor."""
    places, asked, found, roster = addresses(some), array("q", [0] * wanted), array("q", [0]), Roster(some)
    workers, seats, ticket = (numbers.buffer_info()[0] for numbers in (WORKERS, asked, found))
    count = native.ask(roster.block.address, workers, wanted, seats, ticket, ENTRY, LAUNCH, bool(woken))
    assert roster.last.slots[0] == found[0] == TICKET
    assert roster.released == list(woken)
    assert [processors for _, processors in roster.sent] == [0b001000] * sent
    return [places.index(address) for address in asked[:count]]


@pytest.mark.parametrize("wanted", range(5))
def test_those_who_wait_are_asked_in_order(native: Native, wanted: int) -> None:
    some = seats(Seat.BUSY, Seat.READY, Seat.GONE, Seat.READY, OF_ANOTHER, Seat.READY)
    before = states(some)
    asked = ask(native, some, wanted)
    assert asked == [1, 3, 5][:wanted]
    assert states(some) == [ASKED if i in asked else state for i, state in enumerate(before)]
    for worker, number in zip(WORKERS, asked):
        slots = some[number].slots
        assert [slots[s] for s in (SeatSlot.ENTRY, SeatSlot.LAUNCH, SeatSlot.WORKER)] == [
            ENTRY,
            LAUNCH,
            worker,
        ]


@pytest.mark.parametrize("wanted", range(1, 5))
def test_those_who_sleep_are_woken_if_too_few_wait(native: Native, wanted: int) -> None:
    """But not where the caller goes on, if they may run elsewhere."""
    some = seats(Seat.ASLEEP, Seat.READY, Seat.ASLEEP, Seat.BUSY, Seat.ASLEEP)
    before = states(some)
    threads = 7, 8, ONLY_HERE, 9, UNKNOWN
    for number, (seat, thread) in enumerate(zip(some, threads, strict=True)):
        seat.slots[SeatSlot.LOCK] = 100 + number
        seat.slots[SeatSlot.THREAD] = thread
    expected = [1, 0, 2, 4][:wanted]
    if wanted > 1:
        assert ask(native, some, wanted, *(100 + number for number in expected[1:]), sent=1) == expected
        assert [seat.slots[SeatSlot.SENT] for seat in some] == [1, 0, 0, 0, 0]
    else:
        assert ask(native, some, wanted) == [1]
    assert states(some) == [ASKED if i in expected else state for i, state in enumerate(before)]


def test_those_who_sleep_are_left_alone_if_that_is_not_worth_it(native: Native) -> None:
    some = seats(Seat.ASLEEP, Seat.READY, Seat.ASLEEP)
    assert ask(native, some, 3) == [1]
    assert states(some) == [Seat.ASLEEP, ASKED, Seat.ASLEEP]


def test_nobody_is_asked_of_none(native: Native) -> None:
    assert ask(native, [], 2) == []


def test_those_who_have_begun_are_not_withdrawn(native: Native) -> None:
    """Nor is what another launch has asked of one who has helped already."""
    some = seats(ASKED, Seat.BUSY, ASKED, Seat.READY, OF_ANOTHER)
    places = addresses(some)
    assert native.withdraw(places.buffer_info()[0], len(some), TICKET) == 3
    assert list(places[:3]) == [some[n].address for n in (1, 3, 4)]
    assert states(some) == [Seat.READY, Seat.BUSY, Seat.READY, Seat.READY, OF_ANOTHER]


@pytest.mark.parametrize("late", range(4))
def test_all_are_waited_for(native: Native, late: int) -> None:
    some = seats(*[Seat.BUSY] * 3)
    for number, seat in enumerate(some):
        seat.slots[SeatSlot.DONE] = TICKET - (number == late)
    places = addresses(some)
    assert native.join(places.buffer_info()[0], 3, TICKET, 50) == (late == 3)
    assert native.join(places.buffer_info()[0], min(late, 3), TICKET, 50) == 1


@pytest.mark.parametrize("begun", range(3))
@pytest.mark.parametrize("ends", [False, True])
def test_a_call_asks_for_help_and_waits_for_it(native: Native, begun: int, ends: bool) -> None:
    """While its kernel runs, the last `begun` of two who are asked begin to help, and end or do not."""
    some = seats(Seat.BUSY, Seat.READY, Seat.READY, Seat.READY)
    asked = [1, 2]
    roster, places, found = Roster(some), array("q", [0, 0]), list[int]()

    def kernel(launch: int, worker: int) -> None:
        found.extend((launch, worker, *states(some)))
        for number in asked[2 - begun :]:
            some[number].slots[SeatSlot.STATE] = Seat.BUSY
            some[number].slots[SeatSlot.DONE] = TICKET if ends else TICKET - 1

    code = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(kernel)
    launch = Block(launch_slots(1))
    launch.slots[LaunchSlot.ENTRY] = ctypes.cast(code, ctypes.c_void_p).value or 0
    launch.slots[LaunchSlot.WORKER] = 77
    launches = array("q", [launch.address])
    call = Block(slot_count(CallSlot))
    for slot, value in {
        **python_functions(),
        CallSlot.LAUNCHES: launches.buffer_info()[0],
        CallSlot.COUNT: 1,
        CallSlot.WANTED: 2,
        CallSlot.ROSTER: roster.block.address,
        CallSlot.WORKERS: WORKERS.buffer_info()[0],
        CallSlot.SEATS: places.buffer_info()[0],
    }.items():
        call.slots[slot] = value
    assert native.run(call.address) == 1
    assert found == [launch.address, 77, Seat.BUSY, ASKED, ASKED, Seat.READY]
    results = [call.slots[s] for s in (CallSlot.ASKED, CallSlot.TICKET, CallSlot.BEGUN, CallSlot.ENDED)]
    assert results == [2, TICKET, begun, int(ends or begun == 0)]
    assert list(places[:begun]) == [some[n].address for n in asked[2 - begun :]]
    assert states(some)[1:3] == [Seat.READY] * (2 - begun) + [Seat.BUSY] * begun


class Lingering:
    """One call of `simt_linger` on a seat that has been asked, or not: what it did until it was asked for
    nothing, when it slept. The time that the kernel takes is as given, in nanoseconds."""

    def __init__(
        self,
        native: Native,
        least: int,
        most: int,
        helped: int,
        state: int = ASKED,
        sent: int = 0,
        times: int = 1,
    ) -> None:
        """`sent`: what the one who wakes it notes. `times`: how often it is asked before it sleeps."""
        (self.seat,) = seats(state)
        self._again = times - 1
        self._sent, self.returned = sent, list[tuple[int, int, int]]()
        self.ran, self.looks, self._time = list[tuple[int, int]](), 0, 0
        self.slept, self._helped = list[tuple[int, ...]](), helped
        functions = {
            SeatSlot.ENTRY: ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(self._kernel),
            SeatSlot.MAKE_WAY: ctypes.CFUNCTYPE(ctypes.c_int32)(self._make_way),
            SeatSlot.CLOCK: ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_int64))(
                self._clock
            ),
            SeatSlot.ACQUIRE: ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64, ctypes.c_int32)(self._sleep),
            SeatSlot.CHOOSE: ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32, ctypes.c_int64, ctypes.c_int64)(
                self._choose
            ),
        }
        values = {
            SeatSlot.LAUNCH: LAUNCH,
            SeatSlot.WORKER: 31,
            SeatSlot.LEAST: least,
            SeatSlot.MOST: most,
            SeatSlot.LOCK: 100,
            SeatSlot.CLOCK_ID: 5,
            **{slot: address_of(function) for slot, function in functions.items()},
        }
        for slot, value in values.items():
            self.seat.slots[slot] = value
        native.linger(self.seat.address)

    def _kernel(self, launch: int, worker: int) -> None:
        assert self.seat.slots[SeatSlot.STATE] == Seat.BUSY
        self.ran.append((launch, worker))
        self._time += self._helped

    def _make_way(self) -> int:
        self.looks += POLITE
        return 0

    def _clock(self, clock: int, result: Any) -> int:
        assert clock == 5
        result[0], result[1] = divmod(self._time + 999_999_000, 1_000_000_000)
        if self.seat.slots[SeatSlot.STATE] == Seat.READY and self._again:
            self._again -= 1
            self.seat.slots[SeatSlot.STATE] = ASKED
        return 0

    def _sleep(self, lock: int, waits: int) -> int:
        """It sleeps, and is woken at once."""
        slots = self.seat.slots
        self.slept.append((lock, waits, slots[SeatSlot.STATE]))
        slots[SeatSlot.SENT] = self._sent
        slots[SeatSlot.ENTRY] = 0
        slots[SeatSlot.STATE] = ASKED
        return 1

    def _choose(self, thread: int, size: int, processors: int) -> int:
        self.returned.append((thread, size, processors - self.seat.address))
        return 0


SLEPT = (100, 1, Seat.ASLEEP)


@pytest.mark.parametrize(
    ("helped", "turns"),
    [
        (0, 0),
        (1000 * TURN, 0),
        ((TURNS + 640) * TURN, 640),
        (4000 * TURN, 4000 - TURNS),
        (10**10, 5000 - TURNS),
    ],
)
def test_who_has_helped_waits_as_long_on_its_seat(native: Native, helped: int, turns: int) -> None:
    """It may be asked before it sits down; `turns`: looks after the first `TURNS`."""
    lingering = Lingering(native, TURNS, 5000, helped)
    assert lingering.ran == [(LAUNCH, 31)]
    assert lingering.seat.slots[SeatSlot.DONE] == TICKET
    assert lingering.slept == [SLEPT]
    assert states([lingering.seat]) == [Seat.GONE]
    assert abs(lingering.looks - turns) < POLITE


def test_what_it_has_helped_adds_up(native: Native) -> None:
    lingering = Lingering(native, TURNS, 5000, 1000 * TURN, times=4)
    assert lingering.ran == 4 * [(LAUNCH, 31)]
    assert abs(lingering.looks - (4000 - TURNS)) < POLITE


def test_who_is_not_asked_sleeps_soon(native: Native) -> None:
    lingering = Lingering(native, TURNS, 5000, 10**10, Seat.READY)
    assert (lingering.ran, lingering.looks, lingering.slept) == ([], 0, [SLEPT])
    assert states([lingering.seat]) == [Seat.GONE]


@pytest.mark.parametrize("sent", [0, 1])
def test_who_was_sent_away_comes_back(native: Native, sent: int) -> None:
    lingering = Lingering(native, TURNS, 5000, 10**10, Seat.READY, sent)
    assert lingering.returned == [(0, 8 * PROCESSORS, 8 * SeatSlot.USUAL)] * sent
    assert lingering.seat.slots[SeatSlot.SENT] == 0


def test_with_one_processor_nobody_waits_on_a_seat(native: Native) -> None:
    lingering = Lingering(native, 0, 0, 10**10)
    assert (lingering.ran, lingering.looks) == ([(LAUNCH, 31)], 0)


class TestTeams:
    """Of two threads, of which the first has begun."""

    @pytest.fixture
    def some(self) -> list[Block]:
        return seats(Seat.BUSY, ASKED)

    @pytest.fixture
    def team(self, native: Native, some: list[Block]) -> Team:
        return Team(native, addresses(some), TICKET)

    def test_they_are_waited_for(self, team: Team, some: list[Block]) -> None:
        assert (team.begun, team.busy) == (2, True)
        assert not team.ended(0.001)
        some[0].slots[SeatSlot.DONE] = TICKET
        assert not team.ended(0.001)
        assert team.ended(0.001, 1)
        assert team.busy
        some[1].slots[SeatSlot.DONE] = TICKET
        assert team.ended(0.001)
        assert not team.busy

    def test_who_has_not_begun_need_not(self, team: Team, some: list[Block]) -> None:
        team.close()
        assert states(some) == [Seat.BUSY, Seat.READY]
        assert (team.begun, team.busy) == (1, True)
        some[0].slots[SeatSlot.DONE] = TICKET
        assert team.ended(0.001)
        assert not team.busy

    def test_nobody_is_left_if_none_has_begun(self, native: Native) -> None:
        (seat,) = seats(ASKED)
        team = Team(native, addresses([seat]), TICKET)
        team.close()
        assert (states([seat]), team.begun, team.busy) == ([Seat.READY], 0, False)


class TestThreadsOfAPool:
    """That run a function of ctypes's."""

    @pytest.fixture
    def ran(self) -> SimpleQueue[tuple[int, int]]:
        return SimpleQueue()

    @pytest.fixture
    def entry(self, ran: SimpleQueue[tuple[int, int]]) -> object:
        return ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(lambda a, b: ran.put((a, b)))

    def asked(self, pool: Pool, entry: object) -> Team:
        return pool.team(address_of(entry), LAUNCH, WORKERS[:2], needed=True)

    def test_they_sleep_and_are_woken(
        self, native: Native, entry: object, ran: SimpleQueue[tuple[int, int]]
    ) -> None:
        pool = Pool(native)
        for _ in range(3):
            team = self.asked(pool, entry)
            assert sorted(ran.get(timeout=20) for _ in range(2)) == [(LAUNCH, 31), (LAUNCH, 32)]
            assert team.ended(20)
            end = time.monotonic() + 20
            while any(seat.slots[SeatSlot.STATE] != Seat.ASLEEP for seat in pool._seats):  # pyright: ignore[reportPrivateUsage]
                assert time.monotonic() < end
        assert len(pool._seats) == 2  # pyright: ignore[reportPrivateUsage]

    def test_there_are_more_if_all_are_busy(self, native: Native) -> None:
        pool, begun, may_end = Pool(native), SimpleQueue[int](), threading.Event()

        def wait(_: int, worker: int) -> None:
            begun.put(worker)
            may_end.wait(20)

        entry = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(wait)
        teams = [self.asked(pool, entry) for _ in range(2)]
        assert [team.begun for team in teams] == [2, 1]
        assert sorted(begun.get(timeout=20) for _ in range(3)) == [31, 31, 32]
        assert pool.team(address_of(entry), LAUNCH, WORKERS[:2], needed=False).begun == 0
        may_end.set()
        assert all(team.ended(20) for team in teams)

    def test_they_end_with_it(self, native: Native, entry: object) -> None:
        before = set(threading.enumerate())
        pool = Pool(native)
        assert self.asked(pool, entry).ended(20)
        threads = set(threading.enumerate()) - before
        assert len(threads) == 2
        del pool
        for thread in threads:
            thread.join(20)
            assert not thread.is_alive()


LAST_TAKES_LONG = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 done, .param .u32 turns)
{
    .reg .pred %p;
    .reg .b32 %c, %n, %x;
    .reg .b64 %a, %b;
    mov.u32 %c, %ctaid.x;
    ld.param.u64 %a, [done];
    mul.wide.u32 %b, %c, 4;
    add.u64 %a, %a, %b;
    ld.global.u32 %x, [%a];
    ld.param.u32 %n, [turns];
    setp.eq.u32 %p, %c, 1;
    selp.u32 %n, %n, 500000, %p;
TURN:
    shr.u32 %c, %x, 7;
    mad.lo.u32 %x, %x, 1664525, 1013904223;
    xor.b32 %x, %x, %c;
    sub.u32 %n, %n, 1;
    setp.ne.u32 %p, %n, 0;
    @%p bra TURN;
    or.b32 %x, %x, 1;
    st.global.u32 [%a], %x;
    ret;
}"""
"""The second of two CTAs. The first takes long enough for a helper on its seat to begin with the second."""
ENDLESS = 0xFFFFFFFF


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> simt.Kernel:
    """Its helper waits on its seat, takes the second CTA, and is not done when the caller is."""
    monkeypatch.setattr("simt.engine.pool.SHORTEST", 10**9)
    monkeypatch.setattr("simt.engine.pool.TURNS", 1 << 24)
    kernel = simt.Device("sm_90", workers=2, memory="64MiB").load(LAST_TAKES_LONG)["k"]
    device = kernel.module.device
    pool = device.engine.host.pool  # pyright: ignore[reportAttributeAccessIssue]
    end = time.monotonic() + 20
    while not pool.awake:
        kernel((2,), (32,), (device.zeros(2, "u4"), 20_000))
        assert time.monotonic() < end
    return kernel


@pytest.fixture(autouse=True)
def all_help(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Pace, "helpers", lambda self, ctas, awake, most: most)


@pytest.mark.parametrize("turns", [10, 500_000, 1_000_000, 5_000_000])
def test_who_was_asked_is_waited_for(late: simt.Kernel, turns: int) -> None:
    for _ in range(5):
        done = late.module.device.zeros(2, "u4")
        late((2,), (32,), (done, turns))
        assert done.numpy().all()


def test_who_was_asked_is_stopped_when_time_is_over(late: simt.Kernel) -> None:
    done = late.module.device.zeros(2, "u4")
    with pytest.raises(simt.LaunchTimeout):
        late.launch((2,), (32,), (done, ENDLESS), timeout=0.1)
    assert done.numpy()[1] == 0
    late((2,), (32,), (done, 5))
    assert done.numpy().all()


def test_who_was_asked_is_stopped_by_an_interrupt(late: simt.Kernel) -> None:
    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    done = late.module.device.zeros(2, "u4")
    old = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(KeyboardInterrupt):
            late((2,), (32,), (done, ENDLESS))
    finally:
        signal.signal(signal.SIGALRM, old)
    late((2,), (32,), (done, 5))
    assert done.numpy().all()


def test_seats_are_those_of_this_process_after_a_fork(late: simt.Kernel) -> None:
    device = late.module.device
    pool = device.engine.host.pool  # pyright: ignore[reportAttributeAccessIssue]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # from 3.12 on Python warns of threads
        child = os.fork()
    if child == 0:
        os._exit(1 if pool.awake or pool.roster == 0 else 0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_launches_of_several_threads_get_help_at_once() -> None:
    source = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 runs)
{
    .reg .b32 %c;
    .reg .b64 %a, %b;
    mov.u32 %c, %ctaid.x;
    ld.param.u64 %a, [runs];
    mul.wide.u32 %b, %c, 4;
    add.u64 %a, %a, %b;
    red.global.add.u32 [%a], 1;
    ret;
}"""
    device = simt.Device("sm_90", workers=4, memory="64MiB", timeout=20)
    kernels = [device.load(source + f"// {n}")["k"] for n in range(3)]
    arrays = [device.zeros(50, "u4") for _ in kernels]

    def run(number: int) -> None:
        for _ in range(300):
            kernels[number]((50,), (32,), (arrays[number],))

    threads = [threading.Thread(target=run, args=(n,)) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(runs.numpy(), np.full(50, 32 * 300)) for runs in arrays)
