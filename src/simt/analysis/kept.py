"""What a warp's saved context still holds rightly when the warp comes to the next barrier."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set

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


def seldom_touched(
    definitions: Iterable[Definition], ssa: Ssa, pending: Pending, uses: Mapping[Definition, Set[int]]
) -> Iterator[Definition]:
    """Those of some definitions that are read and written outside of loops without barriers only: about once
    from one barrier to the next, so that the saved context may be the only place in which they are kept."""
    loop_of = ssa.schedule.loop_of
    waiting: set[int] = set()
    for barrier in pending.barriers:
        loop = loop_of[barrier.index]
        while loop is not None and loop.header.index not in waiting:
            waiting.add(loop.header.index)
            loop = loop.parent
    often = {b for b, loop in loop_of.items() if loop is not None and loop.header.index not in waiting}
    for definition in definitions:
        touched = {definition.block.index, *definition.inputs, *uses.get(definition, ())}
        if not touched & often:
            yield definition


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
