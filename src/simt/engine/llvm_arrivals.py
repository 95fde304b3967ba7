"""Arrivals of a warp at one barrier in shared memory: all lanes' at once.

Mostly the phase waits for as many arrivals as there are lanes, or more: then it is one step by all of them,
and all are in this phase. Else they arrive one after the other, and the last one's token counts.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from simt.analysis.shape import WARP
from simt.engine.atomic_operation import combine
from simt.engine.llvm_access import SHARED, Access
from simt.engine.llvm_atomics import AtomicAlgebra
from simt.engine.llvm_builder import Value
from simt.engine.llvm_float import LlvmAlgebra
from simt.engine.llvm_lanes import bases, shape_of
from simt.isa.mbarrier import ARRIVE, pending_count
from simt.ptx.types import U32, U64


class ArrivalAlgebra(AtomicAlgebra):
    """`AtomicAlgebra` with arrivals at once."""

    def arrivals(self, op: str, space: str, address: Value, b: Value) -> Value:
        if not shape_of(address).is_uniform:
            return super().arrivals(op, space, address, b)
        access = self._access(U64, space, address, 1, True)
        one_by_one = partial(self._arrive_by_lanes, op, space, address, b)
        if op != ARRIVE or access.region is not SHARED or not shape_of(b).is_uniform:
            return one_by_one()
        return self._at_once(access, bases(b), one_by_one)

    def _arrive_by_lanes(self, op: str, space: str, address: Value, b: Value) -> Value:
        """What the last lane found."""
        found = self.vector(super().arrivals(op, space, address, b))
        last = str(WARP - 1) if self.mask_is_full else self._last_lane(self.mask_bits(self.mask).ir)
        return Value(self.builder.emit(f"extractelement {found.typed}, i32 {last}"), found.type)

    def _at_once(self, access: Access, b: Value, otherwise: Callable[[], Value]) -> Value:
        self.require(access, bases(access.address))
        place = self._host(access, bases(access.address))
        m = LlvmAlgebra(self.builder, self.module, 1, self.features)
        was = Value(self.builder.emit(f"load i64, ptr {place}, align {access.size}"), "i64")
        lanes = m.popcount(U32, self.mask_bits(self.mask))
        count = m.mul(U64, m.resize(U32, U64, lanes), b)
        enough = m.compare("ge", U64, m.resize(U32, U64, pending_count(m, was)), count)

        def stepped() -> tuple[Value, ...]:
            new = combine(m, ARRIVE, U64, was, count, None)
            self.builder.void(f"store {new.typed}, ptr {place}, align {access.size}")
            return (was,)

        return self._either(enough.ir, stepped, lambda: (otherwise(),), likely=True)[0]
