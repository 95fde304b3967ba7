"""Columns of known lanes: how they are written, and what instructions make of them."""

from __future__ import annotations

import pytest

from simt.engine import llvm_folding
from simt.engine.llvm_builder import Value
from simt.engine.llvm_known_columns import binary, column_of, of_lanes, pick
from simt.engine.llvm_known_columns import test as compared

LANES = (0, 1, 127, 128, 255, 7, 8, 200)
OTHERS = (3, 3, 1, 128, 255, 0, 9, 100)


def column(*numbers: int) -> Value:
    return of_lanes("i8", numbers)


@pytest.mark.parametrize("numbers", [LANES, OTHERS, (5,) * 8, (255,) * 8])
def test_columns_are_read_as_they_are_written(numbers: tuple[int, ...]) -> None:
    assert column_of(column(*numbers)) == numbers
    bits = tuple(number & 1 for number in numbers)
    assert column_of(of_lanes("i1", bits)) == bits


def test_other_ways_to_write_them() -> None:
    assert column_of(Value("zeroinitializer", "i32", 4)) == (0, 0, 0, 0)
    assert column_of(Value("-1", "i8", 1)) == (255,)
    assert column_of(Value("true", "i1", 1)) == (1,)
    assert of_lanes("i1", (1, 1)).ir == "splat (i1 true)"


@pytest.mark.parametrize(
    "value", [Value("%v1", "i32", 8), Value("poison", "i32", 8), Value("zeroinitializer", "float", 8)]
)
def test_what_is_not_known(value: Value) -> None:
    assert column_of(value) is None
    assert binary("add", value, value) is None
    assert pick(of_lanes("i1", (1,) * 8), value, value) is None


@pytest.mark.parametrize("opcode", ["add", "sub", "xor", "and", "or", "mul", "umin"])
def test_instructions(opcode: str) -> None:
    expected = tuple(llvm_folding.binary(opcode, 8, a, b) for a, b in zip(LANES, OTHERS, strict=True))
    found = binary(opcode, column(*LANES), column(*OTHERS))
    assert found is not None
    assert column_of(found) == expected


def test_instructions_without_a_result() -> None:
    assert binary("udiv", column(*LANES), column(*OTHERS)) is None
    assert binary("shl", column(*LANES), column(*OTHERS)) is None  # by more than there are bits
    assert compared("fcmp olt", column(*LANES), column(*OTHERS)) is None


def test_comparisons_and_choices() -> None:
    less = compared("icmp slt", column(*LANES), column(*OTHERS))
    assert less is not None
    assert column_of(less) == (1, 1, 0, 0, 0, 0, 1, 1)
    chosen = pick(less, column(*LANES), column(*OTHERS))
    assert chosen is not None
    assert column_of(chosen) == (0, 1, 1, 128, 255, 0, 8, 200)
