"""Drafts: machine code made in the simplest way, for a kernel's first launches.

LLVM takes some 0.08 ms for a line of IR where it optimises, and a kernel of 1,000 instructions has 10,000
lines: most of a second. Made with few passes, at its level 0, such code takes a third to a fifth of that,
and runs one and a half to four times as long. So code of many lines is a draft at first. It is made again, as
well as LLVM can, once it has run for about as long as it takes to notice: before the next launch, so that
nobody waits for code that is never used again.

Emitting takes as long as LLVM then does. So kernels of many instructions are not emitted as well as can be
for a draft either, but as large ones are: each instruction is a call.

A launch that is to take long, by its threads and loops, only begins with a draft: its first CTAs tell how
long, and the others may have better code (`simt.engine.going_over`). Where one CTA is to take long, or CTAs
wait for each other, there is no draft. How often a loop turns is not known, so a launch of a draft may take
long all the same; that is noted in the cache, and no later process begins with the draft. Launches that take
a moment have drafts of shorter code.

The process that makes a draft of code that was emitted as well as can be keeps it (`Source`): better code
takes LLVM's time alone.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager

from simt.analysis.outline import Function
from simt.analysis.schedule import Schedule
from simt.analysis.shape import WARP
from simt.machine.launch import Launch
from simt.records import dataclass

LINES = 4000
"""Lines of LLVM IR from which code may be a draft: without, it is made in 0.3 seconds."""
FEWER = 1500
"""The same for launches of a moment and kernels without loops: 0.1 seconds."""
FEW_OPS, OPS, MOST_OPS = 60, 300, 8000
"""Instructions from which code may be emitted in the simplest way, too, as large kernels are: for launches of
a moment, and for short ones; and up to which code that is emitted otherwise may not be of that kind."""
MOST_TURNS = 8**4
"""Times that an instruction is taken to run in a launch's warp, at most: what is in more loops than that is
mostly a tangle of branches, in which many are one within another, or turns of some are few."""
CAREFUL = 2
"""Power of the turns that the loops of few instructions are taken to have: 64 in place of 8."""
PASSES = "always_inliner", "sroa", "simplify_cfg"
"""LLVM's passes for a draft: fewer, and there is more code to make; more take longer than they save."""
ENOUGH = 300_000
"""Nanoseconds that launches of a draft take together, from which the next one gets better code."""
MAKING = 1_000_000
"""Nanoseconds for each instruction of a kernel that better code takes to be made, about. Where short code may
be a draft, too, as for programs that launch kernels once or twice, launches of one take as long before."""
COLD = 10
"""Times `ENOUGH` up to which the first launch does not count: most of a short one's time goes into pages and
cache lines that nobody has touched before."""
LONG = 100_000_000
"""Nanoseconds that launches of a draft take together, from which later processes are not to have it."""
SHORT = 50_000_000
"""Nanoseconds that a launch may be expected to take for its code to be a draft."""
CTAS = 8
"""Of a launch that may end in other code than it began with, at least."""
MOMENT = 100_000
"""The same where code of less than `LINES` may be one."""
NANOSECONDS = 3
"""Of an instruction of a warp, in a draft."""


@dataclass(frozen=True, slots=True)
class Source:
    """What better code is made of. `header`: what the cache keeps with the draft. `packed`: LLVM IR of what
    was made in the simplest way. `rest`: the other objects, which are good enough."""

    header: Mapping[str, object]
    packed: bytes
    rest: Sequence[bytes]

    @property
    def text(self) -> str:
        return zlib.decompress(self.packed).decode()


def source(header: Mapping[str, object], text: str, rest: Sequence[bytes]) -> Source:
    """A tenth of the text stays in memory."""
    return Source(header, zlib.compress(text.encode(), 1), rest)


@dataclass(frozen=True, slots=True)
class Extent:
    """How much is to be run. `warps`: of a launch; 0: of none that may have a draft. `first`: of these, those
    that no other code can run once a draft has begun."""

    warps: int
    first: int

    @property
    def uncut(self) -> Extent:
        """The same where all must run the same code."""
        return Extent(self.warps, self.warps)


NONE = Extent(0, 0)


@dataclass(frozen=True, slots=True)
class Terms:
    """For which launches code may be a draft. `limit`: nanoseconds that one may be expected to take.
    `instructions`: of a warp that goes through the kernel, about."""

    limit: int
    instructions: int

    def allow(self, extent: Extent, short: bool) -> bool:
        """Whether a launch may begin with a draft. `short`: so may one of short code."""
        limit = SHORT if short else self.limit
        return self._allow(extent.first if limit == SHORT else extent.warps, limit)

    def allow_all(self, extent: Extent, short: bool) -> bool:
        """Whether it may be one for the whole launch."""
        return self._allow(extent.warps, SHORT if short else self.limit)

    def _allow(self, warps: int, limit: int) -> bool:
        return 0 < warps * self.instructions * NANOSECONDS <= limit


class Draft:
    """What is known of one. `short`: as `Terms.allow` takes it. `cut`: as `can_be_cut` says. `source`: None
    if better code is emitted in another way, or the draft came from the cache. `spent`: what its launches
    took (ns); `total`: the same with that of the first one (`begun`)."""

    __slots__ = ("begun", "cut", "short", "source", "spent", "terms", "total")

    def __init__(self, terms: Terms, short: bool, cut: bool, source: Source | None) -> None:
        self.terms = terms
        self.short = short
        self.cut = cut
        self.source = source
        self.spent = self.total = 0
        self.begun = False

    def suits(self, launch: Launch) -> bool:
        """Whether a launch, which is the next one, may begin with it."""
        return not self._is_over(launch.kernel) and self.terms.allow(self._extent(launch), self.short)

    def _is_over(self, kernel: Function) -> bool:
        """Whether it has run for long enough."""
        return self.spent >= ENOUGH and (not self.short or self.spent >= making(kernel))

    def suits_all(self, launch: Launch) -> bool:
        """Whether that launch may end with it, too, without another look at it."""
        return self.terms.allow_all(self._extent(launch), self.short)

    def _extent(self, launch: Launch) -> Extent:
        extent = extent_of(launch)
        return extent if self.cut else extent.uncut

    @contextmanager
    def running(self) -> Generator[None]:
        """While a launch of it runs."""
        start = time.perf_counter_ns()
        try:
            yield
        finally:
            took = time.perf_counter_ns() - start
            if self.begun or took > COLD * ENOUGH:
                self.spent += took
            self.total, self.begun = self.total + took, True

    @property
    def was_long(self) -> bool:
        return self.total >= LONG


def making(kernel: Function) -> int:
    """Nanoseconds that better code of a kernel takes to be made, about."""
    return MAKING * sum(len(block.ops) + 1 for block in kernel.blocks)


def warps_of(launch: Launch) -> int:
    columns, rows, planes = launch.grid
    return columns * rows * planes * _warps_of_cta(launch)


def _warps_of_cta(launch: Launch) -> int:
    x, y, z = launch.block
    return -(-x * y * z // WARP)


def extent_of(launch: Launch) -> Extent:
    """How much a launch is to run, of code that can be cut."""
    warps, each = warps_of(launch), _warps_of_cta(launch)
    is_whole = launch.workspace is not None or warps < CTAS * each
    return Extent(warps, warps if is_whole else each)


def can_be_cut(spins: bool, system: bool) -> bool:
    """Whether some CTAs of a launch may run, and then others in other code. Not those that may wait for each
    other, nor what a launch asks of the system."""
    return not (spins or system)


def instructions(schedule: Schedule, power: int = 1) -> int:
    """Of a warp that goes through a kernel, about. `power`: of the turns that loops are taken to have."""
    return sum((len(b.ops) + 1) * min(schedule.turns(b), MOST_TURNS) ** power for b in schedule.order)


def terms(long: bool, lines: int, schedule: Schedule) -> Terms:
    """Of a kernel that was emitted as well as it can be. `long`: the code is longer than `LINES`."""
    loops = any(schedule.turns(block) > 1 for block in schedule.order)
    moment = MOMENT if lines > FEWER and not loops else 0
    return Terms(SHORT if long else moment, instructions(schedule))


def simple_terms(schedule: Schedule) -> Terms | None:
    """Of a kernel that was emitted in the simplest way. None if it is large in any case, and so is emitted in
    that way once."""
    ops = sum(len(block.ops) + 1 for block in schedule.order)
    if ops > MOST_OPS:
        return None
    if ops >= OPS:
        return Terms(SHORT, instructions(schedule))
    return Terms(MOMENT if ops >= FEW_OPS else 0, instructions(schedule, CAREFUL))
