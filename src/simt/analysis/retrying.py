"""Loops that go on only while what they read is new, and so wait for nobody.

A loop that waits reads the same, turn by turn, until another thread writes. These go on because it is *not*
the same:

- what is read is not what an earlier turn read or made of that: another thread has come first, and the loop
  tries again with what that one left (compare and swap, the root of a set, `while (parent[x] != x)`);
- what is read tells where the next turn reads: lists, trees, keys that push each other out of their places;
- a place is taken, and the next turn tries another one: tables of keys, trees that are climbed by whoever
  comes last. (Somebody may wait so, too, for places that others give back. Those of other CTAs do so without
  help; of the same CTA, nobody may store to the array, but by this instruction, from the last barrier to the
  next.)

If a thread runs such a loop and all others stand still, the loop ends: others of its warp need not run first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import takewhile
from typing import Any, cast

from simt.analysis.evaluate import Evaluator
from simt.analysis.lower_rendezvous import waits
from simt.analysis.meetings import names_all
from simt.analysis.observer import Observer
from simt.analysis.pending import stops
from simt.analysis.program import (
    Address,
    Block,
    Branch,
    Call,
    FunctionAddress,
    Op,
    Register,
    SymbolAddress,
    memory_operands,
)  # fmt: skip
from simt.analysis.schedule import Loop
from simt.analysis.ssa import Definition, Ssa
from simt.isa.algebra import Algebra, Comparison, Environment
from simt.ptx.types import U64, Type
from simt.records import dataclass

LONGEST = 8
"""Instructions behind each other that are looked through for what a branch compares."""
APART = ("ne", "lt", "gt")
"""Comparisons that two equal numbers do not pass."""


class _Other:
    """What nothing is known of."""


_OTHER = _Other()
Term = Definition | int | _Other
"""What a number is a copy of, or a constant's bits."""
Pair = tuple[Term, Term]
Sources = dict[Definition, list[Definition]]


@dataclass(frozen=True, slots=True)
class Told:
    """What a predicate tells: numbers that differ if it is true, and if it is false."""

    true: frozenset[Pair] = frozenset()
    false: frozenset[Pair] = frozenset()


class _Comparing:
    """The primitives by which predicates are made of comparisons, and copies."""

    def __init__(self) -> None:
        self.swap: Pair | None = None
        """Of an atomic operation that has been evaluated: what it compares with, and what it stores then."""

    def __getattr__(self, name: str) -> Any:
        return self._other

    def _other(self, *values: object) -> _Other:
        return _OTHER

    def const(self, t: Type, bits: int) -> Any:
        return _OTHER if t.is_predicate else bits

    def to_bits(self, t: Type, a: Any) -> Any:
        return a

    from_bits = to_bits

    def resize(self, source: Type, target: Type, a: Any) -> Any:
        return a if source.bits == target.bits else _OTHER

    def compare(self, op: Comparison, t: Type, a: Any, b: Any) -> Told:
        pair = frozenset({(a, b)})
        return Told(pair) if op in APART else Told(false=pair)

    def invert(self, t: Type, a: Any) -> Any:
        return Told(a.false, a.true) if isinstance(a, Told) else _OTHER

    def and_(self, t: Type, a: Any, b: Any) -> Any:
        x, y = _told(a), _told(b)
        return Told(x.true | y.true, x.false & y.false) if t.is_predicate else _OTHER

    def or_(self, t: Type, a: Any, b: Any) -> Any:
        x, y = _told(a), _told(b)
        return Told(x.true & y.true, x.false | y.false) if t.is_predicate else _OTHER

    def lookup(self, t: Type, index: Any, *tables: tuple[int, ...]) -> tuple[_Other, ...]:
        return (_OTHER,) * len(tables)

    def load(self, t: Type, space: str, address: Any, count: int, volatile: bool) -> tuple[_Other, ...]:
        return (_OTHER,) * count

    def atomic(self, op: str, t: Type, space: str, address: Any, b: Any, c: Any) -> _Other:
        self.swap = (b, c) if op == "cas" else (_OTHER, _OTHER)
        return _OTHER


def _told(value: object) -> Told:
    return value if isinstance(value, Told) else Told()


class Retries:
    """Tells which loops of a function go on only while what they read is new. `sources`: the definitions that
    each one is computed from."""

    def __init__(self, ssa: Ssa, environment: Environment, sources: Sources) -> None:
        self.ssa = ssa
        self.sources = sources
        self.observer = Observer(environment)
        self._algebra = _Comparing()
        self._evaluator = Evaluator(cast("Algebra[Any]", self._algebra), self, environment)
        self._read: dict[Register, Definition] = {}
        self._left = LONGEST

    def is_one(self, loop: Loop, direct: Collection[Definition]) -> bool:
        """Whether every way round a loop is one that is taken only so. `direct`: what the loop reads that
        other threads may change."""
        found = _Turn(self, loop, direct)
        seen, work = set[int](), [loop.header]
        while work:
            block = work.pop()
            for after in block.successors():
                if not found.has(after) or found.goes_on(block, after):
                    continue
                if after is loop.header:
                    return False
                if after.index not in seen:
                    seen.add(after.index)
                    work.append(after)
        return True

    # -- what ops compare and swap -------------------------------------------------------------------

    def told(self, block: Block, after: Block) -> frozenset[Pair]:
        """What differs if a block leads to another one."""
        branch = block.terminator
        if not isinstance(branch, Branch) or branch.taken is branch.otherwise:
            return frozenset()
        told = _told(self.term(self.ssa.read[id(branch)][branch.predicate]))
        return told.true if (branch.taken is after) != branch.negated else told.false

    def swap(self, op: Op) -> Pair | None:
        """What an atomic operation compares with, and what it stores then. None: it is no such one."""
        self._algebra.swap = None
        self._evaluate(op)
        return self._algebra.swap

    def term(self, definition: Definition) -> Any:
        op, made = definition.origin, _OTHER
        if isinstance(op, Op) and op.guard is None and not op.form.effects and self._left:
            made = self._evaluate(op)[definition.place]
        return definition if made is _OTHER and not definition.register.type.is_predicate else made

    def _evaluate(self, op: Op) -> tuple[Any, ...]:
        outer, self._read = self._read, self.ssa.read[id(op)]
        self._left -= 1
        made = self._evaluator.op(op)
        self._read, self._left = outer, self._left + 1
        return made

    # Reader of the evaluator
    def register(self, register: Register) -> Any:
        return self.term(self._read[register])

    def symbol(self, symbol: SymbolAddress) -> Any:
        return _OTHER

    def function(self, function: FunctionAddress) -> Any:
        return _OTHER

    # -- arrays --------------------------------------------------------------------------------------

    def may_be_given_back(self, taking: Op, header: Block) -> bool:
        """Whether lanes may store to the array of an atomic operation in a loop, by other instructions, while
        others of their warp are in the loop: without a barrier between both."""
        since = self._since_barriers(header)
        ops = [op for block in since for op in (block.ops if block is header else _after_meeting(block))]
        ops += [op for block in self._until_barriers(since)[len(since) :] for op in _before_meeting(block)]
        return any(
            isinstance(op, Call) or (op is not taking and self._may_give_back(op, taking)) for op in ops
        )

    def _since_barriers(self, block: Block) -> list[Block]:
        """Blocks of which at least the end can lead to one without a barrier between."""
        found, seen = [block], {block.index}
        for one in found:
            if one is not block and _meets(one):
                continue
            for before in self.ssa.predecessors[one.index]:
                if before.index not in seen and not stops(before):
                    seen.add(before.index)
                    found.append(before)
        return found

    def _until_barriers(self, blocks: list[Block]) -> list[Block]:
        """The blocks, and others that can be reached from the ends of these without a barrier."""
        found, seen = [*blocks], {b.index for b in blocks}
        for number, one in enumerate(found):
            ends = stops(one) or (number >= len(blocks) and _meets(one))
            for after in () if ends else one.successors():
                if after.index not in seen:
                    seen.add(after.index)
                    found.append(after)
        return found

    def _may_give_back(self, op: Op, taking: Op) -> bool:
        return _has_place(op) and self.observer.writes(op) and self._may_be_one(op, taking)

    def _may_be_one(self, a: Op, b: Op) -> bool:
        """Whether two ops may get at the same array."""
        spaces = {a.binding.get("space"), b.binding.get("space")}
        if len(spaces) == 2 and "" not in spaces and None not in spaces:
            return False
        first, second = self._arrays(a), self._arrays(b)
        return first is None or second is None or not first.isdisjoint(second)

    def _arrays(self, op: Op) -> frozenset[tuple[str, int]] | None:
        """Parameters and variables of which an address is made. None: of others, too."""
        work = [self.ssa.read[id(op)][register] for register, _ in memory_operands(op)]
        found, seen = {*_symbols(op)}, set[Definition]()
        while work:
            definition = work.pop()
            if definition in seen or (definition.register.type.bits < U64.bits and _is_loaded(definition)):
                continue
            seen.add(definition)
            origin = definition.origin
            if definition.is_phi:
                work += definition.inputs.values()
            elif not isinstance(origin, Op) or (_is_loaded(definition) and not _is_parameter(origin)):
                return None
            else:
                found.update(_symbols(origin))
                work += self.sources.get(definition, ())
        return frozenset(found) if found else None


def _is_meeting(op: Op | Call) -> bool:
    """Whether an instruction waits for all lanes of the warp."""
    return isinstance(op, Op) and waits(op.form) and names_all(op)


def _meets(block: Block) -> bool:
    return any(map(_is_meeting, block.ops))


def _before_meeting(block: Block) -> Iterator[Op | Call]:
    return takewhile(lambda op: not _is_meeting(op), block.ops)


def _after_meeting(block: Block) -> list[Op | Call]:
    return list(takewhile(lambda op: not _is_meeting(op), reversed(block.ops)))


def _has_place(op: Op) -> bool:
    """Not so of fences and barriers."""
    return any(isinstance(source, Address) for source in op.sources.values())


def _symbols(op: Op) -> Iterator[tuple[str, int]]:
    """The variables and parameters that an op names; a parameter with its offset."""
    for source in op.sources.values():
        if isinstance(source, SymbolAddress):
            yield source.name, 0
        elif isinstance(source, Address) and isinstance(source.base, SymbolAddress):
            yield source.base.name, source.offset if _is_parameter(op) else 0


def _is_parameter(op: Op) -> bool:
    return op.binding.get("space") == "param"


def _is_loaded(definition: Definition) -> bool:
    return isinstance(definition.origin, Op) and bool(definition.origin.form.effects)


class _Turn:
    """What a turn of a loop reads and compares."""

    def __init__(self, retries: Retries, loop: Loop, direct: Collection[Definition]) -> None:
        self.retries = retries
        self.ssa = retries.ssa
        self.loop = loop
        self.direct = {d for d in direct if isinstance(d.origin, Op) and d.origin.guard is None}
        self.latches = [b.index for b in self.ssa.predecessors[loop.header.index] if self.has(b)]

    def has(self, block: Block) -> bool:
        return self.loop.first <= self.ssa.schedule.position[block.index] <= self.loop.last

    def goes_on(self, block: Block, after: Block) -> bool:
        """Whether a branch leads to a block only if what the turn has read is new."""
        for pair in self.retries.told(block, after):
            for read, other in (pair, pair[::-1]):
                if isinstance(read, Definition) and read in self.direct and self._is_new(read, other):
                    return True
        return False

    def _is_new(self, read: Definition, other: Term) -> bool:
        """Whether a turn that reads something else than `other` will read, or write, elsewhere or else."""
        op = read.origin
        assert isinstance(op, Op)
        if isinstance(other, Definition) and any(map(self._is_told, self._carried(other))):
            return True
        carried = {phi for place in self._places(op) for phi in self._carried(place)}
        if any(read in self._made_of(value) for phi in carried for value in self._next(phi)):
            return True
        swap = self.retries.swap(op)
        if swap is None:
            return False
        expected, stored = swap
        if other == expected and isinstance(other, Definition) and self._is_from_there(other, op):
            return True
        if stored is not _OTHER and other == stored:  # that will be there, if the next turn is not too late
            return isinstance(expected, Definition) and self._is_what_was_read(expected, read)
        moves = any(value is not phi for phi in carried for value in self._next(phi))
        return moves and not self.retries.may_be_given_back(op, self.loop.header)

    def _is_from_there(self, expected: Definition, swap: Op) -> bool:
        """Whether what a swap expects has been loaded from its place in this turn."""
        load = expected.origin
        if not isinstance(load, Op) or not self.has(expected.block):
            return False
        return load.form.moves_memory and self._addresses(load) == self._addresses(swap)

    def _addresses(self, op: Op) -> list[tuple[Any, Any, int]]:
        """Where an op gets at memory: the space, the variable or the value of the register, the offset."""
        read, space = self.ssa.read[id(op)], op.binding.get("space")
        found = [source for source in op.sources.values() if isinstance(source, Address)]
        return [(space, read[x.base] if isinstance(x.base, Register) else x.base, x.offset) for x in found]

    def _places(self, op: Op) -> list[Definition]:
        return [self.ssa.read[id(op)][register] for register, _ in memory_operands(op)]

    def _is_what_was_read(self, expected: Definition, read: Definition) -> bool:
        at_header = expected.is_phi and expected.block is self.loop.header
        return at_header and all(self.retries.term(v) is read for v in self._next(expected))

    def _next(self, phi: Definition) -> list[Definition]:
        """What a value at the header is in the next turn."""
        return [phi.inputs[block] for block in self.latches if block in phi.inputs]

    def _is_told(self, phi: Definition) -> bool:
        """Whether a value at the header is made of what earlier turns read."""
        return any(not self.direct.isdisjoint(self._closure(v, across=True)) for v in self._next(phi))

    def _carried(self, definition: Definition) -> set[Definition]:
        """The values at the header of which a turn makes a definition."""
        made = self._made_of(definition)
        return {d for d in made if d.is_phi and d.block is self.loop.header}

    def _made_of(self, definition: Definition) -> set[Definition]:
        return self._closure(definition, across=False)

    def _closure(self, definition: Definition, across: bool) -> set[Definition]:
        """What a definition is made of in a turn, or (`across`) in any turns."""
        found, work = set[Definition](), [definition]
        while work:
            one = work.pop()
            if one in found or not self.has(one.block):
                continue
            found.add(one)
            if across or not (one.is_phi and one.block is self.loop.header):
                work += self.retries.sources.get(one, ())
        return found
