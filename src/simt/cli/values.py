"""Argument values on the command line: `n=5`, `x=rand:f32:1024`, `y=@y.npy`, `s=hex:0011`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias, cast

import click
import numpy as np
from numpy.typing import NDArray

from simt.driver.module import symbol_dtype
from simt.ptx.types import TYPES

HostValue: TypeAlias = "int | float | bytes | NDArray[Any]"

_WORDS = {"true": 1, "false": 0, "null": 0, "nan": math.nan, "inf": math.inf, "-inf": -math.inf}

SYNTAX = """\b
Values:
  5  -3  0x1f  2.5  true  null   a number
  zeros:TYPE:SHAPE               a device array of zeros (also ones:)
  range:TYPE:SHAPE               0, 1, 2, ...
  rand:TYPE:SHAPE[:LOW:HIGH]     random numbers, from [0, 1), integers from 0 to 99
  full:TYPE:SHAPE:NUMBER         the same number everywhere
  @FILE.npy                      a device array with the contents of a NumPy file
  hex:00FF10                     the bytes of a parameter, such as a structure
TYPE is a PTX type as f32 or u8, SHAPE is as 1048576 or 64x32.
"""


def parse_value(text: str, random: np.random.Generator) -> HostValue:
    """What a value's text stands for; arrays on the host. Raises `click.UsageError`."""
    if text.startswith("@"):
        return _load(text[1:])
    word, colon, rest = text.partition(":")
    if word == "hex" and colon:
        return _hex(rest)
    if colon:
        return _generate(text, word, rest.split(":"), random)
    return parse_number(text)


def parse_number(text: str) -> int | float:
    """An integer in any of Python's bases, a float, or a word such as `true`."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for convert in (_integer, float):
        try:
            return convert(text)
        except ValueError:
            continue
    raise click.UsageError(f"bad value {text!r}: expected a number or an array such as zeros:f32:1024")


def _integer(text: str) -> int:
    return int(text, 0)


def parse_shape(text: str) -> tuple[int, ...]:
    """`64`, `64x32` or `64,32`. Raises `click.UsageError`."""
    parts = text.replace(",", "x").split("x")
    if not all(p.isdecimal() for p in parts):
        raise click.UsageError(f"bad shape {text!r}: expected numbers as in 1048576 or 64x32")
    return tuple(int(p) for p in parts)


def _hex(digits: str) -> bytes:
    try:
        return bytes.fromhex(digits)
    except ValueError:
        raise click.UsageError(f"bad bytes 'hex:{digits}': expected pairs of hexadecimal digits") from None


def _load(path: str) -> NDArray[Any]:
    try:
        found: object = np.load(Path(path), allow_pickle=False)
    except (OSError, ValueError, EOFError) as problem:
        reason = getattr(problem, "strerror", None) or "it is not a NumPy .npy file"
        raise click.UsageError(f"cannot load {path!r}: {reason}") from None
    if not isinstance(found, np.ndarray):
        raise click.UsageError(f"cannot load {path!r}: expected one array (.npy), not an archive")
    return cast("NDArray[Any]", found)


# ------------------------------------------------------------------ generated arrays

_Generator: TypeAlias = Callable[
    [tuple[int, ...], "np.dtype[Any]", Sequence[float], np.random.Generator], NDArray[Any]
]


def _zeros(shape: tuple[int, ...], dtype: np.dtype[Any], *_: Any) -> NDArray[Any]:
    return np.zeros(shape, dtype)


def _ones(shape: tuple[int, ...], dtype: np.dtype[Any], *_: Any) -> NDArray[Any]:
    return np.ones(shape, dtype)


def _full(shape: tuple[int, ...], dtype: np.dtype[Any], numbers: Sequence[float], *_: Any) -> NDArray[Any]:
    return np.full(shape, np.array(numbers[0], dtype))


def _range(shape: tuple[int, ...], dtype: np.dtype[Any], *_: Any) -> NDArray[Any]:
    return np.arange(math.prod(shape)).astype(dtype).reshape(shape)


def _rand(
    shape: tuple[int, ...], dtype: np.dtype[Any], numbers: Sequence[float], random: np.random.Generator
) -> NDArray[Any]:
    real = dtype.kind == "f"
    low, high = numbers or ((0, 1) if real else (0, 100))
    drawn = random.uniform(low, high, shape) if real else random.integers(int(low), int(high), shape)
    return drawn.astype(dtype)


_GENERATORS: dict[str, tuple[_Generator, tuple[int, ...]]] = {
    "zeros": (_zeros, (0,)),
    "ones": (_ones, (0,)),
    "full": (_full, (1,)),
    "range": (_range, (0,)),
    "rand": (_rand, (0, 2)),
}
"""By name: the function, and how many numbers may follow the shape."""


def _generate(text: str, word: str, parts: list[str], random: np.random.Generator) -> NDArray[Any]:
    if word not in _GENERATORS:
        raise click.UsageError(
            f"bad value {text!r}: expected one of {', '.join(_GENERATORS)}, hex before ':'"
        )
    generator, counts = _GENERATORS[word]
    if len(parts) - 2 not in counts:
        example = {"full": "full:f32:1024:1.5", "rand": "rand:f32:1024 or rand:s32:1024:-5:5"}
        raise click.UsageError(f"bad value {text!r}: expected {example.get(word, word + ':f32:1024')}")
    shape, numbers = parse_shape(parts[1]), [parse_number(p) for p in parts[2:]]
    try:
        return generator(shape, parse_type(parts[0]), numbers, random)
    except (ValueError, OverflowError, MemoryError) as problem:
        raise click.UsageError(f"bad value {text!r}: {problem}") from None


def parse_type(text: str) -> np.dtype[Any]:
    """The NumPy type of a PTX type's name. Raises `click.UsageError`."""
    t = TYPES.get(text.lstrip("."))
    if t is None or t.is_predicate:
        known = ", ".join(n for n, each in TYPES.items() if not each.is_predicate)
        raise click.UsageError(f"bad type {text!r}: expected one of {known}")
    return symbol_dtype(t)
