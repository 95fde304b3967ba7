"""Why lanes of a warp part: where the values on which a branch depends first differ between them."""

from __future__ import annotations

from collections.abc import Iterable

from simt.analysis.program import Block, Call, Op, Register
from simt.analysis.shape import UNIFORM
from simt.analysis.ssa import Definition, Ssa, destinations, resolved, terminator_uses, uses
from simt.analysis.uniformity import Uniformity


class Causes:
    """Follows values of one function back, by what the JIT's analysis found about them."""

    def __init__(self, ssa: Ssa, uniformity: Uniformity) -> None:
        self._uniformity = uniformity
        self._inputs: dict[Definition, list[Definition]] = {}
        self._tested: dict[int, list[Definition]] = {}
        for block in ssa.schedule.order:
            self._enter(ssa, block)
        for phis in ssa.phis.values():
            self._inputs.update({phi: list(phi.inputs.values()) for phi in phis})

    def _enter(self, ssa: Ssa, block: Block) -> None:
        current = ssa.reaching(block)
        for op in block.ops:
            inputs = [ssa.lookup(current, register) for register in (*uses(op), *_kept(op))]
            for definition in ssa.of[id(op)]:
                if definition is not None:
                    self._inputs[definition] = inputs
                    current[definition.register] = definition
        self._tested[block.index] = [ssa.lookup(current, r) for r in terminator_uses(block)]

    def of_branch(self, block: Block) -> set[int]:
        """Lines where thread indices or memory are read, or where lanes meet that took different ways, to
        which it goes back that the block's branch diverges."""
        work = self._differing(self._tested[block.index])
        seen: set[Definition] = set()
        found: set[int] = set()
        while work:
            definition = work.pop()
            if definition in seen:
                continue
            seen.add(definition)
            inputs = [] if _reads(definition) else self._differing(self._inputs.get(definition, ()))
            work += inputs
            if not inputs:
                found.add(_line(definition))
        return found

    def _differing(self, definitions: Iterable[Definition]) -> list[Definition]:
        shapes = self._uniformity.shapes
        return [d for d in map(resolved, definitions) if not shapes.get(d, UNIFORM).is_uniform]


def _kept(op: Op | Call) -> tuple[Register, ...]:
    """Under a guard, lanes without it keep what they had."""
    if isinstance(op, Call) or op.guard is None:
        return ()
    return tuple(r for r in destinations(op) if r is not None)


def _reads(definition: Definition) -> bool:
    """Whether the value comes from memory or from a call."""
    origin = definition.origin
    return isinstance(origin, Call) or (isinstance(origin, Op) and bool(origin.form.effects))


def _line(definition: Definition) -> int:
    if isinstance(definition.origin, Op | Call):
        return definition.origin.line
    block = definition.block
    return block.ops[0].line if block.ops else block.terminator.line
