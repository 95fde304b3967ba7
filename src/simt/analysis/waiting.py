"""Where lanes wait for other threads: at spin locks and flags, at barriers that part of a warp comes to.

On devices from 7.0 on, a waiting loop must not keep the lanes that it waits for from running, even if they
belong to the same warp. Both make parts of a warp run the same blocks at different times.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Set
from functools import partial
from typing import TYPE_CHECKING

from simt.analysis.call_graph import reachable
from simt.analysis.meetings import gates, meeting_blocks
from simt.analysis.observer import Observer
from simt.analysis.pending import Pending, members, stops
from simt.analysis.program import Block, Call, Function, Op
from simt.analysis.rounds import barrier_loops
from simt.analysis.schedule import Loop
from simt.analysis.shape import BlockShape
from simt.analysis.ssa import Definition, Ssa, uses
from simt.analysis.uniformity import Uniformity, analyse
from simt.imports import Later
from simt.isa.algebra import Environment

if TYPE_CHECKING:
    from simt.analysis import counted, retrying
else:
    counted = Later("simt.analysis.counted")
    retrying = Later("simt.analysis.retrying")


def waiting_loops(ssa: Ssa, environment: Environment, functions: Mapping[str, Function]) -> list[Loop]:
    """Loops whose end depends on memory that other threads may change while the loop runs.

    Code that is not optimised puts what it read into a variable of the thread's own first, or lets another
    function look at it; and one thread may read for its CTA, and put what it read into shared memory. So in a
    loop that reads such memory, such variables and results of calls count too.

    A loop with a barrier in every turn, which looks at nothing but shared memory, is none of them: others run
    while its threads wait at the barrier. Nor are loops that go on only while what they read is new.
    """
    found = _Observations(ssa, environment, functions)
    if not found.observing:
        return []
    sources, at_barriers = _sources(ssa), barrier_loops(ssa.schedule)
    ends, tries = counted.CountedEnds(ssa, environment), retrying.Retries(ssa, environment, sources)
    return [
        loop
        for loop in ssa.schedule.loops
        if (observed := found.within(loop))
        and not (loop.header.index in at_barriers and found.is_own(loop))
        and _ends_by(loop, ssa, sources, observed, partial(_is_free, ends, found.direct_in(loop)))
        and not tries.is_one(loop, found.direct_in(loop))
    ]


class _Observations:
    """What the loops of a function read, by block index. `direct`: what other threads may change;
    `carried`: what may have been that before. `observing`: blocks that read what others may change, or call
    what does; `beyond`: those that do so elsewhere than in shared memory."""

    def __init__(self, ssa: Ssa, environment: Environment, functions: Mapping[str, Function]) -> None:
        self.ssa = ssa
        self.observer = Observer(environment)
        self.functions = functions
        self.direct: dict[int, set[Definition]] = {}
        self.carried: dict[int, set[Definition]] = {}
        self.observing: set[int] = set()
        self.beyond: set[int] = set()
        for block in ssa.schedule.order:
            if ssa.schedule.loop_of[block.index] is not None:
                self._look_at(block)
        self.places = sorted(ssa.schedule.position[index] for index in self.observing)

    def within(self, loop: Loop) -> set[Definition]:
        """Empty for a loop without observing blocks: known without a look at its own, for nests are deep."""
        first = bisect_left(self.places, loop.first)
        if first == len(self.places) or self.places[first] > loop.last:
            return set()
        inside = self.ssa.schedule.order[loop.first : loop.last + 1]
        kinds = (self.direct, self.carried)
        return {d for kind in kinds for block in inside for d in kind.get(block.index, ())}

    def direct_in(self, loop: Loop) -> set[Definition]:
        """What a loop reads that other threads may change."""
        inside = self.ssa.schedule.order[loop.first : loop.last + 1]
        return {d for block in inside for d in self.direct.get(block.index, ())}

    def is_own(self, loop: Loop) -> bool:
        """Whether a loop looks at no memory that threads of other CTAs may change."""
        inside = self.ssa.schedule.order[loop.first : loop.last + 1]
        return all(block.index not in self.beyond for block in inside)

    def _look_at(self, block: Block) -> None:
        for op in block.ops:
            made = {d for d in self.ssa.of[id(op)] if d is not None}
            direct = isinstance(op, Op) and self.observer.reads(op)
            if direct or (isinstance(op, Call) and self._observes(op)):
                self.observing.add(block.index)
                if isinstance(op, Call) or op.binding.get("space") != "shared":
                    self.beyond.add(block.index)
            if direct:
                self.direct.setdefault(block.index, set()).update(made)
            elif isinstance(op, Call) or self.observer.fetches(op):
                self.carried.setdefault(block.index, set()).update(made)

    def _observes(self, call: Call) -> bool:
        names = (call.callee,) if isinstance(call.callee, str) else call.candidates
        known = reachable([n for n in names if n in self.functions], self.functions)
        ops = (op for name in known for block in self.functions[name].blocks for op in block.ops)
        return any(isinstance(op, Op) and self.observer.reads(op) for op in ops)


def _sources(ssa: Ssa) -> dict[Definition, list[Definition]]:
    """The definitions that each definition is computed from."""
    found: dict[Definition, list[Definition]] = {}
    for block in ssa.schedule.order:
        for op in block.ops:
            read = ssa.read[id(op)]
            inputs = [read[r] for r in uses(op)]
            found.update((d, inputs) for d in ssa.of[id(op)] if d is not None)
    for phis in ssa.phis.values():
        for phi in phis:
            found[phi] = list(phi.inputs.values())
    return found


def _is_free(
    ends: counted.CountedEnds, direct: set[Definition], observed: set[Definition], loop: Loop, block: Block
) -> bool:
    """Whether a way out of a loop is taken whatever others do. If a loop reads what others change by taking
    tickets alone, what it observes is one of these, or nothing that anybody waits for."""
    if ends.is_counted(loop, block, observed):
        return True
    return all(map(ends.is_ticket, direct)) and ends.is_by_tickets(loop, block, observed)


def _ends_by(
    loop: Loop,
    ssa: Ssa,
    sources: dict[Definition, list[Definition]],
    observed: set[Definition],
    is_free: Callable[[set[Definition], Loop, Block], bool],
) -> bool:
    """Whether a loop ends by what it observes. `is_free`: whether a way out is taken whatever others do."""
    inside = {b.index for b in ssa.schedule.order[loop.first : loop.last + 1]}
    chosen = False
    for block in ssa.schedule.order[loop.first : loop.last + 1]:
        if all(s.index in inside for s in block.successors()) or is_free(observed, loop, block):
            continue
        work = [*ssa.read[id(block.terminator)].values()]
        seen: set[Definition] = set()
        while work:
            definition = work.pop()
            if definition in seen or definition.block.index not in inside:
                continue
            if definition in observed:
                return True
            seen.add(definition)
            work += sources.get(definition, [])
            if definition.is_phi and definition.block is not loop.header:
                work += _choosers(definition, ssa)
            if not chosen and _may_stay(definition, loop, ssa):
                chosen = True
                work += _choices(loop, ssa)
    return False


def _may_stay(definition: Definition, loop: Loop, ssa: Ssa) -> bool:
    """Whether a turn of the loop may leave a value that other turns change: what chooses between them then
    decides when the loop ends (`while (i < n) if (flag) i++;`)."""
    inputs = [_copied(d, ssa) for d in definition.inputs.values()]
    return any(d is definition or (d.is_phi and d.block is loop.header) for d in inputs)


def _copied(definition: Definition, ssa: Ssa) -> Definition:
    """What a value is a copy of, as variables of a debug build are."""
    while isinstance(op := definition.origin, Op) and op.form.contraction == "copy" and op.guard is None:
        read = [ssa.read[id(op)][register] for register in uses(op)]
        if len(read) != 1:
            break
        definition = read[0]
    return definition


def _choosers(phi: Definition, ssa: Ssa) -> list[Definition]:
    """What the branches depend on of which each leads to the phi by one way: they choose between its values
    (`while (!mine && k < n)`, which is a constant in one of the two cases)."""
    found: list[Definition] = []
    for block in ssa.predecessors[phi.block.index]:
        while len(block.successors()) == 1 and len(ssa.predecessors[block.index]) == 1:
            block = ssa.predecessors[block.index][0]
        if len(block.successors()) > 1:
            found += ssa.read[id(block.terminator)].values()
    return found


def _choices(loop: Loop, ssa: Ssa) -> list[Definition]:
    """What the branches within a loop depend on."""
    blocks = [b for b in ssa.schedule.order[loop.first : loop.last + 1] if len(b.successors()) > 1]
    return [d for b in blocks for d in ssa.read[id(b.terminator)].values()]


def late_blocks(ssa: Ssa, loops: list[Loop], whole: Set[int] = frozenset()) -> set[int]:
    """Blocks that lanes may run while others, which came before them, still wait in one of the loops. `whole`
    has the indices of barriers at which all lanes of a warp meet."""
    position = ssa.schedule.position
    work: list[Block] = []
    for loop in loops:
        for block in ssa.schedule.order[loop.first : loop.last + 1]:
            work += [s for s in block.successors() if not loop.first <= position[s.index] <= loop.last]
    return _reachable(work, whole)


def whole_barriers(pending: Pending) -> set[int]:
    """Indices of barriers at which all lanes of a warp meet that have not ended: whoever waits elsewhere when
    the first of them come there, comes there next. So from there on they are together."""
    if pending.by_number:
        return set()
    at = {b: members(pending.at[b.index]) for b in pending.barriers}
    return {b.index for b, places in at.items() if all(_leads_to(b, place, pending) for place in places)}


def _leads_to(barrier: Block, place: int, pending: Pending) -> bool:
    """Whether lanes at a place come to no barrier before this one."""
    parked = pending.parked(place)
    if parked is not None:
        return parked is barrier
    own, work = set[int](), [*pending.next_blocks(place)]
    while work:
        block = work.pop()
        if block is barrier or block.index in own:
            continue
        if stops(block):
            return False
        own.add(block.index)
        work += block.successors()
    return True


def parted_blocks(ssa: Ssa, pending: Pending, whole: Set[int] = frozenset()) -> set[int]:
    """Blocks that parts of a warp run at different times because barriers hold the other parts up.

    Lanes that wait at a barrier go on together with lanes that come to it, or to another one, later. What
    the earlier lanes defined must then be there still, though the later ones ran the same blocks since.
    """
    toward = _leading_to(ssa, {b.index for b in pending.barriers})
    partial = {b.index for b in pending.barriers if _others_follow(b, pending, toward)}
    if not partial:
        return set()
    leading = _leading_to(ssa, partial, whole)
    splits = [b for b in ssa.schedule.order if b.index in pending.divergent and b.index in leading]
    return _reachable([s for block in splits for s in block.successors()], whole)


def _others_follow(barrier: Block, pending: Pending, toward: set[int]) -> bool:
    """Whether lanes of a warp that comes to a barrier may wait where they can come to one later."""
    return any(
        pending.parked(place) is not None or any(b.index in toward for b in pending.next_blocks(place))
        for place in members(pending.at[barrier.index])
    )


def _leading_to(ssa: Ssa, targets: set[int], last: Set[int] = frozenset()) -> set[int]:
    """Blocks from which one of the targets (themselves included) can be reached, but not by way of the last
    ones."""
    found = set(targets)
    work = list(targets)
    while work:
        for predecessor in ssa.predecessors[work.pop()]:
            if predecessor.index not in found and predecessor.index not in last:
                found.add(predecessor.index)
                work.append(predecessor.index)
    return found


def _reachable(blocks: Iterable[Block], last: Set[int] = frozenset()) -> set[int]:
    """Blocks that can be reached from some, these included, but not by way of the last ones."""
    found: set[int] = set()
    work = [*blocks]
    while work:
        block = work.pop()
        if block.index not in found:
            found.add(block.index)
            work += block.successors() if block.index not in last else ()
    return found


def parts_lanes(ssa: Ssa, pending: Pending, loop: Loop) -> bool:
    """Whether lanes of a warp may leave a loop while others of it are elsewhere: in the loop still, or where
    they wait for those in it. If not, the warp waits as one thread would."""
    inside = ssa.schedule.order[loop.first : loop.last + 1]
    indices = {b.index for b in inside}
    exits = [b for b in inside if any(s.index not in indices for s in b.successors())]
    together = (b.index not in pending.divergent and not pending.at[b.index] for b in exits)
    return bool(pending.at[loop.header.index]) or not all(together)


def settle(
    ssa: Ssa, environment: Environment, shape: BlockShape, functions: Mapping[str, Function]
) -> tuple[Uniformity, Pending]:
    """Uniformity of a function for CTAs of a shape, and where lanes may wait: each needs the other.
    `functions`: those that it may call. Meeting places are needed only if lanes part at a loop that waits."""
    waiting = waiting_loops(ssa, environment, functions)
    meetings: list[Block] | None = None  # not looked for yet
    at_gates: dict[int, Op | None] = {}
    varying: set[int] = set()
    while True:
        uniformity = analyse(ssa, environment, shape, varying)
        pending = Pending(ssa.schedule, uniformity.divergent, waiting, meetings or (), at_gates)
        parting = [loop for loop in waiting if parts_lanes(ssa, pending, loop)]
        if parting and meetings is None:
            at_gates = gates(ssa.schedule.order, environment, functions)
            meetings = [] if at_gates else meeting_blocks(ssa.schedule.order, environment, functions)
            if meetings or at_gates:
                continue
        pending.parting = bool(parting or meetings or at_gates)
        meeting = _reachable([*(meetings or ()), *pending.held])
        whole = whole_barriers(pending)
        found = late_blocks(ssa, parting, whole) | parted_blocks(ssa, pending, whole) | meeting
        if found <= varying:
            return uniformity, pending
        varying |= found
