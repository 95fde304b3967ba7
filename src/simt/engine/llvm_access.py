"""Accesses of a warp to memory: where state spaces lie, checks of addresses, and pieces of vectors."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property, partial, reduce
from types import MappingProxyType

from simt.analysis.access import ALIKE as ALIKE_SPACE
from simt.analysis.access import is_proven
from simt.analysis.range_algebra import UNKNOWN, Range
from simt.analysis.shape import WARP, Hold
from simt.engine import llvm_fours, llvm_runtime
from simt.engine.abi import SPACES
from simt.engine.host import SLOW_GATHERS
from simt.engine.llvm_algebra import LlvmIntegers
from simt.engine.llvm_branches import LIKELY, UNLIKELY
from simt.engine.llvm_builder import Builder, ModuleText, Value, mangled, spell
from simt.engine.llvm_frame import Frame
from simt.engine.llvm_lanes import Guarded, bases, shape_of
from simt.engine.llvm_prefetch import PrefetchAlgebra
from simt.engine.llvm_scopes import OF_PROGRAM
from simt.ptx.types import S32, U32, U64, Type, unsigned
from simt.records import dataclass, field, replace

I64 = "i64"


@dataclass(frozen=True, slots=True)
class Region:
    """Where a state space lies: valid addresses are `lo <= a < lo + room1 - 1`; host memory begins at
    `host`, `lane_stride` bytes further for each lane. All are IR names of i64 values."""

    space: str
    lo: str
    room1: str
    host: str
    lane_stride: str = "0"

    @property
    def number(self) -> int:
        """Of the state space, as those who report faults know it."""
        return SPACES.index("local" if self.space == ALIKE_SPACE else self.space)


ARENA = Region("global", "%arena.base", "%arena.room1", "%arena.base")
SHARED = Region("shared", "0", "%shared.room1", "%shared.host")
LOCAL = Region("local", "0", "%local.room1", "%local.host", "%local.bytes")
WOVEN = Region("woven", "0", "%woven.room1", "%local.host")
"""The local memory of a warp's lanes together: see `simt.engine.llvm_woven`."""
ALIKE = Region(ALIKE_SPACE, "0", "%local.room1", "%local.host")
"""Local memory in which all lanes have the same, once for a warp: see `simt.analysis.alike_frames`."""
OWNED = SHARED, WOVEN, ALIKE
"""Where no other native thread gets at."""


@dataclass(frozen=True, slots=True)
class Access:
    """One memory operation: element type in memory, elements per lane, and the address. `private`: the one of
    local memory, of woven local memory. `in_rows`: lanes are in several rows of an index, told by quotients
    and remainders."""

    element: str
    count: int
    size: int  # bytes per lane
    region: Region
    address: Value
    volatile: bool
    private: Access | None = None
    in_rows: bool = False

    @property
    def word(self) -> int:
        return self.size // self.count

    @property
    def modifier(self) -> str:
        return " volatile" if self.volatile else ""


_REGISTERS = (("avx512f", 512, "v"), ("avx", 256, "x"), ("sse2", 128, "x"))
"""x86's vector registers: their bits, and how LLVM names them in assembly."""
LATEST = 8
"""Results that are kept before an access: sums of a few chains."""


Places = Callable[[Builder, str], Sequence[tuple[Value, int]]]
"""Addresses (i64) and sizes of what a state space consists of, for code that a builder takes."""


def no_places(builder: Builder, space: str) -> Sequence[tuple[Value, int]]:
    return ()


@dataclass(slots=True)
class Beginning:
    """What is made where a function begins, once for all accesses that need it: the names of `limits`, by
    what `AccessAlgebra` says of them."""

    builder: Builder = field(default_factory=partial(Builder, prefix="%bounds."))
    limits: dict[tuple[str, int, int, Type], Value] = field(
        default_factory=dict[tuple[str, int, int, Type], Value]
    )


def _may_be_in_order(value: Value) -> bool:
    """Whether a value is a column unless a guard says that base and stride tell it."""
    return isinstance(value, Guarded) and shape_of(value).by_bit is None


def fit(builder: Builder, name: str, t: Type) -> Value:
    """An i64 as an integer type."""
    return (
        Value(name, I64)
        if t.bits == 64
        else Value(builder.emit(f"trunc i64 {name} to i{t.bits}"), f"i{t.bits}")
    )


class AccessAlgebra(PrefetchAlgebra):
    """`PrefetchAlgebra` with what all accesses need. Code goes on at `abort`
    after a fault. `asked`: the runtime has been called. `has_looked`: a window of shared memory has been
    used. `is_repeated`: the latest op is of a kind that becomes calls when it has taken some lines (see
    `simt.engine.llvm_repeats`). `computed`: the latest results of arithmetic on floats in this
    block of code, of which no other one is made, by what defines them.

    `parameter`: offset of the address in the kernel's parameter block of `parameter_size` bytes, None if
    the address is any other or unknown. `at_start`: lines that load parameters when the kernel begins, None
    if they are loaded where they are used. `beginning` of the function, None where limits are made at each
    access. `frame`: what large functions pass to those that they call. `reach`: bounds of the address.
    `sizes`: by state space, bytes that there are at least."""

    asked = False
    has_looked = False
    is_repeated = False
    parameter: int | None = None
    parameter_size = 0
    at_start: dict[str, None] | None = None
    beginning: Beginning | None = None
    frame: Frame | None = None
    reach = UNKNOWN
    sizes: Mapping[str, int] = MappingProxyType({})
    places: Places = staticmethod(no_places)
    abort = "abort"
    computed: Mapping[Hashable, Value] = MappingProxyType({})

    @property
    def has_gathers(self) -> bool:
        """Whether the CPU has gathers that are faster than loads of each lane."""
        return "avx2" in self.features and SLOW_GATHERS not in self.features

    @property
    def goes_by_lane(self) -> bool:
        """Whether places of lanes are served one by one: it has neither masks nor fast gathers."""
        return "avx512f" not in self.features and not self.has_gathers

    # -- sums with constants ---------------------------------------------------------------------------

    @cached_property
    def _sums(self) -> dict[str, tuple[Value, int]]:
        """By names of scalars and bases: what they are the sum of."""
        return {}

    def add(self, t: Type, a: Value, b: Value) -> Value:
        """Notes sums of addresses with constants: CPUs add those as they load and store."""
        total = (self._march_on(t, a, b) if t.bits == U64.bits else None) or super().add(t, a, b)
        for one, other in ((a, b), (b, a)) if t.bits in (32, 64) else ():
            if other.literal is not None:
                self._note_sum(total, bases(one), other.literal)
                if isinstance(one, Guarded) and isinstance(total, Guarded) and not total.often_wrong:
                    return self._noting_lanes(total, one, other)
        return total

    def _noting_lanes(self, total: Guarded, part: Guarded, constant: Value) -> Guarded:
        """The same sum, whose lanes, if they are made, are noted too."""

        def lanes() -> Value:
            column = bases(part.lanes())
            made = LlvmIntegers.binary(self, "add", column, self.widened(bases(constant), WARP))
            self._note_sum(made, column, constant.literal or 0)
            return self.shaped(made, replace(total.shape, hold=Hold.LIKELY))

        return replace(total, lanes=lanes)

    def _note_sum(self, total: Value, part: Value, constant: int) -> None:
        if total.ir.startswith("%") and total.ir != part.ir and part.width == total.width:
            bits, (part, more) = int(total.type[1:]), self._sums.get(part.ir, (part, 0))
            self._sums[total.ir] = part, (constant + more + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)

    def as_sum(self, value: Value) -> tuple[Value, int]:
        """A value as a sum, modulo its width, of another one and a constant (0 if none is known)."""
        return self._sums.get(value.ir, (value, 0))

    # -- sums of a column and a number of all lanes: see `simt.engine.llvm_marches` -----------------------

    @cached_property
    def _marches(self) -> dict[str, tuple[Value, Value]]:
        """By names of columns: what they are the sum of."""
        return {}

    def marched(self, start: Value, gone: Value) -> Value:
        """The sum of a column that a loop does not change and a number."""
        total = LlvmIntegers.binary(self, "add", start, self.widened(gone, start.width))
        self._marches[total.ir] = start, gone
        return total

    def _march_on(self, t: Type, a: Value, b: Value) -> Value | None:
        """The sum, of 64 bits, where it is guessed how lanes lie, of columns of which some march, or of one
        and a number: what lanes begin with is added by itself, as it may be the same in all turns of a loop.
        None if it is no such sum."""
        one, other = shape_of(a), shape_of(b)
        if one.width < WARP and other.width < WARP:
            return None
        shape = self.shapes.add(t, one, other)
        if shape.by_bit is None or any(_may_be_in_order(v) for v in (a, b)):
            return None
        columns = [self.vector(v) for v in (a, b) if shape_of(v).width == WARP]
        known = [self._marches.get(column.ir, (column, None)) for column in columns]
        numbers = [bases(v) for v in (a, b) if shape_of(v).is_uniform]
        if len(columns) + len(numbers) < 2 or any(number.literal is not None for number in numbers):
            return None
        numbers += [gone for _, gone in known if gone is not None]
        if not numbers:
            return None
        add = partial(LlvmIntegers.binary, self, "add")
        total = self.marched(reduce(add, (start for start, _ in known)), reduce(add, numbers))
        return self.shaped(total, shape)

    def gone(self, total: Value) -> Value:
        """The number, of a column that `marched` made."""
        return self._marches[total.ir][1]

    @cached_property
    def marching_in_rows(self) -> dict[str, tuple[str, str]]:
        """By names of columns that `marched` made, whose lanes may be in a few rows of an index: the line
        that makes it, and the name of the mask of lanes that run there."""
        return {}

    def as_moved(self, column: Value) -> tuple[Value, Callable[[Value], Value]]:
        """A column from which one differs by the same in all lanes, and what makes elements of the latter of
        its elements."""
        part, constant = self.as_sum(column)
        start, gone = self._marches.get(part.ir, (part, None))

        def moved(element: Value) -> Value:
            if gone is not None:
                element = LlvmIntegers.binary(self, "add", element, gone)
            return self.plus(element, constant)

        return start, moved

    def _sum_of(self, access: Access, address: Value) -> tuple[Value, int]:
        """An address as a sum that does not wrap, of another one and a constant (0 if none is known)."""
        part, constant = self.as_sum(address)
        surely = address.type == I64 or (self._is_proven(access) and self.reach.lo >= constant)
        return (part, constant) if surely else (address, 0)

    # -- checks ------------------------------------------------------------------------------------

    def _is_proven(self, access: Access) -> bool:
        """Whether addresses that are right for every lane, running or not, need no check."""
        return self._proven_within(access, self.reach)

    def _is_all_proven(self, access: Access) -> bool:
        """Whether nothing from the first lane's word to the last one's, by the steps of the address, needs a
        check. A guess says nothing of lanes that do not run: what they would get at so is another place."""
        guessed = isinstance(access.address, Guarded) and access.address.guessed
        return self._is_proven(access) and (self.mask_is_full or not guessed)

    def _proven_within(self, access: Access, reach: Range) -> bool:
        return is_proven(reach, access.size, self.sizes.get(access.region.space, 0))

    def _offset(self, access: Access, address: Value) -> Value:
        if access.region.lo == "0":
            return address
        return LlvmIntegers.binary(
            self, "sub", address, self.widened(Value(access.region.lo, I64), address.width)
        )

    def _valid(self, access: Access, address: Value, span: int) -> Value:
        """i1 for each address: `span` bytes from it are in the region, and it is aligned.

        One comparison does for both: rotated right, a misaligned offset is greater than any limit. Where
        addresses are known to be aligned, nothing is rotated: LLVM, which often knows it too, makes a
        rotation of known bits a shift of two words, six operations on AMD's CPUs."""
        if access.region.lo == "0" and 1 << self.reach.zeros >= access.size:
            offset, shift = address, 0
        else:
            offset, shift = self._rotated_offset(access, address), access.size.bit_length() - 1
        return self.test("icmp ult", offset, self.widened(self._limit(access, span, shift), offset.width))

    def _checked_offsets(self, access: Access, slow: Callable[..., str]) -> Value:
        """Offsets within the region (one, if all lanes have it), after a fault if that of an active lane is
        not valid."""
        shape = shape_of(access.address)
        same = shape.width == 1 and shape.exact and not shape.stride
        address = access.address if same else self.vector(access.address)
        if self._is_proven(access):
            return self._offset(access, address)
        good, fails = self.builder.block_name("ok"), self.builder.block_name("bad")
        if self.goes_by_lane and address.type == I64 and not same:
            look = self.builder.block_name("look")
            surely = self._are_together(access, self._offset(access, address))
            self.builder.void(f"br i1 {surely}, label %{good}, label %{look}{LIKELY}")
            self.builder.label(look)
        wrong = self.invert_mask(self._valid(access, address, access.size))
        bad = self.both(wrong.ir, self.any(self.mask)) if same else self.any(self.mask_and(self.mask, wrong))
        self.builder.void(f"br i1 {bad}, label %{fails}, label %{good}{UNLIKELY}")
        self.builder.label(fails)
        self._refuse(slow, access, address)
        self.builder.label(good)
        return self._offset(access, address)

    def _are_together(self, access: Access, offset: Value) -> str:
        """i1: no lane, running or not, has an offset that is not valid. None is greater than the offset that
        has the bits of all of them; so that may be too great where none is, unless the region has a power of
        two of bytes. CPUs without masks of lanes take far longer to compare each lane of 64 bits."""
        kind, shift = offset.type, access.size.bit_length() - 1
        name = f"llvm.vector.reduce.or.{mangled(kind, offset.width)}"
        function = self.module.declare(name, kind, (offset.spelled,))
        bits = Value(self.builder.emit(f"call {kind} {function}({offset.typed})"), kind)
        return self.test("icmp ult", self._rotated(bits, shift), self._limit(access, access.size, shift)).ir

    def _rotated_offset(self, access: Access, address: Value) -> Value:
        return self._rotated(self._offset(access, address), access.size.bit_length() - 1)

    def _rotated(self, value: Value, shift: int) -> Value:
        """Rotated right by some bits."""
        if not shift:
            return value
        name = f"fshr.{mangled(value.type, value.width)}"
        count = self.widened(Value(str(shift), value.type), value.width)
        function = self.module.declare(f"llvm.{name}", value.spelled, (value.spelled,) * 3)
        text = f"call {value.spelled} {function}({value.typed}, {value.typed}, {count.typed})"
        return self.emit(text, value.type, value.width)

    def _limit(self, access: Access, span: int, shift: int) -> Value:
        """The first offset, in units of `2**shift` bytes, at which `span` bytes do not fit the region."""
        t = unsigned(int(access.address.type[1:]))
        key = access.region.room1, span, shift, t
        if self.beginning is None:
            return self._limit_in(self.builder, *key)
        if key not in self.beginning.limits:
            self.beginning.limits[key] = self._limit_in(self.beginning.builder, *key)
        return self.beginning.limits[key]

    def _limit_in(self, builder: Builder, room1: str, span: int, shift: int, t: Type) -> Value:
        saturate = self.module.declare("llvm.usub.sat.i64", I64, (I64, I64))
        limit = builder.emit(f"call i64 {saturate}(i64 {room1}, i64 {span})")
        if shift:
            limit = builder.emit(f"add i64 {limit}, {(1 << shift) - 1}")
            limit = builder.emit(f"lshr i64 {limit}, {shift}")
        return fit(builder, limit, t)

    def _last_lane(self, bits: str) -> str:
        """The highest lane of some, lane 0 if there is none. (That must be a lane, too: LLVM moves code that
        takes it out of a column ahead of the test for lanes, and trusts the number there.)"""
        count = self.module.declare("llvm.ctlz.i32", "i32", ("i32", "i1"))
        some = self.builder.emit(f"or i32 {bits}, 1")
        zeros = self.builder.emit(f"call i32 {count}(i32 {some}, i1 true)")
        return self.builder.emit(f"sub i32 {WARP - 1}, {zeros}")

    def apart(
        self, hint: str, run: Callable[..., Value | None], *operands: Value, called: bool = False
    ) -> Value:
        """A method of this class with plain operands, as a function; its result. `called`: LLVM is not to
        put it in place of the call."""
        names = [Value(f"%a{i}", v.type, v.width) for i, v in enumerate(operands)]
        inner = type(self)(Builder(), self.module, self.features, self.block, self.environment)
        result = run(inner, *names)
        inner.builder.void(f"ret {result.typed}" if result else "ret void")
        kind = result.spelled if result else "void"
        parameters = [v.typed for v in names]
        name = self.module.inlined(f"simt.{hint}", kind, parameters, inner.builder.lines, not called)
        call = f"call {kind} @{name}({', '.join(v.typed for v in operands)})"
        if result is None:
            self.builder.void(call)
            return Value("", "void")
        return self.emit(call, result.type, result.width)

    # -- pieces ------------------------------------------------------------------------------------

    def _call_lanes(self, function: str, access: Access, buffers: list[str]) -> str:
        """Calls a function of the runtime over the active lanes; i1: it reports no fault."""
        self.asked = True
        self._need_computed()
        address = self.vector(access.address)
        if address.type == "i32":
            address = self.cast("zext", I64, address)
        addresses = self.spilled(address)
        region = access.region
        space = region.number
        extra = "".join(f", ptr {b}" for b in buffers)
        return self.builder.emit(
            f"call i1 {function}(ptr {self.launch}, ptr {self.worker}, ptr {addresses}, "
            f"{self.mask_bits(self.mask).typed}, i64 {region.lo}, i64 {region.room1}, i64 {region.host}, "
            f"i64 {region.lane_stride}, i64 {self.line}, i64 {space}{extra})"
        )

    def _refuse(
        self, function: Callable[[ModuleText, int, str], str], access: Access, address: Value
    ) -> None:
        """Records the fault of the first active lane with an address that is not valid, and stops the warp.
        `function` of the runtime finds it where addresses differ."""
        if access.private is not None:
            access, address = access.private, access.private.address
        shape, region = shape_of(address), access.region
        if shape.is_uniform:
            self.asked = True
            self._need_computed()
            one = self.resize(unsigned(int(address.type[1:])), U64, bases(address))
            given = f"{one.typed}, {self.mask_bits(self.mask).typed}, i64 {self.line}"
            lies = f"i64 {region.lo}, i64 {region.room1}, i64 {region.number}, i64 {access.size}"
            self.builder.void(f"call void {self._refusal(given, lies)}")
        else:
            buffer = self.buffer(f"i{8 * access.size}", WARP)
            name = function(self.module, access.size, llvm_runtime.SELDOM)
            self._call_lanes(name, replace(access, address=address), [buffer])
        self.builder.void(f"br label %{self.abort}")

    def _refusal(self, given: str, lies: str) -> str:
        """The call of `llvm_runtime.refuse`; in a large function of one that finds out where the region
        `lies` itself."""
        if self.frame is None:
            function = llvm_runtime.refuse(self.module)
            return f"{function}(ptr {self.launch}, ptr {self.worker}, {given}, {lies})"
        function = llvm_runtime.refuse_in(self.module, self.frame, lies)
        return f"{function}({', '.join(self.frame.parameters)}, {given})"

    def _need_computed(self) -> None:
        """Says that what has been computed is needed where a fault may end the warp. Else LLVM's code
        generator takes arithmetic for something that an access may make superfluous, moves it behind all
        accesses that follow, and keeps operands in memory meanwhile."""
        found = next((r for r in _REGISTERS if r[0] in self.features), None)
        if found is None:
            return
        _, bits, register = found
        for value in self.computed.values():
            count = bits // (64 if value.type == "double" else 32)
            pieces = [self.piece(value, start, count) for start in range(0, WARP, count)]
            constraints = ",".join([register] * len(pieces))
            operands = ", ".join(piece.typed for piece in pieces)
            self.builder.void(f'call void asm sideeffect "", "{constraints}"({operands})')

    def go_on_if(self, ok: str) -> None:
        """Stops the warp unless the i1 holds."""
        after = self.builder.block_name("go")
        self.builder.void(f"br i1 {ok}, label %{after}, label %{self.abort}")
        self.builder.label(after)

    def buffer(self, element: str, count: int) -> str:
        """Stack memory; the emitter moves these allocations to the function's entry."""
        return self.builder.emit(f"alloca [{count} x {element}], align 64")

    def spilled(self, value: Value) -> str:
        """A vector (of 32 lanes at least) in stack memory."""
        if value.width <= WARP:
            value = self.vector(value)
        place = self.buffer(value.type, value.width)
        self.builder.void(f"store {value.typed}, ptr {place}, align 64")
        return place

    def _host(self, access: Access, address: Value) -> str:
        """Pointer to a scalar address."""
        address, constant = self._sum_of(access, address)
        if constant:
            pointer = self._host(access, address)
            return self.builder.emit(f"getelementptr i8, ptr {pointer}, i64 {constant}")
        if access.region not in OWNED:
            return self.pointer(address)
        host = "%shared.start" if access.region is SHARED else self.pointer(Value(access.region.host, I64))
        offset = self.resize(U32, U64, Value(address.ir, address.type)) if address.type == "i32" else address
        return self.builder.emit(f"getelementptr i8, ptr {host}, i64 {offset.ir}")

    def _host_before(self, access: Access, address: Value) -> str:
        """Pointer to a scalar address that may lie below the region, if later lanes are to use it."""
        if access.region is not SHARED or address.type != "i32":
            return self._host(access, address)
        return self._host(access, self.resize(S32, U64, Value(address.ir, address.type)))

    def _element_pointer(self, access: Access, pointer: str, index: int) -> str:
        if index == 0:
            return pointer
        return self.builder.emit(f"getelementptr {access.element}, ptr {pointer}, i64 {index}")

    def _load(self, element: str, pointer: str, index: int, access: Access) -> str:
        place = self._element_pointer(access, pointer, index)
        return self.builder.emit(
            f"load{access.modifier} {element}, ptr {place}, align {access.word}{OF_PROGRAM}"
        )

    def _is_sure(self, access: Access, address: Value, span: int) -> bool:
        """Whether this code is only run where an access of one span is valid."""
        region = access.region
        return region.space == ARENA.space and self.sure_span(
            address, (region.lo, region.room1), access.size, span
        )

    def _parts(self, value: Value) -> list[Value]:
        """The elements as scalars."""
        if value.width == 1:
            return [value]
        if value.ir in self._sums:
            part, constant = self._sums[value.ir]
            return [self.plus(element, constant) for element in self._parts(part)]
        return [
            Value(self.builder.emit(f"extractelement {value.typed}, i32 {i}"), value.type)
            for i in range(value.width)
        ]

    def plus(self, value: Value, constant: int) -> Value:
        if not constant:
            return value
        total = Value(self.builder.emit(f"add {value.typed}, {constant}"), value.type)
        self._note_sum(total, value, constant)
        return total

    def _concatenate(self, element: str, width: int, pieces: list[str]) -> Value:
        while len(pieces) > 1:
            picks = ", ".join(f"i32 {i}" for i in range(2 * width))
            vector = spell(element, width)
            pieces = [
                self.builder.emit(f"shufflevector {vector} {a}, {vector} {b}, <{2 * width} x i32> <{picks}>")
                for a, b in zip(pieces[::2], pieces[1::2])
            ]
            width *= 2
        return Value(pieces[0], element, width)

    def piece(self, value: Value, start: int, count: int) -> Value:
        if count == value.width:
            return value
        picks = ", ".join(f"i32 {start + i}" for i in range(count))
        text = f"shufflevector {value.typed}, {value.spelled} poison, <{count} x i32> <{picks}>"
        return Value(self.builder.emit(text), value.type, count)

    def concatenated(self, pieces: list[Value]) -> Value:
        """Vectors of the same width, one behind the other."""
        return self._concatenate(pieces[0].type, pieces[0].width, [piece.ir for piece in pieces])

    def columns_of(self, whole: Value, count: int, in_one: bool = True) -> tuple[Value, ...]:
        """The first of `count` elements of each lane, the second ones, and so on. `in_one`: they are at one
        place, not in several rows, which may be the same ones: LLVM sees what those have in common."""
        if in_one and count == llvm_fours.FOUR and llvm_fours.fit(self.features, whole.type, whole.width):
            return llvm_fours.told_apart(self, whole)
        return tuple(self._every(whole, count, i) for i in range(count))

    def _every(self, value: Value, step: int, first: int) -> Value:
        """Each `step`-th element."""
        if step == 1:
            return value
        picks = ", ".join(f"i32 {first + step * i}" for i in range(value.width // step))
        text = f"shufflevector {value.typed}, {value.spelled} poison, <{value.width // step} x i32> <{picks}>"
        return Value(self.builder.emit(text), value.type, value.width // step)

    def permutes(self, element: str) -> bool:
        """Whether the CPU takes elements of any two registers by one instruction, so that four kinds of
        elements are told apart faster by halves: LLVM needs three instructions for each register."""
        return "avx512f" in self.features and element in ("i32", "float")

    def _halves(self, pieces: list[Value]) -> tuple[list[Value], list[Value]]:
        """Every second element of consecutive pieces, from the first and from the second on."""
        pairs = list(zip(pieces[::2], pieces[1::2]))
        first, second = ([self._every_second(a, b, start) for a, b in pairs] for start in (0, 1))
        return first, second

    def _every_second(self, a: Value, b: Value, start: int) -> Value:
        picks = ", ".join(f"i32 {start + 2 * i}" for i in range(a.width))
        text = f"shufflevector {a.typed}, {b.typed}, <{a.width} x i32> <{picks}>"
        return Value(self.builder.emit(text), a.type, a.width)

    def _interleave(self, values: list[Value]) -> Value:
        """Element 0 of each, then element 1 of each ..."""
        n, width = len(values), values[0].width
        if n == 1:
            return values[0]
        if n == 4 and self.permutes(values[0].type):
            return self._interleave([self._interleave(values[0::2]), self._interleave(values[1::2])])
        if n == llvm_fours.FOUR and llvm_fours.fit(self.features, values[0].type, n * width):
            return llvm_fours.put_together(self, values)
        whole = self._concatenate(values[0].type, width, [v.ir for v in values])
        picks = ", ".join(f"i32 {width * (i % n) + i // n}" for i in range(n * width))
        text = f"shufflevector {whole.typed}, {whole.spelled} poison, <{n * width} x i32> <{picks}>"
        return Value(self.builder.emit(text), whole.type, n * width)
