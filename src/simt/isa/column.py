"""Operators on columns, so that integer algorithms over the algebra read as formulas."""

from __future__ import annotations

from typing import Generic

from simt.isa.algebra import Comparison, PureAlgebra, V
from simt.ptx.types import PRED, U32, Type
from simt.records import dataclass


@dataclass(frozen=True, slots=True)
class Column(Generic[V]):
    """A value with its algebra and type. An `int` beside it stands for a constant of the same type."""

    m: PureAlgebra[V]
    t: Type
    v: V

    def _value(self, other: Column[V] | int) -> V:
        return other.v if isinstance(other, Column) else self.constant(other).v

    def _amount(self, n: Column[V] | int) -> V:
        return self.m.const(U32, n) if isinstance(n, int) else n.to(U32).v

    def _of(self, v: V) -> Column[V]:
        return Column(self.m, self.t, v)

    def constant(self, value: int) -> Column[V]:
        """A constant of this column's type (negative values wrap)."""
        return self._of(self.m.const(self.t, value % 2**self.t.bits))

    def _compare(self, op: Comparison, other: Column[V] | int) -> Column[V]:
        return Column(self.m, PRED, self.m.compare(op, self.t, self.v, self._value(other)))

    def __add__(self, other: Column[V] | int) -> Column[V]:
        return self._of(self.m.add(self.t, self.v, self._value(other)))

    def __sub__(self, other: Column[V] | int) -> Column[V]:
        return self._of(self.m.sub(self.t, self.v, self._value(other)))

    def __rsub__(self, other: int) -> Column[V]:
        return self._of(self.m.sub(self.t, self._value(other), self.v))

    def __mul__(self, other: Column[V] | int) -> Column[V]:
        return self._of(self.m.mul(self.t, self.v, self._value(other)))

    def __and__(self, other: Column[V] | int) -> Column[V]:
        return self._of(self.m.and_(self.t, self.v, self._value(other)))

    def __or__(self, other: Column[V] | int) -> Column[V]:
        return self._of(self.m.or_(self.t, self.v, self._value(other)))

    def __xor__(self, other: Column[V] | int) -> Column[V]:
        return self._of(self.m.xor(self.t, self.v, self._value(other)))

    def __invert__(self) -> Column[V]:
        return self._of(self.m.invert(self.t, self.v))

    def __lshift__(self, n: Column[V] | int) -> Column[V]:
        """Amounts of the width and more (modulo 2^32) give 0; likewise `>>` for unsigned types."""
        return self._of(self.m.shift_left(self.t, self.v, self._amount(n)))

    def __rshift__(self, n: Column[V] | int) -> Column[V]:
        return self._of(self.m.shift_right(self.t, self.v, self._amount(n)))

    def eq(self, other: Column[V] | int) -> Column[V]:
        return self._compare("eq", other)

    def ne(self, other: Column[V] | int) -> Column[V]:
        return self._compare("ne", other)

    def lt(self, other: Column[V] | int) -> Column[V]:
        return self._compare("lt", other)

    def gt(self, other: Column[V] | int) -> Column[V]:
        return self._compare("gt", other)

    def ge(self, other: Column[V] | int) -> Column[V]:
        return self._compare("ge", other)

    def minimum(self, other: Column[V] | int) -> Column[V]:
        return self._of(self.m.minimum(self.t, self.v, self._value(other)))

    def maximum(self, other: Column[V] | int) -> Column[V]:
        return self._of(self.m.maximum(self.t, self.v, self._value(other)))

    def mul_high(self, other: Column[V]) -> Column[V]:
        return self._of(self.m.mul_high(self.t, self.v, other.v))

    def leading_zeros(self) -> Column[V]:
        """As a column of the same type."""
        return Column(self.m, U32, self.m.leading_zeros(self.t, self.v)).to(self.t)

    def choose(self, a: Column[V], b: Column[V] | int) -> Column[V]:
        """`a` where this predicate holds, else `b`."""
        other = b if isinstance(b, Column) else a.constant(b)
        return Column(a.m, a.t, self.m.select(a.t, self.v, a.v, other.v))

    def to(self, t: Type) -> Column[V]:
        """Cut, or extended by the sign of this column's type."""
        return Column(self.m, t, self.v if t.bits == self.t.bits else self.m.resize(self.t, t, self.v))

    def like(self, t: Type) -> Column[V]:
        """The same bits as another integer type of the same width (another sign)."""
        return Column(self.m, t, self.v)
