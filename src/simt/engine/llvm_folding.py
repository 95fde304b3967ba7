"""Integer instructions of LLVM IR whose result is known where they would be emitted.

LLVM finds the same, but meanings are full of numbers that an instruction's operands decide (a truth table,
a shift's amount): what is not emitted costs no time, neither here nor there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from simt.analysis.shape_algebra import COMPARED

_Arithmetic = Callable[[int, int], int]


def signed(bits: int, width: int) -> int:
    """An integer of some width as a signed number."""
    return bits - (1 << width) if bits >> (width - 1) else bits


_BINARY: Mapping[str, _Arithmetic] = MappingProxyType(
    {
        "add": int.__add__,
        "sub": int.__sub__,
        "mul": int.__mul__,
        "and": int.__and__,
        "or": int.__or__,
        "xor": int.__xor__,
        "umin": min,
        "umax": max,
    }
)
_SHIFTS: Mapping[str, _Arithmetic] = MappingProxyType({"shl": int.__lshift__, "lshr": int.__rshift__})


def binary(opcode: str, width: int, a: int, b: int) -> int | None:
    """The result for two known operands of `width` bits, None where this does not know it."""
    if opcode in _BINARY:
        return _BINARY[opcode](a, b) % (1 << width)
    if opcode in _SHIFTS and b < width:
        return _SHIFTS[opcode](a, b) % (1 << width)
    return None


def test(condition: str, width: int, a: int, b: int) -> bool | None:
    """What a comparison (`icmp ult`) of two known operands gives, None for those of floats."""
    kind, _, name = condition.partition(" ")
    if kind != "icmp":
        return None
    if name[0] == "s":
        a, b = signed(a, width), signed(b, width)
    return COMPARED[name if name in COMPARED else name[1:]](a, b)


def resized(opcode: str, source: int, target: int, bits: int) -> int | None:
    """A known operand as an integer of another width."""
    match opcode:
        case "trunc":
            return bits % (1 << target)
        case "zext":
            return bits
        case "sext":
            return signed(bits, source) % (1 << target)
        case _:
            return None


_SAME: Mapping[str, int] = MappingProxyType(
    {"add": 0, "sub": 0, "or": 0, "xor": 0, "shl": 0, "lshr": 0, "ashr": 0, "mul": 1, "and": -1}
)
"""The operand that leaves the other as it is."""
_FIXED: Mapping[str, int] = MappingProxyType({"and": 0, "mul": 0, "or": -1})
"""The operand that is the result whatever the other is."""
_SECOND = ("sub", "shl", "lshr", "ashr")
"""Where only the second operand may leave the first as it is."""


def leaves_other(opcode: str, width: int, known: int, second: bool) -> bool:
    """Whether the result is the other operand. `second`: the known one stands second."""
    same = _SAME.get(opcode)
    return same is not None and known == same % (1 << width) and (second or opcode not in _SECOND)


def decides(opcode: str, width: int, known: int) -> bool:
    """Whether the result is the known operand, whatever the other is."""
    fixed = _FIXED.get(opcode)
    return fixed is not None and known == fixed % (1 << width)
