"""Questions that a thread has just answered: `if (i < n) { ...; i += 128; }`, again and again.

Where a compiler writes out a loop whose body moves an index on under its guard, threads that fail the guard
go to the next one with an index that differs from others' by a step, as far as anybody can tell, and fail
that too. They are led past it here, to where the last one leads: so those that go on have an index that grows
from lane to lane.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import cast

from simt.analysis.clock import has_clock
from simt.analysis.copies import copied
from simt.analysis.kinds import Kind, kind_of
from simt.analysis.lower_simplify import simplify
from simt.analysis.program import Block, Branch, Call, Constant, Function, Op, Operand, Program, Register
from simt.analysis.schedule import schedule
from simt.analysis.ssa import destinations, terminator_uses, uses
from simt.records import replace

MOST = 4
"""Instructions of a block that asks, and that threads are led past."""
Question = tuple[Kind, tuple[Operand, ...]]


def without_questions(program: Program, kernel: Function) -> Function:
    """The kernel, or another function where threads are led past questions that they have answered."""
    asking = {b: asked for b in kernel.blocks if (asked := _asked(b)) is not None}
    again = {b for b in asking if len(b.ops) <= MOST}
    if not any(asking.get(s) == asked for b, asked in asking.items() for s in b.successors() if s in again):
        return kernel
    headers = {loop.header for loop in schedule(kernel).loops}
    passed = {b: asking[b] for b in _left_alone(kernel, again) - headers}
    branches = {b: cast("Branch", b.terminator) for b in asking}
    ways = {b: _ways(branches[b], asked, passed) for b, asked in asking.items()}
    ways = {b: found for b, found in ways.items() if found != (branches[b].taken, branches[b].otherwise)}
    return _led(kernel, ways) if ways and not has_clock(kernel.name, program) else kernel


def _led(kernel: Function, ways: Mapping[Block, tuple[Block, Block]]) -> Function:
    function = copied(kernel)
    new = dict(zip(kernel.blocks, function.blocks))
    for block, (taken, otherwise) in ways.items():
        branch = cast("Branch", block.terminator)
        new[block].terminator = replace(branch, taken=new[taken], otherwise=new[otherwise])
    simplify(function)
    return function


def _asked(block: Block) -> Question | None:
    """What a block's branch asks: what its predicate is made of by an op of the block. None if that may be
    another thing when the branch comes."""
    branch, found, read = block.terminator, None, list[Register]()
    if not isinstance(branch, Branch):
        return None
    for op in block.ops:
        written = set(destinations(op))
        if branch.predicate in written:  # (and first: `setp` may give another)
            found = _question(op) if isinstance(op, Op) and op.destinations[0] is branch.predicate else None
            read = uses(op)
        elif not written.isdisjoint(read):
            found = None
    return found


def _question(op: Op) -> Question | None:
    operands = tuple(op.sources.values())
    known = all(isinstance(operand, Register | Constant) for operand in operands)
    return (kind_of(op), operands) if known and op.guard is None and not op.form.effects else None


def _left_alone(kernel: Function, blocks: Set[Block]) -> set[Block]:
    """Those of some blocks that do nothing but to make what they read, and nobody else."""
    writers: dict[Register, set[Block]] = {}
    lost = set[Block]()
    for block in blocks:
        made = set[Register | None]()
        for op in block.ops:
            if isinstance(op, Call) or op.form.effects or op.guard is not None:
                lost.add(block)
            made.update(destinations(op))
        for register in made:
            if register is not None:
                writers.setdefault(register, set()).add(block)
        if not made.isdisjoint(_read_first(block)):
            lost.add(block)
    readers: dict[Register, set[Block]] = {}
    for block in kernel.blocks:
        for register in (*(r for op in block.ops for r in uses(op)), *terminator_uses(block)):
            if register in writers:
                readers.setdefault(register, set()).add(block)
    for register, reading in readers.items():
        lost |= writers[register] - reading if len(reading) == 1 else writers[register]
    return {*blocks} - lost


def _read_first(block: Block) -> set[Register]:
    """Registers that a block reads before it writes them."""
    made, found = set[Register | None](), set[Register]()
    for op in block.ops:
        found |= {register for register in uses(op) if register not in made}
        made.update(destinations(op))
    return found


def _ways(branch: Branch, question: Question, passed: Mapping[Block, Question]) -> tuple[Block, Block]:
    """Where a branch leads, past blocks that ask the same. (What the question is about is not written there,
    as the branch's block reads it.)"""

    def past(target: Block, holds: bool) -> Block:
        seen = set[Block]()
        while target not in seen and passed.get(target) == question:
            seen.add(target)
            again = cast("Branch", target.terminator)
            target = again.taken if holds != again.negated else again.otherwise
        return target

    return past(branch.taken, not branch.negated), past(branch.otherwise, branch.negated)
