"""Words as vectors of two half words or four bytes (the video instructions of PTX ISA 3.0).

Forms without selectors and masks: all parts of the operands in their order, all parts of the result.
"""

from __future__ import annotations

from collections.abc import Callable

from simt.isa.algebra import Algebra, V
from simt.isa.catalogue import instruction
from simt.isa.convert import bounds
from simt.isa.derived import comparison, negate, one_if
from simt.isa.form import Meaning
from simt.ptx.types import S32, U32, Type, signed, unsigned

TYPES = "u32 s32"
COMPARISONS = "eq ne lt le gt ge"
SINCE = "3.0 sm_30"
REF = "PTX ISA 3.0 SIMD video instructions"


def part(m: Algebra[V], t: Type, a: V, width: int, place: int) -> V:
    """One part of a word, extended by the sign of `t`."""
    raised = m.shift_left(U32, a, m.const(U32, 32 - width - place))
    return m.shift_right(t, raised, m.const(U32, 32 - width))


def parts(
    m: Algebra[V], width: int, operation: Callable[[V, V], V], a: tuple[Type, V], b: tuple[Type, V]
) -> list[V]:
    """The operation on each pair of parts, exactly, as `.s32`; the lowest part first."""
    places = range(0, 32, width)
    return [operation(part(m, *a, width, place), part(m, *b, width, place)) for place in places]


def joined(m: Algebra[V], values: list[V], width: int) -> V:
    """The low bits of each value, put together into one word."""
    word, mask = m.const(U32, 0), m.const(U32, (1 << width) - 1)
    for index, value in enumerate(values):
        moved = m.shift_left(U32, m.and_(U32, value, mask), m.const(U32, index * width))
        word = m.or_(U32, word, moved)
    return word


def accumulated(m: Algebra[V], values: list[V], c: V) -> V:
    """The sum of all values and `c`."""
    for value in values:
        c = m.add(U32, c, value)
    return c


def limited(m: Algebra[V], t: Type, width: int, value: V) -> V:
    """Limited to the range of a part of type `t`."""
    low, high = bounds(signed(width) if t.is_signed else unsigned(width))
    value = m.maximum(S32, value, m.const(S32, low & 0xFFFFFFFF))
    return m.minimum(S32, value, m.const(S32, high))


def average(m: Algebra[V], a: V, b: V) -> V:
    """Half of the sum, halves rounded away from zero."""
    total = m.add(S32, a, b)
    up = one_if(m, S32, m.compare("ge", S32, total, m.const(S32, 0)))
    return m.shift_right(S32, m.add(S32, total, up), m.const(U32, 1))


def distance(m: Algebra[V], a: V, b: V) -> V:
    """The absolute difference."""
    difference = m.sub(S32, a, b)
    return m.maximum(S32, difference, negate(m, S32, difference))


def apply(m: Algebra[V], operation: str, a: V, b: V) -> V:
    """One operation on parts, as `.s32`."""
    match operation:
        case "add":
            return m.add(S32, a, b)
        case "sub":
            return m.sub(S32, a, b)
        case "avrg":
            return average(m, a, b)
        case "absdiff":
            return distance(m, a, b)
        case "min":
            return m.minimum(S32, a, b)
        case _:
            return m.maximum(S32, a, b)


def _word_form(syntax: str, meaning: Meaning) -> None:
    """Declares a form by its syntax. Constants have no parts: all sources are registers."""
    choices = {"dtype": TYPES, "atype": TYPES, "btype": TYPES, "cmp": COMPARISONS}
    used = {name: words for name, words in choices.items() if f".{name}" in syntax}
    instruction(syntax, since=SINCE, ref=REF, until=None, requires=None, defaults=None, check=None,
                ranges=dict.fromkeys("abc", ()), relaxed=False, carry="", effects="",
                **used)(meaning)  # fmt: skip


def _declare(operation: str, count: int, words: str) -> None:
    """The forms of one operation on `count` parts: merging and accumulating."""
    width = 32 // count

    def merge(m: Algebra[V], a: V, b: V, dtype: Type, atype: Type, btype: Type, sat: bool) -> V:
        values = parts(m, width, lambda x, y: apply(m, operation, x, y), (atype, a), (btype, b))
        if sat:
            values = [limited(m, dtype, width, v) for v in values]
        return joined(m, values, width)

    def accumulate(m: Algebra[V], a: V, b: V, c: V, dtype: Type, atype: Type, btype: Type) -> V:
        values = parts(m, width, lambda x, y: apply(m, operation, x, y), (atype, a), (btype, b))
        return accumulated(m, values, c)  # whole values, not cut to the width of a part (H200)

    merge.__doc__ = f"{words} of {count} pairs of parts."
    accumulate.__doc__ = f"{words} of {count} pairs of parts, all added to a third value."
    _word_form(f"v{operation}{count}.dtype.atype.btype[.sat] d:dtype, a:atype, b:btype, c:dtype", merge)
    _word_form(f"v{operation}{count}.dtype.atype.btype.add d:dtype, a:atype, b:btype, c:dtype", accumulate)


def _declare_comparison(count: int) -> None:
    """The forms of `vset` on `count` parts."""
    width = 32 // count

    def values(m: Algebra[V], a: V, b: V, atype: Type, btype: Type, cmp: str) -> list[V]:
        return parts(
            m, width, lambda x, y: one_if(m, S32, comparison(m, cmp, S32, x, y)), (atype, a), (btype, b)
        )

    def merge(m: Algebra[V], a: V, b: V, atype: Type, btype: Type, cmp: str) -> V:
        return joined(m, values(m, a, b, atype, btype, cmp), width)

    def accumulate(m: Algebra[V], a: V, b: V, c: V, atype: Type, btype: Type, cmp: str) -> V:
        return accumulated(m, values(m, a, b, atype, btype, cmp), c)

    merge.__doc__ = f"Compares {count} pairs of parts; 1 for each that holds."
    accumulate.__doc__ = f"Compares {count} pairs of parts and adds the number that hold to a third value."
    _word_form(f"vset{count}.atype.btype.cmp d:u32, a:atype, b:btype, c:u32", merge)
    _word_form(f"vset{count}.atype.btype.cmp.add d:u32, a:atype, b:btype, c:u32", accumulate)


for _count in (2, 4):
    for _operation, _words in (
        ("add", "Sums"), ("sub", "Differences"), ("avrg", "Rounded averages"), ("min", "Minima"),
        ("max", "Maxima"), ("absdiff", "Absolute differences"),
    ):  # fmt: skip
        _declare(_operation, _count, _words)
    _declare_comparison(_count)
