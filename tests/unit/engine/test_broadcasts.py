"""What all lanes of a warp get from one of them by a shuffle is the same for all of them."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.analysis.lower import lower
from simt.analysis.schedule import schedule
from simt.analysis.shape import BlockShape
from simt.analysis.ssa import build
from simt.analysis.uniformity import analyse
from simt.isa.algebra import Environment
from simt.ptx.parser import parse
from tests.conftest import shared_device

KERNEL = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out)
{{
    .reg .pred %p, %q;
    .reg .b32 %t, %x, %n, %v, %sum, %lane, %clamp;
    .reg .b64 %a;
    mov.u32 %x, %tid.x;
    mov.u32 %t, %tid.y;
    mov.u32 %n, %ntid.x;
    mad.lo.u32 %t, %t, %n, %x;
    mad.lo.u32 %v, %t, 37, 5;
    and.b32 %v, %v, 15;
    mov.u32 %sum, 0;
    {shuffle}
    setp.eq.u32 %p, %v, 0;
    @%p bra STORE;
AGAIN:
    add.u32 %sum, %sum, %x;
    sub.u32 %v, %v, 1;
    setp.ne.u32 %p, %v, 0;
    @%p bra AGAIN;
STORE:
    ld.param.u64 %a, [out];
    mad.wide.u32 %a, %t, 4, %a;
    st.global.u32 [%a], %sum;
    ret;
}}
"""
SHUFFLES = {
    "numbers": "shfl.sync.idx.b32 %v, %v, 7, 31, -1;",
    "registers": "mov.u32 %lane, 7; mov.u32 %clamp, 31; shfl.sync.idx.b32 %v|%q, %v, %lane, %clamp, -1;",
    "past the end": "shfl.sync.idx.b32 %v, %v, 39, 31, -1;",
    "guarded": "setp.lt.u32 %q, %n, 1000; @%q shfl.sync.idx.b32 %v, %v, 7, 31, -1;",
}
"""Of lane 7 of the warp."""
PARTED = {
    "rows of 16": "shfl.sync.idx.b32 %v, %v, 7, 0x101f, -1;",
    "not that far": "shfl.sync.idx.b32 %v, %v, 7, 5, -1;",
}
"""Of lane 7 of each half of the warp; of none: each lane keeps its own."""
BLOCKS = [(64, 1), (32, 2), (16, 4), (40, 1)]


def check(device: simt.Device, block: tuple[int, int], name: str) -> None:
    threads = block[0] * block[1]
    out = device.zeros(threads, "u4")
    device.load(KERNEL.format(shuffle=(SHUFFLES | PARTED)[name]))["k"](1, block, (out,))
    t = np.arange(threads)
    giver = {"rows of 16": t // 16 * 16 + 7, "not that far": t}.get(name, t // 32 * 32 + 7)
    assert out.numpy().tolist() == ((giver * 37 + 5 & 15) * (t % block[0])).tolist()


@pytest.mark.parametrize("name", SHUFFLES | PARTED)
@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_lanes_get_it(engine: str, block: tuple[int, int], name: str) -> None:
    check(shared_device(engine), block, name)


HALVES = """and.b32 %lane, %t, 31; mov.u32 %clamp, %v; setp.lt.u32 %q, %lane, 16; @!%q bra UPPER;
    shfl.sync.idx.b32 %v, %v, 3, 31, 0xffff; bra MEET;
UPPER: shfl.sync.idx.b32 %v, %v, 20, 31, 0xffff0000; {more}
MEET: add.u32 %v, %v, %clamp;"""
IN_A_LOOP = """and.b32 %lane, %t, 31; mov.u32 %clamp, 0; mov.u32 %n, 0;
TURN: setp.ge.u32 %q, %n, %lane; @%q bra OUT;
    add.u32 %sum, %clamp, %n; add.u32 %n, %n, 1;
    activemask.b32 %v; shfl.sync.idx.b32 %clamp, %sum, 31, 31, %v; bra TURN;
OUT: mov.u32 %sum, 0; mov.u32 %v, %clamp;"""


def run_parted(engine: str, shuffle: str) -> list[int]:
    """What two warps of lanes that took different ways have got, times their numbers."""
    out = shared_device(engine).zeros(64, "u4")
    shared_device(engine).load(KERNEL.format(shuffle=shuffle))["k"](1, 64, (out,))
    return out.numpy().tolist()


@pytest.mark.parametrize("more", ["", "xor.b32 %v, %v, 1;"])
def test_halves_that_ask_different_lanes(engine: str, more: str) -> None:
    t = np.arange(64)
    lower = t % 32 < 16
    got = (t // 32 * 32 + np.where(lower, 3, 20)) * 37 + 5 & 15
    got = np.where(lower | (not more), got, got ^ 1)
    assert run_parted(engine, HALVES.format(more=more)) == ((got + (t * 37 + 5 & 15)) * t).tolist()


def test_lanes_that_leave_a_loop_keep_what_they_got_last(engine: str) -> None:
    """Lane 31 is in the loop to its end. Turn n gives 0 + ... + n."""
    t = np.arange(64)
    lane = t % 32
    assert run_parted(engine, IN_A_LOOP) == (np.maximum(lane * (lane - 1) // 2, 0) * t).tolist()


@pytest.mark.usefixtures("all_large")
@pytest.mark.parametrize("name", SHUFFLES | PARTED)
def test_in_large_kernels(name: str) -> None:
    check(simt.Device("sm_90", engine="jit", memory="64MiB"), (64, 1), name)


@pytest.mark.parametrize("name", SHUFFLES | PARTED)
def test_a_loop_of_so_many_turns_parts_no_warp(name: str) -> None:
    tree, _ = parse(KERNEL.format(shuffle=(SHUFFLES | PARTED)[name]))
    assert tree is not None
    function = lower(tree).functions["k"]
    ssa = build(function, schedule(function))
    found = analyse(ssa, Environment(), BlockShape(64, 1, 1))
    assert bool(found.divergent) == (name in (*PARTED, "guarded"))
