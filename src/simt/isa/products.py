"""Products of matrices as the units for them form them (`mma`, `wmma`), measured on an H200.

Floating point of up to 32 bits: the products are exact. They and the third summand are cut, towards zero, to
multiples of 2^(e - 25), where e is the largest of their exponents (of a product the sum of its factors'; that
of a subnormal is its format's least), but not below -133, or -21 if the third summand is `.f16`; zeros have
none. Their sum, which is exact, is rounded towards zero for `.f32`, to nearest even for `.f16`. A zero is
positive, what is too large is infinite, and every NaN is the one whose bits are all ones but the sign.
Formats of 8 bits are `.f16` there: the products of the first two of each four elements are summed as above,
the others are added to that, and the third summand at last, by an ordinary addition.

`.f64` is a chain of fused multiply-adds, in order, in any rounding. Integers are exact, and wrap or saturate
at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial, reduce
from typing import Any, TypeAlias

from simt.isa.algebra import Algebra, PureAlgebra, Rounding, V, WarpAlgebra
from simt.isa.derived import (
    SIGNIFICAND,
    float_bits,
    halves,
    infinity,
    join,
    one,
    saturated_add,
    sign_mask,
)
from simt.isa.fragments import GROUP, LINES
from simt.isa.integer import dp4a, element
from simt.isa.small_formats import FORMATS, decoded
from simt.ptx.types import B32, BF16, F16, F32, F64, PRED, S16, S32, U16, U32, U64, Type
from simt.records import dataclass

NAN = 0x7FFFFFFF
"""Of `.f32`; its upper half is that of `.f16`."""
FRACTION = 25
"""Bits behind the point that are kept."""
BELOW = 7
"""By so much the least exponent that sums have is below that of the third summand's format."""
NOTHING = -300
"""Stands for the exponent of a zero: with any other it is below the least."""
SPECIAL = 1000
"""Stands for the exponent of an infinity or NaN."""
SEEN = 500
"""Sums of exponents above are those of an infinity or NaN, be the other factor a zero."""
FAR = 100
"""Exponents below it, of both signs, have results far from overflow and underflow."""
VANISHING = -165
"""Exponents below it have summands of which nothing is left, as zeros have."""
FEW = 8
"""So many products cannot be too many for 32 bits, with the third summand."""
MANY = (1 << 31) - (1 << 27)
"""Sums of products below it, of both signs, can take the third summand."""
FARTHEST = 150
"""Bits by which a product is shifted at most: all of it is cut off long before."""
TF32 = 0xFFFFE000
"""The bits of an `.f32` that `.tf32` has."""
SMALL = {name.removesuffix("x2"): form for name, form in FORMATS.items()}
"""Formats of 8 bits by the modifiers of their types."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What is multiplied: `a`, `b`, `c` and `d` are the modifiers of the elements' types, `operation` is
    `satfinite`, `and`, `xor` or nothing, `rounding` that of doubles. `rows`: 8 or 16 rows of `a`."""

    a: str
    b: str
    c: str
    d: str
    rows: int
    operation: str = ""
    rounding: Rounding = "rn"


@dataclass(frozen=True, slots=True)
class Multiplication:
    """`multiplied` of so many registers of `a`, of `b`, and those of `c`, one after the other. `exactly`:
    for numbers of any size, and those that are none."""

    kind: Kind
    of_a: int
    of_b: int
    exactly: bool = False

    def __call__(self, m: WarpAlgebra[V], *registers: V) -> tuple[V, ...]:
        end = self.of_a + self.of_b
        a, b, c = registers[: self.of_a], registers[self.of_a : end], registers[end:]
        return (_by_lines if self.exactly else multiplied)(m, self.kind, a, b, c)


Word: TypeAlias = "list[tuple[Type, Any]]"
"""The columns that `_Method.prepare` makes of a register, with their types."""
Line: TypeAlias = "list[tuple[Any, ...]]"
"""A row of `a` or a column of `b`: for each of its words, the columns of which it is made."""


@dataclass(frozen=True, slots=True)
class _Method:
    """How some types are multiplied. `prepare` makes columns of a register, before lanes exchange them, with
    their types. `dot` makes an element of `d` of a line of `a`, one of `b`, and an element of `c`.

    `usual`, if any, makes all elements of the registers, and a predicate: whether it was wrong for some.
    (It has a row's columns made where they are needed: all of them are more than a CPU has registers.)"""

    prepare: Callable[..., Word]
    dot: Callable[..., Any]
    usual: Callable[..., tuple[list[Any], Any]] | None = None


def multiplied(
    m: WarpAlgebra[V], kind: Kind, a: Sequence[V], b: Sequence[V], c: Sequence[V]
) -> tuple[V, ...]:  # fmt: skip
    """The registers of `d`, which has 8 columns, by those of `a`, `b` and `c`: all of them as bits."""
    if kind.a in SMALL:
        return _of_small(m, kind, a, b, c)
    usual = _METHODS[kind.a].usual
    if usual is None:
        return _by_lines(m, kind, a, b, c)
    found, rare = usual(m, kind, a, b, c)
    return m.seldom(rare, _registers(m, kind, found), Multiplication(kind, len(a), len(b), True), *a, *b, *c)


def _by_lines(
    m: Algebra[V], kind: Kind, a: Sequence[V], b: Sequence[V], c: Sequence[V]
) -> tuple[V, ...]:  # fmt: skip
    """The same, one element after the other."""
    method, third, found = _METHODS[kind.a], _thirds(m, kind, c), list[V]()
    columns = _columns(m, kind, method.prepare, b)
    for i, row in enumerate(_rows(m, kind, method.prepare, a)):
        line = list(_line(m, row, _row_lanes(m)))
        found += [method.dot(m, kind, line, *pair) for pair in zip(columns, third[2 * i :])]
    return _registers(m, kind, found)


def _rows(m: Algebra[V], kind: Kind, prepare: Callable[..., Word], a: Sequence[V]) -> list[list[Word]]:
    """What is made of the registers of `a` for each of the rows of which a lane makes elements."""
    blocks = kind.rows // LINES
    return [[prepare(m, kind.a, register) for register in a[i::blocks]] for i in range(blocks)]


def _columns(m: Algebra[V], kind: Kind, prepare: Callable[..., Word], b: Sequence[V]) -> list[Line]:
    """Those of the two elements that a lane makes in a row."""
    words = [prepare(m, kind.b, register) for register in b]
    return [list(_line(m, words, _column_lanes(m, j))) for j in range(2)]


def _thirds(m: Algebra[V], kind: Kind, c: Sequence[V]) -> list[V]:
    """The elements of `c`."""
    return [half for r in c for half in halves(m, r)] if kind.c == "f16" else list(c)


def _registers(m: Algebra[V], kind: Kind, found: Sequence[V]) -> tuple[V, ...]:
    """The registers of `d`, of its elements."""
    if kind.d != "f16":
        return tuple(found)
    return tuple(join(m, low, high) for low, high in zip(found[::2], found[1::2]))


def _bias(t: Type) -> int:
    """Of the exponents of a format."""
    return one(t) >> SIGNIFICAND[t]


def _u32(m: PureAlgebra[V], value: int) -> V:
    return m.const(U32, value % 2**32)


def _line(m: Algebra[V], words: Iterable[Word], lanes: list[V]) -> Iterator[tuple[V, ...]]:
    """What the lanes have in their registers, in the order of the elements."""
    for word in words:
        for lane in lanes:
            yield tuple(m.shuffle(of, value, lane) for of, value in word)


def _row_lanes(m: Algebra[V]) -> list[V]:
    """The lanes that hold the row of `a` of which a lane makes elements: those of its group."""
    first = m.and_(U32, m.lane(), _u32(m, -GROUP))
    return [m.add(U32, first, _u32(m, i)) for i in range(GROUP)]


def _column_lanes(m: Algebra[V], j: int) -> list[V]:
    """The lanes that hold the column of `b` for the `j`th of two elements in a row of `d`."""
    place = m.and_(U32, m.lane(), _u32(m, GROUP - 1))
    first = m.add(U32, m.mul(U32, place, _u32(m, 2 * GROUP)), _u32(m, j * GROUP))
    return [m.add(U32, first, _u32(m, i)) for i in range(GROUP)]


# ------------------------------------------------------------------ floating point of up to 32 bits


def _exponent_of(t: Type, m: PureAlgebra[V], bits: V) -> V:
    """Of a number by its bits, as a signed integer of as many: see `NOTHING` and `SPECIAL`."""
    signed, unsigned = (S16, U16) if t.bits == S16.bits else (S32, U32)

    def constant(value: int) -> V:
        return m.const(signed, value % 2**signed.bits)

    magnitude = m.and_(unsigned, bits, constant(sign_mask(t) - 1))
    field = m.shift_right(unsigned, magnitude, _u32(m, SIGNIFICAND[t]))
    found = m.sub(signed, m.maximum(unsigned, field, constant(1)), constant(_bias(t)))
    special = m.compare("ge", unsigned, magnitude, constant(infinity(t)))
    found = m.select(signed, special, constant(SPECIAL), found)
    return m.select(signed, m.compare("eq", unsigned, magnitude, constant(0)), constant(NOTHING), found)


def _significand(m: PureAlgebra[V], bits: V) -> V:
    """What an `.f32` is over 2^exponent, with its sign; infinities and NaNs as they are."""
    exponent = m.and_(U32, bits, _u32(m, infinity(F32)))
    unit = m.or_(U32, m.and_(U32, bits, _u32(m, sign_mask(F32))), _u32(m, one(F32)))
    fraction = m.and_(U32, bits, _u32(m, ~infinity(F32)))
    normal = m.from_bits(F32, m.or_(U32, fraction, _u32(m, one(F32))))
    subnormal = m.fsub(F32, normal, m.from_bits(F32, unit), "rn")
    found = m.select(F32, m.compare("eq", U32, exponent, _u32(m, 0)), subnormal, normal)
    special = m.compare("eq", U32, exponent, _u32(m, infinity(F32)))
    return m.select(F32, special, m.from_bits(F32, bits), found)


def _prepared_plainly(m: Algebra[V], t: str, register: V) -> Word:
    """Exponents, two in a word, and the values."""
    if t == "tf32":
        bits = m.and_(U32, register, _u32(m, TF32))
        exponent = m.and_(U32, _exponent_of(F32, m, bits), _u32(m, 0xFFFF))
        return [(U32, m.or_(U32, exponent, _u32(m, NOTHING << 16))), (F32, m.from_bits(F32, bits))]
    if t == "f16":
        half, wide = F16, [m.float_to_float(F16, F32, value, "rn") for value in halves(m, register)]
    else:
        low, high = m.shift_left(U32, register, _u32(m, 16)), m.and_(U32, register, _u32(m, -1 << 16))
        half, wide = BF16, [m.from_bits(F32, bits) for bits in (low, high)]
    exponents = m.halfwise(partial(_exponent_of, half), register)
    return [(U32, exponents), *((F32, value) for value in wide)]


def _prepared_floats(m: Algebra[V], t: str, register: V) -> Word:
    """The same, but values over 2^exponent. Those of halves are not so small."""
    (of, exponents), *values = _prepared_plainly(m, t, register)
    if t != "f16":
        values = [(F32, _significand(m, m.to_bits(F32, value))) for _, value in values]
    return [(of, exponents), *values]


def _usual_floats(
    m: Algebra[V], kind: Kind, a: Sequence[V], b: Sequence[V], c: Sequence[V]
) -> tuple[list[V], V]:  # fmt: skip
    """Where sums and exponents are far from all limits, or all summands are zero."""
    floor = max(_least(kind), -FAR)
    thirds, columns = _thirds(m, kind, c), _columns(m, kind, _prepared_plainly, b)
    lanes, found, rare = _row_lanes(m), list[V](), list[V]()
    for i, row in enumerate(_rows(m, kind, _prepared_plainly, a)):
        third = [_third(m, kind.c, value) for value in thirds[2 * i : 2 * i + 2]]
        largest = _highest(m, _line(m, [word[:1] for word in row], lanes), columns, third)
        highest = [m.maximum(S32, most, _u32(m, floor)) for most in largest]
        products = _products(m, _line(m, [word[1:] for word in row], lanes), columns, highest)
        for (value, _), most, sum_of in zip(third, highest, products):
            total = m.add(S32, sum_of, m.whole(m.fmul(F32, value, _scale(m, most), "rn")))
            if kind.d == "f16":
                found.append(m.resize(U32, U16, _rounded_half(m, total, most)))
            else:
                found.append(_rounded(m, total, most))
            rare.append(m.compare("ge", S32, most, _u32(m, FAR)))
            if 2 * len(columns[0]) > FEW:
                rare.append(_is_outside(m, sum_of, MANY))
        if floor == -FAR:
            rare += [_is_between(m, most, VANISHING, -FAR) for most in largest]
    return found, reduce(partial(m.or_, PRED), rare)


def _highest(
    m: Algebra[V], row: Iterable[tuple[V, ...]], columns: list[Line], third: list[tuple[V, V]]
) -> list[V]:  # fmt: skip
    """The largest exponents in the sums of a row."""
    sums: list[list[V]] = [[] for _ in columns]
    for place, (exponents,) in enumerate(row):
        for found, column in zip(sums, columns):
            found.append(m.halfwise(_sum, exponents, column[place][0]))
    return [_largest(m, found, exponent) for found, (_, exponent) in zip(sums, third)]


def _largest(m: Algebra[V], sums: Iterable[V], *exponents: V) -> V:
    """The largest exponent, of products', two in a word, and of others."""
    return reduce(partial(m.maximum, S32), (*_both(m, _larger, sums), *exponents))


def _least(kind: Kind) -> int:
    """The least exponent that sums have."""
    return 1 - BELOW - _bias(F16 if kind.c == "f16" else F32)


def _products(
    m: Algebra[V], row: Iterable[tuple[V, ...]], columns: list[Line], highest: list[V]
) -> list[V]:  # fmt: skip
    """The sums of the products of a row, of numbers that an `.f32` holds with their products, cut off."""
    scales, totals = [_scale(m, most) for most in highest], [_u32(m, 0) for _ in columns]
    for place, word in enumerate(row):
        for j, column in enumerate(columns):
            for x, y in zip(word, column[place][1:]):
                cut = m.whole(m.fmul(F32, m.fmul(F32, x, y, "rn"), scales[j], "rn"))
                totals[j] = m.add(S32, totals[j], cut)
    return totals


def _scale(m: PureAlgebra[V], highest: V) -> V:
    """By which numbers are in units of 2^(highest - 25)."""
    return _power(m, m.sub(S32, _u32(m, FRACTION), highest))


def _element(m: Algebra[V], kind: Kind, row: Line, column: Line, c: V) -> V:
    """An element of `d`, bits as `c` is, of numbers of any size."""
    sums = [m.halfwise(_sum, a[0], b[0]) for a, b in zip(row, column)]
    value, exponent = _third(m, kind.c, c)
    highest = _largest(m, sums, exponent, _u32(m, _least(kind)))
    cut = (
        _cut_halves(m, row, column, _scale(m, highest))
        if kind.a == "f16"
        else _cut(m, row, column, sums, highest)
    )
    factors = [factor for a, b in zip(row, column) for pair in zip(a[1:], b[1:]) for factor in pair]
    exact = _exact_half if kind.d == "f16" else _exact
    found = exact(m, value, reduce(partial(m.add, S32), cut), highest, *factors)
    return m.resize(U32, U16, found) if kind.d == "f16" else found


def _is_between(m: PureAlgebra[V], a: V, first: int, end: int) -> V:
    """Whether a signed integer is one of some."""
    return m.compare("lt", U32, m.sub(U32, a, _u32(m, first)), _u32(m, end - first))


def _is_outside(m: PureAlgebra[V], a: V, bound: int) -> V:
    """Whether a signed integer is below minus a bound, or the bound and more."""
    return m.compare("ge", U32, m.add(U32, a, _u32(m, bound)), _u32(m, 2 * bound))


def _sum(m: PureAlgebra[V], a: V, b: V) -> V:
    return m.add(S16, a, b)


def _product(m: PureAlgebra[V], a: V, b: V) -> V:
    return m.mul(S16, a, b)


def _larger(m: PureAlgebra[V], a: V, b: V) -> V:
    return m.maximum(S16, a, b)


def _both(m: Algebra[V], combine: Callable[..., V], pairs: Iterable[V]) -> tuple[V, V]:
    """What pairs of signed integers in words make together, for each half."""
    result = reduce(partial(m.halfwise, combine), pairs)
    return element(m, S32, result, 0, 16), element(m, S32, result, 1, 16)


def _third(m: Algebra[V], t: str, c: V) -> tuple[V, V]:
    """The third summand as `.f32`, and its exponent as `.s32`."""
    if t == "f16":
        return m.float_to_float(F16, F32, c, "rn"), m.resize(S16, S32, _exponent_of(F16, m, c))
    return m.from_bits(F32, c), _exponent_of(F32, m, c)


def _power(m: PureAlgebra[V], exponent: V) -> V:
    """2^exponent, an `.f32`; anything if that is too large or too small."""
    biased = m.add(S32, exponent, _u32(m, _bias(F32)))
    return m.from_bits(F32, m.shift_left(U32, biased, _u32(m, SIGNIFICAND[F32])))


def _wide_power(m: PureAlgebra[V], exponent: V) -> V:
    """2^exponent, an `.f64`."""
    biased = m.resize(S32, U64, m.add(S32, exponent, _u32(m, _bias(F64))))
    return m.from_bits(F64, m.shift_left(U64, biased, _u32(m, SIGNIFICAND[F64])))


def _cut_halves(m: Algebra[V], row: Line, column: Line, scale: V) -> list[V]:
    """The products of halves, which an `.f32` holds, in units of 2^(highest - 25): whole ones (`.s32`)."""
    factors = (pair for a, b in zip(row, column) for pair in zip(a[1:], b[1:]))
    products = (m.fmul(F32, x, y, "rn") for x, y in factors)
    return [m.whole(m.fmul(F32, product, scale, "rn")) for product in products]


def _cut(m: Algebra[V], row: Line, column: Line, sums: list[V], highest: V) -> list[V]:
    """The same for any exponents: each product of significands has a scale of its own."""
    both = m.or_(U32, m.and_(U32, highest, _u32(m, 0xFFFF)), m.shift_left(U32, highest, _u32(m, 16)))
    found: list[V] = []
    for a, b, exponents in zip(row, column, sums):
        distances = m.halfwise(_distance, both, exponents)
        for i, (x, y) in enumerate(zip(a[1:], b[1:])):
            distance = element(m, U32, distances, i, 16)
            biased = m.sub(U32, _u32(m, _bias(F32) + FRACTION), distance)
            scale = m.from_bits(F32, m.shift_left(U32, biased, _u32(m, SIGNIFICAND[F32])))
            found.append(m.whole(m.fmul(F32, m.fmul(F32, x, y, "rn"), scale, "rn")))
    return found


def _distance(m: PureAlgebra[V], highest: V, exponent: V) -> V:
    return m.minimum(U16, m.sub(U16, highest, exponent), m.const(U16, FARTHEST))


# Results as bits in a `.u32`: where sum and exponent are far from all limits, ...


def _rounded(m: Algebra[V], total: V, highest: V) -> V:
    rounded = m.int_to_float(S32, F32, total, "rz")
    unit = _power(m, m.sub(S32, highest, _u32(m, FRACTION)))
    return m.to_bits(F32, m.fmul(F32, rounded, unit, "rn"))


def _rounded_half(m: Algebra[V], total: V, highest: V) -> V:
    """By an `.f32` whose last bit says whether anything was cut off."""
    cut = m.int_to_float(S32, F32, total, "rz")
    inexact = m.compare("ne", U32, m.whole(cut), total)
    odd = m.or_(U32, m.to_bits(F32, cut), m.select(U32, inexact, _u32(m, 1), _u32(m, 0)))
    unit = _power(m, m.sub(S32, highest, _u32(m, FRACTION)))
    return _as_half(m, m.fmul(F32, m.from_bits(F32, odd), unit, "rn"))


def _as_half(m: PureAlgebra[V], a: V) -> V:
    """Rounded to nearest even; a zero is positive."""
    half = m.float_to_float(F32, F16, a, "rn")
    none = m.compare("eq", U16, half, m.const(U16, sign_mask(F16)))
    return m.resize(U16, U32, m.select(U16, none, m.const(U16, 0), half))


# ... and everywhere.


def _sum_of(m: PureAlgebra[V], c: V, products: V, highest: V) -> V:
    """The exact sum, an `.f64`."""
    cut = m.fmul(
        F64, m.float_to_float(F32, F64, c, "rn"), _wide_power(m, m.sub(S32, _u32(m, FRACTION), highest)), "rn"
    )
    total = m.fadd(F64, m.int_to_float(S32, F64, products, "rn"), m.round_integral(F64, cut, "rz"), "rn")
    return m.fmul(F64, total, _wide_power(m, m.sub(S32, highest, _u32(m, FRACTION))), "rn")


def _exact(m: PureAlgebra[V], c: V, products: V, highest: V, *factors: V) -> V:
    exact = _sum_of(m, c, products, highest)
    cut = m.to_bits(F32, m.fadd(F32, m.float_to_float(F64, F32, exact, "rz"), m.const(F32, 0), "rn"))
    magnitude = m.and_(U64, m.to_bits(F64, exact), m.const(U64, sign_mask(F64) - 1))
    large = m.compare("ge", U64, magnitude, m.const(U64, float_bits(F64, 2.0**128)))
    infinite = m.or_(U32, m.and_(U32, cut, _u32(m, sign_mask(F32))), _u32(m, infinity(F32)))
    special = m.compare("gt", S32, highest, _u32(m, SEEN))
    return m.select(U32, special, _special(m, c, *factors), m.select(U32, large, infinite, cut))


def _exact_half(m: PureAlgebra[V], c: V, products: V, highest: V, *factors: V) -> V:
    exact = _sum_of(m, c, products, highest)
    cut = m.float_to_float(F64, F32, exact, "rz")
    inexact = m.compare("ne", F64, m.float_to_float(F32, F64, cut, "rn"), exact)
    odd = m.or_(U32, m.to_bits(F32, cut), m.select(U32, inexact, _u32(m, 1), _u32(m, 0)))
    special = m.compare("gt", S32, highest, _u32(m, SEEN))
    return m.select(U32, special, _special_half(m, c, *factors), _as_half(m, m.from_bits(F32, odd)))


def _special(m: PureAlgebra[V], c: V, *factors: V) -> V:
    """Where some operand is no number: the sum by the rules of IEEE 754. No product is too large."""
    for x, y in zip(factors[::2], factors[1::2]):
        c = m.fadd(F32, c, m.fmul(F32, x, y, "rn"), "rn")
    return m.select(U32, m.is_nan(F32, c), _u32(m, NAN), m.to_bits(F32, c))


def _special_half(m: PureAlgebra[V], c: V, *factors: V) -> V:
    bits = _special(m, c, *factors)
    nan = m.compare("eq", U32, bits, _u32(m, NAN))
    sign = m.and_(U32, m.shift_right(U32, bits, _u32(m, 16)), _u32(m, sign_mask(F16)))
    return m.select(U32, nan, _u32(m, NAN >> 16), m.or_(U32, sign, _u32(m, infinity(F16))))


def _of_small(m: WarpAlgebra[V], kind: Kind, a: Sequence[V], b: Sequence[V], c: Sequence[V]) -> tuple[V, ...]:
    """The product of matrices whose elements have 8 bits."""
    wide = Kind("f16", "f16", kind.d, kind.d, kind.rows)
    total = tuple(_u32(m, 0) for _ in c)
    for part in (0, 1):
        rows = [_two_halves(m, kind.a, register, part) for register in a]
        columns = [_two_halves(m, kind.b, register, part) for register in b]
        total = multiplied(m, wide, rows, columns, total)
    return tuple(_added(m, kind.d, x, y) for x, y in zip(c, total))


def _two_halves(m: Algebra[V], t: str, register: V, part: int) -> V:
    """The first two elements of a register, or the last two, as halves."""
    low, high = (
        decoded(m, SMALL[t], element(m, U32, register, 2 * part + i, 8), False) for i in (0, 1)
    )  # fmt: skip
    return m.or_(U32, low, m.shift_left(U32, high, _u32(m, 16)))


def _added(m: Algebra[V], t: str, a: V, b: V) -> V:
    """The sum of registers of `.f32` or of two halves, rounded to nearest even."""
    if t == "f16":
        return m.halfwise(_sum_of_halves, a, b)
    total = m.fadd(F32, m.from_bits(F32, a), m.from_bits(F32, b), "rn")
    return m.to_bits(F32, m.nan_result(F32, total))


def _sum_of_halves(m: PureAlgebra[V], a: V, b: V) -> V:
    return m.nan_result(F16, m.fadd(F16, a, b, "rn"))


# ------------------------------------------------------------------ doubles, integers, bits


def _prepared_double(m: Algebra[V], t: str, register: V) -> list[tuple[Type, V]]:
    return [(F64, m.from_bits(F64, register))]


def _doubles(m: Algebra[V], kind: Kind, row: Line, column: Line, c: V) -> V:
    total = m.from_bits(F64, c)
    for (a,), (b,) in zip(row, column):
        total = m.nan_result(F64, m.fma(F64, a, b, total, kind.rounding), b, total, a)
    return m.to_bits(F64, total)


def _usual_doubles(
    m: Algebra[V], kind: Kind, a: Sequence[V], b: Sequence[V], c: Sequence[V]
) -> tuple[list[V], V]:  # fmt: skip
    """Where no sum is a NaN."""
    found: list[V] = []
    columns, lanes = _columns(m, kind, _prepared_double, b), _row_lanes(m)
    for i, row in enumerate(_rows(m, kind, _prepared_double, a)):
        totals = [m.from_bits(F64, value) for value in c[2 * i : 2 * i + 2]]
        for place, (x,) in enumerate(_line(m, row, lanes)):
            for j, column in enumerate(columns):
                totals[j] = m.fma(F64, x, column[place][0], totals[j], kind.rounding)
        found += totals
    rare = reduce(partial(m.or_, PRED), (m.is_nan(F64, total) for total in found))
    return [m.to_bits(F64, total) for total in found], rare


def _prepared_word(m: Algebra[V], t: str, register: V) -> list[tuple[Type, V]]:
    return [(U32, register)]


def _finished(m: Algebra[V], kind: Kind, total: V, c: V) -> V:
    return saturated_add(m, S32, total, c) if kind.operation == "satfinite" else m.add(U32, total, c)


def _bytes(m: Algebra[V], kind: Kind, row: Line, column: Line, c: V) -> V:
    types = [S32 if t.startswith("s") else U32 for t in (kind.a, kind.b)]
    total = _u32(m, 0)
    for (a,), (b,) in zip(row, column):
        total = dp4a(m, types[0], types[1], a, b, total)
    return _finished(m, kind, total, c)


def _prepared_nibbles(m: Algebra[V], t: str, register: V) -> list[tuple[Type, V]]:
    """Four words, each with two elements in its halves: 16 bits hold all sums of their products."""
    return [(U32, m.halfwise(partial(_nibble, t, i), register)) for i in range(4)]


def _nibble(t: str, index: int, m: PureAlgebra[V], a: V) -> V:
    of = S16 if t.startswith("s") else U16
    return m.shift_right(of, m.shift_left(of, a, _u32(m, 12 - 4 * index)), _u32(m, 12))


def _nibbles(m: Algebra[V], kind: Kind, row: Line, column: Line, c: V) -> V:
    factors = [pair for a, b in zip(row, column) for pair in zip(a, b)]
    products = (m.halfwise(_product, *pair) for pair in factors)
    return _finished(m, kind, m.add(S32, *_both(m, _sum, products)), c)


def _bits(m: Algebra[V], kind: Kind, row: Line, column: Line, c: V) -> V:
    combine = m.xor if kind.operation == "xor" else m.and_
    counts = (m.popcount(B32, combine(B32, a, b)) for (a,), (b,) in zip(row, column))
    return reduce(partial(m.add, U32), counts, c)


_FLOATING, _WHOLE = _Method(_prepared_floats, _element, _usual_floats), _Method(_prepared_word, _bytes)
_SHORT, _DOUBLE = _Method(_prepared_nibbles, _nibbles), _Method(_prepared_double, _doubles, _usual_doubles)
_METHODS = {
    "f16": _FLOATING, "bf16": _FLOATING, "tf32": _FLOATING, "f64": _DOUBLE,
    "u8": _WHOLE, "s8": _WHOLE, "u4": _SHORT, "s4": _SHORT, "b1": _Method(_prepared_word, _bits),
}  # fmt: skip
"""By the modifier of the elements of `a`."""
