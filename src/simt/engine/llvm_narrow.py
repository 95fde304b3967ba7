"""Arithmetic on columns of words that are made of bytes and halves, in 16 bits.

C extends bytes to 32 bits before it adds, weighs and compares them, and so does PTX. Where the words surely
are no more than 16 bits can say, a register holds twice as many lanes, and bytes are extended half as far:
pictures, cells, texts. LLVM leaves vectors as they are. What others see are words of 32 bits, extended from
the 16; where nobody does, LLVM leaves the extension out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from types import MappingProxyType

from simt.engine.llvm_algebra import LlvmIntegers
from simt.engine.llvm_builder import Value
from simt.engine.llvm_folding import signed
from simt.records import dataclass

WIDE, NARROW = "i32", "i16"
_SIGNED, _UNSIGNED = range(-(1 << 15), 1 << 15), range(1 << 16)


@dataclass(frozen=True, slots=True)
class Narrow:
    """`value`, of 8 or 16 bits, extended, or cut to these, is a column whose words lie between `lo` and
    `hi`."""

    value: Value
    lo: int
    hi: int

    def fits(self, numbers: range) -> bool:
        return self.lo in numbers and self.hi in numbers


Bounds = tuple[int, int]


def _corners(run: Callable[[int, int], int]) -> Callable[[Narrow, Narrow], Bounds | None]:
    """Bounds of what grows or shrinks with each of its operands."""

    def bounds(a: Narrow, b: Narrow) -> Bounds:
        found = [run(x, y) for x, y in product((a.lo, a.hi), (b.lo, b.hi))]
        return min(found), max(found)

    return bounds


def _joined(a: Narrow, b: Narrow) -> Bounds:
    return min(a.lo, b.lo), max(a.hi, b.hi)


def _masked(a: Narrow, b: Narrow) -> Bounds | None:
    """`and`: no more than either, if they are not negative."""
    return (0, min(a.hi, b.hi)) if min(a.lo, b.lo) >= 0 else None


def _within_bits(a: Narrow, b: Narrow) -> Bounds | None:
    """`or`, `xor`: nothing above the highest bit."""
    return (0, (1 << max(a.hi, b.hi).bit_length()) - 1) if min(a.lo, b.lo) >= 0 else None


def _shifted(run: Callable[[int, int], int]) -> Callable[[Narrow, Narrow], Bounds | None]:
    def bounds(a: Narrow, b: Narrow) -> Bounds | None:
        known = b.lo == b.hi and 0 <= b.lo < 16 and a.lo >= 0
        return (run(a.lo, b.lo), run(a.hi, b.lo)) if known else None

    return bounds


_RULES: Mapping[str, Callable[[Narrow, Narrow], Bounds | None]] = MappingProxyType(
    {
        "add": _corners(int.__add__),
        "sub": _corners(int.__sub__),
        "mul": _corners(int.__mul__),
        "and": _masked,
        "or": _within_bits,
        "xor": _within_bits,
        "shl": _shifted(int.__lshift__),
        "lshr": _shifted(int.__rshift__),
        "ashr": _shifted(int.__rshift__),
        "smin": _corners(min),
        "smax": _corners(max),
        "umin": _corners(min),
        "umax": _corners(max),
    }
)
_ORDERED = frozenset({"smin", "smax", "umin", "umax"})
"""Which of them ask what a sign is."""


class NarrowIntegers(LlvmIntegers):
    """`LlvmIntegers` that remembers of which columns of words 16 bits are enough."""

    def __init__(self, *arguments: object, **named: object) -> None:
        super().__init__(*arguments, **named)  # type: ignore[arg-type]
        self._narrow: dict[str, Narrow] = {}  # by the column's name

    def bounds_of(self, value: Value) -> Bounds | None:
        """Between which numbers words lie, if 16 bits are enough for them."""
        known = self._narrow.get(value.ir) if value.type == WIDE else None
        return None if known is None else (known.lo, known.hi)

    def narrow_column(self, name: str) -> Value | None:
        """The column of 8 or 16 bits of which one of words is extended by zeros."""
        known = self._narrow.get(name)
        return known.value if known is not None and known.lo >= 0 and known.value.type != WIDE else None

    def note_bounds(self, value: Value, bounds: Bounds | None) -> None:
        """Of a column that other code has extended."""
        if bounds is not None and value.width == self.width:
            self._narrow[value.ir] = Narrow(value, *bounds)

    def cast(self, opcode: str, element: str, a: Value) -> Value:
        result = super().cast(opcode, element, a)
        small = a.type in ("i8", NARROW) and element in (NARROW, WIDE)
        if opcode == "zext" and small and a.width == self.width > 1:
            most = (1 << int(a.type[1:])) - 1
            self._narrow[result.ir] = self._narrow.get(a.ir) or Narrow(a, 0, most)
        return result

    def binary(self, opcode: str, a: Value, b: Value) -> Value:
        narrow = self._in_16_bits(opcode, a, b) if a.type == WIDE else None
        return narrow or super().binary(opcode, a, b)

    def intrinsic(self, name: str, *values: Value, extra: tuple[str, ...] = ()) -> Value:
        found = self._in_16_bits(name, *values) if name in _ORDERED and len(values) == 2 else None
        return found or super().intrinsic(name, *values, extra=extra)

    def pick(self, p: Value, a: Value, b: Value) -> Value:
        pair = self._two_narrow(a, b) if p.literal is None else None
        if pair is None:
            return super().pick(p, a, b)
        one, other = pair
        chosen = super().pick(p, one.value, other.value) if _are_in_16_bits(*_joined(one, other)) else None
        return super().pick(p, a, b) if chosen is None else self._as_wide(chosen, _joined(one, other))

    def test(self, condition: str, a: Value, b: Value) -> Value:
        pair = self._two_narrow(a, b) if condition.startswith("icmp") else None
        if pair is None:
            return super().test(condition, a, b)
        kind = condition.split()[1]
        if kind[0] == "u" and min(pair[0].lo, pair[1].lo) < 0:
            return super().test(condition, a, b)
        if all(operand.fits(_UNSIGNED) for operand in pair):
            kind = kind.replace("s", "u", 1) if kind[0] == "s" else kind
        elif not all(operand.fits(_SIGNED) for operand in pair):
            return super().test(condition, a, b)
        return super().test(f"icmp {kind}", pair[0].value, pair[1].value)

    def _in_16_bits(self, opcode: str, a: Value, b: Value) -> Value | None:
        """The result of an operation, if 16 bits are enough for its operands and for what it gives."""
        pair = self._two_narrow(a, b) if opcode in _RULES else None
        if pair is None:
            return None
        one, other = pair
        bounds = _RULES[opcode](one, other)
        if bounds is None or not _are_in_16_bits(*bounds):
            return None
        if opcode not in _ORDERED:
            kind = "lshr" if opcode == "ashr" else opcode  # of what is not negative
            return self._as_wide(LlvmIntegers.binary(self, kind, one.value, other.value), bounds)
        numbers = _UNSIGNED if one.fits(_UNSIGNED) and other.fits(_UNSIGNED) else _SIGNED
        if (opcode[0] == "u" and numbers is _SIGNED) or not (one.fits(numbers) and other.fits(numbers)):
            return None
        kind = f"{'s' if numbers is _SIGNED else 'u'}{opcode[1:]}"
        return self._as_wide(LlvmIntegers.intrinsic(self, kind, one.value, other.value), bounds)

    def _as_wide(self, narrow: Value, bounds: Bounds) -> Value:
        """A column of words from one of 16 bits whose words lie within bounds."""
        extended = LlvmIntegers.cast(self, "sext" if bounds[0] < 0 else "zext", WIDE, narrow)
        if extended.ir[0] == "%":  # a constant's text may be that of bases, to which steps are added
            self._narrow[extended.ir] = Narrow(narrow, *bounds)
        return extended

    def _two_narrow(self, a: Value, b: Value) -> tuple[Narrow, Narrow] | None:
        """Both operands in 16 bits, if those say what they are, and one at least is such a column."""
        if a.type != WIDE or (a.ir not in self._narrow and b.ir not in self._narrow):
            return None
        one, other = self._as_narrow(a), self._as_narrow(b)
        return None if one is None or other is None else (one, other)

    def _as_narrow(self, a: Value) -> Narrow | None:
        known, number = self._narrow.get(a.ir), a.literal
        if number is not None:
            number = signed(number, 32)
            value = self.number(NARROW, number)
            return Narrow(value, number, number) if _are_in_16_bits(number, number) else None
        if known is None:
            return None
        way = "trunc" if known.value.type == WIDE else "zext"
        return Narrow(LlvmIntegers.cast(self, way, NARROW, known.value), known.lo, known.hi)


def _are_in_16_bits(lo: int, hi: int) -> bool:
    return (lo in _UNSIGNED and hi in _UNSIGNED) or (lo in _SIGNED and hi in _SIGNED)
