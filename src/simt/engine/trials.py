"""How many other threads help launches most, found out by trials.

Launches of one kernel may take very different times, even with the same grid: the steps of a sort, the levels
of a search. So what some launches took with more or less help than usual is compared with those right before
and after them, and help is done without only if the shortest of all launches say the same.
"""

from __future__ import annotations

import math

from simt.records import dataclass, field

LENGTH = 4
"""Short launches of a trial. The first one finds in other caches what it needs, and does not count."""
RACE = 2
"""Of the first short launches: one alone, so many with help, and alone again. One of each is enough if help
clearly pays."""
OUT_OF_REACH = 8
"""Short launches that are to have help, and have none, after which they go without: they are over too
soon."""
PAUSE = 16
"""Short launches from then to the first trial."""
OFTEN = 64
"""Trials' lengths after which there is another one."""
SELDOM = 32
"""Times as many, at most, where less help takes much longer."""
ALIKE = 1.5
"""Launches before and after a trial of less help tell nothing of it if one took so many times as long as the
other."""
WINS = 2
"""Trials in a row in which another way must win."""
CLEARLY = 1.25
"""Of short launches one trial of more help is enough that was shorter so many times."""
CLEARLY_LESS = 2
"""The same for less help."""
WORSE = 1.25
"""A trial of less help is over if a launch took so many times as long as those before the trial."""
MUCH_WORSE = 5
"""The same for the first launch, and for a trial of more help."""
FADING = 1.02
"""The shortest times count as so much longer after another launch: or else they would count for ever."""
NO_MATTER = -1
"""Helpers of launches that tell nothing of help."""


@dataclass
class Window:
    """Nanoseconds of some launches in a row. `first`: of the first one after a change."""

    first: float = 0
    total: float = 0
    count: int = 0

    def add(self, total: float, count: int, is_first: bool) -> None:
        if is_first and not self.first:
            self.first = total / count
        else:
            self.total += total
            self.count += count

    @property
    def mean(self) -> float:
        """Zero: nobody knows."""
        return self.total / self.count if self.count else self.first


@dataclass
class Trials:
    """How many threads are to help with launches of about one size.

    `pause`: launches from one trial to the next. `length`: launches of a trial. `least`: nanoseconds that
    those beside it must have taken. `way`: the number of helpers, None for all of them. `usual`: what that
    came to for the latest launch; `other`: what is tried; `wanted`: which of both the next launch is to have.
    `more`: whether more help is tried, or less. `launches`: since the trial before was judged. `races`: the
    first launches are to show if any help pays. `shortest`: nanoseconds, by the number of helpers.
    """

    pause: int
    length: int = 1
    least: float = 0
    way: int | None = None
    usual: int = 0
    other: int = 0
    wanted: int | None = None
    more: bool = False
    wins: int = 0
    launches: int = 0
    races: bool = False
    before: Window = field(default_factory=Window)
    trial: Window = field(default_factory=Window)
    after: Window = field(default_factory=Window)
    shortest: dict[int, float] = field(default_factory=dict[int, float])

    def helpers(self, numbers: list[int]) -> int:
        """Which of these numbers of helpers the next launch is to have."""
        self.usual = self.wanted = numbers[-1] if self.way is None else min(self.way, numbers[-1])
        if self.races:
            self.wanted = 0 if self.before.count == RACE else self.usual
        elif 0 <= self._place < self.length:
            self.wanted = self.other = beside(self.usual, numbers, self.more)
        return self.wanted

    def without(self, usual: int) -> int:
        """The next launch has no help, and tells nothing of it. `usual`: what others have."""
        self.usual, self.wanted = usual, NO_MATTER
        return 0

    def race(self, way: int, alone: float) -> None:
        """A launch alone took some nanoseconds; the next ones have so many helpers, then none again."""
        self.way, self.races, self.launches = way, way > 0, 0
        self.before, self.trial = Window(), Window(total=alone, count=1)

    def learn(self, way: int | None, pause: int) -> None:
        """Something else has told which way is best: no trial for so many launches."""
        self.way, self.pause, self.wins, self.races = way, pause, 0, False
        self._begin()

    def settled(self, numbers: list[int]) -> int | None:
        """How many of these the next launches are to have; None while something is tried."""
        if self.races or 0 <= self._place < 2 * self.length:
            return None
        return numbers[-1] if self.way is None else min(self.way, numbers[-1])

    def ahead(self) -> int:
        """Launches that are looked at together. The first ones of a trial and after it are by themselves."""
        place = self._place
        if self.races or place in (0, self.length):
            return 0
        return next(end for end in (-self.length, 0, self.length, 2 * self.length) if end > place) - place

    def note(self, launches: int, helpers: int, total: float, count: int, shortest: float) -> None:
        """There have been so many more launches; `count` of them, with so many helpers, took `total`
        nanoseconds, and one of them `shortest`. Those that had others than were wanted tell nothing, nor does
        the first of all."""
        if self.wanted == NO_MATTER:
            return
        place, tells = self._place, count > 0 and helpers == self.wanted
        self.launches += launches
        if tells:
            self._fade(launches, helpers, shortest)
            is_first = place >= 0 and self.length > 1 and not self.races
            self._window(place, helpers).add(total, count, is_first)
        if self.races:
            self._judge_race()
        elif tells and 0 <= place < self.length and self._is_lost(total / count):
            self._lose(self.trial.mean / self.before.mean)
            self.after = self.before
            self._begin()
        elif self._place >= 2 * self.length:
            self._judge()
            self._begin()

    @property
    def _place(self) -> int:
        """Launches since a trial began, below zero before it."""
        return self.launches - (1 if self.wins else self.pause)

    def _window(self, place: int, helpers: int) -> Window:
        if self.races:
            return self.before if helpers else self.trial
        if place >= 0:
            return self.trial if place < self.length else self.after
        if place <= -self.length:
            self.before = Window()
        return self.before

    def _fade(self, launches: int, helpers: int, shortest: float) -> None:
        for way in self.shortest:
            self.shortest[way] *= FADING**launches
        self.shortest[helpers] = min(shortest, self.shortest.get(helpers, shortest))

    def _is_lost(self, elapsed: float) -> bool:
        """Whether a launch of a trial took so long that it need not go on."""
        worse = WORSE if self._is_less and self.trial.count else MUCH_WORSE
        return self.length > 1 and elapsed > worse * self.before.mean > 0

    def _begin(self) -> None:
        """What came after a trial came before the next one."""
        self.launches = 0
        self.before, self.trial, self.after = self.after, Window(), Window()

    def _judge_race(self) -> None:
        alone, helped = self.trial.mean, self.before.mean
        rounds = min(self.before.count, self.trial.count)
        comes_nobody = rounds == 0 and self.launches >= OUT_OF_REACH
        if not comes_nobody and (rounds == 0 or (rounds < RACE and alone < CLEARLY * helped)):
            return
        self.races = False
        if comes_nobody or CLEARLY * alone <= helped:
            self.way = 0
        self.pause = PAUSE
        self._begin()

    def _judge(self) -> None:
        before, trial, after = self.before.mean, self.trial.mean, self.after.mean
        least, most = sorted((before, after))
        if not trial or least <= self.least:
            self._tells_nothing()
        elif self.length > 1 and not self._is_less:
            between = math.sqrt(before * after)
            shorter = self._is_shorter()
            self._decide(trial / between, shorter or trial <= between, shorter or CLEARLY * trial <= between)
        elif most > ALIKE * least:
            self._tells_nothing()
        else:
            won = trial <= least and (self.length == 1 or self._is_shorter())
            self._decide(trial / least, won, self.length > 1 and CLEARLY_LESS * trial <= least)

    def _is_shorter(self) -> bool:
        """Whether the shortest launch with the other number of helpers was shorter. If more help is tried,
        the best number that was ever tried is the other one."""
        fastest = min(self.shortest, key=self.shortest.__getitem__)
        if not self._is_less and fastest > self.usual:
            self.other = fastest
        return self.shortest.get(self.other, math.inf) < self.shortest.get(self.usual, 0)

    def _decide(self, worse: float, won: bool, surely: bool) -> None:
        """`worse`: how many times as long the trial took."""
        self.wins += won
        if not won:
            self._lose(worse)
        elif surely or self.wins == WINS:
            self.way, self.wins, self.pause = self.other, 0, self.length

    def _lose(self, worse: float) -> None:
        """The next trial is later, and of the other side."""
        self.more = not self.more
        self._wait(worse)

    def _tells_nothing(self) -> None:
        if self._is_less or self.length > 1:  # long trials with more help cost little
            self._wait(1)

    def _wait(self, worse: float) -> None:
        """Lengthens the pause before the next trial, if this one took so many times as long."""
        longest = OFTEN * LENGTH if self._is_less or self.length > 1 else OFTEN
        longer = max(2, worse) if self._is_less else 2
        self.wins = 0
        self.pause = round(min(self.pause * longer, longest * min(SELDOM, max(1, longer / 2))))

    @property
    def _is_less(self) -> bool:
        """Whether less help is tried."""
        return self.other < self.usual


def beside(best: int, numbers: list[int], more: bool) -> int:
    """The next greater or smaller number of helpers, the other one where there is none."""
    place = numbers.index(best) if best in numbers else 0
    more = place == 0 or (more and place < len(numbers) - 1)
    return numbers[place + 1 if more else place - 1]
