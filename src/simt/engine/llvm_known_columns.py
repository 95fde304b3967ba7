"""Columns of integers whose lanes are all known when they would be emitted, and what becomes of them.

Which lane each lane reads is such a column, where a shuffle's operands are constants: with it the shuffle is
an instruction of LLVM's, and LLVM finds the CPU's instructions for it.
"""

from __future__ import annotations

import re
from functools import lru_cache

from simt.engine import llvm_folding
from simt.engine.llvm_builder import Value

_NUMBER = re.compile(r"i\d+ (-?\d+|true|false)")
_PREDICATES = {"false": 0, "true": 1}

Column = tuple[int, ...]


def column_of(value: Value) -> Column | None:
    """The bits of each lane, None if they are not known."""
    if value.type[0] != "i" or value.ir[0] not in "<sz-0123456789tf":
        return None
    return _parsed(value.ir, value.type, value.width)


@lru_cache(1024)
def _parsed(text: str, element: str, width: int) -> Column | None:
    if text == "zeroinitializer":
        return (0,) * width
    found = _NUMBER.findall(text if text[0] in "<s" else f"{element} {text}")
    numbers = tuple(_PREDICATES[n] if n in _PREDICATES else int(n) % 2 ** int(element[1:]) for n in found)
    return numbers * width if len(numbers) == 1 else numbers if len(numbers) == width else None


@lru_cache(1024)
def of_lanes(element: str, column: Column) -> Value:
    """The operand that has these bits in its lanes."""
    bits = int(element[1:])
    texts = [("false", "true")[n] if element == "i1" else str(llvm_folding.signed(n, bits)) for n in column]
    if len(set(texts)) == 1:
        return Value(f"splat ({element} {texts[0]})", element, len(texts))
    return Value(f"<{', '.join(f'{element} {text}' for text in texts)}>", element, len(texts))


def binary(opcode: str, a: Value, b: Value) -> Value | None:
    """The result of an instruction for columns of one width, None where it is not known."""
    x, y = column_of(a), column_of(b)
    if x is None or y is None:
        return None
    bits = int(a.type[1:])
    lanes = [llvm_folding.binary(opcode, bits, i, j) for i, j in zip(x, y, strict=True)]
    known = tuple(lane for lane in lanes if lane is not None)
    return of_lanes(a.type, known) if len(known) == len(lanes) else None


def test(condition: str, a: Value, b: Value) -> Value | None:
    """The same of a comparison (`icmp ult`)."""
    x, y = column_of(a), column_of(b)
    if x is None or y is None or not condition.startswith("icmp"):
        return None
    bits = int(a.type[1:])
    lanes = (llvm_folding.test(condition, bits, i, j) for i, j in zip(x, y, strict=True))
    return of_lanes("i1", tuple(int(bool(lane)) for lane in lanes))


def pick(p: Value, a: Value, b: Value) -> Value | None:
    """The same of a choice."""
    wanted, x, y = column_of(p), column_of(a), column_of(b)
    if wanted is None or x is None or y is None:
        return None
    lanes = tuple(i if yes else j for yes, i, j in zip(wanted, x, y, strict=True))
    return of_lanes(a.type, lanes)
