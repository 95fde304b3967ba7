"""A verified module as a `Program`: the one entry to lowering."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace

from simt.analysis.call_graph import components, is_recursive, reachable
from simt.analysis.lower_calls import signature, source_type
from simt.analysis.lower_context import Context, Unlowerable
from simt.analysis.lower_function import FunctionLowering
from simt.analysis.lower_inline import has_barrier, inline_calls, watches
from simt.analysis.lower_instructions import Plans
from simt.analysis.lower_simplify import simplify
from simt.analysis.lower_variables import round_up
from simt.analysis.program import Address as MemoryOperand
from simt.analysis.program import Call, Function, Op, Operand, Program, SymbolAddress
from simt.diagnostics import Diagnostics, Source
from simt.errors import PtxError
from simt.isa.algebra import Environment
from simt.ptx import nodes
from simt.ptx.symbols import Scopes
from simt.ptx.types import U32, U64, Type

_PLACED = ("global", "const", "tex")
FIRST_WITH_ADDRESS_SIZE = (2, 3)
MINIMUM_DYNAMIC_ALIGNMENT = 16


def lower(module: nodes.Module, machine: int | None = None) -> Program:
    """Lowers a module that `simt.verify` accepts. `machine`: the device's number (90 for sm_90), if there is
    one. Raises `PtxError` for what cannot be lowered."""
    source = module.source or Source("")
    diagnostics = Diagnostics(source)
    bits = address_bits(module)
    known = environment(module) if machine is None else replace(environment(module), machine=machine)
    context = Context(module, diagnostics, Scopes(module), known, U64 if bits == 64 else U32)
    _variables(context)
    _functions(context)
    if diagnostics.errors:
        raise PtxError(diagnostics.errors)
    _connect(context)
    for function in context.functions.values():
        function.calls = any(isinstance(op, Call) for op in function.ops())
    return Program(
        context.functions, context.variables, context.environment, bits, source, _identity(module, source)
    )


def environment(module: nodes.Module) -> Environment:
    """What meanings may depend on, but for the machine."""
    names = module.target.names
    number = next((n for n in names if n.startswith(("sm_", "compute_"))), "sm_10")
    digits = "".join(c for c in number.split("_", 1)[1] if c.isdigit())
    return Environment(module.version, int(digits or 10), map_f64_to_f32="map_f64_to_f32" in names)


def address_bits(module: nodes.Module) -> int:
    """32 or 64, as declared. Modules older than the directive have the pointers that they use."""
    if module.address_size is not None:
        return module.address_size
    if module.version >= FIRST_WITH_ADDRESS_SIZE:
        return 32
    return 64 if _uses_wide_addresses(module) else 32


def _uses_wide_addresses(module: nodes.Module) -> bool:
    """Whether the module declares a 64-bit integer kernel parameter or register used as an address."""
    for item in module.items:
        if isinstance(item, nodes.Function) and item.body is not None and _wide_bases(item, Scopes(module)):
            return True
    return False


def _wide_bases(function: nodes.Function, scopes: Scopes) -> bool:
    scope = scopes.function(function)
    assert function.body is not None
    stack = [(iter(function.body.statements), scope.enter(function.body))]
    while stack:
        statements, scope = stack[-1]
        for statement in statements:
            if isinstance(statement, nodes.Block):
                stack.append((iter(statement.statements), scope.enter(statement)))
                break
            if not isinstance(statement, nodes.Instruction):
                scope.declare(statement)
                continue
            for operand in statement.operands:
                base = operand.base if isinstance(operand, nodes.Address) else None
                symbol = scope.lookup(base.name) if isinstance(base, nodes.Name) else None
                if symbol is not None and symbol.space == "reg" and symbol.type and symbol.type.bits == 64:
                    return True
        else:
            stack.pop()
    return False


def _variables(context: Context) -> None:
    """Module variables exist even if no function uses them: the host may."""
    for item in context.module.items:
        if not isinstance(item, nodes.Variable):
            continue
        if item.space == "shared" or (item.space in _PLACED and item.linkage != "extern"):
            context.declare(item, item.name)


def _functions(context: Context) -> None:
    plans = Plans(context)
    for item in context.module.items:
        if isinstance(item, nodes.Function) and item.body is not None:
            try:
                function = FunctionLowering(context, item, plans).run()
            except Unlowerable as problem:
                context.report(problem)
                continue
            simplify(function)
            context.functions[item.name] = function


# ------------------------------------------------------------------ between functions


def _connect(context: Context) -> None:
    """Candidates of indirect calls, recursion, inlining, shared memory."""
    functions = context.functions
    _candidates(context)
    inlined: dict[str, Function] = {}
    for component in components(functions):
        recursive = is_recursive(component, functions)
        for name in component:
            function = functions[name]
            function.recursive = recursive
            inline_calls(function, inlined)
            if (
                not recursive
                and not function.is_kernel
                and (has_barrier(function) or watches(function, context.environment))
            ):
                inlined[name] = function
    for function in functions.values():
        if function.is_kernel:
            _shared(context, function)


def _candidates(context: Context) -> None:
    """Indirect calls with a prototype only: every function whose address is taken and that agrees."""
    for variable in context.variables.values():
        for _, symbol, *_ in variable.relocations:
            found = context.scopes.lookup(symbol)
            if found is not None and isinstance(found.node, nodes.Function):
                context.addressed[symbol] = found.node
    shapes = {name: _shape(context, name) for name in context.addressed if name in context.functions}
    for function in context.functions.values():
        for op in function.ops():
            if isinstance(op, Call) and not isinstance(op.callee, str) and not op.candidates:
                wanted = _bits(r.type for r in op.results), _bits(source_type(a) for a in op.arguments)
                op.candidates = tuple(n for n, shape in shapes.items() if shape == wanted)


def _shape(context: Context, name: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    results, parameters = signature(context.addressed[name])
    return _bits(results), _bits(parameters)


def _bits(types: Iterable[Type]) -> tuple[int, ...]:
    return tuple(t.bits for t in types)


def _shared(context: Context, kernel: Function) -> None:
    """Places every shared variable that a kernel can reach; dynamic ones share one place at the end.
    Notes what else a launch prepares for."""
    used: dict[str, None] = {}
    effects: set[str] = set()
    for name in reachable([kernel.name], context.functions):
        for op in context.functions[name].ops():
            if isinstance(op, Op):
                used.update(dict.fromkeys(_shared_names(op)))
                effects |= op.form.effects
    kernel.events, kernel.breakpoints = "event" in effects, "breakpoint" in effects
    position = 0
    dynamic_align = MINIMUM_DYNAMIC_ALIGNMENT
    for name, variable in context.shared.items():
        if name not in used:
            continue
        if variable.dynamic:
            dynamic_align = max(dynamic_align, variable.align)
            continue
        kernel.shared[name] = round_up(position, variable.align)
        position = kernel.shared[name] + variable.size
    dynamic = [n for n in used if context.shared[n].dynamic]
    kernel.shared_size = position
    kernel.dynamic_shared = round_up(position, dynamic_align)
    if dynamic:
        kernel.shared_size = kernel.dynamic_shared
        kernel.shared.update(dict.fromkeys(dynamic, kernel.dynamic_shared))


def _shared_names(op: Op) -> list[str]:
    found: list[str] = []
    for operand in op.sources.values():
        found.extend(_names(operand))
    return found


def _names(operand: Operand) -> list[str]:
    if isinstance(operand, MemoryOperand):
        operand = operand.base
    if isinstance(operand, tuple):
        return [n for o in operand for n in _names(o)]
    return [operand.name] if isinstance(operand, SymbolAddress) and operand.space == "shared" else []


def _identity(module: nodes.Module, source: Source) -> str:
    text = source.text or repr(module)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
