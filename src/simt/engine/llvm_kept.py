"""Columns in stack memory, in large functions.

Each result that only its own block reads is given memory of its own by name; `shared` then lets names have
the same memory, one after the other: else a kernel of 20,000 instructions would take megabytes of stack.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence

from simt.analysis.shape import WARP
from simt.engine.llvm_builder import Value, element_bits

_NAME = re.compile(r"%kept\.(\d+)\.\d+")
Home = object | None
"""What memory is that lasts longer than its block: the definition that is kept there."""


class Kept(Value):
    """A column at `place`: code that reads it loads it there. `home`: whose memory it is."""

    __slots__ = ("_load", "home", "place")
    place: str
    home: Home
    _load: Callable[[Kept], str]

    def __init__(self, place: str, element: str, load: Callable[[Kept], str], home: Home = None) -> None:
        write = object.__setattr__
        write(self, "place", place)
        write(self, "type", element)
        write(self, "width", WARP)
        write(self, "_load", load)
        write(self, "home", home)

    @property
    def ir(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self._load(self)

    @property
    def literal(self) -> int | None:
        return None

    def cast(self, element: str) -> Kept:
        """The same bits as another type of the same size."""
        return Kept(self.place, element, self._load, self.home)


def bytes_of(element: str) -> int:
    """Bytes of a column."""
    return WARP * element_bits(element) // 8


def name(size: int, number: int) -> str:
    """A place of its own for some bytes, until `shared`."""
    return f"%kept.{size}.{number}"


def shared(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """Allocations for all places that lines name, and the lines with places that they have in common: a place
    is free behind the last line that names it. Code goes on from line to line, but for places that outlive
    their block, which have other names."""
    found = [(i, m) for i, line in enumerate(lines) if "%kept." in line for m in _NAME.finditer(line)]
    last = {m[0]: i for i, m in found}
    free, made = defaultdict[str, list[str]](list), defaultdict[str, int](int)
    given: dict[str, str] = {}
    leaving: list[tuple[str, str]] = []
    line = -1
    for i, m in found:
        if i != line:
            for size, place in leaving:
                free[size].append(place)
            leaving, line = [], i
        name, size = m[0], m[1]
        if name not in given:
            if free[size]:
                given[name] = free[size].pop()
            else:
                given[name] = f"%column.{size}.{made[size]}"
                made[size] += 1
        if last.get(name) == i:
            leaving.append((size, given[name]))
            del last[name]
    numbers = {i for i, _ in found}
    rewritten = [
        _NAME.sub(lambda m: given[m[0]], line) if i in numbers else line for i, line in enumerate(lines)
    ]
    allocas = [
        f"  %column.{size}.{number} = alloca [{size} x i8], align 64"
        for size, count in made.items()
        for number in range(count)
    ]
    return allocas, rewritten
