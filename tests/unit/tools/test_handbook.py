"""The handbook's tables against the catalogue."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from simt.isa.catalogue import FORMS
from simt.tools.handbook import TABLES, Row, alternatives, found, gaps, places
from simt.tools.pages import handbook_coverage, page

ROOT = Path(__file__).parents[3]


def test_nothing_that_the_handbook_names_is_missing() -> None:
    assert list(gaps()) == []


@pytest.mark.parametrize(
    "row",
    [
        Row("no such mnemonic", "nosuch.u32"),
        Row("no such modifier", "add.nosuch.u32"),
        Row("one of two", "popc.{b32,b16}"),
        Row("another order", "cvt.f16.rn.f32"),
        Row("no such register", "%nosuch"),
        Row("neither instruction nor remark"),
        Row("a remark does not fill a gap", "nosuch", "because"),
    ],
    ids=lambda row: row.name,
)
def test_gaps_are_found(row: Row) -> None:
    assert row.is_gap


def test_patterns_stand_for_instructions_with_their_modifiers() -> None:
    assert alternatives("a.{b,c}.{d,e}") == ["a.b.d", "a.b.e", "a.c.d", "a.c.e"]
    ((form, count),) = found("popc.b32")
    assert (form, count) == (FORMS["popc"][0], 1)
    assert found("popc")[0][1] == 2
    assert found("%tid")[0][1] == 4


def test_remarks_name_files_that_exist() -> None:
    named = [n for t in TABLES for r in t.rows for n in re.findall(r"`([\w/]+\.\w+)`", r.remark) if "/" in n]
    assert named
    assert [n for n in named if not (ROOT / n).exists()] == []


def test_pages_say_where_the_handbook_names_them() -> None:
    assert "8.5" in places(FORMS["popc"][0])
    assert "- Handbook: [table 8.5](handbook.md#8-5)." in page("popc", FORMS["popc"])
    assert '<a id="8-5"></a>Table 8.5: ' in handbook_coverage()
    assert "missing" not in handbook_coverage()
