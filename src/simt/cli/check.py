"""`simt check`: the diagnostics of PTX files, as a compiler prints them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import click

from simt.cli.display import coloured
from simt.cli.files import check_once, read, shown
from simt.diagnostics import Diagnostic, Severity, counted
from simt.driver.source import check_source
from simt.errors import PtxFileError

_EPILOG = """\b
Examples:
  simt check kernels.ptx
  simt check *.ptx --format json
  nvcc -ptx -o - k.cu | simt check -

\b
Exit codes: 0 no errors (there may be warnings), 1 errors, 2 wrong usage or an unreadable file.
"""


@click.command(epilog=_EPILOG, short_help="Print the errors and warnings of PTX files.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--format", "layout", type=click.Choice(["text", "json"]), default="text", show_default=True)
def check(files: tuple[str, ...], layout: str) -> int:
    """Checks PTX files and prints every error and warning, with its line, a caret and what was expected.

    FILE may be - for standard input.
    """
    check_once(files)
    findings = [_check_file(name) for name in files]
    found = [d for each in findings for d in each or ()]
    errors = sum(d.severity is Severity.ERROR for d in found)
    if layout == "json":
        click.echo(json.dumps([as_json(d) for d in found], indent=2))
    else:
        _print(found)
        if read := sum(each is not None for each in findings):
            click.echo(_summary(errors, len(found) - errors, read), err=True)
    return 2 if None in findings else 1 if errors else 0


def _check_file(name: str) -> Sequence[Diagnostic] | None:
    """The findings, None if the file cannot be read."""
    try:
        return check_source(read(name), shown(name))
    except PtxFileError as problem:
        click.echo(f"simt: error: {problem}", err=True)
        return None


def as_json(diagnostic: Diagnostic) -> dict[str, Any]:
    """Lines and columns count from 1; `end_column` is one past the last character, on its line."""
    end_line, end_column = diagnostic.source.position(diagnostic.span.end)
    return {
        "file": diagnostic.source.name,
        "line": diagnostic.line,
        "column": diagnostic.column,
        "end_line": end_line,
        "end_column": end_column,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        "hint": diagnostic.hint,
    }


def _print(found: Iterable[Diagnostic]) -> None:
    for diagnostic in found:
        click.echo(coloured(diagnostic))


def _summary(errors: int, warnings: int, files: int) -> str:
    return f"{counted(errors, 'error')} and {counted(warnings, 'warning')} in {counted(files, 'file')}"
