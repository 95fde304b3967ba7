"""Lanes in an order of pairs (`simt.engine.llvm_windows`), by registers of 8 words as AVX2 has them.

Eight lanes have pairs in 16 words: side by side, or two times eight where a pair's words are 8 apart or more.
So they load two registers and store two, of which a table of lanes tells what is where. What no running lane
stores is stored again as it was: it is shared memory, which belongs to one thread.
"""

from __future__ import annotations

from collections.abc import Iterator

from simt.analysis.shape import WARP
from simt.engine.llvm_builder import Value
from simt.engine.llvm_windows import GAP_AT, LANES_AT, WORD, WindowAlgebra, kind

NEEDS = "avx2"
SHORT = 8
"""Words of a register."""
OTHERS = 16
"""The bit of the table's lanes that is set where a place is a pair's other one."""


class ShortPairAlgebra(WindowAlgebra):
    """`WindowAlgebra` with orders of pairs by short registers. `row`: of the table of orders. `pointer`: to
    the first pair."""

    @property
    def has_short_pairs(self) -> bool:
        return NEEDS in self.features and not self.has_windows

    def load_short_pairs(self, pointer: Value, row: Value, element: str) -> Value:
        """The words of all lanes."""
        offsets = self._numbers(row, 0, SHORT)
        first = self._scalar_of(row, 0)
        places = self.emit(f"sub {offsets.typed}, {self._all_of(first)}", "i32", SHORT)
        places = self.emit(f"lshr {places.typed}, splat (i32 {WORD.bit_length() - 1})", "i32", SHORT)
        is_upper = self._has_bit(places, SHORT)
        found = list[Value]()
        for group in range(WARP // SHORT):
            start = self._behind_by(pointer, self._scalar_of(row, group * SHORT))
            lower = self._looked(self._words(start, element), places)
            upper = self._looked(self._words(self._behind_by(start, SHORT * WORD), element), places)
            found.append(self._chosen(is_upper, upper, lower))
        return self.join(found, WARP)

    def exchange_short(
        self, pointer: Value, row: Value, one: Value, other: Value, mask: Value | None = None
    ) -> None:
        """Stores two words of each running lane: `one` in the order of the row, `other` at the pairs' other
        places."""
        pairs = list(zip(self.cut(one, SHORT), self.cut(other, SHORT), strict=True))
        running = None if mask is None else self.cut(self.cast("sext", "i32", mask), SHORT)
        for group, place, lanes in self._registers(pointer, row):
            a, b = (self._looked(column, lanes) for column in pairs[group])
            words = self._chosen(self._has_bit(lanes, OTHERS), b, a)
            if running is not None:
                words = self._where(self._looked(running[group], lanes), words, place)
            self.builder.void(f"store {words.typed}, {place.typed}, align {WORD}")

    def store_short_pairs(self, pointer: Value, row: Value, data: Value, mask: Value) -> None:
        """Stores a word of each running lane, in the order of the row."""
        columns, running = self.cut(data, SHORT), self.cut(self.cast("sext", "i32", mask), SHORT)
        for group, place, lanes in self._registers(pointer, row):
            own = self.emit(f"icmp ult {lanes.typed}, splat (i32 {OTHERS})", "i1", SHORT)
            runs = self._chosen(
                own, self._looked(running[group], lanes), Value("zeroinitializer", "i32", SHORT)
            )
            words = self._where(runs, self._looked(columns[group], lanes), place)
            self.builder.void(f"store {words.typed}, {place.typed}, align {WORD}")

    def _registers(self, pointer: Value, row: Value) -> Iterator[tuple[int, Value, Value]]:
        """Of every eight lanes the two registers that hold their pairs: which lanes these are, a pointer, and
        which of the lanes each word belongs to."""
        gap, least = self._scalar_of(row, GAP_AT), SHORT * WORD
        umax = self.module.declare("llvm.umax.i32", "i32", ("i32", "i32"))
        apart = Value(self.builder.emit(f"call i32 {umax}({gap.typed}, i32 {least})"), "i32")
        first = self._scalar_of(row, 0)
        lower, upper = (
            self._numbers(row, LANES_AT, SHORT),
            self._numbers(self._behind_by(row, apart), LANES_AT, SHORT),
        )
        for group in range(WARP // SHORT):
            start = self._scalar("sub", self._scalar_of(row, group * SHORT), first)
            place = self._behind_by(pointer, start)
            yield group, place, lower
            yield group, self._behind_by(place, apart), upper

    def _numbers(self, row: Value, at: int, count: int) -> Value:
        place = self._behind_by(row, WORD * at)
        return self.emit(f"load <{count} x i32>, {place.typed}, align {WORD}", "i32", count)

    def _scalar_of(self, row: Value, at: int) -> Value:
        place = self._behind_by(row, WORD * at)
        return Value(self.builder.emit(f"load i32, {place.typed}, align {WORD}"), "i32")

    def _behind_by(self, pointer: Value, nbytes: int | Value) -> Value:
        step = nbytes.typed if isinstance(nbytes, Value) else f"i64 {nbytes}"
        return Value(self.builder.emit(f"getelementptr i8, {pointer.typed}, {step}"), "ptr")

    def _words(self, place: Value, element: str) -> Value:
        return self.emit(f"load <{SHORT} x {element}>, {place.typed}, align {WORD}", element, SHORT)

    def _all_of(self, number: Value) -> str:
        column = f"<{SHORT} x {number.type}>"
        one = self.builder.emit(f"insertelement {column} poison, {number.typed}, i64 0")
        return self.builder.emit(
            f"shufflevector {column} {one}, {column} poison, <{SHORT} x i32> zeroinitializer"
        )

    def _looked(self, register: Value, lanes: Value) -> Value:
        """The words of a register that the lowest bits of `lanes` name."""
        spelled = register.spelled
        name = self.module.declare(
            f"llvm.x86.avx2.perm{kind(register.type)}", spelled, (spelled, lanes.spelled)
        )
        return self.emit(f"call {spelled} {name}({register.typed}, {lanes.typed})", register.type, SHORT)

    def _has_bit(self, numbers: Value, bit: int) -> Value:
        """As a sign, by which the CPU chooses."""
        sign = self.builder.emit(f"shl {numbers.typed}, splat (i32 {32 - bit.bit_length()})")
        return self.emit(f"icmp slt {numbers.spelled} {sign}, zeroinitializer", "i1", SHORT)

    def _chosen(self, which: Value, a: Value, b: Value) -> Value:
        return self.emit(f"select {which.typed}, {a.typed}, {b.typed}", a.type, SHORT)

    def _where(self, running: Value, words: Value, place: Value) -> Value:
        """The words of those that run, and what the others have in memory."""
        is_running = self.emit(f"icmp slt {running.typed}, zeroinitializer", "i1", SHORT)
        # LLVM would make a store by a mask of it, were the load not volatile.
        text = f"load volatile {words.spelled}, {place.typed}, align {WORD}"
        return self._chosen(is_running, words, self.emit(text, words.type, SHORT))
