"""Launches whose threads may hinder each other, in parts: the way of the rest, and that nothing is lost."""

from __future__ import annotations

import random
import signal
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

import simt
from simt.engine.abi import LaunchSlot, WorkerSlot
from simt.engine.in_parts import AT_LEAST, ENOUGH, Found, run_first_parts
from simt.engine.pace import CALM, Pace
from simt.engine.prepared import Prepared
from simt.machine.launch import Launch

Each = Callable[[int], float]
"""Nanoseconds of a CTA, by the number of threads."""


class Runs:
    """A launch of `ctas`, of which a CTA takes `each`. `present`: threads that take part when all are asked.
    `cold`: times as long the first part takes."""

    def __init__(
        self, ctas: int, each: Each, threads: int = 2, present: int | None = None, cold: float = 1
    ) -> None:
        self.each, self.cold = each, cold
        self.present = threads if present is None else present
        self.done: list[tuple[int, int, bool]] = []
        self.spent: float = 0
        self.found, done = run_first_parts(self.run, ctas, threads)
        if done < ctas:
            self.run(done, ctas, self.found.helps(ctas - done))

    def run(self, first: int, last: int, helped: bool) -> tuple[int, int]:
        threads = self.present if helped else 1
        # who locks, as those that help must, takes as long as two do
        spent = (last - first) * (self.each(max(2, threads)) * 2 / threads if helped else self.each(1))
        spent *= 1 if self.done else self.cold
        self.done.append((first, last, helped))
        self.spent += spent
        return round(spent), threads

    @property
    def rest_is_helped(self) -> bool:
        return self.done[-1][2]


def test_each_cta_runs_once() -> None:
    rng = random.Random(5)
    for _ in range(200):
        ctas, threads = rng.choice([1, 7, 64, 1000, 65_536]), rng.randint(2, 16)
        costs = [10 ** rng.uniform(1, 6) for _ in range(threads + 1)]
        runs = Runs(ctas, costs.__getitem__, threads, rng.randint(1, threads))
        assert [first for first, _, _ in runs.done] == [0, *(last for _, last, _ in runs.done[:-1])]
        assert runs.done[-1][1] == ctas


@pytest.mark.parametrize("hindrance", [1.1, 2, 5, 20])
def test_where_help_is_a_hindrance_the_rest_runs_alone(hindrance: float) -> None:
    alone = 400.0
    runs = Runs(8192, lambda n: alone if n == 1 else alone * hindrance)
    assert not runs.rest_is_helped
    assert runs.found.hinders
    assert runs.spent < 8192 * alone + 16 * ENOUGH * hindrance


@pytest.mark.parametrize("threads", [2, 8])
def test_where_help_pays_the_rest_is_helped(threads: int) -> None:
    alone = 400.0
    runs = Runs(65_536, lambda n: alone / n, threads)
    assert runs.rest_is_helped
    assert not runs.found.hinders
    assert runs.spent < 1.1 * 65_536 * alone / threads + 8 * ENOUGH


def test_locks_that_cost_more_than_help_can_gain_are_known_though_nobody_came() -> None:
    assert not Runs(8192, lambda n: 400 if n == 1 else 500, present=1).rest_is_helped
    assert Runs(8192, lambda n: 400 / n, present=1).rest_is_helped


def test_short_launches_are_not_worth_a_question() -> None:
    runs = Runs(1024, lambda _: 100)
    assert not any(helped for _, _, helped in runs.done)
    assert not runs.found.tells


def test_a_first_part_that_finds_no_cache_does_not_count() -> None:
    runs = Runs(8192, lambda n: 400 if n == 1 else 600, cold=100)
    assert runs.found.hinders
    assert not runs.rest_is_helped


def test_pace_keeps_what_parts_have_told() -> None:
    for pays in (False, True):
        pace = Pace(doubtful=True)
        pace.learn(8192, 400, 200 if pays else 900, helpers=1, pays=pays)
        assert [pace.helpers(8192, awake=True, most=1) for _ in range(CALM)] == [int(pays)] * CALM
        assert pace.is_best_alone(8192) is not pays


def test_when_launches_are_cut() -> None:
    pace, cut = Pace(doubtful=True), list[int]()
    for launch in range(200):
        if pace.is_to_be_cut(1 << 13):
            cut.append(launch)
            pace.learn(1 << 13, 400, 900, helpers=1, pays=False)
        else:
            pace.note(1 << 13, 400 << 13, pace.helpers(1 << 13, awake=True, most=1))
    assert cut == [0, 1, CALM, 64, 128, 192]


def test_nothing_is_told_by_nothing() -> None:
    assert not Found().hinders
    assert not Found(alone=100).tells
    assert Found(alone=100, together=50).tells


HEAD = ".version 8.0 .target sm_90 .address_size 64"
ADD = f"""{HEAD}
.visible .entry k(.param .u64 counts, .param .u64 found, .param .u32 turns) {{
.reg .b64 %rd<6>; .reg .b32 %r<9>; .reg .pred %p;
ld.param.u64 %rd1, [counts]; ld.param.u64 %rd3, [found]; ld.param.u32 %r6, [turns];
mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, %r3;
mul.lo.u32 %r7, %r4, 40503; shr.u32 %r7, %r7, 5;
L: and.b32 %r5, %r7, 63; mul.wide.u32 %rd2, %r5, 4; add.u64 %rd2, %rd1, %rd2;
red.global.add.u32 [%rd2], 1; add.u32 %r7, %r7, 7; sub.u32 %r6, %r6, 1; setp.ne.u32 %p, %r6, 0; @%p bra L;
atom.global.add.u32 %r8, [%rd3], 1; ret; }}"""


IDLE = 1000
WORK = f"""{HEAD}
.visible .entry k(.param .u64 found, .param .u32 turns) {{
.reg .b64 %rd<6>; .reg .b32 %r<9>; .reg .pred %p; ld.param.u64 %rd1, [found]; ld.param.u32 %r1, [turns];
mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; setp.ge.u32 %p, %r3, {IDLE}; @!%p ret;
L: mad.lo.u32 %r2, %r2, %r2, 7; sub.u32 %r1, %r1, 1; setp.ne.u32 %p, %r1, 0; @%p bra L;
red.global.add.u32 [%rd1], %r2; ret; }}"""


def worked(turns: int) -> int:
    """What the threads of a CTA add."""
    found = np.arange(64, dtype="u4")
    for _ in range(turns):
        found = found * found + np.uint32(7)
    return int(found.sum(dtype="u8"))


def counted(threads: int, turns: int) -> NDArray[np.uint32]:
    """How often each of 64 words is added to."""
    first = (np.arange(threads, dtype="u4") * np.uint32(40503)) >> 5
    found = np.zeros(64, "u4")
    for turn in range(turns):
        found += np.bincount((first + np.uint32(7 * turn)) & 63, minlength=64).astype("u4")
    return found


@pytest.mark.parametrize("workers", [2, 3])
def test_nothing_is_lost_on_the_way_from_one_thread_to_several(workers: int) -> None:
    """Grids of all sizes, launched by Python and by compiled code, alone and with help."""
    device = simt.Device("sm_90", engine="jit", memory="64MiB", workers=workers, timeout=60)
    kernel, rng = device.load(ADD)["k"], random.Random(workers)
    counts, threads = device.zeros(64, "u4"), device.zeros(1, "u4")
    wanted, launched = np.zeros(64, "u4"), 0
    for _ in range(40):
        ctas, turns = rng.choice([1, 5, 24, 100, 700, 3000]), rng.choice([1, 3])
        for _ in range(rng.choice([1, 2, 6])):
            kernel(ctas, 64, (counts, threads, turns))
            wanted += counted(ctas * 64, turns)
            launched += ctas * 64
    np.testing.assert_array_equal(counts.numpy(), wanted)
    assert threads.numpy()[0] == launched


Workers = list[tuple[int, int, int]]


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Workers:
    """After each launch: whether it was alone in the end, the workers, and those who ran CTAs."""
    found, run = list[tuple[int, int, int]](), Prepared.run

    def noted(self: Prepared, launch: Launch) -> None:
        run(self, launch)
        finished = [worker.block.slots[WorkerSlot.FINISHED] for worker in self.crew.workers]
        found.append((self.block.slots[LaunchSlot.ALONE], len(finished), sum(n > 0 for n in finished)))

    monkeypatch.setattr(Prepared, "run", noted)
    return found


def test_who_is_alone_lets_others_in_if_it_takes_long(monkeypatch: pytest.MonkeyPatch, seen: Workers) -> None:
    """Nothing is locked until the caller's thread has seen the request."""

    def none(*_: object, **__: object) -> int:
        return 0

    monkeypatch.setattr(Pace, "helpers", none)
    monkeypatch.setattr(Pace, "is_to_be_cut", none)
    device = simt.Device("sm_90", engine="jit", memory="64MiB", workers=2, timeout=60)
    kernel, found = device.load(WORK)["k"], device.zeros(1, "u4")
    kernel(IDLE + AT_LEAST, 64, (found, 1))
    kernel(IDLE + 2000, 64, (found, 60_000))
    assert found.numpy()[0] == (AT_LEAST * worked(1) + 2000 * worked(60_000)) % 2**32
    assert seen == [(1, 1, 1), (0, 2, 2)]


def test_first_ctas_that_have_nothing_to_do_tell_nothing_of_the_rest(seen: Workers) -> None:
    device = simt.Device("sm_90", engine="jit", memory="64MiB", workers=2, timeout=60)
    kernel, found = device.load(WORK)["k"], device.zeros(1, "u4")
    kernel(IDLE + 2000, 64, (found, 60_000))
    assert found.numpy()[0] == 2000 * worked(60_000) % 2**32
    assert seen == [(0, 2, 2)]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no interval timers")
@pytest.mark.parametrize("does", ["red.global.add.u32", "st.global.u32"])
def test_a_handler_of_signals_is_not_alone_in_the_middle_of_others(
    does: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those who help go on while it runs, whether they lock what they change or not."""

    def helpers(_: Pace, ctas: int, *__: object, **___: object) -> int:
        return int(ctas > 1)

    def whole(*_: object) -> bool:
        return False

    monkeypatch.setattr(Pace, "helpers", helpers)
    monkeypatch.setattr(Pace, "is_to_be_cut", whole)
    seen: list[int] = []
    begin = Prepared.begin

    def noted(self: Prepared, launch: Launch, threads: int | None = None) -> int:
        seen.append(self.block.slots[LaunchSlot.ALONE])
        if launch.grid[0] > 1:
            signal.setitimer(signal.ITIMER_REAL, 0.03)
        return begin(self, launch, threads)

    device = simt.Device("sm_90", engine="jit", memory="64MiB", workers=2, timeout=60)
    text = WORK.replace("red.global.add.u32", does)
    kernel, found = device.load(text)["k"], device.zeros(1, "u4")
    kernel(1, 64, (found, 1))
    monkeypatch.setattr(Prepared, "begin", noted)

    def handler(*_: object) -> None:
        kernel(1, 64, (found, 1))

    old = signal.signal(signal.SIGALRM, handler)
    try:
        kernel(2000, 64, (found, 60_000))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    kernel(1, 64, (found, 1))
    assert seen[:2] == [0, 0]
    assert seen[-1] == 1
