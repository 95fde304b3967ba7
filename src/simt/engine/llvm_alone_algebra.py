"""The algebra of one lane, which runs scalar code: see `simt.engine.llvm_alone`."""

from __future__ import annotations

from simt.engine.atomic_operation import is_simple
from simt.engine.llvm_access import ARENA, SHARED, Access
from simt.engine.llvm_atomics import AtomicAlgebra
from simt.engine.llvm_builder import Value
from simt.engine.llvm_lanes import Guarded, Lanes, bases
from simt.ptx.types import U64, Type


class NotAlone(Exception):
    """The loop does what one lane cannot do alone."""


class AloneAlgebra(AtomicAlgebra):
    """The algebra of one lane: every column is a scalar. `lane_number`: the lane (i32).

    `is_checked`: the present access is known to be valid. `touched`: bytes of the last plain access, if it
    was to the arena; negative for a store."""

    lane_number = Value("0", "i32")
    is_checked = False
    touched = 0

    def scalar(self, value: Value) -> Value:
        """What a column has in the lane."""
        if isinstance(value, Lanes) and not isinstance(value, Guarded) and value.shape.is_uniform:
            return bases(value)
        if value.width == 1 and not isinstance(value, Lanes):
            return value
        column = self.vector(value)
        return Value(
            self.builder.emit(f"extractelement {column.typed}, i32 {self.lane_number.ir}"), value.type
        )

    def special(self, name: str, component: str) -> Value:
        return self.scalar(super().special(name, component))

    def lane(self) -> Value:
        return self.lane_number

    def load(self, t: Type, space: str, address: Value, count: int, volatile: bool) -> tuple[Value, ...]:
        self._touch(t.bytes * count, space, volatile)
        return super().load(t, space, address, count, volatile)

    def store(self, t: Type, space: str, address: Value, values: tuple[Value, ...], volatile: bool) -> None:
        self._touch(-t.bytes * len(values), space, volatile)
        super().store(t, space, address, values, volatile)

    def _touch(self, nbytes: int, space: str, volatile: bool) -> None:
        if space == "local" or volatile:
            raise NotAlone
        self.touched = 0 if self._region(space) is SHARED else nbytes

    def _is_proven(self, access: Access) -> bool:
        return self.is_checked or super()._is_proven(access)

    def are_valid(self, address: Value, size: int, span: int) -> Value:
        """i1: an address is a multiple of `size`, and `span` bytes from it lie in the arena."""
        access = Access("i8", 1, size, ARENA, address, volatile=False)
        return self._valid(access, address, span)

    def ask_for(self, address: Value, distance: Value) -> None:
        """Asks for what lies some bytes after an address."""
        self._ask(self.add(U64, address, distance).ir, 1, False)

    def atomic(self, op: str, t: Type, space: str, address: Value, b: Value, c: Value | None) -> Value:
        if space == "local":
            raise NotAlone
        access = self._access(t, space, address, 1, True)
        if access.region is not SHARED or not is_simple(t):
            return self.scalar(self._by_lanes(op, t, access, b, c))
        self.require(access, address)
        return self._update(op, t, self._host(access, address), b, c)

    def active(self) -> Value:
        raise NotAlone

    def ballot(self, p: Value) -> Value:
        raise NotAlone

    def shuffle(self, t: Type, a: Value, lane: Value) -> Value:
        raise NotAlone

    def to_generic(self, t: Type, space: str, address: Value) -> Value:
        return self.scalar(super().to_generic(t, space, address))

    def from_generic(self, t: Type, space: str, address: Value) -> Value:
        return self.scalar(super().from_generic(t, space, address))

    def in_space(self, space: str, address: Value) -> Value:
        return self.scalar(super().in_space(space, address))

    def trap(self) -> None:
        raise NotAlone

    def event(self, number: Value) -> None:
        raise NotAlone  # it counts warps

    def events(self, mask: Value) -> None:
        raise NotAlone
