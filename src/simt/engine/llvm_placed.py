"""What the code of large functions is made of: calls that pass pointers and integers.

LLVM's quick selection of instructions takes such calls. For a line with a column, and for all lines of its
block before that, it falls back to the one that is several times as slow; so columns stay in memory (see
`simt.engine.llvm_kept`), predicates are integers, and what an op does stands in a function, however short.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import TYPE_CHECKING

from simt.analysis.evaluate import Evaluator
from simt.analysis.program import Address, Complement, Constant, Op, Operand, Register
from simt.analysis.shape import VARYING, WARP
from simt.engine.llvm_algebra import element_type
from simt.engine.llvm_builder import Builder, Value, spell
from simt.engine.llvm_float import LlvmAlgebra
from simt.engine.llvm_frame import Frame
from simt.engine.llvm_kept import Home, Kept, bytes_of, name
from simt.engine.llvm_lanes import BitMask, Guarded, shape_of
from simt.engine.llvm_loose import PLAIN, Loose, Notes, notes_of, raw, source_of
from simt.engine.llvm_outline import (
    Ending,
    OpFunction,
    Outlined,
    Outliner,
    Parameter,
    Request,
    constants_among,
    immediates,
)
from simt.ptx.types import Type, bits_type

if TYPE_CHECKING:
    from simt.engine.llvm_columns import ColumnEmitter

WORTH_OF_SCALARS = 4
"""Lines from which an op on scalars and predicates is worth a function."""
PREDICATE_BYTES = 4
_COLUMN = re.compile(rf"<{WARP} x (?!i1>)")


class PlacedOutliner(Outliner):
    """Evaluates ops by calls of functions that find their columns in memory, and leave them there."""

    emitter: ColumnEmitter

    def __init__(
        self, emitter: ColumnEmitter, inner: Evaluator[Value], known: Outlined, frame: Frame
    ) -> None:
        super().__init__(emitter, inner, known, frame)
        self.calls_made = 0
        self.names = 0
        self.remembered: dict[Hashable, OpFunction | None] = {}
        self.known_loads: dict[str, tuple[tuple[int, int], str]] = {}

    # -- places ------------------------------------------------------------------------------------
    @property
    def point(self) -> tuple[int, int]:
        """Changes with every label and every call."""
        return self.emitter.builder.last_label, self.calls_made

    def loaded(self, kept: Kept) -> str:
        """The name of a column in memory: it is loaded once between two labels or calls."""
        point, text = self.point, f"load {kept.spelled}, ptr {kept.place}, align 64"
        if self.known_loads.get(text, (None, ""))[0] != point:
            name = self.emitter.builder.emit(text)
            self.known_loads[text] = point, name
            self.emitter.columns[f"{kept.spelled} {name}"] = kept
        return self.known_loads[text][1]

    def kept(self, element: str, place: str = "", home: Home = None) -> Kept:
        """A column at a place, by default one of its own, until the block ends."""
        return Kept(place or self._name(bytes_of(element)), element, self.loaded, home)

    def _name(self, size: int) -> str:
        self.names += 1
        return name(size, self.names)

    def column(self, value: Value) -> Kept:
        """A value in memory, from now on in this block."""
        if isinstance(value, Kept):
            return value
        columns, shape = self.emitter.columns, shape_of(value)
        if isinstance(value, Guarded):
            key: Hashable = value.lanes
        else:
            key = (value.typed, shape) if shape.is_affine else self.emitter.m.vector(value).typed
        if key not in columns:
            kept = self.kept(value.type)
            self.move(kept.place, value)
            columns[key] = kept
        return columns[key]

    def move(
        self, place: str, value: Value, lanes: BitMask | None = None, others: Value | None = None
    ) -> None:
        """Puts a column at a place, of some lanes if that is said, with those of `others`."""
        builder, parameters, arguments = self.emitter.builder, list[Parameter](), [f"ptr {place}"]
        if lanes is None and not self._is_passed(value):
            value = self.emitter.m.vector(value)
            self.calls_made += 1
            return builder.void(f"store {value.typed}, ptr {place}, align 64")
        if lanes is not None:
            arguments.append(f"i{WARP} {lanes.bits}")
        for operand in (value, others):
            if operand is not None:
                notes = notes_of(operand) if self._is_passed(operand) else PLAIN
                passed = raw(operand) if self._is_passed(operand) else self.column(operand)
                shape = VARYING if isinstance(passed, Kept) else shape_of(passed)
                parameter = self.known.parameter(passed, shape, notes)
                parameters.append(parameter)
                arguments.append(self.passed(parameter, passed))
        function = self._mover(tuple(parameters), lanes is not None)
        self.calls_made += 1
        builder.forget()
        return builder.void(f"call void @{function}({', '.join(arguments)})")

    @staticmethod
    def _is_passed(value: Value) -> bool:
        """Whether functions take a value as it is: a place, or the bases of an affine one."""
        if source_of(value) is not None or isinstance(value, Guarded):
            return False
        return isinstance(raw(value), Kept) or shape_of(raw(value)).is_affine

    def _mover(self, parameters: tuple[Parameter, ...], chooses: bool) -> str:
        """The function that `move` calls."""
        module = self.emitter.unit.module
        function, is_new = module.of_key((parameters, chooses), "simt.move")
        if not is_new:
            return function
        m = self.inside_function(Builder())
        values = [m.vector(self.inside(i, p, m)) for i, p in enumerate(parameters)]
        result = values[0]
        if chooses:
            mask = m.builder.emit(f"bitcast i{WARP} %mask.bits to <{WARP} x i1>")
            text = f"select <{WARP} x i1> {mask}, {values[0].typed}, {values[1].typed}"
            result = Value(m.builder.emit(text), result.type, WARP)
        declared = [self.declared(i, p) for i, p in enumerate(parameters)]
        heads = ", ".join(["ptr %to", *([f"i{WARP} %mask.bits"] if chooses else []), *declared])
        lines = [*self.beginning(parameters), *m.builder.lines]
        lines.append(f"  store {result.typed}, ptr %to, align 64")
        head = f"define internal void @{function}({heads}) noinline {module.attributes} {{"
        module.define(function, "\n".join((head, *lines, "  ret void", "}")))
        return function

    def equal(self, column: Value, number: Value) -> BitMask:
        """Lanes of a column that are a number."""
        kept, module = self.column(column), self.emitter.unit.module
        function, is_new = module.of_key(("equal", kept.type), "simt.equal")
        if is_new:
            vector, scalar = spell(kept.type, WARP), kept.type
            head = f"define internal i{WARP} @{function}(ptr %place, {scalar} %number)"
            body = f"""{head} noinline {module.attributes} {{
  %column = load {vector}, ptr %place, align 64
  %one = insertelement {vector} poison, {scalar} %number, i64 0
  %all = shufflevector {vector} %one, {vector} poison, <{WARP} x i32> zeroinitializer
  %same = icmp eq {vector} %column, %all
  %bits = bitcast <{WARP} x i1> %same to i{WARP}
  ret i{WARP} %bits
}}"""
            module.define(function, body)
        self.calls_made += 1
        text = f"call i{WARP} @{function}(ptr {kept.place}, {number.typed})"
        return BitMask(self.emitter.m, self.emitter.builder.emit(text))

    # -- functions ---------------------------------------------------------------------------------
    def full(self, value: Value) -> Value:
        if value.type == "i1":
            return self.emitter.bit_mask(value)
        return self.column(value)

    def is_worth(self, request: Request, results: list[Value], lines: list[str], inlined: int) -> bool:
        work = [line for line in lines if " = bitcast " not in line]
        if any(p.is_column for p in request.parameters) or any(r.type != "i1" for r in results):
            return bool(work)
        if any(_COLUMN.search(line) for line in work):
            return True
        return self.weight * (len(work) + inlined) >= WORTH_OF_SCALARS

    def declared(self, number: int, parameter: Parameter) -> str:
        return f"ptr %a{number}.p" if parameter.is_column else super().declared(number, parameter)

    def beginning(self, parameters: tuple[Parameter, ...]) -> list[str]:
        return [
            f"  %a{i} = load {p.passed}, ptr %a{i}.p, align 64"
            for i, p in enumerate(parameters)
            if p.is_column
        ]

    def kind(self, op: Op) -> Hashable:
        return super().kind(op), self.settles(op)

    def settles(self, op: Op) -> bool:
        """Whether an op's function settles its results, as others than ops of its block see them, too."""
        if op.guard is not None:
            return True
        seen = self.emitter.seen_elsewhere
        return any(made in seen for made in self.emitter.ssa.of[id(op)] if made is not None)

    def notes(self, op: Op, found: list[Value]) -> tuple[Notes, ...]:
        return (PLAIN,) * len(found) if self.settles(op) else super().notes(op, found)

    def ending(self, op: Op, found: list[Value], m: LlvmAlgebra) -> Ending:
        """Columns are left at places, and so are predicates, but for one where the function cannot fail."""
        lines, nothing, parameters = list[str](), list[str](), list[str]()
        returned = "" if not op.form.effects else "i1 true"
        notes = self.notes(op, found)
        bare = (value if n is PLAIN else raw(value) for value, n in zip(found, notes))
        for i, value in enumerate(map(m.vector, bare)):
            if value.type == "i1":
                kind = f"i{WARP}"
                lines.append(f"  %r{i}.v = bitcast {value.typed} to {kind}")
            else:
                kind = value.spelled
                lines.append(f"  %r{i}.v = freeze {value.typed}")
            if value.type == "i1" and not returned:
                returned = f"{kind} %r{i}.v"
                continue
            parameters.append(f"ptr %r{i}")
            place = f"ptr %r{i}, align {PREDICATE_BYTES if value.type == 'i1' else 64}"
            lines.append(f"  store {kind} %r{i}.v, {place}")
            nothing.append(f"  store {kind} zeroinitializer, {place}")
        result = returned.partition(" ")[0] or "void"
        end = f"  ret {returned or 'void'}"
        return Ending(result, [*lines, end], [*nothing, end], parameters, notes)

    # -- calls -------------------------------------------------------------------------------------
    def passed(self, parameter: Parameter, value: Value) -> str:
        return f"ptr {value.place}" if isinstance(value, Kept) else super().passed(parameter, value)

    def op(self, op: Op) -> tuple[Value, ...]:
        """What an op of the same kind with operands of the same kinds has called is known."""
        if not self.calls(op):
            return self.inner.op(op)
        kind = self.kind(op)
        own = self.known.own.get(kind)
        few = own is None or tuple(constants_among(op.sources.values())) in own
        fixed, key, arguments = immediates(op.form), list[Hashable]([kind, few]), list[str]()
        for source, operand in op.sources.items():
            self._brief(key, arguments, operand, op.source_types.get(source), few or source in fixed)
        at = tuple(key)
        if at in self.remembered:
            function = self.remembered[at]
        else:
            function, request = self.found(op, kind)
            arguments = self.arguments(request)
            if self.known.own.get(kind) is own:
                self.remembered[at] = function
        return self.inner.op(op) if function is None else self.call(op, function, arguments)

    def _brief(
        self, key: list[Hashable], arguments: list[str], operand: Operand, t: Type | None, keep: bool
    ) -> None:
        """An operand as argument, and what the choice of the function depends on."""
        match operand:
            case Register():
                self._brief_register(key, arguments, operand)
            case Address(base=Register() as base, offset=offset):
                self._brief_register(key, arguments, base)
                bits = base.type.bits
                arguments.append(self.m.const(bits_type(bits), offset % 2**bits).typed)
            case Constant() if keep:
                key += operand.type, operand.bits
            case Constant():
                key.append(t or operand.type)
                arguments.append(self.m.const(t or operand.type, operand.bits).typed)
            case Complement(register=register):
                key.append("not")
                self._brief_register(key, arguments, register)
            case tuple():
                key.append(len(operand))
                for item in operand:
                    self._brief(key, arguments, item, t, keep)
            case _:
                key.append(None)

    def _brief_register(self, key: list[Hashable], arguments: list[str], register: Register) -> None:
        value = self.reader.register(register)
        key.append(register.type)
        if isinstance(value, Kept):
            key.append(value.type)
            arguments.append(f"ptr {value.place}")
        elif isinstance(value, BitMask):
            arguments.append(f"i{WARP} {value.bits}")
        else:
            request = Request()
            self.take(request, register, value)
            key += request.parameters
            arguments += self.arguments(request)

    def call(self, op: Op, function: OpFunction, arguments: list[str]) -> tuple[Value, ...]:
        emitter, builder = self.emitter, self.emitter.builder
        arguments, values = [*self.of_frame(function), *arguments], list[Value]()
        predicates: dict[int, str] = {}  # by the number of the result, the first one's place is ""
        for definition, register in zip(emitter.ssa.of[id(op)], op.destinations):
            if register is None:
                continue
            if register.type.is_predicate:
                returned = not function.fails and not predicates
                place = predicates[len(values)] = "" if returned else self._name(PREDICATE_BYTES)
                values.append(Value("false", "i1"))
            else:
                home = None if op.guard is not None or definition is None else emitter.home(definition)
                kept = home or self.kept(element_type(register.type))
                place = kept.place
                values.append(kept)
            arguments += [f"ptr {place}"] if place else []
        name = self._emit_call(function, arguments)
        for i, place in predicates.items():
            bits = builder.emit(f"load i{WARP}, ptr {place}") if place else name
            values[i] = BitMask(emitter.m, bits)
        return self.in_order(op, list(map(self._noted, values, function.notes)))

    def _noted(self, value: Value, notes: Notes) -> Value:
        if notes == PLAIN:
            return value
        settled = self.emitter.m.settled
        return Loose(value, settled, notes.subnormals, notes.nans, flushed=notes.flushed)

    def _emit_call(self, function: OpFunction, arguments: list[str]) -> str:
        """The name of what a function returns."""
        builder, name = self.emitter.builder, ""
        text = f"call {function.result} {function.name}({', '.join(arguments)})"
        if function.result == "void":
            builder.void(text)
        else:
            name = builder.emit(text)
        self.calls_made += 1
        builder.forget()
        if function.fails:
            self.emitter.m.go_on_if(name)
        return name
