"""Texture fetches of the interpreter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simt.engine.numpy_algebra import NumpyAlgebra
from simt.isa import texels
from simt.machine.textures import Texture, sampling
from simt.ptx.types import U32, Type

Array = NDArray[Any]


class NumpyTexels(NumpyAlgebra):
    """Columns of lanes of any number that read one texture."""

    def __init__(self, texture: Texture) -> None:
        self.extents = texture.data.shape[2::-1]
        channels = texture.data.shape[3]
        width = f"u{texture.data.dtype.itemsize}"
        self.data = np.ascontiguousarray(texture.data).reshape(-1, channels).view(width)

    def extent(self, axis: int) -> Array:
        return self.const(U32, self.extents[axis])

    def texels(self, place: Array) -> tuple[Array, ...]:
        return tuple(self.data[place].T)


def fetch(texture: Texture, geometry: str, coordinate: Type, coordinates: Sequence[Array]) -> Array:
    """The words of the four components, for columns of coordinates of a type, x first."""
    words = texels.fetch(NumpyTexels(texture), sampling(texture, geometry, coordinate), coordinates)
    return np.stack([np.broadcast_to(w, coordinates[0].shape) for w in words])
