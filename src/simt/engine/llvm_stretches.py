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

from collections.abc import Iterator, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING

from simt.analysis.access import NEAR
from simt.analysis.own_stores import course
from simt.analysis.program import Block, Op
from simt.analysis.schedule import Loop
from simt.analysis.shape import WARP, Shape
from simt.analysis.stretches import STRETCH, Walk, counts_few, walks
from simt.engine.llvm_access import ARENA, I64, Access
from simt.engine.llvm_algebra import LlvmIntegers
from simt.engine.llvm_builder import Value, spell
from simt.engine.llvm_following import LEAST, WORD, FollowingAlgebra
from simt.engine.llvm_lanes import Guarded
from simt.engine.llvm_memory import Values
from simt.records import dataclass, replace

if TYPE_CHECKING:
    from simt.engine.llvm_function import FunctionEmitter

NEEDED = frozenset({"avx512bw"})
"""Of a CPU."""
NEVER = -(1 << 62)
"""Bytes that no two places are apart."""
QUARTERS = 4
"""Parts of a register that are moved as a whole."""


def is_apart(shape: Shape) -> bool:
    """Whether lanes with addresses of a shape may be far from each other."""
    return shape.width == WARP or (shape.is_affine and shape.width == 1 and abs(shape.stride) > NEAR)


def row_of(size: int) -> tuple[str, int]:
    """A stretch as a register, of words of a size or of 4 bytes: their type and number."""
    word = max(WORD, size)
    return f"i{8 * word}", STRETCH // word


def groups(size: int) -> list[range]:
    """The lanes whose stretches are turned into columns, or columns into those, with each other."""
    _, width = row_of(size)
    return [range(first, first + width) for first in range(0, WARP, width)]


def has_stretches(features: frozenset[str]) -> bool:
    """Whether it is worth it on a CPU, whatever its gathers take."""
    return features >= NEEDED


@dataclass(frozen=True, slots=True)
class Stretch:
    """Stack memory: where each lane's stretch begins (i64 each), what is in them, by columns, and how many
    words that are, 0 if there is nothing yet (i64). Of one that is stored: which of them wait (`bits`),
    whether it is known to lie far from all others of the loop (i1), and how many words it may have (i64).
    `size`: bytes of a word."""

    starts: str
    words: str
    count: str
    filled: str = ""
    apart: str = ""
    room: str = ""
    size: int = WORD

    @property
    def bits(self) -> str:
        """An integer with a bit for each of its words."""
        return f"i{STRETCH // self.size}"


@dataclass(frozen=True, slots=True)
class Traffic:
    """The stretches of a loop that stores some. Stack memory: it goes on without (i1, `off`). `before` and
    `sure`: see `Course`."""

    loaded: tuple[Stretch, ...]
    stored: tuple[Stretch, ...]
    before: Mapping[tuple[int, int], int]
    sure: bool
    off: str

    def others(self, stretch: Stretch) -> Iterator[tuple[Stretch, int]]:
        """All others of the loop than one that is stored, and how far it may begin behind each lane's own:
        others that are stored must lie elsewhere."""
        number = self.stored.index(stretch)
        yield from ((loaded, self.before[i, number]) for i, loaded in enumerate(self.loaded))
        yield from ((other, NEVER) for other in self.stored if other is not stretch)


class Stretches:
    """The stretches of a function's loops."""

    def __init__(self, emitter: FunctionEmitter) -> None:
        self.emitter = emitter
        self._found: dict[int, list[tuple[Walk, Stretch]]] = {}  # by loops' headers' indices
        self._traffic: dict[int, Traffic] = {}  # of those of them that store stretches

    def of(self, op: Op, loop: Loop | None) -> Words | None:
        """Where a load of a loop finds its words, or a store leaves them."""
        for walk, stretch in [] if loop is None else self._of_loop(loop):
            if loop is not None and id(op) in walk.offsets:
                traffic = self._traffic.get(loop.header.index)
                begins = next(iter(walk.offsets)) == id(op)
                return Words(stretch, walk.offsets[id(op)], walk.first, traffic, begins)
        return None

    def begin(self, block: Block, target: Block) -> None:
        """Lanes go from a block to another one: stretches of a loop that begins there are none yet. Those of
        one that ends are stored."""
        self._end(block, target)
        loop = self.emitter.schedule.loop_of[target.index]
        if loop is None or loop.header is not target:
            return
        position = self.emitter.schedule.position[block.index]
        if not loop.first <= position <= loop.last:
            for _, stretch in self._of_loop(loop):
                self.emitter.builder.void(f"store i64 0, ptr {stretch.count}")
            if traffic := self._traffic.get(target.index):
                self.emitter.builder.void(f"store i1 false, ptr {traffic.off}")
                for stretch in traffic.stored:
                    self.emitter.builder.void(f"store {stretch.bits} 0, ptr {stretch.filled}")
                    self.emitter.builder.void(f"store i1 false, ptr {stretch.apart}")

    def _end(self, block: Block, target: Block) -> None:
        loop = self.emitter.schedule.loop_of[block.index]
        traffic = None if loop is None or target is block else self._traffic.get(loop.header.index)
        if traffic is not None:
            self.emitter.m.settle_stretches(traffic)

    def _of_loop(self, loop: Loop) -> list[tuple[Walk, Stretch]]:
        header, emitter = loop.header.index, self.emitter
        if header not in self._found:
            found = self._walks(loop) if self._suits(loop) else []
            if found and counts_few(emitter.ssa, loop, emitter.turns, emitter.ranges):
                found = []
            self._found[header] = [
                (walk, self._stretch(f"%stretch.{header}.{i}", walk)) for i, walk in enumerate(found)
            ]
            if not found and self._suits(loop) and self._may_store(loop):
                self._found[header] = self._of_course(loop)
        return self._found[header]

    def _walks(self, loop: Loop) -> list[Walk]:
        found = walks(self.emitter.ssa, loop, self.emitter.turns)
        return [walk for walk in found if self._is_apart(walk) and not self._is_got_otherwise(walk)]

    def _may_store(self, loop: Loop) -> bool:
        """Whether a loop that stores may store stretches: with all lanes that begin it, in warps of one row.
        Lanes alone are better where LLVM makes vectors of their turns."""
        emitter, header = self.emitter, loop.header.index
        whole = header not in emitter.uniformity.divergent and emitter.m.block.segments == 1
        few = counts_few(emitter.ssa, loop, emitter.turns, emitter.ranges)
        return whole and not few and not emitter.alone.goes_by_rows(loop)

    def _of_course(self, loop: Loop) -> list[tuple[Walk, Stretch]]:
        emitter, name = self.emitter, f"%stretch.{loop.header.index}"
        found = course(emitter.ssa, loop, emitter.turns, emitter.unit.program.environment)
        if found is None or not all(map(self._is_apart, (*found.loads, *found.stores))):
            return []
        if any(0 < abs(emitter.shape(walk.address).stride) <= STRETCH for walk in found.stores):
            return []
        loaded = [self._stretch(f"{name}.{i}", walk) for i, walk in enumerate(found.loads)]
        stored = [self._stretch(f"{name}.out.{i}", walk, stored=True) for i, walk in enumerate(found.stores)]
        off = f"{name}.off"
        emitter.allocas[f"  {off} = alloca i1"] = None
        self._traffic[loop.header.index] = Traffic((*loaded,), (*stored,), found.before, found.sure, off)
        return [*zip((*found.loads, *found.stores), (*loaded, *stored), strict=True)]

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

    def _stretch(self, name: str, walk: Walk, *, stored: bool = False) -> Stretch:
        found = Stretch(f"{name}.starts", f"{name}.words", f"{name}.count", size=walk.size)
        if stored:
            found = replace(found, filled=f"{name}.filled", apart=f"{name}.apart", room=f"{name}.room")
        kinds = {"starts": f"[{WARP} x i64]", "words": f"[{WARP * STRETCH} x i8]", "count": "i64"}
        kinds |= {"filled": found.bits, "apart": "i1", "room": "i64"} if stored else {}
        for part, kind in kinds.items():
            self.emitter.allocas[f"  {name}.{part} = alloca {kind}, align 64"] = None
        return found

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
    """What a load or a store is of a stretch: bytes from the address that all of the walk have, to its own
    word and to the turn's first one. `traffic`: of a loop that stores. `begins`: it is the first access of
    the walk in a turn."""

    stretch: Stretch
    offset: int
    first: int
    traffic: Traffic | None = None
    begins: bool = True


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
        at, inside = self._waiting_column(access, words, front)
        there = partial(self._column, access, words.stretch, at)
        return self._either(inside, there, partial(self._anew, access, words, front), likely=True)

    def _waiting_column(self, access: Access, words: Words, front: Front) -> tuple[Value, str]:
        """Which column an access's words have in the present stretches; i1: they have one."""
        gone = Value(self.builder.emit(f"load i64, ptr {front.gone}"), I64)
        at = self.plus(gone, words.offset - front.offset)
        at = self._rotated(at, access.size.bit_length() - 1)
        count = self.builder.emit(f"load i64, ptr {words.stretch.count}")
        inside = self.builder.emit(f"icmp ult {at.typed}, {count}")
        return at, self.both(self.builder.emit(f"load i1, ptr {front.alike}"), inside)

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
            sure = words.traffic is not None and words.traffic.sure
            alike = "true" if sure else self._go_alike(column, starts, gone)
            self.builder.void(f"store i1 {alike}, ptr {front.alike}")
            self.builder.void(f"store {gone.typed}, ptr {front.gone}")
        return self._fronts[words.stretch]

    def _go_alike(self, column: Value, starts: Value, gone: Value) -> str:
        """i1: all lanes that run are as far from where their stretches begin."""
        there = LlvmIntegers.binary(self, "add", starts, self.widened(gone, WARP))
        return self._none_of(self.test("icmp eq", column, there))

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
        ok, begin = self._are_valid(column, mask, low, limit, size)

        def load() -> Values:
            self.builder.void(f"store {begin.typed}, ptr {starts.ir}, align 64")
            self._load_each(starts, words, size)
            return ()

        self._either(ok, load, lambda: ())
        return Value(ok, "i1")

    def _are_valid(
        self, column: Value, mask: Value, low: Value, limit: Value, size: int
    ) -> tuple[str, Value]:
        """i1: stretches that begin at the addresses of a column are valid in all lanes that run, the first
        lane among them. And the column with the first lane's address for those that are not."""
        places = LlvmIntegers.binary(self, "sub", column, self.widened(low, WARP))
        places = self._rotated(places, size.bit_length() - 1)
        valid = self.test("icmp ult", places, self.widened(limit, WARP))
        wrong = self.builder.emit(f"xor {self.mask_bits(valid).typed}, -1")
        wrong = self.builder.emit(f"and i32 {mask.ir}, {wrong}")
        first = self.builder.emit(f"trunc {mask.typed} to i1")
        ok = self.both(first, self.builder.emit(f"icmp eq i32 {wrong}, 0"))
        return ok, self.pick(valid, column, self.widened(self._lane(column, 0), WARP))

    def _load_each(self, starts: Value, words: Value, size: int) -> None:
        """Puts each lane's stretch into columns of words. Asks for what the next warp is going to load, if it
        is as far from this one as lanes are from each other: a CPU does not follow."""
        first, second, last = (self._start(starts, lane) for lane in (0, 1, WARP - 1))
        step, reach = self.binary("sub", second, first), self.binary("sub", last, first)
        warp = self.binary("add", reach, step)
        for lanes in groups(size):
            rows = [self._stretch_of(self._start(starts, lane), warp, size) for lane in lanes]
            for number, column in enumerate(self._transposed(rows)):
                place = self.place_in_column(words, number, lanes, size)
                self.builder.void(f"store {column.typed}, ptr {place}, align 64")
        if size < WORD:
            for number in range(STRETCH // WORD):
                self._part(self._byte(words, number * WORD * WARP), size)

    def place_in_column(self, words: Value, number: int, lanes: range, size: int) -> str:
        """Where lanes have their words in a column of those of 4 bytes, or of 8."""
        return self._byte(words, max(WORD, size) * (number * WARP + lanes.start))

    def _start(self, starts: Value, lane: int) -> Value:
        return Value(self.builder.emit(f"load i64, ptr {self._byte(starts, 8 * lane)}"), I64)

    def _stretch_of(self, start: Value, warp: Value, size: int) -> Value:
        """A lane's stretch. `warp`: bytes from there to the next warp's."""
        self._ask(self.binary("add", start, warp).ir, 1, False)
        kind, width = row_of(size)
        return self.emit(f"load {spell(kind, width)}, ptr {self.pointer(start)}, align {size}", kind, width)

    def _byte(self, pointer: Value, behind: int) -> str:
        return self.builder.emit(f"getelementptr i8, {pointer.typed}, i64 {behind}")

    def _transposed(self, rows: list[Value]) -> list[Value]:
        """As many rows of words as each has, as columns: words within quarters of registers are put in order
        first, then quarters."""
        quarter, words = len(rows) // QUARTERS, 1
        while words < quarter:
            rows = [
                woven
                for i in range(0, len(rows), 2 * words)
                for j in range(i, i + words)
                for woven in self._woven(rows[j], rows[j + words], words)
            ]
            words *= 2
        return [
            self._quarters(rows[column % quarter :: quarter], column // quarter)
            for column in range(len(rows))
        ]

    def _woven(self, a: Value, b: Value, words: int) -> tuple[Value, Value]:
        """Of each quarter of two registers its first half, and its second, some words of each in turn."""
        half = a.width // QUARTERS // 2
        kept = [
            n
            for at in range(0, half, words)
            for n in (*range(at, at + words), *range(at + a.width, at + a.width + words))
        ]
        low = [quarter + n for quarter in range(0, a.width, 2 * half) for n in kept]
        return self._mixed(a, b, low), self._mixed(a, b, [n + half for n in low])

    def _quarters(self, parts: list[Value], number: int) -> Value:
        """The quarters with a number of four registers."""
        a, b, c, d = parts
        return self._every_second_quarter(
            self._every_second_quarter(a, b, number % 2),
            self._every_second_quarter(c, d, number % 2),
            number // 2,
        )

    def _every_second_quarter(self, a: Value, b: Value, first: int) -> Value:
        quarters, words = (first, first + 2, first + 4, first + 6), a.width // QUARTERS
        return self._mixed(a, b, [words * quarter + n for quarter in quarters for n in range(words)])

    def _mixed(self, a: Value, b: Value, picks: list[int]) -> Value:
        text = ", ".join(f"i32 {pick}" for pick in picks)
        return self.emit(
            f"shufflevector {a.typed}, {b.typed}, <{len(picks)} x i32> <{text}>", a.type, len(picks)
        )

    def _part(self, place: str, size: int) -> None:
        """Tells bytes or halves of a column of words apart."""
        parts = WORD // size
        self._rearrange(place, size, [lane * parts + part for part in range(parts) for lane in range(WARP)])

    def _rearrange(self, place: str, size: int, picks: list[int]) -> None:
        """Puts the parts of a column of words in another order."""
        kind, count = f"i{8 * size}", len(picks)
        whole = self.emit(f"load {spell(kind, count)}, ptr {place}, align 64", kind, count)
        columns = self._mixed(whole, Value("poison", kind, count), picks)
        self.builder.void(f"store {columns.typed}, ptr {place}, align 64")
