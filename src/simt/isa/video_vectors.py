"""The video instructions on words as vectors of two half words or four bytes (CUDA Handbook, table 8.15; PTX
ISA 3.0).

A selector of a source names the part for each place, the highest first, of both sources: the parts of `a`
have the lower numbers, those of `b` the higher ones. The selector of the destination is a mask.
"""

from __future__ import annotations

from collections.abc import Callable

from simt.isa.algebra import Algebra, V
from simt.isa.catalogue import instruction
from simt.isa.convert import bounds
from simt.isa.derived import comparison, one_if
from simt.isa.form import Meaning
from simt.isa.video_finish import Source, combined, part
from simt.ptx.types import S32, U32, Type, signed, unsigned

TYPES = "u32 s32"
SINCE = "3.0 sm_30"
REF = "PTX ISA 3.0 SIMD video instructions"


def parts(m: Algebra[V], width: int, operation: Callable[[V, V], V], a: Source[V], b: Source[V]) -> list[V]:
    """The operation on each pair of parts, exactly, as `.s32`; the lowest part first."""
    count, words = 32 // width, (a.value, b.value)

    def chosen(source: Source[V], default: V, place: int) -> V:
        number = int(source.selector[-1 - place]) if source.selector else None
        word = default if number is None else words[number // count]
        return part(m, source.type, word, width, width * (place if number is None else number % count))

    return [operation(chosen(a, a.value, i), chosen(b, b.value, i)) for i in range(count)]


def joined(m: Algebra[V], values: list[V], width: int, c: V, mask: str | None) -> V:
    """The low bits of each value, put together into one word; `c` where the mask leaves it."""
    word = m.const(U32, 0)
    for place, value in enumerate(values):
        bits = m.const(U32, (1 << width) - 1 << width * place)
        moved = m.shift_left(U32, value, m.const(U32, width * place)) if kept(mask, place) else c
        word = m.or_(U32, word, m.and_(U32, moved, bits))
    return word


def kept(mask: str | None, place: int) -> bool:
    """Whether a mask has the result of this place."""
    return mask is None or str(place) in mask


def accumulated(m: Algebra[V], values: list[V], c: V, mask: str | None) -> V:
    """The sum of all values that the mask has and `c`."""
    for place, value in enumerate(values):
        c = m.add(U32, c, value) if kept(mask, place) else c
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


def apply(m: Algebra[V], operation: str, a: V, b: V, cmp: str | None) -> V:
    """One operation on parts, as `.s32`."""
    match operation:
        case "add" | "sub" | "absdiff" | "min" | "max":
            return combined(m, S32, operation, a, b)
        case "avrg":
            return average(m, a, b)
        case _:
            return one_if(m, S32, comparison(m, str(cmp), S32, a, b))


COMPARISONS = "eq ne lt le gt ge"
SELECTORS = {2: "h[0-3][0-3]", 4: "b[0-7][0-7][0-7][0-7]"}
MASKS = {2: "h0 h1 h10", 4: "b0 b1 b10 b2 b20 b21 b210 b3 b30 b31 b310 b32 b320 b321 b3210"}


def _form(syntax: str, meaning: Meaning, count: int) -> None:
    """Declares a form by its syntax. Constants have no parts: all sources are registers."""
    choices = {
        "dtype": TYPES, "atype": TYPES, "btype": TYPES, "cmp": COMPARISONS, "asel": SELECTORS[count],
        "bsel": SELECTORS[count], "mask": MASKS[count],
    }  # fmt: skip
    used = {name: words for name, words in choices.items() if f".{name}" in syntax}
    defaults = {"dtype": U32, "sat": False, "cmp": None}
    instruction(syntax, since=SINCE, ref=REF, until=None, requires=None, check=None,
                defaults={n: v for n, v in defaults.items() if f".{n}" not in syntax},
                ranges=dict.fromkeys("abc", ()), relaxed=False, carry="", effects="",
                **used)(meaning)  # fmt: skip


def _declare(operation: str, count: int, words: str, modifiers: str) -> None:
    """The forms of one operation on `count` parts: merging and accumulating."""
    width = 32 // count

    def merge(
        m: Algebra[V], a: V, b: V, c: V, dtype: Type, atype: Type, btype: Type, sat: bool, cmp: str | None,
        asel: str | None, bsel: str | None, mask: str | None,
    ) -> V:  # fmt: skip
        sources = Source(a, atype, asel), Source(b, btype, bsel)
        values = parts(m, width, lambda x, y: apply(m, operation, x, y, cmp), *sources)
        values = [limited(m, dtype, width, v) for v in values] if sat else values
        return joined(m, values, width, c, mask)

    def accumulate(
        m: Algebra[V], a: V, b: V, c: V, dtype: Type, atype: Type, btype: Type, cmp: str | None,
        asel: str | None, bsel: str | None, mask: str | None,
    ) -> V:  # fmt: skip
        sources = Source(a, atype, asel), Source(b, btype, bsel)
        values = parts(m, width, lambda x, y: apply(m, operation, x, y, cmp), *sources)
        return accumulated(m, values, c, mask)  # whole values, not cut to the width of a part (H200)

    merge.__doc__ = f"{words} of {count} pairs of parts, put into their places of a third value."
    accumulate.__doc__ = f"{words} of {count} pairs of parts, all added to a third value."
    t = "dtype" if "dtype" in modifiers else "u32"
    operands = f"d[.mask]:{t}, a[.asel]:atype, b[.bsel]:btype, c:{t}"
    _form(f"v{operation}{count}.{modifiers} {operands}", merge, count)
    _form(f"v{operation}{count}.{modifiers.replace('[.sat]', '')}.add {operands}", accumulate, count)


OPERATIONS = {
    "add": "Sums", "sub": "Differences", "avrg": "Rounded averages", "min": "Minima", "max": "Maxima",
    "absdiff": "Absolute differences", "set": "Comparisons (1 where one holds, else 0)",
}  # fmt: skip

for _count in (2, 4):
    for _operation, _words in OPERATIONS.items():
        _modifiers = "atype.btype.cmp" if _operation == "set" else "dtype.atype.btype[.sat]"
        _declare(_operation, _count, _words, _modifiers)
