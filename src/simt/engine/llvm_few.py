"""Accesses to shared memory by few lanes that are known: the top of a tree, where 8, 4, 2, 1 threads are left
and lie some words apart. One load or store for each takes less time than a gather or scatter, and less text:
so LLVM can write out the code of all warps (`simt.engine.llvm_phases`), where those without lanes have none.

Whether those lanes run is tested. If they do not, and where an address is not valid, a function takes one
lane after the other.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from numpy.typing import NDArray

from simt.analysis.access import Way
from simt.analysis.shape import WARP
from simt.engine.llvm_access import SHARED, Access
from simt.engine.llvm_builder import Value, spell
from simt.engine.llvm_lanes import Guarded, bases, shape_of
from simt.engine.llvm_members import MemberAlgebra
from simt.engine.llvm_memory import Store, Values
from simt.records import dataclass

FEW = 8
"""Lanes up to which it is done."""


@dataclass(frozen=True)
class Few:
    """The lanes of a mask."""

    mask: Value
    lanes: tuple[int, ...]


def few_of(mask: Value, warps: NDArray[Any]) -> Few | None:
    """`warps`: for each warp a row of lanes (bool), those of the mask if it has any. None if they are many,
    or not the same in all warps that have some."""
    first = warps[warps.any(axis=1).argmax()]
    lanes = tuple(int(n) for n in first.nonzero()[0])
    alike = bool((warps == first)[warps.any(axis=1)].all())
    return Few(mask, lanes) if alike and 0 < len(lanes) <= FEW else None


class FewAlgebra(MemberAlgebra):
    """`MemberAlgebra` with such accesses. `few`: lanes that run a block, if these are few and known."""

    few: Few | None = None

    def load_planned(self, access: Access) -> Values:
        few = self._few_of(access, stores=False)
        if few is None:
            return super().load_planned(access)
        places = self._places_of_lanes(access, few.lanes)
        fast, slow = partial(self._load_lanes, access, few, places), partial(self._load_slowly, access)
        return self._either(self._are_right(access, few, places), fast, slow, likely=True)

    def take_store(self, store: Store) -> None:
        few = None if self.holds else self._few_of(store.access, stores=True)
        if few is None:
            return super().take_store(store)
        access, data = store.access, self.vector(store.values[0])
        places = self._places_of_lanes(access, few.lanes)
        fast, slow = partial(self._put_lanes, access, few, places, data), partial(self._slowly, access, data)
        self.retreat = None
        self._either(self._are_right(access, few, places), fast, slow, likely=True)
        return None

    def _few_of(self, access: Access, stores: bool) -> Few | None:
        """The lanes that are served one by one, if that is better than another way."""
        few = self.few
        if few is None or few.mask is not self.mask or access.region is not SHARED or access.volatile:
            return None
        if access.count > 1 or isinstance(access.address, Guarded):
            return None
        return few if self._plan(access, stores).way not in (Way.ONE, Way.VECTOR) else None

    def _places_of_lanes(self, access: Access, lanes: tuple[int, ...]) -> list[Value]:
        """The addresses of some lanes."""
        address = access.address
        shape, first = shape_of(address), bases(address)
        if shape.is_affine:
            rows = self._parts(first)
            return [self.plus(rows[n * len(rows) // WARP], n % self.segment * shape.stride) for n in lanes]
        column = self.vector(address)
        texts = [f"extractelement {column.typed}, i32 {n}" for n in lanes]
        return [Value(self.builder.emit(text), column.type) for text in texts]

    def _are_right(self, access: Access, few: Few, places: list[Value]) -> str:
        """i1: those lanes run and no other, and their addresses are valid."""
        bits = sum(1 << n for n in few.lanes)
        right = self.builder.emit(f"icmp eq i32 {self.mask_bits(self.mask).ir}, {bits}")
        if self._is_proven(access):
            return right
        for place in places:
            right = self.both(right, self._valid(access, place, access.size).ir)
        return right

    def _load_lanes(self, access: Access, few: Few, places: list[Value]) -> Values:
        kind, column = spell(access.element, WARP), "zeroinitializer"
        for n, place in zip(few.lanes, places, strict=True):
            item = self._load(access.element, self._host(access, place), 0, access)
            column = self.builder.emit(f"insertelement {kind} {column}, {access.element} {item}, i32 {n}")
        return (Value(column, access.element, WARP),)

    def _put_lanes(self, access: Access, few: Few, places: list[Value], data: Value) -> Values:
        """In their order: at one place the last lane's word stays."""
        for n, place in zip(few.lanes, places, strict=True):
            item = self.builder.emit(f"extractelement {data.typed}, i32 {n}")
            host = self._host(access, place)
            self.builder.void(f"store {data.type} {item}, ptr {host}, align {access.word}")
        return ()

    def _slowly(self, access: Access, data: Value) -> Values:
        self._store_slowly(access, data)
        return ()
