"""Loads of loops in which each thread goes through memory of its own, some bytes in each turn: its part of an
array, its row of a matrix, its line of a text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from simt.analysis.access import ALIKE
from simt.analysis.program import Block, Branch, Call, Jump, Op, memory_operands
from simt.analysis.ranges import Ranges
from simt.analysis.schedule import Loop
from simt.analysis.ssa import Definition, Ssa
from simt.analysis.turns import Turns
from simt.records import dataclass

STRETCH = 64
"""Bytes of its own memory that a lane loads at once: a register of AVX-512, and a line of a CPU's cache."""
OWN = ("shared", "local", ALIKE)
"""State spaces in which nothing changes what lies in global memory."""
SPARSE = 2
"""Words from one turn to the next, for each one that is read, up to which it is worth to load all of them."""
SHORT = 8
"""Turns of a loop below which it is not."""
SIZES = (1, 2, 4, 8)
"""Bytes of words that are looked at."""


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """Loads of words of `size` bytes at constant distances from `address`, which goes on with each turn.
    `offsets`: these distances, by the ids of the ops. `blocks`: in how many blocks they are."""

    address: Definition
    size: int
    offsets: Mapping[int, int]
    blocks: int

    @property
    def first(self) -> int:
        """The distance of a turn's first word."""
        return min(self.offsets.values())


def walks(ssa: Ssa, loop: Loop, turns: Turns) -> list[Walk]:
    """The loads of a loop that does nothing else with global memory. (Whether lanes really do go on by one
    distance is asked when they run.)"""
    blocks = ssa.schedule.order[loop.first : loop.last + 1]
    if not all(map(_only_loads, blocks)):
        return []
    found = defaultdict[tuple[Definition, int], dict[int, int]](dict)
    places = defaultdict[tuple[Definition, int], set[int]](set)
    for block in blocks:
        for op, address, offset in _loads(ssa, block):
            key = address, op.result_types[0].bytes
            found[key][id(op)] = offset
            places[key].add(block.index)
    made = [Walk(*key, offsets, len(places[key])) for key, offsets in found.items()]
    return [walk for walk in made if walk.size in SIZES and is_dense(walk, loop, turns)]


def is_dense(walk: Walk, loop: Loop, turns: Turns, most: int = STRETCH // 2) -> bool:
    """Whether most of what lies between the words of some turns is read, and all of a turn at once. `most`:
    bytes from the first of these words to the last."""
    step, offsets = turns.step(walk.address, loop) or 0, walk.offsets.values()
    behind = [offset - walk.first for offset in offsets]
    near = max(behind) <= most and all(n % walk.size == 0 for n in behind)
    return near and step % walk.size == 0 and 0 < step <= SPARSE * walk.size * len(offsets)


def _loads(ssa: Ssa, block: Block) -> Iterator[tuple[Op, Definition, int]]:
    """Loads of one word each from global memory, with their addresses and the offsets to these."""
    for op in block.ops:
        plain = isinstance(op, Op) and op.guard is None and len(op.destinations) == 1
        if isinstance(op, Op) and plain and op.binding.get("space") == "global":
            for register, offset in memory_operands(op):
                yield op, ssa.read[id(op)][register], offset


def _only_loads(block: Block) -> bool:
    ops = [op for op in block.ops if isinstance(op, Call) or "memory" in op.form.effects]
    return all(map(_changes_nothing, ops)) and isinstance(block.terminator, Branch | Jump)


def _changes_nothing(op: Op | Call) -> bool:
    """Whether an op leaves global memory as it is."""
    if isinstance(op, Call) or not op.form.moves_memory:
        return False
    return bool(op.destinations) or op.binding.get("space") in OWN


def counts_few(ssa: Ssa, loop: Loop, turns: Turns, ranges: Ranges) -> bool:
    """Whether a loop counts down a few turns: those that are left over by an unrolled one."""
    return any(_is_short(phi, loop, turns, ranges, ssa) for phi in ssa.phis.get(loop.header.index, ()))


def _is_short(phi: Definition, loop: Loop, turns: Turns, ranges: Ranges, ssa: Ssa) -> bool:
    if turns.growth(phi, loop) != (True, -1):
        return False
    outside = [v for b, v in phi.inputs.items() if not loop.first <= ssa.schedule.position[b] <= loop.last]
    return all(found.lo >= 0 and found.hi < SHORT for found in map(ranges.of, outside))
