"""Special registers (PTX 1.4 chapter 8)."""

from __future__ import annotations

import pytest

from simt.isa.catalogue import FORMS
from simt.isa.special_registers import SPECIAL_REGISTERS, lookup
from simt.ptx.types import U16, U32, U64
from tests.unit.isa.ptxas import needs_ptxas, rejected

INSTRUCTION_TABLES = (*range(66, 72), *range(74, 86))
"""Tables of PTX 1.4 on moves, conversion, texture, control, synchronisation (72 and 73 are syntax)."""

LANGUAGES = (
    (1, 0, 10), (1, 3, 13), (1, 4, 13), (2, 0, 20), (2, 3, 12), (3, 0, 20), (3, 1, 35), (4, 0, 50),
    (5, 0, 52), (7, 6, 80), (8, 1, 90), (9, 0, 90),
)  # fmt: skip
"""Versions and targets of modules in which ptxas is asked for every register."""
UNCHECKED = "%envreg"
"""ptxas 13 takes these in PTX 1.4 too, whose chapter 8 does not have them."""


@pytest.mark.parametrize("table", INSTRUCTION_TABLES)
def test_every_instruction_table_has_a_form(table: int) -> None:
    references = [
        f.ref.removeprefix("PTX 1.4 ") for forms in FORMS.values() for f in forms if "1.4 table" in f.ref
    ]
    assert any(str(table) in r.replace(",", "").split()[1:] for r in references)


@pytest.mark.parametrize("table", range(86, 96))
def test_every_register_table_has_a_register(table: int) -> None:
    assert any(r.ref == f"PTX 1.4 table {table}" for r in SPECIAL_REGISTERS.values())


def test_shapes_are_narrow_in_old_modules() -> None:
    tid = lookup("%tid", "x", (1, 4))
    assert tid is not None
    assert (tid.declared((1, 4)), tid.declared((2, 0)), tid.type) == (U16, U32, U32)


def test_the_grid_number_widens() -> None:
    grid = lookup("%gridid")
    assert grid is not None
    assert (grid.declared((1, 4)), grid.type) == (U32, U64)


@pytest.mark.parametrize(
    ("name", "component", "version"),
    [("%tid", "v", (9, 0)), ("%laneid", "x", (9, 0)), ("%laneid", "", (1, 2)), ("%tie", "", (9, 0))],
)
def test_unknown_names_components_and_versions(name: str, component: str, version: tuple[int, int]) -> None:
    assert lookup(name, component, version) is None


@pytest.mark.ptxas
@needs_ptxas
@pytest.mark.parametrize(
    ("version", "target"), [((major, minor), f"sm_{number}") for major, minor, number in LANGUAGES]
)
def test_registers_exist_where_ptxas_has_them(version: tuple[int, int], target: str) -> None:
    lines: list[str] = []
    expected: list[bool] = []
    for r in (r for r in SPECIAL_REGISTERS.values() if not r.name.startswith(UNCHECKED)):
        name = f"{r.name}.{r.components[0]}".rstrip(".")
        lines.append(f"mov.{r.type.name} %{r.type.name}_0, {name}")
        needed = r.requirement
        expected.append(version >= needed.version and int(target[3:]) >= needed.target)
    refused = rejected(lines, version, target)
    assert [lines[i] for i, e in enumerate(expected) if e == (i in refused)] == []
