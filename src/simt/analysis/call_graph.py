"""Who calls whom: order of functions, recursion, what a kernel can reach."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from simt.analysis.outline import Function


def callees(function: Function) -> list[str]:
    """Names of functions that a function may call, each once."""
    found: dict[str, None] = {}
    for op in function.call_ops():
        names = (op.callee,) if isinstance(op.callee, str) else op.candidates
        found.update(dict.fromkeys(names))
    return list(found)


def components(functions: Mapping[str, Function]) -> list[list[str]]:
    """Strongly connected sets of functions, callees before callers (Tarjan, iterative)."""
    edges = {name: [c for c in callees(f) if c in functions] for name, f in functions.items()}
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    waiting: set[str] = set()
    found: list[list[str]] = []
    for root in functions:
        if root in number:
            continue
        number[root] = low[root] = len(number)
        stack.append(root)
        waiting.add(root)
        work = [(root, iter(edges[root]))]
        while work:
            name, rest = work[-1]
            following = next(rest, None)
            if following is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == number[name]:
                    found.append(_pop(name, stack, waiting))
            elif following not in number:
                number[following] = low[following] = len(number)
                stack.append(following)
                waiting.add(following)
                work.append((following, iter(edges[following])))
            elif following in waiting:
                low[name] = min(low[name], low[following])
    return found


def _pop(root: str, stack: list[str], waiting: set[str]) -> list[str]:
    component: list[str] = []
    while True:
        name = stack.pop()
        waiting.discard(name)
        component.append(name)
        if name == root:
            return component


def is_recursive(component: list[str], functions: Mapping[str, Function]) -> bool:
    return len(component) > 1 or component[0] in callees(functions[component[0]])


def paths(root: str, functions: Mapping[str, Function]) -> dict[str, tuple[str, ...]]:
    """Every function that may run when `root` does, nearest first, with the functions by which it is reached:
    those called after `root`, itself the last."""
    found: dict[str, tuple[str, ...]] = {root: ()}
    queue = [root]
    for name in queue:
        for called in callees(functions[name]):
            if called in functions and called not in found:
                found[called] = (*found[name], called)
                queue.append(called)
    return found


def reachable(roots: Iterable[str], functions: Mapping[str, Function]) -> list[str]:
    """All functions that may run when `roots` do, themselves included."""
    seen = dict.fromkeys(roots)
    stack = list(seen)
    while stack:
        for name in callees(functions[stack.pop()]):
            if name in functions and name not in seen:
                seen[name] = None
                stack.append(name)
    return list(seen)
