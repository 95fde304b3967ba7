"""At which blocks different definitions of a register meet, for all registers at once.

A block where ways meet gets a phi for every register that is live there and changes on one of the ways from
its immediate dominator. Those ways lead, on the dominator tree, from the block's predecessors up to the
dominator. Blocks are taken from the leaves of the tree to its root; what a whole stretch of the tree changes
is summed up once it is done, so that no way is walked twice (path compression, as dominators are found).
Sets of registers are integers, a bit for each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from simt.analysis.program import Block
from simt.analysis.schedule import Schedule
from simt.records import dataclass


def live_in(order: Sequence[Block], needed: Mapping[int, int], defined: Mapping[int, int]) -> dict[int, int]:
    """Registers live at each block's start (backward, to a fixed point), by the blocks' indices.

    `needed`: what a block reads that it has not written before. `defined`: what it writes."""
    live = dict(needed)
    changed = True
    while changed:
        changed = False
        for block in reversed(order):
            out = 0
            for successor in block.successors():
                out |= live[successor.index]
            new = live[block.index] | (out & ~defined[block.index])
            if new != live[block.index]:
                live[block.index] = new
                changed = True
    return live


class _Stretches:
    """The dominator tree, put together from the leaves: what changes between a block and the root over it."""

    def __init__(self, above: Mapping[int, int]) -> None:
        self.above = above
        self._linked: dict[int, int] = {}
        self._changes: dict[int, int] = {}
        self.steps = 0

    def link(self, index: int, changes: int) -> None:
        """A block, which changes some registers, is put below its immediate dominator."""
        self._linked[index] = self.above[index]
        self._changes[index] = changes

    def root(self, index: int) -> tuple[int, int]:
        """The root over a block, and what changes from the block up to it, without it."""
        path: list[int] = []
        while index in self._linked:
            path.append(index)
            index = self._linked[index]
        self.steps += len(path) + 1
        changes = 0
        for passed in reversed(path):
            changes |= self._changes[passed]
            self._changes[passed], self._linked[passed] = changes, index
        return index, changes


@dataclass(slots=True)
class _Join:
    """A block where ways meet. `changes`: on the ways up to `roots`, blocks with the same dominator."""

    index: int
    changes: int
    roots: list[int]


def placed(
    schedule: Schedule,
    predecessors: Mapping[int, Sequence[Block]],
    above: Mapping[int, int],
    live: Mapping[int, int],
    defined: Mapping[int, int],
) -> dict[int, int]:
    """The registers that have phis, by index of blocks where ways meet, in the line's order."""
    entry = schedule.order[0].index
    found = {b.index: 0 for b in schedule.order if len(predecessors[b.index]) + (b.index == entry) > 1}
    changes, stretches = dict(defined), _Stretches(above)
    for level in reversed(_levels(schedule, above)):
        joins = [_join(index, predecessors, stretches) for index in level if index in found]
        _settle(joins, live, changes, found)
        for index in level:
            stretches.link(index, changes[index])
    return found


def _levels(schedule: Schedule, above: Mapping[int, int]) -> list[list[int]]:
    """Blocks by their depth in the dominator tree, each level in the line's order."""
    depth: dict[int, int] = {}
    levels: list[list[int]] = []
    for block in schedule.order:  # dominators come first
        parent = above[block.index]
        depth[block.index] = 0 if parent == block.index else depth[parent] + 1
        if depth[block.index] == len(levels):
            levels.append([])
        levels[depth[block.index]].append(block.index)
    return levels


def _join(index: int, predecessors: Mapping[int, Sequence[Block]], stretches: _Stretches) -> _Join:
    join, dominator = _Join(index, 0, []), stretches.above[index]
    for source in predecessors[index]:
        if source.index != dominator or index == dominator:  # nothing is above the entry
            root, changes = stretches.root(source.index)
            join.changes |= changes
            join.roots.append(root)
    return join


def _settle(
    joins: Iterable[_Join], live: Mapping[int, int], changes: dict[int, int], found: dict[int, int]
) -> None:
    """Phis of blocks of one level, each of which may be on the way to another."""
    changed = True
    while changed:
        changed = False
        for join in joins:
            new = join.changes
            for root in join.roots:
                new |= changes[root]
            new &= live[join.index]
            if new & ~found[join.index]:
                found[join.index] |= new
                changes[join.index] |= new
                changed = True
