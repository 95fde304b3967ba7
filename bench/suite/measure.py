"""Builds, checks and times the versions of one line of the suite."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

import simt
from suite import machine
from suite.problem import Array, Entry, Problem
from suite.versions import LeftOut, Version, Virtual, builders

Clock = Callable[[], float]
wall = time.perf_counter
processor = time.process_time
"""Seconds that this process ran: steadier than `wall` where others use the core too, blind to waiting."""

ROUNDS = 7
LOOPS = "arithmetic", "saxpy"
"""Loops of `suite.machine` that tell what several cores give."""
WARM = 3
"""Runs that do not count."""
SLOW = 3.0
"""Seconds from which a version's run, but for the first two, is its last one."""


@dataclass
class Line:
    """What was found for one entry: median seconds by version, why versions are missing or wrong."""

    name: str
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    left_out: dict[str, str] = field(default_factory=dict[str, str])
    wrong: dict[str, str] = field(default_factory=dict[str, str])
    first_run: float | None = None
    """Seconds of simt's first run, compiling included."""

    cores: dict[str, float] = field(default_factory=dict[str, float])
    """Median seconds of simt with one worker and on all cores (`one`, `all`), and of C loops on one thread
    and on one for each core, which tell what the machine gives: `arithmetic one`, `saxpy all` and so on."""

    interpreted: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def native(self) -> float | None:
        """Seconds of the faster C version."""
        return min((self.seconds[v] for v in ("plain C", "SPMD C") if v in self.seconds), default=None)

    def ratio(self, to: str) -> float | None:
        """simt's time over another's; `native` is the faster C version."""
        other = self.native if to == "native" else self.seconds.get(to)
        mine = self.seconds.get("simt")
        return mine / other if mine and other else None

    def speedup(self, of: str = "") -> float | None:
        """What all cores gain: simt, or one of `LOOPS`."""
        one, all_cores = (self.cores.get(f"{of} {threads}".strip()) for threads in ("one", "all"))
        return one / all_cores if one and all_cores else None


def measure(entry: Entry, size: str, core: int | None, rounds: int = ROUNDS, clock: Clock = wall) -> Line:
    """Everything about one entry. Wrong results are not timed."""
    line, problem = Line(entry.name), entry.problem(size)
    answer = problem.expected()
    ready: dict[str, Version] = {}
    for name, build in builders().items():
        try:
            version = build(entry, problem)
            first = timed(version, problem, wall)
        except LeftOut as reason:
            line.left_out[name] = str(reason)
        except simt.SimtError as error:
            line.wrong[name] = str(error).splitlines()[0]
        else:
            note(line, name, version, first, problem, answer)
            if name not in line.wrong:
                ready[name] = version
    line.seconds = interleaved(ready, problem, rounds, clock)
    if "simt" in ready and core is not None:
        ready.clear()
        line.cores = on_all_cores(entry, problem, rounds, core)
    return line


def note(
    line: Line, name: str, version: Version, first: float, problem: Problem, answer: dict[str, Array]
) -> None:
    if problem_found := problem.wrong(answer, version.array):
        line.wrong[name] = problem_found
    if isinstance(version, Virtual):
        line.first_run, line.interpreted = first, version.interpreted


def timed(version: Version, problem: Problem, clock: Clock) -> float:
    """Seconds of one run, with the arrays as they were at first."""
    for name in problem.changed:
        version.put(name, problem.arrays[name])
    start = clock()
    version.run()
    return clock() - start


def again(version: Version, problem: Problem, clock: Clock) -> float:
    """Seconds of a run that follows another one of the same version."""
    timed(version, problem, clock)
    return timed(version, problem, clock)


def interleaved(
    versions: dict[str, Version], problem: Problem, rounds: int, clock: Clock
) -> dict[str, float]:
    """Median seconds of each version, one run of each a round. Each has its turn at every place of a round:
    what runs before leaves its mark on caches, 1.5% of saxpy. The first rounds do not count if there are
    others: simt makes code again that has run for a while. What takes `SLOW` seconds twice is run no more."""
    samples: dict[str, list[float]] = {name: [] for name in versions}
    names = list(versions)
    for round_number in range(WARM + rounds):
        first = round_number % len(names)
        for name in names[first:] + names[:first]:
            if len(samples[name]) < 2 or min(samples[name][-2:]) < SLOW:
                samples[name].append(timed(versions[name], problem, clock))
    return {name: statistics.median(found[WARM:] or [min(found)]) for name, found in samples.items()}


def on_all_cores(entry: Entry, problem: Problem, rounds: int, core: int) -> dict[str, float]:
    """See `Line.cores`: all interleaved; the process is pinned again afterwards."""
    count = os.cpu_count() or 1
    threads = {"one": 1, "all": count}
    os.sched_setaffinity(0, range(count))
    try:
        measures = {name: on_cores(Virtual(entry, problem, n), problem) for name, n in threads.items()}
        for loop, seconds in ((name, machine.loops()[name]) for name in LOOPS):
            measures |= {f"{loop} {name}": partial(seconds, n) for name, n in threads.items()}
        samples: dict[str, list[float]] = {name: [] for name in measures}
        for _ in range(rounds):
            for name, measured in measures.items():
                samples[name].append(measured())
        return {name: statistics.median(found) for name, found in samples.items()}
    finally:
        os.sched_setaffinity(0, {core})


def on_cores(version: Version, problem: Problem) -> Callable[[], float]:
    """The first runs, which do not count, find out how much help pays."""
    for _ in range(WARM):
        timed(version, problem, wall)
    return lambda: again(version, problem, wall)


def geometric_mean(ratios: Iterable[float | None]) -> float | None:
    known = [r for r in ratios if r]
    return statistics.geometric_mean(known) if known else None
