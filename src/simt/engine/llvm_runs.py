"""Lanes in a few runs of consecutive places: a vector under a mask for each run, in place of a gather or
scatter.

Indices that are cut into rows are such (`k / 34`, `k % 34`: a tile with its halo), as are those of a loop
over a row that compilers unroll: they do its first turns apart, of which some lanes have one less, and stay a
turn behind the others from there on.

Runs are counted when the code runs, where a test for consecutive places has failed: in loops, and of indices
that are made of quotients and remainders. Two of them are two vectors; for stores there is a loop over some
more, a function of its own, which LLVM does not put in place.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from simt.analysis.shape import WARP, Hold
from simt.engine.host import stores_some
from simt.engine.llvm_access import I64, LOCAL, SHARED, Access
from simt.engine.llvm_algebra import LlvmIntegers
from simt.engine.llvm_builder import Value, element_bits, spell
from simt.engine.llvm_lanes import Guarded, shape_of
from simt.engine.llvm_scopes import OF_PROGRAM
from simt.engine.llvm_structures import StructureAlgebra
from simt.records import dataclass

NEEDS = frozenset({"avx2"})
"""Choices between words of each size by a mask."""
MOST = 4
"""Runs up to which vectors are faster than a scatter, by measurement on an Intel Emerald Rapids."""
MOST_SMALL = 8
"""The same for words of less than 4 bytes, which CPUs do not scatter."""
LARGEST = 8
"""Bytes of a lane."""

Values = tuple[Value, ...]


def has_runs(features: frozenset[str]) -> bool:
    return features >= NEEDS


@dataclass(frozen=True, slots=True)
class Two:
    """Two runs: pointers to where lane 0 would be, and which running lanes are in them."""

    first: str
    second: str
    in_first: Value
    in_second: Value


class RunsAlgebra(StructureAlgebra):
    """`StructureAlgebra` with runs. `is_scattered`: the present block is part of a loop in which each lane
    gets at memory of its own: lanes will not be in runs there."""

    is_scattered = False

    def may_have_runs(self, access: Access) -> bool:
        """Whether it is worth looking for runs: in loops, at addresses of which nothing is known, and where
        lanes are in several rows of an index, or of threads."""
        address = access.address
        guessed = shape_of(address).hold == Hold.LIKELY or (isinstance(address, Guarded) and address.guessed)
        unknown = shape_of(address).width == WARP or guessed
        able = self.features >= NEEDS and access.region is not LOCAL and access.size <= LARGEST
        in_loop = self.loop is not None and not self.is_scattered and stores_some(self.features)
        return able and unknown and (access.in_rows or not self.block.rows_fit or in_loop)

    def load_row(self, place: str, element: str, word: int) -> Value:
        """What lies at a pointer, and behind it, for 32 lanes. `word`: alignment in bytes. An ordinary load:
        CPUs do not bring what follows loads under a mask."""
        kind = spell(element, WARP)
        return self.emit(f"load {kind}, ptr {place}, align {word}{OF_PROGRAM}", element, WARP)

    def store_row(self, access: Access, data: Value, place: str, lanes: Value, exists: str = "true") -> None:
        """`store_run`, of lines that nothing has asked for."""
        if access.region is not SHARED:
            self.announce(place, WARP * access.word)
        self.store_run(access, data, place, lanes, exists)

    def store_run(self, access: Access, data: Value, place: str, lanes: Value, exists: str = "true") -> None:
        """Stores the words of some lanes, mostly of lanes side by side. `place`: a pointer to where lane 0's
        would be. `exists` (i1): there is memory for all lanes."""
        word = access.word
        if stores_some(self.features):
            self.masked_store(data, place, lanes, word)
            return

        def blended() -> Values:
            self.blended_store(data, place, lanes, word)
            return ()

        def copied() -> Values:
            run = partial(RunsAlgebra.copied, word=word)
            self.apart("store.run", run, self.mask_bits(lanes), data, Value(place, "ptr"), called=True)
            return ()

        if not self.is_own(access):
            exists = "false" if access.volatile else self.both(exists, self.is_alone())
        self._either(exists, blended, copied, likely=True)

    def copied(self, lanes: Value, data: Value, place: Value, word: int) -> None:
        """Stores the words of lanes (i32), one after the other where there are gaps between them."""
        say = self.builder.emit
        least = say(f"and i32 {lanes.ir}, {say(f'sub i32 0, {lanes.ir}')}")
        gaps = say(f"and i32 {lanes.ir}, {say(f'add i32 {lanes.ir}, {least}')}")

        def as_one() -> Values:
            self._copy_lanes(lanes, self.spilled(data), place, word, element_bits(data.type) // 8)
            return ()

        def each() -> Values:
            self.masked_store(data, place.ir, self._as_mask(lanes.ir), word)
            return ()

        self._either(say(f"icmp eq i32 {gaps}, 0"), as_one, each, likely=True)

    def _copy_lanes(self, lanes: Value, words: str, place: Value, word: int, size: int) -> None:
        """Stores words of neighbouring lanes (i32) that are on the stack. `size`: bytes of a lane."""
        say = self.builder.emit
        zeros = self.module.declare("llvm.cttz.i32", "i32", ("i32", "i1"))
        ones = self.module.declare("llvm.ctpop.i32", "i32", ("i32",))
        copy = self.module.declare("llvm.memcpy.p0.p0.i64", "void", ("ptr", "ptr", "i64", "i1"))
        first, count = (
            say(f"call i32 {zeros}({lanes.typed}, i1 false)"),
            say(f"call i32 {ones}({lanes.typed})"),
        )
        start, nbytes = (say(f"mul i64 {say(f'zext i32 {n} to i64')}, {size}") for n in (first, count))
        to, source = (say(f"getelementptr i8, ptr {p}, i64 {start}") for p in (place.ir, words))
        operands = f"ptr align {word} {to}, ptr align {word} {source}, i64 {nbytes}, i1 false"
        self.builder.void(f"call void {copy}({operands})")

    def load_two(self, access: Access, otherwise: Callable[[], Values]) -> Values:
        """The words of each lane, by two vectors if lanes are in two runs."""
        element = access.element if access.count == 1 else f"i{8 * access.size}"

        def loaded(two: Two) -> Values:
            first, second = (self.load_row(p, element, access.word) for p in (two.first, two.second))
            whole = self.pick(two.in_first, first, second)
            return self._words_of(access, whole) if access.count > 1 else (whole,)

        return self._by_two(access, loaded, otherwise)

    def store_two(self, access: Access, value: Value, otherwise: Callable[[], Values]) -> None:
        """Stores a word of each lane, by two vectors if lanes are in two runs. The later one stays."""
        data = self.vector(value)

        def stored(two: Two) -> Values:
            self.store_row(access, data, two.first, two.in_first)
            self.store_run(access, data, two.second, two.in_second)
            return ()

        self._by_two(access, stored, otherwise)

    def store_runs(
        self, access: Access, offset: Value, value: Value, otherwise: Callable[[], Values]
    ) -> None:
        """Stores a word of each lane, by a vector for each of a few runs. `offset`: of each lane within the
        region, valid in all lanes that run."""
        if not stores_some(self.features):
            otherwise()
            return
        places = self._as_lane_0(access, offset)
        breaks = self._breaks(places)
        most = MOST if access.size >= 4 else MOST_SMALL
        count = self.module.declare("llvm.ctpop.i32", "i32", ("i32",))
        found = self.builder.emit(f"call i32 {count}({breaks.typed})")
        host = Value(self.pointer(Value(access.region.host, I64)), "ptr")
        run = partial(RunsAlgebra.stored_in_runs, size=access.size)

        def in_runs() -> Values:
            operands = places, breaks, host, self.mask_bits(self.mask), self.vector(value)
            self.apart("store.runs", run, *operands, called=True)
            return ()

        self._either(self.builder.emit(f"icmp ult i32 {found}, {most}"), in_runs, otherwise)

    # -- two runs ----------------------------------------------------------------------------------

    def _by_two(
        self, access: Access, in_two: Callable[[Two], Values], otherwise: Callable[[], Values]
    ) -> Values:
        """`in_two` where there are no more than two runs and all places of either are valid, whether a lane
        has them or not; else `otherwise()`."""
        alike, few, many, end = (self.builder.block_name(h) for h in ("alike", "two", "more", "end"))
        index = self.index_of(access)
        if index is None:
            made = self.as_moved(self.vector(access.address))
            near = self._is_alike(made[0], access.size)
        else:  # then the addresses are not needed before
            made, near = None, self._is_alike(index.column, access.size >> index.shift)
        self.builder.void(f"br i1 {near}, label %{alike}, label %{many}")
        self.builder.label(alike)
        address, moved = made or self.as_moved(self.vector(access.address))
        places = self._as_lane_0(access, address)
        breaks = self._breaks(places)
        before = self.builder.emit(f"sub {breaks.typed}, 1")
        more = self.builder.emit(f"and {breaks.typed}, {before}")
        ok = self.builder.emit(f"icmp eq i32 {more}, 0")
        starts = [moved(self._lane(places, lane)) for lane in (0, WARP - 1)]
        for start in starts:
            ok = self.both(ok, self._valid(access, start, WARP * access.size).ir)
        self.builder.void(f"br i1 {ok}, label %{few}, label %{many}")
        a, from_a = self._side(few, end, lambda: in_two(self._two(access, starts, before)))
        b, from_b = self._side(many, end, otherwise)
        self.builder.label(end)
        return self._joined(a, from_a, b, from_b)

    def _is_alike(self, places: Value, step: int) -> str:
        """i1: the first two lanes are neighbours. Unrelated ones rarely are."""
        apart = self.builder.emit(f"sub {self._lane(places, 1).typed}, {self._lane(places, 0).ir}")
        return self.builder.emit(f"icmp eq {places.type} {apart}, {step}")

    def _lane(self, values: Value, lane: int) -> Value:
        return Value(self.builder.emit(f"extractelement {values.typed}, i32 {lane}"), values.type)

    def _as_lane_0(self, access: Access, addresses: Value) -> Value:
        """Where lane 0 would be, if all lanes were in one run with this one."""
        steps = self.constant_lanes(addresses.type, [access.size * lane for lane in range(WARP)])
        return LlvmIntegers.binary(self, "sub", addresses, steps)

    def _breaks(self, places: Value) -> Value:
        """i32: a bit for each lane that begins a run, but for the first."""
        picks = ", ".join(f"i32 {max(lane - 1, 0)}" for lane in range(WARP))
        text = f"shufflevector {places.typed}, {places.spelled} poison, <{WARP} x i32> <{picks}>"
        return self.mask_bits(self.test("icmp ne", places, self.emit(text, places.type, WARP)))

    def _two(self, access: Access, starts: list[Value], before: str) -> Two:
        """`starts`: where lane 0 would be; `before`: a bit for each lane of the first run, as i32."""
        running = self.mask_bits(self.mask).ir
        behind = self.builder.emit(f"xor i32 {before}, -1")
        bits = [self.builder.emit(f"and i32 {lanes}, {running}") for lanes in (before, behind)]
        first, second = (self._host_before(access, start) for start in starts)
        return Two(first, second, self._as_mask(bits[0]), self._as_mask(bits[1]))

    def _as_mask(self, bits: str) -> Value:
        return self.emit(f"bitcast i32 {bits} to <{WARP} x i1>", "i1", WARP)

    # -- a loop over runs, in a function of its own ------------------------------------------------

    def stored_in_runs(
        self, places: Value, breaks: Value, host: Value, mask: Value, value: Value, size: int
    ) -> None:
        """Stores words of a size, of the lanes of a mask (i32). Runs ascend, so that the highest lane's word
        stays. `places`: of lane 0, if all lanes were in one run with each."""
        self.over_runs(
            places, breaks, host, mask, lambda place, lanes: self.masked_store(value, place, lanes, size)
        )

    def over_runs(
        self, places: Value, breaks: Value, host: Value, mask: Value, act: Callable[[str, Value], None]
    ) -> None:
        """A loop: `act` of where lane 0 would be of each run, and of its lanes that are in the mask."""
        say, before = self.builder.void, self.builder.block_name("before")
        kept = self.spilled(places)
        say(f"br label %{before}")
        self.builder.label(before)
        say("br label %turn")
        self.builder.label("turn")
        say(f"%from = phi i64 [ 0, %{before} ], [ %to, %turn ]")
        say(f"%left = phi i32 [ {breaks.ir}, %{before} ], [ %left.next, %turn ]")
        zeros = self.module.declare("llvm.cttz.i32", "i32", ("i32", "i1"))
        end = self.builder.emit(f"call i32 {zeros}(i32 %left, i1 false)")
        say(f"%to = zext i32 {end} to i64")
        at = self.builder.emit(f"getelementptr {places.type}, ptr {kept}, i64 %from")
        start = self.builder.emit(f"load {places.type}, ptr {at}, align 4")
        place = self.builder.emit(f"getelementptr i8, {host.typed}, {places.type} {start}")
        act(place, self._lanes_between("%from", "%to", mask))
        less = self.builder.emit("add i32 %left, -1")
        say(f"%left.next = and i32 %left, {less}")
        say("%is.last = icmp eq i32 %left, 0")
        say("br i1 %is.last, label %all, label %turn")
        self.builder.label("all")

    def _lanes_between(self, start: str, end: str, mask: Value) -> Value:
        """Those lanes of a mask (i32) from one on up to another."""
        from_start, from_end = (self.builder.emit(f"shl i64 -1, {number}") for number in (start, end))
        bits = self.builder.emit(f"xor i64 {from_start}, {from_end}")
        bits = self.builder.emit(f"trunc i64 {bits} to i32")
        return self._as_mask(self.builder.emit(f"and i32 {bits}, {mask.ir}"))
