"""Constants and constant expressions (section 4.5): literals, operators (table 4), their rules (table 5).

Integers are 64 bits wide, signed or unsigned; floating-point values are doubles. Where section 4.5.5
and table 5 differ (`&`, `|`, `^` of two signed operands), the table holds: the result is unsigned.
Shift amounts of 64 and more shift everything out.

Known differences from ptxas 13.0, found by reading its cubins: there `&`, `|`, `^` of signed operands
stay signed, shift amounts count modulo 64 as on its host, and `?:` does not convert its two values.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TypeAlias

from simt.diagnostics import Span
from simt.ptx.lexer import Cursor, SyntaxProblem
from simt.ptx.nodes import Float, Integer
from simt.records import replace

Constant: TypeAlias = Integer | Float

WARP_SIZE = 32
"""`WARP_SZ` of every target so far."""

STARTS = frozenset({"integer", "float", "bits", "(", "+", "-", "!", "~"})
"""Kinds of token that a constant expression can start with, apart from `WARP_SZ`."""

_TOP = 1 << 64
_LEVELS = ("||", "&&", "|", "^", "&", "== !=", "< > <= >=", ">> <<", "+ -", "* / %")
_PRECEDENCE = {symbol: level for level, line in enumerate(_LEVELS, 1) for symbol in line.split()}


class ConstantProblem(Exception):
    """An operation that table 5 does not allow, or that has no value."""


# ---------------------------------------------------------------- values


def signed(value: int) -> Integer:
    """An `.s64`, modulo 2^64."""
    value %= _TOP
    return Integer(value - _TOP if value >= _TOP // 2 else value)


def unsigned(value: int) -> Integer:
    """A `.u64`, modulo 2^64."""
    return Integer(value % _TOP, True)


def double(value: float) -> Float:
    return Float(int.from_bytes(struct.pack("<d", value), "little"))


def to_float(constant: Float) -> float:
    """The value of a double. A single (`0f...`) takes no part in expressions."""
    if constant.width != 64:
        raise ConstantProblem("an exact single-precision constant (0f...) may not be used in an expression")
    return struct.unpack("<d", constant.bits.to_bytes(8, "little"))[0]


def _integer(constant: Constant, operator: str) -> Integer:
    if isinstance(constant, Integer):
        return constant
    to_float(constant)
    raise ConstantProblem(f"operator '{operator}' needs integer operands")


# ---------------------------------------------------------------- operators (table 5)


def unary(operator: str, a: Constant) -> Constant:
    """`+ - ! ~` or a cast, written `.s64` or `.u64`."""
    if isinstance(a, Float) and operator in "+-":
        to_float(a)
        return a if operator == "+" else Float(a.bits ^ 1 << 63)
    value = _integer(a, operator)
    keep = unsigned if value.unsigned else signed
    match operator:
        case "+":
            return value
        case "-":
            return keep(-value.value)
        case "!":
            return signed(not value.value)
        case "~":
            return unsigned(~value.value)
        case ".u64":
            return unsigned(value.value)
        case _:
            return signed(value.value)


def binary(operator: str, a: Constant, b: Constant) -> Constant:
    """A binary operator of table 4."""
    if isinstance(a, Float) and isinstance(b, Float) and operator in _FLOATING:
        return _FLOATING[operator](to_float(a), to_float(b))
    if isinstance(a, Integer) and isinstance(b, Integer):
        return _INTEGER[operator](a, b)
    if operator in _FLOATING:
        for x in (a, b):
            if isinstance(x, Float):
                to_float(x)
        raise ConstantProblem(f"operator '{operator}' needs two integers or two floating-point operands")
    _integer(a, operator)
    return _integer(b, operator)


def conditional(condition: Constant, a: Constant, b: Constant) -> Constant:
    """`condition ? a : b`."""
    chosen = a if _integer(condition, "?:").value else b
    if isinstance(a, Integer) and isinstance(b, Integer):
        return _converted(a, b)(chosen.value if isinstance(chosen, Integer) else 0)
    if isinstance(a, Float) and isinstance(b, Float):
        to_float(a)
        to_float(b)
        return chosen
    raise ConstantProblem("operator '?:' needs two integers or two floating-point values to choose from")


def _converted(a: Integer, b: Integer) -> Callable[[int], Integer]:
    """The usual arithmetic conversions: unsigned if either operand is."""
    return unsigned if a.unsigned or b.unsigned else signed


def _arithmetic(f: Callable[[int, int], int]) -> Callable[[Integer, Integer], Integer]:
    def apply(a: Integer, b: Integer) -> Integer:
        convert = _converted(a, b)
        return convert(f(convert(a.value).value, convert(b.value).value))

    return apply


def _compare(f: Callable[[int, int], bool]) -> Callable[[Integer, Integer], Integer]:
    def apply(a: Integer, b: Integer) -> Integer:
        convert = _converted(a, b)
        return signed(f(convert(a.value).value, convert(b.value).value))

    return apply


def _as_unsigned(f: Callable[[int, int], int]) -> Callable[[Integer, Integer], Integer]:
    return lambda a, b: unsigned(f(a.value % _TOP, b.value % _TOP))


def _divide(a: int, b: int) -> int:
    if b == 0:
        raise ConstantProblem("division by zero")
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _remainder(a: int, b: int) -> int:
    if b == 0:
        raise ConstantProblem("remainder of a division by zero")
    return a % b


def _shift_left(a: Integer, b: Integer) -> Integer:
    convert = unsigned if a.unsigned else signed
    amount = b.value % _TOP
    return convert(a.value << amount if amount < 64 else 0)


def _shift_right(a: Integer, b: Integer) -> Integer:
    convert = unsigned if a.unsigned else signed
    return convert(a.value >> min(b.value % _TOP, 64))


def _float_divide(a: float, b: float) -> Float:
    if b == 0:
        raise ConstantProblem("division by zero")
    return double(a / b)


_INTEGER: dict[str, Callable[[Integer, Integer], Constant]] = {
    "+": _arithmetic(lambda a, b: a + b),
    "-": _arithmetic(lambda a, b: a - b),
    "*": _arithmetic(lambda a, b: a * b),
    "/": _arithmetic(_divide),
    "%": _as_unsigned(_remainder),
    "<<": _shift_left,
    ">>": _shift_right,
    "<": _compare(lambda a, b: a < b),
    ">": _compare(lambda a, b: a > b),
    "<=": _compare(lambda a, b: a <= b),
    ">=": _compare(lambda a, b: a >= b),
    "==": _compare(lambda a, b: a == b),
    "!=": _compare(lambda a, b: a != b),
    "&": _as_unsigned(lambda a, b: a & b),
    "|": _as_unsigned(lambda a, b: a | b),
    "^": _as_unsigned(lambda a, b: a ^ b),
    "&&": lambda a, b: signed(a.value != 0 and b.value != 0),
    "||": lambda a, b: signed(a.value != 0 or b.value != 0),
}
_FLOATING: dict[str, Callable[[float, float], Constant]] = {
    "+": lambda a, b: double(a + b),
    "-": lambda a, b: double(a - b),
    "*": lambda a, b: double(a * b),
    "/": _float_divide,
    "<": lambda a, b: signed(a < b),
    ">": lambda a, b: signed(a > b),
    "<=": lambda a, b: signed(a <= b),
    ">=": lambda a, b: signed(a >= b),
    "==": lambda a, b: signed(a == b),
    "!=": lambda a, b: signed(a != b),
}


# ---------------------------------------------------------------- literals


def integer_literal(text: str, span: Span) -> Integer:
    """A literal of section 4.5.1; the lexer has checked its digits."""
    digits = text.removesuffix("U")
    base = {"0x": 16, "0b": 2}.get(digits[:2].lower(), 8 if digits[0] == "0" else 10)
    if len(digits) > 80:
        raise ConstantProblem("an integer constant has at most 64 bits")
    value = int(digits[2:] if base in (16, 2) else digits, base)
    if value >= _TOP:
        raise ConstantProblem("an integer constant has at most 64 bits")
    return Integer(value, text.endswith("U") or value >= _TOP // 2, span)


def float_literal(text: str, span: Span) -> Float:
    """A decimal literal (section 4.5.2) as the nearest double."""
    value = float(text)
    if math.isinf(value):
        raise ConstantProblem("a floating-point constant must fit into a double")
    return replace(double(value), span=span)


def bits_literal(text: str, span: Span) -> Float:
    """`0f` with 8 or `0d` with 16 hexadecimal digits."""
    return Float(int(text[2:], 16), 32 if text[1] in "fF" else 64, span)


# ---------------------------------------------------------------- expressions (table 4)


def starts(c: Cursor) -> bool:
    """Whether the current token can start a constant expression."""
    return c.kind in STARTS or (c.kind == "name" and c.value == "WARP_SZ")


def expression(c: Cursor) -> Constant:
    """A constant expression at the cursor, evaluated. Raises SyntaxProblem."""
    start = c.start
    result = _conditional(c)
    return replace(result, span=c.since(start))


def series(c: Cursor) -> list[Constant]:
    """Takes the numbers at the cursor that have a comma each: tables have them by the hundred thousand.

    It ends before a number that is no constant, where `expression` tells why.
    """
    found: list[Constant] = []
    end = 0
    with suppress(ConstantProblem):
        for kind, span, after in c.items():
            found.append(_LITERALS[kind](c.text[span.start : span.end], span))
            end = after
    if found:
        c.seek(end)
    return found


def integer(c: Cursor, what: str = "an integer constant") -> int:
    """The value of an integer constant expression."""
    if not starts(c):
        raise c.unexpected(what)
    result = expression(c)
    if isinstance(result, Float):
        raise SyntaxProblem(f"unexpected floating-point value, expected {what}", result.span)
    return result.value


def offset(c: Cursor) -> int:
    """The sum `+ 4 - 2 ...` after a register or variable: an expression whose first term is missing."""
    start = c.start
    result = _binary(c, Integer(0), _PRECEDENCE["+"])
    if isinstance(result, Float):
        raise SyntaxProblem("unexpected floating-point value, expected an integer offset", c.since(start))
    return result.value


def _conditional(c: Cursor) -> Constant:
    with c.nested():
        condition = _binary(c, _unary(c), 1)
        if c.kind != "?":
            return condition
        mark = c.span
        c.advance()
        first = _conditional(c)
        c.expect(":")
        second = _conditional(c)
        return _checked(mark, lambda: conditional(condition, first, second))


def _binary(c: Cursor, left: Constant, level: int) -> Constant:
    """Precedence climbing: takes every operator at least as tight as `level`."""
    while True:
        symbol = _operator(c)
        precedence = _PRECEDENCE.get(symbol, 0)
        if precedence < level:
            return left
        mark = c.span
        c.seek(c.start + len(symbol))
        right = _binary(c, _unary(c), precedence + 1)
        left = _checked(mark, partial(binary, symbol, left, right))


def _operator(c: Cursor) -> str:
    """The operator at the cursor. In `7%4` the lexer sees the name `%4`: here it can only be `%`."""
    return "%" if c.kind == "name" and c.text[c.start] == "%" else c.kind


def _unary(c: Cursor) -> Constant:
    mark = c.span
    if c.kind in ("+", "-", "!", "~"):
        symbol = c.kind
        c.advance()
        with c.nested():
            a = _unary(c)
        return _checked(mark, lambda: unary(symbol, a))
    if c.kind == "(":
        return _parenthesis(c)
    return _literal(c)


def _parenthesis(c: Cursor) -> Constant:
    """`(expression)`, or a cast with its operand."""
    mark = c.span
    c.advance()
    if c.kind == "word":
        cast = c.value
        if cast not in (".s64", ".u64"):
            raise c.unexpected("'.s64' or '.u64': constants have no other casts")
        c.advance()
        c.expect(")")
        with c.nested():
            a = _unary(c)
        return _checked(mark, lambda: unary(cast, a))
    inner = _conditional(c)
    c.expect(")")
    return inner


_LITERALS: dict[str, Callable[[str, Span], Constant]] = {
    "integer": integer_literal,
    "float": float_literal,
    "bits": bits_literal,
}


def whole_number(c: Cursor, expected: str) -> int:
    """An integer literal or `WARP_SZ`, where no expression may stand."""
    if c.kind != "integer" and c.value != "WARP_SZ":
        raise c.unexpected(expected)
    found = _literal(c)
    assert isinstance(found, Integer)
    return found.value


def _literal(c: Cursor) -> Constant:
    text, mark = c.value, c.span
    if c.kind == "name" and text == "WARP_SZ":
        c.advance()
        return Integer(WARP_SIZE)
    read = _LITERALS.get(c.kind)
    if read is None:
        raise c.unexpected("a constant")
    c.advance()
    return _checked(mark, lambda: read(text, mark))


def _checked(mark: Span, compute: Callable[[], Constant]) -> Constant:
    try:
        return compute()
    except ConstantProblem as problem:
        raise SyntaxProblem(f"bad constant: {problem}", mark) from None
