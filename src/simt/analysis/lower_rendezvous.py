"""Lanes that take different ways of a branch meet at instructions that wait for all lanes of a mask.

From compute capability 7.0 on, `bar.warp.sync` and the `.sync` forms of votes, shuffles and the like wait
until every lane that their mask names executes *one* of the same kind and mask, wherever in the program: also
on the other way of a branch (recorded on an H200). Here such two become one: both ways lead to a block of its
own with the instruction, from where each lane goes back to its way. Lanes meet there as wherever control flow
joins (`simt.analysis.schedule`), so that no engine needs to know.

Only where a warp may part: code whose branches all lanes take alike stays as it is. Instructions in different
loops, or in a function that is called twice, do not find each other.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from simt.analysis.dominance import Tree, dominators
from simt.analysis.lower_forms import copy
from simt.analysis.lower_simplify import simplify
from simt.analysis.program import Block, Branch, Constant, Function, Jump, Op, Register, Source
from simt.analysis.schedule import Loop, Schedule, schedule
from simt.analysis.shape import UNIFORM, BlockShape, Shape
from simt.analysis.shape_algebra import ShapeAlgebra
from simt.analysis.ssa import build, destinations
from simt.analysis.uniformity import analyse_over
from simt.isa.algebra import Environment
from simt.isa.form import Form, Value
from simt.ptx.types import PRED, Type
from simt.records import dataclass, replace

FIRST = 70
"""The compute capability, times ten, from which lanes of a warp are independent."""
SHAPE = BlockShape(5, 5, 5)
"""A CTA in which every index of a thread differs within a warp: what is uniform here is so in every CTA."""


class _AnyCta(ShapeAlgebra):
    """Shapes of values that CTAs of other extents have, too."""

    def special(self, name: str, component: str) -> Shape:
        return UNIFORM if name == "ntid" else super().special(name, component)


Key = tuple[Form, tuple[tuple[str, Value], ...], frozenset[str], Source]
"""Form, modifiers, operands that are there, mask."""


@dataclass(frozen=True, slots=True)
class Place:
    """An instruction that waits: op number `index` of a block."""

    block: Block
    index: int

    @property
    def op(self) -> Op:
        op = self.block.ops[self.index]
        assert isinstance(op, Op)
        return op


def meet(function: Function, environment: Environment, as_written: bool = False) -> None:
    """Merges what lanes of a warp may execute apart, but have to execute together."""
    if environment.machine < FIRST:
        return
    while pairs := _apart(function, environment):
        for first, second in reversed(pairs):  # what stands before the place of a merger stays where it is
            _merge(function, first, second)
        simplify(function, as_written)


def waits(form: Form) -> bool:
    """Whether lanes wait for those that a mask names."""
    return "warp" in form.effects and any(o.name == "mask" for o in form.operands)


def _apart(function: Function, environment: Environment) -> list[tuple[Place, Place]]:
    """Those that belong together on the two ways of branches that may part a warp, in the order in which
    lanes come to them. Ways within ways come first: of branches whose ways share blocks, the last one that
    has any. Those that share none are independent of each other, and so a round does for all of them."""
    found = _candidates(function)
    line = schedule(function)
    if not _has_ways(found, line):
        return []
    divergent = analyse_over(build(function, line), environment, _AnyCta(SHAPE)).divergent
    pairs: list[tuple[Place, Place]] = []
    changed: set[int] = set()
    for block in reversed(line.order):
        branch = block.terminator
        if block.index in divergent and isinstance(branch, Branch):
            near = {p: key for p, key in found.items() if _loop(p.block, line) is _loop(block, line)}
            taken, otherwise = _way(branch.taken, line), _way(branch.otherwise, line)
            first, second = _on(near, taken - otherwise, line), _on(near, otherwise - taken, line)
            here = [] if changed & (taken ^ otherwise) else _matched(first, second, near)
            if here:
                pairs = here + pairs
                changed |= taken ^ otherwise
    return pairs


def _candidates(function: Function) -> dict[Place, Key]:
    """Instructions that wait, with what has to be the same for those that wait for each other."""
    places = [
        Place(block, i)
        for block in function.blocks
        for i, op in enumerate(block.ops)
        if isinstance(op, Op) and op.guard is None and waits(op.form)
    ]
    once = _defined_once(function) if len(places) > 1 else set[Register]()
    found: dict[Place, Key] = {}
    for place in places:
        op, mask = place.op, place.op.sources["mask"]
        if isinstance(mask, Constant) or (isinstance(mask, Register) and mask in once):
            there = frozenset(name for name, source in op.sources.items() if source is not None)
            found[place] = (op.form, tuple(sorted(op.binding.items(), key=lambda item: item[0])), there, mask)
    return found


def _has_ways(found: dict[Place, Key], line: Schedule) -> bool:
    """Whether there are two of a kind that lanes need not come to one after the other. Seldom: the quick test
    before the long one."""
    alike: dict[Key, list[int]] = {}
    for place, key in found.items():
        alike.setdefault(key, []).append(place.block.index)
    if all(len(set(blocks)) == 1 for blocks in alike.values()):
        return False
    tree = Tree(dominators(line))
    chains = (sorted(blocks, key=line.position.__getitem__) for blocks in alike.values())
    return any(not tree.dominates(a, b) for chain in chains for a, b in pairwise(chain))


def _loop(block: Block, line: Schedule) -> Loop | None:
    return line.loop_of[block.index]


def _matched(first: list[Place], second: list[Place], key: dict[Place, Key]) -> list[tuple[Place, Place]]:
    """For each on one way the next of its kind on the other, in order."""
    found: list[tuple[Place, Place]] = []
    start = 0
    for place in first:
        other = next((i for i in range(start, len(second)) if key[second[i]] == key[place]), None)
        if other is not None:
            found.append((place, second[other]))
            start = other + 1
    return found


def _defined_once(function: Function) -> set[Register]:
    counts: dict[Register, int] = {}
    for op in function.ops():
        for register in destinations(op):
            if register is not None:
                counts[register] = counts.get(register, 0) + 1
    return {register for register, count in counts.items() if count == 1}


def _way(start: Block, line: Schedule) -> set[int]:
    """Indices of the blocks that can be reached without going back in a loop."""
    found: set[int] = set()
    work = [start]
    while work:
        block = work.pop()
        if block.index not in found:
            found.add(block.index)
            work += [s for s in block.successors() if not line.is_back_edge(block, s)]
    return found


def _on(places: Iterable[Place], way: set[int], line: Schedule) -> list[Place]:
    """Those on a way, in the order in which lanes come to them."""
    here = [p for p in places if p.block.index in way]
    return sorted(here, key=lambda p: (line.position[p.block.index], p.index))


# ------------------------------------------------------------------ merging


def _merge(function: Function, first: Place, second: Place) -> None:
    """Makes one instruction of two, in a block to which both ways lead and from which both go on."""
    merged = first.op
    count = len(function.blocks)
    meeting = Block(count)
    side = _new(function, PRED)
    there = [name for name, source in merged.sources.items() if source is not None]
    sources = {name: _shared(function, first.op, second.op, name) for name in there}
    results = tuple(
        None if not any(op.destinations[i] for op in (first.op, second.op)) else _new(function, t)
        for i, t in enumerate(merged.result_types)
    )
    after = [
        _detour(place, meeting, sources, results, side, Block(count + 2 - number), number)
        for number, place in ((1, first), (0, second))
    ]
    meeting.ops = [replace(merged, sources={**merged.sources, **sources}, destinations=results)]
    meeting.terminator = Branch(side, False, after[0], after[1])
    function.blocks += [meeting, *after]


def _new(function: Function, t: Type) -> Register:
    register = Register(len(function.registers), f"meet{len(function.registers)}", t)
    function.registers.append(register)
    return register


def _shared(function: Function, first: Op, second: Op, name: str) -> Source:
    """What the merged instruction reads: the same source as both, else a register that both set before."""
    source = first.sources[name]
    if name == "mask" or (isinstance(source, Constant) and source == second.sources[name]):
        assert isinstance(source, Constant | Register)
        return source
    return _new(function, first.source_types.get(name, PRED))


def _detour(
    place: Place, meeting: Block, sources: dict[str, Source], results: tuple[Register | None, ...],
    side: Register, after: Block, number: int,
) -> Block:  # fmt: skip
    """Cuts a block at its instruction, which goes to the meeting; the rest of the block goes to `after`."""
    block, op = place.block, place.op
    after.ops, after.terminator = block.ops[place.index + 1 :], block.terminator
    for register, d, t in zip(results, op.destinations, op.result_types):
        if register is not None and d is not None:
            after.ops.insert(0, copy(d, register, t, 0))
    del block.ops[place.index :]
    for name, source in sources.items():
        given = op.sources[name]
        if source != given and isinstance(source, Register):
            block.ops.append(copy(source, _plain(given), source.type, 0))
    block.ops.append(copy(side, Constant(PRED, number), PRED, 0))
    block.terminator = Jump(meeting)
    return after


def _plain(source: object) -> Source:
    assert isinstance(source, Source)
    return source
