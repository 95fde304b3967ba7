"""How many other threads are to help with a launch, by the time that launches like it took.

Launches of one kernel may take very different times, so one that was long is remembered for a while: help
that is not needed costs little. Of launches that are neither short nor long it is measured how much help
pays: two cores may be slower than one, where each needs what the other has just written, and each thread
that is asked costs the caller some microseconds. The shortest times count, since what disturbs a launch
(memory and code that come from far away, another process) makes it longer; and other numbers of helpers than
the best one are tried again, often at first and then now and then.
"""

from __future__ import annotations

from dataclasses import dataclass, field

ASLEEP = 60_000
"""Nanoseconds of work from which sleeping threads are asked for help: waking one takes some 50,000."""
AWAKE = 10_000
"""The same for threads that wait for the next launch: asking one takes less than 1,000."""
LONG = 1_000_000
"""Nanoseconds from which help is not doubted."""
SHARE = 40_000
"""Nanoseconds of work for each thread that helps with a launch for the first time: asking it, and waiting
for it, takes a tenth of that."""
FADING = 1.1
"""The shortest time counts as so much longer after another one: or else it would count for ever."""
FORGETTING = 0.1
"""Part of the difference by which a shorter launch changes what is expected."""
TRIAL = 4
"""Launches for which another way is tried: the first one finds in other caches what it needs."""
OFTEN = 64
"""Trials' lengths after which there is another one."""


def steps(most: int) -> list[int]:
    """Numbers of helpers that are tried: with the caller 1, 2, 4, 8, ... threads, and all."""
    found = [0]
    while 2 * found[-1] + 1 < most:
        found.append(2 * found[-1] + 1)
    return [*found, most]


@dataclass
class Ways:
    """Nanoseconds that launches of about one size took: what is expected, and the shortest ones by the number
    of threads that were to help."""

    expected: float = 0
    shortest: dict[int, float] = field(default_factory=dict[int, float])
    launches: int = 0

    def note(self, elapsed: float, helpers: int) -> None:
        self.launches += 1
        self.expected += (elapsed - self.expected) * (1 if elapsed > self.expected else FORGETTING)
        shortest = self.shortest.get(helpers)
        if shortest is not None and elapsed > FADING * shortest:
            elapsed = FADING * shortest
        self.shortest[helpers] = elapsed

    def helpers(self, least: int, most: int) -> int:
        """`least`: nanoseconds of work that are worth any help. `most`: helpers that there are."""
        if self.expected > LONG:
            return most
        if self.expected <= least and self.shortest.get(0, 0) <= least:  # help makes the former shorter
            return 0
        if not any(self.shortest):
            return at_first(self.expected, most)
        if 0 not in self.shortest:
            return 0
        best = min(most, min(self.shortest, key=self.shortest.__getitem__))
        return self._other(best, most) if self._is_trial else best

    def _other(self, best: int, most: int) -> int:
        """More or fewer helpers than the best number, in turns."""
        some = steps(most)
        place = some.index(best) if best in some else 0
        more = place == 0 or (place < len(some) - 1 and self._trials % 2 == 0)
        return some[place + 1 if more else place - 1]

    @property
    def _turn(self) -> int:
        return self.launches // TRIAL

    @property
    def _is_trial(self) -> bool:
        """At first, then after 1, 2, 4, 8, ... trials' lengths, and in the end now and then."""
        turn = self._turn
        return turn & (turn - 1 if turn < OFTEN else OFTEN - 1) == 0

    @property
    def _trials(self) -> int:
        """Grows by one from trial to trial."""
        turn = self._turn
        return turn.bit_length() if turn < OFTEN else turn // OFTEN + OFTEN.bit_length() - 1


def at_first(work: float, most: int) -> int:
    """Helpers for so many nanoseconds of work, before it is known how many are best."""
    return max(n for n in steps(most) if n <= max(1, work / SHARE))


@dataclass
class Pace:
    """The times of one kernel's launches, by the size of the grid (the bits of its number of CTAs).
    `last`: of the last one, for each CTA."""

    sizes: dict[int, Ways] = field(default_factory=dict[int, Ways])
    last: float | None = None
    launches: int = 0

    def note(self, ctas: int, elapsed: float, helpers: int) -> None:
        """A launch of so many CTAs took some nanoseconds."""
        self.launches += 1
        self.last = elapsed / ctas
        self.sizes.setdefault(ctas.bit_length(), Ways()).note(elapsed, helpers)

    def helpers(self, ctas: int, awake: bool, most: int) -> int:
        """How many of `most` threads are to help with a launch of so many CTAs. `awake`: they wait for it."""
        least = AWAKE if awake else ASLEEP
        ways = self.sizes.get(ctas.bit_length())
        if ways is not None:
            return ways.helpers(least, most)
        if self.last is None:
            return most
        work = self.last * ctas
        return 0 if work <= least else most if work > LONG else at_first(work, most)
