"""On which of the system's processors a thread wakes up.

Linux lets a thread wake up where it slept, if it finds no idle processor; on virtual machines it takes those
that sleep for ones that are not to be had. If the one who wakes it runs there and goes on running, it waits
for milliseconds, until somebody sees that another processor has nothing to do. So it is sent away before.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import cast

NOWHERE = -1


def _no_processor() -> int:
    return NOWHERE


WHERE = "sched_getcpu"
"""The C library's function that tells."""
processor = cast("Callable[[], int]", getattr(ctypes.pythonapi, WHERE, _no_processor))
"""The one that this thread runs on; `NOWHERE` if the system does not tell."""


class Sleeper:
    """A thread that sleeps now and then."""

    def __init__(self) -> None:
        self._thread = 0
        self._usual: set[int] | None = None  # processors on which it may run when it has woken up

    def begins(self) -> None:
        """This is the thread."""
        self._thread = threading.get_native_id()

    def leave(self, here: int) -> None:
        """Lets the thread, which sleeps on this processor, wake up elsewhere."""
        if self._usual is not None:
            return
        with suppress(OSError):  # it is not allowed, or the thread has ended
            usual = os.sched_getaffinity(self._thread)
            if others := usual - {here}:
                os.sched_setaffinity(self._thread, others)
                self._usual = usual

    def may_return(self) -> None:
        """The thread has woken up, and may run wherever it might before."""
        usual, self._usual = self._usual, None
        if usual is not None:
            with suppress(OSError):  # none of these is left to the program
                os.sched_setaffinity(self._thread, usual)
