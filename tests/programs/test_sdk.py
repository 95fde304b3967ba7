"""Programs in the style of the CUDA SDK of PTX 2.x and 3.x: virtual functions, templates, warps without
barriers, recursion through a table of functions. Some also as -G builds."""

from __future__ import annotations

import re

import numpy as np
import pytest

import simt
from tests.programs.harness import cover, eighths, load, rng

POLYMORPHISM = ("polymorphism", "polymorphism.debug")
CALCULATOR = ("calculator", "calculator.debug")
RESULT = np.dtype([("measure", "i8"), ("first", "i8"), ("corners", "i4"), ("label", "i4")])
BOX, CUBE, LINE = range(3)


def shape_answers(kind: int, name: int, size: int) -> tuple[int, int, int, int]:
    """What the neighbour learns: the measure after growing by 2 and before, corners, and a cube's label."""
    if kind == LINE:
        before, after = (int(np.int16(v)) for v in (size, size - 2))
        return after, before, 0, -1
    if kind == BOX:
        return (size + 2) * (size + 3), size * (size + 1), 4, -1
    return (size + 2) ** 3, size**3, 8, 3 * name + 77


@pytest.mark.parametrize("build", POLYMORPHISM)
@pytest.mark.parametrize(("n", "block"), [(1, 1), (100, 48)])
def test_virtual_functions(device: simt.Device, build: str, n: int, block: int) -> None:
    grid = cover(n, block)
    kinds = np.full(grid * block, LINE, "i4")
    sizes = np.zeros(grid * block, "i4")
    kinds[:n], sizes[:n] = rng(1).integers(0, 3, n), rng(2).integers(0, 1000, n)
    results = device.zeros(n * RESULT.itemsize, "u1")
    kernel = load(device, build)["ask_neighbours"]
    kernel((grid,), (block,), (device.array(kinds[:n]), device.array(sizes[:n]), results, n))
    threads = np.arange(n)
    other = threads // block * block + (threads % block + 1) % block
    expected = [shape_answers(int(kinds[o]), int(o), int(sizes[o])) for o in other]
    np.testing.assert_array_equal(results.numpy().view(RESULT), np.array(expected, RESULT))


@pytest.mark.share(2)
@pytest.mark.parametrize("block", [32, 64, 128, 256, 512])
@pytest.mark.parametrize(("n", "grid"), [(1, 1), (3000, 3)])
def test_reductions_without_barriers_in_the_last_warp(
    device: simt.Device, block: int, n: int, grid: int
) -> None:
    module = load(device, "volatile_reduce")
    integers = rng().integers(-(2**31), 2**31, n, dtype="i4")
    doubles = eighths(n, 1)
    floats = eighths(n, 2).astype("f4")
    for name, values in (("sum_i32", integers), ("sum_f64", doubles), ("max_f32", floats)):
        out = device.zeros(grid, values.dtype.str[1:])
        room = max(block, 64) * values.itemsize
        module[name]((grid,), (block,), (device.array(values), out, n), shared_mem=room)
        padded = np.full(cover(n, 2 * block * grid) * 2 * block * grid, -1e9 if name == "max_f32" else 0)
        padded = padded.astype(values.dtype)
        padded[:n] = values
        parts = padded.reshape(-1, grid, 2 * block)
        expected = parts.max((0, 2)) if name == "max_f32" else parts.sum((0, 2), dtype=values.dtype)
        np.testing.assert_array_equal(out.numpy(), expected, err_msg=name)


EXPRESSIONS = (
    "7", "1+2*3", "(1+2)*3", "-4-5-6", "100/7/2", "2*(3+4*(5-6))-7/(1-1)", "-(-(2-3)*4)+5",
    "((1+1)*(2+2)-(3*3))*10", "12/-5", "-12/5",
)  # fmt: skip


class Number(int):
    """A 32-bit integer as CUDA divides it: towards zero; by zero gives zero here."""

    def __add__(self, other: int) -> Number:
        return Number(int(self) + int(other))

    def __sub__(self, other: int) -> Number:
        return Number(int(self) - int(other))

    def __mul__(self, other: int) -> Number:
        return Number(int(self) * int(other))

    def __neg__(self) -> Number:
        return Number(-int(self))

    def __truediv__(self, other: int) -> Number:  # type: ignore[override]
        return Number(
            0 if other == 0 else abs(int(self)) // abs(other) * (-1 if (self < 0) != (other < 0) else 1)
        )


def value(expression: str) -> int:
    """By Python's own grammar, with the same precedence."""
    return int(eval(re.sub(r"(\d+)", r"Number(\1)", expression), {"Number": Number}))


@pytest.mark.parametrize("build", CALCULATOR)
def test_calculator(device: simt.Device, build: str) -> None:
    """`+` and `-` change places in the second run: the device has changed its own table of functions."""
    n, block = 70, 32
    texts = [EXPRESSIONS[i % len(EXPRESSIONS)] for i in range(n)]
    begin = np.cumsum([0, *map(len, texts)]).astype("i4")
    text = device.array(np.frombuffer("".join(texts).encode(), "u1"))
    module, values = load(device, build), device.zeros(n, "i4")
    for swap in (False, True):
        if swap:
            module["swap_signs"]((1,), (32,), ())
        module["evaluate"]((cover(n, block),), (block,), (text, device.array(begin), values, n))
        expected = [value(swapped(t) if swap else t) for t in texts]
        np.testing.assert_array_equal(values.numpy(), expected)


def swapped(expression: str) -> str:
    """With `+` and `-` exchanged between operands; a sign stays one."""
    return re.sub(r"(?<=[\d)])[+-]", lambda m: {"+": "-", "-": "+"}[m[0]], expression)


@pytest.mark.parametrize("build", ["members", "members.debug"])
def test_pointers_to_members(device: simt.Device, build: str) -> None:
    n = 150
    i = np.arange(n, dtype="i4")
    choices, values = rng(3).integers(0, 4, n, dtype="i4"), rng(4).integers(-9999, 9999, n, dtype="i4")
    results = device.zeros(n, "i4")
    arguments = (device.array(choices), device.array(values), results, n)
    load(device, build)["call_members"]((cover(n, 40),), (40,), arguments)
    size = np.where(i % 3, i + 1, i + 2)
    turned = np.where(i % 3, values ^ size, ~values + size)
    expected = np.choose(choices, [values + size, values - size, values * size, turned])
    np.testing.assert_array_equal(results.numpy(), expected)
