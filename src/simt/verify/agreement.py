"""The register types that fit an instruction type (PTX 1.4 tables 17, 18 and 19), in words."""

from __future__ import annotations

from functools import cache

from simt.ptx.agreement import agrees
from simt.ptx.types import BF16, TYPES, Kind, Type


@cache
def expected_register(instruction: Type, relaxed: bool) -> str:
    """Words for the registers that fit, as `a .u32, .s32 or .b32 register`."""
    fitting = [t for t in TYPES.values() if t.bits == instruction.bits and _obvious(instruction, t)]
    if instruction.kind is Kind.BITS:
        return f"a {'' if relaxed else f'{instruction.bits}-bit '}register" + _at_least(instruction, relaxed)
    fitting.sort(key=lambda t: (t is not instruction, t.kind is Kind.BITS))
    return f"a {_alternatives([str(t) for t in fitting if t is not BF16])} register" + _or_wider(
        instruction, relaxed
    )


def _obvious(instruction: Type, operand: Type) -> bool:
    return agrees(instruction, operand) and operand.kind in (instruction.kind, *INTEGERS, Kind.BITS)


INTEGERS = (Kind.SIGNED, Kind.UNSIGNED)


def _at_least(t: Type, relaxed: bool) -> str:
    return f" of at least {t.bits} bits" if relaxed else ""


def _or_wider(t: Type, relaxed: bool) -> str:
    if not relaxed or t.bits >= 64 or t is BF16:
        return ""
    return " or a wider one" if t.is_integer else " or a wider untyped one"


def _alternatives(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
