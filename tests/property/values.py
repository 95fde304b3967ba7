"""Input values: special ones for every type, and random ones that meet at the edges."""

from __future__ import annotations

import random

import numpy as np
from numpy.typing import NDArray

from simt.ptx.types import PRED, Type
from tests.property.oracle import MANTISSAS, float_format

Column = NDArray[np.unsignedinteger]


def specials(t: Type) -> list[int]:
    """Zeros, subnormals, the least normal, the largest, infinities, NaNs, powers of two and neighbours."""
    if t.is_predicate:
        return [0, 1]
    if t.is_float:
        return _float_specials(t)
    top = 1 << (t.bits - 1)
    near = {0, 1, 2, 3, 7, 8, 31, 32, 33, top // 2, 2**t.bits // 3}
    return sorted(
        {(x + d) % 2**t.bits for x in (*near, top) for d in (-1, 0, 1)} | {-x % 2**t.bits for x in near}
    )


def _float_specials(t: Type) -> list[int]:
    f = float_format(t)
    least_normal, one = 1 << f.mantissa, ((f.infinity >> f.mantissa) // 2) << f.mantissa
    half_ulp = one - ((f.mantissa + 1) << f.mantissa)
    centres = [least_normal, one, one + least_normal, one + (1 << (f.mantissa - 1)), half_ulp]
    centres += [one + (f.mantissa << f.mantissa), one + (31 << f.mantissa), one + (63 << f.mantissa)]
    positive = {0, 1, 2, 3, f.infinity - 1, f.infinity, f.infinity + 1, f.infinity | 1 << (f.mantissa - 1)}
    positive |= {x + d for x in centres if x < f.infinity for d in (-1, 0, 1)}
    positive |= {
        one + (p << f.mantissa) + 1 for p in (-60, -1, 3, 60) if 0 < one + (p << f.mantissa) < f.infinity
    }
    return sorted(positive | {x | f.sign for x in positive})


def random_value(t: Type, source: random.Random) -> int:
    """Any bits, or few significant bits, or an exponent near the middle."""
    bits = source.getrandbits(t.bits)
    kind = source.randrange(4)
    if not t.is_float or t.is_predicate or kind == 0:
        return bits >> source.randrange(t.bits) if kind == 1 else bits
    mantissa = MANTISSAS[t.name]
    if kind == 1:  # few bits, so that exact and halfway results occur
        return bits & ~((1 << source.randrange(mantissa + 1)) - 1)
    f = float_format(t)
    middle = (f.infinity >> f.mantissa) // 2 + source.randrange(-mantissa, mantissa)
    exponent = max(0, min(middle, (f.infinity >> f.mantissa) - 1))
    return (bits & (f.sign | (1 << mantissa) - 1)) | exponent << mantissa


def tuples(types: tuple[Type, ...], count: int, seed: int) -> list[tuple[int, ...]]:
    """Pairs of specials first (all of them for one or two operands), then random ones."""
    source = random.Random(seed)
    special = [specials(t) for t in types]
    if len(types) == 1:
        found = [(a,) for a in special[0]]
    elif len(types) == 2:
        found = [(a, b) for a in special[0] for b in special[1]]
        source.shuffle(found)
        found = found[:count]
    else:
        found = [tuple(source.choice(s) for s in special) for _ in range(count)]
    found += [tuple(random_value(t, source) for t in types) for _ in range(count)]
    found += [cancelling(types, source) for _ in range(count // 2)]
    return found


def cancelling(types: tuple[Type, ...], source: random.Random) -> tuple[int, ...]:
    """Operands close to each other; for three floats the last one near minus the product."""
    first = random_value(types[0], source)
    if len(types) == 3 and all(t.is_float for t in types):
        return _near_product(types[0], first, random_value(types[1], source), source)
    near = [(first + source.randrange(-2, 3)) % 2**t.bits for t in types[1:]]
    return (first, *near)


def _near_product(t: Type, a: int, b: int, source: random.Random) -> tuple[int, ...]:
    f = float_format(t)
    if any(f.is_nan(x) or f.is_infinite(x) for x in (a, b)):
        return a, b, random_value(t, source)
    c = f.encode(-f.value(a) * f.value(b), "rn")
    moved = max(0, min((c & ~f.sign) + source.randrange(-2, 3), f.infinity))
    return a, b, moved | (c & f.sign)


def columns(types: tuple[Type, ...], rows: list[tuple[int, ...]]) -> list[Column]:
    """Rows of operands as one array of unsigned bits each; predicates as bytes of 0 or 1."""
    return [np.array([row[i] for row in rows], dtype=bits_dtype(t)) for i, t in enumerate(types)]


def bits_dtype(t: Type) -> np.dtype[np.unsignedinteger]:
    return np.dtype(f"u{1 if t is PRED else t.bytes}")
