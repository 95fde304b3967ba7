"""Loops of many turns at once of which four are done at once, as the kernel would be a large one otherwise.
The interpreter, which runs them as they are, is the judge."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import simt
from simt.analysis.range_algebra import UNKNOWN
from simt.analysis.ranges import Ranges
from simt.analysis.rolled_again import proofs_of, unrolled_pairs
from simt.analysis.schedule import schedule
from simt.analysis.shape import BlockShape
from simt.analysis.ssa import build
from simt.analysis.waiting import settle
from simt.engine.host import host_cpu
from simt.engine.llvm_kernel import emit
from tests.conftest import shared_device
from tests.unit.engine.arrays import words_at_the_end

HEAD = """
.version 8.6
.target sm_75
.address_size 64
.entry k(.param .u64 from, .param .u64 to, .param .s32 pitch, .param .s32 count, .param .s32 first)
{
    .reg .u64 %x, %y, %z, %d, %px, %py, %qx; .reg .s32 %i, %j, %n, %m, %k, %c, %l, %r, %v;
    .reg .pred %p; .reg .f32 %f, %g, %sum;
    ld.param.u64 %x, [from];
    ld.param.u64 %y, [to];
    ld.param.s32 %m, [pitch];
    ld.param.s32 %n, [count];
    mov.u32 %i, %tid.x;
    ld.param.s32 %v, [first];
    mad.lo.s32 %r, %i, %m, %v;
    mov.f32 %sum, 0f00000000;
    setp.lt.s32 %p, %n, 1;
    @%p bra END;
"""
LOOPS = """
    and.b32 %l, %n, 15;
    mov.b32 %k, 0;
    setp.lt.u32 %p, %n, 16;
    @%p bra {name}EIGHT;
    and.b32 %k, %n, 2147483632;
    neg.s32 %c, %k;
    {start}
{name}MAIN:
    {sixteen}
    add.s32 %c, %c, 16;
    setp.ne.s32 %p, %c, 0;
    @%p bra {name}MAIN;
{name}EIGHT:
    setp.eq.s32 %p, %l, 0;
    @%p bra {name}END;
    and.b32 %v, %n, 7;
    setp.lt.u32 %p, %l, 8;
    @%p bra {name}FOUR;
    {eight}
    add.s32 %k, %k, 8;
{name}FOUR:
    setp.eq.s32 %p, %v, 0;
    @%p bra {name}END;
    and.b32 %l, %n, 3;
    setp.lt.u32 %p, %v, 4;
    @%p bra {name}LAST;
    {four}
    add.s32 %k, %k, 4;
{name}LAST:
    setp.eq.s32 %p, %l, 0;
    @%p bra {name}END;
    add.s32 %j, %k, %r;
    neg.s32 %l, %l;
{name}ONE:
    {one}
    add.s32 %j, %j, 1;
    add.s32 %l, %l, 1;
    setp.ne.s32 %p, %l, 0;
    @%p bra {name}ONE;
{name}END:
"""
AT = "mul.wide.s32 %d, {index}, 4;\n    add.s64 %px, %x, %d;\n    add.s64 %py, %y, %d;\n    "
SUMMED = "ld.global.f32 %f, [{x}+{at}];\n    add.f32 %sum, %sum, %f;\n    "
ADDED = "ld.global.f32 %f, [%px+{at}];\n    add.f32 %g, %f, %sum;\n    st.global.f32 [%py+{at}], %g;\n    "
STORED = "mul.wide.s32 %d, %i, 4;\n add.s64 %y, %y, %d;\n st.global.f32 [%y], %sum;\nret;\n}"


def loops(name: str, turn: str, pointer: bool) -> str:
    """A loop over a row, unrolled as LLVM 20 does it. `pointer`: the first loop goes on by one of its own."""

    def turns(number: int, index: str, first: int = 0) -> str:
        each = "".join(turn.format(x="%qx" if first else "%px", at=4 * n + first) for n in range(number))
        return each if first else AT.format(index=index) + each

    there = "add.s32 %j, %k, %r;\n    "
    start, sixteen = "mov.b32 %j, %r;", turns(16, "%j") + "add.s32 %j, %j, 16;"
    if pointer:
        start = "mul.wide.s32 %d, %r, 4;\n    add.s64 %d, %x, %d;\n    add.s64 %qx, %d, 32;"
        sixteen = turns(16, "", -32) + "add.s64 %qx, %qx, 64;"
    return LOOPS.format(
        name=name, start=start, sixteen=sixteen, one=turns(1, "%j"),
        eight=there + turns(8, "%j"), four=there + turns(4, "%j"),
    )  # fmt: skip


SUM, ADD = loops("SUM", SUMMED, pointer=True), loops("ADD", ADDED, pointer=False)
MOVED = "mov.u64 %z, %x;\n    mov.u64 %x, %y;\n    neg.s32 %l, %l;"
"""Before the last loop, for which a register has another's value that the first one reads."""


def moved(text: str) -> str:
    before, _, last = text.partition("neg.s32 %l, %l;")
    return before + MOVED + last.replace("%x, %d", "%z, %d").replace("%y, %d", "%x, %d")


LARGE = HEAD + SUM + moved(ADD) + "END:\nret;\n}"
SMALL = HEAD + SUM + "END:\n" + STORED
FAR = 1 << 13


@cache
def counts(text: str) -> list[int]:
    """How many turns at once each loop may have that is found to be one of many."""
    program = shared_device("jit").load(text).program
    kernel, environment, block = program.functions["k"], program.environment, BlockShape(64, 1, 1)
    ssa = build(kernel, schedule(kernel))
    shapes = settle(ssa, environment, block, program.functions)[0].shapes
    found = (
        proof.count()
        for pair in unrolled_pairs(ssa)
        for proof in proofs_of(
            ssa, shapes, environment, lambda: Ranges(ssa, environment, block, lambda _: UNKNOWN), pair, True
        )
    )
    return [c.several.turns for c in found if c is not None and c.several is not None]


@cache
def machine(engine: str) -> tuple[simt.DeviceArray, simt.Kernel]:
    """Words up to the end of memory, and the kernel. (It is compiled once, not in haste first.)"""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SIMT_DRAFTS", "0")
        device = simt.Device("sm_90", engine=engine)
    words = words_at_the_end(device, np.uint32(0))
    return words, device.load(LARGE)["k"]


def results(x: int, y: int, pitch: int, count: int, first: int = 0) -> list[object]:
    """What 40 threads leave in memory, or the fault, by both engines. `x`, `y`: words before the end of
    memory, at which the first row of each array begins."""
    found = list[object]()
    for engine in ("interpreter", "jit"):
        words, kernel = machine(engine)
        words.numpy()[...] = (np.arange(words.shape[0], dtype="f4") % 29).view("u4")
        end = words.ptr + words.nbytes
        arrays = (np.uint64(end - 4 * (n + first)) for n in (x, y))
        try:
            kernel(1, 40, (*arrays, np.int32(pitch), np.int32(count), np.int32(first)))
            found.append(words.numpy().tobytes())
        except simt.MemoryFault as fault:
            found.append((fault.site, fault.address - end))
    return found


def test_where_the_kernel_would_be_large() -> None:
    units = list[tuple[bool, bool]]()
    for text in (LARGE, SMALL):
        program, features = shared_device("jit").load(text).program, host_cpu().features
        unit = emit(program, program.functions["k"], BlockShape(40, 1, 1), features, "nounwind")[1]
        units.append((unit.large, unit.in_fours))
    assert units == [(False, True), (False, False)]


@pytest.mark.parametrize("count", [-1, 1, 3, 4, 7, 8, 13, 16, 20, 31, 37, 64])
def test_all_turns_are_made(count: int) -> None:
    one, other = results(2 * FAR, FAR, count + 20, count)
    assert other == one


def test_an_index_that_wraps_goes_on_as_it_was() -> None:
    """16 turns begin below 2^31 words and end beyond, where four by themselves would begin below zero."""
    one, other = results(2 * FAR, FAR, -100, 32, first=(1 << 31) - 24)
    assert isinstance(one, bytes)
    assert other == one


@pytest.mark.parametrize(("count", "left"), [(37, 36), (37, 33), (37, 30), (39, 34), (29, 13), (61, 35)])
def test_a_fault_is_on_the_line_of_its_turn(count: int, left: int) -> None:
    """A row that ends too early: what is read, and what is stored."""
    for x, y in ((left, 5 * FAR), (5 * FAR, left)):
        one, other = results(x, y, -100, count, first=5000)  # the other rows come before
        assert isinstance(one, tuple)
        assert other == one


DIFFERENT = {
    "turns that may be none": ("setp.lt.s32 %p, %n, 1", "setp.lt.s32 %p, %n, 0"),
    "other bits": ("2147483632", "1073741808"),
    "what a turn leaves behind": ("st.global.f32 [%y], %sum", "st.global.f32 [%y], %f"),
    "another start": ("add.s64 %qx, %d, 32", "add.s64 %qx, %d, 36"),
    "another step": ("add.s64 %qx, %qx, 64", "add.s64 %qx, %qx, 60"),
    "a sum that begins anew": ("neg.s32 %c, %k;", "neg.s32 %c, %k;\n    mov.f32 %sum, 0f3F800000;"),
    "fewer turns": ("[%qx+28]", "[%qx+24]"),
}


@pytest.mark.parametrize("what", DIFFERENT)
def test_what_is_different_stays_as_it_was(what: str) -> None:
    old, new = DIFFERENT[what]
    assert old in SMALL
    assert counts(SMALL) == [4]
    assert counts(SMALL.replace(old, new)) == []


def test_parameters_are_the_same_in_all_turns() -> None:
    """nvcc loads them before the loops, and in each turn, where it has few registers."""
    loaded = SMALL.replace("and.b32 %l, %n, 15;", "ld.param.s32 %m, [pitch];\n    and.b32 %l, %n, 15;", 1)
    loaded = loaded.replace("ld.global", "ld.param.s32 %m, [pitch];\n    ld.global")
    assert counts(loaded) == [4]
    param, word = "ld.param.s32 %m, [pitch];\n    and", "ld.global.u32 %m, [%x];\n    and"
    assert counts(loaded.replace(param, word)) == []
