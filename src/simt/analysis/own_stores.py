"""Loops in which each thread goes through memory of its own, and stores there: rows that are scanned,
filtered, normalised.

What a loop of one block loads and stores is known as a whole: if all of it goes on by one small step, each
lane's words of many turns may be loaded at once, and be stored at once (`simt.engine.llvm_own_stores`). What
is loaded ahead must then be none of what the same lane stores before the turn that asks for it.
"""

from __future__ import annotations

from collections.abc import Mapping

from simt.analysis.evaluate import Evaluator
from simt.analysis.observer import Anything
from simt.analysis.program import Branch, Call, Op, memory_operands
from simt.analysis.rolled_lines import Seldom
from simt.analysis.schedule import Loop
from simt.analysis.shape import UNIFORM, VARYING, BlockShape, Shape
from simt.analysis.shape_algebra import ShapeAlgebra
from simt.analysis.ssa import Definition, Ssa
from simt.analysis.stretches import SIZES, STRETCH, Walk, is_dense
from simt.analysis.turns import Turns
from simt.isa.algebra import Environment
from simt.ptx.types import Type
from simt.records import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """What a loop loads and what it stores. `before`: for each of either, by their places in the lists, how
    many bytes behind the words that a lane loads in a turn those that it stores there may begin, so that it
    loads nothing that it has stored: less than this (which may be negative). `sure`: all go on by the same
    step in any case."""

    loads: tuple[Walk, ...]
    stores: tuple[Walk, ...]
    before: Mapping[tuple[int, int], int]
    sure: bool


def course(ssa: Ssa, loop: Loop, turns: Turns, environment: Environment) -> Course | None:
    """The course of a loop of one block that does nothing with memory but to load and store words of global
    memory; None: it is no such loop."""
    block = ssa.schedule.order[loop.first]
    if loop.first != loop.last or not isinstance(block.terminator, Branch):
        return None
    found: dict[tuple[bool, Definition, int], dict[int, int]] = {}
    for op in block.ops:
        if isinstance(op, Op) and (not op.form.effects or _is_parameter(op)):
            continue
        access = None if isinstance(op, Call) else access_of(ssa, op, environment)
        if access is None:
            return None
        stores, address, size, offset = access
        found.setdefault((stores, address, size), {})[id(op)] = offset
    walks = [(stores, Walk(address, size, offsets, 1)) for (stores, address, size), offsets in found.items()]
    loads, stored = (tuple(w for stores, w in walks if stores == which) for which in (False, True))
    steps = {turns.step(walk.address, loop) for _, walk in walks}
    dense = all(is_dense(w, loop, turns, STRETCH - w.size) for _, w in walks)
    (step,) = steps if len(steps) == 1 else (None,)
    if not stored or not dense or step is None:
        return None
    order = {id(op): place for place, op in enumerate(block.ops)}
    pairs = [(i, j, one, other) for i, one in enumerate(loads) for j, other in enumerate(stored)]
    before = {(i, j): _before(one, other, step, order) for i, j, one, other in pairs}
    if any(a.address is b.address and b.first - a.first >= before[i, j] for i, j, a, b in pairs):
        return None
    return Course(loads, stored, before, all(turns.is_sure(walk.address, loop) for _, walk in walks))


def _before(one: Walk, other: Walk, step: int, order: Mapping[int, int]) -> int:
    """Of a walk that loads and one that stores. A word is stored before it is loaded if that is done by an
    earlier instruction of a turn, or in any turn before."""
    return min(
        (loaded - one.first) - (stored - other.first) + (0 if order[b] < order[a] else step)
        for a, loaded in one.offsets.items()
        for b, stored in other.offsets.items()
    )


def _is_parameter(op: Op) -> bool:
    return bool(op.destinations) and op.form.moves_memory and op.binding.get("space") == "param"


def access_of(ssa: Ssa, op: Op, environment: Environment) -> tuple[bool, Definition, int, int] | None:
    """Whether an op stores, its address, the bytes of its word, and the offset to that address; None: it is
    none that loads or stores one word of global memory and no more."""
    t, places = op.binding.get("type"), list(memory_operands(op))
    plain = op.form.moves_memory and op.guard is None and not isinstance(op.line, Seldom)
    if not plain or not isinstance(t, Type) or len(places) != 1:
        return None
    watcher = _Watcher()
    Evaluator(watcher, Anything(), environment).op(op)
    ((register, offset),) = places
    for stores, sizes in ((False, watcher.loaded), (True, watcher.stored)):
        fits = sizes == [t.bytes] and not watcher.others
        if fits and t.bytes in SIZES:
            return stores, ssa.read[id(op)][register], t.bytes, offset
    return None


class _Watcher(ShapeAlgebra):
    """Notes the sizes of the words that an op loads and stores in global memory, if it does so plainly."""

    def __init__(self) -> None:
        super().__init__(BlockShape(1, 1, 1))
        self.loaded, self.stored = list[int](), list[int]()
        self.others = False

    def load(self, t: Type, space: str, address: Shape, count: int, volatile: bool) -> tuple[Shape, ...]:
        self.others |= volatile or space != "global" or count > 1 or bool(self.stored)
        self.loaded.append(t.bytes)
        return (VARYING,) * count

    def store(self, t: Type, space: str, address: Shape, values: tuple[Shape, ...], volatile: bool) -> None:
        self.others |= volatile or space != "global" or len(values) > 1 or bool(self.loaded)
        self.stored.append(t.bytes)

    def atomic(self, op: str, t: Type, space: str, address: Shape, b: Shape, c: Shape | None) -> Shape:
        self.others = True
        return UNIFORM

    def fence(self, level: str) -> None:
        self.others = True
