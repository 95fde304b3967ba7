"""A compiled kernel made ready for launches: its blocks of memory, and the threads that run it."""

from __future__ import annotations

import struct
import threading
import time
from array import array
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from simt.analysis.joined import is_for_all_grids, never_joined
from simt.engine.abi import (
    REQUEST,
    SHARE,
    CallSlot,
    HelpCell,
    LaunchSlot,
    NoteSlot,
    RepeatSlot,
    WorkerSlot,
    launch_slots,
    slot_count,
)
from simt.engine.blocks import Block, Crew, Need, Worker, local_bytes
from simt.engine.fibers import Fibers
from simt.engine.in_parts import AT_LEAST, run_first_parts
from simt.engine.made import Compiled, Native
from simt.engine.native import python_functions
from simt.engine.native_fault import find_fault
from simt.engine.native_stack import has_room
from simt.engine.pace import Ahead, Missed, Pace
from simt.engine.pool import NOBODY, Pool, Team
from simt.engine.system_gate import SystemGate
from simt.engine.watch import WATCH
from simt.errors import OutOfMemory
from simt.machine.launch import Dim3, Launch
from simt.records import dataclass, field

if TYPE_CHECKING:
    from simt.engine.textures import NativeTextures
    from simt.isa.texels import Sampling

POLL_SECONDS = 0.05
OVERHEAD = 3_000
"""Nanoseconds of a launch that are not the kernel's."""
SHARES = 16
"""Parts into which each worker's share of the CTAs is cut, so that all end at about the same time."""
FEWEST = 4
"""Parts of a launch that is to run alone, for those who help if it is longer than anybody knew. Each part
costs some 30 ns."""
FINER = 4
"""Times as many parts of a long launch: who has the last one of 0.1 ms lets the others wait for that long."""

_ABORT = 8 * LaunchSlot.ABORT // 4
_REQUEST = REQUEST // 4
_FIRST = struct.Struct("=9q")
"""The slots that differ from launch to launch: `LaunchSlot.GRID_X` to `LIMIT`."""
_ALWAYS = struct.Struct("=2q")
"""Those that differ if the grid is the same: `LaunchSlot.GRID_ID` and `LIMIT`."""
_ALWAYS_AT = 8 * LaunchSlot.GRID_ID
_CLEAR, _ALONE = int(LaunchSlot.CLEAR), int(LaunchSlot.ALONE)
_MADE = RepeatSlot.MADE, RepeatSlot.TOTAL, RepeatSlot.COUNTED, RepeatSlot.SHORTEST
_OVER, _SUMMONED = HelpCell.OVER, HelpCell.SUMMONED
_NOT_YET = -1
ANY_NUMBER = (1 << 63) - 1
ALONE = Ahead(-1)
"""Launches of one worker need not be measured."""


@dataclass
class Host:
    """What all launches of an engine share. `fetcher`: see `NativeTextures`. `under_way`: how many of them
    run, on a device of several workers; more than one if a handler of signals launches. Meanwhile no other
    one is alone."""

    native: Native
    pool: Pool
    fetcher: Callable[[Sampling], int]
    under_way: array[int] = field(default_factory=lambda: array("q", [0]))
    missed: Missed = field(default_factory=Missed)


def call_block(host: Host, launches: int, count: int) -> Block:
    """A block of `CallSlot`s. `launches`: address of the addresses of that many launches' blocks."""
    block = Block(slot_count(CallSlot))
    block.slots[CallSlot.LAUNCHES] = launches
    block.slots[CallSlot.COUNT] = count
    for slot, address in python_functions().items():
        block.slots[slot] = address
    return block


class Prepared:
    """A kernel with CTAs of one shape, to be launched any number of times, one launch at a time.

    A launch runs on the thread of its caller, and threads of the pool help if it is long enough to be worth
    it: by the time that earlier launches took, or, if that was misleading, because `tick` finds it still
    running. What needs much native stack, reports progress or is known to call the system runs on the pool
    alone.

    `crew`: given if prepared kernels of a sequence share it.
    """

    def __init__(self, launch: Launch, compiled: Compiled, host: Host, crew: Crew | None = None) -> None:
        self.compiled = compiled
        self.host = host
        self.workers = launch.workers
        self.shares = crew is not None
        """Whether it is one of a sequence, and its blocks are others' too."""
        self.part: tuple[int, int] | None = None
        """The CTAs that the next launch is to run, from a first up to a last, which it does not run; None:
        all."""
        self.done = 0
        """How many of a launch that is cut have run before."""
        self.pace = Pace(together=compiled.spins, doubtful=compiled.locks and not compiled.spins)
        self.crew = crew or Crew(launch.memory, Need.of(launch, compiled.context, compiled.block.warps))
        self._is_for_caller = compiled.shallow
        self._may_be_alone = not compiled.spins  # nothing need be locked then
        self.under_way = host.under_way if launch.workers > 1 else array("q", [0])
        self._ranges = 1 if compiled.spins else launch.workers
        self.block = Block(launch_slots(self._ranges))
        counters = self.block.bytes[8 * LaunchSlot.NEXT_CTA :]
        self._counters, self._zeros = counters, bytes(len(counters))
        self._table = np.array([launch.symbols[name] for name in compiled.symbols] or [0], dtype=np.int64)
        self._fibers: Fibers | None = None
        if compiled.spins and host.native.hire is not None:
            self._fibers = Fibers(launch, compiled, host.native, self.crew, self.block)
            self._grow = self._fibers.grow  # compiled code has its address
        self._halves = self.block.bytes.cast("i")
        stop = partial(_stop, self._halves)  # not a method: nothing is to keep itself alive
        self._gate = (
            SystemGate(compiled.system, stop, Block(slot_count(NoteSlot))) if compiled.system else None
        )
        self._itself = np.array([self.block.address], dtype=np.int64)
        self.call = call_block(host, self._itself.ctypes.data, 1)
        self._native_run, self._call_address = host.native.run, self.call.address
        self._seats = NOBODY  # addresses of those that compiled code asks: as many as `_wanted`
        self._wanted = 0
        self._begun: tuple[Dim3 | None, int, bool] = None, 0, False  # grid, ranges and parts in the slots
        self._deadline: float | None = None
        self._seen = 0
        self._memory = launch.memory
        self._events = launch.events
        self._textures: NativeTextures | None = None
        if compiled.fetches:
            from simt.engine.textures import NativeTextures  # only for textures: start-up time

            self._textures = NativeTextures(compiled.fetches, host.fetcher)
        self._workers_at: dict[tuple[int, int], array[int]] = {}  # addresses, by the first and their number
        self._most = 0  # helpers that may be asked for, at the start or later
        self.repeats: memoryview | None = None
        """The latest `RepeatSlot`s by which compiled code may launch it."""
        self.repeats_timeout: float | None = None
        """Seconds that launches made so may take."""
        self._ahead = ALONE
        self._ended = 0  # when the last launch by Python ended, in nanoseconds
        self._lock = threading.Lock()
        self.help = array("q", (1, 0))
        """`HelpCell`s."""
        self._team: Team | None = None
        self._fill(launch)

    def _fill(self, launch: Launch) -> None:
        """The slots and memory that stay as they are."""
        size = len(launch.parameters)
        parameters = self.crew.allocate(size)
        self._parameters: Any = launch.memory.view(parameters, size).data
        values = {
            LaunchSlot.PARAMETERS: parameters,
            LaunchSlot.BASE: launch.memory.base,
            LaunchSlot.SHARED_BYTES: launch.shared_bytes,
            LaunchSlot.DYNAMIC_SHARED: max(0, launch.shared_bytes - launch.kernel.dynamic_shared),
            LaunchSlot.LOCAL_BYTES: local_bytes(launch),
            LaunchSlot.SYMBOLS: self._table.ctypes.data,
            LaunchSlot.SM_COUNT: launch.device.sm_count,
            LaunchSlot.WARPS_OF_SM: launch.device.max_warps_per_multiprocessor,
            LaunchSlot.SYSTEM: self.host.native.system,
            LaunchSlot.GATE: self._gate.address if self._gate else 0,
            LaunchSlot.YIELD: self.host.native.yields,
            LaunchSlot.DRAIN: self.host.native.drain,
            LaunchSlot.GROW: id(self._grow) if self._fibers else 0,
            LaunchSlot.WORKSPACE: launch.workspace_address,
            LaunchSlot.ENTRY: self.compiled.address,
            LaunchSlot.WORKER: self.crew.worker(0).block.address,
            LaunchSlot.SERVE: self.host.native.serve,
            LaunchSlot.CALL: self.call.address,
            LaunchSlot.ALONE: int(self.workers == 1 and self._may_be_alone),
            LaunchSlot.EVENTS: 0 if self._events is None else self._events.ctypes.data,
        }
        for slot, value in values.items():
            self.block.slots[slot] = value

    def begin(self, launch: Launch, threads: int | None = None) -> int:
        """Writes what differs from launch to launch; the number of CTAs to be run. `threads`: that take part,
        all if it is not given. Others may come later."""
        self._disarm()
        x, y, z = self.compiled.block.grid(launch.grid)
        ctas = x * y * z
        self._deadline = launch.deadline
        ranges = self._ranges if threads is None or threads > self._ranges else threads
        if (launch.grid, ranges, self.pace.long) == self._begun:
            _ALWAYS.pack_into(self.block.bytes, _ALWAYS_AT, launch.cells[1], launch.memory.limit)
        else:
            extents = x, y, z, ctas, self._chunk(ctas, ranges), ranges, -(-ctas // ranges)
            _FIRST.pack_into(self.block.bytes, 0, *extents, launch.grid_id, launch.memory.limit)
            self.block.slots[LaunchSlot.GRID_COLUMNS] = launch.grid[0]
            self._begun = launch.grid, ranges, self.pace.long
        self._counters[:] = self._zeros
        self._parameters[:] = launch.parameters
        if self._textures is not None:
            self.block.slots[LaunchSlot.TEXTURES] = self._textures.begin(launch)
        if launch.workspace is not None:
            launch.begin_cooperation()
        if self._gate is not None:
            self._gate.begin(launch)
        if self._fibers is not None:
            self._fibers.begin(threads or self.workers, cooperative=launch.workspace is not None)
        if self.part is None:
            return ctas
        self._cut(*self.part, self._parts(ranges))
        return self.part[1] - self.part[0]

    def _cut(self, first: int, last: int, parts: int) -> None:
        """The launch that has been begun is to run some CTAs, which are cut into so many parts."""
        slots = self.block.slots
        self._begun = None, 0, False
        slots[LaunchSlot.RANGES] = 1
        slots[LaunchSlot.NEXT_CTA], slots[LaunchSlot.RANGE] = first, last
        slots[LaunchSlot.CHUNK] = max(1, (last - first) // parts) if parts else last - first

    def _chunk(self, ctas: int, ranges: int) -> int:
        if self.compiled.spins:
            return 1
        parts = self._parts(ranges)
        return max(1, ctas // parts) if parts else ctas

    def _parts(self, ranges: int) -> int:
        """Into which the CTAs are cut; 0 if one worker runs them all."""
        if self.workers == 1:
            return 0
        if ranges == 1:
            return max(FEWEST, self.workers)
        return self.workers * (SHARES * FINER if self.pace.long else SHARES)

    @property
    def is_timed(self) -> bool:
        """After `again` and `other_grids`: whether launches by compiled code are to be measured."""
        return self.workers > 1 and (self._ahead.timed or self._ahead.missed)

    def takes_grids(self, launch: Launch) -> bool:
        """Whether launches with other grids run the same code in the same way."""
        compiled = self.compiled
        same_code = is_for_all_grids(compiled.block) or never_joined(launch.block, launch.kernel)
        return same_code and not (compiled.spins or compiled.block.joins or launch.workspace is not None)

    def other_grids(self, launch: Launch) -> tuple[int, int, int] | None:
        """After `again`: the fewest and the most CTAs of other grids that compiled code may launch in the
        same way, and into how many parts it is to cut them. None: it may launch no other."""
        if not self.takes_grids(launch):
            return None
        if self.workers == 1:
            return 1, ANY_NUMBER, 0
        x, y, z = launch.grid
        if x * y * z == 1:  # nothing is known of more
            return 1, 1, self._parts(1)
        least, most = self.pace.span(x * y * z, self._ahead, self.workers - 1)
        least = max(least, self.workers) if self._ahead.helpers else least
        return least, most, self._parts(self.block.slots[LaunchSlot.RANGES])

    def alone(self) -> None:
        """The launch that has been begun, and later runs of it, are one worker's."""
        self._begun = None, 0, False
        slots = self.block.slots
        slots[_ALONE] = self._may_be_alone
        slots[LaunchSlot.RANGES] = 1
        slots[LaunchSlot.RANGE] = slots[LaunchSlot.CHUNK] = slots[LaunchSlot.CTAS]

    @property
    def is_plain(self) -> bool:
        """Whether a launch on the thread of its caller is all that there is to it."""
        more = self._fibers, self._events, self._textures, self._gate
        return self._is_for_caller and all(part is None for part in more)

    def run(self, launch: Launch) -> None:
        """Runs a launch on this thread where it has enough native stack, and Python can go on if it has to;
        else on others. Raises `KernelFault`, or what a handler of signals raises."""
        try:
            if self._is_for_caller and launch.progress is None and not self._calls and has_room():
                self.here(launch)
            else:
                self.elsewhere(launch)
        finally:
            if self._gate is not None:
                self._gate.end()

    @property
    def _calls(self) -> bool:
        """Whether the next launch will probably call the system, as the latest one did: a thread of the pool
        makes such calls itself, that of the caller leaves each to another."""
        return self._gate is not None and self._gate.called

    # -- on the thread of the caller ---------------------------------------------------------------

    def here(self, launch: Launch) -> None:
        """Runs a launch on this thread. Raises `KernelFault`, or what a handler of signals raises."""
        self._disarm()  # so that launches by compiled code count before it is asked who is to help
        if self.part is None:
            x, y, z = self.compiled.block.grid(launch.grid)
            ctas = x * y * z
        else:
            ctas = self.part[1] - self.part[0]
        self._most = most = min(self.workers, ctas) - 1
        start = time.perf_counter_ns() if most else 0
        awake, missed = (self.host.pool.awake if most else 0), self.host.missed
        wakes = awake == 0 and missed.is_enough(start)
        helpers = self.pace.helpers(ctas, awake > 0 or wakes, most) if most else 0
        if helpers > awake:
            self.host.pool.expect(helpers)
        if self.workers > 1:
            self._choose(ctas, helpers, wakes=True)
        self.begin(launch, helpers + 1)
        if self._gate is not None:
            self.host.pool.expect(helpers + 1)  # one more, to whom this thread leaves calls of the system
            self.block.slots[LaunchSlot.NOTE] = self._gate.note(self.host.pool.roster)
        start = time.perf_counter_ns() if most else 0
        if most and self.pace.doubtful and self._is_to_be_tried(ctas):
            self._run_in_parts(launch, ctas, helpers or most)
        else:
            self._run_here(launch)
            if most:
                self._ended = end = time.perf_counter_ns()
                self._learn(end - start, ctas, helpers)
                if awake == helpers == 0 and self.pace.would_help(ctas, most):
                    missed.add(start, end, end - start)
        if self._fibers is not None:
            self._fibers.end()

    def _run_here(self, launch: Launch) -> None:
        """Runs what the slots say."""
        self._team = None
        self.help[_OVER] = 0
        others = self.under_way[0]
        self.under_way[0] = others + 1
        try:
            WATCH.running.add(self)  # as `WATCH.add`, without another function: see `simt.driver.again`
            WATCH.count += 1
            if not WATCH.cell[0]:  # as `awake`
                WATCH.wake()
            done = self._native_run(self._call_address)
            WATCH.running.discard(self)
            late = self.workers > 1 and self._end(launch)
        except BaseException:  # Ctrl-C
            self.interrupted()
            raise
        finally:
            self.under_way[0] = others
        if done != 1 or late or self._halves[_ABORT]:
            self.raise_fault(launch, late or self.is_late(launch))
        self.block.slots[_CLEAR] = 1

    def _choose(self, ctas: int, helpers: int, wakes: bool) -> None:
        """So many threads are to help; others only if the launch turns out to be long."""
        self._most = 0 if helpers == 0 and self.pace.is_best_alone(ctas) else min(self.workers, ctas) - 1
        self.block.slots[_ALONE] = helpers == 0 and self._may_be_alone and not self.under_way[0]
        if helpers or self._wanted:
            self._want(helpers, wakes)

    def _is_to_be_tried(self, ctas: int) -> bool:
        """Whether it is time to see if it is better to be alone."""
        return self.part is None and ctas >= AT_LEAST * self.workers and self.pace.is_to_be_cut(ctas)

    def _run_in_parts(self, launch: Launch, ctas: int, helpers: int) -> None:
        """Runs the launch that has been begun: see `simt.engine.in_parts`."""

        def run(first: int, last: int, helped: bool) -> tuple[int, int]:
            self._cut(first, last, self._parts(self._ranges if helped else 1))
            self._choose(ctas, helpers if helped else 0, wakes=True)
            start = time.perf_counter_ns()
            self._run_here(launch)
            spent = time.perf_counter_ns() - start
            return spent, 1 + (max(0, self.call.slots[CallSlot.BEGUN]) if helped else 0)

        found, done = run_first_parts(run, ctas, helpers + 1)
        if found.tells:
            pays = not found.hinders
            self.pace.learn(ctas, found.alone, found.best_together, helpers, pays)
        else:
            self.pace.note(ctas, found.alone * ctas, 0)
        if done < ctas:
            run(done, ctas, found.helps(ctas - done))

    def _want(self, helpers: int, wakes: bool) -> None:
        """Compiled code is to ask so many threads that wait on their seats, or sleep there if it `wakes`
        them. None if there is no memory."""
        slots = self.call.slots
        if helpers != self._wanted:
            self._wanted = _NOT_YET  # where Ctrl-C comes before the end, the next launch does all again
            try:
                workers = self._workers(1, helpers)
            except OutOfMemory:
                helpers, workers = 0, NOBODY
            self._seats = array("q", bytes(8 * helpers))
            slots[CallSlot.WORKERS] = workers.buffer_info()[0]
            slots[CallSlot.SEATS] = self._seats.buffer_info()[0]
            slots[CallSlot.WANTED] = helpers
            self._wanted = helpers
        if helpers:
            slots[CallSlot.ROSTER] = self.host.pool.roster
            slots[CallSlot.ASKED] = slots[CallSlot.BEGUN] = _NOT_YET
            slots[CallSlot.ENDED] = 0
            slots[CallSlot.WAKES] = wakes

    def is_short(self, launch: Launch) -> bool:
        """Whether it is known that a launch is not worth the help of other threads."""
        x, y, z = self.compiled.block.grid(launch.grid)
        most = min(self.workers, x * y * z) - 1
        if self.compiled.spins and x * y * z > 1:
            return False  # in a batch, one worker claims all CTAs at once
        return not most or self.pace.helpers(x * y * z, awake=False, most=most) == 0

    def again(self, launch: Launch) -> int:
        """Makes the blocks ready for the same launch once more, by compiled code: for so many launches, after
        which Python looks how long they took. Zero: for none; below zero: for any number."""
        self._disarm()
        x, y, z = self.compiled.block.grid(launch.grid)
        most = min(self.workers, x * y * z) - 1
        awake = self.host.pool.awake if most else 0
        self._ahead = ahead = self.pace.ahead(x * y * z, most, awake > 0) if most else ALONE
        helpers = ahead.helpers
        if ahead.launches == 0 or (helpers and not ahead.wakes and helpers > awake):
            return 0
        if self.workers > 1:
            self._choose(x * y * z, helpers, ahead.wakes)
        self.begin(launch, helpers + 1)
        self._team = None
        return ahead.launches

    def _disarm(self) -> None:
        """Compiled code makes no launch by itself from now on."""
        if self.repeats is not None:
            self.repeats[RepeatSlot.ARMED] = 0
            made, *times = (self.repeats[slot] for slot in _MADE)
            self._ahead.made(made, *times)
            total, count, _ = times
            if count and self._ahead.missed:
                ended = self.repeats[RepeatSlot.BEGAN] + total // count
                self.host.missed.add(self._ended, ended, total)
            if made:
                self._begun = None, 0, False  # the last one may have had another grid
            self.repeats[RepeatSlot.MADE] = 0

    def _learn(self, elapsed: int, ctas: int, helpers: int) -> None:
        """`helpers`: that were asked at the start. Those who came later only show that it took long alone.
        Who had to lock was not alone, though none of those who were asked may have come."""
        begun = self.call.slots[CallSlot.BEGUN] if self._wanted else 0
        came = self.compiled.locks or begun > 0 or (self._team is not None and self._team.begun > 0)
        self.pace.note(ctas, max(0, elapsed - OVERHEAD), helpers if came else 0)

    def tick(self, now: float) -> None:
        """Lets the caller's thread look for signals, stops a launch that is late, gets help for long ones."""
        grid = self.block.slots[LaunchSlot.GRID_ID]
        deadline = self._present_deadline
        if deadline is not None and now > deadline:
            self.call.slots[CallSlot.EXPIRED] = grid
        self.request()
        if self._seen == grid and self._most:
            if self.block.slots[_ALONE]:
                self._halves[_REQUEST] = SHARE
            else:
                self._summon(self._most)
            if self.repeats is not None:
                self.repeats[RepeatSlot.ARMED] = 0  # Python is to see that it takes long
        self._seen = grid

    @property
    def _present_deadline(self) -> float | None:
        """Of the launch that runs: Python's, or one that compiled code has made."""
        repeats, timeout = self.repeats, self.repeats_timeout
        if repeats is None or not repeats[RepeatSlot.MADE]:
            return self._deadline
        return None if timeout is None else repeats[RepeatSlot.BEGAN] / 1e9 + timeout

    def is_late(self, launch: Launch) -> bool:
        """Whether a launch that was stopped was so because its time was over."""
        return self.call.slots[CallSlot.EXPIRED] == launch.grid_id

    def request(self) -> None:
        """The caller's thread is to look for signals."""
        self._halves[_REQUEST] = 1

    def _summon(self, helpers: int) -> None:
        with self._lock:
            self.help[_SUMMONED] = 1
            if (
                self.help[_OVER]
                or self.block.slots[_ALONE]  # a later launch is, that has begun meanwhile
                or self._team is not None
                or (self._wanted and self.call.slots[CallSlot.ASKED])
            ):
                return
            try:
                team = self._assemble(1, helpers)
            except OutOfMemory:
                self._most = 0  # it goes without
                return
            self._team = team if team.begun else None  # others may be free when it is looked at again

    def _assemble(self, first: int, count: int) -> Team:
        workers = self._workers(first, count)
        self.block.slots[LaunchSlot.LIMIT] = self._memory.limit  # their memory may lie above the old one
        return self.host.pool.team(self.compiled.address, self.block.address, workers, needed=first == 0)

    def _workers(self, first: int, count: int) -> array[int]:
        """Addresses of workers' blocks. Raises `OutOfMemory`."""
        workers = self._workers_at.get((first, count))
        if workers is None:
            workers = array("q", [self.crew.worker(n).block.address for n in range(first, first + count)])
            self._workers_at[first, count] = workers
        return workers

    def _end(self, launch: Launch) -> bool:
        """Waits for those that help; whether they had to be stopped because the deadline passed."""
        with self._lock:
            self.help[_OVER] = 1
            self.help[_SUMMONED] = 0
        self._team = self._team or self._asked()
        if self._team is None:
            return False
        self._halves[_REQUEST] = 0  # nobody is left who would serve it
        self._team.close()
        return self._wait(self._team, launch)

    def _asked(self) -> Team | None:
        """Those whom compiled code has asked, if any has begun and not ended."""
        slots = self.call.slots
        if not self._wanted or slots[CallSlot.ENDED] or slots[CallSlot.BEGUN] <= 0:
            return None
        seats = self._seats[: slots[CallSlot.BEGUN]]
        return Team(self.host.native, seats, slots[CallSlot.TICKET])

    def finish(self) -> None:
        """Waits for those who help with a launch that compiled code has made: it asked them, or `tick` found
        it long. It is over for others."""
        try:
            with self._lock:  # who is asking them now has done so then
                self.help[_SUMMONED] = 0
            self._team = self._team or self._asked()
            if self._team is not None:
                self._halves[_REQUEST] = 0  # nobody is left who would serve it
                self._team.close()
                deadline = self._present_deadline
                while self._team.busy:
                    if not self._team.ended(POLL_SECONDS) and deadline is not None:
                        self._stop_if_late(deadline)
        except BaseException:
            self.interrupted()
            raise
        self._team = None

    def _stop_if_late(self, deadline: float) -> None:
        if time.monotonic() > deadline:
            self.call.slots[CallSlot.EXPIRED] = self.block.slots[LaunchSlot.GRID_ID]
            self.stop()

    def _wait(self, team: Team, launch: Launch) -> bool:
        late = False
        while team.busy:
            if team.ended(POLL_SECONDS):
                continue
            if not late and launch.deadline is not None and time.monotonic() > launch.deadline:
                self.stop()
                late = True
            self._report(launch)
        return late

    def _report(self, launch: Launch) -> None:
        if callable(launch.progress):
            finished = sum(w.block.slots[WorkerSlot.FINISHED] for w in self._everyone)
            x, y, z = launch.grid
            launch.progress(min((self.done + finished) * self.compiled.block.ctas, x * y * z))

    def interrupted(self) -> None:
        """Nothing runs any more when an exception leaves the launch."""
        self.stop()
        with self._lock:
            self.help[_OVER] = 1
        WATCH.remove(self)
        self._team = self._team or self._asked()
        if self._team is not None:
            self._team.close()
            while self._team.busy:
                self._team.ended(POLL_SECONDS)

    # -- on other threads --------------------------------------------------------------------------

    def elsewhere(self, launch: Launch) -> None:
        """Runs a launch on threads of the pool; Python on this one goes on handling signals."""
        count = min(self.workers, self.begin(launch))
        self.block.slots[LaunchSlot.NOTE] = 0
        for worker in self.crew.workers:
            worker.block.slots[WorkerSlot.FINISHED] = 0
        others = self.under_way[0]
        self.block.slots[_ALONE] = count == 1 and self._may_be_alone and not others
        self.help[_OVER] = 1  # nobody else is to help
        self._team = team = self._assemble(0, count)
        self.under_way[0] = others + 1
        try:
            late = self._first_ends(team, launch)
            team.close()
            late |= self._wait(team, launch)
        except BaseException:
            self.interrupted()
            raise
        finally:
            self.under_way[0] = others
        if late or self._halves[_ABORT]:
            self.raise_fault(launch, late)
        self._report(launch)
        self.block.slots[_CLEAR] = 1
        if self._fibers is not None:
            self._fibers.end()

    def _first_ends(self, team: Team, launch: Launch) -> bool:
        """Waits until a worker has found no CTA left; whether the deadline passed first."""
        late = False
        while not team.ended(POLL_SECONDS, 1):
            if not late and launch.deadline is not None and time.monotonic() > launch.deadline:
                self.stop()
                late = True
            self._report(launch)
        return late

    # -- ends ----------------------------------------------------------------------------------------

    def stop(self) -> None:
        _stop(self._halves)

    def raise_fault(self, launch: Launch, late: bool) -> None:
        """Raises what stopped a launch, if anything did; `late`: it was stopped because its time was over."""
        fault = find_fault(launch, self._everyone, self._gate, late, self.compiled.block)
        if fault is None:
            return
        if late and self._fibers is not None and (note := self._fibers.explain()) is not None:
            fault.add_note(note)
        raise fault

    @property
    def _everyone(self) -> list[Worker]:
        """Workers that take part in a launch, or may."""
        fibers = [] if self._fibers is None else self._fibers.members[: self._fibers.used]
        return [*self.crew.workers, *fibers]

    def close(self) -> None:
        """Frees device memory at once."""
        self._disarm()
        self._gate = None
        self.crew.close()


def _stop(halves: memoryview) -> None:
    """Ends the launch whose block this is, read as halves of slots."""
    halves[_ABORT] = 1
