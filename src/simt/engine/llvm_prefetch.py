"""Memory brought nearer before it is used, where the CPU does not do so by itself.

CPUs notice loads that go on by small steps, not those that go from page to page, or of which few are in
a page, as those of a loop over all threads of a grid or of a CTA (`for (i = thread; i < n; i += threads)`).
Code of such a loop compares the address with that of the last iteration, and asks for what the same step
will reach some iterations on.

Nor do they look past what a CTA does between its barriers. So a kernel with barriers asks for what the
next CTA will use: as far on as this CTA's first warp is from the last CTA's. If barriers are many, it asks
for one line of memory at each, since CPUs can only wait for few lines at a time. Where all warps go from
barrier to barrier together, it asks for a few lines before each phase between them.

The same goes for a CTA whose warps wait in loops for other CTAs: each of them loads, waits, stores. What it
asks for goes to the second cache: its stores, and what waiting warps keep, come before it is used. (Only for
CPUs to which that is of use: `simt.engine.host.ASKS_FAR`.)

A warp whose threads load 16 bytes each takes so many lines at once that CPUs, which look some lines ahead,
do not follow: code of it asks for what a later warp will load. (Not for those that do follow:
`simt.engine.host.FOLLOWS_WIDE`.) So does code of a kernel that also gets at memory lane by lane, which hides
its streams from the CPU.

A prefetch of a wild address does nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from itertools import accumulate, groupby, pairwise
from operator import itemgetter

from simt.analysis.program import Op
from simt.analysis.rolled_lines import Line
from simt.analysis.ssa import Definition
from simt.engine.host import FOLLOWS_WIDE, SLOW_GATHERS
from simt.engine.llvm_algebra import LlvmIntegers
from simt.engine.llvm_builder import Value
from simt.engine.llvm_pattern_algebra import PatternAlgebra
from simt.engine.llvm_scopes import OF_WORKER
from simt.records import dataclass

AHEAD = 8
"""Iterations."""
ROOM_IN_TURN = 8
"""Lines of memory that a turn of a loop asks for, at most (as if each load began with one): a CPU waits for a
few more at once. Many that are asked for turns ahead are gone from the first cache when they are used."""
NEAR = 256
"""Bytes of a step that the CPU follows by itself: it looks ahead within a page of 4 KB, once it has seen some
lines of it."""
PAGE = 4096
AHEAD_ROLLED = PAGE
"""Bytes, where a loop was rolled again, though its steps are small: unrolled, they were not, and a row may be
over before a CPU looks as far. (Not on AMD's, which bring the lines behind others by themselves.)"""
WIDE, NARROW = 512, 128
"""Bytes of a load from which on a warp asks for those of later warps; beside accesses lane by lane."""
LINE = 64
HALO = 3 * LINE
"""Bytes on to what a CTA loads that has two between it and this one. (AMD Zen 3, tiles of 16 x 16 words with
a halo: 0.77 of the time, 0.79 for two lines, 0.85 for four; Rodinia's HotSpot 0.86, 0.94, 0.80.)"""
CLOSE, NEXT = 3, 2
"""How near to the CPU, as LLVM counts: to the first cache, and to the second one."""
ROOM, AT_ONCE = 256, 8
"""Lines that can be put off; more are forgotten. As many are noted by one store, which may begin at the
last of the others."""
SPREAD = "simt.prefetch.spread"
STARTS = "%starts"
"""Of what warps will load in the next CTA."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where an access is in a turn of a loop: some bytes from an address. `always`: in every turn."""

    op: Op
    address: Definition
    offset: int
    always: bool


class PrefetchAlgebra(PatternAlgebra):
    """`PatternAlgebra` with prefetches. `loop`: the loop around the present block, by its header's index
    (None: it is in no loop); `in_turns`: whether that has a barrier for all warps of the CTA in every turn;
    `in_stream`: whether warps follow each other through memory, as CPUs notice (`simt.engine.llvm_groups`);
    `asked_in_loop`: lines that a turn of each loop asks for, `asked_at`: by which accesses. `beside_lanes`:
    whether the function gets at memory lane by lane, too. `for_next_cta`: whether to ask for what the next
    CTA will use, what it loads `by_phases`, if that is few lines for each, and how `near` that is to be;
    `lines_asked`: how much, for a warp. `line`: of PTX, from which the present op is."""

    line = 0
    loop: int | None = None
    in_turns = in_stream = False
    beside_lanes = False
    for_next_cta = by_phases = False
    near = CLOSE
    lines_asked = 0
    _queue: tuple[str, str, str] | None = None

    @cached_property
    def asked_in_loop(self) -> Counter[int | None]:
        return Counter()

    @cached_property
    def asked_at(self) -> dict[tuple[int | None, Definition], list[Place]]:
        return {}

    def place_in_loop(self) -> Place | None:
        """Where the present access is in a turn, None if that is not told by one address."""
        return None

    def step_in_loop(self) -> int | None:
        """By how many bytes the present access goes on in each turn, None if that is no known constant."""
        return None

    def offsets_here(self) -> tuple[int, list[int]]:
        """How far the present access is from its address, and how far those are that the block around it gets
        at from the same one, this one included; none if that is not told by one address."""
        return 0, []

    def prefetch(self, addresses: Sequence[Value], nbytes: int, write: bool = False) -> None:
        """Asks for what the present load or store of some bytes at each of some addresses (scalars, i64) will
        use later."""
        if self.in_stream:
            return
        if self.in_turns:
            if not write:
                self._prefetch_in_turns(addresses, nbytes)
        elif self.loop is not None:
            if not write:
                self._prefetch_in_loop(addresses, nbytes)
        elif self.for_next_cta:
            for part, address in enumerate(addresses):
                self._prefetch_for_next_cta(address, part, nbytes, write)
        elif self._is_wide(nbytes) and not write:
            for address in addresses:
                self._prefetch_for_later_warp(address, nbytes)

    def _is_wide(self, nbytes: int) -> bool:
        """Whether the CPU would not follow loads of so many bytes by itself."""
        if nbytes >= WIDE:
            return FOLLOWS_WIDE not in self.features
        return self.beside_lanes and nbytes >= NARROW

    def _prefetch_for_later_warp(self, address: Value, nbytes: int) -> None:
        """Two warps on, as far as this warp is from the last one; or a page on where warps are near."""
        step = self._step(address, self._note())
        near = self.builder.emit(f"icmp ule i64 {step}, {PAGE // 2}")
        two = self.builder.emit(f"shl i64 {step}, 1")
        far = self.builder.emit(f"select i1 {near}, i64 {PAGE}, i64 {two}")
        self._ask(self._sum(address.ir, far), _lines(nbytes), False)

    def _prefetch_in_loop(self, addresses: Sequence[Value], nbytes: int) -> None:
        """By the step of the first address: the others, of other rows of the CTA, go the same way. A turn may
        be short: its address stays in a register, where LLVM has one left."""
        known, lines = self.step_in_loop(), len(addresses) * _lines(nbytes)
        is_near = known is not None and abs(known) <= NEAR
        rolled = isinstance(self.line, Line) and self.line.single and SLOW_GATHERS not in self.features
        asks = not is_near or (rolled and known != 0)
        if not asks or self.asked_in_loop[self.loop] + lines > ROOM_IN_TURN or self._is_asked():
            return
        self.asked_in_loop[self.loop] += lines
        if known is not None:
            turns = max(AHEAD, AHEAD_ROLLED // abs(known)) if known and rolled else AHEAD
            self._ask_ahead(addresses, nbytes, str(known * turns))
        else:
            self._ask_if_far(addresses, nbytes, self._steady_step(addresses[0]), AHEAD)

    def _is_asked(self) -> bool:
        """Whether an access near to this one has asked: neighbours of a pixel lie in a line or two. Else
        notes that this one does."""
        place = self.place_in_loop()
        if place is None:
            return False
        others = self.asked_at.setdefault((self.loop, place.address), [])
        near = (other for other in others if other.op is not place.op)  # whose code may stand twice
        near = (other for other in near if abs(other.offset - place.offset) <= LINE)
        if any(other.always or not place.always for other in near):
            return True
        others.append(place)
        return False

    def _steady_step(self, address: Value) -> str:
        """The step from the last turn's address, 0 if the step before was another: rows that are chosen by a
        table, say, tell nothing of the next ones."""
        step, note = self._step(address, self._note(), volatile=""), self._note()
        before = self._noted(note, volatile="")
        self._write_note(note, step, volatile="")
        steady = self.builder.emit(f"icmp eq i64 {step}, {before}")
        return self.builder.emit(f"select i1 {steady}, i64 {step}, i64 0")

    def _prefetch_in_turns(self, addresses: Sequence[Value], nbytes: int) -> None:
        """By the first warp's step from turn to turn."""
        last, step = self._note(), self._note()
        self._note_first(addresses[0], last, step)
        self._ask_if_far(addresses, nbytes, self._noted(step), 1)

    def _ask_if_far(self, addresses: Sequence[Value], nbytes: int, step: str, steps: int) -> None:
        beyond = self.builder.emit(f"add i64 {step}, {NEAR}")
        far = self.builder.emit(f"icmp ugt i64 {beyond}, {2 * NEAR}")
        ask, go = self.builder.block_name("ask"), self.builder.block_name("go")
        self.builder.void(f"br i1 {far}, label %{ask}, label %{go}")
        self.builder.label(ask)
        self._ask_ahead(addresses, nbytes, self.builder.emit(f"mul i64 {step}, {steps}"))
        self.builder.void(f"br label %{go}")
        self.builder.label(go)

    def _ask_ahead(self, addresses: Sequence[Value], nbytes: int, ahead: str) -> None:
        starts = [self._sum(address.ir, ahead) for address in addresses]
        for start in starts:
            self._ask(start, _lines(nbytes), False)
        if nbytes > LINE:
            self._ask_ends(starts, nbytes)

    def _ask_ends(self, starts: Sequence[str], nbytes: int) -> None:
        """Asks for the lines in which loads end, if the first does not begin with a line: as every second row
        of a matrix, say."""
        ends, go = self.builder.block_name("ends"), self.builder.block_name("go")
        place = self.builder.emit(f"and i64 {starts[0]}, {LINE - 1}")
        within = self.builder.emit(f"icmp ne i64 {place}, 0")
        self.builder.void(f"br i1 {within}, label %{ends}, label %{go}")
        self.builder.label(ends)
        for start in starts:
            self._ask(self._sum(start, str(nbytes - 1)), 1, False)
        self.builder.void(f"br label %{go}")
        self.builder.label(go)

    def _prefetch_for_next_cta(self, address: Value, part: int, nbytes: int, write: bool) -> None:
        last, step = self._note(), self._note()
        self._note_first(address, last, step)
        start = self._in_order(address, self._past_halo(self._noted(step)), nbytes)
        if not self.by_phases:
            later = partial(self._put_off, start, _lines(nbytes))
        elif not write:
            later = partial(self._note_start, start, part, _lines(nbytes))
        else:
            return self._ask(start, _lines(nbytes), write, self.near)
        return self._ask_now_or_later(start, _lines(nbytes), write, later)

    def _past_halo(self, step: str) -> str:
        """How far on to ask: past the next CTA where that is a line away, since the halo of this one's tile
        reaches into its lines."""
        less = self.builder.emit(f"sub i64 {step}, {LINE // 2}")
        small = self.builder.emit(f"icmp ule i64 {less}, {LINE // 2}")
        return self.builder.emit(f"select i1 {small}, i64 {HALO}, i64 {step}")

    def _in_order(self, address: Value, step: str, nbytes: int) -> str:
        """From where on an access asks. If each of the CTA's rows begins where another ends, warps ask for
        all of them from the first line to the last, of the CTA after the next: CPUs notice that and go on by
        themselves, as they do not where warps take turns among the rows (an AMD Zen 4 takes three times as
        long for the sum of rows then)."""
        start = self._sum(address.ir, step)
        mine, offsets = self.offsets_here()
        row, low = nbytes * self.block.warps, min(offsets, default=0)
        if len(offsets) < 2 or sorted(offsets) != list(range(low, low + row * len(offsets), row)):
            return start
        after_next, before = self._sum(start, step), low + nbytes * offsets.index(mine) - mine
        warp = self.builder.emit(f"zext i32 {self.warp.ir} to i64")
        of_warps = self.builder.emit(f"mul i64 {warp}, {nbytes * (len(offsets) - 1)}")
        return self._sum(self._sum(after_next, of_warps), str(before))

    def _note_first(self, address: Value, last: str, step: str) -> None:
        """Notes the step of the CTA's first warp."""
        first, go = self.builder.block_name("first"), self.builder.block_name("go")
        is_first = self.builder.emit(f"icmp eq i32 {self.warp.ir}, 0")
        self.builder.void(f"br i1 {is_first}, label %{first}, label %{go}")
        self.builder.label(first)
        self._write_note(step, self._step(address, last))
        self.builder.void(f"br label %{go}")
        self.builder.label(go)

    def _ask_now_or_later(self, start: str, lines: int, write: bool, later: Callable[[], None]) -> None:
        self.lines_asked += lines
        now, put_off, go = (self.builder.block_name(h) for h in ("ask", "ask.later", "go"))
        spread = self.builder.emit(f"load i1, ptr @{SPREAD}")
        self.builder.void(f"br i1 {spread}, label %{put_off}, label %{now}")
        self.builder.label(now)
        self._ask(start, lines, write, self.near)
        self.builder.void(f"br label %{go}")
        self.builder.label(put_off)
        later()
        self.builder.void(f"br label %{go}")
        self.builder.label(go)

    def announce(self, pointer: str, nbytes: int) -> None:
        """Asks for lines that a store under a mask is about to write: AMD's Zen 5 brings the lines behind
        those of ordinary accesses and of prefetches by itself, but not those behind accesses under a mask."""
        if SLOW_GATHERS in self.features:
            for i in range(_lines(nbytes)):
                place = self.builder.emit(f"getelementptr i8, ptr {pointer}, i64 {LINE * i}")
                self._ask_at(place, True, CLOSE)

    # -- lines asked for by phases --------------------------------------------------------------------

    @cached_property
    def _rows_noted(self) -> dict[tuple[int, int, int], int]:
        """What warps note that they will load next, by line of PTX, part and lines of memory: which of the
        rows of `STARTS`, with a number for each warp."""
        return {}

    def _note_start(self, start: str, part: int, lines: int) -> None:
        row = self._rows_noted.setdefault((self.line, part, lines), len(self._rows_noted))
        number = self.builder.emit(f"add i32 {self.warp.ir}, {row * self.block.warps}")
        place = self.builder.emit(f"getelementptr i64, ptr {STARTS}, i32 {number}")
        self._write_note(place, start)

    def asks_of_phases(self, warps: Sequence[int]) -> list[list[str]]:
        """Code for phases of so many warps each, by which they ask for their parts of what has been noted;
        none if that is more than a line for each warp: phases would be over before it has come."""
        count, total = self.block.warps, sum(warps)
        rows = enumerate(lines for *_, lines in self._rows_noted)
        asked = [
            (row * count + i, line) for row, lines in rows for i in range(count) for line in range(lines)
        ]
        if not 0 < len(asked) <= total:
            return []
        ends = [len(asked) * done // total for done in accumulate(warps, initial=0)]
        return [self._asks_of_phase(asked[begin:end]) for begin, end in pairwise(ends)]

    def _asks_of_phase(self, asked: Sequence[tuple[int, int]]) -> list[str]:
        """`asked`: which of the notes, and lines from there on."""
        others, self.builder.lines = self.builder.lines, list[str]()
        for number, lines in groupby(asked, itemgetter(0)):
            start = self._noted(self.builder.emit(f"getelementptr i64, ptr {STARTS}, i32 {number}"))
            for _, line in lines:
                self._ask(self._sum(start, str(LINE * line)), 1, False, self.near)
        code, self.builder.lines = self.builder.lines, others
        return code

    def begin_notes(self, read: bool) -> list[str]:
        """When a kernel begins. Until a warp has noted something, the notes themselves are asked for."""
        count = len(self._rows_noted) * self.block.warps
        if not count:
            return []
        column, every = f"<{count} x i64>", f"<{count} x i32> zeroinitializer"
        fill = [
            f"  {STARTS}.i = ptrtoint ptr {STARTS} to i64",
            f"  {STARTS}.one = insertelement {column} poison, i64 {STARTS}.i, i32 0",
            f"  {STARTS}.all = shufflevector {column} {STARTS}.one, {column} poison, {every}",
            f"  store {column} {STARTS}.all, ptr {STARTS}, align 64",
        ]
        return [f"  {STARTS} = alloca [{count} x i64], align 64", *(fill if read else ())]

    # -- lines put off --------------------------------------------------------------------------------

    def settle_prefetches(self, spread: bool) -> None:
        """Says, when the whole kernel is emitted, whether lines are asked for one by one, or by phases."""
        self.module.constant(SPREAD, f"private constant i1 {'true' if spread else 'false'}")

    def ask_for_one(self) -> None:
        """Asks for one of the lines put off."""
        if not self.for_next_cta or self.by_phases:
            return
        ask, go = self.builder.block_name("ask"), self.builder.block_name("go")
        spread = self.builder.emit(f"load i1, ptr @{SPREAD}")
        self.builder.void(f"br i1 {spread}, label %{ask}, label %{go}")
        self.builder.label(ask)
        lines, head, tail = self._lines_put_off()
        first, end = self._noted(head), self._noted(tail)
        some = self.builder.block_name("some")
        more = self.builder.emit(f"icmp ne i64 {first}, {end}")
        self.builder.void(f"br i1 {more}, label %{some}, label %{go}")
        self.builder.label(some)
        self._ask(self._noted(self._slot_of(lines, first)), 1, False)
        self._write_note(head, self._sum(first, "1"))
        self.builder.void(f"br label %{go}")
        self.builder.label(go)

    def _lines_put_off(self) -> tuple[str, str, str]:
        """A ring of addresses, and notes of how many were ever taken from it and put into it."""
        if self._queue is None:
            ring = self.builder.emit(f"alloca [{ROOM + AT_ONCE} x i64], align 64")
            self._queue = ring, self._note(), self._note()
        return self._queue

    def _slot_of(self, ring: str, number: str) -> str:
        index = self.builder.emit(f"and i64 {number}, {ROOM - 1}")
        return self.builder.emit(f"getelementptr i64, ptr {ring}, i64 {index}")

    def _put_off(self, start: str, lines: int) -> None:
        lines = min(lines, ROOM)
        ring, head, tail = self._lines_put_off()
        first, end = self._noted(head), self._noted(tail)
        waiting = self.builder.emit(f"sub i64 {end}, {first}")
        many = self.builder.emit(f"icmp ugt i64 {waiting}, {ROOM - lines}")  # or anything, at first
        self._write_note(head, self.builder.emit(f"select i1 {many}, i64 {end}, i64 {first}"))
        for i in range(0, lines, AT_ONCE):
            slot = self._slot_of(ring, self._sum(end, str(i)))
            self._put_off_at(slot, start, range(i, min(i + AT_ONCE, lines)))
        self._write_note(tail, self._sum(end, str(lines)))

    def _put_off_at(self, slot: str, start: str, lines: range) -> None:
        """Notes the addresses of lines behind a start from a slot of the ring on."""
        if len(lines) == 1:
            places = Value(self._sum(start, str(LINE * lines[0])), "i64")
        else:
            steps = self.constant_lanes("i64", [LINE * i for i in lines])
            places = LlvmIntegers.binary(self, "add", self.widened(Value(start, "i64"), len(lines)), steps)
        self.builder.void(f"store volatile {places.typed}, ptr {slot}, align 8")

    # -- pieces ---------------------------------------------------------------------------------------

    def _sum(self, a: str, b: str) -> str:
        return self.builder.emit(f"add i64 {a}, {b}")

    def _note(self) -> str:
        """Where a number is kept. Mostly not in a register, which is worth more elsewhere: volatile."""
        return self.builder.emit("alloca i64, align 8")

    def _noted(self, note: str, volatile: str = "volatile ") -> str:
        kept = self.builder.emit(f"load {volatile}i64, ptr {note}")
        return self.builder.emit(f"freeze i64 {kept}")  # anything, at first

    def _write_note(self, note: str, value: str, volatile: str = "volatile ") -> None:
        self.builder.void(f"store {volatile}i64 {value}, ptr {note}")

    def _step(self, address: Value, last: str, volatile: str = "volatile ") -> str:
        """Distance to the address noted last; notes this one."""
        step = self.builder.emit(f"sub i64 {address.ir}, {self._noted(last, volatile)}")
        self._write_note(last, address.ir, volatile)
        return step

    def _ask(self, start: str, lines: int, write: bool, near: int = CLOSE) -> None:
        for i in range(lines):
            self._ask_at(self.pointer(Value(self._sum(start, str(LINE * i)), "i64")), write, near)

    def _ask_at(self, pointer: str, write: bool, near: int) -> None:
        function = self.module.declare("llvm.prefetch.p0", "void", ("ptr", "i32", "i32", "i32"))
        operands = f"ptr {pointer}, i32 {int(write)}, i32 {near}, i32 1"
        self.builder.void(f"call void {function}({operands}){OF_WORKER}")


def _lines(nbytes: int) -> int:
    """Lines of memory of a span that begins with a line."""
    return -(-nbytes // LINE)
