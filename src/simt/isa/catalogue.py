"""The catalogue: every declared form by mnemonic, and the decorators that declare them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Mapping
from typing import Any, TypeVar

from simt.isa.form import Check, Form, Meaning, Requirement, Value, Version, compile_form

FORMS: dict[str, list[Form]] = {}
"""Forms by mnemonic, in the order of declaration. Filled when `simt.isa` is imported."""

KNOWN: dict[str, list[Form]] = {}
"""Forms of PTX that simt knows but does not run, by mnemonic: see `known`. A mnemonic may have forms in
`FORMS` too."""

M = TypeVar("M", bound=Meaning)


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
        _declare(
            FORMS, syntax, meaning, alternatives, chapter=meaning.__module__.rsplit(".", 1)[-1],
            summary=(meaning.__doc__ or "").strip().split("\n")[0], ref=ref, since=since, requires=requires,
            until=requirement(until).version if until else None,
            until_target=requirement(until).target if until and "sm_" in until else 0,
            defaults=defaults, check=check, ranges=ranges, relaxed=relaxed, surplus=surplus, carry=carry,
            effects=frozenset(effects.split()), traits=frozenset(traits.split()),
            contraction=contraction, seam=frozenset(seam.split()),
        )  # fmt: skip
        return meaning

    return declare


def control(
    syntax: str, kind: str, summary: str, *, ref: str, since: str = "1.0",
    requires: Mapping[str, str] | None = None, check: Check | None = None,
    ranges: Mapping[str, Container[float]] | None = None, **alternatives: str,
) -> None:  # fmt: skip
    """Declares a form that the engines execute themselves: branches, calls, barriers."""
    caller = inspect.currentframe()
    assert caller is not None
    assert caller.f_back is not None
    chapter = str(caller.f_back.f_globals["__name__"]).rsplit(".", 1)[-1]
    _declare(
        FORMS, syntax, None, alternatives, chapter=chapter, summary=summary, ref=ref, since=since,
        requires=requires, check=check, ranges=ranges, control=kind, effects=frozenset({"control"}),
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
    forms: dict[str, list[Form]], syntax: str, meaning: Meaning | None, alternatives: Mapping[str, str], *,
    since: str, requires: Mapping[str, str] | None, defaults: Mapping[str, Value] | None = None,
    ranges: Mapping[str, Container[float]] | None = None, **attributes: Any,
) -> None:  # fmt: skip
    """Adds a form. `attributes` are further ones of `Form`."""
    form = compile_form(
        syntax,
        meaning,
        alternatives,
        requirement=requirement(since),
        requires={k: requirement(v) for k, v in (requires or {}).items()},
        defaults=defaults or {},
        ranges=ranges or {},
        **attributes,
    )
    forms.setdefault(form.mnemonic, []).append(form)
