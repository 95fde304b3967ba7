"""Values that are cheaper to make again, wherever they are read, than to keep over barriers.

These are what the thread's and the CTA's indices and the parameters give by adding and scaling; of integers
that are the same for all lanes, whatever takes no division. (Most of these are the same for all warps as
well: LLVM makes them once for a CTA, where each warp would store and load them.) What the thread's indices
alone give, in whatever way, is kept, but may be made again as well: where code stands for each warp by
itself, it is a number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from simt.analysis.program import (
    Address,
    Branch,
    Constant,
    Op,
    Operand,
    Register,
    Special,
    SymbolAddress,
)
from simt.analysis.quick import Quick
from simt.analysis.shape import Shape
from simt.analysis.ssa import Definition, Ssa, uses
from simt.analysis.uniformity import Uniformity
from simt.isa.algebra import Environment
from simt.isa.logic import and_, not_, or_
from simt.records import dataclass

INDICES = frozenset({"tid", "ntid", "ctaid", "nctaid", "laneid"})
"""Special registers that read the same as long as a thread runs."""
OF_THREAD = frozenset({"tid", "ntid", "laneid"})
"""Those that a warp's number and the CTA's shape tell."""
DEPTH = 8
"""Instructions that are run again, at most, for a value."""
TOLD = 64
"""The same where they are run when compiling."""


@dataclass(frozen=True)
class Recipe:
    """The op that makes a value, and the definitions that its registers have there."""

    op: Op
    inputs: Mapping[Register, Definition]


def remade(
    definitions: Iterable[Definition], ssa: Ssa, uniformity: Uniformity, environment: Environment
) -> dict[Definition, Recipe]:
    """Recipes for those of some definitions that are cheap, and for what these need."""
    may = partial(_is_cheap, Quick(environment))
    return _Recipes(ssa, uniformity, may, DEPTH).for_all(definitions)[1]


def of_thread(
    definitions: Iterable[Definition], ssa: Ssa, uniformity: Uniformity
) -> tuple[set[Definition], dict[Definition, Recipe]]:
    """Those of some definitions that the thread's indices alone tell, and recipes for them and for what these
    need."""
    return _Recipes(ssa, uniformity, _is_of_thread, DEPTH).for_all(definitions)


def told_by_thread(
    definitions: Iterable[Definition], ssa: Ssa, uniformity: Uniformity
) -> tuple[set[Definition], dict[Definition, Recipe]]:
    """The same for code that is run when compiling, which knows the lane: what is a multiple of its number
    (`Shape.is_of_lane`) has no recipe."""
    return _Recipes(ssa, uniformity, _is_of_thread, TOLD, lanes=True).for_all(definitions)


Facts = tuple[tuple[Definition, bool], ...]
"""Predicates that the thread's indices alone tell, and what they are."""


def branches_of_thread(ssa: Ssa, uniformity: Uniformity) -> dict[int, tuple[Facts, Facts]]:
    """What is known of lanes that go either way at a branch that parts them, by block index: where its
    predicate is false, and where it is true. (`t >= k && t < 16`, of which `k` is not known, tells something
    of one way alone.)"""
    recipes, found = _Recipes(ssa, uniformity, _is_of_thread, TOLD, lanes=True), dict[int, Definition]()
    for block in ssa.schedule.order:
        if isinstance(block.terminator, Branch) and block.index in uniformity.divergent:
            current = ssa.reaching(block)
            for op in block.ops:
                current.update((d.register, d) for d in ssa.of[id(op)] if d is not None)
            found[block.index] = ssa.lookup(current, block.terminator.predicate)
    told = {at: (recipes.facts(p, False), recipes.facts(p, True)) for at, p in found.items()}
    return {at: ways for at, ways in told.items() if any(ways)}


class _Recipes:
    """`of`: every op that could be run again, by `may`, which is told the shape of its one result; `cost`
    tells how many instructions that takes in all, of which there are to be `most`. `lanes`: multiples of the
    lane's number take none."""

    def __init__(
        self, ssa: Ssa, uniformity: Uniformity, may: Callable[[Op, Shape], bool], most: int,
        lanes: bool = False,
    ) -> None:  # fmt: skip
        self.uniformity = uniformity
        self.lanes = lanes
        self.most = most
        self.of: dict[Definition, Recipe] = {}
        self._costs: dict[Definition, int] = {}
        for block in ssa.schedule.order:
            current = ssa.reaching(block)
            for op in block.ops:
                made = [d for d in ssa.of[id(op)] if d is not None]
                if isinstance(op, Op) and len(made) == 1 and self._may_run_again(op, made[0], may):
                    self.of[made[0]] = Recipe(op, {r: ssa.lookup(current, r) for r in uses(op)})
                current.update((d.register, d) for d in made)

    def for_all(self, definitions: Iterable[Definition]) -> tuple[set[Definition], dict[Definition, Recipe]]:
        """Those of some definitions that are cheap; recipes for them and for what these need."""
        found: dict[Definition, Recipe] = {}
        work = [d for d in definitions if self.cost(d) <= self.most]
        cheap = set(work)
        while work:
            definition = work.pop()
            if definition not in found and not self._is_number(definition):
                found[definition] = self.of[definition]
                work += found[definition].inputs.values()
        return cheap, found

    def facts(self, predicate: Definition, value: bool) -> Facts:
        """What follows from a predicate's value."""
        if self.cost(predicate) <= self.most:
            return ((predicate, value),)
        recipe = self.of.get(predicate)
        if recipe is None or not predicate.register.type.is_predicate:
            return ()
        meaning, parts = recipe.op.form.meaning, recipe.inputs.values()
        if meaning is not_:
            return tuple(fact for part in parts for fact in self.facts(part, not value))
        if meaning is (and_ if value else or_):
            return tuple(fact for part in parts for fact in self.facts(part, value))
        return ()

    def _is_number(self, definition: Definition) -> bool:
        """Whether it needs no instruction."""
        shape = self.uniformity.shapes.get(definition)
        return shape is not None and (shape.const is not None or (self.lanes and shape.is_of_lane))

    def cost(self, definition: Definition) -> int:
        """More than `most` if it must be kept. Definitions come after those that they are made of."""
        if definition not in self._costs:
            recipe = self.of.get(definition)
            self._costs[definition] = 0 if self._is_number(definition) else self.most + 1
            if recipe is not None and self._costs[definition]:
                inputs = sum(self.cost(d) for d in recipe.inputs.values())
                self._costs[definition] = min(1 + inputs, self.most + 1)
        return self._costs[definition]

    def _may_run_again(self, op: Op, definition: Definition, may: Callable[[Op, Shape], bool]) -> bool:
        shape = self.uniformity.shapes.get(definition)
        if op.guard is not None or shape is None or definition in self.uniformity.blends:
            return False
        return may(op, shape)


def _is_cheap(quick: Quick, op: Op, shape: Shape) -> bool:
    if not (shape.is_affine and shape.width == 1) and not shape.swaps:
        return False
    sources = op.sources.values()
    if any(isinstance(s, Special) and s.name not in INDICES for s in sources):
        return False
    if op.form.effects:
        return all(_is_parameter(s) for s in sources) and bool(sources)
    if shape.stride or shape.swaps:
        return True
    if all(isinstance(s, Special | Constant | SymbolAddress) for s in sources):
        return True
    return (
        all(isinstance(s, Register | Constant) for s in sources) and _of_integers(op) and quick.is_quick(op)
    )


def _of_integers(op: Op) -> bool:
    return not any(d.type.is_native_float for d in op.destinations if d is not None)


def _is_of_thread(op: Op, shape: Shape) -> bool:
    """Generic addresses depend on where memory lies."""
    alone = not op.form.effects and op.binding.get("space") is None
    return shape.exact and alone and all(map(_tells_of_thread, op.sources.values()))


def _tells_of_thread(source: Operand) -> bool:
    match source:
        case Special():
            return source.name in OF_THREAD
        case SymbolAddress():
            return source.space == "shared"
        case Register() | Constant():
            return True
        case _:
            return False


def _is_parameter(source: Operand) -> bool:
    """Whether a source is the place of a kernel's parameter."""
    return (
        isinstance(source, Address)
        and isinstance(source.base, SymbolAddress)
        and source.base.space == "param"
    )
