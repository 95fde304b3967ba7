"""Atomic operations by a part of a warp, many lanes or few. What lanes that do not run have for an address is
of no matter; each one that runs finds what lower ones have left. A model in Python tells."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from tests.conftest import kept_for_each_way

WARP, PLACES = 32, 40
WILD = 0x7FFF_FFF0
KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 cells, .param .u64 places, .param .u64 values, .param .u64 out,
                  .param .u32 runs)
{{
    .reg .u32 %t, %i, %runs, %bit; .reg .u64 %o, %p, %a, %cells, %out, %d; .reg .pred %q;
    .reg .{type} %x, %v; .reg .u32 %s;
    .shared .align 16 .b8 box[{bytes}];
    ld.param.u64 %cells, [cells]; ld.param.u64 %p, [places]; ld.param.u64 %o, [values];
    ld.param.u64 %out, [out]; ld.param.u32 %runs, [runs];
    mov.u32 %t, %tid.x;
    mul.wide.u32 %d, %t, {size}; add.u64 %o, %o, %d; ld.global.{type} %x, [%o]; add.u64 %out, %out, %d;
    mul.wide.u32 %d, %t, 4; add.u64 %p, %p, %d; ld.global.u32 %i, [%p];
    {load}
    bar.warp.sync 0xffffffff;
    shr.u32 %bit, %runs, %t; and.b32 %bit, %bit, 1; setp.ne.u32 %q, %bit, 0;
    @!%q bra REST;
    {address}
    {update}
    {used}
REST:
    bar.warp.sync 0xffffffff;
    {store}
    ret;
}}
"""
COPY = """
    mov.u32 %bit, %t;
{name}:
    mul.wide.u32 %d, %bit, {size}; add.u64 %a, %cells, %d; mov.u32 %s, box; mad.lo.u32 %s, %bit, {size}, %s;
    {move}
    add.u32 %bit, %bit, 32; setp.lt.u32 %q, %bit, {places}; @%q bra {name};"""
IN = "ld.global.{type} %v, [%a]; st.shared.{type} [%s], %v;"
OUT = "ld.shared.{type} %v, [%s]; st.global.{type} [%a], %v;"
ADDRESS = {
    "global": "cvt.u64.u32 %d, %i; add.u64 %a, %cells, %d;",
    "shared": "mov.u32 %s, box; add.u32 %s, %s, %i;",
    "proven": "mov.u32 %s, box; and.b32 %i, %i, {mask}; add.u32 %s, %s, %i;",
}
OPS = ["add.u32", "max.s32", "xor.b32", "exch.b32", "inc.u32", "cas.b32", "add.f32", "add.u64", "min.u64"]
TYPES = {"u32": "u4", "s32": "i4", "b32": "u4", "f32": "f4", "u64": "u8"}
MASKS = [
    0xFFFFFFFF, 0x7FFFFFFF, 0xFFFFFFFE, 0x55555555, 0xFF, 0xFF000000, 0x7F, 0x1010101, 0x1, 0x80000000, 0,
    0x00FFFF00,
]  # fmt: skip


def text(where: str, op: str, used: bool) -> str:
    name, kind = op.split(".")
    size, space = int(kind[1:]) // 8, "global" if where == "global" else "shared"
    operands = "%x, 7" if name == "cas" else "%x"
    place = "%a" if space == "global" else "%s"
    load, store = (
        COPY.format(name=n, size=size, places=PLACES, move=move.format(type=kind))
        if where != "global"
        else ""
        for n, move in (("FILL", IN), ("DRAIN", OUT))
    )
    return KERNEL.format(
        type=kind, size=size, bytes=64 * size, load=load, store=store,
        address=ADDRESS[where].format(mask=31 * size), used=f"st.global.{kind} [%out], %v;" if used else "",
        update=f"atom.{space}.{name}.{kind} %v, [{place}], {operands};",
    )  # fmt: skip


def changed(op: str, old: int | float, b: int | float) -> int | float:
    bits = 64 if op.endswith("64") else 32
    match op.split(".")[0], op.endswith("f32"):
        case "add", True:
            return float(np.float32(old) + np.float32(b))
        case "add", _:
            return (int(old) + int(b)) % 2**bits
        case "max", _:
            return max(old, b)
        case "min", _:
            return min(old, b)
        case "xor", _:
            return int(old) ^ int(b)
        case "exch", _:
            return b
        case "inc", _:
            return 0 if old >= b else old + 1
        case _:
            return 7 if old == b else old


@kept_for_each_way
def device(engine: str) -> simt.Device:
    """Launches of one thread, in which nothing is locked."""
    return simt.Device("sm_90", engine=engine, workers=1, memory="64MiB", timeout=60)


def inputs(op: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng, dtype = np.random.default_rng(len(op)), np.dtype(TYPES[op.split(".")[1]])
    if dtype.kind == "f":
        return rng.random(PLACES, "f4"), rng.random(WARP, "f4"), rng.integers(0, 32, WARP, "u4")
    cells = rng.integers(0, 12, PLACES).astype(dtype)
    return cells, rng.integers(0, 12, WARP).astype(dtype), rng.integers(0, 20, WARP, "u4")


@pytest.mark.share(2)
@pytest.mark.parametrize("used", [False, True])
@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("where", ADDRESS)
def test_parts_of_a_warp(engine: str, where: str, op: str, used: bool) -> None:
    cells, values, places = inputs(op)
    module = device(engine).load(text(where, op, used))
    for mask in MASKS:
        runs = [mask >> lane & 1 for lane in range(WARP)]
        offsets = np.where(runs, places * cells.itemsize, WILD).astype("u4")
        memory, out = device(engine).array(cells), device(engine).zeros(WARP, cells.dtype)
        arguments = memory, device(engine).array(offsets), device(engine).array(values), out, mask
        module["k"](1, WARP, arguments)
        expected, found = cells.tolist(), [0] * WARP
        for lane in range(WARP):
            if runs[lane]:
                place = int(places[lane])
                found[lane] = expected[place]
                expected[place] = changed(op, expected[place], values.tolist()[lane])
        np.testing.assert_array_equal(memory.numpy(), np.array(expected, cells.dtype))
        np.testing.assert_array_equal(out.numpy(), np.array(found if used else [0] * WARP, cells.dtype))


@pytest.mark.parametrize("mask", [0xFFFFFFFF, 0xFFFF0000, 0x00FFF000, 0x00013000])
@pytest.mark.parametrize("where", ["global", "shared"])
def test_a_lane_beyond_the_memory(engine: str, where: str, mask: int) -> None:
    """Of lanes that run the lowest with such an address is named; others are not looked at."""
    lane = 16
    offsets = np.full(WARP, WILD, "u4")
    for other in range(WARP):
        if mask >> other & 1 and other < lane:
            offsets[other] = 4 * other
    memory = device(engine).zeros(PLACES, "u4")
    arguments = memory, device(engine).array(offsets), device(engine).zeros(WARP, "u4"), 0, mask
    with pytest.raises(simt.MemoryFault) as fault:
        device(engine).load(text(where, "add.u32", False))["k"](1, WARP, arguments)
    assert fault.value.site.thread == (lane, 0, 0)
