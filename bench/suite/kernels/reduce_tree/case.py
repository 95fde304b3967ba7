"""Sums of every 1024 elements, through shared memory and barriers."""

import numpy as np
from suite.problem import Function, Jit, Launch, Problem, Real, random

SIZES = {"full": 1 << 24, "quick": 1 << 16}
KERNEL = "reduce_tree"


def problem(n: int, real: Real, kernel: str = KERNEL) -> Problem:
    x = random(n).astype(real)
    return Problem(
        arrays={"x": x, "sums": np.zeros(n // 1024, real)},
        scalars={"n": np.int32(n)},
        launches=[Launch(kernel, n // 1024, 256, ("x", "sums"))],
        expected=lambda: {"sums": x.astype("f8").reshape(-1, 1024).sum(1)},
        tolerance=1e-5,
    )


def version(real: Real, njit: Jit) -> Function:
    zero = real.type(0)

    @njit
    def run(x, sums, n):
        for block in range(n // 1024):
            total = zero
            for i in range(1024):
                total += x[block * 1024 + i]
            sums[block] = total

    return run
