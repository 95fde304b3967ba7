"""Facts about columns that follow from the instructions' meanings, evaluated over an algebra of truth values.

A fact is of `.f32` columns ("it never holds a subnormal"); `holding` finds the definitions of a function of
which it is true.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from typing import cast

from simt.analysis.evaluate import Evaluator
from simt.analysis.kinds import kind_of
from simt.analysis.program import (
    Constant,
    FunctionAddress,
    Op,
    Operand,
    Register,
    SymbolAddress,
)  # fmt: skip
from simt.analysis.ssa import Definition, Ssa, registers_of
from simt.isa.algebra import Algebra, Environment
from simt.ptx.types import F32, Type
from simt.records import dataclass

_INDIFFERENT = frozenset(
    {"const", "select", "to_bits", "from_bits", "load", "store", "shuffle", "int_to_float"}
)
"""Primitives that do no arithmetic on floats, whatever their type."""


class Fact:
    """An algebra of truth values: the fact is true of a column. Notes the types of floating-point arithmetic.

    A subclass says of which constants and results it is true; what it does not say is false."""

    def __init__(self) -> None:
        self.arithmetic: set[Type] = set()

    @staticmethod
    def of_constant(bits: int) -> bool:
        """Whether it is true of an `.f32` constant."""
        return False

    def const(self, t: Type, bits: int) -> bool:
        return t == F32 and self.of_constant(bits)

    def select(self, t: Type, p: bool, a: bool, b: bool) -> bool:
        return a and b

    def rarely(self, t: Type, p: bool, usual: bool, other: Callable[..., bool], *operands: bool) -> bool:
        return usual and other(self, *operands)

    def halfwise(self, function: Callable[..., bool], *operands: bool) -> bool:
        return function(self, *operands)

    def lookup(self, t: Type, index: bool, *tables: tuple[int, ...]) -> tuple[bool, ...]:
        return (False,) * len(tables)

    def bytewise(self, function: Callable[..., bool], a: bool, b: bool, c: bool) -> bool:
        return function(self, a, b, c)

    def by_halves(self, function: Callable[..., bool], *operands: bool) -> bool:
        return function(self, *((operand, operand) for operand in operands))

    def warp_function(
        self, function: Callable[..., tuple[bool, ...]], results: tuple[Type, ...], *operands: bool
    ) -> tuple[bool, ...]:
        return function(self, *operands)

    def seldom(
        self, p: bool, usual: tuple[bool, ...], function: Callable[..., tuple[bool, ...]], *operands: bool
    ) -> tuple[bool, ...]:
        found = function(self, *operands)
        return tuple(a and b for a, b in zip(usual, found))

    def any_nan(self, t: Type, a: bool) -> bool:
        return a

    def load(self, t: Type, space: str, address: bool, count: int, volatile: bool) -> tuple[bool, ...]:
        return (False,) * count

    def texture(self, *arguments: object) -> tuple[bool, ...]:
        return (False,) * 4

    def note(self, *arguments: object) -> None:
        """Arithmetic on the types among the arguments."""
        self.arithmetic |= {t for t in arguments if isinstance(t, Type) and t.is_float}

    def __getattr__(self, name: str) -> Callable[..., bool]:
        def primitive(*arguments: object) -> bool:
            if name not in _INDIFFERENT:
                self.note(*arguments)
            return False

        return primitive


@dataclass(frozen=True, slots=True)
class Same:
    """Reads every register as the same flag."""

    flag: bool

    def register(self, register: Register) -> bool:
        return self.flag

    def symbol(self, symbol: SymbolAddress) -> bool:
        return False

    def function(self, function: FunctionAddress) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class Traits:
    """Of an op: it does arithmetic on these floating-point types; the fact is true of its results (`always`),
    or is if it is of all operands (`preserving`)."""

    arithmetic: frozenset[Type]
    always: tuple[bool, ...]
    preserving: tuple[bool, ...]


def key_of(op: Op, kind: Callable[[Operand], Hashable]) -> Hashable:
    """What the evaluation of an op over truth values depends on; `kind` of each operand. (An operand of one
    type may be a register of another.)"""
    found: list[Hashable] = [op.kind or kind_of(op)]
    for operand in op.sources.values():
        if isinstance(operand, Register):  # most are
            found.append(operand.type)
        else:
            found += kind(operand), tuple([register.type for register in registers_of(operand)])
    return tuple(found)


class Observer:
    """Finds and remembers the traits of ops."""

    def __init__(self, environment: Environment, fact: type[Fact]) -> None:
        self.environment = environment
        self.fact = fact
        self._known: dict[Hashable, Traits] = {}

    def traits(self, op: Op) -> Traits:
        key = key_of(op, self._kind)
        found = self._known.get(key)
        if found is None:
            arithmetic, always = self._evaluated(op, False)
            found = self._known[key] = Traits(arithmetic, always, self._evaluated(op, True)[1])
        return found

    def _evaluated(self, op: Op, flag: bool) -> tuple[frozenset[Type], tuple[bool, ...]]:
        fact = self.fact()
        results = Evaluator(cast("Algebra[bool]", fact), Same(flag), self.environment).op(op)
        return frozenset(fact.arithmetic), results

    def _kind(self, operand: Operand) -> Hashable:
        """What the flag of an operand depends on, besides those of registers."""
        match operand:
            case Constant(bits=bits):
                return self.fact.of_constant(bits)
            case tuple():
                return tuple(self._kind(item) for item in operand)
            case _:
                return type(operand)


def holding(ssa: Ssa, observer: Observer) -> set[Definition]:
    """The `.f32` definitions of which the fact is true: the largest set in which each follows from others."""
    reasons = _reasons(ssa, observer)
    needed: dict[Definition, list[Definition]] = defaultdict(list)
    lost: list[Definition] = []
    for definition, needs in reasons.items():
        for need in needs:
            needed[need].append(definition)
        if any(need not in reasons for need in needs):
            lost.append(definition)
    found = set(reasons)
    while lost:
        definition = lost.pop()
        if definition in found:
            found.remove(definition)
            lost += needed[definition]
    return found


def _reasons(ssa: Ssa, observer: Observer) -> dict[Definition, list[Definition]]:
    """For definitions that may be in that set, those that must be in it too."""
    found: dict[Definition, list[Definition]] = {}
    for block in ssa.schedule.order:
        for phi in (p for p in ssa.phis.get(block.index, ()) if p.register.type is F32):
            found[phi] = _defined(phi.inputs.values())
        for op in block.ops:
            for definition in ssa.of[id(op)]:
                if definition is not None and definition.register.type is F32 and isinstance(op, Op):
                    needs = _needs(op, definition, observer.traits(op), ssa.read[id(op)])
                    if needs is not None:
                        found[definition] = _defined(needs)
    return found


def _defined(definitions: Iterable[Definition]) -> list[Definition]:
    """Without those never written, which are zero."""
    return [d for d in definitions if d.origin != "undefined"]


def _needs(
    op: Op, definition: Definition, traits: Traits, read: dict[Register, Definition]
) -> list[Definition] | None:
    """Of which definitions the fact must be true; None if that is not enough. Guards keep old ones."""
    if not traits.preserving[definition.place]:
        return None
    sources = (
        [] if traits.always[definition.place] else [r for o in op.sources.values() for r in registers_of(o)]
    )
    old = [definition.register] if op.guard is not None else []
    return [read[r] for r in (*sources, *old) if r.type is F32]
