"""A thread that looks after the launches which run on the threads of their callers."""

from __future__ import annotations

import os
import threading
import time
from array import array
from typing import Protocol

TICK = 0.02
"""Seconds between two looks."""
PATIENCE = 50
"""Looks without any launch after which the thread sleeps until the next one."""


class Watched(Protocol):
    """A call of compiled code."""

    def tick(self, now: float) -> None:
        """Called now and then while the call runs, and perhaps once after it. `now`: `time.monotonic()`."""
        ...


class Watch:
    """Calls `tick` of every call that runs. The thread is made when first needed."""

    def __init__(self) -> None:
        self.running: set[Watched] = set()
        """Calls, put here before they run and taken away after it; always the same object."""
        self.cell = array("q", [0])
        """Nonzero: `awake`. Compiled code reads it."""
        self._forget()

    def _forget(self) -> None:
        """A new process has none of its parent's threads."""
        self.running.clear()
        self.count = 0
        """Grows with calls, but not with those that compiled code puts into `running`."""
        self.awake = False
        self._bell: threading.Semaphore | None = None

    @property
    def awake(self) -> bool:
        """Whether the thread looks."""
        return self.cell[0] != 0

    @awake.setter
    def awake(self, looks: bool) -> None:
        self.cell[0] = looks

    def add(self, call: Watched) -> None:
        """Before the call runs: costs next to nothing while others did so a short time ago."""
        self.running.add(call)
        self.count += 1
        if not self.awake:
            self.wake()

    def remove(self, call: Watched) -> None:
        self.running.discard(call)

    def wake(self) -> None:
        self.awake = True
        if self._bell is None:
            self._bell = threading.Semaphore(0)
            thread = threading.Thread(target=self._look, args=(self._bell,), name="simt-watch", daemon=True)
            try:
                thread.start()
            except RuntimeError:  # the system gives no more threads, or Python ends: nobody looks
                self._bell, self.awake = None, False
        else:
            self._bell.release()

    def _look(self, bell: threading.Semaphore) -> None:
        idle, count = 0, -1
        while True:
            time.sleep(TICK)
            idle = 0 if self._tick() or self.count != count else idle + 1
            count = self.count
            if idle >= PATIENCE and self._may_sleep(count):
                bell.acquire()
                idle = 0

    def _tick(self) -> bool:
        """Looks at every call that runs; whether there was one."""
        running, now = tuple(self.running), time.monotonic()
        for call in running:
            call.tick(now)
        return bool(running)

    def _may_sleep(self, count: int) -> bool:
        """A call that begins now either sees that the thread sleeps, or is seen here."""
        self.awake = False
        if self.running or self.count != count:
            self.awake = True
            return False
        return True


WATCH = Watch()
"""One for the process."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=WATCH._forget)  # pyright: ignore[reportPrivateUsage]
