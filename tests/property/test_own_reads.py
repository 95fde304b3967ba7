"""Random loops in which each thread reads memory of its own and writes nothing, against a model of one after
the other. Threads read up to the end of all memory that there is, and beyond.

`python -m tests.property.test_own_reads FIRST END [--cpu x86-64-v3]` tries some seeds.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import numpy as np
import pytest

import simt
from tests.property.seeds import try_seeds

THREADS, SIZE = 96, 1 << 20
"""Of two CTAs; bytes of memory."""
STARTS, TURNS, RESULTS, FIRST = 0, 8 * THREADS, 12 * THREADS, 4096
"""What is where in memory: where threads begin to read, their numbers of turns, what they find, words."""
LIMITS = {"lt.s32": 1, "lt.u32": 1, "ne.s32": 1, "le.s32": 1, "gt.s32": -1, "ge.s32": -1, "gt.u32": -1}
"""Comparisons by which a loop goes on, and the way its counter goes."""


@dataclass(frozen=True)
class Loop:
    """`words` of `size` bytes a turn, `gap` bytes from a turn's first word to the next turn's. `index`:
    addresses are made of an index in each turn. `looks_back`: threads that find an odd word look at the one
    before it. `in_turn`: what is found depends on the order of the words. `kept`: the state space in which it
    is kept from turn to turn. `by`, `limit`: how turns are
    counted. `idle`: threads that do nothing. `starts`, `turns`: of each thread."""

    size: int
    words: int
    gap: int
    index: bool
    looks_back: bool
    in_turn: bool
    kept: str
    by: int
    limit: str
    idle: tuple[int, ...]
    starts: tuple[int, ...]
    turns: tuple[int, ...]


def some(random: Random) -> Loop:
    size, words = random.choice((1, 1, 2, 4, 4, 4, 8)), random.choice((1, 1, 2, 3, 4, 4))
    gap = size * words * random.choice((1, 1, 1, 1, 2, -1))
    most = random.choice((3, 40, 300)) // words + 1
    turns = [random.randrange(1, most + 1)] * THREADS
    if random.random() < 0.6:
        turns = [random.randrange(1, most + 1) if random.random() < 0.3 else n for n in turns]
    limit = random.choice(list(LIMITS))
    idle = random.choice(((), (), (), (0, 64), range(40), range(0, THREADS, 2), range(90, THREADS)))
    kept, starts = random.choice(("", "", "", "shared", "local")), some_starts(random, size, gap, turns)
    return Loop(
        size, words, gap, random.random() < 0.4, random.random() < 0.3, random.random() < 0.5, kept,
        LIMITS[limit] * random.choice((1, 1, 4)), limit, (*idle,), starts, (*turns,),
    )  # fmt: skip


def some_starts(random: Random, size: int, gap: int, turns: list[int]) -> tuple[int, ...]:
    """Side by side, at a distance, or anywhere; to the end of memory, and now and then beyond, or askew."""
    reach = abs(gap) * max(turns) + 64
    pitch = random.choice((reach, reach + 8 * random.randrange(40), 8)) // 8 * 8
    first = random.choice((FIRST + 64, SIZE - pitch * (THREADS - 1) - reach // 8 * 8)) // 8 * 8
    starts = [first + pitch * thread for thread in range(THREADS)]
    if random.random() < 0.2:
        starts = [random.randrange(FIRST + 64, SIZE - reach) // 8 * 8 for _ in range(THREADS)]
    if gap < 0:
        starts = [start + reach - 64 for start in starts]
    elif random.random() < 0.3:
        starts[-1] = SIZE - gap * turns[-1]  # to the end
    one = random.randrange(THREADS)
    if random.random() < 0.2 and gap > 0:
        starts[one] = SIZE - gap * (turns[one] // 2)
    elif random.random() < 0.1 and size > 1:
        starts[one] += 1
    return tuple(starts)


def text(loop: Loop) -> str:
    """The kernel: a line for each load."""
    wide = "rd" if loop.size == 8 else "r"
    to_word = "cvt.u32.u64 %r10, %rd10;" if loop.size == 8 else ""
    found = "mad.lo.u32 %r14, %r14, 31, %r10;" if loop.in_turn else "add.u32 %r14, %r14, %r10;"
    if loop.kept:
        found = f"ld.{loop.kept}.u32 %r14, [%rd6]; {found} st.{loop.kept}.u32 [%rd6], %r14;"
    body = list[str]()
    for word in range(loop.words):
        at, here = loop.size * word, f"BACK{word}"
        body += [f"ld.global.u{8 * loop.size} %{wide}10, [%rd3+{at}];", to_word, found]
        if loop.looks_back:
            body += [
                f"and.b32 %r11, %r10, 1; setp.eq.u32 %p, %r11, 0; @%p bra {here};",
                f"ld.global.u{8 * loop.size} %{wide}10, [%rd3+{at - loop.size}];",
                f"{to_word} {found}",
                f"{here}:",
            ]
    goes_on = f"add.s64 %rd3, %rd3, {loop.gap};"
    if loop.index:
        body.insert(0, f"mul.wide.s32 %rd5, %r4, {loop.gap}; add.s64 %rd3, %rd1, %rd5;")
        goes_on = "add.s32 %r4, %r4, 1;"
    lines = "\n    ".join(body)
    return f""".version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 memory, .param .u64 idle0, .param .u64 idle1)
{{
    .reg .b64 %rd<20>; .reg .b32 %r<20>; .reg .pred %p;
    .shared .align 4 .b8 shared[{2 * THREADS}]; .local .align 4 .b8 local[4];
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r1, %r1, %r2, %r3;
    ld.param.u64 %rd5, [idle0]; setp.lt.u32 %p, %r1, 64; @%p bra LOW; ld.param.u64 %rd5, [idle1];
LOW:
    and.b32 %r5, %r1, 63; shr.u64 %rd5, %rd5, %r5; and.b64 %rd5, %rd5, 1; setp.ne.u64 %p, %rd5, 0;
    @%p bra END;
    ld.param.u64 %rd2, [memory];
    mul.wide.u32 %rd5, %r1, 8; add.s64 %rd5, %rd5, %rd2; ld.global.u64 %rd3, [%rd5+{STARTS}];
    mul.wide.u32 %rd4, %r1, 4; add.s64 %rd4, %rd4, %rd2; ld.global.u32 %r5, [%rd4+{TURNS}];
    mov.u64 %rd1, %rd3; mov.u64 %rd6, {loop.kept or "local"};
    {"mul.wide.u32 %rd5, %r3, 4; add.s64 %rd6, %rd6, %rd5;" if loop.kept == "shared" else ""}
    mov.u32 %r14, 0; st.{loop.kept or "local"}.u32 [%rd6], %r14;
    mov.u32 %r4, 0; mov.u32 %r6, {100000 if LIMITS[loop.limit] < 0 else 0};
TURN:
    {lines}
    {goes_on}
    add.s32 %r6, %r6, {loop.by};
    setp.{loop.limit} %p, %r6, %r5;
    @%p bra TURN;
    st.global.u32 [%rd4+{RESULTS}], %r14;
END:
    ret;
}}
"""


def ends(loop: Loop) -> np.ndarray:
    """The limits that give threads their turns."""
    start = 100000 if LIMITS[loop.limit] < 0 else 0
    over = {"le.s32": -1, "ge.s32": 1}.get(loop.limit, 0)
    return np.array([start + loop.by * turns + over for turns in loop.turns], "u4")


class Wrong(Exception):
    """A thread reads where it may not: the place, and which load of the kernel does it."""


def read(loop: Loop, memory: bytes, at: int, load: int) -> int:
    if at % loop.size or at < 0 or at + loop.size > SIZE:
        raise Wrong(at, load)
    return int.from_bytes(memory[at : at + loop.size], "little") % 2**32


def model(loop: Loop, memory: bytes, thread: int) -> int:
    """What a thread finds."""
    found, loads = 0, 1 + loop.looks_back
    for turn in range(loop.turns[thread]):
        for number in range(loop.words):
            at = loop.starts[thread] + turn * loop.gap + number * loop.size
            word = read(loop, memory, at, loads * number)
            found = (found * (31 if loop.in_turn else 1) + word) % 2**32
            if loop.looks_back and word % 2:
                word = read(loop, memory, at - loop.size, loads * number + 1)
                found = (found * (31 if loop.in_turn else 1) + word) % 2**32
    return found


def expected(loop: Loop, memory: bytes) -> tuple[dict[int, int], dict[int, tuple[int, int]]]:
    """What threads find, and where those read that may not."""
    found, faults = dict[int, int](), dict[int, tuple[int, int]]()
    for thread in set(range(THREADS)) - {*loop.idle}:
        try:
            found[thread] = model(loop, memory, thread)
        except Wrong as wrong:
            faults[thread] = wrong.args[0], wrong.args[1]
    return found, faults


def wrong(seed: int, engine: str, cpu: str | None = None) -> str:
    """What an engine does wrong with a random loop; empty if nothing."""
    loop, device = (
        some(Random(seed)),
        simt.Device("sm_90", engine=engine, memory=2 * SIZE, timeout=30, cpu=cpu),
    )
    before = device.zeros(SIZE, "u1")
    memory = device.zeros(SIZE, "u1")  # the last that there is
    before.free()
    words = np.random.default_rng(seed).integers(0, 256, SIZE).astype("u1")
    words[STARTS:TURNS] = (np.array(loop.starts, "u8") + np.uint64(memory.ptr)).view("u1")
    words[TURNS:RESULTS] = ends(loop).view("u1")
    memory.copy_from(words)
    results, faults = expected(loop, words.tobytes())
    idle, program = sum(1 << thread for thread in loop.idle), text(loop)
    arguments = (memory, np.uint64(idle % 2**64), np.uint64(idle >> 64))
    try:
        device.load(program)["k"](2, THREADS // 2, arguments)
        device.synchronize()
    except simt.MemoryFault as fault:
        lines = [n for n, line in enumerate(program.splitlines(), 1) if line.strip().startswith("ld.global")]
        told = {
            f"CTA ({t // 48}, 0, 0), thread ({t % 48}, 0, 0)": (memory.ptr + at, lines[load])
            for t, (at, load) in faults.items()
        }
        right = [(fault.address, fault.site.line) == told[who] for who in told if who in str(fault)]
        return "" if right == [True] else f"{loop}: {fault}, not {told}"
    if faults:
        return f"{loop}: no fault"
    given = memory.numpy()[RESULTS : RESULTS + 4 * THREADS].copy().view("u4")
    bad = [thread for thread, value in results.items() if given[thread] != value]
    return f"{loop}: threads {bad[:5]}" if bad else ""


@pytest.mark.parametrize("engine", ["jit", "interpreter"])
def test_threads_find_what_they_find_one_after_the_other(engine: str) -> None:
    assert [found for seed in range(28) if (found := wrong(seed, engine))] == []


if __name__ == "__main__":
    try_seeds(wrong)
