"""Double precision as single precision, for devices without it (`map_f64_to_f32`, PTX 1.4 table 107)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from simt.isa.algebra import Rounding
from simt.isa.catalogue import FORMS
from simt.isa.form import Version
from simt.isa.select import Selection, select
from simt.ptx.types import F32, F64

_SYNONYMS = {"fma": "mad"}
"""Section 10.1.1: fma.f64 is another name of mad.f64, and PTX 1.4 has no fma.f32."""


def single_precision(
    opcode: str, modifiers: tuple[str, ...], count: int, version: Version, target: int
) -> Selection | None:
    """The instruction of single precision that takes the place of one of double precision; None if the
    instruction has nothing to do with double precision, or only moves it.

    Single precision has no rounding for some of them, and then the approximate one is meant.
    """
    if F64.name not in modifiers or opcode not in FORMS or FORMS[opcode][0].moves:
        return None
    narrow = tuple(F32.name if m == F64.name else m for m in modifiers)
    for words in _spellings(narrow):
        found = select(_SYNONYMS.get(opcode, opcode), words, count, version, target)
        if isinstance(found, Selection) and found.shortfall(version, target) is None:
            return found
    return None


def _spellings(modifiers: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """As it is, without its rounding, approximate, rounded to nearest."""
    plain = tuple(m for m in modifiers if m not in get_args(Rounding))
    yield modifiers
    yield plain
    yield ("approx", *plain)
    yield ("rn", *plain)
