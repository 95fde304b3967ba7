"""The recorded results of an H200 for the video instructions, against meanings and engines, bit for bit.

Record again with `python -m tests.hw.record --only video`.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import simt
from simt.engine.numpy_algebra import NumpyAlgebra
from simt.isa.algebra import Environment
from tests.hw.video import CHAPTERS, LANES, SAMPLES, Case, cases, chunks, written
from tests.shares import share
from tests.unit.isa.meaning import Array

VECTORS = Path(__file__).parent / "vectors" / "video.npz"
MACHINE = 90
CHUNK = 100
ENGINE_STEP = {"interpreter": 4, "jit": 80}
"""Every how many of the cases run as kernels of a mnemonic."""


@functools.cache
def recorded() -> tuple[Array, dict[str, Array]]:
    """The pool of operands, and results by case: a row for each sample."""
    file = np.load(VECTORS)
    return file["pool"], dict(zip((str(n) for n in file["names"]), file["values"], strict=True))


def computed(case: Case) -> Array:
    """Our results."""
    pool, _ = recorded()
    operands = dict(zip(case.sources, case.given(pool)))
    form, rows = case.form, np.empty((SAMPLES, LANES), np.uint32)
    assert form.meaning is not None
    for row, sample in zip(rows, case.samples):
        values = {**case.binding, **sample, **operands, "env": Environment(machine=MACHINE)}
        row[:] = form.meaning(NumpyAlgebra(), **{p: values[p] for p in form.parameters})
    return rows


def mismatches(case: Case, ours: Array, theirs: Array) -> Iterator[str]:
    """What is wrong with each sample of a case: the first lane, with its operands."""
    given = case.given(recorded()[0])
    for number in np.flatnonzero((ours != theirs).any(1)):
        lane = int(np.flatnonzero(ours[number] != theirs[number])[0])
        operands = ", ".join(written(o, case.samples[number]) for o in case.form.operands)
        words = ", ".join(f"{int(w):#x}" for w in given[: len(case.sources), lane])
        results = f"{int(ours[number, lane]):#x}, GPU {int(theirs[number, lane]):#x}"
        yield f"{case.opcode} {operands} of {words}: {results}"


def test_everything_is_recorded() -> None:
    assert list(recorded()[1]) == list(cases()), "record again"


def test_meanings_are_the_hardware() -> None:
    theirs = recorded()[1]
    assert [line for n, c in cases().items() for line in mismatches(c, computed(c), theirs[n])] == []


def test_kernels_are_the_hardware(device: simt.Device, engine: str) -> None:
    pool, theirs = recorded()
    wrong: list[str] = []
    for text, part in chunks(
        dict(share(cases().items(), ENGINE_STEP[engine], lambda pair: pair[1].form.mnemonic)), CHUNK
    ):
        module = device.load(text)
        for number, (name, case) in enumerate(part.items()):
            source = device.array(np.ascontiguousarray(case.given(pool)))
            out = device.zeros((SAMPLES, LANES), "u4")
            module[f"k{number}"]((1,), (LANES,), (source, out))
            wrong += mismatches(case, out.numpy(), theirs[name])
    assert wrong == []


def test_every_operand_meets_every_selector() -> None:
    """Each one with every opcode, where there are no more of them than samples; else each digit in each place
    with every mnemonic."""
    digits = defaultdict[tuple[str, str], set[tuple[int, str]]](set)
    for case in cases().values():
        for selector in (o.selector for o in case.form.operands if o.selector):
            met = {sample[selector.name] for sample in case.samples}
            if len(selector.choices()) < SAMPLES:
                assert met == {None, *selector.choices()}
            digits[case.form.mnemonic, selector.name] |= {p for w in met if w for p in enumerate(str(w))}
    several = {k: v for k, v in digits.items() if k[0][-1] in "24" and k[1] != "mask"}
    wanted = {"2": {(i, d) for i in (1, 2) for d in "0123"} | {(0, "h")}}
    wanted["4"] = {(i, d) for i in (1, 2, 3, 4) for d in "01234567"} | {(0, "b")}
    assert {key for key, met in several.items() if met != wanted[key[0][-1]]} == set()
    assert {f.form.chapter for f in cases().values()} == set(CHAPTERS)
