"""The catalogue's self-check: what is wrong with the declared forms."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from simt.isa.catalogue import FORMS, KNOWN
from simt.isa.form import NON_VALUES, TRAITS, Binding, Form, main_type
from simt.isa.select import operand_counts

PASSED_BY_ENGINES = frozenset({"env", "carry"})
"""Parameters of meanings that neither the modifiers nor the operands give."""


def catalogue_problems() -> list[str]:
    """Everything that is wrong with the catalogue, as lines that name the form; empty if it is sound."""
    declared = (*FORMS.values(), *KNOWN.values())
    found = [f"{form.syntax}: {text}" for forms in declared for form in forms for text in _form(form)]
    return found + [text for forms in FORMS.values() for text in _ambiguities(forms)]


def _form(form: Form) -> Iterator[str]:
    yield from _documentation(form)
    yield from (f"slot {s.name} has no alternatives" for s in form.slots if not s.choices)
    yield from (f"`requires` names {w}, which is no modifier" for w in _strange_requirements(form))
    yield from (f"unknown trait {t}" for t in sorted(form.traits - TRAITS.keys()))
    bindings = list(form.bindings())
    if not bindings:
        yield "its check allows no combination of modifiers"
    yield from _operand_problems(form, bindings)
    yield from _parameter_problems(form, bindings)


def _documentation(form: Form) -> Iterator[str]:
    if not form.ref:
        yield "no reference"
    if not form.summary:
        yield "no summary"
    if form.chapter != "known" and (form.meaning is None) == (not form.control):
        yield "needs either a meaning or a kind of control flow"


def _strange_requirements(form: Form) -> list[str]:
    known = {w for s in form.slots for w in s.choices} | {f"!{s.name}" for s in form.slots if s.optional}
    known |= {"_" for o in form.operands if o.destination} | {"|" for o in form.operands if o.second}
    return [w for key in form.requires for w in key.split() if w not in known]


def _operand_problems(form: Form, bindings: list[Binding]) -> Iterator[str]:
    names = [o.name for o in form.operands]
    yield from (f"two operands are called {n}" for n in set(names) if names.count(n) > 1)
    for operand in form.operands:
        if operand.spec in NON_VALUES:
            continue
        try:
            for binding in bindings:
                form.operand_type(operand, binding)
        except (KeyError, ValueError) as error:
            yield f"operand {operand.name}: {operand.spec} is no type ({error})"


def _parameter_problems(form: Form, bindings: list[Binding]) -> Iterator[str]:
    operands = {o.name for o in form.operands if not o.destination}
    if any(o.kind == "texture" for o in form.operands):
        operands.add("c")  # the coordinates of `[a, c]`
    modifiers = {s.name for s in form.slots} | set(form.defaults)
    for name in form.parameters:
        if name == "t":
            if any(main_type(form, b) is None for b in bindings):
                yield "asks for `t`, but has no main type"
        elif name == "carry" and "in" not in form.carry.split():
            yield "asks for the carry flag, which it does not read"
        elif name not in operands | modifiers | PASSED_BY_ENGINES:
            yield f"asks for {name}, which is neither an operand nor a modifier"


def _ambiguities(forms: list[Form]) -> Iterator[str]:
    """Opcodes that two forms of a mnemonic spell, with as many operands, in the same PTX version."""
    spelled: dict[tuple[str, int], list[Form]] = defaultdict(list)
    for form in forms:
        low, high = operand_counts(form)
        for opcode in {form.spell(b) for b in form.bindings()}:
            for count in range(low, high + 1):
                spelled[opcode, count].append(form)
    for (opcode, count), rivals in spelled.items():
        for i, first in enumerate(rivals):
            if any(_overlap(first, other) for other in rivals[i + 1 :]):
                yield f"{opcode}: several forms with {count} operands"


def _overlap(a: Form, b: Form) -> bool:
    """Whether there is a version in which both forms exist."""
    ends = [f.until or (1 << 30, 0) for f in (a, b)]
    return max(a.requirement.version, b.requirement.version) <= min(ends)
