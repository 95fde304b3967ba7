"""The branch synchronisation stacks that the interpreter keeps, read where threads execute `brkpt`."""

from __future__ import annotations

import random
from collections import defaultdict

import pytest

import simt
from simt.machine.launch import Breakpoint, StackEntry
from tests.unit.engine.structured_control import CTAS, THREADS, Crew, Expected, Structured

LANGUAGES = (("3.1", 20), ("7.5", 75))
"""Versions and targets: lanes of a warp are independent of each other from `sm_70` on."""


def stops(text: str, grid: int, block: int, target: int, engine: str = "interpreter") -> list[Breakpoint]:
    """Every breakpoint of a launch, in order."""
    device = simt.Device(f"sm_{target}", engine=engine, memory="64MiB", timeout=60)
    seen: list[Breakpoint] = []
    device.on_breakpoint = seen.append
    device.load(text)["k"](grid, block)
    return seen


@pytest.mark.share(2)
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("leaving", [False, True])
@pytest.mark.parametrize(("version", "target"), LANGUAGES)
def test_stacks_are_what_threads_on_their_own_say(
    version: str, target: int, leaving: bool, seed: int
) -> None:
    """Every CTA is two warps, the second of few threads. Every thread passes its breakpoints in order, each
    together with the lanes that come to it too, with an entry for every loop and call around it and for every
    if whose lanes part."""
    program = Structured(random.Random(f"stacks {leaving} {seed}"), leaving)
    seen = stops(program.ptx(version, target), CTAS, THREADS, target)
    of_threads: dict[tuple[int, int], list[Breakpoint]] = defaultdict(list)
    for stop in seen:
        assert stop.cta is not None
        assert stop.thread is not None
        of_threads[stop.cta[0], stop.thread[0]].append(stop)
    for cta in range(CTAS):
        for first, count in ((0, 32), (32, THREADS - 32)):
            check(
                program, Crew(program, cta, first, count), [of_threads[cta, first + i] for i in range(count)]
            )


def check(program: Structured, crew: Crew, seen: list[list[Breakpoint]]) -> None:
    for way, stops_of_thread in zip(crew.ways, seen, strict=True):
        assert [stop.line for stop in stops_of_thread] == [mark.line for mark, _ in way.marks]
        for stop, mark in zip(stops_of_thread, way.marks, strict=True):
            assert stop.active == crew.passing[mark]
            agree(stop.stack, crew.stack(mark))


def agree(stack: tuple[StackEntry, ...], expected: list[Expected]) -> None:
    rest = list(stack)
    for entry in expected:
        if not entry.sure and (not rest or rest[0].line != entry.line):
            continue
        found = rest.pop(0)
        assert (found.kind, found.line) == (entry.kind, entry.line)
        assert entry.least & ~found.mask == 0
        assert found.mask & ~entry.most == 0
    assert rest == []


NESTED = """.version 3.1
.target sm_20
.address_size 64
.func f(.reg .b32 %n) {
    .reg .pred %p; .reg .b32 %m;
    setp.eq.u32 %p, %n, 0;
    @%p brkpt;
    @%p ret;
    sub.u32 %m, %n, 1;
    call f, (%m);
    ret;
}
.visible .entry k() {
    .reg .pred %p, %q; .reg .b32 %t, %a;
    mov.u32 %t, %tid.x;
    setp.ge.u32 %p, %t, 8;
    @%p bra DONE;
    and.b32 %a, %t, 3;
LOOP:
    setp.ne.u32 %q, %a, 1;
    @%q brkpt;
    sub.u32 %a, %a, 1;
    setp.ge.s32 %q, %a, 0;
    @%q bra LOOP;
    and.b32 %a, %t, 1;
    call f, (%a);
DONE:
    brkpt;
    exit;
}
"""


def test_a_branch_a_loop_and_a_recursion(engine: str) -> None:
    """Lanes 0 to 7 go round the loop 1 to 4 times, and call once or twice. Breakpoints have guards."""
    found = [
        (stop.line, stop.active, [(e.kind, e.mask, e.line) for e in stop.stack])
        for stop in stops(NESTED, 1, 12, 20, engine)
        if stop.thread in ((0, 0, 0), (3, 0, 0))
    ]
    branch, loop, call = ("branch", 0xFFF, 17), ("loop", 0xFF, 20), ("call", 0xFF, 26)
    assert found == [
        (21, 0xFF, [branch, loop]),  # of lane 0 with %a = 0
        (21, 0xFF, [branch, loop]),  # of lane 3 with 3, then, when all with 0 have left, with 2, and with 0
        (21, 0xEE, [branch, loop]),
        (21, 0x88, [branch, loop]),
        (7, 0xFF, [branch, call]),
        (7, 0xAA, [branch, call, ("call", 0xAA, 10)]),
        (28, 0xFFF, []),
        (28, 0xFFF, []),
    ]


def test_breakpoints_of_every_warp_have_its_own_stack() -> None:
    """Every warp but the second of the first CTA has threads on both ways."""
    seen = stops(
        """.version 3.1
.target sm_20
.address_size 64
.visible .entry k() {
    .reg .pred %p; .reg .b32 %t, %c;
    mov.u32 %t, %tid.x;
    mov.u32 %c, %ctaid.x;
    mad.lo.u32 %t, %c, 100, %t;
    setp.lt.u32 %p, %t, 20;
    @%p bra FEW;
    setp.gt.u32 %p, %t, 129;
    @%p bra FEW;
    brkpt;
FEW:
    exit;
}
""", 2, 40, 20,
    )  # fmt: skip
    found = {(s.cta, s.thread[0] // 32, s.active, s.stack) for s in seen if s.thread is not None}
    first, second = (0, 0, 0), (1, 0, 0)
    assert found == {
        (first, 0, 0xFFF00000, (StackEntry("branch", 0xFFFFFFFF, 10),)),
        (first, 1, 0xFF, ()),
        (second, 0, 0x3FFFFFFF, (StackEntry("branch", 0xFFFFFFFF, 12),)),
    }
    assert len(seen) == 12 + 8 + 30
