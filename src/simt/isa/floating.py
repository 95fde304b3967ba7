"""Floating-point instructions for .f32 and .f64 (PTX 1.4 section 7.7.2 and later versions).

Legacy spellings of PTX 1.0 to 1.3 (`div.f32`, `rcp.f64` ...) are forms with `until="1.3"` and the
defaults that the tables give them. Flushing that the language implies is bound by `simt.isa.select`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from simt.imports import Later
from simt.isa.algebra import Algebra, Environment, Rounding, V
from simt.isa.catalogue import instruction
from simt.isa.derived import (
    copy_sign,
    finish,
    finish_rounded,
    float_abs,
    float_neg,
    flush_if,
    flush_result,
    infinity,
    number,
    quiet_nan,
    sign_mask,
    twice_fused,
    twice_product,
    twice_quotient,
    with_bits,
)
from simt.ptx.types import B64, F32, F64, PRED, Type, bits_type, unsigned

if TYPE_CHECKING:
    from simt.isa import approximate, special, special_code
else:
    approximate = Later("simt.isa.approximate")
    special = Later("simt.isa.special")
    special_code = Later("simt.isa.special_code")

ROUNDINGS = "rn rz rm rp"
FTZ = {"ftz": "1.4"}
DIRECTED = {"rz": "2.0 sm_20", "rm": "2.0 sm_20", "rp": "2.0 sm_20"}
ROUNDED_MAD = dict.fromkeys(ROUNDINGS.split(), "1.2")
"""Section 10.4.3: PTX 1.1, and by an erratum 1.0, has no rounding of `mad`."""
FLUSHED = {"ftz": True}
PLAIN = {"ftz": False, "sat": False}
NEAREST = {"rnd": "rn", **PLAIN}


# ---------------------------------------------------------------- add, sub, mul, fma, mad


@instruction(
    "add[.rnd].f64 d, a, b", rnd=ROUNDINGS, since="1.0 sm_13", ref="PTX 1.4 table 38", defaults=PLAIN,
    contraction="sum",
)  # fmt: skip
@instruction(
    "add[.rnd][.ftz][.sat].f32 d, a, b", rnd=ROUNDINGS, requires=FTZ, ref="PTX 1.4 table 38",
    contraction="sum",
)  # fmt: skip
def add(m: Algebra[V], t: Type, a: V, b: V, rnd: Rounding | None, ftz: bool, sat: bool) -> V:
    """Sum, rounded to nearest even unless the modifier says otherwise.

    `.ftz` takes subnormal operands as zeros of their sign and gives such a zero for a subnormal result;
    single precision in PTX 1.x always does. `.sat` limits the result to [0, 1] and makes a NaN zero. A NaN
    result of `.f32` is always 0x7fffffff; one of `.f64` keeps the operand's digits (H200).
    """
    a, b = flush_if(m, t, ftz, a, b)
    return finish(m, t, m.fadd(t, a, b, rnd or "rn"), ftz, sat, b, a)


@instruction(
    "sub[.rnd].f64 d, a, b", rnd=ROUNDINGS, since="1.0 sm_13", ref="PTX 1.4 table 39", defaults=PLAIN,
    contraction="difference",
)  # fmt: skip
@instruction(
    "sub[.rnd][.ftz][.sat].f32 d, a, b", rnd=ROUNDINGS, requires=FTZ, ref="PTX 1.4 table 39",
    contraction="difference",
)  # fmt: skip
def sub(m: Algebra[V], t: Type, a: V, b: V, rnd: Rounding | None, ftz: bool, sat: bool) -> V:
    """Difference, rounded to nearest even unless the modifier says otherwise.

    Modifiers and NaNs as for `add`.
    """
    a, b = flush_if(m, t, ftz, a, b)
    return finish(m, t, m.fsub(t, a, b, rnd or "rn"), ftz, sat, b, a)


@instruction(
    "mul[.rnd].f64 d, a, b", rnd=ROUNDINGS, since="1.0 sm_13", ref="PTX 1.4 table 40", defaults=PLAIN,
    contraction="product",
)  # fmt: skip
@instruction(
    "mul[.rnd][.ftz][.sat].f32 d, a, b", rnd=ROUNDINGS, requires=FTZ, ref="PTX 1.4 table 40",
    contraction="product",
)  # fmt: skip
def mul(m: Algebra[V], t: Type, a: V, b: V, rnd: Rounding | None, ftz: bool, sat: bool) -> V:
    """Product, rounded to nearest even unless the modifier says otherwise.

    Modifiers and NaNs as for `add`. A zero times an infinity is NaN.
    """
    a, b = flush_if(m, t, ftz, a, b)
    product = m.fmul(t, a, b, rnd or "rn")
    return finish_rounded(m, t, product, ftz, sat, partial(twice_product, t, rnd or "rn"), a, b)


@instruction("mad.rnd[.ftz][.sat].f32 d, a, b, c", rnd=ROUNDINGS, since="2.0 sm_20", ref="PTX ISA 2.0 mad")
@instruction("mad.f64 d, a, b, c", since="1.0 sm_13", until="1.3", defaults=NEAREST, ref="PTX 1.4 table 42")
@instruction(
    "mad.rnd.f64 d, a, b, c", rnd=ROUNDINGS, since="1.0 sm_13", defaults=PLAIN, ref="PTX 1.4 table 42"
)
@instruction(
    "fma.rnd.f64 d, a, b, c", rnd=ROUNDINGS, since="1.4 sm_13", defaults=PLAIN, ref="PTX 1.4 table 41",
    contraction="fused",
)  # fmt: skip
@instruction(
    "fma.rnd[.ftz][.sat].f32 d, a, b, c", rnd=ROUNDINGS, since="2.0 sm_20", ref="PTX ISA 2.0 fma",
    contraction="fused",
)  # fmt: skip
def fma(m: Algebra[V], t: Type, a: V, b: V, c: V, rnd: Rounding, ftz: bool, sat: bool) -> V:
    """Product plus a third value, rounded once.

    The product is exact before the sum is rounded. Modifiers and NaNs as for `add`.
    """
    a, b, c = flush_if(m, t, ftz, a, b, c)
    return finish_rounded(m, t, m.fma(t, a, b, c, rnd), ftz, sat, partial(twice_fused, t, rnd), a, b, c)


@instruction(
    "mad[.rnd][.ftz][.sat].f32 d, a, b, c", rnd=ROUNDINGS, until="1.4 sm_13", requires=FTZ | ROUNDED_MAD,
    ref="PTX 1.4 table 42",
)  # fmt: skip
def mad(
    m: Algebra[V], a: V, b: V, c: V, rnd: Rounding | None, ftz: bool, sat: bool, env: Environment
) -> V:  # fmt: skip
    """Product plus a third value: fused from compute capability 2.0 on, else of a truncated product.

    On a device before 2.0 the product keeps its highest 24 bits, cut and not rounded, before the sum is
    rounded. Newer devices, and so an H200 that runs a module of PTX 1.4, round once.
    """
    a, b, c = flush_if(m, F32, ftz, a, b, c)
    if env.machine < 20:
        a, b, c = (m.any_nan(F32, x) for x in (a, b, c))
        return finish(m, F32, truncating_mad(m, a, b, c, rnd or "rn", ftz), ftz, sat)
    return fma(m, F32, a, b, c, rnd or "rn", ftz, sat)


def truncating_mad(m: Algebra[V], a: V, b: V, c: V, rnd: Rounding, ftz: bool) -> V:
    """The product cut to 24 significant bits, its exponent unlimited, plus c (notes of table 42)."""
    wide_a, wide_b, wide_c = (m.float_to_float(F32, F64, x, "rn") for x in (a, b, c))
    exact = m.fmul(F64, wide_a, wide_b, "rn")
    dropped = 52 - 23
    cut = with_bits(m, F64, exact, lambda u, x: m.and_(u, x, m.const(u, (1 << 64) - (1 << dropped))))
    total = m.float_to_float(F64, F32, m.fadd(F64, cut, wide_c, rnd), rnd)
    separate = m.fadd(F32, flush_if(m, F32, ftz, m.fmul(F32, a, b, rnd))[0], c, rnd)
    return m.select(F32, m.compare("eq", F32, c, m.const(F32, 0)), separate, total)


# ---------------------------------------------------------------- division


@instruction("div.approx[.ftz].f32 d, a, b", since="1.4", ref="PTX 1.4 table 43", defaults={"sat": False})
@instruction("div[.sat].f32 d, a, b", until="1.3", defaults=FLUSHED, ref="PTX 1.4 table 43")
def div_approx(m: Algebra[V], a: V, b: V, ftz: bool, sat: bool, env: Environment) -> V:
    """Fast quotient, the dividend times an approximate reciprocal.

    Within 2 ulp for divisors of magnitude 2^-126 to 2^126. Above that an infinite dividend gives NaN and
    other ones zero.
    """
    a, b = flush_if(m, F32, ftz, a, b)
    if env.approx == "hardware":
        return finish(m, F32, special_code.divide(m, a, m.any_nan(F32, b), ftz), False, sat, a, b)
    result = approximate.quotient(m, m.any_nan(F32, a), m.any_nan(F32, b))
    return finish_rounded(m, F32, result, ftz, sat, partial(twice_quotient, F32, "rn"), a, b)


@instruction("div.full[.ftz].f32 d, a, b", since="1.4", ref="PTX 1.4 table 43")
def div_full(m: Algebra[V], a: V, b: V, ftz: bool, env: Environment) -> V:
    """Quotient within 2 ulp over the whole range.

    Unlike `div.approx` it scales its operands, so no divisor is too large.
    """
    if env.approx == "hardware":
        a, b = flush_if(m, F32, ftz, a, b)
        return m.nan_result(F32, special_code.divide(m, a, m.any_nan(F32, b), ftz, full=True), a, b)
    return div(m, F32, a, b, "rn", ftz)


@instruction(
    "div.f64 d, a, b", since="1.0 sm_13", until="1.3", defaults=NEAREST, ref="PTX 1.4 table 43", seam="*"
)
@instruction(
    "div.rnd.f64 d, a, b",
    rnd=ROUNDINGS,
    since="1.4 sm_13",
    requires=DIRECTED,
    defaults=PLAIN,
    ref="PTX 1.4 table 43",
    seam="*",
)
@instruction("div.rnd[.ftz].f32 d, a, b", rnd=ROUNDINGS, since="2.0 sm_20", ref="PTX ISA 2.0 div", seam="*")
def div(m: Algebra[V], t: Type, a: V, b: V, rnd: Rounding, ftz: bool) -> V:
    """Quotient, correctly rounded.

    A zero divisor gives an infinity, or NaN for a zero dividend. Modifiers and NaNs as for `add`.
    """
    a, b = flush_if(m, t, ftz, a, b)
    quotient = m.fdiv(t, a, b, rnd)
    if ftz:
        quotient = flush_result(m, t, quotient, partial(twice_quotient, t, rnd), a, b)
    return m.nan_result(t, quotient, a, b)


# ---------------------------------------------------------------- sign, minimum, maximum


@instruction("abs.f64 d, a", since="1.0 sm_13", defaults=PLAIN, ref="PTX 1.4 table 44")
@instruction("abs[.ftz].f32 d, a", requires=FTZ, ref="PTX 1.4 table 44")
def abs_(m: Algebra[V], t: Type, a: V, ftz: bool) -> V:
    """Absolute value."""
    return m.nan_result(t, float_abs(m, t, *flush_if(m, t, ftz, m.any_nan(t, a))), a)


@instruction(
    "neg.f64 d, a", since="1.0 sm_13", defaults=PLAIN, ref="PTX 1.4 table 45", contraction="negation"
)
@instruction("neg[.ftz].f32 d, a", requires=FTZ, ref="PTX 1.4 table 45", contraction="negation")
def neg(m: Algebra[V], t: Type, a: V, ftz: bool) -> V:
    """The sign inverted.

    Of zeros too. `.ftz` makes a subnormal a zero. A NaN of `.f32` becomes 0x7fffffff (H200).
    """
    return m.nan_result(t, float_neg(m, t, *flush_if(m, t, ftz, m.any_nan(t, a))), a)


@instruction(
    "min.f64 d, a, b", since="1.0 sm_13", defaults={"ftz": False, "NaN": False}, ref="PTX 1.4 table 46"
)
@instruction(
    "min[.ftz][.NaN].f32 d, a, b", requires={"ftz": "1.4", "NaN": "7.0 sm_80"}, ref="PTX 1.4 table 46"
)
def min_(m: Algebra[V], t: Type, a: V, b: V, ftz: bool, NaN: bool) -> V:
    """The smaller of two numbers; the number if one is NaN, unless `.NaN` is given.

    Negative zero is below positive zero. If both are NaN the result is one.
    """
    a, b = flush_if(m, t, ftz, a, b)
    return or_nan(m, t, NaN, a, b, m.fmin(t, a, b))


@instruction(
    "max.f64 d, a, b", since="1.0 sm_13", defaults={"ftz": False, "NaN": False}, ref="PTX 1.4 table 47"
)
@instruction(
    "max[.ftz][.NaN].f32 d, a, b", requires={"ftz": "1.4", "NaN": "7.0 sm_80"}, ref="PTX 1.4 table 47"
)
def max_(m: Algebra[V], t: Type, a: V, b: V, ftz: bool, NaN: bool) -> V:
    """The larger of two numbers; the number if one is NaN, unless `.NaN` is given.

    Negative zero is below positive zero. If both are NaN the result is one.
    """
    a, b = flush_if(m, t, ftz, a, b)
    return or_nan(m, t, NaN, a, b, m.fmax(t, a, b))


@instruction("min[.ftz][.NaN].xorsign.abs.f32 d, a, b", since="7.2 sm_86", ref="PTX ISA 7.2 min")
def min_xorsign(m: Algebra[V], a: V, b: V, ftz: bool, NaN: bool) -> V:
    """The smaller magnitude, negative if the signs of the operands differ."""
    a, b = flush_if(m, F32, ftz, a, b)
    least = m.fmin(F32, float_abs(m, F32, a), float_abs(m, F32, b))
    return or_nan(m, F32, NaN, a, b, xor_sign(m, F32, least, a, b))


@instruction("max[.ftz][.NaN].xorsign.abs.f32 d, a, b", since="7.2 sm_86", ref="PTX ISA 7.2 max")
def max_xorsign(m: Algebra[V], a: V, b: V, ftz: bool, NaN: bool) -> V:
    """The larger magnitude, negative if the signs of the operands differ."""
    a, b = flush_if(m, F32, ftz, a, b)
    greatest = m.fmax(F32, float_abs(m, F32, a), float_abs(m, F32, b))
    return or_nan(m, F32, NaN, a, b, xor_sign(m, F32, greatest, a, b))


def or_nan(m: Algebra[V], t: Type, wanted: bool, a: V, b: V, result: V) -> V:
    """The result, or NaN if wanted and an operand is NaN."""
    if wanted:
        either = m.or_(PRED, m.is_nan(t, a), m.is_nan(t, b))
        result = m.select(t, either, m.const(t, quiet_nan(t)), result)
    return m.nan_result(t, result, b, a)


def xor_sign(m: Algebra[V], t: Type, magnitude: V, a: V, b: V) -> V:
    """A magnitude with the product of two signs."""
    u = bits_type(t.bits)
    sign = m.from_bits(t, m.xor(u, m.to_bits(t, a), m.to_bits(t, b)))
    return copy_sign(m, t, magnitude, sign)


@instruction("copysign.type d, a, b", type="f32 f64", since="2.0 sm_20", ref="PTX ISA 2.0 copysign")
def copysign(m: Algebra[V], t: Type, a: V, b: V) -> V:
    """The second value with the sign of the first."""
    return copy_sign(m, t, b, a)


@instruction(
    "testp.op.type p:pred, a",
    op="finite infinite number notanumber normal subnormal",
    type="f32 f64",
    since="2.0 sm_20",
    ref="PTX ISA 2.0 testp",
)
def testp(m: Algebra[V], t: Type, a: V, op: str) -> V:
    """Whether a value belongs to a class of floating-point values; zeros are normal."""
    u = unsigned(t.bits)
    magnitude = m.and_(u, m.to_bits(t, a), m.const(u, sign_mask(t) - 1))
    limit = infinity(t)
    is_subnormal = between(m, u, magnitude, 1, limit & -limit)
    match op:
        case "infinite":
            return m.compare("eq", u, magnitude, m.const(u, limit))
        case "notanumber":
            return m.compare("gt", u, magnitude, m.const(u, limit))
        case "number":
            return m.compare("le", u, magnitude, m.const(u, limit))
        case "subnormal":
            return is_subnormal
        case _:
            finite = m.compare("lt", u, magnitude, m.const(u, limit))
            return finite if op == "finite" else m.and_(PRED, finite, m.invert(PRED, is_subnormal))


def between(m: Algebra[V], t: Type, a: V, low: int, end: int) -> V:
    """low <= a < end, by one unsigned comparison."""
    return m.compare("lt", t, m.sub(t, a, m.const(t, low)), m.const(t, end - low))


# ---------------------------------------------------------------- reciprocals and roots


@instruction("rcp.approx[.ftz].f32 d, a", since="1.4", ref="PTX 1.4 table 48")
@instruction("rcp.f32 d, a", until="1.3", defaults=FLUSHED, ref="PTX 1.4 table 48")
def rcp_approx(m: Algebra[V], a: V, ftz: bool, env: Environment) -> V:
    """Fast reciprocal.

    Within 1 ulp. Zeros, and subnormals where they are flushed, give infinities of their sign, infinities
    zeros.
    """
    if env.approx == "hardware":
        return special_code.rcp(m, m.any_nan(F32, a), ftz)
    return rcp(m, F32, a, "rn", ftz)


@instruction(
    "rcp.f64 d, a",
    since="1.0 sm_13",
    until="1.3",
    defaults=NEAREST,
    ref="PTX 1.4 table 48",
    seam="*",
)
@instruction(
    "rcp.rnd.f64 d, a",
    rnd=ROUNDINGS,
    since="1.4 sm_13",
    requires=DIRECTED,
    defaults=PLAIN,
    ref="PTX 1.4 table 48",
    seam="*",
)
@instruction("rcp.rnd[.ftz].f32 d, a", rnd=ROUNDINGS, since="2.0 sm_20", ref="PTX ISA 2.0 rcp", seam="*")
def rcp(m: Algebra[V], t: Type, a: V, rnd: Rounding, ftz: bool) -> V:
    """Reciprocal, correctly rounded.

    As `div.rnd` of 1.
    """
    return div(m, t, number(m, t, 1.0), a, rnd, ftz)


@instruction("rcp.approx.ftz.f64 d, a", since="2.1 sm_20", ref="PTX ISA 2.1 rcp.approx.ftz.f64")
def rcp_coarse(m: Algebra[V], a: V, env: Environment) -> V:
    """Coarse reciprocal of the upper half of a double; the lower half of the result is zero."""
    if env.approx == "hardware":
        return special_code.coarse_rcp(m, m.any_nan(F64, a))
    return coarse_result(m, approximate.reciprocal(m, F64, coarse(m, m.any_nan(F64, a))))


@instruction("sqrt.approx[.ftz].f32 d, a", since="1.4", ref="PTX 1.4 table 49")
@instruction("sqrt.f32 d, a", until="1.3", defaults=FLUSHED, ref="PTX 1.4 table 49")
def sqrt_approx(m: Algebra[V], a: V, ftz: bool, env: Environment) -> V:
    """Fast square root.

    Negative operands give NaN, negative zero itself.
    """
    if env.approx == "hardware":
        return special_code.sqrt(m, m.any_nan(F32, a), ftz)
    return sqrt(m, F32, a, "rn", ftz)


@instruction(
    "sqrt.f64 d, a",
    since="1.0 sm_13",
    until="1.3",
    defaults=NEAREST,
    ref="PTX 1.4 table 49",
    seam="*",
)
@instruction(
    "sqrt.rnd.f64 d, a",
    rnd=ROUNDINGS,
    since="1.4 sm_13",
    requires=DIRECTED,
    defaults=PLAIN,
    ref="PTX 1.4 table 49",
    seam="*",
)
@instruction("sqrt.rnd[.ftz].f32 d, a", rnd=ROUNDINGS, since="2.0 sm_20", ref="PTX ISA 2.0 sqrt", seam="*")
def sqrt(m: Algebra[V], t: Type, a: V, rnd: Rounding, ftz: bool) -> V:
    """Square root, correctly rounded.

    Negative operands give NaN, negative zero itself.
    """
    (a,) = flush_if(m, t, ftz, a)
    return finish(m, t, m.fsqrt(t, a, rnd), ftz, False, a)


@instruction("rsqrt.approx.f64 d, a", since="1.4 sm_13", defaults=PLAIN, ref="PTX 1.4 table 50", seam="*")
@instruction(
    "rsqrt.f64 d, a", since="1.0 sm_13", until="1.3", defaults=PLAIN, ref="PTX 1.4 table 50", seam="*"
)
@instruction("rsqrt.approx[.ftz].f32 d, a", since="1.4", ref="PTX 1.4 table 50")
@instruction("rsqrt.f32 d, a", until="1.3", defaults=FLUSHED, ref="PTX 1.4 table 50")
def rsqrt(m: Algebra[V], t: Type, a: V, ftz: bool, env: Environment) -> V:
    """Fast reciprocal of the square root.

    Negative operands give NaN, zeros infinities of their sign.
    """
    if env.approx == "hardware" and t == F32:
        return special_code.rsqrt(m, m.any_nan(F32, a), ftz)
    if env.approx == "hardware":
        return m.nan_result(F64, special_code.double_rsqrt(m, a), a)
    (a,) = flush_if(m, t, ftz, a)
    return finish(m, t, approximate.reciprocal_root(m, t, m.any_nan(t, a)), ftz, False, a)


@instruction("rsqrt.approx.ftz.f64 d, a", since="4.0 sm_20", ref="PTX ISA 4.0 rsqrt.approx.ftz.f64")
def rsqrt_coarse(m: Algebra[V], a: V, env: Environment) -> V:
    """Coarse reciprocal root of the upper half of a double; the lower half of the result is zero."""
    if env.approx == "hardware":
        return special_code.coarse_rsqrt(m, m.any_nan(F64, a))
    return coarse_result(m, approximate.reciprocal_root(m, F64, coarse(m, m.any_nan(F64, a))))


UPPER_HALF = 0xFFFFFFFF << 32


def coarse(m: Algebra[V], a: V) -> V:
    """A double without its lower 32 bits, subnormals flushed."""
    return m.flush(F64, with_bits(m, F64, a, lambda u, x: m.and_(B64, x, m.const(B64, UPPER_HALF))))


def coarse_result(m: Algebra[V], a: V) -> V:
    """The same of a result; its NaN is that of single precision, as the upper half."""
    nan = m.const(F64, quiet_nan(F32) << 32)
    return m.select(F64, m.is_nan(F64, a), nan, coarse(m, a))


# ---------------------------------------------------------------- transcendental functions


@instruction("sin.approx[.ftz].f32 d, a", since="1.4", ref="PTX 1.4 table 51")
@instruction("sin.f32 d, a", until="1.3", defaults=FLUSHED, ref="PTX 1.4 table 51")
def sin(m: Algebra[V], a: V, ftz: bool, env: Environment) -> V:
    """Fast sine of an angle in radians.

    The absolute error is bounded for angles from -pi to pi; it grows with the angle. Infinities give NaN.
    """
    (a,) = flush_if(m, F32, ftz, m.any_nan(F32, a))
    if env.approx == "hardware":
        return special.sine(m, a)
    return finish(m, F32, approximate.sine(m, a), ftz, False)


@instruction("cos.approx[.ftz].f32 d, a", since="1.4", ref="PTX 1.4 table 52")
@instruction("cos.f32 d, a", until="1.3", defaults=FLUSHED, ref="PTX 1.4 table 52")
def cos(m: Algebra[V], a: V, ftz: bool, env: Environment) -> V:
    """Fast cosine of an angle in radians.

    The absolute error is bounded for angles from -pi to pi; it grows with the angle. Infinities give NaN.
    """
    (a,) = flush_if(m, F32, ftz, m.any_nan(F32, a))
    if env.approx == "hardware":
        return special.cosine(m, a)
    return finish(m, F32, approximate.cosine(m, a), ftz, False)


@instruction("lg2.approx[.ftz].f32 d, a", since="1.4", ref="PTX 1.4 table 53")
@instruction("lg2.f32 d, a", until="1.3", defaults=FLUSHED, ref="PTX 1.4 table 53")
def lg2(m: Algebra[V], a: V, ftz: bool, env: Environment) -> V:
    """Fast logarithm to the base 2.

    Zeros give negative infinity, negative operands NaN.
    """
    (a,) = flush_if(m, F32, ftz, m.any_nan(F32, a))
    if env.approx == "hardware":
        return special_code.lg2(m, a, ftz)
    return finish(m, F32, approximate.logarithm(m, a, subnormals=not ftz), ftz, False)


@instruction("ex2.approx[.ftz].f32 d, a", since="1.4", ref="PTX 1.4 table 54")
@instruction("ex2.f32 d, a", until="1.3", defaults=FLUSHED, ref="PTX 1.4 table 54")
def ex2(m: Algebra[V], a: V, ftz: bool, env: Environment) -> V:
    """Fast power of two.

    Too large operands give infinity, too small ones zero.
    """
    (a,) = flush_if(m, F32, ftz, m.any_nan(F32, a))
    if env.approx == "hardware":
        return special_code.ex2(m, a, ftz)
    return finish(m, F32, approximate.exponential(m, a, ftz), ftz, False)


@instruction("tanh.approx.f32 d, a", since="7.0 sm_75", ref="PTX ISA 7.0 tanh")
def tanh(m: Algebra[V], a: V, env: Environment) -> V:
    """Fast hyperbolic tangent.

    The results of infinities are 1 and -1.
    """
    if env.approx == "hardware":
        return special.hyperbolic_tangent(m, m.any_nan(F32, a))
    return m.nan_result(F32, approximate.hyperbolic_tangent(m, m.any_nan(F32, a)))
