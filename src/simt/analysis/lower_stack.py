"""`alloca` and its relatives: a part of the function's local frame, handed out from the bottom up."""

from __future__ import annotations

from simt.analysis import lower_forms
from simt.analysis.lower_builder import Builder
from simt.analysis.lower_operands import Operands
from simt.analysis.program import Address, Block, Constant, Op, Register, Source, SymbolAddress
from simt.ptx import nodes
from simt.ptx.symbols import Scope
from simt.ptx.types import Type, unsigned

ROOM = 8192
"""Bytes that all allocations of one activation of a function share; an access past them is a fault."""

DEFAULT_ALIGNMENT = 8
NAME = "alloca#"


class Stack:
    """The allocations of one function. `top` is where free memory begins."""

    def __init__(self, builder: Builder, operands: Operands) -> None:
        self.b = builder
        self.operands = operands
        self.type = unsigned(builder.context.address_type.bits)
        self.top: Register | None = None

    def lower(self, kind: str, scope: Scope, node: nodes.Instruction) -> None:
        """One instruction; `kind` as the catalogue calls it."""
        match kind:
            case "allocate":
                self._allocate(scope, node)
            case "save-stack":
                self._write(scope, node.operands[0], self._top())
            case _:
                self._move(self._top(), self.operands.source(scope, node.operands[0], self.type))

    def start(self, entry: Block) -> None:
        """Puts the beginning of the room into `top` on entry, if there are allocations."""
        if self.top is not None:
            room = SymbolAddress("local", NAME, 0, self.type)
            entry.ops.insert(0, lower_forms.copy(self.top, room, self.type, self.b.line))

    def _top(self) -> Register:
        if self.top is None:
            self.top = self.b.register("alloca.top", self.type)
            self.b.reserve(NAME, ROOM)
        return self.top

    def _allocate(self, scope: Scope, node: nodes.Instruction) -> None:
        top, start = self._top(), self.b.temporary(self.type)
        pointer, amount, *aligned = node.operands
        size = self.operands.source(scope, amount, self.type)
        alignment = DEFAULT_ALIGNMENT
        for operand in aligned:
            written = self.operands.source(scope, operand, self.type)
            alignment = written.bits if isinstance(written, Constant) else alignment
        self.b.emit(self._allocation(start, size, top, alignment))
        values: dict[str, tuple[Source | Address, Type]] = {"a": (start, self.type), "b": (size, self.type)}
        self.b.emit(lower_forms.simple(lower_forms.SUM, self.type, top, values, self.b.line))
        self._write(scope, pointer, start)

    def _allocation(self, start: Register, size: Source, top: Register, alignment: int) -> Op:
        mask = Constant(self.type, max(alignment, 1) - 1)
        end = SymbolAddress("local", NAME, ROOM, self.type)
        values: dict[str, Source] = {"a": size, "b": top, "c": mask, "e": end}
        typed = {name: (value, self.type) for name, value in values.items()}
        return lower_forms.simple(lower_forms.ALLOCATE, self.type, start, typed, self.b.line)

    def _write(self, scope: Scope, written: nodes.Operand, value: Source) -> None:
        for d in self.operands.destinations(scope, written):
            if d is not None:
                self._move(d, value)

    def _move(self, d: Register, value: Source) -> None:
        self.b.emit(lower_forms.copy(d, value, self.type, self.b.line))
