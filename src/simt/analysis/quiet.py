"""Phis of floats that are kept without signalling NaNs: what minima and maxima go on from, turn by turn.

CPUs with AVX-512 take the number of two operands at once, if neither is a signalling NaN. An operand that was
loaded may be one; the result of such an instruction is none. A loop's minimum begins with the one and goes on
with the other. Made quiet when it comes to the phi, once, it need not be asked in each turn.
"""

from __future__ import annotations

from collections.abc import Hashable, Set
from typing import cast

from simt.analysis.evaluate import Evaluator
from simt.analysis.facts import Fact, Same, key_of
from simt.analysis.program import Op
from simt.analysis.ssa import Definition, Ssa
from simt.analysis.unseen import kind_of_operand
from simt.isa.algebra import Algebra, Environment
from simt.ptx.types import Type


class _Taken(Fact):
    """An operand may be the column. `found`: a minimum or maximum is made of two of them."""

    def __init__(self) -> None:
        super().__init__()
        self.found = False

    def flush(self, t: Type, a: bool) -> bool:
        return a

    def fmin(self, t: Type, a: bool, b: bool) -> bool:
        self.found |= t.is_native_float and a and b
        return False

    fmax = fmin


def taken_by_extremes(ssa: Ssa, phis: Set[Definition], environment: Environment) -> set[Definition]:
    """Those of the phis that some instruction takes the smaller or greater of, with another column."""
    found, known = set[Definition](), dict[Hashable, bool]()
    for block in ssa.schedule.order if phis else ():
        for op in block.ops:
            read = [d for d in ssa.read[id(op)].values() if d in phis and d not in found]
            if read and isinstance(op, Op) and _is_extreme(op, known, environment):
                found.update(read)
    return found


def _is_extreme(op: Op, known: dict[Hashable, bool], environment: Environment) -> bool:
    key = key_of(op, kind_of_operand)
    if key not in known:
        taken = _Taken()
        Evaluator(cast("Algebra[bool]", taken), Same(True), environment).op(op)
        known[key] = taken.found
    return known[key]
