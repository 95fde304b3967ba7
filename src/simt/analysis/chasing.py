"""Loops in which what a turn loads tells where the next one loads: lists, trees, chains of hashes.

A lane alone waits for each word before it can ask for the next; lanes together wait for all their words at
once.
"""

from __future__ import annotations

from collections.abc import Sequence

from simt.analysis.program import Block, Op, memory_operands
from simt.analysis.ssa import Definition, Ssa


def chases(ssa: Ssa, header: Block, blocks: Sequence[Block]) -> bool:
    """Whether an address in a loop is made of what an earlier turn loaded. `blocks`: of the loop."""
    loads = [op for block in blocks for op in block.ops if isinstance(op, Op) and op.form.moves_memory]
    loaded = {made for op in loads for made in ssa.of[id(op)] if made is not None}
    made = _made_of(ssa, blocks, loaded)
    inside = {block.index for block in blocks}
    carried = {
        phi
        for phi in ssa.phis.get(header.index, ())
        if any(source in inside and value in made for source, value in phi.inputs.items())
    }
    told = _made_of(ssa, blocks, carried)
    return any(ssa.read[id(op)][register] in told for op in loads for register, _ in memory_operands(op))


def _made_of(ssa: Ssa, blocks: Sequence[Block], found: set[Definition]) -> set[Definition]:
    """Some definitions, and what blocks make of them."""
    found, before = {*found}, -1
    while len(found) > before:
        before = len(found)
        for block in blocks:
            phis = ssa.phis.get(block.index, ())
            found.update(phi for phi in phis if not found.isdisjoint(phi.inputs.values()))
            for op in block.ops:
                if not found.isdisjoint(ssa.read[id(op)].values()):
                    found.update(made for made in ssa.of[id(op)] if made is not None)
    return found
