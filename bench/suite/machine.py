"""What the machine itself gives several threads: C loops, each thread with a part of the work.

Two processors of a virtual machine may be one core's for a while, or get no more of its time than one would;
and two cores share the memory. What these loops gain, a kernel of the same kind cannot exceed by much.
"""

from __future__ import annotations

import ctypes
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np

from suite.problem import Array
from suite.versions import BUILD, GCC_OPTIONS, SUITE, aligned

ELEMENTS = 1 << 24
TURNS = 1 << 20
"""Multiply-adds of each of 256 numbers, by each thread: so long that waking it does not count for much."""
REPETITIONS = 5
"""Times that each thread goes through its part of the arrays, so that starting it does not count."""

Measure = Callable[[int], float]
"""Seconds that a piece of work takes a number of threads."""


@cache
def loops() -> dict[str, Measure]:
    """By name; `arithmetic` needs no memory."""
    BUILD.mkdir(parents=True, exist_ok=True)
    library = BUILD / "machine.so"
    source = str(SUITE / "machine.c")
    subprocess.run(["gcc", *GCC_OPTIONS, "-ffast-math", source, "-o", str(library)], check=True)
    code = ctypes.CDLL(str(library))
    x, y = (aligned(np.ones(ELEMENTS, "f4")) for _ in range(2))
    return {
        "arithmetic": lambda threads: computed(code.arithmetic, x, threads),
        "read": lambda threads: passed(code.sum, [x], threads),
        "copy": lambda threads: passed(code.copy, [x, y], threads),
        "saxpy": lambda threads: passed(code.saxpy, [x, y], threads),
    }


def computed(function: Callable[..., object], x: Array, threads: int) -> float:
    """For what one thread does in all."""
    place = ctypes.c_void_p(x.ctypes.data)
    return together(lambda _: function(place, ctypes.c_long(TURNS)), threads) / threads


def passed(function: Callable[..., object], arrays: list[Array], threads: int) -> float:
    part = ELEMENTS // threads // 64 * 64

    def run(number: int) -> None:
        places = [ctypes.c_void_p(a.ctypes.data + number * part * 4) for a in arrays]
        for _ in range(REPETITIONS):
            function(*places, ctypes.c_long(part))

    return together(run, threads) / REPETITIONS


def together(run: Callable[[int], object], threads: int) -> float:
    """Seconds until all threads have run."""
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda _: time.sleep(0.001), range(threads)))  # all threads are there
        start = time.perf_counter()
        list(pool.map(run, range(threads)))
        return time.perf_counter() - start
