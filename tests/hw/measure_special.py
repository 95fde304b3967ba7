"""How far the approximate functions are from the true values: `python -m tests.hw.measure_special [WORD...]`.

The results are simt's with `approx="hardware"`, which have an H200's bits (`tests.hw.test_special`); the true
values come from double precision, for doubles from NumPy's widest type. Prints for each function whose opcode
has one of the words the greatest error: in units of the last place of the true value, absolute, relative.
`docs/special-functions.md` holds what it printed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TypeAlias

import numpy as np

import simt
from tests.hw.special import LAUNCHED
from tests.unit.isa.meaning import Array

PAIRS = 1 << 24
"""Pairs of operands tried for a divide."""

Operands: TypeAlias = Iterator[tuple[Array, ...]]
"""Those of one launch after another, as bits."""


@dataclass(frozen=True)
class Format:
    """A floating-point format: bits of a significand, the least normal number's exponent."""

    bits: int
    precision: int
    least: int

    def values(self, bits: Array) -> Array:
        """In a type in which the true function can be computed well enough."""
        if self.precision == BF16.precision:
            with np.errstate(invalid="ignore"):  # NaNs
                return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)
        return bits.view(f"f{self.bits // 8}").astype(np.longdouble if self.bits == 64 else np.float64)

    def last_place(self, values: Array) -> Array:
        exponents = np.maximum(np.frexp(values)[1] - 1, self.least)
        return np.ldexp(np.ones_like(values), exponents - (self.precision - 1))


F16, BF16 = Format(16, 11, -14), Format(16, 8, -126)
F32, F64 = Format(32, 24, -126), Format(64, 53, -1022)
FORMATS = {"f16": F16, "bf16": BF16, "f32": F32, "f64": F64}


@dataclass(frozen=True)
class Measure:
    """A function over a range. `exact` takes and gives `Format.values`."""

    opcode: str
    over: str
    exact: Callable[..., Array]
    operands: Operands

    @property
    def kind(self) -> str:
        return self.opcode.split(".")[-1]


# ---------------------------------------------------------------- operands


def binades(*blocks: int) -> Operands:
    """Every number of single precision whose sign and exponent bits are one of these."""
    for block in blocks:
        yield (np.arange(1 << 23, dtype=np.uint32) | np.uint32(block << 23),)


def limited(operands: Operands, most: float) -> Operands:
    """Single precision; greater numbers become the limit."""
    for (bits,) in operands:
        yield (np.minimum(bits.view(np.float32), np.float32(most)).view(np.uint32),)


def pairs(divisors: tuple[int, int]) -> Operands:
    """Single precision: divisors whose exponents lie between two, with normal operands and quotients."""
    random = np.random.default_rng(1)
    mantissas = random.integers(1 << 23, 1 << 24, (2, PAIRS)) / 2.0**23
    divisor = random.integers(divisors[0], divisors[1] + 1, PAIRS)
    quotient = random.integers(-125, 127, PAIRS)
    dividend = np.clip(quotient + divisor, -126, 127)
    quotient = dividend - divisor
    divisor = np.where((quotient > -126) & (quotient < 127), divisor, dividend)
    scaled = (np.ldexp(m, e) for m, e in zip(mantissas, (dividend, divisor), strict=True))
    yield tuple(values.astype(np.float32).view(np.uint32) for values in scaled)


def doubles(count: int, lowers: int) -> Operands:
    """Every upper half of `count` binades from 1 on; the lower half all zeros, all ones, and at random."""
    random = np.random.default_rng(2)
    upper = np.arange(1023 << 20, 1023 + count << 20, dtype=np.uint64)
    at_random = (random.integers(0, 1 << 32, len(upper), np.uint64) for _ in range(lowers))
    for lower in chain([np.uint64(0), np.uint64(2**32 - 1)], at_random):
        yield (upper << np.uint64(32) | lower,)


def halves(kind: Format, least: float, most: float) -> Operands:
    """Every number of a 16-bit format between two; the others become the greatest."""
    bits = np.arange(1 << 16, dtype=np.uint16)
    values = kind.values(bits)
    with np.errstate(invalid="ignore"):
        inside = (values >= least) & (values <= most)
    yield (np.where(inside, bits, bits[inside][-1]),)


# ---------------------------------------------------------------- functions


def _reciprocal(a: Array) -> Array:
    return 1 / a


def _reciprocal_root(a: Array) -> Array:
    return 1 / np.sqrt(a)


def _small(sign: int) -> Operands:
    """Binades from 2^-9 to 2^6."""
    return binades(*(sign * 256 + b for b in range(118, 133)))


def measures() -> Iterator[Measure]:
    over = "all mantissas of [1, 2)"
    yield Measure("rcp.approx.f32", over, _reciprocal, binades(127))
    yield Measure("rsqrt.approx.f32", "all of [1, 4)", _reciprocal_root, binades(127, 128))
    yield Measure("sqrt.approx.f32", "all of [1, 4)", np.sqrt, binades(127, 128))
    yield Measure("ex2.approx.f32", "positive, 2^-9 to 2^6", np.exp2, _small(0))
    yield Measure("ex2.approx.f32", "[0, 1)", np.exp2, binades(*range(100, 127)))
    yield Measure("ex2.approx.f32", "negative, 2^-9 to 2^6", np.exp2, _small(1))
    yield Measure("lg2.approx.f32", over, np.log2, binades(127))
    yield Measure("lg2.approx.f32", "all of [1/2, 1)", np.log2, binades(126))
    for name, exact in {"sin": np.sin, "cos": np.cos}.items():
        to_pi = chain(binades(*range(100, 128)), limited(binades(128), np.nextafter(np.float32(np.pi), 0)))
        yield Measure(f"{name}.approx.f32", "2^-27 to pi", exact, to_pi)
    yield Measure("tanh.approx.f32", "2^-10 to 16", np.tanh, binades(*range(117, 131)))
    yield Measure("div.approx.f32", "divisors from 2^-126 to 2^126", np.divide, pairs((-126, 125)))
    yield Measure("div.full.f32", "all normal", np.divide, pairs((-126, 127)))
    yield Measure("rcp.approx.ftz.f64", over, _reciprocal, doubles(1, 0))
    yield Measure("rsqrt.approx.ftz.f64", "all of [1, 4)", _reciprocal_root, doubles(2, 0))
    yield Measure("rsqrt.approx.f64", "all upper halves of [1, 4)", _reciprocal_root, doubles(2, 8))
    for kind, ftz in {"f16": "", "bf16": ".ftz"}.items():
        numbers = partial(halves, FORMATS[kind])
        yield Measure(f"ex2.approx{ftz}.{kind}", "results from 2^-14 to 2^15", np.exp2, numbers(-14, 15))
        yield Measure(f"tanh.approx.{kind}", "2^-10 to 16", np.tanh, numbers(2.0**-10, 16))


# ---------------------------------------------------------------- measuring


def kernel(measure: Measure) -> str:
    """`k(out, a[, b])`: an element for each thread, as bits."""
    bits = FORMATS[measure.kind].bits
    kind = measure.kind if bits > 16 else "b16"
    names = "ab" if measure.opcode.startswith("div") else "a"
    loads = "".join(
        f"  ld.param.u64 %p, [{n}];\n  add.u64 %p, %p, %i;\n  ld.global.b{bits} %{n}, [%p];\n" for n in names
    )
    return f""".version 7.8
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out{"".join(f", .param .u64 {n}" for n in names)})
{{
  .reg .{kind} %a, %b, %d;
  .reg .u32 %t, %c;
  .reg .u64 %i, %p;
  mov.u32 %t, %tid.x;
  mov.u32 %c, %ctaid.x;
  mad.lo.u32 %t, %c, {LAUNCHED}, %t;
  mul.wide.u32 %i, %t, {bits // 8};
{loads}  {measure.opcode} %d, {", ".join(f"%{n}" for n in names)};
  ld.param.u64 %p, [out];
  add.u64 %p, %p, %i;
  st.global.b{bits} [%p], %d;
  ret;
}}
"""


def errors(measure: Measure) -> tuple[float, float, float]:
    """The greatest: in last places of the true value, absolute, relative."""
    form = FORMATS[measure.kind]
    device = simt.Device("sm_90", engine="jit", memory="1GiB", approx="hardware")
    function = device.load(kernel(measure))["k"]
    worst = np.zeros(3)
    for operands in measure.operands:
        arrays = [device.array(bits) for bits in operands]
        out = device.empty(operands[0].size, operands[0].dtype)
        function((out.size // LAUNCHED,), (LAUNCHED,), (out, *arrays))
        true = measure.exact(*(form.values(bits) for bits in operands))
        error = np.abs(form.values(out.numpy()) - true)
        relative = error[true != 0] / np.abs(true[true != 0])
        seen = (error / form.last_place(true), error, relative)
        worst = np.maximum(worst, [float(each.max()) for each in seen])
    return float(worst[0]), float(worst[1]), float(worst[2])


def main(words: Sequence[str]) -> None:
    for measure in measures():
        if words and not any(word in measure.opcode for word in words):
            continue
        ulp, absolute, relative = errors(measure)
        logs = f"absolute 2^{np.log2(absolute):.2f}, relative 2^{np.log2(relative):.2f}"
        print(f"{measure.opcode}, {measure.over}: {ulp:.3f} ulp, {logs}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
