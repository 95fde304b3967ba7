"""The interpreter's own parts: batches, fairness, memory helpers, atomics in order."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

import simt
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
