"""What grows by steps from turn to turn, in a loop that a lane goes through alone.

The head of a turn is emitted over this algebra, with what the header's phis hold as the turn begins. It notes
by how much each value is more in the next turn, and what that rests on: that an index does not wrap before it
is extended, and on which side of a limit it is.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial

from simt.analysis.shape import WARP
from simt.engine.llvm_access import ARENA, I64
from simt.engine.llvm_alone_algebra import AloneAlgebra
from simt.engine.llvm_alone_vectors import NotFree
from simt.engine.llvm_builder import Value
from simt.isa.algebra import Comparison
from simt.ptx.types import U32, U64, Type
from simt.records import dataclass


@dataclass(frozen=True, slots=True)
class Limit:
    """A comparison (`result`) of what grows by a step and what stays the same; `again`: the same of what it
    has grown to."""

    start: Value
    step: int
    limit: Value
    result: Value
    again: Callable[[Value], Value]


@dataclass(frozen=True, slots=True)
class Extension:
    """A number of 32 bits that grows by a step, and the same (`result`) in 64 bits."""

    start: Value
    step: int
    result: Value
    again: Callable[[Value], Value]


@dataclass(frozen=True, slots=True)
class Visit:
    """An access to the arena. `part` (i64) and `constant`: the address when the turn begins."""

    part: Value
    constant: int
    size: int
    step: int
    stores: bool


class StepAlgebra(AloneAlgebra):
    """`AloneAlgebra` that notes steps. Loads and stores do nothing but to be noted. `visit`: the latest."""

    visit: Visit | None = None

    @cached_property
    def steps(self) -> dict[str, int]:
        """By names: how much more a value is in the next turn."""
        return {}

    @cached_property
    def limits(self) -> list[Limit]:
        return []

    @cached_property
    def extensions(self) -> list[Extension]:
        return []

    def step_of(self, *values: Value) -> int | None:
        """The step of the sum of some values, None if it is not known."""
        total = 0
        for value in values:
            constant = value.literal is not None or not value.ir.startswith("%") or value.ir in self.outside
            step = self.steps.get(value.ir, 0 if constant else None)
            if step is None:
                return None
            total += step
        return total

    def _stays(self, result: Value, *values: Value) -> Value:
        """A result that stays what it is while its operands do."""
        return self._growing(result, 0 if all(self.step_of(v) == 0 for v in values) else None)

    def _growing(self, result: Value, step: int | None) -> Value:
        if step is not None and result.ir.startswith("%") and result.width < WARP:
            bits = int(result.type[1:])
            self.steps[result.ir] = (step + (1 << bits >> 1)) % 2**bits - (1 << bits >> 1) if bits > 1 else 0
        return result

    def add(self, t: Type, a: Value, b: Value) -> Value:
        return self._growing(super().add(t, a, b), self.step_of(a, b))

    def sub(self, t: Type, a: Value, b: Value) -> Value:
        one, other = self.step_of(a), self.step_of(b)
        return self._growing(super().sub(t, a, b), None if one is None or other is None else one - other)

    def mul(self, t: Type, a: Value, b: Value) -> Value:
        result, step = super().mul(t, a, b), self.step_of(a)
        return self._growing(result, None if step is None or b.literal is None else step * b.literal)

    def shift_left(self, t: Type, a: Value, n: Value) -> Value:
        result, step = super().shift_left(t, a, n), self.step_of(a)
        known = n.literal is not None and n.literal < t.bits
        return self._growing(result, step << (n.literal or 0) if step is not None and known else None)

    def and_(self, t: Type, a: Value, b: Value) -> Value:
        return self._stays(super().and_(t, a, b), a, b)

    def or_(self, t: Type, a: Value, b: Value) -> Value:
        return self._stays(super().or_(t, a, b), a, b)

    def xor(self, t: Type, a: Value, b: Value) -> Value:
        return self._stays(super().xor(t, a, b), a, b)

    def invert(self, t: Type, a: Value) -> Value:
        return self._stays(super().invert(t, a), a)

    def resize(self, source: Type, target: Type, a: Value) -> Value:
        result, step = super().resize(source, target, a), self.step_of(a)
        if step and source.bits < target.bits:
            if (source.bits, target.bits) != (U32.bits, U64.bits):
                return result
            again = partial(super().resize, source, target)
            self.extensions.append(Extension(a, step, result, again))
        return self._growing(result, step)

    def compare(self, op: Comparison, t: Type, a: Value, b: Value) -> Value:
        result, one, other = super().compare(op, t, a, b), self.step_of(a), self.step_of(b)
        if one == 0 and other == 0:
            return self._growing(result, 0)
        if t.is_float or t.bits not in (U32.bits, U64.bits) or one is None or other is None:
            return result
        again = partial(super().compare, op, t)
        if other == 0:
            self.limits.append(Limit(a, one, b, result, lambda grown: again(grown, b)))
        elif one == 0:
            self.limits.append(Limit(b, other, a, result, lambda grown: again(a, grown)))
        else:
            return result
        return self._growing(result, 0)

    # -- accesses --------------------------------------------------------------------------------------

    def load(self, t: Type, space: str, address: Value, count: int, volatile: bool) -> tuple[Value, ...]:
        self._visited(t, space, address, count, volatile, stores=False)
        return tuple(Value("poison", self._access(t, space, address, 1, False).element) for _ in range(count))

    def store(self, t: Type, space: str, address: Value, values: tuple[Value, ...], volatile: bool) -> None:
        self._visited(t, space, address, len(values), volatile, stores=True)

    def _visited(
        self, t: Type, space: str, address: Value, count: int, volatile: bool, *, stores: bool
    ) -> None:
        known = self.parameter is None and count == 1 and not volatile
        if not known or self._region(space).lo != ARENA.lo:
            raise NotFree
        address = self._access(t, space, address, count, volatile).address
        step = self.step_of(address)
        if step is None or address.type != I64:
            raise NotFree
        self.visit = Visit(*self.as_sum(address), t.bytes, step, stores)
