"""Quotients and remainders of indices.

`index / width` and `index % width` are the row and the column of a thread. Of known powers of two they are
shifts and masks. Where rows are long, all lanes of most warps are in one: then the first lane's quotient is
that of all lanes, which a test of scalars tells, and the remainder grows as the index does. Lanes are divided
where they are in several rows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from simt.analysis.shape import WARP, Shape, trailing_zeros
from simt.engine.llvm_builder import Value
from simt.engine.llvm_float import LlvmAlgebra
from simt.engine.llvm_lanes import Guarded, bases, shape_of
from simt.engine.llvm_two_rows import TwoRowsAlgebra
from simt.imports import Later
from simt.ptx.types import S32, U32, U64, Type
from simt.records import replace

if TYPE_CHECKING:
    from simt.analysis import short_divisions
else:
    short_divisions = Later("simt.analysis.short_divisions")


class QuotientAlgebra(TwoRowsAlgebra):
    """`TwoRowsAlgebra` with integer division."""

    def divide(self, t: Type, a: Value, b: Value) -> Value:
        power = self._power(t, b)
        if power is not None:
            return self.shift_right(t, a, self.const(U32, power))
        return self._quotient_of(
            t, self.shapes.divide(t, shape_of(a), shape_of(b)), partial(LlvmAlgebra.divide, self, t), a, b
        )

    def divide_short(self, t: Type, a: Value, b: Value) -> Value:
        if self.hold_halves(a, b):
            return self._by_halves(partial(self.divide, U32), a, b)
        shape = self.shapes.divide_short(t, shape_of(a), shape_of(b))
        run = partial(self._short_lanes, t, LlvmAlgebra.divide, LlvmAlgebra.divide_short)
        return self._quotient_of(t, shape, run, a, b)

    def divide_by_product(
        self, t: Type, a: Value, b: Value, factor: Value, shift: Value, plus: bool
    ) -> Value:
        """Where factor and shift are those of `b`, it is a quotient of numbers that have no sign bit. Where
        they are not, lanes are in rows of nothing, and never all in one."""
        by = shape_of(b), shape_of(factor), shape_of(shift)
        shape = self.shapes.divide_by_product(t, shape_of(a), *by, plus)
        if not shape.is_guarded:
            return super().divide_by_product(t, a, b, factor, shift, plus)
        factor, shift = bases(factor), bases(shift)
        row = self.pick(self._are_reciprocal(bases(b), factor, shift, plus), bases(b), self.number(b.type, 0))

        def run(a: Value, b: Value) -> Value:
            upper = LlvmAlgebra.mul_high(self, t, a, factor)
            return LlvmAlgebra.shift_right(self, t, self.binary("add", upper, a) if plus else upper, shift)

        return self._quotient_of(S32, shape, run, a, row)

    def _are_reciprocal(self, b: Value, factor: Value, shift: Value, plus: bool) -> Value:
        """i1: a factor (with another bit above it if `plus`) times `b` is 2^(32 + shift), and at most
        2^(shift + 1) more. So quotients of numbers below 2^31 are right. (A remainder of `x / b` is at most
        1 - 1 / b: what is too much must be less than 1 / b, times x.)"""
        wide = partial(self.cast, "zext", "i64")
        known = self.test("icmp ult", shift, self.number(shift.type, 31))
        by = self.pick(known, wide(shift), self.number("i64", 0))
        one = self.number("i64", 1)
        whole = self.binary("or", wide(factor), self.number("i64", 2**32)) if plus else wide(factor)
        more = self.binary(
            "sub", self.binary("mul", whole, wide(b)), self.binary("shl", self.number("i64", 2**32), by)
        )
        ok = self.test("icmp ule", more, self.binary("shl", self.number("i64", 2), by))
        if plus:  # the product fits 64 bits
            ok = self.binary("and", ok, self.test("icmp ule", wide(b), self.binary("shl", one, by)))
        return self.binary("and", ok, known)

    def _quotient_of(self, t: Type, shape: Shape, run: Callable[..., Value], a: Value, b: Value) -> Value:
        if not shape.is_guarded:
            return self._affine(shape, run, a, b) if shape.is_affine else run(a, b)
        if self.may_be_cut_again(t, a, b):
            return self.in_next_rows(t, a, b, shape.stride)
        self.hold_operands(t, a, b)
        quotient = run(bases(a), bases(b))
        return self._in_one_row(t, shape, run, a, b, quotient, quotient)

    def _power(self, t: Type, b: Value) -> int | None:
        """The power of two that a known divisor is: a shift's amount, and the bits that a mask keeps."""
        number = None if t.is_signed else b.literal
        return trailing_zeros(number) if number and number & (number - 1) == 0 else None

    def remainder(self, t: Type, a: Value, b: Value) -> Value:
        power = self._power(t, b)
        if power is not None:
            return self.and_(t, a, self.const(t, (1 << power) - 1))
        shape = self.shapes.remainder(t, shape_of(a), shape_of(b))
        return self._remainder_of(t, shape, partial(LlvmAlgebra.remainder, self, t), a, b)

    def remainder_short(self, t: Type, a: Value, b: Value) -> Value:
        if self.hold_halves(a, b):
            return self._by_halves(partial(self.remainder, U32), a, b)
        shape = self.shapes.remainder_short(t, shape_of(a), shape_of(b))
        run = partial(self._short_lanes, t, LlvmAlgebra.remainder, LlvmAlgebra.remainder_short)
        return self._remainder_of(t, shape, run, a, b)

    def _remainder_of(self, t: Type, shape: Shape, run: Callable[..., Value], a: Value, b: Value) -> Value:
        if not shape.is_guarded:
            return self._affine(shape, run, a, b) if shape.is_affine else run(a, b)
        if self.may_be_cut_again(t, a, b):
            return self.in_next_rows(t, a, b, shape.stride)
        self.hold_operands(t, a, b)
        quotient = LlvmAlgebra.divide(self, t, bases(a), bases(b))
        first = run(bases(a), bases(b))
        return self._in_one_row(t, shape, run, a, b, quotient, first)

    def _by_halves(self, run: Callable[[Value, Value], Value], a: Value, b: Value) -> Value:
        """A result of the lower halves of operands, which have no upper ones."""
        return self.resize(U32, U64, run(self.resize(U64, U32, a), self.resize(U64, U32, b)))

    def _short_lanes(
        self, t: Type, by_32: Callable[..., Value], by_64: Callable[..., Value], a: Value, b: Value
    ) -> Value:
        """`by_64`; of lanes `by_32`, if all upper halves are zero: CPUs divide by 64 bits one by one."""
        if max(a.width, b.width) < WARP:
            return by_64(self, t, a, b)
        upper = self.binary("and", self.binary("or", a, b), self.number(a.type, short_divisions.UPPER))
        small = self._all(self.test("icmp eq", upper, self.number(a.type, 0)))

        def short() -> tuple[Value, ...]:
            halves = (LlvmAlgebra.resize(self, U64, U32, value) for value in (a, b))
            return (self.vector(LlvmAlgebra.resize(self, U32, U64, by_32(self, U32, *halves))),)

        (found,) = self._either(small, short, lambda: (self.vector(by_64(self, t, a, b)),), likely=True)
        return found

    def _in_one_row(
        self,
        t: Type,
        shape: Shape,
        run: Callable[..., Value],
        a: Value,
        b: Value,
        quotient: Value,
        first: Value,
    ) -> Value:
        """A result of a shape that begins with `first` if all lanes have one quotient, else `run(a, b)`."""
        two = self.in_two_rows(t, a, b, quotient, first, shape.stride)
        if two is not None:
            return two
        valid = self._have_one_quotient(t, a, b, quotient)
        sure = self.shaped(first, Shape(first.width, shape.stride))
        wide = replace(shape, width=first.width)
        tried = self.sure(Guarded(first.ir, first.type, first.width, wide, valid), a, b)
        if not isinstance(tried, Guarded):
            return tried

        def together() -> tuple[Value, ...]:
            return (self.vector(sure),)

        def apart() -> tuple[Value, ...]:
            return (run(self.vector(a), b),)

        (lanes,) = self._either(valid, together, apart)
        return Guarded(first.ir, first.type, first.width, wide, valid, lambda: lanes)

    def _have_one_quotient(self, t: Type, a: Value, b: Value, quotient: Value) -> str:
        """i1: no lane of a segment is in the next row, nor in the one before; nor is anything negative."""
        valid = "true"
        for operand in (a, b):
            if isinstance(operand, Guarded):
                valid = self.both(valid, operand.valid)
        reach = shape_of(a).stride * (self.segment - 1)
        if reach == 0:
            return valid
        start, divisor = self.unify(bases(a), bases(b), quotient)[:2]
        column = self.binary("sub", start, self.binary("mul", quotient, divisor))
        kind = start.type
        if reach > 0:
            room, least = self.binary("sub", divisor, column), reach + 1
        else:
            room, least = column, -reach
        inside = self.compare_integers("ge", t, room, self.number(kind, least))
        zero = self.number(kind, 0)
        inside = self.binary("and", inside, self.compare_integers("gt", t, divisor, zero))
        if t.is_signed:
            inside = self.binary("and", inside, self.compare_integers("ge", t, start, zero))
        return self.both(self.both(valid, self._all(inside)), self._no_wrap(t, a))
