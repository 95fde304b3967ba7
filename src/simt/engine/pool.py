"""Native threads that take part in launches."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue

from simt.engine.abi import NATIVE_STACK

Job = Callable[[], object]
Jobs = SimpleQueue[Job | None]


class Pool:
    """Threads with stacks deep enough for recursion in kernels. They are made when first needed, wait for the
    next launch, and end when the pool is collected."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._forget()

    def _forget(self) -> None:
        self._process = os.getpid()
        self._jobs: Jobs = SimpleQueue()
        self._threads: list[threading.Thread] = []
        weakref.finalize(self, _end, self._jobs, self._threads)

    def ask(self, job: Job, count: int) -> None:
        """Lets `count` threads run a job, at the same time. A job must not raise."""
        if self._process != os.getpid():  # a forked process has none of its parent's threads
            self._lock = threading.Lock()
            self._forget()
        with self._lock:
            self._grow(count)
        for _ in range(count):
            self._jobs.put(job)

    def _grow(self, count: int) -> None:
        if len(self._threads) >= count:
            return
        old = threading.stack_size(NATIVE_STACK)
        try:
            while len(self._threads) < count:
                thread = threading.Thread(target=_work, args=(self._jobs,), name="simt", daemon=True)
                thread.start()
                self._threads.append(thread)
        finally:
            threading.stack_size(old)


def _work(jobs: Jobs) -> None:
    while (job := jobs.get()) is not None:
        job()
        del job  # what it holds is not kept until the next one


def _end(jobs: Jobs, threads: Sequence[threading.Thread]) -> None:
    for _ in threads:
        jobs.put(None)


class Team:
    """The threads of the pool that take part in one launch. Those that come too late do nothing."""

    def __init__(self, entry: Callable[[int, int], None], launch: int, workers: Sequence[int]) -> None:
        """`launch`, `workers`: addresses of blocks; one worker's for each thread."""
        self._entry = entry
        self._launch = launch
        self._left = list(reversed(workers))
        self._lock = threading.Lock()
        self._ends: SimpleQueue[None] = SimpleQueue()
        self.begun = 0
        """Threads that take part or did."""
        self._ended = 0

    def take_part(self) -> None:
        """Runs CTAs on this thread until none is left."""
        with self._lock:
            if not self._left:
                return
            worker = self._left.pop()
            self.begun += 1
        try:
            self._entry(self._launch, worker)
        finally:
            self._ends.put(None)

    def close(self) -> None:
        """Nobody takes part from now on who has not begun."""
        with self._lock:
            self._left.clear()

    def ended(self, timeout: float) -> bool:
        """Waits, for so many seconds at most, until one more that began has ended; whether it has."""
        try:
            self._ends.get(timeout=timeout)
        except Empty:
            return False
        self._ended += 1
        return True

    @property
    def busy(self) -> bool:
        """Whether some that began have not ended."""
        return self._ended < self.begun
