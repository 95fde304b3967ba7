"""Loops whose last lanes go on alone: accesses that are checked together fault as if each were checked."""

from __future__ import annotations

import numpy as np
import pytest

import simt

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


def ones_at_the_end(device: simt.Device) -> simt.DeviceArray:
    """An array that ends where the accessible memory does, with room below for what launches need."""
    room = device.zeros(1 << 18, "u4")
    ones = device.array(np.ones(1 << 18, "u4"))
    assert ones.ptr == room.ptr + room.nbytes
    assert ones.ptr + ones.nbytes == device.memory.limit
    return ones


def test_rows_of_many_lengths(device: simt.Device) -> None:
    rows = Rows(device)
    rows.add()
    np.testing.assert_array_equal(rows.sums.numpy(), 4 * TURNS)


@pytest.mark.parametrize("beyond", range(5))
def test_faults_come_in_the_order_of_the_program(device: simt.Device, beyond: int) -> None:
    """The last words of the longest row lie beyond the arena: what comes before them is done."""
    rows = Rows(device)
    last = ones_at_the_end(device)
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
    last = ones_at_the_end(device)
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
