"""Sparse matrix times vector; the rows' lengths follow a power law."""

import numpy as np
from suite.problem import Function, Jit, Launch, Problem, Real, blocks, random

SIZES = {"full": 1 << 18, "quick": 1 << 10}


def problem(rows: int, real: Real) -> Problem:
    generator = np.random.default_rng(7)
    lengths = (4 * generator.pareto(1.3, rows) + 1).clip(1, 4096).astype("i4")
    starts = np.concatenate(([0], np.cumsum(lengths))).astype("i4")
    columns = generator.integers(0, rows, starts[-1], "i4")
    values, x = random(int(starts[-1])).astype(real), random(rows, 1).astype(real)
    arrays = {"starts": starts, "columns": columns, "values": values, "x": x, "y": np.zeros(rows, real)}
    return Problem(
        arrays=arrays,
        scalars={"rows": np.int32(rows)},
        launches=[Launch("spmv", blocks(rows), 256, (*arrays, "rows"))],
        expected=lambda: {"y": np.add.reduceat(values.astype("f8") * x[columns], starts[:-1])},
        tolerance=1e-5,
    )


def version(real: Real, njit: Jit) -> Function:
    zero = real.type(0)

    @njit
    def run(starts, columns, values, x, y, rows):
        for row in range(rows):
            total = zero
            for i in range(starts[row], starts[row + 1]):
                total += values[i] * x[columns[i]]
            y[row] = total

    return run
