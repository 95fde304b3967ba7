"""Local memory that is woven: the same word of all lanes of a warp side by side, as a GPU has it.

The word at an address `a` of lane `l` lies at `32 * a + l * word`. Where all lanes get at the same place of
their arrays these are consecutive, and loads and stores are vectors, as those of other memory; else they are
gathers and scatters by short offsets, in fewer lines of the cache than if each lane's memory lay by itself.
`simt.analysis.weaving` tells which kernels this is for.
"""

from __future__ import annotations

from collections.abc import Iterator

from simt.analysis.range_algebra import ANY, Range
from simt.analysis.shape import WARP, Shape, constant
from simt.analysis.weaving import is_one_place
from simt.engine import llvm_runtime
from simt.engine.llvm_access import I64, WOVEN, Access
from simt.engine.llvm_algebra import LlvmIntegers
from simt.engine.llvm_brief import BriefAlgebra
from simt.engine.llvm_builder import Value
from simt.engine.llvm_lanes import Lanes, shape_of
from simt.engine.llvm_masked import Places
from simt.ptx.types import U32, U64, Type
from simt.records import replace


class WovenAlgebra(BriefAlgebra):
    """`BriefAlgebra` with such local memory, if it has words (`woven` bytes each; 0: it is not woven)."""

    woven = 0

    def load(self, t: Type, space: str, address: Value, count: int, volatile: bool) -> tuple[Value, ...]:
        if space != "local" or not self.woven:
            return super().load(t, space, address, count, volatile)
        access = self._access(t, space, address, count, volatile)
        if not is_one_place(shape_of(access.address)):
            places = self._woven_places(access, self._checked_offsets(access, llvm_runtime.load))
            return tuple(self.gather(place, self.mask, access.element, access.word) for place in places)
        reach, found = self.reach, list[Value]()
        for word, reach_of_word in self._woven_words(access):
            self.reach = reach_of_word
            found += self.load_planned(word)
        self.reach = reach
        return tuple(found)

    def store(self, t: Type, space: str, address: Value, values: tuple[Value, ...], volatile: bool) -> None:
        if space != "local" or not self.woven:
            return super().store(t, space, address, values, volatile)
        self.settle_members()
        access = self._access(t, space, address, len(values), volatile)
        if not is_one_place(shape_of(access.address)):
            places = self._woven_places(access, self._checked_offsets(access, llvm_runtime.store))
            for value, place in zip(values, places, strict=True):
                self.scatter(place, self.mask, self.vector(value), access.word)
            return None
        reach = self.reach
        for value, (word, reach_of_word) in zip(values, self._woven_words(access), strict=True):
            self.reach = reach_of_word
            self.store_planned(word, (value,))
        self.reach = reach
        return None

    # -- lanes at places of their own ----------------------------------------------------------------

    def _woven_places(self, access: Access, offset: Value) -> Iterator[Places]:
        """Where each lane's words lie. `offset`: within the lane's memory, valid in all lanes that run."""
        rows = LlvmIntegers.binary(self, "shl", offset, self.widened(self.number(I64, 5), WARP))
        lanes = self.constant_lanes(I64, [access.word * lane for lane in range(WARP)])
        column, host = LlvmIntegers.binary(self, "add", rows, lanes), self.pointer(Value(WOVEN.host, I64))
        for at in range(0, access.size * WARP, access.word * WARP):
            yield Value(self.builder.emit(f"getelementptr i8, ptr {host}, i64 {at}"), "ptr"), column

    # -- all lanes at the same place -----------------------------------------------------------------

    def _woven_words(self, access: Access) -> list[tuple[Access, Range]]:
        """The words of an access, one after the other, with the bounds of their addresses."""
        first, known, words = self._first_place(access), self._is_proven(access), list[tuple[Access, Range]]()
        for at in range(0, access.size * WARP, access.word * WARP):
            place = self.add(U64, first, self.const(U64, at)) if at else first
            lo, hi = 0, ANY - 1
            if known:
                lo, hi = (WARP * bound + at for bound in (self.reach.lo, self.reach.hi))
                hi += access.word * (WARP - 1)
            word = replace(access, count=1, size=access.word, region=WOVEN, address=place, private=access)
            words.append((word, Range(lo, hi, access.word.bit_length() - 1)))
        return words

    def _first_place(self, access: Access) -> Value:
        """Where the first word lies. A misaligned one lies beyond all local memory."""
        address, shift = access.address, access.size.bit_length() - 1
        if self.reach.zeros < shift:
            short = self.resize(U64, U32, address)
            units = self.shift_right(U32, short, self.const(U32, shift))
            rest = self.shift_left(U32, short, self.const(U32, U32.bits - shift))
            address = self.resize(U32, U64, self.or_(U32, units, rest))
            address = self.shift_left(U64, address, self.const(U64, shift))
        rows = self.shift_left(U64, address, self.const(U64, WARP.bit_length() - 1))
        return self.add(U64, rows, self._lanes_woven(access.word))

    def _lanes_woven(self, word: int) -> Value:
        """The number of each lane times the size of a word."""
        shape = self.shape_woven(word, constant(0))
        starts = self.constant_lanes(I64, [self.segment * word * row for row in range(self.block.segments)])
        return Lanes(starts.ir if starts.width > 1 else "0", I64, starts.width, shape)

    def shape_woven(self, word: int, address: Shape) -> Shape:
        """Of words in woven memory, at addresses of a shape that is that of one place."""
        return self.shapes.add(U64, address, self.shapes.mul(U64, self.block.lane, constant(word)))
