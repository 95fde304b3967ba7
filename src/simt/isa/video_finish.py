"""Parts of words, and how the scalar video instructions finish their results.

The handbook's devices have a unit for these instructions, which does what its section 8.6.4 says. On later
devices NVIDIA's assembler makes several instructions of each, with results of their own at the edges: what an
H200 gave is written down here as `Emulated`.
"""

from __future__ import annotations

from typing import Generic, Protocol

from simt.isa.algebra import Algebra, Environment, V
from simt.isa.convert import bounds
from simt.ptx.types import S32, S64, U32, U64, Type, signed, unsigned
from simt.records import dataclass

LAST_WITH_UNIT = 37
"""The newest machine that has the unit."""

# ---------------------------------------------------------------- parts of words


def combined(m: Algebra[V], t: Type, operation: str, a: V, b: V) -> V:
    """Sum, difference, absolute difference, minimum or maximum, in a type that holds it exactly."""
    match operation:
        case "add":
            return m.add(t, a, b)
        case "sub":
            return m.sub(t, a, b)
        case "absdiff":
            return m.sub(t, m.maximum(t, a, b), m.minimum(t, a, b))
        case "min":
            return m.minimum(t, a, b)
        case _:
            return m.maximum(t, a, b)


@dataclass(frozen=True, slots=True)
class Source(Generic[V]):
    """A source operand: its value, type and selector."""

    value: V
    type: Type
    selector: str | None


def place_of(selector: str | None) -> tuple[int, int]:
    """Width and lowest bit of the part that a selector names; of the whole word without one."""
    if selector is None:
        return 32, 0
    width = 8 if selector[0] == "b" else 16
    return width, width * int(selector[1])


def part(m: Algebra[V], t: Type, a: V, width: int, place: int) -> V:
    """One part of a word, extended by the sign of `t` to 32 bits."""
    raised = m.shift_left(U32, a, m.const(U32, 32 - width - place))
    return m.shift_right(t, raised, m.const(U32, 32 - width))


def chosen(m: Algebra[V], source: Source[V]) -> V:
    """The value of an operand, in 64 bits."""
    t, (width, place) = source.type, place_of(source.selector)
    return m.resize(t, S64, source.value if width == 32 else part(m, t, source.value, width, place))


def merged(m: Algebra[V], moved: V, c: V, selector: str | None) -> V:
    """`c` with the part that a selector names taken from `moved`."""
    width, place = place_of(selector)
    mask = (1 << width) - 1 << place
    kept = m.and_(U32, c, m.const(U32, ~mask & 0xFFFFFFFF))
    return m.or_(U32, kept, m.and_(U32, moved, m.const(U32, mask)))


# ---------------------------------------------------------------- results


@dataclass(frozen=True, slots=True)
class Result(Generic[V]):
    """The exact result of an operation, in 64 bits, and what is asked of it.

    `type`: of the destination; of the first source for comparisons."""

    operation: str
    value: V
    type: Type
    sat: bool


class Finish(Protocol):
    """What follows the operation."""

    def alone(self, m: Algebra[V], result: Result[V]) -> V:
        """The result as a word."""
        ...

    def lesser_or_greater(self, m: Algebra[V], result: Result[V], c: V, operation: str) -> V:
        """`min` or `max` of the result and a third word."""
        ...

    def merge(self, m: Algebra[V], result: Result[V], c: V, selector: str | None) -> V:
        """A third word with the result in a part of it."""
        ...

    def word(self, m: Algebra[V], source: Source[V]) -> V:
        """The value of an operand of `vmad`, in 64 bits."""
        ...


def finish(env: Environment) -> Finish:
    """How the machine does it."""
    return Unit() if env.machine <= LAST_WITH_UNIT else Emulated()


def intermediate(m: Algebra[V], result: Result[V]) -> V:
    """The result as it is limited: it has 34 bits, which only shifts to the left exceed."""
    if result.operation != "shl":
        return result.value
    up = m.const(U32, 64 - 34)
    return m.shift_right(S64, m.shift_left(S64, result.value, up), up)


class Unit:
    """Section 8.6.4: a result is limited to the range of what is kept of it, then combined or merged."""

    def alone(self, m: Algebra[V], result: Result[V]) -> V:
        return self._limited(m, result, 32)

    def _limited(self, m: Algebra[V], result: Result[V], width: int) -> V:
        value = result.value
        return m.resize(
            S64, U32, limited(m, result.type, width, intermediate(m, result)) if result.sat else value
        )

    def lesser_or_greater(self, m: Algebra[V], result: Result[V], c: V, operation: str) -> V:
        word = self.alone(m, result)
        return (m.minimum if operation == "min" else m.maximum)(result.type, word, c)

    def merge(self, m: Algebra[V], result: Result[V], c: V, selector: str | None) -> V:
        width, place = place_of(selector)
        word = self._limited(m, result, width)
        return merged(m, m.shift_left(U32, word, m.const(U32, place)), c, selector)

    def word(self, m: Algebra[V], source: Source[V]) -> V:
        return chosen(m, source)


def limited(m: Algebra[V], t: Type, width: int, value: V) -> V:
    """A value of 64 bits limited to the range of so many bits, with the sign of `t`."""
    low, high = bounds(signed(width) if t.is_signed else unsigned(width))
    value = m.maximum(S64, value, m.const(S64, low & (1 << 64) - 1))
    return m.minimum(S64, value, m.const(S64, high))


SHIFTS = ("shl", "shr")
CUT = ("add", "sub")
"""Operations whose results are cut to a word before they are compared."""


class Emulated:
    """What an H200 gave (driver 580): other results where no word holds the exact one, or a sign is lost.

    - Unsigned results are not limited from above, but for shifts to the left.
    - A second operation compares 64 bits. Words have a sign there that the type does not know.
    - Results limited to a byte or a half word are compared without a sign: negative ones become the greatest.
      Shifts are limited as words.
    - The upper half of a word is replaced by the upper half of the result.
    - `vmad` takes whole words and the third operand for signed ones.
    """

    def alone(self, m: Algebra[V], result: Result[V]) -> V:
        return m.resize(S64, U32, self._limited(m, result))

    def _limited(self, m: Algebra[V], result: Result[V]) -> V:
        """Limited as a word, in 64 bits."""
        value = result.value
        if not result.sat:
            return value
        if result.type.is_signed or result.operation == "shl":
            return limited(m, result.type, 32, intermediate(m, result))
        return m.maximum(S64, value, m.const(S64, 0))

    def lesser_or_greater(self, m: Algebra[V], result: Result[V], c: V, operation: str) -> V:
        value = self._limited(m, result)
        if result.operation in CUT or (result.sat and result.operation in SHIFTS):
            value = m.resize(S32, S64, m.resize(S64, U32, value))
        wide = S64 if result.type.is_signed else U64
        third = m.resize(result.type, wide, c)
        return m.resize(wide, U32, (m.minimum if operation == "min" else m.maximum)(wide, value, third))

    def merge(self, m: Algebra[V], result: Result[V], c: V, selector: str | None) -> V:
        width, place = place_of(selector)
        value = result.value
        if width == 32 or result.operation in SHIFTS:
            value = self._limited(m, result)
        elif result.sat:
            _, high = bounds(signed(width) if result.type.is_signed else unsigned(width))
            value = m.minimum(U64, value, m.const(U64, high))
        word = m.resize(S64, U32, value)
        moved = word if selector == "h1" else m.shift_left(U32, word, m.const(U32, place))
        return merged(m, moved, c, selector)

    def word(self, m: Algebra[V], source: Source[V]) -> V:
        return chosen(m, source if source.selector else Source(source.value, S32, None))
