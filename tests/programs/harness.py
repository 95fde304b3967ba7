"""What the program tests share: loading a committed PTX file, covering a shape, comparing floats."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

import simt

HERE = Path(__file__).parent


def load(device: simt.Device, name: str) -> simt.Module:
    """The module of `NAME.ptx` beside this file, loaded afresh: its variables have their initial values."""
    return device.load(HERE / f"{name}.ptx")


def cover(count: int, size: int) -> int:
    """The number of CTAs of `size` threads that cover `count` elements."""
    return -(-count // size)


def rng(seed: int = 7) -> np.random.Generator:
    return np.random.default_rng(seed)


def eighths(count: int, seed: int = 7) -> NDArray[np.float64]:
    """Random multiples of 1/8 in [-64, 64): sums and products of two are exact in every float format."""
    return rng(seed).integers(-512, 512, count) / 8


def assert_within(actual: NDArray[np.floating], expected: ArrayLike, bound: ArrayLike) -> None:
    """Every element of `actual` lies within an absolute error `bound` of a more precise `expected`."""
    error = np.abs(actual.astype(np.float64) - expected)
    worst = np.unravel_index(np.argmax(error - bound), error.shape)
    limit = np.broadcast_to(bound, error.shape)
    assert np.all(error <= limit), (
        f"element {worst}: {actual[worst]!r}, expected {np.asarray(expected)[worst]!r}, "
        f"error {error[worst]:.3g} above {limit[worst]:.3g}"
    )
