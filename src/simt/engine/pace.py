"""Whether other threads are to help with a launch, by the time that launches like it took.

Launches of one kernel may take very different times, so one that was long is remembered for a while: help
that is not needed costs little. Of launches that are neither short nor long it is measured whether help
pays: two cores may be slower than one, where each needs what the other has just written. The shortest times
count, since what disturbs a launch (memory and code that come from far away, another process) makes it
longer; and the way that seems worse is tried again, often at first and then now and then.
"""

from __future__ import annotations

from dataclasses import dataclass, field

ASLEEP = 60_000
"""Nanoseconds of work from which sleeping threads are asked for help: waking one takes some 50,000."""
AWAKE = 10_000
"""The same for threads that wait for the next launch: asking one takes less than 1,000."""
LONG = 1_000_000
"""Nanoseconds from which help is not doubted."""
FADING = 1.1
"""The shortest time counts as so much longer after another one: or else it would count for ever."""
FORGETTING = 0.1
"""Part of the difference by which a shorter launch changes what is expected."""
TRIAL = 4
"""Launches for which the other way is tried: the first one finds in other caches what it needs."""
OFTEN = 64
"""Trials' lengths after which there is another one."""


@dataclass
class Ways:
    """Nanoseconds that launches of about one size took: what is expected, the shortest ones of the caller
    alone, and of others helping."""

    expected: float = 0
    alone: float | None = None
    helped: float | None = None
    launches: int = 0

    def note(self, elapsed: float, helped: bool) -> None:
        self.launches += 1
        self.expected = max(elapsed, self.expected + FORGETTING * (elapsed - self.expected))
        if helped:
            self.helped = _shortest(self.helped, elapsed)
        else:
            self.alone = _shortest(self.alone, elapsed)

    def want_help(self, least: int) -> bool:
        """`least`: nanoseconds of work that are worth it."""
        if self.expected > LONG:
            return True
        if max(self.expected, self.alone or 0) <= least:  # help makes the expected time shorter
            return False
        if self.alone is None or self.helped is None:
            return self.helped is None
        return (self.helped < self.alone) != self._is_trial

    @property
    def _is_trial(self) -> bool:
        """At first, then after 1, 2, 4, 8, ... trials' lengths, and in the end now and then."""
        turn = self.launches // TRIAL
        return turn & (turn - 1 if turn < OFTEN else OFTEN - 1) == 0


def _shortest(old: float | None, new: float) -> float:
    return new if old is None else min(new, FADING * old)


@dataclass
class Pace:
    """The times of one kernel's launches, by the size of the grid (the bits of its number of CTAs).
    `last`: of the last one, for each CTA."""

    sizes: dict[int, Ways] = field(default_factory=dict[int, Ways])
    last: float | None = None
    launches: int = 0

    def note(self, ctas: int, elapsed: float, helped: bool) -> None:
        """A launch of so many CTAs took some nanoseconds."""
        self.launches += 1
        self.last = elapsed / ctas
        self.sizes.setdefault(ctas.bit_length(), Ways()).note(elapsed, helped)

    def wants_help(self, ctas: int, awake: bool) -> bool:
        """Whether threads that are `awake`, or asleep, are to help with a launch of so many CTAs."""
        least = AWAKE if awake else ASLEEP
        ways = self.sizes.get(ctas.bit_length())
        if ways is None:
            return self.last is None or self.last * ctas > least
        return ways.want_help(least)
