"""Atomic operations at consecutive places: vectors are loaded, changed and stored.

`atomicAdd(&counts[threadIdx.x], mine)` and the like get at a place of their own in each lane. Where no other
native thread uses the memory (shared memory; any, in a launch of one thread), nobody can tell one update of a
vector from 32 of words. Rows of a CTA, which may begin at one place, are updated one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from simt.engine.atomic_operation import combine, is_simple
from simt.engine.llvm_access import LOCAL, SHARED, Access, Region
from simt.engine.llvm_builder import Value, spell
from simt.engine.llvm_float import LlvmAlgebra
from simt.engine.llvm_lanes import Guarded, shape_of
from simt.engine.llvm_scopes import OF_PROGRAM
from simt.engine.llvm_woven import WovenAlgebra
from simt.ptx.types import Type
from simt.records import replace


class BesideAlgebra(WovenAlgebra):
    """`WovenAlgebra` with such updates."""

    def lies_beside(self, op: str, t: Type, access: Access) -> bool:
        """Whether lanes, or those of each row, surely or probably are at consecutive places: not by an index
        that may be any. (Generic addresses tell when the code runs which unit of a GPU is to add.)"""
        is_any = isinstance(access.address, Guarded) and access.address.index is not None
        consecutive = shape_of(access.address).stride == access.size and not is_any
        one_unit = op != "add.far" or access.region.space == "global"
        return consecutive and one_unit and access.region is not LOCAL and is_simple(t)

    def _lower_half(self, region: Region, address: Value) -> Value:
        """The same, of which it is still known whether it is made of an index that may be any."""
        half = super()._lower_half(region, address)
        if isinstance(half, Guarded) and isinstance(address, Guarded):
            return replace(half, index=address.index)
        return half

    def one_thread(self) -> str:
        """i1: the launch has one native thread, and so nothing need be locked."""
        self.module.locks = True
        return self.is_alone()

    def update_beside(
        self, op: str, t: Type, access: Access, operands: Sequence[Value], otherwise: Callable[[], Value]
    ) -> Value:
        """What each lane found. `otherwise`: the way where the lanes' places are not as they seem, or not all
        are valid, or other native threads use the memory."""
        span, parts, ok = self._spans(access, shape_of(access.address))
        if access.region is not SHARED:
            ok = self.both(self.one_thread(), ok)

        def rows(masked: bool) -> tuple[Value, ...]:
            return (self._update_rows(op, t, access, parts, span, operands, masked),)

        def beside() -> tuple[Value, ...]:
            if self.mask_is_full or self.is_partly:
                return rows(masked=not self.mask_is_full)
            full = self.builder.emit(f"icmp eq i32 {self.mask_bits(self.mask).ir}, -1")
            return self._either(full, lambda: rows(masked=False), lambda: rows(masked=True))

        return self._either(ok, beside, lambda: (otherwise(),))[0]

    def _update_rows(
        self, op: str, t: Type, access: Access, parts: list[Value], span: int, operands: Sequence[Value],
        masked: bool,
    ) -> Value:  # fmt: skip
        """One row after the other, of `span` lanes each, that begin at `parts`."""
        algebra = LlvmAlgebra(self.builder, self.module, span, self.features)
        columns, found = [self.vector(v) for v in operands], list[str]()
        for row, part in enumerate(parts):
            place = self._host(access, part)
            text = f"load {spell(access.element, span)}, ptr {place}, align {access.size}{OF_PROGRAM}"
            was = Value(self.builder.emit(text), access.element, span)
            b, *c = (self.piece(column, row * span, span) for column in columns)
            new = algebra.vector(combine(algebra, op, t, was, b, c[0] if c else None))
            if masked:
                self.blended_store(new, place, self.piece(self.mask, row * span, span), access.size)
            else:
                self.builder.void(f"store {new.typed}, ptr {place}, align {access.size}")
            found.append(was.ir)
        return self._concatenate(access.element, span, found)
