"""The text of instructions, for people to read."""

from __future__ import annotations

from simt.diagnostics import Source

LONGEST = 16
"""Lines of a statement that are looked at."""


def statement(text: Source, line: int) -> str:
    """The instruction at a line, without its semicolon, in one line. nvcc writes calls over several."""
    lines = (text.line(n).partition("//")[0] for n in range(line, line + LONGEST))
    found = next(lines)
    while ";" not in found and (more := next(lines, None)) is not None:
        found += more
    return " ".join(found.strip().removesuffix(";").split())
