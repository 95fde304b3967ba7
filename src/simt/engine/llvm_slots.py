"""The values of one function: where they are kept between blocks, and how they are read and written.

A value that other blocks use lives in a stack slot, which LLVM turns into registers. A guarded one has
three: base, flag, and lanes for the case that the flag says no.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence, Set
from functools import cache, cached_property, partial
from typing import cast

from simt.analysis.access import ALIKE
from simt.analysis.anyway import run_anyway
from simt.analysis.call_graph import reachable
from simt.analysis.clock import has_clock
from simt.analysis.lanes import representatives
from simt.analysis.nans import one_nan
from simt.analysis.numbered import may_be_joined
from simt.analysis.padded import may_be_padded
from simt.analysis.pending import Pending
from simt.analysis.program import Block, Function, Parameter, Program, Register, SymbolAddress
from simt.analysis.quiet import taken_by_extremes
from simt.analysis.remade import Recipe
from simt.analysis.rolled_lines import Seldom
from simt.analysis.rows import APART, WORTH, candidates, cost, cut
from simt.analysis.schedule import Schedule, schedule
from simt.analysis.shape import UNIFORM, VARYING, WARP, BlockShape, Hold, Shape
from simt.analysis.ssa import Definition, Ssa, build
from simt.analysis.turned import may_be_turned
from simt.analysis.uniformity import Uniformity, used_in
from simt.analysis.unseen import unseen_nans
from simt.analysis.waiting import settle
from simt.analysis.weaving import woven_word
from simt.engine import llvm_open
from simt.engine.drafts import instructions
from simt.engine.host import picks, pieces
from simt.engine.llvm_algebra import element_type
from simt.engine.llvm_bits import BitAlgebra
from simt.engine.llvm_builder import Builder, ModuleText, Value, element_bits, spell
from simt.engine.llvm_float import LlvmAlgebra
from simt.engine.llvm_grouped import GroupedAlgebra
from simt.engine.llvm_kept import Kept
from simt.engine.llvm_lanes import ALL, Guarded, Lanes, bases, shape_of
from simt.engine.llvm_lines import Line
from simt.engine.llvm_loose import Loose, Quiet
from simt.engine.llvm_machine import WARP_FIRST
from simt.engine.llvm_narrow import Bounds
from simt.engine.llvm_open import Present
from simt.engine.llvm_outline import Outlined
from simt.engine.llvm_series import Series
from simt.engine.system_gate import SystemCall
from simt.engine.unsupported import Unsupported
from simt.ptx.types import Type
from simt.records import dataclass, field, quick, replace

STORES_BY_MASK = "avx512bw"
"""What a CPU has that stores some words of a vector as fast as all of them, bytes and halves too."""
FRAME_SCALARS = frozenset({WARP_FIRST, "%warp", "%cta.x", "%cta.y", "%cta.z"})
"""What code anywhere in a function may name."""


@quick
@dataclass(frozen=True, slots=True)
class Part:
    """One of the things stored for a value: the value, or base, flag and lanes of a guarded one."""

    suffix: str
    element: str
    width: int

    @property
    def kind(self) -> str:
        """The LLVM type."""
        return spell(self.element, self.width)

    @property
    def bytes(self) -> int:
        return max(1, self.width * element_bits(self.element) // 8)


@dataclass(frozen=True)
class Analyses:
    """What is known of a function before code is made of it. `uses`: the blocks that use a definition.
    `unseen`: definitions of which nobody sees which NaN they hold. `representatives`: blocks by the block of
    the same lanes."""

    schedule: Schedule
    ssa: Ssa
    uniformity: Uniformity
    pending: Pending
    uses: dict[Definition, set[int]]
    unseen: set[Definition]
    representatives: dict[int, int]


@dataclass
class Unit:
    """What the functions of one compiled kernel share."""

    program: Program
    kernel: Function
    block: BlockShape
    features: frozenset[str]
    module: ModuleText = field(default_factory=ModuleText)
    symbols: dict[str, int] = field(default_factory=dict[str, int])
    called: dict[str, None] = field(default_factory=dict[str, None])
    system: list[SystemCall] = field(default_factory=list[SystemCall])
    spins: bool = False
    """Whether there are loops that wait for other threads, which may be of other CTAs."""
    large: bool = False
    """Whether its functions are too long to be optimised as a whole: see `simt.engine.llvm_outline`."""
    takes_turns: bool = False
    """Whether all barriers of the kernel are ends of loops' turns (`simt.analysis.taking_turns`)."""
    room: int = 0
    """How many times as long as usual functions may be before an emitter raises `TooLarge`. 0: any length."""
    in_fours: bool = False
    """Whether loops of many turns at once are to be of fewer (`simt.analysis.several_turns`)."""
    outlined: Outlined = field(default_factory=Outlined)
    ssa: Ssa | None = None
    """Of the kernel, if it was made before."""
    analyses: dict[tuple[Function, BlockShape], Analyses] = field(
        default_factory=dict[tuple[Function, BlockShape], Analyses]
    )
    """Of functions, for CTAs of a shape: units of one kernel that is emitted in several ways share them."""

    def anew(
        self, kernel: Function, block: BlockShape, large: bool = False, in_fours: bool | None = None
    ) -> Unit:
        """One of which nothing has been emitted, of the same kernel or of another form of it. (Nobody tries
        whether large ones are.)"""
        return Unit(
            self.program, kernel, block, self.features, large=large, room=0 if large else self.room,
            in_fours=self.in_fours if in_fours is None else in_fours,
            ssa=self.ssa if kernel is self.kernel else None, analyses=self.analyses,
        )  # fmt: skip

    def analyse(self, function: Function) -> Analyses:
        place = function, self.block
        if place not in self.analyses:
            known = self.ssa if function is self.kernel else None
            ssa = build(function, schedule(function)) if known is None else known
            order = ssa.schedule
            environment = self.program.environment
            uniformity, pending = settle(ssa, environment, self.block, self.program.functions)
            unseen, same = unseen_nans(ssa, environment), representatives(ssa, uniformity, pending)
            self.analyses[place] = Analyses(order, ssa, uniformity, pending, used_in(ssa), unseen, same)
        return self.analyses[place]

    def choose_shape(self) -> None:
        """Cuts warps into rows, if the kernel asks for such (`simt.analysis.rows`), exchanges the axes of a
        CTA (`simt.analysis.turned`), fills its rows up to warps (`simt.analysis.padded`) or joins several
        (`simt.analysis.joined`), if no thread can tell; where it pays."""
        found, environment = self.analyse(self.kernel), self.program.environment
        order, ssa, limit, given = found.schedule, found.ssa, 0.0, self.block
        tried, word = list(candidates(given, found.uniformity)), picks(self.features)
        for block in tried:
            limit = limit or WORTH * cost(order, ssa, found.uniformity, environment, given, word)
            if block.turned and (limit < APART or not may_be_turned(self.kernel, environment)):
                continue
            if block.joins and not may_be_joined(self.kernel, ssa, environment, block):
                continue
            if block.threads_of_row and (limit < APART or not may_be_padded(self.kernel, environment, block)):
                continue
            uniformity, pending = settle(ssa, environment, block, self.program.functions)
            costs = cost(order, ssa, uniformity, environment, block, word)
            if block.threads_of_row or block.joins:  # arithmetic too: it has more warps, or fewer for a CTA
                arithmetic = instructions(order)
                costs = (costs + arithmetic) * block.warps / block.ctas / given.warps - arithmetic
            if block.is_cut:
                tried += [rows for rows in cut(block, uniformity) if rows not in tried]
            if costs < limit:
                limit, self.block = costs, block
                found = replace(found, uniformity=uniformity, pending=pending)
        if self.block is not given:
            same = representatives(ssa, found.uniformity, found.pending)
            self.analyses[self.kernel, self.block] = replace(found, representatives=same)

    def run_anyway(self, ssa: Ssa, uniformity: Uniformity) -> set[int]:
        """See `simt.analysis.anyway`. Other CPUs than those with masks store lane by lane, or slowly. A clock
        would count such blocks."""
        if self.large or self.has_clock or STORES_BY_MASK not in self.features:
            return set()
        return run_anyway(ssa, uniformity, self.program.environment, self.block)

    def symbol(self, name: str) -> int:
        """Index of a module variable in the launch's table of addresses."""
        return self.symbols.setdefault(name, len(self.symbols))

    @cached_property
    def ops(self) -> int:
        """Instructions of the kernel and of all functions that it may call, but those that are seldom run."""
        functions = self.program.functions
        _, *others = reachable([self.kernel.name], functions)
        reached = self.kernel, *(functions[name] for name in others)
        return sum(
            not isinstance(op.line, Seldom) for function in reached for b in function.blocks for op in b.ops
        )

    @cached_property
    def has_clock(self) -> bool:
        """Whether the kernel or a function that it may call reads `%clock`."""
        return has_clock(self.kernel.name, self.program)

    @cached_property
    def woven(self) -> int:
        """Bytes of the words by which lanes' local memory is woven, 0 if it is not."""
        return woven_word(self.kernel, self.program, self._known)

    def _known(self, function: Function) -> tuple[Ssa, Uniformity]:
        found = self.analyse(function)
        return found.ssa, found.uniformity

    @cached_property
    def pieces(self) -> int:
        """As how many each line of IR counts: see `simt.engine.host`."""
        return pieces(self.features)

    @cached_property
    def function_addresses(self) -> dict[str, int]:
        return self.program.function_addresses

    def system_call(self, call: SystemCall) -> int:
        """Number of a function of the system."""
        if call not in self.system:
            self.system.append(call)
        return self.system.index(call)


@cache
def _parts(element: str, width: int) -> tuple[Part, ...]:
    return (Part("", element, width),)


@cache
def _guarded_parts(element: str, width: int) -> tuple[Part, ...]:
    return Part("", element, width), Part(".valid", "i1", 1), Part(".lanes", element, WARP)


def _is_everywhere(value: Value) -> bool:
    """Whether a value consists of constants and scalars that the function's frame has."""
    return type(value) in (Value, Lanes) and (value.ir in FRAME_SCALARS or not value.ir.startswith("%"))


def zero(t: Type) -> Value:
    element = element_type(t)
    return Value({"float": "0.0", "double": "0.0", "i1": "false"}.get(element, "0"), element)


class SlotEmitter:
    """Analyses of a function, and the slots of its values."""

    def __init__(self, unit: Unit, function: Function) -> None:
        self.unit = unit
        self.function = function
        self.builder = Builder()
        found = unit.analyse(function)
        self.schedule, self.ssa, self.uses = found.schedule, found.ssa, found.uses
        self.uniformity, self.pending = found.uniformity, found.pending
        self.shapes = found.uniformity.shapes
        if unit.large:
            self.shapes = {d: VARYING if s.is_guarded else s for d, s in self.shapes.items()}
        self.m = (BitAlgebra if unit.large else GroupedAlgebra)(
            self.builder, unit.module, unit.features, unit.block, unit.program.environment
        )
        self.m.parameter_size = function.parameter_size
        local = unit.kernel.local_size
        own = {"local": local, ALIKE: local, "woven": local * WARP}
        self.m.sizes = {"shared": unit.kernel.shared_size, **own}
        self.m.woven = unit.woven
        self.m.places = self._places
        self.shared_uses = {d for d, blocks in self.uses.items() if blocks - {d.block.index}}
        self.current: dict[Register, Definition] = {}
        self.unflushed: set[Definition] = set()  # kept with subnormals that mean zeros
        self.one_nan = one_nan(self.ssa, unit.program.environment) if not unit.large else set[Definition]()
        self.unseen = found.unseen
        self.quiet = self._phis_of_extremes()
        self.cache: dict[Definition, Value] = {}
        self.everywhere: dict[Definition, Value] = {}  # constants and the frame's scalars: kept nowhere
        self.late: list[Definition] = []  # f64 results to be kept at the end of the block
        self.present = Present()
        self.m.eager, self.m.has_shared = unit.large, bool(unit.kernel.shared)
        self.found: dict[Definition, Guarded] = {}
        self.series: dict[Definition, Series] = {}
        self.lines: dict[Definition, list[Value]] = {}  # where scalars are: see `simt.engine.llvm_lines`
        # Words that are no more than 16 bits can say: see `simt.engine.llvm_narrow`.
        self.in_16_bits: dict[Definition, Bounds] = {}
        self.remade: Mapping[Definition, Recipe] = {}  # not kept, but made again where they are read
        # Kept, but numbers in code for one warp alone; recipes for them, and for what these need.
        self.of_thread: Set[Definition] = set()
        self.recipes: Mapping[Definition, Recipe] = {}
        self.allocas: dict[str, None] = {}  # lines, in order
        # Of the block: where all lanes of guarded values are kept, by what makes them (not by the base, which
        # a value has in common with its minimum or maximum).
        self.vectors: dict[Callable[[], Value], str] = {}
        # Of the block, in large functions: where columns lie that were not made there; between which calls
        # and labels, and after which line, each was made.
        self.columns: dict[Hashable, Kept] = {}
        self.made: dict[str, tuple[tuple[int, int], int]] = {}

    def part(self) -> None:
        """Lanes may have gone different ways, and stored."""

    def register(self, register: Register) -> Value:
        definition = self.current.get(register)
        if definition is None:
            definition = self.ssa.single[register]
        value = self.cache.get(definition)
        return self.read(definition) if value is None else value

    def read(self, definition: Definition) -> Value:
        if definition in self.cache:
            return self.cache[definition]
        if definition in self.everywhere:
            return self.everywhere[definition]
        if definition.origin == "undefined":
            return zero(definition.register.type)
        shape = self.shape(definition)
        number = shape.const
        if number is None and shape.is_uniform:
            number = self.number_of(definition)
        if number is not None:
            return self.m.const(definition.register.type, number)
        parts = self.parts(definition)
        found = self.found.get(definition)
        if found is not None and found.pattern is not None:
            self.cache[definition] = self._read_found(definition, found)
            return self.cache[definition]
        loaded = self._load_part(definition, parts[0])
        if shape.is_guarded:
            valid = self._load_part(definition, parts[1]).ir
            lanes = partial(self._lanes_of, definition, loaded, valid)
            value = Guarded(loaded.ir, loaded.type, loaded.width, shape, valid, lanes)
        elif found is not None:
            value = self._read_found(definition, found, loaded)
        elif definition in self.quiet and shape == VARYING:
            value = Quiet(loaded.ir, loaded.type, loaded.width)
        else:
            value = self.m.shaped(loaded, shape)
        self.m.note_series(value, self.series.get(definition))
        self.m.note_bounds(value, self.in_16_bits.get(definition))
        if definition in self.lines:
            self.m.note_line(value, Line(*map(self._scalar_beside, self.lines[definition])))
        self.cache[definition] = self.noted(self.m, definition, value)
        return self.cache[definition]

    def number_of(self, definition: Definition) -> int | None:
        """The integer that a definition always is, None if that is not known."""
        return None

    def _tells(self, definition: Definition, value: Value) -> bool:
        """Whether scalars tell more of a value than the analysis knows, wherever it is read."""
        scalars = isinstance(value, Guarded) and value.width == 1
        return scalars and self.shape(definition).is_column and self.may_find(definition)

    def may_find(self, definition: Definition) -> bool:
        """Whether what was seen of a value when it was made holds wherever it is read."""
        return definition not in self.uniformity.blends and not self.unit.large

    def _note_found(self, definition: Definition, value: Guarded) -> None:
        """A value of which the analysis knows nothing is base and stride if a test says so, or its lanes lie
        in a pattern: what tells is kept beside its lanes."""
        self.found[definition] = value
        for name, scalar in self.m.scalars_beside(value).items():
            self.builder.void(f"store {scalar.typed}, ptr {self._beside(definition, name, scalar)}")

    def _read_found(self, definition: Definition, found: Guarded, lanes: Value | None = None) -> Value:
        """`lanes`: None if the value has a pattern, which is enough."""
        scalars = {
            name: replace(scalar, ir=self.builder.emit(f"load {scalar.type}, ptr {place}"))
            for name, scalar in self.m.scalars_beside(found).items()
            for place in (self._beside(definition, name, scalar),)
        }
        return self.m.from_beside(found, lanes, scalars)

    def _keep_line(self, definition: Definition, line: Line) -> None:
        """Where lanes are by scalars, beside the lanes."""
        self.lines[definition] = scalars = [
            Value(self._beside(definition, name, scalar), scalar.type)
            for name, scalar in (("first", line.base), ("step", line.step))
        ]
        for scalar, place in zip((line.base, line.step), scalars, strict=True):
            self.builder.void(f"store {scalar.typed}, ptr {place.ir}")

    def _scalar_beside(self, place: Value) -> Value:
        return Value(self.builder.emit(f"load {place.type}, ptr {place.ir}"), place.type)

    def _beside(self, definition: Definition, name: str, scalar: Value) -> str:
        """Name of the slot for a scalar that is kept beside a value's lanes."""
        slot = f"%slot.{definition.index}.{name}"
        self.allocas[f"  {slot} = alloca {scalar.type}"] = None
        return slot

    def _phis_of_extremes(self) -> set[Definition]:
        """Phis that are kept quiet: those of which nobody sees, or all know, which NaN they hold."""
        if not self.m.has_extremes or self.unit.large:
            return set()
        phis = {phi for block in self.ssa.phis.values() for phi in block if self.shapes.get(phi) == VARYING}
        return taken_by_extremes(self.ssa, phis & (self.unseen | self.one_nan), self.unit.program.environment)

    def noted(self, m: LlvmAlgebra, definition: Definition, value: Value) -> Value:
        """A kept column with what its bits mean."""
        if definition in self.unflushed:
            value = m.loose(value, subnormals=True)
        return m.loose(value, nans=True) if definition in self.one_nan else value

    def as_seen(self, definition: Definition, value: Value) -> Value:
        """A column whose NaNs are not to be settled if nobody sees them."""
        if definition not in self.unseen or not isinstance(value, Loose):
            return value
        return value.changed(value.raw, nans=False, source=None) if value.subnormals else value.raw

    def quieted(self, definition: Definition, value: Value) -> Value:
        """A column as whoever reads it from its slot takes it to be."""
        return self.m.quieted(value) if definition in self.quiet else value

    def bare(self, definition: Definition, value: Value) -> Value:
        """A column as it is kept: settled but for what `noted` says again."""
        value = self.quieted(definition, self.as_seen(definition, value))
        if not isinstance(value, Loose):
            return value
        subnormals = value.subnormals and definition not in self.unflushed
        nans = value.nans and definition not in self.one_nan
        return value.changed(value.raw, subnormals=subnormals, nans=nans)

    def _load_part(self, definition: Definition, part: Part) -> Value:
        text = f"load {part.kind}, ptr {self.place(definition, part)}"
        return Value(self.builder.emit(text), part.element, part.width)

    def _lanes_of(self, definition: Definition, base: Value, valid: str) -> Value:
        """All lanes of a guarded value that was kept."""
        right = self.m.vector(self.m.shaped(base, replace(self.shape(definition), hold=Hold.EXACT)))
        place = self.place(definition, self.parts(definition)[2])
        # Volatile: the rare case is not to take registers from the usual one.
        kept = self.builder.emit(f"load volatile {right.spelled}, ptr {place}")
        text = f"select i1 {valid}, {right.typed}, {right.spelled} {kept}"
        return Value(self.builder.emit(text), right.type, right.width)

    def shape(self, definition: Definition) -> Shape:
        """In large functions a column stands for a guarded value: what makes it is a call then, whose result
        is read as often as the test, the base and the lanes would be made anew."""
        return self.shapes.get(definition, UNIFORM)

    def parts(self, definition: Definition) -> tuple[Part, ...]:
        """What is stored for a value."""
        shape, element = self.shape(definition), element_type(definition.register.type)
        if shape.is_guarded:
            return _guarded_parts(element, shape.width)
        return _parts(element, shape.width if shape.is_affine else WARP)

    @cached_property
    def seen_elsewhere(self) -> Set[Definition]:
        """Values that are read otherwise than by ops of their block."""
        phis = (phi for block in self.ssa.phis.values() for phi in block)
        return self.shared_uses.union(*(phi.inputs.values() for phi in phis))

    def slot(self, definition: Definition, part: Part) -> str:
        """Name of the stack slot for a part of a value."""
        name = f"%slot.{definition.index}{part.suffix}"
        self.allocas[f"  {name} = alloca {part.kind}, align 64"] = None
        return name

    def is_on_stack(self, definition: Definition) -> bool:
        """Whether a value's slots are allocations of the function's own."""
        return True

    def place(self, definition: Definition, part: Part) -> str:
        """The slot for a part of a value, and its alignment."""
        return f"{self.slot(definition, part)}, align 64"

    def as_told(self, definition: Definition, value: Value, shape: Shape) -> Value:
        """What an op has given, as its shape says, which code need not have found out."""
        if shape.width == WARP:  # most have
            return value
        if shape.const is not None:
            return self.m.const(definition.register.type, shape.const)
        wider = shape.is_affine and shape_of(value).width > shape.width
        return self.m.narrowed(value, shape) if wider else value

    def write(self, definition: Definition, value: Value) -> None:
        """Defines a value; keeps it for other blocks if they use it."""
        shape = self.shape(definition)
        value = self.as_told(definition, value, shape)
        in_full = shape.width == WARP and type(value) is Value  # from a call
        if in_full and shape.common < definition.register.type.bits:
            value = self.m.shaped(value, shape)
        if isinstance(value, Loose):
            value = self.as_seen(definition, value)
        self.cache[definition] = value
        if llvm_open.is_long(value):
            llvm_open.settle_long(self.m, self.cache, self.ssa, self.present, self.seen_elsewhere)
            value = self.cache[definition]
        if definition not in self.shared_uses or definition in self.remade:
            return
        if _is_everywhere(value) and not self.unit.large:
            self.everywhere[definition] = value
            return
        series = self.m.series_of(value)
        if series is not None and definition not in self.uniformity.blends:
            self.series[definition] = series
        known = self.m.bounds_of(value)
        if known is not None and self.may_find(definition) and self.is_on_stack(definition):
            self.in_16_bits[definition] = known
        line = self.m.line_of(value)
        if line is not None and self.may_find(definition):
            self._keep_line(definition, line)
        if self._tells(definition, value):
            self._note_found(definition, cast("Guarded", value))
            if self.found[definition].pattern is not None:
                return
        if llvm_open.is_open(value):
            self.late.append(definition)
        else:
            self.store(definition, value, self.m.mask, definition in self.uniformity.blends)

    def settle_late(self, block: Block) -> None:
        """At the end of a block: the NaNs of all its f64 results that others use."""
        llvm_open.settle(self.m, self.cache, (*self.late, *llvm_open.given(self.ssa, block)))
        for definition in self.late:
            blend = definition in self.uniformity.blends
            self.store(definition, self.cache[definition], self.m.mask, blend)
        self.late = []

    def store(self, definition: Definition, value: Value, mask: Value, blend: bool) -> None:
        shape = self.shape(definition)
        if shape.is_affine or shape.is_guarded:
            have = shape_of(value)
            agree = have.hold <= shape.hold and have.stride == shape.stride and have.width <= shape.width
            agree &= have.zeros >= shape.zeros or not shape.exact
            assert agree or shape.is_guarded, (definition, shape, have)
        if shape.is_guarded:
            return self.store_guarded([(definition, value)])
        value = self.bare(definition, value)
        stored, place = self.m.as_shape(value, shape), self.place(definition, self.parts(definition)[0])
        if blend and mask.ir != ALL and stored.width > 1:
            old = self.builder.emit(f"load {stored.spelled}, ptr {place}")
            running = self.m.rows_of(mask, stored.width)
            stored = Value(
                self.builder.emit(f"select {running.typed}, {stored.typed}, {stored.spelled} {old}"),
                stored.type,
                stored.width,
            )
        self.builder.void(f"store {stored.typed}, ptr {place}")
        return None

    def store_guarded(self, moves: Sequence[tuple[Definition, Value]]) -> None:
        """Keeps guarded values; their lanes only where a guard does not hold, all read before any is kept."""
        moves = [(definition, self._as_expected(definition, value)) for definition, value in moves]
        unsure: list[tuple[Definition, Guarded]] = []
        valid = "true"
        for definition, value in moves:
            base, flag, _ = self.parts(definition)
            start = self.m.widened(bases(value), base.width)
            condition = value.valid if isinstance(value, Guarded) else "true"
            self.builder.void(f"store {start.typed}, ptr {self.place(definition, base)}")
            self.builder.void(f"store i1 {condition}, ptr {self.place(definition, flag)}")
            if isinstance(value, Guarded) and condition != "true":
                unsure.append((definition, value))
                valid = self.m.both(valid, condition)
        if not unsure:
            return
        rare, end = self.builder.block_name("lanes"), self.builder.block_name("kept")
        self.builder.void(f"br i1 {valid}, label %{end}, label %{rare}")
        self.builder.label(rare)
        columns = [(self.place(d, self.parts(d)[2]), v.lanes()) for d, v in unsure]
        for place, lanes in columns:
            self.builder.void(f"store volatile {lanes.typed}, ptr {place}")
        self.builder.void(f"br label %{end}")
        self.builder.label(end)
        return

    def _as_expected(self, definition: Definition, value: Value) -> Value:
        """A quotient by what turned out to be a number, or what a limit is told to leave, may have another
        shape than the analysis found: then it is kept as lanes."""
        shape, have = self.shape(definition), shape_of(value)
        if have.stride == shape.stride and have.width <= shape.width:
            return value
        lanes, nothing = self.m.vector(value), self.m.number(value.type, 0)
        base = self.m.widened(nothing, shape.width)
        return Guarded(base.ir, base.type, base.width, shape, "false", lambda: lanes)

    def symbol(self, symbol: SymbolAddress) -> Value:
        match symbol.space:
            case "shared":
                return Value(
                    str(self.unit.kernel.shared[symbol.name] + symbol.offset), f"i{symbol.type.bits}"
                )
            case "local":
                offset = self.function.local[symbol.name] + symbol.offset
                return self._as(symbol.type, self.builder.emit(f"add i64 %sp, {offset}"))
            case "param":
                offset = self.kernel_parameter(symbol.name).offset + symbol.offset
                return self._as(symbol.type, self.builder.emit(f"add i64 %parameters, {offset}"))
            case "global" | "const" | "tex":
                return self._module_symbol(symbol)
            case _:
                raise Unsupported(f"address of a .{symbol.space} variable")

    def _places(self, builder: Builder, space: str) -> list[tuple[Value, int]]:
        """Addresses and sizes of the constant variables (`const`), or of the parameter block (`param`), in
        code of this function or of one that is made of an instruction of it."""
        if space == "param":
            size = self.unit.kernel.parameter_size
            return [(Value("%parameters", "i64"), size)] if size else []
        variables = [v for v in self.unit.program.variables.values() if v.space == space]
        return [(Value(self._variable(builder, v.name), "i64"), v.size) for v in variables]

    def _module_symbol(self, symbol: SymbolAddress) -> Value:
        address = self._variable(self.builder, symbol.name)
        return self._as(symbol.type, self.builder.emit(f"add i64 {address}, {symbol.offset}"))

    def _variable(self, builder: Builder, name: str) -> str:
        """The address of a variable of the module, an i64."""
        table = builder.emit("inttoptr i64 %symbols to ptr")
        place = builder.emit(f"getelementptr i64, ptr {table}, i64 {self.unit.symbol(name)}")
        return builder.emit(f"load i64, ptr {place}, !invariant.load !0")

    def _as(self, t: Type, name: str) -> Value:
        value = Value(name, "i64")
        return (
            value
            if t.bits == 64
            else Value(self.builder.emit(f"trunc i64 {name} to i{t.bits}"), f"i{t.bits}")
        )

    def function_address(self, name: str) -> int:
        return self.unit.function_addresses[name]

    def kernel_parameter(self, name: str) -> Parameter:
        return next(p for p in self.function.kernel_parameters if p.name == name)
