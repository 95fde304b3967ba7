"""Version and target requirements of the arithmetic chapters, and invalid opcodes, against ptxas."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import pytest

from simt.isa.catalogue import FORMS
from simt.isa.form import Binding, Form, Version
from simt.isa.select import Selection, select
from simt.isa.targets import FIRST_VERSION, NEWEST, VERSIONS
from tests.unit.isa.ptxas import instruction_text, needs_ptxas, rejected
from tests.unit.isa.refused import DIFFERENCES
from tests.unit.isa.test_ptxas_arithmetic import CHAPTERS

TARGETS = sorted(int(name) for name in FIRST_VERSION if name.isdigit())

LAXER_THAN_THE_TEXT = {
    "f64": "ptxas takes .f64 on sm_1x without map_f64_to_f32, and div.rn, sqrt.rn before PTX 1.4",
    "addc": "64-bit addc came with add.cc in PTX 4.3; ptxas asks it of .cc alone",
    "subc": "as addc",
    "madc": "as addc",
    "fns": "PTX 6.0 introduced it; ptxas does not ask",
    "neg": ".f16 came with PTX 6.0; ptxas does not ask",
}
"""Where ptxas 13 accepts what the manuals' notes forbid: mnemonics or types, with the reason."""


def spelled() -> Iterator[tuple[Form, Binding]]:
    """The first and last binding for every requirement of every form."""
    for form in (f for fs in FORMS.values() for f in fs if f.chapter in CHAPTERS):
        groups: dict[object, list[Binding]] = defaultdict(list)
        for binding in form.bindings():
            groups[form.required(binding)].append(binding)
        for found in groups.values():
            yield from ((form, b) for b in (found[0], found[-1])[: 1 + (len(found) > 1)])


def places(form: Form, binding: Binding) -> Iterator[tuple[Version, int, bool]]:
    """A version and target that are just enough, and ones that lack just the version or the target."""
    needed = form.required(binding)
    yield max(needed.version, FIRST_VERSION[str(needed.target)]), needed.target, True
    older = VERSIONS.index(needed.version) - 1
    if older >= 0:
        yield VERSIONS[older], max(t for t in TARGETS if FIRST_VERSION[str(t)] <= VERSIONS[older]), False
    lower = TARGETS.index(needed.target) - 1
    if lower >= 0:
        yield form.until or NEWEST, TARGETS[lower], False


def excused(line: str, allowed: bool) -> bool:
    opcode = line.split()[0]
    if allowed:
        return opcode in DIFFERENCES
    words = set(opcode.split("."))
    return bool(words & LAXER_THAN_THE_TEXT.keys())


@pytest.mark.ptxas
@needs_ptxas
def test_requirements() -> None:
    groups: dict[tuple[Version, int], dict[str, bool]] = defaultdict(dict)
    for form, binding in spelled():
        for version, target, allowed in places(form, binding):
            groups[version, target][instruction_text(form, binding)] = allowed
    different: list[str] = []
    for (version, target), lines in sorted(groups.items()):
        refused = rejected(list(lines), version, f"sm_{target}")
        for i, (line, allowed) in enumerate(lines.items()):
            if allowed == (i in refused) and not excused(line, allowed):
                different.append(f"{version} sm_{target} {line}: {refused.get(i, 'accepted')}")
    assert different == []


# ---------------------------------------------------------------- near misses

IGNORED_BY_PTXAS = frozenset(["finite", "infinite", "number", "notanumber", "normal", "subnormal", "pred"])
"""Modifiers of `testp`, and `.pred`, that ptxas passes over wherever they stand."""


def careless(line: str) -> bool:
    """Whether ptxas is known to take an opcode that nothing defines.

    As above; a modifier twice; `testp` without a class; `addc` and `subc` with `.sat`; roundings of `fma`
    with .bf16, which it passes over.
    """
    mnemonic, *modifiers = line.split()[0].split(".")
    doubled = len(set(modifiers)) < len(modifiers)
    saturated = mnemonic in ("addc", "subc") and "sat" in modifiers
    rounded = mnemonic == "fma" and not {"bf16", "bf16x2"}.isdisjoint(modifiers)
    return (
        doubled or saturated or rounded or mnemonic == "testp" or not IGNORED_BY_PTXAS.isdisjoint(modifiers)
    )


def near_misses(count: int) -> Iterator[str]:
    """Instructions with one modifier dropped, doubled, exchanged or taken from another instruction."""
    random = np.random.default_rng(2024)
    valid = [(f, b) for f, b in spelled() if not f.until]
    words = sorted({w for f, _ in valid for s in f.slots for w in s.choices})
    for _ in range(count):
        form, binding = valid[int(random.integers(len(valid)))]
        opcode, _, operands = instruction_text(form, binding).partition(" ")
        mnemonic, *modifiers = opcode.split(".")
        at = int(random.integers(len(modifiers) + 1))
        foreign = words[int(random.integers(len(words)))]
        match int(random.integers(3)):
            case 0:
                modifiers[at : at + 1] = []
            case 1:
                modifiers[at : at + 1] = [foreign]
            case _:
                modifiers.insert(at, foreign)
        yield ".".join((mnemonic, *modifiers)) + " " + operands


def accepted(line: str) -> bool:
    """Whether the catalogue has such an instruction in the newest version."""
    opcode, _, operands = line.partition(" ")
    mnemonic, *modifiers = opcode.split(".")
    found = select(mnemonic, tuple(modifiers), operands.count(",") + 1, NEWEST, 90)
    return isinstance(found, Selection) and found.shortfall(NEWEST, 90) is None


@pytest.mark.ptxas
@needs_ptxas
def test_near_misses() -> None:
    lines = list(dict.fromkeys(near_misses(1500)))
    refused = rejected(lines)
    different: list[str] = []
    for i, line in enumerate(lines):
        here, there = accepted(line), refused.get(i)
        operands_differ = here and there is not None and "Arguments mismatch" in there
        if here == (there is not None) and not operands_differ and not (there is None and careless(line)):
            different.append(f"{line}: {'accepted' if here else 'refused'} here, ptxas says {there}")
    assert different == []
