"""Operands to try instructions on: special values crossed with each other, edges of rounding, random bits.

A column holds the bits of one operand for all lanes, as 64-bit integers. Its lanes by number:

- 0 to 511: eight special values, crossed over three places;
- 512 to 767: sixteen special values, crossed over two places;
- 768 to 1023: values drawn together for all places, so that sums, products or quotients lie at an edge.

The columns for instructions of one operand (`alone`) hold more different values instead.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from simt.ptx.types import F16X2, PRED, S16X2, TYPES, U16X2, Kind, Type, floating
from tests.property.oracle import Float, float_format
from tests.unit.isa.meaning import Array

LANES = 1024
PLACES = 4
CROSSED, PAIRED = 512, 768
DRAWN = LANES - PAIRED


def columns(single: bool = False) -> dict[str, Array]:
    """Operands by type and place, as `f32_0`, and `carry` for the carry flag. `single`: those of the first
    place are for instructions of one operand."""
    types = [t for t in TYPES.values() if t.bits <= 64]
    found = {f"{t.name}_{i}": column(t, i) for t in types for i in range(PLACES)}
    if single:
        found |= {f"{t.name}_0": alone(t) for t in types if t.kind is not Kind.PACKED and t is not PRED}
    return found | {"carry": np.random.default_rng(99).integers(0, 2, LANES).astype(np.uint64)}


def column(t: Type, place: int) -> Array:
    """One operand in all lanes."""
    if t.is_predicate:
        return np.random.default_rng(place).integers(0, 2, LANES).astype(np.uint64)
    if t.kind is Kind.PACKED:
        return _pairs(t, place)
    few, more = np.array(special(t)[:8], np.uint64), np.array(special(t), np.uint64)
    lanes = np.arange(LANES)
    crossed = few[lanes[:CROSSED] // 8 ** min(place, 2) % 8]
    paired = more[lanes[:DRAWN] // 16**place % 16 if place < 2 else lanes[:DRAWN] * 5 % 16]
    return np.concatenate([crossed, paired, drawn(t)[place]])


def _pairs(t: Type, place: int) -> Array:
    """Two values side by side: as for single ones, the upper halves in another order of lanes."""
    half = {F16X2: floating(16), U16X2: TYPES["u16"], S16X2: TYPES["s16"]}.get(t, TYPES["bf16"])
    order = np.random.default_rng(place).permutation(LANES)
    return column(half, place) | column(half, place)[order] << np.uint64(16)


def special(t: Type) -> list[int]:
    """Sixteen special values of a type, the most telling eight first."""
    if not t.is_float:
        top, all_ones = 1 << (t.bits - 1), (1 << t.bits) - 1
        odd = [v % (top * 2) for v in (33, 64, 2, 0x5555555555555555, 3, 255, top + 1, -2)]
        return [0, 1, all_ones, top, top - 1, 31 % top, 32 % top, all_ones // 3 * 2, *odd]
    f = float_format(t)
    one, least = one_of(f), 1 << f.mantissa
    quiet = f.infinity | least >> 1
    best = [0, f.sign | (f.infinity - 1), least, f.sign | 3, f.sign | f.infinity, quiet | 5]
    best += [f.sign | f.infinity | 9, one + 1]
    return [
        *best, f.sign, f.infinity, f.sign | one, f.sign | quiet, f.infinity | 1, least - 1,
        f.sign | quiet | 1, (one + (1 << f.mantissa)) ^ (least >> 1),
    ]  # fmt: skip


def one_of(f: Float) -> int:
    """The bits of 1.0."""
    return f.infinity // 2 >> f.mantissa << f.mantissa


# ---------------------------------------------------------------- values drawn together


@cache
def drawn(t: Type) -> list[Array]:
    """Values of all places: their sums, products and quotients lie at edges."""
    with np.errstate(all="ignore"):
        return _drawn_floats(t) if t.is_float else _drawn_integers(t)


def _drawn_integers(t: Type) -> list[Array]:
    random = np.random.default_rng(t.bits)
    mask = np.uint64((1 << t.bits) - 1)

    def bits() -> Array:
        whole = np.frombuffer(random.bytes(8 * DRAWN), np.uint64) & mask
        return whole >> random.integers(0, t.bits, DRAWN).astype(np.uint64)

    a, b, c = bits(), bits(), bits()
    near = random.integers(-1, 2, DRAWN).astype(np.int64).view(np.uint64)
    small = random.integers(0, 2 * t.bits + 8, DRAWN).astype(np.uint64)
    kinds = np.arange(DRAWN) % 4
    second = np.choose(kinds, [b, ~a + near, small, b | np.uint64(1)])
    first = np.choose(kinds, [a, a, a, (b | np.uint64(1)) * (c >> np.uint64(t.bits // 2)) + near])
    return [x & mask for x in (first, second, np.where(kinds == 2, small[::-1], c), bits())]


def _drawn_floats(t: Type) -> list[Array]:
    """In each lane one of eight ways to come near an edge, then moved by few steps."""
    random = np.random.default_rng(t.bits + 1)
    f = float_format(t)
    step, largest = 2.0**-f.mantissa, value_of(t, np.array([f.infinity - 1], np.uint64))[0]
    least = value_of(t, np.array([1 << f.mantissa], np.uint64))[0]
    noise = [value_of(t, np.frombuffer(random.bytes(8 * DRAWN), np.uint64)) for _ in range(PLACES)]
    a, b, c, e = (np.where(np.isfinite(n), n, 1.5) for n in noise)
    x, y, z = (_moderate(random) for _ in range(3))
    ways = [
        (a, b, c),
        (x, y, z),
        (x, largest / x, largest * step * y),
        (x, least / x, least * y),
        (x, -x, a),
        (x, y, -x * y),
        (x, x * step * random.integers(-4, 5, DRAWN) / 2, y),
        (x * y, y, x),
    ]
    kinds = np.arange(DRAWN) % len(ways)
    found = [bits_of(t, np.choose(kinds, [w[i] for w in ways])) for i in range(3)]
    moved = [(bits + random.integers(-2, 3, DRAWN).astype(np.int64).view(np.uint64)) for bits in found]
    mask = np.uint64((1 << t.bits) - 1)
    chosen = [np.where(random.random(DRAWN) < 0.5, m & mask, bits) for m, bits in zip(moved, found)]
    raw = np.frombuffer(random.bytes(8 * DRAWN), np.uint64) & mask
    return [*(np.where(kinds == 0, raw ^ bits, bits) for bits in chosen), bits_of(t, e)]


def _moderate(random: np.random.Generator) -> Array:
    """Numbers from 1/16 to 16 of both signs, some of them powers of two."""
    exponents = random.uniform(-4, 4, DRAWN)
    values = np.exp2(np.where(random.random(DRAWN) < 0.2, np.floor(exponents), exponents))
    return np.where(random.random(DRAWN) < 0.5, values, -values)


def value_of(t: Type, bits: Array) -> Array:
    """The values of bits, as doubles."""
    with np.errstate(invalid="ignore"):  # signalling NaNs
        return _value_of(t, bits)


def _value_of(t: Type, bits: Array) -> Array:
    if t.name == "bf16":
        return (bits.astype(np.uint16).astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)
    return bits.astype(f"u{t.bytes}").view(f"f{t.bytes}").astype(np.float64)


def bits_of(t: Type, values: Array) -> Array:
    """The bits near values, in 64 bits."""
    if t.name == "bf16":
        return ((values.astype(np.float32).view(np.uint32) + np.uint32(0x8000)) >> np.uint32(16)).astype(
            np.uint64
        )
    return values.astype(f"f{t.bytes}").view(f"u{t.bytes}").astype(np.uint64)


# ---------------------------------------------------------------- instructions of one operand


def alone(t: Type) -> Array:
    """Special values, then the edges of every conversion, then values of all magnitudes."""
    random = np.random.default_rng(t.bits + 2)
    raw = np.frombuffer(random.bytes(8 * LANES), np.uint64) & np.uint64((1 << t.bits) - 1)
    with np.errstate(all="ignore"):
        edges = _edges(t) if t.is_float else _integer_edges(t)
    wanted = np.concatenate([np.array(special(t), np.uint64), edges])[: LANES - LANES // 4]
    rest = raw[len(wanted) :]
    if not t.is_float:
        rest = rest >> random.integers(0, t.bits, len(rest)).astype(np.uint64)
    return np.concatenate([wanted, rest])


def _integer_edges(t: Type) -> Array:
    """Beside powers of two, and halfway between neighbours of the float formats."""
    found: list[int] = []
    for n in range(t.bits):
        for ulp in {0, *(n - m for m in (8, 11, 24, 53) if n > m)}:
            half = 1 << ulp >> 1
            found += [(1 << n) + k * (half or 1) + d for k in (-1, 1, 3) for d in (-1, 0, 1)]
    both = [v % (1 << t.bits) for value in dict.fromkeys(found) for v in (value, -value)]
    return np.random.default_rng(0).permutation(np.array(list(dict.fromkeys(both)), np.uint64))


def _edges(t: Type) -> Array:
    """Beside the limits of integer types, beside halves, halfway between numbers of narrower formats, and
    beside their least and largest numbers."""
    random = np.random.default_rng(t.bits + 3)
    limits = [
        s * 2.0**n + d for n in (0, 7, 8, 15, 16, 31, 32, 63, 64) for s in (-1, 1) for d in (-1, -0.5, 0, 0.5)
    ]
    halves = [k / 4 for k in range(-24, 25)]
    narrower = [
        2.0**n * s for n in (-150, -149, -134, -133, -127, -126, -25, -24, -15, -14, 16, 128) for s in (-1, 1)
    ]
    largest = [
        s * v for s in (-1, 1) for v in (65504.0, 65519.0, 65520.0, 3.3895313892515355e38, 3.4028235e38)
    ]
    ties = np.ldexp(1 + (2 * random.integers(0, 2**11, 200) + 1) * 2.0 ** -random.choice([8, 11, 24], 200),
                    random.integers(-30, 40, 200))  # fmt: skip
    exact = bits_of(
        t, np.array([*limits, *halves, *narrower, *largest, *(ties * random.choice([-1, 1], 200))])
    )
    beside = [exact + np.uint64(1), exact - np.uint64(1)]
    mask = np.uint64((1 << t.bits) - 1)
    return random.permutation(np.unique(np.concatenate([exact, *beside]) & mask))
