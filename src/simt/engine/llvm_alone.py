"""Loops that few lanes are still in: each of them goes through what is left of it alone, as scalar code.

A warp whose lanes leave a loop in different turns runs its last turns with few lanes, and a gather costs
as much for one lane as for all. Where a loop gets at memory lane by lane, its code stands in the function
a second time, for one lane; the warp goes there when `FEW` lanes or less begin a turn. Nothing in such
a loop may need other lanes: no barriers, votes, shuffles or calls, and nothing that waits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import TYPE_CHECKING

from simt.analysis.dominance import Tree, dominators
from simt.analysis.evaluate import Evaluator
from simt.analysis.pending import set_of
from simt.analysis.program import (
    Address,
    Block,
    Branch,
    Call,
    FunctionAddress,
    Guard,
    Jump,
    Op,
    Register,
    SymbolAddress,
)  # fmt: skip
from simt.analysis.schedule import Loop
from simt.analysis.shape import WARP, Shape
from simt.analysis.ssa import Definition, terminator_uses, uses
from simt.engine.atomic_operation import is_simple
from simt.engine.llvm_algebra import element_type
from simt.engine.llvm_atomics import AtomicAlgebra
from simt.engine.llvm_builder import Value
from simt.engine.llvm_flushing import raw
from simt.engine.llvm_lanes import Guarded, Lanes, bases, shape_of
from simt.engine.llvm_memory import SHARED
from simt.ptx.types import Type

if TYPE_CHECKING:
    from simt.engine.llvm_function import FunctionEmitter

FEW = 8
LONGEST = 400
"""Ops of a loop above which it is not doubled."""


class NotAlone(Exception):
    """The loop does what one lane cannot do alone."""


class AloneAlgebra(AtomicAlgebra):
    """The algebra of one lane: every column is a scalar. `lane_number`: the lane (i32)."""

    lane_number = Value("0", "i32")

    def scalar(self, value: Value) -> Value:
        """What a column has in the lane."""
        if isinstance(value, Lanes) and not isinstance(value, Guarded) and value.shape.is_uniform:
            return bases(value)
        if value.width == 1 and not isinstance(value, Lanes):
            return value
        column = self.vector(value)
        return Value(
            self.builder.emit(f"extractelement {column.typed}, i32 {self.lane_number.ir}"), value.type
        )

    def special(self, name: str, component: str) -> Value:
        return self.scalar(super().special(name, component))

    def lane(self) -> Value:
        return self.lane_number

    def load(self, t: Type, space: str, address: Value, count: int, volatile: bool) -> tuple[Value, ...]:
        if space == "local" or volatile:
            raise NotAlone
        return super().load(t, space, address, count, volatile)

    def store(self, t: Type, space: str, address: Value, values: tuple[Value, ...], volatile: bool) -> None:
        if space == "local" or volatile:
            raise NotAlone
        super().store(t, space, address, values, volatile)

    def atomic(self, op: str, t: Type, space: str, address: Value, b: Value, c: Value | None) -> Value:
        if space == "local":
            raise NotAlone
        access = self._access(t, space, address, 1, True)
        if access.region is not SHARED or not is_simple(t):
            return self.scalar(self._by_lanes(op, t, access, b, c))
        self.require(access, address)
        return self._update(op, t, self._host(access, address), b, c)

    def active(self) -> Value:
        raise NotAlone

    def ballot(self, p: Value) -> Value:
        raise NotAlone

    def shuffle(self, t: Type, a: Value, lane: Value) -> Value:
        raise NotAlone

    def to_generic(self, t: Type, space: str, address: Value) -> Value:
        return self.scalar(super().to_generic(t, space, address))

    def from_generic(self, t: Type, space: str, address: Value) -> Value:
        return self.scalar(super().from_generic(t, space, address))

    def in_space(self, space: str, address: Value) -> Value:
        return self.scalar(super().in_space(space, address))

    def trap(self) -> None:
        raise NotAlone

    def event(self, number: Value) -> None:
        raise NotAlone  # it counts warps

    def events(self, mask: Value) -> None:
        raise NotAlone


class AloneLoop:
    """Emits one loop for one lane at a time. The lanes are in a stack slot, as bits."""

    def __init__(self, emitter: FunctionEmitter, loop: Loop, dominance: Tree) -> None:
        self.emitter = emitter
        self.loop = loop
        self.dominance = dominance
        self.builder = emitter.builder
        self.ssa = emitter.ssa
        self.name = f"alone.{loop.header.index}"
        self.blocks = emitter.schedule.order[loop.first : loop.last + 1]
        self.inside = {b.index for b in self.blocks}
        unit = emitter.unit
        self.m = AloneAlgebra(self.builder, unit.module, unit.features, unit.block, unit.program.environment)
        self.m.parameter_size, self.m.sizes = emitter.m.parameter_size, emitter.m.sizes
        self.m.abort, self.m.zeros = emitter.m.abort, emitter.m.zeros
        self.m.lane_number = Value(f"%{self.name}.lane", "i32")
        self.m.mask = Value(f"%{self.name}.mask", "i1", WARP)
        self.evaluator: Evaluator[Value] = Evaluator(self.m, self, unit.program.environment)
        self.current: dict[Register, Definition] = {}
        self.cache: dict[Definition, Value] = {}
        self.exits: set[int] = set()

    @property
    def lanes(self) -> str:
        """The stack slot of the lanes that are still to go."""
        name = f"%{self.name}.lanes"
        self.emitter.allocas[f"  {name} = alloca i32"] = None
        return name

    # -- what the evaluator reads: see `simt.analysis.evaluate.Reader` ---------------------------------

    def register(self, register: Register) -> Value:
        return self.read(self.ssa.lookup(self.current, register))

    def symbol(self, symbol: SymbolAddress) -> Value:
        if symbol.space == "local":
            raise NotAlone
        return self.emitter.symbol(symbol)

    def function(self, function: FunctionAddress) -> Value:
        raise NotAlone

    def read(self, definition: Definition) -> Value:
        if definition.origin == "undefined":
            return self.emitter.read(definition)
        if definition not in self.cache:
            t = definition.register.type
            loaded = self.builder.emit(f"load {element_type(t)}, ptr {self._slot(definition)}")
            value = Value(loaded, element_type(t))
            self.cache[definition] = self.m.flush(t, value) if definition in self.emitter.unflushed else value
        return self.cache[definition]

    def _slot(self, definition: Definition) -> str:
        name = f"%{self.name}.v{definition.index}"
        self.emitter.allocas[f"  {name} = alloca {element_type(definition.register.type)}"] = None
        return name

    def _keep(self, definition: Definition, value: Value) -> None:
        """A definition of the loop gets its value."""
        scalar = self.m.scalar(value)
        self.cache[definition] = scalar
        kept = raw(scalar) if definition in self.emitter.unflushed else scalar
        self.builder.void(f"store {kept.typed}, ptr {self._slot(definition)}")

    # -- the whole ---------------------------------------------------------------------------------

    def emit(self) -> None:
        """Raises `NotAlone` if the loop cannot be run so; what was emitted is then of no use."""
        brought, given = self._brought(), self._given()
        self.builder.label(self.name)
        ways = [self._bring(definition) for definition in brought]
        for definition in given:
            self._copy_column(definition, to_array=True)
        self.builder.void(f"br label %{self.name}.head")
        self.builder.label(f"{self.name}.head")
        left = self.builder.emit(f"load i32, ptr {self.lanes}")
        none = self.builder.emit(f"icmp eq i32 {left}, 0")
        self.builder.void(f"br i1 {none}, label %{self.name}.done, label %{self.name}.next")
        self.builder.label(f"{self.name}.next")
        self._take_lane(left)
        for definition, way in zip(brought, ways):
            value = way()
            self.builder.void(f"store {value.typed}, ptr {self._slot(definition)}")
        self.builder.void(f"br label %{self._label(self.loop.header)}")
        for block in self.blocks:
            self._block(block)
        self.builder.label(f"{self.name}.done")
        for definition in given:
            self._copy_column(definition, to_array=False)
        self.emitter.walk_on(self.loop.header, set_of(self.exits))

    def _take_lane(self, left: str) -> None:
        count = self.m.module.declare("llvm.cttz.i32", "i32", ("i32", "i1"))
        lane = f"%{self.name}.lane"
        below = self.builder.emit(f"sub i32 {left}, 1")
        rest = self.builder.emit(f"and i32 {left}, {below}")
        self.builder.void(f"store i32 {rest}, ptr {self.lanes}")
        self.builder.void(f"{lane} = call i32 {count}(i32 {left}, i1 true)")
        bit = self.builder.emit(f"xor i32 {left}, {rest}")
        self.builder.void(f"{self.m.mask.ir} = bitcast i32 {bit} to <{WARP} x i1>")

    # -- values from and for the other code ------------------------------------------------------------

    def _bring(self, definition: Definition) -> Callable[[], Value]:
        """How a lane gets its part of a value; what can be done once for all lanes is done now."""
        self.emitter.cache = {}
        value = self.emitter.read(definition)
        shape = shape_of(value)
        if shape.is_affine and shape.width == 1:
            return partial(self._step_to, bases(value), shape.stride)
        array = self._array("in", definition)
        column = self._as_stored(self.emitter.m.vector(value))
        self.builder.void(f"store {column.typed}, ptr {array}, align 64")
        return partial(self._item, array, value.type)

    def _step_to(self, base: Value, stride: int) -> Value:
        if stride == 0:
            return base
        opcode = "zext" if base.type == "i64" else "trunc"
        lane = self.m.cast(opcode, base.type, self.m.lane_number)
        return self.m.binary("add", base, self.m.binary("mul", lane, self.m.number(base.type, stride)))

    def _item(self, array: str, element: str) -> Value:
        kind = "i8" if element == "i1" else element
        place = self.builder.emit(f"getelementptr {kind}, ptr {array}, i32 {self.m.lane_number.ir}")
        item = Value(self.builder.emit(f"load {kind}, ptr {place}"), kind)
        return self.m.cast("trunc", element, item)

    def _as_stored(self, column: Value) -> Value:
        """Predicates take a byte each."""
        return self.m.cast("zext", "i8", column) if column.type == "i1" else column

    def _array(self, use: str, definition: Definition) -> str:
        """Stack memory with an element for each lane."""
        element = element_type(definition.register.type)
        name = f"%{self.name}.{use}{definition.index}"
        kind = "i8" if element == "i1" else element
        self.emitter.allocas[f"  {name} = alloca [{WARP} x {kind}], align 64"] = None
        return name

    def _given(self) -> list[Definition]:
        """Definitions of which code after the loop wants what the lanes left with."""
        found = dict.fromkeys(self._escaping())
        for block in self.blocks:
            for target in block.successors():
                if target.index not in self.inside:
                    found.update(dict.fromkeys(self.ssa.phis.get(target.index, ())))
        for definition in found:
            (part, *others) = self.emitter.parts(definition)
            if others or part.width != WARP:
                raise NotAlone
        return list(found)

    def _escaping(self) -> list[Definition]:
        """Definitions made in the loop and used after it."""
        return [
            d
            for d, blocks in self.emitter.uses.items()
            if d.block.index in self.inside and blocks - self.inside
        ]

    def _copy_column(self, definition: Definition, to_array: bool) -> None:
        """A value of all lanes from its slot to an array, or back."""
        (part,) = self.emitter.parts(definition)
        slot, array = self.emitter.slot(definition, part), self._array("out", definition)
        if to_array:
            column = Value(self.builder.emit(f"load {part.kind}, ptr {slot}, align 64"), part.element, WARP)
            self.builder.void(f"store {self._as_stored(column).typed}, ptr {array}, align 64")
            return
        kind = "i8" if part.element == "i1" else part.element
        kept = Value(self.builder.emit(f"load <{WARP} x {kind}>, ptr {array}, align 64"), kind, WARP)
        column = self.m.cast("trunc", part.element, kept)
        self.builder.void(f"store {column.typed}, ptr {slot}, align 64")

    def _brought(self) -> list[Definition]:
        """Definitions that the loop reads and does not make, and its header's phis."""
        found = dict.fromkeys(self.ssa.phis.get(self.loop.header.index, ()))
        for definition in self._reads():
            if definition.block.index not in self.inside and definition.origin != "undefined":
                found[definition] = None
        return list(found)

    def _reads(self) -> Iterator[Definition]:
        for block in self.blocks:
            current = self.ssa.reaching(block)
            for op in block.ops:
                if isinstance(op, Call):
                    raise NotAlone
                registers = [
                    *uses(op),
                    *(r for r in op.destinations if r is not None and op.guard is not None),
                ]
                yield from (self.ssa.lookup(current, r) for r in registers)
                for definition in self.ssa.of[id(op)]:
                    if definition is not None:
                        current[definition.register] = definition
            yield from (self.ssa.lookup(current, r) for r in terminator_uses(block))
            for target in block.successors():
                for phi in self.ssa.phis.get(target.index, ()):
                    yield phi.inputs[block.index]

    # -- blocks --------------------------------------------------------------------------------------

    def _label(self, block: Block) -> str:
        return f"{self.name}.b{block.index}"

    def _block(self, block: Block) -> None:
        self.builder.label(self._label(block))
        self.cache = {}
        self.current = self.ssa.reaching(block)
        for op in block.ops:
            assert isinstance(op, Op)
            self._op(op)
        self.m.line = block.terminator.line
        match block.terminator:
            case Jump(target=target):
                self._edge(block, target)
            case Branch() as branch:
                self._branch(block, branch)
            case _:
                raise NotAlone

    def _op(self, op: Op) -> None:
        self.m.line = op.line
        self.m.parameter = self.emitter.parameter_offset(op)
        self.m.reach = self.emitter.reach(op, self.current)
        self.m.result_used = True
        values = self.evaluator.op(op) if op.guard is None else self._guarded(op, op.guard)
        made = self.ssa.of[id(op)]
        for definition, value in zip(made, values):
            if definition is not None:
                self._keep(definition, value)
        for definition in made:
            if definition is not None:
                self.current[definition.register] = definition

    def _guarded(self, op: Op, guard: Guard) -> tuple[Value, ...]:
        """An op under a guard, by a branch; without it the destinations keep what they had."""
        condition = self.register(guard.register)
        run, end = self.builder.block_name("guarded"), self.builder.block_name("end")
        before = [self._before(d) for d in self.ssa.of[id(op)]]
        start = self.builder.block_name("start")
        self.builder.void(f"br label %{start}")
        self.builder.label(start)
        ways = (end, run) if guard.negated else (run, end)
        self.builder.void(f"br i1 {condition.ir}, label %{ways[0]}, label %{ways[1]}")
        self.builder.label(run)
        cache = dict(self.cache)
        values = [self.m.scalar(v) for v in self.evaluator.op(op)]
        self.cache = cache
        last = self.builder.block_name("last")
        self.builder.void(f"br label %{last}")
        self.builder.label(last)
        self.builder.void(f"br label %{end}")
        self.builder.label(end)
        return tuple(
            value if old is None else self.m.emit(
                f"phi {value.spelled} [ {value.ir}, %{last} ], [ {old.ir}, %{start} ]", value.type, 1
            )
            for value, old in zip(values, before)
        )  # fmt: skip

    def _before(self, definition: Definition | None) -> Value | None:
        if definition is None:
            return None
        return self.read(self.ssa.lookup(self.current, definition.register))

    # -- edges ---------------------------------------------------------------------------------------

    def _branch(self, block: Block, branch: Branch) -> None:
        ways = [branch.taken, branch.otherwise]
        if branch.negated:
            ways.reverse()
        condition = self.register(branch.predicate)
        labels = [self.builder.block_name("edge") for _ in ways]
        self.builder.void(f"br i1 {condition.ir}, label %{labels[0]}, label %{labels[1]}")
        cache = self.cache
        for label, target in zip(labels, ways):
            self.builder.label(label)
            self.cache = dict(cache)
            self._edge(block, target)

    def _edge(self, block: Block, target: Block) -> None:
        moves = [
            (phi, self.read(source))
            for phi in self.ssa.phis.get(target.index, ())
            if (source := phi.inputs[block.index]) is not phi
        ]
        if target.index not in self.inside:
            return self._leave(block, target, moves)
        for phi, value in moves:
            kept = raw(value) if phi in self.emitter.unflushed else value
            self.builder.void(f"store {kept.typed}, ptr {self._slot(phi)}")
        if target is self.loop.header:
            self.emitter.poll(target)
        self.builder.void(f"br label %{self._label(target)}")
        return None

    def _leave(self, block: Block, target: Block, moves: list[tuple[Definition, Value]]) -> None:
        """The lane leaves the loop: puts its values to the others', and waits for them there."""
        for definition in self._escaping():
            if self.dominance.dominates(definition.block.index, block.index):
                self._put(definition, self.read(definition))
        for phi, value in moves:
            self._put(phi, value)
        place = self.emitter.pending.of_edge(block, target)
        self.exits.add(place)
        self.emitter.add_waiting(place, self.m.mask)
        self.builder.void(f"br label %{self.name}.head")

    def _put(self, definition: Definition, value: Value) -> None:
        """Gives a value of all lanes this lane's part."""
        stored = self._as_stored(value)
        array = self._array("out", definition)
        place = self.builder.emit(f"getelementptr {stored.type}, ptr {array}, i32 {self.m.lane_number.ir}")
        self.builder.void(f"store {stored.typed}, ptr {place}")


class AloneLoops:
    """The loops of a function that lanes may go through alone; `decided`: by their headers' indices."""

    def __init__(self, emitter: FunctionEmitter) -> None:
        self.emitter = emitter
        self.decided: dict[int, bool] = {}

    def try_few(self, loop: Loop, mask: Value) -> None:
        """Sends lanes that begin a turn of a loop to go through it one by one, if they are few."""
        if not self.has_code(loop):
            return
        alone, together = f"alone.{loop.header.index}", self.emitter.builder.block_name("together")
        bits = self.emitter.m.mask_bits(mask).ir
        count = self.emitter.m.module.declare("llvm.ctpop.i32", "i32", ("i32",))
        lanes = self.emitter.builder.emit(f"call i32 {count}(i32 {bits})")
        few = self.emitter.builder.emit(f"icmp ule i32 {lanes}, {FEW}")
        go = self.emitter.builder.block_name("few")
        self.emitter.builder.void(f"br i1 {few}, label %{go}, label %{together}")
        self.emitter.builder.label(go)
        self.emitter.builder.void(f"store i32 {bits}, ptr %{alone}.lanes")
        self.emitter.builder.void(f"br label %{alone}")
        self.emitter.builder.label(together)

    def has_code(self, loop: Loop) -> bool:
        """Whether the loop has code for one lane at a time."""
        header = loop.header.index
        if header not in self.decided:
            self.decided[header] = self._suits_one(loop) and self._emit_alone(loop)
        return self.decided[header]

    def _suits_one(self, loop: Loop) -> bool:
        """Whether lanes leave the loop by degrees, and get at memory one by one in it."""
        blocks = self.emitter.schedule.order[loop.first : loop.last + 1]
        if loop.header.index not in self.emitter.uniformity.leaving or self.emitter.pending.waiting:
            return False
        if any(inner.parent is loop for inner in self.emitter.schedule.loops):
            return False
        return sum(len(b.ops) for b in blocks) <= LONGEST and any(
            self._scatters(op, block) for block in blocks for op in block.ops
        )

    def _scatters(self, op: Op | Call, block: Block) -> bool:
        """Whether nothing is known of the addresses that an op gets at."""
        if isinstance(op, Call) or not op.form.effects:
            return False
        return any(
            isinstance(source, Address)
            and isinstance(source.base, Register)
            and all(s.width == WARP for s in self._shapes_of(source.base, block))
            for source in op.sources.values()
        )

    def _shapes_of(self, register: Register, block: Block) -> list[Shape]:
        """Shapes of a register's definitions in a block and at its start."""
        found = [
            d
            for op in block.ops
            for d in self.emitter.ssa.of[id(op)]
            if d is not None and d.register is register
        ]
        found = found or [self.emitter.ssa.lookup(self.emitter.ssa.reaching(block), register)]
        return [self.emitter.shape(d) for d in found]

    def _emit_alone(self, loop: Loop) -> bool:
        """Emits the loop's code, to stand after the blocks; False if one lane cannot do it."""
        emitter = self.emitter
        with emitter.set_aside() as lines:
            try:
                AloneLoop(emitter, loop, self.dominance).emit()
            except NotAlone:
                lines.clear()
        emitter.later += lines
        return bool(lines)

    @cached_property
    def dominance(self) -> Tree:
        return Tree(dominators(self.emitter.schedule))
