"""CTAs that wait for others of the grid, which have not begun when they begin to wait: as on a GPU all that
the device has room for get on, whatever the number of native threads."""

from __future__ import annotations

import gc
import os
import signal
import threading

import numpy as np
import pytest

import simt
from tests.unit.kernel_text import thread_number

HEADER = ".version 7.0\n.target sm_70\n.address_size 64\n"
CHAIN = """
.visible .entry chain(.param .u64 flags, .param .u64 out)
{
    .reg .u64 %flags, %out, %a;
    .reg .u32 %c, %n, %v, %t, %size;
    .reg .pred %p;
    .shared .align 4 .b32 got;
    ld.param.u64 %flags, [flags];
    ld.param.u64 %out, [out];
    mov.u32 %c, %ctaid.x;
    mov.u32 %n, %nctaid.x;
    mov.u32 %t, %tid.x;
    mov.u32 %size, %ntid.x;
    mul.wide.u32 %a, %c, 4;
    add.u64 %flags, %flags, %a;
    add.u32 %v, %c, 1;
    setp.eq.u32 %p, %v, %n;
    mov.u32 %v, 1;
    @%p bra LAST;
WAIT
LAST:
    mad.lo.u32 %v, %v, 3, %c;
    AFTER
    st.volatile.global.u32 [%flags], %v;
    mad.lo.u32 %c, %c, %size, %t;
    mul.wide.u32 %a, %c, 4;
    add.u64 %out, %out, %a;
    add.u32 %v, %v, %t;
    st.global.u32 [%out], %v;
    ret;
}
"""
"""Each CTA waits for the next one's number, and makes its own of it."""
ALL = """
LOOP:
    ld.volatile.global.u32 %v, [%flags+4]; setp.eq.u32 %p, %v, 0; @%p bra LOOP;
"""
ONE = """
    setp.ne.u32 %p, %t, 0; @%p bra REST;
LOOP:
    ld.acquire.gpu.global.u32 %v, [%flags+4]; setp.eq.u32 %p, %v, 0; @%p bra LOOP;
    st.shared.u32 [got], %v;
REST:
    bar.sync 0;
    ld.shared.u32 %v, [got];
"""
TOGETHER = """
LOOP:
    bar.sync 0;
    setp.ne.u32 %p, %t, 0; @%p bra REST;
    ld.volatile.global.u32 %v, [%flags+4]; st.shared.u32 [got], %v;
REST:
    bar.sync 0;
    ld.shared.u32 %v, [got];
    setp.eq.u32 %p, %v, 0; @%p bra LOOP;
"""
BARRIERS = """
    setp.ne.u32 %p, %t, 0; @%p bra REST;
LOOP:
    ld.volatile.global.u32 %v, [%flags+4]; setp.eq.u32 %p, %v, 0; @%p bra LOOP;
    st.shared.u32 [got], %v;
    bar.arrive 1, %size;
    bra SECOND;
REST:
    bar.sync 1, %size;
SECOND:
    bar.sync 2;
    ld.shared.u32 %v, [got];
"""
CALLED = "call (%v), await, (%flags);"
FUNCTION = """
.visible .func (.reg .u32 %v) await(.reg .u64 %at)
{
    .reg .pred %p;
LOOP:
    ld.volatile.global.u32 %v, [%at+4]; setp.eq.u32 %p, %v, 0; @%p bra DONE; ret;
DONE:
    bra LOOP;
}
"""
RECURSIVE = """
.visible .func (.reg .u32 %v) await(.reg .u64 %at)
{
    .reg .pred %p; .reg .u64 %never;
    setp.eq.u64 %p, %at, 12345; @!%p bra LOOP;
    call (%v), await, (%at);
LOOP:
    ld.volatile.global.u32 %v, [%at+4]; setp.eq.u32 %p, %v, 0; @%p bra LOOP;
    ret;
}
"""
WAITS = {"all": ALL, "one": ONE, "together": TOGETHER, "barriers": BARRIERS, "called": CALLED}


def device(engine: str = "jit", workers: int = 1, timeout: float = 60, **more: str) -> simt.Device:
    return simt.Device(more.pop("arch", "sm_90"), engine=engine, workers=workers, timeout=timeout, **more)


def chain_text(wait: str, function: str = "", after: str = "") -> str:
    return HEADER + function + CHAIN.replace("WAIT", wait).replace("AFTER", after)


def run_chain(dev: simt.Device, kernel: simt.Kernel, grid: int, block: int, shared: int = 0) -> None:
    flags, out = dev.zeros(grid + 1, "u4"), dev.zeros((grid, block), "u4")
    kernel(grid, block, (flags, out), shared_mem=shared)
    wanted, value = np.zeros(grid, "u4"), np.uint32(1)
    with np.errstate(over="ignore"):
        for cta in reversed(range(grid)):
            wanted[cta] = value = value * np.uint32(3) + np.uint32(cta)
    np.testing.assert_array_equal(flags.numpy()[:grid], wanted)
    np.testing.assert_array_equal(out.numpy(), wanted[:, None] + np.arange(block, dtype="u4"))


@pytest.mark.parametrize("wait", WAITS)
@pytest.mark.parametrize(("engine", "workers"), [("jit", 1), ("jit", 2), ("jit", 5), ("interpreter", 1)])
def test_each_cta_waits_for_the_next(engine: str, workers: int, wait: str) -> None:
    """The last one is to begin last. A kernel is launched again with more and fewer CTAs, and other
    threads."""
    dev = device(engine, workers)
    module = dev.load(chain_text(WAITS[wait], FUNCTION if wait == "called" else ""))
    many, most = (12, 16) if engine == "interpreter" else (40, 150)  # it goes through all that wait, in turn
    for grid, block in ((2, 64), (many, 64), (3, 64), (most, 80), (many, 32)):
        run_chain(dev, module["chain"], grid, block)


@pytest.mark.parametrize("workers", [1, 2])
def test_in_a_recursive_function(workers: int) -> None:
    """Which needs much native stack: the launch runs on other threads than its caller's."""
    dev = device(workers=workers)
    run_chain(dev, dev.load(chain_text(CALLED, RECURSIVE))["chain"], 40, 64)


def test_more_ctas_than_the_interpreter_runs_at_once_otherwise() -> None:
    dev = device("interpreter")
    run_chain(dev, dev.load(chain_text(ONE))["chain"], 100, 1024)


ROUNDS = """
.visible .entry rounds(.param .u64 counter, .param .u64 values, .param .u32 times)
{
    .reg .u64 %counter, %values, %own, %other, %a;
    .reg .u32 %size, %t, %c, %n, %i, %r, %m, %v, %w, %target;
    .reg .pred %p;
    ld.param.u64 %counter, [counter];
    ld.param.u64 %values, [values];
    ld.param.u32 %m, [times];
    THREAD_NUMBER
    mov.u32 %c, %ctaid.x;
    mov.u32 %n, %nctaid.x;
    mul.wide.u32 %own, %i, 4;
    add.u64 %own, %values, %own;
    add.u32 %c, %c, 1;
    rem.u32 %c, %c, %n;
    mad.lo.u32 %i, %c, %size, %t;
    mul.wide.u32 %other, %i, 4;
    add.u64 %other, %values, %other;
    mov.u32 %target, 0;
    mov.u32 %r, 0;
ROUND:
    ld.volatile.global.u32 %v, [%own];
    ld.volatile.global.u32 %w, [%other];
    mad.lo.u32 %v, %v, 5, %w;
    MEET
    st.volatile.global.u32 [%own], %v;
    MEET
    add.u32 %r, %r, 1;
    setp.lt.u32 %p, %r, %m;
    @%p bra ROUND;
    ret;
}
"""
MEET = """
    bar.sync 0;
    add.u32 %target, %target, %n;
    setp.ne.u32 %p, %t, 0;
    @%p bra MET_NUMBER;
    membar.gl;
    atom.global.add.u32 %w, [%counter], 1;
WAIT_NUMBER:
    ld.volatile.global.u32 %w, [%counter];
    setp.lt.u32 %p, %w, %target;
    @%p bra WAIT_NUMBER;
MET_NUMBER:
    bar.sync 0;
"""
"""A barrier of the whole grid, of the program's own making."""


def rounds_text() -> str:
    first, second = (MEET.replace("NUMBER", str(n)) for n in range(2))
    text = ROUNDS.replace("    THREAD_NUMBER", thread_number("x", "%i", threads="%size", thread="%t"))
    return HEADER + text.replace("MEET", first, 1).replace("MEET", second, 1)


def run_rounds(dev: simt.Device, kernel: simt.Kernel, grid: int, block: int, times: int = 7) -> None:
    given = np.random.default_rng(grid).integers(0, 2**32, (grid, block), dtype="u4")
    counter, values = dev.zeros(1, "u4"), dev.array(given)
    kernel(grid, block, (counter, values, times))
    for _ in range(times):
        given = given * np.uint32(5) + np.roll(given, -1, axis=0)
    np.testing.assert_array_equal(values.numpy(), given)
    assert counter.numpy()[0] == 2 * times * grid


@pytest.mark.parametrize(("engine", "workers"), [("jit", 1), ("jit", 2), ("interpreter", 1)])
@pytest.mark.parametrize(("grid", "block"), [(2, 32), (64, 64), (200, 33), (132, 256)])
def test_a_barrier_of_the_whole_grid(engine: str, workers: int, grid: int, block: int) -> None:
    dev = device(engine, workers)
    kernel = dev.load(rounds_text())["rounds"]
    for _ in range(2):
        run_rounds(dev, kernel, grid, block)


@pytest.mark.parametrize("workers", [1, 2])
def test_in_a_captured_sequence(workers: int) -> None:
    dev = device(workers=workers)
    kernel, times, grid, block = dev.load(rounds_text())["rounds"], 3, 20, 64
    given = np.arange(grid * block, dtype="u4").reshape(grid, block)
    counters, values = dev.zeros((4, 1), "u4"), dev.array(given)
    with dev.capture() as sequence:
        for n in range(4):
            kernel(grid, block, (counters.ptr + 4 * n, values, times))
    for _ in range(3):
        counters.numpy()[:] = 0
        sequence()
        for _ in range(4 * times):
            given = given * np.uint32(5) + np.roll(given, -1, axis=0)
        np.testing.assert_array_equal(values.numpy(), given)


TICKETS = """
.visible .entry tickets(.param .u64 counter, .param .u64 out, .param .u64 flags)
{
    .reg .u64 %counter, %out, %flags, %a;
    .reg .u32 %c, %v, %w, %r;
    .reg .pred %p;
    ld.param.u64 %counter, [counter];
    ld.param.u64 %out, [out];
    ld.param.u64 %flags, [flags];
    mov.u32 %c, %ctaid.x;
    mov.u32 %r, 0;
ROUND:
    atom.global.add.u32 %v, [%counter], 1;
    mad.lo.u32 %w, %c, 4, %r;
    mul.wide.u32 %a, %w, 4;
    add.u64 %a, %out, %a;
    st.global.u32 [%a], %v;
    mov.u32 %w, %nctaid.x;
    add.u32 %r, %r, 1;
    mul.lo.u32 %w, %w, %r;
WAIT:
    ld.volatile.global.u32 %v, [%counter];
    setp.lt.u32 %p, %v, %w;
    @%p bra WAIT;
    setp.lt.u32 %p, %r, 4;
    @%p bra ROUND;
    ret;
}
"""


def test_one_worker_is_deterministic() -> None:
    """Who comes first is the same in every process."""
    found: list[list[int]] = []
    for _ in range(3):
        dev = device()
        counter, out, flags = dev.zeros(1, "u4"), dev.zeros((50, 4), "u4"), dev.zeros(50, "u4")
        dev.load(HEADER + TICKETS)["tickets"](50, 1, (counter, out, flags))
        np.testing.assert_array_equal(np.sort(out.numpy().reshape(-1)), np.arange(200))
        found.append(out.numpy().reshape(-1).tolist())
    assert found[0] == found[1] == found[2]


def test_no_more_than_the_device_has_room_for() -> None:
    """A T4 has 40 multiprocessors, and of this much shared memory each has room for one CTA."""
    dev = device(arch="sm_75", timeout=30)
    kernel, shared = dev.load(chain_text(ONE))["chain"], 40_000
    assert kernel.active_ctas(64, shared) == 1
    assert dev.properties.sm_count == 40
    run_chain(dev, kernel, 40, 64, shared)
    dev.timeout = 0.5
    with pytest.raises(simt.LaunchTimeout) as caught:
        run_chain(dev, kernel, 41, 64, shared)
    assert caught.value.__notes__ == [
        "40 CTAs ran at once, as many as the device has room for; 1 had not begun"
    ]


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("trap", [True, False])
def test_a_fault_of_one_cta_ends_all(workers: int, trap: bool) -> None:
    """Number 17 has a fault when its turn comes; those before it wait for it."""
    if trap:
        fault, error = "trap;", simt.TrapError
    else:
        fault, error = "mov.u64 %a, 16; st.global.u32 [%a], %v;", simt.MemoryFault
    text = chain_text(ALL, after=f"setp.ne.u32 %p, %c, 17; @%p bra FINE; {fault}\nFINE:")
    dev = device(workers=workers, timeout=30)
    kernel = dev.load(text)["chain"]
    with pytest.raises(error) as caught:
        run_chain(dev, kernel, 40, 64)
    assert caught.value.site.cta == (17, 0, 0)
    run_chain(dev, kernel, 10, 64)


@pytest.fixture
def endless() -> str:
    """Of the last CTA nobody gets a number."""
    return chain_text(ALL).replace("@%p bra LAST;", "")


@pytest.mark.parametrize("workers", [1, 2])
def test_a_timeout_ends_all(endless: str, workers: int) -> None:
    dev = device(workers=workers, timeout=0.5)
    module, sound, used = dev.load(endless), dev.load(chain_text(ALL)), dev.memory.used
    for _ in range(2):
        with pytest.raises(simt.LaunchTimeout):
            run_chain(dev, module["chain"], 60, 64)
    dev.timeout = 30
    run_chain(dev, sound["chain"], 60, 64)
    del module, sound
    gc.collect()
    assert dev.memory.used == used


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no interval timers")
@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_ends_all(endless: str, workers: int) -> None:
    dev = device(workers=workers, timeout=30)
    module = dev.load(endless)
    run_chain(dev, dev.load(chain_text(ALL))["chain"], 60, 64)
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        run_chain(dev, module["chain"], 60, 64)
    timer.join()
    run_chain(dev, dev.load(chain_text(ALL))["chain"], 60, 64)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no interval timers")
def test_a_handler_of_signals_is_called_for_a_cta_that_does_not_wait() -> None:
    """All but the last CTA wait, the last one counts for long: the thread's own stack is another one. The
    handler launches a kernel whose CTAs wait for each other."""
    count = "@!%p bra LOOP; COUNT: ld.global.u32 %w, [%flags+4]; add.u32 %k, %k, 1; setp.eq.u32 %q, %w, 0;"
    text = chain_text(
        f".reg .u32 %w, %k; .reg .pred %q; {count} @%q bra COUNT; mov.u32 %v, %w; bra LAST; {ALL}"
    )
    text = text.replace("@%p bra LAST;", "")
    dev = device(timeout=30)
    module, other = dev.load(text), dev.load(chain_text(ALL))["chain"]
    grid = 20
    flags, out = dev.zeros(grid + 1, "u4"), dev.zeros((grid, 32), "u4")
    seen: list[int] = []

    def handler(number: int, frame: object) -> None:
        seen.append(number)
        run_chain(dev, other, 20, 64)
        flags.numpy()[grid] = 1

    old = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.7)
        module["chain"](grid, 32, (flags, out))
    finally:
        signal.signal(signal.SIGALRM, old)
    assert seen == [signal.SIGALRM]
    assert (flags.numpy() != 0).all()


PRINTS = """
.extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 arguments);
.global .align 1 .b8 format[] = {37, 117, 32, 0};
"""
PRINT = """
    .local .align 4 .b8 arguments[4];
    .reg .u64 %f, %g;
    setp.ne.u32 %p, %t, 0; @%p bra PRINTED;
    st.local.u32 [arguments], %c;
    mov.u64 %f, format; cvta.global.u64 %f, %f;
    mov.u64 %g, arguments; cvta.local.u64 %g, %g;
    {
    .param .b64 one; .param .b64 two; .param .b32 result;
    st.param.b64 [one], %f; st.param.b64 [two], %g;
    call (result), vprintf, (one, two);
    }
PRINTED:
"""


@pytest.mark.parametrize("workers", [1, 2])
def test_calls_of_the_system(workers: int) -> None:
    """Python runs on the thread's own stack, in the name of the CTA that calls."""
    dev = device(workers=workers)
    printed: list[str] = []
    dev.printf = printed.append
    run_chain(dev, dev.load(chain_text(ONE, PRINTS, PRINT))["chain"], 30, 64)
    assert "".join(printed).split() == [str(n) for n in range(30)]


def test_an_exception_of_a_call_of_the_system_ends_all() -> None:
    dev = device(timeout=30)
    text = chain_text(
        ONE, PRINTS, PRINT.replace("mov.u64 %f, format; cvta.global.u64 %f, %f;", "mov.u64 %f, 3;")
    )
    with pytest.raises(simt.MemoryFault) as caught:
        run_chain(dev, dev.load(text)["chain"], 30, 64)
    assert caught.value.site.cta == (29, 0, 0)


def test_where_memory_is_short() -> None:
    """CTAs for which there is none do not begin: the launch ends by its timeout, and says so."""
    dev = device(timeout=0.5, memory="16MiB")
    kernel, shared = dev.load(chain_text(ONE))["chain"], 40_000
    run_chain(dev, kernel, 100, 64, shared)
    full = dev.empty(14 << 20, "u1")
    with pytest.raises(simt.LaunchTimeout) as caught:
        run_chain(dev, kernel, 100, 64, shared)
    (note,) = caught.value.__notes__
    assert " had not begun, as there is no memory for more: " in note
    full.free()
    run_chain(dev, kernel, 100, 64, shared)


def test_progress_counts_all_ctas() -> None:
    dev = device()
    kernel = dev.load(chain_text(ONE))["chain"]
    flags, out, seen = dev.zeros(61, "u4"), dev.zeros((60, 64), "u4"), list[int]()
    for _ in range(2):
        flags.numpy()[:] = 0
        kernel.launch(60, 64, (flags, out), progress=seen.append)
        assert seen[-1] == 60


def test_threads_launch_at_the_same_time() -> None:
    def use() -> None:
        try:
            dev = device(workers=2)
            kernel = dev.load(rounds_text())["rounds"]
            for _ in range(3):
                run_rounds(dev, kernel, 40, 64)
        except BaseException as error:  # a failure must reach the test's own thread
            errors.append(error)

    errors: list[BaseException] = []
    threads = [threading.Thread(target=use) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def test_a_forked_process_has_its_own() -> None:
    dev = device(workers=2)
    kernel = dev.load(rounds_text())["rounds"]
    run_rounds(dev, kernel, 20, 64)
    child = os.fork()
    if child == 0:
        try:
            run_rounds(dev, kernel, 30, 64)
            os._exit(7)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
