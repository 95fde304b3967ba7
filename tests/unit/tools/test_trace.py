"""What a traced warp is said to execute. Expectations are counted by hand, from the PTX."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import simt
from simt.tools.trace import Trace, Tracer, trace
from tests.unit.engine.random_control import Control
from tests.unit.engine.structured_control import CTAS, THREADS, Structured

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples" / "if_then_else.ptx"
ALL = 0xFFFFFFFF
HEAD = ".version 7.0\n.target sm_75\n.address_size 64\n"
EVEN, ODD = 0x55555555, 0xAAAAAAAA


def device(arch: str = "sm_90") -> simt.Device:
    return simt.Device(arch, memory="64MiB", timeout=20)


def traced(
    text: str, block: int = 32, grid: int = 1, cta: int = 0, warp: int = 0, arch: str = "sm_90"
) -> Trace:
    return trace(device(arch).load(HEAD + text)["k"], grid, block, cta=cta, warp=warp)


def operations(found: Trace) -> list[tuple[str, int, str]]:
    """Every operation of the stack: its name and mask, and the first word of the instruction with it."""
    return [(o.name, o.mask, step.text.split(": ")[-1]) for step in found.steps for o in step.stack]


def executed(found: Trace, word: str) -> list[int]:
    """The masks with which instructions that contain a word were executed."""
    return [s.lanes for s in found.steps if word in s.text]


def choice(kernel: str, zeros: int) -> Trace:
    """The example, with so many lanes for ELSE."""
    dev = device()
    x = np.random.default_rng(zeros).permutation(np.r_[np.zeros(zeros), np.ones(32 - zeros)])
    arrays = [dev.array(a) for a in (x, np.ones(32), np.full(32, 7.0))]
    found = trace(dev.load(EXAMPLE)[kernel], 1, 32, arrays)
    assert (arrays[0].numpy() == np.where(x != 0, 0.0, 7.0 if kernel == "choose" else -7.0)).all()
    return found


# ---------------------------------------------------------------- the worked IF-THEN-ELSE


def test_the_worked_example_pushes_complements_and_pops_where_its_listing_says() -> None:
    dev = device()
    arrays = [dev.array(a) for a in (np.arange(32) % 2 * 1.0, np.ones(32), np.full(32, 7.0))]
    found = trace(dev.load(EXAMPLE)["choose"], 1, 32, arrays)
    assert operations(found) == [
        ("push", ALL, "@!%p1 bra ELSE1"),
        ("complement", EVEN, "@%p1 bra ENDIF1"),
        ("pop", ALL, "exit"),
    ]
    parted = [(s.text, s.lanes) for s in found.steps if s.depth]
    then = ["ld.global.f64 %r2, [%y]", "sub.f64 %r0, %r0, %r2", "st.global.f64 [%x], %r0", "@%p1 bra ENDIF1"]
    otherwise = ["ELSE1: ld.global.f64 %r0, [%z]", "st.global.f64 [%x], %r0"]
    assert parted == [(t, ODD) for t in then] + [(t, EVEN) for t in otherwise]
    (entry,) = found.entries.values()
    assert (entry.instructions, entry.lanes, entry.slots, entry.ratio) == (6, 96, 192, 0.5)
    assert (found.whole.instructions, found.whole.lanes) == (18, 12 * 32 + 96)


@pytest.mark.parametrize("zeros", [1, 5, 16, 31])
def test_equal_ways_have_an_efficiency_of_one_half(zeros: int) -> None:
    (entry,) = choice("balanced", zeros).entries.values()
    assert (entry.instructions, entry.lanes, entry.ratio) == (8, 128, 0.5)


@pytest.mark.parametrize(("zeros", "instructions"), [(0, 16), (32, 14)])
def test_lanes_that_agree_skip_the_other_way(zeros: int, instructions: int) -> None:
    found = choice("choose", zeros)
    assert operations(found) == []
    assert (found.whole.instructions, found.whole.ratio) == (instructions, 1.0)


def test_unequal_ways() -> None:
    (entry,) = choice("choose", 8).entries.values()
    assert (entry.instructions, entry.lanes) == (6, 4 * 24 + 2 * 8)


# ---------------------------------------------------------------- control flow

LOOP = """
.visible .entry k() {
    .reg .pred %p; .reg .b32 %t, %n;
    mov.u32 %t, %tid.x;
    mov.u32 %n, 0;
L:
    add.u32 %n, %n, 1;
    setp.le.u32 %p, %n, %t;
    @%p bra L;
    mov.u32 %n, 5;
    exit;
}
"""


def test_lanes_that_leave_a_loop_wait_for_the_last() -> None:
    found = traced(LOOP)
    assert executed(found, "add") == [ALL << i & ALL for i in range(32)]
    assert operations(found) == [("push", ALL, "add.u32 %n, %n, 1"), ("pop", ALL, "mov.u32 %n, 5")]
    (entry,) = found.entries.values()
    assert (entry.instructions, entry.lanes) == (3 * 32, 3 * sum(range(1, 33)))
    assert found.whole.lanes == entry.lanes + 4 * 32


def test_nested_branches_nest_on_the_stack() -> None:
    found = traced("""
.visible .entry k() {
    .reg .pred %p, %q; .reg .b32 %t, %a;
    mov.u32 %t, %tid.x;
    and.b32 %a, %t, 1;
    setp.ne.u32 %p, %a, 0;
    and.b32 %a, %t, 2;
    setp.ne.u32 %q, %a, 0;
    @%p bra DONE;
    @%q bra INNER;
    mov.u32 %a, 11;
INNER:
    mov.u32 %a, 12;
DONE:
    exit;
}
""")
    assert operations(found) == [
        ("push", ALL, "@%p bra DONE"),
        ("push", EVEN, "@%q bra INNER"),
        ("pop", EVEN, "mov.u32 %a, 12"),
        ("pop", ALL, "exit"),
    ]
    assert executed(found, "mov.u32 %a, 11") == [0x11111111]


def test_break_out_of_a_branch_in_a_loop() -> None:
    """In round i (from 0) the odd lanes take the branch; those with number i leave the loop there."""
    found = traced("""
.visible .entry k() {
    .reg .pred %p, %q; .reg .b32 %t, %a, %n;
    mov.u32 %t, %tid.x;
    mov.u32 %n, 0;
    and.b32 %a, %t, 1;
    setp.eq.u32 %p, %a, 0;
LOOP:
    @%p bra NEXT;
    setp.eq.u32 %q, %t, %n;
    @%q bra OUT;
NEXT:
    add.u32 %n, %n, 1;
    setp.lt.u32 %q, %n, 4;
    @%q bra LOOP;
OUT:
    exit;
}
""")
    assert executed(found, "setp.eq.u32 %q") == [ODD, ODD, ODD & ~2, ODD & ~2]
    assert executed(found, "add") == [ALL, ALL & ~2, ALL & ~2, ALL & ~0xA]
    assert Counter(name for name, _, _ in operations(found)) == {"push": 5, "pop": 5}
    assert operations(found)[-1] == ("pop", ALL, "exit")


def test_a_switch_complements_for_every_further_way() -> None:
    found = traced("""
.visible .entry k() {
    .reg .b32 %t, %a;
    mov.u32 %t, %tid.x;
    and.b32 %t, %t, 3;
    ways: .branchtargets W0, W1, W2, W3;
    brx.idx %t, ways;
W0: mov.u32 %a, 10;
    bra END;
W1: mov.u32 %a, 11;
    bra END;
W2: mov.u32 %a, 12;
    bra END;
W3: mov.u32 %a, 13;
END:
    exit;
}
""")
    assert Counter(name for name, _, _ in operations(found)) == {"push": 1, "complement": 3, "pop": 1}
    assert sorted(executed(found, "mov.u32 %a")) == [0x11111111 << i for i in range(4)]


GUARDED = """
.visible .entry k() {
    .reg .pred %p, %never; .reg .b32 %t, %a;
    mov.u32 %t, %tid.x;
    setp.lt.u32 %p, %t, 4;
    setp.gt.u32 %never, %t, 99;
    @%p add.u32 %a, %t, 1;
    @%never add.u32 %a, %t, 2;
    @%never exit;
    @%p exit;
    mov.u32 %a, 3;
    exit;
}
"""


def test_guards_mask_lanes_without_the_stack() -> None:
    found = traced(GUARDED)
    assert operations(found) == []
    assert executed(found, "@%p") == [0xF, 0xF]
    assert executed(found, "@%never") == [0, 0]
    assert executed(found, "mov.u32 %a, 3") == [ALL & ~0xF]
    assert found.whole.instructions == 9
    assert found.whole.lanes == 3 * 32 + 2 * 4 + 2 * 28


def test_calls_have_entries_and_returns_wait() -> None:
    found = traced("""
.func f(.reg .b32 %x) {
    .reg .pred %p;
    setp.eq.u32 %p, %x, 2;
    @%p ret;
    mov.u32 %x, 77;
    ret;
}
.visible .entry k() {
    .reg .pred %p; .reg .b32 %t;
    mov.u32 %t, %tid.x;
    setp.lt.u32 %p, %t, 8;
    @%p call f, (%t);
    exit;
}
""")
    assert [(name, mask) for name, mask, _ in operations(found)] == [("push", 0xFF), ("pop", 0xFF)]
    assert executed(found, "@%p ret") == [4]
    assert executed(found, "mov.u32 %x, 77") == [0xFB]
    assert executed(found, "exit") == [ALL]
    assert [s.function for s in found.steps if s.depth] == ["f"] * 4


def test_recursion_pushes_once_a_call() -> None:
    found = traced("""
.func f(.reg .b32 %n) {
    .reg .pred %p; .reg .b32 %m;
    setp.eq.u32 %p, %n, 0;
    @%p ret;
    sub.u32 %m, %n, 1;
    call f, (%m);
    ret;
}
.visible .entry k() {
    .reg .b32 %t;
    mov.u32 %t, %tid.x;
    and.b32 %t, %t, 3;
    call f, (%t);
    exit;
}
""")
    masks = [0xFFFFFFFF, 0xEEEEEEEE, 0xCCCCCCCC, 0x88888888]
    assert [o[:2] for o in operations(found)] == [("push", m) for m in masks] + [
        ("pop", m) for m in reversed(masks)
    ]


def test_functions_with_barriers_are_shown_as_written() -> None:
    """The lowering puts them into their callers; call and return are instructions all the same."""
    found = traced("""
.func (.reg .b32 %r) f(.reg .b32 %x) {
    bar.sync 0;
    add.u32 %r, %x, 1;
    ret;
}
.visible .entry k() {
    .reg .b32 %t;
    mov.u32 %t, %tid.x;
    call (%t), f, (%t);
    exit;
}
""", block=64)  # fmt: skip
    texts = [s.text for s in found.steps]
    assert texts == [
        "mov.u32 %t, %tid.x", "call (%t), f, (%t)", "bar.sync 0", "add.u32 %r, %x, 1", "ret", "exit",
    ]  # fmt: skip


def test_a_branch_to_the_next_instruction_is_one() -> None:
    found = traced(".visible .entry k() {\n.reg .b32 %a;\nbra L;\nL:\nmov.u32 %a, 1;\nbra M;\nM:\nret;\n}")
    assert [s.text for s in found.steps] == ["bra L", "L: mov.u32 %a, 1", "bra M", "M: ret"]


def test_statements_on_one_line_are_told_apart() -> None:
    """If there is only one like it on the line: not so the two returns."""
    line = "setp.eq.u32 %p, %x, 2; @%p bra TWO; mov.u32 %x, 77; ret;"
    found = traced(f"""
.func f(.reg .b32 %x) {{
    .reg .pred %p;
    {line}
TWO: ret; ret;
}}
.visible .entry k() {{
    .reg .b32 %t;
    mov.u32 %t, %tid.x; call f, (%t); exit;
}}
""")
    assert {s.text for s in found.steps} == {
        "mov.u32 %t, %tid.x", "call f, (%t)", "setp.eq.u32 %p, %x, 2", "@%p bra TWO", "mov.u32 %x, 77", "ret",
        "TWO: ret; ret", "exit",
    }  # fmt: skip


# ---------------------------------------------------------------- which warp, and how much


def test_every_warp_can_be_asked_for() -> None:
    text = """
.visible .entry k() {
    .reg .pred %p; .reg .b32 %c, %w;
    mov.u32 %c, %ctaid.x;
    mov.u32 %w, %warpid;
    add.u32 %c, %c, %w;
    setp.eq.u32 %p, %c, 5;
    @%p exit;
    mov.u32 %c, 1;
    exit;
}
"""
    for cta, warp in ((0, 0), (3, 2), (4, 1), (1999, 1)):
        found = traced(text, block=96, grid=2000, cta=cta, warp=warp)
        ends = cta + warp == 5
        assert found.whole.instructions == (5 if ends else 7), (cta, warp)


def test_lanes_without_a_thread_are_never_active() -> None:
    found = traced(".visible .entry k() {\n.reg .b32 %a;\nmov.u32 %a, 1;\nexit;\n}", block=40, warp=1)
    assert [s.lanes for s in found.steps] == [0xFF, 0xFF]
    assert found.whole.ratio == 0.25


def test_the_limit_bounds_the_steps_but_not_the_figures() -> None:
    kernel = device().load(HEAD + LOOP)["k"]
    found = trace(kernel, 1, 32, limit=10)
    assert len(found.steps) == 10
    assert found.whole.instructions == 4 + 3 * 32


@pytest.mark.parametrize(
    ("cta", "warp", "message"), [(2, 0, "no CTA 2"), (0, 1, "no warp 1"), (-1, 0, "no CTA")]
)
def test_warps_that_are_not_there(cta: int, warp: int, message: str) -> None:
    kernel = device().load(HEAD + LOOP)["k"]
    with pytest.raises(simt.LaunchError, match=message):
        trace(kernel, 2, 32, cta=cta, warp=warp)


def test_a_fault_leaves_what_was_executed_before() -> None:
    kernel = device().load(HEAD + ".visible .entry k() {\n.reg .b32 %a;\nmov.u32 %a, 1;\ntrap;\n}")["k"]
    tracer = Tracer(kernel, 1, 32, 0, 0)
    with pytest.raises(simt.TrapError):
        tracer.run()
    assert [s.text for s in tracer.trace.steps] == ["mov.u32 %a, 1", "trap"]


def test_a_lane_that_waits_for_another_is_a_switch() -> None:
    """Lane 0 spins for what lane 1, which has left the loop, stores: no stack would let lane 1 run."""
    text = """
.global .u32 flag;
.visible .entry k() {
    .reg .pred %p; .reg .b32 %t, %v;
    mov.u32 %t, %tid.x;
SPIN:
    ld.volatile.global.u32 %v, [flag];
    max.u32 %v, %v, %t;
    setp.eq.u32 %p, %v, 0;
    @%p bra SPIN;
    st.volatile.global.u32 [flag], %t;
    exit;
}
"""
    found = trace(device().load(HEAD + text)["k"], 1, 2, limit=100_000)
    assert ("switch", 2) in [o[:2] for o in operations(found)]


def test_lanes_of_both_ways_meet_at_a_shuffle() -> None:
    found = traced("""
.visible .entry k() {
    .reg .pred %p; .reg .b32 %t;
    mov.u32 %t, %tid.x;
    setp.lt.u32 %p, %t, 10;
    @%p bra FEW;
    shfl.sync.bfly.b32 %t, %t, 16, 31, 0xffffffff;
    add.u32 %t, %t, 100;
    bra END;
FEW:
    shfl.sync.bfly.b32 %t, %t, 16, 31, 0xffffffff;
END:
    exit;
}
""")
    assert executed(found, "shfl") == [ALL]
    assert executed(found, "add") == [ALL & ~0x3FF]
    assert {text.split()[0] for text in found.texts.values()} <= {"@%p", "FEW:", "shfl.sync.bfly.b32"}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", [(False, False), (True, True)])
def test_random_control_flow(kind: tuple[bool, bool], seed: int) -> None:
    """As many lanes execute a state's last instructions as threads, each on its own, pass states; nothing
    stays on the stack."""
    program = Control.random(random.Random(f"trace {kind} {seed}"), *kind)
    dev = device()
    found = trace(dev.load(program.ptx())["k"], 2, 50, (dev.zeros(100, "u4"),), cta=1, warp=1, limit=10**6)
    visits = sum(program.fuel - t.fuel for t in program.finished(1, 50)[32:])
    assert sum(m.bit_count() for m in executed(found, "sub.u32 %fuel")) == visits
    assert sum(m.bit_count() for m in executed(found, "ret")) == 18
    counts = Counter(name for name, _, _ in operations(found))
    assert counts["push"] == counts["pop"]
    assert counts["switch"] == 0


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("leaving", [False, True])
def test_structured_programs_do_what_a_stack_does(leaving: bool, seed: int) -> None:
    """Nested ifs, loops and calls, with breaks, returns and exits: no lanes run out of turn."""
    program = Structured(random.Random(f"trace {leaving} {seed}"), leaving)
    kernel = device().load(program.ptx("7.5", 75))["k"]
    found = trace(kernel, CTAS, THREADS, cta=1, warp=1, limit=10**6)
    counts = Counter(name for name, _, _ in operations(found))
    assert counts.keys() <= {"push", "complement", "pop"}
    assert counts["push"] == counts["pop"] > 0


def test_a_guarded_exit_in_a_loop_happens_there() -> None:
    """Lanes exit one after the other, and are gone from the loop's entry when it is popped."""
    found = traced("""
.visible .entry k() {
    .reg .pred %p; .reg .b32 %t, %n;
    mov.u32 %t, %tid.x;
    mov.u32 %n, 0;
L:
    setp.eq.u32 %p, %t, %n;
    @%p exit;
    add.u32 %n, %n, 1;
    setp.lt.u32 %p, %n, 4;
    @%p bra L;
    mov.u32 %n, 5;
    exit;
}
""")
    exits = [(s.lanes, s.depth) for s in found.steps if s.text == "@%p exit"]
    assert exits == [(1 << i, 1) for i in range(4)]
    assert executed(found, "add") == [ALL << i & ALL for i in range(1, 5)]
    assert [o[:2] for o in operations(found)] == [("push", ALL), ("pop", ALL & ~0xF)]


def test_approximate_functions_are_traced_as_they_are_launched() -> None:
    text = (
        HEAD
        + """
.entry k(.param .u64 out)
{
    .reg .u64 %out, %skip; .reg .u32 %t; .reg .f32 %x;
    ld.param.u64 %out, [out];
    mov.u32 %t, %tid.x;
    mul.wide.u32 %skip, %t, 4;
    add.u64 %out, %out, %skip;
    cvt.rn.f32.u32 %x, %t;
    sin.approx.f32 %x, %x;
    st.global.f32 [%out], %x;
    exit;
}
"""
    )
    seen: dict[str, list[int]] = {}
    for approx in ("hardware", "fast"):
        dev = simt.Device("sm_90", memory="64MiB", timeout=20, approx=approx)
        kernel, launched, watched = dev.load(text)["k"], dev.zeros(32, "u4"), dev.zeros(32, "u4")
        kernel(1, 32, (launched,))
        trace(kernel, 1, 32, (watched,))
        seen[approx] = watched.numpy().tolist()
        assert seen[approx] == launched.numpy().tolist()
    assert seen["hardware"] != seen["fast"]
