"""Transposition through a padded tile in shared memory."""

import numpy as np
from suite.problem import Function, Jit, Launch, Problem, Real, random

SIZES = {"full": 4096, "quick": 256}


def problem(n: int, real: Real) -> Problem:
    matrix = random(n * n).astype(real).reshape(n, n)
    return Problem(
        arrays={"from": matrix, "to": np.zeros((n, n), real)},
        scalars={"n": np.int32(n)},
        launches=[Launch("transpose", (n // 32, n // 32), (32, 8), ("from", "to", "n"))],
        expected=lambda: {"to": matrix.T},
    )


def version(real: Real, njit: Jit) -> Function:
    @njit
    def run(source, to, n):
        for row in range(n):
            for column in range(n):
                to[column, row] = source[row, column]

    return run
