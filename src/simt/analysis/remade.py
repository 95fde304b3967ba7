"""Values that are cheaper to make again, wherever they are read, than to keep over barriers.

These are what the thread's and the CTA's indices and the parameters give by adding and scaling.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from simt.analysis.program import Address, Constant, Op, Operand, Register, Special, SymbolAddress
from simt.analysis.ssa import Definition, Ssa, uses
from simt.analysis.uniformity import Uniformity
from simt.records import dataclass

INDICES = frozenset({"tid", "ntid", "ctaid", "nctaid", "laneid"})
"""Special registers that read the same as long as a thread runs."""
DEPTH = 8
"""Instructions that are run again, at most, for a value."""


@dataclass(frozen=True)
class Recipe:
    """The op that makes a value, and the definitions that its registers have there."""

    op: Op
    inputs: Mapping[Register, Definition]


def remade(definitions: Iterable[Definition], ssa: Ssa, uniformity: Uniformity) -> dict[Definition, Recipe]:
    """Recipes for those of some definitions that are cheap, and for what these need."""
    recipes = _Recipes(ssa, uniformity)
    found: dict[Definition, Recipe] = {}
    work = [d for d in definitions if recipes.cost(d) <= DEPTH]
    while work:
        definition = work.pop()
        if definition not in found:
            found[definition] = recipes.of[definition]
            work += found[definition].inputs.values()
    return found


class _Recipes:
    """`of`: every op that could be run again; `cost` tells how many instructions that takes in all."""

    def __init__(self, ssa: Ssa, uniformity: Uniformity) -> None:
        self.ssa = ssa
        self.uniformity = uniformity
        self.of: dict[Definition, Recipe] = {}
        self._costs: dict[Definition, int] = {}
        for block in ssa.schedule.order:
            current = ssa.reaching(block)
            for op in block.ops:
                made = [d for d in ssa.of[id(op)] if d is not None]
                if isinstance(op, Op) and len(made) == 1 and self._may_run_again(op, made[0]):
                    self.of[made[0]] = Recipe(op, {r: ssa.lookup(current, r) for r in uses(op)})
                current.update((d.register, d) for d in made)

    def cost(self, definition: Definition) -> int:
        """More than `DEPTH` if it must be kept. Definitions come after those that they are made of."""
        if definition not in self._costs:
            recipe = self.of.get(definition)
            self._costs[definition] = DEPTH + 1
            if recipe is not None:
                inputs = sum(self.cost(d) for d in recipe.inputs.values())
                self._costs[definition] = min(1 + inputs, DEPTH + 1)
        return self._costs[definition]

    def _may_run_again(self, op: Op, definition: Definition) -> bool:
        if op.guard is not None or definition in self.uniformity.blends:
            return False
        shape = self.uniformity.shapes.get(definition)
        if shape is None or not shape.is_affine or shape.width > 1:
            return False
        sources = op.sources.values()
        if any(isinstance(s, Special) and s.name not in INDICES for s in sources):
            return False
        if op.form.effects:
            return all(_is_parameter(s) for s in sources) and bool(sources)
        return shape.stride != 0 or all(isinstance(s, Special | Constant | SymbolAddress) for s in sources)


def _is_parameter(source: Operand) -> bool:
    """Whether a source is the place of a kernel's parameter."""
    return (
        isinstance(source, Address)
        and isinstance(source.base, SymbolAddress)
        and source.base.space == "param"
    )
