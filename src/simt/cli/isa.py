"""`simt isa`: the catalogue of instructions."""

from __future__ import annotations

import difflib
import json
import sys
from collections.abc import Sequence
from importlib import import_module

import click
from rich.console import Console
from rich.table import Table

from simt.cli.display import aligned
from simt.isa.catalogue import FORMS, KNOWN
from simt.isa.form import Form
from simt.tools.pages import as_json, dotted, forms_of, page

_EPILOG = """\b
Examples:
  simt isa                      every form
  simt isa mad                  the page of one instruction, as in docs/isa/
  simt isa --ptx 1.4            what PTX 1.4 has
  simt isa --format json        for programs
"""

_HEADINGS = ("form", "PTX", "target", "reference", "run")


@click.command(epilog=_EPILOG, short_help="List the instructions that simt knows.")
@click.argument("mnemonic", required=False)
@click.option("--ptx", metavar="VERSION", help="Only forms that this PTX version has, e.g. 1.4.")
@click.option("--format", "layout", type=click.Choice(["text", "json"]), default="text", show_default=True)
def isa(mnemonic: str | None, ptx: str | None, layout: str) -> None:
    """Lists the instruction forms that simt knows: syntax, first PTX version and target, the manual's
    table or section, and whether it is run, or known only: modules may have it, but kernels that reach it
    cannot be launched. With MNEMONIC, its page: meaning in words and formula,
    modifiers, operands, and how its results compare with those recorded on a GPU."""
    forms = _forms(mnemonic)
    if ptx is not None:
        forms = [f for f in forms if available(f, _version(ptx))]
    if layout == "json":
        click.echo(json.dumps([as_json(f) for f in forms], indent=2))
    elif mnemonic is not None:
        click.echo(page(mnemonic, forms), nl=False)
    else:
        _print_table([_row(f) for f in forms])


def _forms(mnemonic: str | None) -> list[Form]:
    import_module("simt.isa")  # fills the catalogue
    names = sorted({*FORMS, *KNOWN})
    if mnemonic is None:
        return [form for name in names for form in forms_of(name)]
    if mnemonic not in names:
        close = difflib.get_close_matches(mnemonic.lower().partition(".")[0], names, n=3)
        meant = f"; did you mean {' or '.join(close)}?" if close else ""
        raise click.UsageError(f"no instruction {mnemonic!r}{meant}")
    return forms_of(mnemonic)


def _version(text: str) -> tuple[int, int]:
    major, dot, minor = text.partition(".")
    if not (dot and major.isdecimal() and minor.isdecimal()):
        raise click.UsageError(f"--ptx: expected a version such as 1.4, {text!r} given")
    return int(major), int(minor)


def available(form: Form, version: tuple[int, int]) -> bool:
    """Whether a PTX version has this form (`until` is the last one that has)."""
    return form.requirement.version <= version and (form.until is None or version <= form.until)


def _row(form: Form) -> tuple[str, ...]:
    versions = dotted(form.requirement.version) + (f"-{dotted(form.until)}" if form.until else "")
    return form.syntax, versions, f"sm_{form.requirement.target}", form.ref, "yes" if form.runs else "no"


def _print_table(rows: Sequence[tuple[str, ...]]) -> None:
    total = f"{len(rows)} forms, {sum(r[-1] == 'yes' for r in rows)} of them run"
    if sys.stdout.isatty():
        table = Table(*_HEADINGS, caption=total)
        for row in rows:
            table.add_row(*(cell.replace("[", r"\[") for cell in row))
        Console().print(table)
    else:
        click.echo("\n".join(aligned([_HEADINGS, *rows])))
        click.echo(total, err=True)
