"""The tables of the special function unit, measured on an H200 (docs/special-functions.md).

A segment's result is c0 + c1 x + c2 x^2 with x from 0 to 1 over the segment. `special_functions.json` holds
the coefficients as integers: c0 in quarters of a unit, c1 and c2 in `c1_unit` and `c2_unit` units, `bias` in
2^-17 units. One unit is the last place of a 24-bit result in the function's greatest binade.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from simt.records import dataclass

PLACE = 17
"""Bits of a place in a segment."""

SLOPE_SHIFT = 13
"""Where |c1| begins in an entry of `Table.slopes`; below it stands |c2|."""


@dataclass(frozen=True, slots=True)
class Table:
    """A function's segments, packed: their number is a power of two.

    The sum of a segment, in units of 2^-`fraction` quarters or finer (see `simt.isa.special.below_c0`), is
    c0 and `bias` plus or minus |c1| X plus or minus |c2| P, with the 17-bit place X in the segment and its
    15-bit square P. `slopes` holds |c1| and |c2|; their signs are opposite or alike in all segments.
    """

    c0: tuple[int, ...]
    slopes: tuple[int, ...]
    c1_sign: int
    c2_sign: int
    bias: int
    split: int
    """Bits of X that are multiplied apart, so that products fit 32 bits."""
    fraction: int
    """Bits of the sum below what is kept of it."""


@dataclass(frozen=True, slots=True)
class Words:
    """A function's segments as 16-bit numbers, for sums of which 14 bits of the result are kept.

    In units of 2^-18 of the result's last place the sum is c0 2^16 and (2^(16 - `shift`) - 1) 2^`shift`, plus
    or minus slope X 2^`shift`, plus or minus curve P, with the 17-bit place X and its 15-bit square P; and if
    `has_place`, also X 2^16. Curves are multiples of 2^`shift`.
    """

    c0: tuple[int, ...]
    """Quarters of the last place, modulo 2^16."""
    slopes: tuple[int, ...]
    curves: tuple[int, ...]
    shift: int
    has_place: bool
    c1_sign: int
    c2_sign: int


@dataclass(frozen=True, slots=True)
class Measured:
    """The coefficients as they stand in the file."""

    c0: tuple[int, ...]
    c1: tuple[int, ...]
    c2: tuple[int, ...]
    bias: int
    c1_unit: float
    c2_unit: float


@cache
def measured() -> Mapping[str, Measured]:
    """All functions by name."""
    text = files("simt.isa").joinpath("special_functions.json").read_text()
    return {name: _measured(entry) for name, entry in json.loads(text).items()}


def _measured(entry: Mapping[str, Any]) -> Measured:
    c0, c1, c2 = (tuple(entry[name]) for name in ("c0", "c1", "c2"))
    return Measured(c0, c1, c2, entry["bias"], entry["c1_unit"], entry["c2_unit"])


@cache
def rounded_table(name: str) -> Table:
    """For a result of 24 bits at a fixed place: quarters of the unit are kept."""
    return _table(measured()[name], 1, 4, 15)


@cache
def word_table(name: str) -> Words:
    """Of `rounded_table`. Slopes beyond 16 bits are halved, or lose half of the place's own unit."""
    table = rounded_table(name)
    c1, c2 = ([field(entry) for entry in table.slopes] for field in (_slope, _curve))
    shift, less = (1, 1 << 15) if any(c % 2 for c in c1) else (2, 0)
    slopes = tuple((c - less) * 2 >> shift for c in c1)
    c0, curves = tuple(c % 2**16 for c in table.c0), tuple(2 * c for c in c2)
    return Words(c0, slopes, curves, shift, less > 0, table.c1_sign, table.c2_sign)


def _slope(entry: int) -> int:
    return entry >> SLOPE_SHIFT


def _curve(entry: int) -> int:
    return entry & (1 << SLOPE_SHIFT) - 1


@cache
def exact_table(name: str, fraction: int) -> Table:
    """For a result in floating point: the unit is 2^-24, `fraction` bits are kept."""
    found = measured()[name]
    finest = int(min(found.c1_unit, 4 * found.c2_unit))
    dropped = 24 + PLACE - finest.bit_length() + 1 - fraction
    return _table(found, finest, dropped, dropped)


def _table(found: Measured, scale: int, split: int, fraction: int) -> Table:
    """With sums in `scale` 2^-17 units."""
    first, second = (
        round(unit * factor / scale) for unit, factor in ((found.c1_unit, 1), (found.c2_unit, 4))
    )
    slopes = zip((abs(c) * first for c in found.c1), (abs(c) * second for c in found.c2), strict=True)
    packed = tuple(c1 << SLOPE_SHIFT | c2 for c1, c2 in slopes)
    bias = found.bias // scale
    return Table(found.c0, packed, _sign(found.c1), _sign(found.c2), bias, split, fraction)


def _sign(coefficients: Sequence[int]) -> int:
    return 1 if coefficients[-1] > 0 else -1
