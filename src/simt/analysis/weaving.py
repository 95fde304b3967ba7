"""Whether the local memory of a warp's lanes may be woven: the same word of all lanes side by side.

So a GPU has it, and lanes that get at the same place of their arrays get at consecutive memory. Nobody must
see it: all loads and stores of local memory are of words of one size, and no local address becomes a generic
one.
"""

from __future__ import annotations

from collections.abc import Hashable

from simt.analysis.call_graph import callees, reachable
from simt.analysis.evaluate import Evaluator
from simt.analysis.facts import key_of
from simt.analysis.observer import Anything
from simt.analysis.outline import Program
from simt.analysis.program import Op
from simt.analysis.shape import UNIFORM, VARYING, WARP, BlockShape, Hold, Shape
from simt.analysis.shape_algebra import ShapeAlgebra
from simt.ptx.types import Type

WORDS = frozenset({4, 8})
"""Bytes of words that CPUs gather and scatter."""
OTHERWISE = 0
"""The size of words that cannot be woven."""


def woven_word(kernel: str, program: Program) -> int:
    """Bytes of the words by which the local memory of a kernel's lanes may be woven, 0 if it may not."""
    functions = program.functions
    names = reachable([kernel], functions)
    if not any(functions[name].local_size for name in names):
        return 0
    if not all(callee in functions for name in names for callee in callees(functions[name])):
        return 0  # a function of the system gets at memory by itself
    watcher, seen = _Watcher(), set[Hashable]()
    evaluator: Evaluator[Shape] = Evaluator(watcher, Anything(), program.environment)
    for op in (op for name in names for op in functions[name].ops() if isinstance(op, Op)):
        key = key_of(op, type)
        if key not in seen:
            seen.add(key)
            evaluator.op(op)
    (word,) = watcher.words if len(watcher.words) == 1 else (OTHERWISE,)
    return word if word in WORDS else 0


def is_one_place(address: Shape) -> bool:
    """Whether lanes get at the same place, or those of a row do, unless an index wraps (which is tested)."""
    return address.width < WARP and not address.stride and address.hold != Hold.LIKELY


class _Watcher(ShapeAlgebra):
    """Notes the sizes of the words of local memory that ops get at."""

    def __init__(self) -> None:
        super().__init__(BlockShape(1, 1, 1))
        self.words: set[int] = set()

    def _note(self, space: str, word: int) -> None:
        if space == "local":
            self.words.add(word)

    def load(self, t: Type, space: str, address: Shape, count: int, volatile: bool) -> tuple[Shape, ...]:
        self._note(space, OTHERWISE if volatile else t.bytes)
        return (VARYING,) * count

    def store(self, t: Type, space: str, address: Shape, values: tuple[Shape, ...], volatile: bool) -> None:
        self._note(space, OTHERWISE if volatile else t.bytes)

    def atomic(self, op: str, t: Type, space: str, address: Shape, b: Shape, c: Shape | None) -> Shape:
        self._note(space, OTHERWISE)
        return UNIFORM

    def to_generic(self, t: Type, space: str, address: Shape) -> Shape:
        self._note(space, OTHERWISE)
        return super().to_generic(t, space, address)

    def from_generic(self, t: Type, space: str, address: Shape) -> Shape:
        self._note(space, OTHERWISE)
        return super().from_generic(t, space, address)

    def in_space(self, space: str, address: Shape) -> Shape:
        self._note(space, OTHERWISE)
        return super().in_space(space, address)
