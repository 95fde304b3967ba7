"""Sizes of LLVM's types, and parts of lines of its text, as `tests.fuzz.guarding` needs them."""

from __future__ import annotations

import re

from simt.records import dataclass

_BITS = {"float": 32, "double": 64, "half": 16, "bfloat": 16, "ptr": 64, "x86_fp80": 128, "fp128": 128}
_INTEGER = re.compile(r"i(\d+)")
_LIST = re.compile(r"[<\[](\d+) x ")


@dataclass(frozen=True, slots=True)
class Kind:
    """A type: the bytes that an access reaches, those from one to the next, and where it lies. `bits`: of
    what vectors hold."""

    bits: int
    size: int
    step: int
    align: int
    spelled: str


def type_at(text: str, at: int = 0) -> tuple[Kind, int] | None:
    """The type that begins at a place, and where it ends; None if none does that is known."""
    if text.startswith("{", at):
        return _structure(text, at)
    if found := _LIST.match(text, at):
        inner = type_at(text, found.end())
        if inner is None or text[inner[1]] not in ">]":
            return None
        return _many(int(found[1]), inner[0], text[at : inner[1] + 1]), inner[1] + 1
    if found := _INTEGER.match(text, at):
        bits = int(found[1])
        return _scalar(bits, found[0]), found.end()
    for name, bits in _BITS.items():
        if text.startswith(name, at):
            return _scalar(bits, name), at + len(name)
    return None


def _scalar(bits: int, spelled: str) -> Kind:
    size = -(-bits // 8)
    align = min(16, 1 << (size - 1).bit_length())
    return Kind(bits, size, -(-size // align) * align, align, spelled)


def _many(count: int, inner: Kind, spelled: str) -> Kind:
    if spelled[0] == "[":
        return Kind(8 * count * inner.step, count * inner.step, count * inner.step, inner.align, spelled)
    size = max(1, -(-count * inner.bits // 8))
    align = 1 << (size - 1).bit_length()
    return Kind(count * inner.bits, size, -(-size // align) * align, align, spelled)


def _structure(text: str, at: int) -> tuple[Kind, int] | None:
    offset, align, place = 0, 1, at + 2
    while True:
        found = type_at(text, place)
        if found is None:
            return None
        kind, end = found
        offset = -(-offset // kind.align) * kind.align + kind.step
        align = max(align, kind.align)
        place = end + 2
        if text[end:place] != ", ":
            break
    size = -(-offset // align) * align
    return Kind(8 * size, size, size, align, text[at:place]), place


def field_offset(spelled: str, number: int) -> int | None:
    """Where a member of a structure begins."""
    offset, place = 0, 2
    for n in range(number + 1):
        found = type_at(spelled, place)
        if found is None:
            return None
        offset = -(-offset // found[0].align) * found[0].align
        if n < number:
            offset += found[0].step
        place = found[1] + 2
    return offset


def split(text: str) -> list[str]:
    """The parts of a list, by the commas that are in no brackets."""
    parts, depth, start = list[str](), 0, 0
    for n, c in enumerate(text):
        if c in "([{<":
            depth += 1
        elif c in ")]}>":
            depth -= 1
        elif c == "," and depth == 0:
            parts.append(text[start:n].strip())
            start = n + 1
    rest = text[start:].strip()
    return [*parts, rest] if rest else parts


def closing(text: str, opening: int) -> int:
    """Where the bracket ends that opens at a place."""
    depth = 0
    for n in range(opening, len(text)):
        depth += (text[n] in "([{") - (text[n] in ")]}")
        if depth == 0:
            return n
    raise ValueError(text)
