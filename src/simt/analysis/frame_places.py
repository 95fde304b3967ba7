"""Which loads and stores get at known places of their function's frame, and whether others may, too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from typing import Any, cast

from simt.analysis.evaluate import Evaluator
from simt.analysis.program import (
    Address,
    Block,
    Call,
    Function,
    FunctionAddress,
    Op,
    Operand,
    Register,
    SymbolAddress,
)
from simt.analysis.ssa import Definition, Ssa
from simt.isa.algebra import Algebra, Comparison, Environment
from simt.ptx.types import Type
from simt.records import dataclass, field

LOCAL, GENERIC, NUMBER, OTHER = "local", "", "number", "other"


Word = tuple[int, int]
"""The first byte within the frame, and how many there are."""


@dataclass(frozen=True, slots=True)
class Place:
    """A value. `kind`: `LOCAL` or `GENERIC` of an address that lies `number` bytes behind the frame's start,
    `NUMBER` of a known number, `OTHER` of what nothing is known of."""

    kind: str
    number: int = 0

    @property
    def is_address(self) -> bool:
        return self.kind in (LOCAL, GENERIC)


@dataclass(frozen=True, slots=True)
class Access:
    """`count` words of type `t` are loaded or stored, from byte `start` of the frame on. `stored`: what is
    stored."""

    start: int
    t: Type
    count: int
    volatile: bool
    stored: tuple[Place, ...] = ()

    @property
    def stores(self) -> bool:
        return bool(self.stored)

    @property
    def words(self) -> list[Word]:
        size = self.t.bytes
        return [(self.start + i * size, size) for i in range(self.count)]

    @property
    def bytes(self) -> int:
        return self.t.bytes * self.count


_NOTHING = Place(OTHER)


@dataclass(frozen=True, slots=True)
class Memory:
    """What is in a frame at some point of the program. `addresses`: of places in the frame, by the word that
    surely holds it. `parts`: the bytes that may be part of one, a bit for each."""

    addresses: Mapping[Word, Place] = field(default_factory=dict[Word, Place])
    parts: int = 0

    def with_store(self, word: Word, value: Place) -> Memory:
        kept = {w: place for w, place in self.addresses.items() if not overlap(w, word)}
        if value.is_address:
            return Memory(kept | {word: value}, self.parts | _bytes_of(word))
        return Memory(kept, self.parts & ~_bytes_of(word))

    def met(self, other: Memory) -> Memory:
        """What is there if threads may come with either."""
        both = {w: place for w, place in self.addresses.items() if other.addresses.get(w) == place}
        return Memory(both, self.parts | other.parts)


def _bytes_of(word: Word) -> int:
    return (1 << word[1]) - 1 << word[0]


def overlap(a: Word, b: Word) -> bool:
    """Whether two words share bytes."""
    return a[0] < b[0] + b[1] and b[0] < a[0] + a[1]


class UnknownError(Exception):
    """Nothing is known of what an op makes of a place."""


class _PlaceAlgebra:
    """The primitives by which addresses are made of addresses, and accesses, which are noted."""

    def __init__(self, size: int, align: int) -> None:
        self.size = size
        self.align = align
        self.access: Access | None = None
        self.memory = Memory()

    def __getattr__(self, name: str) -> Any:
        raise UnknownError

    def const(self, t: Type, bits: int) -> Place:
        return Place(NUMBER, bits)

    def add(self, t: Type, a: Place, b: Place) -> Place:
        return self._moved(t, *((b, a) if b.is_address else (a, b)), 1)

    def sub(self, t: Type, a: Place, b: Place) -> Place:
        return self._moved(t, a, b, -1)

    def _moved(self, t: Type, a: Place, b: Place, sign: int) -> Place:
        if b.kind != NUMBER or a.kind == OTHER:
            raise UnknownError
        return Place(a.kind, (a.number + sign * b.number) % (1 << t.bits))

    def resize(self, source: Type, target: Type, a: Place) -> Place:
        if a.is_address and source.bits != target.bits:
            raise UnknownError
        if a.kind == NUMBER:
            low = a.number - (source.is_signed and a.number >> source.bits - 1) * (1 << source.bits)
            return Place(NUMBER, low % (1 << target.bits))
        return a

    def to_bits(self, t: Type, a: Place) -> Place:
        return a

    def from_bits(self, t: Type, a: Place) -> Place:
        return a

    def to_generic(self, t: Type, space: str, address: Place) -> Place:
        return self._turned(space, address, LOCAL, GENERIC)

    def from_generic(self, t: Type, space: str, address: Place) -> Place:
        return self._turned(space, address, GENERIC, LOCAL)

    def _turned(self, space: str, address: Place, old: str, new: str) -> Place:
        if space != LOCAL or address.kind != old:
            raise UnknownError
        return Place(new, address.number)

    def compare(self, op: Comparison, t: Type, a: Place, b: Place) -> Place:
        """Who compares addresses gets at no memory by that."""
        return _NOTHING

    def invert(self, t: Type, a: Place) -> Place:
        return self._combined(t, a, a)

    def _combined(self, t: Type, a: Place, b: Place) -> Place:
        if a.is_address or b.is_address:
            raise UnknownError
        return _NOTHING

    and_ = xor = _combined

    def or_(self, t: Type, a: Place, b: Place) -> Place:
        """Frames begin at multiples of `align`: below that, a bit that is 0 may be set as well as added."""
        if a.is_address and b.kind == NUMBER and b.number < self.align and not a.number & b.number:
            return self.add(t, a, b)
        return self._combined(t, a, b)

    def load(self, t: Type, space: str, address: Place, count: int, volatile: bool) -> tuple[Place, ...]:
        access = Access(address.number, t, count, volatile)
        self._note(space, address, access)
        found = tuple(self.memory.addresses.get(word, _NOTHING) for word in access.words)
        for word, value in zip(access.words, found, strict=True):
            if not value.is_address and _bytes_of(word) & self.memory.parts:
                raise UnknownError
        return found

    def store(self, t: Type, space: str, address: Place, values: tuple[Place, ...], volatile: bool) -> None:
        access = Access(address.number, t, len(values), volatile, values)
        self._note(space, address, access)
        for word, value in zip(access.words, values, strict=True):
            self.memory = self.memory.with_store(word, value)

    def _note(self, space: str, address: Place, access: Access) -> None:
        if address.kind != space or access.start + access.bytes > self.size:
            raise UnknownError
        self.access = access


class FramePlaces:
    """What a function does with its frame.

    `accesses`: at known places, by op. `escapes`: whether an address is put to a use of which nothing is
    known here: then any byte of the frame may be read and written in other ways. Addresses that are kept in
    the frame are followed."""

    def __init__(self, function: Function, ssa: Ssa, environment: Environment) -> None:
        self.owner = function
        self.ssa = ssa
        self.accesses: dict[Op, Access] = {}
        self.escapes = False
        self._algebra = _PlaceAlgebra(function.local_size, function.frame_align)
        self._evaluator = Evaluator(cast("Algebra[Place]", self._algebra), self, environment)
        self._known: dict[Definition, Place] = {}
        self._read: dict[Register, Definition] = {}
        self._after: dict[int, Memory] = {}
        """By block, when it ends."""
        while self._visit():
            pass
        phis = (phi for found in ssa.phis.values() for phi in found)
        self.escapes |= any(source in self._known for phi in phis for source in phi.inputs.values())

    def _visit(self) -> bool:
        """Goes through all blocks once. Whether one began with something else than is known now of those
        before it."""
        self.accesses, self.escapes, self._known, changed = {}, False, {}, False
        visited = set[Block]()
        for i, block in enumerate(self.ssa.schedule.order):
            ways = [
                self._after[b.index] for b in self.ssa.predecessors[block.index] if b.index in self._after
            ]
            before = reduce(Memory.met, ways) if ways else Memory()
            self._algebra.memory = before if i else before.met(Memory())
            for op in block.ops:
                self._follow(op)
            if self.escapes:
                return False
            visited.add(block)
            if self._after.get(block.index) != self._algebra.memory:
                self._after[block.index] = self._algebra.memory
                changed |= not visited.isdisjoint(block.successors())
        return changed

    # Reader of the evaluator
    def register(self, register: Register) -> Place:
        return self._known.get(self._read[register], _NOTHING)

    def symbol(self, symbol: SymbolAddress) -> Place:
        if symbol.space != LOCAL:
            return _NOTHING
        return Place(LOCAL, (self.owner.local[symbol.name] + symbol.offset) % (1 << symbol.type.bits))

    def function(self, function: FunctionAddress) -> Place:
        return _NOTHING

    def _follow(self, op: Op | Call) -> None:
        self._read = self.ssa.read[id(op)]
        if not self._touches(op):
            self.escapes |= isinstance(op, Op) and op.binding.get("space") == LOCAL and op.form.moves_memory
            return
        values = () if isinstance(op, Call) else self._values(op)
        if values is None or not isinstance(op, Op):
            self.escapes = True
            return
        if self._algebra.access is not None:
            self.accesses[op] = self._algebra.access
        for definition, value in zip(self.ssa.of[id(op)], values, strict=True):
            if definition is not None and value.is_address:
                self._known[definition] = value

    def _values(self, op: Op) -> tuple[Place, ...] | None:
        """What an op gives. None if that is not known, or is an address in some lanes."""
        self._algebra.access = None
        before = self._algebra.memory
        try:
            values = self._evaluator.op(op)
        except UnknownError:
            return None
        if op.guard is None:
            return values
        self._algebra.memory = self._algebra.memory.met(before)
        kept = (self.register(r) for r in op.destinations if r is not None)
        return None if any(value.is_address for value in (*values, *kept)) else values

    def _touches(self, op: Op | Call) -> bool:
        """Whether an op has an address in the frame among its operands."""
        if self._known and not self._known.keys().isdisjoint(self._read.values()):
            return True
        return _are_in_frame(op.arguments if isinstance(op, Call) else op.sources.values())


def _are_in_frame(operands: Iterable[Operand]) -> bool:
    """Whether some operand is an address in the frame."""
    for operand in operands:
        if isinstance(operand, Register):  # most are
            continue
        base = operand.base if isinstance(operand, Address) else operand
        if isinstance(base, SymbolAddress):
            if base.space == LOCAL:
                return True
        elif isinstance(base, tuple) and _are_in_frame(base):
            return True
    return False
