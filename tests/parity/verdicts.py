"""What simt accepts, and the recorded verdicts of ptxas, for machines that have none."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from simt.ptx.parser import parse
from simt.verify import verify
from tests.parity.dialects import DIALECTS, TAIL, Dialect

RECORDED = Path(__file__).parent / "recorded.txt.gz"
Verdict = tuple[str, bool]
"""A snippet (or a line of declarations), and whether ptxas accepts it."""


def accepts(text: str) -> bool:
    """Whether the parser and the verifier take a module."""
    module, syntax = parse(text, "module")
    return module is not None and not syntax.errors and not verify(module).errors


MOST_LINES = 400
"""Snippets of one module: a module has a limit on the diagnostics that it gets."""


def ours(dialect: Dialect, snippets: Sequence[str]) -> list[bool]:
    """For each snippet, whether the parser and the verifier take it in a module of the dialect."""
    starts = range(0, len(snippets), MOST_LINES)
    return [taken for n in starts for taken in _together(dialect, snippets[n : n + MOST_LINES])]


def _together(dialect: Dialect, snippets: Sequence[str]) -> list[bool]:
    module, syntax = parse(dialect.head + "\n".join(snippets) + "\n" + TAIL, "snippets")
    assert module is not None
    first = dialect.head.count("\n") + 1
    bad = {d.line - first for d in (*syntax.errors, *verify(module).errors)}
    assert bad.issubset(range(len(snippets))), "the module around the snippets is refused"
    return [n not in bad for n in range(len(snippets))]


def write(verdicts: Iterable[tuple[Dialect, Sequence[Verdict]]]) -> None:
    """Records verdicts, dialect by dialect; the same ones give the same file."""
    lines: list[str] = []
    for dialect, found in verdicts:
        lines.append(f"# {dialect}")
        lines += [f"{'+' if accepted else '-'} {text}" for text, accepted in found]
    with RECORDED.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as file:
        file.write(("\n".join(lines) + "\n").encode())


def read() -> Iterator[tuple[Dialect, list[Verdict]]]:
    """The recorded verdicts, dialect by dialect."""
    known = {str(d): d for d in DIALECTS}
    for part in gzip.decompress(RECORDED.read_bytes()).decode().removeprefix("# ").split("\n# "):
        name, *lines = part.rstrip("\n").split("\n")
        yield known[name], [(line[2:], line[0] == "+") for line in lines]
