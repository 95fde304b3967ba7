"""What lowering knows about the module, and what names stand for while a function is lowered."""

from __future__ import annotations

from typing import TypeAlias

from simt.analysis.lower_variables import Relocation, alignment, module_variable, size
from simt.analysis.program import CELL_LIMIT, Block, Function, ModuleVariable, Register
from simt.diagnostics import Diagnostics
from simt.isa.algebra import Environment
from simt.isa.special_registers import SYSTEM_ALIGN, SYSTEM_BYTES, SYSTEM_MEMORY
from simt.ptx import nodes
from simt.ptx.symbols import Scopes, Symbol, SymbolKind
from simt.ptx.types import B32, B64, Type
from simt.records import dataclass, field, replace


class Unlowerable(Exception):
    """Something that cannot be lowered; caught once per statement and reported there."""

    def __init__(self, message: str, span: nodes.Span, hint: str | None = None) -> None:
        super().__init__(message)
        self.message, self.span, self.hint = message, span, hint


@dataclass(frozen=True, slots=True)
class Registers:
    """A register variable: one register, or those of a vector's elements."""

    elements: tuple[Register, ...]


@dataclass(frozen=True, slots=True)
class Stored:
    """A variable in memory, under its unique name."""

    space: str
    name: str


@dataclass(frozen=True, slots=True)
class Cells:
    """A `.param` variable held in registers, all of `width` bytes (4 or 8), in order of their offsets."""

    registers: tuple[Register, ...]
    width: int


@dataclass(frozen=True, slots=True)
class Passed:
    """A large parameter, or one without a size: the caller's variable, by its local address."""

    address: Register


Place: TypeAlias = Registers | Stored | Cells | Passed | Block


@dataclass(frozen=True, slots=True)
class SharedVariable:
    """`dynamic`: an `extern .shared` array, whose size the launch gives."""

    size: int
    align: int
    dynamic: bool


@dataclass(frozen=True, slots=True)
class Definition:
    """Where a name that several files know is defined."""

    context: Context
    node: nodes.Function | nodes.Variable


@dataclass(slots=True)
class Context:
    """The file under way. `shared` and `variables` are filled as functions use or declare them; these
    and `functions` and `addressed` are those of the whole program.

    `imports`: names that another file defines. `names`: what names of this file are called in the program,
    if it is something else. `before`: lines of the files before it.
    """

    module: nodes.Module
    diagnostics: Diagnostics
    scopes: Scopes
    environment: Environment
    address_type: Type
    functions: dict[str, Function] = field(default_factory=dict[str, Function])
    variables: dict[str, ModuleVariable] = field(default_factory=dict[str, ModuleVariable])
    shared: dict[str, SharedVariable] = field(default_factory=dict[str, SharedVariable])
    addressed: dict[str, nodes.Function] = field(default_factory=dict[str, nodes.Function])
    imports: dict[str, Definition] = field(default_factory=dict[str, Definition])
    names: dict[str, str] = field(default_factory=dict[str, str])
    before: int = 0

    @property
    def version(self) -> tuple[int, int]:
        return self.module.version

    def line(self, span: nodes.Span) -> int:
        return self.before + self.diagnostics.source.position(span.start)[0]

    def linked(self, name: str) -> str:
        """What a name of this file is called in the program."""
        return self.names.get(name, name)

    def report(self, problem: Unlowerable) -> None:
        if any(d.span == problem.span and d.message == problem.message for d in self.diagnostics):
            return  # every use of a declaration meets the same problem
        self.diagnostics.error(problem.message, problem.span, problem.hint)

    def declare(self, node: nodes.Variable, name: str) -> Stored:
        """A module-wide variable, or one that a function declares in a space that outlives its call."""
        if node.space == "shared":
            dynamic = node.linkage == "extern" and size(node) == 0
            self.shared[name] = SharedVariable(size(node), alignment(node), dynamic)
        elif name not in self.variables:
            made = module_variable(node, name, self.environment.has_single_only)
            relocations = tuple(map(self._related, made.relocations))
            self.variables[name] = replace(made, relocations=relocations, shares=self.linked(node.shares))
        return Stored(node.space, name)

    def system_memory(self) -> Stored:
        """Shared memory that the system keeps for itself, in kernels that ask where it is."""
        self.shared[SYSTEM_MEMORY] = SharedVariable(SYSTEM_BYTES, SYSTEM_ALIGN, dynamic=False)
        return Stored("shared", SYSTEM_MEMORY)

    def _related(self, relocation: Relocation) -> Relocation:
        """An address in an initial value, by the name that it has in the program."""
        offset, name, addend, generic, byte = relocation
        symbol = self.scopes.lookup(name)
        if symbol is not None and symbol.kind is SymbolKind.FUNCTION:
            function = self.definition(nodes.Name(name, symbol.node.span))
            name = function.name
            self.addressed[self.linked(name)] = function
        return offset, self.linked(name), addend, generic, byte

    def definition(self, name: nodes.Name) -> nodes.Function:
        """The function of this name, aliases resolved."""
        symbol = self.scopes.lookup(name.name)
        for _ in range(8):
            if symbol is None or not isinstance(symbol.node, nodes.Alias):
                break
            symbol = self.scopes.lookup(symbol.node.aliasee)
        if symbol is None or not isinstance(symbol.node, nodes.Function):
            raise Unlowerable(f"`{name.name}` is not a function", name.span)
        found = self.imports.get(symbol.name)
        return found.node if found is not None and isinstance(found.node, nodes.Function) else symbol.node


def cell_layout(node: nodes.Variable) -> list[Type]:
    """The register types that hold a parameter: one of 64 bits for each 8-byte element of a scalar or
    array of such, else one of 32 bits for each 4 bytes. A `.reg` parameter is its own elements."""
    if node.space == "reg":
        return [node.type] * node.vector
    if node.type.bytes == 8:
        return [B64] * (size(node) // 8)
    return [B32] * -(-size(node) // 4)


def fits_cells(node: nodes.Variable) -> bool:
    """Whether a parameter may live in registers: small, and of a size that elements of 4 or 8 bytes fill."""
    return node.type.bits <= 64 and size(node) <= CELL_LIMIT


def by_address(formal: nodes.Variable) -> bool:
    """Whether the caller passes the address of its variable: large parameters, and those of variadic
    functions, which have no size."""
    return formal.space == "param" and (None in formal.dimensions or not fits_cells(formal))


def is_module_scope(context: Context, symbol: Symbol) -> bool:
    return context.scopes.module.own(symbol.name) is symbol
