"""How the meanings compare with what an H200 gave, counted by form: `python -m tests.hw.conformance`.

Writes `src/simt/tools/conformance.json`, which the pages of `simt isa` and `docs/isa/` show (`make docs`).
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import astuple
from functools import partial

import numpy as np

from simt.isa.catalogue import FORMS
from simt.isa.form import Form
from simt.isa.special_registers import SPECIAL_REGISTERS, SpecialRegister
from simt.ptx.types import Type
from simt.tools.pages import CONFORMANCE, Conformance
from tests.hw import (
    environment,
    test_arithmetic,
    test_conversions,
    test_environment,
    test_flushing,
    test_probes,
    test_tensor,
    test_textures,
    test_video,
)
from tests.hw.arithmetic import Case
from tests.hw.textures import cases
from tests.unit.isa.meaning import Array

REFUSED = Conformance(refused=1)


def compared(ours: Array, theirs: Array, wrong: Callable[[], int]) -> Conformance:
    """The lanes of one result, counted; `wrong`: how many are outside the bounds of their test."""
    apart = np.flatnonzero(ours.reshape(-1) != theirs.reshape(-1))
    different = wrong() if len(apart) else 0
    return Conformance(0, ours.size, ours.size - len(apart), len(apart) - different)


def _compared(case: Case, t: Type, ours: Array, theirs: Array) -> Conformance:
    """Likewise, with the bounds of arithmetic."""
    return compared(ours, theirs, lambda: len(test_arithmetic.differing(case, t, ours, theirs)))


def arithmetic() -> Iterator[tuple[Form, Conformance]]:
    """Of every case of the arithmetic chapters."""
    theirs = test_arithmetic.recorded()[1]
    for name, case in test_arithmetic.replayed().items():
        yield case.form, Conformance(1)
        for i, (t, ours) in enumerate(zip(case.outputs, test_arithmetic.computed(case))):
            yield case.form, _compared(case, t, ours, theirs[f"{name}/{i}"])
    for name in test_arithmetic.refused():
        yield test_arithmetic.cases()[name].form, REFUSED


def conversions() -> Iterator[tuple[Form, Conformance]]:
    """Of every conversion and warp operation."""
    theirs = test_conversions.recorded()
    for name, case in test_conversions.replayed().items():
        yield case.form, Conformance(1)
        for i, (t, ours) in enumerate(zip(case.outputs, test_conversions.computed(name, case))):
            yield case.form, _compared(case, t, ours, theirs[f"{name}/{i}"])
    for name in test_conversions.refused():
        yield test_conversions.CASES[name].form, REFUSED


def flushing() -> Iterator[tuple[Form, Conformance]]:
    """Of what flushes, around the edge."""
    theirs = test_flushing.recorded()[1]
    for opcode, case in test_flushing.cases().items():
        yield case.form, Conformance(1)
        ours = test_flushing.computed(case)
        wrong = partial(_not_flushed, case, ours)
        yield case.form, compared(ours, theirs[opcode], wrong)


def _not_flushed(case: Case, ours: Array) -> int:
    return len(test_flushing.differing(case, ours))


def probes() -> Iterator[tuple[Form | SpecialRegister, Conformance]]:
    """Of the small programs, by threads."""
    for probe in test_probes.compared():
        wrong = test_probes.differing(probe, test_probes.interpreted(probe.name))
        yield probe.subject, Conformance(1, probe.threads, probe.threads - wrong)
    for name in test_probes.refused():
        yield test_probes.probes()[name].subject, REFUSED


def driver_values() -> Iterator[tuple[SpecialRegister, Conformance]]:
    """Of the registers `%envreg`, by launches in two processes, as far as they are compared."""
    ours = [test_environment.computed(launch, "interpreter") for launch in environment.LAUNCHES]
    for number in range(environment.COUNT):
        theirs = test_environment.compared(number)
        launches = theirs.shape[1]
        if launches:
            exact = sum(int((theirs[:, i] == ours[i][number]).sum()) for i in range(launches))
            yield SPECIAL_REGISTERS[f"%envreg{number}"], Conformance(launches, theirs.size, exact)


def video() -> Iterator[tuple[Form, Conformance]]:
    """Of the video instructions: a kernel for each selection of parts."""
    theirs = test_video.recorded()[1]
    for name, case in test_video.cases().items():
        exact = int((test_video.computed(case) == theirs[name]).sum())
        yield case.form, Conformance(len(case.samples), theirs[name].size, exact)


def textures() -> Iterator[tuple[Form, Conformance]]:
    """Of the texture fetches: a texture and a filter for each case."""
    (form,) = FORMS["tex"]
    for case in cases():
        apart = (test_textures.computed(case) != test_textures.recorded()[case.name]).any(1)
        yield form, Conformance(1, len(apart), int((~apart).sum()))


def tensor() -> Iterator[tuple[Form, Conformance]]:
    """Of the instructions on matrices: a kernel for each opcode."""
    theirs = test_tensor.recorded()
    for opcode, case in test_tensor.cases().items():
        exact = int((test_tensor.computed(case) == theirs[opcode]).sum())
        yield case.form, Conformance(1, theirs[opcode].size, exact)


def counted() -> dict[str, list[Conformance]]:
    """By mnemonic, in the order of its forms; and by name of special register."""
    found: dict[int, Conformance] = defaultdict(Conformance)
    for part in (arithmetic, conversions, flushing, probes, driver_values, video, textures, tensor):
        for subject, more in part():
            found[id(subject)] += more
    forms = {name: [found[id(form)] for form in forms] for name, forms in FORMS.items()}
    registers = {name: [found[id(r)]] for name, r in SPECIAL_REGISTERS.items() if id(r) in found}
    return forms | registers


def text(found: dict[str, list[Conformance]]) -> str:
    """As it is kept: a line for each instruction."""
    rows = [f"{json.dumps(name)}: {json.dumps([list(astuple(c)) for c in cs])}" for name, cs in found.items()]
    return "{\n" + ",\n".join(rows) + "\n}\n"


if __name__ == "__main__":
    CONFORMANCE.write_text(text(counted()))
