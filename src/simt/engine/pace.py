"""Whether other threads are to help with a launch, by the time that launches like it took.

A launch is short or long, and help pays or not: two cores may be slower than one, where each needs what the
other has just written. Both are measured. What is measured is disturbed: the first launch brings memory and
code from far away, other processes take a core now and then. So the shortest times count, and the way that
seems worse is tried again, often at first and then now and then.
"""

from __future__ import annotations

from dataclasses import dataclass, field

ASLEEP = 100_000
"""Nanoseconds of work from which sleeping threads are asked for help: waking one takes some 50,000."""
AWAKE = 25_000
"""The same for threads that wait for the next launch: asking one takes less than 1,000."""
TRIAL = 1_000_000
"""Nanoseconds with help up to which a launch is tried without."""
FADING = 1.1
"""A time counts as so much longer when another one is taken, or else the shortest would count for ever."""
OFTEN = 64
"""Launches after which the other way is tried."""


@dataclass
class Ways:
    """Nanoseconds that a CTA took: when the caller ran alone, and when others helped; and launches so far."""

    alone: float | None = None
    helped: float | None = None
    launches: int = 0

    def note(self, pace: float, helped: bool) -> None:
        self.launches += 1
        if helped:
            self.helped = pace if self.helped is None else min(pace, FADING * self.helped)
        else:
            self.alone = pace if self.alone is None else min(pace, FADING * self.alone)

    def want_help(self, ctas: int, least: int) -> bool:
        """`least`: nanoseconds of work that are worth it."""
        if self.alone is None:  # only long launches never run alone
            return self.helped is not None and self.helped * ctas > TRIAL
        if self.alone * ctas <= least:
            return False
        return (self.helped is None or self.helped < self.alone) != self._are_tried_again

    @property
    def _are_tried_again(self) -> bool:
        """At launches 2, 4, 8, ... and then at every 64th."""
        known = self.helped is not None
        return known and self.launches & (self.launches - 1 if self.launches < OFTEN else OFTEN - 1) == 0


@dataclass
class Pace:
    """The times of one kernel's launches. Those of like size are compared: small grids take longer a CTA."""

    sizes: dict[int, Ways] = field(default_factory=dict[int, Ways])
    last: float | None = None
    launches: int = 0

    def note(self, ctas: int, elapsed: float, helped: bool) -> None:
        """A launch of so many CTAs took some nanoseconds."""
        self.launches += 1
        self.last = elapsed / ctas
        self.sizes.setdefault(ctas.bit_length(), Ways()).note(self.last, helped)

    def wants_help(self, ctas: int, awake: bool) -> bool:
        """Whether threads that are `awake`, or asleep, are to help with a launch of so many CTAs."""
        least = AWAKE if awake else ASLEEP
        ways = self.sizes.get(ctas.bit_length())
        if ways is None:
            return self.last is None or self.last * ctas > least
        return ways.want_help(ctas, least)
