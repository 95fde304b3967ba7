"""Where lanes may wait against its definition, on random graphs; and the work that finding it takes."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from simt.analysis.pending import Pending, first_of, members, set_of
from simt.analysis.program import Barrier, Block, Constant, Jump
from simt.analysis.schedule import schedule
from simt.ptx.types import TYPES
from tests.unit.analysis.graphs import Edges, ends, function_of, graphs

Sets = dict[int, set[int]]


def made(
    edges: Edges,
    divergent: set[int],
    barriers: dict[int, int],
    waiting: set[int],
    meetings: set[int],
    gated: bool,
) -> Pending:
    """`barriers`: the number of the barrier at the end of blocks with one successor. `waiting`: headers.
    `meetings`: blocks in which lanes wait for their warp; if `gated`, for some of it."""
    function = function_of(edges)
    for index, number in barriers.items():
        jump = function.blocks[index].terminator
        if isinstance(jump, Jump):
            function.blocks[index].terminator = Barrier(
                "sync", Constant(TYPES["u32"], number), None, jump.target
            )
    order = schedule(function)
    parting = {b.index for b in order.order if b.index in divergent and len(b.successors()) > 1}
    loops = [x for x in order.loops if x.header.index in waiting]
    if gated:
        return Pending(order, parting, loops, gates=dict.fromkeys(meetings & order.position.keys()))
    return Pending(order, parting, loops, [b for b in order.order if b.index in meetings])


class Model:
    """What may wait where, as the pages of `simt.analysis.pending` define it: every look at every place."""

    def __init__(self, pending: Pending) -> None:
        self.pending = pending
        self.at: Sets = {b.index: set() for b in pending.schedule.order}
        self.ran = {pending.schedule.order[0].index}
        self.changed = True
        self.looks: set[tuple[frozenset[int], int | None]] = set()
        self.held: dict[int, Block] = {}
        self.released: set[int] = set()
        while self.changed:
            self.changed = False
            self.looks.clear()
            for block in pending.schedule.order:
                if block.index in self.ran:
                    waiting = set_of(self.at[block.index])
                    self.hold(pending.gate_after(block, waiting))
                    for outcome in pending.outcomes(block, waiting):
                        self.look(self.at[block.index] | set(members(outcome.places)), outcome.sure)

    def hold(self, gate: Block | None) -> None:
        if gate is not None and gate.index not in self.held:
            self.held[gate.index] = gate
            self.changed = True

    def release(self, waiting: set[int]) -> None:
        """One piece of code for all that lanes in the hold may go to, wherever they leave it."""
        self.released |= waiting
        for gate in self.held.values():
            self.run(gate, self.released)

    def look(self, waiting: set[int], sure: int | None) -> None:
        if (frozenset(waiting), sure) in self.looks:
            return
        self.looks.add((frozenset(waiting), sure))
        for place in sorted(waiting):
            if sure is None or place <= sure:
                self.take(place, {other for other in waiting if other > place})

    def take(self, place: int, beyond: set[int]) -> None:
        if place == self.pending.hold:
            self.release(beyond | {place})
            return
        if self.pending.parked(place) is None:
            if self.pending.yielded(place) and self.pending.hold in beyond:
                self.release(beyond | {place})
            self.run(self.pending.target(place), beyond)
            for other in beyond:
                if self.pending.yielded(place) and self.pending.yielded(other):
                    self.run(self.pending.target(other), beyond - {other} | {place})
            resting = self.pending.yield_of(place)
            if resting is not None:
                self.look(beyond | {resting}, resting)
            return
        outcome = self.pending.resumed(place, set_of(beyond))
        going = set(members(outcome.places))
        if self.pending.by_number and beyond:
            self.look(going | {place} | beyond, None)
        else:
            self.look(going, outcome.sure)

    def run(self, block: Block, waiting: set[int]) -> None:
        self.changed |= block.index not in self.ran or not waiting <= self.at[block.index]
        self.ran.add(block.index)
        self.at[block.index] |= waiting


SOME = st.sets(st.integers(0, 8))


@settings(max_examples=400, deadline=None)
@given(
    graphs(),
    SOME,
    st.dictionaries(st.integers(0, 8), st.integers(0, 1), max_size=4),
    SOME,
    SOME,
    st.booleans(),
)
def test_places_are_those_of_the_definition(
    edges: Edges,
    divergent: set[int],
    barriers: dict[int, int],
    waiting: set[int],
    meetings: set[int],
    gated: bool,
) -> None:
    barriers = {b: n for b, n in barriers.items() if b < len(edges)}
    pending = made(edges, divergent, barriers, waiting, meetings, gated)
    wanted = Model(pending).at
    found = {index: set(members(places)) for index, places in pending.at.items()}
    if all(ends(edges, block.index) for block in pending.schedule.order):
        assert found == wanted
    else:  # lanes that never come out of a loop take along what waits beyond it
        assert all(found[index] >= places for index, places in wanted.items())


def test_sets() -> None:
    assert set_of([5, 0, 70]) == 1 | 1 << 5 | 1 << 70
    assert list(members(set_of([70, 5]))) == [5, 70]
    assert first_of(set_of([70, 5])) == 5
