"""Diagnostics and errors on a terminal: in colour, which click drops where the output is no terminal."""

from __future__ import annotations

import linecache
from collections.abc import Iterable, Sequence

import click

from simt.diagnostics import Diagnostic, Severity
from simt.errors import KernelFault, SimtError

_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "magenta"}


def coloured(diagnostic: Diagnostic) -> str:
    """The rendered diagnostic: place in bold, severity and caret in its colour."""
    head, *rest = diagnostic.render().split("\n")
    word = f" {diagnostic.severity.value}: "
    place, _, message = head.partition(word)
    colour = _COLOURS[diagnostic.severity]
    first = click.style(place, bold=True) + click.style(word, fg=colour, bold=True) + message
    styled = [click.style(row, fg=colour) if set(row.strip()) == {"^"} else row for row in rest]
    return "\n".join([first, *styled])


def error(problem: SimtError) -> str:
    """`simt: error: kind: message`, and for a fault the line of PTX that ran."""
    label = click.style("error", fg="red", bold=True)
    shown = f"simt: {label}: {type(problem).__name__}: {problem}"
    return shown + (_faulting_line(problem) if isinstance(problem, KernelFault) else "")


def _faulting_line(fault: KernelFault) -> str:
    if fault.site.file is None or fault.site.line is None:
        return ""
    text = linecache.getline(fault.site.file, fault.site.line).strip()
    return f"\n    {text}" if text else ""


def aligned(rows: Sequence[Sequence[str]]) -> Iterable[str]:
    """Rows as lines, the cells of each column starting below each other."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
