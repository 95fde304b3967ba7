"""Linear filtering: its rules one by one. `tests/hw/test_textures.py` compares it with an H200's."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from simt.engine.numpy_algebra import NumpyAlgebra
from simt.isa import filtering
from simt.isa.column import Column
from simt.isa.filtering import UNIT
from simt.ptx.types import PRED, S32, TYPES

Array = np.ndarray[Any, Any]
FIRST = [UNIT, 0, 0, 0]  # weights where a point is the middle of a texel


def column(values: Array) -> Column[Array]:
    return Column(NumpyAlgebra(), S32, values.astype(np.int32).view(np.uint32))


def weights(upper: list[Array]) -> Array:
    """(corners, points)"""
    return np.stack([w.v for w in filtering.weights([column(part) for part in upper])]).view(np.int32)


def reached(upper: list[Array]) -> Array:
    """(corners, points)"""
    found = filtering.reached([column(part) for part in upper])
    return np.stack([np.broadcast_to(c.v, upper[0].shape) for c in found])


def mean(texels: Array, weight: Array, counts: Array) -> Array:
    """(points, 1) of float32, for texels of one component: (corners, points, 1)."""
    kind, size = texels.dtype.kind, texels.dtype.itemsize
    element = TYPES[f"{ {'u': 'u', 'i': 's', 'f': 'f'}[kind] }{8 * size}"]
    bits = np.ascontiguousarray(texels[..., 0]).view(f"u{size}")
    found = filtering.mean(
        element,
        [Column(NumpyAlgebra(), element if element.is_integer else TYPES[f"u{8 * size}"], b) for b in bits],
        [column(w) for w in weight],
        [Column(NumpyAlgebra(), PRED, c) for c in counts],
    )
    return found.v.view(np.float32)[:, None]


def points(dimensions: int, count: int = 400) -> list[Array]:
    """Weights of the upper texels along each axis, often zero."""
    chance = np.random.default_rng(dimensions)
    shape = (dimensions, count)
    return list(np.where(chance.random(shape) < 0.1, 0, chance.integers(0, UNIT, shape)))


def filtered(texels: Any, weight: Any, counts: Any = None) -> Any:
    """For one point and texels of one component; Python's numbers are float32."""
    array = np.asarray(texels)
    array = array.astype("f4" if array.dtype == "f8" else array.dtype)[:, None, None]
    share = np.array(weight, np.int64)[:, None]
    return mean(array, share, share > 0 if counts is None else np.array(counts)[:, None])[0, 0]


def bits(value: Any) -> str:
    return hex(np.float32(value).view(np.uint32))


@pytest.mark.parametrize("dimensions", [2, 3])
def test_weights_add_up_and_are_nearly_products(dimensions: int) -> None:
    upper = points(dimensions)
    found = weights(upper)
    assert (found.sum(0) == UNIT).all()
    assert found.min() >= 0
    for corner in range(1 << dimensions):
        parts = [w if corner >> axis & 1 else UNIT - w for axis, w in enumerate(upper)]
        exact = np.prod(parts, 0) / UNIT ** (dimensions - 1)
        assert np.abs(found[corner] - exact).max() <= (0.5 if dimensions == 2 else 1)


def test_weights_of_an_image_add_up_along_both_axes() -> None:
    x, y = points(2)
    found = weights([x, y])
    assert (found[1] + found[3] == x).all()
    assert (found[2] + found[3] == y).all()


def test_a_weight_that_is_rounded_to_zero_still_reaches_its_texel() -> None:
    upper = [np.array([1, 0]), np.array([1, 1])]
    assert weights(upper)[3].tolist() == [0, 0]
    assert reached(upper)[3].tolist() == [True, False]


@pytest.mark.parametrize(("dtype", "error"), [("u1", 0.5), ("u2", 0.5), ("i2", 0.5), ("i1", 0.63)])
@pytest.mark.parametrize("dimensions", [2, 3])
def test_integers_have_sixteen_bits(dtype: str, error: float, dimensions: int) -> None:
    """Rounded, but for the last step of signed bytes, whose scale is not quite theirs."""
    weight = weights(points(dimensions))
    limits = np.iinfo(dtype)
    lowest = 0 if dtype[0] == "u" else -limits.max
    texels = np.random.default_rng(3).integers(lowest, limits.max, (*weight.shape, 1), endpoint=True)
    found = mean(texels.astype(dtype), weight, weight > 0)[:, 0].astype(float)
    largest = 65535 if dtype[0] == "u" else 32767
    exact = (texels[..., 0] * weight).sum(0) / UNIT / limits.max
    assert np.abs(found * largest - np.rint(found * largest)).max() < 0.01
    assert np.abs(found - exact).max() * largest <= error + 0.01


@pytest.mark.parametrize(("dtype", "lowest"), [("i1", -128), ("i2", -32768)])
def test_the_smallest_signed_integer_is_less_than_minus_one_until_the_end(dtype: str, lowest: int) -> None:
    assert filtered(np.array([lowest] * 4, dtype), FIRST) == -1
    assert filtered(np.array([lowest, 0, 0, 0], dtype), [128, 128, 0, 0]) < -0.5


@pytest.mark.parametrize(("dtype", "digits"), [("f2", 11), ("f4", 24)])
def test_floats_of_one_size_are_rounded_once_halves_away_from_zero(dtype: str, digits: int) -> None:
    chance = np.random.default_rng(4)
    weight = weights(points(3))
    texels = (chance.uniform(1, 2, (*weight.shape, 1)) * chance.choice([-1, 1], (*weight.shape, 1))).astype(
        dtype
    )
    for found, values, shares in zip(mean(texels, weight, weight > 0)[:, 0], texels[..., 0].T, weight.T):
        exact = sum(Fraction(float(v)) * int(w) / UNIT for v, w in zip(values, shares))
        assert Fraction(float(found)) == rounded(Fraction(exact), digits)


def rounded(exact: Fraction, digits: int) -> Fraction:
    """To so many binary digits, halves away from zero."""
    size, last = abs(exact), Fraction(1)
    while size and size / last < 2 ** (digits - 1):
        last /= 2
    nearest = (size / last + Fraction(1, 2)) // 1 * last
    return nearest if exact > 0 else -nearest


def test_small_floats_lose_what_lies_four_bits_under_the_largest() -> None:
    one, small = np.float32(1), np.float32(2.0**-27)
    assert filtered([one, -one, small, small], [64, 64, 64, 64]) == 2.0**-28
    assert filtered([one, -one, small / 2, small / 2], [64, 64, 64, 64]) == 0
    assert filtered([one, -one, small * 1.5, small * 1.5], [64, 64, 64, 64]) == 2.0**-28
    assert filtered([one, -one, small / 2, small / 2], [0, 0, 128, 128]) == 2.0**-28
    half, little = np.float16(1), np.float16(2.0**-14)
    assert filtered([half, -half, little, little], [64, 64, 64, 64]) == 2.0**-15
    assert filtered([half, -half, little / 2, little / 2], [64, 64, 64, 64]) == 0


def test_slices_are_summed_on_their_own_and_meet_rounded_down() -> None:
    """Where the larger one has an exponent that four divides, one place in 2 ** 4 * 256 is left."""
    two = np.float32(2)  # its biased exponent is 128
    place = 2.0 * 2.0**-23 / 16 / UNIT
    first, second = [two, -two, 0, 0], [np.float32(-place * UNIT / 2), 0, 0, 0]
    assert filtered([*first, *second], [64, 64, 0, 0, 128, 0, 0, 0]) == -place * 64
    assert filtered([*first, -second[0] / 256, 0, 0, 0], [64, 64, 0, 0, 128, 0, 0, 0]) == 0
    assert filtered([*first, second[0] / 256, 0, 0, 0], [64, 64, 0, 0, 128, 0, 0, 0]) == -place


def test_subnormal_floats_are_zeros_and_subnormal_halves_are_not() -> None:
    tiny = np.float32(1.5 * 2.0**-126)
    assert filtered([tiny] * 4, FIRST) == tiny
    assert bits(filtered([-tiny, 0, 0, 0], [128, 128, 0, 0])) == "0x80000000"
    assert bits(filtered([tiny / 2] * 4, FIRST)) == "0x0"
    assert filtered([np.float16(3 * 2.0**-24), np.float16(0)] * 2, [128, 128, 0, 0]) == 2.0**-23


def test_zeros() -> None:
    zero, lost = np.float32(0), np.float32(-1)
    assert bits(filtered([-zero] * 4, [64] * 4)) == "0x80000000"
    assert bits(filtered([-zero, zero] * 2, [64] * 4)) == "0x0"
    assert bits(filtered([-zero, zero] * 2, [128, 0, 128, 0])) == "0x80000000"
    assert bits(filtered([-zero, -zero, -zero, lost], [128, 64, 64, 0], [True] * 4)) == "0x0"
    assert bits(filtered([lost, -lost] * 2, [64] * 4)) == "0x0"


@pytest.mark.parametrize(("dtype", "pattern"), [("f2", "0x7fffe000"), ("f4", "0x7fffffff")])
def test_infinities_and_nans(dtype: str, pattern: str) -> None:
    infinity = np.array(np.inf, dtype)
    one = np.array(1, dtype)
    assert filtered([infinity, one, one, one], [1, 85, 85, 85]) == np.inf
    assert filtered([one, one, one, -infinity], [100, 100, 56, 0], [True] * 4) == -np.inf
    assert filtered([one, one, one, -infinity], [100, 100, 56, 0]) == 1
    assert bits(filtered([infinity, -infinity, one, one], [1, 1, 127, 127])) == pattern
    assert bits(filtered(np.array([-np.nan, 1, 1, 1], dtype), [1, 85, 85, 85])) == pattern
