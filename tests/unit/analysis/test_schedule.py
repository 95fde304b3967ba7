"""The order of blocks against its definition, on random graphs."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from simt.analysis.schedule import Loop, Schedule, schedule
from tests.unit.analysis.graphs import Edges, function_of, graphs, reach

DIAMOND = [[1, 2], [3], [3], []]
NESTED = [[1], [2], [2, 3], [1, 4], []]
TWO_ENTRIES = [[1, 2], [2, 3], [1, 3], []]


def made(edges: Edges) -> Schedule:
    return schedule(function_of(edges))


def order(found: Schedule) -> list[int]:
    return [b.index for b in found.order]


def members(found: Schedule, loop: Loop) -> set[int]:
    return {b.index for b in found.order[loop.first : loop.last + 1]}


@settings(max_examples=150, deadline=None)
@given(graphs())
def test_reachable_blocks_once(edges: Edges) -> None:
    found = made(edges)
    assert sorted(order(found)) == sorted(reach(edges, 0))
    assert found.order[0].index == 0
    assert [found.position[i] for i in order(found)] == list(range(len(found.order)))


@settings(max_examples=150, deadline=None)
@given(graphs())
def test_only_edges_to_headers_from_inside_go_back(edges: Edges) -> None:
    found = made(edges)
    inside = {loop.header.index: members(found, loop) for loop in found.loops}
    for block in found.order:
        for successor in block.successors():
            back = found.is_back_edge(block, successor)
            assert back == (block.index in inside.get(successor.index, ()))


@settings(max_examples=150, deadline=None)
@given(graphs())
def test_loops_are_strongly_connected_and_nested(edges: Edges) -> None:
    found = made(edges)
    for loop in found.loops:
        blocks = members(found, loop)
        inner = [
            [t for t in targets if t in blocks] if i in blocks else [] for i, targets in enumerate(edges)
        ]
        assert all(reach(inner, b) >= blocks for b in blocks), "one component"
        assert found.order[loop.first] is loop.header
        if loop.parent is not None:
            assert loop.depth == loop.parent.depth + 1
            assert loop.parent.first < loop.first <= loop.last <= loop.parent.last
        else:
            assert loop.depth == 1


@settings(max_examples=150, deadline=None)
@given(graphs())
def test_innermost_loop(edges: Edges) -> None:
    found = made(edges)
    for i in order(found):
        around = [loop for loop in found.loops if i in members(found, loop)]
        assert found.loop_of[i] is max(around, key=lambda x: x.depth, default=None)


@settings(max_examples=150, deadline=None)
@given(graphs())
def test_every_cycle_is_in_a_loop(edges: Edges) -> None:
    found = made(edges)
    for i in order(found):
        in_cycle = any(i in reach(edges, t) for t in edges[i])
        assert (found.loop_of[i] is not None) == in_cycle


@settings(max_examples=150, deadline=None)
@given(graphs())
def test_latches_follow_their_loops(edges: Edges) -> None:
    found = made(edges)
    assert [s for s in found.slots if not isinstance(s, Loop)] == found.order
    assert {id(s) for s in found.slots if isinstance(s, Loop)} == {id(x) for x in found.loops}
    for i, slot in enumerate(found.slots):
        if isinstance(slot, Loop):
            before = found.slots[i - 1]
            last = before.last if isinstance(before, Loop) else found.position[before.index]
            assert last == slot.last
            assert not isinstance(before, Loop) or before.depth > slot.depth


@pytest.mark.parametrize(
    ("edges", "slots"),
    [
        (DIAMOND, "0 1 2 3"),
        ([[1], [1, 2], []], "0 1 latch1 2"),
        (NESTED, "0 1 2 latch2 3 latch1 4"),
        ([[1], [2, 4], [3], [1], []], "0 1 2 3 latch1 4"),
        ([[0]], "0 latch0"),
    ],
)
def test_known_orders(edges: Edges, slots: str) -> None:
    found = [f"latch{s.header.index}" if isinstance(s, Loop) else str(s.index) for s in made(edges).slots]
    middle = {"1", "2"} if edges is DIAMOND else set[str]()  # either side may come first
    assert [x for x in found if x not in middle] == [x for x in slots.split() if x not in middle]


def test_loop_with_two_entries() -> None:
    found = made(TWO_ENTRIES)
    assert len(found.loops) == 1
    assert members(found, found.loops[0]) == {1, 2}
    assert order(found)[-1] == 3


def test_long_functions_need_no_deep_stack() -> None:
    n = 20_000
    found = made([*([i + 1] for i in range(n)), []])
    assert order(found) == list(range(n + 1))
