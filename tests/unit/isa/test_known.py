"""Instructions that simt knows, but does not run."""

from __future__ import annotations

import re
from collections import defaultdict

import pytest

from simt.isa import catalogue
from simt.isa.catalogue import FORMS, KNOWN, known
from simt.isa.form import Form, Version
from simt.isa.problems import catalogue_problems
from simt.isa.select import Mismatch, Selection, select
from simt.isa.targets import FIRST_VERSION, VERSIONS
from tests.unit.isa.known_examples import A_TARGETS, EXAMPLES
from tests.unit.isa.ptxas import needs_ptxas, rejected

NEWEST_HERE = 90
"""The target that `rejected` assembles for."""
TARGETS = sorted(int(name) for name in FIRST_VERSION if name.isdigit() and int(name) <= NEWEST_HERE)


def operand_count(line: str) -> int:
    without = re.sub(r"\{[^}]*\}|\[[^\]]*\]", "x", line.partition(" ")[2])
    return len(without.split(",")) if without else 0


def chosen(line: str, version: Version = (9, 0), target: int = 100) -> Selection:
    opcode, *modifiers = line.split()[0].split(".")
    found = select(opcode, tuple(modifiers), operand_count(line), version, target)
    assert isinstance(found, Selection), found
    return found


@pytest.mark.parametrize("line", [*EXAMPLES, *A_TARGETS])
def test_examples_are_known_and_not_run(line: str) -> None:
    form = chosen(line).form
    assert form in KNOWN[form.mnemonic]
    assert not form.runs


def test_every_known_form_has_an_example() -> None:
    shown = {id(chosen(line).form) for line in (*EXAMPLES, *A_TARGETS)}
    assert [f.syntax for forms in KNOWN.values() for f in forms if id(f) not in shown] == []


def test_every_form_that_runs_is_chosen_before_those_that_do_not() -> None:
    for form in (f for forms in FORMS.values() for f in forms):
        opcode, *modifiers = form.spell(next(form.bindings())).split(".")
        count = len(form.operands)
        version, target = form.until or (9, 0), 10 if form.until else 100
        found = select(opcode, tuple(modifiers), count, version, target)
        assert isinstance(found, Selection), form.syntax
        assert found.form.runs, form.syntax


@pytest.mark.parametrize(
    ("opcode", "message", "hint"),
    [
        ("wgmma.begin", "`wgmma` has no modifier `.begin` here", "expected one of .mma_async .fence "),
        ("wgmma", "`wgmma` needs a further modifier", "expected one of .mma_async "),
        ("wmma.load.z", "`wmma.load` has no modifier `.z` here", "expected one of .a .b .c"),
        (
            "tex.depth.2d",
            "`tex` has no modifier `.depth` here",
            "expected one of .1d .2d .3d .level .base .grad",
        ),
        ("cvt.rn.e9m9x2.f32", "`cvt.rn` has no modifier `.e9m9x2` here", "expected one of "),
        ("st.async.global.u32", "`st.async` has no modifier `.global` here", "expected .mbarrier::complete"),
        ("tensrmap.replace", "unknown instruction `tensrmap`", "did you mean `tensormap` or "),
        ("foo.bar", "unknown instruction `foo`", None),
    ],
)
def test_what_is_near_to_them_is_unknown(opcode: str, message: str, hint: str | None) -> None:
    mnemonic, *modifiers = opcode.split(".")
    found = select(mnemonic, tuple(modifiers), 2)
    assert isinstance(found, Mismatch)
    assert found.message == message
    assert hint is None or (found.hint or "").startswith(hint)


def test_later_slots_stand_anywhere_behind_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "KNOWN", catalogue.Catalogue())
    known("wax[.sat]....kind...", "Waxes.", kind="on off", since="9.0", ref="a film")
    (form,) = catalogue.KNOWN["wax"]
    assert (form.head, [s.name for s in form.slots], form.operands) == (1, ["sat", "kind"], ())
    assert [form.spell(b) for b in form.bindings()] == ["wax.sat.on", "wax.sat.off", "wax.on", "wax.off"]


def test_the_self_check_reads_known_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    known("bar.none...", "", since="9.0", ref="", requires={"sat": "9.0"})
    found = [text for text in catalogue_problems() if text.startswith("bar.none...")]
    KNOWN["bar"].pop()
    assert found == [
        "bar.none...: no reference", "bar.none...: no summary",
        "bar.none...: `requires` names sat, which is no modifier",
    ]  # fmt: skip


def needed(form: Form, line: str) -> tuple[Version, int]:
    """The first version and target that we let the instruction have."""
    requirement = form.required(chosen(line).binding)
    return max(requirement.version, FIRST_VERSION[str(requirement.target)]), requirement.target


STRICTER_THAN_OURS = {
    "mma": "shapes have their own requirements", "wmma": "PTX 6.0 to 6.2 had another order of modifiers",
    **dict.fromkeys(
        ("tex", "tld4", "txq", "suld", "sust", "sured", "suq"), "addresses in registers came with PTX 3.1"
    ),
}  # fmt: skip
"""Mnemonics whose examples need more for ptxas than the forms do, with the reason."""


@needs_ptxas
def test_versions_and_targets_are_those_of_ptxas() -> None:
    groups: dict[tuple[Version, int], dict[str, bool]] = defaultdict(dict)
    for line in EXAMPLES:
        form = chosen(line).form
        version, target = needed(form, line)
        if target <= NEWEST_HERE:
            groups[(9, 0), target][line] = True
            if form.mnemonic not in STRICTER_THAN_OURS:
                groups[version, target][line] = True
        older = VERSIONS[VERSIONS.index(version) - 1]
        groups[older, max(t for t in TARGETS if FIRST_VERSION[str(t)] <= older)][line] = False
        groups[(9, 0), max(t for t in TARGETS if t < target)][line] = False
    different: list[str] = []
    for (version, target), lines in sorted(groups.items()):
        refused = rejected(list(lines), version, f"sm_{target}")
        for i, (line, allowed) in enumerate(lines.items()):
            if allowed == (i in refused):
                different.append(f"{version} sm_{target} {line}: {refused.get(i, 'accepted')}")
    assert different == []
