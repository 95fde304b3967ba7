"""Immediate dominators and post-dominators (the algorithm of Cooper, Harvey and Kennedy)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from simt.analysis.schedule import Schedule

EXIT = -1
"""The virtual block after every block without successors."""


def dominators(schedule: Schedule) -> dict[int, int]:
    """Immediate dominator by block index; the entry's is itself."""
    order = [b.index for b in schedule.order]
    return _immediate(order, _reverse({b.index: [s.index for s in b.successors()] for b in schedule.order}))


def post_dominators(schedule: Schedule) -> dict[int, int]:
    """Immediate post-dominator by block index; `EXIT` where only the virtual exit is left."""
    successors = {b.index: [s.index for s in b.successors()] or [EXIT] for b in schedule.order}
    backward = _reverse(successors)
    order = _reverse_postorder(EXIT, backward)
    found = _immediate(order, successors)
    # Blocks that never reach an exit (endless loops) are not in the order.
    return {b.index: found.get(b.index, EXIT) for b in schedule.order}


def _reverse(edges: Mapping[int, Sequence[int]]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for source, targets in edges.items():
        for target in targets:
            found.setdefault(target, []).append(source)
    return found


def _reverse_postorder(root: int, edges: Mapping[int, Sequence[int]]) -> list[int]:
    seen = {root}
    stack = [(root, iter(edges.get(root, ())))]
    postorder: list[int] = []
    while stack:
        node, rest = stack[-1]
        for target in rest:
            if target not in seen:
                seen.add(target)
                stack.append((target, iter(edges.get(target, ()))))
                break
        else:
            postorder.append(node)
            stack.pop()
    return postorder[::-1]


def _immediate(order: Sequence[int], predecessors: Mapping[int, Sequence[int]]) -> dict[int, int]:
    rank = {node: i for i, node in enumerate(order)}
    found = {order[0]: order[0]}

    def meet(a: int, b: int) -> int:
        while a != b:
            while rank[a] > rank[b]:
                a = found[a]
            while rank[b] > rank[a]:
                b = found[b]
        return a

    changed = True
    while changed:
        changed = False
        for node in order[1:]:
            known = [p for p in predecessors.get(node, ()) if p in found]
            if not known:
                continue
            new = known[0]
            for other in known[1:]:
                new = meet(new, other)
            if found.get(node) != new:
                found[node] = new
                changed = True
    return found


class Tree:
    """A dominator tree that answers `dominates` in constant time."""

    def __init__(self, immediate: Mapping[int, int]) -> None:
        children: dict[int, list[int]] = {}
        for node, parent in immediate.items():
            if node != parent:
                children.setdefault(parent, []).append(node)
        self.first: dict[int, int] = {}
        self.last: dict[int, int] = {}
        work = [(node, False) for node, parent in immediate.items() if node == parent]
        while work:
            node, done = work.pop()
            if done:
                self.last[node] = len(self.first)
                continue
            self.first[node] = len(self.first)
            work.append((node, True))
            work += [(child, False) for child in children.get(node, ())]

    def dominates(self, a: int, b: int) -> bool:
        return self.first[a] <= self.first[b] < self.last[a]


def same_lanes(schedule: Schedule) -> dict[int, int]:
    """For a block, the last block before it that exactly the same lanes ran: it dominates the block and
    is post-dominated by it. Chains of these lead to all such blocks."""
    tree, post = Tree(dominators(schedule)), post_dominators(schedule)
    found: dict[int, int] = {}
    for block in schedule.order:
        after = post[block.index]
        if after not in (EXIT, block.index) and tree.dominates(block.index, after):
            found[after] = block.index
    return found
