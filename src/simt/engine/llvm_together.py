"""Several words of each lane, 16 bytes, out of windows of shared memory.

Fragments of matrices (`float4` of a tile's row, two doubles), boxes, pixels: threads of a warp read few
places, many of them the same ones, by an index of which nothing is known. A load for each lane, whose words
are then told apart, takes a hundred operations. If all lanes that run are within 256 bytes from the first
lane's row on, four registers are loaded, and each lane looks its words up, in two of them if these are
enough.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from simt.analysis.shape import WARP
from simt.engine.llvm_access import I64, SHARED, Access
from simt.engine.llvm_algebra import LlvmIntegers
from simt.engine.llvm_builder import Value, spell
from simt.engine.llvm_near import NearAlgebra
from simt.engine.llvm_windows import LINE, LINES, POINTER, WINDOW, WORD, Loaded

ROW = 2 * LINE
"""Bytes by which a window is aligned: lanes that exchange places within a row of shared memory, so that its
banks are used alike, are within it whichever is the first."""
SIZE = 16
"""Bytes of a lane. Eight bytes are as well loaded for each lane: a window of a table is asked for in vain,
and doubles that were just stored one by one keep loads of whole registers waiting (small systems of equations
took 1.4 times as long on an AMD Zen 4)."""
SHIFT = SIZE.bit_length() - 1
LOOK_UPS = {"float": "ps", "i32": "d", "double": "pd", "i64": "q"}
"""How LLVM spells them."""


class TogetherAlgebra(NearAlgebra):
    """`NearAlgebra` with windows of shared memory for several words of each lane."""

    def may_be_together(self, access: Access) -> bool:
        """Whether it is worth looking."""
        able = self.has_windows and access.region is SHARED and not access.volatile
        return able and access.size == SIZE and access.count > 1

    def load_together(self, access: Access, otherwise: Callable[[], Loaded]) -> Loaded:
        """All words of each lane out of the window in which the first lane's are, or `otherwise()`."""
        self.has_looked = True
        address, room1 = self.vector(access.address), Value(access.region.room1, I64)
        start = self._scalar("and", self._first_lane(access.address, address), -ROW)
        starts = self.widened(start, WARP)
        near = partial(TogetherAlgebra.are_near, shift=SHIFT)
        found = self.apart("window.near", near, address, starts, start, room1, self.mask)
        pointer = Value(self._host(access, start), POINTER)
        look = partial(TogetherAlgebra.look_up_columns, element=access.element, word=access.word)

        def fast() -> Loaded:
            whole = self.apart("together.look", look, pointer, address, starts)
            return tuple(self.piece(whole, WARP * i, WARP) for i in range(access.count))

        return self._either(found.ir, fast, otherwise)

    def look_up_columns(
        self, pointer: Value, address: Value, starts: Value, element: str, word: int
    ) -> Value:
        """The first words of all lanes, the second ones, and so on. `pointer`: to the window."""
        count, per_line = SIZE // word, LINE // word
        index = self._as_words(self._places_of_window(address, starts, SHIFT))
        by = self.widened(self.number(index.type, count.bit_length() - 1), WARP)
        index = LlvmIntegers.binary(self, "shl", index, by)
        is_far = self._some_bits(index, WINDOW // word // 2)
        index = index if word == WORD else self.cast("zext", I64, index)
        lines = [self._part_of_window(pointer, i, element, per_line) for i in range(LINES)]

        def looked_up(pair: list[str]) -> list[Value]:
            return [self._looked_up_at(index, i, pair, element, per_line) for i in range(count)]

        def near() -> Loaded:
            return tuple(looked_up(lines[:2]))

        def both() -> Loaded:
            pairs = zip(looked_up(lines[:2]), looked_up(lines[2:]), strict=True)
            chosen = (f"select {is_far.typed}, {far.typed}, {close.typed}" for close, far in pairs)
            return tuple(self.emit(text, element, WARP) for text in chosen)

        some = self.builder.emit(f"icmp eq i32 {self.mask_bits(is_far).ir}, 0")
        return self.concatenated(list(self._either(some, near, both)))

    def _looked_up_at(
        self, index: Value, number: int, lines: list[str], element: str, per_line: int
    ) -> Value:
        """For each lane the word a number behind its index, modulo the words of two lines."""
        if number:
            behind = self.widened(self.number(index.type, number), WARP)
            index = LlvmIntegers.binary(self, "or", index, behind)
        vector, indices = spell(element, per_line), spell(index.type, per_line)
        name = f"llvm.x86.avx512.vpermi2var.{LOOK_UPS[element]}.512"
        name = self.module.declare(name, vector, (vector, indices, vector))
        found = list[str]()
        for first in range(0, WARP, per_line):
            given = f"{vector} {lines[0]}, {self.piece(index, first, per_line).typed}, {vector} {lines[1]}"
            found.append(self.builder.emit(f"call {vector} {name}({given})"))
        return self._concatenate(element, per_line, found)

    def _part_of_window(self, pointer: Value, number: int, element: str, per_line: int) -> str:
        place = self._beyond(pointer, number)
        return self.builder.emit(f"load {spell(element, per_line)}, ptr {place}, align {WORD}")
