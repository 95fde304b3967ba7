"""Where nobody sees which NaN a float is, it may be any quiet one, as arithmetic gives them: no instruction
may give another number for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from simt.analysis.lower import lower
from simt.analysis.program import Op, Operand, Register
from simt.analysis.schedule import schedule
from simt.analysis.ssa import build
from simt.analysis.unseen import Observer, unseen_nans
from simt.engine.numpy_algebra import NumpyAlgebra
from simt.isa.algebra import Environment
from simt.isa.catalogue import FORMS
from simt.isa.form import main_type
from simt.ptx.parser import parse
from simt.ptx.types import F32, F64, Type
from tests.hw.arithmetic import Case
from tests.unit.isa.meaning import Array

ROWS = 600
NANS = {
    F32: [0x7FC00000, 0xFFC00000, 0x7FC00001, 0xFFE00063, 0x7FFFFFFF],
    F64: [0x7FF8 << 48, 0xFFF8 << 48, 0x7FF8 << 48 | 1, 0xFFFC << 48 | 99, 0x7FFF << 48 | 0xABCDEF],
}
NUMBERS = {
    F32: [0, 1 << 31, 1, 0x7F << 23, 0xFF << 23],
    F64: [0, 1 << 63, 1, 0x3FF << 52, 0x7FF << 52],
}


def cases(t: Type) -> Iterator[Case]:
    """Every binding of the catalogue that reads floats of the type and touches nothing but registers."""
    for form in (f for forms in FORMS.values() for f in forms if not f.effects and not f.carry):
        for case in (Case(form, b) for b in form.bindings()):
            if any(case.type_of(o) == t for o in case.sources):
                yield case


def operation(case: Case) -> Op:
    types = {o.name: case.type_of(o) for o in case.sources}
    sources: dict[str, Operand] = {name: Register(i, name, t) for i, (name, t) in enumerate(types.items())}
    nowhere = (None,) * len(case.outputs)
    return Op(case.form, case.binding, sources, types, nowhere, tuple(case.outputs), None, 0)


def columns(case: Case, judged: Type, other_nans: bool) -> dict[str, Array]:
    """Operands, half of those of the judged type NaNs; the same but for the NaNs' bits."""
    random, nans = np.random.default_rng(7), np.random.default_rng(8 + other_nans)
    found: dict[str, Array] = {}
    for operand in case.sources:
        t = case.type_of(operand)
        bits = random.integers(1 << min(t.bits, 63), size=ROWS, dtype=np.uint64)
        if t == judged:
            bits = bits.astype(f"u{t.bytes}")
            bits[::5] = random.choice(np.array(NUMBERS[t], bits.dtype), size=len(bits[::5]))
            where, others = random.random(ROWS) < 0.5, nans.choice(np.array(NANS[t], bits.dtype), ROWS)
            found[operand.name] = np.where(where, others, bits).view(f"f{t.bytes}")
        elif t.is_predicate:
            found[operand.name] = bits % 2 > 0
        else:
            column = bits.astype(f"u{t.bytes}")
            found[operand.name] = column.view(f"f{t.bytes}") if t.is_native_float else column
    return found


def results(case: Case, judged: Type, other_nans: bool) -> list[Array]:
    known: dict[str, Any] = {**case.binding, **columns(case, judged, other_nans), "env": Environment()}
    known["t"] = main_type(case.form, case.binding)
    assert case.form.meaning is not None
    with np.errstate(all="ignore"):
        found = case.form.meaning(NumpyAlgebra(), **{p: known[p] for p in case.form.parameters})
    return [np.asarray(c) for c in (found if isinstance(found, tuple) else (found,))]


@pytest.mark.parametrize("t", [F32, F64], ids=lambda t: t.name)
def test_what_does_not_see_nans_gives_the_same_for_all(t: Type) -> None:
    observer, judged, wrong = Observer(Environment()), 0, list[str]()
    for case in cases(t):
        sees, handed = observer(operation(case))
        if sees:
            continue
        judged += 1
        for carried, a, b in zip(handed, results(case, t, False), results(case, t, True), strict=True):
            same = a.view(f"u{a.itemsize}") == b.view(f"u{b.itemsize}")
            if not np.all(same | np.isnan(a) & np.isnan(b) if carried else same):
                wrong.append(case.opcode)
    assert wrong == []
    assert judged > 100


HEAD = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 m, .param .u32 n)
{
    .reg .pred %p;
    .reg .b32 %i, %n;
    .reg .b64 %m, %w;
    .reg .f32 %f, %g;
    .reg .f64 %x, %y, %z;
    ld.param.u64 %m, [m];
    ld.param.u32 %n, [n];
    ld.global.f64 %x, [%m];
    mov.u32 %i, 0;
"""
LOOP = "TURN: {} add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra TURN;"


def unseen(body: str) -> set[str]:
    """The registers of floats of which no definition's NaNs are seen."""
    tree, problems = parse(f"{HEAD}{body}\n    ret;\n}}\n", "k.ptx")
    assert tree is not None
    assert not problems.errors
    function = lower(tree).functions["k"]
    ssa = build(function, schedule(function))
    found = unseen_nans(ssa, Environment())
    given = [d for d in ssa.definitions if d.origin != "undefined" and d.register.type in (F32, F64)]
    names = {d.register.name for d in given} - {d.register.name for d in given if d not in found}
    return {name.lstrip("%") for name in names}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("add.f64 %y, %x, %x; setp.lt.f64 %p, %y, %x;", "xy"),
        ("add.f64 %y, %x, %x; st.global.f64 [%m], %y;", ""),
        ("add.f64 %y, %x, %x; mov.b64 %w, %y; setp.lt.f64 %p, %x, %x;", ""),
        ("neg.f64 %y, %x; min.f64 %z, %y, %x; cvt.rzi.s32.f64 %i, %z;", "xyz"),
        ("add.f64 %y, %x, %x; cvt.rn.f32.f64 %f, %y;", "f"),
        ("ld.global.f32 %f, [%m]; max.f32 %f, %f, %f; add.ftz.f32 %g, %f, %f; st.global.f32 [%m], %g;", "fx"),
        ("ld.global.f32 %f, [%m]; @%p neg.f32 %f, %f; st.global.f32 [%m], %f;", "x"),
        ("add.f64 %y, %x, %x; selp.f64 %z, %y, %x, %p; setp.lt.f64 %p, %z, %z;", "xyz"),
        (LOOP.format("fma.rn.f64 %x, %x, %x, %x;") + "setp.lt.f64 %p, %x, %x;", "x"),
        (LOOP.format("mul.f64 %y, %x, %x; setp.lt.f64 %p, %y, %x;") + "st.global.f64 [%m], %x;", "y"),
        (LOOP.format("mov.f64 %x, %y; mul.f64 %y, %x, %x;") + "st.global.f64 [%m], %x;", ""),
        ("mul.f64 %y, %x, %x; @%p mul.f64 %y, %x, %x; st.global.f64 [%m], %y;", ""),
        ("mov.f64 %z, %x; @%p mul.f64 %y, %x, %x; mov.b64 {%i, %n}, %z; setp.lt.f64 %p, %y, %y;", "y"),
    ],
)
def test_whose_nans_are_seen(body: str, expected: str) -> None:
    assert unseen(body) == set(expected)


def test_functions_see_their_arguments_and_results() -> None:
    text = """.version 7.5
.target sm_75
.address_size 64
.func (.reg .f64 %r) f(.reg .f64 %a, .reg .f64 %b)
{
    .reg .pred %p;
    setp.lt.f64 %p, %b, %b;
    @%p ret;
    add.f64 %r, %a, %a;
    ret;
}
"""
    tree, problems = parse(text, "f.ptx")
    assert tree is not None
    assert not problems.errors
    function = lower(tree).functions["f"]
    ssa = build(function, schedule(function))
    found = {d.register.name for d in unseen_nans(ssa, Environment())}
    assert "%b" in found
    assert not {"%a", "%r"} & found
