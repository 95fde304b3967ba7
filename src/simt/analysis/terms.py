"""What values are made of, as sums that can be compared.

A value is a sum of numbers times *atoms*, modulo its width: what memory or an analysis gave, or what an op
that is no sum made of other such sums. Two values with equal sums are equal. `simt.analysis.rolled_again`
follows a loop so, turn by turn: a value may grow with the number of turns that are done, and how much is a
part of its sum.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from itertools import product
from typing import Any, cast

from simt.analysis.evaluate import Remembering
from simt.analysis.kinds import kind_of
from simt.analysis.program import Address, FunctionAddress, Op, Operand, Register, SymbolAddress
from simt.analysis.ssa import Definition, Ssa
from simt.isa.algebra import Algebra, Comparison, Composed, Environment
from simt.ptx.types import PRED, S32, Type
from simt.records import dataclass, quick

DEEP = 12
"""Ops behind each other that are looked at outside of what is followed."""
FAR = 1 << 26
"""How far a counter goes at most, in a turn and in what a turn gets at."""
NEXT = 16
"""Steps that a counter goes at most beyond what a turn begins with."""
MOST_PARTS = 64
"""Of a sum; beyond that it is something of its own."""


@dataclass(frozen=True, slots=True)
class Atom:
    """`turns`: times the number of turns that are done. `number`: of `Atoms`; below 0: 1."""

    number: int
    turns: bool = False


@quick
@dataclass(frozen=True, slots=True)
class Sum:
    """`number` and the atoms, each so many times, modulo 2^bits."""

    bits: int
    number: int
    parts: frozenset[tuple[Atom, int]] = frozenset()

    def added(self, other: Sum, times: int = 1) -> Sum:
        """The sum with another one, so many times."""
        parts = dict(self.parts)
        for atom, count in other.parts:
            parts[atom] = (parts.get(atom, 0) + times * count) % (1 << self.bits)
        kept = frozenset((atom, count) for atom, count in parts.items() if count)
        return Sum(self.bits, (self.number + times * other.number) % (1 << self.bits), kept)

    @property
    def turning(self) -> Sum:
        """This many in each turn that is done."""
        one = {Atom(-1, turns=True): self.number} if self.number else dict[Atom, int]()
        return Sum(self.bits, 0, frozenset((one | {Atom(a.number, True): n for a, n in self.parts}).items()))


def acts(op: Op) -> bool:
    """Whether an op does something, or gets what others may have changed: not so loads of parameters."""
    address = op.sources.get("a")
    given = isinstance(address, Address) and isinstance(address.base, SymbolAddress)
    return bool(op.form.effects) and not (
        given and op.form.moves_memory and op.binding.get("space") == "param"
    )


class NoSumError(Exception):
    """An op is no sum of its operands."""


def _bound(parts: int) -> None:
    """Raises `NoSumError` for sums of so many parts as no index has: products of long numbers, of which each
    step would have as many as the product of its operands' parts."""
    if parts > MOST_PARTS:
        raise NoSumError


def named(key: Hashable, *names: str) -> bool:
    """Whether a key is that of one of some operations."""
    return isinstance(key, tuple) and cast("tuple[Hashable, ...]", key)[0] in names


class TermAlgebra(Composed[Sum]):
    """The primitives by which sums are made of sums, and a few that are asked for by name.

    `starts`: sums with which counters begin, and what these go on by. Where a counter is extended, so are
    its start and what it has gone on: that it does not wrap is for others to see to, and noted in `extended`,
    with whether its sign was, and the step. `rising`: steps that were taken to be above zero. `positive`:
    starts that are not below zero. `others`: what was extended by its sign besides; an index that goes on
    with a counter may begin so."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self.keys: list[Hashable] = []
        self.starts: dict[Sum, Sum] = {}
        self.positive: set[Sum] = set()
        self.rising: set[Sum] = set()
        self.others: dict[Sum, None] = {}
        self.extended: set[tuple[Sum, bool, Sum]] = set()

    def __getattr__(self, name: str) -> Any:
        raise NoSumError

    def atom(self, bits: int, *key: Hashable) -> Sum:
        """What is told by a key, and by nothing else."""
        number = self._numbers.setdefault(key, len(self.keys))
        if number == len(self.keys):
            self.keys.append(key)
        return Sum(bits, 0, frozenset({(Atom(number), 1)}))

    def key(self, term: Sum) -> Hashable:
        """What a value is that is a single atom; None if it is not."""
        ((atom, count),) = term.parts if len(term.parts) == 1 else ((Atom(-1), 0),)
        return self.keys[atom.number] if count == 1 and not term.number and not atom.turns else None

    # -- primitives --------------------------------------------------------------------------------

    def const(self, t: Type, bits: int) -> Sum:
        return Sum(t.bits, bits)

    def select(self, t: Type, p: Sum, a: Sum, b: Sum) -> Sum:
        return self.atom(t.bits, "select", p, a, b)

    def add(self, t: Type, a: Sum, b: Sum) -> Sum:
        _bound(len(a.parts) + len(b.parts))
        return a.added(b)

    def sub(self, t: Type, a: Sum, b: Sum) -> Sum:
        _bound(len(a.parts) + len(b.parts))
        return a.added(b, -1)

    def mul(self, t: Type, a: Sum, b: Sum) -> Sum:
        _bound(len(a.parts) * len(b.parts))
        found = Sum(t.bits, a.number * b.number % (1 << t.bits)).added(Sum(t.bits, 0, a.parts), b.number)
        found = found.added(Sum(t.bits, 0, b.parts), a.number)
        for (one, many), (other, times) in product(a.parts, b.parts):
            if one.turns or other.turns or one.number < 0 or other.number < 0:
                raise NoSumError
            pair = frozenset(Sum(t.bits, 0, frozenset({(atom, 1)})) for atom in (one, other)), one == other
            found = found.added(self.atom(t.bits, "mul", *pair), many * times)
        return found

    def shift_left(self, t: Type, a: Sum, n: Sum) -> Sum:
        if n.parts:
            raise NoSumError
        return Sum(t.bits, 0).added(a, 1 << n.number if n.number < t.bits else 0)

    def shift_right(self, t: Type, a: Sum, n: Sum) -> Sum:
        if n.parts or n.number >= t.bits:
            raise NoSumError
        if t.is_signed:
            return self._lower_half(t, a, n.number)
        return self.divide(t, a, Sum(t.bits, 1 << n.number))

    def _lower_half(self, t: Type, a: Sum, n: int) -> Sum:
        """The lower 32 bits of a number of 64, which was shifted left by 32, shifted right by so many."""
        half = 1 << 32
        if t.bits != 64 or n > 32 or a.number % half or any(count % half for _, count in a.parts):
            raise NoSumError
        whole = Sum(64, a.number // half, frozenset((atom, count // half) for atom, count in a.parts))
        return self.shift_left(t, self.resize(S32, t, self.resize(t, S32, whole)), Sum(32, 32 - n))

    def invert(self, t: Type, a: Sum) -> Sum:
        if t.is_predicate:
            return self.atom(1, "not", a) if self._name(a) != "not" else cast("Any", self.key(a))[1]
        return Sum(t.bits, (1 << t.bits) - 1).added(a, -1)

    def and_(self, t: Type, a: Sum, b: Sum) -> Sum:
        if t.is_predicate:
            return self.atom(1, "both", frozenset((a, b)))
        if b.parts:
            raise NoSumError
        return self._masked(a, b.number)

    def _masked(self, a: Sum, mask: int) -> Sum:
        """The bits of a value that a mask selects: those of a quotient from bit 0 on, times a power."""
        below = (mask & -mask).bit_length() - 1
        if below > 0:
            higher = self._masked(self._shifted(a, below), mask >> below)
            return Sum(a.bits, 0).added(higher, 1 << below)
        return self.atom(a.bits, "and", a if mask & (mask + 1) else self.lowest(a, mask), mask)

    def _shifted(self, a: Sum, n: int) -> Sum:
        return self.atom(a.bits, "divide", a, Sum(a.bits, 1 << n))

    def lowest(self, a: Sum, mask: int) -> Sum:
        """A value with the same lowest bits (those of a mask), in one form: what a dividend has of whole
        divisors is added to the quotient."""
        found = Sum(a.bits, a.number)
        for atom, count in a.parts:
            one = Sum(a.bits, 0, frozenset({(atom, 1)}))
            if self._name(one) == "divide":
                _, dividend, divisor = cast("tuple[str, Sum, Sum]", self.key(one))
                one = self._lowest_of(dividend, divisor, mask) or one
            found = found.added(one, count)
        kept = frozenset((atom, count & mask) for atom, count in found.parts if count & mask)
        return Sum(a.bits, found.number & mask, kept)

    def _lowest_of(self, a: Sum, divisor: Sum, mask: int) -> Sum | None:
        """The same of a quotient by a power of two."""
        by, bits = divisor.number, a.bits
        if divisor.parts or not by or by & (by - 1) or mask >= (1 << bits) // by:
            return None
        whole = Sum(bits, a.number // by)
        if all(count % by == 0 for _, count in a.parts):
            parts = frozenset((atom, count // by) for atom, count in a.parts)
            return whole.added(self.lowest(Sum(bits, 0, parts), mask))
        return whole.added(self.atom(bits, "divide", a.added(Sum(bits, by), -whole.number), divisor))

    def or_(self, t: Type, a: Sum, b: Sum) -> Sum:
        """Of numbers, where it is their sum."""
        if t.is_predicate:
            return self.atom(1, "either", frozenset((a, b)))
        if self._bits(a) & self._bits(b):
            raise NoSumError
        return a.added(b)

    def _bits(self, a: Sum) -> int:
        """The bits that a value may have."""
        ((atom, count),) = a.parts if len(a.parts) == 1 else ((Atom(-1), 1),)
        one = Sum(a.bits, 0, frozenset({(atom, 1)}))
        if not a.parts:
            return a.number
        if not a.number and count & (count - 1) == 0 and self._name(one) == "and":
            return cast("tuple[str, Sum, int]", self.key(one))[2] * count % (1 << a.bits)
        return (1 << self.most(a).bit_length()) - 1

    def most(self, a: Sum) -> int:
        """What a value is at most."""
        found = a.number + sum(count * self._most_of(atom, a.bits) for atom, count in a.parts)
        return min(found, (1 << a.bits) - 1)

    def _most_of(self, atom: Atom, bits: int) -> int:
        match () if atom.turns else self.keys[atom.number]:
            case ("and", Sum() as a, int() as mask):
                return min(self.most(a), mask)
            case ("extended", False, Sum() as a):
                return self.most(a)
            case ("divide", Sum() as a, Sum() as by) if not by.parts and by.number:
                return self.most(a) // by.number
            case _:
                return (1 << bits) - 1

    def is_made_of(self, key: Hashable, stays: Callable[[Definition], bool]) -> bool:
        """Whether a value is made of definitions that stay alone, in the same way in each turn."""
        match key:
            case Sum():
                atoms = [atom for atom, _ in key.parts]
                return all(not a.turns and self.is_made_of(self.keys[a.number], stays) for a in atoms)
            case Definition():
                return stays(key)
            case frozenset() | tuple():
                parts = cast("frozenset[Hashable] | tuple[Hashable, ...]", key)
                fixed = not named(parts, "begins", "effect")
                return fixed and all(self.is_made_of(part, stays) for part in parts)
            case _:
                return True

    def implied(self, a: Sum) -> Iterator[Sum]:
        """The predicates that surely hold where one does, that one among them."""
        yield a
        name, *rest = cast("tuple[Any, ...]", self.key(a) or ("",))
        if name == "both":
            for one in rest[0]:
                yield from self.implied(one)
        if name == "not" and self._name(rest[0]) == "either":
            _, ways = cast("tuple[str, frozenset[Sum]]", self.key(rest[0]))
            for one in ways:
                yield from self.implied(self.invert(PRED, one))

    def divide(self, t: Type, a: Sum, b: Sum) -> Sum:
        if t.is_signed:
            raise NoSumError
        return a if b == Sum(t.bits, 1) else self.atom(t.bits, "divide", a, b)

    def divide_short(self, t: Type, a: Sum, b: Sum) -> Sum:
        if t.is_signed:
            raise NoSumError
        return self.atom(t.bits, "divide_short", a, b)

    def maximum(self, t: Type, a: Sum, b: Sum) -> Sum:
        if t.is_float:
            raise NoSumError
        return self.atom(t.bits, "max", t.is_signed, frozenset((a, b)))

    def compare(self, op: Comparison, t: Type, a: Sum, b: Sum) -> Sum:
        """`lt` and `eq` alone."""
        if t.is_float:
            raise NoSumError
        if op in ("gt", "le"):
            a, b = b, a
        if op not in ("eq", "ne") and not t.is_signed and self._name(a) == "divide":
            _, dividend, divisor = cast("tuple[str, Sum, Sum]", self.key(a))
            if not (b.parts or divisor.parts) and b.number * divisor.number < 1 << t.bits:
                a, b = dividend, Sum(t.bits, b.number * divisor.number)
        if op in ("eq", "ne"):
            found = self._equal(a, b)
        else:
            found = self.atom(1, "lt", t.is_signed, a, b)
        return self.atom(1, "not", found) if op in ("ne", "le", "ge") else found

    def _equal(self, a: Sum, b: Sum) -> Sum:
        """Whether a difference is zero: of the two that there are, one is taken. Bits in the middle of a
        value are compared as if they were its lowest."""
        bits, zero = a.bits, Sum(a.bits, 0)
        gone = a.added(b, -1)
        parts = sorted((atom.number, atom.turns, count) for atom, count in gone.parts)
        if parts and parts[0][2] >> bits - 1:
            gone = b.added(a, -1)
        ((atom, count),) = gone.parts if len(parts) == 1 else ((Atom(-1), 0),)
        one, other = Sum(bits, 0, frozenset({(atom, 1)})), -gone.number % (1 << bits)
        if count and self._name(one) == "and" and not other % count and self.most(one) * count < 1 << bits:
            gone = one.added(Sum(bits, other // count), -1)
        return self.atom(1, "eq", gone, zero)

    def resize(self, source: Type, target: Type, a: Sum) -> Sum:
        if target.bits == source.bits:
            return a
        if target.bits < source.bits:
            return self._each(a, target.bits, lambda one: self._cut(target.bits, one))
        if not a.parts:
            return self._extended(source.is_signed, target, a)
        if a in self.starts.values():
            self.rising.add(a)
            return self._extended(False, target, a)
        start, step = self._start_of(a)
        if start is None and source.is_signed:
            self.others[Sum(a.bits, a.number, frozenset((o, n) for o, n in a.parts if not o.turns))] = None
            start, step = self._start_of(a)
        if start is None:
            return self._extended(source.is_signed, target, a)
        signed, gone = source.is_signed and start not in self.positive, a.added(start, -1)
        if gone.parts or gone.number:
            self.extended.add((start, signed, step))
        whole = self._each(gone, target.bits, lambda one: self._extended(False, target, one))
        return whole.added(self._extended(signed, target, start))

    def _start_of(self, a: Sum) -> tuple[Sum | None, Sum]:
        """What a counter began with, or an index that goes on as it does; and its step."""
        steps = {*self.starts.values()}
        known = ((start, (step,)) for start, step in self.starts.items())
        for start, ways in (*known, *((other, steps) for other in self.others)):
            for step in ways if start.bits == a.bits else ():
                if self._is_counter(a.added(start, -1), step):
                    return start, step
        return None, a

    def _is_counter(self, gone: Sum, step: Sum) -> bool:
        """Whether a value is a counter, some turns later or a little more."""
        steps = {atom.number for atom, _ in step.parts}
        near = all((count <= NEXT and atom.number in steps) or atom.turns for atom, count in gone.parts)
        turning = frozenset((a, n) for a, n in gone.parts if a.turns)
        return near and gone.number <= FAR and turning in (frozenset(), step.turning.parts)

    def _each(self, a: Sum, bits: int, change: Callable[[Sum], Sum]) -> Sum:
        found = Sum(bits, a.number % (1 << bits))
        for atom, count in a.parts:
            if atom.number < 0:
                new = Sum(bits, 0, frozenset({(atom, 1)}))
            else:
                new = change(Sum(a.bits, 0, frozenset({(Atom(atom.number), 1)})))
                new = new.turning if atom.turns else new
            found = found.added(new, count)
        return found

    def _cut(self, bits: int, one: Sum) -> Sum:
        key = cast("tuple[Any, ...]", self.key(one))
        return key[2] if key[0] == "extended" and key[2].bits == bits else self.atom(bits, "cut", one)

    def _extended(self, signed: bool, target: Type, a: Sum) -> Sum:
        if not a.parts:
            low = a.number - (signed and a.number >> a.bits - 1) * (1 << a.bits)
            return Sum(target.bits, low % (1 << target.bits))
        ((atom, count),) = a.parts if len(a.parts) == 1 else ((Atom(-1), 0),)
        one = Sum(a.bits, 0, frozenset({(atom, 1)}))
        if not a.number and count and self._name(one) == "and":
            _, all_, mask = cast("tuple[str, Sum, int]", self.key(one))
            if mask * count < 1 << a.bits - signed:
                found = self.atom(target.bits, "and", self._extended(False, target, all_), mask)
                return Sum(target.bits, 0).added(found, count)
        return self.atom(target.bits, "extended", signed, a)

    def _name(self, a: Sum) -> Hashable:
        key = cast("tuple[Hashable, ...] | None", self.key(a))
        return None if key is None else key[0]

    def to_bits(self, t: Type, a: Sum) -> Sum:
        return self.atom(t.bits, "bits", a) if t.is_native_float else a

    def from_bits(self, t: Type, a: Sum) -> Sum:
        return self.atom(t.bits, "float", a) if t.is_native_float else a

    def special(self, name: str, component: str) -> Sum:
        raise NoSumError


class Terms(Remembering[Sum]):
    """The sums of a function's values. `known`: those of definitions; what is to be taken as something else
    than what it is made of is put there first."""

    def __init__(self, ssa: Ssa, environment: Environment, algebra: TermAlgebra) -> None:
        self.algebra = algebra
        super().__init__(cast("Algebra[Sum]", algebra), self, environment)
        self.ssa = ssa
        self.known: dict[Definition, Sum] = {}
        self._read: dict[Register, Definition] = {}
        self._left = DEEP

    # Reader of the evaluator
    def register(self, register: Register) -> Sum:
        return self.of(self._read[register])

    def symbol(self, symbol: SymbolAddress) -> Sum:
        return self.algebra.atom(symbol.type.bits, symbol)

    def function(self, function: FunctionAddress) -> Sum:
        return self.algebra.atom(function.type.bits, function)

    def of(self, definition: Definition) -> Sum:
        if definition not in self.known:
            op = definition.origin
            plain = isinstance(op, Op) and op.guard is None and not acts(op) and self._left
            if plain and isinstance(op, Op):
                self.run(op)
            else:
                self.known[definition] = self.algebra.atom(definition.register.type.bits, definition)
        return self.known[definition]

    def run(self, op: Op) -> None:
        """Finds what a pure op makes."""
        before = self._read, self._left
        self._read, self._left = self.ssa.read[id(op)], self._left - 1
        for definition in self._read.values():
            self.of(definition)
        for definition, term in zip(self.ssa.of[id(op)], self.op(op), strict=True):
            if definition is not None:
                self.known[definition] = term
        self._read, self._left = before

    def effect(self, op: Op, number: int) -> Hashable:
        """What an op with effects does; what it gives is told by a number."""
        self._read = self.ssa.read[id(op)]
        for place, definition in enumerate(self.ssa.of[id(op)]):
            if definition is not None:
                bits = definition.register.type.bits
                self.known[definition] = self.algebra.atom(bits, "effect", number, place)
        return kind_of(op), *[self._given(operand) for operand in op.sources.values()]

    def op(self, op: Op) -> tuple[Sum, ...]:
        try:
            return super().op(op)
        except NoSumError:
            given = (kind_of(op), *[self._given(operand) for operand in op.sources.values()])
            registers = [None if r is None else r.type.bits for r in op.destinations]
            return tuple(self.algebra.atom(bits or 0, *given, n) for n, bits in enumerate(registers))

    def _given(self, operand: Operand) -> Hashable:
        match operand:
            case Address(base=Register() as base):
                return self.address(operand), base.type
            case _:
                return super()._given(operand)
