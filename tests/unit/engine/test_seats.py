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
from typing import Any

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.abi import SEAT_BITS, CallSlot, LaunchSlot, RosterSlot, Seat, SeatSlot, launch_slots
from simt.engine.blocks import Block
from simt.engine.compile import Compiled, Compiler, Native
from simt.engine.native import python_functions
from simt.engine.native_seats import POLITE, TURN, TURNS
from simt.engine.pace import Pace
from simt.engine.pool import Team

TICKET, ENTRY, LAUNCH = 7, 1000, 2000
ASKED = TICKET << SEAT_BITS | Seat.ASKED
OF_ANOTHER = (TICKET + 1) << SEAT_BITS | Seat.ASKED
WORKERS = array("q", (31, 32, 33, 34))


@pytest.fixture(scope="module")
def native() -> Native:
    return Compiler().native()


def seats(*states: int) -> list[Block]:
    made = [Block(len(SeatSlot)) for _ in states]
    for seat, state in zip(made, states):
        seat.slots[SeatSlot.STATE] = state
    return made


def addresses(some: Sequence[Block]) -> array[int]:
    return array("q", [seat.address for seat in some])


def states(some: Sequence[Block]) -> list[int]:
    return [seat.slots[SeatSlot.STATE] for seat in some]


class Roster:
    """Of some seats; the next request has `TICKET`."""

    def __init__(self, some: Sequence[Block]) -> None:
        self.last = Block(1)
        self.last.slots[0] = TICKET - 1
        self.block = Block(RosterSlot.SEATS + len(some))
        for slot, value in enumerate([self.last.address, len(some), *addresses(some)]):
            self.block.slots[slot] = value


def ask(native: Native, some: Sequence[Block], wanted: int) -> list[int]:
    """Which are asked, by their number."""
    places, asked, roster = addresses(some), array("q", [0] * wanted), Roster(some)
    workers, seats, ticket = WORKERS.buffer_info()[0], asked.buffer_info()[0], array("q", [0])
    count = native.ask(roster.block.address, workers, wanted, seats, ticket.buffer_info()[0], ENTRY, LAUNCH)
    assert roster.last.slots[0] == ticket[0] == TICKET
    return [places.index(address) for address in asked[:count]]


@pytest.mark.parametrize("wanted", range(5))
def test_those_who_wait_are_asked_in_order(native: Native, wanted: int) -> None:
    some = seats(Seat.BUSY, Seat.READY, Seat.AWAY, Seat.READY, OF_ANOTHER, Seat.READY)
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
    call = Block(len(CallSlot))
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
    """One call of `simt_linger` on a seat that has been asked, or not: what it did until it left. The time
    that the kernel takes is as given, in nanoseconds."""

    def __init__(self, native: Native, least: int, most: int, helped: int, state: int = ASKED) -> None:
        (self.seat,) = seats(state)
        self.ran, self.looks, self._time = list[tuple[int, int]](), 0, 0
        self._helped = helped
        kernel = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(self._kernel)
        way = ctypes.CFUNCTYPE(ctypes.c_int32)(self._make_way)
        clock = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_int64))(self._clock)
        entry, make_way, time_of_day = (
            ctypes.cast(f, ctypes.c_void_p).value or 0 for f in (kernel, way, clock)
        )
        for slot, value in zip((SeatSlot.ENTRY, SeatSlot.LAUNCH, SeatSlot.WORKER), (entry, LAUNCH, 31)):
            self.seat.slots[slot] = value
        native.linger(self.seat.address, least, most, make_way, time_of_day, 5)

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
        return 0


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
    assert states([lingering.seat]) == [Seat.AWAY]
    assert abs(lingering.looks - turns) < POLITE


@pytest.mark.parametrize("state", [Seat.AWAY, Seat.READY])
def test_who_is_not_asked_leaves_soon(native: Native, state: Seat) -> None:
    lingering = Lingering(native, TURNS, 5000, 10**10, state)
    assert (lingering.ran, lingering.looks) == ([], 0)
    assert states([lingering.seat]) == [Seat.AWAY]


def test_with_one_processor_nobody_waits_on_a_seat(native: Native) -> None:
    lingering = Lingering(native, 0, 0, 10**10)
    assert (lingering.ran, lingering.looks) == ([(LAUNCH, 31)], 0)


class TestThreadsThatAreWoken:
    """Teams of one worker whose thread was not on its seat when it was asked."""

    @pytest.fixture
    def ran(self) -> list[tuple[int, int]]:
        return []

    @pytest.fixture
    def team(self, native: Native, ran: list[tuple[int, int]]) -> Team:
        code = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(lambda a, b: ran.append((a, b)))
        block = BlockShape(32, 1, 1)
        compiled = Compiled(code, ENTRY, (), 0, (), spins=False, shallow=True, block=block, code=None)
        return Team(native, compiled, LAUNCH, [31], array("q"), TICKET)

    def test_they_help_on_their_seats(self, team: Team, ran: list[tuple[int, int]]) -> None:
        (seat,) = seats(Seat.AWAY)
        team.take_part(seat)
        slots = SeatSlot.STATE, SeatSlot.ENTRY, SeatSlot.LAUNCH, SeatSlot.WORKER
        assert [seat.slots[s] for s in slots] == [ASKED, ENTRY, LAUNCH, 31]
        assert (ran, team.begun) == ([], 1)
        seat.slots[SeatSlot.STATE] = Seat.BUSY
        team.close()
        assert team.busy
        assert not team.ended(0.001)
        seat.slots[SeatSlot.DONE] = TICKET
        assert team.ended(0.001)
        assert not team.busy

    def test_they_need_not_begin_when_it_is_over(self, team: Team) -> None:
        (seat,) = seats(Seat.AWAY)
        team.take_part(seat)
        team.close()
        assert states([seat]) == [Seat.READY]
        assert (team.begun, team.busy) == (0, False)

    def test_who_comes_when_it_is_over_does_nothing(self, team: Team, ran: list[tuple[int, int]]) -> None:
        (seat,) = seats(Seat.AWAY)
        team.close()
        team.take_part(seat)
        assert (states([seat]), ran, team.busy) == ([Seat.AWAY], [], False)

    def test_who_has_helped_with_a_later_launch_does_not_seem_to_have_ended(
        self, team: Team, ran: list[tuple[int, int]]
    ) -> None:
        """So it helps at once, in Python's sight."""
        (seat,) = seats(Seat.AWAY)
        seat.slots[SeatSlot.DONE] = TICKET + 1
        team.take_part(seat)
        assert (states([seat]), ran) == ([Seat.AWAY], [(LAUNCH, 31)])
        team.close()
        assert team.ended(20)
        assert not team.busy


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
