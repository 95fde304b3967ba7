"""Immediate dominators and post-dominators (the algorithm of Lengauer and Tarjan, O(n log n))."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from simt.analysis.schedule import Schedule

EXIT = -1
"""The virtual block after every block without successors."""


def dominators(schedule: Schedule) -> dict[int, int]:
    """Immediate dominator by block index; the entry's is itself."""
    successors = {b.index: [s.index for s in b.successors()] for b in schedule.order}
    return immediate(schedule.order[0].index, successors, _reverse(successors))


def post_dominators(schedule: Schedule) -> dict[int, int]:
    """Immediate post-dominator by block index; `EXIT` where only the virtual exit is left."""
    successors = {b.index: [s.index for s in b.successors()] or [EXIT] for b in schedule.order}
    backward = _reverse(successors)
    found = immediate(EXIT, backward, successors)
    # Blocks that never reach an exit (endless loops) are not found.
    return {b.index: found.get(b.index, EXIT) for b in schedule.order}


def _reverse(edges: Mapping[int, Sequence[int]]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for source, targets in edges.items():
        for target in targets:
            found.setdefault(target, []).append(source)
    return found


def _numbered(
    root: int, successors: Mapping[int, Sequence[int]], predecessors: Mapping[int, Sequence[int]]
) -> tuple[list[int], list[int], list[list[int]]]:
    """Reachable nodes in depth-first order; each one's parent and predecessors as places in that order."""
    number = {root: 0}
    order, parents = [root], [0]
    stack = [(root, iter(successors.get(root, ())))]
    while stack:
        node, rest = stack[-1]
        for target in rest:
            if target not in number:
                number[target] = len(order)
                order.append(target)
                parents.append(number[node])
                stack.append((target, iter(successors.get(target, ()))))
                break
        else:
            stack.pop()
    sources = [[number[p] for p in predecessors.get(node, ()) if p in number] for node in order]
    return order, parents, sources


class _Forest:
    """Trees that grow by links; `least` is the node of least semidominator between a node and its root."""

    def __init__(self, semi: list[int]) -> None:
        self.semi = semi
        self.ancestor = [-1] * len(semi)
        self.label = list(range(len(semi)))

    def least(self, node: int) -> int:
        ancestor, label, semi = self.ancestor, self.label, self.semi
        path: list[int] = []
        while ancestor[node] >= 0 and ancestor[ancestor[node]] >= 0:
            path.append(node)
            node = ancestor[node]
        start = node
        for node in reversed(path):
            above = ancestor[node]
            if semi[label[above]] < semi[label[node]]:
                label[node] = label[above]
            ancestor[node] = ancestor[above]
        return label[path[0] if path else start]


def immediate(
    root: int, successors: Mapping[int, Sequence[int]], predecessors: Mapping[int, Sequence[int]]
) -> dict[int, int]:
    """Immediate dominator of every node that can be reached from the root, whose own is itself."""
    order, parents, sources = _numbered(root, successors, predecessors)
    semi = list(range(len(order)))
    found = [0] * len(order)
    forest = _Forest(semi)
    waiting: list[list[int]] = [[] for _ in order]
    for node in range(len(order) - 1, 0, -1):
        semi[node] = min(semi[forest.least(source)] for source in sources[node])
        waiting[semi[node]].append(node)
        parent = parents[node]
        forest.ancestor[node] = parent
        for other in waiting[parent]:
            least = forest.least(other)
            found[other] = least if semi[least] < semi[other] else parent
        waiting[parent].clear()
    for node in range(1, len(order)):
        if found[node] != semi[node]:
            found[node] = found[found[node]]
    return {order[node]: order[above] for node, above in enumerate(found)}


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
