"""Inclusive prefix sums of integers in one pass over memory, sixteen elements a thread."""

import numpy as np
from suite.problem import Function, Jit, Launch, Problem, Real, blocks, random

SIZES = {"full": 1 << 24, "quick": 1 << 16}
TILE = 512
WARPS = 32


def problem(n: int, real: Real) -> Problem:
    x = (random(n) * 1000).astype("u4")
    tiles = n // TILE
    return Problem(
        arrays={
            "x": x,
            "out": np.zeros(n, "u4"),
            "tiles": np.zeros(tiles, "u8"),
        },
        scalars={"n": np.int32(n)},
        launches=[
            Launch("clear_tiles", blocks(tiles), min(tiles, 256), ("tiles",)),
            Launch("scan", tiles // WARPS, (32, WARPS), ("x", "out", "tiles")),
        ],
        expected=lambda: {"out": np.cumsum(x, dtype="u4")},
        changed=("out", "tiles"),
        native=("x", "out"),
    )


def version(real: Real, njit: Jit) -> Function:
    zero = np.uint32(0)

    @njit
    def run(x, out, n):
        running = zero
        for i in range(n):
            running = np.uint32(running + x[i])
            out[i] = running

    return run
