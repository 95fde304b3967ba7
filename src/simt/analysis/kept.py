"""What a warp's saved context still holds rightly when the warp comes to the next barrier."""

from __future__ import annotations

from collections.abc import Iterator

from simt.analysis.pending import Pending, stops
from simt.analysis.program import Block
from simt.analysis.ssa import Definition, Ssa


def changed_before(ssa: Ssa, pending: Pending) -> dict[int, set[Definition]]:
    """By index of a block that ends in a barrier: definitions that lanes may have made since the barrier
    at which they waited before. All others that live beyond were saved there, and are as they were."""
    return {
        barrier.index: {d for block in _since(ssa, barrier) for d in _written(ssa, block)}
        for barrier in pending.barriers
    }


def _since(ssa: Ssa, barrier: Block) -> list[Block]:
    """The blocks that lanes can run last before a barrier, after any other one."""
    found, work = {barrier.index}, [barrier]
    for block in work:
        for before in ssa.predecessors[block.index]:
            if before.index not in found and not stops(before):
                found.add(before.index)
                work.append(before)
    return work


def _written(ssa: Ssa, block: Block) -> Iterator[Definition]:
    """Definitions made while a block runs; phis are written before the edges to them are taken."""
    for op in block.ops:
        yield from (d for d in ssa.of[id(op)] if d is not None)
    for successor in block.successors():
        yield from ssa.phis.get(successor.index, ())
