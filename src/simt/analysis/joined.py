"""CTAs of one thread along x, of which several that lie side by side may be the lanes of a warp.

Beginners launch `kernel<<<n, 1>>>`, a CTA for each element, whose warp has one lane. Where no thread
can tell (as for exchanged axes, `simt.analysis.turned`), 32 CTAs are taken as one, whose x counts them.
"""

from __future__ import annotations

from simt.analysis.shape import WARP, BlockShape
from simt.records import replace

MANY = 16
"""CTAs along x from which a grid may have them joined. With few, the code of one thread is better: all of its
values are scalars."""
MOST_THREADS = 1024
"""Of CTAs that are joined."""
FEWEST = 8
"""CTAs that are worth it."""


def asked(block: tuple[int, int, int], grid_x: int) -> BlockShape:
    """The shape of a launch's CTAs, for which code is made."""
    return BlockShape(*block, many=block[0] == 1 and grid_x >= MANY)


def joined(block: BlockShape) -> BlockShape | None:
    """The shape of several CTAs together; None where they are not to be joined."""
    if not block.many or block.joins:
        return None
    ctas = min(WARP, MOST_THREADS // (block.y * block.z))
    ctas = 1 << ctas.bit_length() - 1 if ctas else 0
    return replace(block, x=ctas, joins=True) if ctas >= FEWEST else None
