"""Drafts: machine code made in the simplest way, for a kernel's first launches.

LLVM takes some 0.08 ms for a line of IR where it optimises, and a kernel of 1,000 instructions has 10,000
lines: most of a second. Made with few passes, at its level 0, such code takes a third to a fifth of that,
and runs one and a half to four times as long. So code of many lines is a draft at first. It is made again, as
well as LLVM can, once it has run for about as long as it takes to notice: before the next launch, so that
nobody waits for code that is never used again.

A launch that is to take long has no draft: as many instructions as it may have, by loops and threads. How
often a loop turns is not known, so a launch of a draft may take long all the same; that is noted in the
cache, and no later process begins with the draft.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager

from simt.analysis.schedule import Schedule
from simt.analysis.shape import WARP
from simt.machine.launch import Launch

LINES = 4000
"""Lines of LLVM IR from which code may be a draft: without, it is made in 0.3 seconds."""
PASSES = "always_inliner", "sroa", "simplify_cfg"
"""LLVM's passes for a draft: fewer, and there is more code to make; more take longer than they save."""
ENOUGH = 1_000_000
"""Nanoseconds that launches of a draft take together, from which the next one gets better code."""
LONG = 100_000_000
"""Nanoseconds that launches of a draft take together, from which later processes are not to have it."""
SHORT = 50_000_000
"""Nanoseconds that a launch may be expected to take for its code to be a draft."""
NANOSECONDS = 3
"""Of an instruction of a warp, in a draft."""


class Draft:
    """What is known of one. `instructions` of a warp, about. `spent`: nanoseconds that its launches took."""

    __slots__ = ("instructions", "spent")

    def __init__(self, instructions: int) -> None:
        self.instructions = instructions
        self.spent = 0

    def suits(self, launch: Launch) -> bool:
        """Whether it is good enough for a launch, which is the next one."""
        return self.spent < ENOUGH and is_short(self.instructions, warps_of(launch))

    @contextmanager
    def running(self) -> Generator[None]:
        """While a launch of it runs."""
        start = time.perf_counter_ns()
        try:
            yield
        finally:
            self.spent += time.perf_counter_ns() - start

    @property
    def was_long(self) -> bool:
        return self.spent >= LONG


def instructions(schedule: Schedule) -> int:
    """Of a warp that goes through a kernel, about."""
    return sum((len(block.ops) + 1) * schedule.turns(block) for block in schedule.order)


def warps_of(launch: Launch) -> int:
    (x, y, z), (columns, rows, planes) = launch.block, launch.grid
    return columns * rows * planes * -(-x * y * z // WARP)


def is_short(warp: int, warps: int) -> bool:
    """Whether a launch of so many warps, of so many instructions each, may have a draft."""
    return warps * warp * NANOSECONDS <= SHORT
