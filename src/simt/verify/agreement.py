"""Which register types fit an instruction type (PTX 1.4 tables 17, 18 and 19)."""

from __future__ import annotations

from functools import cache

from simt.ptx.types import BF16, S16X2, TYPES, U16X2, Kind, Type


@cache
def agrees(instruction: Type, operand: Type, relaxed: bool = False) -> bool:
    """Table 17; with `relaxed`, tables 18 and 19: registers may be wider than the instruction type.

    Untyped bits go with everything of their size and integers with integers; a floating-point type
    takes its own register type or untyped bits, and packed pairs likewise. Like ptxas, integers and
    pairs of integers also take registers of packed pairs, and .bf16 takes no wider registers.
    """
    if instruction.is_predicate or operand.is_predicate:
        return instruction is operand
    same_size = instruction.bits == operand.bits
    wider = relaxed and instruction is not BF16 and operand.bits > instruction.bits
    if not same_size and not wider:
        return False
    if Kind.BITS in (instruction.kind, operand.kind) or (instruction.is_integer and operand.is_integer):
        return True
    if operand.kind is Kind.PACKED and (instruction.is_integer or instruction in (S16X2, U16X2)):
        return True
    return instruction is operand


@cache
def elements_agree(first: Type, other: Type) -> bool:
    """Whether two registers may stand in one vector operand: same size, no integer beside a float."""
    return first.bits == other.bits and agrees(first, other)


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
