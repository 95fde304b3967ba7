"""Names that stand where a number does: ptxas takes them in more places than the text has them."""

from __future__ import annotations

from simt.ptx import nodes
from simt.ptx.types import Kind
from simt.verify.context import Problem
from simt.verify.describe import describe
from simt.verify.shapes import Shape, What
from simt.verify.site import Place

ADDED_TO = frozenset({"global", "shared", "const", "local"})
"""State spaces with addresses to which a constant may be added anywhere."""


def number(place: Place, operand: nodes.Operand, shape: Shape) -> Problem:
    """Sections 6.4.1 and 6.4.4 have `mov` take addresses; ptxas is more generous."""
    message = f"{place.role} `{place.form.name}` of `{place.site.spelled}` is {describe(operand, shape)}"
    return Problem(f"{message}: its address is taken as a number", operand.span, "expected `mov`", True)


def is_sum(place: Place, shape: Shape) -> bool:
    """Like ptxas, `a + 4` stands wherever an integer constant does, but in barrier instructions, as a token,
    and where a part of a register may stand."""
    base = shape.parts[0]
    variable = base.what is What.VARIABLE and base.space in ADDED_TO
    return variable and _takes_numbers(place) and place.form.selector is None


def is_function(place: Place, shape: Shape) -> bool:
    """Like ptxas, the name of a function stands wherever an integer constant does, but in barrier
    instructions, as a token, and where the form says so."""
    functions = "no_functions" not in place.site.form.traits
    return shape.what is What.FUNCTION and functions and _takes_numbers(place)


def _takes_numbers(place: Place) -> bool:
    form = place.site.form
    if place.form.kind != "value" or place.count > 1 or form.control:
        return False
    if "addresses" in form.traits or place.form.spec.startswith("token("):
        return False
    integer = place.type.is_integer or place.type.kind is Kind.BITS
    return integer and form.ranges.get(place.form.name) != ()
