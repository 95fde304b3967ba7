"""Captured sequences of launches."""

from __future__ import annotations

import gc
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import pytest

import simt
from tests.unit.kernel_text import FILLS_SHARED

PTX = """
.version 7.0
.target sm_50
.address_size 64
.visible .entry add(.param .u64 x, .param .u32 n)   // x[0] += n, by the first thread
{
    .reg .b64 %rd<2>; .reg .b32 %r<4>; .reg .pred %p;
    ld.param.u64 %rd1, [x];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, %ctaid.x;
    or.b32 %r2, %r2, %r3;
    setp.ne.u32 %p, %r2, 0;
    @%p ret;
    ld.global.u32 %r2, [%rd1];
    add.u32 %r2, %r2, %r1;
    st.global.u32 [%rd1], %r2;
    ret;
}
.visible .entry double(.param .u64 x)   // x[0] *= 2
{
    .reg .b64 %rd<2>; .reg .b32 %r<3>; .reg .pred %p;
    ld.param.u64 %rd1, [x];
    mov.u32 %r2, %tid.x;
    setp.ne.u32 %p, %r2, 0;
    @%p ret;
    ld.global.u32 %r1, [%rd1];
    shl.b32 %r1, %r1, 1;
    st.global.u32 [%rd1], %r1;
    ret;
}
.visible .entry grid(.param .u64 x, .param .u32 i)   // x[i] = number of the launch
{
    .reg .b64 %rd<3>; .reg .b32 %r<2>; .reg .b64 %id;
    ld.param.u64 %rd1, [x];
    ld.param.u32 %r1, [i];
    mad.wide.u32 %rd2, %r1, 8, %rd1;
    mov.u64 %id, %gridid;
    st.global.u64 [%rd2], %id;
    ret;
}
.visible .entry fill(.param .u64 x, .param .u32 n)   // every element, in many CTAs
{
    .reg .b64 %rd<3>; .reg .b32 %r<5>;
    ld.param.u64 %rd1, [x];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.u32 %r2, %r2, %r3, %r4;
    mad.wide.u32 %rd2, %r2, 4, %rd1;
    st.global.u32 [%rd2], %r1;
    ret;
}
.visible .entry spin() { L: bra L; }
"""
PTX += FILLS_SHARED


def device(engine: str = "jit", **options: Any) -> simt.Device:
    return simt.Device("sm_90", engine=engine, **{"memory": "64MiB", "timeout": 60, "workers": 1, **options})


@pytest.mark.parametrize("workers", [1, 2])
def test_a_sequence_does_what_its_launches_do(engine: str, workers: int) -> None:
    dev = device(engine, workers=workers)
    module, x = dev.load(PTX), dev.zeros(4, "u4")
    add, double = module["add"], module["double"]
    with dev.capture() as sequence:
        add(2, 32, (x, 3))
        double(1, (32,), (x,))
        add((1,), 64, (x, 1))
    assert x.numpy()[0] == 0  # nothing ran
    assert len(sequence) == 3
    expected = 0
    for _ in range(5):
        sequence()
        expected = (expected + 3) * 2 + 1
        assert x.numpy()[0] == expected
    x.numpy()[0] = 10  # each run works on what the arrays hold then
    sequence.launch(dev.stream())
    assert x.numpy()[0] == 27
    add(1, 32, (x, 1))  # and launches outside of it go on
    assert x.numpy()[0] == 28


def test_long_and_short_launches_in_one_sequence(engine: str) -> None:
    """The JIT runs short ones together, and asks other threads for help with long ones."""
    dev = device(engine, workers=3)
    n = 1 << 18 if engine == "jit" else 1 << 12
    module, x, y = dev.load(PTX), dev.zeros(n, "u4"), dev.zeros(4, "u4")
    with dev.capture() as sequence:
        for i in range(4):
            module["fill"](n // 64, 64, (x, i))
            module["add"](1, 32, (y, 1))
            module["add"](1, 32, (y, 1))
    for turn in range(1, 4):
        x.numpy()[:] = 9
        sequence()
        assert (x.numpy() == 3).all()
        assert y.numpy()[0] == 8 * turn


def test_an_empty_sequence(engine: str) -> None:
    dev = device(engine)
    with dev.capture() as sequence:
        pass
    sequence()
    assert len(sequence) == 0


def test_every_launch_of_every_run_has_its_number(engine: str) -> None:
    dev = device(engine)
    module, x = dev.load(PTX), dev.zeros(5, "u8")
    with dev.capture() as sequence:
        for i in range(5):
            module["grid"](1, 1, (x, i))
    found: list[int] = []
    for _ in range(3):
        sequence()
        found += x.numpy().tolist()
    assert found == list(range(found[0], found[0] + 15))


def test_shared_memory_of_each_launch_is_zero_at_first(engine: str) -> None:
    dev = device(engine)
    module, x, y = dev.load(PTX), dev.zeros(64, "u4"), dev.zeros(64, "u4")
    with dev.capture() as sequence:
        module["shared"](1, 64, (x,))
        module["shared"](1, 64, (y,))
    for _ in range(2):
        x.numpy()[:], y.numpy()[:] = 9, 9
        sequence()
        assert not x.numpy().any()
        assert not y.numpy().any()


def test_arrays_made_after_the_capture_may_be_reached(engine: str) -> None:
    """By addresses that kernels find in memory: all of the device's memory may be accessed."""
    dev = device(engine)
    module, x = dev.load(PTX), dev.zeros(4, "u4")
    with dev.capture() as sequence:
        module["add"](1, 32, (x.ptr + (1 << 20), 5))
    with pytest.raises(simt.MemoryFault):
        sequence()
    rest = dev.zeros(1 << 20, "u4")
    sequence()
    assert rest.numpy().sum() == 5


def test_a_fault_names_kernel_thread_and_launch_and_ends_the_run(engine: str) -> None:
    dev = device(engine)
    module, x = dev.load(PTX), dev.zeros(4, "u4")
    with dev.capture() as sequence:
        module["add"](1, 32, (x, 1))
        module["add"](1, 32, (x, 1))
        module["double"](2, 32, (0x1000,))
        module["add"](1, 32, (x, 1))
    for turn in (1, 2):
        with pytest.raises(simt.MemoryFault) as found:
            sequence()
        site = found.value.site
        assert (site.kernel, site.cta, site.thread) == ("double", (0, 0, 0), (0, 0, 0))
        assert PTX.splitlines()[(site.line or 0) - 1].strip() == "ld.global.u32 %r1, [%rd1];"
        assert found.value.__notes__ == ["launch 2 of a captured sequence of 4, counted from 0"]
        assert x.numpy()[0] == 2 * turn
    module["add"](1, 32, (x, 1))
    assert x.numpy()[0] == 5


def test_an_endless_launch_times_out(engine: str) -> None:
    dev = device(engine)
    module, x = dev.load(PTX), dev.zeros(4, "u4")
    with dev.capture() as sequence:
        module["add"](1, 32, (x, 1))
        module["spin"](2, 32)
        module["add"](1, 32, (x, 1))
    for turn in (1, 2):
        with pytest.raises(simt.LaunchTimeout) as found:
            sequence(timeout=0.2)
        assert found.value.site.kernel == "spin"
        assert found.value.__notes__ == ["launch 1 of a captured sequence of 3, counted from 0"]
        assert x.numpy()[0] == turn


def test_the_timeout_is_for_each_launch() -> None:
    dev = device(timeout=0.3)
    module, x = dev.load(PTX), dev.zeros(4, "u4")
    with dev.capture() as sequence:
        for _ in range(20000):
            module["add"](1, 32, (x, 1))
    start = time.monotonic()
    while time.monotonic() - start < 0.6:
        sequence()
    assert x.numpy()[0] % 20000 == 0


INTERRUPTED = """
import signal, sys, simt
signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs inherit that it is ignored
device = simt.Device("sm_90", engine=sys.argv[2], memory="16MiB", workers=1)
module = device.load(sys.argv[1])
x = device.zeros(4, "u4")
with device.capture() as endless:
    module["add"](1, 32, (x, 1))
    module["spin"](2, 32)
with device.capture() as short:
    module["add"](1, 32, (x, 1))
short()
print("ready", flush=True)
try:
    while True:
        (endless if sys.argv[3] == "endless" else short)()
except KeyboardInterrupt:
    before = x.numpy()[0]
short()
print(x.numpy()[0] - before, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent another way there")
@pytest.mark.parametrize("which", ["endless", "short"])
def test_ctrl_c(engine: str, which: str) -> None:
    command = [sys.executable, "-c", INTERRUPTED, PTX, engine, which]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        try:
            assert child.stdout.readline() == "ready\n"
            time.sleep(0.3)
            child.send_signal(signal.SIGINT)
            assert child.communicate(timeout=30)[0] == "1\n"
        finally:
            child.kill()
    assert child.returncode == 0


def test_arrays_live_as_long_as_the_sequence(engine: str) -> None:
    dev = device(engine)
    module, x = dev.load(PTX), dev.zeros(4, "u4")
    view = x.numpy()
    with dev.capture() as sequence:
        module["add"](1, 32, (dev.zeros(1 << 16, "u4"), 1))
        module["add"](1, 32, (x, 1))
    del x
    gc.collect()
    assert dev.memory.used >= 1 << 18
    sequence()
    assert view[0] == 1
    del sequence, view
    gc.collect()
    assert dev.memory.used < 1 << 18


def test_a_freed_array_is_never_touched(engine: str) -> None:
    dev = device(engine)
    module, x, y = dev.load(PTX), dev.zeros(4, "u4"), dev.zeros(4, "u4")
    with dev.capture() as sequence:
        module["add"](1, 32, (x, 1))
        module["add"](1, 32, (y, 1))
    sequence()
    y.free()
    text = r"^launch 1 of the sequence, kernel add: the array for parameter 0 was freed$"
    with pytest.raises(simt.LaunchError, match=text):
        sequence()
    assert x.numpy()[0] == 1
    with pytest.raises(simt.LaunchError, match="the array was freed"), dev.capture():
        module["add"](1, 32, (y, 1))


def test_launches_are_checked_when_they_are_captured(engine: str) -> None:
    dev, other = device(engine), device(engine)
    module, x = dev.load(PTX), other.zeros(4, "u4")
    with dev.capture() as sequence:
        with pytest.raises(simt.LaunchError, match=r"^kernel add: parameter 0 x .* lies on another device"):
            module["add"](1, 32, (x, 1))
        with pytest.raises(simt.LaunchError, match=r"^kernel add: the kernel takes 2 arguments"):
            module["add"](1, 32, ())
        with pytest.raises(simt.LaunchError, match=r"^kernel spin: block .* has 2048 threads"):
            module["spin"](1, (1024, 2))
        with pytest.raises(simt.LaunchError, match=r"^kernel spin: timeout and progress cannot be captured$"):
            module["spin"].launch(1, 1, timeout=5)
        with pytest.raises(simt.LaunchError, match=r"^kernel spin: the stream belongs to another device$"):
            module["spin"](1, 1, stream=other.stream())
    assert len(sequence) == 0
    with pytest.raises(simt.LaunchError, match=r"^the stream belongs to another device$"):
        sequence(other.stream())
    with pytest.raises(simt.SimtError, match="timeout: expected a positive number"):
        sequence(timeout=-1)


def test_what_cannot_be_captured_says_so(engine: str) -> None:
    dev = device(engine)
    x = dev.zeros(4, "u4")
    with dev.capture() as first:
        dev.load(PTX)["add"](1, 32, (x, 1))
    with dev.capture():
        for what, use in (
            ("copy_from", lambda: x.copy_from(1)),
            ("copy", lambda: x.copy()),
            ("synchronize", dev.synchronize),
            ("capture", lambda: dev.capture().__enter__()),
        ):
            with pytest.raises(simt.SimtError, match=rf"^{what}: not possible while launches are captured"):
                use()
        with pytest.raises(simt.LaunchError, match=r"^a sequence cannot run while launches are captured$"):
            first()
    first()
    assert x.numpy()[0] == 1


def test_a_capture_that_fails_leaves_the_device_usable(engine: str) -> None:
    dev = device(engine)
    module, x = dev.load(PTX), dev.zeros(4, "u4")
    with pytest.raises(ZeroDivisionError), dev.capture() as sequence:
        module["add"](1, 32, (x, 1 // 0))
    with pytest.raises(simt.LaunchError, match=r"^the sequence was not captured to its end$"):
        sequence()
    module["add"](1, 32, (x, 5))
    assert x.numpy()[0] == 5


def test_only_the_thread_that_captures_is_recorded(engine: str) -> None:
    dev = device(engine)
    module, x = dev.load(PTX), dev.zeros(4, "u4")
    thread = threading.Thread(target=lambda: module["add"](1, 32, (x, 100)))
    with dev.capture() as sequence:
        thread.start()
        module["add"](1, 32, (x, 1))
    thread.join()
    assert len(sequence) == 1
    sequence()
    assert x.numpy()[0] == 101


def test_it_may_run_on_other_threads(engine: str) -> None:
    dev = device(engine)
    module, x = dev.load(PTX), dev.zeros(4, "u4")
    with dev.capture() as sequence:
        module["add"](1, 32, (x, 1))
        module["add"](1, 32, (x, 1))

    def use() -> None:
        for _ in range(25):
            sequence()

    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert x.numpy()[0] == 200


LOW = """
.version 4.0
.target sm_30
.address_size 32
.visible .entry add(.param .u32 x, .param .u32 n)
{
    .reg .b32 %r<4>;
    ld.param.u32 %r1, [x];
    ld.param.u32 %r2, [n];
    ld.global.u32 %r3, [%r1];
    add.u32 %r3, %r3, %r2;
    st.global.u32 [%r1], %r3;
    ret;
}
"""
PRINTING = """
.version 7.0
.target sm_50
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 format, .param .b64 args);
.global .align 1 .b8 text[4] = {104, 105, 10, 0};
.visible .entry hello()
{
    .reg .b64 %rd<3>; .reg .b32 %r<2>;
    mov.u64 %rd1, text;
    cvta.global.u64 %rd1, %rd1;
    mov.u64 %rd2, 0;
    { .param .b64 a; .param .b64 b; .param .b32 c;
      st.param.b64 [a], %rd1; st.param.b64 [b], %rd2;
      call.uni (c), vprintf, (a, b); ld.param.b32 %r1, [c]; }
    ret;
}
"""


def test_kernels_that_print_and_kernels_with_32_bit_addresses(engine: str) -> None:
    dev, printed = device(engine), list[str]()
    dev.printf = printed.append
    low, high, hello = dev.load(LOW)["add"], dev.load(PTX)["add"], dev.load(PRINTING)["hello"]
    x = dev.zeros(4, "u4")
    with dev.capture() as sequence:
        high(1, 32, (x, 1))
        low(1, 1, (x, 10))
        high(1, 32, (x, 1))
        hello(1, 2)
        high(1, 32, (x, 1))
    for turn in (1, 2):
        sequence()
        assert x.numpy()[0] == 13 * turn
    assert printed == ["hi\n"] * 4
