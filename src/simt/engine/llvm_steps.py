"""Lanes at known distances from the first, or from the first of their row: `Way.STEPS` and `Way.NEAR`.

Where the distance is small (members of structures, every second word, colours of pixels), what lies between
the first lane's word and the last one's is loaded as whole registers, in which CPUs with AVX-512 look each
lane's word up; stores put lanes in their places in registers, and write those places alone, by a mask that is
known when compiling. Else it is one load or store for each lane. With AVX2 single words are loaded in that
way, too: LLVM picks them out of registers by some instructions (small ones: `simt.engine.llvm_small_words`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property, partial

from simt.analysis.access import are_near
from simt.analysis.shape import HALF, WARP
from simt.engine import host
from simt.engine.llvm_access import LOCAL, OWNED, Access
from simt.engine.llvm_algebra import LlvmIntegers
from simt.engine.llvm_builder import Value, spell
from simt.engine.llvm_lanes import Guarded, bases, shape_of
from simt.engine.llvm_scopes import OF_PROGRAM
from simt.engine.llvm_small_words import REGISTER_OF_AVX2, SMALLEST, SmallWordAlgebra

REGISTER = 64
"""Bytes."""
FEW = 3
"""Registers out of which AVX2 picks one of words faster than it loads them one by one: on an AMD Zen 3, a
warp's words of 4 bytes, 8 or 12 apart, in 5.1 and 5.6 ns in place of 8.4; 16 apart, in 11 in place of 8.6."""


class StepsAlgebra(SmallWordAlgebra):
    """`SmallWordAlgebra` with accesses by steps."""

    @property
    def picks(self) -> int | None:
        """Bytes of the smallest words that the CPU picks out of any two registers by one instruction."""
        return host.picks(self.features)

    @property
    def register(self) -> int:
        """Bytes of those out of which words are picked."""
        return REGISTER_OF_AVX2 if self.picks is None else REGISTER

    def loads_near(self, stride: int, size: int, count: int = 1) -> bool:
        """Whether what lanes load at such steps, words of so many bytes together, is picked out of few
        registers."""
        if self.picks is not None or "avx2" not in self.features or count > 1:
            return are_near(stride, size, count, self.picks)
        if self.runs_in_half:  # whose words are fewer, one by one
            return False
        if size < SMALLEST:
            return self.loads_small(stride, size)
        return stride <= FEW * size and are_near(stride, size, 1, SMALLEST)

    @property
    def rows(self) -> int:
        """Rows of the CTA in a warp."""
        return WARP // self.segment

    @property
    def runs_in_half(self) -> bool:
        """Whether it is known that no lane of a warp's second half runs."""
        return False

    def load_half(self, access: Access) -> tuple[Value, ...]:
        """Words of the first half of a warp's lanes, one by one."""
        starts, stride = self.starts_of_rows(access), shape_of(access.address).stride
        places = [self._places(stride, i * access.word)[:HALF] for i in range(access.count)]
        run = partial(StepsAlgebra.load_at, element=access.element, word=access.word)
        return tuple(self.apart("half", partial(run, places=part), *starts) for part in places)

    def are_steps_valid(self, access: Access, lanes: int) -> str:
        """i1: the first address of each row is that of its first `lanes`, with their steps, and all are
        valid."""
        guard = access.address.valid if isinstance(access.address, Guarded) else "true"
        first, stride = bases(access.address), shape_of(access.address).stride
        if stride % access.size:
            return "false"
        if self._is_all_proven(access):
            return guard
        reach = abs(stride) * (lanes - 1)
        if stride > 0 and self._is_sure(access, access.address, reach + access.size):
            return "true"
        if stride < 0:
            back = self.widened(self.number(first.type, -reach), first.width)
            first = LlvmIntegers.binary(self, "add", first, back)
        return self.both(guard, self._all(self._valid(access, first, reach + access.size)))

    def starts_of_rows(self, access: Access) -> list[Value]:
        """Pointers to the first word of the warp, or of each row of it."""
        address, reach = access.address, abs(shape_of(access.address).stride) * (self.segment - 1)
        sure = address.width > 1 and self._is_sure(access, address, reach + access.size)
        parts = self.in_series(address) if sure else self._parts(bases(address))
        return [Value(self._host(access, part), "ptr") for part in parts]

    def load_by_steps(self, access: Access, near: bool) -> tuple[Value, ...]:
        stride = shape_of(access.address).stride
        if stride == -access.size:
            return self._backwards(access)
        starts = self.starts_of_rows(access)
        self.ask_for_members(access, stride)
        run = self.picked if near else self._one_by_one
        inner = (run(access, stride, index * access.word) for index in range(access.count))
        return tuple(self.apart("steps", load, *starts) for load in inner)

    def ask_for_members(self, access: Access, stride: int) -> None:
        """Asks for the structures that a later warp loads, when a second member of one is loaded: a CPU does
        not look past all members of a warp's structures. What is a member alone, it sees early enough."""
        first, _ = self.as_sum(bases(access.address))
        known = access.region not in (*OWNED, LOCAL) and self.segment == WARP
        if known and 0 < stride <= REGISTER:
            self._members[first.ir] += 1
            if self._members[first.ir] == 2:
                self.prefetch([bases(access.address)], stride * WARP)

    @cached_property
    def _members(self) -> Counter[str]:
        """How many members of structures have been loaded, by where these begin."""
        return Counter()

    def _backwards(self, access: Access) -> tuple[Value, ...]:
        """One vector load for each row that begins elsewhere, from the last lane's address on."""
        lanes, count, loaded = self.segment, access.count, list[str]()
        wide, parts = spell(access.element, lanes * count), self._parts(bases(access.address))
        for part in parts:
            lowest = self._host(access, self.plus(part, -(lanes - 1) * access.size))
            text = f"load{access.modifier} {wide}, ptr {lowest}, align {access.size}{OF_PROGRAM}"
            loaded.append(self.builder.emit(text))
        whole, rows = self._concatenate(access.element, lanes * count, loaded), len(parts)
        last = [((lane * rows // WARP + 1) * lanes - 1 - lane % lanes) * count for lane in range(WARP)]
        return tuple(self._picked_lanes(whole, [at + index for at in last]) for index in range(count))

    def _picked_lanes(self, value: Value, places: list[int]) -> Value:
        picks = ", ".join(f"i32 {place}" for place in places)
        text = f"shufflevector {value.typed}, {value.spelled} poison, <{len(places)} x i32> <{picks}>"
        return self.emit(text, value.type, len(places))

    def _one_by_one(self, access: Access, stride: int, start: int) -> Callable[..., Value]:
        places = self._places(stride, start)
        return partial(StepsAlgebra.load_at, element=access.element, word=access.word, places=places)

    def picked(self, access: Access, stride: int, start: int) -> Callable[..., Value]:
        if self.picks is None and access.word < SMALLEST:
            return self.small_words(access, stride, start)
        return partial(StepsAlgebra.pick_at, access=access, stride=stride, start=start)

    def _places(self, stride: int, start: int) -> list[int]:
        """Distances of all lanes from the first; those of every row of the CTA begin anew."""
        return [lane % self.segment * stride + start for lane in range(WARP)]

    def _where_lanes_are(self, starts: Sequence[Value], places: Sequence[int]) -> list[str]:
        """Where lanes are that lie at some distances from where the warp begins, or each row of it."""
        return [
            self._behind(starts[lane * len(starts) // len(places)], place).ir
            for lane, place in enumerate(places)
        ]

    def load_at(self, *starts: Value, element: str, word: int, places: list[int]) -> Value:
        """What lies at some distances from where the warp begins, or each row of it, as lanes."""
        pointers = self._where_lanes_are(starts, places)
        items = [self.builder.emit(f"load {element}, ptr {p}, align {word}") for p in pointers]
        return self.padded(self._assemble(element, items), WARP)

    def store_by_steps(
        self,
        access: Access,
        near: bool,
        values: tuple[Value, ...],
        otherwise: Callable[[], tuple[Value, ...]],
    ) -> None:
        """By steps if all lanes run; near lanes also if some do, by a function."""
        full = self.builder.emit(f"icmp eq i32 {self.mask_bits(self.mask).ir}, -1")
        stride, starts = shape_of(access.address).stride, self.starts_of_rows(access)
        valid = self.are_steps_valid(access, self.segment)

        def fast() -> tuple[Value, ...]:
            columns = [self.vector(v) for v in values]
            if near:
                put = partial(StepsAlgebra.put_at, access=access, stride=stride)
                self.apart("steps", put, *starts, *columns)
            else:
                self._store_columns(access, stride, starts, columns)
            return ()

        def some() -> tuple[Value, ...]:
            put = partial(StepsAlgebra.put_some, access=access, stride=stride)
            columns = [self.vector(v) for v in values]
            self.apart("some.steps", put, self.mask_bits(self.mask), *starts, *columns, called=True)
            return ()

        rest = partial(self._either, valid, some, otherwise) if near and self.puts_some else otherwise
        self._either(self.both(full, valid), fast, rest)

    @property
    def puts_some(self) -> bool:
        """Whether words of any lanes are written out of registers: by masks that are made when run."""
        return "avx512bw" in self.features

    def _store_columns(self, access: Access, stride: int, starts: list[Value], columns: list[Value]) -> None:
        for i, column in enumerate(columns):
            places = self._places(stride, i * access.word)
            run = partial(StepsAlgebra.store_at, word=access.word, places=places)
            self.apart("steps", run, *starts, column)

    def store_at(self, *operands: Value, word: int, places: list[int]) -> None:
        """Stores lanes, the last operand, at some distances from where the warp begins, or each row of it."""
        *starts, data = operands
        for lane, where in enumerate(self._where_lanes_are(starts, places)):
            item = self.builder.emit(f"extractelement {data.typed}, i32 {lane}")
            self.builder.void(f"store {data.type} {item}, ptr {where}, align {word}")

    # -- near lanes, by registers ----------------------------------------------------------------------

    def pick_at(self, *starts: Value, access: Access, stride: int, start: int) -> Value:
        """The word `start` bytes behind each lane's address, as lanes. `starts`: the address of the first
        lane, or of the first of each row."""
        lanes = self._lanes_together(access)
        span = (lanes - 1) * stride + access.size
        where = [lane * stride + start for lane in range(lanes)]
        groups: list[str] = []
        for first in range(0, WARP, lanes):
            at = self._behind(starts[first * len(starts) // WARP], first % self.segment * stride)
            groups.append(self._pick_group(at, access.element, access.word, where, span).ir)
        return self._concatenate(access.element, lanes, groups)

    def _pick_group(self, pointer: Value, element: str, word: int, where: list[int], span: int) -> Value:
        """What lies at some distances from a pointer, as lanes: out of `span` bytes from there on."""
        piece = min(self.register, 1 << (span.bit_length() - 1))
        starts = [*range(0, span - piece, piece), span - piece]  # the last one ends with the last lane
        loaded = [self._piece_at(pointer, element, word, s, piece) for s in starts]
        owners = [min(place // piece, len(starts) - 1) for place in where]
        indices = [(p - starts[o]) // word for p, o in zip(where, owners, strict=True)]
        return self._picked_from(loaded, owners, indices)

    def _lanes_together(self, access: Access) -> int:
        """Lanes whose words a register holds, in one row."""
        return min(self.segment, self.register // access.word)

    def _piece_at(self, pointer: Value, element: str, word: int, place: int, nbytes: int) -> Value:
        count = nbytes // word
        text = f"load {spell(element, count)}, {self._behind(pointer, place).typed}, align {word}"
        return Value(self.builder.emit(text), element, count)

    def _picked_from(self, pieces: list[Value], owners: list[int], indices: list[int]) -> Value:
        """A lane for each owner: the element at its index of the piece of its owner's number."""
        width = pieces[0].width
        filled = [None] * (width - len(owners))
        picks = [i if o == 0 else None for o, i in zip(owners, indices, strict=True)]
        found = self._shuffled(pieces[0], None, [*picks, *filled]) if len(pieces) == 1 else pieces[0]
        for number, piece in enumerate(pieces[1:], 1):
            for lane, (owner, index) in enumerate(zip(owners, indices, strict=True)):
                if owner == number:
                    picks[lane] = width + index
            found = self._shuffled(found, piece, [*picks, *filled])
            picks = [None if pick is None else lane for lane, pick in enumerate(picks)]
        return self.piece(found, 0, len(owners))

    def _shuffled(self, a: Value, b: Value | None, picks: list[int | None]) -> Value:
        """Elements of two vectors by number; those without one are anything."""
        order = ", ".join("i32 poison" if pick is None else f"i32 {pick}" for pick in picks)
        second = f"{a.spelled} poison" if b is None else b.typed
        text = f"shufflevector {a.typed}, {second}, <{len(picks)} x i32> <{order}>"
        return self.emit(text, a.type, len(picks))

    def put_some(self, running: Value, *operands: Value, access: Access, stride: int) -> None:
        """The same for the lanes of a mask (i32)."""
        self.put_at(*operands, access=access, stride=stride, running=running)

    def put_at(self, *operands: Value, access: Access, stride: int, running: Value | None = None) -> None:
        """Stores the words of all lanes, a column for each word, one after the other at each lane's address.
        Before the columns come the addresses of the first lane, or of the first of each row. `running`: only
        the lanes of this mask (i32)."""
        starts, columns = operands[: -access.count], operands[-access.count :]
        lanes = self._lanes_together(access)
        for first in range(0, WARP, lanes):
            group = [self.piece(column, first, lanes) for column in columns]
            for start in range(0, (lanes - 1) * stride + access.size, REGISTER):
                bytes_ = range(start, start + REGISTER, access.word)
                owners = [divmod(place, stride) for place in bytes_]
                words = [
                    (lane, rest // access.word) if lane < lanes and rest < access.size else None
                    for lane, rest in owners
                ]
                if not any(words):
                    continue
                data = self._put_together(group, words)
                at = first % self.segment * stride + start
                where = self._behind(starts[first * len(starts) // WARP], at).ir
                whose = [None if word is None else first + word[0] for word in words]
                self.masked_store(data, where, self.mask_of_words(whose, running), access.word)

    def mask_of_words(self, lanes: Sequence[int | None], running: Value | None) -> Value:
        """Those words of a register that belong to a lane which runs (`running`: i32; None: all do)."""
        if running is None:
            bits = ", ".join(f"i1 {'false' if lane is None else 'true'}" for lane in lanes)
            return Value(f"<{bits}>", "i1", len(lanes))
        column = self.emit(f"bitcast {running.typed} to <{WARP} x i1>", "i1", WARP)
        none = Value("zeroinitializer", "i1", WARP)
        return self._shuffled(column, none, [WARP if lane is None else lane for lane in lanes])

    def _put_together(self, columns: list[Value], words: list[tuple[int, int] | None]) -> Value:
        """Elements of columns by lane and number of the column."""
        if len(columns) <= 2:
            picks = [None if w is None else w[1] * columns[0].width + w[0] for w in words]
            return self._shuffled(columns[0], columns[1] if len(columns) == 2 else None, picks)
        half = len(columns) // 2
        low = [w if w is not None and w[1] < half else None for w in words]
        high = [(w[0], w[1] - half) if w is not None and w[1] >= half else None for w in words]
        parts = self._put_together(columns[:half], low), self._put_together(columns[half:], high)
        picks = [
            place if low[place] else len(words) + place if high[place] else None
            for place in range(len(words))
        ]
        return self._shuffled(*parts, picks)
