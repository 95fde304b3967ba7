"""Declarations, initialisers, headers of functions: whole modules that stand on one line each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from tests.parity.dialects import Dialect
from tests.parity.verdicts import accepts

PATH = Path(__file__).parent / "declarations.txt"
MARK = "module: "
"""Before the recorded text of a whole module, to tell it from a snippet."""


def lines() -> list[str]:
    """The lines that are tried in every dialect."""
    return [line for line in PATH.read_text().splitlines() if line and not line.startswith("//")]


def module(dialect: Dialect, text: str) -> str:
    """The module that a marked line stands for."""
    return f"{dialect.directives}{text.removeprefix(MARK)}\n"


def compare(
    dialect: Dialect, tried: Iterable[str], theirs: Callable[[str], bool]
) -> Iterator[tuple[str, bool, bool]]:
    """Each line, marked, whether ptxas takes it as a module of the dialect (`theirs`), and whether
    simt does."""
    for line in tried:
        text = module(dialect, line)
        yield MARK + line, theirs(text), accepts(text)
