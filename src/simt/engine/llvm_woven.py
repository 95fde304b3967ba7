"""Local memory that is woven: the same word of all lanes of a warp side by side, as a GPU has it.

The word at an address `a` of lane `l` lies at `32 * a + l * word`. Where all lanes get at the same place of
their arrays these are consecutive, and loads and stores are vectors, as those of other memory; else they are
gathers and scatters by short offsets, in fewer lines of the cache than if each lane's memory lay by itself.
What is smaller than a word is a part of one, and what is larger is several. `simt.analysis.weaving` tells by
which words a kernel's memory is woven.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from simt.analysis.range_algebra import ANY, Range
from simt.analysis.shape import WARP, Shape, constant
from simt.analysis.weaving import is_one_place
from simt.engine import llvm_runtime
from simt.engine.llvm_access import I64, WOVEN, Access
from simt.engine.llvm_algebra import LlvmIntegers
from simt.engine.llvm_brief import BriefAlgebra
from simt.engine.llvm_builder import Value
from simt.engine.llvm_indices import LEAST
from simt.engine.llvm_lanes import Lanes, shape_of
from simt.engine.llvm_masked import Places
from simt.ptx.types import U32, U64, Type, unsigned
from simt.records import replace


class WovenAlgebra(BriefAlgebra):
    """`BriefAlgebra` with such local memory, if it has words (`woven` bytes each; 0: it is not woven)."""

    woven = 0

    def load(self, t: Type, space: str, address: Value, count: int, volatile: bool) -> tuple[Value, ...]:
        if space != "local" or not self.woven:
            return super().load(t, space, address, count, volatile)
        kind, number = self._kind_and_count(t, count)
        access = self._access(kind, space, address, number, volatile)
        if not is_one_place(shape_of(access.address)):
            places = self._woven_places(access, self._checked_offsets(access, llvm_runtime.load))
            found = [self._at_own_places(access, place) for place in places]
        else:
            found = [self._load_word(word, reach) for word, reach in self._woven_words(access)]
            if access.size < self.woven:
                moved = self.shift_right(self._unit, found[0], self._bits_below(access))
                found = [self.resize(self._unit, kind, moved)]
        return tuple(self._regrouped(kind, found, t))

    def store(self, t: Type, space: str, address: Value, values: tuple[Value, ...], volatile: bool) -> None:
        if space != "local" or not self.woven:
            return super().store(t, space, address, values, volatile)
        self.settle_members()
        kind, number = self._kind_and_count(t, len(values))
        access = self._access(kind, space, address, number, volatile)
        words = tuple(self._regrouped(t, values, kind))
        if not is_one_place(shape_of(access.address)):
            places = self._woven_places(access, self._checked_offsets(access, llvm_runtime.store))
            for value, place in zip(words, places, strict=True):
                self.scatter_of(access, place, self.vector(value))
            return None
        for value, (word, reach) in zip(words, self._woven_words(access), strict=True):
            put = value if access.size >= self.woven else self._put_into(access, kind, value, word, reach)
            self._store_word(word, reach, put)
        return None

    # -- words of other sizes --------------------------------------------------------------------------

    @property
    def _unit(self) -> Type:
        return unsigned(8 * self.woven)

    def _kind_and_count(self, t: Type, count: int) -> tuple[Type, int]:
        """What values are in memory: words by which it is woven, or one part of a word."""
        size = t.bytes * count
        if t.bytes == self.woven:
            return t, count
        return (unsigned(8 * size), 1) if size < self.woven else (self._unit, size // self.woven)

    def _regrouped(self, source: Type, values: Sequence[Value], target: Type) -> Iterator[Value]:
        """The bits of some values, one after the other, as values of another size."""
        few = target.bits // source.bits
        if source is target:
            yield from values
        elif few:
            for first in range(0, len(values), few):
                yield self._joined_bits(source, values[first : first + few], target)
        else:
            for value in values:
                bits, kind = self.to_bits(source, value), unsigned(source.bits)
                for below in range(0, source.bits, target.bits):
                    moved = self.shift_right(kind, bits, self.const(U32, below)) if below else bits
                    yield self.from_bits(target, self.resize(kind, unsigned(target.bits), moved))

    def _joined_bits(self, source: Type, values: Sequence[Value], target: Type) -> Value:
        part, kind, whole = unsigned(source.bits), unsigned(target.bits), None
        for i, value in enumerate(values):
            bits = self.resize(part, kind, self.to_bits(source, value))
            if whole is None:
                whole = bits
            else:
                amount = self.const(U32, i * source.bits)
                whole = self.or_(kind, whole, self.shift_left(kind, bits, amount))
        assert whole is not None
        return self.from_bits(target, whole)

    def _bits_below(self, access: Access) -> Value:
        """Bits of a word before the part that all lanes get at."""
        low = self.and_(U32, self.resize(U64, U32, access.address), self.const(U32, self.woven - 1))
        return self.shift_left(U32, low, self.const(U32, 3))

    def _put_into(self, access: Access, kind: Type, value: Value, word: Access, reach: Range) -> Value:
        """The word with a part that is another one."""
        unit, below = self._unit, self._bits_below(access)
        part = self.shift_left(unit, self.const(unit, (1 << kind.bits) - 1), below)
        others = self.and_(unit, self._load_word(word, reach), self.invert(unit, part))
        return self.or_(unit, others, self.shift_left(unit, self.resize(kind, unit, value), below))

    # -- lanes at places of their own ----------------------------------------------------------------

    def _woven_places(self, access: Access, offset: Value) -> Iterator[Places]:
        """Where each lane's words lie. `offset`: within the lane's memory, valid in all lanes that run."""
        word, below = offset, None
        if access.size < self.woven:
            below = LlvmIntegers.binary(self, "and", offset, self._by_all(self.woven - 1))
            word = LlvmIntegers.binary(self, "sub", offset, below)
        rows = LlvmIntegers.binary(self, "shl", word, self._by_all(5))
        lanes = self.constant_lanes(I64, [self.woven * lane for lane in range(WARP)])
        column, host = LlvmIntegers.binary(self, "add", rows, lanes), self.pointer(Value(WOVEN.host, I64))
        if below is not None:
            column = LlvmIntegers.binary(self, "add", column, below)
        for at in range(0, access.size * WARP, access.word * WARP):
            yield Value(self.builder.emit(f"getelementptr i8, ptr {host}, i64 {at}"), "ptr"), column

    def _by_all(self, number: int) -> Value:
        return self.widened(self.number(I64, number), WARP)

    def _at_own_places(self, access: Access, places: Places) -> Value:
        """The word at each lane's place: small ones out of the aligned word around them."""
        if access.word >= LEAST or self.goes_by_lane:
            return self.gather(places, self.mask, access.element, access.word)
        host, column = places
        below = LlvmIntegers.binary(self, "and", column, self._by_all(LEAST - 1))
        column = LlvmIntegers.binary(self, "sub", column, below)
        around = self.gather((host, column), self.mask, f"i{8 * LEAST}", LEAST)
        return self.out_of_words(around, below, access.element)

    # -- all lanes at the same place -----------------------------------------------------------------

    def _load_word(self, word: Access, reach: Range) -> Value:
        before, self.reach = self.reach, reach
        (found,) = self.load_planned(word)
        self.reach = before
        return found

    def _store_word(self, word: Access, reach: Range, value: Value) -> None:
        before, self.reach = self.reach, reach
        self.store_planned(word, (value,))
        self.reach = before

    def _woven_words(self, access: Access) -> list[tuple[Access, Range]]:
        """The words of an access, one after the other, or the one that it is in, with the bounds of their
        addresses."""
        first, known, words = self._first_place(access), self._is_proven(access), list[tuple[Access, Range]]()
        size = max(access.word, self.woven)
        element = access.element if access.word == size else f"i{8 * size}"
        for at in range(0, access.size * WARP, size * WARP):
            place = self.add(U64, first, self.const(U64, at)) if at else first
            lo, hi = 0, ANY - 1
            if known:
                lo, hi = (WARP * (bound & -size) + at for bound in (self.reach.lo, self.reach.hi))
                hi += size * (WARP - 1)
            word = replace(
                access, element=element, count=1, size=size, region=WOVEN, address=place, private=access
            )
            words.append((word, Range(lo, hi, size.bit_length() - 1)))
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
        if access.size < self.woven:
            address = self.and_(U64, address, self.const(U64, ANY - self.woven))
        rows = self.shift_left(U64, address, self.const(U64, WARP.bit_length() - 1))
        return self.add(U64, rows, self._lanes_woven(self.woven))

    def _lanes_woven(self, word: int) -> Value:
        """The number of each lane times the size of a word."""
        shape = self.shape_woven(word, constant(0))
        starts = self.constant_lanes(I64, [self.segment * word * row for row in range(self.block.segments)])
        return Lanes(starts.ir if starts.width > 1 else "0", I64, starts.width, shape)

    def shape_woven(self, word: int, address: Shape) -> Shape:
        """Of words in woven memory, at addresses of a shape that is that of one place."""
        return self.shapes.add(U64, address, self.shapes.mul(U64, self.block.lane, constant(word)))
