"""Searches and sorts in which each thread keeps a stack or a heap of its own."""

from __future__ import annotations

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, integers, reals, zeros


def puzzles(n: int) -> Array:
    """Sudokus of which half the numbers are left: one solution, renumbered, its rows exchanged."""
    row, column = np.divmod(np.arange(81), 9)
    solved, draw = (3 * (row % 3) + row // 3 + column) % 9, np.random.default_rng(3)
    made = np.zeros((n, 9, 9), "u1")
    for puzzle in made:
        rows = np.concatenate([3 * band + draw.permutation(3) for band in draw.permutation(3)])
        puzzle[...] = (draw.permutation(9) + 1)[solved].reshape(9, 9)[rows]
        puzzle[draw.random((9, 9)) < 0.5] = 0
    return made.reshape(n, 81)


@case(full=512, quick=40)
def sudoku(n: int) -> Problem:
    return Problem(
        arrays={"in": puzzles(n), "out": zeros(n, 81, kind="u1")},
        scalars={"n": np.int32(n)},
        launches=[Launch("sudoku", blocks(n, 64), 64, ("in", "out", "n"))],
        changed=["out"],
    )


def positions(n: int) -> Array:
    """Masks of the places that are taken after two to four moves, by who is to move and by the other."""
    draw, found = np.random.default_rng(4), np.zeros((n, 2), "i4")
    for position in found:
        places = 1 << draw.permutation(9)[: draw.integers(2, 5)]
        position[:] = [places[len(places) % 2 :: 2].sum(), places[1 - len(places) % 2 :: 2].sum()]
    return found


@case(full=512, quick=40)
def noughts(n: int) -> Problem:
    """Who wins a game of noughts and crosses."""
    return Problem(
        arrays={"in": positions(n), "out": np.full(n, 7, "i4")},
        scalars={"n": np.int32(n)},
        launches=[Launch("noughts", blocks(n, 64), 64, ("in", "out", "n"))],
        changed=["out"],
    )


@case(full=4096, quick=40)
def quicksort(n: int) -> Problem:
    """64 numbers for each thread, in global memory."""
    return Problem(
        arrays={"data": integers(0, 10_000, n, 64)},
        scalars={"n": np.int32(n)},
        launches=[Launch("quicksort", blocks(n, 64), 64, ("data", "n"))],
        changed=["data"],
    )


@case(full=4096, quick=100)
def heaptop(n: int) -> Problem:
    """The eight nearest of 1,000 points, in a heap."""
    return Problem(
        arrays={"q": reals(n, 2), "p": reals(1000, 2), "out": zeros(n)},
        scalars={"queries": np.int32(n), "points": np.int32(1000)},
        launches=[Launch("heaptop", blocks(n, 128), 128, ("q", "p", "out", "queries", "points"))],
        changed=["out"],
        tolerance=1e-4,
    )
