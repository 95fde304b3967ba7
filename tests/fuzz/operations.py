"""What random programs are made of: instructions of the catalogue by kind, and banks of registers."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from random import Random

import simt.isa  # noqa: F401  # pyright: ignore[reportUnusedImport]  (fills the catalogue)
from simt.isa.catalogue import FORMS
from simt.isa.form import Binding, Form
from simt.isa.targets import NEWEST
from simt.ptx.types import Kind, Type

TARGET = 90

BANKS = {
    "p": ("pred", 6),
    "h": ("b16", 5),
    "r": ("b32", 8),
    "d": ("b64", 5),
    "f": ("f32", 5),
    "e": ("f64", 5),
}
"""Type and number of the registers `%p0`, `%p1` ... of each bank."""

INEXACT = ("approx", "full")
"""Modifiers of instructions whose result the manual gives within a bound only."""

SIGN_OF_NAN = ("copysign", "xorsign")
"""Instructions that would show the sign of a NaN, which arithmetic leaves open."""

UNDEFINED = ("fns",)
"""Instructions without a defined result for some values of their operands."""

VIDEO = ("video", "video_vectors")
"""The chapters of many mnemonics, which are drawn apart from the others."""

UNSPEAKABLE = "b1024"
"""A selector that ptxas 13 cannot read: it is the name of a type there."""

UNGUARDED = ("set", "testp")
"""NVIDIA's assembler (driver 580) makes several instructions of these, and a guard covers only some."""

COMMUTATIVE = ("add", "and", "or", "xor", "min", "max")
"""Updates whose final result does not depend on their order."""


@dataclass(frozen=True)
class Choice:
    """One opcode: a form under a binding."""

    form: Form
    binding: Binding

    @property
    def opcode(self) -> str:
        return self.form.spell(self.binding)


def bank(t: Type) -> str | None:
    """The bank whose registers hold a type, None if there is none."""
    if t.is_predicate:
        return "p"
    if t.is_native_float:
        return "f" if t.bits == 32 else "e"
    return {8: "h", 16: "h", 32: "r", 64: "d"}.get(t.bits)


def usable(form: Form, binding: Binding) -> bool:
    """Whether the newest version allows the opcode for the target."""
    needed = form.required(binding)
    return not form.expired(NEWEST, TARGET) and needed.version <= NEWEST and needed.target <= TARGET


def modifiers(random: Random, choice: Choice) -> Binding:
    """Selectors and signs of the operands, as the form takes them together."""
    operands = choice.form.operands
    selectors = [o.selector for o in operands if o.selector]
    found: Binding = {s.name: random.choice([None, *s.choices()]) for s in selectors}
    found |= {f"{o.name}_negative": random.random() < 0.5 for o in operands if o.signed}
    check = choice.form.check
    if UNSPEAKABLE in found.values() or (check and check({**choice.binding, **found}, NEWEST)):
        return modifiers(random, choice)
    return found


def _choices(form: Form) -> list[Choice]:
    return [Choice(form, b) for b in form.bindings() if usable(form, b) and _storable(form, b)]


def _storable(form: Form, binding: Binding) -> bool:
    typed = [o for o in form.operands if o.kind == "value"]
    return all(bank(form.operand_type(o, binding)[0]) for o in typed)


def _is_pure(form: Form) -> bool:
    plain = form.meaning is not None and not form.effects and not form.control and not form.carry
    words = {s.name for s in form.slots} | {w for s in form.slots for w in s.choices}
    simple = all(o.kind in ("value", "imm") and "pack(" not in o.spec for o in form.operands)
    shows_sign = form.mnemonic in SIGN_OF_NAN or words & set(SIGN_OF_NAN)
    left_out = shows_sign or form.mnemonic in UNDEFINED or form.chapter in VIDEO
    return plain and simple and "space" not in words and not left_out


def _is_exact(form: Form) -> bool:
    return not any(w in INEXACT for s in form.slots for w in s.choices)


def _grouped(forms: list[Form]) -> dict[str, list[list[Choice]]]:
    """Choices by mnemonic, and by form."""
    found: dict[str, list[list[Choice]]] = {}
    for form in forms:
        choices = _choices(form)
        if choices:
            found.setdefault(form.mnemonic, []).append(choices)
    return found


@functools.cache
def pure(exact: bool) -> dict[str, list[list[Choice]]]:
    """Instructions without effects, by mnemonic and form. `exact`: only those with a defined result."""
    forms = [f for fs in FORMS.values() for f in fs if _is_pure(f)]
    return _grouped([f for f in forms if not exact or _is_exact(f)])


@functools.cache
def video() -> dict[str, list[list[Choice]]]:
    """The video instructions, by mnemonic and form."""
    return _grouped([f for fs in FORMS.values() for f in fs if f.chapter in VIDEO])


@functools.cache
def carrying(direction: str, subtracts: bool) -> list[Choice]:
    """Instructions that set (`out`) or read (`in`) the carry flag: sums, or differences."""
    forms = [f for fs in FORMS.values() for f in fs if direction in f.carry.split()]
    if direction == "out":
        forms = [f for f in forms if f.carry == "out"]
    return [c for f in forms if f.mnemonic.startswith("sub") == subtracts for c in _choices(f)]


@functools.cache
def warp() -> list[list[Choice]]:
    """Operations of a mask of lanes, but shuffles: a lane may not read one that does not take part."""
    forms = [f for fs in FORMS.values() for f in fs if f.chapter == "warp" and f.mnemonic != "shfl"]
    groups = (_choices(f) for f in forms if any(o.name == "mask" for o in f.operands) and not f.until)
    return [choices for choices in groups if choices]


@functools.cache
def accesses(mnemonic: str, space: str) -> list[list[Choice]]:
    """Loads or stores of a state space (`""`: generic) that other accesses may precede and follow.

    None with a cache policy, which only `createpolicy` can make.
    """
    found: list[list[Choice]] = []
    for form in FORMS[mnemonic]:
        names = {s.name for s in form.slots}
        choices = [c for c in _choices(form) if (c.binding.get("space") or "") == space]
        if choices and not names & {"nc", "mmio", "hint"}:
            found.append(choices)
    return found


@functools.cache
def atomics(mnemonic: str, space: str, commutative: bool) -> list[Choice]:
    """Atomic operations on integers in a state space (`""`: generic)."""
    choices = [c for f in FORMS[mnemonic] for c in _choices(f)]
    choices = [c for c in choices if (c.binding.get("space") or "") == space and _is_integer(c)]
    return [c for c in choices if not commutative or c.binding.get("op") in COMMUTATIVE]


def _is_integer(choice: Choice) -> bool:
    t = choice.binding.get("type")
    return isinstance(t, Type) and t.kind not in (Kind.FLOAT, Kind.PACKED) and "vec" not in choice.binding


@functools.cache
def accumulators() -> dict[tuple[str, str], int]:
    """A place for every commutative update of a type."""
    keys = {accumulator_key(c) for s in ("shared", "global") for c in atomics("red", s, True)}
    return {key: place for place, key in enumerate(sorted(keys))}


def accumulator_key(choice: Choice) -> tuple[str, str]:
    return str(choice.binding["op"]), str(choice.binding["type"])


def pick(random: Random, groups: list[list[Choice]]) -> Choice:
    return random.choice(random.choice(groups))
