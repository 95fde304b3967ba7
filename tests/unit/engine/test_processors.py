"""Sleeping threads wake up elsewhere than where the one who wakes them goes on running."""

from __future__ import annotations

import ctypes
import gc
import os
import time
import warnings
from array import array
from queue import SimpleQueue

import pytest

from simt.engine import pool as pools
from simt.engine.abi import Seat, SeatSlot
from simt.engine.compiler import Compiler
from simt.engine.pool import Pool

needs_two = pytest.mark.skipif(
    len(getattr(os, "sched_getaffinity", lambda _: ())(0)) < 2,
    reason="there is one processor, or none is told",
)
WORKERS = array("q", (31,))


class Helped:
    """A pool's one thread, asked to run a function that tells where it may run, and where it runs."""

    def __init__(self) -> None:
        self.pool = Pool(Compiler().native())
        self.found = SimpleQueue[set[int]]()
        self._code = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(self._run)

    def _run(self, launch: int, worker: int) -> None:
        self.found.put(os.sched_getaffinity(0))

    def __call__(self) -> set[int]:
        """Where it may run while it helps."""
        entry = ctypes.cast(self._code, ctypes.c_void_p).value or 0
        team = self.pool.team(entry, 0, WORKERS, needed=True)
        found = self.found.get(timeout=20)
        assert team.ended(20)
        return found

    @property
    def slots(self) -> memoryview:
        return self.pool._seats[0].slots  # pyright: ignore[reportPrivateUsage]

    def fall_asleep(self) -> None:
        end = time.monotonic() + 20
        while self.slots[SeatSlot.STATE] != Seat.ASLEEP:
            assert time.monotonic() < end


@needs_two
def test_who_is_woken_may_come_back() -> None:
    helped, usual = Helped(), os.sched_getaffinity(0)
    assert helped() == usual
    for _ in range(3):
        helped.fall_asleep()
        assert helped() == usual
        assert helped.slots[SeatSlot.SENT] == 0
        away = helped.slots[SeatSlot.AWAY : SeatSlot.AWAY + 16].tolist()
        allowed = {n for n in range(1024) if away[n // 64] >> n % 64 & 1}
        assert len(usual - allowed) == 1
        assert allowed < usual


@needs_two
def test_who_may_run_here_only_stays() -> None:
    helped, usual = Helped(), os.sched_getaffinity(0)
    helped()
    helped.fall_asleep()
    here = min(usual)
    os.sched_setaffinity(helped.slots[SeatSlot.THREAD], {here})
    os.sched_setaffinity(0, {here})
    try:
        assert helped() == {here}
        assert os.sched_getaffinity(helped.slots[SeatSlot.THREAD]) == {here}
    finally:
        os.sched_setaffinity(0, usual)


@needs_two
def test_a_forked_process_leaves_its_parents_threads_alone() -> None:
    helped, usual = Helped(), os.sched_getaffinity(0)
    helped()
    helped.fall_asleep()
    thread = helped.slots[SeatSlot.THREAD]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # from 3.12 on Python warns of threads
        child = os.fork()
    if child == 0:
        del helped.pool
        gc.collect()
        os._exit(0)
    os.waitpid(child, 0)
    assert os.sched_getaffinity(thread) == usual
    assert helped() == usual


def test_a_system_without_such_functions_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "functions", dict)
    helped = Helped()
    for _ in range(3):
        helped()
        helped.fall_asleep()
