"""Words that loops keep from the turn before. `tests.property.test_own_stores` runs random ones."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.analysis.carried_words import carrying_loops
from simt.analysis.schedule import schedule
from simt.analysis.ssa import build
from tests.conftest import shared_device
from tests.unit.engine.arrays import words_at_the_end

ROWS = """.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 rows, .param .u32 length, .param .u32 n)
{{
    .reg .b64 %p, %q, %far; .reg .b32 %t, %i, %n, %length, %w; .reg .f32 %f, %g, %h; .reg .f64 %d, %e;
    .reg .pred %more;
    ld.param.u64 %p, [rows]; ld.param.u32 %length, [length]; ld.param.u32 %n, [n];
    mov.u32 %t, %tid.x; mul.lo.u32 %t, %t, %length; mul.wide.u32 %far, %t, 4; add.s64 %p, %p, %far;
    add.s64 %q, %p, 4096; mov.u32 %i, 0;
TURN:
    {turn}
    add.s64 %p, %p, 4; add.s64 %q, %q, 4; add.s32 %i, %i, 1;
    setp.lt.s32 %more, %i, %n;
    @%more bra TURN;
    ret;
}}
"""
SUM = "ld.global.f32 %f, [%p+4]; ld.global.f32 %g, [%p]; add.f32 %f, %f, %g; st.global.f32 [%p+4], %f;"
STENCIL = """ld.global.f32 %f, [%p]; ld.global.f32 %g, [%p+4]; ld.global.f32 %h, [%p+8];
    add.f32 %g, %g, %f; add.f32 %g, %g, %h; st.global.f32 [%p+4], %g;"""


def carried(turn: str) -> int:
    """How many words the loop carries."""
    program = shared_device(engine="jit").load(ROWS.format(turn=turn)).program
    function = program.functions["k"]
    loops = carrying_loops(build(function, schedule(function)), program.environment)
    return sum(word.holder is not None for loop in loops for word in loop.words)


@pytest.mark.parametrize(
    ("turn", "words"),
    [
        (SUM, 1),
        (STENCIL, 2),
        (SUM.replace("st.global.f32 [%p+4]", "st.volatile.global.f32 [%p+4]"), 0),
        (SUM.replace("ld.global.f32 %g", "ld.volatile.global.f32 %g"), 0),
        (SUM.replace("st.global.f32 [%p+4]", "st.global.f32 [%q+4]"), 0),  # another's row may be there
        (f"{SUM} st.global.f32 [%q], %f;", 0),
        (f"{SUM} st.global.f32 [%p+8], %f;", 2),
        (SUM.replace("st.global.f32 [%p+4], %f", "st.global.f32 [%p+2], %f"), 0),
        (SUM.replace("st.global.f32 [%p+4], %f", "st.global.f32 [%p+4], 1.0"), 0),
        (f"{SUM} membar.gl;", 0),
        (f"{SUM} red.global.add.u32 [%q], 1;", 0),
        ("st.global.f32 [%p+4], %f; ld.global.f32 %g, [%p]; add.f32 %f, %f, %g;", 0),  # stored first
        ("ld.global.u32 %w, [%p]; cvt.rn.f32.u32 %f, %w; st.global.f32 [%p+4], %f;", 0),  # another type
        ("ld.global.f32 %f, [%p]; @%more st.global.f32 [%p+4], %f;", 0),
    ],
)
def test_which_words_are_carried(turn: str, words: int) -> None:
    assert carried(turn) == words


@pytest.mark.parametrize("engine", ["jit", "interpreter"])
def test_a_sum_in_place(engine: str) -> None:
    device = simt.Device("sm_90", engine=engine, workers=1)
    rows = np.random.default_rng(1).integers(0, 9, (32, 70)).astype("f4")
    array = device.array(rows)
    device.load(ROWS.format(turn=SUM))["k"](1, 32, (array, np.uint32(70), np.uint32(69)))
    np.testing.assert_array_equal(array.numpy(), rows.cumsum(axis=1, dtype="f4"))


@pytest.mark.parametrize("engine", ["jit", "interpreter"])
@pytest.mark.parametrize("turn", [SUM, STENCIL])
def test_the_first_word_beyond_the_end_is_named(turn: str, engine: str) -> None:
    """In the turn, by the line and the instruction, as if nothing were kept."""
    device = simt.Device("sm_90", engine=engine, memory="16MiB", workers=1)
    words, length = words_at_the_end(device, np.uint32(0)), 20
    start = np.uint64(words.ptr + words.nbytes - 4 * 32 * length)
    with pytest.raises(simt.MemoryFault, match=r"thread \(31, 0, 0\)") as caught:
        device.load(ROWS.format(turn=turn))["k"](1, 32, (start, np.uint32(length), np.uint32(length)))
    assert caught.value.address == words.ptr + words.nbytes
    first = np.uint64(words.ptr + words.nbytes - 4 * 31 * length)
    with pytest.raises(simt.MemoryFault, match=r"thread \(31, 0, 0\)") as caught:
        device.load(ROWS.format(turn=turn))["k"](1, 32, (first, np.uint32(length), np.uint32(1)))
    assert caught.value.address == words.ptr + words.nbytes + 4 * (turn == SUM)
