"""Updates of shared memory by several atomic operations in a row, done lane by lane.

A histogram counts the four bytes of a word by four atomic operations one after the other, each on 32 lanes.
Shared memory belongs to one native thread, so where the operations are of one kind whose order does not
matter, and nobody reads what they give, nobody can tell whether each lane does all four before the next
lane's turn. Then a lane's word is taken out of the vector once, and scalar arithmetic makes the four
addresses of it: taking a lane out of a vector costs as much as the update itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property, partial

from simt.analysis.range_algebra import Range
from simt.analysis.shape import WARP
from simt.engine.llvm_access import Access
from simt.engine.llvm_arrivals import ArrivalAlgebra
from simt.engine.llvm_builder import Value
from simt.engine.llvm_lanes import bases, shape_of
from simt.engine.llvm_scopes import ROLLED
from simt.isa.atomics import identity
from simt.ptx.types import Type
from simt.records import dataclass, replace

CHEAP = frozenset({"add", "sub", "shl", "lshr", "and", "or", "xor"})
"""Operations that are done once more for each lane."""

REGISTER = 64
"""Bits of a general register."""

WRITTEN_OUT = 7
"""Operations in a row up to which each lane's are written out. Of more, LLVM makes all places first, and
has no registers for them."""
MOST = 16
"""Operations of a kernel that are put off. Each takes some 450 lines; others can share a function."""


@dataclass(frozen=True, slots=True)
class Update:
    """An atomic operation that is still to be done. `reach`: bounds of its addresses; `line`: where it is."""

    op: str
    t: Type
    access: Access
    address: Value
    b: Value
    reach: Range
    line: int


@dataclass(frozen=True, slots=True)
class Made:
    """How a column is made of another one, `source`, and something that all lanes have in common."""

    opcode: str
    a: Value
    b: Value

    @property
    def source(self) -> Value:
        return self.a if self.a.width == WARP else self.b


class GroupedAlgebra(ArrivalAlgebra):
    """`ArrivalAlgebra` that puts updates off until the next access to memory, or until `settle_updates`.

    `may_put_off`: the emitter will call it before the block ends and the mask changes. `put_off`: so many
    have been. `updates_took`: lines and blocks of those that have been done."""

    may_put_off = False
    put_off = 0
    updates_took = 0, 0

    @cached_property
    def _waiting(self) -> list[Update]:
        return []

    @cached_property
    def made(self) -> dict[str, Made]:
        """By names of columns."""
        return {}

    def binary(self, opcode: str, a: Value, b: Value) -> Value:
        result = super().binary(opcode, a, b)
        cheap = opcode in CHEAP or (opcode == "mul" and (b.literal or 0).bit_count() == 1)
        if cheap and result.width == WARP and (a.width == WARP) != (b.width == WARP):
            common = b if a.width == WARP else a
            if shape_of(common).is_uniform and result.ir not in (a.ir, b.ir):
                self.made[result.ir] = Made(opcode, a, b)
        return result

    # -- what must see the updates -------------------------------------------------------------------

    def load(self, t: Type, space: str, address: Value, count: int, volatile: bool) -> tuple[Value, ...]:
        self.settle_updates()
        return super().load(t, space, address, count, volatile)

    def store(self, t: Type, space: str, address: Value, values: tuple[Value, ...], volatile: bool) -> None:
        self.settle_updates()
        super().store(t, space, address, values, volatile)

    def arrivals(self, op: str, space: str, address: Value, b: Value) -> Value:
        self.settle_updates()
        return super().arrivals(op, space, address, b)

    def _by_lanes(self, op: str, t: Type, access: Access, b: Value, c: Value | None) -> Value:
        self.settle_updates()
        return super()._by_lanes(op, t, access, b, c)

    def _of_one_thread(self, op: str, t: Type, access: Access, b: Value, c: Value | None) -> Value:
        self.settle_updates()
        return super()._of_one_thread(op, t, access, b, c)

    def _at_one_place(self, op: str, t: Type, access: Access, b: Value) -> Value:
        self.settle_updates()
        return super()._at_one_place(op, t, access, b)

    def update_beside(
        self, op: str, t: Type, access: Access, operands: Sequence[Value], otherwise: Callable[[], Value]
    ) -> Value:
        self.settle_updates()
        return super().update_beside(op, t, access, operands, otherwise)

    def _private(self, op: str, t: Type, access: Access, b: Value, c: Value | None) -> Value:
        alike = self.may_put_off and not self.result_used and identity(op, t) is not None
        if not (alike and self.put_off < MOST and self._is_proven(access)):
            self.settle_updates()
            return super()._private(op, t, access, b, c)
        if any((u.op, u.t) != (op, t) for u in self._waiting):  # sums and maxima, say, are not to be mixed
            self.settle_updates()
        self.put_off += 1
        self._waiting.append(Update(op, t, access, self.vector(access.address), b, self.reach, self.line))
        return Value("zeroinitializer", access.element, WARP)

    # -- the updates -----------------------------------------------------------------------------------

    def settle_updates(self) -> None:
        """Does what was put off."""
        updates = list(self._waiting)
        self._waiting.clear()
        if not updates:
            return
        full = "true"
        if not self.mask_is_full:
            full = self.builder.emit(f"icmp eq i32 {self.mask_bits(self.mask).ir}, -1")
        reach, line = self.reach, self.line
        lines, blocks = len(self.builder.lines), self.builder.blocks
        self._either(full, lambda: self._all_lanes(updates), lambda: self._some_lanes(updates), likely=True)
        self.reach, self.line = reach, line
        lines_before, blocks_before = self.updates_took
        self.updates_took = (
            lines_before + len(self.builder.lines) - lines,
            blocks_before + self.builder.blocks - blocks,
        )

    def _some_lanes(self, updates: Sequence[Update]) -> tuple[Value, ...]:
        for update in updates:
            self.reach, self.line = update.reach, update.line
            self.by_some(update.op, update.t, update.access, update.b)
        return ()

    def _all_lanes(self, updates: Sequence[Update]) -> tuple[Value, ...]:
        if len(updates) > WRITTEN_OUT:
            return self._lane_after_lane(updates)
        roots = Counter(self.root(update.address).ir for update in updates)
        shared = {root for root, count in roots.items() if count > 1 or self.narrow_column(root)}
        taken = _Taken(self, shared)
        for lane in range(WARP):
            for update in updates:
                self.reach = update.reach
                place = self._host(update.access, taken.item(update.address, lane))
                self._update(update.op, update.t, place, taken.item(update.b, lane), None)
        return ()

    def _lane_after_lane(self, updates: Sequence[Update]) -> tuple[Value, ...]:
        """A loop over the lanes, whose words are in stack memory."""
        updates = [replace(u, address=self._one_column(u.address), b=self._one_column(u.b)) for u in updates]
        items = _OfOneLane(self, updates)
        turn, after = self.builder.block_name("lane"), self.builder.block_name("lanes.end")
        counter = self.builder.emit("alloca i32")
        self.builder.void(f"store i32 0, ptr {counter}")
        self.builder.void(f"br label %{turn}")
        self.builder.label(turn)
        lane = self.builder.emit(f"load i32, ptr {counter}")
        items.begin(lane)
        for update in updates:
            self.reach = update.reach
            place = self._host(update.access, items.item(update.address))
            self._update(update.op, update.t, place, items.item(update.b), None)
        following = self.builder.emit(f"add i32 {lane}, 1")
        self.builder.void(f"store i32 {following}, ptr {counter}")
        more = self.builder.emit(f"icmp ult i32 {following}, {WARP}")
        self.builder.void(f"br i1 {more}, label %{turn}, label %{after}{ROLLED}")
        self.builder.label(after)
        return ()

    def _one_column(self, value: Value) -> Value:
        """A value as one column, if lanes differ."""
        return value if shape_of(value).is_uniform else self.vector(value)

    def root(self, column: Value) -> Value:
        """The column of which another one is made by cheap operations."""
        while column.ir in self.made:
            column = self.made[column.ir].source
        return column


def again(m: GroupedAlgebra, made: Made, item: Callable[[Value], Value]) -> Value:
    """A lane of a column, of a lane of the one of which it is made. `item` gives lanes."""
    a, b = item(made.a), item(made.b)
    for constant, other in ((a.literal, b), (b.literal, a)):
        if made.opcode == "add" and constant is not None:
            return m.plus(other, constant)
    return Value(m.builder.emit(f"{made.opcode} {a.typed}, {b.ir}"), a.type)


class _OfOneLane:
    """Columns of some updates of which one lane's items are loaded from stack memory, or made of such."""

    def __init__(self, m: GroupedAlgebra, updates: Sequence[Update]) -> None:
        self.m = m
        self.lane = ""
        self.roots = {m.root(update.address).ir for update in updates}
        self._places = dict[str, str]()
        self._items = dict[str, Value]()
        for update in updates:
            for column in (update.address, update.b):
                self._put(column)

    def _put(self, column: Value) -> None:
        """Stores what items of a column come from."""
        if not shape_of(column).is_uniform:
            kept = self._kept(column)
            if kept.ir not in self._places:
                self._places[kept.ir] = self.m.spilled(kept)

    def _kept(self, column: Value) -> Value:
        root = self.m.root(column)
        return root if root.ir in self.roots else column

    def begin(self, lane: str) -> None:
        """From here on items are those of a lane."""
        self.lane = lane
        self._items.clear()

    def item(self, column: Value) -> Value:
        if shape_of(column).is_uniform:
            return bases(column)
        if column.ir not in self._items:
            made = self.m.made.get(column.ir) if self._kept(column).ir != column.ir else None
            self._items[column.ir] = self._load(column) if made is None else again(self.m, made, self.item)
        return self._items[column.ir]

    def _load(self, column: Value) -> Value:
        place = self.m.builder.emit(
            f"getelementptr {column.type}, ptr {self._places[column.ir]}, i32 {self.lane}"
        )
        return Value(self.m.builder.emit(f"load {column.type}, ptr {place}"), column.type)


class _Taken:
    """Single lanes of columns. `roots`: columns whose lanes are taken out, to make others' of them."""

    def __init__(self, m: GroupedAlgebra, roots: set[str]) -> None:
        self.m = m
        self.roots = roots
        self._words: dict[tuple[str, int], str] = {}
        self._items: dict[tuple[str, int], Value] = {}

    def item(self, column: Value, lane: int) -> Value:
        if shape_of(column).is_uniform:
            return bases(column)
        column = self.m.vector(column)
        if (column.ir, lane) not in self._items:
            made = self.m.made.get(column.ir) if self.m.root(column).ir in self.roots else None
            self._items[column.ir, lane] = (
                self._out(column, lane)
                if made is None
                else again(self.m, made, partial(self.item, lane=lane))
            )
        return self._items[column.ir, lane]

    def _out(self, column: Value, lane: int) -> Value:
        """A lane out of a vector; words of 32 bits and fewer by as many as a register has, where there is an
        instruction for that."""
        if column.type != "i32" or "sse4.1" not in self.m.features:
            text = f"extractelement {column.typed}, i32 {lane}"
            return self.m.lane_address(Value(self.m.builder.emit(text), column.type))
        narrow = self.m.narrow_column(column.ir)
        if narrow is not None:
            part = self._part(narrow, lane)
            return Value(self.m.builder.emit(f"zext {narrow.type} {part} to i32"), "i32")
        part = self._part(column, lane)
        # else LLVM shifts all 64 bits for each of its bytes
        return Value(self.m.taken_out("i32", part) if lane % 2 else part, "i32")

    def _part(self, column: Value, lane: int) -> str:
        """A lane of 8, 16 or 32 bits."""
        bits = int(column.type[1:])
        count = REGISTER // bits
        word, place = self._word(column, lane // count), bits * (lane % count)
        moved = self.m.builder.emit(f"lshr i64 {word}, {place}") if place else word
        return self.m.builder.emit(f"trunc i64 {moved} to {column.type}")

    def _word(self, column: Value, number: int) -> str:
        """As many lanes as a general register has."""
        if (column.ir, number) not in self._words:
            wide = f"<{WARP * int(column.type[1:]) // REGISTER} x i64>"
            words = self.m.builder.emit(f"bitcast {column.typed} to {wide}")
            word = self.m.builder.emit(f"extractelement {wide} {words}, i32 {number}")
            self._words[column.ir, number] = self.m.taken_out("i64", word)  # else it is taken apart again
        return self._words[column.ir, number]
