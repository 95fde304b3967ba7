"""The catalogue's self-check, and that it notices what it should."""

from __future__ import annotations

import threading
from functools import partial
from typing import Any

import pytest

from simt.isa import catalogue, problems
from simt.isa.algebra import Algebra, V
from simt.isa.catalogue import instruction
from simt.isa.form import Form, compile_form
from simt.isa.problems import catalogue_problems
from simt.ptx.types import Type


def identity(m: Algebra[V], t: Type, a: V) -> V:
    """Its operand."""
    return a


def undocumented(m: Algebra[V], a: V) -> V:
    return a


def curious(m: Algebra[V], a: V, weather: str) -> V:
    """Depends on what nobody gives it."""
    return a


def test_the_catalogue_is_sound() -> None:
    assert catalogue_problems() == []


@pytest.fixture
def declared(monkeypatch: pytest.MonkeyPatch) -> None:
    """A catalogue of its own for a test."""
    empty = catalogue.Catalogue()
    monkeypatch.setattr(catalogue, "FORMS", empty)
    monkeypatch.setattr(problems, "FORMS", empty)


@pytest.mark.usefixtures("declared")
@pytest.mark.parametrize(
    ("syntax", "meaning", "options", "problem"),
    [
        ("foo.type d, a", identity, {"type": ""}, "slot type has no alternatives"),
        ("foo.b32 d, a", undocumented, {}, "no summary"),
        ("foo.b32 d, a", identity, {"ref": ""}, "no reference"),
        ("foo.b32 d, a", curious, {}, "asks for weather, which is neither an operand nor a modifier"),
        ("foo.x d, a", identity, {}, "asks for `t`, but has no main type"),
        ("foo.b32 d, a, a", identity, {}, "two operands are called a"),
        ("foo.b32 d, a", identity, {"traits": "flies"}, "unknown trait flies"),
        ("foo.b32 d, a:b33", identity, {}, "operand a: b33 is no type ('b33')"),
        (
            "foo.b32 d, a",
            identity,
            {"requires": {"sat": "2.0"}},
            "`requires` names sat, which is no modifier",
        ),
        (
            "foo.b32 d, a",
            identity,
            {"check": lambda b, v: "no"},
            "its check allows no combination of modifiers",
        ),
    ],
)
def test_a_bad_declaration_is_noticed(
    syntax: str, meaning: object, options: dict[str, object], problem: str
) -> None:
    instruction(syntax, **{"ref": "a test", **options})(meaning)  # pyright: ignore
    assert f"{syntax}: {problem}" in catalogue_problems()


@pytest.mark.usefixtures("declared")
def test_two_forms_of_one_opcode_are_noticed() -> None:
    instruction("foo[.sat].b32 d, a", ref="a test")(identity)
    instruction("foo.type d, a", type="b32 b64", ref="a test")(identity)
    assert catalogue_problems() == ["foo.b32: several forms with 2 operands"]


@pytest.mark.usefixtures("declared")
def test_forms_of_different_versions_do_not_clash() -> None:
    instruction("foo.b32 d, a", ref="a test", until="1.4")(identity)
    instruction("foo.b32 d, a", ref="a test", since="2.0")(identity)
    assert catalogue_problems() == []


def test_only_forms_that_are_looked_up_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []

    def noted(syntax: str, *arguments: Any, **named: Any) -> Form:
        compiled.append(syntax)
        return compile_form(syntax, *arguments, **named)

    monkeypatch.setattr(catalogue, "compile_form", noted)
    forms = catalogue.Catalogue()
    monkeypatch.setattr(catalogue, "FORMS", forms)
    for syntax in ("foo[.sat].b32 d, a", "bar.b32 d, a", "foo.b64 d, a", "bar[.!] d"):
        instruction(syntax, ref="a test")(identity)
    assert (list(forms), len(forms), "foo" in forms, "fo" in forms) == (["foo", "bar"], 2, True, False)
    assert compiled == []
    first = forms["foo"]
    assert [f.syntax for f in first] == compiled == ["foo[.sat].b32 d, a", "foo.b64 d, a"]
    instruction("foo.b16 d, a", ref="a test")(identity)
    assert [f.syntax for f in forms.get("foo", [])] == [*compiled[:2], "foo.b16 d, a"]
    assert forms["foo"] is first
    with pytest.raises(ValueError, match="bad modifier syntax"):
        _ = forms["bar"]
    assert "baz" not in forms
    assert forms.get("baz") is None


def test_threads_find_all_forms() -> None:
    for _ in range(50):
        forms, found, start = catalogue.Catalogue(), list[int](), threading.Barrier(3)
        for width in ("b16", "b32", "b64"):
            forms.declare("foo", partial(compile_form, f"foo.{width} d, a", identity, {}, ref="", chapter=""))

        def look(forms: Any = forms, found: Any = found, start: Any = start) -> None:
            start.wait()
            found.append(len(forms["foo"]))

        threads = [threading.Thread(target=look) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [3, 3, 3]
