"""Loops whose last lanes go on alone: accesses that are checked together fault as if each were checked."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.host import named_cpus
from simt.engine.llvm_kernel import emit
from tests.conftest import shared_device
from tests.unit.engine.arrays import words_at_the_end

# A thread goes through its row, four words a turn, and keeps the sum of what it has read after every word.
# The fourth word of a turn is read only if its place in the row is below `end`.
WALK = """.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 rows, .param .u64 lengths, .param .u64 sums, .param .u32 end)
{
    .reg .b64 %row, %to, %a; .reg .b32 %t, %left, %sum, %w, %end, %i; .reg .pred %more, %in;
    mov.u32 %t, %tid.x;
    ld.param.u64 %a, [rows]; mad.wide.u32 %a, %t, 8, %a; ld.global.u64 %row, [%a];
    ld.param.u64 %a, [lengths]; mad.wide.u32 %a, %t, 4, %a; ld.global.u32 %left, [%a];
    ld.param.u64 %to, [sums]; mad.wide.u32 %to, %t, 4, %to;
    ld.param.u32 %end, [end];
    mov.u32 %sum, 0; mov.u32 %i, 3;
TURN:
    ld.global.u32 %w, [%row+-8]; add.u32 %sum, %sum, %w; st.global.u32 [%to], %sum;
    ld.global.u32 %w, [%row+-4]; add.u32 %sum, %sum, %w; st.global.u32 [%to], %sum;
    ld.global.u32 %w, [%row]; add.u32 %sum, %sum, %w; st.global.u32 [%to], %sum;
    setp.lt.u32 %in, %i, %end;
    @%in ld.global.u32 %w, [%row+4]; @!%in mov.u32 %w, 0; add.u32 %sum, %sum, %w; st.global.u32 [%to], %sum;
    add.s64 %row, %row, 16;
    add.u32 %i, %i, 4;
    sub.u32 %left, %left, 1;
    setp.ne.u32 %more, %left, 0;
    @%more bra TURN;
    ret;
}
"""
FIRST_LOAD = 1 + WALK.splitlines().index(next(s for s in WALK.splitlines() if "[%row+-8]" in s))
TURNS = np.random.default_rng(5).integers(1, 9, 32).astype("u4")
LAST = 19
"""The lane with the longest row."""
TURNS[LAST] = 12


class Rows:
    """Rows of ones, and where the kernel keeps their sums."""

    def __init__(self, device: simt.Device) -> None:
        self.kernel = device.load(WALK)["k"]
        self.words = device.array(np.ones((32, 64), "u4"))
        rows = np.arange(self.words.ptr, self.words.ptr + self.words.nbytes, 256, dtype="u8")
        self.starts, self.turns = device.array(rows + 8), device.array(TURNS)
        self.sums = device.zeros(32, "u4")

    def end_at(self, address: int) -> None:
        """Moves the longest row."""
        self.starts.numpy()[LAST] = address - 16 * int(TURNS[LAST]) + 8

    def add(self, end: int = 1 << 30) -> None:
        self.kernel(1, 32, (self.starts, self.turns, self.sums, end))


@pytest.fixture
def device(engine: str) -> simt.Device:
    """With memory of its own, whose end nobody else moves."""
    return simt.Device("sm_90", engine=engine, memory="64MiB")


def test_rows_of_many_lengths(device: simt.Device) -> None:
    rows = Rows(device)
    rows.add()
    np.testing.assert_array_equal(rows.sums.numpy(), 4 * TURNS)


@pytest.mark.parametrize("beyond", range(5))
def test_faults_come_in_the_order_of_the_program(device: simt.Device, beyond: int) -> None:
    """The last words of the longest row lie beyond the arena: what comes before them is done."""
    rows = Rows(device)
    last = words_at_the_end(device, np.uint32(1))
    limit = last.ptr + last.nbytes
    rows.end_at(limit + 4 * beyond)
    if not beyond:
        rows.add()
        assert rows.sums.numpy()[LAST] == 4 * TURNS[LAST]
        assert limit == device.memory.limit, "the launch itself must not move the end"
        return
    with pytest.raises(simt.MemoryFault) as fault:
        rows.add()
    assert fault.value.address == limit
    assert fault.value.site.thread == (LAST, 0, 0)
    assert fault.value.site.line == FIRST_LOAD + (0, 4, 2, 1, 0)[beyond]
    assert rows.sums.numpy()[LAST] == 4 * TURNS[LAST] - beyond


def test_what_is_not_read_does_not_fault(device: simt.Device) -> None:
    """The last word of the longest row lies beyond the arena, and its guard leaves it out."""
    rows = Rows(device)
    last = words_at_the_end(device, np.uint32(1))
    limit = last.ptr + last.nbytes
    rows.end_at(limit + 4)
    rows.add(end=4 * int(TURNS[LAST]) - 1)
    assert rows.sums.numpy()[LAST] == 4 * TURNS[LAST] - 1


def test_misaligned_rows(device: simt.Device) -> None:
    rows = Rows(device)
    rows.starts.numpy()[LAST] += 2
    with pytest.raises(simt.MemoryFault, match="misaligned") as fault:
        rows.add()
    assert fault.value.address == rows.words.ptr + 256 * LAST + 2
    assert fault.value.site.thread == (LAST, 0, 0)
    assert fault.value.site.line == FIRST_LOAD


@pytest.mark.parametrize("longest", [255, 256, 257, 1000])
def test_many_turns(device: simt.Device, longest: int) -> None:
    """More than a lane counts at a time; the last words lie at the end of the accessible memory."""
    rows = Rows(device)
    last = words_at_the_end(device, np.uint32(1))
    rows.turns.numpy()[LAST] = longest
    rows.starts.numpy()[LAST] = last.ptr + last.nbytes - 16 * longest + 8
    rows.add()
    turns = TURNS.copy()
    turns[LAST] = longest
    np.testing.assert_array_equal(rows.sums.numpy(), 4 * turns)


# A thread adds the words of a table that its own list of indices names, and the words before them.
LOOK_UP = """.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 lists, .param .u64 lengths, .param .u64 table, .param .u64 sums)
{
    .reg .b64 %list, %to, %a, %table; .reg .b32 %t, %left, %sum, %w, %i; .reg .pred %more;
    mov.u32 %t, %tid.x;
    ld.param.u64 %list, [lists]; mad.wide.u32 %list, %t, 64, %list;
    ld.param.u64 %a, [lengths]; mad.wide.u32 %a, %t, 4, %a; ld.global.u32 %left, [%a];
    ld.param.u64 %to, [sums]; mad.wide.u32 %to, %t, 4, %to;
    ld.param.u64 %table, [table];
    mov.u32 %sum, 0;
TURN:
    ld.global.u32 %i, [%list];
    EXTEND
    add.s64 %a, %a, %table;
    ld.global.u32 %w, [%a]; add.u32 %sum, %sum, %w; st.global.u32 [%to], %sum;
    ld.global.u32 %w, [%a+-4]; add.u32 %sum, %sum, %w; st.global.u32 [%to], %sum;
    add.s64 %list, %list, 4;
    sub.u32 %left, %left, 1;
    setp.ne.u32 %more, %left, 0;
    @%more bra TURN;
    ret;
}
"""
EXTENDED = {
    "signed": "mul.wide.s32 %a, %i, 4;",
    "unsigned": "mul.wide.u32 %a, %i, 4;",
    "shifted": "cvt.s64.s32 %a, %i; shl.b64 %a, %a, 2;",
    "twice": "cvt.s64.s32 %a, %i; mul.lo.s64 %a, %a, 2; shl.b64 %a, %a, 1;",
}
FIRST_LOOK = 1 + LOOK_UP.splitlines().index(
    next(s for s in LOOK_UP.splitlines() if "[%a];" in s and "%w" in s)
)


class Table:
    """A table between other memory, and lists of indices into its middle. `start`: of the table's words, the
    one at which indices begin to count."""

    def __init__(self, device: simt.Device, extended: str, start: int = 500) -> None:
        self.kernel = device.load(LOOK_UP.replace("EXTEND", EXTENDED[extended]))["k"]
        generator = np.random.default_rng(9)
        self.words = device.array(generator.integers(0, 1 << 32, 1000, "u4"))
        self.lists = device.array(generator.integers(1, 500, (32, 16)).astype("u4"))
        self.turns, self.sums = (
            device.array(generator.integers(1, 12, 32).astype("u4")),
            device.zeros(32, "u4"),
        )
        self.base, self.start = self.words.ptr + 4 * start, start

    def add(self) -> None:
        self.kernel(1, 32, (self.lists, self.turns, self.base, self.sums))

    def expected(self) -> list[int]:
        words, lists = self.words.numpy(), self.lists.numpy().view("i4").astype(int) + self.start
        taken = (lists[t, :n] for t, n in enumerate(self.turns.numpy()))
        return [int(words[i].sum(dtype="u8") + words[i - 1].sum(dtype="u8")) % 2**32 for i in taken]


@pytest.mark.parametrize("extended", EXTENDED)
def test_elements_by_index(device: simt.Device, extended: str) -> None:
    table = Table(device, extended)
    if extended != "unsigned":
        table.lists.numpy()[::3] = -table.lists.numpy()[::3]
    table.add()
    assert table.sums.numpy().tolist() == table.expected()


@pytest.mark.parametrize("extended", EXTENDED)
@pytest.mark.parametrize("index", [1 << 30, (1 << 31) - 1, 1 << 31, (1 << 32) - (1 << 28)])
def test_elements_out_of_range(device: simt.Device, extended: str, index: int) -> None:
    """Only the lane with the longest list comes to the bad index, alone, in its eleventh turn."""
    table = Table(device, extended)
    turns, lists = table.turns.numpy(), table.lists.numpy()
    turns[:] = np.minimum(turns, 10)
    turns[LAST], lists[LAST, 10] = 12, index
    bad = index if extended == "unsigned" or index < 1 << 31 else index - (1 << 32)
    with pytest.raises(simt.MemoryFault) as fault:
        table.add()
    assert fault.value.address == (table.base + 4 * bad) % 2**64
    assert fault.value.site.thread == (LAST, 0, 0)
    assert fault.value.site.line == FIRST_LOOK


@pytest.mark.parametrize("edge", ["first", "last"])
def test_elements_at_the_edges_of_memory(device: simt.Device, edge: str) -> None:
    """The word before the first one of the arena, or that after the last one, does not exist."""
    table = Table(device, "signed")
    last = words_at_the_end(device, np.uint32(1))
    words = (device.memory.base - table.base) // 4 if edge == "first" else 0
    if edge == "last":
        table.base, words = last.ptr, last.nbytes // 4
        table.lists.numpy()[:] = np.arange(16) + 1
    table.turns.numpy()[:] = np.minimum(table.turns.numpy(), 10)
    table.turns.numpy()[LAST], table.lists.numpy()[LAST, 10] = 12, words % 2**32
    with pytest.raises(simt.MemoryFault) as fault:
        table.add()
    assert fault.value.address == table.base + 4 * words - 4 * (edge == "first")
    assert fault.value.site.line == FIRST_LOOK + (edge == "first")


def test_a_misaligned_table(device: simt.Device) -> None:
    table = Table(device, "signed")
    table.base += 2
    with pytest.raises(simt.MemoryFault, match="misaligned") as fault:
        table.add()
    assert fault.value.site.line == FIRST_LOOK


# A thread goes through its row of a triangle in shared memory, as far as its number says.
TRIANGLE = """.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 beyond)
{
    .reg .b64 %in, %out, %o; .reg .b32 %t, %i, %a, %b, %v, %w, %n, %last; .reg .pred %p;
    .shared .align 4 .b8 box[12672];
    mov.u32 %t, %tid.x; ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.param.u32 %last, [beyond];
    mul.wide.u32 %o, %t, 4; add.u64 %in, %in, %o; add.u64 %out, %out, %o;
    mov.u32 %n, box; mad.lo.u32 %a, %t, 132, %n; mad.lo.u32 %b, %t, 4, %n;
    mov.u32 %i, 0;
FILL: ld.global.u32 %v, [%in]; st.shared.u32 [%b], %v; add.u64 %in, %in, 384; add.u32 %b, %b, 384;
    add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 33; @%p bra FILL;
    bar.sync 0;
    and.b32 %n, %t, 31; setp.eq.u32 %p, %t, 77; @%p add.u32 %n, %n, %last; mov.u32 %i, 0; mov.u32 %w, 0;
TURN: ld.shared.u32 %v, [%a]; add.u32 %w, %w, %v; st.shared.u32 [%a+4], %w; add.u32 %a, %a, 4;
    add.u32 %i, %i, 1; setp.le.u32 %p, %i, %n; @%p bra TURN;
    st.global.u32 [%out], %w; ret;
}
"""


def sums_of_rows(words: np.ndarray) -> list[int]:
    """Of each row, of which a word is replaced by the sum of those up to it before it is read."""
    found: list[int] = []
    for thread, row in enumerate(words.reshape(96, 33).astype(int)):
        total = 0
        for i in range(thread % 32 + 1):
            total += total if i else row[0]
        found.append(total % 2**32)
    return found


def test_rows_of_a_triangle(device: simt.Device) -> None:
    words = np.random.default_rng(1).integers(0, 2**32, 96 * 33, dtype="u4")
    out = device.zeros(96, "u4")
    device.load(TRIANGLE)["k"](1, 96, (device.array(words), out, 0))
    assert out.numpy().tolist() == sums_of_rows(words)


def test_a_row_that_goes_on_beyond_the_memory(device: simt.Device) -> None:
    words, out = device.array(np.zeros(96 * 33, "u4")), device.zeros(96, "u4")
    with pytest.raises(simt.MemoryFault) as fault:
        device.load(TRIANGLE)["k"](1, 96, (words, out, 10_000))
    assert (fault.value.site.thread, fault.value.address) == ((77, 0, 0), 12672)


def test_far_steps_count() -> None:
    """The loop stands there a second time, for one lane, whatever a gather takes."""
    program = shared_device("jit").load(TRIANGLE).program
    features = named_cpus()["x86-64-v4"].features
    text = emit(program, program.functions["k"], BlockShape(96, 1, 1), features, "nounwind")[0]
    assert "alone." in text
