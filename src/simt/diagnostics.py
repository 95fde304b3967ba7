"""Where something is in a source text, what is wrong with it, and how that is shown."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from enum import Enum

from simt.records import dataclass, field, quick


@quick
@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range `[start, end)` of character offsets in one `Source`."""

    start: int
    end: int


NOWHERE = Span(0, 0)


class Source:
    """A named PTX text that turns offsets into lines and columns (both from 1)."""

    def __init__(self, text: str, name: str = "<ptx>") -> None:
        self.text = text
        self.name = name
        self._starts: list[int] | None = None

    def _line_starts(self) -> list[int]:
        if self._starts is None:
            self._starts = [0]
            position = self.text.find("\n")
            while position >= 0:
                self._starts.append(position + 1)
                position = self.text.find("\n", position + 1)
        return self._starts

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset."""
        starts = self._line_starts()
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def line(self, number: int) -> str:
        """The text of a line (numbered from 1), without its line break."""
        starts = self._line_starts()
        end = starts[number] - 1 if number < len(starts) else len(self.text)
        return self.text[starts[number - 1] : end].rstrip("\r")

    def place(self, line: int) -> tuple[int | None, str]:
        """Line and file of a line, None for line 0, which is none."""
        return line or None, self.name

    def files(self) -> list[tuple[str, str]]:
        """The texts with their names."""
        return [(self.text, self.name)]


class LinkedSource(Source):
    """Several texts, one after the other, numbered as one."""

    def __init__(self, sources: Sequence[Source]) -> None:
        super().__init__("\n".join(s.text for s in sources), ", ".join(s.name for s in sources))
        counts = [s.text.count("\n") + 1 for s in sources]
        self.before = [sum(counts[:i]) for i in range(len(sources))]
        """How many lines stand before each."""
        self._sources = sources

    def place(self, line: int) -> tuple[int | None, str]:
        """Line within its file, and the file."""
        if line == 0:
            return None, self.name
        number = bisect_right(self.before, line - 1) - 1
        return line - self.before[number], self._sources[number].name

    def files(self) -> list[tuple[str, str]]:
        return [(s.text, s.name) for s in self._sources]


class Severity(Enum):
    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding about a source text. `hint` says what was expected or what to do."""

    severity: Severity
    message: str
    span: Span
    source: Source
    hint: str | None = None

    @property
    def line(self) -> int:
        return self.source.position(self.span.start)[0]

    @property
    def column(self) -> int:
        return self.source.position(self.span.start)[1]

    def render(self) -> str:
        """`name:line:column: error: message`, the line, a caret under the span, the hint."""
        line, column = self.source.position(self.span.start)
        text = self.source.line(line)
        room = max(len(text) - column + 1, 1)
        width = max(1, min(self.span.end - self.span.start, room))
        # Very long lines (minified or binary input) are cut around the caret.
        first = max(0, column - 1 - 80) if len(text) > 200 else 0
        shown = text[first : first + 200].replace("\t", " ")
        shown = "".join(c if c.isprintable() else "?" for c in shown)
        carets = "^" * min(width, max(1, 200 - (column - 1 - first)))
        rows = [
            f"{self.source.name}:{line}:{column}: {self.severity.value}: {self.message}",
            f"    {shown}",
            f"    {' ' * (column - 1 - first)}{carets}",
        ]
        if self.hint:
            rows.append(f"    {self.hint}")
        return "\n".join(rows)


@dataclass
class Diagnostics:
    """An accumulating sink: every finding of a file is kept, none is raised on the way."""

    source: Source
    found: list[Diagnostic] = field(default_factory=list[Diagnostic])
    limit: int = 1000

    def error(self, message: str, span: Span, hint: str | None = None) -> None:
        self._add(Severity.ERROR, message, span, hint)

    def warning(self, message: str, span: Span, hint: str | None = None) -> None:
        self._add(Severity.WARNING, message, span, hint)

    def _add(self, severity: Severity, message: str, span: Span, hint: str | None) -> None:
        if len(self.found) < self.limit:
            self.found.append(Diagnostic(severity, message, span, self.source, hint))

    @property
    def errors(self) -> list[Diagnostic]:
        return [d for d in self.found if d.severity is Severity.ERROR]

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self.found)


def counted(n: int, what: str, spec: str = "") -> str:
    """`1 file`, `2 files`; with the format "," `1,024 threads`."""
    return f"{n:{spec}} {what}{'' if n == 1 else 's'}"
