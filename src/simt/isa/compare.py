"""Comparison and selection instructions (PTX 1.4 section 7.7.3)."""

from __future__ import annotations

from collections.abc import Mapping

from simt.isa.algebra import Algebra, V
from simt.isa.catalogue import instruction
from simt.isa.derived import comparison, flush_if, number, ones_if
from simt.isa.form import Value, Version
from simt.ptx.types import F32, PRED, S32, Kind, Type

COMPARISONS = "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan"
"""All operators of tables 13 to 16. The words before `lo` do for every numeric type."""

SOURCES = "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64"
DOUBLE = {"f64": "1.0 sm_13"}
FTZ = {"ftz": "1.4", **DOUBLE}
BOOLEANS = "and or xor"

_SIGNED = frozenset(["eq", "ne", "lt", "le", "gt", "ge"])
_OPERATORS = {
    Kind.BITS: frozenset({"eq", "ne"}),
    Kind.SIGNED: _SIGNED,
    Kind.UNSIGNED: _SIGNED | {"lo", "ls", "hi", "hs"},
    Kind.FLOAT: frozenset(COMPARISONS.split()) - {"lo", "ls", "hi", "hs"},
}


def operators(t: Type) -> frozenset[str]:
    """The comparison operators that a type allows (tables 13 to 16)."""
    return _OPERATORS[Kind.FLOAT if t.kind is Kind.PACKED else t.kind]


def comparable(binding: Mapping[str, Value], version: Version) -> str | None:
    """The operator must suit the source type, and `.ftz` needs single precision."""
    t = binding.get("stype") or binding.get("type")
    assert isinstance(t, Type)
    allowed = operators(t)
    if binding["cmp"] not in allowed:
        words = " ".join(f".{w}" for w in COMPARISONS.split() if w in allowed)
        return f"`.{binding['cmp']}` does not compare `{t}` values; expected one of {words}"
    if binding.get("ftz") and t is not F32:
        return f"`.ftz` applies to `.f32` comparisons only, not to `{t}`"
    return None


def compare(m: Algebra[V], op: str, t: Type, ftz: bool, a: V, b: V) -> V:
    """The predicate `a op b`, of flushed operands if `ftz`."""
    a, b = flush_if(m, t, ftz, a, b)
    return comparison(m, op, t, a, b)


def combine(m: Algebra[V], boolop: str, p: V, c: V) -> V:
    """A comparison's result combined with a predicate."""
    function = {"and": m.and_, "or": m.or_, "xor": m.xor}[boolop]
    return function(PRED, p, c)


def truth(m: Algebra[V], dtype: Type, p: V) -> V:
    """A predicate as `set` writes it: 1.0 or all ones, else 0."""
    if dtype is F32:
        return m.select(F32, p, number(m, F32, 1.0), m.const(F32, 0))
    return ones_if(m, dtype, p)


@instruction(
    "set.cmp[.ftz].dtype.stype d, a, b",
    cmp=COMPARISONS,
    dtype="u32 s32 f32",
    stype=SOURCES,
    requires=FTZ,
    check=comparable,
    ref="PTX 1.4 table 55",
)
def set_(m: Algebra[V], a: V, b: V, cmp: str, ftz: bool, dtype: Type, stype: Type) -> V:
    """Compares two values; the result is all ones (1.0 as .f32) or zero.

    Integers compare by `eq ne lt le gt ge`, unsigned ones by `lo ls hi hs` too, bits by `eq` and `ne`. Floats
    have, beside the ordered comparisons, which are false if either operand is NaN, unordered ones ending in
    `u`, which are true then, and `num` and `nan`, which ask for just that. `.ftz` takes subnormal operands as
    zeros.
    """
    return truth(m, dtype, compare(m, cmp, stype, ftz, a, b))


@instruction(
    "set.cmp.boolop[.ftz].dtype.stype d, a, b, [!]c:pred",
    cmp=COMPARISONS,
    boolop=BOOLEANS,
    dtype="u32 s32 f32",
    stype=SOURCES,
    requires=FTZ,
    check=comparable,
    ref="PTX 1.4 table 55",
)
def set_bool(
    m: Algebra[V], a: V, b: V, c: V, cmp: str, boolop: str, ftz: bool, dtype: Type, stype: Type
) -> V:
    """Compares two values and combines the outcome with a predicate; all ones (1.0 as .f32) or zero.

    The predicate may be negated. The comparisons are those of the form without a predicate.
    """
    return truth(m, dtype, combine(m, boolop, compare(m, cmp, stype, ftz, a, b), c))


@instruction(
    "setp.cmp[.ftz].type p:pred[|q], a, b",
    cmp=COMPARISONS,
    type=SOURCES,
    requires=FTZ,
    check=comparable,
    ref="PTX 1.4 table 56",
)
def setp(m: Algebra[V], t: Type, a: V, b: V, cmp: str, ftz: bool) -> tuple[V, V]:
    """Compares two values; writes the outcome and, if asked, its complement.

    The comparisons are those of `set`. The complement is false just where the outcome is true, NaNs included.
    """
    p = compare(m, cmp, t, ftz, a, b)
    return p, m.invert(PRED, p)


@instruction(
    "setp.cmp.boolop[.ftz].type p:pred[|q], a, b, [!]c:pred",
    cmp=COMPARISONS,
    boolop=BOOLEANS,
    type=SOURCES,
    requires=FTZ,
    check=comparable,
    ref="PTX 1.4 table 56",
)
def setp_bool(m: Algebra[V], t: Type, a: V, b: V, c: V, cmp: str, boolop: str, ftz: bool) -> tuple[V, V]:
    """Compares two values; writes the outcome and its complement, each combined with a predicate.

    The predicate is combined with the outcome for `p`, and with the complement for `q`; so with `and` both
    are false where the predicate is false.
    """
    p = compare(m, cmp, t, ftz, a, b)
    return combine(m, boolop, p, c), combine(m, boolop, m.invert(PRED, p), c)


@instruction("selp.type d, a, b, c:pred", type=SOURCES, requires=DOUBLE, ref="PTX 1.4 table 57")
def selp(m: Algebra[V], t: Type, a: V, b: V, c: V) -> V:
    """The first value if the predicate holds, else the second.

    The bits of the chosen value are copied as they are, NaNs too.
    """
    return m.select(t, c, a, b)


@instruction(
    "slct.dtype.s32 d, a:dtype, b:dtype, c:s32", dtype=SOURCES, requires=DOUBLE, ref="PTX 1.4 table 58"
)
def slct(m: Algebra[V], dtype: Type, a: V, b: V, c: V) -> V:
    """The first value if an integer is not negative, else the second.

    The bits of the chosen value are copied as they are.
    """
    return m.select(dtype, m.compare("ge", S32, c, m.const(S32, 0)), a, b)


@instruction(
    "slct[.ftz].dtype.f32 d, a:dtype, b:dtype, c:f32", dtype=SOURCES, requires=FTZ, ref="PTX 1.4 table 58"
)
def slct_float(m: Algebra[V], dtype: Type, a: V, b: V, c: V, ftz: bool) -> V:
    """The first value if a number is not negative, else (also for NaN) the second.

    Negative zero is not negative here. `.ftz` takes a subnormal third operand as zero, so a negative one
    chooses the first value.
    """
    (c,) = flush_if(m, F32, ftz, c)
    return m.select(dtype, m.compare("ge", F32, c, m.const(F32, 0)), a, b)
