"""Loops in which each lane goes through memory of its own, and stores there: what it stores in many turns is
stored at once.

Rows that are scanned, filtered, normalised by a thread each: a turn of the warp would be a gather and a
scatter. What is loaded comes by stretches (`simt.engine.llvm_stretches`), and what is stored goes by
stretches, too: columns on the stack, of which shuffles make 64 bytes of each lane, when the stretch ends, or
the loop.

Nobody can tell, as the loop does nothing else with memory (`simt.analysis.own_stores`), and nothing can fail
while something waits:

- a stretch is stored if it is valid as a whole in all lanes that run, and these lie apart from each other;
- before a stretch is loaded all that waits is stored;
- where one that is to be stored begins, it lies apart from all others of the loop, those that wait and those
  that have been loaded; or, of the latter, each lane stores to its own, where it has loaded already.

If one of these is not so, the loop goes on without stretches until it ends. They begin at the first of a
turn's stores only; where another one finds that the stretch has ended, it stores at once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from simt.analysis.shape import WARP
from simt.analysis.stretches import STRETCH
from simt.engine.llvm_access import I64, Access
from simt.engine.llvm_algebra import LlvmIntegers
from simt.engine.llvm_builder import Value, spell
from simt.engine.llvm_following import WORD
from simt.engine.llvm_memory import Store, Values
from simt.engine.llvm_stretches import (
    Front,
    Stretch,
    StretchAlgebra,
    Traffic,
    Words,
    groups,
    row_of,
)

APART = 2 * STRETCH
"""Bytes between stretches that stay apart, though one may begin some turns after the other."""
LEAST = STRETCH // 2
"""Bytes from a lane's stretch to the next lane's, at least: what is stored at once is no longer than that."""
FAR = 1 << 20
"""Bytes of which all may be used, in any turn that follows."""


class OwnStoreAlgebra(StretchAlgebra):
    """`StretchAlgebra` with stores."""

    def load_planned(self, access: Access) -> Values:
        traffic = None if self.words is None else self.words.traffic
        if traffic is not None and not self._is_own(access):
            self.settle_stretches(traffic)
        return super().load_planned(access)

    def _anew(self, access: Access, words: Words, front: Front) -> Values:
        if words.traffic is None:
            return super()._anew(access, words, front)
        self.settle_stretches(words.traffic)
        off = self.builder.emit(f"load i1, ptr {words.traffic.off}")
        apart, anew = partial(self.load_planned, access), partial(super()._anew, access, words, front)
        return self._either(off, apart, anew)

    def _store(self, store: Store) -> None:
        words, self.words = self.words, None
        if words is None or words.traffic is None:
            return super()._store(store)
        if not self._is_own(store.access):
            self._give_up(words.traffic)
            return super()._store(store)
        self.note_store(store)
        self.retreat = None
        data, front = self.vector(store.values[0]), self._front(store.access, words)
        at, inside = self._waiting_column(store.access, words, front)
        put = partial(self._put, data, words)
        self._either(inside, partial(put, at), partial(self._put_anew, store, words, front, put), likely=True)
        return None

    def _put(self, data: Value, words: Words, at: Value) -> Values:
        """A column of words that wait."""
        filled, kind, bits = words.stretch.filled, data.spelled, words.stretch.bits
        place = self.builder.emit(f"getelementptr {kind}, ptr {words.stretch.words}, i64 {at.ir}")
        self.builder.void(f"store {data.typed}, ptr {place}, align 64")
        number = at if at.type == bits else self.cast("trunc", bits, at)
        bit = self.builder.emit(f"shl {bits} 1, {number.ir}")
        waits = self.builder.emit(f"or {bits} {self.builder.emit(f'load {bits}, ptr {filled}')}, {bit}")
        self.builder.void(f"store {bits} {waits}, ptr {filled}")
        return ()

    def _put_anew(self, store: Store, words: Words, front: Front, put: Callable[[Value], Values]) -> Values:
        """Into a stretch that begins with the turn's first word, if that is asked for and may be; else the
        words are stored at once."""
        traffic, good = words.traffic, self.builder.emit("alloca i1")
        assert traffic is not None

        def begun() -> Values:
            self.builder.void(f"store i1 true, ptr {front.alike}")
            self.builder.void(f"store i64 {front.offset - words.first}, ptr {front.gone}")
            return put(self.number(I64, (words.offset - words.first) // words.stretch.size))

        def apart() -> Values:
            super(OwnStoreAlgebra, self)._store(store)
            return ()

        if not words.begins:
            self._forget(traffic)
            return apart()
        off = self.builder.emit(f"load i1, ptr {traffic.off}")
        self.builder.void(f"store i1 false, ptr {good}")
        self._either(off, lambda: (), partial(self._begin, good, store.access, words, front))
        return self._either(self.builder.emit(f"load i1, ptr {good}"), begun, apart)

    def _begin(self, good: str, access: Access, words: Words, front: Front) -> Values:
        """Begins a stretch, or gives up; stores to `good` which."""
        stretch, traffic = words.stretch, words.traffic
        assert traffic is not None
        self._write(stretch)
        limit = self._limit(access, STRETCH, access.size.bit_length() - 1)
        back = self.widened(self.number(I64, front.offset - words.first), WARP)
        begin = LlvmIntegers.binary(self, "sub", front.column, back)
        lanes, starts = self.mask_bits(self.mask), Value(stretch.starts, "ptr")
        run, region = partial(OwnStoreAlgebra.begin_stretch, size=access.size), Value(access.region.lo, I64)
        valid = self.apart("stretch.begun", run, starts, begin, lanes, region, limit, called=True)
        self.builder.void(f"store {valid.typed}, ptr {good}")
        known = self.builder.emit(f"load i1, ptr {stretch.apart}")
        self._either(known, lambda: (), partial(self._find_apart, good, stretch, traffic, lanes))

        def begun() -> Values:
            count = self.builder.emit(f"load i64, ptr {stretch.room}")
            self.builder.void(f"store i64 {count}, ptr {stretch.count}")
            return ()

        def never() -> Values:
            self._give_up(traffic)
            return ()

        return self._either(self.builder.emit(f"load i1, ptr {good}"), begun, never, likely=True)

    def _find_apart(self, good: str, stretch: Stretch, traffic: Traffic, lanes: Value) -> Values:
        """Whether a stretch may be stored, whatever the loop loads and stores besides: else it is not good.
        If it is far from all of that it stays so while all goes on by one step: that is asked once."""
        starts = Value(stretch.starts, "ptr")
        gap = self.apart("stretch.gap", OwnStoreAlgebra.gap_of, starts, lanes, called=True)
        apart = far = self.builder.emit(f"icmp sge {gap.typed}, {LEAST}")
        for other, before in traffic.others(stretch):
            run = partial(OwnStoreAlgebra.lie_apart, before=before)
            count = Value(self.builder.emit(f"load i64, ptr {other.count}"), I64)
            places = starts, Value(other.starts, "ptr")
            found = self.apart("stretches.apart", run, *places, count, gap, lanes, called=True)
            apart = self.both(apart, self.builder.emit(f"icmp ne {found.typed}, 0"))
            far = self.both(far, self.builder.emit(f"icmp eq {found.typed}, {FAR}"))
            kept = self.builder.emit(f"lshr {found.typed}, {other.size.bit_length() - 1}")
            kept = self.intrinsic("umin", Value(kept, I64), count)
            self.builder.void(f"store {kept.typed}, ptr {other.count}")
        room = self.builder.emit(f"lshr {gap.typed}, {stretch.size.bit_length() - 1}")
        room = self.intrinsic("umin", Value(room, I64), self.number(I64, STRETCH // stretch.size))
        self.builder.void(f"store {room.typed}, ptr {stretch.room}")
        valid = self.builder.emit(f"load i1, ptr {good}")
        self.builder.void(f"store i1 {self.both(valid, apart)}, ptr {good}")
        if traffic.sure:
            self.builder.void(f"store i1 {far}, ptr {stretch.apart}")
        return ()

    def _give_up(self, traffic: Traffic) -> None:
        """A loop goes on without stretches."""
        self._forget(traffic)
        self.builder.void(f"store i1 true, ptr {traffic.off}")

    def _forget(self, traffic: Traffic) -> None:
        """Before words are stored at once: what waits is stored, what has been loaded may be old then."""
        self.settle_stretches(traffic)
        for stretch in traffic.loaded:
            self.builder.void(f"store i64 0, ptr {stretch.count}")

    def settle_stretches(self, traffic: Traffic) -> None:
        """Stores what waits; no stretch is stored to any more."""
        for stretch in traffic.stored:
            self._write(stretch)

    def _write(self, stretch: Stretch) -> None:
        """Stores what waits of a stretch, which ends."""
        bits = stretch.bits
        waits = Value(self.builder.emit(f"load {bits}, ptr {stretch.filled}"), bits)

        def write() -> Values:
            places = Value(stretch.starts, "ptr"), Value(stretch.words, "ptr")
            run = partial(OwnStoreAlgebra.store_stretches, size=stretch.size)
            self.apart("stretches.stored", run, *places, waits, self.mask_bits(self.mask), called=True)
            self.builder.void(f"store {bits} 0, ptr {stretch.filled}")
            return ()

        self._either(self.builder.emit(f"icmp ne {waits.typed}, 0"), write, lambda: ())
        self.builder.void(f"store i64 0, ptr {stretch.count}")

    # -- functions of their own ------------------------------------------------------------------------

    def begin_stretch(
        self, starts: Value, column: Value, mask: Value, low: Value, limit: Value, size: int
    ) -> Value:
        """i1: stretches from the addresses of a column on are valid in all lanes that run, the first lane
        among them. Notes these addresses; in other lanes the first one's."""
        ok, begin = self._are_valid(column, mask, low, limit, size)
        begin = self._of_running(begin, mask)
        self.builder.void(f"store {begin.typed}, ptr {starts.ir}, align 64")
        return Value(ok, "i1")

    def gap_of(self, starts: Value, mask: Value) -> Value:
        """i64: the least distance from a lane's stretch to that of the next one that runs, up to `APART`. It
        is 0 or less if lanes do not lie one behind the other, or do not run though higher ones do."""
        begin = self.emit(f"load <{WARP} x i64>, ptr {starts.ir}, align 64", I64, WARP)
        following = self._mixed(begin, begin, [*range(1, WARP), WARP - 1])
        gone = LlvmIntegers.binary(self, "sub", following, begin)
        pairs = self.builder.emit(f"lshr {mask.typed}, 1")
        pairs = self.emit(f"bitcast i32 {pairs} to <{WARP} x i1>", "i1", WARP)
        gone = self.pick(pairs, gone, self.widened(self.number(I64, APART), WARP))
        least = self._end_of("smin", gone)
        beyond = self.builder.emit(f"and i32 {mask.ir}, {self.builder.emit(f'add {mask.typed}, 1')}")
        first = self.builder.emit(f"icmp eq i32 {beyond}, 0")
        return Value(self.builder.emit(f"select i1 {first}, {least.typed}, i64 0"), I64)

    def _of_running(self, column: Value, mask: Value) -> Value:
        """A column with the first lane's value in lanes that do not run."""
        running = self.emit(f"bitcast {mask.typed} to <{WARP} x i1>", "i1", WARP)
        return self.pick(running, column, self.widened(self._lane(column, 0), WARP))

    def lie_apart(
        self, starts: Value, others: Value, count: Value, gap: Value, mask: Value, before: int
    ) -> Value:
        """i64: how many bytes of each lane's other stretch may be used while those that begin are stored to;
        0: they may not begin. `FAR`: they lie behind all others, or before all of them, by one more stretch.
        Else each lane's begins less than `before` bytes behind its other one, by one distance in all lanes,
        and the other one is used up to where the next lane's begins. Less than `FAR`: there are no others."""
        mine, other = (
            self._of_running(self.emit(f"load <{WARP} x i64>, ptr {place.ir}, align 64", I64, WARP), mask)
            for place in (starts, others)
        )
        ends = [(self._end_of("umin", column), self._end_of("umax", column)) for column in (mine, other)]
        (first, last), (first_other, last_other) = ends
        behind = self.builder.emit(f"icmp uge {first.typed}, {self.plus(last_other, APART).ir}")
        ahead = self.builder.emit(f"icmp uge {first_other.typed}, {self.plus(last, APART).ir}")
        far = self.builder.emit(f"or i1 {behind}, {ahead}")
        distance = LlvmIntegers.binary(self, "sub", mine, other)
        one = self._lane(distance, 0)
        same = self._all(self.test("icmp eq", distance, self.widened(one, WARP)))
        same = self.both(same, self.builder.emit(f"icmp slt {one.typed}, {before}"))
        next_one = self.binary("add", gap, one)
        before_it = self.builder.emit(f"icmp sle {one.typed}, 0")
        wide = self.builder.emit(f"icmp sge {gap.typed}, {self.plus(one, STRETCH).ir}")
        same = self.both(same, self.builder.emit(f"or i1 {before_it}, {wide}"))
        same = self.both(same, self.builder.emit(f"icmp sge {next_one.typed}, {LEAST}"))
        none = self.builder.emit(f"icmp eq {count.typed}, 0")
        found = self.builder.emit(f"select i1 {same}, {next_one.typed}, i64 0")
        found = self.builder.emit(f"select i1 {far}, i64 {FAR}, i64 {found}")
        return Value(self.builder.emit(f"select i1 {none}, i64 {FAR - 1}, i64 {found}"), I64)

    def _end_of(self, what: str, column: Value) -> Value:
        name = f"llvm.vector.reduce.{what}.v{WARP}i64"
        function = self.module.declare(name, I64, (column.spelled,))
        return Value(self.builder.emit(f"call i64 {function}({column.typed})"), I64)

    def store_stretches(self, starts: Value, words: Value, filled: Value, mask: Value, size: int) -> None:
        """Stores the words that wait (a bit for each in an integer) of the lanes that run."""
        if size < WORD:
            for number in range(STRETCH // WORD):
                self._bring_together(self._byte(words, number * WORD * WARP), size)
        kind, width = row_of(size)
        text, count = spell(kind, width), STRETCH // size
        for lanes in groups(size):
            places = [self.place_in_column(words, number, lanes, size) for number in range(width)]
            columns = [self.emit(f"load {text}, ptr {place}, align 64", kind, width) for place in places]
            for lane, row in zip(lanes, self._transposed(columns), strict=True):
                runs = self.builder.emit(f"trunc i32 {self.builder.emit(f'lshr {mask.typed}, {lane}')} to i1")
                bits = self.builder.emit(f"select i1 {runs}, {filled.typed}, {filled.type} 0")
                some = self.emit(f"bitcast {filled.type} {bits} to <{count} x i1>", "i1", count)
                if size < WORD:
                    row = self.emit(f"bitcast {row.typed} to <{count} x i{8 * size}>", f"i{8 * size}", count)
                self.masked_store(row, self.pointer(self._start(starts, lane)), some, size)

    def _bring_together(self, place: str, size: int) -> None:
        """Makes words of columns of bytes or halves."""
        parts = WORD // size
        self._rearrange(place, size, [part * WARP + lane for lane in range(WARP) for part in range(parts)])
