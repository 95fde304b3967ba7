"""Textures: arrays bound to `.tex` variables, and what `tex` (PTX 1.4 table 71) reads from them.

This is reference code over NumPy columns. Engines give it coordinates lane by lane and get four
components a lane. Texel i covers [i, i + 1). What the documents leave open follows an H200, to the last bit
(decision 20, `tests/hw/test_textures.py`): components that the array lacks are zero, and so are texels
outside it that integer coordinates name; of normalized coordinates 21 bits of fraction are kept, in large
arrays up to 23; linear filtering weighs the texels around x - 0.5 (`filtering.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from simt.diagnostics import counted
from simt.errors import LaunchError
from simt.machine import filtering
from simt.ptx.types import Type
from simt.records import dataclass

Column: TypeAlias = "NDArray[Any]"
Filter = Literal["point", "linear"]
Addressing = Literal["clamp", "border", "wrap", "mirror"]
ReadAs = Literal["element", "float"]

GEOMETRIES = {"1d": 1, "2d": 2, "3d": 3}
FILTERS = ("point", "linear")
ADDRESSINGS = ("clamp", "border", "wrap", "mirror")
READS = ("element", "float")
_DTYPES = ("u1", "i1", "u2", "i2", "u4", "i4", "f2", "f4")
_PERIODS = {"wrap": 1, "mirror": 2}  # of normalized coordinates
_SMALLEST_NORMAL = np.finfo(np.float32).smallest_normal


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
    if normalized not in (False, True):  # "no" would be true
        raise LaunchError(f"texture normalized: expected True or False, {normalized!r} given")
    if array.dtype not in [np.dtype(d) for d in _DTYPES]:
        raise LaunchError(
            f"a texture cannot hold {array.dtype}: expected 8 to 32-bit integers, float16 or float32"
        )
    if channels not in (1, 2, 3, 4):
        raise LaunchError(f"texture channels: expected one of 1, 2, 3, 4, {channels!r} given")
    dimensions = array.ndim - (channels > 1)
    if not 1 <= dimensions <= 3 or (channels > 1 and array.shape[-1] != channels):
        raise LaunchError(f"a texture of {counted(channels, 'channel')} cannot have the shape {array.shape}")
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
        places = [c.astype(np.int64) for c in coordinates]
        return _as_words(_decoded(texture, _texels(texture, places, "border")))
    extents = texture.data.shape[2::-1]
    bits = _fraction_bits(texture)
    scaled = [_scaled(texture, c, n, bits) for c, n in zip(coordinates, extents)]
    if texture.filter == "point":
        texels = _texels(texture, [_whole(np.floor(c)) for c in scaled], texture.address)
        return _as_words(_decoded(texture, texels))
    return _as_words(_interpolated(texture, scaled))


def _fraction_bits(texture: Texture) -> int:
    """How much of normalized coordinates is kept, along every axis: more where one of them is long."""
    depth, height, width = texture.data.shape[:3]
    if max(height, width) > 65536:
        return 23
    return 22 if max(height, width) > 8192 or depth > 2300 else 21


def _scaled(texture: Texture, coordinate: Column, extent: int, bits: int) -> Column:
    """In texels. Subnormals and NaNs read as zeros, and so do infinities where coordinates repeat."""
    read = np.where(np.abs(coordinate) >= _SMALLEST_NORMAL, coordinate, 0).astype(np.float64)
    if not texture.normalized:
        return read
    steps = np.floor(np.ldexp(read, bits))
    if texture.address in _PERIODS:
        steps = np.mod(np.where(np.isinf(steps), 0, steps), _PERIODS[texture.address] << bits)
    return np.ldexp(steps, -bits) * extent


def _whole(values: Column) -> Column:
    """As integers, far ones kept within the range that indices are computed in."""
    return np.clip(values, -(2.0**40), 2.0**40).astype(np.int64)


def _interpolated(texture: Texture, coordinates: Sequence[Column]) -> Column:
    """The weighted mean of the texels around each point."""
    if len(coordinates) == 1:  # filtered as an image of one row, along its edge
        coordinates = [coordinates[0], np.zeros_like(coordinates[0])]
    extents = texture.data.shape[2::-1]
    places = [_place(c, n, texture.address) for c, n in zip(coordinates, extents)]
    lower = [p // filtering.UNIT for p in places]
    upper = [p % filtering.UNIT for p in places]
    corners = [
        _texels(texture, [i + (corner >> axis & 1) for axis, i in enumerate(lower)], texture.address)
        for corner in range(1 << len(places))
    ]
    return filtering.mean(np.stack(corners), filtering.weights(upper), filtering.reached(upper))


def _place(coordinate: Column, extent: int, address: Addressing) -> Column:
    """In 1/256 texels from the middle of the first one."""
    place = _whole(np.floor((coordinate - 0.5) * filtering.UNIT + 0.5))
    return np.clip(place, 0, (extent - 1) * filtering.UNIT) if address == "clamp" else place


def _texels(texture: Texture, indices: Sequence[Column], address: Addressing) -> Column:
    """Texels as they are stored by integer coordinates, x first: (lanes, channels)."""
    place: list[Column] = [np.zeros(len(indices[0]), np.int64)] * 3
    inside = np.ones(len(indices[0]), bool)
    for axis, index in enumerate(indices):
        extent = texture.data.shape[2 - axis]
        inside &= (index >= 0) & (index < extent)
        place[2 - axis] = _addressed(address, index, extent)
    found = texture.data[place[0], place[1], place[2]]
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


def _decoded(texture: Texture, texels: Column) -> Column:
    """What `tex` returns for texels that no filter changes. The smallest signed integer is -1 too."""
    if texture.scales:
        largest = np.float32(np.iinfo(texels.dtype).max)
        return np.maximum(texels.astype(np.float32) / largest, np.float32(-1))
    if texels.dtype.kind == "f":
        return texels.astype(np.float32)
    return texels.astype(np.int32 if texels.dtype.kind == "i" else np.uint32)


def _as_words(values: Column) -> Column:
    """By component; those that the array lacks are zeros."""
    found = np.zeros((4, len(values)), np.uint32)
    found[: values.shape[1]] = values.view(np.uint32).T
    return found
