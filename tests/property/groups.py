"""The cases by primitive: one test each."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from tests.property import cases


@dataclass(frozen=True)
class Group:
    name: str
    cases: tuple[cases.Case, ...]

    def __str__(self) -> str:
        return self.name


def _all_cases() -> list[cases.Case]:
    return [
        *cases.bit_cases(), *cases.rare_cases(), *cases.constant_shift_cases(), *cases.integer_cases(),
        *cases.comparison_cases(), *cases.arithmetic_cases(), *cases.other_float_cases(),
        *cases.conversion_cases(),
    ]  # fmt: skip


def _primitive(case: cases.Case) -> str:
    return case.name.split(".")[0]


ALL = tuple(
    Group(name, tuple(found)) for name, found in groupby(sorted(_all_cases(), key=_primitive), _primitive)
)


def named(*names: str) -> list[Group]:
    """The groups of some primitives."""
    found = [g for g in ALL if g.name in names]
    assert len(found) == len(names)
    return found
