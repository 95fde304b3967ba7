"""Whole files of PTX 1.0 to 1.4, of our own, and each of them with one line taken out, doubled or moved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from tests.parity.dialects import Dialect
from tests.parity.verdicts import accepts

FOLDER = Path(__file__).parent / "files"
NAMES = tuple(sorted(p.name for p in FOLDER.glob("*.ptx")))
MARK = "file: "
"""Before the recorded name of a file and its change."""


def changes(name: str) -> Iterator[str]:
    """The file as it is, and every change of one line, as marked text."""
    lines = (FOLDER / name).read_text().splitlines()
    yield f"{MARK}{name}"
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield from (f"{MARK}{name} {what} {number}" for what in ("without", "doubled", "swapped"))


def dialect(text: str) -> Dialect:
    """The version and target that a marked file begins with."""
    lines = (FOLDER / text.removeprefix(MARK).split()[0]).read_text().split("\n")
    major, minor = lines[0].split()[1].split(".")
    return Dialect((int(major), int(minor)), lines[1].split(maxsplit=1)[1])


def changes_of(wanted: Dialect) -> list[str]:
    """Each file of a dialect and its changes, as marked text."""
    return [text for name in NAMES if dialect(name) == wanted for text in changes(name)]


def compare(texts: Iterable[str], theirs: Callable[[str], bool]) -> Iterator[tuple[str, bool, bool]]:
    """Each marked text, whether ptxas takes its module (`theirs`), and whether simt does."""
    for text in texts:
        module = changed(text)
        yield text, theirs(module), accepts(module)


def changed(text: str) -> str:
    """The module that a marked text stands for: `file: NAME [without|doubled|swapped LINE]`."""
    name, *change = text.removeprefix(MARK).split()
    lines = (FOLDER / name).read_text().splitlines()
    if change:
        what, at = change[0], int(change[1]) - 1
        here = lines[at : at + 2]
        lines[at : at + 2] = {"without": here[1:], "doubled": [here[0], *here], "swapped": here[::-1]}[what]
    return "\n".join(lines) + "\n"
