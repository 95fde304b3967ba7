"""Indices that are loaded: sparse matrices, graphs, tables, dynamic programming, particles."""

from __future__ import annotations

import numpy as np
from suite.problem import Launch, Problem, blocks

from survey.case import case, integers, reals, zeros


@case(full=100_000, quick=700)
def ell(rows: int) -> Problem:
    """A sparse product, 16 places a row, by columns."""
    k, draw = 16, np.random.default_rng(1)
    near = np.clip(np.arange(rows) + draw.integers(-500, 500, (k, rows)), 0, rows - 1)
    return Problem(
        arrays={
            "columns": np.where(draw.random((k, rows)) < 0.9, near, -1).astype("i4"),
            "values": reals(k, rows), "x": reals(rows), "y": zeros(rows),
        },
        scalars={"rows": np.int32(rows), "k": np.int32(k)},
        launches=[Launch("ell", blocks(rows), 256, ("columns", "values", "x", "y", "rows", "k"))],
        changed=["y"],
        tolerance=1e-5,
    )  # fmt: skip


@case(full=500_000, quick=3000)
def coo(nonzero: int) -> Problem:
    """A sparse product by atomic sums."""
    n = nonzero // 10
    return Problem(
        arrays={
            "rows": np.sort(integers(0, n, nonzero)), "columns": integers(0, n, nonzero)[::-1].copy(),
            "values": reals(nonzero), "x": reals(n), "y": zeros(n),
        },
        scalars={"nonzero": np.int32(nonzero)},
        launches=[Launch("coo", blocks(nonzero), 256, ("rows", "columns", "values", "x", "y", "nonzero"))],
        changed=["y"],
        tolerance=1e-5,
    )  # fmt: skip


@case(full=50_000, quick=700)
def pagerank(n: int) -> Problem:
    """Ten edges a vertex."""
    return Problem(
        arrays={
            "offsets": np.arange(0, 10 * n + 1, 10).astype("i4"), "targets": integers(0, n, 10 * n),
            "rank": reals(n), "next": zeros(n),
        },
        scalars={"n": np.int32(n), "d": np.float32(0.85)},
        launches=[Launch("push", blocks(n), 256, ("offsets", "targets", "rank", "next", "n", "d"))],
        changed=["next"],
        tolerance=1e-5,
    )  # fmt: skip


@case(full=200_000, quick=700)
def bsearch(queries: int) -> Problem:
    n = 5 * queries
    return Problem(
        arrays={
            "a": np.sort(integers(0, 1 << 30, n)), "q": integers(0, 1 << 30, queries),
            "o": zeros(queries, kind="i4"),
        },
        scalars={"n": np.int32(n), "m": np.int32(queries)},
        launches=[Launch("bs", blocks(queries), 256, ("a", "n", "q", "o", "m"))],
        changed=["o"],
    )  # fmt: skip


@case(full=1 << 17, quick=512)
def hashtab(n: int) -> Problem:
    """Keys into a table of twice as many places, then queries. Where a key lies depends on the order."""
    places, queries = 2 * n, 3 * n // 2
    return Problem(
        arrays={
            "table": np.full(places, 0xFFFFFFFF, "u4"), "keys": integers(0, 8 * n, n, kind="u4"),
            "queries": integers(0, 8 * n, queries, kind="u4"), "found": zeros(queries, kind="i4"),
        },
        scalars={"mask": np.uint32(places - 1), "n": np.int32(n), "m": np.int32(queries)},
        launches=[
            Launch("insert", blocks(n), 256, ("table", "mask", "keys", "n")),
            Launch("find", blocks(queries), 256, ("table", "mask", "queries", "found", "m")),
        ],
        changed=["table", "found"],
        unordered=["table"],
    )  # fmt: skip


@case(full=4_000_000, quick=5000)
def strmatch(n: int) -> Problem:
    """How often six letters occur."""
    letters = np.frombuffer(b"ACGT", "i1")
    return Problem(
        arrays={
            "s": letters[integers(0, 4, n)], "p": np.frombuffer(b"ACGTTA", "i1").copy(),
            "count": zeros(1, kind="i4"),
        },
        scalars={"n": np.int32(n), "m": np.int32(6)},
        launches=[Launch("match", blocks(n), 256, ("s", "n", "p", "m", "count"))],
        changed=["count"],
    )  # fmt: skip


@case(full=384, quick=32)
def floyd(n: int) -> Problem:
    """Shortest paths, a launch for each vertex, 16 x 16 CTAs."""
    grid = (n // 16, n // 16)
    return Problem(
        arrays={"d": integers(1, 1000, n, n)},
        scalars={"n": np.int32(n)},
        launches=[Launch("fw", grid, (16, 16), ("d", "n", np.int32(k))) for k in range(n)],
        changed=["d"],
    )


@case(full=1024, quick=64)
def nw(n: int) -> Problem:
    """Alignment of two sequences, by diagonals of tiles, each a CTA of one warp."""
    edge = np.add.outer(np.arange(n + 1), np.arange(n + 1))
    edge[1:, 1:] = 0
    tiles, launches = n // 32, []
    for step in range(2 * tiles - 1):
        first = max(0, step - tiles + 1)
        args = ("m", "a", "b", "n", np.int32(step), np.int32(first))
        launches.append(Launch("nw", min(step, tiles - 1) - first + 1, 32, args))
    return Problem(
        arrays={
            "m": -edge.astype("i4"),
            "a": integers(0, 4, n, kind="i1"),
            "b": integers(0, 4, n, kind="i1")[::-1].copy(),
        },
        scalars={"n": np.int32(n)},
        launches=launches,
        changed=["m"],
    )


@case(full=32_768, quick=512)
def lj(n: int) -> Problem:
    """Forces between particles and 32 neighbours each."""
    k = 32
    return Problem(
        arrays={
            "p": reals(n, 4) * np.float32(20),
            "neighbours": ((np.arange(n) + 1 + integers(0, 200, k, n)) % n).astype("i4"),
            "f": zeros(n, 4),
        },
        scalars={"n": np.int32(n), "k": np.int32(k), "rc2": np.float32(100)},
        launches=[Launch("lj", blocks(n, 128), 128, ("p", "neighbours", "f", "n", "k", "rc2"))],
        changed=["f"],
        tolerance=1e-4,
    )


@case(full=400_000, quick=700)
def aos(n: int) -> Problem:
    """A step of particles that are structures of eight words."""
    return Problem(
        arrays={"p": reals(n, 8) - np.float32(0.3)},
        scalars={"n": np.int32(n), "dt": np.float32(0.1), "g": np.float32(9.8)},
        launches=[Launch("step", blocks(n), 256, ("p", "n", "dt", "g"))],
        changed=["p"],
        tolerance=1e-5,
    )


@case(full=1 << 15, quick=100)
def bsr(rows: int) -> Problem:
    """A sparse product of blocks of 4 x 4, sixteen threads a row of blocks."""
    ptr = np.concatenate([[0], np.cumsum(integers(1, 13, rows))]).astype("i4")
    blocks_ = int(ptr[-1])
    return Problem(
        arrays={
            "ptr": ptr, "col": integers(0, rows, blocks_), "val": reals(blocks_, 16), "x": reals(rows * 4),
            "y": zeros(rows * 4),
        },
        scalars={"rows": np.int32(rows)},
        launches=[Launch("bsr", blocks(rows * 16), 256, ("ptr", "col", "val", "x", "y", "rows"))],
        changed=["y"],
        tolerance=1e-5,
    )  # fmt: skip
