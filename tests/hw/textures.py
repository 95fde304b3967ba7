"""Texture fetches to perform on a GPU and here: what is bound, and where it is read.

Texels and coordinates are chosen at random by the recorder, which keeps them; extents that normalized
coordinates depend on have ramps instead, which `ramp` makes again.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]

SHAPES = {"1d": (7,), "2d": (3, 5), "3d": (2, 3, 4)}
INTEGERS = ("u1", "i1", "u2", "i2", "u4", "i4")
FLOATS = ("f2", "f4")
MODES = (
    ("clamp", False), ("border", False), ("clamp", True), ("border", True), ("wrap", True), ("mirror", True),
)  # fmt: skip
"""Addressing, and whether coordinates are normalized."""
BITS = {"f2": (10, 5), "f4": (23, 8)}
"""Of a format: those of the significand that are stored, those of the exponent."""
SPREADS = {"f2": (1, 5, 9, 14), "f4": (10, 20, 30, 60)}
"""By how much the exponents of texels differ, by component."""

LINES = (
    (100,), (4097,), (8192,), (8193,), (16384,), (65535,), (65536,), (65537,), (131072,),
    (8192, 1), (8193, 1), (65535, 1), (3, 8193), (8193, 3), (3, 65537),
    (100, 1, 1), (2300, 1, 1), (2301, 1, 1), (4097, 1, 1), (8192, 1, 1), (16384, 1, 1),
    (1, 4097, 1), (1, 8192, 1), (1, 8193, 1), (1, 1, 4097), (1, 1, 8193), (2301, 1, 3), (2, 3, 9000),
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A texture, as `TextureReference.bind` describes it, and how it is read.

    `texels`: the kind of its texels, `extents`: those of its array, x last. Coordinates are `f32` or `s32`.
    """

    dtype: str
    channels: int
    filter: str
    address: str
    normalized: bool
    read_as: str
    coordinate: str
    texels: str
    extents: tuple[int, ...]

    @property
    def geometry(self) -> str:
        return f"{len(self.extents)}d"

    @property
    def result(self) -> str:
        """The type that `tex` returns."""
        floats = self.dtype in FLOATS or self.read_as == "float"
        return "f32" if floats else "s32" if self.dtype[0] == "i" else "u32"

    @property
    def opcode(self) -> str:
        return f"tex.{self.geometry}.v4.{self.result}.{self.coordinate}"

    @property
    def bound(self) -> str:
        """Names the array."""
        return "-".join((self.dtype, str(self.channels), self.texels, "x".join(map(str, self.extents))))

    @property
    def places(self) -> str:
        """Names the coordinates."""
        kind = "deep" if self.texels in ("deep", "low", "corners") else "any"
        scale = "normalized" if self.normalized else "texels"
        return "-".join((self.coordinate, kind, scale, "x".join(map(str, self.extents))))

    @property
    def name(self) -> str:
        return f"{self.bound}-{self.filter}-{self.address}-{self.read_as}-{self.places}"


def cases() -> list[Case]:
    return [*_formats(), *_depths(), *_lines(), *_integer_coordinates()]


def _formats() -> Iterator[Case]:
    """Every way to bind an array of few texels."""
    reads = [(d, "any", "point", "element") for d in INTEGERS]
    reads += [(d, "any", f, "float") for d in INTEGERS[:4] for f in ("point", "linear")]
    reads += [(d, "any", f, "element") for d in FLOATS for f in ("point", "linear")]
    reads += [(d, "wide", f, "float") for d in FLOATS for f in ("point", "linear")]
    for shape, channels, mode, read in itertools.product(SHAPES.values(), (1, 2, 4), MODES, reads):
        dtype, texels, filter_, read_as = read
        yield Case(dtype, channels, filter_, *mode, read_as, "f32", texels, shape)


def _depths() -> Iterator[Case]:
    """Many points: floats of very different sizes, or near zero; integers; each corner's weight alone."""
    for shape in ((40,), (9, 8), (5, 4, 4)):
        for dtype, texels in itertools.product(FLOATS, ("deep", "low")):
            yield Case(dtype, 4, "linear", "clamp", False, "element", "f32", texels, shape)
        for dtype in INTEGERS[:4]:
            yield Case(dtype, 1, "linear", "clamp", False, "float", "f32", "deep", shape)
    for shape, dtype in itertools.product(((2, 2), (2, 2, 2)), ("u1", "f4")):
        yield Case(dtype, 4, "linear", "border", False, "float", "f32", "corners", shape)


def _lines() -> Iterator[Case]:
    """Extents on which the precision of normalized coordinates depends."""
    for shape, address, filter_ in itertools.product(LINES, ("clamp", "wrap"), ("point", "linear")):
        yield Case("f4", 1, filter_, address, True, "element", "f32", "ramp", shape)


def _integer_coordinates() -> Iterator[Case]:
    """In one dimension arrays read zeros there, and plain memory works: the recorder binds that."""
    for dtype, shape in itertools.product((*INTEGERS, *FLOATS), SHAPES.values()):
        for address in ("clamp", "border") if len(shape) > 1 else ("border",):
            yield Case(dtype, 1, "point", address, False, "element", "s32", "any", shape)


def ramp(shape: tuple[int, ...]) -> Array:
    """Texels that tell where they lie: no two that meet are alike."""
    return np.arange(1, 1 + np.prod(shape), dtype="f4").reshape(*shape, 1)


def texels(case: Case, chance: np.random.Generator) -> Array:
    """The array that is bound, components last."""
    shape = (*case.extents, case.channels)
    if case.texels == "ramp":
        return ramp(case.extents)
    if case.texels == "corners":
        return _corners(case)
    if case.dtype in INTEGERS:
        limits = np.iinfo(case.dtype)
        edges = chance.choice([limits.min, limits.min + 1, limits.max, 0], shape)
        some = chance.integers(limits.min, limits.max, shape, endpoint=True)
        return np.where(chance.random(shape) < 0.2, edges, some).astype(case.dtype)
    return KINDS[case.texels](case.dtype, shape, chance)


def _corners(case: Case) -> Array:
    """The largest number in one texel of each component, the others empty: x and y give its place."""
    data = np.zeros((*case.extents, 4), case.dtype)
    for corner in range(4):
        data[..., corner >> 1, corner & 1, corner] = 1 if case.dtype in FLOATS else np.iinfo(case.dtype).max
    if len(case.extents) == 3:
        data[0] = 0
    return data


def _floats(dtype: str, exponents: Array, chance: np.random.Generator) -> Array:
    """Floats of random signs and significands, by their biased exponents."""
    stored, size = BITS[dtype]
    signs, fractions = (
        chance.integers(0, 2, exponents.shape),
        chance.integers(0, 1 << stored, exponents.shape),
    )
    words = signs << (stored + size) | exponents << stored | fractions
    return words.astype(f"u{dtype[1]}").view(dtype)


def _moderate(dtype: str, shape: tuple[int, ...], chance: np.random.Generator) -> Array:
    one = (1 << (BITS[dtype][1] - 1)) - 1
    return _floats(dtype, chance.integers(one - 6, one + 7, shape), chance)


def _wide(dtype: str, shape: tuple[int, ...], chance: np.random.Generator) -> Array:
    """Any bits, and often infinities, NaNs, zeros and subnormals."""
    stored, size = BITS[dtype]
    top = ((1 << size) - 1) << stored
    special = np.array([0, top, top | 1, top | 1 << (stored - 1), 1, (1 << stored) - 1, 1 << stored, top - 1])
    signed = special[chance.integers(0, len(special), shape)] | chance.integers(0, 2, shape) << (
        stored + size
    )
    some = _floats(dtype, chance.integers(0, 1 << size, shape), chance)
    words = np.where(chance.random(shape) < 0.3, signed, some.view(f"u{dtype[1]}"))
    return words.astype(f"u{dtype[1]}").view(dtype)


def _deep(dtype: str, shape: tuple[int, ...], chance: np.random.Generator) -> Array:
    """The components spread more and more."""
    one = (1 << (BITS[dtype][1] - 1)) - 1
    return _floats(dtype, one - chance.integers(0, np.array(SPREADS[dtype]) + 1, shape), chance)


def _low(dtype: str, shape: tuple[int, ...], chance: np.random.Generator) -> Array:
    """Next to where subnormals begin, and below."""
    return _floats(dtype, chance.integers(0, np.array([2, 4, 8, 14]), shape), chance)


KINDS: dict[str, Callable[[str, tuple[int, ...], np.random.Generator], Array]] = {
    "any": _moderate, "wide": _wide, "deep": _deep, "low": _low,
}  # fmt: skip


def places(case: Case, chance: np.random.Generator) -> Array:
    """The coordinates, (lanes, dimensions), x first."""
    extents = case.extents[::-1]
    if case.coordinate == "s32":
        near = np.stack([chance.integers(-2, n + 2, 120) for n in extents], 1)
        far = chance.integers(-(1 << 31), 1 << 31, near.shape)
        return np.where(chance.random(near.shape) < 0.9, near, far).astype("i4")
    if "-deep-" in case.places:
        return np.stack([chance.integers(0, n * 256 + 1, 3000) / 256 for n in extents], 1).astype("f4")
    columns = [_column(n, case.normalized, len(extents), chance) for n in extents]
    return np.stack([c[chance.permutation(len(c))] if axis else c for axis, c in enumerate(columns)], 1)


def _column(extent: int, normalized: bool, dimensions: int, chance: np.random.Generator) -> Array:
    """Inside and around the array; where weights change, a bit off too; small, huge and special ones."""
    lot = 40 if dimensions == 1 else 30
    inside = chance.uniform(0, extent, (1 if dimensions == 1 else 3) * lot)
    around = chance.uniform(-2.5 * extent, 3.5 * extent, lot)
    steps, more = chance.integers(-256, (extent + 1) * 256, (2, 2 * lot)) / 256
    ties = more + 1 / 512
    small = np.ldexp(chance.uniform(-1, 1, lot // 2), chance.integers(-140, 3, lot // 2))
    exact = np.concatenate([inside, around, steps, ties, small]) / (extent if normalized else 1)
    words = exact.astype("f4").view("i4")
    off = chance.integers(-2, 3, len(words)) * (np.abs(exact) > 2.0**-100) * (chance.random(len(words)) < 0.5)
    huge = chance.integers(0, 1 << 32, lot // 2).astype("u4").view("i4")
    special = np.array(
        [0, 1 << 31, 1, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F7FFFFF, 0xFF7FFFFF], "u4"
    ).view("i4")
    return np.concatenate([words + off.astype("i4"), huge, special]).view("f4")
