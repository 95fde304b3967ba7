"""Where else lanes of a warp may be waiting while it runs a block.

The *places* of a warp's line are the schedule's slots (blocks and loop latches) and, after all of
them, one yield for each loop that waits for other threads, one meeting place for each block in which lanes
wait for their whole warp (or the *hold*, see below), and one park for each barrier. Lanes that went round a
waiting loop for long are put to its yield, so that others of their warp run first; but none of them run a
block with a meeting place then, since the lanes in the loop must come there too, or end. Lanes that arrived
at a barrier wait in its park until nothing else of the warp can run.

Where an instruction waits for lanes by a mask that is known only when it runs, all blocks with instructions
that wait are *gates* (`simt.analysis.meetings`). Lanes run them in the line's order, as other blocks. But
those that wait for a lane at a yield, or for one in the hold, stay in the hold, one place for all gates.
Before lanes at a yield go on, those in the hold do that wait for no such lane any more.

After a block the warp goes to the first place with waiting lanes. Here that is worked out ahead of
time as far as possible, so that compiled code tests only places that can hold lanes, and none at all
where control flow is uniform.

Sets of places are integers, a bit for each: most blocks share nearly all of theirs with the next, and
there may be as many places as blocks.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from simt.analysis.program import BARRIERS, Barrier, Block, Branch, Constant, Jump, Op, Switch
from simt.analysis.schedule import Loop, Schedule
from simt.records import dataclass


@dataclass(frozen=True, slots=True)
class Outcome:
    """One way to leave a block: lanes go to `places`; if all earlier places are found empty, lanes
    surely wait at `sure` (None: no lane is left by this outcome)."""

    places: int
    sure: int | None


def set_of(places: Iterable[int]) -> int:
    """The set of some places."""
    found = 0
    for place in places:
        found |= 1 << place
    return found


def first_of(places: int) -> int:
    """The first place of a set that is not empty."""
    return (places & -places).bit_length() - 1


def members(places: int) -> Iterator[int]:
    """The places of a set, in order."""
    while places:
        yield first_of(places)
        places &= places - 1


def stops(block: Block) -> bool:
    """Whether lanes wait at the block's end, for other threads of the CTA (`bar.arrive` does not)."""
    return isinstance(block.terminator, Barrier) and block.terminator.action != "arrive"


def _by_number(blocks: Sequence[Block]) -> bool:
    """Whether there is more than `bar.sync` of all threads at one barrier."""
    found = [b.terminator for b in blocks if isinstance(b.terminator, Barrier)]
    numbers = {b.barrier.bits if isinstance(b.barrier, Constant) else None for b in found}
    plain = all(b.action == "sync" and b.count is None for b in found)
    return bool(found) and not (plain and len(numbers) == 1 and numbers <= set(range(BARRIERS)))


class Pending:
    """`at[block index]`: the set of places that may hold waiting lanes while the block runs.

    `by_number`: barriers complete one by one, so that of several parks of a warp some may open. `parting`:
    lanes may leave loops that wait for other threads at different times (`simt.analysis.waiting` finds out).
    `line`: how many places the schedule has; yields, meeting places and parks come after them. `places`: how
    many there are in all. `meetings`: blocks with meeting places. `gates`: by block index, with the
    instruction whose mask says which lanes are waited for (None: all). `held`: those gates for which lanes
    may be in the hold. `hold`: that place, if there are gates. `at_rest`: it and the yields.
    """

    def __init__(
        self,
        schedule: Schedule,
        divergent: set[int],
        waiting: Sequence[Loop] = (),
        meetings: Sequence[Block] = (),
        gates: Mapping[int, Op | None] = MappingProxyType({}),
    ) -> None:
        self.schedule = schedule
        self.divergent = divergent
        self.meetings = list(meetings)
        self.barriers = [b for b in schedule.order if stops(b)]
        self._place = {id(s): i for i, s in enumerate(schedule.slots)}
        self._latch = {x.header.index: i for i, x in enumerate(schedule.slots) if isinstance(x, Loop)}
        self.waiting = list(waiting)
        self.parting = bool(self.waiting)
        self.by_number = _by_number(schedule.order)
        self.line = first = len(schedule.slots)
        self._yield = {x.header.index: first + i for i, x in enumerate(self.waiting)}
        self._first_meeting = first + len(self.waiting)
        self.gates = gates
        self.hold = self._first_meeting + len(self.meetings) if gates else None
        self._first_park = self._first_meeting + len(self.meetings) + bool(gates)
        self._meeting = {b.index: self._first_meeting + i for i, b in enumerate(self.meetings)}
        self._park = {b.index: self._first_park + i for i, b in enumerate(self.barriers)}
        self.places = self._first_park + len(self.barriers)
        yields = set_of(self._yield.values())
        self.at_rest = yields if self.hold is None else yields | 1 << self.hold
        flow = _Flow(self)
        self.at, self.held = flow.solve(), list(flow.held.values())

    # -- places ----------------------------------------------------------------------------
    def of_edge(self, source: Block, target: Block) -> int:
        """The place at which lanes wait that take an edge."""
        latch = self._latch[target.index] if self.schedule.is_back_edge(source, target) else None
        if target.index in self._meeting and (latch is None or target.index not in self._yield):
            return self._meeting[target.index]
        return self._place[id(target)] if latch is None else latch

    def of_block(self, block: Block) -> int:
        return self._place[id(block)]

    def of_barrier(self, block: Block) -> int:
        return self._park[block.index]

    def parked(self, place: int) -> Block | None:
        """The barrier block whose park a place is."""
        index = place - self._first_park
        return self.barriers[index] if index >= 0 else None

    def is_header(self, block: Block) -> bool:
        """Whether lanes come back to the block by an edge."""
        return block.index in self._latch

    def met(self, place: int) -> Block | None:
        """The block whose meeting place a place is."""
        index = place - self._first_meeting
        return self.meetings[index] if 0 <= index < len(self.meetings) else None

    def gate_after(self, block: Block, waiting: int) -> Block | None:
        """The gate to which a block leads, if lanes may be waiting that hold others up there."""
        target = block.terminator.target if isinstance(block.terminator, Jump) else None
        if target is None or target.index not in self.gates or not waiting & self.at_rest:
            return None
        return None if self.schedule.is_back_edge(block, target) else target

    def yielded(self, place: int) -> Loop | None:
        """The loop whose yield a place is."""
        index = place - len(self.schedule.slots)
        return self.waiting[index] if 0 <= index < len(self.waiting) else None

    def in_turn(self, place: int, beyond: int) -> list[int]:
        """Yields that take turns with the one that is a place, of those beyond it."""
        return [p for p in members(beyond) if self.yielded(place) and self.yielded(p)]

    def yield_of(self, place: int) -> int | None:
        """The yield of the loop whose latch a place is, if the loop waits for other threads."""
        slot = self.schedule.slots[place] if place < len(self.schedule.slots) else None
        return self._yield.get(slot.header.index) if isinstance(slot, Loop) else None

    def target(self, place: int) -> Block:
        """The block that runs next when lanes wait at a place (no park, and not the hold)."""
        slot = self.yielded(place) or self.met(place) or self.schedule.slots[place]
        return slot.header if isinstance(slot, Loop) else slot

    def next_blocks(self, place: int) -> list[Block]:
        """The blocks that lanes at a place may run next."""
        barrier = self.parked(place)
        if place == self.hold:
            return self.held
        return [self.target(place) if barrier is None else barrier.successors()[0]]

    # -- flow ------------------------------------------------------------------------------
    def outcomes(self, block: Block, waiting: int) -> list[Outcome]:
        """The ways to leave a block while lanes may wait at some places; several only for branches that keep
        the warp together, and before gates."""
        gate = self.gate_after(block, waiting)
        if gate is not None and self.hold is not None:
            place = self.of_edge(block, gate)
            return [Outcome(1 << place, place), Outcome(1 << place | 1 << self.hold, self.hold)]
        match block.terminator:
            case Barrier(next=n):
                targets = [self._park[block.index] if stops(block) else self.of_edge(block, n)]
            case Jump(target=t):
                targets = [self.of_edge(block, t)]
            case Branch() | Switch():
                targets = [self.of_edge(block, t) for t in block.successors()]
            case _:
                return [Outcome(0, None)]
        if block.index in self.divergent:
            return [Outcome(set_of(targets), max(targets))]
        return [Outcome(1 << place, place) for place in targets]

    def walk(self, waiting: int, sure: int | None) -> Iterator[tuple[int, int]]:
        """Places that may be the first with lanes, in order, each with what may wait beyond it."""
        while waiting:
            place = first_of(waiting)
            if sure is not None and place > sure:
                return
            waiting &= waiting - 1
            yield place, waiting

    def resumed(self, place: int, beyond: int) -> Outcome:
        """When a warp is released at a park, the lanes of all its parks go on."""
        parks = [place, *members(beyond)]
        blocks = [b for p in parks if (b := self.parked(p)) is not None]
        targets = [self._place[id(b.successors()[0])] for b in blocks]
        return Outcome(set_of(targets), targets[0])


class _Flow:
    """Finds what may wait where: the least sets that hold all that the code can come to.

    The code looks for lanes at one place after the other. Here a look goes only as far as the first place
    that may have lanes, and from there on to the next: `beyond[place]` is what may wait after a place that
    is looked at, `bound[place]` the last place that may be looked at if this one is empty. A place may be
    reached by many looks; what they can find is put together, which adds nothing: lanes that run from
    the place take along what waits beyond it, whoever left it there. So there are as many steps as places,
    not as pairs of them. They are taken in the line's order, over and over until nothing changes; what a
    loop's latch brings back takes a second turn, whatever the depth of loops.
    """

    def __init__(self, pending: Pending) -> None:
        self.pending = pending
        self.at = {b.index: 0 for b in pending.schedule.order}
        self.beyond: dict[int, int] = {}
        self.bound: dict[int, int] = {}
        self.ran: set[int] = set()
        self.looked: set[tuple[int, int]] = set()
        self.held: dict[int, Block] = {}
        self.released = 0
        self.here = -1
        self.turn: list[int] = []
        self.next_turn: list[int] = []
        self.due: set[int] = set()
        self.steps = 0

    def solve(self) -> dict[int, int]:
        self._reach(0, 0, 0)
        while self.turn or self.next_turn:
            if not self.turn:
                self.turn, self.next_turn, self.here = self.next_turn, [], -1
                heapq.heapify(self.turn)
            self.here = heapq.heappop(self.turn)
            self.due.remove(self.here)
            self.steps += 1
            self._step(self.here)
        return self.at

    def _demand(self, place: int) -> None:
        if place in self.due:
            return
        self.due.add(place)
        if place > self.here:
            heapq.heappush(self.turn, place)
        else:
            self.next_turn.append(place)

    def _reach(self, place: int, beyond: int, bound: int) -> None:
        """A place of the line is looked at."""
        known = self.beyond.get(place)
        if known is None or beyond & ~known or bound > self.bound[place]:
            self.beyond[place] = beyond | (known or 0)
            self.bound[place] = max(bound, self.bound.get(place, 0))
            self._demand(place)

    def _step(self, place: int) -> None:
        slot, beyond = self.pending.schedule.slots[place], self.beyond.get(place, 0)
        if isinstance(slot, Loop):
            self._turn_back(slot, place, beyond)
        else:
            self.ran.add(slot.index)
            self.at[slot.index] |= beyond
            gate = self.pending.gate_after(slot, self.at[slot.index])
            if gate is not None:
                self._hold(gate)
            for outcome in self.pending.outcomes(slot, self.at[slot.index]):
                self._leave(self.at[slot.index] | outcome.places, outcome.sure)
        if self.bound.get(place, 0) > place:
            self._look(beyond, self.bound[place])

    def _turn_back(self, loop: Loop, latch: int, beyond: int) -> None:
        self._run(loop.header, beyond)
        resting = self.pending.yield_of(latch)
        if resting is not None:
            self._leave(beyond | 1 << resting, resting)

    def _hold(self, gate: Block) -> None:
        if gate.index not in self.held:
            self.held[gate.index] = gate
            if self.released:
                self._run(gate, self.released)

    def _release(self, waiting: int) -> None:
        """Lanes in the hold go on, some or all, from whichever gate they came to."""
        if waiting & ~self.released:
            self.released |= waiting
            for gate in self.held.values():
                self._run(gate, self.released)

    def _run(self, block: Block, waiting: int) -> None:
        """A block runs that was not looked for at its own place."""
        if block.index not in self.ran or waiting & ~self.at[block.index]:
            self.at[block.index] |= waiting
            self._demand(self.pending.of_block(block))

    def _look(self, waiting: int, bound: int) -> None:
        """Goes to the first of the places, if that is one of the line."""
        place = first_of(waiting)
        if 0 <= place < self.pending.line and place <= bound:
            self._reach(place, waiting & (waiting - 1), bound)

    def _leave(self, waiting: int, sure: int | None) -> None:
        """The code looks for lanes after a block."""
        bound = self.pending.places if sure is None else sure
        self._look(waiting, bound)
        off_line = waiting >> self.pending.line << self.pending.line
        if off_line and first_of(off_line) <= bound and (off_line, bound) not in self.looked:
            self.looked.add((off_line, bound))
            for place, beyond in self.pending.walk(off_line, bound):
                self._go_on(place, beyond)

    def _go_on(self, place: int, beyond: int) -> None:
        """Nothing else of the warp can run: lanes at a park, yield or meeting place, or in the hold go on."""
        hold = 0 if self.pending.hold is None else 1 << self.pending.hold
        if 1 << place == hold or (beyond & hold and self.pending.yielded(place)):
            self._release(beyond | 1 << place)
        if 1 << place == hold:
            return
        if self.pending.parked(place) is None:
            self._run(self.pending.target(place), beyond)
            for other in self.pending.in_turn(place, beyond):
                self._run(self.pending.target(other), beyond & ~(1 << other) | 1 << place)
            return
        outcome = self.pending.resumed(place, beyond)
        if self.pending.by_number and beyond:  # those alone at one barrier go on together
            self._leave(outcome.places | 1 << place | beyond, None)
        else:
            self._leave(outcome.places, outcome.sure)
