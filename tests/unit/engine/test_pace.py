"""When other threads help with a launch: decided by the time that launches took."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

import simt
from simt.engine.abi import WorkerSlot
from simt.engine.blocks import APART, CONTEXTS_APART, Need, Worker
from simt.engine.pace import ASLEEP, AWAKE, LONG, OFTEN, TRIAL, Pace

Cost = Callable[[bool], float]
"""Nanoseconds of a launch, by whether others help."""


def helped(pace: Pace, ctas: int, cost: Cost, launches: int, awake: bool = True) -> list[bool]:
    """Runs launches that take `cost`; with which of them others helped."""
    found: list[bool] = []
    for _ in range(launches):
        found.append(pace.wants_help(ctas, awake))
        pace.note(ctas, cost(found[-1]), found[-1])
    return found


def test_nothing_is_known_of_the_first_launch() -> None:
    assert Pace().wants_help(64, awake=False)


def test_short_launches_run_alone() -> None:
    assert not any(helped(Pace(), 64, lambda _: AWAKE / 2, 200)[1:])


def test_help_that_must_be_woken_is_for_longer_launches() -> None:
    between = (ASLEEP + AWAKE) / 2
    asleep, awake = Pace(), Pace()
    assert not any(helped(asleep, 64, lambda _: between, 20, awake=False)[2:])
    assert all(helped(awake, 64, lambda h: between / (1 + h), 200)[-16:])


@pytest.mark.parametrize("gain", [0.6, 1.9])
def test_the_faster_way_is_taken_and_the_other_one_tried_now_and_then(gain: float) -> None:
    pace, cost = Pace(), lambda h: LONG / 2 / (gain if h else 1)
    helped(pace, 64, cost, OFTEN * TRIAL)
    later = helped(pace, 64, cost, 10 * OFTEN * TRIAL)
    assert later.count(gain < 1) == 10 * TRIAL


def test_a_way_gets_more_than_one_launch_to_show_what_it_can() -> None:
    """The first launch after a change finds in other caches what it needs."""
    pace, before = Pace(), False
    for _ in range(100):
        now = pace.wants_help(4096, awake=True)
        pace.note(4096, (190_000 if now else 150_000) + 60_000 * (now != before), now)
        before = now
    assert pace.wants_help(4096, awake=True) is False


def test_a_slow_first_launch_with_help_is_soon_forgotten() -> None:
    """It brings memory and code from far away: other threads must get another chance."""
    pace = Pace()
    pace.note(1 << 14, 26_000_000, helped=True)
    pace.note(1 << 14, 900_000, helped=False)
    assert all(helped(pace, 1 << 14, lambda h: 900_000 / (1 + h), 20))


def test_a_kernel_that_is_long_now_and_then_is_helped_with() -> None:
    """Levels of a search: a few nodes at first, then many."""
    levels = [50_000, 50_000, 300_000, 4_000_000, 9_000_000, 4_000_000, 300_000, 50_000]
    pace = Pace()
    for _ in range(3):
        with_help = [helped(pace, 1 << 12, lambda h, t=t: t / (1 + h), 1)[0] for t in levels]
    assert all(with_help)


def test_small_grids_say_nothing_of_large_ones() -> None:
    """Their CTAs take longer, by what a launch takes in any case."""
    pace, large = Pace(), lambda h: 7_000_000 / (1.9 if h else 1)
    for _ in range(10):
        helped(pace, 1 << 14, large, 1)
        helped(pace, 16, lambda _: AWAKE * 0.8, 1)
    assert helped(pace, 1 << 14, large, 1) == [True]
    assert helped(pace, 16, lambda _: AWAKE * 0.8, 1) == [False]


def test_a_disturbed_launch_does_not_change_the_way() -> None:
    pace, cost = Pace(), lambda h: LONG / 2 / (1 + h)
    helped(pace, 64, cost, 40)
    pace.note(64, 50 * LONG, helped=True)
    assert all(helped(pace, 64, cost, 10))


def test_what_threads_work_in_lies_far_apart(device: simt.Device) -> None:
    """CPUs bring what comes after what one thread goes through, and take it from the other's cache."""
    need = Need(shared=1024, local=4096, context=2000)
    workers = [Worker(n, need, device.memory.allocate) for n in range(3)]
    places = [
        (WorkerSlot.SHARED, need.device_bytes + APART),
        (WorkerSlot.CONTEXT, need.context + CONTEXTS_APART),
    ]
    for slot, size in places:
        at = sorted(w.block.slots[slot] for w in workers)
        assert all(b - a >= size for a, b in pairwise(at))
