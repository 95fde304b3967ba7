"""Launches that compiled code makes once more by itself: what may be seen is that they are quicker."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import simt
from simt.driver.again import Again
from simt.driver.kernel import Kernel
from simt.engine.abi import CallSlot, LaunchSlot, Seat, SeatSlot
from simt.engine.pace import UNTIL_A_LOOK, Ahead
from simt.engine.prepared import Prepared
from simt.engine.repeat import Repeat
from simt.engine.watch import WATCH
from tests.unit.driver.counting import General
from tests.unit.driver.views import part

PTX = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry count(.param .u64 p_out, .param .u32 p_add)
{
    .reg .pred %p<3>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<6>;
    .shared .align 4 .b8 tile[4];
    ld.param.u64 %rd1, [p_out];
    ld.param.u32 %r1, [p_add];
    mov.u32 %r6, %tid.x;
    mov.u32 %r7, tile;
    // word 0: how often, word 1: the grid id, word 2: what shared memory held at first
    atom.global.add.u32 %r2, [%rd1], %r1;
    mov.u64 %rd2, %gridid;
    st.global.u32 [%rd1+4], %rd2;
    ld.shared.u32 %r3, [%r7];
    atom.global.or.b32 %r4, [%rd1+8], %r3;
    st.shared.u32 [%r7], 7;
    // word 3: trap. Word 4: as many turns, whose result is word 5
    ld.global.u32 %r5, [%rd1+12];
    setp.ne.u32 %p1, %r5, 0;
    @%p1 trap;
    ld.global.u32 %r8, [%rd1+16];
    mov.u32 %r9, 0;
    mov.u32 %r10, 3;
L:
    mad.lo.u32 %r10, %r10, %r10, %r9;
    add.u32 %r9, %r9, 1;
    setp.lt.u32 %p2, %r9, %r8;
    @%p2 bra L;
    st.global.u32 [%rd1+20], %r10;
    ret;
}
.visible .entry last_is_long(.param .u64 p_out, .param .u32 p_turns)
{
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p_out];
    ld.param.u32 %r1, [p_turns];
    mov.u32 %r2, %ctaid.x;
    shr.u32 %r3, %r1, 4;
    mad.lo.u32 %r1, %r1, %r2, %r3;
    mov.u32 %r3, 0;
    mov.u32 %r4, 3;
L:
    mad.lo.u32 %r4, %r4, %r4, %r3;
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p1, %r3, %r1;
    @%p1 bra L;
    st.global.u32 [%rd1+4], %r4;
    atom.global.add.u32 %r5, [%rd1], 1;
    ret;
}
"""
LONG = 3 << 26
"""Turns for a quarter of a second, more or less."""


class Counted(General):
    """A device, its kernel `count` and an array for it."""

    def __init__(self, workers: int = 1) -> None:
        self.device = simt.Device("sm_90", engine="jit", workers=workers)
        self.kernel: Kernel = self.device.load(PTX)["count"]
        self.out = self.device.zeros(8, "u4")
        self.args = (self.out, np.uint32(1))
        self.count(self.device)

    def __call__(self, times: int = 1) -> Counted:
        for _ in range(times):
            self.kernel(1, 1, self.args)
        return self

    def warm(self) -> Counted:
        """The next launch is made by compiled code."""
        self(3)
        self.general = 0
        return self

    @property
    def words(self) -> list[int]:
        return self.out.numpy().tolist()


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """The kernel lies in the object cache: what happens some time after a launch began happens while it runs,
    not while it is compiled."""
    Counted()()


@pytest.fixture
def counted() -> Counted:
    return Counted().warm()


def test_compiled_code_makes_the_fourth_launch_and_later_ones() -> None:
    counted = Counted()
    counted(3)
    assert counted.general == 3
    counted(4)
    assert counted.general == 3
    assert counted.words[:3] == [7, 7, 0]  # every launch ran once, in order, with clear shared memory
    last = counted.kernel.last_launch
    assert last is not None
    assert last.grid_id == 7


def test_what_comes_after_counts_on(counted: Counted) -> None:
    counted(2)
    counted.kernel(2, 1, counted.args)
    assert counted.words[0] == 7
    assert counted.kernel.last_launch == simt.driver.kernel.LastLaunch((2, 1, 1), (1, 1, 1), 6, (0,) * 16)


def given_a_number_of_another_type(counted: Counted) -> None:
    counted.args = (counted.out, np.int32(1))  # type: ignore[assignment]


def another_worker(counted: Counted) -> None:
    counted.device.workers = 2


def a_time_limit(counted: Counted) -> None:
    counted.device.timeout = 60


def another_stack(counted: Counted) -> None:
    counted.device.stack_bytes = "4KiB"


def another_array(counted: Counted) -> None:
    counted.device.zeros(1000)


def an_array_less(counted: Counted) -> None:
    counted.device.zeros(1000).free()


def another_engine(counted: Counted) -> None:
    counted.device.engine = counted.device.engine


def another_launch_of_the_kernel(counted: Counted) -> None:
    counted.kernel.launch(1, 1, (counted.out, 0))


def another_kernel_object(counted: Counted) -> None:
    module = counted.kernel.module
    kernel = Kernel(module, module.program.functions["count"])
    for _ in range(3):
        kernel(1, 1, (counted.out, 0))


@pytest.mark.parametrize(
    "change",
    [
        given_a_number_of_another_type, another_worker, a_time_limit, another_stack,
        another_array, an_array_less, another_engine, another_launch_of_the_kernel, another_kernel_object,
    ],
)  # fmt: skip
def test_after_any_change_the_driver_looks_at_all(
    counted: Counted, change: Callable[[Counted], None]
) -> None:
    change(counted)
    counted.general = 0
    counted()
    assert counted.general == 1
    assert counted.words[0] == 4


def test_a_time_limit_holds_from_then_on(counted: Counted) -> None:
    counted.device.timeout = 0.3
    counted(4)
    counted.general = 0
    counted.out.numpy()[4] = 0xFFFFFFFF
    with pytest.raises(simt.LaunchTimeout):
        counted()
    assert counted.general == 0
    counted.out.numpy()[4] = 0
    counted.device.timeout = None
    gc.collect()  # what the exception held is freed now, not between the launches
    counted(3)
    counted.general = 0
    counted()
    assert counted.general == 0
    assert counted.words[0] == 12


def test_each_launch_has_its_own_time() -> None:
    """Together they take longer. On a machine with other work one may take as long, and begins again."""
    assert any(launches_have_their_own_time(limit=0.5) for _ in range(5))


def launches_have_their_own_time(limit: float) -> bool:
    """Whether none was stopped; one that was had its whole time."""
    counted = Counted()
    counted.device.timeout = limit
    counted.warm()
    counted.out.numpy()[4] = LONG // 12
    began = time.monotonic()
    while (start := time.monotonic()) < began + 2.4 * limit:
        try:
            counted()
        except simt.LaunchTimeout:
            assert time.monotonic() >= start + limit
            return False
    assert counted.general == 0
    return True


def test_what_was_given_decides(counted: Counted) -> None:
    other = counted.device.zeros(8, "u4")
    counted.kernel(1, 1, (other, np.uint32(5)))
    assert (counted.words[0], other.numpy()[0]) == (3, 5)
    with pytest.raises(simt.LaunchError, match="the kernel takes 2 arguments"):
        counted.kernel(1, 1, (*counted.args, 1))
    with pytest.raises(simt.LaunchError, match="grid"):
        counted.kernel((), 1, counted.args)
    with pytest.raises(simt.LaunchError, match="block"):
        counted.kernel(1, None, counted.args)  # type: ignore[arg-type]


def test_launches_are_recorded_where_they_are_captured(counted: Counted) -> None:
    with counted.device.capture() as sequence:
        counted()
    assert counted.words[0] == 3
    sequence()
    counted(2)
    assert counted.words[0] == 6


def test_an_array_that_was_freed(counted: Counted) -> None:
    counted.out.free()
    with pytest.raises(simt.SimtError, match="freed"):
        counted()


def test_arrays_are_not_kept_alive_nor_taken_for_others(counted: Counted) -> None:
    """New arrays begin where old ones were, as objects and in device memory."""
    used = counted.device.memory.used
    for _ in range(20):
        out = counted.device.zeros(8, "u4")
        for _ in range(5):
            counted.kernel(1, 1, (out, 1))
        assert out.numpy()[0] == 5
        del out
        gc.collect()
        assert counted.device.memory.used == used


def test_another_view_of_the_memory_is_another_array(counted: Counted) -> None:
    """No memory is freed when an array goes of which there is a view."""
    device, memory = counted.device, counted.device.zeros(16, "u4")
    addresses = set[int]()
    for half in (0, 1) * 10:
        first, _ = views = (part(memory, 0), part(memory, 8))
        addresses.add(id(first))
        for _ in range(5):
            counted.kernel(1, 1, (views[half], 1))
        del first, views
    assert memory.numpy()[[0, 8]].tolist() == [50, 50]
    assert device.memory.used >= 64
    assert len(addresses) < 20  # the test would show nothing if each were elsewhere


def test_a_fault(counted: Counted) -> None:
    counted.out.numpy()[3] = 1
    for times in (1, 2):
        with pytest.raises(simt.KernelFault, match="trap"):
            counted()
        assert counted.words[:2] == [3 + times, 3 + times]
    counted.out.numpy()[3] = 0
    counted(2)
    assert counted.words[:2] == [7, 7]
    assert in_thread(counted) == 8  # the lock was given back


def in_thread(counted: Counted) -> int:
    """What the counter is after a launch by another thread."""
    thread = threading.Thread(target=counted, daemon=True)
    thread.start()
    thread.join(10)
    return counted.words[0]


def test_other_threads_take_the_usual_way(counted: Counted) -> None:
    assert in_thread(counted) == 4
    assert counted.general == 1
    counted(3)
    assert counted.words[:2] == [7, 7]


def test_threads_take_turns(counted: Counted) -> None:
    """Each launch ends before the next one begins, whoever makes it."""
    counted.out.numpy()[4] = 20
    threads = [threading.Thread(target=counted, args=(300,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    counted(300)
    for thread in threads:
        thread.join()
    assert counted.words[:3] == [1203, 1203, 0]


@contextmanager
def soon(handler: Callable[..., object], seconds: float = 0.05) -> Iterator[None]:
    """Has a signal handled after some time."""
    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_handler_of_signals_that_raises(counted: Counted) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    counted.out.numpy()[4] = 0xFFFFFFFF
    with soon(interrupt), pytest.raises(KeyboardInterrupt):
        counted()
    assert counted.general == 0
    counted.out.numpy()[4] = 0
    counted(5)
    assert counted.words[:2] == [9, 9]
    assert in_thread(counted) == 10


def test_a_handler_that_raises_while_another_thread_launches(counted: Counted) -> None:
    """Who waits for the device has nothing to stop, nor to give back."""
    waits = threading.Event()

    def other() -> None:
        with counted.device.launching():
            waits.set()
            time.sleep(0.1)
            counted.out.numpy()[4] = 4 * LONG
            counted()

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    thread = threading.Thread(target=other, daemon=True)
    thread.start()
    waits.wait()
    with soon(interrupt, 0.3), pytest.raises(KeyboardInterrupt):
        counted()
    thread.join(30)
    assert counted.words[:2] == [4, 4]
    counted.out.numpy()[4] = 0
    assert in_thread(counted) == 5


def test_an_exception_just_before_a_fault_is_raised(
    counted: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when Ctrl-C comes there: others can launch all the same."""

    def interrupted(_: Again) -> None:
        raise KeyboardInterrupt

    counted.out.numpy()[3] = 1
    monkeypatch.setattr(Again, "stopped", interrupted)
    with pytest.raises(KeyboardInterrupt):
        counted()
    counted.out.numpy()[3] = 0
    assert in_thread(counted) == 5


@pytest.mark.parametrize("launches", [1, 2, 3])
@pytest.mark.parametrize("change", [a_time_limit, another_worker, another_stack, another_array])
def test_what_changes_during_a_launch(launches: int, change: Callable[[Counted], None]) -> None:
    counted = Counted()(launches - 1)
    counted.out.numpy()[4] = LONG
    with soon(lambda *_: change(counted)):
        counted()
    counted.general = counted.out.numpy()[4] = 0
    counted()
    assert counted.general == 1
    made = counted.kernel.module.last_launches["count"]
    assert made.workers == counted.device.workers
    assert (made.deadline is None) == (counted.device.timeout is None)
    assert counted.words[:2] == [launches + 1, launches + 1]


def test_an_array_that_is_freed_during_a_launch() -> None:
    counted = Counted()(2)
    counted.out.numpy()[4] = LONG
    with soon(lambda *_: counted.out.free()):
        counted()
    with pytest.raises(simt.SimtError, match="freed"):
        counted()


def test_launches_while_memory_is_allocated(counted: Counted, monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of the memory that kernels may access is not known before it is allocated."""
    memory = counted.device.memory
    take = memory._take

    def taking(size: int, align: int) -> int | None:
        counted(4)
        return take(size, align)

    monkeypatch.setattr(memory, "_take", taking)
    array = counted.device.zeros(1000)
    counted.general = 0
    counted()
    assert counted.general == 1
    assert not array.is_freed  # which would have been a change, too


def test_a_handler_of_signals_that_launches(counted: Counted) -> None:
    """The kernel that runs is not launched within itself by the blocks that it uses."""

    def launches(*_: object) -> None:
        counted.out.numpy()[4] = 0
        counted(3)

    counted.out.numpy()[4] = LONG
    with soon(launches):
        counted()
    assert counted.words[0] == 7
    counted(2)
    assert counted.words[:3] == [9, 9, 0]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_process(counted: Counted) -> None:
    child = os.fork()
    if child == 0:
        counted(2)
        os._exit(0 if counted.words[0] == 5 else 1)
    assert os.waitpid(child, 0)[1] == 0
    counted(2)
    assert counted.words[0] == 5


def test_what_compiled_code_uses_lives_as_long_as_its_function() -> None:
    """A handler of signals may launch the kernel with something else just when the function is called."""
    counted = Counted().warm()
    device, out = counted.device, counted.out
    again = counted.kernel._again
    assert again is not None
    quick, args = again.quick, counted.args
    assert quick is not None
    counted.kernel([3], 1, args)
    del counted, again
    gc.collect()
    assert quick(1, 1, args, 0) is False
    assert out.numpy()[0] == 6
    del device


def test_the_watch_is_woken(counted: Counted) -> None:
    """While nobody watches, launches could not be interrupted."""
    WATCH.awake = False
    counted()
    assert counted.general == 1
    assert WATCH.awake
    counted()
    assert counted.general == 1


def test_kernel_objects_of_one_kernel(counted: Counted) -> None:
    other = counted.kernel.module["count"]
    wanted = counted.words[0]
    for turns in (1, 1, 3, 1, 2, 3, 1, 4):
        for _ in range(turns):
            counted()
            wanted += 1
        for _ in range(turns):
            other(3, 1, counted.args)
            wanted += 3
        counted()
        wanted += 1
        assert counted.words[0] == wanted


def test_nothing_is_made_ready_where_kernel_objects_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each would be disarmed by the next one, and cost more than it gains."""
    counted = Counted()
    module = counted.kernel.module
    other = Kernel(module, module.program.functions["count"])
    armed = list[bool]()
    arm = Repeat.arm

    def noted(repeat: Repeat, device_changes: int, memory_changes: int) -> bool:
        armed.append(arm(repeat, device_changes, memory_changes))
        return armed[-1]

    monkeypatch.setattr(Repeat, "arm", noted)
    for _ in range(10):
        counted()
        other(1, 1, counted.args)
    assert not armed
    counted(4)
    assert armed == [True]
    assert counted.words[0] == 24


def test_now_and_then_it_is_seen_how_long_a_launch_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where others could help: two CTAs, two workers."""
    counted = Counted(workers=2)
    counted.kernel(2, 1, counted.args)
    alone_is_best(monkeypatch, counted)
    alone, longest = 0, 0
    for launches in range(2, 1001):
        counted.general = 0
        counted.kernel(2, 1, counted.args)
        assert counted.words[0] == 2 * launches
        alone = 0 if counted.general else alone + 1
        longest = max(longest, alone)
    assert longest == UNTIL_A_LOOK


def test_after_a_launch_with_help(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which may have been a trial."""
    counted = Counted(workers=2)
    for _ in range(2):
        counted.kernel(2, 1, counted.args)
    pace = prepared(counted).pace
    for times in range(3):
        counted.device.changed()
        monkeypatch.setattr(pace, "helpers", lambda *_, **__: 1)
        monkeypatch.setattr(pace, "ahead", lambda *_: Ahead())
        counted.kernel(2, 1, counted.args)
        assert prepared(counted).block.slots[LaunchSlot.RANGES] == 2
        alone_is_best(monkeypatch, counted)
        counted.device.changed()
        counted.kernel(2, 1, counted.args)
        counted.general = 0
        counted.kernel(2, 1, counted.args)
        assert counted.general == 0
        assert prepared(counted).call.slots[CallSlot.WANTED] == 0
        assert counted.words[0] == 4 + 6 * (times + 1)


def long_after_short(monkeypatch: pytest.MonkeyPatch) -> tuple[Counted, list[str]]:
    """Its next launch is made by compiled code and takes long; what is noted of those who help."""
    counted, noted = Counted(workers=2), list[str]()
    for _ in range(2):
        counted.kernel(4, 1, counted.args)
    alone_is_best(monkeypatch, counted)
    assemble, finish = Prepared._assemble, Prepared.finish

    def assembles(self: Prepared, first: int, many: int) -> Any:
        noted.append("asked")
        return assemble(self, first, many)

    def finishes(self: Prepared) -> None:
        finish(self)
        noted.append("ended")

    monkeypatch.setattr(Prepared, "_assemble", assembles)
    monkeypatch.setattr(Prepared, "finish", finishes)
    for _ in range(2):
        counted.kernel(4, 1, counted.args)
    noted.clear()
    counted.general = 0
    counted.out.numpy()[4] = LONG // 4
    return counted, noted


def test_a_launch_that_is_long_all_at_once_gets_help(monkeypatch: pytest.MonkeyPatch) -> None:
    counted, noted = long_after_short(monkeypatch)
    before = counted.words[0]
    counted.kernel(4, 1, counted.args)
    assert counted.words[0] == before + 4  # all have ended
    assert noted == ["asked", "ended"]
    assert counted.general == 0
    counted.out.numpy()[4] = 0
    for _ in range(5):
        counted.kernel(4, 1, counted.args)
    assert counted.words[0] == before + 24


def test_nobody_helps_any_more_when_a_handler_has_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    counted, noted = long_after_short(monkeypatch)
    counted.out.numpy()[4] = 0xFFFFFFFF
    with soon(interrupt, 0.3), pytest.raises(KeyboardInterrupt):
        counted.kernel(4, 1, counted.args)
    assert noted == ["asked", "ended"]
    counted.out.numpy()[4] = 0
    before = counted.words[0]
    for _ in range(5):
        counted.kernel(4, 1, counted.args)
    assert counted.words[0] == before + 20
    assert in_thread(counted) == before + 21


several = pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="on one processor nobody waits to be asked")


def helped(monkeypatch: pytest.MonkeyPatch, ctas: int = 64, name: str = "count") -> Counted:
    """Compiled code makes its next launch, of so many CTAs, and asks for help, also of those who sleep."""
    counted = Counted(workers=2)
    counted.kernel = counted.kernel.module[name]
    counted.kernel(ctas, 1, counted.args)
    pace = prepared(counted).pace
    monkeypatch.setattr(pace, "helpers", lambda *_, **__: 1)
    monkeypatch.setattr(pace, "ahead", lambda *_: Ahead(UNTIL_A_LOOK, 1, wakes=True))
    launched_until(lambda: counted.general == 0, counted, ctas)
    return counted


def launched_until(condition: Callable[[], bool], counted: Counted, ctas: int) -> int:
    """Launches that were made. On a busy machine those who are to help come late."""
    end, launches = time.monotonic() + 60, 0
    while time.monotonic() < end:
        counted.general = 0
        counted.kernel(ctas, 1, counted.args)
        launches += 1
        if condition():
            return launches
    pytest.fail("never")


@several
def test_compiled_code_asks_for_help(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = helped(monkeypatch)
    call = prepared(counted).call.slots
    assert call[CallSlot.WANTED] == 1
    counted.out.numpy()[4] = 2000
    for _ in range(10):
        before = counted.words[0]
        launches = launched_until(lambda: counted.general == 0 and call[CallSlot.BEGUN] == 1, counted, 64)
        assert counted.words[0] == before + 64 * launches  # each CTA once


@several
def test_compiled_code_wakes_those_who_help(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = helped(monkeypatch)
    fall_asleep(counted)
    before = counted.words[0]
    counted.general = 0
    counted.kernel(64, 1, counted.args)
    assert counted.general == 0
    assert prepared(counted).call.slots[CallSlot.ASKED] == 1
    assert counted.words[0] == before + 64


def fall_asleep(counted: Counted) -> None:
    end = time.monotonic() + 60
    for seat in counted.device.engine.host.pool._seats:  # type: ignore[attr-defined]
        while seat.slots[SeatSlot.STATE] != Seat.ASLEEP:
            assert time.monotonic() < end
            time.sleep(0.01)


@several
def test_where_nobody_is_awake_python_makes_the_next_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the launch is too short for others to be woken."""
    counted = helped(monkeypatch)
    prepared(counted).call.slots[CallSlot.WAKES] = 0
    before = counted.words[0]
    fall_asleep(counted)
    for general in (0, 1):
        counted.general = 0
        counted.kernel(64, 1, counted.args)
        assert counted.general == general
    assert counted.words[0] == before + 128


@several
def test_who_helps_longer_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Longer than compiled code waits: Python does then."""
    waited, finish = list[bool](), Prepared.finish

    def finishes(self: Prepared) -> None:
        finish(self)
        waited.append(self._team is None)

    monkeypatch.setattr(Prepared, "finish", finishes)
    counted = helped(monkeypatch, 2, "last_is_long")
    counted.args = (counted.out, np.uint32(1 << 20))  # a millisecond or so
    before = counted.words[0]
    launches = launched_until(lambda: bool(waited), counted, 2)
    assert counted.words[0] == before + 2 * launches
    assert all(waited)


@several
def test_a_fault_of_one_who_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = helped(monkeypatch)
    counted.out.numpy()[3] = 1
    for _ in range(2):
        with pytest.raises(simt.KernelFault, match="trap"):
            counted.kernel(64, 1, counted.args)
    counted.out.numpy()[3] = 0
    before = counted.words[0]
    launches = launched_until(lambda: counted.general == 0, counted, 64)
    assert counted.words[0] == before + 64 * launches


@several
def test_ctrl_c_ends_those_who_help(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    counted = helped(monkeypatch)
    counted.out.numpy()[4] = 0xFFFFFFFF
    with soon(interrupt, 0.3), pytest.raises(KeyboardInterrupt):
        counted.kernel(64, 1, counted.args)
    counted.out.numpy()[4] = 0
    before = counted.words[0]
    launches = launched_until(lambda: counted.general == 0, counted, 64)
    assert counted.words[0] == before + 64 * launches
    assert in_thread(counted) == counted.words[0]


@several
def test_a_time_limit_for_those_who_help(monkeypatch: pytest.MonkeyPatch) -> None:
    """The caller waits for them, and stops them."""
    counted = helped(monkeypatch, 2, "last_is_long")
    counted.device.timeout = 0.5
    launched_until(lambda: counted.general == 0, counted, 2)
    long = (counted.out, np.uint32(0xE0000000))  # for the helper's CTA: the caller's has a sixteenth
    before = time.monotonic()
    with pytest.raises(simt.LaunchTimeout):
        counted.kernel(2, 1, long)
    assert counted.general == 0
    assert time.monotonic() < before + 30


@pytest.mark.parametrize("shape", [lambda n: int(n), lambda n: (int(n),), lambda n: (int(n), 1)])
def test_equal_grids_and_blocks_are_the_same(counted: Counted, shape: Callable[[str], Any]) -> None:
    """New objects for each launch, as of `n // 256`."""
    general = list[int]()
    for number in range(1, 7):
        counted.general = 0
        counted.kernel(shape("1000"), shape("1"), counted.args)
        general.append(counted.general)
        assert counted.words[0] == 3 + 1000 * number
    assert general[3:] == [0, 0, 0]


def test_a_grid_that_changes_now_and_then(counted: Counted) -> None:
    """See `test_other_grids.py`."""
    general, words = list[int](), counted.words[0]
    for grid in [1] * 3 + [2] * 3 + [(3, 1)] * 3 + [5, 6, 5, 6]:
        counted.general = 0
        counted.kernel(grid, 1, counted.args)
        general.append(counted.general)
        words += grid if isinstance(grid, int) else grid[0]
        assert counted.words[0] == words
        assert counted.kernel.last_launch is not None
        assert counted.kernel.last_launch.grid == ((grid, 1, 1) if isinstance(grid, int) else (*grid, 1))
    assert not any(general)


def test_a_grid_that_changes_while_somebody_waits_for_the_lock() -> None:
    """A handler of signals makes launches of another grid, after the old one was compared."""
    counted, lock = Counted(), Interrupting()
    launching = counted.device.launching
    counted.device.launching = lambda: lock.over(launching())  # type: ignore[method-assign]
    counted.warm()
    lock.handler = lambda: [counted.kernel(2, 1, counted.args) for _ in range(3)]
    counted()
    assert counted.words[0] == 3 + 3 * 2 + 1
    assert lock.handler is None


class Interrupting:
    """A lock that has a handler called before it is taken."""

    handler: Callable[[], object] | None = None

    def over(self, lock: Any) -> Interrupting:
        self.lock = lock
        return self

    def acquire(self) -> object:
        handler, self.handler = self.handler, None
        if handler is not None:
            handler()
        return self.lock.acquire()

    def release(self) -> None:
        self.lock.release()

    def __enter__(self) -> object:
        return self.lock.acquire()

    def __exit__(self, *_: object) -> None:
        self.lock.release()


def alone_is_best(monkeypatch: pytest.MonkeyPatch, counted: Counted) -> None:
    """On a busy machine too."""
    monkeypatch.setattr(prepared(counted).pace, "ahead", lambda *_: Ahead(UNTIL_A_LOOK))


def prepared(counted: Counted) -> Prepared:
    """What the engine keeps of the kernel's launches."""
    ((made,),) = counted.kernel.module.launches.values()
    assert isinstance(made.state, Prepared)
    return made.state
