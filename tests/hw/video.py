"""Kernels of video instructions: what the recorder runs and the tests replay.

Every opcode of the two chapters has a kernel that executes it `SAMPLES` times, each time with other selectors
and signs of its operands; the first time without any selector. What stands where: of each operand, all
selectors and none stand in an order that the opcode's name gives, and the instructions have one after the
other. So every opcode of the scalar instructions meets every selector of each operand; where an operand has
more selectors than there are samples, every mnemonic meets every digit in every place (`test_video` holds
both). Signs are drawn for each instruction.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from zlib import crc32

import numpy as np

import simt.isa  # noqa: F401  # pyright: ignore[reportUnusedImport]  (fills the catalogue)
from simt.isa.catalogue import FORMS
from simt.isa.form import Binding, Form, OperandForm
from tests.unit.isa.meaning import Array

CHAPTERS = ("video", "video_vectors")
SAMPLES = 8
LANES = 128
POOL = 2048
UNSPEAKABLE = "b1024"
"""A selector that ptxas 13 cannot read: it is the name of a type there."""

HEADER = ".version 9.0\n.target sm_90\n.address_size 64\n"


@dataclass(frozen=True)
class Case:
    """One opcode. `number`: its place among all. `samples`: what the modifiers of its operands bind."""

    form: Form
    binding: Binding
    number: int
    samples: tuple[Binding, ...]

    @property
    def opcode(self) -> str:
        return self.form.spell(self.binding)

    @property
    def name(self) -> str:
        """The opcode, and its operands: forms without a third one have the same opcode."""
        return f"{self.opcode} {', '.join(o.name for o in self.form.operands)}"

    @property
    def sources(self) -> list[str]:
        return [o.name for o in self.form.operands if not o.destination]

    def given(self, pool: Array) -> Array:
        """The words of the sources `a`, `b` and `c`: some lanes of the pool."""
        start = self.number * LANES % POOL
        return pool[:, start : start + LANES]


@cache
def cases() -> dict[str, Case]:
    """All cases by name."""
    forms = [f for fs in FORMS.values() for f in fs if f.chapter in CHAPTERS]
    pairs = [(f, b) for f in forms for b in f.bindings()]
    found = [Case(f, b, n, tuple(_samples(f, b))) for n, (f, b) in enumerate(pairs)]
    return {case.name: case for case in found}


def _samples(form: Form, binding: Binding) -> Iterator[Binding]:
    rng = random.Random(crc32(f"{form.spell(binding)} {len(form.operands)}".encode()))
    orders: dict[str, list[str | None]] = {}
    for selector in (o.selector for o in form.operands):
        if selector:
            orders[selector.name] = [None, *(w for w in selector.choices() if w != UNSPEAKABLE)]
            rng.shuffle(orders[selector.name])
    yield dict.fromkeys(orders) | _signs(form, binding, rng)
    for number in range(SAMPLES - 1):
        chosen: Binding = {name: order[number % len(order)] for name, order in orders.items()}
        yield chosen | _signs(form, binding, rng)


def _signs(form: Form, binding: Binding, rng: random.Random) -> Binding:
    """Signs that the form's check allows, which hangs on no selectors."""
    names = [f"{o.name}_negative" for o in form.operands if o.signed]
    while True:
        signs: Binding = {name: rng.random() < 0.5 for name in names}
        if form.check is None or form.check({**binding, **signs}, (9, 0)) is None:
            return signs


def words() -> Array:
    """The pool of words for three sources: of special and random bytes, half words, words, and small numbers.

    In some lanes two sources are alike."""
    rng = np.random.default_rng(814)
    lanes = np.arange(3 * POOL)

    def parts(bits: int) -> Array:
        top = 1 << (bits - 1)
        special = [0, 1, 2, top - 2, top - 1, top, top + 1, 2 * top - 2, 2 * top - 1]
        count = (3 * POOL, 32 // bits)
        drawn = np.where(rng.random(count) < 0.6, rng.choice(special, count), rng.integers(0, 2 * top, count))
        return (drawn.astype(np.uint64) << np.arange(0, 32, bits, dtype=np.uint64)).sum(1, dtype=np.uint64)

    small = rng.integers(0, 70, 3 * POOL).astype(np.uint64)
    found = np.choose(lanes % 7, [*(parts(b) for b in (8, 8, 16, 16, 32, 32)), small]).reshape(3, POOL)
    found[1:, ::11] = found[0, ::11]
    return found.astype(np.uint32)


# ---------------------------------------------------------------- kernels


def written(operand: OperandForm, sample: Binding) -> str:
    """A register with the operand's sign and selector."""
    sign = "-" if sample.get(f"{operand.name}_negative") else ""
    selector = sample.get(operand.selector.name) if operand.selector else None
    return f"{sign}%{operand.name}" + (f".{selector}" if selector else "")


def kernel(case: Case, name: str) -> str:
    """An entry of two pointers, columns of 32-bit words: three sources, and a result of each sample."""
    lines = [f".entry {name} (.param .u64 from, .param .u64 to) {{"]
    lines += [".reg .b32 %a, %b, %c, %d, %lane; .reg .u64 %in, %out, %offset;", "mov.u32 %lane, %tid.x;"]
    lines += ["mul.wide.u32 %offset, %lane, 4;", "ld.param.u64 %in, [from];", "ld.param.u64 %out, [to];"]
    lines += ["add.u64 %in, %in, %offset;", "add.u64 %out, %out, %offset;"]
    lines += [f"ld.global.b32 %{s}, [%in+{4 * LANES * 'abc'.index(s)}];" for s in case.sources]
    for number, sample in enumerate(case.samples):
        operands = ", ".join(written(o, sample) for o in case.form.operands)
        lines += [f"{case.opcode} {operands};", f"st.global.b32 [%out+{4 * LANES * number}], %d;"]
    return "\n".join([*lines, "exit;", "}"])


def chunks(named: dict[str, Case], size: int) -> Iterator[tuple[str, dict[str, Case]]]:
    """Modules of some cases each, kernels `k0`, `k1` ..."""
    names = list(named)
    for start in range(0, len(names), size):
        part = {name: named[name] for name in names[start : start + size]}
        yield HEADER + "\n".join(kernel(c, f"k{i}") for i, c in enumerate(part.values())) + "\n", part
