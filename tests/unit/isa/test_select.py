"""Selection of forms by opcode, modifiers and operand count."""

from __future__ import annotations

import pytest

from simt.isa.catalogue import FORMS
from simt.isa.form import Version
from simt.isa.select import Mismatch, Selection, operand_counts, select
from simt.ptx.types import F32, S32, U32

ARITHMETIC = ("integer", "floating", "compare", "logic", "half")


def chosen(opcode: str, count: int | None = None, version: Version = (9, 0), target: int = 90) -> Selection:
    mnemonic, *modifiers = opcode.split(".")
    found = select(mnemonic, tuple(modifiers), count, version, target)
    assert isinstance(found, Selection), found
    return found


def refused(opcode: str, count: int | None = None, version: Version = (9, 0)) -> Mismatch:
    mnemonic, *modifiers = opcode.split(".")
    found = select(mnemonic, tuple(modifiers), count, version)
    assert isinstance(found, Mismatch), found
    return found


def test_every_enumerated_opcode_selects_its_own_form() -> None:
    wrong: list[str] = []
    for form, binding in [
        (f, b) for fs in FORMS.values() for f in fs if f.chapter in ARITHMETIC for b in f.bindings()
    ]:
        version, target = (form.until, 13) if form.until else ((9, 0), 90)
        found = chosen(form.spell(binding), operand_counts(form)[1], version, target)
        if found.form is not form or found.written != binding:
            wrong.append(form.spell(binding))
    assert wrong == []


def test_a_complete_binding() -> None:
    found = chosen("add.rz.f32", 3)
    assert found.binding == {"rnd": "rz", "ftz": False, "sat": False, "f32": F32}
    assert chosen("mul.wide.s32").binding == {"mode": "wide", "type": S32}
    assert chosen("setp.lt.u32").binding == {"cmp": "lt", "ftz": False, "type": U32}


@pytest.mark.parametrize(
    ("written", "declared"),
    [
        ("add.f32.rn", "add.rn.f32"),
        ("add.sat.ftz.rz.f32", "add.rz.ftz.sat.f32"),
        ("setp.s32.lt", "setp.lt.s32"),
        ("setp.and.lt.f32", "setp.lt.and.f32"),
        ("set.u32.lt.f32", "set.lt.u32.f32"),
        ("prmt.f4e.b32", "prmt.b32.f4e"),
        ("min.abs.xorsign.f32", "min.xorsign.abs.f32"),
    ],
)
def test_modifiers_in_another_order(written: str, declared: str) -> None:
    a, b = chosen(written), chosen(declared)
    assert (a.form, a.binding) == (b.form, b.binding)


@pytest.mark.parametrize(
    "opcode",
    [
        "mul.u32.lo", "mul.s32.wide", "mad.s32.hi.sat", "shf.wrap.l.b32", "dp2a.u32.lo.u32",
        "mbarrier.b64.inval", "mbarrier.shared.init.b64", "mbarrier.test_wait.shared.parity.b64",
        "cp.async.arrive.mbarrier.b64", "createpolicy.L2::evict_first.fractional.b64",
    ],
)  # fmt: skip
def test_the_mode_keeps_its_place(opcode: str) -> None:
    refused(opcode)


def test_types_keep_their_order() -> None:
    assert chosen("set.f32.eq.s32").binding["stype"] is S32
    refused("set.f64.eq.u32")
    assert chosen("cvt.rn.f16x2.relu.e4m3x2").binding["small"] == "e4m3x2"
    refused("cvt.rn.e4m3x2.f16x2")


def test_priorities_keep_their_order() -> None:
    found = chosen("createpolicy.fractional.L2::evict_last.b64.L2::evict_first")
    assert (found.binding["primary"], found.binding["secondary"]) == ("L2::evict_last", "L2::evict_first")
    refused("createpolicy.fractional.L2::evict_first.L2::evict_last.b64")


@pytest.mark.parametrize(
    ("opcode", "count", "message", "hint"),
    [
        ("foo", None, "unknown instruction `foo`", None),
        ("popcc", None, "unknown instruction `popcc`", "did you mean `popc`?"),
        ("cnot.b33", 2, "`cnot` has no modifier `.b33` here", "expected one of .b16 .b32 .b64"),
        ("cnot.b32.sat", 2, "`cnot.b32` has no modifier `.sat` here", "expected no further modifier"),
        ("cnot", 2, "`cnot` needs a further modifier", "expected one of .b16 .b32 .b64"),
        ("mul24.lo", 3, "`mul24.lo` needs a further modifier", "expected one of .u32 .s32"),
        ("popc.b32", 3, "`popc.b32` takes 2 operands, not 3", "expected `popc.type d:u32, a`"),
    ],
)
def test_messages(opcode: str, count: int | None, message: str, hint: str | None) -> None:
    found = refused(opcode, count)
    assert (found.message, found.hint) == (message, hint)


def test_the_modifier_to_blame() -> None:
    assert refused("add.rn.foo.f32").modifier == 1
    assert refused("add.rn").modifier == -1


def test_a_comparison_that_the_type_lacks() -> None:
    found = refused("setp.lo.s32", 3)
    assert found.message == (
        "`setp.lo.s32`: `.lo` does not compare `.s32` values; expected one of .eq .ne .lt .le .gt .ge"
    )


# ---------------------------------------------------------------- versions and targets


def test_single_precision_flushes_in_ptx_1() -> None:
    assert chosen("add.f32", 3, (1, 4), 13).binding["ftz"] is True
    assert chosen("add.f32", 3, (2, 0), 20).binding["ftz"] is False
    assert chosen("add.f32", 3, (2, 3), 13).binding["ftz"] is True
    assert chosen("setp.lt.f32", 3, (1, 0), 10).binding["ftz"] is True


def test_double_precision_and_integers_never_flush() -> None:
    assert chosen("add.f64", 3, (1, 4), 13).binding["ftz"] is False
    assert chosen("setp.lt.f64", 3, (1, 4), 13).binding["ftz"] is False
    assert chosen("set.lt.u32.s32", 3, (1, 4), 13).binding["ftz"] is False


def test_implied_flushing_needs_no_version() -> None:
    assert chosen("add.f32", 3, (1, 0), 10).shortfall((1, 0), 10) is None
    assert (
        chosen("add.ftz.f32", 3, (1, 0), 10).shortfall((1, 0), 10)
        == "`add.ftz.f32` requires PTX ISA 1.4 or later"
    )


@pytest.mark.parametrize(
    ("opcode", "count", "modern"),
    [
        ("div.f32", 3, "div.approx.f32"),
        ("div.f64", 3, "div.rn.f64"),
        ("rcp.f64", 2, "rcp.rn.f64"),
        ("sqrt.f32", 2, "sqrt.approx.f32"),
        ("rsqrt.f64", 2, "rsqrt.approx.f64"),
        ("lg2.f32", 2, "lg2.approx.f32"),
        ("mad.f64", 4, "mad.rn.f64"),
    ],
)
def test_legacy_spellings(opcode: str, count: int, modern: str) -> None:
    legacy, explicit = chosen(opcode, count, (1, 3), 13), chosen(modern, count, (1, 4), 13)
    assert legacy.form.meaning is explicit.form.meaning
    assert legacy.shortfall((1, 3), 13) is None
    for name in ("ftz", "rnd"):
        assert legacy.binding.get(name) == explicit.binding.get(name)
    assert legacy.shortfall((1, 4), 13) == f"`{opcode}` is not allowed after PTX ISA 1.3"


@pytest.mark.parametrize(
    ("opcode", "version", "target", "shortfall"),
    [
        ("fma.rm.f32", (1, 4), 13, "`fma.rm.f32` requires PTX ISA 2.0 or later"),
        ("fma.rm.f32", (2, 0), 13, "`fma.rm.f32` requires sm_20 or later"),
        ("add.f64", (1, 0), 12, "`add.f64` requires sm_13 or later"),
        ("add.cc.u32", (1, 1), 13, "`add.cc.u32` requires PTX ISA 1.2 or later"),
        ("subc.u32", (1, 2), 13, "`subc.u32` requires PTX ISA 1.3 or later"),
        ("fma.rn.f64", (1, 3), 13, "`fma.rn.f64` requires PTX ISA 1.4 or later"),
        ("popc.b32", (1, 4), 13, "`popc.b32` requires PTX ISA 2.0 or later"),
        ("mad.f32", (9, 0), 90, "`mad.f32` is not allowed after PTX ISA 1.4"),
        ("mad.f32", (2, 3), 13, None),
        ("mad.rn.f32", (2, 0), 20, None),
        ("add.sat.s32", (1, 0), 10, None),
    ],
)
def test_requirements(opcode: str, version: Version, target: int, shortfall: str | None) -> None:
    assert chosen(opcode, None, version, target).shortfall(version, target) == shortfall


SUMMARY_TABLE = 37


@pytest.mark.parametrize("table", sorted(set(range(20, 66)) - {SUMMARY_TABLE}))
def test_every_table_of_arithmetic_has_forms(table: int) -> None:
    assert any(f.ref == f"PTX 1.4 table {table}" for fs in FORMS.values() for f in fs)
