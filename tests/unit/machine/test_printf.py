"""Formats by themselves; `tests/hw/test_printf.py` has what a GPU prints for thousands of them."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simt.machine.printf import LONGEST, formatted


@dataclass
class Given:
    """Arguments one after the other, as numbers; strings by their address in `texts`."""

    values: list[int]
    texts: dict[int, str]
    pointer_bytes: int = 8

    def take(self, size: int) -> int:
        return self.values.pop(0) % (1 << 8 * size)

    def string(self, address: int, most: int | None) -> str:
        return self.texts[address][:most]


def show(format: str, *values: int | float, pointer_bytes: int = 8) -> str:
    words = [struct.unpack("Q", struct.pack("d", v))[0] if isinstance(v, float) else v for v in values]
    return formatted(format, Given(words, {7: "text"}, pointer_bytes))[0]


@given(st.integers(-(2**31), 2**31 - 1))
def test_integers_read_back(n: int) -> None:
    assert int(show("%d", n)) == n
    assert int(show("%+013d", n)) == n
    for kind, base in (("x", 16), ("X", 16), ("o", 8), ("u", 10)):
        assert int(show(f"%{kind}", n), base) == n % 2**32
    assert int(show("%lli", n * 2**31)) == n * 2**31


@given(st.floats())
def test_floats_read_back(x: float) -> None:
    """17 digits, and hexadecimal, tell every double apart."""
    for text in (show("%.17g", x), show("%.16e", x), show("%.16E", x)):
        assert math.isnan(x) if math.isnan(float(text)) else float(text) == x
    for text in (show("%a", x), show("%A", x), show("%+45.20a", x)):
        assert math.isnan(x) if "nan" in text.lower() else float.fromhex(text) == x


@given(st.floats(-1e300, 1e300), st.integers(0, 12))
def test_hexadecimal_is_rounded_to_nearest_even(x: float, digits: int) -> None:
    found = Fraction(float.fromhex(show(f"%.{digits}a", x)))
    exponent = max(math.frexp(x)[1] - 1, -1022) if x else 0
    unit = Fraction(2) ** (exponent - 4 * digits)
    error = abs(found - Fraction(x))
    assert error <= unit / 2
    if error == unit / 2:
        assert found / unit % 2 == 0


@given(
    st.floats(-1e15, 1e15), st.integers(0, 12), st.integers(0, 40), st.sampled_from(["", "-", "0", "+", " "])
)
def test_fixed_point_is_as_in_python(x: float, precision: int, width: int, flag: str) -> None:
    align = {"-": "<", "0": "="}.get(flag, ">")
    spec = f"{'0' if flag == '0' else ' '}{align}{flag if flag in '+ ' else ''}{width}.{precision}f"
    assert show(f"%{flag}{width}.{precision}f", x) == format(x, spec)


@given(st.text(st.characters(min_codepoint=1, max_codepoint=255)))
def test_any_format_is_printed(format: str) -> None:
    text, count = formatted(format, Given([7] * 2 * len(format), {7: "text"}))
    assert count >= 0
    if "%" not in format:
        assert (text, count) == (format, 0)


@pytest.mark.parametrize(
    ("format", "values", "text"),
    [
        ("%hhd %hhu", (-3, -3), "-3 253"),
        ("%c%c%c", (72, 105, 256 + 33), "Hi!"),
        ("%s|%6s|%-6s|%.2s", (7, 7, 7, 7), "text|  text|text  |te"),
        ("%#llo %#llX", (-1, -1), "01777777777777777777777 0XFFFFFFFFFFFFFFFF"),
        ("%%%d%%", (5,), "%5%"),
        ("%q %", (), "%q %"),
    ],
)
def test_examples(format: str, values: tuple[int, ...], text: str) -> None:
    assert show(format, *values) == text


def test_long_is_as_wide_as_a_pointer() -> None:
    assert show("%lx %p", -1, -1) == "ffffffffffffffff 0xffffffffffffffff"
    assert show("%lx %p", -1, -1, pointer_bytes=4) == "ffffffff 0xffffffff"


@pytest.mark.parametrize("format", ["%99999999999999999999d", "%.99999999999999999999d", "%*d", "%-*d"])
def test_monstrous_fields_are_cut(format: str) -> None:
    assert len(show(format, 2**31 - 1, 1)) == LONGEST
