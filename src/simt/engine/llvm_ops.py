"""The ops of a block as LLVM IR: their operands, what is known of these, and the values that they give."""

from __future__ import annotations

from collections.abc import Generator
from functools import cached_property, partial
from typing import TYPE_CHECKING

from simt.analysis.cut_indices import CutIndices
from simt.analysis.evaluate import Evaluator
from simt.analysis.following import NOTHING, following, is_pitched
from simt.analysis.lanes import first_of_same_lanes
from simt.analysis.members import later_members
from simt.analysis.program import (
    Address,
    Block,
    Call,
    Function,
    FunctionAddress,
    Op,
    Register,
    SymbolAddress,
    acting_after,
    memory_operands,
)
from simt.analysis.range_algebra import UNKNOWN, Range, constant
from simt.analysis.ranges import Ranges
from simt.analysis.remade import Recipe
from simt.analysis.rolled_lines import Line, Seldom
from simt.analysis.rows_beside import offsets_beside
from simt.analysis.shape import WARP
from simt.analysis.ssa import Definition
from simt.analysis.turns import Turns
from simt.engine import llvm_open
from simt.engine.llvm_access import LATEST
from simt.engine.llvm_algebra import NUMBERS, element_type
from simt.engine.llvm_builder import Value
from simt.engine.llvm_lanes import Lanes, bases, shape_of
from simt.engine.llvm_loose import raw
from simt.engine.llvm_members import are_beside
from simt.engine.llvm_open import Present
from simt.engine.llvm_prefetch import Place
from simt.engine.llvm_rolled import ABORT, fault_at
from simt.engine.llvm_slots import SlotEmitter, Unit
from simt.imports import Later

if TYPE_CHECKING:
    from simt.engine import llvm_phases
else:
    llvm_phases = Later("simt.engine.llvm_phases")


class OpEmitter(SlotEmitter):
    """Emits ops, those under a guard among them; `FunctionEmitter` puts them into blocks."""

    def __init__(self, unit: Unit, function: Function) -> None:
        super().__init__(unit, function)
        self.in_place: Evaluator[Value] = Evaluator(self.m, _Reader(self), unit.program.environment)
        self.evaluator = self.in_place
        self.here = self.schedule.order[0]  # the block that is being emitted
        self.streams: set[int] = set()  # stores that may go past the caches, by the op's id
        self.goers: dict[int, bool] = {}  # what comparisons give in threads that do something, by the op's id

    def read(self, definition: Definition) -> Value:
        if definition in self.remade and definition not in self.cache:
            made = self._made_again(self.remade[definition])
            self.cache[definition] = self.as_told(definition, made, self.shape(definition))
        elif definition in self.of_thread and definition not in self.cache:
            self.cache[definition] = self._told_by_thread(definition, super().read(definition))
        return super().read(definition)

    def _told_by_thread(self, definition: Definition, kept: Value) -> Value:
        """A value that is made again where the warp's number is known, and else as it was kept."""
        if type(kept) not in (Value, Lanes) or not kept.ir.startswith("%") or definition in self.everywhere:
            return kept
        usual = self.cache, self.remade
        self.cache, self.remade = {}, self.recipes
        again = self.read(definition)
        self.cache, self.remade = usual
        have, shape = shape_of(again), shape_of(kept)
        if shape.is_affine and (have.width > shape.width or have.stride != shape.stride):
            return kept
        again = self.m.as_shape(again, shape)
        text = f"select i1 {llvm_phases.ONE_WARP}, {again.typed}, {kept.spelled} {kept.ir}"
        return self.m.shaped(Value(self.builder.emit(text), kept.type, kept.width), shape)

    def _made_again(self, recipe: Recipe) -> Value:
        """Runs an op once more for its one value."""
        m, current = self.m, self.current
        state = m.line, m.parameter, m.reach, m.range_of, m.result_used
        self.current, m.line = dict(recipe.inputs), recipe.op.line
        m.parameter, m.reach, m.result_used = self.parameter_offset(recipe.op), UNKNOWN, True
        m.range_of = partial(self._range_of, recipe.op)
        values = zip(self.ssa.of[id(recipe.op)], self.evaluator.op(recipe.op))
        (value,) = (value for made, value in values if made is not None)
        self.current = current
        m.line, m.parameter, m.reach, m.range_of, m.result_used = state
        return value

    def op(self, op: Op) -> None:
        m, made, large, acts = self.m, self.ssa.of[id(op)], self.unit.large, bool(op.form.effects)
        m.of_goers = self.goers.get(id(op)) if self.goers else None
        if acts:
            self._tell_of_access(op)
        else:
            m.parameter, m.reach = None, UNKNOWN
        if not large:
            m.range_of = partial(self._range_of, op)
        m.result_used = not self.uses.keys().isdisjoint(made)
        m.may_put_off = op.guard is None and not large
        if op.guard is None:
            values = (self.in_place if m.holds else self.evaluator).op(op)
        else:
            if acts:
                m.settle_updates()
            values = self._guarded(op)
        if acts:
            m.computed = {}
        for definition, value in zip(made, values):
            if definition is not None:
                self.write(definition, value)
                if not acts and not large:
                    self._note_computed(op, definition, value)
        for definition in made:
            if definition is not None:
                self.current[definition.register] = definition

    def _tell_of_access(self, op: Op) -> None:
        """Tells the algebra of what it asks where it gets at memory."""
        m = self.m
        m.parameter = self.parameter_offset(op)
        m.reach = UNKNOWN if self.unit.large else self.reach_here(op)
        m.streams = id(op) in self.streams
        m.step_in_loop, m.place_in_loop = partial(self._step_in_loop, op), partial(self._place_in_loop, op)
        m.offsets_here = partial(self._offsets_here, op)

    def coming(self, block: Block) -> Generator[Op | Call]:
        """The ops of a block, of each of which the algebra is told first what stands behind it."""
        shapes, long = self.uniformity.shapes, self.unit.large or self.unit.module.is_long
        ahead = following(self.ssa, shapes, block.ops, self.uses)
        later = {} if long else later_members(self.ssa, shapes, block.ops, ahead)
        m = self.m
        m.expect(None)
        m.abort = ABORT
        behind = zip((*block.ops[1:], None), acting_after(block.ops))
        for place, (op, (after, acting)) in enumerate(zip(block.ops, behind)):
            self.present = Present(block.ops, place)
            line = m.line = op.line
            m.brief = isinstance(line, Seldom)
            if m.abort == ABORT and isinstance(line, Line):
                m.abort = fault_at(self, block, line)
            m.expect(ahead.get(id(op), NOTHING))
            m.pitched = m.followed = m.member_follows = False
            m.later = ()
            if isinstance(op, Op) and op.form.effects:  # few do
                m.pitched = is_pitched(self.ssa, shapes, op)
                if op.guard is None and not (self.unit.large or self.unit.module.is_long):
                    m.followed = _goes_with(op, after)
                    m.later = later.get(id(op), ())
                    m.member_follows = _goes_with(op, acting) and are_beside(self.ssa, op, acting)
            if not self.unit.large:
                llvm_open.settle_seen(m, self.cache, self.ssa, self.present)
            yield op

    def _note_computed(self, op: Op, definition: Definition, value: Value) -> None:
        if value.width == WARP and value.type in NUMBERS:
            column = raw(value)
            if column.ir[0] == "%":
                read = {*self.ssa.read[id(op)].values()}  # is needed by the result
                kept = [(d, v) for d, v in self.m.computed.items() if d not in read]
                self.m.computed = dict((*kept, (definition, column))[-LATEST:])

    def operand(self, register: Register) -> Value:
        """A register that an op reads."""
        return self.register(register)

    def parameter_offset(self, op: Op) -> int | None:
        """Where in the kernel's parameter block an op reads, if it names a parameter."""
        for source in op.sources.values():
            if isinstance(source, Address) and isinstance(source.base, SymbolAddress):
                base = source.base
                if base.space == "param":
                    return self.kernel_parameter(base.name).offset + base.offset + source.offset
        return None

    def reach(self, op: Op, current: dict[Register, Definition]) -> Range:
        """Bounds of the addresses that an op gets at, if it has a memory operand."""
        if op.form.effects:
            for source in op.sources.values():
                if isinstance(source, Address):
                    return self.ranges.of_address(source, current)
        return UNKNOWN

    def reach_here(self, op: Op) -> Range:
        """The same for an op of the block that is being emitted, in warps that have lanes there."""
        return self.reach(op, self.current)

    def _range_of(self, op: Op, value: Value) -> Range:
        """What is known of one of an op's operands."""
        registers = () if self.unit.large else (r for r in op.sources.values() if isinstance(r, Register))
        read = (self.ssa.lookup(self.current, register) for register in registers)
        return next((self.ranges.of(found) for found in read if self.cache.get(found) == value), UNKNOWN)

    @cached_property
    def ranges(self) -> Ranges:
        return Ranges(self.ssa, self.unit.program.environment, self.unit.block, self._symbol_range)

    @cached_property
    def _cut_indices(self) -> CutIndices:
        unit = self.unit
        return CutIndices(self.ssa, self.uniformity, unit.block, unit.program.environment)

    def is_in_rows(self, address: Definition) -> bool:
        """Whether lanes may be in a few rows of an index, each of which goes to one place, or on by words."""
        return not self.shape(address).pitched and self._cut_indices.has(address)

    @cached_property
    def turns(self) -> Turns:
        return Turns(self.ssa, self.unit.program.environment, self.number_of)

    def _step_in_loop(self, op: Op) -> int | None:
        """How far an op's address goes in each turn of the loop around it, if that is a known constant."""
        loop = None if self.m.loop is None else self.schedule.loop_of[self.m.loop]
        addresses = [self.ssa.read[id(op)][register] for register, _ in memory_operands(op)]
        if self.unit.large or loop is None or len(addresses) != 1:
            return None
        return self.turns.step(addresses[0], loop)

    def _place_in_loop(self, op: Op) -> Place | None:
        """Where an op's address is in a turn of the loop around it."""
        places = [(self.ssa.read[id(op)][register], offset) for register, offset in memory_operands(op)]
        if self.unit.large or self.m.loop is None or len(places) != 1:
            return None
        first = self._first_of_same_lanes
        return Place(op, *places[0], first[self.here.index] == first[self.m.loop])

    def _offsets_here(self, op: Op) -> tuple[int, list[int]]:
        """Of an op's access, and of all that the block gets at from the same address."""
        beside = [] if self.unit.large else offsets_beside(self.ssa, self.here, op)
        return next((offset for _, offset in memory_operands(op)), 0), beside

    @cached_property
    def _first_of_same_lanes(self) -> dict[int, int]:
        """By block, the first one that the same lanes run in each turn."""
        return first_of_same_lanes(self.ssa)

    def number_of(self, definition: Definition) -> int | None:
        found = UNKNOWN if self.unit.large else self.ranges.of(definition)
        t = definition.register.type
        is_integer = element_type(t) in ("i16", "i32", "i64")
        return found.lo % 2**t.bits if is_integer and found.lo == found.hi else None

    def _symbol_range(self, symbol: SymbolAddress) -> Range:
        if symbol.space == "shared":
            return constant(self.unit.kernel.shared[symbol.name] + symbol.offset)
        if symbol.space == "local" and self.function.is_kernel:  # whose frame is the first
            return constant(self.function.local[symbol.name] + symbol.offset)
        return UNKNOWN

    def _guarded(self, op: Op) -> tuple[Value, ...]:
        """An op under a guard predicate: lanes without it keep what they had."""
        assert op.guard is not None
        guard = self.register(op.guard.register)
        if op.guard.negated:
            guard = self.m.invert(op.guard.register.type, guard)
        values = self._conditional(op, guard) if op.form.effects else self.evaluator.op(op)
        merged: list[Value] = []
        for value, register, made in zip(values, op.destinations, self.ssa.of[id(op)]):
            old = self.ssa.lookup(self.current, register) if register is not None else None
            if register is None or old is None or made is None or old.origin == "undefined":
                merged.append(value)
            else:
                merged.append(self.merged(made, guard, value, self.read(old)))
        return tuple(merged)

    def merged(self, definition: Definition, guard: Value, value: Value, old: Value) -> Value:
        """What a register has behind an op under a guard."""
        return self.m.select(definition.register.type, guard, value, old)

    def _conditional(self, op: Op, guard: Value) -> tuple[Value, ...]:
        """Runs an op with effects only if some lane has the guard."""
        outside, cache = self.m.mask, dict(self.cache)
        inside = outside if guard.width == 1 else self.m.mask_and(outside, guard)
        some = bases(guard).ir if guard.width == 1 else self.m.any(inside)
        run, skip, end = (self.builder.block_name(h) for h in ("guarded", "skip", "end"))
        self.builder.void(f"br i1 {some}, label %{run}, label %{skip}")
        self.builder.label(run)
        self.m.mask = inside
        values = self.evaluator.op(op)
        shapes = [shape_of(v) for v in values]
        flat = [
            bases(v) if s.is_affine and not s.stride else self.m.vector(v) for v, s in zip(values, shapes)
        ]
        last = self.builder.block_name("last")
        self.builder.void(f"br label %{last}")
        self.builder.label(last)
        self.builder.void(f"br label %{end}")
        self.builder.label(skip)
        self.builder.void(f"br label %{end}")
        self.builder.label(end)
        self.m.mask, self.cache = outside, cache
        return tuple(self._phi_or_zero(v, last, skip) for v in flat)

    def _phi_or_zero(self, value: Value, from_value: str, from_zero: str) -> Value:
        nothing = (
            "zeroinitializer"
            if value.width > 1
            else {"float": "0.0", "double": "0.0", "i1": "false"}.get(value.type, "0")
        )
        text = f"phi {value.spelled} [ {value.ir}, %{from_value} ], [ {nothing}, %{from_zero} ]"
        return Value(self.builder.emit(text), value.type, value.width)


def _goes_with(op: Op, after: Op | Call | None) -> bool:
    """Whether an op is followed by one of the same kind, by the same lanes."""
    return isinstance(after, Op) and after.form is op.form and after.guard is None


class _Reader:
    """Where the evaluator finds registers, variables and functions."""

    def __init__(self, emitter: OpEmitter) -> None:
        self.emitter = emitter
        # In functions that are not large ops read nothing but what the slots give.
        self.register = emitter.operand if emitter.unit.large else partial(SlotEmitter.register, emitter)

    def symbol(self, symbol: SymbolAddress) -> Value:
        return self.emitter.symbol(symbol)

    def function(self, function: FunctionAddress) -> Value:
        return Value(str(self.emitter.function_address(function.name)), f"i{function.type.bits}")
