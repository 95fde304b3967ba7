"""The walk over a module: declares names in source order and applies the rules of each kind of node."""

from __future__ import annotations

from collections.abc import Iterator

from simt.collector import collector_paused
from simt.diagnostics import Diagnostics, Source, Span
from simt.ptx.agreement import difference
from simt.ptx.nodes import (
    Alias,
    Block,
    CallPrototype,
    File,
    Function,
    Instruction,
    Label,
    Module,
    Pragma,
    Statement,
    Target,
    TargetList,
    Variable,
)
from simt.ptx.symbols import Scope, Symbol, SymbolKind, parameter_scope
from simt.verify.context import Context, Problem
from simt.verify.functions import (
    header_problems,
    redeclaration_problems,
    unfinished_kernels,
)
from simt.verify.header import (
    attribute_problems,
    directive_problems,
    file_problems,
    module_problems,
    pragma_problems,
    target_problems,
)
from simt.verify.initializers import initializer_problems
from simt.verify.instructions import InstructionRules
from simt.verify.variables import Where, declaration_problems


@collector_paused()
def verify(module: Module, machine: int | None = None) -> Diagnostics:
    """Every finding about a parsed module, sorted by position. `machine`: the number of the device that it is
    for (90 for sm_90), if there is one. Raises nothing for any parsed tree."""
    source, size = module.source or Source(""), module.address_size
    context = Context(module, Diagnostics(source), module.version, address_bits=size, machine=machine)
    Verifier(context).module(module)
    context.diagnostics.found.sort(key=lambda d: (d.span.start, d.severity.value))
    return context.diagnostics


class Verifier:
    """Walks one module."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.instructions = InstructionRules(context)
        self.functions: dict[str, Function] = {}
        self.files: dict[int, File] = {}

    def module(self, module: Module) -> None:
        self.context.report(module_problems(self.context, module))
        for item in module.items:
            match item:
                case Variable():
                    self._variable(self.context.scope, item, "module")
                case Function():
                    self._function(item)
                case Target():
                    self.context.report(target_problems(self.context, item))
                    self.instructions.forget()
                case Alias():
                    self._alias(item)
                case File():
                    self.context.report(file_problems(self.files, item))
                case Pragma():
                    self.context.report(pragma_problems(self.context, item))
                case _:
                    pass
        self.context.report(unfinished_kernels(self.functions))

    # ------------------------------------------------------------ declarations

    def _variable(self, scope: Scope, v: Variable, where: Where) -> None:
        self.context.report(declaration_problems(self.context, v, where))
        self.context.report(attribute_problems(self.context, v.attributes, v.span))
        own = scope.own(v.name)
        earlier = None if own is None else own.node  # a definition takes the place of `.extern`
        before = scope.declare(v)
        if before is None and where == "body" and scope.parent is not None:
            before = _function_level(self.context.scope, scope.parent, v.name)
        if before is not None:
            self.context.report(_repetition_problems(earlier or before.node, v))
        self.context.report(initializer_problems(self.context, scope, v))

    def _alias(self, alias: Alias) -> None:
        scope = self.context.scope
        self.context.report(directive_problems(self.context, "alias", alias.span))
        target = scope.lookup(alias.aliasee)
        if target is None or target.kind is not SymbolKind.FUNCTION:
            message, name = f"`{alias.aliasee}` is not a function", alias.aliasee
            self.context.report([Problem(message, alias.span, unknown=(name, scope.names()))])
        scope.declare(alias)

    def _function(self, function: Function) -> None:
        self.context.report(header_problems(self.context, function))
        self.context.report(attribute_problems(self.context, function.attributes, function.span))
        before = self.context.scope.own(function.name)
        if before is not None:
            self.context.report(redeclaration_problems(before.node, function))
        self.context.scope.declare(function)
        known = self.functions.get(function.name)
        if known is None or known.body is None:
            self.functions[function.name] = function
        if function.body is not None:
            self.context.function, self.context.in_kernel = function.name, function.is_entry
            self.instructions.shapes.function(function, self.context.version)
            self._block(parameter_scope(self.context.scope, function), function.body)

    # ------------------------------------------------------------ statements

    def _block(self, outer: Scope, block: Block) -> None:
        """A function's body. Nested blocks are kept on a list: their depth is the program's choice."""
        open_blocks = [self._open(outer, block)]
        check = self.instructions.check
        while open_blocks:
            scope, statements = open_blocks[-1]
            self.instructions.enter(scope)
            for statement in statements:
                if type(statement) is Instruction:
                    check(statement)
                elif type(statement) is Block:
                    open_blocks.append(self._open(scope, statement))
                    break
                else:
                    self._statement(scope, statement)
            else:
                open_blocks.pop()

    def _open(self, outer: Scope, block: Block) -> tuple[Scope, Iterator[Statement]]:
        self._labels(block)
        return outer.enter(block), iter(block.statements)

    def _statement(self, scope: Scope, statement: Statement) -> None:
        match statement:
            case Variable():
                self._variable(scope, statement, "body")
                self.instructions.shapes.changed()
            case CallPrototype(label=name, span=span):
                self.context.report(directive_problems(self.context, "callprototype", span))
                self._declare(scope, statement, name, span)
            case TargetList(label=name, kind=kind, span=span):
                self.context.report(directive_problems(self.context, kind, span))
                self._declare(scope, statement, name, span)
                self._targets(scope, statement)
            case File():
                self.context.report(file_problems(self.files, statement))
            case Pragma():
                self.context.report(pragma_problems(self.context, statement))
            case _:
                pass

    def _declare(self, scope: Scope, node: CallPrototype | TargetList, name: str, span: Span) -> None:
        if scope.declare(node) is not None:
            self._error(f"`{name}` is declared twice", span)
        self.instructions.shapes.changed()

    def _targets(self, scope: Scope, node: TargetList) -> None:
        wanted = SymbolKind.LABEL if node.kind == "branchtargets" else SymbolKind.FUNCTION
        for name in node.targets:
            symbol = scope.lookup(name.name)
            if symbol is None or symbol.kind is not wanted:
                message = f"`{name.name}` is not a {wanted.value} of this scope"
                self.context.report([Problem(message, name.span, unknown=(name.name, scope.names()))])

    def _labels(self, block: Block) -> None:
        seen: set[str] = set()
        for statement in block.statements:
            if type(statement) is Label:
                if statement.name in seen:
                    self._error(f"label `{statement.name}` is defined twice", statement.span)
                seen.add(statement.name)

    def _error(self, message: str, span: Span) -> None:
        self.context.report((Problem(message, span),))


def _function_level(module: Scope, outer: Scope, name: str) -> Symbol | None:
    """The parameter of this name, if the scope around a body is that of the parameters."""
    return outer.own(name) if outer.parent is module else None


def _repetition_problems(before: object, v: Variable) -> Iterator[Problem]:
    """An `.extern` variable may be declared again, and defined."""
    if not isinstance(before, Variable) or "extern" not in (before.linkage, v.linkage):
        yield Problem(f"`{v.name}` is declared twice", v.span)
    elif found := difference(v, before):
        yield Problem(f"`{v.name}` does not agree with its earlier declaration: {found}", v.span)
    elif before.linkage == "extern" and not v.linkage:
        message = f"`{v.name}` is `.extern` in its earlier declaration, but defined for this file only"
        yield Problem(message, v.span, "expected `.visible`")
