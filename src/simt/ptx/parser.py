"""Modules (chapter 9): from PTX text to the syntax tree, with every syntax error on the way."""

from __future__ import annotations

import re
from collections.abc import Callable

from simt.collector import collector_paused
from simt.diagnostics import Diagnostics, Source, Span
from simt.ptx import directives
from simt.ptx.declarations import (
    DECLARATION_WORDS,
    TYPE_WORDS,
    attributes,
    declaration,
    linkage,
    one_of,
    parameters,
)
from simt.ptx.lexer import Cursor, GiveUp, SyntaxProblem
from simt.ptx.nodes import Alias, Block, Function, Module, Performance, Pragma, Target, TopLevel, Variable
from simt.ptx.statements import FastReader, block, recover
from simt.records import dataclass, field, replace

MAX_LENGTH = 32 * 2**20
"""Characters of the longest text that is read."""

_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_VERSION = re.compile(r"(\d{1,4})\.(\d{1,4})", re.ASCII)
_FUNCTION_WORDS = frozenset({".entry", ".func"})
_OTHERS: dict[str, Callable[[Cursor], TopLevel]] = {
    ".file": directives.file,
    ".loc": directives.location,
    ".section": directives.section,
    ".pragma": directives.pragma,
    ".target": directives.target,
}
_TOP_WORDS = (
    DECLARATION_WORDS | _FUNCTION_WORDS | _OTHERS.keys() | {".version", ".address_size", ".alias"}
)  # fmt: skip


@dataclass
class _State:
    """A module while it is read."""

    version: tuple[int, int] | None = None
    target: Target | None = None
    address_size: int | None = None
    items: list[TopLevel] = field(default_factory=list[TopLevel])
    mentioned: dict[str, tuple[str, Span]] = field(default_factory=dict[str, tuple[str, Span]])
    """Names of `.extern name` and `.visible name` (tables 104, 105), with their linkage."""


def parse(text: str | bytes, name: str = "<ptx>", *, fast: bool = True) -> tuple[Module | None, Diagnostics]:
    """The module that a PTX text is, and everything that is wrong with its syntax.

    Never raises. The module is None where the text is not PTX at all; otherwise it holds what could be
    read. `fast=False` reads plain instructions by the general grammar too (for tests).
    """
    source = Source(_decoded(text), name)
    diagnostics = Diagnostics(source)
    refusal = _refusal(source.text)
    if refusal is not None:
        diagnostics.error(*refusal)
        return None, diagnostics
    state = _State()
    c = Cursor(source.text, diagnostics)
    try:
        with collector_paused():
            _module(c, state, FastReader() if fast else None)
    except GiveUp as problem:
        diagnostics.error(problem.message, problem.span, problem.hint)
    if state.version is None:
        return None, diagnostics
    return _finished(state, source, diagnostics), diagnostics


def _decoded(text: str | bytes) -> str:
    """Text of bytes. NVRTC's ends in a NUL; some editors put a byte order mark in front."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace") if len(text) <= MAX_LENGTH else " " * len(text)
    text = text.rstrip("\0")
    return " " + text[1:] if text.startswith("\ufeff") else text


def _refusal(text: str) -> tuple[str, Span, str | None] | None:
    """Why a text is not read at all."""
    if len(text) > MAX_LENGTH:
        size = f"{len(text) / 2**20:.0f} MiB"
        return f"too long ({size}), expected at most {MAX_LENGTH // 2**20} MiB", Span(0, 0), None
    if not text.strip():
        return "empty file, expected '.version'", Span(0, 0), None
    control = _CONTROL.search(text)
    if control is None:
        return None
    at = Span(control.start(), control.end())
    hint = "this looks like a cubin (ELF): load PTX instead" if text.startswith("\x7fELF") else None
    return f"not text: control character U+{ord(control[0]):04X}, expected PTX", at, hint


def _finished(state: _State, source: Source, diagnostics: Diagnostics) -> Module:
    items = [_linked(item, state.mentioned) for item in state.items]
    for name, (linked, span) in state.mentioned.items():
        diagnostics.error(f"'.{linked} {name}' without a declaration, expected one of '{name}'", span)
    return Module(
        state.version or (0, 0), state.target or Target(()), tuple(items), state.address_size,
        source, Span(0, len(source.text)),
    )  # fmt: skip


def _linked(item: TopLevel, mentioned: dict[str, tuple[str, Span]]) -> TopLevel:
    """The item with the linkage that a directive of its own gave to its name."""
    if isinstance(item, Variable | Function) and item.name in mentioned:
        return replace(item, linkage=mentioned.pop(item.name)[0])
    return item


# ---------------------------------------------------------------- module scope


def _module(c: Cursor, state: _State, fast: FastReader | None) -> None:
    while c.kind != "end":
        start = c.start
        try:
            _header(c, state) if state.target is None else _top(c, state, fast)
        except GiveUp:
            raise
        except SyntaxProblem as problem:
            c.depth = 0
            if state.version is not None or not c.diagnostics.found:
                c.report(problem)
            if state.version is None:
                return
            recover(c, start)
            c.accept("}")
    if state.version is None or state.target is None:
        missing = ".version" if state.version is None else ".target"
        c.report(SyntaxProblem(f"unexpected end of file, expected '{missing}'", c.span))


def _header(c: Cursor, state: _State) -> None:
    """`.version` and then `.target` come first (tables 106, 107)."""
    if state.version is None:
        if c.kind != "word" or c.value != ".version":
            raise c.unexpected("'.version'", "a PTX file begins with .version and .target")
        _version(c, state)
    elif c.kind == "word" and c.value == ".target":
        state.target = directives.target(c)
    else:
        state.target = Target(())
        c.report(c.unexpected("'.target'", "a PTX file begins with .version and .target"))


def _version(c: Cursor, state: _State) -> None:
    c.advance()
    found = _VERSION.fullmatch(c.value)
    if found is None:
        raise c.unexpected("a version such as 1.4")
    version = (int(found[1]), int(found[2]))
    if state.version not in (None, version):
        raise SyntaxProblem(f"second .version {c.value}, expected the first one again", c.span)
    state.version = version
    c.advance()
    c.accept(";")


def _top(c: Cursor, state: _State, fast: FastReader | None) -> None:
    if c.kind != "word":
        raise c.unexpected("a directive", one_of(_TOP_WORDS))
    linked = linkage(c)
    if linked and c.at("name"):
        _mention(c, state, linked)
        return
    word = c.value if c.kind == "word" else ""
    if word in _FUNCTION_WORDS:
        state.items.append(_function(c, linked, fast))
    elif word in DECLARATION_WORDS or (word in TYPE_WORDS and state.mentioned):
        state.items.extend(declaration(c, linked))
    elif linked:
        raise c.unexpected("a declaration", one_of(DECLARATION_WORDS | _FUNCTION_WORDS))
    else:
        _other(c, state)


def _mention(c: Cursor, state: _State, linked: str) -> None:
    """`.extern name`: the declaration of the name comes before or after."""
    while True:
        span = c.span
        state.mentioned[c.expect("name", "a name")] = (linked, span)
        if not c.accept(","):
            break
    c.accept(";")


def _other(c: Cursor, state: _State) -> None:
    match c.value:
        case ".version":
            _version(c, state)
        case ".address_size":
            c.advance()
            text = c.expect("integer", "32 or 64")
            if text not in ("32", "64"):
                raise SyntaxProblem(
                    f"bad address size {text[:20]}, expected 32 or 64", c.since(c.previous - len(text))
                )
            if state.address_size is not None:
                raise SyntaxProblem("second .address_size", c.since(c.previous - len(text)))
            state.address_size = int(text)
        case ".target" if state.address_size is not None:
            raise SyntaxProblem("`.target` after .address_size, expected it before", c.span)
        case ".alias":
            state.items.append(_alias(c))
        case word if word in _OTHERS:
            state.items.append(_OTHERS[word](c))
        case _:
            raise c.unexpected("a directive", one_of(_TOP_WORDS))


def _alias(c: Cursor) -> Alias:
    start = c.start
    c.advance()
    name = c.expect("name", "the name of a function")
    c.expect(",")
    aliasee = c.expect("name", "the name of a function")
    c.expect(";")
    return Alias(name, aliasee, c.since(start))


# ---------------------------------------------------------------- functions


def _function(c: Cursor, linked: str, fast: FastReader | None) -> Function:
    """`.entry` or `.func`, with its body or, ended by `;`, without."""
    kind = c.value[1:]
    c.advance()
    marked = attributes(c) if c.kind == "word" and c.value == ".attribute" else ()
    tuning, pragmas = _performance(c)
    returns = parameters(c) if c.kind == "(" and kind == "func" else ()
    span = c.span
    name = c.expect("name", "the name of a function")
    taken = parameters(c) if c.kind == "(" else ()
    more, more_pragmas = _performance(c)
    body = _body(c, fast, pragmas + more_pragmas)
    return Function(kind, name, returns, taken, tuning + more, body, linked, marked, span)


def _performance(c: Cursor) -> tuple[tuple[Performance, ...], tuple[Pragma, ...]]:
    """The performance directives and pragmas between a function's header and its body."""
    found: list[Performance] = []
    pragmas: list[Pragma] = []
    while c.kind == "word":
        if c.value == ".pragma":
            pragmas.append(directives.pragma(c))
        elif c.value in directives.PERFORMANCE_WORDS:
            found.append(directives.performance(c))
        else:
            raise c.unexpected("'{', ';' or a performance directive", one_of(directives.PERFORMANCE_WORDS))
    return tuple(found), tuple(pragmas)


def _body(c: Cursor, fast: FastReader | None, pragmas: tuple[Pragma, ...]) -> Block | None:
    if c.accept(";"):
        return None
    if c.kind != "{":
        raise c.unexpected("'{' or ';'")
    body = block(c, fast)
    return replace(body, statements=pragmas + body.statements) if pragmas else body
