"""Special registers whose values are the machine's affair: what programs may rely on, on both engines."""

from __future__ import annotations

import time

import numpy as np
import pytest

import simt
from simt.isa.special_registers import SPECIAL_REGISTERS
from tests.unit.kernel_text import thread_number

HEAD = ".version 8.0\n.target sm_75\n.address_size 64\n"


def read(
    device: simt.Device, body: str, threads: int = 1, grid: int = 1
) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """What the threads of a kernel store as words of 64 bits, eight each, at `%out`."""
    text = (
        HEAD
        + f"""
.visible .entry k(.param .u64 to)
{{
    .reg .pred %p; .reg .b32 %t, %n, %x, %y; .reg .b64 %out, %o, %v, %w;
    ld.param.u64 %out, [to];
{thread_number("x", "%t", threads="%y", thread="%x")}
    mul.wide.u32 %o, %t, 64;
    add.u64 %out, %out, %o;
{body}
    exit;
}}
"""
    )
    out = device.zeros(8 * threads * grid, "u8")
    device.load(text)["k"](grid, threads, (out,))
    return out.numpy().copy()


def test_the_global_timer_is_the_time_of_day_in_nanoseconds(device: simt.Device) -> None:
    body = "mov.u64 %v, %globaltimer; st.global.u64 [%out], %v;"
    read(device, body)
    before = time.time_ns()
    (now, *_) = read(device, body).tolist()
    assert before <= now <= time.time_ns()


def test_the_global_timer_runs_as_fast_as_the_host_clock(device: simt.Device) -> None:
    """A kernel waits for 20 ms by its own reckoning: on the host no less has passed, and not much more."""
    body = """
    mov.u64 %v, %globaltimer;
    add.u64 %v, %v, 20000000;
WAIT:
    mov.u64 %w, %globaltimer;
    setp.lt.u64 %p, %w, %v;
    @%p bra WAIT;
"""
    read(device, body)
    before = time.monotonic_ns()
    read(device, body)
    assert 20_000_000 <= time.monotonic_ns() - before < 2_000_000_000


def test_halves_of_the_global_timer(device: simt.Device) -> None:
    """Halves read between two readings of the whole lie between these, unless the upper half changes."""
    body = """
    mov.u64 %v, %globaltimer; st.global.u64 [%out], %v;
    mov.u32 %x, %globaltimer_lo; mov.u32 %y, %globaltimer_hi;
    mov.b64 %v, {%x, %y}; st.global.u64 [%out+8], %v;
    mov.u64 %v, %globaltimer; st.global.u64 [%out+16], %v;
"""
    found = [read(device, body)[:3].tolist() for _ in range(3)]
    assert any(first <= middle <= last for first, middle, last in found), found


def test_halves_of_the_clock(device: simt.Device) -> None:
    body = """
    mov.u64 %v, %clock64; st.global.u64 [%out], %v;
    mov.u32 %x, %clock; mov.u32 %y, %clock_hi;
    mov.b64 %v, {%x, %y}; st.global.u64 [%out+8], %v;
    mov.u64 %v, %clock64; st.global.u64 [%out+16], %v;
"""
    found = [read(device, body)[:3].tolist() for _ in range(3)]
    assert any(first < middle < last for first, middle, last in found), found


def test_clocks_go_on_in_every_iteration(device: simt.Device) -> None:
    """A reading is no value that could be taken out of a loop."""
    body = """
    mov.u32 %n, 0;
NEXT:
    mov.u64 %v, %CLOCK;
    setp.eq.u32 %p, %n, 0;
    @%p mov.u64 %w, %v;
    add.u32 %n, %n, 1;
    setp.lt.u32 %p, %n, 100;
    @%p bra NEXT;
    sub.u64 %v, %v, %w;
    st.global.u64 [%out], %v;
"""
    for clock in ("clock64", "globaltimer"):
        assert read(device, body.replace("CLOCK", clock))[0] > 0, clock


@pytest.mark.parametrize("name", [n for n in SPECIAL_REGISTERS if n.startswith(("%pm", "%envreg"))])
def test_counters_of_profilers_and_values_of_drivers_are_zero(name: str) -> None:
    """There is no profiler, and no driver that would set them."""
    device = simt.Device("sm_90", engine="interpreter", memory="16MiB")
    wide = SPECIAL_REGISTERS[name].type.bits == 64
    body = f"mov.u64 %v, {name};" if wide else f"mov.u32 %x, {name}; cvt.u64.u32 %v, %x;"
    assert read(device, f"{body} sub.u64 %v, %v, 1; st.global.u64 [%out], %v;")[0] == 2**64 - 1


def test_all_counters_are_zero_in_compiled_code() -> None:
    names = [n for n in SPECIAL_REGISTERS if n.startswith(("%pm", "%envreg"))]
    reads = [
        f"mov.u64 %v, {n}; or.b64 %w, %w, %v;"
        if SPECIAL_REGISTERS[n].type.bits == 64
        else f"mov.u32 %x, {n}; cvt.u64.u32 %v, %x; or.b64 %w, %w, %v;"
        for n in names
    ]
    device = simt.Device("sm_90", engine="jit", memory="16MiB")
    assert len(names) == 48
    assert read(device, "mov.u64 %w, 5;" + "\n".join(reads) + "st.global.u64 [%out], %w;")[0] == 5


def test_masks_of_lanes(device: simt.Device) -> None:
    names = ("eq", "le", "lt", "ge", "gt")
    body = "".join(
        f"mov.u32 %x, %lanemask_{r}; st.global.u32 [%out+{8 * i}], %x;" for i, r in enumerate(names)
    )
    found = read(device, body, threads=40).reshape(40, 8)
    lanes = range(32)
    tests = (int.__eq__, int.__le__, int.__lt__, int.__ge__, int.__gt__)
    for thread in range(40):
        expected = [sum(1 << i for i in lanes if test(i, thread % 32)) for test in tests]
        assert found[thread, :5].tolist() == expected


def test_multiprocessors(device: simt.Device) -> None:
    """Every number of one is below their count, which is the device's; all threads of a CTA see one."""
    body = """
    mov.u32 %x, %smid; st.global.u32 [%out], %x;
    mov.u32 %x, %nsmid; st.global.u32 [%out+8], %x;
"""
    found = read(device, body, threads=64, grid=50).reshape(50, 64, 8)
    assert (found[:, :, 1] == device.properties.sm_count).all()
    assert (found[:, :, 0] < device.properties.sm_count).all()
    assert (found[:, :, 0] == found[:, :1, 0]).all()
