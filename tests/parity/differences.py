"""The table of `docs/ptxas-differences.md`: what ptxas and simt decide differently, where, and why."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from simt.isa.form import Version
from tests.parity.dialects import Dialect

PAGE = Path(__file__).parents[2] / "docs" / "ptxas-differences.md"
ROW = re.compile(
    r"^\| `(?P<pattern>.+?)` \| (?P<modules>[^|]+) \| (?P<ptxas>accepts|refuses) \| (?P<count>\d*) \| "
    r"(?P<reason>[^|]+) \|$"
)
TEXT, OTHERS = "### The text says otherwise", "### What ptxas 13 no longer has"
MODULES = re.compile(r"(all|(?P<first>\d\.\d)-(?P<last>\d\.\d)?)( below sm_(?P<below>\d+))?$")


@dataclass(frozen=True, slots=True)
class Difference:
    """One row. `line`: its index in the page. `below`: only targets below this one (0: all). `text`: whether
    the text of PTX ISA 1.4 decides."""

    line: int
    pattern: re.Pattern[str]
    first: Version
    last: Version
    below: int
    ptxas: bool
    reason: str
    text: bool

    def covers(self, snippet: str, dialect: Dialect, ptxas: bool) -> bool:
        """Whether this is why ptxas accepts (or refuses) a snippet that simt refuses (accepts)."""
        return (
            ptxas is self.ptxas
            and snippet.startswith(WHOLE) is self.pattern.pattern.startswith(tuple(f"^{w}" for w in WHOLE))
            and self.first <= dialect.version <= self.last
            and (not self.below or dialect.number < self.below)
            and self.pattern.search(GUARD.sub("", snippet)) is not None
        )


@cache
def differences() -> tuple[Difference, ...]:
    """Every row of the page. Raises ValueError where a row of the table is not of its form."""
    lines = _lines()
    by_text = range(lines.index(TEXT), lines.index(OTHERS))
    listed = range(by_text.start, len(lines))
    return tuple(_row(n, lines[n], n in by_text) for n in listed if lines[n].startswith("| `"))


def _lines() -> list[str]:
    return PAGE.read_text().splitlines()


def _row(number: int, line: str, text: bool) -> Difference:
    found = ROW.match(line)
    where = MODULES.match(found["modules"]) if found else None
    if found is None or where is None:
        raise ValueError(f"{PAGE.name}, line {number + 1}: not a row of the table: {line}")
    first, last = _version(where["first"], (1, 0)), _version(where["last"], (99, 0))
    pattern = re.compile(found["pattern"].replace(r"\|", "|"))
    below = int(where["below"] or 0)
    accepts, reason = found["ptxas"] == "accepts", found["reason"].strip()
    return Difference(number, pattern, first, last, below, accepts, reason, text)


def _version(text: str | None, absent: Version) -> Version:
    if text is None:
        return absent
    major, minor = text.split(".")
    return int(major), int(minor)


def explanation(snippet: str, dialect: Dialect, ptxas: bool) -> Difference | None:
    """The first row that lists a difference, None if there is none."""
    return next((d for d in differences() if d.covers(snippet, dialect, ptxas)), None)


WHOLE = ("module: ", "file: ")
"""What texts of whole modules begin with, and the patterns for them."""

GUARD = re.compile(r"^@!?\S+ ")
COUNT = re.compile(r"(?<=\| )((?:accepts|refuses) \| )\d*(?= \|)")
BEGIN, END = "<!-- agreement -->", "<!-- end of agreement -->"


def write(counts: dict[int, int], summary: list[str]) -> None:
    """Puts the counts into the rows (by their lines) and the summary between its marks."""
    lines = _lines()
    for row in differences():
        lines[row.line] = COUNT.sub(rf"\g<1>{counts.get(row.line, 0)}", lines[row.line])
    start, end = lines.index(BEGIN), lines.index(END)
    PAGE.write_text("\n".join([*lines[: start + 1], *summary, *lines[end:]]) + "\n")
