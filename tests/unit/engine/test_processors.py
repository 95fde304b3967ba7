"""Sleeping threads are sent away from the processor of the one who wakes them."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from queue import SimpleQueue

import pytest

import simt
from simt.engine import processors
from simt.engine.processors import NOWHERE, Sleeper

pytestmark = pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="the system does not let programs choose processors"
)
needs_two = pytest.mark.skipif(
    len(getattr(os, "sched_getaffinity", lambda _: ())(0)) < 2, reason="there is one processor"
)


class Asleep:
    """A thread that sleeps on a processor, or says so."""

    def __init__(self, at: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sleeper, self.thread = Sleeper(), 0
        self._bell, self._answers = SimpleQueue[bool](), SimpleQueue[set[int]]()
        self._at, self._patch = at, monkeypatch
        threading.Thread(target=self._run, daemon=True).start()
        self._answers.get()

    def _run(self) -> None:
        self.thread = threading.get_native_id()
        self.sleeper.begins()
        with self._patch.context() as patch:
            patch.setattr(processors, "processor", lambda: self._at)
            self.sleeper.sleeps()
        self._answers.put(set())
        while self._bell.get():
            self.sleeper.wakes()
            self._answers.put(self.allowed)

    @property
    def allowed(self) -> set[int]:
        return os.sched_getaffinity(self.thread)

    def woken(self) -> set[int]:
        """Processors on which it may run when it has woken up."""
        self._bell.put(True)
        return self._answers.get()

    def end(self) -> None:
        self._bell.put(False)


@pytest.fixture
def usual() -> set[int]:
    return os.sched_getaffinity(0)


@pytest.fixture
def asleep(usual: set[int], monkeypatch: pytest.MonkeyPatch) -> Iterator[Asleep]:
    thread = Asleep(min(usual), monkeypatch)
    yield thread
    thread.end()


@needs_two
def test_who_sleeps_here_wakes_up_elsewhere_and_may_come_back(asleep: Asleep, usual: set[int]) -> None:
    here = min(usual)
    asleep.sleeper.leave(here)
    assert asleep.allowed == usual - {here}
    assert asleep.woken() == usual


@needs_two
def test_who_has_been_sent_away_is_left_alone(asleep: Asleep, usual: set[int]) -> None:
    asleep.sleeper.leave(min(usual))
    asleep.sleeper.leave(max(usual))
    assert asleep.allowed == usual - {min(usual)}
    assert asleep.woken() == usual


def test_who_sleeps_elsewhere_is_left_alone(asleep: Asleep, usual: set[int]) -> None:
    asleep.sleeper.leave(min(usual) + 1)
    asleep.sleeper.leave(NOWHERE)
    assert asleep.allowed == usual


def test_who_has_woken_up_is_left_alone(asleep: Asleep, usual: set[int]) -> None:
    assert asleep.woken() == usual
    asleep.sleeper.leave(min(usual))
    assert asleep.allowed == usual


def test_who_may_run_here_only_stays(asleep: Asleep, usual: set[int]) -> None:
    here = min(usual)
    os.sched_setaffinity(asleep.thread, {here})
    asleep.sleeper.leave(here)
    assert asleep.allowed == {here}
    assert asleep.woken() == {here}


def test_a_system_that_refuses_is_no_error(
    asleep: Asleep, usual: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(thread: int, where: set[int]) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "sched_setaffinity", refuse)
    asleep.sleeper.leave(min(usual))
    assert asleep.allowed == asleep.woken() == usual


def test_threads_that_sleep_where_a_launch_runs_are_sent_away_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simt.engine.pace.Pace.helpers", lambda self, ctas, awake, most: most)
    asked = list[int]()
    monkeypatch.setattr(Sleeper, "leave", lambda self, here: asked.append(here))
    monkeypatch.setattr("simt.engine.pool.processor", lambda: 123)
    source = ".version 7.5\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }"
    device = simt.Device("sm_90", workers=3, memory="64MiB", timeout=20)
    kernel = device.load(source)["k"]
    kernel((8,), (32,), ())
    assert asked == [123, 123]  # both threads of the pool, which have just been made
    pool = device.engine.host.pool  # pyright: ignore[reportAttributeAccessIssue]
    end = time.monotonic() + 20
    while pool.awake and time.monotonic() < end:
        time.sleep(0.001)
    asked.clear()
    kernel((8,), (32,), ())
    assert asked == [123, 123]
