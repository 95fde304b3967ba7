"""What the rules know about the module they check, and where they report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches

from simt.diagnostics import Diagnostics, Span
from simt.isa.form import Version
from simt.ptx.nodes import Module
from simt.ptx.symbols import Scope


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding of a rule. `hint` says what was expected or what to do."""

    message: str
    span: Span
    hint: str | None = None
    warning: bool = False


@dataclass(slots=True)
class Context:
    """Facts about one module. `target`: the number in `sm_13`. `address_bits`: None if not declared."""

    module: Module
    diagnostics: Diagnostics
    version: Version
    target: int = 10
    target_name: str = "sm_10"
    map_f64_to_f32: bool = False
    address_bits: int | None = None
    scope: Scope = field(default_factory=Scope)

    @property
    def version_name(self) -> str:
        return dotted(self.version)

    def report(self, problems: Iterable[Problem]) -> None:
        for p in problems:
            add = self.diagnostics.warning if p.warning else self.diagnostics.error
            add(p.message, p.span, p.hint)


def dotted(version: Version) -> str:
    return f"{version[0]}.{version[1]}"


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A hint that names the declared names nearest to a wrong one, or None."""
    if len(name) > 100:
        return None
    candidates = [k for _, k in zip(range(2000), known)]
    near = get_close_matches(name, list(dict.fromkeys(candidates)), 2, 0.7)
    return "did you mean " + " or ".join(f"`{n}`" for n in near) + "?" if near else None
