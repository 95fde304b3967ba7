"""Tokens of PTX text (chapter 4), read one at a time by a `Cursor`."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from contextlib import contextmanager

from simt.diagnostics import Diagnostics, Span

NAME = r"(?:[A-Za-z][\w$]*|[_%$][\w$]+)"
"""An identifier (section 4.4)."""

MODIFIER = r"\.\w+(?:::\w+)*"
"""One modifier of an opcode. It may start with a digit: `tex.1d`."""

MAX_DEPTH = 64
"""How deep blocks, parentheses and braces may nest in each other, all together."""

# Atomic and possessive groups keep the time linear whatever the text is.
_SKIP = r"(?>\s+|//[^\n]*|/\*(?s:.*?)\*/|@@DWARF[^\n]*)*+"
_NUMBER = r"""
      (?P<bits>0(?:[fF][\da-fA-F]{8}|[dD][\da-fA-F]{16})(?![\w.$]))
    | (?P<integer>(?:0[xX][\da-fA-F]+|0[bB][01]+|0[0-7]*|[1-9]\d*)U?(?![\w.$]))
    | (?P<float>(?:\d+\.\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)(?![\w.$]))"""
_TOKEN = re.compile(
    rf"""{_SKIP}(?:
      (?P<name>{NAME})
    | (?P<word>\.[A-Za-z_][\w$]*(?:::\w+)*)
    | {_NUMBER}
    | (?P<malformed>\.?\d[\w.$]*)
    | (?P<string>"(?:[^"\\\n]|\\[^\n])*")
    | (?P<trouble>/\*|"|\#)
    | (?P<mark><<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^~!?:;,(){{}}\[\]<>=@_])
    | (?P<end>\Z)
    | (?P<unknown>(?s:.))
    )""",
    re.X | re.ASCII,
)
# Compiled where they are met, which is seldom: start-up time.
_ITEM = rf"\s*+(?:{_NUMBER})\s*+,"
_LINE_MARKER = r"#[ \t]*(?:line\b|file\b|\d)"
_LINE = re.compile(r"[^\n]*")
_OF_CPP = "only line markers are understood: run the C preprocessor (cpp -P) first"
_OF_CUDA = "CUDA C++ becomes PTX with: nvcc -ptx -arch=compute_75 FILE.cu"


class SyntaxProblem(Exception):
    """A statement that cannot be read. Caught by the statement loop, which goes on after it."""

    def __init__(self, message: str, span: Span, hint: str | None = None) -> None:
        self.message = message
        self.span = span
        self.hint = hint
        super().__init__(message)


class GiveUp(SyntaxProblem):
    """A problem after which the rest of the file is not read."""


class Cursor:
    """The current token of a text: `kind`, `start`, `end`.

    `kind` is name, word (a dot and a name), integer, float, bits (`0f...`, `0d...`), string, malformed,
    unknown, end, or the mark itself (`;`, `<<` ...). `previous` is the end of the token before.
    """

    __slots__ = ("depth", "diagnostics", "end", "kind", "previous", "start", "text")

    def __init__(self, text: str, diagnostics: Diagnostics, position: int = 0) -> None:
        self.text = text
        self.diagnostics = diagnostics
        self.depth = 0
        self.seek(position)

    def seek(self, position: int) -> None:
        """Makes the first token at or after an offset the current one."""
        self.previous = position
        while True:
            match = _TOKEN.match(self.text, position)
            assert match is not None  # the last alternatives match anything
            kind = match.lastgroup or ""
            if kind != "trouble":
                break
            position = self._trouble(match.start(kind))
        self.start, self.end = match.span(kind)
        self.kind: str = match[kind] if kind == "mark" else kind

    def _trouble(self, start: int) -> int:
        """A comment or string without end, or a preprocessor line: reported, and where to go on."""
        match self.text[start]:
            case "/":
                self.diagnostics.error("comment without end, expected '*/'", Span(start, start + 2))
                return len(self.text)
            case '"':
                self.diagnostics.error("string without end, expected '\"'", Span(start, start + 1))
                return _line_end(self.text, start)
            case _:
                return self._preprocessor(start)

    def _preprocessor(self, start: int) -> int:
        """The end of a line that begins with `#`. Line markers mean nothing to simt."""
        end = _line_end(self.text, start)
        first = not self.text[self.text.rfind("\n", 0, start) + 1 : start].strip()
        if not (first and re.match(_LINE_MARKER, self.text[start:end], re.ASCII)):
            words = self.text[start + 1 : end].split()
            self.diagnostics.error(
                f"preprocessor directive '#{words[0] if words else ''}', expected PTX",
                Span(start, end),
                _OF_CUDA if words[:1] == ["include"] else _OF_CPP,
            )
        return end

    def advance(self) -> None:
        self.seek(self.end)

    @property
    def value(self) -> str:
        """The current token as written."""
        return self.text[self.start : self.end]

    @property
    def span(self) -> Span:
        return Span(self.start, self.end)

    def since(self, start: int) -> Span:
        """From an offset to the end of the token before the current one."""
        return Span(start, max(start, self.previous))

    def following(self) -> tuple[str, str]:
        """Kind and text of the token after the current one."""
        match = _TOKEN.match(self.text, self.end)
        kind = (match.lastgroup or "") if match else ""
        value = match[kind] if match else ""
        return (value if kind == "mark" else kind), value

    def items(self) -> Iterator[tuple[str, Span, int]]:
        """The numbers from the current token on that have a comma each: kind, place, and the comma's end.

        Comments between them end the series. The cursor stays where it is.
        """
        position, item = self.start, re.compile(_ITEM, re.X | re.ASCII)
        while match := item.match(self.text, position):
            kind, position = match.lastgroup or "", match.end()
            yield kind, Span(*match.span(kind)), position

    def at(self, kind: str) -> bool:
        return self.kind == kind

    def accept(self, kind: str) -> bool:
        """Takes the current token if it is of a kind."""
        if self.kind != kind:
            return False
        self.seek(self.end)
        return True

    def expect(self, kind: str, expected: str | None = None) -> str:
        """Takes the current token, which must be of a kind, and returns it as written."""
        if self.kind != kind:
            raise self.unexpected(expected or f"'{kind}'")
        value = self.text[self.start : self.end]
        self.seek(self.end)
        return value

    def unexpected(self, expected: str, hint: str | None = None) -> SyntaxProblem:
        """The problem of the current token: what it is and what was expected."""
        return SyntaxProblem(f"{self._describe()}, expected {expected}", self.span, hint)

    def _describe(self) -> str:
        value = self.value
        match self.kind:
            case "end":
                return "unexpected end of file"
            case "malformed":
                return f"malformed number '{_short(value)}'"
            case "unknown":
                return f"unexpected character {value!r} (U+{ord(value):04X})"
            case "string":
                return f"unexpected string {_short(value)}"
            case _:
                return f"unexpected '{_short(value)}'"

    @contextmanager
    def nested(self) -> Generator[None]:
        """One more level of nesting; gives the file up where there are too many."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise GiveUp(f"nested too deep, expected at most {MAX_DEPTH} levels", self.span)
        try:
            yield
        finally:
            self.depth -= 1

    def report(self, problem: SyntaxProblem) -> None:
        self.diagnostics.error(problem.message, problem.span, problem.hint)


def _line_end(text: str, start: int) -> int:
    match = _LINE.match(text, start)
    return match.end() if match else len(text)


def _short(value: str) -> str:
    return value if len(value) <= 40 else value[:37] + "..."
