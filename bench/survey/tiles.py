"""Tiles in shared memory, with much of the work in registers."""

from __future__ import annotations

import numpy as np
from suite.problem import Launch, Problem, blocks

from survey.case import case, reals, zeros


@case(full=512, quick=128)
def sgemm_regs(n: int) -> Problem:
    """Eight by eight numbers a thread, two buffers."""
    return Problem(
        arrays={"a": reals(n, n), "b": reals(n, n + 1)[:, 1:].copy(), "c": zeros(n, n)},
        scalars={"n": np.int32(n)},
        launches=[Launch("sgemm_regs", (n // 128, n // 128), 256, ("a", "b", "c", "n"))],
        changed=["c"],
        tolerance=1e-5,
    )


@case(full=1021, quick=43)
def conv_tile(w: int) -> Problem:
    """7 x 7, with weights in constant memory."""
    h = w - 10
    return Problem(
        arrays={"in": reals(h, w), "out": zeros(h, w)},
        scalars={"w": np.int32(w), "h": np.int32(h)},
        launches=[Launch("conv_tile", (blocks(w, 32), blocks(h, 8)), (32, 8), ("in", "out", "w", "h"))],
        changed=["out"],
        tolerance=1e-5,
    )


@case(full=512, quick=70)
def flash(n: int) -> Problem:
    """Attention with an online softmax."""
    heads, dim = 4, 32
    given = {name: reals(heads, n + i, dim)[:, i:].copy() - 0.5 for i, name in enumerate("qkv")}
    return Problem(
        arrays={**given, "o": zeros(heads, n, dim)},
        scalars={"n": np.int32(n), "scale": np.float32(0.8), "heads": np.int32(heads)},
        launches=[
            Launch("flash", (blocks(n, 64), heads), 64, ("q", "k", "v", "o", "n", "scale"), shared=8192)
        ],
        changed=["o"],
        tolerance=1e-5,
    )


@case(full=128, quick=8)
def wave25(nz: int) -> Problem:
    """Waves in three dimensions, fourth neighbours: a march through z."""
    nx, ny = 64 + 8, 32 + 8
    sizes = {"nx": nx, "ny": ny, "nz": nz + 8}
    return Problem(
        arrays={"now": reals(nz + 8, ny, nx), "next": reals(nz + 8, ny, nx + 1)[:, :, 1:].copy()},
        scalars={**{name: np.int32(size) for name, size in sizes.items()}, "dt": np.float32(0.1)},
        launches=[Launch("wave25", (2, 4), (32, 8), ("now", "next", *sizes, "dt"))],
        changed=["next"],
        tolerance=1e-5,
    )


@case(full=4096, quick=9)
def cholesky16(count: int) -> Problem:
    """Factors of many matrices of 16 x 16."""
    half = reals(count, 16, 16)
    matrices = half @ half.transpose(0, 2, 1) + np.eye(16, dtype="f4")
    return Problem(
        arrays={"in": matrices, "out": zeros(count, 16, 16)},
        scalars={"count": np.int32(count)},
        launches=[Launch("cholesky16", blocks(count, 8), (16, 8), ("in", "out", "count"))],
        changed=["out"],
        tolerance=1e-4,
    )
