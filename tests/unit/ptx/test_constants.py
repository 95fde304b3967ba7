"""Constant expressions against an independent model of table 5."""

from __future__ import annotations

import ctypes
import struct
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simt.diagnostics import Diagnostics, Source
from simt.ptx import constants
from simt.ptx.lexer import Cursor, SyntaxProblem
from simt.ptx.nodes import Float, Integer


def evaluate(text: str) -> Integer | Float:
    c = Cursor(text, Diagnostics(Source(text)))
    value = constants.expression(c)
    assert c.kind == "end", f"left over: {c.value}"
    return value


def problem(text: str) -> str:
    with pytest.raises(SyntaxProblem) as caught:
        evaluate(text)
    return caught.value.message


def bits_of(value: float) -> int:
    return struct.unpack("<Q", struct.pack("<d", value))[0]


# ---------------------------------------------------------------- literals


@pytest.mark.parametrize(
    ("text", "value", "unsigned"),
    [
        ("0", 0, False),
        ("42", 42, False),
        ("42U", 42, True),
        ("0x7fFF", 32767, False),
        ("0X10U", 16, True),
        ("0b1101", 13, False),
        ("0B1U", 1, True),
        ("0755", 493, False),
        ("00", 0, False),
        ("9223372036854775807", 2**63 - 1, False),
        ("9223372036854775808", 2**63, True),
        ("0xFFFFFFFFFFFFFFFF", 2**64 - 1, True),
        ("WARP_SZ", 32, False),
    ],
)
def test_integer_literals(text: str, value: int, unsigned: bool) -> None:
    assert evaluate(text) == Integer(value, unsigned)


@pytest.mark.parametrize(
    "text", ["08", "0x", "0b2", "1_0", "5u", "1.5f", "0f3F8", "0d3FF00000", "12abc", "1.2.3"]
)
def test_malformed_numbers(text: str) -> None:
    assert problem(text).startswith("malformed number")


@pytest.mark.parametrize("text", ["18446744073709551616", "0x10000000000000000", "1" + "0" * 5000])
def test_integers_of_more_than_64_bits(text: str) -> None:
    assert problem(text) == "bad constant: an integer constant has at most 64 bits"


@pytest.mark.parametrize("text", ["1.5", ".5", "2.", "1e10", "1E-3", "2.5e+2", "0.1", "1e-400", "5e-324"])
def test_decimal_floats_are_the_nearest_double(text: str) -> None:
    exact = Fraction(text if text[-1] != "." else text + "0")
    found = evaluate(text)
    assert isinstance(found, Float)
    value = struct.unpack("<d", struct.pack("<Q", found.bits))[0]
    below, above = (struct.unpack("<d", struct.pack("<Q", max(found.bits + d, 0)))[0] for d in (-1, 1))
    assert abs(Fraction(value) - exact) <= min(abs(Fraction(below) - exact), abs(Fraction(above) - exact))


def test_exact_floats_keep_their_bits() -> None:
    assert evaluate("0f3F800001") == Float(0x3F800001, 32)
    assert evaluate("0Fffc00001") == Float(0xFFC00001, 32)
    assert evaluate("0d7FF0000000000001") == Float(0x7FF0000000000001)
    assert evaluate("(0f3F800000)") == Float(0x3F800000, 32)


@pytest.mark.parametrize(
    "text", ["-0f3F800000", "0f3F800000 + 1.0", "1 ? 0f3F800000 : 1.0", "!0f3F800000", "1 + 0f00000000"]
)
def test_exact_singles_take_no_part_in_expressions(text: str) -> None:
    assert "0f..." in problem(text)


# ---------------------------------------------------------------- operators


def model(op: str, a: Integer, b: Integer) -> Integer:
    """Table 5, written with C's own 64-bit types."""
    left = ctypes.c_uint64(a.value).value
    right = ctypes.c_uint64(b.value).value
    either = a.unsigned or b.unsigned
    kind = ctypes.c_uint64 if either else ctypes.c_int64
    x, y = kind(a.value).value, kind(b.value).value
    match op:
        case "+" | "-" | "*":
            return Integer(kind({"+": x + y, "-": x - y, "*": x * y}[op]).value, either)
        case "/":
            return Integer(kind(int(Fraction(x, y))).value, either)
        case "%":
            return Integer(left % right, True)
        case "&" | "|" | "^":
            return Integer({"&": left & right, "|": left | right, "^": left ^ right}[op], True)
        case "<<":
            value = left * 2**right if right < 64 else 0
            return Integer((ctypes.c_uint64 if a.unsigned else ctypes.c_int64)(value).value, a.unsigned)
        case ">>":
            return Integer(a.value // 2 ** min(right, 64), a.unsigned)
        case "&&":
            return Integer(int(bool(left) and bool(right)))
        case "||":
            return Integer(int(bool(left) or bool(right)))
        case _:
            truth = {"<": x < y, ">": x > y, "<=": x <= y, ">=": x >= y, "==": x == y, "!=": x != y}
            return Integer(int(truth[op]))


OPERATORS = ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "&&", "||", "<", ">", "<=", ">=", "==", "!="]
EDGES = st.sampled_from([0, 1, 2, 31, 63, 64, 65, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1])
INTEGERS = st.builds(
    lambda bits, unsigned: Integer(bits if unsigned else ctypes.c_int64(bits).value, unsigned),
    st.one_of(EDGES, st.integers(0, 2**64 - 1)),
    st.booleans(),
)


def spelled(value: Integer) -> str:
    """Text of a value that does not lean on the sign of a literal."""
    pattern = value.value % 2**64
    return f"(.u64)0x{pattern:x}" if value.unsigned else f"(.s64)0x{pattern:x}"


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(OPERATORS), INTEGERS, INTEGERS)
def test_integer_operators(op: str, a: Integer, b: Integer) -> None:
    text = f"{spelled(a)} {op} {spelled(b)}"
    if op in "/%" and b.value == 0:
        assert "division by zero" in problem(text)
    else:
        assert evaluate(text) == model(op, a, b)


@settings(max_examples=200, deadline=None)
@given(INTEGERS)
def test_unary_operators(a: Integer) -> None:
    kind = ctypes.c_uint64 if a.unsigned else ctypes.c_int64
    assert evaluate(f"-{spelled(a)}") == Integer(kind(-a.value).value, a.unsigned)
    assert evaluate(f"+{spelled(a)}") == a
    assert evaluate(f"~{spelled(a)}") == Integer(2**64 - 1 - a.value % 2**64, True)
    assert evaluate(f"!{spelled(a)}") == Integer(1 if a.value == 0 else 0)
    assert evaluate(f"(.s64){spelled(a)}") == Integer(ctypes.c_int64(a.value).value)


@settings(max_examples=200, deadline=None)
@given(INTEGERS, INTEGERS, INTEGERS)
def test_conditional_converts_both_branches(c: Integer, a: Integer, b: Integer) -> None:
    unsigned = a.unsigned or b.unsigned
    kind = ctypes.c_uint64 if unsigned else ctypes.c_int64
    chosen = a if c.value != 0 else b
    assert evaluate(f"{spelled(c)} ? {spelled(a)} : {spelled(b)}") == Integer(
        kind(chosen.value).value, unsigned
    )


FLOATS = st.floats(allow_nan=False, allow_infinity=False, width=64)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from("+-*/<>"), FLOATS, FLOATS)
def test_double_operators(op: str, a: float, b: float) -> None:
    text = f"0d{bits_of(a):016x} {op} 0d{bits_of(b):016x}"
    if op == "/" and b == 0:
        assert problem(text) == "bad constant: division by zero"
        return
    if op in "<>":
        assert evaluate(text) == Integer(int(a < b if op == "<" else a > b))
        return
    exact = {
        "+": Fraction(a) + Fraction(b),
        "-": Fraction(a) - Fraction(b),
        "*": Fraction(a) * Fraction(b),
    }.get(op, Fraction(a) / Fraction(b) if b else Fraction(0))
    try:
        nearest = float(exact)  # Python's conversion of a fraction is correctly rounded
    except OverflowError:
        nearest = float("inf") if exact > 0 else float("-inf")
    found = evaluate(text)
    assert isinstance(found, Float)
    assert struct.unpack("<d", struct.pack("<Q", found.bits))[0] == nearest


def test_minus_flips_the_sign_of_every_double() -> None:
    assert evaluate("-0.0") == Float(1 << 63)
    assert evaluate("-0d7FF8000000000000") == Float(0xFFF8000000000000)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("10 - 4 - 3", 3),
        ("1 << 2 + 1", 8),
        ("1 | 2 == 2", 1),
        ("7 & 3 ^ 1", 2),
        ("1 || 0 && 0", 1),
        ("2 > 1 == 1", 1),
        ("0 ? 1 : 0 ? 2 : 3", 3),
        ("1 ? 2 : 0 ? 3 : 4", 2),
        ("- - 4", 4),
        ("!~-1", 1),
        ("7%4", 3),
        ("100 / 5 / 2", 10),
        ("64 >> 2 >> 1", 8),
        ("WARP_SZ / 2 - 1", 15),
    ],
)
def test_precedence_and_association(text: str, expected: int) -> None:
    """Values worked out by hand with table 4."""
    found = evaluate(text)
    assert isinstance(found, Integer)
    assert found.value == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 / 0", "bad constant: division by zero"),
        ("1 % 0", "bad constant: remainder of a division by zero"),
        ("1.0 / 0.0", "bad constant: division by zero"),
        ("1 + 1.0", "bad constant: operator '+' needs two integers or two floating-point operands"),
        ("1.0 % 2.0", "bad constant: operator '%' needs integer operands"),
        ("~1.5", "bad constant: operator '~' needs integer operands"),
        ("1.5 ? 1 : 2", "bad constant: operator '?:' needs integer operands"),
        (
            "1 ? 1 : 2.0",
            "bad constant: operator '?:' needs two integers or two floating-point values to choose from",
        ),
        ("(.f32)1", "unexpected '.f32', expected '.s64' or '.u64': constants have no other casts"),
        ("(1 + 2", "unexpected end of file, expected ')'"),
        ("1 +", "unexpected end of file, expected a constant"),
        ("1 ? 2", "unexpected end of file, expected ':'"),
        ("1e999", "bad constant: a floating-point constant must fit into a double"),
    ],
)
def test_messages(text: str, message: str) -> None:
    assert problem(text) == message
