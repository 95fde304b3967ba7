"""Where else lanes of a warp may be waiting while it runs a block.

The *places* of a warp's line are the schedule's slots (blocks and loop latches) and, after all of
them, one yield for each loop that waits for other threads, and one park for each barrier. Lanes that
went round a waiting loop for long are put to its yield, so that others of their warp run first; lanes
that arrived at a barrier wait in its park until nothing else of the warp can run.

After a block the warp goes to the first place with waiting lanes. Here that is worked out ahead of
time as far as possible, so that compiled code tests only places that can hold lanes, and none at all
where control flow is uniform.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from simt.analysis.program import BARRIERS, Barrier, Block, Branch, Constant, Jump, Switch
from simt.analysis.schedule import Loop, Schedule


@dataclass(frozen=True, slots=True)
class Outcome:
    """One way to leave a block: lanes go to `places`; if all earlier places are found empty, lanes
    surely wait at `sure` (None: no lane is left by this outcome)."""

    places: tuple[int, ...]
    sure: int | None


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
    """`at[block index]`: places that may hold waiting lanes while the block runs.

    `by_number`: barriers complete one by one, so that a part of a warp's parks may open.
    """

    def __init__(self, schedule: Schedule, divergent: set[int], waiting: Sequence[Loop] = ()) -> None:
        self.schedule = schedule
        self.divergent = divergent
        self.barriers = [b for b in schedule.order if stops(b)]
        self._place = {id(s): i for i, s in enumerate(schedule.slots)}
        self._latch = {x.header.index: i for i, x in enumerate(schedule.slots) if isinstance(x, Loop)}
        self.waiting = list(waiting)
        self.by_number = _by_number(schedule.order)
        self._resumed: set[tuple[int, frozenset[int]]] = set()
        self._advanced: set[tuple[frozenset[int], int | None]] = set()
        first = len(schedule.slots)
        self._yield = {x.header.index: first + i for i, x in enumerate(self.waiting)}
        self._park = {b.index: first + len(self.waiting) + i for i, b in enumerate(self.barriers)}
        self.at: dict[int, frozenset[int]] = {b.index: frozenset() for b in schedule.order}
        self._solve()

    # -- places ----------------------------------------------------------------------------
    def of_edge(self, source: Block, target: Block) -> int:
        """The place at which lanes wait that take an edge."""
        if self.schedule.is_back_edge(source, target):
            return self._latch[target.index]
        return self._place[id(target)]

    def of_block(self, block: Block) -> int:
        return self._place[id(block)]

    def of_barrier(self, block: Block) -> int:
        return self._park[block.index]

    def parked(self, place: int) -> Block | None:
        """The barrier block whose park a place is."""
        index = place - len(self.schedule.slots) - len(self.waiting)
        return self.barriers[index] if index >= 0 else None

    def yielded(self, place: int) -> Loop | None:
        """The loop whose yield a place is."""
        index = place - len(self.schedule.slots)
        return self.waiting[index] if 0 <= index < len(self.waiting) else None

    def yield_of(self, place: int) -> int | None:
        """The yield of the loop whose latch a place is, if the loop waits for other threads."""
        slot = self.schedule.slots[place] if place < len(self.schedule.slots) else None
        return self._yield.get(slot.header.index) if isinstance(slot, Loop) else None

    def target(self, place: int) -> Block:
        """The block that runs next when lanes wait at a place (not a park)."""
        slot = self.yielded(place) or self.schedule.slots[place]
        return slot.header if isinstance(slot, Loop) else slot

    # -- flow ------------------------------------------------------------------------------
    def outcomes(self, block: Block) -> list[Outcome]:
        """The ways to leave a block; several only for branches that keep the warp together."""
        match block.terminator:
            case Barrier(next=n):
                targets = [self._park[block.index] if stops(block) else self.of_edge(block, n)]
            case Jump(target=t):
                targets = [self.of_edge(block, t)]
            case Branch() | Switch():
                targets = [self.of_edge(block, t) for t in block.successors()]
            case _:
                return [Outcome((), None)]
        if block.index in self.divergent:
            return [Outcome(tuple(sorted(set(targets))), max(targets))]
        return [Outcome((place,), place) for place in targets]

    def walk(self, waiting: frozenset[int], sure: int | None) -> Iterator[tuple[int, frozenset[int]]]:
        """Places that may be the first with lanes, in order, each with what may wait beyond it."""
        beyond = waiting
        for place in sorted(waiting if sure is None else [p for p in waiting if p <= sure]):
            beyond = beyond.difference((place,))
            yield place, beyond

    def resumed(self, place: int, beyond: frozenset[int]) -> Outcome:
        """When a warp is released at a park, the lanes of all its parks go on."""
        parks = [place, *sorted(beyond)]
        blocks = [b for p in parks if (b := self.parked(p)) is not None]
        targets = [self._place[id(b.successors()[0])] for b in blocks]
        return Outcome(tuple(sorted(set(targets))), targets[0])

    def _resume(self, place: int, beyond: frozenset[int], seen: set[int]) -> list[Block]:
        if (place, beyond) in self._resumed:
            return []
        self._resumed.add((place, beyond))
        outcome = self.resumed(place, beyond)
        if not self.by_number:
            return self._advance(frozenset(outcome.places), outcome.sure, seen)
        return self._advance(frozenset(outcome.places) | {place} | beyond, None, seen)

    def _solve(self) -> None:
        work = [self.schedule.order[0]]
        seen: set[int] = set()
        while work:
            block = work.pop()
            seen.add(block.index)
            for outcome in self.outcomes(block):
                work += self._advance(self.at[block.index] | frozenset(outcome.places), outcome.sure, seen)

    def _advance(self, waiting: frozenset[int], sure: int | None, seen: set[int]) -> list[Block]:
        """Adds what may wait to every block that may run next; returns those to look at again."""
        changed: list[Block] = []
        for place, beyond in self.walk(waiting, sure):
            if self.parked(place) is not None:
                changed += self._resume(place, beyond, seen)
                continue
            resting = self.yield_of(place)
            if resting is not None and resting not in beyond:
                changed += self._advance(beyond | {resting}, resting, seen)
            block = self.target(place)
            if block.index not in seen or not beyond <= self.at[block.index]:
                self.at[block.index] = self.at[block.index] | beyond if self.at[block.index] else beyond
                seen.add(block.index)
                changed.append(block)
            if (beyond, sure) in self._advanced:  # many walks of a switch end alike
                break
            self._advanced.add((beyond, sure))
        return changed
