"""Kernels whose float arithmetic all flushes subnormals: for them the CPU can be told to read these as zeros.

With x86's "denormals are zeros" a value need not be flushed between two operations, only where its bits are
seen. `flushing` tells whether a function may run so, and which definitions never hold a subnormal by their
meaning, and so may be kept unflushed and flushed where they are read. Both follow from the instructions'
meanings, evaluated over `_Flags`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import cast

from simt.analysis.evaluate import Evaluator
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
from simt.isa.derived import infinity, sign_mask
from simt.ptx.types import F32, Type

_INDIFFERENT = frozenset(
    {"const", "select", "to_bits", "from_bits", "load", "store", "shuffle", "int_to_float"}
)
"""Primitives that do no arithmetic on subnormals, whatever their type."""


def is_subnormal(bits: int) -> bool:
    """Whether the bits of an `.f32` are those of a subnormal."""
    return bits & infinity(F32) == 0 and bits & ~sign_mask(F32) != 0


class _Flags:
    """An algebra of truth values: a column never holds an `.f32` subnormal. Notes the types of arithmetic."""

    def __init__(self) -> None:
        self.arithmetic: set[Type] = set()

    def const(self, t: Type, bits: int) -> bool:
        return t == F32 and not is_subnormal(bits)

    def select(self, t: Type, p: bool, a: bool, b: bool) -> bool:
        return a and b

    def flush(self, t: Type, a: bool) -> bool:
        self._note(t)
        return t == F32

    def flush_result(self, t: Type, a: bool, twice: Callable[..., bool], *operands: bool) -> bool:
        twice(self, *operands)
        return self.flush(t, a)

    def rarely(self, t: Type, p: bool, usual: bool, other: Callable[..., bool], *operands: bool) -> bool:
        return usual and other(self, *operands)

    def halfwise(self, function: Callable[..., bool], *operands: bool) -> bool:
        return function(self, *operands)

    def load(self, t: Type, space: str, address: bool, count: int, volatile: bool) -> tuple[bool, ...]:
        return (False,) * count

    def texture(self, *arguments: object) -> tuple[bool, ...]:
        return (False,) * 4

    def _note(self, *arguments: object) -> None:
        self.arithmetic |= {t for t in arguments if isinstance(t, Type) and t.is_float}

    def __getattr__(self, name: str) -> Callable[..., bool]:
        def primitive(*arguments: object) -> bool:
            if name not in _INDIFFERENT:
                self._note(*arguments)
            return False

        return primitive


@dataclass(frozen=True, slots=True)
class _Same:
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
    """Of an op: it does arithmetic on these floating-point types; its results are never subnormal (`always`),
    or are not if no operand is (`preserving`)."""

    arithmetic: frozenset[Type]
    always: tuple[bool, ...]
    preserving: tuple[bool, ...]

    def suits(self, flushes: bool) -> bool:
        """Whether reading subnormals as zeros changes nothing; `flushes`: the op is an `.ftz` one."""
        return self.arithmetic <= ({F32} if flushes else frozenset())


class Observer:
    """Finds and remembers the traits of ops."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self._known: dict[object, Traits] = {}

    def traits(self, op: Op) -> Traits:
        written = tuple((d.type if d is not None else None) for d in op.destinations)
        kinds = tuple(_kind(operand) for operand in op.sources.values())
        key = (id(op.form), tuple(op.binding.items()), kinds, tuple(op.source_types.values()), written)
        if key not in self._known:
            arithmetic, always = self._evaluated(op, False)
            self._known[key] = Traits(arithmetic, always, self._evaluated(op, True)[1])
        return self._known[key]

    def _evaluated(self, op: Op, flag: bool) -> tuple[frozenset[Type], tuple[bool, ...]]:
        flags = _Flags()
        results = Evaluator(cast("Algebra[bool]", flags), _Same(flag), self.environment).op(op)
        return frozenset(flags.arithmetic), results


def _kind(operand: Operand) -> object:
    """What the flag of an operand depends on, besides those of registers."""
    match operand:
        case Constant(bits=bits):
            return bits if is_subnormal(bits) else 0
        case tuple():
            return tuple(_kind(item) for item in operand)
        case _:
            return type(operand)


def _flushes(op: Op) -> bool:
    return bool(op.binding.get("ftz"))


def flushed(ssa: Ssa, observer: Observer) -> set[Definition]:
    """The `.f32` definitions that are never subnormal: the largest set in which each follows from others."""
    reasons = _reasons(ssa, observer)
    found = set(reasons)
    while lost := {d for d in found if not found.issuperset(reasons[d])}:
        found -= lost
    return found


def _reasons(ssa: Ssa, observer: Observer) -> dict[Definition, list[Definition]]:
    """For definitions that may be in that set, those that must be in it too."""
    found: dict[Definition, list[Definition]] = {}
    for block in ssa.schedule.order:
        current = ssa.reaching(block)
        for phi in (p for p in ssa.phis.get(block.index, ()) if p.register.type == F32):
            found[phi] = _defined(phi.inputs.values())
        for op in block.ops:
            for definition in (d for d in ssa.of[id(op)] if d is not None):
                if isinstance(op, Op) and definition.register.type == F32:
                    needs = _needs(op, definition, observer.traits(op), ssa, current)
                    if needs is not None:
                        found[definition] = _defined(needs)
            current |= {d.register: d for d in ssa.of[id(op)] if d is not None}
    return found


def _defined(definitions: Iterable[Definition]) -> list[Definition]:
    """Without those never written, which are zero."""
    return [d for d in definitions if d.origin != "undefined"]


def _needs(
    op: Op, definition: Definition, traits: Traits, ssa: Ssa, current: dict[Register, Definition]
) -> list[Definition] | None:
    """The definitions that must not be subnormal, or None if that is not enough (guards keep old ones)."""
    if not traits.preserving[definition.place]:
        return None
    sources = (
        [] if traits.always[definition.place] else [r for o in op.sources.values() for r in registers_of(o)]
    )
    old = [definition.register] if op.guard is not None else []
    return [ssa.lookup(current, r) for r in (*sources, *old) if r.type == F32]


def flushing(ssa: Ssa, environment: Environment) -> tuple[bool, set[Definition]]:
    """Whether the function may read subnormals as zeros, and if so the definitions that are never subnormal.

    It may if some instruction flushes, all that do arithmetic on floats flush single precision, and no
    function is called."""
    ops = [op for block in ssa.schedule.order for op in block.ops]
    observer = Observer(environment)
    some = any(isinstance(op, Op) and _flushes(op) for op in ops)
    if some and all(isinstance(op, Op) and observer.traits(op).suits(_flushes(op)) for op in ops):
        return True, flushed(ssa, observer)
    return False, set()
