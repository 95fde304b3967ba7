"""Loops with counters that all lanes have, left by `break`, `continue` and `return` in branches of lanes and
of counters: every thread must end with what it computes on its own."""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass, field

import numpy as np
import pytest

import simt
from tests.shares import share

MASK, FACTOR = 0xFFFFFFFF, 1664525
THREADS = 45
LEAVES = "break", "continue", "return"
HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .pred %p;
    .reg .b32 %x, %t, %i<3>;
    .reg .b64 %o, %w;
    ld.param.u64 %o, [out];
    mov.u32 %t, %tid.x;
    mul.wide.u32 %w, %t, 4;
    add.u64 %o, %o, %w;
    mad.lo.u32 %x, %t, 747796405, 77;
"""


@dataclass
class Statement:
    """`kind`: stir, lanes (an `if` by a bit of `%x`), turn (one by a counter), loop, break, continue, return.
    `number`: what is added, the bit, the counter's value, or how many turns. `depth`: of the loop."""

    kind: str
    number: int
    depth: int
    body: list[Statement] = field(default_factory=list["Statement"])

    def run(self, x: int, counters: list[int]) -> int:
        match self.kind:
            case "stir":
                return (x * FACTOR + self.number + sum(counters)) & MASK
            case "lanes":
                return run(self.body, x, counters) if x >> self.number & 1 else x
            case "turn":
                return run(self.body, x, counters) if counters[self.depth] == self.number else x
            case "loop":
                return self._turns(x, counters)
            case _:
                raise Left(x, self.kind, self.depth)

    def _turns(self, x: int, counters: list[int]) -> int:
        for i in range(self.number):
            try:
                x = run(self.body, x, [*counters, i])
            except Left as left:
                if left.depth != self.depth or left.kind == "return":
                    raise
                x = left.x
                if left.kind == "break":
                    break
        return x

    def ptx(self, labels: list[int]) -> str:
        labels[0] += 1
        n, inner = labels[0], "".join(s.ptx(labels) for s in self.body)
        match self.kind:
            case "stir":
                added = "".join(f"add.u32 %x, %x, %i{d};\n" for d in range(self.depth + 1))
                return f"mad.lo.u32 %x, %x, {FACTOR}, {self.number};\n{added}"
            case "lanes":
                test = f"and.b32 %t, %x, {1 << self.number}; setp.eq.u32 %p, %t, 0;"
                return f"{test} @%p bra SKIP{n};\n{inner}SKIP{n}:\n"
            case "turn":
                return f"setp.ne.u32 %p, %i{self.depth}, {self.number}; @%p bra SKIP{n};\n{inner}SKIP{n}:\n"
            case "loop":
                return self._loop(inner, n)
            case _:
                return f"bra {'END' if self.kind == 'return' else f'{self.kind}_{self.depth}_@'};\n"

    def _loop(self, inner: str, n: int) -> str:
        d = self.depth
        inner = inner.replace(f"_{d}_@", f"_{d}_{n}")
        test = f"setp.ge.u32 %p, %i{d}, {self.number}; @%p bra break_{d}_{n};"
        turn = f"continue_{d}_{n}: add.u32 %i{d}, %i{d}, 1; bra TURN{n};"
        return f"mov.u32 %i{d}, 0;\nTURN{n}: {test}\n{inner}{turn}\nbreak_{d}_{n}:\n"


class Left(Exception):
    """A thread leaves statements, with what it has."""

    def __init__(self, x: int, kind: str, depth: int) -> None:
        self.x, self.kind, self.depth = x, kind, depth


def run(body: list[Statement], x: int, counters: list[int]) -> int:
    for statement in body:
        x = statement.run(x, counters)
    return x


def expected(program: list[Statement], thread: int) -> int:
    x = (thread * 747796405 + 77) & MASK
    try:
        return run(program, x, [])
    except Left as left:
        return left.x


def block(rng: random.Random, loops: int, nested: int) -> list[Statement]:
    """Some statements within so many loops; many end by leaving one."""
    found = [statement(rng, loops, nested) for _ in range(rng.randint(1, 3))]
    if loops and nested > loops and rng.random() < 0.4:
        found = [stirred(rng, loops), Statement(rng.choice(LEAVES), 0, rng.randint(0, loops - 1))]
    return found


def stirred(rng: random.Random, loops: int) -> Statement:
    return Statement("stir", rng.getrandbits(16), loops - 1)


def statement(rng: random.Random, loops: int, nested: int) -> Statement:
    kinds = ["stir"] * 2 + (["lanes"] * 3 + ["turn"] * 3 * bool(loops) if nested < 4 else [])
    kinds += ["loop"] * 2 if loops < 3 and nested < 3 else []
    kind = rng.choice(kinds)
    inner = rng.randint(0, loops - 1) if loops else 0
    match kind:
        case "stir":
            return stirred(rng, loops)
        case "lanes":
            return Statement(kind, rng.randint(8, 30), 0, block(rng, loops, nested + 1))
        case "turn":
            return Statement(kind, rng.randint(0, 4), inner, block(rng, loops, nested + 1))
        case "loop":
            return Statement(kind, rng.randint(2, 6), loops, block(rng, loops + 1, nested + 1))
    raise AssertionError(kind)


def wrong(device: simt.Device, seed: int) -> str | None:
    """The program of a seed, if it gives anything else."""
    rng = random.Random(seed)
    program = [statement(rng, 0, 0) for _ in range(rng.randint(2, 4))]
    text = HEAD + "".join(s.ptx(labels) for labels in ([0],) for s in program)
    out = device.zeros(THREADS, "u4")
    device.load(f"{text}END: st.global.u32 [%o], %x; ret;\n}}\n")["k"](1, THREADS, (out,))
    same = np.array_equal(out.numpy(), np.array([expected(program, t) for t in range(THREADS)], "u4"))
    return None if same else text


EARLY = """
    .reg .b32 %b, %v, %n, %next, %more, %result;
    .reg .pred %q, %r;
    mul.lo.u32 %b, %t, 7;
    and.b32 %b, %b, 31;
    mul.lo.u32 %v, %t, 37;
    rem.u32 %v, %v, 50;
    mov.u32 %n, 0;
TURN:
    mov.u32 %x, %v;
    mov.u32 %i0, %n;
    setp.ge.s32 %p, %i0, 5; @%p bra LAST;
    setp.le.s32 %q, %b, %x; @%q bra ASK;
    add.s32 %next, %x, 1; bra NEXT;
ASK:
    setp.ne.s32 %r, %i0, 2; @%r bra SAME;
    mov.b32 %result, %b; bra DONE;
SAME:
    mov.u32 %next, %x;
NEXT:
    add.s32 %n, %i0, 1; mov.u32 %v, %next; bra TURN;
LAST:
    mov.b32 %result, %x;
DONE:
    mov.u32 %x, %result;
"""
"""Some lanes leave in the turn that they all count as the third one, by a branch that is none of lanes."""


def early(thread: int) -> int:
    x, t = thread * 7 & 31, thread * 37 % 50
    for i in range(5):
        if x > t:
            t += 1
        elif i == 2:
            return x
    return t


def test_lanes_leave_early(device: simt.Device) -> None:
    out = device.zeros(THREADS, "u4")
    device.load(f"{HEAD}{EARLY}END: st.global.u32 [%o], %x; ret;\n}}\n")["k"](1, THREADS, (out,))
    np.testing.assert_array_equal(out.numpy(), [early(t) for t in range(THREADS)])


@pytest.mark.parametrize("seed", share(range(100), 10))
def test_random_loops(device: simt.Device, seed: int) -> None:
    assert wrong(device, seed) is None


if __name__ == "__main__":
    dev = simt.Device("sm_90", memory="1MiB", timeout=60)
    print([s for s in range(int(sys.argv[1]), int(sys.argv[2])) if wrong(dev, s)])
