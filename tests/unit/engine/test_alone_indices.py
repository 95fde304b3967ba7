"""Loops whose last lanes go on alone by an index of 32 bits: what is checked for many turns ends where the
index wraps, or the memory."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.host import host_cpu
from simt.engine.llvm_kernel import emit
from tests.unit.engine.arrays import words_at_the_end

# A thread goes through its row, two words a turn, and keeps the sum of what it has read after every word.
WALK = """.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 array, .param .u64 starts, .param .u64 turns, .param .u64 sums)
{
    .reg .b64 %array, %to, %a; .reg .b32 %t, %i, %left, %sum, %w; .reg .pred %more;
    mov.u32 %t, %tid.x; ld.param.u64 %array, [array];
    ld.param.u64 %a, [starts]; mad.wide.u32 %a, %t, 4, %a; ld.global.u32 %i, [%a];
    ld.param.u64 %a, [turns]; mad.wide.u32 %a, %t, 4, %a; ld.global.u32 %left, [%a];
    ld.param.u64 %to, [sums]; mad.wide.u32 %to, %t, 4, %to;
    mov.u32 %sum, 0;
TURN:
    mul.wide.KIND %a, %i, 4; add.s64 %a, %array, %a;
    ld.global.u32 %w, [%a]; add.u32 %sum, %sum, %w; st.global.u32 [%to], %sum;
    ld.global.u32 %w, [%a+4]; add.u32 %sum, %sum, %w; st.global.u32 [%to], %sum;
    add.u32 %i, %i, 2; sub.u32 %left, %left, 1;
    setp.ne.u32 %more, %left, 0;
    @%more bra TURN;
    ret;
}
"""
FIRST_LOAD = 1 + WALK.splitlines().index(next(s for s in WALK.splitlines() if "[%a]; add" in s))
LAST_INDEX = {"s32": 2**31 - 1, "u32": 2**32 - 1}
WORDS = np.arange(1, 1301, dtype="u4")
LAST = 19
"""The lane with the longest row."""


@pytest.fixture
def device(engine: str) -> simt.Device:
    """With memory of its own, whose end nobody else moves."""
    return simt.Device("sm_90", engine=engine, memory="64MiB")


@pytest.mark.parametrize("kind", LAST_INDEX)
@pytest.mark.parametrize(("longest", "beyond"), [(40, 0), (600, 0), (40, 1), (257, 1), (600, 3)])
def test_an_index_up_to_its_wrapping(device: simt.Device, kind: str, longest: int, beyond: int) -> None:
    """All rows end with the last index that there is; the longest goes on for some turns."""
    words = device.array(WORDS)
    last = LAST_INDEX[kind]
    turns = np.random.default_rng(3).integers(1, 9, 32)
    turns[LAST] = longest
    starts = (last + 1 - 2 * turns).astype("u4")
    array = words.ptr + words.nbytes - 4 * (last + 1)
    sums = device.zeros(32, "u4")
    expected = [WORDS[WORDS.size - 2 * n :].sum() for n in turns.tolist()]
    turns[LAST] += beyond
    kernel = device.load(WALK.replace("KIND", kind))["k"]
    arguments = np.uint64(array % 2**64), device.array(starts), device.array(turns.astype("u4")), sums
    if not beyond:
        kernel(1, 32, arguments)
        assert sums.numpy().tolist() == expected
        return
    with pytest.raises(simt.MemoryFault) as fault:
        kernel(1, 32, arguments)
    assert fault.value.address == (array + 4 * (last + 1 - 2**32)) % 2**64
    assert fault.value.site.thread == (LAST, 0, 0)
    assert fault.value.site.line == FIRST_LOAD
    assert sums.numpy()[LAST] == expected[LAST]


@pytest.mark.parametrize("beyond", [1, 2])
def test_an_index_up_to_the_end_of_memory(device: simt.Device, beyond: int) -> None:
    """The word that does not exist is the second one of the longest row's last turn, or the first."""
    end = words_at_the_end(device, np.uint32(7))
    turns = np.random.default_rng(4).integers(1, 9, 32).astype("u4")
    turns[LAST] = 40
    words = device.array(np.ones(80, "u4"))
    starts = np.zeros(32, "u4")
    limit = end.ptr + end.nbytes
    starts[LAST] = (limit - words.ptr) // 4 + beyond - 80
    arguments = words, device.array(starts), device.array(turns), device.zeros(32, "u4")
    with pytest.raises(simt.MemoryFault) as fault:
        device.load(WALK.replace("KIND", "s32"))["k"](1, 32, arguments)
    assert fault.value.address == limit
    assert fault.value.site.thread == (LAST, 0, 0)
    assert fault.value.site.line == FIRST_LOAD + (beyond == 1)


def test_turns_of_an_index_are_counted() -> None:
    program = simt.Device("sm_75").load(WALK.replace("KIND", "s32")).program
    text, *_ = emit(program, program.functions["k"], BlockShape(32, 1, 1), host_cpu().features, "nounwind")
    assert ".counted:" in text
