"""How fast the interpreter runs the suite's kernels: lane-instructions a second.

A lane-instruction is one PTX instruction executed by one lane. They are counted in a run of their own, by the
interpreter's watcher, before the timed ones: the count is the same however fast the machine is. Guarded
instructions count in the lanes where the guard holds; jumps without a condition, which are not always
written, do not count. Time is the process's own: the interpreter runs on one thread and never waits.
"""

from __future__ import annotations

from statistics import median
from time import process_time

import numpy as np
from numpy.typing import NDArray
from suite.catalogue import ENTRIES
from suite.problem import Entry, Problem
from suite.versions import Virtual
from timing import Row

import simt
from simt.analysis.program import Jump

ROUNDS = 3
SIZES = {
    "saxpy": 1 << 20, "black_scholes": 1 << 17, "matmul": 256, "nbody": 2048, "reduce_tree": 1 << 20,
    "reduce_shuffle": 1 << 20, "scan": 1 << 18, "scan_three_passes": 1 << 18, "histogram": 1 << 17,
    "mandelbrot": 256, "transpose": 1024, "convolution": 256, "bitonic_sort": 1 << 14, "spmv": 1 << 13,
    "kmeans": 1 << 15, "bfs": 1 << 15, "sha256": 1 << 12, "monte_carlo": 1 << 12, "fft": 64, "lu": 128,
}  # fmt: skip
"""By folder of the suite: some millions of lane-instructions, in columns of thousands of lanes."""


class Counter:
    """A watcher that counts what executes."""

    def __init__(self) -> None:
        self.total = 0

    def begins(self, batch: object) -> None: ...
    def enters(self, activation: object, run: object) -> None: ...
    def parts(self, ways: object, activation: object, run: object) -> None: ...
    def changes(self, change: object) -> None: ...

    def executes(self, what: object, lanes: NDArray[np.bool_], activation: object, run: object) -> None:
        self.total += 0 if isinstance(what, Jump) else int(np.count_nonzero(lanes))


def interpreter() -> list[Row]:
    """Every entry of the suite at a size of its own."""
    return [row(entry) for entry in ENTRIES]


def row(entry: Entry) -> Row:
    problem = entry.case.problem(SIZES[entry.folder], entry.real)
    version = Virtual(entry, problem, workers=1, engine="interpreter")
    count = counted(version)
    if wrong := problem.wrong(problem.expected(), version.array):
        raise simt.SimtError(f"{entry.name} on the interpreter: {wrong}")
    time = median(timed(version, problem) for _ in range(ROUNDS))
    what = f"{count / 1e6:.1f}M lane-instructions"
    return Row(f"interpreter: {entry.name}", what, time, "M a second", count / time / 1e6, ">= 20")


def counted(version: Virtual) -> int:
    """Lane-instructions of one run."""
    counter = Counter()
    version.device.engine.watcher = counter
    try:
        version.run()
    finally:
        version.device.engine.watcher = None
    return counter.total


def timed(version: Virtual, problem: Problem) -> float:
    for name in problem.changed:
        version.put(name, problem.arrays[name])
    start = process_time()
    version.run()
    return process_time() - start
