"""Conversions between types (PTX 1.4 table 70, and later forms)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from simt.isa.algebra import Algebra, Environment, PureAlgebra, Rounding, V
from simt.isa.catalogue import instruction
from simt.isa.derived import (
    SIGNIFICAND,
    double,
    flush_if,
    flush_result,
    infinity,
    quiet_bit,
    saturate,
    sign_mask,
)
from simt.isa.form import Value, Version
from simt.ptx.types import B16, B32, BF16, F16, F32, F64, S32, U32, Type, bits_type, unsigned

INTEGERS = "u8 u16 u32 u64 s8 s16 s32 s64"
WIDE_INTEGERS = "u16 u32 u64 s16 s32 s64"
ROUND: dict[str, Rounding] = {"rn": "rn", "rz": "rz", "rm": "rm", "rp": "rp"}
ROUND_INTEGER: dict[str, Rounding] = {"rni": "rn", "rzi": "rz", "rmi": "rm", "rpi": "rp"}
FLOATING, INTEGER = " ".join(ROUND), " ".join(ROUND_INTEGER)
FLUSHED_ALWAYS: Version = (1, 5)
"""From this version on conversions between .f32 and 64-bit types flush too (table 70 calls it an erratum that
they do not)."""

FERMI = 20
"""Machines from here on keep .f32 subnormals on the way to .f16, whatever table 70 says (an H200 does)."""


# ------------------------------------------------------------------ what table 70 allows


def bounds(t: Type) -> tuple[int, int]:
    """Smallest and largest value of an integer type."""
    low = -(1 << (t.bits - 1)) if t.is_signed else 0
    return low, low + (1 << t.bits) - 1


def rounding_kind(d: Type, a: Type) -> tuple[str, bool]:
    """Which rounding modifiers a conversion takes ("", INTEGER or FLOATING), and whether it needs one."""
    if d.is_integer:
        return (INTEGER, True) if a.is_float else ("", False)
    if a.is_integer or a.bits > d.bits:
        return FLOATING, True
    return (INTEGER, False) if d == a else ("", False)


def _types(binding: Mapping[str, Value]) -> tuple[Type, Type]:
    d, a = binding["dtype"], binding["atype"]
    assert isinstance(d, Type)
    assert isinstance(a, Type)
    return d, a


def _rounding_problem(d: Type, a: Type, rnd: Value) -> str | None:
    allowed, needed = rounding_kind(d, a)
    dotted = " ".join(f".{r}" for r in allowed.split())
    if rnd is None:
        return f"needs a rounding modifier, one of {dotted}" if needed else None
    if rnd in allowed.split():
        return None
    return f"takes one of {dotted}, not .{rnd}" if allowed else f"takes no rounding modifier, so not .{rnd}"


def _flush_problem(d: Type, a: Type, version: Version) -> str | None:
    if F32 not in (d, a):
        return "does not take .ftz: neither type is .f32"
    if version < FLUSHED_ALWAYS and (d.bits == 64 or a == F64 or (a.is_integer and a.bits == 8)):
        return "takes .ftz from PTX ISA 1.5 on"
    return None


def _saturation_problem(d: Type, a: Type) -> str | None:
    if not (d.is_integer and a.is_integer):
        return None
    (low, high), (least, most) = bounds(d), bounds(a)
    if low <= least and most <= high:
        return f"does not take .sat: every {a} value is a {d} value"
    return None


def conversion_problem(binding: Mapping[str, Value], version: Version) -> str | None:
    """Why table 70 does not allow a combination of modifiers and types."""
    d, a = _types(binding)
    return (
        _rounding_problem(d, a, binding["rnd"])
        or (_flush_problem(d, a, version) if binding["ftz"] else None)
        or (_saturation_problem(d, a) if binding["sat"] else None)
    )


# ------------------------------------------------------------------ single values


@instruction(
    "cvt[.rnd][.ftz][.sat].dtype.atype d, a", rnd=f"{INTEGER} {FLOATING}", dtype=f"{INTEGERS} f16 f32 f64",
    atype=f"{INTEGERS} f16 f32 f64", requires={"f64": "sm_13", "ftz": "1.4"}, check=conversion_problem,
    relaxed=True, ref="PTX 1.4 table 70",
)  # fmt: skip
def cvt(
    m: Algebra[V], a: V, dtype: Type, atype: Type, rnd: str | None, ftz: bool, sat: bool, env: Environment
) -> V:
    """Converts a value from one type to another.

    Integers are cut, or extended by the sign of their own type; with `.sat` limited to the range of the
    other. A float becomes an integer rounded as the modifier says and limited to the range; NaN gives zero,
    or, with 64 bits on either side, the value with only its highest bit set (H200). An integer, or a wider
    float, becomes a float rounded as the modifier says. A float rounded within its format (`cvt.rni.f32.f32`)
    stays one. `.sat` limits floats to [0, 1]. Registers may be wider than the types.
    """
    if dtype.is_integer and atype.is_integer:
        return resize_saturated(m, dtype, atype, a) if sat else m.resize(atype, dtype, a)
    if dtype.is_integer:
        return float_to_integer(m, dtype, atype, a, ROUND_INTEGER[rnd or "rzi"], ftz)
    if atype.is_integer:
        value = m.int_to_float(atype, dtype, a, ROUND[rnd or "rn"])
    else:
        value = float_to_float(m, dtype, atype, a, rnd, ftz and not (dtype == F16 and env.machine >= FERMI))
    return saturate(m, dtype, value) if sat else value


def resize_saturated(m: Algebra[V], d: Type, a: Type, value: V) -> V:
    """Limited to the range of the destination, then of its width."""
    (low, high), (least, most) = bounds(d), bounds(a)
    mask = (1 << a.bits) - 1
    if least < low:
        value = m.maximum(a, value, m.const(a, low & mask))
    if most > high:
        value = m.minimum(a, value, m.const(a, high & mask))
    return m.resize(a, d, value)


def float_to_integer(m: Algebra[V], d: Type, a: Type, value: V, rounding: Rounding, ftz: bool) -> V:
    """Rounded and limited to the range; NaN gives zero, or with 64 bits on either side the value with only
    its highest bit set."""
    if a == F32:
        (value,) = flush_if(m, a, ftz, value)
    result = m.float_to_int(a, d, value, rounding)
    if a == F64 or d.bits == 64:
        top = m.const(d, 1 << (d.bits - 1))
        result = m.select(d, m.is_nan(a, value), top, result)
    return result


def float_to_float(m: Algebra[V], d: Type, a: Type, value: V, rnd: str | None, ftz: bool) -> V:
    """To another format, or rounded to an integral value within one."""
    if a == F32:
        value = m.nan_result(a, *flush_if(m, a, ftz, value)) if ftz else value
    if rnd is None and d == a:
        result = value
    elif rnd in ROUND_INTEGER:
        result = m.round_integral(a, value, ROUND_INTEGER[rnd])
    else:
        result = m.float_to_float(a, d, value, ROUND[rnd or "rn"])
    if d == F32 and ftz:
        result = _flushed(m, a, value, result, rnd)
    return converted_nan(m, d, a, value, result, rnd, ftz)


def converted_nan(m: Algebra[V], d: Type, a: Type, value: V, result: V, rnd: str | None, ftz: bool) -> V:
    """The result with the NaN that an H200 gives. Where nothing is done to f32 or f64, it stays as it is; to
    and from f64 it keeps sign and upper digits; bf16 becomes f32 by its bits; else there is one NaN."""
    if d == a and d.is_native_float and not (rnd or ftz):
        return value
    if F64 in (a, d) and d != a:
        return m.rarely(d, m.is_nan(a, value), result, partial(_moved_nan, d, a), value)
    if (a, d) == (BF16, F32) and not ftz:
        wide = m.shift_left(B32, m.resize(B16, B32, value), m.const(U32, 16))
        return m.from_bits(F32, wide)
    return m.nan_result(d, result, value)


def _moved_nan(d: Type, a: Type, m: PureAlgebra[V], value: V) -> V:
    """A NaN in another format: sign and upper digits kept, made quiet."""
    source, target = unsigned(a.bits), unsigned(d.bits)
    bits, shift = m.to_bits(a, value), SIGNIFICAND[d] - SIGNIFICAND[a]
    sign = m.and_(source, bits, m.const(source, sign_mask(a)))
    digits = m.and_(source, bits, m.const(source, sign_mask(a) - infinity(a) - 1))
    if shift < 0:
        digits = m.shift_right(source, digits, m.const(U32, -shift))
    digits, sign = m.resize(source, target, digits), _moved_sign(m, d, a, sign)
    if shift > 0:
        digits = m.shift_left(target, digits, m.const(U32, shift))
    return m.from_bits(
        d, m.or_(target, m.or_(target, sign, digits), m.const(target, infinity(d) | quiet_bit(d)))
    )


def _moved_sign(m: PureAlgebra[V], d: Type, a: Type, sign: V) -> V:
    """The sign bit of one width in another."""
    source, target = unsigned(a.bits), unsigned(d.bits)
    if d.bits < a.bits:
        return m.resize(source, target, m.shift_right(source, sign, m.const(U32, a.bits - d.bits)))
    return m.shift_left(target, m.resize(source, target, sign), m.const(U32, d.bits - a.bits))


def _flushed(m: Algebra[V], a: Type, value: V, result: V, rnd: str | None) -> V:
    """A result of f32, flushed."""
    if a != F64:
        return m.flush(F32, result)
    return flush_result(m, F32, result, partial(_twice_narrowed, ROUND[rnd or "rn"]), value)


def _twice_narrowed(rounding: Rounding, m: Algebra[V], a: V) -> V:
    return m.float_to_float(F64, F32, double(m, F64, a), rounding)


# ------------------------------------------------------------------ bfloat16, relu, pairs, tf32

instruction(
    "cvt.rnd[.ftz].dtype.atype d, a", rnd=FLOATING, dtype="bf16", atype="f32", since="7.0 sm_80",
    defaults={"sat": False}, ref="PTX 7.0 cvt",
)(cvt)  # fmt: skip
instruction(
    "cvt[.rnd][.ftz].dtype.atype d, a", rnd=FLOATING, dtype="f32", atype="bf16", since="7.1 sm_80",
    defaults={"sat": False}, ref="PTX 7.1 cvt",
)(cvt)  # fmt: skip
for _rnd, _dtype, _atype in (
    (f".rnd {FLOATING}", "bf16", f"{WIDE_INTEGERS} f64"),
    (f".rnd {INTEGER}", WIDE_INTEGERS, "bf16"),
    (f"[.rnd] {INTEGER}", "bf16", "bf16"),
    (f"[.rnd] {FLOATING}", "f16 f64", "bf16"),
    (f"[.rnd] {FLOATING}", "bf16", "f16"),
):
    _slot, _, _choices = _rnd.partition(" ")
    instruction(
        f"cvt{_slot}.dtype.atype d, a", rnd=_choices, dtype=_dtype, atype=_atype, since="7.8 sm_90",
        defaults={"ftz": False, "sat": False}, ref="PTX 7.8 cvt",
    )(cvt)  # fmt: skip


def narrowed(m: Algebra[V], d: Type, a: V, rnd: str, relu: bool, satfinite: bool) -> V:
    """`.f32` to a half, negative results made zero (`relu`), infinities the largest number (`satfinite`)."""
    value = m.float_to_float(F32, d, a, ROUND[rnd])
    nan, u = m.is_nan(F32, a), unsigned(d.bits)
    sign = m.and_(B16, value, m.const(B16, 0x8000))
    if satfinite:
        magnitude = m.minimum(u, m.and_(u, value, m.const(u, 0x7FFF)), m.const(u, infinity(d) - 1))
        value = m.or_(u, magnitude, sign)
    if relu:
        value = m.select(u, m.compare("ne", u, sign, m.const(u, 0)), m.const(u, 0), value)
    return m.select(u, nan, m.const(u, 0x7FFF), value)


def _modified(binding: Mapping[str, Value], version: Version) -> str | None:
    if binding["relu"] or binding["satfinite"]:
        return None
    return "without .relu and .satfinite this is the plain conversion"


@instruction(
    "cvt.rnd[.relu][.satfinite].dtype.atype d, a", rnd="rn rz", dtype="f16 bf16", atype="f32",
    since="7.0 sm_80", requires={"satfinite": "8.1 sm_80"}, check=_modified, relaxed=True, ref="PTX 7.0 cvt",
)  # fmt: skip
def cvt_narrow(m: Algebra[V], a: V, dtype: Type, rnd: str, relu: bool, satfinite: bool) -> V:
    """Converts single precision to a half; negative results become zero, or infinite ones finite."""
    return narrowed(m, dtype, a, rnd, relu, satfinite)


@instruction(
    "cvt.rnd[.relu][.satfinite].dtype.atype d, a, b", rnd="rn rz", dtype="f16x2 bf16x2", atype="f32",
    since="7.0 sm_80", requires={"satfinite": "8.1 sm_80"}, ref="PTX 7.0 cvt",
)  # fmt: skip
def cvt_pair(m: Algebra[V], a: V, b: V, dtype: Type, rnd: str, relu: bool, satfinite: bool) -> V:
    """Converts two values to halves: `a` into the upper half of the result, `b` into the lower."""
    half = BF16 if dtype.name.startswith("b") else F16
    high, low = (m.resize(B16, B32, narrowed(m, half, x, rnd, relu, satfinite)) for x in (a, b))
    return m.or_(B32, m.shift_left(B32, high, m.const(U32, 16)), low)


TF32_DROPPED = 13
"""Bits of the mantissa of .f32 that .tf32 does not have."""


@instruction(
    "cvt.rnd.tf32.f32 d:b32, a:f32", rnd="rna", since="7.0 sm_80", defaults={"relu": False}, ref="PTX 7.0 cvt"
)
@instruction("cvt.rnd[.relu].tf32.f32 d:b32, a:f32", rnd="rn rz", since="7.8 sm_90", ref="PTX 7.8 cvt")
def cvt_tf32(m: Algebra[V], a: V, rnd: str, relu: bool = False) -> V:
    """Rounds to the eleven significant bits of .tf32; `rna` rounds ties away from zero."""
    bits = m.to_bits(F32, a)
    unit, half = 1 << TF32_DROPPED, 1 << (TF32_DROPPED - 1)
    if rnd == "rna":
        bits = m.add(B32, bits, m.const(B32, half))
    elif rnd == "rn":
        odd = m.and_(B32, m.shift_right(U32, bits, m.const(U32, TF32_DROPPED)), m.const(B32, 1))
        bits = m.add(B32, m.add(B32, bits, m.const(B32, half - 1)), odd)
    kept = m.const(B32, -unit & 0xFFFFFFFF)
    bits = m.and_(B32, bits, kept)
    if relu:
        bits = m.select(B32, m.compare("lt", S32, bits, m.const(S32, 0)), m.const(B32, 0), bits)
    nan = m.and_(B32, m.to_bits(F32, a), kept) if rnd == "rna" else m.const(B32, 0x7FFFE000)
    return m.select(B32, m.is_nan(F32, a), nan, bits)


@instruction("cvt.pack.sat.dtype.atype d:u32, a, b", dtype="u16 s16", atype="s32", since="6.5 sm_72",
             relaxed=True, ref="PTX 6.5 cvt.pack")  # fmt: skip
def cvt_pack(m: Algebra[V], a: V, b: V, dtype: Type) -> V:
    """Two integers limited to 16 bits: `a` into the upper half of the result, `b` into the lower."""
    return _packed(m, dtype, a, b)


@instruction("cvt.pack.sat.dtype.atype.b32 d:u32, a, b, c:b32", dtype="u8 s8", atype="s32",
             since="6.5 sm_72", relaxed=True, ref="PTX 6.5 cvt.pack")  # fmt: skip
def cvt_pack_more(m: Algebra[V], a: V, b: V, c: V, dtype: Type) -> V:
    """Two integers limited to 8 bits, below the lower half of `c`."""
    upper = m.shift_left(B32, c, m.const(U32, 2 * dtype.bits))
    return m.or_(B32, upper, _packed(m, dtype, a, b))


def _packed(m: Algebra[V], d: Type, a: V, b: V) -> V:
    u = bits_type(d.bits)
    high, low = (m.resize(u, B32, resize_saturated(m, d, S32, x)) for x in (a, b))
    return m.or_(B32, m.shift_left(B32, high, m.const(U32, d.bits)), low)
