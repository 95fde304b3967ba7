"""Blocks in which lanes wait for their whole warp: `bar.warp.sync -1`, and shuffles and votes of all lanes.

Where lanes meet as control flow joins, nothing needs to be done for them. But lanes that spin in a loop let
others of their warp run first (`simt.analysis.waiting`), and these must not run such a block without them.

Only masks that are known to name every lane count: what another mask names is known when the instruction
runs, and whoever waits in a loop may wait for just the lanes that it names.
"""

from __future__ import annotations

from collections.abc import Sequence

from simt.analysis.evaluate import Evaluator
from simt.analysis.lower_rendezvous import FIRST, waits
from simt.analysis.program import Block, Call, Constant, FunctionAddress, Op, Register, SymbolAddress
from simt.analysis.range_algebra import UNKNOWN, Range, RangeAlgebra
from simt.analysis.shape import BlockShape
from simt.analysis.ssa import destinations
from simt.isa.algebra import Environment

ALL_LANES = 0xFFFFFFFF
"""The mask of a whole warp."""


def meeting_blocks(blocks: Sequence[Block], environment: Environment) -> list[Block]:
    """Those of a function's blocks in which an instruction waits for all lanes of the warp."""
    if environment.machine < FIRST:
        return []
    waiting = {b: [op for op in b.ops if isinstance(op, Op) and waits(op.form)] for b in blocks}
    if not any(waiting.values()):
        return []
    known = _Known(blocks, environment)
    return [b for b, ops in waiting.items() if any(known.names_all(op) for op in ops)]


class _Known:
    """Values of registers that one instruction defines, from constants alone."""

    def __init__(self, blocks: Sequence[Block], environment: Environment) -> None:
        self.makers: dict[Register, list[Op | Call]] = {}
        for op in (op for block in blocks for op in block.ops):
            for register in destinations(op):
                if register is not None:
                    self.makers.setdefault(register, []).append(op)
        self.found: dict[Register, Range] = {}
        self.evaluator: Evaluator[Range] = Evaluator(RangeAlgebra(BlockShape(1, 1, 1)), self, environment)

    def names_all(self, op: Op) -> bool:
        """Whether an instruction that waits names all lanes of the warp."""
        mask = op.sources["mask"]
        if op.guard is not None:
            return False
        if isinstance(mask, Constant):
            return mask.bits == ALL_LANES
        value = self.register(mask) if isinstance(mask, Register) else UNKNOWN
        return value.lo == value.hi and value.lo % (1 << 32) == ALL_LANES

    def register(self, register: Register) -> Range:
        if register not in self.found:
            self.found[register] = UNKNOWN  # for one that is made of itself
            self.found[register] = self._made(register)
        return self.found[register]

    def _made(self, register: Register) -> Range:
        makers = self.makers.get(register, [])
        op = makers[0] if len(makers) == 1 else None
        if not isinstance(op, Op) or op.form.effects or op.guard is not None or len(op.destinations) > 1:
            return UNKNOWN
        return self.evaluator.op(op)[0]

    def symbol(self, symbol: SymbolAddress) -> Range:
        return UNKNOWN

    def function(self, function: FunctionAddress) -> Range:
        return UNKNOWN
