"""Products of matrices by the units for them."""

from __future__ import annotations

import numpy as np
from suite.problem import Launch, Problem

from survey.case import case, reals, zeros


@case(full=512, quick=128)
def wmma_gemm(n: int) -> Problem:
    """Halves, summed as the GPU does it: C sums in single precision."""
    return Problem(
        arrays={"a": reals(n, n, kind="f2"), "b": reals(n + 1, n, kind="f2")[1:], "c": zeros(n, n)},
        scalars={"n": np.int32(n)},
        launches=[Launch("wmma_gemm", (n // 64, n // 64), 128, ("a", "b", "c", "n"))],
        changed=["c"],
        tolerance=1e-5,
    )
