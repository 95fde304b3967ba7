"""Accesses to shared memory by few lanes that are known: the top of a tree, where 8, 4, 2, 1 threads are left
and lie some words apart. One load or store for each takes less time than a gather or scatter, and less text:
so LLVM can write out the code of all warps (`simt.engine.llvm_phases`), where those without lanes have none.

Whether those lanes run is tested. If they do not, and where an address is not valid, a function takes one
lane after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from simt.analysis.access import Way
from simt.analysis.shape import HALF, WARP
from simt.engine.llvm_access import SHARED, Access
from simt.engine.llvm_builder import Value, spell
from simt.engine.llvm_lanes import Guarded, bases, shape_of
from simt.engine.llvm_masked import Places
from simt.engine.llvm_memory import Store, Values
from simt.engine.llvm_waiting import WaitingAlgebra
from simt.records import dataclass

if TYPE_CHECKING:
    from simt.engine.known_lanes import Lanes

FEW = 8
"""Lanes up to which it is done."""
PREFIXES = tuple(tuple(range(lanes)) for lanes in (1, 2, 4, 8, 16))
"""The first lanes of a warp, of which a shorter vector is made."""
SHORT, LONG = 200, 500
"""Instructions of functions in which that is done: where masks may have less of these lanes, and so the usual
way stands beside; and where they have all."""


@dataclass(frozen=True)
class Few:
    """Lanes beyond which a mask has none. `are_all`: it has all of them. `are_first`: shorter vectors of them
    are worth a try."""

    mask: Value
    lanes: tuple[int, ...]
    are_all: bool
    are_first: bool


def few_of(mask: Value, known: Lanes, ops: int) -> Few | None:
    """None if they are many. `ops`: instructions of the function."""
    lanes = known.numbers
    are_first = lanes in PREFIXES and known.are_alike and ops <= (LONG if known.are_all else SHORT)
    are_few = 0 < len(lanes) <= FEW or are_first or (bool(lanes) and lanes[-1] < HALF)
    return Few(mask, lanes, known.are_all and known.are_alike, are_first) if are_few else None


def _nothing_known() -> Few | None:
    return None


class FewAlgebra(WaitingAlgebra):
    """`WaitingAlgebra` with such accesses. `few` gives the lanes that run a block, if these are few and
    known: only who gets at shared memory, or stores in rows, asks."""

    few: Callable[[], Few | None] = staticmethod(_nothing_known)

    def load_planned(self, access: Access) -> Values:
        few = self._few_of(access, stores=False)
        if few is None:
            return self._load_first(access)
        places = self._places_of_lanes(access, few.lanes)
        fast, slow = partial(self._load_lanes, access, few, places), partial(self._load_slowly, access)
        return self._either(self._are_right(access, few, places), fast, slow, likely=True)

    def take_store(self, store: Store) -> None:
        few = None if self.holds else self._few_of(store.access, stores=True)
        if few is None:
            return self._store_first(store)
        access, data = store.access, self.vector(store.values[0])
        places = self._places_of_lanes(access, few.lanes)
        fast, slow = partial(self._put_lanes, access, few, places, data), partial(self._slowly, access, data)
        self.retreat = None
        self._either(self._are_right(access, few, places), fast, slow, likely=True)
        return None

    def _few_of(self, access: Access, stores: bool) -> Few | None:
        """The lanes that are served one by one, if that is better than another way."""
        if access.region is not SHARED or access.volatile or access.count > 1:
            return None
        few = None if isinstance(access.address, Guarded) else self._few_here
        if few is None or not few.are_all or len(few.lanes) > FEW:
            return None
        return few if self._plan(access, stores).way not in (Way.ONE, Way.VECTOR) else None

    # -- the first half of a warp ------------------------------------------------------------------

    def gather(self, places: Places, mask: Value, element: str, word: int, step: int = 1) -> Value:
        if mask.width < WARP or not self.runs_in_half:
            return super().gather(places, mask, element, word, step)
        mask, *some = self._halved(mask, *places)
        return self.padded(super().gather(tuple(some), mask, element, word, step), WARP)

    def scatter(self, places: Places, mask: Value, data: Value, word: int, step: int = 1) -> None:
        if mask.width == WARP and self.runs_in_half:
            mask, data, *some = self._halved(mask, data, *places)
            places = tuple(some)
        super().scatter(places, mask, data, word, step)

    @property
    def runs_in_half(self) -> bool:
        """Many CPUs take as long for lanes that a mask leaves out as for others."""
        few = self.few()
        return few is not None and few.lanes[-1] < HALF and not self.module.is_long

    def _halved(self, *values: Value) -> list[Value]:
        return [value if value.width < WARP else self.piece(value, 0, HALF) for value in values]

    # -- the first lanes of a warp -----------------------------------------------------------------

    def _first_of(self, access: Access, stores: bool) -> Few | None:
        """The first lanes, if these may run and no other, and get at words side by side."""
        if access.region is not SHARED or access.count > 1:
            return None
        shape = shape_of(access.address)
        beside = shape.is_affine and shape.stride == access.size
        few = self._few_here if beside and not isinstance(access.address, Guarded) else None
        if few is None or not few.are_first or len(few.lanes) > self.segment:
            return None
        return few if self._plan(access, stores).way is Way.VECTOR else None

    def _load_first(self, access: Access) -> Values:
        """A vector of their words and no more: the CPU gives it what such a vector has just stored."""
        few = self._first_of(access, stores=False)
        if few is None:
            return super().load_planned(access)
        usual = partial(self._load_slowly if few.are_all else super().load_planned, access)
        words = partial(self._first_words, access, few)
        return self._either(self._are_first(access, few), words, usual, likely=True)

    def _first_words(self, access: Access, few: Few) -> Values:
        count, first = len(few.lanes), self._host(access, self._first_address(access))
        kind, picks = f"<{count} x {access.element}>", ", ".join(f"i32 {min(n, count)}" for n in range(WARP))
        words = self.builder.emit(f"load{access.modifier} {kind}, ptr {first}, align {access.word}")
        column = f"shufflevector {kind} {words}, {kind} zeroinitializer, <{WARP} x i32> <{picks}>"
        return (self.emit(column, access.element, WARP),)

    def _store_first(self, store: Store) -> None:
        few = None if self.holds else self._first_of(store.access, stores=True)
        if few is None:
            return super().take_store(store)
        access, data = store.access, self.vector(store.values[0])

        def fast() -> Values:
            first, kind = self._host(access, self._first_address(access)), f"<{len(few.lanes)} x {data.type}>"
            picks = ", ".join(f"i32 {n}" for n in few.lanes)
            text = f"shufflevector {data.typed}, {data.spelled} poison, <{len(few.lanes)} x i32> <{picks}>"
            words = self.builder.emit(text)
            self.builder.void(f"store{access.modifier} {kind} {words}, ptr {first}, align {access.word}")
            return ()

        def usual() -> Values:
            super(FewAlgebra, self).take_store(store)
            return ()

        self.retreat = None
        slow = partial(self._slowly, access, data) if few.are_all else usual
        self._either(self._are_first(access, few), fast, slow, likely=True)
        return None

    def _are_first(self, access: Access, few: Few) -> str:
        bits = (1 << len(few.lanes)) - 1
        right = self.builder.emit(f"icmp eq i32 {self.mask_bits(self.mask).ir}, {bits}")
        if self._is_proven(access):
            return right
        span = len(few.lanes) * access.size
        return self.both(right, self._valid(access, self._first_address(access), span).ir)

    def _first_address(self, access: Access) -> Value:
        """That of the warp's first lane, with whose row those lanes end or before."""
        return self._parts(bases(access.address))[0]

    @property
    def _few_here(self) -> Few | None:
        """Those of the mask: instructions under a guard have one of their own."""
        few = self.few()
        return few if few is not None and few.mask is self.mask else None

    def _store_rows(self, access: Access, address: Value, values: Values) -> None:
        """Of rows with one lane, that one stores."""
        few, lanes = self._few_here, WARP // address.width
        if few is None or len({n // lanes for n in few.lanes}) < len(few.lanes):
            return super()._store_rows(access, address, values)
        parts, bits = self._parts(address), self.mask_bits(self.mask)
        for n in few.lanes:
            some, after = self.builder.block_name("some"), self.builder.block_name("after")
            one = self.builder.emit(f"and {bits.typed}, {1 << n}")
            found = self.builder.emit(f"icmp ne i32 {one}, 0")
            self.builder.void(f"br i1 {found}, label %{some}, label %{after}")
            self.builder.label(some)
            pointer = self._host(access, parts[n // lanes])
            for i, value in enumerate(values):
                item = self.builder.emit(f"extractelement {self.vector(value).typed}, i32 {n}")
                place = self._element_pointer(access, pointer, i)
                self.builder.void(f"store {access.element} {item}, ptr {place}, align {access.word}")
            self.builder.void(f"br label %{after}")
            self.builder.label(after)
        return None

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
