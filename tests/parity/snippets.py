"""One-instruction snippets from the catalogue: valid ones, and mutations of them, most of them invalid."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass
from zlib import crc32

from simt.isa.catalogue import FORMS
from simt.isa.form import Binding, Form, OperandForm
from simt.ptx.types import Kind, Type

REGISTER_TYPES = ["pred", *(f"{k}{n}" for n in (16, 32, 64) for k in "usbf"), "f16x2"]
HEAD = (
    ".version 9.0\n.target sm_90\n.address_size 64\n.global .align 16 .b8 gvar[64];\n"
    ".shared .align 16 .b8 svar[64];\n.const .align 16 .b8 cvar[64];\n"
    ".visible .entry k(.param .align 16 .b8 pvar[64]) {\n.local .align 16 .b8 lvar[64];\n.reg .u8 %u8<3>;\n"
    + "".join(f".reg .{t} %{t}_<6>;\n" for t in REGISTER_TYPES)
)
TAIL = "ret;\n}\n"
ADDRESSED = {"global": "gvar", "shared": "svar", "const": "cvar", "local": "lvar", "param": "pvar"}
CONSTANTS = (
    "1",
    "0",
    "-3",
    "1.5",
    "0f3F800000",
    "gvar",
    "%laneid",
    "_",
    "[%u64_0]",
    "{%u32_0, %u32_1}",
    "!%pred_0",
)


@dataclass(frozen=True, slots=True)
class Snippet:
    """An instruction's words: opcode, modifiers, operands."""

    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[str, ...]

    def __str__(self) -> str:
        return f"{'.'.join((self.opcode, *self.modifiers))} {', '.join(self.operands)};"


def plain(form: Form) -> bool:
    """Forms whose operands are registers, constants and addresses."""
    return all(o.kind in ("value", "imm", "address") for o in form.operands) and form.control != "call"


def valid(form: Form, binding: Binding) -> Snippet:
    """A snippet that the form allows, each register of exactly its operand's type."""
    spelled = form.spell(binding).split(".")
    numbers = itertools.count()
    operands = tuple(_operand(form, o, binding, next(numbers)) for o in form.operands)
    return Snippet(spelled[0], tuple(spelled[1:]), operands)


def _operand(form: Form, operand: OperandForm, binding: Binding, number: int) -> str:
    if operand.address:
        space = str(binding.get("space") or "").split("::")[0]
        return f"[{ADDRESSED[space]}]" if space in ("const", "param", "local", "shared") else "[%u64_0]"
    if operand.kind == "imm":
        return "1"
    t, count = form.operand_type(operand, binding)
    registers = [f"%{_register_type(t)}_{(number + i) % 6}" for i in range(count)]
    return registers[0] if count == 1 else "{" + ", ".join(registers) + "}"


def _register_type(t: Type) -> str:
    """A type that registers can be declared with here."""
    if t.name in REGISTER_TYPES:
        return t.name
    return f"b{max(16, t.bits)}" if t.kind is not Kind.PREDICATE else "pred"


def mutations(snippet: Snippet, rng: random.Random) -> Iterator[Snippet]:
    """One mutation of each sort."""
    if snippet.operands:
        yield from _operand_mutations(snippet, rng)
    if snippet.modifiers:
        at = rng.randrange(len(snippet.modifiers))
        before, after = snippet.modifiers[:at], snippet.modifiers[at + 1 :]
        yield Snippet(snippet.opcode, before + after, snippet.operands)
        yield Snippet(snippet.opcode, (*before, rng.choice(REGISTER_TYPES), *after), snippet.operands)
        yield Snippet(
            snippet.opcode, (*before, snippet.modifiers[at], *before[-1:], *after), snippet.operands
        )


def _operand_mutations(snippet: Snippet, rng: random.Random) -> Iterator[Snippet]:
    operands = snippet.operands
    at = rng.randrange(len(operands))
    for _ in range(2):
        other = f"%{rng.choice(REGISTER_TYPES)}_{rng.randrange(6)}"
        yield Snippet(snippet.opcode, snippet.modifiers, (*operands[:at], other, *operands[at + 1 :]))
        at = rng.randrange(len(operands))
    constant = rng.choice(CONSTANTS)
    yield Snippet(snippet.opcode, snippet.modifiers, (*operands[:at], constant, *operands[at + 1 :]))
    yield Snippet(snippet.opcode, snippet.modifiers, operands[:at] + operands[at + 1 :])
    yield Snippet(snippet.opcode, snippet.modifiers, (*operands, operands[-1]))


def all_valid() -> list[Snippet]:
    """A valid snippet for every plain form and binding of the catalogue, in its order, without repetition."""
    found = [valid(f, b) for forms in FORMS.values() for f in forms if plain(f) for b in f.bindings()]
    return list(dict.fromkeys(found))


def sample(share: int, seed: int) -> list[Snippet]:
    """One in `share` of the valid snippets, and their mutations. What is chosen and how it is changed hangs
    on each snippet alone, so that a new form in the catalogue changes nothing for the others."""
    chosen = [v for v in all_valid() if _number(v, seed) % share == 0]
    everything = [s for v in chosen for s in (v, *mutations(v, random.Random(_number(v, seed))))]
    return list(dict.fromkeys(everything))


def _number(snippet: Snippet, seed: int) -> int:
    return crc32(f"{seed} {snippet}".encode())
