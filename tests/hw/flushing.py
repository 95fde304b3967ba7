"""Operands around the edge of flushing: exact results just below and above the least normal number.

What the recorder runs and the tests replay: all arithmetic and conversions with `.ftz`, on the same columns.
"""

from __future__ import annotations

import functools

import numpy as np

from simt.isa.targets import NEWEST
from simt.ptx.types import F16, F16X2, F32, F64
from tests.hw.arithmetic import SLOTS, Case, OldCase, module_text, register_type
from tests.hw.arithmetic import cases as arithmetic
from tests.hw.conversions import conversions
from tests.unit.isa.meaning import Array
from tests.unit.isa.refused import DIFFERENCES

LANES = 128
BLOCKS = 4
"""Sets of columns; each has a row for every lane."""

ABSOLUTE = ("sin", "cos", "lg2")
"""Mnemonics whose results near zero are known by an absolute error only."""

LEAST = {"f16": 2.0**-14, "f32": 2.0**-126}
STEP = {"f16": 2.0**-10, "f32": 2.0**-23}
"""The distance from 1 to the next number."""
WORDS = {"f16": np.uint16, "f32": np.uint32}


def cases() -> dict[str, Case]:
    """By opcode: arithmetic and conversions of floats."""
    named = (arithmetic() | conversions()).values()
    return {c.opcode: c for c in named if _is_at_edge(c)}


def _is_at_edge(case: Case) -> bool:
    if isinstance(case, OldCase) or not case.binding.get("ftz"):
        return False
    if case.form.until and case.opcode in DIFFERENCES:  # NVIDIA's assembler refuses those
        return False
    if case.form.chapter not in ("floating", "half", "convert"):
        return False
    if case.form.mnemonic in ABSOLUTE:
        return False
    given = {case.type_of(o) for o in case.sources}
    return (
        case.form.mnemonic != "set"
        and case.outputs[0] in (F16, F16X2, F32)
        and given <= {F16, F16X2, F32, F64}
    )


@functools.cache
def columns(block: int) -> dict[str, Array]:
    """Operands by type and place, as 64-bit integers, like those of `tests.hw.arithmetic`."""
    random = np.random.default_rng(block)
    found = _floats("f32", random)
    for i in range(SLOTS - 1):
        found[f"f64_{i}"] = (LEAST["f32"] * _signed(random, 1 + _offsets(random, "f32"))).view(np.uint64)
    low, high = _floats("f16", random), _floats("f16", random)
    pairs = {f"f16x2_{i}": low[f"f16_{i}"] | high[f"f16_{i}"] << np.uint64(16) for i in range(SLOTS - 1)}
    return found | low | pairs | {"carry": np.zeros(LANES, np.uint64)}


def _floats(name: str, random: np.random.Generator) -> dict[str, Array]:
    """Three operands: the product, the quotient, the reciprocal, the sum or `a b + c` is at the edge."""
    least = LEAST[name]
    kinds = (_product, _product, _fused, _fused, _fused, _quotient, _quotient, _reciprocal, _sum)
    parts = [kind(name, random, least * (1 + _offsets(random, name))) for kind in kinds]
    turn = np.arange(LANES) % len(kinds)
    found: dict[str, Array] = {}
    for place in range(SLOTS - 1):
        values = np.choose(turn, [p[place % 3] for p in parts])
        found[f"{name}_{place}"] = _rounded(name, values).astype(np.uint64)
    return found


Operands = tuple[Array, Array, Array]


def _product(name: str, random: np.random.Generator, wanted: Array) -> Operands:
    a = _signed(random, _drawn(random, np.log2(LEAST[name]), 0.0))
    return a, _beside(name, random, wanted / a), _signed(random, np.zeros(LANES))


def _fused(name: str, random: np.random.Generator, wanted: Array) -> Operands:
    near = np.array([1, 1 + STEP[name], 1.5, 2, 2 - STEP[name]])[random.integers(5, size=LANES)]
    c = LEAST[name] * _signed(random, np.where(random.random(LANES) < 0.7, near, _drawn(random, 0.0, 6.0)))
    middle = np.log2(LEAST[name] * STEP[name]) / 2
    a = _signed(random, _drawn(random, middle - 2, middle + 2))
    return a, _beside(name, random, (_signed(random, wanted) - c) / a), c


def _quotient(name: str, random: np.random.Generator, wanted: Array) -> Operands:
    b = _signed(random, _drawn(random, 0.0, -np.log2(LEAST[name]) - 1))
    return _beside(name, random, wanted * b), b, _signed(random, np.zeros(LANES))


def _reciprocal(name: str, random: np.random.Generator, wanted: Array) -> Operands:
    a = _signed(random, _beside(name, random, 1 / wanted))
    return a, a, _signed(random, np.zeros(LANES))


def _sum(name: str, random: np.random.Generator, wanted: Array) -> Operands:
    a = _signed(random, LEAST[name] * _drawn(random, 0.0, 1.0))
    b = _beside(name, random, wanted - a)
    return a, _signed(random, b), b


def _offsets(random: np.random.Generator, name: str) -> Array:
    """Relative distances from the edge: multiples of a sixteenth of a step, some of them a little off."""
    off = np.array([0, 0, 2.0**-40, -(2.0**-40)])[random.integers(4, size=LANES)]
    return STEP[name] * random.integers(-40, 17, size=LANES) / 16 + off


def _drawn(random: np.random.Generator, low: float, high: float) -> Array:
    """Numbers from 2^low to 2^high, some of them powers of two."""
    exponents = random.uniform(low, high, LANES)
    return np.exp2(np.where(random.random(LANES) < 0.2, np.floor(exponents), exponents))


def _signed(random: np.random.Generator, values: Array) -> Array:
    return np.where(random.random(LANES) < 0.5, values, -values)


def _beside(name: str, random: np.random.Generator, values: Array) -> Array:
    """Numbers of the format near the values: few steps away."""
    bits = _rounded(name, values)
    moved = bits + random.integers(-1, 2, size=LANES).astype(bits.dtype)
    return np.where(values == 0, 0.0, moved.view(f"f{bits.itemsize}").astype(np.float64))


def _rounded(name: str, values: Array) -> Array:
    """The bits in the format."""
    word = np.dtype(WORDS[name])
    return values.astype(f"f{word.itemsize}").view(word)


# ---------------------------------------------------------------- kernels of many opcodes

THREADS = BLOCKS * LANES


def program(group: list[Case], other: str = "") -> str:
    """A module whose entry `k` takes columns of operands and of results, 8 bytes a thread, and executes all
    cases; then `other`, which may use `%d`, a double, and `%v`, a float."""
    lines = [".reg .u32 %m0, %m1; .reg .u64 %in, %out, %offset; .reg .f64 %d; .reg .f32 %v;"]
    lines += ["mov.u32 %m0, %tid.x; mov.u32 %m1, %ctaid.x;", f"mad.lo.u32 %m0, %m1, {LANES}, %m0;"]
    lines += ["mul.wide.u32 %offset, %m0, 8; ld.param.u64 %in, [a]; ld.param.u64 %out, [b];"]
    lines += ["add.u64 %in, %in, %offset; add.u64 %out, %out, %offset;"]
    for number, case in enumerate(group):
        lines += ["{", *_execute(case, number), "}"]
    head = ".visible .entry k(.param .u64 a, .param .u64 b) {"
    return module_text(NEWEST, 90, ["\n".join([head, *lines, other, "ret; }"])])


def names() -> list[str]:
    """The columns of operands, in the order in which `program` finds them."""
    return sorted(columns(0))


def _execute(case: Case, number: int) -> list[str]:
    (result,) = (register_type(t) for t in case.outputs)
    lines, registers = [f".reg .{result} %r;"], ["%r"]
    for place, operand in enumerate(case.sources):
        t = case.type_of(operand)
        at = names().index(f"{t.name}_{place}")
        lines += [f".reg .{register_type(t)} %s{place};"]
        lines += [f"ld.global.{register_type(t)} %s{place}, [%in+{8 * THREADS * at}];"]
        registers.append(f"%s{place}")
    lines.append(f"{case.opcode} {', '.join(registers)};")
    return [*lines, f"st.global.{result} [%out+{8 * THREADS * number}], %r;"]
