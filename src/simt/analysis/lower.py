"""A verified module as a `Program`: the one entry to lowering."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from simt.analysis.call_graph import components, is_recursive, paths, reachable
from simt.analysis.contraction import contract
from simt.analysis.factors import find_factors
from simt.analysis.link import resolve
from simt.analysis.lower_calls import signature, source_type
from simt.analysis.lower_context import Context, Unlowerable
from simt.analysis.lower_function import FunctionLowering
from simt.analysis.lower_gates import cut_at_gates
from simt.analysis.lower_indirect import direct_calls
from simt.analysis.lower_inline import has_barrier, inline_calls, uses_module_scope, watches
from simt.analysis.lower_instructions import Plans
from simt.analysis.lower_rendezvous import meet
from simt.analysis.lower_simplify import simplify
from simt.analysis.lower_variables import round_up
from simt.analysis.outline import FRAME_ALIGNMENT
from simt.analysis.program import Address as MemoryOperand
from simt.analysis.program import Call, Function, Op, Operand, Program, Register, SymbolAddress
from simt.analysis.tokens import share_tokens
from simt.collector import collector_paused
from simt.diagnostics import Diagnostic, Diagnostics, LinkedSource, Severity, Source
from simt.digests import digest
from simt.errors import PtxError
from simt.isa.algebra import Environment
from simt.isa.catalogue import FORMS
from simt.isa.targets import parse_target
from simt.ptx import nodes
from simt.ptx.environment import Approximation
from simt.ptx.symbols import Scopes
from simt.ptx.types import U32, U64, Type
from simt.records import replace

_PLACED = ("global", "const", "tex")
FIRST_WITH_ADDRESS_SIZE = (2, 3)
MINIMUM_DYNAMIC_ALIGNMENT = 16


def lower(module: nodes.Module, machine: int | None = None) -> Program:
    """Lowers a module that `simt.verify` accepts. `machine`: the device's number (90 for sm_90), if there is
    one. Raises `PtxError` for what cannot be lowered."""
    return link((module,), machine)


@collector_paused()
def link(
    modules: Sequence[nodes.Module], machine: int | None = None, as_written: bool = False, fmad: bool = True,
    approx: Approximation = "fast",
) -> Program:  # fmt: skip
    """Lowers modules that `simt.verify` accepts, to one program. `as_written`: see `simplify`; `fmad`:
    whether products and sums are fused (`simt.analysis.contraction`); `approx`: how approximate functions are
    computed. Raises `PtxError` for what cannot be
    lowered or does not fit together."""
    bits = common_address_bits(modules)
    contexts = _contexts(modules, machine, U64 if bits == 64 else U32, fmad, approx)
    if len(contexts) > 1:
        resolve(contexts)
    for context in contexts if not _errors(contexts) else ():
        _variables(context)
        _functions(context, as_written)
    if errors := _errors(contexts):
        raise PtxError(errors)
    first = contexts[0]
    _connect(first, as_written)
    for context in contexts:
        _check_module_scope(context)
    if errors := _errors(contexts):
        raise PtxError(errors)
    _align_frames(first.functions.values())
    for function in first.functions.values():
        function.calls = any(isinstance(op, Call) for op in function.ops())
    sources = [c.diagnostics.source for c in contexts]
    text = sources[0] if len(sources) == 1 else LinkedSource(sources)
    identity = _identity(modules, sources)
    return Program(first.functions, first.variables, _common(contexts), bits, text, identity)


def _contexts(
    modules: Sequence[nodes.Module],
    machine: int | None,
    address_type: Type,
    fmad: bool,
    approx: Approximation,
) -> list[Context]:
    """One for each file; they share what belongs to the program."""
    found: list[Context] = []
    before = 0
    for module in modules:
        source = module.source or Source("")
        known = environment(module)
        known = replace(
            known, machine=known.machine if machine is None else machine, fmad=known.fmad and fmad,
            approx=approx,
        )  # fmt: skip
        context = Context(module, Diagnostics(source), Scopes(module), known, address_type, before=before)
        first = found[0] if found else context
        context.functions, context.variables = first.functions, first.variables
        context.shared, context.addressed = first.shared, first.addressed
        found.append(context)
        before += source.text.count("\n") + 1
    return found


def _errors(contexts: Sequence[Context]) -> list[Diagnostic]:
    return [error for context in contexts for error in context.diagnostics.errors]


def _common(contexts: Sequence[Context]) -> Environment:
    """The newest version and target of the files. Each file was lowered by its own."""
    known = [c.environment for c in contexts]
    return replace(
        known[0], version=max(e.version for e in known), target=max(e.target for e in known),
        map_f64_to_f32=any(e.map_f64_to_f32 for e in known), fmad=any(e.fmad for e in known),
    )  # fmt: skip


def environment(module: nodes.Module) -> Environment:
    """What meanings may depend on, but for the machine. Of several `.target` directives the highest counts
    (table 107)."""
    targets = [module.target, *(i for i in module.items if isinstance(i, nodes.Target))]
    numbers = [found.number for t in targets for n in t.names if (found := parse_target(n)) is not None]
    mapped = any("map_f64_to_f32" in t.names for t in targets)
    optimised = not any("debug" in t.names for t in targets)
    return Environment(module.version, max(numbers, default=10), map_f64_to_f32=mapped, fmad=optimised)


def common_address_bits(modules: Sequence[nodes.Module]) -> int:
    """32 or 64. Files that say it must agree; the others have the pointers that one of them uses.
    Raises `PtxError`."""
    declared = [m for m in modules if _declares_address_bits(m)]
    for module in declared[1:]:
        if address_bits(module) != address_bits(declared[0]):
            source = module.source or Source("")
            other = (declared[0].source or Source("")).name
            message = (
                f"addresses have {address_bits(module)} bits here, but {address_bits(declared[0])} in {other}"
            )
            raise PtxError([Diagnostic(Severity.ERROR, message, module.span, source)])
    return max(address_bits(m) for m in (declared or modules))


def _declares_address_bits(module: nodes.Module) -> bool:
    return module.address_size is not None or module.version >= FIRST_WITH_ADDRESS_SIZE


def address_bits(module: nodes.Module) -> int:
    """32 or 64, as declared. Modules older than the directive have the pointers that they use."""
    if module.address_size is not None:
        return module.address_size
    if module.version >= FIRST_WITH_ADDRESS_SIZE:
        return 32
    return 64 if _uses_wide_addresses(module) else 32


def _uses_wide_addresses(module: nodes.Module) -> bool:
    """Whether the module has 64-bit pointers: 64-bit registers hold addresses or kernels have 64-bit
    parameters, and no narrower registers hold addresses in global memory. Registers may be wider than an
    address (table 68), but not narrower."""
    found: set[tuple[int, bool]] = set()
    for item in module.items:
        if isinstance(item, nodes.Function) and item.body is not None:
            found.update(_possible_pointer(p) for p in item.parameters)
            found.update(_address_registers(item, Scopes(module)))
    return any(bits == 64 for bits, _ in found) and (32, True) not in found


def _possible_pointer(node: nodes.Variable) -> tuple[int, bool]:
    """The bits of a kernel's parameter that an array's address can be passed for, otherwise 0."""
    scalar = node.space == "param" and not node.dimensions and not node.type.is_float
    return node.type.bits if scalar else 0, False


def _address_registers(function: nodes.Function, scopes: Scopes) -> Iterator[tuple[int, bool]]:
    """Of every address in a register: its bits, and whether it is one in global memory. Of parameters
    declared in the body, what they may be."""
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
                if isinstance(statement, nodes.Variable):  # parameters of PTX 1.0 to 1.3
                    yield _possible_pointer(statement)
                continue
            for base in _address_bases(statement):
                symbol = scope.lookup(base.name) if isinstance(base, nodes.Name) else None
                if symbol is not None and symbol.space == "reg" and symbol.type:
                    yield symbol.type.bits, "global" in statement.modifiers
        else:
            stack.pop()


def _address_bases(statement: nodes.Instruction) -> Iterator[nodes.Operand | None]:
    """What the addresses among the operands start from. PTX 1.0 and 1.1 may leave their brackets out, so
    that only the catalogue tells them from values (section 10.3.4)."""
    forms = FORMS.get(statement.opcode, ())
    for index, operand in enumerate(statement.operands):
        match operand:
            case nodes.Address(base=base):
                yield base
            case nodes.Sum(base=base) | (nodes.Name() as base):
                if any(f.operands[index].address for f in forms if index < len(f.operands)):
                    yield base
            case _:
                pass


def _variables(context: Context) -> None:
    """Module variables exist even if no function uses them: the host may."""
    for item in context.module.items:
        if not isinstance(item, nodes.Variable):
            continue
        if item.name in context.imports:
            continue
        if item.space == "shared" or (item.space in _PLACED and item.linkage != "extern"):
            context.declare(item, context.linked(item.name))


def _functions(context: Context, as_written: bool) -> None:
    plans = Plans(context)
    for item in context.module.items:
        if isinstance(item, nodes.Function) and item.body is not None and item.name not in context.imports:
            try:
                function = FunctionLowering(context, item, plans).run()
            except Unlowerable as problem:
                context.report(problem)
                continue
            simplify(function, as_written)
            contract(function, context.environment)
            context.functions[function.name] = function


# ------------------------------------------------------------------ between functions


def _connect(context: Context, as_written: bool) -> None:
    """Candidates of indirect calls, recursion, inlining, shared memory."""
    functions = context.functions
    _candidates(context)
    _missing(functions)
    inlined: dict[str, Function] = {}
    for component in components(functions):
        recursive = is_recursive(component, functions)
        for name in component:
            function = functions[name]
            function.recursive = recursive
            direct_calls(function, inlined, as_written)
            inline_calls(function, inlined, as_written)
            meet(function, context.environment, as_written)
            cut_at_gates(function, context.environment, functions)
            if (
                not recursive
                and not function.is_kernel
                and (
                    uses_module_scope(function)
                    or has_barrier(function)
                    or watches(function, context.environment)
                )
            ):
                inlined[name] = function
    for function in functions.values():
        if function.is_kernel:
            _shared(context, function)
            find_factors(function, context.environment)
        share_tokens(function)


def _missing(functions: Mapping[str, Function]) -> None:
    """Tells kernels what they can reach that is not run. Calls must be whole yet: none inlined."""
    having = {name: f.missing for name, f in functions.items() if f.missing}
    for kernel in functions.values() if having else ():
        if kernel.is_kernel:
            found = paths(kernel.name, functions)
            reached = [(m, path) for name, path in found.items() for m in having.get(name, ())]
            kernel.missing = tuple(replace(m, path=path) for m, path in reached)


def _align_frames(functions: Collection[Function]) -> None:
    """Frames lie end to end: with sizes that every function's alignment divides, all are aligned."""
    align = max((f.frame_align for f in functions), default=FRAME_ALIGNMENT)
    for function in functions if align > FRAME_ALIGNMENT else ():
        function.local_size = round_up(max(function.local_size, 1), align)


def _check_module_scope(context: Context) -> None:
    """Registers and local variables of the module need calls that can be inlined."""
    for item in (i for i in context.module.items if isinstance(i, nodes.Function)):
        name = context.linked(item.name)
        function = context.functions.get(name)
        if function is None or function.is_kernel or not uses_module_scope(function):
            continue
        if function.recursive or name in context.addressed:
            how = "is recursive" if function.recursive else "is called by its address"
            message = f"function `{item.name}` uses a register or local variable of the module, and {how}"
            context.diagnostics.error(message, item.span, "declare it in the function")


def _candidates(context: Context) -> None:
    """Indirect calls with a prototype only: every function whose address is taken and that agrees."""
    shapes = {name: _shape(context, name) for name in context.addressed if name in context.functions}
    for function in context.functions.values():
        for op in function.ops():
            if isinstance(op, Call) and not isinstance(op.callee, str) and not op.candidates:
                wanted = _bits(r.type for r in op.results), _bits(source_type(a) for a in op.arguments)
                op.candidates = tuple(n for n, shape in shapes.items() if shape == wanted)


def _shape(context: Context, name: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    results, parameters = signature(context.addressed[name], context.address_type)
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
                used.update(dict.fromkeys(_shared_names(op.sources.values())))
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


def _shared_names(operands: Iterable[Operand]) -> Iterator[str]:
    for operand in operands:
        if isinstance(operand, Register):  # most are
            continue
        base = operand.base if isinstance(operand, MemoryOperand) else operand
        if isinstance(base, SymbolAddress):
            if base.space == "shared":
                yield base.name
        elif isinstance(base, tuple):
            yield from _shared_names(base)


def _identity(modules: Sequence[nodes.Module], sources: Sequence[Source]) -> str:
    texts = (source.text or repr(module) for module, source in zip(modules, sources))
    ends = b"\0" * (len(modules) > 1)
    return digest(*[text.encode("utf-8", "surrogatepass") + ends for text in texts]).hex()
