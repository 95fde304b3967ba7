"""Bounds and alignment of integers: what every primitive makes of them.

A range stands for the values that any lane can have, lanes that do not run included where a value is
computed for the whole warp. Integers are taken modulo 2^bits; a range is one stretch of them.
"""

from __future__ import annotations

from collections.abc import Callable

from simt.analysis.effects import WithoutEffects
from simt.analysis.shape import WARP, BlockShape, trailing_zeros
from simt.analysis.shape_algebra import COMPARED
from simt.isa.algebra import Comparison, Rounding
from simt.ptx.types import U32, U64, Type
from simt.records import dataclass, quick

ANY = 1 << 64
"""Values in a stretch that holds every integer of every width."""
LARGEST_GRID = (1 << 31) - 1


@quick
@dataclass(frozen=True, slots=True)
class Range:
    """Every value is, modulo 2^bits, one of `lo..hi` (lo may be negative) and a multiple of `2**zeros`."""

    lo: int
    hi: int
    zeros: int = 0


UNKNOWN = Range(0, ANY - 1)
EITHER = Range(0, 1)
"""Of a predicate."""


def constant(value: int) -> Range:
    return Range(value, value, trailing_zeros(value))


def join(a: Range, b: Range) -> Range:
    """Values of either."""
    return Range(min(a.lo, b.lo), max(a.hi, b.hi), min(a.zeros, b.zeros))


def made(t: Type, lo: int, hi: int, zeros: int = 0) -> Range:
    """The integers `lo..hi` as values of a type."""
    span = 1 << t.bits
    zeros = min(zeros, t.bits)
    if hi - lo >= span:
        return Range(0, ANY - 1, zeros)
    lo, hi = lo % span, lo % span + hi - lo
    return Range(lo, hi, zeros) if hi < span else Range(lo - span, hi - span, zeros)


def unsigned_bounds(t: Type, a: Range) -> tuple[int, int]:
    """Least and greatest value, taken as unsigned."""
    top = (1 << t.bits) - 1
    return (a.lo, a.hi) if a.lo >= 0 and a.hi <= top else (0, top)


def signed_bounds(t: Type, a: Range) -> tuple[int, int]:
    """Least and greatest value, taken as signed."""
    half = 1 << (t.bits - 1)
    if -half <= a.lo and a.hi < half:
        return a.lo, a.hi
    if half <= a.lo and a.hi < 2 * half:
        return a.lo - 2 * half, a.hi - 2 * half
    return -half, half - 1


def bounds(t: Type, a: Range) -> tuple[int, int]:
    return signed_bounds(t, a) if t.is_signed else unsigned_bounds(t, a)


class RangeAlgebra(WithoutEffects[Range]):
    """`simt.isa.algebra.Algebra` over ranges, for CTAs of a shape."""

    def __init__(self, block: BlockShape) -> None:
        self.block = block

    # -- constants, choice, bits -------------------------------------------------------------------
    def const(self, t: Type, bits: int) -> Range:
        return constant(bits)

    def select(self, t: Type, p: Range, a: Range, b: Range) -> Range:
        if p.lo == p.hi:
            return a if p.lo else b
        return join(a, b)

    def lookup(self, t: Type, index: Range, *tables: tuple[int, ...]) -> tuple[Range, ...]:
        return tuple(Range(min(table), max(table)) for table in tables)

    def halfwise(self, function: Callable[..., Range], *operands: Range) -> Range:
        return UNKNOWN

    by_halves = halfwise

    def bytewise(self, function: Callable[..., Range], a: Range, b: Range, c: Range) -> Range:
        return function(self, a, b, c)

    def rarely(self, t: Type, p: Range, usual: Range, other: Callable[..., Range], *operands: Range) -> Range:
        return UNKNOWN

    def and_(self, t: Type, a: Range, b: Range) -> Range:
        if t.is_predicate:
            return Range(min(a.lo, b.lo), min(a.hi, b.hi))
        (v, x), (w, y) = unsigned_bounds(t, a), unsigned_bounds(t, b)
        if v == x and w == y:
            return constant(x & y)
        return Range(0, min(x, y), max(a.zeros, b.zeros))

    def or_(self, t: Type, a: Range, b: Range) -> Range:
        if t.is_predicate:
            return Range(max(a.lo, b.lo), max(a.hi, b.hi))
        return self._joined_bits(t, a, b)

    def xor(self, t: Type, a: Range, b: Range) -> Range:
        return self._joined_bits(t, a, b)

    def _joined_bits(self, t: Type, a: Range, b: Range) -> Range:
        if t.is_predicate:
            return EITHER
        (_, x), (_, y) = unsigned_bounds(t, a), unsigned_bounds(t, b)
        return Range(0, (1 << max(x, y).bit_length()) - 1, min(a.zeros, b.zeros))

    def invert(self, t: Type, a: Range) -> Range:
        return Range(1 - a.hi, 1 - a.lo) if t.is_predicate else made(t, -1 - a.hi, -1 - a.lo)

    def shift_left(self, t: Type, a: Range, n: Range) -> Range:
        if n.lo != n.hi or not 0 <= n.lo < t.bits:
            return Range(0, ANY - 1, a.zeros)
        return made(t, a.lo << n.lo, a.hi << n.lo, a.zeros + n.lo)

    def shift_right(self, t: Type, a: Range, n: Range) -> Range:
        least, most = n.lo, n.hi
        if not 0 <= least <= most < t.bits:
            least, most = 0, t.bits
        lo, hi = bounds(t, a)
        ends = (lo >> least, lo >> most, hi >> least, hi >> most)
        return made(t, min(ends), max(ends), max(0, a.zeros - most))

    def popcount(self, t: Type, a: Range) -> Range:
        return Range(0, t.bits)

    def leading_zeros(self, t: Type, a: Range) -> Range:
        return Range(0, t.bits)

    def reverse_bits(self, t: Type, a: Range) -> Range:
        return UNKNOWN

    # -- integers ----------------------------------------------------------------------------------
    def add(self, t: Type, a: Range, b: Range) -> Range:
        return made(t, a.lo + b.lo, a.hi + b.hi, min(a.zeros, b.zeros))

    def sub(self, t: Type, a: Range, b: Range) -> Range:
        return made(t, a.lo - b.hi, a.hi - b.lo, min(a.zeros, b.zeros))

    def mul(self, t: Type, a: Range, b: Range) -> Range:
        ends = (a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi)
        return made(t, min(ends), max(ends), a.zeros + b.zeros)

    def mul_high(self, t: Type, a: Range, b: Range) -> Range:
        (al, ah), (bl, bh) = bounds(t, a), bounds(t, b)
        ends = (al * bl, al * bh, ah * bl, ah * bh)
        return made(t, min(ends) >> t.bits, max(ends) >> t.bits)

    def dot_of_bytes(self, t: Type, u: Type, a: Range, b: Range) -> Range:
        return made(U32, 0, (1 << U32.bits) - 1)

    def divide(self, t: Type, a: Range, b: Range) -> Range:
        (al, ah), (bl, bh) = bounds(t, a), bounds(t, b)
        if al < 0 or bl <= 0:  # division by zero gives all ones
            return UNKNOWN
        return made(t, al // bh, ah // bl)

    def remainder(self, t: Type, a: Range, b: Range) -> Range:
        (al, ah), (bl, bh) = bounds(t, a), bounds(t, b)
        if al < 0 or bl <= 0:
            return UNKNOWN
        return made(t, 0, min(ah, bh - 1))

    def divide_short(self, t: Type, a: Range, b: Range) -> Range:
        return self.divide(t, a, b)

    def remainder_short(self, t: Type, a: Range, b: Range) -> Range:
        return self.remainder(t, a, b)

    def minimum(self, t: Type, a: Range, b: Range) -> Range:
        (al, ah), (bl, bh) = bounds(t, a), bounds(t, b)
        return made(t, min(al, bl), min(ah, bh), min(a.zeros, b.zeros))

    def maximum(self, t: Type, a: Range, b: Range) -> Range:
        (al, ah), (bl, bh) = bounds(t, a), bounds(t, b)
        return made(t, max(al, bl), max(ah, bh), min(a.zeros, b.zeros))

    def compare(self, op: Comparison, t: Type, a: Range, b: Range) -> Range:
        if t.is_float:
            return EITHER
        (al, ah), (bl, bh) = bounds(t, a), bounds(t, b)
        if op in ("eq", "ne"):
            apart, one = ah < bl or bh < al, al == ah == bl == bh
            return constant(int(one == (op == "eq"))) if apart or one else EITHER
        ends = {COMPARED[op](x, y) for x, y in ((al, bh), (ah, bl))}
        return constant(int(ends.pop())) if len(ends) == 1 else EITHER

    def resize(self, source: Type, target: Type, a: Range) -> Range:
        if target.bits <= source.bits:
            return made(target, a.lo, a.hi, a.zeros)
        lo, hi = bounds(source, a)
        return made(target, lo, hi, a.zeros if a.zeros < source.bits else target.bits)

    # -- floats: nothing is known of their bits --------------------------------------------------------
    def to_bits(self, t: Type, a: Range) -> Range:
        return UNKNOWN if t.is_native_float else a

    def from_bits(self, t: Type, a: Range) -> Range:
        return UNKNOWN if t.is_native_float else a

    def is_nan(self, t: Type, a: Range) -> Range:
        return UNKNOWN

    def flush(self, t: Type, a: Range) -> Range:
        return UNKNOWN

    def flush_result(self, t: Type, a: Range, twice: Callable[..., Range], *operands: Range) -> Range:
        return UNKNOWN

    def nan_result(self, t: Type, a: Range, *operands: Range) -> Range:
        return UNKNOWN

    def any_nan(self, t: Type, a: Range) -> Range:
        return UNKNOWN

    def fadd(self, t: Type, a: Range, b: Range, rounding: Rounding) -> Range:
        return UNKNOWN

    def fsub(self, t: Type, a: Range, b: Range, rounding: Rounding) -> Range:
        return UNKNOWN

    def fmul(self, t: Type, a: Range, b: Range, rounding: Rounding) -> Range:
        return UNKNOWN

    def fdiv(self, t: Type, a: Range, b: Range, rounding: Rounding) -> Range:
        return UNKNOWN

    def fma(self, t: Type, a: Range, b: Range, c: Range, rounding: Rounding) -> Range:
        return UNKNOWN

    def fsqrt(self, t: Type, a: Range, rounding: Rounding) -> Range:
        return UNKNOWN

    def near_reciprocal_root(self, a: Range) -> Range:
        return UNKNOWN

    def fmin(self, t: Type, a: Range, b: Range) -> Range:
        return UNKNOWN

    def fmax(self, t: Type, a: Range, b: Range) -> Range:
        return UNKNOWN

    def round_integral(self, t: Type, a: Range, rounding: Rounding) -> Range:
        return UNKNOWN

    def float_to_float(self, source: Type, target: Type, a: Range, rounding: Rounding) -> Range:
        return UNKNOWN

    def float_to_int(self, source: Type, target: Type, a: Range, rounding: Rounding) -> Range:
        return UNKNOWN

    def whole(self, a: Range) -> Range:
        return UNKNOWN

    def int_to_float(self, source: Type, target: Type, a: Range, rounding: Rounding) -> Range:
        return UNKNOWN

    # -- lanes and machine -----------------------------------------------------------------------------
    def active(self) -> Range:
        return UNKNOWN

    def lane(self) -> Range:
        return Range(0, WARP - 1)

    def ballot(self, p: Range) -> Range:
        return UNKNOWN

    def shuffle(self, t: Type, a: Range, lane: Range) -> Range:
        """Not `a`: a lane that does not run may hold anything."""
        return UNKNOWN

    def warp_function(
        self, function: Callable[..., tuple[Range, ...]], results: tuple[Type, ...], *operands: Range
    ) -> tuple[Range, ...]:
        return (UNKNOWN,) * len(results)

    def special(self, name: str, component: str) -> Range:
        axis = self.block.axis(component)
        match name:
            case "tid":
                return self._tid(axis)
            case "ntid" if axis >= 0:
                return constant((self.block.columns, self.block.y, self.block.z)[axis])
            case "ctaid":
                return Range(0, self._extent(axis) - 1)
            case "nctaid":
                return Range(0, self._extent(axis))
            case "laneid":
                return self.lane()
            case _:
                return UNKNOWN

    def _extent(self, axis: int) -> int:
        """CTAs of the grid along an axis, at most. (Joined ones may go on beyond it.)"""
        block = self.block
        beyond = block.ctas if axis == 0 else 0
        return min(LARGEST_GRID, (1 << block.bits_of_grid(axis)) + beyond)

    def _tid(self, axis: int) -> Range:
        """Threads of the last warp beyond the end of the CTA count: they are computed with the others."""
        block = self.block
        threads = block.warps * WARP
        if axis < 0:
            return constant(0)
        if block.linear:
            return Range(0, threads - 1) if axis == 0 else constant(0)
        last = (block.x - 1, block.y - 1, (threads - 1) // (block.x * block.y))[axis]
        return Range(0, last)

    def load(self, t: Type, space: str, address: Range, count: int, volatile: bool) -> tuple[Range, ...]:
        return (UNKNOWN,) * count

    def store(self, t: Type, space: str, address: Range, values: tuple[Range, ...], volatile: bool) -> None:
        return

    def atomic(self, op: str, t: Type, space: str, address: Range, b: Range, c: Range | None) -> Range:
        return UNKNOWN

    def arrivals(self, op: str, space: str, address: Range, b: Range) -> Range:
        return self.atomic(op, U64, space, address, b, None)

    def to_generic(self, t: Type, space: str, address: Range) -> Range:
        return address if space not in ("shared", "local") else UNKNOWN

    def from_generic(self, t: Type, space: str, address: Range) -> Range:
        return address if space not in ("shared", "local") else UNKNOWN

    def in_space(self, space: str, address: Range) -> Range:
        return UNKNOWN

    def texture(
        self, geometry: str, result: Type, coordinate: Type, texture: Range, coordinates: tuple[Range, ...]
    ) -> tuple[Range, Range, Range, Range]:
        return UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN
