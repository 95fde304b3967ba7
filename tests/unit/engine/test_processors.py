"""Sleeping threads are sent away from the processor of the one who wakes them."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator

import pytest

import simt
from simt.engine.abi import Seat, SeatSlot
from simt.engine.processors import Sleeper

pytestmark = pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="the system does not let programs choose processors"
)
needs_two = pytest.mark.skipif(
    len(getattr(os, "sched_getaffinity", lambda _: ())(0)) < 2, reason="there is one processor"
)


class Asleep:
    """A thread that sleeps."""

    def __init__(self) -> None:
        self.sleeper, self.thread = Sleeper(), 0
        self._bell, self._begun = threading.Event(), threading.Event()
        threading.Thread(target=self._run, daemon=True).start()
        assert self._begun.wait(20)

    def _run(self) -> None:
        self.thread = threading.get_native_id()
        self.sleeper.begins()
        self._begun.set()
        self._bell.wait()

    @property
    def allowed(self) -> set[int]:
        return os.sched_getaffinity(self.thread)

    def end(self) -> None:
        self._bell.set()


@pytest.fixture
def usual() -> set[int]:
    return os.sched_getaffinity(0)


@pytest.fixture
def asleep() -> Iterator[Asleep]:
    thread = Asleep()
    yield thread
    thread.end()


@needs_two
def test_who_sleeps_here_wakes_up_elsewhere_and_may_come_back(asleep: Asleep, usual: set[int]) -> None:
    here = min(usual)
    asleep.sleeper.leave(here)
    assert asleep.allowed == usual - {here}
    asleep.sleeper.may_return()
    assert asleep.allowed == usual


@needs_two
def test_who_has_been_sent_away_is_left_alone(asleep: Asleep, usual: set[int]) -> None:
    asleep.sleeper.leave(min(usual))
    asleep.sleeper.leave(max(usual))
    assert asleep.allowed == usual - {min(usual)}
    asleep.sleeper.may_return()
    asleep.sleeper.may_return()
    assert asleep.allowed == usual


def test_who_may_run_here_only_stays(asleep: Asleep, usual: set[int]) -> None:
    here = min(usual)
    os.sched_setaffinity(asleep.thread, {here})
    asleep.sleeper.leave(here)
    assert asleep.allowed == {here}
    asleep.sleeper.may_return()
    assert asleep.allowed == {here}


def test_a_system_that_refuses_is_no_error(
    asleep: Asleep, usual: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(thread: int, where: set[int]) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "sched_setaffinity", refuse)
    asleep.sleeper.leave(min(usual))
    asleep.sleeper.may_return()
    assert asleep.allowed == usual


class TestThreadsOfAPool:
    """Three, which sleep on processors as they say."""

    AT = 7, 123, 123

    @pytest.fixture
    def calls(self, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
        """What is done with which of them."""
        done = list[tuple[str, int]]()
        numbers = dict[int, int]()

        def number(sleeper: Sleeper) -> int:
            return numbers.setdefault(id(sleeper), len(numbers))

        monkeypatch.setattr(Sleeper, "begins", lambda self: None)
        monkeypatch.setattr(Sleeper, "leave", lambda self, here: done.append((f"leave {here}", number(self))))
        monkeypatch.setattr(Sleeper, "may_return", lambda self: done.append(("return", number(self))))
        monkeypatch.setattr("simt.engine.pool.processor", lambda: 123)
        return done

    @pytest.fixture
    def kernel(self) -> simt.Kernel:
        source = ".version 7.5\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }"
        return simt.Device("sm_90", workers=4, memory="64MiB", timeout=20).load(source)["k"]

    def test_those_that_sleep_where_a_launch_runs_are_sent_away_first(
        self, monkeypatch: pytest.MonkeyPatch, calls: list[tuple[str, int]], kernel: simt.Kernel
    ) -> None:
        monkeypatch.setattr("simt.engine.pace.Pace.helpers", lambda self, ctas, awake, most: most)
        kernel((8,), (32,), ())
        assert calls == []  # they have just been made
        device = kernel.module.device
        pool = device.engine.host.pool  # pyright: ignore[reportAttributeAccessIssue]
        seats = [seat.slots for seat in pool._seats]
        end = time.monotonic() + 20
        while any(slots[SeatSlot.STATE] != Seat.ASLEEP for slots in seats) and time.monotonic() < end:
            time.sleep(0.001)
        for slots, at in zip(seats, self.AT, strict=True):
            slots[SeatSlot.AT] = at
        kernel((8,), (32,), ())
        assert calls == [("leave 123", 0), ("leave 123", 1), ("return", 1), ("return", 0)]
