"""Every instruction of double precision of PTX 1.x is mapped to one of single precision, unless it moves."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import simt.isa  # noqa: F401  # pyright: ignore[reportUnusedImport]  (fills the catalogue)
from simt.isa.catalogue import FORMS
from simt.isa.form import Version
from simt.isa.mapped import single_precision
from simt.isa.select import Selection, select
from simt.ptx.types import F32, F64

Key = tuple[str, tuple[str, ...], int]


def opcodes(version: Version) -> Iterator[tuple[Key, Selection]]:
    """Opcodes with .f64 that a module of the version may use for sm_13."""
    seen: set[Key] = set()
    for form in (f for forms in FORMS.values() for f in forms):
        for binding in (b for b in form.bindings() if F64 in b.values()):
            mnemonic, *words = form.spell(binding).split(".")
            key = mnemonic, tuple(words), len(form.operands)
            found = None if key in seen else select(*key, version, 13)
            seen.add(key)
            if isinstance(found, Selection) and found.shortfall(version, 13) is None:
                yield key, found


@pytest.mark.parametrize("minor", range(5))
def test_every_instruction_is_mapped_or_moves(minor: int) -> None:
    count = 0
    for key, selection in opcodes((1, minor)):
        single = single_precision(*key, (1, minor), 10)
        moves = key[0] in ("ld", "st", "mov")
        assert (single is None) == moves, key
        assert single is None or F64 not in single.binding.values()
        assert single is None or F32 in single.binding.values()
        assert moves or selection.form.mnemonic in (key[0], "fma")
        count += not moves
    assert count > 100


def test_what_has_no_doubles_is_left_alone() -> None:
    assert single_precision("add", ("f32",), 3, (1, 4), 10) is None
    assert single_precision("mov", ("f64",), 2, (1, 4), 10) is None


@pytest.mark.parametrize(
    ("opcode", "mapped"),
    [
        ("add.rz.f64", "add.rz.f32"), ("mad.rn.f64", "mad.rn.f32"), ("fma.rn.f64", "mad.rn.f32"),
        ("div.rn.f64", "div.approx.f32"), ("sqrt.rn.f64", "sqrt.approx.f32"),
        ("cvt.rn.f32.f64", "cvt.f32.f32"), ("cvt.f64.s32", "cvt.rn.f32.s32"),
        ("cvt.rzi.u32.f64", "cvt.rzi.u32.f32"),
    ],
)  # fmt: skip
def test_roundings_that_single_precision_lacks(opcode: str, mapped: str) -> None:
    mnemonic, *words = opcode.split(".")
    count = {"mad": 4, "fma": 4, "cvt": 2, "sqrt": 2}.get(mnemonic, 3)
    found = single_precision(mnemonic, tuple(words), count, (1, 4), 10)
    assert found is not None
    assert found.form.spell(found.written) == mapped
