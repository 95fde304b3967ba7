"""Sequences of launches that run without Python in between."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Protocol

import numpy as np

from simt.engine.abi import CallSlot, LaunchSlot
from simt.engine.blocks import Crew, Need
from simt.engine.made import Compiled
from simt.engine.native_stack import has_room
from simt.engine.prepared import Prepared, call_block
from simt.engine.watch import WATCH
from simt.machine.launch import Launch

if TYPE_CHECKING:
    from simt.engine.jit import Jit


class Part(Protocol):
    """Some launches of a sequence that follow each other."""

    stopped: int
    """Index of the launch that ended the last run early, from the part's first."""

    def run(self, grid_id: int, timeout: float | None) -> None: ...

    def __len__(self) -> int: ...


class NativeSequence:
    """A recorded sequence on the JIT.

    Short launches run in batches, one call of compiled code each. Those that other threads should help with
    run as any launch. Which ones these are is known after the first run: until then all may be.
    """

    def __init__(self, jit: Jit, launches: Sequence[Launch]) -> None:
        self.jit = jit
        self.launches = launches
        self.stopped = 0
        self._parts: list[Part] = []
        self._settled = False

    def run(self, grid_id: int, timeout: float | None) -> None:
        if not self._settled:
            self._prepare()
        done = 0
        for part in self._parts:
            try:
                part.run(grid_id + done, timeout)
            except BaseException:
                self.stopped = done + part.stopped
                self._forget()
                raise
            done += len(part)

    def _prepare(self) -> None:
        """Forms the parts; again after each run as long as one took the time of a launch."""
        prepared = self._prepared()
        short = [_is_short(p, n) for p, n in zip(prepared, self.launches)]
        self._settled = True
        parts: list[Part] = []
        for in_batch, group in groupby(range(len(self.launches)), lambda i: short[i]):
            indices = list(group)
            if in_batch:
                pairs = [(self.launches[i], p) for i in indices if (p := prepared[i]) is not None]
                parts.append(Batch(self.jit, pairs))
            else:
                parts += [Single(self.jit, self.launches[i]) for i in indices]
                self._settled = self._settled and all(_known(prepared[i]) for i in indices)
        self._parts = parts

    def _prepared(self) -> list[Prepared | None]:
        """Every launch made ready, None for those that the JIT does not keep. All share one crew."""
        compiled = [self._compiled(launch) for launch in self.launches]
        need = Need()
        for launch, code in zip(self.launches, compiled):
            if code is not None:
                need = need.merged(Need.of(launch, code.context, code.block.warps))
        crew: Crew | None = None
        for launch, code in zip(self.launches, compiled):
            if code is not None and launch.state is None:
                crew = crew or Crew(launch.memory, need)
                launch.state = prepared = Prepared(launch, code, self.jit.host, crew)
                prepared.block.slots[LaunchSlot.CLEAR] = 1  # the crew's memory is everybody's
        return [n.state if isinstance(n.state, Prepared) else None for n in self.launches]

    def _compiled(self, launch: Launch) -> Compiled | None:
        return self.jit.compiled(launch.program, launch.kernel, self.jit.shape_of(launch))

    def _forget(self) -> None:
        """What was stopped may have left anything in its blocks: the next run begins with new ones."""
        for launch in self.launches:
            launch.state = None
        self._parts, self._settled = [], False


def _is_short(prepared: Prepared | None, launch: Launch) -> bool:
    """Whether a launch may run in a batch: nothing has to be looked at before each run, as textures have."""
    if prepared is None or prepared.compiled.fetches:
        return False
    return prepared.compiled.shallow and prepared.is_short(launch)


def _known(prepared: Prepared | None) -> bool:
    """Whether another run cannot tell more about how long the launch takes."""
    return prepared is None or not prepared.compiled.shallow or prepared.pace.launches > 1


class Single:
    """A launch that runs as any other."""

    stopped = 0

    def __init__(self, jit: Jit, launch: Launch) -> None:
        self.jit = jit
        self.launch = launch

    def run(self, grid_id: int, timeout: float | None) -> None:
        self.launch.grid_id = grid_id
        self.launch.deadline = None if timeout is None else time.monotonic() + timeout
        self.jit.launch(self.launch)

    def __len__(self) -> int:
        return 1


class Batch:
    """Short launches: one call of compiled code runs them all on the thread of the caller."""

    def __init__(self, jit: Jit, pairs: Sequence[tuple[Launch, Prepared]]) -> None:
        self.jit = jit
        self.pairs = pairs
        self.stopped = 0
        self._addresses = np.array([p.block.address for _, p in pairs], dtype=np.int64)
        self._call = call_block(jit.host, self._addresses.ctypes.data, len(pairs))
        self._call.slots[CallSlot.RENEW] = 1
        self._memory = pairs[0][0].memory
        self._timeout: float | None = None
        self._seen, self._since = -1, 0.0
        for launch, prepared in pairs:
            prepared.begin(launch)
            prepared.alone()
            prepared.block.slots[LaunchSlot.CALL] = self._call.address

    def __len__(self) -> int:
        return len(self.pairs)

    def run(self, grid_id: int, timeout: float | None) -> None:
        if not has_room() or self.jit.host.under_way[0]:
            self._one_by_one(grid_id, timeout)
            return
        slots = self._call.slots
        slots[CallSlot.GRID_ID] = grid_id
        slots[CallSlot.LIMIT] = self._memory.limit
        self._timeout = timeout
        WATCH.add(self)
        try:
            done = self.jit.host.native.run(self._call.address)
        except BaseException:
            self.stopped = slots[CallSlot.CURRENT]
            raise
        finally:
            WATCH.remove(self)
        if done < len(self.pairs):
            self.stopped = done
            launch, prepared = self.pairs[done]
            launch.grid_id = grid_id + done
            prepared.raise_fault(launch, late=slots[CallSlot.EXPIRED] == launch.grid_id)

    def _one_by_one(self, grid_id: int, timeout: float | None) -> None:
        """On a thread with little stack, or in a handler of signals in the middle of another launch."""
        for i, (launch, prepared) in enumerate(self.pairs):
            self.stopped, launch.grid_id = i, grid_id + i
            launch.deadline = None if timeout is None else time.monotonic() + timeout
            prepared.elsewhere(launch)

    def tick(self, now: float) -> None:
        """Lets the caller's thread look for signals; stops a launch that is late."""
        slots = self._call.slots
        current = slots[CallSlot.CURRENT]
        grid = slots[CallSlot.GRID_ID] + current
        slots[CallSlot.REQUEST] = 1
        self.pairs[current][1].request()
        if grid != self._seen:
            self._seen, self._since = grid, now
        elif self._timeout is not None and now - self._since > self._timeout:
            slots[CallSlot.EXPIRED] = grid
