"""One call of a function by many lanes: their registers, and where each of them waits."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simt.analysis.meetings import ALL_LANES, gates, meeting_blocks
from simt.analysis.program import Block, Call, Constant, Function, Op, Program, Register
from simt.analysis.schedule import Loop, schedule
from simt.analysis.ssa import build
from simt.analysis.waiting import waiting_loops
from simt.engine.batch import WARP
from simt.engine.interpreter_registers import kept_registers
from simt.engine.numpy_algebra import dtype_of
from simt.engine.numpy_select import Mask, assign, every, rows_with_any, some
from simt.isa.algebra import Environment
from simt.records import dataclass, replace

Array = NDArray[Any]


class Line:
    """The places of a function at which lanes wait: the schedule's slots by number, then two more.

    `parked`: at a barrier. `done`: returned or exited.
    """

    def __init__(self, name: str, functions: Mapping[str, Function], environment: Environment) -> None:
        self.function = function = functions[name]
        self.functions = functions
        self.environment = environment
        self.schedule = schedule(function)
        self.slots = self.schedule.slots
        self._block = {s.index: i for i, s in enumerate(self.slots) if isinstance(s, Block)}
        self._latch = {s.header.index: i for i, s in enumerate(self.slots) if isinstance(s, Loop)}
        self.parked = len(self.slots)
        self.done = len(self.slots) + 1
        self.dtype = np.dtype(np.int16 if self.done < 2**15 else np.int32)
        self.kept = kept_registers(function)

    def target(self, source: Block, target: Block) -> int:
        """Where lanes wait that go from one block to another."""
        if self.schedule.is_back_edge(source, target):
            return self._latch[target.index]
        return self._block[target.index]

    def slot(self, block: Block) -> int:
        """Where lanes wait for a block."""
        return self._block[block.index]

    def loops(self, block: Block) -> list[tuple[Loop, int]]:
        """The loops around a block from the outermost, each with the slot of its latch."""
        found: list[tuple[Loop, int]] = []
        loop = self.schedule.loop_of[block.index]
        while loop is not None:
            found.insert(0, (loop, self._latch[loop.header.index]))
            loop = loop.parent
        return found

    @cached_property
    def gates(self) -> dict[int, Op | None]:
        """By slot of a block: the instruction whose mask says for which lanes others wait before the block,
        None where they wait for their whole warp."""
        order = self.schedule.order
        found = gates(order, self.environment, self.functions)
        whole = [] if found else meeting_blocks(order, self.environment, self.functions)
        return {self._block[i]: op for i, op in (found or {b.index: None for b in whole}).items()}

    @cached_property
    def is_gate(self) -> Array:
        """By place: whether it is a gate's slot."""
        return np.array([place in self.gates for place in range(self.done + 1)])

    @cached_property
    def waiting(self) -> frozenset[int]:
        """Latches of loops in which threads may wait for others, which may be of CTAs that a GPU runs at the
        same time."""
        loops = waiting_loops(build(self.function, self.schedule), self.environment, self.functions)
        return frozenset(self._latch[loop.header.index] for loop in loops)

    def header(self, loop: Loop) -> int:
        return self._block[loop.header.index]


class Lines(dict[str, Line]):
    """Those of a program's functions on a device, each made when it is first asked for."""

    def __init__(self, program: Program, machine: int) -> None:
        """`machine`: the number of the device."""
        super().__init__()
        self.environment = replace(program.environment, machine=machine)
        self._functions = program.functions

    def __missing__(self, name: str) -> Line:
        self[name] = made = Line(name, self._functions, self.environment)
        return made


class Columns:
    """The registers of one activation as one run of a block sees them: only the rows that run.

    Arrays are never changed once they are visible as values; what is written replaces them. Only
    arrays in `owned` (nobody else has them) are updated in place. Registers that are not `kept` hold
    nothing that another block, or a lane that does not run, needs.
    """

    def __init__(
        self, stored: dict[int, Array], owned: set[int], kept: frozenset[int], rows: Array | None, total: int
    ) -> None:
        self.stored = stored
        self.kept = kept
        self.owned = owned
        self.rows = rows
        self.total = total
        self.current: dict[int, Array] = {}
        self.dirty: set[int] = set()

    def read(self, register: Register) -> Array:
        value = self.current.get(register.index)
        if value is None:
            value = self.current[register.index] = self._fetch(register)
        return value

    def _fetch(self, register: Register) -> Array:
        value = self.stored.get(register.index)
        if value is None:
            return np.zeros(1, dtype_of(register.type))
        if self.rows is None:
            self.owned.discard(register.index)
            return value
        return value.take(self.rows, axis=0) if value.ndim == 2 and len(value) == self.total else value

    def write(self, register: Register, value: Array, mask: Mask | None) -> None:
        """Sets the lanes of `mask`, all if None (then no other lane of these rows matters)."""
        if mask is not None:
            value = mask.select(value, self.read(register))
        self.current[register.index] = value
        if register.index in self.kept:
            self.dirty.add(register.index)

    def flush(self) -> None:
        """Writes back what changed."""
        for index in self.dirty:
            value = self.current[index]
            if self.rows is None:
                self.stored[index] = value
                self.owned.discard(index)
            else:
                self._update(index, value)
        self.dirty.clear()

    def _update(self, index: int, value: Array) -> None:
        whole = self.stored.get(index)
        if index not in self.owned or whole is None:
            old = np.zeros(1, value.dtype) if whole is None else whole
            whole = self.stored[index] = np.broadcast_to(old, (self.total, WARP)).copy()
            self.owned.add(index)
        whole[self.rows] = value


@dataclass(slots=True)
class Run:
    """A block being executed by the lanes of `mask`, of the rows that `columns` holds.

    `rows`: absolute rows in the batch, None for all. `position`: the next op. `calls`: what an
    indirect call has still to call, with its lanes.
    """

    block: Block
    columns: Columns
    local: Array | None
    rows: Array | None
    mask: Array
    full: bool
    position: int = 0
    calls: list[tuple[str, Array]] | None = None

    def narrow(self, alive: Array) -> None:
        """Takes out lanes that have exited."""
        self.mask = self.mask & (alive if self.rows is None else alive[self.rows])


class Activation:
    """`rows`: absolute rows in the batch, None for all. `live`: its lanes, (rows, 32)."""

    def __init__(
        self, line: Line, rows: Array | None, live: Array, frame: int, call: Call | None, depth: int
    ) -> None:
        self.line = line
        self.rows = rows
        self.live = live
        self.frame = frame
        self.call = call
        self.depth = depth
        self.waiting = np.where(live, 0, line.done).astype(line.dtype)
        self.together: int | None = 0 if some(live) else line.done
        self.stored: dict[int, Array] = {}
        self.owned: set[int] = set()
        self.run: Run | None = None
        self.floor = 0
        self.floor_steps = 0
        self.visits: dict[int, int] = {}
        self.patience: dict[int, int] = {}
        self.turns: dict[int, int] = {}
        self._apart = False  # lanes beyond the loop that spins may run, though others of their warp are in it
        self._parted = False  # they did
        self._held: Array | None = None  # lanes before a gate that wait for others

    # ------------------------------------------------------------------ where lanes wait

    def gather(self, slot: int) -> tuple[Array | None, Array]:
        """Rows (of this activation; None: all) and mask of the lanes that wait at a slot."""
        if self.together == slot and self.floor == 0:
            return None, self.live
        self.scatter()
        where = self.waiting == slot
        if self._held is not None:
            where &= ~self._held
        busy = rows_with_any(where)
        if self.floor:
            busy &= self._eligible()
            where &= busy[:, None]
        if every(busy):
            if every(where == self.live):
                self.together = slot
                return None, self.live
            return None, where
        rows = np.flatnonzero(busy)
        return rows, where[rows]

    def scatter(self) -> None:
        """Makes `waiting` right after a time in which all lanes were together."""
        if self.together is not None:
            here = self.line.dtype.type(self.together)
            self.waiting = np.where(self.live, here, self.line.dtype.type(self.line.done))
            self.together = None

    def gather_if_together(self) -> None:
        """Notes it if all live lanes wait at one slot."""
        live = self.live.ravel()
        first = self.waiting.ravel()[np.argmax(live)]
        if some(live) and every((self.waiting == first) | ~self.live):
            self.together = int(first)

    def send(self, rows: Array | None, mask: Array, slot: int) -> None:
        """Lanes go to wait at a slot."""
        if rows is None and mask is self.live:
            self.together = slot
            return
        self.scatter()
        if rows is None:
            assign(self.waiting, mask, slot)
        else:
            part = self.waiting.take(rows, axis=0)
            assign(part, mask, slot)
            self.waiting[rows] = part

    def drop(self, alive: Array) -> None:
        """Takes out lanes that have exited."""
        self.scatter()
        self.live = self.live & (alive if self.rows is None else alive[self.rows])
        assign(self.waiting, ~self.live, self.line.done)

    # ------------------------------------------------------------------ which lanes run next

    SPINS = 2048
    """Visits of a loop's latch after which lanes that wait beyond the loop get a chance."""
    FEWEST_SPINS = 4
    """The same for a loop that was found spinning again and again: probably a lock."""
    CHANCE = 256
    """Blocks that such lanes may then run."""

    def lowest(self, independent: bool) -> int:
        """The slot to run next; `parked` or `done` if no lane can run.

        It is the first of the line with waiting lanes. A loop that spins for long may wait for lanes
        beyond it: those then run for a while, first those of warps that are beyond it as a whole, in
        the loop's next turn all of them where lanes of a warp are `independent`. They may come to spin
        as well, for lanes that are beyond them: so it goes on along the line, then from its start. Since
        lanes of a warp were parted so, they wait for each other at gates.
        """
        self._held = None
        if self.together is not None:
            self.floor = 0
            return self.together
        self._held = self._find_held() if self._parted else None
        slot = self._beyond() if self.floor else self._first()
        while self._is_latch(slot) and self._spins(slot):
            self._leave_behind(slot, independent)
            slot = self._beyond()
        if self.visits and not self.floor:
            self.visits = {s: n for s, n in self.visits.items() if s >= slot}
        return slot

    def _is_latch(self, slot: int) -> bool:
        return slot < self.line.parked and isinstance(self.line.slots[slot], Loop)

    def _spins(self, slot: int) -> bool:
        """Counts a visit of a latch; whether there were so many that lanes beyond it are to run."""
        self.visits[slot] = self.visits.get(slot, 0) + 1
        return self.visits[slot] >= self.patience.get(slot, self.SPINS)

    def _leave_behind(self, slot: int, independent: bool) -> None:
        """Only lanes beyond a latch may run for a while."""
        del self.visits[slot]
        self.patience[slot] = max(self.patience.get(slot, self.SPINS) // 4, self.FEWEST_SPINS)
        self.turns[slot] = self.turns.get(slot, 0) + 1
        self.floor, self.floor_steps = slot + 1, self.CHANCE
        self._apart = self.turns[slot] % 2 == 0 and independent and slot in self.line.waiting
        if self._apart and not self._parted:
            self._parted, self._held = True, self._find_held()

    def _eligible(self) -> Array:
        """Rows with lanes beyond the loop that spins."""
        if self._apart:
            return np.asarray((self.waiting >= self.floor).any(axis=1))
        return np.asarray(self.waiting.min(axis=1) >= self.floor)

    def _beyond(self) -> int:
        """The lowest slot past the loop that spins; back to normal when there is none."""
        self.floor_steps -= 1
        busy = self.waiting[self._eligible()]
        goes = (busy >= self.floor) & (busy < self.line.parked)
        if self._held is not None:
            goes &= ~self._held[self._eligible()]
        beyond = busy[goes]
        if self.floor_steps > 0 and beyond.size:
            return int(beyond.min())
        self.floor = 0
        return self._first()

    def _first(self) -> int:
        """The first slot of the line with lanes that can run."""
        places = self.waiting if self._held is None else np.where(self._held, self.line.done, self.waiting)
        return int(places.min())

    # ------------------------------------------------------------------ gates

    def _find_held(self) -> Array | None:
        """Lanes before gates that wait for others of their warp. Those at the first gate of a warp in which
        nobody else can run wait no longer."""
        at_gates = self.line.is_gate[self.waiting]
        if not some(at_gates):
            return None
        run = self.waiting < self.line.parked
        held = np.zeros_like(run)
        for slot in np.unique(self.waiting[at_gates]):
            here = self.waiting == slot
            held |= here & ((self._wanted(self.line.gates[int(slot)]) & _bits_of(run & ~here)) != 0)
        stuck = ~(run & ~held).any(axis=1, keepdims=True)
        places = np.where(held, self.waiting, self.line.done)
        return held & ~(stuck & (places == places.min(axis=1, keepdims=True)))

    def _wanted(self, op: Op | None) -> Array:
        """The lanes for which each lane waits at an instruction: none where its guard does not hold."""
        if op is None:
            return np.array(ALL_LANES, np.uint32)
        mask = op.sources["mask"]
        assert isinstance(mask, Register | Constant)
        wanted = self._stored(mask) if isinstance(mask, Register) else np.array(mask.bits, np.uint32)
        if op.guard is None:
            return wanted
        chosen = self._stored(op.guard.register)
        return np.where(~chosen if op.guard.negated else chosen, wanted, np.uint32(0))

    def _stored(self, register: Register) -> Array:
        """What lanes that run no block have in a register, as bits or as a predicate."""
        value = self.stored.get(register.index)
        if value is None:
            value = np.zeros(1, dtype_of(register.type))
        return value if value.dtype == np.bool_ else value.view(np.uint32)


def _bits_of(lanes: Array) -> Array:
    """A number for each row, with a bit for each lane: (rows, 1)."""
    return np.packbits(lanes, axis=1, bitorder="little").view("<u4")
