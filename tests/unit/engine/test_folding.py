"""Results that emission knows, against NumPy's integers."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from simt.engine import llvm_folding

VALUES = [0, 1, 2, 5, 7, 8, 63, 127, 128, 129, 200, 254, 255]
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul,
    "and": operator.and_, "or": operator.or_, "xor": operator.xor,
    "umin": np.minimum, "umax": np.maximum, "shl": operator.lshift, "lshr": operator.rshift,
}  # fmt: skip
ORDER = {"lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge}


def wrapped(opcode: str, a: int, b: int) -> int:
    with np.errstate(over="ignore"):
        return int(BINARY[opcode](np.array([a], "u1"), np.array([b], "u1"))[0])


@pytest.mark.parametrize("opcode", BINARY)
def test_two_known_operands(opcode: str) -> None:
    for a in VALUES:
        for b in VALUES:
            if opcode in ("shl", "lshr") and b >= 8:
                assert llvm_folding.binary(opcode, 8, a, b) is None  # LLVM gives poison
            else:
                assert llvm_folding.binary(opcode, 8, a, b) == wrapped(opcode, a, b)


def test_unknown_opcodes() -> None:
    assert llvm_folding.binary("udiv", 8, 6, 3) is None
    assert llvm_folding.test("fcmp olt", 8, 1, 2) is None
    assert llvm_folding.resized("bitcast", 8, 8, 1) is None


@pytest.mark.parametrize("opcode", BINARY)
def test_one_known_operand(opcode: str) -> None:
    """Whatever the other operand is, the result is what is said."""
    others = [x for x in VALUES if x < 8 or opcode not in ("shl", "lshr")]
    for known in VALUES:
        if llvm_folding.leaves_other(opcode, 8, known, second=True):
            assert all(wrapped(opcode, x, known) == x for x in VALUES)
        if llvm_folding.leaves_other(opcode, 8, known, second=False):
            assert all(wrapped(opcode, known, x) == x for x in others)
        if llvm_folding.decides(opcode, 8, known):
            assert all(wrapped(opcode, x, known) == wrapped(opcode, known, x) == known for x in VALUES)


def test_what_one_operand_tells_is_found() -> None:
    assert llvm_folding.leaves_other("and", 8, 255, second=True)
    assert llvm_folding.leaves_other("add", 8, 0, second=False)
    assert not llvm_folding.leaves_other("sub", 8, 0, second=False)
    assert llvm_folding.decides("or", 1, 1)
    assert llvm_folding.decides("and", 8, 0)


@pytest.mark.parametrize("name", ORDER)
def test_comparisons(name: str) -> None:
    for a in VALUES:
        for b in VALUES:
            x, y = np.array([a, b], "u1").view("i1")
            assert llvm_folding.test(f"icmp u{name}", 8, a, b) == ORDER[name](a, b)
            assert llvm_folding.test(f"icmp s{name}", 8, a, b) == bool(ORDER[name](x, y))
            assert llvm_folding.test("icmp eq", 8, a, b) == (a == b)
            assert llvm_folding.test("icmp ne", 8, a, b) == (a != b)


def test_other_widths() -> None:
    for a in VALUES:
        assert llvm_folding.resized("trunc", 8, 4, a) == a % 16
        assert llvm_folding.resized("zext", 8, 16, a) == a
        assert llvm_folding.resized("sext", 8, 16, a) == int(np.array([a], "u1").view("i1").astype("u2")[0])
