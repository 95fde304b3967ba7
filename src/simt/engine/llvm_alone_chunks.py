"""Loops in which each lane goes through a chunk of an array, of which the next lane has the next one.

`for (i = first; i < first + length; i++) y[i] = a * x[i] + y[i];`, with `first` a multiple of the thread's
index: in each turn the lanes of a warp are as far from each other as a chunk is long. But all chunks together
are one range of memory. Where no turn depends on another one, the warp's turns are those of one lane that
goes on where a chunk ends: of these LLVM makes vectors (`simt.engine.llvm_alone_free`).

That it is so is asked when a warp comes to the loop. All of its lanes run and are as far from the loop's end
by its one counter, so that they leave it in the same turn; each begins where the one before will have come
to, in all that it gets at and in all that it stores of its counters; what else it uses is the same for all;
all words are valid, and no turn of any lane gets at what another one stores. Else nothing has been done, and
the lanes go through the loop as usual.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property, reduce
from typing import TYPE_CHECKING

from simt.analysis.dominance import Tree
from simt.analysis.evaluate import Evaluator
from simt.analysis.pending import set_of
from simt.analysis.program import (
    Branch,
    Constant,
    FunctionAddress,
    Op,
    Operand,
    Register,
    Special,
    SymbolAddress,
)
from simt.analysis.program import memory_operands as addresses_of
from simt.analysis.schedule import Loop
from simt.analysis.shape import WARP
from simt.analysis.ssa import Definition, uses
from simt.engine.llvm_access import I64
from simt.engine.llvm_algebra import LlvmIntegers
from simt.engine.llvm_alone import AloneLoop
from simt.engine.llvm_alone_algebra import NotAlone
from simt.engine.llvm_alone_free import MOST, FreeTurns, Span
from simt.engine.llvm_alone_vectors import NotFree
from simt.engine.llvm_atomics import AtomicAlgebra
from simt.engine.llvm_builder import Value

if TYPE_CHECKING:
    from simt.engine.llvm_function import FunctionEmitter

TURNS = MOST // WARP - 1
"""Turns of a lane, at most: the warp looks for an abort before them only."""
NONE = Value("0", I64)


class AllLanes:
    """What all lanes have in a turn of a loop of one block: columns of what is made of its phis and of what
    is made outside."""

    def __init__(self, alone: ChunkLoop) -> None:
        self.alone = alone
        self.ssa, self.block = alone.ssa, alone.loop.header
        emitter = alone.emitter
        unit, usual = emitter.unit, emitter.m
        self.m = AtomicAlgebra(
            alone.builder, unit.module, unit.features, unit.block, unit.program.environment
        )
        self.m.parameter_size, self.m.sizes = usual.parameter_size, usual.sizes
        self.m.at_start, self.m.beginning = usual.at_start, usual.beginning
        self.evaluator: Evaluator[Value] = Evaluator(self.m, self, unit.program.environment)
        self.values: dict[Definition, Value] = {}
        self.current: dict[Register, Definition] = {}

    def register(self, register: Register) -> Value:
        definition = self.ssa.lookup(self.current, register)
        if definition not in self.values:  # it is never given a value
            raise NotFree
        return self.values[definition]

    def symbol(self, symbol: SymbolAddress) -> Value:
        return self.alone.emitter.symbol(symbol)

    def function(self, function: FunctionAddress) -> Value:
        raise NotFree

    def at(self, turn: Value, wanted: Iterable[Definition]) -> list[Value]:
        """Columns of some definitions in a turn (i64)."""
        wanted = list(wanted)
        needed = self.alone.made_of(wanted)
        self.values = {**self.alone.begun, **{d: self._grown(d, turn) for d in needed & self.alone.phis}}
        self.current = self.ssa.reaching(self.block)
        for op in self.block.ops:
            assert isinstance(op, Op)
            made = [d for d in self.ssa.of[id(op)] if d is not None]
            if not needed.isdisjoint(made):
                self._make(op)
            self.current.update({d.register: d for d in made})
        return [self.m.vector(self.values[d]) for d in wanted]

    def _make(self, op: Op) -> None:
        if op.form.effects or op.guard is not None:
            raise NotFree
        self.m.line, self.m.result_used = op.line, True
        for definition, value in zip(self.ssa.of[id(op)], self.evaluator.op(op)):
            if definition is not None:
                self.values[definition] = value

    def _grown(self, phi: Definition, turn: Value) -> Value:
        column, step = self.m.vector(self.alone.begun[phi]), self.alone.step_of(phi)
        if turn == NONE:
            return column
        turn = turn if column.type == I64 else self.m.cast("trunc", column.type, turn)
        more = self.m.binary("mul", turn, self.m.number(column.type, step))
        return LlvmIntegers.binary(self.m, "add", column, self.m.widened(more, WARP))


class ChunkTurns(FreeTurns):
    """Emits the turns of all lanes, as those of the first lane. Raises `NotFree`."""

    alone: ChunkLoop

    def _turns(self, spans: list[Span]) -> Value:
        """i64: turns of all lanes together, 0 if they are not such turns."""
        if self.m.extensions or len(self.m.limits) != 1:
            raise NotFree
        last = self._last()
        own = self.m.binary("add", last, self.m.number(I64, 1))
        own = self.m.binary("and", own, self.m.number(I64, TURNS))  # so that LLVM knows how small it is
        turns = self.m.binary("mul", own, self.m.number(I64, WARP))
        found = [self.m.test("icmp ult", last, self.m.number(I64, TURNS))]
        found += [*self._ends_alike(last), *self._follow_each_other(own)]
        found += self.are_free(spans, self.m.binary("sub", turns, self.m.number(I64, 1)))
        good = reduce(lambda one, other: self.m.binary("and", one, other), found)
        self.alone.last = last
        return Value(self.builder.emit(f"select {good.typed}, {turns.typed}, i64 0"), I64)

    def _last(self) -> Value:
        """i64: the turn from which the first lane leaves: where its counter is at the limit, or the next."""
        near = self.steps_to(self.m.limits[0])
        stays = self.m.cast("zext", I64, self.m.scalar(self._stays_at(near)))
        return self.m.binary("add", near, stays)

    # -- what is the same in all lanes -------------------------------------------------------------------

    def _stays_at(self, turn: Value) -> Value:
        """<32 x i1>: lanes that do not leave the loop from a turn."""
        branch, m = self.alone.branch, self.alone.all.m
        (stays,) = self.alone.all.at(turn, [self.alone.predicate])
        return stays if (branch.taken is self.alone.loop.header) != branch.negated else m.invert_mask(stays)

    def _ends_alike(self, last: Value) -> Iterator[Value]:
        """i1: all lanes are as far from the limit, and leave from that turn, and from none before. (From the
        first turn to where the counter is at the limit a comparison changes once at most.)"""
        m = self.alone.all.m
        moving, limit = self.alone.sides
        (start,) = self.alone.all.at(NONE, [moving])
        end = (
            m.widened(m.number(start.type, limit.bits), WARP)
            if isinstance(limit, Constant)
            else self.alone.all.at(NONE, [limit])[0]
        )
        distance = LlvmIntegers.binary(m, "sub", end, start)
        yield self._all_are(distance, m.widened(self.m.scalar(distance), WARP))
        yield self._bits_are(self._stays_at(last), 0)
        before = self.m.binary("sub", last, self.m.number(I64, 1))
        stay = (self._bits_are(self._stays_at(turn), -1) for turn in (NONE, before))
        yield self.m.binary("or", self.m.test("icmp eq", last, NONE), self.m.binary("and", *stay))

    def _follow_each_other(self, own: Value) -> Iterator[Value]:
        """i1: each lane begins where the one before will have come to after its `own` turns."""
        steps = {d: visit.step for op, visit in self.visits.items() for d in self.alone.addresses_in(op)}
        steps |= {phi: self.alone.step_of(phi) for phi in self.alone.used & self.alone.phis}
        m = self.alone.all.m
        for column, step in zip(self.alone.all.at(NONE, steps), steps.values()):
            t = column.type
            turns = own if t == I64 else m.cast("trunc", t, own)
            apart = m.constant_lanes(t, [lane * step for lane in range(WARP)])
            apart = LlvmIntegers.binary(m, "mul", apart, m.widened(turns, WARP))
            first = m.widened(self.m.scalar(column), WARP)
            yield self._all_are(LlvmIntegers.binary(m, "sub", column, first), apart)

    def _all_are(self, column: Value, other: Value) -> Value:
        return self._bits_are(self.alone.all.m.test("icmp ne", column, other), 0)

    def _bits_are(self, mask: Value, bits: int) -> Value:
        return self.m.test("icmp eq", self.alone.all.m.mask_bits(mask), Value(str(bits), "i32"))

    def go_on(self, turns: Value) -> None:
        """All lanes leave the loop."""
        self.alone.leave_all()


class ChunkLoop(AloneLoop):
    """Emits one loop of a block for all lanes of a warp as if they were one."""

    needs_vectors = True

    def __init__(self, emitter: FunctionEmitter, loop: Loop, dominance: Tree) -> None:
        super().__init__(emitter, loop, dominance)
        self.name = f"chunks.{loop.header.index}"
        self.all = AllLanes(self)
        self.begun: dict[Definition, Value] = {}
        self.last = NONE

    def emit(self) -> None:
        brought, given = self._brought(), self._given()
        self._copied()
        if not self._is_one_for_all or {*given} != {*self.left}:
            raise NotAlone
        self.builder.label(self.name)
        self.entering = Value(self.builder.emit(f"load i32, ptr {self.lanes}"), "i32")
        self.emitter.cache = {}
        self.begun = {d: self.emitter.read(d) for d in brought}
        self.m.lane_number = Value("0", "i32")
        self.builder.void(f"store i32 0, ptr {self.lane}")
        for definition, value in self.begun.items():
            self.builder.void(f"store {self.m.scalar(value).typed}, ptr {self.slot_of(definition)}")
        self.builder.void(f"br label %{self.name}.begin")
        try:
            self.builder.lines += ChunkTurns(self).emit(f"{self.name}.back")
        except NotFree:
            raise NotAlone from None
        self.builder.label(f"{self.name}.back")
        self.emitter.cache = {}
        self.emitter.run(self.loop.header, self.entering_mask)

    def leave_all(self) -> None:
        """All lanes leave with what they have in the last turn."""
        given = self.left
        for definition, column in zip(given, self.all.at(self.last, given.values())):
            (part,) = self.emitter.parts(definition)
            column = self.emitter.quieted(definition, column)
            self.builder.void(f"store {column.typed}, ptr {self.emitter.slot(definition, part)}, align 64")
        assert self.exit is not None
        self.emitter.add_waiting(self.exit, self.entering_mask)
        self.emitter.walk_on(self.loop.header, set_of({self.exit}))

    # -- what the loop is like ---------------------------------------------------------------------------

    @property
    def branch(self) -> Branch:
        branch = self.loop.header.terminator
        assert isinstance(branch, Branch)
        return branch

    @cached_property
    def _reaching_end(self) -> dict[Register, Definition]:
        current = dict(self.ssa.reaching(self.loop.header))
        for op in self.loop.header.ops:
            current.update({d.register: d for d in self.ssa.of[id(op)] if d is not None})
        return current

    @cached_property
    def predicate(self) -> Definition:
        """By which lanes leave."""
        return self.ssa.lookup(self._reaching_end, self.branch.predicate)

    @cached_property
    def sides(self) -> tuple[Definition, Definition | Constant]:
        """What it compares: what is made of a counter, and what that is limited by. Raises `NotFree`."""
        op = self.predicate.origin
        if not isinstance(op, Op) or op.form.effects or op.guard is not None or len(op.sources) != 2:
            raise NotFree
        sides = [self._side(op, source) for source in op.sources.values()]
        moving = [d for d in sides if isinstance(d, Definition) and d.block.index in self.inside]
        others = [d for d in sides if d not in moving]
        if len(moving) != 1 or len(others) != 1:
            raise NotFree
        return moving[0], others[0]

    def _side(self, op: Op, source: Operand) -> Definition | Constant:
        if isinstance(source, Constant):
            return source
        if not isinstance(source, Register):
            raise NotFree
        return self.ssa.read[id(op)][source]

    def addresses_in(self, op: Op) -> list[Definition]:
        return [self.ssa.read[id(op)][register] for register, _ in addresses_of(op)]

    def made_of(self, wanted: Iterable[Definition]) -> set[Definition]:
        """What some definitions are made of in one turn, and they themselves; what is loaded is made of
        nothing."""
        needed = set(wanted)
        for op in reversed(self.loop.header.ops):
            assert isinstance(op, Op)
            if not op.form.effects and not needed.isdisjoint(d for d in self.ssa.of[id(op)] if d is not None):
                needed |= set(self.ssa.read[id(op)].values())
        return needed

    @cached_property
    def used(self) -> set[Definition]:
        """What that is made of which is stored."""
        stores = [op for op in self.loop.header.ops if isinstance(op, Op) and self._stores(op)]
        stored = (self.ssa.read[id(op)][r] for op in stores for r in self._data(op))
        return self.made_of(stored)

    def _stores(self, op: Op) -> bool:
        return bool(op.form.effects) and not op.destinations

    def _data(self, op: Op) -> set[Register]:
        addresses = {register for register, _ in addresses_of(op)}
        return {source for source in op.sources.values() if isinstance(source, Register)} | (
            set(uses(op)) - addresses
        )

    @property
    def _is_one_for_all(self) -> bool:
        """Whether what is stored is made of what all lanes have, what they load and what they count."""
        ops = [op for op in self.loop.header.ops if isinstance(op, Op)]
        special = any(isinstance(source, Special) for op in ops for source in op.sources.values())
        if special or any(op.guard for op in ops) or not all(map(self.step_of, self.phis)):
            return False
        outside = (d for d in self.used if d.block.index not in self.inside)
        return all(self.emitter.shape(d).is_uniform for d in outside)

    @cached_property
    def left(self) -> dict[Definition, Definition]:
        """What code after the loop wants, and of which definitions of the last turn it is."""
        (target,) = (t for t in self.loop.header.successors() if t is not self.loop.header)
        header = self.loop.header.index
        phis = {phi: phi.inputs[header] for phi in self.ssa.phis.get(target.index, ())}
        return {**{d: d for d in self._escaping()}, **phis}
