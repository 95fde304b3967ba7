"""What an atomic operation stores (PTX 1.4 tables 80, 81), over the algebra."""

from __future__ import annotations

from simt.isa.algebra import PureAlgebra, V
from simt.isa.mbarrier import STEPS, step
from simt.ptx.types import BF16, BF16X2, F16, F16X2, F32, PRED, Kind, Type, unsigned


def combine(m: PureAlgebra[V], op: str, t: Type, old: V, b: V, c: V | None) -> V:
    """The new value of a location that holds `old`. `c` is the third operand of `cas`."""
    match op:
        case "add":
            return _add(m, t, old, b)
        case "add.far":
            return _add_far(m, t, old, b)
        case "and":
            return m.and_(t, old, b)
        case "or":
            return m.or_(t, old, b)
        case "xor":
            return m.xor(t, old, b)
        case "min" | "max":
            return _extreme(m, op, t, old, b)
        case "inc":
            wraps = m.compare("ge", t, old, b)
            return m.select(t, wraps, m.const(t, 0), m.add(t, old, m.const(t, 1)))
        case "dec":
            wraps = m.or_(PRED, m.compare("eq", t, old, m.const(t, 0)), m.compare("gt", t, old, b))
            return m.select(t, wraps, b, m.sub(t, old, m.const(t, 1)))
        case "exch":
            return b
        case "cas":
            assert c is not None
            return m.select(t, m.compare("eq", t, old, b), c, old)
        case _ if op in STEPS:
            return step(m, op, old, b)
        case _:
            raise ValueError(f"unknown atomic operation {op}")


def is_simple(t: Type) -> bool:
    """Whether CPUs calculate in the type: an operation is a few instructions."""
    return t.is_native_float or not (t.is_float or t.kind is Kind.PACKED)


_HALVES = {F16X2.name: F16, BF16X2.name: BF16}


def _add_far(m: PureAlgebra[V], t: Type, old: V, b: V) -> V:
    """As the units beside global memory do it (H200): f32 is flushed; of two f64 NaNs that of `b` wins, and
    signalling ones stay so."""
    if t == F32:
        total = m.fadd(t, m.flush(t, old), m.flush(t, b), "rn")
        return m.nan_result(t, m.flush(t, total))
    total = m.nan_result(t, m.fadd(t, old, b, "rn"), b, old)
    return m.select(t, m.is_nan(t, b), b, m.select(t, m.is_nan(t, old), old, total))


def _add(m: PureAlgebra[V], t: Type, old: V, b: V) -> V:
    if t.is_native_float:
        return m.nan_result(t, m.fadd(t, old, b, "rn"), old, b)
    if t.kind is Kind.PACKED:
        return _add_pairs(m, t, old, b)
    if t.kind is Kind.FLOAT:
        return _add_half(m, t, old, b)
    return m.add(t, old, b)


def _add_half(m: PureAlgebra[V], t: Type, old: V, b: V) -> V:
    """Exact: a sum of two halves rounded to f32 first rounds the same."""
    total = m.fadd(F32, m.float_to_float(t, F32, old, "rn"), m.float_to_float(t, F32, b, "rn"), "rn")
    return m.nan_result(t, m.float_to_float(F32, t, total, "rn"))


def _add_pairs(m: PureAlgebra[V], t: Type, old: V, b: V) -> V:
    half, wide, narrow = _HALVES[t.name], unsigned(32), unsigned(16)
    shift = m.const(wide, 16)
    low = _add_half(m, half, m.resize(wide, narrow, old), m.resize(wide, narrow, b))
    high_old = m.resize(wide, narrow, m.shift_right(wide, old, shift))
    high = _add_half(m, half, high_old, m.resize(wide, narrow, m.shift_right(wide, b, shift)))
    return m.or_(wide, m.resize(narrow, wide, low), m.shift_left(wide, m.resize(narrow, wide, high), shift))


def _extreme(m: PureAlgebra[V], op: str, t: Type, old: V, b: V) -> V:
    if t.is_native_float:
        return m.fmin(t, old, b) if op == "min" else m.fmax(t, old, b)
    return m.minimum(t, old, b) if op == "min" else m.maximum(t, old, b)
