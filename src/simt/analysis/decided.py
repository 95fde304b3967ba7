"""Branches that a CTA's size decides: `for (i = threadIdx.y; i < 32; i += 16)` in CTAs of 16 rows.

Compilers do not know how many threads there are along an axis. They ask whether a thread has a first turn,
and how many of an unrolled loop's turns are left over. Bounds of the threads' indices answer that for all
threads alike: such branches are jumps here, and what nobody comes to is left out. What a thread executes is
the same.
"""

from __future__ import annotations

from collections.abc import Iterable

from simt.analysis.clock import has_clock
from simt.analysis.lower_simplify import simplify
from simt.analysis.program import (
    Block,
    Branch,
    Call,
    Complement,
    Constant,
    Function,
    Op,
    Operand,
    Program,
    Register,
    Special,
)
from simt.analysis.range_algebra import UNKNOWN
from simt.analysis.ranges import Ranges
from simt.analysis.remade import OF_THREAD
from simt.analysis.schedule import schedule
from simt.analysis.shape import BlockShape
from simt.analysis.ssa import build, destinations, terminator_definition, uses
from simt.analysis.unrolling import copied, lead


def decided(program: Program, kernel: Function, cta: BlockShape) -> Function:
    """The kernel for CTAs of a shape: another function, if one of its branches is decided."""
    asking = _branches_of_thread(kernel)
    if not asking or has_clock(kernel.name, program):
        return kernel
    ssa = build(kernel, schedule(kernel))
    ranges = Ranges(ssa, program.environment, cta, lambda _: UNKNOWN)
    ways: dict[int, Block] = {}
    for block, branch in asking:
        known = ranges.of(ssa.read[id(branch)][branch.predicate])
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


def _branches_of_thread(kernel: Function) -> list[tuple[Block, Branch]]:
    """Branches that the thread's indices and numbers alone tell: others are hardly ever decided."""
    told, other = set[Register](), set[Register]()
    ops = [op for block in kernel.blocks for op in block.ops]
    other.update(r for block in kernel.blocks if (r := terminator_definition(block)) is not None)
    size = -1
    while size != len(told) + len(other):
        size = len(told) + len(other)
        for op in ops:
            made = [r for r in destinations(op) if r is not None]
            if _is_other(op) or not other.isdisjoint(uses(op)):
                other.update(made)
            elif _asks_of_thread(op) or not told.isdisjoint(uses(op)):
                told.update(made)
    branches = ((block, block.terminator) for block in kernel.blocks)
    return [
        (block, branch)
        for block, branch in branches
        if isinstance(branch, Branch) and branch.predicate in told - other
    ]


def _is_other(op: Op | Call) -> bool:
    """Whether an op reads something else than registers, numbers and the thread's indices."""
    return isinstance(op, Call) or bool(op.form.effects) or not all(map(_is_known, _sources(op)))


def _is_known(source: Operand) -> bool:
    if isinstance(source, Special):
        return source.name in OF_THREAD
    return source is None or isinstance(source, Register | Complement | Constant)


def _asks_of_thread(op: Op | Call) -> bool:
    return any(isinstance(source, Special) for source in _sources(op))


def _sources(op: Op | Call) -> Iterable[Operand]:
    return op.sources.values() if isinstance(op, Op) else ()
