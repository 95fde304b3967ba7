"""Equations and sums: small systems, differential equations, kernels of learning."""

from __future__ import annotations

import numpy as np
from suite.problem import Launch, Problem, blocks

from survey.case import case, integers, reals, zeros


@case(full=8192, quick=100)
def lorenz(n: int) -> Problem:
    """Runge and Kutta's steps in double precision."""
    return Problem(
        arrays={name: reals(n + i, kind="f8")[i:] for i, name in enumerate("xyz")},
        scalars={"n": np.int32(n), "steps": np.int32(50), "h": np.float64(0.001)},
        launches=[Launch("rk4", blocks(n, 128), 128, ("x", "y", "z", "n", "steps", "h"))],
        changed=["x", "y", "z"],
        tolerance=1e-9,
    )


@case(full=4096, quick=100)
def thomas(m: int) -> Problem:
    """Tridiagonal systems side by side, one in a thread."""
    n = 100
    return Problem(
        arrays={
            "a": reals(n, m), "b": 3 + reals(n + 1, m)[1:], "c": reals(n + 2, m)[2:],
            "d": reals(n + 3, m)[3:], "w": zeros(n, m),
        },
        scalars={"n": np.int32(n), "m": np.int32(m)},
        launches=[Launch("solve", blocks(m, 128), 128, ("a", "b", "c", "d", "w", "n", "m"))],
        changed=["d", "w"],
        tolerance=1e-4,
    )  # fmt: skip


@case(full=1 << 16, quick=500)
def solve4(n: int) -> Problem:
    """Four equations in registers, one system after the other in memory."""
    return Problem(
        arrays={
            "a": (reals(n, 4, 4) + 3 * np.eye(4)).astype("f4"), "b": reals(n, 4), "x": zeros(n, 4),
        },
        scalars={"n": np.int32(n)},
        launches=[Launch("solve", blocks(n, 128), 128, ("a", "b", "x", "n"))],
        changed=["x"],
        tolerance=1e-4,
    )  # fmt: skip


@case(full=512, quick=40)
def rbf(n: int) -> Problem:
    m, dim = n - 10, 24
    return Problem(
        arrays={"a": reals(n, dim), "b": reals(m, dim), "k": zeros(n, m)},
        scalars={"n": np.int32(n), "m": np.int32(m), "dim": np.int32(dim), "gamma": np.float32(0.3)},
        launches=[
            Launch("rbf", (blocks(m, 16), blocks(n, 16)), (16, 16), ("a", "b", "k", "n", "m", "dim", "gamma"))
        ],
        changed=["k"],
        tolerance=1e-4,
    )


@case(full=1024, quick=50)
def advect(w: int) -> Problem:
    """What a flow carries, taken from where it came from."""
    h = w - 9
    return Problem(
        arrays={
            "q": reals(h, w), "u": reals(h + 1, w)[1:] - 0.5, "v": reals(h + 2, w)[2:] - 0.5,
            "o": zeros(h, w),
        },
        scalars={"w": np.int32(w), "h": np.int32(h), "dt": np.float32(3)},
        launches=[
            Launch("advect", (blocks(w, 32), blocks(h, 8)), (32, 8), ("q", "u", "v", "o", "w", "h", "dt"))
        ],
        changed=["o"],
        tolerance=1e-3,
    )  # fmt: skip


@case(full=8192, quick=60)
def spmv_warp(n: int) -> Problem:
    """A warp for each row of a sparse matrix."""
    lengths = integers(20, 90, n)
    off = np.concatenate([[0], np.cumsum(lengths)]).astype("i4")
    return Problem(
        arrays={
            "off": off, "col": integers(0, n, int(off[-1])), "val": reals(int(off[-1])), "x": reals(n),
            "y": zeros(n),
        },
        scalars={"n": np.int32(n)},
        launches=[Launch("spmv", blocks(32 * n), 256, ("off", "col", "val", "x", "y", "n"))],
        changed=["y"],
        tolerance=1e-4,
    )  # fmt: skip


@case(full=16384, quick=100)
def entropy(n: int) -> Problem:
    """A row of ten numbers for each thread."""
    classes = 10
    return Problem(
        arrays={"z": reals(n, classes), "labels": integers(0, classes, n), "o": zeros(n)},
        scalars={"n": np.int32(n), "classes": np.int32(classes)},
        launches=[Launch("loss", blocks(n), 256, ("z", "labels", "o", "n", "classes"))],
        changed=["o"],
        tolerance=1e-5,
    )


@case(full=1 << 14, quick=300)
def autocorr(n: int) -> Problem:
    """A CTA for each distance."""
    most = 128
    return Problem(
        arrays={"x": reals(n), "r": zeros(most)},
        scalars={"n": np.int32(n), "most": np.int32(most)},
        launches=[Launch("lags", most, 128, ("x", "r", "n", "most"))],
        changed=["r"],
        tolerance=1e-4,
    )


@case(full=16_384, quick=101)
def tile_lu(n: int) -> Problem:
    """LU factors with pivots, a matrix for eight threads of a cooperative group."""
    return Problem(
        arrays={"a": reals(n, 8, 8) - 0.5, "factors": zeros(n, 8, 8), "pivots": zeros(n, 8, kind="i4")},
        scalars={"n": np.int32(n)},
        launches=[Launch("tile_lu", blocks(n, 16), 128, ("a", "factors", "pivots", "n"))],
        changed=["factors", "pivots"],
        tolerance=1e-3,
        mismatches=1e-3,
    )
