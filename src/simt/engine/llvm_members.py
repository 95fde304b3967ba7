"""Stores of several members of structures: `p[i].x = a; p[i].y = b;`.

Each is a store by steps, of 32 lanes one by one. Where one follows another, with nothing but arithmetic in
between, the first waits for it, and all members are put in their places in registers: what lies between the
first lane's structure and the last one's is written as whole registers, under masks where it has gaps.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from functools import cached_property, partial

from simt.analysis.access import FEW_ROWS
from simt.analysis.program import Call, Op, memory_operands
from simt.analysis.shape import WARP, Hold
from simt.analysis.ssa import Ssa
from simt.engine.llvm_access import ALIKE, LOCAL, WOVEN, Access
from simt.engine.llvm_builder import Value
from simt.engine.llvm_lanes import Guarded, bases, shape_of
from simt.engine.llvm_memory import Store
from simt.engine.llvm_odd_rows import OddRowsAlgebra
from simt.engine.llvm_small_words import HALF_OF_IT, NONE, REGISTER_OF_AVX2, SMALLEST
from simt.engine.llvm_steps import REGISTER
from simt.records import replace

LARGE = 16
"""Bytes."""


def are_beside(ssa: Ssa, op: Op | Call, other: Op | Call | None) -> bool:
    """Whether two ops get at memory at constant distances from the same address."""
    places = [
        {ssa.read[id(o)][register] for register, _ in memory_operands(o)}
        for o in (op, other)
        if isinstance(o, Op)
    ]
    return len(places) == 2 and len(places[0]) == 1 and places[0] == places[1]


class MemberAlgebra(OddRowsAlgebra):
    """`OddRowsAlgebra` that stores members of structures together. `member_follows`: the next instruction
    that does anything but to compute is a store as well, by the same lanes, and given to this algebra."""

    member_follows = False

    @cached_property
    def _waiting_members(self) -> list[Store]:
        """Those that wait."""
        return []

    @property
    def holds(self) -> bool:
        return super().holds or bool(self._waiting_members)

    def take_store(self, store: Store) -> None:
        if self._waiting_members and not self._joins(store):
            self.settle_members()
        if not (self._waiting_members or (self.member_follows and self._may_wait(store.access))):
            return super().take_store(store)
        self._waiting_members.append(store)
        if not self.member_follows:
            self.settle_members()
        return None

    def _may_wait(self, access: Access) -> bool:
        """Whether each lane has a part of its own of a structure that is not larger than a register. (Four
        words of a lane at once are stored as fast lane by lane, and need fewer registers.)"""
        shape = shape_of(access.address)
        known = shape.width == self.rows <= FEW_ROWS and shape.hold <= Hold.GUARDED
        small, step = access.size < LARGE, shape.stride
        apart = small and access.size < step <= REGISTER and step % access.size == 0
        plain = not access.volatile and access.region not in (LOCAL, WOVEN, ALIKE)
        return known and apart and plain and self._can_put(access, step)

    def _can_put(self, access: Access, step: int) -> bool:
        """Whether the CPU puts words in their places in registers. (AVX2 writes no part of one: what does not
        fill its structure is stored lane by lane in the end.)"""
        if self.picks is not None:
            return self.picks <= access.word
        whole = self.segment * step % REGISTER_OF_AVX2 == 0
        if access.word < SMALLEST:
            whole = self.segment * access.word % HALF_OF_IT == 0
        return "avx2" in self.features and whole

    def _place(self, access: Access) -> tuple[Value, int]:
        return self.as_sum(bases(access.address))

    def _joins(self, store: Store) -> bool:
        """Whether a store is to another member of the structures for which some wait."""
        one, other = self._waiting_members[0].access, store.access
        shape, like = shape_of(one.address), shape_of(other.address)
        alike = (one.size, one.count, shape.width, shape.stride, shape.hold) == (
            other.size, other.count, like.width, like.stride, like.hold,
        )  # fmt: skip
        (start, first), (other_start, place) = self._place(one), self._place(other)
        if not alike or start.ir != other_start.ir or (place - first) % one.size or not self._may_wait(other):
            return False
        places = [place, *(self._place(member.access)[1] for member in self._waiting_members)]
        within = max(places) - min(places) + one.size <= shape_of(one.address).stride
        return within and len(set(places)) == len(places)

    def settle_members(self) -> None:
        """Stores what waits."""
        members = list(self._waiting_members)
        self._waiting_members.clear()
        if not members:
            return
        line, reach = self.line, self.reach
        if len(members) == 1 or not self._may_be_put(len(members), members[0].access):
            self._store_each(members)
        else:
            for member in members:
                self.note_store(member)
            together, each = partial(self._store_waiting, members), partial(self._store_each, members)
            valid = self._may_all_be_written(members)
            some = partial(self._either, valid, partial(self._store_waiting, members, False), each)
            self._either(self.both(self._no_lane_idles(), valid), together, some if self.puts_some else each)
        self.line, self.reach = line, reach

    def _may_be_put(self, members: int, access: Access) -> bool:
        """Whether so many members like one may be stored together: all of a structure, or some of it."""
        return self.puts_some or members * access.size == shape_of(access.address).stride

    def _store_each(self, members: Sequence[Store]) -> tuple[Value, ...]:
        for member in members:
            self.line, self.reach = member.line, member.reach
            self._store(member)
        return ()

    def _lowest(self, members: Sequence[Store]) -> Store:
        return min(members, key=lambda member: self._place(member.access)[1])

    def _may_all_be_written(self, members: Sequence[Store]) -> str:
        """i1: all members of all lanes' structures may be written."""
        first = self._lowest(members).access
        last = max(self._place(member.access)[1] for member in members)
        span = shape_of(first.address).stride * (self.segment - 1) + last - self._place(first)[1] + first.size
        guards = {m.access.address.valid for m in members if isinstance(m.access.address, Guarded)}
        return self._may_be_written(first, span, guards)

    def _are_written(self, first: Access, span: int, guards: Collection[str]) -> str:
        """i1: all lanes run, and `_may_be_written`."""
        return self.both(self._no_lane_idles(), self._may_be_written(first, span, guards))

    def _may_be_written(self, first: Access, span: int, guards: Collection[str]) -> str:
        """i1: addresses are what they seem to be by these guards, and so many bytes may be written from the
        address of the first lane on, or of the first of each row; rows lie one behind the other."""
        ok = "true"
        for one, other in itertools.pairwise(self._parts(bases(first.address))):
            ok = self.both(ok, self.test("icmp uge", other, self.plus(one, span)).ir)
        if self._is_sure(first, first.address, span):
            return ok
        for guard in sorted(guards):
            ok = self.both(ok, guard)
        return self.both(ok, self._all(self._valid(first, bases(first.address), span)))

    def _no_lane_idles(self) -> str:
        """i1."""
        if self.mask_is_full:
            return "true"
        return self.builder.emit(f"icmp eq i32 {self.mask_bits(self.mask).ir}, -1")

    def _store_waiting(self, members: Sequence[Store], of_all: bool = True) -> tuple[Value, ...]:
        """Those of all lanes, or of the lanes that run, by a function."""
        first, columns, places = self._lowest(members).access, list[Value](), list[int]()
        element = f"i{8 * first.word}"
        for member in members:
            place = self._place(member.access)[1] - self._place(first)[1]
            for i, value in enumerate(member.values):
                column = self.vector(value)
                if column.type != element:
                    column = self.emit(f"bitcast {column.typed} to <{WARP} x {element}>", element, WARP)
                columns.append(column)
                places.append(place + i * first.word)
        pointers = self.starts_of_rows(first)
        access = replace(first, address=Value("0", "i64"), element=element)
        kind, operands = MemberAlgebra.put_members, [*pointers, *columns]
        if not of_all:
            kind, operands = MemberAlgebra.put_some_members, [self.mask_bits(self.mask), *operands]
        run = partial(kind, access=access, stride=shape_of(first.address).stride, places=places)
        self.apart("members" if of_all else "some.members", run, *operands, called=not of_all)
        return ()

    def put_some_members(
        self, running: Value, *operands: Value, access: Access, stride: int, places: Sequence[int]
    ) -> None:
        """The same for the lanes of a mask (i32)."""
        self.put_members(*operands, access=access, stride=stride, places=places, running=running)

    def put_members(
        self,
        *operands: Value,
        access: Access,
        stride: int,
        places: Sequence[int],
        running: Value | None = None,
    ) -> None:
        """Stores a word of each column at each of some places in each lane's structure. Before the columns
        come the addresses of the first lane's, or of that of the first of each row. `running`: only for the
        lanes of this mask (i32)."""
        pointers, columns = operands[: -len(places)], operands[-len(places) :]
        in_parts = len(columns) & (len(columns) - 1) == 0
        if self.picks is None and access.word < SMALLEST and not in_parts:
            return self._put_bytes(pointers, columns, access.word, stride, places)
        pieces, count = self._words_by_lanes(columns), min(WARP, self.register // access.word)
        held = len(pieces) * count // WARP  # words of a lane
        column_at = {place: number for number, place in enumerate(places)}
        span = (self.segment - 1) * stride + max(places) + access.word
        for row, start in itertools.product(range(len(pointers)), range(0, span, count * access.word)):
            words = (divmod(start + i * access.word, stride) for i in range(count))
            picks = [
                (row * self.segment + lane) * held + column_at[rest]
                if lane < self.segment and rest in column_at
                else None
                for lane, rest in words
            ]
            if any(pick is not None for pick in picks):
                where = self._behind(pointers[row], start).ir
                lanes = [None if pick is None else pick // held for pick in picks]
                self._store_some_words(self._picked_words(pieces, picks), where, lanes, running, access.word)
        return None

    def _put_bytes(
        self,
        pointers: Sequence[Value],
        columns: Sequence[Value],
        word: int,
        stride: int,
        places: Sequence[int],
    ) -> None:
        """The same for small words that fill their structures, with AVX2."""
        lanes = HALF_OF_IT // word
        for first in range(0, WARP, 2 * lanes):
            pieces = [self._bytes_of(column, first, 2 * lanes, word) for column in columns]
            starts = [
                self._behind(pointers[lane * len(pointers) // WARP], lane % self.segment * stride)
                for lane in (first, first + lanes)
            ]
            for start in range(0, lanes * stride, HALF_OF_IT):
                order = [divmod(start + i, stride) for i in range(HALF_OF_IT)]
                orders = [
                    [lane * word + at - place if place <= at < place + word else NONE for lane, at in order]
                    for place in places
                ]
                found = self.put_in_places(pieces, orders)
                for number, begin in enumerate(starts):
                    half = self.piece(found, number * HALF_OF_IT, HALF_OF_IT)
                    self.builder.void(f"store {half.typed}, {self._behind(begin, start).typed}, align {word}")

    def _bytes_of(self, column: Value, first: int, lanes: int, word: int) -> Value:
        """The bytes of some lanes of a column."""
        piece = self.piece(column, first, lanes)
        if word == 1:
            return piece
        return self.emit(f"bitcast {piece.typed} to <{lanes * word} x i8>", "i8", lanes * word)

    def _store_some_words(
        self, data: Value, pointer: str, lanes: Sequence[int | None], running: Value | None, word: int
    ) -> None:
        if None in lanes or running is not None:
            self.announce(pointer, data.width * word)
            self.masked_store(data, pointer, self.mask_of_words(lanes, running), word)
        else:
            self.builder.void(f"store {data.typed}, ptr {pointer}, align {word}")

    def _words_by_lanes(self, columns: Sequence[Value]) -> list[Value]:
        """All words of lane 0, then all of lane 1, and so on, as many for each as a power of two: register by
        register, or LLVM would make wide shuffles of it."""
        if len(columns) > 1:
            filled = 1 << (len(columns) - 1).bit_length()
            nothing = Value("poison", columns[0].type, WARP)
            columns = [*columns, *[nothing] * (filled - len(columns))]
            even, odd = (self._words_by_lanes(columns[first::2]) for first in range(2))
            return [piece for pair in zip(even, odd, strict=True) for piece in self._in_turns(*pair)]
        (column,) = columns
        count = min(WARP, self.register * 8 // int(column.type[1:]))
        if column.ir == "poison":
            return [replace(column, width=count)] * (WARP // count)
        return [self.piece(column, first, count) for first in range(0, WARP, count)]

    def _in_turns(self, one: Value, other: Value) -> tuple[Value, Value]:
        """An element of one, then one of the other, and so on: two registers."""
        half, width = one.width // 2, one.width
        low, high = ([i // 2 + i % 2 * width + first for i in range(width)] for first in (0, half))
        return self._shuffled(one, other, [*low]), self._shuffled(one, other, [*high])

    def _picked_words(self, pieces: Sequence[Value], picks: Sequence[int | None]) -> Value:
        """Elements of registers one after the other, by number; those without one are anything."""
        width = pieces[0].width
        numbers = sorted({pick // width for pick in picks if pick is not None})
        if len(numbers) == 1:
            return self._shuffled(pieces[numbers[0]], None, [p if p is None else p % width for p in picks])
        found, done = pieces[numbers[0]], numbers[0]
        for number in numbers[1:]:
            order = [
                None if pick is None or pick // width > number
                else width + pick % width if pick // width == number
                else pick % width if done == numbers[0] else i
                for i, pick in enumerate(picks)
            ]  # fmt: skip
            found, done = self._shuffled(found, pieces[number], order), number
        return found
