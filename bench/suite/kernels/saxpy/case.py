"""y = a * x + y, through memory."""

import numpy as np
from suite.problem import Function, Jit, Launch, Problem, Real, blocks, random

SIZES = {"full": 1 << 24, "quick": 1 << 16}


def problem(n: int, real: Real) -> Problem:
    x, y, a = random(n).astype(real), random(n, 2).astype(real), np.float32(0.75)
    return Problem(
        arrays={"x": x, "y": y},
        scalars={"n": np.int32(n), "a": a},
        launches=[Launch("saxpy", blocks(n), 256, ("x", "y", "n", "a"))],
        expected=lambda: {"y": a * x.astype("f8") + y},
        changed=("y",),
        tolerance=2e-3 if real == np.float16 else 1e-6,
    )


def version(real: Real, njit: Jit) -> Function:
    @njit
    def run(x, y, n, a):
        for i in range(n):
            y[i] = a * x[i] + y[i]

    return run
