"""Words of each lane that are loaded one after the other, at constant distances from one address, together.

nvcc unrolls a loop over a thread's row by four; points between those of a grid are made of pairs of
neighbours; means are of two pixels side by side. Where gathers are slow, the first of such loads gets four
words of each lane, or two, and tells them apart in registers; the others take theirs from there, if it did.
Lanes are at one step from each other (`simt.engine.llvm_pitches`), or anywhere, where a gather would take as
long for each of the words. (Where gathers are fast, four words of lanes at one step take less together, in
loops.) Where they are at one step, loads look past stores of consecutive words: what lies apart from all
lanes' rows (`sums[i] += a[i * n + k] * x[k]`) changes none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial

from simt.analysis.access import FEW_ROWS, Way
from simt.analysis.following import Following
from simt.analysis.shape import WARP, Hold
from simt.analysis.ssa import Definition
from simt.engine import llvm_fours
from simt.engine.llvm_access import ALIKE, I64, LOCAL, SHARED, WOVEN, Access
from simt.engine.llvm_algebra import LlvmIntegers
from simt.engine.llvm_builder import Value
from simt.engine.llvm_gathers import REGISTER
from simt.engine.llvm_lanes import Guarded, bases, shape_of
from simt.engine.llvm_lines import LineAlgebra
from simt.engine.llvm_memory import Store, Values
from simt.ptx.types import Type, bits_type
from simt.records import dataclass, replace

WORD, WORDS = 4, 4
"""Bytes of a word, and how many of them a register of every CPU holds."""
MOST_AT_ONCE = 8
"""Bytes of each lane that one load of an integer gets."""
LEAST = 3
"""Of these, how many are to be asked for; else two words are loaded together."""


@dataclass(frozen=True, slots=True)
class Ahead:
    """Where is kept, on the stack, what the first load may have loaded: an i1, and columns by offset. `at`:
    bytes from the first of these words to that load's own. `ends`: where is kept between which addresses all
    words lie, if there are stores before the last load. `members`: the load, if these are members of
    structures at known distances."""

    done: str
    columns: dict[int, str]
    at: int
    size: int = WORD
    ends: tuple[str, str] | None = None
    members: Access | None = None

    @property
    def words(self) -> int:
        return len(self.columns)

    @property
    def behind(self) -> int:
        """Bytes from the load's own word to the last one."""
        return self.size * (self.words - 1) - self.at


class FollowingAlgebra(LineAlgebra):
    """`LineAlgebra` with such loads. `_expected`: what follows the present one. `_room`: for what it may
    load ahead."""

    _expected: Following | None = None
    _room: Ahead | None = None

    @cached_property
    def _loaded_ahead(self) -> dict[tuple[Definition, int], Ahead]:
        return {}

    def expect(self, following: Following | None) -> None:
        """Says what follows the load to come; None: nothing does, and what was loaded ahead may change."""
        super().expect(following)
        if following is None:
            self._loaded_ahead.clear()
        self._expected = following

    def expect_nothing(self) -> None:
        """Says that the load to come is to find its words by itself."""
        self._expected = None

    @property
    def is_ahead(self) -> bool:
        """Whether the load to come may have been done ahead."""
        expected = self._expected
        return expected is not None and (expected.address, expected.offset) in self._loaded_ahead

    def load(self, t: Type, space: str, address: Value, count: int, volatile: bool) -> Values:
        if volatile:  # what follows it is not to be older
            self._loaded_ahead.clear()
        return super().load(t, space, address, count, volatile)

    def load_planned(self, access: Access) -> Values:
        expected, self._expected = self._expected, None
        if expected is None or expected.address is None or not self._may_be_together(access, expected):
            return super().load_planned(access)
        ahead = self._loaded_ahead.pop((expected.address, expected.offset), None)
        if ahead is not None:
            done = self.builder.emit(f"load i1, ptr {ahead.done}")
            kept = f"load <{WARP} x {access.element}>, ptr {ahead.columns[expected.offset]}, align 64"
            usual = partial(self._gathered if ahead.members else super().load_planned, access)
            return self._either(done, lambda: (self.emit(kept, access.element, WARP),), usual)
        self._room = (
            self._room_for_members(access, expected, expected.address)
            if self._are_members(access, expected)
            else self._room_for(access, expected, expected.address)
        )
        values = super().load_planned(access)
        self._room = None
        return values

    def _may_be_together(self, access: Access, expected: Following) -> bool:
        fours = llvm_fours.fit(self.features, access.element, WORDS * WARP)
        able = access.size == WORD and (fours or self.permutes(access.element))
        bytes_apart = access.size == 1 and self.may_be_far(access)
        return bytes_apart or (able and self._is_far(access)) or self._are_members(access, expected)

    def _is_far(self, access: Access) -> bool:
        """Whether a gather of each word takes longer: any does where gathers are slow, else several of lanes
        at one step. (Outside of loops, what an unrolled one leaves over, that is not worth its code.)"""
        in_rows = self.pitched and self.loop is not None
        return self.is_scattered_far(access) or (in_rows and self.may_be_far(access))

    def _are_members(self, access: Access, expected: Following) -> bool:
        """Whether each lane has a word of a structure of its own, and these are near each other."""
        if not expected.told:
            return False
        shape = shape_of(access.address)
        known = shape.width == self.rows <= FEW_ROWS and shape.hold <= Hold.GUARDED
        far = access.address.type != I64 and access.region is not SHARED
        known = known and not far and not self._is_far(access)
        plain = known and access.count == 1 and not access.volatile and not self.eager
        plain = plain and (self.picks is not None or expected.stores)
        if not plain or access.region in (LOCAL, WOVEN, ALIKE):
            return False
        way = self._plan(access, stores=False).way
        return way is Way.NEAR or (way is Way.STEPS and self._may_be_rows(access))

    def _may_be_rows(self, access: Access) -> bool:
        """Whether lanes are so far apart that words are loaded for each by itself: four of them take as long
        as one. (Not where half of the lanes at most run, for which half as many words are loaded.)"""
        stride = shape_of(access.address).stride
        return (
            not self.runs_in_half
            and self.permutes(access.element)
            and access.size == WORD
            and stride >= REGISTER
        )

    def _room_for_members(self, access: Access, expected: Following, address: Definition) -> Ahead | None:
        """The same for members of structures: the nearest ones. (Pairs, of which each member takes all lines
        anyway, gain nothing where memory is slow.)"""
        most, size = min(REGISTER, shape_of(access.address).stride), access.size
        low = high = expected.offset
        for other in sorted(expected.others, key=lambda other: abs(other - expected.offset)):
            if (other - low) % size == 0 and max(high, other) - min(low, other) + size <= most:
                low, high = min(low, other), max(high, other)
        asked = {o for o in expected.others if low <= o <= high} - {expected.offset}
        if len(asked) + 1 < (LEAST - 1 if expected.stores else LEAST):
            return None
        if self._plan(access, stores=False).way is Way.STEPS:
            low = high + size - REGISTER
        words = range(low, high + size, size)
        return self._room_of(access, address, expected, words, asked, members=access)

    def _room_for(self, access: Access, expected: Following, address: Definition) -> Ahead | None:
        """Room for what a load may load ahead, if enough is asked for."""
        if access.size == 1:
            return self._room_for_bytes(access, expected, address)
        near = {o for o in expected.others if o - expected.offset in range(1 - REGISTER, REGISTER)}
        first = max(min((*near, expected.offset)), expected.offset - (REGISTER - WORD))
        words = range(first, first + REGISTER, WORD)
        asked = near & {*words} - {expected.offset}
        if len(asked) + 1 < LEAST and (self.has_gathers or not self.permutes(access.element)):
            return None  # with AVX2, pairs take as long as words
        if len(asked) + 1 < LEAST:
            asked = {o for o in asked if abs(o - expected.offset) == WORD}
            words = (min((*asked, expected.offset)), max((*asked, expected.offset)))
        if not asked:
            return None
        return self._room_of(access, address, expected, words, asked)

    def _room_for_bytes(self, access: Access, expected: Following, address: Definition) -> Ahead | None:
        """The same for bytes: of a word, or of half of one if no more are asked for."""
        for words in (WORD, WORD // 2):
            near = {o for o in expected.others if abs(o - expected.offset) < words} - {expected.offset}
            first = max(min((*near, expected.offset)), expected.offset - words + 1)
            asked = near & {*range(first, first + words)}
            if len(asked) >= words // 2:
                return self._room_of(access, address, expected, range(first, first + words), asked)
        return None

    def _room_of(
        self,
        access: Access,
        address: Definition,
        expected: Following,
        words: Iterable[int],
        asked: Iterable[int],
        members: Access | None = None,
    ) -> Ahead:
        """Room for words at some offsets, of which one is the load's own and others are asked for."""
        stores = expected.stores and access.region is not SHARED
        done = self.builder.emit("alloca i1")
        self.builder.void(f"store i1 false, ptr {done}")
        ends = (self.builder.emit("alloca i64"), self.builder.emit("alloca i64")) if stores else None
        columns = {offset: self.buffer(access.element, WARP) for offset in words}
        ahead = Ahead(done, columns, expected.offset - min(columns), access.size, ends, members)
        for offset in asked:
            self._loaded_ahead[address, offset] = ahead
        return ahead

    def _kept(self, ahead: Ahead, columns: Sequence[Value]) -> Values:
        """The load's own column; all of them are kept."""
        for column, place in zip(columns, ahead.columns.values(), strict=True):
            self.builder.void(f"store {column.typed}, ptr {place}, align 64")
        self.builder.void(f"store i1 true, ptr {ahead.done}")
        return (columns[ahead.at // ahead.size],)

    def _load_apart(self, access: Access, way: Way) -> Values:
        ahead = self._room
        if ahead is None or ahead.members is None or way not in (Way.NEAR, Way.STEPS):
            return super()._load_apart(access, way)
        self._room = None
        address, size = access.address, ahead.size * ahead.words
        if ahead.at:
            t = bits_type(int(address.type[1:]))
            address = self.sub(t, address, self.const(t, ahead.at))
        stride, first = shape_of(address).stride, bases(address)
        span = stride * (self.segment - 1) + size
        valid = address.valid if isinstance(address, Guarded) else "true"
        if not self._is_sure(access, address, span):
            valid = self.both(valid, self._all(self._valid(access, first, span)))
        whole = replace(access, count=ahead.words, size=size)

        def loaded() -> Values:
            if self.rows == 1 and way is Way.NEAR:
                self.ask_for_later(access, first, stride * WARP)
            for _ in ahead.columns:
                self.ask_for_members(whole, stride)
            self._note_ends(ahead, bases(access.address), self.number(I64, stride))
            starts = self.starts_of_rows(replace(whole, address=address))
            if way is Way.STEPS:
                run = partial(FollowingAlgebra.words_by_steps, element=access.element, stride=stride)
                return self._kept(ahead, self._columns(self.apart("rows", run, *starts)))
            picked = [self.picked(whole, stride, at) for at in range(0, size, ahead.size)]
            return self._kept(ahead, [self.apart("steps", run, *starts) for run in picked])

        return self._either(valid, loaded, partial(self._gathered, access), likely=True)

    def _load_by_pitch(self, access: Access, otherwise: Callable[[], Values]) -> Values:
        ahead = self._room
        if ahead is None:
            return super()._load_by_pitch(access, otherwise)

        def loaded(first: Value, step: Value) -> Values:
            place = Value(self._host(access, self.plus(first, -ahead.at)), "ptr")
            run = partial(FollowingAlgebra.load_words_at_pitch, element=access.element, words=ahead.words)
            self._note_ends(ahead, first, step)
            return self._kept(ahead, self._columns(self.apart("rows", run, place, step)))

        return self._by_pitch(access, loaded, otherwise, before=ahead.at, behind=ahead.behind)

    def gather_all(self, access: Access, offset: Value) -> Values:
        ahead, self._room = self._room, None
        if ahead is None or ahead.ends is not None or (self.has_gathers and access.size > 1):
            return super().gather_all(access, offset)
        start = self._moved(offset, -ahead.at)
        valid = [self._valid(access, self._moved(self.vector(access.address), n), access.size)
                 for n in (-ahead.at, ahead.behind) if n]  # fmt: skip
        inside = valid[0] if len(valid) == 1 else self.binary("and", *valid)

        def together() -> Values:
            run = partial(FollowingAlgebra.load_words, element=access.element, words=ahead.words)
            places = self.pick(self.mask, start, self.widened(self.number(start.type, 0), WARP))
            pointers = Value(self._pointers(access, places, 0), "ptr", WARP)
            return self._kept(ahead, self._columns(self.apart("words", run, pointers)))

        return self._either(self._none_of(inside), together, partial(super().gather_all, access, offset))

    # -- stores before the last load -------------------------------------------------------------------

    def _note_ends(self, ahead: Ahead, first: Value, step: Value) -> None:
        if ahead.ends is None:
            return
        low, high = self._ends_of(first)
        reach = self.binary("mul", step, self.number(I64, self.segment - 1))
        last = self.plus(self.binary("add", high, reach), ahead.behind + ahead.size)
        for place, value in zip(ahead.ends, (self.plus(low, -ahead.at), last), strict=True):
            self.builder.void(f"store {value.typed}, ptr {place}")

    def _ends_of(self, first: Value) -> tuple[Value, Value]:
        """The lowest and the highest of the addresses of the first lanes of rows."""
        low = high = self._parts(first)[0]
        for other in self._parts(first)[1:]:
            low, high = self.intrinsic("umin", low, other), self.intrinsic("umax", high, other)
        return low, high

    def store(self, t: Type, space: str, address: Value, values: Values, volatile: bool) -> None:
        if space != "global":
            self._loaded_ahead.clear()
        super().store(t, space, address, values, volatile)

    def _store(self, store: Store) -> None:
        self.note_store(store)
        super()._store(store)

    def note_store(self, store: Store) -> None:
        """What is kept is not what memory holds if a store may have changed it."""
        waiting = {ahead.done: ahead for ahead in self._loaded_ahead.values()}
        apart = [self._lies_apart(store, ahead) for ahead in waiting.values()]
        if None in apart:
            self._loaded_ahead.clear()
        else:
            for place, ok in zip(waiting, apart, strict=True):
                done = self.both(self.builder.emit(f"load i1, ptr {place}"), ok or "false")
                self.builder.void(f"store i1 {done}, ptr {place}")

    def _lies_apart(self, store: Store, ahead: Ahead) -> str | None:
        """i1: a store by known steps lies before or behind all words, or between those that are still to be
        taken; None: it cannot be told."""
        address, shape = store.access.address, shape_of(store.access.address)
        known = (shape.is_affine or shape.is_guarded) and shape.width == self.rows <= FEW_ROWS
        if ahead.ends is None or not known or shape.stride < 0:
            return None
        valid = address.valid if isinstance(address, Guarded) else "true"
        if self._is_between(store.access, ahead):
            return valid
        low, high = self._ends_of(bases(address))
        end = self.plus(high, shape.stride * (self.segment - 1) + store.access.size)
        return self.both(self._is_outside(ahead.ends, low, end), valid)

    def _is_outside(self, ends: tuple[str, str], start: Value, end: Value) -> str:
        """i1: what is from one address to the other lies before or behind all words."""
        first, last = (self.builder.emit(f"load i64, ptr {place}") for place in ends)
        before = self.builder.emit(f"icmp ule {end.typed}, {first}")
        behind = self.builder.emit(f"icmp uge {start.typed}, {last}")
        return self.builder.emit(f"or i1 {before}, {behind}")

    def _is_between(self, access: Access, ahead: Ahead) -> bool:
        """Whether a store is to other members of structures of which some are still to be taken."""
        members, step = ahead.members, shape_of(access.address).stride
        if members is None or shape_of(members.address).stride != step or access.size >= step:
            return False
        (start, place), (own_start, own) = (self.as_sum(bases(a.address)) for a in (access, members))
        first = min(ahead.columns) + ahead.at
        waiting = {own + o - first for (_, o), other in self._loaded_ahead.items() if other is ahead}
        apart = ((place - at) % step >= ahead.size and (at - place) % step >= access.size for at in waiting)
        return start.ir == own_start.ir and all(apart)

    def _moved(self, column: Value, by: int) -> Value:
        return LlvmIntegers.binary(self, "add", column, self.widened(self.number(column.type, by), WARP))

    def _columns(self, whole: Value) -> list[Value]:
        return [self.piece(whole, at, WARP) for at in range(0, whole.width, WARP)]

    # -- functions of their own: the first words of each lane, the second ones, and so on --------------

    def load_words_at_pitch(self, pointer: Value, step: Value, element: str, words: int) -> Value:
        return self._words_at(self._at_pitch(pointer, step), element, words)

    def load_words(self, pointers: Value, element: str, words: int) -> Value:
        places = [self.builder.emit(f"extractelement {pointers.typed}, i32 {lane}") for lane in range(WARP)]
        return self._words_at(places, element, words)

    def words_by_steps(self, *starts: Value, element: str, stride: int) -> Value:
        """The first words of all lanes, which are at known distances from each other, then the second ones,
        and so on."""
        return self.columns_at(self._where_lanes_are(starts, self._places(stride, 0)), element, WORDS, WORD)

    def _words_at(self, places: list[str], element: str, words: int) -> Value:
        size = 1 if element == "i8" else WORD
        if size * words > MOST_AT_ONCE:
            return self.columns_at(places, element, WORDS, WORD)
        one = f"i{8 * size * words}"
        found = [self.builder.emit(f"load {one}, ptr {place}, align {size}") for place in places]
        whole = self._assemble(one, found)
        all_ = self.emit(f"bitcast {whole.typed} to <{words * WARP} x {element}>", element, words * WARP)
        columns = [self._every(all_, words, first).ir for first in range(words)]
        return self._concatenate(element, WARP, columns)
