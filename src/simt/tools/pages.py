"""Pages about instructions, made from the catalogue: `simt isa NAME` prints them, `make docs` keeps them."""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any, cast

import simt.isa  # noqa: F401  # pyright: ignore[reportUnusedImport]  (fills the catalogue)
from simt.isa.catalogue import FORMS, KNOWN
from simt.isa.form import NON_VALUES, Form, OperandForm, Requirement, Selector, Slot
from simt.isa.special_registers import SPECIAL_REGISTERS, SpecialRegister
from simt.records import dataclass
from simt.tools import handbook
from simt.tools.formula import formula, plainest

CONFORMANCE = Path(__file__).with_name("conformance.json")
"""What the replay of the hardware's vectors found, written by `make docs` (`tests.hw.conformance`)."""

OLD, OLD_TARGET = (1, 4), 13
MOST_FORMULAS = 6


@dataclass(frozen=True, slots=True)
class Conformance:
    """The comparison with results recorded on a real GPU (an H200).

    `opcodes`: kernels of one instruction that were recorded, `vectors`: their results, one for each lane;
    `exact`: results of ours with the same bits; `bounded`: others within the manual's bound. `refused`:
    kernels that NVIDIA's driver does not take.
    """

    opcodes: int = 0
    vectors: int = 0
    exact: int = 0
    bounded: int = 0
    refused: int = 0

    def __add__(self, other: Conformance) -> Conformance:
        return Conformance(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def __str__(self) -> str:
        return self._counted() + (f"; {self.refused:,} more NVIDIA's driver refuses" if self.refused else "")

    def _counted(self) -> str:
        if not self.vectors:
            return "no vectors"
        counted = f"{self.vectors:,} vectors of {self.opcodes:,} kernels"
        if self.exact == self.vectors:
            return f"{counted}: all bit for bit"
        parts = [
            (self.exact, "bit for bit"),
            (self.bounded, "within the manual's bound"),
            (self.vectors - self.exact - self.bounded, "different"),
        ]
        return f"{counted}: {', '.join(f'{n:,} {words}' for n, words in parts if n)}"


@cache
def conformance() -> dict[str, list[Conformance]]:
    """By mnemonic, in the order of its forms; by name for special registers."""
    if not CONFORMANCE.exists():
        return {}
    return {k: [Conformance(*row) for row in v] for k, v in json.loads(CONFORMANCE.read_text()).items()}


def of_form(form: Form) -> Conformance:
    """The conformance of one form."""
    if not form.runs:
        return Conformance()
    rows = conformance().get(form.mnemonic, [])
    place = FORMS[form.mnemonic].index(form)
    return rows[place] if place < len(rows) else Conformance()


def of_register(register: SpecialRegister) -> Conformance:
    """The conformance of one special register."""
    return next(iter(conformance().get(register.name, [])), Conformance())


NOT_RUN = "Known, not run: a kernel that reaches it cannot be launched, other kernels of its module can."


def forms_of(mnemonic: str) -> list[Form]:
    """The forms of a mnemonic: those that run, then those that are known only."""
    return [*FORMS.get(mnemonic, ()), *KNOWN.get(mnemonic, ())]


# ---------------------------------------------------------------- one instruction


def page(mnemonic: str, forms: Sequence[Form]) -> str:
    """The page of an instruction with some of its forms, in Markdown."""
    return "\n\n".join([f"# {mnemonic}", *(section(form) for form in forms)]) + "\n"


def section(form: Form) -> str:
    """One form: syntax, words, formula, modifiers, operands, versions, reference, conformance."""
    parts = [f"## `{form.syntax}`", form.words, _formulas(form), "\n".join(_facts(form))]
    return "\n\n".join(p for p in parts if p)


def _formulas(form: Form) -> str:
    """The formula of the plainest variant, or of several if they differ by a modifier that must be given."""
    found = {form.spell(b): formula(form, b) for b in plainest(form)}
    distinct = len({tuple(lines) for lines in found.values()})
    shown = dict(list(found.items())[: 1 if distinct == 1 or len(found) > MOST_FORMULAS else None])
    blocks = [
        f"{opcode}:\n" + "\n".join(f"    {row}" for row in rows) for opcode, rows in shown.items() if rows
    ]
    return "```\n" + "\n".join(blocks) + "\n```" if blocks else ""


DECISION = "../decisions/0023-products-and-sums-fuse.md"
CONTRACTED = {
    "product": "Without `.rnd` it may become one operation with the sums that use it, rounded once",
    "sum": "Without `.rnd` it may become one operation with a product that it uses, rounded once",
    "difference": "Without `.rnd` it may become one operation with a product that it uses, rounded once",
}
"""What is said of instructions that contraction changes."""


def _facts(form: Form) -> Iterator[str]:
    yield from (f"- `.{s.name}`: {_choices(s)}" for s in form.slots if has_choice(s))
    yield from (f"- `{o.name}`: {_operand(o)}" for o in form.operands)
    if form.contraction in CONTRACTED:
        yield f"- {CONTRACTED[form.contraction]} ([decision 23]({DECISION}))."
    yield f"- From {needs(form.requirement)}" + (f" to PTX {dotted(form.until)}" if form.until else "") + "."
    later = defaultdict[Requirement, list[str]](list)
    for words, requirement in form.requires.items():
        later[requirement].append(_written(words))
    yield from (f"- {', '.join(words)}: from {needs(r)}." for r, words in later.items())
    yield f"- Reference: {form.ref}."
    yield from (f"- Handbook: {_place(n)}." for n in handbook.places(form))
    if form.meaning is not None:
        yield f"- Meaning: `{form.meaning.__module__}.{form.meaning.__name__}`."
    yield f"- Conformance: {of_form(form)}." if form.runs else f"- {NOT_RUN}"


def _place(number: str) -> str:
    """`table 8.4`; sections are named so already."""
    return f"[{'table ' * number[0].isdecimal()}{number}](handbook.md#{anchor(number)})"


def anchor(number: str) -> str:
    """Where `handbook.md` has a table or section."""
    return re.sub(r"[^0-9a-z]+", "-", number)


def has_choice(slot: Slot) -> bool:
    """Whether a slot has alternatives, so that its name says nothing yet."""
    return len(slot.choices) > 1 or slot.name not in slot.choices


def _choices(slot: Slot) -> str:
    return " ".join(f"`.{c}`" for c in slot.choices) + (", may be left out" if slot.optional else "")


def _operand(operand: OperandForm) -> str:
    role = "result" if operand.destination else "source"
    extras = [
        f"a second result `{operand.second}`, a predicate, may follow" if operand.second else "",
        "may be negated" if operand.negatable else "",
        "may have a minus sign" if operand.signed else "",
        f"may have {_selected(operand.selector)}" if operand.selector else "",
        "may be left out" if operand.optional else "",
    ]
    return ", ".join([f"{role}, {_kind(operand)}", *(e for e in extras if e)])


def _selected(selector: Selector) -> str:
    return "one of " * (len(selector.patterns) > 1) + " ".join(f"`.{p}`" for p in selector.patterns)


def _kind(operand: OperandForm) -> str:
    if operand.address:
        return "an address in memory"
    if operand.spec in NON_VALUES:
        return {"texture": "a texture and its coordinates"}.get(operand.spec, operand.spec)
    function, _, inner = operand.spec.rstrip(")").rpartition("(")
    name = f"`.{inner}`"
    words = {
        "wide": f"twice as wide as {name}",
        "vec": f"{name}, or a vector of it",
        "x2": f"a vector of two {name}",
        "x4": f"a vector of four {name}",
        "pack": f"{name}, or a vector of its equal parts",
        "matrices": f"{name} for each matrix, in braces",
        "fragment": f"the registers of a lane for `{inner}`, in braces",
        "wmma": f"the registers of a lane for {inner if inner == 'matrix' else f'`{inner}`'}, in braces",
        "generic": "an address in a register of 32 or 64 bits",
        "token": f"{name}, as another instruction made it",
        "imm": f"a constant of {name}",
    }
    return words.get(function, name)


def _written(words: str) -> str:
    """A requirement's key in words: modifiers, as in "shared b64" or "!space", or `_` or `|`."""
    if words in ("_", "|"):
        return "`_` as the destination" if words == "_" else "a second destination"
    return " with ".join(f"without `.{w[1:]}`" if w.startswith("!") else f"`.{w}`" for w in words.split())


def needs(requirement: Requirement) -> str:
    """`PTX 2.0, sm_20`."""
    return f"PTX {dotted(requirement.version)}, sm_{requirement.target}"


def dotted(version: tuple[int, int]) -> str:
    """`1.4`."""
    return f"{version[0]}.{version[1]}"


# ---------------------------------------------------------------- overviews

INDEX = """\
Made from the catalogue, `src/simt/isa/`, by `make docs`. `simt isa NAME` shows a page in the terminal.

The formulas are the meanings that both engines execute, run on symbols: integers wrap, `rn(...)` rounds to
nearest even, `x ? a : b` chooses, a type's name used as a function changes the width or the format.
Conformance is the comparison with results recorded on an NVIDIA H200.

[coverage.md](coverage.md): PTX 1.4, table by table. [handbook.md](handbook.md): what the CUDA Handbook names,
table by table. [special-registers.md](special-registers.md): what `mov`
and `cvt` can read besides."""

KNOWN_ONLY = """\
Modules may have these; `...` stands for further modifiers and operands, which are not checked. A kernel that
can reach one cannot be launched (`simt.UnsupportedInstruction`); the other kernels of the module can."""

REGISTERS = """\
Made from the catalogue, `src/simt/isa/special_registers.py`, by `make docs`. `mov` and `cvt` read them; in
PTX 1.x into 16 or 32 bits. Registers without vectors hold what is the machine's own affair, such as the
counters of a profiler."""

COLUMNS = (
    "table", "defines", "forms", "implemented", "kernels", "vectors", "bit for bit", "in bound",
    "different", "refused",
)  # fmt: skip
COVERAGE = """\
Made by `make docs` from the catalogue and from the replay of results recorded on an NVIDIA H200.

Forms: combinations of types and modifiers that PTX 1.4 allows. Kernels: recorded programs of one form each,
as PTX 1.x and as the newest version. Vectors: their results, one for each lane. In bound: results that
differ from the hardware's, but keep the manual's error bound. NaNs count like numbers, by their
bits. Refused: kernels that follow the text, but that NVIDIA's driver does not take. Approximate functions are
compared as `approx="hardware"` computes them: [special-functions.md](../special-functions.md).
Tables 37 (a summary), 72 and 73 (braces and guards) define no instruction."""


def index() -> str:
    """All instructions by chapter, with their first words."""
    chapters = defaultdict[str, list[str]](list)
    for mnemonic, forms in FORMS.items():
        total = sum((of_form(f) for f in forms), Conformance())
        cells = (f"[{mnemonic}]({mnemonic}.md)", _first_words(forms[0]), str(len(forms)), str(total))
        chapters[forms[0].chapter].append(_row(*cells))
    head = _heading("instruction", "first form", "forms", "conformance")
    tables = [f"## {c.replace('_', ' ')}\n\n" + "\n".join([head, *rows]) for c, rows in chapters.items()]
    total = sum((c for found in conformance().values() for c in found), Conformance())
    return "\n\n".join(["# Instructions", INDEX, f"In all: {total}.", *tables, _known_only()]) + "\n"


def _known_only() -> str:
    """The table of what is known, but not run."""
    rows = [
        _row(f"[`{form.syntax}`]({mnemonic}.md)", _first_words(form), needs(form.requirement))
        for mnemonic, forms in KNOWN.items()
        for form in forms
    ]
    return "\n\n".join(
        ["## known, not run", KNOWN_ONLY, "\n".join([_heading("form", "what it does", "from"), *rows])]
    )


def _first_words(form: Form) -> str:
    return form.summary.replace("|", r"\|")


def _heading(*names: str) -> str:
    return _row(*names) + "\n" + "|" + " --- |" * len(names)


def _row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


@dataclass(frozen=True, slots=True)
class _Line:
    """One table of the manual: what it defines, and how far that is here."""

    names: tuple[str, ...]
    forms: int
    done: int
    found: Conformance


def coverage() -> str:
    """PTX 1.4 by the numbers of its tables 20 to 95."""
    head = _heading(*COLUMNS)
    rows = [_coverage_row(number, line) for number, line in sorted(_tables().items())]
    return "\n\n".join(["# Coverage of PTX 1.4", COVERAGE, "\n".join([head, *rows])]) + "\n"


def _coverage_row(number: int, line: _Line) -> str:
    counts = [f"{n:,}" for n in (line.forms, line.done)] + _counts(line.found)
    return _row(str(number), ", ".join(line.names), *counts)


def _tables() -> dict[int, _Line]:
    found: dict[int, _Line] = {}
    for forms in FORMS.values():
        for form in forms:
            last = min(form.until or OLD, OLD)
            count = sum(form.allowed(b, last, OLD_TARGET) for b in form.bindings())
            line = _Line((_linked(form),), count, count if form.runs else 0, of_form(form))
            for number in table_numbers(form.ref):
                found[number] = _joined(found.get(number), line)
    for register in SPECIAL_REGISTERS.values():
        count = len(register.components)
        line = _Line((f"`{register.name}`",), count, count, of_register(register))
        for number in table_numbers(register.ref):
            found[number] = _joined(found.get(number), line)
    return found


HANDBOOK = """\
Made by `make docs` from `src/simt/tools/handbook.py`, the catalogue and the replay of results recorded on an
NVIDIA H200. Chapter 8 of the CUDA Handbook, table by table, and the sections that name instructions.

PTX: what a row of the handbook needs, one pattern for each kind of instruction. Forms: combinations of types
and modifiers that the patterns stand for. Kernels and vectors as in [coverage.md](coverage.md), counted for
the whole of each form that a pattern belongs to."""
HANDBOOK_COLUMNS = (
    "names", "PTX", "forms", "kernels", "vectors", "bit for bit", "in bound", "different", "refused",
    "remark",
)  # fmt: skip


def handbook_coverage() -> str:
    """The handbook's tables and sections."""
    head = _heading(*HANDBOOK_COLUMNS)
    parts = ["# Coverage of the CUDA Handbook, chapter 8", HANDBOOK]
    for table in handbook.TABLES:
        name = "Table " * table.number[0].isdecimal() + table.number[0].upper() + table.number[1:]
        rows = [_handbook_row(row) for row in table.rows]
        parts.append(f'## <a id="{anchor(table.number)}"></a>{name}: {table.title}')
        parts.append("\n".join([head, *rows]))
    return "\n\n".join(parts) + "\n"


def _handbook_row(row: handbook.Row) -> str:
    found = [pair for pairs in row.subjects().values() for pair in pairs]
    each = {id(subject): subject for subject, _ in found}.values()
    total = sum((of_form(s) if isinstance(s, Form) else of_register(s) for s in each), Conformance())
    remark = "**missing**" if row.is_gap else row.remark
    ptx = " ".join(f"`{pattern}`" for pattern in row.ptx.split())
    name = f"`{row.name}`" if row.name.startswith(("__", "%")) else row.name
    return _row(name.replace("|", r"\|"), ptx, f"{sum(n for _, n in found):,}", *_counts(total), remark)


def _counts(f: Conformance) -> list[str]:
    """Kernels, vectors, exact, in bound, different, refused."""
    different = f.vectors - f.exact - f.bounded
    return [f"{n:,}" for n in (f.opcodes, f.vectors, f.exact, f.bounded, different, f.refused)]


def _linked(form: Form) -> str:
    return f"[{form.mnemonic}]({form.mnemonic}.md)"


def table_numbers(ref: str) -> list[int]:
    """The tables of PTX 1.4 that a reference names."""
    match = re.match(r"PTX 1\.4 tables? ([\d, ]+)", ref)
    return [int(n) for n in match[1].replace(",", " ").split()] if match else []


def _joined(a: _Line | None, b: _Line) -> _Line:
    if a is None:
        return b
    names = a.names if set(b.names) <= set(a.names) else a.names + b.names
    return _Line(names, a.forms + b.forms, a.done + b.done, a.found + b.found)


# ---------------------------------------------------------------- files


def registers() -> str:
    """All special registers."""
    head = _heading("register", "holds", "type", "components", "from", "reference", "conformance")
    rows = [_register_row(r) for r in SPECIAL_REGISTERS.values()]
    return "\n\n".join(["# Special registers", REGISTERS, "\n".join([head, *rows])]) + "\n"


def _register_row(r: SpecialRegister) -> str:
    declared = f"{r.type}, {r.old_type} in PTX 1.x" if r.old_type else str(r.type)
    parts = " ".join(f"`.{c}`" for c in r.components if c)
    return _row(f"`{r.name}`", r.summary, declared, parts, needs(r.requirement), r.ref, str(of_register(r)))


def pages() -> dict[str, str]:
    """All files of `docs/isa/` by name."""
    return {
        "special-registers.md": registers(),
        **{f"{mnemonic}.md": page(mnemonic, forms_of(mnemonic)) for mnemonic in (*FORMS, *KNOWN)},
        "README.md": index(),
        "coverage.md": coverage(),
        "handbook.md": handbook_coverage(),
    }


def as_json(form: Form) -> dict[str, Any]:
    """A form for programs."""
    found = of_form(form)
    return {
        "mnemonic": form.mnemonic,
        "syntax": form.syntax,
        "summary": form.summary,
        "words": form.words,
        "formula": formula(form, plainest(form)[0]),
        "modifiers": {s.name: list(s.choices) for s in form.slots},
        "optional": [s.name for s in form.slots if s.optional],
        "operands": [{"name": o.name, "type": o.spec, "kind": o.kind} for o in form.operands],
        "ptx": dotted(form.requirement.version),
        "until": dotted(form.until) if form.until else None,
        "target": f"sm_{form.requirement.target}",
        "requires": {
            k: {"ptx": dotted(r.version), "target": f"sm_{r.target}"} for k, r in form.requires.items()
        },
        "reference": form.ref,
        "chapter": form.chapter,
        "implemented": form.runs,
        "conformance": {f.name: cast("int", getattr(found, f.name)) for f in fields(found)},
    }


def main(folder: Path) -> None:
    """Writes all pages into a folder, and removes those of instructions that are no more."""
    folder.mkdir(parents=True, exist_ok=True)
    found = pages()
    for path in folder.glob("*.md"):
        if path.name not in found:
            path.unlink()
    for name, text in found.items():
        (folder / name).write_text(text)


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(
            "usage: python -m simt.tools.pages FOLDER    (writes all pages there; removes other .md files)"
        )
    main(Path(sys.argv[1]))
