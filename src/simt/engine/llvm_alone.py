"""Loops that few lanes are still in: each of them goes through what is left of it alone, as scalar code.

A warp whose lanes leave a loop in different turns runs its last turns with few lanes, and a gather costs
as much for one lane as for all. Where a loop gets at memory lane by lane, its code stands in the function
a second time, for one lane; the warp goes there when few lanes begin a turn (`llvm_alone_loops.py`). Nothing
in such a loop may need other lanes: no barriers, votes, shuffles or calls, and nothing that waits.

What can be done once a turn, for all its accesses, is done there (`llvm_alone_turn.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial, reduce
from typing import TYPE_CHECKING, TypeVar

from simt.analysis.dominance import Tree
from simt.analysis.evaluate import Evaluator
from simt.analysis.pending import set_of
from simt.analysis.program import (
    Block,
    Branch,
    Call,
    FunctionAddress,
    Guard,
    Jump,
    Op,
    Register,
    SymbolAddress,
    memory_operands,
)  # fmt: skip
from simt.analysis.range_algebra import Range
from simt.analysis.rolled_lines import Line
from simt.analysis.schedule import Loop
from simt.analysis.shape import WARP
from simt.analysis.ssa import Definition, terminator_uses, uses
from simt.engine import llvm_open
from simt.engine.host import looks_far
from simt.engine.llvm_algebra import element_type
from simt.engine.llvm_alone_algebra import AloneAlgebra, NotAlone
from simt.engine.llvm_alone_asking import Asking, Ways, asked, is_worth_it
from simt.engine.llvm_alone_count import CountedTurns
from simt.engine.llvm_alone_free import FreeTurns
from simt.engine.llvm_alone_places import AlonePlaces
from simt.engine.llvm_alone_turn import Base, Indexed, Joint, Touch, joints
from simt.engine.llvm_alone_vectors import NotFree
from simt.engine.llvm_branches import LIKELY
from simt.engine.llvm_builder import Value, element_bits
from simt.engine.llvm_lanes import bases, shape_of
from simt.engine.llvm_loose import settled_here
from simt.engine.llvm_open import Present
from simt.engine.llvm_rolled import correct

if TYPE_CHECKING:
    from simt.engine.llvm_function import FunctionEmitter

SHORT = 8
"""Turns of a loop below which it is not worth it."""
AHEAD = 3072
"""Bytes from what a lane reads to what is asked for: what a warp may go through together."""
MOST_KEPT = 4 * 512
"""Bits of all that lanes are given, one by one, if it is to be kept in registers of AVX-512. (AMD Zen 4: two
columns of doubles in memory 0.83 of the time, many integers 0.74 to 0.93.)"""
TRUE = Value("true", "i1")
Alone = TypeVar("Alone", bound=AloneAlgebra)
NEAR = 1 << 15
"""Bytes between the lowest and the highest lane's addresses up to which one follows the other."""


class AloneLoop(AlonePlaces):
    """Emits one loop for one lane at a time. The lanes are in a stack slot, as bits."""

    algebra = AloneAlgebra
    has_indices = True
    """Whether an address may be told by an index that a turn begins with."""
    needs_vectors = False
    """Whether it is not worth it without turns that LLVM makes vectors of."""

    def __init__(self, emitter: FunctionEmitter, loop: Loop, dominance: Tree) -> None:
        self.emitter = emitter
        self.loop = loop
        self.dominance = dominance
        self.builder = emitter.builder
        self.ssa = emitter.ssa
        self.name = f"alone.{loop.header.index}"
        self.blocks = emitter.schedule.order[loop.first : loop.last + 1]
        self.inside = {b.index for b in self.blocks}
        self.m = self.algebra_of(self.algebra)
        self.evaluator: Evaluator[Value] = Evaluator(self.m, self, emitter.unit.program.environment)
        self.current: dict[Register, Definition] = {}
        self.cache: dict[Definition, Value] = {}
        self.exits: set[int] = set()
        self.late = []
        self.present = Present()
        self.phis = dict.fromkeys(self.ssa.phis.get(loop.header.index, ())).keys()  # in their order
        self.names = dict[str, Definition]()  # of what has been read
        self.touches: dict[Op, Touch] = {}
        self.copy = "precise"
        self.checked: frozenset[Op] = frozenset()  # accesses that this copy need not check
        self.steps: dict[Definition, tuple[Definition, int]] = {}
        """What is made from a phi of the header and constants alone: the phi, and by how much it is more
        (0 if that is not known)."""
        self.counted: CountedTurns | None = None
        self.asking: Asking | None = None
        self.free = list[str]()  # code of turns of which all is known ahead
        self.entering = Value("0", "i32")  # lanes that begin, as bits
        self.distances: dict[Base, Value] = {}  # from what a phi holds to what is asked for

    def algebra_of(self, kind: type[Alone]) -> Alone:
        """An algebra for the loop's code."""
        unit, usual = self.emitter.unit, self.emitter.m
        m = kind(self.builder, unit.module, unit.features, unit.block, unit.program.environment)
        m.parameter_size, m.sizes = usual.parameter_size, usual.sizes
        m.at_start, m.beginning = usual.at_start, usual.beginning
        m.places, m.word_woven = usual.places, usual.woven
        m.abort, m.zeros = usual.abort, usual.zeros
        ops = [op for block in self.blocks for op in block.ops]
        m.only_loads = all(isinstance(op, Op) and (op.destinations or not op.form.moves_memory) for op in ops)
        return m

    @property
    def lanes(self) -> str:
        """The stack slot of the lanes that are still to go."""
        name = f"%{self.name}.lanes"
        self.emitter.allocas[f"  {name} = alloca i32"] = None
        return name

    @property
    def lane(self) -> str:
        """The stack slot of the number of the lane that runs."""
        name = f"%{self.name}.lane"
        self.emitter.allocas[f"  {name} = alloca i32"] = None
        return name

    # -- what the evaluator reads: see `simt.analysis.evaluate.Reader` ---------------------------------

    def register(self, register: Register) -> Value:
        return self.read(self.ssa.lookup(self.current, register))

    def symbol(self, symbol: SymbolAddress) -> Value:
        address = self.emitter.symbol(symbol)
        self.m.outside.add(address.ir)
        return address

    def function(self, function: FunctionAddress) -> Value:
        raise NotAlone

    @property
    def slots(self) -> dict[str, str]:
        """Types of what the loop's stack slots hold, by name."""
        lines = (line.split() for line in self.emitter.allocas if line.startswith(f"  %{self.name}."))
        return {words[0]: words[3] for words in lines if words[-1] == words[3]}

    # -- the whole ---------------------------------------------------------------------------------

    def emit(self) -> None:
        """Raises `NotAlone` if the loop cannot be run so; what was emitted is then of no use."""
        brought, given = self._brought(), self._given()
        precise = self._copied()
        if self._is_short:
            raise NotAlone
        self.free = self.free_turns()
        self.builder.label(self.name)
        self.begins()
        ways = {definition: self._bring(definition) for definition in brought}
        for definition in given:
            self.copy_column(definition, away=True)
        self.distances = {base: self._distance(ways[phi], shift) for base, phi, shift in self._streams()}
        self.entering = Value(self.builder.emit(f"load i32, ptr {self.lanes}"), "i32")
        self.counted, self.asking = self._counted()
        self._take_lane(ways)
        self.builder.lines += [*self.free, *precise]
        self._turn()
        self.builder.label(f"{self.name}.left")
        left = self.builder.emit(f"load i32, ptr {self.lanes}")
        none = self.builder.emit(f"icmp eq i32 {left}, 0")
        self.builder.void(f"br i1 {none}, label %{self.name}.done, label %{self.name}.next")
        self.builder.label(f"{self.name}.next")
        self._take_lane(ways)
        self.builder.label(f"{self.name}.done")
        for definition in given:
            self.copy_column(definition, away=False)
        if self.exit is not None:
            self.emitter.add_waiting(self.exit, self.entering_mask)
        self.emitter.walk_on(self.loop.header, set_of(self.exits))
        for block, first in self._rolled():
            self._correct(block, first)

    def _rolled(self) -> Iterator[tuple[Block, Line]]:
        """Blocks of turns that stand for several of the program's (`simt.engine.llvm_rolled`)."""
        for block in self.blocks:
            first = next((op.line for op in block.ops if isinstance(op.line, Line)), None)
            if first is not None:
                yield block, first

    def _correct(self, block: Block, first: Line) -> None:
        """Where a lane goes that has come to a fault in such a block."""
        self.builder.label(self._fault_of(block))
        made = {d.register: d for op in block.ops for d in self.ssa.of[id(op)] if d is not None}
        self.cache = {}
        sources = (first.start, first.now, first.step, first.limit)
        correct(self.emitter, block, first, [self.read(made[source]) for source in sources])

    def _fault_of(self, block: Block) -> str:
        return f"{self.name}.fault.{block.index}"

    def free_turns(self) -> list[str]:
        """The code of turns of which all is known ahead. No others are worth a copy of the loop then."""
        try:
            free = FreeTurns(self).emit(self.few)
        except NotFree:
            return []
        finally:
            self.m.given = None
        self.touches.clear()
        return free

    @property
    def few(self) -> str:
        """The label to which lanes go that have not got enough of such turns."""
        return f"{self.name}.turn"

    def begins(self) -> None:
        """The code for lanes one by one begins."""

    def goes(self) -> None:
        """Such turns are about to begin."""

    @property
    def _is_short(self) -> bool:
        """Whether a few turns are counted down: those that are left over by an unrolled loop."""
        return any(self._counts_few(phi) for phi in self.phis)

    def _counts_few(self, phi: Definition) -> bool:
        return self.step_of(phi) == -1 and all(r.lo >= 0 and r.hi < SHORT for r in self._begins(phi))

    def _begins(self, phi: Definition) -> list[Range]:
        """What a phi of the header can begin with."""
        return [self.emitter.ranges.of(v) for i, v in phi.inputs.items() if i not in self.inside]

    def _copied(self) -> list[str]:
        """A copy of the loop."""
        before, self.builder.lines = self.builder.lines, list[str]()
        for block in self.blocks:
            self._block(block)
        made, self.builder.lines = self.builder.lines, before
        return made

    def _take_lane(self, ways: Ways) -> None:
        """Lets the lowest lane of those that are still to go begin. (Twice in the code, for the first and for
        those after it: the other way round LLVM keeps more registers over the loop.)"""
        self._begin_lane()
        self.builder.void(f"store {self.m.lane_number.typed}, ptr {self.lane}")
        if self.counted is not None:
            self.counted.begin()
        for definition, way in ways.items():
            self.builder.void(f"store {way().typed}, ptr {self.slot_of(definition)}")
        self.builder.void(f"br label %{self.name}.{'begin' if self.free else 'turn'}")

    def _begin_lane(self) -> None:
        """Takes the lowest lane of those that are still to go."""
        left = self.builder.emit(f"load i32, ptr {self.lanes}")
        below = self.builder.emit(f"sub i32 {left}, 1")
        rest = self.builder.emit(f"and i32 {left}, {below}")
        self.builder.void(f"store i32 {rest}, ptr {self.lanes}")
        self.m.lane_number = self._zeros("cttz", left)

    # -- turns -------------------------------------------------------------------------------------------

    def _turn(self) -> None:
        """What is done when a turn begins, and the loop once more for turns whose accesses are known to be
        valid then."""
        self.builder.label(f"{self.name}.turn")
        self.cache = {}
        for base, distance in self.distances.items():
            self.m.ask_for(self.address(base, 0), distance)
        precise, found = self._label(self.loop.header), self._checked_together()
        if not found:
            return self.builder.void(f"br label %{precise}")
        self.copy, self.checked = "checked", frozenset(op for joint in found for op in joint.ops)
        if self.counted is not None:
            rest = self.counted.turn(precise)
            if self.asking is not None:
                self.asking.ahead(rest)
            found = [joint for joint in found if joint not in self.counted.steps]
        self._go_if(reduce(partial(self.m.binary, "and"), map(self._is_valid, found), TRUE), precise)
        self.builder.lines += self._copied()
        return None

    def _go_if(self, valid: Value, precise: str) -> None:
        """To the copy whose accesses are known to be valid, if they are."""
        checked = self._label(self.loop.header)
        if valid == TRUE:
            return self.builder.void(f"br label %{checked}")
        return self.builder.void(f"br i1 {valid.ir}, label %{checked}, label %{precise}{LIKELY}")

    def _counted(self) -> tuple[CountedTurns | None, Asking | None]:
        """The joint checks that hold for turns that can be counted, if there are any, and what such turns can
        ask for. (One access of an index is checked as quickly as turns are counted.)"""
        found = {joint: self.bytes_a_turn(joint.base) for joint in joints(self.touches.values())}
        steps = {joint: step for joint, step in found.items() if step > 0 and step % joint.size == 0}
        what = asked(self, frozenset(op for joint in steps for op in joint.ops))
        late = what is not None and not looks_far(self.emitter.unit.features) and is_worth_it(self, what.ops)
        asking = Asking(self, what) if what is not None and late else None
        if asking is None:
            steps = {j: n for j, n in steps.items() if len(j.ops) > 1 or isinstance(j.base, Definition)}
        return CountedTurns(self, steps) if steps else None, asking

    def _checked_together(self) -> list[Joint]:
        """What is worth a check when a turn begins: what is counted, and two accesses or more."""
        counted = {} if self.counted is None else self.counted.steps
        return [j for j in joints(self.touches.values()) if len(j.ops) > 1 or j in counted]

    @property
    def entering_mask(self) -> Value:
        return Value(self.builder.emit(f"bitcast {self.entering.typed} to <{WARP} x i1>"), "i1", WARP)

    @cached_property
    def exit(self) -> int | None:
        """The place to which all lanes go that leave the loop, None if there are several."""
        edges = ((b, t) for b in self.blocks for t in b.successors() if t.index not in self.inside)
        places = {self.emitter.pending.of_edge(*edge) for edge in edges}
        return places.pop() if len(places) == 1 else None

    def _steps_of(self, phi: Definition) -> set[tuple[Definition | None, int]]:
        """What a phi of the header is made of by the ways round the loop, as `steps` has it."""
        return {self.steps.get(v, (None, 0)) for i, v in phi.inputs.items() if i in self.inside}

    def bytes_a_turn(self, base: Base) -> int:
        """By how much an address grows each turn while its index does not wrap, 0 if that is not known."""
        return self.step_of(base.index) << base.shift if isinstance(base, Indexed) else self.step_of(base)

    def step_of(self, phi: Definition) -> int:
        """By how much a phi of the header grows each turn, 0 if that is not known."""
        ways = self._steps_of(phi) if phi in self.phis else set[tuple[Definition | None, int]]()
        source, step = ways.pop() if len(ways) == 1 else (None, 0)
        return step if source is phi else 0

    def _is_valid(self, joint: Joint) -> Value:
        """i1: all accesses of a joint check are valid."""
        return self.m.are_valid(self.address(joint.base, joint.first), joint.size, joint.span)

    def _streams(self) -> Iterator[tuple[Base, Definition, int]]:
        """From where lanes go through memory, a step each turn: by which phi of the header, shifted by how
        much."""
        for base in dict.fromkeys(touch.base for touch in self.touches.values() if touch.loads):
            phi, shift = (base.index, base.shift) if isinstance(base, Indexed) else (base, 0)
            if isinstance(base, Indexed) and self.bytes_a_turn(base) <= 0:
                continue
            if phi in self.phis and all(source is phi for source, _ in self._steps_of(phi)):
                yield base, phi, shift

    def _distance(self, way: Callable[[], Value], shift: int) -> Value:
        """How far to look ahead: nowhere if lanes go through memory far from each other."""
        low, high = (self._in_lane(way, function) for function in ("cttz", "ctlz"))
        near = self.m.test(
            "icmp ult", self.m.binary("sub", high, low), self.m.number(low.type, NEAR >> shift)
        )
        return Value(self.builder.emit(f"select {near.typed}, i64 {AHEAD}, i64 0"), "i64")

    def _in_lane(self, way: Callable[[], Value], count: str) -> Value:
        """What the first (`cttz`) or last (`ctlz`) lane brings."""
        lanes = self.builder.emit(f"load i32, ptr {self.lanes}")
        lane = self._zeros(count, lanes)
        self.m.lane_number = self.m.binary("xor", lane, Value("31" if count == "ctlz" else "0", "i32"))
        return way()

    def _zeros(self, count: str, lanes: str) -> Value:
        function = self.m.module.declare(f"llvm.{count}.i32", "i32", ("i32", "i1"))
        return Value(self.builder.emit(f"call i32 {function}(i32 {lanes}, i1 true)"), "i32")

    # -- values from and for the other code ------------------------------------------------------------

    def _bring(self, definition: Definition) -> Callable[[], Value]:
        """How a lane gets its part of a value; what can be done once for all lanes is done now."""
        self.emitter.cache = {}
        value = self.emitter.read(definition)
        shape = shape_of(value)
        if shape.is_affine and shape.width == 1 and (shape.stride == 0 or self.m.segment == WARP):
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
        if not all(map(self.is_given, found)):
            raise NotAlone
        return list(found)

    def is_given(self, definition: Definition) -> bool:
        """Whether lanes can give a value of all lanes their parts."""
        (part, *others) = self.emitter.parts(definition)
        return not others and part.width == WARP

    def _escaping(self) -> list[Definition]:
        """Definitions made in the loop and used after it."""
        return [
            d
            for d, blocks in self.emitter.uses.items()
            if d.block.index in self.inside and blocks - self.inside
        ]

    def copy_column(self, definition: Definition, away: bool) -> None:
        """A value of all lanes from its slot to where lanes are put one by one, or back."""
        (part,) = self.emitter.parts(definition)
        slot = self.emitter.slot(definition, part)
        if self._keeps_columns:
            source, target = (slot, self._column(definition)) if away else (self._column(definition), slot)
            column = self.builder.emit(f"load {part.kind}, ptr {source}, align 64")
            value = Value(column, part.element, part.width)
            value = value if away else self.emitter.quieted(definition, value)
            self.builder.void(f"store {value.typed}, ptr {target}, align 64")
            return
        array = self._array("out", definition)
        if away:
            column = Value(self.builder.emit(f"load {part.kind}, ptr {slot}, align 64"), part.element, WARP)
            self.builder.void(f"store {self._as_stored(column).typed}, ptr {array}, align 64")
            return
        kind = "i8" if part.element == "i1" else part.element
        kept = Value(self.builder.emit(f"load <{WARP} x {kind}>, ptr {array}, align 64"), kind, WARP)
        column = self.emitter.quieted(definition, self.m.cast("trunc", part.element, kept))
        self.builder.void(f"store {column.typed}, ptr {slot}, align 64")

    @cached_property
    def _keeps_columns(self) -> bool:
        """Whether what lanes are given is kept in registers: not if it fills too many of them."""
        parts = (part for given in self._given() for part in self.emitter.parts(given))
        return self.m.has_masks and sum(element_bits(p.element) * p.width for p in parts) <= MOST_KEPT

    def _column(self, definition: Definition) -> str:
        """A slot for all lanes of what a definition is given; LLVM makes registers of it."""
        (part,) = self.emitter.parts(definition)
        name = f"%{self.name}.out{definition.index}"
        self.emitter.allocas[f"  {name} = alloca {part.kind}, align 64"] = None
        return name

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
        return f"{self.name}.{self.copy}.b{block.index}"

    def _block(self, block: Block) -> None:
        self.builder.label(self._label(block))
        self.open(block)
        for place, op in enumerate(block.ops):
            assert isinstance(op, Op)
            self.present = Present(block.ops, place)
            llvm_open.settle_seen(self.m, self.cache, self.ssa, self.present)
            self.do(op)
        self.settle_late(block)
        self.m.line = block.terminator.line
        match block.terminator:
            case Jump(target=target):
                self._edge(block, target)
            case Branch() as branch:
                self._branch(block, branch)
            case _:
                raise NotAlone

    def open(self, block: Block) -> None:
        """A block begins."""
        self.m.lane_number = Value(self.builder.emit(f"load i32, ptr {self.lane}"), "i32")
        self._note_lane()
        rolled = any(block is one for one, _ in self._rolled())
        self.m.abort = self._fault_of(block) if rolled else self.emitter.m.abort
        self.cache = {}
        self.current = self.ssa.reaching(block)

    def _note_lane(self) -> None:
        """The lane is the only one that runs."""
        bit = self.builder.emit(f"shl i32 1, {self.m.lane_number.ir}")
        self.m.mask = Value(self.builder.emit(f"bitcast i32 {bit} to <{WARP} x i1>"), "i1", WARP)

    def do(self, op: Op) -> None:
        values = self.evaluate(op, op in self.checked)
        self._note_sources(op, values)
        made = self.ssa.of[id(op)]
        for definition, value in zip(made, values):
            if definition is not None:
                self._keep(definition, value)
        for definition in made:
            if definition is not None:
                self.current[definition.register] = definition

    def evaluate(self, op: Op, is_checked: bool) -> tuple[Value, ...]:
        """What an op gives. `is_checked`: its access is known to be valid."""
        self.m.line = op.line
        self.m.parameter = self.emitter.parameter_offset(op)
        self.m.reach = self.emitter.reach(op, self.current)
        self.m.result_used = True
        self.m.is_checked, self.m.touched = is_checked, 0
        return self.evaluator.op(op) if op.guard is None else self._guarded(op, op.guard)

    def _note_sources(self, op: Op, values: tuple[Value, ...]) -> None:
        """Notes what is known when a turn begins: of which memory an op gets at, or that it makes a step."""
        if self.m.touched:
            for register, offset in memory_operands(op):
                base = self._base(self.ssa.lookup(self.current, register))
                if base is not None:
                    self.touches[op] = Touch(op, base, offset, abs(self.m.touched), self.m.touched > 0)
        elif not op.form.effects and op.guard is None:
            sources = {self.ssa.lookup(self.current, r) for r in uses(op)}
            if len(sources) == 1 and sources <= self.phis:
                (source,) = sources
                for d, value in zip(self.ssa.of[id(op)], values):
                    if d is not None:
                        self.steps[d] = source, self.m.step_from(self.m.scalar(value), self.read(source))

    def _base(self, address: Definition) -> Base | None:
        """What is known of an address when a turn begins."""
        if address in self.phis or address.block.index not in self.inside:
            return address
        element = self.m.elements.get(self.read(address).ir)
        index, signed = (
            (None, False) if element is None else self.m.extended.get(element.index.ir, (None, False))
        )
        if element is None or index is None or not self.has_indices:
            return None
        array, phi = (self.names.get(value.ir) for value in (element.base, index))
        if array is None or array.block.index in self.inside or phi is None or phi not in self.phis:
            return None
        if (element_type(array.register.type), element_type(phi.register.type)) != ("i64", "i32"):
            return None
        return Indexed(array, phi, signed, element.shift)

    def _guarded(self, op: Op, guard: Guard) -> tuple[Value, ...]:
        """An op under a guard, by a branch; without it the destinations keep what they had."""
        condition = self.register(guard.register)
        run, end = self.builder.block_name("guarded"), self.builder.block_name("end")
        before = [None if d is None else settled_here(self._before(d)) for d in self.ssa.of[id(op)]]
        start = self.builder.block_name("start")
        self.builder.void(f"br label %{start}")
        self.builder.label(start)
        ways = (end, run) if guard.negated else (run, end)
        self.builder.void(f"br i1 {condition.ir}, label %{ways[0]}, label %{ways[1]}")
        self.builder.label(run)
        cache = dict(self.cache)
        values = [settled_here(self.m.scalar(v)) for v in self.evaluator.op(op)]
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

    def _before(self, definition: Definition) -> Value:
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

    def _moves(self, block: Block, target: Block) -> list[tuple[Definition, Value]]:
        """Phis of the target, and what they are given."""
        return [
            (phi, self.read(source))
            for phi in self.ssa.phis.get(target.index, ())
            if (source := phi.inputs[block.index]) is not phi
        ]

    def move(self, block: Block, target: Block) -> None:
        """Gives phis of the loop what an edge says."""
        for phi, value in self._moves(block, target):
            kept = self.emitter.bare(phi, value)
            self.builder.void(f"store {kept.typed}, ptr {self.slot_of(phi)}")

    def _edge(self, block: Block, target: Block) -> None:
        if target.index not in self.inside:
            return self._leave(block, target, self._moves(block, target))
        self.move(block, target)
        if target is self.loop.header:
            if self.counted is None or self.copy == "precise":
                self.emitter.poll(target)
            return self.builder.void(f"br label %{self.name}.turn")
        if self.emitter.schedule.is_back_edge(block, target):
            self.emitter.poll(target)
        return self.builder.void(f"br label %{self._label(target)}")

    def _leave(self, block: Block, target: Block, moves: list[tuple[Definition, Value]]) -> None:
        """The lane leaves the loop: puts its values to the others', and waits for them there."""
        for definition in self._escaping():
            if self.dominance.dominates(definition.block.index, block.index):
                self.put(definition, self.read(definition))
        for phi, value in moves:
            self.put(phi, value)
        place = self.emitter.pending.of_edge(block, target)
        self.exits.add(place)
        if self.exit is None:
            self.emitter.add_waiting(place, self.m.mask)
        self.builder.void(f"br label %{self.name}.left")

    def put(self, definition: Definition, value: Value) -> None:
        """Gives a value of all lanes this lane's part."""
        if self._keeps_columns:
            return self._put_in_column(definition, value)
        stored = self._as_stored(value)
        array = self._array("out", definition)
        place = self.builder.emit(f"getelementptr {stored.type}, ptr {array}, i32 {self.m.lane_number.ir}")
        self.builder.void(f"store {stored.typed}, ptr {place}")
        return None

    def _put_in_column(self, definition: Definition, value: Value) -> None:
        """The same in registers: a CPU that reads from memory what was just written there in 32 parts waits
        until all of them have got there."""
        (part,) = self.emitter.parts(definition)
        column = self._column(definition)
        before = Value(self.builder.emit(f"load {part.kind}, ptr {column}, align 64"), part.element, WARP)
        after = self.m.pick(self.m.mask, self.m.widened(value, WARP), before)
        self.builder.void(f"store {after.typed}, ptr {column}, align 64")
