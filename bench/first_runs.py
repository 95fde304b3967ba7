"""How long problems of the survey take the first time: compiling, and the launches that go before.

`python bench/first_runs.py [PROBLEM...] [--rows]`

Each problem, at full size, is loaded and run four times in this process, on one pinned core, with an empty
cache. `first` is what the first run and the load take beyond the shortest run; `all`: what all four do, as
better code follows later where a launch began with a draft (`simt.engine.drafts`). Instructions are PTX's.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from itertools import pairwise
from statistics import mean

from suite.measure import timed
from suite.versions import Virtual
from survey.case import Case
from survey.catalogue import CASES
from timing import pin_to_one_core

RUNS = 4
SIZES = 0, 100, 250, 500, 1000, 2000, 100_000
"""Instructions of a module, by which means are shown."""
LIMIT = 0.5
"""Seconds that the issue allows a kernel of 1,000 instructions."""


def instructions(text: str) -> int:
    """Of a PTX file, about: statements that are no directives."""
    lines = (line.strip() for line in text.splitlines())
    return sum(line.endswith(";") and not line.startswith(".") for line in lines)


def measure(case: Case) -> tuple[int, int, float, float]:
    """Instructions, kernels that are launched, and seconds: `first` and `all`."""
    problem = case.problem("full")
    start = time.perf_counter()
    version = Virtual(case, problem, workers=1)
    load = time.perf_counter() - start
    runs = [timed(version, problem, time.perf_counter) for _ in range(RUNS)]
    kernels = len({launch.kernel for launch in problem.launches})
    first, every = runs[0] - min(runs), sum(runs) - RUNS * min(runs)
    return instructions(case.ptx.read_text()), kernels, load + first, load + every


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--rows", action="store_true", help="a line for each problem")
    given = parser.parse_args()
    pin_to_one_core()
    with tempfile.TemporaryDirectory() as cache:
        os.environ["SIMT_CACHE_DIR"] = cache
        measure(CASES["gemv"])  # imports, and what all kernels share
        found = {name: measure(CASES[name]) for name in given.names or CASES}
    if given.rows:
        for name, (size, kernels, first, every) in found.items():
            what = f"{size:6d} instructions, {kernels:2d} kernels"
            print(f"{name:20s} {what}, first {first:.3f} s, all {every:.3f} s")
    for least, most in pairwise(SIZES):
        some = [(first, every) for size, _, first, every in found.values() if least < size <= most]
        if some:
            over = sum(first > LIMIT for first, _ in some)
            first, every = (mean(values) for values in zip(*some))
            what = f"{least} to {most} instructions: {len(some)} problems"
            print(f"{what}, first {first:.3f} s in the mean, {over} over {LIMIT} s, all {every:.3f} s")


if __name__ == "__main__":
    main()
