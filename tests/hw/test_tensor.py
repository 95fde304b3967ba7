"""Instructions on matrices against an H200: all of them by the interpreter, some by compiled code.

Record again with `python -m tests.hw.record --only tensor`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import simt
from tests.conftest import kept_for_each_way
from tests.hw.tensor import Case, cases, kernel, operands, seen
from tests.shares import share
from tests.unit.isa.meaning import Array


@cache
def recorded() -> dict[str, Array]:
    with np.load(Path(__file__).parent / "vectors" / "tensor.npz") as found:
        return dict(found)


@kept_for_each_way
def _device(engine: str) -> simt.Device:
    return simt.Device("sm_90", engine=engine, memory="4MiB")


def computed(case: Case, engine: str = "interpreter") -> Array:
    """What the engine makes of the operands."""
    device, arrays = _device(engine), operands(case)
    there = [device.array(a) for a in arrays]
    device.load(kernel(case))["k"](1 if case.address else len(arrays[-1]), 32, there)
    return seen(case, [a.numpy() for a in there])


@pytest.mark.parametrize("opcode", share(list(cases()), 16))
def test_compiled_code_gives_the_same(opcode: str) -> None:
    np.testing.assert_array_equal(computed(cases()[opcode], "jit"), recorded()[opcode])


@pytest.mark.parametrize("opcode", share(list(cases()), 4))
def test_the_interpreter_gives_the_same(opcode: str) -> None:
    np.testing.assert_array_equal(computed(cases()[opcode]), recorded()[opcode])
