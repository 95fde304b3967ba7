"""Loops whose branches are told before them, a second time without these branches.

`if (x + i < 0 || x + i >= width) continue;`, in a loop over the rows of a window: compilers ask once before
the loop and branch in each turn. Within a picture all lanes of a warp have all their neighbours, but nothing
says so: at each branch lanes may part, and what is under way is kept for those that do not run. So such a
loop stands twice: as it was, and without branches by what grows from lane to lane and is the same in all
turns, for warps of which a vote before the loop says that every lane goes into what stands behind each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from simt.analysis.copies import copied, lead
from simt.analysis.lower_simplify import simplify
from simt.analysis.program import Barrier, Block, Branch, Call, Function, Jump, Op, Register
from simt.analysis.rolled_lines import is_seldom
from simt.analysis.schedule import Loop
from simt.analysis.shape import Shape
from simt.analysis.skipped import RefusedError, run_ahead, vote
from simt.analysis.ssa import Definition, Ssa
from simt.analysis.uniformity import Uniformity
from simt.records import dataclass, replace

LONGEST, MOST = 150, 300
"""Ops of a loop above which it does not stand twice, and of all such loops of a kernel."""
FEWEST = 2
"""Branches that are worth it."""
MOST_AHEAD = 24
"""Ops that are run before a loop for the vote."""

MOST_MADE = 12
"""Ops, one after the other, from what grows evenly from lane to lane to a branch's predicate."""


@dataclass(frozen=True, slots=True)
class Told:
    """A loop of which some blocks go on to one block in the copy. `ahead`: ops that make what is asked."""

    blocks: tuple[Block, ...]
    ways: Mapping[Block, Block]
    tests: tuple[tuple[Register, bool], ...]
    ahead: tuple[Op, ...]


def loops_told_before(ssa: Ssa, uniformity: Uniformity) -> list[Told]:
    """Such loops, of those without loops in them."""
    outer, found, left = {id(loop.parent) for loop in ssa.schedule.loops}, list[Told](), MOST
    for loop in ssa.schedule.loops:
        told = None if id(loop) in outer else _told(ssa, uniformity, loop, min(left, LONGEST))
        if told is not None:
            found.append(told)
            left -= _length(told.blocks)
    return found


def _length(blocks: Sequence[Block]) -> int:
    return sum(len(b.ops) for b in blocks)


def _told(ssa: Ssa, uniformity: Uniformity, loop: Loop, longest: int) -> Told | None:
    blocks = ssa.schedule.order[loop.first : loop.last + 1]
    inside = {b.index for b in blocks}
    if _length(blocks) > longest or not _may_stand_twice(ssa, blocks, inside):
        return None
    ways, tests, ahead = dict[Block, Block](), list[tuple[Register, bool]](), dict[int, Op]()
    for block, branch, way in _parting(ssa, uniformity, blocks):
        predicate, more = ssa.read[id(branch)][branch.predicate], dict(ahead)
        if not _is_of_indices(ssa, uniformity.shapes, predicate, MOST_MADE):
            continue
        try:
            run_ahead(ssa, predicate, inside, more, MOST_AHEAD)
        except RefusedError:
            continue
        ways[block], ahead = way, more
        tests.append((branch.predicate, (branch.taken is way) != branch.negated))
    return Told(tuple(blocks), ways, tuple(tests), tuple(ahead.values())) if len(ways) >= FEWEST else None


def _is_of_indices(ssa: Ssa, shapes: Mapping[Definition, Shape], definition: Definition, most: int) -> bool:
    """Whether something is computed of what grows evenly from lane to lane, or all lanes have: neighbours
    mostly agree. (Some bounds are asked for together: `(x | y) > -1`.)"""
    shape = shapes.get(definition)
    if shape is not None and (shape.is_affine or shape.is_guarded):
        return True
    op = definition.origin
    if most == 0 or not isinstance(op, Op) or op.form.effects or op.guard is not None:
        return False
    return all(_is_of_indices(ssa, shapes, read, most - 1) for read in ssa.read[id(op)].values())


def _may_stand_twice(ssa: Ssa, blocks: Sequence[Block], inside: set[int]) -> bool:
    """Whether a loop begins with its header alone, and its lanes meet no others in it."""
    header, *others = blocks
    entry = ssa.schedule.order[0]
    return (
        header is not entry
        and not is_seldom(blocks)
        and not any(map(_meets, blocks))
        and all(p.index in inside for b in others for p in ssa.predecessors[b.index])
    )


def _meets(block: Block) -> bool:
    """Whether lanes do something together, or wait."""
    end = block.terminator
    waits = isinstance(end, Barrier) or (isinstance(end, Jump) and end.gate)
    return waits or any(isinstance(op, Call) or op.form.effects - {"memory"} for op in block.ops)


def _parting(
    ssa: Ssa, uniformity: Uniformity, blocks: Sequence[Block]
) -> Iterator[tuple[Block, Branch, Block]]:
    """Blocks where lanes part within a loop, their branches, and the block to which nobody else comes, if the
    other way leads past it."""
    for block in blocks:
        branch = block.terminator
        if block.index not in uniformity.divergent or not isinstance(branch, Branch):
            continue
        ways = [t for t in block.successors() if {*ssa.predecessors[t.index]} == {block} and t in blocks]
        if len(ways) == 1 and all(t in blocks for t in block.successors()):
            yield block, branch, ways[0]


def without_told(kernel: Function, loops: Sequence[Told]) -> Function:
    """The kernel with such loops standing twice."""
    made = copied(kernel)
    made.registers = [*kernel.registers]
    blocks = {b.index: b for b in made.blocks}
    for told in loops:
        _write(made, blocks, told)
    simplify(made)
    return made


def _write(made: Function, blocks: Mapping[int, Block], told: Told) -> None:
    old = [blocks[b.index] for b in told.blocks]
    ways = {blocks[b.index]: blocks[way.index] for b, way in told.ways.items()}
    copies = {b: Block(0, [replace(op) for op in b.ops]) for b in old}
    for block, copy in copies.items():
        copy.terminator = block.terminator
        targets = [ways[block]] if block in ways else block.successors()
        lead(copy, targets, copies)
    header, line = old[0], told.blocks[0].terminator.line
    tests, all_ = vote(made, told.ahead, told.tests, line)
    first = Block(0, [*tests], Branch(all_, False, copies[header], header, line=line))
    for block in made.blocks:
        if block not in copies:
            lead(block, block.successors(), {header: first})
    at = made.blocks.index(header)
    made.blocks[at:at] = [first, *copies.values()]
    for index, block in enumerate(made.blocks):
        block.index = index
