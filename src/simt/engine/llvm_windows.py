"""Loads and stores of a warp whose lanes stay close together in shared memory, without gather and scatter.

A load takes four lines of memory, from that of the first lane on, and each lane looks its word up in
registers.

A store is possible where the way back is known, from a place to the lane that writes it: for lanes that write
*pairs*. Each lane has the first (or each the second) of two places that lie the same distance apart, and
lanes ascend. Butterflies and exchanges are such orders, every second place, and contiguous places (of pairs
32 words apart). Lanes are permuted, and lines written with a mask.

Both are tested at run time. A CTA's shared memory belongs to one thread, and some more lies behind it
(`simt.engine.blocks`), so a load may read words that no lane asked for.

All of it is functions of their own, which LLVM puts in place: what is emitted for kernels with many accesses
stays short.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

from simt.analysis.shape import WARP
from simt.engine.llvm_access import I64, Access
from simt.engine.llvm_algebra import LlvmIntegers
from simt.engine.llvm_builder import Value, mangled
from simt.engine.llvm_indices import IndexAlgebra
from simt.engine.llvm_lanes import Guarded, bases
from simt.records import dataclass

WORD = 4
LINE = 64
"""Bytes of a register, and of a line of the cache."""
LINES = 4
WINDOW = LINE * LINES
PER_LINE = LINE // WORD
PLACES = WINDOW // WORD
NEEDS = frozenset({"avx512bw", "bmi2"})
"""Look-ups of 32-bit words in two registers; bits put where a mask has its ones."""

ORDERS = 9
"""Of lanes, by the trailing zeros of the bytes from a pair's first to its second: those from 1 word (2 zeros)
to 32 (7) exist."""
CONTIGUOUS = 7
ROW = 144
"""Words of the table for lanes that have the firsts, or the seconds, in an order: where each lane is (bytes
from the first pair), which lane of its half of the warp each place has (and 16 for the pairs' other places),
in which word each lane is, the lanes' places, as 64 bits, and the bytes from a pair's first to its second."""
LANES_AT, WORDS_AT, PLACES_AT = WARP, WARP + PLACES, 2 * WARP + PLACES
GAP_AT = PLACES_AT + 2
ROW_BYTES = 4 * ROW
ROWS = f"[{ORDERS} x [2 x [{ROW} x i32]]]"

Loaded = tuple[Value, ...]
POINTER = "ptr"


@dataclass(frozen=True, slots=True)
class Order:
    """In which lanes may be. `pointer`: to the first pair. `first`: to the first lane's place. `row`: of the
    table, a pointer. `ok`: i1, whether they are."""

    pointer: Value
    first: Value
    row: Value
    ok: str


class WindowAlgebra(IndexAlgebra):
    """`IndexAlgebra` with windows of shared memory, for words of 4 bytes."""

    @property
    def has_windows(self) -> bool:
        """Whether the CPU can."""
        return self.features >= NEEDS

    def load_window(self, access: Access, otherwise: Callable[[], Loaded]) -> Loaded:
        """Words out of the window that begins with the first lane's line (which may not be the lowest lane),
        or `otherwise()` if the running lanes are not all within it."""
        self.has_looked = True
        address, room1 = self.vector(access.address), Value(access.region.room1, I64)
        start = self._scalar("and", self._first_lane(access.address, address), -LINE)
        starts = self._starts(access.address, address, start)
        near = self.apart("window.near", WindowAlgebra.are_near, address, starts, start, room1, self.mask)
        pointer = Value(self._host(access, start), POINTER)
        run = partial(WindowAlgebra.look_up, element=access.element)

        def fast() -> Loaded:
            return (self.apart("window.look", run, pointer, address, starts),)

        return self._either(near.ir, fast, otherwise)

    def _first_lane(self, value: Value, lanes: Value) -> Value:
        """The first lane: of a guarded value the base, which waits for no vector. Where the guard does not
        hold it may be another number, with which the lanes are then compared in vain."""
        if isinstance(value, Guarded):
            return self._parts(bases(value))[0]
        return Value(self.builder.emit(f"extractelement {lanes.typed}, i32 0"), lanes.type)

    def _starts(self, value: Value, lanes: Value, start: Value) -> Value:
        """The window's start for each lane, by the shortest way."""
        if isinstance(value, Guarded):
            return self.widened(start, WARP)
        picks = f"<{WARP} x i32> zeroinitializer"
        first = self.emit(f"shufflevector {lanes.typed}, {lanes.spelled} poison, {picks}", lanes.type, WARP)
        return LlvmIntegers.binary(self, "and", first, self.widened(Value(str(-LINE), lanes.type), WARP))

    def store_window(self, access: Access, value: Value, otherwise: Callable[[], Loaded]) -> Loaded:
        """Stores words to firsts of pairs, or does `otherwise()`."""
        self.has_looked = True
        order, data = self._order(access), self.vector(value)

        def fast() -> Loaded:
            run = WindowAlgebra.store_in_order
            self.apart("window.store", run, order.pointer, order.first, order.row, data, self.mask)
            return ()

        return self._either(order.ok, fast, otherwise)

    def _order(self, access: Access) -> Order:
        """`ok`: all lanes, running or not, are in the order, and at places of the region. (If those that do
        not run did not count, the outer lanes would not tell where the others are.)"""
        address = self.vector(access.address)
        first, last = self._first_lane(access.address, address), self._last(address)
        gap = self.apart("window.gap", WindowAlgebra.gap_of_pairs, first, last)
        base = self.apart("window.base", WindowAlgebra.first_pair, first, gap)
        row = self.apart("window.row", WindowAlgebra.row_of, first, gap)
        ordered = self.apart("window.order", WindowAlgebra.are_ordered, address, base, row)
        ok = self.both(ordered.ir, self._is_inside(access, first, last))
        return Order(
            Value(self._host(access, base), POINTER), Value(self._host(access, first), POINTER), row, ok
        )

    def _is_inside(self, access: Access, first: Value, last: Value) -> str:
        """i1: everything from the first lane to the last is right."""
        if self._is_proven(access):
            return "true"
        ascending = self.builder.emit(f"icmp ule {first.typed}, {last.ir}")
        return self.both(ascending, self._valid(access, last, access.size).ir)

    # -- loads ---------------------------------------------------------------------------------------

    def are_near(
        self, address: Value, starts: Value, start: Value, room1: Value, mask: Value, shift: int = 2
    ) -> Value:
        """i1: every running lane has an aligned place of `1 << shift` bytes within the window, and within the
        memory."""
        limit = self._widened_number(start)
        limit = self._least("usub.sat", self._scalar("sub", room1, 1), limit)
        limit = self._least("umin", self._scalar("lshr", limit, shift), Value(str(WINDOW >> shift), I64))
        places = self._places_of_window(address, starts, shift)
        bound = self.widened(self._narrowed(limit, address.type), WARP)
        outside = LlvmIntegers.binary(self, "and", mask, self.test("icmp uge", places, bound))
        none = self.builder.emit(f"icmp eq i32 {self.mask_bits(outside).ir}, 0")
        exists = self.builder.emit(f"icmp ne {limit.typed}, 0")  # there may be no running lane
        return Value(self.both(none, exists), "i1")

    def _words_of_window(self, address: Value, starts: Value) -> Value:
        return self._places_of_window(address, starts, 2)

    def _places_of_window(self, address: Value, starts: Value, shift: int) -> Value:
        """Each lane's number of places of `1 << shift` bytes from the window's start on; if it is not a whole
        one, a huge number."""
        places = LlvmIntegers.binary(self, "sub", address, starts)
        name = self.module.declare(
            f"llvm.fshr.{mangled(places.type, WARP)}", places.spelled, (places.spelled,) * 3
        )
        by = self.widened(Value(str(shift), places.type), WARP)
        return self.emit(
            f"call {places.spelled} {name}({places.typed}, {places.typed}, {by.typed})", places.type, WARP
        )

    def look_up(self, pointer: Value, address: Value, starts: Value, element: str) -> Value:
        """The words of all lanes. `pointer`: to the window. `starts`: its address, for each lane."""
        words = self._as_words(self._words_of_window(address, starts))
        lines = [self._line(pointer, i, element) for i in range(LINES)]
        near, far = (self._looked_up(element, pair, words) for pair in (lines[:2], lines[2:]))
        is_far = self._some_bits(words, PLACES // 2)
        return self.emit(f"select {is_far.typed}, {far.typed}, {near.typed}", element, WARP)

    def _looked_up(self, element: str, lines: list[str], index: Value) -> Value:
        """For each lane the word of an index, modulo the words of two lines."""
        halves = [self._lookup(kind(element), element, lines, self._half(index, i)) for i in (0, 1)]
        return self._concatenate(element, PER_LINE, halves)

    # -- stores --------------------------------------------------------------------------------------

    def gap_of_pairs(self, first: Value, last: Value) -> Value:
        """Bytes from a pair's first to its second, if the outer lanes are here."""
        span = self.builder.emit(f"sub {last.typed}, {first.ir}")
        return Value(self.builder.emit(f"sub {last.type} {WINDOW - WORD}, {span}"), last.type)

    def first_pair(self, first: Value, gap: Value) -> Value:
        """Where the pairs begin. Which lanes have firsts, and which seconds, is a matter of taste: with this
        one both are in the same lines of memory, where pairs begin with a line."""
        others = self._scalar("xor", gap, -1)
        return Value(self.builder.emit(f"and {first.typed}, {others.ir}"), first.type)

    def row_of(self, first: Value, gap: Value) -> Value:
        """The table's row of the only order in which lanes can be."""
        some = self._scalar("or", self._as_words(gap), 1 << ORDERS - 1)
        zeros = self.module.declare("llvm.cttz.i32", "i32", ("i32", "i1"))
        order = self.builder.emit(f"call i32 {zeros}({some.typed}, i1 true)")
        second = self.builder.emit(f"lshr {self._as_words(first).typed}, {order}")
        second = self.builder.emit(f"and i32 {second}, 1")
        return self._row(f"i32 {order}", f"i32 {second}")

    def _row(self, order: str, second: str) -> Value:
        place = f"getelementptr {ROWS}, ptr {self.orders()}, i32 0, {order}, {second}"
        return Value(self.builder.emit(place), POINTER)

    def orders(self) -> str:
        """The table."""
        return self.module.constant("simt.orders", f"private constant {ROWS} {_table()}, align {LINE}")

    def are_ordered(self, address: Value, base: Value, row: Value) -> Value:
        """i1: all lanes are in the order of the row."""
        offsets = self.emit(f"load <{WARP} x i32>, {row.typed}, align {LINE}", "i32", WARP)
        if address.type == I64:
            offsets = self.cast("zext", I64, offsets)
        expected = LlvmIntegers.binary(self, "add", offsets, self.widened(base, WARP))
        return Value(self._all(self.test("icmp eq", address, expected)), "i1")

    def store_in_order(self, pointer: Value, first: Value, row: Value, data: Value, mask: Value) -> None:
        """Stores the running lanes' words, by lanes in the order of a row. `pointer`: to the first pair,
        `first`: to the first lane's place."""
        self._if_contiguous(row)
        self.store_pairs(pointer, row, data, mask)
        self.builder.void("ret void")
        self.builder.label("contiguous")
        self._store_some(data, first.ir, mask)

    def store_pairs(self, pointer: Value, row: Value, data: Value, mask: Value) -> None:
        """The same, if they are not contiguous: a half of the warp has its places in two lines."""
        running = self._running_places(row, mask)
        for i in range(LINES):
            words = self._permuted(data, i * PER_LINE // WARP, self._lanes_of_line(row, i))
            self._store_some(words, self._beyond(pointer, i), self._line_of(running, i))

    def _line_of(self, places: Value, number: int) -> Value:
        """A mask for one line, of 64 bits for all of them."""
        some = self._scalar("lshr", places, PER_LINE * number).ir
        some = self.builder.emit(f"trunc i64 {some} to i{PER_LINE}")
        return self.emit(f"bitcast i{PER_LINE} {some} to <{PER_LINE} x i1>", "i1", PER_LINE)

    def _if_contiguous(self, row: Value) -> None:
        contiguous = self._row(f"i32 {CONTIGUOUS}", "i32 0")
        found = self.builder.emit(f"icmp uge {row.typed}, {contiguous.ir}")
        self.builder.void(f"br i1 {found}, label %contiguous, label %apart")
        self.builder.label("apart")

    def _store_some(self, data: Value, pointer: str, mask: Value) -> None:
        name = f"llvm.masked.store.{mangled(data.type, data.width)}.p0"
        store = self.module.declare(name, "void", (data.spelled, POINTER, "i32", mask.spelled))
        self.builder.void(f"call void {store}({data.typed}, ptr {pointer}, i32 {WORD}, {mask.typed})")

    def _lanes_of_line(self, row: Value, line: int) -> Value:
        """Which lane of its half of the warp each place of a line has."""
        place = self.builder.emit(f"getelementptr i32, {row.typed}, i64 {LANES_AT + PER_LINE * line}")
        return self.emit(f"load <{PER_LINE} x i32>, ptr {place}, align {LINE}", "i32", PER_LINE)

    def _permuted(self, data: Value, half: int, lanes: Value) -> Value:
        kind, vector = "sf" if data.type == "float" else "si", f"<{PER_LINE} x {data.type}>"
        name = self.module.declare(f"llvm.x86.avx512.permvar.{kind}.512", vector, (vector, lanes.spelled))
        some = self._half(data, half)
        return self.emit(f"call {vector} {name}({vector} {some}, {lanes.typed})", data.type, PER_LINE)

    def _running_places(self, row: Value, mask: Value, others: bool = False) -> Value:
        """i64: a bit for each place of the window that a running lane writes; for those of the pairs' other
        places, if it writes these."""
        place = self.builder.emit(f"getelementptr i32, {row.typed}, i64 {PLACES_AT}")
        places = self.builder.emit(f"load i64, ptr {place}, align 8")
        places = self.builder.emit(f"xor i64 {places}, -1") if others else places
        deposit = self.module.declare("llvm.x86.bmi.pdep.64", I64, (I64, I64))
        lanes = self.builder.emit(f"zext i32 {self.mask_bits(mask).ir} to i64")
        return Value(self.builder.emit(f"call i64 {deposit}(i64 {lanes}, i64 {places})"), I64)

    # -- pieces --------------------------------------------------------------------------------------

    def _last(self, lanes: Value) -> Value:
        return Value(self.builder.emit(f"extractelement {lanes.typed}, i32 {WARP - 1}"), lanes.type)

    def _least(self, intrinsic: str, a: Value, b: Value) -> Value:
        name = self.module.declare(f"llvm.{intrinsic}.i64", I64, (I64, I64))
        return Value(self.builder.emit(f"call i64 {name}({a.typed}, {b.typed})"), I64)

    def _scalar(self, opcode: str, a: Value, b: int | Value) -> Value:
        other = b.ir if isinstance(b, Value) else b
        return Value(self.builder.emit(f"{opcode} {a.typed}, {other}"), a.type)

    def _some_bits(self, value: Value, bits: int) -> Value:
        """i1 for each lane: it has one of some bits."""
        found = LlvmIntegers.binary(self, "and", value, self.widened(Value(str(bits), value.type), WARP))
        return self.test("icmp ne", found, self.widened(Value("0", value.type), WARP))

    def _as_words(self, value: Value) -> Value:
        return value if value.type == "i32" else self.cast("trunc", "i32", value)

    def _narrowed(self, number: Value, element: str) -> Value:
        """An i64 as an address of a type."""
        if element == I64:
            return number
        return Value(self.builder.emit(f"trunc {number.typed} to {element}"), element)

    def _line(self, pointer: Value, number: int, element: str) -> str:
        return self.builder.emit(
            f"load <{PER_LINE} x {element}>, ptr {self._beyond(pointer, number)}, align {WORD}"
        )

    def _widened_number(self, number: Value) -> Value:
        """An unsigned address as i64."""
        if number.type == I64:
            return number
        return Value(self.builder.emit(f"zext {number.typed} to i64"), I64)

    def _beyond(self, pointer: Value, lines: int) -> str:
        if lines == 0:
            return pointer.ir
        return self.builder.emit(f"getelementptr i8, {pointer.typed}, i64 {LINE * lines}")


def kind(element: str) -> str:
    """How the look-up's name spells the element."""
    return "ps" if element == "float" else "d"


@cache
def _table() -> str:
    """The rows of all orders, as LLVM writes them."""
    row, pair = f"[{ROW} x i32]", f"[2 x [{ROW} x i32]]"
    rows = [
        [", ".join(f"i32 {n}" for n in _row(order, second)) for second in (0, 1)] for order in range(ORDERS)
    ]
    return "[" + ", ".join(f"{pair} [{row} [{a}], {row} [{b}]]" for a, b in rows) + "]"


def _row(order: int, second: int) -> list[int]:
    if not 2 <= order <= CONTIGUOUS:
        # The outer lanes would be at one place, but then the order were another.
        return [1] * GAP_AT + [0] * (ROW - GAP_AT)
    gap = (1 << order) // WORD
    places = [first + second * gap for first in firsts(gap)]
    lanes = [(place // 2 // gap * gap + place % gap) % (WARP // 2) for place in range(PLACES)]
    lanes = [lane + WARP // 2 * (place not in places) for place, lane in enumerate(lanes)]
    bits = sum(1 << place for place in places)
    row = [WORD * place for place in places] + lanes + places
    row += [bits % 2**32, bits >> 32 & 0xFFFFFFFF, WORD * gap]
    return row + [0] * (ROW - len(row))


def firsts(gap: int) -> list[int]:
    """The words of the first lanes of pairs which some words part."""
    return [2 * lane - lane % gap for lane in range(WARP)]
