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
from simt.analysis.shape import UNIFORM, VARYING, WARP, Shape
from simt.engine.llvm_algebra import element_type
from simt.engine.llvm_builder import Builder, Value, spell
from simt.engine.llvm_float import LlvmAlgebra
from simt.engine.llvm_frame import Frame
from simt.engine.llvm_grouped import GroupedAlgebra
from simt.engine.llvm_kept import Kept
from simt.engine.llvm_lanes import BitMask, Guarded, LaneAlgebra, Lanes, bases, shape_of
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
PIECE = 25
"""Lines after which a block of a large function is cut: LLVM chooses instructions block by block, in more
than linear time."""
WORTH = 8
"""Lines from which an instruction is worth a function."""
KINDS = 6
"""Constants for which an instruction gets functions of their own; more share one that takes them."""


def times_blocks(blocks: int, barriers: int) -> int:
    """How many times as many blocks as elsewhere are no large function, of a kernel with so many of PTX."""
    return CUT if blocks <= SHORT_PART * barriers and barriers <= PARTS else 1


class TooLarge(Exception):
    """The kernel is to be emitted as a large one."""


@dataclass(frozen=True, slots=True, eq=False)
class Parameter:
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
class Request:
    """An op with registers in place of everything that functions take as arguments."""

    sources: dict[str, Operand] = field(default_factory=dict[str, Operand])
    parameters: list[Parameter] = field(default_factory=list[Parameter])
    arguments: list[Value] = field(default_factory=list[Value])
    registers: list[Register] = field(default_factory=list[Register])
    constants: list[Hashable] = field(default_factory=list[Hashable])
    kind: list[Hashable] = field(default_factory=list[Hashable])
    offsets: set[Register] = field(default_factory=set[Register])


@dataclass(frozen=True, slots=True)
class OpFunction:
    """`result`: its LLVM type. `frame`: what it gets of one, None if nothing. `fails`: the first result is an
    i1, false after a fault. `notes`: of the other results."""

    name: str
    result: str
    frame: Frame | None
    fails: bool
    notes: tuple[Notes, ...]


@dataclass(frozen=True, slots=True)
class Ending:
    """How a function ends. `result`: its LLVM type. `lines`: the last ones; `nothing`: those where no lane
    runs. `parameters`: more of them, for results."""

    result: str
    lines: list[str]
    nothing: list[str]
    parameters: list[str] = field(default_factory=list[str])
    notes: tuple[Notes, ...] = ()


@dataclass(slots=True)
class Outlined:
    """The functions of a module by what they do and by constants that are part of them, None for what is
    shorter without one; `short`: the kinds of that. `own`: of kinds with many constants, those that functions
    of their own have. `by_text`: names by all of the text but the name, as what is known of an argument, its
    bounds for one, often changes nothing. `count`: of all that were asked for."""

    functions: dict[Hashable, dict[Hashable, OpFunction | None]] = field(
        default_factory=dict["Hashable", "dict[Hashable, OpFunction | None]"]
    )
    short: set[Hashable] = field(default_factory=set[Hashable])
    own: dict[Hashable, set[Hashable]] = field(default_factory=dict[Hashable, set[Hashable]])
    by_text: dict[str, str] = field(default_factory=dict[str, str])
    count: int = 0
    _parameters: dict[Hashable, Parameter] = field(default_factory=dict["Hashable", "Parameter"])

    def parameter(self, value: Value, shape: Shape, notes: Notes) -> Parameter:
        """How a value of a shape is passed: of what all lanes have in common functions know nothing."""
        if shape.is_uniform:
            shape = UNIFORM
        elif shape.const is not None or shape.zeros:
            shape = replace(shape, const=None, zeros=0)
        key = value.type, value.width, shape, notes
        found = self._parameters.get(key)
        if found is None:
            found = self._parameters[key] = Parameter(*key)
        return found


FRAME_NAMES = (
    "%arena.", "%shared.", "%local.", "%parameters", "%symbols", "%launch", "%worker", "%cta.", "%warp",
    "%mask", "%sp,",
)  # fmt: skip
"""Names in code that only functions with a frame know."""


class Outliner(Evaluator[Value]):
    """Evaluates ops by calls of functions, where their results are held in full. `weight`: as how many each
    line of such a function counts."""

    def __init__(
        self, emitter: FunctionEmitter, inner: Evaluator[Value], known: Outlined, frame: Frame
    ) -> None:
        super().__init__(inner.m, inner.reader, inner.environment)
        self.emitter = emitter
        self.inner = inner
        self.weight = emitter.unit.pieces
        self.known = known
        self.frame = frame

    def calls(self, op: Op) -> bool:
        """Whether the op becomes a call, if it is long enough."""
        return self.suits(op)

    def op(self, op: Op) -> tuple[Value, ...]:
        if not self.calls(op):
            return self.inner.op(op)
        kind = self.kind(op)
        function, request = self.found(op, kind)
        if function is None:
            self.known.short.add(kind)
            return self.inner.op(op)
        return self.call(op, function, self.arguments(request))

    def found(self, op: Op, kind: Hashable) -> tuple[OpFunction | None, Request]:
        """The function for an op, None if it is not worth one, and what it is given."""
        known = self.known
        own = known.own.get(kind)
        operands = (self.source_of(op, name) for name in op.sources)
        request = self._request(op, few=own is None or tuple(constants_among(operands)) in own)
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
        return variants[constants], request

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
        return op.kind or kind_of(op), m.mask_is_full, m.result_used

    def _request(self, op: Op, few: bool) -> Request:
        """`few`: constants become part of the function, as long as there are only a few of them."""
        request = Request()
        fixed = immediates(op.form)
        for name in op.sources:
            request.kind.append(name)
            keep = few or name in fixed
            request.sources[name] = self._operand(request, op, name, self.source_of(op, name), keep)
        return request

    def source_of(self, op: Op, name: str) -> Operand:
        """A source of an op, as the choice of a function sees it."""
        return op.sources[name]

    def _operand(self, request: Request, op: Op, name: str, operand: Operand, keep: bool) -> Operand:
        match operand:
            case tuple():
                request.kind.append(len(operand))
                return tuple(
                    cast("Register", self._operand(request, op, name, item, keep)) for item in operand
                )
            case Register():
                return self.take(request, operand, self.reader.register(operand))
            case Complement(register=register):
                request.kind.append("not")
                return Complement(self.take(request, register, self.reader.register(register)))
            case Address(base=Register() as base, offset=offset):
                t = bits_type(base.type.bits)
                self.take(request, base, self.reader.register(base))
                constant = self.m.const(t, offset % 2**t.bits)
                return Address(self.take(request, Register(0, "offset", t), constant, of=base), 0)
            case Constant() if not keep:
                t = op.source_types.get(name, operand.type)
                return self.take(request, Register(0, "constant", t), self.m.const(t, operand.bits))
            case Constant():
                request.kind.append("constant")
                request.constants.append((operand.type, operand.bits))
                return operand
            case _:
                request.kind.append(None)
                return operand

    def take(
        self, request: Request, register: Register, value: Value, of: Register | None = None
    ) -> Register:
        """A register that stands for a value in the function. `of`: the value is an offset to be added to the
        argument before, the base register of an address."""
        notes = notes_of(value) if value.width in (1, WARP) else PLAIN
        value = value if notes is PLAIN else raw(value)
        shape = shape_of(value)
        if isinstance(value, Guarded) or not shape.is_affine or shape.width > 1:
            value, shape = self.full(value), VARYING
        parameter = self.known.parameter(value, shape, notes)
        place = _place(len(request.registers), register.type)
        request.registers.append(place)
        request.parameters.append(parameter)
        request.arguments.append(value if isinstance(value, Kept | BitMask) else bases(value))
        request.kind.append((parameter, register.type))
        if of is not None:
            request.offsets.add(place)
        return place

    def full(self, value: Value) -> Value:
        """All lanes, as functions get them."""
        return self.emitter.m.vector(value)

    # -- functions ---------------------------------------------------------------------------------
    def _define(self, op: Op, request: Request) -> OpFunction | None:
        """A new function, None if the op is not worth one."""
        emitter, module = self.emitter, self.emitter.unit.module
        builder, inlined = Builder(), module.inlined_lines
        m = self.inside_function(builder)
        m.line = cast("int", "%line")  # it is only written into the text
        m.result_used = emitter.m.result_used
        m.zeros, m.places, m.woven = emitter.m.zeros, emitter.m.places, emitter.m.woven
        if not emitter.m.mask_is_full:
            m.mask = Value("%mask", "i1", WARP)
        values = {
            register: self.inside(i, parameter, m)
            for i, (register, parameter) in enumerate(zip(request.registers, request.parameters))
        }
        for base, offset in zip(request.registers, request.registers[1:]):
            if offset in request.offsets:
                t = offset.type
                values[offset] = m.add(t, m.to_bits(base.type, values[base]), values[offset])
        inner = Evaluator(m, _Arguments(values), self.environment)
        values_made = inner.op(replace(op, sources=request.sources, guard=None))
        found = [value for value, r in zip(values_made, op.destinations) if r is not None]
        fails = bool(op.form.effects)
        ending = self.ending(op, found, m)
        frame = self.frame.cut_to(builder.lines) if fails or _needs_frame(builder.lines) else None
        if not fails and not self.is_worth(request, found, builder.lines, module.inlined_lines - inlined):
            return None
        function = OpFunction(f"@simt.op.{self.known.count}", ending.result, frame, fails, ending.notes)
        text = "\n".join(self._text(function, request, builder, ending))
        same = self.known.by_text.setdefault(text.replace(function.name, "", 1), function.name)
        if same != function.name:
            return replace(function, name=same)
        module.define(function.name[1:], text)
        return function

    def inside_function(self, builder: Builder) -> GroupedAlgebra:
        m = self.emitter.m
        return GroupedAlgebra(builder, m.module, m.features, m.block, m.environment)

    def inside(self, number: int, parameter: Parameter, m: LaneAlgebra) -> Value:
        """What a parameter is in the function."""
        return parameter.inside(f"%a{number}", m)

    def is_worth(self, request: Request, results: list[Value], lines: list[str], inlined: int) -> bool:
        """Whether a function is worth it. `inlined`: lines that LLVM would put in place of calls, in its own:
        they settle NaNs, which arithmetic does seldom (`simt.engine.llvm_loose`)."""
        return self.weight * len(lines) >= WORTH + len(results)

    def ending(self, op: Op, found: list[Value], m: LlvmAlgebra) -> Ending:
        """The end of an op's function with some results."""
        notes, fails = self.notes(op, found), bool(op.form.effects)
        bare = (value if n is PLAIN else raw(value) for value, n in zip(found, notes))
        results = [self._returned(m.vector(value), m.builder) for value in bare]
        if fails:
            results.insert(0, "i1 true")
        types = [text.partition(" %")[0].removesuffix(" true") for text in results]
        result = f"{{ {', '.join(types)} }}" if fails or len(types) > 1 else types[0]
        nothing = "".join(f", {t} zeroinitializer" for t in types[1:])
        return Ending(
            result, _return(result, results), [f"  ret {result} {{ i1 true{nothing} }}"], notes=notes
        )

    def notes(self, op: Op, found: list[Value]) -> tuple[Notes, ...]:
        """What is said of an op's results besides their bits."""
        return tuple(notes_of(value) if value.width == WARP else PLAIN for value in found)

    def _returned(self, value: Value, builder: Builder) -> str:
        """A result as it is returned: type and name."""
        passed = Parameter(value.type, value.width, VARYING).passed
        text = value.typed if passed == value.spelled else f"{value.typed} to {passed}"
        kind = "freeze" if passed == value.spelled else "bitcast"
        return f"{passed} {builder.emit(f'{kind} {text}')}"

    def _text(self, function: OpFunction, request: Request, builder: Builder, ending: Ending) -> list[str]:
        parameters = [self.declared(i, p) for i, p in enumerate(request.parameters)] + ending.parameters
        allocas = [line for line in builder.lines if " = alloca " in line]
        lines = [line for line in builder.lines if " = alloca " not in line]
        lines = [*self.beginning(tuple(request.parameters)), *lines]
        if function.frame is not None:
            some = not self.emitter.m.mask_is_full
            bits, mask = f"i{WARP} %mask.bits", f"  %mask = bitcast i{WARP} %mask.bits to <{WARP} x i1>"
            frame = function.frame
            parameters = [*frame.parameters, "i64 %line", *([bits] if some else []), *parameters]
            lines = [*self._unless_empty(function, ending), *frame.lines, *([mask] if some else []), *lines]
        head = f"define internal {function.result} {function.name}({', '.join(parameters)}) noinline"
        end = ["abort:", f"  ret {function.result} zeroinitializer"] if function.fails else []
        attributes = self.emitter.unit.module.attributes
        return [f"{head} {attributes} {{", "entry:", *allocas, *lines, *ending.lines, *end, "}"]

    def beginning(self, parameters: tuple[Parameter, ...]) -> list[str]:
        """Lines with which a function comes to know its parameters."""
        return []

    def declared(self, number: int, parameter: Parameter) -> str:
        """A parameter in the head of a function."""
        return f"{parameter.passed} %a{number}"

    def _unless_empty(self, function: OpFunction, ending: Ending) -> list[str]:
        """Nothing happens if no lane runs, as under a guard."""
        if not function.fails or self.emitter.m.mask_is_full:
            return []
        return [
            f"  %some = icmp ne i{WARP} %mask.bits, 0",
            "  br i1 %some, label %run, label %none",
            "none:",
            *ending.nothing,
            "run:",
        ]

    # -- calls -------------------------------------------------------------------------------------
    def call(self, op: Op, function: OpFunction, arguments: list[str]) -> tuple[Value, ...]:
        m, builder, result = self.emitter.m, self.emitter.builder, function.result
        builder.forget()
        arguments = [*self.of_frame(function), *arguments]
        whole = builder.emit(f"call {result} {function.name}({', '.join(arguments)})")
        types = [element_type(r.type) for r in op.destinations if r is not None]
        if not result.startswith("{"):
            return self.in_order(op, [self._taken(whole, types[0], function.notes[0])])
        if function.fails:
            m.go_on_if(builder.emit(f"extractvalue {result} {whole}, 0"))
        taken = [
            self._taken(builder.emit(f"extractvalue {result} {whole}, {place}"), t, notes)
            for place, (t, notes) in enumerate(zip(types, function.notes), start=int(function.fails))
        ]
        return self.in_order(op, taken)

    def arguments(self, request: Request) -> list[str]:
        return [self.passed(p, v) for p, v in zip(request.parameters, request.arguments)]

    def of_frame(self, function: OpFunction) -> list[str]:
        """What a function gets besides operands."""
        m = self.emitter.m
        if function.frame is None:
            return []
        bits = [] if m.mask_is_full else [m.mask_bits(m.mask).typed]
        return [*function.frame.parameters, f"i64 {m.line}", *bits]

    @staticmethod
    def in_order(op: Op, taken: list[Value]) -> tuple[Value, ...]:
        """The results of an op, with a value that nobody reads in place of those that it does not keep."""
        values = iter(taken)
        return tuple(Value("false", "i1") if r is None else next(values) for r in op.destinations)

    def passed(self, parameter: Parameter, value: Value) -> str:
        return self.emitter.m.mask_bits(value).typed if parameter.is_mask else value.typed

    def _taken(self, name: str, element: str, notes: Notes) -> Value:
        value = self.emitter.slots.of_bits(name) if element == "i1" else Value(name, element, WARP)
        return self.emitter.m.noted(value, notes)


def _needs_frame(lines: list[str]) -> bool:
    return any(name in line for line in lines for name in FRAME_NAMES)


def constants_among(operands: Iterable[Operand]) -> Iterator[Hashable]:
    """The constants among some operands, as a request notes them."""
    for operand in operands:
        if isinstance(operand, Constant):
            yield operand.type, operand.bits
        elif isinstance(operand, tuple):
            yield from constants_among(operand)


@cache
def immediates(form: Form) -> frozenset[str]:
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
