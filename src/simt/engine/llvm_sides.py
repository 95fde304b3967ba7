"""Predicates in loops of which scalars tell that all lanes have them, or that none has.

`if (x + i >= 0 && x + i < width)`: what grows from lane to lane is compared with what all lanes of a row have
in common, in each turn, and nearly always all lanes are on one side. The first lane and the last tell; the
column of the predicate is made where they do not agree, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import NamedTuple

from simt.analysis.range_algebra import bounds
from simt.analysis.shape import WARP
from simt.analysis.shape_algebra import MIRRORED
from simt.engine.llvm_algebra import SIGNED, UNSIGNED, LlvmIntegers
from simt.engine.llvm_branches import BranchAlgebra
from simt.engine.llvm_builder import Value
from simt.engine.llvm_lanes import Combined, Guarded, bases, shape_of
from simt.isa.algebra import Comparison
from simt.ptx.types import PRED, U32, U64, Type

I64 = "i64"
INVERSE: dict[Comparison, Comparison] = {
    "lt": "ge", "ge": "lt", "le": "gt", "gt": "le", "eq": "ne", "ne": "eq",
}  # fmt: skip
Test = Callable[[], str]
"""Emits code that tells an i1."""


class Sided(Value):
    """A predicate of all lanes. `every`: that all lanes surely have it; `none`: that none has; both may be
    false. Code that reads it as lanes makes them, once between two labels."""

    __slots__ = ("_column", "_known", "_label", "every", "none")
    every: Test
    none: Test
    _column: Callable[[], Value]
    _label: Callable[[], int]
    _known: tuple[int, str]

    def __init__(self, m: BranchAlgebra, column: Callable[[], Value], every: Test, none: Test) -> None:
        made: dict[str, object] = {"every": every, "none": none, "_column": lambda: m.vector(column())}
        made |= {"type": "i1", "width": WARP, "_label": lambda: m.builder.last_label, "_known": (-1, "")}
        for name, value in made.items():
            object.__setattr__(self, name, value)

    @property
    def literal(self) -> int | None:
        return None

    @property
    def ir(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        if self._known[0] != self._label():
            object.__setattr__(self, "_known", (self._label(), self._column().ir))
        return self._known[1]


class Compared(NamedTuple):
    """What is compared: in each row `value` grows from lane to lane, by `reach` up to the last one, and
    `limit` is the same. `wraps`: lanes may go by the type's ends. `valid` (i1): if not, nothing is known."""

    t: Type
    value: Value
    limit: Value
    reach: int
    wraps: bool
    valid: str


class SidesAlgebra(BranchAlgebra):
    """`BranchAlgebra` with such predicates. `loop`: the header of the loop that the block is in."""

    loop: int | None = None

    @cached_property
    def _signs_of(self) -> dict[str, tuple[Value, Value]]:
        """By the names of columns, the two values of which they are the `or`."""
        return {}

    # -- comparisons -------------------------------------------------------------------------------

    def compare_integers(self, op: Comparison, t: Type, a: Value, b: Value) -> Value:
        column = partial(super().compare_integers, op, t, a, b)
        if self.eager or t.bits < U32.bits:
            return column()
        signs = self._signs_of.get(a.ir) if t.is_signed and a.width == WARP else None
        if signs is not None and b.literal == 0 and op in ("lt", "ge"):
            one, other = (self.compare_integers("lt", t, part, b) for part in signs)
            negative = self.or_(PRED, one, other)
            return negative if op == "lt" else self.invert(PRED, negative)
        if self.loop is None:
            return column()
        compared = self._side_of(t, a, b)
        if compared is None:
            a, b, op = b, a, MIRRORED[op]
            compared = self._side_of(t, a, b)
        if compared is None:
            return column()
        return Sided(
            self,
            column,
            partial(self._side_holds, op, compared),
            partial(self._side_holds, INVERSE[op], compared),
        )

    def _side_of(self, t: Type, value: Value, limit: Value) -> Compared | None:
        grows, level = shape_of(value), shape_of(limit)
        guarded = [operand for operand in (value, limit) if isinstance(operand, Guarded)]
        if level.stride or max(grows.width, level.width) >= WARP or not (grows.stride or guarded):
            return None
        if any(operand.guessed or operand.often_wrong for operand in guarded):
            return None
        valid = "true"
        for operand in guarded:
            valid = self.both(valid, operand.valid)
        least, most = bounds(t, self.range_of(value))
        reach = grows.stride * (self.segment - 1)
        if most - least <= abs(reach):
            return None  # a lane's number: in each warp some are on either side
        wraps = most - least >= 2**t.bits - abs(grows.stride)
        return Compared(t, bases(value), bases(limit), reach, wraps, valid)

    def _side_holds(self, op: Comparison, c: Compared) -> str:
        """i1: a comparison surely holds for all lanes."""
        if (op == "eq" and c.reach) or abs(c.reach) >= 2 ** (c.t.bits - 1):
            return "false"
        if op in ("eq", "ne"):
            far, near = (c.limit, c.value) if c.reach > 0 else (c.value, c.limit)
            distance = LlvmIntegers.binary(self, "sub", far, near)
            reach = self.number(distance.type, abs(c.reach))
            test = self.test(f"icmp {'ule' if op == 'eq' else 'ugt'}", distance, reach)
            return self.both(c.valid, self._all(test))
        first, last, limit = self._side_ends(c)
        rising, below = c.reach > 0, op in ("lt", "le")
        sense = (SIGNED if c.t.is_signed or c.t.bits < U64.bits else UNSIGNED)[op]
        holds = self._all(self.test(f"icmp {sense}", last if below == rising else first, limit))
        if c.wraps and (below != rising or c.t.bits == U64.bits):
            holds = self.both(holds, self._within_type(c.t, first, last, rising))
        return self.both(c.valid, holds)

    def _side_ends(self, c: Compared) -> tuple[Value, Value, Value]:
        """What the first lane has and the last one, and the limit, of 64 bits. Of 32 they do not wrap so: a
        last lane that goes by its type's end is beyond any limit there."""
        extend = "sext" if c.t.is_signed else "zext"
        short = c.t.bits < U64.bits
        first, limit = (self.cast(extend, I64, v) if short else v for v in (c.value, c.limit))
        return first, LlvmIntegers.binary(self, "add", first, self.number(I64, c.reach)), limit

    def _within_type(self, t: Type, first: Value, last: Value, rising: bool) -> str:
        """i1: between the first lane and the last one no value goes by the type's ends."""
        if t.bits == U64.bits:
            order = (SIGNED if t.is_signed else UNSIGNED)["ge" if rising else "le"]
            return self._all(self.test(f"icmp {order}", last, first))
        low = -(2 ** (t.bits - 1)) if t.is_signed else 0
        end = low + 2**t.bits - 1 if rising else low
        return self._all(self.test(f"icmp {'sle' if rising else 'sge'}", last, self.number(I64, end)))

    # -- logic ---------------------------------------------------------------------------------------

    def and_(self, t: Type, a: Value, b: Value) -> Value:
        if t.is_predicate and (isinstance(a, Sided) or isinstance(b, Sided)):
            return self._both_sides("and", a, b)
        return super().and_(t, a, b)

    def or_(self, t: Type, a: Value, b: Value) -> Value:
        if t.is_predicate and (isinstance(a, Sided) or isinstance(b, Sided)):
            return self._both_sides("or", a, b)
        result = super().or_(t, a, b)
        if result.width == WARP and shape_of(a).width + shape_of(b).width < WARP:
            self._signs_of[result.ir] = a, b
        return result

    def invert(self, t: Type, a: Value) -> Value:
        if not isinstance(a, Sided):
            return super().invert(t, a)
        return Sided(self, partial(super().invert, t, a), a.none, a.every)

    def _both_sides(self, opcode: str, a: Value, b: Value) -> Value:
        """`and` or `or` of two predicates of which scalars tell; else it is nothing but a column."""

        def column() -> Value:
            return LlvmIntegers.binary(self, opcode, self._side_column(a), self._side_column(b))

        one, other = self._side_tests(a), self._side_tests(b)
        if one is None or other is None:
            return column()
        (every, none), (others, nobody) = one, other
        if opcode == "and":
            together, either = partial(self._both_tests, every, others), partial(self._one_test, none, nobody)
            return Sided(self, column, together, either)
        together, either = partial(self._both_tests, none, nobody), partial(self._one_test, every, others)
        return Sided(self, column, either, together)

    def _both_tests(self, a: Test, b: Test) -> str:
        return self.both(a(), b())

    def _one_test(self, a: Test, b: Test) -> str:
        one, other = a(), b()
        if "true" in (one, other):
            return "true"
        if "false" in (one, other):
            return other if one == "false" else one
        return self.builder.emit(f"or i1 {one}, {other}")

    def _side_column(self, value: Value) -> Value:
        """All lanes of a predicate. Where they are seldom needed, LLVM is not to make them before a loop."""
        narrow = self.seldom and value.width < WARP and value.ir.startswith("%")
        return self.vector(self.hidden(bases(value)) if narrow else value)

    def _side_tests(self, value: Value) -> tuple[Test, Test] | None:
        """What tells that all lanes have a predicate, and that none has; None of a column of its own."""
        if isinstance(value, Sided):
            return value.every, value.none
        if value.width >= WARP or isinstance(value, Combined):
            return None
        plain = bases(value)
        return lambda: self._all(plain), lambda: self._all(self.invert_mask(plain))

    def _sides_of(self, p: Value) -> tuple[str, str]:
        return (p.none(), p.every()) if isinstance(p, Sided) else super()._sides_of(p)
