"""Counts of bytes with atomics in shared memory."""

import numpy as np
from suite.problem import Function, Jit, Launch, Problem, Real

SIZES = {"full": 1 << 24, "quick": 1 << 14}


def problem(n: int, real: Real) -> Problem:
    drawn = np.random.default_rng(3).normal(128, 40, 4 * n).clip(0, 255).astype("u1")
    return Problem(
        arrays={"words": drawn.view("u4"), "counts": np.zeros(256, "u4")},
        scalars={"n": np.int32(n)},
        launches=[Launch("histogram", 64, 256, ("words", "counts", "n"))],
        expected=lambda: {"counts": np.bincount(drawn, minlength=256)},
        changed=("counts",),
    )


def version(real: Real, njit: Jit) -> Function:
    @njit
    def run(words, counts, n):
        for i in range(n):
            word = words[i]
            counts[word & 255] += 1
            counts[word >> 8 & 255] += 1
            counts[word >> 16 & 255] += 1
            counts[word >> 24] += 1

    return run
