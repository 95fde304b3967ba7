"""Inclusive prefix sums of integers in three passes over memory, four elements a thread."""

import numpy as np
from suite.problem import Launch, Problem, Real, random

SIZES = {"full": 1 << 24, "quick": 1 << 16}


def problem(n: int, real: Real) -> Problem:
    x = (random(n) * 1000).astype("u4")
    level1, level2 = n // 1024, max(1, n >> 20)
    names = ("x", "out", "sums", "above", "total")
    sizes = (n, n, max(level1, 1024), max(level2, 1024), 1024)
    arrays = {name: np.zeros(size, "u4") for name, size in zip(names, sizes)}
    return Problem(
        arrays={**arrays, "x": x},
        scalars={"n": np.int32(n)},
        launches=[
            Launch("scan_blocks", level1, 256, ("x", "out", "sums")),
            Launch("scan_blocks", level2, 256, ("sums", "sums", "above")),
            Launch("scan_blocks", 1, 256, ("above", "above", "total")),
            Launch("add_sums", level2, 256, ("sums", "above")),
            Launch("add_sums", level1, 256, ("out", "sums")),
        ],
        expected=lambda: {"out": np.cumsum(x, dtype="u4")},
        changed=("sums", "above"),
        native=("x", "out"),
    )
