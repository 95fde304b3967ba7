"""Bounds and alignment of every integer that a function computes, as far as they are known; which predicates
always hold, or never.

The meanings are evaluated over `RangeAlgebra`. Masks play no part: what is found holds for lanes that
do not run as well, where their values are computed with the others'. Nothing is taken from conditions.
"""

from __future__ import annotations

from collections.abc import Callable

from simt.analysis.evaluate import Remembering
from simt.analysis.program import Address, Block, Call, FunctionAddress, Op, Register, SymbolAddress
from simt.analysis.range_algebra import UNKNOWN, Range, RangeAlgebra, constant, join, made
from simt.analysis.shape import BlockShape
from simt.analysis.ssa import Definition, Ssa
from simt.isa.algebra import Environment
from simt.ptx.types import bits_type

PATIENCE = 3
"""Times that a range may grow before nothing more is said of it: loops would let it grow for long."""

Symbols = Callable[[SymbolAddress], Range]


class Ranges:
    """Ranges of a function's definitions for CTAs of a shape. `symbols`: addresses of variables."""

    def __init__(self, ssa: Ssa, environment: Environment, block: BlockShape, symbols: Symbols) -> None:
        self.ssa = ssa
        self.symbols = symbols
        self.found: dict[Definition, Range] = {}
        self.growths: dict[Definition, int] = {}
        self.read: dict[Register, Definition] = {}  # by the op that is looked at
        self.evaluator = Remembering(RangeAlgebra(block), self, environment)
        self._run()

    def of(self, definition: Definition) -> Range:
        if definition.origin == "undefined":
            return constant(0)
        return self.found.get(definition, UNKNOWN)

    def of_address(self, address: Address, current: dict[Register, Definition]) -> Range:
        """Range of the addresses of a memory operand."""
        match address.base:
            case None:
                return constant(address.offset)
            case SymbolAddress() as symbol:
                t, base = symbol.type, self.symbols(symbol)
            case Register() as register:
                t, base = bits_type(register.type.bits), self.of(self.ssa.lookup(current, register))
        offset = constant(address.offset)
        return made(t, base.lo + offset.lo, base.hi + offset.hi, min(base.zeros, offset.zeros))

    # Reader of the evaluator
    def register(self, register: Register) -> Range:
        return self.of(self.read[register])

    def symbol(self, symbol: SymbolAddress) -> Range:
        return self.symbols(symbol)

    def function(self, function: FunctionAddress) -> Range:
        return UNKNOWN

    def _run(self) -> None:
        """Blocks in line, the outermost loops until nothing grows in them: values flow forward but there."""
        schedule = self.ssa.schedule
        ends = {loop.first: loop.last for loop in schedule.loops if loop.parent is None}
        position = 0
        while position < len(schedule.order):
            end = ends.get(position)
            if end is None:
                self._block(schedule.order[position])
            else:
                self._loop(schedule.order[position : end + 1])
            position = position + 1 if end is None else end + 1

    def _loop(self, blocks: list[Block]) -> None:
        grew = True
        while grew:
            grew = False
            for block in blocks:
                grew |= self._block(block)

    def _block(self, block: Block) -> bool:
        """True if a range grew."""
        grew = False
        for phi in self.ssa.phis.get(block.index, ()):
            known = [d for d in phi.inputs.values() if d in self.found or d.origin == "undefined"]
            grew |= self._join(phi, [self.of(d) for d in known])
        for op in block.ops:
            grew |= self._op(op)
        for definition in self.ssa.of.get(id(block.terminator), ()):
            if definition is not None:
                self.found[definition] = UNKNOWN
        return grew

    def _op(self, op: Op | Call) -> bool:
        grew = False
        definitions = self.ssa.of[id(op)]
        if isinstance(op, Op) and any(d is not None and _has_range(d) for d in definitions):
            self.read = self.ssa.read[id(op)]
            for definition, value in zip(definitions, self.evaluator.op(op)):
                if definition is not None:
                    grew |= self._join(definition, [value, *self._before(op, definition)])
        return grew

    def _before(self, op: Op, definition: Definition) -> list[Range]:
        """What lanes without the guard keep."""
        if op.guard is None:
            return []
        return [self.of(self.read[definition.register])]

    def _join(self, definition: Definition, values: list[Range]) -> bool:
        old = self.found.get(definition)
        new = old
        for value in values:
            new = value if new is None else join(new, value)
        if new is None or new == old:
            return False
        if old is not None:
            self.growths[definition] = self.growths.get(definition, 0) + 1
            if self.growths[definition] > PATIENCE:
                new = Range(UNKNOWN.lo, UNKNOWN.hi, new.zeros)
                if new == old:
                    return False
        self.found[definition] = new
        return True


def _has_range(definition: Definition) -> bool:
    """Integers have one, and predicates: 0 and 1."""
    return not definition.register.type.is_native_float
