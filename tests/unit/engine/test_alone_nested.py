"""Loops that last lanes go on with alone: with loops in them, or through arrays of the thread's own."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.host import named_cpus
from simt.engine.llvm_kernel import emit
from tests.conftest import shared_device

# A thread goes through its chain of rows (how many words, and the next row) and keeps the sum so far after
# every word.
CHAIN = """.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 first, .param .u64 sums)
{
    .reg .b64 %row, %word, %to, %a; .reg .b32 %t, %left, %sum, %w; .reg .pred %more;
    mov.u32 %t, %tid.x; mov.u32 %sum, 0;
    ld.param.u64 %a, [first]; mad.wide.u32 %a, %t, 8, %a; ld.global.u64 %row, [%a];
    ld.param.u64 %to, [sums]; mad.wide.u32 %to, %t, 4, %to;
ROW:
    ld.global.u32 %left, [%row+8]; add.u64 %word, %row, 16;
WORD:
    ld.global.u32 %w, [%word]; add.u32 %sum, %sum, %w; st.global.u32 [%to], %sum;
    add.u64 %word, %word, 4; sub.u32 %left, %left, 1; setp.ne.u32 %more, %left, 0;
    @%more bra WORD;
    ld.global.u64 %row, [%row]; setp.ne.u64 %more, %row, 0;
    @%more bra ROW;
    ret;
}
"""
WORD_LINE = 1 + CHAIN.splitlines().index(next(s for s in CHAIN.splitlines() if "[%word]" in s))
SPACE, ROW_WORDS = 16, 32
"""Rows of a thread, and the words that each takes, with its head of four."""
LAST = 21
"""The lane with the longest chain."""


class Chains:
    """Chains of rows of every length, and where the kernel keeps sums."""

    def __init__(self, device: simt.Device) -> None:
        self.device, self.draw = device, np.random.default_rng(3)
        self.rows = device.array(self.draw.integers(1, 1000, (32, SPACE, ROW_WORDS)).astype("u4"))
        starts = self.rows.ptr + 4 * ROW_WORDS * SPACE * np.arange(32, dtype="u8")
        self.starts, self.sums = device.array(starts), device.zeros(32, "u4")
        for lane in range(32):
            self.link(lane, SPACE if lane == LAST else int(self.draw.integers(1, 9)))

    def link(self, lane: int, rows: int) -> None:
        heads = self.rows.numpy()[lane]
        for row in range(rows):
            heads[row, :2] = 0
            if row + 1 < rows:
                heads[row, :2] = np.array([self.address(lane, row + 1)], "u8").view("u4")
            heads[row, 2] = self.draw.integers(1, ROW_WORDS - 3)

    def address(self, lane: int, row: int) -> int:
        return int(self.rows.ptr + 4 * ROW_WORDS * (SPACE * lane + row))

    def run(self) -> list[int]:
        self.device.load(CHAIN)["k"](1, 32, (self.starts, self.sums))
        return [int(v) for v in self.sums.numpy()]

    def total(self, lane: int, rows: int = SPACE) -> int:
        """Of as many rows of a lane."""
        total, heads = 0, self.rows.numpy()[lane]
        for row in heads[:rows]:
            total += int(row[4 : 4 + row[2]].sum(dtype="u8"))
            if not row[:2].any():
                break
        return total % 2**32


@pytest.fixture
def device(engine: str) -> simt.Device:
    return simt.Device("sm_90", engine=engine, memory="64MiB", timeout=20)


def test_chains_of_rows(device: simt.Device) -> None:
    chains = Chains(device)
    assert chains.run() == [chains.total(lane) for lane in range(32)]


def test_a_fault_in_an_inner_loop(device: simt.Device) -> None:
    """The last row of the longest chain goes on beyond the end of memory."""
    chains = Chains(device)
    rows = SPACE - 1
    chains.rows.numpy()[LAST, rows, 2] = 1 << 30
    with pytest.raises(simt.MemoryFault) as fault:
        chains.run()
    assert fault.value.site.thread == (LAST, 0, 0)
    assert fault.value.site.line == WORD_LINE
    assert fault.value.address == device.memory.limit
    assert chains.sums.numpy()[0] == chains.total(0)


@pytest.mark.parametrize("head", [2, 1 << 40])
def test_a_row_that_does_not_exist(device: simt.Device, head: int) -> None:
    """Misaligned, or anywhere."""
    chains = Chains(device)
    bad = chains.address(LAST, 9) + head
    chains.rows.numpy()[LAST, 8, :2] = np.array([bad], "u8").view("u4")
    with pytest.raises(simt.MemoryFault) as fault:
        chains.run()
    assert fault.value.site.thread == (LAST, 0, 0)
    assert fault.value.site.line == WORD_LINE - 2
    assert fault.value.address == bad + 8
    assert chains.sums.numpy()[LAST] == chains.total(LAST, 9)


def test_a_lane_that_never_leaves_an_inner_loop() -> None:
    """It has gone there alone, and looks for an abort there."""
    device = simt.Device("sm_90", engine="jit", memory="64MiB", timeout=0.3)
    text = CHAIN.replace("add.u64 %word, %word, 4; sub.u32 %left, %left, 1;", "STEP")
    step = "setp.lt.u32 %more, %left, 100; @%more add.u64 %word, %word, 4; @%more sub.u32 %left, %left, 1;"
    chains = Chains(device)
    chains.rows.numpy()[LAST, 12, 2] = 1000
    with pytest.raises(simt.LaunchTimeout):
        device.load(text.replace("STEP", step))["k"](1, 32, (chains.starts, chains.sums))


# How many permutations of `size` numbers there are, by a stack of the choices made so far.
CHOICES = """.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 sizes, .param .u64 counts)
{
    .reg .b64 %to, %a, %s, %at; .reg .b32 %t, %n, %d, %c, %used, %count, %b, %before; .reg .pred %p, %q;
    .local .align 4 .b8 stack[64];
    mov.u32 %t, %tid.x; mov.u32 %count, 0; mov.u32 %used, 0; mov.u32 %d, 0; mov.u64 %s, stack;
    ld.param.u64 %a, [sizes]; mad.wide.u32 %a, %t, 4, %a; ld.global.u32 %n, [%a];
    ld.param.u64 %to, [counts]; mad.wide.u32 %to, %t, 4, %to;
    mov.u32 %c, 0;
NEXT:
    setp.ge.u32 %p, %c, %n; @%p bra BACK;
    shl.b32 %b, 1, %c; and.b32 %before, %b, %used; setp.ne.u32 %q, %before, 0;
    @%q bra SKIP;
    mad.wide.u32 %at, %d, 4, %s; st.local.u32 [%at], %c;
    or.b32 %used, %used, %b; add.u32 %d, %d, 1; mov.u32 %c, 0;
    setp.lt.u32 %p, %d, %n; @%p bra NEXT;
    add.u32 %count, %count, 1;
BACK:
    setp.eq.u32 %p, %d, 0; @%p bra DONE;
    sub.u32 %d, %d, 1; mad.wide.u32 %at, %d, 4, %s; ld.local.u32 %c, [%at];
    shl.b32 %b, 1, %c; xor.b32 %used, %used, %b;
SKIP:
    add.u32 %c, %c, 1; bra NEXT;
DONE:
    st.global.u32 [%to], %count; ret;
}
"""


def test_stacks_of_choices(device: simt.Device) -> None:
    """n! permutations of n."""
    sizes = np.random.default_rng(4).integers(1, 5, 64).astype("u4")
    sizes[[3, 40]] = 6
    counts = device.zeros(64, "u4")
    device.load(CHOICES)["k"](1, 64, (device.array(sizes), counts))
    factorials = np.array([1, 1, 2, 6, 24, 120, 720])
    np.testing.assert_array_equal(counts.numpy(), factorials[sizes])


def emitted(text: str) -> str:
    program = shared_device("jit").load(text).program
    features = named_cpus()["x86-64-v4"].features
    return emit(program, program.functions["k"], BlockShape(64, 1, 1), features, "nounwind")[0]


def test_both_loops_stand_twice() -> None:
    labels = [line for line in emitted(CHAIN).splitlines() if line.startswith("alone.")]
    assert sum(label.endswith(".turn:") for label in labels) == 2


def test_walks_through_own_arrays() -> None:
    """Where lanes are at one place of their arrays they stay together."""
    assert "alone." in emitted(CHOICES)
    assert "alone." not in emitted(CHOICES.replace("mad.wide.u32 %at, %d, 4, %s", "mov.u64 %at, %s"))
