"""Conditions in loops of which the first lane and the last tell that all lanes go one way. Expectations are
NumPy's, with integers that do not wrap by themselves."""

from __future__ import annotations

import itertools
import re
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import simt
from simt.analysis.shape import BlockShape
from simt.driver.source import compile_ptx
from simt.engine.llvm_kernel import emit
from simt.machine.device import DEVICES
from tests.conftest import shared_device

HEAD = """.version 7.5
.target sm_75
.address_size 64
"""
# Turns of a loop: one count where a condition of two holds, another one where it does not.
COUNTS = (
    HEAD
    + """
.visible .entry k(.param .u64 out, .param .{t} start, .param .{t} low, .param .{t} high, .param .u32 n)
{{
    .reg .pred %p, %q; .reg .{t} %i, %s, %l, %h; .reg .b32 %x, %y, %m, %acc, %turn, %v; .reg .b64 %a, %o;
    ld.param.u64 %a, [out]; ld.param.{t} %s, [start]; ld.param.{t} %l, [low]; ld.param.{t} %h, [high];
    ld.param.u32 %m, [n];
    mov.u32 %x, %tid.x; mov.u32 %y, %tid.y; mov.u32 %v, %ntid.x;
    cvt.{t}.u32 %i, %x;
    mul.lo.{t} %i, %i, {step};
    add.{t} %i, %i, %s;
    mad.lo.u32 %v, %y, %v, %x;
    mul.wide.u32 %o, %v, 4;
    add.u64 %a, %a, %o;
    mov.u32 %acc, 1; mov.u32 %turn, 0;
LOOP:
    {condition}
    @%p bra OTHER;
    mad.lo.u32 %acc, %acc, 3, %turn;
    bra NEXT;
OTHER:
    mad.lo.u32 %acc, %acc, 5, 7;
NEXT:
    add.{t} %i, %i, {on};
    add.u32 %turn, %turn, 1;
    setp.lt.u32 %p, %turn, %m;
    @%p bra LOOP;
    st.global.u32 [%a], %acc;
    ret;
}}
"""
)
TURNS, ON = 7, 9
HOLDS: dict[str, Any] = {
    "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    "eq": np.equal, "ne": np.not_equal,
}  # fmt: skip
BLOCKS = [(64, 1), (16, 3), (24, 2), (33, 1)]
ENDS = {
    "s32": [-(2**31), 2**31 - 1, 0, -40], "u32": [0, 2**32 - 1, 2**31, 77],
    "s64": [-(2**63), 2**63 - 1, 0, 2**31], "u64": [0, 2**64 - 1, 2**63, 2**32],
}  # fmt: skip


def as_type(values: NDArray[Any], t: str) -> NDArray[Any]:
    """Python's integers."""
    bits = int(t[1:])
    low = -(2 ** (bits - 1)) if t[0] == "s" else 0
    return (values - low) % 2**bits + low


def counts(t: str, block: tuple[int, int], step: int, start: int, condition: Any) -> NDArray[Any]:
    """`condition`: of the index and the row of each thread."""
    y, x = np.mgrid[: block[1], : block[0]]
    index, found = as_type(x.astype(object) * step + start, t), np.ones(x.shape, "i8")
    for turn in range(TURNS):
        found = np.where(np.array(condition(index, y), "?"), found * 5 + 7, found * 3 + turn) % 2**32
        index = as_type(index + ON, t)
    return found


@pytest.mark.share(10)
@pytest.mark.parametrize("block", BLOCKS, ids=str)
@pytest.mark.parametrize("step", [1, 3, -1])
@pytest.mark.parametrize("join", ["and", "or"])
@pytest.mark.parametrize(
    ("one", "other"), [("lt", "ge"), ("ge", "lt"), ("le", "gt"), ("gt", "ne"), ("eq", "le")]
)
@pytest.mark.parametrize("t", ENDS)
def test_counts(
    engine: str, t: str, one: str, other: str, join: str, step: int, block: tuple[int, int]
) -> None:
    device = shared_device(engine)
    condition = f"setp.{one}.{t} %q, %i, %l; setp.{other}.{join}.{t} %p, %h, %i, %q;"
    kernel = device.load(COUNTS.format(t=t, step=step, on=ON, condition=condition))["k"]
    out = device.zeros((block[1], block[0]), "u4")
    logic: Any = np.logical_and if join == "and" else np.logical_or
    kind = np.dtype(t.replace("s", "int").replace("u", "uint")).type
    for end, near in itertools.product(ENDS[t], (-50, -31, -3, 0, 20)):
        start, low, high = (int(as_type(np.array(end + d, object), t)) for d in (near, 0, 5))
        kernel(1, block, (out, kind(start), kind(low), kind(high), np.uint32(TURNS)))
        expected = counts(
            t, block, step, start,
            lambda i, y, low=low, high=high: logic(HOLDS[one](i, low), HOLDS[other](high, i)),
        )  # fmt: skip
        np.testing.assert_array_equal(out.numpy(), expected, f"{start} {low} {high}")
    out.free()


# What compilers make of `x + i >= 0 && y + j >= 0`: the sign of both together.
SIGNS = (
    "add.s32 %v, %y, %l; or.b32 %v, %v, %i; setp.{op}.s32 %q, %v, 0; setp.ge.s32 %p, %i, %h; {join} {after}"
)
JOINS = {
    "or": ("or.pred %p, %p, %q;", np.logical_or),
    "and": ("and.pred %p, %p, %q;", np.logical_and),
    "or not": ("not.pred %p, %p; or.pred %p, %q, %p;", lambda p, q: np.logical_or(~p, q)),
    "xor": ("xor.pred %p, %p, %q;", np.logical_xor),
}


@pytest.mark.parametrize("block", BLOCKS, ids=str)
@pytest.mark.parametrize("join", JOINS)
@pytest.mark.parametrize("op", ["lt", "ge"])
def test_signs(engine: str, op: str, join: str, block: tuple[int, int]) -> None:
    device = shared_device(engine)
    text, logic = JOINS[join]
    condition = SIGNS.format(op=op, join=text, after="")
    kernel = device.load(COUNTS.format(t="s32", step=1, on=ON, condition=condition))["k"]
    out = device.zeros((block[1], block[0]), "u4")
    for start, low, high in itertools.product((-70, -33, 0, 2**31 - 60), (-1, -9, 0), (4, 2**31 - 1)):
        kernel(1, block, (out, np.int32(start), np.int32(low), np.int32(high), np.uint32(TURNS)))

        def condition_of(i: Any, y: Any, low: int = low, high: int = high) -> Any:
            return logic(i >= high, HOLDS[op](i | (y + low), 0))

        np.testing.assert_array_equal(
            out.numpy(), counts("s32", block, 1, start, condition_of), f"{start} {low}"
        )
    out.free()


def test_the_column_is_made_where_lanes_do_not_agree() -> None:
    """Before it there is a branch for either way that all lanes can go."""
    source = COUNTS.format(t="s32", step=1, on=ON, condition="setp.lt.s32 %p, %i, %l;")
    program, _ = compile_ptx(source, "<ptx>", DEVICES[90])
    text, _, _ = emit(
        program, program.functions["k"], BlockShape(64, 1, 1), frozenset({"avx512bw"}), "nounwind"
    )
    blocks = {match[1]: match[2] for match in re.finditer(r"^(\S+):\n((?:  .*\n)+)", text, re.M)}
    (column,) = (name for name, body in blocks.items() if "icmp slt <32 x i32>" in body)
    (second,) = (name for name, body in blocks.items() if f"label %{column}," in body)
    (first,) = (name for name, body in blocks.items() if f"label %{second}," in body)
    assert "icmp slt i64" in blocks[first]
    assert "icmp sge i64" in blocks[second]


REACH = (
    HEAD
    + """
.visible .entry k(.param .u64 a, .param .u64 out, .param .s32 n, .param .s32 low)
{
    .reg .pred %p, %q; .reg .b32 %x, %i, %n, %l, %v, %acc, %turn; .reg .b64 %a, %o, %e;
    ld.param.u64 %a, [a]; ld.param.u64 %o, [out]; ld.param.u32 %n, [n]; ld.param.u32 %l, [low];
    mov.u32 %x, %tid.x; mov.u32 %acc, 0; mov.u32 %turn, 0;
    sub.s32 %i, %x, 3;
LOOP:
    setp.lt.s32 %q, %i, %l;
    setp.ge.or.s32 %p, %i, %n, %q;
    @%p bra NEXT;
    mul.wide.s32 %e, %i, 4;
    add.s64 %e, %a, %e;
    ld.global.u32 %v, [%e];
    add.u32 %acc, %acc, %v;
NEXT:
    add.s32 %i, %i, 1;
    add.u32 %turn, %turn, 1;
    setp.lt.u32 %p, %turn, 7;
    @%p bra LOOP;
    mul.wide.u32 %e, %x, 4;
    add.s64 %e, %o, %e;
    st.global.u32 [%e], %acc;
    ret;
}
"""
)


@pytest.mark.parametrize("threads", [32, 33, 64, 70])
@pytest.mark.parametrize("n", [1, 30, 64, 70])
def test_windows_of_neighbours(engine: str, n: int, threads: int) -> None:
    device = shared_device(engine)
    values = np.random.default_rng(n).integers(0, 2**32, n, "u4")
    a, out = device.array(values), device.zeros(threads, "u4")
    device.load(REACH)["k"](1, threads, (a, out, np.int32(n), np.int32(0)))
    wide = np.concatenate([np.zeros(3, "u4"), values, np.zeros(threads + 6, "u4")])
    np.testing.assert_array_equal(out.numpy(), sum(wide[j : j + threads] for j in range(7)))
    a.free()
    out.free()


@pytest.mark.parametrize(
    ("low", "thread", "index"),
    [(-3, 0, -3), (-2, 1, -2), (0, 3, 0), (28, 31, 28), (29, 31, 29), (31, 31, 31)],
)
def test_faults_are_those_of_the_first_lane(engine: str, low: int, thread: int, index: int) -> None:
    device = shared_device(engine)
    kernel, out, nowhere = device.load(REACH)["k"], device.zeros(64, "u4"), 64
    with pytest.raises(simt.MemoryFault) as found:
        kernel(1, 32, (np.uint64(nowhere), out, np.int32(2**20), np.int32(low)))
    assert found.value.site.thread == (thread, 0, 0)
    assert found.value.address == nowhere + 4 * index


# -- conditions within conditions ----------------------------------------------------------------------

Statement = tuple[Any, ...]
"""`("add", number)`, `("if", condition, statements, statements)`, `("next", condition)`: to the next turn,
`("loop", bits, statements)`: one turn more than these bits of the count say."""


def conditions(chance: Random, deep: int = 2) -> Statement:
    kind = chance.choice(["index", "index", "index", "row", "data", "not", "and", "or"][: 8 if deep else 5])
    if kind in ("and", "or"):
        return kind, conditions(chance, deep - 1), conditions(chance, deep - 1)
    if kind == "not":
        return kind, conditions(chance, deep - 1)
    if kind == "data":
        return kind, chance.randrange(8)
    return kind, chance.choice([*HOLDS]), chance.randrange(-10, 90)


def statements(chance: Random, deep: int = 3) -> list[Statement]:
    made: list[Statement] = []
    for _ in range(chance.randrange(1, 4)):
        kind = chance.choice(["add", "if", "if", "if", "next", "loop"]) if deep else "add"
        if kind == "add":
            made.append((kind, chance.randrange(1, 100)))
        elif kind == "next":
            made.append((kind, conditions(chance)))
        elif kind == "loop":
            made.append((kind, chance.choice([0, 1, 3]), statements(chance, deep - 1)))
        else:
            other = statements(chance, deep - 1) if chance.random() < 0.4 else []
            made.append((kind, conditions(chance), statements(chance, deep - 1), other))
    return made


class Writer:
    """PTX of statements: registers `%i` (the thread's index and the turn), `%y` and `%acc`."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.made = 0

    def new(self, head: str) -> str:
        self.made += 1
        return f"{head}{self.made}"

    def condition(self, what: Statement) -> str:
        p = self.new("%p")
        match what:
            case ("and" | "or") as kind, a, b:
                one, other = self.condition(a), self.condition(b)
                self.lines.append(f"{kind}.pred {p}, {one}, {other};")
            case "not", a:
                self.lines.append(f"not.pred {p}, {self.condition(a)};")
            case "data", bit:
                self.lines.append(f"shr.u32 %v, %acc, {bit}; and.b32 %v, %v, 1; setp.eq.u32 {p}, %v, 1;")
            case kind, op, limit:
                self.lines.append(f"setp.{op}.s32 {p}, {'%i' if kind == 'index' else '%y'}, {limit};")
        return p

    def write(self, what: list[Statement]) -> None:
        for statement in what:
            match statement:
                case "add", number:
                    self.lines.append(f"mad.lo.u32 %acc, %acc, 3, {number};")
                case "next", condition:
                    self.lines.append(f"@{self.condition(condition)} bra NEXT;")
                case "loop", bits, inner:
                    p, k, begin = self.new("%p"), self.new("%k"), self.new("TURN")
                    self.lines.append(f"and.b32 {k}, %acc, {bits};\n{begin}:")
                    self.write(inner)
                    self.lines.append(f"sub.s32 {k}, {k}, 1; setp.ge.s32 {p}, {k}, 0; @{p} bra {begin};")
                case _, condition, then, other:
                    over, end = self.new("OVER"), self.new("END")
                    self.lines.append(f"@!{self.condition(condition)} bra {over};")
                    self.write(then)
                    self.lines.append(f"bra {end};\n{over}:")
                    self.write(other)
                    self.lines.append(f"{end}:")


def holds(what: Statement, i: int, y: int, acc: int) -> bool:
    match what:
        case "and", a, b:
            return holds(a, i, y, acc) and holds(b, i, y, acc)
        case "or", a, b:
            return holds(a, i, y, acc) or holds(b, i, y, acc)
        case "not", a:
            return not holds(a, i, y, acc)
        case "data", bit:
            return bool(acc >> bit & 1)
        case kind, op, limit:
            return bool(HOLDS[op](i if kind == "index" else y, limit))
        case _:
            raise AssertionError(what)


def run(what: list[Statement], i: int, y: int, acc: int) -> tuple[int, bool]:
    """The count after statements, and whether the turn goes on."""
    for statement in what:
        goes = True
        match statement:
            case "add", number:
                acc = (acc * 3 + number) % 2**32
            case "next", condition:
                goes = not holds(condition, i, y, acc)
            case "loop", bits, inner:
                for _ in range((acc & bits) + 1):
                    acc, goes = run(inner, i, y, acc)
                    if not goes:
                        break
            case _, condition, then, other:
                acc, goes = run(then if holds(condition, i, y, acc) else other, i, y, acc)
        if not goes:
            return acc, False
    return acc, True


@pytest.mark.share(3)
@pytest.mark.parametrize("seed", range(64))
def test_conditions_within_conditions(engine: str, seed: int) -> None:
    chance = Random(seed)
    made, writer = statements(chance), Writer()
    block, step = chance.choice([*BLOCKS, (16, 2), (8, 8)]), chance.choice([1, 2, -1])
    writer.write(made)
    predicates = f".reg .pred %p<{writer.made + 1}>; .reg .b32 %k<{writer.made + 1}>;"
    body = "\n".join([predicates, *writer.lines])
    source = COUNTS.replace("{condition}\n    @%p bra OTHER;", "{condition}\n    bra NEXT;")
    device = shared_device(engine)
    kernel = device.load(source.format(t="s32", step=step, on=ON, condition=body))["k"]
    out, start = device.zeros((block[1], block[0]), "u4"), chance.randrange(-40, 40)
    kernel(1, block, (out, np.int32(start), np.int32(0), np.int32(0), np.uint32(TURNS)))
    expected = np.zeros(out.shape, "u4")
    for y, x in np.ndindex(out.shape):
        acc = 1
        for turn in range(TURNS):
            acc, _ = run(made, x * step + start + turn * ON, y, acc)
        expected[y, x] = acc
    np.testing.assert_array_equal(out.numpy(), expected, str(made))
    out.free()


def test_what_a_block_in_place_settles_is_its_own(engine: str) -> None:
    """NaNs of an open sum are settled where the block stands twice, and for lanes that do not run it."""
    condition = """
    cvt.rn.f64.s32 %d, %i; mul.f64 %d, %d, %d; add.f64 %f, %d, %e;
    setp.lt.s32 %p, %i, %h; @%p bra SKIP;
    mov.b64 %o, %f; cvt.u32.u64 %v, %o; xor.b32 %acc, %acc, %v;
SKIP:
    mov.b64 %o, %f; shr.u64 %o, %o, 32; cvt.u32.u64 %v, %o; add.u32 %acc, %acc, %v; mov.f64 %e, %f;
    bra NEXT;"""
    source = COUNTS.replace("{condition}\n    @%p bra OTHER;", "{condition}")
    source = source.replace("LOOP:", ".reg .f64 %d, %e, %f; mov.f64 %e, 0d3FF0000000000000;\nLOOP:")
    kernel = shared_device(engine).load(source.format(t="s32", step=1, on=ON, condition=condition))["k"]
    out, index = shared_device(engine).zeros(64, "u4"), np.arange(64, dtype="i8")
    kernel(1, 64, (out, np.int32(0), np.int32(0), np.int32(40), np.uint32(TURNS)))
    acc, total = np.ones(64, "i8"), np.ones(64)
    for _ in range(TURNS):
        total = index.astype("f8") ** 2 + total
        bits = total.view("u8").astype(object)
        acc = np.where(index < 40, acc, acc ^ (bits % 2**32).astype("i8"))
        acc = (acc + (bits >> 32).astype("i8")) % 2**32
        index = index + ON
    np.testing.assert_array_equal(out.numpy(), acc)
    out.free()
