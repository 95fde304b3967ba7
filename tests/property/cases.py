"""Every pure primitive for every type and rounding it takes, with what it must give."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import product
from typing import Any

from simt.ptx.types import BF16, F16, F32, F64, PRED, S32, TYPES, U16, U32, Type, unsigned
from tests.property import oracle

INTEGERS = tuple(t for t in TYPES.values() if t.is_integer)
UNSIGNED = tuple(t for t in INTEGERS if not t.is_signed)
FLOATS = (F16, BF16, F32, F64)
NATIVE = (F32, F64)
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


@dataclass(frozen=True)
class Case:
    """`run(m, *values)` on an algebra must give `expected(*bits)`; None stands for NaN."""

    name: str
    inputs: tuple[Type, ...]
    output: Type
    run: Callable[..., Any]
    expected: Callable[..., int | None]


def simple(
    name: str, inputs: tuple[Type, ...], output: Type, t: Type, expected: Callable[..., int | None]
) -> Case:
    """A primitive called as `m.name(t, *values)`."""

    def run(m: Any, *values: Any) -> Any:
        return getattr(m, name)(t, *values)

    return Case(f"{name.rstrip('_')}.{t.name}", inputs, output, run, expected)


def _lookup(t: Type, count: int, size: int) -> Case:
    """In so many tables at once, of every size for which an engine has a way of its own."""
    tables = [tuple((i * 0x9E3779B1 + 77 * n + size) % 2**t.bits for i in range(size)) for n in range(count)]

    def run(m: Any, index: Any) -> Any:
        first, *others = m.lookup(t, index, *tables)
        return reduce(lambda a, b: m.sub(t, m.add(t, a, a), b), others, first)

    def expected(index: int) -> int:
        first, *others = (table[index % size] for table in tables)
        return reduce(lambda a, b: (2 * a - b) % 2**t.bits, others, first)

    return Case(f"lookup.{t.name}.{count}.{size}", (t,), t, run, expected)


def _by_halves() -> Case:
    def of_halves(m: Any, a: tuple[Any, Any], b: tuple[Any, Any]) -> Any:
        return m.add(U16, m.mul(U16, a[0], b[1]), m.select(U16, m.compare("lt", U16, a[1], b[0]), a[1], b[1]))

    def run(m: Any, a: Any, b: Any) -> Any:
        return m.shift_right(U32, m.by_halves(of_halves, a, b), m.const(U32, 16))

    def expected(a: int, b: int) -> int:
        return ((a & 0xFFFF) * (b >> 16) + (a >> 16 if a >> 16 < b & 0xFFFF else b >> 16)) & 0xFFFF

    return Case("by_halves", (U32, U32), U32, run, expected)


def bit_cases() -> Iterator[Case]:
    for t in (*UNSIGNED, PRED):
        ones = 2**t.bits - 1
        yield simple("and_", (t, t), t, t, lambda a, b: a & b)
        yield simple("or_", (t, t), t, t, lambda a, b: a | b)
        yield simple("xor", (t, t), t, t, lambda a, b: a ^ b)
        yield simple("invert", (t,), t, t, lambda a, ones=ones: a ^ ones)
        yield simple("select", (PRED, t, t), t, t, lambda p, a, b: a if p else b)
    for t in FLOATS:
        yield simple("select", (PRED, t, t), t, t, lambda p, a, b: a if p else b)
        yield simple("to_bits", (t,), unsigned(t.bits), t, lambda a: a)
        yield simple("from_bits", (unsigned(t.bits),), t, t, lambda a: a)
    for t in INTEGERS:
        yield simple("shift_left", (t, U32), t, t, lambda a, n, t=t: oracle.shift_left(t, a, n))
        yield simple("shift_right", (t, U32), t, t, lambda a, n, t=t: oracle.shift_right(t, a, n))
    for t in UNSIGNED:
        yield simple("popcount", (t,), U32, t, int.bit_count)
        yield simple("leading_zeros", (t,), U32, t, lambda a, t=t: oracle.leading_zeros(t, a))
        yield simple("reverse_bits", (t,), t, t, lambda a, t=t: oracle.reverse_bits(t, a))
    for t, count, bits in (*product((U16, U32), (1, 3), (0, 6, 7)), (U32, 2, 4), (U32, 1, 8), (U16, 4, 5)):
        yield _lookup(t, count, 1 << bits)
    yield _by_halves()


def rare_cases() -> Iterator[Case]:
    for t in UNSIGNED:
        yield Case(
            f"rarely.{t.name}",
            (PRED, t, t, t),
            t,
            lambda m, p, a, b, c, t=t: m.rarely(t, p, a, lambda m, x, y: m.sub(t, x, y), b, c),
            lambda p, a, b, c, t=t: (b - c) % 2**t.bits if p else a,
        )


def constant_shift_cases() -> Iterator[Case]:
    """Shifts by constants are folded by one engine."""
    for t in INTEGERS:
        for n in (0, 1, t.bits - 1, t.bits, t.bits + 1, 2**32 - 1):
            for name, expected in (("shift_left", oracle.shift_left), ("shift_right", oracle.shift_right)):
                yield Case(
                    f"{name}.{t.name} by {n}",
                    (t,),
                    t,
                    lambda m, a, name=name, t=t, n=n: getattr(m, name)(t, a, m.const(U32, n)),
                    lambda a, t=t, n=n, expected=expected: expected(t, a, n),
                )


def integer_cases() -> Iterator[Case]:
    for t in INTEGERS:
        modulus = 2**t.bits
        yield simple("add", (t, t), t, t, lambda a, b, n=modulus: (a + b) % n)
        yield simple("sub", (t, t), t, t, lambda a, b, n=modulus: (a - b) % n)
        yield simple("mul", (t, t), t, t, lambda a, b, n=modulus: a * b % n)
        yield simple("divide", (t, t), t, t, lambda a, b, t=t: oracle.divide(t, a, b))
        yield simple("remainder", (t, t), t, t, lambda a, b, t=t: oracle.remainder(t, a, b))
        yield simple("minimum", (t, t), t, t, lambda a, b, t=t: min(a, b, key=lambda x: oracle.number(t, x)))
        yield simple("maximum", (t, t), t, t, lambda a, b, t=t: max(a, b, key=lambda x: oracle.number(t, x)))
        if t.bits >= 16:
            yield simple("mul_high", (t, t), t, t, lambda a, b, t=t: oracle.mul_high(t, a, b))
        if t.bits == 64:
            yield simple("divide_short", (t, t), t, t, lambda a, b, t=t: oracle.short(oracle.divide, t, a, b))
            yield simple(
                "remainder_short", (t, t), t, t, lambda a, b, t=t: oracle.short(oracle.remainder, t, a, b)
            )
        for target in INTEGERS:
            yield converting("resize", t, target, oracle.resize)


def comparison_cases() -> Iterator[Case]:
    for op in COMPARISONS:
        for t in (*INTEGERS, *FLOATS, *((PRED,) if op in ("eq", "ne") else ())):
            yield Case(
                f"compare.{op}.{t.name}",
                (t, t),
                PRED,
                lambda m, a, b, op=op, t=t: m.compare(op, t, a, b),
                lambda a, b, op=op, t=t: oracle.compare(op, t, a, b),
            )


def converting(
    name: str, source: Type, target: Type, expected: Callable[..., int | None], *rounding: str
) -> Case:
    """A primitive called as `m.name(source, target, value[, rounding])`."""
    return Case(
        ".".join((name, *rounding, target.name, source.name)),
        (source,),
        target,
        lambda m, a: getattr(m, name)(source, target, a, *rounding),
        lambda a: expected(source, target, a, *rounding),
    )


def rounded(name: str, t: Type, arity: int, rounding: str, expected: Callable[..., int | None]) -> Case:
    """A primitive called as `m.name(t, *values, rounding)`."""
    return Case(
        f"{name}.{rounding}.{t.name}",
        (t,) * arity,
        t,
        lambda m, *values: getattr(m, name)(t, *values, rounding),
        lambda *bits: expected(t, *bits, rounding),
    )


def arithmetic_cases() -> Iterator[Case]:
    operations = (
        ("fadd", 2, oracle.fadd), ("fsub", 2, oracle.fsub), ("fmul", 2, oracle.fmul),
        ("fdiv", 2, oracle.fdiv), ("fma", 3, oracle.fma), ("fsqrt", 1, oracle.fsqrt),
        ("round_integral", 1, oracle.round_integral),
    )  # fmt: skip
    for name, arity, expected in operations:
        for t in FLOATS:
            for rounding in oracle.ROUNDINGS:
                yield rounded(name, t, arity, rounding, expected)


def other_float_cases() -> Iterator[Case]:
    for t in FLOATS:
        yield simple("is_nan", (t,), PRED, t, lambda a, t=t: oracle.is_nan(t, a))
        yield simple("fmin", (t, t), t, t, lambda a, b, t=t: oracle.fmin(t, a, b))
        yield simple("fmax", (t, t), t, t, lambda a, b, t=t: oracle.fmax(t, a, b))
    for t in NATIVE:
        yield simple("flush", (t,), t, t, lambda a, t=t: oracle.flush(t, a))
    yield Case("whole", (F32,), S32, _whole_within, _whole)


LARGE = 0x4F000000
"""2^31."""


def _whole_within(m: Any, a: Any) -> Any:
    """Where it is open, of zero."""
    above, below = m.const(F32, LARGE | 1 << 31), m.const(F32, LARGE)
    low, high = m.compare("gt", F32, a, above), m.compare("lt", F32, a, below)
    return m.whole(m.select(F32, m.and_(PRED, low, high), a, m.const(F32, 0)))


def _whole(a: int) -> int:
    return oracle.float_to_int(F32, S32, a, "rz") if a & 0x7FFFFFFF < LARGE else 0


def conversion_cases() -> Iterator[Case]:
    for rounding in oracle.ROUNDINGS:
        for source in FLOATS:
            for target in FLOATS:
                yield converting("float_to_float", source, target, oracle.float_to_float, rounding)
            for target in INTEGERS:
                yield converting("float_to_int", source, target, oracle.float_to_int, rounding)
                yield converting("int_to_float", target, source, oracle.int_to_float, rounding)
