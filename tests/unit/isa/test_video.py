"""Scalar video instructions on machines that have the unit, against section 8.6.4 of the CUDA Handbook.

The model is whole-number arithmetic in Python, one lane at a time. `tests.hw.test_video` judges later
machines.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

import simt
from simt.engine.numpy_algebra import NumpyAlgebra
from simt.isa.algebra import Environment
from simt.isa.catalogue import FORMS
from simt.isa.form import Binding, Form
from simt.ptx.types import S32, Type
from tests.hw.video import LANES as LANES_OF_A_CASE
from tests.hw.video import SAMPLES, Case, kernel, words
from tests.hw.video import cases as all_cases
from tests.unit.isa.meaning import Array

KEPT = {None: (32, 0), "h0": (16, 0), "h1": (16, 16), **{f"b{n}": (8, 8 * n) for n in range(4)}}
COMPARED: dict[str, Callable[[int, int], bool]] = {
    "eq": int.__eq__, "ne": int.__ne__, "lt": int.__lt__, "le": int.__le__, "gt": int.__gt__,
    "ge": int.__ge__,
}  # fmt: skip
LANES = 24
STEP = 7


def taken(word: int, t: Type, selector: str | None) -> int:
    """The number that an operand stands for."""
    width, low = KEPT[selector]
    value = word >> low & (1 << width) - 1
    return value - (1 << width) if t.is_signed and value >> (width - 1) else value


def clamped(value: int, t: Type, width: int) -> int:
    low = -(1 << (width - 1)) if t.is_signed else 0
    return min(max(value, low), low + (1 << width) - 1)


def primary(mnemonic: str, way: str | None, a: int, b: int) -> int:
    """The operation of table 8.14."""
    amount = b & 31 if way == "wrap" else min(b, 32)
    match mnemonic:
        case "vadd":
            return a + b
        case "vsub":
            return a - b
        case "vabsdiff":
            return abs(a - b)
        case "vmin":
            return min(a, b)
        case "vmax":
            return max(a, b)
        case "vshl":
            return ((a << amount) + (1 << 33)) % (1 << 34) - (1 << 33)  # 34 bits
        case "vshr":
            return a >> amount
        case _:
            return int(COMPARED[str(way)](a, b))


def modelled(case: Case, sample: Binding, a: int, b: int, c: int) -> int:
    """The word that an instruction gives."""
    bound: Any = {**case.binding, **sample}
    first = taken(a, bound["atype"], bound["asel"])
    value = primary(case.form.mnemonic, bound["way"], first, taken(b, bound["btype"], bound["bsel"]))
    width, low = KEPT[bound.get("dsel")]
    t = bound["dtype"]
    value = clamped(value, t, width) if bound["sat"] else value
    if "secop" in bound:
        t = bound["atype"] if case.form.mnemonic == "vset" else t
        left, right = taken(value & 0xFFFFFFFF, t, None), taken(c, t, None)
        value = {"add": left + right, "min": min(left, right), "max": max(left, right)}[bound["secop"]]
    mask = (1 << width) - 1 << low
    return (c & ~mask | value << low & mask) & 0xFFFFFFFF


def computed(form: Form, bound: Binding, operands: list[Array], machine: int) -> Any:
    values: dict[str, Any] = {**bound, **dict(zip("abc", operands)), "env": Environment(machine=machine)}
    assert form.meaning is not None
    return form.meaning(NumpyAlgebra(), **{p: values[p] for p in form.parameters})


SCALAR = [f for name, forms in FORMS.items() for f in forms if f.chapter == "video" and name != "vmad"]


@pytest.mark.parametrize("mnemonic", sorted({f.mnemonic for f in SCALAR}))
def test_the_unit_is_as_the_handbook_says(mnemonic: str) -> None:
    rng = random.Random(mnemonic)
    pool = words()
    for case in [c for c in all_cases().values() if c.form.mnemonic == mnemonic][::STEP]:
        for sample in case.samples:
            lanes = rng.sample(range(pool.shape[1]), LANES)
            operands = [row[lanes] for row in pool]
            ours = computed(case.form, {**case.binding, **sample}, operands, 30)
            theirs = [modelled(case, sample, *map(int, lane)) for lane in zip(*operands)]
            assert ours.astype(np.uint32).tolist() == theirs, (case.opcode, sample)


def test_engines_have_the_unit_on_old_machines(engine: str) -> None:
    """Kernels of some opcodes of every instruction, on a device of the handbook's time."""
    device = simt.Device("sm_30", engine=cast("Any", engine), memory="64MiB")
    chosen = [c for c in all_cases().values() if c.form in SCALAR][:: STEP * 7]
    assert {c.form.mnemonic for c in chosen} == {f.mnemonic for f in SCALAR}
    header = ".version 3.0\n.target sm_30\n.address_size 64\n"
    module = device.load(header + "\n".join(kernel(c, f"k{i}") for i, c in enumerate(chosen)))
    for number, case in enumerate(chosen):
        given = np.ascontiguousarray(case.given(words()))
        out = device.zeros((SAMPLES, LANES_OF_A_CASE), "u4")
        module[f"k{number}"]((1,), (LANES_OF_A_CASE,), (device.array(given), out))
        lanes = [tuple(map(int, lane)) for lane in given.T]
        theirs = [[modelled(case, sample, *lane) for lane in lanes] for sample in case.samples]
        assert out.numpy().tolist() == theirs, case.opcode


def test_vmad_on_the_unit_is_exact() -> None:
    """Words keep the sign of their types; a negative third operand makes the sum signed."""
    (form,) = FORMS["vmad"]
    a, b, c = words()
    chosen = [x for x in form.bindings() if x["sat"] and x["scale"] == "shr15" and not x["po"]]
    assert len(chosen) == 8
    for types in chosen:
        bound: Any = {**types, "asel": "h1", "bsel": None, "c_negative": True}
        ours = computed(form, bound, [a, b, c], 30)
        for lane in range(0, len(a), 16):
            product = taken(int(a[lane]), bound["atype"], "h1") * taken(int(b[lane]), bound["btype"], None)
            total = product - taken(int(c[lane]), S32, None) >> 15
            assert int(ours[lane]) == clamped(total, S32, 32) & 0xFFFFFFFF
