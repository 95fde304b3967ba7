"""The exact engine: NumPy columns over the lanes of many CTAs at once."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, cast
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from simt.analysis.call_graph import reachable
from simt.analysis.clock import counts, has_clock
from simt.analysis.evaluate import Evaluator, adapt
from simt.analysis.lower_calls import source_type
from simt.analysis.program import (
    BARRIERS,
    Barrier,
    Block,
    Branch,
    Call,
    Exit,
    FunctionAddress,
    Jump,
    Program,
    Register,
    Return,
    Source,
    Switch,
    SymbolAddress,
    Terminator,
)  # fmt: skip
from simt.analysis.schedule import Loop
from simt.engine.batch import Batch, Rows, Scratch, batch_size
from simt.engine.branch_stacks import BranchStacks
from simt.engine.interpreter_activation import Activation, Columns, Line, Lines, Run
from simt.engine.interpreter_barriers import Barriers
from simt.engine.interpreter_ops import ReadyOp, ready
from simt.engine.interpreter_watcher import Watcher
from simt.engine.numpy_algebra import dtype_of
from simt.engine.numpy_machine import NumpyMachine
from simt.engine.numpy_memory import ArenaView
from simt.engine.numpy_select import Mask, every, rows_with_any, some
from simt.errors import BarrierError, KernelFault, LaunchTimeout
from simt.machine.faults import stack_overflow
from simt.machine.launch import Launch
from simt.ptx.types import PRED, U32, Type, bits_type

Array = NDArray[Any]
CHECK_BARRIERS = 32
"""Blocks between two looks for complete barriers while other lanes still run."""
CALL_BYTES = 16
"""Local memory that a call of a recursive function takes at least."""


class Interpreter:
    """Engine that runs a launch batch by batch, one block of the program at a time.

    It keeps the branch synchronisation stack of every warp in launches whose caller looks at it: those with a
    watcher, and those that call a function at breakpoints."""

    name = "interpreter"

    def __init__(self, watcher: Watcher | None = None) -> None:
        self.watcher = watcher
        self._lines: WeakKeyDictionary[Program, Lines] = WeakKeyDictionary()

    def launch(self, launch: Launch) -> None:
        reached = reachable([launch.kernel.name], launch.program.functions)
        recursive = any(launch.program.functions[name].recursive for name in reached)
        count = batch_size(launch, recursive)
        total = launch.grid[0] * launch.grid[1] * launch.grid[2]
        lines = self._lines_of(launch)
        if count < total and (launch.workspace is not None or any(lines[name].waiting for name in reached)):
            count = min(total, max(count, launch.resident))
        launch.begin_cooperation()
        x, y, z = launch.block
        scratch = Scratch(launch, count, -(-x * y * z // 32))
        try:
            with np.errstate(all="ignore"):
                self._run(launch, lines, scratch, count)
        finally:
            scratch.free()

    def _lines_of(self, launch: Launch) -> Lines:
        if launch.program not in self._lines:
            self._lines[launch.program] = Lines(launch.program, launch.device.number)
        return self._lines[launch.program]

    def _run(self, launch: Launch, lines: Lines, scratch: Scratch, count: int) -> None:
        execution = Execution(launch, lines, self.watcher)
        total = launch.grid[0] * launch.grid[1] * launch.grid[2]
        rows = Rows(launch, count, scratch)
        for first in range(0, total, count):
            scratch.clear_shared()
            if total - first < count:
                rows = Rows(launch, total - first, scratch)
            execution.run(Batch(launch, first, rows, self._stacks(launch, len(rows.warp))))
            if launch.progress is not None:
                cast("Callable[[int], object]", launch.progress)(min(first + count, total))

    def _stacks(self, launch: Launch, warps: int) -> BranchStacks | None:
        if self.watcher is not None:
            return BranchStacks(warps, self.watcher.changes)
        return None if launch.breakpoint is None else BranchStacks(warps)


class Execution:
    """One launch. Runs a stack of activations without recursion of its own."""

    def __init__(self, launch: Launch, lines: Lines, watcher: Watcher | None = None) -> None:
        self.launch = launch
        self.lines = lines
        self.watcher = watcher
        self.machine = NumpyMachine(launch, ArenaView(launch))
        self.evaluator: Evaluator[Array] = Evaluator(self.machine, self, lines.environment)
        self.independent = launch.device.independent_threads
        self.has_clock = has_clock(launch.kernel.name, launch.program)
        self.columns: Columns | None = None
        self.ready: dict[Block, list[ReadyOp | Call]] = {}

    def run(self, batch: Batch) -> None:
        """All CTAs of a batch, to their end."""
        self.batch, self.stacks = batch, batch.stacks
        self.machine.begin(batch)
        if self.watcher is not None:
            self.watcher.begins(batch)
        self.barriers = Barriers(batch)
        self.steps = 0
        kernel = Activation(self.lines[self.launch.kernel.name], None, batch.alive.copy(), 0, None, 0)
        self.stack = [kernel]
        while self.stack:
            self._step(self.stack[-1])
        if self.stacks is not None:
            self.stacks.finish()

    def _step(self, activation: Activation) -> None:
        """One block, one latch, or the end of an activation."""
        self.steps += 1
        self._check_time(activation)
        if activation.run is not None:
            self._resume(activation, activation.run)
            return
        slot = activation.lowest(self.independent)
        if self.steps % CHECK_BARRIERS == 0 and activation.depth == 0 and self.barriers.any_parked:
            self.barriers.release(activation)
            slot = activation.lowest(self.independent)
        if slot >= activation.line.parked:
            self._nothing_runs(activation)
            return
        place = activation.line.slots[slot]
        rows, mask = activation.gather(slot)
        if isinstance(place, Loop):
            activation.send(rows, mask, activation.line.header(place))
        else:
            self._start(activation, place, rows, mask)

    def _check_time(self, activation: Activation) -> None:
        deadline = self.launch.deadline
        if deadline is not None and time.monotonic() > deadline:
            self.machine.rows = activation.rows
            site = self.machine.site(activation.live)
            raise LaunchTimeout("the kernel ran past its timeout and was stopped", site)

    def _nothing_runs(self, activation: Activation) -> None:
        if activation.depth > 0:
            self._finish(activation)
        elif not self.barriers.any_parked:
            self.stack.pop()
        elif not self.barriers.release(activation):
            self._deadlock()

    def _deadlock(self) -> None:
        parked = self.barriers.number >= 0
        row, lane = divmod(int(np.argmax(parked)), parked.shape[1])
        site = self.batch.site(row, lane, int(self.barriers.where[row, lane]))
        number = int(self.barriers.number[row, lane])
        raise BarrierError(f"deadlock: threads wait at barrier {number} that can never complete", site)

    # ------------------------------------------------------------------ blocks

    def _start(self, activation: Activation, block: Block, rows: Array | None, mask: Array) -> None:
        absolute = (
            activation.rows if rows is None else rows if activation.rows is None else activation.rows[rows]
        )
        total = len(activation.live)
        columns = Columns(activation.stored, activation.owned, activation.line.kept, rows, total)
        live = activation.live if rows is None else activation.live.take(rows, axis=0)
        full = mask is activation.live or every(mask == live)
        self._resume(activation, Run(block, columns, rows, absolute, mask, full))

    def _resume(self, activation: Activation, run: Run) -> None:
        """Runs a block from where it is to its end or to a call."""
        machine = self.machine
        machine.rows, machine.frame = run.rows, activation.frame
        machine.locals = activation.line.function.local
        self.columns = run.columns
        activation.run = None
        if run.calls:
            self._call_next(activation, run)
            return
        if self.stacks is not None:
            self.stacks.enter(activation, run)
        if self.watcher is not None:
            self.watcher.enters(activation, run)
        ops = self._ready(run.block)
        while run.position < len(ops):
            op = ops[run.position]
            run.position += 1
            if isinstance(op, Call):
                self._call(activation, run, op)
                return
            self._op(op, activation, run)
        if self.has_clock:
            self._tick(run.block.terminator, activation, run)
        run.columns.flush()
        machine.mask = run.mask
        self._leave(activation, run)

    def _tick(self, what: Call | Terminator, activation: Activation, run: Run) -> None:
        """Counts the end of some instructions, and adds them to the clocks of the warps that run. A function
        called through a register may have rows without lanes: their warps do not."""
        self.machine.executed += counts(what)
        self.machine.settle_clock(rows_with_any(run.mask) if activation.depth else None)

    def _ready(self, block: Block) -> list[ReadyOp | Call]:
        ops = self.ready.get(block)
        if ops is None:
            ops = self.ready[block] = ready(block, self.evaluator)
        return ops

    def _op(self, ready: ReadyOp, activation: Activation, run: Run) -> None:
        op, mask, whole = ready.op, run.mask, True
        self.machine.executed += ready.counts
        if op.guard is not None:
            chosen = run.columns.read(op.guard.register)
            mask = mask & (~chosen if op.guard.negated else chosen)
            whole = every(mask == run.mask)
            if whole:
                mask = run.mask
            elif not some(mask):
                if self.watcher is not None:
                    self.watcher.executes(op, mask, activation, run)
                return
        self.machine.line = op.line
        self.machine.mask = mask
        if self.watcher is not None:
            self.watcher.executes(op, mask, activation, run)
        for register, value in zip(ready.results, ready.run(run.columns)):
            if register is not None:
                seen = not whole or (not run.full and register.index in run.columns.kept)
                run.columns.write(register, value, self.machine.lanes if seen else None)

    # ------------------------------------------------------------------ what the evaluator reads

    def register(self, register: Register) -> Array:
        assert self.columns is not None
        return self.columns.read(register)

    def symbol(self, symbol: SymbolAddress) -> Array:
        return self.machine.symbol(symbol)

    def function(self, function: FunctionAddress) -> Array:
        return self.machine.function(function)

    def _column(self, source: Source, t: Type, shape: tuple[int, ...]) -> Array:
        return np.broadcast_to(self.evaluator.source(source, t), shape)

    # ------------------------------------------------------------------ ends of blocks

    def _leave(self, activation: Activation, run: Run) -> None:
        block, line = run.block, activation.line
        self.machine.line = block.terminator.line
        if self.watcher is not None:
            self.watcher.executes(block.terminator, run.mask, activation, run)
        if self.stacks is not None:
            self.stacks.end(activation, run)
        match block.terminator:
            case Jump(target=target):
                activation.send(run.local, run.mask, line.target(block, target))
            case Branch() as branch:
                self._branch(activation, run, branch)
            case Switch() as switch:
                self._switch(activation, run, switch)
            case Barrier() as barrier:
                self._barrier(activation, run, barrier)
            case Return():
                activation.send(run.local, run.mask, line.done)
            case Exit():
                self._exit(activation, run)

    def _branch(self, activation: Activation, run: Run, branch: Branch) -> None:
        p = run.columns.read(branch.predicate)
        taken = run.mask & (~p if branch.negated else p)
        there = activation.line.target(run.block, branch.taken)
        here = activation.line.target(run.block, branch.otherwise)
        if self.stacks is not None:
            self._part(activation, run, self.stacks, [(here, run.mask & ~taken), (there, taken)])
        if not some(taken):
            activation.send(run.local, run.mask, here)
        elif branch.around and not branch.taken.ops and isinstance(branch.taken.terminator, Exit | Return):
            self._end(activation, run, branch.taken, taken)
            activation.send(run.local, run.mask & ~taken, here)
        elif every(taken == run.mask):
            activation.send(run.local, run.mask, there)
        else:
            activation.send(run.local, run.mask & ~taken, here)
            activation.send(run.local, taken, there)

    def _end(self, activation: Activation, run: Run, block: Block, lanes: Array) -> None:
        """Lanes execute a guarded `exit` or `ret`: at once, though it lies behind all loops in the line."""
        self.machine.mask = lanes
        self._leave(activation, Run(block, run.columns, run.local, run.rows, lanes, False))

    def _part(
        self, activation: Activation, run: Run, stacks: BranchStacks, ways: list[tuple[int, Array]]
    ) -> None:
        """Notes which lanes take which way."""
        if self.watcher is not None:
            self.watcher.parts(ways, activation, run)
        stacks.part(activation, run, ways)

    def _switch(self, activation: Activation, run: Run, switch: Switch) -> None:
        index = self._column(switch.index, U32, run.mask.shape)
        wild = run.mask & (index >= len(switch.targets))
        if some(wild):
            self._wild(wild)
        chosen = [int(i) for i in np.unique(index[run.mask])]
        slots = [activation.line.target(run.block, switch.targets[i]) for i in chosen]
        ways = [(slot, run.mask & (index == i)) for i, slot in zip(chosen, slots)]
        if self.stacks is not None:
            self._part(activation, run, self.stacks, ways)
        for slot, mask in ways:
            activation.send(run.local, mask, slot)

    def _wild(self, lanes: Array) -> None:
        message = "indirect branch or call to a target that is none of the listed ones"
        raise KernelFault(message, self.machine.site(lanes))

    def _exit(self, activation: Activation, run: Run) -> None:
        if run.rows is None:
            self.batch.alive = self.batch.alive & ~run.mask
        else:
            self.batch.alive[run.rows] &= ~run.mask
        activation.send(run.local, run.mask, activation.line.done)
        activation.drop(self.batch.alive)

    def _barrier(self, activation: Activation, run: Run, barrier: Barrier) -> None:
        if activation.depth > 0:
            raise BarrierError("a barrier in a recursive function", self.machine.site())
        shape = run.mask.shape
        number = self.evaluator.source(barrier.barrier, U32)
        wrong = run.mask & (number >= BARRIERS)
        if some(wrong):
            value = int(np.broadcast_to(number, shape)[wrong][0])
            raise BarrierError(f"there is no barrier {value}: a CTA has {BARRIERS}", self.machine.site(wrong))
        count = None if barrier.count is None else self._column(barrier.count, U32, shape)
        self.barriers.arrive(run.rows, run.mask, number, count)
        after = activation.line.target(run.block, barrier.next)
        if barrier.action == "arrive":
            self.barriers.count_arrivals(run.rows, run.mask, number)
            activation.send(run.local, run.mask, after)
            return
        p = None if barrier.predicate is None else self._column(barrier.predicate, PRED, shape)
        self.barriers.park(run.rows, run.mask, number, after, barrier, p)
        activation.send(run.local, run.mask, activation.line.parked)

    # ------------------------------------------------------------------ calls

    def _call(self, activation: Activation, run: Run, call: Call) -> None:
        self.machine.line = call.line
        if self.has_clock:
            self._tick(call, activation, run)
        if self.watcher is not None:
            self.watcher.executes(call, run.mask, activation, run)
        if self.stacks is not None and self._has_body(call):
            self.stacks.call(activation, run, call.line)
        if isinstance(call.callee, str):
            run.calls = [(call.callee, run.mask)]
        else:
            run.calls = self._targets(run, call)
        self._call_next(activation, run)

    def _has_body(self, call: Call) -> bool:
        """Whether what is called is no function of the system."""
        return not isinstance(call.callee, str) or call.callee in self.launch.program.functions

    def _targets(self, run: Run, call: Call) -> list[tuple[str, Array]]:
        assert isinstance(call.callee, Register)
        value = np.broadcast_to(run.columns.read(call.callee), run.mask.shape)
        found: list[tuple[str, Array]] = []
        rest = run.mask
        for name in call.candidates:
            lanes = run.mask & (value == self.machine.functions[name])
            rest = rest & ~lanes
            if some(lanes):
                found.append((name, lanes))
        if some(rest):
            self._wild(rest)
        return found

    def _call_next(self, activation: Activation, run: Run) -> None:
        """Pushes the next callee of a call; the block goes on after the last."""
        assert run.calls
        name, lanes = run.calls.pop(0)
        call = run.block.ops[run.position - 1]
        assert isinstance(call, Call)
        self.machine.line = call.line
        self.machine.mask = run.mask
        lanes = lanes & (self.batch.alive if run.rows is None else self.batch.alive[run.rows])
        if name not in self.launch.program.functions:
            self._system_call(name, run, call, lanes)
            activation.run = run
            return
        line = self.lines[name]
        inner = Activation(line, run.rows, lanes, self._frame(activation, line), call, activation.depth + 1)
        for register, source in zip(line.function.parameters, call.arguments):
            have = getattr(source, "type", PRED)
            value = adapt(self.machine, self.evaluator.source(source, have), have, register.type)
            inner.stored[register.index] = value
        activation.run = run
        self.stack.append(inner)

    def _system_call(self, name: str, run: Run, call: Call, lanes: Array) -> None:
        """A function without a body, which the device offers: lane by lane."""
        system = self.launch.system
        assert system is not None
        arguments = [self._bits(source, lanes.shape) for source in call.arguments]
        results = [np.zeros(lanes.shape, dtype_of(bits_type(r.type.bits))) for r in call.results]
        for row, lane in np.argwhere(lanes).tolist():
            site = self.batch.site(row if run.rows is None else int(run.rows[row]), lane, call.line)
            value = system.call(name, site, tuple(int(a[row, lane]) for a in arguments))
            for result in results:
                result[row, lane] = value
        for d, result in zip(call.results, results):
            run.columns.write(d, self.machine.from_bits(d.type, result), Mask(lanes))

    def _bits(self, source: Source, shape: tuple[int, ...]) -> Array:
        t = source_type(source)
        return np.broadcast_to(self.machine.to_bits(t, self.evaluator.source(source, t)), shape)

    def _frame(self, caller: Activation, callee: Line) -> int:
        """Where the callee's local variables begin."""
        function = caller.line.function
        size = max(-(-function.local_size // 16) * 16, CALL_BYTES if callee.function.recursive else 0)
        frame = caller.frame + size
        if frame + callee.function.local_size > self.launch.local_bytes:
            raise stack_overflow(self.machine.site())
        return frame

    def _finish(self, inner: Activation) -> None:
        """Hands the results of a call to the lanes that called."""
        self.stack.pop()
        outer = self.stack[-1]
        run = outer.run
        assert run is not None
        assert inner.call is not None
        lanes = inner.live & (self.batch.alive if run.rows is None else self.batch.alive[run.rows])
        for d, register in zip(inner.call.results, inner.line.function.results):
            value = inner.stored.get(register.index)
            if value is not None:
                run.columns.write(d, adapt(self.machine, value, register.type, d.type), Mask(lanes))
        before = run.mask
        run.narrow(self.batch.alive)
        if some(run.mask != before):
            outer.drop(self.batch.alive)
