"""Where lanes come by different ways and yet bring one value.

Compilers that unroll a loop whose turns have conditions (`if (x + i < width) sum += ...`) leave, behind
each turn of those left over, a way out; the loop's counter gets the same number whether a lane went through
the last condition's block or not. That condition parts lanes right before all ways meet. To say that they
have different numbers there would make a column of all that is made of the counter.
"""

from __future__ import annotations

from collections.abc import Hashable, Set

from simt.analysis.kinds import kind_of
from simt.analysis.program import Block, Constant, Op, Register
from simt.analysis.ssa import Definition, Ssa

DEEP = 3
"""How many operations back two values are compared."""


def value_of(ssa: Ssa, definition: Definition, deep: int = DEEP) -> Hashable:
    """Equal for definitions that hold the same: the same one, or results of the same operation on such."""
    op = definition.origin
    if not isinstance(op, Op) or op.guard is not None or op.form.effects or deep == 0:
        return definition
    operands: list[Hashable] = []
    for source in op.sources.values():
        if isinstance(source, Register):
            operands.append(value_of(ssa, ssa.read[id(op)][source], deep - 1))
        elif isinstance(source, Constant):
            operands.append(source)
        else:
            return definition
    return kind_of(op), definition.place, tuple(operands)


def _is_of_one_turn(ssa: Ssa, definition: Definition, source: int, block: Block) -> bool:
    """Whether no loop that a source is in, and a block behind it is not, makes a definition."""
    around, position = ssa.schedule.loop_of[block.index], ssa.schedule.position
    loop = ssa.schedule.loop_of.get(source)
    while loop is not around:
        if loop is None or loop.first <= position[definition.block.index] <= loop.last:
            return False
        loop = loop.parent
    return True


def brings_one_value(ssa: Ssa, phi: Definition, block: Block, divergent: Set[int]) -> bool:
    """Whether lanes that divergent branches have parted on the way to a block give one of its phis the same.
    (Those that come out of a loop may have left it in different turns: of what it makes it is not said.)"""
    if not all(_is_of_one_turn(ssa, d, source, block) for source, d in phi.inputs.items()):
        return False
    values = {source: value_of(ssa, definition) for source, definition in phi.inputs.items()}
    return not ssa.convergence.parts(block, values, divergent)
