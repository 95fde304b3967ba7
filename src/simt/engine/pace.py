"""How many other threads are to help with a launch, by the time that launches like it took.

Launches of one kernel may take very different times, so one that was long is remembered for a while: help
that is not needed costs little. It is measured how much help pays: two cores may be slower than one, where
each needs what the other has just written, and each thread that is asked costs the caller some microseconds.
The shortest times count, since what disturbs a launch (memory and code that come from far away, another
process) makes it longer; and other numbers of helpers than the best one are tried again, often at first and
then now and then. Long launches get all help until a trial with less was shorter than the launches around it,
twice.
"""

from __future__ import annotations

import math
from dataclasses import field

from simt.records import dataclass

ASLEEP = 60_000
"""Nanoseconds of work from which sleeping threads are asked for help: waking one takes some 50,000."""
AWAKE = 5_000
"""The same for threads that wait for the next launch: asking one takes less than 1,000."""
LONG = 1_000_000
"""Nanoseconds from which a launch is long."""
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
CALM = 16
"""Long launches before the first trial: as it may take twice the time, it costs a sixteenth."""
ALIKE = 1.5
"""Launches before and after a trial tell nothing of long ones if one took so many times as long as the other,
or if one is short itself."""
WINS = 2
"""Trials in which another way must win to be taken for long launches."""
HOPELESS = 15 * LONG
"""A way of which two short launches took so many nanoseconds is seldom tried again: a CTA may have waited for
another one until help came that was not asked. Other processes do not disturb all launches so much."""
SELDOM = 63
"""Trials after which such a way has another one. Odd: those with more and with less help take turns."""
WORSE = 5
"""A way that took this many times as long as the best one has another trial after as many others, and its
trial is over."""
WORSE_AT_FIRST = 1.25
"""The same for the first trials, which come so often that a program of twenty launches had little of its best
way. Every third one is made all the same."""
TOLD = 17
"""Trials' lengths for which parts of a first launch stand: there is another one after 32."""
UNTIL_A_LOOK = 100
"""Launches alike after which Python looks again how long they take; of short ones, as many as take `LONG`."""
SHORTEST = 500
"""Nanoseconds of a launch."""
UNKNOWN = 1 << 62
"""Nanoseconds of a launch that was not measured."""


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


@dataclass
class Tried:
    """The shortest nanoseconds that short launches took, by the number of threads that were to help.

    `known`: numbers of helpers of more than one launch. Launches come often, and each asks: so the `best`
    number is kept until there have been `steady` launches, or its time is longer than the `second`."""

    shortest: dict[int, float] = field(default_factory=dict[int, float])
    known: set[int] = field(default_factory=set[int])
    launches: int = 0
    best: int = 0
    second: float = 0
    steady: int = 0

    def note(self, elapsed: float, helpers: int) -> None:
        worse = self._worse if helpers in self.shortest else WORSE  # one launch may find other caches
        is_over = self._is_trial and elapsed > worse * min(self.shortest.values(), default=math.inf)
        self.launches = (self._turn + 1) * TRIAL if is_over else self.launches + 1
        if helpers in self.shortest:
            self.known.add(helpers)
        elapsed = self._put(elapsed, helpers)
        if helpers != self.best or elapsed > self.second:
            self.steady = 0

    def _put(self, elapsed: float, helpers: int) -> float:
        """The shortest nanoseconds from now on."""
        self.shortest[helpers] = shortest = min(elapsed, FADING * self.shortest.get(helpers, math.inf))
        return shortest

    def fastest(self, otherwise: int) -> int:
        """The number of helpers with the shortest time, if any is known."""
        return min(self.shortest, key=self.shortest.__getitem__, default=otherwise)

    def helpers(self, numbers: list[int]) -> int:
        """The best of these numbers of helpers, or the one that is to be tried."""
        if self.launches < self.steady:
            return min(self.best, numbers[-1])
        first, *others = sorted(self.shortest, key=self.shortest.__getitem__)
        best = min(numbers[-1], first)
        if not self._is_trial:
            self.best, self.steady = first, (self._turn + 1) * TRIAL
            self.second = self.shortest[others[0]] if others else math.inf
            return best
        other = beside(best, numbers, more=self._trials % 2 == 0)
        return best if self._is_hopeless(other, best) else other

    def learn(self, alone: float, together: float, helpers: int) -> None:
        """What parts of one launch have told of two ways."""
        self._put(alone, 0)
        self._put(together, helpers)
        self.known |= {0, helpers}
        self.launches = max(self.launches, TOLD * TRIAL)

    def ahead(self) -> int:
        """Launches for which the number of helpers is to stay what it is: until a trial begins or ends."""
        turn = self._turn
        if self._is_trial:
            until = turn + 1
        else:
            until = 1 << turn.bit_length() if turn < OFTEN else (turn // OFTEN + 1) * OFTEN
        return until * TRIAL - self.launches

    def _is_hopeless(self, way: int, best: int) -> bool:
        if way not in self.known:
            return False
        longer = self.shortest[way] / max(1, self.shortest.get(best, 0))
        if self.shortest[way] > HOPELESS:
            return self._trials % SELDOM != 0
        return longer >= self._worse and self._trials % min(SELDOM, max(3, int(longer) | 1)) != 0

    @property
    def _worse(self) -> float:
        """Times as long as the best way that are clear."""
        return WORSE if self._turn >= OFTEN else WORSE_AT_FIRST

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


@dataclass
class Doubted:
    """How many threads are to help with long launches, all at first. The work may differ much from launch to
    launch, so a trial is compared with the launches right before and after it.

    `pause`: launches from one trial to the next. `way`: the number of helpers, None for all of them. `usual`:
    what that came to for the last launch. `trial`: the last launch's number of helpers and nanoseconds, if it
    was one."""

    pause: int
    way: int | None = None
    usual: int | None = None
    launches: int = 0
    last_trial: int = 0
    before: float = math.inf
    trial: tuple[int, float] | None = None
    more: bool = False
    wins: int = 0

    def helpers(self, numbers: list[int]) -> int:
        self.usual = best = numbers[-1] if self.way is None else min(self.way, numbers[-1])
        pause = 1 if self.wins else self.pause
        if self.trial is not None or self.launches < self.last_trial + pause:
            return best
        return beside(best, numbers, self.more)

    def ahead(self) -> int:
        """Launches for which the number of helpers is to stay what it is, without the last one before a
        trial: that is looked at by itself."""
        pause = 1 if self.wins else self.pause
        return 0 if self.trial is not None else max(0, self.last_trial + pause - self.launches - 1)

    def note(self, elapsed: float, helpers: int) -> None:
        self.launches += 1
        if self.usual not in (None, helpers):
            self.trial = helpers, elapsed
            return
        if self.trial is not None:
            self._judge(*self.trial, elapsed)
            self.trial, self.last_trial = None, self.launches
        self.before = elapsed

    def _judge(self, helpers: int, elapsed: float, after: float) -> None:
        least, most = sorted((self.before, after))
        less = self.usual is not None and helpers < self.usual
        tells = least >= LONG / 2 and most <= ALIKE * least
        if tells and elapsed <= least:
            self.wins += 1
            if self.wins == WINS:
                self.way, self.wins, self.pause = helpers, 0, 1
            return
        if tells:
            self.more = not self.more
        if tells or less:  # trials with more help cost little
            self.wins = 0
            self.pause = min(2 * self.pause, OFTEN * TRIAL if less else OFTEN)


def beside(best: int, numbers: list[int], more: bool) -> int:
    """The next greater or smaller number of helpers, the other one where there is none."""
    place = numbers.index(best) if best in numbers else 0
    more = place == 0 or (more and place < len(numbers) - 1)
    return numbers[place + 1 if more else place - 1]


class Ways:
    """What launches of about one size took: `expected`, in nanoseconds, and how much help is best for `short`
    and for `long` ones."""

    def __init__(self, calm: int) -> None:
        """`calm`: long launches before the first trial."""
        self.launches = 0
        self.expected: float = 0
        self.short = Tried()
        self.long = Doubted(calm)

    def note(self, elapsed: float, helpers: int) -> None:
        self.launches += 1
        is_usual = helpers == (self.long.usual if self.expected > LONG else self.short.fastest(helpers))
        if self.expected > LONG:
            self.long.note(elapsed, helpers)
        if self.expected <= LONG or elapsed <= LONG:
            self.short.note(elapsed, helpers)
        if elapsed <= self.expected:
            self.expected += (elapsed - self.expected) * FORGETTING
        elif is_usual:  # a trial that takes longer tells nothing of others
            self.expected = elapsed

    def learn(self, alone: float, together: float, helpers: int, pays: bool) -> None:
        """Parts of a launch took so long that all of it would have taken these times. `pays`: help does."""
        self.launches += 1
        self.expected = min(alone, together)
        self.short.learn(alone, together, helpers)
        self.long.way, self.long.pause = (None, CALM) if pays else (0, OFTEN)

    @property
    def until_cut(self) -> int:
        """Launches before the next one that is to be run in parts: after the first two now and then."""
        n = self.launches
        return 0 if n < 2 else CALM - n if n <= CALM else -n % OFTEN

    def passed(self, launches: int) -> None:
        """There have been so many more, of which nothing is known."""
        self.launches += launches
        if self.expected > LONG:
            self.long.launches += launches
        else:
            self.short.launches += launches

    def ahead(self) -> int:
        """Launches for which the number of helpers is to stay what it is."""
        return self.long.ahead() if self.expected > LONG else self.short.ahead()

    def is_short(self, least: int) -> bool:
        """Whether so many nanoseconds of work are more than a launch takes, with help or alone."""
        return self.expected <= least and self.short.shortest.get(0, 0) <= least

    def helpers(self, least: int, numbers: list[int]) -> int:
        """`least`: nanoseconds of work that are worth any help. `numbers`: of helpers that there may be."""
        if self.expected > LONG:
            return self.long.helpers(numbers)
        if self.is_short(least):
            return 0
        shortest = self.short.shortest
        if not any(shortest):
            return at_first(self.expected, numbers)
        return self.short.helpers(numbers) if 0 in shortest else 0


def at_first(work: float, numbers: list[int]) -> int:
    """Helpers for so many nanoseconds of work, before it is known how many are best."""
    return max(n for n in numbers if n <= max(numbers[1], work / SHARE))


@dataclass
class Ahead:
    """What is known ahead of a kernel's next launches, if they are like the last one: how many are to be
    helped by how many threads before somebody looks again. `ways`: where they count then. `wakes`: they take
    long enough for threads that sleep to be woken."""

    launches: int = 0
    helpers: int = 0
    ways: Ways | None = None
    wakes: bool = False

    def made(self, launches: int, shortest: int) -> None:
        """So many of them have been, of which one took so many nanoseconds, or `UNKNOWN`."""
        if self.ways is None or not launches:
            return
        if shortest != UNKNOWN:
            self.ways.note(shortest, self.helpers)
            launches -= 1
        self.ways.passed(launches)


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

    def ahead(self, ctas: int, most: int) -> Ahead:
        """Of launches of so many CTAs, while `most` threads that can help wait for the next one. Nothing of
        short ones of which it is not yet known what help gives."""
        ways = self.sizes.get(ctas.bit_length())
        if ways is None:
            return Ahead()
        if ways.expected <= LONG:
            if ways.is_short(AWAKE):
                return Ahead(max(UNTIL_A_LOOK, round(LONG / max(ways.expected, SHORTEST))), 0, ways)
            shortest = ways.short.shortest
            if 0 not in shortest or not any(ways.short.known if self.doubtful else shortest):
                return Ahead()
        helpers = self.helpers(ctas, awake=True, most=most)
        launches = min(ways.ahead(), UNTIL_A_LOOK, ways.until_cut if self.doubtful else UNTIL_A_LOOK)
        return Ahead(launches, helpers, ways, not ways.is_short(ASLEEP))

    def helpers(self, ctas: int, awake: bool, most: int) -> int:
        """How many of `most` threads are to help with a launch of so many CTAs. `awake`: they wait for it."""
        least = AWAKE if awake else ASLEEP
        numbers = self._steps.get(most)
        if numbers is None:
            numbers = self._steps[most] = [0, most] if self.together else steps(most)
        ways = self.sizes.get(ctas.bit_length())
        if ways is not None:
            return ways.helpers(least, numbers)
        if self.last is None:
            return most
        work = self.last * ctas
        return 0 if work <= least else most if work > LONG else at_first(work, numbers)
