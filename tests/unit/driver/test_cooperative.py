"""Cooperative launches: what is allowed, and what a kernel sees of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import simt

FILE = Path(__file__).parents[2] / "programs" / "grid_groups.ptx"
WORKSPACE = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry workspace(.param .u64 out)
{
    .reg .u64 %out, %w, %v; .reg .u32 %high, %low, %old;
    ld.param.u64 %out, [out];
    mov.u32 %high, %envreg1;
    mov.u32 %low, %envreg2;
    mov.b64 %w, {%low, %high};
    st.global.u64 [%out], %w;
    atom.global.add.u32 %old, [%w+4], 5;
    cvt.u64.u32 %v, %old;
    st.global.u64 [%out+8], %v;
    ld.global.u32 %low, [%w];
    ld.global.u32 %high, [%w+8];
    mov.b64 %v, {%low, %high};
    st.global.u64 [%out+16], %v;
    ret;
}
"""


def make(engine: str = "jit", arch: str = "sm_90", timeout: float = 30) -> simt.Device:
    return simt.Device(arch, engine=engine, timeout=timeout)


def test_a_kernel_sees_whether_it_may_wait(engine: str) -> None:
    dev = make(engine)
    kernel, out = dev.load(FILE)["valid"], dev.zeros(64, "u4")
    for cooperative in (False, True, False, True):
        kernel.launch(2, 32, (out,), cooperative=cooperative)
        assert (out.numpy() == 1 + cooperative).all()


def test_memory_for_barriers_is_clear_and_not_shared(engine: str) -> None:
    """Its words are those of an H200, after a launch that left something there, too."""
    dev = make(engine)
    kernel = dev.load(WORKSPACE)["workspace"]
    out = dev.zeros(3, "u8")
    for _ in range(3):
        kernel.launch(1, 1, (out,), cooperative=True)
        address, before, others = out.numpy().tolist()
        assert dev.memory.base <= address < dev.memory.limit
        assert address % 8 == 0
        assert before == 0
        assert others == 16 | 1 << 32
        assert not out.ptr <= address < out.ptr + out.nbytes


def test_all_ctas_have_to_fit() -> None:
    dev = make(arch="sm_75")
    kernel, out = dev.load(FILE)["valid"], dev.zeros(161 * 256, "u4")
    assert kernel.active_ctas(256) == 4
    kernel.launch(160, 256, (out,), cooperative=True)
    for _ in range(2):
        with pytest.raises(simt.LaunchError) as caught:
            kernel.launch((161, 1), 256, (out,), cooperative=True)
        assert str(caught.value) == (
            "kernel valid: cooperative launch: grid (161, 1, 1) has 161 CTAs, which are to run at once; "
            "sm_75 has room for 160 of this shape, 4 on each of 40 multiprocessors"
        )
    with pytest.raises(simt.LaunchError, match="room for 40 of this shape, 1 on each"):
        kernel.launch(160, 256, (out,), 40_000, cooperative=True)
    kernel(161, 256, (out,))


def test_old_devices_have_none() -> None:
    dev = simt.Device("sm_35")
    kernel = dev.load(".version 3.1\n.target sm_30\n.address_size 64\n.entry k() { ret; }")["k"]
    with pytest.raises(simt.LaunchError) as caught:
        kernel.launch(1, 1, cooperative=True)
    assert str(caught.value) == (
        "kernel k: cooperative launch: expected a device of compute capability 6.0 or newer, not sm_35"
    )


def test_captured(engine: str) -> None:
    dev = make(engine)
    kernel, n, steps = dev.load(FILE)["relax"], 3000, 3
    values = np.arange(n, dtype="u4")
    first, second = dev.array(values), dev.zeros(n, "u4")
    with dev.capture() as sequence:
        kernel.launch(30, 64, (first, second, n, steps), cooperative=True)
        kernel.launch(20, 64, (second, first, n, steps), cooperative=True)
    for _ in range(2):
        sequence()
        for _ in range(2 * steps):
            values = np.roll(values, -1) + np.uint32(3) * np.roll(values, 1)
        np.testing.assert_array_equal(first.numpy(), values)


def test_after_a_launch_that_was_stopped_between_barriers(engine: str) -> None:
    """Half of the CTAs have come to the barrier then."""
    dev = make(engine, timeout=60)
    kernel, n, steps = dev.load(FILE)["relax"], 3000, 3
    with pytest.raises(simt.MemoryFault):
        kernel.launch(30, 64, (dev.zeros(2000, "u4").ptr, 1 << 60, n, steps), cooperative=True)
    values = np.arange(n, dtype="u4")
    arrays = dev.array(values), dev.zeros(n, "u4")
    kernel.launch(30, 64, (*arrays, n, steps), cooperative=True)
    for _ in range(steps):
        values = np.roll(values, -1) + np.uint32(3) * np.roll(values, 1)
    np.testing.assert_array_equal(arrays[steps % 2].numpy(), values)
