"""Correctly rounded arithmetic built from integer primitives and round-to-nearest f64 operations.

Written once over the algebra; an engine uses it where its hardware has no correctly rounded
operation of its own. Formats are those of IEEE 754 (f16, f32, f64) and bf16. Two ways:

- f16, bf16 and f32 sums, products and fused multiply-adds are computed in a wider format, where products
  are exact, sums are rounded to odd (so that the second rounding cannot go wrong) and neither overflow
  nor underflow can happen; then they are narrowed.
- f64 fused multiply-adds, all quotients and roots and integer conversions work on a sign, an exponent
  and a 64-bit significand whose lowest bit is sticky, packed by `_pack`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic

from simt.isa.algebra import PureAlgebra, Rounding, V
from simt.isa.column import Column
from simt.ptx.types import BF16, F16, F32, F64, PRED, S64, U64, Type, unsigned
from simt.records import dataclass

_MANTISSA = {F16: 10, BF16: 7, F32: 23, F64: 52}
_FAR_BELOW = -100_000
"""The exponent given to zeros: under that of any product or operand."""


@dataclass(frozen=True, slots=True)
class Format:
    """A binary floating-point format; fields are bit patterns of its width."""

    t: Type
    bits: int
    mantissa: int
    bias: int
    infinity: int
    nan: int

    @property
    def sign(self) -> int:
        return 1 << (self.bits - 1)


def _format(t: Type, mantissa: int) -> Format:
    exponent = t.bits - 1 - mantissa
    infinity = (2**exponent - 1) << mantissa
    return Format(t, t.bits, mantissa, 2 ** (exponent - 1) - 1, infinity, infinity | 1 << (mantissa - 1))


_FORMATS = {t: _format(t, mantissa) for t, mantissa in _MANTISSA.items()}


def format_of(t: Type) -> Format:
    return _FORMATS[t]


def _bits(m: PureAlgebra[V], t: Type, a: V) -> Column[V]:
    return Column(m, unsigned(t.bits), m.to_bits(t, a))


def _truth(p: Column[V], t: Type) -> Column[V]:
    """A predicate as 0 or 1."""
    return Column(p.m, t, p.m.select(t, p.v, p.m.const(t, 1), p.m.const(t, 0)))


# ---------------------------------------------------------------- rounding


def _increment(x: Column[V], cut: int, negative: Column[V], rounding: Rounding) -> Column[V] | int:
    """What rounding adds to `x >> cut`, of a magnitude with the given sign."""
    low = x & (2**cut - 1)
    match rounding:
        case "rz":
            return 0
        case "rn":
            return (low + ((x >> cut) & 1) + (2 ** (cut - 1) - 1)) >> cut
        case "rm":
            return _truth(low.ne(0) & negative, x.t)
        case "rp":
            return _truth(low.ne(0) & ~negative, x.t)


def _overflow(f: Format, like: Column[V], negative: Column[V], rounding: Rounding) -> Column[V]:
    """The magnitude that a result too large for the format becomes."""
    infinity, largest = (like.constant(b) for b in (f.infinity, f.infinity - 1))
    match rounding:
        case "rz":
            return largest
        case "rn":
            return infinity
        case "rm":
            return negative.choose(infinity, largest)
        case "rp":
            return negative.choose(largest, infinity)


def _shift_right_sticky(x: Column[V], n: Column[V]) -> Column[V]:
    """`x >> n` with the lowest bit set if a one was lost."""
    shifted = x >> n
    return shifted | _truth((shifted << n).ne(x), x.t)


# ---------------------------------------------------------------- between formats


def narrow(m: PureAlgebra[V], source: Type, target: Type, a: V, rounding: Rounding) -> V:
    """f32 or f64 to a format of less precision, correctly rounded."""
    s, f = format_of(source), format_of(target)
    x = _bits(m, source, a)
    negative = x.ge(s.sign)
    magnitude = x & (s.sign - 1)
    cut = s.mantissa - f.mantissa
    body = _rebias(s, f, magnitude)
    rounded = (body >> cut) + _increment(body, cut, negative, rounding)
    result = rounded.ge(f.infinity).choose(_overflow(f, x, negative, rounding), rounded)
    result = magnitude.eq(s.infinity).choose(result.constant(f.infinity), result)
    result = magnitude.gt(s.infinity).choose(result.constant(f.nan), result)
    signed = result | ((x & s.sign) >> (s.bits - f.bits))
    narrowed = m.from_bits(target, signed.to(unsigned(f.bits)).v)
    if target != F32:
        return narrowed
    # A NaN as the CPU narrows it, so that it does not depend on what other roundings the CPU has.
    return m.select(target, m.is_nan(source, a), m.float_to_float(source, target, a, "rn"), narrowed)


def _rebias(s: Format, f: Format, magnitude: Column[V]) -> Column[V]:
    """A magnitude with `f`'s exponent and still `s`'s mantissa; what is subnormal in `f` is shifted."""
    rebias = s.bias - f.bias
    if rebias == 0:
        return magnitude
    exponent = magnitude >> s.mantissa
    fraction = (magnitude & (2**s.mantissa - 1)) | (1 << s.mantissa)
    # A subnormal of `s` is so far below that only its being zero or not matters.
    significand = exponent.eq(0).choose(magnitude, fraction)
    small = _shift_right_sticky(significand, (rebias + 1) - exponent)
    return exponent.gt(rebias).choose(magnitude - (rebias << s.mantissa), small)


def widen_half(m: PureAlgebra[V], source: Type, a: V) -> V:
    """f16 or bf16 to f32, exact."""
    x = Column(m, unsigned(16), a).to(unsigned(32))
    if source == BF16:
        return m.from_bits(F32, (x << 16).v)
    f, wide = format_of(F16), format_of(F32)
    cut = wide.mantissa - f.mantissa
    magnitude = (x & (f.sign - 1)) << cut
    rebias = (wide.bias - f.bias) << wide.mantissa
    normal = magnitude + rebias
    special = normal + rebias
    # Subnormals: give them the smallest normal's exponent, then take its implicit one away.
    least = rebias + (1 << wide.mantissa)
    taken = m.fsub(F32, m.from_bits(F32, (magnitude + least).v), m.const(F32, least), "rn")
    small = _bits(m, F32, taken)
    result = magnitude.lt(1 << wide.mantissa).choose(small, normal)
    result = magnitude.ge(f.infinity << cut).choose(special, result)
    return m.from_bits(F32, (result | ((x & f.sign) << 16)).v)


# ---------------------------------------------------------------- by way of a wider format


def _wide(t: Type) -> Type:
    """A native format that holds products of `t` exactly, far from overflow and underflow."""
    return F32 if t == F16 else F64


def odd_sum(m: PureAlgebra[V], w: Type, a: V, b: V, rounding: Rounding) -> V:
    """The sum rounded to odd: exact sums as they are, others to the neighbour with an odd mantissa.

    `rounding` decides only the sign of a zero sum. The operands are far from overflow and underflow, so
    that the error of the sum is itself a sum of differences without error."""
    s = m.fadd(w, a, b, "rn")
    b_part = m.fsub(w, s, a, "rn")
    a_rest = m.fsub(w, a, m.fsub(w, s, b_part, "rn"), "rn")
    error = m.fadd(w, a_rest, m.fsub(w, b, b_part, "rn"), "rn")
    zero = m.const(w, 0)
    bits = _bits(m, w, s)
    inexact = Column(m, PRED, m.compare("ne", w, error, zero))
    inward = Column(m, PRED, m.xor(PRED, m.compare("gt", w, error, zero), m.compare("gt", w, s, zero)))
    odd = inward.choose(bits - 1, bits) | 1
    result = inexact.choose(odd, bits)
    if rounding == "rm":
        both = _bits(m, w, a) | _bits(m, w, b)
        is_zero = (bits << 1).eq(0)
        result = (is_zero & both.ne(0)).choose(result.constant(format_of(w).sign), result)
    return m.from_bits(w, result.v)


def _fma_in_wide(m: PureAlgebra[V], t: Type, a: V, b: V, c: V, rounding: Rounding) -> V:
    w = _wide(t)
    x, y, z = (m.float_to_float(t, w, v, "rn") for v in (a, b, c))
    total = odd_sum(m, w, m.fmul(w, x, y, "rn"), z, rounding)
    return m.float_to_float(w, t, total, rounding)


def _add_in_wide(m: PureAlgebra[V], t: Type, a: V, b: V, rounding: Rounding) -> V:
    w = _wide(t)
    x, y = (m.float_to_float(t, w, v, "rn") for v in (a, b))
    return m.float_to_float(w, t, odd_sum(m, w, x, y, rounding), rounding)


def _mul_in_wide(m: PureAlgebra[V], t: Type, a: V, b: V, rounding: Rounding) -> V:
    w = _wide(t)
    x, y = (m.float_to_float(t, w, v, "rn") for v in (a, b))
    return m.float_to_float(w, t, m.fmul(w, x, y, "rn"), rounding)


def _twice_rounded(operation: Callable[..., V], m: PureAlgebra[V], t: Type, *values: V) -> V:
    """To nearest in f32, then in a half format: right where f32 has twice the digits and two more."""
    wide = (m.float_to_float(t, F32, v, "rn") for v in values)
    return m.float_to_float(F32, t, operation(F32, *wide, "rn"), "rn")


# ---------------------------------------------------------------- sign, exponent, significand


@dataclass(frozen=True, slots=True)
class _Parts(Generic[V]):
    """|value| = significand * 2^(exponent - 63). The top bit of the significand is set unless it is 0.

    `exponent` is .s64, `significand` .u64."""

    negative: Column[V]
    exponent: Column[V]
    significand: Column[V]
    finite: Column[V]


def _unpack(m: PureAlgebra[V], t: Type, a: V) -> _Parts[V]:
    f = format_of(t)
    x = _bits(m, t, a).to(U64)
    magnitude = x & (f.sign - 1)
    exponent = magnitude >> f.mantissa
    subnormal = exponent.eq(0)
    fraction = (magnitude & (2**f.mantissa - 1)) | (1 << f.mantissa)
    significand = subnormal.choose(magnitude, fraction)
    zeros = significand.leading_zeros()
    scale = subnormal.choose(exponent + 1, exponent) + (63 - f.bias - f.mantissa)
    scale = magnitude.eq(0).choose(scale.constant(_FAR_BELOW), scale - zeros)
    finite = magnitude.lt(f.infinity)
    return _Parts(x.ge(f.sign), scale.like(S64), significand << zeros, finite)


def _pack(t: Type, x: _Parts[V], rounding: Rounding) -> V:
    """The value of non-zero parts in format `t`, rounded. The lowest bit of the significand is sticky."""
    f = format_of(t)
    m = x.significand.m
    biased = x.exponent + f.bias
    small = biased.lt(1)
    shift = small.choose(1 - biased, 0)
    shift = shift.gt(64).choose(shift.constant(64), shift)
    significand = _shift_right_sticky(x.significand, shift)
    base = small.choose(biased.constant(0), biased - 1).like(U64) << f.mantissa
    cut = 63 - f.mantissa
    rounded = base + (significand >> cut) + _increment(significand, cut, x.negative, rounding)
    too_large = rounded.ge(f.infinity) | biased.gt(f.infinity >> f.mantissa)
    result = too_large.choose(_overflow(f, rounded, x.negative, rounding), rounded)
    signed = result | x.negative.choose(result.constant(f.sign), 0)
    return m.from_bits(t, signed.to(unsigned(f.bits)).v)


def _with_residue(root: Column[V], residue: Column[V]) -> Column[V]:
    """A 53-bit result `root` moved to the top, with a sticky step towards the sign of `residue` (.s64)."""
    wide = root << 11
    return residue.gt(0).choose(wide + 1, residue.lt(0).choose(wide - 1, wide))


def _as_f64(x: Column[V], exponent: Column[V] | int) -> V:
    """A normalised significand (of at most 53 bits) as an f64 in [1, 2) * 2^exponent."""
    field = ((x << 1) >> 12) + (1023 << 52)
    shift = exponent << 52 if isinstance(exponent, int) else exponent.like(U64) << 52
    return x.m.from_bits(F64, (field + shift).v)


def _significand(m: PureAlgebra[V], a: V) -> tuple[Column[V], Column[V]]:
    """The 53-bit significand and the unbiased exponent (.u64) of a normal positive f64."""
    bits = _bits(m, F64, a)
    return (bits & (2**52 - 1)) | (1 << 52), (bits >> 52) - 1023


# ---------------------------------------------------------------- operations


def fma(m: PureAlgebra[V], t: Type, a: V, b: V, c: V, rounding: Rounding) -> V:
    """a * b + c rounded once."""
    if t == F64:
        return _fma_f64(m, a, b, c, rounding)
    return _fma_in_wide(m, t, a, b, c, rounding)


def add(m: PureAlgebra[V], t: Type, a: V, b: V, rounding: Rounding) -> V:
    if t == F64:
        return _fma_f64(m, a, m.const(F64, 1023 << 52), b, rounding)
    if rounding == "rn" and t != F32:  # bf16 sums that are subnormal are exact in f32
        return _twice_rounded(m.fadd, m, t, a, b)
    return _add_in_wide(m, t, a, b, rounding)


def sub(m: PureAlgebra[V], t: Type, a: V, b: V, rounding: Rounding) -> V:
    negated = m.from_bits(t, (_bits(m, t, b) ^ format_of(t).sign).v)
    return add(m, t, a, m.select(t, m.is_nan(t, b), b, negated), rounding)


def mul(m: PureAlgebra[V], t: Type, a: V, b: V, rounding: Rounding) -> V:
    if t != F64:
        return _mul_in_wide(m, t, a, b, rounding)
    # A zero with the product's sign changes nothing, not even the sign of a zero product.
    zero = (_bits(m, F64, a) ^ _bits(m, F64, b)) & (1 << 63)
    return _fma_f64(m, a, b, m.from_bits(F64, zero.v), rounding)


def round_integral(m: PureAlgebra[V], t: Type, a: V, rounding: Rounding) -> V:
    """f32 or f64 to an integral value. Adding 2^mantissa rounds a smaller magnitude to nearest."""
    f = format_of(t)
    bits = _bits(m, t, a)
    magnitude = bits & (f.sign - 1)
    size, large = m.from_bits(t, magnitude.v), m.const(t, (f.bias + f.mantissa) << f.mantissa)
    nearest = m.fsub(t, m.fadd(t, size, large, "rn"), large, "rn")
    one = m.const(t, f.bias << f.mantissa)
    lower = m.select(t, m.compare("gt", t, nearest, size), m.fsub(t, nearest, one, "rn"), nearest)
    upper = m.select(t, m.compare("lt", t, nearest, size), m.fadd(t, nearest, one, "rn"), nearest)
    negative = bits.ge(f.sign).v
    match rounding:
        case "rn":
            rounded = nearest
        case "rz":
            rounded = lower
        case "rm":
            rounded = m.select(t, negative, upper, lower)
        case "rp":
            rounded = m.select(t, negative, lower, upper)
    signed = m.from_bits(t, (_bits(m, t, rounded) | (bits & f.sign)).v)
    return m.select(t, m.compare("lt", t, size, large), signed, a)


def div(m: PureAlgebra[V], t: Type, a: V, b: V, rounding: Rounding) -> V:
    if rounding == "rn" and t == F16:
        return _twice_rounded(m.fdiv, m, t, a, b)
    x, y = _unpack(m, t, a), _unpack(m, t, b)
    quotient = m.fdiv(F64, _as_f64(x.significand, 0), _as_f64(y.significand, 0), "rn")
    q, exponent = _significand(m, quotient)
    # The residue is below 2^53 in magnitude, so it may be computed modulo 2^64.
    residue = ((x.significand >> 11) << (52 - exponent)) - q * (y.significand >> 11)
    parts = _Parts(
        x.negative ^ y.negative,
        x.exponent - y.exponent + exponent.like(S64),
        _with_residue(q, residue.like(S64)),
        x.finite,
    )
    ordinary = x.finite & y.finite & x.significand.ne(0) & y.significand.ne(0)
    return _unless(ordinary, t, _pack(t, parts, rounding), _by_f64(m, t, a, b))


def _by_f64(m: PureAlgebra[V], t: Type, a: V, b: V) -> V:
    """A quotient with a zero, infinite or NaN operand: it needs no rounding."""
    x, y = (m.float_to_float(t, F64, v, "rn") for v in (a, b))
    return m.float_to_float(F64, t, m.fdiv(F64, x, y, "rn"), "rn")


def sqrt(m: PureAlgebra[V], t: Type, a: V, rounding: Rounding) -> V:
    if rounding == "rn" and t == F16:
        return _twice_rounded(m.fsqrt, m, t, a)
    x = _unpack(m, t, a)
    odd = x.exponent & 1
    root, _ = _significand(m, m.fsqrt(F64, _as_f64(x.significand, odd), "rn"))
    residue = ((x.significand >> 11) << (odd + 52)) - root * root
    parts = _Parts(x.negative, x.exponent >> 1, _with_residue(root, residue.like(S64)), x.finite)
    ordinary = x.finite & x.significand.ne(0) & ~x.negative
    other = m.float_to_float(F64, t, m.fsqrt(F64, m.float_to_float(t, F64, a, "rn"), "rn"), "rn")
    return _unless(ordinary, t, _pack(t, parts, rounding), other)


def _unless(ordinary: Column[V], t: Type, a: V, b: V) -> V:
    return ordinary.m.select(t, ordinary.v, a, b)


def from_int(m: PureAlgebra[V], source: Type, target: Type, a: V, rounding: Rounding) -> V:
    """An integer of up to 64 bits in a floating-point format, rounded once."""
    wide = Column(m, source, a).to(S64 if source.is_signed else U64)
    negative = wide.lt(0)
    x = wide.like(U64)
    magnitude = negative.choose(0 - x, x)
    zeros = magnitude.leading_zeros()
    parts = _Parts(negative, (63 - zeros).like(S64), magnitude << zeros, negative)
    return _unless(magnitude.ne(0), target, _pack(target, parts, rounding), m.const(target, 0))


# ---------------------------------------------------------------- fma in 128 bits


@dataclass(frozen=True, slots=True)
class _Wide(Generic[V]):
    """A 128-bit integer in two .u64 columns. Shift amounts are below 2^31."""

    high: Column[V]
    low: Column[V]

    def __lshift__(self, n: Column[V]) -> _Wide[V]:
        carried = (self.low >> (64 - n)) | (self.low << (n - 64))
        return _Wide((self.high << n) | carried, self.low << n)

    def __rshift__(self, n: Column[V]) -> _Wide[V]:
        carried = (self.high << (64 - n)) | (self.high >> (n - 64))
        return _Wide(self.high >> n, (self.low >> n) | carried)

    def __add__(self, other: _Wide[V]) -> _Wide[V]:
        low = self.low + other.low
        return _Wide(self.high + other.high + _truth(low.lt(self.low), U64), low)

    def __sub__(self, other: _Wide[V]) -> _Wide[V]:
        borrow = _truth(self.low.lt(other.low), U64)
        return _Wide(self.high - other.high - borrow, self.low - other.low)

    def shift_right_sticky(self, n: Column[V]) -> _Wide[V]:
        shifted = self >> n
        back = shifted << n
        lost = back.high.ne(self.high) | back.low.ne(self.low)
        return _Wide(shifted.high, shifted.low | _truth(lost, U64))

    def leading_zeros(self) -> Column[V]:
        return self.high.eq(0).choose(self.low.leading_zeros() + 64, self.high.leading_zeros())


def _pick(p: Column[V], a: _Wide[V], b: _Wide[V]) -> _Wide[V]:
    return _Wide(p.choose(a.high, b.high), p.choose(a.low, b.low))


def _fma_f64(m: PureAlgebra[V], a: V, b: V, c: V, rounding: Rounding) -> V:
    x, y, z = (_unpack(m, F64, v) for v in (a, b, c))
    negative = x.negative ^ y.negative
    # Bit 125 of both addends weighs 2^exponent; no ones are lost by the shifts by 2.
    two = x.significand.constant(2)
    product = _Wide(x.significand.mul_high(y.significand), x.significand * y.significand) >> two
    addend = _Wide(z.significand >> 2, z.significand.constant(0))
    total, exponent, flipped = _aligned_sum(
        product, x.exponent + y.exponent + 1, addend, z.exponent, negative ^ z.negative
    )
    zeros = total.leading_zeros()
    normal = total << zeros
    significand = normal.high | _truth(normal.low.ne(0), U64)
    parts = _Parts(negative ^ flipped, exponent - zeros.like(S64) + 2, significand, x.finite)
    exact_zero = _zero(negative, z.negative, rounding)
    finite = _unless(significand.ne(0), F64, _pack(F64, parts, rounding), exact_zero)
    return _unless(x.finite & y.finite & z.finite, F64, finite, _fma_special(m, a, b, c, x.finite & y.finite))


def _aligned_sum(
    a: _Wide[V], a_exponent: Column[V], b: _Wide[V], b_exponent: Column[V], subtract: Column[V]
) -> tuple[_Wide[V], Column[V], Column[V]]:
    """|a + b| or |a - b| at the larger exponent; whether `a - b` was negative."""
    distance = a_exponent - b_exponent
    a_larger = distance.ge(0)
    large = _pick(a_larger, a, b)
    small = _pick(a_larger, b, a)
    amount = a_larger.choose(distance, 0 - distance)
    amount = amount.gt(128).choose(amount.constant(128), amount).like(U64)
    small = small.shift_right_sticky(amount)
    difference = large - small
    below = difference.high.like(S64).lt(0)
    magnitude = _pick(below, small - large, difference)
    total = _pick(subtract, magnitude, large + small)
    return total, a_larger.choose(a_exponent, b_exponent), subtract & (below ^ ~a_larger)


def _zero(a_negative: Column[V], b_negative: Column[V], rounding: Rounding) -> V:
    """The sum of two values that cancel, or of two zeros."""
    m = a_negative.m
    negative = a_negative | b_negative if rounding == "rm" else a_negative & b_negative
    return m.select(F64, negative.v, m.const(F64, 1 << 63), m.const(F64, 0))


def _fma_special(m: PureAlgebra[V], a: V, b: V, c: V, finite_factors: Column[V]) -> V:
    """With an infinity or NaN among the operands; a finite product must not overflow before the sum."""
    total = m.fadd(F64, m.fmul(F64, a, b, "rn"), c, "rn")
    return m.select(F64, finite_factors.v, m.fadd(F64, c, c, "rn"), total)
