"""Words at addresses of which nothing is known. Several of one lane are got together, and told apart after.

CPUs gather 4 or 8 bytes a lane, and take as long for each lane whatever it is. What has 16 bytes is loaded
lane by lane.
"""

from __future__ import annotations

from functools import partial

from simt.analysis.shape import WARP
from simt.engine import llvm_fours
from simt.engine.llvm_access import I64, LOCAL, Access
from simt.engine.llvm_algebra import LlvmIntegers
from simt.engine.llvm_builder import Value, spell
from simt.engine.llvm_indices import LEAST
from simt.engine.llvm_lanes import Index
from simt.engine.llvm_masked import Places
from simt.engine.llvm_steps import StepsAlgebra

REGISTER = 16
"""Bytes that every CPU loads at once."""


class GatherAlgebra(StepsAlgebra):
    """`StepsAlgebra` with gathers. `offset`: of each lane within the region, valid in all lanes that run."""

    def gather_all(self, access: Access, offset: Value) -> tuple[Value, ...]:
        """All words of each lane."""
        if access.size == REGISTER and access.count > 1:
            return self._load_registers(access, offset)
        if access.count > 1 and (access.size in (4, 8) or (access.size < LEAST and self.goes_by_lane)):
            whole = self._gather_words(access, offset, 0, access.size, f"i{8 * access.size}")
            return self._words_of(access, whole)
        if access.size < LEAST and not self.goes_by_lane:
            return self._words_of(access, self._gather_part(access, offset))
        numbers = range(access.count)
        return tuple(self._gather_words(access, offset, i * access.word, access.word) for i in numbers)

    def gather_elements(self, access: Access, index: Index) -> tuple[Value, ...]:
        """The word of each lane, by its index; more than a small one is gathered."""
        element = access.element if access.size >= LEAST else f"i{8 * LEAST}"
        whole = self.gather(self._indexed(index), self.mask, element, access.word, 1 << index.shift)
        if access.size >= LEAST:
            return (whole,)
        return self._words_of(access, self.cast("trunc", f"i{8 * access.size}", whole))

    def scatter_elements(self, access: Access, index: Index, data: Value) -> None:
        """The reverse; higher lanes win."""
        self.scatter(self._indexed(index), self.mask, data, access.word, 1 << index.shift)

    def _indexed(self, index: Index) -> Places:
        assert index.start is not None
        return Value(self.pointer(index.start), "ptr"), index.column

    def _gather_words(
        self, access: Access, offset: Value, shift: int, word: int, element: str | None = None
    ) -> Value:
        places = self._places_at(access, offset, shift)
        return self.gather(places, self.mask, element or access.element, word)

    def _gather_part(self, access: Access, offset: Value) -> Value:
        """8 and 16 bits out of the aligned word around them: CPUs gather no less."""
        low = LlvmIntegers.binary(self, "and", offset, self.widened(Value("3", offset.type), WARP))
        words = self._gather_words(access, LlvmIntegers.binary(self, "sub", offset, low), 0, 4, "i32")
        return self.out_of_words(words, low, f"i{8 * access.size}")

    def out_of_words(self, words: Value, low: Value, element: str) -> Value:
        """What lies some bytes (`low`) into each lane's word of 32 bits."""
        shift = LlvmIntegers.binary(self, "shl", low, self.widened(Value("3", low.type), WARP))
        moved = LlvmIntegers.binary(self, "lshr", words, self.cast("trunc", "i32", shift))
        return self.cast("trunc", element, moved)

    def _words_of(self, access: Access, whole: Value) -> tuple[Value, ...]:
        """The words of which each lane has all in one integer."""
        if access.word >= 4:
            words = spell(access.element, WARP * access.count)
            text = f"bitcast {whole.typed} to {words}"
            column = self.emit(text, access.element, WARP * access.count)
            return tuple(self._every(column, access.count, i) for i in range(access.count))
        found: list[Value] = []
        for i in range(access.count):
            amount = self.widened(self.number(whole.type, 8 * access.word * i), WARP)
            moved = LlvmIntegers.binary(self, "lshr", whole, amount) if i else whole
            part = self.cast("trunc", f"i{8 * access.word}", moved) if access.count > 1 else moved
            if part.type != access.element:
                part = self.emit(
                    f"bitcast {part.typed} to {spell(access.element, WARP)}", access.element, WARP
                )
            found.append(part)
        return tuple(found)

    def _load_registers(self, access: Access, offset: Value) -> tuple[Value, ...]:
        """One register after the other, the words of four lanes together, and every second word of those."""
        if not self.mask_is_full:  # lanes that do not run load from where the region begins
            offset = self.pick(self.mask, offset, self.widened(self.number(offset.type, 0), WARP))
        pointers = Value(self._pointers(access, offset, 0), "ptr", WARP)
        run = partial(GatherAlgebra.registers_at, element=access.element, count=access.count)
        whole = self.apart("registers", run, pointers)
        return tuple(self.piece(whole, WARP * i, WARP) for i in range(access.count))

    def registers_at(self, pointers: Value, element: str, count: int) -> Value:
        """The first words at each of 32 pointers, the second ones, and so on."""
        places = [self.builder.emit(f"extractelement {pointers.typed}, i32 {lane}") for lane in range(WARP)]
        return self.columns_at(places, element, count)

    def columns_at(self, places: list[str], element: str, count: int, align: int = REGISTER) -> Value:
        """`registers_at` of pointers one by one."""
        vector = spell(element, count)
        loaded = [self.builder.emit(f"load {vector}, ptr {place}, align {align}") for place in places]
        if count == llvm_fours.FOUR and llvm_fours.fit(self.features, element, count * WARP):
            whole = self._concatenate(element, count, loaded)
            return self.concatenated(list(self.columns_of(whole, count)))
        pieces = [self._concatenate(element, count, loaded[i : i + 4]) for i in range(0, WARP, 4)]
        columns = self._halves(pieces)
        if count == 4:
            even, odd = (self._halves(column) for column in columns)
            columns = (even[0], odd[0], even[1], odd[1])
        parts = [part.ir for column in columns for part in column]
        return self._concatenate(element, pieces[0].width, parts)

    def _places_at(self, access: Access, offset: Value, shift: int) -> Places:
        """The places of lanes, `shift` bytes behind their offsets."""
        if access.region is LOCAL and not self.goes_by_lane:
            return (Value(self._pointers(access, offset, shift), "ptr", WARP),)
        host = self.pointer(Value(access.region.host, I64))
        host = self.builder.emit(f"getelementptr i8, ptr {host}, i64 {shift}") if shift else host
        if access.region is LOCAL:
            host, offset = self._in_lanes(host, offset)
        return Value(host, "ptr"), offset

    def _pointers(self, access: Access, offset: Value, shift: int) -> str:
        host = self.pointer(Value(access.region.host, I64))
        if shift:
            host = self.builder.emit(f"getelementptr i8, ptr {host}, i64 {shift}")
        if access.region is LOCAL:
            host, offset = self._in_lanes(host, offset)
        return self.builder.emit(f"getelementptr i8, ptr {host}, {offset.typed}")

    def _in_lanes(self, host: str, offset: Value) -> tuple[str, Value]:
        """A pointer into the first lane's local memory, and how far from it each lane's place is."""
        steps = self.constant_lanes(I64, list(range(WARP)))
        lanes = LlvmIntegers.binary(self, "mul", self.widened(Value("%local.bytes", I64), WARP), steps)
        if offset.width == 1:
            return self.builder.emit(f"getelementptr i8, ptr {host}, {offset.typed}"), lanes
        return host, LlvmIntegers.binary(self, "add", offset, lanes)
