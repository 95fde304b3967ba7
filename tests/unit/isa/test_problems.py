"""The catalogue's self-check, and that it notices what it should."""

from __future__ import annotations

import pytest

from simt.isa import catalogue, problems
from simt.isa.algebra import Algebra, V
from simt.isa.catalogue import instruction
from simt.isa.form import Form
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
    empty: dict[str, list[Form]] = {}
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
