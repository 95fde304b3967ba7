"""Texture fetches: the rules one by one, and compiled code against the interpreter's.
`tests/hw/test_textures.py` compares both with an H200's."""

from __future__ import annotations

import ctypes
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from simt.analysis.shape import WARP
from simt.engine.abi import TextureSlot, slot_count
from simt.engine.compiler import Compiler
from simt.engine.host import HOST, find_cpu, named_cpus
from simt.engine.numpy_texels import fetch
from simt.errors import LaunchError, SimtError
from simt.isa.texture import COMPONENTS
from simt.machine.textures import Texture, make_texture, sampling
from simt.ptx.types import F32, S32, Type

DEFAULTS: dict[str, Any] = {
    "filter": "point",
    "address": "clamp",
    "normalized": False,
    "read_as": "element",
    "channels": 1,
}


def texture(array: Any, **options: Any) -> Texture:
    return make_texture(np.asarray(array), **{**DEFAULTS, **options})


@cache
def compiler(cpu: str) -> Compiler:
    return Compiler(cpu=find_cpu(cpu))


def compiled(bound: Texture, coordinate: Type, lanes: list[Any], cpu: str = HOST) -> Any:
    """What compiled code fetches: the words of four components."""
    kind = sampling(bound, f"{len(lanes)}d", coordinate)
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3, ctypes.c_uint32)(compiler(cpu).fetcher(kind))
    slots = np.zeros(slot_count(TextureSlot), np.int64)
    slots[TextureSlot.DATA] = bound.data.ctypes.data
    slots[TextureSlot.WIDTH : TextureSlot.DEPTH + 1] = bound.data.shape[2::-1]
    count = len(lanes[0])
    found = np.full((COMPONENTS, count), 0xDEAD, np.uint32)
    for start in range(0, count, WARP):
        few = min(WARP, count - start)
        given = np.full((3, WARP), 0x7FC12345, np.uint32)
        words = np.full((COMPONENTS, WARP), 0xDEAD, np.uint32)
        for axis, column in enumerate(lanes):
            given[axis, :few] = column[start : start + few].view(np.uint32)
        function(slots.ctypes.data, given.ctypes.data, words.ctypes.data, (1 << few) - 1)
        assert (words[:, few:] == 0xDEAD).all()  # lanes that do not fetch
        found[:, start : start + few] = words[:, :few]
    return found


def interpreted(bound: Texture, coordinate: Type, lanes: list[Any]) -> Any:
    columns = [c if coordinate is F32 else c.view(np.uint32) for c in lanes]
    with np.errstate(all="ignore"):
        return fetch(bound, f"{len(lanes)}d", coordinate, columns)


def read(array: Any, *coordinates: Any, coordinate: Any = F32, **options: Any) -> Any:
    """By the interpreter and by compiled code; as floats if texels are read as such."""
    lanes = [np.asarray(c, np.float32 if coordinate is F32 else np.int32) for c in coordinates]
    bound = texture(array, **options)
    words = interpreted(bound, coordinate, lanes)
    np.testing.assert_array_equal(words, compiled(bound, coordinate, lanes))
    return words.view(np.float32) if bound.reads_floats else words


def test_integer_coordinates_name_texels() -> None:
    image = np.arange(12, dtype="f4").reshape(3, 4)
    x, y, z, w = read(image, [0, 3, 2], [0, 2, 1], coordinate=S32)
    np.testing.assert_array_equal(x, [0, 11, 6])
    assert not y.any()
    assert not z.any()
    assert not w.any()


def test_integer_elements_keep_their_bits() -> None:
    values = np.array([-1, 2**31 - 1, -(2**31)], "i4")
    assert read(values, [0, 1, 2], coordinate=S32)[0].tolist() == [2**32 - 1, 2**31 - 1, 2**31]
    assert read(np.array([-2], "i1"), [0], coordinate=S32)[0].tolist() == [2**32 - 2]
    assert read(np.array([254], "u1"), [0], coordinate=S32)[0].tolist() == [254]


def test_channels() -> None:
    pixels = np.arange(8, dtype="u1").reshape(2, 4)
    found = read(pixels, [1], coordinate=S32, channels=4)
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


RAMP = np.arange(1, 1001, dtype="f4")


@pytest.mark.parametrize(("address", "ends"), [("clamp", (1000, 1, 1)), ("border", (0, 0, 1))])
@pytest.mark.parametrize("normalized", [False, True])
def test_coordinates_that_are_not_finite(address: str, ends: tuple[int, ...], normalized: bool) -> None:
    """Infinities lie outside; NaNs read as zero."""
    found = read(RAMP, [np.inf, -np.inf, np.nan], address=address, normalized=normalized)[0]
    np.testing.assert_array_equal(found, ends)


@pytest.mark.parametrize("address", ["wrap", "mirror"])
def test_of_far_coordinates_the_fraction_counts(address: str) -> None:
    """Large floats are even numbers."""
    found = read(
        RAMP, [2.0**30, -(2.0**30), 3e38, np.inf, -np.inf, np.nan], address=address, normalized=True
    )[0]
    np.testing.assert_array_equal(found, 1)


def test_subnormal_coordinates_are_zeros() -> None:
    found = read(RAMP, [-1e-40, -(2.0**-126)], address="border")[0]
    np.testing.assert_array_equal(found, [1, 0])


def test_halfway_between_two_weights_the_upper_one_is_taken() -> None:
    """Between texels 0 and 256 the result is the weight."""
    halfway = 0.5 + (np.array([0, 1, 2, 3]) + 0.5) / 256
    found = read(np.array([0, 256], "f4"), halfway, filter="linear")[0]
    np.testing.assert_array_equal(found, [1, 2, 3, 4])


def test_beyond_the_last_texel_a_clamped_point_lies_on_it() -> None:
    """Not between it and itself, which in three dimensions is not the same."""
    image = np.random.default_rng(1).uniform(1, 2, (4, 4, 4)).astype("f4")
    beyond, last = np.full(64, 9.25), np.full(64, 3.5)
    y, z = np.linspace(0.5, 3.5, 64), np.linspace(3.4, 0.6, 64)
    found = [read(image, x, y, z, filter="linear")[0] for x in (beyond, last)]
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize(
    ("shape", "bits"),
    [
        ((8192,), 21), ((8193,), 22), ((65536,), 22), ((65537,), 23), ((8193, 1), 22), ((2300, 1, 1), 21),
        ((2301, 1, 1), 22),
    ],
)  # fmt: skip
def test_normalized_coordinates_keep_more_bits_in_larger_arrays(shape: tuple[int, ...], bits: int) -> None:
    """A ramp along the first axis, filtered, tells to 1/256 texels where it was read."""
    extent = shape[0]
    places = np.random.default_rng(extent).uniform(0.1, 0.4, 500).astype("f4")
    others = [np.full_like(places, 0.5)] * (len(shape) - 1)
    ramp = np.arange(extent, dtype="f4").reshape(shape)
    found = read(ramp, *others, places, normalized=True, filter="linear")[0]
    exact = [Fraction(float(p)) for p in places]
    np.testing.assert_array_equal(found, [on_ramp(p, extent, bits) for p in exact])
    for other in (bits - 1, bits + 1):
        assert (found != [on_ramp(p, extent, other) for p in exact]).any()


def on_ramp(place: Fraction, extent: int, bits: int) -> float:
    """Where a normalized coordinate lies behind the middle of the first texel."""
    kept = place * 2**bits // 1 * extent / Fraction(2) ** bits
    return float(((kept - Fraction(1, 2)) * 256 + Fraction(1, 2)) // 1) / 256


FLOATS = (0, -0.0, 1, -1, 1.5, 65504, 2.0**-24, -(2.0**-14), 3e38, 2.0**-126, 1e-40, np.inf, -np.inf, np.nan)
"""Some of which every array of floats has."""


def texels(random: Any, dtype: str, shape: tuple[int, ...]) -> Any:
    """Any numbers, floats of all sizes."""
    if dtype[0] != "f":
        limits = np.iinfo(dtype)
        return random.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    with np.errstate(over="ignore"):
        values = (random.standard_normal(shape) * 2.0 ** random.integers(-20, 20, shape)).astype(dtype)
        special = np.array(FLOATS).astype(dtype)
    chosen = random.random(shape) < 0.2
    values[chosen] = random.choice(special, int(chosen.sum()))
    return values


@pytest.mark.parametrize("cpu", [HOST, *named_cpus()])
@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("filtering", ["point", "linear"])
def test_compiled_code_is_the_interpreter(cpu: str, axes: int, filtering: str) -> None:
    try:
        find_cpu(cpu)
    except SimtError as reason:
        pytest.skip(str(reason))
    random = np.random.default_rng(axes)
    kinds = [("f4", "element"), ("f2", "element"), ("u1", "float"), ("i1", "float"), ("i2", "float")]
    for n, (dtype, read_as) in enumerate(kinds if filtering == "linear" else [*kinds, ("u4", "element")]):
        address, normalized = (("clamp", False), ("border", True), ("wrap", True), ("mirror", True))[n % 4]
        channels, shape = n % 4 + 1, tuple(random.integers(1, 9, axes))
        data = texels(random, dtype, (*shape, channels) if channels > 1 else shape)
        bound = texture(
            data, filter=filtering, address=address, normalized=normalized, read_as=read_as, channels=channels
        )
        scale = np.array(shape[::-1]) if not normalized else np.ones(axes)
        lanes = [(random.uniform(-2, 3, 200) * s).astype("f4") for s in scale]
        for column in lanes:
            column[random.random(200) < 0.2] = random.choice(np.array(FLOATS, "f8").astype("f4"))
        np.testing.assert_array_equal(compiled(bound, F32, lanes, cpu), interpreted(bound, F32, lanes))


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
        (np.zeros(4, "f4"), {"normalized": "no"}, "texture normalized: expected True or False, 'no' given"),
        (np.zeros(4, "f4"), {"channels": "2"}, "texture channels: expected one of 1, 2, 3, 4, '2' given"),
        (np.zeros((4, 3), "f4"), {"channels": 4}, r"a texture of 4 channels cannot have the shape \(4, 3\)"),
        (np.zeros((1, 1, 1, 1), "f4"), {}, "a texture of 1 channel cannot have the shape"),
        (np.zeros((0,), "f4"), {}, "a texture cannot be empty"),
        (np.broadcast_to(np.uint8(0), (2**28 + 1,)), {}, "a texture has at most 268435456 texels"),
    ],
)
def test_refused(array: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(LaunchError, match=message):
        texture(array, **options)
