"""Compare and swap in shared memory where all lanes compare with one number: places are looked at together,
and lanes that find the number have their turns. A model in Python, one thread after the other, tells."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.host import SLOW_GATHERS, named_cpus
from simt.engine.llvm_kernel import emit
from tests.conftest import shared_device

PLACES, ROUNDS, FREE = 128, 6, -1
TEXT = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 cells, .param .u64 numbers, .param .u64 found, .param .u32 bound)
{{
    .reg .u32 %t, %i, %n, %bound, %round; .reg .{type} %v, %was;
    .reg .u64 %cells, %numbers, %found, %d, %e; .reg .{where} %a; .reg .pred %q;
    .shared .align 16 .b8 box[{bytes}];
    ld.param.u64 %cells, [cells]; ld.param.u64 %numbers, [numbers]; ld.param.u64 %found, [found];
    ld.param.u32 %bound, [bound];
    mov.u32 %t, %tid.x;
    mov.u32 %n, %ntid.x;
    mov.u32 %i, %t;
FILL:
    mul.wide.u32 %d, %i, {size}; add.u64 %d, %d, %cells; ld.global.{type} %v, [%d];
    mov.{where} %a, box; {at}; st.shared.{type} [%a], %v;
    add.u32 %i, %i, %n; setp.lt.u32 %q, %i, {places}; @%q bra FILL;
    bar.sync 0;
    mov.u32 %round, 0;
TURN:
    mad.lo.u32 %i, %round, %n, %t;
    mul.wide.u32 %d, %i, {size}; add.u64 %d, %d, %numbers; ld.global.{type} %v, [%d];
    cvt.u32.{unsigned} %i, %v; and.b32 %i, %i, {mask};
    mov.{where} %a, box; {at};
    setp.le.u32 %q, %i, %bound;
    mov.{type} %was, 5;
    @!%q bra REST;
    atom.shared.cas.{type} %was, [%a], {free}, %v;
REST:
    mad.lo.u32 %i, %round, %n, %t;
    mul.wide.u32 %d, %i, {size}; add.u64 %d, %d, %found; st.global.{type} [%d], %was;
    bar.sync 0; add.u32 %round, %round, 1; setp.lt.u32 %q, %round, {rounds}; @%q bra TURN;
    bar.sync 0;
    mov.u32 %i, %t;
BACK:
    mul.wide.u32 %d, %i, {size}; add.u64 %d, %d, %cells;
    mov.{where} %a, box; {at}; ld.shared.{type} %v, [%a]; st.global.{type} [%d], %v;
    add.u32 %i, %i, %n; setp.lt.u32 %q, %i, {places}; @%q bra BACK;
    ret;
}}
"""
AT = {
    "u32": "mad.lo.u32 %a, %i, {size}, %a",
    "u64": "mul.wide.u32 %e, %i, {size}; add.u64 %a, %a, %e",
}


def text(bits: int, where: str, mask: int = PLACES - 1) -> str:
    size = bits // 8
    return TEXT.format(
        type=f"b{bits}", unsigned=f"u{bits}", size=size, bytes=size * PLACES, places=PLACES, mask=mask,
        free=FREE, where=where, at=AT[where].format(size=size), rounds=ROUNDS,
    )  # fmt: skip


def numbers(threads: int, bits: int) -> np.ndarray:
    """Keys of which many are alike, with the number for which all look among them."""
    rng = np.random.default_rng(bits)
    keys = rng.integers(0, 3 * PLACES, (ROUNDS, threads))
    return np.where(rng.random(keys.shape) < 0.1, FREE, keys).astype(f"i{bits // 8}")


@pytest.mark.parametrize(("bits", "where"), [(32, "u32"), (32, "u64"), (64, "u32")])
@pytest.mark.parametrize("bound", [PLACES, PLACES // 3])
def test_what_lanes_find(bits: int, where: str, bound: int) -> None:
    threads, kind = 83, f"i{bits // 8}"
    keys, model = numbers(threads, bits), [FREE if i % 4 else 1000 + i for i in range(PLACES)]
    device = simt.Device("sm_90", workers=1)
    cells, found = device.array(np.array(model, kind)), device.zeros(keys.shape, kind)
    device.load(text(bits, where))["k"]((1,), (threads,), (cells, device.array(keys), found, bound))
    expected = np.full_like(keys, 5)
    for turn, lane in np.ndindex(keys.shape):
        key = int(keys[turn, lane])
        place = key & PLACES - 1
        if place <= bound:
            expected[turn, lane] = model[place]
            model[place] = key if model[place] == FREE else model[place]
    np.testing.assert_array_equal(found.numpy(), expected)
    assert cells.numpy().tolist() == model


def test_a_place_beyond_the_end() -> None:
    device = simt.Device("sm_90", workers=1)
    keys = np.zeros((ROUNDS, 48), "i4")
    keys[2, 37:] = 1 << 20
    kernel = device.load(text(32, "u32", 0xFFFFFF))["k"]
    operands = device.zeros(PLACES, "i4"), device.array(keys), device.zeros(keys.shape, "i4"), 0xFFFFFF
    with pytest.raises(simt.MemoryFault) as error:
        kernel((1,), (48,), operands)
    assert error.value.site.thread == (37, 0, 0)


@pytest.mark.parametrize("slow", [False, True])
def test_only_where_gathers_are_fast(slow: bool) -> None:
    features = named_cpus()["x86-64-v4"].features - {SLOW_GATHERS} | ({SLOW_GATHERS} if slow else set[str]())

    def gathers(compared: str) -> int:
        of_one = text(32, "u32").replace(f"[%a], {FREE}", f"[%a], {compared}")
        program = shared_device("jit").load(of_one).program
        made, *_ = emit(program, program.functions["k"], BlockShape(83, 1, 1), features, "nounwind")
        return made.count("call <32 x i32> @llvm.masked.gather")

    assert (gathers(f"{FREE}") > gathers("%v")) != slow
