"""Random kernels that store and load words of all sizes in local memory, at one place, at one for each row of
threads, or at each thread's own; NumPy says what they find.

`python -m tests.property.test_woven_words FIRST END` tries many.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import numpy as np
import pytest

import simt
from tests.conftest import ENGINES, shared_device

THREADS, BYTES, TURNS = 64, 64, 5
HEAD = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .pred %p, %more; .reg .b32 %t, %n, %i, %j; .reg .b64 %out, %acc, %l, %a, %v<4>; .reg .b16 %h<4>;
    .local .align 16 .b8 box[64];
    ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; mov.u32 %i, %tid.y; mov.u32 %j, %ntid.x;
    mad.lo.u32 %t, %i, %j, %t; mul.wide.u32 %a, %t, 8; add.u64 %out, %out, %a;
    mov.u64 %l, box; cvt.u64.u32 %acc, %t; mul.lo.u64 %acc, %acc, 0x9E3779B97F4A7C15;
"""
TAIL = "st.global.u64 [%out], %acc; ret;\n}\n"
MULTIPLIER = 6364136223846793005
Columns = np.ndarray


@dataclass(frozen=True)
class Move:
    """A load or store of `count` words of `size` bytes. `place`: what the address is made of, `factor` and
    `start`: how; `least`: the first thread that runs it."""

    stores: bool
    size: int
    count: int
    place: str
    factor: int
    start: int
    least: int

    @property
    def bytes(self) -> int:
        return self.size * self.count

    def text(self) -> str:
        """Addresses wrap around in the array."""
        whole = BYTES // self.bytes
        numbers = {"same": "mov.u32 %i, 0;", "turn": "mov.u32 %i, %n;", "own": "mov.u32 %i, %t;"}
        lines = [
            numbers.get(self.place, "shr.u32 %i, %t, 4;"),
            f"mad.lo.u32 %i, %i, {self.factor}, {self.start}; and.b32 %i, %i, {whole - 1};",
            f"mul.wide.u32 %a, %i, {self.bytes}; add.u64 %a, %l, %a; setp.ge.u32 %p, %t, {self.least};",
        ]
        registers = [f"%v{i}" for i in range(self.count)]
        vector = f".v{self.count}" * (self.count > 1)
        words = registers if self.size > 1 or self.count == 1 else [f"%h{i}" for i in range(self.count)]
        operands = f"{{{', '.join(words)}}}" if self.count > 1 else words[0]
        if self.stores:
            lines += [f"mad.lo.u64 %v{i}, %acc, {2 * i + 3}, {i};" for i in range(self.count)]
            lines += [f"cvt.u16.u64 %h{i}, %v{i};" for i in range(self.count) if words[i] != f"%v{i}"]
            lines.append(f"@%p st.local{vector}.u{8 * self.size} [%a], {operands};")
        else:
            lines += [f"mov.b{'64' if word[1] == 'v' else '16'} {word}, 1;" for word in words]
            lines.append(f"@%p ld.local{vector}.u{8 * self.size} {operands}, [%a];")
            lines += [f"cvt.u64.u16 %v{i}, %h{i};" for i in range(self.count) if words[i] != f"%v{i}"]
            lines += [f"mad.lo.u64 %acc, %acc, {MULTIPLIER}, {register};" for register in registers]
        return "\n    ".join(lines)

    def run(self, memory: Columns, acc: Columns, turn: int) -> None:
        thread = np.arange(THREADS, dtype="u8")
        number = {"same": 0 * thread, "turn": 0 * thread + np.uint64(turn), "own": thread}
        index = number.get(self.place, thread >> np.uint64(4)) * np.uint64(self.factor) + np.uint64(
            self.start
        )
        first = (index % np.uint64(BYTES // self.bytes)) * np.uint64(self.bytes)
        runs = thread >= self.least
        at = first[:, None].astype("i8") + np.arange(self.bytes)
        if self.stores:
            words = [acc * np.uint64(2 * i + 3) + np.uint64(i) for i in range(self.count)]
            parts = [word.astype("<u8").view("u1").reshape(THREADS, 8)[:, : self.size] for word in words]
            memory[thread[runs, None].astype("i8"), at[runs]] = np.concatenate(parts, 1)[runs]
            return
        found = np.take_along_axis(memory, at, 1).reshape(THREADS, self.count, self.size)
        for i in range(self.count):
            wide = np.zeros((THREADS, 8), "u1")
            wide[:, : self.size] = found[:, i]
            word = np.where(runs, wide.view("<u8")[:, 0], np.uint64(1))
            acc[:] = acc * np.uint64(MULTIPLIER) + word


def program(random: Random) -> tuple[str, Callable[[], Columns]]:
    """A kernel, and what its threads find."""
    sizes = random.choice([(1,), (2,), (1, 2), (1, 4), (2, 4), (4, 8), (1, 2, 4, 8)])
    often = random.choice([("same",), ("same", "turn", "row"), ("same", "same", "turn", "row", "own")])

    def move() -> Move:
        size = random.choice(sizes)
        count = random.choice([n for n in (1, 1, 2, 4) if n * size <= 16])
        place, least = random.choice(often), random.choice((0, 0, 0, 5, 40))
        return Move(
            random.random() < 0.5, size, count, place, random.randrange(1, 8), random.randrange(64), least
        )

    before, inside = ([move() for _ in range(random.randrange(2, 7))] for _ in range(2))
    text = "\n    ".join(m.text() for m in before)
    loop = "\n    ".join(m.text() for m in inside)
    end = f"add.u32 %n, %n, 1; setp.lt.u32 %more, %n, {TURNS}; @%more bra L;"

    def answer() -> Columns:
        memory = np.zeros((THREADS, BYTES), "u1")
        acc = np.arange(THREADS, dtype="u8") * np.uint64(0x9E3779B97F4A7C15)
        for one in before:
            one.run(memory, acc, 0)
        for turn in range(TURNS):
            for one in inside:
                one.run(memory, acc, turn)
        return acc

    return f"{HEAD}    mov.u32 %n, 0;\n    {text}\nL:  {loop}\n    {end}\n    {TAIL}", answer


def problem(seed: int, device: simt.Device) -> str:
    """What is wrong with a program's result on a device, nothing if it is right."""
    random = Random(seed)
    text, answer = program(random)
    block = random.choice([(64, 1), (16, 4), (8, 8), (32, 2)])
    out = device.zeros(THREADS, "u8")
    device.load(text)["k"](1, block, (out,))
    with np.errstate(over="ignore"):
        wrong = np.flatnonzero(out.numpy() != answer())
    return f"threads {wrong.tolist()}\n{text}" if wrong.size else ""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("seed", range(12))
def test_words_of_all_sizes(seed: int, engine: str) -> None:
    assert problem(seed, shared_device(engine)) == ""


@pytest.mark.parametrize("cpu", ["x86-64", "x86-64-v3"])
@pytest.mark.parametrize("seed", range(12, 18))
def test_on_older_cpus(seed: int, cpu: str) -> None:
    assert problem(seed, simt.Device("sm_75", engine="jit", cpu=cpu)) == ""


if __name__ == "__main__":
    for each in range(*map(int, sys.argv[1:3])):
        for name in (None, "x86-64", "x86-64-v3"):
            if wrong := problem(each, simt.Device("sm_75", engine="jit", cpu=name)):
                print(each, name, wrong)
