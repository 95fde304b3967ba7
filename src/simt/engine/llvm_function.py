"""One lowered function as LLVM IR for a whole warp.

Blocks become LLVM blocks in the order of the schedule. Lanes that do not run wait in *pending masks*,
one for each place of `simt.analysis.pending`; after a block, code goes to the first place with lanes,
which most often is known ahead and needs no test. Values that are used in other blocks live in stack
slots, which LLVM turns into registers.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from functools import cached_property, partial

from simt.analysis.clock import counts, reads_clock
from simt.analysis.lanes import live_in
from simt.analysis.meetings import calls_part
from simt.analysis.pending import first_of, members, set_of
from simt.analysis.program import (
    Barrier,
    Block,
    Branch,
    Call,
    Exit,
    Function,
    Jump,
    Op,
    Return,
    Switch,
    Terminator,
)  # fmt: skip
from simt.analysis.rounds import barrier_loops
from simt.analysis.schedule import Loop
from simt.analysis.shape import WARP, Hold
from simt.analysis.ssa import Definition
from simt.engine.abi import FaultKind, LaunchSlot
from simt.engine.llvm_alone_loops import AloneLoops
from simt.engine.llvm_builder import Value
from simt.engine.llvm_clock import Ticks
from simt.engine.llvm_few import Few
from simt.engine.llvm_forecast import forecast
from simt.engine.llvm_lanes import ALL, Combined, Guarded, bases
from simt.engine.llvm_marches import Marches
from simt.engine.llvm_masks import BitMasks, Masks
from simt.engine.llvm_ops import OpEmitter
from simt.engine.llvm_outline import BLOCKS, LINES, PIECE, TooLarge, times_blocks
from simt.engine.llvm_slots import Unit
from simt.engine.llvm_stop import stop
from simt.engine.llvm_stretches import Stretches
from simt.engine.llvm_variables import Variables
from simt.engine.llvm_yield import give_way
from simt.engine.unsupported import Unsupported
from simt.records import replace

TURNS = 2
"""Times that lanes go round a loop that waits for other threads before they let others run: the rest of the
CTA has something to do meanwhile, and where CTAs on several cores wait for each other, its sooner loads and
sums let those go on."""

PATIENT_TURNS = 64
"""The same in functions that call others which wait for lanes by masks known only when they run. Lanes that
are let go first come to them without those in the loop (`simt.analysis.meetings`), so loops that soon end by
themselves must not let them."""

STRAIGHT = 100
"""Instructions in a block beyond which chains of integer operations are cut: see `LlvmIntegers`."""
MANY_OPS = 500
"""Instructions of a kernel beyond which they are cut in all its blocks."""

DEEP = 16
"""Loops within each other from which a large function goes to headers by a switch: LLVM keeps lists of the
blocks of each loop, those of inner loops included."""

CROWD = 16
"""Places still to test beyond which the code that tests them is shared: a switch has that many."""


class FunctionEmitter(OpEmitter):
    """Emits the body of one function; `KernelEmitter` and `DeviceEmitter` put a frame around it."""

    uniform_arguments = False

    def __init__(self, unit: Unit, function: Function) -> None:
        super().__init__(unit, function)
        unit.spins |= bool(self.pending.waiting)
        self.representatives = self._representatives()
        self.initial_mask = Value(ALL, "i1", WARP)
        large = BitMasks(self.m, self.allocas, self.pending.places)
        self.slots = large if unit.large else Masks(self.m, self.allocas)
        self.wanted: dict[tuple[int, int], str] = {}
        self.labels: set[str] = set()
        self.walks: dict[tuple[int, int | None], str] = {}
        self.unwalked: list[tuple[int, int | None]] = []
        self.deep = unit.large and max((x.depth for x in self.schedule.loops), default=0) > DEEP
        self.headers: dict[int, Block] = {}  # to which code goes back by a switch
        self.later: list[str] = []  # code that stands after that of the blocks
        self.alone = AloneLoops(self)
        self.m.beside_lanes = not unit.large and self.alone.has_scattered
        self.marches = Marches(self)
        self.stretches = Stretches(self)
        self.variables = Variables(self)
        self._live: dict[int, set[Definition]] | None = None
        self.ticks = Ticks(self.builder) if unit.has_clock else None
        self.forecast = forecast(self, self.schedule.order)
        self.anyway = unit.run_anyway(self.ssa, self.uniformity)

    def _representatives(self) -> dict[int, int]:
        found = self.unit.analyse(self.function).representatives
        if not self.pending.barriers and not self.pending.waiting:
            return found
        # Masks of blocks are not saved when a warp makes way, except the one that it began with.
        entry = self.schedule.order[0].index
        return {b: r if r == entry else b for b, r in found.items()}

    # -- blocks --------------------------------------------------------------------------------

    def body(self) -> None:
        for block in self.schedule.order:
            self.part() if self.alone.is_all(block) else self._block(block)
        while self.wanted or self.unwalked:
            if self.unwalked:
                walk = self.unwalked.pop()
                self.builder.label(self.walks[walk])
                self._walk(*walk)
                continue
            (place, beyond), label = self.wanted.popitem()
            self.builder.label(label)
            self._take(place, beyond)
        self._finish_walks()
        if self.headers:
            self._go_to_headers()
        self.builder.lines += self.later

    def _finish_walks(self) -> None:
        """Code to which walks lead that stands once."""

    def label(self, block: Block) -> str:
        return f"b{block.index}"

    def _block(self, block: Block) -> None:
        self.builder.label(self.label(block))
        self._write_block(block)

    def _write_block(self, block: Block) -> None:
        loop = self.schedule.loop_of[block.index]
        self.m.is_scattered = loop is not None and not self.unit.large and self.alone.is_scattered(loop)
        self.cache = {}
        self.vectors, self.columns, self.made = {}, {}, {}
        self.m.computed = {}
        self.m.fences = (len(block.ops) > STRAIGHT or self.unit.ops > MANY_OPS) and not self.unit.large
        self.m.loop = None if loop is None else loop.header.index
        self.m.in_turns = loop is not None and self.m.for_next_cta and loop.header.index in self.polled
        self.m.mask = self._entry_mask(block)
        self.m.is_partly = block.index in self.anyway
        self.here, self.m.few = block, partial(self.few_lanes, block, self.m.mask)
        self.current = self.ssa.reaching(block)
        self.m.begin_block()
        for op in self.coming(block):
            if self.ticks is not None:
                self._tick(op)
            self.m.words = None if loop is None or isinstance(op, Call) else self.stretches.of(op, loop)
            self.m.variable = self.variables.of(op)
            lines, blocks = self._taken() if self.forecast is not None else (0, 0)
            self.m.is_repeated = False
            if isinstance(op, Call):
                self.m.settle_updates()
                self._call(op)
            else:
                self.op(op)
            if self.forecast is not None:
                lines_then, blocks_then = self._taken() if not self.m.is_repeated else (lines, blocks)
                self.forecast.note(op, lines_then - lines, blocks_then - blocks)
            self._cut()
        self._terminator(block)

    def few_lanes(self, block: Block, mask: Value) -> Few | None:
        """The lanes of a block's mask, if these are few and known."""
        return None

    def _taken(self) -> tuple[int, int]:
        """Lines and blocks so far, but for those of updates that had been put off: they tell nothing of the
        instruction before which they stand."""
        lines, blocks = self.m.updates_took
        return len(self.builder.lines) - lines, self.builder.blocks - blocks

    def _tick(self, what: Op | Call | Terminator) -> None:
        """Counts an instruction; the clock is right for those that read it, for functions, and for others."""
        if self.ticks is None:
            return
        if counts(what):
            self.ticks.tick()
        if not isinstance(what, Op) or reads_clock(what):
            self.ticks.settle()

    def _cut(self) -> None:
        """Large functions go on in another block of IR after some lines; raises `TooLarge` if this one is
        large, or is to be, and was not known to be."""
        lines = len(self.builder.lines)
        if not self.unit.large:
            foretold = self.forecast
            if foretold is not None and foretold.is_large(lines, self.builder.blocks, *self._most):
                raise TooLarge
        elif lines - self.builder.last_label > PIECE:
            piece = self.builder.block_name("piece")
            self.builder.void(f"br label %{piece}")
            self.builder.label(piece)

    @cached_property
    def _most(self) -> tuple[int, int]:
        """Lines and blocks of a function that is not large."""
        room = self.unit.room
        blocks = times_blocks(len(self.schedule.order), len(self.pending.barriers))
        return room * LINES // min(2, self.unit.pieces), room * BLOCKS * blocks

    def _entry_mask(self, block: Block) -> Value:
        found = self.representatives[block.index]
        if self._has_initial_mask(block):
            return self.initial_mask
        return self.slots.load(self.slots.of_block(found))

    def _has_initial_mask(self, block: Block) -> bool:
        """Whether a block is run by the lanes that the warp began with."""
        found = self.representatives[block.index]
        return found == self.schedule.order[0].index and self.schedule.loop_of[found] is None

    def _call(self, op: Call) -> None:
        raise Unsupported("call")

    # -- leaving a block -------------------------------------------------------------------------

    def _terminator(self, block: Block) -> None:
        terminator = block.terminator
        self.m.line = terminator.line
        self.m.settle_members()
        self.m.settle_updates()
        self.settle_late(block)
        self._tick(terminator)
        match terminator:
            case Jump(target=target):
                self._jump(block, target)
            case Branch():
                self._branch(block, terminator)
            case Switch():
                self._switch(block, terminator)
            case Barrier():
                self._barrier(block, terminator)
            case Return() | Exit():
                self._finish(terminator)
                self._walk(self.pending.at[block.index], None)

    def _jump(self, block: Block, target: Block) -> None:
        """All lanes go one way."""
        self._phis(block, {target: self.m.mask})
        self._leave(block, {self.pending.of_edge(block, target): self.m.mask})

    def _branch(self, block: Block, branch: Branch) -> None:
        predicate = self.register(branch.predicate)
        taken, other = (
            (branch.otherwise, branch.taken) if branch.negated else (branch.taken, branch.otherwise)
        )
        if taken is other:
            self._jump(block, taken)
        elif block.index not in self.uniformity.divergent:
            self._uniform_branch(block, bases(predicate).ir, taken, other)
        elif isinstance(predicate, Combined) and not self.unit.large:
            self._combined_branch(block, predicate, taken, other)
        else:
            self._divergent_branch(block, predicate, taken, other)

    def _divergent_branch(self, block: Block, predicate: Value, taken: Block, other: Block) -> None:
        yes, no = self.slots.parted(self.m.mask, self.m.vector(predicate))
        self._split(block, {taken: yes, other: no})

    def _combined_branch(self, block: Block, predicate: Combined, taken: Block, other: Block) -> None:
        """Looks first at what is the same for all lanes, which may send them one way together."""
        together, apart = self.builder.block_name("together"), self.builder.block_name("apart")
        yes, no, target = (together, apart, taken) if predicate.opcode == "or" else (apart, together, other)
        self.builder.void(f"br i1 {predicate.whole.ir}, label %{yes}, label %{no}")
        cache = dict(self.cache)
        self.builder.label(together)
        self._jump(block, target)
        self.cache = cache
        self.builder.label(apart)
        self._divergent_branch(block, predicate.lanes, taken, other)

    def _uniform_branch(self, block: Block, condition: str, taken: Block, other: Block) -> None:
        labels = [self.builder.block_name("edge") for _ in range(2)]
        self.builder.void(f"br i1 {condition}, label %{labels[0]}, label %{labels[1]}")
        cache = dict(self.cache)
        for label, target in zip(labels, (taken, other)):
            self.builder.label(label)
            self.cache = dict(cache)
            self._jump(block, target)

    def _split(self, block: Block, masks: Mapping[Block, Value]) -> None:
        """Lanes go different ways at once."""
        self._phis(block, masks)
        by_place: dict[int, Value] = {}
        for target, mask in masks.items():
            by_place[self.pending.of_edge(block, target)] = mask
        self._leave(block, by_place)

    def _switch(self, block: Block, switch: Switch) -> None:
        index = self.register(switch.index)
        count = Value(str(len(switch.targets)), index.type)
        wild = self.m.test("icmp uge", index, count)
        self._fault_if(wild, FaultKind.TARGET)
        if len(block.successors()) == 1:
            self._jump(block, switch.targets[0])
            return
        if block.index not in self.uniformity.divergent:
            self._uniform_switch(block, switch, bases(index))
            return
        masks: dict[Block, Value] = {}
        for number, target in enumerate(switch.targets):
            here = self.m.mask_and(self.m.mask, self._equal(index, Value(str(number), index.type)))
            masks[target] = self.m.binary("or", masks[target], here) if target in masks else here
            self._cut()
        self._split(block, masks)

    def _equal(self, column: Value, number: Value) -> Value:
        """Lanes of a column that are a number."""
        return self.m.test("icmp eq", self.m.vector(column), number)

    def _uniform_switch(self, block: Block, switch: Switch, index: Value) -> None:
        labels = {t: self.builder.block_name("edge") for t in dict.fromkeys(switch.targets)}
        cases = " ".join(f"{index.type} {i}, label %{labels[t]}" for i, t in enumerate(switch.targets))
        self.builder.void(f"switch {index.typed}, label %{labels[switch.targets[0]]} [ {cases} ]")
        cache = dict(self.cache)
        for target, label in labels.items():
            self.builder.label(label)
            self.cache = dict(cache)
            self._jump(block, target)

    def _fault_if(self, condition: Value, kind: int) -> None:
        """A fault at the first active lane for which the condition holds."""
        if condition.width == 1:
            bad, lanes = bases(condition).ir, self.m.mask
        else:
            lanes = self.m.mask_and(self.m.mask, condition)
            bad = self.m.any(lanes)
        fails, goes = self.builder.block_name("bad"), self.builder.block_name("ok")
        self.builder.void(f"br i1 {bad}, label %{fails}, label %{goes}")
        self.builder.label(fails)
        self._record(kind, lanes)
        self.builder.label(goes)

    def _record(self, kind: int, lanes: Value) -> None:
        """Records a fault of the first of some lanes and leaves the function."""
        self.m.record_fault(kind, lanes)
        self.builder.void(f"br label %{self.m.abort}")

    def _barrier(self, block: Block, barrier: Barrier) -> None:
        raise Unsupported("a barrier in a function that cannot be inlined")

    def _finish(self, terminator: Return | Exit) -> None:
        """What lanes do when they end."""

    # -- edges -----------------------------------------------------------------------------------

    def _phis(self, block: Block, masks: Mapping[Block, Value]) -> None:
        """Gives the phis of the targets their values; all are read before any is written."""
        moves: list[tuple[Definition, Value, Value]] = []
        for target, mask in masks.items():
            self.stretches.begin(block, target)
            for phi in self.ssa.phis.get(target.index, ()):
                source = phi.inputs[block.index]
                if source is not phi or phi in self.uniformity.blends:
                    moves.append((phi, self._incoming(phi, source), mask))
        guarded = [(phi, value) for phi, value, _ in moves if self.shape(phi).is_guarded]
        others = [
            (phi, self._read_whole(value) if guarded else value, mask)
            for phi, value, mask in moves
            if not self.shape(phi).is_guarded
        ]
        self.store_guarded(guarded)
        for phi, value, mask in others:
            if self.marches.has(phi):
                self.marches.keep(phi, value)
            else:
                self.store(phi, value, mask, self._joins_others(phi, block))
            self._cut()

    def _read_whole(self, value: Value) -> Value:
        """A value whose lanes are read now: its maker may read slots of guarded values."""
        return self.m.vector(value) if isinstance(value, Guarded) else value

    def read(self, definition: Definition) -> Value:
        if definition not in self.cache and self.marches.has(definition):
            self.cache[definition] = self.marches.read(definition)
        return super().read(definition)

    def _joins_others(self, phi: Definition, source: Block) -> bool:
        """Whether lanes may have given the phi another value that they still need, when others come to it
        from a block. The first to come in a turn of loops that all lanes leave together find none: a value of
        the turn before would have to stay in a register else. (Outside of loops LLVM knows that by itself in
        small functions.)"""
        if phi in self.uniformity.blends:
            return True
        if phi.block.index not in self.uniformity.joins:
            return False
        place = self.pending.of_edge(source, phi.block)
        first = self._is_plain(place) and not self.pending.at[source.index] >> place & 1
        loop = self.schedule.loop_of[phi.block.index]
        return not (first and (self.unit.large if loop is None else self.uniformity.stays_whole(loop)))

    def _is_plain(self, place: int) -> bool:
        """Whether lanes at a place go to a block and nowhere else."""
        return place < self.pending.line and isinstance(self.schedule.slots[place], Block)

    def _incoming(self, phi: Definition, source: Definition) -> Value:
        """What a phi takes from a predecessor. An undefined register is 0 in the first lane."""
        value, shape = self.read(source), self.shape(phi)
        if source.origin == "undefined" and shape.stride:
            return self.m.shaped(value, replace(shape, width=1, hold=Hold.EXACT))
        return value

    def _leave(self, block: Block, masks: Mapping[int, Value]) -> None:
        """Sends lanes to places, then goes to the first place that has lanes."""
        waiting = self.pending.at[block.index]
        if len(masks) == 1:
            ((place, mask),) = masks.items()
            if not waiting & ((2 << place) - 1):
                return self._go(place, mask, waiting)
        first = first_of(waiting | set_of(masks))
        if first in masks and not waiting >> first & 1 and self._runs_anyway(first):
            (other,) = set(masks) - {first}
            self._wait(other, masks[other], bool(waiting >> other & 1))
            return self._go(first, masks[first], waiting | 1 << other)
        nobody = not waiting & ((2 << max(masks)) - 1)
        if self.unit.large and nobody and len(masks) == 2 and all(map(self._is_plain, masks)):
            return self._part(masks, waiting)
        for place, mask in masks.items():
            self._wait(place, mask, bool(waiting >> place & 1))
            self._cut()
        return self._walk(waiting | set_of(masks), max(masks))

    def _runs_anyway(self, place: int) -> bool:
        slot = self.schedule.slots[place] if place < self.pending.line else None
        return isinstance(slot, Block) and slot.index in self.anyway

    def _part(self, masks: Mapping[int, Value], waiting: int) -> None:
        """Sends lanes to two places, where and before which nobody waits. (LLVM finds out by itself that
        masks of small functions need not be kept to be looked at.)"""
        (place, mask), (other, others) = sorted(masks.items())
        some, none = self.builder.block_name("some"), self.builder.block_name("none")
        self.builder.void(f"br i1 {self.m.any(mask)}, label %{some}, label %{none}")
        self.builder.label(some)
        self._wait(other, others, others=False)
        self._go(place, mask, waiting | 1 << other)
        self.builder.label(none)
        self._go(other, others, waiting)

    def _wait(self, place: int, mask: Value, others: bool) -> None:
        """Adds lanes to a pending mask."""
        slot = self.slots.waiting(place)
        if others:
            self.slots.add(slot, mask)
        else:
            self.slots.store(slot, mask)

    def _walk(self, waiting: int, sure: int | None) -> None:
        """Goes to the first of the places that has lanes; to the warp's end if none has."""
        for place, beyond in self.pending.walk(waiting, sure):
            label = self._taking(place, beyond)
            if place == sure:
                self.builder.void(f"br label %{label}")
                return
            some = self.slots.some(self.slots.waiting(place))
            crowded = beyond.bit_count() > CROWD
            following = self._walking(beyond, sure) if crowded else self.builder.block_name("next")
            self.builder.void(f"br i1 {some}, label %{label}, label %{following}")
            if crowded:
                return
            self.builder.label(following)
        self.builder.void("br label %finished")

    def _walking(self, waiting: int, sure: int | None) -> str:
        """Label of a walk, emitted after the blocks: those that end in the same places share it."""
        label = self.walks.get((waiting, sure))
        if label is None:
            label = self.walks[waiting, sure] = self.builder.block_name("walk")
            self.unwalked.append((waiting, sure))
        return label

    def _taking(self, place: int, beyond: int) -> str:
        """Label of the code that takes up the lanes waiting at a place; emitted after the blocks."""
        on_line = place < self.pending.line and self.pending.yield_of(place) is None
        if on_line or self.pending.met(place) is not None or place == self.pending.hold:
            beyond = 0  # the code is the same whatever waits beyond
        label = f"take.{place}." + "_".join(map(str, members(beyond)))
        self._emit_later(place, beyond, label)
        return label

    def _emit_later(self, place: int, beyond: int, label: str) -> None:
        if label not in self.labels:
            self.labels.add(label)
            self.wanted[place, beyond] = label

    def _take(self, place: int, beyond: int) -> None:
        slot = self.slots.waiting(place)
        mask = self.slots.load(slot)
        self.slots.clear(slot)
        self._go(place, mask, beyond)

    def _go(self, place: int, mask: Value, beyond: int) -> None:
        """Runs what comes next for lanes at a place."""
        if self.pending.parked(place) is not None:
            return self._suspend(place, mask, beyond)
        if self.pending.yielded(place) is not None:
            for other in self.pending.in_turn(place, beyond):
                self._give_turn(place, mask, other, beyond)
            return self._resume_waiting(place, mask, beyond)
        target = self.pending.target(place)
        if self.pending.met(place) is not None:
            if self.pending.is_header(target):
                self.poll(target)
            return self.run(target, mask)
        slot = self.schedule.slots[place]
        if isinstance(slot, Loop):
            if slot.header.index not in self.polled:
                self.poll(target)
            self._rest(place, mask, beyond)
        else:
            self.alone.try_chunks(target, mask)
            self.alone.try_rows(target, mask)
        return self.run(target, mask)

    def run(self, target: Block, mask: Value) -> None:
        loop = self.schedule.loop_of[target.index]
        begins = loop is not None and loop.header is target
        if self.alone.try_few(target, mask):
            return
        if self.representatives[target.index] == target.index:
            self.slots.store(self.slots.of_block(target.index), mask)
        if begins and self.deep:
            self.headers[target.index] = target
            self.builder.void(f"store i32 {target.index}, ptr %header")
            self.builder.void("br label %headers")
        else:
            self.builder.void(f"br label %{self.label(target)}")

    def _go_to_headers(self) -> None:
        """The way into and around all loops of a function with deeply nested ones: for LLVM, one loop."""
        self.allocas["  %header = alloca i32"] = None
        self.builder.label("headers")
        header = self.builder.emit("load i32, ptr %header")
        cases = " ".join(f"i32 {i}, label %{self.label(b)}" for i, b in self.headers.items())
        first = next(iter(self.headers.values()))
        self.builder.void(f"switch i32 {header}, label %{self.label(first)} [ {cases} ]")

    @contextmanager
    def set_aside(self) -> Generator[list[str]]:
        """What is emitted meanwhile goes to the list; if that is left empty, it is as if nothing had been."""
        lines, self.builder.lines = self.builder.lines, list[str]()
        cache, line, label = self.cache, self.m.line, self.builder.last_label
        walks = (dict(self.walks), list(self.unwalked), set(self.labels), dict(self.wanted))
        made = self.builder.lines
        try:
            yield made
        finally:
            if not made:
                self.walks, self.unwalked, self.labels, self.wanted = walks
            self.builder.lines, self.cache, self.m.line = lines, cache, line
            self.builder.last_label = label

    def walk_on(self, header: Block, places: int) -> None:
        """Goes on after a loop whose lanes were all sent to some places."""
        self._walk(self.pending.at[header.index] | places, None)

    def add_waiting(self, place: int, mask: Value) -> None:
        """Adds lanes to those that may wait at a place."""
        self._wait(place, mask, others=True)

    def _rest(self, latch: int, mask: Value, beyond: int) -> None:
        """Lanes that went round a waiting loop many times let others run first."""
        resting = self.pending.yield_of(latch)
        if resting is None:
            return
        count = self._counter(latch)
        turns = self.builder.emit(f"load i32, ptr {count}")
        more = self.builder.emit(f"add i32 {turns}, 1")
        self.builder.void(f"store i32 {more}, ptr {count}")
        many = self.builder.emit(f"icmp ugt i32 {more}, {self._turns}")
        rest, go = self.builder.block_name("rest"), self.builder.block_name("again")
        self.builder.void(f"br i1 {many}, label %{rest}, label %{go}")
        self.builder.label(rest)
        self.builder.void(f"store i32 0, ptr {count}")
        if len(self.pending.waiting) > 1:
            self.builder.void(f"store i32 {resting}, ptr {self._rested()}")
        self._wait(resting, mask, others=bool(beyond >> resting & 1))
        self._walk(beyond | 1 << resting, resting)
        self.builder.label(go)

    @cached_property
    def _turns(self) -> int:
        program = self.unit.program
        patient = calls_part(self.schedule.order, program.environment, program.functions)
        return PATIENT_TURNS if patient else TURNS

    def _give_turn(self, place: int, mask: Value, other: int, beyond: int) -> None:
        """Lanes at the first yield that has any let those at another one go on, if it is their turn: one loop
        may wait for lanes of the other."""
        last = self.builder.emit(f"load i32, ptr {self._rested()}")
        after = self.builder.emit(f"icmp uge i32 {last}, {place}")
        before = self.builder.emit(f"icmp ult i32 {last}, {other}")
        between = self.builder.emit(f"and i1 {after}, {before}")
        turn = self.builder.emit(f"and i1 {between}, {self.slots.some(self.slots.waiting(other))}")
        gives, keeps = self.builder.block_name("gives"), self.builder.block_name("keeps")
        self.builder.void(f"br i1 {turn}, label %{gives}, label %{keeps}")
        self.builder.label(gives)
        self._wait(place, mask, others=False)
        slot = self.slots.waiting(other)
        others = self.slots.load(slot)
        self.slots.clear(slot)
        self._resume_waiting(other, others, beyond & ~(1 << other) | 1 << place)
        self.builder.label(keeps)

    def _rested(self) -> str:
        """Where the yield is noted to which lanes went last."""
        self.allocas["  %turns.last = alloca i32"] = None
        return "%turns.last"

    def _counter(self, latch: int) -> str:
        name = f"%turns.{latch}"
        self.allocas[f"  {name} = alloca i32"] = None
        return name

    def _resume_waiting(self, place: int, mask: Value, beyond: int) -> None:
        """Lanes at a yield go round their loop again when no other lane of the warp can run. Other warps of
        the CTA cannot run either, or must wait."""
        self.builder.void(give_way(self.unit.module))
        self.run(self.pending.target(place), mask)

    def poll(self, header: Block) -> None:
        """Stops the warp if the launch is to be stopped."""
        flag = self.builder.emit(f"getelementptr i64, ptr %launch, i64 {LaunchSlot.ABORT}")
        flags = self.builder.emit(f"load atomic i64, ptr {flag} monotonic, align 8")
        some = self.builder.emit(f"icmp ne i64 {flags}, 0")
        look, stops, goes = (self.builder.block_name(n) for n in ("look", "stop", "go"))
        self.builder.void(f"br i1 {some}, label %{look}, label %{goes}")
        self.builder.label(look)
        stopped = self.builder.emit(f"call i1 {stop(self.unit.module)}(ptr %launch, ptr %worker)")
        self.builder.void(f"br i1 {stopped}, label %{stops}, label %{goes}")
        self.builder.label(stops)
        line = self.m.line
        self.m.line = header.ops[0].line if header.ops else header.terminator.line
        self._record(FaultKind.ABORTED, Value(ALL, "i1", WARP))
        self.m.line = line
        self.builder.label(goes)

    def _suspend(self, place: int, mask: Value, beyond: int) -> None:
        raise Unsupported("a barrier in a function that cannot be inlined")

    def may_find(self, definition: Definition) -> bool:
        """Not of values that wait with their lanes, nor of those that leave their loop."""
        if not super().may_find(definition) or definition in self.held:
            return False
        loop = self.schedule.loop_of[definition.block.index]
        if loop is None:
            return True
        places = (self.schedule.position[b] for b in self.uses[definition])
        return all(loop.first <= place <= loop.last for place in places)

    @cached_property
    def polled(self) -> set[int]:
        """Headers of loops that poll elsewhere in every turn: where lanes go on after a barrier."""
        return barrier_loops(self.schedule)

    @cached_property
    def held(self) -> set[Definition]:
        """Values that are live where lanes wait for others."""
        places = [b.successors()[0] for b in self.pending.barriers]
        places += [*self.pending.meetings, *self.pending.held]
        return set(self.live([*places, *(loop.header for loop in self.pending.waiting)]))

    # -- helpers for frames ------------------------------------------------------------------------

    def live(self, blocks: Iterable[Block]) -> list[Definition]:
        """Definitions to keep while lanes wait to run these blocks, in a fixed order."""
        if self._live is None:
            self._live = live_in(self.ssa)
        live = self._live
        found = {d for b in blocks for d in live[b.index] if d.origin != "undefined"}
        return sorted(found, key=lambda d: d.index)

    def split_allocas(self) -> tuple[list[str], list[str]]:
        """Allocations (to stand in the entry block) and the other lines."""
        lines = self.builder.complete()
        inner = [line for line in lines if " = alloca " in line]
        rest = [line for line in lines if " = alloca " not in line]
        return [*self.allocas, *inner], rest

    def pending_resets(self) -> list[str]:
        """No lane waits anywhere at the start."""
        turns = [line.split()[0] for line in self.allocas if line.startswith("  %turns.")]
        return [
            *self.slots.resets(),
            *(f"  store i32 0, ptr {n}" for n in turns),
        ]
