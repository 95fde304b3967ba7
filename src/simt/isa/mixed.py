"""Sums of halves and numbers of single precision (PTX 8.6), which compute capability 10.0 brought. No such
GPU was at hand: that halves are extended, which is exact, and then treated as `.f32`, is what the manual
says."""

from __future__ import annotations

from simt.isa import floating
from simt.isa.algebra import Algebra, Rounding, V
from simt.isa.catalogue import instruction
from simt.isa.floating import ROUNDINGS
from simt.ptx.types import F32, Type

HALVES = "f16 bf16"
SINCE = "8.6 sm_100"


def _extended(m: Algebra[V], atype: Type, a: V) -> V:
    return m.float_to_float(atype, F32, a, "rn")


@instruction("add[.rnd][.sat].f32.atype d:f32, a:atype, c:f32", rnd=ROUNDINGS, atype=HALVES, since=SINCE,
             ref="PTX ISA 8.6 add")  # fmt: skip
def add(m: Algebra[V], atype: Type, a: V, c: V, rnd: Rounding | None, sat: bool) -> V:
    """Sum of a half and a number of single precision."""
    return floating.add(m, F32, _extended(m, atype, a), c, rnd, False, sat)


@instruction("sub[.rnd][.sat].f32.atype d:f32, a:atype, c:f32", rnd=ROUNDINGS, atype=HALVES, since=SINCE,
             ref="PTX ISA 8.6 sub")  # fmt: skip
def sub(m: Algebra[V], atype: Type, a: V, c: V, rnd: Rounding | None, sat: bool) -> V:
    """A half less a number of single precision."""
    return floating.sub(m, F32, _extended(m, atype, a), c, rnd, False, sat)


@instruction("fma.rnd[.sat].f32.atype d:f32, a:atype, b:atype, c:f32", rnd=ROUNDINGS, atype=HALVES,
             since=SINCE, ref="PTX ISA 8.6 fma")  # fmt: skip
def fma(m: Algebra[V], atype: Type, a: V, b: V, c: V, rnd: Rounding, sat: bool) -> V:
    """Product of two halves plus a number of single precision, rounded once."""
    a, b = (_extended(m, atype, half) for half in (a, b))
    return floating.fma(m, F32, a, b, c, rnd, False, sat)
