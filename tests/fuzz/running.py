"""Runs random programs: inputs of a seed, outputs of an engine, and how outputs are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import simt
from tests.fuzz.builder import SLICE, WORD
from tests.fuzz.operations import accumulators
from tests.fuzz.programs import ROW, START, Dim3, Program, register_list

Words: TypeAlias = NDArray[np.uint64]
SPECIAL = (
    0,
    1,
    2,
    31,
    32,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFF,
    0x7F800000,
    0x3F800000,
    0x00000001,
    0x80000000,
)


@dataclass(frozen=True)
class Case:
    """A program as text, with its launch."""

    seed: int
    grid: Dim3
    block: Dim3
    text: str

    @staticmethod
    def of(program: Program) -> Case:
        return Case(program.seed, program.grid, program.block, program.text())

    @property
    def threads(self) -> int:
        return int(np.prod(self.grid) * np.prod(self.block))

    @property
    def ctas(self) -> int:
        return int(np.prod(self.grid))

    @property
    def uniforms(self) -> tuple[int, int]:
        return self.seed % 4, self.seed // 4 % 5


@dataclass(frozen=True)
class Outputs:
    """What a program leaves: registers of every thread, accumulators, the threads' own memory."""

    registers: Words
    sums: Words
    own: Words

    def arrays(self) -> tuple[Words, ...]:
        return self.registers, self.sums, self.own


def inputs(case: Case) -> Words:
    """First values of all registers: random bits, small numbers, special values."""
    random = Random(case.seed)
    words = [_word(random) for _ in range(case.threads * ROW)]
    return np.array(words, np.uint64).reshape(case.threads, ROW)


def _word(random: Random) -> int:
    kind = random.randrange(5)
    if kind == 0:
        return random.choice(SPECIAL) | random.choice(SPECIAL) << 32
    if kind == 1:
        return random.randrange(64)
    if kind == 2:  # floats of moderate size, single and double
        return random.randrange(0x3E000000, 0x42000000) | random.randrange(0x3FC00000, 0x40800000) << 32
    return random.getrandbits(64)


def first_memory(case: Case) -> tuple[Words, ...]:
    """`in`, `out`, `acc` and `own` before the launch."""
    places = len(accumulators()) * (case.ctas + 1)
    own = np.arange(case.threads * SLICE // WORD, dtype=np.uint64) * np.uint64(0x10003)
    return inputs(case), np.zeros((case.threads, ROW), np.uint64), np.full(places, START, np.uint64), own


def run(case: Case, device: simt.Device) -> Outputs:
    """The outputs of a program on a device. Raises `SimtError`."""
    arrays = [device.array(a) for a in first_memory(case)]
    try:
        device.load(case.text)["fuzz"](case.grid, case.block, (*arrays, *case.uniforms))
        _, out, acc, own = (np.array(a.numpy()) for a in arrays)
    finally:
        for array in arrays:
            array.free()
    return Outputs(out, acc, own.reshape(case.threads, -1))


def outcome(case: Case, device: simt.Device) -> Outputs | str:
    """The outputs, or the error's name and message."""
    try:
        return run(case, device)
    except simt.SimtError as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"


def difference(a: Outputs | str, b: Outputs | str) -> str:
    """Where two outcomes differ first, empty if nowhere. Errors are no outcome to agree on."""
    if isinstance(a, str) or isinstance(b, str):
        return " / ".join(x if isinstance(x, str) else "ran" for x in (a, b))
    names: Sequence[Any] = register_list(), sorted(accumulators()), range(SLICE // WORD)
    for what, x, y, words in zip(("register", "sum", "own memory"), a.arrays(), b.arrays(), names):
        found = np.argwhere(x != y)
        if len(found):
            place = tuple(int(n) for n in found[0])
            word = words[place[-1] % len(words)]
            return f"{what} {word} at {place} of {len(found)}: {int(x[place]):#x} / {int(y[place]):#x}"
    return ""
