"""Accesses to shared memory by lanes whose pattern says in which order of pairs they are.

Nothing is asked of the lanes themselves, as windows do (`simt.engine.llvm_windows`). Five bits of the mask
that cut the lanes' index tell the order, and so which registers they load from and store to. Two stores, one
after the other, to the firsts and to the seconds of the same pairs are one: an exchange.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

from simt.analysis.shape import WARP
from simt.engine.llvm_access import SHARED, Access
from simt.engine.llvm_branches import LIKELY
from simt.engine.llvm_builder import Value
from simt.engine.llvm_lanes import Guarded, bases, shape_of
from simt.engine.llvm_pattern_algebra import pattern_of
from simt.engine.llvm_patterns import Pattern
from simt.engine.llvm_short_pairs import ShortPairAlgebra
from simt.engine.llvm_windows import (
    CONTIGUOUS,
    GAP_AT,
    LINE,
    LINES,
    PER_LINE,
    POINTER,
    ROW_BYTES,
    WINDOW,
    WORD,
    WORDS_AT,
    Loaded,
    WindowAlgebra,
    firsts,
    kind,
)
from simt.records import dataclass, replace


@dataclass(frozen=True, slots=True)
class KnownOrder:
    """In which lanes are. `pointer`: to the first pair. `gap`: bytes from a pair's first to its second.
    `row`: of the table, a pointer. `ok`: i1, whether they are in it, and all is right up to the last pair."""

    pointer: Value
    gap: Value
    row: Value
    ok: str


class ExchangeAlgebra(ShortPairAlgebra):
    """`ShortPairAlgebra` that asks patterns first."""

    def load_window(self, access: Access, otherwise: Callable[[], Loaded]) -> Loaded:
        order = self._known_order(access, self._is_proven(access))
        tested = partial(super().load_window, access, otherwise) if self.has_windows else otherwise
        if order is None:
            return tested()
        kind_of_load = (
            ExchangeAlgebra.load_short_pairs if self.has_short_pairs else ExchangeAlgebra.load_pairs
        )
        run = partial(kind_of_load, element=access.element)
        pairs = lambda: (self.apart("pairs.load", run, order.pointer, order.row),)  # noqa: E731
        return self._either(order.ok, pairs, tested, likely=True)

    def store_window(self, access: Access, value: Value, otherwise: Callable[[], Loaded]) -> Loaded:
        order, data = self._known_order(access, self._is_proven(access)), self.vector(value)
        tested = partial(super().store_window, access, data, otherwise) if self.has_windows else otherwise
        if order is None:
            return tested()
        run = ExchangeAlgebra.store_short_pairs if self.has_short_pairs else WindowAlgebra.store_pairs

        def pairs() -> Loaded:
            self.apart("pairs.store", run, order.pointer, order.row, data, self.mask)
            return ()

        return self._either(order.ok, pairs, tested, likely=True)

    def looks_up(self, access: Access) -> bool:
        """Whether words of shared memory are looked up in registers: at any place where the CPU has windows,
        else where a pattern tells the lanes' order."""
        return self.has_windows or self.has_order(access)

    def has_order(self, access: Access) -> bool:
        """Whether lanes may be in an order that their pattern tells, and code can make use of it."""
        words = (access.region, access.size, access.count, access.volatile) == (SHARED, WORD, 1, False)
        return (self.has_windows or self.has_short_pairs) and words and any(_orders(self._pattern(access)))

    # -- exchanges -----------------------------------------------------------------------------------

    def may_exchange(self, one: Access, other: Access) -> bool:
        """Whether two stores may be to the firsts and the seconds of the same pairs."""
        a, b = self._pattern(one), self._pattern(other)
        alike = a is not None and b is not None and a.alike(b) and one.element == other.element
        return alike and self.has_order(one) and self.has_order(other)

    def store_exchange(
        self,
        accesses: tuple[Access, Access],
        values: tuple[Value, Value],
        proven: bool,
        separately: Callable[[], None],
    ) -> None:
        """Two stores, which `may_exchange`; `separately()`: the same one after the other. `proven`: both
        addresses are."""
        one = accesses[0].address
        apart, together, end = (self.builder.block_name(h) for h in ("apart", "together", "end"))
        if isinstance(one, Guarded) and one.valid != "false":  # contiguous
            look = self.builder.block_name("look")
            self.builder.void(f"br i1 {one.valid}, label %{apart}, label %{look}")
            self.builder.label(look)
        order = self._same_pairs(accesses, proven)
        self.builder.void(f"br i1 {order.ok}, label %{together}, label %{apart}{LIKELY}")
        self.builder.label(together)
        mask = () if self.mask_is_full else (self.mask,)
        data = [self.vector(value) for value in values]
        run = ExchangeAlgebra.exchange_short if self.has_short_pairs else ExchangeAlgebra.exchange
        self.apart("pairs.exchange", run, order.pointer, order.row, *data, *mask)
        self.builder.void(f"br label %{end}")
        self.builder.label(apart)
        separately()
        self.builder.void(f"br label %{end}")
        self.builder.label(end)

    def _same_pairs(self, accesses: tuple[Access, Access], proven: bool) -> KnownOrder:
        """The order of the first of two accesses, which `may_exchange`. `ok`: the second has the other places
        of the same pairs."""
        one, other = (self._pattern(access) for access in accesses)
        order = self._known_order(accesses[0], proven)
        assert order is not None
        assert one is not None
        assert other is not None
        between = self._scalar("xor", one.base, other.base)
        ok = self.both(order.ok, self.builder.emit(f"icmp eq {between.typed}, {order.gap.ir}"))
        if one.mask is not None and other.mask is not None and one.mask != other.mask:
            ok = self.both(ok, self.builder.emit(f"icmp eq {one.mask.typed}, {other.mask.ir}"))
        return replace(order, ok=ok)

    def exchange(
        self, pointer: Value, row: Value, one: Value, other: Value, mask: Value | None = None
    ) -> None:
        """Stores two words of each running lane: `one` in the order of a row, `other` at the pairs' other
        places. `pointer`: to the first pair."""
        running = None if mask is None else self._running_places(row, mask)
        if running is not None and mask is not None:
            running = self.binary("or", running, self._running_places(row, mask, others=True))
        for i in range(LINES):
            half = i * PER_LINE // WARP
            lanes = self._lanes_of_line(row, i).ir
            halves = [self._half(data, half) for data in (one, other)]
            words = Value(self._lookup(kind(one.type), one.type, halves, lanes), one.type, PER_LINE)
            where = self._beyond(pointer, i)
            if running is None:
                self.builder.void(f"store {words.typed}, ptr {where}, align {WORD}")
            else:
                self._store_some(words, where, self._line_of(running, i))

    # -- known orders --------------------------------------------------------------------------------

    def _pattern(self, access: Access) -> Pattern | None:
        """The pattern of lanes' addresses. A step of two words is one whose mask leaves nothing."""
        address = access.address
        shape = shape_of(address)
        steps = self.segment == WARP and shape.is_affine and shape.width == 1 and shape.stride == 2 * WORD
        if steps and address.type == "i32":
            return Pattern(bases(address), shape.stride, mask=Value("0", "i32"))
        return pattern_of(address)

    def _known_order(self, access: Access, proven: bool) -> KnownOrder | None:
        """The order that lanes are in by the pattern of their addresses; None if they never are. `proven`:
        all is right."""
        pattern = self._pattern(access)
        orders = _orders(pattern)
        if pattern is None or pattern.mask is None or not any(orders):
            return None
        first, row = pattern.base, self._row_of_mask(pattern.mask, orders)
        gap = self.builder.emit(f"getelementptr i32, {row.typed}, i64 {GAP_AT}")
        gap = Value(self.builder.emit(f"load i32, ptr {gap}, align {WORD}"), "i32")
        second = self._scalar("and", first, gap)
        base = self._scalar("sub", first, second)
        ok = self.builder.emit(f"icmp ne {gap.typed}, 0")
        if not proven:
            ok = self.both(ok, self._valid(access, base, WINDOW).ir)
        is_second = self.builder.emit(f"icmp ne {second.typed}, 0")
        skip = self.builder.emit(f"select i1 {is_second}, i64 {ROW_BYTES}, i64 0")
        row = Value(self.builder.emit(f"getelementptr i8, {row.typed}, i64 {skip}"), POINTER)
        return KnownOrder(Value(self._host(access, base), POINTER), gap, row, ok)

    def _row_of_mask(self, mask: Value, orders: tuple[int, ...]) -> Value:
        """The table's row for firsts of the order that a mask makes; one without a gap, if it makes none."""
        rows, known = self.orders(), mask.literal
        if known is not None:
            place = f"getelementptr i8, ptr {rows}, i64 {2 * ROW_BYTES * orders[0]}"
            return Value(self.builder.emit(place), POINTER)
        skips = ", ".join(f"i32 {2 * ROW_BYTES * order}" for order in orders)
        name = f"simt.orders.{'.'.join(map(str, orders))}"
        table = self.module.constant(name, f"private constant [{WARP} x i32] [{skips}], align {LINE}")
        bits = self._scalar("and", mask, WARP - 1)
        place = self.builder.emit(f"getelementptr [{WARP} x i32], ptr {table}, i32 0, {bits.typed}")
        skip = self.builder.emit(f"load i32, ptr {place}, align {WORD}")
        return Value(self.builder.emit(f"getelementptr i8, ptr {rows}, i32 {skip}"), POINTER)

    def load_pairs(self, pointer: Value, row: Value, element: str) -> Value:
        """The words of all lanes, which are in the order of a row. `pointer`: to the first pair."""
        lines = [self._line(pointer, i, element) for i in range(LINES)]
        halves: list[str] = []
        for i in (0, 1):
            place = self.builder.emit(f"getelementptr i32, {row.typed}, i64 {WORDS_AT + PER_LINE * i}")
            index = self.builder.emit(f"load <{PER_LINE} x i32>, ptr {place}, align {LINE}")
            halves.append(self._lookup(kind(element), element, lines[2 * i : 2 * i + 2], index))
        return self._concatenate(element, PER_LINE, halves)


def _orders(pattern: Pattern | None) -> tuple[int, ...]:
    """The orders that lanes may be in by their pattern: for each mask of five bits, or for the one known."""
    if pattern is None or pattern.mask is None:
        return ()
    orders, known = orders_of(pattern.step, pattern.factor), pattern.mask.literal
    return orders if known is None else (orders[known % WARP],)


@cache
def orders_of(step: int, factor: int) -> tuple[int, ...]:
    """For each mask of five bits, the order of lanes in a pattern of addresses, if they are not contiguous; 0
    if they are in none."""
    exist = {tuple(WORD * place for place in firsts(2**n // WORD)): n for n in range(2, CONTIGUOUS)}
    patterns = ([(step * i + factor * (i & mask)) % 2**32 for i in range(WARP)] for mask in range(WARP))
    return tuple(exist.get(tuple(pattern), 0) for pattern in patterns)
