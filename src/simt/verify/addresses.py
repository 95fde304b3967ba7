"""Rules for operands in memory: `[a]`, `[a + offset]`, `a[i]` (sections 6.4.1 and 6.4.2)."""

from __future__ import annotations

from collections.abc import Iterator

from simt.isa.form import Form
from simt.isa.memory import state_space
from simt.ptx import nodes
from simt.verify.context import Problem
from simt.verify.describe import describe, written
from simt.verify.operands import instruction_space, is_address_register, narrow, no_array, undeclared
from simt.verify.shapes import Role, Shape, What
from simt.verify.site import Place, Site


def address_space(place: Place) -> str | None:
    """The state space of one address: the second one of a copy is in the space named last, the third
    is that of a barrier."""
    binding = place.site.binding
    number = [o.name for o in place.site.form.operands if o.address].index(place.form.name)
    match number, binding.get("source"):
        case 0, _:
            return instruction_space(binding)
        case 1, str() as source:
            return source.split("::")[0]
        case 1, _:
            return "global" if binding.get("global") is True else None
        case _:
            return "shared"


def address_problems(place: Place, operand: nodes.Operand) -> Iterator[Problem]:
    """`[a]`, `[a + offset]`, `a[i]`."""
    shapes, site = place.site.shapes, place.site
    match operand:
        case nodes.Address(base=None):
            return
        case nodes.Address(base=base) if base is not None:
            yield from _base(place, base, shapes.of(base))
        case nodes.Indexed(array=array, index=index):
            if shapes.of(array).what is What.REGISTER and site.context.version >= FIRST_BRACKETS:
                yield _without_brackets(place, operand)
                return
            yield from _base(place, array, shapes.of(array))
            if shapes.of(operand).kind == "scalar":
                yield no_array(array)
            if index is not None:
                yield from _index(place, index, shapes.of(index))
        case nodes.Name() if site.context.version < FIRST_BRACKETS:
            yield from _base(place, operand, shapes.of(operand))
        case nodes.Sum(base=base) if site.context.version < FIRST_BRACKETS:
            yield from _base(place, base, shapes.of(base))
        case nodes.Integer() if site.context.version < FIRST_BRACKETS:
            return
        case _:
            yield _without_brackets(place, operand)


def _without_brackets(place: Place, operand: nodes.Operand) -> Problem:
    described = describe(operand, place.site.shapes.of(operand))
    message = f"operand `{place.form.name}` of `{place.site.spelled}` cannot be {described}"
    return Problem(message, operand.span, "expected an address in square brackets")


FIRST_BRACKETS = (1, 2)
"""Section 10.3.4: square brackets are required from this version on."""


def _index(place: Place, index: nodes.Operand, shape: Shape) -> Iterator[Problem]:
    if shape.what is What.UNKNOWN:
        yield undeclared(place.site.scope, index)
    elif not is_address_register(shape):
        yield Problem(
            f"an index cannot be {describe(index, shape)}", index.span, "expected an integer register"
        )


def _base(place: Place, base: nodes.Operand, shape: Shape) -> Iterator[Problem]:
    match shape.what:
        case What.REGISTER if instruction_space(place.site.binding) == "param" and _writes(place.site):
            yield Problem("a parameter is written by its name", base.span, "expected a .param variable")
        case What.REGISTER if is_address_register(shape):
            yield from _width(place, base, shape)
        case What.VARIABLE:
            yield from _space(place, base, shape)
        case What.UNKNOWN:
            yield undeclared(place.site.scope, base)
        case _:
            yield Problem(
                f"an address cannot be {describe(base, shape)}",
                base.span,
                "expected a variable or an integer or untyped register",
            )


def _width(place: Place, base: nodes.Operand, shape: Shape) -> Iterator[Problem]:
    """Global and generic addresses are as wide as the module says."""
    needed = place.site.context.address_bits
    wide = address_space(place) in (None, "global")
    if needed == 64 and wide and shape.type is not None and shape.type.bits == 32:
        yield narrow(base, 32, needed)


def _space(place: Place, base: nodes.Operand, shape: Shape) -> Iterator[Problem]:
    site, space = place.site, address_space(place)
    if space is None and shape.space in ("param", "const", "tex"):
        yield Problem(
            f"`{site.spelled}` takes a generic address, but {written(base)} is a .{shape.space} variable",
            base.span,
            f"expected `.{shape.space}` in the instruction",
        )
    elif space is None and _is_for_shared(site.form) and shape.space != "shared":
        yield Problem(
            f"`{site.spelled}` takes a generic address of shared memory, but {written(base)} is a "
            f".{shape.space} variable",
            base.span,
            "expected a .shared variable",
        )
    elif space is not None and space != shape.space:
        yield Problem(
            f"`{site.spelled}` accesses .{space}, but {written(base)} is a .{shape.space} variable",
            base.span,
            f"expected a .{space} variable",
        )
    elif shape.role is not None:
        yield from _parameter(site, base, shape.role)


def _is_for_shared(form: Form) -> bool:
    """Whether the state spaces that the form may name are all shared memory."""
    spaces = [word for slot in form.slots if slot.name == "space" for word in slot.choices]
    return bool(spaces) and all(state_space(word) == "shared" for word in spaces)


def _parameter(site: Site, base: nodes.Operand, role: Role) -> Iterator[Problem]:
    """A function reads its parameters and writes its results; the accesses that belong to a call are its
    caller's alone, and unconditional."""
    writes = _writes(site)
    if writes and role in (Role.KERNEL, Role.PARAMETER):
        yield Problem(f"{written(base)} is a {role.value} and cannot be written", base.span)
    elif role is Role.RESULT and not writes:
        yield Problem(f"{written(base)} is a result of the function and cannot be read", base.span)
    elif role is Role.ARGUMENT and site.instruction.guard is not None:
        message = f"an access to {written(base)}, an {role.value}, cannot have a guard"
        yield Problem(message, site.instruction.span, "expected a branch around the call")


def _writes(site: Site) -> bool:
    return bool(site.form.operands) and site.form.operands[0].address
