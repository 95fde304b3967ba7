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
from simt.analysis.program import Op
from simt.engine.llvm_builder import Value
from simt.engine.llvm_outline import Frame, Outlined, Outliner

if TYPE_CHECKING:
    from simt.engine.llvm_function import FunctionEmitter

LONG = 10
"""Lines from which a call is worth it: what it costs are the registers that must be kept."""
ENOUGH = 500
"""Lines of one kind that stand in place."""


class Repeats(Outliner):
    """Evaluates ops in place, and by calls where their kind has taken many lines."""

    def __init__(
        self, emitter: FunctionEmitter, inner: Evaluator[Value], known: Outlined, frame: Frame
    ) -> None:
        super().__init__(emitter, inner, known, frame)
        self.taken: Counter[Hashable] = Counter()

    def op(self, op: Op) -> tuple[Value, ...]:
        if op.form.effects or not self.suits(op):
            return self.inner.op(op)
        kind = self.kind(op)
        if self.taken[kind] > ENOUGH:
            return super().op(op)
        before = self._lines()
        values = self.inner.op(op)
        lines = self._lines() - before
        if lines >= LONG:
            self.taken[kind] += lines
        return values

    def _lines(self) -> int:
        return len(self.emitter.builder.lines) + self.emitter.unit.module.inlined_lines
