"""When other threads help with a launch: decided by the time that launches took."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

import simt
from simt.engine.abi import WorkerSlot
from simt.engine.blocks import APART, CONTEXTS_APART, Crew, Need
from simt.engine.pace import (
    ASLEEP,
    AWAKE,
    CALM,
    CLOSE,
    LONG,
    OFTEN,
    PATIENCE,
    SHARE,
    Ahead,
    Missed,
    Pace,
    alike,
    at_first,
    steps,
)  # fmt: skip
from simt.engine.trials import LENGTH, SELDOM

Cost = Callable[[int], float]
"""Nanoseconds of a launch, by how many others help."""


def helped(pace: Pace, ctas: int, cost: Cost, launches: int, awake: bool = True, most: int = 1) -> list[int]:
    """Runs launches that take `cost`; with each of them, how many others helped."""
    found: list[int] = []
    for _ in range(launches):
        found.append(pace.helpers(ctas, awake, most))
        pace.note(ctas, cost(found[-1]), found[-1])
    return found


@pytest.mark.parametrize("most", [1, 15])
def test_nothing_is_known_of_the_first_launch(most: int) -> None:
    assert Pace().helpers(64, awake=False, most=most) == most


def test_short_launches_run_alone() -> None:
    assert not any(helped(Pace(), 64, lambda _: AWAKE / 2, 200, most=15)[1:])


def test_help_that_must_be_woken_is_for_longer_launches() -> None:
    between = (ASLEEP + AWAKE) / 2
    asleep, awake = Pace(), Pace()
    assert not any(helped(asleep, 64, lambda _: between, 20, awake=False)[2:])
    assert all(helped(awake, 64, lambda h: between / (1 + h), 200)[-16:])


@pytest.mark.parametrize("gain", [0.6, 1.9])
def test_the_faster_way_is_taken_and_the_other_one_tried_now_and_then(gain: float) -> None:
    pace, cost = Pace(), lambda h: LONG / 2 / (gain if h else 1)
    helped(pace, 64, cost, OFTEN * LENGTH)
    later = helped(pace, 64, cost, 10 * OFTEN * LENGTH)
    soon_lost = 2 * (len(later) // (OFTEN * LENGTH + 2))  # of less help two launches tell enough
    assert later.count(gain < 1) == (10 * LENGTH if gain < 1 else soon_lost)


@pytest.mark.parametrize("each", [1_000, 10_000, 40_000])
@pytest.mark.parametrize("work", [90_000, 250_000, 900_000])
def test_as_many_help_as_pay(work: float, each: float) -> None:
    """Each thread that helps costs the caller something. Half and twice as many are tried now and then."""
    pace, cost = Pace(), lambda h: work / (1 + h) + each * h
    helped(pace, 4096, cost, 2 * OFTEN * LENGTH, most=15)
    later = helped(pace, 4096, cost, 8 * OFTEN * LENGTH, most=15)
    best = min(steps(15), key=cost)
    place = steps(15).index(best)
    assert later.count(best) >= 8 * (OFTEN - 1) * LENGTH
    assert set(later) <= set(steps(15)[max(0, place - 1) : place + 2])


@pytest.mark.parametrize(
    ("most", "expected"), [(1, [0, 1]), (2, [0, 1, 2]), (3, [0, 1, 3]), (15, [0, 1, 3, 7, 15])]
)
def test_threads_are_doubled(most: int, expected: list[int]) -> None:
    assert steps(most) == expected


def test_help_grows_with_the_work_at_first() -> None:
    assert [at_first(n * SHARE, steps(15)) for n in (0.5, 1, 2, 3, 8, 20)] == [1, 1, 1, 3, 7, 15]


def test_long_launches_get_all_help_at_first() -> None:
    assert helped(Pace(), 64, lambda h: 2 * LONG + LONG * h, CALM, most=15) == [15] * CALM


@pytest.mark.parametrize("most", [1, 15])
def test_long_launches_that_lose_by_help_run_without(most: int) -> None:
    """CTAs that wait for each other, or change the same words."""
    pace, cost = Pace(), lambda h: 2 * LONG * (1 + h / 4)
    helped(pace, 64, cost, 3 * CALM, most=most)
    assert helped(pace, 64, cost, 4 * OFTEN, most=most).count(0) >= 4 * OFTEN - 9


@pytest.mark.parametrize("most", [1, 15])
def test_long_launches_that_gain_by_help_pay_little_for_trials(most: int) -> None:
    """Of those with less, each of which may take twice the time."""
    pace, cost = Pace(), lambda h: 100 * LONG / (1 + h)
    assert helped(pace, 64, cost, OFTEN, most=most).count(most) == OFTEN - 2
    assert helped(pace, 64, cost, 10 * OFTEN, most=most).count(most) == 10 * OFTEN - 3


def test_long_launches_of_different_work_keep_their_help() -> None:
    """Levels of a search: a trial may fall on a short one, or on one before long ones."""
    pace, tried = Pace(), 0
    for _ in range(200):
        for level in (0.3, 1.4, 6, 12, 7, 1.5, 0.1):
            cost = lambda h, level=level: level * LONG / (1 + 0.9 * h)  # noqa: E731
            tried += helped(pace, 1 << 12, cost, 1).count(0)
    assert 0 < tried < 30


def test_short_launches_between_long_ones_tell_nothing_of_these() -> None:
    """Small levels of a search are faster with less help than all, large ones with all."""
    pace, helpers = Pace(), list[int]()
    for _ in range(100):
        for level in (25, 3, 1.2, 1.1, 1.0, 1.0, 1.0, 1.1, 1.2, 14, 45, 100, 70):
            cost = lambda h, level=level: LONG * (level / (1 + h) + 0.01 * h)  # noqa: E731
            helpers += helped(pace, 1 << 12, cost, 1, most=15)
    assert helpers.count(15) > 0.95 * len(helpers)


def test_one_disturbed_launch_beside_a_trial_does_not_change_the_way() -> None:
    pace, cost = Pace(), lambda h: 10 * LONG / (1 + h)
    for launches in range(3 * OFTEN):
        now = pace.helpers(64, awake=True, most=1)
        pace.note(64, cost(now) * (3 if launches % 5 == 4 else 1), now)
    assert helped(pace, 64, cost, OFTEN).count(1) >= OFTEN - 1


@pytest.mark.parametrize("most", [1, 15])
def test_long_launches_get_help_again_that_once_lost_by_it(most: int) -> None:
    pace = Pace()
    helped(pace, 64, lambda h: 2 * LONG * (1 + h / 4), 8 * CALM, most=most)
    helped(pace, 64, lambda h: 32 * LONG / (1 + h), 8 * OFTEN, most=most)
    assert helped(pace, 64, lambda h: 32 * LONG / (1 + h), OFTEN, most=most).count(most) >= OFTEN - 1


def test_threads_whose_ctas_wait_for_each_other_help_all_or_not_at_all() -> None:
    """A CTA may wait for as many others as there are threads. Long launches too are soon tried without."""
    for cost in (lambda h: 3 * LONG * (1 + h), lambda h: LONG / 2 * (1 + h)):
        tried = helped(Pace(together=True), 64, cost, 2 * LENGTH, most=15)
        assert set(tried) == {0, 15}
        assert tried[-1] == 0


def test_a_way_that_takes_much_longer_is_seldom_tried_again() -> None:
    """A CTA waits for one that only help could run, until help comes. Another time that may be otherwise."""
    pace, cost = Pace(together=True), lambda h: 100_000 if h else 40 * LONG
    assert helped(pace, 64, cost, 20 * OFTEN * LENGTH).count(0) < 10
    without = helped(pace, 64, lambda h: 100_000 if h else 60_000, SELDOM * OFTEN * LENGTH)
    assert without[-OFTEN * LENGTH :].count(1) <= LENGTH  # a trial


def test_a_way_gets_more_than_one_launch_to_show_what_it_can() -> None:
    """The first launch after a change finds in other caches what it needs."""
    pace, before = Pace(), 0
    for _ in range(100):
        now = pace.helpers(4096, awake=True, most=1)
        pace.note(4096, (190_000 if now else 150_000) + 60_000 * (now != before), now)
        before = now
    assert pace.helpers(4096, awake=True, most=1) == 0


def test_a_slow_first_launch_with_help_is_soon_forgotten() -> None:
    """It brings memory and code from far away: other threads must get another chance."""
    pace = Pace()
    pace.note(1 << 14, 26_000_000, helpers=1)
    pace.note(1 << 14, 900_000, helpers=0)
    assert all(helped(pace, 1 << 14, lambda h: 900_000 / (1 + h), CALM - 2))


def test_a_kernel_that_is_long_now_and_then_is_helped_with() -> None:
    """Levels of a search: a few nodes at first, then many."""
    levels = [50_000, 50_000, 300_000, 4_000_000, 9_000_000, 4_000_000, 300_000, 50_000]
    pace = Pace()
    for _ in range(3):
        with_help = [helped(pace, 1 << 12, lambda h, t=t: t / (1 + h), 1)[0] for t in levels]
    assert with_help.count(0) <= 1  # a trial


def test_small_grids_say_nothing_of_large_ones() -> None:
    """Their CTAs take longer, by what a launch takes in any case."""
    pace, large = Pace(), lambda h: 7_000_000 / (1.9 if h else 1)
    for _ in range(10):
        helped(pace, 1 << 14, large, 1)
        helped(pace, 16, lambda _: AWAKE * 0.8, 1)
    assert helped(pace, 1 << 14, large, 1) == [1]
    assert helped(pace, 16, lambda _: AWAKE * 0.8, 1) == [0]


def test_fewer_ctas_than_threads() -> None:
    """Of a size whose grids have more, the best number of helpers may be greater than what there is."""
    pace = Pace()
    helped(pace, 15, lambda h: 800_000 / (1 + h), 300, most=14)
    assert pace.helpers(9, awake=True, most=8) <= 8


def test_a_disturbed_launch_does_not_change_the_way() -> None:
    pace, cost = Pace(), lambda h: LONG / 2 / (1 + h)
    helped(pace, 64, cost, 40)
    pace.note(64, 50 * LONG, helpers=1)
    assert all(helped(pace, 64, cost, 10))


def test_help_that_was_disturbed_at_first_gets_other_chances() -> None:
    """Other processes kept the second core busy."""
    pace = Pace()
    helped(pace, 64, lambda h: 0.9 * LONG * (4 if h else 1), 2 * OFTEN * LENGTH)
    helped(pace, 64, lambda h: 0.9 * LONG / (1 + h), 2 * OFTEN * LENGTH)
    assert all(helped(pace, 64, lambda h: 0.9 * LONG / (1 + h), LENGTH))


def test_levels_of_a_search_get_their_help_back() -> None:
    """Though few of the launches beside trials are like each other: another process kept a core busy."""
    pace = Pace()
    helped(pace, 1 << 12, lambda h: 10 * LONG * (1 + h), 4 * OFTEN)
    helpers = list[int]()
    for _ in range(120):
        for level in (1, 2, 4, 9, 38, 41, 41, 38, 6, 2):
            cost = lambda h, level=level: LONG * level / (1 + h)  # noqa: E731
            helpers += helped(pace, 1 << 12, cost, 1)
    assert sum(helpers[-100:]) >= 90


STEPS = {
    "a sort": [300, 380, 440, 480, 500, 520, 540, 560, 580, 600],
    "two kinds": [600, 100],
    "three kinds": [600, 100, 50],
    "a search": [20, 60, 300, 900, 700, 300, 100, 30],
}
"""Microseconds that launches take alone, over and over."""


@pytest.mark.parametrize("most", [1, 15])
@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("first", range(3))
def test_launches_of_different_work_keep_their_help(first: int, steps: str, most: int) -> None:
    """Whichever a trial falls on. With many threads, a few more or less are no matter."""
    pace, works = Pace(), STEPS[steps]
    cost = lambda n: lambda h: 1e3 * works[n % len(works)] / (1 + 0.9 * h)  # noqa: E731
    found = [helped(pace, 1024, cost(n), 1, most=most)[0] for n in range(first, 600)]
    assert found[100:].count(0) <= 25


@pytest.mark.parametrize("steps", STEPS)
def test_launches_of_different_work_in_turns_that_python_does_not_see(steps: str) -> None:
    pace, works, found = Pace(), STEPS[steps], list[int]()
    while len(found) < 1000:
        times = [1e3 * works[n % len(works)] for n in range(len(found), len(found) + 200)]
        helpers = pace.helpers(64, awake=True, most=1)
        pace.note(64, times[0] / (1 + 0.9 * helpers), helpers)
        ahead = pace.ahead(64, most=1)
        found += [helpers] + [ahead.helpers] * ahead.launches
        if ahead.launches:
            took = [t / (1 + 0.9 * ahead.helpers) for t in times[1 : ahead.launches + 1]]
            ahead.made(ahead.launches, sum(took), len(took), min(took))
    assert found[100:].count(0) <= 50


def test_launches_that_are_over_before_anybody_comes_are_alone() -> None:
    """Those who are asked sleep, or another process has their core. Compiled code makes most launches."""
    pace, seen = Pace(), list[int]()
    while len(seen) < 2000:
        seen.append(pace.helpers(64, awake=True, most=1))
        pace.note(64, 15_000, helpers=0)
        ahead = pace.ahead(64, most=1)
        seen += [ahead.helpers] * ahead.launches
        total = 0 if ahead.helpers else 15_000 * ahead.launches
        ahead.made(ahead.launches, total, 0 if ahead.helpers else ahead.launches, 15_000)
    assert sum(seen) < 60


def rows(times: list[tuple[int, int, int]]) -> Missed:
    """What launches from and to some times have missed, of which they took so much."""
    missed = Missed()
    for began, ended, spent in times:
        missed.add(began, ended, spent)
    return missed


def test_somebody_is_woken_for_short_launches_that_follow_each_other() -> None:
    each = ASLEEP // 2
    row = [(n * each, (n + 1) * each, each) for n in range(2, 30)]
    until = next(n for n in range(len(row)) if rows(row[:n]).is_enough(row[n][0]))
    assert PATIENCE <= until * each <= PATIENCE + each
    missed = rows(row)
    assert missed.is_enough(row[-1][1])
    assert not missed.is_enough(row[-1][1])  # it begins anew


def test_nobody_is_woken_for_short_launches_far_from_each_other() -> None:
    apart = [(n * CLOSE * 2, n * CLOSE * 2 + ASLEEP, ASLEEP) for n in range(1, 30)]
    assert not rows(apart).is_enough(apart[-1][1])
    loose = [(n * CLOSE, n * CLOSE + ASLEEP, ASLEEP) for n in range(1, 30)]
    assert not rows(loose).is_enough(loose[-1][1])
    row = [(n * ASLEEP, (n + 1) * ASLEEP, ASLEEP) for n in range(5, 30)]
    assert not rows(row).is_enough(row[-1][1] + 2 * CLOSE)  # it is over


def test_compiled_code_makes_few_launches_that_miss_help() -> None:
    """So that somebody is soon woken, but none where help does not pay."""
    pace = Pace()
    helped(pace, 64, lambda h: ASLEEP / 2 / (1 + 0.9 * h), 20)
    ahead = pace.ahead(64, most=1, awake=False)
    assert (ahead.helpers, ahead.missed) == (0, True)
    assert ahead.launches <= 2 * PATIENCE / (ASLEEP / 2 / 1.9)
    pace = Pace()
    helped(pace, 64, lambda h: ASLEEP / 2 * (1 + h), 20)
    ahead = pace.ahead(64, most=1, awake=False)
    assert (ahead.helpers, ahead.missed) == (0, False)
    assert ahead.launches >= LONG / ASLEEP


def test_grids_of_other_sizes_that_are_helped_alike_need_no_look() -> None:
    """As those of a decomposition, whose launches become ever smaller."""
    pace, sizes = Pace(), (1 << 12, 1 << 10, 1 << 8, 1 << 5, 1 << 3)
    for _ in range(40):
        for ctas in sizes:
            helped(pace, ctas, lambda h, ctas=ctas: 100 * ctas / (1 + 0.9 * h), 1, most=1)
    ahead = pace.ahead(1 << 10, most=1)
    assert ahead.helpers == 1
    assert pace.span(1 << 10, ahead, most=1) == alike(1 << 10)  # nothing is known of those with 2,048
    helped(pace, 1 << 11, lambda h: 200_000 / (1 + 0.9 * h), 10, most=1)
    helped(pace, 1 << 9, lambda h: 50_000 / (1 + 0.9 * h), 10, most=1)
    least, greatest = pace.span(1 << 10, ahead, most=1)
    assert greatest == (1 << 13) - 1
    assert least == alike(1 << 10)[0]  # fewer take too short to wake anybody
    assert not ahead.timed
    (ways,) = (pace.sizes[n] for n in [(1 << 10).bit_length()])
    before = ways.short.shortest.copy()
    ahead.made(3, 3_000, 3, 1_000)  # whose times say nothing of this size
    assert ways.short.shortest == before


def test_grids_of_other_sizes_that_are_too_short_to_wake_anybody_need_no_look() -> None:
    """Whatever is being tried while somebody is awake. Fewer CTAs take less."""
    pace = Pace()
    for ctas in (1 << 5, 1 << 6, 1 << 7, 1 << 8):
        helped(pace, ctas, lambda h, ctas=ctas: 100 * ctas / (1 + 0.9 * h), 20)
    ahead = pace.ahead(1 << 7, most=1, awake=False)
    assert pace.span(1 << 7, ahead, most=1) == (1, (1 << 9) - 1)
    helped(pace, 1 << 9, lambda h: 200 * ASLEEP / (1 + 0.9 * h), 20)
    assert pace.span(1 << 7, ahead, most=1) == (1, (1 << 9) - 1)


def test_what_threads_work_in_lies_far_apart(device: simt.Device) -> None:
    """CPUs bring what comes after what one thread goes through, and take it from the other's cache."""
    need = Need(shared=1024, local=4096, context=2000)
    crew = Crew(device.memory, need)
    workers = [crew.worker(n) for n in range(3)]
    places = [
        (WorkerSlot.SHARED, need.device_bytes + APART),
        (WorkerSlot.CONTEXT, need.context + CONTEXTS_APART),
    ]
    for slot, size in places:
        at = sorted(w.block.slots[slot] for w in workers)
        assert all(b - a >= size for a, b in pairwise(at))


WAITS_FOR_A_HIGHER_CTA = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 flag)
{
    .reg .pred %p;
    .reg .b32 %c, %v;
    .reg .b64 %a;
    ld.param.u64 %a, [flag];
    mov.u32 %c, %ctaid.x;
    setp.ne.u32 %p, %c, 0;
    @%p bra TELL;
LOOK:
    ld.volatile.global.u32 %v, [%a];
    setp.eq.u32 %p, %v, 0;
    @%p bra LOOK;
    ret;
TELL:
    st.volatile.global.u32 [%a], 1;
    ret;
}"""


def test_ctas_that_wait_for_higher_ones_get_help_that_was_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is found out for kernels with waiting CTAs too how much help pays."""
    asked: list[int] = []

    def none(pace: Pace, ctas: int, awake: bool, most: int) -> int:
        assert pace.together
        asked.append(most)
        return 0

    monkeypatch.setattr(Pace, "helpers", none)
    device = simt.Device("sm_90", workers=2, memory="64MiB", timeout=30)
    flag = device.zeros(1, "u4")
    device.load(WAITS_FOR_A_HIGHER_CTA)["k"]((2,), (32,), (flag,))
    assert asked == [1]
    assert flag.numpy()[0] == 1


def made(ahead: Ahead, launches: int, each: float) -> None:
    """Compiled code has made so many launches."""
    ahead.made(launches, launches * each, launches, each)


def launched(pace: Pace, cost: Cost, launches: int) -> list[int]:
    """Launches of which compiled code makes those that it may, with the shortest of their times; with each of
    all, how many others helped."""
    found: list[int] = []
    while len(found) < launches:
        helpers = pace.helpers(64, awake=True, most=1)
        found.append(helpers)
        pace.note(64, cost(helpers), helpers)
        ahead = pace.ahead(64, most=1)
        found += [ahead.helpers] * ahead.launches
        made(ahead, ahead.launches, cost(ahead.helpers))
    return found


@pytest.mark.parametrize("gain", [0.6, 1.9])
def test_launches_that_python_does_not_see_are_trials_too(gain: float) -> None:
    pace, cost = Pace(), lambda h: LONG / 2 / (gain if h else 1)
    launched(pace, cost, OFTEN * LENGTH)
    later = launched(pace, cost, 10 * OFTEN * LENGTH)
    assert later.count(gain < 1) == pytest.approx(10 * LENGTH, abs=LENGTH)


def test_compiled_code_makes_most_launches() -> None:
    pace, seen = Pace(), 0
    helped(pace, 64, lambda h: LONG / 2 / (1 + h), 4 * OFTEN)
    for _ in range(100):
        ahead = pace.ahead(64, most=1)
        made(ahead, ahead.launches, LONG / 4)
        helped(pace, 64, lambda h: LONG / 2 / (1 + h), 1)
        seen += ahead.launches
    assert seen > 40 * 100


def test_of_very_short_launches_all_is_known() -> None:
    pace = Pace()
    assert pace.ahead(64, most=1).launches == 0  # nothing at first
    helped(pace, 64, lambda _: AWAKE / 2, 5)
    ahead = pace.ahead(64, most=1)
    assert (ahead.launches, ahead.helpers) == (2 * LONG / AWAKE, 0)  # as many as take a millisecond


@pytest.mark.parametrize("gain", [0.6, 1.9])
def test_long_launches_that_python_does_not_see_are_tried_with_other_help(gain: float) -> None:
    pace, cost = Pace(), lambda h: 4 * LONG / (gain if h else 1)
    launched(pace, cost, 10 * CALM)
    later = launched(pace, cost, 1000)
    assert later.count(gain > 1) > 900
    assert later.count(gain < 1) > 0


def test_long_launches_before_and_after_a_trial_are_looked_at() -> None:
    pace, seen = Pace(), list[int]()
    for _ in range(4 * CALM):
        helpers = pace.helpers(64, awake=True, most=1)
        pace.note(64, 4 * LONG / (1 + helpers), helpers)
        ahead = pace.ahead(64, most=1)
        seen.append(ahead.launches if helpers else -1)
        made(ahead, ahead.launches, 2 * LONG)
    trial = seen.index(-1)
    assert seen[trial - 1] == 0
    assert seen[trial - 2] > 0
    assert seen[trial + 1] > 0
    assert sum(seen) > 2 * len(seen)


def test_times_of_which_nobody_knows_count_as_launches_only() -> None:
    pace = Pace()
    helped(pace, 64, lambda h: LONG / 2 / (1 + h), 2 * LENGTH)  # no trial, of which more time tells nothing
    ahead = pace.ahead(64, most=1)
    (ways,) = pace.sizes.values()
    expected, launches = ways.expected, ways.short.launches
    ahead.made(1, 0, 0, 0)
    assert (ways.expected, ways.short.launches) == (expected, launches + 1)
    ahead.made(0, 0, 0, 0)
    assert (ways.expected, ways.short.launches) == (expected, launches + 1)
    made(ahead, 2, LONG)
    assert ways.expected > expected
    assert ways.short.launches == launches + 3


@pytest.mark.parametrize("most", [1, 3])
def test_a_program_of_few_launches_has_its_best_way_in_most_of_them(most: int) -> None:
    for cost in (lambda h: LONG / 2 / (1 + 0.9 * h), lambda h: LONG / 4 * (1 + 0.5 * h)):
        best = min((0, most), key=cost)
        assert helped(Pace(), 64, cost, 24, most=most).count(best) >= 16
