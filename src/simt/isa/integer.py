"""Integer arithmetic instructions (PTX 1.4 section 7.7.1) and the bit-field ones of PTX 2.0 and later."""

from __future__ import annotations

from simt.isa.algebra import Algebra, PureAlgebra, V
from simt.isa.catalogue import instruction
from simt.isa.derived import (
    by_halves,
    is_negative,
    low_ones,
    negate,
    one_if,
    ones_if,
    saturated_add,
    saturated_sub,
)  # fmt: skip
from simt.isa.form import wide
from simt.ptx.types import PRED, S32, U32, Type, unsigned

INTEGERS = "u16 u32 u64 s16 s32 s64"
SIGNED = "s16 s32 s64"
CARRYING = "u32 s32 u64 s64"
NARROW = "u16 s16 u32 s32"
DIVIDED_APART = "u16 s16 s32 u64 s64"
"""Types whose division is several basic blocks to ptxas."""
WITH_64 = {"u64": "4.3 sm_20", "s64": "4.3 sm_20"}


# ---------------------------------------------------------------- addition and subtraction


@instruction("add.type d, a, b", type=INTEGERS, ref="PTX 1.4 table 20")
def add(m: Algebra[V], t: Type, a: V, b: V) -> V:
    """Sum, modulo two to the width.

    Signed and unsigned types give the same bits.
    """
    return m.add(t, a, b)


@instruction("add.sat.s32 d, a, b", ref="PTX 1.4 table 20")
def add_sat(m: Algebra[V], t: Type, a: V, b: V) -> V:
    """Signed sum, limited to the range of 32 bits.

    A sum above 2^31 - 1 becomes that number, one below -2^31 becomes that.
    """
    return saturated_add(m, t, a, b)


@instruction("sub.type d, a, b", type=INTEGERS, ref="PTX 1.4 table 21")
def sub(m: Algebra[V], t: Type, a: V, b: V) -> V:
    """Difference, modulo two to the width.

    Signed and unsigned types give the same bits.
    """
    return m.sub(t, a, b)


@instruction("sub.sat.s32 d, a, b", ref="PTX 1.4 table 21")
def sub_sat(m: Algebra[V], t: Type, a: V, b: V) -> V:
    """Signed difference, limited to the range of 32 bits.

    A difference above 2^31 - 1 becomes that number, one below -2^31 becomes that.
    """
    return saturated_sub(m, t, a, b)


@instruction(
    "add.cc.type d, a, b", type=CARRYING, carry="out", since="1.2", requires=WITH_64, ref="PTX 1.4 table 22"
)
def add_cc(m: Algebra[V], t: Type, a: V, b: V) -> tuple[V, V]:
    """Sum; the carry goes to CC.CF.

    CC.CF is one bit for each thread, which the carrying instructions alone read and write. It is set where
    the sum, taken without a sign, does not fit.
    """
    return with_carry(m, t, m.add(t, a, b), b)


@instruction(
    "addc.type d, a, b", type=CARRYING, carry="in", since="1.2", requires=WITH_64, ref="PTX 1.4 table 23"
)
def addc(m: Algebra[V], t: Type, a: V, b: V, carry: V) -> V:
    """Sum of the operands and CC.CF.

    The higher words of a long sum: `add.cc` on the lowest, `addc.cc` on those between, `addc` on the highest.
    """
    return m.add(t, m.add(t, a, b), one_if(m, t, carry))


@instruction(
    "addc.cc.type d, a, b",
    type=CARRYING,
    carry="in out",
    since="1.2",
    requires=WITH_64,
    ref="PTX 1.4 table 23",
)
def addc_cc(m: Algebra[V], t: Type, a: V, b: V, carry: V) -> tuple[V, V]:
    """Sum of the operands and CC.CF; the carry goes to CC.CF."""
    return add_with_carry(m, t, a, b, carry)


@instruction(
    "sub.cc.type d, a, b", type=CARRYING, carry="out", since="1.3", requires=WITH_64, ref="PTX 1.4 table 24"
)
def sub_cc(m: Algebra[V], t: Type, a: V, b: V) -> tuple[V, V]:
    """Difference; CC.CF tells that nothing was borrowed (so on the H200, whatever the manual says)."""
    return m.sub(t, a, b), m.compare("ge", unsigned(t.bits), a, b)


@instruction(
    "subc.type d, a, b", type=CARRYING, carry="in", since="1.3", requires=WITH_64, ref="PTX 1.4 table 25"
)
def subc(m: Algebra[V], t: Type, a: V, b: V, carry: V) -> V:
    """Difference, less one where CC.CF is not set."""
    return m.sub(t, m.sub(t, a, b), one_if(m, t, m.invert(PRED, carry)))


@instruction(
    "subc.cc.type d, a, b",
    type=CARRYING,
    carry="in out",
    since="1.3",
    requires=WITH_64,
    ref="PTX 1.4 table 25",
)
def subc_cc(m: Algebra[V], t: Type, a: V, b: V, carry: V) -> tuple[V, V]:
    """Difference, less one where CC.CF is not set; CC.CF then tells that nothing was borrowed."""
    u = unsigned(t.bits)
    equal = m.and_(PRED, m.compare("eq", u, a, b), carry)
    return subc(m, t, a, b, carry), m.or_(PRED, m.compare("gt", u, a, b), equal)


def with_carry(m: Algebra[V], t: Type, total: V, addend: V) -> tuple[V, V]:
    """A sum and its carry, known from one of the two addends."""
    return total, m.compare("lt", unsigned(t.bits), total, addend)


def add_with_carry(m: Algebra[V], t: Type, a: V, b: V, carry: V) -> tuple[V, V]:
    """a + b + carry and its carry."""
    partial, first = with_carry(m, t, m.add(t, a, b), b)
    total, second = with_carry(m, t, m.add(t, partial, one_if(m, t, carry)), partial)
    return total, m.or_(PRED, first, second)


# ---------------------------------------------------------------- multiplication


def product(m: Algebra[V], t: Type, mode: str, a: V, b: V) -> V:
    """The low half (`lo`), the high half (`hi`), or all of the product (`wide`)."""
    if mode == "wide":
        return m.whole_product(t, wide(t), a, b)
    return m.mul_high(t, a, b) if mode == "hi" else m.mul(t, a, b)


@instruction("mul.mode.type d, a, b", mode="hi lo", type=INTEGERS, ref="PTX 1.4 table 26")
def mul(m: Algebra[V], t: Type, a: V, b: V, mode: str) -> V:
    """The upper or lower half of the product.

    `.lo` is the product modulo two to the width, for signed and unsigned types alike; `.hi` is what is above
    that, which differs between them.
    """
    return product(m, t, mode, a, b)


@instruction("mul.mode.type d:wide(type), a, b", mode="wide", type=NARROW, ref="PTX 1.4 table 26")
def mul_wide(m: Algebra[V], t: Type, a: V, b: V) -> V:
    """The whole product, twice as wide as the operands.

    It always fits. The operands are extended by their sign, or by zeros, before they are multiplied.
    """
    return product(m, t, "wide", a, b)


@instruction("mad.mode.type d, a, b, c", mode="hi lo", type=INTEGERS, ref="PTX 1.4 table 27")
def mad(m: Algebra[V], t: Type, a: V, b: V, c: V, mode: str) -> V:
    """The upper or lower half of the product, plus a third value.

    The sum wraps. With `.hi` the carry out of the lower half is lost: the third value meets the upper half
    only.
    """
    return m.add(t, product(m, t, mode, a, b), c)


@instruction(
    "mad.mode.type d:wide(type), a, b, c:wide(type)", mode="wide", type=NARROW, ref="PTX 1.4 table 27"
)
def mad_wide(m: Algebra[V], t: Type, a: V, b: V, c: V) -> V:
    """The whole product plus a third value of double width."""
    return m.add(wide(t), product(m, t, "wide", a, b), c)


@instruction("mad.mode.sat.s32 d, a, b, c", mode="hi", ref="PTX 1.4 table 27")
def mad_sat(m: Algebra[V], t: Type, a: V, b: V, c: V) -> V:
    """The upper half of the product plus a third value, limited to the range of 32 bits."""
    return saturated_add(m, t, m.mul_high(t, a, b), c)


@instruction("mad.mode.cc.type d, a, b, c", mode="hi lo", type=CARRYING, carry="out", since="3.0 sm_20",
             requires=WITH_64, ref="PTX ISA 3.0 mad.cc")  # fmt: skip
def mad_cc(m: Algebra[V], t: Type, a: V, b: V, c: V, mode: str) -> tuple[V, V]:
    """Half of the product plus a third value; the carry of the addition goes to CC.CF."""
    return with_carry(m, t, m.add(t, product(m, t, mode, a, b), c), c)


@instruction("madc.mode.type d, a, b, c", mode="hi lo", type=CARRYING, carry="in", since="3.0 sm_20",
             requires=WITH_64, ref="PTX ISA 3.0 madc")  # fmt: skip
def madc(m: Algebra[V], t: Type, a: V, b: V, c: V, mode: str, carry: V) -> V:
    """Half of the product plus a third value plus CC.CF."""
    return m.add(t, m.add(t, product(m, t, mode, a, b), c), one_if(m, t, carry))


@instruction("madc.mode.cc.type d, a, b, c", mode="hi lo", type=CARRYING, carry="in out", since="3.0 sm_20",
             requires=WITH_64, ref="PTX ISA 3.0 madc")  # fmt: skip
def madc_cc(m: Algebra[V], t: Type, a: V, b: V, c: V, mode: str, carry: V) -> tuple[V, V]:
    """Half of the product plus a third value plus CC.CF; the carry goes to CC.CF."""
    return add_with_carry(m, t, product(m, t, mode, a, b), c, carry)


def product24(m: Algebra[V], t: Type, mode: str, a: V, b: V) -> V:
    """Bits 31..0 (`lo`) or 47..16 (`hi`) of the product of the low 24 bits of each operand."""
    eight = m.const(U32, 8)
    a, b = (m.shift_right(t, m.shift_left(t, x, eight), eight) for x in (a, b))
    if mode == "lo":
        return m.mul(t, a, b)
    w = wide(t)
    return m.resize(w, t, m.shift_right(w, product(m, t, "wide", a, b), m.const(U32, 16)))


@instruction("mul24.mode.type d, a, b", mode="hi lo", type="u32 s32", ref="PTX 1.4 table 28")
def mul24(m: Algebra[V], t: Type, a: V, b: V, mode: str) -> V:
    """The upper or lower 32 bits of a 24 by 24 bit product.

    Of each operand the low 24 bits count, for `.s32` with bit 23 as its sign. Of the 48 bits of the product
    `.lo` keeps bits 0 to 31, `.hi` bits 16 to 47.
    """
    return product24(m, t, mode, a, b)


@instruction("mad24.mode.type d, a, b, c", mode="hi lo", type="u32 s32", ref="PTX 1.4 table 29")
def mad24(m: Algebra[V], t: Type, a: V, b: V, c: V, mode: str) -> V:
    """The upper or lower 32 bits of a 24 by 24 bit product, plus a third value."""
    return m.add(t, product24(m, t, mode, a, b), c)


@instruction("mad24.mode.sat.s32 d, a, b, c", mode="hi", ref="PTX 1.4 table 29")
def mad24_sat(m: Algebra[V], t: Type, a: V, b: V, c: V) -> V:
    """The upper 32 bits of a 24 by 24 bit product plus a third value, limited to the range of 32 bits."""
    return saturated_add(m, t, product24(m, t, "hi", a, b), c)


# ---------------------------------------------------------------- other arithmetic


@instruction("sad.type d, a, b, c", type=INTEGERS, ref="PTX 1.4 table 30")
def sad(m: Algebra[V], t: Type, a: V, b: V, c: V) -> V:
    """The absolute difference of two values, plus a third.

    The difference is that of the numbers, so it is right for operands far apart too; the sum wraps.
    """
    return m.add(t, c, m.sub(t, m.maximum(t, a, b), m.minimum(t, a, b)))


@instruction("div.type d, a, b", type=INTEGERS, ref="PTX 1.4 table 31", seam=DIVIDED_APART)
def div(m: Algebra[V], t: Type, a: V, b: V) -> V:
    """Quotient, truncated towards zero.

    What the text leaves open the H200 answers so: a zero divisor gives all ones, and the least number divided
    by -1 gives itself.
    """
    return m.divide(t, a, b)


@instruction("rem.type d, a, b", type=INTEGERS, ref="PTX 1.4 table 32", seam=DIVIDED_APART)
def rem(m: Algebra[V], t: Type, a: V, b: V) -> V:
    """Remainder of the truncated quotient, with the dividend's sign; all ones for a zero divisor (H200)."""
    return m.remainder(t, a, b)


@instruction("abs.type d, a", type=SIGNED, ref="PTX 1.4 table 33")
def abs_(m: Algebra[V], t: Type, a: V) -> V:
    """Absolute value; the least number stays as it is.

    The least number has no positive counterpart in its width.
    """
    return m.maximum(t, a, negate(m, t, a))


@instruction("neg.type d, a", type=SIGNED, ref="PTX 1.4 table 34")
def neg(m: Algebra[V], t: Type, a: V) -> V:
    """The two's complement negative.

    The least number is its own negative.
    """
    return negate(m, t, a)


@instruction("min.type d, a, b", type=INTEGERS, ref="PTX 1.4 table 35")
def min_(m: Algebra[V], t: Type, a: V, b: V) -> V:
    """The smaller of two values."""
    return m.minimum(t, a, b)


@instruction("max.type d, a, b", type=INTEGERS, ref="PTX 1.4 table 36")
def max_(m: Algebra[V], t: Type, a: V, b: V) -> V:
    """The larger of two values."""
    return m.maximum(t, a, b)


@instruction("min.relu.type d, a, b", type="s32", since="8.0 sm_90", ref="PTX ISA 8.0 min")
def min_relu(m: Algebra[V], t: Type, a: V, b: V) -> V:
    """The smaller of two values, but not below zero."""
    return m.maximum(t, m.minimum(t, a, b), m.const(t, 0))


@instruction("max.relu.type d, a, b", type="s32", since="8.0 sm_90", ref="PTX ISA 8.0 max")
def max_relu(m: Algebra[V], t: Type, a: V, b: V) -> V:
    """The larger of two values, but not below zero."""
    return m.maximum(t, m.maximum(t, a, b), m.const(t, 0))


# ---------------------------------------------------------------- pairs of 16 bits

PAIRS = "u16x2 s16x2"
PAIRS_SINCE = "8.0 sm_90"


@instruction("add.type d, a, b", type=PAIRS, since=PAIRS_SINCE, ref="PTX ISA 8.0 add")
def add_pair(m: Algebra[V], t: Type, a: V, b: V) -> V:
    """Sums of both halves, each modulo two to the width."""
    return by_halves(m, t, lambda m, e, x, y: m.add(e, x, y), a, b)


@instruction("min.type d, a, b", type=PAIRS, since=PAIRS_SINCE, ref="PTX ISA 8.0 min")
def min_pair(m: Algebra[V], t: Type, a: V, b: V) -> V:
    """The smaller values of both halves."""
    return by_halves(m, t, lambda m, e, x, y: m.minimum(e, x, y), a, b)


@instruction("max.type d, a, b", type=PAIRS, since=PAIRS_SINCE, ref="PTX ISA 8.0 max")
def max_pair(m: Algebra[V], t: Type, a: V, b: V) -> V:
    """The larger values of both halves."""
    return by_halves(m, t, lambda m, e, x, y: m.maximum(e, x, y), a, b)


@instruction("min.relu.type d, a, b", type="s16x2", since=PAIRS_SINCE, ref="PTX ISA 8.0 min")
def min_pair_relu(m: Algebra[V], t: Type, a: V, b: V) -> V:
    """The smaller values of both halves, but not below zero."""
    return by_halves(m, t, lambda m, e, x, y: min_relu(m, e, x, y), a, b)


@instruction("max.relu.type d, a, b", type="s16x2", since=PAIRS_SINCE, ref="PTX ISA 8.0 max")
def max_pair_relu(m: Algebra[V], t: Type, a: V, b: V) -> V:
    """The larger values of both halves, but not below zero."""
    return by_halves(m, t, lambda m, e, x, y: max_relu(m, e, x, y), a, b)


# ---------------------------------------------------------------- counting and finding bits


@instruction("popc.type d:u32, a", type="b32 b64", since="2.0 sm_20", ref="PTX ISA 2.0 popc")
def popc(m: Algebra[V], t: Type, a: V) -> V:
    """The number of ones."""
    return m.popcount(t, a)


@instruction("clz.type d:u32, a", type="b32 b64", since="2.0 sm_20", ref="PTX ISA 2.0 clz")
def clz(m: Algebra[V], t: Type, a: V) -> V:
    """The number of zeros above the highest one."""
    return m.leading_zeros(t, a)


@instruction("brev.type d, a", type="b32 b64", since="2.0 sm_20", ref="PTX ISA 2.0 brev")
def brev(m: Algebra[V], t: Type, a: V) -> V:
    """The bits in reverse order."""
    return m.reverse_bits(t, a)


@instruction(
    "bfind[.shiftamt].type d:u32, a", type="u32 u64 s32 s64", since="2.0 sm_20", ref="PTX ISA 2.0 bfind",
    seam="u64 s64",
)  # fmt: skip
def bfind(m: Algebra[V], t: Type, a: V, shiftamt: bool) -> V:
    """The place of the highest bit that is not a sign bit, or its distance from the top; -1 if none."""
    if t.is_signed:
        a = m.xor(t, a, m.shift_right(t, a, m.const(U32, t.bits - 1)))
    zeros = m.leading_zeros(t, a)
    place = zeros if shiftamt else m.sub(U32, m.const(U32, t.bits - 1), zeros)
    return m.select(U32, m.compare("eq", t, a, m.const(t, 0)), m.const(U32, 0xFFFFFFFF), place)


@instruction("fns.b32 d, a, b, c:s32", since="6.0 sm_30", ref="PTX ISA 6.0 fns")
def fns(m: Algebra[V], a: V, b: V, c: V) -> V:
    """The place of the c-th one of `a` from bit `b` up (down if c is negative); -1 if none or b > 31."""
    down = is_negative(m, S32, c)
    zero = m.compare("eq", S32, c, m.const(S32, 0))
    start = m.select(U32, down, m.sub(U32, m.const(U32, 31), b), b)
    value = m.select(U32, down, m.reverse_bits(U32, a), a)
    value = m.and_(U32, value, m.invert(U32, low_ones(m, U32, start)))
    value = m.select(U32, zero, m.and_(U32, value, m.shift_left(U32, m.const(U32, 1), start)), value)
    rank = m.select(U32, zero, m.const(U32, 1), m.select(U32, down, negate(m, U32, c), c))
    place = nth_one(m, value, rank)
    place = m.select(U32, down, m.sub(U32, m.const(U32, 31), place), place)
    found = m.compare("le", U32, rank, m.popcount(U32, value))
    found = m.and_(PRED, found, m.compare("lt", U32, b, m.const(U32, 32)))
    place = m.select(U32, found, place, m.const(U32, 0xFFFFFFFF))
    least = m.compare(
        "eq", S32, c, m.const(S32, 1 << 31)
    )  # has no negative; zero on the H200, whatever `b` is
    return m.select(U32, least, m.const(U32, 0), place)


def nth_one(m: Algebra[V], a: V, n: V) -> V:
    """The place of the n-th (from 1) one of a `.u32` column, by halving; meaningless if there is none."""
    place = m.const(U32, 0)
    for width in (16, 8, 4, 2, 1):
        low = m.and_(U32, m.shift_right(U32, a, place), m.const(U32, (1 << width) - 1))
        count = m.popcount(U32, low)
        above = m.compare("gt", U32, n, count)
        n = m.select(U32, above, m.sub(U32, n, count), n)
        place = m.select(U32, above, m.add(U32, place, m.const(U32, width)), place)
    return place


# ---------------------------------------------------------------- bit fields


def field_amount(m: Algebra[V], t: Type, a: V) -> V:
    """A position or length, clamped to the width; for 32-bit fields its low byte counts (as on the H200)."""
    if t.bits == 32:
        a = m.and_(U32, a, m.const(U32, 0xFF))
    return m.minimum(U32, a, m.const(U32, t.bits))


@instruction(
    "bfe.type d, a, b:u32, c:u32", type="u32 u64 s32 s64", since="2.0 sm_20", ref="PTX ISA 2.0 bfe",
    ranges={"b": range(256), "c": range(256)},
)  # fmt: skip
def bfe(m: Algebra[V], t: Type, a: V, b: V, c: V) -> V:
    """The field of `c` bits from bit `b` on, extended by its sign or by zeros."""
    u = unsigned(t.bits)
    position, length = field_amount(m, t, b), field_amount(m, t, c)
    inside = m.minimum(U32, length, m.sub(U32, m.const(U32, t.bits), position))
    mask = low_ones(m, u, inside)
    value = m.and_(u, m.shift_right(u, a, position), mask)
    if not t.is_signed:
        return value
    last = m.minimum(U32, m.add(U32, position, m.sub(U32, length, m.const(U32, 1))), m.const(U32, t.bits - 1))
    sign = m.compare("ne", u, m.and_(u, m.shift_right(u, a, last), m.const(u, 1)), m.const(u, 0))
    fill = m.and_(PRED, sign, m.compare("ne", U32, length, m.const(U32, 0)))
    return m.or_(u, value, m.and_(u, ones_if(m, u, fill), m.invert(u, mask)))


@instruction(
    "bfi.type d, a, b, c:u32, e:u32", type="b32 b64", since="2.0 sm_20", ref="PTX ISA 2.0 bfi",
    ranges={"c": range(256), "e": range(256)},
)  # fmt: skip
def bfi(m: Algebra[V], t: Type, a: V, b: V, c: V, e: V) -> V:
    """`b` with the low `e` bits of `a` put in from bit `c` on."""
    position = field_amount(m, t, c)
    mask = m.shift_left(t, low_ones(m, t, field_amount(m, t, e)), position)
    field = m.and_(t, m.shift_left(t, a, position), mask)
    return m.or_(t, m.and_(t, b, m.invert(t, mask)), field)


@instruction(
    "szext.wrapping.type d, a, b:u32",
    wrapping="clamp wrap",
    type="u32 s32",
    since="7.6 sm_70",
    ref="PTX ISA 7.6 szext",
)
def szext(m: Algebra[V], t: Type, a: V, b: V, wrapping: str) -> V:
    """The low `b` bits, extended by their sign or by zeros; `b` is clamped to 32 or wraps."""
    if wrapping == "wrap":
        b = m.and_(U32, b, m.const(U32, 31))
    away = m.sub(U32, m.const(U32, 32), m.minimum(U32, b, m.const(U32, 32)))
    kept = m.shift_right(t, m.shift_left(t, a, away), away)
    return m.select(t, m.compare("eq", U32, b, m.const(U32, 0)), m.const(t, 0), kept)


@instruction(
    "bmsk.wrapping.b32 d, a, b:u32", wrapping="clamp wrap", since="7.6 sm_70", ref="PTX ISA 7.6 bmsk"
)
def bmsk(m: Algebra[V], a: V, b: V, wrapping: str) -> V:
    """A mask of `b` ones from bit `a` on; both are clamped to 32 or wrap."""
    if wrapping == "wrap":
        a, b = m.and_(U32, a, m.const(U32, 31)), m.and_(U32, b, m.const(U32, 31))
    return m.shift_left(U32, low_ones(m, U32, b), a)


# ---------------------------------------------------------------- dot products of bytes


def element(m: PureAlgebra[V], t: Type, a: V, index: int, bits: int) -> V:
    """The element of `bits` bits at `index`, extended to `t` (32 bits) by the sign that `t` has."""
    up = m.shift_left(t, a, m.const(U32, 32 - bits * (index + 1)))
    return m.shift_right(t, up, m.const(U32, 32 - bits))


@instruction("dp4a.atype.btype d:u32, a, b:btype, c:u32", atype="u32 s32", btype="u32 s32",
             since="5.0 sm_61", ref="PTX ISA 5.0 dp4a")  # fmt: skip
def dp4a(m: Algebra[V], atype: Type, btype: Type, a: V, b: V, c: V) -> V:
    """The dot product of four bytes with four bytes, plus a third value."""
    return m.add(U32, c, m.dot_of_bytes(atype, btype, a, b))


@instruction("dp2a.mode.atype.btype d:u32, a, b:btype, c:u32", mode="lo hi", atype="u32 s32",
             btype="u32 s32", since="5.0 sm_61", ref="PTX ISA 5.0 dp2a")  # fmt: skip
def dp2a(m: Algebra[V], atype: Type, btype: Type, a: V, b: V, c: V, mode: str) -> V:
    """The dot product of two 16-bit values with the lower or upper two bytes, plus a third value."""
    first = 2 if mode == "hi" else 0
    for i in range(2):
        c = m.add(U32, c, m.mul(U32, element(m, atype, a, i, 16), element(m, btype, b, first + i, 8)))
    return c
