"""Texture fetches: the rules one by one, and what an H200 returned (`tests/hw/record_textures.py`)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simt.errors import LaunchError
from simt.machine.textures import TextureTable, fetch, make_texture
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
    assert read(np.array([0, 255], "u1"), [0.5, 1.5], read_as="float")[0].tolist() == [0.0, 1.0]
    assert read(np.array([-128, -127, 127], "i1"), [0.5, 1.5, 2.5], read_as="float")[0].tolist() == [
        -1,
        -1,
        1,
    ]
    assert read(np.array([65535], "u2"), [0.5], read_as="float")[0].tolist() == [1.0]


VECTORS = np.load(Path(__file__).parents[2] / "hw" / "vectors" / "textures.npz")
CASES = sorted({name.split("/")[0] for name in VECTORS.files})


def opcode(case: str) -> str:
    """The instruction that a recorded case executed."""
    geometry, dtype, _, _, _, _, read_as, coordinate = case.split("-")
    result = "f32" if dtype[0] == "f" or read_as == "normalized" else "s32" if dtype[0] == "i" else "u32"
    return f"tex.{geometry}.v4.{result}.{coordinate}"


def recorded(case: str) -> tuple[Any, Any, Any]:
    """What we return and what the H200 did, as numbers, and the largest magnitude of the texels."""
    geometry, _, channels, filter_, address, normalized, read_as, _ = case.split("-")
    data, places, words = (VECTORS[f"{case}/{part}"] for part in ("data", "coordinates", "words"))
    array = data if channels != "1" else data[..., 0]
    read_as = {"normalized": "float"}.get(read_as, read_as)  # the file's word is CUDA's
    bound = make_texture(array, filter_, address, normalized == "True", read_as, int(channels))  # type: ignore[arg-type]
    ours = fetch(bound, list(places.T[: int(geometry[0])])).T
    kind = "f4" if bound.reads_floats else "i4"
    scale = 1 if read_as == "float" else np.abs(data.astype(float)).max()
    return np.ascontiguousarray(ours).view(kind), words.view(kind), scale


@pytest.mark.parametrize("case", [c for c in CASES if "-point-" in c or re.match("[12]d-f4", c)])
def test_exactly_as_the_h200(case: str) -> None:
    """Every way to read one texel, and linear filtering of float32 in one and two dimensions."""
    ours, theirs, _ = recorded(case)
    np.testing.assert_array_equal(ours.view("u4"), theirs.view("u4"))


@pytest.mark.parametrize("case", [c for c in CASES if "-linear-" in c and not re.match("[12]d-f4", c)])
def test_nearly_as_the_h200(case: str) -> None:
    """In three dimensions some weights differ by 1/256 between two texels; integers and halves are
    filtered with 16 and 11 bits there."""
    ours, theirs, scale = recorded(case)
    bound = 2 / 256 if case.startswith("3d") else 2.0**-11 if "-f2-" in case else 2.0**-15
    assert np.abs(ours - theirs).max() <= bound * scale
    assert np.mean(np.abs(ours - theirs) <= 2.0**-11 * scale) > 0.9


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
        (np.zeros(4, "u4"), {"read_as": "float"}, "read_as 'float' needs 8 or 16-bit integers or floats"),
        (np.zeros(4, "u1"), {"read_as": "normalized"}, "read_as: expected one of element, float"),
        (np.zeros((4, 3), "f4"), {"channels": 4}, r"a texture of 4 channels cannot have the shape \(4, 3\)"),
        (np.zeros((1, 1, 1, 1), "f4"), {}, "a texture of 1 channels cannot have the shape"),
        (np.zeros((0,), "f4"), {}, "a texture cannot be empty"),
    ],
)
def test_refused(array: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(LaunchError, match=message):
        table(array, **options)
