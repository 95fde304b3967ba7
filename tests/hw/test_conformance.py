"""What the pages of `docs/isa/` say is what the vectors and the catalogue give: else run `make docs`."""

from __future__ import annotations

from pathlib import Path

from simt.tools.pages import CONFORMANCE, pages
from tests.hw import test_probes
from tests.hw.conformance import counted, text

FOLDER = Path(__file__).parents[2] / "docs" / "isa"


def test_small_programs_and_all_counts_are_those_of_the_vectors() -> None:
    """On the interpreter. In one test, so that one process runs the programs, once."""
    probes = test_probes.compared()
    assert [p.name for p in probes if test_probes.differing(p, test_probes.interpreted(p.name))] == []
    assert CONFORMANCE.read_text() == text(counted()), "run `make docs`"


def test_the_pages_are_what_make_docs_makes() -> None:
    kept = {path.name: path.read_text() for path in FOLDER.glob("*.md")}
    made = pages()
    assert sorted(kept) == sorted(made), "run `make docs`"
    assert [name for name in made if kept[name] != made[name]] == [], "run `make docs`"
