"""Pairs of numbers of single precision in one register (PTX 8.6), and minimum and maximum of three numbers
(8.8): what compute capability 10.0 brought.

No such GPU was at hand: that each number of a pair is treated as `.f32` is, is what the manual says. ptxas
13.0 makes one operation of a product of pairs and a sum, also where both name their rounding; here both are
rounded.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from simt.isa import floating
from simt.isa.algebra import Algebra, Rounding, V
from simt.isa.catalogue import instruction
from simt.isa.floating import ROUNDINGS
from simt.isa.move import pack, unpack_bits
from simt.ptx.types import B64, F32

PAIRS_SINCE = "8.6 sm_100"
THREE_SINCE = "8.8 sm_100"


def _both(m: Algebra[V], one: Callable[..., V], *pairs: V) -> V:
    """What a function of numbers gives for the first ones of some pairs, and for the second ones."""
    firsts, seconds = zip(*(unpack_bits(m, B64, pair, 2) for pair in pairs))
    results = (one(*(m.from_bits(F32, bits) for bits in numbers)) for numbers in (firsts, seconds))
    return pack(m, B64, tuple(m.to_bits(F32, number) for number in results))


@instruction("add[.rnd][.ftz].type d, a, b", type="f32x2", rnd=ROUNDINGS, since=PAIRS_SINCE,
             ref="PTX ISA 8.6 add")  # fmt: skip
def add(m: Algebra[V], a: V, b: V, rnd: Rounding | None, ftz: bool) -> V:
    """Sums of both numbers of pairs."""
    return _both(m, partial(floating.add, m, F32, rnd=rnd, ftz=ftz, sat=False), a, b)


@instruction("sub[.rnd][.ftz].type d, a, b", type="f32x2", rnd=ROUNDINGS, since=PAIRS_SINCE,
             ref="PTX ISA 8.6 sub")  # fmt: skip
def sub(m: Algebra[V], a: V, b: V, rnd: Rounding | None, ftz: bool) -> V:
    """Differences of both numbers of pairs."""
    return _both(m, partial(floating.sub, m, F32, rnd=rnd, ftz=ftz, sat=False), a, b)


@instruction("mul[.rnd][.ftz].type d, a, b", type="f32x2", rnd=ROUNDINGS, since=PAIRS_SINCE,
             ref="PTX ISA 8.6 mul")  # fmt: skip
def mul(m: Algebra[V], a: V, b: V, rnd: Rounding | None, ftz: bool) -> V:
    """Products of both numbers of pairs."""
    return _both(m, partial(floating.mul, m, F32, rnd=rnd, ftz=ftz, sat=False), a, b)


@instruction("fma.rnd[.ftz].type d, a, b, c", type="f32x2", rnd=ROUNDINGS, since=PAIRS_SINCE,
             ref="PTX ISA 8.6 fma")  # fmt: skip
def fma(m: Algebra[V], a: V, b: V, c: V, rnd: Rounding, ftz: bool) -> V:
    """Products of both numbers of pairs plus those of a third pair, each rounded once."""
    return _both(m, partial(floating.fma, m, F32, rnd=rnd, ftz=ftz, sat=False), a, b, c)


@instruction("min[.ftz][.NaN][.abs].f32 d, a, b, c", since=THREE_SINCE, ref="PTX ISA 8.8 min")
def min_of_three(m: Algebra[V], a: V, b: V, c: V, ftz: bool, NaN: bool, abs: bool) -> V:
    """The smallest of three numbers, or with `.abs` of their magnitudes; NaNs as for two."""
    a, b, c = _magnitudes(m, abs, a, b, c)
    return floating.min_(m, F32, floating.min_(m, F32, a, b, ftz, NaN), c, ftz, NaN)


@instruction("max[.ftz][.NaN][.abs].f32 d, a, b, c", since=THREE_SINCE, ref="PTX ISA 8.8 max")
def max_of_three(m: Algebra[V], a: V, b: V, c: V, ftz: bool, NaN: bool, abs: bool) -> V:
    """The largest of three numbers, or with `.abs` of their magnitudes; NaNs as for two."""
    a, b, c = _magnitudes(m, abs, a, b, c)
    return floating.max_(m, F32, floating.max_(m, F32, a, b, ftz, NaN), c, ftz, NaN)


def _magnitudes(m: Algebra[V], wanted: bool, *numbers: V) -> tuple[V, ...]:
    return tuple(floating.abs_(m, F32, number, False) if wanted else number for number in numbers)
