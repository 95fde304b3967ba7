"""Branches that a CTA's size decides: `for (i = threadIdx.y; i < 32; i += 16)` in CTAs of 16 rows.

Compilers do not know how many threads there are along an axis. They ask whether a thread has a first turn,
and how many of an unrolled loop's turns are left over. Bounds of the threads' indices answer that for all
threads alike: such branches are jumps here, and what nobody comes to is left out. What a thread executes is
the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from simt.analysis.clock import has_clock
from simt.analysis.evaluate import Evaluator
from simt.analysis.lower_simplify import simplify
from simt.analysis.program import (
    Block,
    Branch,
    Call,
    Complement,
    Constant,
    Function,
    FunctionAddress,
    Op,
    Operand,
    Program,
    Register,
    Special,
    SymbolAddress,
)
from simt.analysis.range_algebra import UNKNOWN, Range, RangeAlgebra
from simt.analysis.remade import OF_THREAD, TOLD
from simt.analysis.shape import BlockShape
from simt.analysis.ssa import destinations, terminator_definition, uses
from simt.analysis.unrolling import copied, lead
from simt.isa.algebra import Environment

Makers = Mapping[Register, Sequence[Op | Call | Block]]
"""By register, all that writes it: a barrier by its block."""


def decided(program: Program, kernel: Function, cta: BlockShape) -> Function:
    """The kernel for CTAs of a shape: another function, if one of its branches is decided."""
    branches = [(b, b.terminator) for b in kernel.blocks if isinstance(b.terminator, Branch)]
    if not branches:
        return kernel
    makers = _makers(kernel)
    asking = [(block, branch) for block, branch in branches if _is_of_thread(branch.predicate, makers)]
    if not asking or has_clock(kernel.name, program):
        return kernel
    bounds, ways = _Bounds(makers, program.environment, cta), dict[int, Block]()
    for block, branch in asking:
        known = bounds.register(branch.predicate)
        if known.lo == known.hi:
            ways[block.index] = branch.taken if bool(known.lo) != branch.negated else branch.otherwise
    return _without(kernel, ways) if ways else kernel


def _without(kernel: Function, ways: dict[int, Block]) -> Function:
    """The kernel with jumps in place of some blocks' branches, by index."""
    function = copied(kernel)
    for block in function.blocks:
        if block.index in ways:
            lead(block, [function.blocks[ways[block.index].index]], {})
    simplify(function)
    return function


def _makers(kernel: Function) -> Makers:
    found: dict[Register, list[Op | Call | Block]] = {}
    for block in kernel.blocks:
        for op in block.ops:
            for register in destinations(op):
                if register is not None:
                    found.setdefault(register, []).append(op)
        result = terminator_definition(block)
        if result is not None:
            found.setdefault(result, []).append(block)
    return found


def _is_of_thread(predicate: Register, makers: Makers) -> bool:
    """Whether the thread's indices and numbers alone tell a predicate, by some instructions, each of which
    always gives its register the one value that it has: others are hardly ever decided."""
    seen, work, asks = {predicate}, [predicate], False
    while work and len(seen) <= TOLD:
        op = _only(makers.get(work.pop(), ()))
        if op is None or op.guard is not None or op.form.effects or not all(map(_is_known, _sources(op))):
            return False
        asks |= any(isinstance(source, Special) for source in _sources(op))
        new = [register for register in uses(op) if register not in seen]
        seen.update(new)
        work += new
    return asks and not work


def _only(found: Sequence[Op | Call | Block]) -> Op | None:
    return found[0] if len(found) == 1 and isinstance(found[0], Op) else None


def _sources(op: Op) -> Sequence[Operand]:
    return tuple(op.sources.values())


def _is_known(source: Operand) -> bool:
    if isinstance(source, Special):
        return source.name in OF_THREAD
    return source is None or isinstance(source, Register | Complement | Constant)


class _Bounds:
    """Bounds of registers that the thread's indices tell: a reader of the evaluator."""

    def __init__(self, makers: Makers, environment: Environment, cta: BlockShape) -> None:
        self.makers = makers
        self.evaluator: Evaluator[Range] = Evaluator(RangeAlgebra(cta), self, environment)
        self.found: dict[Register, Range] = {}

    def register(self, register: Register) -> Range:
        if register not in self.found:
            self.found[register] = UNKNOWN  # one that is made of itself
            op = _only(self.makers.get(register, ()))
            if op is not None:
                values = zip(op.destinations, self.evaluator.op(op), strict=True)
                self.found.update((made, value) for made, value in values if made is not None)
        return self.found[register]

    def symbol(self, symbol: SymbolAddress) -> Range:
        return UNKNOWN

    def function(self, function: FunctionAddress) -> Range:
        return UNKNOWN
