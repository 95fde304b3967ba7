"""What a lane alone does once a turn of its loop for several accesses: what is known of them then.

Compilers unroll loops, and then a turn gets at a few neighbouring elements from an address that was known
when the turn began. One comparison tells that all of them are valid. Where it does not (at the arena's end,
or before a fault) another copy of the loop runs the turn, and checks each access when it comes to it: faults
are found in the order of the program, and only those that happen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from simt.analysis.program import Op
from simt.analysis.ssa import Definition
from simt.records import dataclass


@dataclass(frozen=True, slots=True)
class Indexed:
    """An address: what `array` holds, and `index`, of 32 bits, extended (`signed`: by its sign), shifted.
    Compilers write it so where a loop goes on by an index."""

    array: Definition
    index: Definition
    signed: bool
    shift: int

    @property
    def last(self) -> int:
        """The greatest index before it wraps."""
        return 2 ** (31 if self.signed else 32) - 1


Base = Definition | Indexed


@dataclass(frozen=True, slots=True)
class Touch:
    """An access to `size` bytes of the arena, `offset` bytes after what `base` is when a turn begins."""

    op: Op
    base: Base
    offset: int
    size: int
    loads: bool


@dataclass(frozen=True, slots=True)
class Joint:
    """Accesses that are all valid if the address `first` bytes after `base` is a multiple of `size`, and
    `span` bytes from there lie in the arena."""

    base: Base
    first: int
    span: int
    size: int
    ops: tuple[Op, ...]


def joints(touches: Iterable[Touch]) -> list[Joint]:
    """What can be checked together: accesses of one size and a multiple of it apart."""
    alike: defaultdict[tuple[Base, int, int], list[Touch]] = defaultdict(list)
    for touch in touches:
        alike[touch.base, touch.size, touch.offset % touch.size].append(touch)
    return [_joint(found) for found in alike.values()]


def _joint(touches: list[Touch]) -> Joint:
    offsets, size = [t.offset for t in touches], touches[0].size
    first, end = min(offsets), max(offsets) + size
    return Joint(touches[0].base, first, end - first, size, tuple(t.op for t in touches))
