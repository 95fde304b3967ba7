"""Registers of which it is known, when compiling for a CTA's shape, which number they hold at some place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence, Set

from simt.analysis.evaluate import Evaluator
from simt.analysis.program import Block, Branch, Call, FunctionAddress, Op, Register, SymbolAddress
from simt.analysis.shape import VARYING, BlockShape, Shape, constant
from simt.analysis.shape_algebra import ShapeAlgebra, wrapped
from simt.analysis.ssa import destinations, terminator_definition, uses
from simt.isa.algebra import Environment
from simt.ptx.types import Type

State = dict[Register, int]
"""Numbers by register; any other may hold anything."""


def met(states: Iterable[State]) -> State:
    """What is known where threads may come from any of some places."""
    first, *others = states
    return {r: n for r, n in first.items() if all(other.get(r) == n for other in others)}


class NumberAlgebra(ShapeAlgebra):
    """`ShapeAlgebra`, with numbers where lanes' shapes need none."""

    def mul(self, t: Type, a: Shape, b: Shape) -> Shape:
        return self._known(t, int.__mul__, a, b) or VARYING

    def invert(self, t: Type, a: Shape) -> Shape:
        if t.is_predicate and a.const is not None:
            return constant(1 - a.const)
        return super().invert(t, a)

    def shift_right(self, t: Type, a: Shape, n: Shape) -> Shape:
        if a.const is None or n.const is None or n.const >= t.bits:
            return VARYING
        value = wrapped(t, a.const) if t.is_signed else a.const % 2**t.bits
        return constant((value >> n.const) % 2**t.bits)


class Numbers:
    """What is known of some registers in a function, and of all that they depend on."""

    def __init__(
        self,
        blocks: Sequence[Block],
        registers: Iterable[Register],
        env: Environment,
        cta: BlockShape,
    ) -> None:
        self.entry = blocks[0]
        self.state: State = {}  # before the op that is looked at
        self.evaluator = Evaluator(NumberAlgebra(cta), self, env)
        found = _makers(blocks, registers)
        self.makers = {b: [op for op in b.ops if op in found] for b in blocks}

    # Reader of the evaluator
    def register(self, register: Register) -> Shape:
        number = self.state.get(register)
        return VARYING if number is None else constant(number)

    def symbol(self, symbol: SymbolAddress) -> Shape:
        return VARYING

    def function(self, function: FunctionAddress) -> Shape:
        return VARYING

    def after(self, block: Block, state: State) -> State:
        """What is known at a block's end, by what is known where it begins."""
        self.state = dict(state)
        for op in self.makers[block]:
            self._run(op)
        lost = terminator_definition(block)
        if lost is not None:
            self.state.pop(lost, None)
        return self.state

    def _run(self, op: Op | Call) -> None:
        if isinstance(op, Call):
            for register in op.results:
                self.state.pop(register, None)
            return
        values = self.evaluator.op(op)
        for register, value in zip(op.destinations, values, strict=True):
            if register is not None:
                self._set(op, register, value.const)

    def _set(self, op: Op, register: Register, number: int | None) -> None:
        """A guarded op leaves what was there, in some threads or all."""
        holds = op.guard and self.state.get(op.guard.register)
        if op.guard is not None and holds is not None and bool(holds) == op.guard.negated:
            return
        if op.guard is not None and holds is None and self.state.get(register) != number:
            number = None
        if number is None:
            self.state.pop(register, None)
        else:
            self.state[register] = number

    def ways(self, block: Block, state: State) -> Sequence[Block]:
        """Where threads may go from a block, at whose end that is known."""
        branch = block.terminator
        if not isinstance(branch, Branch) or branch.predicate not in state:
            return block.successors()
        return (branch.taken if bool(state[branch.predicate]) != branch.negated else branch.otherwise,)

    def entering(self, header: Block, inside: Set[Block]) -> State:
        """What is known where threads come to a loop from outside."""
        before: dict[Block, State] = {self.entry: {}}
        work = [self.entry]
        while work:
            block = work.pop()
            state = self.after(block, before[block])
            for target in block.successors():
                if target is header and block in inside:
                    continue
                new = met((before.get(target, state), state))
                if new != before.get(target):
                    before[target] = new
                    work.append(target)
        return before[header]


def _makers(blocks: Sequence[Block], registers: Iterable[Register]) -> set[Op | Call]:
    """Whatever writes some registers, or what others of these read."""
    by_register: dict[Register, list[Op | Call]] = defaultdict(list)
    for op in (op for block in blocks for op in block.ops):
        for register in destinations(op):
            if register is not None:
                by_register[register].append(op)
    found = set[Op | Call]()
    work = list(registers)
    for register in work:
        new = [op for op in by_register.pop(register, ()) if op not in found]
        found.update(new)
        work += [r for op in new for r in uses(op)]
    return found
