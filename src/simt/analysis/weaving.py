"""Whether the local memory of a warp's lanes may be woven: the same word of all lanes side by side.

So a GPU has it, and lanes that get at the same place of their arrays get at consecutive memory. Nobody must
see it: no local address becomes a generic one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable

from simt.analysis.call_graph import callees, reachable
from simt.analysis.evaluate import Evaluator
from simt.analysis.facts import key_of
from simt.analysis.observer import Anything
from simt.analysis.outline import Program
from simt.analysis.program import Block, Function, Op, memory_operands
from simt.analysis.schedule import Loop
from simt.analysis.shape import UNIFORM, VARYING, WARP, BlockShape, Hold, Shape
from simt.analysis.shape_algebra import ShapeAlgebra
from simt.analysis.ssa import Ssa
from simt.analysis.uniformity import Uniformity
from simt.ptx.types import Type

OTHERWISE = 0
"""The size of words that cannot be woven."""
LEAST = 4
"""Bytes of the smallest words that CPUs gather and scatter: by these all are woven, where there are several
sizes."""


Known = Callable[[Function], tuple[Ssa, Uniformity]]
"""What is known of a function."""


def woven_word(kernel: Function, program: Program, known: Known) -> int:
    """Bytes of the words by which the local memory of a kernel's lanes may be woven, 0 if it may not, or if
    nothing is won. Smaller words lie in these, larger ones are several."""
    functions = {**program.functions, kernel.name: kernel}
    reached = [functions[name] for name in reachable([kernel.name], functions)]
    if not any(function.local_size for function in reached):
        return 0
    if not all(callee in functions for function in reached for callee in callees(function)):
        return 0  # a function of the system gets at memory by itself
    words = Words(program)
    sizes = {size for function in reached for _, op in words.places(function) for size in words.of(op)}
    if not sizes or OTHERWISE in sizes:
        return 0
    largest = max(sizes)
    if sizes == {largest} and largest >= LEAST:
        return largest
    together = all(_are_together(*known(function), words.places(function)) for function in reached)
    return min(largest, LEAST) if together else 0


def _are_together(ssa: Ssa, uniformity: Uniformity, places: Iterable[tuple[Block, Op]]) -> bool:
    """Whether lanes are at the same place in most accesses, also in most of each loop that they leave one by
    one. Small words at places of their own are loaded and stored lane by lane, and that they are parts of
    others costs a tenth."""
    balance = Counter[Loop | None]()
    for block, op in places:
        loop = ssa.schedule.loop_of[block.index]
        read = (ssa.read[id(op)][register] for register, _ in memory_operands(op))
        same = all(is_one_place(uniformity.shapes.get(address, VARYING)) for address in read)
        balance[None if uniformity.stays_whole(loop) else loop] += 1 if same else -1
    return all(more >= 0 for more in balance.values())


class Words:
    """The sizes of the words of local memory that ops get at."""

    def __init__(self, program: Program) -> None:
        self.watcher = _Watcher()
        self.evaluator: Evaluator[Shape] = Evaluator(self.watcher, Anything(), program.environment)
        self.seen: dict[Hashable, frozenset[int]] = {}

    def places(self, function: Function) -> list[tuple[Block, Op]]:
        """Where a function gets at local memory."""
        every = ((block, op) for block in function.blocks for op in block.ops if isinstance(op, Op))
        return [(block, op) for block, op in every if self.of(op)]

    def of(self, op: Op) -> frozenset[int]:
        key = key_of(op, type)
        if key not in self.seen:
            self.watcher.words = set()
            self.evaluator.op(op)
            self.seen[key] = frozenset(self.watcher.words)
        return self.seen[key]


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
