"""Integer arithmetic that no engine's hardware does on columns, over smaller primitives."""

from __future__ import annotations

from functools import partial, reduce

from simt.isa.algebra import PureAlgebra, V
from simt.isa.column import Column
from simt.isa.integer import element
from simt.ptx.types import U32, U64, Type


def mul_high_64(m: PureAlgebra[V], t: Type, a: V, b: V) -> V:
    """The upper half of a 64 x 64 bit product, by 32-bit halves."""
    x, y = Column(m, U64, a), Column(m, U64, b)
    mask = 2**32 - 1
    x0, x1, y0, y1 = x & mask, x >> 32, y & mask, y >> 32
    middle = x1 * y0 + ((x0 * y0) >> 32)
    carry = (middle & mask) + x0 * y1
    high = x1 * y1 + (middle >> 32) + (carry >> 32)
    if t.is_signed:  # a negative factor stands for itself minus 2^64
        high = high - x.like(t).lt(0).choose(y, 0) - y.like(t).lt(0).choose(x, 0)
    return high.v


def dot_of_bytes(m: PureAlgebra[V], t: Type, u: Type, a: V, b: V) -> V:
    """The sum of the products of four bytes with four others, one after the other."""
    products = [m.mul(U32, element(m, t, a, i, 8), element(m, u, b, i, 8)) for i in range(4)]
    return reduce(partial(m.add, U32), products)


def lane_masks(relation: str) -> list[int]:
    """`%lanemask_eq`, `le`, `lt`, `ge` or `gt` of each of 32 lanes."""
    below = [(1 << lane) - 1 for lane in range(32)]
    masks = {
        "eq": [m + 1 for m in below],
        "lt": below,
        "le": [m << 1 | 1 for m in below],
        "gt": [0xFFFFFFFF & ~(m << 1 | 1) for m in below],
        "ge": [0xFFFFFFFF & ~m for m in below],
    }
    return masks[relation]
