"""A kernel and the device functions it calls as one LLVM module.

The compiled kernel takes CTAs from counters, some at a time, until none is left. Within a CTA it runs one
warp after the other. A warp that reaches a barrier saves what it still needs and makes way for the next;
when all warps have ended or wait, the waiting ones go on where they stopped (`switch` on the saved state).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from simt.analysis.float_registers import with_float_registers
from simt.analysis.program import Function, Op, Program
from simt.analysis.shape import WARP, BlockShape
from simt.analysis.ssa import Ssa
from simt.engine import (
    llvm_flushing,
    llvm_frame,
    llvm_groups,
    llvm_later,
    llvm_mode,
    llvm_scopes,
    llvm_streams,
    llvm_strips,
    llvm_two_rows,
)
from simt.engine.abi import KERNEL, LINE_SLOTS, NATIVE_STACK, LaunchSlot, WorkerSlot
from simt.engine.llvm_begin import initial_mask, is_whole, start_of_warp
from simt.engine.llvm_begun import begin
from simt.engine.llvm_branches import WEIGHTS
from simt.engine.llvm_builder import OF_TURNS, Builder, Value
from simt.engine.llvm_calls import DeviceEmitter
from simt.engine.llvm_clock import clear_clock
from simt.engine.llvm_frame import COORDINATES, environment, load_slot, local_of_warp
from simt.engine.llvm_function import FunctionEmitter
from simt.engine.llvm_lanes import ALL
from simt.engine.llvm_outline import LINES, TooLarge
from simt.engine.llvm_scopes import OF_WORKER
from simt.engine.llvm_slots import Unit
from simt.engine.llvm_stop import stop
from simt.engine.llvm_trial_blocks import NotTriedError, Trial, TrialEmitter
from simt.engine.llvm_yield import drain, give_way
from simt.imports import Later
from simt.records import replace

if TYPE_CHECKING:
    from simt.analysis import divisions, flushing, streams, unrolling
    from simt.engine import llvm_alone_vectors, llvm_idle, llvm_phases, llvm_rewriting
else:
    divisions = Later("simt.analysis.divisions")
    flushing = Later("simt.analysis.flushing")
    streams = Later("simt.analysis.streams")
    unrolling = Later("simt.analysis.unrolling")
    llvm_idle = Later("simt.engine.llvm_idle")
    llvm_rewriting = Later("simt.engine.llvm_rewriting")
    llvm_alone_vectors = Later("simt.engine.llvm_alone_vectors")
    llvm_phases = Later("simt.engine.llvm_phases")

BODY, WARPS, PARAMETERS = "simt.body", "simt.warp", "ptr %launch, ptr %worker"
DONE = -1
LONG_BODY = 1000
"""Lines from which a warp's code is surely too long for a loop around it to be unrolled. LLVM would weigh
every instruction of it for each of these loops, in each of its passes that unroll."""
SHORT_BODY = 300
"""Lines up to which a warp's code stands a second time, for warps for which all is well, where CTAs have one
row of threads."""
MAY_SHRINK, SHRUNK = 6 * LONG_BODY, 0.7
"""The same where CTAs have several rows; from `LONG_BODY` lines on the other code must be so much shorter."""
SHRUNK_TWO = 0.75
"""Of code for two rows, to which warps come from that which is tried first."""
BOUNDS, OF_NEIGHBOURS = ("lt", "le", "gt", "ge"), 6
"""Comparisons from which those of what a row of warps has in common are told ahead of it. Fewer are branches
that cost little, and code without any is not better: it was up to a tenth slower."""
LONGEST_TRIED = 4 * LONG_BODY
"""Lines up to which there is code that is tried first, if it is shorter in the same way."""
TWO_ROWS, USUAL = "two.rows", "usual"
"""Where a warp begins again with the code for two rows, and with the usual code."""
BACK = {"warp.head": 3, "cta.check": 4, "phase": 5}
"""Heads of the loops around a warp's code, with the number of what is said of the branch back."""
_BACK = re.compile(rf"^  br i1 %\S+ label %({'|'.join(map(re.escape, BACK))}), label %\S+$", re.MULTILINE)
UNROLL = 6
"""Number of what is said of the branch back of a loop that is to be unrolled altogether."""
ROLLED = tuple(f'!{n} = distinct !{{!{n}, !{{!"llvm.loop.unroll.disable"}}}}' for n in BACK.values())
UNROLLED = f'!{UNROLL} = distinct !{{!{UNROLL}, !{{!"llvm.loop.unroll.full"}}}}'
WRITTEN_OUT = 6000
"""Lines of code up to which loops are written out (`simt.analysis.unrolling`)."""
MANY_LINES = LINES // 2
"""Lines of code from which on loops of many turns at once are to be of fewer, if they can be: of so many
accesses those side by side are no longer done together."""
STACK_RESERVE = 4 << 20
"""Of the native stack, bytes kept free for the deepest frame and for Python below the kernel."""


class TooLongError(Exception):
    """Code that was to be shorter than other code."""


class KernelEmitter(TrialEmitter):
    """`void simt_kernel(launch, worker)`. `longest`: lines beyond which the code is of no use, or zero."""

    def __init__(
        self, unit: Unit, function: Function, ahead: Builder | None = None, trial: Trial | None = None
    ) -> None:
        super().__init__(unit, function, trial)
        self.m.ahead, self.longest = ahead, 0
        if not is_whole(unit.block):
            self.initial_mask = Value("%mask.initial", "i1", WARP)
        if unit.features >= llvm_flushing.NEEDED and not unit.large:
            self.m.zeros, self.unflushed = flushing.flushing(self.ssa, unit.program.environment)
        if not unit.large:
            self.m.at_start = {}
        if unit.features >= llvm_streams.NEEDED and not unit.large:
            self.streams = streams.streams(self.ssa, unit.program.environment)
        if self.m.zeros:
            unit.module.attributes += f" {llvm_flushing.ATTRIBUTES}"

    def define(self) -> str:
        self.body()
        allocas, lines = self.split_allocas()
        warps = self._phases(lines) if self.in_step else self._warps(lines, allocas)
        self.settle_prefetches()
        turned = self.unit.block.turned
        text = [
            f"define internal void @{BODY}({PARAMETERS}) {self._kind} {{",
            "entry:",
            *allocas,
            "  %range.p = alloca i64",
            "  %range.next.p = alloca i64",
            *self._phase_slots(),
            *self.m.begin_notes(self.phases_ask),
            *environment(),
            "  %parameters.p0 = inttoptr i64 %parameters to ptr",
            *(self.m.at_start or ()),
            *self.beginning.builder.lines,
            *load_slot("%launch", LaunchSlot.CTAS, "ctas"),
            *llvm_streams.begin(self._streamed),
            *llvm_later.begin(self.m.asked_for * self.unit.block.warps),
            *load_slot("%launch", LaunchSlot.CHUNK, "chunk"),
            *load_slot("%launch", LaunchSlot.RANGES, "ranges"),
            *load_slot("%launch", LaunchSlot.RANGE, "range.ctas"),
            *load_slot("%worker", WorkerSlot.SM, "worker.number"),
            *load_slot("%launch", LaunchSlot.GRID_X, f"grid.{'y' if turned else 'x'}"),
            *load_slot("%launch", LaunchSlot.GRID_Y, f"grid.{'x' if turned else 'y'}"),
            *(f"  %grid.{axis}.32 = trunc i64 %grid.{axis} to i32" for axis in "xy"),
            *load_slot("%worker", WorkerSlot.CONTEXT, "context.first"),
            "  %sp = add i64 0, 0",
            *self._note_stack(),
            f"  %warp.slot = getelementptr i64, ptr %worker, i64 {WorkerSlot.WARP}",
            f"  %cta.slot = getelementptr i64, ptr %worker, i64 {WorkerSlot.CTA}",
            f"  %count.p = getelementptr i64, ptr %worker, i64 {WorkerSlot.FINISHED}",
            f"  %next.p = getelementptr i64, ptr %launch, i64 {LaunchSlot.NEXT_CTA}",
            f"  %stop.p = getelementptr i64, ptr %launch, i64 {LaunchSlot.ABORT}",
            *self._clear(),
            *self._chunks(),
            *warps,
            "}",
            *self._entry(),
        ]
        stays = len(lines) > LONG_BODY or self.in_step or self._is_apart
        return rolled("\n".join(text)) if stays else "\n".join(text)

    def _cut(self) -> None:
        super()._cut()
        if 0 < self.longest < len(self.builder.lines):
            raise TooLongError

    def _warps(self, lines: list[str], allocas: list[str]) -> list[str]:
        """The loops over CTAs and warps, with the lines of a warp's blocks. Adds to the allocations."""
        if self._is_apart:
            self.unit.module.define(WARPS, self._warp_function(lines, allocas))
            allocas.clear()
            calls = [
                f"  %went = call i1 @{WARPS}({PARAMETERS}, {COORDINATES})",
                "  br i1 %went, label %warp.done, label %abort",
            ]
            return [*self._cta_loop(), *calls, *self._next_warp(), *self._stops()]
        if self.takes_turns:
            warp = [*self._warp_loop(), *lines, *self._finished()]
            return [*llvm_groups.loops(self.unit.block, self._check(), warp), *self._stops()]
        sure = self._sure(len(lines), allocas) if self._in_strips else None
        trial = self._trial(len(lines), allocas)
        warp = [*trial, *self._warp_loop(), *lines, *self._finished()]
        if not self._in_strips or (sure is None and llvm_strips.rows(self.unit.block) == 1):
            return [*self._cta_loop(), *warp, *self._next_warp(), *self._stops()]
        unit = self.unit
        loops = llvm_strips.loops(unit.block, self._check, warp, sure, self._idle, unit.features)
        return [*loops, *self._stops()]

    @cached_property
    def _idle(self) -> llvm_idle.IdleCtas | None:
        """Tells of which CTAs no thread does anything, if there may be such."""
        if self.unit.block.joins or self.m.at_start is None:
            return None
        found = llvm_idle.IdleCtas(self.schedule.order[0], self.m, self.parameter_offset)
        return found if found.tells else None

    @property
    def _is_apart(self) -> bool:
        """Whether the code of a warp is a function of its own. In large kernels it is: what the loops around
        it need would else be alive in all of it, and LLVM's allocation of registers would weigh for each such
        value each block that it goes through. A warp that waits shares more with these loops."""
        return self.unit.large and not self.waits

    @property
    def _kind(self) -> str:
        return f"noinline {self.unit.module.attributes}" if self._is_apart else self.attributes

    def _warp_function(self, lines: list[str], allocas: list[str]) -> str:
        """`i1 warp(launch, worker, cta x, y, z, warp)`: false after a fault."""
        head = f"define internal i1 @{WARPS}({PARAMETERS}, {COORDINATES}) {self.attributes}"
        begin = [
            "  %sp = add i64 0, 0",
            f"  %warp.slot = getelementptr i64, ptr %worker, i64 {WorkerSlot.WARP}",
            *self._warp_loop(),
        ]
        return llvm_frame.whole(head, allocas, [*self.beginning.builder.lines, *begin, *lines])

    def _sure(self, length: int, allocas: list[str]) -> llvm_strips.Sure | None:
        """Code for warps for which all is well, if there are any to be told: see `simt.engine.llvm_series`.
        `length`: lines of the code for others."""
        block = self.unit.block
        longest = MAY_SHRINK if llvm_strips.rows(block) > 1 else SHORT_BODY
        if length > longest or self.schedule.loops or block.is_cut:
            return None
        ahead = Builder(prefix="%ahead.")
        other = KernelEmitter(self.unit, self.function, ahead)
        other.builder.prefix = "%sure.v"  # allocations of both stand together
        other.m.beginning, other.m.tells_rows = self.beginning, self._has_window
        other.goers = self._idle.goers if self._idle else {}
        other.longest = int(length * SHRUNK) if length > LONG_BODY else 0
        try:
            other.body()
        except TooLongError:
            return None
        more, lines = other.split_allocas()
        if not other.m.tells:
            return None
        allocas.append("  %sure.p = alloca i64")
        allocas += [line for line in more if line not in allocas]
        self._begin_for(other)
        warp = [*other._warp_loop(), *lines, *other._finished()]
        return llvm_strips.Sure(ahead.lines, other.m.sure_turns, warp, other.m.has_edge)

    @property
    def _has_window(self) -> bool:
        """Whether the kernel asks for bounds so often that they are those of neighbours."""
        ops = (op for op in self.function.ops() if isinstance(op, Op))
        return sum(op.binding.get("cmp") in BOUNDS for op in ops) >= OF_NEIGHBOURS

    def _trial(self, length: int, allocas: list[str]) -> list[str]:
        """Code of a warp that is tried first: see `simt.engine.llvm_trial`. From the warp's names on to where
        the usual code has them again."""
        linear = self.initial_mask.ir == ALL and llvm_strips.rows(self.unit.block) == 1
        if length > LONGEST_TRIED or self.waits or not linear or not self.has_rows:
            return []
        one = self._tried(Trial(TWO_ROWS), length, allocas)
        if not one:
            return []
        two = [f"  br label %{USUAL}"]
        if self.unit.block.segments == 1:
            two = self._tried(Trial(USUAL, splits=True), length, allocas) or two
        renamed = llvm_strips.renamed
        return [*renamed(one, "try"), f"{TWO_ROWS}:", *renamed(two, "two"), f"{USUAL}:"]

    def _tried(self, trial: Trial, length: int, allocas: list[str]) -> list[str]:
        """The code of one trial, if it is worth it. Adds to the allocations."""
        other = KernelEmitter(self.unit, self.function, trial=trial)
        other.builder.prefix = "%two.v" if trial.splits else "%try.v"
        other.m.beginning = self.beginning
        try:
            other.body()
        except NotTriedError:
            return self._tried(replace(trial, loops=False), length, allocas) if trial.loops else []
        more, lines = other.split_allocas()
        tries = other.m.has_split if trial.splits else other.m.tries_rows
        if not tries or len(lines) > length * (SHRUNK_TWO if trial.splits else SHRUNK):
            return []
        more += [llvm_two_rows.ALLOCATION] * trial.splits
        allocas += [line for line in more if line not in allocas]
        self._begin_for(other)
        *begin, to_first = other._warp_loop()
        return [*begin, *[llvm_two_rows.BEGIN] * trial.splits, to_first, *lines]

    def _begin_for(self, other: KernelEmitter) -> None:
        """Has the kernel begin with what another emitter's code needs, which is to stand in it, too."""
        self.m.asked_for = max(self.m.asked_for, other.m.asked_for)
        self.m.streamed = max(self.m.streamed, other.m.streamed)
        self.m.at_start = (self.m.at_start or {}) | (other.m.at_start or {})

    def _phase_slots(self) -> list[str]:
        contexts = f"  %contexts = alloca [{self.contexts_bytes} x i8], align 64"
        if self.in_step:
            spins = ["  %spinning = alloca i32", "  %spun = alloca i32"] if self.yields else []
            return ["  %next.phase = alloca i32", *spins, *([contexts] if self.on_stack else [])]
        states = [llvm_groups.STATES] if self.takes_turns else []
        return ["  %waiting = alloca i32", "  %spinning = alloca i32", *states] if self.waits else []

    def _phases(self, lines: list[str]) -> list[str]:
        """The loops over the warps of a CTA that goes in step, one for each phase."""
        entries = {llvm_phases.START: "warp.begin", **{n: f"resume.{n}" for n in self.suspensions.values()}}
        begin = ["warp.begin:", *self._begin(self.label(self.schedule.order[0]))]
        phases = llvm_phases.find_phases([*begin, *lines], entries, self.yields)
        back = f"!{BACK['warp.head']}"
        names, resets = self._warp_names(), self.pending_resets()
        busy = {phase.number: self.busy_warps(phase) for phase in phases}
        asks = self.m.asks_of_phases([busy[phase.number] for phase in phases[1:]])
        self.phases_ask = bool(asks)
        loops = llvm_phases.Loops(
            phases,
            names,
            resets,
            entries,
            self.polls,
            back,
            f"!{UNROLL}",
            self.unit.pieces,
            busy,
            {phase.number: code for phase, code in zip(phases[1:], asks)},
            give_way(self.unit.module) if self.pending.waiting else "",
        )
        self.short_phases = loops.are_short
        return [*self._cta_loop(), *loops.lines(), *self._next_cta(), *self._stops()]

    def _entry(self) -> list[str]:
        """The kernel under the CPU's mode: a call, so that no arithmetic can be moved out of the mode."""
        unit = self.unit
        return [
            f"define void @{KERNEL}({PARAMETERS}) {unit.module.attributes} {{",
            *llvm_mode.enter(unit.module, unit.features, self.m.zeros),
            f"  call void @{BODY}({PARAMETERS})",
            *([f"  {drain(unit.module)}"] if unit.spins or unit.called else []),
            *llvm_mode.leave(unit.features),
            "  ret void",
            "}",
        ]

    def _note_stack(self) -> list[str]:
        """Where native stack runs low: calls test it."""
        self.unit.module.declare("llvm.frameaddress.p0", "ptr", ("i32",))
        return [
            "  %frame.p = call ptr @llvm.frameaddress.p0(i32 0)",
            "  %frame.i = ptrtoint ptr %frame.p to i64",
            f"  %stack.limit = sub i64 %frame.i, {NATIVE_STACK - STACK_RESERVE}",
            f"  %stack.p = getelementptr i64, ptr %worker, i64 {WorkerSlot.STACK_LIMIT}",
            "  store i64 %stack.limit, ptr %stack.p",
        ]

    def _clear(self) -> list[str]:
        """Memory that an earlier launch used reads as zero again. (Each CTA of a launch but a worker's first
        finds what the one before left.)"""
        self.unit.module.declare("llvm.memset.p0.i64", "void", ("ptr", "i8", "i64", "i1"))
        return [
            *load_slot("%launch", LaunchSlot.CLEAR, "dirty"),
            "  %used = icmp ne i64 %dirty, 0",
            "  br i1 %used, label %memory.clear, label %chunk.own",
            "memory.clear:",
            "  %shared.p = inttoptr i64 %shared.host to ptr",
            "  call void @llvm.memset.p0.i64(ptr %shared.p, i8 0, i64 %shared.bytes, i1 false)",
            "  %local.p = inttoptr i64 %local.first to ptr",
            f"  %local.all = mul i64 %local.bytes, {WARP * self.unit.block.warps}",
            "  call void @llvm.memset.p0.i64(ptr %local.p, i8 0, i64 %local.all, i1 false)",
            "  br label %chunk.own",
        ]

    def _chunks(self) -> list[str]:
        """Claims some consecutive CTAs at once: claiming one by one makes workers wait for each other. A
        worker begins with the range of its number, which holds what it worked on in earlier launches, and
        takes what is left of the others' ranges then, from the first on. Where it is, is kept in memory:
        registers and further levels of loops are dear."""
        return [
            "chunk.own:",
            "  %is.mine = icmp ult i64 %worker.number, %ranges",
            "  %mine = select i1 %is.mine, i64 %worker.number, i64 0",
            "  store volatile i64 %mine, ptr %range.p",
            "  store volatile i64 0, ptr %range.next.p",
            "  br label %chunk.next",
            "chunk.next:",
            "  %range = load volatile i64, ptr %range.p",
            f"  %counter.slot = mul i64 %range, {LINE_SLOTS}",
            "  %counter.p = getelementptr i64, ptr %next.p, i64 %counter.slot",
            "  %range.first = mul i64 %range, %range.ctas",
            "  %begun = load atomic i64, ptr %counter.p monotonic, align 8",
            "  %range.goes = icmp ult i64 %begun, %range.ctas",
            "  br i1 %range.goes, label %chunk.claim, label %range.over",
            "range.over:",
            "  %range.next = load volatile i64, ptr %range.next.p",
            "  %range.after = add i64 %range.next, 1",
            "  store volatile i64 %range.next, ptr %range.p",
            "  store volatile i64 %range.after, ptr %range.next.p",
            "  %ranges.left = icmp ult i64 %range.next, %ranges",
            "  br i1 %ranges.left, label %chunk.next, label %done",
            "chunk.claim:",
            "  %taken = atomicrmw add ptr %counter.p, i64 %chunk monotonic",
            "  %first = add i64 %range.first, %taken",
            "  %chunk.all = add i64 %taken, %chunk",
            "  %chunk.fits = icmp ult i64 %chunk.all, %range.ctas",
            "  %chunk.stop = select i1 %chunk.fits, i64 %chunk.all, i64 %range.ctas",
            "  %chunk.last = add i64 %range.first, %chunk.stop",
            "  %chunk.short = icmp ult i64 %chunk.last, %ctas",
            "  %chunk.end = select i1 %chunk.short, i64 %chunk.last, i64 %ctas",
            "  %more = icmp ult i64 %first, %chunk.end",
            "  br i1 %more, label %chunk.begin, label %range.over",
            "chunk.begin:",
            "  %first.x = urem i64 %first, %grid.x",
            "  %first.row = udiv i64 %first, %grid.x",
            "  %first.y = urem i64 %first.row, %grid.y",
            "  %first.z = udiv i64 %first.row, %grid.y",
            *(f"  %first.{c}.32 = trunc i64 %first.{c} to i32" for c in "xyz"),
            "  br label %cta.check",
        ]

    def _next_cta(self) -> list[str]:
        """Counts the CTA that has ended, and goes on to the next of the chunk."""
        return [
            "cta.end:",
            "  %count = load i64, ptr %count.p",
            "  %count.1 = add i64 %count, 1",
            "  store i64 %count.1, ptr %count.p",
            "  %cta.was = load i64, ptr %cta.slot",
            "  %cta.next = add i64 %cta.was, 1",
            "  %cta.x.1 = add i32 %cta.x, 1",
            "  %x.ends = icmp eq i32 %cta.x.1, %grid.x.32",
            "  %cta.x.next = select i1 %x.ends, i32 0, i32 %cta.x.1",
            *llvm_strips.next_row(),
            "  %chunk.goes = icmp ult i64 %cta.next, %chunk.end",
            "  br i1 %chunk.goes, label %cta.check, label %chunk.next",
        ]

    @cached_property
    def _in_strips(self) -> bool:
        """Whether rows of threads of several CTAs run before the CTAs' next rows. Known when the body is.
        CTAs of one row run in their order as ever, but rows of them can have code of their own (`_sure`)."""
        unit = self.unit
        calls = unit.called or unit.system
        speaks = self.waits or self.m.in_order or unit.spins or calls or unit.kernel.shared
        fits = unit.block.x % WARP == 0 or llvm_strips.rows(unit.block) > 1
        return not unit.large and not speaks and fits

    def _check(self, then: str = "cta.run") -> list[str]:
        """Leaves the kernel if the launch is to be stopped."""
        return [
            "  %stop.flags = load atomic i64, ptr %stop.p monotonic, align 8",
            "  %stop.some = icmp ne i64 %stop.flags, 0",
            f"  br i1 %stop.some, label %cta.stop, label %{then}",
            "cta.stop:",
            f"  %stopped = call i1 {stop(self.unit.module)}(ptr %launch, ptr %worker)",
            f"  br i1 %stopped, label %done, label %{then}",
        ]

    def _cta_loop(self) -> list[str]:
        lines = [
            "cta.check:",
            "  %cta = phi i64 [ %first, %chunk.begin ], [ %cta.next, %cta.end ]",
            *(
                f"  %cta.{c} = phi i32 [ %first.{c}.32, %chunk.begin ], [ %cta.{c}.next, %cta.end ]"
                for c in "xyz"
            ),
            *(llvm_idle.unless_idle(self._idle, self._check) if self._idle else self._check()),
            "cta.run:",
            "  store i64 %cta, ptr %cta.slot",
        ]
        if self.in_step:
            start = llvm_phases.START
            return [*lines, f"  store i32 {start}, ptr %next.phase", f"  br label %phase.{start}"]
        if not self.waits:
            return [*lines, "  br label %warp.head", *self._warp_head("cta.run")]
        return [
            *lines,
            "  br label %clear",
            "clear:",
            "  %clear.warp = phi i64 [ 0, %cta.run ], [ %clear.next, %clear ]",
            f"  %clear.skip = mul i64 %clear.warp, {self.context_stride()}",
            "  %clear.i = add i64 %context.first, %clear.skip",
            "  %clear.p = inttoptr i64 %clear.i to ptr",
            "  store i32 0, ptr %clear.p",
            "  %clear.next = add i64 %clear.warp, 1",
            f"  %clear.more = icmp ult i64 %clear.next, {self.unit.block.warps}",
            "  br i1 %clear.more, label %clear, label %first.phase",
            "first.phase:",
            "  store i32 0, ptr %spinning",
            *self.table_lines(),
            "  br label %phase",
            "phase:",
            "  %hold = load i32, ptr %spinning",
            "  store i32 0, ptr %spinning",
            "  store i32 0, ptr %waiting",
            "  br label %warp.head",
            *self._warp_head("phase"),
        ]

    @staticmethod
    def _warp_head(before: str) -> list[str]:
        return ["warp.head:", f"  %warp = phi i32 [ 0, %{before} ], [ %warp.next, %warp.done ]"]

    def _warp_names(self) -> list[str]:
        """What the code of a warp finds, given `%warp`."""
        lines = [
            *local_of_warp(),
            *(llvm_frame.kept() if self.unit.large else ()),
            f"  store i64 %warp.wide, ptr %warp.slot{OF_WORKER}",
            *self._initial_mask_lines(),
        ]
        if not self.waits:
            return lines
        number = llvm_groups.SLOT if self.takes_turns else "%warp.wide"
        lines += llvm_groups.names_of_warp() if self.takes_turns else []
        skip = f"  %context.skip = mul i64 {number}, {self.context_stride()}"
        if self.on_stack:
            place = "  %context.p = getelementptr i8, ptr %contexts, i64 %context.skip"
            return [*lines, skip, place]
        return [
            *lines,
            skip,
            "  %context = add i64 %context.first, %context.skip",
            "  %context.p = inttoptr i64 %context to ptr",
        ]

    def _warp_loop(self) -> list[str]:
        lines = [*self._warp_names(), *self.pending_resets()]
        first = self.label(self.schedule.order[0])
        start = self._begin(first)
        if not self.waits:
            return [*lines, *start]
        cases = " ".join(f"i32 {i + 1}, label %resume.{i + 1}" for i in range(len(self.suspensions)))
        if self.takes_turns:
            return [
                *lines,
                f"  br i1 {llvm_groups.AGAIN}, label %warp.again, label %warp.begin",
                "warp.again:",
                f"  %state = load i32, ptr {llvm_groups.STATE}",
                f"  switch i32 %state, label %warp.done [ {cases} ]",
                "warp.begin:",
                *start,
            ]
        return [
            *lines,
            "  %state = load i32, ptr %context.p",
            f"  switch i32 %state, label %warp.done [ i32 0, label %warp.begin {cases} ]",
            "warp.begin:",
            *start,
        ]

    def _begin(self, first: str) -> list[str]:
        lines = start_of_warp(self.unit.block, first)
        entry = self.schedule.order[0]
        if self.schedule.loop_of[entry.index] is not None:
            # The entry is a loop's header: its mask is that of the lanes that come back, too.
            mask = self.initial_mask
            lines = [*self.slots.start(self.slots.of_block(entry.index), mask), *lines]
        return lines if self.ticks is None else [*clear_clock(), *lines]

    def _initial_mask_lines(self) -> list[str]:
        if self.initial_mask.ir == ALL:
            return []
        return initial_mask(self.unit.block)

    def _next_warp(self) -> list[str]:
        lines = [
            "warp.done:",
            "  %warp.next = add i32 %warp, 1",
            f"  %warp.more = icmp ult i32 %warp.next, {self.unit.block.warps}",
            f"  br i1 %warp.more, label %warp.head, label %{'phase.end' if self.waits else 'cta.end'}",
        ]
        if self.waits:
            lines += self.phase_end()
        return [*lines, *self._next_cta()]

    def _finished(self) -> list[str]:
        state = llvm_groups.STATE if self.takes_turns else "%context.p"
        return [
            "finished:",
            *([f"  store i32 {DONE}, ptr {state}"] if self.waits else []),
            "  br label %warp.done",
        ]

    @property
    def context_bytes(self) -> int:
        """Of memory for saved contexts, for each warp of a CTA."""
        if not self.waits or self.on_stack:
            return 0
        return self.context_stride() * (llvm_groups.size(self.unit.block) if self.takes_turns else 1)

    @property
    def _streamed(self) -> int:
        """Bytes that a CTA stores past the caches, if the launch stores much."""
        return self.m.streamed * self.unit.block.warps

    def _stops(self) -> list[str]:
        return ["abort:", "  br label %done", "done:", *llvm_streams.end(self._streamed), "  ret void"]


def rolled(kernel: str) -> str:
    """A kernel whose loops around a warp's code are not to be unrolled."""
    return _BACK.sub(lambda branch: f"{branch[0]}, !llvm.loop !{BACK[branch[1]]}", kernel)


def emit_simply(
    program: Program,
    begun: tuple[Function, Ssa],
    block: BlockShape,
    features: frozenset[str],
    attributes: str,
) -> tuple[str, Unit, int]:
    """What `emit` gives for a large kernel, of any one, in less time."""
    kernel, ssa = begun
    return _emit(Unit(program, kernel, block, features, large=True, ssa=ssa), attributes)


def emit(
    program: Program,
    kernel: Function,
    block: BlockShape,
    features: frozenset[str],
    attributes: str,
    watch: Callable[[FunctionEmitter], None] | None = None,
    begun: tuple[Function, Ssa] | None = None,
    room: int = 1,
) -> tuple[str, Unit, int]:
    """The LLVM module of a kernel for CTAs of a shape, and the bytes of context each warp needs.

    `watch` gets the emitter of every function before it emits; code is then emitted as if it were small.
    `begun`: what `begin` gave. `room`: how many times as long as usual it may be before it is a large one; if
    that is more than once, `TooLarge` is raised then. Raises `Unsupported` for what is interpreted only.
    """
    if begun is None:
        program, begun = begin(program, kernel, block)
    kernel, ssa = begun
    kernel, ssa = llvm_rewriting.with_decisions(Unit(program, kernel, block, features, room=room, ssa=ssa))
    kernel, ssa = divisions.with_divisions(program, kernel, ssa)
    written_out = unrolling.unrolled(program, kernel, block)
    if watch is not None:
        unit = llvm_rewriting.shaped(Unit(program, written_out, block, features))
        return _emit(llvm_rewriting.rewritten(unit), attributes, watch)
    if written_out is not kernel:
        with suppress(TooLarge):  # then loops stay loops
            unit = llvm_rewriting.shaped(Unit(program, written_out, block, features, room=room))
            found = _emit(llvm_rewriting.rewritten(unit), attributes)
            if _lines(found) <= WRITTEN_OUT:
                return found
    first = Unit(program, kernel, block, features, room=room, ssa=ssa)
    unit = llvm_rewriting.shaped(first)
    if not llvm_rewriting.is_surely_large(unit):
        unit = llvm_rewriting.rewritten(unit)
        found = _if_small(unit, attributes)
        if (found is None or _lines(found) > MANY_LINES) and llvm_rewriting.may_be_in_fours(unit):
            fours = llvm_rewriting.rewritten(llvm_rewriting.shaped(first.anew(kernel, block, in_fours=True)))
            found = min(filter(None, (found, _if_small(fours, attributes))), key=_lines, default=None)
        if found is not None:
            return found
    if room > 1:
        raise TooLarge
    large = first.anew(kernel, unit.block, large=True)
    return _emit(large, attributes)


def _if_small(unit: Unit, attributes: str) -> tuple[str, Unit, int] | None:
    """What `emit` gives, unless the kernel is a large one."""
    with suppress(TooLarge):
        return _emit(unit, attributes)
    return None


def _lines(found: tuple[str, Unit, int]) -> int:
    return found[0].count("\n")


def _emit(
    unit: Unit, attributes: str, watch: Callable[[FunctionEmitter], None] = lambda _: None
) -> tuple[str, Unit, int]:
    program, kernel = unit.program, unit.kernel
    unit.module.attributes = attributes
    emitter = KernelEmitter(unit, kernel)
    watch(emitter)
    unit.module.define(KERNEL, emitter.define())
    done: set[str] = set()
    while set(unit.called) - done:
        name = next(n for n in unit.called if n not in done)
        done.add(name)
        device = DeviceEmitter(unit, with_float_registers(program.functions[name])[0])
        watch(device)
        unit.module.define(name, device.define())
    loops = *ROLLED, UNROLLED
    metadata = *WEIGHTS, *llvm_scopes.METADATA, *loops, llvm_streams.METADATA
    functions = str(unit.module)
    if OF_TURNS in functions:
        metadata = *metadata, *llvm_alone_vectors.METADATA
    text = "\n".join((functions, "!0 = !{}", *metadata, ""))
    return text, unit, emitter.context_bytes
