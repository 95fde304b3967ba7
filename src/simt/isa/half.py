"""Arithmetic on .f16, .bf16 and their packed pairs (PTX ISA 4.2 and later).

Halves are integer columns of 16 bits. Sums, products and fused multiply-adds are the algebra's own, correctly
rounded; minimum, maximum and the approximate functions are formed in .f32, where nothing is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from simt.imports import Later
from simt.isa.algebra import Algebra, Environment, V
from simt.isa.catalogue import instruction
from simt.isa.compare import BOOLEANS, COMPARISONS, combine, operators
from simt.isa.derived import (
    HALF_OF,
    by_halves,
    comparison,
    flush_if,
    flush_result,
    flushed,
    halves,
    infinity,
    join,
    number,
    ones_if,
    quiet_nan,
    sign_mask,
    twice_fused,
    twice_product,
)  # fmt: skip
from simt.isa.form import Value, Version
from simt.ptx.types import BF16, BF16X2, F16, F16X2, F32, PRED, S16, U16, Kind, Type

if TYPE_CHECKING:
    from simt.isa import approximate, special, special_code
else:
    approximate = Later("simt.isa.approximate")
    special = Later("simt.isa.special")
    special_code = Later("simt.isa.special_code")

F16S = "f16 f16x2"
BF16S = "bf16 bf16x2"
HALVES = "f16 bf16 f16x2 bf16x2"
OUTCOMES = "f16 bf16 u16 s16 u32 s32 f16x2 bf16x2"
F16_SINCE = "4.2 sm_53"
BF16_SINCE = "7.8 sm_90"
PLAIN = {"ftz": False, "sat": False, "relu": False}
ONE = {F16: 0x3C00, BF16: 0x3F80}
"""The bits of 1.0."""


def widen(m: Algebra[V], t: Type, wide: Type, ftz: bool, a: V) -> V:
    """A half as `.f32` or `.f64`, flushed if `ftz`."""
    return m.float_to_float(t, wide, flushed(m, t, a) if ftz else a, "rn")


def narrow(m: Algebra[V], wide: Type, t: Type, a: V, ftz: bool) -> V:
    """A wide result rounded to a half, and flushed if `ftz`."""
    return half_result(m, t, m.float_to_float(wide, t, a, "rn"), ftz)


def half_result(m: Algebra[V], t: Type, a: V, ftz: bool, sat: bool = False) -> V:
    """A result of arithmetic that is never tiny and inexact, flushed and limited as asked."""
    (a,) = flush_if(m, t, ftz, a)
    return half_limited(m, t, a, sat, False)


def half_rounded(
    m: Algebra[V], t: Type, a: V, ftz: bool, sat: bool, relu: bool, twice: Callable[..., V], *operands: V
) -> V:
    """Likewise, a result that may be tiny and inexact; for `twice` see `flush_result`."""
    a = flush_result(m, t, a, twice, *operands) if ftz else a
    return half_limited(m, t, a, sat, relu)


def half_limited(m: Algebra[V], t: Type, a: V, sat: bool, relu: bool) -> V:
    """Limited as asked, with the one NaN of the machine for every NaN."""
    if sat:
        return between_zero_and_one(m, t, a)
    if relu:
        a = m.select(t, m.compare("le", t, a, m.const(t, 0)), m.const(t, 0), a)
    return quieted(m, t, a)


def between_zero_and_one(m: Algebra[V], t: Type, a: V) -> V:
    """Limited to [+0.0, 1.0]; NaN becomes +0.0. The bits of positive numbers are in the numbers' order."""
    a = m.select(t, m.is_nan(t, a), m.const(t, 0), a)
    return m.minimum(S16, m.maximum(S16, a, m.const(S16, 0)), m.const(S16, ONE[t]))


# ---------------------------------------------------------------- add, sub, mul, fma


@instruction(
    "add[.rnd].type d, a, b", rnd="rn", type=BF16S, since=BF16_SINCE, defaults=PLAIN, ref="PTX ISA 7.8 add",
    contraction="sum",
)  # fmt: skip
@instruction(
    "add[.rnd][.ftz][.sat].type d, a, b", rnd="rn", type=F16S, since=F16_SINCE, ref="PTX ISA 4.2 add",
    contraction="sum",
)  # fmt: skip
def add(m: Algebra[V], t: Type, a: V, b: V, ftz: bool, sat: bool) -> V:
    """Sum of halves, or of both halves of pairs."""

    def one(m: Algebra[V], e: Type, x: V, y: V) -> V:
        x, y = flush_if(m, e, ftz, x, y)
        return half_result(m, e, m.fadd(e, x, y, "rn"), ftz, sat)

    return by_halves(m, t, one, a, b)


@instruction(
    "sub[.rnd].type d, a, b", rnd="rn", type=BF16S, since=BF16_SINCE, defaults=PLAIN, ref="PTX ISA 7.8 sub",
    contraction="difference",
)  # fmt: skip
@instruction(
    "sub[.rnd][.ftz][.sat].type d, a, b", rnd="rn", type=F16S, since=F16_SINCE, ref="PTX ISA 4.2 sub",
    contraction="difference",
)  # fmt: skip
def sub(m: Algebra[V], t: Type, a: V, b: V, ftz: bool, sat: bool) -> V:
    """Difference of halves, or of both halves of pairs."""

    def one(m: Algebra[V], e: Type, x: V, y: V) -> V:
        x, y = flush_if(m, e, ftz, x, y)
        return half_result(m, e, m.fsub(e, x, y, "rn"), ftz, sat)

    return by_halves(m, t, one, a, b)


@instruction(
    "mul[.rnd].type d, a, b", rnd="rn", type=BF16S, since=BF16_SINCE, defaults=PLAIN, ref="PTX ISA 7.8 mul",
    contraction="product",
)  # fmt: skip
@instruction(
    "mul[.rnd][.ftz][.sat].type d, a, b", rnd="rn", type=F16S, since=F16_SINCE, ref="PTX ISA 4.2 mul",
    contraction="product",
)  # fmt: skip
def mul(m: Algebra[V], t: Type, a: V, b: V, ftz: bool, sat: bool) -> V:
    """Product of halves, or of both halves of pairs."""

    def one(m: Algebra[V], e: Type, x: V, y: V) -> V:
        x, y = flush_if(m, e, ftz, x, y)
        product = m.fmul(e, x, y, "rn")
        return half_rounded(m, e, product, ftz, sat, False, partial(twice_product, e, "rn"), x, y)

    return by_halves(m, t, one, a, b)


@instruction(
    "fma.rn[.relu].type d, a, b, c", type=BF16S, since="7.0 sm_80", defaults=PLAIN, ref="PTX ISA 7.0 fma",
    contraction="fused",
)  # fmt: skip
@instruction(
    "fma.rn[.ftz].relu.type d, a, b, c", type=F16S, since="7.0 sm_80", defaults=PLAIN, ref="PTX ISA 7.0 fma"
)
@instruction(
    "fma.rn[.ftz][.sat].type d, a, b, c", type=F16S, since=F16_SINCE, defaults=PLAIN, ref="PTX ISA 4.2 fma",
    contraction="fused",
)  # fmt: skip
def fma(m: Algebra[V], t: Type, a: V, b: V, c: V, ftz: bool, sat: bool, relu: bool) -> V:
    """Product plus a third value, rounded once; for halves, or both halves of pairs."""

    def one(m: Algebra[V], e: Type, x: V, y: V, z: V) -> V:
        x, y, z = flush_if(m, e, ftz, x, y, z)
        total = m.fma(e, x, y, z, "rn")
        return half_rounded(m, e, total, ftz, sat, relu, partial(twice_fused, e, "rn"), x, y, z)

    return by_halves(m, t, one, a, b, c)


# ---------------------------------------------------------------- sign, minimum, maximum


@instruction("abs.type d, a", type=BF16S, since="7.0 sm_80", defaults=PLAIN, ref="PTX ISA 7.0 abs")
@instruction("abs[.ftz].type d, a", type=F16S, since="6.5 sm_53", ref="PTX ISA 6.5 abs")
def abs_(m: Algebra[V], t: Type, a: V, ftz: bool) -> V:
    """Absolute value of a half, or of both halves of a pair."""

    def one(m: Algebra[V], e: Type, x: V) -> V:
        return quieted(m, e, magnitude(m, e, flushed(m, e, x) if ftz else x))

    return by_halves(m, t, one, a)


@instruction(
    "neg.type d, a", type=BF16S, since="7.0 sm_80", defaults=PLAIN, ref="PTX ISA 7.0 neg",
    contraction="negation",
)  # fmt: skip
@instruction(
    "neg[.ftz].type d, a", type=F16S, since="6.0 sm_53", ref="PTX ISA 6.0 neg", contraction="negation"
)
def neg(m: Algebra[V], t: Type, a: V, ftz: bool) -> V:
    """The sign of a half, or of both halves of a pair, inverted."""

    def one(m: Algebra[V], e: Type, x: V) -> V:
        return quieted(m, e, m.xor(e, flushed(m, e, x) if ftz else x, m.const(e, sign_mask(e))))

    return by_halves(m, t, one, a)


def quieted(m: Algebra[V], t: Type, a: V) -> V:
    """The one NaN of the machine for every NaN (as on the H200)."""
    return m.nan_result(t, a)


def magnitude(m: Algebra[V], t: Type, a: V) -> V:
    """A half without its sign."""
    return m.and_(t, a, m.const(t, sign_mask(t) - 1))


def extreme(m: Algebra[V], t: Type, low: bool, a: V, b: V, ftz: bool, NaN: bool) -> V:
    """The minimum or maximum of two halves; NaN only if both are, or if one is and `.NaN` is given."""
    x, y = widen(m, t, F32, ftz, a), widen(m, t, F32, ftz, b)
    result = narrow(m, F32, t, (m.fmin if low else m.fmax)(F32, x, y), ftz)
    nan_a, nan_b = m.is_nan(t, a), m.is_nan(t, b)
    nan = (m.or_ if NaN else m.and_)(PRED, nan_a, nan_b)
    return m.select(t, nan, m.const(t, quiet_nan(t)), result)


def signed_extreme(m: Algebra[V], t: Type, low: bool, a: V, b: V, ftz: bool, NaN: bool) -> V:
    """The minimum or maximum of two magnitudes, with the product of the signs."""
    result = extreme(m, t, low, magnitude(m, t, a), magnitude(m, t, b), ftz, NaN)
    sign = m.and_(t, m.xor(t, a, b), m.const(t, sign_mask(t)))
    return m.select(t, m.is_nan(t, result), result, m.or_(t, result, sign))


@instruction("min[.NaN].type d, a, b", type=BF16S, since="7.0 sm_80", defaults=PLAIN, ref="PTX ISA 7.0 min")
@instruction("min[.ftz][.NaN].type d, a, b", type=F16S, since="7.0 sm_80", ref="PTX ISA 7.0 min")
def min_(m: Algebra[V], t: Type, a: V, b: V, ftz: bool, NaN: bool) -> V:
    """The smaller of two halves, or of both halves of pairs."""
    return by_halves(m, t, lambda m, e, x, y: extreme(m, e, True, x, y, ftz, NaN), a, b)


@instruction("max[.NaN].type d, a, b", type=BF16S, since="7.0 sm_80", defaults=PLAIN, ref="PTX ISA 7.0 max")
@instruction("max[.ftz][.NaN].type d, a, b", type=F16S, since="7.0 sm_80", ref="PTX ISA 7.0 max")
def max_(m: Algebra[V], t: Type, a: V, b: V, ftz: bool, NaN: bool) -> V:
    """The larger of two halves, or of both halves of pairs."""
    return by_halves(m, t, lambda m, e, x, y: extreme(m, e, False, x, y, ftz, NaN), a, b)


@instruction(
    "min[.NaN].xorsign.abs.type d, a, b", type=BF16S, since="7.2 sm_86", defaults=PLAIN, ref="PTX ISA 7.2 min"
)
@instruction("min[.ftz][.NaN].xorsign.abs.type d, a, b", type=F16S, since="7.2 sm_86", ref="PTX ISA 7.2 min")
def min_xorsign(m: Algebra[V], t: Type, a: V, b: V, ftz: bool, NaN: bool) -> V:
    """The smaller magnitude of halves, negative if the signs of the operands differ."""
    return by_halves(m, t, lambda m, e, x, y: signed_extreme(m, e, True, x, y, ftz, NaN), a, b)


@instruction(
    "max[.NaN].xorsign.abs.type d, a, b", type=BF16S, since="7.2 sm_86", defaults=PLAIN, ref="PTX ISA 7.2 max"
)
@instruction("max[.ftz][.NaN].xorsign.abs.type d, a, b", type=F16S, since="7.2 sm_86", ref="PTX ISA 7.2 max")
def max_xorsign(m: Algebra[V], t: Type, a: V, b: V, ftz: bool, NaN: bool) -> V:
    """The larger magnitude of halves, negative if the signs of the operands differ."""
    return by_halves(m, t, lambda m, e, x, y: signed_extreme(m, e, False, x, y, ftz, NaN), a, b)


# ---------------------------------------------------------------- approximate functions


def truncated(m: Algebra[V], t: Type, a: V) -> V:
    """A result of the special function unit as a half: cut, but for infinities where it is too large."""
    result = m.float_to_float(F32, t, a, "rz")
    large = m.compare("ge", F32, a, number(m, F32, 2.0**16)) if t is F16 else m.const(PRED, 0)
    return half_limited(m, t, m.select(t, large, m.const(t, infinity(t)), result), False, False)


@instruction("ex2.approx.ftz.type d, a", type=BF16S, since=BF16_SINCE, ref="PTX ISA 7.8 ex2")
@instruction("ex2.approx.type d, a", type=F16S, since="7.0 sm_75", ref="PTX ISA 7.0 ex2")
def ex2(m: Algebra[V], t: Type, a: V, env: Environment) -> V:
    """Fast power of two of a half, or of both halves of a pair; .bf16 flushes subnormals."""

    def one(m: Algebra[V], e: Type, x: V) -> V:
        ftz = e is BF16
        if env.approx == "hardware":
            return truncated(m, e, special_code.ex2(m, m.any_nan(F32, widen(m, e, F32, ftz, x)), True))
        return narrow(m, F32, e, approximate.exponential(m, widen(m, e, F32, ftz, x), ftz), ftz)

    return by_halves(m, t, one, a)


@instruction("tanh.approx.type d, a", type=BF16S, since=BF16_SINCE, ref="PTX ISA 7.8 tanh")
@instruction("tanh.approx.type d, a", type=F16S, since="7.0 sm_75", ref="PTX ISA 7.0 tanh")
def tanh(m: Algebra[V], t: Type, a: V, env: Environment) -> V:
    """Fast hyperbolic tangent of a half, or of both halves of a pair."""

    def one(m: Algebra[V], e: Type, x: V) -> V:
        if env.approx == "hardware":
            return truncated(m, e, special.hyperbolic_tangent(m, widen(m, e, F32, False, x)))
        return narrow(m, F32, e, approximate.hyperbolic_tangent(m, widen(m, e, F32, False, x)), False)

    return by_halves(m, t, one, a)


# ---------------------------------------------------------------- comparison

SCALAR_BF16 = {"bf16": BF16_SINCE}
PAIR_BF16 = {"bf16x2": BF16_SINCE}
ANY_BF16 = {**SCALAR_BF16, **PAIR_BF16}
OUTCOMES_SINCE = {**ANY_BF16, **dict.fromkeys(("u16", "s16", "u32", "s32"), "6.5 sm_53")}


def half_comparable(binding: Mapping[str, Value], version: Version) -> str | None:
    """The operator must be one for floating-point values, `.ftz` needs f16, pairs need 32-bit results."""
    source, dtype = binding.get("stype") or binding["type"], binding.get("dtype")
    assert isinstance(source, Type)
    if binding["cmp"] not in operators(source):
        return f"`.{binding['cmp']}` does not compare `{source}` values"
    if binding.get("ftz") and (source not in (F16, F16X2) or dtype in (BF16, BF16X2)):
        return "`.ftz` applies to `.f16` and `.f16x2` only"
    if isinstance(dtype, Type) and not _holds(dtype, source):
        return f"`{dtype}` cannot hold the outcome of a `{source}` comparison"
    return None


def _holds(dtype: Type, source: Type) -> bool:
    """Whether a destination type of `set` suits a half source type."""
    if source.kind is Kind.PACKED:
        return dtype is source or (dtype.is_integer and dtype.bits == 32)
    return dtype.kind is not Kind.PACKED and (dtype, source) != (F16, BF16)


def half_compare(m: Algebra[V], op: str, t: Type, ftz: bool, a: V, b: V) -> V:
    """The predicate `a op b` of two halves."""
    if ftz:
        a, b = flushed(m, t, a), flushed(m, t, b)
    return comparison(m, op, t, a, b)


def outcome(m: Algebra[V], t: Type, p: V) -> V:
    """A predicate as `set` writes it in 16 bits or an integer: 1.0 or all ones, else 0."""
    if t in ONE:
        return m.select(t, p, m.const(t, ONE[t]), m.const(t, 0))
    return ones_if(m, t, p)


def half_set(
    m: Algebra[V], cmp: str, ftz: bool, dtype: Type, t: Type, a: V, b: V, boolop: str, c: V | None
) -> V:
    """`set` for halves, and for pairs half by half."""

    def one(d: Type, e: Type, x: V, y: V) -> V:
        p = half_compare(m, cmp, e, ftz, x, y)
        return outcome(m, d, p if c is None else combine(m, boolop, p, c))

    if t.kind is not Kind.PACKED:
        return one(dtype, t, a, b)
    (a0, a1), (b0, b1) = halves(m, a), halves(m, b)
    d = HALF_OF.get(dtype, U16)
    return join(m, one(d, HALF_OF[t], a0, b0), one(d, HALF_OF[t], a1, b1))


@instruction(
    "set.cmp[.ftz].dtype.stype d, a, b",
    cmp=COMPARISONS,
    dtype=OUTCOMES,
    stype=HALVES,
    since=F16_SINCE,
    requires=OUTCOMES_SINCE,
    check=half_comparable,
    ref="PTX ISA 4.2 set",
)
def set_(m: Algebra[V], a: V, b: V, cmp: str, ftz: bool, dtype: Type, stype: Type) -> V:
    """Compares halves, or both halves of pairs; the results are all ones (1.0) or zero."""
    return half_set(m, cmp, ftz, dtype, stype, a, b, "", None)


@instruction(
    "set.cmp.boolop[.ftz].dtype.stype d, a, b, [!]c:pred",
    cmp=COMPARISONS,
    boolop=BOOLEANS,
    dtype=OUTCOMES,
    stype=HALVES,
    since=F16_SINCE,
    requires=OUTCOMES_SINCE,
    check=half_comparable,
    ref="PTX ISA 4.2 set",
)
def set_bool(
    m: Algebra[V], a: V, b: V, c: V, cmp: str, boolop: str, ftz: bool, dtype: Type, stype: Type
) -> V:
    """Compares halves, or both halves of pairs, and combines each outcome with a predicate."""
    return half_set(m, cmp, ftz, dtype, stype, a, b, boolop, c)


@instruction(
    "setp.cmp[.ftz].type p:pred, a, b",
    cmp=COMPARISONS,
    type="f16 bf16",
    since=F16_SINCE,
    requires=SCALAR_BF16,
    check=half_comparable,
    ref="PTX ISA 4.2 setp",
)
def setp(m: Algebra[V], t: Type, a: V, b: V, cmp: str, ftz: bool) -> V:
    """Compares two halves."""
    return half_compare(m, cmp, t, ftz, a, b)


@instruction(
    "setp.cmp.boolop[.ftz].type p:pred, a, b, [!]c:pred",
    cmp=COMPARISONS,
    boolop=BOOLEANS,
    type="f16 bf16",
    since=F16_SINCE,
    requires=SCALAR_BF16,
    check=half_comparable,
    ref="PTX ISA 4.2 setp",
)
def setp_bool(m: Algebra[V], t: Type, a: V, b: V, c: V, cmp: str, boolop: str, ftz: bool) -> V:
    """Compares two halves and combines the outcome with a predicate."""
    return combine(m, boolop, half_compare(m, cmp, t, ftz, a, b), c)


@instruction(
    "setp.cmp[.ftz].type p:pred[|q], a, b",
    cmp=COMPARISONS,
    type="f16x2 bf16x2",
    since=F16_SINCE,
    requires=PAIR_BF16,
    check=half_comparable,
    ref="PTX ISA 4.2 setp",
)
def setp_pair(m: Algebra[V], t: Type, a: V, b: V, cmp: str, ftz: bool) -> tuple[V, V]:
    """Compares pairs; writes the outcomes for their low and their high halves."""
    (a0, a1), (b0, b1) = halves(m, a), halves(m, b)
    return half_compare(m, cmp, HALF_OF[t], ftz, a0, b0), half_compare(m, cmp, HALF_OF[t], ftz, a1, b1)


@instruction(
    "setp.cmp.boolop[.ftz].type p:pred[|q], a, b, [!]c:pred",
    cmp=COMPARISONS,
    boolop=BOOLEANS,
    type="f16x2 bf16x2",
    since=F16_SINCE,
    requires=PAIR_BF16,
    check=half_comparable,
    ref="PTX ISA 4.2 setp",
)
def setp_pair_bool(m: Algebra[V], t: Type, a: V, b: V, c: V, cmp: str, boolop: str, ftz: bool) -> tuple[V, V]:
    """Compares pairs and combines the outcomes for both halves with a predicate."""
    p, q = setp_pair(m, t, a, b, cmp, ftz)
    return combine(m, boolop, p, c), combine(m, boolop, q, c)
