"""Warps that make way for each other: at barriers, and in loops that wait for other threads.

A warp that cannot go on saves what its lanes still need in its *context* and makes way for the next.
When all warps of the CTA have ended or wait, those that may go on do so where they stopped.

Kernels with nothing but `bar.sync` of all threads at one barrier are simple: once no warp can run, all
go on. Others keep a table of barriers (`simt.engine.llvm_barriers`), and lanes of one warp may wait at
several of them.
"""

from __future__ import annotations

import math
from functools import cached_property

from simt.analysis.in_step import in_step
from simt.analysis.kept import changed_before, seldom_touched
from simt.analysis.pending import members, set_of, stops
from simt.analysis.program import BARRIERS, Barrier, Block, Function, Source
from simt.analysis.remade import of_thread, remade
from simt.analysis.shape import WARP
from simt.analysis.ssa import Definition
from simt.engine import llvm_barriers, llvm_groups, llvm_runtime
from simt.engine.abi import FaultKind
from simt.engine.host import ASKS_BY_PHASES, ASKS_FAR
from simt.engine.llvm_barriers import Context, Entry
from simt.engine.llvm_builder import KEEP_ORDER, Value
from simt.engine.llvm_calls import CallingEmitter
from simt.engine.llvm_gates import LANES, NOTES
from simt.engine.llvm_lanes import ALL, bases, shape_of
from simt.engine.llvm_masks import MASK, NO_LANES
from simt.engine.llvm_prefetch import CLOSE, NEXT
from simt.engine.llvm_scopes import OF_WORKER
from simt.engine.llvm_slots import Part, Unit
from simt.engine.llvm_yield import give_way
from simt.engine.unsupported import Unsupported
from simt.ptx.types import PRED, U32
from simt.records import dataclass

CONTEXT_HEADER = 16
"""Bytes of a warp's context before the saved masks and values: see `llvm_barriers.Context`."""

MOST = 40
"""Barriers up to which each gets a loop over the warps of its own. More loops than that take LLVM long."""
PORTION = 32
"""Accesses to the saved context between which LLVM may choose the order."""
ON_STACK = 64 << 10
"""Bytes of stack memory that saved contexts may take."""


@dataclass(frozen=True)
class Suspension:
    """One way for a warp to make way: lanes wait at `places`, the first of which surely has some.

    Saved in the context: a mask for each place, then the number of the barrier of each park (with a
    table). The values of `saved` have their places in the context for the whole kernel."""

    number: int
    places: tuple[int, ...]
    saved: list[Definition]

    def mask_offset(self, index: int) -> int:
        return CONTEXT_HEADER + 4 * index

    def barrier_offset(self, index: int) -> int:
        return CONTEXT_HEADER + 4 * (len(self.places) + index)


class SuspendingEmitter(CallingEmitter):
    """The part of a kernel that suspends and resumes warps.

    `table`: the kernel keeps a table of barriers. `together`: all lanes of a warp that wait go on at once;
    then `changed` says what of the saved context is out of date at a barrier. `homes`: where in the context
    each part of a value is saved, `clock_home` where the warp's clock is. `polls`: where warps go in step, by
    suspension, code before its phase. `in_context`: large functions keep all values there from the start, as
    code to save and restore them would stand at every barrier.
    """

    def __init__(self, unit: Unit, function: Function) -> None:
        super().__init__(unit, function)
        self.suspensions: dict[tuple[int, ...], int] = {}
        self.polls: dict[int, list[str]] = {}
        self.context_size = CONTEXT_HEADER + 8 * (self.pending.places - self.pending.line)
        self.clock_home = self.context_size
        self.context_size += 8 if self.ticks is not None else 0
        self.notes_home = -(-self.context_size // 64) * 64
        self.context_size = self.context_size if self.pending.hold is None else self.notes_home + 2 * 4 * WARP
        asks_far = self.spins and ASKS_FAR in unit.features
        self.m.for_next_cta = (bool(self.pending.barriers) or asks_far) and not unit.large
        self.m.in_stream = unit.takes_turns
        self.m.near = CLOSE if self.pending.barriers else NEXT
        self.table = self.pending.by_number
        self.together = not (self.table or self.pending.parting)
        self.m.by_phases = self.in_step and ASKS_BY_PHASES in unit.features
        self.in_context = unit.large and self.waits
        known = self.together and not self.in_context
        self.changed = changed_before(self.ssa, self.pending) if known else {}
        self.homes: dict[tuple[Definition, str], int] = {}
        self.accesses = 0  # to the saved context
        self.short_phases = self.phases_ask = False
        if self.waits and self.together and not unit.large:
            held = self.live(b.successors()[0] for b in self.pending.barriers)
            self.remade = remade(held, self.ssa, self.uniformity, unit.program.environment)
            if self.in_step:
                kept = [d for d in held if d not in self.remade and not d.register.type.is_native_float]
                self.of_thread, self.recipes = of_thread(kept, self.ssa, self.uniformity)

    @property
    def waits(self) -> bool:
        """Whether warps make way for each other at all."""
        if self.together and self.unit.block.warps == 1:
            return False
        return bool(self.pending.barriers) or self.table or self.spins

    @property
    def spins(self) -> bool:
        """Whether warps of a CTA let each other run in loops that wait for other threads."""
        return self.unit.block.warps > 1 and bool(self.pending.waiting)

    @property
    def takes_turns(self) -> bool:
        """Whether all its barriers are ends of loops' turns: see `simt.engine.llvm_groups`."""
        return self.unit.takes_turns

    @cached_property
    def in_step(self) -> bool:
        """Whether all warps of a CTA wait at the same barriers, one after the other."""
        if self.unit.large or self.takes_turns or not (self.waits and self.together):
            return False
        if not 0 < len(self.pending.barriers) <= MOST:
            return False
        whole = all(self._has_initial_mask(b) for b in self.pending.barriers)
        environment, shape = self.unit.program.environment, self.unit.block
        return whole and in_step(self.ssa, environment, shape, self.pending)

    def context_stride(self) -> int:
        """Bytes from one warp's context to the next: an odd number of cache lines, so that values of the same
        place in the contexts of different warps lie in different sets of the cache."""
        return ((self.context_size + 63) // 64 | 1) * 64

    @property
    def contexts_bytes(self) -> int:
        """Of the contexts of all warps of a CTA."""
        return self.unit.block.warps * self.context_stride()

    @property
    def on_stack(self) -> bool:
        """Whether contexts lie in stack memory, which LLVM can keep in registers where phases are unrolled.
        To be asked when all blocks are emitted."""
        return self.in_step and self.contexts_bytes <= ON_STACK

    # -- arriving ----------------------------------------------------------------------------------

    def _barrier(self, block: Block, barrier: Barrier) -> None:
        if self.table:
            self._arrive(block, barrier)
        self._phis(block, {barrier.next: self.m.mask})
        place = self.pending.of_barrier(block) if stops(block) else self.pending.of_edge(block, barrier.next)
        self._leave(block, {place: self.m.mask})

    def _arrive(self, block: Block, barrier: Barrier) -> None:
        """Adds the lanes to the barrier's entry, and notes at which barrier they wait."""
        number = self._uniform(barrier.barrier)
        count = Value("0", "i32") if barrier.count is None else self._uniform(barrier.count)
        self._check_number(number)
        vote = Value("false", "i1")
        if barrier.predicate is not None:
            vote = self.evaluator.source(barrier.predicate, PRED)
        voters = self._lanes(self.m.mask)
        votes = self._lanes(self.m.mask_and(self.m.mask, vote))
        # All lanes of a warp that have not ended count as a whole warp.
        threads = str(WARP) if not self.pending.at[block.index] else voters
        arrive = llvm_barriers.arrive(self.unit.module)
        numbers = ", ".join(f"i32 {n}" for n in (number.ir, count.ir, threads, votes, voters))
        self.builder.void(f"call void {arrive}(ptr %table, {numbers})")
        if stops(block):
            self.builder.void(f"store i32 {number.ir}, ptr {self._number(self.pending.of_barrier(block))}")

    def _number(self, park: int) -> str:
        """Where the number of the barrier is kept at which the lanes of a park wait."""
        name = f"%barrier.{park}"
        line = f"  {name} = alloca i32"
        self.allocas[line] = None
        return name

    def _uniform(self, source: Source) -> Value:
        value = self.evaluator.source(source, U32)
        if not shape_of(value).is_uniform:
            raise Unsupported("a barrier whose number or count differs between lanes")
        return bases(value)

    def _check_number(self, number: Value) -> None:
        wrong = self.m.test("icmp uge", number, Value(str(BARRIERS), "i32"))
        bad, good = self.builder.block_name("bad"), self.builder.block_name("ok")
        self.builder.void(f"br i1 {wrong.ir}, label %{bad}, label %{good}")
        self.builder.label(bad)
        wide = self.builder.emit(f"zext i32 {number.ir} to i64")
        self.m.record_fault(FaultKind.NO_BARRIER, self.m.mask, wide)
        self.builder.void(f"br label %{self.m.abort}")
        self.builder.label(good)

    def _lanes(self, mask: Value) -> str:
        """Number of lanes of a mask (i32)."""
        count = self.unit.module.declare("llvm.ctpop.i32", "i32", ("i32",))
        return self.builder.emit(f"call i32 {count}({self.m.mask_bits(mask).typed})")

    # -- suspending --------------------------------------------------------------------------------

    def _may_recur(self, place: int) -> bool:
        """Whether lanes can come to a park or yield again."""
        barrier = self.pending.parked(place)
        return barrier is None or self.schedule.loop_of[barrier.index] is not None

    def _resume_waiting(self, place: int, mask: Value, beyond: int) -> None:
        if self.unit.block.warps > 1:
            self._suspend(place, mask, beyond)
        else:
            super()._resume_waiting(place, mask, beyond)

    def _suspend(self, place: int, mask: Value, beyond: int) -> None:
        """Saves the lanes waiting at a place (and at those beyond it) with all that they need."""
        places = (place, *members(beyond))
        known = places in self.suspensions
        number = self.suspensions.setdefault(places, len(self.suspensions) + 1)
        self._wait(place, mask, others=False)
        self.builder.void(f"br label %suspend.{number}")
        if known:  # only the masks differ
            return
        self.builder.label(f"suspend.{number}")
        suspension = self._suspension(number, places)
        if not self.waits:
            self._pass(suspension)
            return
        self._save(suspension)
        self.m.ask_for_one()
        self._note_suspension(suspension)
        self.builder.void("br label %warp.done")
        self.builder.label(f"resume.{number}")
        if self.ticks is not None:
            self.ticks.move(self._context_pointer(self.clock_home), saving=False)
        if self._may_recur(place):  # a loop may have no other way round than by a barrier
            if self.in_step and self._is_park(place):
                self._poll_before(number, place)
            else:
                self.poll(self._next_block(place))
        if self._is_park(place):
            self._resume_at_barrier(suspension)
        else:
            self._resume_spinning(suspension)

    def _poll_before(self, number: int, place: int) -> None:
        """Stops the CTA if the launch is to be stopped, before a phase: apart from the code of its warps."""
        lines, first, label = self.builder.lines, len(self.builder.lines), self.builder.last_label
        self.builder.label(f"poll.{number}")
        self.poll(self._next_block(place))
        self._give_way_at(place)
        self.polls[number] = lines[first:]
        del lines[first:]
        self.builder.last_label = label

    def _pass(self, suspension: Suspension) -> None:
        """The CTA's only warp has come to a barrier with all its lanes, and goes on."""
        masks: list[Value] = []
        for place in suspension.places:
            slot = self.slots.waiting(place)
            masks.append(self.slots.load(slot))
            self.slots.clear(slot)
        self.m.ask_for_one()
        if self._may_recur(suspension.places[0]):
            self.poll(self._next_block(suspension.places[0]))
            self._give_way_at(suspension.places[0])
        self._go_on(suspension, masks)

    def _give_way_at(self, place: int) -> None:
        """The CTA goes on after a barrier: in a loop that waits for others and has one on every way round,
        this is where it lets other CTAs run."""
        loop = self.schedule.loop_of[self._next_block(place).index]
        while loop is not None:
            if loop in self.pending.waiting and loop.header.index in self.polled:
                self.builder.void(give_way(self.unit.module))
                return
            loop = loop.parent

    def _suspension(self, number: int, places: tuple[int, ...]) -> Suspension:
        if self.in_context:
            return Suspension(number, places, [])
        live = self.live([b for p in places for b in self.pending.next_blocks(p)])
        kept_elsewhere = self.resident | self.remade.keys() | self.everywhere.keys()
        return Suspension(number, places, [d for d in live if d not in kept_elsewhere])

    @cached_property
    def resident(self) -> set[Definition]:
        """Values that are kept in the saved context from the start, for which nothing is done at barriers."""
        if self.in_context or not (self.waits and self.together):
            return set()
        live = self.live(b.successors()[0] for b in self.pending.barriers)
        live = [d for d in live if d not in self.remade]
        return set(seldom_touched(live, self.ssa, self.pending, self.uses))

    def is_on_stack(self, definition: Definition) -> bool:
        return not self.in_context and definition not in self.resident

    def slot(self, definition: Definition, part: Part) -> str:
        if not self.is_on_stack(definition):
            return self._context_pointer(self._home(definition, part))
        return super().slot(definition, part)

    def place(self, definition: Definition, part: Part) -> str:
        if definition not in self.resident:
            return super().place(definition, part)
        self._keep_order()
        return self._context_place(self._home(definition, part))

    def _context_place(self, home: int) -> str:
        return f"{self._context_pointer(home)}, align {math.gcd(home, 64)}{OF_WORKER}"

    def _keep_order(self) -> None:
        """At every access to the saved context. LLVM's scheduler compares each access to memory of a block
        with each other one (0.4 s for 1,000 of them), so in long blocks the order of portions is kept."""
        self.accesses += 1
        if self.m.fences and self.accesses % PORTION == 0:
            self.builder.void(KEEP_ORDER)

    def _home(self, definition: Definition, part: Part) -> int:
        """Offset in the context at which a part of a value is saved, at every barrier."""
        key = (definition, part.suffix)
        if key not in self.homes:
            room = 64 if self.in_context else min(64, 1 << (part.bytes - 1).bit_length())  # a power of two
            self.homes[key] = -(-self.context_size // room) * room
            self.context_size = self.homes[key] + -(-part.bytes // room) * room
        return self.homes[key]

    def _save(self, suspension: Suspension) -> None:
        barriers = "0"
        if self.ticks is not None:
            self.ticks.move(self._context_pointer(self.clock_home), saving=True)
        for i, place in enumerate(suspension.places):
            if self._with_all(place):
                continue
            slot = self.slots.waiting(place)
            bits = self.m.mask_bits(self.slots.load(slot)).ir
            self.builder.void(f"store i32 {bits}, ptr {self._context_pointer(suspension.mask_offset(i))}")
            self.slots.clear(slot)
            if self.table and self._is_park(place):
                number = self.builder.emit(f"load i32, ptr {self._number(place)}")
                field = self._context_pointer(suspension.barrier_offset(i))
                self.builder.void(f"store i32 {number}, ptr {field}")
                barriers = self._with_bit(barriers, number, bits)
        self._move_notes(suspension, saving=True)
        for definition in suspension.saved:
            if self._out_of_date(definition, suspension):
                self._copy(definition, saving=True)
        if self.table:
            self._note_wait(suspension, barriers)

    @property
    def yields(self) -> frozenset[int]:
        """Numbers of the suspensions in loops that wait for other threads."""
        return frozenset(n for places, n in self.suspensions.items() if not self._is_park(places[0]))

    def _note_suspension(self, suspension: Suspension) -> None:
        """Where the warp is to go on, or all warps."""
        is_park = self._is_park(suspension.places[0])
        if self.in_step and is_park:
            self.builder.void(f"store i32 {suspension.number}, ptr %next.phase")
            return
        state = llvm_groups.STATE if self.takes_turns else self._context_pointer(Context.STATE)
        self.builder.void(f"store i32 {suspension.number}, ptr {state}")
        if self.in_step:
            self._note_spinning()
        else:
            self.builder.void(f"store i32 1, ptr {'%waiting' if is_park else '%spinning'}")

    def _note_spinning(self) -> None:
        """Where warps go in step, one bit for each says which of them wait for other threads."""
        bit = self.builder.emit(f"shl i32 1, {self.m.warp.ir}")
        others = self.builder.emit("load i32, ptr %spinning")
        with_this = self.builder.emit(f"or i32 {others}, {bit}")
        self.builder.void(f"store i32 {with_this}, ptr %spinning")

    def _note_wait(self, suspension: Suspension, barriers: str) -> None:
        """At which barriers the warp waits, and where."""
        line = self.pending.parked(suspension.places[0])
        self.builder.void(f"store i32 {barriers}, ptr {self._context_pointer(Context.BARRIERS)}")
        self.builder.void(
            f"store i32 {line.terminator.line if line else 0}, ptr {self._context_pointer(Context.LINE)}"
        )

    def _with_all(self, place: int) -> bool:
        """Whether the lanes that wait at a park are those that the warp began with."""
        barrier = self.pending.parked(place)
        return self.together and barrier is not None and self._has_initial_mask(barrier)

    def _out_of_date(self, definition: Definition, suspension: Suspension) -> bool:
        """Whether the context may not hold a value as it is now."""
        if not (self.together and self._is_park(suspension.places[0])):
            return True
        barriers = (self.pending.parked(place) for place in suspension.places)
        return any(b is not None and definition in self.changed[b.index] for b in barriers)

    def _with_bit(self, barriers: str, number: str, bits: str) -> str:
        """A set of barriers with one more, if lanes (`bits`) wait there."""
        bit = self.builder.emit(f"shl i32 1, {number}")
        some = self.builder.emit(f"icmp ne i32 {bits}, 0")
        added = self.builder.emit(f"select i1 {some}, i32 {bit}, i32 0")
        return self.builder.emit(f"or i32 {barriers}, {added}")

    def _is_park(self, place: int) -> bool:
        return self.pending.parked(place) is not None

    def _next_block(self, place: int) -> Block:
        """The block that lanes at a park or yield run next."""
        barrier = self.pending.parked(place)
        return self.pending.target(place) if barrier is None else barrier.successors()[0]

    def _context_pointer(self, offset: int) -> str:
        return self.builder.emit(f"getelementptr i8, ptr %context.p, i64 {offset}")

    def _copy(self, definition: Definition, saving: bool) -> None:
        """A value from its slot to the saved context, or back; lanes only where a guard does not hold."""
        flag = ""
        for part in self.parts(definition):
            if part.suffix == ".lanes":
                self._copy_lanes(definition, part, saving, flag)
            else:
                flag = self._copy_part(definition, part, saving)

    def _copy_lanes(self, definition: Definition, part: Part, saving: bool, flag: str) -> None:
        rare, end = self.builder.block_name("lanes"), self.builder.block_name("copied")
        self.builder.void(f"br i1 {flag}, label %{end}, label %{rare}")
        self.builder.label(rare)
        self._copy_part(definition, part, saving)
        self.builder.void(f"br label %{end}")
        self.builder.label(end)

    def _copy_part(self, definition: Definition, part: Part, saving: bool) -> str:
        home = self._home(definition, part)
        self._keep_order()
        slot, context = self.place(definition, part), self._context_place(home)
        source, target = (slot, context) if saving else (context, slot)
        value = self.builder.emit(f"load {part.kind}, ptr {source}")
        self.builder.void(f"store {part.kind} {value}, ptr {target}")
        return value

    def _move_notes(self, suspension: Suspension, saving: bool) -> None:
        """To the saved context what lanes in the hold wait for, or back, if there may be any."""
        for i, name in enumerate(NOTES if self.pending.hold in suspension.places else ()):
            home = self._context_pointer(self.notes_home + i * 4 * WARP)
            source, target = (name, home) if saving else (home, name)
            notes = self.builder.emit(f"load {LANES}, ptr {source}, align 64")
            self.builder.void(f"store {LANES} {notes}, ptr {target}, align 64")

    # -- resuming ----------------------------------------------------------------------------------

    def _restore(self, suspension: Suspension) -> list[Value]:
        """Brings the saved values back; the saved masks, by place."""
        for definition in suspension.saved:
            self._copy(definition, saving=False)
        self._move_notes(suspension, saving=False)
        return [self._saved_mask(suspension, i) for i in range(len(suspension.places))]

    def _saved_mask(self, suspension: Suspension, index: int) -> Value:
        if self._with_all(suspension.places[index]):
            return self.initial_mask
        bits = self.builder.emit(f"load i32, ptr {self._context_pointer(suspension.mask_offset(index))}")
        return Value(self.builder.emit(f"bitcast i32 {bits} to {MASK}"), "i1", WARP)

    def _resume_spinning(self, suspension: Suspension) -> None:
        masks = self._restore(suspension)
        for i, place in enumerate(suspension.places[1:], start=1):
            self._wait(place, masks[i], others=False)
            self._restore_number(suspension, i)
        self.run(self._next_block(suspension.places[0]), masks[0])

    def _restore_number(self, suspension: Suspension, index: int) -> None:
        place = suspension.places[index]
        if self.table and self._is_park(place):
            number = self._saved_number(suspension, index)
            self.builder.void(f"store i32 {number}, ptr {self._number(place)}")

    def _saved_number(self, suspension: Suspension, index: int) -> str:
        field = self._context_pointer(suspension.barrier_offset(index))
        return self.builder.emit(f"load i32, ptr {field}")

    def _resume_at_barrier(self, suspension: Suspension) -> None:
        if self.table:
            self._resume_by_table(suspension)
            return
        if self.pending.waiting and not self.in_step:
            # While other warps of the CTA still run, the barrier is not complete.
            self._stay_unless(self.builder.emit("icmp eq i32 %hold, 0"))
        self._go_on(suspension, self._restore(suspension))

    def _go_on(self, suspension: Suspension, masks: list[Value]) -> None:
        """The lanes of all parks of a warp go on together."""
        places = [self.pending.of_block(self._next_block(p)) for p in suspension.places]
        if len(places) == 1:
            self._go(places[0], masks[0], 0)
            return
        self._wait_all(places, masks)
        outcome = self.pending.resumed(suspension.places[0], set_of(suspension.places[1:]))
        self._walk(outcome.places, outcome.sure)

    def _wait_all(self, places: list[int], masks: list[Value]) -> None:
        seen: set[int] = set()
        for place, mask in zip(places, masks):
            self._wait(place, mask, others=place in seen)
            seen.add(place)

    def _stay_unless(self, going: str) -> None:
        """The warp waits on unless the i1 holds."""
        held, go = self.builder.block_name("held"), self.builder.block_name("released")
        self.builder.void(f"br i1 {going}, label %{go}, label %{held}")
        self.builder.label(held)
        self.builder.void("store i32 1, ptr %waiting")
        self.builder.void("br label %warp.done")
        self.builder.label(go)

    def _resume_by_table(self, suspension: Suspension) -> None:
        """Lanes at open barriers go on, the others stay parked."""
        some = "false"
        opens: list[str] = []
        for i in range(len(suspension.places)):
            opens.append(self._is_open(suspension, i))
            some = self.builder.emit(f"or i1 {some}, {opens[-1]}")
        self._stay_unless(some)
        masks = self._restore(suspension)
        going: list[Value] = []
        for i, place in enumerate(suspension.places):
            self._restore_number(suspension, i)
            self._result(suspension, i, opens[i])
            if len(masks) == 1:  # it is open
                self._go_on(suspension, masks)
                return
            kept = self.builder.emit(f"select i1 {opens[i]}, {NO_LANES}, {masks[i].typed}")
            gone = self.builder.emit(f"select i1 {opens[i]}, {masks[i].typed}, {NO_LANES}")
            self._wait(place, Value(kept, "i1", WARP), others=False)
            going.append(Value(gone, "i1", WARP))
        places = [self.pending.of_block(self._next_block(p)) for p in suspension.places]
        self._wait_all(places, going)
        self._walk(set_of(places) | set_of(suspension.places), None)

    def _is_open(self, suspension: Suspension, index: int) -> str:
        """i1: lanes wait at the park, and its barrier is open."""
        bits = self.builder.emit(f"load i32, ptr {self._context_pointer(suspension.mask_offset(index))}")
        lanes = self.builder.emit(f"icmp ne i32 {bits}, 0")
        flag = self.builder.emit(f"load i32, ptr {self._entry_field(suspension, index, Entry.OPEN)}")
        is_open = self.builder.emit(f"icmp ne i32 {flag}, 0")
        return self.builder.emit(f"and i1 {lanes}, {is_open}")

    def _entry_field(self, suspension: Suspension, index: int, field: int) -> str:
        """Pointer to a field of the barrier at which the lanes of a park wait."""
        number = self._saved_number(suspension, index)
        number = self.builder.emit(f"and i32 {number}, {BARRIERS - 1}")  # parks without lanes hold anything
        skip = self.builder.emit(f"mul i32 {number}, {llvm_barriers.ENTRY_BYTES}")
        entry = self.builder.emit(f"getelementptr i8, ptr %table, i32 {skip}")
        return self.builder.emit(f"getelementptr i8, ptr {entry}, i64 {field}")

    def _result(self, suspension: Suspension, index: int, is_open: str) -> None:
        """What `bar.red` found, for lanes whose barrier is open."""
        block = self.pending.parked(suspension.places[index])
        assert block is not None
        barrier = block.terminator
        assert isinstance(barrier, Barrier)
        if barrier.result is None:
            return
        (definition,) = self.ssa.of[id(barrier)]
        assert definition is not None
        merged = (d for phi in self.ssa.phis.get(barrier.next.index, ()) for d in phi.inputs.values())
        if definition in merged or definition not in self.shared_uses:
            raise Unsupported("a barrier's result that is not used by the code after it alone")
        value = self._reduction(suspension, index, barrier)
        keep = self.builder.block_name("keep")
        write = self.builder.block_name("result")
        self.builder.void(f"br i1 {is_open}, label %{write}, label %{keep}")
        self.builder.label(write)
        self.store(definition, value, Value(ALL, "i1", WARP), blend=False)
        self.builder.void(f"br label %{keep}")
        self.builder.label(keep)

    def _reduction(self, suspension: Suspension, index: int, barrier: Barrier) -> Value:
        assert barrier.result is not None
        votes = self.builder.emit(f"load i32, ptr {self._entry_field(suspension, index, Entry.RESULT_VOTES)}")
        if barrier.reduce == "popc":
            return self.m.resize(U32, barrier.result.type, Value(votes, "i32"))
        if barrier.reduce == "or":
            return Value(self.builder.emit(f"icmp ne i32 {votes}, 0"), "i1")
        field = self._entry_field(suspension, index, Entry.RESULT_VOTERS)
        voters = self.builder.emit(f"load i32, ptr {field}")
        return Value(self.builder.emit(f"icmp eq i32 {votes}, {voters}"), "i1")

    def settle_prefetches(self) -> None:
        """To be called when all blocks are emitted. Lines are asked for one by one if warps make way often
        enough."""
        if self.m.for_next_cta:
            parks = [places[0] for places in self.suspensions if self._is_park(places[0])]
            recurring = not self.in_step and any(map(self._may_recur, parks))
            visits = 0 if self.short_phases or not parks else len(self.suspensions)
            lines = self.m.lines_asked
            by_visits = lines > 0 and (recurring or lines <= visits)
            self.m.settle_prefetches(self.phases_ask if self.m.by_phases else by_visits)

    # -- the CTA's loop over its warps -------------------------------------------------------------

    def table_lines(self) -> list[str]:
        """Where the CTA's table of barriers lies; empty at the start."""
        if not self.table:
            return []
        self.unit.module.declare("llvm.memset.p0.i64", "void", ("ptr", "i8", "i64", "i1"))
        return [
            f"  %table.i = add i64 %context.first, {self.context_stride() * self.unit.block.warps}",
            "  %table = inttoptr i64 %table.i to ptr",
            f"  call void @llvm.memset.p0.i64(ptr %table, i8 0, i64 {llvm_barriers.TABLE_BYTES}, i1 false)",
        ]

    def phase_end(self) -> list[str]:
        """All warps have ended or wait: another round, or the CTA's end."""
        more = "judge" if self.table else "phase"
        lines = [
            "phase.end:",
            "  %some.wait = load i32, ptr %waiting",
            "  %some.spin = load i32, ptr %spinning",
            "  %some = or i32 %some.wait, %some.spin",
            "  %again = icmp ne i32 %some, 0",
            f"  br i1 %again, label %{'phase.spins' if self.pending.waiting else more}, label %cta.end",
        ]
        if self.pending.waiting:
            always = any(loop.header.index in self.polled for loop in self.pending.waiting)
            lines += [
                "phase.spins:",
                f"  %some.spins = icmp ne i32 {'%some' if always else '%some.spin'}, 0",
                f"  br i1 %some.spins, label %phase.way, label %{more}",
                "phase.way:",
                f"  {give_way(self.unit.module)}",
                f"  br label %{more}",
            ]
        return [*lines, *self._judgement()] if self.table else lines

    def _judgement(self) -> list[str]:
        """No warp can run: complete barriers open, or there is a deadlock."""
        complete, record = llvm_barriers.complete(self.unit.module), llvm_runtime.fault(self.unit.module)
        stride = self.context_stride()
        return [
            "judge:",
            "  %spin = icmp ne i32 %some.spin, 0",
            "  %contexts = inttoptr i64 %context.first to ptr",
            f"  %vain = call i32 {complete}(ptr %contexts, i64 {stride}, i32 {self.unit.block.warps}, "
            "ptr %table, i1 %spin)",
            "  %fine = icmp eq i32 %vain, -1",
            "  br i1 %fine, label %phase, label %deadlock",
            "deadlock:",
            "  %vain.wide = zext i32 %vain to i64",
            "  store i64 %vain.wide, ptr %warp.slot",
            f"  %vain.skip = mul i64 %vain.wide, {stride}",
            "  %vain.p = getelementptr i8, ptr %contexts, i64 %vain.skip",
            *_context_field("vain.line", Context.LINE),
            *_context_field("vain.numbers", Context.BARRIERS),
            *_context_field("vain.mask", CONTEXT_HEADER),
            "  %vain.lane = call i32 @llvm.cttz.i32(i32 %vain.mask, i1 false)",
            "  %vain.number = call i32 @llvm.cttz.i32(i32 %vain.numbers, i1 false)",
            *(f"  %vain.{n}.wide = zext i32 %vain.{n} to i64" for n in ("line", "lane", "number")),
            f"  call void {record}(ptr %launch, ptr %worker, i64 {FaultKind.BARRIER}, i64 %vain.line.wide, "
            "i64 %vain.number.wide, i64 %vain.lane.wide, i64 0, i64 0)",
            "  br label %abort",
        ]


def _context_field(name: str, offset: int) -> list[str]:
    return [
        f"  %{name}.p = getelementptr i8, ptr %vain.p, i64 {offset}",
        f"  %{name} = load i32, ptr %{name}.p",
    ]
