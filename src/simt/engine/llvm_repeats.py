"""Instructions that take many lines of IR and occur often: from some time on, they are calls of a function.

Thirty lines for a sine are nothing, but a kernel with hundreds of them would be compiled for seconds, its
speed hardly the better for it. So every kind of instruction may take some lines in place; what is beyond is
code that all of its kind share, as in large functions (`simt.engine.llvm_outline`), and optimised like
everything else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import TYPE_CHECKING

from simt.analysis.evaluate import Evaluator
from simt.analysis.program import Constant, Op, Operand, Register
from simt.engine.llvm_builder import Value
from simt.engine.llvm_frame import Frame
from simt.engine.llvm_outline import Outlined, Outliner

if TYPE_CHECKING:
    from simt.engine.llvm_function import FunctionEmitter

LONG = 8
"""Lines from which a call is worth it: what it costs are the registers that must be kept."""
ENOUGH = 500
"""Lines of one kind that stand in place."""
MANY = 2000
"""Lines of all such kinds together, from which on none stands in place a second time."""
FEW_OPS = 500
"""Instructions of a kernel up to which these stand in place, too: accesses by windows of shared memory, and
those outside of its loops, where it has some. Beyond, half as many lines stand in place outside of loops."""


class Repeats(Outliner):
    """Evaluates ops in place, and by calls where their kind has taken many lines."""

    def __init__(
        self, emitter: FunctionEmitter, inner: Evaluator[Value], known: Outlined, frame: Frame
    ) -> None:
        super().__init__(emitter, inner, known, frame)
        self.taken: Counter[Hashable] = Counter()
        self.total = 0

    def calls(self, op: Op) -> bool:
        if self.emitter.m.variable is not None:  # which functions know nothing of
            return False
        seldom = self.emitter.m.loop is None and self.emitter.unit.ops > FEW_OPS
        share = 2 if seldom else 1
        kind, enough = self.kind(op), ENOUGH // share if self.total < MANY // share else 0
        return self.taken[kind] > enough and kind not in self.known.short and self.suits(op)

    def op(self, op: Op) -> tuple[Value, ...]:
        m, builder = self.emitter.m, self.emitter.builder
        m.is_repeated = self.calls(op)
        if m.is_repeated:
            return super().op(op)
        lines, blocks = self._lines(), builder.blocks
        m.asked = m.has_looked = False
        values = self.inner.op(op)
        taken = self.weight * (self._lines() - lines)
        if taken >= LONG and self._may_go(op, builder.blocks - blocks) and self.suits(op):
            self.taken[self.kind(op)] += taken
            self.total += taken
            m.is_repeated = True
        return values

    def source_of(self, op: Op, name: str) -> Operand:
        """A shuffle with a known distance is a permutation, though nvcc has the number in a register."""
        operand = op.sources[name]
        if "warp" not in op.form.effects or not isinstance(operand, Register):
            return operand
        number, t = self.reader.register(operand).literal, op.source_types.get(name, operand.type)
        return operand if number is None else Constant(t, number % (1 << t.bits))

    def _may_go(self, op: Op, blocks: int) -> bool:
        """Accesses to memory gain by standing in place; unless all that they do is to call the runtime, or
        there are many instructions, and they are long or stand outside of the kernel's loops."""
        m = self.emitter.m
        if "memory" not in op.form.effects or (m.asked and blocks <= 1):
            return True
        seldom = m.loop is None and bool(self.emitter.schedule.loops)
        return (m.has_looked or seldom) and self.emitter.unit.ops > FEW_OPS

    def _lines(self) -> int:
        emitter = self.emitter
        return len(emitter.builder.lines) + emitter.unit.module.inlined_lines - emitter.m.fence_lines
