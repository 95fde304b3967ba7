"""Finds the special function unit's tables from results alone:
`python -m tests.hw.fit_special [--from FILE] [NAME ...]`.

The results are a GPU's, of full binades, as `tests.hw.dump_special` keeps them in a file; without `--from`
they are an H200's. The tables found are compared with those in use. To fit another chip, give its file.

Every result y of 24 bits at a place X of a segment says y <= c0 + c1 X + c2 P(X) < y + u, u its last place.
A Chebyshev fit of the bands' middles gives c1 and c2 nearly; the grid points beside it are tried, and the
widest interval left for c0 decides. It is empty for a wrong square P or a wrong number of segments: this
is how those were found. The interval of all segments, modulo the unit of c0, gives the bias.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np

from simt.isa.special import TANGENT_BITS, TANGENT_FROM
from simt.isa.special_tables import PLACE, Measured, measured
from tests.hw.special import BLOCK_BITS
from tests.hw.special_dump import Results, dumped
from tests.unit.isa.meaning import Array

PLACES = 1 << PLACE
UNIT = 2.0**-24
QUARTER = 0.25
VECTORS = Path(__file__).parent / "vectors" / "special_results.npz"


@cache
def square() -> Array:
    """P of every place, from 0 to 1: the partial products from column 19 on."""
    x = np.arange(PLACES)
    total = np.zeros(PLACES, np.int64)
    for i, j in product(range(PLACE), repeat=2):
        if j < i and i + j + 1 >= 19:
            total += (x >> i & x >> j & 1) << (i + j + 1)
        if i == j and 2 * i >= 19:
            total += (x >> i & 1) << 2 * i
    return total / 4.0**PLACE


@dataclass(frozen=True)
class Bands:
    """Where a function's sum lies at every place of its segments, in 2^-24 units: `low` <= sum < `high`."""

    low: Array
    high: Array

    def segments(self) -> Iterator[tuple[Array, Array]]:
        for start in range(0, len(self.low), PLACES):
            yield self.low[start : start + PLACES], self.high[start : start + PLACES]


def bands(values: Array, last_place: Array | float, scale: float) -> Bands:
    low = values.astype(np.float64) / UNIT * scale
    return Bands(low, low + np.maximum(last_place, 2.0**-13))


def floating(values: Array) -> Array:
    """The last place of each value in units of 2^-24."""
    return np.ldexp(1.0, np.frexp(values)[1])


# ---------------------------------------------------------------- the fit


def chebyshev(basis: Array, wanted: Array) -> Array:
    """Coefficients of the least greatest error, by exchange of one point at a time."""
    count = basis.shape[1]
    nodes = (1 - np.cos(np.pi * np.arange(count + 1) / count)) / 2
    points = np.round(nodes * (len(wanted) - 1)).astype(int)
    signs = np.where(np.arange(count + 1) % 2 == 0, 1.0, -1.0)
    found = np.zeros(count)
    for _ in range(60):
        solved = np.linalg.solve(np.column_stack([basis[points], signs]), wanted[points])
        found = solved[:count]
        error = wanted - basis @ found
        worst = int(np.argmax(np.abs(error)))
        if abs(error[worst]) <= abs(solved[count]) * (1 + 1e-9) + 1e-12:
            break
        points = _exchanged(points, worst, np.sign(error))
    return found


def _exchanged(points: Array, worst: int, signs: Array) -> Array:
    """The points with one replaced, so that the errors' signs still alternate."""
    place = int(np.searchsorted(points, worst))
    if place == 0 and signs[points[0]] != signs[worst]:
        return np.concatenate([[worst], points[:-1]])
    if place == len(points) and signs[points[-1]] != signs[worst]:
        return np.concatenate([points[1:], [worst]])
    inside = min(place, len(points) - 1)
    points = points.copy()
    points[inside if signs[points[inside]] == signs[worst] else inside - 1] = worst
    return points


@dataclass(frozen=True)
class Segment:
    """Slopes as integers, and the interval that they leave for c0 with the bias."""

    c1: int
    c2: int
    low: float
    high: float


def fitted(low: Array, high: Array, units: Sequence[float]) -> Segment:
    """A segment's slopes in multiples of `units`. Places whose band is NaN are left out."""
    known = np.isfinite(low)
    x, squared = (np.arange(PLACES) / PLACES)[known], square()[known]
    low, high = low[known], high[known]
    weight = 1 / (high - low)
    basis = np.column_stack([np.ones(len(x)), x, squared])
    near = chebyshev(basis * weight[:, None], (low + high) / 2 * weight)
    tried: list[Segment] = []
    for d1, d2 in product((-1, 0, 1), repeat=2):
        c1, c2 = round(near[1] / units[0]) + d1, round(near[2] / units[1]) + d2
        sum_ = c1 * units[0] * x + c2 * units[1] * squared
        tried.append(Segment(c1, c2, float((low - sum_).max()), float((high - sum_).min())))
    return max(tried, key=lambda s: s.high - s.low)


def table(found: Sequence[Segment], units: Sequence[float]) -> Measured:
    """All segments of a function. Raises `ValueError` if no model with these units gives the results."""
    if any(s.low >= s.high for s in found):
        raise ValueError("no coefficients give the results")
    for bias in sorted({s.low % QUARTER for s in found}):
        c0 = [int(np.ceil((s.low - bias) / QUARTER)) for s in found]
        if all(s.low <= c * QUARTER + bias < s.high for c, s in zip(c0, found, strict=True)):
            slopes = (tuple(s.c1 for s in found), tuple(s.c2 for s in found))
            return Measured(tuple(c0), *slopes, round(bias * 2**PLACE), *units)
    raise ValueError("no bias suits all segments")


# ---------------------------------------------------------------- the functions


def _reciprocal(results: Results) -> Bands:
    """Every place of its 128 segments stands for two: their lowest bit is 0."""
    values = np.repeat(results("rcp.approx.ftz.f32", 127), 2)
    found = bands(values, 1.0, 1.0)
    found.low[1::2] = np.nan
    return found


def _reciprocal_root(results: Results) -> Bands:
    """[2, 4) and then [1, 2), by the exponent's lowest bit. 1/sqrt(1) is exact, though its sum is not."""
    values = np.concatenate([results("rsqrt.approx.ftz.f32", block) for block in (128, 127)])
    values[values == 1] = np.nan
    return bands(values, 1.0, 1.0)


def _root(results: Results) -> Bands:
    values = np.concatenate([results("sqrt.approx.ftz.f32", block) for block in (128, 127)])
    return bands(values, 1.0, 0.5)


def _exponential(results: Results) -> Bands:
    return bands(results("ex2.approx.ftz.f32", 127), 1.0, 0.25)


def _logarithm(results: Results) -> Bands:
    """log2(1) is 0, though its sum is not."""
    values = results("lg2.approx.ftz.f32", 127)
    values[0] = np.nan
    return bands(values, floating(values), 1.0)


def _sine(results: Results) -> Bands:
    """Of a quarter of a turn, cosines from its end. Not every place is some angle's."""
    values = np.full(1 << 23, np.nan)
    for block in range(112, 128):
        angles = (np.arange(1 << BLOCK_BITS, dtype=np.uint32) | np.uint32(block << BLOCK_BITS)).view(
            np.float32
        )
        place = _place_in_turn(angles)
        inside = place < 1 << 23
        values[place[inside]] = results("sin.approx.ftz.f32", block)[inside]
        values[(1 << 23) - 1 - place[inside]] = results("cos.approx.ftz.f32", block)[inside]
    return bands(values, floating(values), 1.0)


def _place_in_turn(angles: Array) -> Array:
    """In units of 2^-25: the product with 1/(2 pi) is cut to 24 bits."""
    turns = angles.astype(np.float64) * np.float64(np.float32(1 / (2 * np.pi)))
    cut = (turns.view(np.uint64) >> np.uint64(29) << np.uint64(29)).view(np.float64)
    return np.floor(cut * 2.0**25).astype(np.int64)


def _hyperbolic_tangent(results: Results) -> Bands:
    """By binades, each of so many segments that a place has 17 bits."""
    parts = (
        results("tanh.approx.f32", TANGENT_FROM + i)[:: 1 << (6 - bits)]
        for i, bits in enumerate(TANGENT_BITS)
    )
    values = np.concatenate(list(parts))
    return bands(values, floating(values), 1.0)


BANDS = {
    "reciprocal": _reciprocal,
    "reciprocal_root": _reciprocal_root,
    "root": _root,
    "exponential": _exponential,
    "logarithm": _logarithm,
    "sine": _sine,
    "hyperbolic_tangent": _hyperbolic_tangent,
}


def fit(name: str, results: Results) -> Measured:
    """The table of a function, from results. Raises `ValueError` if no table gives them."""
    units = (measured()[name].c1_unit, measured()[name].c2_unit)
    return table([fitted(low, high, units) for low, high in BANDS[name](results).segments()], units)


def outcome(name: str, results: Results) -> str:
    """What the fit gives, in words."""
    found = fit(name, results)
    return "as in use" if found == measured()[name] else str(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--from", dest="file", type=Path, default=VECTORS, help="a file of dump_special")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BANDS)}; all by default")
    arguments = parser.parse_args()
    for name in arguments.names or BANDS:
        print(name, outcome(name, dumped(arguments.file)), flush=True)


if __name__ == "__main__":
    main()
