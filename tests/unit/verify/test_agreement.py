"""Tables 17, 18 and 19, row by row."""

from __future__ import annotations

import pytest

from simt.ptx.agreement import agrees, elements_agree
from simt.ptx.types import TYPES
from simt.verify.agreement import expected_register

COLUMNS = [
    "b8",
    "b16",
    "b32",
    "b64",
    "s8",
    "s16",
    "s32",
    "s64",
    "u8",
    "u16",
    "u32",
    "u64",
    "f16",
    "f32",
    "f64",
]

# One row of tables 18 and 19 (they allow the same): x where the register type may be used.
RELAXED = {
    "b8": "xxxx xxxx xxxx xxx",
    "b16": ".xxx .xxx .xxx xxx",
    "b32": "..xx ..xx ..xx .xx",
    "b64": "...x ...x ...x ..x",
    "s8": "xxxx xxxx xxxx ...",
    "s16": ".xxx .xxx .xxx ...",
    "s32": "..xx ..xx ..xx ...",
    "s64": "...x ...x ...x ...",
    "u8": "xxxx xxxx xxxx ...",
    "u16": ".xxx .xxx .xxx ...",
    "u32": "..xx ..xx ..xx ...",
    "u64": "...x ...x ...x ...",
    "f16": ".xxx .... .... x..",
    "f32": "..xx .... .... .x.",
    "f64": "...x .... .... ..x",
}


@pytest.mark.parametrize("instruction", RELAXED)
def test_relaxed_rules(instruction: str) -> None:
    row = RELAXED[instruction].replace(" ", "")
    for column, mark in zip(COLUMNS, row, strict=True):
        assert agrees(TYPES[instruction], TYPES[column], relaxed=True) is (mark == "x"), column


@pytest.mark.parametrize("instruction", RELAXED)
def test_strict_rules_are_the_relaxed_ones_at_equal_size(instruction: str) -> None:
    row = RELAXED[instruction].replace(" ", "")
    for column, mark in zip(COLUMNS, row, strict=True):
        same = TYPES[instruction].bits == TYPES[column].bits
        assert agrees(TYPES[instruction], TYPES[column]) is (same and mark == "x"), column


def test_predicates_agree_with_predicates_only() -> None:
    for name, t in TYPES.items():
        assert agrees(TYPES["pred"], t, relaxed=True) is (name == "pred")
        assert agrees(t, TYPES["pred"], relaxed=True) is (name == "pred")


def test_halves_and_pairs_take_their_own_registers_or_untyped_ones() -> None:
    for instruction, fitting in (
        ("f16", "f16 b16"),
        ("bf16", "bf16 b16"),
        ("f16x2", "f16x2 b32"),
        ("bf16x2", "bf16x2 b32"),
    ):
        assert {n for n, t in TYPES.items() if agrees(TYPES[instruction], t)} == set(fitting.split())


def test_vector_elements_are_of_one_sort() -> None:
    assert elements_agree(TYPES["u32"], TYPES["s32"])
    assert elements_agree(TYPES["f32"], TYPES["b32"])
    assert not elements_agree(TYPES["f32"], TYPES["u32"])
    assert not elements_agree(TYPES["u32"], TYPES["u64"])


@pytest.mark.parametrize(
    ("name", "relaxed", "words"),
    [
        ("u32", False, "a .u32, .s32 or .b32 register"),
        ("f32", False, "a .f32 or .b32 register"),
        ("b64", False, "a 64-bit register"),
        ("u16", True, "a .u16, .s16 or .b16 register or a wider one"),
        ("f32", True, "a .f32 or .b32 register or a wider untyped one"),
        ("b8", True, "a register of at least 8 bits"),
        ("u64", True, "a .u64, .s64 or .b64 register"),
    ],
)
def test_expected_registers_in_words(name: str, relaxed: bool, words: str) -> None:
    assert expected_register(TYPES[name], relaxed) == words
