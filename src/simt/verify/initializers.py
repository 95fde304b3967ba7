"""Rules for initial values (section 5.3.4): nesting, number and type."""

from __future__ import annotations

from collections.abc import Iterator

from simt.diagnostics import counted
from simt.isa.form import Version
from simt.ptx.nodes import (
    FieldValue,
    Float,
    Function,
    Initializer,
    InitializerList,
    Integer,
    SymbolValue,
    Variable,
)
from simt.ptx.symbols import Scope, Symbol
from simt.ptx.types import Kind, Type
from simt.verify.context import Context, Problem, dotted
from simt.verify.opaque import field_problems, is_opaque

ADDRESSES_SINCE: Version = (2, 1)
GENERIC_SINCE: Version = (3, 1)
MASKS_SINCE: Version = (7, 1)
"""The versions that allow addresses, `generic(name)` and `0xFF(name)` as initial values."""


def initializer_problems(context: Context, scope: Scope, v: Variable) -> Iterator[Problem]:
    """Whether a variable's initial value fits its type, vector size and dimensions."""
    if v.initializer is not None and is_opaque(v):
        yield from field_problems(context, v, v.initializer)
    elif v.initializer is not None and v.space in ("const", "global"):
        sizes = (*v.dimensions, *((v.vector,) if v.vector > 1 else ()))
        yield from _value(context, scope, v, v.initializer, sizes)


def _value(
    context: Context, scope: Scope, v: Variable, value: Initializer, sizes: tuple[int | None, ...]
) -> Iterator[Problem]:
    if isinstance(value, InitializerList):
        yield from _list(context, scope, v, value, sizes)
    elif sizes:
        hint = f"expected `{{...}}` with {_count(sizes[0])}"
        yield Problem(f"`{v.name}` takes a list of values here", value.span, hint)
    else:
        yield from _scalar(context, scope, v, value)


def _list(
    context: Context, scope: Scope, v: Variable, value: InitializerList, sizes: tuple[int | None, ...]
) -> Iterator[Problem]:
    if not sizes:
        yield Problem(f"`{v.name}` takes a single value here", value.span, f"expected a {v.type} value")
        return
    if sizes[0] is not None and len(value.elements) > sizes[0]:
        extra = value.elements[sizes[0]]
        message = f"`{v.name}` has {counted(len(value.elements), 'value')} here"
        yield Problem(message, extra.span, f"expected {_count(sizes[0])}")
    for element in value.elements:
        yield from _value(context, scope, v, element, sizes[1:])


def _count(size: int | None) -> str:
    if size is None:
        return "values"
    return f"at most {counted(size, 'value')}"


def _scalar(context: Context, scope: Scope, v: Variable, value: Initializer) -> Iterator[Problem]:
    t = v.type
    match value:
        case Integer() if t.is_float:
            message = f"`{v.name}` of type {t} cannot have the integer `{value.value}` as its value"
            yield Problem(message, value.span, f"expected a floating-point constant such as {value.value}.0")
        case Float() if t.is_integer:
            message = f"`{v.name}` of type {t} cannot have a floating-point value"
            yield Problem(message, value.span, "expected an integer constant")
        case FieldValue():
            message = f"`{v.name}` of type {t} has no fields"
            yield Problem(message, value.span, f"expected a {t} value")
        case SymbolValue():
            yield from _since(context, value)
            yield from _address(scope, v, value)
        case _:
            yield from ()


def _since(context: Context, value: SymbolValue) -> Iterator[Problem]:
    """The PTX version that an address as initial value needs."""
    what, needed = "an address", ADDRESSES_SINCE
    if value.generic:
        what, needed = "`generic()`", GENERIC_SINCE
    if value.mask is not None:
        what, needed = "one byte of an address", MASKS_SINCE
    if needed > context.version:
        message = f"{what} as initial value requires PTX ISA {dotted(needed)} or later"
        yield Problem(f"{message}, the module's .version is {context.version_name}", value.span)


MIN_ADDRESS_BITS = 32


def _address(scope: Scope, v: Variable, value: SymbolValue) -> Iterator[Problem]:
    symbol = scope.lookup(value.name.name)
    if symbol is None:
        name = value.name.name
        yield Problem(f"`{name}` is not declared", value.name.span, unknown=(name, scope.names()))
    elif not _has_address(symbol):
        message = f"the address of `{value.name.name}` cannot be an initial value"
        yield Problem(message, value.name.span, "expected a .global or .const variable or a function")
    if not _takes_address(v.type, value.mask):
        message = f"`{v.name}` of type {v.type} cannot hold an address"
        yield Problem(message, value.span, "expected a 32-bit or 64-bit integer or untyped variable")
    if value.mask is not None and value.mask not in MASKS:
        yield Problem(f"0x{value.mask:X} does not select one byte of an address", value.span)


MASKS = frozenset(0xFF << shift for shift in range(0, 64, 8))


def _has_address(symbol: Symbol) -> bool:
    return symbol.space in ("global", "const") or isinstance(symbol.node, Function)


def _takes_address(t: Type, mask: int | None) -> bool:
    integer = t.is_integer or t.kind is Kind.BITS
    return integer and (t.bits >= MIN_ADDRESS_BITS or mask is not None)
