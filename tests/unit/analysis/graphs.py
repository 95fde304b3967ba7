"""Control-flow graphs without instructions, as lists of successors, and brute-force facts about them."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from simt.analysis.program import Block, Function, Jump, Register, Return, Switch
from simt.ptx.types import TYPES

Edges = Sequence[Sequence[int]]


def function_of(edges: Edges) -> Function:
    """A function whose block `i` may go to the blocks `edges[i]`; one without successors returns."""
    index = Register(0, "i", TYPES["u32"])
    blocks = [Block(i) for i in range(len(edges))]
    for block, targets in zip(blocks, edges):
        found = tuple(blocks[t] for t in targets)
        if len(found) == 1:
            block.terminator = Jump(found[0])
        else:
            block.terminator = Switch(index, found) if found else Return()
    return Function("f", False, blocks, [index])


@st.composite
def graphs(draw: st.DrawFn, largest: int = 9) -> list[list[int]]:
    """Random graphs, irreducible ones and endless loops included; some blocks may be unreachable."""
    n = draw(st.integers(1, largest))
    return [draw(st.lists(st.integers(0, n - 1), max_size=3, unique=True)) for _ in range(n)]


def reach(edges: Edges, start: int, removed: int | None = None) -> set[int]:
    """Blocks that can be reached from `start` (itself included) without passing `removed`."""
    seen: set[int] = set()
    work = [start]
    while work:
        node = work.pop()
        if node not in seen and node != removed:
            seen.add(node)
            work += edges[node]
    return seen


def dominates(edges: Edges, a: int, b: int) -> bool:
    """Whether every way from the entry to `b` passes `a`."""
    return a == b or b not in reach(edges, 0, removed=a)


def post_dominates(edges: Edges, a: int, b: int) -> bool:
    """Whether every way from `b` to a block without successors passes `a`."""
    return a == b or not any(not edges[x] for x in reach(edges, b, removed=a))


def ends(edges: Edges, start: int) -> bool:
    """Whether any block without successors can be reached."""
    return any(not edges[x] for x in reach(edges, start))
