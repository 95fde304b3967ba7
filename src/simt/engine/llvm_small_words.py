"""Bytes and words of 2 bytes that lie few bytes apart, with AVX2: colours of pixels.

CPUs with AVX-512 look them up in registers (`simt.engine.llvm_steps`), AVX2 cannot. But where the distance is
that of larger integers, these are loaded, and the words are parts of them. At other distances each 16 bytes
that hold some of the words have them put in their places by `vpshufb`, which leaves zeros elsewhere: three of
them make 16 bytes of one colour. In the same way, columns of three or more words become structures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from simt.analysis.shape import WARP
from simt.engine.llvm_access import Access
from simt.engine.llvm_algebra import LlvmIntegers
from simt.engine.llvm_builder import Value, spell
from simt.engine.llvm_masked import SMALLEST as SMALLEST_BITS
from simt.engine.llvm_streams import StreamAlgebra

REGISTER_OF_AVX2 = 32
HALF_OF_IT = 16
"""Bytes, within which bytes change their places at once."""
SMALLEST = SMALLEST_BITS // 8
"""Bytes of words that AVX2 moves from register to register."""
WIDE = (2, 4, 8)
"""Bytes of integers."""
MOST = 8
"""Bytes from one small word to the next up to which they are put in their places by `vpshufb`."""
NONE = 128
"""In place of a byte's number: zero."""


class SmallWordAlgebra(StreamAlgebra):
    """`StreamAlgebra` with small words few bytes apart, for CPUs with AVX2."""

    def loads_small(self, stride: int, size: int) -> bool:
        """Whether lanes' words at such steps come out of registers."""
        return self._loads_wide(stride, size) or self._loads_bytes(stride, size)

    def _loads_wide(self, stride: int, size: int) -> bool:
        """Whether small words begin larger integers, which fill more than one register of a row."""
        return size < stride and stride in WIDE and self.segment * stride > REGISTER_OF_AVX2

    def _loads_bytes(self, stride: int, size: int) -> bool:
        """Whether small words are put in their places byte by byte: a row fills 16 bytes."""
        return size < stride <= MOST and stride % size == 0 and self.segment * size >= HALF_OF_IT

    def small_words(self, access: Access, stride: int, start: int) -> Callable[..., Value]:
        """What loads the words `start` bytes behind each lane's address, as lanes, by the addresses of the
        first lane, or of the first of each row."""
        by_parts = self._loads_wide(stride, access.word)
        kind = SmallWordAlgebra.begin_at if by_parts else SmallWordAlgebra.bytes_at
        return partial(kind, access=access, stride=stride, start=start)

    def _behind(self, pointer: Value, nbytes: int) -> Value:
        return Value(self.builder.emit(f"getelementptr i8, {pointer.typed}, i64 {nbytes}"), "ptr")

    def begin_at(self, *starts: Value, access: Access, stride: int, start: int) -> Value:
        """The words some bytes behind where integers as large as the step begin, as lanes. Nothing is loaded
        that lies behind the last word of a row: its last register holds what ends with words."""
        lanes, more = REGISTER_OF_AVX2 // stride, stride - access.size
        groups: list[str] = []
        for first in range(0, WARP, lanes):
            is_last = (first + lanes) % self.segment == 0
            place, before = first % self.segment * stride, start
            if is_last:
                place, before = place - more, start + more
            at = self._behind(starts[first * len(starts) // WARP], place)
            text = f"load {spell(f'i{8 * stride}', lanes)}, {at.typed}, align {access.word}"
            loaded = Value(self.builder.emit(text), f"i{8 * stride}", lanes)
            bits = self.widened(self.number(loaded.type, 8 * before), lanes)
            groups.append((LlvmIntegers.binary(self, "lshr", loaded, bits) if before else loaded).ir)
        whole = self._concatenate(f"i{8 * stride}", lanes, groups)
        words = self.cast("trunc", f"i{8 * access.word}", whole)
        return self._bits_as(words, access.element)

    def bytes_at(self, *starts: Value, access: Access, stride: int, start: int) -> Value:
        """Words out of all registers that lie between the first one and the last one of some lanes: half of
        a register of lanes each, both halves at once."""
        lanes = HALF_OF_IT // access.word
        span = (lanes - 1) * stride + access.size
        pieces = [*range(0, span - HALF_OF_IT, HALF_OF_IT), span - HALF_OF_IT]
        places = [start + lane * stride + byte for lane in range(lanes) for byte in range(access.word)]
        owners = [min(place // HALF_OF_IT, len(pieces) - 1) for place in places]
        found: list[str] = []
        for first in range(0, WARP, 2 * lanes):
            where = [
                self._behind(starts[lane * len(starts) // WARP], lane % self.segment * stride)
                for lane in (first, first + lanes)
            ]
            loaded = [self._two_halves([self._behind(w, piece) for w in where]) for piece in pieces]
            orders = [
                [place - piece if owner == n else NONE for place, owner in zip(places, owners, strict=True)]
                for n, piece in enumerate(pieces)
            ]
            found.append(self.put_in_places(loaded, orders).ir)
        whole = self._concatenate("i8", REGISTER_OF_AVX2, found)
        return self._bits_as(whole, access.element)

    def _two_halves(self, pointers: Sequence[Value]) -> Value:
        """A register of what lies at two places."""
        row = spell("i8", HALF_OF_IT)
        halves = [self.builder.emit(f"load {row}, {pointer.typed}, align 1") for pointer in pointers]
        return self._concatenate("i8", HALF_OF_IT, halves)

    def put_in_places(self, registers: Sequence[Value], orders: Sequence[Sequence[int]]) -> Value:
        """A register: each half of it has bytes of the same half of some registers, by their numbers there,
        `NONE` where it is another register's."""
        row = spell("i8", REGISTER_OF_AVX2)
        function = self.module.declare("llvm.x86.avx2.pshuf.b", row, (row, row))
        found: Value | None = None
        for register, order in zip(registers, orders, strict=True):
            if any(number != NONE for number in order):
                numbers = ", ".join(f"i8 {number - 256 * (number >= NONE)}" for number in [*order, *order])
                put = self.emit(
                    f"call {row} {function}({register.typed}, {row} <{numbers}>)", "i8", REGISTER_OF_AVX2
                )
                found = put if found is None else LlvmIntegers.binary(self, "or", found, put)
        assert found is not None
        return found

    def _bits_as(self, whole: Value, element: str) -> Value:
        """The bits of some vector as lanes."""
        if (whole.type, whole.width) == (element, WARP):
            return whole
        return self.emit(f"bitcast {whole.typed} to {spell(element, WARP)}", element, WARP)
