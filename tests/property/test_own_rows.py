"""Random loops in which each thread goes through memory of its own, against a model of one after the other.

`python -m tests.property.test_own_rows FIRST END [--cpu x86-64-v3]` tries some seeds.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from random import Random

import numpy as np
import pytest

import simt
from tests.conftest import shared_device

THREADS, REGION = 96, 2048
"""Of two CTAs, and bytes of memory that belong to each."""
LIMITS = {"lt.s32": 1, "lt.u32": 1, "ne.s32": 1, "le.s32": 1, "gt.s32": -1, "ge.s32": -1, "gt.u32": -1}
"""Comparisons by which a loop goes on, and the way its counter goes."""


@dataclass(frozen=True)
class Loop:
    """`words` of `size` bytes a turn, `gap` bytes from a turn's first word to the next turn's. `start` and
    `behind`: where a thread reads and writes in its memory. `index`: addresses are made of an index in each
    turn. `keeps`: what is stored depends on the turns before. `sums`: so does what is stored after the loop.
    `same`: all threads have as many turns. `by`, `limit`: how they are counted. `askew`: the thread whose
    memory begins at an odd address. `guard`: in turns from this one on a thread does nothing."""

    size: int
    words: int
    gap: int
    start: int
    behind: int
    index: bool
    keeps: bool
    sums: bool
    same: bool
    by: int
    limit: str
    turns: tuple[int, ...]
    askew: int | None
    guard: int | None


def some(random: Random) -> Loop:
    size, words = random.choice((1, 1, 2, 4, 4, 4, 8)), random.choice((1, 1, 2, 3, 4, 4))
    gap = size * words * random.choice((1, 1, 1, 1, 2, -1))
    limit = random.choice(list(LIMITS))
    index = random.random() < 0.3
    most = min(70, 800 // abs(gap))
    same = random.random() < 0.5
    turns = [random.randrange(1, most) for _ in range(THREADS)]
    start = size * random.randrange(8) + (960 if gap < 0 else 0)
    apart = (0, 0, size, -size, 2 * size, gap, 1024 if gap > 0 else -512, 800)
    behind = max(0 if gap > 0 else 816, start + random.choice(apart) // size * size)
    return Loop(
        size, words, gap, start, behind, index, random.random() < 0.2, random.random() < 0.4, same,
        LIMITS[limit] * random.choice((1, 1, 4)), limit, tuple(turns[:1] * THREADS if same else turns),
        random.randrange(THREADS) if size > 1 and random.random() < 0.15 else None,
        random.choice((0, random.randrange(80))) if random.random() < 0.25 else None,
    )  # fmt: skip


def text(loop: Loop) -> str:
    """The kernel: a thread's memory begins at its number times a pitch."""
    t, reg = f"u{8 * loop.size}", "rd" if loop.size == 8 else "r"
    body = list[str]()
    if loop.index:
        body += [
            f"mul.wide.s32 %rd5, %r4, {loop.gap};",
            "add.s64 %rd3, %rd1, %rd5; add.s64 %rd4, %rd2, %rd5;",
        ]
    if loop.guard is not None:
        body.append(f"setp.ge.s32 %p, %r15, {loop.guard}; @%p bra PASS;")
    for word in range(loop.words):
        at = loop.size * word
        body.append(f"ld.global.{t} %{reg}10, [%rd3+{at}];")
        body.append(f"add.u{64 if loop.size == 8 else 32} %{reg}11, %{reg}10, {3 + word};")
        if loop.keeps:
            body.append(f"xor.b{64 if loop.size == 8 else 32} %{reg}12, %{reg}12, %{reg}11;")
        if loop.sums:
            body.append(f"{'cvt.u32.u64 %r13, %rd11' if loop.size == 8 else 'mov.b32 %r13, %r11'};")
            body.append("add.u32 %r14, %r14, %r13;")
        body.append(f"st.global.{t} [%rd4+{at}], %{reg}{12 if loop.keeps else 11};")
    body.append("PASS: add.s32 %r15, %r15, 1;")
    if loop.index:
        body.append("add.s32 %r4, %r4, 1;")
    else:
        body.append(f"add.s64 %rd3, %rd3, {loop.gap}; add.s64 %rd4, %rd4, {loop.gap};")
    return f""".version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 memory, .param .u64 ends, .param .u64 skew, .param .u64 sums, .param .u32 pitch,
    .param .u32 start, .param .u32 behind)
{{
    .reg .b64 %rd<20>; .reg .b32 %r<20>; .reg .pred %p;
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r1, %r1, %r2, %r3;
    ld.param.u32 %r2, [pitch]; mul.lo.s32 %r2, %r1, %r2; cvt.s64.s32 %rd1, %r2;
    ld.param.u64 %rd2, [memory]; add.s64 %rd1, %rd1, %rd2;
    ld.param.u64 %rd2, [skew]; mul.wide.s32 %rd3, %r1, 8; add.s64 %rd2, %rd2, %rd3;
    {"ld.global.u64 %rd2, [%rd2]; add.s64 %rd1, %rd1, %rd2;" if loop.askew is not None else ""}
    ld.param.u32 %r2, [behind]; cvt.u64.u32 %rd2, %r2; add.s64 %rd2, %rd1, %rd2;
    ld.param.u32 %r2, [start]; cvt.u64.u32 %rd3, %r2; add.s64 %rd1, %rd1, %rd3;
    ld.param.u64 %rd3, [ends]; mul.wide.s32 %rd4, {"0" if loop.same else "%r1"}, 4; add.s64 %rd3, %rd3, %rd4;
    ld.global.u32 %r5, [%rd3];
    mov.u64 %rd3, %rd1; mov.u64 %rd4, %rd2; mov.u64 %rd12, 0;
    mov.u32 %r4, 0; mov.u32 %r6, 0; mov.u32 %r12, 0; mov.u32 %r14, 0; mov.u32 %r15, 0;
    {"add.u32 %r6, %r6, 100000;" if LIMITS[loop.limit] < 0 else ""}
TURN:
    {chr(10).join(body)}
    add.s32 %r6, %r6, {loop.by};
    setp.{loop.limit} %p, %r6, %r5;
    @%p bra TURN;
    ld.param.u64 %rd5, [sums]; mul.wide.s32 %rd6, %r1, 4; add.s64 %rd5, %rd5, %rd6;
    st.global.u32 [%rd5], %r14;
    ret;
}}
"""


def ends(loop: Loop) -> np.ndarray:
    """The limits that give threads their turns."""
    start = 100000 if LIMITS[loop.limit] < 0 else 0
    over = {"le.s32": -1, "ge.s32": 1}.get(loop.limit, 0)
    return np.array([start + loop.by * turns + over for turns in loop.turns], "u4")


def model(loop: Loop, memory: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    memory, sums = memory.copy(), np.zeros(THREADS, "u4")
    for thread in range(THREADS):
        kept, total = 0, 0
        for turn in range(min(loop.turns[thread], 80 if loop.guard is None else loop.guard)):
            for word in range(loop.words):
                at = thread * REGION + turn * loop.gap + word * loop.size
                new = int.from_bytes(memory[at + loop.start :][: loop.size].tobytes(), "little") + 3 + word
                new %= 2 ** (64 if loop.size == 8 else 32)
                kept, total = kept ^ new, total + new
                stored = (kept if loop.keeps else new) % 256**loop.size
                place = at + loop.behind
                memory[place : place + loop.size] = np.frombuffer(stored.to_bytes(loop.size, "little"), "u1")
        sums[thread] = total % 2**32 if loop.sums else 0
    return memory, sums


def wrong(seed: int, device: simt.Device) -> str:
    """What a device does wrong with a random loop; empty if nothing."""
    random = Random(seed)
    loop = some(random)
    memory = np.random.default_rng(seed).integers(0, 256, THREADS * REGION).astype("u1")
    expected, sums = model(loop, memory)
    given, found = device.array(memory), device.zeros(THREADS, "u4")
    skew = np.zeros(THREADS, "u8")
    if loop.askew is not None:
        skew[loop.askew] = 1
    kernel = device.load(text(loop))["k"]
    scalars = (np.uint32(REGION), np.uint32(loop.start), np.uint32(loop.behind))
    arguments = (given, device.array(ends(loop)), device.array(skew), found, *scalars)
    try:
        kernel(2, THREADS // 2, arguments)
        device.synchronize()
    except simt.MemoryFault as fault:
        at = given.ptr + (loop.askew or 0) * REGION + loop.start + 1
        cta, thread = divmod(loop.askew or 0, THREADS // 2)
        right = fault.address == at and f"CTA ({cta}, 0, 0), thread ({thread}, 0, 0)" in str(fault)
        return "" if right and loop.askew is not None else f"{loop}: {fault}"
    if loop.askew is not None and loop.guard != 0:
        return f"{loop}: no fault"
    if not np.array_equal(np.array(given.numpy()), expected):
        return f"{loop}: bytes {np.flatnonzero(np.array(given.numpy()) != expected)[:8]}"
    return "" if np.array_equal(found.numpy(), sums) else f"{loop}: sums"


@pytest.mark.parametrize("engine", ["jit", "interpreter"])
def test_threads_do_what_they_do_one_after_the_other(engine: str) -> None:
    device = shared_device(engine=engine)
    assert [found for seed in range(36) if (found := wrong(seed, device))] == []


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("first", type=int)
    parser.add_argument("end", type=int)
    parser.add_argument("--cpu")
    given = parser.parse_args()
    tried = simt.Device("sm_90", memory="64MiB", timeout=30, cpu=given.cpu)
    for number in range(given.first, given.end):
        if what := wrong(number, tried):
            print(number, what, flush=True)
    print(f"{given.end - given.first} loops")
