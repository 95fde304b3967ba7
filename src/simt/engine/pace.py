"""How many other threads are to help with a launch, by the time that launches like it took.

Launches of one kernel may take very different times, so one that was long is remembered for a while: help
that is not needed costs little. It is measured how much help pays: two cores may be slower than one, where
each needs what the other has just written, and each thread that is asked costs the caller some microseconds.
So now and then another number of helpers is tried (`simt.engine.trials`), soon with short launches and later
with long ones, which get all help at first.
"""

from __future__ import annotations

from simt.engine.trials import LENGTH, OFTEN, Trials
from simt.records import dataclass, field

ASLEEP = 60_000
"""Nanoseconds of work from which sleeping threads are asked for help: waking one takes some 50,000."""
AWAKE = 5_000
"""The same for threads that wait for the next launch: asking one takes less than 1,000."""
PATIENCE = 240_000
"""Nanoseconds of launches in a row that are too short to wake anybody, after which somebody is woken."""
CLOSE = 250_000
"""Nanoseconds from one launch to the next of a row: as long as threads wait for it at least."""
LONG = 1_000_000
"""Nanoseconds from which a launch is long."""
SHARE = 40_000
"""Nanoseconds of work for each thread that helps with a launch for the first time: asking it, and waiting
for it, takes a tenth of that."""
FADING = 1.1
"""The shortest time alone counts as so much longer after another one: or else it would count for ever."""
FORGETTING = 0.1
"""Part of the difference by which a shorter launch changes what is expected."""
CALM = 16
"""Long launches before the first trial: as it may take twice the time, it costs a sixteenth."""
SOON = 2
"""The same for short ones."""
TOLD = 32 * LENGTH
"""Launches without a trial after parts of one have told whether help pays."""
UNTIL_A_LOOK = 100
"""Launches alike after which Python looks again how long they take; of short ones, as many as take `LONG`."""
SHORTEST = 500
"""Nanoseconds of a launch."""


def alike(ctas: int) -> tuple[int, int]:
    """The fewest and the most CTAs of launches whose times may count together with those of so many: grids
    that shrink or grow step by step are not to be looked at just because they come to a power of two."""
    least = 1 << ctas.bit_length() - 1
    return min(least, ctas * 3 // 4), max(2 * least - 1, ctas * 4 // 3)


def steps(most: int) -> list[int]:
    """Numbers of helpers that are tried: with the caller 1, 2, 4, 8, ... threads, and all."""
    found = [0]
    while 2 * found[-1] + 1 < most:
        found.append(2 * found[-1] + 1)
    return [*found, most]


class Ways:
    """What launches of about one size took, in nanoseconds: `expected`, `alone` (zero: nobody knows); and how
    much help is best for `short` and for `long` ones. `first`: nanoseconds of the very first one."""

    def __init__(self, calm: int) -> None:
        """`calm`: long launches before the first trial."""
        self.launches = 0
        self.expected: float = 0
        self.alone: float = 0
        self.first: float = 0
        self.short = Trials(SOON, LENGTH)
        self.long = Trials(calm, least=LONG / 2)

    def note(self, elapsed: float, helpers: int) -> None:
        """One launch."""
        self.made(1, helpers, elapsed, 1, elapsed)

    def made(self, launches: int, helpers: int, total: float, count: int, shortest: float) -> None:
        """There have been so many launches alike; `count` of them, with so many helpers, took `total`
        nanoseconds, and one of them took `shortest`."""
        self.first = self.first or total
        self.launches += launches
        trials = self.trials
        is_usual = trials.wanted is None or helpers == trials.usual
        trials.note(launches, helpers, total, count, shortest)
        if not count:
            return
        if helpers == 0:
            self.alone = min(shortest, FADING * (self.alone or shortest))
        if shortest <= self.expected:
            self.expected += (shortest - self.expected) * FORGETTING
        elif is_usual:  # a trial that takes longer tells nothing of others
            self.expected = shortest

    def learn(self, alone: float, together: float, helpers: int, pays: bool) -> None:
        """Parts of a launch took so long that all of it would have taken these times. `pays`: help does."""
        self.launches += 1
        self.expected = min(alone, together)
        self.alone = alone
        self.short.learn(helpers if together < alone else 0, TOLD)
        self.long.learn(None if pays else 0, CALM if pays else OFTEN)

    @property
    def until_cut(self) -> int:
        """Launches before the next one that is to be run in parts: after the first two now and then."""
        n = self.launches
        return 0 if n < 2 else CALM - n if n <= CALM else -n % OFTEN

    def ahead(self) -> int:
        """Launches for which the number of helpers is to stay what it is."""
        return self.trials.ahead()

    @property
    def trials(self) -> Trials:
        """Those of launches such as are expected."""
        return self.long if self.expected > LONG else self.short

    def is_short(self, least: int) -> bool:
        """Whether so many nanoseconds of work are more than a launch takes, with help or alone."""
        return self.expected <= least and self.alone <= least

    def settled(self, numbers: list[int]) -> int | None:
        """How many are to help with the next launches, if they come soon; None while nobody knows."""
        if self.is_short(AWAKE):
            return 0
        return None if self.expected <= LONG and self.short.way is None else self.trials.settled(numbers)

    def helpers(self, least: int, numbers: list[int]) -> int:
        """`least`: nanoseconds of work that are worth any help. `numbers`: of helpers that there may be."""
        if self.expected > LONG:
            return self.long.helpers(numbers)
        if self.is_short(least):
            return self.short.without(usual=0)
        if not self.alone:
            return self.short.without(usual=numbers[-1])
        if self.short.way is None:
            first = numbers[-1] if self.first < self.alone else at_first(self.alone, numbers)
            self.short.race(first, self.alone)
        return self.short.helpers(numbers)


def at_first(work: float, numbers: list[int]) -> int:
    """Helpers for so many nanoseconds of work, before it is known how many are best."""
    return max(n for n in numbers if n <= max(numbers[1], work / SHARE))


@dataclass
class Missed:
    """Launches in a row, of any kernels, that had no help only because all slept: nanoseconds that they took,
    when the first began and when the last one ended."""

    spent: int = 0
    began: int = 0
    ended: int = 0

    def add(self, began: int, ended: int, spent: int) -> None:
        """Between two times there were some more, which took so long together."""
        if began - self.ended > CLOSE:
            self.spent, self.began = 0, began
        self.spent += spent
        self.began, self.ended = min(self.began, began), max(self.ended, ended)

    def is_enough(self, now: int) -> bool:
        """Whether one who is woken now is likely to find more of them. If so, or if they were not close
        enough to each other, it begins anew."""
        if self.spent < PATIENCE:
            return False
        is_close = now - self.ended <= CLOSE and now - self.began <= 2 * self.spent
        self.spent, self.began = 0, now
        return is_close


@dataclass
class Ahead:
    """What is known ahead of a kernel's next launches, if they are like the last one: how many are to be
    helped by how many threads before somebody looks again. `ways`: where they count then. `wakes`: they take
    long enough for threads that sleep to be woken. `missed`: they would be helped if anybody were awake.
    `below`: they are alone as they take less than so many nanoseconds, zero if that is not why. `timed`: it
    is told how long they take: not where they are very short, nor where some may be of other sizes."""

    launches: int = 0
    helpers: int = 0
    ways: Ways | None = None
    wakes: bool = False
    missed: bool = False
    below: int = 0
    timed: bool = True

    def made(self, launches: int, total: float, count: int, shortest: float) -> None:
        """So many have been; `count` of them, with the help that was wanted, took `total` nanoseconds, and
        one of them took `shortest`."""
        if self.ways is not None and launches:
            self.ways.made(launches, self.helpers, total, count if self.timed else 0, shortest)


@dataclass
class Pace:
    """The times of one kernel's launches, by the size of the grid (the bits of its number of CTAs).

    `together`: its CTAs wait for each other, so that all threads help or none. `doubtful`: they change the
    same memory, so that help may be none. `last`: nanoseconds of the
    last launch for each CTA. `long`: launches of its size are."""

    together: bool = False
    doubtful: bool = False
    sizes: dict[int, Ways] = field(default_factory=dict[int, Ways])
    last: float | None = None
    long: bool = False
    launches: int = 0
    _steps: dict[int, list[int]] = field(default_factory=dict[int, list[int]])

    def note(self, ctas: int, elapsed: float, helpers: int) -> None:
        """A launch of so many CTAs took some nanoseconds."""
        self.launches += 1
        self.last = elapsed / ctas
        ways = self._ways(ctas)
        ways.note(elapsed, helpers)
        self.long = ways.expected > LONG

    def learn(self, ctas: int, alone: float, together: float, helpers: int, pays: bool) -> None:
        """One CTA of a launch of so many took these nanoseconds alone and with help. `pays`: help does."""
        self.launches += 1
        self.last = min(alone, together)
        ways = self._ways(ctas)
        ways.learn(ctas * alone, ctas * together, helpers, pays)
        self.long = ways.expected > LONG

    def _ways(self, ctas: int) -> Ways:
        ways = self.sizes.get(ctas.bit_length())
        if ways is None:
            ways = self.sizes[ctas.bit_length()] = Ways(1 if self.together or self.doubtful else CALM)
        return ways

    def is_to_be_cut(self, ctas: int) -> bool:
        """Whether a launch of so many CTAs is to be run in parts, of a kernel of which it is doubtful whether
        help pays."""
        ways = self.sizes.get(ctas.bit_length())
        return ways is None or (ways.until_cut == 0 and not ways.is_short(ASLEEP))

    def is_best_alone(self, ctas: int) -> bool:
        """Whether launches of so many CTAs take long and are best run alone: nobody is to come later, unless
        CTAs wait for each other."""
        ways = self.sizes.get(ctas.bit_length())
        return ways is not None and ways.expected > LONG and ways.long.way == 0 and not self.together

    def ahead(self, ctas: int, most: int, awake: bool = True) -> Ahead:
        """Of launches of so many CTAs, if `most` threads can help. `awake`: some wait for the next one.
        Nothing of short ones of which it is not yet known what help gives."""
        ways = self.sizes.get(ctas.bit_length())
        if ways is None:
            return Ahead()
        if ways.expected <= LONG:
            below = AWAKE if awake else ASLEEP
            if ways.is_short(below):
                ways.short.without(usual=0)
                missed = self.would_help(ctas, most)
                until = PATIENCE if missed else LONG
                launches = max(1 if missed else UNTIL_A_LOOK, round(until / max(ways.expected, SHORTEST)))
                return Ahead(launches, 0, ways, missed=missed, below=below, timed=missed)
            if ways.short.way is None:
                return Ahead()
        helpers = self.helpers(ctas, awake=True, most=most)
        launches = min(ways.ahead(), UNTIL_A_LOOK, ways.until_cut if self.doubtful else UNTIL_A_LOOK)
        return Ahead(launches, helpers, ways, not ways.is_short(ASLEEP))

    def would_help(self, ctas: int, most: int) -> bool:
        """Whether launches of so many CTAs would be helped if anybody were awake, or it is not known yet."""
        ways = self.sizes.get(ctas.bit_length())
        return ways is not None and ways.settled(self._numbers(most)) != 0

    def span(self, ctas: int, ahead: Ahead, most: int) -> tuple[int, int]:
        """The fewest and the most CTAs of launches that need not be looked at either: after one of so many
        CTAs, as long as just as many threads are to help."""
        low = high = ctas.bit_length()
        if ahead.below:  # fewer take less
            low = 1
        while self._is_like(low - 1, ahead, most):
            low -= 1
        while self._is_like(high + 1, ahead, most):
            high += 1
        ahead.timed &= low == high
        least, greatest = alike(ctas)
        return min(least, 1 << low - 1), max(greatest, (1 << high) - 1)

    def _is_like(self, bits: int, ahead: Ahead, most: int) -> bool:
        """Whether launches whose number of CTAs has so many bits are to be helped alike."""
        if bits == 1:  # nobody can help with one CTA
            return ahead.helpers == 0
        ways = self.sizes.get(bits)
        if ways is None or (ahead.helpers and 1 << bits - 1 <= most):
            return False
        if ahead.below and ways.is_short(ahead.below):
            return True
        as_long = ahead.helpers == 0 or ways.is_short(ASLEEP) is not ahead.wakes
        return as_long and ways.settled(self._numbers(most)) == ahead.helpers

    def _numbers(self, most: int) -> list[int]:
        """Of helpers that are tried, of so many."""
        numbers = self._steps.get(most)
        if numbers is None:
            numbers = self._steps[most] = [0, most] if self.together else steps(most)
        return numbers

    def helpers(self, ctas: int, awake: bool, most: int) -> int:
        """How many of `most` threads are to help with a launch of so many CTAs. `awake`: they wait for it."""
        least, numbers = AWAKE if awake else ASLEEP, self._numbers(most)
        ways = self.sizes.get(ctas.bit_length())
        if ways is not None:
            return ways.helpers(least, numbers)
        if self.last is None:
            return most
        work = self.last * ctas
        return 0 if work <= least else most if work > LONG else at_first(work, numbers)
