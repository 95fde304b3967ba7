"""Rules for kernels and device functions: headers, parameters, redeclaration, limits (tables 96-100)."""

from __future__ import annotations

from collections.abc import Iterator

from simt.isa.catalogue import requirement
from simt.isa.form import Requirement, Version
from simt.isa.targets import FIRST_CALL_PARAMETERS
from simt.ptx.agreement import difference
from simt.ptx.nodes import Function, Performance, Variable
from simt.records import dataclass
from simt.verify.calls import aligned, size_of
from simt.verify.context import Context, Problem, dotted, requirement_problems
from simt.verify.opaque import is_opaque
from simt.verify.variables import LINKAGE_SINCE, PARAMETER_LISTS, predefined_problems, shape_problems

KERNEL_PROTOTYPES: Version = (3, 0)


def header_problems(context: Context, function: Function) -> Iterator[Problem]:
    """Everything that is wrong with a function's header in itself."""
    yield from _kernel(context, function) if function.is_entry else _device(context, function)
    yield from predefined_problems(function)
    yield from _parameters(context, function)
    yield from _limits(context, function)
    since = LINKAGE_SINCE.get(function.linkage)
    if since is not None and since > context.version:
        yield Problem(f"`.{function.linkage}` requires PTX ISA {dotted(since)} or later", function.span)
    if function.linkage == "extern" and function.body is not None:
        yield Problem(f"`.extern` function `{function.name}` has a body", function.span)


def _kernel(context: Context, function: Function) -> Iterator[Problem]:
    if function.linkage == "extern" and context.version < KERNEL_PROTOTYPES:
        message = f"an `.extern` kernel requires PTX ISA {dotted(KERNEL_PROTOTYPES)} or later"
        yield Problem(f"{message}, the module's .version is {context.version_name}", function.span)
    if function.returns:
        yield Problem(f"kernel `{function.name}` returns a value", function.returns[0].span)
    if function.parameters and context.version < PARAMETER_LISTS:
        message = f"a kernel parameter list requires PTX ISA {dotted(PARAMETER_LISTS)} or later"
        hint = "declare the parameters in the body"
        yield Problem(
            f"{message}, the module's .version is {context.version_name}", function.parameters[0].span, hint
        )
    for p in function.parameters:
        if p.space != "param":
            yield Problem(f"kernel parameter `{p.name}` is declared in .{p.space}", p.span, "expected .param")
        if 0 in p.dimensions or None in p.dimensions:
            yield Problem(f"kernel parameter `{p.name}` has no size", p.span)
    yield from _parameter_space(context, function)


PARAMETER_BYTES = ((requirement("8.1 sm_70"), 32764), (requirement("1.5"), 4352), (requirement("1.0"), 256))
"""What the parameters of a kernel may take together, newest first."""


def _parameter_space(context: Context, function: Function) -> Iterator[Problem]:
    end = 0
    for p in (*function.parameters, *_in_body(context, function)):
        align = max(aligned(p), 1)
        end = -(-end // align) * align + size_of(p)
    known = (n for r, n in PARAMETER_BYTES if r.version <= context.version and r.target <= context.target)
    most = next(known, PARAMETER_BYTES[-1][1])  # others are reported elsewhere
    if end > most:
        message = f"kernel `{function.name}` has {end} bytes of parameters"
        hint = f"expected at most {most} in PTX ISA {context.version_name} for {context.target_name}"
        yield Problem(message, function.span, hint)


def _in_body(context: Context, function: Function) -> Iterator[Variable]:
    """Parameters that the body declares: all of a kernel's before there were lists."""
    if function.body is None or context.version >= PARAMETER_LISTS:
        return
    for statement in function.body.statements:
        if isinstance(statement, Variable) and statement.space == "param":
            yield statement


def _device(context: Context, function: Function) -> Iterator[Problem]:
    by_param = context.version >= FIRST_CALL_PARAMETERS and context.target >= FIRST_CALL_TARGET
    allowed = ("reg", "param") if by_param else ("reg",)
    for p in (*function.returns, *function.parameters):
        if p.space not in allowed:
            expected = " or ".join(f".{s}" for s in allowed)
            message = f"parameter `{p.name}` of a device function is declared in .{p.space}"
            hint = f"expected {expected} in PTX ISA {context.version_name} for {context.target_name}"
            yield Problem(message, p.span, hint)
        if is_opaque(p):
            yield Problem(f"`{p.name}` of type {p.type} is for kernel parameters only", p.span)
        if p.pointer is not None:
            yield Problem(f"`.ptr` of `{p.name}` is for kernel parameters only", p.span)
        if p.space == "reg" and p.dimensions:
            yield Problem(f"register `{p.name}` is declared as an array", p.span)
    for p in (*function.returns, *function.parameters):
        if None in p.dimensions:
            yield from _unsized(context, function, p)
    if len(function.returns) > 1 and any(p.space == "param" for p in function.returns):
        yield Problem("several results must be registers", function.returns[1].span, "expected .reg")


FIRST_CALL_TARGET = 20
UNSIZED: Requirement = requirement("6.0 sm_30")


def _unsized(context: Context, function: Function, p: Variable) -> Iterator[Problem]:
    """A last parameter of no size stands for any number of arguments."""
    if not function.parameters or p is not function.parameters[-1]:
        hint = "only the last parameter of a device function may have any size"
        yield Problem(f"`{p.name}` has no size", p.span, hint)
    else:
        yield from requirement_problems(context, f"parameter `{p.name}` without a size", UNSIZED, p.span)


def _parameters(context: Context, function: Function) -> Iterator[Problem]:
    seen: set[str] = set()
    for p in (*function.returns, *function.parameters):
        yield from shape_problems(context, p)
        if p.count is not None:
            yield Problem(f"parameter `{p.name}<{p.count}>` stands for several", p.span, "expected one name")
        if p.initializer is not None:
            yield Problem(f"parameter `{p.name}` cannot have an initial value", p.span)
        if p.space == "param" and p.vector > 1:
            yield Problem(f"parameter `{p.name}` is a vector", p.span, "expected a scalar or an array")
        if p.name in seen and p.name != "_":
            yield Problem(f"`{p.name}` is declared twice", p.span)
        seen.add(p.name)


# ---------------------------------------------------------------- performance directives


@dataclass(frozen=True, slots=True)
class Limit:
    """A directive between header and body: most values, first and last version."""

    values: int
    since: Version
    until: Version = (99, 0)
    kernel: bool = True


LIMITS = {
    "maxnreg": Limit(1, (1, 3)),
    "maxntid": Limit(3, (1, 3)),
    "maxnctapersm": Limit(64, (1, 3), (2, 0)),
    "minnctapersm": Limit(1, (2, 0)),
    "reqntid": Limit(3, (2, 1)),
    "noreturn": Limit(0, (6, 4), kernel=False),
    "explicitcluster": Limit(0, (7, 8)),
    "reqnctapercluster": Limit(3, (7, 8)),
    "maxclusterrank": Limit(1, (7, 8)),
}
BIGGEST = 2**32 - 1


def _limits(context: Context, function: Function) -> Iterator[Problem]:
    names = {p.name for p in function.performance}
    for p in function.performance:
        limit = LIMITS.get(p.name)
        if limit is not None:
            yield from _limit(context, function, p, limit)
    if {"maxntid", "reqntid"} <= names:
        yield Problem("`.maxntid` and `.reqntid` exclude each other", function.span)
    for name in sorted(names & {"minnctapersm", "maxnctapersm"}):
        if not names & {"maxntid", "reqntid"}:
            message = f"`.{name}` is ignored without `.maxntid` or `.reqntid`"
            yield Problem(message, function.span, warning=True)


def _limit(context: Context, function: Function, p: Performance, limit: Limit) -> Iterator[Problem]:
    if limit.since > context.version:
        message = f"`.{p.name}` requires PTX ISA {dotted(limit.since)} or later"
        yield Problem(f"{message}, the module's .version is {context.version_name}", p.span)
    elif context.version > limit.until:
        yield Problem(f"`.{p.name}` is not allowed after PTX ISA {dotted(limit.until)}", p.span)
    if limit.kernel and not function.is_entry:
        yield Problem(f"`.{p.name}` is for kernels only", p.span)
    elif not limit.kernel and function.is_entry:
        yield Problem(f"`.{p.name}` is for device functions only", p.span)
    if bool(p.values) != bool(limit.values) or len(p.values) > limit.values:
        yield Problem(f"`.{p.name}` takes {_number(limit.values)}, not {len(p.values)}", p.span)
    for value in p.values:
        n = value[1] if isinstance(value, tuple) else value
        if not 0 < n <= BIGGEST:
            yield Problem(f"`.{p.name}` cannot be {n}", p.span, "expected a positive 32-bit number")


def _number(most: int) -> str:
    if most == 0:
        return "no value"
    return "1 value" if most == 1 else f"1 to {most} values"


# ---------------------------------------------------------------- redeclaration


def redeclaration_problems(before: object, function: Function) -> Iterator[Problem]:
    """Whether a function may be declared again after `before`, the earlier declaration of its name."""
    name = function.name
    if not isinstance(before, Function):
        yield Problem(f"`{name}` is declared twice", function.span)
    elif before.kind != function.kind:
        yield Problem(f"`{name}` is declared as .{function.kind}, before as .{before.kind}", function.span)
    elif before.body is not None:
        yield Problem(f"function `{name}` is defined already", function.span)
    elif "extern" in (before.linkage, function.linkage) and before.linkage != function.linkage:
        yield Problem(f"function `{name}` is `.extern` in one declaration only", function.span)
    elif function.linkage not in ("", before.linkage):
        message = f"function `{name}` is `.{function.linkage}` here, but not in its earlier declaration"
        yield Problem(message, function.span)
    else:
        found = difference(function, before)
        if found:
            yield Problem(f"`{name}` does not agree with its earlier declaration: {found}", function.span)


def unfinished_kernels(functions: dict[str, Function]) -> Iterator[Problem]:
    """Kernels that are declared but nowhere defined."""
    for function in functions.values():
        if function.is_entry and function.body is None and function.linkage != "extern":
            yield Problem(f"kernel `{function.name}` has no body", function.span)
