"""Rules for textures, samplers and surfaces as variables (PTX ISA 1.5 on), and for the texture modes."""

from __future__ import annotations

from collections.abc import Iterator

from simt.isa.form import Version
from simt.ptx.nodes import FieldValue, Initializer, InitializerList, Name, TextureAddress, Variable
from simt.ptx.types import Kind
from simt.verify.context import Context, Problem, dotted
from simt.verify.describe import written

SINCE: Version = (1, 5)
_SIZES = "width height depth array_size channel_data_type channel_order"
_MODES = "filter_mode addr_mode_0 addr_mode_1 addr_mode_2"
FIELDS = {
    "texref": frozenset(f"{_SIZES} {_MODES} normalized_coords num_mipmap_levels num_samples".split()),
    "samplerref": frozenset(f"{_MODES} force_unnormalized_coords".split()),
    "surfref": frozenset(_SIZES.split()),
}
"""What an initialiser may set, by type."""

WORDS = frozenset(("nearest", "linear", "wrap", "mirror", "clamp_ogl", "clamp_to_edge", "clamp_to_border"))
"""Values of filter and addressing modes."""


def is_opaque(v: Variable) -> bool:
    return v.type.kind is Kind.OPAQUE


def opaque_problems(context: Context, v: Variable) -> Iterator[Problem]:
    """What is wrong with a texture, sampler or surface as such."""
    if context.version < SINCE:
        message = f"type {v.type} requires PTX ISA {dotted(SINCE)} or later"
        yield Problem(f"{message}, the module's .version is {context.version_name}", v.span)
    if v.space not in ("global", "param"):
        yield Problem(f"`{v.name}` of type {v.type} is declared in .{v.space}", v.span, "expected .global")
    if v.type.name == "samplerref" and not context.independent:
        hint = "expected `.target ..., texmode_independent`"
        yield Problem(
            f"sampler `{v.name}` is declared, but textures have samplers of their own", v.span, hint
        )


def field_problems(context: Context, v: Variable, value: Initializer) -> Iterator[Problem]:
    """What is wrong with the initialiser of one, or with a `name = value` elsewhere."""
    if isinstance(value, InitializerList):
        for element in value.elements:
            yield from field_problems(context, v, element)
    elif not isinstance(value, FieldValue):
        yield Problem(f"`{v.name}` of type {v.type} takes `{{name = value, ...}}`", value.span)
    elif value.name.name not in FIELDS[v.type.name]:
        message = f"`{value.name.name}` is not a field of {v.type}"
        yield Problem(message, value.name.span, f"expected one of {' '.join(sorted(FIELDS[v.type.name]))}")
    elif isinstance(value.value, Name) and value.value.name not in WORDS:
        message = f"`{value.value.name}` is not a mode of textures"
        yield Problem(message, value.value.span, f"expected one of {' '.join(sorted(WORDS))}")
    elif context.independent and v.type.name == "texref" and value.name.name in _MODES.split():
        message = f"`{value.name.name}` of a texture is ignored in `texmode_independent`"
        yield Problem(message, value.span, warning=True)


def sampler_problems(context: Context, operand: TextureAddress) -> Iterator[Problem]:
    """A sampler is named in one of the texture modes, and not in the other."""
    if operand.sampler is not None and not context.independent:
        message = f"sampler {written(operand.sampler)} is named, but textures have samplers of their own"
        yield Problem(message, operand.sampler.span, "expected `.target ..., texmode_independent`")
    elif operand.sampler is None and context.independent:
        message = "a sampler is missing: the module is one of `texmode_independent`"
        yield Problem(message, operand.span, "expected `[texture, sampler, coordinates]`")
