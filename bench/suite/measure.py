"""Builds, checks and times the versions of one line of the suite."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import simt
from suite.problem import Array, Entry, Problem
from suite.versions import LeftOut, Version, Virtual, builders

Clock = Callable[[], float]
wall = time.perf_counter
processor = time.process_time
"""Seconds that this process ran: steadier than `wall` where others use the core too, blind to waiting."""

ROUNDS = 7
SLOW = 3.0
"""Seconds from which a version's first run counts as its only one."""


@dataclass
class Line:
    """What was found for one entry: median seconds by version, why versions are missing or wrong."""

    name: str
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    left_out: dict[str, str] = field(default_factory=dict[str, str])
    wrong: dict[str, str] = field(default_factory=dict[str, str])
    first_run: float | None = None
    """Seconds of simt's first run, compiling included."""

    all_cores: float | None = None
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
        line.all_cores = on_all_cores(entry, problem, rounds, core)
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


def interleaved(
    versions: dict[str, Version], problem: Problem, rounds: int, clock: Clock
) -> dict[str, float]:
    """Median seconds of each version, one run of each a round."""
    samples: dict[str, list[float]] = {name: [] for name in versions}
    for _ in range(rounds):
        for name, version in versions.items():
            if not samples[name] or samples[name][0] < SLOW:
                samples[name].append(timed(version, problem, clock))
    return {name: statistics.median(found) for name, found in samples.items()}


def on_all_cores(entry: Entry, problem: Problem, rounds: int, core: int) -> float:
    """Median seconds of simt on every core; the process is pinned again afterwards."""
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    try:
        version = Virtual(entry, problem, os.cpu_count() or 1)
        timed(version, problem, wall)
        return interleaved({"simt": version}, problem, rounds, wall)["simt"]
    finally:
        os.sched_setaffinity(0, {core})


def geometric_mean(ratios: Iterable[float | None]) -> float | None:
    known = [r for r in ratios if r]
    return statistics.geometric_mean(known) if known else None
