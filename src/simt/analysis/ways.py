"""Branches whose two ways, a block each, lead to one place; and kernels without such a branch.

Compilers write one where two pieces of code give the same and one of them is faster for some operands. An
analysis that finds that they do puts one op in place of both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import Any

from simt.analysis.copies import copied
from simt.analysis.lower_simplify import simplify
from simt.analysis.program import Block, Branch, Function, Jump, Op
from simt.analysis.ssa import Definition, Ssa
from simt.records import dataclass

MOST_OPS = 16
"""Instructions of either way."""


@dataclass(frozen=True, slots=True)
class Ways:
    """The blocks of such a branch: where it begins, its ways, one of them taken for the short one, and where
    they meet. `holds`: lanes go the short way where the branch's predicate holds, else where it does not."""

    head: Block
    holds: bool
    short: Block
    long: Block
    end: Block


def is_candidate(block: Block) -> bool:
    """Whether both ways of a branch lead to one place."""
    ways = block.successors() if isinstance(block.terminator, Branch) else ()
    return len(ways) == 2 and all(map(_is_way, ways)) and ways[0].successors() == ways[1].successors()


def _is_way(block: Block) -> bool:
    plain = (isinstance(op, Op) and not op.form.effects and op.guard is None for op in block.ops)
    return isinstance(block.terminator, Jump) and 0 < len(block.ops) <= MOST_OPS and all(plain)


def all_ways(ssa: Ssa) -> Iterator[Ways]:
    """Those of a function, each with either way taken for the short one."""
    for head in ssa.schedule.order:
        branch = head.terminator
        if not isinstance(branch, Branch) or not is_candidate(head):
            continue
        ways = branch.taken, branch.otherwise
        (end,) = branch.taken.successors()
        alone = all(ssa.predecessors[way.index] == [head] for way in ways)
        for short, long in (ways, ways[::-1]) if alone else ():
            yield Ways(head, (short is branch.taken) != branch.negated, short, long, end)


def with_one_way(kernel: Function, ssa: Ssa, found: list[tuple[Ways, list[Op]]]) -> Function:
    """A function with some ops in place of the ways of each branch, and without what only it read."""
    made = copied(kernel)
    unread = _Unread(ssa, [ways for ways, _ in found])
    for ways, ops in found:
        head, end = (made.blocks[block.index] for block in (ways.head, ways.end))
        head.ops = [*(op for op in head.ops if id(op) not in unread.ops), *ops]
        head.terminator = Jump(end)
    simplify(made)
    return made


class _Unread:
    """`ops`: those, by identity, of which nobody reads what they make when branches are gone."""

    def __init__(self, ssa: Ssa, gone: list[Ways]) -> None:
        self.ssa = ssa
        self.readers: Counter[Definition] = Counter()
        phis = (phi.inputs.values() for phis in ssa.phis.values() for phi in phis)
        for definition in chain(*(read.values() for read in ssa.read.values()), *phis):
            self.readers[definition] += 1
        self.ops = set[int]()
        for ways in gone:
            self._leave(ways.head.terminator)

    def _leave(self, reader: Any) -> None:
        """Notes that one reader is gone."""
        for definition in self.ssa.read[id(reader)].values():
            self.readers[definition] -= 1
            op = definition.origin
            if isinstance(op, Op) and self._is_unread(op):
                self.ops.add(id(op))
                self._leave(op)

    def _is_unread(self, op: Op) -> bool:
        made = [definition for definition in self.ssa.of[id(op)] if definition is not None]
        return op.guard is None and not op.form.effects and not any(self.readers[d] for d in made)
