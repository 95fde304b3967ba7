"""Moves that pack and unpack (PTX 1.4 table 67)."""

from __future__ import annotations

import numpy as np
import pytest

from simt.engine.numpy_algebra import NumpyAlgebra
from simt.isa.move import mov_bits
from simt.isa.select import Selection, select
from simt.ptx.types import B16, B32, B64, Type
from tests.unit.isa.meaning import Array


def column(bits: int, value: int) -> Array:
    return np.array([value], f"u{bits // 8}")


@pytest.mark.parametrize(
    ("t", "parts", "whole"),
    [
        (B16, (0x34, 0x12), 0x1234),
        (B32, (0x5678, 0x1234), 0x12345678),
        (B32, (0x78, 0x56, 0x34, 0x12), 0x12345678),
        (B64, (0x9ABCDEF0, 0x12345678), 0x123456789ABCDEF0),
        (B64, (0xDEF0, 0x9ABC, 0x5678, 0x1234), 0x123456789ABCDEF0),
    ],
)
def test_the_first_element_is_the_lowest(t: Type, parts: tuple[int, ...], whole: int) -> None:
    elements = tuple(column(t.bits // len(parts), p) for p in parts)
    assert mov_bits(NumpyAlgebra(), t, elements, None)[0] == whole
    unpacked = mov_bits(NumpyAlgebra(), t, column(t.bits, whole), str(len(parts)))
    assert [int(e[0]) for e in unpacked] == list(parts)


def test_scalar_bits_and_numbers_are_forms_of_their_own() -> None:
    bits, number = (select("mov", (t,), 2, (1, 4), 13) for t in ("b32", "f32"))
    assert isinstance(bits, Selection)
    assert isinstance(number, Selection)
    assert bits.form.operands[0].spec == "pack(type)"
    assert number.form.operands[0].spec == "type"
