"""Calls: the callee, and agreement of arguments with its signature (table 75; section 9.1)."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TypeAlias

from simt.diagnostics import Span, counted
from simt.isa.targets import FIRST_PROTOTYPES
from simt.ptx.agreement import agrees
from simt.ptx.nodes import Arguments, CallPrototype, Function, Name, Operand, TargetList, Variable
from simt.ptx.symbols import SymbolKind
from simt.ptx.types import Kind, Type
from simt.records import dataclass
from simt.verify.agreement import expected_register
from simt.verify.context import Problem
from simt.verify.describe import describe, written
from simt.verify.operands import undeclared
from simt.verify.shapes import Role, Shape, What
from simt.verify.site import Site


@dataclass(frozen=True, slots=True)
class CallParts:
    """`call (results), callee, (arguments), prototype` taken apart."""

    results: Arguments
    callee: Operand | None
    arguments: Arguments
    prototype: Operand | None
    excess: tuple[Operand, ...]


def split_call(operands: tuple[Operand, ...]) -> CallParts:
    """The parts of a call's operand list; absent lists are empty."""
    rest = list(operands)
    none = Arguments(())
    results = rest.pop(0) if rest and isinstance(rest[0], Arguments) else none
    callee = rest.pop(0) if rest else None
    arguments = rest.pop(0) if rest and isinstance(rest[0], Arguments) else none
    prototype = rest.pop(0) if rest else None
    assert isinstance(results, Arguments)
    assert isinstance(arguments, Arguments)
    return CallParts(results, callee, arguments, prototype, tuple(rest))


def call_problems(site: Site) -> Iterator[Problem]:
    """Everything that is wrong with a call."""
    parts = split_call(site.instruction.operands)
    if parts.callee is None or parts.excess or isinstance(parts.prototype, Arguments):
        hint = "expected `call (results), function, (arguments), prototype`"
        yield Problem("a call names one function", site.instruction.span, hint)
        return
    signature = yield from _callee(site, parts.callee, parts.prototype)
    if signature is None:
        return
    name = written(parts.callee)
    span = site.instruction.span
    yield from _list(site, name, "argument", signature.parameters, parts.arguments, span)
    yield from _list(site, name, "result", signature.returns, parts.results, span)


@dataclass(frozen=True, slots=True)
class Signature:
    returns: tuple[Variable, ...]
    parameters: tuple[Variable, ...]


_Found: TypeAlias = "Generator[Problem, None, Signature | None]"


def _signature(node: object) -> Signature | None:
    if isinstance(node, Function | CallPrototype):
        return Signature(node.returns, node.parameters)
    return None


def _callee(site: Site, callee: Operand, prototype: Operand | None) -> _Found:
    shape = site.shapes.of(callee)
    match shape.what:
        case What.FUNCTION if isinstance(callee, Name):
            return (yield from _direct(site, callee, prototype))
        case What.REGISTER if _holds_address(shape):
            return (yield from _indirect(site, callee, prototype))
        case What.UNKNOWN:
            yield undeclared(site.scope, callee)
        case _:
            yield Problem(f"{describe(callee, shape)}, cannot be called", callee.span, "expected a function")
    return None


def _holds_address(shape: Shape) -> bool:
    t = shape.type
    return t is not None and t.bits >= 32 and (t.is_integer or t.kind is Kind.BITS) and shape.count == 1


def _direct(site: Site, callee: Name, prototype: Operand | None) -> _Found:
    symbol = site.scope.lookup(callee.name)
    node = symbol.node if symbol else None
    if prototype is not None:
        hint = "only a call through a register says what it calls"
        yield Problem(f"a call of {written(callee)} has no further operand", prototype.span, hint)
    if isinstance(node, Function) and node.is_entry:
        yield Problem(
            f"{written(callee)} is a kernel and cannot be called", callee.span, "expected a `.func`"
        )
        return None
    return _signature(node)


def _indirect(site: Site, callee: Operand, prototype: Operand | None) -> _Found:
    if prototype is None and site.context.version < FIRST_PROTOTYPES:
        return None  # section 6.4.4; which functions there are is known when all have been read
    if not isinstance(prototype, Name):
        hint = "expected a call prototype or a list of call targets as last operand"
        yield Problem("an indirect call does not say what it calls", callee.span, hint)
        return None
    symbol = site.scope.lookup(prototype.name)
    if symbol is None:
        yield undeclared(site.scope, prototype)
        return None
    if isinstance(symbol.node, TargetList) and symbol.node.kind == "calltargets" and symbol.node.targets:
        target = site.scope.lookup(symbol.node.targets[0].name)
        return _signature(target.node) if target else None
    if symbol.kind is not SymbolKind.PROTOTYPE:
        message = f"{written(prototype)} does not describe a call"
        yield Problem(message, prototype.span, "expected a call prototype or a list of call targets")
    return _signature(symbol.node)


# ---------------------------------------------------------------- arguments


def _list(
    site: Site, who: str, noun: str, formals: tuple[Variable, ...], actual: Arguments, span: Span
) -> Iterator[Problem]:
    given = actual.elements
    if len(given) != len(formals) and not (_is_variadic(formals) and len(given) == len(formals) - 1):
        where = actual.span if given else span
        yield Problem(f"{who} has {counted(len(formals), noun)}, but the call has {len(given)}", where)
        return
    for number, (formal, operand) in enumerate(zip(formals, given), 1):
        shape = site.shapes.of(operand)
        if shape.what is What.UNKNOWN:
            yield undeclared(site.scope, operand)
        elif shape.role in (Role.PARAMETER, Role.RESULT, Role.KERNEL):
            message = f"{noun} {number} of {who} cannot be {written(operand)}, a parameter of the caller"
            yield Problem(message, operand.span, "expected a .param variable of the body")
        elif not _passes(site, formal, operand, shape, noun == "result"):
            message = f"{noun} {number} of {who} cannot be {describe(operand, shape)}"
            yield Problem(message, operand.span, f"expected {_expected(formal)}")
        elif shape.what is What.VARIABLE:
            yield from _alignment(site, f"{noun} {number} of {who}", formal, operand)


def _is_variadic(formals: tuple[Variable, ...]) -> bool:
    return bool(formals) and None in formals[-1].dimensions


def _alignment(site: Site, what: str, formal: Variable, operand: Operand) -> Iterator[Problem]:
    symbol = site.scope.lookup(operand.name) if isinstance(operand, Name) else None
    if symbol is not None and aligned(symbol.variable) != aligned(formal):
        message = f"{what} is aligned to {aligned(formal)} bytes, {written(operand)} to"
        yield Problem(
            f"{message} {aligned(symbol.variable)}", operand.span, f"expected `.align {aligned(formal)}`"
        )


def aligned(variable: Variable) -> int:
    """Bytes to which a variable is aligned: as declared, or its element's size."""
    return variable.align or variable.type.bytes * variable.vector


def _expected(formal: Variable) -> str:
    if formal.space == "param" and formal.dimensions:
        return f"a .param variable of {size_of(formal)} bytes"
    parameter = f" or a .param variable of type {formal.type}" if formal.space == "param" else ""
    return expected_register(formal.type, False) + parameter


def _passes(site: Site, formal: Variable, operand: Operand, shape: Shape, result: bool) -> bool:
    """Whether an argument (or the variable for a result) goes with its formal parameter."""
    match shape.what:
        case What.REGISTER if shape.type is not None:
            return not formal.dimensions and shape.count == formal.vector and agrees(formal.type, shape.type)
        case What.VARIABLE if isinstance(operand, Name):
            symbol = site.scope.lookup(operand.name)
            return symbol is not None and _same_parameter(formal, symbol.variable)
        case What.SINK:
            return result
        case What.INTEGER:
            return not result and not formal.type.is_float
        case What.FLOAT:
            return not result and _takes_float(formal.type, shape.count)
        case _:
            return False


def _takes_float(t: Type, width: int) -> bool:
    return t.is_native_float or (t.kind is Kind.BITS and t.bits == width)


def _same_parameter(formal: Variable, actual: Variable) -> bool:
    if actual.space != "param" or formal.space != "param":
        return False
    if bool(formal.dimensions) != bool(actual.dimensions):
        return False
    if formal.dimensions == (None,):
        return True
    return agrees(formal.type, actual.type) and size_of(formal) == size_of(actual)


def size_of(variable: Variable) -> int:
    """Bytes of a variable; unknown dimensions count as none."""
    size = variable.type.bytes * variable.vector
    for dimension in variable.dimensions:
        size *= dimension or 0
    return size
