"""The catalogue: every declared form by mnemonic, and the decorators that declare them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Container, Iterator, Mapping
from functools import cache, partial
from threading import Lock
from typing import Any, TypeVar

from simt.isa.form import Check, Form, Meaning, Requirement, Value, Version, compile_form, mnemonic_of


class Catalogue(Mapping[str, list[Form]]):
    """Forms by mnemonic, in the order of declaration. Those of a mnemonic are compiled when it is first
    looked up: a module has few of them all."""

    def __init__(self) -> None:
        self._forms: dict[str, list[Form]] = {}
        self._waiting: dict[str, list[Callable[[], Form]]] = {}
        self._compiling = Lock()

    def declare(self, mnemonic: str, make: Callable[[], Form]) -> None:
        """Adds a form, which is made later."""
        self._forms.setdefault(mnemonic, [])
        self._waiting.setdefault(mnemonic, []).append(make)

    def __getitem__(self, mnemonic: str) -> list[Form]:
        forms, waiting = self._forms[mnemonic], self._waiting[mnemonic]
        if waiting:
            with self._compiling:
                while waiting:
                    forms.append(waiting[0]())
                    del waiting[0]  # after the form is there: others look at this list first
        return forms

    def __contains__(self, mnemonic: object) -> bool:
        return mnemonic in self._forms

    def __iter__(self) -> Iterator[str]:
        return iter(self._forms)

    def __len__(self) -> int:
        return len(self._forms)


FORMS = Catalogue()
"""What simt runs. Filled when `simt.isa` is imported."""

KNOWN = Catalogue()
"""Forms of PTX that simt knows but does not run: see `known`. A mnemonic may have forms in `FORMS` too."""

PARTS: dict[str, set[str]] = {}
"""Mnemonics of forms that can be a part of a fused operation, by the part: see `instruction`."""

M = TypeVar("M", bound=Meaning)


@cache
def requirement(text: str) -> Requirement:
    """`"1.2 sm_12"`, `"sm_13"` or `"2.0"` as a `Requirement`."""
    version: Version = (1, 0)
    target = 10
    for word in text.split():
        if word.startswith("sm_"):
            target = int(word[3:])
        else:
            major, minor = word.split(".")
            version = (int(major), int(minor))
    return Requirement(version, target)


def instruction(
    syntax: str,
    *,
    ref: str,
    since: str = "1.0",
    until: str | None = None,
    requires: Mapping[str, str] | None = None,
    defaults: Mapping[str, Value] | None = None,
    check: Check | None = None,
    ranges: Mapping[str, Container[float]] | None = None,
    relaxed: bool = False,
    surplus: str = "",
    carry: str = "",
    effects: str = "",
    traits: str = "",
    contraction: str = "",
    seam: str = "",
    **alternatives: str,
) -> Callable[[M], M]:
    """Declares one form whose meaning is the decorated function. Decorators may be stacked.

    `since`: first version and target, as `"1.2 sm_12"`. `requires`: the same per modifier. `until`: last
    version, and the last target that keeps the form in later versions, as `"1.3"` or `"1.4 sm_13"`.
    `ranges`: the values that an operand may have where it is a constant; `()` if it must be a register. What
    is neither a `range` nor `()` says in words, as `str`, what it holds.
    `surplus`: the name of a further source that ptxas takes although the text has none; it is ignored.
    `effects`: space-separated from memory, warp, machine; pure if empty. What a launch prepares for has
    a word of its own: event, breakpoint. `traits`: space-separated words of `simt.isa.form.TRAITS`.
    `contraction`: product, sum, difference, fused, negation or copy, what it can be where a product and a sum
    become one operation; `seam`: modifiers with which it keeps them apart that stand on both sides of it, `*`
    for any, `!name` for a slot left out (decision 23).
    """

    def declare(meaning: M) -> M:
        if contraction:
            PARTS.setdefault(contraction, set()).add(mnemonic_of(syntax))
        _declare(
            FORMS, syntax, meaning, alternatives, chapter=meaning.__module__.rsplit(".", 1)[-1],
            summary=(meaning.__doc__ or "").strip().split("\n")[0], ref=ref, since=since, requires=requires,
            until=until, defaults=defaults, check=check, ranges=ranges, relaxed=relaxed, surplus=surplus,
            carry=carry, effects=effects, traits=traits, contraction=contraction, seam=seam,
        )  # fmt: skip
        return meaning

    return declare


def control(
    syntax: str, kind: str, summary: str, *, ref: str, since: str = "1.0",
    requires: Mapping[str, str] | None = None, check: Check | None = None,
    ranges: Mapping[str, Container[float]] | None = None, **alternatives: str,
) -> None:  # fmt: skip
    """Declares a form that the engines execute themselves: branches, calls, barriers."""
    caller = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    chapter = str(caller.f_globals["__name__"]).rsplit(".", 1)[-1]
    _declare(
        FORMS, syntax, None, alternatives, chapter=chapter, summary=summary, ref=ref, since=since,
        requires=requires, check=check, ranges=ranges, control=kind, effects="control",
    )  # fmt: skip


def known(
    syntax: str, summary: str, *, ref: str, since: str, requires: Mapping[str, str] | None = None,
    check: Check | None = None, **alternatives: str,
) -> None:  # fmt: skip
    """Declares a form that modules may have, but that no kernel which is launched may reach.

    Its syntax may be open (see `simt.isa.form`): then only what tells it from other forms is checked.
    `since`, `requires` and `check` as for `instruction`.
    """
    _declare(
        KNOWN, syntax, None, alternatives, chapter="known", summary=summary, ref=ref, since=since,
        requires=requires, check=check,
    )  # fmt: skip


def _declare(
    catalogue: Catalogue, syntax: str, meaning: Meaning | None, alternatives: Mapping[str, str],
    **attributes: Any,
) -> None:  # fmt: skip
    """Adds a form. `attributes` are further ones of `Form`, as they are declared."""
    catalogue.declare(mnemonic_of(syntax), partial(_form, syntax, meaning, alternatives, **attributes))


def _form(
    syntax: str, meaning: Meaning | None, alternatives: Mapping[str, str], *,
    since: str, requires: Mapping[str, str] | None, until: str | None = None,
    defaults: Mapping[str, Value] | None = None, ranges: Mapping[str, Container[float]] | None = None,
    effects: str = "", traits: str = "", seam: str = "", **attributes: Any,
) -> Form:  # fmt: skip
    """A form as it was declared."""
    return compile_form(
        syntax,
        meaning,
        alternatives,
        requirement=requirement(since),
        requires={k: requirement(v) for k, v in (requires or {}).items()},
        until=requirement(until).version if until else None,
        until_target=requirement(until).target if until and "sm_" in until else 0,
        defaults=defaults or {},
        ranges=ranges or {},
        effects=frozenset(effects.split()),
        traits=frozenset(traits.split()),
        seam=frozenset(seam.split()),
        **attributes,
    )
