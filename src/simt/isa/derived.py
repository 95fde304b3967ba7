"""Operations derived from the algebra's primitives, once for all engines."""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import partial
from typing import TypeVarTuple, cast

from simt.isa.algebra import Algebra, Comparison, PureAlgebra, Rounding, V
from simt.ptx.types import (
    BF16,
    BF16X2,
    F16,
    F16X2,
    F32,
    F64,
    PRED,
    S16,
    S16X2,
    U16,
    U16X2,
    U32,
    Kind,
    Type,
    bits_type,
    signed,
    unsigned,
)  # fmt: skip

Operands = TypeVarTuple("Operands")

HALF_OF = {F16X2: F16, BF16X2: BF16, U16X2: U16, S16X2: S16}
"""The element type of the packed pairs."""

SIGNIFICAND = {F16: 10, BF16: 7, F32: 23, F64: 52}
"""Stored significand bits of the floating-point formats."""


# ---------------------------------------------------------------- constants and integers


def one_if(m: Algebra[V], t: Type, p: V) -> V:
    """1 where the predicate holds, else 0, as an integer of type `t`."""
    return m.select(t, p, m.const(t, 1), m.const(t, 0))


def ones_if(m: PureAlgebra[V], t: Type, p: V) -> V:
    """All ones where the predicate holds, else 0."""
    return m.select(t, p, m.const(t, (1 << t.bits) - 1), m.const(t, 0))


def negate(m: Algebra[V], t: Type, a: V) -> V:
    """The two's complement negative."""
    return m.sub(t, m.const(t, 0), a)


def is_negative(m: Algebra[V], t: Type, a: V) -> V:
    """Whether the sign bit of a signed integer is set."""
    return m.compare("lt", t, a, m.const(t, 0))


def outside(m: PureAlgebra[V], t: Type, a: V, low: int, high: int) -> V:
    """Whether an unsigned integer is not in low <= a < high: by one comparison, signed as AVX2 has it."""
    sign = 1 << (t.bits - 1)
    moved, limit = (m.const(t, number % (1 << t.bits)) for number in (sign - low, high - low - sign))
    return m.compare("ge", signed(t.bits), m.add(t, a, moved), limit)


def saturated_add(m: Algebra[V], t: Type, a: V, b: V) -> V:
    """Signed sum, limited to the range of the type."""
    total = m.add(t, a, b)
    overflow = m.and_(t, m.xor(t, a, total), m.xor(t, b, total))
    return _limit(m, t, a, total, overflow)


def saturated_sub(m: Algebra[V], t: Type, a: V, b: V) -> V:
    """Signed difference, limited to the range of the type."""
    difference = m.sub(t, a, b)
    overflow = m.and_(t, m.xor(t, a, b), m.xor(t, a, difference))
    return _limit(m, t, a, difference, overflow)


def _limit(m: Algebra[V], t: Type, a: V, result: V, overflow: V) -> V:
    """The result, or the limit on the side of `a` where the sign bit of `overflow` is set."""
    sign = m.shift_right(t, a, m.const(U32, t.bits - 1))
    limit = m.xor(t, sign, m.const(t, (1 << (t.bits - 1)) - 1))
    return m.select(t, is_negative(m, t, overflow), limit, result)


def low_ones(m: Algebra[V], t: Type, n: V) -> V:
    """A mask of the `n` (.u32) lowest bits; all of them if `n` is the width or more."""
    return m.sub(t, m.shift_left(t, m.const(t, 1), n), m.const(t, 1))


# ---------------------------------------------------------------- floating point by its bits


def sign_mask(t: Type) -> int:
    return 1 << (t.bits - 1)


def infinity(t: Type) -> int:
    """The bits of +infinity."""
    return sign_mask(t) - (1 << SIGNIFICAND[t])


def one(t: Type) -> int:
    """The bits of 1.0."""
    return infinity(t) >> 1 & infinity(t)


def quiet_nan(t: Type) -> int:
    """The bits of the NaN that arithmetic on this type generates (H200)."""
    return sign_mask(t) - 1 if t.bits <= 32 else sign_mask(t) | infinity(t) | quiet_bit(t)


def quiet_bit(t: Type) -> int:
    """The bit that a NaN has if it is quiet."""
    return 1 << (SIGNIFICAND[t] - 1)


def quiet(m: PureAlgebra[V], t: Type, a: V) -> V:
    """A NaN made quiet."""
    u = unsigned(t.bits)
    return m.from_bits(t, m.or_(u, m.to_bits(t, a), m.const(u, quiet_bit(t))))


def chosen_nan(m: PureAlgebra[V], t: Type, a: V, *operands: V) -> V:
    """What `nan_result` says, by other primitives."""
    nan = m.const(t, quiet_nan(t))
    for operand in reversed(operands if t == F64 else ()):
        nan = m.select(t, m.is_nan(t, operand), quiet(m, t, operand), nan)
    return m.select(t, m.is_nan(t, a), nan, a)


def number(m: Algebra[V], t: Type, value: float) -> V:
    """A floating-point constant (f16, f32, f64) that is exactly `value` rounded to nearest."""
    return m.const(t, float_bits(t, value))


def float_bits(t: Type, value: float) -> int:
    """The bits of a Python float as `.f16`, `.f32` or `.f64`."""
    code = {16: "<e", 32: "<f", 64: "<d"}[t.bits]
    return int.from_bytes(struct.pack(code, value), "little")


def with_bits(m: Algebra[V], t: Type, a: V, change: Callable[[Type, V], V]) -> V:
    """Applies `change(bit type, bits)` to the bits of a floating-point column."""
    b = bits_type(t.bits)
    return m.from_bits(t, change(b, m.to_bits(t, a)))


def float_abs(m: Algebra[V], t: Type, a: V) -> V:
    """Sign bit cleared."""
    return with_bits(m, t, a, lambda b, x: m.and_(b, x, m.const(b, sign_mask(t) - 1)))


def float_neg(m: Algebra[V], t: Type, a: V) -> V:
    """Sign bit inverted."""
    return with_bits(m, t, a, lambda b, x: m.xor(b, x, m.const(b, sign_mask(t))))


def copy_sign(m: Algebra[V], t: Type, magnitude: V, sign: V) -> V:
    """`magnitude` with the sign bit of `sign`."""
    b = bits_type(t.bits)
    bit = m.and_(b, m.to_bits(t, sign), m.const(b, sign_mask(t)))
    return with_bits(m, t, magnitude, lambda b, x: m.or_(b, m.and_(b, x, m.const(b, sign_mask(t) - 1)), bit))


def flush_if(m: Algebra[V], t: Type, ftz: bool, *values: V) -> tuple[V, ...]:
    """The values with subnormals made zero if `ftz`."""
    return tuple(flushed(m, t, v) for v in values) if ftz else values


def flushed(m: Algebra[V], t: Type, a: V) -> V:
    """Subnormals made zero, for f32, f64 and the halves."""
    if t.is_native_float:
        return m.flush(t, a)
    u, exponent = unsigned(t.bits), infinity(t)
    small = m.compare("eq", u, m.and_(u, a, m.const(u, exponent)), m.const(u, 0))
    return m.select(u, small, m.and_(u, a, m.const(u, sign_mask(t))), a)


def flush_result(m: Algebra[V], t: Type, a: V, twice: Callable[..., V], *operands: V) -> V:
    """The primitive of that name, for the halves too."""
    if t.is_native_float:
        return m.flush_result(t, a, twice, *operands)
    return tiny_flushed(m, t, a, twice, *operands)


def tiny_flushed(m: PureAlgebra[V], t: Type, a: V, twice: Callable[..., V], *operands: V) -> V:
    """What `flush_result` says, by other primitives. The first test is one instruction on many CPUs; zeros
    and numbers up to twice the least normal one pass it, too."""
    u, least = unsigned(t.bits), 1 << SIGNIFICAND[t]
    exponent = m.and_(u, m.to_bits(t, a), m.const(u, infinity(t) - least))
    low = m.compare("eq", u, exponent, m.const(u, 0))
    operands = tuple(m.any_nan(t, o) for o in operands)
    return m.rarely(t, low, a, partial(low_flushed, t, twice), a, *operands)


def low_flushed(t: Type, twice: Callable[..., V], m: PureAlgebra[V], a: V, *operands: V) -> V:
    """The same, by an exact test of what is neither zero nor above the least normal number."""
    u, least = unsigned(t.bits), 1 << SIGNIFICAND[t]
    from_one = m.sub(u, _magnitude(m, t, a), m.const(u, 1))
    small = m.compare("lt", u, from_one, m.const(u, least))
    return m.rarely(t, small, a, partial(_zero_if_tiny, t, twice), a, *operands)


def _magnitude(m: PureAlgebra[V], t: Type, a: V) -> V:
    """The bits without the sign."""
    u = unsigned(t.bits)
    return m.and_(u, m.to_bits(t, a), m.const(u, sign_mask(t) - 1))


def _zero_if_tiny(t: Type, twice: Callable[..., V], m: PureAlgebra[V], a: V, *operands: V) -> V:
    """Of a result that is at most the least normal number in magnitude: a zero, if it is below by itself, or
    in twice its size."""
    u, least = unsigned(t.bits), 1 << SIGNIFICAND[t]
    below = m.compare("lt", u, _magnitude(m, t, a), m.const(u, least))
    doubled = _magnitude(m, t, twice(m, *operands))
    tiny = m.or_(PRED, below, m.compare("lt", u, doubled, m.const(u, least << 1)))
    sign = m.and_(u, m.to_bits(t, a), m.const(u, sign_mask(t)))
    return m.select(t, tiny, m.from_bits(t, sign), a)


def double(m: Algebra[V], t: Type, a: V) -> V:
    """Twice a number: exact, but for overflow and subnormal halves of numbers."""
    return m.fadd(t, a, a, "rn")


def twice_product(t: Type, rnd: Rounding, m: Algebra[V], a: V, b: V) -> V:
    """2 a b for `flush_result`: with b flushed and a b tiny, 2 a does not overflow."""
    return m.fmul(t, double(m, t, a), b, rnd)


def twice_fused(t: Type, rnd: Rounding, m: Algebra[V], a: V, b: V, c: V) -> V:
    """2 (a b + c) for `flush_result`. Where 2 a overflows, a b + c is exact, and infinity is not tiny."""
    return m.fma(t, double(m, t, a), b, double(m, t, c), rnd)


def twice_quotient(t: Type, rnd: Rounding, m: Algebra[V], a: V, b: V) -> V:
    """2 a / b for `flush_result`: with a / b tiny and b finite, 2 a does not overflow."""
    return m.fdiv(t, double(m, t, a), b, rnd)


def saturate(m: Algebra[V], t: Type, a: V) -> V:
    """Limited to [+0.0, 1.0]; NaN becomes +0.0 (notes of tables 38 to 42)."""
    return m.fmin(t, m.fmax(t, a, m.const(t, 0)), number(m, t, 1.0))


def finish(m: Algebra[V], t: Type, a: V, ftz: bool, sat: bool, *operands: V) -> V:
    """A result of f32 or f64 arithmetic that is never tiny and inexact, flushed and saturated as asked; for
    the operands' order see `nan_result`."""
    (a,) = flush_if(m, t, ftz, a)
    return saturate(m, t, a) if sat else m.nan_result(t, a, *operands)


def finish_rounded(
    m: Algebra[V], t: Type, a: V, ftz: bool, sat: bool, twice: Callable[..., V], *operands: V
) -> V:
    """A result of f32 or f64 arithmetic that may be tiny and inexact, flushed and saturated as asked; for
    `twice` see `flush_result`. Of f64 operands the second is looked at first, then the third (H200)."""
    a = flush_result(m, t, a, twice, *operands) if ftz else a
    return saturate(m, t, a) if sat else m.nan_result(t, a, *operands[1:], operands[0])


# ---------------------------------------------------------------- packed pairs


def halves(m: Algebra[V], a: V) -> tuple[V, V]:
    """The low and the high 16 bits of a 32-bit column, as 16-bit columns."""
    b32, b16 = bits_type(32), bits_type(16)
    high = m.shift_right(b32, a, m.const(U32, 16))
    return m.resize(b32, b16, a), m.resize(b32, b16, high)


def join(m: Algebra[V], low: V, high: V) -> V:
    """Two 16-bit columns as one of 32 bits."""
    b32, b16 = bits_type(32), bits_type(16)
    upper = m.shift_left(b32, m.resize(b16, b32, high), m.const(U32, 16))
    return m.or_(b32, m.resize(b16, b32, low), upper)


def by_halves(
    m: Algebra[V], t: Type, function: Callable[[Algebra[V], Type, *Operands], V], *operands: *Operands
) -> V:
    """`function(algebra, element type, *operands)`, for packed types on both halves."""
    if t.kind is not Kind.PACKED:
        return function(m, t, *operands)
    each = cast("Callable[..., V]", function)

    def on_halves(inner: Algebra[V], *values: V) -> V:
        return each(inner, HALF_OF[t], *values)

    return m.halfwise(on_halves, *cast("tuple[V, ...]", operands))


# ---------------------------------------------------------------- comparison (tables 13 to 16)

ORDERED: dict[str, Comparison] = {
    "eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge",
    "lo": "lt", "ls": "le", "hi": "gt", "hs": "ge",
}  # fmt: skip
"""Comparisons of integers, and of numbers where NaN makes them false."""

UNORDERED: dict[str, Comparison] = {
    "equ": "ne", "neu": "eq", "ltu": "ge", "leu": "gt", "gtu": "le", "geu": "lt",
}  # fmt: skip
"""Comparisons that NaN makes true, each by the ordered one of which it is the complement."""


def comparison(m: Algebra[V], op: str, t: Type, a: V, b: V) -> V:
    """`a op b` for any comparison operator of tables 13 to 16; halves are compared as f32."""
    if t.is_float and not t.is_native_float:
        a, b, t = m.float_to_float(t, F32, a, "rn"), m.float_to_float(t, F32, b, "rn"), F32
    if op in ("num", "nan"):
        nan = m.or_(PRED, m.is_nan(t, a), m.is_nan(t, b))
        return nan if op == "nan" else m.invert(PRED, nan)
    if op in UNORDERED:
        return m.invert(PRED, m.compare(UNORDERED[op], t, a, b))
    return m.compare(ORDERED[op], t, a, b)
