"""Directives that are not declarations of variables (chapter 9): debugging, pragmas, prototypes, lists."""

from __future__ import annotations

import re

from simt.diagnostics import Span
from simt.ptx import constants
from simt.ptx.declarations import parameters
from simt.ptx.lexer import NAME, Cursor, GiveUp
from simt.ptx.nodes import (
    CallPrototype,
    File,
    Location,
    Name,
    Performance,
    Pragma,
    Section,
    Target,
    TargetList,
)
from simt.ptx.operands import name

# fmt: off
PERFORMANCE_WORDS = frozenset({
    ".maxnreg", ".maxntid", ".reqntid", ".minnctapersm", ".maxnctapersm", ".noreturn", ".explicitcluster",
    ".reqnctapercluster", ".maxclusterrank", ".blocksareclusters", ".abi_preserve", ".abi_preserve_control",
})
# fmt: on
LIST_WORDS = frozenset({".branchtargets", ".calltargets"})
PROTOTYPE_WORD = ".callprototype"

_DATUM = rf"(?:[-+]?(?:0[xX][\da-fA-F]+|\d+)|(?:{NAME}|\.\w+)(?:[ \t]*[-+][ \t]*(?:\d+|{NAME}))?)"
# Compiled where sections are read: start-up time.
_SECTION_LINE = (
    rf"(?:{NAME}[ \t]*:)?[ \t]*(?:\.b(?:8|16|32|64)[ \t]+{_DATUM}(?:[ \t]*,[ \t]*{_DATUM})*+)?[ \t]*;?"
)
_COMMENT = r"//[^\n]*|/\*(?s:.*?)\*/"
_BODY = r"(?>[^}/\"]+|//[^\n]*|/\*(?s:.*?)\*/|\"[^\"\n]*\"|/)*+\}"


def string(c: Cursor) -> str:
    """A string without its quotes, escapes kept as written."""
    return c.expect("string", "a string")[1:-1]


def location(c: Cursor) -> Location:
    """`.loc file line [column] [, function_name label, inlined_at file line column]` or `.loc line`."""
    start = c.start
    c.advance()
    numbers = [_number(c, "a line number")]
    while c.kind == "integer" and len(numbers) < 3:
        numbers.append(_number(c, "a number"))
    if len(numbers) == 1:
        numbers.insert(0, 0)
    rest = _location_rest(c)
    c.accept(";")
    return Location(numbers[0], numbers[1], numbers[2] if len(numbers) > 2 else 0, rest, c.since(start))


def _location_rest(c: Cursor) -> str:
    if c.kind != ",":
        return ""
    start = c.start
    c.advance()
    while c.kind in ("name", "integer", "+", ","):
        c.advance()
        if "\n" in c.text[c.previous : c.start]:
            break
    return " ".join(c.text[start : c.previous].lstrip(", ").split())


def _number(c: Cursor, what: str) -> int:
    if c.kind != "integer":
        raise c.unexpected(what)
    return constants.integer(c, what)


def file(c: Cursor) -> File:
    """`.file [index] "name" [, timestamp, size]`."""
    start = c.start
    c.advance()
    index = _number(c, "a file number") if c.kind == "integer" else None
    text = string(c)
    rest: list[int] = []
    while c.accept(","):
        rest.append(_number(c, "a number"))
    c.accept(";")
    return File(index, text, tuple(rest), c.since(start))


def pragma(c: Cursor) -> Pragma:
    start = c.start
    c.advance()
    found = [string(c)]
    while c.accept(","):
        found.append(string(c))
    c.expect(";", "',' or ';'")
    return Pragma(tuple(found), c.since(start))


def target(c: Cursor) -> Target:
    """`.target sm_90a, debug`: one line."""
    start = c.start
    c.advance()
    found = [c.expect("name", "a target such as sm_75")]
    while c.accept(","):
        found.append(c.expect("name", "a target or platform option"))
    c.accept(";")
    return Target(tuple(found), c.since(start))


def performance(c: Cursor) -> Performance:
    """A performance directive with its values (tables 98 to 100)."""
    start = c.start
    word = c.value[1:]
    c.advance()
    values: list[int | tuple[str, int]] = []
    while c.kind == "integer" or (c.kind == "name" and c.following()[0] == ":"):
        values.append(_per_target(c) if c.kind == "name" else _number(c, "a number"))
        if not c.accept(","):
            break
        if c.kind not in ("integer", "name"):
            raise c.unexpected("a number")
    if not values and c.kind not in ("word", "{", ";"):  # some directives have no value
        raise c.unexpected("a number")
    return Performance(word, tuple(values), c.since(start))


def _per_target(c: Cursor) -> tuple[str, int]:
    text = c.expect("name")
    c.expect(":")
    return text, _number(c, "a number")


def prototype(c: Cursor, label: str, start: int) -> CallPrototype:
    """`.callprototype [(returns)] _ [(parameters)] [.noreturn];` after its label."""
    c.advance()
    returns = parameters(c) if c.kind == "(" else ()
    if not c.accept("_"):
        raise c.unexpected("'_' or a parenthesised list")
    taken = parameters(c) if c.kind == "(" else ()
    noreturn = False
    while c.kind == "word" and c.value in PERFORMANCE_WORDS:
        noreturn |= performance(c).name == "noreturn"
    c.expect(";")
    return CallPrototype(label, returns, taken, noreturn, c.since(start))


def target_list(c: Cursor, label: str, start: int) -> TargetList:
    """`.branchtargets a, b;` or `.calltargets f, g;` after its label."""
    kind = c.value[1:]
    c.advance()
    found: list[Name] = [name(c)]
    while c.accept(","):
        found.append(name(c))
    c.expect(";", "',' or ';'")
    return TargetList(label, kind, tuple(found), c.since(start))


# ---------------------------------------------------------------- sections


def section(c: Cursor) -> Section:
    """`.section name { data }`, or the one-line form of table 101."""
    start = c.start
    c.advance()
    if c.kind not in ("word", "name"):
        raise c.unexpected("the name of a section")
    title, line_end = c.value, c.text.find("\n", c.end)
    c.advance()
    if c.at("{"):
        opened = c.end
        lines = _section_lines(c)
        return Section(title, "", lines, Span(start, max(opened, c.previous)))
    line_end = len(c.text) if line_end < 0 else line_end
    rest = re.sub(_COMMENT, " ", c.text[c.previous : line_end]).strip().rstrip(";").strip()
    c.seek(line_end)
    return Section(title, rest, None, c.since(start))


def _section_lines(c: Cursor) -> tuple[str, ...]:
    """The data lines of a section in normal form: no comments, single spaces, no empty lines."""
    body = re.compile(_BODY).match(c.text, c.end)
    if body is None:
        raise GiveUp("section without end, expected '}'", c.span)
    lines: list[str] = []
    position, form = c.end, re.compile(_SECTION_LINE, re.ASCII)
    for line in re.sub(_COMMENT, _blank, body[0][:-1]).split("\n"):
        text = line.strip()
        if text and not form.fullmatch(text):
            first = position + line.index(text[0])
            c.diagnostics.error(
                "bad line in a section, expected a label, or .b8, .b16, .b32 or .b64 with values",
                Span(first, first + len(text)),
            )
        elif text:
            lines.append(" ".join(text.rstrip(";").split()))
        position += len(line) + 1
    c.seek(body.end())
    return tuple(lines)


def _blank(match: re.Match[str]) -> str:
    """Spaces in place of a comment, so that offsets stay right."""
    return re.sub(r"[^\n]", " ", match[0])
