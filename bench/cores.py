"""One core against several: `python bench/cores.py [ENTRY...] [--workers 1,2,16] [--seconds N]`.

Prints what memory allows (plain C loops over 64 MB arrays, each thread on a part of its own), then for
entries of the suite the shortest and the median time of a run with each number of workers, interleaved, and
the ratio of the first number's to each. The first runs, in which code is compiled and found out how much help
pays, do not count.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import statistics
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from suite.catalogue import ENTRIES
from suite.measure import timed, wall
from suite.problem import Array, Entry
from suite.versions import BUILD, GCC_OPTIONS, SUITE, Virtual, aligned

ELEMENTS = 1 << 24
REPETITIONS = 5
"""Times that each thread goes through its part, so that starting it does not count."""
WARM = 12
"""Runs that do not count."""


def streams() -> dict[str, Callable[[int], float]]:
    """By name, a function of the number of threads: seconds to go through the arrays once."""
    BUILD.mkdir(parents=True, exist_ok=True)
    library = BUILD / "streams.so"
    subprocess.run(
        ["gcc", *GCC_OPTIONS, "-ffast-math", str(SUITE / "streams.c"), "-o", str(library)], check=True
    )
    code = ctypes.CDLL(str(library))
    x, y = (aligned(np.ones(ELEMENTS, "f4")) for _ in range(2))
    return {
        "read": lambda threads: passed(code.sum, [x], threads),
        "copy": lambda threads: passed(code.copy, [x, y], threads),
        "saxpy": lambda threads: passed(code.saxpy, [x, y], threads),
    }


def passed(function: Callable[..., object], arrays: list[Array], threads: int) -> float:
    part = ELEMENTS // threads // 64 * 64

    def run(number: int) -> None:
        places = [ctypes.c_void_p(a.ctypes.data + number * part * 4) for a in arrays]
        for _ in range(REPETITIONS):
            function(*places, ctypes.c_long(part))

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda _: time.sleep(0.001), range(threads)))  # all threads are there
        start = wall()
        list(pool.map(run, range(threads)))
        return (wall() - start) / REPETITIONS


def of_memory(workers: list[int], seconds: float) -> None:
    for name, measure in streams().items():
        show(f"memory: {name}", found(workers, measure, seconds))


def of_entry(entry: Entry, workers: list[int], seconds: float) -> None:
    problem = entry.problem("full")
    versions = {n: Virtual(entry, problem, n) for n in workers}
    for version in versions.values():
        for _ in range(WARM):
            timed(version, problem, wall)
    show(entry.name, found(workers, lambda n: timed(versions[n], problem, wall), seconds))


def found(workers: list[int], measure: Callable[[int], float], seconds: float) -> dict[int, list[float]]:
    """Times by the number of workers, at least three of each, sorted."""
    samples: dict[int, list[float]] = {n: [] for n in workers}
    end = wall() + seconds
    while wall() < end or len(samples[workers[-1]]) < 3:
        for n in workers:
            samples[n].append(measure(n))
    return {n: sorted(times) for n, times in samples.items()}


def show(name: str, samples: dict[int, list[float]]) -> None:
    first, *others = samples
    shortest = {n: times[0] for n, times in samples.items()}
    median = {n: statistics.median(times) for n, times in samples.items()}
    times = "  ".join(f"{n}: {shortest[n] * 1e3:8.3f} {median[n] * 1e3:8.3f} ms" for n in samples)
    ratios = "  ".join(f"{shortest[first] / shortest[n]:.2f} {median[first] / median[n]:.2f}" for n in others)
    print(f"{name:20s} {times}  ratios {ratios}", flush=True)


def main() -> None:
    cores = os.cpu_count() or 1
    parser = argparse.ArgumentParser(description="One core against several.")
    parser.add_argument("entries", nargs="*", metavar="ENTRY", help="of the suite; all if none is given")
    parser.add_argument("--workers", default=f"1,{cores}", help="numbers of workers (%(default)s)")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each entry (%(default)s)")
    options = parser.parse_args()
    workers = [int(n) for n in options.workers.split(",")]
    of_memory(workers, options.seconds)
    for entry in ENTRIES:
        if not options.entries or entry.name in options.entries:
            of_entry(entry, workers, options.seconds)


if __name__ == "__main__":
    main()
