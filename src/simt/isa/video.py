"""The scalar video instructions (CUDA Handbook, table 8.14; PTX ISA 2.0).

Operands are words, or bytes and half words of words that a selector chooses. They are extended by the sign
of their type, and the operation is exact; its result may be limited to the range of what is kept. A third
operand may then be added or compared, or gets a part replaced: `simt.isa.video_finish`.
"""

from __future__ import annotations

from collections.abc import Mapping

from simt.isa.algebra import Algebra, Environment, V
from simt.isa.catalogue import instruction
from simt.isa.derived import comparison, negate, one_if
from simt.isa.form import Check, Meaning, Value, Version
from simt.isa.video_finish import Result, Source, chosen, combined, finish, limited
from simt.ptx.types import S32, S64, U32, U64, Type
from simt.records import dataclass

TYPES = "u32 s32"
SELECTORS = "b0 b1 b2 b3 h0 h1"
SINCE = "2.0 sm_20"
REF = "PTX ISA 2.0 scalar video instructions"
EDGES = """

Devices up to `sm_37` limit, compare and merge as section 8.6.4 of the CUDA Handbook says, later ones as an
H200 does: `docs/decisions/0016-video-instructions.md`. The formula is that of later ones."""

# ---------------------------------------------------------------- operations


def amount(m: Algebra[V], b: V, way: str | None) -> V:
    """A shift amount: its low five bits, or at most 32."""
    b = m.resize(U64, U32, b)
    return m.and_(U32, b, m.const(U32, 31)) if way == "wrap" else m.minimum(U32, b, m.const(U32, 32))


def apply(m: Algebra[V], operation: str, first: Source[V], second: Source[V], way: str | None) -> V:
    """One operation on two operands, exactly, in 64 bits. `way`: of shifts and comparisons."""
    a, b = chosen(m, first), chosen(m, second)
    match operation:
        case "add" | "sub" | "absdiff" | "min" | "max":
            return combined(m, S64, operation, a, b)
        case "shl":
            return m.shift_left(S64, a, amount(m, b, way))
        case "shr":
            return m.shift_right(S64, a, amount(m, b, way))
        case _:
            return one_if(m, S64, comparison(m, str(way), S64, a, b))


# ---------------------------------------------------------------- declarations


@dataclass(frozen=True, slots=True)
class Operation:
    """One row of table 8.14. `modifiers`: between the mnemonic and the operands."""

    name: str
    words: str
    modifiers: str = "dtype.atype.btype[.sat]"
    way: str = ""


OPERATIONS = (
    Operation("add", "The sum"),
    Operation("sub", "The difference"),
    Operation("absdiff", "The absolute difference"),
    Operation("min", "The lesser value"),
    Operation("max", "The greater value"),
    Operation("shl", "Shifted to the left", "dtype.atype.u32[.sat].way", "clamp wrap"),
    Operation("shr", "Shifted to the right", "dtype.atype.u32[.sat].way", "clamp wrap"),
    Operation("set", "1 if the comparison holds, else 0", "atype.btype.way", "eq ne lt le gt ge"),
)


def _form(syntax: str, meaning: Meaning, way: str, check: Check | None = None) -> None:
    """Declares a form by its syntax. What it does not name is bound to what the operation has instead."""
    choices = {
        "dtype": TYPES, "atype": TYPES, "btype": TYPES, "way": way, "secop": "add min max",
        "scale": "shr7 shr15", "asel": SELECTORS, "bsel": SELECTORS, "dsel": SELECTORS,
    }  # fmt: skip
    used = {name: words for name, words in choices.items() if f".{name}" in syntax}
    fixed = {"dtype": U32, "btype": U32, "way": None, "sat": False}
    defaults = {name: value for name, value in fixed.items() if f".{name}" not in syntax}
    instruction(syntax, since=SINCE, ref=REF, until=None, requires=None, defaults=defaults, check=check,
                ranges=None, relaxed=False, carry="", effects="", **used)(meaning)  # fmt: skip


def _declare(operation: Operation) -> None:
    """The forms of one operation: alone, with a second operation, and merged into a third operand."""

    def result(
        m: Algebra[V], a: Source[V], b: Source[V], dtype: Type, sat: bool, way: str | None
    ) -> Result[V]:
        t = a.type if operation.name == "set" else dtype
        return Result(operation.name, apply(m, operation.name, a, b, way), t, sat)

    def alone(
        m: Algebra[V], a: V, b: V, dtype: Type, atype: Type, btype: Type, sat: bool, way: str | None,
        asel: str | None, bsel: str | None, env: Environment,
    ) -> V:  # fmt: skip
        first = result(m, Source(a, atype, asel), Source(b, btype, bsel), dtype, sat, way)
        return finish(env).alone(m, first)

    def second(
        m: Algebra[V], a: V, b: V, c: V, dtype: Type, atype: Type, btype: Type, sat: bool, way: str | None,
        asel: str | None, bsel: str | None, secop: str, env: Environment,
    ) -> V:  # fmt: skip
        first = result(m, Source(a, atype, asel), Source(b, btype, bsel), dtype, sat, way)
        if secop == "add":
            return m.add(U32, finish(env).alone(m, first), c)
        return finish(env).lesser_or_greater(m, first, c, secop)

    def merge(
        m: Algebra[V], a: V, b: V, c: V, dtype: Type, atype: Type, btype: Type, sat: bool, way: str | None,
        asel: str | None, bsel: str | None, dsel: str | None, env: Environment,
    ) -> V:  # fmt: skip
        first = result(m, Source(a, atype, asel), Source(b, btype, bsel), dtype, sat, way)
        return finish(env).merge(m, first, c, dsel)

    alone.__doc__ = f"{operation.words}.{EDGES}"
    second.__doc__ = (
        f"{operation.words}; then the sum with a third value, or the lesser or greater of both.{EDGES}"
    )
    merge.__doc__ = f"{operation.words}; its low bits replace a part of a third value.{EDGES}"
    t, bt = (name if name in operation.modifiers else "u32" for name in ("dtype", "btype"))
    sources = f"a[.asel]:atype, b[.bsel]:{bt}"
    head = f"v{operation.name}.{operation.modifiers}"
    _form(f"{head} d:{t}, {sources}", alone, operation.way)
    _form(f"{head}.secop d:{t}, {sources}, c:{t}", second, operation.way)
    _form(f"{head} d[.dsel]:{t}, {sources}, c:{t}", merge, operation.way)


for _operation in OPERATIONS:
    _declare(_operation)

# ---------------------------------------------------------------- vmad

SCALES = {None: 0, "shr7": 7, "shr15": 15}


def _vmad_check(binding: Mapping[str, Value], version: Version) -> str | None:
    """The sum has one carry: for a negative product, a negative third operand, or `.po` (ptxas)."""
    product = binding["a_negative"] != binding["b_negative"]
    if product and binding["c_negative"]:
        return "the product and the third operand cannot both be negative"
    if binding["po"] and (product or binding["c_negative"]):
        return "`.po` takes neither a negative product nor a negative third operand"
    return None


def vmad(
    m: Algebra[V], a: V, b: V, c: V, atype: Type, btype: Type, dtype: Type, po: bool, sat: bool,
    scale: str | None, asel: str | None, bsel: str | None, a_negative: bool, b_negative: bool,
    c_negative: bool, env: Environment,
) -> V:  # fmt: skip
    """The product of two values and its sum with a third, shifted to the right; in 64 bits.

    The sum has a sign if one of the first two types does, or one of its terms is negative. `.po` adds one.
    Devices after `sm_37` take whole words and the third value for signed ones, whatever their types (H200).
    """
    negative, word = a_negative != b_negative, finish(env).word
    has_sign = atype.is_signed or btype.is_signed or negative or c_negative
    t, wide = (S32, S64) if has_sign else (U32, U64)
    product = m.mul(S64, word(m, Source(a, atype, asel)), word(m, Source(b, btype, bsel)))
    product = negate(m, S64, product) if negative else product
    third = word(m, Source(c, t, None))
    third = negate(m, S64, third) if c_negative else third
    total = m.add(S64, m.add(S64, product, third), m.const(S64, int(po)))
    total = m.shift_right(wide, total, m.const(U32, SCALES[scale]))
    return m.resize(S64, U32, limited(m, t, 32, total) if sat else total)


_form(
    "vmad.dtype.atype.btype[.po][.sat][.scale] d, [-]a[.asel]:atype, [-]b[.bsel]:btype, [-]c:dtype", vmad,
    "", _vmad_check,
)  # fmt: skip
