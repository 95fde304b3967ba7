"""Threads and warps that need what others, or an earlier turn, have made: chains, tables, neighbours."""

from __future__ import annotations

import itertools

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, integers, reals, zeros


@case(full=4, quick=2)
def box_forces(side: int) -> Problem:
    """A hundred particles in each of some boxes."""
    places = list(itertools.product(range(side), repeat=3))
    boxes = np.zeros((len(places), 32), "i4")
    for box, (z, y, x) in zip(boxes, places, strict=True):
        around = [i for i, (c, b, a) in enumerate(places) if max(abs(c - z), abs(b - y), abs(a - x)) == 1]
        number = places.index((z, y, x))
        box[: 6 + len(around)] = (x, y, z, number, 100 * number, len(around), *around)
    n = 100 * len(places)
    return Problem(
        arrays={"boxes": boxes, "all": reals(n, 4), "charges": reals(n), "force": zeros(n, 4)},
        scalars={"alpha": np.float32(0.5), "n": np.int32(len(places))},
        launches=[Launch("forces", len(places), 128, ("alpha", "boxes", "all", "charges", "force"))],
        changed=["force"],
        tolerance=1e-4,
    )


@case(full=20_000, quick=300)
def trisolve(n: int) -> Problem:
    """Each row needs up to five of the 2,000 before it."""
    counts = np.minimum(integers(0, 6, n), np.arange(n))
    begin = np.append(0, np.cumsum(counts + 1)).astype("i4")
    rows = np.repeat(np.arange(n), counts + 1)
    columns = np.maximum(rows - integers(1, 2001, len(rows)), 0)
    values = reals(len(rows), kind="f8") / 5
    columns[begin[1:] - 1], values[begin[1:] - 1] = np.arange(n), 1 + reals(n + 1, kind="f8")[1:]
    names = ("begin", "columns", "values", "b", "x", "done")
    return Problem(
        arrays={
            "begin": begin, "columns": columns.astype("i4"), "values": values, "b": reals(n, kind="f8"),
            "x": zeros(n, kind="f8"), "done": zeros(n, kind="i4"),
        },
        scalars={"n": np.int32(n)},
        launches=[Launch("solve", blocks(n, 128), 128, (*names, "n"))],
        changed=["x", "done"],
        tolerance=1e-10,
    )  # fmt: skip


@case(full=16, quick=2)
def argon(chains: int) -> Problem:
    memory = zeros(chains, 64, 128, kind="u8")
    memory[:, :2] = integers(0, 1 << 62, chains, 2, 128, kind="u8")
    return Problem(
        arrays={"memory": memory},
        scalars={"n": np.int32(chains), "blocks": np.int32(64)},
        launches=[Launch("fill", chains, 32, ("memory", "blocks"))],
        changed=["memory"],
    )


def sparse(n: int, name: str, least: int) -> dict[str, Array]:
    """A matrix with some columns in each row."""
    begin = np.append(0, np.cumsum(integers(least, 12, n))).astype("i4")
    count = int(begin[-1])
    return {
        f"{name}_begin": begin,
        f"{name}_columns": integers(0, n - least, count),
        name: reals(count),
    }


@case(full=4096, quick=60)
def row_hash(n: int) -> Problem:
    matrices = {**sparse(n, "a", 2), **sparse(n, "b", 1)}
    results = {"counts": zeros(n, kind="i4"), "sums": zeros(n)}
    return Problem(
        arrays={**matrices, **results},
        scalars={"n": np.int32(n)},
        launches=[Launch("rows", blocks(n, 4), 128, (*matrices, *results, "n"))],
        changed=[*results],
        tolerance=1e-4,
    )


@case(full=64, quick=3)
def fill_use(ctas: int) -> Problem:
    """Warps that fill buffers, and warps that use them, by barriers with numbers."""
    tiles = 16
    return Problem(
        arrays={"in": reals(ctas, tiles, 256), "weights": reals(128), "out": zeros(ctas, 128)},
        scalars={"tiles": np.int32(tiles), "ctas": np.int32(ctas)},
        launches=[Launch("fill_use", ctas, 192, ("in", "weights", "out", "tiles"))],
        changed=["out"],
        tolerance=1e-5,
    )
