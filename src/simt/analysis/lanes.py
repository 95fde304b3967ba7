"""Which blocks are run by exactly the same lanes, and which definitions are live where."""

from __future__ import annotations

from simt.analysis.pending import Pending
from simt.analysis.program import Block
from simt.analysis.ssa import Definition, Ssa
from simt.analysis.uniformity import Uniformity, used_in


def representatives(ssa: Ssa, uniformity: Uniformity, pending: Pending) -> dict[int, int]:
    """By block index, a block (the first of its kind) whose mask is also this block's mask.

    Two reasons make a mask the same: the block is only reached from such blocks by branches that keep
    the warp together, or it dominates and post-dominates one within the same iteration. Behind a loop that
    lanes leave in different turns a mask is that of none of its blocks: others have run there since.
    """
    chains = _chains(ssa)
    own: set[int] = set()
    while True:
        found: dict[int, int] = {}
        latest: dict[tuple[int, int], int] = {}
        for block in ssa.schedule.order:
            chain = chains[block.index]
            known = _same_mask(block, ssa, uniformity, pending, found, own)
            found[block.index] = latest.get(chain, block.index) if known is None else known
            latest[chain] = found[block.index]
        wrong = _contradicted(ssa, uniformity, found)
        if wrong <= own:
            return found
        own |= wrong


def _chains(ssa: Ssa) -> dict[int, tuple[int, int]]:
    """By block index, a number for blocks of one innermost loop that the same lanes run in each iteration."""
    first = first_of_same_lanes(ssa)
    around = {b.index: ssa.schedule.loop_of[b.index] for b in ssa.schedule.order}
    return {b: (first[b], loop.header.index if loop is not None else -1) for b, loop in around.items()}


def first_of_same_lanes(ssa: Ssa) -> dict[int, int]:
    """By block index, the first one that exactly the same lanes run in each turn of the loops around both."""
    before = ssa.convergence.same_lanes()
    first: dict[int, int] = {}
    for block in ssa.schedule.order:
        above = before.get(block.index)
        first[block.index] = block.index if above is None else first[above]
    return first


def _same_mask(
    block: Block, ssa: Ssa, uniformity: Uniformity, pending: Pending, found: dict[int, int], own: set[int]
) -> int | None:
    """The block whose mask is also this block's because of how lanes come there, as far as that is known."""
    if pending.at[block.index] >> pending.line:  # a park or a yield
        return block.index
    forward = [p for p in ssa.predecessors[block.index] if p.index in found]
    together = (
        p.index not in uniformity.divergent and not _leaves_by_degrees(p, block, ssa, uniformity)
        for p in forward
    )
    if block.index not in own and forward and all(together):
        kinds = {found[p.index] for p in forward}
        if len(kinds) == 1:
            return kinds.pop()
    return None


def _leaves_by_degrees(source: Block, target: Block, ssa: Ssa, uniformity: Uniformity) -> bool:
    """Whether an edge leads out of a loop that lanes leave in different turns."""
    place, loop = ssa.schedule.position[target.index], ssa.schedule.loop_of[source.index]
    while loop is not None and not loop.first <= place <= loop.last:
        if loop.header.index in uniformity.leaving:
            return True
        loop = loop.parent
    return False


def _contradicted(ssa: Ssa, uniformity: Uniformity, found: dict[int, int]) -> set[int]:
    """Headers whose back edges do not bring the lanes that were assumed."""
    wrong: set[int] = set()
    for loop in ssa.schedule.loops:
        header = loop.header
        for predecessor in ssa.predecessors[header.index]:
            if not ssa.schedule.is_back_edge(predecessor, header):
                continue
            if predecessor.index in uniformity.divergent or found[predecessor.index] != found[header.index]:
                wrong.add(header.index)
    return wrong


def live_in(ssa: Ssa) -> dict[int, set[Definition]]:
    """Definitions that are live at each block's start, its own phis included."""
    live: dict[int, set[Definition]] = {b.index: set(ssa.phis.get(b.index, ())) for b in ssa.schedule.order}
    for definition, blocks in used_in(ssa).items():
        home = definition.block.index
        work = [b for b in blocks if b != home]
        while work:
            index = work.pop()
            if index == home or definition in live[index]:
                continue
            live[index].add(definition)
            work += [p.index for p in ssa.predecessors[index]]
    return live
