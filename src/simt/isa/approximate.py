"""The approximate functions, written once over the algebra: branch-free and alike on every lane.

Bounds and special cases are those of PTX 1.4 tables 43 and 48 to 54. Operands arrive flushed, and
results are flushed by the caller, where `.ftz` asks for it. Polynomial coefficients are our own minimax
fits (Remez, relative or absolute error as noted), rounded to single precision, highest degree last.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from simt.isa.algebra import Algebra, V
from simt.isa.derived import (
    SIGNIFICAND,
    copy_sign,
    float_abs,
    float_bits,
    float_neg,
    infinity,
    number,
    outside,
    quiet_nan,
    twice_product,
)  # fmt: skip
from simt.ptx.types import B32, F32, F64, PRED, S32, U32, Type, unsigned


def polynomial(m: Algebra[V], x: V, coefficients: Sequence[float], t: Type = F32) -> V:
    """Horner's rule with fused steps; the constant term comes first."""
    *lower, highest = coefficients
    result = number(m, t, highest)
    for c in reversed(lower):
        result = m.fma(t, result, x, number(m, t, c), "rn")
    return result


# ---------------------------------------------------------------- reciprocals, roots, quotients


def reciprocal(m: Algebra[V], t: Type, a: V) -> V:
    """1/a; a correctly rounded division is fast enough on CPUs."""
    return m.fdiv(t, number(m, t, 1.0), a, "rn")


ROOT_GUESS = {F32: 0x5F336000, F64: 0x5FE6EA << 40}
"""Minus half the exponent, and a first guess at the mantissa: `ROOT_GUESS` - bits / 2. With e = 1 - a y^2
from -0.026 to 0.099 for `.f32`, within 0.069 for `.f64`."""

ROOT_STEPS = {
    F32: ((0.5000017285346985, 0.37498870491981506, 0.30999487638473511, 0.32470384240150452),),
    F64: ((0.5011005789339908, 0.3756878502809226), (0.5, 0.375, 0.3125)),
}
"""((1 - e)^(-1/2) - 1) / e in e, for each step from y to y + y e (...): our minimax fits for the e that the
guess leaves (relative error 2^-25.7 for `.f32`, 2^-15.2 for `.f64`), the series for the second step."""


def reciprocal_root(m: Algebra[V], t: Type, a: V) -> V:
    """1/sqrt(a), within 1.5 ulp; infinity of the zero's sign for zeros.

    The same steps on every CPU, so that all give the same bits: faster than a root and a division."""
    bits, u = m.to_bits(t, a), unsigned(t.bits)
    half = m.shift_right(u, bits, m.const(U32, 1))
    y = m.from_bits(t, m.sub(u, m.const(u, ROOT_GUESS[t]), half))
    for series in ROOT_STEPS[t]:
        e = m.fma(t, m.fmul(t, float_neg(m, t, a), y, "rn"), y, number(m, t, 1.0), "rn")
        y = m.fma(t, m.fmul(t, e, y, "rn"), polynomial(m, e, series, t), y, "rn")
    return m.rarely(t, is_special(m, t, a), y, partial(plain_reciprocal_root, t), a)


def plain_reciprocal_root(t: Type, m: Algebra[V], a: V) -> V:
    return m.fdiv(t, number(m, t, 1.0), m.fsqrt(t, a, "rn"), "rn")


def is_special(m: Algebra[V], t: Type, a: V) -> V:
    """Whether a number is not positive, normal and finite."""
    return outside(m, unsigned(t.bits), m.to_bits(t, a), 1 << SIGNIFICAND[t], infinity(t))


LARGEST_DIVISOR = 2.0**126


def quotient(m: Algebra[V], a: V, b: V) -> V:
    """a/b within 2 ulp, but a times zero for |b| above 2^126, whose reciprocal would be subnormal."""
    large = m.compare("gt", F32, float_abs(m, F32, b), number(m, F32, LARGEST_DIVISOR))
    return m.rarely(F32, large, m.fdiv(F32, a, b, "rn"), nothing, a, b)


def nothing(m: Algebra[V], a: V, b: V) -> V:
    """a times a zero with the sign of b."""
    return m.fmul(F32, a, copy_sign(m, F32, m.const(F32, 0), b), "rn")


# ---------------------------------------------------------------- sine and cosine

HALF_PI = (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15)
"""pi/2 as a sum of three single-precision numbers."""

TWO_OVER_PI = 0.6366197466850281
TURN = 0.15915493667125702
"""1/(2 pi) in single precision."""

LARGEST_ANGLE = 8.0
"""From here on angles are reduced as the H200 does it, with all its error, up to half a turn and more."""
SINE = (-0.16666653752326965, 0.008332083001732826, -0.00019504317606333643)
"""(sin(r)/r - 1) / r^2 in r^2 for |r| up to pi/4: absolute error of the sine 2^-27.8."""

COSINE = (0.04166664555668831, -0.0013887243112549186, 2.4423889044555835e-05)
"""(cos(r) - 1 + r^2/2) / r^4 in r^2 for |r| up to pi/4: absolute error 2^-33."""


def sine(m: Algebra[V], a: V) -> V:
    """sin(a), absolute error below 2^-22 for |a| up to 8, |a| 2^-24 above; NaN for infinities."""
    result = of_angle(m, float_abs(m, F32, a), 0)
    flip = m.and_(B32, m.to_bits(F32, a), m.const(B32, 1 << 31))
    return m.from_bits(F32, m.xor(B32, m.to_bits(F32, result), flip))


def cosine(m: Algebra[V], a: V) -> V:
    """cos(a), absolute error below 2^-22 for |a| up to 8, |a| 2^-24 above; NaN for infinities."""
    return of_angle(m, float_abs(m, F32, a), 1)


def of_angle(m: Algebra[V], a: V, quarters: int) -> V:
    """sin(a + quarters pi/2) for a >= 0."""
    large = m.invert(PRED, m.compare("lt", F32, a, number(m, F32, LARGEST_ANGLE)))
    return m.rarely(F32, large, of_small_angle(m, a, quarters), partial(of_large_angle, quarters=quarters), a)


def of_small_angle(m: Algebra[V], a: V, quarters: int) -> V:
    k, quadrant = nearest_integer(m, m.fmul(F32, a, number(m, F32, TWO_OVER_PI), "rn"))
    rest = a
    for piece in HALF_PI:
        rest = m.fma(F32, k, number(m, F32, -piece), rest, "rn")
    return by_quadrant(m, m.add(U32, quadrant, m.const(U32, quarters)), rest)


def of_large_angle(m: Algebra[V], a: V, quarters: int) -> V:
    """By the fraction of a turn."""
    turns = m.fmul(F32, a, number(m, F32, TURN), "rz")
    part = m.fsub(F32, turns, m.round_integral(F32, turns, "rn"), "rn")
    k, quadrant = nearest_integer(m, m.fmul(F32, part, number(m, F32, 4.0), "rn"))
    rest = m.fma(F32, k, number(m, F32, -0.25), part, "rn")
    rest = m.fmul(F32, rest, number(m, F32, 2 * math.pi), "rn")
    return by_quadrant(m, m.add(U32, quadrant, m.const(U32, quarters)), rest)


ROUNDER = 1.5 * 2**23
"""Added to a number below 2^22, it leaves the nearest integer in the sum's low bits."""


def nearest_integer(m: Algebra[V], a: V) -> tuple[V, V]:
    """The integer nearest to a number below 2^22, as `.f32` and modulo 2^22 in the low bits of a `.u32`."""
    sum_ = m.fadd(F32, a, number(m, F32, ROUNDER), "rn")
    return m.fsub(F32, sum_, number(m, F32, ROUNDER), "rn"), m.to_bits(F32, sum_)


def by_quadrant(m: Algebra[V], quadrant: V, r: V) -> V:
    """sin(r + quadrant * pi/2)."""
    z = m.fmul(F32, r, r, "rn")
    sin = m.fma(F32, m.fmul(F32, z, r, "rn"), polynomial(m, z, SINE), r, "rn")
    tail = m.fma(F32, z, polynomial(m, z, COSINE), number(m, F32, -0.5), "rn")
    cos = m.fma(F32, z, tail, number(m, F32, 1.0), "rn")
    odd = m.compare("ne", U32, m.and_(U32, quadrant, m.const(U32, 1)), m.const(U32, 0))
    sign = m.shift_left(U32, m.and_(U32, quadrant, m.const(U32, 2)), m.const(U32, 30))
    return m.from_bits(F32, m.xor(U32, m.to_bits(F32, m.select(F32, odd, cos, sin)), sign))


# ---------------------------------------------------------------- logarithm and exponential

LOGARITHM = (2.885390043258667, 0.9617988467216492, 0.5767129063606262, 0.43177634477615356)
"""2 artanh(s) / (s ln 2) in s^2 for |s| up to 0.172: relative error 2^-30."""

ROOT_HALF_BITS = 0x3F3504F3
SUBNORMAL_SCALE = 24


def logarithm(m: Algebra[V], a: V, subnormals: bool) -> V:
    """log2(a): absolute error 2^-23 for 1/2 < a < 2, relative elsewhere; -infinity for zeros, NaN below."""
    other = partial(rare_logarithm, subnormals=subnormals)
    return m.rarely(F32, is_special(m, F32, a), normal_logarithm(m, a, None), other, a)


def normal_logarithm(m: Algebra[V], a: V, shift: V | None) -> V:
    """log2(a) + shift for a positive normal number."""
    exponent, mantissa = split(m, a)
    f = m.fsub(F32, mantissa, number(m, F32, 1.0), "rn")
    s = m.fdiv(F32, f, m.fadd(F32, mantissa, number(m, F32, 1.0), "rn"), "rn")
    series = polynomial(m, m.fmul(F32, s, s, "rn"), LOGARITHM)
    return m.fma(F32, s, series, exponent if shift is None else m.fadd(F32, exponent, shift, "rn"), "rn")


def rare_logarithm(m: Algebra[V], a: V, subnormals: bool) -> V:
    """log2 of what is not a positive normal number."""
    if not subnormals:
        return logarithm_edges(m, a, a)
    scaled = m.fmul(F32, a, number(m, F32, 2.0**SUBNORMAL_SCALE), "rn")
    return logarithm_edges(m, a, normal_logarithm(m, scaled, number(m, F32, -float(SUBNORMAL_SCALE))))


def split(m: Algebra[V], a: V) -> tuple[V, V]:
    """a = 2^e * f with f from sqrt(1/2) to sqrt(2), both as `.f32`, for positive normal a."""
    bits = m.to_bits(F32, a)
    offset = m.sub(U32, bits, m.const(U32, ROOT_HALF_BITS))
    exponent = m.shift_right(S32, offset, m.const(U32, 23))
    fraction = m.sub(U32, bits, m.shift_left(U32, exponent, m.const(U32, 23)))
    return m.int_to_float(S32, F32, exponent, "rn"), m.from_bits(F32, fraction)


def logarithm_edges(m: Algebra[V], a: V, result: V) -> V:
    """The result for positive finite numbers, else what the special cases of table 53 say."""
    zero, inf = m.const(F32, 0), m.const(F32, infinity(F32))
    minus_inf = m.const(F32, infinity(F32) | 1 << 31)
    below = m.select(F32, m.compare("eq", F32, a, zero), minus_inf, m.const(F32, quiet_nan(F32)))
    finite = m.select(F32, m.compare("lt", F32, a, inf), result, a)
    return m.select(F32, m.compare("le", F32, a, zero), below, finite)


EXPONENTIAL = (
    1.0, 0.6931471824645996, 0.24022650718688965, 0.055503278970718384, 0.009618003852665424,
    0.001340026967227459, 0.0001547630236018449,
)  # fmt: skip
"""2^f for |f| up to 1/2: relative error 2^-29."""


LARGEST_EXPONENT = 125.0
"""Up to here powers of two and their reciprocals are normal numbers, whatever the fraction."""


def exponential(m: Algebra[V], a: V, ftz: bool) -> V:
    """2^a, relative error below 2^-22.5; subnormals are correctly rounded, or flushed if `ftz`."""
    whole, integer = nearest_integer(m, a)
    power = polynomial(m, m.fsub(F32, a, whole, "rn"), EXPONENTIAL)
    scaled = m.add(U32, m.to_bits(F32, power), m.shift_left(U32, integer, m.const(U32, 23)))
    near = m.compare("le", F32, float_abs(m, F32, a), number(m, F32, LARGEST_EXPONENT))
    return m.rarely(F32, m.invert(PRED, near), m.from_bits(F32, scaled), partial(far_exponential, ftz), a)


def far_exponential(ftz: bool, m: Algebra[V], a: V) -> V:
    """2^a where that may overflow or underflow, and for NaN."""
    low, high = number(m, F32, -160.0), number(m, F32, 130.0)
    limited = m.fmin(F32, m.fmax(F32, a, low), high)
    whole, integer = nearest_integer(m, limited)
    power = polynomial(m, m.fsub(F32, limited, whole, "rn"), EXPONENTIAL)
    exponent = m.sub(S32, integer, m.const(S32, float_bits(F32, ROUNDER)))
    half = m.shift_right(S32, exponent, m.const(U32, 1))
    scaled = m.fmul(F32, power, power_of_two(m, half), "rn")
    rest = power_of_two(m, m.sub(S32, exponent, half))
    result = m.fmul(F32, scaled, rest, "rn")
    if ftz:
        result = m.flush_result(F32, result, partial(twice_product, F32, "rn"), scaled, rest)
    return m.select(F32, m.is_nan(F32, a), m.const(F32, quiet_nan(F32)), result)


def power_of_two(m: Algebra[V], n: V) -> V:
    """2^n as `.f32` for an integer n from -126 to 127."""
    biased = m.add(S32, n, m.const(S32, 127))
    return m.from_bits(F32, m.shift_left(U32, biased, m.const(U32, 23)))


# ---------------------------------------------------------------- hyperbolic tangent

HYPERBOLIC_TANGENT = (-0.33332622051239014, 0.13313521444797516, -0.052231110632419586, 0.015640484169125557)
"""(tanh(x)/x - 1) / x^2 in x^2 for |x| up to 0.6: relative error 2^-23."""

TWO_OVER_LN2 = 2.885390043258667


def hyperbolic_tangent(m: Algebra[V], a: V) -> V:
    """tanh(a), relative error below 2^-20 (2^-11 is allowed); subnormals stay as they are."""
    z = m.fmul(F32, a, a, "rn")
    near = m.fma(F32, m.fmul(F32, z, a, "rn"), polynomial(m, z, HYPERBOLIC_TANGENT), a, "rn")
    magnitude = float_abs(m, F32, a)
    power = exponential(m, m.fmul(F32, magnitude, number(m, F32, TWO_OVER_LN2), "rn"), False)
    part = m.fdiv(F32, number(m, F32, 2.0), m.fadd(F32, power, number(m, F32, 1.0), "rn"), "rn")
    far = m.fsub(F32, number(m, F32, 1.0), part, "rn")
    found = m.select(F32, m.compare("lt", F32, magnitude, number(m, F32, 0.6)), near, far)
    return copy_sign(m, F32, found, a)  # of zeros, too
