"""Threads that keep arrays of their own."""

from __future__ import annotations

import numpy as np
from suite.problem import Launch, Problem, blocks

from survey.case import case, integers, reals, zeros


@case(full=32768, quick=100)
def knn(n: int) -> Problem:
    """The eight nearest of 256 points, sorted as they are found."""
    return Problem(
        arrays={"x": reals(n + 256), "y": reals(n + 256)[::-1].copy(), "out": zeros(8, n, kind="i4")},
        scalars={"n": np.int32(n), "m": np.int32(256)},
        launches=[Launch("knn", blocks(n, 128), 128, ("x", "y", "out", "n", "m"))],
        changed=["out"],
    )


@case(full=16384, quick=100)
def walk(n: int) -> Problem:
    """Sums over parts of a binary tree, with a stack."""
    return Problem(
        arrays={"keys": integers(0, 1024, 4095), "from": integers(0, 1024, n), "sums": zeros(n, kind="i4")},
        scalars={"n": np.int32(n), "m": np.int32(4095)},
        launches=[Launch("walk", blocks(n, 128), 128, ("keys", "from", "sums", "n", "m"))],
        changed=["sums"],
    )


@case(full=65536, quick=100)
def heapsort(n: int) -> Problem:
    """32 numbers for each thread."""
    return Problem(
        arrays={"in": integers(0, 1 << 30, 32, n), "out": zeros(32, n, kind="i4")},
        scalars={"n": np.int32(n)},
        launches=[Launch("heapsort", blocks(n, 128), 128, ("in", "out", "n"))],
        changed=["out"],
    )


@case(full=16384, quick=100)
def edit(n: int) -> Problem:
    """Distances of words of 64 letters, row by row."""
    length = 64
    return Problem(
        arrays={
            "a": integers(0, 4, length, n, kind="u1"),
            "b": integers(0, 4, length, n, kind="u1")[:, ::-1].copy(),
            "out": zeros(n, kind="i4"),
        },
        scalars={"n": np.int32(n), "length": np.int32(length)},
        launches=[Launch("edit", blocks(n, 128), 128, ("a", "b", "out", "n", "length"))],
        changed=["out"],
    )
