"""Calls that stay calls, recursion, and a switch in a loop; some also as -G builds."""

from __future__ import annotations

import math

import numpy as np
import pytest

import simt
from tests.programs.harness import cover, load, rng

FUNCTIONS = ("functions", "functions.debug")


@pytest.mark.parametrize("build", FUNCTIONS)
def test_functions_by_value_and_by_pointer(device: simt.Device, build: str) -> None:
    n = 200
    a, b = (rng(s).integers(1, 1000, n, dtype="u4") for s in (1, 2))
    triples = rng(3).integers(-(2**15), 2**15, (n, 3), dtype="i2")
    divisors, sums, rows = device.zeros(n, "u4"), device.zeros((n, 2), "i8"), device.array(triples)
    kernel = load(device, build)["call_functions"]
    kernel((cover(n, 48),), (48,), (device.array(a), device.array(b), divisors, sums, rows, n))
    np.testing.assert_array_equal(divisors.numpy(), np.gcd(a, b))
    np.testing.assert_array_equal(rows.numpy(), np.sort(triples, axis=1))
    expected = [fraction_sum(i, int(p), int(q)) for i, (p, q) in enumerate(zip(a, b))]
    np.testing.assert_array_equal(sums.numpy(), expected)


def fraction_sum(i: int, a: int, b: int) -> tuple[int, int]:
    def add(p: tuple[int, int], q: tuple[int, int]) -> tuple[int, int]:
        return p[0] * q[1] + q[0] * p[1], p[1] * q[1]

    p, q = (a, 3), (b, 1 + i)
    return add(p, q) if i % 3 else add(q, add(p, p))


@pytest.mark.parametrize("build", FUNCTIONS)
def test_function_pointers(device: simt.Device, build: str) -> None:
    n = 150
    choice = rng(4).integers(0, 4, n, dtype="i4")
    a, b = (rng(s).integers(-(2**31), 2**31, n, dtype="i4") for s in (5, 6))
    result = device.zeros(n, "i4")
    kernel = load(device, build)["call_pointers"]
    kernel((cover(n, 64),), (64,), (*(device.array(v) for v in (choice, a, b)), result, n))
    np.testing.assert_array_equal(result.numpy(), np.choose(choice, [a + b, a - b, a * b, np.minimum(a, b)]))


@pytest.mark.parametrize("build", FUNCTIONS)
def test_barriers_in_a_function(device: simt.Device, build: str) -> None:
    n, block = 100, 40
    values = rng().integers(0, 50, n, dtype="i4")
    result = device.zeros(n, "i4")
    load(device, build)["call_barriers"]((cover(n, block),), (block,), (device.array(values), result, n))
    expected = []
    for start in range(0, n, block):
        first = int(values[start : start + block].sum())
        second = sum(first % (t + 1) for t in range(block))
        expected += [first + 1000 * second] * min(block, n - start)
    np.testing.assert_array_equal(result.numpy(), expected)


def wrap(value: int) -> int:
    """As a 32-bit two's complement number."""
    return (value + 2**31) % 2**32 - 2**31


def truncated(a: int, b: int) -> tuple[int, int]:
    """Quotient and remainder as in C; the one overflow, which C leaves undefined, must not come up."""
    assert (a, b) != (-(2**31), -1)
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return quotient, a - quotient * b


def run_program(code: list[int], a: int, i: int) -> int:
    """The little machine of switch_vm.cu."""
    b, pc, steps = i, 0, 0
    while 0 <= pc < len(code) and steps < 100:
        match code[pc]:
            case 0:
                pc = len(code)
            case 1:
                a = wrap(a + b)
            case 2:
                a = wrap(a - b)
            case 3:
                a = wrap(a * 3)
            case 4:
                b ^= a
            case 5:
                a, b = b, a
            case 6:
                a = ~a
            case 7:
                b = wrap(b + 17)
            case 8:
                a = wrap(a << (b & 7))
            case 9:
                a >>= 1
            case 10:
                pc += a < 0
            case 11:
                pc -= b & 3
            case 12:
                a = truncated(a, b)[1] if b else 1
            case 13:
                b = truncated(a, b)[0] if b else 2
            case 14:
                a = min(a, b)
            case 15:
                a = wrap(a + steps)
            case _:
                b = wrap(-b)
        pc, steps = pc + 1, steps + 1
    return wrap(a ^ wrap(b * 31))  # fmt: skip


@pytest.mark.parametrize("build", ["switch_vm", "switch_vm.debug"])
def test_every_lane_runs_its_own_program(device: simt.Device, build: str) -> None:
    n, length = 150, 20
    programs = rng(8).integers(0, 18, (n, length), dtype="u1")
    inputs = rng(9).integers(-(2**31), 2**31, n, dtype="i4")
    results = device.zeros(n, "i4")
    kernel = load(device, build)["run_programs"]
    kernel((cover(n, 70),), (70,), (device.array(programs), length, device.array(inputs), results, n))
    expected = [
        run_program(list(map(int, row)), int(a), i) for i, (row, a) in enumerate(zip(programs, inputs))
    ]
    np.testing.assert_array_equal(results.numpy(), expected)


def test_recursive_fibonacci(device: simt.Device) -> None:
    which = rng().integers(0, 13, 70, dtype="u4")
    result = device.zeros(70, "u4")
    load(device, "recursion")["fibonacci_numbers"]((2,), (45,), (device.array(which), result, 70))
    golden = (1 + math.sqrt(5)) / 2
    np.testing.assert_array_equal(result.numpy(), np.rint(golden ** which.astype("f8") / math.sqrt(5)))


def test_recursive_quicksort(device: simt.Device) -> None:
    rows = rng().integers(-20, 20, (37, 15), dtype="i4")
    out = device.array(rows)
    load(device, "recursion")["sort_rows"]((2,), (32,), (out, 15, 37))
    np.testing.assert_array_equal(out.numpy(), np.sort(rows, axis=1))
