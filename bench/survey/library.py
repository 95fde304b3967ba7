"""What programs take from CUB and from cooperative groups."""

from __future__ import annotations

import numpy as np
from suite.problem import Launch, Problem, blocks

from survey.case import case, integers, reals, zeros


@case(full=2048, quick=3)
def cub_reduce(rows: int) -> Problem:
    """Mean and variance of rows of 2,048 numbers."""
    return Problem(
        arrays={"x": reals(rows, 2048), "out": zeros(rows, 2)},
        scalars={"rows": np.int32(rows)},
        launches=[Launch("moments", rows, 256, ("x", "out"))],
        changed=["out"],
        tolerance=1e-5,
    )


@case(full=1 << 21, quick=5000)
def cub_scan(n: int) -> Problem:
    """Prefix sums of tiles of 1,024."""
    tiles = blocks(n, 1024)
    return Problem(
        arrays={"in": integers(0, 100, n), "out": zeros(n, kind="i4"), "totals": zeros(tiles, kind="i4")},
        scalars={"n": np.int32(n)},
        launches=[Launch("tile_scan", tiles, 128, ("in", "out", "totals", "n"))],
        changed=["out", "totals"],
    )


@case(full=256, quick=2)
def cub_sort(tiles: int) -> Problem:
    """Tiles of 1,024 pairs, sorted by key."""
    n = tiles * 1024
    names = ("keys", "values", "sorted", "order")
    given = (integers(0, 1 << 32, n, kind="u4"), np.arange(n, dtype="i4"))
    return Problem(
        arrays=dict(zip(names, (*given, zeros(n, kind="u4"), zeros(n, kind="i4")))),
        scalars={"tiles": np.int32(tiles)},
        launches=[Launch("tile_sort", tiles, 128, names)],
        changed=["sorted", "order"],
    )


@case(full=1 << 20, quick=5000)
def cub_warps(n: int) -> Problem:
    """The greatest of 16 numbers, and running sums of them."""
    return Problem(
        arrays={"x": reals(n) + 0.1, "y": zeros(n), "greatest": zeros(blocks(n, 16))},
        scalars={"n": np.int32(n)},
        launches=[Launch("shares", blocks(n), 256, ("x", "y", "greatest", "n"))],
        changed=["y", "greatest"],
        tolerance=1e-6,
    )


@case(full=40000, quick=100)
def cg_rows(rows: int) -> Problem:
    """A sparse matrix with 24 numbers a row on average, eight threads a row."""
    starts = np.concatenate(([0], np.cumsum(integers(0, 48, rows)))).astype("i4")
    count = int(starts[-1])
    return Problem(
        arrays={
            "starts": starts, "columns": integers(0, rows, count), "values": reals(count),
            "x": reals(rows), "y": zeros(rows),
        },
        scalars={"rows": np.int32(rows)},
        launches=[Launch("spmv8", blocks(rows, 16), 128, ("starts", "columns", "values", "x", "y", "rows"))],
        changed=["y"],
        tolerance=1e-5,
    )  # fmt: skip


@case(full=1 << 21, quick=5000)
def cg_filter(n: int) -> Problem:
    """Points within a circle, in no order: an atomic operation for those of a warp."""
    return Problem(
        arrays={
            "points": integers(-1000, 1000, n, 2),
            "found": zeros(n + 1, kind="i4"),
            "count": zeros(1, kind="i4"),
        },
        scalars={"n": np.int32(n), "radius": np.int32(700)},
        launches=[Launch("filter", 128, 256, ("points", "found", "count", "n", "radius"))],
        changed=["found", "count"],
        mismatches=0.0,
        unordered=["found"],
    )
