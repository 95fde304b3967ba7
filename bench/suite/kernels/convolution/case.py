"""A 5x5 convolution that clamps at the edges."""

import numpy as np
from suite.problem import Array, Function, Jit, Launch, Problem, Real, random

SIZES = {"full": 2048, "quick": 128}


def problem(n: int, real: Real) -> Problem:
    image, weights = random(n * n).astype(real).reshape(n, n), random(25, 1).astype(real)
    return Problem(
        arrays={"image": image, "weights": weights, "out": np.zeros((n, n), real)},
        scalars={"width": np.int32(n), "height": np.int32(n)},
        launches=[
            Launch("convolution", (n // 32, n // 8), (32, 8), ("image", "weights", "out", "width", "height"))
        ],
        expected=lambda: {"out": convolved(image, weights)},
        tolerance=1e-6,
    )


def convolved(image: Array, weights: Array) -> Array:
    n, around = len(image), np.pad(image.astype("f8"), 2, mode="edge")
    return sum(weights[5 * dy + dx] * around[dy : dy + n, dx : dx + n] for dy in range(5) for dx in range(5))


def version(real: Real, njit: Jit) -> Function:
    zero = real.type(0)

    @njit
    def run(image, weights, out, width, height):
        for y in range(height):
            for x in range(width):
                total = zero
                for dy in range(5):
                    row = min(max(y + dy - 2, 0), height - 1)
                    for dx in range(5):
                        total += weights[dy * 5 + dx] * image[row, min(max(x + dx - 2, 0), width - 1)]
                out[y, x] = total

    return run
