"""What the rules know about the module they check, and where they report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from simt.diagnostics import Diagnostics, Span
from simt.isa.form import Requirement, Version
from simt.ptx.nodes import Module
from simt.ptx.symbols import Scope
from simt.records import dataclass, field


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding of a rule. `hint` says what was expected or what to do.

    `unknown`: a name that is not known and those that are, to suggest one if there is no hint.
    """

    message: str
    span: Span
    hint: str | None = None
    warning: bool = False
    unknown: tuple[str, Iterable[str]] | None = None


MOST_SEARCHES = 100
"""Suggestions cost time: a module with very many unknown names gets them for the first ones."""


@dataclass(slots=True)
class Context:
    """Facts about one module. `target`: the number in `sm_13`. `address_bits`: None if not declared.
    `function`: whose body is under way, `in_kernel` whether it is a kernel's. `textures`: declared so far.
    `independent`: whether samplers are named apart from textures. `machine`: the number of the device that
    the module is for, None if it is only checked. `warned_of_doubles`: see `simt.verify.doubles`."""

    module: Module
    diagnostics: Diagnostics
    version: Version
    target: int = 10
    target_name: str = "sm_10"
    map_f64_to_f32: bool = False
    address_bits: int | None = None
    scope: Scope = field(default_factory=Scope)
    searches: int = 0
    function: str = ""
    in_kernel: bool = False
    textures: int = 0
    independent: bool = False
    machine: int | None = None
    warned_of_doubles: bool = False

    @property
    def version_name(self) -> str:
        return dotted(self.version)

    def report(self, problems: Iterable[Problem]) -> None:
        for p in problems:
            add = self.diagnostics.warning if p.warning else self.diagnostics.error
            add(p.message, p.span, p.hint or self._suggestion(p))

    def _suggestion(self, problem: Problem) -> str | None:
        if problem.unknown is None or self.searches >= MOST_SEARCHES:
            return None
        self.searches += 1
        return did_you_mean(*problem.unknown)


def requirement_problems(
    context: Context, what: str, needed: Requirement, span: Span, target: int | None = None,
    hint: str | None = None,
) -> Iterator[Problem]:  # fmt: skip
    """That the module's version or target is too old for something. `target`: the one that counts, if it is
    not the module's."""
    lacks: list[tuple[str, str]] = []
    if needed.version > context.version:
        lacks.append((f"PTX ISA {dotted(needed.version)}", f".version is {context.version_name}"))
    if needed.target > (context.target if target is None else target):
        lacks.append((f"sm_{needed.target}", f".target is {context.target_name}"))
    if lacks:
        needs, has = (" and ".join(words) for words in zip(*lacks))
        yield Problem(f"{what} requires {needs} or later, the module's {has}", span, hint)


def dotted(version: Version) -> str:
    return f"{version[0]}.{version[1]}"


MOST_CANDIDATES = 1000
MOST_SUGGESTED = 2


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A hint that names the declared names nearest to a wrong one, or None."""
    near: list[str] = []
    for candidate in islice(known, MOST_CANDIDATES):
        if candidate not in near and is_near(name, candidate):
            near.append(candidate)
    return "did you mean " + " or ".join(f"`{n}`" for n in near[:MOST_SUGGESTED]) + "?" if near else None


def is_near(a: str, b: str) -> bool:
    """Whether two names differ by case, by one character more, less or other, or by two swapped ones."""
    if not -1 <= len(a) - len(b) <= 1 or min(len(a), len(b)) < 2 or a == b:
        return False
    start = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    if a[start + (len(a) >= len(b)) :] == b[start + (len(b) >= len(a)) :]:
        return True
    swapped = a[start : start + 2] == b[start : start + 2][::-1] and a[start + 2 :] == b[start + 2 :]
    return swapped or a.lower() == b.lower()
