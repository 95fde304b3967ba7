"""Code that is made in the simplest way for a kernel's first launches, and again when it has run for a while.

Here every kernel is long enough for a draft, whose launches never take long, but where a test says so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simt
from simt.engine import compile as compiling
from simt.engine import drafts, llvm_calls, llvm_kernel
from simt.engine.host import Cpu
from simt.engine.jit import Jit
from simt.engine.prepared import Prepared
from simt.machine.launch import Launch
from tests.unit.engine.code_made import counting

SUM = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 a, .param .u32 n)
{
    .reg .b64 %a, %o; .reg .b32 %i, %c, %n, %v; .reg .pred %p;
    ld.param.u64 %a, [a]; ld.param.u32 %n, [n];
    mov.u32 %i, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %v, %ntid.x; mad.lo.u32 %i, %c, %v, %i;
    setp.ge.u32 %p, %i, %n;
    @%p ret;
    mul.wide.u32 %o, %i, 4; add.u64 %a, %a, %o;
    ld.global.u32 %v, [%a]; add.u32 %v, %v, %i; st.global.u32 [%a], %v;
    ret;
}
"""
WAIT = SUM.replace(
    "ld.global.u32 %v, [%a];", "L: ld.volatile.global.u32 %v, [%a]; setp.eq.u32 %p, %v, 7; @%p bra L;"
)
LOOP = SUM.replace(
    "ld.global.u32 %v, [%a];",
    "ld.global.u32 %v, [%a]; mov.u32 %c, %tid.x; L: shr.u32 %c, %c, 1; setp.ne.u32 %p, %c, 0; @%p bra L;",
)
Made = Callable[[], tuple[int, int]]
USUAL = pytest.mark.parametrize("simply", [False], ids=["usual"])
SIMPLE = pytest.mark.parametrize("simply", [True], ids=["simple"])


@pytest.fixture(params=[False, True], ids=["usual", "simple"])
def simply(request: pytest.FixtureRequest) -> bool:
    """Whether drafts are emitted in the simplest way, too."""
    return request.param


@pytest.fixture
def made(simply: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Made:
    """How many drafts and how many other kernels have been made since it was asked last. (All launches of a
    draft count.)"""
    monkeypatch.setattr(drafts, "COLD", 0)
    counts = counting(monkeypatch)

    def since() -> tuple[int, int]:
        found = counts["_draft"], counts["_objects"]
        counts.clear()
        return found

    monkeypatch.setenv("SIMT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("SIMT_DRAFTS", raising=False)
    monkeypatch.setattr(compiling, "DRAFTED", 0)
    if simply:
        monkeypatch.setattr(drafts, "OPS", 0)
        monkeypatch.setattr(drafts, "MOST_OPS", 1 << 60)
    monkeypatch.setattr(drafts, "ENOUGH", 1 << 60)
    monkeypatch.setattr(drafts, "LONG", 1 << 60)
    return since


class Program:
    """The kernel on a device of its own, and what its array is to hold."""

    def __init__(self, text: str = SUM, n: int = 100) -> None:
        self.device = simt.Device("sm_90", engine="jit", memory="64MiB", timeout=None, workers=1)
        self.kernel = self.device.load(text)["k"]
        self.array, self.expected, self.n = self.device.zeros(n, "u4"), np.zeros(n, "u4"), n

    def run(self) -> None:
        self.kernel(-(-self.n // 64), 64, (self.array, self.n))
        self.expected += np.arange(self.n, dtype="u4")
        np.testing.assert_array_equal(self.array.numpy(), self.expected)


def test_better_code_follows_when_a_draft_has_run_enough(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    program = Program()
    for _ in range(3):
        program.run()
    assert made() == (1, 0)
    monkeypatch.setattr(drafts, "ENOUGH", 1)
    for _ in range(3):
        program.run()
    assert made() == (0, 1)


def test_launches_of_a_draft_go_the_general_way(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine is to see each of them; afterwards they may be made by a call of compiled code."""
    states = list[tuple[bool, bool]]()
    launch = Jit.launch

    def noted(self: Jit, made_ready: Launch) -> None:
        launch(self, made_ready)
        assert isinstance(made_ready.state, Prepared)
        states.append((made_ready.state.compiled.draft is not None, made_ready.provisional))

    monkeypatch.setattr(Jit, "launch", noted)
    program = Program()
    for _ in range(8):
        program.run()
    assert states == [(True, True)] * 8
    monkeypatch.setattr(drafts, "ENOUGH", 1)
    for _ in range(8):
        program.run()
    assert states[8] == (False, False)
    assert len(states) < 16, "some need no engine any more"


def test_a_draft_is_kept_for_later_processes(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    Program().run()
    assert made() == (1, 0)
    later = Program()
    later.run()
    assert made() == (0, 0)
    monkeypatch.setattr(drafts, "ENOUGH", 1)
    later.run()
    assert made() == (0, 1)
    monkeypatch.setattr(drafts, "ENOUGH", 1 << 60)
    last = Program()
    last.run()
    last.run()
    assert made() == (0, 0), "better code is kept in its place"


def test_no_process_waits_twice_for_a_slow_draft(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafts, "LONG", 1)
    Program().run()
    assert made() == (1, 0)
    Program().run()
    assert made() == (0, 1)


def test_nor_for_one_that_did_not_end(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where its time is over."""
    monkeypatch.setattr(drafts, "LONG", 1)
    program = Program()
    with pytest.raises(simt.MemoryFault):
        program.kernel(1, 64, (program.array.ptr + (1 << 40), 40))
    assert made() == (1, 0)
    Program().run()
    assert made() == (0, 1)


@pytest.fixture
def whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Launches are not cut (`test_going_over.py`)."""
    monkeypatch.setattr(drafts, "CTAS", 1 << 60)


@pytest.mark.usefixtures("whole")
def test_launches_that_take_long_have_none(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafts, "SHORT", drafts.NANOSECONDS * 100)
    Program(n=50_000).run()
    assert made() == (0, 1)


@pytest.mark.usefixtures("whole")
def test_nor_do_they_run_the_draft_of_a_short_one(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafts, "SHORT", drafts.NANOSECONDS * 1000)
    program = Program()
    program.run()
    assert made() == (1, 0)
    larger = program.device.zeros(50_000, "u4")
    program.kernel(-(-50_000 // 64), 64, (larger, 50_000))
    np.testing.assert_array_equal(larger.numpy(), np.arange(50_000))
    assert made() == (0, 1)


@USUAL
def test_short_code_has_none(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "DRAFTED", drafts.LINES)
    Program().run()
    assert made() == (0, 1)


@USUAL
@pytest.mark.parametrize(("text", "drafted"), [(SUM, True), (LOOP, False)])
def test_code_of_half_the_length_has_one_for_a_moment(
    text: str, drafted: bool, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no loop turns, so that it is known what a moment is."""
    monkeypatch.setattr(compiling, "DRAFTED", drafts.LINES)
    monkeypatch.setattr(drafts, "FEWER", 0)
    monkeypatch.setattr(drafts, "MOMENT", drafts.NANOSECONDS * 1000)
    program = Program(text)
    program.run()
    assert made() == ((1, 0) if drafted else (0, 1))
    Program(text, n=50_000).run()
    assert made() == (0, int(drafted))


@USUAL
@pytest.mark.parametrize("large", [False, True])
def test_better_code_is_llvm_s_work_alone(large: bool, made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    if large:
        monkeypatch.setattr(llvm_calls, "OPS", -1)
    program = Program()
    program.run()
    assert made() == (1, 0)
    monkeypatch.setattr(drafts, "ENOUGH", 1)
    monkeypatch.setattr(llvm_kernel, "emit", None)
    program.run()
    assert made() == (0, 1)
    program.run()
    assert made() == (0, 0)


def test_a_short_first_launch_does_not_count(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafts, "COLD", 1 << 60)
    monkeypatch.setattr(drafts, "ENOUGH", 1)
    program = Program()
    program.run()
    program.run()
    assert made() == (1, 0)
    program.run()
    assert made() == (0, 1)


@SIMPLE
def test_a_draft_is_emitted_in_the_simplest_way(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a large kernel is; the better code is not."""
    emitted, parsed = list[bool](), compiling._parsed  # pyright: ignore[reportPrivateUsage]

    def noted(text: str, cpu: Cpu, level: int) -> tuple[Any, Any]:
        if "@simt_kernel(" in text:
            emitted.append(compiling.LARGE in text)
        return parsed(text, cpu, level)

    monkeypatch.setattr(compiling, "_parsed", noted)
    program = Program()
    program.run()
    monkeypatch.setattr(drafts, "ENOUGH", 1)
    program.run()
    program.run()
    assert (made(), emitted) == ((1, 1), [True, False])


@SIMPLE
@pytest.mark.parametrize(
    ("text", "threads", "drafted"),
    [(SUM, 5 * 64, True), (SUM, 40 * 64, False), (LOOP, 64, True), (LOOP, 2 * 64, False)],
)
def test_few_instructions_have_one_for_a_moment(
    text: str, threads: int, drafted: bool, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of which loops are taken to last longer than elsewhere: 64 turns."""
    monkeypatch.setattr(compiling, "DRAFTED", drafts.LINES)
    monkeypatch.setattr(drafts, "OPS", 1000)
    monkeypatch.setattr(drafts, "FEW_OPS", 10)
    monkeypatch.setattr(drafts, "MOMENT", drafts.NANOSECONDS * 500)
    Program(text, n=threads).run()
    assert made() == (int(drafted), int(not drafted))


@SIMPLE
def test_fewer_have_none(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "DRAFTED", drafts.LINES)
    monkeypatch.setattr(drafts, "OPS", 1000)
    monkeypatch.setattr(drafts, "FEW_OPS", 50)
    Program().run()
    assert made() == (0, 1)


@SIMPLE
def test_what_is_large_in_any_case_is_emitted_once(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafts, "MOST_OPS", 10)
    monkeypatch.setattr(llvm_calls, "OPS", -1)
    program = Program()
    program.run()
    monkeypatch.setattr(drafts, "ENOUGH", 1)
    monkeypatch.setattr(llvm_kernel, "begin", None)
    program.run()
    program.run()
    assert made() == (1, 1)


def test_deep_nests_have_one(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops in more than four others are not taken to turn as often for each."""
    depth = 10
    heads = "".join(f"L{i}: shr.u32 %c, %c, 1; " for i in range(depth))
    ends = "".join(f"setp.eq.u32 %p, %c, {77 + i}; @%p bra L{i}; " for i in reversed(range(depth)))
    nest = SUM.replace(
        "ld.global.u32 %v, [%a];", f"ld.global.u32 %v, [%a]; mov.u32 %c, %tid.x; {heads}{ends}"
    )
    Program(nest, n=32).run()
    assert made() == (1, 0)
    monkeypatch.setattr(drafts, "SHORT", drafts.NANOSECONDS * 8**4)
    Program(nest.replace("77", "66"), n=32).run()
    assert made() == (0, 1)


def test_sequences_have_none(made: Made) -> None:
    program = Program()
    program.run()
    assert made() == (1, 0)
    with program.device.capture() as sequence:
        program.kernel(2, 64, (program.array, program.n))
    sequence()
    assert made() == (0, 1)
    program.expected += np.arange(program.n, dtype="u4")
    np.testing.assert_array_equal(program.array.numpy(), program.expected)


def test_who_waits_for_others_has_one_too(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    program = Program(WAIT, n=6)
    program.run()
    assert made() == (1, 0)
    monkeypatch.setattr(drafts, "ENOUGH", 1)
    program.run()
    assert made() == (0, 1)


def test_a_user_may_forbid_them(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMT_DRAFTS", "0")
    Program().run()
    assert made() == (0, 1)
    monkeypatch.setenv("SIMT_DRAFTS", "maybe")
    with pytest.raises(simt.SimtError) as error:
        Program()
    assert str(error.value) == "SIMT_DRAFTS: expected 0, 1 or all, not 'maybe'"


@USUAL
def test_a_user_may_want_them_of_short_code(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who does not is not given them either."""
    monkeypatch.setattr(compiling, "DRAFTED", drafts.LINES)
    monkeypatch.setenv("SIMT_DRAFTS", "all")
    for expected in ((1, 0), (0, 0)):
        Program().run()
        assert made() == expected
    monkeypatch.setenv("SIMT_DRAFTS", "1")
    Program().run()
    assert made() == (0, 1)
    monkeypatch.setenv("SIMT_DRAFTS", "all")
    Program().run()
    assert made() == (0, 0)


def test_who_wants_them_of_short_code_has_them_for_as_long_as_better_code_would_take(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIMT_DRAFTS", "all")
    monkeypatch.setattr(drafts, "ENOUGH", 1)
    monkeypatch.setattr(drafts, "MAKING", 1 << 40)
    program = Program()
    for _ in range(3):
        program.run()
    assert made() == (1, 0)
    monkeypatch.setattr(drafts, "MAKING", 1)
    program.run()
    assert made() == (0, 1)


def test_faults_of_a_draft(made: Made) -> None:
    program = Program()
    with pytest.raises(simt.MemoryFault) as fault:
        program.kernel(1, 64, (program.array.ptr + (1 << 40), 40))
    assert fault.value.site.thread == (0, 0, 0)
    assert made() == (1, 0)
    program.run()


def test_the_time_for_better_code_is_not_the_launch_s(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """A timeout is about running."""
    program = Program()
    program.device.timeout = 0.5
    program.run()
    monkeypatch.setattr(drafts, "ENOUGH", 1)
    objects = compiling._objects  # pyright: ignore[reportPrivateUsage]

    def slowly(*given: object) -> object:
        end = drafts.time.perf_counter() + 0.7
        while drafts.time.perf_counter() < end:
            pass
        return objects(*given)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(compiling, "_objects", slowly)
    program.run()
    assert made() == (1, 1)
