"""Random loops in which each thread of a warp goes through memory of its own and stores there: to arrays
apart, to what it has loaded, is going to load, or what its neighbours have. A model in Python does one
instruction after the other, for all threads at a time.

`python -m tests.property.test_own_stores FIRST END [--cpu x86-64-v3]` tries some seeds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

import numpy as np
import pytest

import simt
from tests.property.seeds import try_seeds

SIZE, STARTS, RESULTS, FIRST = 1 << 20, 0, 1024, 4096
"""Bytes of memory; what is where in it: where threads begin with each pointer, what they find, arrays."""
OPS = "ld.global.u", "st.global.u"
"""How the lines of a loop's instructions begin, which get at memory by `%p`."""
REGISTERS = {1: "%h", 2: "%h", 4: "%w", 8: "%v"}
"""For words of so many bytes."""
FEW = 8
"""Threads of a warp that may go through a loop one after the other."""
CASES = 16
"""Of threads that go through each loop."""


@dataclass(frozen=True)
class Loop:
    """`ops`: what a turn does: whether it stores, by which pointer, how many bytes from there, and the bytes
    of the word. `step`: bytes from turn to turn. `index`: addresses are made of an index in each turn.
    `starts`: of each pointer, for each thread. `idle`: threads that do nothing. `unit`: bytes of the words
    that are stored, and most of those that are loaded."""

    ops: tuple[tuple[bool, int, int, int], ...]
    step: int
    index: bool
    turns: int
    starts: tuple[tuple[int, ...], ...]
    idle: tuple[int, ...]
    unit: int = 4

    @property
    def threads(self) -> int:
        return len(self.starts[0])

    @property
    def carries(self) -> bool:
        """Whether some word is loaded that the thread has had the turn before, and so may be kept."""
        words = {(pointer, at) for _, pointer, at, _ in self.ops}
        return any(not stores and (pointer, at + self.step) in words for stores, pointer, at, _ in self.ops)


def some(random: Random) -> Loop:
    """The code of a loop; no thread goes through it yet."""
    words, pointers = random.choice((1, 1, 2, 3, 4, 4, 16)), random.choice((1, 2, 2, 3))
    unit = random.choice((4, 4, 4, 1, 2, 8, 8))
    step = unit * words * random.choice((1, 1, 1, 1, 2))
    ops = list[tuple[bool, int, int, int]]()
    chosen = [(random.random() < 0.5, random.randrange(pointers)) for _ in range(random.choice((1, 2, 3)))]
    chosen.insert(random.randrange(len(chosen) + 1), (True, random.randrange(pointers)))
    aside = [unit * random.choice((0, 0, 0, 1, -1, 2)) for _ in range(pointers)]
    back = [random.choice((0, 0, 0, 0, -unit, unit, -step, unit - step)) for _ in chosen]
    for word in range(words):
        for (stores, pointer), behind in zip(chosen, back, strict=True):
            size = random.choice((unit, unit, max(1, unit // 2))) if words == 1 and not stores else unit
            ops.append((stores, pointer, unit * word + (aside[pointer] if stores else behind), size))
    if random.random() < 0.1:
        random.shuffle(ops)
    return Loop((*ops,), step, random.random() < 0.3, 0, ((),) * pointers, (), unit)


def gone_through(random: Random, loop: Loop, engine: str) -> Loop:
    """By some threads, some times. Compiled code may show what other threads store meanwhile in any turn, or
    in none: there threads have rows of their own then."""
    turns, threads = random.choice((1, 2, 5, 9, 17, 40)), random.choice((32, 32, 32, 20, 7))
    idle = random.choice(((), (), (), (0,), range(20, 32), range(0, 32, 2)))
    idle = tuple(t for t in idle if t < threads)
    apart = engine == "jit" and (loop.carries or threads - len(idle) <= FEW)
    starts = some_starts(random, loop, turns, threads, apart)
    return replace(loop, turns=turns, starts=starts, idle=idle)


def some_starts(
    random: Random, loop: Loop, turns: int, threads: int, apart: bool
) -> tuple[tuple[int, ...], ...]:
    """Rows of one pitch, side by side or one over the other; of one array, or of others behind it."""
    unit, row, reach = loop.unit, loop.step * turns, loop.step * turns + 64
    half = row // unit // 2 * unit
    pitch = random.choice((row, row, row, half, reach, reach, reach + 64 - unit, 1024, 32, unit, 0))
    if apart:
        pitch = max(pitch, reach + 2 * loop.step)
    lanes = [pitch * lane for lane in range(threads)]
    if random.random() < 0.1:
        random.shuffle(lanes)
    length, found = pitch * (threads - 1) + reach, list[list[int]]()
    for _ in loop.starts:
        aside = unit * random.choice((0, 0, 0, 1, -1, 3, -5, 15, -17, 40))
        at = random.choice((0, 0, 1, 2, 3)) * length + aside
        found.append([FIRST + 256 + at + lane for lane in lanes])
    if random.random() < 0.2:  # to the end of memory, or beyond
        far = SIZE - reach + unit * random.randrange(-16, 30) - max(map(max, found))
        if min(map(min, found)) + far >= FIRST:
            found = [[start + far // unit * unit for start in starts] for starts in found]
    if random.random() < 0.05:
        found[-1][random.randrange(threads)] += 1
    return tuple(tuple(starts) for starts in found)


def text(loop: Loop) -> str:
    pointers, lines, step = range(len(loop.starts)), list[str](), loop.step
    for stores, pointer, at, size in loop.ops:
        register, bits = REGISTERS[size], max(16, 8 * size)
        mix = f"mad.lo.u64 %acc, %acc, 31, {'%me' if stores else '%v'};"
        if stores:
            to_word = f"cvt.u{bits}.u64 {register}, %acc;" if size < 8 else "mov.u64 %v, %acc;"
            lines += [mix, to_word, f"st.global.u{8 * size} [%p{pointer}+{at}], {register};"]
        else:
            from_word = [f"cvt.u64.u{bits} %v, {register};"] if size < 8 else []
            lines += [f"ld.global.u{8 * size} {register}, [%p{pointer}+{at}];", *from_word, mix]
    begin = [f"ld.global.u64 %b{i}, [%own+{STARTS + 256 * i}]; mov.u64 %p{i}, %b{i};" for i in pointers]
    if loop.index:
        lines[:0] = [
            f"mul.wide.s32 %far, %i, {step};",
            *(f"add.s64 %p{i}, %b{i}, %far;" for i in pointers),
        ]
    else:
        lines += [f"add.s64 %p{i}, %p{i}, {step};" for i in pointers]
    registers = ", ".join(f"%p{i}, %b{i}" for i in pointers)
    body, start = "\n    ".join(lines), "\n    ".join(begin)
    return f""".version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 memory, .param .u32 idle, .param .u32 turns)
{{
    .reg .b64 %own, %far, %v, %acc, %me, {registers}; .reg .b32 %t, %w, %i, %n; .reg .b16 %h;
    .reg .pred %q;
    mov.u32 %t, %tid.x; ld.param.u32 %w, [idle]; shr.u32 %w, %w, %t; and.b32 %w, %w, 1;
    setp.ne.u32 %q, %w, 0; @%q bra END;
    cvt.u64.u32 %me, %t; ld.param.u64 %own, [memory]; mul.wide.u32 %far, %t, 8; add.s64 %own, %own, %far;
    {start}
    ld.param.u32 %n, [turns]; mov.u64 %acc, 1; mov.u32 %i, 0;
TURN:
    {body}
    add.s32 %i, %i, 1; setp.lt.s32 %q, %i, %n; @%q bra TURN;
    st.global.u64 [%own+{RESULTS}], %acc;
END:
    ret;
}}
"""


class Wrong(Exception):
    """A thread gets at what it may not: the thread, the place, and which instruction does it."""


def model(loop: Loop, memory: np.ndarray) -> None:
    """What memory holds in the end. Of threads that store at one place the last one's word stays."""
    running = np.array([t for t in range(loop.threads) if t not in loop.idle])
    found, starts = np.ones(len(running), "u8"), np.array(loop.starts)[:, running]
    for turn in range(loop.turns):
        for number, (stores, pointer, at, size) in enumerate(loop.ops):
            places = starts[pointer] + turn * loop.step + at
            bad = np.flatnonzero((places % size != 0) | (places + size > SIZE))
            if len(bad):
                raise Wrong(running[bad[0]], places[bad[0]], number)
            words = memory.view(f"u{size}")
            found = 31 * found + (running if stores else words[places // size]).astype("u8")
            if stores:
                words[places // size] = found.astype(words.dtype)
    memory.view("u8")[RESULTS // 8 + running] = found


def wrong(seed: int, engine: str, cpu: str | None = None) -> str:
    """What an engine does wrong with a random loop; empty if nothing."""
    random = Random(seed)
    device = simt.Device("sm_90", engine=engine, memory=2 * SIZE, timeout=30, cpu=cpu)
    loop = some(random)
    kernel, before = device.load(text(loop))["k"], device.zeros(SIZE, "u1")
    memory = device.zeros(SIZE, "u1")  # the last that there is
    before.free()
    found = (wrong_once(gone_through(random, loop, engine), kernel, memory, seed) for _ in range(CASES))
    return next(filter(None, found), "")


def wrong_once(loop: Loop, kernel: simt.Kernel, memory: simt.DeviceArray, seed: int) -> str:
    words = np.random.default_rng(seed).integers(0, 1 << 32, SIZE // 4, "u4").view("u1")
    for number, starts in enumerate(loop.starts):
        at = STARTS + 256 * number
        places = np.array(starts, "u8") + np.uint64(memory.ptr)
        words[at : at + 8 * loop.threads] = places.view("u1")
    memory.copy_from(words)
    expected, fault, idle = words.copy(), None, sum(1 << t for t in loop.idle)
    try:
        model(loop, expected)
    except Wrong as one:
        fault = one.args
    try:
        kernel(1, loop.threads, (memory, np.uint32(idle), np.uint32(loop.turns)))
    except simt.MemoryFault as told:
        numbered = enumerate(text(loop).splitlines(), 1)
        lines = [n for n, line in numbered if line.strip().startswith(OPS) and "[%p" in line]
        thread, place, number = fault or (-1, -1, 0)
        got = told.site.thread[0], told.address - memory.ptr, told.site.line
        return "" if got == (thread, place, lines[number]) else f"{loop}: {told}, not {fault}"
    if fault:
        return f"{loop}: no fault"
    bad = np.flatnonzero(memory.numpy() != expected)
    return f"{loop}: bytes {bad[:5]} of {len(bad)}" if len(bad) else ""


LOAD, STORE = (False, 0, 0, 4), (True, 1, 0, 4)


@pytest.mark.parametrize(
    ("ops", "step"),
    [
        ((LOAD, STORE), 4),
        ((STORE, (False, 0, 4, 4)), 4),
        ((STORE, (True, 2, 0, 4)), 4),
        ((LOAD, STORE, (False, 0, 4, 4)), 8),
        ((LOAD, (False, 0, 4, 4), (False, 0, 8, 4), STORE, (True, 1, 4, 4), (True, 1, 8, 4)), 12),
    ],
)
def test_rows_that_lie_over_each_other(ops: tuple[tuple[bool, int, int, int], ...], step: int) -> None:
    """At any pitch, what is stored before, at and behind what is loaded."""
    device = simt.Device("sm_90", engine="jit", memory=2 * SIZE, timeout=30)
    loop = Loop(ops, step, False, 24 if step == 4 else 8, ((), (), ()), ())
    kernel, before = device.load(text(loop))["k"], device.zeros(SIZE, "u1")
    memory = device.zeros(SIZE, "u1")
    before.free()
    for pitch in (0, 32, 36, 60, 64, 128):
        lanes = [8192 + pitch * lane for lane in range(32)]
        for distance in (-64, -4, 0, 4, 60, pitch, 1 << 16):
            starts = ((*lanes,), *(tuple(at + far for at in lanes) for far in (distance, 2 * distance + 4)))
            assert wrong_once(replace(loop, starts=starts), kernel, memory, 1) == ""


@pytest.mark.parametrize("engine", ["jit", "interpreter"])
def test_memory_is_as_after_one_instruction_after_the_other(engine: str) -> None:
    assert [found for seed in (1,) if (found := wrong(seed, engine))] == []


if __name__ == "__main__":
    try_seeds(wrong)
