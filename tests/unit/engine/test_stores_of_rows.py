"""Stores to one place for each row of a CTA (a tile's halo, by the threads of a column): one for each row
that has lanes, the highest one's word. Expectations are NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from tests.conftest import kept_for_each_way

TEXT = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 running, .param .u32 far)
{{
    .reg .u32 %x, %y, %n, %i, %r, %far, %v; .reg .u64 %o, %t, %a; .reg .pred %p;
    ld.param.u64 %o, [out]; ld.param.u64 %t, [running]; ld.param.u32 %far, [far];
    mov.u32 %x, %tid.x; mov.u32 %y, %tid.y; mov.u32 %n, %ntid.x; mad.lo.u32 %i, %y, %n, %x;
    mad.wide.u32 %a, %i, 4, %t;
    ld.global.u32 %r, [%a];
    add.u32 %v, %i, 100;
    mad.lo.u32 %y, %y, %far, %y;
    mad.wide.u32 %a, %y, 8, %o;
    setp.ne.u32 %p, %r, 0;
    {guard} {store}
    ret;
}}
"""
STORES = {
    "word": "st.global.u32 [%a], %v;",
    "two": "st.global.v2.u32 [%a], {%v, %x};",
    "byte": "st.global.u8 [%a+1], %v;",
    "volatile": "st.volatile.global.u32 [%a], %v;",
}
Words = np.ndarray[tuple[int, ...], np.dtype[np.uint32]]


def of_rows(store: str, block: tuple[int, int], running: Words) -> list[int]:
    """Two words for each row."""
    memory = np.zeros((block[1], 2), "u4")
    for thread in np.flatnonzero(running):
        row, column, value = thread // block[0], thread % block[0], thread + 100
        match store:
            case "two":
                memory[row] = value, column
            case "byte":
                memory[row, 0] = value % 256 << 8
            case _:
                memory[row, 0] = value
    return memory.ravel().tolist()


@kept_for_each_way
def device_for(cpu: str) -> simt.Device:
    return simt.Device("sm_90", engine="jit", memory="64MiB", cpu=cpu)


@pytest.fixture(params=["host", "x86-64"])
def device(request: pytest.FixtureRequest) -> simt.Device:
    return device_for(request.param)


@pytest.mark.parametrize("block", [(16, 4), (8, 8), (4, 8), (2, 16)], ids=str)
@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("guard", ["", "@%p"])
def test_rows(device: simt.Device, guard: str, store: str, block: tuple[int, int]) -> None:
    kernel = device.load(TEXT.format(guard=guard, store=STORES[store]))["k"]
    random, threads = np.random.default_rng(1), block[0] * block[1]
    for share in (0.0, 0.1, 0.5, 1.0):
        running = (random.random(threads) < share).astype("u4")
        out = device.zeros(2 * block[1], "u4")
        kernel((1,), block, (out, device.array(running), 0))
        expected = of_rows(store, block, running if guard else np.ones(threads, "u4"))
        assert out.numpy().tolist() == expected, share


def test_only_rows_with_lanes_can_be_at_fault(device: simt.Device) -> None:
    kernel = device.load(TEXT.format(guard="@%p", store=STORES["word"]))["k"]
    out, far = device.zeros(8, "u4"), 1 << 26
    kernel((1,), (16, 2), (out, device.array(np.arange(32, dtype="u4") // 5 % 4 * (np.arange(32) < 16)), far))
    assert out.numpy()[0] == 115
    with pytest.raises(simt.MemoryFault) as found:
        kernel((1,), (16, 2), (out, device.array((np.arange(32) == 19).astype("u4")), far))
    assert found.value.site.thread == (3, 1, 0)
