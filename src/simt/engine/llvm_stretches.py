"""Loops in which each lane reads on through memory of its own: what it needs in many turns is loaded at once.

A thread that adds up a row or a chunk of its own, or counts the words of a piece of text, reads in each turn
what lies next to what it read in the turn before. Its neighbours in the warp do the same somewhere else, so
each turn of the warp would be a gather. In loops that do nothing with memory but to load, 64 bytes of each
lane's memory, a *stretch*, are loaded instead, and put in columns on the stack: the first words of all lanes,
the second ones, and so on. The turns that follow find their columns there.

Whether they do is asked each time: all lanes that run are as far from where their stretches begin, by the
first lane. If not, or at the end of a stretch, stretches are loaded anew, if they are valid as a whole in all
lanes that run; what no lane asks for is not looked at.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING

from simt.analysis.access import NEAR
from simt.analysis.program import Block, Op
from simt.analysis.schedule import Loop
from simt.analysis.shape import WARP, Shape
from simt.analysis.stretches import STRETCH, Walk, counts_few, walks
from simt.engine.llvm_access import ARENA, I64, Access
from simt.engine.llvm_algebra import LlvmIntegers
from simt.engine.llvm_builder import Value
from simt.engine.llvm_following import LEAST, WORD, FollowingAlgebra
from simt.engine.llvm_lanes import Guarded
from simt.engine.llvm_memory import Values
from simt.records import dataclass

if TYPE_CHECKING:
    from simt.engine.llvm_function import FunctionEmitter

NEEDED = frozenset({"avx512bw"})
"""Of a CPU."""
HALF = WARP // 2


def is_apart(shape: Shape) -> bool:
    """Whether lanes with addresses of a shape may be far from each other."""
    return shape.width == WARP or (shape.is_affine and shape.width == 1 and abs(shape.stride) > NEAR)


def has_stretches(features: frozenset[str]) -> bool:
    """Whether it is worth it on a CPU, whatever its gathers take."""
    return features >= NEEDED


@dataclass(frozen=True, slots=True)
class Stretch:
    """Stack memory: where each lane's stretch begins (i64 each), what is in them, by columns, and how many
    words that are, 0 if there is nothing yet (i64)."""

    starts: str
    words: str
    count: str


class Stretches:
    """The stretches of a function's loops."""

    def __init__(self, emitter: FunctionEmitter) -> None:
        self.emitter = emitter
        self._found: dict[int, list[tuple[Walk, Stretch]]] = {}  # by loops' headers' indices

    def of(self, op: Op, loop: Loop | None) -> Words | None:
        """Where a load of a loop finds its words."""
        for walk, stretch in [] if loop is None else self._of_loop(loop):
            if id(op) in walk.offsets:
                return Words(stretch, walk.offsets[id(op)], walk.first)
        return None

    def begin(self, block: Block, target: Block) -> None:
        """Lanes go from a block to another one: stretches of a loop that begins there are none yet."""
        loop = self.emitter.schedule.loop_of[target.index]
        if loop is None or loop.header is not target:
            return
        position = self.emitter.schedule.position[block.index]
        if not loop.first <= position <= loop.last:
            for _, stretch in self._of_loop(loop):
                self.emitter.builder.void(f"store i64 0, ptr {stretch.count}")

    def _of_loop(self, loop: Loop) -> list[tuple[Walk, Stretch]]:
        header, emitter = loop.header.index, self.emitter
        if header not in self._found:
            found = walks(emitter.ssa, loop, emitter.turns) if self._suits(loop) else []
            found = [walk for walk in found if self._is_apart(walk) and not self._is_got_otherwise(walk)]
            if found and counts_few(emitter.ssa, loop, emitter.turns, emitter.ranges):
                found = []
            self._found[header] = [
                (walk, self._stretch(f"%stretch.{header}.{i}")) for i, walk in enumerate(found)
            ]
        return self._found[header]

    def _is_apart(self, walk: Walk) -> bool:
        """Whether each lane may have memory of its own, not a row that it shares with others."""
        return is_apart(self.emitter.shape(walk.address)) and not self.emitter.is_in_rows(walk.address)

    def _is_got_otherwise(self, walk: Walk) -> bool:
        """Whether there is a better way to get a walk's words. Where gathers are fast, one of words of four
        bytes is, in a CTA whose rows may all read the same: LLVM gathers those once."""
        alike = walk.size == WORD and self.emitter.m.block.segments > 1
        return self._follows(walk) or (alike and self.emitter.m.has_gathers)

    def _follows(self, walk: Walk) -> bool:
        """Whether a turn loads words of which the first load gets those of the others, by one address for all
        lanes (`simt.engine.llvm_following`)."""
        together = walk.size == WORD and walk.blocks == 1 and len(walk.offsets) >= LEAST
        return together and self.emitter.shape(walk.address).pitched

    def _stretch(self, name: str) -> Stretch:
        stretch = Stretch(f"{name}.starts", f"{name}.words", f"{name}.count")
        kinds = (f"[{WARP} x i64]", f"[{WARP * STRETCH} x i8]", "i64")
        for place, kind in zip((stretch.starts, stretch.words, stretch.count), kinds, strict=True):
            self.emitter.allocas[f"  {place} = alloca {kind}, align 64"] = None
        return stretch

    @cached_property
    def _outer(self) -> set[int]:
        """The loops that have others in them, by their ids."""
        return {id(loop.parent) for loop in self.emitter.schedule.loops}

    def _suits(self, loop: Loop) -> bool:
        """Whether all lanes that begin a loop go through it together."""
        emitter, header = self.emitter, loop.header.index
        able = has_stretches(emitter.m.features) and not emitter.unit.large
        apart = header in emitter.uniformity.leaving or header in emitter.uniformity.joins
        inner = id(loop) in self._outer
        return able and not apart and not inner and not emitter.pending.waiting


@dataclass(frozen=True, slots=True)
class Words:
    """What a load is of a stretch: bytes from the address that all loads of the walk have, to the load's own
    word and to the turn's first one."""

    stretch: Stretch
    offset: int
    first: int


@dataclass(frozen=True, slots=True)
class Front:
    """Where lanes are: a column of addresses, of words at an offset. Stack memory: whether they are in their
    stretches at one distance (i1), and that distance (i64)."""

    column: Value
    offset: int
    alike: str
    gone: str


class StretchAlgebra(FollowingAlgebra):
    """`FollowingAlgebra` with stretches. `words`: of the present load."""

    words: Words | None = None

    @cached_property
    def _fronts(self) -> dict[Stretch, Front]:
        return {}

    def begin_block(self) -> None:
        """Nothing is known of where lanes are."""
        self._fronts.clear()

    def load_planned(self, access: Access) -> Values:
        words, self.words = self.words, None
        if words is None or not self._is_own(access):
            return super().load_planned(access)
        self.expect_nothing()
        front = self._front(access, words)
        gone = Value(self.builder.emit(f"load i64, ptr {front.gone}"), I64)
        at = self.plus(gone, words.offset - front.offset)
        at = self._rotated(at, access.size.bit_length() - 1)
        count = self.builder.emit(f"load i64, ptr {words.stretch.count}")
        inside = self.builder.emit(f"icmp ult {at.typed}, {count}")
        inside = self.both(self.builder.emit(f"load i1, ptr {front.alike}"), inside)
        there = partial(self._column, access, words.stretch, at)
        return self._either(inside, there, partial(self._anew, access, words, front), likely=True)

    def _is_own(self, access: Access) -> bool:
        """Whether it is a plain load of global memory."""
        plain = access.count == 1 and not access.volatile and not access.in_rows
        return plain and access.address.type == I64 and access.region.lo == ARENA.lo and not self.eager

    def _column(self, access: Access, stretch: Stretch, at: Value) -> Values:
        kind, align = f"<{WARP} x {access.element}>", min(WARP * access.size, STRETCH)
        place = self.builder.emit(f"getelementptr {kind}, ptr {stretch.words}, i64 {at.ir}")
        return (self.emit(f"load {kind}, ptr {place}, align {align}", access.element, WARP),)

    def _front(self, access: Access, words: Words) -> Front:
        """Where lanes are, found out once in a block."""
        if words.stretch not in self._fronts:
            address = access.address
            if isinstance(address, Guarded) and address.guessed:
                address = address.lanes()
            column = self._frozen(self.vector(address))
            front = Front(
                column, words.offset, self.builder.emit("alloca i1"), self.builder.emit("alloca i64")
            )
            self._fronts[words.stretch] = front
            text = f"load <{WARP} x i64>, ptr {words.stretch.starts}, align 64"
            starts = Value(self.builder.emit(text), I64, WARP)
            gone = self.binary("sub", self._lane(column, 0), self._lane(starts, 0))
            there = LlvmIntegers.binary(self, "add", starts, self.widened(gone, WARP))
            alike = self._none_of(self.test("icmp eq", column, there))
            self.builder.void(f"store i1 {alike}, ptr {front.alike}")
            self.builder.void(f"store {gone.typed}, ptr {front.gone}")
        return self._fronts[words.stretch]

    def _frozen(self, column: Value) -> Value:
        """A column that has some value in lanes that do not run, too."""
        if self.mask_is_full:
            return column
        return Value(self.builder.emit(f"freeze {column.typed}"), column.type, WARP)

    def _anew(self, access: Access, words: Words, front: Front) -> Values:
        """Loads stretches that begin with the turn's first words; if that cannot be, the words themselves."""
        stretch, back = words.stretch, front.offset - words.first
        limit = self._limit(access, STRETCH, access.size.bit_length() - 1)
        region = Value(access.region.lo, I64), limit
        places = Value(stretch.starts, "ptr"), Value(stretch.words, "ptr")
        begin = LlvmIntegers.binary(self, "sub", front.column, self.widened(self.number(I64, back), WARP))
        run = partial(StretchAlgebra.load_stretches, size=access.size)
        done = self.apart("stretches", run, *places, begin, self.mask_bits(self.mask), *region, called=True)

        def loaded() -> Values:
            self.builder.void(f"store i64 {STRETCH // access.size}, ptr {stretch.count}")
            self.builder.void(f"store i1 true, ptr {front.alike}")
            self.builder.void(f"store i64 {back}, ptr {front.gone}")
            return self._column(
                access, stretch, self.number(I64, (words.offset - words.first) // access.size)
            )

        return self._either(done.ir, loaded, partial(self._load_slowly, access), likely=True)

    # -- a function of its own -------------------------------------------------------------------------

    def load_stretches(
        self, starts: Value, words: Value, column: Value, mask: Value, low: Value, limit: Value, size: int
    ) -> Value:
        """i1: stretches from the addresses of a column on are valid in all lanes that run, of which the first
        lane is one, and have been loaded. `limit`: of their places behind `low`, in words."""
        places = LlvmIntegers.binary(self, "sub", column, self.widened(low, WARP))
        places = self._rotated(places, size.bit_length() - 1)
        valid = self.test("icmp ult", places, self.widened(limit, WARP))
        wrong = self.builder.emit(f"xor {self.mask_bits(valid).typed}, -1")
        wrong = self.builder.emit(f"and i32 {mask.ir}, {wrong}")
        first = self.builder.emit(f"trunc {mask.typed} to i1")
        ok = self.both(first, self.builder.emit(f"icmp eq i32 {wrong}, 0"))

        def load() -> Values:
            begin = self.pick(valid, column, self.widened(self._lane(column, 0), WARP))
            self.builder.void(f"store {begin.typed}, ptr {starts.ir}, align 64")
            self._load_each(starts, words, size)
            return ()

        self._either(ok, load, lambda: ())
        return Value(ok, "i1")

    def _load_each(self, starts: Value, words: Value, size: int) -> None:
        """Puts each lane's stretch into columns of words. Asks for what the next warp is going to load, if it
        is as far from this one as lanes are from each other: a CPU does not follow."""
        first, second, last = (self._start(starts, lane) for lane in (0, 1, WARP - 1))
        step, reach = self.binary("sub", second, first), self.binary("sub", last, first)
        warp = self.binary("add", reach, step)
        for lanes in (range(HALF), range(HALF, WARP)):
            rows = [self._stretch_of(self._start(starts, lane), warp, size) for lane in lanes]
            for number, column in enumerate(self._transposed(rows)):
                place = self._byte(words, number * 4 * WARP + 4 * lanes.start)
                self.builder.void(f"store {column.typed}, ptr {place}, align 64")
        if size < 4:
            for number in range(STRETCH // 4):
                self._part(self._byte(words, number * 4 * WARP), size)

    def _start(self, starts: Value, lane: int) -> Value:
        return Value(self.builder.emit(f"load i64, ptr {self._byte(starts, 8 * lane)}"), I64)

    def _stretch_of(self, start: Value, warp: Value, size: int) -> Value:
        """A lane's stretch. `warp`: bytes from there to the next warp's."""
        self._ask(self.binary("add", start, warp).ir, 1, False)
        return self.emit(f"load <{HALF} x i32>, ptr {self.pointer(start)}, align {size}", "i32", HALF)

    def _byte(self, pointer: Value, behind: int) -> str:
        return self.builder.emit(f"getelementptr i8, {pointer.typed}, i64 {behind}")

    def _transposed(self, rows: list[Value]) -> list[Value]:
        """16 rows of 16 words as columns: words within quarters of registers are put in order first, then
        quarters."""
        pairs = [pair for i in range(0, HALF, 2) for pair in self._woven(rows[i], rows[i + 1], 1)]
        fours = [
            four
            for i in range(0, HALF, 4)
            for j in (i, i + 1)
            for four in self._woven(pairs[j], pairs[j + 2], 2)
        ]
        return [self._quarters(fours[column % 4 :: 4], column // 4) for column in range(HALF)]

    def _woven(self, a: Value, b: Value, words: int) -> tuple[Value, Value]:
        """Of each quarter of two registers its first half, and its second, some words of each in turn."""
        kept = [
            n
            for at in range(0, 2, words)
            for n in (*range(at, at + words), *range(at + HALF, at + HALF + words))
        ]
        low = [quarter + n for quarter in range(0, HALF, 4) for n in kept]
        return self._mixed(a, b, low), self._mixed(a, b, [n + 2 for n in low])

    def _quarters(self, parts: list[Value], number: int) -> Value:
        """The quarters with a number of four registers."""
        a, b, c, d = parts
        return self._every_second_quarter(
            self._every_second_quarter(a, b, number % 2),
            self._every_second_quarter(c, d, number % 2),
            number // 2,
        )

    def _every_second_quarter(self, a: Value, b: Value, first: int) -> Value:
        quarters = (first, first + 2, first + 4, first + 6)
        return self._mixed(a, b, [4 * quarter + n for quarter in quarters for n in range(4)])

    def _mixed(self, a: Value, b: Value, picks: list[int]) -> Value:
        text = ", ".join(f"i32 {pick}" for pick in picks)
        return self.emit(
            f"shufflevector {a.typed}, {b.typed}, <{len(picks)} x i32> <{text}>", a.type, len(picks)
        )

    def _part(self, place: str, size: int) -> None:
        """Tells bytes or halves of a column of words apart."""
        count = 4 * WARP // size
        kind = f"i{8 * size}"
        whole = self.emit(f"load <{count} x {kind}>, ptr {place}, align 64", kind, count)
        picks = [lane * (4 // size) + part for part in range(4 // size) for lane in range(WARP)]
        columns = self._mixed(whole, Value("poison", kind, count), picks)
        self.builder.void(f"store {columns.typed}, ptr {place}, align 64")
