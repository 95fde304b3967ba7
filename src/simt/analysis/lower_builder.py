"""A function under construction: its registers, blocks, frame, and the places of its names."""

from __future__ import annotations

from simt.analysis.lower_context import (
    Cells,
    Context,
    Passed,
    Place,
    Registers,
    Stored,
    Unlowerable,
    cell_layout,
    fits_cells,
    is_module_scope,
)
from simt.analysis.lower_variables import alignment, round_up, size
from simt.analysis.outline import FRAME_ALIGNMENT
from simt.analysis.program import MODULE_SCOPE, Block, Call, Jump, Op, Register, Terminator
from simt.ptx import nodes
from simt.ptx.symbols import Symbol, SymbolKind
from simt.ptx.types import PRED, Type

_SELECTORS = "xyzw"


class Builder:
    """Collects the blocks of one function. `current` None: the next op is unreachable."""

    def __init__(self, context: Context, name: str, is_entry: bool = False) -> None:
        self.context = context
        self.name = name
        self.is_entry = is_entry
        self.registers: list[Register] = []
        self.blocks: list[Block] = []
        self.places: dict[Symbol, Place] = {}
        self.local: dict[str, int] = {}
        self.local_size = 0
        self.frame_align = FRAME_ALIGNMENT
        self.framed: frozenset[str] = frozenset()  # `.param` names that must live in memory
        self.line = 0
        self.first_parameter: Stored | None = None
        """Of a kernel."""
        self.labels: list[Block] = []
        """Labels whose address the function takes (section 6.4.4): it is the place in this list, from 1."""
        self._carry: Register | None = None
        self._own: set[str] = set()
        self.current = self.new_block()

    # ------------------------------------------------------------------ registers and blocks

    def register(self, name: str, t: Type) -> Register:
        register = Register(len(self.registers), name, t)
        self.registers.append(register)
        return register

    def temporary(self, t: Type) -> Register:
        return self.register(f"tmp{len(self.registers)}", t)

    @property
    def carry(self) -> Register:
        """CC.CF of this function."""
        if self._carry is None:
            self._carry = self.register("CC.CF", PRED)
        return self._carry

    def new_block(self) -> Block:
        block = Block(len(self.blocks))
        self.blocks.append(block)
        return block

    def emit(self, op: Op | Call) -> None:
        self.current.ops.append(op)

    def end(self, terminator: Terminator, following: Block | None = None) -> None:
        """Ends the current block; code goes on in `following` (default: a new block)."""
        self.current.terminator = terminator
        self.current = following or self.new_block()

    def start(self, block: Block) -> None:
        """A label: control also falls into the block from above."""
        self.end(Jump(block, self.line), block)

    def label_address(self, block: Block) -> int:
        """What stands for the address of a label in registers of this function."""
        if block not in self.labels:
            self.labels.append(block)
        return self.labels.index(block) + 1

    # ------------------------------------------------------------------ names

    def place(self, symbol: Symbol) -> Place:
        """What a name of this function or of the module stands for."""
        found = self.places.get(symbol)
        if found is None:
            found = self.places[symbol] = self._make(symbol)
        return found

    def _make(self, symbol: Symbol) -> Place:
        match symbol.kind:
            case SymbolKind.REGISTER:
                return self._registers(symbol)
            case SymbolKind.LABEL:
                return self.new_block()
            case SymbolKind.VARIABLE:
                return self._variable(symbol)
            case _:
                raise Unlowerable(f"`{symbol.name}` is a {symbol.kind.value}, not a value", symbol.node.span)

    def _registers(self, symbol: Symbol) -> Registers:
        assert symbol.type is not None
        name = symbol.name
        if is_module_scope(self.context, symbol):
            name = MODULE_SCOPE + self.context.linked(name)
        if symbol.vector == 1:
            return Registers((self.register(name, symbol.type),))
        names = [f"{name}.{_SELECTORS[i] if i < 4 else i}" for i in range(symbol.vector)]
        return Registers(tuple(self.register(n, symbol.type) for n in names))

    def _variable(self, symbol: Symbol) -> Place:
        node = symbol.variable
        if node.space == "param":
            return self.parameter_place(node)
        if is_module_scope(self.context, symbol):
            return self._module_variable(symbol)
        if node.space == "local":
            return self.frame_variable(node)
        return self.context.declare(node, self._unique(f"{self.name}::{symbol.name}"))

    def _module_variable(self, symbol: Symbol) -> Place:
        node = symbol.variable
        if node.space == "local":
            return self.frame_variable(node, MODULE_SCOPE + self.context.linked(symbol.name))
        found = self.context.imports.get(symbol.name)
        if found is not None and isinstance(found.node, nodes.Variable):
            return found.context.declare(found.node, symbol.name)
        if node.linkage == "extern" and node.space != "shared":
            message = f"`.extern` variable `{symbol.name}` has no definition in this module"
            raise Unlowerable(message, node.span, "load the file that defines it together with this one")
        return self.context.declare(node, self.context.linked(symbol.name))

    def _unique(self, name: str) -> str:
        while name in self._own:
            name += "'"
        self._own.add(name)
        return name

    def parameter_place(self, node: nodes.Variable) -> Place:
        """A `.param` variable of a call or of a device function."""
        if node.name in self.framed or not fits_cells(node):
            return self.frame_variable(node)
        layout = cell_layout(node)
        cells = [self.register(f"{node.name}+{i}", t) for i, t in enumerate(layout)]
        return Cells(tuple(cells), 8 if node.type.bytes == 8 else 4)

    def formal_place(self, node: nodes.Variable) -> Passed:
        """A parameter of this function that is passed by its address."""
        return Passed(self.register(f"{node.name}&", self.context.address_type))

    def reserve(self, name: str, room: int, align: int) -> None:
        """Room in the function's local frame, under a name that is unique in it."""
        self._own.add(name)
        self.local[name] = round_up(self.local_size, align)
        self.local_size = self.local[name] + round_up(room, 8)
        self.frame_align = max(self.frame_align, align)

    def frame_variable(self, node: nodes.Variable, name: str = "") -> Stored:
        """Room for a variable in the function's local frame."""
        name = name or self._unique(node.name)
        self.reserve(name, max(size(node), 1), max(alignment(node), 4))
        return Stored("local", name)
