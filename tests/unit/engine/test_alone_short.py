"""Loops of a few turns, gone through by lanes one after the other: nothing of a turn that a lane has not got
is seen, and faults are those of the program."""

from __future__ import annotations

import re

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.host import SLOW_GATHERS
from simt.engine.llvm_kernel import emit
from tests.unit.engine.arrays import words_at_the_end
from tests.unit.engine.ways import WAYS, own_device

# A thread reads the first words of its list, as many as the two lowest bits of its length say, and the words
# of a table that they name. The sum depends on their order; `seen` counts them.
WALK = """.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 lists, .param .u64 lengths, .param .u64 table,
                  .param .u64 sums, .param .u64 seen)
{
    .reg .b64 %list, %to, %a, %table; .reg .b32 %t, %left, %sum, %w, %i, %n; .reg .pred %none, %more;
    mov.u32 %t, %tid.x;
    ld.param.u64 %a, [lists]; mad.wide.u32 %a, %t, 8, %a; ld.global.u64 %list, [%a];
    ld.param.u64 %a, [lengths]; mad.wide.u32 %a, %t, 4, %a; ld.global.u32 %left, [%a];
    and.b32 %left, %left, 3;
    ld.param.u64 %table, [table];
    mov.u32 %sum, %t; mov.u32 %n, 0;
    SKIP
TURN:
    ld.global.u32 %i, [%list];
    mul.wide.s32 %a, %i, 4; add.s64 %a, %a, %table;
    ld.global.u32 %w, [%a];
    mad.lo.u32 %sum, %sum, 3, %w;
    add.s64 %list, %list, 4;
    add.u32 %n, %n, 1;
    add.s32 %left, %left, -1;
    setp.ne.s32 %more, %left, 0;
    @%more bra TURN;
DONE:
    ld.param.u64 %to, [sums]; mad.wide.u32 %to, %t, 4, %to; st.global.u32 [%to], %sum;
    ld.param.u64 %to, [seen]; mad.wide.u32 %to, %t, 4, %to; st.global.u32 [%to], %n;
    ret;
}
"""
SKIPPING = WALK.replace("SKIP", "setp.eq.s32 %none, %left, 0; @%none bra DONE;")
LINES = WALK.splitlines()
READS_LIST = 1 + next(i for i, line in enumerate(LINES) if "[%list]" in line)
READS_TABLE = 1 + next(i for i, line in enumerate(LINES) if "[%a];" in line and "%w" in line)
THREADS = 80
"""Two warps and a half."""


@pytest.fixture(params=WAYS)
def device(request: pytest.FixtureRequest) -> simt.Device:
    return own_device(str(request.param))


class Lists:
    """Lists of indices into the middle of a table, four words each, and their lengths modulo 4. Indices are
    `least` and more: where one is negative, the warp goes through the loop as usual."""

    def __init__(self, device: simt.Device, source: str = SKIPPING, least: int = 0) -> None:
        generator = np.random.default_rng(3)
        self.kernel = device.load(source)["k"]
        self.words = device.array(generator.integers(0, 1 << 32, 1000, "u4"))
        self.table = self.words.ptr + 4 * 500
        self.lists = device.array(generator.integers(least, 500, (THREADS, 4), "i4"))
        self.starts = device.array(self.lists.ptr + 16 * np.arange(THREADS, dtype="u8"))
        self.lengths = device.array(generator.integers(0, 1 << 20, THREADS, "u4"))
        self.sums, self.seen = device.zeros(THREADS, "u4"), device.zeros(THREADS, "u4")

    def run(self) -> None:
        self.kernel(1, THREADS, (self.starts, self.lengths, self.table, self.sums, self.seen))

    def check(self) -> None:
        counts = self.lengths.numpy() & 3
        sums = np.arange(THREADS, dtype="u4")
        for turn in range(3):
            taken = self.words.numpy()[np.where(counts > turn, self.lists.numpy()[:, turn], 0) + 500]
            sums = np.where(counts > turn, sums * np.uint32(3) + taken, sums)
        np.testing.assert_array_equal(self.sums.numpy(), sums)
        np.testing.assert_array_equal(self.seen.numpy(), counts)

    def fault(self) -> simt.MemoryFault:
        with pytest.raises(simt.MemoryFault) as found:
            self.run()
        return found.value


@pytest.mark.parametrize("least", [0, -500])
def test_lanes_with_all_numbers_of_turns(device: simt.Device, least: int) -> None:
    lists = Lists(device, least=least)
    lists.run()
    lists.check()


@pytest.mark.parametrize("count", range(4))
def test_lanes_with_one_number_of_turns(device: simt.Device, count: int) -> None:
    lists = Lists(device)
    lists.lengths.numpy()[:] = 4 * np.arange(THREADS) + count
    lists.lengths.numpy()[5] = 1
    lists.run()
    lists.check()


def test_what_a_lane_does_not_read_may_be_anything(device: simt.Device) -> None:
    """Indices after the end of a list name no words."""
    lists = Lists(device)
    beyond = np.arange(4) >= (lists.lengths.numpy() & 3)[:, None]
    lists.lists.numpy()[beyond] = 1 << 29
    lists.run()
    lists.lists.numpy()[beyond] = 0
    lists.check()


@pytest.mark.parametrize("turn", range(3))
@pytest.mark.parametrize("index", [1 << 29, -(1 << 29), (1 << 31) - 1, -(1 << 31)])
def test_a_bad_index(device: simt.Device, turn: int, index: int) -> None:
    lists = Lists(device)
    lists.lengths.numpy()[41], lists.lists.numpy()[41, turn] = 3, index
    fault = lists.fault()
    assert fault.address == (lists.table + 4 * index) % 2**64
    assert fault.site.thread == (41, 0, 0)
    assert fault.site.line == READS_TABLE


def test_the_first_of_two_faults(device: simt.Device) -> None:
    """A later lane's fault comes first if it is in an earlier turn."""
    lists = Lists(device)
    lists.lengths.numpy()[[35, 50]] = 3
    lists.lists.numpy()[35, 2] = lists.lists.numpy()[50, 1] = 1 << 29
    assert lists.fault().site.thread == (50, 0, 0)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_list_at_the_end_of_memory(device: simt.Device, count: int) -> None:
    """What a lane would read in turns that it has not got lies beyond the arena."""
    lists = Lists(device)
    last = words_at_the_end(device, np.int32(0))
    limit = last.ptr + last.nbytes
    lists.starts.numpy()[70] = limit - 4 * count
    lists.lengths.numpy()[70], lists.lists.numpy()[70] = count, 0
    lists.run()
    lists.check()
    lists.lengths.numpy()[70] = count + 1
    if count == 3:
        return
    fault = lists.fault()
    assert (fault.address, fault.site.thread, fault.site.line) == (limit, (70, 0, 0), READS_LIST)


def test_a_misaligned_list(device: simt.Device) -> None:
    lists = Lists(device)
    lists.starts.numpy()[33] += 2
    lists.lengths.numpy()[33] = 1
    fault = lists.fault()
    assert (fault.address, fault.site.thread) == (lists.lists.ptr + 16 * 33 + 2, (33, 0, 0))
    assert fault.site.line == READS_LIST


def test_a_misaligned_table(device: simt.Device) -> None:
    lists = Lists(device)
    lists.table += 1
    assert lists.fault().site.line == READS_TABLE


def test_a_table_that_is_no_memory(device: simt.Device) -> None:
    """Indices may lead from anywhere into the arena."""
    lists = Lists(device)
    lists.table += 4 << 28
    lists.lists.numpy()[:] -= 1 << 28
    lists.run()
    lists.lists.numpy()[:] += 1 << 28
    lists.check()


def test_a_counter_that_wraps(device: simt.Device) -> None:
    """A list without end is read until memory ends: more turns than the counter seems to have."""
    lists = Lists(device, WALK.replace("SKIP", "setp.eq.s32 %none, %t, 7; @%none bra DONE;"))
    last = words_at_the_end(device, np.int32(0))
    limit = last.ptr + last.nbytes
    lists.lengths.numpy()[:] = 1
    lists.starts.numpy()[40], lists.lengths.numpy()[40] = limit - 80, 0
    fault = lists.fault()
    assert (fault.address, fault.site.thread, fault.site.line) == (limit, (40, 0, 0), READS_LIST)


def of_floats(bits: int) -> str:
    """`SKIPPING` with sums of floats: threads' words are their numbers, a turn's triples them."""
    size = str(bits // 8)
    return (
        SKIPPING.replace(".reg .pred", f".reg .f{bits} %x, %total, %three; .reg .pred")
        .replace("mov.u32 %sum, %t;", f"cvt.rn.f{bits}.u32 %total, %t; cvt.rn.f{bits}.u32 %three, 3;")
        .replace("mul.wide.s32 %a, %i, 4;", f"mul.wide.s32 %a, %i, {size};")
        .replace("ld.global.u32 %w, [%a];", f"ld.global.f{bits} %x, [%a];")
        .replace("mad.lo.u32 %sum, %sum, 3, %w;", f"fma.rn.f{bits} %total, %total, %three, %x;")
        .replace("mad.wide.u32 %to, %t, 4, %to; st.global.u32 [%to], %sum;",
                 f"mad.wide.u32 %to, %t, {size}, %to; st.global.f{bits} [%to], %total;")
    )  # fmt: skip


@pytest.mark.parametrize("bits", [32, 64])
def test_floats(device: simt.Device, bits: int) -> None:
    """Those of turns that a lane has not got are not taken, whatever they are: infinities, NaNs, zeros."""
    lists, kind = Lists(device, of_floats(bits)), f"f{bits // 8}"
    generator = np.random.default_rng(bits)
    table = generator.integers(-50, 50, 1000).astype(kind)
    table[::7], table[1::7], table[2::7] = np.inf, np.nan, -0.0
    words, results = device.array(table), device.zeros(THREADS, kind)
    start = words.ptr + 500 * table.itemsize
    lists.kernel(1, THREADS, (lists.starts, lists.lengths, start, results, lists.seen))
    counts, sums = lists.lengths.numpy() & 3, np.arange(THREADS, dtype=kind)
    for turn in range(3):
        sums = np.where(counts > turn, sums * 3 + table[lists.lists.numpy()[:, turn] + 500], sums)
    np.testing.assert_array_equal(results.numpy(), sums)
    assert {*(np.isnan(sums) + 2 * np.isinf(sums)).tolist()} == {0, 1, 2}
    np.testing.assert_array_equal(lists.seen.numpy(), counts)


@pytest.mark.parametrize("slow", [True, False])
def test_where_gathers_are_slow(slow: bool) -> None:
    """Elsewhere the warp stays together."""
    program = simt.Device("sm_90", engine="interpreter").load(SKIPPING).program
    features = frozenset({"avx", "avx2", SLOW_GATHERS} if slow else {"avx", "avx2"})
    text, _, _ = emit(program, program.functions["k"], BlockShape(64, 1, 1), features, "")
    assert (".bail" in text) == slow


@pytest.mark.parametrize(
    ("gathers", "space", "step", "most"),
    [
        (SLOW_GATHERS, "global", None, 32),
        (SLOW_GATHERS, "shared", None, 24),
        ("avx2", "global", None, 24),
        ("avx2", "shared", None, 16),
        ("avx2", "global", 4, 32),
        ("avx2", "global", 64, 24),
    ],
)
def test_how_many_lanes_go_alone(gathers: str, space: str, step: int | None, most: int) -> None:
    """Through a loop of any number of turns: more if it gets at memory other than shared lane by lane,
    and more where gathers are slow or each lane goes on from word to word; all without being counted."""
    read = "".join(f"ld.{space}.u32 %w, [{'%list' if step else '%a'}+{4 * i}]; " for i in range(3))
    source = SKIPPING.replace("and.b32 %left, %left, 3;", "").replace("ld.global.u32 %w, [%a];", read)
    source = source.replace("%list, %list, 4;", f"%list, %list, {step or 4};")
    source = source.replace("ld.global.u32 %i, [%list];", "cvt.u32.u64 %i, %list; and.b32 %i, %i, 60;")
    program = simt.Device("sm_90", engine="interpreter").load(source).program
    features = frozenset({"avx", "avx2", gathers})
    text, _, _ = emit(program, program.functions["k"], BlockShape(64, 1, 1), features, "")
    assert "\nalone." in text
    counted = re.findall(r"%v\d+ = icmp ule i32 %v\d+, (\d+)\n *br i1 %v\d+, label %few", text)
    assert set(counted) == (set() if most == 32 else {str(most)})
