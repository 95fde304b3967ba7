"""Accesses to memory by the lanes of a mask.

Where the CPU has no instruction for one, LLVM makes a branch for each lane of it. Such code is a function
of its own: it takes far longer than its call, and hundreds of copies of it took LLVM a minute.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from simt.analysis.shape import WARP
from simt.engine import host
from simt.engine.abi import LaunchSlot
from simt.engine.llvm_access import OWNED, Access
from simt.engine.llvm_builder import Value, element_bits, mangled, spell
from simt.engine.llvm_by_lane import ByLaneAlgebra, Places

SMALLEST = 32
"""Bits of elements that AVX loads and stores by a mask, and that AVX2 gathers."""
LEAST_REGISTER = 128
"""Bits of the smallest vectors that are loaded and stored by a mask."""
_AVX = 256
"""Bits of a register of AVX."""


class MaskedAlgebra(ByLaneAlgebra):
    """`ByLaneAlgebra` with loads and stores of some lanes. `word`: alignment in bytes. Lanes that the mask
    (i1 for each lane) leaves out load zeros."""

    def gather(self, places: Places, mask: Value, element: str, word: int, step: int = 1) -> Value:
        """What lies at each lane's place, of as many lanes as the mask has. `step`: bytes."""
        if self.goes_by_lane and len(places) > 1:
            return self.gather_by_lane(places, mask, element, word, step)

        def run(m: MaskedAlgebra, mask: Value, *places: Value) -> Value:
            vector, pointers = spell(element, mask.width), m._pointed(places, step)
            kinds = (pointers.spelled, "i32", mask.spelled, vector)
            name = m._intrinsic("gather", element, f".v{mask.width}p0", vector, kinds, mask.width)
            operands = f"{pointers.typed}, i32 {word}, {mask.typed}, {vector} zeroinitializer"
            return m.emit(f"call {vector} {name}({operands})", element, mask.width)

        has = "avx512f" in self.features or self.has_gathers
        return self._in_place_or_called("gather", has and not self.module.is_long, run, mask, *places)

    def scatter(self, places: Places, mask: Value, data: Value, word: int, step: int = 1) -> None:
        if self.goes_by_lane and len(places) > 1:
            return self.scatter_by_lane(places, mask, data, word, step)

        def run(m: MaskedAlgebra, mask: Value, data: Value, *places: Value) -> None:
            pointers = m._pointed(places, step)
            kinds = (data.spelled, pointers.spelled, "i32", mask.spelled)
            name = m._intrinsic("scatter", data.type, f".v{mask.width}p0", "void", kinds, mask.width)
            m.builder.void(f"call void {name}({data.typed}, {pointers.typed}, i32 {word}, {mask.typed})")

        self._in_place_or_called("scatter", "avx512f" in self.features, run, mask, data, *places)
        return None

    def _pointed(self, places: Places, step: int) -> Value:
        """Each lane's pointer."""
        if len(places) == 1:
            return places[0]
        start, column = places
        text = f"getelementptr i{8 * step}, {start.typed}, {column.typed}"
        return Value(self.builder.emit(text), "ptr", column.width)

    def masked_load(
        self, pointer: str, mask: Value, element: str, word: int, others: Value | None = None
    ) -> Value:
        """As many elements as the mask has lanes, one after the other from a pointer on. `others`: what lanes
        have that the mask leaves out."""

        def run(m: MaskedAlgebra, mask: Value, place: Value, others: Value) -> Value:
            vector = spell(element, mask.width)
            name = m._intrinsic(
                "load", element, ".p0", vector, ("ptr", "i32", mask.spelled, vector), mask.width
            )
            operands = f"{place.typed}, i32 {word}, {mask.typed}, {others.typed}"
            return m.emit(f"call {vector} {name}({operands})", element, mask.width)

        has, others = self._has_masks(element), others or Value("zeroinitializer", element, mask.width)
        width, filled = mask.width, self._filled(element, mask.width)
        if filled > width:
            others, mask = self.padded(others, filled), self.padded(mask, filled)
        loaded = self._in_place_or_called("load", has, run, mask, Value(pointer, "ptr"), others)
        return self.piece(loaded, 0, width)

    def masked_store(self, data: Value, pointer: str, mask: Value, word: int) -> None:
        def run(m: MaskedAlgebra, mask: Value, data: Value, place: Value) -> None:
            name = m._intrinsic(
                "store", data.type, ".p0", "void", (data.spelled, "ptr", "i32", mask.spelled), mask.width
            )
            m.builder.void(f"call void {name}({data.typed}, {place.typed}, i32 {word}, {mask.typed})")

        has, filled = self._has_masks(data.type), self._filled(data.type, mask.width)
        if filled > mask.width:
            data, mask = self.padded(data, filled), self.padded(mask, filled)
        place = Value(pointer, "ptr")
        if has and not host.stores_some(self.features) and data.width > _AVX // element_bits(data.type):
            by_registers = partial(MaskedAlgebra._store_by_registers, word=word)
            self.apart("store.some", by_registers, self.bits_of_mask(mask), data, place, called=True)
            return
        self._in_place_or_called("store", has, run, mask, data, place)

    def _store_by_registers(self, lanes: Value, data: Value, place: Value, word: int) -> None:
        """`lanes`: a mask as an integer."""
        count, say = _AVX // element_bits(data.type), self.builder.emit
        for first in range(0, data.width, count):
            kind, later = f"i{count}", say(f"lshr {lanes.typed}, {first}")
            some = Value(say(f"trunc {lanes.type} {later} to {kind}"), kind)
            at = say(f"getelementptr {data.type}, {place.typed}, i64 {first}")
            self._store_register(some, self.piece(data, first, count), at, word)

    def _store_register(self, lanes: Value, data: Value, pointer: str, word: int) -> None:
        """Without a mask where all words are stored, or none."""

        def all_() -> tuple[Value, ...]:
            self.builder.void(f"store {data.typed}, ptr {pointer}, align {word}")
            return ()

        def none() -> tuple[Value, ...]:
            return ()

        def some() -> tuple[Value, ...]:
            mask = self.emit(f"bitcast {lanes.typed} to <{data.width} x i1>", "i1", data.width)
            self.masked_store(data, pointer, mask, word)
            return ()

        is_all, is_none = (self.builder.emit(f"icmp eq {lanes.typed}, {n}") for n in (-1, 0))
        self._either(is_all, all_, lambda: self._either(is_none, none, some))

    def is_own(self, access: Access) -> bool:
        """Whether lanes that do not run may store again what they have in memory: a CTA's shared memory and
        its threads' local memory belong to one native thread, and nobody else writes there meanwhile."""
        return access.region in OWNED and not access.volatile

    def is_alone(self) -> str:
        """i1: the launch has one native thread, and nobody else writes to memory meanwhile."""
        place = self.builder.emit(f"getelementptr i64, ptr {self.launch}, i64 {LaunchSlot.ALONE}")
        return self.builder.emit(f"icmp ne i64 {self.builder.emit(f'load i64, ptr {place}')}, 0")

    def store_some(self, access: Access, run: Callable[[Callable[..., None]], None]) -> None:
        """`run(store)` with the fastest way to store some words of memory of which all exists."""

        def by(store: Callable[..., None]) -> tuple[Value, ...]:
            run(store)
            return ()

        if self.is_own(access):
            run(self.blended_store)
        elif access.volatile or host.stores_some(self.features):
            run(self.masked_store)
        else:
            self._either(self.is_alone(), partial(by, self.blended_store), partial(by, self.masked_store))

    def blended_store(self, data: Value, pointer: str, mask: Value, word: int) -> None:
        """`masked_store` where all memory exists and nobody else writes to it meanwhile."""
        if host.stores_some(self.features):
            return self.masked_store(data, pointer, mask, word)
        place = f"ptr {pointer}, align {word}"
        # LLVM would make a store by a mask of it again, were the load not volatile.
        before = Value(self.builder.emit(f"load volatile {data.spelled}, {place}"), data.type, data.width)
        chosen = self.builder.emit(f"select {mask.typed}, {data.typed}, {before.typed}")
        return self.builder.void(f"store {data.spelled} {chosen}, {place}")

    def _filled(self, element: str, width: int) -> int:
        """Lanes that fill a register, if a mask in a mask register has fewer. LLVM takes their bits for zeros
        then, and they need not be: where the mask comes from another block, they are whatever follows it."""
        return max(width, LEAST_REGISTER // element_bits(element)) if "avx512f" in self.features else width

    def _has_masks(self, element: str) -> bool:
        """Whether the CPU loads and stores elements by a mask."""
        return "avx512bw" in self.features or ("avx" in self.features and element_bits(element) >= SMALLEST)

    def _intrinsic(
        self, what: str, element: str, suffix: str, result: str, kinds: tuple[str, ...], width: int = WARP
    ) -> str:
        return self.module.declare(f"llvm.masked.{what}.{mangled(element, width)}{suffix}", result, kinds)

    def _in_place_or_called(
        self, hint: str, in_place: bool, run: Callable[..., Value | None], mask: Value, *operands: Value
    ) -> Value:
        """The result of `run(self, mask, *operands)`. Functions get masks as integers: vectors of bits would
        be passed lane by lane."""
        if in_place:
            return run(self, mask, *operands) or Value("", "void")
        width, bits = mask.width, self.bits_of_mask(mask)

        def unpacked(m: MaskedAlgebra, bits: Value, *operands: Value) -> Value | None:
            mask = m.emit(f"bitcast {bits.typed} to <{width} x i1>", "i1", width)
            return run(m, mask, *operands)

        return self.apart(f"{hint}.some", unpacked, bits, *operands, called=True)
