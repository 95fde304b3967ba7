"""What LLVM's NVPTX backend prints today, for old and new targets: `llvm/*.ll`, built by `llvm/build.py`."""

from __future__ import annotations

import math

import numpy as np
import pytest

import simt
from tests.programs.harness import load, rng

LOW = 2**32 - 1
BUILDS = ("llvm/language.sm_20", "llvm/language.sm_35", "llvm/language.sm_90")
NUMBERS = (2, 3, 5, 7, 11, 13, 17, 19)


def trailing_zeros(a: int) -> int:
    return (a & -a).bit_length() - 1 if a else 32


def mixed(a: int, b: int) -> int:
    x = a ^ b
    ones = x.bit_count()
    turned = int(f"{b:032b}"[::-1], 2)
    swapped = int.from_bytes(a.to_bytes(4, "little"), "big")
    funnel = (turned << 32 | swapped) << ones % 32 >> 32 & LOW
    tripled = 3 * min(funnel + a, LOW)
    return (((tripled & LOW) ^ (trailing_zeros(a) * 65537)) + 32 - x.bit_length() + (tripled > LOW)) & LOW


def operation(byte: int, value: int) -> int:
    operand = byte >> 2
    match byte & 3:
        case 0:
            return value + operand & LOW
        case 1:
            return value - operand & LOW
        case 2:
            return value * operand & LOW
        case _:
            return mixed(value, operand)


def signed(value: int) -> int:
    return value - (value >> 31 << 32)


def hashed(value: int) -> int:
    """In 128 bits."""
    product = signed(value) * 6364136223846793005 % 2**64 * 340282366920938463463374607431768211297
    return (product + signed(value)) % 2**128 >> 77 & LOW


def interpreted(program: bytes, value: int) -> int:
    k = 0
    while k < len(program):
        match program[k]:
            case 0xF0:
                value = signed(value) >> 1 & LOW
            case 0xF1:
                value = -value & LOW
            case 0xF2:
                value = hashed(value)
            case 0xF3:
                k += 1
            case 0xF4:
                value = b"bdfh"[value & 3]
            case 0xF5:
                value = NUMBERS[3 + (value & 3)]
            case byte:
                value = operation(byte, value)
        k += 1
    return value


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize(("n", "block"), [(1, 1), (96, 48)])
def test_switch_and_table_of_functions(device: simt.Device, build: str, n: int, block: int) -> None:
    steps = 12
    code = rng().integers(0, 256, (n, steps), dtype="u1")
    code[rng(1).random(code.shape) < 0.4] |= 0xF0
    values = rng(2).integers(0, 2**32, n, dtype="u4")
    result = device.array(values)
    kernel = load(device, build)["interpret"]
    kernel((n // block,), (block,), (device.array(code), result, steps))
    expected = [interpreted(program.tobytes(), int(start)) for program, start in zip(code, values)]
    np.testing.assert_array_equal(result.numpy(), np.array(expected, "u4"))


@pytest.mark.parametrize("build", BUILDS)
def test_recursion(device: simt.Device, build: str) -> None:
    """The Catalan numbers, by their closed form."""
    out = device.zeros(40, "u4")
    load(device, build)["catalans"]((1,), (40,), (out,))
    expected = [math.comb(2 * n, n) // (n + 1) for n in range(7)]
    np.testing.assert_array_equal(out.numpy(), np.resize(expected, 40))


@pytest.mark.parametrize("build", BUILDS)
def test_structures_by_value(device: simt.Device, build: str) -> None:
    first, *rest = pair = [int(v) for v in rng().integers(0, 2**31, 6)]
    out = device.zeros((32, 3), "u4")
    load(device, build)["structures"]((1,), (32,), (np.array(pair, "u4").tobytes(), out))

    def turned(first: int, rest: list[int], by: int) -> tuple[int, list[int]]:
        return (rest[by % 5] + first) & LOW, [by if i == by % 5 else v for i, v in enumerate(rest)]

    twice = [turned(*turned(first, rest, t), t + 3) for t in range(32)]
    expected = [(a, rest[t % 5], more[4]) for t, (a, more) in enumerate(twice)]
    np.testing.assert_array_equal(out.numpy(), expected)


@pytest.mark.parametrize("build", BUILDS)
def test_sums_by_a_tree(device: simt.Device, build: str) -> None:
    values = rng().integers(0, 2**32, (3, 1024), dtype="u4")
    sums = device.zeros(3, "u4")
    load(device, build)["sums"]((3,), (256,), (device.array(values), sums))
    np.testing.assert_array_equal(sums.numpy(), values.sum(1, dtype="u4"))
