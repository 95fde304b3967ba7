"""The special function unit's squares and roots, in numbers of 16 bits: registers hold twice as many.

`Algebra.by_halves` brings columns of 32 bits there and back.
"""

from __future__ import annotations

from functools import partial

from simt.isa.algebra import Algebra, V
from simt.isa.special_tables import Words, word_table
from simt.ptx.types import S32, U16, U32, Type

HALF = U16.bits
Halves = tuple[V, V]
"""The low and the high 16 bits of a column, as `.u16`."""


# ---------------------------------------------------------------- integers, with constants


def plus(m: Algebra[V], a: V, n: int, t: Type = U32) -> V:
    return m.add(t, a, m.const(t, n % (1 << t.bits)))


def bits_of(m: Algebra[V], a: V, mask: int, t: Type = U32) -> V:
    return m.and_(t, a, m.const(t, mask))


def down(m: Algebra[V], a: V, n: int, t: Type = U32) -> V:
    return m.shift_right(t, a, m.const(U32, n))


def up(m: Algebra[V], a: V, n: int, t: Type = U32) -> V:
    return m.shift_left(t, a, m.const(U32, n))


def signed_sum(m: Algebra[V], a: V, sign: int, b: V, t: Type = U32) -> V:
    return m.add(t, a, b) if sign > 0 else m.sub(t, a, b)


# ---------------------------------------------------------------- squares

SQUARED = 15
"""Bits of the place that the squarer sees, and of its result."""


def square(m: Algebra[V], x: V) -> V:
    """The square of a 17-bit place, its 15 upper bits."""
    return down(m, m.by_halves(_square_of_halves, x), HALF)


def _square_of_halves(m: Algebra[V], x: Halves[V]) -> V:
    return square_of_words(m, *x)


def square_of_words(m: Algebra[V], low: V, high: V) -> V:
    """The same of a place whose highest bit is the lowest one of `high`.

    Of the partial products x_i x_j 2^(i + j + 1) with j < i, and x_i 2^(2 i), those below 2^19 are left
    out before they are added, not after. That leaves the whole square of the upper 7 bits, and products of
    each of them with the next 8, without their lowest bits. The highest bit's product has none to leave out:
    it is added to another one.
    """
    place = m.or_(U16, down(m, low, 1, U16), up(m, high, HALF - 1, U16))  # its lowest bit is not seen
    upper, next_8 = down(m, place, 9, U16), bits_of(m, place, 255 << 1, U16)
    total = up(m, m.mul(U16, upper, upper), 1, U16)
    for some in (1 << 6 | 1, *(1 << i for i in range(1, 6))):
        total = m.add(U16, total, m.mul_high(U16, next_8, bits_of(m, place, some << 9, U16)))
    return total


# ---------------------------------------------------------------- roots

QUARTERS = 2
"""Bits below the result's last place in the sum of a root."""


def nearest(m: Algebra[V], name: str, a: V, near: V) -> V:
    """The bits of a root of `a`, given those of a number near it. The exponent's lowest bit is the segment's
    highest.

    The significand's lowest 14 bits are those of a sum of 16: no product has to be whole. Of the numbers that
    end in them the result is the one nearest to `near`, whose error is less than half their distance.
    """
    beyond = m.by_halves(partial(_beyond, word_table(name)), a, near)
    return m.add(U32, near, down(m, beyond, HALF + QUARTERS, S32))


def _beyond(words: Words, m: Algebra[V], a: Halves[V], near: Halves[V]) -> V:
    """How far a root of `a` is beyond `near`, in quarters of the last place, modulo 2^16: upper halves of the
    terms of `words`, and what their lower halves carry."""
    low, high = a
    c0, slope, curve = m.lookup(U16, down(m, high, 1, U16), words.c0, words.slopes, words.curves)
    total = m.sub(U16, c0, up(m, near[0], QUARTERS, U16))
    total = m.add(U16, total, low) if words.has_place else _sole_exact(m, total, low, high)
    zero = m.const(U16, 0)
    odd = m.compare("ne", U16, bits_of(m, high, 1, U16), zero)  # the place's highest bit
    above = m.add(U16, m.mul_high(U16, slope, low), m.select(U16, odd, slope, zero))
    below, squared = m.mul(U16, slope, low), square_of_words(m, low, high)
    kept = HALF - words.shift
    line = m.or_(U16, up(m, above, words.shift, U16), down(m, below, kept, U16))
    total = signed_sum(m, total, words.c1_sign, line, U16)
    total = signed_sum(m, total, words.c2_sign, m.mul_high(U16, curve, squared), U16)
    ones = (1 << kept) - 1  # below c0; so what is carried is not negative, and one bit
    parts = [bits_of(m, below, ones, U16), down(m, m.mul(U16, curve, squared), words.shift, U16)]
    less, more = parts if words.c1_sign < 0 else reversed(parts)
    carried = m.add(U16, m.sub(U16, m.const(U16, ones), less), more)
    return m.add(U16, total, down(m, carried, kept, U16))


def _sole_exact(m: Algebra[V], total: V, low: V, high: V) -> V:
    """Reciprocal roots of powers of four are exact: their sum, the only one of 2^24 - 1, is passed over. Of
    such a number the lowest 24 bits are 2^23."""
    others = m.or_(U16, low, m.xor(U16, up(m, high, 8, U16), m.const(U16, 1 << 15)))
    sole = m.compare("eq", U16, others, m.const(U16, 0))
    return m.add(U16, total, m.select(U16, sole, m.const(U16, 1 << QUARTERS), m.const(U16, 0)))
