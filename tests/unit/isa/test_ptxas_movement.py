"""Every opcode that the chapters on data movement, memory and warps enumerate, against ptxas."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import groupby

import pytest

from simt.isa.catalogue import FORMS
from simt.isa.form import Binding, Form
from tests.unit.isa.ptxas import instruction_text, needs_ptxas, newest_target, rejected

CHAPTERS = ("move", "memory", "convert", "atomics", "warp", "sync", "control")
LABELS = ("branch", "indirect-branch", "call", "return", "exit")
"""Kinds of control flow whose operands are names: tested by `test_control.py`."""

DIFFERENCES = {
    r"(atom|red)\.(.*\.)?(min|max)\.f32": "in tables 80, 81, but called unimplemented by 1.4's release notes",
}
"""What the text allows and ptxas 13 refuses, as patterns of opcodes, with the reason."""

UNTRIED = {
    r"st\..*\bparam\b.*": "its address must be a parameter of a call: ptxas 13 dies on a register",
    r"cvta\..*\.u32": "only for 32-bit addresses, which ptxas 13 no longer assembles",
}
"""What ptxas 13 cannot be asked, with the reason."""


def listed(line: str, patterns: Mapping[str, str]) -> bool:
    return any(re.fullmatch(p, line.split()[0]) for p in patterns)


def cases(chapter: str) -> list[tuple[Form, Binding]]:
    forms = [f for fs in FORMS.values() for f in fs if f.chapter == chapter and f.control not in LABELS]
    return [(f, b) for f in forms for b in f.bindings()]


def environment(form: Form, binding: Binding) -> tuple[tuple[int, int], str]:
    """Version and target under which a form is tried: the newest, or the last that still has it."""
    if form.until is None:
        return (9, 0), newest_target(form, binding)
    return form.until, f"sm_{form.until_target or 13}"


@pytest.mark.ptxas
@needs_ptxas
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_enumerated_opcode_is_accepted(chapter: str) -> None:
    refused: list[str] = []
    ordered = sorted(cases(chapter), key=lambda c: environment(*c))
    for (version, target), group in groupby(ordered, key=lambda c: environment(*c)):
        texts = [instruction_text(f, b) for f, b in group]
        lines = [t for t in texts if not listed(t, UNTRIED)]
        refused += [f"{lines[i]}: {text}" for i, text in rejected(lines, version, target).items()]
    assert [r for r in refused if not listed(r, DIFFERENCES)] == []
