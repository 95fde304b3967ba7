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

from dataclasses import dataclass, field

from simt.analysis.program import Block, Function


@dataclass(slots=True, eq=False)
class Loop:
    """Blocks at positions `first..last` of the line; `order[first]` is the header."""

    header: Block
    first: int
    last: int
    parent: Loop | None
    depth: int


@dataclass(slots=True)
class Schedule:
    """`order`: reachable blocks in line. `position` by block index. `loop_of`: innermost loop by block index.
    `slots`: the line with latches put in: what a warp tests, in order, for waiting lanes."""

    order: list[Block]
    position: dict[int, int]
    loops: list[Loop]
    loop_of: dict[int, Loop | None]
    slots: list[Block | Loop] = field(default_factory=list["Block | Loop"])

    def is_back_edge(self, source: Block, target: Block) -> bool:
        return self.position[target.index] <= self.position[source.index]


def schedule(function: Function) -> Schedule:
    """The schedule of a function's reachable blocks."""
    result = Schedule([], {}, [], {})
    entry = function.blocks[0]
    _place(_reachable(entry), entry, None, result)
    _insert_latches(result)
    return result


def _reachable(entry: Block) -> list[Block]:
    """Reachable blocks in reverse postorder (iterative: functions can be long)."""
    seen = {entry.index}
    stack = [(entry, iter(entry.successors()))]
    postorder: list[Block] = []
    while stack:
        block, rest = stack[-1]
        for successor in rest:
            if successor.index not in seen:
                seen.add(successor.index)
                stack.append((successor, iter(successor.successors())))
                break
        else:
            postorder.append(block)
            stack.pop()
    return postorder[::-1]


def _place(blocks: list[Block], entry: Block, loop: Loop | None, result: Schedule) -> None:
    """Appends `blocks` to the line: components in topological order, each loop after its header."""
    pending: list[tuple[list[Block], Loop | None, Block | None]] = [(blocks, loop, None)]
    while pending:
        members, parent, header = pending.pop()
        if header is not None:
            _append(header, parent, result)
            members = [b for b in members if b is not header]
        work = [_component_entry(c, members, parent, result) for c in _components(members, header)]
        pending.extend(reversed(work))
        while pending and len(pending[-1][0]) == 1 and pending[-1][2] is None:
            single, inside, _ = pending.pop()
            _append(single[0], inside, result)


def _component_entry(
    component: list[Block], members: list[Block], parent: Loop | None, result: Schedule
) -> tuple[list[Block], Loop | None, Block | None]:
    """How to place one strongly connected component: as a plain block or as a new loop."""
    if len(component) == 1 and component[0] not in component[0].successors():
        return component, parent, None
    inside = {b.index for b in component}
    header = component[0]  # first in reverse postorder: the block through which it is first entered
    loop = Loop(header, -1, -1, parent, parent.depth + 1 if parent else 1)
    result.loops.append(loop)
    assert header.index in inside
    return component, loop, header


def _append(block: Block, loop: Loop | None, result: Schedule) -> None:
    position = len(result.order)
    result.order.append(block)
    result.position[block.index] = position
    result.loop_of[block.index] = loop
    while loop is not None:
        loop.first = position if loop.first < 0 else loop.first
        loop.last = position
        loop = loop.parent


def _components(blocks: list[Block], removed_header: Block | None) -> list[list[Block]]:
    """Strongly connected components (Tarjan, iterative) in topological order, each in the order given.

    Edges into `removed_header` are already gone because it is not among `blocks`."""
    inside = {b.index for b in blocks}
    rank = {b.index: i for i, b in enumerate(blocks)}
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    on_stack: set[int] = set()
    stack: list[Block] = []
    found: list[list[Block]] = []
    for root in blocks:
        if root.index in number:
            continue
        work = [(root, iter(_inner(root, inside)))]
        number[root.index] = low[root.index] = len(number)
        stack.append(root)
        on_stack.add(root.index)
        while work:
            block, rest = work[-1]
            for successor in rest:
                if successor.index not in number:
                    number[successor.index] = low[successor.index] = len(number)
                    stack.append(successor)
                    on_stack.add(successor.index)
                    work.append((successor, iter(_inner(successor, inside))))
                    break
                if successor.index in on_stack:
                    low[block.index] = min(low[block.index], number[successor.index])
            else:
                work.pop()
                if work:
                    low[work[-1][0].index] = min(low[work[-1][0].index], low[block.index])
                if low[block.index] == number[block.index]:
                    found.append(_pop_component(block, stack, on_stack, rank))
    return found[::-1]


def _inner(block: Block, inside: set[int]) -> list[Block]:
    return [s for s in reversed(block.successors()) if s.index in inside]


def _pop_component(root: Block, stack: list[Block], on_stack: set[int], rank: dict[int, int]) -> list[Block]:
    component: list[Block] = []
    while True:
        block = stack.pop()
        on_stack.discard(block.index)
        component.append(block)
        if block is root:
            return sorted(component, key=lambda b: rank[b.index])


def _insert_latches(result: Schedule) -> None:
    """`slots`: blocks in order, each loop's latch after its last block, inner ones first."""
    ending: dict[int, list[Loop]] = {}
    for loop in sorted(result.loops, key=lambda x: -x.depth):
        ending.setdefault(loop.last, []).append(loop)
    for position, block in enumerate(result.order):
        result.slots.append(block)
        result.slots.extend(ending.get(position, ()))
