"""Turns of a loop that a compiler has written out, each under its guard: `if (i < n) { ...; i += 128; }`."""

from __future__ import annotations

import numpy as np
import pytest

from simt.analysis.asked_again import without_questions
from simt.analysis.program import Branch
from tests.conftest import shared_device

HEAD = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 out, .param .u32 n, .param .u32 width, .param .u32 pitch)
{
    .reg .pred %p<9>; .reg .b32 %i, %j, %n, %w, %h, %q, %r, %s; .reg .b64 %x, %o, %d; .reg .f32 %f;
    ld.param.u64 %x, [x]; ld.param.u64 %o, [out];
    ld.param.u32 %n, [n]; ld.param.u32 %w, [width]; ld.param.u32 %h, [pitch];
    mov.u32 %i, %ctaid.x; shl.b32 %i, %i, 8; mov.u32 %j, %tid.x; add.u32 %i, %i, %j;
    setp.ge.s32 %p0, %i, %n;
    @%p0 bra $0;
"""
TURN = """
    div.u32 %q, %i, %w; mul.lo.u32 %s, %q, %w; sub.u32 %r, %i, %s;
    mad.lo.u32 %s, %q, %h, %r;
    mul.wide.u32 %d, %s, 4; add.u64 %d, %x, %d; ld.global.f32 %f, [%d];
    mul.wide.u32 %d, %i, 4; add.u64 %d, %o, %d; st.global.f32 [%d], %f;
    add.u32 %i, %i, 64;
"""
AGAIN = """
$NUMBER:
    setp.ge.s32 %pNEXT, %i, %n;
    WRITTEN
    @%pNEXT bra $NEXT;
"""


def program(turns: int = 4, written: str = "") -> str:
    text = HEAD + TURN
    for turn in range(turns - 1):
        again = AGAIN.replace("NUMBER", str(turn)).replace("NEXT", str(turn + 1))
        text += again.replace("WRITTEN", written) + TURN
    return text + f"${turns - 1}:\n    ret;\n}}\n"


@pytest.mark.parametrize(("width", "pitch"), [(1000, 1001), (50, 64), (20, 21), (7, 9), (64, 64)])
def test_rows_of_turns(width: int, pitch: int) -> None:
    """All lanes of a warp in one row, in two, in many; a last warp of which a part has a turn."""
    device = shared_device("jit")
    kernel = device.load(program())["k"]
    for n in (0, 5, 250, 1003):
        x = np.random.default_rng(n).random((-(-max(n, 1) // width), pitch), "f4")
        given, out = device.array(x), device.zeros(1100, "f4")
        kernel((-(-1100 // 256),), (64,), (given, out, n, width, pitch))
        np.testing.assert_array_equal(out.numpy()[:n], x[:, :width].ravel()[:n])
        assert not out.numpy()[n:].any()


def branches(written: str = "", turns: int = 4) -> list[int]:
    """Lines to which ways past other blocks lead: how many branches lead to the end."""
    module = shared_device("jit").load(program(turns, written))
    kernel = module.program.functions["k"]
    found = without_questions(module.program, kernel)
    ends = [b.terminator for b in found.blocks if isinstance(b.terminator, Branch)]
    return [sum(not branch.taken.successors() for branch in ends), int(found is kernel)]


def test_who_is_led_past() -> None:
    assert branches() == [4, 0]
    assert branches(turns=1) == [1, 1]


@pytest.mark.parametrize(
    "written",
    [
        "add.u32 %i, %i, 0;",
        "add.u32 %n, %n, 1;",
        "st.global.u32 [%o], %n;",
        "@%p0 mov.u32 %r, 1;",
        "mov.u32 %w, 9;",
    ],
)
def test_who_is_not(written: str) -> None:
    """Blocks that write what is asked for or what others read, or do something."""
    assert branches(written) == [1, 1]
