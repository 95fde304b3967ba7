"""CTAs whose threads may be put into warps column by column, in place of row by row.

In much code `threadIdx.x` counts rows of a matrix, and `threadIdx.y` words of a row: the lanes of a warp,
which go along x, are a row apart from each other. Where the axes x and y of CTA and grid are exchanged,
they lie side by side. A thread can only tell by what it has in common with those of its warp, and by what
other threads have done before: it must neither speak with others nor ask who it is among them. It may count,
by atomic operations on integers whose order does not matter, if it does not look at what they find."""

from __future__ import annotations

from simt.analysis.evaluate import Evaluator
from simt.analysis.observer import Anything
from simt.analysis.program import Barrier, Function, Op, Register, Special
from simt.analysis.shape import UNIFORM, VARYING, BlockShape, Shape
from simt.analysis.shape_algebra import ShapeAlgebra
from simt.analysis.ssa import terminator_uses, uses
from simt.isa.algebra import Environment
from simt.isa.atomics import identity
from simt.ptx.types import Type

COORDINATES = frozenset({"tid", "ntid", "ctaid", "nctaid"})
"""Special registers that a thread finds as they were."""


def may_be_turned(kernel: Function, environment: Environment) -> bool:
    """Whether no thread can tell: a kernel without calls, barriers and shared memory, which does nothing but
    arithmetic and plain loads and stores, and reads no special register but its coordinates."""
    if kernel.shared or any(isinstance(block.terminator, Barrier) for block in kernel.blocks):
        return False
    return knows_only_itself(kernel, environment)


def knows_only_itself(kernel: Function, environment: Environment, shares: bool = False) -> bool:
    """Whether all but its barriers is arithmetic on its coordinates and plain loads and stores; of shared
    memory too if it `shares`."""
    watcher, read = _Watcher(shares), _read(kernel)
    evaluator: Evaluator[Shape] = Evaluator(watcher, Anything(), environment)
    for op in kernel.ops():
        if not isinstance(op, Op) or not op.form.effects <= {"memory"} or not _reads_coordinates(op):
            return False
        if op.form.effects:
            watcher.is_plain = watcher.speaks = False
            watcher.looks = not read.isdisjoint(op.destinations)
            evaluator.op(op)
            if watcher.speaks or not watcher.is_plain:
                return False
    return True


def _read(kernel: Function) -> set[Register | None]:
    """Registers that anything reads."""
    found: set[Register | None] = set()
    for block in kernel.blocks:
        for op in block.ops:
            found.update(uses(op))
        found.update(terminator_uses(block))
    return found


def _reads_coordinates(op: Op) -> bool:
    """And no other special register."""
    for operand in op.sources.values():
        for source in operand if isinstance(operand, tuple) else (operand,):
            if isinstance(source, Special) and source.name not in COORDINATES:
                return False
    return True


class _Watcher(ShapeAlgebra):
    """Notes plain loads and stores, and what others may see of an op or it of them. `looks`: something reads
    what the op gives."""

    looks = True

    def __init__(self, shares: bool) -> None:
        super().__init__(BlockShape(1, 1, 1))
        self.is_plain = self.speaks = False
        self._shares = shares

    def load(self, t: Type, space: str, address: Shape, count: int, volatile: bool) -> tuple[Shape, ...]:
        self._note(space, volatile)
        return (VARYING,) * count

    def store(self, t: Type, space: str, address: Shape, values: tuple[Shape, ...], volatile: bool) -> None:
        self._note(space, volatile)

    def atomic(self, op: str, t: Type, space: str, address: Shape, b: Shape, c: Shape | None) -> Shape:
        counts = identity(op, t) is not None and not self.looks
        self._note(space, volatile=not counts)
        return UNIFORM

    def fence(self, level: str) -> None:
        self.speaks = True

    def _note(self, space: str, volatile: bool) -> None:
        self.is_plain = True
        self.speaks |= volatile or (space == "shared" and not self._shares)
