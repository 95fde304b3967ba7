"""Operands as resolved values: registers, constants, addresses, special registers."""

from __future__ import annotations

from simt.analysis.lower_builder import Builder
from simt.analysis.lower_constants import constant, single_bits
from simt.analysis.lower_context import Cells, Passed, Registers, Stored, Unlowerable
from simt.analysis.lower_forms import SCALED, SUM, simple
from simt.analysis.program import (
    Address,
    Block,
    Complement,
    Constant,
    FunctionAddress,
    Guard,
    Register,
    Source,
    Special,
    SymbolAddress,
)  # fmt: skip
from simt.isa.special_registers import SYSTEM_BYTES, SYSTEM_CAPACITY, system_place
from simt.isa.special_registers import lookup as special_register
from simt.ptx import nodes
from simt.ptx.symbols import Scope, Symbol, SymbolKind
from simt.ptx.types import B64, F64, PRED, U32, U64, Type

REGISTER = SymbolKind.REGISTER  # a name of its own is found in a tenth of the time
_COMPONENTS = {**{c: i for i, c in enumerate("xyzw")}, **{c: i for i, c in enumerate("rgba")}}


class Operands:
    """Reads the operands of one function's instructions."""

    def __init__(self, builder: Builder) -> None:
        self.b = builder
        self.context = builder.context

    # ------------------------------------------------------------------ names

    def symbol(self, scope: Scope, name: nodes.Name) -> Symbol:
        found = scope.lookup(name.name)
        if found is None:
            raise Unlowerable(f"`{name.name}` is not declared", name.span)
        return found

    def block(self, scope: Scope, node: nodes.Operand) -> Block:
        """The block that a label names."""
        if isinstance(node, nodes.Name):
            symbol = self.symbol(scope, node)
            if symbol.kind is SymbolKind.LABEL:
                place = self.b.place(symbol)
                assert isinstance(place, Block)
                return place
        raise Unlowerable("not a label", node.span, "expected the name of a label")

    def guard(self, scope: Scope, guard: nodes.Guard | None) -> Guard | None:
        if guard is None:
            return None
        return Guard(self.register(scope, guard.predicate), guard.negated)

    def register(self, scope: Scope, node: nodes.Operand) -> Register:
        """The scalar register that an operand names."""
        found = self._registers(scope, node)
        if found is None or len(found) != 1:
            raise Unlowerable("not a register", node.span, "expected a register")
        return found[0]

    def _registers(self, scope: Scope, node: nodes.Operand) -> tuple[Register, ...] | None:
        """The registers of a name or vector element, None if it is none."""
        if isinstance(node, nodes.Name):  # most are
            symbol = scope.lookup(node.name)
            return None if symbol is None or symbol.kind is not REGISTER else self._elements(symbol)
        base = node.base if isinstance(node, nodes.Element) else node
        symbol = scope.lookup(base.name) if isinstance(base, nodes.Name) else None
        if symbol is None or symbol.kind is not REGISTER:
            return None
        elements = self._elements(symbol)
        if isinstance(node, nodes.Element):
            index = _COMPONENTS.get(node.selector, 99)
            if index >= len(elements):
                raise Unlowerable(f"`{symbol.name}` has no element `.{node.selector}`", node.span)
            return (elements[index],)
        return elements

    def _elements(self, symbol: Symbol) -> tuple[Register, ...]:
        """Of a name of registers."""
        place = self.b.place(symbol)
        assert isinstance(place, Registers)
        return place.elements

    # ------------------------------------------------------------------ destinations

    def destinations(self, scope: Scope, node: nodes.Operand) -> list[Register | None]:
        """The registers that an operand writes; None for `_`."""
        if isinstance(node, nodes.Vector):
            return [d for e in node.elements for d in self.destinations(scope, e)]
        if isinstance(node, nodes.Sink):
            return [None]
        return list(self.written(scope, node))

    def written(self, scope: Scope, node: nodes.Operand) -> tuple[Register, ...]:
        """The registers that a name or vector element writes."""
        found = self._registers(scope, node)
        if found is None:
            raise Unlowerable("not a register", node.span, "expected a register to write")
        return found

    # ------------------------------------------------------------------ sources

    def sources(self, scope: Scope, node: nodes.Operand, t: Type) -> tuple[Source, ...]:
        """The elements of a vector operand (one for a scalar)."""
        if isinstance(node, nodes.Vector):
            return tuple(s for e in node.elements for s in self.sources(scope, e, t))
        found = self._registers(scope, node)
        if found is not None:
            return found
        if isinstance(node, nodes.Name) and scope.lookup(node.name) is None:
            entry = special_register(node.name, "", self.context.version)
            if entry is not None and entry.vector:
                return tuple(Special(node.name[1:], c, entry.type) for c in entry.components)
        return (self.source(scope, node, t),)

    def source(self, scope: Scope, node: nodes.Operand, t: Type) -> Source:
        """A scalar operand; constants become values of type `t`."""
        if isinstance(node, nodes.Name):  # most are
            return self._named(scope, node)
        match node:
            case nodes.Integer() | nodes.Float():
                if t is F64 and self.context.environment.has_single_only:
                    return Constant(t, single_bits(node))
                return constant(node, t)
            case nodes.Sink():
                return Constant(t, 0)
            case nodes.Vector(elements=(only,)):
                return self.source(scope, only, t)
            case nodes.Negated(operand=operand):
                return self._complement(self.source(scope, operand, PRED))
            case nodes.Element(base=base, selector=selector):
                return self._element(scope, node, base, selector)
            case (
                nodes.Sum(base=base, offset=offset) | nodes.Address(base=nodes.Name() as base, offset=offset)
            ):
                return self._variable_address(scope, base, offset)
            case nodes.Indexed(array=base, index=None, offset=offset):
                return self._variable_address(scope, base, offset * self._element_bytes(scope, base))
            case _:
                raise Unlowerable("this operand cannot be a value", node.span)

    def _complement(self, source: Source) -> Source:
        match source:
            case Register():
                return Complement(source)
            case Constant():
                return Constant(source.type, source.bits ^ 1)
            case _:
                raise Unlowerable("`!` needs a predicate", nodes.NOWHERE)

    def _element(self, scope: Scope, node: nodes.Element, base: nodes.Name, selector: str) -> Source:
        found = self._registers(scope, node)
        if found is not None:
            return found[0]
        component = "xyzw"[_COMPONENTS[selector]] if selector in _COMPONENTS else selector
        entry = special_register(base.name, component, self.context.version)
        if entry is None:
            raise Unlowerable(f"`{base.name}` has no element `.{selector}`", node.span)
        return Special(base.name[1:], component, entry.type)

    def _named(self, scope: Scope, node: nodes.Name) -> Source:
        symbol = scope.lookup(node.name)
        if symbol is None:
            return self._special(node)
        if symbol.kind is REGISTER:
            found = self._elements(symbol)
            return found[0] if len(found) == 1 else self.register(scope, node)
        match symbol.kind:
            case SymbolKind.FUNCTION:
                function = self.context.definition(node)
                if function.body is None:
                    message = f"function `{node.name}` has no body, and so no address"
                    hint = "load the module together with a file that defines it: load([...])"
                    raise Unlowerable(message, node.span, hint)
                name = self.context.linked(function.name)
                self.context.addressed[name] = function
                return FunctionAddress(name, U64)
            case SymbolKind.VARIABLE:
                return self._variable_address(scope, node, 0)
            case SymbolKind.LABEL:
                return Constant(self.context.address_type, self.b.label_address(self.block(scope, node)))
            case _:
                raise Unlowerable(f"`{node.name}` is a {symbol.kind.value}, not a value", node.span)

    def _special(self, node: nodes.Name) -> Special | SymbolAddress | Constant:
        entry = special_register(node.name, "", self.context.version)
        if entry is None:
            raise Unlowerable(f"`{node.name}` is not declared", node.span)
        if node.name == SYSTEM_CAPACITY:
            return Constant(entry.type, SYSTEM_BYTES)
        if (place := system_place(node.name)) is not None:
            return self.stored(self.context.system_memory(), place)
        return Special(node.name[1:], "", entry.type)

    # ------------------------------------------------------------------ addresses

    def _variable_address(self, scope: Scope, name: nodes.Name, offset: int) -> SymbolAddress | Register:
        place = self.b.place(self.symbol(scope, name))
        if isinstance(place, Passed):
            return self._add(place.address, Constant(self.context.address_type, offset))
        if not isinstance(place, Stored):
            raise Unlowerable(f"`{name.name}` is not a variable in memory", name.span)
        return self.stored(place, offset)

    def stored(self, place: Stored, offset: int) -> SymbolAddress:
        return SymbolAddress(place.space, place.name, offset, self.context.address_type)

    def space(self, scope: Scope, node: nodes.Operand) -> str:
        """The state space of the variable that a memory operand names, "" for registers."""
        name = node.base if isinstance(node, nodes.Address | nodes.Sum) else getattr(node, "array", None)
        symbol = scope.lookup(name.name) if isinstance(name, nodes.Name) else None
        if symbol is None or symbol.kind is not SymbolKind.VARIABLE:
            return ""
        place = self.b.place(symbol)
        if isinstance(place, Passed):
            return "local"
        return place.space if isinstance(place, Stored) else "param"

    def cells(self, scope: Scope, node: nodes.Operand) -> tuple[Cells, int] | None:
        """The `.param` cells and the byte offset that a memory operand names, None if it names none."""
        match node:
            case nodes.Address(base=nodes.Name() as base, offset=offset):
                pass
            case nodes.Sum(base=base, offset=offset):
                pass
            case nodes.Indexed(array=base, index=None, offset=elements):
                offset = elements * self._element_bytes(scope, base)
            case _:
                return None
        symbol = scope.lookup(base.name)
        if symbol is None or symbol.kind is not SymbolKind.VARIABLE:
            return None
        place = self.b.place(symbol)
        return (place, offset) if isinstance(place, Cells) else None

    def address(self, scope: Scope, node: nodes.Operand) -> Address:
        """A memory operand."""
        match node:
            case nodes.Name() | nodes.Element():  # PTX 1.0 may leave the brackets out
                return self.address(scope, nodes.Address(node, 0, node.span))
            case nodes.Sum(base=base, offset=offset):
                return self.address(scope, nodes.Address(base, offset, node.span))
            case nodes.Address(base=None, offset=offset):
                return Address(None, offset)
            case nodes.Address(base=base, offset=offset) if base is not None:
                registers = self._registers(scope, base)
                if registers is not None:
                    return Address(registers[0], offset)
                if isinstance(base, nodes.Name):
                    return self._in_variable(scope, base, offset)
            case nodes.Indexed(array=array, index=index, offset=elements):
                offset = elements * self._element_bytes(scope, array)
                if index is None:
                    return self.address(scope, nodes.Address(array, offset, node.span))
                return Address(self._indexed(scope, array, index), offset)
            case nodes.Integer(value=value):
                return Address(None, value)
            case _:
                pass
        raise Unlowerable("not an address", node.span, "expected [variable], [register] or [constant]")

    def _in_variable(self, scope: Scope, name: nodes.Name, offset: int) -> Address:
        place = self.b.place(self.symbol(scope, name))
        if isinstance(place, Passed):
            return Address(place.address, offset)
        return Address(self._variable_address(scope, name, 0), offset)

    def _element_bytes(self, scope: Scope, array: nodes.Name) -> int:
        """Bytes from an element of an array to the next (section 6.4.2): those of its type, of which a vector
        is several, as ptxas counts them."""
        return self.symbol(scope, array).variable.type.bits // 8

    def _indexed(self, scope: Scope, array: nodes.Name, index: nodes.Operand) -> Register:
        """The address of an element of an array in a register of pointer width."""
        t = self.context.address_type
        bits = self._element_bytes(scope, array).bit_length() - 1
        before = self.b.temporary(t)
        sources: dict[str, tuple[Source | Address, Type]] = {
            "a": (self.register(scope, index), t),
            "n": (Constant(U32, bits), U32),
        }
        self.b.emit(simple(SCALED, t, before, sources, self.b.line))
        return self._add(self._variable_address(scope, array, 0), before)

    def _add(self, base: Source, more: Source) -> Register:
        t = self.context.address_type
        result = self.b.temporary(t)
        sources: dict[str, tuple[Source | Address, Type]] = {"a": (base, t), "b": (more, t)}
        self.b.emit(simple(SUM, t, result, sources, self.b.line))
        return result


def address_type(bits: int) -> Type:
    return U64 if bits == B64.bits else U32
