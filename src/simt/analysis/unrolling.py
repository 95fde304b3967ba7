"""Loops with barriers or shuffles of which the turns can be counted when compiling: they are written out.

Sums and scans by trees go from step to step (`for (s = blockDim.x / 2; s > 0; s >>= 1)`), with a barrier in
each turn. A CTA's size is known here, and so are all steps. Written out, each turn is code of its own, in
which the step is a number: how far lanes are apart is known, and which of them take part, and warps without
any have no code (`simt.engine.llvm_phases`). A sum over a warp (`for (d = warpSize / 2; d > 0; d /= 2)`,
which nvcc leaves a loop) goes by shuffles whose lanes are numbers then.

No form of a loop is looked for: the numbers on which its end depends are followed from turn to turn, and it
stays as it is if one of them is not known. What a thread executes is the same, in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence

from simt.analysis.clock import has_clock
from simt.analysis.copies import copied, lead
from simt.analysis.lower_simplify import simplify
from simt.analysis.nesting import Nesting, nesting
from simt.analysis.numbers import Numbers, State, met
from simt.analysis.program import Barrier, Block, Branch, Call, Function, Op, Program, Register
from simt.analysis.shape import BlockShape
from simt.isa.algebra import Environment
from simt.isa.warp import shfl
from simt.records import dataclass, field, replace

MOST_TURNS = 16
MOST_OPS = 400
"""In all turns together."""
MOST_BARRIERS = 40
"""Of a kernel whose warps go in step: see `simt.engine.llvm_suspension`."""


@dataclass(slots=True)
class Turn:
    """One turn of a loop. `ways`: the blocks that threads may come to, in order, and where they may go from
    each. `next`: what is known in the next turn, None if there is none."""

    ways: dict[Block, Sequence[Block]] = field(default_factory=dict[Block, Sequence[Block]])
    next: State | None = None


def unrolled(program: Program, kernel: Function, cta: BlockShape) -> Function:
    """The kernel for CTAs of a shape: another function, if one of its loops is written out."""
    if not any(_waits(b) or _sends(b) for b in kernel.blocks) or has_clock(kernel.name, program):
        return kernel
    found, tried, wrote = copied(kernel), set[Block](), False
    while True:
        nest = nesting(found.blocks[0])
        header = next((h for h in _innermost(nest) if h not in tried), None)
        if header is None:
            return found if wrote else kernel
        tried.add(header)
        wrote |= _unroll(found, header, nest, program.environment, cta)


def _waits(block: Block) -> bool:
    return isinstance(block.terminator, Barrier)


def _sends(block: Block) -> bool:
    return any(isinstance(op, Op) and op.form.meaning is shfl for op in block.ops)


def _innermost(nest: Nesting) -> list[Block]:
    """Headers of loops with barriers or shuffles in them, but no loops."""
    outer = {nest.around[header] for header in nest.headers}
    found = [b for b in nest.order if _waits(b) or _sends(b)]
    waiting = {b.index if b.index in nest.headers else nest.around[b.index] for b in found}
    return [b for b in nest.order if b.index in (nest.headers & waiting) - outer]


def _unroll(
    function: Function, header: Block, nest: Nesting, environment: Environment, cta: BlockShape
) -> bool:
    """Writes out a loop, if its turns are known and few; whether it did."""
    members = [b for b in nest.order if b is header or nest.around[b.index] == header.index]
    if not _ends_by_branches(members) or not _begins_with_header(function.blocks, members):
        return False
    turns = _turns(members, Numbers(function.blocks, _predicates(members), environment, cta))
    barriers = sum(map(_waits, set(function.blocks) - set(members)))
    if not turns or barriers + sum(_waits(b) for turn in turns for b in turn.ways) > MOST_BARRIERS:
        return False
    _write(function, members, turns)
    simplify(function)
    return True


def _ends_by_branches(members: Sequence[Block]) -> bool:
    """Whether a loop ends by branches alone, and at all."""
    inside = set(members)
    leaving = [b for b in members if not b.successors() or not inside.issuperset(b.successors())]
    return bool(leaving) and all(isinstance(b.terminator, Branch) for b in leaving)


def _begins_with_header(blocks: Sequence[Block], members: Sequence[Block]) -> bool:
    """Whether a loop is entered by its header alone."""
    inside = set(members)
    others = inside - {members[0]}
    return all(others.isdisjoint(b.successors()) for b in blocks if b not in inside)


def _predicates(members: Sequence[Block]) -> list[Register]:
    return [b.terminator.predicate for b in members if isinstance(b.terminator, Branch)]


def _turns(members: Sequence[Block], numbers: Numbers) -> list[Turn]:
    """What each turn consists of; nothing if that cannot be told, or is too much."""
    found: list[Turn] = []
    state: State | None = numbers.entering(members[0], set(members))
    ops = 0
    while state is not None:
        turn = _turn(members, state, numbers)
        ops += sum(len(b.ops) for b in turn.ways) if turn else 0
        if turn is None or len(found) == MOST_TURNS or ops > MOST_OPS:
            return []
        found.append(turn)
        state = turn.next
    return found


def _turn(members: Sequence[Block], state: State, numbers: Numbers) -> Turn | None:
    """A turn that begins with what is known. None if threads may go on or leave, or leave for several places:
    then not all take the same number of turns."""
    turn, header, inside = Turn(), members[0], set(members)
    before: dict[Block, list[State]] = {header: [state]}
    following: list[State] = []
    left = set[Block]()
    for block in members:
        if block not in before:
            continue
        after = numbers.after(block, met(before[block]))
        turn.ways[block] = numbers.ways(block, after)
        for target in turn.ways[block]:
            if target is header:
                following.append(after)
            elif target in inside:
                before.setdefault(target, []).append(after)
            else:
                left.add(target)
    if len(left) + bool(following) != 1:
        return None
    turn.next = met(following) if following else None
    return turn


def _write(function: Function, members: Sequence[Block], turns: Sequence[Turn]) -> None:
    """Puts the turns, one after the other, in place of a loop."""
    copies = [{b: Block(0) for b in turn.ways} for turn in turns]
    header, ends = members[0], [*copies[1:], {}]
    others = [b for b in function.blocks if b not in set(members)]
    for block in others:
        lead(block, block.successors(), {header: copies[0][header]})
    for turn, copy, following in zip(turns, copies, ends, strict=True):
        targets = copy | ({header: following[header]} if following else {})
        for old, new in copy.items():
            new.ops = [_another(op) for op in old.ops]
            new.terminator = old.terminator
            lead(new, turn.ways[old], targets)
    written = [b for copy in copies for b in copy.values()]
    function.blocks = [*written, *others] if function.blocks[0] is header else [*others, *written]
    for index, block in enumerate(function.blocks):
        block.index = index


def _another(op: Op | Call) -> Op | Call:
    """The same op as another object: analyses tell ops apart as objects."""
    return replace(op)
