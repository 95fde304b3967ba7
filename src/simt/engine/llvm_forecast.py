"""How much IR a function will have, foretold while it is emitted.

A function that proves to be large is emitted anew in another form. That it will be is known long before its
last line: the instructions that are left are mostly of kinds that have been seen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from simt.analysis.kinds import Kind, kind_of
from simt.analysis.program import Block, Call, Op

OFTEN = 8
"""Instructions after which a forecast is made anew."""


class Forecast:
    """What the instructions that are left will take, as much as the latest one of each kind.

    Kinds that have not been seen count for nothing, so a forecast errs on the low side.
    """

    def __init__(self, blocks: Iterable[Block]) -> None:
        self.left = Counter(kind_of(op) for block in blocks for op in block.ops if isinstance(op, Op))
        self.taken: dict[Kind, tuple[int, int]] = {}
        self.done = 0

    def note(self, op: Op | Call, lines: int, blocks: int) -> None:
        """An instruction has taken that many lines and blocks of IR."""
        self.done += 1
        if isinstance(op, Op):
            kind = kind_of(op)
            self.left[kind] -= 1
            self.taken[kind] = lines, blocks

    @property
    def is_due(self) -> bool:
        """Whether it is time to make a forecast."""
        return self.done % OFTEN == 0

    def rest(self) -> tuple[int, int]:
        """Lines and blocks that the instructions that are left will take."""
        found = [(self.left[kind], *taken) for kind, taken in self.taken.items()]
        return sum(n * lines for n, lines, _ in found), sum(n * blocks for n, _, blocks in found)
