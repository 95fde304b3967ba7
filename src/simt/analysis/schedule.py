"""The order in which a warp visits the blocks of a function, and so where its lanes meet again.

Blocks are put into one line such that every edge goes forward except those into a loop's header
from inside the loop, and every loop is contiguous. A warp always runs the first block of the line
that has waiting lanes; lanes that jump back wait at the loop's *latch*, a place after the loop's
last block, until no lane of the warp is left inside. So lanes meet as early as they can (at the
latest at the immediate post-dominator), and irreducible control flow needs no special case: a loop
with several entries is a strongly connected set of blocks whose first block in the line is its header.

This replaces a stack of reconvergence points (push, complement, pop); `docs/decisions` says why.
"""

from __future__ import annotations

from collections.abc import Iterator

from simt.analysis.nesting import Nesting, nesting
from simt.analysis.program import Block, Function
from simt.records import dataclass, field


@dataclass(slots=True, eq=False)
class Loop:
    """Blocks at positions `first..last` of the line; `order[first]` is the header."""

    header: Block
    first: int
    last: int
    parent: Loop | None
    depth: int


TURNS = 8
"""Times that a loop's body is taken to run."""


@dataclass(slots=True)
class Schedule:
    """`order`: reachable blocks in line. `position` by block index. `loop_of`: innermost loop by block index.
    `slots`: the line with latches put in: what a warp tests, in order, for waiting lanes."""

    order: list[Block]
    position: dict[int, int]
    loops: list[Loop]
    loop_of: dict[int, Loop | None]
    slots: list[Block | Loop] = field(default_factory=list["Block | Loop"])

    def turns(self, block: Block) -> int:
        """Times that a warp is taken to run a block, by the loops around it."""
        loop = self.loop_of[block.index]
        return TURNS ** (0 if loop is None else loop.depth)

    def is_back_edge(self, source: Block, target: Block) -> bool:
        return self.position[target.index] <= self.position[source.index]


def schedule(function: Function) -> Schedule:
    """The schedule of a function's reachable blocks."""
    result = Schedule([], {}, [], {})
    _place(nesting(function.blocks[0]), result)
    _insert_latches(result)
    return result


def _place(found: Nesting, result: Schedule) -> None:
    """Puts blocks into the line: in the order given, but each loop as a whole where its header stands."""
    inside: dict[int | None, list[Block]] = {}
    for block in found.order:
        inside.setdefault(found.around[block.index], []).append(block)
    open_: list[tuple[Loop | None, Iterator[Block]]] = [(None, iter(inside[None]))]
    while open_:
        loop, rest = open_[-1]
        block = next(rest, None)
        if block is None:
            open_.pop()
            if loop is not None:
                loop.last = len(result.order) - 1
            continue
        if block.index in found.headers:
            loop = Loop(block, len(result.order), -1, loop, len(open_))
            result.loops.append(loop)
            open_.append((loop, iter(inside.get(block.index, ()))))
        _append(block, loop, result)


def _append(block: Block, loop: Loop | None, result: Schedule) -> None:
    result.position[block.index] = len(result.order)
    result.order.append(block)
    result.loop_of[block.index] = loop


def _insert_latches(result: Schedule) -> None:
    """`slots`: blocks in order, each loop's latch after its last block, inner ones first."""
    ending: dict[int, list[Loop]] = {}
    for loop in sorted(result.loops, key=lambda x: -x.depth):
        ending.setdefault(loop.last, []).append(loop)
    for position, block in enumerate(result.order):
        result.slots.append(block)
        result.slots.extend(ending.get(position, ()))
