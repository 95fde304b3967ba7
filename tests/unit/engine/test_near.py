"""Words at unknown addresses that lie close together in global memory. Expectations are NumPy's."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.driver.source import compile_ptx
from simt.engine.host import SLOW_GATHERS
from simt.engine.llvm_kernel import emit
from simt.machine.device import DEVICES
from tests.conftest import shared_device

SOURCE = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 places, .param .u64 out)
{{
    .reg .b32 %t, %i, %n; .reg .{t} %v; .reg .b64 %a, %p, %o, %x;
    ld.param.u64 %a, [a]; ld.param.u64 %p, [places]; ld.param.u64 %o, [out];
    mov.u32 %t, %tid.x; mov.u32 %i, %ctaid.x; mov.u32 %n, %ntid.x;
    mad.lo.u32 %i, %i, %n, %t;
    mul.wide.u32 %x, %i, 4;
    add.u64 %p, %p, %x;
    ld.global.s32 %n, [%p];
    mul.wide.s32 %x, %n, {size};
    add.s64 %a, %a, %x;
    ld.global.{t} %v, [%a];
    mul.wide.u32 %x, %i, {size};
    add.u64 %o, %o, %x;
    st.global.{t} [%o], %v;
    ret;
}}
"""
WORDS = SOURCE.format(t="u32", size=4)
ZEN = frozenset({"avx2", "avx512f", "avx512bw", "avx512dq", "avx512vl", "bmi2", SLOW_GATHERS})
LANES = np.arange(32)
ORDERS = {
    "halves": LANES // 2,
    "thirds": LANES // 3,
    "doubles": LANES * 3 // 2,
    "two apart": 2 * LANES,
    "backwards": 15 - LANES // 2,
    "before": np.where(LANES % 5 == 1, -16, LANES),
    "too far before": np.where(LANES % 5 == 2, -17, LANES),
    "behind": np.where(LANES % 5 == 2, 47, LANES),
    "too far behind": np.where(LANES % 5 == 2, 48, LANES),
    "last one far": np.where(LANES == 31, 5000, LANES // 2),
    "one place": LANES * 0,
    "unrelated": LANES * 7919 % 4001,
}


@functools.cache
def text(source: str, features: frozenset[str]) -> str:
    program, _ = compile_ptx(source, "<ptx>", DEVICES[90])
    return emit(program, program.functions["k"], BlockShape(64, 1, 1), features, "nounwind")[0]


def test_where_it_is_looked_for() -> None:
    assert "@simt.near.look" in text(WORDS, ZEN)
    assert "@simt.near.look" not in text(WORDS, ZEN - {SLOW_GATHERS})
    assert "@simt.near.look" not in text(WORDS, ZEN - {"avx512bw"})
    assert "@simt.near.look" not in text(WORDS.replace("ld.global.u32 %v", "ld.volatile.u32 %v"), ZEN)
    assert "@simt.near.look" not in text(SOURCE.format(t="u64", size=8), ZEN)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("start", [100, 4096 - 16])
def test_orders(engine: str, order: str, start: int) -> None:
    device = shared_device(engine)
    a = np.random.default_rng(4).integers(0, 1 << 32, 1 << 14, "u4")
    places = np.concatenate([start + ORDERS[order], start + 33 + ORDERS[order][::-1]]).astype("i4")
    out = device.zeros(64, "u4")
    device.load(WORDS)["k"]((1,), (64,), (device.array(a), device.array(places), out))
    assert out.numpy().tolist() == a[places].tolist()


@pytest.mark.parametrize("threads", [1, 31, 33, 40])
def test_lanes_that_do_not_run(engine: str, threads: int) -> None:
    device = shared_device(engine)
    a = np.random.default_rng(5).integers(0, 1 << 32, 1 << 12, "u4")
    places = (200 + np.arange(threads) // 2).astype("i4")
    out = device.zeros(64, "u4")
    device.load(WORDS)["k"]((1,), (threads,), (device.array(a), device.array(places), out))
    assert out.numpy()[:threads].tolist() == a[places].tolist()
    assert not out.numpy()[threads:].any()


@pytest.mark.parametrize("beyond", [0, 1])
def test_ends_of_memory(engine: str, beyond: int) -> None:
    """Windows that do not fit, and a lane's word behind the last one."""
    device = simt.Device("sm_90", engine=engine, memory="16MiB", workers=1)
    kernel = device.load(WORDS)["k"]
    kernel((1,), (64,), (device.zeros(64, "u4"), device.zeros(64, "i4"), device.zeros(64, "u4")))
    data = device.array(np.arange(64, dtype="u4"))
    limit = device.memory.limit
    places = (-40 + np.arange(64) // 2).astype("i4")
    places[50] = -1 + beyond
    where, out = device.array(places), device.zeros(64, "u4")
    if beyond:
        with pytest.raises(simt.MemoryFault, match=f"0x{limit:x}") as fault:
            kernel((1,), (64,), (limit, where, out))
        assert fault.value.site.thread == (50, 0, 0)
    else:
        kernel((1,), (64,), (data.ptr + 4 * 40, where, out))
        assert out.numpy().tolist() == (40 + places).tolist()


def test_misaligned_lanes(engine: str) -> None:
    device = shared_device(engine)
    there, out = device.zeros(256, "u4"), device.zeros(64, "u4")
    places = device.array((np.arange(64) // 2).astype("i4"))
    with pytest.raises(simt.MemoryFault, match="misaligned"):
        device.load(WORDS)["k"]((1,), (64,), (there.ptr + 2, places, out))
