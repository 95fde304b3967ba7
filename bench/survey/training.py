"""Losses and their gradients, choices among scores, sparse times dense."""

from __future__ import annotations

import numpy as np
from suite.problem import Launch, Problem, blocks

from survey.case import case, integers, reals, zeros


@case(full=1 << 14, quick=700)
def topk(rows: int) -> Problem:
    """The eight greatest of 128, by insertion into registers."""
    return Problem(
        arrays={"values": reals(128, rows), "best": zeros(8, rows)},
        scalars={"rows": np.int32(rows), "columns": np.int32(128)},
        launches=[Launch("topk", blocks(rows), 256, ("values", "best", "rows", "columns"))],
        changed=["best"],
    )


@case(full=2000, quick=150)
def nms(n: int) -> Problem:
    """Pairs of boxes that overlap too much."""
    corner, size, words = reals(n, 2), reals(n, 2) * np.float32(0.2), -(-n // 64)
    return Problem(
        arrays={"boxes": np.hstack([corner, corner + size]), "mask": zeros(n, words, kind="u8")},
        scalars={"n": np.int32(n), "threshold": np.float32(0.3)},
        launches=[Launch("nms", (words, words), 64, ("boxes", "mask", "n", "threshold"))],
        changed=["mask"],
    )


@case(full=256, quick=30)
def grid_sample(n: int) -> Problem:
    """16 channels at places near where they were."""
    channels, h, w = 16, n, n
    y, x = np.mgrid[0:h, 0:w].astype("f4") / np.float32(n) * 2 - 1
    grid = np.stack([x, y], -1) * np.float32(1.02) + (reals(h, w, 2) - np.float32(0.5)) * np.float32(8 / n)
    sizes = {"channels": channels, "h": h, "w": w, "n": h * w}
    return Problem(
        arrays={"image": reals(channels, h, w), "grid": grid.astype("f4"), "out": zeros(channels, h, w)},
        scalars={name: np.int32(size) for name, size in sizes.items()},
        launches=[Launch("grid_sample", blocks(h * w), 256, ("image", "grid", "out", *sizes))],
        changed=["out"],
        tolerance=1e-5,
    )


@case(full=8192, quick=100)
def spmm(rows: int) -> Problem:
    """Rows of up to 32 entries, times 64 columns."""
    lengths = integers(0, 33, rows)
    start = np.concatenate([[0], np.cumsum(lengths)]).astype("i4")
    entries = int(start[-1])
    return Problem(
        arrays={
            "start": start,
            "column": integers(0, rows, entries),
            "value": reals(entries),
            "b": reals(rows, 64),
            "c": zeros(rows, 64),
        },
        scalars={"rows": np.int32(rows)},
        launches=[Launch("spmm", blocks(rows, 4), (64, 4), ("start", "column", "value", "b", "c", "rows"))],
        changed=["c"],
        tolerance=1e-5,
    )
