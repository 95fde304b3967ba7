"""Meanings of the integer and logic chapters against Python's integers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from simt.ptx.types import TYPES, Type
from tests.unit.isa.meaning import Array, run

Reference = Callable[..., int]
SPECIAL = (0, 1, 2, 3, 7, 0x55, 0x7F, 0x80, 0xFF)


def columns(t: Type, count: int, size: int = 400, seed: int = 5) -> list[Array]:
    """Columns of a type's width with special and random values, large ones and small ones."""
    random = np.random.default_rng(seed)
    top = 1 << t.bits
    edges = [v % top for s in SPECIAL for v in (s, -s, top // 2 + s, top // 2 - s)]
    drawn = [
        int.from_bytes(random.bytes(8), "little") % top >> int(random.integers(t.bits)) for _ in range(size)
    ]
    values = np.array([*edges, *drawn], np.uint64)
    return [random.permutation(values).astype(f"u{t.bytes}") for _ in range(count)]


def value(t: Type, bits: int) -> int:
    """What the bits of an integer mean."""
    return bits - (1 << t.bits) if t.is_signed and bits >> (t.bits - 1) else bits


def truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def clamp(t: Type, a: int) -> int:
    return max(-(1 << (t.bits - 1)), min((1 << (t.bits - 1)) - 1, a))


def quotient(t: Type, a: int, b: int) -> int:
    return truncated(a, b) if b else -1


def remainder(t: Type, a: int, b: int) -> int:
    return a - b * truncated(a, b) if b else -1


def low24(t: Type, a: int) -> int:
    a &= 0xFFFFFF
    return a - (1 << 24) if t.is_signed and a >> 23 else a


INTEGERS = ("u16", "u32", "u64", "s16", "s32", "s64")
BITS = ("b16", "b32", "b64")
REFERENCES: list[tuple[str, tuple[str, ...], Reference]] = [
    ("add", INTEGERS, lambda t, a, b: a + b),
    ("sub", INTEGERS, lambda t, a, b: a - b),
    ("add.sat", ("s32",), lambda t, a, b: clamp(t, a + b)),
    ("sub.sat", ("s32",), lambda t, a, b: clamp(t, a - b)),
    ("mul.lo", INTEGERS, lambda t, a, b: a * b),
    ("mul.hi", INTEGERS, lambda t, a, b: a * b >> t.bits),
    ("mad.lo", INTEGERS, lambda t, a, b, c: a * b + c),
    ("mad.hi", INTEGERS, lambda t, a, b, c: (a * b >> t.bits) + c),
    ("mad.hi.sat", ("s32",), lambda t, a, b, c: clamp(t, (a * b >> 32) + c)),
    ("mul24.lo", ("u32", "s32"), lambda t, a, b: low24(t, a) * low24(t, b)),
    ("mul24.hi", ("u32", "s32"), lambda t, a, b: low24(t, a) * low24(t, b) >> 16),
    ("mad24.lo", ("u32", "s32"), lambda t, a, b, c: low24(t, a) * low24(t, b) + c),
    ("mad24.hi", ("u32", "s32"), lambda t, a, b, c: (low24(t, a) * low24(t, b) >> 16) + c),
    (
        "mad24.hi.sat",
        ("s32",),
        lambda t, a, b, c: clamp(t, value(t, (low24(t, a) * low24(t, b) >> 16) % 2**32) + c),
    ),
    ("sad", INTEGERS, lambda t, a, b, c: c + abs(a - b)),
    ("div", INTEGERS, quotient),
    ("rem", INTEGERS, remainder),
    ("abs", ("s16", "s32", "s64"), lambda t, a: abs(a)),
    ("neg", ("s16", "s32", "s64"), lambda t, a: -a),
    ("min", INTEGERS, lambda t, a, b: min(a, b)),
    ("max", INTEGERS, lambda t, a, b: max(a, b)),
    ("min.relu", ("s32",), lambda t, a, b: max(0, min(a, b))),
    ("max.relu", ("s32",), lambda t, a, b: max(0, a, b)),
    ("brev", ("b32", "b64"), lambda t, a: int(f"{a:0{t.bits}b}"[::-1], 2)),
    ("and", BITS, lambda t, a, b: a & b),
    ("or", BITS, lambda t, a, b: a | b),
    ("xor", BITS, lambda t, a, b: a ^ b),
    ("not", BITS, lambda t, a: ~a),
    ("cnot", BITS, lambda t, a: int(a == 0)),
]


@pytest.mark.parametrize(("opcode", "types", "reference"), REFERENCES, ids=[r[0] for r in REFERENCES])
def test_values(opcode: str, types: tuple[str, ...], reference: Reference) -> None:
    for t in (TYPES[name] for name in types):
        operands = columns(t, reference.__code__.co_argcount - 1)
        result = run(f"{opcode}.{t.name}", *operands)
        wanted = [reference(t, *(value(t, int(v)) for v in row)) % 2**t.bits for row in zip(*operands)]
        assert [int(v) for v in result] == wanted, f"{opcode}.{t.name}"


@pytest.mark.parametrize("name", ["u16", "s16", "u32", "s32"])
def test_wide_products(name: str) -> None:
    t, w = TYPES[name], TYPES[name[0] + str(2 * int(name[1:]))]
    (a, b), (c,) = columns(t, 2), columns(w, 1)
    c = c[: len(a)]
    rows = [(value(t, int(x)), value(t, int(y)), int(z)) for x, y, z in zip(a, b, c)]
    assert [int(v) for v in run(f"mul.wide.{name}", a, b)] == [x * y % 2**w.bits for x, y, _ in rows]
    assert [int(v) for v in run(f"mad.wide.{name}", a, b, c)] == [(x * y + z) % 2**w.bits for x, y, z in rows]


# ---------------------------------------------------------------- carries


@pytest.mark.parametrize("name", ["u32", "s32", "u64", "s64"])
def test_carries(name: str) -> None:
    t = TYPES[name]
    a, b, c = columns(t, 3)
    top = 1 << t.bits
    carry = np.arange(len(a)) % 2 == 1
    rows = [(int(x), int(y), int(z), int(f)) for x, y, z, f in zip(a, b, c, carry)]
    cases: list[tuple[str, list[Array], list[int]]] = [
        ("add.cc", [a, b], [x + y for x, y, _, _ in rows]),
        ("addc.cc", [a, b], [x + y + f for x, y, _, f in rows]),
        ("sub.cc", [a, b], [x - y for x, y, _, _ in rows]),
        ("subc.cc", [a, b], [x - y - (not f) for x, y, _, f in rows]),
        ("mad.lo.cc", [a, b, c], [x * y % top + z for x, y, z, _ in rows]),
        ("madc.lo.cc", [a, b, c], [x * y % top + z + f for x, y, z, f in rows]),
    ]
    for opcode, operands, wanted in cases:
        result, out = run(f"{opcode}.{name}", *operands, carry=carry)
        assert [int(v) for v in result] == [w % top for w in wanted], opcode
        carries = [w >= 0 for w in wanted] if opcode.startswith("sub") else [w >= top for w in wanted]
        assert [bool(v) for v in out] == carries, opcode
    for opcode in ("addc", "subc", "madc.lo"):
        operands = [a, b, c] if opcode == "madc.lo" else [a, b]
        assert np.array_equal(
            run(f"{opcode}.{name}", *operands, carry=carry),
            run(f"{opcode}.cc.{name}", *operands, carry=carry)[0],
        )


@pytest.mark.parametrize("signed", [False, True])
def test_carry_of_high_products(signed: bool) -> None:
    t = TYPES["s32" if signed else "u32"]
    a, b, c = columns(t, 3)
    result, out = run(f"mad.hi.cc.{t.name}", a, b, c)
    totals = [(value(t, int(x)) * value(t, int(y)) >> 32) % 2**32 + int(z) for x, y, z in zip(a, b, c)]
    assert [int(v) for v in result] == [v % 2**32 for v in totals]
    assert [bool(v) for v in out] == [v >= 2**32 for v in totals]


# ---------------------------------------------------------------- shifts and bit fields


def amounts(size: int, seed: int = 9) -> Array:
    random = np.random.default_rng(seed)
    values = random.integers(0, 70, size).astype(np.uint32)
    values[::17] = random.integers(0, 2**32, len(values[::17])).astype(np.uint32)
    return values


@pytest.mark.parametrize("name", ["b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64"])
def test_shifts(name: str) -> None:
    t = TYPES[name]
    (a,) = columns(t, 1)
    n = amounts(len(a))
    rows = [(value(t, int(x)), min(int(y), t.bits)) for x, y in zip(a, n)]
    assert [int(v) for v in run(f"shr.{name}", a, n)] == [(x >> y) % 2**t.bits for x, y in rows]
    if name.startswith("b"):
        assert [int(v) for v in run(f"shl.{name}", a, n)] == [(x << y) % 2**t.bits for x, y in rows]


@pytest.mark.parametrize("mode", ["clamp", "wrap"])
def test_funnel_shifts(mode: str) -> None:
    a, b = columns(TYPES["b32"], 2)
    n = amounts(len(a))
    rows = [
        (int(y) << 32 | int(x), min(int(s), 32) if mode == "clamp" else int(s) % 32)
        for x, y, s in zip(a, b, n)
    ]
    assert [int(v) for v in run(f"shf.l.{mode}.b32", a, b, n)] == [(x << s >> 32) % 2**32 for x, s in rows]
    assert [int(v) for v in run(f"shf.r.{mode}.b32", a, b, n)] == [(x >> s) % 2**32 for x, s in rows]


def extracted(t: Type, a: int, b: int, c: int) -> int:
    """The field bit by bit, as the manual's loop gives it."""
    if t.bits == 32:
        b, c = b & 0xFF, c & 0xFF
    position, length, top = b, c, t.bits - 1
    sign = 0 if not t.is_signed or not length else a >> min(position + length - 1, top) & 1
    bits = [a >> (position + i) & 1 if i < length and position + i <= top else sign for i in range(t.bits)]
    return sum(bit << i for i, bit in enumerate(bits))


def inserted(t: Type, a: int, b: int, c: int, d: int) -> int:
    position, length = (c & 0xFF, d & 0xFF) if t.bits == 32 else (c, d)
    for i in range(min(length, t.bits)):
        if position + i < t.bits:
            b = b & ~(1 << (position + i)) | (a >> i & 1) << (position + i)
    return b


@pytest.mark.parametrize("name", ["u32", "s32", "u64", "s64"])
def test_bit_field_extract(name: str) -> None:
    t = TYPES[name]
    (a,) = columns(t, 1)
    b, c = amounts(len(a), 1), amounts(len(a), 2)
    wanted = [extracted(t, int(x), int(y), int(z)) for x, y, z in zip(a, b, c)]
    assert [int(v) for v in run(f"bfe.{name}", a, b, c)] == wanted


@pytest.mark.parametrize("name", ["b32", "b64"])
def test_bit_field_insert(name: str) -> None:
    t = TYPES[name]
    a, b = columns(t, 2)
    c, d = amounts(len(a), 1), amounts(len(a), 2)
    wanted = [inserted(t, *(int(v) for v in row)) for row in zip(a, b, c, d)]
    assert [int(v) for v in run(f"bfi.{name}", a, b, c, d)] == wanted


@pytest.mark.parametrize("name", ["u32", "u64", "s32", "s64"])
def test_find_the_highest_bit(name: str) -> None:
    t = TYPES[name]
    (a,) = columns(t, 1)
    numbers = [value(t, int(v)) for v in a]
    places = [(~v if v < 0 else v).bit_length() - 1 for v in numbers]
    assert [int(v) for v in run(f"bfind.{name}", a)] == [p % 2**32 for p in places]
    shifts = [t.bits - 1 - p if p >= 0 else 2**32 - 1 for p in places]
    assert [int(v) for v in run(f"bfind.shiftamt.{name}", a)] == shifts


@pytest.mark.parametrize("name", ["b32", "b64"])
def test_counts(name: str) -> None:
    (a,) = columns(TYPES[name], 1)
    assert [int(v) for v in run(f"popc.{name}", a)] == [int(v).bit_count() for v in a]
    assert [int(v) for v in run(f"clz.{name}", a)] == [TYPES[name].bits - int(v).bit_length() for v in a]


def nth_set(mask: int, base: int, offset: int) -> int:
    if base > 31:
        return 2**32 - 1
    step = -1 if offset < 0 else 1
    left = max(abs(offset), 1)
    for place in range(base, 32 if step > 0 else -1, step) if offset else [base]:
        left -= mask >> place & 1
        if not left:
            return place
    return 2**32 - 1


def test_find_the_nth_set_bit() -> None:
    (a,) = columns(TYPES["b32"], 1)
    random = np.random.default_rng(4)
    b = random.integers(0, 36, len(a)).astype(np.uint32)
    c = random.integers(-6, 7, len(a)).astype(np.int32)
    wanted = [nth_set(int(x), int(y), int(z)) for x, y, z in zip(a, b, c)]
    assert [int(v) for v in run("fns.b32", a, b, c.view(np.uint32))] == wanted


@pytest.mark.parametrize("name", ["u32", "s32"])
@pytest.mark.parametrize("mode", ["clamp", "wrap"])
def test_extension_from_any_bit(name: str, mode: str) -> None:
    (a,) = columns(TYPES[name], 1)
    b = amounts(len(a))
    widths = [min(int(v), 32) if mode == "clamp" else int(v) % 32 for v in b]
    wanted = [extracted(TYPES[name], int(x), 0, w) for x, w in zip(a, widths)]
    assert [int(v) for v in run(f"szext.{mode}.{name}", a, b)] == wanted


@pytest.mark.parametrize("mode", ["clamp", "wrap"])
def test_masks(mode: str) -> None:
    a, b = amounts(500, 1), amounts(500, 2)
    pairs = [[min(int(v), 32) if mode == "clamp" else int(v) % 32 for v in pair] for pair in zip(a, b)]
    wanted = [((1 << n) - 1 << p) % 2**32 for p, n in pairs]
    assert [int(v) for v in run(f"bmsk.{mode}.b32", a, b)] == wanted


# ---------------------------------------------------------------- bytes


def chosen_bytes(a: int, b: int, places: list[int]) -> int:
    data = a.to_bytes(4, "little") + b.to_bytes(4, "little")
    picked = [(0xFF if data[p & 7] >> 7 else 0) if p & 8 else data[p & 7] for p in places]
    return int.from_bytes(bytes(picked), "little")


SCHEMES = {
    "f4e": ["3210", "4321", "5432", "6543"],
    "b4e": ["5670", "6701", "7012", "0123"],
    "rc8": ["0000", "1111", "2222", "3333"],
    "ecl": ["3210", "3211", "3222", "3333"],
    "ecr": ["0000", "1110", "2210", "3210"],
    "rc16": ["1010", "3232", "1010", "3232"],
}
"""Bytes from the highest place to the lowest, for selectors 0 to 3 (table of `prmt` modes)."""


def test_byte_permutation() -> None:
    a, b, c = columns(TYPES["b32"], 3)
    wanted = [
        chosen_bytes(int(x), int(y), [int(z) >> 4 * i & 15 for i in range(4)]) for x, y, z in zip(a, b, c)
    ]
    assert [int(v) for v in run("prmt.b32", a, b, c)] == wanted


@pytest.mark.parametrize("scheme", SCHEMES)
def test_byte_permutation_schemes(scheme: str) -> None:
    a, b, c = columns(TYPES["b32"], 3)
    rows = [
        (int(x), int(y), [int(p) for p in reversed(SCHEMES[scheme][int(z) & 3])]) for x, y, z in zip(a, b, c)
    ]
    assert [int(v) for v in run(f"prmt.b32.{scheme}", a, b, c)] == [chosen_bytes(*row) for row in rows]


@pytest.mark.parametrize("table", [0x00, 0xFF, 0x96, 0xE8, 0xCA, 0x1B, 0x40])
def test_any_function_of_three(table: int) -> None:
    a, b, c = columns(TYPES["b32"], 3)
    rows = [(int(x), int(y), int(z)) for x, y, z in zip(a, b, c)]
    wanted = [
        sum((table >> (x >> i & 1) * 4 + (y >> i & 1) * 2 + (z >> i & 1) & 1) << i for i in range(32))
        for x, y, z in rows
    ]
    lut = np.array([table], np.uint32)
    assert [int(v) for v in run("lop3.b32", a, b, c, lut)] == wanted
    q = np.arange(len(a)) % 3 == 0
    value_or, p_or = run("lop3.or.b32", a, b, c, lut, q)
    value_and, p_and = run("lop3.and.b32", a, b, c, lut, q)
    assert [int(v) for v in value_or] == [int(v) for v in value_and] == wanted
    assert [bool(v) for v in p_or] == [w != 0 or bool(x) for w, x in zip(wanted, q)]
    assert [bool(v) for v in p_and] == [w != 0 and bool(x) for w, x in zip(wanted, q)]


def elements(a: int, signed: bool, bits: int) -> list[int]:
    parts = [a >> i & (1 << bits) - 1 for i in range(0, 32, bits)]
    return [p - (1 << bits) if signed and p >> (bits - 1) else p for p in parts]


@pytest.mark.parametrize("left", ["u32", "s32"])
@pytest.mark.parametrize("right", ["u32", "s32"])
def test_dot_products(left: str, right: str) -> None:
    a, b, c = columns(TYPES["b32"], 3)
    rows = [(int(x), elements(int(y), right == "s32", 8), int(z)) for x, y, z in zip(a, b, c)]
    four = [sum(p * q for p, q in zip(elements(x, left == "s32", 8), y)) + z for x, y, z in rows]
    assert [int(v) for v in run(f"dp4a.{left}.{right}", a, b, c)] == [v % 2**32 for v in four]
    for mode, start in (("lo", 0), ("hi", 2)):
        two = [sum(p * q for p, q in zip(elements(x, left == "s32", 16), y[start:])) + z for x, y, z in rows]
        assert [int(v) for v in run(f"dp2a.{mode}.{left}.{right}", a, b, c)] == [v % 2**32 for v in two]
