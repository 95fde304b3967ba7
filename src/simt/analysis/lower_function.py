"""One function as blocks of ops: scopes walked, guarded control flow made explicit."""

from __future__ import annotations

from collections.abc import Iterator

from simt.analysis.lower_builder import Builder
from simt.analysis.lower_bulk import BulkCopies
from simt.analysis.lower_calls import Calls
from simt.analysis.lower_context import (
    Cells,
    Context,
    Registers,
    Stored,
    Unlowerable,
    by_address,
    cell_layout,
)
from simt.analysis.lower_forms import SUM, simple
from simt.analysis.lower_instructions import Instructions, Plan, Plans, align
from simt.analysis.lower_operands import Operands
from simt.analysis.lower_stack import Stack
from simt.analysis.lower_variables import alignment, round_up, size
from simt.analysis.outline import FRAME_ALIGNMENT, Missing
from simt.analysis.program import (
    Barrier,
    Block,
    Branch,
    Constant,
    Exit,
    Function,
    Jump,
    Parameter,
    Register,
    Return,
    Source,
    Switch,
)  # fmt: skip
from simt.isa.targets import parse_target
from simt.ptx import nodes
from simt.ptx.symbols import Scope, Symbol, SymbolKind
from simt.ptx.types import F64, PRED, U32


def framed_parameters(function: nodes.Function) -> frozenset[str]:
    """Names of `.param` variables that are used otherwise than by plain loads, stores and calls."""
    names = {v.name for v in (*function.returns, *function.parameters) if v.space == "param"}
    instructions: list[nodes.Instruction] = []
    for statement in _flat(function.body):
        if isinstance(statement, nodes.Variable) and statement.space == "param":
            names.add(statement.name)
        elif isinstance(statement, nodes.Instruction):
            instructions.append(statement)
    if not names:
        return frozenset()
    return frozenset(n for i in instructions for n in _addressed(i) if n in names)


def _flat(body: nodes.Block | None) -> Iterator[nodes.Statement]:
    stack = [iter(body.statements)] if body else []
    while stack:
        for statement in stack[-1]:
            if isinstance(statement, nodes.Block):
                stack.append(iter(statement.statements))
                break
            yield statement
        else:
            stack.pop()


def _addressed(node: nodes.Instruction) -> Iterator[str]:
    """Names in an instruction that a register cannot stand for."""
    plain = any(m.startswith("param") for m in node.modifiers)
    for operand in node.operands:
        match operand:
            case nodes.Name(name=name):
                yield name
            case nodes.Address(base=nodes.Name(name=name)) | nodes.Sum(base=nodes.Name(name=name)) if (
                not plain
            ):
                yield name
            case nodes.Indexed(array=nodes.Name(name=name), index=index) if index is not None or not plain:
                yield name
            case _:
                pass


class FunctionLowering:
    """Lowers one function with a body."""

    def __init__(self, context: Context, node: nodes.Function, plans: Plans) -> None:
        self.context = context
        self.node = node
        self.b = Builder(context, context.linked(node.name), node.is_entry)
        self.b.framed = frozenset() if node.is_entry else framed_parameters(node)
        self.operands = Operands(self.b)
        self.plans = plans
        self.instructions = Instructions(self.b, self.operands, plans)
        self.calls = Calls(self.b, self.operands)
        self.stack = Stack(self.b, self.operands)
        self.bulk_copies = BulkCopies(self.b, self.operands, plans)
        self.kernel_parameters: list[Parameter] = []
        self.in_memory: list[tuple[Stored, list[Register]]] = []  # results that live in the frame
        self.missing: dict[str, int] = {}  # instructions that simt does not run, with the first line of each
        self.indirect: list[Switch] = []  # branches to labels whose addresses are in registers

    def run(self) -> Function:
        """The lowered function; problems are reported to the context."""
        scope = self.context.scopes.function(self.node)
        self.b.line = self.context.line(self.node.span)
        line = self.b.line
        results, parameters = self._signature(scope)
        assert self.node.body is not None
        self._walk(self.node.body, scope)
        self.b.line = 0  # the end of the body is no instruction
        self._return()
        for switch in self.indirect:
            switch.targets = tuple(self.b.labels)
        self.stack.finish(self.b.blocks[0])
        last = self.kernel_parameters[-1] if self.kernel_parameters else None
        return Function(
            self.b.name, self.node.is_entry, self.b.blocks, self.b.registers,
            tuple(self.kernel_parameters), last.offset + last.size if last else 0,
            parameters, results, local=self.b.local,
            local_size=round_up(self.b.local_size, FRAME_ALIGNMENT), frame_align=self.b.frame_align,
            limits=limits(self.node, self.context.environment.machine), line=line,
            missing=tuple(Missing(opcode, at) for opcode, at in self.missing.items()),
        )  # fmt: skip

    # ------------------------------------------------------------------ parameters

    def _signature(self, scope: Scope) -> tuple[tuple[Register, ...], tuple[Register, ...]]:
        if self.node.is_entry:
            for variable in self.node.parameters:
                self._kernel_parameter(scope, variable)
            return (), ()
        results = [r for v in self.node.returns for r in self._formal(scope, v, result=True)]
        parameters = [r for v in self.node.parameters for r in self._formal(scope, v, result=False)]
        return tuple(results), tuple(parameters)

    def _kernel_parameter(self, scope: Scope, node: nodes.Variable) -> None:
        last = self.kernel_parameters[-1] if self.kernel_parameters else None
        offset = round_up(last.offset + last.size, alignment(node)) if last else 0
        self.kernel_parameters.append(
            Parameter(
                node.name, node.type, offset, size(node), alignment(node),
                bool(node.dimensions) or node.vector > 1, node.pointer is not None,
                node.type is F64 and self.context.environment.has_single_only,
            )
        )  # fmt: skip
        self.b.places[self._symbol(scope, node)] = stored = Stored("param", node.name)
        self.b.first_parameter = self.b.first_parameter or stored

    def _formal(self, scope: Scope, node: nodes.Variable, result: bool) -> list[Register]:
        """The registers by which a parameter or result is passed."""
        if by_address(node) and not result:
            passed = self.b.places[self._symbol(scope, node)] = self.b.formal_place(node)
            return [passed.address]
        place = self.b.place(self._symbol(scope, node))
        if isinstance(place, Cells):
            return list(place.registers)
        if isinstance(place, Registers):
            return list(place.elements)
        assert isinstance(place, Stored)
        cells = [self.b.temporary(t) for t in cell_layout(node)]
        if result:
            self.in_memory.append((place, cells))
        else:
            self.calls.spill(place, cells)
        return cells

    def _symbol(self, scope: Scope, node: nodes.Variable) -> Symbol:
        symbol = scope.own(node.name)
        assert symbol is not None
        return symbol

    # ------------------------------------------------------------------ statements

    def _walk(self, body: nodes.Block, scope: Scope) -> None:
        """All statements, nested scopes by an explicit stack (they may be deep)."""
        inner = scope.enter(body)
        stack = [(iter(body.statements), inner)]
        while stack:
            statements, inner = stack[-1]
            for statement in statements:
                if isinstance(statement, nodes.Block):
                    stack.append((iter(statement.statements), inner.enter(statement)))
                    break
                self._statement(statement, inner)
            else:
                stack.pop()

    def _statement(self, statement: nodes.Statement, scope: Scope) -> None:
        match statement:
            case nodes.Instruction():
                try:
                    self._instruction(statement, scope)
                except Unlowerable as problem:
                    if problem.span == nodes.NOWHERE:
                        problem.span = statement.span
                    self.context.report(problem)
            case nodes.Label(span=span) as label:
                self.b.start(self.operands.block(scope, nodes.Name(label.name, span)))
            case _:
                scope.declare(statement)
                if isinstance(statement, nodes.Variable) and self._is_old_parameter(statement):
                    self._kernel_parameter(scope, statement)

    def _is_old_parameter(self, node: nodes.Variable) -> bool:
        """Kernel parameters of PTX 1.0 to 1.3 are declared in the body."""
        return node.space == "param" and self.node.is_entry and self.context.version < (2, 0)

    def _instruction(self, node: nodes.Instruction, scope: Scope) -> None:
        self.b.line = self.context.line(node.span)
        plan = self.plans.find(node)
        if not plan.form.runs:
            self.missing.setdefault(node.spelled, self.b.line)
        elif not plan.form.control:
            self.instructions.lower(scope, node, plan)
        elif plan.form.control == "branch" and not self._is_register(scope, node.operands[0]):
            self._branch(node, scope, plan)
        else:
            self._guarded(node, scope, plan)

    # ------------------------------------------------------------------ control flow

    def _branch(self, node: nodes.Instruction, scope: Scope, plan: Plan) -> None:
        target = self.operands.block(scope, node.operands[0])
        guard = self.operands.guard(scope, node.guard)
        if guard is None:
            self.b.end(Jump(target, self.b.line, written=True))
            return
        following = self.b.new_block()
        uniform = plan.binding.get("uni") is True
        branch = Branch(guard.register, guard.negated, target, following, uniform, self.b.line)
        self.b.end(branch, following)

    def _guarded(self, node: nodes.Instruction, scope: Scope, plan: Plan) -> None:
        """Other control flow; under a guard it gets a block of its own, which the others skip."""
        guard = self.operands.guard(scope, node.guard)
        after = None
        if guard is not None:
            inside, after = self.b.new_block(), self.b.new_block()
            branch = Branch(guard.register, guard.negated, inside, after, False, self.b.line, around=True)
            self.b.end(branch, inside)
        self._control(node, scope, plan)
        if after is not None:
            self.b.start(after)

    def _control(self, node: nodes.Instruction, scope: Scope, plan: Plan) -> None:
        match plan.form.control:
            case "branch":
                self._branch_by_register(node, scope)
            case "indirect-branch":
                index = self._index(scope, node.operands[0])
                self.b.end(Switch(index, self._targets(scope, node.operands[1]), self.b.line))
            case "call":
                self.calls.lower(scope, node)
            case "return":
                self._return()
            case "exit":
                self.b.end(Exit(self.b.line))
            case "barrier":
                self._barrier(node, scope, plan)
            case "bulk-copy":
                self.bulk_copies.lower(scope, node, plan)
            case "allocate" | "save-stack" | "restore-stack" as kind:
                self.stack.lower(kind, scope, node)
            case kind:
                raise Unlowerable(f"control flow of kind {kind} cannot be executed", node.span)

    def _is_register(self, scope: Scope, node: nodes.Operand) -> bool:
        symbol = scope.lookup(node.name) if isinstance(node, nodes.Name) else None
        return symbol is not None and symbol.kind is SymbolKind.REGISTER

    def _branch_by_register(self, node: nodes.Instruction, scope: Scope) -> None:
        """To one of the labels whose address the function takes anywhere (section 6.4.4)."""
        index = self.b.temporary(U32)
        address = self.operands.register(scope, node.operands[0])
        sources = {"a": (address, U32), "b": (Constant(U32, 2**32 - 1), U32)}
        self.b.emit(simple(SUM, U32, index, {**sources}, self.b.line))
        switch = Switch(index, (), self.b.line)
        self.indirect.append(switch)
        self.b.end(switch)

    def _index(self, scope: Scope, node: nodes.Operand) -> Register:
        source = self.operands.source(scope, node, U32)
        if isinstance(source, Register):
            return source
        index = self.b.temporary(U32)
        self.calls.move(index, source)
        return index

    def _targets(self, scope: Scope, node: nodes.Operand) -> tuple[Block, ...]:
        symbol = scope.lookup(node.name) if isinstance(node, nodes.Name) else None
        if symbol is None or not isinstance(symbol.node, nodes.TargetList):
            raise Unlowerable("expected the label of a `.branchtargets` list", node.span)
        return tuple(self.operands.block(scope, t) for t in symbol.node.targets)

    def _return(self) -> None:
        if self.node.is_entry:
            self.b.end(Exit(self.b.line))
            return
        for stored, cells in self.in_memory:
            layout = [c.type for c in cells]
            for d, source in zip(cells, self.calls.fill(stored, layout)):
                self.calls.move(d, source)
        self.b.end(Return(self.b.line))

    def _barrier(self, node: nodes.Instruction, scope: Scope, plan: Plan) -> None:
        values: dict[str, Source | None] = {}
        result: Register | None = None
        for operand, written, (t, _) in zip(plan.form.operands, align(plan.form, node.operands), plan.types):
            if operand.destination and written is not None:
                found = self.operands.destinations(scope, written)[0]
                result = found or self.b.temporary(PRED if t.is_predicate else U32)
            elif written is not None:
                values[operand.name] = self.operands.source(scope, written, t)
        following = self.b.new_block()
        barrier = Barrier(
            str(plan.binding["action"]), values.get("a") or Constant(U32, 0), values.get("b"), following,
            str(plan.binding.get("reduce") or ""), values.get("c"), result, self.b.line,
        )  # fmt: skip
        self.b.end(barrier, following)


def limits(node: nodes.Function, machine: int) -> dict[str, tuple[int, ...]]:
    """Performance directives by name; shapes have three dimensions. Of values for targets (table 100) the
    machine's own counts."""
    found: dict[str, tuple[int, ...]] = {}
    for directive in node.performance:
        values = tuple(v for v in directive.values if isinstance(v, int))
        values += tuple(v[1] for v in directive.values if isinstance(v, tuple) and _is_target(v[0], machine))
        shaped = directive.name in ("maxntid", "reqntid")
        if values or not directive.values:
            found[directive.name] = (*values, *(1,) * (3 - len(values))) if shaped else values
    return found


def _is_target(name: str, machine: int) -> bool:
    target = parse_target(name)
    return target is not None and target.number == machine
