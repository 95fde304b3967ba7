"""Pages about instructions, and the formulas on them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from simt.isa.catalogue import FORMS
from simt.isa.form import Form
from simt.tools.formula import Expression, formula, plainest
from simt.tools.pages import Conformance, coverage, page, table_numbers


def form_of(syntax: str) -> Form:
    mnemonic = syntax.split()[0].split(".")[0].split("[")[0]
    return next(f for f in FORMS[mnemonic] if f.syntax == syntax)


@pytest.mark.parametrize(
    ("syntax", "expected"),
    [
        ("add.type d, a, b", ["d = a + b"]),
        ("mul.mode.type d:wide(type), a, b", ["d = u32(a) * u32(b)"]),
        ("sad.type d, a, b, c", ["d = c + (max(a, b) - min(a, b))"]),
        ("selp.type d, a, b, c:pred", ["d = c ? a : b"]),
        ("div.rnd.f64 d, a, b", ["d = rn(a / b)"]),
        ("add.cc.type d, a, b", ["d = a + b", "CC.CF = d < b"]),  # a result in use has its own name
        ("bra[.uni] target:label", []),
    ],
)
def test_formulas_are_the_meanings(syntax: str, expected: list[str]) -> None:
    form = form_of(syntax)
    assert formula(form, plainest(form)[0]) == expected


def test_every_meaning_runs_on_symbols() -> None:
    forms = [f for forms in FORMS.values() for f in forms if f.meaning is not None]
    lengths = [len(formula(f, b)) for f in forms for b in plainest(f)[:3]]
    assert sum(n > 0 for n in lengths) > len(lengths) / 2


def test_work_is_that_of_the_parts_not_of_the_ways_to_them() -> None:
    """Of which there are two to the power of sixty here."""
    hashed = list[str]()

    class Head(str):
        def __hash__(self) -> int:
            hashed.append(self)
            return super().__hash__()

    value = Expression(Head("a"))
    for _ in range(60):
        value = Expression(Head("+"), (value, value), True)
    found = value.inner_first()
    assert [e.head for e in found] == ["a", *["+"] * 60]
    assert len(hashed) == 61


def test_a_page_has_everything_about_a_form() -> None:
    shown = page("mad24", FORMS["mad24"])
    for wanted in (
        "## `mad24.mode.type d, a, b, c`",
        "plus a third value",
        "- `.mode`: `.hi` `.lo`",
        "- `c`: source, `.type`",
        "- From PTX 1.0, sm_10.",
        "- Reference: PTX 1.4 table 29.",
        "- Meaning: `simt.isa.integer.mad24`.",
        "- Conformance: ",
    ):
        assert wanted in shown


def test_every_table_of_instructions_and_registers_is_covered() -> None:
    """37 is a summary, 72 and 73 are braces and guards."""
    rows = [line.split("|")[1].strip() for line in coverage().splitlines() if line.startswith("| ")]
    assert [int(n) for n in rows if n.isdecimal()] == [n for n in range(20, 96) if n not in (37, 72, 73)]


def test_references_name_tables() -> None:
    assert table_numbers("PTX 1.4 tables 66, 67") == [66, 67]
    assert table_numbers("PTX ISA 2.0 popc") == []


def test_conformance_says_what_was_compared() -> None:
    assert str(Conformance()) == "no vectors"
    assert str(Conformance(2, 256, 256)) == "256 vectors of 2 kernels: all bit for bit"
    some = Conformance(1, 128, 100, 20, 5)
    assert str(some) == (
        "128 vectors of 1 kernels: 100 bit for bit, 20 within the manual's bound, 8 different; "
        "5 more NVIDIA's driver refuses"
    )


@pytest.mark.parametrize("arguments", [[], ["--help"], ["a", "b"]])
def test_pages_go_into_one_folder_only(arguments: list[str], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "simt.tools.pages", *arguments], cwd=tmp_path, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr[:41]) == (1, b"usage: python -m simt.tools.pages FOLDER ")
    assert not list(tmp_path.iterdir())
