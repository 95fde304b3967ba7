"""Calls: arguments and results as registers, direct and indirect."""

from __future__ import annotations

from simt.analysis.lower_builder import Builder
from simt.analysis.lower_context import (
    Cells,
    Passed,
    Stored,
    Unlowerable,
    by_address,
    cell_layout,
)
from simt.analysis.lower_forms import FILL, SPILL, copy, simple
from simt.analysis.lower_operands import Operands
from simt.analysis.program import Address, Call, Complement, Constant, Register, Source
from simt.isa.targets import FIRST_PROTOTYPES
from simt.ptx import nodes
from simt.ptx.symbols import Scope, SymbolKind
from simt.ptx.types import B32, PRED, Type, bits_type
from simt.records import dataclass

Signature = tuple[tuple[Type, ...], tuple[Type, ...]]


@dataclass(frozen=True, slots=True)
class Parties:
    """What a call may reach: the types of results and arguments; the formal parameters, if known; and the
    names of the functions, () as long as they are left open."""

    signature: Signature
    formals: tuple[nodes.Variable, ...] = ()
    candidates: tuple[str, ...] = ()


def signature(node: nodes.Function | nodes.CallPrototype, address: Type) -> Signature:
    """The registers of results and parameters, by size: what caller and callee must agree on. `address`: the
    type of addresses."""
    results = tuple(_sized(t) for v in node.returns for t in cell_layout(v))
    passed = ([address] if by_address(v) else cell_layout(v) for v in node.parameters)
    return results, tuple(_sized(t) for types in passed for t in types)


def _sized(t: Type) -> Type:
    return t if t.is_predicate else bits_type(t.bits)


class Calls:
    """Lowers the calls of one function."""

    def __init__(self, builder: Builder, operands: Operands) -> None:
        self.b = builder
        self.operands = operands
        self.context = builder.context

    def lower(self, scope: Scope, node: nodes.Instruction) -> None:
        """`call [(results),] callee [, (arguments)] [, prototype or targets];`"""
        rest = list(node.operands)
        results: tuple[nodes.Operand, ...] = ()
        if rest and isinstance(rest[0], nodes.Arguments):
            results = rest[0].elements
            rest = rest[1:]
        callee = rest.pop(0) if rest else None
        if not isinstance(callee, nodes.Name):
            raise Unlowerable("a call needs the name of a function or a register", node.span)
        arguments = next((r.elements for r in rest if isinstance(r, nodes.Arguments)), ())
        extra = rest[-1] if rest and isinstance(rest[-1], nodes.Name) else None
        symbol = self.operands.symbol(scope, callee)
        if symbol.kind is SymbolKind.FUNCTION:
            function = self.context.definition(callee)
            self._require_body(function, callee)
            self._emit(scope, self.context.linked(function.name), self._parties(function), arguments, results)
            return
        register = self.operands.register(scope, callee)
        if extra is None and self.context.version < FIRST_PROTOTYPES:
            parties = Parties(self._written(scope, results, arguments))
        else:
            parties = self._indirect(scope, extra, callee)
        self._emit(scope, register, parties, arguments, results)

    def _parties(
        self, node: nodes.Function | nodes.CallPrototype, candidates: tuple[str, ...] = ()
    ) -> Parties:
        return Parties(signature(node, self.context.address_type), node.parameters, candidates)

    def _written(
        self, scope: Scope, results: tuple[nodes.Operand, ...], arguments: tuple[nodes.Operand, ...]
    ) -> Signature:
        """The signature that a call of PTX 1.x has, by its own registers: there are no prototypes."""
        received = [r.type for o in results for r in self._result(scope, o, [])]
        passed = [source_type(s) for o in arguments for s in self._argument(scope, o, B32)]
        return tuple(_sized(t) for t in received), tuple(_sized(t) for t in passed)

    def _require_body(self, function: nodes.Function, name: nodes.Name) -> None:
        if function.body is None and function.linkage != "extern":
            raise Unlowerable(
                f"function `{name.name}` is declared but not defined in this module", name.span,
                "expected a definition, or `.extern` for a function of the system such as `vprintf`",
            )  # fmt: skip

    def _indirect(self, scope: Scope, extra: nodes.Name | None, callee: nodes.Name) -> Parties:
        """What an indirect call may reach. Prototypes leave it open until all functions are known."""
        node = scope.lookup(extra.name) if extra is not None else None
        if node is not None and isinstance(node.node, nodes.TargetList):
            functions = [self.context.definition(t) for t in node.node.targets]
            names = tuple(self.context.linked(f.name) for f in functions if f.body is not None)
            return self._parties(functions[0], names)
        if node is not None and isinstance(node.node, nodes.CallPrototype):
            return self._parties(node.node)
        raise Unlowerable("an indirect call needs a prototype or a list of targets", callee.span)

    def _emit(
        self, scope: Scope, callee: str | Register, parties: Parties, arguments: tuple[nodes.Operand, ...],
        results: tuple[nodes.Operand, ...],
    ) -> None:  # fmt: skip
        shape = parties.signature
        sources: list[Source] = []
        for i, argument in enumerate(arguments):
            if by_address(parties.formals[i]) if i < len(parties.formals) else False:
                sources.append(self._address(scope, argument))
            else:
                sources += self._argument(scope, argument, next(iter(shape[1][len(sources) :]), B32))
        if len(arguments) < len(parties.formals):  # the verifier lets a parameter without a size be left out
            sources.append(Constant(self.context.address_type, 0))
        after: list[tuple[Stored, list[Register]]] = []
        registers = [r for x in results for r in self._result(scope, x, after)]
        if (len(registers), len(sources)) != (len(shape[0]), len(shape[1])):
            raise Unlowerable("the call's arguments do not agree with the function's parameters", self._span(
                *results, *arguments))  # fmt: skip
        passed = tuple(self._as(s, t) for s, t in zip(sources, shape[1]))
        received = tuple(
            r if r.type.bits == t.bits else self.b.temporary(t) for r, t in zip(registers, shape[0])
        )
        self.b.emit(Call(callee, passed, received, parties.candidates, self.b.line))
        for register, got in zip(registers, received):
            if got is not register:
                self.b.emit(copy(register, got, got.type, self.b.line))
        for stored, cells in after:
            self.spill(stored, cells)

    def _span(self, *operands: nodes.Operand) -> nodes.Span:
        return operands[0].span if operands else nodes.NOWHERE

    def _argument(self, scope: Scope, node: nodes.Operand, t: Type) -> list[Source]:
        """The words of one argument; `t`: the type of the first."""
        place = self._place(scope, node)
        if isinstance(place, Cells):
            return list(place.registers)
        if isinstance(place, Stored) and place.space == "local":
            return list(self.fill(place, self._layout(scope, node)))
        if isinstance(node, nodes.Integer | nodes.Float):
            return [self.operands.source(scope, node, t)]
        return list(self.operands.sources(scope, node, t))

    def _result(
        self, scope: Scope, node: nodes.Operand, after: list[tuple[Stored, list[Register]]]
    ) -> list[Register]:
        place = self._place(scope, node)
        if isinstance(place, Cells):
            return list(place.registers)
        if isinstance(place, Stored):
            cells = [self.b.temporary(t) for t in self._layout(scope, node)]
            after.append((place, cells))
            return cells
        if isinstance(node, nodes.Sink):
            return [self.b.temporary(B32)]
        return [r for r in self.operands.destinations(scope, node) if r is not None]

    def _address(self, scope: Scope, node: nodes.Operand) -> Source:
        """The local address of a `.param` variable."""
        place = self._place(scope, node)
        if isinstance(place, Passed):
            return place.address
        if isinstance(place, Stored):
            return self.operands.stored(place, 0)
        if place is None:
            raise Unlowerable("this parameter takes a `.param` variable", node.span)
        assert isinstance(node, nodes.Name)
        copied = self.b.frame_variable(self.operands.symbol(scope, node).variable)
        self.spill(copied, list(place.registers))
        return self.operands.stored(copied, 0)

    def _place(self, scope: Scope, node: nodes.Operand) -> Cells | Stored | Passed | None:
        symbol = scope.lookup(node.name) if isinstance(node, nodes.Name) else None
        if symbol is None or symbol.kind is not SymbolKind.VARIABLE:
            return None
        place = self.b.place(symbol)
        return place if isinstance(place, Cells | Stored | Passed) else None

    def _layout(self, scope: Scope, node: nodes.Operand) -> list[Type]:
        assert isinstance(node, nodes.Name)
        return cell_layout(self.operands.symbol(scope, node).variable)

    # ------------------------------------------------------------------ parameters in memory

    def fill(self, stored: Stored, layout: list[Type]) -> list[Register]:
        """The words of a parameter in memory, loaded."""
        found: list[Register] = []
        offset = 0
        for t in layout:
            d = self.b.temporary(t)
            address = Address(self.operands.stored(stored, 0), offset)
            self.b.emit(simple(FILL, t, d, {"a": (address, t)}, self.b.line))
            found.append(d)
            offset += t.bytes
        return found

    def spill(self, stored: Stored, cells: list[Register]) -> None:
        """Stores the words of a parameter to its memory."""
        offset = 0
        for cell in cells:
            address = Address(self.operands.stored(stored, 0), offset)
            sources = {"a": (address, cell.type), "b": (cell, cell.type)}
            self.b.emit(simple(SPILL, cell.type, None, sources, self.b.line))
            offset += cell.type.bytes

    # ------------------------------------------------------------------ sizes

    def _as(self, source: Source, t: Type) -> Source:
        """An argument in the parameter's size."""
        if isinstance(source, Constant):
            return Constant(t, source.bits % (1 << t.bits))
        if source_type(source).bits == t.bits:
            return source
        sized = self.b.temporary(t)
        self.b.emit(copy(sized, source, t, self.b.line))
        return sized

    def move(self, d: Register, source: Source) -> None:
        t = d.type if isinstance(source, Constant) else source_type(source)
        self.b.emit(copy(d, source, t, self.b.line))


def source_type(source: Source) -> Type:
    """The type in which a source holds its value."""
    return PRED if isinstance(source, Complement) else source.type
