"""Loads and stores of a warp in LLVM IR, every access checked.

The shape of the address decides: one scalar access for a uniform address, one vector access for
consecutive ones, gathers and scatters for the rest. A check covers the whole warp where it can; when
it fails, a function of `simt.engine.llvm_runtime` goes through the active lanes one by one, to find out
which of them is at fault, if any.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from simt.analysis.access import Plan, Way, plan_of
from simt.analysis.range_algebra import Range
from simt.analysis.shape import HALF, WARP, Hold, Shape
from simt.engine import llvm_runtime
from simt.engine.abi import FaultKind
from simt.engine.llvm_access import ALIKE, ARENA, I64, LOCAL, OWNED, SHARED, Access, Region, fit
from simt.engine.llvm_algebra import LlvmIntegers, element_type
from simt.engine.llvm_branches import LIKELY
from simt.engine.llvm_builder import Value, spell
from simt.engine.llvm_indices import LEAST
from simt.engine.llvm_lanes import Guarded, Index, bases, shape_of
from simt.engine.llvm_pattern_algebra import pattern_of
from simt.engine.llvm_scopes import OF_PROGRAM
from simt.engine.llvm_series import PARAMETER
from simt.engine.llvm_streams import LINE, PAST
from simt.engine.llvm_tile_algebra import TileAlgebra, without_rows
from simt.engine.unsupported import Unsupported
from simt.ptx.types import U32, U64, Type, unsigned
from simt.records import dataclass, replace

Values = tuple[Value, ...]

PIECE = 16
"""Words of 32 bits in the largest registers."""
FEW_PARTS = 2
"""Rows of a CTA in a warp, up to which prefetches for each are cheap."""


@dataclass(frozen=True, slots=True)
class Store:
    """A store, with the line of the instruction and the bounds of its addresses."""

    access: Access
    plan: Plan
    values: tuple[Value, ...]
    line: int
    reach: Range


def _as_it_is(value: Value) -> Value:
    return value


class MemoryAlgebra(TileAlgebra):
    """`TileAlgebra` with the algebra's primitives for memory. `followed`: the present instruction is at
    once followed by one of the same kind, done by the same lanes and given to this algebra as well.
    `is_partly`: the lanes that run may be any of the warp's, or none."""

    followed = False
    is_partly = False
    _held: Store | None = None

    # -- the algebra's primitives ----------------------------------------------------------------

    def load(self, t: Type, space: str, address: Value, count: int, volatile: bool) -> tuple[Value, ...]:
        if volatile:
            self.retreat = None
        return self.load_planned(self._access(t, space, address, count, volatile))

    def load_planned(self, access: Access) -> tuple[Value, ...]:
        if self.is_split(access.address):
            return self.load_rows(access, self._load_slowly) or self.load_planned(self.lane_by_lane(access))
        tile = self.tile_of(access, loads=True)
        if tile is not None:
            return self.load_tile(access, tile, lambda: self._load_without_rows(access))
        access = without_rows(access)
        plan = self._plan(access, stores=False)
        match plan.way:
            case Way.ONE if plan.otherwise is not None:
                apart = partial(self._load_apart, access, plan.otherwise)
                return self._either(*self._as_told(access, plan, self._load_same), apart)
            case Way.ONE:
                return self._load_bases(access)
            case Way.VECTOR:
                return self._load_contiguous(access, plan)
            case _:
                return self._load_apart(access, plan.way)

    def store(self, t: Type, space: str, address: Value, values: tuple[Value, ...], volatile: bool) -> None:
        access = self._access(t, space, address, len(values), volatile)
        if self.is_split(access.address) and not self.may_store_rows(access):
            access = self.lane_by_lane(access)  # before the store may be put off
        if self.tile_of(access) is None:
            access = without_rows(access)
        self.take_store(Store(access, self._plan(access, stores=True), values, self.line, self.reach))

    def take_store(self, store: Store) -> None:
        held, self._held = self._held, None
        if held is not None:
            self._store_both(held, store)
        elif self.followed and self.has_order(store.access):
            self._held = store
        else:
            self._store(store)

    @property
    def holds(self) -> bool:
        """Whether a store waits for one that follows."""
        return self._held is not None

    def _store_both(self, one: Store, other: Store) -> None:
        accesses = one.access, other.access

        def separately() -> None:
            self.line, self.reach = one.line, one.reach
            self._store(one)
            self.line, self.reach = other.line, other.reach
            self._store(other)

        if self.may_exchange(*accesses):
            proven = all(self._proven_within(s.access, s.reach) for s in (one, other))
            self.line, self.reach = one.line, one.reach
            self.store_exchange(accesses, (one.values[0], other.values[0]), proven, separately)
        else:
            separately()

    def store_planned(self, access: Access, values: tuple[Value, ...]) -> None:
        self._store(Store(access, self._plan(access, stores=True), values, self.line, self.reach))

    def _store(self, store: Store) -> None:
        access, values = store.access, store.values
        if self.is_split(access.address):
            return self._store_split(access, values)
        tile = self.tile_of(access)
        if tile is not None:
            plain = without_rows(access)
            return self.store_tile(access, tile, values[0], partial(self._store_lanes, plain, values))
        plan = store.plan
        if plan.way is not Way.VECTOR or plan.otherwise is Way.WINDOW:
            self.retreat = None
        match plan.way:
            case Way.ONE:
                self._store_one(access, values)
            case Way.VECTOR:
                self._store_contiguous(access, plan, values)
            case _:
                self._store_apart(access, plan.way, values)
        return None

    def _store_lanes(self, access: Access, values: Values) -> Values:
        return self._store_apart(access, Way.TURNS if access.word < U32.bytes else Way.LANES, values)

    def _store_split(self, access: Access, values: tuple[Value, ...]) -> None:
        if self.may_store_rows(access):
            return self.store_rows(access, values[0])
        return self.store_planned(self.lane_by_lane(access), values)

    def to_generic(self, t: Type, space: str, address: Value) -> Value:
        match space:
            case "shared":
                return self.add(t, fit(self.builder, "%shared.host", t), address)
            case "local":
                return self._local_shift("add", t, address)
            case _:
                return address

    def from_generic(self, t: Type, space: str, address: Value) -> Value:
        match space:
            case "shared":
                return self.sub(t, address, fit(self.builder, "%shared.host", t))
            case "local":
                return self._local_shift("sub", t, address)
            case _:
                return address

    def in_space(self, space: str, address: Value) -> Value:
        address = self.resize(unsigned(int(address.type[1:])), U64, address)
        match space:
            case "shared":
                return self._within(address, Value("%shared.host", I64), "%shared.room1")
            case "local":
                return self._within(address, self._lane_bases(), "%local.room1")
            case "global":
                constant = self._within_places("const", address)
                return self.invert_mask(self.binary("or", self._within_windows(address), constant))
            case "const" | "param":
                return self._within_places(space, address)
            case _:
                return Value("false", "i1")

    def _within_places(self, space: str, address: Value) -> Value:
        """Whether generic addresses lie in a constant variable, or in the kernel's parameters."""
        found = Value("false", "i1")
        for start, size in self.places(self.builder, space):
            offset = self.binary("sub", address, start)
            found = self.binary("or", found, self.test("icmp ult", offset, Value(str(size), I64)))
        return found

    def trap(self) -> None:
        self.record_fault(FaultKind.TRAP, self.mask)
        self.builder.void(f"br label %{self.abort}")
        self.builder.label(self.builder.block_name("after.trap"))

    def record_fault(self, kind: int, lanes: Value, address: str = "0") -> None:
        """Records a fault of the first of some lanes, at the current line."""
        record = llvm_runtime.fault(self.module)
        count = self.module.declare("llvm.cttz.i32", "i32", ("i32", "i1"))
        lane = self.builder.emit(f"call i32 {count}({self.mask_bits(lanes).typed}, i1 false)")
        lane = self.builder.emit(f"zext i32 {lane} to i64")
        where = f"i64 {self.line}, i64 {address}, i64 {lane}, i64 0, i64 0"
        self.builder.void(f"call void {record}(ptr {self.launch}, ptr {self.worker}, i64 {kind}, {where})")

    # -- addresses -------------------------------------------------------------------------------

    def _access(self, t: Type, space: str, address: Value, count: int, volatile: bool) -> Access:
        if t.bits > 64:
            raise Unsupported(f"memory access of type {t}")
        region, bits = self._region(space), int(address.type[1:])
        if volatile or region is SHARED:
            self.in_order = True
        if bits < U32.bits:
            address = self.resize(unsigned(bits), U32, address)
        elif bits > U32.bits and region in (SHARED, LOCAL, ALIKE) and not _is_short(self.reach):
            address = self._lower_half(region, address)
        if region is not SHARED:
            address = self.resize(unsigned(int(address.type[1:])), U64, address)
        address = self.told_by_lanes(address)
        return Access(element_type(t), count, t.bytes * count, region, address, volatile)

    def _lower_half(self, region: Region, address: Value) -> Value:
        """What counts of a wide register's address in shared or local memory (table 68)."""
        if region is LOCAL and shape_of(address).width == WARP:  # which is to have 64 bits
            return self.and_(U64, address, self.const(U64, (1 << U32.bits) - 1))
        return self.resize(U64, U32, address)

    def _region(self, space: str) -> Region:
        match space:
            case "shared":
                return SHARED
            case "local":
                return LOCAL
            case ALIKE.space:
                return ALIKE
            case _:
                return replace(ARENA, space=space)

    def _lane_bases(self) -> Value:
        """Host address of each lane's local memory."""
        steps = self.constant_lanes(I64, list(range(WARP)))
        shift = LlvmIntegers.binary(self, "mul", self.widened(Value("%local.bytes", I64), WARP), steps)
        return LlvmIntegers.binary(self, "add", self.widened(Value("%local.host", I64), WARP), shift)

    def _local_shift(self, opcode: str, t: Type, address: Value) -> Value:
        lanes = self._lane_bases()
        if t.bits == 32:
            lanes = self.cast("trunc", "i32", lanes)
        return LlvmIntegers.binary(self, opcode, self.vector(address), lanes)

    def _within(self, address: Value, lo: Value, room1: str) -> Value:
        room = Value(self.builder.emit(f"sub i64 {room1}, 1"), I64)
        return self.test("icmp ult", self.binary("sub", address, lo), room)

    def _within_windows(self, address: Value) -> Value:
        """Whether generic addresses lie in the CTA's shared memory or the warp's local memory."""
        shared = self._within(address, Value("%shared.host", I64), "%shared.room1")
        room1 = self.builder.emit("add i64 %local.warp, 1")
        return self.binary("or", shared, self._within(address, Value("%local.host", I64), room1))

    # -- uniform addresses -------------------------------------------------------------------------

    def _load_bases(self, access: Access) -> tuple[Value, ...]:
        """One scalar load, or one for each segment."""
        if self._is_parameter(access) and self.at_start is not None:
            return self._load_parameters(access, self.at_start)
        address = self._safe_bases(access)
        if not self._is_parameter(access):
            self.require(access, address)
        columns: list[list[str]] = [[] for _ in range(access.count)]
        for part in self._parts(address):
            pointer = self._host(access, part)
            for i, column in enumerate(columns):
                column.append(self._load(access.element, pointer, i, access))
        return tuple(self._assemble(access.element, column) for column in columns)

    def _load_same(self, access: Access, plan: Plan) -> tuple[Value, ...]:
        return tuple(self.widened(value, WARP) for value in self._load_bases(access))

    def _is_parameter(self, access: Access) -> bool:
        """Whether the address needs no check: it lies in the kernel's parameter block."""
        at = self.parameter
        return at is not None and 0 <= at <= self.parameter_size - access.size and at % access.size == 0

    def _load_parameters(self, access: Access, lines: dict[str, None]) -> tuple[Value, ...]:
        """Parameters stay as they are during a launch, which LLVM cannot know: loaded once, what depends on
        them alone is computed once too."""
        assert self.parameter is not None
        values: list[Value] = []
        for at in range(self.parameter, self.parameter + access.size, access.word):
            name = f"{PARAMETER}{at}.{access.element}"
            lines[f"  {name}.p = getelementptr i8, ptr %parameters.p0, i64 {at}"] = None
            lines[f"  {name} = load {access.element}, ptr {name}.p, align {access.word}"] = None
            values.append(Value(name, access.element))
        return tuple(values)

    def _safe_bases(self, access: Access) -> Value:
        """Bases with those of segments without active lanes replaced by a valid address."""
        address = bases(access.address)
        if address.width == 1 or self.mask_is_full or self._is_proven(access):
            return address
        if self._is_sure(access, address, access.size):
            return address
        lo = Value(access.region.lo, address.type)
        return self.pick(self.rows_of(self.mask, address.width), address, self.widened(lo, address.width))

    def require(self, access: Access, address: Value) -> None:
        """Faults unless all bases are valid."""
        if self._is_proven(access) or self._is_sure(access, address, access.size):
            return
        good, bad = (self.builder.block_name(hint) for hint in ("ok", "bad"))
        valid = self._all(self._valid(access, address, access.size))
        self.builder.void(f"br i1 {valid}, label %{good}, label %{bad}{LIKELY}")
        self.builder.label(bad)
        self._refuse(llvm_runtime.load, access, access.address)
        self.builder.label(good)

    def _store_one(self, access: Access, values: tuple[Value, ...]) -> None:
        """All lanes store to one place, or those of each row: the highest active lane's value stays."""
        address = self._safe_bases(access)
        self.require(access, address)
        if address.width > 1:
            return self._store_rows(access, address, values)
        pointer = self._host(access, address)
        for i, value in enumerate(values):
            if shape_of(value).is_uniform:
                item = bases(value).ir
            else:
                last = self._last_lane(self.mask_bits(self.mask).ir)
                item = self.builder.emit(f"extractelement {self.vector(value).typed}, i32 {last}")
            place = self._element_pointer(access, pointer, i)
            self.builder.void(
                f"store{access.modifier} {access.element} {item}, ptr {place}, align {access.word}"
            )

        return None

    def _store_rows(self, access: Access, address: Value, values: tuple[Value, ...]) -> None:
        """One store for each row that has active lanes."""
        lanes = WARP // address.width
        for row, part in enumerate(self._parts(address)):
            some, after = self.builder.block_name("some"), self.builder.block_name("after")
            ones = (1 << lanes) - 1 << lanes * row
            bits = self.builder.emit(f"and i32 {self.mask_bits(self.mask).ir}, {ones}")
            found = self.builder.emit(f"icmp ne i32 {bits}, 0")
            self.builder.void(f"br i1 {found}, label %{some}, label %{after}")
            self.builder.label(some)
            last = self._last_lane(bits)
            pointer = self._host(access, part)
            for i, value in enumerate(values):
                item = self.builder.emit(f"extractelement {self.vector(value).typed}, i32 {last}")
                place = self._element_pointer(access, pointer, i)
                self.builder.void(f"store {access.element} {item}, ptr {place}, align {access.word}")
            self.builder.void(f"br label %{after}")
            self.builder.label(after)

    # -- consecutive addresses ---------------------------------------------------------------------

    def _load_contiguous(self, access: Access, plan: Plan) -> tuple[Value, ...]:
        if plan.otherwise is Way.WINDOW and pattern_of(access.address) is not None:
            apart = partial(self._load_apart, access, plan.otherwise)
            return self._either(*self._as_told(access, plan, self._load_contiguous), apart)
        span, parts, ok = self._spans(access, plan.shape)
        ok = self._held_span(access, ok)

        def fast() -> tuple[Value, ...]:
            self._prefetch_spans(access, parts, span, write=False)
            return self._load_spans(access, parts, span)

        slow = partial(self._load_masked, access, parts, span)
        if plan.otherwise is not None and plan.shape.hold == Hold.IN_ROWS:
            slow = partial(self._load_contiguous, *self._in_rows(access, plan))
        elif plan.otherwise is Way.LANES and self.may_have_runs(access):
            slow = partial(self.load_two, access, partial(self._gathered, access))
        elif plan.otherwise is not None:
            slow = partial(self._load_apart, access, plan.otherwise)
        return self._either(ok, fast, slow, likely=True)

    def _in_rows(self, access: Access, plan: Plan) -> tuple[Access, Plan]:
        """An access whose lanes are in several rows: where one ends the next one may begin."""
        lanes = replace(access, address=self.vector(access.address), in_rows=True)
        return lanes, replace(plan, shape=Shape(self.block.segments, access.size, Hold.LIKELY))

    def _held_span(self, access: Access, ok: str) -> str:
        """A test of spans, which a trial takes to hold where addresses surely are consecutive."""
        return self.hold(ok) if shape_of(access.address).is_affine else ok

    def _spans(self, access: Access, shape: Shape) -> tuple[int, list[Value], str]:
        """Lanes of a span, the spans' addresses, and i1: each is valid as a whole."""
        span = self.segment
        if shape.exact or isinstance(access.address, Guarded):
            base = bases(access.address)
            segments = max(shape.width, self.block.segments)
            parts = [base] * segments if base.width == 1 else self._parts(self.widened(base, segments))
            guard = access.address.valid if isinstance(access.address, Guarded) else "true"
            if self._is_all_proven(access):
                return span, parts, guard
            if self._is_sure(access, access.address, span * access.size):
                return span, self.in_series(access.address), "true"
            return span, parts, self.both(guard, self._all(self._valid(access, base, span * access.size)))
        return self._tested_spans(access)

    def _tested_spans(self, access: Access) -> tuple[int, list[Value], str]:
        """`_spans` of addresses that may turn out to be consecutive, in runs of half a warp at least: a
        vector register holds no more, and butterflies come in such runs. What is tested are addresses before
        they are moved: once for all members of a structure, or all turns of a loop."""
        address, span = self.vector(access.address), min(WARP // 2, self.segment)
        # Where the test fails anyway, what tests share only takes registers.
        address, moved = (address, _as_it_is) if self.is_scattered else self.as_moved(address)
        starts = [self.builder.emit(f"extractelement {address.typed}, i32 {i}") for i in range(0, WARP, span)]
        steps = self.constant_lanes(address.type, [access.size * (lane % span) for lane in range(WARP)])
        bases_of_runs = self.widened(self._assemble(address.type, starts), WARP)
        expected = LlvmIntegers.binary(self, "add", bases_of_runs, steps)
        ok = self._all(self._agrees(address, expected))
        parts = [moved(Value(start, address.type)) for start in starts]
        for part in parts:
            ok = self.both(ok, self._valid(access, part, span * access.size).ir)
        return span, parts, ok

    def _prefetch_spans(self, access: Access, parts: list[Value], span: int, write: bool) -> None:
        if access.region not in OWNED and len(parts) <= FEW_PARTS:
            self.prefetch(parts, span * access.size, write)

    def _load_spans(self, access: Access, parts: list[Value], span: int) -> tuple[Value, ...]:
        if access.count == 4 and span % PIECE == 0 and self.permutes(access.element):
            return self._load_fours(access, parts, span)
        wide = spell(access.element, span * access.count)
        loaded = [
            self.builder.emit(
                f"load{access.modifier} {wide}, ptr {self._host(access, p)}, align {access.size}{OF_PROGRAM}"
            )
            for p in parts
        ]
        whole = self._concatenate(access.element, span * access.count, loaded)
        return self.columns_of(whole, access.count, len(parts) == 1)

    def _load_fours(self, access: Access, parts: list[Value], span: int) -> tuple[Value, ...]:
        """Four words for each lane: register by register, or LLVM would make wide shuffles of it again."""
        kind, pieces = spell(access.element, PIECE), list[Value]()
        for part in parts:
            host = self._host(access, part)
            for i in range(4 * span // PIECE):
                place = self._element_pointer(access, host, i * PIECE)
                text = f"load{access.modifier} {kind}, ptr {place}, align {access.word}"
                pieces.append(Value(self.builder.emit(text), access.element, PIECE))
        even, odd = self._halves(pieces)
        columns = (*self._halves(even), *self._halves(odd))
        x, z, y, w = (self._concatenate(access.element, PIECE, [p.ir for p in c]) for c in columns)
        return x, y, z, w

    def _load_masked(self, access: Access, parts: list[Value], span: int) -> tuple[Value, ...]:
        """Loads by the active lanes alone, after a check of each of them."""
        if access.volatile:
            return self._load_slowly(access)
        self._checked_offsets(access, llvm_runtime.load)
        lanes = span * access.count
        mask = self._interleave([self.mask] * access.count)
        loaded: list[str] = []
        for i, part in enumerate(parts):
            some, place = self.piece(mask, i * lanes, lanes), self._host_before(access, part)
            loaded.append(self.masked_load(place, some, access.element, access.word).ir)
        whole = self._concatenate(access.element, lanes, loaded)
        return self.columns_of(whole, access.count)

    def _load_slowly(self, access: Access) -> tuple[Value, ...]:
        data = self.buffer(access.element, WARP * access.count)
        self.go_on_if(self._call_lanes(llvm_runtime.load(self.module, access.size), access, [data]))
        wide = spell(access.element, WARP * access.count)
        whole = self.emit(f"load {wide}, ptr {data}, align 64", access.element, WARP * access.count)
        return self.columns_of(whole, access.count)

    def _as_told(
        self, access: Access, plan: Plan, run: Callable[[Access, Plan], tuple[Value, ...]]
    ) -> tuple[str, Callable[[], tuple[Value, ...]]]:
        """i1: the guard of an address says that it has its shape; `run` where it does. By itself, this test
        can be one for all accesses at addresses with the same guard."""
        address, shape = access.address, replace(plan.shape, hold=Hold.EXACT)
        assert isinstance(address, Guarded)
        sure = replace(access, address=self.shaped(bases(address), shape))
        return address.valid, partial(run, sure, Plan(plan.way, shape))

    def _store_contiguous(self, access: Access, plan: Plan, values: tuple[Value, ...]) -> tuple[Value, ...]:
        if plan.otherwise is Way.WINDOW and pattern_of(access.address) is not None:
            run = partial(self._store_contiguous, values=values)
            apart = partial(self._store_apart, access, plan.otherwise, values)
            return self._either(*self._as_told(access, plan, run), apart)
        span, parts, ok = self._spans(access, plan.shape)
        ok, self.retreat = self._held_span(access, ok), None
        whole = self._interleave([self.vector(v) for v in values])

        def usual() -> None:
            self._prefetch_spans(access, parts, span, write=True)
            self._store_spans(access, parts, span, whole)

        def fast() -> tuple[Value, ...]:
            self.stores_past(
                access, parts, span, partial(self._store_past, access, parts, span, whole), usual
            )
            return ()

        def slow() -> tuple[Value, ...]:
            if plan.otherwise is not None and plan.shape.hold == Hold.IN_ROWS:
                self._store_contiguous(*self._in_rows(access, plan), values)
            elif plan.otherwise is not None:
                self._store_apart(access, plan.otherwise, values)
            elif access.volatile:
                self._store_slowly(access, whole)
            else:
                self._checked_offsets(access, llvm_runtime.store)
                self._store_masked(access, parts, span, whole)
            return ()

        return self._either(ok, fast, slow, likely=True)

    def _store_spans(self, access: Access, parts: list[Value], span: int, whole: Value) -> None:
        if self.mask_is_full:
            return self._store_plain(access, parts, span, whole)
        if self.is_partly:
            return self._store_masked(access, parts, span, whole, are_valid=True)
        full = self.builder.emit(f"icmp eq i32 {self.mask_bits(self.mask).ir}, -1")

        def plain() -> tuple[Value, ...]:
            self._store_plain(access, parts, span, whole)
            return ()

        def masked() -> tuple[Value, ...]:
            self._store_masked(access, parts, span, whole, are_valid=True)
            return ()

        self._either(full, plain, masked)
        return None

    def _store_plain(self, access: Access, parts: list[Value], span: int, whole: Value) -> None:
        lanes = span * access.count
        for i, part in enumerate(parts):
            piece = self.piece(whole, i * lanes, lanes)
            self.builder.void(
                f"store{access.modifier} {piece.typed}, ptr {self._host(access, part)}, align {access.size}"
            )

    def _store_past(self, access: Access, parts: list[Value], span: int, whole: Value) -> None:
        lanes = span * access.count
        for i, part in enumerate(parts):
            piece, place = self.piece(whole, i * lanes, lanes), self._host(access, part)
            self.builder.void(f"store {piece.typed}, ptr {place}, align {LINE}, !nontemporal {PAST}")

    def _store_masked(
        self, access: Access, parts: list[Value], span: int, whole: Value, are_valid: bool = False
    ) -> None:
        """`are_valid`: the addresses of all lanes, running or not."""
        lanes = span * access.count
        mask = self._interleave([self.mask] * access.count)
        pieces = [(i * lanes, self._host_before(access, part)) for i, part in enumerate(parts)]

        def by(store: Callable[..., None]) -> None:
            for first, place in pieces:
                if access.region not in OWNED:
                    self.announce(place, lanes * access.word)
                store(self.piece(whole, first, lanes), place, self.piece(mask, first, lanes), access.word)

        if are_valid:
            self.store_some(access, by)
        else:
            by(self.masked_store)

    def _store_slowly(self, access: Access, whole: Value) -> None:
        data = self.spilled(whole)
        self.go_on_if(self._call_lanes(llvm_runtime.store(self.module, access.size), access, [data]))

    # -- scattered addresses -----------------------------------------------------------------------

    def _plan(self, access: Access, stores: bool) -> Plan:
        """How the access is done. Addresses of which nothing is known are tested at run time: clamped
        coordinates and the like are consecutive in most warps, and the test costs a tenth of a gather. (That
        they go by other steps in each row is no good guess: a sum of two of them seems to.)"""
        address = access.address
        guessed = isinstance(address, Guarded) and address.guessed and address.width > 1
        shape = shape_of(address)
        return plan_of(
            shape, access.size, access.count, access.region.space, self.block,
            stores=stores, volatile=access.volatile, windows=self.looks_up(access),
            gathers=self.has_gathers or guessed, picks=None if guessed else self.picks,
            near=None if guessed or stores else self.loads_near(shape.stride, access.size, access.count),
        )  # fmt: skip

    def _load_apart(self, access: Access, way: Way) -> tuple[Value, ...]:
        if way is Way.TURNS:
            return self._load_slowly(access)
        if way is Way.SPREAD:
            return self.load_spread(access, partial(self._gathered_anyhow, access))
        if way is Way.WINDOW:
            return self.load_window(access, partial(self._load_apart, access, Way.LANES))
        if way in (Way.STEPS, Way.NEAR):
            lanes = HALF if way is Way.STEPS and self.runs_in_half and not access.volatile else self.segment
            fast = partial(self._load_by_steps, access, way is Way.NEAR)
            fast = partial(self.load_half, access) if lanes < self.segment else fast
            slow = partial(self._load_slowly if access.volatile else self._gathered, access)
            return self._either(self.are_steps_valid(access, lanes), fast, slow, likely=True)
        return self._gathered(access)

    def _load_by_steps(self, access: Access, near: bool) -> tuple[Value, ...]:
        stride = shape_of(access.address).stride
        if near and self.segment == WARP:
            self.ask_for_later(access, bases(access.address), stride * WARP)
        return self.load_by_steps(access, near)

    def _load_without_rows(self, access: Access) -> tuple[Value, ...]:
        access = without_rows(access)
        if shape_of(access.address).is_uniform:
            return self._load_bases(access)
        return self._gathered(access)

    def _gathered(self, access: Access) -> tuple[Value, ...]:
        if self.may_be_together(access):
            return self.load_together(access, partial(self._gathered_anyhow, access))
        index = self.index_of(access)
        if index is not None:
            inside, index = self.inside_by_index(access, index)
            by_index = partial(self.gather_elements, access, index)
            return self._either(inside, by_index, partial(self._load_slowly, access), likely=True)
        gathered = partial(self._gathered_anyhow, access)
        return self.load_near(access, gathered) if self.may_be_near(access) else gathered()

    def _gathered_anyhow(self, access: Access) -> tuple[Value, ...]:
        return self.gather_all(access, self._checked_offsets(access, llvm_runtime.load))

    def _store_apart(self, access: Access, way: Way, values: tuple[Value, ...]) -> tuple[Value, ...]:
        match way:
            case Way.TURNS if access.volatile:
                self._store_slowly(access, self._interleave([self.vector(v) for v in values]))
            case Way.TURNS | Way.LANES if self._may_store_runs(access):
                values = tuple(self.vector(v) for v in values)
                self._store_in_runs(access, values[0], partial(self._scatter, access, values))
            case Way.WINDOW:
                self.store_window(access, values[0], partial(self._store_apart, access, Way.LANES, values))
            case Way.STEPS | Way.NEAR:
                apart = Way.TURNS if access.word < 4 else Way.LANES
                otherwise = partial(self._store_apart, access, apart, values)
                self.store_by_steps(access, way is Way.NEAR, values, otherwise)
            case _:
                self._scatter(access, values)
        return ()

    def _may_store_runs(self, access: Access) -> bool:
        return access.count == 1 and not access.volatile and self.may_have_runs(access)

    def _store_in_runs(self, access: Access, value: Value, otherwise: Callable[[], None]) -> None:
        def apart() -> tuple[Value, ...]:
            otherwise()
            return ()

        def in_more() -> tuple[Value, ...]:
            self.store_runs(access, self._checked_offsets(access, llvm_runtime.store), value, apart)
            return ()

        self.store_two(access, value, in_more)

    def _scatter(self, access: Access, values: tuple[Value, ...]) -> None:
        index = self.index_of(access) if access.word >= LEAST else None
        if index is not None:
            return self._scatter_elements(access, index, self.vector(values[0]))
        offset = self._checked_offsets(access, llvm_runtime.store)
        for i, value in enumerate(values):
            places = self._places_at(access, offset, i * access.word)
            self.scatter_of(access, places, self.vector(value))
        return None

    def _scatter_elements(self, access: Access, index: Index, data: Value) -> None:
        inside, index = self.inside_by_index(access, index)

        def by_index() -> tuple[Value, ...]:
            self.scatter_elements(access, index, data)
            return ()

        def slowly() -> tuple[Value, ...]:
            self._store_slowly(access, data)
            return ()

        self._either(inside, by_index, slowly, likely=True)


def _is_short(reach: Range) -> bool:
    """Whether addresses within these bounds have nothing in their upper half."""
    return reach.lo >= 0 and reach.hi < 1 << U32.bits
