"""Definitions of floats of which nobody sees which NaN they hold: a loop that only compares its results.

A NaN's bits are seen where they are stored, moved to other types, shuffled or passed to functions.
Arithmetic hands them on to its result, comparisons do not look at them. Which of these an op does follows
from its meaning, evaluated over `_Carried`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import cast

from simt.analysis.evaluate import Evaluator
from simt.analysis.facts import Same, key_of
from simt.analysis.program import Call, Op, Operand
from simt.analysis.ssa import Definition, Ssa, uses
from simt.isa.algebra import Algebra, Environment
from simt.ptx.types import F64, Type
from simt.records import dataclass

_HANDED_ON = frozenset(
    {"fadd", "fsub", "fmul", "fdiv", "fma", "fsqrt", "fmin", "fmax", "round_integral", "flush"}
)
"""Primitives that make of an operand's NaN one of their result's."""
_BLIND = frozenset({"const", "compare", "is_nan", "any_nan", "float_to_int"})
"""Primitives whose results do not depend on which NaN an operand is."""


class _Carried:
    """An algebra of truth values: an operand's NaN may be the one in the column. `seen`: something depends on
    which NaN it is."""

    def __init__(self) -> None:
        self.seen = False

    def select(self, t: Type, p: bool, a: bool, b: bool) -> bool:
        return a or b

    def rarely(self, t: Type, p: bool, usual: bool, other: Callable[..., bool], *operands: bool) -> bool:
        return usual | other(self, *operands)

    def nan_result(self, t: Type, a: bool, *operands: bool) -> bool:
        """A NaN of `.f32` is the one that arithmetic gives, whatever the operands are."""
        return t == F64 and any(operands)

    def flush_result(self, t: Type, a: bool, twice: Callable[..., bool], *operands: bool) -> bool:
        """Again with twice the digits only what is tiny, so none that is NaN."""
        return a

    def lookup(self, t: Type, index: bool, *tables: tuple[int, ...]) -> tuple[bool, ...]:
        self.seen |= index
        return (False,) * len(tables)

    def load(self, t: Type, space: str, address: bool, count: int, volatile: bool) -> tuple[bool, ...]:
        self.seen |= address
        return (False,) * count

    def warp_function(
        self, function: Callable[..., tuple[bool, ...]], results: tuple[Type, ...], *operands: bool
    ) -> tuple[bool, ...]:
        self.seen |= any(operands)
        return (False,) * len(results)

    def texture(self, *arguments: object) -> tuple[bool, ...]:
        self.seen = True
        return (False,) * 4

    def __getattr__(self, name: str) -> Callable[..., bool]:
        def primitive(*arguments: object) -> bool:
            carried = any(argument is True for argument in arguments)
            if name in _HANDED_ON:
                return carried
            self.seen |= carried and name not in _BLIND
            return False

        return primitive


class Observer:
    """Tells of an op whether it sees which NaNs its operands are; else in which results it hands them on."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self._known: dict[Hashable, tuple[bool, tuple[bool, ...]]] = {}

    def __call__(self, op: Op) -> tuple[bool, tuple[bool, ...]]:
        key = key_of(op, kind_of_operand)
        found = self._known.get(key)
        if found is None:
            carried = _Carried()
            evaluator = Evaluator(cast("Algebra[bool]", carried), Same(True), self.environment)
            results = evaluator.op(op)
            kept = tuple(d is not None and d.type.is_native_float for d in op.destinations)
            lost = any(r and d is not None and not k for r, d, k in zip(results, op.destinations, kept))
            found = self._known[key] = carried.seen or lost, results
        return found


def kind_of_operand(operand: Operand) -> Hashable:
    """How the evaluation takes an operand."""
    return tuple(map(kind_of_operand, operand)) if isinstance(operand, tuple) else type(operand)


@dataclass(frozen=True, slots=True)
class _Uses:
    """`seen`: definitions whose NaNs some instruction sees. `handed`: by definition, those whose NaNs it may
    hold."""

    seen: list[Definition]
    handed: dict[Definition, list[Definition]]


def unseen_nans(ssa: Ssa, environment: Environment) -> set[Definition]:
    """The definitions of which that is true."""
    found = {d for d in ssa.definitions if d.register.type.is_native_float}
    if not found:
        return found
    uses_ = _all_uses(ssa, Observer(environment))
    left = uses_.seen
    while left:
        definition = left.pop()
        if definition in found:
            found.remove(definition)
            left += uses_.handed.get(definition, ())
    return found


def _all_uses(ssa: Ssa, observer: Observer) -> _Uses:
    result = _Uses([], {})
    for block in ssa.schedule.order:
        for phi in ssa.phis.get(block.index, ()):
            result.handed[phi] = list(phi.inputs.values())
        for op in block.ops:
            _use(op, observer, result, ssa)
        result.seen.extend(d for r, d in ssa.read[id(block.terminator)].items() if r.type.is_native_float)
    return result


def _use(op: Op | Call, observer: Observer, result: _Uses, ssa: Ssa) -> None:
    """Notes the uses by one instruction. Guards keep old values. Most instructions have no floats."""
    read = {r: d for r, d in ssa.read[id(op)].items() if r.type.is_native_float}
    made = [d for d in ssa.of[id(op)] if d is not None and d.register.type.is_native_float]
    if not read and not made:
        return
    guarded = isinstance(op, Op) and op.guard is not None
    sources = [read[r] for r in uses(op) if r in read] if guarded else [*read.values()]
    sees, handed = observer(op) if isinstance(op, Op) else (True, ())
    if sees:
        result.seen.extend(sources)
    if not isinstance(op, Op):
        return
    for definition in made:
        old = [read[definition.register]] if guarded else []
        result.handed[definition] = old + (sources if handed[definition.place] else [])
