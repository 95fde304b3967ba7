"""Unrolled loops of which the turns that are left over are done last, as LLVM 20 writes them, rolled again.
The interpreter, which runs them as they are, is the judge."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.host import SLOW_GATHERS, host_cpu
from simt.engine.llvm_kernel import emit
from simt.engine.llvm_prefetch import AHEAD_ROLLED
from tests.conftest import shared_device
from tests.unit.engine.test_rolled_again import FETCHED, HEAD, SCALED, STORE_SUM, SUMMED, is_rolled, results

COUNTED = """
    setp.ge.s32 %p, %i, %n;
    @%p bra END;
    not.b32 %t, %i;
    add.s32 %t, %t, %n;
    div.u32 %q, %t, %s;
    add.s32 %t, %q, 1;
    and.b32 %left, %t, {left};
    setp.lt.u32 %p, %q, {left};
    @%p bra REST;
    and.b32 %c, %t, {whole};
    neg.s32 %c, %c;
MAIN:
    {turns}
    add.s32 %c, %c, {factor};
    setp.ne.s32 %p, %c, 0;
    @%p bra MAIN;
REST:
    setp.eq.s32 %p, %left, 0;
    @%p bra END;
"""
PART = """
    and.b32 %left, %t, {left};
    setp.lt.u32 %p, %left, {part};
    @%p bra SKIP{part};
    {turns}
SKIP{part}:
    and.b32 %left, %t, {rest};
    setp.eq.s32 %p, %left, 0;
    @%p bra END;
"""
LOOP = """
    neg.s32 %c, %left;
LAST:
    {turn}
    add.s32 %c, %c, 1;
    setp.ne.s32 %p, %c, 0;
    @%p bra LAST;
"""
TURN = """mul.wide.s32 %d, %i, {size};
    add.s64 %px, %x, %d;
    mul.wide.s32 %w, %i, 4;
    add.s64 %py, %y, %w;
    {acts}
    add.s32 %i, %i, %s;"""


def loops(acts: str, factor: int, last: int, size: int = 4, end: str = "") -> str:
    """A kernel with `factor` turns in one. Those left over stand in rows of `last` turns or more, the rest in
    a loop, unless that is 1: then the last turn stands there without what no other would need."""
    turn = TURN.format(size=size, acts=acts.format(x="%px", y="%py"))
    text = COUNTED.format(
        left=factor - 1, whole=(1 << 32) - factor, factor=factor, turns="\n    ".join([turn] * factor)
    )
    part = factor // 2
    while part >= max(last, 2):
        text += PART.format(left=2 * part - 1, part=part, turns="\n    ".join([turn] * part), rest=part - 1)
        part //= 2
    text += LOOP.format(turn=turn) if last > 1 else turn.rpartition("add.s32")[0]
    return HEAD + text + "END:\n" + end + "ret;\n}\n"


SHAPES = {
    "eight": loops(SCALED, 8, 4),
    "sixteen, sums": loops(SUMMED, 16, 4, end=STORE_SUM),
    "four, sums": loops(SUMMED, 4, 4, end=STORE_SUM),
    "eight, all in rows": loops(SUMMED, 8, 1, end=STORE_SUM),
    "two": loops(SCALED, 2, 1),
}


@pytest.mark.parametrize("name", SHAPES)
def test_all_turns_are_made(name: str) -> None:
    assert is_rolled(SHAPES[name])
    for limit in (1, 130, 900, 1409, 2047, 2048, 2500, 3001):
        one, other = results(SHAPES[name], limit, 128)
        assert other == one


def test_a_counter_that_may_wrap_goes_on_as_it_was() -> None:
    text = SHAPES["four, sums"].replace("ld.global.f32 %f, [%px]", "mov.f32 %f, 0f3F800000")
    for limit, step in ((2**31 - 1, 1 << 30), (2**31 - 1, 1 << 26), (-5, 64)):
        one, other = results(text, limit, step, grid=1)
        assert other == one


DIFFERENT = {
    "another factor in the loop": ("0f40200000", "0f40000000", 5),
    "another factor in a row": ("0f40200000", "0f40000000", 10),
    "another factor in the last loop": ("0f40200000", "0f40000000", -1),
    "a copy left out": ("st.global.f32 [%py], %f;", "", 9),
    "one step less": ("add.s32 %i, %i, %s;", "", 10),
    "fewer turns than counted": ("and.b32 %left, %t, 7", "and.b32 %left, %t, 15", 0),
    "more turns in the last loop": ("neg.s32 %c, %left", "not.b32 %c, %left", 0),
    "another quotient": ("not.b32 %t, %i", "neg.s32 %t, %i", 0),
    "more turns": ("add.s32 %t, %q, 1", "add.s32 %t, %q, 2", 0),
    "the loop for fewer turns": ("setp.lt.u32 %p, %q, 7", "setp.lt.u32 %p, %q, 6", 0),
    "the loop once more": ("%t, 4294967288", "%t, 4294967280", 0),
    "not all bits": ("%t, 4294967288", "%t, 65528", 0),
    "a row for fewer turns": ("%p, %left, 4", "%p, %left, 3", 0),
    "not asked before": ("setp.ge.s32 %p, %i, %n", "setp.gt.s32 %p, %i, %n", 0),
    "volatile": ("ld.global.f32 %g", "ld.volatile.global.f32 %g", 8),
}  # fmt: skip


def changed(text: str, old: str, new: str, at: int) -> str:
    """A text with one of many places changed."""
    parts = text.split(old)
    at %= len(parts) - 1
    return old.join(parts[: at + 1]) + new + old.join(parts[at + 1 :])


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_is_different_stays_as_it_was(name: str) -> None:
    assert not is_rolled(changed(SHAPES["eight"], *DIFFERENT[name]))


@pytest.mark.parametrize("what", ["%i", "%left", "%z"])
def test_what_is_read_later_must_be_the_same(what: str) -> None:
    """Where all lanes have turns to do, what is left of the first loop may be read behind the last."""
    text = SHAPES["eight"].replace("bra END;\n    not", "bra OUT;\n    not")
    text = text.replace("REST:", "REST: .reg .s32 %z;\n mov.s32 %z, %i;")
    store = f"mul.wide.s32 %d, %j, 4; add.s64 %y, %y, %d; st.global.u32 [%y], {what};"
    text = text.replace("END:\n", f"END: {store}\nOUT:\n")
    assert is_rolled(text) == (what == "%i")
    if what == "%i":
        one, other = results(text, 3001, 128)
        assert other == one


def test_what_the_loops_carry_on() -> None:
    """The first loop may not begin with something else than the last, nor change what that takes as it is."""
    acts = "ld.global.f32 %f, [{x}];\n    add.f32 %f, %f, %g;\n    add.f32 %sum, %sum, %f;"
    text = loops(acts, 4, 4, end=STORE_SUM).replace("mov.u32 %j", "mov.f32 %g, 0f3F800000;\n    mov.u32 %j")
    assert is_rolled(text)
    assert not is_rolled(text.replace("MAIN:", "mov.f32 %sum, %g;\nMAIN:"))
    running = loops(SUMMED + "\n    st.global.f32 [{y}], %sum;", 4, 4)
    assert is_rolled(running)
    assert not is_rolled(running.replace("add.s32 %c, %c, 4;", "neg.f32 %sum, %sum;\n    add.s32 %c, %c, 4;"))
    assert not is_rolled(text.replace("add.s32 %c, %c, 4;", "add.f32 %g, %g, %g;\n    add.s32 %c, %c, 4;"))


@pytest.mark.parametrize(("features", "asked"), [(set[str](), 1), ({SLOW_GATHERS}, 0)])
def test_a_loop_of_small_steps_asks_ahead(features: set[str], asked: int) -> None:
    """By a page, as it would by some turns if those were the unrolled ones."""
    text = SHAPES["four, sums"].replace("ld.param.s32 %s, [step];", "mov.u32 %s, 32;")
    program, cpu = shared_device("jit").load(text).program, host_cpu().features - {SLOW_GATHERS} | features
    made = emit(program, program.functions["k"], BlockShape(64, 1, 1), cpu, "nounwind")[0]
    assert (
        sum(" = add i64 " in line and line.endswith(f", {AHEAD_ROLLED}") for line in made.splitlines())
        == asked
    )


@pytest.mark.parametrize("register", ["%x", "%i"])
def test_a_last_turn_that_another_one_cannot_follow(register: str) -> None:
    """It overwrites what no turn after it reads, as there is none."""
    size = 64 if register == "%x" else 32
    before, _, after = SHAPES["two"].rpartition("END:")
    assert not is_rolled(f"{before}mov.b{size} {register}, 0;\nEND:{after}")


FETCHES = {last: loops(FETCHED, 8, last, size=8) for last in (1, 4)}


@pytest.mark.parametrize("last", FETCHES)
@pytest.mark.parametrize(
    ("limit", "wrong"), [(400, 0), (400, 399), (960, 130), (960, 511), (960, 512), (960, 850), (960, 959)]
)
def test_a_fault_is_on_the_line_of_its_turn(last: int, limit: int, wrong: int) -> None:
    text = FETCHES[last]
    assert is_rolled(text)
    sites = list[tuple[simt.FaultSite, int]]()
    for engine in ("interpreter", "jit"):
        device = shared_device(engine)
        word, out = device.array(np.ones(1, "f4")), device.zeros(3000, "f4")
        places = np.full(3000, word.ptr, "u8")
        places[wrong] = 4 * wrong
        with pytest.raises(simt.MemoryFault) as caught:
            device.load(text)["k"](1, 64, (device.array(places), out, np.int32(limit), np.int32(64)))
        sites.append((caught.value.site, caught.value.address))
    assert sites[0] == sites[1]


WIDE = {
    "mul.wide.s32 %d, %i, 8;": "shl.b64 %d, %i, 3;",
    "mul.wide.s32 %w, %i, 4;": "shl.b64 %w, %i, 2;",
    "%s, %q, %t, %left, %c;": "%s, %q, %t, %left, %c; .reg .u32 %me;",
    "ld.param.s32 %s, [step];": "ld.param.u64 %t, [first]; mov.u64 %s, 1;",
    "mov.u32 %i, %tid.x; mov.u32 %t, %ntid.x; mov.u32 %c, %ctaid.x;": "mov.u32 %me, %tid.x;",
    "mad.lo.s32 %i, %c, %t, %i;\n    mov.u32 %j, %i;": "cvt.u64.u32 %i, %me; add.s64 %i, %i, %t;",
    ".param .s32 step": ".param .s64 first",
    ".s32": ".s64",
    "setp.lt.u32": "setp.lt.u64",
    "div.u32": "div.u64",
    ".b32": ".b64",
    "4294967292": str((1 << 64) - 4),
}
"""What makes the counter of a kernel one of 64 bits that begins with a parameter."""


@pytest.mark.parametrize(("first", "limit"), [(-(1 << 63), 1 << 30), (-(1 << 63), 100), (-(1 << 61), 7)])
def test_a_fault_in_more_turns_than_a_signed_number_says(first: int, limit: int) -> None:
    """All threads come to it in their first turn, which is the first of four."""
    text = loops(FETCHED, 4, 4, size=8)
    for old, new in WIDE.items():
        assert old in text
        text = text.replace(old, new)
    assert is_rolled(text)
    device = shared_device("jit")
    out = device.zeros(64, "f4")
    with pytest.raises(simt.MemoryFault) as caught:
        device.load(text)["k"](1, 64, (device.zeros(64, "u8"), out, np.int64(limit), np.int64(first)))
    lines = [n for n, line in enumerate(text.splitlines(), 1) if "[%a4]" in line]
    assert caught.value.site.line == lines[0]
