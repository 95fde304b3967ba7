"""Code for large functions: what an instruction does is a function that all like it call.

LLVM's time grows faster than a function does, and an access to memory is some 50 lines of IR. A function
with thousands of instructions is therefore compiled without optimisation across instructions, in pieces of
moderate length; what instructions do is compiled once for each kind, and optimised as always.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, cast

from simt.analysis.evaluate import Evaluator
from simt.analysis.kinds import kind_of
from simt.analysis.program import (
    Address,
    Complement,
    Constant,
    FunctionAddress,
    Op,
    Operand,
    Register,
    SymbolAddress,
)
from simt.analysis.shape import VARYING, WARP, Shape
from simt.engine.llvm_algebra import element_type
from simt.engine.llvm_builder import Builder, Value, mangled, spell
from simt.engine.llvm_frame import Frame
from simt.engine.llvm_kept import Kept
from simt.engine.llvm_lanes import ALL, Guarded, LaneAlgebra, Lanes, bases, shape_of
from simt.engine.llvm_loose import PLAIN, Notes, notes_of, raw
from simt.isa.form import Form
from simt.ptx.types import Type, bits_type
from simt.records import dataclass, field, replace

if TYPE_CHECKING:
    from simt.engine.llvm_function import FunctionEmitter

ATTRIBUTES = 'optnone noinline "simt-large"'
"""Of functions that are not optimised as a whole."""
LINES = 20_000
"""Lines of IR from which a function counts as large; half as many on CPUs with smaller registers."""
OPS = 8000
"""Instructions from which it surely has so many lines."""
BLOCKS = 1200
"""Blocks of IR, as many as an emitter has named, from which a function counts as large."""
PLACES = 300
"""Blocks of PTX from which a function counts as large."""
CUT = 3
"""Times so many blocks count as large where barriers cut a kernel into short parts."""
SHORT_PART, PARTS = 8, 100
"""Blocks of PTX for each barrier, on average, up to which parts are short (a step of a sorting network has
six), and barriers up to which they are few enough: each is code, too."""
WAITING = 1500
"""Places where lanes may wait, summed over all blocks, from which a function counts as large: in registers,
the masks of these places would need as many phis."""
PIECE = 300
"""Lines after which a block of a large function is cut: LLVM chooses instructions block by block, in more
than linear time."""
WORTH = 8
"""Lines from which an instruction is worth a function."""
WORTH_OF_SCALARS = 4
"""The same in a large function for one that has no operand that is a column."""
IN_REGISTERS = 512
"""Bytes of columns up to which LLVM passes them in registers, where these are the largest."""
KINDS = 4
"""Constants for which an instruction gets functions of their own; more share one that takes them."""


def times_blocks(blocks: int, barriers: int) -> int:
    """How many times as many blocks as elsewhere are no large function, of a kernel with so many of PTX."""
    return CUT if blocks <= SHORT_PART * barriers and barriers <= PARTS else 1


class TooLarge(Exception):
    """The kernel is to be emitted as a large one."""


@dataclass(frozen=True, slots=True, eq=False)
class _Parameter:
    """How a value is passed: `element` and number of lanes, with the shape and the notes that the function
    relies on. There is one object for each (`Outlined.parameter`), so that they are compared as objects."""

    element: str
    width: int
    shape: Shape
    notes: Notes = PLAIN

    @property
    def passed(self) -> str:
        """The LLVM type, if its place is not passed. Predicates of all lanes go as bits."""
        return f"i{WARP}" if self.is_mask else spell(self.element, self.width)

    @property
    def is_mask(self) -> bool:
        return self.element == "i1" and self.width == WARP

    @property
    def is_column(self) -> bool:
        return self.element != "i1" and self.width == WARP

    def inside(self, name: str, m: LaneAlgebra) -> Value:
        """The value in the function."""
        if self.is_mask:
            name = m.builder.emit(f"bitcast i{WARP} {name} to <{WARP} x i1>")
        if self.shape.stride:
            return Lanes(name, self.element, self.width, self.shape)
        return m.noted(Value(name, self.element, self.width), self.notes)


@cache
def _place(number: int, t: Type) -> Register:
    """The register that stands for an argument."""
    return Register(number, f"a{number}", t)


@dataclass(slots=True)
class _Request:
    """An op with registers in place of everything that functions take as arguments."""

    sources: dict[str, Operand] = field(default_factory=dict[str, Operand])
    parameters: list[_Parameter] = field(default_factory=list[_Parameter])
    arguments: list[Value] = field(default_factory=list[Value])
    registers: list[Register] = field(default_factory=list[Register])
    constants: list[Hashable] = field(default_factory=list[Hashable])
    kind: list[Hashable] = field(default_factory=list[Hashable])
    offsets: set[Register] = field(default_factory=set[Register])


@dataclass(frozen=True, slots=True)
class _Function:
    """`result`: its LLVM type. `frame`: what it gets of one, None if nothing. `fails`: the first result is an
    i1, false after a fault. `notes`: of the other results."""

    name: str
    result: str
    frame: Frame | None
    fails: bool
    notes: tuple[Notes, ...]


@dataclass(slots=True)
class Outlined:
    """The functions of a module by what they do and by constants that are part of them, None for what is
    shorter without one; `short`: the kinds of that. `own`: of kinds with many constants, those that functions
    of their own have. `by_text`: names by all of the text but the name, as what is known of an argument, its
    bounds for one, often changes nothing. `count`: of all that were asked for."""

    functions: dict[Hashable, dict[Hashable, _Function | None]] = field(
        default_factory=dict["Hashable", "dict[Hashable, _Function | None]"]
    )
    short: set[Hashable] = field(default_factory=set[Hashable])
    own: dict[Hashable, set[Hashable]] = field(default_factory=dict[Hashable, set[Hashable]])
    by_text: dict[str, str] = field(default_factory=dict[str, str])
    count: int = 0
    _parameters: dict[Hashable, _Parameter] = field(default_factory=dict["Hashable", "_Parameter"])

    def parameter(self, value: Value, shape: Shape, notes: Notes) -> _Parameter:
        """How a value of a shape is passed: numbers are of no account."""
        if shape.const is not None or shape.zeros:
            shape = replace(shape, const=None, zeros=0)
        key = value.type, value.width, shape, notes
        found = self._parameters.get(key)
        if found is None:
            found = self._parameters[key] = _Parameter(*key)
        return found


FRAME_NAMES = (
    "%arena.", "%shared.", "%local.", "%parameters", "%symbols", "%launch", "%worker", "%cta.", "%warp",
    "%mask", "%sp,",
)  # fmt: skip
"""Names in code that only functions with a frame know."""


class Outliner(Evaluator[Value]):
    """Evaluates ops by calls of functions, where their results are held in full. `weight`: as how many each
    line of such a function counts. `may_pass_places`: whether functions get the places of columns in stack
    memory where these do not fit in registers."""

    may_pass_places = True

    def __init__(
        self, emitter: FunctionEmitter, inner: Evaluator[Value], known: Outlined, frame: Frame
    ) -> None:
        super().__init__(inner.m, inner.reader, inner.environment)
        self.emitter = emitter
        self.inner = inner
        self.weight = emitter.unit.pieces
        self.known = known
        self.frame = frame
        self.calls_made = 0
        self.known_loads: dict[str, tuple[tuple[int, int], str]] = {}

    def calls(self, op: Op) -> bool:
        """Whether the op becomes a call, if it is long enough."""
        return self.suits(op)

    def op(self, op: Op) -> tuple[Value, ...]:
        if not self.calls(op):
            return self.inner.op(op)
        kind, known = self.kind(op), self.known
        own = known.own.get(kind)
        request = self._request(op, few=own is None or tuple(_constants(op.sources.values())) in own)
        variants = known.functions.setdefault((kind, *request.kind), {})
        constants = tuple(request.constants)
        if own is None and constants not in variants and len(variants) >= KINDS:
            known.own[kind] = set(variants)
            request = self._request(op, few=False)
            variants = known.functions.setdefault((kind, *request.kind), {})
            constants = tuple(request.constants)
        if constants not in variants:
            variants[constants] = self._define(op, request)
            known.count += 1
        function = variants[constants]
        if function is None:
            known.short.add(kind)
            return self.inner.op(op)
        return self._call(op, function, request)

    # -- what is outlined --------------------------------------------------------------------------
    def suits(self, op: Op) -> bool:
        if not op.form.effects <= {"memory", "warp"} or not (op.destinations or op.form.effects):
            return False
        made = [definition for definition in self.emitter.ssa.of[id(op)] if definition is not None]
        if op.destinations and not made:
            return False
        for definition in made:
            shape = self.emitter.shape(definition)
            if shape.is_affine or shape.is_guarded:
                return False
        return all(_is_simple(source) for source in op.sources.values())

    def kind(self, op: Op) -> Hashable:
        m = self.emitter.m
        return op.kind or kind_of(op), m.mask.ir == ALL, m.result_used

    def _request(self, op: Op, few: bool) -> _Request:
        """`few`: constants become part of the function, as long as there are only a few of them."""
        request = _Request()
        fixed = _immediates(op.form)
        for name, operand in op.sources.items():
            request.kind.append(name)
            request.sources[name] = self._operand(request, op, name, operand, few or name in fixed)
        return request

    def _operand(self, request: _Request, op: Op, name: str, operand: Operand, keep: bool) -> Operand:
        match operand:
            case tuple():
                request.kind.append(len(operand))
                return tuple(
                    cast("Register", self._operand(request, op, name, item, keep)) for item in operand
                )
            case Register():
                return self._argument(request, operand, self.reader.register(operand))
            case Complement(register=register):
                request.kind.append("not")
                return Complement(self._argument(request, register, self.reader.register(register)))
            case Address(base=Register() as base, offset=offset):
                t = bits_type(base.type.bits)
                self._argument(request, base, self.reader.register(base))
                constant = self.m.const(t, offset % 2**t.bits)
                return Address(self._argument(request, Register(0, "offset", t), constant, of=base), 0)
            case Constant() if not keep:
                t = op.source_types.get(name, operand.type)
                return self._argument(request, Register(0, "constant", t), self.m.const(t, operand.bits))
            case Constant():
                request.kind.append("constant")
                request.constants.append((operand.type, operand.bits))
                return operand
            case _:
                request.kind.append(None)
                return operand

    def _argument(
        self, request: _Request, register: Register, value: Value, of: Register | None = None
    ) -> Register:
        """A register that stands for a value in the function. `of`: the value is an offset to be added to the
        argument before, the base register of an address."""
        notes = notes_of(value) if value.width in (1, WARP) else PLAIN
        value = value if notes is PLAIN else raw(value)
        shape = shape_of(value)
        if isinstance(value, Guarded) or not shape.is_affine or shape.width > 1:
            value = value if isinstance(value, Kept) else self._vector(value)
            shape = VARYING
        parameter = self.known.parameter(value, shape, notes)
        place = _place(len(request.registers), register.type)
        request.registers.append(place)
        request.parameters.append(parameter)
        request.arguments.append(value if isinstance(value, Kept) else bases(value))
        request.kind.append((parameter, register.type))
        if of is not None:
            request.offsets.add(place)
        return place

    def _vector(self, value: Value) -> Value:
        """All lanes; those of a guarded value, which take many lines, only once in a block."""
        if not isinstance(value, Guarded):
            return self.emitter.m.vector(value)
        m, builder = self.emitter.m, self.emitter.builder
        place = self.emitter.vectors.get(value.lanes)
        if place is None:
            lanes = m.vector(value)
            self.emitter.vectors[value.lanes] = m.spilled(lanes)
            return lanes
        # From memory: one value for thousands of uses takes LLVM's allocation of registers very long.
        return Value(builder.emit(f"load <{WARP} x {value.type}>, ptr {place}, align 64"), value.type, WARP)

    def _bits(self) -> str:
        """The bits of the lanes that run, from memory from the third time on, as predicates."""
        m, builder, known = self.emitter.m, self.emitter.builder, self.emitter.masks
        key = f"bits of {m.mask.ir}"
        place = known.get(key)
        if place:
            return f"i{WARP} {builder.emit(f'load i{WARP}, ptr {place}')}"
        bits = m.mask_bits(m.mask).typed
        known[key] = "" if place is None else builder.emit(f"alloca i{WARP}")
        if known[key]:
            builder.void(f"store {bits}, ptr {known[key]}")
        return bits

    # -- functions ---------------------------------------------------------------------------------
    def _define(self, op: Op, request: _Request) -> _Function | None:
        """A new function, None if the op is not worth one."""
        emitter, module = self.emitter, self.emitter.unit.module
        builder, inlined = Builder(), module.inlined_lines
        m = type(emitter.m)(builder, module, emitter.m.features, emitter.m.block, emitter.m.environment)
        m.line = cast("int", "%line")  # it is only written into the text
        m.result_used = emitter.m.result_used
        m.zeros, m.places, m.woven = emitter.m.zeros, emitter.m.places, emitter.m.woven
        if emitter.m.mask.ir != ALL:
            m.mask = Value("%mask", "i1", WARP)
        values = {
            register: parameter.inside(f"%a{i}", m)
            for i, (register, parameter) in enumerate(zip(request.registers, request.parameters))
        }
        for base, offset in zip(request.registers, request.registers[1:]):
            if offset in request.offsets:
                t = offset.type
                values[offset] = m.add(t, m.to_bits(base.type, values[base]), values[offset])
        inner = Evaluator(m, _Arguments(values), self.environment)
        values_made = inner.op(replace(op, sources=request.sources, guard=None))
        found = [value for value, r in zip(values_made, op.destinations) if r is not None]
        notes = tuple(notes_of(value) if value.width == WARP else PLAIN for value in found)
        bare = (value if n is PLAIN else raw(value) for value, n in zip(found, notes))
        results = [self._returned(m.vector(value), builder) for value in bare]
        fails = bool(op.form.effects)
        frame = self.frame.cut_to(builder.lines) if fails or _needs_frame(builder.lines) else None
        scalars = emitter.unit.large and all(p.width == 1 or p.is_mask for p in request.parameters)
        worth = WORTH_OF_SCALARS if scalars else WORTH + len(results)
        if not fails and self.weight * self._length(builder, inlined) < worth:
            return None
        if fails:
            results.insert(0, "i1 true")
        types = [text.partition(" %")[0].removesuffix(" true") for text in results]
        result = f"{{ {', '.join(types)} }}" if fails or len(types) > 1 else types[0]
        function = _Function(f"@simt.op.{self.known.count}", result, frame, fails, notes)
        text = "\n".join(self._text(function, request, builder, results))
        same = self.known.by_text.setdefault(text.replace(function.name, "", 1), function.name)
        if same != function.name:
            return replace(function, name=same)
        module.define(function.name[1:], text)
        return function

    def _length(self, builder: Builder, inlined: int) -> int:
        """Lines of a function; in a large one those count that LLVM would put in place of calls. (Elsewhere
        these settle NaNs, which arithmetic does seldom: simt.engine.llvm_loose.)"""
        more = self.emitter.unit.module.inlined_lines - inlined
        return len(builder.lines) + (more if self.emitter.unit.large else 0)

    def _returned(self, value: Value, builder: Builder) -> str:
        """A result as it is returned: type and name."""
        passed = _Parameter(value.type, value.width, VARYING).passed
        text = value.typed if passed == value.spelled else f"{value.typed} to {passed}"
        kind = "freeze" if passed == value.spelled else "bitcast"
        return f"{passed} {builder.emit(f'{kind} {text}')}"

    def _text(
        self, function: _Function, request: _Request, builder: Builder, results: list[str]
    ) -> list[str]:
        in_memory = self._passes_places(request)
        by_place = {i: p for i, p in enumerate(request.parameters) if in_memory and p.is_column}
        parameters = [
            f"ptr %a{i}.p" if i in by_place else f"{p.passed} %a{i}" for i, p in enumerate(request.parameters)
        ]
        allocas = [line for line in builder.lines if " = alloca " in line]
        lines = [f"  %a{i} = load {p.passed}, ptr %a{i}.p, align 64" for i, p in by_place.items()]
        lines += [line for line in builder.lines if " = alloca " not in line]
        if function.frame is not None:
            some = self.emitter.m.mask.ir != ALL
            bits, mask = f"i{WARP} %mask.bits", f"  %mask = bitcast i{WARP} %mask.bits to <{WARP} x i1>"
            frame = function.frame
            parameters = [*frame.parameters, "i64 %line", *([bits] if some else []), *parameters]
            lines = [*self._unless_empty(function), *frame.lines, *([mask] if some else []), *lines]
        head = f"define internal {function.result} {function.name}({', '.join(parameters)}) noinline"
        end = ["abort:", f"  ret {function.result} zeroinitializer"] if function.fails else []
        attributes = self.emitter.unit.module.attributes
        returned = _return(function.result, results)
        return [f"{head} {attributes} {{", "entry:", *allocas, *lines, *returned, *end, "}"]

    def _unless_empty(self, function: _Function) -> list[str]:
        """Nothing happens if no lane runs, as under a guard."""
        if not function.fails or self.emitter.m.mask.ir == ALL:
            return []
        types = function.result.strip("{ }").split(", ")[1:]
        nothing = "".join(f", {t} zeroinitializer" for t in types)
        return [
            f"  %some = icmp ne i{WARP} %mask.bits, 0",
            "  br i1 %some, label %run, label %none",
            "none:",
            f"  ret {function.result} {{ i1 true{nothing} }}",
            "run:",
        ]

    # -- calls -------------------------------------------------------------------------------------
    def _call(self, op: Op, function: _Function, request: _Request) -> tuple[Value, ...]:
        m, builder, result = self.emitter.m, self.emitter.builder, function.result
        in_memory = self._passes_places(request)
        arguments = [self._passed(p, v, in_memory) for p, v in zip(request.parameters, request.arguments)]
        if function.frame is not None:
            bits = [] if m.mask.ir == ALL else [self._bits()]
            arguments = [*function.frame.parameters, f"i64 {m.line}", *bits, *arguments]
        self.calls_made += 1
        builder.forget()
        whole = builder.emit(f"call {result} {function.name}({', '.join(arguments)})")
        types = [element_type(r.type) for r in op.destinations if r is not None]
        if not result.startswith("{"):
            return self._in_order(op, [self._taken(whole, types[0], function.notes[0])])
        if function.fails:
            m.go_on_if(builder.emit(f"extractvalue {result} {whole}, 0"))
        taken = [
            self._taken(builder.emit(f"extractvalue {result} {whole}, {place}"), t, notes)
            for place, (t, notes) in enumerate(zip(types, function.notes), start=int(function.fails))
        ]
        return self._in_order(op, taken)

    @property
    def point(self) -> tuple[int, int]:
        """Changes with every label and every call."""
        return self.emitter.builder.last_label, self.calls_made

    def loaded(self, kept: Kept) -> str:
        """The name of a column in memory: it is loaded once between two labels or calls."""
        builder = self.emitter.builder
        point = self.point
        if self.known_loads.get(kept.place, (None, ""))[0] != point:
            name = builder.emit(f"load {kept.spelled}, ptr {kept.place}, align 64")
            self.known_loads[kept.place] = point, name
            self.emitter.columns[f"{kept.spelled} {name}"] = kept.place
        return self.known_loads[kept.place][1]

    @staticmethod
    def _in_order(op: Op, taken: list[Value]) -> tuple[Value, ...]:
        """The results of an op, with a value that nobody reads in place of those that it does not keep."""
        values = iter(taken)
        return tuple(Value("false", "i1") if r is None else next(values) for r in op.destinations)

    def _passed(self, parameter: _Parameter, value: Value, in_memory: bool) -> str:
        if parameter.is_mask:
            return f"i{WARP} {self.emitter.m.mask_bits(value).ir}"
        if parameter.is_column and in_memory:
            return f"ptr {self._place(value)}"
        return value.typed

    def _passes_places(self, request: _Request) -> bool:
        """Whether a function gets places of columns, as they do not fit in the registers for arguments."""
        columns = [p for p in request.parameters if p.is_column]
        size = sum(WARP * int(mangled(p.element, 1)[1:]) // 8 for p in columns)
        return self.may_pass_places and size * self.weight > IN_REGISTERS

    def _place(self, value: Value) -> str:
        """Where a column lies, from now on in this block."""
        if isinstance(value, Kept):
            return value.place
        columns = self.emitter.columns
        if value.typed not in columns:
            columns[value.typed] = self.emitter.m.spilled(value)
        return columns[value.typed]

    def _taken(self, name: str, element: str, notes: Notes) -> Value:
        value = self.emitter.slots.of_bits(name) if element == "i1" else Value(name, element, WARP)
        return self.emitter.m.noted(value, notes)


def _needs_frame(lines: list[str]) -> bool:
    return any(name in line for line in lines for name in FRAME_NAMES)


def _constants(operands: Iterable[Operand]) -> Iterator[Hashable]:
    """The constants among some operands, as a request notes them."""
    for operand in operands:
        if isinstance(operand, Constant):
            yield operand.type, operand.bits
        elif isinstance(operand, tuple):
            yield from _constants(operand)


@cache
def _immediates(form: Form) -> frozenset[str]:
    """Names of the operands that must be constants."""
    return frozenset([o.name for o in form.operands if o.kind == "imm"])


def _is_simple(operand: Operand) -> bool:
    """Whether an operand consists of registers and constants."""
    match operand:
        case tuple():
            return all(_is_simple(item) for item in operand)
        case Address(base=base):
            return isinstance(base, Register)
        case None | Register() | Constant() | Complement():
            return True
        case _:
            return False


def _return(result: str, values: list[str]) -> list[str]:
    if not result.startswith("{"):
        return [f"  ret {values[0]}"]
    lines: list[str] = []
    whole = "poison"
    for i, value in enumerate(values):
        lines.append(f"  %whole.{i} = insertvalue {result} {whole}, {value}, {i}")
        whole = f"%whole.{i}"
    return [*lines, f"  ret {result} {whole}"]


class _Arguments:
    """Where the functions find their registers."""

    def __init__(self, values: dict[Register, Value]) -> None:
        self.values = values

    def register(self, register: Register) -> Value:
        return self.values[register]

    def symbol(self, symbol: SymbolAddress) -> Value:
        raise AssertionError(symbol)

    def function(self, function: FunctionAddress) -> Value:
        raise AssertionError(function)
