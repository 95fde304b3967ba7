"""Where lanes that a branch parts come together again, and which loops they leave at different times.

One turn of every loop is looked at as a graph without cycles: its nodes are the schedule's slots, numbered
as there. A branch back to a header leads to the loop's latch; the latch leads to wherever the loop can be
left, for there the lanes come to at last that go round again.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Iterator, Mapping, Set

from simt.analysis.dominance import EXIT, Tree, immediate
from simt.analysis.program import Block
from simt.analysis.schedule import Loop, Schedule

FAR = 64
"""Slots between a block and its dominator beyond which it is not looked at what lanes bring from there."""


class Convergence:
    """Answers for one function. `divergent`: indices of blocks whose branch may part the lanes of a warp."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self._slot = {id(s): i for i, s in enumerate(schedule.slots)}
        self._latch = {s.header.index: i for i, s in enumerate(schedule.slots) if isinstance(s, Loop)}
        self._targets = self._edges()
        # In loops with several entries lanes that any branch parts may be in different turns from the start.
        self.entered_anywhere = self._with_entries()
        self._sources: dict[int, list[int]] = {}
        for source, targets in self._targets.items():
            for target in targets:
                self._sources.setdefault(target, []).append(source)
        self._above = immediate(0, self._targets, self._sources)
        self._after = immediate(EXIT, self._sources, self._targets)
        self._meeting: dict[int, list[int]] = {}
        for slot, sources in self._sources.items():
            if len(sources) > 1 and slot != EXIT:
                self._meeting.setdefault(self._above[slot], []).append(slot)

    def loops_left(self, branch: Block) -> Iterator[Loop]:
        """Loops that lanes which a branch parts may leave in different turns: they are not together again
        before the turn ends or the loop is left. (Others than those of `entered_anywhere`.)"""
        together = self._after[self._slot[id(branch)]]
        loop = self.schedule.loop_of[branch.index]
        while loop is not None and (together == EXIT or together > self._latch[loop.header.index]):
            yield loop
            loop = loop.parent

    def met(self, branch: Block) -> Iterator[int]:
        """Indices of blocks to which lanes come by different edges at once if the branch parts them, as far
        as that is plain: every way there leads through the branch, and no other block is on all of them."""
        for slot in self._meeting.get(self._slot[id(branch)], ()):
            yield self._block(slot).index

    def joins(self, divergent: Set[int]) -> set[int]:
        """Indices of all blocks to which lanes may come by different edges at once."""
        slots = {self._slot[id(b)] for b in self.schedule.order if b.index in divergent}
        before = [0]  # how many divergent branches there are before each slot
        for slot in range(len(self.schedule.slots)):
            before.append(before[-1] + (slot in slots))
        return {
            self._block(slot).index
            for above, meeting in self._meeting.items()
            for slot in meeting
            if above in slots or (before[slot] > before[above] and self._is_join(slot, above, slots))
        }

    def parts(self, block: Block, values: Mapping[int, Hashable], divergent: Set[int]) -> bool:
        """Whether lanes that a divergent branch parted may come to a block with different values. `values`:
        what lanes bring, by the index of the block from which they come; nothing that loops make which they
        leave there. (Yes, if it would take long to find out.)"""
        target = self._slot[id(block)]
        above = self._above[target]
        if len(set(values.values())) == 1:
            return False
        if block.index in self._latch or target - above > FAR:
            return True
        brought: dict[int, set[Hashable]] = {}  # by slots from which the target can be reached
        labels: dict[int, Hashable] = {}  # the first slot that ways from there do not have in common
        for slot in range(target - 1, above - 1, -1):
            ways = {s for s in self._targets[slot] if s == target or s in labels}
            if not ways:
                continue
            kinds = {s: self._brought(slot, values) if s == target else brought[s] for s in ways}
            brought[slot] = set[Hashable]().union(*kinds.values())
            ends = {frozenset(kinds[s]) if s == target else labels[s] for s in ways}
            if len(ends) > 1 and len(brought[slot]) > 1 and self._block(slot).index in divergent:
                return True
            labels[slot] = ends.pop() if len(ends) == 1 else slot
        return False

    def _brought(self, slot: int, values: Mapping[int, Hashable]) -> set[Hashable]:
        """What lanes bring from a slot straight to where the values are wanted."""
        place, position = self.schedule.slots[slot], self.schedule.position
        if isinstance(place, Loop):
            return {v for source, v in values.items() if place.first <= position[source] <= place.last}
        return {values[place.index]}

    def same_lanes(self) -> dict[int, int]:
        """For a block, the last block before it that exactly the same lanes run in each turn of the loops
        around both: it dominates the block and is post-dominated by it, in one turn. Chains of these lead to
        all such blocks."""
        tree, found = Tree(self._above), dict[int, int]()
        for block in self.schedule.order:
            slot = self._slot[id(block)]
            after = self._after[slot]
            if after == EXIT or isinstance(self.schedule.slots[after], Loop):
                continue
            if tree.dominates(slot, after):
                found[self._block(after).index] = block.index
        return found

    def _block(self, slot: int) -> Block:
        place = self.schedule.slots[slot]
        return place.header if isinstance(place, Loop) else place

    def _is_join(self, target: int, above: int, divergent: Set[int]) -> bool:
        """Whether two ways to `target`, with nothing in common but where they begin, begin at a divergent
        branch. Goes back over all ways; a label names the last place that ways have in common so far."""
        labels: dict[int, int] = {}
        heap: list[int] = []
        arrivals = [(source, source) for source in self._sources[target]]
        while True:
            for slot, label in arrivals:
                if slot not in labels:
                    labels[slot] = label
                    heapq.heappush(heap, -slot)
                elif labels[slot] != label:
                    if slot in divergent:
                        return True
                    labels[slot] = slot
            if not heap or -heap[0] <= above:
                return False
            slot = -heapq.heappop(heap)
            arrivals = [(source, labels[slot]) for source in self._before(slot, above)]

    def _before(self, slot: int, above: int) -> list[int]:
        """Where the ways to a slot come from; what lies between a branch and where all its ways end is
        passed over: ways that begin in there meet in there."""
        start = self._above[slot]
        return [start] if start >= above and self._after[start] == slot else self._sources[slot]

    def _edges(self) -> dict[int, list[int]]:
        found: dict[int, dict[int, None]] = {}
        for block in self.schedule.order:
            targets = found.setdefault(self._slot[id(block)], {})
            for successor in block.successors():
                loop = self.schedule.loop_of[block.index]
                slot = self._of_edge(block, successor)
                targets[slot] = None
                while loop is not None and slot > self._latch[loop.header.index]:
                    found.setdefault(self._latch[loop.header.index], {})[slot] = None
                    loop = loop.parent
        slots = range(len(self.schedule.slots))
        return {slot: list(found.get(slot, ())) or [EXIT] for slot in slots}

    def _with_entries(self) -> list[Loop]:
        """Loops that can be entered elsewhere than at their header."""
        found: dict[int, Loop] = {}
        position = self.schedule.position
        for block in self.schedule.order:
            for successor in block.successors():
                loop = self.schedule.loop_of[successor.index]
                while loop is not None and not loop.first <= position[block.index] <= loop.last:
                    if loop.header is not successor:
                        found[loop.header.index] = loop
                    loop = loop.parent
        return list(found.values())

    def _of_edge(self, source: Block, target: Block) -> int:
        if self.schedule.is_back_edge(source, target):
            return self._latch[target.index]
        return self._slot[id(target)]
