"""Which lanes of each warp run a block, where branches on the thread's indices alone decide that: `tid < 8`,
`tid % 64 == 0`. The meanings of instructions are run for all threads of a CTA at once, over NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from simt.analysis.evaluate import Evaluator
from simt.analysis.program import Block, Branch, FunctionAddress, Register, SymbolAddress
from simt.analysis.remade import Recipe, of_thread
from simt.analysis.shape import WARP, BlockShape, Shape
from simt.analysis.ssa import Definition, Ssa
from simt.analysis.uniformity import Uniformity
from simt.engine.numpy_algebra import NumpyAlgebra
from simt.isa.algebra import Algebra, Environment
from simt.ptx.types import U32

Array = NDArray[Any]


class KnownLanes:
    """`representatives`: by block index, a block that is run by the same lanes. `symbol`: where a variable of
    shared memory lies."""

    def __init__(
        self, ssa: Ssa, uniformity: Uniformity, representatives: Mapping[int, int], block: BlockShape,
        environment: Environment, symbol: Callable[[SymbolAddress], int],
    ) -> None:  # fmt: skip
        self.ssa = ssa
        self.representatives = representatives
        self._blocks = {b.index: b for b in ssa.schedule.order}
        self._predicates = dict(_predicates(ssa, uniformity))
        predicates, recipes = of_thread(self._predicates.values(), ssa, uniformity)
        self._predicates = {b: d for b, d in self._predicates.items() if d in predicates}
        self._threads = _Threads(ssa, uniformity.shapes, recipes, block, environment, symbol)
        entry = representatives[ssa.schedule.order[0].index]
        self._found: dict[int, Array | None] = {entry: self._threads.all}

    def of(self, block: Block) -> Array | None:
        """Of each warp, a row of lanes (bool): those that run the block, if any of the warp do. None if that
        is not known."""
        same = self.representatives[block.index]
        if same not in self._found:
            self._found[same] = None  # of loops
            self._found[same] = self._after_branch(self._blocks[same])
        return self._found[same]

    def _after_branch(self, block: Block) -> Array | None:
        if len(self.ssa.predecessors[block.index]) != 1:
            return None
        (before,) = self.ssa.predecessors[block.index]
        branch, predicate = before.terminator, self._predicates.get(before.index)
        if predicate is None or not isinstance(branch, Branch) or branch.taken is branch.otherwise:
            return None
        lanes = self.of(before)
        if lanes is None:
            return None
        holds = self._threads.value(predicate)
        return lanes & (holds if (block is branch.taken) != branch.negated else ~holds)


def _predicates(ssa: Ssa, uniformity: Uniformity) -> Iterable[tuple[int, Definition]]:
    """What branches that part lanes depend on, by block index."""
    for block in ssa.schedule.order:
        if isinstance(block.terminator, Branch) and block.index in uniformity.divergent:
            current = ssa.reaching(block)
            for op in block.ops:
                current.update((d.register, d) for d in ssa.of[id(op)] if d is not None)
            yield block.index, ssa.lookup(current, block.terminator.predicate)


class _Threads(NumpyAlgebra):
    """Values of all threads of a CTA, a row for each warp. `all`: which lanes are threads."""

    def __init__(
        self, ssa: Ssa, shapes: Mapping[Definition, Shape], recipes: Mapping[Definition, Recipe],
        block: BlockShape, environment: Environment, symbol: Callable[[SymbolAddress], int],
    ) -> None:  # fmt: skip
        self._ssa = ssa
        self._shapes = shapes
        self._recipes = recipes
        self._block = block
        self._symbol = symbol
        self._values: dict[Definition, Array] = {}
        self._inputs: Mapping[Register, Definition] = {}
        self._evaluator = Evaluator(cast("Algebra[Array]", self), self, environment)
        self._linear = np.arange(block.warps * WARP, dtype=np.uint32).reshape(-1, WARP)
        self.all = self._linear < block.threads

    def value(self, definition: Definition) -> Array:
        """For each thread."""
        if definition not in self._values:
            recipe, before = self._recipes[definition], self._inputs
            self._inputs = recipe.inputs
            with np.errstate(all="ignore"):
                values = zip(self._ssa.of[id(recipe.op)], self._evaluator.op(recipe.op))
                (value,) = (value for made, value in values if made is definition)
            self._inputs = before
            self._values[definition] = np.broadcast_to(value, self.all.shape)
        return self._values[definition]

    # Reader of the evaluator
    def register(self, register: Register) -> Array:
        definition = self._inputs[register]
        number = self._shapes[definition].const
        return self.value(definition) if number is None else self.const(register.type, number)

    def symbol(self, symbol: SymbolAddress) -> Array:
        return self.const(symbol.type, self._symbol(symbol))

    def function(self, function: FunctionAddress) -> Array:
        raise NotImplementedError

    # Special registers of `simt.analysis.remade.OF_THREAD`
    def special(self, name: str, component: str) -> Array:
        block, axis = self._block, self._block.axis(component)
        extents = (block.columns, block.y, block.z)
        if name == "laneid":
            return self._linear % WARP
        if component == "w":
            return self.const(U32, 0)
        if name == "ntid":
            return self.const(U32, extents[axis])
        below = (1, block.x, block.x * block.y)[axis]
        return self._linear // np.uint32(below) % np.uint32((block.x, block.y, block.z)[axis])
