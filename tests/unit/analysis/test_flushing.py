"""Kernels that flush throughout may run where the CPU reads subnormals as zeros: nothing may change by it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import simt
from simt.analysis.facts import Observer
from simt.analysis.flushing import NeverSubnormal, flushing, suits
from simt.analysis.lower import lower
from simt.analysis.program import Op, Operand, Register
from simt.analysis.schedule import schedule
from simt.analysis.ssa import build
from simt.engine.numpy_algebra import NumpyAlgebra
from simt.isa.algebra import Comparison, Environment, Rounding
from simt.isa.catalogue import FORMS
from simt.isa.form import main_type
from simt.ptx.parser import parse
from simt.ptx.types import F32, Type
from tests.hw.arithmetic import Case
from tests.hw.flushing import BLOCKS, THREADS
from tests.hw.flushing import columns as edge_columns
from tests.unit.isa.columns import float_bits
from tests.unit.isa.meaning import Array

COUNT = 800
ROWS = COUNT + THREADS
"""Random operands, and those around the edge."""


class Zeros(NumpyAlgebra):
    """Single precision reads subnormals as zeros and flushes its results, as x86 can be told to."""

    def flush_result(self, t: Type, a: Array, twice: Callable[..., Array], *operands: Array) -> Array:
        return a

    def _read(self, t: Type, *values: Array) -> list[Array]:
        return [self.flush(t, v) if t == F32 else v for v in values]

    def _written(self, t: Type, result: Array, scaled: Array) -> Array:
        """The result, flushed; `scaled` is 2^40 times the result, but for what overflows."""
        if t != F32:
            return result
        tiny = np.abs(scaled) < np.float32(2.0 ** (40 - 126))
        return np.where(tiny, np.copysign(np.float32(0), result), result)

    def _scaled(self, t: Type, a: Array) -> Array:
        return super().fmul(t, a, self.const(F32, 0x53800000), "rn") if t == F32 else a

    def fadd(self, t: Type, a: Array, b: Array, rounding: Rounding) -> Array:
        total = super().fadd(t, *self._read(t, a, b), rounding)
        return self.flush(t, total) if t == F32 else total

    def fsub(self, t: Type, a: Array, b: Array, rounding: Rounding) -> Array:
        total = super().fsub(t, *self._read(t, a, b), rounding)
        return self.flush(t, total) if t == F32 else total

    def fmul(self, t: Type, a: Array, b: Array, rounding: Rounding) -> Array:
        a, b = self._read(t, a, b)
        scaled = super().fmul(t, self._scaled(t, a), b, rounding)
        return self._written(t, super().fmul(t, a, b, rounding), scaled)

    def fdiv(self, t: Type, a: Array, b: Array, rounding: Rounding) -> Array:
        a, b = self._read(t, a, b)
        scaled = super().fdiv(t, self._scaled(t, a), b, rounding)
        return self._written(t, super().fdiv(t, a, b, rounding), scaled)

    def fma(self, t: Type, a: Array, b: Array, c: Array, rounding: Rounding) -> Array:
        a, b, c = self._read(t, a, b, c)
        scaled = super().fma(t, self._scaled(t, a), b, self._scaled(t, c), rounding)
        return self._written(t, super().fma(t, a, b, c, rounding), scaled)

    def fsqrt(self, t: Type, a: Array, rounding: Rounding) -> Array:
        return super().fsqrt(t, *self._read(t, a), rounding)

    def fmin(self, t: Type, a: Array, b: Array) -> Array:
        return super().fmin(t, *self._read(t, a, b))

    def fmax(self, t: Type, a: Array, b: Array) -> Array:
        return super().fmax(t, *self._read(t, a, b))

    def compare(self, op: Comparison, t: Type, a: Array, b: Array) -> Array:
        return super().compare(op, t, *self._read(t, a, b))

    def round_integral(self, t: Type, a: Array, rounding: Rounding) -> Array:
        return super().round_integral(t, *self._read(t, a), rounding)

    def float_to_int(self, source: Type, target: Type, a: Array, rounding: Rounding) -> Array:
        return super().float_to_int(source, target, *self._read(source, a), rounding)


def flushing_cases() -> Iterator[Case]:
    for form in (f for forms in FORMS.values() for f in forms if not f.effects):
        yield from (Case(form, b) for b in form.bindings() if b.get("ftz"))


def operation(case: Case) -> Op:
    """The case as an op on registers."""
    types = {o.name: case.type_of(o) for o in case.sources}
    sources: dict[str, Operand] = {name: Register(i, name, t) for i, (name, t) in enumerate(types.items())}
    nowhere = (None,) * len(case.outputs)
    return Op(case.form, case.binding, sources, types, nowhere, tuple(case.outputs), None, 0)


def columns(case: Case) -> dict[str, Array]:
    random = np.random.default_rng(5)
    edge = [edge_columns(block) for block in range(BLOCKS)]
    found: dict[str, Array] = {}
    for place, operand in enumerate(case.sources):
        t = case.type_of(operand)
        if t == F32:
            drawn = random.integers(1 << 32, size=COUNT).astype(np.uint32)
            near = drawn & np.uint32(0x83FFFFFF)  # around the smallest normal number
            bits = np.where(random.random(COUNT) < 0.4, near, drawn)
            bits[:300] = random.permutation(float_bits(F32, 1)[0])[:300]
            near_edge = np.concatenate([e[f"f32_{place}"] for e in edge]).astype(np.uint32)
            found[operand.name] = np.concatenate([random.permutation(bits), near_edge]).view(np.float32)
        elif t.is_predicate:
            found[operand.name] = random.integers(2, size=ROWS) > 0
        else:
            found[operand.name] = random.integers(1 << t.bits, size=ROWS, dtype=np.uint64).astype(
                f"u{t.bytes}"
            )
    return found


def results(case: Case, m: NumpyAlgebra) -> list[Array]:
    """What a meaning gives, as bits."""
    known: dict[str, Any] = {**case.binding, **columns(case), "env": Environment()}
    known["t"] = main_type(case.form, case.binding)
    assert case.form.meaning is not None
    with np.errstate(all="ignore"):
        found = case.form.meaning(m, **{p: known[p] for p in case.form.parameters})
    return [
        np.ascontiguousarray(c).view(f"u{c.itemsize}")
        for c in (found if isinstance(found, tuple) else (found,))
    ]


def test_flushing_by_the_cpu_changes_no_flushing_instruction() -> None:
    observer, judged, wrong = Observer(Environment(), NeverSubnormal), 0, list[str]()
    for case in flushing_cases():
        if not suits(observer, operation(case)):
            continue
        judged += 1
        plain, zeros = results(case, NumpyAlgebra()), results(case, Zeros())
        if not all(np.array_equal(a, b) for a, b in zip(plain, zeros, strict=True)):
            wrong.append(case.opcode)
    assert wrong == []
    assert judged > 200


# ---------------------------------------------------------------- which kernels, which values

HEAD = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 a, .param .u32 n)
{
    .reg .pred %p;
    .reg .b16 %h;
    .reg .b32 %i, %n;
    .reg .b64 %a;
    .reg .f32 %x, %y, %s;
    .reg .f64 %d;
    ld.param.u64 %a, [a];
    ld.param.u32 %n, [n];
    ld.global.f32 %x, [%a];
"""


def judged(body: str) -> tuple[bool, set[str]]:
    """Whether a kernel runs so, and the registers whose every definition is never subnormal."""
    return zeros_of(f"{HEAD}{body}\n    ret;\n}}\n")


def zeros_of(text: str) -> tuple[bool, set[str]]:
    tree, problems = parse(text, "k.ptx")
    assert tree is not None
    assert not problems.errors
    function = lower(tree).functions["k"]
    ssa = build(function, schedule(function))
    zeros, never = flushing(ssa, Environment())
    given = [d for d in ssa.definitions if d.origin != "undefined"]
    others = {d.register.name for d in given if d not in never}
    return zeros, {d.register.name.lstrip("%") for d in never if d.register.name not in others}


@pytest.mark.parametrize(
    "body",
    [
        "add.f32 %y, %x, %x;",
        "add.ftz.f32 %y, %x, %x; mul.f32 %y, %y, %x;",
        "add.ftz.f32 %y, %x, %x; setp.lt.f32 %p, %y, %x;",
        "add.ftz.f32 %y, %x, %x; cvt.f64.f32 %d, %x;",
        "add.ftz.f32 %y, %x, %x; cvt.rn.f16.f32 %h, %x;",
        "add.ftz.f32 %y, %x, %x; atom.global.add.f32 %y, [%a], %x;",
        "add.ftz.f32 %y, %x, %x; cvt.rpi.f32.f32 %y, %x;",
        "add.ftz.f32 %y, %x, %x; cvt.rmi.f32.f32 %y, %x;",
        "add.u32 %n, %n, %n;",
    ],
)
def test_other_arithmetic_needs_subnormals(body: str) -> None:
    assert not judged(body)[0]


def test_what_only_moves_values_does_not_matter() -> None:
    body = "add.ftz.f32 %y, %x, %x; selp.f32 %s, %x, %y, %p; st.global.f32 [%a], %x; cvt.rn.f32.u32 %s, %n;"
    assert judged(body)[0]


@pytest.mark.parametrize("rounding", ["rzi", "rni"])
def test_what_rounds_subnormals_to_zero_does_not_matter(rounding: str) -> None:
    assert judged(f"add.ftz.f32 %y, %x, %x; cvt.{rounding}.f32.f32 %s, %x;") == (True, {"s", "y"})


LOOP = """
    mov.f32 %s, 0f00000000;
    mov.u32 %i, 0;
TURN:
    {body}
    add.u32 %i, %i, 1;
    setp.lt.u32 %p, %i, %n;
    @%p bra TURN;
    st.global.f32 [%a], %s;
"""


def test_sums_of_loops_are_never_subnormal() -> None:
    assert judged(LOOP.format(body="fma.rn.ftz.f32 %s, %x, %x, %s;")) == (True, {"s"})
    assert judged(LOOP.format(body="add.ftz.f32 %y, %x, %s; mov.f32 %s, %y;")) == (True, {"s", "y"})


def test_loaded_values_are_not() -> None:
    assert judged(LOOP.format(body="add.ftz.f32 %y, %x, %s; mov.f32 %s, %x;")) == (True, {"y"})
    assert judged(LOOP.format(body="add.ftz.f32 %s, %x, %s; @%p mov.f32 %s, %x;")) == (True, set())
    assert judged("add.ftz.f32 %y, %x, %x; mov.f32 %s, 0f00000001;") == (True, {"y"})
    assert judged("add.ftz.f32 %y, %x, %x; min.ftz.f32 %s, %x, %y;") == (True, {"y"})
    assert judged("add.ftz.f32 %y, %x, %x; mov.f32 %y, %y; mov.f32 %s, %n;") == (True, {"y"})  # %n is bits


# ---------------------------------------------------------------- whole kernels

OPERATIONS = (
    "add.ftz.f32 {d}, {a}, {b};", "sub.ftz.f32 {d}, {a}, {b};", "mul.ftz.f32 {d}, {a}, {b};",
    "fma.rn.ftz.f32 {d}, {a}, {b}, {c};", "fma.rz.ftz.f32 {d}, {a}, {b}, {c};",
    "mul.rp.ftz.f32 {d}, {a}, {b};",
    "div.rn.ftz.f32 {d}, {a}, {b};", "mul.ftz.f32 {d}, {a}, 0f3E800000;", "mov.f32 {d}, {a};",
    "min.ftz.f32 {d}, {a}, {b};", "max.ftz.f32 {d}, {a}, {b};", "neg.ftz.f32 {d}, {a};",
    "abs.ftz.f32 {d}, {a};",
    "sqrt.rn.ftz.f32 {d}, {a};", "rsqrt.approx.ftz.f32 {d}, {a};", "ex2.approx.ftz.f32 {d}, {a};",
    "lg2.approx.ftz.f32 {d}, {a};", "mul.ftz.sat.f32 {d}, {a}, {b};", "mul.ftz.f32 {d}, {a}, 0f3F800000;",
    "setp.lt.ftz.f32 %p, {a}, {b};", "selp.f32 {d}, {a}, {b}, %p;", "@%p mul.ftz.f32 {d}, {a}, {b};",
    "setp.eq.ftz.f32 %p, {a}, 0f00000000;", "mov.b32 %i, {a}; xor.b32 %n, %n, %i;",
    "mov.b32 %i, {a}; add.s32 %n, %n, %i;",
    "cvt.rzi.f32.f32 {d}, {a};", "cvt.rni.f32.f32 {d}, {a};",
    "cvt.rpi.ftz.s32.f32 %i, {a}; add.s32 %n, %n, %i;", "shfl.sync.bfly.b32 {d}, {a}, 3, 31, -1;",
)  # fmt: skip
REGISTERS = 9
THREADS = 128


def random_kernel(seed: int, mixed: bool) -> str:
    """Random flushing instructions in three turns of a loop, and a double if `mixed`; all is stored."""
    random = np.random.default_rng(seed)
    body: list[str] = []
    for pick in random.integers(len(OPERATIONS), size=16):
        names = dict(zip("abcd", (f"%f{random.integers(REGISTERS)}" for _ in range(4))))
        body.append(OPERATIONS[pick].format(**names))
    body += ["cvt.f64.f32 %d, %f0;"] * mixed
    loads = [f"ld.global.f32 %f{i}, [%a+{4 * THREADS * i}];" for i in range(REGISTERS)]
    stores = [f"st.global.f32 [%a+{4 * THREADS * i}], %f{i};" for i in range(REGISTERS)]
    return "\n".join([
        ".version 7.5\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p) {",
        ".reg .pred %p, %q; .reg .b32 %i, %n, %t; .reg .b64 %a; .reg .f64 %d;",
        f".reg .{'f32' if seed % 2 else 'b32'} %f<{REGISTERS}>;",
        "ld.param.u64 %a, [p]; mov.u32 %t, %tid.x; mad.wide.u32 %a, %t, 4, %a; mov.u32 %t, 0; mov.u32 %n, 0;",
        "setp.eq.u32 %p, %n, 0;", *loads, "TURN:", *body,
        "add.u32 %t, %t, 1; setp.lt.u32 %q, %t, 3; @%q bra TURN;",
        *stores, f"st.global.u32 [%a+{4 * THREADS * REGISTERS}], %n;", "ret; }",
    ])  # fmt: skip


def test_engines_agree_where_subnormals_abound() -> None:
    random = np.random.default_rng(8)
    devices = [simt.Device(engine=engine, memory="64MiB") for engine in ("jit", "interpreter")]
    for seed in range(8):
        text = random_kernel(seed, mixed=seed % 3 == 2)
        assert zeros_of(text)[0] == (seed % 3 != 2)
        exponents = random.integers(0, 8, size=(REGISTERS + 1) * THREADS).astype(np.uint32) << np.uint32(23)
        bits = random.integers(1 << 23, size=len(exponents)).astype(np.uint32) | exponents
        bits |= random.integers(2, size=len(exponents)).astype(np.uint32) << np.uint32(31)
        bits[: 2 * THREADS] ^= np.uint32(0x3F800000)
        outcomes: list[Array] = []
        for device in devices:
            array = device.array(bits)
            device.load(text)["k"]((1,), (THREADS,), (array,))
            outcomes.append(array.numpy().copy())
        a, b = outcomes
        same = (a == b) | np.isnan(a.view(np.float32)) & np.isnan(b.view(np.float32))
        assert np.all(same), (seed, np.flatnonzero(~same))


EDGE = ("0f3F7FFFFF", "0f00800000")
"""Their product is 2^-126 - 2^-150: tiny, though IEEE arithmetic rounds it to 2^-126."""


@pytest.mark.parametrize(
    "body",
    [
        "mul.ftz.f32 %y, %a, %b;",
        "fma.rn.ftz.f32 %y, %a, %b, 0f80000000;",
        "mov.b32 %i, 0x3F7FFFFF; mov.b32 %x, %i; mul.ftz.f32 %y, %x, %b;",
        "mov.f32 %y, 0f40000000; @%p mov.f32 %y, %a; mul.ftz.f32 %y, %y, %b;",
        "selp.f32 %y, %a, 0f40000000, %p; mul.ftz.f32 %y, %y, %b;",
        "@%p bra A; mov.f32 %y, 0f40000000; bra B; A: mov.f32 %y, %a; B: mul.ftz.f32 %y, %y, %b;",
        "mov.f32 %x, 0f7F000000; mov.f32 %y, 0f007FFFFF; div.rn.ftz.f32 %y, %y, %x;",
        "mov.f32 %x, 0f7E800001; rcp.rp.ftz.f32 %y, %x;",
    ],
)
def test_constants_are_flushed_as_numbers_are(device: simt.Device, body: str) -> None:
    a, b = EDGE
    text = (
        ".version 7.5\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p) {"
        ".reg .b32 %i; .reg .b64 %m; .reg .f32 %x, %y, %a, %b; .reg .pred %p; ld.param.u64 %m, [p];"
        "setp.ne.u64 %p, %m, 0;"
        f"mov.f32 %a, {a}; mov.f32 %b, {b}; {body} st.global.f32 [%m], %y; ret; }}"
    )
    array = device.array(np.ones(1, np.float32))
    device.load(text)["k"]((1,), (1,), (array,))
    assert array.numpy()[0] == 0
