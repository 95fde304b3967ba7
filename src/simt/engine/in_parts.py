"""Launches in parts, which tell whether help pays, of kernels with atomic operations on device memory.

Threads that change the same lines of memory keep each other waiting: two may take twenty times as long for a
histogram as one, which need not even lock anything. So the caller's thread runs the first CTAs alone, all run
the next ones together, in turns, and the rest is run in the way in which CTAs took less time.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from simt.records import dataclass

ENOUGH = 20_000
"""Nanoseconds of a part that tells how long others take."""
WORTH = 150_000
"""Nanoseconds of work from which it is asked whether help pays: waking a thread takes 50,000."""
STEP = 64
"""Parts of the grid of which the first is run alone, then twice as much, until it was `ENOUGH`."""
ROUNDS = 4
"""Parts alone and parts with help that are compared, each twice as long with help as the one before. The
shortest times count: the first parts find memory and code in no cache, and whoever sleeps has to wake up."""
FEW = 8
"""Part of the grid after which one part of each kind must do."""
GAIN = 0.8
"""Of the time alone, which help must not take longer than: alone, parts find what others have changed last,
but not so the whole launch."""
SURELY = 4
"""A part with help that took so many times as long as alone is enough."""
AT_LEAST = 8
"""CTAs for each thread that a grid must have to be run so."""

Run = Callable[[int, int, bool], tuple[int, int]]
"""Runs CTAs from a first one up to a last, which it does not run, with help or alone; nanoseconds, and how
many threads took part."""


@dataclass
class Found:
    """Nanoseconds for a CTA, alone and together. `at_least`: together, if all had come who were asked."""

    alone: float = math.inf
    together: float = math.inf
    at_least: float = math.inf

    @property
    def best_together(self) -> float:
        return self.at_least if math.isinf(self.together) else self.together

    @property
    def hinders(self) -> bool:
        """Whether help is a hindrance: if nobody came, where locks take longer than help can gain."""
        return GAIN * self.alone < self.best_together < math.inf

    @property
    def tells(self) -> bool:
        return self.hinders or self.together < math.inf

    def helps(self, ctas: int) -> bool:
        """Whether so many CTAs are to be run with help."""
        return not self.hinders and self.alone * ctas >= WORTH


def run_first_parts(run: Run, ctas: int, threads: int) -> tuple[Found, int]:
    """Runs the first CTAs of a grid, all of a small one: what they tell, and the first one that is left.
    `threads`: that may take part, the caller's too."""
    found, done, step, spent = Found(), 0, max(1, ctas // STEP), 0
    while done < ctas and spent < ENOUGH:
        last = min(done + step, ctas)
        spent, _ = run(done, last, False)
        found.alone = min(found.alone, spent / (last - done))
        done, step = last, 2 * step
    for n in range(ROUNDS):
        is_told = found.together < math.inf and done > ctas // FEW
        is_sure = SURELY * found.alone < found.together < math.inf or (n > 1 and found.hinders)
        if is_told or is_sure or found.alone * (ctas - done) < WORTH:
            break
        done = _compare(run, done, ctas, threads, found, n)
    return found, done


def _compare(run: Run, done: int, ctas: int, threads: int, found: Found, n: int) -> int:
    """Runs a part with help and one alone: the first CTA that is left."""
    some = max(1, round(ENOUGH / max(found.alone, 1)))
    last = min(done + threads * some * 2**n, ctas)
    spent, took_part = run(done, last, True)
    each = spent / (last - done)
    if took_part == threads:
        found.together = min(found.together, each)
    else:
        found.at_least = min(found.at_least, each * took_part / threads)
    first, done = last, min(last + some, ctas)
    if first < done:
        found.alone = min(found.alone, run(first, done, False)[0] / (done - first))
    return done
