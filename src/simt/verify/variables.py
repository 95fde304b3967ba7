"""Rules for variable declarations (sections 5.1-5.3), by where they stand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

from simt.isa.catalogue import requirement
from simt.isa.form import Requirement, Version
from simt.isa.special_registers import SPECIAL_REGISTERS
from simt.isa.targets import FIRST_CALL_PARAMETERS
from simt.ptx.nodes import Function, Variable
from simt.ptx.types import BF16, BF16X2, F16, F32X2, U32, U64
from simt.verify.context import Context, Problem, dotted
from simt.verify.opaque import is_opaque, opaque_problems

Where: TypeAlias = Literal["module", "body"]
Rule: TypeAlias = Callable[[Context, Variable, Where], Iterator[Problem]]

MAX_VECTOR_BITS = 128
MAX_TEXTURES = 128
"""Section 5.1.8."""
LAST_TEX: Version = (1, 4)
LAST_BANKS: Version = (2, 1)
LAST_MODULE_REGISTERS: Version = (2, 3)
PARAMETER_LISTS: Version = (1, 4)
TYPES_SINCE: dict[str, Requirement] = {
    "b128": requirement("8.3 sm_70"),
    "f16x2": requirement("4.2 sm_53"),
}
LINKAGE_SINCE: dict[str, Version] = {"weak": (3, 1), "common": (5, 0)}
POINTERS_SINCE: Version = (2, 2)


def declaration_problems(context: Context, v: Variable, where: Where) -> Iterator[Problem]:
    """Everything that is wrong with a declaration in itself; names and initialisers are checked elsewhere."""
    for rule in RULES:
        yield from rule(context, v, where)


def shape_problems(context: Context, v: Variable) -> Iterator[Problem]:
    """The rules for type, vector size and alignment, which hold for parameters too."""
    for rule in (_type, _vector, _alignment, _pointer):
        yield from rule(context, v, "body")


def predefined_problems(item: Variable | Function) -> Iterator[Problem]:
    """Names of special registers are PTX's own (table 3); only what a function declares may hide them."""
    if item.name in SPECIAL_REGISTERS and getattr(item, "count", None) is None:
        message = f"`{item.name}` is a special register"
        yield Problem(message, item.span, "expected a name that PTX does not define itself")


def _predefined(context: Context, v: Variable, where: Where) -> Iterator[Problem]:
    if where == "module":
        yield from predefined_problems(v)


def _place(context: Context, v: Variable, where: Where) -> Iterator[Problem]:
    """Which state space may be declared where."""
    version = context.version
    if v.space == "sreg":
        yield Problem(f"special register `{v.name}` is declared", v.span, "special registers are predefined")
    if where == "module" and v.space == "param":
        yield Problem(f"parameter `{v.name}` is declared outside a function", v.span)
    elif where == "module" and v.space in ("reg", "local") and version > LAST_MODULE_REGISTERS:
        message = f".{v.space} variable `{v.name}` is declared at module scope"
        yield Problem(
            message, v.span, f"expected it in a function (from PTX ISA 3.0 on, here {dotted(version)})"
        )
    elif where == "body" and v.space == "param" and PARAMETER_LISTS <= version < FIRST_CALL_PARAMETERS:
        message = f"parameter `{v.name}` is declared in a body"
        yield Problem(message, v.span, f"expected it in the parameter list in PTX ISA {dotted(version)}")
    elif where == "body" and v.space == "param" and version < FIRST_CALL_PARAMETERS and not context.in_kernel:
        yield Problem(f"parameter `{v.name}` is declared in a device function", v.span, "expected .reg")
    if where == "body" and v.linkage:
        yield Problem(f"`.{v.linkage}` variable `{v.name}` is declared in a function", v.span)


def _texture(context: Context, v: Variable, where: Where) -> Iterator[Problem]:
    if v.space != "tex":
        return
    if context.version > LAST_TEX:
        yield Problem(
            f".tex is not allowed after PTX ISA {dotted(LAST_TEX)}", v.span, "expected `.global .texref`"
        )
    if where == "body":
        yield Problem(f"texture `{v.name}` is declared in a function", v.span, "expected it at module scope")
    context.textures += v.count or 1
    if context.textures > MAX_TEXTURES >= context.textures - (v.count or 1):
        yield Problem(f"the module has more than {MAX_TEXTURES} textures", v.span)
    if v.dimensions:
        yield Problem(f"texture `{v.name}` is declared as an array", v.span)
    if v.type not in (U32, U64):
        yield Problem(f"texture `{v.name}` has type {v.type}", v.span, "expected .u32 or .u64")


def _bank(context: Context, v: Variable, where: Where) -> Iterator[Problem]:
    if v.bank is None:
        return
    if context.version > LAST_BANKS:
        yield Problem(f"constant banks are not allowed after PTX ISA {dotted(LAST_BANKS)}", v.span)
    elif v.bank != 0 and (context.version < (1, 5) or v.linkage != "extern" or v.bank > 10):
        yield Problem(f"there is no constant bank {v.bank} here", v.span, "expected .const or .const[0]")


def _type(context: Context, v: Variable, where: Where) -> Iterator[Problem]:
    if is_opaque(v):
        yield from opaque_problems(context, v)
        return
    if v.type in (BF16, BF16X2, F32X2):
        hint = f"expected .b{v.type.bits}"
        yield Problem(f"`{v.name}` cannot be declared with type {v.type}", v.span, hint)
    needed = TYPES_SINCE.get(v.type.name, Requirement())
    if needed.version > context.version:
        yield Problem(f"type {v.type} requires PTX ISA {dotted(needed.version)} or later", v.span)
    elif needed.target > context.target:
        message = f"type {v.type} requires sm_{needed.target} or later"
        yield Problem(f"{message}, the module's .target is {context.target_name}", v.span)
    if v.type.is_predicate and v.space != "reg":
        yield Problem(f"predicate `{v.name}` is declared in .{v.space}", v.span, "expected .reg")
    elif v.type.is_predicate and v.vector > 1:
        yield Problem(f"`{v.name}` is a vector of predicates", v.span, "expected a scalar .pred register")


def _vector(context: Context, v: Variable, where: Where) -> Iterator[Problem]:
    if v.vector * v.type.bits > MAX_VECTOR_BITS:
        message = f"vector `{v.name}` has {v.vector * v.type.bits} bits"
        yield Problem(message, v.span, f"expected at most {MAX_VECTOR_BITS}")


def _alignment(context: Context, v: Variable, where: Where) -> Iterator[Problem]:
    aligns = [v.align, v.pointer.align if v.pointer else None]
    for n in aligns:
        if n is not None and (n <= 0 or n & (n - 1)):
            yield Problem(f"alignment {n} is not a power of two", v.span)


def _pointer(context: Context, v: Variable, where: Where) -> Iterator[Problem]:
    if v.pointer is not None and context.version < POINTERS_SINCE:
        yield Problem(f"`.ptr` requires PTX ISA {dotted(POINTERS_SINCE)} or later", v.span)


def _dimensions(context: Context, v: Variable, where: Where) -> Iterator[Problem]:
    if not v.dimensions:
        return
    if v.space == "reg":
        yield Problem(f"register `{v.name}` is declared as an array", v.span)
    elif v.count is not None:
        yield Problem(f"`{v.name}<{v.count}>` is declared as an array", v.span)
    elif any(d is not None and d < 0 for d in v.dimensions):
        yield Problem(f"array `{v.name}` has a negative size", v.span)
    elif _incomplete(v) and v.linkage != "extern":
        yield Problem(f"array `{v.name}` has no size", v.span, "expected a size, an initialiser or .extern")


def _incomplete(v: Variable) -> bool:
    return 0 in v.dimensions or (None in v.dimensions and v.initializer is None)


def _initializer(context: Context, v: Variable, where: Where) -> Iterator[Problem]:
    if v.initializer is None:
        return
    if v.space not in ("const", "global"):
        message = f".{v.space} variable `{v.name}` cannot have an initial value"
        yield Problem(message, v.span, "only .const and .global variables can")
    elif v.linkage == "extern":
        yield Problem(f"`.extern` variable `{v.name}` cannot have an initial value", v.span)
    elif v.count is not None:
        yield Problem(f"`{v.name}<{v.count}>` cannot have an initial value", v.span)
    elif v.type is F16 or v.type.is_predicate:
        yield Problem(f"`{v.name}` of type {v.type} cannot have an initial value", v.span)


def _linkage(context: Context, v: Variable, where: Where) -> Iterator[Problem]:
    since = LINKAGE_SINCE.get(v.linkage)
    if since is not None and since > context.version:
        yield Problem(f"`.{v.linkage}` requires PTX ISA {dotted(since)} or later", v.span)
    if v.linkage == "extern" and v.space == "local":
        yield Problem(f"`.extern` variable `{v.name}` is declared in .local", v.span)
    if v.linkage == "common" and v.space != "global":
        yield Problem(f"`.common` variable `{v.name}` is declared in .{v.space}", v.span, "expected .global")


RULES: tuple[Rule, ...] = (
    _place, _predefined, _texture, _bank, _type, _vector, _alignment, _dimensions, _initializer, _linkage,
)  # fmt: skip
