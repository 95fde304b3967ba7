"""How much IR a function will have, foretold while it is emitted.

A function that proves to be large is emitted anew in another form. That it will be is known long before its
last line: the instructions that are left are mostly of kinds that have been seen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable

from simt.analysis.kinds import kind_of
from simt.analysis.program import Block, Call, Op, memory_operands
from simt.analysis.rolled_lines import Seldom
from simt.analysis.ssa import Ssa
from simt.analysis.uniformity import Uniformity
from simt.engine.llvm_slots import SlotEmitter

OFTEN = 8
"""Instructions after which a forecast is made anew."""
NEARLY, MOSTLY, BY_FAR = 0.95, 0.75, 1.5
"""Times so many lines or blocks that are to be foretold for them to count before they are there: a kernel
with about as many is not to be emitted nearly whole, and then anew. Until most of them are there, it must be
more by far: what instructions take differs within a kind."""
STEADY, ALIKE = 16, 0.02
"""Forecasts in a row, as part of which each differs from the first one at most, that are as good as that: an
unrolled loop goes on as it began."""


def forecast(emitter: SlotEmitter, blocks: Iterable[Block]) -> Forecast | None:
    """Of what blocks will take; None where nobody asks, of functions that are large or may not be."""
    return Forecast(blocks, emitter.ssa, emitter.uniformity) if emitter.unit.room else None


class Forecast:
    """What the instructions that are left will take, as much as the latest one of each kind. One that gets at
    memory is like those whose addresses differ from lane to lane in the same way, and that are as seldom run.

    Kinds that have not been seen count for nothing, so a forecast errs on the low side.
    """

    def __init__(self, blocks: Iterable[Block], ssa: Ssa, uniformity: Uniformity) -> None:
        self.ssa, self.shapes = ssa, uniformity.shapes
        self.kinds = {id(op): self._kind(op) for block in blocks for op in block.ops if isinstance(op, Op)}
        self.left = Counter(self.kinds.values())
        self.taken: dict[Hashable, tuple[int, int]] = {}
        self.done = 0
        self.foretold = 0, 0
        self.alike = 0

    def _kind(self, op: Op) -> Hashable:
        if not (op.form.effects and op.form.moves_memory):
            return op.kind or kind_of(op)
        read = self.ssa.read[id(op)]
        found = [self.shapes.get(read[register]) for register, _ in memory_operands(op)]
        return (
            kind_of(op),
            isinstance(op.line, Seldom),
            *((s.width, s.stride, s.hold, s.swaps) for s in found if s is not None),
        )

    def note(self, op: Op | Call, lines: int, blocks: int) -> None:
        """An instruction has taken that many lines and blocks of IR."""
        self.done += 1
        if isinstance(op, Op):
            kind = self.kinds[id(op)]
            self.left[kind] -= 1
            self.taken[kind] = lines, blocks

    def is_large(self, lines: int, blocks: int, most_lines: int, most_blocks: int) -> bool:
        """Whether the lines and blocks so far, or those foretold by far, are more than so many."""
        if lines > most_lines or blocks > most_blocks:
            return True
        if self.done % OFTEN:
            return False
        more_lines, more_blocks = self.rest()
        found = lines + more_lines, blocks + more_blocks
        sure = max(lines / most_lines, blocks / most_blocks) > MOSTLY or self._is_steady(found)
        times = NEARLY if sure else BY_FAR
        return found[0] > times * most_lines or found[1] > times * most_blocks

    def _is_steady(self, found: tuple[int, int]) -> bool:
        """Whether the latest forecasts have all been about this one."""
        near = all(abs(now - then) <= ALIKE * now for now, then in zip(found, self.foretold))
        self.foretold, self.alike = (self.foretold, self.alike + 1) if near else (found, 0)
        return self.alike >= STEADY

    def rest(self) -> tuple[int, int]:
        """Lines and blocks that the instructions that are left will take."""
        found = [(self.left[kind], *taken) for kind, taken in self.taken.items()]
        return sum(n * lines for n, lines, _ in found), sum(n * blocks for n, _, blocks in found)
