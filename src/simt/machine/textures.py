"""Textures: arrays bound to `.tex` variables, and what `tex` (PTX 1.4 table 71) reads from them.

This is reference code over NumPy columns. Engines give it coordinates lane by lane and get four
components a lane. Texel i covers [i, i + 1). What the documents leave open follows an H200
(`tests/hw/record_textures.py`): components that the array lacks, and texels outside it that integer
coordinates name, are zero; normalized coordinates keep 21 bits of fraction; linear filtering weighs the
texels around x - 0.5 in units of 1/256.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from simt.errors import LaunchError
from simt.ptx.types import Type

Column: TypeAlias = "NDArray[Any]"
Filter = Literal["point", "linear"]
Addressing = Literal["clamp", "border", "wrap", "mirror"]
ReadAs = Literal["element", "float"]

GEOMETRIES = {"1d": 1, "2d": 2, "3d": 3}
FILTERS = ("point", "linear")
ADDRESSINGS = ("clamp", "border", "wrap", "mirror")
READS = ("element", "float")
_DTYPES = ("u1", "i1", "u2", "i2", "u4", "i4", "f2", "f4")
_UNIT = 256  # weights of texels, in these parts, add up to one
_NORMALIZED_STEPS = 2.0**21


@dataclass(frozen=True)
class Texture:
    """An array as `tex` sees it: `data` has the shape (depth, height, width, channels).

    `filter`: how real coordinates select texels; integer ones always name one. `address`: what lies
    outside; wrap and mirror need `normalized` coordinates, from 0 to 1 across the array. `read_as`:
    8 and 16-bit integers as they are, or as floats in [0, 1] or [-1, 1]; floats are floats.
    """

    data: NDArray[Any]
    filter: Filter = "point"
    address: Addressing = "clamp"
    normalized: bool = False
    read_as: ReadAs = "element"
    dimensions: int = 1

    @property
    def reads_floats(self) -> bool:
        return self.data.dtype.kind == "f" or self.scales

    @property
    def scales(self) -> bool:
        """Whether integers read as floats in [0, 1] or [-1, 1]."""
        return self.read_as == "float" and self.data.dtype.kind != "f"


def make_texture(
    array: NDArray[Any], filter: Filter, address: Addressing, normalized: bool, read_as: ReadAs, channels: int
) -> Texture:
    """Checks what is bound. `channels` above 1 makes the last axis the components of a texel.

    Raises `LaunchError` for what no texture can be.
    """
    for what, value, known in (
        ("filter", filter, FILTERS),
        ("address", address, ADDRESSINGS),
        ("read_as", read_as, READS),
    ):
        if value not in known:
            raise LaunchError(f"texture {what}: expected one of {', '.join(known)}, {value!r} given")
    if array.dtype not in [np.dtype(d) for d in _DTYPES]:
        raise LaunchError(
            f"a texture cannot hold {array.dtype}: expected 8 to 32-bit integers, float16 or float32"
        )
    dimensions = array.ndim - (channels > 1)
    if (
        channels not in (1, 2, 3, 4)
        or not 1 <= dimensions <= 3
        or (channels > 1 and array.shape[-1] != channels)
    ):
        raise LaunchError(f"a texture of {channels} channels cannot have the shape {array.shape}")
    shape = array.shape[:dimensions]
    data = array.reshape((1,) * (3 - dimensions) + shape + (channels,))
    found = Texture(data, filter, address, normalized, read_as, dimensions)
    _check_modes(found)
    return found


def _check_modes(texture: Texture) -> None:
    if texture.address in ("wrap", "mirror") and not texture.normalized:
        raise LaunchError(f"texture address {texture.address!r} needs normalized coordinates")
    if texture.scales and texture.data.dtype.itemsize > 2:
        raise LaunchError(f"read_as 'float' needs 8 or 16-bit integers or floats, not {texture.data.dtype}")
    if texture.filter == "linear" and not texture.reads_floats:
        raise LaunchError("linear filtering needs floats: bind with read_as='float' or a float array")
    if texture.data.size == 0:
        raise LaunchError("a texture cannot be empty")


class TextureTable:
    """The textures of a launch by the addresses of their variables."""

    def __init__(self, textures: Mapping[str, object], symbols: Mapping[str, int]) -> None:
        self._by_address = {symbols[n]: t for n, t in textures.items() if isinstance(t, Texture)}
        self._names = {address: name for name, address in symbols.items()}

    def fetch(
        self, geometry: str, result: Type, coordinate: Type, texture: Column, coordinates: Sequence[Column]
    ) -> tuple[Column, Column, Column, Column]:
        """What `Algebra.texture` returns, for columns of lanes of any one shape, `.f32` ones as float32,
        others as uint32. Raises `LaunchError` for a texture that nothing is bound to."""
        shape = np.broadcast_shapes(np.shape(texture), *(np.shape(c) for c in coordinates))
        which = np.broadcast_to(texture, shape)
        used = [np.broadcast_to(c, shape) for c in coordinates[: GEOMETRIES[geometry]]]
        bits = np.zeros((4, *shape), np.uint32)
        for address in np.unique(which):
            lanes = which == address
            bits[:, lanes] = self._fetch_one(int(address), [c[lanes] for c in used], coordinate)
        columns = bits.view(np.float32) if result.is_native_float else bits
        return columns[0], columns[1], columns[2], columns[3]

    def _fetch_one(self, address: int, coordinates: Sequence[Column], coordinate: Type) -> Column:
        texture = self._by_address.get(address)
        if texture is None:
            raise LaunchError(self._unbound(address))
        if coordinate.is_float:
            return fetch(texture, [np.asarray(c, np.float32) for c in coordinates])
        return fetch(texture, [np.asarray(c).astype(np.uint32).view(np.int32) for c in coordinates])

    def _unbound(self, address: int) -> str:
        name = self._names.get(address)
        if name is None:
            return (
                f"no texture variable of the module is at {address:#x}: for a texture object, pass "
                "Module.symbol of a bound .texref variable, of a linked file if the module has none"
            )
        return f"nothing is bound to texture {name}: use Module.texture({name!r}).bind"


def fetch(texture: Texture, coordinates: Sequence[Column]) -> Column:
    """Four rows of 32-bit words for 1 to 3 columns of coordinates, x first: float32 or int32."""
    if coordinates[0].dtype.kind == "i":
        return _as_words(
            _bounded(texture, _texels(texture, [c.astype(np.int64) for c in coordinates], "border"))
        )
    extents = texture.data.shape[2::-1]
    scaled = [_scaled(texture, c, n) for c, n in zip(coordinates, extents)]
    if texture.filter == "point":
        texels = _texels(texture, [_whole(np.floor(c)) for c in scaled], texture.address)
        return _as_words(_bounded(texture, texels))
    return _as_words(_interpolated(texture, scaled))


def _scaled(texture: Texture, coordinate: Column, extent: int) -> Column:
    """In texels. What is not finite reads the first one."""
    finite = np.where(np.isfinite(coordinate), coordinate, 0).astype(np.float64)
    if texture.normalized:
        return np.floor(finite * _NORMALIZED_STEPS) / _NORMALIZED_STEPS * extent
    return finite


def _whole(values: Column) -> Column:
    """As integers, far ones kept within the range that indices are computed in."""
    return np.clip(values, -(2.0**40), 2.0**40).astype(np.int64)


def _interpolated(texture: Texture, coordinates: Sequence[Column]) -> Column:
    """The weighted mean of the 2, 4 or 8 texels around each point."""
    places = [_whole(np.rint((c - 0.5) * _UNIT)) for c in coordinates]
    total: Column = np.zeros((len(places[0]), 4))
    for corner, weight in _weights([p % _UNIT for p in places], texture.address).items():
        indices = [p // _UNIT + upper for p, upper in zip(places, corner)]
        total += weight[:, None] / _UNIT * _texels(texture, indices, texture.address)
    return _bounded(texture, total.astype(np.float32))


def _weights(upper: Sequence[Column], address: Addressing) -> dict[tuple[int, ...], Column]:
    """Weight of each corner, from that of the upper texel along each axis, in 1/256.

    One and two dimensions are exactly the H200's; in three, one lane in twenty is a unit off. The H200
    also keeps only 16 bits when it filters integers, and 11 when it filters halves.
    """
    if len(upper) == 1 and address == "border":
        # The H200 filters across the upper edge of the one row: y is 0, half of it lies outside.
        row = _square(upper[0], np.full_like(upper[0], _UNIT // 2))
        return {(0,): row[0, 1], (1,): row[1, 1]}
    if len(upper) == 1:
        return {(0,): _UNIT - upper[0], (1,): upper[0]}
    if len(upper) == 2:
        return _square(upper[0], upper[1])
    found: dict[tuple[int, ...], Column] = {}
    for (x, z), weight in _square(upper[0], upper[2]).items():
        above = _product(weight, upper[1])
        found[x, 0, z], found[x, 1, z] = weight - above, above
    return found


def _square(a: Column, b: Column) -> dict[tuple[int, ...], Column]:
    """Only one product is rounded: the weights along either axis add up."""
    both = _product(a, b)
    return {(1, 1): both, (1, 0): a - both, (0, 1): b - both, (0, 0): _UNIT - a - b + both}


def _product(a: Column, b: Column) -> Column:
    return (a * b + _UNIT // 2) // _UNIT


def _texels(texture: Texture, indices: Sequence[Column], address: Addressing) -> Column:
    """Texels by integer coordinates, x first: (lanes, 4), missing components zero."""
    place: list[Column] = [np.zeros(len(indices[0]), np.int64)] * 3
    inside = np.ones(len(indices[0]), bool)
    for axis, index in enumerate(indices):
        extent = texture.data.shape[2 - axis]
        inside &= (index >= 0) & (index < extent)
        place[2 - axis] = _addressed(address, index, extent)
    values = _decoded(texture, texture.data[place[0], place[1], place[2]])
    found: Column = np.zeros((len(values), 4), values.dtype)
    found[:, : values.shape[1]] = values
    if address == "border":
        found[~inside] = 0
    return found


def _addressed(mode: Addressing, index: Column, extent: int) -> Column:
    if mode == "wrap":
        return index % extent
    if mode == "mirror":
        folded = index % (2 * extent)
        return np.minimum(folded, 2 * extent - 1 - folded)
    return np.clip(index, 0, extent - 1)


def _decoded(texture: Texture, values: Column) -> Column:
    if texture.scales:
        return values.astype(np.float32) / np.float32(np.iinfo(values.dtype).max)
    if values.dtype.kind == "f":
        return values.astype(np.float32)
    return values.astype(np.int32 if values.dtype.kind == "i" else np.uint32)


def _bounded(texture: Texture, values: Column) -> Column:
    """The smallest signed integer reads as -1 too; filters see what lies below."""
    return np.maximum(values, np.float32(-1)) if texture.scales else values


def _as_words(values: Column) -> Column:
    return np.ascontiguousarray(values.T).view(np.uint32)
