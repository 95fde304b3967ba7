"""Name resolution: module, function and block scopes (sections 4.4, 5.3.6; table 72).

A name is known from its declaration on, to the end of the scope that declares it; a label is known
in its whole scope, scopes inside included, but never from outside. Names of inner scopes hide outer
ones. Whoever resolves names walks the tree in source order::

    scopes = Scopes(module)                 # module scope, everything in it declared
    scope = scopes.function(function)       # parameters declared
    body = scope.enter(function.body)       # labels declared
    for statement in function.body.statements:
        body.declare(statement)             # variables, prototypes, target lists; others are ignored
        ... body.lookup("%r5") ...          # always the same `Symbol` object for the same register

Special registers are not declared anywhere (ask the catalogue when `lookup` gives None); a
declaration of the same name hides one.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import TypeAlias

from simt.ptx.nodes import (
    Alias,
    Block,
    CallPrototype,
    Function,
    Label,
    Module,
    Statement,
    TargetList,
    TopLevel,
    Variable,
)
from simt.ptx.types import Type
from simt.records import dataclass

Declaration: TypeAlias = Variable | Function | Label | CallPrototype | TargetList | Alias


class SymbolKind(Enum):
    """What a name stands for. VARIABLE: in any addressable space, kernel parameters included."""

    REGISTER = "register"
    VARIABLE = "variable"
    LABEL = "label"
    FUNCTION = "function"
    PROTOTYPE = "prototype"
    TARGETS = "target list"


@dataclass(slots=True, eq=False)
class Symbol:
    """One name. Equal only to itself: the symbol is the identity of a register or variable.

    `name`: the canonical one (`%r3` for `%r03`). `node`: the declaration; for a function the one with
    the body, if any. `type`, `space`: of variables and registers. `vector`: its elements, 1 for scalars.
    """

    kind: SymbolKind
    name: str
    node: Declaration
    type: Type | None = None
    vector: int = 1
    space: str = ""

    @property
    def variable(self) -> Variable:
        """The declaration of a register or variable. TypeError for other kinds."""
        if isinstance(self.node, Variable):
            return self.node
        raise TypeError(f"{self.name} is a {self.kind.value}")


MAX_INDEX_DIGITS = 9


class Scope:
    """The names declared in one scope, and the scopes around it."""

    __slots__ = ("_families", "_names", "parent")

    def __init__(self, parent: Scope | None = None) -> None:
        self.parent = parent
        self._names: dict[str, Symbol] = {}
        self._families: dict[str, Variable] = {}

    def lookup(self, name: str) -> Symbol | None:
        """What the name stands for at this point, or None."""
        scope: Scope | None = self
        while scope is not None:
            found = scope._names.get(name) or (scope._member(name) if scope._families else None)
            if found is not None:
                return found
            scope = scope.parent
        return None

    def own(self, name: str) -> Symbol | None:
        """Like `lookup`, in this scope only."""
        return self._names.get(name) or self._member(name)

    def family(self, name: str) -> Variable | None:
        """The visible parameterised declaration whose prefix the name has, whatever its count."""
        stem = name.rstrip("0123456789")
        scope: Scope | None = self if stem != name else None
        while scope is not None:
            if stem in scope._families:
                return scope._families[stem]
            scope = scope.parent
        return None

    def names(self) -> Iterator[str]:
        """Every visible name, for suggestions; a parameterised one as `%r0`."""
        scope: Scope | None = self
        while scope is not None:
            yield from scope._names
            yield from (f"{prefix}0" for prefix in scope._families)
            scope = scope.parent

    def enter(self, block: Block) -> Scope:
        """The scope of a block, its labels declared."""
        inner = Scope(self)
        for statement in block.statements:
            if isinstance(statement, Label):
                inner._names.setdefault(statement.name, Symbol(SymbolKind.LABEL, statement.name, statement))
        return inner

    def declare(self, node: Statement | TopLevel) -> Symbol | None:
        """Makes a declaration known. Returns the symbol of this scope that has the name already, if any
        (a function's definition, or a variable's after an `.extern` one, then takes its place)."""
        match node:
            case Variable():
                return self._declare_variable(node)
            case Function(name=name) | Alias(name=name):
                return self._put(Symbol(SymbolKind.FUNCTION, name, node))
            case CallPrototype(label=name):
                return self._put(Symbol(SymbolKind.PROTOTYPE, name, node))
            case TargetList(label=name):
                return self._put(Symbol(SymbolKind.TARGETS, name, node))
            case _:
                return None

    def _declare_variable(self, node: Variable) -> Symbol | None:
        if node.count is None:
            return self._put(_symbol(node, node.name))
        before = self._families.get(node.name)
        if before is not None:
            return _symbol(before, node.name)
        clash = next((s for n, s in self._names.items() if _is_member(node, n)), None)
        self._families[node.name] = node
        return clash

    def _put(self, symbol: Symbol) -> Symbol | None:
        before = self.own(symbol.name)
        if before is None:
            self._names[symbol.name] = symbol
        elif before.kind is symbol.kind and _completes(symbol.node, before.node):
            before.node = symbol.node
        return before

    def _member(self, name: str) -> Symbol | None:
        """The member of a parameterised declaration that has this name."""
        stem = name.rstrip("0123456789")
        for cut in range(len(stem), min(len(name), len(stem) + 1 + MAX_INDEX_DIGITS)):
            family = self._families.get(name[:cut])
            if family is not None and _is_member(family, name):
                canonical = f"{family.name}{int(name[cut:])}"
                symbol = self._names.get(canonical) or _symbol(family, canonical)
                self._names[canonical] = self._names[name] = symbol
                return symbol
        return None


def _is_member(family: Variable, name: str) -> bool:
    digits = name[len(family.name) :]
    if not name.startswith(family.name) or not (digits.isascii() and digits.isdigit()):
        return False
    return len(digits) <= MAX_INDEX_DIGITS and int(digits) < (family.count or 0)


def _symbol(node: Variable, name: str) -> Symbol:
    kind = SymbolKind.REGISTER if node.space == "reg" else SymbolKind.VARIABLE
    return Symbol(kind, name, node, node.type, node.vector, node.space)


def _completes(node: Declaration, before: Declaration) -> bool:
    """Whether a later declaration says more than an earlier one of the same name."""
    match node, before:
        case Function(body=Block()), Function(body=None):
            return True
        case Variable(linkage=linkage), Variable(linkage="extern"):
            return linkage != "extern"
        case _:
            return False


class Scopes:
    """The module scope of a parsed module, with every item in it declared, and the way to the others."""

    def __init__(self, module: Module) -> None:
        self.module = Scope()
        for item in module.items:
            self.module.declare(item)

    def lookup(self, name: str) -> Symbol | None:
        return self.module.lookup(name)

    def function(self, function: Function) -> Scope:
        """The scope of a function's parameters. The body's own names may not repeat them."""
        return parameter_scope(self.module, function)


def parameter_scope(module: Scope, function: Function) -> Scope:
    """A new scope within the module's, with the parameters of a function declared."""
    scope = Scope(module)
    for parameter in (*function.returns, *function.parameters):
        scope.declare(parameter)
    return scope
