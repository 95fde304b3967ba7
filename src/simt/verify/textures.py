"""Rules for `[texture, coordinates]` (table 71)."""

from __future__ import annotations

from collections.abc import Iterator

from simt.isa.texture import DIMENSIONS
from simt.ptx import nodes
from simt.ptx.agreement import agrees
from simt.ptx.types import Type
from simt.verify.agreement import expected_register
from simt.verify.context import Problem
from simt.verify.describe import describe
from simt.verify.opaque import sampler_problems
from simt.verify.operands import undeclared
from simt.verify.shapes import Shape, What
from simt.verify.site import Place


def texture_problems(place: Place, operand: nodes.Operand) -> Iterator[Problem]:
    """`[texture, coordinates]` (table 71)."""
    shapes, site = place.site.shapes, place.site
    if not isinstance(operand, nodes.TextureAddress):
        described = describe(operand, shapes.of(operand))
        message = f"operand `{place.form.name}` of `{site.spelled}` cannot be {described}"
        yield Problem(message, operand.span, "expected `[texture, coordinates]`")
        return
    yield from sampler_problems(site.context, operand)
    for name in (operand.texture, *([operand.sampler] if operand.sampler else [])):
        yield from _texture_name(place, name)
    elements = (
        operand.coordinates.elements
        if isinstance(operand.coordinates, nodes.Vector)
        else (operand.coordinates,)
    )
    yield from _coordinates(place, operand.coordinates, elements)


def _texture_name(place: Place, name: nodes.Name) -> Iterator[Problem]:
    shape = place.site.shapes.of(name)
    if shape.what is What.UNKNOWN:
        yield undeclared(place.site.scope, name)
    elif (
        shape.what is What.REGISTER
        and shape.type is not None
        and shape.type.bits == 64
        and not shape.type.is_float
    ):
        return
    elif shape.what is not What.VARIABLE or shape.space not in ("tex", "global", "param"):
        message = f"a texture cannot be {describe(name, shape)}"
        yield Problem(message, name.span, "expected a texture variable or a 64-bit register")


COORDINATES = {**DIMENSIONS, **{f"a{geometry}": 1 + n for geometry, n in DIMENSIONS.items()}}
"""By geometry. That of an array's layer comes before the others."""


def _coordinates(
    place: Place, whole: nodes.Operand, elements: tuple[nodes.Operand, ...]
) -> Iterator[Problem]:
    shapes = place.site.shapes
    given = shapes.of(elements[0]).count if len(elements) == 1 else len(elements)
    geometry = str(place.site.binding.get("geom", ""))
    needed = COORDINATES.get(geometry, 1)
    if given < needed:
        yield Problem(f"a .{geometry} texture needs {needed} coordinates, not {given}", whole.span)
    if given == 3:
        yield Problem("a vector cannot have 3 elements", whole.span, "expected 1, 2 or 4 coordinates")
    for element in elements:
        shape = shapes.of(element)
        if shape.what is What.UNKNOWN:
            yield undeclared(place.site.scope, element)
        elif not _is_coordinate(place, shape, isinstance(whole, nodes.Vector)):
            message = f"a coordinate cannot be {describe(element, shape)}"
            expected = expected_register(_coordinate_type(place), False)
            yield Problem(message, element.span, f"expected {expected}")


def _coordinate_type(place: Place) -> Type:
    t = place.site.binding["btype"]
    assert isinstance(t, Type)
    return t


def _is_coordinate(place: Place, shape: Shape, in_braces: bool) -> bool:
    """A register, or in braces a constant or a special register."""
    t = _coordinate_type(place)
    if shape.what is What.REGISTER:
        return shape.type is not None and agrees(t, shape.type)
    wanted = (What.INTEGER, What.SPECIAL) if t.is_integer else (What.FLOAT,)
    return in_braces and shape.what in wanted
