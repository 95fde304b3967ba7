"""The interpreter's own parts: batches, fairness, memory helpers, atomics in order."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

import simt
from simt.analysis.program import Call, Op, Terminator
from simt.engine.batch import MAX_LANES, batch_size
from simt.engine.numpy_atomics import ranked, running_sums, turns
from simt.machine.launch import Launch

HEADER = ".version 7.0\n.target sm_75\n.address_size 64\n"


def shaped(block: int, grid: int, shared: int = 0, local: int = 0) -> Launch:
    return cast(
        "Launch",
        SimpleNamespace(block=(block, 1, 1), grid=(grid, 1, 1), shared_bytes=shared, local_bytes=local),
    )


@pytest.mark.parametrize(
    ("launch", "expected"),
    [(shaped(33, 5), 5), (shaped(1024, 10**6), MAX_LANES // 1024), (shaped(1024, 10**6, local=1 << 20), 1)],
)
def test_batches_are_bounded_by_lanes_scratch_and_grid(launch: Launch, expected: int) -> None:
    assert batch_size(launch, recursive=False) == expected


def test_turns_serve_each_location_in_order() -> None:
    index = np.array([5, 3, 5, 5, 3, 9])
    assert [sorted(t.tolist()) for t in turns(*ranked(index))] == [[0, 1, 5], [2, 4], [3]]


def test_running_sums_equal_a_loop() -> None:
    rng = np.random.default_rng(1)
    index = rng.integers(0, 7, 200)
    step = rng.integers(0, 2**32, 200, dtype=np.uint32)
    memory = rng.integers(0, 2**32, 7, dtype=np.uint32)
    old, new = running_sums(index, memory[index], step)
    for i in range(200):
        assert old[i] == memory[index[i]]
        memory[index[i]] = (int(memory[index[i]]) + int(step[i])) % 2**32
        assert new[i] == memory[index[i]]


def run(
    text: str, block: int, *arrays: Any, arch: str = "sm_90", timeout: float = 20, grid: int = 1
) -> list[Any]:
    device = simt.Device(arch, engine="interpreter", memory="64MiB", timeout=timeout)
    held = [device.array(a) for a in arrays]
    device.load(HEADER + text)["k"]((grid,), (block,), tuple(held))
    return [h.numpy().copy() for h in held]


SPIN = """
.visible .entry k(.param .u64 out)
{
    .reg .pred %p, %first; .reg .b32 %t, %v; .reg .b64 %o;
    ld.param.u64 %o, [out];
    mov.u32 %t, %tid.x;
    shr.u32 %t, %t, SHIFT;
    setp.eq.u32 %first, %t, 0;
L:  ld.volatile.global.u32 %v, [%o];
    setp.eq.and.u32 %p, %v, 0, %first;
    @%p bra L;
    st.volatile.global.u32 [%o], 1;
    ret;
}
"""
"""The first threads leave the loop only when another thread has left it and stored 1."""


def test_a_warp_that_spins_lets_other_warps_run_on_every_device() -> None:
    text = SPIN.replace("SHIFT", "5")
    assert run(text, 64, np.zeros(1, "u4"))[0] == 1


def test_lanes_of_one_warp_wait_for_each_other_forever_before_volta() -> None:
    old = SPIN.replace("SHIFT", "0")
    assert run(old, 32, np.zeros(1, "u4"))[0] == 1
    device = simt.Device("sm_35", engine="interpreter", memory="64MiB", timeout=2)
    module = device.load(".version 3.0\n.target sm_30\n.address_size 64\n" + old)
    with pytest.raises(simt.LaunchTimeout):
        module["k"]((1,), (32,), (device.zeros(1, "u4"),))


def test_a_recursive_kernel_faults_only_past_its_stack() -> None:
    text = """
    .func (.param .b32 r) down(.param .b32 n)
    {
        .reg .pred %p; .reg .b32 %n, %v;
        ld.param.u32 %n, [n];
        mov.u32 %v, 0;
        setp.eq.u32 %p, %n, 0;
        @%p bra END;
        sub.u32 %n, %n, 1;
        { .param .b32 a, b; st.param.b32 [a], %n; call (b), down, (a); ld.param.b32 %v, [b]; }
        add.u32 %v, %v, 1;
    END:
        st.param.b32 [r], %v;
        ret;
    }
    .visible .entry k(.param .u64 out)
    {
        .reg .b32 %v; .reg .b64 %o;
        ld.param.u64 %o, [out];
        ld.global.u32 %v, [%o];
        { .param .b32 a, b; st.param.b32 [a], %v; call (b), down, (a); ld.param.b32 %v, [b]; }
        st.global.u32 [%o+4], %v;
        ret;
    }
    """
    assert run(text, 1, np.array([900, 0], "u4"))[0].tolist() == [900, 900]
    with pytest.raises(simt.KernelFault, match="call stack overflow"):
        run(text, 1, np.array([10**6, 0], "u4"))


def test_memory_is_given_back_after_a_fault() -> None:
    device = simt.Device("sm_90", engine="interpreter", memory="64MiB")
    kept = device.array(np.arange(10))
    module = device.load(HEADER + ".visible .entry k() { trap; }")
    for _ in range(3):
        with pytest.raises(simt.TrapError):
            module["k"]((100,), (1024,), ())
    assert (kept.numpy() == np.arange(10)).all()
    assert device.empty(60 << 20, "u1").nbytes == 60 << 20


WILD = """
.visible .entry k(.param .u64 out)
{
    .reg .pred %even; .reg .b32 %t, %v, %s; .reg .b64 %o, %a, %wild; .shared .b8 sh[256];
    ld.param.u64 %o, [out];
    mov.u32 %t, %tid.x;
    and.b32 %v, %t, 1;
    setp.eq.u32 %even, %v, 0;
    mul.wide.u32 %a, %t, STRIDE;
    add.u64 %a, %o, %a;
    mov.u32 %s, sh;
    mad.lo.u32 %s, %t, STRIDE, %s;
    @!%even mov.u64 %a, WHERE;
    @!%even mov.u32 %s, NEAR;
    ACCESS
    ret;
}
"""
"""Odd lanes have a bad address: WHERE, and NEAR in shared memory."""


def wild(where: str, access: str, stride: int) -> str:
    near = str(int(where, 0) % 2**32)
    values = {"STRIDE": str(stride), "NEAR": near, "WHERE": where, "ACCESS": access}
    return re.sub("|".join(values), lambda found: values[found[0]], WILD)


STORE = "@%even st.global.u32 [%a], %v;"


@pytest.mark.parametrize("where", ["0xfffffffd", "0", "1", "252"])
@pytest.mark.parametrize(
    ("access", "expected"),
    [
        ("@%even ld.global.u32 %v, [%a]; @%even add.u32 %v, %v, 5;" + STORE, 5),
        ("@%even atom.global.add.u32 %v, [%a], 6;", 6),
        ("@%even bra GO; ret; GO: red.global.max.u32 [%a], 7;", 7),
        ("@%even st.shared.u32 [%s], %t; @%even ld.shared.u32 %v, [%s];" + STORE, None),
    ],
    ids=["load and store", "guarded atomic", "atomic in a branch", "shared"],
)
def test_bad_addresses_do_no_harm_in_lanes_that_do_not_execute(
    where: str, access: str, expected: int | None
) -> None:
    found = run(wild(where, access, 4), 64, np.zeros(64, "u4"))[0]
    wanted = np.arange(64) if expected is None else expected
    assert found.tolist() == np.where(np.arange(64) % 2 == 0, wanted, 0).tolist()


@pytest.mark.parametrize(
    ("where", "access", "message"),
    [
        ("3", "st.shared.u32 [%s], 1;", "misaligned access: 4 bytes at shared address 0x3"),
        ("256", "ld.shared.u32 %v, [%s];", "illegal access: 4 bytes at shared address 0x100"),
        ("254", "ld.shared.u32 %v, [%s];", "illegal access: 4 bytes at shared address 0xfe"),
        (
            "248",
            "ld.shared.v4.u32 {%v,%t,%v,%t},[%s];",
            "illegal access: 16 bytes at shared address 0xf8",
        ),
        ("8", "st.shared.v2.u64 [%s], {%a, %a};", "misaligned access: 16 bytes at shared address 0x8"),
        ("0xffffffffffffffff", "ld.global.u8 %v, [%a];", "illegal access: 1 bytes at global address 0xffff"),
    ],
)
def test_the_first_lane_with_a_bad_address_is_named(where: str, access: str, message: str) -> None:
    with pytest.raises(simt.MemoryFault, match=message) as caught:
        run(wild(where, access, 0), 64, np.zeros(64, "u4"))
    assert caught.value.site.thread == (1, 0, 0)


class Seen:
    """A watcher that notes lines and how many lanes execute them."""

    def __init__(self) -> None:
        self.lanes: list[tuple[int, int]] = []

    def begins(self, batch: object) -> None: ...
    def enters(self, activation: object, run: object) -> None: ...
    def parts(self, ways: object, activation: object, run: object) -> None: ...
    def changes(self, change: object) -> None: ...

    def executes(
        self, what: Op | Call | Terminator, lanes: np.ndarray[Any, Any], activation: object, run: object
    ) -> None:
        self.lanes.append((what.line, int(lanes.sum())))


def test_a_watcher_sees_every_instruction_with_its_lanes() -> None:
    text = """
    .visible .entry k()
    {
        .reg .pred %p; .reg .b32 %t, %v;
        mov.u32 %t, %tid.x;          // 40 lanes
        setp.lt.u32 %p, %t, 10;      // 40
        @%p add.u32 %v, %t, 1;       // 10
        @%p bra SOME;                // 40
        mul.lo.u32 %v, %t, 3;        // 30
        bar.sync 0;                  // 30
        ret;                         // 30
    SOME:
        bar.sync 0;                  // 10
        ret;                         // 10
    }
    """
    device = simt.Device("sm_90", memory="64MiB")
    seen = Seen()
    device.load(HEADER + text)["k"].watched(seen, 3, 40)
    total: dict[int, int] = {}
    for line, lanes in seen.lanes:
        total[line] = total.get(line, 0) + lanes
    first = HEADER.count("\n") + 5
    wanted = [40, 40, 10, 40, 30, 30, 30, None, 10, 10]
    assert {first + i: 3 * n for i, n in enumerate(wanted) if n} == total
