"""Dominators and post-dominators against the definition: remove a block and see what is still reached."""

from __future__ import annotations

from hypothesis import given, settings

from simt.analysis.dominance import EXIT, Tree, dominators, post_dominators
from simt.analysis.schedule import schedule
from tests.unit.analysis.graphs import Edges, dominates, ends, function_of, graphs, post_dominates, reach


def closest(immediate: dict[int, int], node: int) -> list[int]:
    """The chain from a block upwards, without the block and without the virtual exit."""
    chain: list[int] = []
    while node in immediate and immediate[node] not in (node, EXIT):
        node = immediate[node]
        chain.append(node)
    return chain


@settings(max_examples=200, deadline=None)
@given(graphs())
def test_dominators(edges: Edges) -> None:
    immediate = dominators(schedule(function_of(edges)))
    blocks = reach(edges, 0)
    assert set(immediate) == blocks
    for b in blocks:
        assert set(closest(immediate, b)) == {a for a in blocks if a != b and dominates(edges, a, b)}


@settings(max_examples=200, deadline=None)
@given(graphs())
def test_tree_answers_by_the_definition(edges: Edges) -> None:
    tree = Tree(dominators(schedule(function_of(edges))))
    blocks = reach(edges, 0)
    assert all(tree.dominates(a, b) == dominates(edges, a, b) for a in blocks for b in blocks)


@settings(max_examples=200, deadline=None)
@given(graphs())
def test_post_dominators(edges: Edges) -> None:
    immediate = post_dominators(schedule(function_of(edges)))
    blocks = reach(edges, 0)
    for b in blocks:
        after = (
            {a for a in blocks if a != b and post_dominates(edges, a, b)} if ends(edges, b) else set[int]()
        )
        assert set(closest(immediate, b)) == after
