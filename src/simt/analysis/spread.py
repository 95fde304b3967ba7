"""Lanes spread in a way that their numbers tell: an index whose lower bits are cut off, or kept alone.

Threads that take a structure by fours have `tid / 4` and `tid % 4`. In a warp of one row neither goes on by
steps, but either is the first lane's and so much more for each bit of the lane's number that is set: 0, 0, 1,
2, 4, and 1, 2, 0, 0, 0. So are their sums and multiples, the addresses of the structures' members, if nothing
wraps or carries. Nobody proves that: it is a guess (`Shape.by_bit`), which code compares with the addresses
before it gets at memory so (`simt.engine.llvm_spreads`).
"""

from __future__ import annotations

from collections.abc import Callable

from simt.analysis.shape import VARYING, WARP, Shape
from simt.records import replace

BITS = tuple(range(WARP.bit_length() - 1))
"""Of a lane's number."""
IN_ORDER = tuple(1 << bit for bit in BITS)
"""Lanes that go on by 1."""
FARTHEST = 1 << 15
"""Where lanes lie further apart it is no guess, but they have wrapped."""
ByBit = tuple[int, ...]


def by_bit(shape: Shape) -> ByBit | None:
    """How the lanes of a value lie, in a warp of one row; None if nothing tells."""
    if shape.width == WARP:
        return shape.by_bit
    return tuple(shape.stride << bit for bit in BITS) if shape.width == 1 else None


def distances(lanes: ByBit) -> tuple[int, ...]:
    """How far each lane is from the first."""
    return tuple(
        sum(more for bit, more in zip(BITS, lanes, strict=True) if lane >> bit & 1) for lane in range(WARP)
    )


def spread(lanes: ByBit | None, common: Shape = VARYING) -> Shape:
    """The shape of lanes that lie so, if they are not too far apart, nor all at one place. `common`: a shape
    with what else is known of them."""
    if lanes is None or not any(lanes) or sum(map(abs, lanes)) >= FARTHEST:
        return common
    return replace(common, by_bit=lanes)


def summed(a: Shape, b: Shape, sign: int) -> Shape:
    """The shape of a sum, or with -1 of a difference, of which nothing is sure."""
    one, other = by_bit(a), by_bit(b)
    if one is None or other is None:
        return VARYING
    return spread(tuple(x + sign * y for x, y in zip(one, other, strict=True)))


def times(a: Shape, factor: int, common: Shape) -> Shape:
    """The shape of a multiple. `common`: what else is known of it."""
    lanes = by_bit(a)
    return common if lanes is None else spread(tuple(factor * more for more in lanes), common)


def cut(a: Shape, part: Callable[[int], int], common: Shape) -> Shape:
    """The shape of a quotient or remainder by a power of two, if each of the lane's bits is one of the
    number's: `part` of it is left. `common`: what else is known of the result."""
    return common if _bits(a) is None else spread(tuple(map(part, by_bit(a) or ())), common)


def both_bits(a: Shape, b: Shape) -> ByBit | None:
    """How the lanes of `a | b` lie: as those of the sum, if no bit that tells lanes apart is set in both."""
    one, other = _bits(a), _bits(b)
    return None if one is None or other is None or one & other else summed(a, b, 1).by_bit


def _bits(shape: Shape) -> int | None:
    """The bits that tell lanes apart; of a number those that it has. None if they are not known, or some are
    told by sums of the lane's."""
    lanes = by_bit(shape)
    if shape.const is not None or lanes is None:
        return shape.const
    return sum(lanes) if all(more >= 0 and more.bit_count() <= 1 for more in lanes) else None
