"""One core against several: `python bench/cores.py [ENTRY...] [--workers 1,2,16] [--seconds N]`.

Prints what the machine gives (C loops that only compute, and some that only load and store, each thread with
a part of its own), then for entries of the suite the shortest and the median time of a run with each number
of workers, interleaved, and the ratio of the first number's to each; after `of`, that of the medians of the C
loop that only computes, in the same rounds. The first runs, in which code is compiled and found out how much
help pays, do not count, and each run follows one that does not count, as where a program launches kernels
again and again: threads that help are awake then, if they have not gone to sleep.
"""

from __future__ import annotations

import argparse
import os
import statistics

from suite.catalogue import ENTRIES
from suite.machine import Measure, loops
from suite.measure import again, timed, wall
from suite.problem import Entry
from suite.versions import Virtual

WARM = 12
"""Runs that do not count."""


def of_machine(workers: list[int], seconds: float) -> None:
    for name, measure in loops().items():
        (samples,) = found(workers, [measure], seconds)
        show(f"C: {name}", samples)


def of_entry(entry: Entry, workers: list[int], seconds: float) -> None:
    problem = entry.problem("full")
    versions = {n: Virtual(entry, problem, n) for n in workers}
    for version in versions.values():
        for _ in range(WARM):
            timed(version, problem, wall)
    measures = [lambda n: again(versions[n], problem, wall), loops()["arithmetic"]]
    samples, given = found(workers, measures, seconds)
    show(entry.name, samples, given)


def found(workers: list[int], measures: list[Measure], seconds: float) -> list[dict[int, list[float]]]:
    """For each measure its times by the number of workers, at least three of each, interleaved."""
    samples: list[dict[int, list[float]]] = [{n: [] for n in workers} for _ in measures]
    end = wall() + seconds
    while wall() < end or len(samples[0][workers[-1]]) < 3:
        for measure, times in zip(measures, samples):
            for n in workers:
                times[n].append(measure(n))
    return [{n: sorted(times) for n, times in found.items()} for found in samples]


def show(name: str, samples: dict[int, list[float]], given: dict[int, list[float]] | None = None) -> None:
    """`given`: what the C loop that only computes took in the same rounds."""
    first, *others = samples
    shortest = {n: times[0] for n, times in samples.items()}
    median = {n: statistics.median(times) for n, times in samples.items()}
    times = "  ".join(f"{n}: {shortest[n] * 1e3:8.3f} {median[n] * 1e3:8.3f} ms" for n in samples)
    ratios = "  ".join(f"{shortest[first] / shortest[n]:.2f} {median[first] / median[n]:.2f}" for n in others)
    print(f"{name:20s} {times}  ratios {ratios}{of(given)}", flush=True)


def of(given: dict[int, list[float]] | None) -> str:
    if given is None:
        return ""
    first, *others = (statistics.median(times) for times in given.values())
    return "  of " + " ".join(f"{first / other:.2f}" for other in others)


def main() -> None:
    cores = os.cpu_count() or 1
    parser = argparse.ArgumentParser(description="One core against several.")
    parser.add_argument("entries", nargs="*", metavar="ENTRY", help="of the suite; all if none is given")
    parser.add_argument("--workers", default=f"1,{cores}", help="numbers of workers (%(default)s)")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each entry (%(default)s)")
    options = parser.parse_args()
    workers = [int(n) for n in options.workers.split(",")]
    of_machine(workers, options.seconds)
    for entry in ENTRIES:
        if not options.entries or entry.name in options.entries:
            of_entry(entry, workers, options.seconds)


if __name__ == "__main__":
    main()
