"""Matrix product through tiles in shared memory, two barriers a tile."""

import numpy as np
from suite.problem import Function, Jit, Launch, Problem, Real, random

SIZES = {"full": 1024, "quick": 64}


def problem(n: int, real: Real) -> Problem:
    a, b = (random(n * n, seed).astype(real).reshape(n, n) for seed in (1, 2))
    return Problem(
        arrays={"a": a, "b": b, "c": np.zeros((n, n), real)},
        scalars={"n": np.int32(n)},
        launches=[Launch("matmul", (n // 16, n // 16), (16, 16), ("a", "b", "c", "n"))],
        expected=lambda: {"c": a.astype("f8") @ b.astype("f8")},
        tolerance=1e-5 if real == np.float32 else 1e-12,
    )


def version(real: Real, njit: Jit) -> Function:
    @njit
    def run(a, b, c, n):
        c[:] = 0
        for i in range(n):
            for k in range(n):
                for j in range(n):
                    c[i, j] += a[i, k] * b[k, j]

    return run
