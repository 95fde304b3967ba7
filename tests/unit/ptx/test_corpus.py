"""Whole files: nvcc's PTX (`tests/corpus/*.cu`), hand-written PTX 1.x, and random damage to them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simt.ptx.nodes import (
    Block,
    CallPrototype,
    File,
    Function,
    Instruction,
    Integer,
    Label,
    Location,
    Module,
    Pair,
    Section,
    Statement,
    TextureAddress,
    Variable,
)
from simt.ptx.parser import parse
from simt.ptx.printer import print_module

CORPUS = Path(__file__).resolve().parents[2] / "corpus"
FILES = sorted(CORPUS.rglob("*.ptx"))
SMALL = [p.read_text() for p in FILES if p.stat().st_size < 12000]


def load(name: str) -> Module:
    return clean((CORPUS / name).read_text())


def clean(text: str) -> Module:
    module, diagnostics = parse(text)
    assert not diagnostics.found, diagnostics.found[0].render()
    assert module is not None
    return module


def statements(module: Module) -> list[Statement]:
    found: list[Statement] = []
    pending = [f.body for f in module.items if isinstance(f, Function) and f.body is not None]
    while pending:
        for statement in pending.pop().statements:
            found.append(statement)
            if isinstance(statement, Block):
                pending.append(statement)
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(CORPUS)))
def test_file_parses_and_prints_back(path: Path) -> None:
    text = path.read_text()
    module = clean(text)
    assert clean(print_module(module)) == module
    assert parse(text, fast=False)[0] == module


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*.ptx")), ids=lambda p: p.name)
def test_nothing_is_lost(path: Path) -> None:
    """Directives and statements of nvcc's files, counted in the text itself, are all in the tree."""
    text = path.read_text()
    module = clean(text)
    plain = re.sub(r"//[^\n]*|/\*.*?\*/", "", text)
    lines = [line.strip() for line in plain.split("\n")]
    words = [line.split()[0] for line in lines if line]
    assert sum(isinstance(s, Location) for s in statements(module)) == words.count(".loc")
    assert sum(isinstance(i, Section) for i in module.items) == words.count(".section")
    assert sum(isinstance(i, File) for i in module.items) == words.count(".file")
    declarations = [part for part in re.split("[;{}]", plain) if part.strip().startswith(".reg")]
    more_names = sum(part.count(",") for part in declarations)  # each is printed as a statement of its own
    assert print_module(module).count(";") == plain.count(";") + more_names


def test_debug_output() -> None:
    module = load("tables.debug.ptx")
    assert module.target.names == ("sm_75", "debug")
    sections = {s.name: s for s in module.items if isinstance(s, Section)}
    assert {".debug_abbrev", ".debug_info"} <= sections.keys()
    info = sections[".debug_info"].lines
    assert info is not None
    assert any(line.startswith(".b32 .debug_abbrev") for line in info)


def test_inlined_locations() -> None:
    found = [s for s in statements(load("halves.lineinfo.ptx")) if isinstance(s, Location) and s.rest]
    assert found
    assert all(s.rest.startswith("function_name $L") and ", inlined_at" in s.rest for s in found)


def test_indirect_calls_and_textures() -> None:
    tables = statements(load("tables.75.ptx"))
    assert any(isinstance(s, CallPrototype) for s in tables)
    textures = [s for s in statements(load("textures.75.ptx")) if isinstance(s, Instruction)]
    assert sum(any(isinstance(o, TextureAddress) for o in s.operands) for s in textures) >= 6


def test_ptx_1_0_in_detail() -> None:
    module = load("classic/v10.ptx")
    assert module.version == (1, 0)
    assert module.target.names == ("sm_10", "map_f64_to_f32")
    gains, mask = (v for v in module.items if isinstance(v, Variable) and v.space == "const")
    assert (gains.bank, gains.align, gains.dimensions) == (0, 4, (None,))
    assert (mask.bank, mask.initializer) == (3, Integer(255, True))
    found = statements(module)
    assert [s.name for s in found if isinstance(s, Label)] == ["$begin", "$end"]
    registers = {s.name: s.count for s in found if isinstance(s, Variable)}
    assert (registers["many"], registers["limit"]) == (4, None)
    adds = [s for s in found if isinstance(s, Instruction) and s.opcode == "add"]
    assert adds[0].operands[2] == Integer(2**64 - 1, True)
    (setp,) = (s for s in found if isinstance(s, Instruction) and s.opcode == "setp")
    assert isinstance(setp.operands[0], Pair)
    exits = [s for s in found if isinstance(s, Instruction) and s.opcode == "exit"]
    assert [bool(s.guard and s.guard.negated) for s in exits] == [True, False]


# ---------------------------------------------------------------- damage

WORDS = """
. .. ; , : { } [ ] ( ) < > | & ! ~ - + * / % = @ _ # " ' ` \\ // /* */ $a %r1 WARP_SZ 0 08 1.5 .5 1e9 0x
0f3F800000 0d0000000000000000 .version 9.0 .target sm_75 .entry .func .reg .param .global .const .u32 .b8 .v4
.pred .align .extern .section .debug_info .loc .file .pragma .callprototype .branchtargets .ptr .maxntid
.alias .address_size 64 add.s32 mov call ret bra tex.2d ? generic << >> == && || (.s64) \x00 é
"""
PIECES = st.sampled_from([*WORDS.split(), "\n", " "])


def survives(text: str) -> None:
    """Parsing ends, and either says what is wrong or gives a module that prints back."""
    module, diagnostics = parse(text)
    slow, again = parse(text, fast=False)
    assert slow == module
    assert [(d.message, d.span) for d in again] == [(d.message, d.span) for d in diagnostics]
    assert all(d.render() for d in diagnostics)
    if module is None or diagnostics.errors:
        assert diagnostics.errors
    else:
        assert clean(print_module(module)) == module


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=60), st.sampled_from(["", " ", "\n"]), st.booleans())
def test_soup_of_tokens(pieces: list[str], glue: str, header: bool) -> None:
    survives((".version 9.0\n.target sm_75\n.entry k {\n" if header else "") + glue.join(pieces))


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    survives(text)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes(data: bytes) -> None:
    module, diagnostics = parse(data)
    assert module is not None or diagnostics.errors


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(SMALL), st.integers(0, 2**32), st.integers(0, 30), PIECES)
def test_damaged_files(text: str, where: int, removed: int, piece: str) -> None:
    at = where % len(text)
    survives(text[:at] + piece + text[at + removed :])


@settings(max_examples=50, deadline=None)
@given(st.sampled_from(SMALL), st.integers(0, 2**32))
def test_truncated_files(text: str, where: int) -> None:
    survives(text[: where % len(text)])
