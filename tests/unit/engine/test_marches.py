"""Lanes that march through memory together from where each of them began: `simt.engine.llvm_marches`."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape, Hold, Shape, constant
from simt.analysis.shape_algebra import ShapeAlgebra
from simt.driver.source import compile_ptx
from simt.engine.host import host_features
from simt.engine.llvm_kernel import emit
from simt.machine.device import find_device
from simt.ptx.types import S64

WORDS, LENGTH = 4096, 300
HEAD = ".version 7.0\n.target sm_75\n.address_size 64\n"


def kernel(first: str, turn: str, registers: str = "", turns: str = "mov.u32 %n, 7;") -> str:
    """Each lane adds up words, from address `%p` on, which begins as `first` says and goes on by `turn`, as
    many as `turns` says."""
    return f"""{HEAD}
.visible .entry k(.param .u64 in, .param .u64 out)
{{
    .reg .pred %e; .reg .b64 %g, %p, %o, %w; .reg .b32 %t, %l, %n, %v, %sum, %x; {registers}
    ld.param.u64 %g, [in];
    ld.param.u64 %o, [out];
    mov.u32 %t, %tid.x;
    and.b32 %l, %t, 31;
    mov.u32 %sum, 0;
    {first}
    {turns}
    L:
    ld.global.u32 %v, [%p];
    mad.lo.u32 %sum, %sum, 3, %v;
    {turn}
    add.s32 %n, %n, -1;
    setp.gt.s32 %e, %n, 0;
    @%e bra L;
    mad.wide.u32 %o, %t, 4, %o;
    st.global.u32 [%o], %sum;
    ret;
}}
"""


AHEAD = "setp.lt.u32 %e, %l, 24; selp.u32 %x, 32, 0, %e; add.u32 %x, %x, %l; mad.wide.u32 %p, %x, 4, %g;"
"""Lanes 0 to 23 are a turn ahead of the others."""
MIXED = "mul.lo.u32 %x, %l, 13; and.b32 %x, %x, 31; mad.wide.u32 %p, %x, 4, %g;"
DOWN = f"{AHEAD} add.u64 %p, %p, 8192;"


def words(first: str) -> np.ndarray:
    lanes = np.arange(64) % 32
    if first is MIXED:
        return lanes * 13 % 32
    return lanes + 32 * (lanes < 24) + (2048 if first is DOWN else 0)


def run(engine: str, ptx: str) -> tuple[np.ndarray, np.ndarray]:
    """The words, and what two warps make of them."""
    device = simt.Device("sm_90", engine=engine, memory="64MiB", timeout=20)
    data = np.random.default_rng(7).integers(0, 2**32, WORDS, dtype="u4")
    out = device.zeros(64, "u4")
    device.load(ptx)["k"](1, 64, (device.array(data), out))
    return data, out.numpy()


def added(data: np.ndarray, places: list[np.ndarray]) -> np.ndarray:
    total = np.zeros(64, "u4")
    for place in places:
        total = total * np.uint32(3) + data[place]
    return total


@pytest.mark.parametrize("first", [AHEAD, MIXED, DOWN])
@pytest.mark.parametrize("step", [32, 1, -32, 0])
def test_all_go_on_by_the_same(engine: str, first: str, step: int) -> None:
    at = words(first) + (0 if step >= 0 else 1024)
    begin = first if step >= 0 else f"{first} add.u64 %p, %p, 4096;"
    data, found = run(engine, kernel(begin, f"add.s64 %p, %p, {4 * step};"))
    assert found.tolist() == added(data, [at + step * turn for turn in range(7)]).tolist()


def test_lanes_that_leave_sooner(engine: str) -> None:
    turns = "and.b32 %n, %t, 3; add.u32 %n, %n, 1;"
    data, found = run(engine, kernel(AHEAD, "add.s64 %p, %p, 128;", turns=turns))
    at, count = words(AHEAD), np.arange(64) % 4 + 1
    expected = np.zeros(64, "u4")
    for turn in range(4):
        expected = np.where(turn < count, expected * np.uint32(3) + data[at + 32 * turn], expected)
    assert found.tolist() == expected.tolist()


def test_addresses_that_change_places(engine: str) -> None:
    """Each turn goes on from the other one's: neither is a constant more than it was."""
    first = f"{AHEAD} {MIXED.replace('%p', '%q')}"
    turn = "add.s64 %w, %p, 128; mov.b64 %p, %q; mov.b64 %q, %w;"
    data, found = run(engine, kernel(first, turn, ".reg .b64 %q;"))
    pair = [words(AHEAD), words(MIXED)]
    places: list[np.ndarray] = []
    for _ in range(7):
        places.append(pair[0])
        pair = [pair[1], pair[0] + 32]
    assert found.tolist() == added(data, places).tolist()


def test_lanes_that_go_on_by_different_steps(engine: str) -> None:
    turn = "setp.lt.u32 %e, %l, 9; selp.b64 %w, 128, 4, %e; add.s64 %p, %p, %w;"
    data, found = run(engine, kernel(AHEAD, turn))
    step = np.where(np.arange(64) % 32 < 9, 32, 1)
    assert found.tolist() == added(data, [words(AHEAD) + step * t for t in range(7)]).tolist()


def test_steps_that_only_some_turns_take(engine: str) -> None:
    """The same ones for all lanes, which code does not see."""
    turn = "and.b32 %x, %n, 1; setp.eq.u32 %e, %x, 0; @%e bra M; add.s64 %p, %p, 128; M:"
    data, found = run(engine, kernel(AHEAD, turn))
    places = [words(AHEAD) + 32 * steps for steps in (0, 1, 1, 2, 2, 3, 3)]
    assert found.tolist() == added(data, places).tolist()


def test_a_loop_within_a_loop_begins_anew(engine: str) -> None:
    first = f"mov.u32 %m, 2; N: {AHEAD}"
    text = kernel(first, "add.s64 %p, %p, 128;", ".reg .b32 %m;")
    text = text.replace("@%e bra L;", "@%e bra L; add.s32 %m, %m, -1; setp.gt.s32 %e, %m, 0; @%e bra N;")
    data, found = run(engine, text)
    places = [words(AHEAD) + 32 * turn for turn in range(7)]
    assert found.tolist() == added(data, places * 2).tolist()


def test_faults_name_the_lane(engine: str) -> None:
    """Where a lane leaves memory is told as ever, though its address is a sum."""
    device = simt.Device("sm_90", engine=engine, memory="64MiB", timeout=20)
    out, data = device.zeros(64, "u4"), device.zeros(64, "u4")
    ptx = kernel(AHEAD, "add.s64 %p, %p, 134217728;")
    with pytest.raises(simt.MemoryFault) as caught:
        device.load(ptx)["k"](1, 32, (data, out))
    assert caught.value.site.thread == (0, 0, 0)
    assert caught.value.address == data.ptr + 4 * 32 + 134217728


def ir(ptx: str) -> str:
    program, _ = compile_ptx(ptx, "<test>", find_device("sm_90"))
    return emit(program, program.functions["k"], BlockShape(64, 1, 1), host_features(), "nounwind")[0]


def test_what_is_kept() -> None:
    """Only an address that is increased by a constant is kept as two."""
    assert ".gone" in ir(kernel(AHEAD, "add.s64 %p, %p, 128;"))
    assert ".gone" not in ir(kernel("mad.wide.u32 %p, %l, 4, %g;", "add.s64 %p, %p, 128;"))


TOGETHER = """
    setp.ge.u32 %e, %l, {limit}; @%e bra M;
    add.u32 %x, %x, 32;
    M:
"""
"""Lanes below a limit are a turn ahead: the two ways meet before the loop."""


def brought_together(limit: int, turn: str, turns: str) -> str:
    """By an index that goes on: as nvcc unrolls a loop over a row, the turns that are left over first."""
    first = f"mov.u32 %x, %l; {TOGETHER.format(limit=limit)}"
    text = kernel(first, turn, turns=turns)
    return text.replace(
        "ld.global.u32 %v, [%p];", "mul.wide.u32 %p, %x, 4; add.u64 %p, %g, %p; ld.global.u32 %v, [%p];"
    )


@pytest.mark.parametrize("limit", [0, 1, 17, 24, 31, 32])
@pytest.mark.parametrize("turns", ["mov.u32 %n, 7;", "and.b32 %n, %t, 3; add.u32 %n, %n, 1;"])
def test_lanes_brought_together_before_a_loop(engine: str, limit: int, turns: str) -> None:
    data, found = run(engine, brought_together(limit, "add.u32 %x, %x, 32;", turns))
    lanes = np.arange(64) % 32
    at, count = lanes + 32 * (lanes < limit), np.full(64, 7) if "7" in turns else np.arange(64) % 4 + 1
    expected = np.zeros(64, "u4")
    for turn in range(7):
        expected = np.where(turn < count, expected * np.uint32(3) + data[at + 32 * turn], expected)
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("limit", [0, 1, 17, 24, 31, 32])
@pytest.mark.parametrize("start", [0, 2**32, -(2**31)])
def test_long_indices_that_are_cut(engine: str, limit: int, start: int) -> None:
    """`int i = index`, of an index of 64 bits that goes on in a loop: shifted left by 32 and right by 30."""
    text = brought_together(limit, "add.u64 %w, %w, 32;", "mov.u32 %n, 7;")
    before, turn = "mov.u32 %n, 7;", "mul.wide.u32 %p, %x, 4;"
    text = text.replace(before, f"{before} cvt.u64.u32 %w, %x; add.s64 %w, %w, {start % 2**64};", 1)
    text = text.replace(turn, "shl.b64 %p, %w, 32; shr.s64 %p, %p, 30;", 1)
    text = text.replace("ld.param.u64 %o", f"add.u64 %g, %g, {8 * (start < 0) * 2**30}; ld.param.u64 %o", 1)
    data, found = run(engine, text)
    lanes = np.arange(64) % 32
    at = lanes + 32 * (lanes < limit)
    assert found.tolist() == added(data, [at + 32 * turn for turn in range(7)]).tolist()


def test_what_is_likely_of_indices_that_are_cut() -> None:
    """They still go on by one step, if that has no bits that are shifted out."""
    algebra = ShapeAlgebra(BlockShape(64, 1, 1))
    for stride, by, expected in ((1 << 32, 30, 4), (4, 2, 1), (-8, 1, -4)):
        shape = algebra.shift_right(S64, Shape(1, stride, Hold.LIKELY), constant(by))
        assert shape == Shape(1, expected, Hold.LIKELY)
    assert algebra.shift_right(S64, Shape(1, 4, Hold.LIKELY), constant(3)).width == 32


def test_limited_indices_that_go_on(engine: str) -> None:
    """What limits an index has the same base: it is no constant more than it was."""
    turn = "add.u32 %x, %x, 32; min.u32 %x, %x, 100;"
    data, found = run(engine, brought_together(0, turn, "mov.u32 %n, 7;"))
    lanes, places = np.arange(64) % 32, list[np.ndarray]()
    at = lanes
    for _ in range(7):
        places.append(at)
        at = np.minimum(at + 32, 100)
    assert found.tolist() == added(data, places).tolist()


def test_lanes_brought_together_are_compared_once() -> None:
    """The column of indices with which they came, though they are no addresses."""
    text = brought_together(24, "add.u32 %x, %x, 32;", "mov.u32 %n, 7;")
    program = simt.Device("sm_90").load(text).program
    ir, *_ = emit(program, program.functions["k"], BlockShape(64, 1, 1), host_features(), "nounwind")
    assert ".gone" in ir
    assert ir.count("icmp eq <32 x i32>") == 1
