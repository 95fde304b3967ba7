"""One-instruction snippets from the catalogue: valid ones, and mutations of them, most of them invalid."""

from __future__ import annotations

import itertools
import random
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from zlib import crc32

from simt.isa.catalogue import FORMS
from simt.isa.form import Binding, Form, OperandForm
from simt.ptx.types import Kind, Type
from tests.parity.dialects import NEWEST, Dialect

ADDRESSED = {"global": "gvar", "shared": "svar", "const": "cvar", "local": "lvar", "param": "pvar"}
OTHER_KINDS = {
    "address": "[%u64_0]",
    "arguments": "(%u32_0)",
    "function": "fvar",
    "imm": "1",
    "label": "L0",
    "labels": "targets",
    "prototype": "prototype",
    "sink": "_",
    "texture": "[tvar, {%f32_0, %f32_1, %f32_2, %f32_3}]",
}
CONSTANTS = (
    "0", "1", "-1", "-3", "15", "16", "31", "32", "255", "256", "65535", "65536", "0xFFFFFFFF", "0x80000000U",
    "4294967296", "18446744073709551615", "-2147483649", "1.5", "-0.0", "1e30", "0f3F800000",
    "0d3FF0000000000000", "WARP_SZ", "(1 + 2) * 4", "1 == 2", "!0", "~0", "2 > 1 ? 8 : 16",
)  # fmt: skip
NAMES = (
    "gvar", "svar", "cvar", "lvar", "pvar", "tvar", "fvar", "L0", "k", "nosuch", "gvar+4", "gvar[4]", "_",
    "%laneid", "%tid", "%tid.x", "%ntid.y", "%ctaid.z", "%nctaid.w", "%gridid", "%clock", "%clock64",
    "%lanemask_lt", "%envreg3", "%smid", "%warpid", "%pm0", "%pm7",
)  # fmt: skip
COMPOUND = (
    "[%u64_0]", "[%u32_0]", "[%s64_0+4]", "[%b64_0-4]", "[%u16_0]", "[%f64_0]", "[%pred_0]", "[gvar]",
    "[svar+4]", "[cvar]", "[lvar]", "[pvar]", "[nosuch]", "[gvar+%u64_0]", "[16]", "[0]", "[%tid.x]", "[]",
    "gvar[%u64_0]", "svar[%u32_0]", "[tvar, {%f32_0, %f32_1, %f32_2, %f32_3}]", "[tvar, {%f32_0}]",
    "[gvar, {%s32_0, %s32_1, %s32_2, %s32_3}]",
    "{%u32_0, %u32_1}", "{%u16_0, %u16_1}", "{%f32_0, %f32_1, %f32_2, %f32_3}",
    "{%u16_0, %u16_1, %u16_2, %u16_3}",
    "{%u64_0, %u64_1}", "{%u8_0, %u8_1}", "{%b32_0}", "{%u32_0, %f32_0}", "{%u32_0, _}", "{_, _}",
    "{%u32_0, 1}", "{%s32_0, %s32_1, %s32_2}", "{}",
    "!%pred_0", "!%u32_0", "-%u32_0", "%pred_0|%pred_1", "%b32_0|%pred_1", "%pred_0|_", "_|%pred_0", "_|_",
    "%w2", "%w4", "%w2.x", "%w4.w", "%w2.z", "%w4.r", "%u32_0.x",
    "%u32_0.b1", "%u32_0.h1", "%nosuch", "(%u32_0)",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Snippet:
    """An instruction's words: opcode, modifiers, operands, guard."""

    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[str, ...]
    guard: str = ""

    def __str__(self) -> str:
        opcode = ".".join((self.opcode, *self.modifiers))
        return f"{self.guard}{opcode} {', '.join(self.operands)}".rstrip() + ";"


# ---------------------------------------------------------------- valid ones


def valid(form: Form, binding: Binding, dialect: Dialect = NEWEST) -> Snippet:
    """A snippet that the form allows, each register of exactly its operand's type."""
    spelled = form.spell(binding).split(".")
    numbers = itertools.count()
    operands = tuple(_operand(form, o, binding, next(numbers), dialect) for o in form.operands)
    return Snippet(spelled[0], tuple(spelled[1:]), operands)


def _operand(form: Form, operand: OperandForm, binding: Binding, number: int, dialect: Dialect) -> str:
    if operand.address:
        space = str(binding.get("space") or "").split("::")[0]
        return f"[{ADDRESSED[space]}]" if space in ("const", "param", "local", "shared") else "[%u64_0]"
    if operand.kind != "value":
        return OTHER_KINDS[operand.kind]
    t, count = form.operand_type(operand, binding)
    registers = [f"%{_register_type(t, dialect)}_{(number + i) % 6}" for i in range(count)]
    return registers[0] if count == 1 else "{" + ", ".join(registers) + "}"


def modified(form: Form, binding: Binding, dialect: Dialect) -> Snippet:
    """The valid snippet with selectors and signs of its operands, drawn by its own text."""
    plain = valid(form, binding, dialect)
    rng = random.Random(crc32(f"{form.syntax} {plain}".encode()))
    while True:
        drawn = [_drawn(operand, rng) for operand in form.operands]
        bound = {k: v for words in drawn for k, v in words.items()}
        if form.check is None or form.check({**binding, **bound}, (99, 0)) is None:
            texts = map(_with_modifiers, form.operands, plain.operands, drawn)
            return replace(plain, operands=tuple(texts))


def _drawn(operand: OperandForm, rng: random.Random) -> Binding:
    """Some modifiers of one operand."""
    found = operand.absent
    if operand.selector:
        found[operand.selector.name] = rng.choice([None, *operand.selector.choices()])
    if operand.signed:
        found[f"{operand.name}_negative"] = rng.random() < 0.5
    return found


def _with_modifiers(operand: OperandForm, text: str, drawn: Binding) -> str:
    word = drawn[operand.selector.name] if operand.selector else None
    return "-" * bool(drawn.get(f"{operand.name}_negative")) + text + (f".{word}" if word else "")


def _register_type(t: Type, dialect: Dialect) -> str:
    """A type that registers are declared with in this dialect."""
    if t.name in dialect.register_types:
        return t.name
    return f"b{max(16, t.bits)}" if t.kind is not Kind.PREDICATE else "pred"


def usable(form: Form) -> bool:
    """Indirect calls and branches need lists that stand elsewhere; whole files have them."""
    return not any(o.kind in ("labels", "prototype") for o in form.operands)


def by_form(dialect: Dialect, only: Collection[str] = ()) -> list[list[Snippet]]:
    """The valid snippets of every form of the catalogue, or of `only` these instructions, whatever the
    dialect allows."""
    return [_of_form(f, dialect) for o in only or FORMS for f in FORMS[o] if usable(f)]


def _of_form(form: Form, dialect: Dialect) -> list[Snippet]:
    """One snippet for each combination of modifiers; a second where operands have some of their own."""
    bindings = list(form.bindings())
    whole = [valid(form, b, dialect) for b in bindings]
    if any(o.absent for o in form.operands):
        whole += [modified(form, b, dialect) for b in bindings]
    return whole


# ---------------------------------------------------------------- mutations


def mutations(snippet: Snippet, dialect: Dialect, rng: random.Random) -> Iterator[Snippet]:
    """One mutation of each sort."""
    if snippet.operands:
        yield from _operand_mutations(snippet, dialect, rng)
    if snippet.modifiers:
        yield from _modifier_mutations(snippet, dialect, rng)
    yield replace(snippet, guard=rng.choice(("@%pred_0 ", "@!%pred_0 ", "@%u32_0 ", "@!%nosuch ", "@_ ")))


def _modifier_mutations(snippet: Snippet, dialect: Dialect, rng: random.Random) -> Iterator[Snippet]:
    """Missing, replaced, additional, doubled and swapped modifiers."""
    words = snippet.modifiers
    at, other = rng.randrange(len(words)), rng.randrange(len(words))
    before, after = words[:at], words[at + 1 :]
    any_word = rng.choice(_family_words(snippet.opcode))
    swapped = list(words)
    swapped[at], swapped[other] = words[other], words[at]
    for changed in (
        before + after,
        (*before, rng.choice(dialect.register_types), *after),
        (*before, any_word, *after),
        (*before, any_word, *words[at:]),
        (*words, rng.choice(ALL_WORDS)),
        (*before, words[at], *words[at:]),
        (*before, words[at], *before[-1:], *after),
        tuple(swapped),
    ):
        yield replace(snippet, modifiers=changed)


def _family_words(opcode: str) -> list[str]:
    """Every modifier of any form of an instruction."""
    return [w for f in FORMS[opcode] for s in f.slots for w in s.choices] or ALL_WORDS


def _operand_mutations(snippet: Snippet, dialect: Dialect, rng: random.Random) -> Iterator[Snippet]:
    """Other registers, constants, names and compounds; one operand less or more, two of them swapped."""
    operands = snippet.operands

    def with_one(text: str) -> Snippet:
        at = rng.randrange(len(operands))
        return replace(snippet, operands=(*operands[:at], text, *operands[at + 1 :]))

    for _ in range(2):
        yield with_one(f"%{rng.choice(dialect.register_types)}_{rng.randrange(6)}")
    for texts in (CONSTANTS, NAMES, COMPOUND):
        yield with_one(rng.choice(texts))
    at = rng.randrange(len(operands))
    yield replace(snippet, operands=operands[:at] + operands[at + 1 :])
    yield replace(snippet, operands=(*operands, operands[-1]))
    yield replace(snippet, operands=operands[::-1])


ALL_WORDS = sorted({w for forms in FORMS.values() for f in forms for s in f.slots for w in s.choices})

# ---------------------------------------------------------------- samples

LEAST, MOST = 6, 60
"""How many sources the mutated snippets of a form have: short forms are mutated again and again."""


def mutants(sources: list[Snippet], dialect: Dialect, seed: int, least: int = LEAST) -> Iterator[Snippet]:
    """Mutations of some valid snippets of one form. What is chosen and how it is changed hangs on each
    snippet alone, so that a new form in the catalogue changes nothing for the others."""
    chosen = sorted(sources, key=lambda s: _number(s, seed))[:MOST]
    rounds = -(-least // len(chosen)) if chosen else 0
    for snippet in chosen:
        for number in range(rounds):
            yield from mutations(snippet, dialect, random.Random(_number(snippet, seed + number)))


def _number(snippet: Snippet, seed: int) -> int:
    return crc32(f"{seed} {snippet}".encode())
