"""Textures: arrays bound to `.tex` and `.texref` variables. What `tex` reads is in `simt.isa.texels`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from simt.diagnostics import counted
from simt.errors import LaunchError
from simt.isa.texels import LONGEST, Addressing, Sampling
from simt.isa.texture import DIMENSIONS
from simt.ptx.types import TYPES, Type
from simt.records import dataclass

Filter = Literal["point", "linear"]
ReadAs = Literal["element", "float"]

FILTERS = get_args(Filter)
ADDRESSINGS = get_args(Addressing)
READS = get_args(ReadAs)
_ELEMENTS = {
    f"{kind}{size}": TYPES[f"{letter}{8 * size}"]
    for kind, letter, sizes in (("u", "u", (1, 2, 4)), ("i", "s", (1, 2, 4)), ("f", "f", (2, 4)))
    for size in sizes
}
"""By NumPy's names."""


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
    if array.dtype not in [np.dtype(d) for d in _ELEMENTS]:
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
    longest = max(texture.data.shape)
    if longest > LONGEST:
        raise LaunchError(f"a texture has at most {LONGEST} texels along an axis, not {longest}")


class TextureTable:
    """The textures of a launch by the addresses of their variables."""

    def __init__(self, textures: Mapping[str, object], symbols: Mapping[str, int]) -> None:
        self.by_address = {symbols[n]: t for n, t in textures.items() if isinstance(t, Texture)}
        self._names = {address: name for name, address in symbols.items()}

    def unbound(self, address: int) -> str:
        """What is wrong with an address at which there is no texture."""
        name = self._names.get(address)
        if name is None:
            return (
                f"no texture variable of the module is at {address:#x}: for a texture object, pass "
                "Module.symbol of a bound .texref variable, of a linked file if the module has none"
            )
        return f"nothing is bound to texture {name}: use Module.texture({name!r}).bind"


def sampling(texture: Texture, geometry: str, coordinate: Type) -> Sampling:
    """How `tex.geometry` reads a texture at coordinates of a type."""
    dtype = texture.data.dtype
    return Sampling(
        element=_ELEMENTS[dtype.str[1:]],
        channels=texture.data.shape[3],
        axes=DIMENSIONS[geometry],
        integral=not coordinate.is_float,
        linear=texture.filter == "linear",
        address=texture.address,
        normalized=texture.normalized,
        scales=texture.scales,
        bits=_fraction_bits(texture),
    )


def _fraction_bits(texture: Texture) -> int:
    """How much of normalized coordinates is kept, along every axis: more where one of them is long."""
    depth, height, width = texture.data.shape[:3]
    if max(height, width) > 65536:
        return 23
    return 22 if max(height, width) > 8192 or depth > 2300 else 21
