"""The first 32 steps of a dense LU decomposition: two launches a step."""

import numpy as np
from suite.problem import Array, Function, Jit, Launch, Problem, Real, blocks, random

SIZES = {"full": 1024, "quick": 64}
STEPS = 32


def problem(n: int, real: Real) -> Problem:
    a = (random(n * n).reshape(n, n) + n * np.eye(n)).astype(real)
    launches: list[Launch] = []
    for k in range(STEPS):
        rest = n - k - 1
        arguments, grid = ("a", "n", np.int32(k)), (blocks(rest, 32), blocks(rest, 8))
        launches.append(Launch("lu_column", blocks(rest), 256, arguments))
        launches.append(Launch("lu_update", grid, (32, 8), arguments))
    return Problem(
        arrays={"a": a},
        scalars={"n": np.int32(n), "steps": np.int32(STEPS)},
        launches=launches,
        expected=lambda: {"a": decomposed(a)},
        changed=("a",),
        tolerance=1e-6,
    )


def decomposed(matrix: Array) -> Array:
    a = matrix.astype("f8")
    for k in range(STEPS):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return a


def version(real: Real, njit: Jit) -> Function:
    @njit
    def run(a, n, steps):
        for k in range(steps):
            for row in range(k + 1, n):
                a[row, k] /= a[k, k]
                for column in range(k + 1, n):
                    a[row, column] -= a[row, k] * a[k, column]

    return run
