"""Warps of which it is told ahead of their row that all is well: the same results and faults as lane by lane.

What code ahead of a row may get wrong: the warp from which on an index wraps, an address is invalid or
misaligned, or lanes are beyond a limit.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

import simt
from simt.analysis.shape import BlockShape
from simt.driver.source import compile_ptx
from simt.engine.llvm_kernel import emit
from simt.engine.llvm_strips import STRIP
from simt.machine.device import DEVICES
from tests.conftest import ENGINES, kept_for_each_way, shared_device
from tests.unit.kernel_text import thread_number

Lanes = NDArray[np.int64]
HEAD = f""".version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 base, .param .u32 shift, .param .u32 limit, .param .u32 pitch)
{{
    .reg .pred %p, %q;
    .reg .b32 %x, %y, %i, %n, %t, %v;
    .reg .b64 %a, %b;
{thread_number("x", "%x", threads="%n", thread="%t")}
{thread_number("y", "%y", threads="%n", thread="%t")}
    ld.param.u32 %t, [shift];
    ld.param.u32 %n, [limit];
    ld.param.u64 %a, [base];
"""
TAIL = """
END:
    ret;
}
"""
SINGLE = (64, 1, 1)
"""CTAs of one row: they run in their order in any case."""
BLOCKS = [(32, 4, 1), (64, 2, 1), (96, 2, 1), (32, 2, 2), (16, 4, 1), (8, 8, 1), (16, 3, 2), SINGLE]
FEW, MANY = 5, STRIP + 8
"""CTAs in a row of the grid: fewer and more than run side by side."""
WIDTH = 32 * 3 * MANY
EDGES = [0, 1, 31, 32, 33, 63, 64, 200, 2303, 2304, 2305, 2**31 - 1, 2**31, 2**31 + 40, 2**32 - 40, 2**32 - 1]


@kept_for_each_way
def device() -> simt.Device:
    return simt.Device("sm_90", workers=2, memory="64MiB", timeout=20)


@functools.cache
def tells_ahead(source: str, block: tuple[int, int, int]) -> bool:
    """Whether there is code for warps for which all is well."""
    program, _ = compile_ptx(source, "<ptx>", DEVICES[90])
    text, _, _ = emit(program, program.functions["k"], BlockShape(*block), frozenset(), "nounwind")
    return "cta.head.sure:" in text


def threads(ctas: int, block: tuple[int, int, int]) -> tuple[Lanes, Lanes]:
    """`x` and `y` of all threads, without the third dimension, of a grid of two rows of CTAs."""
    y, x = np.mgrid[: 2 * block[1], : ctas * block[0]]
    return x.astype("i8"), y.astype("i8")


def as_signed(values: Lanes) -> Lanes:
    return values.astype("u8").astype("u4").astype("i4").astype("i8")


def as_unsigned(values: Lanes) -> Lanes:
    return values.astype("u8").astype("u4").astype("i8")


# ---------------------------------------------------------------- limits

COMPARED = """
    add.u32 %i, %x, %t;
    setp.{op}.{type} %p, {operands};
    ld.param.u32 %t, [pitch];
    mad.lo.u32 %t, %y, %t, %x;
    mul.wide.u32 %b, %t, 4;
    add.u64 %a, %a, %b;
    {branch} bra END;
    ld.global.u32 %v, [%a];
    add.u32 %v, %v, 1;
    st.global.u32 [%a], %v;"""
RELATIONS: dict[str, Callable[[Lanes, Lanes], NDArray[np.bool_]]] = {
    "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip


@pytest.mark.share(4)
@pytest.mark.parametrize("op", RELATIONS)
@pytest.mark.parametrize("kind", ["u32", "s32"])
@pytest.mark.parametrize("operands", ["%i, %n", "%n, %i"])
@pytest.mark.parametrize("branch", ["@%p", "@!%p"])
def test_lanes_below_a_limit(op: str, kind: str, operands: str, branch: str) -> None:
    source = HEAD + COMPARED.format(op=op, type=kind, operands=operands, branch=branch) + TAIL
    kernel = device().load(source)["k"]
    extended = as_signed if kind == "s32" else as_unsigned
    for number, limit in enumerate(EDGES):
        block = BLOCKS[number % len(BLOCKS)][:2]
        assert tells_ahead(source, (*block, 1))
        for shift in (0, 7, *EDGES[number % 5 :: 5]):
            ctas = FEW if shift % 2 else MANY
            x, y = threads(ctas, (*block, 1))
            out = device().zeros((2 * block[1], WIDTH), "u4")
            kernel((ctas, 2), block, (out, np.uint32(shift), np.uint32(limit), np.uint32(WIDTH)))
            i, n = extended(x + shift), extended(np.full_like(x, limit))
            holds = RELATIONS[op](*((i, n) if operands == "%i, %n" else (n, i)))
            expected = np.zeros((2 * block[1], WIDTH), "u4")
            expected[y, x] = holds if branch == "@!%p" else ~holds
            assert np.array_equal(out.numpy(), expected), (shift, limit, block)
            out.free()


BOUNDED = """
    add.u32 %i, %y, %t;
    setp.{op}.s32 %p, %i, %n;
    ld.param.u32 %t, [pitch];
    mad.lo.u32 %t, %y, %t, %x;
    mul.wide.u32 %b, %t, 4;
    add.u64 %a, %a, %b;
    @%p bra END;
    ld.global.u32 %v, [%a];
    add.u32 %v, %v, 1;
    st.global.u32 [%a], %v;"""


@pytest.mark.parametrize("op", RELATIONS)
@pytest.mark.parametrize("block", [*BLOCKS[:3], *BLOCKS[4:7]])
def test_rows_below_a_limit(op: str, block: tuple[int, int, int]) -> None:
    """Of the rows of a warp's threads some are below it, or all, or none; of those of a CTA too."""
    source = HEAD + BOUNDED.format(op=op) + TAIL
    assert tells_ahead(source, block)
    kernel = device().load(source)["k"]
    x, y = threads(MANY, block)
    for limit in (*range(-1, 2 * block[1] + 2), 2**31 - 1):
        for shift in (0, 2**31 - 3):
            out = device().zeros((2 * block[1], WIDTH), "u4")
            kernel((MANY, 2), block[:2], (out, np.uint32(shift), np.uint32(limit % 2**32), np.uint32(WIDTH)))
            leaves = RELATIONS[op](as_signed(y + shift), np.full_like(y, limit))
            expected = np.zeros((2 * block[1], WIDTH), "u4")
            expected[y, x] = ~leaves
            assert np.array_equal(out.numpy(), expected), (shift, limit)
            out.free()


ROWS_OF_WARPS = [(32, 4, 1), (64, 2, 1), (32, 3, 1)]
NEIGHBOURS = """
    setp.ge.s32 %p, %x, %n; ld.param.u32 %t, [shift]; setp.ge.s32 %q, %y, %t; or.pred %p, %p, %q;
    mov.u32 %v, 0; mad.lo.u32 %i, %y, %n, %x; mul.wide.u32 %b, %i, 4; add.u64 %a, %a, %b;
    @%p bra END;
    setp.{above}.s32 %p, %y, {first}; @%p bra NONE_ABOVE;
    ld.global.u32 %v, [%a+1048576];
NONE_ABOVE:
    add.s32 %i, %y, 2; setp.{below}.s32 %p, %i, %t; @%p bra NONE_BELOW;
    add.u32 %v, %v, 1000;
NONE_BELOW:
    sub.s32 %i, %y, 1; setp.gt.s32 %p, %y, %t; @%p bra NEITHER;
    add.u32 %v, %v, 100000;
NEITHER:
    st.global.u32 [%a], %v;"""


@pytest.mark.share(4)
@pytest.mark.parametrize("above", RELATIONS)
@pytest.mark.parametrize("below", RELATIONS)
@pytest.mark.parametrize("block", [*ROWS_OF_WARPS, (16, 4, 1)])
def test_rows_at_edges(above: str, below: str, block: tuple[int, int, int]) -> None:
    """Of a picture, and with bounds that are none: rows on either side, whatever is taken for usual."""
    columns = FEW * block[0] - 5
    given = np.random.default_rng(1).integers(0, 900, 1 << 19, "u4")
    for first, height in ((1, 3 * block[1]), (0, 2 * block[1] + 1), (5, 9), (-1, 1)):
        source = HEAD + NEIGHBOURS.format(above=above, below=below, first=first) + TAIL
        array = device().array(given)
        grid = FEW, -(-height // block[1])
        device().load(source)["k"](grid, block[:2], (array, np.uint32(height), np.uint32(columns), 0))
        y, x = np.mgrid[:height, :columns]
        other = given[(y * columns + x) + (1 << 18)].astype("i8")
        expected = np.where(RELATIONS[above](y, np.full_like(y, first)), 0, other)
        expected += np.where(RELATIONS[below](y + 2, np.full_like(y, height)), 0, 1000)
        expected += np.where(y > height, 0, 100000)
        found = array.numpy()[: height * columns].reshape(height, columns)
        np.testing.assert_array_equal(found, expected, f"{first} {height}")
        array.free()


# ---------------------------------------------------------------- edges and rows of a picture

COMPUTED = """
    add.s32 %i, %x, %t;
    {what}
    {then}
    ld.param.u32 %t, [pitch];
    mad.lo.u32 %t, %y, %t, %x;
    mul.wide.u32 %b, %t, 4;
    add.u64 %a, %a, %b;
    st.global.u32 [%a], %v;"""


def chosen(condition: NDArray[np.bool_]) -> Lanes:
    return np.where(condition, 7, 11)


EDGE_KINDS: dict[str, Callable[[Lanes, Lanes], Lanes]] = {
    "max.s32 %v, %i, 0;": lambda i, n: np.maximum(as_signed(i), 0),
    "max.s32 %v, -3, %i;": lambda i, n: np.maximum(as_signed(i), -3),
    "min.s32 %v, %i, 5;": lambda i, n: np.minimum(as_signed(i), 5),
    "min.s32 %v, %i, %n;": lambda i, n: np.minimum(as_signed(i), as_signed(n)),
    "min.u32 %v, %n, %i;": lambda i, n: np.minimum(as_unsigned(i), as_unsigned(n)),
    "max.u32 %v, %i, %n;": lambda i, n: np.maximum(as_unsigned(i), as_unsigned(n)),
    "setp.eq.s32 %p, %i, 0; selp.u32 %v, 7, 11, %p;": lambda i, n: chosen(as_signed(i) == 0),
    "setp.ne.u32 %p, %i, %n; selp.u32 %v, 7, 11, %p;": lambda i, n: chosen(as_signed(i) != as_signed(n)),
    "setp.gt.s32 %p, %i, 0; selp.u32 %v, 7, 11, %p;": lambda i, n: chosen(as_signed(i) > 0),
    "setp.lt.s32 %p, %i, 1; selp.u32 %v, 7, 11, %p;": lambda i, n: chosen(as_signed(i) < 1),
    "setp.ge.u32 %p, %i, 31; selp.u32 %v, 7, 11, %p;": lambda i, n: chosen(as_unsigned(i) >= 31),
    "setp.le.u32 %p, 31, %i; selp.u32 %v, 7, 11, %p;": lambda i, n: chosen(as_unsigned(i) >= 31),
    "setp.le.s32 %p, %i, -2; selp.u32 %v, 7, 11, %p;": lambda i, n: chosen(as_signed(i) <= -2),
    "setp.eq.u32 %p, %y, 1; selp.u32 %v, %i, 11, %p;": lambda i, n: np.where(rows_of(i) == 1, i, 11),
    "rem.u32 %v, %i, %n;": lambda i, n: as_unsigned(i) % as_unsigned(n),
    "div.u32 %v, %i, %n;": lambda i, n: as_unsigned(i) // as_unsigned(n),
    "rem.s32 %v, %i, %n;": lambda i, n: np.fmod(as_signed(i), as_signed(n)),
    "div.s32 %v, %i, %n;": lambda i, n: (as_signed(i) - np.fmod(as_signed(i), as_signed(n))) // as_signed(n),
    "min.s32 %v, %y, %n; rem.u32 %v, %v, 3; mad.lo.u32 %v, %v, 100, %i;": (
        lambda i, n: np.minimum(rows_of(i), as_signed(n)) % 2**32 % 3 * 100 + i
    ),
}
"""Of the index `%i` in a row and a limit `%n`: what is one thing in most warps of a row, by kind."""


def rows_of(i: Lanes) -> Lanes:
    return np.broadcast_to(np.arange(len(i))[:, None], i.shape)


@pytest.mark.share(4)
@pytest.mark.parametrize("what", EDGE_KINDS)
@pytest.mark.parametrize("block", [(32, 2, 1), (64, 2, 1), (16, 4, 1), (8, 8, 1), SINGLE])
@pytest.mark.parametrize("then", ["", "setp.eq.u32 %q, %x, 99999;\n@%q bra END;"])
def test_edges(what: str, block: tuple[int, int, int], then: str) -> None:
    """`then`: what is between a value and its use: nothing, or a branch, over which it is kept."""
    source = HEAD + COMPUTED.format(what=what, then=then) + TAIL
    assert tells_ahead(source, block)
    kernel = device().load(source)["k"]
    for limit in (1, 7, 33, 64, 100, 639, 640, 1000, 2**31 - 1, 2**31, 2**32 - 5):
        for shift in (0, 1, 5, 2**31 - 50, 2**32 - 1, 2**32 - 40):
            ctas = (1, 2, FEW, MANY)[(limit + shift) % 4]
            x, y = threads(ctas, block)
            out = device().zeros((2 * block[1], WIDTH), "u4")
            kernel((ctas, 2), block[:2], (out, np.uint32(shift), np.uint32(limit), np.uint32(WIDTH)))
            expected = np.zeros((2 * block[1], WIDTH), "u4")
            expected[y, x] = (EDGE_KINDS[what](x + shift, np.full_like(x, limit)) % 2**32).astype("u4")
            assert np.array_equal(out.numpy(), expected), (shift, limit, ctas)
            out.free()


@pytest.mark.parametrize("block", [(32, 2, 1), (16, 4, 1)])
def test_neighbours_on_a_torus_are_not_divided_in_each_warp(block: tuple[int, int, int]) -> None:
    """Nor are edges looked for: where all is told, code divides ahead of the row and compares nothing."""
    what = "add.u32 %i, %i, %n; rem.u32 %v, %i, %n; setp.gt.s32 %p, %x, 0; selp.u32 %v, %v, 5, %p;"
    program, _ = compile_ptx(HEAD + COMPUTED.format(what=what, then="") + TAIL, "<ptx>", DEVICES[90])
    text, *_ = emit(program, program.functions["k"], BlockShape(*block), frozenset(), "nounwind")
    ahead, sure = text.split("row.head:")[1].split("warp.head.sure:")
    assert "udiv i32" in ahead
    used = sure.split("warp.done.sure:")[0]
    assert "%parameter" not in "".join(line for line in used.splitlines() if "rem " in line or "div " in line)
    assert "icmp sgt <32" not in used


# ---------------------------------------------------------------- addresses

STORED = """
    setp.ge.u32 %p, %x, %n;
    @%p bra END;
    add.u32 %i, %x, %t;
    {extend}
    add.u64 %a, %a, %b;
    ld.param.u32 %t, [pitch];
    mul.wide.u32 %b, %y, %t;
    add.u64 %a, %a, %b;
    st.global.u32 [%a+8], %x;"""
EXTENSIONS = {
    "mul.wide.s32 %b, %i, 4;": as_signed,
    "mul.wide.u32 %b, %i, 4;": as_unsigned,
    "cvt.s64.s32 %b, %i; shl.b64 %b, %b, 2;": as_signed,
}


@pytest.mark.share(2)
@pytest.mark.parametrize("extend", EXTENSIONS)
@pytest.mark.parametrize("block", [*BLOCKS[:3], *BLOCKS[4:6], SINGLE])
@pytest.mark.parametrize("ctas", [FEW, MANY])
def test_indices_that_wrap(extend: str, block: tuple[int, int, int], ctas: int) -> None:
    """Lanes whose index wraps get at memory 16 GiB away: a fault, unless they do not run."""
    source = HEAD + STORED.format(extend=extend) + TAIL
    assert tells_ahead(source, block)
    kernel, faults = device().load(source)["k"], 0
    x, y = threads(ctas, block)
    near = [end - before for end in (2**31, 2**32) for before in (1, 63, 100, 1056)]
    for shift in (0, 2**31 + 5, *near):
        for limit in (20, 64, 99, 100, 101, 1056, 1057, 5000):
            out = device().zeros((2 * block[1], WIDTH), "u4")
            first = int(EXTENSIONS[extend](np.array([shift]))[0])
            base = out.ptr - 8 - 4 * first
            index = EXTENSIONS[extend](x + shift) - first
            runs = x < limit
            arguments = (base % 2**64, np.uint32(shift), np.uint32(limit), np.uint32(4 * WIDTH))
            if (runs & ((index < 0) | (index >= WIDTH))).any():
                faults += 1
                with pytest.raises(simt.MemoryFault):
                    kernel((ctas, 2), block[:2], arguments)
            else:
                kernel((ctas, 2), block[:2], arguments)
                expected = np.zeros((2 * block[1], WIDTH), "u4")
                expected[y[runs], x[runs]] = x[runs]
                assert np.array_equal(out.numpy(), expected), (shift, limit)
            out.free()
    assert 3 <= faults <= 70


APART = """
    mov.u32 %x, %ctaid.x;
    mov.u32 %t, %tid.x;
    mad.lo.u32 %x, %x, 128, %t;
    mad.lo.u32 %i, %y, %n, %x;
    mul.wide.u32 %b, %i, 4;
    add.u64 %a, %a, %b;
    st.global.u32 [%a], %x;"""


@pytest.mark.parametrize("block", [*BLOCKS[:3], *BLOCKS[4:6], SINGLE, (32, 1, 1)])
def test_gaps_between_ctas(block: tuple[int, int, int]) -> None:
    """From the last warp of a CTA to the next CTA it is another step than from warp to warp."""
    kernel = device().load(HEAD + APART + TAIL)["k"]
    out = device().zeros((2 * block[1], 128 * MANY), "u4")
    kernel((MANY, 2), block[:2], (out, 0, np.uint32(128 * MANY), 0))
    written = (np.arange(128 * MANY) % 128 < block[0]) * np.arange(128 * MANY)
    assert np.array_equal(out.numpy(), np.tile(written, (2 * block[1], 1)))
    out.free()


@pytest.mark.share(2)
@pytest.mark.parametrize("block", [(32, 3), (64, 3), (96, 3), (64, 1), (256, 1), (16, 6), (8, 8)])
@pytest.mark.parametrize("inside", [1, 31, 32, 33, 95, 96, 97, 150, 1024, 1100])
def test_the_arena_ends_within_a_row(block: tuple[int, int], inside: int) -> None:
    """Lanes up to the last word of the arena may store, and the one behind it faults."""
    alone = simt.Device("sm_90", workers=1, memory="16MiB", timeout=20)
    source = HEAD + STORED.format(extend="mul.wide.u32 %b, %i, 4;") + TAIL
    assert tells_ahead(source, (*block, 1))
    kernel, grid, pitch = alone.load(source)["k"], (max(MANY, 1200 // block[0]), 1), 8192
    kernel(grid, block, (0, 0, 0, 0))  # which takes memory for itself
    out = alone.zeros(1 << 20, "u4")
    end = out.ptr + out.nbytes
    assert end == alone.memory.limit
    base = end - 4 * inside - 8 - (block[1] - 1) * pitch
    kernel(grid, block, (base, 0, np.uint32(inside), np.uint32(pitch)))
    assert np.array_equal(out.numpy()[-inside:], np.arange(inside))
    with pytest.raises(simt.MemoryFault) as fault:
        kernel(grid, block, (base, 0, np.uint32(inside + 1), np.uint32(pitch)))
    assert fault.value.address == end


@pytest.mark.parametrize("block", [*BLOCKS[:3], *BLOCKS[4:6]])
def test_misaligned_rows(block: tuple[int, int, int]) -> None:
    kernel = device().load(HEAD + STORED.format(extend="mul.wide.u32 %b, %i, 4;") + TAIL)["k"]
    out = device().zeros(1 << 16, "u4")
    with pytest.raises(simt.MemoryFault, match="misaligned"):
        kernel((MANY, 1), block[:2], (out.ptr + 2, 0, np.uint32(5000), np.uint32(8192)))
    with pytest.raises(simt.MemoryFault, match="misaligned") as fault:  # the second row
        kernel((MANY, 1), block[:2], (out.ptr, 0, np.uint32(5000), np.uint32(8190)))
    assert fault.value.site.thread == (0, 1, 0)
    out.free()


def test_the_clock_counts_in_both_copies() -> None:
    """Instructions that a warp executes, whichever code it runs."""
    body = COMPARED.format(op="ge", type="u32", operands="%i, %n", branch="@%p")
    source = HEAD + body.replace("add.u32 %v, %v, 1;", "mov.u32 %v, %clock;") + TAIL
    assert tells_ahead(source, (32, 4, 1))
    clocks: list[NDArray[np.uint32]] = []
    for engine in ENGINES:
        out = shared_device(engine).zeros((8, WIDTH), "u4")
        arguments = (out, np.uint32(0), np.uint32(100), np.uint32(WIDTH))
        shared_device(engine).load(source)["k"]((MANY, 2), (32, 4), arguments)
        clocks.append(np.array(out.numpy()))
    assert np.array_equal(clocks[0], clocks[1])
    assert (clocks[0][:, :100] > 0).all()
    assert not clocks[0][:, 100:].any()


LIMITED = HEAD + """
    mov.u32 %x, %laneid;
    mov.u32 %y, %tid.y;
    min.s32 %i, %x, %y;
    mul.wide.u32 %b, %i, 4;
    add.u64 %b, %a, %b;
    ld.global.u32 %v, [%b+64];
    setp.eq.u32 %p, %x, 31;
    mov.u32 %n, 0;
    @%p ld.global.v4.u32 {%n, %i, %i, %i}, [%a+128];
    add.u32 %v, %v, %n;
    mov.u32 %t, %ctaid.x;
    mov.u32 %n, %ntid.x;
    mad.lo.u32 %t, %t, %n, %x;
    mov.u32 %n, %tid.x;
    and.b32 %n, %n, 96;
    add.u32 %t, %t, %n;
    mov.u32 %n, %nctaid.x;
    mov.u32 %x, %ntid.x;
    mul.lo.u32 %n, %n, %x;
    mad.lo.u32 %t, %y, %n, %t;
    mul.wide.u32 %b, %t, 4;
    add.u64 %b, %a, %b;
    st.global.u32 [%b+1024], %v;
""" + TAIL  # fmt: skip


@pytest.mark.parametrize("block", [*BLOCKS[:3], *BLOCKS[4:6], SINGLE])
def test_a_limit_for_lanes_is_no_series(block: tuple[int, int, int]) -> None:
    """`min(lane, y)` begins like the lanes' numbers, in code of warps for which all is well too."""
    last = min(block[0], 32) - 1
    source = LIMITED if last == 31 else LIMITED.replace("%laneid", "%tid.x").replace("%x, 31", f"%x, {last}")
    assert tells_ahead(source, block)
    ctas, rows = FEW, block[1]
    memory = np.arange(256 + ctas * block[0] * rows, dtype="u4") * 3
    y, x = np.mgrid[:rows, : ctas * block[0]]
    lane = x % (last + 1)
    expected = memory[16 + np.minimum(lane, y)] + np.where(lane == last, memory[32], 0)
    array = device().array(memory)
    device().load(source)["k"]((ctas, 1), block, (array, 0, 0, 0))
    assert (array.numpy()[256:] == expected.ravel()).all()


CLAMPED = HEAD + """
    mov.u32 %x, %tid.x;
    mov.u32 %y, %ctaid.y;
    sub.s32 %i, %x, %y;
    max.u32 %i, %i, 3;
    add.u32 %i, %i, 16;
    mul.wide.u32 %b, %i, 4;
    add.u64 %b, %a, %b;
    ld.global.u32 %v, [%b];
    mov.u32 %t, %ctaid.x;
    mov.u32 %n, %ntid.x;
    mad.lo.u32 %t, %t, %n, %x;
    mov.u32 %y, %nctaid.x;
    mul.lo.u32 %n, %n, %y;
    mov.u32 %y, %tid.y;
    mad.lo.u32 %t, %y, %n, %t;
    mul.wide.u32 %b, %t, 4;
    add.u64 %b, %a, %b;
    st.global.u32 [%b+1024], %v;
""" + TAIL  # fmt: skip


@pytest.mark.parametrize("block", [b for b in BLOCKS if b[0] <= 32 and b[2] == 1])
def test_a_limit_that_some_lanes_exceed_is_no_series(block: tuple[int, int, int]) -> None:
    """In every CTA the same lanes do, so that all CTAs have the same bases."""
    assert tells_ahead(CLAMPED, block)
    columns, rows = FEW * block[0], block[1]
    memory = np.arange(256 + columns * rows, dtype="u4") * 3
    array = device().array(memory)
    device().load(CLAMPED)["k"]((FEW, 1), block, (array, 0, 0, 0))
    lane = np.tile(np.arange(columns) % block[0], (rows, 1))
    assert (array.numpy()[256:] == memory[16 + np.maximum(lane, 3)].ravel()).all()


def windows(taps: int) -> str:
    """A count of the neighbours that there are, as compilers write out loops: one sign for both."""
    parts = [
        HEAD,
        "    setp.ge.s32 %p, %x, %n; @%p bra END;",
        "    mov.u32 %v, 0; mad.lo.u32 %i, %y, %n, %x;",
    ]
    for tap in range(taps):
        parts.append(f"""
    add.s32 %x, %x, {tap % 3 - 1}; add.s32 %t, %y, {tap % 2 - 1};
    setp.ge.s32 %p, %x, %n; or.b32 %t, %x, %t; setp.lt.s32 %q, %t, 0; or.pred %p, %p, %q;
    @%p bra TAP{tap};
    add.u32 %v, %v, {2**tap % 1000};
TAP{tap}:
    sub.s32 %x, %x, {tap % 3 - 1};""")
    return "\n".join(
        [*parts, "    mul.wide.u32 %b, %i, 4; add.u64 %a, %a, %b; st.global.u32 [%a], %v;", TAIL]
    )


@pytest.mark.parametrize(
    ("taps", "block"), [(6, (16, 4, 1)), (6, (32, 2, 1)), (40, (16, 4, 1)), (40, (8, 8, 1))], ids=str
)
def test_windows_with_tests_of_each_neighbour(taps: int, block: tuple[int, int, int]) -> None:
    """In long code too: what is left of it is short."""
    source, width, height = windows(taps), block[0] * FEW - 3, block[1] * 3
    assert tells_ahead(source, block)
    sums = device().zeros((height, width), "u4")
    kernel = device().load(source)["k"]
    kernel((FEW, 3), block, (sums, np.uint32(0), np.uint32(width), np.uint32(0)))
    y, x = np.mgrid[:height, :width]
    expected = np.zeros((height, width), "i8")
    for tap in range(taps):
        there = x + tap % 3 - 1
        expected += np.where((there >= 0) & (there < width) & (y + tap % 2 - 1 >= 0), 2**tap % 1000, 0)
    np.testing.assert_array_equal(sums.numpy(), expected)
    sums.free()


@pytest.mark.parametrize("block", [(16, 4, 1), (32, 2, 1)])
def test_branches_that_are_told_ahead_are_jumps(block: tuple[int, int, int]) -> None:
    program, _ = compile_ptx(windows(6), "<ptx>", DEVICES[90])
    text, _, _ = emit(program, program.functions["k"], BlockShape(*block), frozenset(), "nounwind")
    sure = text.split("warp.head.sure:")[1].split("warp.done.sure:")[0]
    assert "icmp ne i32" not in sure  # whether a mask has lanes


@pytest.mark.parametrize(("test", "is_told"), [
    ("setp.ge.s32 %p, %y, %n;", True), ("setp.lt.s32 %p, %y, 1;", True), ("setp.gt.s32 %p, %y, 0;", True),
    ("setp.ge.s32 %p, %y, %n; @%p bra END; setp.gt.s32 %p, %y, %n;", True),
    ("setp.gt.s32 %p, %y, %n;", False), ("setp.eq.s32 %p, %y, 0;", False),
    ("and.b32 %v, %y, 1; setp.lt.s32 %p, %v, 1;", False), ("setp.ge.s32 %p, %t, %n;", False),
])  # fmt: skip
def test_which_rows_are_taken_for_usual(test: str, is_told: bool) -> None:
    """Those within the bounds of a picture; not what an elimination leaves, nor every second row, nor what
    the launch says."""
    others = "setp.ge.s32 %q, %y, %t; @%q bra END;" * 6  # as a window has them
    more = f"ld.param.u32 %t, [shift]; {others} {test} @%p bra END; mad.lo.u32 %i, %y, %n, %x;"
    source = HEAD + more + "mul.wide.u32 %b, %i, 4; add.u64 %a, %a, %b; st.global.u32 [%a], %x;" + TAIL
    program, _ = compile_ptx(source, "<ptx>", DEVICES[90])
    text, _, _ = emit(program, program.functions["k"], BlockShape(32, 8, 1), frozenset(), "nounwind")
    sure = text.split("warp.head.sure:")[1].split("warp.done.sure:")[0]
    assert ("icmp s" not in sure and "icmp eq i32" not in sure) == is_told


@pytest.mark.parametrize(("others", "is_told"), [(1, False), (4, False), (5, True)])
def test_few_questions_about_rows_stay_branches(others: int, is_told: bool) -> None:
    """A lone guard is no window."""
    more = "setp.ge.s32 %q, %y, %n; @%q bra END;" + "setp.lt.s32 %q, %y, 1; @%q bra END;" * others
    source = HEAD + more + "mad.lo.u32 %i, %y, %n, %x; mul.wide.u32 %b, %i, 4; add.u64 %a, %a, %b;"
    program, _ = compile_ptx(source + "st.global.u32 [%a], %x;" + TAIL, "<ptx>", DEVICES[90])
    text, _, _ = emit(program, program.functions["k"], BlockShape(32, 8, 1), frozenset(), "nounwind")
    sure = text.split("warp.head.sure:")[1].split("warp.done.sure:")[0]
    assert ("icmp s" not in sure) == is_told
