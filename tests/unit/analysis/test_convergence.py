"""Where lanes meet again, against warps that walk through random graphs."""

from __future__ import annotations

import random
from collections.abc import Set
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simt.analysis.convergence import Convergence
from simt.analysis.program import Block
from simt.analysis.schedule import Loop, Schedule, schedule
from tests.unit.analysis.graphs import Edges, function_of, graphs

LANES = 6
STEPS = 60


@dataclass
class Lane:
    """A lane waits at a slot; `came` is the block that it ran last, `held` what it ran since it came into
    each loop that it is in or has just left."""

    slot: int = 0
    came: Block | None = None
    held: dict[int, set[int]] = field(default_factory=dict[int, set[int]])


class Walk:
    """A warp that walks through a graph: branches of `divergent` blocks send each lane anywhere, other ones
    all lanes the same way. Notes where lanes met, and out of which blocks they came there, the loops that
    they had left when others ran a block of these again, and which lanes ran each block, in the order in
    which they did."""

    def __init__(self, found: Schedule, divergent: Set[int], chance: random.Random) -> None:
        self.schedule = found
        self.divergent = divergent
        self.chance = chance
        self.slot = {id(s): i for i, s in enumerate(found.slots)}
        self.latch = {s.header.index: i for i, s in enumerate(found.slots) if isinstance(s, Loop)}
        self.lanes = [Lane() for _ in range(LANES)]
        self.joins: set[int] = set()
        self.met: set[tuple[int, frozenset[int]]] = set()
        self.left: set[frozenset[int]] = set()
        self.runs: list[tuple[int, frozenset[int]]] = []
        self.number = {id(lane): i for i, lane in enumerate(self.lanes)}

    def run(self) -> None:
        for _ in range(STEPS):
            if not self.lanes:
                return
            first = min(lane.slot for lane in self.lanes)
            self.step(first, [lane for lane in self.lanes if lane.slot == first])

    def step(self, slot: int, lanes: list[Lane]) -> None:
        place = self.schedule.slots[slot]
        block = place.header if isinstance(place, Loop) else place
        self.runs.append((block.index, frozenset(self.number[id(lane)] for lane in lanes)))
        if len({id(lane.came) for lane in lanes}) > 1:
            self.joins.add(block.index)
            self.met.add((block.index, frozenset(lane.came.index for lane in lanes if lane.came is not None)))
        for other in self.lanes:
            if other.slot != slot:
                left = frozenset(
                    loop.header.index
                    for loop in self.around(block)
                    if other.slot > self.latch[loop.header.index]
                    and block.index in other.held.get(loop.header.index, ())
                )
                if left:
                    self.left.add(left)
        targets = block.successors()
        together = self.chance.choice(targets) if targets else None
        for lane in lanes:
            target = self.chance.choice(targets) if block.index in self.divergent and targets else together
            self.move(lane, block, target)

    def move(self, lane: Lane, block: Block, target: Block | None) -> None:
        if target is None:
            self.lanes.remove(lane)
            return
        here = [loop.header.index for loop in self.around(block)]
        lane.held = {header: lane.held.get(header, set()) | {block.index} for header in here}
        back = self.schedule.is_back_edge(block, target)
        lane.slot, lane.came = (self.latch[target.index] if back else self.slot[id(target)]), block

    def around(self, block: Block) -> list[Loop]:
        loop, found = self.schedule.loop_of[block.index], list[Loop]()
        while loop is not None:
            found.append(loop)
            loop = loop.parent
        return found


def left(convergence: Convergence, found: Schedule, divergent: Set[int]) -> set[int]:
    branches = [b for b in found.order if b.index in divergent]
    anywhere = convergence.entered_anywhere if branches else []
    return {loop.header.index for b in branches for loop in convergence.loops_left(b)} | {
        loop.header.index for loop in anywhere
    }


@settings(max_examples=300, deadline=None)
@given(graphs(), st.data())
def test_what_lanes_do_is_foreseen(edges: Edges, data: st.DataObject) -> None:
    found = schedule(function_of(edges))
    parting = [b.index for b in found.order if len(b.successors()) > 1]
    divergent = data.draw(st.sets(st.sampled_from(parting))) if parting else set[int]()
    convergence = Convergence(found)
    joins, leaving = convergence.joins(divergent), left(convergence, found, divergent)
    for seed in range(20):
        walk = Walk(found, divergent, random.Random(seed))
        walk.run()
        assert walk.joins <= joins
        # What a block defined is kept if any of the loops around it that lanes left says so.
        assert all(loops & leaving for loops in walk.left)


@settings(max_examples=300, deadline=None)
@given(graphs(), st.data())
def test_lanes_that_meet_bring_what_is_foreseen(edges: Edges, data: st.DataObject) -> None:
    found = schedule(function_of(edges))
    parting = [b.index for b in found.order if len(b.successors()) > 1]
    divergent = data.draw(st.sets(st.sampled_from(parting))) if parting else set[int]()
    values = {b.index: data.draw(st.integers(0, 2)) for b in found.order}
    convergence, one = Convergence(found), set[int]()
    for block in found.order:
        sources = [b for b in found.order if block in b.successors()]
        own = sources and all(found.loop_of[b.index] is found.loop_of[block.index] for b in sources)
        brought = {b.index: values[b.index] for b in sources}
        if own and not convergence.parts(block, brought, divergent):
            one.add(block.index)
    for seed in range(20):
        walk = Walk(found, divergent, random.Random(seed))
        walk.run()
        assert not [block for block, came in walk.met if block in one and len({values[b] for b in came}) > 1]


# An unrolled loop's turns that are left over: a way out before each condition, which its block's end meets.
LEFT_OVER: Edges = [[1, 6], [2, 3], [3], [4, 6], [5, 6], [6], []]


@pytest.mark.parametrize(
    ("edges", "divergent", "values", "parts"),
    [
        ([[1, 2], [3], [3], []], {0}, {1: 5, 2: 5}, False),
        ([[1, 2], [3], [3], []], {0}, {1: 5, 2: 6}, True),
        ([[1, 2], [3], [3], []], set[int](), {1: 5, 2: 6}, False),
        (LEFT_OVER, {1, 4}, {0: 0, 3: 1, 4: 2, 5: 2}, False),
        (LEFT_OVER, {1, 4}, {0: 0, 3: 1, 4: 2, 5: 3}, True),
        (LEFT_OVER, {1, 3, 4}, {0: 0, 3: 1, 4: 2, 5: 2}, True),
        (LEFT_OVER, {0, 1, 4}, {0: 0, 3: 1, 4: 2, 5: 2}, True),
        # lanes that leave by an inner branch come with others' values to where the outer one's sides meet
        ([[1, 4], [2, 4], [3], [4], []], {1}, {0: 0, 1: 1, 3: 1}, False),
        ([[1, 4], [2, 4], [3], [4], []], {1}, {0: 0, 1: 1, 3: 2}, True),
    ],
)
def test_known_graphs_bring_values(
    edges: Edges, divergent: set[int], values: dict[int, int], parts: bool
) -> None:
    found = schedule(function_of(edges))
    (block,) = (b for b in found.order if sum(b.index in t for t in edges) == len(values))
    assert Convergence(found).parts(block, values, divergent) == parts


def of_one_loop(found: Schedule, before: dict[int, int]) -> dict[int, int]:
    """For a block, the closest block in its chain that has the same innermost loop."""
    result: dict[int, int] = {}
    for index in before:
        above: int | None = before[index]
        while above is not None and found.loop_of[above] is not found.loop_of[index]:
            above = before.get(above)
        if above is not None:
            result[index] = above
    return result


@settings(max_examples=300, deadline=None)
@given(graphs())
def test_same_lanes_run_both_blocks(edges: Edges) -> None:
    found = schedule(function_of(edges))
    pairs = of_one_loop(found, Convergence(found).same_lanes())
    for seed in range(20):
        walk = Walk(found, {b.index for b in found.order}, random.Random(seed))
        walk.run()
        last: dict[int, frozenset[int]] = {}
        for block, lanes in walk.runs:
            assert block not in pairs or last.get(pairs[block]) == lanes
            last[block] = lanes


@pytest.mark.parametrize(
    ("edges", "same"),
    [
        ([[1, 2], [3], [3], []], {3: 0}),
        ([[1], [2, 3], [3], [1, 4], []], {1: 0, 3: 1, 4: 0}),
        # lanes that begin the loop again in its middle do not come to its end
        ([[1], [2, 3], [1, 3], [1, 4], []], {1: 0, 4: 0}),
        ([[1], [1, 2], [1, 3], []], {1: 0, 3: 0}),
    ],
)
def test_known_graphs_have_the_same_lanes(edges: Edges, same: dict[int, int]) -> None:
    found = schedule(function_of(edges))
    chain, result = Convergence(found).same_lanes(), dict[int, int]()
    for index in chain:
        above = chain[index]
        while found.loop_of[above] is not found.loop_of[index] and above in chain:
            above = chain[above]
        result[index] = above
    assert result == same


@settings(max_examples=100, deadline=None)
@given(graphs())
def test_what_is_plain_is_among_all(edges: Edges) -> None:
    found = schedule(function_of(edges))
    convergence = Convergence(found)
    for block in found.order:
        if len(block.successors()) > 1:
            assert set(convergence.met(block)) <= convergence.joins({block.index})


@pytest.mark.parametrize(
    ("edges", "divergent", "joins", "leaving"),
    [
        ([[1, 2], [3], [3], []], {0}, {3}, set[int]()),
        ([[1, 2], [3], [3], []], set[int](), set[int](), set[int]()),
        # an if within a branch that keeps the warp together: lanes meet after the inner one only
        ([[1, 5], [2, 3], [4], [4], [6], [6], []], {1}, {4}, set[int]()),
        ([[1, 5], [2, 3], [4], [4], [6], [6], []], {0, 1}, {4, 6}, set[int]()),
        # one side of the inner branch leaves for where the outer sides meet
        ([[1, 4], [2, 4], [3], [4], []], {1}, {4}, set[int]()),
        # a loop: left together, left by each lane at its time, with an if in it
        ([[1], [1, 2], []], set[int](), set[int](), set[int]()),
        ([[1], [1, 2], []], {1}, {2}, {1}),
        ([[1], [2, 3], [4], [4], [1, 5], []], {1}, {4}, set[int]()),
        # two loops within each other: the inner one is left by degrees, all lanes are together before the end
        ([[1], [2], [2, 3], [1, 4], []], {2}, {3}, {2}),
        ([[1], [2], [2, 3], [1, 4], []], {3}, {4}, {1}),
        # out of both loops at once
        ([[1], [2], [2, 3, 4], [1, 4], []], {2}, {3, 4}, {1, 2}),
    ],
)
def test_known_graphs(edges: Edges, divergent: set[int], joins: set[int], leaving: set[int]) -> None:
    found = schedule(function_of(edges))
    convergence = Convergence(found)
    met = {i for i in convergence.joins(divergent) if sum(i in t for t in edges) > 1 or i in joins}
    assert met == joins
    assert left(convergence, found, divergent) == leaving


def test_many_branches_to_one_place() -> None:
    n = 3000
    edges = [*([i + 1, n] for i in range(n)), []]
    found = schedule(function_of(edges))
    assert n in Convergence(found).joins({n // 2})
