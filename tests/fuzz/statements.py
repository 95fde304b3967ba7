"""Trees of statements: what a random program is before it is text, so that parts can be left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

Body: TypeAlias = "list[Statement]"


@dataclass
class Statement:
    """Lines of PTX and nested bodies, in order. A statement can be left out as a whole."""

    parts: list[str | Body] = field(default_factory=list["str | Body"])

    def lines(self) -> Iterator[str]:
        for part in self.parts:
            if isinstance(part, str):
                yield part
            else:
                yield from (f"    {line}" for statement in part for line in statement.lines())

    def bodies(self) -> Iterator[Body]:
        """The bodies inside, outer ones first."""
        for part in self.parts:
            if not isinstance(part, str):
                yield part
                for statement in part:
                    yield from statement.bodies()


def plain(*lines: str) -> Statement:
    return Statement([*lines])
