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
class Measured:
    """The coefficients as they stand in the file."""

    c0: tuple[int, ...]
    c1: tuple[int, ...]
    c2: tuple[int, ...]
    bias: int
    c1_unit: float
    c2_unit: float


_beside: dict[tuple[int, ...], tuple[int, ...]] = {}
"""`Table.slopes` of the tables so far, by `Table.c0` or `lowest_sums`."""


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
def lowest_sums(name: str) -> tuple[int, ...]:
    """By segment, the lowest 32 bits of c0 and the bias in 2^-17 units, of `rounded_table`."""
    table = rounded_table(name)
    sums = tuple((c0 << table.fraction) + table.bias & 2**32 - 1 for c0 in table.c0)
    _beside[sums] = table.slopes
    return sums


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
    _beside[found.c0] = packed
    return Table(found.c0, packed, _sign(found.c1), _sign(found.c2), bias, split, fraction)


def slopes_beside(c0: tuple[int, ...]) -> tuple[int, ...] | None:
    """What is looked up next to some `Table.c0` or `lowest_sums`, with the same segment; None for others."""
    return _beside.get(c0)


def _sign(coefficients: Sequence[int]) -> int:
    return 1 if coefficients[-1] > 0 else -1
