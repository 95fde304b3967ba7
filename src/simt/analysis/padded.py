"""CTAs whose rows of threads may each begin with a warp, or with a half, a quarter, ... of one.

In a CTA of 20 x 20 threads a warp's lanes lie in two or three rows, at places that differ from warp to warp.
Where each row gets 32 lanes, of which 12 are idle, the others lie side by side. A thread can only tell by
what it has in common with those of its warp: it must neither speak with them nor ask who it is among them,
nor may it rely on lanes of a warp going in step. It may wait for the whole CTA, and share memory with it.
"""

from __future__ import annotations

from simt.analysis.program import Barrier, Function
from simt.analysis.shape import WARP, BlockShape
from simt.analysis.turned import knows_only_itself
from simt.isa.algebra import Environment
from simt.records import replace

MOST_WARPS = 64
"""Of a CTA with its idle lanes."""
MOST_WITH_BARRIERS = 32
"""The same, where its warps go in step: there is a bit for each."""


def padded(block: BlockShape) -> BlockShape | None:
    """The CTA with rows that are filled up to half a warp, a whole one, two, ...; None where they are so."""
    if block.linear or WARP % block.x == 0 or block.x % WARP == 0:
        return None
    lanes = 1 << (block.x - 1).bit_length() if block.x < WARP else -(-block.x // WARP) * WARP
    found = replace(block, x=lanes, threads_of_row=block.x)
    return found if found.warps <= MOST_WARPS else None


def may_be_padded(kernel: Function, environment: Environment, found: BlockShape) -> bool:
    """Whether no thread can tell: as for exchanged axes, but shared memory and barriers of all threads do not
    matter. `found`: the CTA with its rows filled up."""
    barriers = [block.terminator for block in kernel.blocks if isinstance(block.terminator, Barrier)]
    if barriers and found.warps > MOST_WITH_BARRIERS:
        return False
    whole = all(barrier.action == "sync" and barrier.count is None for barrier in barriers)
    return whole and knows_only_itself(kernel, environment, shares=True)
