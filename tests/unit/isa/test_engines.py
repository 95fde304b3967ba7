"""Every form of the arithmetic chapters gives the same on the NumPy algebra and on LLVM's."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from simt.engine.numpy_algebra import NumpyAlgebra
from simt.isa.algebra import Environment
from simt.isa.catalogue import FORMS
from simt.isa.form import Binding, Form, main_type
from simt.ptx.types import PRED, Kind, Type
from tests.property import jit
from tests.property.cases import Case
from tests.unit.isa.columns import float_bits
from tests.unit.isa.meaning import Array
from tests.unit.isa.test_ptxas_arithmetic import CHAPTERS

COUNT = 192


def inputs(form: Form, binding: Binding) -> dict[str, Type]:
    """Source operands and the carry flag, with their types."""
    types = {o.name: form.operand_type(o, binding)[0] for o in form.operands if not o.destination}
    return types | ({"carry": PRED} if "in" in form.carry.split() else {})


def outputs(form: Form, binding: Binding) -> list[Type]:
    """The types of the results, a second predicate and the carry flag included."""
    found: list[Type] = []
    for operand in (o for o in form.operands if o.destination):
        found += [form.operand_type(operand, binding)[0], *([PRED] if operand.second else [])]
    return found + ([PRED] if "out" in form.carry.split() else [])


def call(form: Form, binding: Binding, index: int, m: Any, *values: Any) -> Any:
    """One result of a form's meaning over some algebra."""
    assert form.meaning is not None
    known: dict[str, Any] = {**binding, "t": main_type(form, binding), "env": Environment()}
    known |= dict(zip(inputs(form, binding), values, strict=True))
    result = form.meaning(m, **{p: known[p] for p in form.parameters})
    return result[index] if isinstance(result, tuple) else result


def never(*bits: int) -> None:
    """Cases here are compared between engines, not with exact values."""
    raise AssertionError


def cases_of(form: Form) -> list[Case]:
    """A few bindings of a form, one case for each result."""
    bindings = list(form.bindings())
    chosen = bindings[:: max(1, len(bindings) // 5)]
    return [
        Case(form.spell(b), tuple(inputs(form, b).values()), t, partial(call, form, b, i), never)
        for b in chosen
        for i, t in enumerate(outputs(form, b))
    ]


def column(t: Type, seed: int) -> Array:
    """Bits of a type; predicates as bytes."""
    random = np.random.default_rng(seed)
    if t.is_predicate:
        return random.integers(0, 2, COUNT).astype(np.uint8)
    if t.is_float:
        return random.permutation(np.resize(float_bits(t, 1)[0], COUNT))
    values = random.integers(0, 1 << 63, COUNT).astype(np.uint64) * np.uint64(2) + np.uint64(seed % 2)
    values >>= random.integers(0, 60, COUNT).astype(np.uint64)
    return values.astype(f"u{t.bytes}")


def native(t: Type, bits: Array) -> Array:
    if t.is_predicate:
        return bits != 0
    return bits.view(f"f{t.bytes}") if t.is_native_float else bits


def without_nan(t: Type, bits: Array) -> Array:
    """Bits with every NaN made the same one."""
    if t.kind is Kind.PACKED:
        halves = bits.view(np.uint16)
        limit = 0x7C00 if t.name == "f16x2" else 0x7F80
        return np.where(halves & 0x7FFF > limit, 0x7FFF, halves)
    if not t.is_float:
        return bits
    limit = {"f16": 0x7C00, "bf16": 0x7F80, "f32": 0x7F800000, "f64": 0x7FF0 << 48}[t.name]
    return np.where(bits & (1 << t.bits - 1) - 1 > limit, limit + 1, bits)


@pytest.mark.parametrize(
    "chapter", [c for c in CHAPTERS if any(f.chapter == c for fs in FORMS.values() for f in fs)]
)
def test_both_algebras_agree(chapter: str) -> None:
    forms = [f for fs in FORMS.values() for f in fs if f.chapter == chapter]
    cases = tuple(c for f in forms for c in cases_of(f))
    compiled = jit.Compiled(cases, jit.Setup("width 16", 16))
    wrong: list[str] = []
    for case in cases:
        columns = [column(t, i + 1) for i, t in enumerate(case.inputs)]
        with np.errstate(all="ignore"):
            plain = case.run(NumpyAlgebra(), *(native(t, c) for t, c in zip(case.inputs, columns)))
        plain = np.ascontiguousarray(np.broadcast_to(plain, (COUNT,)))
        expected = plain.view(f"u{plain.itemsize}")
        result = compiled.run(case, columns)
        if not np.array_equal(without_nan(case.output, result), without_nan(case.output, expected)):
            wrong.append(case.name)
    assert wrong == []
