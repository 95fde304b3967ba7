"""Texture fetches against a scalar model of the filtering and addressing rules."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from simt.errors import LaunchError
from simt.machine.textures import TextureTable, make_texture
from simt.ptx.types import F32, S32, U32

ADDRESS = 0x1000
DEFAULTS: dict[str, Any] = {
    "filter": "point",
    "address": "clamp",
    "normalized": False,
    "read_as": "element",
    "channels": 1,
}


def table(array: Any, **options: Any) -> TextureTable:
    bound = make_texture(np.asarray(array), **{**DEFAULTS, **options})
    return TextureTable({"t": bound}, {"t": ADDRESS, "u": ADDRESS + 256})


def read(array: Any, *coordinates: Any, result: Any = F32, coordinate: Any = F32, **options: Any) -> Any:
    lanes = [np.asarray(c, np.float32 if coordinate is F32 else np.int32) for c in coordinates]
    where = np.full(lanes[0].shape, ADDRESS, np.uint32)
    geometry = f"{len(coordinates)}d"
    return table(array, **options).fetch(geometry, result, coordinate, where, lanes)


def test_integer_coordinates_name_texels() -> None:
    image = np.arange(12, dtype="f4").reshape(3, 4)
    x, y, z, w = read(image, [0, 3, 2], [0, 2, 1], coordinate=S32)
    np.testing.assert_array_equal(x, [0, 11, 6])
    assert not y.any()
    assert not z.any()
    assert not w.any()


def test_integer_elements_keep_their_bits() -> None:
    values = np.array([-1, 2**31 - 1, -(2**31)], "i4")
    assert read(values, [0, 1, 2], result=S32, coordinate=S32)[0].tolist() == [2**32 - 1, 2**31 - 1, 2**31]
    assert read(np.array([-2], "i1"), [0], result=S32, coordinate=S32)[0].tolist() == [2**32 - 2]
    assert read(np.array([254], "u1"), [0], result=U32, coordinate=S32)[0].tolist() == [254]


def test_channels() -> None:
    pixels = np.arange(8, dtype="u1").reshape(2, 4)
    found = read(pixels, [1], result=U32, coordinate=S32, channels=4)
    assert [c.tolist() for c in found] == [[4], [5], [6], [7]]


def test_point_sampling_takes_the_texel_that_covers_the_point() -> None:
    values = np.array([10, 20, 30], "f4")
    assert read(values, [0.0, 0.999, 1.0, 2.5, 3.0, -0.5, 1e30])[0].tolist() == [10, 10, 20, 30, 30, 10, 30]


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("clamp", [10, 10, 30, 30]),
        ("border", [0, 0, 0, 0]),
        ("wrap", [30, 20, 10, 20]),
        ("mirror", [10, 20, 30, 20]),
    ],
)
def test_addressing(address: str, expected: list[float]) -> None:
    values = np.array([10, 20, 30], "f4")
    outside = np.array([-0.5, -1.5, 3.5, 4.5]) / 3
    assert read(values, outside, address=address, normalized=True)[0].tolist() == expected


def test_normalized_reads() -> None:
    assert read(np.array([0, 255], "u1"), [0.5, 1.5], read_as="normalized")[0].tolist() == [0.0, 1.0]
    assert read(np.array([-128, -127, 127], "i1"), [0.5, 1.5, 2.5], read_as="normalized")[0].tolist() == [
        -1,
        -1,
        1,
    ]
    assert read(np.array([65535], "u2"), [0.5], read_as="normalized")[0].tolist() == [1.0]


def model(image: np.ndarray[Any, Any], point: tuple[float, ...], address: str) -> float:
    """Linear filtering of one point, x first, in scalar Python."""
    total = 0.0
    for corner in itertools.product((0, 1), repeat=len(point)):
        weight, index = 1.0, []
        for x, upper, extent in zip(point, corner, image.shape[::-1]):
            i = math.floor(x - 0.5)
            fraction = round((x - 0.5 - i) * 256) / 256
            weight *= fraction if upper else 1 - fraction
            index.append(resolve(i + upper, extent, address))
        total += 0 if None in index else weight * float(image[tuple(index[::-1])])
    return total


def resolve(i: int, extent: int, address: str) -> int | None:
    if address == "wrap":
        return i % extent
    if address == "mirror":
        return i % extent if (i // extent) % 2 == 0 else extent - 1 - i % extent
    if address == "border":
        return i if 0 <= i < extent else None
    return min(max(i, 0), extent - 1)


@pytest.mark.parametrize("address", ["clamp", "border", "wrap", "mirror"])
@pytest.mark.parametrize("shape", [(7,), (3, 5), (2, 3, 4)])
def test_linear_filtering(shape: tuple[int, ...], address: str) -> None:
    chance = np.random.default_rng(1)
    image = chance.integers(-50, 50, shape).astype("f4")
    normalized = address in ("wrap", "mirror")
    extents = shape[::-1]
    # Multiples of 1/512 within the texel grid: no rounding outside the filter's own.
    texels = [chance.integers(-2048, 4096, 200) / 512 for _ in extents]
    given = [t / n if normalized else t for t, n in zip(texels, extents)]
    options = {"filter": "linear", "address": address, "normalized": normalized}
    found = read(image, *given, **options)[0]
    seen = [np.asarray(g, "f4").astype(float) * (n if normalized else 1) for g, n in zip(given, extents)]
    expected = [model(image, point, address) for point in zip(*seen)]
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-4)


def test_lanes_may_use_several_textures_and_any_shape() -> None:
    bound = {n: make_texture(np.full(4, v, "f4"), **DEFAULTS) for n, v in (("t", 1.0), ("u", 2.0))}
    both = TextureTable(bound, {"t": ADDRESS, "u": ADDRESS + 256})
    where = np.array([[ADDRESS, ADDRESS + 256]] * 3, np.uint64)
    found = both.fetch("1d", F32, S32, where, [np.zeros((3, 2), np.int32)])[0]
    np.testing.assert_array_equal(found, [[1, 2]] * 3)


def test_unbound() -> None:
    with pytest.raises(LaunchError, match=r"^nothing is bound to texture u: use Module.texture\('u'\).bind$"):
        table(np.ones(1, "f4")).fetch("1d", F32, S32, np.array([ADDRESS + 256]), [np.array([0])])


@pytest.mark.parametrize(
    ("array", "options", "message"),
    [
        (np.zeros(4, "f8"), {}, "a texture cannot hold float64"),
        (
            np.zeros(4, "f4"),
            {"filter": "cubic"},
            "texture filter: expected one of point, linear, 'cubic'",
        ),
        (np.zeros(4, "f4"), {"address": "wrap"}, "texture address 'wrap' needs normalized coordinates"),
        (np.zeros(4, "u1"), {"filter": "linear"}, "linear filtering needs floats"),
        (np.zeros(4, "f4"), {"read_as": "normalized"}, "read_as 'normalized' needs 8 or 16-bit integers"),
        (np.zeros((4, 3), "f4"), {"channels": 4}, r"a texture of 4 channels cannot have the shape \(4, 3\)"),
        (np.zeros((1, 1, 1, 1), "f4"), {}, "a texture of 1 channels cannot have the shape"),
        (np.zeros((0,), "f4"), {}, "a texture cannot be empty"),
    ],
)
def test_refused(array: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(LaunchError, match=message):
        table(array, **options)
