"""Threads that share work: lists in shared memory, tickets, tables, locks."""

from __future__ import annotations

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, integers, reals, zeros

VERTICES = 64


def small_graphs(count: int) -> tuple[Array, Array]:
    """Where the edges of each vertex begin and end, and to which of its graph's vertices they lead."""
    degrees = integers(1, 5, count, VERTICES)
    ends = np.cumsum(degrees).reshape(count, VERTICES)
    begin = np.concatenate([[0], ends[:-1, -1]])[:, None]
    return np.hstack([begin, ends]).astype("i4"), integers(0, VERTICES, int(ends[-1, -1]))


@case(full=2048, quick=4)
def levels_block(graphs: int) -> Problem:
    """Breadth first through small graphs, a CTA each."""
    edges, to = small_graphs(graphs)
    return Problem(
        arrays={"ptr": edges, "to": to, "level": zeros(graphs, VERTICES, kind="i4")},
        scalars={"graphs": np.int32(graphs), "per": np.int32(VERTICES)},
        launches=[Launch("levels", graphs, VERTICES, ("ptr", "to", "level", "per"))],
        changed=["level"],
    )


@case(full=2000, quick=20)
def row_tickets(rows: int) -> Problem:
    """Norms of rows, of which each warp takes the next."""
    ctas, columns = 16, 300
    return Problem(
        arrays={"counter": zeros(1, kind="i4"), "a": reals(rows, columns), "out": zeros(rows)},
        scalars={"rows": np.int32(rows), "cols": np.int32(columns), "warps": np.int32(4 * ctas)},
        launches=[Launch("row_tickets", ctas, 128, ("counter", "a", "out", "rows", "cols"))],
        changed=["counter", "out"],
        tolerance=1e-5,
    )


@case(full=1 << 20, quick=3000)
def groupby(n: int) -> Problem:
    """Counts and sums by 200 keys, in a hash table of each CTA."""
    per = 8192
    return Problem(
        arrays={
            "key": integers(0, 200, n), "value": integers(0, 100, n), "counts": zeros(200, kind="i4"),
            "sums": zeros(200, kind="i4"),
        },
        scalars={"n": np.int32(n)},
        launches=[
            Launch("groupby", blocks(n, per), 256, ("key", "value", "counts", "sums", "n", np.int32(per)))
        ],
        changed=["counts", "sums"],
    )  # fmt: skip


@case(full=1 << 16, quick=300)
def locks(n: int) -> Problem:
    """Sums and counts of 1,000 groups, each under a lock."""
    groups = 1000
    return Problem(
        arrays={
            "key": integers(0, groups, n), "value": reals(n), "lock": zeros(groups, kind="i4"),
            "sum": zeros(groups), "count": zeros(groups, kind="i4"),
        },
        scalars={"n": np.int32(n)},
        launches=[Launch("locks", blocks(n), 256, ("key", "value", "lock", "sum", "count", "n"))],
        changed=["sum", "count"],
        tolerance=1e-4,
    )  # fmt: skip
