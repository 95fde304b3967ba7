"""The assignment step of k-means: 32 centres, four dimensions."""

import numpy as np
from suite.problem import Array, Function, Jit, Launch, Problem, Real, blocks, random

SIZES = {"full": 1 << 20, "quick": 1 << 13}
CENTRES = 32


def problem(n: int, real: Real) -> Problem:
    points = random(4 * n).astype(real).reshape(4, n)
    centres = random(4 * CENTRES, 1).astype(real).reshape(CENTRES, 4)
    return Problem(
        arrays={"points": points, "centres": centres, "labels": np.zeros(n, "i4")},
        scalars={"n": np.int32(n), "count": np.int32(CENTRES)},
        launches=[Launch("kmeans", blocks(n), 256, ("points", "centres", "labels", "n", "count"))],
        expected=lambda: {"labels": nearest(points, centres)},
        mismatches=1e-4,
    )


def nearest(points: Array, centres: Array) -> Array:
    distances = [((points.astype("f8") - c[:, None]) ** 2).sum(0) for c in centres]
    return np.argmin(np.stack(distances), 0)


def version(real: Real, njit: Jit) -> Function:
    far, zero = real.type(1e30), real.type(0)

    @njit
    def run(points, centres, labels, n, count):
        for i in range(n):
            best, label = far, 0
            for c in range(count):
                distance = zero
                for d in range(4):
                    difference = points[d, i] - centres[c, d]
                    distance += difference * difference
                if distance < best:
                    best, label = distance, c
            labels[i] = label

    return run
