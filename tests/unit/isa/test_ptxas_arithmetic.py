"""Every opcode that the arithmetic chapters enumerate, against ptxas."""

from __future__ import annotations

from itertools import groupby

import pytest

from simt.isa.catalogue import FORMS
from simt.isa.form import Binding, Form
from tests.unit.isa.ptxas import instruction_text, needs_ptxas, newest_target, rejected
from tests.unit.isa.refused import DIFFERENCES

CHAPTERS = ("integer", "floating", "compare", "logic", "half", "packed_single", "mixed")


def cases() -> list[tuple[Form, Binding]]:
    forms = [f for fs in FORMS.values() for f in fs if f.chapter in CHAPTERS]
    return [(f, b) for f in forms for b in f.bindings()]


def environment(form: Form) -> tuple[tuple[int, int], str]:
    """Version and target under which a form is tried: the newest, or the last that still has it."""
    return (form.until, "sm_13") if form.until else ((9, 0), newest_target(form))


@pytest.mark.ptxas
@needs_ptxas
def test_every_enumerated_opcode_is_accepted() -> None:
    refused: list[str] = []
    ordered = sorted(cases(), key=lambda c: environment(c[0]))
    for (version, target), group in groupby(ordered, key=lambda c: environment(c[0])):
        lines = [instruction_text(f, b) for f, b in group]
        refused += [f"{lines[i]}: {text}" for i, text in rejected(lines, version, target).items()]
    unexpected = [r for r in refused if r.split()[0] not in DIFFERENCES]
    assert unexpected == []
