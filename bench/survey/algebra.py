"""Dense matrices, and what neural networks do with them."""

from __future__ import annotations

import numpy as np
from suite.problem import Launch, Problem, blocks

from survey.case import case, integers, reals, zeros


def matrix_vector(m: int, n: int) -> Problem:
    """A warp a row."""
    return Problem(
        arrays={"a": reals(m, n), "x": reals(n), "y": zeros(m)},
        scalars={"m": np.int32(m), "n": np.int32(n)},
        launches=[Launch("gemv", blocks(m, 8), 256, ("a", "x", "y", "m", "n"))],
        changed=["y"],
        tolerance=1e-4,
    )


@case(full=2048, quick=20)
def gemv(m: int) -> Problem:
    return matrix_vector(m, 3000)


@case(full=128, quick=8, source="gemv")
def gemv_cached(m: int) -> Problem:
    """A matrix that stays in the second cache."""
    return matrix_vector(m, 3000)


@case(full=3000, quick=70)
def gemv_t(m: int) -> Problem:
    """A thread a row, of a matrix by columns."""
    n = 2 * m // 3
    return Problem(
        arrays={"a": reals(n, m), "x": reals(n), "y": zeros(m)},
        scalars={"m": np.int32(m), "n": np.int32(n)},
        launches=[Launch("gemv", blocks(m), 256, ("a", "x", "y", "m", "n"))],
        changed=["y"],
        tolerance=1e-4,
    )


@case(full=400, quick=50)
def mm_naive(n: int) -> Problem:
    return Problem(
        arrays={"a": reals(n, n), "b": reals(n, n)[::-1].copy(), "c": zeros(n, n)},
        scalars={"n": np.int32(n)},
        launches=[Launch("mm", (blocks(n, 16), blocks(n, 16)), (16, 16), ("a", "b", "c", "n"))],
        changed=["c"],
        tolerance=1e-4,
    )


@case(full=384, quick=64)
def dgemm(n: int) -> Problem:
    """Tiles in shared memory."""
    return Problem(
        arrays={
            "a": reals(n, n, kind="f8"),
            "b": reals(n, n, kind="f8")[::-1].copy(),
            "c": zeros(n, n, kind="f8"),
        },
        scalars={"n": np.int32(n)},
        launches=[Launch("mm", (n // 16, n // 16), (16, 16), ("a", "b", "c", "n"))],
        changed=["c"],
        tolerance=1e-12,
    )


@case(full=384, quick=64)
def dp4a(n: int) -> Problem:
    """A product of bytes."""
    k = 4 * n // 3 // 64 * 64
    return Problem(
        arrays={
            "a": integers(-128, 128, n, k, kind="i1"),
            "b": integers(-128, 127, n, k, kind="i1"),
            "c": zeros(n, n, kind="i4"),
        },
        scalars={"m": np.int32(n), "n": np.int32(n), "k": np.int32(k)},
        launches=[Launch("gemm", (n // 16, n // 16), (16, 16), ("a", "b", "c", "m", "n", np.int32(k // 4)))],
        changed=["c"],
    )


@case(full=500, quick=50)
def matadd16(n: int) -> Problem:
    return Problem(
        arrays={"a": reals(n, n), "b": reals(n, n) * np.float32(3), "c": zeros(n, n)},
        scalars={"cells": np.int32(n * n)},
        launches=[
            Launch("add", (blocks(n, 16), blocks(n, 16)), (16, 16),
                   ("a", "b", "c", np.int32(n), np.int32(n)))
        ],
        changed=["c"],
    )  # fmt: skip


@case(full=128, quick=32)
def gauss_elim(n: int) -> Problem:
    """Gaussian elimination as two launches a column, which walk down columns."""
    launches = []
    for t in range(n - 1):
        args = ("m", "a", "n", np.int32(t))
        launches += [
            Launch("fan1", 1, n, args),
            Launch("fan2", (blocks(n, 16), blocks(n, 16)), (16, 16), args),
        ]
    return Problem(
        arrays={"m": zeros(n, n), "a": reals(n, n) + n * np.eye(n, dtype="f4")},
        scalars={"n": np.int32(n)},
        launches=launches,
        changed=["m", "a"],
        tolerance=1e-4,
    )


@case(full=200_000, quick=500)
def mat4(n: int) -> Problem:
    """Products of 4 x 4 matrices, one a thread."""
    return Problem(
        arrays={"a": reals(n, 16), "b": reals(n, 16)[::-1].copy(), "c": zeros(n, 16)},
        scalars={"n": np.int32(n)},
        launches=[Launch("mul", blocks(n), 256, ("a", "b", "c", "n"))],
        changed=["c"],
        tolerance=1e-5,
    )


@case(full=300_000, quick=500)
def inv3(n: int) -> Problem:
    """Inverses of 3 x 3 matrices, one a thread."""
    return Problem(
        arrays={"a": reals(n, 9) + 3 * np.eye(3, dtype="f4").ravel(), "o": zeros(n, 9)},
        scalars={"n": np.int32(n)},
        launches=[Launch("inv", blocks(n), 256, ("a", "o", "n"))],
        changed=["o"],
        tolerance=1e-4,
    )


@case(full=4096, quick=10)
def layernorm(rows: int) -> Problem:
    """A CTA a row."""
    n = 1024
    return Problem(
        arrays={"x": reals(rows, n), "g": reals(n), "b": reals(n)[::-1].copy(), "y": zeros(rows, n)},
        scalars={"rows": np.int32(rows), "n": np.int32(n), "eps": np.float32(1e-5)},
        launches=[Launch("ln", rows, 256, ("x", "g", "b", "y", "n", "eps"))],
        changed=["y"],
        tolerance=1e-4,
    )


@case(full=4096, quick=10)
def softmax(rows: int) -> Problem:
    """A warp a row."""
    n = 1000
    return Problem(
        arrays={"x": reals(rows, n) * np.float32(8), "y": zeros(rows, n)},
        scalars={"rows": np.int32(rows), "n": np.int32(n)},
        launches=[Launch("sm", blocks(rows, 4), 128, ("x", "y", "rows", "n"))],
        changed=["y"],
        tolerance=1e-4,
    )


@case(full=1 << 20, quick=3000)
def gelu(n: int) -> Problem:
    return Problem(
        arrays={"x": reals(n) * np.float32(8) - np.float32(4), "y": zeros(n)},
        scalars={"n": np.int32(n)},
        launches=[Launch("gelu", 256, 256, ("x", "y", "n"))],
        changed=["y"],
        tolerance=1e-5,
    )


@case(full=16, quick=2)
def conv3x3(channels: int) -> Problem:
    """Channels of 128 x 128 to as many."""
    c, n = channels, 128
    return Problem(
        arrays={"x": reals(c, n, n), "w": reals(c, c, 9), "y": zeros(c, n, n)},
        scalars={"C": np.int32(c), "H": np.int32(n), "W": np.int32(n)},
        launches=[Launch("conv", (n // 32, n // 8, c), (32, 8), ("x", "w", "y", "C", "H", "W"))],
        changed=["y"],
        tolerance=1e-5,
    )


@case(full=64, quick=2)
def maxpool(channels: int) -> Problem:
    n = 112
    return Problem(
        arrays={"x": reals(channels, 2 * n, 2 * n), "y": zeros(channels, n, n)},
        scalars={"channels": np.int32(channels), "oh": np.int32(n), "ow": np.int32(n)},
        launches=[Launch("pool", channels * n * n // 256, 256, ("x", "y", "oh", "ow"))],
        changed=["y"],
    )
