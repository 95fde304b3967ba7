"""Logic and shift instructions (PTX 1.4 section 7.7.4)."""

from __future__ import annotations

from simt.isa.algebra import Algebra, V
from simt.isa.catalogue import instruction
from simt.ptx.types import U32, Type, unsigned


@instruction("and.type d, a, b", type="pred b16 b32 b64", ref="PTX 1.4 table 59")
def and_(m: Algebra[V], t: Type, a: V, b: V) -> V:
    """Bitwise and: d = a & b."""
    return m.and_(t, a, b)


@instruction("cnot.type d, a", type="b16 b32 b64", ref="PTX 1.4 table 63")
def cnot(m: Algebra[V], t: Type, a: V) -> V:
    """Logical negation as in C: d = (a == 0) ? 1 : 0."""
    return m.resize(unsigned(8), t, m.select(unsigned(8), m.compare("eq", t, a, m.const(t, 0)),
                                             m.const(unsigned(8), 1), m.const(unsigned(8), 0)))  # fmt: skip


@instruction("shl.type d, a, b:u32", type="b16 b32 b64", ref="PTX 1.4 table 64")
def shl(m: Algebra[V], t: Type, a: V, b: V) -> V:
    """Shift left, zeros from the right; amounts are clamped to the width."""
    return m.shift_left(t, a, b)


def _unused(m: Algebra[V]) -> V:
    return m.const(U32, 0)
