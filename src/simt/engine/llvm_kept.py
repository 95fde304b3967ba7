"""Columns in stack memory, in large functions."""

from __future__ import annotations

from collections.abc import Callable

from simt.engine.llvm_builder import Value


class Kept(Value):
    """A column at `place`: code that reads it loads it there."""

    __slots__ = ("_load", "place")
    place: str
    _load: Callable[[Kept], str]

    def __init__(self, place: str, element: str, width: int, load: Callable[[Kept], str]) -> None:
        for name, value in (("place", place), ("type", element), ("width", width), ("_load", load)):
            object.__setattr__(self, name, value)

    @property
    def ir(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self._load(self)

    @property
    def literal(self) -> int | None:
        return None
