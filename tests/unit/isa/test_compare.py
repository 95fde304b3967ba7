"""Meanings of the comparison chapter: tables 13 to 16 and 55 to 58."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

import numpy as np
import pytest

from simt.isa.catalogue import FORMS
from simt.isa.compare import COMPARISONS, operators
from simt.ptx.types import TYPES, Type
from tests.property import oracle
from tests.unit.isa.columns import as_column, float_bits, flushed
from tests.unit.isa.meaning import Array, run

TYPE_NAMES = ("b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64", "f16", "bf16")
RELATIONS: dict[str, Callable[[object, object], bool]] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt,
    "ge": operator.ge, "lo": operator.lt, "ls": operator.le, "hi": operator.gt, "hs": operator.ge,
}  # fmt: skip


def number(t: Type, bits: int) -> float | int:
    """The value of bits; f64 and narrower floats are exact as Python floats."""
    if not t.is_float:
        return oracle.number(t, bits)
    f = oracle.float_format(t)
    if f.is_nan(bits):
        return math.nan
    if f.is_infinite(bits):
        return -math.inf if f.negative(bits) else math.inf
    return float(f.value(bits))


def holds(op: str, a: float, b: float) -> bool:
    unordered = math.isnan(a) or math.isnan(b) if isinstance(a, float) else False
    if op in ("num", "nan"):
        return unordered == (op == "nan")
    if op not in RELATIONS:
        return unordered or RELATIONS[op[:-1]](a, b)
    return not unordered and RELATIONS[op](a, b)


def operands(t: Type) -> tuple[Array, Array]:
    if t.is_float:
        a, b = float_bits(t, 2, 60)
    else:
        random = np.random.default_rng(t.bits)
        edges = np.array([0, 1, (1 << t.bits) - 1, 1 << (t.bits - 1), (1 << (t.bits - 1)) - 1], np.uint64)
        values = np.concatenate(
            [np.repeat(edges, 5), random.integers(0, 1 << min(t.bits, 62), 40).astype(np.uint64)]
        )
        a, b = (random.permutation(values).astype(f"u{t.bytes}") for _ in range(2))
    b[::4] = a[::4]
    return a, b


@pytest.mark.parametrize("name", TYPE_NAMES)
def test_every_operator(name: str) -> None:
    t = TYPES[name]
    a, b = operands(t)
    x, y = as_column(t, a), as_column(t, b)
    rows = [(number(t, int(v)), number(t, int(w))) for v, w in zip(a, b)]
    for op in COMPARISONS.split():
        if op not in operators(t):
            continue
        result = run(f"setp.{op}.{name}", x, y)
        p = result[0] if isinstance(result, tuple) else result
        assert [bool(v) for v in p] == [holds(op, v, w) for v, w in rows], op
        if isinstance(result, tuple):
            assert np.array_equal(result[1], ~p)


@pytest.mark.parametrize("boolop", ["and", "or", "xor"])
def test_combination_with_a_predicate(boolop: str) -> None:
    combine = {"and": operator.and_, "or": operator.or_, "xor": operator.xor}[boolop]
    a, b = operands(TYPES["s32"])
    c = np.arange(len(a)) % 2 == 0
    less = a.view(np.int32) < b.view(np.int32)
    p, q = run(f"setp.lt.{boolop}.s32", a, b, c)
    assert np.array_equal(p, combine(less, c))
    assert np.array_equal(q, combine(~less, c))
    wanted = np.where(combine(less, c), 0xFFFFFFFF, 0)
    assert np.array_equal(run(f"set.lt.{boolop}.u32.s32", a, b, c), wanted)


@pytest.mark.parametrize(("dtype", "one"), [("u32", 0xFFFFFFFF), ("s32", 0xFFFFFFFF), ("f32", 0x3F800000)])
@pytest.mark.parametrize("source", ["u16", "s64", "f32", "f64"])
def test_set_writes_ones(dtype: str, one: int, source: str) -> None:
    t = TYPES[source]
    a, b = operands(t)
    result = run(f"set.le.{dtype}.{source}", as_column(t, a), as_column(t, b)).view(np.uint32)
    wanted = [one if holds("le", number(t, int(v)), number(t, int(w))) else 0 for v, w in zip(a, b)]
    assert [int(v) for v in result] == wanted


def test_flushing_of_operands() -> None:
    t = TYPES["f32"]
    a, b = operands(t)
    rows = [(number(t, flushed(t, int(v))), number(t, flushed(t, int(w)))) for v, w in zip(a, b)]
    p, _ = run("setp.gt.ftz.f32", as_column(t, a), as_column(t, b))
    assert [bool(v) for v in p] == [v > w for v, w in rows]
    c = run("slct.ftz.u32.f32", np.full(len(a), 1, np.uint32), np.full(len(a), 2, np.uint32), as_column(t, a))
    assert [int(v) for v in c] == [1 if v >= 0 else 2 for v, _ in rows]


def test_selection() -> None:
    a, b = operands(TYPES["b64"])
    p = np.arange(len(a)) % 3 == 0
    assert np.array_equal(run("selp.b64", a, b, p), np.where(p, a, b))
    sign = np.arange(len(a)).astype(np.int32) - 5
    assert np.array_equal(run("slct.b64.s32", a, b, sign.view(np.uint32)), np.where(sign >= 0, a, b))


def test_selection_by_a_number() -> None:
    a, b = np.array([1, 1, 1, 1], np.uint16), np.array([2, 2, 2, 2], np.uint16)
    c = np.array([-0.0, np.nan, -1e-40, 3], np.float32)
    assert run("slct.u16.f32", a, b, c).tolist() == [1, 2, 2, 1]


def test_pairs_compare_half_by_half() -> None:
    low, high = np.array([1.0, 2.0], np.float16), np.array([5.0, np.nan], np.float16)
    a = low.view(np.uint16) | high.view(np.uint16).astype(np.uint32) << np.uint32(16)
    b = np.array([0x40004000, 0x40004000], np.uint32)  # 2.0 twice
    p, q = run("setp.lt.f16x2", a, b)
    assert (p.tolist(), q.tolist()) == ([True, False], [False, False])
    assert run("set.geu.u32.f16x2", a, b).tolist() == [0xFFFF0000, 0xFFFFFFFF]
    assert run("set.geu.f16x2.f16x2", a, b).tolist() == [0x3C000000, 0x3C003C00]


def test_the_operators_of_a_type_are_those_of_the_tables() -> None:
    assert operators(TYPES["b32"]) == {"eq", "ne"}
    assert operators(TYPES["s32"]) == {"eq", "ne", "lt", "le", "gt", "ge"}
    assert operators(TYPES["u32"]) == operators(TYPES["s32"]) | {"lo", "ls", "hi", "hs"}
    assert len(operators(TYPES["f32"])) == 14
    assert all("cmp" in {s.name for s in f.slots} for f in FORMS["setp"])
