"""Words of shared memory at indices whose lanes change places: `s[i ^ n]`, of an index `i` that goes on from
lane to lane and a number `n` that is the same for all of them.

All lanes together have the words of one warp, side by side, each lane `k` that of lane `k ^ n`. So a load is
a vector and its lanes in another order; a store puts them in that order first. Butterflies of sorting
networks and transforms are such accesses, and tiles whose columns are swizzled in place of padded.
"""

from __future__ import annotations

from collections.abc import Callable

from simt.analysis.shape import WARP
from simt.engine.llvm_access import Access
from simt.engine.llvm_algebra import LlvmIntegers
from simt.engine.llvm_builder import Value
from simt.engine.llvm_masked import MaskedAlgebra
from simt.engine.llvm_pattern_algebra import pattern_of
from simt.engine.llvm_windows import PER_LINE, WORD, Loaded, kind
from simt.records import dataclass


@dataclass(frozen=True, slots=True)
class Swap:
    """`number`: with which the lanes' numbers are changed. `pointer`: to the warp's words. `ok`: i1, whether
    all of them are right."""

    number: Value
    pointer: str
    ok: str


class SwapAlgebra(MaskedAlgebra):
    """`MaskedAlgebra` with windows of lanes that change places."""

    def load_window(self, access: Access, otherwise: Callable[[], Loaded]) -> Loaded:
        swap = self._swap_of(access)
        if swap is None:
            return super().load_window(access, otherwise)

        def together() -> Loaded:
            load = f"load <{WARP} x {access.element}>, ptr {swap.pointer}, align {WORD}"
            return (self.swapped(self.emit(load, access.element, WARP), swap.number),)

        return self._either(swap.ok, together, otherwise, likely=True)

    def store_window(self, access: Access, value: Value, otherwise: Callable[[], Loaded]) -> Loaded:
        swap, data = self._swap_of(access), self.vector(value)
        if swap is None:
            return super().store_window(access, data, otherwise)

        def together() -> Loaded:
            words = self.swapped(data, swap.number)
            if self.mask_is_full:
                self.builder.void(f"store {words.typed}, ptr {swap.pointer}, align {WORD}")
            else:
                some = self.swapped(self.mask, swap.number)
                self.store_some(access, lambda store: store(words, swap.pointer, some, WORD))
            return ()

        return self._either(swap.ok, together, otherwise, likely=True)

    def looks_up(self, access: Access) -> bool:
        pattern = pattern_of(access.address) if self.has_short_pairs else None
        swaps = pattern is not None and pattern.mask is not None and pattern.swaps(WORD)
        return swaps or super().looks_up(access)

    def _swap_of(self, access: Access) -> Swap | None:
        """How lanes change places, by the pattern of their addresses; None if they do not."""
        pattern = pattern_of(access.address)
        if pattern is None or pattern.mask is None or not pattern.swaps(WORD):
            return None
        number = LlvmIntegers.binary(self, "and", pattern.mask, self.number("i32", WARP - 1))
        bytes_ = LlvmIntegers.binary(self, "shl", number, self.number("i32", WORD.bit_length() - 1))
        start = LlvmIntegers.binary(self, "sub", pattern.base, bytes_)
        ok = "true" if self._is_all_proven(access) else self._valid(access, start, WARP * WORD).ir
        return Swap(number, self._host(access, start), ok)

    def swapped(self, value: Value, number: Value) -> Value:
        """In each lane `k` what lane `k ^ number` has."""
        known = number.literal
        if known is not None:
            picks = ", ".join(f"i32 {lane ^ known}" for lane in range(WARP))
            text = f"shufflevector {value.typed}, {value.spelled} poison, <{WARP} x i32> <{picks}>"
            return self.emit(text, value.type, WARP) if known else value
        if value.type == "i1":
            words = self.swapped(self.cast("sext", "i32", value), number)
            return self.test("icmp ne", words, self.widened(self.number("i32", 0), WARP))
        lanes = self.constant_lanes("i32", range(WARP))
        lanes = LlvmIntegers.binary(self, "xor", lanes, self.widened(number, WARP))
        if self.has_short_pairs:
            return self.permuted(value, lanes)
        halves = [self._half(value, which) for which in (0, 1)]
        parts = [
            self._lookup(kind(value.type), value.type, halves, self._half(lanes, which)) for which in (0, 1)
        ]
        return self._concatenate(value.type, PER_LINE, parts)
