"""Launches that begin with a draft and go over to better code, between two CTAs.

How long a launch takes is not known before: turns of loops are guessed, and so a launch of many threads may
be expected to take seconds that takes a millisecond. It begins with a draft all the same
(`simt.engine.drafts`). The first CTAs tell how long the others would take, and those have better code if
making that takes less: so nobody who launches a kernel once, on little data, waits for it.
"""

from __future__ import annotations

from collections.abc import Callable

from simt.analysis.outline import Function
from simt.analysis.shape import BlockShape
from simt.engine.drafts import making
from simt.machine.launch import Dim3

SOME = 2_000_000
"""Nanoseconds of the first CTAs from which they tell: memory and code are in no cache at first."""

Range = tuple[int, int]
"""The first CTA, and the last one, which is not among them."""


def run_first(run: Callable[[int, int], int], ctas: int, threads: int, kernel: Function) -> int:
    """Runs CTAs with a draft, each time twice as many: the first that is left for better code; `ctas`, as
    many as the launch has, if none is.

    `run`: runs some; nanoseconds. `threads`: that may take part."""
    much, done, some, total = making(kernel), 0, max(1, threads), 0
    while done < ctas:
        last = min(done + some, ctas)
        spent = run(done, last)
        total += spent
        left = spent / (last - done) * (ctas - last)
        done, some = last, 2 * some
        if total >= SOME and left > much:
            break
    return done


def aligned(done: int, grid: Dim3, draft: BlockShape, better: BlockShape) -> int:
    """CTAs that the draft is to have run before the better code may run the others, from `done` on. (Units,
    where CTAs are joined.)"""
    columns, _, _ = draft.grid(grid)
    if _same_order(draft, better):
        return done
    row, column = divmod(done, columns)
    if better.turned:
        return -(-done // columns) * columns
    return row * columns + min(-(-column // better.ctas) * better.ctas, columns)


def ranges(done: int, grid: Dim3, draft: BlockShape, better: BlockShape) -> list[Range]:
    """What the better code is to run, as it counts CTAs, after the draft has run so many, which are
    `aligned`."""
    columns, rows, planes = better.grid(grid)
    ctas = columns * rows * planes
    if _same_order(draft, better):
        return [(done, ctas)] if done < ctas else []
    row, column = divmod(done, grid[0])
    if not better.turned:
        first = row * columns + column // better.ctas
        return [(first, ctas)] if first < ctas else []
    plane, row = divmod(row, rows)  # CTAs along y are counted first
    first, found = plane * columns * rows, list[Range]()
    if row:
        found = [(first + n * rows + row, first + (n + 1) * rows) for n in range(columns)]
        first += columns * rows
    return [*found, (first, ctas)] if first < ctas else found


def may_go_over(draft: BlockShape, better: BlockShape) -> bool:
    """Whether better code can go on where a draft has stopped."""
    is_plain = not (draft.joins or draft.turned or (better.joins and better.turned))
    return is_plain or _same_order(draft, better)


def _same_order(draft: BlockShape, better: BlockShape) -> bool:
    return (draft.turned, draft.ctas) == (better.turned, better.ctas)
