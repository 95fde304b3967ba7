"""CTAs that lie side by side along x and are taken as one, where no thread can tell (as for exchanged axes,
`simt.analysis.turned`).

Beginners launch `kernel<<<n, 1>>>`, a CTA for each element, whose warp has one lane: 32 CTAs are the lanes of
a warp then. In CTAs of 4 x 4 or 10 x 10 threads, too, a warp's lanes are in rows too short for it. Most
kernels ask for `threadIdx.x` and `blockIdx.x` only to count threads in the grid's row
(`simt.analysis.numbered`). So many CTAs are joined then that a row of their threads is one of whole warps.
"""

from __future__ import annotations

from functools import lru_cache
from math import gcd

from simt.analysis.program import Function
from simt.analysis.shape import WARP, BlockShape, Many
from simt.records import replace

MANY = 16
"""CTAs of one thread along x from which a grid may have them joined. With few, the code of one thread is
better: all of its values are scalars."""
MOST_THREADS = 1024
"""Of CTAs of one thread along x that are joined."""
FEWEST = 8
"""Such CTAs that are worth it."""
MOST_WARPS = 128
"""Of other CTAs that are joined."""
MORE = 1.25
"""As many times the warps of CTAs apart joined ones may have, where some lanes idle then. Warps without a
thread, which are skipped, do not count."""
HALF, MORE_OF_HALVES = WARP // 2, 1.125
"""Lanes of rows that are worth less to be joined, as a warp has two of them; and how many times the warps."""


def asked(block: tuple[int, int, int], grid: tuple[int, int, int], kernel: Function) -> BlockShape:
    """The shape of a launch's CTAs, for which code is made."""
    return _asked(block, grid, bool(kernel.shared))


@lru_cache(4096)
def _asked(block: tuple[int, int, int], grid: tuple[int, int, int], shares: bool) -> BlockShape:
    many = Many.NO if shares else _many(block, grid[0])
    shape = BlockShape(*block, many=many, narrow=True)
    narrow = all(extent <= most for extent, most in zip(grid, shape.largest_grid))
    return replace(shape, narrow=narrow)


def _many(extents: tuple[int, int, int], grid_x: int) -> Many:
    block = BlockShape(*extents)
    ctas = _ctas(block)
    if ctas == 1 or grid_x < (MANY if block.x == 1 else 2):
        return Many.NO
    if grid_x % ctas == 0:
        return Many.WHOLE
    rows, apart = block.threads // block.x, grid_x * block.warps
    together = rows * -(-grid_x * block.x // WARP)
    more = MORE_OF_HALVES if block.x == HALF else MORE
    return Many.SOME if block.x == 1 or together <= apart * more else Many.NO


def joined(block: BlockShape) -> BlockShape | None:
    """The shape of several CTAs together; None where they are not to be joined."""
    ctas = _ctas(block) if block.many and not block.joins else 1
    return replace(block, x=block.x * ctas, ctas=ctas) if ctas > 1 else None


def is_for_all_grids(block: BlockShape) -> bool:
    """Whether code for this shape is what grids with few CTAs have, too: these CTAs are never joined."""
    return block.many != Many.NO and not block.joins


def suits(block: BlockShape, wanted: BlockShape) -> bool:
    """Whether code for a shape will do for a launch that asks for another one, which differs by the grid."""
    as_many = block.many == wanted.many or is_for_all_grids(block)
    return as_many and (wanted.narrow or not block.narrow)


def never_joined(block: tuple[int, int, int], kernel: Function) -> bool:
    """Whether all grids of such CTAs have the same code."""
    return bool(kernel.shared) or _ctas(BlockShape(*block)) == 1


def _ctas(block: BlockShape) -> int:
    """How many CTAs make rows of whole warps, or as long ones as there may be; 1 if that is not worth it."""
    if block.x > 1:
        ctas = WARP // gcd(block.x, WARP)
        return ctas if block.threads * ctas <= MOST_WARPS * WARP else 1
    ctas = min(WARP, MOST_THREADS // block.threads)
    return 1 << ctas.bit_length() - 1 if ctas >= FEWEST else 1
