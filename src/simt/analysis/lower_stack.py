"""`alloca` and its relatives: a part of the function's local frame, handed out from the bottom up."""

from __future__ import annotations

from simt.analysis import lower_forms
from simt.analysis.lower_builder import Builder
from simt.analysis.lower_operands import Operands
from simt.analysis.lower_variables import round_up
from simt.analysis.program import Address, Block, Constant, Op, Register, Source, SymbolAddress
from simt.ptx import nodes
from simt.ptx.symbols import Scope
from simt.ptx.types import Type, unsigned

ROOM = 8192
"""Bytes that all allocations of one activation of a function share, where their sizes or their number are not
known; an access past them is a fault."""

DEFAULT_ALIGNMENT = 8
NAME = "alloca#"


class Stack:
    """The allocations of one function. `top` is where free memory begins."""

    def __init__(self, builder: Builder, operands: Operands) -> None:
        self.b = builder
        self.operands = operands
        self.type = unsigned(builder.context.address_type.bits)
        self.top: Register | None = None
        self.made: list[tuple[Block, Op, Source, int]] = []
        """Of each allocation: its block, itself, its size and its alignment."""

    def lower(self, kind: str, scope: Scope, node: nodes.Instruction) -> None:
        """One instruction; `kind` as the catalogue calls it."""
        match kind:
            case "allocate":
                self._allocate(scope, node)
            case "save-stack":
                self._write(scope, node.operands[0], self._top())
            case _:
                self._move(self._top(), self.operands.source(scope, node.operands[0], self.type))

    def finish(self, entry: Block) -> None:
        """When all blocks are known: reserves the room, and puts its beginning into `top` on entry."""
        if self.top is None:
            return
        room = self._room()
        self.b.reserve(NAME, room, max((align for *_, align in self.made), default=DEFAULT_ALIGNMENT))
        for _, op, _, _ in self.made:
            op.sources["e"] = SymbolAddress("local", NAME, room, self.type)
        start = SymbolAddress("local", NAME, 0, self.type)
        entry.ops.insert(0, lower_forms.copy(self.top, start, self.type, self.b.line))

    def _room(self) -> int:
        """Exactly what is needed, if every allocation is of a known size and made once."""
        known = [
            round_up(size.bits, align) + align
            for _, _, size, align in self.made
            if isinstance(size, Constant)
        ]
        once = len(known) == len(self.made) and not any(_repeats(block) for block, *_ in self.made)
        return sum(known) if once else ROOM + sum(known)

    def _top(self) -> Register:
        if self.top is None:
            self.top = self.b.register("alloca.top", self.type)
        return self.top

    def _allocate(self, scope: Scope, node: nodes.Instruction) -> None:
        top, start = self._top(), self.b.temporary(self.type)
        pointer, amount, *aligned = node.operands
        size = self.operands.source(scope, amount, self.type)
        alignment = DEFAULT_ALIGNMENT
        for operand in aligned:
            written = self.operands.source(scope, operand, self.type)
            alignment = written.bits if isinstance(written, Constant) else alignment
        op = self._allocation(start, size, top, alignment)
        self.b.emit(op)
        self.made.append((self.b.current, op, size, max(alignment, 1)))
        values: dict[str, tuple[Source | Address, Type]] = {"a": (start, self.type), "b": (size, self.type)}
        self.b.emit(lower_forms.simple(lower_forms.SUM, self.type, top, values, self.b.line))
        self._write(scope, pointer, start)

    def _allocation(self, start: Register, size: Source, top: Register, alignment: int) -> Op:
        mask = Constant(self.type, max(alignment, 1) - 1)
        end = SymbolAddress("local", NAME, 0, self.type)
        values: dict[str, Source] = {"a": size, "b": top, "c": mask, "e": end}
        typed = {name: (value, self.type) for name, value in values.items()}
        return lower_forms.simple(lower_forms.ALLOCATE, self.type, start, typed, self.b.line)

    def _write(self, scope: Scope, written: nodes.Operand, value: Source) -> None:
        for d in self.operands.destinations(scope, written):
            if d is not None:
                self._move(d, value)

    def _move(self, d: Register, value: Source) -> None:
        self.b.emit(lower_forms.copy(d, value, self.type, self.b.line))


def _repeats(block: Block) -> bool:
    """Whether control can come back to a block."""
    seen: set[Block] = set()
    waiting = list(block.successors())
    while waiting:
        found = waiting.pop()
        if found is block:
            return True
        if found not in seen:
            seen.add(found)
            waiting += found.successors()
    return False
