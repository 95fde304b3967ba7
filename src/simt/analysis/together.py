"""Loads of words that lie side by side in each lane, wherever that is: turns of a loop over a row of a matrix
that a compiler has unrolled, members of structures behind a pointer."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from simt.analysis.evaluate import Evaluator
from simt.analysis.facts import key_of
from simt.analysis.observer import Anything
from simt.analysis.program import Block, Op, memory_operands
from simt.analysis.shape import UNIFORM, VARYING, BlockShape, Shape
from simt.analysis.shape_algebra import ShapeAlgebra
from simt.analysis.ssa import Definition, Ssa
from simt.isa.algebra import Environment
from simt.ptx.types import Type
from simt.records import dataclass

BYTES = 16
"""Of a group: what every CPU loads at once."""
WORDS = frozenset({4, 8})
"""Bytes of such words that are worth it."""
Key = tuple[Definition, Type, str]
Load = tuple[Op, int]
"""With its offset in bytes."""


@dataclass(frozen=True)
class Together:
    """One of the loads of a group. `number`: of the group. `place`: of its word among the group's `words`.
    `first`: in the program's order."""

    number: int
    place: int
    words: int
    first: bool


def together(ssa: Ssa, environment: Environment) -> dict[int, Together]:
    """By the identity of ops: loads of which there is one for each word of a register, from the same address
    on, in the same block, with nothing in between that writes to memory or waits."""
    watcher, found = _Watcher(environment), dict[int, Together]()
    for block in ssa.schedule.order:
        for loads, t in _runs(block, ssa, watcher):
            for group in _groups(loads, t.bytes):
                number, first = len(found), min(group, key=loads.index)
                for place, load in enumerate(group):
                    found[id(load[0])] = Together(number, place, len(group), load is first)
    return found


def _runs(block: Block, ssa: Ssa, watcher: _Watcher) -> Iterator[tuple[list[Load], Type]]:
    """Loads from one address with nothing in between that matters, in the program's order."""
    runs: dict[Key, list[Load]] = {}
    for op in block.ops:
        if isinstance(op, Op) and not op.form.effects:
            continue
        loaded = watcher.load_of(op) if isinstance(op, Op) else None
        if not isinstance(op, Op) or loaded is None:
            yield from ((run, key[1]) for key, run in runs.items())
            runs = {}
            continue
        places = [(ssa.read[id(op)][register], offset) for register, offset in memory_operands(op)]
        if len(places) == 1 and op.guard is None and loaded[0].bytes in WORDS:
            (definition, offset), (t, space) = places[0], loaded
            runs.setdefault((definition, t, space), []).append((op, offset))
    yield from ((run, key[1]) for key, run in runs.items())


def _groups(loads: list[Load], word: int) -> Iterator[list[Load]]:
    """Those that fill a register, by offset."""
    by_offset = {load[1]: load for load in reversed(loads)}
    while by_offset:
        start = min(by_offset)
        offsets = range(start, start + BYTES, word)
        if all(offset in by_offset for offset in offsets):
            yield [by_offset.pop(offset) for offset in offsets]
        else:
            del by_offset[start]


class _Watcher(ShapeAlgebra):
    """Tells plain loads of single words."""

    def __init__(self, environment: Environment) -> None:
        super().__init__(BlockShape(1, 1, 1))
        self._evaluator: Evaluator[Shape] = Evaluator(self, Anything(), environment)
        self._kinds: dict[Hashable, tuple[Type, str] | None] = {}
        self._load: tuple[Type, str] | None = None
        self._others = False

    def load_of(self, op: Op) -> tuple[Type, str] | None:
        """Type and state space, if an op is a plain load of one word and nothing else."""
        key = key_of(op, type)
        if key not in self._kinds:
            self._load, self._others = None, not op.form.effects <= {"memory"}
            if not self._others:
                self._evaluator.op(op)
            self._kinds[key] = None if self._others else self._load
        return self._kinds[key]

    def load(self, t: Type, space: str, address: Shape, count: int, volatile: bool) -> tuple[Shape, ...]:
        self._others |= volatile or count > 1 or self._load is not None
        self._load = t, space
        return (VARYING,) * count

    def store(self, t: Type, space: str, address: Shape, values: tuple[Shape, ...], volatile: bool) -> None:
        self._others = True

    def atomic(self, op: str, t: Type, space: str, address: Shape, b: Shape, c: Shape | None) -> Shape:
        self._others = True
        return UNIFORM

    def fence(self, level: str) -> None:
        self._others = True
