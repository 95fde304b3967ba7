"""Which lanes of each warp run a block, where branches on the thread's indices alone decide that (`tid < 8`,
`tid % 64 == 0`), and where in shared memory they get at there. The meanings of instructions are run for all
threads of a CTA at once, over NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from simt.analysis.evaluate import Evaluator
from simt.analysis.program import (
    Block,
    Branch,
    FunctionAddress,
    Op,
    Register,
    SymbolAddress,
    memory_operands,
)
from simt.analysis.range_algebra import Range
from simt.analysis.remade import Facts, Recipe, told_by_thread
from simt.analysis.shape import WARP, BlockShape, Shape, trailing_zeros
from simt.analysis.ssa import Definition, Ssa
from simt.analysis.uniformity import Uniformity
from simt.engine.numpy_algebra import NumpyAlgebra, dtype_of
from simt.isa.algebra import Algebra, Environment
from simt.isa.special_registers import lookup
from simt.ptx.types import U32
from simt.records import dataclass

Array = NDArray[Any]


@dataclass(frozen=True)
class Lanes:
    """`of_warps`: for each warp a row of lanes (bool), beyond which none runs a block. `are_all`: a warp that
    runs it does so with all of them."""

    of_warps: Array
    are_all: bool

    @property
    def numbers(self) -> tuple[int, ...]:
        """Those of any warp."""
        return tuple(int(n) for n in np.flatnonzero(self.of_warps.any(axis=0)))

    @property
    def warps(self) -> int:
        """How many there are up to the last one that has lanes."""
        return int(np.flatnonzero(self.of_warps.any(axis=1)).max(initial=-1)) + 1

    @property
    def are_alike(self) -> bool:
        """Whether they are the same in all warps that have some."""
        some = self.of_warps[self.of_warps.any(axis=1)]
        return bool((some == some[:1]).all())


class KnownLanes:
    """`representatives`: by block index, a block that is run by the same lanes. `facts`: of
    `branches_of_thread`. `symbol`: where a variable of shared memory lies."""

    def __init__(
        self, ssa: Ssa, uniformity: Uniformity, representatives: Mapping[int, int],
        facts: Mapping[int, tuple[Facts, Facts]], block: BlockShape, environment: Environment,
        symbol: Callable[[SymbolAddress], int],
    ) -> None:  # fmt: skip
        self.ssa = ssa
        self.representatives = representatives
        self._facts = facts
        self._divergent = uniformity.divergent
        told = (definition for ways in facts.values() for way in ways for definition, _ in way)
        wanted = dict.fromkeys((*told, *_addresses(ssa)))
        self._told, recipes = told_by_thread(wanted, ssa, uniformity)
        self._threads = _Threads(ssa, uniformity.shapes, recipes, block, environment, symbol)
        entry = representatives[ssa.schedule.order[0].index]
        self._found = {entry: Lanes(self._threads.all, True)}
        leaders: dict[int, Block] = {}
        for at in ssa.schedule.order:
            leaders.setdefault(representatives[at.index], at)
        del leaders[entry]
        while sum(self._takes_more(number, at) for number, at in leaders.items()):
            pass  # until nothing new comes back in loops

    def of(self, block: Block) -> Lanes:
        """Those that may run a block."""
        return self._found[self.representatives[block.index]]

    def reach(self, op: Op, block: Block, more: int) -> Range | None:
        """Bounds of an op's addresses in shared memory, in all lanes of the warps that may run its block. Of
        lanes that do not run it they may lie `more` bytes above. None if bounds are not known."""
        lanes, address = self.of(block).of_warps, _address(self.ssa, op)
        if address is None or address[0] not in self._told or not lanes.any():
            return None
        definition, offset = address
        places = (self._threads.value(definition).astype(np.int64) + offset) % 2**U32.bits
        of_warps, top = places[lanes.any(axis=1)], int(places[lanes].max())
        least, most = int(of_warps.min()), int(of_warps.max())
        bits = int(np.bitwise_or.reduce(of_warps, axis=None))
        return Range(least, top if most <= top + more else most, trailing_zeros(bits))

    def _takes_more(self, number: int, block: Block) -> bool:
        """Whether lanes come to a block by one of its ways of which that was not known. Who has not been
        found to come to where a way begins does not come that way."""
        before = self.ssa.predecessors[block.index]
        ways = [way for at in before if (way := self._way(at, block)) is not None]
        if not ways:
            return False
        lanes = np.logical_or.reduce([way.of_warps for way in ways])
        known = self._found.get(number)
        if known is not None and not (lanes & ~known.of_warps).any():
            return False
        self._found[number] = Lanes(lanes, len(before) == 1 and ways[0].are_all)
        return True

    def _way(self, before: Block, block: Block) -> Lanes | None:
        """Those that go from one block to another."""
        lanes = self._found.get(self.representatives[before.index])
        if lanes is None:
            return None
        branch, ways = before.terminator, self._facts.get(before.index)
        if ways is None or not isinstance(branch, Branch) or branch.taken is branch.otherwise:
            return Lanes(lanes.of_warps, lanes.are_all and before.index not in self._divergent)
        going = lanes.of_warps
        for definition, value in ways[(block is branch.taken) != branch.negated]:
            holds = self._threads.value(definition)
            going = going & (holds if value else ~holds)
        return Lanes(going, lanes.are_all and all(ways))


def _addresses(ssa: Ssa) -> Iterable[Definition]:
    """All of shared memory."""
    for block in ssa.schedule.order:
        for op in block.ops:
            address = _address(ssa, op) if isinstance(op, Op) else None
            if address is not None:
                yield address[0]


def _address(ssa: Ssa, op: Op) -> tuple[Definition, int] | None:
    """Where an op gets at in shared memory, if that is in one register of 32 bits, and a constant."""
    operands = list(memory_operands(op)) if op.form.moves_memory else []
    if len(operands) != 1 or op.binding.get("space") != "shared" or operands[0][0].type.bits != U32.bits:
        return None
    ((register, offset),) = operands
    return ssa.read[id(op)][register], offset


class _Threads(NumpyAlgebra):
    """Values of all threads of a CTA, and of idle lanes, a row for each warp. `all`: which are threads."""

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
        self.all = (self._linear < block.threads) & (self._linear % block.x < block.columns * block.ctas)

    def value(self, definition: Definition) -> Array:
        """For each thread."""
        shape, t = self._shapes[definition], definition.register.type
        if shape.const is not None:
            return np.broadcast_to(self.const(t, shape.const), self.all.shape)
        if shape.is_of_lane:
            lanes = self._linear % self._block.segment
            return lanes.astype(dtype_of(t)) * np.array(shape.stride % 2**t.bits, dtype_of(t))
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
        return self.value(self._inputs[register])

    def symbol(self, symbol: SymbolAddress) -> Array:
        return self.const(symbol.type, self._symbol(symbol))

    def function(self, function: FunctionAddress) -> Array:
        """No value of a thread depends on it."""
        raise LookupError(function.name)

    def special(self, name: str, component: str) -> Array:
        """Of `simt.analysis.remade.OF_THREAD`."""
        entry = lookup(f"%{name}", component)
        return self._special(name, component).astype(dtype_of(U32 if entry is None else entry.type))

    def _special(self, name: str, component: str) -> Array:
        block, axis = self._block, self._block.axis(component)
        if name == "laneid":
            return self._linear % WARP
        if component == "w":
            return self._linear * 0
        if name == "ntid":
            return self._linear * 0 + (block.columns, block.y, block.z)[axis]
        below = (1, block.x, block.x * block.y)[axis]
        return self._linear // below % (block.x, block.y, block.z)[axis]
