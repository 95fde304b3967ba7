"""Many launches: what is kept from one to the next, where they run, and what may interrupt them."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import simt
from simt.engine.watch import Watch
from tests.unit.kernel_text import FILLS_SHARED

PTX = """
.version 7.0
.target sm_50
.address_size 64
.visible .entry empty() { ret; }
.visible .entry index(.param .u64 out, .param .u32 add)   // out[i] = i + add
{
    .reg .b64 %rd<3>; .reg .b32 %r<5>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r4, [add];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r1, %r1, %r2, %r3;
    mad.wide.u32 %rd2, %r1, 4, %rd1;
    add.u32 %r1, %r1, %r4;
    st.global.u32 [%rd2], %r1;
    ret;
}
.visible .entry place(.param .u64 out)   // out[linear number of the CTA] = its x + 100 y + 10000 z
{
    .reg .b64 %rd<3>; .reg .b32 %r<8>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ctaid.y;
    mov.u32 %r3, %ctaid.z;
    mov.u32 %r4, %nctaid.x;
    mov.u32 %r5, %nctaid.y;
    mad.lo.u32 %r6, %r3, %r5, %r2;
    mad.lo.u32 %r6, %r6, %r4, %r1;
    mad.wide.u32 %rd2, %r6, 4, %rd1;
    mad.lo.u32 %r7, %r2, 100, %r1;
    mad.lo.u32 %r7, %r3, 10000, %r7;
    st.global.u32 [%rd2], %r7;
    ret;
}
.visible .entry work(.param .u64 out, .param .u32 turns)   // out[i] = turns + CTA, slowly
{
    .reg .b64 %rd<3>; .reg .b32 %r<6>; .reg .pred %p;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [turns];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %tid.x;
    mov.u32 %r5, %ntid.x;
    mad.lo.u32 %r4, %r2, %r5, %r3;
    mad.wide.u32 %rd2, %r4, 4, %rd1;
L:
    setp.eq.u32 %p, %r1, 0;
    @%p bra E;
    ld.global.u32 %r4, [%rd2];
    add.u32 %r4, %r4, 1;
    st.global.u32 [%rd2], %r4;
    sub.u32 %r1, %r1, 1;
    bra L;
E:
    ret;
}
.visible .entry chain(.param .u64 flags)   // each CTA waits for the one before it
{
    .reg .b64 %rd<4>; .reg .b32 %r<4>; .reg .pred %p;
    ld.param.u64 %rd1, [flags];
    mov.u32 %r1, %ctaid.x;
    mad.wide.u32 %rd2, %r1, 4, %rd1;
    setp.eq.u32 %p, %r1, 0;
    @%p bra GO;
W:
    ld.volatile.global.u32 %r2, [%rd2+-4];
    setp.eq.u32 %p, %r2, 0;
    @%p bra W;
GO:
    membar.gl;
    st.volatile.global.u32 [%rd2], 1;
    ret;
}
.visible .entry wait(.param .u64 flag)
{
    .reg .b64 %rd<2>; .reg .b32 %r<2>; .reg .pred %p;
    ld.param.u64 %rd1, [flag];
W:
    ld.volatile.global.u32 %r1, [%rd1];
    setp.eq.u32 %p, %r1, 0;
    @%p bra W;
    ret;
}
.visible .entry count(.param .u64 out, .param .u32 turns)   // a loop that looks at nothing but its counter
{
    .reg .b64 %rd<2>; .reg .b32 %r<3>; .reg .pred %p;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [turns];
    mov.u32 %r2, 0;
L:
    add.u32 %r2, %r2, %r1;
    sub.u32 %r1, %r1, 1;
    setp.ne.u32 %p, %r1, 0;
    @%p bra L;
    st.global.u32 [%rd1], %r2;
    ret;
}
"""
PTX += FILLS_SHARED


def device(engine: str = "jit", **options: object) -> simt.Device:
    return simt.Device("sm_90", engine=engine, memory="64MiB", **{"timeout": 60, **options})  # type: ignore[arg-type]


def test_a_launch_does_not_see_the_one_before(engine: str) -> None:
    dev = device(engine)
    k, out = dev.load(PTX)["index"], dev.zeros(1 << 10, "u4")
    for grid, block, add in ((4, 32, 1), ((2, 1), (32,), 5), (8, 32, 7), (1, 64, 9), ((4,), (32, 1, 1), 11)):
        out.numpy()[:] = 0
        k(grid, block, (out, add))
        n = int(np.prod(grid) * np.prod(block))
        assert (out.numpy()[:n] == np.arange(n) + add).all()
        assert not out.numpy()[n:].any()


def test_shapes_and_sizes_are_checked_every_time(engine: str) -> None:
    dev = device(engine)
    k, out = dev.load(PTX)["index"], dev.zeros(64, "u4")
    for _ in range(2):
        k((2,), (32,), (out, 1), shared_mem=16)
        with pytest.raises(simt.LaunchError, match="grid: expected an integer"):
            k((2.0,), (32,), (out, 1), shared_mem=16)  # type: ignore[arg-type]
        with pytest.raises(simt.LaunchError, match="block: expected an integer"):
            k((2,), (32.0,), (out, 1), shared_mem=16)  # type: ignore[arg-type]
        with pytest.raises(simt.LaunchError, match="shared_mem: expected bytes"):
            k((2,), (32,), (out, 1), shared_mem=16.0)  # type: ignore[arg-type]
        with pytest.raises(simt.LaunchError, match="extent y may be at most 65535"):
            k((2, 65536), (32,), (out, 1), shared_mem=16)
        with pytest.raises(simt.LaunchError, match="bytes of shared memory"):
            k((2,), (32,), (out, 1), shared_mem=np.int64(1 << 20))  # type: ignore[arg-type]


def test_shared_memory_of_a_launch_is_zero_at_first(engine: str) -> None:
    dev = device(engine, workers=1)
    k, out = dev.load(PTX)["shared"], dev.zeros(64, "u4")
    for _ in range(3):
        out.numpy()[:] = 9
        k(1, 64, (out,))
        assert not out.numpy().any()


@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("grid", [(1, 1, 1), (7, 5, 3), (1, 13, 2), (200, 1, 1), (3, 99, 4)])
def test_every_cta_runs_once_with_its_coordinates(workers: int, grid: tuple[int, int, int]) -> None:
    dev = device(workers=workers)
    x, y, z = grid
    k, out = dev.load(PTX)["place"], dev.empty((z, y, x), "u4")
    for _ in range(3):
        out.numpy()[:] = 0
        k(grid, 32, (out,))
        at_z, at_y, at_x = np.indices((z, y, x))
        np.testing.assert_array_equal(out.numpy(), at_x + 100 * at_y + 10000 * at_z)


def test_a_launch_that_is_longer_than_the_ones_before(engine: str) -> None:
    """The JIT expects a short one at first, and lets other threads join in later."""
    dev = device(engine, workers=3)
    k, out = dev.load(PTX)["work"], dev.zeros(256 * 64, "u4")
    for _ in range(3):
        k(256, 64, (out, 0))
    turns = 20_000 if engine == "jit" else 3
    for _ in range(2):
        k(256, 64, (out, turns))
    assert (out.numpy() == 2 * turns).all()


@pytest.mark.parametrize(("engine", "workers"), [("interpreter", 1), ("jit", 1), ("jit", 2), ("jit", 4)])
def test_ctas_may_wait_for_lower_ones(engine: str, workers: int) -> None:
    dev = device(engine, workers=workers)
    k, flags = dev.load(PTX)["chain"], dev.zeros(500, "u4")
    for _ in range(3):
        flags.numpy()[:] = 0
        k(500, 32, (flags,))
        assert flags.numpy().all()


A_FEW_WORKERS = 1 << 17
"""Bytes: threads that help for the first time get memory of their own, far from each other."""


def resources() -> tuple[int, int, int]:
    """Threads, open files, and pages of memory of this process."""
    files = len(os.listdir("/proc/self/fd"))
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return threading.active_count(), files, pages


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("workers", [1, 2])
def test_launches_leak_nothing(workers: int) -> None:
    """(bench/run.py launches does it 100,000 times.)"""
    dev = device(workers=workers)
    module, out = dev.load(PTX), dev.zeros(1 << 10, "u4")
    with dev.capture() as sequence:
        module["index"](32, 32, (out, 1))

    def launches(count: int) -> None:
        for i in range(count):
            module["empty"](1 + i % 7, 32)
            module["index"](32, 32, (out, i))
            sequence()
            with pytest.raises(simt.LaunchError):
                module["index"](32, 32, (out,))

    launches(200)
    gc.collect()
    used, (threads, files, pages) = dev.memory.used, resources()
    launches(1000)
    gc.collect()
    assert dev.memory.used <= used + A_FEW_WORKERS
    now = resources()
    assert now[0] <= threads
    assert now[1] <= files
    assert now[2] - pages < 256  # 1 MiB


def test_faults_leak_nothing() -> None:
    dev = device(workers=2)
    k, out = dev.load(PTX)["index"], dev.zeros(64, "u4")

    def faults(count: int) -> None:
        for _ in range(count):
            with pytest.raises(simt.MemoryFault):
                k(2, 32, (0x1000, 1))
            k(2, 32, (out, 1))

    faults(3)
    gc.collect()  # tracebacks hold the launch
    used = dev.memory.used
    faults(50)
    gc.collect()
    assert dev.memory.used <= used + A_FEW_WORKERS


def test_memory_and_threads_go_with_the_device() -> None:
    def use() -> None:
        dev = device(workers=3)
        out = dev.zeros(1 << 14, "u4")
        for _ in range(2):
            dev.load(PTX)["work"](64, 256, (out, 500))

    use()
    gc.collect()
    before = {t for t in threading.enumerate() if t.name == "simt"}
    for _ in range(5):
        use()
    gc.collect()
    deadline = time.monotonic() + 10
    while {t for t in threading.enumerate() if t.name == "simt"} - before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not {t for t in threading.enumerate() if t.name == "simt"} - before


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no interval timers")
def test_a_handler_of_signals_runs_while_a_kernel_does(engine: str) -> None:
    """It may launch kernels itself: this one ends the other, on the same device."""
    dev = device(engine, workers=1, timeout=30)
    module, flag = dev.load(PTX), dev.zeros(32, "u4")
    wait, index = module["wait"], module["index"]
    index(1, 32, (flag, 1))
    wait(1, 32, (flag,))  # compiled now
    flag.numpy()[:] = 0
    seen: list[int] = []

    def handler(number: int, frame: object) -> None:
        seen.append(number)
        index(1, 32, (flag, 1))

    old = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        wait(1, 32, (flag,))
    finally:
        signal.signal(signal.SIGALRM, old)
    assert seen == [signal.SIGALRM]
    assert flag.numpy()[0] == 1


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no interval timers")
def test_a_signal_that_is_handled_does_not_stop_a_kernel() -> None:
    dev = device(workers=2)
    k, out = dev.load(PTX)["work"], dev.zeros(64 * 64, "u4")
    seen: list[int] = []
    old = signal.signal(signal.SIGALRM, lambda number, frame: seen.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
        launches = 0
        while len(seen) < 3 and launches < 20_000:
            k(64, 64, (out, 20_000))
            launches += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert (out.numpy() == launches * 20_000).all()
    assert len(seen) >= 3


def test_threads_that_cannot_be_made_are_done_without(monkeypatch: pytest.MonkeyPatch) -> None:
    """At a limit of the system's, or while Python ends."""
    dev = device(workers=4)
    k, out, lookout = dev.load(PTX)["work"], dev.zeros(64 * 64, "u4"), Watch()
    k(1, 64, (dev.zeros(64, "u4"), 1))  # compiled now, and run by the caller alone
    refused: list[str] = []

    def start(thread: threading.Thread) -> None:
        refused.append(thread.name)
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as limited:
        limited.setattr(threading.Thread, "start", start)
        lookout.wake()
        assert not lookout.awake
        for _ in range(20):
            k(64, 64, (out, 20_000))
    lookout.wake()
    assert lookout.awake
    assert set(refused) == {"simt", "simt-watch"}
    assert (out.numpy() == 400_000).all()


def test_a_thread_with_a_small_stack(engine: str) -> None:
    dev = device(engine)
    module, out = dev.load(PTX), dev.zeros(64, "u4")
    with dev.capture() as sequence:
        module["index"](2, 32, (out, 5))
    errors: list[BaseException] = []

    def use() -> None:
        try:
            module["index"](2, 32, (out, 3))
            assert out.numpy()[1] == 4
            sequence()
            assert out.numpy()[1] == 6
        except BaseException as error:  # a failure must reach the test's own thread
            errors.append(error)

    old = threading.stack_size(256 << 10)
    try:
        thread = threading.Thread(target=use)
        thread.start()
    finally:
        threading.stack_size(old)
    thread.join()
    assert not errors


def test_threads_launch_on_one_device(engine: str) -> None:
    dev = device(engine, workers=2)
    module = dev.load(PTX)
    errors: list[BaseException] = []

    def use(number: int) -> None:
        out = dev.zeros(64, "u4")
        try:
            for i in range(30):
                module["index"](2, 32, (out, number + i))
                assert (out.numpy() == np.arange(64) + number + i).all()
        except BaseException as error:  # a failure must reach the test's own thread
            errors.append(error)

    threads = [threading.Thread(target=use, args=(n * 1000,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


CHILD = """
import os, sys, threading, simt
device = simt.Device("sm_90", memory="16MiB", workers=2)
module = device.load(sys.argv[1])
x = device.zeros(64 * 256, "u4")
module["work"](256, 64, (x, 300))
child = os.fork()
for turns in (0, 300, 0):
    module["work"](256, 64, (x, turns))
assert (x.numpy() == 600).all()
try:
    module["count"].launch(1, 1, (x, 0xFFFFFFFF), timeout=0.2)
except simt.LaunchTimeout:
    os._exit(7) if child == 0 else None
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_threads_that_watch_and_help_are_made_again_after_fork() -> None:
    endless = PTX.replace("sub.u32 %r1, %r1, 1;\n    setp.ne", "setp.ne")
    quiet = ["-W", "ignore::DeprecationWarning"]  # from 3.12 on Python warns of threads when it forks
    command = [sys.executable, *quiet, "-c", CHILD, endless]
    found = subprocess.run(command, timeout=60, stderr=subprocess.PIPE, text=True)
    assert (found.returncode, found.stderr) == (0, "")
