"""What every primitive must give, computed with Python's integers and fractions.

Values are bit patterns (Python ints); a float result of None stands for any NaN. Everything is written
from the definitions in `simt.isa.algebra` and IEEE 754, and shares no code with the engines.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from functools import cache

from simt.ptx.types import U32, Type

MANTISSAS = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52}
ROUNDINGS = ("rn", "rz", "rm", "rp")


class Float:
    """A format: fields by name, and special bit patterns."""

    def __init__(self, t: Type) -> None:
        self.bits = t.bits
        self.mantissa = MANTISSAS[t.name]
        self.sign = 1 << (t.bits - 1)
        exponent_bits = t.bits - 1 - self.mantissa
        self.infinity = ((1 << exponent_bits) - 1) << self.mantissa
        self.least_exponent = 2 - (1 << (exponent_bits - 1))

    def is_nan(self, x: int) -> bool:
        return x & ~self.sign > self.infinity

    def is_infinite(self, x: int) -> bool:
        return x & ~self.sign == self.infinity

    def is_zero(self, x: int) -> bool:
        return x & ~self.sign == 0

    def negative(self, x: int) -> bool:
        return bool(x & self.sign)

    def value(self, x: int) -> Fraction:
        """The value of finite bits."""
        field = (x & ~self.sign) >> self.mantissa
        fraction = x & ((1 << self.mantissa) - 1)
        if field:
            fraction |= 1 << self.mantissa
        scale = max(field, 1) - 1 + self.least_exponent - self.mantissa
        magnitude = Fraction(fraction) * Fraction(2) ** scale
        return -magnitude if self.negative(x) else magnitude

    def encode(self, x: Fraction, rounding: str, zero_negative: bool = False) -> int:
        """The bits nearest to `x` in the direction given; zeros by the sign asked for."""
        if x == 0:
            return self.sign if zero_negative else 0
        negative, magnitude = x < 0, abs(x)
        exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
        if Fraction(2) ** exponent > magnitude:
            exponent -= 1
        exponent = max(exponent, self.least_exponent)
        units = round_integer(magnitude / Fraction(2) ** (exponent - self.mantissa), rounding, negative)
        bits = ((exponent - self.least_exponent) << self.mantissa) + units
        if bits >= self.infinity:
            away = rounding == "rn" or rounding == ("rm" if negative else "rp")
            bits = self.infinity if away else self.infinity - 1
        return bits | (self.sign if negative else 0)


def round_integer(magnitude: Fraction, rounding: str, negative: bool) -> int:
    """A magnitude to an integer, in the direction that `rounding` means for its sign."""
    if rounding == "rn":
        return round(magnitude)  # Python rounds fractions half to even
    up = rounding == ("rm" if negative else "rp")
    return math.ceil(magnitude) if up else math.floor(magnitude)


@cache
def float_format(t: Type) -> Float:
    return Float(t)


def signed(x: int, bits: int) -> int:
    return x - (1 << bits) if x >> (bits - 1) else x


def number(t: Type, x: int) -> int:
    return signed(x, t.bits) if t.is_signed else x


# ---------------------------------------------------------------- bits and integers


def shift_left(t: Type, a: int, n: int) -> int:
    return (a << n) % 2**t.bits if n < t.bits else 0


def shift_right(t: Type, a: int, n: int) -> int:
    return (number(t, a) >> min(n, t.bits)) % 2**t.bits


def leading_zeros(t: Type, a: int) -> int:
    return t.bits - a.bit_length()


def reverse_bits(t: Type, a: int) -> int:
    return int(f"{a:0{t.bits}b}"[::-1], 2)


def mul_high(t: Type, a: int, b: int) -> int:
    return (number(t, a) * number(t, b) >> t.bits) % 2**t.bits


def divide(t: Type, a: int, b: int) -> int:
    if b == 0:
        return 2**t.bits - 1
    x, y = number(t, a), number(t, b)
    quotient = abs(x) // abs(y)
    return (-quotient if (x < 0) != (y < 0) else quotient) % 2**t.bits


def remainder(t: Type, a: int, b: int) -> int:
    if b == 0:
        return 2**t.bits - 1
    x, y = number(t, a), number(t, b)
    rest = abs(x) % abs(y)
    return (-rest if x < 0 else rest) % 2**t.bits


def short(function: Callable[[Type, int, int], int], t: Type, a: int, b: int) -> int:
    """A function of 64 bits that programs do in 32 where the upper halves are zero."""
    return function(t, a, b) if (a | b) >> 32 else function(U32, a, b)


def compare(op: str, t: Type, a: int, b: int) -> int:
    if t.is_float:
        f = float_format(t)
        if f.is_nan(a) or f.is_nan(b):
            return 0
        return int(getattr(operator, op)(order(f, a), order(f, b)))
    return int(getattr(operator, op)(number(t, a), number(t, b)))


def order(f: Float, x: int) -> Fraction | float:
    if f.is_infinite(x):
        return -math.inf if f.negative(x) else math.inf
    return f.value(x)


def resize(source: Type, target: Type, a: int) -> int:
    return number(source, a) % 2**target.bits


# ---------------------------------------------------------------- floating point


def fma(t: Type, a: int, b: int, c: int, rounding: str) -> int | None:
    f = float_format(t)
    if f.is_nan(a) or f.is_nan(b) or f.is_nan(c):
        return None
    negative = f.negative(a) != f.negative(b)
    if f.is_infinite(a) or f.is_infinite(b):
        if f.is_zero(a) or f.is_zero(b):
            return None
        if f.is_infinite(c) and f.negative(c) != negative:
            return None
        return f.infinity | (f.sign if negative else 0)
    if f.is_infinite(c):
        return c
    total = f.value(a) * f.value(b) + f.value(c)
    return f.encode(total, rounding, zero_sum(negative, f.negative(c), rounding))


def zero_sum(a_negative: bool, b_negative: bool, rounding: str) -> bool:
    """The sign of a sum that is exactly zero (IEEE 754, 6.3)."""
    return a_negative if a_negative == b_negative else rounding == "rm"


def fadd(t: Type, a: int, b: int, rounding: str) -> int | None:
    f = float_format(t)
    if f.is_nan(a) or f.is_nan(b):
        return None
    if f.is_infinite(a) or f.is_infinite(b):
        if f.is_infinite(a) and f.is_infinite(b) and a != b:
            return None
        return a if f.is_infinite(a) else b
    zero = zero_sum(f.negative(a), f.negative(b), rounding)
    return f.encode(f.value(a) + f.value(b), rounding, zero)


def fsub(t: Type, a: int, b: int, rounding: str) -> int | None:
    return fadd(t, a, b ^ float_format(t).sign, rounding)


def fmul(t: Type, a: int, b: int, rounding: str) -> int | None:
    f = float_format(t)
    if f.is_nan(a) or f.is_nan(b):
        return None
    negative = f.negative(a) != f.negative(b)
    if f.is_infinite(a) or f.is_infinite(b):
        if f.is_zero(a) or f.is_zero(b):
            return None
        return f.infinity | (f.sign if negative else 0)
    return f.encode(f.value(a) * f.value(b), rounding, negative) | (f.sign if negative else 0)


def fdiv(t: Type, a: int, b: int, rounding: str) -> int | None:
    f = float_format(t)
    if f.is_nan(a) or f.is_nan(b) or (f.is_infinite(a) and f.is_infinite(b)):
        return None
    sign = (a ^ b) & f.sign
    if f.is_infinite(a):
        return f.infinity | sign
    if f.is_infinite(b):
        return sign
    if f.is_zero(b):
        return None if f.is_zero(a) else f.infinity | sign
    return f.encode(f.value(a) / f.value(b), rounding, bool(sign)) | sign


def fsqrt(t: Type, a: int, rounding: str) -> int | None:
    f = float_format(t)
    if f.is_nan(a):
        return None
    if f.is_zero(a):
        return a
    if f.negative(a):
        return None
    if f.is_infinite(a):
        return a
    scaled = f.value(a) * 4**1200
    root = math.isqrt(int(scaled))
    sticky = 2 * root + (root * root != scaled)
    return f.encode(Fraction(sticky, 2**1201), rounding)


def fmin(t: Type, a: int, b: int) -> int | None:
    return _extreme(t, a, b, False)


def fmax(t: Type, a: int, b: int) -> int | None:
    return _extreme(t, a, b, True)


def _extreme(t: Type, a: int, b: int, largest: bool) -> int | None:
    f = float_format(t)
    numbers = [x for x in (a, b) if not f.is_nan(x)]
    if not numbers:
        return None
    return sorted(numbers, key=lambda x: (order(f, x), not f.negative(x)))[-1 if largest else 0]


def is_nan(t: Type, a: int) -> int:
    return int(float_format(t).is_nan(a))


def flush(t: Type, a: int) -> int | None:
    f = float_format(t)
    if f.is_nan(a):
        return None
    return a & f.sign if a & ~f.sign < 1 << f.mantissa else a


def round_integral(t: Type, a: int, rounding: str) -> int | None:
    f = float_format(t)
    if f.is_nan(a):
        return None
    if f.is_infinite(a):
        return a
    magnitude = Fraction(round_integer(abs(f.value(a)), rounding, f.negative(a)))
    return f.encode(magnitude, "rn") | (a & f.sign)


def float_to_float(source: Type, target: Type, a: int, rounding: str) -> int | None:
    s, f = float_format(source), float_format(target)
    if s.is_nan(a):
        return None
    sign = f.sign if s.negative(a) else 0
    if s.is_infinite(a):
        return f.infinity | sign
    return f.encode(s.value(a), rounding, bool(sign)) | sign


def float_to_int(source: Type, target: Type, a: int, rounding: str) -> int:
    f = float_format(source)
    if f.is_nan(a):
        return 0
    low = -(2 ** (target.bits - 1)) if target.is_signed else 0
    high = low + 2**target.bits - 1
    if f.is_infinite(a):
        return (low if f.negative(a) else high) % 2**target.bits
    rounded = round_integer(abs(f.value(a)), rounding, f.negative(a))
    return min(max(-rounded if f.negative(a) else rounded, low), high) % 2**target.bits


def int_to_float(source: Type, target: Type, a: int, rounding: str) -> int:
    return float_format(target).encode(Fraction(number(source, a)), rounding)
