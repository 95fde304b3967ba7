"""Barriers of the CTAs of a batch: who waits where, and when they go on (PTX 1.4 table 78)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simt.analysis.program import BARRIERS, Barrier, Register
from simt.engine.batch import WARP, Batch
from simt.engine.interpreter_activation import Activation
from simt.engine.numpy_select import assign, every, lanes_by_row, rows_with_any, select, some

Array = NDArray[Any]


class Barriers:
    """State of every barrier. A warp counts with all its 32 lanes once its live lanes have all arrived."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        shape = (batch.rows, WARP)
        self.number = np.full(shape, -1, np.int16)  # where a lane is parked
        self.numbers: set[int] = set()  # that lanes may be parked at
        self.resume = np.zeros(shape, np.int32)
        self.where = np.zeros(shape, np.int32)  # PTX line
        self.predicate = np.zeros(shape, np.bool_)
        self.reduction = np.full(shape, -1, np.int32)
        self.expected = np.zeros((batch.count, BARRIERS), np.int64)  # 0: all threads
        self.arrivals = np.zeros((batch.count, BARRIERS), np.int64)  # by bar.arrive
        self._reductions: list[tuple[str, Register]] = []

    @property
    def any_parked(self) -> bool:
        return bool(self.numbers) and some(self.number >= 0)

    def arrive(self, rows: Array | None, mask: Array, number: Array, count: Array | None) -> None:
        """Lanes arrive, or park: notes what the barrier expects."""
        shape = mask.shape
        if count is not None:
            cta = np.broadcast_to(self._group(rows)[:, None], shape)[mask]
            at = np.broadcast_to(number, shape)[mask]
            self.expected[cta, at] = np.broadcast_to(count, shape)[mask]

    def count_arrivals(self, rows: Array | None, mask: Array, number: Array) -> None:
        """`bar.arrive`: the lanes count, and go on."""
        alive = self.batch.alive if rows is None else self.batch.alive[rows]
        for n in np.unique(np.broadcast_to(number, mask.shape)[mask]):
            here = mask & (number == n)
            lanes = lanes_by_row(here)
            counted = np.where(~rows_with_any(here != alive) & (lanes > 0), WARP, lanes)
            np.add.at(self.arrivals[:, int(n)], self._group(rows), counted)

    def park(
        self, rows: Array | None, mask: Array, number: Array, resume: int, barrier: Barrier, p: Array | None
    ) -> None:
        """Lanes wait until the barrier completes."""
        at = number if number.size == 1 else np.broadcast_to(number, mask.shape)[mask]
        self.numbers.update(np.unique(at).tolist())
        self._set(self.number, rows, mask, number.astype(np.int16))
        self._set(self.resume, rows, mask, np.array(resume, np.int32))
        self._set(self.where, rows, mask, np.array(barrier.line, np.int32))
        if barrier.result is not None and p is not None:
            key = (barrier.reduce, barrier.result)
            if key not in self._reductions:
                self._reductions.append(key)
            self._set(self.predicate, rows, mask, p)
            self._set(self.reduction, rows, mask, np.array(self._reductions.index(key), np.int32))

    def _set(self, state: Array, rows: Array | None, mask: Array, value: Array) -> None:
        value = value.astype(state.dtype)
        if rows is None:
            state[:] = select(mask, value, state)
        else:
            state[rows] = select(mask, value, state.take(rows, axis=0))

    def _group(self, rows: Array | None) -> Array:
        """The CTA within the batch, by row."""
        return self.batch.group if rows is None else self.batch.group[rows]

    # ------------------------------------------------------------------ completion

    def release(self, activation: Activation) -> bool:
        """Lets the lanes of complete barriers go on; whether there were any."""
        assign(self.number, ~self.batch.alive, -1)
        released = False
        for number in sorted(self.numbers):
            complete = self._complete(number)
            if some(complete):
                self._go_on(activation, number, complete)
                released = True
        return released

    def _complete(self, number: int) -> Array:
        """By CTA: whether the barrier is complete."""
        parked = self.number == number
        alive = self.batch.alive
        here = lanes_by_row(parked)
        whole = np.where(~rows_with_any(parked != alive) & (here > 0), WARP, here)
        by_cta = (self.batch.count, self.batch.warps)
        waiting, counted = here.reshape(by_cta).sum(axis=1), whole.reshape(by_cta).sum(axis=1)
        living = lanes_by_row(alive).reshape(by_cta).sum(axis=1)
        expected, arrived = self.expected[:, number], self.arrivals[:, number]
        whole_cta = np.asarray(waiting >= living)
        enough = np.where(expected > 0, counted + arrived >= expected, whole_cta)
        return np.asarray(enough, np.bool_) & np.asarray(waiting > 0)

    def _go_on(self, activation: Activation, number: int, complete: Array) -> None:
        lanes = (self.number == number) & np.repeat(complete, self.batch.warps)[:, None]
        self._reduce(activation, lanes)
        activation.scatter()
        assign(activation.waiting, lanes, self.resume.astype(activation.waiting.dtype))
        assign(self.number, lanes, -1)
        if every(complete):
            self.numbers.discard(number)
        self.expected[complete, number] = 0
        self.arrivals[complete, number] = 0
        activation.gather_if_together()

    def _reduce(self, activation: Activation, lanes: Array) -> None:
        """Results of `bar.red`, for the lanes that took part with one reduction into one register."""
        for index, (operation, result) in enumerate(self._reductions):
            taking = lanes & (self.reduction == index)
            if not some(taking):
                continue
            votes = (taking & self.predicate).sum(axis=1).reshape(self.batch.count, -1).sum(axis=1)
            voters = taking.sum(axis=1).reshape(self.batch.count, -1).sum(axis=1)
            found = {"popc": votes, "and": votes == voters, "or": votes > 0}[operation]
            column = np.repeat(found, self.batch.warps)[:, None]
            old = activation.stored.get(result.index)
            dtype = np.bool_ if result.type.is_predicate else np.dtype(f"u{result.type.bytes}")
            base = np.zeros(1, dtype) if old is None else old
            activation.stored[result.index] = np.where(taking, column.astype(dtype), base)
            activation.owned.discard(result.index)
            self.reduction[taking] = -1
