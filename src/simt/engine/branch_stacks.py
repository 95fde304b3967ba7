"""The branch synchronisation stacks of the warps of a batch, which the interpreter keeps while it runs.

Where lanes of a warp part, the mask of those that were together is pushed; where others of them run, the mask
is complemented; where all of them are together again, it is popped. Loops and calls have entries too: lanes
that leave a loop, or return, wait for the others of its entry. A lane that exits is taken off all entries.

Which lanes run next is decided by the schedule (`simt.analysis.schedule`). That differs from a stack in two
ways: some lanes of an entry may meet before all of them do (a *join*); and while a loop waits for other
threads, or after a barrier that not all lanes came to at once, lanes run that the top entry is not for (a
*switch*).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simt.analysis.program import Block, Branch, Exit, Return, Switch
from simt.analysis.schedule import Loop
from simt.engine.interpreter_activation import Activation, Run
from simt.engine.stack_entries import (
    BRANCH,
    CALL,
    INSIDE,
    KIND,
    KINDS,
    LATCH,
    LEVEL,
    LINE,
    LOOP,
    MASK,
    Entries,
)
from simt.machine.launch import StackEntry
from simt.records import dataclass

Array = NDArray[Any]
APART = -1
"""In place of an active mask: the lanes that ran last have parted."""


@dataclass(frozen=True, slots=True)
class Change:
    """What happens to the stacks of some warps at once. `name`: push, complement, pop, join or switch.
    `kind`: of the entries pushed. Of each warp, by its row in the batch: `masks`, the lanes pushed or
    restored, else those that run from now on; `depths`, entries on the stack afterwards; `lines`, of the
    instruction that the entry pushed or popped, else the top entry, is for, 0 if there is none."""

    name: str
    kind: str
    warps: Array
    masks: Array
    depths: Array
    lines: Array


class BranchStacks:
    """One stack for each row of a batch. `active`: the lanes of each that ran last, or `APART`. `told`: is
    given every change."""

    def __init__(self, warps: int, told: Callable[[Change], object] | None = None) -> None:
        self.active = np.full(warps, APART, np.int64)
        self._all = np.arange(warps)
        self._entries = Entries(warps)
        self._guards: dict[int, Array] = {}
        self._told = told

    def of(self, warp: int) -> tuple[StackEntry, ...]:
        """A warp's stack, the oldest entry first; lines count through the whole program's text."""
        cells: list[list[int]] = self._entries.cells[:, 1 : self._entries.depth[warp] + 1, warp].T.tolist()
        return tuple(StackEntry(KINDS[c[KIND]], c[MASK], c[LINE]) for c in cells)

    # ------------------------------------------------------------------ what the interpreter does

    def enter(self, activation: Activation, run: Run) -> None:
        """Lanes begin a block, or go on with it after a call."""
        warps, masks = self._running(run)
        if not len(warps):
            return
        level = activation.depth
        self._pop_finished(level, warps, masks)
        self._leave_unfinished(level, warps)
        if run.position == 0:
            for loop, latch in activation.line.loops(run.block):
                self._come_into(activation, run.block, loop, latch, warps, masks)
            self._end_guards(level, activation.line.slot(run.block), warps)
        self._compare(warps, masks)
        self.active[warps] = masks

    def part(self, activation: Activation, run: Run, ways: Sequence[tuple[int, Array]]) -> None:
        """Lanes take a branch: slots, with the lanes that go there. Those that leave a loop wait for the
        others of its entry."""
        branch = run.block.terminator
        assert isinstance(branch, Branch | Switch)
        level, loops = activation.depth, activation.line.loops(run.block)
        if isinstance(branch, Branch) and branch.around:
            self._guard(level, activation.line.slot(branch.otherwise), self._running(run)[0])
            return
        warps = self._all if run.rows is None else run.rows
        taken, count, together = np.zeros((3, len(warps)), np.int64)
        staying: dict[int, Array] = {}
        for slot, lanes in ways:
            masks = _words(lanes)
            taken += masks != 0
            left = next((latch for _, latch in loops if slot > latch), None)
            if left is None:
                staying[slot] = staying.get(slot, 0) | masks
            else:
                self._retire(level, left, warps, masks)
        for masks in staying.values():
            count += masks != 0
            together |= masks
        thinned = (count < 2) & (taken > 1)
        self.active[warps[thinned]] = np.where(together, together, APART)[thinned]
        parted = count > 1
        line = branch.line or _line([run.block], last=True)
        self._push(warps[parted], BRANCH, together[parted], level, line)

    def call(self, activation: Activation, run: Run, line: int) -> None:
        """Lanes call a function."""
        warps, masks = self._running(run)
        level = activation.depth + 1
        if level in self._guards:
            self._guards[level][warps] = -1
        self._push(warps, CALL, masks, level, line)

    def end(self, activation: Activation, run: Run) -> None:
        """Lanes come to the end of a block. Those that return wait for the others of the call; those that
        exit are not waited for any more."""
        warps, masks = self._running(run)
        if not len(warps):
            return
        cells = self._entries.cells[:, : self._entries.depth[warps].max() + 1, warps]
        match run.block.terminator:
            case Return():
                chosen = (cells[LEVEL] == activation.depth) & (cells[KIND] != CALL)
                self._entries.lose(warps, masks, chosen)
            case Exit():
                self._entries.lose(warps, masks, cells[KIND] >= 0)
            case _:
                pass

    def finish(self) -> None:
        """The CTAs have ended: what is left on the stacks goes."""
        while len(left := np.flatnonzero(self._entries.depth)):
            self._pop(left)

    # ------------------------------------------------------------------ rules

    def _running(self, run: Run) -> tuple[Array, Array]:
        """The warps that have lanes in a run, and these."""
        masks = _words(run.mask)
        busy = np.flatnonzero(masks)
        return busy if run.rows is None else run.rows[busy], masks[busy]

    def _pop_finished(self, level: int, warps: Array, masks: Array) -> None:
        """Entries whose lanes are together again, or have none left."""
        while len(warps):
            top = self._entries.top(warps)
            met = (top[KIND] != CALL) & (top[INSIDE] == 0) & (top[MASK] & ~masks == 0)
            here = (top[LEVEL] == level) & ((top[MASK] == 0) | met)
            over = here | (top[LEVEL] > level)
            warps, masks = warps[over], masks[over]
            restored = top[MASK, over]
            self.active[warps] = np.where(restored, restored, self.active[warps])
            self._pop(warps)

    def _leave_unfinished(self, level: int, warps: Array) -> None:
        """Lanes that left a loop by different ways are still apart: as after a branch."""
        place, cells = self._entries.depth[warps], self._entries.cells
        while len(warps):
            top = cells[:, place, warps]
            left = (top[KIND] == LOOP) & (top[LEVEL] == level) & (top[INSIDE] == 0)
            warps, place = warps[left], place[left]
            cells[KIND, place, warps] = BRANCH
            cells[LATCH, place, warps] = 0
            self.active[warps] = APART
            place = place - 1

    def _come_into(
        self, activation: Activation, block: Block, loop: Loop, latch: int, warps: Array, masks: Array
    ) -> None:
        """An entry for a loop, or more lanes for the one that there is."""
        level, cells = activation.depth, self._entries.cells
        place = self._entries.find(level, latch, warps)
        known = place > 0
        at = place[known], warps[known]
        for field in (MASK, INSIDE):
            cells[field][at] |= masks[known]
        if not known.all():
            line = _line([block, *activation.line.schedule.order[loop.first : loop.last + 1]])
            self._push(warps[~known], LOOP, masks[~known], level, line, latch)

    def _retire(self, level: int, latch: int, warps: Array, masks: Array) -> None:
        """Lanes leave a loop: entries made inside it do not wait for them."""
        leaving = masks != 0
        warps, masks = warps[leaving], masks[leaving]
        if not len(warps):
            return
        place = self._entries.find(level, latch, warps)
        self._entries.cells[INSIDE, place, warps] &= ~masks
        numbers = np.arange(int(self._entries.depth[warps].max()) + 1)[:, None]
        self._entries.lose(warps, masks, (numbers > place) & (place > 0))

    def _guard(self, level: int, after: int, warps: Array) -> None:
        """A guarded instruction that only some lanes execute; all go on at a slot."""
        if level not in self._guards:
            self._guards[level] = np.full(len(self._all), -1)
        self._guards[level][warps] = after

    def _end_guards(self, level: int, slot: int, warps: Array) -> None:
        """That only some lanes execute what their guard lets them, and all what follows, is no change."""
        if level not in self._guards:
            return
        after = self._guards[level][warps]
        self.active[warps[after >= 0]] = APART
        self._guards[level][warps[after == slot]] = -1

    def _compare(self, warps: Array, masks: Array) -> None:
        """Other lanes run than before, and neither did those part nor were all of an entry met."""
        before, top = self.active[warps], self._entries.top(warps)
        changed = (before != APART) & (before != masks)
        allowed, loops = top[MASK].copy(), top[KIND] == LOOP
        allowed[loops] = top[INSIDE, loops]
        others = masks & (before | ~allowed) == 0
        fewer = before & ~masks != 0
        for name, chosen in (("complement", others), ("switch", ~others & fewer), ("join", ~others & ~fewer)):
            here = changed & chosen
            self._tell(name, 0, warps[here], masks[here], top[LINE, here])

    # ------------------------------------------------------------------ changes

    def _push(self, warps: Array, kind: int, masks: Array, level: int, line: int, latch: int = 0) -> None:
        if not len(warps):
            return
        inside = masks if kind == LOOP else 0
        self._entries.push(warps, kind, masks, inside, level, line, latch)
        if kind != LOOP:
            self.active[warps] = APART
        self._tell("push", kind, warps, masks, np.full(len(warps), line))

    def _pop(self, warps: Array) -> None:
        top = self._entries.top(warps)
        self._entries.pop(warps)
        self._tell("pop", 0, warps, top[MASK], top[LINE])

    def _tell(self, name: str, kind: int, warps: Array, masks: Array, lines: Array) -> None:
        if self._told is not None and len(warps):
            self._told(Change(name, KINDS[kind], warps, masks, self._entries.depth[warps], lines))


def _words(lanes: Array) -> Array:
    """A (rows, 32) mask with a bit for each lane."""
    return np.packbits(lanes, axis=1, bitorder="little").view("<u4")[:, 0].astype(np.int64)


def _line(blocks: Sequence[Block], last: bool = False) -> int:
    """Of the first instruction of blocks, or of the last; 0 if none was written."""
    lines = [what.line for block in blocks for what in (*block.ops, block.terminator) if what.line]
    return lines[-1 if last else 0] if lines else 0
