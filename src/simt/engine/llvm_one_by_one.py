"""Bytes and halves at scattered places: CPUs scatter words of 4 and 8 bytes, these are stored one by one."""

from __future__ import annotations

from functools import partial

from simt.engine.llvm_access import Access
from simt.engine.llvm_builder import Value
from simt.engine.llvm_indices import LEAST
from simt.engine.llvm_masked import Places
from simt.engine.llvm_swaps import SwapAlgebra


class OneByOneAlgebra(SwapAlgebra):
    """`SwapAlgebra` with scatters of small words."""

    def scatter_of(self, access: Access, places: Places, data: Value) -> None:
        """Stores what lies at each lane's place; higher lanes win."""
        if access.word >= LEAST or self.goes_by_lane:
            return self.scatter(places, self.mask, data, access.word)
        run = partial(OneByOneAlgebra.store_each, word=access.word)
        self.apart("store.each", run, self.mask_bits(self.mask), data, *places, called=True)
        return None

    def store_each(self, bits: Value, data: Value, *places: Value, word: int) -> None:
        """A function of its own."""
        kept = self.spilled(places[-1])
        self.store_in_turns(bits, data, partial(self._place_of_turn, kept, places), word)

    def _place_of_turn(self, kept: str, places: Places, lane: Value) -> str:
        """Where the turn's lane gets at memory. `kept`: the lanes' pointers, or bytes behind one."""
        kind = places[-1].type
        at = self.builder.emit(f"getelementptr {kind}, ptr {kept}, {lane.typed}")
        one = self.builder.emit(f"load {kind}, ptr {at}")
        if len(places) == 1:
            return one
        return self.builder.emit(f"getelementptr i8, {places[0].typed}, {kind} {one}")
