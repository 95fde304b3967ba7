"""The shape of an operand: all that the rules for instructions look at, interned.

Two operands of the same shape are checked alike, so the verdict on an instruction is remembered by
its opcode and the shapes of its operands (`simt.verify.instructions`).
"""

from __future__ import annotations

import re
from enum import Enum
from typing import TypeAlias

from simt.isa.form import Version
from simt.isa.special_registers import SPECIAL_REGISTERS, SpecialRegister
from simt.isa.targets import FIRST_CALL_PARAMETERS
from simt.ptx import nodes
from simt.ptx.symbols import Scope, Symbol, SymbolKind
from simt.ptx.types import Type
from simt.records import dataclass

SELECTORS = {s: i for names in ("xyzw", "rgba") for i, s in enumerate(names)}
COLOURS = dict(zip("rgba", "xyzw"))
SUBWORD = r"[bh]\d{1,4}"
"""Selectors of bytes and half words; which of them an operand takes, its form says."""


class What(Enum):
    """The kind of an operand once its names are resolved. The value says it in words."""

    REGISTER = "register"
    VARIABLE = "variable"
    LABEL = "label"
    FUNCTION = "function"
    PROTOTYPE = "call prototype"
    TARGETS = "target list"
    SPECIAL = "special register"
    UNKNOWN = "undeclared name"
    NO_ELEMENT = "element that does not exist"
    SUBWORD = "part of a register"
    INTEGER = "integer constant"
    FLOAT = "floating-point constant"
    ADDRESS = "address"
    INDEXED = "indexed variable"
    SUM = "address without brackets"
    TEXTURE = "texture address"
    VECTOR = "vector"
    NEGATED = "negated operand"
    MINUS = "operand with a minus sign"
    PAIR = "pair of destinations"
    SINK = "bit bucket"
    ARGUMENTS = "argument list"


class Role(Enum):
    """What a `.param` variable is for."""

    KERNEL = "kernel parameter"
    PARAMETER = "parameter"
    RESULT = "result"
    ARGUMENT = "argument or result of a call"


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """One interned shape. `count`: vector elements of a register or constant width of a float.

    `parts`: the shapes inside. `role`: of a `.param` variable, what it is for.
    `kind`: of a function or a list of targets; the selector of an element or a part of a register; of an
    indexed variable that is no array, "scalar".
    """

    what: What
    type: Type | None = None
    count: int = 1
    space: str = ""
    parts: tuple[Shape, ...] = ()
    special: SpecialRegister | None = None
    role: Role | None = None
    kind: str = ""


Key: TypeAlias = tuple[object, ...]
_KINDS = {
    SymbolKind.REGISTER: What.REGISTER,
    SymbolKind.VARIABLE: What.VARIABLE,
    SymbolKind.LABEL: What.LABEL,
    SymbolKind.FUNCTION: What.FUNCTION,
    SymbolKind.PROTOTYPE: What.PROTOTYPE,
    SymbolKind.TARGETS: What.TARGETS,
}


class Shapes:
    """Gives operands their shapes. `enter` and `changed` keep it in step with the scopes."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self._roles: dict[int, Role] = {}
        self._role_in_body = Role.ARGUMENT
        self._known: dict[Key, Shape] = {}
        self._names: dict[str, Shape] = {}
        self._unknown = self._intern(What.UNKNOWN)
        self._no_element = self._intern(What.NO_ELEMENT)
        self._integer = self._intern(What.INTEGER)
        self._sink = self._intern(What.SINK)

    def enter(self, scope: Scope) -> None:
        """Names are looked up in this scope from now on."""
        self.scope = scope
        self._names = {}

    def function(self, node: nodes.Function, version: Version) -> None:
        """The following operands are those of this function. Before PTX 2.0 a body declares no arguments, but
        may declare the kernel's parameters (section 10.1.1)."""
        role = Role.KERNEL if node.is_entry else Role.PARAMETER
        self._role_in_body = role if version < FIRST_CALL_PARAMETERS else Role.ARGUMENT
        self._roles = {id(v): role for v in node.parameters} | {id(v): Role.RESULT for v in node.returns}

    def changed(self) -> None:
        """The scope has new names."""
        self._names.clear()

    def of(self, operand: nodes.Operand) -> Shape:
        match operand:
            case nodes.Name(name=name):
                return self._names.get(name) or self._name(operand)
            case nodes.Integer():
                return self._integer
            case nodes.Address():
                return self._address(operand)
            case nodes.Element():
                return self._element(operand)
            case nodes.Vector(elements=elements):
                return self._compound(What.VECTOR, elements)
            case nodes.Float(width=width):
                return self._intern(What.FLOAT, count=width)
            case _:
                return self._rare(operand)

    def _rare(self, operand: nodes.Operand) -> Shape:
        match operand:
            case nodes.Arguments(elements=elements):
                return self._compound(What.ARGUMENTS, elements)
            case nodes.Negated(operand=inner):
                return self._compound(What.NEGATED, (inner,))
            case nodes.Minus(operand=inner):
                return self._compound(What.MINUS, (inner,))
            case nodes.Pair(first=first, second=second):
                return self._compound(What.PAIR, (first, second))
            case nodes.Indexed(array=array, index=index):
                return self._indexed(array, (array,) if index is None else (array, index))
            case nodes.Sum(base=base):
                return self._compound(What.SUM, (base,))
            case nodes.TextureAddress(texture=texture, coordinates=coordinates, sampler=sampler):
                rest = () if sampler is None else (sampler,)
                return self._compound(What.TEXTURE, (texture, coordinates, *rest))
            case _:
                return self._sink

    def _intern(
        self,
        what: What,
        t: Type | None = None,
        count: int = 1,
        space: str = "",
        parts: tuple[Shape, ...] = (),
        special: SpecialRegister | None = None,
        role: Role | None = None,
        kind: str = "",
    ) -> Shape:
        key = (what, t, count, space, parts, special and special.name, role, kind)
        shape = self._known.get(key)
        if shape is None:
            shape = self._known[key] = Shape(what, t, count, space, parts, special, role, kind)
        return shape

    def _name(self, operand: nodes.Name) -> Shape:
        symbol = self.scope.lookup(operand.name)
        shape = self._special(operand.name, "") if symbol is None else self._symbol(symbol)
        self._names[operand.name] = shape
        return shape

    def _symbol(self, symbol: Symbol) -> Shape:
        role = self._roles.get(id(symbol.node), self._role_in_body) if symbol.space == "param" else None
        kind = symbol.node.kind if isinstance(symbol.node, nodes.Function | nodes.TargetList) else ""
        return self._intern(
            _KINDS[symbol.kind], symbol.type, symbol.vector, symbol.space, (), None, role, kind
        )

    def _special(self, name: str, component: str) -> Shape:
        register = SPECIAL_REGISTERS.get(name)
        if register is None:
            return self._unknown
        if component and component not in register.components:
            return self._no_element
        count = 4 if register.vector and not component else 1
        return self._intern(What.SPECIAL, register.type, count, "sreg", (), register)

    def _element(self, operand: nodes.Element) -> Shape:
        written = f"{operand.base.name}.{operand.selector}"
        known = self._names.get(written)
        if known is None:
            known = self._names[written] = self._selected(operand)
        return known

    def _selected(self, operand: nodes.Element) -> Shape:
        base, selector = self._name(operand.base), operand.selector
        if base.what is What.SPECIAL:
            return self._special(operand.base.name, COLOURS.get(selector, selector))
        if base.what is What.UNKNOWN:
            return base
        if base.what is What.REGISTER and base.count == 1 and re.fullmatch(SUBWORD, selector):
            return self._intern(What.SUBWORD, base.type, kind=selector)
        if base.what is not What.REGISTER or base.count == 1 or SELECTORS.get(selector, 9) >= base.count:
            return self._no_element
        return self._intern(What.REGISTER, base.type, 1, "reg", kind=selector)

    def _address(self, operand: nodes.Address) -> Shape:
        return self._compound(What.ADDRESS, () if operand.base is None else (operand.base,))

    def _indexed(self, array: nodes.Name, operands: tuple[nodes.Operand, ...]) -> Shape:
        """What is no array has a shape of its own: its elements are refused."""
        symbol = self.scope.lookup(array.name)
        node = None if symbol is None else symbol.node
        is_scalar = isinstance(node, nodes.Variable) and not node.dimensions
        parts = tuple(map(self.of, operands))
        return self._intern(What.INDEXED, None, len(parts), "", parts, kind="scalar" if is_scalar else "")

    def _compound(self, what: What, operands: tuple[nodes.Operand, ...]) -> Shape:
        return self._intern(what, None, len(operands), "", tuple(map(self.of, operands)))
