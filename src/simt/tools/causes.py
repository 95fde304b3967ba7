"""Why lanes of a warp part: where the values on which a branch depends first differ between them."""

from __future__ import annotations

from collections.abc import Iterable

from simt.analysis.program import Block, Call, Op, Register
from simt.analysis.shape import UNIFORM
from simt.analysis.ssa import Definition, Ssa, destinations, terminator_uses, uses
from simt.analysis.uniformity import Uniformity

MOST = 4
"""Causes that are kept for a value: the first lines. A value may depend on all that is before it."""

Lines = tuple[int, ...]


class Causes:
    """Follows values of one function, by what the JIT's analysis found about them.

    A value differs between lanes from the line on where thread indices or memory are read, or where lanes
    meet that took different ways.
    """

    def __init__(self, ssa: Ssa, uniformity: Uniformity) -> None:
        self._shapes = uniformity.shapes
        self._inputs: dict[Definition, list[Definition]] = {}
        self._tested: dict[int, list[Definition]] = {}
        self._lines: dict[Definition, Lines] = {}
        for block in ssa.schedule.order:
            for phi in ssa.phis.get(block.index, ()):
                self._inputs[phi] = self._differing(phi.inputs.values())
            self._enter(ssa, block)
        self._spread()

    def _enter(self, ssa: Ssa, block: Block) -> None:
        current = ssa.reaching(block)
        for op in block.ops:
            inputs = self._differing(ssa.lookup(current, r) for r in (*uses(op), *_kept(op)))
            for definition in ssa.of[id(op)]:
                if definition is not None:
                    self._inputs[definition] = [] if _reads(op) else inputs
                    current[definition.register] = definition
        self._tested[block.index] = self._differing(ssa.lookup(current, r) for r in terminator_uses(block))

    def _differing(self, definitions: Iterable[Definition]) -> list[Definition]:
        return [d for d in definitions if not self._shapes.get(d, UNIFORM).is_uniform]

    def _spread(self) -> None:
        """From the causes on, until nothing changes: once for each loop around a loop, about."""
        for definition, inputs in self._inputs.items():
            if not inputs:
                self._lines[definition] = (_line(definition),)
        changed = True
        while changed:
            changed = False
            for definition, inputs in self._inputs.items():
                if inputs and (found := self._first(inputs)) != self._lines.get(definition):
                    self._lines[definition] = found
                    changed = True

    def _first(self, definitions: Iterable[Definition]) -> Lines:
        return tuple(sorted({line for d in definitions for line in self._lines.get(d, ())})[:MOST])

    def of_branch(self, block: Block) -> Lines:
        """The first lines, at most `MOST`, to which it goes back that the block's branch diverges."""
        return self._first(self._tested[block.index])


def _kept(op: Op | Call) -> tuple[Register, ...]:
    """Under a guard, lanes without it keep what they had."""
    if isinstance(op, Call) or op.guard is None:
        return ()
    return tuple(r for r in destinations(op) if r is not None)


def _reads(op: Op | Call) -> bool:
    """Whether the values come from memory or from a call."""
    return isinstance(op, Call) or bool(op.form.effects)


def _line(definition: Definition) -> int:
    if isinstance(definition.origin, Op | Call):
        return definition.origin.line
    block = definition.block
    return block.ops[0].line if block.ops else block.terminator.line
