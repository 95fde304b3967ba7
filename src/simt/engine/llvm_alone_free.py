"""Turns of a loop that a lane goes through alone, of which all is known ahead: LLVM makes vectors of them.

A thread that goes through a row or a chunk of its own (`c[i * n + k] = a[i * n + k] + b[i * n + k]`) gets
at memory by steps, and leaves the loop when a number reaches a limit. Then it is known when it begins for how
many turns it will stay, that all words are valid, and that no turn writes what another one reads or writes.
What is left of these turns has no checks and no way out but at their end.

For how many turns: from a number to what it is compared with there are so many steps, and comparisons of
numbers between give what the first and the last one do. The last turn, others that are not known, and faults
are left to the loop as it stands besides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import TYPE_CHECKING

from simt.analysis.evaluate import Evaluator
from simt.analysis.program import Block, Branch, FunctionAddress, Jump, Op, Register, Special, SymbolAddress
from simt.analysis.program import memory_operands as addresses_of
from simt.analysis.ssa import Definition, terminator_uses, uses
from simt.engine.llvm_access import I64
from simt.engine.llvm_alone_steps import Limit, StepAlgebra, Visit
from simt.engine.llvm_alone_vectors import FIXED, TURN, NotFree, Turns, loop_of
from simt.engine.llvm_builder import Value
from simt.records import dataclass

if TYPE_CHECKING:
    from simt.engine.llvm_alone import AloneLoop

MOST = 4096
"""Turns at a time: a lane looks for an abort after so many."""
LEAST = 4
"""Turns that are worth it."""
SPARSE = 4
"""Words from one turn's to the next, for each one that is read or written, up to which vectors are."""


@dataclass(frozen=True, slots=True)
class Span:
    """Words from `first` bytes after `part` on that are accessed in a turn, and `step` bytes on in the next.
    `visits`: with their places in the turn's order."""

    part: Value
    step: int
    first: int
    end: int
    size: int
    visits: tuple[tuple[int, Visit], ...]

    @property
    def stores(self) -> bool:
        return any(visit.stores for _, visit in self.visits)

    @property
    def length(self) -> int:
        return self.end - self.first


def spans_of(visits: list[Visit]) -> list[Span]:
    """The words of a turn. Raises `NotFree` if vectors of them make no sense, or turns depend on others."""
    alike: dict[tuple[str, int, int], list[tuple[int, Visit]]] = {}
    for place, visit in enumerate(visits):
        alike.setdefault((visit.part.ir, visit.step, visit.size), []).append((place, visit))
    spans = list(map(_span, alike.values()))
    if not any(span.step for span in spans):
        raise NotFree
    return spans


def _span(found: list[tuple[int, Visit]]) -> Span:
    visits = [visit for _, visit in found]
    first, end = min(v.constant for v in visits), max(v.constant + v.size for v in visits)
    one = visits[0]
    span = Span(one.part, one.step, first, end, one.size, tuple(found))
    aligned = all((v.constant - first) % one.size == 0 for v in visits) and one.step % one.size == 0
    if not aligned or abs(one.step) > SPARSE * one.size * len(visits):
        raise NotFree
    if span.stores and (span.length > abs(one.step) or _depends(found, found)):
        raise NotFree
    return span


def _depends(visits: list[tuple[int, Visit]], others: list[tuple[int, Visit]]) -> bool:
    """Whether what one of some visits stores is visited by a later one, both made from one start."""
    places = {visit.constant: place for place, visit in reversed(visits) if visit.stores}
    return any(place > places.get(visit.constant, place) for place, visit in others)


class FreeTurns:
    """Emits such turns of a loop. Raises `NotFree`."""

    def __init__(self, alone: AloneLoop) -> None:
        self.alone = alone
        self.builder, self.ssa, self.name = alone.builder, alone.ssa, alone.name
        self.m: StepAlgebra = alone.algebra_of(StepAlgebra)
        self.evaluator: Evaluator[Value] = Evaluator(self.m, self, alone.emitter.unit.program.environment)
        self.values: dict[Definition, Value] = {}
        self.current: dict[Register, Definition] = {}
        self.visits: dict[Op, Visit] = {}
        self.stays: list[Value] = []  # i1: the turn does not leave the loop at such a place
        self.chain = list(self._chain())

    def _chain(self) -> Iterator[Block]:
        """The loop's blocks, if they are run one after the other, where a lane passes by none."""
        block, header = self.alone.loop.header, self.alone.loop.header
        for _ in self.alone.blocks:
            yield block
            if not isinstance(block.terminator, Branch | Jump):
                raise NotFree
            block = self._next(block)
            if block is header:
                return
        raise NotFree

    def _next(self, block: Block) -> Block:
        """Where the turn goes on: of two ways the one that leads to the other (`if (i < n) ...`)."""
        ways = [t for t in dict.fromkeys(block.successors()) if t.index in self.alone.inside]
        if len(ways) == 2:
            ways = [way for way, other in (ways, ways[::-1]) if way.successors() == (other,)]
        if len(ways) != 1:
            raise NotFree
        return ways[0]

    def _follow(self, block: Block) -> Mapping[Definition, Definition]:
        """The phis that a block of the chain has, with what they get."""
        place = self.chain.index(block)
        if not place:
            return {}
        before = self.chain[place - 1].index
        return {phi: phi.inputs[before] for phi in self.ssa.phis.get(block.index, ())}

    # -- what the evaluator reads ------------------------------------------------------------------------

    def register(self, register: Register) -> Value:
        return self._value(self.ssa.lookup(self.current, register))

    def _value(self, definition: Definition) -> Value:
        if definition in self.values:
            return self.values[definition]
        value = self.alone.read(definition)
        if definition in self.alone.phis:
            step = self.alone.step_of(definition)
            if step:
                self.m.steps[value.ir] = step
        elif definition.block.index not in self.alone.inside:
            self.m.outside.add(value.ir)
        return value

    def symbol(self, symbol: SymbolAddress) -> Value:
        address = self.alone.emitter.symbol(symbol)
        self.m.outside.add(address.ir)
        return address

    def function(self, function: FunctionAddress) -> Value:
        raise NotFree

    # -- the whole ---------------------------------------------------------------------------------------

    def emit(self, few: str) -> list[str]:
        """The code, from the label `begin` on. Goes to the label `few` where turns are not worth it, and to
        the loop's turn after them."""
        before, self.builder.lines = self.builder.lines, list[str]()
        try:
            self._begin(few)
            return self.builder.lines
        finally:
            self.builder.lines = before

    def _begin(self, few: str) -> None:
        self.builder.label(f"{self.name}.begin")
        self.alone.emitter.poll(self.alone.loop.header)
        self.alone.cache = {}
        self._head()
        spans = spans_of(list(self.visits.values()))
        turns = self._turns(spans)
        starts = [self._pointer(span) for span in spans]
        enough = self.m.test("icmp uge", turns, self.m.number(I64, LEAST))
        self.builder.void(f"br i1 {enough.ir}, label %{self.name}.go, label %{few}")
        self.builder.label(f"{self.name}.go")
        self.alone.goes()
        self._loop(turns, list(zip(spans, starts, strict=True)))
        self.go_on(turns)

    def go_on(self, turns: Value) -> None:
        """After some turns."""
        all_ = self.m.test("icmp eq", turns, self.m.number(I64, MOST))
        self.builder.void(f"br i1 {all_.ir}, label %{self.name}.begin, label %{self.name}.turn")

    # -- what is known when they begin -------------------------------------------------------------------

    def _head(self) -> None:
        """What addresses and ways out of the first turn are made of."""
        needed = self._needed()
        for block in self.chain:
            self.current = self.ssa.reaching(block)
            for phi, source in self._follow(block).items():
                if phi in needed:
                    self.values[phi] = self._value(source)
            for op in block.ops:
                self._op(op, needed)
            self._stay(block)

    def _op(self, op: object, needed: set[Definition]) -> None:
        assert isinstance(op, Op)
        made = [d for d in self.ssa.of[id(op)] if d is not None]
        if op.form.effects:
            if op.guard is not None or not op.form.moves_memory:
                raise NotFree
            self._set_up(op)
            self.m.visit = None
            self.evaluator.op(op)
            if self.m.visit is None:
                raise NotFree
            self.visits[op] = self.m.visit
        elif not needed.isdisjoint(made):
            self._make(op)
        self.current.update({d.register: d for d in made})

    def _make(self, op: Op) -> None:
        if op.guard is not None:
            raise NotFree
        self._set_up(op)
        values = [self.m.scalar(value) for value in self.evaluator.op(op)]
        told = not any(isinstance(source, Special) for source in op.sources.values())  # it may be a clock
        stay = told and all(self.m.step_of(self.register(register)) == 0 for register in uses(op))
        for definition, value in zip(self.ssa.of[id(op)], values):
            if definition is not None:
                self.values[definition] = value
                if stay and value.ir.startswith("%"):
                    self.m.steps.setdefault(value.ir, 0)

    def _set_up(self, op: Op) -> None:
        self.m.line, self.m.result_used = op.line, True
        self.m.parameter = self.alone.emitter.parameter_offset(op)
        self.m.reach = self.alone.emitter.reach(op, self.current)

    def _stay(self, block: Block) -> None:
        """Notes that lanes neither leave the loop at a block's end nor pass by the next one."""
        branch = block.terminator
        if not isinstance(branch, Branch) or branch.taken is branch.otherwise:
            return
        condition = self.register(branch.predicate)
        if self.m.step_of(condition) != 0:
            raise NotFree
        taken = (branch.taken is self._next(block)) != branch.negated
        self.stays.append(condition if taken else self.m.binary("xor", condition, Value("true", "i1")))

    def _needed(self) -> set[Definition]:
        """What addresses and ways out are made of."""
        sources, wanted = dict[Definition, set[Definition]](), list[Definition]()
        for block in self.chain:
            current = self.ssa.reaching(block)
            sources |= {phi: {source} for phi, source in self._follow(block).items()}
            for op in block.ops:
                assert isinstance(op, Op)
                if op.form.effects:
                    wanted += [self.ssa.lookup(current, register) for register, _ in addresses_of(op)]
                read = {self.ssa.lookup(current, register) for register in uses(op)}
                for definition in self.ssa.of[id(op)]:
                    if definition is not None:
                        sources[definition] = set[Definition]() if op.form.effects else read
                        current[definition.register] = definition
            wanted += [self.ssa.lookup(current, register) for register in terminator_uses(block)]
        needed = set[Definition]()
        while wanted:
            definition = wanted.pop()
            if definition not in needed:
                needed.add(definition)
                wanted += sources.get(definition, ())
        return needed

    # -- how many ----------------------------------------------------------------------------------------

    def _turns(self, spans: list[Span]) -> Value:
        """i64: turns of which all is known, 0 if there are none."""
        turns = self.m.number(I64, MOST)
        for limit in self.m.limits:
            turns = self._least(turns, self.steps_to(limit))
        last = self.m.binary("sub", turns, self.m.number(I64, 1))
        ok = self._conditions(spans, last)
        good = ok[0]
        for condition in ok[1:]:
            good = self.m.binary("and", good, condition)
        text = f"select {good.typed}, {turns.typed}, i64 0"
        return Value(self.builder.emit(text), I64)

    def steps_to(self, limit: Limit) -> Value:
        """i64: steps from a number to what it is compared with."""
        way = (limit.limit, limit.start) if limit.step > 0 else (limit.start, limit.limit)
        distance = self._wide(self.m.binary("sub", *way))
        return self.m.binary("udiv", distance, self.m.number(I64, abs(limit.step)))

    def _conditions(self, spans: list[Span], last: Value) -> list[Value]:
        """i1: what must hold, so that the turns from the first to a last one are as they seem."""
        found = list(self.stays)
        for limit in self.m.limits:
            result = limit.again(self._grown(limit.start, limit.step, last))
            found.append(self._same(result, limit.result))
        for extension in self.m.extensions:
            result = extension.again(self._grown(extension.start, extension.step, last))
            found.append(self._same(result, self._grown(extension.result, extension.step, last)))
        return [*found, *self.are_free(spans, last)]

    def are_free(self, spans: list[Span], last: Value) -> Iterator[Value]:
        """i1: all words are valid, and no turn gets at what another one stores."""
        for span in spans:
            for address in self._addresses(span, last):
                yield self.m.are_valid(address, span.size, span.length)
        for one, other in combinations(spans, 2):
            if one.stores or other.stores:
                yield self._apart(one, other, last)

    def _grown(self, value: Value, step: int, turns: Value) -> Value:
        """What a value is after some turns."""
        turns = turns if value.type == I64 else self.m.cast("trunc", value.type, turns)
        more = self.m.binary("mul", turns, self.m.number(value.type, step))
        return self.m.binary("add", Value(value.ir, value.type), more)

    def _addresses(self, span: Span, last: Value) -> list[Value]:
        """A span's start in the first turn and in the last one."""
        start = self.m.plus(span.part, span.first)
        return [start, self._grown(start, span.step, last)] if span.step else [start]

    def _apart(self, one: Span, other: Span, last: Value) -> Value:
        """i1: what one span of all turns stores is nothing of the other's; or both begin at one address, go
        on by one step, and what a turn stores only this turn has loaded before."""
        (low, high), (other_low, other_high) = self._ends(one, last), self._ends(other, last)
        before, behind = self.m.test("icmp ule", high, other_low), self.m.test("icmp uge", low, other_high)
        apart = self.m.binary("or", before, behind)
        most = max(one.end, other.end) - min(one.first, other.first)
        if one.step != other.step or most > abs(one.step) or (one.stores and other.stores):
            return apart
        stores, loads = (one, other) if one.stores else (other, one)
        if one.size != other.size or _depends(list(stores.visits), list(loads.visits)):
            return apart
        return self.m.binary("or", apart, self.m.test("icmp eq", one.part, other.part))

    def _ends(self, span: Span, last: Value) -> tuple[Value, Value]:
        """Between which addresses all turns' words lie."""
        found = self._addresses(span, last)
        low, high = (found[0], found[-1]) if span.step >= 0 else (found[-1], found[0])
        return low, self.m.plus(high, span.length)

    def _same(self, one: Value, other: Value) -> Value:
        return self.m.test("icmp eq", Value(one.ir, one.type), Value(other.ir, other.type))

    def _wide(self, value: Value) -> Value:
        return value if value.type == I64 else self.m.cast("zext", I64, value)

    def _least(self, one: Value, other: Value) -> Value:
        least = self.m.module.declare("llvm.umin.i64", I64, (I64, I64))
        return Value(self.builder.emit(f"call i64 {least}({one.typed}, {other.typed})"), I64)

    # -- the turns ---------------------------------------------------------------------------------------

    def _pointer(self, span: Span) -> str:
        return self.m.pointer(self.m.plus(span.part, span.first))

    def _loop(self, turns: Value, spans: list[tuple[Span, str]]) -> None:
        """Runs the turns, a function of its own."""
        alone = self.alone
        code, words = self._turn(spans)
        step = max(abs(span.step) for span, _ in spans)
        carried = {alone.slot_of(phi): phi for phi in alone.phis if not alone.step_of(phi)}
        fixed = {
            f"{FIXED}.{place}": (start, visit.constant - span.first, visit.size)
            for span, start in spans
            for place, visit in span.visits
            if not span.step
        }
        starts = [start for _, start in spans]
        function = Turns(code, words - {*fixed}, fixed, alone.slots, list(carried), starts, turns.ir)
        said = loop_of(code, carried, step, alone.emitter.unit.pieces)
        if alone.needs_vectors and not said:
            raise NotFree
        name = function.define(alone.emitter.unit.module, said)
        given = [f"{t} {self.builder.emit(f'load {t}, ptr {slot}')}" for slot, t in function.taken.items()]
        given = [*(f"ptr {start}" for start in starts), turns.typed, *given]
        call = f"call {function.result} @{name}({', '.join(given)})"
        if not carried:
            self.builder.void(call)
        else:
            result = self.builder.emit(call)
            for number, slot in enumerate(carried):
                part = self.builder.emit(f"extractvalue {function.result} {result}, {number}")
                self.builder.void(f"store {alone.slots[slot]} {part}, ptr {slot}")
        alone.cache = {}
        for phi in alone.phis:
            if step := alone.step_of(phi):
                value = alone.read(phi)
                self.builder.void(f"store {self._grown(value, step, turns).typed}, ptr {alone.slot_of(phi)}")

    def _turn(self, spans: list[tuple[Span, str]]) -> tuple[list[str], set[str]]:
        """The code of a turn, whose number is `TURN`, and the pointers through which it gets at memory."""
        alone, before, self.builder.lines = self.alone, self.builder.lines, list[str]()
        try:
            words = self._words(Value(TURN, I64), spans)
            alone.checked = frozenset(self.visits)
            for block in self.chain:
                alone.open(block)
                for op in block.ops:
                    assert isinstance(op, Op)
                    alone.m.given = words.get(op)
                    alone.do(op)
                alone.m.given = None
                alone.settle_late(block)
                alone.move(block, self._next(block))
            return self.builder.lines, set(words.values())
        finally:
            self.builder.lines = before

    def _words(self, turn: Value, spans: list[tuple[Span, str]]) -> dict[Op, str]:
        """Pointers of each access."""
        at = list(self.visits)
        found = dict[Op, str]()
        for span, start in spans:
            if not span.step:
                found |= {at[place]: f"{FIXED}.{place}" for place, _ in span.visits}
                continue
            gone = self.m.binary("mul", turn, self.m.number(I64, span.step))
            sure = "inbounds nuw" if span.step >= 0 else "inbounds"
            moved = self.builder.emit(f"getelementptr {sure} i8, ptr {start}, {gone.typed}")
            for place, visit in span.visits:
                more = visit.constant - span.first
                found[at[place]] = self.builder.emit(
                    f"getelementptr inbounds nuw i8, ptr {moved}, i64 {more}"
                )
        return found
