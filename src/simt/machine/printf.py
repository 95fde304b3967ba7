"""Formatting for device-side `printf`: CUDA's subset of C's formats, as an NVIDIA GPU prints it.

Text is handled as bytes (held in `str` as Latin-1), so that widths count what they count in C.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Protocol

from simt.records import dataclass, replace

LONGEST = 1 << 20
"""The widest field and the highest precision: larger ones are cut, as no output buffer would hold them."""

_CONVERSION = re.compile(
    r"%(?P<flags>[-+ #0]*)(?P<width>\*|\d*)(?:\.(?P<precision>\d*))?(?P<length>hh|h|ll|l)?"
    r"(?P<kind>[diouxXeEfFgGaAcsp])|%%"
)
_INTEGER_BITS = {"hh": 8, "h": 16, "": 32, "ll": 64}


class Source(Protocol):
    """Where the arguments of one call come from."""

    @property
    def pointer_bytes(self) -> int: ...

    def take(self, size: int) -> int:
        """The next argument of 4 or 8 bytes, as an unsigned number."""
        ...

    def string(self, address: int, most: int | None) -> str:
        """The C string at an address, at most so many bytes of it."""
        ...


@dataclass(frozen=True, slots=True)
class Field:
    """One conversion: `width` None if an argument gives it, `precision` None if there is none."""

    kind: str
    flags: str
    width: int | None
    precision: int | None
    length: str


def formatted(format: str, source: Source) -> tuple[str, int]:
    """The text of one `printf`, and the number of arguments that it took.

    What is no conversion (`%y`, `%zu`, `%.*f`) is printed as it stands, as the GPU does.
    """
    texts: list[str] = []
    count = 0
    for part in _parts(format):
        if isinstance(part, str):
            texts.append(part)
            continue
        count += 1
        field = part
        if part.width is None:
            count += 1
            field = _with_width(part, _signed(source.take(4), 32))
        texts.append(_CONVERTERS[field.kind](field, source))
    return "".join(texts), count


@lru_cache(maxsize=256)
def _parts(format: str) -> tuple[str | Field, ...]:
    """A format taken apart: text and conversions in turn."""
    found: list[str | Field] = []
    position = 0
    for match in _CONVERSION.finditer(format):
        found += [format[position : match.start()], "%" if match[0] == "%%" else _field(match)]
        position = match.end()
    return (*found, format[position:])


def _field(match: re.Match[str]) -> Field:
    width, precision = match["width"], match["precision"]
    return Field(
        match["kind"], match["flags"], None if width == "*" else _bounded(width),
        None if precision is None else _bounded(precision), match["length"] or "",
    )  # fmt: skip


def _with_width(field: Field, width: int) -> Field:
    """A negative width is the flag `-` and a positive one."""
    flags = field.flags + "-" if width < 0 else field.flags
    return replace(field, flags=flags, width=min(abs(width), LONGEST))


def _bounded(digits: str) -> int:
    """A number as written; longer ones than `int` may be asked to read are cut at once."""
    return min(int(digits[:9] or 0), LONGEST)


def _signed(value: int, bits: int) -> int:
    value %= 1 << bits
    return value - (1 << bits) if value >> (bits - 1) else value


def _pad(field: Field, head: str, body: str, zeros: bool) -> str:
    """`head` (sign, `0x`) and `body` in the field's width; `zeros`: the `0` flag counts."""
    width = field.width or 0
    if "-" in field.flags:
        return (head + body).ljust(width)
    if zeros and "0" in field.flags:
        return head + body.rjust(width - len(head), "0")
    return (head + body).rjust(width)


def _sign(field: Field, negative: bool) -> str:
    return "-" if negative else "+" if "+" in field.flags else " " if " " in field.flags else ""


# ---------------------------------------------------------------- integers and pointers


def _integer(field: Field, source: Source) -> str:
    bits = _INTEGER_BITS.get(field.length, 8 * source.pointer_bytes)  # `long` is as wide as a pointer
    value = source.take(max(4, bits // 8)) % (1 << bits)
    if field.kind in "di":
        number = _signed(value, bits)
        return _digits(field, _sign(field, number < 0), str(abs(number)))
    digits = format(value, "d" if field.kind == "u" else field.kind)
    hexadecimal = field.kind in "xX" and "#" in field.flags and value != 0
    if field.kind == "o" and "#" in field.flags:
        digits = digits.zfill(max(len(digits) + (value != 0), field.precision or 0))
        return _pad(field, "", digits, field.precision is None)
    return _digits(field, "0" + field.kind if hexadecimal else "", digits)


def _digits(field: Field, head: str, digits: str) -> str:
    """With the precision as the fewest digits: it switches the `0` flag off, and 0 makes zero vanish."""
    if field.precision is not None:
        digits = "" if digits == "0" and field.precision == 0 else digits.zfill(field.precision)
    return _pad(field, head, digits, field.precision is None)


def _pointer(field: Field, source: Source) -> str:
    value = source.take(source.pointer_bytes)
    if value == 0:
        return _pad(field, "", "(nil)", False)
    return _digits(field, _sign(field, False) + "0x", format(value, "x"))


# ---------------------------------------------------------------- characters


def _character(field: Field, source: Source) -> str:
    return _pad(field, "", chr(source.take(4) % 256), False)


def _string(field: Field, source: Source) -> str:
    address = source.take(source.pointer_bytes)
    if address:
        text = source.string(address, field.precision)
    else:
        text = "(null)" if field.precision is None or field.precision >= len("(null)") else ""
    return _pad(field, "", text, False)


# ---------------------------------------------------------------- floating point


def _real(field: Field, source: Source) -> str:
    """Floats arrive as doubles."""
    bits = source.take(8)
    value: float = struct.unpack("<d", struct.pack("<Q", bits))[0]
    head, magnitude = _sign(field, bool(bits >> 63)), abs(value)
    if not math.isfinite(value):
        name = "nan" if math.isnan(value) else "inf"
        return _pad(field, head, name.upper() if field.kind.isupper() else name, False)
    if field.kind in "aA":
        body = "0x" + _hexadecimal(bits % (1 << 63), field)
        body = body.upper() if field.kind == "A" else body
        return _pad(field, head + body[:2], body[2:], True)
    precision = 6 if field.precision is None else field.precision
    body = f"%{'#' if '#' in field.flags else ''}.{precision}{field.kind}" % magnitude
    return _pad(field, head, body, True)


def _hexadecimal(bits: int, field: Field) -> str:
    """`1.8p+0` of a double's bits (positive): one digit before the point, rounded to nearest even."""
    exponent, fraction = bits >> 52, bits % (1 << 52)
    significand = fraction | (exponent > 0) << 52
    power = 0 if bits == 0 else max(exponent, 1) - 1023
    if field.precision is None:
        digits = f"{significand % (1 << 52):013x}".rstrip("0")
    elif field.precision < 13:
        drop = 52 - 4 * field.precision
        significand = _rounded(significand, drop)
        digits = f"{significand >> drop:0{field.precision + 1}x}"[1:]
    else:
        digits = f"{fraction:013x}".ljust(field.precision, "0")
    point = "." if digits or "#" in field.flags else ""
    return f"{significand >> 52}{point}{digits}p{power:+d}"


def _rounded(value: int, drop: int) -> int:
    """`value` rounded to a multiple of 2^drop."""
    half, unit = 1 << (drop - 1), 1 << drop
    kept, rest = value & -unit, value % unit
    return kept + unit if rest > half or (rest == half and kept & unit) else kept


def _table() -> Iterator[tuple[str, Callable[[Field, Source], str]]]:
    groups = (("diouxX", _integer), ("p", _pointer), ("c", _character), ("s", _string), ("eEfFgGaA", _real))
    for kinds, convert in groups:
        yield from ((kind, convert) for kind in kinds)


_CONVERTERS = dict(_table())
