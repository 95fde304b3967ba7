"""One core against several: `python bench/cores.py [ENTRY...] [--workers 1,2,16] [--seconds N] [--survey]
[--write]`.

Prints what the machine gives (C loops that only compute, and some that only load and store, each thread with
a part of its own), then for entries of the suite the shortest and the median time of a run with each number
of workers, interleaved, and the ratio of the first number's to each; after `of`, that of the medians of the C
loop that only computes, in the same rounds. The first runs, in which code is compiled and found out how much
help pays, do not count, and each run follows one that does not count, as where a program launches kernels
again and again: threads that help are awake then, if they have not gone to sleep. Kernels that share memory
or caches much have C for several threads (`threads.c`), which stands below: what can be gained by it. With
`--survey` the problems of the survey stand for the suite's entries. With `--write` all that goes into
bench/cores.json, or bench/cores-survey.json.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from suite.catalogue import ENTRIES
from suite.machine import Measure, loops
from suite.measure import again, geometric_mean, timed, wall
from suite.problem import KERNELS, Entry, Problem
from suite.versions import Threads, Version, Virtual, compiled
from survey.case import Case
from survey.catalogue import CASES
from timing import processor

FOLDER = Path(__file__).resolve().parent
RESULTS, OF_SURVEY = FOLDER / "cores.json", FOLDER / "cores-survey.json"
GAINS = "gain", "gain_of_shortest", "gain_of_c_arithmetic"
QUIET = 0.05
"""Seconds after which the helpers of `suite/threads.h` sleep."""
WARM = 12
"""Runs that do not count."""


Samples = dict[int, list[float]]
"""Sorted seconds by the number of workers."""


def of_machine(workers: list[int], seconds: float) -> None:
    for name, measure in loops().items():
        (samples,) = found(workers, [measure], seconds)
        show(f"C: {name}", samples, None)


def of_entry(entry: Entry | Case, workers: list[int], seconds: float) -> dict[str, Any]:
    """What is written of an entry."""
    problem = entry.problem("full")
    versions = {n: Virtual(entry, problem, n) for n in workers}
    warm(versions, problem)
    measures = [lambda n: again(versions[n], problem, wall), loops()["arithmetic"]]
    threads = in_c(entry, problem, workers)
    if threads:
        measures.append(lambda n: _alone(threads[n], problem))
    samples, given, *c = found(workers, measures, seconds)
    show(entry.name, samples, given)
    if c:
        show("  C", c[0], None)
    row = {
        "name": entry.name,
        "shortest_ms": {n: round(times[0] * 1e3, 3) for n, times in samples.items()},
        "median_ms": {n: round(statistics.median(times) * 1e3, 3) for n, times in samples.items()},
        "gain": gains(samples),
        "gain_of_shortest": gains({n: times[:1] for n, times in samples.items()}),
        "gain_of_c_arithmetic": gains(given),
    }
    return row | {"gain_of_c": gains(c[0])} if c else row


def _alone(version: Version, problem: Problem) -> float:
    """Seconds of a run; returns when no helper of its spins any more."""
    seconds = again(version, problem, wall)
    time.sleep(QUIET)
    return seconds


def warm(versions: Mapping[int, Version], problem: Problem) -> None:
    for version in versions.values():
        for _ in range(WARM):
            timed(version, problem, wall)


def in_c(entry: Entry | Case, problem: Problem, workers: list[int]) -> Mapping[int, Version]:
    """C on so many threads, if the kernel has it; what is wrong ends the program."""
    if isinstance(entry, Case) or not (KERNELS / entry.folder / "threads.c").exists():
        return {}
    function, expected = compiled(entry, "threads"), problem.expected()
    versions = {n: Threads(problem, function, n) for n in workers}
    for n, version in versions.items():
        timed(version, problem, wall)
        if wrong := problem.wrong(expected, version.array):
            raise SystemExit(f"{entry.name}: C on {n} threads: {wrong}")
    return versions


def gains(samples: Samples) -> dict[int, float]:
    """Ratios of medians: the first number of workers to each other."""
    first, *others = samples
    one = statistics.median(samples[first])
    return {n: round(one / statistics.median(samples[n]), 2) for n in others}


def found(workers: list[int], measures: list[Measure], seconds: float) -> list[Samples]:
    """For each measure at least three times of each number of workers, interleaved."""
    samples: list[Samples] = [{n: [] for n in workers} for _ in measures]
    end = wall() + seconds
    while wall() < end or len(samples[0][workers[-1]]) < 3:
        for measure, times in zip(measures, samples):
            for n in workers:
                times[n].append(measure(n))
    return [{n: sorted(times) for n, times in found.items()} for found in samples]


def show(name: str, samples: Samples, given: Samples | None) -> None:
    """`given`: what the C loop that only computes took in the same rounds."""
    first, *others = samples
    times = "  ".join(
        f"{n}: {found[0] * 1e3:8.3f} {statistics.median(found) * 1e3:8.3f} ms" for n, found in samples.items()
    )
    gained = gains(samples)
    ratios = "  ".join(f"{samples[first][0] / samples[n][0]:.2f} {gained[n]:.2f}" for n in others)
    of = "" if given is None else "  of " + " ".join(f"{ratio:.2f}" for ratio in gains(given).values())
    print(f"{name:20s} {times}  ratios {ratios}{of}", flush=True)


def used() -> list[int]:
    """Processors that this process may use: as it was told (`taskset`), to leave out others of one core."""
    return sorted(os.sched_getaffinity(0))


def mean(rows: list[dict[str, Any]], key: str, workers: int) -> float | None:
    return geometric_mean(row[key][workers] for row in rows)


def write(workers: list[int], rows: list[dict[str, Any]], path: Path) -> None:

    document = {
        "date": time.strftime("%Y-%m-%d"),
        "machine": {"processor": processor(), "cores": os.cpu_count(), "used": used()},
        "geometric_means": {key: {n: mean(rows, key, n) for n in workers[1:]} for key in GAINS},
        "rows": rows,
    }
    path.write_text(json.dumps(document, indent=1) + "\n")


def main() -> None:
    cores = len(used())
    parser = argparse.ArgumentParser(description="One core against several.")
    parser.add_argument("entries", nargs="*", metavar="ENTRY", help="all if none is given")
    parser.add_argument("--survey", action="store_true", help="problems of the survey")
    parser.add_argument("--workers", default=f"1,{cores}", help="numbers of workers (%(default)s)")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each entry (%(default)s)")
    parser.add_argument("--write", action="store_true", help=f"into {RESULTS.name} or {OF_SURVEY.name}")
    options = parser.parse_args()
    workers = [int(n) for n in options.workers.split(",")]
    of_machine(workers, options.seconds)
    entries = CASES.values() if options.survey else ENTRIES
    chosen = [entry for entry in entries if not options.entries or entry.name in options.entries]
    rows = [of_entry(entry, workers, options.seconds) for entry in chosen]
    if len(rows) > 1:
        print("geometric means", *(f"{n}: {mean(rows, 'gain', n):.2f}" for n in workers[1:]))
    if options.write:
        write(workers, rows, OF_SURVEY if options.survey else RESULTS)


if __name__ == "__main__":
    main()
