"""How threads that wait on their seats are asked for help: native code, on seats of which no thread knows."""

from __future__ import annotations

import threading
from array import array
from collections.abc import Sequence

import numpy as np
import pytest

import simt
from simt.engine.abi import Seat, SeatSlot
from simt.engine.blocks import Block
from simt.engine.compile import Compiler, Native
from simt.engine.pace import Pace

TICKET, ENTRY, LAUNCH = 7, 1000, 2000
WORKERS = array("q", (31, 32, 33, 34))


@pytest.fixture(scope="module")
def native() -> Native:
    return Compiler().native()


def seats(*states: Seat) -> list[Block]:
    made = [Block(len(SeatSlot)) for _ in states]
    for seat, state in zip(made, states):
        seat.slots[SeatSlot.STATE] = state
    return made


def addresses(some: Sequence[Block]) -> array[int]:
    return array("q", [seat.address for seat in some])


def states(some: Sequence[Block]) -> list[int]:
    return [seat.slots[SeatSlot.STATE] for seat in some]


def ask(native: Native, some: Sequence[Block], wanted: int) -> list[int]:
    """Which are asked, by their number."""
    places, asked = addresses(some), array("q", [0] * wanted)
    count = native.ask(
        *places.buffer_info(), WORKERS.buffer_info()[0], wanted, asked.buffer_info()[0], ENTRY, LAUNCH, TICKET
    )
    return [places.index(address) for address in asked[:count]]


@pytest.mark.parametrize("wanted", range(5))
def test_those_who_wait_are_asked_in_order(native: Native, wanted: int) -> None:
    some = seats(Seat.BUSY, Seat.READY, Seat.AWAY, Seat.READY, Seat.ASKED, Seat.READY)
    before = states(some)
    asked = ask(native, some, wanted)
    assert asked == [1, 3, 5][:wanted]
    assert states(some) == [Seat.ASKED if i in asked else state for i, state in enumerate(before)]
    for worker, number in zip(WORKERS, asked):
        slots = some[number].slots
        given = [slots[s] for s in (SeatSlot.ENTRY, SeatSlot.LAUNCH, SeatSlot.WORKER, SeatSlot.TICKET)]
        assert given == [ENTRY, LAUNCH, worker, TICKET]


def test_nobody_is_asked_of_none(native: Native) -> None:
    assert ask(native, [], 2) == []


def test_those_who_have_begun_are_not_withdrawn(native: Native) -> None:
    """Nor is what another launch has asked of one who has helped already."""
    some = seats(Seat.ASKED, Seat.BUSY, Seat.ASKED, Seat.READY, Seat.ASKED)
    for seat in some:
        seat.slots[SeatSlot.TICKET] = TICKET
    some[4].slots[SeatSlot.TICKET] = TICKET + 1
    places = addresses(some)
    assert native.withdraw(places.buffer_info()[0], len(some), TICKET) == 3
    assert list(places[:3]) == [some[n].address for n in (1, 3, 4)]
    assert states(some) == [Seat.READY, Seat.BUSY, Seat.READY, Seat.READY, Seat.ASKED]


@pytest.mark.parametrize("late", range(4))
def test_all_are_waited_for(native: Native, late: int) -> None:
    some = seats(*[Seat.BUSY] * 3)
    for number, seat in enumerate(some):
        seat.slots[SeatSlot.DONE] = TICKET - (number == late)
    places = addresses(some)
    assert native.join(places.buffer_info()[0], 3, TICKET, 50) == (late == 3)
    assert native.join(places.buffer_info()[0], min(late, 3), TICKET, 50) == 1


def test_launches_of_several_threads_get_help_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
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
    monkeypatch.setattr(Pace, "helpers", lambda self, ctas, awake, most: most)
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
