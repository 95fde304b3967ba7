"""Argument values of `simt run`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest

from simt.cli.values import parse_shape, parse_type, parse_value


def value(text: str) -> Any:
    return parse_value(text, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5", 5),
        ("-3", -3),
        ("0x1f", 31),
        ("0b101", 5),
        ("2.5", 2.5),
        ("1e3", 1000.0),
        ("true", 1),
        ("null", 0),
        ("-inf", -math.inf),
        ("hex:00ffA0", b"\x00\xff\xa0"),
    ],
)
def test_scalars(text: str, expected: object) -> None:
    found = value(text)
    assert found == expected
    assert type(found) is type(expected)


def test_generated_arrays() -> None:
    np.testing.assert_array_equal(value("zeros:f32:3"), np.zeros(3, "f4"))
    np.testing.assert_array_equal(value("ones:u8:2x3"), np.ones((2, 3), "u1"))
    np.testing.assert_array_equal(value("range:s64:2,2"), [[0, 1], [2, 3]])
    np.testing.assert_array_equal(value("full:f64:2:2.5"), [2.5, 2.5])
    assert value("zeros:.f16:1").dtype == np.float16
    assert value("zeros:b32:1").dtype == np.uint32


def test_random_arrays_stay_in_range_and_repeat() -> None:
    real, whole = value("rand:f32:1000"), value("rand:s32:1000:-5:5")
    assert real.dtype == np.float32
    assert 0 <= real.min() < real.max() <= 1
    assert set(whole.tolist()) == set(range(-5, 5))
    np.testing.assert_array_equal(real, value("rand:f32:1000"))
    assert set(value("rand:u8:5000").tolist()) == set(range(100))


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    np.save(path, np.arange(3))
    np.testing.assert_array_equal(value(f"@{path}"), [0, 1, 2])
    path.write_text("not an array")
    with pytest.raises(click.UsageError, match=r"x.npy': it is not a NumPy .npy file$"):
        value(f"@{path}")
    with pytest.raises(click.UsageError, match="No such file or directory"):
        value("@missing.npy")
    np.savez(tmp_path / "z.npz", a=np.zeros(1))
    with pytest.raises(click.UsageError, match="expected one array"):
        value(f"@{tmp_path / 'z.npz'}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("five", "bad value 'five': expected a number or an array such as zeros:f32:1024"),
        ("", "bad value '': expected a number or an array such as zeros:f32:1024"),
        (
            "fill:f32:4",
            "bad value 'fill:f32:4': expected one of zeros, ones, full, range, rand, hex before ':'",
        ),
        ("zeros:f32", "bad value 'zeros:f32': expected zeros:f32:1024"),
        ("full:f32:4", "bad value 'full:f32:4': expected full:f32:1024:1.5"),
        ("zeros:f32:4y", "bad shape '4y': expected numbers as in 1048576 or 64x32"),
        ("hex:0", "bad bytes 'hex:0': expected pairs of hexadecimal digits"),
        ("full:s32:4:nan", "bad value 'full:s32:4:nan': cannot convert float NaN to integer"),
        ("rand:s32:4:9:3", "bad value 'rand:s32:4:9:3': low >= high"),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(click.UsageError) as problem:
        value(text)
    assert problem.value.message == message


def test_types_and_shapes() -> None:
    assert parse_shape("64x32,2") == (64, 32, 2)
    with pytest.raises(click.UsageError, match="bad type 'float': expected one of s8, s16"):
        parse_type("float")
    with pytest.raises(click.UsageError, match="bad type 'pred'"):
        parse_type("pred")
