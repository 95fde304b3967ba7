"""`%clock` counts the instructions that a warp executes, the same on both engines."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import simt
from simt.analysis.shape import BlockShape
from simt.driver.source import compile_ptx
from simt.engine.abi import WorkerSlot
from simt.engine.batch import Batch
from simt.engine.llvm_kernel import emit
from simt.engine.numpy_machine import NumpyMachine
from simt.machine.device import DEVICES
from tests.conftest import shared_device
from tests.unit.kernel_text import thread_number

HEAD = """.version 8.0
.target sm_75
.address_size 64
.shared .align 4 .b32 flag;
.func (.reg .b32 %r) twice(.reg .b32 %a)
{
    add.u32 %r, %a, %a;
    ret;
}
.func (.reg .b64 %r) now(.reg .b32 %a)
{
    add.u32 %a, %a, 1;
    mov.u64 %r, %clock64;
    ret;
}
"""


def clocks(device: simt.Device, body: str, threads: int = 1, grid: int = 1) -> NDArray[np.uint64]:
    """The clock before and after some code, in every thread: (threads, 2). The code may use `%t`, the
    thread's number, and the addresses `%zeros` of 4 KiB that read as zero, and `%numbers` of words 0, 1, 2,
    and so on."""
    text = f"""{HEAD}
.visible .entry k(.param .u64 out, .param .u64 numbers, .param .u64 zeros)
{{
    .reg .pred %p, %q; .reg .b32 %t, %n, %x, %y; .reg .b64 %a, %b, %to, %o, %zeros, %numbers, %before, %after;
    .reg .f32 %f;
    ld.param.u64 %to, [out];
    ld.param.u64 %zeros, [zeros];
    ld.param.u64 %numbers, [numbers];
{thread_number("x", "%x", threads="%y", thread="%t")}
    mad.wide.u32 %to, %x, 16, %to;
    setp.ne.u32 %p, %t, %t;
    mov.u64 %before, %clock64;
{body}
    mov.u64 %after, %clock64;
    st.global.u64 [%to], %before;
    st.global.u64 [%to+8], %after;
    exit;
}}
"""
    out = device.zeros(2 * threads * grid, "u8")
    numbers, zeros = device.array(np.arange(1024, dtype="u4")), device.zeros(1024, "u4")
    device.load(text)["k"](grid, threads, (out, numbers, zeros))
    return out.numpy().copy().reshape(-1, 2)


def taken(device: simt.Device, body: str, threads: int = 1, grid: int = 1) -> list[int]:
    """Instructions from one reading to the other, by thread; the second reading is one of them."""
    found = clocks(device, body, threads, grid)
    return [int(x) for x in found[:, 1] - found[:, 0]]


STRAIGHT = {
    "nothing": ("", 0),
    "arithmetic": ("add.u32 %x, %t, 1; mul.lo.u32 %x, %x, %x;", 2),
    "a long instruction": ("cvt.rn.f32.u32 %f, %t; div.rn.f32 %f, %f, %f; sin.approx.f32 %f, %f;", 3),
    "what nobody reads": ("mov.u32 %x, 5; mov.u32 %x, 6;", 2),
    "a guard that holds nowhere": ("@%p add.u32 %x, %t, 1; @!%p add.u32 %y, %t, 1;", 2),
    "memory": ("ld.global.u32 %x, [%zeros]; st.shared.u32 [flag], %x; atom.shared.add.u32 %x, [flag], 1;", 3),
    "lanes": ("vote.sync.ballot.b32 %x, %q, 1; shfl.sync.idx.b32 %x, %t, 0, 31, 1;", 2),
    "a branch nowhere taken": ("@%p bra ON; ON:", 1),
    "a jump": ("add.u32 %x, %t, 1; bra ON; ON: add.u32 %x, %x, 1;", 2),
    "a guarded exit": ("@%p exit;", 0),
    "a call": ("call (%x), twice, (%t);", 2),
    "a guarded call": ("@%p call (%x), twice, (%t);", 0),
    "a barrier": ("bar.sync 0;", 1),
}
"""Code, and the instructions that count in it."""


@pytest.mark.parametrize("name", STRAIGHT)
@pytest.mark.parametrize("threads", [1, 70])
def test_readings_are_as_far_apart_as_they_stand(device: simt.Device, name: str, threads: int) -> None:
    body, count = STRAIGHT[name]
    body = body.replace("0, 31, 1;", "0, 31, -1;").replace("%q, 1;", "%q, -1;") if threads > 1 else body
    threads = 64 if "sync.idx" in body and threads > 1 else threads
    assert taken(device, body, threads) == [count + 1] * threads


LOOP = """
    ld.global.u32 %n, [%numbers+{at}];
    mov.u32 %x, 0;
    bra TEST;
AGAIN:
    add.u32 %x, %x, 3;
    sub.u32 %n, %n, 1;
TEST:
    setp.ne.u32 %q, %n, 0;
    @%q bra AGAIN;
    st.global.u32 [%zeros], %x;
    st.global.u32 [%zeros], 0;
"""


@pytest.mark.parametrize("turns", [0, 1, 10, 1000])
def test_a_loop_takes_as_long_as_its_turns(device: simt.Device, turns: int) -> None:
    """Though LLVM makes a product of it."""
    assert taken(device, LOOP.format(at=4 * turns)) == [2 + 4 * turns + 2 + 2 + 1]


def test_the_way_of_a_warp_has_both_sides_of_a_branch(device: simt.Device) -> None:
    body = """
    setp.lt.u32 %q, %t, 40;
    @%q bra SMALL;
    add.u32 %x, %t, 1;
    mov.u64 %b, %clock64;
    bra ON;
SMALL:
    mul.lo.u32 %x, %t, 3;
    mul.lo.u32 %x, %x, 3;
    mul.lo.u32 %x, %x, 3;
ON:
"""
    assert taken(device, body, 96) == [2 + 3 + 1] * 32 + [2 + 2 + 3 + 1] * 32 + [2 + 2 + 1] * 32


GATHERS = """
    and.b32 %n, %t, 31;
    mov.u32 %y, 0;
AGAIN:
    mul.lo.u32 %x, %n, %n;
    mul.wide.u32 %a, %x, 4;
    add.u64 %a, %numbers, %a;
    ld.global.u32 %x, [%a];
    add.u32 %y, %y, %x;
    sub.u32 %n, %n, 1;
    setp.ge.s32 %q, %n, 0;
    @%q bra AGAIN;
    mul.wide.u32 %a, %t, 4;
    add.u64 %a, %zeros, %a;
    st.global.u32 [%a], %y;
"""


def test_lanes_that_leave_a_loop_by_degrees(device: simt.Device) -> None:
    """The loop takes as many turns as the last lane's, also where other kernels would send few lanes through
    it one by one."""
    assert taken(device, GATHERS, 96) == [2 + 32 * 8 + 3 + 1] * 96


APART = """
    shr.u32 %n, %t, 5;
    mov.u32 %y, %n;
AGAIN:
    add.u32 %x, %x, 1;
    bar.sync 0;
    sub.u32 %n, %n, 1;
    setp.ge.s32 %p, %n, 0;
    @%p bra AGAIN;
REST:
    setp.ge.u32 %p, %y, 3;
    @%p bra OUT;
    add.u32 %y, %y, 1;
    bar.sync 0;
    bra REST;
OUT:
"""
IN_STEP = (
    3
    * """
    bar.sync 0;
    st.shared.u32 [flag], %t;
    bar.sync 0;
    setp.eq.u32 %p, %t, 5;
    @%p add.u32 %x, %x, 1;
"""
)


def test_a_warp_that_waits_at_a_barrier_executes_nothing(device: simt.Device) -> None:
    assert taken(device, IN_STEP, 128, grid=3) == [3 * 5 + 1] * 3 * 128


def test_warps_that_wait_in_different_loops(device: simt.Device) -> None:
    """Each of four warps comes to four barriers: warp w to w + 1 of them in the first loop."""
    each = [2 + (w + 1) * 5 + (3 - w) * 4 + 2 + 1 for w in range(4)]
    assert taken(device, APART, 128, grid=3) == [each[t // 32] for t in range(128)] * 3


def test_lanes_of_a_warp_at_different_barriers(device: simt.Device) -> None:
    """A third of each warp's lanes waits twice; those that are done first go on alone."""
    body = """
    rem.u32 %n, %t, 3;
    setp.eq.u32 %q, %n, 0;
    @%q bra FEW;
    bar.red.popc.u32 %x, 1, 64, %q;
    add.u32 %x, %x, 1;
    bra ON;
FEW:
    bar.red.popc.u32 %x, 2, 32, %q;
    bar.red.popc.u32 %x, 2, 32, %q;
ON:
    add.u32 %x, %x, 1;
"""
    others = 3 + 2 + 1 + 1 + 1 + 1  # both come to a barrier, the few to their second one
    few = others + 2 + 1 + 1  # when the others have stored what they read
    assert taken(device, body, 96) == [few if t % 3 == 0 else others for t in range(96)]


def test_a_warp_that_waits_by_the_clock(device: simt.Device) -> None:
    body = """
WAIT:
    mov.u64 %a, %clock64;
    sub.u64 %b, %a, %before;
    setp.lt.u64 %q, %b, 20000;
    @%q bra WAIT;
"""
    assert taken(device, body, 64) == [20005] * 64


def test_a_warp_that_waits_for_another(device: simt.Device) -> None:
    """It looks at its clock and does not give up. The other warp's clock goes on while it works."""
    body = """
    setp.lt.u32 %q, %t, 32;
    @!%q bra WORK;
WAIT:
    ld.volatile.shared.u32 %x, [flag];
    mov.u64 %a, %clock64;
    setp.gt.u64 %p, %a, 100000000;
    @%p bra OUT;
    setp.eq.u32 %p, %x, 0;
    @%p bra WAIT;
    bra OUT;
WORK:
    mov.u32 %n, 200;
MORE:
    sub.u32 %n, %n, 1;
    setp.ne.u32 %p, %n, 0;
    @%p bra MORE;
    st.volatile.shared.u32 [flag], 1;
OUT:
"""
    found = taken(device, body, 64)
    assert found[32:] == [2 + 1 + 3 * 200 + 1 + 1] * 32
    assert all((n - 3) % 6 == 0 and n > 6 for n in found[:32])


def test_functions_read_the_clock_of_their_caller(device: simt.Device) -> None:
    """Directly and through a register, from which half of the lanes call another function."""
    body = """
    call (%a), now, (%t);
    sub.u64 %before, %a, %before;
    mov.u64 %b, %clock64;
    sub.u64 %b, %b, %a;
    mad.lo.u64 %before, %b, 1000, %before;
    mov.u64 %after, %before;
    bra.uni DONE;
"""
    ending = """
DONE:
    st.global.u64 [%to], 0;
    st.global.u64 [%to+8], %after;
    exit;
"""
    assert taken(device, body + ending, 40) == [3 + 2 * 1000] * 40


def test_a_clock_begins_anew_in_every_warp(device: simt.Device) -> None:
    found = clocks(device, "add.u32 %x, %t, 1;", 70, grid=5)
    assert found.tolist() == [[10, 12]] * 350


BOTH_HALVES = "mov.u32 %x, %clock; mov.u32 %y, %clock_hi; mov.b64 %before, {%x, %y};"


def test_the_upper_half_in_the_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    def begin(machine: NumpyMachine, batch: Batch) -> None:
        usual(machine, batch)
        machine.clocks += np.uint64(5 << 32)

    usual = NumpyMachine.begin
    monkeypatch.setattr(NumpyMachine, "begin", begin)
    assert clocks(shared_device("interpreter"), BOTH_HALVES).tolist() == [[(5 << 32) + 11, (5 << 32) + 14]]


def test_the_upper_half_in_compiled_code() -> None:
    """After a million turns of a long loop."""
    adding = "add.u32 %x, %x, 1;" * 4997
    body = f"mov.u32 %n, 1000000; AGAIN: {adding} sub.u32 %n, %n, 1; setp.ne.u32 %q, %n, 0; @%q bra AGAIN;"
    found = clocks(shared_device("jit"), body + BOTH_HALVES)
    assert found.tolist() == [[10 + 1 + 5_000_000_000 + 1, 10 + 1 + 5_000_000_000 + 4]]


def test_only_kernels_that_read_a_clock_have_code_for_it() -> None:
    place = f"ptr %worker, i64 {WorkerSlot.CLOCK}"
    for instruction, there in (("add.u32 %x, %t, %t;", False), ("mov.u32 %x, %clock;", True)):
        text = f""".version 8.0
.target sm_75
.address_size 64
.entry k() {{ .reg .b32 %t, %x; mov.u32 %t, %tid.x; bar.sync 0; {instruction} exit; }}
"""
        program = compile_ptx(text, "<ptx>", DEVICES[90])[0]
        code, *_ = emit(program, program.functions["k"], BlockShape(64, 1, 1), frozenset(), "nounwind")
        assert (place in code) == there, instruction


@pytest.mark.usefixtures("all_large")
def test_large_kernels_count_alike() -> None:
    """Code that is put together of functions, one for each kind of instruction."""
    device = simt.Device("sm_90", engine="jit", memory="64MiB")
    for name, (body, count) in STRAIGHT.items():
        assert taken(device, body) == [count + 1], name
    assert taken(device, GATHERS, 96) == [2 + 32 * 8 + 3 + 1] * 96
    assert taken(device, APART, 128) == taken(shared_device("interpreter"), APART, 128)
    assert taken(device, IN_STEP, 128) == [3 * 5 + 1] * 128
