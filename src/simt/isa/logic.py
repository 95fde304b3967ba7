"""Logic and shift instructions (PTX 1.4 section 7.7.4) and the ones of later versions."""

from __future__ import annotations

from simt.isa.algebra import Algebra, PureAlgebra, V
from simt.isa.catalogue import instruction
from simt.isa.derived import one_if, ones_if
from simt.ptx.types import B64, PRED, U8, U32, Type

ANY = "pred b16 b32 b64"
BITS = "b16 b32 b64"


@instruction("and.type d, a, b", type=ANY, ref="PTX 1.4 table 59")
def and_(m: Algebra[V], t: Type, a: V, b: V) -> V:
    """Bitwise and."""
    return m.and_(t, a, b)


@instruction("or.type d, a, b", type=ANY, ref="PTX 1.4 table 60")
def or_(m: Algebra[V], t: Type, a: V, b: V) -> V:
    """Bitwise inclusive or."""
    return m.or_(t, a, b)


@instruction("xor.type d, a, b", type=ANY, ref="PTX 1.4 table 61")
def xor(m: Algebra[V], t: Type, a: V, b: V) -> V:
    """Bitwise exclusive or."""
    return m.xor(t, a, b)


@instruction("not.type d, a", type=ANY, ref="PTX 1.4 table 62")
def not_(m: Algebra[V], t: Type, a: V) -> V:
    """Every bit inverted.

    Of a predicate: its contrary.
    """
    return m.invert(t, a)


@instruction("cnot.type d, a", type=BITS, ref="PTX 1.4 table 63")
def cnot(m: Algebra[V], t: Type, a: V) -> V:
    """Logical negation as in C: 1 for zero, 0 for all else."""
    return one_if(m, t, m.compare("eq", t, a, m.const(t, 0)))


@instruction("shl.type d, a, b:u32", type=BITS, ref="PTX 1.4 table 64")
def shl(m: Algebra[V], t: Type, a: V, b: V) -> V:
    """Shift left, zeros from the right; amounts are clamped to the width.

    So a shift by the width or more gives zero.
    """
    return m.shift_left(t, a, b)


@instruction("shr.type d, a, b:u32", type="b16 b32 b64 u16 u32 u64 s16 s32 s64", ref="PTX 1.4 table 65")
def shr(m: Algebra[V], t: Type, a: V, b: V) -> V:
    """Shift right, filled by the sign of signed types and else by zeros; amounts are clamped to the width.

    So a shift by the width or more gives zero, or all copies of the sign.
    """
    return m.shift_right(t, a, b)


# ---------------------------------------------------------------- PTX 2.0 and later


@instruction("shf.mode.wrapping.b32 d, a, b, c:u32", mode="l r", wrapping="clamp wrap", since="3.1 sm_32",
             ref="PTX ISA 3.1 shf")  # fmt: skip
def shf(m: Algebra[V], a: V, b: V, c: V, mode: str, wrapping: str) -> V:
    """Shift of the 64 bits b:a, of which the upper (left) or lower (right) half is kept."""
    limit = m.const(U32, 32)
    amount = m.minimum(U32, c, limit) if wrapping == "clamp" else m.and_(U32, c, m.const(U32, 31))
    rest = m.sub(U32, limit, amount)
    if mode == "l":
        return m.or_(U32, m.shift_left(U32, b, amount), m.shift_right(U32, a, rest))
    return m.or_(U32, m.shift_left(U32, b, rest), m.shift_right(U32, a, amount))


def lookup3(m: Algebra[V], a: V, b: V, c: V, table: V) -> V:
    """Bit by bit, the bit of an 8-bit table at index abc: the table is halved by `a`, `b` and `c`."""
    column = [_table_bit(m, table, index) for index in range(8)]
    for x in (c, b, a):
        column = [_either(m, x, zero, one) for zero, one in zip(column[::2], column[1::2], strict=True)]
    return column[0]


def _table_bit(m: Algebra[V], table: V, index: int) -> V:
    """A bit of the table in all 32 places."""
    chosen = m.and_(U32, table, m.const(U32, 1 << index))
    return ones_if(m, U32, m.compare("ne", U32, chosen, m.const(U32, 0)))


def _either(m: Algebra[V], x: V, zero: V, one: V) -> V:
    """Bit by bit, `one` where `x` is 1, else `zero`."""
    return m.xor(U32, zero, m.and_(U32, x, m.xor(U32, zero, one)))


@instruction("lop3.b32 d, a, b, c, e:imm(u32)", since="4.3 sm_50", ref="PTX ISA 4.3 lop3")
def lop3(m: Algebra[V], a: V, b: V, c: V, e: V) -> V:
    """Any bitwise function of three values, given by its truth table."""
    return lookup3(m, a, b, c, e)


@instruction(
    "lop3.boolop.b32 d|p, a, b, c, e:imm(u32), g:pred",
    boolop="or and",
    since="8.2 sm_70",
    ref="PTX ISA 8.2 lop3",
)
def lop3_bool(m: Algebra[V], a: V, b: V, c: V, e: V, g: V, boolop: str) -> tuple[V, V]:
    """Any bitwise function of three values, and whether it is not zero, combined with a predicate."""
    value = lookup3(m, a, b, c, e)
    nonzero = m.compare("ne", U32, value, m.const(U32, 0))
    return value, (m.or_ if boolop == "or" else m.and_)(PRED, nonzero, g)


def byte_of(m: PureAlgebra[V], pair: V, selector: V, replicate: bool) -> V:
    """The byte of a 64-bit pair at `selector` (low 3 bits), or its sign in 8 bits if bit 3 is set."""
    amount = m.shift_left(U32, m.and_(U32, selector, m.const(U32, 7)), m.const(U32, 3))
    byte = m.resize(B64, U8, m.shift_right(B64, pair, amount))
    if not replicate:
        return byte
    negative = m.compare("ge", U8, byte, m.const(U8, 0x80))
    wanted = m.compare("ne", U32, m.and_(U32, selector, m.const(U32, 8)), m.const(U32, 0))
    return m.select(U8, wanted, ones_if(m, U8, negative), byte)


def pick_bytes(m: PureAlgebra[V], a: V, b: V, selectors: list[V], replicate: bool) -> V:
    """Four bytes of b:a, the first selector giving the lowest."""
    pair = m.or_(B64, m.resize(U32, B64, a), m.shift_left(B64, m.resize(U32, B64, b), m.const(U32, 32)))
    result = m.const(U32, 0)
    for i, selector in enumerate(selectors):
        byte = m.resize(U8, U32, byte_of(m, pair, selector, replicate))
        result = m.or_(U32, result, m.shift_left(U32, byte, m.const(U32, 8 * i)))
    return result


@instruction("prmt.b32 d, a, b, c", since="2.0 sm_20", ref="PTX ISA 2.0 prmt")
def prmt(m: Algebra[V], a: V, b: V, c: V) -> V:
    """Four bytes chosen freely from the eight of b:a, or their signs."""
    return m.bytewise(_picked, a, b, c)


def _picked(m: PureAlgebra[V], a: V, b: V, c: V) -> V:
    selectors = [m.shift_right(U32, c, m.const(U32, 4 * i)) for i in range(4)]
    return pick_bytes(m, a, b, selectors, replicate=True)


def fixed_selector(way: str, s: int, i: int) -> int:
    """Which of the eight bytes goes to place i, for a selector s from 0 to 3."""
    places = {
        "f4e": s + i,
        "b4e": s - i,
        "rc8": s,
        "ecl": max(s, i),
        "ecr": min(s, i),
        "rc16": (s & 1) * 2 + (i & 1),
    }
    return places[way] & 7


@instruction(
    "prmt.b32.way d, a, b, c", way="f4e b4e rc8 ecl ecr rc16", since="2.0 sm_20", ref="PTX ISA 2.0 prmt"
)
def prmt_way(m: Algebra[V], a: V, b: V, c: V, way: str) -> V:
    """Four bytes of b:a by a fixed scheme: extracts, replications, edge clamps."""
    low = m.and_(U32, c, m.const(U32, 3))
    selectors = [m.const(U32, fixed_selector(way, 3, i)) for i in range(4)]
    for s in range(3):
        this = m.compare("eq", U32, low, m.const(U32, s))
        fixed = [m.const(U32, fixed_selector(way, s, i)) for i in range(4)]
        selectors = [m.select(U32, this, f, old) for f, old in zip(fixed, selectors)]
    return pick_bytes(m, a, b, selectors, replicate=False)
